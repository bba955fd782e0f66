// Writes into the node's state block and into the log how clock and registry fare.
#include "pg/keeper/log.h"

#include "pg/keeper/advice.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/keeping.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {
namespace {
// Whether everybody may read an error of a registry on another server: what the protocol itself
// refuses, and what is short or in use there. Others name an address, a port or a role, and so does
// that a role has too many leases.
bool NamesNobody(int sqlstate) {
  if (sqlstate == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED) return false;
  const int category = ERRCODE_TO_CATEGORY(sqlstate);
  return category == MAKE_SQLSTATE('S', 'F', '0', '0', '0') || category == ERRCODE_INSUFFICIENT_RESOURCES ||
         category == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

// So begins the message of what is not the registry's fault.
constexpr const char *kOnThisServer = "on this server: ";
constexpr int64_t kLogAgainUs = 60 * 1000 * 1000;

const char *WithParentheses(const char *detail) { return detail != nullptr ? psprintf(" (%s)", detail) : ""; }

void TellOwnFailure(const RegistryError &error) {
  const int64_t now_us = MonotonicUs();
  if (keeping.logged_us != 0 && now_us - keeping.logged_us < kLogAgainUs) return;
  keeping.logged_us = now_us;
  ereport(WARNING, (errmsg("snowflake keeper: failed %s", error.message)));
}

// Errors of leases and of ranges are shown side by side.
RegistryError NodeBlock::*ErrorOf(KeeperAction action) {
  return action == KeeperAction::kRanges ? &NodeBlock::ranges_error : &NodeBlock::error;
}

}  // namespace

void TellClockEvents() {
  NodeClock clock = {};
  bool news = false;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    clock = keeping.node->state.clock;
    news = clock.events != keeping.node->clock_events_logged;
    keeping.node->clock_events_logged = clock.events;
  });
  if (!news) return;
  const ClockReading &before = clock.before, &after = clock.after;
  const int64_t passed_us = after.steady_us - before.steady_us;
  const int64_t leap_us = after.wall_us - before.wall_us - passed_us;
  const char *now = Time(after.wall_us);
  const char *showed = psprintf("It showed %s, and %.3f s later %s.", Time(before.wall_us), Seconds(passed_us), now);
  switch (clock.event) {
    case ClockEvent::kBridged:
      ereport(LOG, (errmsg("snowflake keeper: the clock stepped back by %.3f s, and ids go on", Seconds(-leap_us)),
                    errdetail("%s Ids are ahead of it until it has caught up.", showed)));
      break;
    case ClockEvent::kHeld:
      ereport(
          WARNING,
          (errmsg("snowflake keeper: the clock leapt forward by %.0f s, which is not followed yet", Seconds(leap_us)),
           errdetail("%s Ids go on from the former time. They follow the leap in %lld minutes if it lasts.", showed,
                     Long(kHoldUs / 60 / USECS_PER_SEC)),
           errhint("Set the clock right if it is wrong. Steps of up to snowflake.max_leap are followed at once.")));
      break;
    case ClockEvent::kFollowed:
      ereport(LOG, (errmsg("snowflake keeper: the clock leapt forward and stayed there, so ids follow"),
                    errdetail("It shows %s.", now)));
      break;
    case ClockEvent::kSteppedBack:
    case ClockEvent::kLeapt:
      ereport(LOG, (leap_us > 0 ? errmsg("snowflake keeper: the clock stepped forward by %.3f s", Seconds(leap_us))
                                : errmsg("snowflake keeper: the clock stepped back by %.3f s", Seconds(-leap_us)),
                    errdetail_internal("%s", showed)));
      break;
    case ClockEvent::kNone: break;
  }
}

void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us) {
  NodeBlock *node = keeping.node;
  const int64_t answered_us = SteadyUs();
  const bool ranges = action == KeeperAction::kRanges;
  if (action == KeeperAction::kAcquire || action == KeeperAction::kExtend) {
    const bool slow = took_us > duration_us / Keeper::kExtensionsPerWindow;
    if (slow && !keeping.slow)
      ereport(WARNING, (errmsg("snowflake keeper: the registry took %.1f s to answer", Seconds(took_us)),
                        errdetail("It was asked for a window of %.1f s, so windows may end before they are extended.",
                                  Seconds(duration_us))));
    keeping.slow = slow;
  }
  if (keeping.at_new_address && action != KeeperAction::kRelease && action != KeeperAction::kProbe) {
    keeping.at_new_address = false;
    ereport(LOG, (errmsg("snowflake keeper: follows snowflake.registry to another address of its registry")));
  }
  // A registry that takes a lease back, or has a range, may still be unable to assign a lease.
  const bool mends = action != KeeperAction::kRelease || keeping.failed.action == KeeperAction::kRelease;
  // Whoever sees that the error is gone finds this in the log.
  if (mends && keeping.failed.action != KeeperAction::kSleep &&
      (!ranges || keeping.failed.action == KeeperAction::kRanges)) {
    if (!keeping.failed.here) ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
    keeping.failed = {};
  }
  bool leased = false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    ++node->exchanges.answered;
    node->exchanges.took_us = took_us;
    node->exchanges.answered_us = answered_us;
    if (mends) (node->*ErrorOf(action)).message[0] = '\0';
    if (action == KeeperAction::kProbe) node->ranges_error.message[0] = '\0';
    leased = node->state.generator.lease.lease_id != 0;
  });
  if (!mends) return;
  ConditionVariableBroadcast(&node->changed);
  // A node with a lease was advised when it acquired that.
  if (ranges && !leased && !keeping.advised) {
    AcquireAnswer none = {};
    none.layout = kDefaultLayout;
    none.workers_free = -1;
    Advise(none);
  }
}

void RecordFailure(KeeperAction action, const ErrorData &failure) {
  const int sqlstate = failure.sqlerrcode;
  const bool probe = action == KeeperAction::kProbe;
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.at_us = NowUnixUs();
  error.held_back = IsHeldBack(failure);
  error.standby = IsForStandby(failure);
  const bool names_blocker = EndsWait(sqlstate) && failure.detail != nullptr;
  const bool is_here = probe ? AsksOwnTables() : keeping.registry->is_here;
  error.own = !registry_failed;
  error.for_all = (is_here || error.own || NamesNobody(sqlstate)) && !names_blocker;
  const char *message = error.standby ? kAwaitsStandby : failure.message;
  SetMessage(&error,
             psprintf("%s%s%s%s", probe ? "snowflake.registry was changed, and its registry cannot be used yet: " : "",
                      error.own ? kOnThisServer : "", message, WithParentheses(failure.detail)));
  // Logged once, not with every try; but an error may follow the request to ask again, and the cause
  // a request that hung.
  const bool hangs = !probe && keeping.target.hangs && sqlstate == ERRCODE_CONNECTION_FAILURE;
  const bool known = keeping.failed.action != KeeperAction::kSleep && !keeping.failed.here &&
                     (keeping.failed.sqlstate == sqlstate || keeping.failed.sqlstate != ERRCODE_OBJECT_IN_USE) &&
                     !(keeping.hung && names_blocker);
  keeping.failed = {action, sqlstate, error.own};
  if (!known) keeping.hung = hangs;
  WithLock(keeping.node, LW_EXCLUSIVE, [&] {
    ++keeping.node->exchanges.failed;
    for (const auto kind : {&NodeBlock::error, &NodeBlock::ranges_error}) {
      if (!probe && kind != ErrorOf(action)) continue;
      RegistryError *shown = &(keeping.node->*kind);
      // A request that hangs after one that found why waits for the same.
      if (hangs && shown->standby && shown->message[0] != '\0')
        shown->at_us = error.at_us;
      else
        *shown = error;
    }
  });
  ConditionVariableBroadcast(&keeping.node->changed);
  if (error.own)
    TellOwnFailure(error);
  else if (!known)
    ereport(WARNING, (sqlstate == ERRCODE_CONNECTION_FAILURE
                          ? errmsg("snowflake keeper: cannot reach the registry: %s", error.message)
                          : errmsg("snowflake keeper: the registry refused: %s", error.message),
                      error.standby ? errhint("%s", kStandbyToDo) : 0));
}

void RecordOwnFailure(const ErrorData &failure, bool shown) {
  RegistryError error = {};
  error.sqlstate = failure.sqlerrcode;
  error.at_us = NowUnixUs();
  error.own = true;
  error.for_all = !EndsWait(failure.sqlerrcode) || failure.detail == nullptr;
  SetMessage(&error, psprintf("%s%s%s", kOnThisServer, failure.message, WithParentheses(failure.detail)));
  if (shown) {
    WithLock(keeping.node, LW_EXCLUSIVE, [&] { keeping.node->error = error; });
    ConditionVariableBroadcast(&keeping.node->changed);
  }
  TellOwnFailure(error);
}

void ForgetFailures() {
  keeping.failed = {};
  WithLock(keeping.node, LW_EXCLUSIVE,
           [] { keeping.node->error.message[0] = keeping.node->ranges_error.message[0] = '\0'; });
}

}  // namespace snowflake
