// The time that a registry goes by: what its server's wall clock has kept for a while.
//
// A reading of both clocks has an offset, by which the wall clock is ahead of the monotonic one.
// Only a step of the wall clock changes it.
//
// 1. After a step the time of before is held for kHoldUs, by the monotonic clock. Only then is the
//    new one followed, if it was kept all that time.
// 2. A time is confirmed once it was kept for kHoldUs without a step.
// 3. A record belongs to one life: the next start of the server has another monotonic clock.
// 4. A wall clock that cannot be right tells nothing. A life that begins with one keeps no time
//    yet: there is only the wall clock.
#pragma once

#include <cstdint>

#include "core/known_time.h"

namespace snowflake {
// All zero: none is kept yet.
struct KeptTime {
  int64_t offset_us;  // of the time that is kept,
  int64_t since_us;   // ... by the monotonic clock since then; 0: none is
  int64_t step_offset_us;
  int64_t step_since_us;  // 0: there is no step that is not followed yet
};

constexpr KeptTime KeptSince(const ClockReading &reading) {
  return IsPossible(reading) ? KeptTime{OffsetUs(reading), reading.steady_us, 0, 0} : KeptTime{};
}

// What the wall clock would show without its newest step.
constexpr int64_t HeldUs(const KeptTime &time, const ClockReading &reading) {
  return time.since_us == 0 ? reading.wall_us : Clamped(reading.steady_us + time.offset_us);
}

// Whether that is another time.
constexpr bool HoldsAnother(const KeptTime &time, const ClockReading &reading) {
  return time.since_us != 0 && IsOffBy(reading, time.offset_us);
}

// The later and the earlier one of the wall clock and the time that is held.
constexpr int64_t LatestUs(const KeptTime &time, const ClockReading &reading) {
  const int64_t held_us = HeldUs(time, reading);
  return held_us > reading.wall_us ? held_us : reading.wall_us;
}
constexpr int64_t EarliestUs(const KeptTime &time, const ClockReading &reading) {
  const int64_t held_us = HeldUs(time, reading);
  return held_us < reading.wall_us ? held_us : reading.wall_us;
}

// Whether the wall clock has stepped since the reading that the record has last.
constexpr bool HasStepped(const KeptTime &time, const ClockReading &reading) {
  return time.since_us != 0 && IsPossible(reading) &&
         IsOffBy(reading, time.step_since_us != 0 ? time.step_offset_us : time.offset_us);
}

// What this reading makes of it. A step that is taken back is a step, too: the clock is not sure.
constexpr KeptTime After(KeptTime time, const ClockReading &reading) {
  SNOWFLAKE_ASSERT(reading.steady_us > 0);  // or its step would be none
  if (!IsPossible(reading)) return time;
  if (time.since_us == 0) return KeptSince(reading);
  if (!IsOffBy(reading, time.offset_us))
    return time.step_since_us != 0 ? KeptTime{time.offset_us, reading.steady_us, 0, 0} : time;
  if (HasStepped(time, reading)) return {time.offset_us, time.since_us, OffsetUs(reading), reading.steady_us};
  if (reading.steady_us - time.step_since_us < kHoldUs) return time;
  return {time.step_offset_us, time.step_since_us, 0, 0};
}

constexpr bool operator==(const KeptTime &a, const KeptTime &b) {
  return a.offset_us == b.offset_us && a.since_us == b.since_us && a.step_offset_us == b.step_offset_us &&
         a.step_since_us == b.step_since_us;
}

constexpr bool IsConfirmed(const KeptTime &time, const ClockReading &reading) {
  return time.since_us != 0 && time.step_since_us == 0 && !HoldsAnother(time, reading) &&
         reading.steady_us - time.since_us >= kHoldUs;
}

}  // namespace snowflake
