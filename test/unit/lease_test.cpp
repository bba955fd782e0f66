// Windows and the ring of worker ids. The choice and the halving are compared with models that
// examine every slot.
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

}  // namespace
}  // namespace snowflake
