// What time it is known to be: the one rule that says whether the wall clock of a server is
// believed, while the server runs and when it starts.
//
// The known time is the latest time that is known to have been, and what has passed since by the
// monotonic clock. A start sets it from the newest sign of life, on whichever side of the wall
// clock that is. Where nothing was ever issued, nothing is known, and nobody is to be protected:
// the first reading sets it.
//
// 1. It rises with the wall clock. One that is further ahead has to keep its time for kHoldUs
//    first.
// 2. It falls only to a wall clock that has been a little behind for kHoldUs, so that small steps
//    do not add up, and to one that the operator confirms.
// 3. A wall clock may be right if it is ahead of the known time by at most max_leap.
// 4. A wall clock before kFirstTimeUs cannot be right, and tells nothing.
//
// Readings are passed in; one that comes late changes nothing.
#pragma once

#include <cstdint>
#include <limits>

#include "core/assert.h"

namespace snowflake {
// Both clocks, read one right after the other.
struct ClockReading {
  int64_t wall_us;    // since 1970
  int64_t steady_us;  // of the monotonic clock, since the system started; above 0
};

struct ClockLimits {
  int64_t max_bridge_us;  // 0: nothing is bridged
  int64_t max_leap_us;    // 0: every leap is followed
};

// How long a wall clock has to keep its time before it is believed.
inline constexpr int64_t kHoldUs = int64_t{10} * 60 * 1000 * 1000;

// Below this a leap is not reported: clocks are slewed, and systems sleep.
inline constexpr int64_t kLeapUs = 1000 * 1000;

// What is further from where it should be than this, and what is bridged, is of a wrong clock.
inline constexpr int64_t kWrongUs = int64_t{60} * 1000 * 1000;

// 2025-01-01, before this extension existed.
inline constexpr int64_t kFirstTimeUs = int64_t{1735689600} * 1000 * 1000;

// Times are clamped to this, some 73,000 years from 1970, so that no sum overflows.
inline constexpr int64_t kFarthestUs = int64_t{1} << 61;

constexpr int64_t Clamped(int64_t unix_us) {
  return unix_us > kFarthestUs ? kFarthestUs : unix_us < -kFarthestUs ? -kFarthestUs : unix_us;
}

// By how much the wall clock is ahead of the monotonic one. Only a step of the wall clock changes
// it.
constexpr int64_t OffsetUs(const ClockReading &reading) { return Clamped(reading.wall_us) - reading.steady_us; }

// Below a leap it is no step: clocks are slewed, and a second is inserted.
constexpr bool IsOffBy(const ClockReading &reading, int64_t offset_us) {
  const int64_t off_us = OffsetUs(reading) - offset_us;
  return off_us > kLeapUs || off_us < -kLeapUs;
}

// All zero: nothing is known.
struct KnownTime {
  int64_t offset_us;       // by which it is ahead of the monotonic clock
  int64_t step_offset_us;  // of a wall clock that shows another time, ...
  int64_t step_since_us;   // ... which it has kept since then, by the monotonic clock; 0: there is none
  int64_t read_us;         // the newest reading, by the monotonic clock; 0: nothing is known
};

// Both clocks, and what is known with this reading.
struct ServerTime {
  ClockReading reading;
  KnownTime known;
};

constexpr bool IsPossible(const ClockReading &reading) { return reading.wall_us >= kFirstTimeUs; }

constexpr KnownTime KnownBy(const ClockReading &reading) { return {OffsetUs(reading), 0, 0, reading.steady_us}; }

inline constexpr int64_t kNoSign = std::numeric_limits<int64_t>::min();

// Of a start, by its newest sign of life.
constexpr KnownTime KnownBySign(int64_t sign_us, int64_t steady_us) {
  return sign_us < kFirstTimeUs ? KnownTime{} : KnownBy({sign_us, steady_us});
}

// Of one that is found later.
constexpr void NoteSign(KnownTime *known, int64_t sign_us, int64_t steady_us) {
  const KnownTime other = KnownBySign(sign_us, steady_us);
  if (known->read_us != 0 && other.offset_us > known->offset_us) *known = other;
}

constexpr int64_t KnownUs(const KnownTime &known, int64_t steady_us) { return Clamped(steady_us + known.offset_us); }

// Whether this time is ahead of the known one by no more than that of a right clock can be.
constexpr bool MayBe(const KnownTime &known, const ClockReading &reading, int64_t max_leap_us) {
  return max_leap_us <= 0 || known.read_us == 0 || OffsetUs(reading) - known.offset_us <= max_leap_us;
}

// Whether it is behind the known time by more than is bridged.
constexpr bool IsBehindKnown(const KnownTime &known, const ClockReading &reading, int64_t max_bridge_us) {
  return known.read_us != 0 && known.offset_us - OffsetUs(reading) > max_bridge_us + kWrongUs;
}

// What a reading makes of it.
constexpr KnownTime After(KnownTime known, const ClockReading &reading, int64_t max_bridge_us) {
  SNOWFLAKE_ASSERT(reading.steady_us > 0);  // or a count would be none
  const KnownTime shown = KnownBy(reading);
  if (!IsPossible(reading) || reading.steady_us < known.read_us) return known;
  if (known.read_us == 0) return shown;
  known.read_us = reading.steady_us;
  if (!IsOffBy(reading, known.offset_us)) {
    if (shown.offset_us > known.offset_us) return shown;
    known.step_since_us = 0;
  } else if (IsBehindKnown(known, reading, max_bridge_us)) {
    known.step_since_us = 0;
  } else if (known.step_since_us == 0 || IsOffBy(reading, known.step_offset_us)) {
    known.step_offset_us = shown.offset_us;
    known.step_since_us = reading.steady_us;
  } else if (reading.steady_us - known.step_since_us >= kHoldUs) {
    return shown;
  }
  return known;
}

}  // namespace snowflake
