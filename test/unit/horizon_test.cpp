// The horizon: which snapshots a sample is valid for, which samples are kept, and a server with
// random transactions while samples are taken.
//
// Optimized: it takes a second or a few, and ten or more without.
#include "core/horizon.h"

#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/box.h"
#include "core/open_run.h"
#include "length.h"
#include "opened.h"
#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Covers, WhatHadEndedHasEnded) {
  const Xid then[] = {10, 12}, none[] = {0};
  const Moment p = {15, then, 2};
  EXPECT_TRUE(Covers(p, {15, then, 2}));
  const Xid less[] = {12}, more[] = {12, 11}, later[] = {20, 16, 12}, at_xmax[] = {15};
  EXPECT_TRUE(Covers(p, {15, none, 0}));
  EXPECT_TRUE(Covers(p, {16, less, 1}));
  EXPECT_TRUE(Covers(p, {30, later, 3}));
  EXPECT_TRUE(Covers(p, {16, at_xmax, 1}));
  EXPECT_FALSE(Covers(p, {14, less, 1})) << "14 had ended";
  EXPECT_FALSE(Covers(p, {30, more, 2})) << "11 had ended";
}

TEST(Covers, NumbersWrapAround) {
  const Xid then[] = {5, 0xfffffffe}, seen[] = {0xfffffffe, 9, 5}, ended[] = {0xfffffffd};
  const Moment p = {7, then, 2};
  EXPECT_TRUE(Covers(p, {12, seen, 3}));
  EXPECT_TRUE(Covers(p, {7, seen, 1}));
  EXPECT_FALSE(Covers(p, {0xffffffff, seen, 1}));
  EXPECT_FALSE(Covers(p, {12, ended, 1}));
}

TEST(LowestId, AtTheLayoutsEnds) {
  EXPECT_EQ(LowestId(kDefaultLayout, -5), 0);
  EXPECT_EQ(LowestId(kDefaultLayout, 0), 0);
  EXPECT_EQ(LowestId(kDefaultLayout, 7), int64_t{7} << 22);
  EXPECT_EQ(LowestId(kDefaultLayout, kDefaultLayout.max_tick() + 1), kMax);
}

TEST(IsOfFuture, AMinuteAheadOfTheClock) {
  const int64_t now_us = kDefaultLayout.UnixUsAt(1000);
  const auto ahead = [&](int64_t ms) {
    return IsOfFuture(kDefaultLayout, LowestId(kDefaultLayout, 1000 + ms), now_us);
  };
  EXPECT_FALSE(ahead(0));
  EXPECT_FALSE(ahead(60001)) << "the tick that begins within it ends";
  EXPECT_TRUE(ahead(60002));
  EXPECT_TRUE(IsOfFuture(kDefaultLayout, kMax, now_us));
  EXPECT_FALSE(IsOfFuture(kDefaultLayout, kMax, kDefaultLayout.UnixUsAt(kDefaultLayout.max_tick()))) << "it ends";
  EXPECT_FALSE(IsOfFuture(kDefaultLayout, 0, -kFarthestUs));
  EXPECT_FALSE(IsOfFuture(Layout{}, 0, now_us)) << "no horizon, no layout";
}

TEST(SealIds, IsTheNextIdOrLower) {
  const Terms terms = {5, 0};
  Generator g = Opened(kDefaultLayout, 700, 100, 1000);
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 50, 1000), LowestId(kDefaultLayout, 100)) << "before its window";
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 200, 1000), LowestId(kDefaultLayout, 200));
  EXPECT_EQ(Take(&g, 198, 1, terms).run.tick, 200) << "the clock steps back";
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 198, 1000), kDefaultLayout.Pack({200, 700, 1}));
  Take(&g, 200, 4095, terms);
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 200, 1000), LowestId(kDefaultLayout, 201)) << "the tick is used up";
  EXPECT_EQ(Take(&g, 150, 1, terms).outcome, Outcome::kClockBehind);
  g.open = false;
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 150, 1000), LowestId(kDefaultLayout, 201)) << "a lease later";
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 300, 1000), LowestId(kDefaultLayout, 300));
  g.open = true;
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 150, 49), LowestId(kDefaultLayout, 150)) << "another worker id is used then";
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 150, 50), LowestId(kDefaultLayout, 201)) << "within max_lead";
  g.open = false;
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 150, 49), LowestId(kDefaultLayout, 150)) << "... without a lease, too";
  Generator never = {};
  EXPECT_EQ(SealIds(&never, kDefaultLayout, 300, 1000), LowestId(kDefaultLayout, 300));
  EXPECT_EQ(SealIds(&never, kDefaultLayout, -300, 1000), 0);
  Generator end = Opened(kDefaultLayout, 1, kDefaultLayout.max_tick(), kDefaultLayout.max_tick() + 1);
  EXPECT_EQ(SealIds(&end, kDefaultLayout, kDefaultLayout.max_tick() + 9, 1000), kMax);
}

TEST(SealIds, GoesOnFromWhatWasIssued) {
  Generator g = Opened(kDefaultLayout, 1, 0, 1000);
  const Terms terms = {5, 0};
  OpenRun open = {};
  BeginRun(&open, Take(&g, 10, 16, terms).run, 12, 1);
  EndRun(&open, &g);
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 10, 1000), kDefaultLayout.Pack({10, 1, 12}));
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 9, 1000), kDefaultLayout.Pack({10, 1, 12}));
  EXPECT_EQ(Take(&g, 9, 16, terms).run.sequence, 12);
  EXPECT_EQ(SealIds(&g, kDefaultLayout, 11, 1000), LowestId(kDefaultLayout, 11));
}

TEST(Samples, ThinOutWithAge) {
  Samples samples = {};
  std::set<int32_t> places;
  auto random = SeededRandom(20261122);
  int64_t now_us = 1;
  for (int i = 0; i < 300000; ++i) {
    now_us += 10 * 1000 + static_cast<int64_t>(random() % 90000);
    const int32_t place = MakeRoomForSample(&samples, 0, now_us);
    AddSample(&samples, {i + 1, now_us, 3, 0, place});
    ASSERT_LE(samples.count, kSamples);
    if (i % 997 != 0 || i < 2000) continue;
    places.clear();
    for (int k = 0; k < samples.count; ++k) {
      places.insert(samples.kept[k].place);
      if (k > 0) {
        ASSERT_GT(samples.kept[k].taken_us, samples.kept[k - 1].taken_us);
      }
      if (k + 1 == samples.count) continue;
      // A snapshot that is a little older than the next sample gets this one.
      const double age = static_cast<double>(now_us - samples.kept[k + 1].taken_us + kUnnoticedUs);
      ASSERT_LT(static_cast<double>(now_us - samples.kept[k].taken_us), 6 * age) << "sample " << k << " of " << i;
    }
    ASSERT_EQ(places.size(), static_cast<size_t>(samples.count)) << "two at one place";
    ASSERT_LT(*places.rbegin(), kSamples);
    ASSERT_EQ(samples.kept[samples.count - 1].horizon, i + 1) << "the newest stays";
  }
}

TEST(Claim, OfAnIdThatNobodyHasPassed) {
  Samples samples = {};
  for (const int64_t horizon : {100, 200, 300})
    AddSample(&samples, {horizon, horizon, 3, 0, MakeRoomForSample(&samples, 0, horizon)});
  EXPECT_FALSE(Claim(&samples, 200, 199)) << "200 was reported";
  EXPECT_FALSE(Claim(&samples, 200, -1));
  EXPECT_EQ(samples.count, 3);
  EXPECT_TRUE(Claim(&samples, 200, 300)) << "the row at the horizon is not below it";
  EXPECT_EQ(samples.count, 3);
  EXPECT_TRUE(Claim(&samples, 200, 299));
  EXPECT_EQ(samples.count, 2) << "300 may not be reported now";
  EXPECT_TRUE(Claim(&samples, 200, 200));
  EXPECT_EQ(samples.count, 2);
  EXPECT_TRUE(Claim(&samples, 200, kMax));
  EXPECT_FALSE(Claim(&samples, kMax, kMax - 1));
}

TEST(Claim, BeforeAnythingWasReported) {
  Samples samples = {};
  EXPECT_TRUE(Claim(&samples, 0, 0));
  EXPECT_FALSE(Claim(&samples, 0, -1)) << "0 is reported while nothing is known";
  EXPECT_FALSE(Claim(&samples, 0, std::numeric_limits<int64_t>::min()));
  AddSample(&samples, {5, 1, 3, 0, MakeRoomForSample(&samples, 0, 1)});
  EXPECT_TRUE(Claim(&samples, 0, 0));
  EXPECT_EQ(samples.count, 0);
}

TEST(Holds, WhatTheTransactionTookAndLater) {
  HorizonSlot slot = {};
  EXPECT_FALSE(Holds(slot, {7, 3}, 500));
  NoteFirstId(&slot, 1, {7, 3}, false, 500);
  EXPECT_TRUE(Holds(slot, {7, 3}, 500));
  EXPECT_TRUE(Holds(slot, {7, 3}, kMax));
  EXPECT_FALSE(Holds(slot, {7, 3}, 499));
  EXPECT_FALSE(Holds(slot, {7, 4}, 500)) << "a transaction later";
  EXPECT_FALSE(Holds(slot, {8, 3}, 500));
  NoteFirstId(&slot, 1, {7, 3}, false, 20);
  NoteFirstId(&slot, 1, {7, 3}, false, 600);
  EXPECT_TRUE(Holds(slot, {7, 3}, 20));
}

TEST(Samples, ThatAreDroppedLeaveTheirPlaces) {
  Samples samples = {};
  auto random = SeededRandom(20261123);
  int64_t now_us = 1;
  for (int i = 1; i < 20000; ++i) {
    now_us += 10 * 1000;
    const int32_t place = MakeRoomForSample(&samples, 0, now_us);
    ASSERT_LT(place, kSamples);
    for (int k = 0; k < samples.count; ++k) ASSERT_NE(samples.kept[k].place, place) << "two at one place";
    AddSample(&samples, {10 * i, now_us, 3, 0, place});
    if (i % 40 != 0) continue;
    ASSERT_TRUE(Claim(&samples, 0, samples.kept[random() % static_cast<uint64_t>(samples.count)].horizon + 5));
  }
}

// One slot, whose transaction has left it.
struct LeftSlot {
  HorizonSlot slot = {};
  std::vector<Xid> running;

  int64_t LowestToCome() { return 1000; }
  int32_t Slots() const { return 1; }
  const HorizonSlot *Slot(int32_t) { return &slot; }
  bool Runs(int32_t, const Local &) { return false; }
  Xid PreparedBy(int32_t, uint32_t) { return 0; }
  Xid Unknown(int32_t) { return 0; }
  Moment TakeMoment() { return {20, running.data(), static_cast<int32_t>(running.size())}; }
};

TEST(TakeSample, IsHeldByWhatHasLeftAndStillRuns) {
  for (const bool runs : {true, false}) {
    LeftSlot server;
    server.slot.lxid = 3;
    server.slot.xid = 10;
    server.slot.first = 500;
    if (runs) server.running = {10};
    FirstId left[2] = {}, holder = {};
    Moment moment = {};
    EXPECT_EQ(TakeSample(&server, left, &moment, &holder), runs ? 500 : 1000);
    EXPECT_EQ(holder.xid, runs ? 10u : 0u);
  }
}

// Eight processes, three slots for prepared transactions, in the layout with few numbers to a tick.
constexpr Layout kNarrow = {1735689600000, kUsPerMs, 41, 0, 10, 4, false};
constexpr int kProcesses = 8;
constexpr int kPrepared = 3;

// The rule that is left out, to see that the test detects this.
enum class Broken {
  kNothing,
  kAnySample,
  kMomentFirst,
  kRunOutlivesSeal,
  kRunOutlivesTransaction,
  kSerialIgnored,
  kNotMoved,
  kWorkersForget,
  kNotKept,
  kNotLowered
};

struct Transaction {
  uint32_t lxid = 0;
  Xid xid = 0;
  int preparing = 0;  // the steps done so far
  bool recovered = false;
  int prepared = -1;  // its slot then
  std::vector<int64_t> rows;
};

struct Process {
  int32_t pid = 0;
  uint32_t next_lxid = 1;
  Transaction transaction;
  // What it knows of a run.
  Run run = {};
  uint64_t serial = 0;
  uint32_t run_lxid = 0;
  bool unaware = false;  // of its parallel workers' ids: it has not loaded the library
};

// The slot of a prepared transaction, and the process that prepared it. It stays after the
// transaction's end, until the slot is used again.
struct Place {
  bool taken = false;
  int process = -1;
  uint32_t lxid = 0;
  Xid xid = 0;
};

// A statement of a poller, from its snapshot to its result.
struct Poll {
  Xid xmax;
  std::vector<Xid> running;
  int64_t answered;             // the highest horizon reported until then
  int64_t lowest_since = kMax;  // of what was committed after the snapshot
};

// What happens in addition to the transactions.
enum class Course {
  kSteps,    // the clock steps by a little
  kLeases,   // one lease follows the other, with larger ids
  kClaimed,  // the same with smaller ids; every row's id is claimed, and the server crashes
};

class World {
 public:
  World(uint64_t seed, Broken broken, Course course) : random_(seed), broken_(broken), course_(course) {
    for (int i = 0; i < kProcesses; ++i) processes_[i].pid = ++last_pid_;
    OpenLease();
  }

  void Go(int steps) {
    for (int i = 0; i < steps; ++i) Step(true);
    for (auto &poll : polls_) Answer(&poll);
  }

  int64_t rows = 0, violations = 0, answers = 0, useful = 0, prepared = 0, samples_taken = 0, returned = 0, falls = 0,
          one_by_one = 0, claims = 0, refused = 0, crashes = 0;

  // The functions that TakeSample() calls. Other processes continue between any two calls.
  int64_t LowestToCome() {
    if (broken_ == Broken::kMomentFirst) SeeMoment();
    if (broken_ != Broken::kRunOutlivesSeal) EndOpenRun();
    const int64_t lowest = SealIds(&generator_, kNarrow, now_, 3);
    Others();
    return lowest;
  }
  int32_t Slots() const { return kProcesses + kPrepared; }
  const HorizonSlot *Slot(int32_t i) {
    Others();
    return &slots_[i];
  }
  bool Runs(int32_t i, const Local &by) {
    Others();
    const bool runs = processes_[i].pid == by.pid && processes_[i].transaction.lxid == by.lxid;
    Others();
    return runs;
  }
  Xid PreparedBy(int32_t i, uint32_t lxid) {
    Others();
    Xid xid = 0;
    for (const Place &place : places_)
      if (place.process == i && place.lxid == lxid) xid = place.xid;
    Others();
    return xid;
  }
  Xid Unknown(int32_t i) {
    Others();
    for (const Transaction &t : prepared_)
      if (t.recovered && t.prepared == i - kProcesses) return t.xid;
    return 0;
  }
  Moment TakeMoment() {
    Others();
    if (broken_ != Broken::kMomentFirst) SeeMoment();
    Others();
    return {moment_xmax_, moment_.data(), static_cast<int32_t>(moment_.size())};
  }

 private:
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  static int64_t IdOf(const Run &run, int32_t place) {
    return kNarrow.Pack({run.tick, run.worker, run.sequence + place});
  }

  bool IssueOne(const Run &run, uint64_t serial, int32_t *first) {
    int32_t count = run.count;
    if (broken_ == Broken::kSerialIgnored && open_.word != 0) {
      serial = open_.word >> kIssuedBits;
      count = std::min(count, open_.run.count);  // so that EndRun() does not notice it first
    }
    return Issue(&open_.word, serial, count, 1, first) > 0;
  }

  void EndOpenRun() {
    const int32_t issued = EndRun(&open_, &generator_);
    returned += issued > 0 && issued < open_.run.count;
  }

  void OpenLease() {
    EndOpenRun();
    if (generator_.open) Close(&generator_);
    Lease lease = {};
    lease.lease_id = ++leases_acquired_;
    lease.worker = static_cast<int32_t>(Below(1024));
    const Tick last = generator_.last_tick;
    lease.window_start = now_ - Below(3);
    lease.window_end = lease.window_start + 100000000;
    Open(&generator_, kNarrow, lease);
    if (course_ != Course::kClaimed || Below(2) == 0) PassTick(&generator_, last);
  }

  void SeeMoment() {
    moment_.assign(running_.begin(), running_.end());
    std::sort(moment_.begin(), moment_.end());
    moment_xmax_ = xmax_;
  }

  void Others() {
    for (uint32_t i = Below(4); i > 0; --i) Step(false);
  }

  void Step(bool alone) {
    const uint32_t what = Below(100);
    if (what < 3) {
      ++now_;
    } else if (what < 4) {
      if (course_ == Course::kSteps)
        now_ += static_cast<Tick>(Below(9)) - 4;
      else if (course_ == Course::kLeases)
        OpenLease();
      else if (alone)
        Befall(Below(50));
    } else if (what < 8) {
      EndPrepared();
    } else if (what < 14) {
      if (alone) Sample();
    } else if (what < 22) {
      polls_.push_back({xmax_, {running_.begin(), running_.end()}, highest_answer_});
    } else if (what < 30) {
      if (polls_.empty()) return;
      const size_t which = Below(4) == 0 ? 0 : Below(static_cast<uint32_t>(polls_.size()));
      Answer(&polls_[which]);
      polls_.erase(polls_.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      Act(&processes_[Below(kProcesses)]);
    }
  }

  void Act(Process *process) {
    Transaction *t = &process->transaction;
    if (t->preparing > 0) return Prepare(process);
    if (t->lxid == 0) {
      if (Below(20) == 0) {
        // Another session, whose local numbers continue those of the previous session.
        process->pid = ++last_pid_;
        process->serial = 0;
        process->unaware = Below(2) == 0;
      }
      t->lxid = process->next_lxid++;
      return;
    }
    const uint32_t what = Below(13);
    if (what == 12) return ClaimOne(process);
    if (what < 4) return TakeId(process, process->unaware);
    if (what < 5) return TakeId(process, true);
    if (what < 6) return AssignXid(t);
    if (what < 7) {
      ++next_xid_;  // for a subtransaction
      return;
    }
    if (what < 8 && t->xid != 0) {
      t->preparing = 1;
      return Prepare(process);
    }
    if (what < 10) End(t, Below(4) != 0);
  }

  void AssignXid(Transaction *t) {
    if (t->xid != 0) return;
    t->xid = next_xid_++;
    running_.insert(t->xid);
  }

  // By a parallel worker or by the process itself: from a run that it knows, or under the lock. A
  // transaction that writes needs an xid.
  void TakeId(Process *process, bool worker) {
    Transaction *t = &process->transaction;
    const int index = static_cast<int>(process - processes_);
    Process own = {};
    Process *taker = worker ? &own : process;
    const bool goes_on = taker->run_lxid == t->lxid || broken_ == Broken::kRunOutlivesTransaction;
    int32_t first = 0;
    if (taker->serial == 0 || !goes_on || !IssueOne(taker->run, taker->serial, &first)) {
      HorizonSlot *slot = &slots_[index];
      const Local by = {process->pid, t->lxid};
      if (Below(3) == 0 || !IssueOne(open_.run, open_.serial, &first)) {
        EndOpenRun();
        const Decision decision = Take(&generator_, now_, 1 + Below(6), {3, 0});
        if (decision.outcome != Outcome::kRun) {
          ++now_;
          return;
        }
        first = 0;
        BeginRun(&open_, decision.run, 1, 1);
      }
      taker->run = open_.run;
      taker->serial = open_.serial;
      taker->run_lxid = t->lxid;
      if (!IsOf(*slot, by) && slot->of_worker && broken_ != Broken::kNotKept) Keep(slot, index);
      if (!worker || broken_ != Broken::kWorkersForget) NoteFirstId(slot, 1, by, worker, IdOf(taker->run, first));
    }
    const int64_t id = IdOf(taker->run, first);
    pool_[drawn_++ % std::size(pool_)] = id;
    if (course_ == Course::kClaimed) return Write(process, id);
    AssignXid(t);
    t->rows.push_back(id);
  }

  // An id that some process got, or that no process got.
  void ClaimOne(Process *process) {
    const int64_t id = pool_[Below(std::size(pool_))];
    Write(process, Below(4) == 0 ? id + static_cast<int64_t>(Below(2000)) - 1000 : id);
  }

  // Like the trigger. A session that has the trigger has loaded the library.
  void Write(Process *process, int64_t id) {
    const int index = static_cast<int>(process - processes_);
    const Local by = {process->pid, process->transaction.lxid};
    process->unaware = false;
    HorizonSlot *slot = &slots_[index];
    if (!Holds(*slot, by, id) || id < highest_) {
      if (sampling_) return;
      const int32_t before = samples_.count;
      ++claims;
      if (!Claim(&samples_, answered_, id)) {
        ++refused;
        return;
      }
      if (!IsOf(*slot, by) && slot->of_worker) Keep(slot, index);
      NoteFirstId(slot, 1, by, false, id);
      NoteHighest();
      if (samples_.count < before && broken_ != Broken::kNotLowered) LowerHorizon(&box_, Record(highest_));
    }
    AssignXid(&process->transaction);
    process->transaction.rows.push_back(id);
  }

  void NoteHighest() {
    highest_ = std::max(samples_.count > 0 ? samples_.kept[samples_.count - 1].horizon : shown_, answered_);
  }

  static KeptHorizon Record(int64_t id) {
    KeptHorizon record;
    std::memset(static_cast<void *>(&record), 0, sizeof(record));
    record.horizon = id;
    return record;
  }

  // Faults of the server, rarely.
  void Befall(uint32_t what) {
    if (what == 0) Crash();
    if (what > 1) return;
    now_ -= static_cast<Tick>(Below(40));
    OpenLease();
  }

  // Only prepared transactions and the box are left.
  void Crash() {
    ++crashes;
    open_.word = 0;  // all of its numbers count as issued
    for (auto &[process, left] : leaving_) prepared_.push_back(left);
    leaving_.clear();
    for (Process &process : processes_) {
      Transaction *t = &process.transaction;
      if (t->preparing == 3) prepared_.push_back(*t);
      process = {};
      process.pid = ++last_pid_;
    }
    for (Place &place : places_) place = {};
    running_.clear();
    xmax_ = next_xid_;
    for (Transaction &t : prepared_) {
      t.recovered = true;
      places_[t.prepared] = {true, -1, 0, t.xid};
      running_.insert(t.xid);
    }
    for (HorizonSlot &slot : slots_) {
      slot.lxid = slot.xid = slot.database = 0;
      slot.first = slot.pid = 0;
      slot.of_worker = false;
    }
    polls_.clear();
    samples_ = {};
    KeptHorizon record = {};
    shown_ = answered_ = LoadHorizon(box_, &record) ? record.horizon : 0;
    NoteHighest();
  }

  void Keep(HorizonSlot *slot, int index) {
    const uint32_t lxid = slot->lxid.load();
    for (int i = 0; i < kPrepared; ++i)
      if (places_[i].process == index && places_[i].lxid == lxid)
        MovePrepared(*slot, lxid, &slots_[kProcesses + i], places_[i].xid);
  }

  // At one moment, as other processes see it.
  void End(Transaction *t, bool commit) {
    if (t->xid != 0) {
      running_.erase(t->xid);
      if (!Precedes(t->xid, xmax_)) xmax_ = t->xid + 1;
    }
    if (commit) {
      for (const int64_t id : t->rows) {
        ++rows;
        if (id < highest_answer_) ++violations;
        for (auto &poll : polls_) poll.lowest_since = std::min(poll.lowest_since, id);
      }
    }
    *t = {};
  }

  void Prepare(Process *process) {
    Transaction *t = &process->transaction;
    HorizonSlot *slot = &slots_[process - processes_];
    switch (t->preparing++) {
      case 1:
        if (!process->unaware && IsOf(*slot, {process->pid, t->lxid})) slot->xid.store(t->xid);
        return;
      case 2:
        for (int i = 0; i < kPrepared && t->prepared < 0; ++i)
          if (!places_[i].taken) t->prepared = i;
        if (t->prepared < 0) return End(t, false);
        places_[t->prepared] = {true, static_cast<int>(process - processes_), t->lxid, t->xid};
        return;
      case 3:
        leaving_[process] = *t;
        *t = {};
        t->preparing = 4;
        t->prepared = leaving_[process].prepared;
        return;
      default: {
        Transaction left = leaving_[process];
        leaving_.erase(process);
        if (slot->xid.load() == left.xid && broken_ != Broken::kNotMoved)
          MovePrepared(*slot, left.lxid, &slots_[kProcesses + left.prepared], left.xid);
        slot->xid.store(0);
        prepared_.push_back(left);
        *t = {};
        ++prepared;
      }
    }
  }

  void EndPrepared() {
    if (prepared_.empty()) return;
    Transaction t = prepared_.front();
    prepared_.pop_front();
    places_[t.prepared].taken = false;
    End(&t, Below(4) != 0);
  }

  void Sample() {
    ++samples_taken;
    FirstId left[2 * (kProcesses + kPrepared)], holder;
    Moment moment = {};
    sampling_ = true;
    const int64_t horizon = TakeSample(this, left, &moment, &holder);
    sampling_ = false;
    const int64_t newest = samples_.count > 0 ? samples_.kept[samples_.count - 1].horizon : shown_;
    if (horizon <= newest) return;
    const int32_t place = MakeRoomForSample(&samples_, highest_answer_, ++sampled_us_);
    xids_[place] = moment_;
    AddSample(&samples_, {horizon, sampled_us_, moment_xmax_, static_cast<int32_t>(moment_.size()), place});
    StoreHorizon(&box_, Record(horizon));
    NoteHighest();
  }

  void Answer(Poll *poll) {
    int64_t answer = 0;
    const Moment seen = {poll->xmax, poll->running.data(), static_cast<int32_t>(poll->running.size())};
    for (int i = samples_.count - 1; i >= 0 && answer == 0; --i) {
      const snowflake::Sample &sample = samples_.kept[i];
      const std::vector<Xid> &xids = xids_[sample.place];
      if (broken_ == Broken::kAnySample || Covers({sample.xmax, xids.data(), sample.running}, seen))
        answer = sample.horizon;
    }
    answer = std::max(answer, shown_);
    answered_ = std::max(answered_, answer);
    ++answers;
    useful += answer > highest_answer_;
    if (answer > poll->lowest_since) ++violations;
    // Unless a higher horizon was reported meanwhile: then a sample that is too new for its
    // snapshot was more useful.
    if (answer < poll->answered && poll->answered == highest_answer_) ++falls;
    one_by_one += poll->answered == highest_answer_;
    highest_answer_ = std::max(highest_answer_, answer);
  }

  std::mt19937_64 random_;
  Broken broken_;
  Course course_;
  Tick now_ = 1000000;
  int64_t leases_acquired_ = 0;
  OpenRun open_ = {};
  Generator generator_ = {};
  Xid next_xid_ = 0xfffff000, xmax_ = 0xfffff000;
  std::set<Xid> running_;
  int32_t last_pid_ = 0;
  Process processes_[kProcesses];
  std::map<Process *, Transaction> leaving_;
  std::deque<Transaction> prepared_;
  Place places_[kPrepared];
  HorizonSlot slots_[kProcesses + kPrepared] = {};
  std::vector<Xid> moment_;
  Xid moment_xmax_ = 0;
  Samples samples_ = {};
  int64_t sampled_us_ = 0;
  std::vector<Xid> xids_[kSamples];
  std::deque<Poll> polls_;
  int64_t highest_answer_ = 0;  // across all restarts of the server
  int64_t shown_ = 0, answered_ = 0, highest_ = 0;
  BoxSlot box_ = {};
  bool sampling_ = false;
  int64_t pool_[64] = {};
  size_t drawn_ = 0;
};

struct Totals {
  int64_t rows = 0, violations = 0, answers = 0, useful = 0, prepared = 0, samples = 0, returned = 0, falls = 0,
          one_by_one = 0, claims = 0, refused = 0, crashes = 0;
};

Totals RunWorlds(Broken broken, Course course, int64_t worlds) {
  auto random = SeededRandom(20261122);
  Totals totals;
  for (int64_t i = 0; i < worlds && totals.violations == 0; ++i) {
    const auto world = std::make_unique<World>(random(), broken, course);
    world->Go(20000);
    totals.rows += world->rows;
    totals.violations += world->violations;
    totals.answers += world->answers;
    totals.useful += world->useful;
    totals.prepared += world->prepared;
    totals.samples += world->samples_taken;
    totals.returned += world->returned;
    totals.falls += world->falls;
    totals.one_by_one += world->one_by_one;
    totals.claims += world->claims;
    totals.refused += world->refused;
    totals.crashes += world->crashes;
  }
  return totals;
}

class Horizon : public testing::TestWithParam<Course> {};

TEST_P(Horizon, NothingBelowItAppears) {
  const int64_t worlds = AtLength(30, 100);
  const Totals totals = RunWorlds(Broken::kNothing, GetParam(), worlds);
  std::cout << totals.rows << " rows, " << totals.prepared << " transactions prepared, " << totals.samples
            << " samples, " << totals.answers << " answers, " << totals.useful << " higher than all before, "
            << totals.returned << " runs not used up, " << totals.claims << " ids claimed, " << totals.refused
            << " of them refused, " << totals.crashes << " crashes, " << totals.violations << " rows below an answer\n";
  EXPECT_EQ(totals.violations, 0);
  EXPECT_EQ(totals.falls, 0) << "lower than what was said before the snapshot";
  EXPECT_GT(totals.useful, totals.answers / 20) << "the horizon does not go on";
  EXPECT_GT(totals.one_by_one, 100 * worlds);
  EXPECT_GT(totals.prepared, 10 * worlds);
  EXPECT_GT(totals.returned, 10 * worlds);
  EXPECT_GT(totals.refused, 10 * worlds);
  EXPECT_GT(totals.claims - totals.refused, 10 * worlds);
  if (GetParam() == Course::kClaimed) {
    EXPECT_GT(totals.crashes, worlds);
  }
}

std::string NameOfCourse(const testing::TestParamInfo<Course> &info) {
  static const char *const names[] = {"Steps", "Leases", "Claimed"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Clock, Horizon, testing::Values(Course::kSteps, Course::kLeases, Course::kClaimed),
                         NameOfCourse);

class BrokenHorizon : public testing::TestWithParam<Broken> {};

TEST_P(BrokenHorizon, IsNoticed) {
  const Course course = GetParam() == Broken::kNotLowered ? Course::kClaimed : Course::kLeases;
  EXPECT_GT(RunWorlds(GetParam(), course, 400).violations, 0);
}

std::string NameOf(const testing::TestParamInfo<Broken> &info) {
  static const char *const names[] = {
      "Nothing",       "AnySample", "MomentFirst",   "RunOutlivesSeal", "RunOutlivesTransaction",
      "SerialIgnored", "NotMoved",  "WorkersForget", "NotKept",         "NotLowered"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Rules, BrokenHorizon,
                         testing::Values(Broken::kAnySample, Broken::kMomentFirst, Broken::kRunOutlivesSeal,
                                         Broken::kRunOutlivesTransaction, Broken::kSerialIgnored, Broken::kNotMoved,
                                         Broken::kWorkersForget, Broken::kNotKept, Broken::kNotLowered),
                         NameOf);

}  // namespace
}  // namespace snowflake
