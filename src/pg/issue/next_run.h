// The run that a call goes on with if it knows none that it may issue from.
#pragma once

#include "core/open_run.h"
#include "pg/pg.h"

namespace snowflake {
// What a process knows of a run. But for the word, it was read under the node's lock
// (core/open_run.h).
struct KnownRun {
  std::atomic<uint64_t> *word;
  uint64_t serial;  // 0: of none
  int64_t until_us;
  int64_t first_id;  // the first that anybody issues from it
  int64_t step;      // from one sequence number to the next
  int32_t count;
  int32_t most;   // for one call
  uint32_t lxid;  // the transaction whose first id is noted

  int64_t counts_per_ms;  // of the processor's counter; 0: only the clock serves
  uint64_t since;         // what the counter showed at the last reading of the clock
  uint64_t counts;        // for how many counts the process does not read it; 0: it does
};

// Numbers of a run: how many, and how many were issued before. None: the run cannot be used.
struct Share {
  int32_t first;
  int32_t count;
};

// Joins the open run or opens the next one, and waits for what is missing, or raises the errors of
// section 9. Returns up to `most` numbers of that run, at least one.
Share TakeShareOfNextRun(Oid fn_oid, int32_t most, KnownRun *known);

}  // namespace snowflake
