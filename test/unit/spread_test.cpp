// The ids of a quiet system, one in each tick, are spread evenly over id % n for every n up to a
// quarter of a tick's numbers. So all shards, partitions and buckets get the same share. If every
// tick starts at sequence 0 this is not so, and the same test shows it. Nothing is lost for it when
// calls need all numbers.
//
// The measure is Pearson's chi-squared against equal shares. A chi-squared variable of k degrees of
// freedom exceeds k + 2 sqrt(k x) + 2 x with a probability below exp(-x). With x = 35 that is
// 6.3e-16 for one n and 1e-13 for all n of a sample. For all samples of a run together it is less
// than 1e-9, whatever seed SNOWFLAKE_SEED gives. That holds even if the true distribution of the
// measure, with 256 and more expected in each class, has a tail a hundred times as thick.
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

constexpr int kTicks = 1 << 18;

// Every n up to 128, and of those up to 1024 the ones with many factors of two, which the ticks do
// not spread, and round ones.
std::vector<int> Divisors() {
  std::vector<int> all = {200, 250, 500, 1000};
  for (int n = 2; n <= 1024; n += n < 128 ? 1 : 32) all.push_back(n);
  return all;
}

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

// One id in each of many ticks, `gap` ticks apart or, with gap 0, at random up to a second. Each
// starts below `limit`.
std::vector<int64_t> QuietIds(std::mt19937_64 *random, const Layout &layout, int64_t limit, Tick gap) {
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
    const Decision d = Take(&g, now, 1, {5, static_cast<int64_t>((*random)() % static_cast<uint64_t>(limit))});
    if (d.outcome != Outcome::kRun) std::abort();
    ids.push_back(layout.Pack({d.run.tick, d.run.worker, d.run.sequence}));
    now += gap > 0 ? gap : 1 + static_cast<Tick>((*random)() % 1000);
  }
  return ids;
}

std::vector<int> Uneven(const std::vector<int64_t> &ids) {
  std::vector<int> uneven;
  for (const int classes : Divisors())
    if (ChiSquared(ids, classes) > Limit(classes)) uneven.push_back(classes);
  return uneven;
}

std::vector<int> Multiples(int of) {
  std::vector<int> multiples;
  for (const int classes : Divisors())
    if (classes % of == 0) multiples.push_back(classes);
  return multiples;
}

TEST(Spread, OneIdInEachTickIsEvenWithJitterAndNotWithout) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Tick gap : {Tick{1}, Tick{0}}) {
    SCOPED_TRACE(gap == 1 ? "every tick" : "now and then");
    const std::vector<int64_t> with = QuietIds(&random, kDefaultLayout, FreshLimit(kDefaultLayout), gap);
    const std::vector<int64_t> without = QuietIds(&random, kDefaultLayout, 1, gap);
    EXPECT_EQ(Uneven(with), std::vector<int>());
    // For an odd n the ticks alone make the shares even.
    EXPECT_EQ(Uneven(without), Multiples(2));
    // All ids are in one class of two.
    EXPECT_EQ(ChiSquared(without, 2), kTicks);
    EXPECT_LT(ChiSquared(with, 2), Limit(2));
    std::cout << "figures: chi-squared for n = 2, 3, 100, 1024 with jitter";
    for (const int classes : {2, 3, 100, 1024}) std::cout << " " << ChiSquared(with, classes);
    std::cout << ", without";
    for (const int classes : {2, 3, 100, 1024}) std::cout << " " << ChiSquared(without, classes);
    std::cout << ", limits";
    for (const int classes : {2, 3, 100, 1024}) std::cout << " " << Limit(classes);
    std::cout << std::endl;
  }
}

// Why it is no smaller, and a power of two: the test detects smaller values and other factors.
TEST(Spread, LessJitterIsSeen) {
  std::mt19937_64 random = SeededRandom(20250101);
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 512, 1)), Multiples(1024));
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 128, 1)), Multiples(256));
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 2, 1)), Multiples(4));
  // 768 = 256 * 3: evens out n of up to 256 as a factor of two, and favours the lower half of 512.
  EXPECT_EQ(Uneven(QuietIds(&random, kDefaultLayout, 768, 1)), Multiples(512));
}

TEST(Spread, ANarrowSequenceSpreadsAsFarAsItsJitter) {
  std::mt19937_64 random = SeededRandom(20250101);
  const Layout layout = {1735689600000, 1000, 41, 0, 5, 7, false};
  EXPECT_EQ(Uneven(QuietIds(&random, layout, FreshLimit(layout), 1)), Multiples(64));
}

struct Service {
  int64_t issued, ahead, late;
};

// Calls that need `wanted` numbers in each of many ticks, in eight parts of the tick. What is not
// issued at once is asked for again later: it is late. All that is issued may be ahead of the clock
// by one tick.
Service Serve(std::mt19937_64 *random, const Layout &layout, int64_t limit, int64_t wanted) {
  Generator g = {};
  Lease lease = {};
  lease.lease_id = 1;
  lease.window_start = layout.TickAt(1767225600000000);
  lease.window_end = layout.max_tick() + 1;
  Open(&g, layout, lease);
  Service service = {};
  int64_t left = 0;
  for (Tick now = lease.window_start; now < lease.window_start + 10000; ++now)
    for (int part = 0; part < 8; ++part) {
      left += wanted / 8;
      while (left > 0) {
        const int64_t first = static_cast<int64_t>((*random)() % static_cast<uint64_t>(limit));
        const Decision d = Take(&g, now, left, {1, first});
        if (d.outcome != Outcome::kRun) break;
        left -= d.run.count;
        service.issued += d.run.count;
        if (d.lead > 0) service.ahead += d.run.count;
      }
      service.late += left;
    }
  return service;
}

// Why it is no larger: ids are ahead of the clock only if a tick has to issue more than three
// quarters of its numbers. And why it costs no throughput.
TEST(Spread, NothingIsLostIfAllNumbersAreNeeded) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const Layout &layout : {kDefaultLayout, Layout{1735689600000, 1000, 41, 0, 5, 7, false}}) {
    const int64_t numbers = layout.sequence_count(), limit = FreshLimit(layout);
    EXPECT_EQ(Serve(&random, layout, limit, numbers * 3 / 4).ahead, 0);
    EXPECT_EQ(Serve(&random, layout, limit, numbers).late, 0);
    EXPECT_GE(Serve(&random, layout, limit, numbers * 2).issued, numbers * 10000);
    EXPECT_GT(Serve(&random, layout, 2 * limit, numbers * 3 / 4).ahead, 0);
  }
  for (const int64_t wanted : {400, 2000, 3000, 3600, 4000}) {
    std::cout << "figures: " << wanted << " ids in each tick, of which ahead of the clock, at a limit of";
    for (const int64_t limit : {128, 512, 1024, 2048, 4096}) {
      const Service service = Serve(&random, kDefaultLayout, limit, wanted);
      std::cout << " " << limit << ": "
                << 100.0 * static_cast<double>(service.ahead) / static_cast<double>(service.issued) << " %";
    }
    std::cout << std::endl;
  }
}

}  // namespace
}  // namespace snowflake
