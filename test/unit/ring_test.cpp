// Optimized: it takes a second or a few, and ten or more without.
#include "core/ring.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kSecondUs = 1000 * 1000;
constexpr int64_t kDayUs = 86400 * kSecondUs;
constexpr int64_t kClockUs = int64_t{1750000000} * kSecondUs;
constexpr int64_t kDatabase = 16384;
constexpr int64_t kRing = 32;
constexpr int64_t kCommon = CommonSize(kRing);

// By both clocks.
constexpr ClockReading At(int64_t passed_us) { return {kClockUs + passed_us, 1 + passed_us}; }
constexpr ClockReading kClock = At(0);

Origin Recorded() {
  Origin origin = {};
  origin.found = true;
  origin.system_identifier = 7;
  origin.timeline = 2;
  origin.started_us = 5;
  origin.database_oid = kDatabase;
  origin.last_lease_id = 100;
  origin.raised_tick = kNoWatermark;
  origin.counted_us = kClock.steady_us;
  origin.time = KeptSince(kClock);
  return origin;
}

Here There(int64_t passed_us = 0) { return {7, 2, 5, kDatabase, At(passed_us)}; }

// ---------------------------------------------------------------------------------------------------------------------
// Lives
// ---------------------------------------------------------------------------------------------------------------------

TEST(Life, BeginsWithAnotherStartTimelineSystemOrDatabase) {
  EXPECT_TRUE(IsInPlace(Recorded(), There()));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 2, 6, kDatabase, kClock}));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 3, 5, kDatabase, kClock}));
  EXPECT_FALSE(IsInPlace(Recorded(), {8, 2, 5, kDatabase, kClock}));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 2, 5, kDatabase + 1, kClock}));
  EXPECT_FALSE(IsInPlace(Origin{}, There())) << "nothing was recorded yet";
  Origin origin = Recorded();
  origin.clean_us = 1;
  origin.loss_known = true;
  const Here there = {8, 4, 9, kDatabase + 1, kClock};
  BeginLife(&origin, there, kRing, 0);
  EXPECT_TRUE(IsInPlace(origin, there));
  EXPECT_EQ(origin.clean_us, 0);
  EXPECT_FALSE(origin.loss_known);
}

// The loss that is detected.
Loss Moved(Origin origin, const Here &here) { return BeginLife(&origin, here, kRing, 0); }

TEST(Life, OfAnotherTimelineOrSystemTellsOfALoss) {
  EXPECT_EQ(Moved(Recorded(), {7, 3, 9, kDatabase, kClock}), Loss::kFailover);
  EXPECT_EQ(Moved(Recorded(), {7, 1, 9, kDatabase, kClock}), Loss::kFailover) << "an old primary";
  EXPECT_EQ(Moved(Recorded(), {8, 2, 9, kDatabase, kClock}), Loss::kOtherSystem);
  EXPECT_EQ(Moved(Recorded(), {7, 2, 9, kDatabase, kClock}), Loss::kNone) << "a restart";
  EXPECT_EQ(Moved(Recorded(), {7, 2, 5, kDatabase + 1, kClock}), Loss::kNone) << "CREATE DATABASE ... TEMPLATE";
  EXPECT_EQ(Moved(Recorded(), {7, 3, 9, kDatabase + 1, kClock}), Loss::kFailover) << "copied after a promotion";
  EXPECT_EQ(Moved(Recorded(), {8, 2, 9, kDatabase + 1, kClock}), Loss::kOtherSystem);
}

TEST(Life, CountsPromotions) {
  const auto since = [](const Here &here) { return PromotionsSince(Recorded(), here, Moved(Recorded(), here)); };
  EXPECT_EQ(since({7, 3, 9, kDatabase, kClock}), 1);
  EXPECT_EQ(since({7, 5, 9, kDatabase, kClock}), 3) << "of servers that recorded nothing that is left";
  EXPECT_EQ(since({7, 1, 9, kDatabase, kClock}), 1) << "an old primary";
  EXPECT_EQ(since({8, 5, 9, kDatabase, kClock}), 1) << "timelines of different systems cannot be compared";
  EXPECT_EQ(since({7, 2, 9, kDatabase, kClock}), 0) << "a restart";
  EXPECT_EQ(PromotionsSince({}, {7, 5, 9, kDatabase, kClock}, Loss::kEmptyOrigin), 1);
  for (const Loss loss : {Loss::kLease, Loss::kHeldEnd, Loss::kRange, Loss::kSettleCall})
    EXPECT_EQ(PromotionsSince(Recorded(), {7, 2, 9, kDatabase, kClock}, loss), 0);
}

TEST(Life, AFreshMarkOfTheTimelineJustBeforeTellsOfNone) {
  Origin origin = Recorded();
  const Here next = {7, 3, 9, kDatabase, kClock};
  for (int64_t off_us : {int64_t{0}, kCleanLastsUs - 1, 1 - kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(Moved(origin, next), Loss::kNone) << off_us;
  }
  for (int64_t off_us : {kCleanLastsUs, -kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(Moved(origin, next), Loss::kFailover) << "a cold copy's: " << off_us;
  }
  origin.clean_us = kClockUs;
  EXPECT_EQ(Moved(origin, {8, 3, 9, kDatabase, kClock}), Loss::kOtherSystem) << "a server that pg_upgrade made";
  EXPECT_EQ(Moved(origin, {7, 4, 9, kDatabase, kClock}), Loss::kFailover) << "somebody was promoted in between";
  EXPECT_EQ(Moved(origin, {7, 1, 9, kDatabase, kClock}), Loss::kFailover);
}

// How often lives that begin here begin at each slot of the common part.
std::vector<int64_t> Begins(const Origin &origin, const Here &here, int64_t lives) {
  std::mt19937_64 random = SeededRandom(20250109);
  std::vector<int64_t> count(kCommon);
  for (int64_t i = 0; i < lives; ++i) {
    Origin copy = origin;
    BeginLife(&copy, here, kRing, random());
    ++count[static_cast<size_t>(StartSlot(copy.last_lease_id + 1, kCommon))];
  }
  return count;
}

// The bounds are nine standard deviations wide: by chance, a correct count is outside in less than
// one of 10^15 runs.
TEST(Life, OfATemplateBeginsAtAnySlot) {
  constexpr int64_t kLives = 22000;
  Origin origin = Recorded();
  origin.started_us = 0;
  for (const Here &here : {There(), Here{7, 2, 9, kDatabase + 1, kClock}, Here{7, 3, 9, kDatabase, kClock}}) {
    for (int64_t times : Begins(origin, here, kLives)) {
      EXPECT_GT(times, kLives / kCommon - 9 * 32);
      EXPECT_LT(times, kLives / kCommon + 9 * 32);
    }
  }
  EXPECT_EQ(BeginLife(&origin, There(), kRing, 3), Loss::kNone);
  EXPECT_FALSE(IsEvidence(origin, 100));
}

TEST(Life, OfACopiedDatabaseOrARestartedServerBeginsInTheFartherHalf) {
  constexpr int64_t kLives = 22000;
  for (const Here &here : {Here{7, 2, 5, kDatabase + 1, kClock}, Here{7, 2, 9, kDatabase, kClock}}) {
    const std::vector<int64_t> count = Begins(Recorded(), here, kLives);
    const int64_t from = StartSlot(Recorded().last_lease_id, kCommon);
    for (int64_t by = 0; by < kCommon; ++by) {
      const int64_t times = count[static_cast<size_t>((from + by) % kCommon)];
      if (by < kCommon / 2) {
        EXPECT_EQ(times, 0) << "the original goes on there";
      } else {
        EXPECT_GT(times, 2 * kLives / kCommon - 9 * 43);
        EXPECT_LT(times, 2 * kLives / kCommon + 9 * 43);
      }
    }
  }
}

TEST(Life, LeaseIdsJumpToTheSamePlaceOrAfterARestartToTheFartherHalf) {
  std::mt19937_64 random = SeededRandom(20250106);
  for (int i = 0; i < 100000; ++i) {
    const int64_t common = 1 + Below(&random, i % 2 == 0 ? 8 : 700);
    const int64_t last = Below(&random, 1000 * kLeaseIdStride);
    const uint64_t chance = random();
    const int64_t farthest = last + (2 * static_cast<int64_t>(kMostStrides) + 2) * kLeaseIdStride;
    const int64_t same = JumpFrom(last, common, Place::kSame, chance);
    ASSERT_GT(same, last + kLeaseIdStride) << last;
    ASSERT_LT(same, farthest) << last;
    ASSERT_EQ(TurnsBack(same), TurnsBack(last)) << last;
    ASSERT_EQ(StartSlot(same, common), StartSlot(last, common)) << last;
    const int64_t other = JumpFrom(last, common, Place::kFarther, chance);
    ASSERT_GT(other, last) << last;
    ASSERT_LT(other, farthest) << last;
    ASSERT_NE(TurnsBack(other), TurnsBack(last)) << last;
    const int64_t by = (StartSlot(other + 1, common) - StartSlot(last, common) + common) % common;
    ASSERT_GE(TurnsBack(last) ? (common - by) % common : by, common > 1 ? common / 2 : 0) << last;
    const int64_t any = JumpFrom(last, common, Place::kAny, chance);
    ASSERT_GT(any, last + kLeaseIdStride) << last;
    ASSERT_LT(any, farthest) << last;
    ASSERT_EQ(TurnsBack(any), TurnsBack(last)) << last;
  }
  EXPECT_NE(JumpFrom(100, kCommon, Place::kSame, 1), JumpFrom(100, kCommon, Place::kSame, 2));
  EXPECT_EQ(JumpFrom(kHighestLeaseId, kCommon, Place::kFarther, 7), kHighestLeaseId);
}

TEST(Life, AnIdThatWasJumpedOverOrIsAboveTheHighestTellsOfALoss) {
  EXPECT_FALSE(IsEvidence(Recorded(), 100));
  EXPECT_TRUE(IsEvidence(Recorded(), 101));
  EXPECT_TRUE(IsEvidence(Recorded(), kHighestLeaseId)) << "however far above";
  EXPECT_FALSE(IsEvidence(Recorded(), kHighestLeaseId + 1)) << "no registry assigns it";
  EXPECT_FALSE(IsEvidence(Recorded(), std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(IsEvidence(Recorded(), std::numeric_limits<int64_t>::min()));
  Origin origin = Recorded();
  BeginLife(&origin, {7, 2, 9, kDatabase, kClock}, kRing, 3);
  const int64_t to = origin.last_lease_id;
  EXPECT_FALSE(IsEvidence(origin, 100));
  EXPECT_TRUE(IsEvidence(origin, 101));
  EXPECT_TRUE(IsEvidence(origin, to));
  origin.last_lease_id += 5;
  EXPECT_FALSE(IsEvidence(origin, to + 1)) << "assigned in this life";
  origin.loss_known = true;
  EXPECT_FALSE(IsEvidence(origin, 101)) << "of the same loss";
  EXPECT_TRUE(IsEvidence(origin, to + 6)) << "ids have to go on above it";
  GoAbove(&origin, 7);
  EXPECT_EQ(origin.last_lease_id, to + 5);
  GoAbove(&origin, to + 6);
  EXPECT_EQ(origin.last_lease_id, to + 6 + 2 * kLeaseIdStride);
}

// A registry that was put back is restarted before a node calls.
TEST(Life, WithoutALeaseLeavesSkippedIdsSkipped) {
  const Here first = {7, 2, 9, kDatabase, kClock}, second = {7, 2, 10, kDatabase, kClock};
  Origin origin = Recorded();
  BeginLife(&origin, first, kRing, 3);
  const Origin found = origin;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_TRUE(IsEvidence(origin, 101));
  EXPECT_TRUE(IsEvidence(origin, found.jumped.to));
  EXPECT_TRUE(IsEvidence(origin, origin.jumped.to));
  origin = found;
  origin.loss_known = true;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_FALSE(IsEvidence(origin, 101)) << "it was adopted, or has ended";
  origin = found;
  ++origin.last_lease_id;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_FALSE(IsEvidence(origin, origin.jumped.from)) << "it was assigned";
}

TEST(Life, AnyNumberOfLostLivesLeadsToIdsThatLeaseIdsRiseAbove) {
  std::mt19937_64 random = SeededRandom(20250110);
  for (int lives = 1; lives <= 500; ++lives) {
    const Origin old = Recorded();
    Origin lost = old, found = old;
    for (int i = 0; i < lives; ++i) BeginLife(&lost, {7, 2, 10 + i, kDatabase, kClock}, kRing, random());
    BeginLife(&found, {7, 2, 9, kDatabase, kClock}, kRing, random());
    const int64_t named = ++lost.last_lease_id;
    ASSERT_TRUE(IsEvidence(found, named)) << lives;
    GoAbove(&found, named);
    ASSERT_GE(found.last_lease_id, named) << lives;
  }
}

TEST(Life, ARoleCanRaiseLeaseIdsOnlySoFar) {
  Origin origin = Recorded();
  BeginLife(&origin, {7, 2, 9, kDatabase, kClock}, kRing, 3);
  const int64_t before = origin.last_lease_id, highest = before + kFarthestRaise;
  origin.loss_known = true;
  EXPECT_FALSE(IsEvidence(origin, highest + 1)) << "the loss is known, and ids do not rise";
  origin.loss_known = false;
  EXPECT_TRUE(IsEvidence(origin, highest + 1)) << "yet it proves a loss";
  GoAbove(&origin, highest + 1);
  EXPECT_EQ(origin.last_lease_id, before);
  GoAbove(&origin, highest);
  EXPECT_EQ(origin.last_lease_id, highest + 2 * kLeaseIdStride);
  GoAbove(&origin, highest + 2 * kLeaseIdStride + 1);
  EXPECT_EQ(origin.last_lease_id, highest + 2 * kLeaseIdStride) << "once in a life";
  BeginLife(&origin, {7, 2, 10, kDatabase, kClock}, kRing, 4);
  EXPECT_TRUE(IsEvidence(origin, origin.last_lease_id + 1));

  origin.last_lease_id = kHighestLeaseId - 1;
  BeginLife(&origin, {7, 2, 11, kDatabase, kClock}, kRing, 4);
  EXPECT_GT(HighestRaise(origin), kHighestLeaseId) << "nothing overflows";
  EXPECT_FALSE(IsEvidence(origin, std::numeric_limits<int64_t>::max()));
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps of the wall clock
// ---------------------------------------------------------------------------------------------------------------------

Here Stepped(int64_t by_us, int64_t passed_us = 0) {
  Here here = There(passed_us);
  here.clock.wall_us += by_us;
  return here;
}

TEST(Step, SkipsIdsOnce) {
  for (int64_t by_us : {2 * kSecondUs, -2 * kSecondUs}) {
    Origin origin = Recorded();
    NoticeStep(&origin, Stepped(by_us / 2), kRing, 3);
    EXPECT_EQ(origin.last_lease_id, 100) << "clocks are slewed";
    NoticeStep(&origin, Stepped(by_us), kRing, 3);
    const int64_t to = origin.last_lease_id;
    EXPECT_GT(to, 100);
    EXPECT_NE(TurnsBack(to), TurnsBack(100));
    EXPECT_EQ(origin.jumped.to, 0);
    EXPECT_TRUE(IsEvidence(origin, 101));
    EXPECT_TRUE(IsEvidence(origin, to));
    EXPECT_TRUE(HasNews(origin, Stepped(by_us), 0));
    PassTime(&origin, Stepped(by_us), 0);
    NoticeStep(&origin, Stepped(by_us, kHoldUs), kRing, 3);
    PassTime(&origin, Stepped(by_us, kHoldUs), 0);
    NoticeStep(&origin, Stepped(by_us, kHoldUs), kRing, 3);
    EXPECT_EQ(origin.last_lease_id, to) << "the step is known, and then followed";
    origin.last_lease_id += 5;
    NoticeStep(&origin, There(kHoldUs), kRing, 3);
    EXPECT_GT(origin.last_lease_id, to + 5) << "it is taken back";
    EXPECT_FALSE(IsEvidence(origin, to)) << "two stretches are known at most";
    EXPECT_FALSE(IsEvidence(origin, to + 5));
    EXPECT_TRUE(IsEvidence(origin, to + 6));
  }
  Origin unset = Recorded();
  unset.time = {};
  NoticeStep(&unset, There(), kRing, 3);
  EXPECT_EQ(unset.last_lease_id, 100) << "there was no reading before";
}

TEST(Step, WithoutALeaseLeavesSkippedIdsSkipped) {
  Origin origin = Recorded();
  BeginLife(&origin, {7, 2, 5, kDatabase + 1, kClock}, kRing, 3);
  Here here = Stepped(2 * kSecondUs);
  here.database_oid = kDatabase + 1;
  NoticeStep(&origin, here, kRing, 3);
  EXPECT_TRUE(IsEvidence(origin, 101));
  EXPECT_TRUE(IsEvidence(origin, origin.last_lease_id));
  // From then on there are two stretches, also in the next life.
  const int64_t assigned = ++origin.last_lease_id;
  PassTime(&origin, here, 0);
  here.clock.wall_us += 2 * kSecondUs;
  NoticeStep(&origin, here, kRing, 3);
  const int64_t skipped = origin.last_lease_id;
  ++origin.last_lease_id;
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(IsEvidence(origin, 101), life == 0);
    EXPECT_FALSE(IsEvidence(origin, assigned));
    EXPECT_TRUE(IsEvidence(origin, assigned + 1));
    EXPECT_TRUE(IsEvidence(origin, skipped));
    EXPECT_FALSE(IsEvidence(origin, skipped + 1));
    BeginLife(&origin, {7, 2, 10, kDatabase, kClock}, kRing, 4);
  }
  origin.loss_known = true;
  BeginLife(&origin, {7, 2, 11, kDatabase, kClock}, kRing, 4);
  EXPECT_FALSE(IsEvidence(origin, skipped)) << "it was adopted, or has ended";
}

TEST(Step, MayComeWithALossThatIsNotTheKnownOne) {
  Origin origin = Recorded();
  BeginLife(&origin, There(), kRing, 3);
  const int64_t jumped = origin.last_lease_id++;
  Settle(&origin, There(), 10 * kSecondUs, 0);
  Origin settles = origin;
  NoticeStep(&settles, Stepped(2 * kSecondUs), kRing, 3);
  EXPECT_FALSE(IsEvidence(settles, jumped + 2)) << "nothing that may be lost is assigned";
  NoticeStep(&origin, Stepped(2 * kSecondUs, 11 * kSecondUs), kRing, 3);
  EXPECT_TRUE(IsEvidence(origin, jumped + 2));
  EXPECT_FALSE(IsEvidence(origin, jumped)) << "it was adopted, or has ended";
  PassTime(&origin, Stepped(2 * kSecondUs, 11 * kSecondUs), 0);
  ++origin.last_lease_id;
  Settle(&origin, Stepped(2 * kSecondUs, 11 * kSecondUs), 10 * kSecondUs, 0);
  NoticeStep(&origin, There(22 * kSecondUs), kRing, 3);
  EXPECT_FALSE(IsEvidence(origin, jumped + 2));
}

TEST(Step, LeadsElsewhereEachTimeAlthoughRandomNumbersRepeat) {
  Origin first = Recorded(), second = first;
  NoticeStep(&first, Stepped(2 * kSecondUs), 1024, 3);
  NoticeStep(&second, Stepped(2 * kSecondUs + 1), 1024, 3);
  EXPECT_NE(first.last_lease_id, second.last_lease_id);
}

// The registry's machine is reverted with its memory. A second later its clock is right.
TEST(Step, LostWorkerIdsAreNotAssignedAgain) {
  std::mt19937_64 random = SeededRandom(20250113);
  constexpr int kTrials = 20000;
  for (int64_t ring : {32, 256, 1024}) {
    for (int64_t lost : {1, 4}) {
      int again = 0, again_without = 0;
      for (int i = 0; i < kTrials; ++i) {
        Origin origin = Recorded();
        origin.last_lease_id = static_cast<int64_t>(random() % 1000000);
        const auto slot = [&](int64_t id) { return StartSlot(id, CommonSize(ring)); };
        const int64_t snapshot = origin.last_lease_id;
        const auto is_lost = [&](int64_t id) {
          bool found = false;
          for (int64_t n = 1; n <= lost; ++n) found |= slot(snapshot + n) == slot(id);
          return found;
        };
        again_without += is_lost(snapshot + 1);
        const int64_t back_us = kSecondUs + 1 + static_cast<int64_t>(random() % (3600 * kSecondUs));
        NoticeStep(&origin, Stepped(back_us, kSecondUs), ring, random());
        bool found = false;
        for (int64_t n = 1; n <= lost; ++n) found |= is_lost(origin.last_lease_id + n);
        again += found;
      }
      std::cout << ring << " worker ids, " << lost << " lost: " << kTrials << " trials, in " << again
                << " a lost one was assigned again, without the skip in " << again_without << std::endl;
      EXPECT_EQ(again, 0);
      EXPECT_EQ(again_without, kTrials);
    }
  }
}

// A time service that steps the clock by 0.1 s to 10 s, a hundred times a day.
TEST(Step, ManyInAYearUseUpFewLeaseIds) {
  std::mt19937_64 random = SeededRandom(20250114);
  Origin origin = Recorded();
  int64_t off_us = 0, skips = 0;
  for (int64_t step = 1; step <= 365 * 100; ++step) {
    const int64_t by_us = kSecondUs / 10 + static_cast<int64_t>(random() % (99 * kSecondUs / 10));
    off_us += off_us > 0 ? -by_us : by_us;
    const Here here = Stepped(off_us, step * 864 * kSecondUs);
    const int64_t last = origin.last_lease_id;
    NoticeStep(&origin, here, kRing, random());
    PassTime(&origin, here, 0);
    skips += origin.last_lease_id != last;
    ++origin.last_lease_id;
  }
  std::cout << skips << " skips in 36,500 trials used up a "
            << static_cast<double>(kHighestLeaseId) / static_cast<double>(origin.last_lease_id) << "th of the lease ids"
            << std::endl;
  EXPECT_LT(origin.last_lease_id, kHighestLeaseId / 1000);
}

// ---------------------------------------------------------------------------------------------------------------------
// Settling
// ---------------------------------------------------------------------------------------------------------------------

TEST(Settling, LastsAsLongAsTheLongestLeaseAndTwiceTheSkew) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 10 * kSecondUs);
  EXPECT_EQ(SettlingLeftUs(origin, There()), 80 * kSecondUs) << "the registry's own setting";
  EXPECT_EQ(origin.settling_us, 80 * kSecondUs);
  EXPECT_EQ(origin.settles_until_us, kClockUs + 80 * kSecondUs);
  EXPECT_TRUE(origin.loss_known);
  origin = Recorded();
  origin.longest_us = 600 * kSecondUs;
  Settle(&origin, There(), 60 * kSecondUs, 10 * kSecondUs);
  EXPECT_EQ(SettlingLeftUs(origin, There()), 620 * kSecondUs) << "that of a node";
}

// The lost lease's node was ahead by the skew, and the next one's is behind by as much.
TEST(Settling, EndsWhenALostWindowIsOverForAnyNode) {
  const int64_t skew_us = 10 * kSecondUs, lease_us = 60 * kSecondUs;
  Origin origin = Recorded();
  Settle(&origin, There(), lease_us, skew_us);
  const Tick lost_end = WindowEnd(kDefaultLayout, kDefaultLayout.TickAt(kClockUs + skew_us), lease_us);
  const int64_t end_us = kClockUs + SettlingLeftUs(origin, There());
  EXPECT_EQ(kDefaultLayout.TickAt(end_us - skew_us), lost_end);
}

TEST(Settling, IsNotShortened) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 0);
  const Here later = There(20 * kSecondUs);
  Settle(&origin, later, kSecondUs, 0);
  EXPECT_EQ(SettlingLeftUs(origin, later), 40 * kSecondUs);
  Settle(&origin, later, 60 * kSecondUs, 0);
  EXPECT_EQ(SettlingLeftUs(origin, later), 60 * kSecondUs) << "a further loss makes it longer";
}

TEST(Settling, IsCountedWhateverTheWallClockShows) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 0);
  for (int64_t off_us : {-kDayUs, -3600 * kSecondUs, kDayUs}) {
    const Here now = {7, 2, 5, kDatabase, {kClockUs + off_us, 1 + 20 * kSecondUs}};
    EXPECT_EQ(SettlingLeftUs(origin, now), 40 * kSecondUs);
    EXPECT_EQ(SettlingOf(origin, now, false).until_us, kClockUs + off_us + 40 * kSecondUs) << "for people";
  }
}

TEST(Settling, GoesOnAfterARestart) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 0);
  EXPECT_FALSE(HasPassed(origin, There(kCountedUs - 1)));
  ASSERT_TRUE(HasPassed(origin, There(20 * kSecondUs)));
  PassTime(&origin, There(20 * kSecondUs), 0);
  EXPECT_EQ(origin.settling_left_us, 40 * kSecondUs);
  const Here next = {7, 2, 9, kDatabase, {kClockUs + kDayUs, 77}};
  BeginLife(&origin, next, kRing, 0);
  EXPECT_EQ(SettlingLeftUs(origin, next), 40 * kSecondUs) << "the monotonic clock is another one";
  const Here before = {7, 2, 9, kDatabase, {kClockUs, 1}};
  EXPECT_EQ(SettlingLeftUs(origin, before), 40 * kSecondUs + 76) << "a clock that goes back shortens nothing";
}

TEST(Settling, IsRecordedEvenIfNothingIsAssigned) {
  Origin origin = Recorded();
  EXPECT_FALSE(IsUrgent(origin, There(kDayUs), 0)) << "it does not settle";
  Settle(&origin, There(), 60 * kSecondUs, 0);
  EXPECT_FALSE(IsUrgent(origin, There(10 * kCountedUs - 1), 0));
  EXPECT_TRUE(IsUrgent(origin, There(10 * kCountedUs), 0));
  EXPECT_TRUE(IsUrgent(Recorded(), {7, 2, 6, kDatabase, kClock}, 0)) << "another life";
}

TEST(Settling, IsOverWhenItsTimeIs) {
  Origin origin = Recorded();
  EXPECT_FALSE(SettlingOf(origin, There(), true).active);
  Settle(&origin, There(), 60 * kSecondUs, 0);
  const Settling now = SettlingOf(origin, There(30 * kSecondUs - 1), true);
  EXPECT_TRUE(now.active && now.noticed);
  EXPECT_TRUE(now.holds_back);
  EXPECT_EQ(now.half_us, kClockUs + 30 * kSecondUs) << "for people";
  EXPECT_FALSE(SettlingOf(origin, There(30 * kSecondUs), false).holds_back);
  EXPECT_TRUE(SettlingOf(origin, There(60 * kSecondUs - 1), false).active);
  EXPECT_FALSE(SettlingOf(origin, There(60 * kSecondUs), false).active);
  Origin next = origin;
  ++next.timeline;
  EXPECT_NE(SettlingOf(next, There(), false).downwards, SettlingOf(origin, There(), false).downwards);
}

TEST(Settling, LeavesAFloorOfAConfirmedTime) {
  const int64_t skew_us = 10 * kSecondUs;
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, skew_us);
  PassTime(&origin, There(80 * kSecondUs), skew_us);
  EXPECT_FALSE(SettlingOf(origin, There(80 * kSecondUs), false).active);
  EXPECT_EQ(origin.floor_us, 0) << "the time was kept for less than ten minutes";
  EXPECT_EQ(origin.settles_until_us, 0);
  EXPECT_FALSE(HasPassed(origin, There(kHoldUs - 1)));
  ASSERT_TRUE(HasPassed(origin, There(kHoldUs)));
  PassTime(&origin, There(kHoldUs), skew_us);
  EXPECT_EQ(origin.floor_us, kClockUs + kHoldUs - skew_us) << "no later than any node's clock";
  EXPECT_EQ(origin.settling_us, 0);
  EXPECT_FALSE(HasPassed(origin, There(2 * kHoldUs))) << "it moves no further";
  const Here back = {7, 2, 5, kDatabase, {kClockUs, 1 + 2 * kHoldUs}};
  Settle(&origin, back, kSecondUs, skew_us);
  PassTime(&origin, {7, 2, 5, kDatabase, {kClockUs + 2 * kHoldUs, 1 + 4 * kHoldUs}}, skew_us);
  EXPECT_EQ(origin.floor_us, kClockUs + kHoldUs - skew_us) << "the clock stepped back just now, as far as is known";
  PassTime(&origin, {7, 2, 5, kDatabase, {kClockUs + 3 * kHoldUs, 1 + 5 * kHoldUs}}, skew_us);
  EXPECT_EQ(origin.floor_us, kClockUs + 3 * kHoldUs - skew_us);
}

TEST(Settling, FloorIsThatOfNewWindows) {
  Origin origin = Recorded();
  EXPECT_EQ(FloorOf(kDefaultLayout, origin), kNoWatermark);
  origin.floor_us = kClockUs;
  EXPECT_EQ(FloorOf(kDefaultLayout, origin), kDefaultLayout.TickAt(kClockUs));
  origin.raised_tick = kDefaultLayout.TickAt(kClockUs) + 7;
  EXPECT_EQ(FloorOf(kDefaultLayout, origin), origin.raised_tick);
}

// ---------------------------------------------------------------------------------------------------------------------
// Clocks
// ---------------------------------------------------------------------------------------------------------------------

constexpr Layout kMs = kDefaultLayout;
constexpr int64_t kSkewUs = 10 * kSecondUs;
constexpr Tick kTick = kMs.TickAt(kClockUs);

bool Accepts(const KeptTime &time, const ClockReading &clock, Tick now) {
  return AcceptsClock(kMs, time, clock, now, false, kSkewUs);
}

TEST(RegistryClock, AcceptsWhatDiffersByTheSkew) {
  const KeptTime time = KeptSince(kClock);
  EXPECT_TRUE(Accepts(time, kClock, kTick));
  EXPECT_TRUE(Accepts(time, kClock, kTick - 10001) && Accepts(time, kClock, kTick + 10001));
  EXPECT_FALSE(Accepts(time, kClock, kTick - 10002) || Accepts(time, kClock, kTick + 10002));
  EXPECT_FALSE(Accepts(time, kClock, INT64_MIN) || Accepts(time, kClock, INT64_MAX));
}

TEST(RegistryClock, HoldsTheTimeOfBeforeAStep) {
  for (int64_t step_us : {-7 * kDayUs, -3600 * kSecondUs, 2 * kDayUs, 5 * 365 * kDayUs}) {
    KeptTime time = KeptSince(kClock);
    const auto after = [&](int64_t passed_us) { return ClockReading{kClockUs + passed_us + step_us, 1 + passed_us}; };
    time = After(time, after(kSecondUs));
    EXPECT_TRUE(Accepts(time, after(kSecondUs), kTick + 1000)) << "a node that did not step";
    EXPECT_TRUE(Accepts(time, after(kSecondUs), kTick + 1000 + step_us / 1000)) << "a node that did";
    EXPECT_FALSE(Accepts(time, after(kSecondUs), kTick + step_us / 2000));
    EXPECT_FALSE(IsConfirmed(time, after(kSecondUs)));
    EXPECT_TRUE(After(time, after(kHoldUs)) == time) << "ten minutes from when it was noticed";
    const ClockReading back = At(kHoldUs);
    EXPECT_EQ(After(time, back).offset_us, KeptSince(kClock).offset_us) << "it was taken back";
    EXPECT_EQ(After(time, back).step_since_us, 0);
    EXPECT_FALSE(IsConfirmed(After(time, back), back)) << "and may step again";
    EXPECT_TRUE(IsConfirmed(After(time, back), At(2 * kHoldUs)));
    const KeptTime followed = After(time, after(kSecondUs + kHoldUs));
    EXPECT_FALSE(Accepts(followed, after(kSecondUs + kHoldUs), kTick + 601000));
    EXPECT_TRUE(IsConfirmed(followed, after(kSecondUs + kHoldUs)));
  }
}

TEST(RegistryClock, FollowsATimeThatWasKeptAllTheTime) {
  const auto stepped = [](int64_t passed_us, int64_t step_us) {
    return ClockReading{kClockUs + passed_us + step_us, 1 + passed_us};
  };
  KeptTime time = After(KeptSince(kClock), stepped(kSecondUs, kDayUs));
  time = After(time, stepped(kHoldUs, 2 * kDayUs));
  EXPECT_EQ(time.step_since_us, 1 + kHoldUs) << "another step";
  time = After(time, stepped(2 * kHoldUs - 1, 2 * kDayUs));
  EXPECT_EQ(time.offset_us, KeptSince(kClock).offset_us);
  time = After(time, stepped(2 * kHoldUs, 2 * kDayUs));
  EXPECT_TRUE(time == (KeptTime{KeptSince(kClock).offset_us + 2 * kDayUs, 1 + kHoldUs, 0, 0}));
}

// An offset of 0 would be the time since the system started, which is 1970 while that is short.
TEST(RegistryClock, BeginsWithTheNextReadingIfItIsUnset) {
  for (int64_t offset_us : {int64_t{0}, kClockUs, -kClockUs})
    for (int64_t steady_us : {int64_t{1}, 5 * kSecondUs, kHoldUs, kClockUs}) {
      const ClockReading reading = {kClockUs, steady_us};
      const KeptTime time = After({offset_us, 0, 0, 0}, reading);
      EXPECT_TRUE(time == KeptSince(reading));
      EXPECT_EQ(EarliestUs(time, reading), kClockUs);
      EXPECT_FALSE(IsConfirmed(time, reading));
    }
}

// A machine without a clock of its own boots at 1970, or its clock fails later.
TEST(RegistryClock, LearnsNothingFromAnImpossibleTime) {
  const ClockReading young = {20 * kSecondUs, 1};
  EXPECT_TRUE(KeptSince(young) == KeptTime{});
  EXPECT_EQ(HeldUs(KeptSince(young), young), young.wall_us) << "there is only the wall clock";
  const ClockReading old = {20 * kSecondUs + kHoldUs, 1 + kHoldUs};
  EXPECT_TRUE(After(KeptSince(young), old) == KeptTime{});
  EXPECT_FALSE(IsConfirmed(KeptSince(young), old));
  EXPECT_TRUE(After(KeptSince(young), kClock) == KeptSince(kClock)) << "the first possible one is kept at once";
  const KeptTime time = KeptSince(kClock);
  EXPECT_TRUE(After(After(time, {0, 2}), {kHoldUs, 2 + kHoldUs}) == time) << "however long";
  EXPECT_TRUE(IsConfirmed(After(time, {0, 2}), At(kHoldUs)));
}

TEST(RegistryClock, IsSlewedWithoutAStep) {
  const KeptTime time = KeptSince(kClock);
  for (int64_t off_us : {-kLeapUs, int64_t{-1}, int64_t{0}, kLeapUs})
    EXPECT_TRUE(After(time, {kClockUs + off_us, 1}) == time) << off_us;
  EXPECT_FALSE(After(time, {kClockUs + kLeapUs + 1, 1}) == time);
}

TEST(RegistryClock, ConfirmsNoLeapInAYoungLifeOrAfterAStep) {
  const KeptTime time = KeptSince(kClock);
  const auto confirms = [&](const ClockReading &clock) {
    return AcceptsClock(kMs, After(time, clock), clock, kMs.TickAt(clock.wall_us), true, kSkewUs);
  };
  EXPECT_FALSE(confirms(At(kHoldUs - 1)));
  EXPECT_TRUE(confirms(At(kHoldUs)));
  EXPECT_FALSE(confirms({kClockUs + kDayUs, 1 + kHoldUs}));
  EXPECT_FALSE(AcceptsClock(kMs, time, At(kHoldUs), kTick, true, kSkewUs)) << "it confirms another time";
}

TEST(RegistryClock, AtItsExtremes) {
  for (int64_t wall_us : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX})
    for (int64_t steady_us : {int64_t{1}, kFarthestUs}) {
      const ClockReading reading = {wall_us, steady_us};
      const KeptTime time = After(KeptSince(kClock), reading);
      EXPECT_FALSE(IsConfirmed(time, reading));
      EXPECT_LE(EarliestUs(time, reading), LatestUs(time, reading));
    }
}

// A right node goes on under a registry whose clock is wrong.
TEST(RegistryClock, DoesNotStopANodeInItsWindow) {
  const KeptTime time = KeptSince(kClock);
  const auto holds = [&](Tick now, Tick start, Tick end) {
    return AcceptsHolder(kMs, time, kClock, now, start, end, 60 * kSecondUs);
  };
  EXPECT_TRUE(holds(100, 100, 200)) << "however far behind";
  EXPECT_FALSE(holds(99, 100, 200) || holds(200, 100, 200)) << "not in its window";
  EXPECT_TRUE(holds(kTick + 60000, 100, kTick + 60001)) << "ahead by as much as a lease lasts";
  EXPECT_FALSE(holds(kTick + 60001, 100, kTick + 99999));
  EXPECT_FALSE(holds(INT64_MAX, 100, INT64_MAX));
}

// ---------------------------------------------------------------------------------------------------------------------
// The choice
// ---------------------------------------------------------------------------------------------------------------------

// The slots of a ring in the order in which they are tried.
std::vector<int64_t> Tried(const Order &order, int64_t ring_size) {
  std::vector<bool> taken(static_cast<size_t>(ring_size));
  std::vector<int64_t> tried;
  for (const Stretch &stretch : order.stretches) {
    for (;;) {
      Stretch rest = stretch;
      for (int64_t slot = 0; slot < ring_size; ++slot)
        if (taken[static_cast<size_t>(slot)]) rest.Offer(slot);
      const int64_t slot = rest.FirstFree();
      if (slot < 0) break;
      taken[static_cast<size_t>(slot)] = true;
      tried.push_back(slot);
    }
  }
  return tried;
}

std::vector<int64_t> Slots(std::initializer_list<std::pair<int64_t, int64_t>> stretches) {
  std::vector<int64_t> slots;
  for (const auto &[from, to] : stretches)
    for (int64_t slot = from; slot != to + (from <= to ? 1 : -1); slot += from <= to ? 1 : -1) slots.push_back(slot);
  return slots;
}

// 32 slots: the common part is 0 to 21, the reserve 22 to 31.
TEST(Order, GoesRoundTheCommonPartAndThenFromTheMiddleOfTheReserve) {
  const int64_t up = 5 * kCommon + 8;
  ASSERT_FALSE(TurnsBack(up));
  EXPECT_EQ(Tried(OrdinaryOrder(kRing, up), kRing), Slots({{8, 21}, {0, 7}, {27, 31}, {26, 22}}));
  const int64_t down = JumpFrom(up, kCommon, Place::kFarther, 0);
  const int64_t slot = StartSlot(down, kCommon);
  ASSERT_TRUE(TurnsBack(down));
  ASSERT_GT(slot, 0);
  EXPECT_EQ(StartSlot(down + 1, kCommon), slot - 1) << "the next lease begins there";
  EXPECT_EQ(Tried(OrdinaryOrder(kRing, down), kRing), Slots({{slot, 0}, {21, slot + 1}, {27, 31}, {26, 22}}));
}

TEST(Order, WhileSettlingBeginsAtAnEndOfTheReserveThatTheTimelineSays) {
  Settling settling = {};
  settling.active = true;
  settling.start = 1;
  const int64_t up = 5 * kCommon + 8;
  EXPECT_EQ(Tried(SettlingOrder(kRing, up, settling), kRing), Slots({{23, 31}, {22, 22}, {7, 0}, {21, 8}}));
  settling.downwards = true;
  EXPECT_EQ(Tried(SettlingOrder(kRing, up, settling), kRing), Slots({{30, 22}, {31, 31}, {7, 0}, {21, 8}}));
  const int64_t down = kLeaseIdStride;
  const int64_t slot = StartSlot(down, kCommon);
  ASSERT_TRUE(TurnsBack(down) && slot < kCommon - 1);
  EXPECT_EQ(Tried(SettlingOrder(kRing, down, settling), kRing), Slots({{30, 22}, {31, 31}, {slot + 1, 21}, {0, slot}}));
}

// As doc/layouts.md says.
TEST(Order, KeepsNoReserveOfTwoSlots) {
  const int64_t reserves[][2] = {{2, 0}, {4, 1}, {8, 2}, {16, 5}, {32, 10}, {1024, 341}};
  for (const auto &[size, reserve] : reserves) EXPECT_EQ(size - CommonSize(size), reserve) << size;
}

TEST(Order, HasEveryPlaceOnceHoweverSmallTheRing) {
  std::mt19937_64 random = SeededRandom(20250107);
  for (int64_t size : {1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 16, 64, 1024})
    for (int i = 0; i < 20; ++i) {
      Settling settling = {};
      settling.downwards = i % 2 == 0;
      settling.start = random() >> 32;
      const int64_t lease_id = 1 + Below(&random, 9 * kLeaseIdStride);
      std::vector<int64_t> ordinary = Tried(OrdinaryOrder(size, lease_id), size);
      std::vector<int64_t> settled = Tried(SettlingOrder(size, lease_id, settling), size);
      for (int64_t k = 0; k < CommonSize(size); ++k) ASSERT_LT(ordinary[static_cast<size_t>(k)], CommonSize(size));
      for (int64_t k = 0; k < size / 3; ++k) ASSERT_GE(settled[static_cast<size_t>(k)], CommonSize(size));
      std::sort(ordinary.begin(), ordinary.end());
      std::sort(settled.begin(), settled.end());
      ASSERT_EQ(ordinary, Slots({{0, size - 1}}));
      ASSERT_EQ(settled, ordinary);
    }
}

// The content of one slot.
struct Slot {
  bool leased;
  Tick window_end;
  Tick watermark;
};

// The same rules, slot by slot.
Choice ModelChoice(const std::vector<Slot> &ring, int64_t lease_id, const Settling &settling, Tick now, Tick over) {
  const int64_t size = static_cast<int64_t>(ring.size());
  const auto at = [&](int64_t slot) { return ring[static_cast<size_t>(slot)]; };
  const bool all = !settling.holds_back;
  const std::vector<int64_t> order =
      Tried(settling.active ? SettlingOrder(size, lease_id, settling) : OrdinaryOrder(size, lease_id), size);
  for (int64_t slot : order) {
    const bool held_back = settling.active && slot < CommonSize(size);
    if (at(slot).leased || at(slot).watermark >= now || (held_back && !all)) continue;
    return {held_back ? Chosen::kHeldBack : Chosen::kFree, slot, 0, 0};
  }
  int64_t best = -1;
  for (int64_t slot = 0; slot < size && !settling.active; ++slot)
    if (at(slot).leased && at(slot).window_end <= over && (best < 0 || at(slot).window_end < at(best).window_end))
      best = slot;
  if (best >= 0) return {Chosen::kExpired, best, best + 1, 0};
  for (int64_t slot = all ? 0 : CommonSize(size); slot < size; ++slot)
    if (!at(slot).leased && (best < 0 || at(slot).watermark < at(best).watermark)) best = slot;
  if (best >= 0) return {Chosen::kLater, best, 0, at(best).watermark};
  return {Chosen::kNone, 0, 0, 0};
}

TEST(Choosing, AgreesWithItsModel) {
  int64_t seen[5] = {};
  std::mt19937_64 random = SeededRandom(20250105);
  const auto below = [&](int64_t limit) { return Below(&random, limit); };
  for (int i = 0; i < 200000; ++i) {
    const int64_t size = below(12) + 1;
    std::vector<Slot> ring(static_cast<size_t>(size));
    const int64_t leased = below(101), ruled_out = below(101);
    for (Slot &slot : ring) {
      const bool out = below(100) < ruled_out;
      slot = {below(100) < leased, below(20), out ? 10 + below(10) : below(11) - 1};
    }
    Settling settling = {};
    settling.active = below(2) == 0;
    settling.holds_back = settling.active && below(2) == 0;
    settling.downwards = below(2) == 0;
    settling.start = random() >> 32;
    const int64_t lease_id = 1 + below(3 * kLeaseIdStride);
    const Tick now = 10, over = below(20);
    Choosing choosing(size, lease_id, settling, now, over);
    int64_t live = 0, rows = 0;
    Tick first_end = std::numeric_limits<Tick>::max();
    for (int64_t slot = 0; slot < size; ++slot) {
      const Slot &at = ring[static_cast<size_t>(slot)];
      if (at.leased) {
        choosing.Offer({slot, slot + 1, at.window_end, 0});
        ++rows;
        live += at.window_end > over;
        first_end = std::min(first_end, at.window_end);
      }
      // Whether or not the watermark blocks the slot, and also together with a lease.
      if (at.watermark >= now || below(2) == 0) choosing.Offer({slot, 0, 0, at.watermark});
    }
    const Choice choice = choosing.Finish(), model = ModelChoice(ring, lease_id, settling, now, over);
    ++seen[static_cast<int>(model.what)];
    ASSERT_EQ(choice.what, model.what) << "trial " << i;
    ASSERT_EQ(choice.slot, model.slot) << "trial " << i;
    ASSERT_EQ(choice.lease_id, model.lease_id) << "trial " << i;
    if (model.what == Chosen::kLater) {
      ASSERT_EQ(choice.watermark, model.watermark) << "trial " << i;
    }
    ASSERT_EQ(choosing.leased(), rows);
    ASSERT_EQ(choosing.live(), live);
    ASSERT_EQ(choosing.first_end(), first_end);
  }
  for (int64_t times : seen) EXPECT_GT(times, 1000) << "each kind was tried";
}

TEST(Choosing, ExpiryIsJudgedByTheEarlierClock) {
  EXPECT_EQ(OverBy(100, 200), 100);
  EXPECT_EQ(OverBy(300, 200), 200);
}

TEST(LimitOfARole, CountsExpiredLeasesAndMakesRoomByThem) {
  EXPECT_FALSE(IsAtLimit(1000000, 0)) << "no limit";
  EXPECT_FALSE(IsAtLimit(0, 1));
  EXPECT_FALSE(IsAtLimit(1, 2));
  EXPECT_TRUE(IsAtLimit(2, 2));
  EXPECT_TRUE(IsAtLimit(3, 2)) << "the limit was lowered";
  Settling settling = {};
  EXPECT_TRUE(MakesRoom(100, 100, settling));
  EXPECT_FALSE(MakesRoom(101, 100, settling)) << "it has not expired";
  settling.active = true;
  EXPECT_FALSE(MakesRoom(100, 100, settling)) << "a lost commit may have extended it";
}

// ---------------------------------------------------------------------------------------------------------------------
// Windows and watermarks
// ---------------------------------------------------------------------------------------------------------------------

AcquireRequest Asked(Tick now, int64_t duration_us) {
  AcquireRequest request = {};
  request.now = now;
  request.duration_us = duration_us;
  request.start_before = kAnyStart;
  return request;
}

TEST(Assigning, AWindowBeginsAboveEveryWatermark) {
  const Layout &layout = kDefaultLayout;
  Lease lease = {};
  EXPECT_EQ(AssignWindow(layout, Asked(100, 5 * kSecondUs), 50, kNoWatermark, &lease), Assignment::kAssigned);
  EXPECT_EQ(lease.window_start, 100);
  EXPECT_EQ(lease.window_end, 5100);
  EXPECT_EQ(AssignWindow(layout, Asked(100, 5 * kSecondUs), 150, kNoWatermark, &lease), Assignment::kAssigned);
  EXPECT_EQ(lease.window_start, 151);
  EXPECT_EQ(AssignWindow(layout, Asked(100, 5 * kSecondUs), 150, 200, &lease), Assignment::kAssigned);
  EXPECT_EQ(lease.window_start, 201) << "above what was raised";
  EXPECT_EQ(AssignWindow(layout, Asked(-100, 5 * kSecondUs), kNoWatermark, kNoWatermark, &lease),
            Assignment::kAssigned);
  EXPECT_EQ(lease.window_start, 0);
  EXPECT_EQ(AssignWindow(layout, Asked(0, kSecondUs), layout.max_tick(), kNoWatermark, &lease),
            Assignment::kTimeUsedUp);
  EXPECT_EQ(AssignWindow(layout, Asked(0, kSecondUs), std::numeric_limits<Tick>::max(), kNoWatermark, &lease),
            Assignment::kTimeUsedUp);
}

TEST(Assigning, WindowsGrow) {
  const Layout &layout = kDefaultLayout;
  Lease lease = {};
  AssignWindow(layout, Asked(0, 600 * kSecondUs), kNoWatermark, kNoWatermark, &lease);
  EXPECT_EQ(lease.window_end, kFirstWindowUs / kUsPerMs);
  AssignWindow(layout, Asked(0, 2 * kSecondUs), kNoWatermark, kNoWatermark, &lease);
  EXPECT_EQ(lease.window_end, 2000);
  EXPECT_EQ(EndForAcquired(layout, Asked(7, 600 * kSecondUs)), 7 + kFirstWindowUs / kUsPerMs);
  EXPECT_EQ(EndForAcquired(layout, Asked(7, 2 * kSecondUs)), 2007);
}

TEST(Assigning, NothingIsAssignedThatBeginsTooLate) {
  Lease lease = {};
  AcquireRequest request = Asked(100, kSecondUs);
  request.start_before = 151;
  EXPECT_EQ(AssignWindow(kDefaultLayout, request, 149, kNoWatermark, &lease), Assignment::kAssigned);
  EXPECT_EQ(AssignWindow(kDefaultLayout, request, 150, kNoWatermark, &lease), Assignment::kTooLate);
}

TEST(Windows, AnEndIsNoLowerThanTheNodeHolds) {
  const Layout &layout = kDefaultLayout;
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, 0, 0, 0, false}), 1100);
  EXPECT_EQ(EndForExtend(layout, {1, {}, -100, kSecondUs, 0, 0, 0, false}), 1000);
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, 5000, 0, 0, false}), 5000);
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, std::numeric_limits<Tick>::max(), 0, 0, false}),
            layout.max_tick() + 1);
  EXPECT_TRUE(IsHeldTooFar(11, 9, 10));
  EXPECT_FALSE(IsHeldTooFar(10, 9, 10));
  EXPECT_FALSE(IsHeldTooFar(11, 11, 10)) << "the registry knows of it";
}

TEST(Adoption, TakesALeaseInAsItsNodeHasIt) {
  const Layout &layout = kDefaultLayout;
  ExtendRequest request = {};
  request.lease_id = 50;
  request.worker = 7;
  request.window_start = 100;
  request.held_until = 200;
  request.now = 150;
  Origin origin = {};
  origin.last_lease_id = origin.jumped.from = 50;
  EXPECT_TRUE(MayAdopt(layout, request, origin, 99));
  EXPECT_FALSE(MayAdopt(layout, request, origin, 100)) << "another lease of the worker id was used since";
  --origin.last_lease_id;
  EXPECT_FALSE(MayAdopt(layout, request, origin, 99)) << "an id that is yet to be assigned";
  ++origin.last_lease_id;
  const auto changed = [&](auto change) {
    ExtendRequest other = request;
    change(&other);
    return MayAdopt(layout, other, origin, kNoWatermark);
  };
  EXPECT_TRUE(changed([](ExtendRequest *) {}));
  EXPECT_FALSE(changed([](ExtendRequest *r) { r->lease_id = 0; }));
  EXPECT_FALSE(changed([](ExtendRequest *r) { r->worker = -1; }));
  EXPECT_FALSE(changed([](ExtendRequest *r) { r->worker = 1024; }));
  EXPECT_FALSE(changed([](ExtendRequest *r) { r->window_start = -1; }));
  EXPECT_FALSE(changed([](ExtendRequest *r) { r->window_start = 200; })) << "it has no window";
  const auto late = [](ExtendRequest *r) { r->now = 200; };
  EXPECT_FALSE(changed(late)) << "lost earlier, and its window is over";
  --origin.jumped.from;
  EXPECT_TRUE(changed(late)) << "of the newest loss";
}

TEST(Watermarks, CoverWhatWasUsed) {
  const Layout &layout = kDefaultLayout;
  Tick watermark = kNoWatermark;
  const auto release = [&](Tick last_tick, Tick held_until, Tick floor) {
    return WatermarkOfRelease(layout, {1, {}, last_tick, held_until}, 100, 200, floor, &watermark);
  };
  EXPECT_TRUE(release(150, 0, kNoWatermark));
  EXPECT_EQ(watermark, 150);
  EXPECT_TRUE(release(99, 0, kNoWatermark));
  EXPECT_EQ(watermark, 99) << "nothing was used";
  EXPECT_TRUE(release(150, 0, 180));
  EXPECT_EQ(watermark, 180);
  EXPECT_TRUE(release(150, 0, 5000));
  EXPECT_EQ(watermark, 199) << "as far as the window goes";
  EXPECT_TRUE(release(250, 300, kNoWatermark));
  EXPECT_EQ(watermark, 250) << "in a window that was moved by a lost commit";
  EXPECT_FALSE(release(98, 0, kNoWatermark));
  EXPECT_FALSE(release(200, 0, kNoWatermark));
  EXPECT_FALSE(release(300, 300, kNoWatermark));
  EXPECT_FALSE(release(std::numeric_limits<Tick>::min(), 0, kNoWatermark));
  EXPECT_FALSE(release(std::numeric_limits<Tick>::max(), std::numeric_limits<Tick>::max(), kNoWatermark));
  EXPECT_EQ(WatermarkOfWindow(200), 199);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 150, 200), 150);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 50, 200), 99);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 250, 200), 199);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 150, 199), 199) << "its node's clock is ahead of the registry's";
}

}  // namespace
}  // namespace snowflake
