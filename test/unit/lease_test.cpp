// Windows and the ring of worker ids. The choice and the halving are held against models that look at every place.
#include "core/ring.h"

#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kSecondUs = 1000000;

// G1: windows of one worker id never overlap.
TEST(Window, StartsAboveTheWatermarkAndNotBeforeTheClock) {
  EXPECT_EQ(WindowStart(100, kNoWatermark), 100);
  EXPECT_EQ(WindowStart(100, 50), 100);
  EXPECT_EQ(WindowStart(100, 99), 100);
  EXPECT_EQ(WindowStart(100, 100), 101);
  EXPECT_EQ(WindowStart(100, 5000), 5001);
  EXPECT_EQ(WindowStart(100, INT64_MAX - 1), INT64_MAX);
  EXPECT_EQ(WindowStart(100, INT64_MAX), INT64_MAX);
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
  std::mt19937_64 random = SeededRandom(20250102);
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

}  // namespace
}  // namespace snowflake
