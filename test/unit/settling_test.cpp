// Registries are restarted, failed over and restored while nodes acquire and extend leases, in
// random schedules. No worker id is in use twice, as far as "Settling" in section 4 of the design
// promises it. core/ring.h makes the decisions. Here are the rows, the nodes and the faults.
//
// 1. One seed is one schedule. No response is lost: simulation_test.cpp tests lost responses, and
//    what nodes do about their own clocks. Here a node follows its clock at once, wherever it goes.
// 2. A schedule is no longer covered by the promise as soon as an exception of the design occurs
//    (Excepted). The test only reports the results of these schedules.
// 3. A test that cannot fail proves nothing: with one rule switched off worker ids must repeat.
//
// Optimized: it takes some seconds, and a minute without.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/ring.h"
#include "length.h"
#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kSkewUs = 10 * kSecond;
constexpr int64_t kStartUs = 1800000000 * kSecond;

// These rules are switched off one by one, to show their purpose.
struct Rules {
  bool reserve = true;   // during settling, worker ids that are not acquired ordinarily
  bool longest = true;   // it settles as long as the longest lease, whichever lease shows the loss
  bool adoption = true;  // a lost lease is recorded again
  bool jump = true;      // lease ids jump at each start, so that lost ones reveal the loss
  bool far = true;       // what nodes name counts, however many restarts are lost
  bool steady = true;    // settling is counted by a clock that nobody sets
  bool floor = true;     // it leaves a floor for new windows
  bool counts = true;    // what is left is recorded, so that a restart does not begin anew
  bool step = true;      // lease ids skip when the wall clock steps
  bool mixed = true;     // ... by a random number that depends on the time
};

// What may happen to the registry in a schedule, in addition to restarts and planned switchovers.
// In the next three, a state of 1 to 20 restarts ago takes its place: RunRestartsAgo(). In the others,
// clocks are wrong: RunClocks(). In the last ones, its machine is reverted to a snapshot with its
// memory: RunReverts().
enum class Kind {
  kOneFailover,
  kReportedFirst,
  kUnreported,
  kSeveral,
  kRestartsAgoReported,
  kRestartsAgo,
  kRestartsAgoUnheard,  // ... and new nodes begin before any of the others reaches it
  kClockAtFailover,     // wrong when the registry fails over, and right before it has settled
  kClockTooLong,        // ... or only afterwards
  kClockLater,          // right when it settles; later it steps back
  kClockBefore,         // wrong when leases are assigned that are lost with the failover
  kCrashLoop,           // right, and the registry is started again and again while it settles
  kReverted,
  kRevertedBriefly,  // by no more than the skew
  kRevertedTwice,    // to one snapshot
};
constexpr bool IsRestartsAgo(Kind kind) {
  return kind >= Kind::kRestartsAgoReported && kind <= Kind::kRestartsAgoUnheard;
}
constexpr bool HasClocks(Kind kind) { return kind >= Kind::kClockAtFailover; }
constexpr bool IsReverted(Kind kind) { return kind >= Kind::kReverted; }

// Without `far`, lease ids count only as far above the registry's own as one restart can lead.
constexpr int64_t kFarthestNear = static_cast<int64_t>(kMostStrides) * 64 / 25 * kLeaseIdStride;

// Cases for which the design promises nothing.
enum Excepted : int {
  kCommonPartFull = 1,   // more leases than the common part holds
  kReserveUsedUp = 2,    // more than the reserve holds, or than half of it if such leases were lost
  kSameEnd = 4,          // lost leases of the reserve may be in use, and the new timeline uses the same end
  kUnknownLoss = 8,      // a lease is assigned before anything shows the registry the loss
  kLongerLeases = 16,    // the first lease that is longer than the registry's own setting is lost itself
  kClockAtEnd = 32,      // the clock is behind when settling ends, or again before it has left its floor
  kClockAtLoss = 64,     // the clock of a node was ahead when it got a lease that is lost
  kBeforeTheStep = 128,  // a lease is assigned after a revert, before the clock is right
  kHalfUsedUp = 256,     // what is lost, and what was assigned since, is more than half of the common part
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Bits() { return engine_(); }
  int64_t Below(int64_t limit) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit)); }
  int64_t Between(int64_t from, int64_t to) { return from + Below(to - from + 1); }
  bool Percent(int64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

struct Row {
  int64_t lease_id;  // 0: none
  uint64_t secret;
  Tick window_start, window_end;
  int64_t losses;  // that the registry had when it assigned the lease
};

struct Worker {
  int32_t id;
  Row row;
  Tick watermark;
};

// The committed state: worker ids that were leased, in ascending order.
struct Tables {
  std::vector<Worker> workers;
  Origin origin = {};

  Worker *At(int32_t id) {
    const auto at = std::lower_bound(workers.begin(), workers.end(), id,
                                     [](const Worker &worker, int32_t wanted) { return worker.id < wanted; });
    if (at != workers.end() && at->id == id) return &*at;
    return &*workers.insert(at, {id, {}, kNoWatermark});
  }
};

struct Committed {
  int64_t at_us;
  Tables tables;
  std::mt19937_64 generator = {};  // of a revert
  int64_t assigned = 0;
};

struct Held {
  int32_t worker;
  Row row;
};

class Registry {
 public:
  Registry(const Rules &rules, int32_t worker_bits, int64_t own_lease_us, Random *random)
      : rules_(rules), layout_{0, kMs, 41, 0, worker_bits, 6, false}, own_lease_us_(own_lease_us), random_(random) {
    tables_.origin.found = true;
    tables_.origin.system_identifier = 1;
    tables_.origin.timeline = timeline_;
    tables_.origin.started_us = started_us_;
    tables_.origin.database_oid = 1;
    tables_.origin.last_lease_id = 1 + random_->Below(100000);
    tables_.origin.raised_tick = kNoWatermark;
    Commit(kStartUs);
  }

  // --- The protocol ---

  // By how much its clock is ahead.
  void SetClock(int64_t off_us, bool judges) {
    off_us_ = off_us;
    judges_ = judges;
  }

  // `now` is by the node's clock, and `seen` its newest lease.
  bool Acquire(int64_t at_us, Tick now, uint64_t secret, const Row &seen, int64_t duration_us, Held *held) {
    Look(at_us, duration_us, seen);
    CheckHeard();
    if (!Accepts(at_us, now)) return Commit(at_us), false;
    for (const Worker &worker : tables_.workers)
      if (worker.row.lease_id != 0 && worker.row.secret == secret) return *held = {worker.id, worker.row}, true;
    const int64_t lease_id = tables_.origin.last_lease_id + 1;
    Settling settling = SettlingOf(tables_.origin, HereAt(at_us), false);
    const bool settles = settling.active;
    if (!rules_.reserve) settling = {};
    Choosing choosing(ring(), lease_id, settling, now, OverBy(now, layout_.TickAt(at_us + off_us_)));
    for (const Worker &worker : tables_.workers) {
      if (worker.row.lease_id != 0) choosing.Offer({worker.id, worker.row.lease_id, worker.row.window_end, 0});
      choosing.Offer({worker.id, 0, 0, worker.watermark});
    }
    const Choice choice = choosing.Finish();
    Commit(at_us);  // a detected loss stays recorded, whatever the result is
    const bool expired = choice.what == Chosen::kExpired;
    if (choice.what == Chosen::kNone || choice.what == Chosen::kLater || (expired && settles)) return false;
    Worker *worker = tables_.At(static_cast<int32_t>(choice.slot));
    if (expired) Leave(worker, WatermarkOfWindow(worker->row.window_end));
    Except(at_us, choice, settles, settling.downwards);
    ++assigned_;
    const Tick start = WindowStart(now, std::max(worker->watermark, FloorOf(layout_, tables_.origin)));
    worker->row = {lease_id, secret, start, WindowEnd(layout_, start, std::min(duration_us, kFirstWindowUs)), losses_};
    if (start > layout_.TickAt(at_us + kSkewUs)) ahead_us_ = at_us;
    *held = {worker->id, worker->row};
    tables_.origin.last_lease_id = lease_id;
    Commit(at_us);
    return true;
  }

  enum class Extended { kDone, kGone, kRefused };
  Extended Extend(int64_t at_us, Tick now, Held *held, int64_t duration_us) {
    Look(at_us, duration_us, held->row);
    const Tick end = std::max(held->row.window_end, WindowEnd(layout_, now, duration_us));
    Worker *worker = tables_.At(held->worker);
    const bool leased = worker->row.lease_id != 0;
    const bool known = leased && worker->row.secret == held->row.secret;
    const bool holds = known && AcceptsHolder(layout_, tables_.origin.time, HereAt(at_us).clock, now,
                                              worker->row.window_start, worker->row.window_end, duration_us);
    if (!holds && !Accepts(at_us, now)) return Commit(at_us), CheckHeard(), Extended::kRefused;
    const bool free = !leased && worker->watermark < held->row.window_start;
    const bool adopts = rules_.adoption && free && MayAdopt(now, *held, worker->watermark);
    adopted_ += adopts;
    not_adopted_ += free && !adopts && held->row.window_end > now;
    if (!known && !adopts) return Commit(at_us), CheckHeard(), Extended::kGone;
    if (adopts && held->worker >= CommonSize(ring())) assigned_us_[0] = assigned_us_[1] = at_us;
    if (adopts || held->row.window_end > worker->row.window_end) Lost(at_us);
    CheckHeard();
    held->row.window_end = std::max(end, worker->row.window_end);
    worker->row = held->row;
    if (now > layout_.TickAt(at_us + kSkewUs)) ahead_us_ = at_us;
    Commit(at_us);
    return Extended::kDone;
  }

  void Release(int64_t at_us, Tick last, const Held &held) {
    Look(at_us, 0, held.row);
    CheckHeard();
    Worker *worker = tables_.At(held.worker);
    if (worker->row.lease_id == held.row.lease_id && worker->row.secret == held.row.secret)
      Leave(worker, std::clamp(last, held.row.window_start - 1, held.row.window_end - 1));
    Commit(at_us);
  }

  // A lease whose answer its node refuses. It may have used the window by another clock.
  void Refuse(int64_t at_us, const Held &held) {
    Leave(tables_.At(held.worker), std::min(layout_.TickAt(at_us + kSkewUs), held.row.window_end - 1));
    Commit(at_us);
  }

  void CallSettle(int64_t at_us) {
    Look(at_us, 0, {});
    Settle(at_us);
    tables_.origin.settle_called_us = at_us;
    Commit(at_us);
  }

  void Mark(int64_t at_us) {
    Look(at_us, 0, {});
    tables_.origin.clean_us = at_us;
    Commit(at_us);
  }

  // --- Faults ---

  void Start(int64_t at_us) { started_us_ = at_us; }
  // A standby has everything up to a clean shutdown.
  void ForgetPast(int64_t at_us) { history_ = {{at_us, tables_}}; }
  void HandOver(int64_t at_us) {
    ++timeline_;
    if (lost_until_us_[timeline_ % 2] > at_us) excepted_ |= kSameEnd;
  }

  // Loses what was committed in the last `lag_us`. If that is everything since a clean restart, the
  // restart's mark says that nothing was lost.
  void FailOver(int64_t at_us, int64_t lag_us) {
    while (history_.size() > 1 && history_.back().at_us > at_us - lag_us) {
      history_.pop_back();
      in_doubt_ = history_.back().tables.origin.clean_us != 0;
    }
    Lose(at_us, history_.back(), timeline_ + 1);
  }

  // A copy of an earlier moment is started; on a new timeline, if it was recovered from an archive.
  void Restore(int64_t at_us, const Committed &copy, bool new_timeline) {
    in_doubt_ = true;
    Lose(at_us, copy, new_timeline ? timeline_ + 1 : copy.tables.origin.timeline);
  }

  // The server goes on as it was then, in the same life. Its clocks show the time of then, until it
  // is set right. A second revert to one snapshot meets what the first one assigned.
  void Revert(int64_t at_us, const Committed &snapshot, bool again) {
    generator_ = snapshot.generator;
    steady_off_us_ = snapshot.at_us - at_us;
    off_us_ = snapshot.at_us - at_us;
    blind_ = true;
    const int64_t lost = assigned_ - snapshot.assigned;
    Lose(at_us, snapshot, timeline_);
    in_doubt_ = again;
    const auto common = [&](const Worker &worker) { return worker.id < CommonSize(ring()); };
    used_ = lost + std::count_if(tables_.workers.begin(), tables_.workers.end(), common);
  }

  Committed Copy(int64_t at_us) const { return {at_us, tables_, generator_, assigned_}; }
  Tick TickAt(int64_t at_us) const { return layout_.TickAt(at_us); }
  int excepted() const { return excepted_; }
  int64_t settle_called_us() const { return tables_.origin.settle_called_us; }
  int64_t adopted() const { return adopted_; }
  int64_t not_adopted() const { return not_adopted_; }
  bool unheard() const { return unheard_; }
  bool settles(int64_t at_us) const { return SettlingOf(tables_.origin, HereAt(at_us), false).active; }
  bool HasFloor() const { return tables_.origin.floor_us != 0; }
  int64_t longest_us() const { return std::max(longest_us_, own_lease_us_) + 2 * kSkewUs; }

 private:
  static constexpr int64_t kRememberUs = 5 * kSecond;

  int64_t ring() const { return layout_.worker_count(); }
  Here HereAt(int64_t at_us) const {
    const int64_t wall_us = at_us + off_us_;
    return {1, timeline_, started_us_, 1, {wall_us, rules_.steady ? at_us - kStartUs + 1 + steady_off_us_ : wall_us}};
  }
  // After a step, too, but to a time that adds nothing to a random number.
  static Here Timeless(Here here) {
    here.clock = {0, here.clock.steady_us};
    return here;
  }
  bool Accepts(int64_t at_us, Tick now) const {
    return !judges_ || AcceptsClock(layout_, tables_.origin.time, HereAt(at_us).clock, now, false, kSkewUs);
  }

  void Leave(Worker *worker, Tick watermark) {
    worker->watermark = std::max(worker->watermark, watermark);
    worker->row = {};
  }

  void Commit(int64_t at_us) {
    history_.push_back({at_us, tables_});
    while (history_.size() > 1 && history_[1].at_us < at_us - kRememberUs) history_.pop_front();
  }

  // Like pg/registry/settling.cpp.
  void Look(int64_t at_us, int64_t duration_us, const Row &seen) {
    int64_t named = seen.lease_id;
    Origin *origin = &tables_.origin;
    const Here here = HereAt(at_us);
    origin->longest_us = std::max(origin->longest_us, duration_us);
    longest_us_ = std::max(longest_us_, duration_us);
    asked_us_ = duration_us;
    bool lost = false;
    if (!IsInPlace(*origin, here)) {
      const int64_t last = origin->last_lease_id;
      lost = BeginLife(origin, here, ring(), random_->Bits()) != Loss::kNone;
      if (!rules_.jump) origin->last_lease_id = origin->jumped.from = origin->jumped.to = last;
      if (!rules_.counts) origin->settling_left_us = origin->settling_us;
    } else if (HasStepped(origin->time, here.clock)) {
      blind_ = false;
      if (rules_.step) NoticeStep(origin, rules_.mixed ? here : Timeless(here), ring(), generator_());
    }
    const bool settled = origin->settling_left_us > 0 && SettlingLeftUs(*origin, here) == 0;
    PassTime(origin, here, kSkewUs);
    const bool due = origin->settling_us > 0 && origin->settling_left_us == 0;
    if ((settled || due) && off_us_ < 0) excepted_ |= kClockAtEnd;
    if (!rules_.floor) origin->floor_us = 0;
    origin->clean_us = 0;
    // From now on the registry has no excuse.
    if (in_doubt_ && named > known_lease_id_ && seen.losses < losses_) reported_ = true, in_doubt_ = false;
    if (!rules_.far && named - origin->last_lease_id > kFarthestNear) named = 0;
    lost |= IsEvidence(*origin, named) && !origin->loss_known;
    if (IsEvidence(*origin, named)) GoAbove(origin, named);
    if (lost) Settle(at_us);
  }

  // A node has reported a lost lease. The registry may have taken it for its own only if it was
  // restarted again after it had assigned others.
  void CheckHeard() {
    unheard_ |= reported_ && !tables_.origin.loss_known && (excepted_ & kUnknownLoss) == 0;
    reported_ = false;
  }

  // No two leases have one id.
  bool MayAdopt(Tick now, const Held &held, Tick watermark) const {
    for (const Worker &worker : tables_.workers)
      if (worker.row.lease_id == held.row.lease_id) return false;
    ExtendRequest request = {};
    request.lease_id = held.row.lease_id;
    request.worker = held.worker;
    request.now = now;
    request.window_start = held.row.window_start;
    request.held_until = held.row.window_end;
    return snowflake::MayAdopt(layout_, request, tables_.origin, watermark);
  }

  void Lost(int64_t at_us) {
    if (!tables_.origin.loss_known) Settle(at_us);
  }

  void Settle(int64_t at_us) {
    in_doubt_ = false;
    Origin *origin = &tables_.origin;
    const int64_t longest_us = origin->longest_us;
    if (!rules_.longest) origin->longest_us = asked_us_;
    if (std::max(longest_us, own_lease_us_) < longest_us_) excepted_ |= kLongerLeases;
    snowflake::Settle(origin, HereAt(at_us), rules_.longest ? own_lease_us_ : 0, kSkewUs);
    origin->longest_us = longest_us;
  }

  void Lose(int64_t at_us, const Committed &kept, int64_t timeline) {
    ++losses_;
    known_lease_id_ = kept.tables.origin.last_lease_id;
    for (int end = 0; end < 2; ++end)
      if (assigned_us_[end] > kept.at_us) lost_until_us_[end] = at_us + longest_us_ + 2 * kSkewUs;
    if (ahead_us_ > kept.at_us) excepted_ |= kClockAtLoss;
    if (lost_until_us_[timeline % 2] > at_us) excepted_ |= kSameEnd;
    if (lost_until_us_[1 - timeline % 2] > at_us) half_only_ = true;
    if (half_only_ && beyond_half_) excepted_ |= kReserveUsedUp;
    tables_ = kept.tables;
    timeline_ = timeline;
    history_.clear();
    Commit(at_us);
  }

  // Records which exception of the promise applies to this assignment.
  void Except(int64_t at_us, const Choice &choice, bool settles, bool downwards) {
    const bool of_reserve = choice.slot >= CommonSize(ring());
    if (in_doubt_) excepted_ |= kUnknownLoss;
    if (blind_) excepted_ |= kBeforeTheStep;
    if (used_ > 0 && !settles && ++used_ > CommonSize(ring()) / 2) excepted_ |= kHalfUsedUp;
    if (!settles && of_reserve) excepted_ |= kCommonPartFull;
    if (choice.what == Chosen::kHeldBack) excepted_ |= kReserveUsedUp;
    if (!settles || !of_reserve) return;
    assigned_us_[downwards] = at_us;
    const int64_t from_end = downwards ? ring() - 1 - choice.slot : choice.slot - CommonSize(ring());
    beyond_half_ |= from_end >= ring() / 6;
    if (half_only_ && beyond_half_) excepted_ |= kReserveUsedUp;
  }

  const Rules rules_;
  const Layout layout_;
  const int64_t own_lease_us_;
  Random *random_;
  Tables tables_;
  std::deque<Committed> history_;
  int64_t timeline_ = 1;
  int64_t started_us_ = kStartUs;
  int64_t asked_us_ = 0;
  int64_t off_us_ = 0;
  bool judges_ = false;
  int64_t steady_off_us_ = 0;
  std::mt19937_64 generator_{1};

  int excepted_ = 0;
  bool blind_ = false;  // it was reverted, and its clock has not been set right
  int64_t used_ = 0;    // of the common part, since the snapshot; 0: it was not reverted
  int64_t assigned_ = 0;
  int64_t ahead_us_ = 0;  // when a node whose clock was ahead got a window
  bool in_doubt_ = false;
  int64_t losses_ = 0;
  int64_t known_lease_id_ = 0;  // after the last one: earlier leases with a higher id are lost
  bool reported_ = false;       // such a node calls
  bool unheard_ = false;        // ... and the registry did not notice the loss
  // Lost leases; those that were not although they are in use and their worker id is free.
  int64_t adopted_ = 0, not_adopted_ = 0;
  int64_t longest_us_ = 0;         // whatever the registry knows
  int64_t assigned_us_[2] = {};    // from the reserve during settling, from its lower and its upper end
  int64_t lost_until_us_[2] = {};  // such a lost lease may be in use until then
  bool beyond_half_ = false;
  bool half_only_ = false;
};

struct Node {
  bool up = false, leased = false;
  Held held = {};
  bool refused = false;
  uint64_t secret = 0;
  Row seen = {};  // its newest lease
  int64_t seen_settle_us = 0;
  int64_t window_us = 0, duration_us = 0;
  int64_t next_us = 0, cut_off_until_us = 0;
  int64_t without_since_us = 0;  // it has no id to issue
  Tick uses_from = 0;            // ticks, up to the window's end
  bool follows = false;          // the clock that is wrong
  int64_t off_us = 0;            // from what it follows, at most the skew
};

// The ticks of a worker id that a node used: [from, to).
struct Use {
  int32_t worker;
  Tick from, to;
  uint64_t secret;
};

struct Totals {
  int64_t schedules = 0, promised = 0, repeated = 0, broken = 0, acquired = 0, refused = 0;
  int64_t adopted = 0, not_adopted = 0, unheard = 0, twice = 0, longest_us = 0;
  int64_t overlaps = 0, unsettled = 0, floors = 0;
};

class Schedule {
 public:
  Schedule(Kind kind, const Rules &rules, int32_t worker_bits, uint64_t seed)
      : kind_(kind),
        rules_(rules),
        random_(seed),
        lease_us_(Duration()),
        registry_(rules, worker_bits, random_.Percent(70) ? lease_us_ : lease_us_ / 4, &random_) {
    const int64_t ring = int64_t{1} << worker_bits;
    if (IsRestartsAgo(kind) || HasClocks(kind))
      nodes_.resize(6);
    else
      nodes_.resize(static_cast<size_t>(random_.Between(2, std::clamp<int64_t>(ring * 8 / 10, 2, 30))));
    for (Node &node : nodes_) node.duration_us = random_.Percent(20) ? 10 * kSecond : lease_us_;
    if (!HasClocks(kind)) return;
    const int64_t follow = random_.Percent(70) ? 100 : random_.Below(100);
    for (Node &node : nodes_) {
      if (kind == Kind::kCrashLoop) node.duration_us = 10 * kSecond;  // what they ask counts
      node.follows = random_.Percent(follow);
      node.off_us = random_.Percent(50) ? random_.Between(-kSkewUs, kSkewUs) : 0;
    }
    judges_ = IsReverted(kind) || random_.Percent(50);
    if (IsReverted(kind))
      for (Node &node : nodes_) node.follows = false;
    SetClock(0);
  }

  void Run(Totals *totals) {
    if (IsReverted(kind_))
      RunReverts();
    else if (IsRestartsAgo(kind_))
      RunRestartsAgo();
    else if (HasClocks(kind_))
      RunClocks();
    else
      RunRandomly();
    ++totals->schedules;
    totals->promised += registry_.excepted() == 0;
    totals->repeated += repeated_;
    totals->acquired += acquired_;
    totals->refused += refused_;
    totals->adopted += registry_.adopted();
    totals->not_adopted += registry_.not_adopted();
    totals->unheard += registry_.unheard();
    totals->twice += twice_ = UsedTwice();
    totals->longest_us = std::max(totals->longest_us, longest_us_);
    overlaps_ = Overlaps();
    totals->overlaps += overlaps_ > 0;
    totals->unsettled += registry_.settles(now_us_);
    totals->floors += registry_.HasFloor();
    totals->broken += broken();
  }

  // A node whose clock stepped back has its worker id for longer, but no further ticks.
  bool broken() const {
    return registry_.excepted() == 0 && (HasClocks(kind_) ? twice_ > 0 || overlaps_ > 0 : repeated_);
  }

 private:
  struct Event {
    int64_t at_us;
    std::function<void()> act;
  };

  void RunRandomly() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (random_.Percent(60)) At(now_us_ + random_.Below(kMinute), [this, i] { Begin(i); });
    if (random_.Percent(50))
      At(now_us_ + random_.Below(kSecond), [this] { copies_.push_back(registry_.Copy(now_us_)); });
    int64_t at_us =
        now_us_ + random_.Between(5 * kSecond, kMinute) + (random_.Percent(50) ? random_.Below(lease_us_) : 0);
    for (int64_t steps = random_.Between(2, 7); steps > 0; --steps) {
      BeginSome(at_us - random_.Below(6 * kSecond), 6 * kSecond);
      if (random_.Percent(50)) At(at_us - random_.Below(5 * kSecond), [this] { End(AnyNode(), random_.Percent(50)); });
      At(at_us, [this] { Step(); });
      BeginSome(at_us, 15 * kSecond);
      if (random_.Percent(60)) BeginSome(at_us + random_.Below(lease_us_), lease_us_ / 2);
      at_us += Pause();
    }
    RunUntil(at_us + 2 * lease_us_ + kMinute);
  }

  // Six nodes issue throughout, or up to two of them from the loss on. With 8 worker ids they fill
  // the common part. The registry is restarted up to 20 times; between restarts nodes are restarted,
  // too, so that they acquire other leases. Then its state of before these restarts takes its place:
  // a standby that was down is promoted, or the files are restored.
  void RunRestartsAgo() {
    const size_t first = static_cast<size_t>(random_.Between(4, 6));
    for (size_t i = 0; i < first; ++i) At(now_us_ + random_.Below(20 * kSecond), [this, i] { Begin(i); });
    int64_t at_us = now_us_ + random_.Between(25 * kSecond, kMinute);
    for (int64_t restarts = random_.Between(1, 20); restarts > 0; --restarts) {
      At(at_us, [this] { Restart(random_.Percent(80)); });
      at_us += random_.Between(4 * kSecond, 30 * kSecond);
      for (int64_t n = random_.Below(3); n > 0; --n) At(at_us - kSecond, [this, first] { BeginAnew(first); });
    }
    At(at_us + random_.Below(lease_us_), [this] { RestoreFirstCopy(); });
    at_us += lease_us_;
    for (size_t i = first; i < nodes_.size(); ++i) At(at_us + random_.Below(lease_us_), [this, i] { Begin(i); });
    RunUntil(at_us + 3 * lease_us_ + kMinute);
  }

  // Six nodes follow the registry's clock, or some do, or none. Two begin when the registry fails
  // over and others have lost their leases, two when it has settled, and some after each step.
  void RunClocks() {
    const int64_t settling_us = registry_.longest_us(), from_us = now_us_;
    for (size_t i = 0; i < 4; ++i) At(now_us_ + random_.Below(20 * kSecond), [this, i] { Begin(i); });
    if (kind_ == Kind::kClockBefore) Wrong(from_us, random_.Percent(70) ? Off() : -Off());
    const int64_t loss_us = from_us + random_.Between(30 * kSecond, kMinute);
    for (int64_t n = random_.Between(1, 3); n > 0; --n)
      At(loss_us - random_.Below(5 * kSecond), [this] { BeginAnew(4); });
    At(loss_us, [this] { FailOver(); });
    if (kind_ == Kind::kClockBefore) Right(loss_us + random_.Below(2 * kSecond));
    for (size_t i = 0; i < 6; ++i)
      if (i >= 4 || random_.Percent(30)) At(loss_us + random_.Below(settling_us), [this, i] { Begin(i); });
    int64_t end_us = loss_us + settling_us + random_.Below(15 * kSecond);
    if (kind_ == Kind::kClockAtFailover || kind_ == Kind::kClockTooLong) {
      Wrong(loss_us, Off());
      const bool longer = kind_ == Kind::kClockTooLong;
      end_us = loss_us + (longer ? settling_us + 20 * kSecond + random_.Below(settling_us)
                                 : random_.Between(kSecond, settling_us - 5 * kSecond));
      if (random_.Percent(20)) Wrong(loss_us + (end_us - loss_us) / 2, Off());
      Right(end_us);
      end_us = std::max(end_us, loss_us + settling_us + 20 * kSecond);
    }
    if (kind_ == Kind::kCrashLoop)
      for (int64_t at_us = loss_us; at_us < loss_us + 4 * settling_us;
           at_us += random_.Between(4 * kSecond, 10 * kSecond))
        At(at_us, [this] { StartAgain(kSecond); });
    AcquireAnew(end_us);
    if (kind_ == Kind::kClockLater) {
      end_us = std::max(end_us, loss_us + settling_us + 11 * kMinute) + random_.Below(10 * kMinute);
      const int64_t back_us = end_us - (loss_us - 10 * kSecond) - random_.Below(settling_us);
      Wrong(end_us, random_.Percent(80) ? -back_us : Off());
      AcquireAnew(end_us);
      const int64_t later_us = end_us + kMinute + random_.Below(2 * settling_us);
      if (random_.Percent(50)) Right(later_us);
      end_us = later_us;
    }
    AcquireAnew(end_us);
    RunUntil(end_us + 2 * lease_us_ + kMinute);
  }

  // Four nodes issue. Since the snapshot, some of them and a fifth acquired leases, which are lost.
  // Some are cut off then, and one or two nodes acquire leases soon. The clock is right after a while.
  void RunReverts() {
    for (size_t i = 0; i < 4; ++i) At(now_us_ + random_.Below(20 * kSecond), [this, i] { Begin(i); });
    const int64_t snapshot_us = now_us_ + random_.Between(25 * kSecond, kMinute);
    At(snapshot_us, [this] { copies_.push_back(registry_.Copy(now_us_)); });
    int64_t at_us = snapshot_us + (kind_ == Kind::kRevertedBriefly ? random_.Between(2 * kSecond, kSkewUs) : Back());
    for (int reverts = kind_ == Kind::kRevertedTwice ? 2 : 1; reverts > 0; --reverts) {
      for (int64_t n = random_.Between(1, 3); n > 0; --n)
        At(at_us - random_.Below(9 * kSecond), [this] { BeginAnew(4); });
      if (random_.Percent(50)) At(at_us - random_.Below(9 * kSecond), [this] { Begin(4); });
      At(at_us, [this, again = reverts == 1 && kind_ == Kind::kRevertedTwice] { Revert(again); });
      const int64_t right_us = at_us + (random_.Percent(50) ? random_.Below(kSecond) : random_.Below(kMinute));
      At(right_us, [this] { SetClock(0); });
      const int64_t soon_us = random_.Percent(50) ? 3 * kSecond : lease_us_;
      At(right_us + random_.Below(soon_us), [this] { Begin(5); });
      if (random_.Percent(50)) At(right_us + random_.Below(soon_us), [this] { BeginAnew(4); });
      at_us = right_us + random_.Between(10 * kSecond, 5 * kMinute);
    }
    RunUntil(at_us + 2 * lease_us_ + kMinute);
  }

  // Beyond what two clocks may differ by.
  int64_t Back() {
    static constexpr int64_t kBack[] = {2 * kSkewUs + 2 * kSecond, 5 * kMinute, kHour};
    return kBack[random_.Below(3)] + random_.Below(kMinute);
  }

  void Revert(bool again) {
    ++losses_;
    registry_.Revert(now_us_, copies_.front(), again);
    if (random_.Percent(70)) CutOffSome();
  }

  int64_t Off() {
    static constexpr int64_t kOff[] = {30 * kSecond, 5 * kMinute, kHour, 2 * kDay};
    const int64_t off_us = kOff[random_.Below(4)];
    return random_.Percent(75) ? -off_us : off_us;
  }

  void Wrong(int64_t at_us, int64_t off_us) {
    At(at_us, [this, off_us] { SetClock(off_us); });
  }
  void Right(int64_t at_us) { Wrong(at_us, 0); }

  // All nodes, one after the other: worker ids go round.
  void AcquireAnew(int64_t at_us) {
    for (size_t i = 0; i < 6; ++i)
      for (int64_t times = random_.Between(1, 3); times > 0; --times) {
        const int64_t when_us = at_us + kSecond + random_.Below(40 * kSecond);
        At(when_us, [this, i] { End(i, random_.Percent(50)); });
        At(when_us + random_.Below(2 * kSecond), [this, i] { Begin(i); });
      }
  }

  void SetClock(int64_t off_us) {
    for (Node &node : nodes_)
      if (node.leased) StopUse(&node);
    off_us_ = off_us;
    registry_.SetClock(off_us, judges_);
    for (Node &node : nodes_)
      if (node.leased) node.uses_from = std::max(node.uses_from, std::min(TickOf(node), node.held.row.window_end));
  }

  Tick TickOf(const Node &node) const { return registry_.TickAt(now_us_ + node.off_us + (node.follows ? off_us_ : 0)); }

  int64_t Duration() {
    static constexpr int64_t kDurations[] = {10 * kSecond, 30 * kSecond, 2 * kMinute, 10 * kMinute};
    return kDurations[random_.Below(4)];
  }

  int64_t Pause() {
    const int64_t kind = random_.Below(10);
    if (kind < 4) return random_.Between(kSecond / 2, 8 * kSecond);
    if (kind < 7) return random_.Between(8 * kSecond, kMinute);
    return kind < 9 ? random_.Between(lease_us_ / 4, lease_us_) : random_.Between(lease_us_, 2 * lease_us_);
  }

  size_t AnyNode() { return static_cast<size_t>(random_.Below(static_cast<int64_t>(nodes_.size()))); }
  void At(int64_t at_us, std::function<void()> act) { events_.emplace(at_us, std::move(act)); }

  void BeginSome(int64_t from_us, int64_t within_us) {
    for (int64_t n = random_.Between(1, std::max<int64_t>(1, static_cast<int64_t>(nodes_.size()) / 2)); n > 0; --n)
      At(from_us + random_.Below(within_us), [this, i = AnyNode()] { Begin(i); });
  }

  void RunUntil(int64_t end_us) {
    for (;;) {
      Node *first = nullptr;
      for (Node &node : nodes_)
        if (node.up && (first == nullptr || node.next_us < first->next_us)) first = &node;
      const bool event = !events_.empty() && (first == nullptr || events_.begin()->first <= first->next_us);
      if (!event && first == nullptr) return;
      const int64_t at_us = event ? events_.begin()->first : first->next_us;
      if (at_us > end_us) return;
      now_us_ = std::max(now_us_, at_us);
      if (!event) {
        Exchange(first);
        continue;
      }
      const std::function<void()> act = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      act();
    }
  }

  // --- Nodes ---

  void BeginAnew(size_t among) {
    const size_t i = static_cast<size_t>(random_.Below(static_cast<int64_t>(among)));
    if (!nodes_[i].up || !nodes_[i].leased || !Reaches(nodes_[i])) return;
    End(i, true);
    At(now_us_ + random_.Below(kSecond), [this, i] { Begin(i); });
  }

  void Begin(size_t i) {
    if (nodes_[i].up) return;
    const Node before = nodes_[i];
    nodes_[i] = {};
    nodes_[i].up = true;
    nodes_[i].duration_us = before.duration_us;
    nodes_[i].follows = before.follows;
    nodes_[i].off_us = before.off_us;
    nodes_[i].next_us = nodes_[i].without_since_us = now_us_;
  }

  void End(size_t i, bool cleanly) {
    Node *node = &nodes_[i];
    if (node->leased) StopUse(node);
    if (node->up && node->leased && cleanly && Reaches(*node)) {
      registry_.Release(now_us_, node->uses_from - 1, node->held);
      windows_[node->held.row.secret].to = node->uses_from;
    }
    node->up = node->leased = false;
  }

  bool Reaches(const Node &node) const { return down_until_us_ <= now_us_ && node.cut_off_until_us <= now_us_; }

  void Exchange(Node *node) {
    if (!Reaches(*node)) {
      node->next_us = now_us_ + random_.Between(100 * kMs, node->leased ? 3 * kSecond : kSecond);
    } else if (!node->leased) {
      if (node->secret == 0) node->secret = random_.Bits() | 1;
      if (!registry_.Acquire(now_us_, TickOf(*node), node->secret, node->seen, node->duration_us, &node->held)) {
        refused_ += !node->refused;
        node->refused = true;
        node->next_us = now_us_ + random_.Between(250 * kMs, kind_ == Kind::kClockLater ? 10 * kSecond : 750 * kMs);
        return;
      }
      if (!rules_.far && node->held.row.lease_id <= node->seen.lease_id &&
          registry_.settle_called_us() <= node->seen_settle_us) {
        registry_.Refuse(now_us_, node->held);
        node->secret = 0;
        node->next_us = now_us_ + random_.Between(250 * kMs, 750 * kMs);
        return;
      }
      ++acquired_;
      node->leased = true;
      node->refused = false;
      node->secret = 0;
      node->seen = node->held.row;
      node->seen_settle_us = registry_.settle_called_us();
      node->window_us = std::min(node->duration_us, kFirstWindowUs);
      node->next_us = now_us_ + node->window_us / 3;
      StartUse(node);
      CheckAlone(*node);
    } else {
      node->window_us = std::min(node->duration_us, 2 * node->window_us);
      const bool lapsed = node->held.row.window_end <= TickOf(*node);
      const Held before = node->held;
      const Registry::Extended extended = registry_.Extend(now_us_, TickOf(*node), &node->held, node->window_us);
      if (extended == Registry::Extended::kRefused) {
        node->next_us = now_us_ + random_.Between(kSecond, 2 * kSecond);
        return;
      }
      node->leased = extended == Registry::Extended::kDone;
      if (node->leased) NoteWindow(*node);
      node->next_us = now_us_ + (node->leased ? node->window_us / 3 : 0);
      if (node->leased) node->seen_settle_us = registry_.settle_called_us();
      if (node->leased && !lapsed) return;
      StopUse(node, before.row.window_end);
      if (!node->leased) return;
      StartUse(node);
      CheckAlone(*node);
    }
  }

  // --- What nodes use ---

  void StartUse(Node *node) {
    NoteWait(*node);
    NoteWindow(*node);
    node->uses_from = std::max(node->held.row.window_start, TickOf(*node));
  }

  void NoteWindow(const Node &node) {
    const Row &row = node.held.row;
    Use *window =
        &windows_.try_emplace(row.secret, Use{node.held.worker, row.window_start, 0, row.secret}).first->second;
    window->to = std::max(window->to, row.window_end);
  }

  // As long as the node reaches the registry.
  void NoteWait(const Node &node) {
    const int64_t since_us = std::max({node.without_since_us, node.cut_off_until_us, down_until_us_});
    longest_us_ = std::max(longest_us_, now_us_ - since_us);
  }

  void StopUse(Node *node, Tick window_end) {
    const Tick now = TickOf(*node), to = std::min(now, window_end);
    node->without_since_us = now_us_ - (now - to) * kMs;
    if (to <= node->uses_from) return;
    uses_.push_back({node->held.worker, node->uses_from, to, node->held.row.secret});
    node->uses_from = to;
  }
  void StopUse(Node *node) { StopUse(node, node->held.row.window_end); }

  // How many pairs of worker id and tick two nodes used, when all has ended.
  int64_t UsedTwice() {
    for (Node &node : nodes_) {
      if (node.up && node.leased)
        StopUse(&node);
      else if (node.up)
        NoteWait(node);
    }
    return TicksTwice(&uses_);
  }

  // The same of windows, whether their ticks were used or not.
  int64_t Overlaps() {
    std::vector<Use> windows;
    for (const auto &[secret, window] : windows_) windows.push_back(window);
    return TicksTwice(&windows);
  }

  static int64_t TicksTwice(std::vector<Use> *uses) {
    std::sort(uses->begin(), uses->end(),
              [](const Use &a, const Use &b) { return std::tie(a.worker, a.from) < std::tie(b.worker, b.from); });
    int64_t ticks = 0;
    for (size_t i = 0; i < uses->size(); ++i) {
      const Use &use = (*uses)[i];
      for (size_t k = i + 1; k < uses->size() && (*uses)[k].worker == use.worker && (*uses)[k].from < use.to; ++k)
        if ((*uses)[k].secret != use.secret) ticks += std::min(use.to, (*uses)[k].to) - (*uses)[k].from;
    }
    return ticks;
  }

  void CheckAlone(const Node &node) {
    for (const Node &other : nodes_)
      if (&other != &node && other.up && other.leased && other.held.worker == node.held.worker &&
          other.held.row.window_end > TickOf(other))
        repeated_ = true;
  }

  // --- The registry ---

  void Step() {
    if (down_until_us_ > now_us_) return At(down_until_us_ + random_.Between(kSecond, 3 * kSecond), [this] { Step(); });
    const int64_t chance = random_.Below(100);
    if (chance < 20) return Restart(true);
    if (chance < 30) return Restart(false);
    const bool one_loss = kind_ != Kind::kSeveral;
    if (chance < 40 || (one_loss && losses_ > 0)) return HandOver();
    if (chance < 47 && kind_ != Kind::kOneFailover) return copies_.push_back(registry_.Copy(now_us_));
    const bool failover = kind_ == Kind::kOneFailover || (kind_ == Kind::kSeveral && random_.Percent(50));
    return failover ? FailOver() : Restore();
  }

  void Restart(bool cleanly) {
    const bool needs_copy = IsRestartsAgo(kind_) && copies_.empty();
    if (needs_copy && random_.Percent(50)) copies_.push_back(registry_.Copy(now_us_));  // without the mark
    if (cleanly) registry_.Mark(now_us_);
    if ((cleanly && random_.Percent(50)) || (needs_copy && copies_.empty())) copies_.push_back(registry_.Copy(now_us_));
    if (cleanly) registry_.ForgetPast(now_us_);
    StartAgain(3 * kSecond);
  }

  void HandOver() {
    registry_.Mark(now_us_);
    registry_.ForgetPast(now_us_);
    registry_.HandOver(now_us_);
    StartAgain(5 * kSecond);
  }

  void FailOver() {
    ++losses_;
    registry_.FailOver(now_us_, random_.Percent(30) ? 0 : random_.Below(5 * kSecond));
    CutOffSome();
    StartAgain(15 * kSecond);
  }

  void Restore() {
    if (copies_.empty()) return copies_.push_back(registry_.Copy(now_us_));
    ++losses_;
    const size_t which = static_cast<size_t>(random_.Below(static_cast<int64_t>(copies_.size())));
    registry_.Restore(now_us_, copies_[which], random_.Percent(40));
    CutOffSome();
    StartAgain(20 * kSecond);
    const int64_t when = kind_ == Kind::kReportedFirst ? 0 : kind_ == Kind::kUnreported ? 2 : random_.Below(3);
    if (when == 0) registry_.CallSettle(down_until_us_);
    if (when == 1) At(down_until_us_ + random_.Below(lease_us_), [this] { registry_.CallSettle(now_us_); });
  }

  void RestoreFirstCopy() {
    registry_.Restore(now_us_, copies_.front(), random_.Percent(40));
    if (random_.Percent(50)) CutOffSome();
    StartAgain(20 * kSecond);
    if (kind_ == Kind::kRestartsAgoUnheard) {
      for (Node &node : nodes_) node.cut_off_until_us = down_until_us_ + random_.Between(10 * kSecond, lease_us_);
      for (size_t i = 4; i < nodes_.size(); ++i) {
        End(i, false);
        nodes_[i].cut_off_until_us = 0;
        At(down_until_us_ + random_.Below(5 * kSecond), [this, i] { Begin(i); });
      }
    }
    if (kind_ == Kind::kRestartsAgoReported) registry_.CallSettle(down_until_us_);
    if (random_.Percent(30)) At(down_until_us_ + random_.Below(3 * kSecond), [this] { Restart(random_.Percent(80)); });
  }

  void StartAgain(int64_t at_most_us) {
    down_until_us_ = now_us_ + random_.Between(kSecond / 5, at_most_us);
    registry_.Start(down_until_us_);
  }

  // From the registry that continues.
  void CutOffSome() {
    for (Node &node : nodes_)
      if (node.leased && random_.Percent(HasClocks(kind_) ? 70 : 30))
        node.cut_off_until_us =
            now_us_ + (random_.Percent(HasClocks(kind_) ? 20 : 50) ? random_.Between(kSecond, 30 * kSecond)
                                                                   : random_.Between(kSecond, 2 * lease_us_));
  }

  const Kind kind_;
  const Rules rules_;
  Random random_;
  const int64_t lease_us_;
  Registry registry_;
  std::vector<Node> nodes_;
  std::vector<Committed> copies_;
  std::multimap<int64_t, std::function<void()>> events_;
  int64_t now_us_ = kStartUs;
  int64_t down_until_us_ = 0;
  int losses_ = 0;
  bool repeated_ = false;
  int64_t acquired_ = 0, refused_ = 0;
  std::vector<Use> uses_;
  std::map<uint64_t, Use> windows_;  // by the lease's secret
  int64_t twice_ = 0, overlaps_ = 0;
  int64_t off_us_ = 0;  // by which the clock that the registry follows is ahead
  bool judges_ = false;
  int64_t longest_us_ = 0;  // that a node has no id although the registry is up
};

Totals RunAll(Kind kind, const Rules &rules, int32_t worker_bits, uint64_t schedules, std::string *broken,
              bool stops = false) {
  Totals totals;
  const uint64_t first = SeededRandom(20250108)();
  for (uint64_t i = 0; i < schedules && !(stops && !broken->empty()); ++i) {
    Schedule schedule(kind, rules, worker_bits, first + i);
    schedule.Run(&totals);
    if (schedule.broken() && broken->empty()) *broken = "schedule " + std::to_string(i);
  }
  static const char *const kNames[] = {"one failover",
                                       "put back, reported first",
                                       "put back, not reported",
                                       "several losses",
                                       "restarts ago, reported first",
                                       "restarts ago, not reported",
                                       "restarts ago, new nodes first",
                                       "clock wrong at the failover",
                                       "clock wrong for longer",
                                       "clock steps back later",
                                       "clock wrong before the failover",
                                       "crash loop",
                                       "reverted with its memory",
                                       "reverted by less than the skew",
                                       "reverted twice"};
  const auto percent = [&](int64_t count, int64_t of) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(of);
  };
  std::cout << (1 << worker_bits) << " worker ids, " << kNames[static_cast<int>(kind)] << ": " << totals.schedules
            << " schedules, " << totals.promised << " within the promise; in " << totals.repeated << " ("
            << percent(totals.repeated, totals.schedules) << " %) a worker id was in use twice, " << totals.broken
            << " of them within the promise; " << percent(totals.refused, totals.acquired) << " % of "
            << totals.acquired << " acquires were refused" << std::endl;
  if (HasClocks(kind))
    std::cout << "    " << totals.twice << " ticks used twice; windows overlap in " << totals.overlaps << " ("
              << percent(totals.overlaps, totals.schedules) << " %); longest time without ids "
              << static_cast<double>(totals.longest_us) / kSecond << " s; " << totals.floors << " left a floor, "
              << totals.unsettled << " settle at the end" << std::endl;
  if (IsRestartsAgo(kind))
    std::cout << "    " << totals.twice << " ticks used twice; " << totals.adopted << " leases adopted, "
              << totals.not_adopted << " in use not although their worker ids were free; " << totals.unheard
              << " reports did not show the loss; longest time without ids "
              << static_cast<double>(totals.longest_us) / kSecond << " s" << std::endl;
  return totals;
}

// 3,200 schedules for each ring, of 8, 32 and 1,024 worker ids; 10,000 in the long form.
class Settles : public ::testing::TestWithParam<int32_t> {};

TEST_P(Settles, NoWorkerIdIsInUseTwice) {
  for (Kind kind : {Kind::kOneFailover, Kind::kReportedFirst, Kind::kUnreported, Kind::kSeveral}) {
    std::string broken;
    const Totals totals = RunAll(kind, {}, GetParam(), static_cast<uint64_t>(AtLength(250, 2500)), &broken);
    EXPECT_EQ(broken, "");
    EXPECT_GT(totals.promised, totals.schedules / 3);
    EXPECT_EQ(totals.unheard, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, Settles, ::testing::Values(3, 5, 10));

// 400 schedules for each ring, and 10,000 in the long form. In the two larger rings nobody waits.
TEST_P(Settles, AfterAnyNumberOfRestarts) {
  // An exception: nothing has shown the loss yet.
  std::string ignored;
  RunAll(Kind::kRestartsAgoUnheard, {}, GetParam(), static_cast<uint64_t>(AtLength(100, 5000)), &ignored);
  for (Kind kind : {Kind::kRestartsAgoReported, Kind::kRestartsAgo}) {
    std::string broken;
    const Totals totals = RunAll(kind, {}, GetParam(), static_cast<uint64_t>(AtLength(100, 5000)), &broken);
    EXPECT_EQ(broken, "");
    EXPECT_GT(totals.promised, totals.schedules / 2);
    EXPECT_EQ(totals.unheard, 0) << "one report is enough";
    EXPECT_GT(totals.adopted, totals.schedules / 4);
    EXPECT_EQ(totals.not_adopted, 0);
    if (GetParam() > 3) {
      EXPECT_LT(totals.longest_us, 5 * kSecond);
    }
  }
}

// Wrong clocks: 150 schedules of each kind and ring, and 1,000 in the long form. The figures of the
// design are of SNOWFLAKE_SCHEDULES=20000.
int64_t Schedules() {
  const char *given = std::getenv("SNOWFLAKE_SCHEDULES");
  return given != nullptr ? std::strtoll(given, nullptr, 10) : AtLength(150, 1000);
}

TEST_P(Settles, WhateverTheClocksDo) {
  for (Kind kind :
       {Kind::kClockAtFailover, Kind::kClockTooLong, Kind::kClockLater, Kind::kClockBefore, Kind::kCrashLoop}) {
    std::string broken;
    const Totals totals = RunAll(kind, {}, GetParam(), static_cast<uint64_t>(Schedules()), &broken);
    EXPECT_EQ(broken, "");
    EXPECT_EQ(totals.unsettled, 0) << "every outage has an end";
    if (GetParam() > 3) {
      EXPECT_GT(totals.promised, totals.schedules / 8);
    }
    if (kind == Kind::kClockLater) {
      EXPECT_EQ(totals.floors, totals.schedules);
    }
  }
}

// A registry's machine that is reverted with its memory. What is lost twice is told apart by chance
// alone, until a node names it.
TEST_P(Settles, AfterARevertWithMemory) {
  std::string broken;
  const auto schedules = static_cast<uint64_t>(Schedules());
  const Totals totals = RunAll(Kind::kReverted, {}, GetParam(), schedules, &broken);
  EXPECT_EQ(broken, "");
  EXPECT_EQ(totals.unheard, 0);
  if (GetParam() > 3) {
    EXPECT_GT(totals.promised, totals.schedules * 9 / 10);
  }
  RunAll(Kind::kRevertedBriefly, {}, GetParam(), schedules, &broken);
  EXPECT_EQ(broken, "");
  const Totals twice = RunAll(Kind::kRevertedTwice, {}, GetParam(), schedules, &broken);
  EXPECT_EQ(broken, "");
  if (GetParam() > 5) {
    EXPECT_LT(twice.repeated, twice.schedules / 50);
  }
}

// Proves that the test above can fail: without a rule, worker ids repeat although the design
// promises that they do not.
bool Fails(Kind kind, const Rules &rules, int32_t worker_bits = 5) {
  std::string broken;
  RunAll(kind, rules, worker_bits, 20000, &broken, true);
  return !broken.empty();
}

Rules Without(bool Rules::*rule) {
  Rules rules;
  rules.*rule = false;
  return rules;
}

TEST(Settling, WithoutTheReserveWorkerIdsRepeat) {
  EXPECT_TRUE(Fails(Kind::kOneFailover, Without(&Rules::reserve)));
  EXPECT_TRUE(Fails(Kind::kReportedFirst, Without(&Rules::reserve), 10));
}

TEST(Settling, ForAsLongAsTheAskingNodesLeaseAloneWorkerIdsRepeat) {
  EXPECT_TRUE(Fails(Kind::kReportedFirst, Without(&Rules::longest)));
}

TEST_P(Settles, NotWithoutASkipAfterAStep) {
  std::string broken;
  const Totals totals =
      RunAll(Kind::kReverted, Without(&Rules::step), GetParam(), static_cast<uint64_t>(Schedules()), &broken);
  EXPECT_GT(totals.repeated, totals.schedules / 10);
  if (GetParam() > 3) {
    EXPECT_NE(broken, "");
  }
}

// Settling that ends by the wall clock ends as soon as a clock that was behind is set right. With 32
// worker ids windows overlap in 0.2 % of the schedules, and as often without a floor.
TEST(Settling, ByTheWallClockWorkerIdsRepeat) { EXPECT_TRUE(Fails(Kind::kClockAtFailover, Without(&Rules::steady))); }

TEST(Settling, WithoutAFloorWorkerIdsRepeatOnceTheClockStepsBack) {
  EXPECT_TRUE(Fails(Kind::kClockLater, Without(&Rules::floor)));
}

TEST(Settling, CountedAnewAtEachStartItDoesNotEnd) {
  std::string broken;
  EXPECT_GT(RunAll(Kind::kCrashLoop, Without(&Rules::counts), 5, 100, &broken).unsettled, 50);
}

// Lost leases look too far away to be true: their nodes lose them, and are refused other leases.
TEST(Settling, WithEvidenceOfOneRestartAloneALossIsUnknown) {
  const Rules rules = Without(&Rules::far);
  std::string broken;
  const uint64_t schedules = 100;
  const Totals reported = RunAll(Kind::kRestartsAgoReported, rules, 5, schedules, &broken);
  EXPECT_GT(reported.not_adopted, reported.adopted / 2);
  const Totals none = RunAll(Kind::kRestartsAgo, rules, 5, schedules, &broken);
  EXPECT_GT(none.not_adopted, none.adopted / 2);
  EXPECT_GT(none.unheard, none.schedules / 4);
  EXPECT_GT(none.longest_us, 5 * kMinute);
}

// These make repeated worker ids rarer beyond what is promised.
TEST(Settling, ByTheSameRandomNumbersWorkerIdsRepeatMoreOften) {
  std::string broken;
  const auto schedules = static_cast<uint64_t>(AtLength(300, 1000));
  EXPECT_GT(RunAll(Kind::kRevertedTwice, Without(&Rules::mixed), 10, schedules, &broken).repeated,
            5 + 2 * RunAll(Kind::kRevertedTwice, {}, 10, schedules, &broken).repeated);
}

TEST(Settling, WithoutAJumpOfLeaseIdsOrAdoptionWorkerIdsRepeatMoreOften) {
  std::string broken;
  EXPECT_GT(RunAll(Kind::kUnreported, Without(&Rules::jump), 5, 1000, &broken).repeated,
            2 * RunAll(Kind::kUnreported, {}, 5, 1000, &broken).repeated);
  EXPECT_GT(RunAll(Kind::kReportedFirst, Without(&Rules::adoption), 5, 1000, &broken).repeated,
            2 * RunAll(Kind::kReportedFirst, {}, 5, 1000, &broken).repeated);
}

}  // namespace
}  // namespace snowflake
