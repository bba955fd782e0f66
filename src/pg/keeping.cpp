#include "pg/keeping.h"

#include <unistd.h>

#include "pg/advice.h"
#include "pg/layout_table.h"
#include "pg/presentable.h"
#include "pg/report.h"
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

uint64_t HashOfRegistry() {
  const auto *text = reinterpret_cast<const unsigned char *>(settings.registry);
  return DatumGetUInt64(hash_any_extended(text, static_cast<int>(strlen(settings.registry)), 0));
}

// The node's lock is held. What one registry has said or was asked means nothing to another.
void ForgetAnswers() {
  NodeState *node = keeping.node;
  node->retired_count = 0;
  node->seen = {};
  node->next_token = {};
  node->next_token_since = 0;
  node->workers_free = -1;
  node->advice = 0;
  node->error.message[0] = '\0';
}

// The extension was dropped, or is another one than before: the registry in this database is gone, and what it leased with
// it. One on another server gets the lease back.
void ForgetRegistry() {
  if (keeping.registry[0] != '\0') return CloseGenerator();
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    keeping.node->generator.open = false;
    ForgetAnswers();
  });
}

// Whether an error of a registry on another server has nothing in it that not everybody may read: what the protocol itself
// refuses, and what is short or in use there. Others name an address, a port or a role.
bool NamesNobody(int sqlstate) {
  const int category = ERRCODE_TO_CATEGORY(sqlstate);
  return category == MAKE_SQLSTATE('S', 'F', '0', '0', '0') || category == ERRCODE_INSUFFICIENT_RESOURCES ||
         category == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

// Where to ask the window to start: above all that was issued here, unless it is a clock that stepped back that asks.
Tick StartFrom(const Generator &g, const Layout &layout, Tick now, bool new_worker) {
  const Tick first_unused = FirstUnused(g, layout);
  if (first_unused <= now) return now;
  const Tick patience = MaxLead(layout, MaxLeadUs()) + layout.TicksIn(settings.max_wait_ms * kUsPerMs);
  const bool stepped_back = first_unused - now > patience && StepBackPolicy() == OnClockStepBack::kNewWorker;
  return new_worker || stepped_back ? now : first_unused;
}

// A request that has had no answer is asked again with its token, so that it costs no second worker id.
void PrepareToken(AcquireRequest *request, Tick now, Tick *since) {
  NodeState *node = keeping.node;
  const Token fresh = NewToken();
  WithLock(node, LW_EXCLUSIVE, [&] {
    if (node->next_token == Token{}) {
      node->next_token = fresh;
      node->next_token_since = now;
    }
    node->next_token_since = Min(node->next_token_since, now);
    request->token = node->next_token;
    request->seen_lease_id = node->seen.lease_id;
    *since = node->next_token_since;
  });
}

void ForgetToken() {
  WithLock(keeping.node, LW_EXCLUSIVE, [] { keeping.node->next_token = {}; });
}

// The registry stands at an older timeline than it was seen at: an old primary has come back, and what it says of leases is
// what it knew then.
void CheckStanding(const Standing &standing) {
  RegistrySeen seen = {};
  WithLock(keeping.node, LW_SHARED, [&] { seen = keeping.node->seen; });
  if (!IsOlder(standing, seen.system_identifier, seen.timeline)) return;
  ereport(ERROR, (errcode(kNoLease), errmsg("the registry answers from an older timeline"),
                  errdetail("It is at timeline %lld; answers of timeline %lld have been seen.",
                            static_cast<long long>(standing.timeline), static_cast<long long>(seen.timeline)),
                  errhint("An old primary has come back: stop it.")));
}

// The node's lock is held.
void Note(const Standing &standing, int64_t lease_id) {
  RegistrySeen *seen = &keeping.node->seen;
  if (standing.system_identifier != 0) {
    seen->system_identifier = standing.system_identifier;
    seen->timeline = standing.timeline;
  }
  seen->lease_id = Max(seen->lease_id, lease_id);
  RaiseTo(&keeping.node->generator, standing.raised_tick);
}

// Gives back what is not put to use.
void Decline(const Lease &lease) {
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    PushRetired({lease.lease_id, lease.token, lease.worker, lease.window_start - 1, lease.window_end});
  });
}

[[noreturn]] void ReportAnswer(const char *what) {
  ereport(ERROR, (errcode(kNoLease), errmsg("the registry's answer cannot be"), errdetail_internal("%s", what),
                  errhint("Check snowflake.registry, and who may change that database.")));
  pg_unreachable();
}

// What is wrong with it as a sentence; null when nothing is.
const char *FaultOf(const AcquireAnswer &answer, const AcquireRequest &request, const Layout &layout, Tick since) {
  const Lease &lease = answer.lease;
  const auto number = [](int64_t value) { return static_cast<long long>(value); };
  switch (Judge(layout, request.datacenter, lease, since, request.now, request.duration_us)) {
    case AnswerFault::kNone:
      break;
    case AnswerFault::kLeaseId:
      return psprintf("It has lease %lld.", number(lease.lease_id));
    case AnswerFault::kWorker:
      return psprintf("It has worker id %d for datacenter %d.", lease.worker, request.datacenter);
    case AnswerFault::kWindow:
      return psprintf("It has the window from tick %lld to %lld, asked at tick %lld for %.1f s.",
                      number(lease.window_start), number(lease.window_end), number(request.now),
                      Seconds(request.duration_us));
  }
  // A registry of before is never told what was seen, so it can do nothing about it.
  if (answer.standing.system_identifier != 0 && lease.lease_id <= request.seen_lease_id)
    return psprintf("It has lease %lld; lease %lld was seen before.", number(lease.lease_id),
                    number(request.seen_lease_id));
  return nullptr;
}

void Publish(const AcquireAnswer &answer, Tick now, bool new_worker) {
  NodeState *node = keeping.node;
  bool replaced = false;
  Retired old = {};
  WithLock(node, LW_EXCLUSIVE, [&] {
    replaced = node->generator.open;
    if (replaced) PushRetired(old = Close(&node->generator));
    Open(&node->generator, answer.layout, answer.lease, now);
    Note(answer.standing, answer.lease.lease_id);
    node->extension = keeping.extension;
    node->next_token = {};
    node->workers_free = answer.workers_free;
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
  Advise(answer);
}

}  // namespace

bool Attach() {
  keeping.node = FindNode(MyDatabaseId);
  if (keeping.node == nullptr) return false;
  bool taken = false;
  const uint64_t registry = HashOfRegistry();
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    taken = keeping.node->keeper_pid != 0;
    if (taken) return;
    keeping.node->keeper_pid = MyProcPid;
    keeping.node->keeper_latch = MyLatch;
    // A lease of another registry would look to this one like commits that it has lost.
    if (keeping.node->registry != registry) {
      keeping.node->generator.open = false;
      ForgetAnswers();
    }
    keeping.node->registry = registry;
  });
  if (taken) return false;
  keeping.registry = MemoryContextStrdup(TopMemoryContext, settings.registry);
  before_shmem_exit(Detach, Datum{0});
  return true;
}

void NameNode() {
  char name[sizeof(NodeState::node_name)];
  if (settings.node_name[0] != '\0') {
    CopyPresentable(name, sizeof(name), settings.node_name);
  } else {
    char host[128] = "localhost";
    gethostname(host, sizeof(host) - 1);
    MemoryContext caller = CurrentMemoryContext;  // a transaction's end leaves another one
    StartTransactionCommand();
    const char *database = get_database_name(MyDatabaseId);
    CopyPresentable(
        name, sizeof(name),
        psprintf("%s:%d/%s", cluster_name[0] != '\0' ? cluster_name : host, PostPortNumber, database ? database : ""));
    CommitTransactionCommand();
    MemoryContextSwitchTo(caller);
  }
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { memcpy(keeping.node->node_name, name, sizeof(name)); });
}

bool RegistryMoved() { return strcmp(keeping.registry, settings.registry) != 0; }

void FollowRegistry() {
  const uint64_t registry = HashOfRegistry();
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    ForgetAnswers();
    keeping.node->registry = registry;
  });
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
    bool new_worker_helps = false;
    if (g.open) {
      const Tick now = g.layout.TickAt(now_us);
      const Tick max_lead = MaxLead(g.layout, max_lead_us);
      view.window_left_us = g.layout.UnixUsAt(g.lease.window_end) - now_us;
      view.future = BeginsInFuture(g, now, max_lead);
      new_worker_helps = NewWorkerHelps(g, now, max_lead);
    }
    node->new_worker_wanted = node->new_worker_wanted && new_worker_helps;
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

RegistryAnswer Acquire(int64_t duration_us) {
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
  AcquireRequest request = {};
  request.node = keeping.node->node_name;
  request.datacenter = settings.datacenter;
  request.now = StartFrom(g, layout, now, g.open);
  request.duration_us = duration_us;
  // Of another lease in place of this one only an earlier beginning is of use.
  request.start_before = g.open && g.layout == layout ? Max(g.last_tick, g.lease.window_start) : kAnyStart;
  Tick since = 0;
  PrepareToken(&request, request.now, &since);
  AcquireAnswer answer = {};
  const RegistryAnswer outcome = registry[0] != '\0'
                                     ? AcquireRemotely(registry, keeping.extension, layout, request, &answer)
                                     : AcquireLocally(keeping.extension, request, &answer);
  if (outcome != RegistryAnswer::kDone) return outcome;
  CheckStanding(answer.standing);
  const bool same_layout = answer.layout == layout;
  const char *fault = same_layout ? FaultOf(answer, request, layout, since) : nullptr;
  if (!same_layout || fault != nullptr) {
    ForgetToken();
    Decline(answer.lease);
    if (fault != nullptr) ReportAnswer(fault);
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout was changed meanwhile"),
                    errdetail("Here it is %s; in the registry it is %s.", DescribeLayout(layout),
                              DescribeLayout(answer.layout))));
  }
  if (StopRequested() || answer.lease.window_start >= request.start_before) {
    ForgetToken();
    Decline(answer.lease);
    return StopRequested() ? RegistryAnswer::kDone : RegistryAnswer::kNothingBetter;
  }
  Publish(answer, now, new_worker);
  return outcome;
}

RegistryAnswer Extend(int64_t duration_us) {
  pgstat_report_activity(STATE_RUNNING, "moving the window of the lease");
  Generator g;
  WithLock(keeping.node, LW_SHARED, [&] { g = keeping.node->generator; });
  ExtendAnswer answer = {};
  const Tick now = ExtendFrom(g, g.layout.TickAt(NowUnixUs()), MaxLead(g.layout, MaxLeadUs()));
  const char *registry = keeping.registry;
  const RegistryAnswer outcome = registry[0] != '\0'
                                     ? ExtendRemotely(registry, g.lease, now, duration_us, &answer)
                                     : ExtendLocally(keeping.extension, g.lease, now, duration_us, &answer);
  if (outcome == RegistryAnswer::kBusy) return outcome;
  CheckStanding(answer.standing);
  if (outcome == RegistryAnswer::kDone && !IsPlausibleEnd(g.layout, answer.window_end, g.lease.window_end, now))
    ReportAnswer(psprintf("It moved the window's end to tick %lld, asked at tick %lld.",
                          static_cast<long long>(answer.window_end), static_cast<long long>(now)));
  if (outcome == RegistryAnswer::kDone && !IsPlausibleRaise(g.layout, answer.standing.raised_tick, now))
    ReportAnswer(psprintf("It rules out all ticks up to %lld, asked at tick %lld.",
                          static_cast<long long>(answer.standing.raised_tick), static_cast<long long>(now)));
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    // Told to stop, a wait for a synchronous standby ends without its acknowledgement.
    if (outcome == RegistryAnswer::kDone && !StopRequested()) {
      MoveWindowEnd(&keeping.node->generator, g.lease.lease_id, answer.window_end);
      Note(answer.standing, 0);
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
  const long long lease_id = retired.lease_id;
  if (outcome == RegistryAnswer::kDone)
    ereport(LOG, (errmsg("snowflake keeper: gave worker id %d back, lease %lld", retired.worker, lease_id)));
  else
    ereport(LOG, (errmsg("snowflake keeper: had no worker id to give back, lease %lld was gone", lease_id)));
  return outcome;
}

// What the registry will never accept is not asked again.
void DropOldestRetired() {
  int64_t lease_id = 0;
  WithLock(keeping.node, LW_SHARED, [&] { lease_id = keeping.node->retired[0].lease_id; });
  PopRetired(lease_id);
}

void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us) {
  if (action != KeeperAction::kRelease) {
    // Once, and not with every exchange.
    const bool slow = took_us > duration_us / Keeper::kExtensionsPerWindow;
    if (slow && !keeping.slow)
      ereport(WARNING, (errmsg("snowflake keeper: the registry took %.1f s to answer", Seconds(took_us)),
                        errdetail("It was asked for a window of %.1f s, so windows may end before they are moved.",
                                  Seconds(duration_us))));
    keeping.slow = slow;
  }
  // That a lease could be given back does not mean that one can be had.
  if (action == KeeperAction::kRelease && keeping.failed != KeeperAction::kRelease) return;
  const bool failed_before = keeping.failed != KeeperAction::kSleep;
  keeping.failed = KeeperAction::kSleep;
  WithLock(keeping.node, LW_EXCLUSIVE, [] { keeping.node->error.message[0] = '\0'; });
  ConditionVariableBroadcast(&keeping.node->changed);
  if (failed_before) ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
}

void RecordFailure(KeeperAction action, int sqlstate, const char *message, const char *detail, bool held_back) {
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.at_us = NowUnixUs();
  error.for_all = keeping.registry[0] == '\0' || NamesNobody(sqlstate);
  error.held_back = held_back;
  if (detail)
    snprintf(error.message, sizeof(error.message), "%s (%s)", message, detail);
  else
    strlcpy(error.message, message, sizeof(error.message));
  error.message[pg_mbcliplen(error.message, static_cast<int>(strlen(error.message)), sizeof(error.message) - 1)] = '\0';
  // Once, and not with every try; but who was only told to ask again may be told more.
  const bool known = keeping.failed != KeeperAction::kSleep &&
                     (keeping.failed_sqlstate == sqlstate || keeping.failed_sqlstate != ERRCODE_OBJECT_IN_USE);
  keeping.failed = action;
  keeping.failed_sqlstate = sqlstate;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { keeping.node->error = error; });
  ConditionVariableBroadcast(&keeping.node->changed);
  if (!known)
    ereport(WARNING, (sqlstate == ERRCODE_CONNECTION_FAILURE
                          ? errmsg("snowflake keeper: cannot reach the registry: %s", error.message)
                          : errmsg("snowflake keeper: the registry refused: %s", error.message)));
}

// Only who draws a lease can be the one that notices a failover, and a registry on another server is not asked for its
// extension's lock.
void RecordBusy(KeeperAction action) {
  const char *changing = "somebody is changing the extension", *failover = "it has just noticed a failover";
  const char *message = changing;
  if (keeping.registry[0] != '\0')
    message = failover;
  else if (action == KeeperAction::kAcquire)
    message = psprintf("%s, or %s", changing, failover);
  RecordFailure(action, ERRCODE_OBJECT_IN_USE, message, nullptr);
}

}  // namespace snowflake
