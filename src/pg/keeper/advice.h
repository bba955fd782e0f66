// What an operator should know while ids are issued. The keeper checks most of it when it acquires
// or extends a lease; what is new is logged, and the view snowflake_status shows it from then on.
// That ids are about to stop, or guards are lost, the view itself finds out.
#pragma once

#include "pg/state/node_block.h"
#include "pg/registry/protocol.h"

namespace snowflake {
struct Wording {
  const char *what, *to_do;
};

// Bits of Advice, and the figures that go with them.
struct Advised {
  uint32_t advice;
  int64_t workers_free;
  int64_t workers;
  int databases;       // that issue ids
  ServerTime time;     // of the server
  bool holds;          // the node's clock holds a leap, ...
  bool rises;          // ... and the horizon goes on with it
  int64_t horizon_us;  // of a horizon that is of the future; 0: it is not
  bool only_on_disk;   // nobody was or will be told this horizon, unless the server loses it
  Wording ids, numbers;
  const char *lost_guards;
};

// After a lease or, with an answer that counts no worker ids, a first range was acquired. A failure
// is no error, because ids are issued.
void Advise(const AcquireAnswer &answer);

// After an extend. If the registry is elsewhere, this only ends advice that was followed; one here
// counts its free worker ids for it.
void AdviseAgain();

// One line for each bit.
char *AdviceText(const Advised &advised);

}  // namespace snowflake
