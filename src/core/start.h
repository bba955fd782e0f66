// Whether the wall clock of a start of the server is believed.
//
// While the server runs, the monotonic clock shows that the wall clock steps (core/clock.h). While
// it is off, nothing measures the time. So a start compares its wall clock with the last sign of
// life, and doubts a clock that is later by more than max_leap.
//
// 1. The doubt ends when the wall clock has kept its time for kHoldUs by the monotonic clock, when
//    somebody confirms it, or when it has stepped to a time near the sign of life.
// 2. If it steps to another doubtful time, the time that it has to keep begins anew.
// 3. Readings from before the end of the doubt are doubted after it, too: another process may come
//    late with a reading of the wrong time.
//
// Readings are passed in; one that comes late changes nothing.
#pragma once

#include <cstdint>
#include <limits>

#include "core/clock.h"

namespace snowflake {
inline constexpr int64_t kNoSign = std::numeric_limits<int64_t>::min();

// All zero: believed.
struct StartClock {
  bool doubted;
  int64_t sign_us;     // the last sign of life before this start
  int64_t started_us;  // when this start compared, by the monotonic clock
  ClockReading since;  // doubted: the wall clock has kept its time since; otherwise: believed since
};

// The sign of life and what has passed since the start, as far as that is known, are a lower bound
// of the time. Whether the wall clock is above it by no more than max_leap.
constexpr bool IsNearSign(const StartClock &start, const ClockReading &now, int64_t max_leap_us) {
  if (max_leap_us <= 0 || start.sign_us == kNoSign) return true;
  return now.wall_us - (now.steady_us - start.started_us) - max_leap_us <= start.sign_us;
}

constexpr void Believe(StartClock *start, const ClockReading &now) {
  start->doubted = false;
  start->since = now;
}

// `sign_us` is the newest sign of life that is not ahead of the clock; kNoSign: there is none.
constexpr StartClock Compare(ClockReading now, int64_t sign_us, int64_t max_leap_us) {
  now.wall_us = Clamped(now.wall_us);
  StartClock start = {true, sign_us == kNoSign ? kNoSign : Clamped(sign_us), now.steady_us, now};
  if (IsNearSign(start, now, max_leap_us)) start = {};
  return start;
}

// Takes a reading. Returns whether it ended the doubt.
constexpr bool Read(StartClock *start, ClockReading now, int64_t max_leap_us) {
  now.wall_us = Clamped(now.wall_us);
  if (!start->doubted || now.steady_us < start->since.steady_us) return false;
  const int64_t kept_us = now.steady_us - start->since.steady_us;
  const int64_t step_us = now.wall_us - start->since.wall_us - kept_us;
  const bool stepped = step_us > kLeapUs || step_us < -kLeapUs;
  if (IsNearSign(*start, now, max_leap_us) || (!stepped && kept_us >= kHoldUs)) {
    Believe(start, now);
    return true;
  }
  if (stepped) start->since = now;
  return false;
}

// A sign of life that was found later. If it is ahead of the clock, it proves nothing.
constexpr void NoteSign(StartClock *start, int64_t sign_us) {
  if (start->doubted && sign_us > start->sign_us && sign_us <= start->since.wall_us) start->sign_us = Clamped(sign_us);
}

// Whether this reading's wall clock is believed.
constexpr bool IsBelieved(const StartClock &start, const ClockReading &reading) {
  return !start.doubted && reading.steady_us >= start.since.steady_us;
}

// Whether a horizon may be reported by a node's clock that took this reading: a clock that holds a
// leap goes on from before it.
constexpr bool MayReport(const StartClock &start, const NodeClock &clock, int64_t max_leap_us) {
  return IsBelieved(start, clock.read) || IsNearSign(start, {clock.shown_us, clock.read.steady_us}, max_leap_us);
}

}  // namespace snowflake
