// When a node says that ids are about to stop.
#include "core/outlook.h"

#include <gtest/gtest.h>

#include "core/keeper.h"
#include "times.h"

namespace snowflake {
namespace {

// A lease that was extended so long ago, and all is well.
Outlook Since(int64_t since_us, int64_t window_us = 600 * kSecond) { return {true, false, true, window_us, since_us}; }

TEST(Outlook, SilentWhileTheLeaseIsExtended) {
  // Three tries fit into half of a window that is not very short.
  for (const int64_t window_us : {10 * kSecond, 30 * kSecond, 600 * kSecond, 86400 * kSecond})
    EXPECT_EQ(TroubleOf(Since(window_us / Keeper::kExtensionsPerWindow, window_us)), Trouble::kNone) << window_us;
  EXPECT_EQ(TroubleOf(Since(0)), Trouble::kNone);
}

TEST(Outlook, SpeaksAsSoonAsARequestFailed) {
  Outlook outlook = Since(0);
  outlook.failed = true;
  EXPECT_EQ(TroubleOf(outlook), Trouble::kFailed);
  outlook.wanted = outlook.keeper = false;
  EXPECT_EQ(TroubleOf(outlook), Trouble::kFailed);
}

TEST(Outlook, SpeaksWithoutAKeeper) {
  Outlook outlook = Since(0);
  outlook.keeper = false;
  EXPECT_EQ(TroubleOf(outlook), Trouble::kNoKeeper);
  outlook.wanted = false;
  EXPECT_EQ(TroubleOf(outlook), Trouble::kNone);
}

TEST(Outlook, SpeaksWhenHalfOfTheWindowIsOver) {
  for (const int64_t window_us : {10 * kSecond, 30 * kSecond, 600 * kSecond}) {
    EXPECT_EQ(TroubleOf(Since(window_us / 2 - 1, window_us)), Trouble::kNone) << window_us;
    EXPECT_EQ(TroubleOf(Since(window_us / 2, window_us)), Trouble::kLate) << window_us;
  }
}

TEST(Outlook, WaitsForFiveSecondsAtLeast) {
  EXPECT_EQ(TroubleOf(Since(5 * kSecond - 1, 8 * kSecond)), Trouble::kNone);
  EXPECT_EQ(TroubleOf(Since(5 * kSecond, 8 * kSecond)), Trouble::kLate);
}

TEST(Outlook, ButNoLongerThanASecondAfterTheWindow) {
  EXPECT_EQ(TroubleOf(Since(2 * kSecond - 1, kSecond)), Trouble::kNone);
  EXPECT_EQ(TroubleOf(Since(2 * kSecond, kSecond)), Trouble::kLate);
  for (int64_t window_us = kSecond; window_us < 100 * kSecond; window_us += kSecond / 7)
    EXPECT_LE(LateAfterUs(window_us), window_us + kOverUs) << window_us;
}

TEST(Outlook, WithoutALeaseTheRequestCounts) {
  EXPECT_EQ(TroubleOf(Since(0, 0)), Trouble::kNone);
  EXPECT_EQ(TroubleOf(Since(5 * kSecond - 1, 0)), Trouble::kNone);
  EXPECT_EQ(TroubleOf(Since(5 * kSecond, 0)), Trouble::kLate);
  Outlook idle = Since(3600 * kSecond, 0);
  idle.wanted = false;
  EXPECT_EQ(TroubleOf(idle), Trouble::kNone);
}

}  // namespace
}  // namespace snowflake
