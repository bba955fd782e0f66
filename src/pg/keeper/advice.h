// What an operator should know although ids flow. It is looked for when a lease is drawn, told in the log when it is new, and
// shown by the view snowflake_status from then on.
#pragma once

#include "pg/state/node_block.h"
#include "pg/registry/protocol.h"

namespace snowflake {

// Bits of Advice, and the figures that go with them.
struct Advised {
  uint32_t advice;
  int64_t workers_free;
  int64_t workers;
  int databases;  // that issue ids
};

// A keeper has drawn this lease, or a first range; then the answer has no worker ids. Nothing that
// goes wrong here is an error: ids flow.
void Advise(const AcquireAnswer &answer);

// The lease's window was moved: what was advised and has been seen to is not advised any more. Of worker ids, only a registry
// here says how many are free.
void AdviseAgain();

// One line for each bit.
char *AdviceText(const Advised &advised);

}  // namespace snowflake
