// The way of an id: a number of the run that this process knows, or else of the next one
// (next_run.h).
//
// 1. A process issues from a run without the lock only within the tick of the node's clock in which
//    the run was opened, even if its numbers are of another tick. So an id is ahead of that clock
//    by no more than when the run was opened (G3). The monotonic clock decides when the tick ends,
//    so no step of the wall clock makes a run last longer (G9). Most calls read no clock: after a
//    reading, a process goes by the processor's counter (core/counter.h).
// 2. It does so only in a transaction whose first id it took under the lock, and noted there
//    (core/horizon.h), a parallel worker in its leader's slot. A subtransaction changes nothing.
//    After PREPARE TRANSACTION the process has another transaction.
#include "pg/issue/issue.h"

#include "core/counter.h"
#include "pg/counter.h"
#include "pg/database_layout.h"
#include "pg/issue/next_run.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
KnownRun run;

int64_t last_id = -1;

void ForgetRun() { run.serial = 0; }

bool IsInTickByClock() {
  const bool may_count = run.counts_per_ms > 0;
  // Before the clock, so that no delay between the two makes the process count for longer.
  if (may_count) run.since = ReadCounter();
  const int64_t left_us = run.until_us - SteadyUs();
  if (may_count) run.counts = CountsFor(left_us, run.counts_per_ms);
  return left_us > 0;
}

// This is checked for the age of ids alone, by the counter as by the clock. All else that the
// run's numbers depend on was decided when it was opened, under the lock: tick, worker id, window
// and lead. Whatever changes the lease, the layout, the extension or the node's clock, takes a
// sample of the horizon, or opens the next run, ends this one first (WithBox()). From then on
// Issue() finds another word, however late this process comes. So a counter that is wrong makes
// ids late, and nothing else.
inline bool IsInTick() {
  return (run.counts > 0 && IsWithin(run.counts, run.since, ReadCounter())) || IsInTickByClock();
}

inline Share TakeShare(int32_t most) {
  Share share = {0, 0};
  if (run.serial != 0 && run.lxid == LocalXid(MyProc) && IsInTick())
    share.count = Issue(run.word, run.serial, run.count, Min(most, run.most), &share.first);
  return share;
}

inline Ids TakeIds(Oid fn_oid, int32_t most) {
  Share share = TakeShare(most);
  if (unlikely(share.count == 0)) {
    ForgetRun();
    OnLayoutChange(ForgetRun);
    share = TakeShareOfNextRun(fn_oid, most, &run);
  }
  const Ids ids = {run.first_id + run.step * share.first, run.step, share.count};
  last_id = ids.first + ids.step * (ids.count - 1);
  return ids;
}

}  // namespace

Ids NextIds(Oid fn_oid, int32_t most) { return TakeIds(fn_oid, most); }
int64_t NextId(Oid fn_oid) { return TakeIds(fn_oid, 1).first; }
int64_t LastId() { return last_id; }

}  // namespace snowflake
