// Each field of a registry's answers, false once or for half an hour, and then right again. For how
// long does a node issue no ids, before and afterwards, and does a clean restart end it?
//
// Optimized: it takes two seconds, and ten without.
//
// The node's decisions are those of node.h. The registry is honest except in the one field, and has
// a clock that is right. A false lease is not one that the honest registry has.
#include <algorithm>
#include <array>
#include <functional>
#include <iomanip>
#include <iostream>
#include <utility>

#include <gtest/gtest.h>

#include "core/horizon.h"
#include "core/node.h"
#include "core/ring.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr Layout kLayout = kDefaultLayout;
constexpr int64_t kBegin = 1780272000 * kSecond;  // 2026-06-01
constexpr int64_t kSkewUs = 10 * kSecond;
constexpr int64_t kWindowUs = 10 * kMinute;
constexpr ClockPolicy kPolicy = {5 * kMs, {kMinute, kDay}, true};

using Acquired = std::function<void(AcquireAnswer *)>;
using Extended = std::function<void(ExtendAnswer *)>;

struct Fault {
  const char *name;
  Acquired acquired;  // either is empty
  Extended extended;
  bool needs_restart;  // if it lasts for half an hour
};

class World {
 public:
  explicit World(const Fault &fault) : fault_(fault) {
    watermarks_.fill(kNoWatermark);
    Start(0);
  }

  // `steps` of 100 ms. Returns for how long no id was issued.
  int64_t Run(int64_t steps) {
    int64_t without_us = 0;
    for (int64_t i = 0; i < steps; ++i) {
      now_us_ += kStep;
      Look();
      if (TakeOrAsk(&state_, 1, {MaxLead(state_, kLayout), 0}).outcome != Outcome::kRun) without_us += kStep;
      if (i % 10 == 0) Keep();
    }
    return without_us;
  }

  void LieFor(int64_t answers) { lies_ = answers; }

  // Gives the lease up, so that the next request is an acquire.
  void LoseTheLease() {
    state_.generator.open = false;
    leased_ = 0;
  }

  // Cleanly: the honest registry takes the lease back, if it is its own.
  void Restart() {
    CloseLease(&state_);
    leased_ = 0;
    Start(LastUsOfLife(state_.generator, kLayout, 0));
  }

  int64_t AheadUs() const { return std::max<int64_t>(kLayout.UnixUsAt(state_.generator.last_tick) - now_us_, 0); }

 private:
  static constexpr int64_t kStep = 100 * kMs;

  ServerTime Now() const { return {{now_us_, now_us_ - kBegin + kHour}, {}}; }
  void Look() { Read(&state_, Now()); }

  void Start(int64_t row_us) {
    state_ = {};
    state_.policy = kPolicy;
    Look();
    if (row_us > 0) GoOnAfter(&state_, kLayout, kLayout.TickAt(row_us), Now());
  }

  bool Accepts(Tick now, bool leapt) const {
    const ClockReading right = {now_us_, kYear};
    return AcceptsClock(kLayout, {OffsetUs(right), 1, 0, 0}, right, now, leapt, kSkewUs);
  }

  void Keep() {
    const KeeperView view = ViewForKeeper(&state_, kWindowUs, false);
    if (!view.leased || view.lease_wanted) return Acquire();
    if (view.window_wanted || view.window_left_us < kWindowUs * 2 / 3) Extend();
  }

  void Acquire() {
    Secret fresh = {};
    memcpy(&fresh, &++secrets_, sizeof(secrets_));
    memcpy(&fresh.hash, &secrets_, sizeof(secrets_));
    const AcquireAsked asked =
        AskForLease(&state_, kLayout, kWindowUs, fresh, MostRaisedUs(kSkewUs, kPolicy.clock.max_bridge_us, false));
    if (!Accepts(asked.request.now, asked.request.leapt)) return RefusedForSkew(&state_);
    const auto worker = static_cast<size_t>(++leases_ % watermarks_.size());
    AcquireAnswer answer = {{}, kLayout, kStanding, 1};
    answer.lease.lease_id = leases_;
    answer.lease.worker = static_cast<int32_t>(worker);
    if (AssignWindow(kLayout, asked.request, watermarks_[worker], kNoWatermark, &answer.lease) != Assignment::kAssigned)
      return KeepPresentWorker(&state_);
    const bool lies = fault_.acquired && lies_ > 0;
    if (lies) {
      --lies_;
      fault_.acquired(&answer);
    } else {
      leased_ = leases_;
    }
    TakeLease(&state_, kLayout, asked, answer, false);
    state_.retired_count = 0;
  }

  void Extend() {
    const ExtendRequest request = AskForWindow(state_, kWindowUs);
    const bool lies = fault_.extended && lies_ > 0;
    if (!lies && request.lease_id != leased_) {
      LoseLease(&state_, request.lease_id, kStanding);
      return;
    }
    const ClockReading right = {now_us_, kYear};
    if (!Accepts(request.now, request.leapt) &&
        (request.leapt || !AcceptsHolder(kLayout, {OffsetUs(right), 1, 0, 0}, right, request.now, request.window_start,
                                         state_.generator.lease.window_end, request.duration_us)))
      return RefusedForSkew(&state_);
    ExtendAnswer answer = {EndForExtend(kLayout, request), kStanding};
    if (lies) {
      --lies_;
      fault_.extended(&answer);
    }
    TakeWindow(&state_, request, answer, MostRaisedUs(kSkewUs, kPolicy.clock.max_bridge_us, false), false);
  }

  static constexpr Standing kStanding = {1, 5, kNoWatermark, 0};

  const Fault &fault_;
  int64_t now_us_ = kBegin;
  NodeState state_ = {};
  std::array<Tick, 64> watermarks_ = {};
  int64_t leases_ = 0, leased_ = 0, secrets_ = 0, lies_ = 0;
};

Tick TickIn(int64_t us) { return kLayout.TickAt(kBegin + us); }

TEST(FalseAnswers, StopNoNodeForLongerThanItsWindow) {
  const auto standing = [](auto change) {
    return std::pair<Acquired, Extended>{[=](AcquireAnswer *a) { change(&a->standing); },
                                         [=](ExtendAnswer *a) { change(&a->standing); }};
  };
  const auto leap = [](AcquireAnswer *a) {
    a->lease.window_start += kLayout.TicksIn(kDay);
    a->lease.window_end = a->lease.window_start + 1000;
  };
  const auto later = [](AcquireAnswer *a) { a->lease.window_end += kLayout.TicksIn(kDay); };
  const auto system = standing([](Standing *s) { s->system_identifier = 9; });
  const auto timeline = standing([](Standing *s) { s->timeline = 9; });
  const auto settle = standing([](Standing *s) { s->settle_called_us = kBegin + 12 * kHour; });
  const auto settle_late = standing([](Standing *s) { s->settle_called_us = kBegin + kYear; });
  const auto raise = standing([](Standing *s) { s->raised_tick = TickIn(23 * kHour); });
  const auto raise_little = standing([](Standing *s) { s->raised_tick = TickIn(kMinute); });
  const Fault faults[] = {
      {"acquire: lease id, above all", [](AcquireAnswer *a) { a->lease.lease_id = kHighestLeaseId; }, {}, false},
      {"acquire: lease id, none", [](AcquireAnswer *a) { a->lease.lease_id = 0; }, {}, false},
      {"acquire: worker id, of another datacenter", [](AcquireAnswer *a) { a->lease.worker = 5000; }, {}, false},
      {"acquire: window's start, a day ahead", leap, {}, true},
      {"acquire: window's end, a day ahead", later, {}, false},
      {"acquire: layout", [](AcquireAnswer *a) { a->layout.epoch_ms += 1; }, {}, false},
      {"acquire: system identifier", system.first, {}, false},
      {"acquire: timeline", timeline.first, {}, true},
      {"acquire: settle called, in 12 h", settle.first, {}, true},
      {"acquire: settle called, in a year", settle_late.first, {}, false},
      {"acquire: raised, by 23 h", raise.first, {}, false},
      {"acquire: raised, by a minute", raise_little.first, {}, false},
      {"acquire: free worker ids", [](AcquireAnswer *a) { a->workers_free = 0; }, {}, false},
      {"extend: window's end, over", {}, [](ExtendAnswer *a) { a->window_end = 1; }, false},
      {"extend: window's end, a year ahead", {}, [](ExtendAnswer *a) { a->window_end += TickIn(kYear); }, false},
      {"extend: window's end, 23 h ahead", {}, [](ExtendAnswer *a) { a->window_end = TickIn(23 * kHour); }, false},
      {"extend: system identifier", {}, system.second, false},
      {"extend: timeline", {}, timeline.second, true},
      {"extend: settle called, in 12 h", {}, settle.second, true},
      {"extend: settle called, in a year", {}, settle_late.second, false},
      {"extend: raised, by 23 h", {}, raise.second, false},
      {"extend: raised, by a minute", {}, raise_little.second, false},
  };
  std::cout << "# of an answer that is false once, and then of one that is for half an hour: seconds without ids\n"
               "# meanwhile and in the two hours after that, and by how many ids were ahead"
            << std::endl;
  for (const Fault &fault : faults) {
    std::cout << "# " << std::left << std::setw(46) << fault.name;
    for (const bool lasts : {false, true}) {
      World world(fault);
      world.Run(600);
      const int64_t none = world.Run(100);
      EXPECT_EQ(none, 0) << fault.name;
      if (fault.acquired) world.LoseTheLease();
      world.LieFor(lasts ? INT64_MAX : 1);
      const int64_t before_us = world.Run(lasts ? 18000 : 100), ahead_us = world.AheadUs();
      world.LieFor(0);
      const int64_t after_us = world.Run(72000);
      std::cout << std::setw(8) << before_us / kSecond << std::setw(8) << after_us / kSecond << std::setw(8)
                << ahead_us / kSecond;
      world.Restart();
      const int64_t restarted_us = world.Run(36000);
      EXPECT_LE(restarted_us, 3 * kSecond) << fault.name << ", after a clean restart";
      EXPECT_LE(world.AheadUs(), kMinute) << fault.name;
      if (!fault.needs_restart) {
        EXPECT_LE(after_us, 3 * kSecond) << fault.name;
      }
    }
    std::cout << std::endl;
  }
}

}  // namespace
}  // namespace snowflake
