// The ids of a quiet system, one in each tick, are spread evenly over id % n for every n up to 128.
// So all shards, partitions and buckets get the same share. If every tick starts at sequence 0 this
// is not so, and the same test shows it.
//
// The measure is Pearson's chi-squared against equal shares. A chi-squared variable of k degrees of
// freedom exceeds k + 2 sqrt(k x) + 2 x with a probability below exp(-x). With x = 35 that is
// 6.3e-16 for one n and 8.1e-14 for all 127 of a sample. For all samples of a run together it is
// less than 1e-9, whatever seed SNOWFLAKE_SEED gives. That holds even if the true distribution of
// the measure, with a thousand and more expected in each class, has a tail a hundred times as
// thick.
//
// Optimized: it takes a second or a few, and ten or more without.
#include "core/generator.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int kMostClasses = 128;
constexpr int kTicks = 1 << 18;

double Limit(int classes) {
  const double k = classes - 1, x = 35;
  return k + 2 * std::sqrt(k * x) + 2 * x;
}

double ChiSquared(const std::vector<int64_t> &ids, int classes) {
  std::vector<int64_t> counts(static_cast<size_t>(classes));
  for (const int64_t id : ids) ++counts[static_cast<size_t>(id % classes)];
  const double expected = static_cast<double>(ids.size()) / classes;
  double sum = 0;
  for (const int64_t count : counts)
    sum += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected);
  return sum / expected;
}

// One id in each of many ticks, `gap` ticks apart or, with gap 0, at random up to a second.
std::vector<int64_t> QuietIds(std::mt19937_64 *random, const Layout &layout, int64_t jitter, Tick gap) {
  Generator g = {};
  Lease lease = {};
  lease.lease_id = 1;
  lease.worker = static_cast<int32_t>((*random)() % static_cast<uint64_t>(layout.worker_count()));
  lease.window_start = layout.TickAt(1767225600000000);  // 2026-01-01
  lease.window_end = layout.max_tick() + 1;
  Open(&g, layout, lease);

  std::vector<int64_t> ids;
  ids.reserve(kTicks);
  Tick now = lease.window_start;
  for (int i = 0; i < kTicks; ++i) {
    const uint64_t limit = static_cast<uint64_t>(FreshLimit(layout, jitter));
    const Decision d = Take(&g, now, 1, {5, static_cast<int64_t>((*random)() % limit)});
    if (d.outcome != Outcome::kRun) std::abort();
    ids.push_back(layout.Pack({d.run.tick, d.run.worker, d.run.sequence}));
    now += gap > 0 ? gap : 1 + static_cast<Tick>((*random)() % 1000);
  }
  return ids;
}

std::vector<int> Uneven(const std::vector<int64_t> &ids) {
  std::vector<int> uneven;
  for (int classes = 2; classes <= kMostClasses; ++classes)
    if (ChiSquared(ids, classes) > Limit(classes)) uneven.push_back(classes);
  return uneven;
}

std::vector<int> Multiples(int of) {
  std::vector<int> multiples;
  for (int classes = of; classes <= kMostClasses; classes += of) multiples.push_back(classes);
  return multiples;
}

// With jitter every n passes; without it every even n fails by far.
TEST(Spread, OneIdInEachTickIsEvenWithJitterAndNotWithout) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Tick gap : {Tick{1}, Tick{0}}) {
    SCOPED_TRACE(gap == 1 ? "every tick" : "now and then");
    const std::vector<int64_t> with = QuietIds(&random, kDefaultLayout, 128, gap);
    const std::vector<int64_t> without = QuietIds(&random, kDefaultLayout, 0, gap);
    EXPECT_EQ(Uneven(with), std::vector<int>());
    // For an odd n the ticks alone make the shares even.
    EXPECT_EQ(Uneven(without), Multiples(2));
    // All ids are in one class of two.
    EXPECT_EQ(ChiSquared(without, 2), kTicks);
    EXPECT_LT(ChiSquared(with, 2), Limit(2));
    std::cout << "figures: chi-squared for n = 2, 3, 100, 128 with jitter";
    for (const int classes : {2, 3, 100, 128}) std::cout << " " << ChiSquared(with, classes);
    std::cout << ", without";
    for (const int classes : {2, 3, 100, 128}) std::cout << " " << ChiSquared(without, classes);
    std::cout << ", limits";
    for (const int classes : {2, 3, 100, 128}) std::cout << " " << Limit(classes);
    std::cout << std::endl;
  }
}

// Why the jitter is 128 and a power of two: the test detects smaller values and other factors.
TEST(Spread, LessJitterIsSeen) {
  std::mt19937_64 random = SeededRandom(20250101);
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 64, 1)), Multiples(128));
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 32, 1)), Multiples(64));
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 2, 1)), Multiples(4));
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 1, 1)), Multiples(2));
  // 96 = 32 * 3: evens out n of up to 32 as a factor of two, and favours the lower half of 64.
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 96, 1)), Multiples(64));
}

// For a narrow sequence field the jitter is smaller: 1/32 of its numbers.
TEST(Spread, ANarrowSequenceSpreadsAsFarAsItsJitter) {
  std::mt19937_64 random = SeededRandom(20250101);
  const Layout layout = {1735689600000, 1000, 41, 0, 5, 7, false};
  ASSERT_EQ(FreshLimit(layout, 128), 4);
  EXPECT_EQ(Uneven(QuietIds(&random, layout, 128, 1)), Multiples(8));
}

}  // namespace
}  // namespace snowflake
