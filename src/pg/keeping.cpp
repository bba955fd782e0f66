#include "pg/keeping.h"

#include <unistd.h>

#include "pg/layout_table.h"
#include "pg/settings.h"
#include "pg/worker.h"

namespace snowflake {

Keeping keeping;

namespace {

// Together with the wait for a lock within the 3 s that a shutdown may take.
constexpr int kReleaseTimeoutMs = 1500;

int64_t LeaseDurationUs() { return settings.lease_duration_ms * kUsPerMs; }
int64_t MaxLeadUs() { return settings.max_lead_ms * kUsPerMs; }

void Detach(int, Datum) {
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    keeping.node->keeper_pid = 0;
    keeping.node->keeper_latch = nullptr;
    keeping.node->keeper_asked_us = 0;
  });
  ConditionVariableBroadcast(&keeping.node->changed);
}

// The node's lock is held.
void PushRetired(const Retired &retired) {
  NodeState *node = keeping.node;
  if (node->retired_count == kMaxRetired) {
    memmove(&node->retired[0], &node->retired[1], sizeof(Retired) * (kMaxRetired - 1));
    --node->retired_count;
  }
  node->retired[node->retired_count++] = retired;
}

void PopRetired(int64_t lease_id) {
  NodeState *node = keeping.node;
  WithLock(node, LW_EXCLUSIVE, [&] {
    int kept = 0;
    for (int i = 0; i < node->retired_count; ++i)
      if (node->retired[i].lease_id != lease_id) node->retired[kept++] = node->retired[i];
    node->retired_count = kept;
  });
}

// The extension was dropped, or is another one than before: the registry in this database is gone, and what it leased with
// it. One on another server gets the lease back.
void ForgetRegistry() {
  if (keeping.registry[0] != '\0') return CloseGenerator();
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    keeping.node->generator.open = false;
    keeping.node->retired_count = 0;
  });
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
  NodeState *node = keeping.node;
  bool replaced = false;
  Retired old = {};
  WithLock(node, LW_EXCLUSIVE, [&] {
    replaced = node->generator.open;
    if (replaced) PushRetired(old = Close(&node->generator));
    Open(&node->generator, answer.layout, answer.lease, now);
    node->extension = keeping.extension;
    node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
    ++node->counters.leases_drawn;
    if (new_worker) ++node->counters.clock_steps_back;
  });
  if (new_worker && replaced)
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d in place of %d, because the clock stepped back by %.3f s",
                         answer.lease.worker, old.worker, Seconds((old.last_tick - now) * answer.layout.tick_us)),
                  errdetail("Ids issued from now on may be smaller than ids issued before.")));
  else
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d for node \"%s\", lease %lld", answer.lease.worker,
                         node->node_name, static_cast<long long>(answer.lease.lease_id))));
}

}  // namespace

bool Attach() {
  keeping.node = FindNode(MyDatabaseId);
  if (keeping.node == nullptr) return false;
  bool taken = false;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    taken = keeping.node->keeper_pid != 0;
    if (taken) return;
    keeping.node->keeper_pid = MyProcPid;
    keeping.node->keeper_latch = MyLatch;
  });
  if (taken) return false;
  keeping.registry = MemoryContextStrdup(TopMemoryContext, settings.registry);
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
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { memcpy(keeping.node->node_name, name, sizeof(name)); });
}

bool RegistryMoved() { return strcmp(keeping.registry, settings.registry) != 0; }

void FollowRegistry() {
  WithLock(keeping.node, LW_EXCLUSIVE, [] { keeping.node->retired_count = 0; });
  pfree(keeping.registry);
  keeping.registry = MemoryContextStrdup(TopMemoryContext, settings.registry);
}

void SetExtension(Oid extension) {
  bool other = false;
  WithLock(keeping.node, LW_SHARED,
           [&] { other = keeping.node->generator.open && keeping.node->extension != extension; });
  if (other || (OidIsValid(keeping.extension) && keeping.extension != extension)) ForgetRegistry();
  keeping.extension = extension;
}

KeeperView See(bool leaving, bool *other_extension) {
  NodeState *node = keeping.node;
  const int64_t now_us = NowUnixUs();
  const int64_t max_lead_us = MaxLeadUs();
  KeeperView view = {};
  *other_extension = false;
  view.lease_duration_us = LeaseDurationUs();
  view.leaving = leaving;
  WithLock(node, LW_EXCLUSIVE, [&] {
    const Generator &g = node->generator;
    view.leased = g.open;
    if (node->new_worker_wanted)
      node->new_worker_wanted = g.open && NewWorkerHelps(g, g.layout.TickAt(now_us), MaxLead(g.layout, max_lead_us));
    view.lease_wanted = g.open ? node->new_worker_wanted : node->lease_wanted;
    view.window_wanted = g.open && node->window_wanted;
    view.retired = node->retired_count > 0;
    // A backend that misses a lease while there is one belongs to another extension than the lease.
    if (g.open && node->lease_wanted) {
      node->lease_wanted = false;
      *other_extension = true;
    }
  });
  return view;
}

void CloseGenerator() {
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    if (keeping.node->generator.open) PushRetired(Close(&keeping.node->generator));
  });
}

RegistryAnswer Acquire() {
  pgstat_report_activity(STATE_RUNNING, "drawing a worker id");
  const Layout layout = LocalLayout(keeping.extension);
  const char *registry = keeping.registry;
  Generator g;
  bool new_worker = false;
  WithLock(keeping.node, LW_SHARED, [&] {
    g = keeping.node->generator;
    new_worker = g.open && keeping.node->new_worker_wanted;
  });
  const Tick now = layout.TickAt(NowUnixUs());
  const AcquireRequest request = {keeping.node->node_name, settings.datacenter, StartFrom(g, layout, now, new_worker),
                                  LeaseDurationUs(), {}, 0, kAnyStart};
  AcquireAnswer answer = {};
  const RegistryAnswer outcome = registry[0] != '\0'
                                     ? AcquireRemotely(registry, keeping.extension, layout, request, &answer)
                                     : AcquireLocally(keeping.extension, request, &answer);
  if (outcome != RegistryAnswer::kDone) return outcome;
  if (!IsPlausible(answer.layout, answer.lease) || answer.layout != layout || StopRequested()) {
    WithLock(keeping.node, LW_EXCLUSIVE, [&] {
      const Lease &lease = answer.lease;
      PushRetired({lease.lease_id, lease.token, lease.worker, lease.window_start - 1, lease.window_end});
    });
    if (StopRequested()) return RegistryAnswer::kDone;
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout was changed meanwhile"),
                    errdetail("Here it is %s; in the registry it is %s.", DescribeLayout(layout),
                              DescribeLayout(answer.layout))));
  }
  Publish(answer, now, new_worker);
  return outcome;
}

RegistryAnswer Extend() {
  pgstat_report_activity(STATE_RUNNING, "moving the window of the lease");
  Generator g;
  WithLock(keeping.node, LW_SHARED, [&] { g = keeping.node->generator; });
  ExtendAnswer answer = {};
  const Tick now = ExtendFrom(g, g.layout.TickAt(NowUnixUs()), MaxLead(g.layout, MaxLeadUs()));
  const char *registry = keeping.registry;
  const RegistryAnswer outcome = registry[0] != '\0'
                                     ? ExtendRemotely(registry, g.lease, now, LeaseDurationUs(), &answer)
                                     : ExtendLocally(keeping.extension, g.lease, now, LeaseDurationUs(), &answer);
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    // Told to stop, a wait for a synchronous standby ends without its acknowledgement.
    if (outcome == RegistryAnswer::kDone && !StopRequested()) {
      MoveWindowEnd(&keeping.node->generator, g.lease.lease_id, answer.window_end);
      keeping.node->window_wanted = false;
    } else if (outcome == RegistryAnswer::kGone) {
      keeping.node->generator.open = false;
    }
  });
  if (outcome == RegistryAnswer::kGone) {
    ereport(LOG, (errmsg("snowflake keeper: lost worker id %d, lease %lld", g.lease.worker,
                         static_cast<long long>(g.lease.lease_id)),
                  errdetail("The lease is not in the registry any more.")));
  }
  return outcome;
}

RegistryAnswer Release(bool leaving) {
  pgstat_report_activity(STATE_RUNNING, "giving a worker id back");
  Retired retired = {};
  WithLock(keeping.node, LW_SHARED, [&] { retired = keeping.node->retired[0]; });
  RegistryAnswer outcome = RegistryAnswer::kBusy;
  if (keeping.registry[0] != '\0') {
    outcome = ReleaseRemotely(keeping.registry, retired, leaving);
  } else {
    if (leaving) enable_timeout_after(STATEMENT_TIMEOUT, kReleaseTimeoutMs);
    outcome = ReleaseLocally(keeping.extension, retired);
    disable_timeout(STATEMENT_TIMEOUT, false);
  }
  if (outcome == RegistryAnswer::kBusy) return outcome;
  PopRetired(retired.lease_id);
  ereport(LOG, (errmsg("snowflake keeper: gave worker id %d back, lease %lld", retired.worker,
                       static_cast<long long>(retired.lease_id))));
  return outcome;
}

// What the registry will never accept is not asked again.
void DropOldestRetired() {
  int64_t lease_id = 0;
  WithLock(keeping.node, LW_SHARED, [&] { lease_id = keeping.node->retired[0].lease_id; });
  PopRetired(lease_id);
}

void RecordSuccess(KeeperAction action, int64_t took_us) {
  // Once, and not with every exchange.
  const bool slow = took_us > LeaseDurationUs() / Keeper::kExtensionsPerWindow;
  if (slow && !keeping.slow)
    ereport(WARNING, (errmsg("snowflake keeper: the registry took %.1f s to answer", Seconds(took_us)),
                      errdetail("snowflake.lease_duration is %.1f s, so windows may end before they are moved.",
                                Seconds(LeaseDurationUs()))));
  keeping.slow = slow;
  // That a lease could be given back does not mean that one can be had.
  if (action == KeeperAction::kRelease && keeping.failed != KeeperAction::kRelease) return;
  if (keeping.failed != KeeperAction::kSleep) ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
  keeping.failed = KeeperAction::kSleep;
  WithLock(keeping.node, LW_EXCLUSIVE, [] { keeping.node->error.message[0] = '\0'; });
  ConditionVariableBroadcast(&keeping.node->changed);
}

void RecordFailure(KeeperAction action, int sqlstate, const char *message, const char *detail) {
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.at_us = NowUnixUs();
  if (detail)
    snprintf(error.message, sizeof(error.message), "%s (%s)", message, detail);
  else
    strlcpy(error.message, message, sizeof(error.message));
  error.message[pg_mbcliplen(error.message, static_cast<int>(strlen(error.message)), sizeof(error.message) - 1)] = '\0';
  // Once, and not with every try.
  if (keeping.failed == KeeperAction::kSleep)
    ereport(WARNING, (sqlstate == ERRCODE_CONNECTION_FAILURE
                          ? errmsg("snowflake keeper: cannot reach the registry: %s", error.message)
                          : errmsg("snowflake keeper: the registry refused: %s", error.message)));
  keeping.failed = action;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { keeping.node->error = error; });
  ConditionVariableBroadcast(&keeping.node->changed);
}

}  // namespace snowflake
