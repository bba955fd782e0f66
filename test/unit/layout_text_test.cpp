// Definitions of layouts, against a model that takes ids apart bit by bit.
#include "core/layout_text.h"

#include <gtest/gtest.h>

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
      ASSERT_EQ(definition.Read(static_cast<int64_t>(id), &parts), ms < 1000) << model.text << " " << id;
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
      ASSERT_TRUE(definition.Read(definition.Write(parts), &again));
      EXPECT_EQ(again, parts) << model.text;
      if (definition.IsPlain()) {
        EXPECT_EQ(definition.layout.Pack(parts), definition.Write(parts)) << model.text;
      }
      if (TotalBits(model) < 64) {
        EXPECT_FALSE(definition.Read(static_cast<int64_t>(id | uint64_t{1} << TotalBits(model)), &again));
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
      EXPECT_LT(definition.Write({tick, worker, sequence}), definition.Write({tick + 1, 0, 0}));
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
    EXPECT_EQ(reading.definition.layout.Pack({1, 0, 0}), named.layout.Pack({1, 0, 0})) << text;
    EXPECT_EQ(reading.definition.layout.UnixUsAt(12345), named.layout.UnixUsAt(12345)) << text;
  }
}

TEST(LayoutText, TheWidestDefinitionHasRoom) {
  char text[kMaxDefinition];
  WriteDefinition({kMaxEpochMs, kMaxTickUs - 1, 63, 10, 31, 31, true}, text);
  EXPECT_LT(std::strlen(text), sizeof(text) - 1);
}

}  // namespace
}  // namespace snowflake
