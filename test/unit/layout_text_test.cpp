// Definitions of layouts, against a model that takes ids apart bit by bit.
#include "core/layout_text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/named_layouts.h"
#include "length.h"
#include "random.h"

namespace snowflake {
namespace {
constexpr std::string_view kNames[] = {"time", "sec", "ms", "datacenter", "worker", "seq", "skip"};

struct Model {
  std::vector<IdField> fields;
  std::string text;
};

Model RandomModel(std::mt19937_64 *random) {
  Model model;
  const auto add = [&](FieldKind kind, int32_t bits) {
    if (bits > 0) model.fields.push_back({kind, bits});
  };
  const bool split = Below(random, 3) == 0;
  if (split) {
    add(FieldKind::kSeconds, 1 + static_cast<int32_t>(Below(random, 32)));
    add(FieldKind::kMs, 10 + static_cast<int32_t>(Below(random, 3)));
  } else {
    add(FieldKind::kTime, 1 + static_cast<int32_t>(Below(random, 42)));
  }
  add(FieldKind::kDatacenter, static_cast<int32_t>(Below(random, 4)));
  add(FieldKind::kWorker, static_cast<int32_t>(Below(random, 8)));
  add(FieldKind::kSequence, static_cast<int32_t>(Below(random, 7)));
  for (int64_t skips = Below(random, 3); skips > 0; --skips) add(FieldKind::kSkip, 1);
  for (size_t i = model.fields.size(); i > 1; --i)
    std::swap(model.fields[i - 1], model.fields[Below(random, static_cast<int64_t>(i))]);
  model.text = "epoch=" + std::to_string(Below(random, 1000000000000));
  if (!split && Below(random, 2) == 0) model.text += " tick=" + std::to_string(1 + Below(random, 2000)) + "us";
  for (const IdField &field : model.fields)
    model.text += " " + std::string(kNames[static_cast<int>(field.kind)]) + "=" + std::to_string(field.bits);
  return model;
}

int32_t TotalBits(const Model &model) {
  int32_t bits = 0;
  for (const IdField &field : model.fields) bits += field.bits;
  return bits;
}

// The value of a field in an id, by its distance from the lowest bit.
uint64_t ValueOf(const Model &model, uint64_t id, FieldKind kind) {
  int32_t above = TotalBits(model);
  for (const IdField &field : model.fields) {
    above -= field.bits;
    if (field.kind != kind) continue;
    uint64_t value = 0;
    for (int32_t bit = field.bits - 1; bit >= 0; --bit) value = value * 2 + (id >> (above + bit) & 1);
    return value;
  }
  return 0;
}

int32_t BitsOf(const Model &model, FieldKind kind) {
  for (const IdField &field : model.fields)
    if (field.kind == kind) return field.bits;
  return 0;
}

TEST(LayoutText, ReadsAndWritesAsItsModel) {
  std::mt19937_64 random = SeededRandom(53);
  const int64_t trials = AtLength(2000, 100000);
  int64_t ids = 0;
  for (int64_t trial = 0; trial < trials; ++trial) {
    const Model model = RandomModel(&random);
    const DefinitionReading reading = ReadDefinition(model.text);
    ASSERT_EQ(reading.fault == DefinitionFault::kTooWide, TotalBits(model) > 64) << model.text;
    if (reading.fault != DefinitionFault::kNone) continue;
    const LayoutDefinition &definition = reading.definition;
    ASSERT_EQ(definition.total_bits(), TotalBits(model)) << model.text;
    for (int i = 0; i < 20; ++i, ++ids) {
      const uint64_t id = TotalBits(model) == 64 ? random() : random() & ((uint64_t{1} << TotalBits(model)) - 1);
      const uint64_t ms = ValueOf(model, id, FieldKind::kMs);
      Parts parts;
      ASSERT_EQ(definition.Unpack(static_cast<int64_t>(id), &parts), ms < 1000) << model.text << " " << id;
      if (ms >= 1000) continue;
      const bool split = BitsOf(model, FieldKind::kMs) > 0;
      EXPECT_EQ(static_cast<uint64_t>(parts.tick),
                split ? ValueOf(model, id, FieldKind::kSeconds) * 1000 + ms : ValueOf(model, id, FieldKind::kTime))
          << model.text << " " << id;
      EXPECT_EQ(static_cast<uint64_t>(parts.worker), ValueOf(model, id, FieldKind::kDatacenter)
                                                             << BitsOf(model, FieldKind::kWorker) |
                                                         ValueOf(model, id, FieldKind::kWorker));
      EXPECT_EQ(static_cast<uint64_t>(parts.sequence), ValueOf(model, id, FieldKind::kSequence));
      ASSERT_EQ(definition.Fits(parts), PartsFault::kNone) << model.text << " " << id;
      Parts again;
      ASSERT_TRUE(definition.Unpack(definition.Pack(parts), &again));
      EXPECT_EQ(again, parts) << model.text;
      if (definition.IsPlain()) {
        EXPECT_EQ(definition.layout.Pack(parts), definition.Pack(parts)) << model.text;
      }
      if (TotalBits(model) < 64) {
        EXPECT_FALSE(definition.Unpack(static_cast<int64_t>(id | uint64_t{1} << TotalBits(model)), &again));
      }
    }
  }
  std::cout << "trials " << trials << " of definitions, " << ids << " ids" << std::endl;
}

TEST(LayoutText, OrderedIdsGrowWithTime) {
  std::mt19937_64 random = SeededRandom(53);
  uint64_t ordered = 0;
  for (int64_t trial = 0; trial < AtLength(2000, 100000); ++trial) {
    const DefinitionReading reading = ReadDefinition(RandomModel(&random).text);
    const LayoutDefinition &definition = reading.definition;
    if (reading.fault != DefinitionFault::kNone || !definition.IsOrdered() || definition.total_bits() > 63) continue;
    ++ordered;
    const Tick tick = Below(&random, definition.max_tick() + 1);
    const int32_t worker = static_cast<int32_t>(definition.layout.worker_count() - 1);
    const int32_t sequence = static_cast<int32_t>(definition.layout.sequence_count() - 1);
    if (tick < definition.max_tick()) {
      EXPECT_LT(definition.Pack({tick, worker, sequence}), definition.Pack({tick + 1, 0, 0}));
    }
    EXPECT_NE(definition.Fits({definition.max_tick() + 1, 0, 0}), PartsFault::kNone);
  }
  EXPECT_GT(ordered, 100u);
}

TEST(LayoutText, NamedLayoutsAreWhatTheirDefinitionsSay) {
  for (const NamedLayout &named : kNamedLayouts) {
    char text[kMaxDefinition];
    WriteDefinition(named.layout, text);
    ASSERT_LT(std::strlen(text), sizeof(text));
    const DefinitionReading reading = ReadDefinition(text);
    ASSERT_EQ(reading.fault, DefinitionFault::kNone) << text;
    EXPECT_TRUE(reading.definition.IsPlain()) << text;
    EXPECT_EQ(reading.definition.layout, named.layout) << text;
    EXPECT_TRUE(IsCanonical(text, reading)) << text;
  }
}

// A database's layout goes through its text unchanged, and no other text is stored for it.
TEST(LayoutText, EachLayoutHasOneCanonicalText) {
  std::mt19937_64 random = SeededRandom(54);
  int64_t sound = 0;
  for (int64_t trial = 0; trial < AtLength(20000, 1000000); ++trial) {
    const auto bits = [&](int64_t most) { return static_cast<int32_t>(Below(&random, most + 1)); };
    const int64_t units[] = {1, 1000, 1000000};
    Layout layout = {Below(&random, kMaxEpochMs + 1),
                     (1 + Below(&random, 2000)) * units[Below(&random, 3)],
                     bits(63),
                     bits(10),
                     bits(31),
                     bits(31),
                     Below(&random, 2) == 0};
    if (layout.Fault(false) != LayoutFault::kNone) continue;
    if (layout.sequence_bits == 0 || layout.node_bits() == 0) layout.sequence_first = false;
    ++sound;
    char text[kMaxDefinition];
    WriteDefinition(layout, text);
    const DefinitionReading reading = ReadDefinition(text);
    ASSERT_EQ(reading.fault, DefinitionFault::kNone) << text;
    ASSERT_EQ(reading.definition.layout, layout) << text;
    ASSERT_TRUE(IsCanonical(text, reading)) << text;
    // A space more, a unit that is smaller, another order.
    for (const std::string &other : {std::string(text) + " ", " " + std::string(text), "skip=1 " + std::string(text)}) {
      ASSERT_FALSE(IsCanonical(other, ReadDefinition(other))) << other;
    }
  }
  EXPECT_GT(sound, 100);
}

TEST(LayoutText, AnEpochMayBeADay) {
  const auto epoch_of = [](const std::string &epoch) {
    const DefinitionReading reading = ReadDefinition("epoch=" + epoch + " time=30");
    return reading.fault == DefinitionFault::kNone ? reading.definition.layout.epoch_ms : -1;
  };
  // All days, counted one by one.
  int64_t days = 0;
  for (int year = 1970; year <= 9999; ++year) {
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int month = 1; month <= 12; ++month)
      for (int day = 1; day <= 32; ++day) {
        char text[32];
        std::snprintf(text, sizeof(text), "%d-%02d-%02d", year, month, day);
        ASSERT_EQ(epoch_of(text), day <= lengths[month - 1] ? days++ * 86400000 : -1) << text;
      }
  }
  for (const char *none :
       {"1969-12-31", "10000-01-01", "2025-00-01", "2025-13-01", "2025-01-00", "2025-1-01", "2025-01-1", "2025-01-01T",
        "+025-01-01", "2025/01/01", "-2025-01-01", "2025-01-01 00:00", "0x", ""})
    EXPECT_EQ(epoch_of(none), -1) << none;
}

TEST(LayoutText, TheWidestDefinitionHasRoom) {
  char text[kMaxDefinition];
  WriteDefinition({kMaxEpochMs, kMaxTickUs - 1, 63, 10, 31, 31, true}, text);
  EXPECT_LT(std::strlen(text), sizeof(text) - 1);
}

}  // namespace
}  // namespace snowflake
