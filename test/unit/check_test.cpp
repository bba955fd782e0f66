// The result of checking an id against a registry.
#include "core/check.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/lease.h"

namespace snowflake {
namespace {

constexpr Tick kLatest = 5000;

IdProblem Problem(Tick tick, const LeaseHistory *history, const Layout &layout = kDefaultLayout) {
  return ProblemOf(layout, layout.Pack({tick, 7, 9}), kLatest, history);
}

TEST(Check, AWorkerIdThatWasNeverLeasedHasIssuedNothing) {
  EXPECT_EQ(Problem(0, nullptr), IdProblem::kNeverAssigned);
  EXPECT_EQ(Problem(kLatest, nullptr), IdProblem::kNeverAssigned);
}

TEST(Check, ThoseUpToTheWatermarkMayHaveBeenIssued) {
  const LeaseHistory ended = {1000, 0, 0};
  EXPECT_EQ(Problem(0, &ended), IdProblem::kNone);
  EXPECT_EQ(Problem(1000, &ended), IdProblem::kNone);
  EXPECT_EQ(Problem(1001, &ended), IdProblem::kNeverAssigned);
}

TEST(Check, ThoseOfTheLiveWindowMayHaveBeenIssued) {
  const LeaseHistory live = {1000, 2000, 3000};
  EXPECT_EQ(Problem(1000, &live), IdProblem::kNone);
  EXPECT_EQ(Problem(1001, &live), IdProblem::kNeverAssigned);
  EXPECT_EQ(Problem(1999, &live), IdProblem::kNeverAssigned);
  EXPECT_EQ(Problem(2000, &live), IdProblem::kNone);
  EXPECT_EQ(Problem(2999, &live), IdProblem::kNone);
  EXPECT_EQ(Problem(3000, &live), IdProblem::kNeverAssigned);
  const LeaseHistory first = {kNoWatermark, 0, 10};
  EXPECT_EQ(Problem(0, &first), IdProblem::kNone);
  EXPECT_EQ(Problem(10, &first), IdProblem::kNeverAssigned);
}

// Whatever the registry knows: a window is ahead of every clock.
TEST(Check, TheFutureIsNotWhatWasNeverAssigned) {
  const LeaseHistory live = {kNoWatermark, 0, 100000};
  EXPECT_EQ(Problem(kLatest, &live), IdProblem::kNone);
  EXPECT_EQ(Problem(kLatest + 1, &live), IdProblem::kFuture);
  EXPECT_EQ(Problem(kLatest + 1, nullptr), IdProblem::kFuture);
}

TEST(Check, WhatTheLayoutDoesNotMakeIsForeign) {
  const LeaseHistory all = {kDefaultLayout.max_tick(), 0, 0};
  EXPECT_EQ(ProblemOf(kDefaultLayout, -1, kLatest, &all), IdProblem::kForeign);
  EXPECT_EQ(ProblemOf(kDefaultLayout, std::numeric_limits<int64_t>::min(), kLatest, &all), IdProblem::kForeign);
  constexpr Layout kNarrow = {0, 1000, 41, 0, 5, 7, false};  // 53 bits
  EXPECT_EQ(ProblemOf(kNarrow, int64_t{1} << 53, kLatest, &all), IdProblem::kForeign);
  EXPECT_EQ(ProblemOf(kNarrow, (int64_t{1} << 53) - 1, kLatest, &all), IdProblem::kFuture);
  EXPECT_EQ(ProblemOf(kNarrow, 0, kLatest, &all), IdProblem::kNone);
  // A layout that includes the sign bit can be read there, and has issued nothing.
  constexpr Layout kWhole = {0, 1000, 41, 0, 13, 10, false};
  EXPECT_EQ(ProblemOf(kWhole, -1, kLatest, &all), IdProblem::kForeign);
}

}  // namespace
}  // namespace snowflake
