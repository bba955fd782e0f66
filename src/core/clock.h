// The node's clock: what ids read instead of the wall clock.
//
// It shows the wall clock as long as that only goes on. A step back is bridged: the clock runs on by the steady clock at half speed,
// until the wall clock has caught up. A leap that is hard to believe is not followed before it has stood for ten minutes, unless
// what it showed before could not be.
//
// 1. It never shows less than before, but after a step back by more than it may bridge, and where it is told to follow the wall clock.
// 2. It never shows less than the wall clock, but while a leap is not believed.
// 3. It leads the wall clock by at most max_bridge, and by what BridgeTo() makes it lead besides.
// 4. It runs at half the steady clock's speed at least, unless that broke 3: then it stands.
//
// It reads no clock itself. A reading that comes late, because others came in between, changes nothing.
#pragma once

#include <cstdint>

namespace snowflake {

// Both clocks, read one right after the other.
struct ClockReading {
  int64_t wall_us;    // since 1970
  int64_t steady_us;  // since the system started, whatever becomes of the wall clock; above 0
};

struct ClockLimits {
  int64_t max_bridge_us;  // 0: nothing is bridged
  int64_t max_leap_us;    // 0: every leap is followed
};

enum class ClockMode : int32_t {
  kWall,     // it shows the wall clock
  kBridged,  // it leads the wall clock and runs at half speed
  kHeld,     // it trails a wall clock that leapt, and runs at full speed
};

// What is worth a count or a message.
enum class ClockEvent : int32_t {
  kNone,
  kBridged,      // the wall clock stepped back, or stands, and nobody notices
  kSteppedBack,  // ... by more than may be bridged
  kLeapt,        // it leapt, and is followed
  kHeld,         // it leapt by more than is believed
  kFollowed,     // ... and stayed there
};

// All zero is a clock that was never read.
struct NodeClock {
  int64_t shown_us;
  ClockReading read;  // the last reading
  ClockMode mode;
  bool noticed;           // kBridged: that was said
  ClockReading since;     // kBridged, kHeld: it showed `wall_us` at `steady_us`, and runs by itself since
  int64_t lead_extra_us;  // by how much it may lead beyond max_bridge
  int64_t earliest_us;    // no right clock shows less

  // The last event, with the readings around it, and how many there were.
  ClockEvent event;
  ClockReading before, after;
  int64_t events;
  int64_t bridged;
};

// How long a leap has to stand before it is followed.
inline constexpr int64_t kHoldUs = int64_t{10} * 60 * 1000 * 1000;

// The two clocks are not read in one instant, and what is less than this is no step.
inline constexpr int64_t kStepUs = 500;

// Clocks are slewed, and come back from a system's sleep: what is less is no leap that anybody wants to hear of.
inline constexpr int64_t kLeapUs = 1000 * 1000;

// A wall clock beyond this, some 73,000 years from 1970, is taken for it: sums and differences of what is left are exact.
inline constexpr int64_t kFarthestUs = int64_t{1} << 61;

// By how much it leads the wall clock; below 0 while it trails.
constexpr int64_t LeadUs(const NodeClock &clock) { return clock.shown_us - clock.read.wall_us; }

constexpr void FollowWall(NodeClock *clock) {
  clock->shown_us = clock->read.wall_us;
  clock->mode = ClockMode::kWall;
  clock->lead_extra_us = 0;
}

// From here on the clock shows at least that, however far ahead it is: what is to be issued must lie there.
constexpr void BridgeTo(NodeClock *clock, int64_t us, const ClockLimits &limits) {
  if (us <= clock->shown_us) return;
  clock->shown_us = us;
  clock->mode = ClockMode::kBridged;
  clock->noticed = true;
  clock->since = {us, clock->read.steady_us};
  const int64_t extra_us = LeadUs(*clock) - limits.max_bridge_us;
  if (extra_us > clock->lead_extra_us) clock->lead_extra_us = extra_us;
}

// A leap that is not believed: full speed, until it is over or has stood for long enough.
constexpr ClockEvent Hold(NodeClock *clock, int64_t passed_us) {
  if (clock->mode != ClockMode::kHeld) {
    clock->mode = ClockMode::kHeld;
    clock->shown_us += passed_us;
    clock->since = {clock->shown_us, clock->read.steady_us};
    return ClockEvent::kHeld;
  }
  const int64_t held_us = clock->read.steady_us - clock->since.steady_us;
  clock->shown_us = clock->since.wall_us + held_us;
  if (held_us < kHoldUs) return ClockEvent::kNone;
  FollowWall(clock);
  return ClockEvent::kFollowed;
}

// The wall clock is behind what half the steady clock's speed comes to, `half_us`.
constexpr ClockEvent Bridge(NodeClock *clock, const ClockReading &since, int64_t half_us, bool stepped,
                            const ClockLimits &limits) {
  const int64_t wall_us = clock->read.wall_us;
  const int64_t latest_us = wall_us + limits.max_bridge_us + clock->lead_extra_us;
  if (clock->shown_us > latest_us) {
    const bool notable = clock->shown_us - wall_us > kStepUs;
    FollowWall(clock);
    return notable ? ClockEvent::kSteppedBack : ClockEvent::kNone;
  }
  if (clock->mode != ClockMode::kBridged) clock->noticed = false;
  clock->mode = ClockMode::kBridged;
  clock->since = since;
  clock->shown_us = half_us;
  if (half_us > latest_us) {
    clock->shown_us = latest_us;
    clock->since = {latest_us, clock->read.steady_us};
  }
  if (LeadUs(*clock) < clock->lead_extra_us) clock->lead_extra_us = LeadUs(*clock);
  if (!stepped && (clock->noticed || LeadUs(*clock) <= kStepUs)) return ClockEvent::kNone;
  clock->noticed = true;
  return ClockEvent::kBridged;
}

constexpr ClockEvent Move(NodeClock *clock, const ClockReading &last, const ClockLimits &limits) {
  const ClockReading &now = clock->read;
  const int64_t passed_us = now.steady_us - last.steady_us;
  const int64_t leap_us = now.wall_us - clock->shown_us - passed_us;
  const bool was_possible = clock->shown_us >= clock->earliest_us;
  if (limits.max_leap_us > 0 && was_possible && leap_us > limits.max_leap_us) return Hold(clock, passed_us);
  // From its beginning on, so that short times between readings add up.
  const ClockReading since =
      clock->mode == ClockMode::kBridged ? clock->since : ClockReading{clock->shown_us, last.steady_us};
  const int64_t half_us = since.wall_us + (now.steady_us - since.steady_us) / 2;
  if (now.wall_us < half_us) return Bridge(clock, since, half_us, now.wall_us < last.wall_us - kStepUs, limits);
  FollowWall(clock);
  return leap_us > kLeapUs ? ClockEvent::kLeapt : ClockEvent::kNone;
}

// Takes a reading. From then on `shown_us` is the time.
constexpr void Read(NodeClock *clock, ClockReading now, const ClockLimits &limits) {
  if (now.wall_us > kFarthestUs) now.wall_us = kFarthestUs;
  if (now.wall_us < -kFarthestUs) now.wall_us = -kFarthestUs;
  const ClockReading last = clock->read;
  if (now.steady_us < last.steady_us) return;
  clock->read = now;
  if (last.steady_us == 0) return FollowWall(clock);
  const ClockEvent event = Move(clock, last, limits);
  if (event == ClockEvent::kNone) return;
  clock->event = event;
  clock->before = last;
  clock->after = now;
  ++clock->events;
  if (event == ClockEvent::kBridged) ++clock->bridged;
}

}  // namespace snowflake
