// The layout of ids: exact inverses, order, rounding down before the epoch, and the limits of
// layouts.
#include "core/layout.h"

#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

struct Named {
  const char *name;
  Layout layout;
};

// Fields: epoch, tick, timestamp, datacenter, worker, sequence, sequence first.
constexpr Layout kTwitter = {1288834974657, 1000, 41, 5, 5, 12, false};
constexpr Layout kClickhouse = {0, 1000, 41, 0, 10, 12, false};
constexpr Layout kDiscord = {1420070400000, 1000, 41, 5, 5, 12, false};
constexpr Layout kInstagram = {1314220021721, 1000, 41, 0, 13, 10, false};
constexpr Layout kMastodon = {0, 1000, 47, 0, 0, 16, false};
constexpr Layout kSonyflake = {1409529600000, 10000, 39, 0, 16, 8, true};
constexpr Layout kPgedge10 = {1672531200000, 1000, 41, 0, 10, 12, true};
constexpr Layout kUidGenerator = {1463673600000, 1000000, 28, 0, 22, 13, false};
constexpr Layout kCockroachdb = {1420070400000, 10, 48, 0, 15, 0, false};
constexpr Layout kYitter = {1582136402000, 1000, 51, 0, 6, 6, false};
constexpr Layout kJavascript = {1735689600000, 1000, 41, 0, 5, 7, false};
constexpr Layout kWidestWorker = {0, 1000, 31, 1, 30, 1, false};
constexpr Layout kDatacentersSequenceFirst = {0, 1000, 40, 3, 7, 13, true};

const std::vector<Named> kLayouts = {
    {"snowflake", kDefaultLayout}, {"twitter", kTwitter},         {"clickhouse", kClickhouse},
    {"discord", kDiscord},         {"instagram", kInstagram},     {"mastodon", kMastodon},
    {"sonyflake", kSonyflake},     {"pgedge_1_0", kPgedge10},     {"uid_generator", kUidGenerator},
    {"cockroachdb", kCockroachdb}, {"yitter", kYitter},           {"javascript", kJavascript},
    {"widest worker", kWidestWorker},
    {"datacenters, sequence first", kDatacentersSequenceFirst},
};

TEST(Layout, EveryLayoutOfTheTableCanBeRead) {
  for (const Named &named : kLayouts) EXPECT_EQ(named.layout.Fault(false), LayoutFault::kNone) << named.name;
}

TEST(Layout, UnpackIsTheInverseOfPackForRandomParts) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Named &named : kLayouts) {
    SCOPED_TRACE(named.name);
    for (int i = 0; i < 5000; ++i) {
      const Parts parts = RandomParts(&random, named.layout, named.layout.max_tick());
      const int64_t id = named.layout.Pack(parts);
      ASSERT_GE(id, 0);
      ASSERT_TRUE(named.layout.HasRoomFor(id));
      ASSERT_TRUE(named.layout.Unpack(id) == parts) << id;
    }
  }
}

TEST(Layout, PackIsTheInverseOfUnpackForEveryIdThatTheLayoutHolds) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Named &named : kLayouts) {
    SCOPED_TRACE(named.name);
    const int unused = 64 - named.layout.total_bits();
    for (int i = 0; i < 5000; ++i) {
      const int64_t id = static_cast<int64_t>(random() >> unused);
      ASSERT_TRUE(named.layout.HasRoomFor(id));
      ASSERT_EQ(named.layout.Pack(named.layout.Unpack(id)), id);
    }
  }
}

// The fields cover every bit below the sign, are adjacent, and do not overlap.
TEST(Layout, FieldsAtTheirLimits) {
  for (const Named &named : kLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    const int32_t worker = static_cast<int32_t>(layout.worker_count() - 1);
    const int32_t sequence = static_cast<int32_t>(layout.sequence_count() - 1);
    const int64_t largest = layout.Pack({layout.max_tick(), worker, sequence});
    EXPECT_EQ(layout.Pack({0, 0, 0}), 0);
    EXPECT_EQ(largest, layout.total_bits() >= 63 ? kMax : (int64_t{1} << layout.total_bits()) - 1);
    EXPECT_EQ(layout.Pack({layout.max_tick(), 0, 0}) + layout.Pack({0, worker, 0}) + layout.Pack({0, 0, sequence}),
              largest);
    EXPECT_TRUE(layout.Unpack(largest) == (Parts{layout.max_tick(), worker, sequence}));
    EXPECT_TRUE(layout.Unpack(0) == (Parts{0, 0, 0}));
  }
}

TEST(Layout, LaterTicksGiveLargerIds) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Named &named : kLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    for (int i = 0; i < 2000; ++i) {
      const Tick tick = Below(&random, layout.max_tick());
      const Parts later = RandomParts(&random, layout, layout.max_tick());
      const int64_t last_of_tick =
          layout.Pack({tick, static_cast<int32_t>(layout.worker_count() - 1),
                       static_cast<int32_t>(layout.sequence_count() - 1)});
      ASSERT_LT(last_of_tick, layout.Pack({tick + 1, 0, 0}));
      ASSERT_LT(last_of_tick, layout.Pack({tick + 1, later.worker, later.sequence}));
    }
  }
}

TEST(Layout, SequenceNumbersRiseWithinATickWhereverTheyLie) {
  for (const Layout &layout : {kDefaultLayout, kPgedge10, kDatacentersSequenceFirst}) {
    for (int32_t sequence = 1; sequence < layout.sequence_count(); ++sequence)
      ASSERT_LT(layout.Pack({77, 5, sequence - 1}), layout.Pack({77, 5, sequence}));
  }
}

TEST(Layout, DatacenterAndWorkerAreOneWorkerId) {
  EXPECT_EQ(kTwitter.datacenter_count(), 32);
  EXPECT_EQ(kTwitter.workers_per_datacenter(), 32);
  EXPECT_EQ(kTwitter.worker_count(), 1024);
  EXPECT_EQ(kTwitter.Pack({0, 11 << 5 | 26, 0}), int64_t{11} << 17 | int64_t{26} << 12);
}

TEST(Layout, TickAtIsTheFloorAlsoBeforeTheEpoch) {
  const Layout tens = {1000, 10000, 39, 0, 16, 8, true};  // 10 ms since 1 s after 1970
  EXPECT_EQ(tens.TickAt(1000000), 0);
  EXPECT_EQ(tens.TickAt(1009999), 0);
  EXPECT_EQ(tens.TickAt(1010000), 1);
  EXPECT_EQ(tens.TickAt(999999), -1);
  EXPECT_EQ(tens.TickAt(990000), -1);
  EXPECT_EQ(tens.TickAt(989999), -2);
  EXPECT_EQ(tens.TickAt(0), -100);
  EXPECT_EQ(tens.TickAt(-1), -101);
}

TEST(Layout, TickAtAndUnixUsAtAreInverse) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Named &named : kLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    for (int i = 0; i < 5000; ++i) {
      const Tick tick = RandomParts(&random, layout, layout.max_tick()).tick;
      ASSERT_EQ(layout.TickAt(layout.UnixUsAt(tick)), tick);
      const int64_t unix_us = static_cast<int64_t>(random()) >> (2 + Below(&random, 60));
      const Tick at = layout.TickAt(unix_us);
      ASSERT_LE(layout.UnixUsAt(at), unix_us);
      ASSERT_LT(unix_us, layout.UnixUsAt(at + 1));
    }
    EXPECT_EQ(layout.TickAt(layout.UnixUsAt(layout.max_tick())), layout.max_tick());
    EXPECT_EQ(layout.TickAt(layout.UnixUsAt(layout.max_tick() + 1) - 1), layout.max_tick());
  }
}

// The sanitizers check that there is no undefined behaviour. The order of times must be kept.
TEST(Layout, AnyTimeIsAllowed) {
  const Layout finest = {kMaxEpochMs, 1, 41, 0, 10, 12, false};
  for (const Layout &layout : {kDefaultLayout, kSonyflake, kUidGenerator, kCockroachdb, finest}) {
    EXPECT_LT(layout.TickAt(kMin), 0);
    EXPECT_LE(layout.TickAt(kMin), layout.TickAt(kMin + 1));
    EXPECT_LE(layout.TickAt(kMin + 1), layout.TickAt(kMin + layout.epoch_us()));
    EXPECT_LT(layout.TickAt(kMin + layout.epoch_us()), layout.TickAt(0));
    EXPECT_LT(layout.TickAt(layout.epoch_us() - 1), layout.TickAt(layout.epoch_us()));
    EXPECT_GT(layout.TickAt(kMax), layout.TickAt(layout.epoch_us()));
    EXPECT_EQ(layout.TickAt(kMax), (kMax - layout.epoch_us()) / layout.tick_us);
  }
}

TEST(Layout, UnixUsAtSaturates) {
  for (const Layout &layout : {kDefaultLayout, kSonyflake, kUidGenerator, kCockroachdb}) {
    EXPECT_EQ(layout.UnixUsAt(kMax), kMax);
    EXPECT_EQ(layout.UnixUsAt(kMin), kMin);
    EXPECT_EQ(layout.UnixUsAt(kMax / layout.tick_us), kMax) << "the product fits, the sum does not";
    EXPECT_EQ(layout.UnixUsAt(0), layout.epoch_us());
    EXPECT_EQ(layout.UnixUsAt(-1), layout.epoch_us() - layout.tick_us);
  }
}

// G7: the ids of a layout from the sign bit on must not turn negative.
TEST(Layout, MaxTickIsThatOfNonNegativeIds) {
  EXPECT_EQ(kDefaultLayout.max_tick(), (int64_t{1} << 41) - 1);
  EXPECT_EQ(kInstagram.max_tick(), (int64_t{1} << 40) - 1);
  EXPECT_EQ(kInstagram.Pack({kInstagram.max_tick(), 8191, 1023}), kMax);
  EXPECT_EQ(kInstagram.Pack({kInstagram.max_tick() + 1, 0, 0}), kMin);
  EXPECT_EQ(kJavascript.max_tick(), (int64_t{1} << 41) - 1);
  EXPECT_EQ(kUidGenerator.max_tick(), (int64_t{1} << 28) - 1);
  EXPECT_EQ((Layout{0, 1, 62, 0, 1, 1, false}.max_tick()), (int64_t{1} << 61) - 1);
  EXPECT_EQ((Layout{0, 1, 2, 0, 31, 31, false}.max_tick()), 1);
}

TEST(Layout, IdsFromTheSignBitOnAreReadToTheirEnd) {
  EXPECT_TRUE(kInstagram.Unpack(-1) == (Parts{(int64_t{1} << 41) - 1, 8191, 1023}));
  EXPECT_TRUE(kInstagram.Unpack(kMin) == (Parts{int64_t{1} << 40, 0, 0}));
  EXPECT_EQ(kInstagram.Pack(kInstagram.Unpack(-123456789)), -123456789);
}

TEST(Layout, HoldsNoIdWithABitAboveItsTimestamp) {
  EXPECT_TRUE(kDefaultLayout.HasRoomFor(0));
  EXPECT_TRUE(kDefaultLayout.HasRoomFor(kMax));
  EXPECT_FALSE(kDefaultLayout.HasRoomFor(-1));
  EXPECT_FALSE(kDefaultLayout.HasRoomFor(kMin));
  EXPECT_TRUE(kJavascript.HasRoomFor((int64_t{1} << 53) - 1));
  EXPECT_FALSE(kJavascript.HasRoomFor(int64_t{1} << 53));
  EXPECT_FALSE(kJavascript.HasRoomFor(-1));
  EXPECT_TRUE(kInstagram.HasRoomFor(-1));
  EXPECT_TRUE(kInstagram.HasRoomFor(kMin));
}

Layout With(int32_t timestamp, int32_t datacenter, int32_t worker, int32_t sequence) {
  return {0, 1, timestamp, datacenter, worker, sequence, false};
}

TEST(LayoutCheck, FieldWidths) {
  const int32_t lowest = std::numeric_limits<int32_t>::min(), highest = std::numeric_limits<int32_t>::max();
  for (const Layout &layout :
       {With(0, 0, 10, 12), With(-1, 0, 10, 12), With(64, 0, 0, 0), With(41, -1, 10, 12), With(41, 0, -1, 12),
        With(41, 0, 10, -1), With(20, 11, 0, 1), With(20, 0, 32, 1), With(20, 0, 1, 32), With(20, 10, 22, 1),
        With(lowest, 0, 0, 0), With(1, lowest, lowest, lowest), With(highest, highest, highest, highest)})
    EXPECT_EQ(layout.Fault(false), LayoutFault::kFieldWidth)
        << layout.timestamp_bits << " " << layout.datacenter_bits << " " << layout.worker_bits << " "
        << layout.sequence_bits;
  for (const Layout &layout : {With(1, 0, 1, 1), With(20, 0, 31, 1), With(20, 0, 1, 31), With(20, 10, 0, 1),
                               With(20, 10, 21, 1), With(62, 0, 0, 0), With(2, 0, 31, 31)})
    EXPECT_EQ(layout.Fault(false), LayoutFault::kNone) << layout.timestamp_bits << " " << layout.datacenter_bits << " "
                                                       << layout.worker_bits << " " << layout.sequence_bits;
}

TEST(LayoutCheck, TooWide) {
  EXPECT_EQ(With(41, 0, 13, 10).Fault(true), LayoutFault::kNone) << "64 bits: from the sign bit on";
  EXPECT_EQ(With(42, 0, 13, 10).Fault(true), LayoutFault::kTooWide);
  EXPECT_EQ(With(63, 0, 31, 31).Fault(true), LayoutFault::kTooWide);
  EXPECT_EQ(With(3, 0, 31, 31).Fault(true), LayoutFault::kTooWide);
}

TEST(LayoutCheck, TickLength) {
  Layout layout = With(20, 0, 10, 12);
  for (int64_t tick_us : {int64_t{0}, int64_t{-1}, kMin, kMaxTickUs + 1, kMax}) {
    layout.tick_us = tick_us;
    EXPECT_EQ(layout.Fault(true), LayoutFault::kTickLength) << tick_us;
  }
  for (int64_t tick_us : {int64_t{1}, int64_t{10}, int64_t{86400} * 1000 * 1000}) {
    layout.tick_us = tick_us;
    EXPECT_EQ(layout.Fault(true), LayoutFault::kNone) << tick_us;
  }
}

TEST(LayoutCheck, Epoch) {
  Layout layout = kDefaultLayout;
  for (int64_t epoch_ms : {int64_t{-1}, kMin, kMaxEpochMs + 1, kMax}) {
    layout.epoch_ms = epoch_ms;
    EXPECT_EQ(layout.Fault(true), LayoutFault::kEpoch) << epoch_ms;
  }
  for (int64_t epoch_ms : {int64_t{0}, int64_t{253402300799000}}) {
    layout.epoch_ms = epoch_ms;
    EXPECT_EQ(layout.Fault(true), LayoutFault::kNone) << epoch_ms;
  }
}

// The first microsecond after the last tick must be representable as an int64.
TEST(LayoutCheck, EndsTooLate) {
  Layout layout = {0, 1000, 53, 0, 5, 5, false};
  const int64_t latest_ms = (kMax - (int64_t{1} << 53) * 1000) / 1000;
  ASSERT_LT(latest_ms, kMaxEpochMs);
  layout.epoch_ms = latest_ms;
  EXPECT_EQ(layout.Fault(true), LayoutFault::kNone);
  layout.epoch_ms = latest_ms + 1;
  EXPECT_EQ(layout.Fault(true), LayoutFault::kEndsTooLate);
  EXPECT_EQ((Layout{0, kMaxTickUs, 26, 0, 10, 12, false}.Fault(true)), LayoutFault::kNone);
  EXPECT_EQ((Layout{0, kMaxTickUs, 27, 0, 10, 12, false}.Fault(true)), LayoutFault::kEndsTooLate);
  EXPECT_EQ(With(63, 0, 0, 1).Fault(false), LayoutFault::kEndsTooLate);
  EXPECT_EQ(With(62, 0, 1, 1).Fault(true), LayoutFault::kNone);
}

TEST(LayoutCheck, WithoutWorkerOrSequenceItIsForReadingOnly) {
  for (const Layout &layout : {kMastodon, kCockroachdb}) {
    EXPECT_EQ(layout.Fault(false), LayoutFault::kNone);
    EXPECT_EQ(layout.Fault(true), LayoutFault::kReadOnly);
  }
  for (const Layout &layout : {kDefaultLayout, kTwitter, kInstagram, kSonyflake, kUidGenerator, kJavascript})
    EXPECT_EQ(layout.Fault(true), LayoutFault::kNone);
}

TEST(Layout, EqualityTakesEveryField) {
  const Layout base = kTwitter;
  EXPECT_TRUE(base == kTwitter);
  for (int field = 0; field < 7; ++field) {
    Layout other = base;
    if (field == 0) ++other.epoch_ms;
    if (field == 1) ++other.tick_us;
    if (field == 2) ++other.timestamp_bits;
    if (field == 3) ++other.datacenter_bits;
    if (field == 4) ++other.worker_bits;
    if (field == 5) ++other.sequence_bits;
    if (field == 6) other.sequence_first = !other.sequence_first;
    EXPECT_TRUE(other != base) << field;
  }
}

}  // namespace
}  // namespace snowflake
