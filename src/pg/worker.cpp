// The keeper's process: a latch loop around core/keeper. One step is one look, one decision and one action.
//
// 1. It holds its node's place (keeper_pid) for as long as it lives; a second one finds it taken and ends.
// 2. SIGTERM also cancels what is under way, because a wait for a lock or for a synchronous standby never looks at a flag.
// 3. It must not be the reason why a command on its database or its extension fails: see Watch().
#include "pg/worker.h"

#include "pg/keeping.h"
#include "pg/registry.h"
#include "pg/report.h"
#include "pg/remote.h"

namespace snowflake {

namespace {

constexpr int64_t kWatchUs = 1000 * 1000;
constexpr int64_t kWatchWantedUs = 100 * 1000;

constexpr const char *kLockTimeout = "1s";
constexpr int kMarkTimeoutMs = 1000;

struct Process {
  Keeper keeper;
  MemoryContext step_context;
  KeeperAction action;  // under way
  int64_t next_watch_us;
  bool leaving;
  bool moving;       // to another registry
  bool move_failed;  // the old one did not take its lease back
};
Process self;

volatile sig_atomic_t stop_requested = false;

void HandleStop(SIGNAL_ARGS) {
  const int saved_errno = errno;
  if (!stop_requested) {
    stop_requested = true;
    QueryCancelPending = true;
    InterruptPending = true;
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

// The timeouts of locks and statements come as a SIGINT that the process sends itself. Another's, pg_cancel_backend(), is
// not heard: it would end a wait for a synchronous standby as if that had acknowledged.
void HandleTimeout(SIGNAL_ARGS) {
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
    if (proc != nullptr && proc->databaseId == MyDatabaseId) ++holders;
  }
  return CountDBConnections(MyDatabaseId) <= holders;
}

// During a wait for a registry that does not answer.
bool GiveWay() {
  bool refused = false;
  if (self.leaving || !DatabaseIsWanted(&refused)) return false;
  self.next_watch_us = 0;
  return true;
}

void Leave(const char *reason) {
  if (!self.leaving) ereport(DEBUG1, (errmsg_internal("snowflake keeper leaves: %s", reason)));
  self.leaving = true;
}

void Watch(int64_t now_us) {
  bool refused = false;
  if (DatabaseIsWanted(&refused)) Leave("a command wants the database for itself");
  self.next_watch_us = now_us + (refused ? kWatchWantedUs : kWatchUs);
  if (self.leaving) return;
  const Oid before = keeping.extension;
  SetExtension(FindExtension());
  // Of another one nobody may have asked for an id yet, and a lease would settle its layout.
  if (!OidIsValid(keeping.extension) || (OidIsValid(before) && keeping.extension != before))
    Leave("the extension is gone");
}

int32_t Spread() { return static_cast<int32_t>(pg_prng_uint64_range(&pg_global_prng_state, 0, 999)); }

void ShowIdle() {
  char what[128];
  Generator g;
  WithLock(keeping.node, LW_SHARED, [&] { g = keeping.node->generator; });
  if (g.open)
    snprintf(what, sizeof(what), "holding worker id %d until %s", g.lease.worker,
             timestamptz_to_str(TimestampFromUnixUs(g.layout.UnixUsAt(g.lease.window_end))));
  else
    strlcpy(what, "waiting to try again for a worker id", sizeof(what));
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

// The registry is another one: the lease goes back to the old one, with one try for each that is retired, before one of the
// new is drawn.
void Move() {
  CloseGenerator();
  bool other_extension = false;
  if (See(true, &other_extension).retired && !self.move_failed) {
    self.action = KeeperAction::kRelease;
    self.move_failed = true;
    self.move_failed = Release(true) == RegistryAnswer::kBusy;
    return;
  }
  FollowRegistry();
  self.keeper = Keeper();
  self.moving = false;
}

// One step; false when the keeper is done.
bool Step() {
  self.action = KeeperAction::kSleep;
  if (stop_requested && !self.leaving) {
    QueryCancelPending = false;  // it has done its work: whatever was under way has ended
    Leave("it was told to stop");
  }
  if (self.leaving) CloseGenerator();
  CHECK_FOR_INTERRUPTS();
  if (ConfigReloadPending) {
    ConfigReloadPending = false;
    ProcessConfigFile(PGC_SIGHUP);
    NameNode();
    self.moving = RegistryMoved();
    self.move_failed = false;
  }
  if (self.moving && !self.leaving) {
    Move();
    return true;
  }

  const int64_t now_us = MonotonicUs();
  if (!self.leaving && now_us >= self.next_watch_us) {
    Watch(now_us);
    if (self.leaving) return true;
  }

  bool other_extension = false;
  const KeeperStep step = self.keeper.Next(See(self.leaving, &other_extension), now_us);
  if (other_extension) self.next_watch_us = 0;
  self.action = step.action;
  RegistryAnswer outcome = RegistryAnswer::kDone;
  switch (step.action) {
    case KeeperAction::kExit:
      return false;
    case KeeperAction::kSleep:
      Sleep(Min(step.until_us, self.next_watch_us));
      return true;
    case KeeperAction::kAcquire:
      outcome = Acquire();
      break;
    case KeeperAction::kExtend:
      outcome = Extend();
      break;
    case KeeperAction::kRelease:
      outcome = Release(self.leaving);
      break;
  }
  if (outcome == RegistryAnswer::kGone) self.next_watch_us = 0;  // perhaps the extension is gone
  const bool answered = outcome != RegistryAnswer::kBusy;
  const int64_t done_us = MonotonicUs();
  self.keeper.Done(step.action, answered, done_us, Spread());
  if (answered) RecordSuccess(step.action, done_us - now_us);
  return true;
}

void Recover() {
  MemoryContextSwitchTo(self.step_context);
  ErrorData *error = CopyErrorData();
  FlushErrorState();
  disable_all_timeouts(false);
  AbortCurrentTransaction();
  // A look at the catalogs that failed counts as a try to keep the lease.
  const KeeperAction action = self.action == KeeperAction::kSleep ? KeeperAction::kAcquire : self.action;
  self.keeper.Done(action, false, MonotonicUs(), Spread());
  // A shutdown, and a command that wants the database, cancel what is under way; that is no failure of the registry.
  const bool given_way = stop_requested || self.next_watch_us == 0;
  if (given_way && error->sqlerrcode == ERRCODE_QUERY_CANCELED && !self.leaving) return;
  RecordFailure(action, error->sqlerrcode, error->message, error->detail, IsHeldBack(*error));
  if (action == KeeperAction::kRelease && error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE) DropOldestRetired();
}

bool ProtectedStep() {
  MemoryContextReset(self.step_context);
  MemoryContextSwitchTo(self.step_context);
  volatile bool more = true;
  PG_TRY();
  { more = Step(); }
  PG_CATCH();
  { Recover(); }
  PG_END_TRY();
  return more;
}

// After the releases: nothing that this registry committed is missing where its server goes on.
void MarkClean() {
  PG_TRY();
  {
    enable_timeout_after(STATEMENT_TIMEOUT, kMarkTimeoutMs);
    MarkCleanLocally(keeping.extension);
    disable_timeout(STATEMENT_TIMEOUT, false);
  }
  PG_CATCH();
  { Recover(); }
  PG_END_TRY();
}

}  // namespace

bool StopRequested() { return stop_requested; }

}  // namespace snowflake

using namespace snowflake;

void snowflake_keeper_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, HandleStop);
  pqsignal(SIGINT, HandleTimeout);
  BackgroundWorkerUnblockSignals();
  // A database that accepts no new connections may still have old ones that issue ids.
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  PinSettings();
  if (!Attach()) proc_exit(0);
  NameNode();
  self.step_context = AllocSetContextCreate(TopMemoryContext, "snowflake keeper", ALLOCSET_DEFAULT_SIZES);
  remote_give_way = GiveWay;
  while (ProtectedStep()) {
  }
  if (stop_requested && keeping.registry[0] == '\0' && OidIsValid(keeping.extension) && !RecoveryInProgress()) MarkClean();
  proc_exit(0);
}
