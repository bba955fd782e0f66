// The keeper's process: a latch loop around core/keeper. One step looks, decides and acts once.
//
// 1. It is its node's only keeper (keeper_pid) for as long as it lives; a second one ends.
// 2. SIGTERM also cancels what is under way, because a wait for a lock or for a synchronous standby
//    never looks at a flag. A trigger on the registry's tables may catch that, again and again. So
//    what is still under way after kLeaveUs, or at a second SIGTERM, ends with the process, which
//    nothing catches.
// 3. It must not be the reason why a command on its database or its extension fails: see
//    WatchDatabase().
// 4. Without work it costs next to nothing: no transaction, and one look in kWatchUs.
#include "pg/issue/horizon.h"
#include "pg/keeper/exchanges.h"
#include "pg/keeper/keeping.h"
#include "pg/keeper/libpq.h"
#include "pg/keeper/log.h"
#include "pg/keeper/registry.h"
#include "pg/report.h"
#include "pg/state/data_directory.h"
#include "pg/state/start_block.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// A command that wants the database to itself waits for 5 s, and releasing a lease at a remote
// registry may take nearly 2 of them.
constexpr int64_t kWatchUs = 2 * 1000 * 1000;
constexpr int64_t kWatchWantedUs = 100 * 1000;
constexpr int64_t kGiveWayUs = 1000 * 1000;

// From the moment the keeper is to leave. A shutdown may take 3 s in all.
constexpr int64_t kLeaveUs = 2 * 1000 * 1000;
// The postmaster sends each signal twice, to the process and to its group; only a later one is a
// second one.
constexpr int64_t kAgainUs = 500 * 1000;
constexpr int kLeaveCheckMs = 200;

struct Process {
  Keeper keeper;
  MemoryContext step_context;
  TimeoutId leave_timeout;
  KeeperAction action;  // under way, ...
  bool future;          // ... while the window of the lease in place is still to begin
  ErrorData *error;     // of the last step; the next one handles it
  int64_t next_watch_us;
  bool catalogs_changed;  // since they were last read
  bool leaving;
  bool looked_for_signs;  // of life before this start of the server
  bool marked_clean;
  bool moving;       // snowflake.registry names another registry, which is probed
  bool probed;       // ... and has answered: the old one is left
  bool move_failed;  // the old one did not release its lease
};
Process self;

volatile int64_t stop_requested_us = 0;  // monotonic, as the next
volatile int64_t leave_since_us = 0;     // 0: not leaving

void EndAtOnce() { ProcDiePending = InterruptPending = true; }

void HandleStop(SIGNAL_ARGS) {
  const int saved_errno = errno;
  const int64_t now_us = MonotonicUs();
  if (!stop_requested) {
    stop_requested = true;
    stop_requested_us = now_us;
    if (leave_since_us == 0) leave_since_us = now_us;
    QueryCancelPending = InterruptPending = true;
  } else if (now_us - stop_requested_us >= kAgainUs) {
    EndAtOnce();
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

bool IsOverdue() { return leave_since_us != 0 && MonotonicUs() - leave_since_us >= kLeaveUs; }

// Runs in a signal's handler, like the others.
void HandleLeaveTimeout() {
  if (IsOverdue()) EndAtOnce();
}

// The process sends itself a SIGINT for timeouts of locks and statements. pg_cancel_backend() is
// ignored: it would end a wait for a synchronous standby as if that had acknowledged.
void HandleInterrupt(SIGNAL_ARGS) {
  const int saved_errno = errno;
  if (get_timeout_indicator(LOCK_TIMEOUT, false) || get_timeout_indicator(STATEMENT_TIMEOUT, false))
    QueryCancelPending = InterruptPending = true;
  SetLatch(MyLatch);
  errno = saved_errno;
}

// What ALTER DATABASE or ALTER ROLE set must not reach the protocol.
void PinSettings() {
  static constexpr const char *pins[][2] = {{"search_path", "pg_catalog, pg_temp"},
                                            {"default_transaction_isolation", "read committed"},
                                            {"default_transaction_read_only", "off"},
                                            {"default_transaction_deferrable", "off"},
                                            {"statement_timeout", "0"},
                                            {"lock_timeout", "1s"},
                                            {"idle_in_transaction_session_timeout", "0"},
                                            {"session_replication_role", "origin"},
                                            {"zero_damaged_pages", "off"}};
  for (const auto &pin : pins) SetConfigOption(pin[0], pin[1], PGC_SUSET, PGC_S_OVERRIDE);
  if (kHasTransactionTimeout) SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
}

// DROP DATABASE, RENAME, CREATE DATABASE ... TEMPLATE lock the database and wait up to 5 s for all
// others to leave it. If a client is connected, they fail anyway; the one that runs the command
// does not count.
bool DatabaseIsWanted(bool *refused) {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
  *refused = LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL;
  if (!*refused) {
    LockRelease(&tag, RowExclusiveLock, true);
    return false;
  }
  int holders = 0;
  const VirtualTransactionId *vxids = GetLockConflicts(&tag, RowExclusiveLock, nullptr);
  for (; VirtualTransactionIdIsValid(*vxids); ++vxids) {
    const PGPROC *proc = HolderOf(*vxids);
    // Order: none. If the process has just ended, the next look counts again.
    if (proc != nullptr && proc->databaseId == MyDatabaseId) ++holders;
  }
  return CountDBConnections(MyDatabaseId) <= holders;
}

// Whether a wait for a registry must end.
bool GiveWay() {
  static int64_t asked_us = 0;
  SampleForAskers(keeping.node);
  bool refused = false;
  if (self.leaving || MonotonicUs() - asked_us < kGiveWayUs) return false;
  asked_us = MonotonicUs();
  if (!DatabaseIsWanted(&refused)) return false;
  self.next_watch_us = 0;
  return true;
}

void Leave(const char *reason) {
  if (self.leaving) return;
  self.leaving = true;
  if (leave_since_us == 0) leave_since_us = MonotonicUs();
  ereport(DEBUG1, (errmsg_internal("snowflake keeper leaves: %s", reason)));
}

// Dropping or creating the extension drops or creates tables.
void OnRelcacheChange(Datum, Oid) { self.catalogs_changed = true; }

void LookAtCatalogs() {
  self.catalogs_changed = true;
  self.next_watch_us = 0;
}

void WatchDatabase(int64_t now_us) {
  bool refused = false;
  LookAfterBox();
  if (DatabaseIsWanted(&refused)) Leave("a command needs the database for itself");
  self.next_watch_us = now_us + (refused ? kWatchWantedUs : kWatchUs);
  if (self.leaving) return;
  // Outside of a transaction, as idle workers of logical replication do it.
  AcceptInvalidationMessages();
  if (!self.catalogs_changed) return;
  self.catalogs_changed = false;
  const Oid before = keeping.target.extension, after = FindExtension();
  SetExtension(after);
  // A new extension may not have been asked for an id yet, and a lease would settle its layout.
  if (!OidIsValid(after) || (OidIsValid(before) && after != before)) {
    // It issues no ids until somebody requests one from the next extension.
    ForgetIssuer(MyDatabaseId);
    ChangeNode(keeping.node, [] { ForgetExtension(&keeping.node->state); });
    Leave("the extension is gone");
  }
}

// Recovery may have replayed a newer sign of life than a start of the server can read.
void LookForSigns() {
  if (self.looked_for_signs || RecoveryInProgress()) return;
  self.looked_for_signs = true;
  if (!IsSignWanted()) return;
  if (const TimestampTz replayed = GetLatestXTime()) NoteSignOfLife(UnixUsFromTimestamp(replayed));
}

int32_t Spread() { return static_cast<int32_t>(pg_prng_uint64_range(&pg_global_prng_state, 0, 999)); }

void ShowIdle() {
  char what[128];
  Generator g;
  WithLock(keeping.node, LW_SHARED, [&] { g = keeping.node->state.generator; });
  if (g.open)
    snprintf(what, sizeof(what), "holding worker id %d until %s", g.lease.worker,
             timestamptz_to_str(TimestampFromUnixUs(g.layout.UnixUsAt(g.lease.window_end))));
  else
    strlcpy(what, "waiting to try again to acquire a worker id", sizeof(what));
  pgstat_report_activity(STATE_IDLE, what);
}

void Sleep(int64_t until_us) {
  ShowIdle();
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeKeeper");
  const int64_t ms = Max((until_us - MonotonicUs() + kUsPerMs - 1) / kUsPerMs, int64_t{0});
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(ms), event);
  ResetLatch(MyLatch);
}

RegistryAnswer Act(const KeeperStep &step) {
  const bool leaving = self.leaving || self.probed;
  switch (step.action) {
    case KeeperAction::kAcquire: return Acquire(step.duration_us);
    case KeeperAction::kExtend: return Extend(step.duration_us);
    case KeeperAction::kRanges: return ExchangeRanges(leaving);
    case KeeperAction::kRelease: return Release(leaving);
    case KeeperAction::kProbe: return Probe();
    default: MarkCleanLocally(keeping.target.extension); return RegistryAnswer::kDone;
  }
}

// For those who see the keeper wait.
void NoteExchange(int64_t asked_us) {
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { keeping.node->exchanges.asked_us = asked_us; });
}

// The protocol's tables may have triggers of others, which may not end by themselves.
RegistryAnswer ActInTime(const KeeperStep &step) {
  NoteExchange(SteadyUs());
  enable_timeout_every(self.leave_timeout, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kLeaveCheckMs),
                       kLeaveCheckMs);
  const RegistryAnswer answer = Act(step);
  disable_timeout(self.leave_timeout, false);
  NoteExchange(0);
  return answer;
}

// What core/keeper decides by.
KeeperView Observe(bool leaving) {
  NodeBlock *node = keeping.node;
  const ClockReading reading = ReadClocks();
  const int64_t lease_duration_us = settings.lease_duration_ms * kUsPerMs;
  const ClockPolicy policy = ConfiguredPolicy();
  KeeperView view = {};
  bool other_extension = false;
  ChangeNode(node, [&] {
    Read(&node->state, reading);
    SetPolicy(&node->state, policy);
    view = ViewForKeeper(&node->state, lease_duration_us, leaving);
    // If a backend misses a lease although there is one, it asks under another extension than the
    // lease's.
    other_extension = node->state.generator.open && node->state.lease_wanted;
    if (other_extension) node->state.lease_wanted = false;
  });
  if (other_extension) LookAtCatalogs();
  ObserveRanges(&view);
  view.moving = self.moving;
  // Nothing can be released where no connection leads.
  if (leaving && keeping.target.conninfo == nullptr) view.retired = view.ranges_held = false;
  return view;
}

// A new keeper of the core has no pauses, and extends a lease at once.
void EndMove() {
  self.keeper = Keeper();
  self.moving = self.probed = self.move_failed = false;
}

// At the start, and after each reload.
void LookAtRegistry() {
  const bool moved = self.moving;
  EndMove();
  self.moving = IsMoving();
  // It is the former one again.
  if (moved && !self.moving) {
    UseRegistry();
    ForgetFailures();
  }
}

// The lease and the ranges are released at the old registry, with one try for each, before the new
// one assigns any.
void LeaveRegistry() {
  CloseGenerator();
  const KeeperView view = Observe(true);
  if ((view.retired || view.ranges_held) && !self.move_failed) {
    self.action = view.retired ? KeeperAction::kRelease : KeeperAction::kRanges;
    self.move_failed = true;
    ActInTime({self.action, 0, 0});
    self.move_failed = false;
    return;
  }
  FollowRegistry();
  EndMove();
}

// An acquire brought no other worker id, although the clock is behind: ids go on, ahead of it.
void GoOn() {
  ChangeNode(keeping.node, [] { KeepPresentWorker(&keeping.node->state); });
}

void Perform(const KeeperStep &step, int64_t now_us) {
  const RegistryAnswer answer = ActInTime(step);
  if (answer == RegistryAnswer::kGone) LookAtCatalogs();
  const int64_t done_us = MonotonicUs();
  const KeeperOutcome outcome = answer == RegistryAnswer::kBusy            ? KeeperOutcome::kFailed
                                : answer == RegistryAnswer::kNothingBetter ? KeeperOutcome::kAnswered
                                                                           : KeeperOutcome::kDone;
  self.keeper.Done(step.action, outcome, done_us, Spread());
  if (step.action == KeeperAction::kAcquire && answer != RegistryAnswer::kDone) GoOn();
  if (answer == RegistryAnswer::kBusy) {
    ErrorData busy = {};
    busy.sqlerrcode = ERRCODE_OBJECT_IN_USE;
    busy.message = pstrdup("it has just detected a failover");
    RecordFailure(step.action, busy);
    return;
  }
  RecordSuccess(step.action, done_us - now_us, step.duration_us);
  if (step.action != KeeperAction::kProbe || answer == RegistryAnswer::kGone) return;
  self.probed = answer == RegistryAnswer::kAnother;
  if (!self.probed) EndMove();
  ereport(LOG,
          (self.probed ? errmsg("snowflake keeper: follows snowflake.registry to another registry")
                       : errmsg("snowflake keeper: follows snowflake.registry to another address of its registry")));
}

// Before the keeper ends in good order. A database that issued no id in more than a day gets no
// keeper at the server's next start.
void TidyUp() {
  int64_t taken = 0;
  ChangeNode(keeping.node, [&] {
    taken = keeping.node->counters.ids_taken;
    ForgetQuestion(&keeping.node->state);
  });
  if (taken == 0 && GetCurrentTimestamp() - PgStartTime > USECS_PER_DAY) ForgetIssuer(MyDatabaseId);
}

// After the releases. If only the keeper ends, this does nothing. It is not repeated after an
// error.
void MarkCleanOnce() {
  if (!stop_requested || self.marked_clean || !OidIsValid(keeping.target.extension)) return;
  if (!keeping.registry->is_here && !keeping.node->serves) return;
  self.marked_clean = true;
  if (!RecoveryInProgress()) ActInTime({KeeperAction::kExit, 0, 0});
}

void Reload() {
  ConfigReloadPending = false;
  ProcessConfigFile(PGC_SIGHUP);
  NameNode();
  if (self.moving || IsMoving()) LookAtRegistry();
}

// One step; false when the keeper is done.
bool Step() {
  self.action = KeeperAction::kSleep;
  self.future = false;
  if (stop_requested && !self.leaving) {
    QueryCancelPending = false;  // what was under way has ended
    // The registry in use gives no other lease any more: the next keeper goes on with this one.
    if (self.moving && !self.probed && !ServerIsStopping()) return false;
    Leave("it was asked to stop");
  }
  if (BoxIsCut()) LookAfterBox();
  if (self.leaving) CloseGenerator();
  CHECK_FOR_INTERRUPTS();
  if (IsOverdue()) return false;
  if (ConfigReloadPending) Reload();
  if (self.probed && !self.leaving) {
    LeaveRegistry();
    return true;
  }
  if (!self.leaving && MonotonicUs() >= self.next_watch_us) {
    WatchDatabase(MonotonicUs());
    if (self.leaving) return true;
  }

  const int64_t now_us = MonotonicUs();
  const KeeperView view = Observe(self.leaving);
  // Then the change costs nothing.
  if (view.moving && !self.leaving && !view.leased && !view.retired && !view.ranges_held) {
    FollowRegistry();
    EndMove();
    return true;
  }
  LookForSigns();
  TellClockEvents();
  const int64_t sample_in_us = SampleForAskers(keeping.node);
  const bool sampling = !self.leaving && sample_in_us < PG_INT64_MAX;
  const KeeperStep step = self.keeper.Next(view, now_us);
  self.action = step.action;
  self.future = view.future;
  switch (step.action) {
    case KeeperAction::kExit:
      TidyUp();
      MarkCleanOnce();
      return false;
    case KeeperAction::kSleep:
      Sleep(Min(Min(step.until_us, self.next_watch_us), sampling ? now_us + sample_in_us : PG_INT64_MAX));
      return true;
    default: Perform(step, now_us); return true;
  }
}

// Called in PG_CATCH: nothing here may look at interrupts, as a message to the log does. Most of a
// step is outside of a transaction, and then AbortCurrentTransaction() releases nothing. Locks come
// first, because a copy of the error needs memory.
void KeepError() {
  LWLockReleaseAll();
  ConditionVariableCancelSleep();
  pgstat_report_wait_end();
  MemoryContextSwitchTo(self.step_context);
  self.error = CopyErrorData();
  FlushErrorState();
  disable_all_timeouts(false);
  AbortCurrentTransaction();
}

// Is a step of its own.
void HandleError() {
  const ErrorData *error = self.error;
  self.error = nullptr;
  NoteExchange(0);
  if (self.action == KeeperAction::kExit) return;
  // Reading the catalogs counts as a try to keep the lease, and is repeated.
  const KeeperAction action = self.action == KeeperAction::kSleep ? KeeperAction::kAcquire : self.action;
  self.catalogs_changed = true;
  // That all worker ids are leased also answers the question for a better one.
  const bool answered = action == KeeperAction::kAcquire && self.future && error->sqlerrcode == kAllLeased;
  self.keeper.Done(action, answered ? KeeperOutcome::kAnswered : KeeperOutcome::kFailed, MonotonicUs(), Spread());
  if (error->sqlerrcode == kClockBehind) ChangeNode(keeping.node, [] { RefusedForSkew(&keeping.node->state); });
  if (action == KeeperAction::kAcquire || action == KeeperAction::kProbe) GoOn();
  if (answered) return;
  // A shutdown, or a command that wants the database, canceled it: that is no failure of the
  // registry.
  const bool given_way = stop_requested || self.next_watch_us == 0;
  if (given_way && error->sqlerrcode == ERRCODE_QUERY_CANCELED && !self.leaving) return;
  // The registry will never accept this release.
  if (action == KeeperAction::kRelease && error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE)
    ChangeNode(keeping.node, [] {
      NodeState *state = &keeping.node->state;
      DropRetired(state, state->retired[0].lease_id);
    });
  RecordFailure(action, *error);
}

bool ProtectedStep() {
  MemoryContextSwitchTo(self.step_context);
  volatile bool more = true;
  PG_TRY();
  {
    if (self.error != nullptr) {
      HandleError();
    } else {
      MemoryContextReset(self.step_context);
      more = Step();
    }
  }
  PG_CATCH();
  { KeepError(); }
  PG_END_TRY();
  return more;
}

}  // namespace

extern "C" PGDLLEXPORT void snowflake_keeper_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, HandleStop);
  pqsignal(SIGINT, HandleInterrupt);
  BackgroundWorkerUnblockSignals();
  // A database that accepts no new connections may still have old ones that issue ids.
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  PinSettings();
  if (!Attach()) proc_exit(0);
  NameNode();
  LookAtRegistry();
  self.leave_timeout = RegisterTimeout(USER_TIMEOUT, HandleLeaveTimeout);
  self.catalogs_changed = true;
  CacheRegisterRelcacheCallback(OnRelcacheChange, Datum{0});
  self.step_context = AllocSetContextCreate(TopMemoryContext, "snowflake keeper", ALLOCSET_DEFAULT_SIZES);
  remote_give_way = GiveWay;
  while (ProtectedStep()) {
  }
  proc_exit(0);
}

}  // namespace snowflake
