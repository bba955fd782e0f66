#include "core/node.h"

#include <gtest/gtest.h>

namespace snowflake {
namespace {

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
  EXPECT_TRUE(IsOlder({7, 2, kNoWatermark}, {7, 3, 1}));
  EXPECT_FALSE(IsOlder({7, 3, kNoWatermark}, {7, 3, 1}));
  EXPECT_FALSE(IsOlder({7, 4, kNoWatermark}, {7, 3, 1}));
  EXPECT_FALSE(IsOlder({8, 1, kNoWatermark}, {7, 3, 1})) << "another cluster";
  EXPECT_FALSE(IsOlder({7, 1, kNoWatermark}, {0, 0, 1})) << "the first answer";
  EXPECT_FALSE(IsOlder({0, 0, kNoWatermark}, {0, 3, 1})) << "a registry that does not say";
}

}  // namespace
}  // namespace snowflake
