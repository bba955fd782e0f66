#include "pg/keeper/exchanges.h"

#include <unistd.h>

#include "pg/database_layout.h"
#include "pg/issue/issue.h"
#include "pg/issue/issuers.h"
#include "pg/issue/launch.h"
#include "pg/keeper/advice.h"
#include "pg/keeper/process.h"
#include "pg/keeper/ranges.h"
#include "pg/presentable.h"
#include "pg/registry/secrets.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {

Keeping keeping;

void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen) {
  const char *detail = psprintf(
      "It is at timeline %lld; this node has seen timeline %lld, and goes back only when snowflake_settle() was"
      " called in the registry's database.",
      Long(standing.timeline), Long(seen.timeline));
  if (standing.word_us < seen.word_us)
    detail = psprintf("It does not know that snowflake_settle() was called at %s.", Time(seen.word_us));
  ereport(ERROR,
          (errcode(kNoLease), errmsg("the registry answers from an older timeline"), errdetail_internal("%s", detail),
           errhint("If an old primary has come back, stop it. If this server is to be the registry from now on, call"
                   " snowflake_settle() in its database.")));
}

void ReportAnswer(const char *what) {
  ereport(ERROR, (errcode(kNoLease), errmsg("the registry's answer cannot be"), errdetail_internal("%s", what),
                  errhint("Check snowflake.registry, and who may change that database.")));
}

namespace {

void Detach(int, Datum) {
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    keeping.node->keeper_pid = 0;
    keeping.node->keeper_latch = nullptr;
    keeping.node->keeper_asked_us = 0;
  });
  ConditionVariableBroadcast(&keeping.node->changed);
}

void ChooseRegistry() {
  keeping.registry = AsksOwnTables() ? &kLocalRegistry : &kRemoteRegistry;
  keeping.conninfo = MemoryContextStrdup(TopMemoryContext, settings.registry);
}

// The node's lock is held.
void ForgetAnswers() {
  NodeBlock *node = keeping.node;
  ForgetRegistry(&node->state);
  node->advice = 0;
  keeping.found = {};
  node->registry_is_here = false;
  node->error.message[0] = node->ranges_error.message[0] = '\0';
}

// The extension was dropped, or is another one than before: the registry in this database is gone, and what it leased with
// it. One on another server gets the lease back.
void LeaveRegistry() {
  FreeSegments();
  if (!keeping.registry->is_here) return CloseGenerator();
  ChangeNode(keeping.node, [] {
    keeping.node->state.generator.open = false;
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

RegistrySeen Seen() {
  RegistrySeen seen = {};
  WithLock(keeping.node, LW_SHARED, [&] { seen = keeping.node->state.seen; });
  return seen;
}

[[noreturn]] void ReportRaise(Tick raised_tick, Tick now) {
  ReportAnswer(psprintf("It rules out all ticks up to %lld, asked at tick %lld.", Long(raised_tick), Long(now)));
}

void CheckFault(AnswerFault fault, const AcquireAnswer &answer, const AcquireRequest &request, const Layout &layout) {
  const Lease &lease = answer.lease;
  switch (fault) {
    case AnswerFault::kNone:
      return;
    case AnswerFault::kTimeline:
      ReportOlderTimeline(answer.standing, Seen());
    case AnswerFault::kLayout:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout was changed meanwhile"),
                      errdetail("Here it is %s; in the registry it is %s.", DescribeLayout(layout),
                                DescribeLayout(answer.layout))));
      break;
    case AnswerFault::kLeaseId:
      ReportAnswer(psprintf("It has lease %lld.", Long(lease.lease_id)));
    case AnswerFault::kWorker:
      ReportAnswer(psprintf("It has worker id %d for datacenter %d.", lease.worker, request.datacenter));
    case AnswerFault::kWindow:
      ReportAnswer(psprintf("It has the window from tick %lld to %lld, asked at tick %lld for %.1f s.",
                            Long(lease.window_start), Long(lease.window_end), Long(request.now),
                            Seconds(request.duration_us)));
    case AnswerFault::kRaised:
      ReportRaise(answer.standing.raised_tick, request.now);
    case AnswerFault::kLeaseOld:
      ReportAnswer(
          psprintf("It has lease %lld; lease %lld was seen before. If commits of the registry were lost, call"
                   " snowflake_settle() in its database.",
                   Long(lease.lease_id), Long(request.seen_lease_id)));
  }
}

void LogLease(const AcquireAsked &asked, const AcquireAnswer &answer, const TakenLease &taken) {
  const Lease &lease = answer.lease;
  const int64_t step_us = (taken.old.last_tick - asked.request.now) * answer.layout.tick_us;
  if (asked.new_worker && taken.replaced)
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d in place of %d, because the clock stepped back by %.3f s",
                         lease.worker, taken.old.worker, Seconds(step_us)),
                  errdetail("Ids issued from now on may be smaller than ids issued before.")));
  else
    ereport(LOG, (errmsg("snowflake keeper: drew worker id %d for node \"%s\", lease %lld", lease.worker,
                         keeping.node->node_name, Long(lease.lease_id))));
}

// What is said of leases and of ranges stands side by side.
RegistryError NodeBlock::*ErrorOf(KeeperAction action) {
  return action == KeeperAction::kRanges ? &NodeBlock::ranges_error : &NodeBlock::error;
}

// One that issues ids, or whose registry serves nodes of other servers. nullptr: there is a keeper already.
NodeBlock *NodeToKeep() {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr && HasSharedMemory()) {
    StartTransactionCommand();
    node = FindOrMakeNode(MyDatabaseId);
    CommitTransactionCommand();
  }
  if (node != nullptr) {
    // The first call is not to wait for a lease.
    const bool early = StartedWithServer();
    WithLock(node, LW_EXCLUSIVE, [&] { node->state.lease_wanted |= early && !node->state.generator.open; });
    return node;
  }
  if (!BecomePrivateKeeper(FindExtension())) return nullptr;
  node = MakePrivateNode();
  node->serves = true;
  return node;
}

void AdviseWithoutLease() {
  AcquireAnswer none = {};
  none.layout = kDefaultLayout;
  none.workers_free = -1;
  Advise(none);
}

}  // namespace

RegistryPlace PlaceOfRegistry() { return {keeping.extension, keeping.conninfo, &keeping.found}; }

bool Attach() {
  keeping.node = NodeToKeep();
  if (keeping.node == nullptr) return false;
  bool taken = false, moved = false;
  const uint64_t registry = HashOfRegistry();
  ChangeNode(keeping.node, [&] {
    taken = keeping.node->keeper_pid != 0;
    if (taken) return;
    keeping.node->keeper_pid = MyProcPid;
    keeping.node->keeper_latch = MyLatch;
    // A lease of another registry would look to this one like commits that it has lost.
    if (keeping.node->registry != registry) {
      moved = keeping.node->registry != 0;
      keeping.node->state.generator.open = false;
      ForgetAnswers();
    }
    keeping.node->registry = registry;
    keeping.found.is_here = keeping.node->registry_is_here;
  });
  if (taken) return false;
  if (moved) FreeSegments();
  before_shmem_exit(Detach, Datum{0});
  ChooseRegistry();
  return true;
}

void NameNode() {
  char name[sizeof(NodeBlock::node_name)];
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
  ChangeNode(keeping.node, [&] { memcpy(keeping.node->node_name, name, sizeof(name)); });
}

bool RegistryMoved() { return strcmp(keeping.conninfo, settings.registry) != 0; }

void FollowRegistry() {
  const uint64_t registry = HashOfRegistry();
  FreeSegments();
  ChangeNode(keeping.node, [&] {
    ForgetAnswers();
    keeping.node->registry = registry;
  });
  pfree(keeping.conninfo);
  ChooseRegistry();
}

void SetExtension(Oid extension) {
  bool other = false;
  WithLock(keeping.node, LW_SHARED,
           [&] { other = keeping.node->state.generator.open && keeping.node->extension != extension; });
  if (other || (OidIsValid(keeping.extension) && keeping.extension != extension)) LeaveRegistry();
  keeping.extension = extension;
  const bool follows = keeping.registry->is_here && RecoveryInProgress();
  if (OidIsValid(extension) && IsRecovered(keeping.node) && !follows)
    AdmitRecovered(keeping.node, LocalLayout(extension), extension);
}

KeeperView Look(bool leaving, bool *other_extension) {
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
  LookAtRanges(&view);
  return view;
}

void CloseGenerator() {
  ChangeNode(keeping.node, [] { CloseLease(&keeping.node->state); });
}

void ForgetIds() {
  ForgetIssuer(MyDatabaseId);
  ChangeNode(keeping.node, [] { keeping.node->state.generator.lease.lease_id = 0; });
}

void TidyUp() {
  int64_t taken = 0;
  WithLock(keeping.node, LW_SHARED, [&] { taken = keeping.node->counters.ids_taken; });
  if (taken == 0 && GetCurrentTimestamp() - PgStartTime > USECS_PER_DAY) ForgetIssuer(MyDatabaseId);
  ChangeNode(keeping.node, [] { ForgetQuestion(&keeping.node->state); });
}

RegistryAnswer Acquire(int64_t duration_us) {
  pgstat_report_activity(STATE_RUNNING, "drawing a worker id");
  NodeBlock *node = keeping.node;
  const Layout layout = LocalLayout(keeping.extension);
  const Secret fresh = NewSecret();
  const Patience patience = PatienceNow();
  const ClockReading reading = ReadClocks();
  AcquireAsked asked = {};
  ChangeNode(node, [&] {
    Read(&node->state.clock, reading, patience.clock);
    asked = AskForLease(&node->state, layout, duration_us, fresh, patience);
  });
  asked.request.node = node->node_name;
  asked.request.datacenter = settings.datacenter;
  AcquireAnswer answer = {};
  const RegistryAnswer outcome = keeping.registry->acquire(PlaceOfRegistry(), layout, asked.request, &answer);
  if (outcome != RegistryAnswer::kDone) return outcome;
  const bool stopping = StopRequested();
  TakenLease taken = {};
  ChangeNode(node, [&] {
    taken = TakeLease(&node->state, layout, asked, answer, stopping, patience);
    if (!taken.opened) return;
    node->extension = keeping.extension;
    ++node->counters.leases_drawn;
    if (asked.new_worker) ++node->counters.clock_steps_back;
  });
  CheckFault(taken.fault, answer, asked.request, layout);
  if (!taken.opened) return stopping ? RegistryAnswer::kDone : RegistryAnswer::kNothingBetter;
  NoteIssuer(MyDatabaseId);
  LogLease(asked, answer, taken);
  Advise(answer);
  return outcome;
}

RegistryAnswer Extend(int64_t duration_us) {
  pgstat_report_activity(STATE_RUNNING, "moving the window of the lease");
  NodeBlock *node = keeping.node;
  const Patience patience = PatienceNow();
  const ClockReading reading = ReadClocks();
  ExtendRequest request = {};
  int32_t worker = 0;
  ChangeNode(node, [&] {
    Read(&node->state.clock, reading, patience.clock);
    request = AskForWindow(node->state, duration_us, patience);
    worker = node->state.generator.lease.worker;
  });
  ExtendAnswer answer = {};
  const RegistryAnswer outcome = keeping.registry->extend(PlaceOfRegistry(), request, &answer);
  const bool stopping = StopRequested();
  AnswerFault fault = AnswerFault::kNone;
  ChangeNode(node, [&] {
    fault = outcome == RegistryAnswer::kGone ? LoseLease(&node->state, request.lease_id, answer.standing)
                                             : TakeWindow(&node->state, request, answer, stopping, patience);
  });
  if (fault == AnswerFault::kTimeline) ReportOlderTimeline(answer.standing, Seen());
  if (fault == AnswerFault::kRaised) ReportRaise(answer.standing.raised_tick, request.now);
  if (fault != AnswerFault::kNone)
    ReportAnswer(psprintf("It moved the window's end to tick %lld, asked at tick %lld.", Long(answer.window_end),
                          Long(request.now)));
  if (outcome == RegistryAnswer::kDone) AdviseAgain();
  if (outcome == RegistryAnswer::kGone) {
    ereport(LOG, (errmsg("snowflake keeper: lost worker id %d, lease %lld", worker, Long(request.lease_id)),
                  errdetail("The lease is not in the registry any more.")));
  }
  return outcome;
}

RegistryAnswer Release(bool leaving) {
  pgstat_report_activity(STATE_RUNNING, "giving a worker id back");
  Retired retired = {};
  WithLock(keeping.node, LW_SHARED, [&] { retired = keeping.node->state.retired[0]; });
  const auto telling = [](int64_t lease_id) {
    ChangeNode(keeping.node, [&] { NoteAsked(&keeping.node->state, lease_id); });
  };
  const RegistryAnswer outcome = keeping.registry->release(PlaceOfRegistry(), AskToRelease(retired), leaving, telling);
  ChangeNode(keeping.node, [&] { DropRetired(&keeping.node->state, retired.lease_id); });
  const long long lease_id = retired.lease_id;
  if (outcome == RegistryAnswer::kDone)
    ereport(LOG, (errmsg("snowflake keeper: gave worker id %d back, lease %lld", retired.worker, lease_id)));
  else
    ereport(LOG, (errmsg("snowflake keeper: had no worker id to give back, lease %lld was gone", lease_id)));
  return outcome;
}

void GoOn() {
  const Patience patience = PatienceNow();
  ChangeNode(keeping.node, [&] { GoOnWithoutBetter(&keeping.node->state, patience); });
}

void AskByOtherClock() {
  ChangeNode(keeping.node, [] { RefusedForSkew(&keeping.node->state); });
}

void TellClockEvents() {
  NodeClock clock = {};
  bool news = false;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    clock = keeping.node->state.clock;
    news = clock.events != keeping.node->clock_events_told;
    keeping.node->clock_events_told = clock.events;
  });
  if (!news) return;
  const ClockReading &before = clock.before, &after = clock.after;
  const int64_t passed_us = after.steady_us - before.steady_us;
  const int64_t leap_us = after.wall_us - before.wall_us - passed_us;
  // Each is formatted in memory of its own.
  const char *then = Time(before.wall_us), *now = Time(after.wall_us);
  switch (clock.event) {
    case ClockEvent::kBridged:
      ereport(LOG, (errmsg("snowflake keeper: the clock stepped back by %.3f s, and ids go on", Seconds(-leap_us)),
                    errdetail("It showed %s, and %.3f s later %s. Ids lead it until it has caught up.", then,
                              Seconds(passed_us), now)));
      break;
    case ClockEvent::kHeld:
      ereport(
          WARNING,
          (errmsg("snowflake keeper: the clock leapt forward by %.0f s, which is not believed yet", Seconds(leap_us)),
           errdetail("It showed %s, and %.3f s later %s. Ids go on from the former, and follow in %lld minutes if"
                     " it stays.",
                     then, Seconds(passed_us), now, Long(kHoldUs / 60 / USECS_PER_SEC)),
           errhint("Set the clock right if it is wrong; snowflake.max_leap says what is believed at once.")));
      break;
    case ClockEvent::kFollowed:
      ereport(LOG, (errmsg("snowflake keeper: the clock leapt forward and stayed there, so ids follow"),
                    errdetail("It shows %s.", now)));
      break;
    case ClockEvent::kSteppedBack:
    case ClockEvent::kLeapt:
      ereport(LOG, (leap_us > 0 ? errmsg("snowflake keeper: the clock leapt forward by %.3f s", Seconds(leap_us))
                                : errmsg("snowflake keeper: the clock stepped back by %.3f s", Seconds(-leap_us)),
                    errdetail("It showed %s, and %.3f s later %s.", then, Seconds(passed_us), now)));
      break;
    case ClockEvent::kNone:
      break;
  }
}

// What the registry will never accept is not asked again.
void DropOldestRetired() {
  ChangeNode(keeping.node, [] {
    NodeState *state = &keeping.node->state;
    DropRetired(state, state->retired[0].lease_id);
  });
}

void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us) {
  const int64_t answered_us = SteadyUs();
  const bool ranges = action == KeeperAction::kRanges;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    Exchanges *exchanges = &keeping.node->exchanges;
    ++exchanges->answered;
    exchanges->took_us = took_us;
    exchanges->answered_us = answered_us;
  });
  if (!ranges && action != KeeperAction::kRelease) {
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
  // Nor does a range.
  if (keeping.failed != KeeperAction::kSleep && (!ranges || keeping.failed == KeeperAction::kRanges)) {
    ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
    keeping.failed = KeeperAction::kSleep;
  }
  bool leased = false;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    (keeping.node->*ErrorOf(action)).message[0] = '\0';
    leased = keeping.node->state.generator.lease.lease_id != 0;
  });
  ConditionVariableBroadcast(&keeping.node->changed);
  // Who has a lease was advised when it was drawn.
  if (ranges && !leased && !keeping.advised) AdviseWithoutLease();
}

void RecordFailure(KeeperAction action, int sqlstate, const char *message, const char *detail, bool held_back) {
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.at_us = NowUnixUs();
  const bool names_blocker = EndsWait(sqlstate) && detail != nullptr;
  error.for_all = (keeping.registry->is_here || NamesNobody(sqlstate)) && !names_blocker;
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
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    ++keeping.node->exchanges.failed;
    keeping.node->*ErrorOf(action) = error;
  });
  ConditionVariableBroadcast(&keeping.node->changed);
  if (!known)
    ereport(WARNING, (sqlstate == ERRCODE_CONNECTION_FAILURE
                          ? errmsg("snowflake keeper: cannot reach the registry: %s", error.message)
                          : errmsg("snowflake keeper: the registry refused: %s", error.message)));
}

void RecordBusy(KeeperAction action) {
  RecordFailure(action, ERRCODE_OBJECT_IN_USE, "it has just noticed a failover", nullptr);
}

}  // namespace snowflake
