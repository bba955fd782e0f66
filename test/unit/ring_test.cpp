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
constexpr int64_t kClockUs = 1000 * kSecondUs;
constexpr int64_t kDatabase = 16384;
constexpr int64_t kRing = 32;
constexpr int64_t kCommon = CommonSize(kRing);

Origin Recorded() {
  Origin origin = {};
  origin.found = true;
  origin.system_identifier = 7;
  origin.timeline = 2;
  origin.started_us = 5;
  origin.database_oid = kDatabase;
  origin.last_lease_id = 100;
  origin.raised_tick = kNoWatermark;
  return origin;
}

Here There() { return {7, 2, 5, kDatabase, kClockUs}; }

// ---------------------------------------------------------------------------------------------------------------------
// Lives
// ---------------------------------------------------------------------------------------------------------------------

TEST(Life, BeginsWithAnotherStartTimelineSystemOrDatabase) {
  EXPECT_TRUE(IsInPlace(Recorded(), There()));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 2, 6, kDatabase, kClockUs}));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 3, 5, kDatabase, kClockUs}));
  EXPECT_FALSE(IsInPlace(Recorded(), {8, 2, 5, kDatabase, kClockUs}));
  EXPECT_FALSE(IsInPlace(Recorded(), {7, 2, 5, kDatabase + 1, kClockUs}));
  EXPECT_FALSE(IsInPlace(Origin{}, There())) << "nothing was recorded yet";
  Origin origin = Recorded();
  origin.clean_us = 1;
  origin.loss_known = true;
  const Here there = {8, 4, 9, kDatabase + 1, kClockUs};
  BeginLife(&origin, there, kRing, 0);
  EXPECT_TRUE(IsInPlace(origin, there));
  EXPECT_EQ(origin.clean_us, 0);
  EXPECT_FALSE(origin.loss_known);
}

// The loss that is detected.
Loss Moved(Origin origin, const Here &here) { return BeginLife(&origin, here, kRing, 0); }

TEST(Life, OfAnotherTimelineOrSystemTellsOfALoss) {
  EXPECT_EQ(Moved(Recorded(), {7, 3, 9, kDatabase, kClockUs}), Loss::kFailover);
  EXPECT_EQ(Moved(Recorded(), {7, 1, 9, kDatabase, kClockUs}), Loss::kFailover) << "an old primary";
  EXPECT_EQ(Moved(Recorded(), {8, 2, 9, kDatabase, kClockUs}), Loss::kOtherSystem);
  EXPECT_EQ(Moved(Recorded(), {7, 2, 9, kDatabase, kClockUs}), Loss::kNone) << "a restart";
  EXPECT_EQ(Moved(Recorded(), {7, 2, 5, kDatabase + 1, kClockUs}), Loss::kNone) << "CREATE DATABASE ... TEMPLATE";
  EXPECT_EQ(Moved(Recorded(), {7, 3, 9, kDatabase + 1, kClockUs}), Loss::kFailover) << "copied after a promotion";
  EXPECT_EQ(Moved(Recorded(), {8, 2, 9, kDatabase + 1, kClockUs}), Loss::kOtherSystem);
}

TEST(Life, CountsPromotions) {
  const auto since = [](const Here &here) { return PromotionsSince(Recorded(), here, Moved(Recorded(), here)); };
  EXPECT_EQ(since({7, 3, 9, kDatabase, kClockUs}), 1);
  EXPECT_EQ(since({7, 5, 9, kDatabase, kClockUs}), 3) << "of servers that recorded nothing that is left";
  EXPECT_EQ(since({7, 1, 9, kDatabase, kClockUs}), 1) << "an old primary";
  EXPECT_EQ(since({8, 5, 9, kDatabase, kClockUs}), 1) << "timelines of different systems cannot be compared";
  EXPECT_EQ(since({7, 2, 9, kDatabase, kClockUs}), 0) << "a restart";
  EXPECT_EQ(PromotionsSince({}, {7, 5, 9, kDatabase, kClockUs}, Loss::kEmptyOrigin), 1);
  for (const Loss loss : {Loss::kLease, Loss::kHeldEnd, Loss::kRange, Loss::kSettleCall})
    EXPECT_EQ(PromotionsSince(Recorded(), {7, 2, 9, kDatabase, kClockUs}, loss), 0);
}

TEST(Life, AFreshMarkOfTheTimelineJustBeforeTellsOfNone) {
  Origin origin = Recorded();
  const Here next = {7, 3, 9, kDatabase, kClockUs};
  for (int64_t off_us : {int64_t{0}, kCleanLastsUs - 1, 1 - kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(Moved(origin, next), Loss::kNone) << off_us;
  }
  for (int64_t off_us : {kCleanLastsUs, -kCleanLastsUs}) {
    origin.clean_us = kClockUs + off_us;
    EXPECT_EQ(Moved(origin, next), Loss::kFailover) << "a cold copy's: " << off_us;
  }
  origin.clean_us = kClockUs;
  EXPECT_EQ(Moved(origin, {8, 3, 9, kDatabase, kClockUs}), Loss::kOtherSystem) << "a server that pg_upgrade made";
  EXPECT_EQ(Moved(origin, {7, 4, 9, kDatabase, kClockUs}), Loss::kFailover) << "somebody was promoted in between";
  EXPECT_EQ(Moved(origin, {7, 1, 9, kDatabase, kClockUs}), Loss::kFailover);
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
  for (const Here &here : {There(), Here{7, 2, 9, kDatabase + 1, kClockUs}, Here{7, 3, 9, kDatabase, kClockUs}}) {
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
  for (const Here &here : {Here{7, 2, 5, kDatabase + 1, kClockUs}, Here{7, 2, 9, kDatabase, kClockUs}}) {
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
  EXPECT_FALSE(IsEvidence(Recorded(), kHighestLeaseId + 1)) << "no registry grants it";
  EXPECT_FALSE(IsEvidence(Recorded(), std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(IsEvidence(Recorded(), std::numeric_limits<int64_t>::min()));
  Origin origin = Recorded();
  BeginLife(&origin, {7, 2, 9, kDatabase, kClockUs}, kRing, 3);
  const int64_t to = origin.last_lease_id;
  EXPECT_FALSE(IsEvidence(origin, 100));
  EXPECT_TRUE(IsEvidence(origin, 101));
  EXPECT_TRUE(IsEvidence(origin, to));
  origin.last_lease_id += 5;
  EXPECT_FALSE(IsEvidence(origin, to + 1)) << "granted in this life";
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
  const Here first = {7, 2, 9, kDatabase, kClockUs}, second = {7, 2, 10, kDatabase, kClockUs};
  Origin origin = Recorded();
  BeginLife(&origin, first, kRing, 3);
  const Origin found = origin;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_TRUE(IsEvidence(origin, 101));
  EXPECT_TRUE(IsEvidence(origin, found.jumped_to));
  EXPECT_TRUE(IsEvidence(origin, origin.jumped_to));
  origin = found;
  origin.loss_known = true;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_FALSE(IsEvidence(origin, 101)) << "it was adopted, or has ended";
  origin = found;
  ++origin.last_lease_id;
  BeginLife(&origin, second, kRing, 4);
  EXPECT_FALSE(IsEvidence(origin, origin.jumped_from)) << "it was granted";
}

TEST(Life, AnyNumberOfLostLivesLeadsToIdsThatLeaseIdsRiseAbove) {
  std::mt19937_64 random = SeededRandom(20250110);
  for (int lives = 1; lives <= 500; ++lives) {
    const Origin old = Recorded();
    Origin lost = old, found = old;
    for (int i = 0; i < lives; ++i) BeginLife(&lost, {7, 2, 10 + i, kDatabase, kClockUs}, kRing, random());
    BeginLife(&found, {7, 2, 9, kDatabase, kClockUs}, kRing, random());
    const int64_t named = ++lost.last_lease_id;
    ASSERT_TRUE(IsEvidence(found, named)) << lives;
    GoAbove(&found, named);
    ASSERT_GE(found.last_lease_id, named) << lives;
  }
}

TEST(Life, ARoleCanRaiseLeaseIdsOnlySoFar) {
  Origin origin = Recorded();
  BeginLife(&origin, {7, 2, 9, kDatabase, kClockUs}, kRing, 3);
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
  BeginLife(&origin, {7, 2, 10, kDatabase, kClockUs}, kRing, 4);
  EXPECT_TRUE(IsEvidence(origin, origin.last_lease_id + 1));

  origin.last_lease_id = kHighestLeaseId - 1;
  BeginLife(&origin, {7, 2, 11, kDatabase, kClockUs}, kRing, 4);
  EXPECT_GT(HighestRaise(origin), kHighestLeaseId) << "nothing overflows";
  EXPECT_FALSE(IsEvidence(origin, std::numeric_limits<int64_t>::max()));
}

// ---------------------------------------------------------------------------------------------------------------------
// Settling
// ---------------------------------------------------------------------------------------------------------------------

TEST(Settling, LastsAsLongAsTheLongestLease) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 10 * kSecondUs);
  EXPECT_EQ(origin.settles_until_us, kClockUs + 70 * kSecondUs) << "the registry's own setting";
  EXPECT_EQ(origin.settling_us, 70 * kSecondUs);
  EXPECT_TRUE(origin.loss_known);
  origin = Recorded();
  origin.longest_us = 600 * kSecondUs;
  Settle(&origin, There(), 60 * kSecondUs, 10 * kSecondUs);
  EXPECT_EQ(origin.settles_until_us, kClockUs + 610 * kSecondUs) << "that of a node";
}

TEST(Settling, IsNotShortened) {
  Origin origin = Recorded();
  Settle(&origin, There(), 60 * kSecondUs, 0);
  const Here later = {7, 2, 5, kDatabase, kClockUs + 20 * kSecondUs};
  Settle(&origin, later, kSecondUs, 0);
  EXPECT_EQ(origin.settles_until_us, kClockUs + 60 * kSecondUs);
  Settle(&origin, later, 60 * kSecondUs, 0);
  EXPECT_EQ(origin.settles_until_us, kClockUs + 80 * kSecondUs) << "a further loss makes it longer";
  const Here put_right = {7, 2, 5, kDatabase, kClockUs - 3600 * kSecondUs};
  EXPECT_EQ(SettlesUntil(origin, put_right), put_right.clock_us + 60 * kSecondUs) << "the clock was ahead";
  EXPECT_TRUE(HasNews(origin, put_right, 0));
  EXPECT_FALSE(HasNews(origin, later, 0));
}

TEST(Settling, IsOverWhenItsTimeIs) {
  Origin origin = Recorded();
  EXPECT_FALSE(SettlingOf(origin, There(), true).active);
  origin.settles_until_us = kClockUs + 30 * kSecondUs;
  origin.settling_us = 60 * kSecondUs;
  const Settling now = SettlingOf(origin, There(), true);
  EXPECT_TRUE(now.active && now.noticed);
  EXPECT_FALSE(now.half_over);
  EXPECT_EQ(now.half_us, kClockUs);
  EXPECT_TRUE(SettlingOf(origin, {7, 2, 5, kDatabase, kClockUs + 1}, false).half_over);
  EXPECT_FALSE(SettlingOf(origin, {7, 2, 5, kDatabase, kClockUs + 30 * kSecondUs}, false).active);
  Origin next = origin;
  ++next.timeline;
  EXPECT_NE(SettlingOf(next, There(), false).downwards, now.downwards);
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
      const int64_t slot = rest.Free();
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
    for (int64_t slot = from; slot != to + (from <= to ? 1 : -1); slot += from <= to ? 1 : -1)
      slots.push_back(slot);
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
  EXPECT_EQ(Tried(SettlingOrder(kRing, down, settling), kRing),
            Slots({{30, 22}, {31, 31}, {slot + 1, 21}, {0, slot}}));
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
  const bool all = !settling.active || settling.half_over;
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
    settling.half_over = below(2) == 0;
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
  settling.active = settling.half_over = true;
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
  EXPECT_EQ(EndForAcquired(layout, Asked(7, 600 * kSecondUs)), 7 + kFirstWindowUs / kUsPerMs);
  EXPECT_EQ(EndForAcquired(layout, Asked(7, 2 * kSecondUs)), 2007);
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

TEST(Adoption, TakesALeaseInAsItsNodeHasIt) {
  const Layout &layout = kDefaultLayout;
  ExtendRequest request = {};
  request.lease_id = 50;
  request.worker = 7;
  request.window_start = 100;
  request.held_until = 200;
  request.now = 150;
  Origin origin = {};
  origin.last_lease_id = origin.jumped_from = 50;
  EXPECT_TRUE(MayAdopt(layout, request, origin, 99));
  EXPECT_FALSE(MayAdopt(layout, request, origin, 100)) << "another lease of the worker id was used since";
  --origin.last_lease_id;
  EXPECT_FALSE(MayAdopt(layout, request, origin, 99)) << "an id that is yet to be granted";
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
  --origin.jumped_from;
  EXPECT_TRUE(changed(late)) << "of the newest loss";
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
