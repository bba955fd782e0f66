// Windows and the ring of worker ids. The choice and the halving are held against models that look at every place.
#include "core/lease.h"

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

// Asked at ticks 90 to 100, for 100 ticks of a millisecond.
TEST(Window, AnImplausibleAnswerIsNotBelieved) {
  const Layout split = {0, 1000, 41, 5, 5, 12, false};
  const Tick last = split.max_tick();
  const auto judge = [&](int64_t lease_id, int32_t worker, Tick start, Tick end, Tick now = 100) {
    return Judge(split, 2, {lease_id, {}, worker, start, end}, now - 10, now, 100 * 1000);
  };
  EXPECT_EQ(judge(1, 64, 100, 200), AnswerFault::kNone);
  EXPECT_EQ(judge(1, 95, 90, 200), AnswerFault::kNone) << "drawn by an earlier request, and moved by this one";
  EXPECT_EQ(judge(1, 64, 150, 250), AnswerFault::kNone) << "above a watermark";
  EXPECT_EQ(judge(1, 64, last, last + 1), AnswerFault::kNone);
  EXPECT_EQ(judge(INT64_MAX, 64, 100, 101), AnswerFault::kNone) << "shorter than was asked for";
  EXPECT_EQ(judge(1, 64, 0, 95, -5), AnswerFault::kNone) << "before the epoch";
  EXPECT_EQ(judge(0, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(-1, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(INT64_MIN, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(1, 63, 100, 200), AnswerFault::kWorker) << "of datacenter 1";
  EXPECT_EQ(judge(1, 96, 100, 200), AnswerFault::kWorker) << "of datacenter 3";
  EXPECT_EQ(judge(1, -1, 100, 200), AnswerFault::kWorker);
  EXPECT_EQ(judge(1, INT32_MAX, 100, 200), AnswerFault::kWorker);
  EXPECT_EQ(judge(1, 64, 89, 200), AnswerFault::kWindow) << "of before the first request";
  EXPECT_EQ(judge(1, 64, 0, 200), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, -1, 95, -5), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, 100, 201), AnswerFault::kWindow) << "longer than was asked for";
  EXPECT_EQ(judge(1, 64, 100, 100), AnswerFault::kWindow) << "empty";
  EXPECT_EQ(judge(1, 64, 100, 99), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, 100, INT64_MAX), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, last + 1, last + 2), AnswerFault::kWindow) << "beyond the layout";
  EXPECT_EQ(judge(1, 64, last, last + 2), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, INT64_MIN, INT64_MAX), AnswerFault::kWindow);
}

TEST(Window, AnImplausibleEndIsNotBelieved) {
  const Layout &layout = kDefaultLayout;
  EXPECT_TRUE(IsPlausibleEnd(layout, 1, 200, 100)) << "short of what is held, which stays";
  EXPECT_TRUE(IsPlausibleEnd(layout, 200, 200, 100));
  EXPECT_TRUE(IsPlausibleEnd(layout, 100 + 86400000, 200, 100));
  EXPECT_TRUE(IsPlausibleEnd(layout, 90000000, 90000000, 100)) << "held since the clock was ahead";
  EXPECT_TRUE(IsPlausibleEnd(layout, 86400000, 0, -5));
  EXPECT_FALSE(IsPlausibleEnd(layout, 100 + 86400001, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, INT64_MAX, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, 0, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, -1, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, INT64_MIN, 200, 100));
}

TEST(Standing, ARaiseFurtherAheadThanClocksMayBeOffIsNotBelieved) {
  const Layout layout = kDefaultLayout;
  EXPECT_TRUE(IsPlausibleRaise(layout, kNoWatermark, 100)) << "nothing was raised";
  EXPECT_TRUE(IsPlausibleRaise(layout, 99, 100));
  EXPECT_TRUE(IsPlausibleRaise(layout, 100 + 86400000 - 1, 100));
  EXPECT_TRUE(IsPlausibleRaise(layout, 86400000 - 1, -5));
  EXPECT_TRUE(IsPlausibleRaise(layout, layout.max_tick(), layout.max_tick()));
  EXPECT_FALSE(IsPlausibleRaise(layout, 100 + 86400000, 100));
  EXPECT_FALSE(IsPlausibleRaise(layout, layout.max_tick() + 1, layout.max_tick()));
  EXPECT_FALSE(IsPlausibleRaise(layout, INT64_MAX, 100));
}

TEST(Standing, AnOlderTimelineOfTheSameServerIsOlder) {
  EXPECT_TRUE(IsOlder({7, 2, kNoWatermark}, 7, 3));
  EXPECT_FALSE(IsOlder({7, 3, kNoWatermark}, 7, 3));
  EXPECT_FALSE(IsOlder({7, 4, kNoWatermark}, 7, 3));
  EXPECT_FALSE(IsOlder({8, 1, kNoWatermark}, 7, 3)) << "another cluster";
  EXPECT_FALSE(IsOlder({7, 1, kNoWatermark}, 0, 0)) << "the first answer";
  EXPECT_FALSE(IsOlder({0, 0, kNoWatermark}, 0, 3)) << "a registry that does not say";
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
