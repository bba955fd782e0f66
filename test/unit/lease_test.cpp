// Windows and the ring of worker ids. The choice and the halving are held against models that look at every place.
#include "core/lease.h"

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace snowflake {
namespace {

constexpr int64_t kSecondUs = 1000000;

std::mt19937_64 SeededRandom() {
  const char *given = std::getenv("SNOWFLAKE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20250102;
  std::cout << "seed " << seed << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return std::mt19937_64(seed);
}

int64_t Below(std::mt19937_64 *random, int64_t limit) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(limit));
}

// G1: windows of one worker id never overlap.
TEST(Window, StartsAboveTheWatermarkAndNotBeforeTheClock) {
  EXPECT_EQ(WindowStart(100, kNoWatermark), 100);
  EXPECT_EQ(WindowStart(100, 50), 100);
  EXPECT_EQ(WindowStart(100, 99), 100);
  EXPECT_EQ(WindowStart(100, 100), 101);
  EXPECT_EQ(WindowStart(100, 5000), 5001);
}

TEST(Window, StartsNotBeforeTheEpoch) {
  EXPECT_EQ(WindowStart(-100, kNoWatermark), 0);
  EXPECT_EQ(WindowStart(0, kNoWatermark), 0);
  EXPECT_EQ(WindowStart(-1, kNoWatermark), 0);
  EXPECT_EQ(WindowStart(-100, 0), 1);
}

TEST(Window, LastsAsLongAsTheLease) {
  EXPECT_EQ(WindowEnd(kDefaultLayout, 1000, kMinLeaseUs), 2000);
  EXPECT_EQ(WindowEnd(kDefaultLayout, 0, kMaxLeaseUs), 86400000);
  EXPECT_EQ(WindowEnd({0, 10000, 39, 0, 16, 8, true}, 1000, kMinLeaseUs), 1100);
  EXPECT_EQ(WindowEnd({0, 7, 50, 0, 5, 5, true}, 0, 20), 2) << "rounded down";
}

TEST(Window, IsAtLeastOneTickLong) {
  const Layout days = {0, kMaxTickUs, 20, 0, 10, 12, false};
  EXPECT_EQ(WindowEnd(days, 77, kMinLeaseUs), 78);
  EXPECT_EQ(WindowEnd(days, 77, kMaxLeaseUs), 78);
  EXPECT_EQ(WindowEnd(days, 77, kMaxLeaseUs - 1), 78);
}

// G7: no window covers a tick that the layout cannot hold.
TEST(Window, EndsWithTheLayout) {
  const Tick last = kDefaultLayout.max_tick();
  EXPECT_EQ(WindowEnd(kDefaultLayout, last - 1000, kSecondUs), last);
  EXPECT_EQ(WindowEnd(kDefaultLayout, last - 999, kSecondUs), last + 1);
  EXPECT_EQ(WindowEnd(kDefaultLayout, last - 998, kSecondUs), last + 1);
  EXPECT_EQ(WindowEnd(kDefaultLayout, last, kSecondUs), last + 1);
  EXPECT_EQ(WindowEnd(kDefaultLayout, last + 1, kSecondUs), last + 1);
  EXPECT_EQ(WindowEnd(kDefaultLayout, std::numeric_limits<Tick>::max(), kSecondUs), last + 1);
  const Layout short_lived = {0, 1000, 3, 0, 10, 12, false};
  EXPECT_EQ(WindowEnd(short_lived, 0, kMaxLeaseUs), 8) << "a lease longer than the layout";
}

TEST(Window, AnImplausibleLeaseIsNotBelieved) {
  const Layout &layout = kDefaultLayout;
  const Tick limit = layout.max_tick() + 1;
  const Lease good = {1, {}, 0, 100, 200};
  const auto with = [&good](int32_t worker, Tick start, Tick end) {
    Lease lease = good;
    lease.worker = worker;
    lease.window_start = start;
    lease.window_end = end;
    return lease;
  };
  EXPECT_TRUE(IsPlausible(layout, good));
  EXPECT_TRUE(IsPlausible(layout, with(1023, 0, limit)));
  EXPECT_TRUE(IsPlausible(layout, with(0, limit, limit))) << "empty, but it hurts nobody";
  EXPECT_FALSE(IsPlausible(layout, with(-1, 100, 200)));
  EXPECT_FALSE(IsPlausible(layout, with(1024, 100, 200)));
  EXPECT_FALSE(IsPlausible(layout, with(0, -1, 200)));
  EXPECT_FALSE(IsPlausible(layout, with(0, 201, 200)));
  EXPECT_FALSE(IsPlausible(layout, with(0, 100, limit + 1)));
}

TEST(Ring, OffsetsCountFromTheStartRoundAndRound) {
  EXPECT_EQ(RingOffset(5, 5, 16), 0);
  EXPECT_EQ(RingOffset(6, 5, 16), 1);
  EXPECT_EQ(RingOffset(4, 5, 16), 15);
  EXPECT_EQ(RingOffset(0, 15, 16), 1);
  EXPECT_EQ(RingOffset(37, 5, 16), 0);
  EXPECT_EQ(RingOffset(5, 37, 16), 0);
  EXPECT_EQ(RingOffset(0, 0, 1), 0);
  for (int64_t place = -40; place < 40; ++place)
    for (int64_t start = -40; start < 40; ++start) {
      const int64_t offset = RingOffset(place, start, 7);
      ASSERT_TRUE(offset >= 0 && offset < 7);
      ASSERT_EQ((start + offset - place) % 7, 0);
    }
}

struct Place {
  bool used = false;
  bool live = false;
  Tick watermark = kNoWatermark;
};

// The design's words, place by place: the first free one whose watermark is below the clock, else the lowest watermark.
Choice ModelChoice(const std::vector<Place> &ring, const std::vector<bool> &allowed, Tick now) {
  Choice lowest = {false, 0, kNoWatermark};
  for (size_t i = 0; i < ring.size(); ++i) {
    if (ring[i].live || !allowed[i]) continue;
    if (ring[i].watermark < now) return {true, static_cast<int64_t>(i), ring[i].watermark};
    if (!lowest.found || ring[i].watermark < lowest.watermark)
      lowest = {true, static_cast<int64_t>(i), ring[i].watermark};
  }
  return lowest;
}

Choice Choose(const std::vector<Place> &ring, Tick now, int64_t allowed_from, int64_t allowed) {
  WorkerChoice choice(now, static_cast<int64_t>(ring.size()), allowed_from, allowed);
  for (size_t i = 0; i < ring.size(); ++i)
    if (ring[i].used) choice.Offer({static_cast<int64_t>(i), ring[i].live, ring[i].watermark});
  return choice.Finish();
}

TEST(WorkerChoice, AgreesWithAModelThatLooksAtEveryPlace) {
  std::mt19937_64 random = SeededRandom();
  int found = 0, future = 0, none = 0;
  for (int round = 0; round < 60000; ++round) {
    const int64_t size = 1 + Below(&random, 64);
    const int64_t used_percent = Below(&random, 101), live_percent = Below(&random, 101);
    const Tick now = Below(&random, 24) - 3;  // ties, equality and clocks before the epoch are frequent
    std::vector<Place> ring(static_cast<size_t>(size));
    for (Place &place : ring) {
      if (Below(&random, 100) >= used_percent) continue;
      place.used = true;
      place.live = Below(&random, 100) < live_percent;
      place.watermark = Below(&random, 24) - 1;
    }
    const int64_t from = Below(&random, size), arc = Below(&random, 3) == 0 ? size : Below(&random, size + 1);
    std::vector<bool> allowed(static_cast<size_t>(size), false);
    for (int64_t i = 0; i < arc; ++i) allowed[static_cast<size_t>((from + i) % size)] = true;

    const Choice expected = ModelChoice(ring, allowed, now);
    const Choice choice = Choose(ring, now, from, arc);
    ASSERT_EQ(choice.found, expected.found) << "round " << round;
    if (!expected.found) {
      ++none;
      continue;
    }
    ASSERT_EQ(choice.offset, expected.offset) << "round " << round;
    ASSERT_EQ(choice.watermark, expected.watermark) << "round " << round;
    ++(choice.watermark < now ? found : future);
  }
  // The schedule must reach every branch.
  EXPECT_GT(found, 1000);
  EXPECT_GT(future, 1000);
  EXPECT_GT(none, 1000);
}

TEST(WorkerChoice, AnEmptyRegistryGivesTheFirstPlace) {
  WorkerChoice choice(100, 1024, 0, 1024);
  const Choice chosen = choice.Finish();
  EXPECT_TRUE(chosen.found);
  EXPECT_EQ(chosen.offset, 0);
  EXPECT_EQ(chosen.watermark, kNoWatermark);
}

TEST(WorkerChoice, EveryWorkerIdLeased) {
  WorkerChoice choice(100, 4, 0, 4);
  for (int64_t i = 0; i < 4; ++i) choice.Offer({i, true, 10});
  EXPECT_FALSE(choice.Finish().found);
}

TEST(WorkerChoice, NothingAllowed) {
  WorkerChoice choice(100, 4, 2, 0);
  choice.Offer({1, false, 10});
  EXPECT_FALSE(choice.Finish().found);
}

// Round and round: two acquisitions in a row never give one worker id back at once, while others are free.
TEST(WorkerChoice, AWorkerIdIsReusedAsLateAsPossible) {
  const int64_t size = 8;
  std::vector<Place> by_worker(size);
  for (int64_t lease_id = 1; lease_id <= 40; ++lease_id) {
    const int64_t start = lease_id % size;
    std::vector<Place> ring(size);
    for (int64_t worker = 0; worker < size; ++worker)
      ring[static_cast<size_t>(RingOffset(worker, start, size))] = by_worker[static_cast<size_t>(worker)];
    const Choice choice = Choose(ring, 1000 + lease_id, 0, size);
    ASSERT_TRUE(choice.found);
    const int64_t worker = (start + choice.offset) % size;
    EXPECT_EQ(worker, lease_id % size);
    by_worker[static_cast<size_t>(worker)] = {true, false, 1000 + lease_id};  // released at once
  }
}

// The places that stay allowed: of the free ones at `cut` and beyond, the farther half (rounded down), `times` times.
std::vector<size_t> ModelHalved(const std::vector<bool> &live, int64_t cut, int times) {
  std::vector<size_t> free;
  for (size_t i = static_cast<size_t>(cut); i < live.size(); ++i)
    if (!live[i]) free.push_back(i);
  for (int i = 0; i < times; ++i) free.erase(free.begin(), free.begin() + static_cast<int64_t>((free.size() + 1) / 2));
  return free;
}

int64_t Halve(const std::vector<bool> &live, int64_t cut, int times) {
  int64_t count = 0;
  for (size_t i = static_cast<size_t>(cut); i < live.size(); ++i) count += live[i] ? 1 : 0;
  Halving halving(cut, static_cast<int64_t>(live.size()), count, times);
  for (size_t i = static_cast<size_t>(cut); i < live.size(); ++i)
    if (live[i]) halving.Offer(static_cast<int64_t>(i));
  return halving.Finish();
}

TEST(Halving, AgreesWithAModelThatLooksAtEveryPlace) {
  std::mt19937_64 random = SeededRandom();
  int left = 0, used_up = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<bool> live(static_cast<size_t>(1 + Below(&random, 64)));
    const int64_t size = static_cast<int64_t>(live.size());
    const int64_t live_percent = Below(&random, 101);
    for (size_t i = 0; i < live.size(); ++i) live[i] = Below(&random, 100) < live_percent;
    // The first failover from the ring's start, or from an older cut; then again while settling, with other leases.
    int64_t cut = Below(&random, 2) == 0 ? 0 : Below(&random, size + 1);
    for (int again = 0; again < 4; ++again) {
      const int times = static_cast<int>(1 + (Below(&random, 4) == 0 ? Below(&random, 70) : Below(&random, 2)));
      const std::vector<size_t> expected = ModelHalved(live, cut, times);
      const int64_t next = Halve(live, cut, times);
      ASSERT_GE(next, cut) << "round " << round;
      ASSERT_LE(next, size) << "round " << round;
      ASSERT_EQ(ModelHalved(live, next, 0), expected) << "round " << round << " again " << again;
      ++(expected.empty() ? used_up : left);
      cut = next;
      for (int i = 0; i < 3; ++i) {
        const size_t changed = static_cast<size_t>(Below(&random, size));
        live[changed] = !live[changed];
      }
    }
  }
  EXPECT_GT(left, 1000);
  EXPECT_GT(used_up, 1000);
}

TEST(Halving, SeveralFailoversHalveAsOftenAsOneAfterAnother) {
  std::vector<bool> live(1024);
  for (size_t i = 0; i < 16; ++i) live[i * 37] = true;
  int64_t cut = 0;
  for (int times = 1; times <= 12; ++times) {
    cut = Halve(live, cut, 1);
    EXPECT_EQ(ModelHalved(live, cut, 0), ModelHalved(live, Halve(live, 0, times), 0)) << times;
  }
  EXPECT_TRUE(ModelHalved(live, cut, 0).empty());
}

// The two together: what settling forbids, the choice never draws.
TEST(Halving, TheChoiceStaysBeyondTheCut) {
  std::mt19937_64 random = SeededRandom();
  for (int round = 0; round < 5000; ++round) {
    const int64_t size = 2 + Below(&random, 63);
    std::vector<bool> live(static_cast<size_t>(size));
    for (size_t i = 0; i < live.size(); ++i) live[i] = Below(&random, 3) == 0;
    const int64_t cut = Halve(live, 0, 1);
    // The walk starts elsewhere on the ring than the settling did.
    const int64_t walk = Below(&random, size);
    std::vector<Place> ring(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i)
      if (live[static_cast<size_t>(i)]) ring[static_cast<size_t>(RingOffset(i, walk, size))] = {true, true, 5};
    const Choice choice = Choose(ring, 100, RingOffset(cut, walk, size), size - cut);
    ASSERT_EQ(choice.found, !ModelHalved(live, 0, 1).empty());
    if (!choice.found) continue;
    const int64_t place = (walk + choice.offset) % size;
    ASSERT_GE(place, cut);
    ASSERT_FALSE(live[static_cast<size_t>(place)]);
  }
}

}  // namespace
}  // namespace snowflake
