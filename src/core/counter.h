// The processor's counter: for how long a process may issue from a run without reading a clock.
//
// A counter costs a fraction of what a clock costs, but nobody promises what it shows: processors
// may differ, it may be set, and it may stand still.
//
// 1. It decides nothing but whether a process reads the clock. Whatever ends a run changes its word
//    (open_run.h). So of all guarantees, only G3's bound to the past depends on it.
// 2. A process counts from a reading of the clock on, for three quarters of what was left of the
//    tick, and for 10 ms at most. If the counter is set back to before that reading, this is over.
// 3. The speed is never overestimated because a process was delayed. One step of the counter, or of
//    the clock, does not raise it.
#pragma once

#include <cstdint>

#include "core/assert.h"

namespace snowflake {
// Measured again and again, by one process.
struct CounterSpeed {
  uint64_t since_counts;  // read after the clock, ...
  int64_t since_us;       // ... which showed this; 0: not yet
  int64_t newest_per_ms;
  int64_t per_ms;  // the lower one of the last two stretches; 0: not known
};

// A shorter stretch is not measured, because the clock shows microseconds.
inline constexpr int64_t kShortestStretchUs = 2 * 1000;

// No counter is faster than 100 GHz, and none counts more without being read.
inline constexpr int64_t kFastestPerMs = int64_t{100} * 1000 * 1000;
inline constexpr int64_t kMostCounts = int64_t{1} << 53;

// At least so many counts were in a millisecond; 0: the counter or the clock was set.
constexpr int64_t PerMs(int64_t counts, int64_t us) {
  if (us <= 0 || counts <= 0 || counts > kMostCounts) return 0;
  const int64_t per_ms = counts * 1000 / (us + 1);
  return per_ms > kFastestPerMs ? 0 : per_ms;
}

// Takes a reading of the clock, and of the counter before and after it.
constexpr void Measure(CounterSpeed *speed, uint64_t before, int64_t us, uint64_t after) {
  SNOWFLAKE_ASSERT(us > 0);
  const int64_t passed_us = us - speed->since_us;
  if (speed->since_us != 0) {
    if (passed_us >= 0 && passed_us < kShortestStretchUs) return;
    const int64_t per_ms = PerMs(static_cast<int64_t>(before - speed->since_counts), passed_us);
    speed->per_ms = per_ms < speed->newest_per_ms ? per_ms : speed->newest_per_ms;
    speed->newest_per_ms = per_ms;
  }
  speed->since_counts = after;
  speed->since_us = us;
}

inline constexpr int64_t kLongestCountUs = 10 * 1000;

// One microsecond, because the clock shows whole ones, and one, because a processor may read the
// counter before instructions that precede it.
inline constexpr int64_t kCountSlackUs = 2;

// How many counts a process may issue for, if the tick ends `left_us` after it read the clock. A
// quarter is left out, because the clock may become faster than the counter since the speed was
// measured: systems slew it by up to a tenth, either way. 0: only the clock serves.
constexpr uint64_t CountsFor(int64_t left_us, int64_t per_ms) {
  SNOWFLAKE_ASSERT(per_ms >= 0 && per_ms <= kFastestPerMs);
  if (left_us <= kCountSlackUs) return 0;
  const int64_t us = (left_us < kLongestCountUs ? left_us : kLongestCountUs) - kCountSlackUs;
  return static_cast<uint64_t>(us * per_ms / 1000 / 4 * 3);
}

// Whether the counter shows fewer counts than that since then. A counter that was set back shows
// more than any process may issue for.
constexpr bool IsWithin(uint64_t counts, uint64_t since, uint64_t now) {
  return now - since < counts;
}

}  // namespace snowflake
