#include "core/ring.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kSecondUs = 1000 * 1000;
constexpr int64_t kClockUs = 1000 * kSecondUs;
const int64_t kCuts[] = {3};

Origin Settled() {
  Origin origin = {};
  origin.found = true;
  origin.system_identifier = 7;
  origin.timeline = 2;
  origin.started_us = 5;
  origin.last_lease_id = 100;
  origin.raised_tick = kNoWatermark;
  return origin;
}

Here There() { return {7, 2, 5, kClockUs}; }

// ---------------------------------------------------------------------------------------------------------------------
// What tells of a loss
// ---------------------------------------------------------------------------------------------------------------------

TEST(Loss, NothingTellsOfOneWhereTheServerGoesOn) {
  EXPECT_EQ(NoticedLoss(Settled(), There(), 0), Loss::kNone);
  EXPECT_EQ(NoticedLoss(Settled(), There(), 100), Loss::kNone);
  EXPECT_EQ(NoticedLoss(Origin{}, There(), 1000), Loss::kNone) << "nothing was written down yet";
}

TEST(Loss, AnotherServerOrTimelineIsAFailover) {
  EXPECT_EQ(NoticedLoss(Settled(), {7, 3, 5, kClockUs}, 0), Loss::kFailover);
  EXPECT_EQ(NoticedLoss(Settled(), {7, 1, 5, kClockUs}, 0), Loss::kFailover) << "an old primary";
  EXPECT_EQ(NoticedLoss(Settled(), {8, 2, 5, kClockUs}, 0), Loss::kFailover);
  EXPECT_EQ(Failovers(Settled(), {7, 5, 5, kClockUs}), 3);
  EXPECT_EQ(Failovers(Settled(), {8, 5, 5, kClockUs}), 1);
  EXPECT_EQ(Failovers(Settled(), {7, std::numeric_limits<int64_t>::max(), 5, kClockUs}), 62);
}

TEST(Loss, AFreshMarkMakesItAHandOver) {
  Origin origin = Settled();
  const Here next = {7, 3, 9, kClockUs};
  for (int64_t off_us : {int64_t{0}, kCleanLastsUs - 1, 1 - kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kHandOver) << off_us;
  }
  for (int64_t off_us : {kCleanLastsUs, -kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kFailover) << "a cold copy's: " << off_us;
  }
  origin.clean_us = kClockUs;
  EXPECT_EQ(NoticedLoss(origin, {8, 3, 9, kClockUs}, 0), Loss::kFailover) << "a server that pg_upgrade made";
  EXPECT_EQ(NoticedLoss(origin, next, 101), Loss::kLease) << "evidence is stronger";
}

TEST(Loss, ARestartIsNoneUnlessItSettlesFirmlyAlready) {
  const Here next = {7, 2, 6, kClockUs};
  Origin origin = Settled();
  EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kRestarted);
  EXPECT_TRUE(IsSoft(Loss::kRestarted) && IsSoft(Loss::kHandOver));
  EXPECT_FALSE(IsSoft(Loss::kFailover) || IsSoft(Loss::kLease) || IsSoft(Loss::kHeldEnd) || IsSoft(Loss::kWord) ||
               IsSoft(Loss::kEmptyOrigin));
  origin.settled_before = true;
  origin.settles_until_us = kClockUs + 1;
  EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kNone);
  origin.soft = true;
  EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kRestarted);
  origin = Settled();
  origin.started_us = 0;
  EXPECT_EQ(NoticedLoss(origin, next, 0), Loss::kNone) << "nothing was leased yet";
}

TEST(Loss, ALeaseAboveTheNewestProvesIt) {
  EXPECT_TRUE(IsEvidence(Settled(), 101));
  EXPECT_TRUE(IsEvidence(Settled(), 100 + kFarthestEvidence));
  EXPECT_FALSE(IsEvidence(Settled(), 100));
  EXPECT_FALSE(IsEvidence(Settled(), 101 + kFarthestEvidence));
  EXPECT_FALSE(IsEvidence(Settled(), std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(IsEvidence(Settled(), std::numeric_limits<int64_t>::min()));
  EXPECT_FALSE(IsEvidence(Origin{}, 101));
}

TEST(Loss, OneLossIsNewsOnce) {
  Origin origin = Settled();
  EXPECT_TRUE(IsNews(origin, There(), 0));
  origin.settled_before = true;
  origin.settles_until_us = kClockUs + 1;
  EXPECT_FALSE(IsNews(origin, There(), 0));
  EXPECT_TRUE(IsNews(origin, There(), 101)) << "of a lease that was given after it was noticed";
  EXPECT_TRUE(IsNews(origin, {7, 2, 6, kClockUs}, 0)) << "of before the server started again";
  EXPECT_TRUE(IsNews(origin, {7, 2, 5, kClockUs + 1}, 0)) << "it settles no longer";
  origin.soft = true;
  EXPECT_TRUE(IsNews(origin, There(), 0));
}

// ---------------------------------------------------------------------------------------------------------------------
// How it settles
// ---------------------------------------------------------------------------------------------------------------------

TEST(Settling, LastsAsLongAsALostLeaseMayLive) {
  const Layout &layout = kDefaultLayout;
  const Tick now = layout.TickAt(kClockUs + 1735689600 * kSecondUs);
  const int64_t now_us = layout.UnixUsAt(now);
  Survey none(layout, now, now_us);
  EXPECT_EQ(none.SettlingUs(60 * kSecondUs, 10 * kSecondUs), 70 * kSecondUs);
  EXPECT_EQ(none.SettlingUs(kMaxLeaseUs, 10 * kSecondUs), kMaxLeaseUs);
  Survey left(layout, now, now_us);
  left.Offer(now + 100000, now_us - 1);
  EXPECT_EQ(left.SettlingUs(60 * kSecondUs, 0), 100 * kSecondUs + 1) << "of a window that is longer than the node's";
  Survey moved(layout, now, now_us);
  moved.Offer(now - 500000, now_us - 700 * kSecondUs);
  EXPECT_EQ(moved.SettlingUs(60 * kSecondUs, 0), 200 * kSecondUs) << "as it was when it was moved last";
  Survey extreme(layout, now, now_us);
  extreme.Offer(layout.max_tick() + 1, -std::numeric_limits<int64_t>::max() / 4);
  extreme.Offer(0, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(extreme.SettlingUs(60 * kSecondUs, 0), kMaxLeaseUs);
}

TEST(Settling, KnowsWhenTheNewestCommitWasMade) {
  const Layout &layout = kDefaultLayout;
  const Tick now = 1000000;
  const int64_t now_us = layout.UnixUsAt(now);
  Survey survey(layout, now, now_us);
  EXPECT_EQ(survey.Since(now, now_us), now) << "nothing tells";
  survey.Offer(now + 10, now_us - 9 * kSecondUs);
  survey.Offer(now + 10, now_us - 5 * kSecondUs);
  survey.Offer(now + 10, now_us - 7 * kSecondUs);
  survey.Offer(now + 10, now_us);
  EXPECT_EQ(survey.Since(now, now_us), now - 5000) << "not by what this transaction has moved";
  EXPECT_EQ(survey.Since(now - 6000, now_us), now - 6000) << "a node whose clock is behind goes past less";
  EXPECT_TRUE(IsOutOfReach(true, kNoWatermark, 5));
  EXPECT_TRUE(IsOutOfReach(false, 5, 5));
  EXPECT_FALSE(IsOutOfReach(false, 4, 5));
}

TEST(Settling, CountsFromTheNewestLeaseThatIsNotLost) {
  const Beginning begun = Begin(Settled(), {7, 4, 9, kClockUs}, Loss::kFailover, 0, 60 * kSecondUs);
  EXPECT_FALSE(begun.soft || begun.from_cuts || begun.same_start);
  EXPECT_EQ(begun.anchor_lease_id, 101);
  EXPECT_EQ(begun.last_lease_id, 100);
  EXPECT_EQ(begun.times, 2);
  EXPECT_EQ(begun.until_us, kClockUs + 60 * kSecondUs);
  EXPECT_EQ(begun.settling_us, 60 * kSecondUs);
  EXPECT_EQ(Begin(Settled(), There(), Loss::kLease, 300, kSecondUs).last_lease_id, 300 + kLeaseIdStride);
  EXPECT_EQ(Begin(Settled(), There(), Loss::kWord, 0, kSecondUs).times, 1);
  EXPECT_TRUE(Begin(Settled(), {7, 2, 6, kClockUs}, Loss::kRestarted, 0, kSecondUs).soft);
}

TEST(Settling, AFurtherLossHalvesWhatWasLeftAndTheSameOneDoesNot) {
  Origin origin = Settled();
  origin.settled_before = true;
  origin.settles_until_us = kClockUs + 10 * kSecondUs;
  origin.settling_us = 60 * kSecondUs;
  origin.anchor_lease_id = 90;
  origin.cuts = kCuts;
  origin.cut_count = 1;
  const Here next = {7, 3, 6, kClockUs};
  const Beginning further = Begin(origin, next, Loss::kFailover, 0, 5 * kSecondUs);
  EXPECT_TRUE(further.from_cuts);
  EXPECT_EQ(further.anchor_lease_id, 90);
  EXPECT_EQ(further.times, 1);
  EXPECT_EQ(further.until_us, origin.settles_until_us) << "no sooner than before";
  const Beginning same = Begin(origin, There(), Loss::kWord, 0, 60 * kSecondUs);
  EXPECT_TRUE(same.from_cuts && same.same_start);
  EXPECT_EQ(same.times, 0);
  EXPECT_EQ(same.until_us, kClockUs + 60 * kSecondUs);
  origin.settles_until_us = kClockUs - 3 * kSecondUs;
  EXPECT_TRUE(Begin(origin, next, Loss::kFailover, 0, 5 * kSecondUs).from_cuts) << "leases of then may still live";
  EXPECT_FALSE(Begin(origin, next, Loss::kFailover, 0, 2 * kSecondUs).from_cuts);
  EXPECT_FALSE(Begin(origin, next, Loss::kHandOver, 0, 5 * kSecondUs).from_cuts);
  origin.settles_until_us = kClockUs + 3600 * kSecondUs;
  EXPECT_EQ(Begin(origin, next, Loss::kFailover, 0, kSecondUs).until_us, kClockUs + 60 * kSecondUs)
      << "the clock was ahead when it began";
  EXPECT_EQ(SettlesUntil(origin, next), kClockUs + 60 * kSecondUs);
}

TEST(Settling, GoesOnWhereLeasesWereDrawnMeanwhile) {
  Origin origin = Settled();
  origin.settled_before = true;
  origin.soft = true;
  origin.settles_until_us = kClockUs + 10 * kSecondUs;
  origin.settling_us = 60 * kSecondUs;
  origin.anchor_lease_id = 90;
  origin.start = 12;
  origin.cuts = kCuts;
  origin.cut_count = 1;
  const Beginning begun = Begin(origin, {7, 3, 6, kClockUs}, Loss::kFailover, 0, 5 * kSecondUs);
  EXPECT_EQ(begun.anchor_lease_id, 102);
  EXPECT_FALSE(begun.from_cuts);
}

TEST(Settling, BeginsAtARandomPlaceBeyondTheCutsIfNothingTellsOfALoss) {
  Beginning soft = {};
  soft.soft = true;
  for (uint64_t random : {uint64_t{0}, uint64_t{1}, uint64_t{51}, ~uint64_t{0}}) {
    const int64_t start = StartOf(Settled(), soft, 12, 64, random);
    EXPECT_GE(start, 12);
    EXPECT_LT(start, 64);
  }
  EXPECT_NE(StartOf(Settled(), soft, 12, 64, 1), StartOf(Settled(), soft, 12, 64, 2));
  EXPECT_EQ(StartOf(Settled(), soft, 64, 64, 5), 0);
  EXPECT_EQ(StartOf(Settled(), Beginning{}, 12, 64, 5), 0);
}

TEST(Settling, IsOverWhenItsTimeIs) {
  Origin origin = Settled();
  origin.settled_before = true;
  origin.settles_until_us = kClockUs + 30 * kSecondUs;
  origin.settling_us = 60 * kSecondUs;
  origin.anchor_lease_id = 70;
  origin.cuts = kCuts;
  origin.cut_count = 1;
  const Settling now = SettlingOf(origin, There(), 64, 0, true);
  EXPECT_TRUE(now.active && now.noticed);
  EXPECT_FALSE(now.soft || now.half_over);
  EXPECT_EQ(now.anchor, 6);
  EXPECT_EQ(now.cut, 3);
  EXPECT_EQ(now.start, 3);
  EXPECT_TRUE(SettlingOf(origin, {7, 2, 5, kClockUs + 1}, 64, 0, false).half_over);
  EXPECT_FALSE(SettlingOf(origin, {7, 2, 5, kClockUs + 30 * kSecondUs}, 64, 0, false).active);
  EXPECT_FALSE(SettlingOf(Settled(), There(), 64, 0, false).active);
}

// ---------------------------------------------------------------------------------------------------------------------
// The choice
// ---------------------------------------------------------------------------------------------------------------------

// What one place holds.
struct Place {
  bool leased;
  Tick window_end;
  Tick watermark;
};

// The same rules, place by place.
Choice ModelChoice(const std::vector<Place> &ring, const Settling &settling, Tick now, Tick over) {
  const int64_t size = static_cast<int64_t>(ring.size());
  const auto at = [&](int64_t place) { return ring[static_cast<size_t>(place)]; };
  const auto free = [&](int64_t place) { return !at(place).leased && at(place).watermark < now; };
  const bool all = !settling.active || settling.soft || settling.half_over;
  for (int64_t place = settling.start; place < size; ++place)
    if (free(place)) return {Chosen::kFree, place, 0, 0};
  for (int64_t place = settling.cut; place < size; ++place)
    if (free(place)) return {Chosen::kFree, place, 0, 0};
  for (int64_t place = settling.cut - 1; all && place >= 0; --place)
    if (free(place)) return {Chosen::kHeldBack, place, 0, 0};
  int64_t best = -1;
  for (int64_t place = 0; place < size && (!settling.active || settling.soft); ++place)
    if (at(place).leased && at(place).window_end <= over && (best < 0 || at(place).window_end < at(best).window_end))
      best = place;
  if (best >= 0) return {Chosen::kExpired, best, best + 1, 0};
  for (int64_t place = all ? 0 : settling.cut; place < size; ++place)
    if (!at(place).leased && (best < 0 || at(place).watermark < at(best).watermark)) best = place;
  if (best >= 0) return {Chosen::kLater, best, 0, at(best).watermark};
  return {Chosen::kNone, 0, 0, 0};
}

TEST(Choosing, AgreesWithItsModel) {
  int64_t seen[5] = {};
  std::mt19937_64 random = SeededRandom(20250105);
  const auto below = [&](int64_t limit) { return Below(&random, limit); };
  for (int i = 0; i < 200000; ++i) {
    const int64_t size = below(12) + 1;
    std::vector<Place> ring(static_cast<size_t>(size));
    const int64_t leased = below(101), ruled_out = below(101);
    for (Place &place : ring) {
      const bool out = below(100) < ruled_out;
      place = {below(100) < leased, below(20), out ? 10 + below(10) : below(11) - 1};
    }
    Settling settling = {};
    if (below(2) == 0) {
      settling.active = true;
      settling.soft = below(2) == 0;
      settling.half_over = below(2) == 0;
      settling.cut = below(size + 1);
      settling.start = settling.cut + below(size - settling.cut + 1);
    }
    const Tick now = 10, over = below(20);
    Choosing choosing(size, settling, now, over);
    int64_t live = 0;
    Tick first_end = std::numeric_limits<Tick>::max();
    for (int64_t place = 0; place < size; ++place) {
      const Place &at = ring[static_cast<size_t>(place)];
      if (at.leased) {
        choosing.Offer({place, place + 1, at.window_end, 0});
        live += at.window_end > over;
        first_end = std::min(first_end, at.window_end);
      }
      // Whether or not it is in the way, and beside a lease, too.
      if (at.watermark >= now || below(2) == 0) choosing.Offer({place, 0, 0, at.watermark});
    }
    const Choice choice = choosing.Finish(), model = ModelChoice(ring, settling, now, over);
    ++seen[static_cast<int>(model.what)];
    ASSERT_EQ(choice.what, model.what) << "trial " << i;
    ASSERT_EQ(choice.place, model.place) << "trial " << i;
    ASSERT_EQ(choice.lease_id, model.lease_id) << "trial " << i;
    if (model.what == Chosen::kLater) {
      ASSERT_EQ(choice.watermark, model.watermark) << "trial " << i;
    }
    ASSERT_EQ(choosing.live(), live);
    ASSERT_EQ(choosing.first_end(), first_end);
  }
  for (int64_t times : seen) EXPECT_GT(times, 1000) << "each kind was tried";
}

TEST(Choosing, ExpiryIsJudgedByTheEarlierClock) {
  EXPECT_EQ(OverBy(100, 200), 100);
  EXPECT_EQ(OverBy(300, 200), 200);
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

TEST(Granting, AWindowBeginsAboveEveryWatermark) {
  const Layout &layout = kDefaultLayout;
  Lease lease = {};
  EXPECT_EQ(GrantLease(layout, Asked(100, 5 * kSecondUs), 50, kNoWatermark, &lease), Grant::kGranted);
  EXPECT_EQ(lease.window_start, 100);
  EXPECT_EQ(lease.window_end, 5100);
  EXPECT_EQ(GrantLease(layout, Asked(100, 5 * kSecondUs), 150, kNoWatermark, &lease), Grant::kGranted);
  EXPECT_EQ(lease.window_start, 151);
  EXPECT_EQ(GrantLease(layout, Asked(100, 5 * kSecondUs), 150, 200, &lease), Grant::kGranted);
  EXPECT_EQ(lease.window_start, 201) << "above what was raised";
  EXPECT_EQ(GrantLease(layout, Asked(-100, 5 * kSecondUs), kNoWatermark, kNoWatermark, &lease), Grant::kGranted);
  EXPECT_EQ(lease.window_start, 0);
  EXPECT_EQ(GrantLease(layout, Asked(0, kSecondUs), layout.max_tick(), kNoWatermark, &lease), Grant::kTimeUsedUp);
  EXPECT_EQ(GrantLease(layout, Asked(0, kSecondUs), std::numeric_limits<Tick>::max(), kNoWatermark, &lease),
            Grant::kTimeUsedUp);
}

TEST(Granting, WindowsGrow) {
  const Layout &layout = kDefaultLayout;
  Lease lease = {};
  GrantLease(layout, Asked(0, 600 * kSecondUs), kNoWatermark, kNoWatermark, &lease);
  EXPECT_EQ(lease.window_end, kFirstWindowUs / kUsPerMs);
  GrantLease(layout, Asked(0, 2 * kSecondUs), kNoWatermark, kNoWatermark, &lease);
  EXPECT_EQ(lease.window_end, 2000);
  EXPECT_EQ(EndForDrawn(layout, Asked(7, 600 * kSecondUs)), 7 + kFirstWindowUs / kUsPerMs);
  EXPECT_EQ(EndForDrawn(layout, Asked(7, 2 * kSecondUs)), 2007);
}

TEST(Granting, NothingIsDrawnThatBeginsTooLate) {
  Lease lease = {};
  AcquireRequest request = Asked(100, kSecondUs);
  request.start_before = 151;
  EXPECT_EQ(GrantLease(kDefaultLayout, request, 149, kNoWatermark, &lease), Grant::kGranted);
  EXPECT_EQ(GrantLease(kDefaultLayout, request, 150, kNoWatermark, &lease), Grant::kTooLate);
}

TEST(Windows, AnEndIsNoLowerThanTheNodeHolds) {
  const Layout &layout = kDefaultLayout;
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, 0, 0}), 1100);
  EXPECT_EQ(EndForExtend(layout, {1, {}, -100, kSecondUs, 0, 0}), 1000);
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, 5000, 0}), 5000);
  EXPECT_EQ(EndForExtend(layout, {1, {}, 100, kSecondUs, std::numeric_limits<Tick>::max(), 0}), layout.max_tick() + 1);
  EXPECT_TRUE(IsHeldTooFar(11, 9, 10));
  EXPECT_FALSE(IsHeldTooFar(10, 9, 10));
  EXPECT_FALSE(IsHeldTooFar(11, 11, 10)) << "the registry knows of it";
}

TEST(Watermarks, CoverWhatWasUsed) {
  const Layout &layout = kDefaultLayout;
  Tick watermark = kNoWatermark;
  const auto release = [&](Tick last_tick, Tick held_until, Tick floor) {
    return WatermarkOfRelease(layout, {1, {}, last_tick, held_until, 0, floor}, 100, 200, &watermark);
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
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 150), 150);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 50), 99);
  EXPECT_EQ(WatermarkOfEvicted(100, 200, 250), 199);
}

}  // namespace
}  // namespace snowflake
