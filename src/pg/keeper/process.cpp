// The keeper's process: a latch loop around core/keeper. One step is one look, one decision and one action.
//
// 1. It holds its node's place (keeper_pid) for as long as it lives; a second one finds it taken and ends.
// 2. SIGTERM also cancels what is under way, because a wait for a lock or for a synchronous standby never looks at a flag.
//    A trigger on the registry's tables may catch that, again and again: so what is still under way when kLeaveUs have
//    passed, and at a second SIGTERM, ends with the process, which nothing catches.
// 3. It must not be the reason why a command on its database or its extension fails: see WatchDatabase().
// 4. Without work it costs next to nothing: no transaction, and one look in kWatchUs.
#include "pg/issue/horizon.h"
#include "pg/keeper/exchanges.h"
#include "pg/keeper/keeping.h"
#include "pg/keeper/libpq.h"
#include "pg/keeper/log.h"
#include "pg/keeper/ranges.h"
#include "pg/keeper/registry.h"
#include "pg/report.h"

extern "C" PGDLLEXPORT void snowflake_keeper_main(Datum database);

namespace snowflake {

namespace {

// A command that wants the database to itself waits for 5 s, and giving a lease back to a registry that is far away may
// take nearly 2 of them.
constexpr int64_t kWatchUs = 2 * 1000 * 1000;
constexpr int64_t kWatchWantedUs = 100 * 1000;
constexpr int64_t kGiveWayUs = 1000 * 1000;

// From the moment the keeper is to leave. A shutdown may take 3 s in all.
constexpr int64_t kLeaveUs = 2 * 1000 * 1000;
// The postmaster sends each signal twice, to the process and to its group; only what comes later is a second one.
constexpr int64_t kAgainUs = 500 * 1000;
constexpr int kLeaveCheckMs = 200;

constexpr const char *kLockTimeout = "1s";

struct Process {
  Keeper keeper;
  MemoryContext step_context;
  TimeoutId leave_timeout;
  KeeperAction action;  // under way, ...
  bool future;          // ... while the window of the lease in place is still to begin
  ErrorData *error;     // what the last step failed with, while nobody has looked at it
  int64_t next_watch_us;
  bool catalogs_changed;  // since the last look at them
  bool leaving;
  bool marked_clean;
  bool moving;       // to another registry
  bool move_failed;  // the old one did not take its lease back
};
Process self;

volatile int64_t stop_requested_us = 0;  // monotonic, as the next
volatile int64_t leave_since_us = 0;     // 0: not leaving

void HandleStop(SIGNAL_ARGS) {
  const int saved_errno = errno;
  const int64_t now_us = MonotonicUs();
  if (!stop_requested) {
    stop_requested = true;
    stop_requested_us = now_us;
    if (leave_since_us == 0) leave_since_us = now_us;
    QueryCancelPending = true;
    InterruptPending = true;
  } else if (now_us - stop_requested_us >= kAgainUs) {
    ProcDiePending = true;
    InterruptPending = true;
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

bool IsOverdue() { return leave_since_us != 0 && MonotonicUs() - leave_since_us >= kLeaveUs; }

// Runs in a signal's handler, like the others.
void HandleLeaveTimeout() {
  if (!IsOverdue()) return;
  ProcDiePending = true;
  InterruptPending = true;
}

// The timeouts of locks and statements come as a SIGINT that the process sends itself. Another's, pg_cancel_backend(), is
// not heard: it would end a wait for a synchronous standby as if that had acknowledged.
void HandleInterrupt(SIGNAL_ARGS) {
  const int saved_errno = errno;
  if (get_timeout_indicator(LOCK_TIMEOUT, false) || get_timeout_indicator(STATEMENT_TIMEOUT, false)) {
    QueryCancelPending = true;
    InterruptPending = true;
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

// What ALTER DATABASE or ALTER ROLE set must not reach the protocol.
void PinSettings() {
  static const struct {
    const char *name, *value;
  } pins[] = {{"search_path", "pg_catalog, pg_temp"},
              {"default_transaction_isolation", "read committed"},
              {"default_transaction_read_only", "off"},
              {"default_transaction_deferrable", "off"},
              {"statement_timeout", "0"},
              {"lock_timeout", kLockTimeout},
              {"idle_in_transaction_session_timeout", "0"},
              {"session_replication_role", "origin"},
              {"zero_damaged_pages", "off"}};
  for (const auto &pin : pins) SetConfigOption(pin.name, pin.value, PGC_SUSET, PGC_S_OVERRIDE);
  if (kHasTransactionTimeout) SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
}

// DROP DATABASE, RENAME, CREATE DATABASE ... TEMPLATE lock the database and wait up to 5 s for everybody to leave it. With
// a client connected they fail anyway; one that gives the command itself does not count.
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
    // Order: none. It may have gone, and then this is asked again.
    if (proc != nullptr && proc->databaseId == MyDatabaseId) ++holders;
  }
  return CountDBConnections(MyDatabaseId) <= holders;
}

// During a wait for a registry that does not answer, again and again.
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

// Who drops or creates the extension drops or creates tables.
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
  // Outside of a transaction, as workers of logical replication do it while nothing comes.
  AcceptInvalidationMessages();
  if (!self.catalogs_changed) return;
  self.catalogs_changed = false;
  const Oid before = keeping.extension;
  SetExtension(FindExtension());
  // Of another one nobody may have asked for an id yet, and a lease would settle its layout.
  if (!OidIsValid(keeping.extension) || (OidIsValid(before) && keeping.extension != before)) {
    ForgetIds();
    Leave("the extension is gone");
  }
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
  int64_t ms = (until_us - MonotonicUs() + kUsPerMs - 1) / kUsPerMs;
  if (ms < 0) ms = 0;
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeKeeper");
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(ms), event);
  ResetLatch(MyLatch);
}

// What calls the protocol runs what others may have hung on its tables.
template <typename Call>
RegistryAnswer WithLeaveTimeout(Call call) {
  enable_timeout_every(self.leave_timeout, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kLeaveCheckMs),
                       kLeaveCheckMs);
  const RegistryAnswer answer = call();
  disable_timeout(self.leave_timeout, false);
  return answer;
}

RegistryAnswer Act(const KeeperStep &step) {
  switch (step.action) {
    case KeeperAction::kAcquire:
      return WithLeaveTimeout([&] { return Acquire(step.duration_us); });
    case KeeperAction::kExtend:
      return WithLeaveTimeout([&] { return Extend(step.duration_us); });
    case KeeperAction::kRanges:
      return WithLeaveTimeout([] { return ExchangeRanges(self.leaving || self.moving); });
    default:
      return WithLeaveTimeout([] { return Release(self.leaving || self.moving); });
  }
}

// What core/keeper decides by. `other_extension`: a backend asked under another extension than the lease's.
KeeperView Observe(bool leaving, bool *other_extension) {
  NodeBlock *node = keeping.node;
  const ClockReading reading = ReadClocks();
  const int64_t lease_duration_us = settings.lease_duration_ms * kUsPerMs;
  const Patience patience = PatienceNow();
  KeeperView view = {};
  ChangeNode(node, [&] {
    Read(&node->state.clock, reading, patience.clock);
    view = See(&node->state, lease_duration_us, patience, leaving);
    // A backend that misses a lease while there is one belongs to another extension than the lease.
    *other_extension = node->state.generator.open && node->state.lease_wanted;
    if (*other_extension) node->state.lease_wanted = false;
    node->registry_is_here = keeping.found.is_here;
  });
  ObserveRanges(&view);
  return view;
}

// The registry is another one: the lease goes back to the old one, and so do ranges, with one try for each, before one of the
// new is drawn.
void MoveToRegistry() {
  CloseGenerator();
  bool other_extension = false;
  const KeeperView view = Observe(true, &other_extension);
  if ((view.retired || view.ranges_held) && !self.move_failed) {
    self.action = view.retired ? KeeperAction::kRelease : KeeperAction::kRanges;
    self.move_failed = true;
    Act({self.action, 0, 0});
    self.move_failed = false;
    return;
  }
  FollowRegistry();
  self.keeper = Keeper();
  self.moving = false;
}

KeeperOutcome OutcomeOf(RegistryAnswer answer) {
  if (answer == RegistryAnswer::kBusy) return KeeperOutcome::kFailed;
  return answer == RegistryAnswer::kNothingBetter ? KeeperOutcome::kAnswered : KeeperOutcome::kDone;
}

void Carry(const KeeperStep &step, int64_t now_us) {
  const RegistryAnswer answer = Act(step);
  if (answer == RegistryAnswer::kGone) LookAtCatalogs();
  const int64_t done_us = MonotonicUs();
  self.keeper.Done(step.action, OutcomeOf(answer), done_us, Spread());
  if (step.action == KeeperAction::kAcquire && answer != RegistryAnswer::kDone) GoOn();
  if (answer == RegistryAnswer::kBusy)
    RecordBusy(step.action);
  else
    RecordSuccess(step.action, done_us - now_us, step.duration_us);
}

// After the releases, when the server ends, and perhaps only the keeper: nothing that this registry committed is missing where
// its server goes on.
bool MarkCleanOnce() {
  if (!stop_requested || self.marked_clean || !OidIsValid(keeping.extension)) return false;
  if (!keeping.registry->is_here && !keeping.node->serves) return false;
  self.marked_clean = true;
  if (RecoveryInProgress()) return false;
  WithLeaveTimeout([] {
    MarkCleanLocally(keeping.extension);
    return RegistryAnswer::kDone;
  });
  return true;
}

// A reload.
void FollowSettings() {
  ConfigReloadPending = false;
  ProcessConfigFile(PGC_SIGHUP);
  NameNode();
  self.moving = RegistryMoved();
  self.move_failed = false;
}

// One step; false when the keeper is done.
bool Step() {
  self.action = KeeperAction::kSleep;
  self.future = false;
  if (stop_requested && !self.leaving) {
    QueryCancelPending = false;  // it has done its work: whatever was under way has ended
    Leave("it was asked to stop");
  }
  if (BoxIsCut()) LookAfterBox();
  if (self.leaving) CloseGenerator();
  CHECK_FOR_INTERRUPTS();
  if (IsOverdue()) return false;
  if (ConfigReloadPending) FollowSettings();
  if (self.moving && !self.leaving) {
    MoveToRegistry();
    return true;
  }
  if (!self.leaving && MonotonicUs() >= self.next_watch_us) {
    WatchDatabase(MonotonicUs());
    if (self.leaving) return true;
  }

  bool other_extension = false;
  const int64_t now_us = MonotonicUs();
  const KeeperView view = Observe(self.leaving, &other_extension);
  TellClockEvents();
  const int64_t due_us = SampleForAskers(keeping.node);
  const int64_t sample_in_us = self.leaving ? PG_INT64_MAX : due_us;
  const KeeperStep step = self.keeper.Next(view, now_us);
  if (other_extension) LookAtCatalogs();
  self.action = step.action;
  self.future = view.future;
  if (step.action == KeeperAction::kExit) {
    TidyUp();
    return MarkCleanOnce();
  }
  if (step.action == KeeperAction::kSleep)
    Sleep(Min(Min(step.until_us, self.next_watch_us),
              sample_in_us < PG_INT64_MAX ? now_us + sample_in_us : PG_INT64_MAX));
  else
    Carry(step, now_us);
  return true;
}

// Called in PG_CATCH: nothing here looks at interrupts, as a message to the log does. Most of a step is
// outside of a transaction, and then AbortCurrentTransaction() releases nothing. Locks come first,
// because a copy of the error takes memory.
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

// A step of its own.
void LookAtError() {
  const ErrorData *error = self.error;
  self.error = nullptr;
  if (self.action == KeeperAction::kExit) return;
  // A look at the catalogs that failed counts as a try to keep the lease, and is repeated.
  const KeeperAction action = self.action == KeeperAction::kSleep ? KeeperAction::kAcquire : self.action;
  self.catalogs_changed = true;
  // Who asks for a better lease than the one in place has an answer, too, when there is none at all.
  const bool answered = action == KeeperAction::kAcquire && self.future && error->sqlerrcode == kAllLeased;
  self.keeper.Done(action, answered ? KeeperOutcome::kAnswered : KeeperOutcome::kFailed, MonotonicUs(), Spread());
  if (error->sqlerrcode == kClockBehind) AskByOtherClock();
  if (action == KeeperAction::kAcquire) GoOn();
  if (answered) return;
  // A shutdown, and a command that wants the database, cancel what is under way; that is no failure of the registry.
  const bool given_way = stop_requested || self.next_watch_us == 0;
  if (given_way && error->sqlerrcode == ERRCODE_QUERY_CANCELED && !self.leaving) return;
  if (action == KeeperAction::kRelease && error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE) DropOldestRetired();
  RecordFailure(action, error->sqlerrcode, error->message, error->detail, IsHeldBack(*error));
}

bool ProtectedStep() {
  MemoryContextSwitchTo(self.step_context);
  volatile bool more = true;
  PG_TRY();
  {
    if (self.error != nullptr) {
      LookAtError();
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

}  // namespace snowflake

using namespace snowflake;

void snowflake_keeper_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, HandleStop);
  pqsignal(SIGINT, HandleInterrupt);
  BackgroundWorkerUnblockSignals();
  // A database that accepts no new connections may still have old ones that issue ids.
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  PinSettings();
  if (!Attach()) proc_exit(0);
  NameNode();
  self.leave_timeout = RegisterTimeout(USER_TIMEOUT, HandleLeaveTimeout);
  self.catalogs_changed = true;
  CacheRegisterRelcacheCallback(OnRelcacheChange, Datum{0});
  self.step_context = AllocSetContextCreate(TopMemoryContext, "snowflake keeper", ALLOCSET_DEFAULT_SIZES);
  remote_give_way = GiveWay;
  while (ProtectedStep()) {
  }
  proc_exit(0);
}
