// Segments: small numbers for many servers. Registries allocate ranges, nodes issue from memory.
//
// 1. A range is committed in the registry before a number of it is issued. Ranges never overlap: a
//    segment's last number only rises, until the unused end of the newest range is released.
// 2. A node requests a second range when a tenth of the first is used, so that calls do not wait.
// 3. What a crash leaves unused is a gap.
//
// Numbers are 1 to 2^63 - 1. Nothing here adds to the last of them.
#pragma once

#include <cstdint>

#include "core/assert.h"

namespace snowflake {
inline constexpr int kMaxSegmentName = 127;  // bytes
inline constexpr int kMaxRoleName = 63;      // likewise

// The numbers up to `last`, of which `left` are left.
struct Range {
  int64_t last;
  int64_t left;

  constexpr int64_t next() const {
    SNOWFLAKE_ASSERT(left > 0 && left <= last);
    return last - left + 1;
  }
};

// --- The registry's part ---

// After lost commits at least so many ranges of the newest one's size are skipped, once for each
// loss since the last range.
inline constexpr int64_t kSkippedRanges = 10;
inline constexpr int32_t kMostSkips = 1000;

// A failover counts as several losses, because what it lost may contain an earlier loss: ranges,
// the skips after that loss, and what each of these was larger by. `promotions` is how many there
// were since the registry's last record: the server before the last may have noticed the first.
inline constexpr int32_t kMostPromotions = 2;
constexpr int32_t SkipsOf(int64_t promotions) {
  int32_t skips = 1;
  for (int64_t i = 0; i < (promotions < kMostPromotions ? promotions : kMostPromotions); ++i) skips = 1 + 2 * skips;
  return skips;
}

struct Segment {
  int64_t last_value;  // the last that was allocated; start - 1 at first
  int64_t max_value;
  int64_t step;      // no range is shorter, ...
  int64_t max_step;  // ... or longer than that

  // How much was allocated in the period that began at `period_us`, and in the last one before in
  // which anything was.
  int64_t period_us;
  int64_t allocated;
  int64_t allocated_before;
  int64_t newest;  // the newest range's size
};

constexpr int64_t Clamp(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}

// Saturates.
constexpr int64_t Plus(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

constexpr int64_t LeftOf(const Segment &segment) { return segment.max_value - segment.last_value; }

// Up to `wanted` numbers, or the last ones. `period_us` is how long commits may take to a standby.
constexpr Range Allocate(Segment *segment, int64_t wanted, int64_t now_us, int64_t period_us) {
  const int64_t left = LeftOf(*segment);
  SNOWFLAKE_ASSERT(left >= 0 && segment->step >= 1 && segment->step <= segment->max_step);
  const int64_t size = Clamp(wanted, segment->step, segment->max_step);
  const int64_t count = size < left ? size : left;
  segment->last_value += count;
  const Range range = {segment->last_value, count};
  if (count <= 0) return range;
  const int64_t since_us = now_us - segment->period_us;
  // Also after a long time, because the clock may have leapt.
  if (since_us >= period_us) {
    segment->allocated_before = segment->allocated;
    segment->allocated = 0;
  }
  // After a step back of the clock more is counted than necessary.
  if (since_us >= period_us || since_us < 0) segment->period_us = now_us;
  segment->allocated = Plus(segment->allocated, count);
  segment->newest = count;
  return range;
}

// What a node may have left: its newest range, with an adjacent one before. All zero: nothing.
struct Holding {
  int64_t from;
  int64_t newest;  // where the newest range begins
  int64_t to;
};

constexpr void HoldRange(Holding *holding, const Range &range) {
  holding->from = holding->to == range.next() - 1 && holding->to != 0 ? holding->newest : range.next();
  holding->newest = range.next();
  holding->to = range.last;
}

// A node releases the end of its numbers. False: a gap, below allocated numbers or not this node's.
constexpr bool TakeBack(Segment *segment, Holding *holding, const Range &rest) {
  if (rest.left <= 0 || rest.left > rest.last || rest.last != holding->to || rest.last != segment->last_value ||
      rest.next() < holding->from)
    return false;
  segment->last_value -= rest.left;
  holding->to -= rest.left;
  if (holding->to < holding->newest) holding->newest = holding->from;
  if (holding->to < holding->from) *holding = {};
  return true;
}

// Numbers below `value` cannot be released.
constexpr void KeepFrom(Holding *holding, int64_t value) {
  if (holding->from < value) holding->from = value;
  if (holding->newest < value) holding->newest = value;
}

constexpr void RaiseTo(Segment *segment, int64_t value) {
  if (value - 1 > segment->last_value)
    segment->last_value = value - 1 < segment->max_value ? value - 1 : segment->max_value;
}

// If a node has a number above all that was allocated, commits are lost. Numbers more ranges ahead
// are not believed: they would use up the segment.
inline constexpr int64_t kRangesBelieved = 1000;

constexpr bool IsEvidence(const Segment &segment, int64_t seen) { return seen > segment.last_value; }
constexpr bool IsNumberBelieved(const Segment &segment, int64_t seen) {
  return seen <= segment.max_value && (seen - segment.last_value) / kRangesBelieved <= segment.max_step;
}

constexpr void Admit(Segment *segment, int64_t seen) {
  if (IsEvidence(*segment, seen)) segment->last_value = seen < segment->max_value ? seen : segment->max_value;
}

// Skips what lost commits may have allocated, so many times.
constexpr void SkipLost(Segment *segment, int32_t times) {
  SNOWFLAKE_ASSERT(times >= 1);
  const int64_t ranges = segment->newest > segment->step ? segment->newest : segment->step;
  const int64_t least = ranges > INT64_MAX / kSkippedRanges ? INT64_MAX : kSkippedRanges * ranges;
  int64_t skipped = Plus(segment->allocated, segment->allocated_before);
  if (skipped < least) skipped = least;
  const int64_t left = LeftOf(*segment);
  SNOWFLAKE_ASSERT(skipped > 0 && left >= 0);
  segment->last_value += skipped <= left / times ? skipped * times : left;
}

// --- The node's part ---

// How long a range should last: a shorter one doubles the next, a longer one halves it.
inline constexpr int64_t kShortUs = int64_t{15} * 60 * 1000 * 1000;
inline constexpr int64_t kLongUs = 2 * kShortUs;

// A range lasts for so many answers of the registry, or callers would often wait for the next one.
inline constexpr int64_t kAnswersPerRange = 8;

// A node's ranges of one segment. All zero: none was requested.
struct Ranges {
  Range current;
  Range next;
  int64_t ask_at;       // with so many left of the current one the next is requested; below 0: it was
  int64_t size;         // of the current one, when it came
  int64_t since_us;     // by the monotonic clock, when the current one became that
  int64_t size_before;  // of the range before, ...
  int64_t lasted_us;    // ... and how long it was current; 0: there was none
  int64_t issued;       // the highest number that was, of ranges before the current one
  int64_t floor;        // numbers below it are not issued
  bool wanted;          // another range, from the keeper
};

// The next number of the current range; false: it is used up.
constexpr bool TakeNumber(Ranges *ranges, int64_t *number) {
  if (ranges->current.left == 0) return false;
  *number = ranges->current.next();
  SNOWFLAKE_ASSERT(*number > ranges->issued && *number >= ranges->floor);
  --ranges->current.left;
  return true;
}

// Requests another range from the keeper: once for each range, unless a call waits for it.
constexpr bool IsDue(const Ranges &ranges) { return ranges.current.left <= ranges.ask_at; }
constexpr void Want(Ranges *ranges) {
  ranges->ask_at = -1;
  ranges->wanted = ranges->next.left == 0;
}

// How long `numbers` last if `used` lasted for `us`: 1 to about 2 * kLongUs.
constexpr int64_t ScaledUs(int64_t us, int64_t numbers, int64_t used) {
  const double lasts = static_cast<double>(us > 0 ? us : 1) * static_cast<double>(numbers) / static_cast<double>(used);
  return lasts < static_cast<double>(2 * kLongUs) ? static_cast<int64_t>(lasts) + 1 : 2 * kLongUs;
}

// The next range replaces the current one, which is used up. False: there is none.
constexpr bool UseNext(Ranges *ranges, int64_t now_us) {
  SNOWFLAKE_ASSERT(ranges->current.left == 0);
  if (ranges->next.left == 0) return false;
  if (ranges->size > 0) {
    ranges->size_before = ranges->size;
    ranges->lasted_us = now_us > ranges->since_us ? now_us - ranges->since_us : 1;
    ranges->issued = ranges->current.last;
  }
  ranges->current = ranges->next;
  ranges->next = {};
  ranges->size = ranges->current.left;
  ranges->ask_at = ranges->size - (ranges->size / 10 > 1 ? ranges->size / 10 : 1);
  ranges->since_us = now_us;
  return true;
}

// How long the current range lasts, at the rate of the one before or of its used part. 0: unknown.
constexpr int64_t LastsUs(const Ranges &ranges, int64_t now_us) {
  const int64_t used = ranges.size - ranges.current.left;
  const int64_t lasts_us = ranges.lasted_us == 0 ? 0 : ScaledUs(ranges.lasted_us, ranges.size, ranges.size_before);
  if (used <= 0) return lasts_us;
  const int64_t us = ScaledUs(now_us - ranges.since_us, ranges.size, used);
  return lasts_us == 0 || us < lasts_us ? us : lasts_us;
}

// How many numbers are used while the registry answers once. The rate is taken over at least the
// time of an answer, if need be with the range before, or it would be that of a short burst.
constexpr double UsedInAnAnswer(const Ranges &ranges, int64_t now_us, int64_t answer_us) {
  int64_t used = ranges.size - ranges.current.left, us = now_us - ranges.since_us;
  if (us < answer_us) {
    used = Plus(used, ranges.size_before);
    us = Plus(us, ranges.lasted_us);
  }
  return static_cast<double>(used) * static_cast<double>(answer_us) /
         static_cast<double>(us > answer_us ? us : answer_us);
}

// How many numbers to request, if the last answer took `answer_us`. The registry clamps them.
constexpr int64_t SizeToAskFor(const Ranges &ranges, int64_t now_us, int64_t answer_us) {
  const int64_t lasts_us = LastsUs(ranges, now_us);
  if (lasts_us == 0) return 0;
  if (lasts_us > kLongUs) return ranges.size / 2;
  if (lasts_us >= kShortUs) return ranges.size;
  const double doubled = 2.0 * static_cast<double>(ranges.size);
  const double enough =
      answer_us > 0 ? static_cast<double>(kAnswersPerRange) * UsedInAnAnswer(ranges, now_us, answer_us) : 0;
  const double size = doubled > enough ? doubled : enough;
  return size < 4e18 ? static_cast<int64_t>(size) : INT64_MAX;
}

// The highest number that is issued or may be.
constexpr int64_t Highest(const Ranges &ranges) {
  if (ranges.next.left > 0) return ranges.next.last;
  return ranges.size > 0 ? ranges.current.last : ranges.issued;
}

// Whether an answer is possible: numbers above all of these.
constexpr bool IsPlausible(const Ranges &ranges, const Range &range) {
  return range.left > 0 && range.left <= range.last && range.last - range.left >= Highest(ranges);
}

constexpr Range RangeFrom(const Range &range, int64_t floor) {
  if (range.left == 0 || range.next() >= floor) return range;
  return {range.last, range.last < floor ? 0 : range.last - floor + 1};
}

// Takes a plausible answer. False: there is a next range already, and this one is a gap unless the
// caller returns it.
constexpr bool PutRange(Ranges *ranges, const Range &range) {
  if (ranges->next.left > 0) return false;
  SNOWFLAKE_ASSERT(IsPlausible(*ranges, range));
  ranges->next = RangeFrom(range, ranges->floor);
  ranges->wanted = ranges->next.left == 0;
  // A range requested before the raise may be below; a later one is if the raise was rolled back.
  if (ranges->wanted) ranges->floor = 0;
  return true;
}

// From now on they are of another segment, or of a first one. The request found `floor`: the range
// on its way may be below a raise since then, and is above those before.
constexpr void BeginSegment(Ranges *ranges, int64_t floor) {
  const int64_t raised = ranges->floor > floor ? ranges->floor : 0;
  *ranges = {};
  ranges->floor = raised;
  ranges->wanted = true;
}

constexpr void RaiseTo(Ranges *ranges, int64_t value) {
  ranges->floor = value > ranges->floor ? value : ranges->floor;
  ranges->current = RangeFrom(ranges->current, value);
  ranges->next = RangeFrom(ranges->next, value);
}

// Ends issuing. Returns what can be released: the next range, with an adjacent end of this one.
constexpr Range CloseRanges(Ranges *ranges) {
  const Range current = ranges->current, next = ranges->next;
  const int64_t issued = current.left < ranges->size ? current.last - current.left : ranges->issued,
                floor = ranges->floor;
  *ranges = {};
  ranges->issued = issued;
  ranges->floor = floor;
  if (next.left == 0) return current;
  const bool follows = current.left > 0 && current.last == next.next() - 1;
  return {next.last, next.left + (follows ? current.left : 0)};
}

}  // namespace snowflake
