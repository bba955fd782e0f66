// Times and ids: comparing ids is comparing timestamps, for every non-negative id, at random and at
// the limits.
#include "core/time_range.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/named_layouts.h"
#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

const Layout &Of(std::string_view name) { return FindNamedLayout(name)->layout; }

bool HasNegative(const Layout &layout) { return layout.total_bits() == 64; }

// The named layouts, and others: longest ticks, shortest ticks, hardly any time, as much time as
// possible.
std::vector<Layout> Layouts() {
  std::vector<Layout> layouts = {{1000, kMaxTickUs, 20, 0, 10, 12, false},
                                 {0, 1, 62, 0, 1, 0, false},
                                 {1577836800000, 7, 50, 3, 4, 6, true},
                                 {0, 1000, 1, 0, 1, 1, false},
                                 {0, 1000, 53, 0, 5, 5, false},
                                 {0, 3, 60, 0, 2, 2, false}};
  for (const NamedLayout &named : kNamedLayouts) layouts.push_back(named.layout);
  for (const Layout &layout : layouts) EXPECT_EQ(layout.Fault(false), LayoutFault::kNone);
  return layouts;
}

// Interesting ticks, and their neighbours.
std::vector<Tick> Ticks(std::mt19937_64 *random, const Layout &layout) {
  std::vector<Tick> ticks;
  for (Tick tick : {Tick{0}, Tick{1}, Tick{2}, layout.max_tick() / 2, layout.max_tick() - 1, layout.max_tick()})
    if (tick >= 0 && tick <= layout.max_tick()) ticks.push_back(tick);
  for (int i = 0; i < 20; ++i) ticks.push_back(RandomParts(random, layout, layout.max_tick()).tick);
  return ticks;
}

// Times at, just before and just after ticks, inside them and far outside the layout.
std::vector<int64_t> Times(std::mt19937_64 *random, const Layout &layout) {
  std::vector<int64_t> times = {kInfinitePast,
                                kInfinitePast + 1,
                                -1,
                                0,
                                1,
                                kInfiniteFuture - 1,
                                kInfiniteFuture,
                                layout.epoch_us() - layout.tick_us,
                                layout.epoch_us() - 1};
  for (Tick tick : Ticks(random, layout)) {
    const int64_t begin = layout.UnixUsAt(tick);
    for (int64_t us : {begin - 1, begin, begin + 1, begin + layout.tick_us - 1, begin + Below(random, layout.tick_us)})
      times.push_back(us);
  }
  const int64_t end = layout.UnixUsAt(layout.max_tick() + 1);
  if (end < kMax) times.push_back(end);
  if (end < kMax - layout.tick_us) times.push_back(end + layout.tick_us);
  return times;
}

std::vector<int64_t> Ids(std::mt19937_64 *random, const Layout &layout) {
  std::vector<int64_t> ids;
  const int32_t worker = static_cast<int32_t>(layout.worker_count() - 1);
  const int32_t sequence = static_cast<int32_t>(layout.sequence_count() - 1);
  for (Tick tick : Ticks(random, layout)) {
    ids.push_back(layout.Pack({tick, 0, 0}));
    ids.push_back(layout.Pack({tick, worker, sequence}));
    Parts parts = RandomParts(random, layout, layout.max_tick());
    parts.tick = tick;
    ids.push_back(layout.Pack(parts));
  }
  return ids;
}

bool Within(const IdSpan &span, int64_t id) {
  switch (span.kind) {
    case SpanKind::kBounded:
      return id >= span.first && id < span.end;
    case SpanKind::kOpen:
      return id >= span.first;
    default:
      return false;
  }
}

bool Within(int64_t unix_us, const Cut &lower, const Cut &upper) {
  return (lower.after ? unix_us > lower.unix_us : unix_us >= lower.unix_us) &&
         (upper.after ? unix_us <= upper.unix_us : unix_us < upper.unix_us);
}

TEST(TimeRange, ComparingWithTheFirstIdIsComparingTimes) {
  std::mt19937_64 random = SeededRandom(20250109);
  for (const Layout &layout : Layouts()) {
    SCOPED_TRACE(layout.total_bits());
    const std::vector<int64_t> ids = Ids(&random, layout);
    for (int64_t unix_us : Times(&random, layout)) {
      int64_t first = 0;
      if (!FirstIdAt(layout, unix_us, &first)) {
        for (int64_t id : ids) ASSERT_LT(layout.UnixUsOf(id), unix_us);
        continue;
      }
      ASSERT_TRUE(layout.HasRoomFor(first));
      ASSERT_GE(first, 0);
      for (int64_t id : ids) ASSERT_EQ(id >= first, layout.UnixUsOf(id) >= unix_us) << id << " " << unix_us;
    }
  }
}

TEST(TimeRange, BeingWithinTheSpanIsBeingWithinTheTimes) {
  std::mt19937_64 random = SeededRandom(20250110);
  for (const Layout &layout : Layouts()) {
    const std::vector<int64_t> ids = Ids(&random, layout);
    const std::vector<int64_t> times = Times(&random, layout);
    int kinds[5] = {};
    for (int64_t from : times)
      for (int64_t to : times) {
        if (to < from) continue;
        for (int bounds = 0; bounds < 4; ++bounds) {
          const Cut lower = {from, (bounds & 1) != 0}, upper = {to, (bounds & 2) != 0};
          const IdSpan span = IdsBetween(layout, lower, upper);
          ++kinds[static_cast<int>(span.kind)];
          if (span.kind == SpanKind::kLowerNegative || span.kind == SpanKind::kUpperNegative) continue;
          for (size_t i = Below(&random, 7); i < ids.size(); i += 7)
            ASSERT_EQ(Within(span, ids[i]), Within(layout.UnixUsOf(ids[i]), lower, upper))
                << ids[i] << " " << from << " " << to << " " << bounds;
        }
      }
    for (SpanKind kind : {SpanKind::kEmpty, SpanKind::kBounded, SpanKind::kOpen})
      EXPECT_GT(kinds[static_cast<int>(kind)], 0);
    EXPECT_EQ(kinds[static_cast<int>(SpanKind::kLowerNegative)] > 0, HasNegative(layout));
    EXPECT_EQ(kinds[static_cast<int>(SpanKind::kUpperNegative)] > 0, HasNegative(layout));
  }
}

TEST(TimeRange, ATimeInsideATickGivesTheNextTicksFirstId) {
  const Layout &seconds = Of("uid_generator");
  int64_t id = -1;
  ASSERT_TRUE(FirstIdAt(seconds, seconds.epoch_us() + 1000000, &id));
  EXPECT_EQ(id, int64_t{1} << 35);
  ASSERT_TRUE(FirstIdAt(seconds, seconds.epoch_us() + 1000001, &id));
  EXPECT_EQ(id, int64_t{2} << 35);
  ASSERT_TRUE(FirstIdAt(seconds, seconds.epoch_us() + 1999999, &id));
  EXPECT_EQ(id, int64_t{2} << 35);
  ASSERT_TRUE(FirstIdAt(seconds, seconds.epoch_us() + 2000000, &id));
  EXPECT_EQ(id, int64_t{2} << 35);
}

TEST(TimeRange, BeforeTheEpochItIsZero) {
  for (const Layout &layout : Layouts())
    for (int64_t unix_us : {kInfinitePast, kInfinitePast + 1, layout.epoch_us() - layout.tick_us, layout.epoch_us() - 1,
                            layout.epoch_us()}) {
      int64_t id = -1;
      ASSERT_TRUE(FirstIdAt(layout, unix_us, &id));
      EXPECT_EQ(id, 0);
    }
}

TEST(TimeRange, AfterTheLastTickThereIsNone) {
  for (const Layout &layout : Layouts()) {
    const int64_t last = layout.UnixUsAt(layout.max_tick());
    int64_t id = -1;
    ASSERT_TRUE(FirstIdAt(layout, last, &id));
    EXPECT_EQ(id, layout.Pack({layout.max_tick(), 0, 0}));
    for (int64_t unix_us : {last + 1, last + layout.tick_us, kInfiniteFuture - 1, kInfiniteFuture})
      EXPECT_FALSE(FirstIdAt(layout, unix_us, &id)) << unix_us;
  }
}

TEST(TimeRange, WhatIsUnboundedOrInfinite) {
  for (const Layout &layout : Layouts()) {
    const IdSpan all = IdsBetween(layout, {kInfinitePast, false}, {kInfiniteFuture, false});
    EXPECT_EQ(all.kind, SpanKind::kOpen);
    EXPECT_EQ(all.first, 0);
    EXPECT_EQ(IdsBetween(layout, {kInfinitePast, true}, {kInfiniteFuture, true}).kind, SpanKind::kOpen);
    for (bool after : {false, true}) {
      EXPECT_EQ(IdsBetween(layout, {kInfinitePast, false}, {kInfinitePast, after}).kind, SpanKind::kEmpty);
      EXPECT_EQ(IdsBetween(layout, {kInfiniteFuture, after}, {kInfiniteFuture, true}).kind, SpanKind::kEmpty);
      EXPECT_EQ(IdsBetween(layout, {kInfinitePast, false}, {layout.epoch_us() - 1, after}).kind, SpanKind::kEmpty);
    }
    const int64_t tick = layout.UnixUsAt(1);
    const IdSpan recent = IdsBetween(layout, {tick, false}, {kInfiniteFuture, false});
    EXPECT_EQ(recent.kind, SpanKind::kOpen);
    EXPECT_EQ(recent.first, layout.Pack({1, 0, 0}));
    const IdSpan early = IdsBetween(layout, {kInfinitePast, false}, {tick, false});
    EXPECT_EQ(early.kind, SpanKind::kBounded);
    EXPECT_EQ(early.first, 0);
    EXPECT_EQ(early.end, layout.Pack({1, 0, 0}));
  }
}

// If ids are negative, they sort before all others.
TEST(TimeRange, TimesAmongNegativeIdsAreRefused) {
  const Layout &layout = Of("instagram");
  const int64_t turn = layout.UnixUsAt(layout.max_tick() + 1);
  const int64_t end = layout.UnixUsAt(layout.max_readable_tick() + 1);
  const Cut early = {layout.epoch_us(), false};
  int64_t id = 0;
  EXPECT_FALSE(FirstIdAt(layout, turn, &id));
  EXPECT_TRUE(FirstIdAt(layout, turn - layout.tick_us, &id));
  // Up to the change of sign, and not beyond it.
  EXPECT_EQ(IdsBetween(layout, early, {turn, false}).kind, SpanKind::kOpen);
  EXPECT_EQ(IdsBetween(layout, early, {turn - 1, true}).kind, SpanKind::kOpen);
  EXPECT_EQ(IdsBetween(layout, early, {turn, true}).kind, SpanKind::kUpperNegative);
  EXPECT_EQ(IdsBetween(layout, early, {turn + 1, false}).kind, SpanKind::kUpperNegative);
  EXPECT_EQ(IdsBetween(layout, early, {end + 1, false}).kind, SpanKind::kUpperNegative);
  EXPECT_EQ(IdsBetween(layout, early, {kInfiniteFuture, true}).kind, SpanKind::kOpen);
  for (const Cut &lower : {Cut{turn - layout.tick_us, true}, Cut{turn, false}, Cut{turn, true}, Cut{end, false}})
    EXPECT_EQ(IdsBetween(layout, lower, {kInfiniteFuture, false}).kind, SpanKind::kLowerNegative) << lower.unix_us;
  EXPECT_EQ(IdsBetween(layout, {turn - layout.tick_us, false}, {turn, false}).kind, SpanKind::kOpen);
}

}  // namespace
}  // namespace snowflake
