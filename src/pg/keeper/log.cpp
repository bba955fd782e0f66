// Writes into the node's state block and into the log how clock and registry fare.
#include "pg/keeper/log.h"

#include "pg/keeper/advice.h"
#include "pg/keeper/keeping.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Whether everybody may read an error of a registry on another server: what the protocol itself
// refuses, and what is short or in use there. Others name an address, a port or a role.
bool NamesNobody(int sqlstate) {
  const int category = ERRCODE_TO_CATEGORY(sqlstate);
  return category == MAKE_SQLSTATE('S', 'F', '0', '0', '0') || category == ERRCODE_INSUFFICIENT_RESOURCES ||
         category == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
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
    news = clock.events != keeping.node->clock_events_told;
    keeping.node->clock_events_told = clock.events;
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
  if (!ranges && action != KeeperAction::kRelease) {
    const bool slow = took_us > duration_us / Keeper::kExtensionsPerWindow;
    if (slow && !keeping.slow)
      ereport(WARNING, (errmsg("snowflake keeper: the registry took %.1f s to answer", Seconds(took_us)),
                        errdetail("It was asked for a window of %.1f s, so windows may end before they are extended.",
                                  Seconds(duration_us))));
    keeping.slow = slow;
  }
  // A registry that takes a lease back, or has a range, may still be unable to assign a lease.
  const bool mends = action != KeeperAction::kRelease || keeping.failed == KeeperAction::kRelease;
  // Whoever sees that the error is gone finds this in the log.
  if (mends && keeping.failed != KeeperAction::kSleep && (!ranges || keeping.failed == KeeperAction::kRanges)) {
    ereport(LOG, (errmsg("snowflake keeper: the registry answers again")));
    keeping.failed = KeeperAction::kSleep;
  }
  bool leased = false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    ++node->exchanges.answered;
    node->exchanges.took_us = took_us;
    node->exchanges.answered_us = answered_us;
    if (mends) (node->*ErrorOf(action)).message[0] = '\0';
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
  // Logged once, not with every try; but an error may follow the request to ask again.
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

}  // namespace snowflake
