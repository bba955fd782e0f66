// The node's clock with invented readings: every order of steps, and what holds for all readings.
#include "core/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "times.h"

using namespace snowflake;

namespace {

constexpr int64_t kStart = 1800000000 * kSecond;
constexpr ClockLimits kLimits = {kMinute, kDay};

// Both clocks of a machine, and the clock of a node.
struct World {
  int64_t wall_us = kStart;
  int64_t steady_us = 100 * kSecond;
  ClockLimits limits = kLimits;
  NodeClock clock = {};
  KnownTime known = {};

  World() { Look(); }
  int64_t Look() {
    known = After(known, {wall_us, steady_us}, limits.max_bridge_us);
    Read(&clock, {{wall_us, steady_us}, known}, limits);
    return clock.shown_us;
  }
  // Time passes, with a reading at each interval.
  int64_t Pass(int64_t us, int64_t every_us = kMs, bool frozen = false) {
    for (int64_t passed = 0; passed < us;) {
      const int64_t now = every_us < us - passed ? every_us : us - passed;
      passed += now;
      steady_us += now;
      if (!frozen) wall_us += now;
      Look();
    }
    return clock.shown_us;
  }
  int64_t Step(int64_t us) {
    wall_us += us;
    return Look();
  }
  int64_t Lead() const { return LeadUs(clock); }
};

}  // namespace

TEST(Clock, ShowsTheWallClock) {
  World world;
  EXPECT_EQ(world.clock.shown_us, kStart);
  EXPECT_EQ(world.Pass(kSecond), kStart + kSecond);
  EXPECT_EQ(world.Pass(kHour, kHour), kStart + kHour + kSecond) << "a node that nobody asked for an hour";
  EXPECT_EQ(world.clock.events, 0);
}

TEST(Clock, BridgesAStepBackAtHalfSpeedUntilTwiceTheStep) {
  for (const int64_t step : {kMs, 3 * kMs, 50 * kMs, kSecond, 30 * kSecond, 59 * kSecond}) {
    World world;
    world.Pass(kSecond);
    const int64_t before = world.clock.shown_us;
    EXPECT_EQ(world.Step(-step), before) << step;
    EXPECT_EQ(world.Lead(), step);
    EXPECT_EQ(world.clock.bridged, 1) << step;
    EXPECT_EQ(world.clock.event, ClockEvent::kBridged);
    EXPECT_EQ(world.Pass(step), before + step / 2) << "half speed";
    EXPECT_EQ(world.Lead(), step / 2);
    EXPECT_EQ(world.Pass(step), before + step) << "caught up";
    EXPECT_EQ(world.Lead(), 0);
    EXPECT_EQ(world.clock.mode, ClockMode::kWall);
    EXPECT_EQ(world.Pass(kSecond), before + step + kSecond) << "full speed";
    EXPECT_EQ(world.clock.events, 1) << step;
  }
}

// A caller that reads it every microsecond sees half speed, too.
TEST(Clock, AddsUpShortTimesBetweenReadings) {
  World world;
  const int64_t before = world.Step(-kSecond);
  EXPECT_EQ(world.Pass(10 * kMs, 1), before + 5 * kMs);
  EXPECT_EQ(world.Pass(10 * kMs, 3), before + 10 * kMs);
}

TEST(Clock, BridgesAStepDuringABridge) {
  World world;
  const int64_t before = world.Step(-10 * kSecond);
  world.Pass(kSecond);
  EXPECT_EQ(world.Step(-10 * kSecond), before + kSecond / 2);
  EXPECT_EQ(world.clock.bridged, 2);
  EXPECT_EQ(world.Lead(), 19500 * kMs);
  EXPECT_EQ(world.Step(5 * kSecond), before + kSecond / 2) << "a part of it taken back";
  EXPECT_EQ(world.Lead(), 14500 * kMs);
  EXPECT_EQ(world.Step(20 * kSecond), before + 6 * kSecond) << "and more than that";
  EXPECT_EQ(world.clock.mode, ClockMode::kWall);
}

TEST(Clock, FollowsAStepBackByMoreThanItMayBridge) {
  World world;
  const int64_t before = world.clock.shown_us;
  EXPECT_EQ(world.Step(-kMinute), before) << "just that";
  EXPECT_EQ(world.Step(-kStepUs), before) << "the two clocks are not read in one instant";
  EXPECT_EQ(world.Step(-1), before - kMinute - kStepUs - 1);
  EXPECT_EQ(world.clock.event, ClockEvent::kSteppedBack);
  EXPECT_EQ(world.clock.mode, ClockMode::kWall);
  EXPECT_EQ(world.clock.bridged, 1);
  EXPECT_EQ(world.Pass(kSecond), before - kMinute - kStepUs - 1 + kSecond) << "full speed";
}

TEST(Clock, BridgesNothingWhereNothingMayBeBridged) {
  World world;
  world.limits.max_bridge_us = 0;
  world.Pass(kSecond);
  EXPECT_EQ(world.Step(-kMs), world.wall_us);
  EXPECT_EQ(world.clock.event, ClockEvent::kSteppedBack);
  EXPECT_EQ(world.Pass(kSecond, kMs, true), world.wall_us) << "a clock that stands";
  const int64_t before = world.clock.shown_us;
  EXPECT_EQ(world.Step(-kStepUs), before) << "no step at all";
  EXPECT_EQ(world.Pass(2 * kStepUs, 1), world.wall_us);
  EXPECT_EQ(world.clock.events, 1);
}

TEST(Clock, RunsOnWhereTheWallClockStands) {
  World world;
  const int64_t before = world.clock.shown_us;
  EXPECT_EQ(world.Pass(10 * kSecond, kMs, true), before + 5 * kSecond);
  EXPECT_EQ(world.clock.bridged, 1) << "said once";
  EXPECT_EQ(world.Step(10 * kSecond), before + 10 * kSecond) << "it goes on where it would be";
  EXPECT_EQ(world.clock.mode, ClockMode::kWall);
  EXPECT_EQ(world.Pass(10 * kMinute, kMs, true), world.wall_us + kMinute) << "no further than it may lead";
  EXPECT_EQ(world.Pass(kSecond, kMs, true), world.wall_us + kMinute);
  world.Pass(kSecond);
  EXPECT_EQ(world.Lead(), kMinute - kSecond / 2) << "at half speed from there";
}

TEST(Clock, StandsWithBothClocks) {
  World world;
  const int64_t before = world.Step(-kSecond);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(world.Look(), before);
  EXPECT_EQ(world.clock.bridged, 1);
}

TEST(Clock, TakesNoNoticeOfADrift) {
  for (const int drift : {-100, -10, -1, 1, 10, 100}) {  // per mille
    World world;
    for (int i = 0; i < 100000; ++i) {
      world.steady_us += kMs;
      world.wall_us += kMs + drift;
      ASSERT_EQ(world.Look(), world.wall_us);
    }
    EXPECT_EQ(world.clock.events, 0) << drift;
  }
}

TEST(Clock, TakesNoNoticeOfReadingsThatAreNotOfOneInstant) {
  World world;
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const int64_t before = world.clock.shown_us;
    world.steady_us += static_cast<int64_t>(random() % 1000);
    world.wall_us = kStart + world.steady_us + static_cast<int64_t>(random() % 100);
    ASSERT_GE(world.Look(), before);
  }
  EXPECT_EQ(world.clock.events, 1) << "the start";
}

TEST(Clock, FollowsALeapThatMayBe) {
  World world;
  EXPECT_EQ(world.Step(kHour), kStart + kHour);
  EXPECT_EQ(world.clock.event, ClockEvent::kLeapt);
  EXPECT_EQ(world.Step(kDay - kHour), kStart + kDay) << "just that";
  EXPECT_EQ(world.Step(kSecond), kStart + kDay + kSecond) << "a second is none";
  EXPECT_EQ(world.clock.events, 2);
  EXPECT_EQ(world.Step(2 * kSecond), kStart + kDay + kSecond) << "leaps do not add up";
  EXPECT_EQ(world.clock.event, ClockEvent::kHeld);
}

// A return to a time that was known is no leap, however far the clock stepped back before.
TEST(Clock, FollowsAStepBackThatIsTakenBack) {
  for (const int64_t step_us : {2 * kMinute, 2 * kDay, 400 * kDay}) {
    World world;
    world.Pass(kSecond);
    EXPECT_EQ(world.Step(-step_us), world.wall_us);
    world.Pass(6 * kSecond);
    EXPECT_EQ(world.Step(step_us), kStart + 7 * kSecond) << step_us;
    EXPECT_EQ(world.clock.mode, ClockMode::kWall);
    world.Step(-step_us);
    world.Pass(kHour, kSecond);
    EXPECT_EQ(world.Step(step_us), kStart + kHour + 7 * kSecond) << "though it was kept for long";
  }
}

// What it shows itself is known to be wrong, so it is not held there.
TEST(Clock, FollowsALeapWhereItIsBehindWhatIsKnown) {
  for (const int64_t behind_us : {2 * kMinute, 2 * kMinute + 1}) {
    World world;
    world.limits.max_bridge_us = kMinute;
    world.Step(-behind_us);
    world.clock.shown_us = world.wall_us;
    world.Step(behind_us + 2 * kDay);
    EXPECT_EQ(world.clock.mode, behind_us > 2 * kMinute ? ClockMode::kWall : ClockMode::kHeld) << behind_us;
  }
}

TEST(Clock, RunsOnWhileTheWallClockCannotBeRight) {
  World world;
  world.clock.earliest_us = kStart - 400 * kDay;
  for (const int64_t wall_us : {int64_t{0}, int64_t{-1}, INT64_MIN, kStart - 400 * kDay - kSecond}) {
    World wrong = world;
    wrong.wall_us = wall_us;
    EXPECT_EQ(wrong.Look(), kStart);
    wrong.wall_us = 0;
    EXPECT_EQ(wrong.Pass(kMinute), kStart + kMinute);
    wrong.wall_us = kStart + kMinute;
    EXPECT_EQ(wrong.Look(), kStart + kMinute);
    EXPECT_EQ(wrong.clock.events, 0);
  }
  World never;
  never.clock = {};
  never.clock.earliest_us = kStart;
  never.wall_us = 5;
  EXPECT_EQ(never.Look(), 5) << "there is nothing to run on from";
  never.wall_us = kStart + kHour;
  EXPECT_EQ(never.Look(), kStart + kHour);
}

TEST(Clock, HoldsALeapForTenMinutes) {
  World world;
  world.Pass(kSecond);
  const int64_t before = world.clock.shown_us;
  EXPECT_EQ(world.Step(365 * kDay), before);
  EXPECT_EQ(world.clock.event, ClockEvent::kHeld);
  EXPECT_EQ(world.Lead(), -365 * kDay);
  EXPECT_EQ(world.Pass(kMinute), before + kMinute) << "full speed";
  World back = world;
  EXPECT_EQ(back.Step(-365 * kDay), before + kMinute) << "as if nothing had been";
  EXPECT_EQ(back.clock.mode, ClockMode::kWall);
  EXPECT_EQ(back.clock.events, 1);
  World beyond = world;
  EXPECT_EQ(beyond.Step(-365 * kDay - 10 * kSecond), before + kMinute) << "a step back: bridged";
  EXPECT_EQ(beyond.Lead(), 10 * kSecond);
  EXPECT_EQ(world.Pass(9 * kMinute - kMs), before + 10 * kMinute - kMs);
  EXPECT_EQ(world.Pass(kMs), before + 10 * kMinute + 365 * kDay);
  EXPECT_EQ(world.clock.event, ClockEvent::kFollowed);
  EXPECT_EQ(world.clock.events, 2);
}

// Otherwise a time that lasted for a moment would be followed.
TEST(Clock, HoldsEachOfSeveralLeapsForTenMinutes) {
  for (const int64_t step_us : {365 * kDay, -100 * kDay, 2 * kSecond, -2 * kSecond}) {
    World world;
    world.Step(365 * kDay);
    const int64_t before = world.Pass(9 * kMinute);
    EXPECT_EQ(world.Step(step_us), before);
    EXPECT_EQ(world.clock.events, 2) << "a step";
    EXPECT_EQ(world.Pass(10 * kMinute - kMs), before + 10 * kMinute - kMs) << step_us;
    EXPECT_EQ(world.Pass(kMs), world.wall_us) << step_us;
    EXPECT_EQ(world.clock.event, ClockEvent::kFollowed);
  }
  World slewed;
  slewed.Step(365 * kDay);
  slewed.Pass(9 * kMinute);
  slewed.Step(kLeapUs);
  EXPECT_EQ(slewed.Pass(kMinute), slewed.wall_us) << "no step";
}

// A leap is held from the time when it was noticed, not from the last reading on.
TEST(Clock, HoldsALeapOfAnIdleNode) {
  World world;
  world.steady_us += kHour;
  world.wall_us += kHour + 2 * kDay;
  EXPECT_EQ(world.Look(), kStart + kHour);
  EXPECT_EQ(world.Pass(10 * kMinute - kMs), kStart + kHour + 10 * kMinute - kMs);
  EXPECT_EQ(world.Pass(kMs), world.wall_us);
}

TEST(Clock, FollowsAnyLeapWhereNoneIsHeld) {
  World world;
  world.limits.max_leap_us = 0;
  EXPECT_EQ(world.Step(3650 * kDay), kStart + 3650 * kDay);
}

TEST(Clock, GoesOnWhereItIsTold) {
  World world;
  BridgeTo(&world.clock, kStart - kSecond, kLimits);
  EXPECT_EQ(world.clock.shown_us, kStart) << "never back";
  BridgeTo(&world.clock, kStart + kHour, kLimits);
  EXPECT_EQ(world.clock.shown_us, kStart + kHour);
  EXPECT_EQ(world.Pass(kHour), kStart + kHour + kHour / 2);
  EXPECT_EQ(world.Step(-kMinute / 2), kStart + kHour + kHour / 2) << "a step besides";
  EXPECT_EQ(world.Step(-kMinute), world.wall_us) << "and one that is too much";
  EXPECT_EQ(world.clock.event, ClockEvent::kSteppedBack);
  BridgeTo(&world.clock, world.wall_us + kHour, kLimits);
  world.Pass(2 * kHour);
  EXPECT_EQ(world.Lead(), 0);
  EXPECT_EQ(world.clock.lead_extra_us, 0);
  EXPECT_EQ(world.Step(-kMinute - kStepUs - 1), world.wall_us) << "what it was allowed is gone";
  world.Step(10 * kDay);
  EXPECT_EQ(world.clock.mode, ClockMode::kHeld);
  FollowWall(&world.clock);
  EXPECT_EQ(world.clock.shown_us, world.wall_us);
  EXPECT_EQ(world.Pass(kSecond), world.wall_us);
}

TEST(Clock, TakesNoLateReading) {
  World world;
  world.Pass(kSecond);
  const NodeClock before = world.clock;
  Read(&world.clock, {{kStart - kHour, before.read.steady_us - 1}, world.known}, kLimits);
  Read(&world.clock, {{kStart + kHour, before.read.steady_us - kSecond}, world.known}, kLimits);
  EXPECT_EQ(world.clock.shown_us, before.shown_us);
  EXPECT_EQ(world.clock.events, 0);
}

TEST(Clock, BearsWallClocksThatCannotBe) {
  for (const int64_t wall : {INT64_MIN, INT64_MIN + 1, int64_t{-1}, int64_t{0}, int64_t{1}, INT64_MAX}) {
    for (const int64_t leap : {int64_t{0}, kDay, kFarthestUs}) {
      World world;
      world.limits.max_leap_us = leap;
      world.wall_us = wall;
      world.Look();
      world.steady_us += kHoldUs;
      world.Look();
      world.wall_us = kStart;
      world.Look();
      world.steady_us += kHoldUs;
      world.wall_us += kHoldUs;
      world.Look();
      world.Look();
      EXPECT_GE(world.clock.shown_us, kStart) << wall << " " << leap;
    }
  }
}

// A lowered max_bridge makes no clock step, whatever it leads by.
TEST(Clock, KeepsItsLeadWhenLessMayBeBridged) {
  for (const int64_t lowered_us : {int64_t{0}, kSecond, 29 * kSecond, 59 * kSecond}) {
    World world;
    const int64_t before = world.Step(-30 * kSecond);
    world.limits.max_bridge_us = lowered_us;
    KeepLead(&world.clock, world.limits);
    EXPECT_EQ(world.Pass(10 * kSecond), before + 5 * kSecond) << "half speed";
    EXPECT_EQ(world.Step(-kStepUs), before + 5 * kSecond) << "the two clocks are not read in one instant";
    EXPECT_EQ(world.Pass(50 * kSecond + 2 * kStepUs), world.wall_us);
    EXPECT_EQ(world.clock.events, 1);
    EXPECT_EQ(world.clock.lead_extra_us, 0);
    World stepped;
    stepped.Step(-30 * kSecond);
    stepped.limits.max_bridge_us = lowered_us;
    KeepLead(&stepped.clock, stepped.limits);
    EXPECT_EQ(stepped.Step(-30 * kSecond), stepped.wall_us) << "a step of the clock is one";
  }
}

// Under a container that is started again, with the black box and a monotonic clock of its own.
TEST(Clock, GoesOnUnderAnotherMonotonicClock) {
  for (const int64_t more_us :
       {int64_t{0}, kSecond, kDay, 365 * kDay, -6 * kSecond, -101 * kSecond, 1 - 106 * kSecond}) {
    for (const int64_t step_us : {int64_t{0}, kSecond}) {
      World world;
      world.Pass(kSecond);
      const int64_t before = world.Step(-step_us);
      const NodeClock last = world.clock;
      world.wall_us += 5 * kSecond;
      world.steady_us += 5 * kSecond + more_us;
      world.known = {};
      Resume(&world.clock, {world.wall_us, world.steady_us});
      EXPECT_EQ(world.Look(), world.wall_us) << more_us;
      EXPECT_EQ(world.clock.events, last.events);

      world.clock = last;
      world.wall_us -= 35 * kSecond;
      world.known = {};
      Resume(&world.clock, {world.wall_us, world.steady_us});
      EXPECT_EQ(world.Look(), before) << "the wall clock did step back";
      EXPECT_EQ(world.Pass(kSecond), before + kSecond / 2);
    }
  }
}

// What the monotonic clock shows is believed where the wall clock has moved on by more.
TEST(Clock, HoldsALeapOverARestart) {
  World world;
  world.steady_us += kMinute;
  world.wall_us += 400 * kDay;
  Resume(&world.clock, {world.wall_us, world.steady_us});
  EXPECT_EQ(world.Look(), kStart + kMinute);
  EXPECT_EQ(world.clock.mode, ClockMode::kHeld);
  world.steady_us += 9 * kMinute;
  world.wall_us += 9 * kMinute;
  Resume(&world.clock, {world.wall_us, world.steady_us});
  EXPECT_EQ(world.Look(), kStart + 10 * kMinute);
  EXPECT_EQ(world.Pass(kMinute), world.wall_us) << "the ten minutes are not counted anew";
}

TEST(Clock, HoldsALeapUnderAnotherMonotonicClock) {
  constexpr ClockLimits limits = {kMinute, kDay};
  const ClockReading read = {kFirstTimeUs + kDay, kHour},
                     leapt = {read.wall_us + 400 * kDay + kSecond, kHour + kSecond};
  NodeClock before = {};
  Read(&before, {read, KnownBy(read)}, limits);
  Read(&before, {leapt, KnownBy(read)}, limits);
  ASSERT_EQ(before.mode, ClockMode::kHeld);
  for (const int64_t steady_us : {kHour - 100 * kSecond, kHour + 6 * kSecond, 30 * kDay, 500 * kDay}) {
    for (const int64_t back_us : {int64_t{0}, 400 * kDay}) {
      NodeClock clock = before;
      const ClockReading now = {leapt.wall_us - back_us + 5 * kSecond, steady_us};
      const KnownTime known = KnownBySign(SignOf(clock, now), steady_us);
      Resume(&clock, now);
      Read(&clock, {now, known}, limits);
      EXPECT_EQ(clock.shown_us, read.wall_us + 6 * kSecond) << steady_us;
      EXPECT_EQ(clock.mode, back_us == 0 ? ClockMode::kHeld : ClockMode::kWall) << steady_us;
    }
  }
}

// A start reads the clock that a crash left, perhaps with another monotonic clock.
TEST(Clock, IsASignOfLife) {
  NodeClock clock = {};
  const ClockReading read = {kFirstTimeUs + kDay, kHour};
  Read(&clock, {read, KnownBy(read)}, {kMinute, kDay});
  for (const int64_t steady_us : {kHour + 5 * kSecond, 30 * kDay})
    EXPECT_EQ(SignOf(clock, {read.wall_us + 5 * kSecond, steady_us}), read.wall_us + 5 * kSecond) << steady_us;
  EXPECT_EQ(SignOf(clock, {read.wall_us - kDay, 30 * kDay}), read.wall_us) << "it is not behind what it showed";
  EXPECT_EQ(SignOf(clock, {read.wall_us + 400 * kDay, kHour + kSecond}), read.wall_us + kSecond);
  BridgeTo(&clock, read.wall_us + kDay, {kMinute, kDay});
  EXPECT_EQ(SignOf(clock, {read.wall_us + kSecond, kHour + kSecond}), read.wall_us) << "a lead is no sign";
  Read(&clock, {{read.wall_us + 400 * kDay, kHour + kSecond}, KnownBy(read)}, {kMinute, kDay});
  ASSERT_EQ(clock.mode, ClockMode::kHeld);
  EXPECT_EQ(SignOf(clock, {read.wall_us + 400 * kDay, kHour + kSecond}), clock.shown_us);
}

// Random readings of random steps. Both clocks stand still at times, the monotonic clock does not
// count some suspends, and the limits are of all kinds and change.

TEST(Clock, KeepsItsPromisesWhateverTheReadingsAre) {
  const char *given = std::getenv("SNOWFLAKE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::mt19937_64 random(seed);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const std::vector<int64_t> sizes = {1,       499,         501,   kMs,  3 * kMs,  kSecond,   kMinute - 1,
                                      kMinute, kMinute + 1, kHour, kDay, 2 * kDay, 400 * kDay};
  int64_t readings = 0;
  for (int run = 0; run < 2000; ++run) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", run " + std::to_string(run));
    World world;
    const auto limits = [&] {
      return ClockLimits{std::vector<int64_t>{0, kMs, kMinute, kHour}[below(4)],
                         std::vector<int64_t>{0, kSecond, kDay}[below(3)]};
    };
    world.limits = limits();
    int64_t extra_us = 0;
    for (int i = 0; i < 300; ++i, ++readings) {
      const NodeClock before = world.clock;
      const int64_t passed_us = below(4) == 0   ? 0
                                : below(2) == 0 ? below(kMs)
                                                : sizes[below(static_cast<int64_t>(sizes.size()) - 2)];
      const bool wall_stands = below(20) == 0, steady_stands = below(40) == 0;
      if (!wall_stands) world.wall_us += passed_us;
      if (!steady_stands) world.steady_us += passed_us;
      if (below(6) == 0) world.wall_us += (below(2) == 0 ? 1 : -1) * sizes[below(static_cast<int64_t>(sizes.size()))];
      if (below(20) == 0) {
        const int64_t max_bridge_us = world.limits.max_bridge_us;
        world.limits = limits();
        if (world.limits.max_bridge_us < max_bridge_us) KeepLead(&world.clock, world.limits);
        if (extra_us < LeadUs(world.clock) - world.limits.max_bridge_us)
          extra_us = LeadUs(world.clock) - world.limits.max_bridge_us;
      }
      if (below(50) == 0) {
        BridgeTo(&world.clock, before.shown_us + sizes[below(static_cast<int64_t>(sizes.size()))], world.limits);
        ASSERT_GT(world.clock.shown_us, before.shown_us);
        const int64_t over_us = LeadUs(world.clock) - world.limits.max_bridge_us;
        if (over_us > extra_us) extra_us = over_us;
        continue;
      }
      const NodeClock last = world.clock;
      world.Look();
      const NodeClock &now = world.clock;
      const int64_t steady_us = now.read.steady_us - last.read.steady_us;
      const bool back = now.shown_us < last.shown_us;
      if (back) {
        ASSERT_GT(last.shown_us - world.wall_us, world.limits.max_bridge_us + last.lead_extra_us + kStepUs)
            << "it went back although it might bridge";
        ASSERT_EQ(now.shown_us, world.wall_us);
        ASSERT_EQ(now.event, ClockEvent::kSteppedBack);
      }
      ASSERT_TRUE(now.shown_us >= world.wall_us || now.mode == ClockMode::kHeld);
      ASSERT_LE(now.shown_us - world.wall_us, world.limits.max_bridge_us + extra_us + kStepUs);
      if (now.mode == ClockMode::kHeld) {
        ASSERT_GT(world.limits.max_leap_us, 0);
        ASSERT_EQ(now.shown_us, last.shown_us + steady_us) << "full speed";
        ASSERT_FALSE(MayBe(world.known, now.read, world.limits.max_leap_us));
      } else if (!back) {
        const bool stands = now.shown_us >= world.wall_us + world.limits.max_bridge_us + now.lead_extra_us;
        ASSERT_TRUE(stands || now.shown_us >= last.shown_us + (steady_us - 1) / 2) << "half speed at least";
      }
      if (now.mode == ClockMode::kWall) {
        ASSERT_EQ(now.shown_us, world.wall_us);
        extra_us = 0;
      }
    }
  }
  std::printf("# trials %lld readings, seed %llu\n", static_cast<long long>(readings),
              static_cast<unsigned long long>(seed));
}
