// The named layouts: their numbers, ids that their systems published, and that reading and writing
// are exact inverses for every id of the layout.
#include "core/named_layouts.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

constexpr int64_t kSecondUs = 1000000;
constexpr int64_t k2026Us = int64_t{1767225600} * kSecondUs;

const Layout &Of(std::string_view name) {
  const NamedLayout *named = FindNamedLayout(name);
  EXPECT_NE(named, nullptr) << name;
  return named->layout;
}

Tick TopTick(const Layout &layout) { return (int64_t{1} << layout.timestamp_bits) - 1; }
int32_t TopWorker(const Layout &layout) { return static_cast<int32_t>(layout.worker_count() - 1); }
int32_t TopSequence(const Layout &layout) { return static_cast<int32_t>(layout.sequence_count() - 1); }

TEST(NamedLayouts, AreFoundByTheirNameAlone) {
  for (const NamedLayout &named : kNamedLayouts) {
    EXPECT_EQ(FindNamedLayout(named.name), &named);
    EXPECT_EQ(named.name.data()[named.name.size()], '\0') << "messages print it";
    EXPECT_EQ(FindNamedLayout(std::string(named.name) + " "), nullptr);
    EXPECT_EQ(FindNamedLayout(named.name.substr(0, named.name.size() - 1)), nullptr);
  }
  for (std::string_view name : {"", "Snowflake", "SNOWFLAKE", " snowflake", "sonyflake", "flake", "default"})
    EXPECT_EQ(FindNamedLayout(name), nullptr) << name;
  EXPECT_EQ(FindNamedLayout(std::string_view("snowflake\0", 10)), nullptr);
  EXPECT_EQ(FindNamedLayout(std::string_view()), nullptr);
}

// The table of the design, copied by hand.
TEST(NamedLayouts, Numbers) {
  struct Row {
    const char *name;
    int64_t epoch_ms, tick_us;
    int timestamp, datacenter, worker, sequence;
    bool sequence_first;
  };
  const Row rows[] = {
      {"snowflake", 1735689600000, 1000, 41, 0, 10, 12, false},
      {"twitter", 1288834974657, 1000, 41, 5, 5, 12, false},
      {"leaf", 1288834974657, 1000, 41, 0, 10, 12, false},
      {"shardingsphere", 1477929600000, 1000, 41, 0, 10, 12, false},
      {"cosid", 1577203200000, 1000, 41, 0, 10, 12, false},
      {"discord", 1420070400000, 1000, 41, 5, 5, 12, false},
      {"instagram", 1314220021721, 1000, 41, 0, 13, 10, false},
      {"mastodon", 0, 1000, 47, 0, 0, 16, false},
      {"sonyflake_1", 1409529600000, 10000, 39, 0, 16, 8, true},
      {"sonyflake_2", 1735689600000, 10000, 39, 0, 16, 8, true},
      {"pgedge", 1672531200000, 1000, 41, 0, 10, 12, false},
      {"pgedge_1_0", 1672531200000, 1000, 41, 0, 10, 12, true},
      {"uid_generator", 1463673600000, 1000000, 28, 0, 22, 13, false},
      {"clickhouse", 0, 1000, 41, 0, 10, 12, false},
      {"cockroachdb", 1420070400000, 10, 48, 0, 15, 0, false},
      {"yitter", 1582136402000, 1000, 51, 0, 6, 6, false},
      {"javascript", 1735689600000, 1000, 41, 0, 5, 7, false},
      {"pgactive", 1475796139634, 1000, 40, 0, 10, 14, false},
      {"pgdog", 1764184395000, 1000, 41, 0, 10, 12, false},
  };
  ASSERT_EQ(std::size(rows), std::size(kNamedLayouts));
  for (const Row &row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(Of(row.name) == (Layout{row.epoch_ms, row.tick_us, row.timestamp, row.datacenter, row.worker,
                                        row.sequence, row.sequence_first}));
  }
}

TEST(NamedLayouts, Widths) {
  const std::map<std::string_view, int> others = {{"instagram", 64}, {"pgactive", 64}, {"javascript", 53}};
  for (const NamedLayout &named : kNamedLayouts) {
    const auto other = others.find(named.name);
    const int bits = other == others.end() ? 63 : other->second;
    EXPECT_EQ(named.layout.total_bits(), bits) << named.name;
    EXPECT_EQ(named.layout.max_readable_tick() > named.layout.max_tick(), bits == 64) << named.name;
  }
}

// Ids that others published, with the values that they state.
TEST(NamedLayouts, PublishedIds) {
  struct Published {
    const char *layout;
    int64_t id, unix_us;
    int32_t worker, sequence;
  };
  const Published published[] = {
      {"twitter", 1541815603606036480, 1656432460105000, 378, 0},
      {"twitter", 1460323737035677698, 1637003285069000, 338, 2},
      {"clickhouse", 7204436857747984384, 1717671598851000, 205, 0},
      {"clickhouse", 7195516038159417344, 1715544709720000, 484, 0},
      {"discord", 175928847299117063, 1462015105796000, 32, 7},
      {"discord", 762022344856174632, 1601750684704000, 256, 40},
      {"discord", 90339695967350784, 1441609061949000, 3, 0},
      {"discord", 661720242585604096, 1577836800000000, 1, 0},
      {"cosid", 295913926632165376, 1647754577924000, 5, 0},
      {"instagram", 2384288897814875714, 1598449407313000, 2675, 578},
      {"mastodon", 103270115826048975, 1575776913849000, 0, 40911},
      {"cockroachdb", 148656994422095873, 1465436914411040, 1, 0},
      {"leaf", 890399407000784896, 1501122736107000, 1, 0},
      {"leaf", 1116766490855473152, 1555092854595000, 0, 0},
      {"leaf", 1428076403798048768, 1629314921699000, 0, 0},
      {"shardingsphere", 725026630224842752, 1650789418989000, 1, 0},
      {"shardingsphere", 0, 1477929600000000, 0, 0},
      {"shardingsphere", 4194306, 1477929600001000, 0, 2},
      {"shardingsphere", 12582914, 1477929600003000, 0, 2},
      {"pgedge", 170505378935607296, 1713182850175000, 1, 0},
      {"pgedge_1_0", 136169504773242881, 1704996539845000, 1, 0},
      {"yitter", 129053495681099, 1613643603094000, 1, 11},
      {"yitter", 646093214093387, 1739874003097000, 1, 11},
      {"pgactive", 25074801076895745, 1477290714245000, 2, 1},
      {"pgdog", 47839699276046336, 1775590268126000, 42, 0},
      {"pgdog", 47839699276046337, 1775590268126000, 42, 1},
      {"pgdog", 47839699280240640, 1775590268127000, 42, 0},
      {"pgdog", 415268863, 1764184395099000, 7, 4095},
      {"pgdog", 419459072, 1764184395100000, 7, 0},
  };
  for (const Published &known : published) {
    SCOPED_TRACE(known.id);
    const Layout &layout = Of(known.layout);
    ASSERT_TRUE(layout.HasRoomFor(known.id));
    const Parts parts = layout.Unpack(known.id);
    EXPECT_EQ(layout.UnixUsAt(parts.tick), known.unix_us);
    EXPECT_EQ(parts.worker, known.worker);
    EXPECT_EQ(parts.sequence, known.sequence);
    const Parts given = {layout.TickAt(known.unix_us), known.worker, known.sequence};
    ASSERT_EQ(layout.Fits(given), PartsFault::kNone);
    EXPECT_EQ(layout.Pack(given), known.id);
  }
}

// Negative ids included.
TEST(NamedLayouts, IdToPartsAndBackForEveryIdThatTheyHold) {
  std::mt19937_64 random = SeededRandom(20250107);
  for (const NamedLayout &named : kNamedLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    const int unused = 64 - layout.total_bits();
    int negative = 0;
    for (int i = 0; i < 10000; ++i) {
      const int64_t id = static_cast<int64_t>(random() >> unused);
      ASSERT_TRUE(layout.HasRoomFor(id));
      const Parts parts = layout.Unpack(id);
      const Parts again = {layout.TickAt(layout.UnixUsAt(parts.tick)), parts.worker, parts.sequence};
      ASSERT_EQ(layout.Fits(again), PartsFault::kNone) << id;
      ASSERT_EQ(layout.Pack(again), id);
      negative += id < 0;
    }
    EXPECT_EQ(negative > 0, layout.total_bits() == 64);
  }
}

TEST(NamedLayouts, PartsToIdAndBack) {
  std::mt19937_64 random = SeededRandom(20250108);
  for (const NamedLayout &named : kNamedLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    for (int i = 0; i < 10000; ++i) {
      const Parts parts = RandomParts(&random, layout, layout.max_readable_tick());
      // Any microsecond of the tick gives the tick.
      const int64_t unix_us = layout.UnixUsAt(parts.tick) + Below(&random, layout.tick_us);
      const Parts given = {layout.TickAt(unix_us), parts.worker, parts.sequence};
      ASSERT_EQ(layout.Fits(given), PartsFault::kNone);
      const int64_t id = layout.Pack(given);
      ASSERT_TRUE(layout.HasRoomFor(id));
      ASSERT_TRUE(layout.Unpack(id) == parts) << id;
      ASSERT_EQ(id<0, parts.tick> layout.max_tick());
    }
  }
}

// Every combination of lowest, second, last but one and highest.
TEST(NamedLayouts, Extremes) {
  for (const NamedLayout &named : kNamedLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    std::set<int64_t> ids;
    std::set<std::string> parts_seen;
    for (Tick tick : {Tick{0}, Tick{1}, layout.max_tick(), TopTick(layout) - 1, TopTick(layout)})
      for (int32_t worker : {0, 1, TopWorker(layout) - 1, TopWorker(layout)})
        for (int32_t sequence : {0, 1, TopSequence(layout) - 1, TopSequence(layout)}) {
          const Parts parts = {tick, worker, sequence};
          if (worker > TopWorker(layout) || worker < 0 || sequence > TopSequence(layout) || sequence < 0) {
            ASSERT_NE(layout.Fits(parts), PartsFault::kNone);
            continue;
          }
          ASSERT_EQ(layout.Fits(parts), PartsFault::kNone);
          ASSERT_TRUE(layout.Unpack(layout.Pack(parts)) == parts);
          ids.insert(layout.Pack(parts));
          parts_seen.insert(std::to_string(tick) + "." + std::to_string(worker) + "." + std::to_string(sequence));
        }
    EXPECT_EQ(ids.size(), parts_seen.size()) << "different parts are different ids";
    EXPECT_EQ(layout.Pack({0, 0, 0}), 0);
    const int64_t last = layout.total_bits() == 64 ? -1 : layout.total_bits() == 63 ? kMax : (int64_t{1} << 53) - 1;
    EXPECT_EQ(layout.Pack({TopTick(layout), TopWorker(layout), TopSequence(layout)}), last);
  }
  EXPECT_EQ(Of("instagram").Pack({int64_t{1} << 40, 0, 0}), kMin);
}

TEST(NamedLayouts, WhatDoesNotFit) {
  const int32_t lowest = std::numeric_limits<int32_t>::min(), highest = std::numeric_limits<int32_t>::max();
  for (const NamedLayout &named : kNamedLayouts) {
    SCOPED_TRACE(named.name);
    const Layout &layout = named.layout;
    for (Tick tick : {Tick{-1}, kMin, TopTick(layout) + 1, kMax})
      EXPECT_EQ(layout.Fits({tick, 0, 0}), PartsFault::kTick) << tick;
    for (int32_t worker : {-1, lowest, TopWorker(layout) + 1, highest})
      EXPECT_EQ(layout.Fits({0, worker, 0}), PartsFault::kWorker) << worker;
    for (int32_t sequence : {-1, lowest, TopSequence(layout) + 1, highest})
      EXPECT_EQ(layout.Fits({0, 0, sequence}), PartsFault::kSequence) << sequence;
    EXPECT_EQ(layout.Fits({layout.TickAt(layout.epoch_us() - 1), 0, 0}), PartsFault::kTick);
    const int64_t end_us = layout.UnixUsAt(TopTick(layout) + 1);
    EXPECT_EQ(layout.Fits({layout.TickAt(end_us), 0, 0}), PartsFault::kTick);
    EXPECT_EQ(layout.Fits({layout.TickAt(end_us - 1), 0, 0}), PartsFault::kNone);
    EXPECT_EQ(layout.Fits({layout.TickAt(kMin), 0, 0}), PartsFault::kTick);
    EXPECT_EQ(layout.Fits({layout.TickAt(kMax), 0, 0}), PartsFault::kTick);
  }
}

// What snowflake_set_layout() accepts on 2026-01-01.
TEST(NamedLayouts, WhichMayBegin) {
  const std::set<std::string_view> refused = {"mastodon", "cockroachdb",  // only for reading
                                              "uid_generator",            // ended in 2024
                                              "pgactive"};                // negative from 2034 on
  for (const NamedLayout &named : kNamedLayouts)
    EXPECT_EQ(named.layout.MayBegin(k2026Us), refused.count(named.name) == 0) << named.name;
}

TEST(NamedLayouts, TenYearsMustBeLeft) {
  constexpr int64_t ten_years_us = 10 * kUsPerYear;
  EXPECT_EQ(ten_years_us, int64_t{36525} * 86400 * kSecondUs / 10);
  EXPECT_FALSE(Of("uid_generator").MayBegin(Of("uid_generator").epoch_us())) << "it lasts for 8.5 years";
  for (const char *name : {"snowflake", "instagram", "clickhouse", "sonyflake_1"}) {
    SCOPED_TRACE(name);
    const Layout &layout = Of(name);
    // A layout that includes the sign bit ends where ids become negative.
    const int64_t end_us = layout.UnixUsAt(layout.max_tick() + 1);
    EXPECT_TRUE(layout.MayBegin(end_us - ten_years_us));
    EXPECT_FALSE(layout.MayBegin(end_us - ten_years_us + 1));
    EXPECT_FALSE(layout.MayBegin(end_us));
    EXPECT_FALSE(layout.MayBegin(end_us + ten_years_us));
    EXPECT_EQ(layout.UsLeft(end_us), 0);
    EXPECT_EQ(layout.UsLeft(end_us + 1), -1);
    EXPECT_TRUE(layout.MayBegin(layout.epoch_us()));
    EXPECT_FALSE(layout.MayBegin(layout.epoch_us() - 1)) << "an epoch that lies in the future";
  }
}

TEST(NamedLayouts, WhenTheyEnd) {
  struct End {
    const char *name;
    int64_t issues_until_s, read_until_s;
  };
  const End ends[] = {
      {"snowflake", 3934712855, 3934712855},      // 2094-09-07
      {"instagram", 2413731649, 3513243277},      // 2046-06-27, 2081-04-30
      {"uid_generator", 1732109056, 1732109056},  // 2024-11-20
      {"clickhouse", 2199023255, 2199023255},     // 2039-09-07
      {"cockroachdb", 4234820167, 4234820167},    // 2104-03-13
      {"pgactive", 2025551953, 2575307767},       // 2034-03-09, 2051-08-10
      {"pgdog", 3963207650, 3963207650},          // 2095-08-03
  };
  for (const End &end : ends) {
    SCOPED_TRACE(end.name);
    const Layout &layout = Of(end.name);
    EXPECT_EQ(layout.UnixUsAt(layout.max_tick() + 1) / kSecondUs, end.issues_until_s);
    EXPECT_EQ(layout.UnixUsAt(layout.max_readable_tick() + 1) / kSecondUs, end.read_until_s);
  }
}

}  // namespace
}  // namespace snowflake
