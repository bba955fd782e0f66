// Whether ids, or numbers of segments, are about to stop: (what a node shows) -> what is wrong.
// Whoever looks decides, so that a keeper that hangs is noticed, too.
//
// Times are by the monotonic clock: after a leap of the wall clock, the keeper extends in time.
#pragma once

#include <cstdint>

#include "core/assert.h"

namespace snowflake {
enum class Trouble {
  kNone,
  kFailed,    // the newest request was refused, or had no answer
  kNoKeeper,  // nobody makes requests
  kLate,      // the keeper hangs, or waits for an answer
};

struct Outlook {
  bool wanted;        // a lease is in place, or a call waits for one; a segment wants a range
  bool failed;        // the newest request
  bool keeper;        // one runs, or was requested a moment ago
  int64_t window_us;  // what was left of the window when the lease was last extended; 0: no lease
  int64_t since_us;   // the time since then; without a lease, since the request under way began
};

// The keeper extends a window when a third of it is over. On a busy machine half of a short one may
// pass before.
inline constexpr int64_t kLeastLateUs = int64_t{5} * 1000 * 1000;

// A window that is over is extended sooner, unless something is wrong.
inline constexpr int64_t kOverUs = int64_t{1} * 1000 * 1000;

// How long the keeper may take.
constexpr int64_t LateAfterUs(int64_t window_us) {
  const int64_t half_us = window_us / 2 > kLeastLateUs ? window_us / 2 : kLeastLateUs;
  SNOWFLAKE_ASSERT(window_us <= kLeastLateUs || half_us < window_us);  // before ids stop
  return window_us > 0 && window_us + kOverUs < half_us ? window_us + kOverUs : half_us;
}

constexpr Trouble TroubleOf(const Outlook &outlook) {
  if (outlook.failed) return Trouble::kFailed;
  if (!outlook.wanted) return Trouble::kNone;
  if (!outlook.keeper) return Trouble::kNoKeeper;
  return outlook.since_us >= LateAfterUs(outlook.window_us) ? Trouble::kLate : Trouble::kNone;
}

}  // namespace snowflake
