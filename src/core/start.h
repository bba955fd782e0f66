// Whether the wall clock of the server is believed.
//
// While the server is off, nothing measures the time. So a start compares its wall clock with the
// last sign of life, and doubts a clock that is later by more than max_leap. If the wall clock
// leaps by more while the server runs, it is doubted, too. Nodes hold the time of before
// (core/clock.h), but not one that reads its clock for the first time, nor over a restart.
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

// All zero: believed, and not read yet.
struct StartClock {
  bool doubted;
  int64_t sign_us;     // the last sign of life before the doubt
  int64_t started_us;  // when the time since then began to count, by the monotonic clock
  ClockReading since;  // doubted: the wall clock has kept its time since; otherwise: believed since
  ClockReading last;   // the newest reading that is believed
};

// The sign of life and what has passed since the start, as far as that is known, are a lower bound
// of the time. Whether the wall clock is above it by no more than max_leap.
constexpr bool IsNearSign(const StartClock &start, const ClockReading &now, int64_t max_leap_us) {
  if (max_leap_us <= 0 || start.sign_us == kNoSign) return true;
  return now.wall_us - (now.steady_us - start.started_us) - max_leap_us <= start.sign_us;
}

constexpr void Believe(StartClock *start, const ClockReading &now) {
  start->doubted = false;
  start->since = start->last = now;
}

// `sign_us` is the newest sign of life that is not ahead of the clock; kNoSign: there is none.
constexpr StartClock Compare(ClockReading now, int64_t sign_us, int64_t max_leap_us) {
  now.wall_us = Clamped(now.wall_us);
  StartClock start = {true, sign_us == kNoSign ? kNoSign : Clamped(sign_us), now.steady_us, now, {}};
  if (IsNearSign(start, now, max_leap_us)) start = {false, 0, 0, {}, now};
  return start;
}

// Takes a reading of a clock that was believed. Returns whether it is doubted from here on.
constexpr bool DoubtLeap(StartClock *start, const ClockReading &now, int64_t max_leap_us) {
  const ClockReading last = start->last;
  if (now.steady_us < last.steady_us) return false;
  const StartClock leapt = {true, last.wall_us, last.steady_us, now, {}};
  const bool doubted = last.steady_us != 0 && !IsNearSign(leapt, now, max_leap_us);
  if (doubted)
    *start = leapt;
  else
    start->last = now;
  return doubted;
}

// Takes a reading. Returns whether it began or ended the doubt.
constexpr bool Read(StartClock *start, ClockReading now, int64_t max_leap_us) {
  now.wall_us = Clamped(now.wall_us);
  if (!start->doubted) return DoubtLeap(start, now, max_leap_us);
  SNOWFLAKE_ASSERT(start->sign_us != kNoSign);
  if (now.steady_us < start->since.steady_us) return false;
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
