// A process's run, the calls that take one, and what they wait for.
//
// 1. A run's numbers were taken from the generator under its lock, so no other process has them.
//    That holds after the lease, too: its release reports a last tick that is not below the run's.
//    The rest of a run is forgotten here before it goes back under the lock, or it is lost.
// 2. A run is used only within the tick of the node's clock in which it was taken, even if its
//    numbers are of another tick. So it is ahead of that clock by no more than when it was taken
//    (G3), and ids of calls more than a tick apart are in order across sessions (G2). The monotonic
//    clock decides when the tick ends, so no step of the wall clock makes a run last longer or
//    usable again (G9). A call reads one clock once and divides nothing.
// 3. A run is used only within its transaction, whose first id is noted with it (core/horizon.h).
#include "pg/issue/issue.h"

#include "pg/database_layout.h"
#include "pg/issue/caller.h"
#include "pg/issue/launch.h"
#include "pg/issue/transactions.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/node_box.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
struct {
  int64_t until_us;  // usable before, by SteadyUs()
  int64_t next_id;
  int64_t step;  // from one sequence number to the next
  int32_t left;
  uint32_t lxid;  // the transaction that took it
  Run taken;      // where its rest goes back
  Secret secret;
} run;

int64_t last_id = -1;

RunSizing sizing = {};

// A clock that does not move for this long is broken, not slow.
constexpr int64_t kClockStandsUs = 1000 * 1000;

void DropRun() { run.left = 0; }

inline bool RunIsUsable() { return run.left > 0 && run.lxid == LocalXid(MyProc) && SteadyUs() < run.until_us; }

// What one attempt at the generator showed.
struct RunAttempt {
  Decision decision;
  Layout layout;
  Secret secret;
  Tick max_lead;
  int64_t clock_us;   // what the node's clock showed, ...
  int64_t steady_us;  // ... and when
  Tick now;
  bool issued;      // ids, under the lease
  bool may_lead;    // ids may be ahead of the clock
  bool new_worker;  // otherwise another worker id may be acquired
  bool keeper_missing;
};

RunAttempt TakeRun(NodeBlock *node, Oid extension, int64_t ahead) {
  const ClockReading reading = ReadClocks();
  const uint32 random = pg_prng_uint32(&pg_global_prng_state);
  const int64_t max_run = settings.max_run;
  // How many ids a transaction needs says nothing about the next one.
  if (run.lxid != LocalXid(MyProc)) sizing = {};
  const Run rest = {run.taken.tick, run.taken.worker, run.taken.sequence + (run.taken.count - run.left), run.left};
  DropRun();
  const OwnSlot own = SlotOfTransaction();
  KeepPrepared(own);
  RunAttempt attempt = {};
  WithBox(node, [&](BoxSlot *slot) {
    Generator *g = &node->state.generator;
    Read(&node->state, reading);
    if (rest.count > 0 && ReturnRun(g, run.secret, rest)) node->counters.ids_returned += rest.count;
    attempt.keeper_missing = node->keeper_pid == 0;
    if (!g->open || node->extension != extension) {
      attempt.decision.outcome = Outcome::kNoLease;
      return;
    }
    attempt.layout = g->layout;
    attempt.secret = g->lease.secret;
    attempt.clock_us = node->state.clock.shown_us;
    attempt.steady_us = node->state.clock.read.steady_us;
    attempt.now = g->layout.TickAt(attempt.clock_us);
    attempt.max_lead = MaxLead(node->state, g->layout);

    const Terms terms = {attempt.max_lead,
                         static_cast<int64_t>(random % FreshLimit(g->layout, settings.sequence_jitter))};
    attempt.decision = TakeOrAsk(&node->state, sizing.Next(attempt.now, ahead, max_run), terms);
    attempt.issued = g->last_tick >= g->lease.window_start;
    attempt.may_lead = MayLead(node->state);
    attempt.new_worker = node->state.policy.new_worker;
    if (attempt.decision.outcome == Outcome::kRun) {
      const Run &taken = attempt.decision.run;
      if (slot != nullptr) StoreLastTick(slot, taken.tick);
      NoteFirstId(own.slot, MyDatabaseId, own.by, own.is_leaders,
                  g->layout.Pack({taken.tick, taken.worker, taken.sequence}));
      node->counters.ids_taken += taken.count;
      ++node->counters.runs_taken;
    }
  });
  return attempt;
}

// The wait for the lock may have outlasted the tick that the clock showed before it.
bool IsStale(const RunAttempt &attempt) {
  return attempt.layout.TickAt(attempt.clock_us + SteadyUs() - attempt.steady_us) > attempt.now;
}

void KeepRun(NodeBlock *node, const RunAttempt &attempt) {
  // Ids go on while the window lasts, but only a keeper extends it.
  if (attempt.keeper_missing) EnsureKeeper(node);
  const Layout &layout = attempt.layout;
  const Run &taken = attempt.decision.run;
  // One less, because the microseconds of the two clocks do not begin at the same moment.
  run.until_us = attempt.steady_us + layout.UnixUsAt(attempt.now + 1) - attempt.clock_us - 1;
  run.next_id = layout.Pack({taken.tick, taken.worker, taken.sequence});
  run.step = int64_t{1} << layout.sequence_shift();
  run.left = taken.count;
  run.lxid = LocalXid(MyProc);
  run.taken = taken;
  run.secret = attempt.secret;
}

// One call's waits.
struct IdWait {
  int64_t clock_since_us;  // monotonic; 0: has not waited
  int64_t clock_from_us;   // what the clock showed then
  KeeperWait lease;
};

void CountUp(NodeBlock *node, int64_t Counters::*counter) {
  WithLock(node, LW_EXCLUSIVE, [&] { ++(node->counters.*counter); });
}

void WaitForClock(NodeBlock *node, IdWait *wait, int64_t now_us, int64_t until_us) {
  if (wait->clock_since_us == 0) {
    wait->clock_since_us = MonotonicUs();
    wait->clock_from_us = now_us;
    CountUp(node, &Counters::clock_waits);
  }
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeClock");
  const int64_t left_us = until_us - now_us;
  if (left_us < kUsPerMs) {
    // A latch counts in milliseconds, so it would wake the call in the middle of a tick, and a run
    // that is not used up when its tick ends is lost.
    pgstat_report_wait_start(event);
    pg_usleep(left_us > 1 ? left_us : 1);
    pgstat_report_wait_end();
    return;
  }
  const int64_t ms = left_us / kUsPerMs < kWaitMs ? left_us / kUsPerMs : kWaitMs;
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(ms), event);
  ResetLatch(MyLatch);
}

const char *WhatToDoAbout(const RegistryError &error) {
  if (error.message[0] == '\0')
    return "Check in pg_stat_activity what the keeper (backend_type \"snowflake keeper\") waits for.";
  if (error.standby) return kStandbyToDo;
  if (error.held_back)
    return "If nothing was lost, call snowflake_settled() in the registry's database. Otherwise wait.";
  if (error.sqlstate == kAllLeased)
    return "See snowflake_workers in the registry's database; snowflake_evict() there frees the worker id of a node"
           " that is certainly dead.";
  if (error.sqlstate == kClockBehind) return "Set the clock right on the server where it is wrong.";
  if (error.sqlstate == kTimeUsedUp)
    return "Set the clock right if it is wrong; otherwise ids need a layout with a later epoch or a wider timestamp.";
  // These two are answers: with another layout, without the extension, or not of a registry.
  if (error.sqlstate == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
    return "The keeper goes on trying; ids flow as soon as this is corrected.";
  if (error.sqlstate == ERRCODE_PROTOCOL_VIOLATION) return "Check that snowflake.registry leads to a registry.";
  if (ERRCODE_TO_CATEGORY(error.sqlstate) == ERRCODE_CONNECTION_EXCEPTION)
    return "The keeper goes on trying; ids flow as soon as the registry answers.";
  return "The keeper goes on trying; ids flow as soon as it acquires a lease.";
}

[[noreturn]] void ReportNoLease(const KeeperWait &wait, const RegistryError &error) {
  if (wait.why == NoLeaseReason::kSingleUser)
    ereport(ERROR, (errcode(kNoLease), errmsg("cannot issue ids in single-user mode"),
                    errdetail("A background worker keeps the lease, and single-user mode has none."),
                    errhint("Start the server normally.")));
  if (wait.why == NoLeaseReason::kBinaryUpgrade)
    ereport(ERROR,
            (errcode(kNoLease), errmsg("cannot issue ids while pg_upgrade runs"),
             errdetail("The registry's contents have yet to be copied to the new server, and must not change on the"
                       " old one."),
             errhint("While pg_upgrade runs, disable the event trigger or other object that requests ids in its"
                     " sessions.")));
  if (wait.why == NoLeaseReason::kKeeperSlots)
    ereport(ERROR, (errcode(kNoLease), errmsg("cannot start the keeper that holds this database's worker id"),
                    DetailOfSlots(wait)));
  // The registry's errors of the extension's own class are the caller's errors, too.
  const int code = error.sqlstate;
  const bool refused = error.message[0] != '\0' && (code == kAllLeased || code == kClockBehind || code == kTimeUsedUp);
  ereport(ERROR,
          (errcode(refused ? code : kNoLease), errmsg("cannot issue ids without a lease"),
           refused ? errdetail("The registry refused: %s", WhatRegistrySaid(error)) : DetailOfRegistry(wait, error),
           errhint("%s", WhatToDoAbout(error))));
}

// `tried`: the registry was asked for another worker id, and this is its error.
[[noreturn]] void ReportClockBehind(const RunAttempt &attempt, const RegistryError *tried) {
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

void WaitForLease(NodeBlock *node, IdWait *wait, const RunAttempt &attempt) {
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
void HandleClockBehind(NodeBlock *node, IdWait *wait, const RunAttempt &attempt) {
  // If ids may not be ahead of the clock, another worker id does not help either.
  if (!attempt.new_worker || !attempt.may_lead) ReportClockBehind(attempt, nullptr);
  WithLock(node, LW_EXCLUSIVE, [&] { node->state.new_worker_wanted = true; });
  WaitForLease(node, wait, attempt);
}

void HandleTickUsedUp(NodeBlock *node, IdWait *wait, const RunAttempt &attempt) {
  if (wait->clock_since_us != 0 && attempt.clock_us <= wait->clock_from_us) {
    const int64_t waited_us = MonotonicUs() - wait->clock_since_us;
    if (waited_us > kClockStandsUs && waited_us > settings.start_timeout_ms * kUsPerMs)
      ereport(ERROR, (errcode(kClockBehind), errmsg("the clock does not move"),
                      errdetail("It has shown %s for %.1f s, and every id that may be issued at that time is used up.",
                                Time(attempt.clock_us), Seconds(waited_us)),
                      errhint("Set the clock right.")));
  }
  WaitForClock(node, wait, attempt.clock_us,
               attempt.layout.UnixUsAt(attempt.now + attempt.decision.lead - attempt.max_lead));
}

// Waits for what the first attempt lacked, and tries again. Few calls come here.
void WaitForRun(NodeBlock *node, Oid fn_oid, Oid extension, int64_t ahead, RunAttempt attempt) {
  IdWait wait = {};
  for (;;) {
    switch (attempt.decision.outcome) {
      case Outcome::kRun:
        if (wait.lease.since_us != 0) ConditionVariableCancelSleep();
        return KeepRun(node, attempt);
      case Outcome::kNoLease:
        // First, because a refused call must not ask for a lease: no keeper would acquire it.
        CheckRegistryMayAnswer(fn_oid, extension);
        WithLock(node, LW_EXCLUSIVE, [&] { node->state.lease_wanted = true; });
        WaitForLease(node, &wait, attempt);
        break;
      case Outcome::kWindowEnd: WaitForLease(node, &wait, attempt); break;
      case Outcome::kClockBehind: HandleClockBehind(node, &wait, attempt); break;
      case Outcome::kTickUsedUp:
        if (!IsStale(attempt)) HandleTickUsedUp(node, &wait, attempt);
        break;
      case Outcome::kTimeUsedUp: ReportTimeUsedUp(attempt.layout, attempt.clock_us);
    }
    CHECK_FOR_INTERRUPTS();
    attempt = TakeRun(node, extension, ahead);
  }
}

pg_noinline void NextRun(Oid fn_oid, int64_t ahead) {
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  OnLayoutChange(DropRun);
  CHECK_FOR_INTERRUPTS();
  const RunAttempt attempt = TakeRun(node, extension, ahead);
  if (likely(attempt.decision.outcome == Outcome::kRun)) return KeepRun(node, attempt);
  CountFailure(node, &Counters::failed_calls, [&] { WaitForRun(node, fn_oid, extension, ahead, attempt); });
}

}  // namespace

int64_t NextId(Oid fn_oid, int64_t ahead) {
  if (!RunIsUsable()) NextRun(fn_oid, ahead);
  --run.left;
  last_id = run.next_id;
  run.next_id += run.step;
  return last_id;
}

Ids NextIds(Oid fn_oid, int32_t most) {
  if (!RunIsUsable()) NextRun(fn_oid, most);
  const Ids ids = {run.next_id, run.step, most < run.left ? most : run.left};
  run.left -= ids.count;
  run.next_id += ids.step * ids.count;
  last_id = run.next_id - run.step;
  return ids;
}

int64_t LastId() { return last_id; }

}  // namespace snowflake
