// Times and ids: which ids have their timestamp at, after or before a time.
//
// An id's timestamp is the beginning of its tick. So the first id for a time inside a tick is the
// first of the *next* tick, and
//
//     id >= first id of t     is the same as    timestamp of id >= t
//     id within the span      is the same as    timestamp of id within the times
//
// for every id that is not negative. Negative ids, of layouts that start at the sign bit, have
// later times and sort before all others, so times among them are refused.
#pragma once

#include "core/layout.h"

namespace snowflake {
// Unix microseconds that represent the infinities. Every id's time is between them.
inline constexpr int64_t kInfinitePast = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kInfiniteFuture = std::numeric_limits<int64_t>::max();

// A cut through time, just before or just after a microsecond. Inclusive lower and exclusive upper
// bounds cut before their time, the other two after it.
struct Cut {
  int64_t unix_us;
  bool after;
};

// The first tick that begins beyond the cut. It may be negative, or beyond what the layout holds.
constexpr Tick FirstTick(const Layout &layout, const Cut &cut) {
  const Tick at = layout.TickAt(cut.unix_us);
  // One more might overflow, and how far it is beyond all ticks does not matter.
  if (at > layout.max_readable_tick()) return at;
  return !cut.after && layout.UnixUsAt(at) == cut.unix_us ? at : at + 1;
}

// The smallest nonnegative id whose timestamp is `unix_us` or later; false: there is none.
constexpr bool FirstIdAt(const Layout &layout, int64_t unix_us, int64_t *id) {
  const Tick tick = FirstTick(layout, {unix_us, false});
  if (tick > layout.max_tick()) return false;
  *id = layout.Pack({tick > 0 ? tick : 0, 0, 0});
  return true;
}

enum class SpanKind {
  kEmpty,
  kBounded,        // first <= id < end
  kOpen,           // first <= id
  kLowerNegative,  // refused: this bound is among the negative ids
  kUpperNegative,
};

struct IdSpan {
  SpanKind kind;
  int64_t first;
  int64_t end;
};

// The ids whose timestamps are between two cuts. Infinite bounds are never refused.
constexpr IdSpan IdsBetween(const Layout &layout, const Cut &lower, const Cut &upper) {
  const Tick first = FirstTick(layout, lower) > 0 ? FirstTick(layout, lower) : 0;
  const Tick end = FirstTick(layout, upper);
  const Tick limit = layout.max_tick() + 1;
  const bool has_negative = layout.max_readable_tick() >= limit;
  if (has_negative && first >= limit && lower.unix_us != kInfiniteFuture) return {SpanKind::kLowerNegative, 0, 0};
  if (has_negative && end > limit && upper.unix_us != kInfiniteFuture) return {SpanKind::kUpperNegative, 0, 0};
  if (first >= limit || end <= first) return {SpanKind::kEmpty, 0, 0};
  const int64_t first_id = layout.Pack({first, 0, 0});
  if (end >= limit) return {SpanKind::kOpen, first_id, 0};
  return {SpanKind::kBounded, first_id, layout.Pack({end, 0, 0})};
}

}  // namespace snowflake
