// The keeper's process: a latch loop around core/keeper. One step is one look, one decision and one action.
//
// 1. It holds its node's place (keeper_pid) for as long as it lives; a second one finds it taken and ends.
// 2. SIGTERM also cancels what is under way, because a wait for a lock or for a synchronous standby never looks at a flag.
// 3. It must not be the reason why a command on its database or its extension fails: see Watch().
#include "pg/worker.h"

#include <unistd.h>

#include "core/keeper.h"
#include "pg/layout_table.h"
#include "pg/registry.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/shared.h"

namespace snowflake {

namespace {

constexpr int64_t kWatchUs = 1000 * 1000;
constexpr int64_t kWatchWantedUs = 100 * 1000;

// Together within the 3 s that a shutdown may take.
constexpr const char *kLockTimeout = "1s";
constexpr int kReleaseTimeoutMs = 1500;

struct Process {
  NodeState *node;
  Keeper keeper;
  RegistryPlace place;
  char schema[NAMEDATALEN];
  MemoryContext step_context;
  KeeperAction action;  // under way
  int64_t next_watch_us;
  bool leaving;
  bool failing;  // the last try failed, and the log says so
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
#if PG_VERSION_NUM >= 170000
              {"transaction_timeout", "0"},
#endif
              {"session_replication_role", "origin"},
              {"zero_damaged_pages", "off"}};
  for (const auto &pin : pins) SetConfigOption(pin.name, pin.value, PGC_SUSET, PGC_S_OVERRIDE);
}

void Show(BackendState state, const char *what) { pgstat_report_activity(state, what); }

int64_t LeaseDurationUs() { return settings.lease_duration_ms * kUsPerMs; }
int64_t MaxLeadUs() { return settings.max_lead_ms * kUsPerMs; }

void Detach(int, Datum) {
  WithLock(self.node, LW_EXCLUSIVE, [] {
    self.node->keeper_pid = 0;
    self.node->keeper_latch = nullptr;
    self.node->keeper_asked_us = 0;
  });
  ConditionVariableBroadcast(&self.node->changed);
}

bool Attach() {
  self.node = FindNode(MyDatabaseId);
  if (self.node == nullptr) return false;
  bool taken = false;
  WithLock(self.node, LW_EXCLUSIVE, [&] {
    taken = self.node->keeper_pid != 0;
    if (taken) return;
    self.node->keeper_pid = MyProcPid;
    self.node->keeper_latch = MyLatch;
  });
  if (taken) return false;
  before_shmem_exit(Detach, Datum{0});
  return true;
}

void NameNode() {
  char name[sizeof(NodeState::node_name)];
  if (settings.node_name[0] != '\0') {
    strlcpy(name, settings.node_name, sizeof(name));
  } else {
    char host[128] = "localhost";
    gethostname(host, sizeof(host) - 1);
    StartTransactionCommand();
    const char *database = get_database_name(MyDatabaseId);
    snprintf(name, sizeof(name), "%s:%d/%s", cluster_name[0] != '\0' ? cluster_name : host, PostPortNumber,
             database ? database : "");
    CommitTransactionCommand();
  }
  // A name that was cut in the middle of a character could not be stored.
  name[pg_mbcliplen(name, static_cast<int>(strlen(name)), sizeof(name) - 1)] = '\0';
  WithLock(self.node, LW_EXCLUSIVE, [&] { memcpy(self.node->node_name, name, sizeof(name)); });
}

// The node's lock is held.
void PushRetired(const Retired &retired) {
  NodeState *node = self.node;
  if (node->retired_count == kMaxRetired) {
    memmove(&node->retired[0], &node->retired[1], sizeof(Retired) * (kMaxRetired - 1));
    --node->retired_count;
  }
  node->retired[node->retired_count++] = retired;
}

void PopRetired(int64_t lease_id) {
  NodeState *node = self.node;
  WithLock(node, LW_EXCLUSIVE, [&] {
    int kept = 0;
    for (int i = 0; i < node->retired_count; ++i)
      if (node->retired[i].lease_id != lease_id) node->retired[kept++] = node->retired[i];
    node->retired_count = kept;
  });
}

// From here on nothing is issued.
void CloseGenerator() {
  WithLock(self.node, LW_EXCLUSIVE, [] {
    if (self.node->generator.open) PushRetired(Close(&self.node->generator));
  });
}

void RecordSuccess() {
  if (self.failing) ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
  self.failing = false;
  WithLock(self.node, LW_EXCLUSIVE, [] { self.node->error.message[0] = '\0'; });
  ConditionVariableBroadcast(&self.node->changed);
}

void RecordFailure(int sqlstate, const char *message, const char *detail) {
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.at_us = NowUnixUs();
  if (detail)
    snprintf(error.message, sizeof(error.message), "%s (%s)", message, detail);
  else
    strlcpy(error.message, message, sizeof(error.message));
  error.message[pg_mbcliplen(error.message, static_cast<int>(strlen(error.message)), sizeof(error.message) - 1)] = '\0';
  // Once, and not with every try.
  if (!self.failing) ereport(WARNING, (errmsg("snowflake keeper: the registry refused: %s", error.message)));
  self.failing = true;
  WithLock(self.node, LW_EXCLUSIVE, [&] { self.node->error = error; });
  ConditionVariableBroadcast(&self.node->changed);
}

// The extension was dropped, or is another one than before: its registry is gone, and what it leased with it.
void ForgetRegistry() {
  WithLock(self.node, LW_EXCLUSIVE, [] {
    self.node->generator.open = false;
    self.node->retired_count = 0;
  });
}

void SetPlace(const RegistryPlace &place) {
  bool other = false;
  WithLock(self.node, LW_SHARED, [&] {
    other = self.node->generator.open && self.node->extension != place.extension;
  });
  if (other || (OidIsValid(self.place.extension) && self.place.extension != place.extension)) ForgetRegistry();
  if (place.schema != nullptr) strlcpy(self.schema, place.schema, sizeof(self.schema));
  self.place = {place.extension, self.schema};
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

void Leave(const char *reason) {
  if (!self.leaving) ereport(DEBUG1, (errmsg_internal("snowflake keeper leaves: %s", reason)));
  self.leaving = true;
}

void Watch(int64_t now_us) {
  bool refused = false;
  if (DatabaseIsWanted(&refused)) Leave("a command wants the database for itself");
  self.next_watch_us = now_us + (refused ? kWatchWantedUs : kWatchUs);
  if (self.leaving) return;
  const RegistryPlace place = FindRegistry();
  SetPlace(place);
  if (!OidIsValid(place.extension)) Leave("the extension is gone");
}

KeeperView See() {
  NodeState *node = self.node;
  const int64_t now_us = NowUnixUs();
  const int64_t max_lead_us = MaxLeadUs();
  KeeperView view = {};
  view.lease_duration_us = LeaseDurationUs();
  view.leaving = self.leaving;
  WithLock(node, LW_EXCLUSIVE, [&] {
    const Generator &g = node->generator;
    view.leased = g.open;
    if (node->new_worker_wanted)
      node->new_worker_wanted =
          g.open && NewWorkerHelps(g, g.layout.TickAt(now_us), MaxLead(g.layout, max_lead_us));
    view.lease_wanted = g.open ? node->new_worker_wanted : node->lease_wanted;
    view.window_wanted = g.open && node->window_wanted;
    view.retired = node->retired_count > 0;
    // A backend that misses a lease while there is one belongs to another extension than the lease: look at once.
    if (g.open && node->lease_wanted) {
      node->lease_wanted = false;
      self.next_watch_us = 0;
    }
  });
  return view;
}

// Where to ask the window to start: above all that was issued here, unless it is a clock that stepped back that asks.
Tick StartFrom(const Generator &g, const Layout &layout, Tick now, bool new_worker) {
  const Tick first_unused = FirstUnused(g, layout);
  if (first_unused <= now) return now;
  const Tick patience = MaxLead(layout, MaxLeadUs()) + layout.TicksIn(settings.max_wait_ms * kUsPerMs);
  const bool stepped_back = first_unused - now > patience && StepBackPolicy() == OnClockStepBack::kNewWorker;
  return new_worker || stepped_back ? now : first_unused;
}

void Publish(const AcquireAnswer &answer, Tick now, bool new_worker) {
  NodeState *node = self.node;
  bool replaced = false;
  Retired old = {};
  WithLock(node, LW_EXCLUSIVE, [&] {
    replaced = node->generator.open;
    if (replaced) PushRetired(old = Close(&node->generator));
    Open(&node->generator, answer.layout, answer.lease, now);
    node->extension = self.place.extension;
    node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
    ++node->counters.leases_drawn;
    if (new_worker) ++node->counters.clock_steps_back;
  });
  if (new_worker && replaced)
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d in place of %d, because the clock stepped back by %.3f s",
                         answer.lease.worker, old.worker,
                         static_cast<double>(old.last_tick - now) * answer.layout.tick_us / USECS_PER_SEC),
                  errdetail("Ids issued from now on may be smaller than ids issued before.")));
  else
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d for node \"%s\", lease %lld", answer.lease.worker,
                         node->node_name, static_cast<long long>(answer.lease.lease_id))));
}

RegistryAnswer DoAcquire() {
  Show(STATE_RUNNING, "drawing a worker id");
  const Layout layout = RegistryLayout(self.place);
  Generator g;
  bool new_worker = false;
  WithLock(self.node, LW_SHARED, [&] {
    g = self.node->generator;
    new_worker = g.open && self.node->new_worker_wanted;
  });
  const Tick now = layout.TickAt(NowUnixUs());
  const AcquireRequest request = {self.node->node_name, settings.datacenter, StartFrom(g, layout, now, new_worker),
                                  LeaseDurationUs()};
  AcquireAnswer answer = {};
  const RegistryAnswer outcome = AcquireLocally(self.place, request, &answer);
  if (outcome != RegistryAnswer::kDone) return outcome;
  if (!IsPlausible(answer.layout, answer.lease) || answer.layout != layout || stop_requested) {
    WithLock(self.node, LW_EXCLUSIVE, [&] {
      const Lease &lease = answer.lease;
      PushRetired({lease.lease_id, lease.token, lease.worker, lease.window_start - 1});
    });
    if (stop_requested) return RegistryAnswer::kDone;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout was changed meanwhile"),
                    errdetail("Here it is %s; in the registry it is %s.", DescribeLayout(layout),
                              DescribeLayout(answer.layout))));
  }
  Publish(answer, now, new_worker);
  return outcome;
}

RegistryAnswer DoExtend() {
  Show(STATE_RUNNING, "moving the window of the lease");
  Generator g;
  WithLock(self.node, LW_SHARED, [&] { g = self.node->generator; });
  Tick window_end = 0;
  const RegistryAnswer outcome =
      ExtendLocally(self.place, g.lease, g.layout.TickAt(NowUnixUs()), LeaseDurationUs(), &window_end);
  WithLock(self.node, LW_EXCLUSIVE, [&] {
    if (outcome == RegistryAnswer::kDone) {
      MoveWindowEnd(&self.node->generator, g.lease.lease_id, window_end);
      self.node->window_wanted = false;
    } else if (outcome == RegistryAnswer::kGone) {
      self.node->generator.open = false;
    }
  });
  if (outcome == RegistryAnswer::kGone) {
    ereport(LOG, (errmsg("snowflake keeper: lost worker id %d, lease %lld", g.lease.worker,
                         static_cast<long long>(g.lease.lease_id)),
                  errdetail("The lease is not in the registry any more.")));
    self.next_watch_us = 0;
  }
  return outcome;
}

RegistryAnswer DoRelease() {
  Show(STATE_RUNNING, "giving a worker id back");
  Retired retired = {};
  WithLock(self.node, LW_SHARED, [&] { retired = self.node->retired[0]; });
  if (self.leaving) enable_timeout_after(STATEMENT_TIMEOUT, kReleaseTimeoutMs);
  const RegistryAnswer outcome = ReleaseLocally(self.place, retired);
  disable_timeout(STATEMENT_TIMEOUT, false);
  if (outcome == RegistryAnswer::kBusy) return outcome;
  PopRetired(retired.lease_id);
  ereport(LOG, (errmsg("snowflake keeper: gave worker id %d back, lease %lld", retired.worker,
                       static_cast<long long>(retired.lease_id))));
  return outcome;
}

void ShowIdle() {
  char what[128];
  Generator g;
  WithLock(self.node, LW_SHARED, [&] { g = self.node->generator; });
  if (g.open)
    snprintf(what, sizeof(what), "holding worker id %d until %s", g.lease.worker,
             timestamptz_to_str(TimestampFromUnixUs(g.layout.UnixUsAt(g.lease.window_end))));
  else
    strlcpy(what, "waiting to try again for a worker id", sizeof(what));
  Show(STATE_IDLE, what);
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
  }

  const int64_t now_us = MonotonicUs();
  if (!self.leaving && now_us >= self.next_watch_us) {
    Watch(now_us);
    if (self.leaving) return true;
  }

  const KeeperStep step = self.keeper.Next(See(), now_us);
  self.action = step.action;
  RegistryAnswer outcome = RegistryAnswer::kDone;
  switch (step.action) {
    case KeeperAction::kExit:
      return false;
    case KeeperAction::kSleep:
      Sleep(Min(step.until_us, self.next_watch_us));
      return true;
    case KeeperAction::kAcquire:
      outcome = DoAcquire();
      break;
    case KeeperAction::kExtend:
      outcome = DoExtend();
      break;
    case KeeperAction::kRelease:
      outcome = DoRelease();
      break;
  }
  const bool answered = outcome != RegistryAnswer::kBusy;
  self.keeper.Done(step.action, answered, MonotonicUs());
  if (answered) RecordSuccess();
  return true;
}

void Recover() {
  MemoryContextSwitchTo(self.step_context);
  ErrorData *error = CopyErrorData();
  FlushErrorState();
  disable_all_timeouts(false);
  AbortCurrentTransaction();
  const bool release = self.action == KeeperAction::kRelease;
  self.keeper.Done(release ? KeeperAction::kRelease : KeeperAction::kAcquire, false, MonotonicUs());
  // A shutdown cancels what is under way; that is no failure of the registry.
  if (stop_requested && error->sqlerrcode == ERRCODE_QUERY_CANCELED && !self.leaving) return;
  RecordFailure(error->sqlerrcode, error->message, error->detail);
  // What the registry will never accept is not asked again.
  if (release && error->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE) {
    int64_t lease_id = 0;
    WithLock(self.node, LW_SHARED, [&] { lease_id = self.node->retired[0].lease_id; });
    PopRetired(lease_id);
  }
}

bool ProtectedStep() {
  MemoryContextReset(self.step_context);
  MemoryContextSwitchTo(self.step_context);
  volatile bool more = true;
  PG_TRY();
  {
    more = Step();
  }
  PG_CATCH();
  {
    Recover();
  }
  PG_END_TRY();
  return more;
}

}  // namespace

}  // namespace snowflake

using namespace snowflake;

void snowflake_keeper_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, HandleStop);
  BackgroundWorkerUnblockSignals();
  // A database that accepts no new connections may still have old ones that issue ids.
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  PinSettings();
  if (!Attach()) proc_exit(0);
  NameNode();
  self.step_context = AllocSetContextCreate(TopMemoryContext, "snowflake keeper", ALLOCSET_DEFAULT_SIZES);
  while (ProtectedStep()) {
  }
  proc_exit(0);
}
