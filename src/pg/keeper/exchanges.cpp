// The exchanges for leases: asks for what core/node.h decides, and stores what it makes of the
// answers.
#include "pg/keeper/exchanges.h"

#include "pg/database_layout.h"
#include "pg/keeper/advice.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/keeping.h"
#include "pg/registry/secrets.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/server_clock.h"
#include "pg/state/data_directory.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
RegistrySeen LastSeen() {
  RegistrySeen seen = {};
  WithLock(keeping.node, LW_SHARED, [&] { seen = keeping.node->state.seen; });
  return seen;
}

int64_t BelievedRaiseUs() {
  return MostRaisedUs(settings.max_clock_skew_ms * kUsPerMs, ConfiguredPolicy().clock.max_bridge_us,
                      keeping.registry->is_here);
}

[[noreturn]] void ReportRaise(const Layout &layout, Tick raised_tick, Tick now) {
  const int64_t raised_us = layout.UnixUsAt(raised_tick), now_us = layout.UnixUsAt(now);
  ereport(ERROR,
          (errcode(kNoLease), errmsg("the registry rules out ids of the future"),
           errdetail("It was raised to %s, %.1f s ahead of the request's time. This node believes %.1f s.",
                     Time(raised_us), Seconds(Clamped(raised_us) - now_us), Seconds(BelievedRaiseUs())),
           keeping.registry->is_here ? errhint("Check the clock, and who called snowflake_raise().")
                                     : errhint("Check the clocks, and who called snowflake_raise() there. To accept it "
                                               "all the same, set snowflake.max_clock_skew on this node to more than "
                                               "that."),
           BlameRegistry()));
}

[[noreturn]] void ReportEnded(Tick window_end) {
  NodeState node = {};
  WithLock(keeping.node, LW_SHARED, [&] { node = keeping.node->state; });
  ereport(
      ERROR,
      (errcode(kNoLease), errmsg("the registry did not extend the window far enough"),
       errdetail("It ends at %s, and ids are at %s. The registry assigns no more while it settles and the role has as"
                 " many leases as it may, or if ids are further ahead of its clock than windows may be long.",
                 Time(node.generator.layout.UnixUsAt(window_end)), Time(node.clock.shown_us)),
       errhint("See snowflake.max_leases_per_role and snowflake.max_lease_duration on the registry."),
       BlameRegistry()));
}

void CheckFault(AnswerFault fault, const AcquireAnswer &answer, const AcquireRequest &request, const Layout &layout) {
  const Lease &lease = answer.lease;
  switch (fault) {
    case AnswerFault::kNone: return;
    case AnswerFault::kTimeline: ReportOlderTimeline(answer.standing, LastSeen());
    case AnswerFault::kLayout:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout was changed meanwhile"),
                      errdetail("Here it is \"%s\"; in the registry it is \"%s\".", TextOfLayout(layout),
                                TextOfLayout(answer.layout)),
                      BlameRegistry()));
    case AnswerFault::kLeaseId: ReportUnusable(psprintf("Its lease id is %lld.", Long(lease.lease_id)));
    case AnswerFault::kWorker:
      ReportUnusable(psprintf("Its worker id is %d; a worker id of datacenter %d was requested.", lease.worker,
                              request.datacenter));
    case AnswerFault::kWindow:
      ReportUnusable(psprintf("Its window is from tick %lld to %lld; the request was made at tick %lld for %.1f s.",
                              Long(lease.window_start), Long(lease.window_end), Long(request.now),
                              Seconds(request.duration_us)));
    case AnswerFault::kRaised: ReportRaise(layout, answer.standing.raised_tick, request.now);
    case AnswerFault::kEnded: ReportEnded(lease.window_end);
  }
}

// A registry that has the node's own clock cannot say which time is right.
void ReadForRequest(NodeState *node, const ServerTime &time) {
  Read(node, time);
  if (keeping.registry->is_here) node->ask_by_wall = false;
}

// Before the first lease. A keeper that begins later finds a lease in place, or what the one before
// it has stored.
void GoOnAfterShutdown(Oid extension, const Layout &layout) {
  if (keeping.goes_on) return;
  const LastShutdown last = LocalLastTick(extension);
  const int64_t last_us = last.unix_us;
  const ServerTime time = ReadTime();
  bool far = false;
  if (last_us != 0)
    ChangeNode(keeping.node, [&] {
      NodeState *node = &keeping.node->state;
      far = !node->generator.open && !GoOnAfter(node, layout, layout.TickAt(last_us), time);
    });
  keeping.goes_on = true;
  keeping.was_elsewhere = last.registry_is_set;
  if (far)
    ereport(LOG,
            (errmsg("snowflake keeper: ids begin anew, because those of before the shutdown are of up to %s, %.1f s "
                    "ahead of the clock",
                    Time(last_us), Seconds(last_us - time.reading.wall_us)),
             errdetail("That is more than snowflake.max_bridge and 10 s. Ids may be smaller than earlier ids.")));
}

void LogLease(const AcquireAsked &asked, const AcquireAnswer &answer, const TakenLease &taken) {
  const Lease &lease = answer.lease;
  const int64_t step_us = (taken.old.last_tick - asked.request.now) * answer.layout.tick_us;
  if (asked.new_worker && taken.replaced)
    ereport(LOG,
            (errmsg("snowflake keeper: acquired worker id %d in place of %d, because the clock stepped back by %.3f s",
                    lease.worker, taken.old.worker, Seconds(step_us)),
             errdetail("Ids issued from now on may be smaller than ids issued before.")));
  else
    ereport(LOG, (errmsg("snowflake keeper: acquired worker id %d for node \"%s\", lease %lld", lease.worker,
                         keeping.node->node_name, Long(lease.lease_id))));
}

}  // namespace

RegistryAnswer Acquire(int64_t duration_us) {
  pgstat_report_activity(STATE_RUNNING, "acquiring a worker id");
  NodeBlock *node = keeping.node;
  const Layout layout = LocalLayout(keeping.target.extension);
  GoOnAfterShutdown(keeping.target.extension, layout);
  const Secret fresh = NewSecret();
  AcquireAsked asked = {};
  auto ask = [&] {
    const ServerTime time = ReadTime();
    ChangeNode(node, [&] {
      ReadForRequest(&node->state, time);
      asked = AskForLease(&node->state, layout, duration_us, fresh, BelievedRaiseUs());
    });
    asked.request.node = node->node_name;
    asked.request.datacenter = settings.datacenter;
    return asked.request;
  };
  AcquireAnswer answer = {};
  const RegistryAnswer outcome =
      keeping.registry->acquire(&keeping.target, layout, AskBy<AcquireRequest>(&ask), &answer);
  if (outcome == RegistryAnswer::kBusy && asked.request.start_before != kAnyStart)
    return RegistryAnswer::kNothingBetter;
  if (outcome != RegistryAnswer::kDone) return outcome;
  const bool stopping = stop_requested;
  TakenLease taken = {};
  // After a step back of the clock ids are smaller: Claim() relies on samples being complete.
  LWLock *samples = &HorizonOf(node)->lock;
  LWLockAcquire(samples, LW_EXCLUSIVE);
  ChangeNode(node, [&] {
    taken = TakeLease(&node->state, layout, asked, answer, stopping);
    if (!taken.opened) return;
    node->extension = keeping.target.extension;
    node->state.place = keeping.target.place;
    NoteWindow(node);
    ++node->counters.leases_acquired;
    if (asked.new_worker) ++node->counters.clock_steps_back;
  });
  LWLockRelease(samples);
  CheckFault(taken.fault, answer, asked.request, layout);
  if (!taken.opened) return stopping ? RegistryAnswer::kDone : RegistryAnswer::kNothingBetter;
  NoteIssuer(MyDatabaseId);
  LogLease(asked, answer, taken);
  Advise(answer);
  return outcome;
}

RegistryAnswer Extend(int64_t duration_us) {
  pgstat_report_activity(STATE_RUNNING, "extending the lease");
  NodeBlock *node = keeping.node;
  ExtendRequest request = {};
  int32_t worker = 0;
  auto ask = [&] {
    const ServerTime time = ReadTime();
    ChangeNode(node, [&] {
      ReadForRequest(&node->state, time);
      request = AskForWindow(node->state, duration_us);
      worker = node->state.generator.lease.worker;
    });
    return request;
  };
  ExtendAnswer answer = {};
  const bool extended = keeping.registry->extend(&keeping.target, AskBy<ExtendRequest>(&ask), &answer);
  const bool stopping = stop_requested;
  const int64_t most_raised_us = BelievedRaiseUs();
  AnswerFault fault = AnswerFault::kNone;
  ChangeNode(node, [&] {
    fault = extended ? TakeWindow(&node->state, request, answer, most_raised_us, stopping)
                     : LoseLease(&node->state, request.lease_id, answer.standing);
    if (!extended || fault != AnswerFault::kNone) return;
    node->state.place = keeping.target.place;
    NoteWindow(node);
  });
  if (fault == AnswerFault::kTimeline) ReportOlderTimeline(answer.standing, LastSeen());
  if (fault == AnswerFault::kRaised)
    ReportRaise(LocalLayout(keeping.target.extension), answer.standing.raised_tick, request.now);
  if (fault == AnswerFault::kEnded) ReportEnded(answer.window_end);
  if (fault != AnswerFault::kNone)
    ReportUnusable(psprintf("It moved the window's end to tick %lld; the request was made at tick %lld.",
                            Long(answer.window_end), Long(request.now)));
  if (extended)
    AdviseAgain();
  else
    ereport(LOG, (errmsg("snowflake keeper: lost worker id %d, lease %lld", worker, Long(request.lease_id)),
                  errdetail("The lease is not in the registry any more.")));
  return extended ? RegistryAnswer::kDone : RegistryAnswer::kGone;
}

RegistryAnswer Release(int number, bool hurry) {
  pgstat_report_activity(STATE_RUNNING, "releasing a worker id");
  Retired retired = {};
  WithLock(keeping.node, LW_SHARED, [&] { retired = keeping.node->state.retired[number]; });
  keeping.releasing = retired.lease_id;
  const auto before = [](int64_t lease_id) {
    ChangeNode(keeping.node, [&] { NoteAsked(&keeping.node->state, lease_id); });
  };
  const bool released = keeping.registry->release(&keeping.target, AskToRelease(retired), hurry, before);
  ChangeNode(keeping.node, [&] { DropRetired(&keeping.node->state, retired.lease_id); });
  const long long lease_id = retired.lease_id;
  if (released)
    ereport(LOG, (errmsg("snowflake keeper: released worker id %d, lease %lld", retired.worker, lease_id)));
  else
    ereport(LOG, (errmsg("snowflake keeper: had no worker id to release, lease %lld was gone", lease_id)));
  return released ? RegistryAnswer::kDone : RegistryAnswer::kGone;
}

RegistryAnswer Probe() {
  pgstat_report_activity(STATE_RUNNING, "probing another registry");
  NodeBlock *node = keeping.node;
  RegistryTarget target = {};
  target.extension = keeping.target.extension;
  target.conninfo = settings.registry;
  const Registry &registry = AsksOwnTables() ? kLocalRegistry : kRemoteRegistry;
  Wanted wanted = {true, UsesSegments()};
  WithLock(node, LW_SHARED, [&] { wanted.leases = !IsIdle(node->state); });
  int64_t system_identifier = 0;
  if (!registry.probe(&target, LocalLayout(target.extension), wanted, &system_identifier)) return RegistryAnswer::kGone;
  const uint64_t address = HashOfRegistry();
  bool same = false;
  ChangeNode(node, [&] {
    same = IsSameRegistry(node->state, system_identifier, target.place);
    if (!same) return;
    node->registry = address;
    node->registry_is_here = target.leads_here;
  });
  if (!same) return RegistryAnswer::kAnother;
  UseRegistry();
  keeping.advised = false;
  keeping.at_new_address = true;
  return RegistryAnswer::kDone;
}

}  // namespace snowflake
