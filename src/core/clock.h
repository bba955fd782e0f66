// The node's clock: what ids read instead of the wall clock.
//
// It shows the wall clock unless that steps. A step back is bridged: the clock runs on at half the
// monotonic clock's speed until the wall clock has caught up. A leap to a time that cannot be right
// yet (core/known_time.h) is held: the clock runs on at full speed. If it is known to be behind
// itself, it follows.
//
// 1. It never shows less than before, except in FollowWall(), or after a step beyond max_bridge.
// 2. It never shows less than the wall clock, except while a leap is held.
// 3. It is ahead of the wall clock by at most max_bridge, kStepUs and what KeepLead() adds in all.
// 4. It runs at least at half the monotonic clock's speed, or stands if that would break 3.
// 5. A wall clock before `earliest_us` tells nothing: it counts as running on. Otherwise a clock
//    that was read before would go back to such a time, and nobody could be issued an id.
//
// Readings are passed in; one that comes late, after newer ones, changes nothing.
#pragma once

#include "core/known_time.h"

namespace snowflake {
enum class ClockMode : int32_t {
  kWall,     // it shows the wall clock
  kBridged,  // it is ahead of the wall clock and runs at half speed
  kHeld,     // it is behind a wall clock that leapt, and runs at full speed
};

// What is worth a count or a message.
enum class ClockEvent : int32_t {
  kNone,
  kBridged,      // the wall clock stepped back, or stands
  kSteppedBack,  // ... by more than may be bridged
  kLeapt,        // it leapt, and is followed
  kHeld,         // it leapt to a time that cannot be right yet
  kFollowed,     // ... and is followed
};

// All zero is a clock that was never read.
struct NodeClock {
  int64_t shown_us;
  ClockReading read;  // the last reading
  ClockMode mode;
  bool noticed;           // kBridged: the event was recorded
  ClockReading since;     // kBridged: it showed `wall_us` at `steady_us`, and runs by itself since
  int64_t lead_extra_us;  // how far ahead it may be beyond max_bridge
  int64_t earliest_us;    // no right clock shows less: the epoch of the ids

  // The last event, with the readings around it, and how many there were.
  ClockEvent event;
  ClockReading before, after;
  int64_t events;
  int64_t bridged;
};

// Below this it is no step: the two clocks are not read in one instant.
inline constexpr int64_t kStepUs = 500;

// How far it is ahead of the wall clock; below 0: behind.
constexpr int64_t LeadUs(const NodeClock &clock) { return clock.shown_us - clock.read.wall_us; }

constexpr void FollowWall(NodeClock *clock) {
  clock->shown_us = clock->read.wall_us;
  clock->mode = ClockMode::kWall;
  clock->lead_extra_us = 0;
}

// The clock may be as far ahead as it is, whatever the limits are.
constexpr void KeepLead(NodeClock *clock, const ClockLimits &limits) {
  const int64_t extra_us = LeadUs(*clock) - limits.max_bridge_us;
  if (extra_us > clock->lead_extra_us) clock->lead_extra_us = extra_us;
}

// From here on the clock shows at least that, however far ahead: ids have to be issued there.
constexpr void BridgeTo(NodeClock *clock, int64_t us, const ClockLimits &limits) {
  if (us <= clock->shown_us) return;
  clock->shown_us = us;
  clock->mode = ClockMode::kBridged;
  clock->noticed = true;
  clock->since = {us, clock->read.steady_us};
  KeepLead(clock, limits);
}

// The wall clock is not believed: full speed until it is, or is right again.
constexpr ClockEvent Hold(NodeClock *clock, int64_t passed_us, bool stepped) {
  const bool leapt = clock->mode != ClockMode::kHeld || stepped;
  clock->mode = ClockMode::kHeld;
  clock->shown_us += passed_us;
  return leapt ? ClockEvent::kHeld : ClockEvent::kNone;
}

// The wall clock is behind `half_us`, what half the monotonic clock's speed comes to.
constexpr ClockEvent Bridge(NodeClock *clock, const ClockReading &since, int64_t half_us, bool stepped,
                            const ClockLimits &limits) {
  const int64_t wall_us = clock->read.wall_us;
  const int64_t latest_us = wall_us + limits.max_bridge_us + clock->lead_extra_us;
  if (clock->shown_us > latest_us + kStepUs) {
    FollowWall(clock);
    return ClockEvent::kSteppedBack;
  }
  if (clock->mode != ClockMode::kBridged) clock->noticed = false;
  clock->mode = ClockMode::kBridged;
  clock->since = since;
  if (half_us <= latest_us) {
    clock->shown_us = half_us;
  } else {
    if (clock->shown_us < latest_us) clock->shown_us = latest_us;
    clock->since = {clock->shown_us, clock->read.steady_us};
  }
  if (LeadUs(*clock) < clock->lead_extra_us) clock->lead_extra_us = LeadUs(*clock);
  if (!stepped && (clock->noticed || LeadUs(*clock) <= kStepUs)) return ClockEvent::kNone;
  clock->noticed = true;
  return ClockEvent::kBridged;
}

constexpr ClockEvent Move(NodeClock *clock, const ClockReading &last, const ClockLimits &limits,
                          const KnownTime &known) {
  const ClockReading &now = clock->read;
  const int64_t passed_us = now.steady_us - last.steady_us;
  const int64_t leap_us = now.wall_us - clock->shown_us - passed_us;
  const int64_t step_us = now.wall_us - last.wall_us - passed_us;
  const bool may_stay = !IsBehindKnown(known, {clock->shown_us + passed_us, now.steady_us}, limits.max_bridge_us);
  if (leap_us > kLeapUs && may_stay && !MayBe(known, now, limits.max_leap_us))
    return Hold(clock, passed_us, step_us > kLeapUs || step_us < -kLeapUs);
  // Since the bridge began, so that short times between readings add up.
  const ClockReading since =
      clock->mode == ClockMode::kBridged ? clock->since : ClockReading{clock->shown_us, last.steady_us};
  const int64_t half_us = since.wall_us + (now.steady_us - since.steady_us) / 2;
  if (now.wall_us < half_us) return Bridge(clock, since, half_us, now.wall_us < last.wall_us - kStepUs, limits);
  const bool held = clock->mode == ClockMode::kHeld;
  FollowWall(clock);
  return leap_us <= kLeapUs ? ClockEvent::kNone : held ? ClockEvent::kFollowed : ClockEvent::kLeapt;
}

// Takes a reading, with what is known by it. From then on `shown_us` is the time.
constexpr void Read(NodeClock *clock, const ServerTime &time, const ClockLimits &limits) {
  ClockReading now = time.reading;
  SNOWFLAKE_ASSERT(now.steady_us > 0 && limits.max_bridge_us >= 0);
  now.wall_us = Clamped(now.wall_us);
  const ClockReading last = clock->read;
  if (now.steady_us < last.steady_us) return;
  if (last.steady_us != 0 && now.wall_us < clock->earliest_us)
    now.wall_us = Clamped(last.wall_us + now.steady_us - last.steady_us);
  clock->read = now;
  if (last.steady_us == 0) return FollowWall(clock);
  const int64_t shown_us = clock->shown_us;
  const ClockEvent event = Move(clock, last, limits, time.known);
  SNOWFLAKE_ASSERT(clock->shown_us >= shown_us || event == ClockEvent::kSteppedBack);
  SNOWFLAKE_ASSERT(LeadUs(*clock) >= 0 || clock->mode == ClockMode::kHeld);
  SNOWFLAKE_ASSERT(clock->lead_extra_us >= 0);
  SNOWFLAKE_ASSERT(LeadUs(*clock) <= limits.max_bridge_us + clock->lead_extra_us + kStepUs);
  if (event == ClockEvent::kNone) return;
  clock->event = event;
  clock->before = last;
  clock->after = now;
  ++clock->events;
  if (event == ClockEvent::kBridged) ++clock->bridged;
}

// Before the first reading after a restart. The monotonic clock may be another one by now, ahead or
// behind, because a container can have one of its own. Nothing was issued meanwhile, so no more
// time counts as passed than the wall clock has moved on, and that if the monotonic clock shows
// less. A leap that is held is no time that has passed, unless it was taken back meanwhile.
constexpr void Resume(NodeClock *clock, const ClockReading &now) {
  const int64_t wall_us = Clamped(now.wall_us), leapt_us = clock->read.wall_us;
  const bool held = clock->mode == ClockMode::kHeld && wall_us >= leapt_us;
  const int64_t moved_us = wall_us - (held ? leapt_us : clock->shown_us), most_us = moved_us > 0 ? moved_us : 0;
  const int64_t passed_us = now.steady_us - clock->read.steady_us;
  if (passed_us >= 0 && passed_us <= most_us) return;
  clock->read.steady_us += passed_us - most_us;
  clock->since.steady_us += passed_us - most_us;
  if (clock->read.steady_us == 0) --clock->read.steady_us;  // it was read
}

// A sign of life at a start: what the wall clock would show if it had run on, or the clock itself
// if it held a leap. A lead is no sign: it can be of any size.
constexpr int64_t SignOf(NodeClock clock, const ClockReading &now) {
  Resume(&clock, now);
  const int64_t showed_us = clock.mode == ClockMode::kHeld ? clock.shown_us : clock.read.wall_us;
  return showed_us + now.steady_us - clock.read.steady_us;
}

}  // namespace snowflake
