// What is known of the time, by invented readings: what raises it, what lowers it, and which wall
// clock may be right.
#include "core/known_time.h"

#include <gtest/gtest.h>

#include "random.h"
#include "times.h"

using namespace snowflake;

namespace {

constexpr int64_t kSign = 1800000000 * kSecond;
constexpr int64_t kBoot = 5 * kSecond;
constexpr int64_t kBridge = kMinute;

// A server that is started with a wall clock so far ahead of its last sign of life.
struct Server {
  ClockReading now;
  KnownTime known;

  explicit Server(int64_t ahead_us, int64_t sign_us = kSign) : now{kSign + ahead_us, kBoot} {
    known = KnownBySign(sign_us, kBoot);
    Look();
  }
  bool Look() {
    known = After(known, now, kBridge);
    return MayBe();
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
  bool MayBe(int64_t max_leap_us = kDay) const { return snowflake::MayBe(known, now, max_leap_us); }
  bool IsBehind() const { return IsBehindKnown(known, now, kBridge); }
  int64_t AheadUs() const { return now.wall_us - KnownUs(known, now.steady_us); }
};

}  // namespace

TEST(Known, DoubtsAClockFarAheadOfTheLastSignOfLife) {
  EXPECT_TRUE(Server(kDay).MayBe()) << "max_leap itself";
  EXPECT_FALSE(Server(kDay + 1).MayBe());
  EXPECT_FALSE(Server(400 * kDay).MayBe());
  EXPECT_TRUE(Server(0).MayBe());
  EXPECT_TRUE(Server(-400 * kDay).MayBe());
  EXPECT_TRUE(Server(400 * kDay).MayBe(0)) << "max_leap = 0";
}

TEST(Known, ProtectsNobodyWhereNothingWasIssued) {
  for (const int64_t sign_us : {kNoSign, int64_t{0}, kFirstTimeUs - 1}) {
    const Server server(400 * kDay, sign_us);
    EXPECT_TRUE(server.MayBe()) << sign_us;
    EXPECT_EQ(server.AheadUs(), 0) << "the first reading says what time it is";
  }
  EXPECT_TRUE(MayBe(KnownTime{}, {kSign, kBoot}, kDay));
  EXPECT_FALSE(IsBehindKnown(KnownTime{}, {0, kBoot}, kBridge));
}

// A clock that keeps its time for ten minutes is believed; seconds of a wrong one are not.
TEST(Known, BelievesAClockThatKeptItsTime) {
  Server server(400 * kDay);
  EXPECT_FALSE(server.Pass(kHoldUs - 1));
  EXPECT_TRUE(server.Pass(1)) << "ten minutes";
  EXPECT_EQ(server.AheadUs(), 0);
  EXPECT_TRUE(server.Pass(kDay));
  for (const int64_t step_us : {kLeapUs + 1, -kLeapUs - 1, 100 * kDay, -100 * kDay}) {
    Server stepped(400 * kDay);
    stepped.Pass(kHoldUs - kSecond);
    EXPECT_FALSE(stepped.Step(step_us));
    EXPECT_FALSE(stepped.Pass(kHoldUs - 1)) << step_us;
    EXPECT_TRUE(stepped.Pass(1)) << step_us;
  }
  Server slewed(400 * kDay);
  slewed.Step(kLeapUs);
  EXPECT_TRUE(slewed.Pass(kHoldUs)) << "no step";
}

TEST(Known, IsWhatItWasWhenAWrongClockIsSetRight) {
  Server server(400 * kDay);
  server.Pass(9 * kMinute);
  EXPECT_TRUE(server.Step(-400 * kDay));
  EXPECT_EQ(server.AheadUs(), 0);
  EXPECT_FALSE(server.Step(400 * kDay));
  EXPECT_FALSE(server.Pass(kHoldUs - 1)) << "counted anew";
}

TEST(Known, CountsAnewAfterATimeThatIsBehind) {
  Server server(400 * kDay);
  server.Pass(9 * kMinute);
  server.Step(-800 * kDay);
  server.Pass(2 * kMinute);
  EXPECT_FALSE(server.Step(800 * kDay));
  EXPECT_FALSE(server.Pass(kHoldUs - 1));
  EXPECT_TRUE(server.Pass(1));
}

// Six seconds at a time of two days ago, and back: the known time stays, so the return is no leap.
TEST(Known, StaysWhileTheClockIsBehind) {
  for (const int64_t back_us : {3 * kMinute, 2 * kDay, 500 * kDay}) {
    Server server(0);
    server.Pass(kHour);
    EXPECT_FALSE(server.IsBehind());
    server.Step(-back_us);
    EXPECT_TRUE(server.IsBehind());
    server.Pass(6 * kSecond);
    EXPECT_TRUE(server.Step(back_us));
    EXPECT_EQ(server.AheadUs(), 0) << back_us;
    server.Step(-back_us);
    server.Pass(30 * kDay);
    EXPECT_EQ(server.AheadUs(), -back_us) << "however long";
  }
}

// A server whose clock is behind at its start has signs of life ahead of it.
TEST(Known, TakesASignAheadOfTheClock) {
  Server server(-400 * kDay);
  EXPECT_TRUE(server.IsBehind());
  EXPECT_TRUE(server.MayBe());
  server.Pass(8 * kSecond);
  EXPECT_TRUE(server.Step(400 * kDay));
  EXPECT_FALSE(server.IsBehind());
  EXPECT_FALSE(server.Step(kDay + kSecond)) << "it is not believed whatever it shows then";
}

TEST(Known, LearnsNothingFromAClockThatCannotBeRight) {
  for (const int64_t wall_us : {INT64_MIN, int64_t{-1}, int64_t{0}, kFirstTimeUs - 1}) {
    Server server(0);
    server.Pass(kMinute);
    const KnownTime before = server.known;
    server.now.wall_us = wall_us;
    server.Look();
    server.now.steady_us += kDay;
    server.Look();
    EXPECT_EQ(server.known.offset_us, before.offset_us);
    EXPECT_EQ(server.known.read_us, before.read_us);
    Server young(0, kNoSign);
    young.known = {};
    young.now.wall_us = wall_us;
    young.Look();
    EXPECT_EQ(young.known.read_us, 0) << "nothing is known yet";
    young.now.wall_us = kSign;
    EXPECT_TRUE(young.Look());
    EXPECT_EQ(young.AheadUs(), 0);
  }
}

// Five seconds a night, for ten years.
TEST(Known, FollowsSmallStepsBackSoThatTheyDoNotAddUp) {
  for (const int64_t step_us : {kLeapUs, kLeapUs + 1, 5 * kSecond, 2 * kMinute}) {
    Server server(0);
    for (int night = 0; night < 3650; ++night) {
      server.Step(-step_us);
      EXPECT_FALSE(server.IsBehind()) << step_us << ", night " << night;
      for (int i = 0; i < 11; ++i) server.Pass(kMinute);
      EXPECT_GE(server.AheadUs(), -kLeapUs) << step_us << ", night " << night;
      server.Pass(kDay);
    }
  }
  Server taken_back(0);
  taken_back.Step(-30 * kSecond);
  taken_back.Pass(kHoldUs - 1);
  taken_back.Step(30 * kSecond);
  EXPECT_EQ(taken_back.AheadUs(), 0);
  taken_back.Step(-30 * kSecond);
  taken_back.Pass(kHoldUs - 1);
  EXPECT_EQ(taken_back.AheadUs(), -30 * kSecond) << "counted anew";
}

// A clock that is a little fast, and a second that was removed.
TEST(Known, RisesWithTheClock) {
  Server server(0);
  for (int i = 0; i < 1000; ++i) {
    server.Step(kLeapUs / 2);
    server.Pass(kMinute);
    ASSERT_EQ(server.AheadUs(), 0) << i;
  }
  server.Step(kLeapUs);
  EXPECT_EQ(server.AheadUs(), 0);
}

TEST(Known, BelievesTheOperator) {
  for (const int64_t ahead_us : {400 * kDay, -400 * kDay}) {
    Server server(ahead_us);
    server.known = KnownBy(server.now);
    EXPECT_TRUE(server.MayBe());
    EXPECT_FALSE(server.IsBehind());
    EXPECT_EQ(server.AheadUs(), 0);
  }
}

TEST(Known, FindsANewerSignOfLife) {
  Server server(400 * kDay);
  NoteSign(&server.known, kSign - kDay, server.now.steady_us);
  EXPECT_FALSE(server.Look()) << "an older one";
  NoteSign(&server.known, 0, server.now.steady_us);
  EXPECT_FALSE(server.Look()) << "one that cannot be";
  NoteSign(&server.known, kSign + 399 * kDay, server.now.steady_us);
  EXPECT_TRUE(server.Look());
  KnownTime none = {};
  NoteSign(&none, kSign, kBoot);
  EXPECT_EQ(none.read_us, 0) << "nobody is to be protected";
}

// A process that was stopped comes with a reading from before.
TEST(Known, TakesNoLateReading) {
  Server server(0);
  server.Pass(kHour);
  const KnownTime before = server.known;
  const KnownTime late = After(before, {kSign + 400 * kDay, kBoot}, kBridge);
  EXPECT_EQ(late.step_since_us, before.step_since_us);
  EXPECT_EQ(late.offset_us, before.offset_us);
}

// A server whose clock says nothing of 1970 on a machine that has just booted, nor of a time that is
// as far from 1970 as the machine is old.
TEST(Known, DependsOnNoAgeOfTheMachine) {
  for (const int64_t steady_us : {int64_t{1}, kSecond, 20 * kMinute, kSign}) {
    KnownTime known = After({}, {kSign, steady_us}, kBridge);
    known = After(known, {kSign + 2 * kDay, steady_us + 1}, kBridge);
    EXPECT_FALSE(MayBe(known, {kSign + 2 * kDay, steady_us + 1}, kDay)) << steady_us;
    known = After(known, {kSign + 2 * kDay + kHoldUs, steady_us + 1 + kHoldUs}, kBridge);
    EXPECT_EQ(KnownUs(known, steady_us + 1 + kHoldUs), kSign + 2 * kDay + kHoldUs) << steady_us;
  }
}

TEST(Known, BearsAnyClock) {
  std::mt19937_64 random = SeededRandom(20261129);
  const int64_t all[] = {INT64_MIN, -kFarthestUs, -1, 0, 1, kFirstTimeUs, kSign, kFarthestUs, INT64_MAX - 1, INT64_MAX};
  for (const int64_t wall_us : all)
    for (const int64_t sign_us : all)
      for (const int64_t leap_us : {int64_t{0}, kDay, int64_t{INT32_MAX} * 1000})
        for (const int64_t next_us : all) {
          KnownTime known = KnownBySign(sign_us, 1);
          const int64_t later_us = 1 + Below(&random, kFarthestUs);
          for (const ClockReading &reading :
               {ClockReading{wall_us, 1}, ClockReading{next_us, later_us}, ClockReading{wall_us, later_us + kHoldUs}}) {
            known = After(known, reading, leap_us);
            NoteSign(&known, next_us, reading.steady_us);
            MayBe(known, reading, leap_us);
            IsBehindKnown(known, reading, leap_us);
            KnownUs(known, reading.steady_us);
          }
        }
}
