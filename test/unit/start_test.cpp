// The clock of a start: which one is in doubt, and what ends the doubt.
#include "core/start.h"

#include <gtest/gtest.h>

#include "random.h"
#include "times.h"

using namespace snowflake;

namespace {

constexpr int64_t kSign = 1800000000 * kSecond;
constexpr int64_t kBoot = 100 * kSecond;

// A start whose wall clock is so far ahead of the last sign of life.
struct Server {
  ClockReading now;
  StartClock start;

  explicit Server(int64_t ahead_us, int64_t max_leap_us = kDay) : now{kSign + ahead_us, kBoot} {
    start = Compare(now, kSign, max_leap_us);
  }
  bool Pass(int64_t us) {
    now.wall_us += us;
    now.steady_us += us;
    return Look();
  }
  bool Step(int64_t us) {
    now.wall_us += us;
    return Look();
  }
  bool Look() { return Read(&start, now, kDay); }
  bool Believes() const { return IsBelieved(start, now); }
};

}  // namespace

TEST(Start, DoubtsAClockFarAheadOfTheLastSignOfLife) {
  EXPECT_TRUE(Server(kDay).Believes()) << "max_leap itself";
  EXPECT_FALSE(Server(kDay + 1).Believes());
  EXPECT_FALSE(Server(400 * kDay).Believes());
  EXPECT_TRUE(Server(0).Believes());
  EXPECT_TRUE(Server(-400 * kDay).Believes()) << "a clock that is behind";
  EXPECT_TRUE(Server(400 * kDay, 0).Believes()) << "max_leap = 0";
  EXPECT_TRUE(IsBelieved(Compare({kSign, kBoot}, kNoSign, kDay), {kSign, kBoot})) << "no sign of life";
  EXPECT_TRUE(IsBelieved(StartClock{}, {kSign, kBoot}));
}

TEST(Start, BelievesAClockThatKeptItsTime) {
  Server server(400 * kDay);
  EXPECT_FALSE(server.Pass(kHoldUs - 1));
  EXPECT_FALSE(server.Believes());
  EXPECT_TRUE(server.Pass(1)) << "ten minutes";
  EXPECT_TRUE(server.Believes());
  EXPECT_FALSE(server.Pass(kDay)) << "the doubt ends once";
  EXPECT_TRUE(server.Believes());
}

TEST(Start, BelievesAClockThatIsRightAgain) {
  Server server(400 * kDay);
  server.Pass(5 * kMinute);
  EXPECT_TRUE(server.Step(-400 * kDay));
  EXPECT_TRUE(server.Believes());
  Server off(400 * kDay);
  off.Pass(9 * kMinute);
  EXPECT_TRUE(off.Step(-399 * kDay)) << "it was off for max_leap, and nine minutes have passed since";
  Server behind(400 * kDay);
  EXPECT_TRUE(behind.Step(-401 * kDay)) << "before the sign of life";
}

TEST(Start, BeginsAnewAtAnotherDoubtfulTime) {
  for (const int64_t step_us : {kLeapUs + 1, -kLeapUs - 1, 100 * kDay, -100 * kDay}) {
    Server server(400 * kDay);
    server.Pass(kHoldUs - kSecond);
    EXPECT_FALSE(server.Step(step_us));
    EXPECT_FALSE(server.Pass(kHoldUs - 1)) << step_us;
    EXPECT_TRUE(server.Pass(1)) << step_us;
  }
  Server slewed(400 * kDay);
  slewed.Step(kLeapUs);
  EXPECT_TRUE(slewed.Pass(kHoldUs)) << "no step";
}

TEST(Start, DoubtsLateReadings) {
  Server server(400 * kDay);
  const ClockReading wrong = server.now;
  server.Pass(kMinute);
  server.Step(-400 * kDay);
  EXPECT_TRUE(server.Believes());
  EXPECT_FALSE(IsBelieved(server.start, wrong)) << "of another process, which comes late";
  Server late(400 * kDay);
  const ClockReading right = {kSign, kBoot - 1};
  EXPECT_FALSE(Read(&late.start, right, kDay));
  EXPECT_FALSE(late.Believes());
}

// A start that comes while the clock is wrong would take what it wrote for a sign of life.
TEST(Start, DoubtsALeap) {
  Server server(0);
  EXPECT_FALSE(server.Pass(kHour));
  EXPECT_FALSE(server.Step(kDay)) << "max_leap itself";
  EXPECT_FALSE(server.Pass(3 * kDay)) << "time that has passed";
  const ClockReading before = server.now;
  EXPECT_TRUE(server.Step(kDay + 1));
  EXPECT_FALSE(server.Believes());
  EXPECT_EQ(server.start.sign_us, before.wall_us);
  EXPECT_FALSE(server.Pass(kHoldUs - 1));
  Server back = server;
  EXPECT_TRUE(server.Pass(1)) << "it has kept its time";
  EXPECT_TRUE(server.Believes());
  EXPECT_TRUE(back.Step(-kDay)) << "it is right again, ...";
  EXPECT_TRUE(back.Step(400 * kDay)) << "... and wrong again";
  EXPECT_FALSE(back.Believes());
  Server late(0);
  late.Pass(kMinute);
  EXPECT_FALSE(Read(&late.start, {late.now.wall_us + 400 * kDay, late.now.steady_us - 1}, kDay)) << "a late reading";
  EXPECT_FALSE(late.Pass(kMinute));
  EXPECT_TRUE(late.Believes());
  Server followed(0, 0);
  followed.now.wall_us += 400 * kDay;
  EXPECT_FALSE(Read(&followed.start, followed.now, 0)) << "max_leap = 0";
}

TEST(Start, LetsReportWhatAHeldClockShows) {
  const Server server(400 * kDay);
  const auto may = [&](int64_t shown_us) {
    NodeClock clock = {};
    clock.shown_us = shown_us;
    clock.read = server.now;
    return MayReport(server.start, clock, kDay);
  };
  EXPECT_TRUE(may(kSign + kDay)) << "a leap that is held since a crash";
  EXPECT_FALSE(may(kSign + kDay + 1));
  EXPECT_FALSE(may(kSign + 400 * kDay)) << "... or since another wrong time";
}

TEST(Start, BelievesTheOperator) {
  Server server(400 * kDay);
  Believe(&server.start, server.now);
  EXPECT_TRUE(server.Believes());
  Server without_limit(400 * kDay);
  EXPECT_TRUE(Read(&without_limit.start, without_limit.now, 0)) << "max_leap was set to 0";
}

TEST(Start, FindsANewerSignOfLife) {
  Server server(400 * kDay);
  NoteSign(&server.start, kSign - kDay);
  EXPECT_FALSE(server.Look()) << "an older one";
  NoteSign(&server.start, kSign + 500 * kDay);
  EXPECT_FALSE(server.Look()) << "ahead of the clock";
  NoteSign(&server.start, kSign + 399 * kDay);
  EXPECT_TRUE(server.Look());
}

TEST(Start, BearsAnyClock) {
  std::mt19937_64 random = SeededRandom(20261127);
  const int64_t all[] = {INT64_MIN, -kFarthestUs, -1, 0, 1, kSign, kFarthestUs, INT64_MAX - 1, INT64_MAX};
  for (const int64_t wall_us : all)
    for (const int64_t sign_us : all)
      for (const int64_t leap_us : {int64_t{0}, kDay, int64_t{INT32_MAX} * 1000})
        for (const int64_t next_us : all) {
          StartClock start = Compare({wall_us, 1}, sign_us, leap_us);
          const int64_t later_us = 1 + Below(&random, kFarthestUs);
          NoteSign(&start, next_us);
          Read(&start, {next_us, later_us}, leap_us);
          Read(&start, {wall_us, later_us + kHoldUs}, leap_us);
          EXPECT_FALSE(Read(&start, {next_us, 1}, leap_us)) << "a late one";
        }
}
