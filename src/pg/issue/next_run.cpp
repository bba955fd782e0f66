// Joins the open run, or opens the next one, and waits for what is missing.
//
// 1. A call that joins the run of others judges nothing. What it cannot take from that run, it
//    leaves to TakeOrAsk(), by a reading of both clocks.
// 2. A transaction's first id is noted under the lock under which it is taken (core/horizon.h).
#include "pg/issue/next_run.h"

#include "pg/database_layout.h"
#include "pg/issue/caller.h"
#include "pg/issue/launch.h"
#include "pg/issue/transactions.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/node_box.h"
#include "pg/state/server_clock.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// A clock that does not move for this long is broken, not slow.
constexpr int64_t kClockStandsUs = 1000 * 1000;

// What one attempt showed.
struct IdAttempt {
  Decision decision;
  KnownRun run;  // for kRun, ...
  Share share;   // ... and of it
  Layout layout;
  Tick max_lead;
  int64_t clock_us;   // what the node's clock showed, ...
  int64_t steady_us;  // ... and when
  Tick now;
  bool issued;      // ids, under the lease
  bool may_lead;    // ids may be ahead of the clock
  bool new_worker;  // otherwise another worker id may be acquired
  bool keeper_missing;
};

// Notes the first id of a share of the open run. Returns what the process is to know of this run.
// The process reads the clock once more before it goes by the counter, because the lock may have
// taken long.
KnownRun NoteShare(NodeBlock *node, const OwnSlot &own, const Share &share) {
  Assert(IsHeldExclusively(node->lock));  // Requires: the node's lock.
  OpenRun *open = &node->run;
  const Run &taken = open->run;
  const Layout &layout = node->state.generator.layout;
  KnownRun run = {};
  run.word = &open->word;
  run.serial = open->serial;
  run.until_us = open->until_us.load(std::memory_order_relaxed);
  run.first_id = layout.Pack({taken.tick, taken.worker, taken.sequence});
  run.step = int64_t{1} << layout.sequence_shift();
  run.count = taken.count;
  run.most = MostAtOnce(layout);
  run.lxid = LocalXid(MyProc);
  run.counts_per_ms = open->counts_per_ms;
  NoteFirstId(own.slot, MyDatabaseId, own.by, own.is_leaders, run.first_id + run.step * share.first);
  return run;
}

// Issues from the run that another process, or an earlier transaction, has opened.
bool JoinRun(NodeBlock *node, Oid extension, const OwnSlot &own, int64_t steady_us, int32_t most, IdAttempt *attempt) {
  OpenRun *open = &node->run;
  const auto is_over = [&] { return steady_us >= open->until_us.load(std::memory_order_relaxed); };
  if (is_over()) return false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    const Generator &g = node->state.generator;
    if (node->extension != extension || is_over()) return;
    attempt->share.count =
        Issue(&open->word, open->serial, open->run.count, Min(most, MostAtOnce(g.layout)), &attempt->share.first);
    if (attempt->share.count == 0) return;
    attempt->decision.outcome = Outcome::kRun;
    attempt->keeper_missing = node->keeper_pid == 0;
    attempt->run = NoteShare(node, own, attempt->share);
  });
  return attempt->share.count > 0;
}

void OpenNextRun(NodeBlock *node, Oid extension, const OwnSlot &own, int32_t most, IdAttempt *attempt) {
  const ServerTime time = ReadTime();
  const uint32 random = pg_prng_uint32(&pg_global_prng_state);
  WithBox(node, [&](BoxSlot *slot) {
    Generator *g = &node->state.generator;
    Read(&node->state, time);
    attempt->keeper_missing = node->keeper_pid == 0;
    if (!g->open || node->extension != extension) {
      attempt->decision.outcome = Outcome::kNoLease;
      return;
    }
    attempt->layout = g->layout;
    attempt->clock_us = node->state.clock.shown_us;
    attempt->steady_us = node->state.clock.read.steady_us;
    attempt->now = g->layout.TickAt(attempt->clock_us);
    attempt->max_lead = MaxLead(node->state, g->layout);

    const Terms terms = {attempt->max_lead, static_cast<int64_t>(random % FreshLimit(g->layout))};
    attempt->decision = TakeOrAsk(&node->state, kMostOfRun, terms);
    attempt->issued = g->last_tick >= g->lease.window_start;
    attempt->may_lead = MayLead(node->state);
    // Also the one that an operator has asked for: GoBack().
    attempt->new_worker = node->state.policy.new_worker || node->state.new_worker_wanted;
    if (attempt->decision.outcome != Outcome::kRun) return;
    const Run &taken = attempt->decision.run;
    if (slot != nullptr) StoreLastTick(slot, taken.tick);
    attempt->share = {0, Min(most, Min(MostAtOnce(g->layout), taken.count))};
    BeginRun(&node->run, taken, attempt->share.count, TickEndUs(node->state, g->layout));
    attempt->run = NoteShare(node, own, attempt->share);
  });
}

IdAttempt Try(NodeBlock *node, Oid extension, int32_t most) {
  const OwnSlot own = SlotOfTransaction();
  KeepPrepared(own);
  IdAttempt attempt = {};
  if (!JoinRun(node, extension, own, SteadyUs(), most, &attempt)) OpenNextRun(node, extension, own, most, &attempt);
  return attempt;
}

// One call's waits.
struct IdWait {
  int64_t clock_since_us;  // monotonic, when the clock had last moved; 0: has not waited
  int64_t clock_from_us;   // what it showed then, ...
  int64_t clock_us;        // ... and in the last attempt
  KeeperWait lease;
};

// The wait for the lock may have outlasted the tick that the clock showed before it. If the clock
// has stood since the last attempt, it is at the end of its tick by the monotonic clock alone.
bool IsStale(const IdAttempt &attempt, const IdWait &wait) {
  return attempt.clock_us != wait.clock_us &&
         attempt.layout.TickAt(attempt.clock_us + SteadyUs() - attempt.steady_us) > attempt.now;
}

void CountUp(NodeBlock *node, int64_t Counters::*counter) {
  WithLock(node, LW_EXCLUSIVE, [&] { ++(node->counters.*counter); });
}

void WaitForClock(int64_t now_us, int64_t until_us) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeClock");
  const int64_t left_us = until_us - now_us;
  if (left_us < kUsPerMs) {
    // A latch counts in milliseconds, so it would wake the call in the middle of a tick, whose numbers
    // up to then were lost.
    pgstat_report_wait_start(event);
    pg_usleep(left_us > 1 ? left_us : 1);
    pgstat_report_wait_end();
    return;
  }
  const int64_t ms = left_us / kUsPerMs < kWaitMs ? left_us / kUsPerMs : kWaitMs;
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(ms), event);
  ResetLatch(MyLatch);
}

[[noreturn]] void ReportNoLease(const KeeperWait &wait, const RegistryError &error) {
  CheckKeeper(wait, kNoLease, "ids");
  // The registry's errors of the extension's own class are the caller's errors, too.
  const int code = error.sqlstate;
  const bool refused = error.message[0] != '\0' && (code == kAllLeased || code == kClockBehind || code == kTimeUsedUp);
  ereport(ERROR,
          (errcode(refused ? code : kNoLease), errmsg("cannot issue ids without a lease"),
           refused ? errdetail("The registry refused: %s", WhatRegistrySaid(error)) : DetailOfRegistry(wait, error),
           errhint("%s", WhatToDoAbout(error))));
}

// `tried`: the registry was asked for another worker id, and this is its error.
[[noreturn]] void ReportClockBehind(const IdAttempt &attempt, const RegistryError *tried) {
  const int64_t now_us = attempt.clock_us, epoch_us = attempt.layout.epoch_us();
  const int64_t ahead_us = attempt.layout.UnixUsAt(attempt.now + attempt.decision.lead);
  const double behind_s = Seconds(ahead_us - now_us);
  if (now_us < epoch_us)
    ereport(ERROR, (errcode(kClockBehind), errmsg("the clock is before the layout's epoch"),
                    errdetail("The clock shows %s; the epoch is %s.", Time(now_us), Time(epoch_us)),
                    errhint("Set the clock right.")));
  if (tried != nullptr)
    ereport(
        ERROR,
        (errcode(kClockBehind), errmsg("the clock is %.3f s behind the last id", behind_s),
         errdetail("The clock shows %s; ids may have been issued up to %s. The registry was asked for another worker"
                   " id: %s",
                   Time(now_us), Time(ahead_us),
                   tried->message[0] != '\0' ? WhatRegistrySaid(*tried) : "it has none that may be used that early"),
         errhint("Set the clock right, or wait.")));
  if (attempt.issued)
    ereport(ERROR, (errcode(kClockBehind), errmsg("the clock is %.3f s behind the last id", behind_s),
                    errdetail("The clock shows %s; ids may have been issued up to %s.", Time(now_us), Time(ahead_us)),
                    errhint("Set the clock right, wait, or set snowflake.on_clock_step_back to \"new_worker\".")));
  ereport(ERROR, (errcode(kClockBehind), errmsg("the clock is %.3f s behind the lease", behind_s),
                  errdetail("The clock shows %s. The lease begins at %s, because no worker id that was free when it "
                            "was acquired may be used earlier.",
                            Time(now_us), Time(ahead_us)),
                  errhint("Set the clock right, or wait.")));
}

void WaitForLease(NodeBlock *node, IdWait *wait, const IdAttempt &attempt) {
  if (wait->lease.since_us == 0) CountUp(node, &Counters::lease_waits);
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeLease");
  if (WaitForKeeper(node, &wait->lease, event)) return;
  const RegistryError error = NewestError(node, &NodeBlock::error);
  // Without the step back, the lease that the node has would be enough.
  if (attempt.decision.outcome == Outcome::kClockBehind && wait->lease.why == NoLeaseReason::kRegistry)
    ReportClockBehind(attempt, &error);
  ReportNoLease(wait->lease, error);
}

// The wall clock stepped back by more than may be bridged, or the lease begins in the future.
void HandleClockBehind(NodeBlock *node, IdWait *wait, const IdAttempt &attempt) {
  // If ids may not be ahead of the clock, another worker id does not help either.
  if (!attempt.new_worker || !attempt.may_lead) ReportClockBehind(attempt, nullptr);
  WithLock(node, LW_EXCLUSIVE, [&] { node->state.new_worker_wanted = true; });
  WaitForLease(node, wait, attempt);
}

void HandleTickUsedUp(NodeBlock *node, IdWait *wait, const IdAttempt &attempt) {
  const bool stands = wait->clock_since_us != 0 && attempt.clock_us == wait->clock_from_us;
  if (wait->clock_since_us == 0) CountUp(node, &Counters::clock_waits);
  if (!stands) {
    wait->clock_since_us = MonotonicUs();
    wait->clock_from_us = attempt.clock_us;
  } else {
    const int64_t waited_us = MonotonicUs() - wait->clock_since_us;
    if (waited_us > kClockStandsUs && waited_us > settings.start_timeout_ms * kUsPerMs)
      ereport(ERROR, (errcode(kClockBehind), errmsg("the clock does not move"),
                      errdetail("It has shown %s for %.1f s, and every id that may be issued at that time is used up.",
                                Time(attempt.clock_us), Seconds(waited_us)),
                      errhint("Set the clock right.")));
  }
  const int64_t until_us = attempt.layout.UnixUsAt(attempt.now + attempt.decision.lead - attempt.max_lead);
  WaitForClock(attempt.clock_us, stands ? Max(until_us, attempt.clock_us + kUsPerMs) : until_us);
}

// Waits for what the first attempt lacked, and tries again. Few calls come here.
IdAttempt WaitForRun(NodeBlock *node, Oid fn_oid, Oid extension, int32_t most, IdAttempt attempt) {
  IdWait wait = {};
  for (;;) {
    switch (attempt.decision.outcome) {
      case Outcome::kRun:
        if (wait.lease.since_us != 0) ConditionVariableCancelSleep();
        return attempt;
      case Outcome::kNoLease:
        // First, because a refused call must not ask for a lease: no keeper would acquire it.
        CheckRegistryMayAnswer(fn_oid, extension);
        WithLock(node, LW_EXCLUSIVE, [&] { node->state.lease_wanted = true; });
        WaitForLease(node, &wait, attempt);
        break;
      case Outcome::kWindowEnd: WaitForLease(node, &wait, attempt); break;
      case Outcome::kClockBehind: HandleClockBehind(node, &wait, attempt); break;
      case Outcome::kTickUsedUp:
        if (!IsStale(attempt, wait)) HandleTickUsedUp(node, &wait, attempt);
        wait.clock_us = attempt.clock_us;
        break;
      case Outcome::kTimeUsedUp: ReportTimeUsedUp(attempt.layout, attempt.clock_us);
    }
    CHECK_FOR_INTERRUPTS();
    attempt = Try(node, extension, most);
  }
}

}  // namespace

Share TakeShareOfNextRun(Oid fn_oid, int32_t most, KnownRun *known) {
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  CHECK_FOR_INTERRUPTS();
  IdAttempt attempt = Try(node, extension, most);
  if (unlikely(attempt.decision.outcome != Outcome::kRun))
    CountFailure(node, &Counters::failed_calls, [&] { attempt = WaitForRun(node, fn_oid, extension, most, attempt); });
  // Ids go on while the window lasts, but only a keeper extends it.
  if (attempt.keeper_missing) EnsureKeeper(node);
  *known = attempt.run;
  return attempt.share;
}

}  // namespace snowflake
