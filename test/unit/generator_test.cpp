// Take(): every outcome at its limits, and a million ids under random clocks and leases.
#include "core/generator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/open_run.h"
#include "length.h"
#include "opened.h"

namespace snowflake {
namespace {

constexpr Terms kTerms = {5, 0};

bool Same(const Lease &a, const Lease &b) {
  return a.lease_id == b.lease_id && std::memcmp(&a.secret, &b.secret, sizeof(Secret)) == 0 && a.worker == b.worker &&
         a.window_start == b.window_start && a.window_end == b.window_end;
}

bool Same(const Generator &a, const Generator &b) {
  return a.layout == b.layout && Same(a.lease, b.lease) && a.last_tick == b.last_tick &&
         a.next_sequence == b.next_sequence && a.open == b.open;
}

void ExpectRun(const Decision &d, Tick tick, int32_t sequence, int32_t count, Tick lead) {
  ASSERT_EQ(static_cast<int>(d.outcome), static_cast<int>(Outcome::kRun));
  EXPECT_EQ(d.run.tick, tick);
  EXPECT_EQ(d.run.sequence, sequence);
  EXPECT_EQ(d.run.count, count);
  EXPECT_EQ(d.lead, lead);
}

// Expects a refusal that changes nothing.
void ExpectRefused(Generator *g, Tick now, Outcome outcome, Tick lead) {
  const Generator before = *g;
  const Decision d = Take(g, now, 1, kTerms);
  EXPECT_EQ(static_cast<int>(d.outcome), static_cast<int>(outcome));
  EXPECT_EQ(d.lead, lead);
  EXPECT_TRUE(Same(*g, before));
}

TEST(Take, AllZeroHasNoLease) {
  Generator g = {};
  ExpectRefused(&g, 100, Outcome::kNoLease, 0);
}

TEST(Take, AClosedGeneratorIssuesNothing) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  Take(&g, 100, 7, kTerms);
  Close(&g);
  ExpectRefused(&g, 100, Outcome::kNoLease, 0);
}

TEST(Take, TheFirstTickOfAWindowIsUsedFromItsFirstNumber) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  const Decision d = Take(&g, 100, 2, kTerms);
  ExpectRun(d, 100, 0, 2, 0);
  EXPECT_EQ(d.run.worker, 3);
}

TEST(Take, RunsOfOneTickFollowOneAnother) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRun(Take(&g, 110, 1, kTerms), 110, 0, 1, 0);
  ExpectRun(Take(&g, 110, 16, kTerms), 110, 1, 16, 0);
  ExpectRun(Take(&g, 110, 1, kTerms), 110, 17, 1, 0);
  ExpectRun(Take(&g, 111, 1, kTerms), 111, 0, 1, 0);
}

TEST(Take, AWantBiggerThanWhatIsLeftGetsTheRest) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRun(Take(&g, 110, 4000, kTerms), 110, 0, 4000, 0);
  ExpectRun(Take(&g, 110, 256, kTerms), 110, 4000, 96, 0);
  ExpectRun(Take(&g, 110, 1000000, kTerms), 111, 0, 4096, 1);
}

// G3: when a tick's numbers are used up, the lead grows, up to max_lead and not one tick more.
TEST(Take, AUsedUpTickBorrowsUpToMaxLead) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  for (Tick lead = 0; lead <= kTerms.max_lead; ++lead)
    ExpectRun(Take(&g, 110, 4096, kTerms), 110 + lead, 0, 4096, lead);
  ExpectRefused(&g, 110, Outcome::kTickUsedUp, 6);
  ExpectRun(Take(&g, 111, 1, kTerms), 116, 0, 1, 5);
}

// G5: a small step back is bridged, and numbers continue in the last tick.
TEST(Take, ASmallStepBackGoesOnInTheLastTick) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRun(Take(&g, 120, 10, kTerms), 120, 0, 10, 0);
  ExpectRun(Take(&g, 115, 10, kTerms), 120, 10, 10, 5);
  ExpectRefused(&g, 114, Outcome::kClockBehind, 6);
  ExpectRefused(&g, -1000000, Outcome::kClockBehind, 1000120);
  ExpectRun(Take(&g, 115, 1, kTerms), 120, 20, 1, 5);
}

TEST(Take, AWindowInTheFutureIsWaitedForUpToTheLead) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRefused(&g, 94, Outcome::kClockBehind, 6);
  ExpectRun(Take(&g, 95, 1, kTerms), 100, 0, 1, 5);
}

// G1: no id at or beyond the window's end, whether the clock or the lead reaches it.
TEST(Take, TheWindowEndIsNeverPassed) {
  Generator g = Opened(kDefaultLayout, 3, 100, 102);
  ExpectRun(Take(&g, 101, 4096, kTerms), 101, 0, 4096, 0);
  ExpectRefused(&g, 101, Outcome::kWindowEnd, 1);
  ExpectRefused(&g, 102, Outcome::kWindowEnd, 0);
  ExpectRefused(&g, 1000000, Outcome::kWindowEnd, 0);
  MoveWindowEnd(&g, 1, 103);
  ExpectRun(Take(&g, 101, 1, kTerms), 102, 0, 1, 1);
  ExpectRefused(&g, 103, Outcome::kWindowEnd, 0);
}

TEST(Take, AnEmptyWindowGivesNothing) {
  Generator g = Opened(kDefaultLayout, 3, 100, 101);
  g.lease.window_end = 100;
  ExpectRefused(&g, 99, Outcome::kWindowEnd, 1);
  ExpectRefused(&g, 100, Outcome::kWindowEnd, 0);
  EXPECT_EQ(LastTickOfLease(g), 99);
}

// G7: the last id is the layout's largest, and none follows it, whatever the clock shows.
TEST(Take, TheLastIdIsTheMaximumThenTheTimeIsUsedUp) {
  const Layout layouts[] = {kDefaultLayout,
                            {0, 1000, 41, 0, 13, 10, false},  // from the sign bit on
                            {0, 10000, 39, 0, 16, 8, true},   // the sequence above the worker
                            {0, 1000, 41, 0, 5, 7, false},    // 53 bits
                            {0, 86400000000, 9, 2, 3, 1, true}};
  for (const Layout &layout : layouts) {
    const Tick last = layout.max_tick();
    const int32_t worker = static_cast<int32_t>(layout.worker_count() - 1);
    Generator g = Opened(layout, worker, last - 100, last + 1);
    ExpectRun(Take(&g, last, layout.sequence_count() - 1, kTerms), last, 0,
              static_cast<int32_t>(layout.sequence_count() - 1), 0);
    const Decision d = Take(&g, last, 100, kTerms);
    ExpectRun(d, last, static_cast<int32_t>(layout.sequence_count() - 1), 1, 0);
    const int64_t largest = layout.Pack({d.run.tick, d.run.worker, d.run.sequence});
    const int32_t bits = std::min(63, layout.total_bits());
    EXPECT_EQ(static_cast<uint64_t>(largest), (uint64_t{1} << bits) - 1);
    ExpectRefused(&g, last, Outcome::kTimeUsedUp, 1);
    ExpectRefused(&g, last + 1, Outcome::kTimeUsedUp, 0);
    ExpectRefused(&g, last + 1000000, Outcome::kTimeUsedUp, 0);
    ExpectRefused(&g, last - 4, Outcome::kTimeUsedUp, 5);
    ExpectRefused(&g, last - 5, Outcome::kTickUsedUp, 6);
    ExpectRefused(&g, last - 6, Outcome::kClockBehind, 6);
  }
}

// A window beyond the layout's end does not help.
TEST(Take, NoWindowReachesBeyondTheLayout) {
  Generator g = Opened(kDefaultLayout, 3, kDefaultLayout.max_tick() - 5, kDefaultLayout.max_tick() + 1);
  g.lease.window_end = std::numeric_limits<Tick>::max();
  ExpectRefused(&g, kDefaultLayout.max_tick() + 1, Outcome::kTimeUsedUp, 0);
}

TEST(Take, OnlyAFreshTickOfTheClockIsJittered) {
  const Terms jittered = {5, 77};
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRun(Take(&g, 98, 1, jittered), 100, 0, 1, 2);          // borrowed from the lead
  ExpectRun(Take(&g, 100, 1, jittered), 100, 1, 1, 0);         // begun
  ExpectRun(Take(&g, 105, 5000, jittered), 105, 77, 4019, 0);  // fresh
  ExpectRun(Take(&g, 105, 1, jittered), 106, 0, 1, 1);         // borrowed
  ExpectRun(Take(&g, 106, 1, jittered), 106, 1, 1, 0);         // the clock has caught up with it
  ExpectRun(Take(&g, 107, 1, jittered), 107, 77, 1, 0);
  Generator first = Opened(kDefaultLayout, 3, 100, 200);
  ExpectRun(Take(&first, 100, 1, jittered), 100, 77, 1, 0);  // the window's first tick
}

TEST(Terms, MaxLeadIsAtLeastOneTick) {
  EXPECT_EQ(MaxLead(kDefaultLayout, 5000), 5);
  EXPECT_EQ(MaxLead(kDefaultLayout, 5999), 5);
  EXPECT_EQ(MaxLead(kDefaultLayout, 0), 1);
  EXPECT_EQ(MaxLead({0, 10000, 39, 0, 16, 8, true}, 5000), 1);
  EXPECT_EQ(MaxLead({0, 1000000, 28, 0, 22, 13, false}, 5000), 1);
  EXPECT_EQ(MaxLead({0, 10, 48, 0, 8, 7, false}, 5000), 500);
}

TEST(Terms, AFreshTickStartsInTheFirstQuarterOfItsNumbers) {
  EXPECT_EQ(FreshLimit(kDefaultLayout), 1024);
  EXPECT_EQ(FreshLimit({0, 1000, 41, 0, 5, 7, false}), 32);
  EXPECT_EQ(FreshLimit({0, 1000, 41, 0, 5, 3, false}), 2);
  EXPECT_EQ(FreshLimit({0, 1000, 41, 0, 5, 2, false}), 1);
  EXPECT_EQ(FreshLimit({0, 1000, 41, 0, 5, 1, false}), 1);
}

TEST(Lease, OpenPutsTheLastTickJustBeforeTheWindow) {
  const Generator g = Opened(kDefaultLayout, 3, 100, 200);
  EXPECT_TRUE(g.open);
  EXPECT_EQ(g.last_tick, 99);
  EXPECT_EQ(g.next_sequence, 4096);
  EXPECT_EQ(LastTickOfLease(g), 99) << "nothing was used";
  const Generator from_epoch = Opened(kDefaultLayout, 3, 0, 200);
  EXPECT_EQ(LastTickOfLease(from_epoch), -1);
}

TEST(Raise, EveryLaterIdIsOfALaterTick) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  EXPECT_EQ(Take(&g, 110, 5, kTerms).run.tick, 110);
  PassTick(&g, 110);
  const Decision after = Take(&g, 110, 5, kTerms);
  EXPECT_EQ(after.run.tick, 111) << "what is left of the tick is ruled out, too";
  EXPECT_EQ(after.run.sequence, 0);
  PassTick(&g, 110);
  EXPECT_EQ(Take(&g, 110, 5, kTerms).run.sequence, 5) << "not later than what was issued: nothing changes";
  PassTick(&g, 113);
  const Decision next = Take(&g, 110, 5, kTerms);
  EXPECT_EQ(next.outcome, Outcome::kRun);
  EXPECT_EQ(next.run.tick, 114);
  PassTick(&g, 120);
  EXPECT_EQ(Take(&g, 110, 1, kTerms).outcome, Outcome::kClockBehind);
  EXPECT_EQ(Take(&g, 116, 1, kTerms).run.tick, 121);
  PassTick(&g, 50);
  EXPECT_EQ(Take(&g, 116, 1, kTerms).run.tick, 121) << "never back";
}

TEST(Raise, BeyondTheWindowItWaitsForOneThatReachesSoFar) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  PassTick(&g, 250);
  EXPECT_EQ(Take(&g, 251, 1, kTerms).outcome, Outcome::kWindowEnd);
  MoveWindowEnd(&g, 1, 300);
  EXPECT_EQ(Take(&g, 251, 1, kTerms).run.tick, 251);
  PassTick(&g, 500);
  EXPECT_EQ(Close(&g).last_tick, 299) << "what was used lies in the window";
  PassTick(&g, 600);
  EXPECT_EQ(g.last_tick, 500) << "without a lease there is nothing to raise";
}

TEST(Lease, CloseReturnsWhatToRelease) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  g.lease.lease_id = 42;
  g.lease.secret.bytes[15] = 9;
  Take(&g, 120, 1, kTerms);
  const Retired retired = Close(&g);
  EXPECT_FALSE(g.open);
  EXPECT_EQ(retired.lease_id, 42);
  EXPECT_EQ(retired.secret.bytes[15], 9);
  EXPECT_EQ(retired.worker, 3);
  EXPECT_EQ(retired.last_tick, 120);
  EXPECT_EQ(g.last_tick, 120) << "outlives the lease";
}

TEST(Lease, AnUnusedLeaseReportsTheTickBeforeItsWindow) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  EXPECT_EQ(Close(&g).last_tick, 99);
}

TEST(Lease, AnAnswerForAnotherLeaseMovesNothing) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  const Generator before = g;
  MoveWindowEnd(&g, 2, 500);
  EXPECT_TRUE(Same(g, before));
  Close(&g);
  MoveWindowEnd(&g, 1, 500);
  EXPECT_EQ(g.lease.window_end, 200) << "closed";
}

TEST(Lease, AWindowEndNeverMovesBack) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  MoveWindowEnd(&g, 1, 150);
  EXPECT_EQ(g.lease.window_end, 200);
  MoveWindowEnd(&g, 1, 200);
  EXPECT_EQ(g.lease.window_end, 200);
  MoveWindowEnd(&g, 1, 201);
  EXPECT_EQ(g.lease.window_end, 201);
}

// G2: where a new lease must start for ids to keep rising. A window that is no longer than the lead
// would otherwise be requested again and again until the clock's next tick.
TEST(Lease, ExtendFromReachesTheTickThatIsWantedNext) {
  const Layout layout = {0, 1000000, 41, 0, 5, 6, false};
  Generator g = {};
  Open(&g, layout, {1, {}, 3, 1000, 1001});
  const Terms terms = {MaxLead(layout, 5000), 0};
  EXPECT_EQ(Take(&g, 1000, layout.sequence_count(), terms).outcome, Outcome::kRun);
  ASSERT_EQ(Take(&g, 1000, 1, terms).outcome, Outcome::kWindowEnd);
  const int64_t second = 1000000;
  MoveWindowEnd(&g, 1, WindowEnd(layout, 1000, second));
  EXPECT_EQ(Take(&g, 1000, 1, terms).outcome, Outcome::kWindowEnd) << "from the clock's own tick it moves nothing";
  MoveWindowEnd(&g, 1, WindowEnd(layout, ExtendFrom(g, 1000, terms.max_lead), second));
  EXPECT_EQ(Take(&g, 1000, 1, terms).outcome, Outcome::kRun);
  EXPECT_EQ(ExtendFrom(g, 1000, terms.max_lead), 1000) << "a tick that may not be used yet is not asked for";
  EXPECT_EQ(ExtendFrom(g, 5000, terms.max_lead), 5000) << "never behind the clock";
}

TEST(Lease, FirstUnusedIsTheTickAfterTheLastOne) {
  Generator g = Opened(kDefaultLayout, 3, 100, 200);
  EXPECT_EQ(FirstUnused(g, kDefaultLayout), 100);
  Take(&g, 120, 1, kTerms);
  EXPECT_EQ(FirstUnused(g, kDefaultLayout), 121);
  Close(&g);
  EXPECT_EQ(FirstUnused(g, kDefaultLayout), 121) << "the last tick outlives the lease";
  EXPECT_EQ(FirstUnused(Opened(kDefaultLayout, 3, 0, 200), kDefaultLayout), 0);
}

TEST(Lease, FirstUnusedLiesAboveWhateverWasIssuedUnderAnotherLayout) {
  const Layout layouts[] = {kDefaultLayout,
                            {1409529600000, 10000, 39, 0, 16, 8, true},
                            {1735689600000, 1000000, 28, 0, 22, 13, false},
                            {1735689600001, 10, 48, 0, 8, 7, false}};
  for (const Layout &before : layouts)
    for (const Layout &after : layouts) {
      const Tick last = before.TickAt(1767225600123456);  // 2026-01-01
      Generator g = Opened(before, 3, last, last + 10);
      Take(&g, last, 1, kTerms);
      const Tick first = FirstUnused(g, after);
      EXPECT_GT(after.UnixUsAt(first), before.UnixUsAt(last));
      EXPECT_LE(after.UnixUsAt(first), before.UnixUsAt(last) + after.tick_us);
    }
}

TEST(Lease, AGeneratorThatNeverHadALeaseAsksForNothingBeyondTheEpoch) {
  const Generator g = {};
  EXPECT_LE(FirstUnused(g, kDefaultLayout), 0);
  EXPECT_LE(FirstUnused(g, {0, 1000, 41, 0, 10, 12, false}), 1);
}

TEST(Lease, IsBehindWhereTheEarliestTickThatIsLeftIsTooFarAhead) {
  Generator g = Opened(kDefaultLayout, 3, 100, 1000000);
  EXPECT_FALSE(IsBehind(g, 95, 5)) << "within max_lead of the window's start";
  EXPECT_TRUE(IsBehind(g, 94, 5));
  g.last_tick = 150;
  EXPECT_FALSE(IsBehind(g, 145, 5)) << "within max_lead of the last tick";
  EXPECT_TRUE(IsBehind(g, 144, 5));
  EXPECT_TRUE(IsBehind(g, -1000000, 5));
  Close(&g);
  EXPECT_FALSE(IsBehind(g, 100, 5)) << "closed";
}

TEST(Lease, AWindowThatIsStillToBegin) {
  Generator g = Opened(kDefaultLayout, 3, 5000, 1000000);
  EXPECT_TRUE(BeginsInFuture(g, 100, 5));
  EXPECT_TRUE(BeginsInFuture(g, 4994, 5));
  EXPECT_FALSE(BeginsInFuture(g, 4995, 5)) << "ids lead the clock as far as they may";
  EXPECT_FALSE(BeginsInFuture(g, 6000, 5));
  g.last_tick = 5000;
  EXPECT_FALSE(BeginsInFuture(g, 100, 5)) << "ids were issued: the clock stepped back";
  g.last_tick = 4999;
  Close(&g);
  EXPECT_FALSE(BeginsInFuture(g, 100, 5)) << "closed";
}

// What a registry would do for this node alone: store a watermark for each worker id. Processes
// issue from the open run, also from what they know of runs that have ended.
class Schedule {
 public:
  Schedule(uint64_t seed, int64_t numbers) : random_(seed), numbers_left_(numbers) { layout_ = RandomLayout(); }

  void Go() {
    clock_ = Below(2) == 0 ? Below(layout_.max_tick() / 2 + 1) : layout_.max_tick() - Below(300);
    if (clock_ < 0) clock_ = 0;
    Acquire(false);
    for (int step = 0; step < 40000 && numbers_left_ > 0 && !::testing::Test::HasFailure(); ++step) {
      MoveClock();
      if (Below(200) == 0) Acquire(false);
      if (Below(30) == 0) Extend(Below(2) == 0 ? g_.lease.lease_id : g_.lease.lease_id - 1);
      if (Below(100) == 0) Raise();
      if (Below(30) == 0) SealOnce();
      IssueOnce(&processes_[Below(static_cast<int64_t>(std::size(processes_)))]);
    }
    EndOpenRun();
    CheckNoNumberTwice();
  }

  int64_t taken() const { return taken_; }
  int64_t returned() const { return returned_; }
  int64_t too_late() const { return too_late_; }
  const std::map<Outcome, int64_t> &outcomes() const { return outcomes_; }

 private:
  struct Numbers {
    int32_t worker;
    Tick tick;
    int32_t sequence, count;
    bool operator<(const Numbers &other) const {
      return std::tie(worker, tick, sequence) < std::tie(other.worker, other.tick, other.sequence);
    }
  };

  // What a process knows of a run.
  struct Known {
    uint64_t serial;  // 0: of none
    Run run;
  };

  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }

  Layout RandomLayout() {
    const int64_t ticks_us[] = {1, 10, 1000, 10000, 1000000};
    for (;;) {
      const Layout layout = {Below(1700000000000),
                             ticks_us[Below(5)],
                             static_cast<int32_t>(4 + Below(45)),
                             static_cast<int32_t>(Below(4)),
                             static_cast<int32_t>(1 + Below(8)),
                             static_cast<int32_t>(1 + Below(12)),
                             Below(2) == 0};
      if (layout.Fault(true) == LayoutFault::kNone) return layout;
    }
  }

  void MoveClock() {
    const int64_t kind = Below(100);
    if (kind < 40) return;  // the clock stands still, or the same tick
    if (kind < 90)
      clock_ += 1 + Below(3);
    else if (kind < 94)
      clock_ -= Below(12);
    else if (kind < 97)
      clock_ += Below(200);
    else if (kind < 98)
      clock_ -= Below(1000);
    else
      clock_ += g_.last_tick > clock_ ? Below(g_.last_tick - clock_ + 1) : 0;  // drifts to the last tick
    // Only a little beyond the layout's end, or the rest of the run would be refusals.
    if (clock_ > layout_.max_tick() + 3) clock_ = layout_.max_tick() + 3 - Below(60);
  }

  // Released with its last tick, or lost and expired with its whole window.
  void Retire() {
    EndOpenRun();
    if (!g_.open) return;
    const Retired retired = Close(&g_);
    ASSERT_GE(retired.last_tick, start_ - 1);
    ASSERT_LT(retired.last_tick, end_);
    ASSERT_EQ(retired.last_tick, std::min(std::max(highest_, start_ - 1), end_ - 1));
    Tick *watermark = &watermark_.try_emplace(retired.worker, kNoWatermark).first->second;
    *watermark = std::max(*watermark, Below(2) == 0 ? retired.last_tick : end_ - 1);
  }

  void Acquire(bool after_step_back) {
    Retire();
    const int32_t worker = static_cast<int32_t>(Below(std::min<int64_t>(layout_.worker_count(), 6)));
    const Tick watermark = watermark_.try_emplace(worker, kNoWatermark).first->second;
    Lease lease = {};
    lease.lease_id = ++lease_id_;
    lease.worker = worker;
    const Tick wanted = after_step_back ? clock_ : std::max(clock_, FirstUnused(g_, layout_));
    lease.window_start = start_ = WindowStart(wanted, watermark);
    lease.window_end = end_ = WindowEnd(layout_, start_, layout_.tick_us * (1 + Below(100)));
    if (lease.window_start > layout_.max_tick()) return;  // the layout's time is used up: no lease
    Open(&g_, layout_, lease);
    highest_ = raised_ = -1;
    sealed_ = {-1, 0};
    last_id_ = -1;
  }

  void Extend(int64_t lease_id) {
    EndOpenRun();
    const Tick end = WindowEnd(layout_, std::max<Tick>(clock_ - Below(50), 0), layout_.tick_us * (1 + Below(100)));
    MoveWindowEnd(&g_, lease_id, end);
    if (g_.open && lease_id == g_.lease.lease_id) end_ = std::max(end_, end);
  }

  void Raise() {
    EndOpenRun();
    if (!g_.open) return;
    raised_ = std::min(g_.last_tick + Below(4) - 1, layout_.max_tick());
    PassTick(&g_, raised_);
    highest_ = std::max(highest_, raised_);
  }

  void SealOnce() {
    EndOpenRun();
    if (!g_.open) return;
    sealed_ = Seal(&g_, clock_);
  }

  // Like a call: without the lock, then under it, from the run that is open or from another one.
  void IssueOnce(Known *known) {
    if (known->serial != 0 && Below(4) != 0 && IssueFrom(*known)) return;
    if (open_.serial != 0 && Below(2) == 0) {
      *known = {open_.serial, open_.run};
      if (IssueFrom(*known)) return;
    }
    EndOpenRun();
    TakeOnce(known);
  }

  // Nothing that was not issued is left out, whoever issues next.
  bool IssueFrom(const Known &known) {
    const bool is_open = is_open_ && known.serial == open_.serial;
    const int32_t most = int32_t{1} << Below(13);
    int32_t first = -1;
    const int32_t count = Issue(&open_.word, known.serial, known.run.count, most, &first);
    EXPECT_EQ(count, is_open ? std::min(most, known.run.count - issued_) : 0);
    too_late_ += !is_open && g_.open;
    if (count == 0) return false;
    EXPECT_EQ(first, issued_);
    NoteIssued(known.run, count);
    return true;
  }

  void EndOpenRun() {
    const int32_t issued = EndRun(&open_, &g_);
    EXPECT_EQ(issued, is_open_ ? issued_ : 0);
    if (!is_open_) return;
    is_open_ = false;
    EXPECT_EQ(g_.last_tick, open_.run.tick);
    EXPECT_EQ(g_.next_sequence, open_.run.sequence + issued_);
    returned_ += open_.run.count - issued_;
  }

  void TakeOnce(Known *known) {
    const Terms terms = {1 + Below(6), Below(FreshLimit(layout_))};
    const int64_t want = Below(2) == 0 ? int64_t{1} << Below(13) : kMostOfRun;
    const Generator before = g_;
    const Decision d = Take(&g_, clock_, want, terms);
    ++outcomes_[d.outcome];
    if (d.outcome == Outcome::kRun) {
      CheckRun(d, want, terms, before);
      is_open_ = true;
      issued_ = 0;
      const int32_t count = static_cast<int32_t>(1 + Below(d.run.count));
      BeginRun(&open_, d.run, count, 1);
      *known = {open_.serial, d.run};
      NoteIssued(d.run, count);
    } else {
      CheckRefusal(d, terms, before);
    }
    if (d.outcome == Outcome::kNoLease && Below(20) == 0) Acquire(false);
    if (d.outcome == Outcome::kClockBehind && IsBehind(g_, clock_, terms.max_lead) && Below(5) == 0) Acquire(true);
  }

  // G1, G3 for one run.
  void CheckRun(const Decision &d, int64_t want, const Terms &terms, const Generator &before) {
    ASSERT_TRUE(d.run.tick >= start_ && d.run.tick < end_ && d.run.tick <= layout_.max_tick());
    ASSERT_EQ(d.lead, d.run.tick - clock_);
    ASSERT_TRUE(d.lead >= 0 && d.lead <= terms.max_lead);
    ASSERT_EQ(d.run.worker, before.lease.worker);
    ASSERT_TRUE(d.run.sequence >= 0 && d.run.count >= 1 && d.run.count <= want);
    ASSERT_LE(int64_t{d.run.sequence} + d.run.count, layout_.sequence_count());
    if (d.run.tick == before.last_tick)
      ASSERT_EQ(d.run.sequence, before.next_sequence);
    else
      ASSERT_EQ(d.run.sequence, d.lead > 0 ? 0 : terms.first_sequence);
    ASSERT_GT(d.run.tick, raised_);
    ASSERT_TRUE(d.run.tick > sealed_.tick || (d.run.tick == sealed_.tick && d.run.sequence >= sealed_.sequence));
    highest_ = d.run.tick;
  }

  // G2, for the run's next `count` numbers.
  void NoteIssued(const Run &run, int32_t count) {
    const int32_t sequence = run.sequence + issued_;
    const int64_t first = layout_.Pack({run.tick, run.worker, sequence});
    const int64_t last = layout_.Pack({run.tick, run.worker, sequence + count - 1});
    ASSERT_GT(first, last_id_);
    ASSERT_GE(last, first);
    ASSERT_EQ(run.worker, g_.lease.worker);
    last_id_ = last;
    issued_ += count;
    taken_ += count;
    numbers_left_ -= count;
    runs_.push_back({run.worker, run.tick, sequence, count});
  }

  // A refusal has a reason that is known from outside, and changes nothing.
  void CheckRefusal(const Decision &d, const Terms &terms, const Generator &before) {
    ASSERT_TRUE(Same(g_, before));
    const Tick reached = std::max({clock_, highest_, start_, sealed_.tick});
    switch (d.outcome) {
      case Outcome::kNoLease: ASSERT_FALSE(before.open); break;
      case Outcome::kWindowEnd: ASSERT_TRUE(clock_ + d.lead >= end_ && d.lead <= terms.max_lead); break;
      case Outcome::kTickUsedUp:
        ASSERT_TRUE(d.lead == terms.max_lead + 1 && before.next_sequence == layout_.sequence_count());
        break;
      case Outcome::kClockBehind: ASSERT_GT(reached - clock_, terms.max_lead); break;
      case Outcome::kTimeUsedUp: ASSERT_TRUE(reached >= layout_.max_tick()); break;
      case Outcome::kRun: FAIL();
    }
  }

  // G1: over the whole run, in any lease.
  void CheckNoNumberTwice() {
    std::sort(runs_.begin(), runs_.end());
    for (size_t i = 1; i < runs_.size(); ++i) {
      const Numbers &a = runs_[i - 1], &b = runs_[i];
      if (a.worker == b.worker && a.tick == b.tick) {
        ASSERT_LE(a.sequence + a.count, b.sequence);
      }
    }
  }

  std::mt19937_64 random_;
  int64_t numbers_left_;
  Layout layout_ = {};
  Generator g_ = {};
  Tick clock_ = 0, start_ = 0, end_ = 0;
  OpenRun open_ = {};
  bool is_open_ = false;
  int32_t issued_ = 0;  // of the newest run
  Known processes_[4] = {};
  // In the present lease.
  Tick highest_ = -1, raised_ = -1;
  Position sealed_ = {-1, 0};
  int64_t last_id_ = -1;
  int64_t lease_id_ = 0;
  int64_t taken_ = 0;
  int64_t returned_ = 0;
  int64_t too_late_ = 0;  // calls with a run that has ended
  std::map<int32_t, Tick> watermark_;
  std::map<Outcome, int64_t> outcomes_;
  std::vector<Numbers> runs_;
};

TEST(TakeProperty, NoNumberTwiceRisingWithinALeaseInsideTheWindowAndTheLead) {
  const char *given = std::getenv("SNOWFLAKE_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20250103;
  std::cout << "seed " << seed << std::endl;
  RecordProperty("seed", std::to_string(seed));
  int64_t taken = 0, returned = 0, too_late = 0;
  std::map<Outcome, int64_t> outcomes;
  const int64_t layouts = AtLength(60, 500);
  for (uint64_t i = 0; i < static_cast<uint64_t>(layouts) && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    Schedule schedule(seed + i, 60000);
    schedule.Go();
    taken += schedule.taken();
    returned += schedule.returned();
    too_late += schedule.too_late();
    for (const auto &[outcome, count] : schedule.outcomes()) outcomes[outcome] += count;
  }
  EXPECT_GE(taken, AtLength(100000, 1000000));
  EXPECT_GE(returned, AtLength(10000, 100000));
  EXPECT_GE(too_late, AtLength(10000, 100000));
  for (Outcome outcome : {Outcome::kRun, Outcome::kNoLease, Outcome::kWindowEnd, Outcome::kTickUsedUp,
                          Outcome::kClockBehind, Outcome::kTimeUsedUp})
    EXPECT_GT(outcomes[outcome], AtLength(50, 1000)) << static_cast<int>(outcome);
  std::cout << layouts << " layouts, " << taken << " ids, " << returned << " returned, " << too_late
            << " calls with a run that had ended" << std::endl;
}

}  // namespace
}  // namespace snowflake
