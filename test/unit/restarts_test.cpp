// A node that is restarted, upgraded and promoted while its ids are ahead of the clock. Is no id
// smaller than an earlier one, or below a horizon that was reported (G2, G9, G12)?
//
// 1. The core's own code decides: clock.h, node.h, generator.h, horizon.h, box.h. The row of
//    snowflake_last_tick, the shutdown and the start are mirrors of process.cpp, exchanges.cpp and
//    node_box.cpp.
// 2. The clock is stepped back by less than what is bridged, while the server runs or is down, and
//    set right again. Nothing beyond that is an exception to G2.
// 3. Nothing here reads a clock or the machine's randomness: the same seed gives the same run.
//
// SNOWFLAKE_RESTARTS: how many of each kind, in each of the two tests.
//
// Optimized: it takes a second, and five without.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/box.h"
#include "core/horizon.h"
#include "core/node.h"
#include "core/ring.h"
#include "length.h"
#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kBegin = 1780272000 * kSecond;  // 2026-06-01
constexpr int64_t kSkewUs = 10 * kSecond;
constexpr int64_t kWindowUs = kMinute;
constexpr int64_t kMostAheadUs = 55 * kSecond;
constexpr Layout kLayouts[] = {{kFirstTimeUs / kMs, kMs, 41, 0, 4, 12, false},
                               {kFirstTimeUs / kMs, 10 * kMs, 39, 0, 4, 12, false},
                               {kFirstTimeUs / kMs, kSecond, 32, 0, 4, 12, false}};

enum class End { kClean, kCrash, kClockless, kMoved };
constexpr const char *kEnds[] = {"clean restart", "crash", "reboot after a clean shutdown", "upgrade or promotion"};

struct Figures {
  int64_t restarts, ids, fell, below_horizon, workers, waited_us, bridged;
};

class World {
 public:
  World(uint64_t seed, bool has_row) : random_(seed), has_row_(has_row) {
    layout_ = kLayouts[Below(&random_, 3)];
    policy_ = {Once(2) ? 5 * kMs : kMostLeadUs, {kMinute, kDay}, true};
    remote_ = Once(2);
    watermarks_.fill(kNoWatermark);
    box_ = std::make_unique<BoxSlot>();
    state_.policy = policy_;
  }

  // Ids, with steps of the clock, and then a restart.
  Figures Restart(End end) {
    figures_ = {};
    figures_.restarts = 1;
    for (int64_t i = 3 + Below(&random_, 8); i > 0; --i) Live();
    const int32_t worker = state_.generator.lease.worker;
    if (end == End::kCrash && Once(3)) Lose();
    if (end == End::kCrash)
      state_ = {};
    else
      ShutDown();
    // A container's monotonic clock, on either side.
    if (Once(3)) steady_base_us_ += SomeUs(now_us_ - steady_base_us_) * (Once(2) ? 1 : -1);
    if (end == End::kClockless || end == End::kMoved) {
      Empty(box_.get());
      EmptyHorizon(box_.get());
      steady_base_us_ = now_us_ - kSecond * (1 + Below(&random_, 1000));
    }
    now_us_ += SomeUs(20 * kSecond);
    if (Once(3)) StepBack();
    if (LeadUs() > kSecond) ++figures_.bridged;
    Start(end == End::kClockless);
    const int64_t began_us = now_us_;
    Issue();
    figures_.waited_us = now_us_ - began_us;
    figures_.workers = state_.generator.lease.worker != worker;
    for (int64_t i = Below(&random_, 4); i > 0; --i) Live();
    return figures_;
  }

 private:
  bool Once(int64_t in) { return Below(&random_, in) == 0; }
  // Short and long spans are as frequent as one another.
  int64_t SomeUs(int64_t most_us) { return most_us >> Below(&random_, 16); }

  ServerTime Now() const { return {{now_us_ + off_us_, now_us_ - steady_base_us_}, {}}; }
  // How far ids may be ahead of the wall clock.
  int64_t LeadUs() const { return std::max<int64_t>(shown_us_ - now_us_ - off_us_, 0); }

  void ReadClock() {
    Read(&state_, Now());
    shown_us_ = std::max(shown_us_, state_.clock.shown_us);
  }

  void Live() {
    now_us_ += SomeUs(4 * kSecond);
    switch (Below(&random_, 6)) {
      case 0: StepBack(); break;
      case 1: off_us_ = 0; break;
      case 2: Burst(); break;
      case 3: return TakeHorizon();  // later than the last id
      default: break;
    }
    Keep();
    Issue();
  }

  void StepBack() {
    const int64_t most_us = kMostAheadUs - LeadUs();
    if (most_us > 5 * kSecond) off_us_ -= 5 * kSecond + Below(&random_, most_us - 5 * kSecond);
  }

  // As fast as it can, so that ids come to be ahead of the node's clock.
  void Burst() {
    for (int i = 0; i < 12000; ++i) {
      ReadClock();
      const Outcome outcome = Take().outcome;
      if (outcome != Outcome::kRun) break;
    }
  }

  // SampleNode(), with a limit that never holds it back.
  void TakeHorizon() {
    ReadClock();
    Generator *g = &state_.generator;
    const int64_t lowest = SealIds(g, layout_, layout_.TickAt(state_.clock.shown_us), MaxLead(state_, layout_));
    if (g->open) StoreLastTick(box_.get(), std::max(g->last_tick, g->sealed_tick - 1));
    if (lowest <= horizon_) return;
    horizon_ = lowest;
    KeptHorizon kept;
    memset(static_cast<void *>(&kept), 0, sizeof(kept));
    kept.layout = layout_;
    kept.horizon = horizon_;
    StoreHorizon(box_.get(), kept);
  }

  // ChangeNode()
  void StoreInBox() {
    Store(box_.get(), [&](Kept *kept) { kept->state = state_; });
  }

  Decision Take() {
    const Decision decision = TakeOrAsk(&state_, layout_.sequence_count(), {MaxLead(state_, layout_), 0});
    if (decision.outcome != Outcome::kRun) return decision;
    StoreLastTick(box_.get(), state_.generator.last_tick);
    const Run &run = decision.run;
    const int64_t id = layout_.Pack({run.tick, run.worker, run.sequence});
    ++figures_.ids;
    figures_.fell += id <= last_id_;
    figures_.below_horizon += id < horizon_;
    last_id_ = id;
    shown_us_ = std::max(shown_us_, std::min(layout_.UnixUsAt(run.tick), state_.clock.shown_us));
    return decision;
  }

  // WaitForRun()
  void Issue() {
    for (int tries = 0; tries < 20000; ++tries) {
      // The registry refuses the clock, until that is set right.
      if (remote_ && tries == 2000) off_us_ = 0;
      ReadClock();
      switch (Take().outcome) {
        case Outcome::kRun: return;
        case Outcome::kNoLease:
        case Outcome::kWindowEnd: Keep(); break;
        case Outcome::kClockBehind:
          state_.new_worker_wanted = true;
          Keep();
          break;
        default: break;
      }
      now_us_ += kMs;
    }
    ADD_FAILURE() << "no id in 20 s";
  }

  // --- The keeper: process.cpp and exchanges.cpp ---

  void Keep() {
    ReadClock();
    const KeeperView view = ViewForKeeper(&state_, kWindowUs, false);
    if (!state_.generator.open || view.lease_wanted)
      Acquire();
    else
      Extend();
    StoreInBox();
  }

  bool Accepts(Tick now, bool leapt) const {
    if (!remote_) return true;
    const ClockReading right = {now_us_, kYear};
    return AcceptsClock(layout_, {OffsetUs(right), 1, 0, 0}, right, now, leapt, kSkewUs);
  }

  void Acquire() {
    if (!goes_on_ && row_us_ != 0 && has_row_ && !state_.generator.open)
      GoOnAfter(&state_, layout_, layout_.TickAt(row_us_), Now());
    goes_on_ = true;
    if (!remote_) state_.ask_by_wall = false;
    Secret fresh = {};
    memcpy(&fresh, &++secrets_, sizeof(secrets_));
    memcpy(&fresh.hash, &secrets_, sizeof(secrets_));
    const AcquireAsked asked = AskForLease(&state_, layout_, kWindowUs, fresh, kMaxLeaseUs);
    StoreInBox();
    if (!Accepts(asked.request.now, asked.request.leapt)) return RefusedForSkew(&state_);
    int32_t worker = 0;
    for (int32_t i = 1; i < layout_.worker_count(); ++i)
      if (watermarks_[static_cast<size_t>(i)] < watermarks_[static_cast<size_t>(worker)]) worker = i;
    Tick *watermark = &watermarks_[static_cast<size_t>(worker)];
    Lease lease = {};
    lease.lease_id = ++leases_;
    lease.worker = worker;
    if (AssignWindow(layout_, asked.request, *watermark, kNoWatermark, &lease) != Assignment::kAssigned)
      return KeepPresentWorker(&state_);
    *watermark = lease.window_end - 1;  // if it is never released
    const Standing standing = {1, 1, kNoWatermark, 0};
    if (!TakeLease(&state_, layout_, asked, {lease, layout_, standing, 1}, false).opened) KeepPresentWorker(&state_);
    state_.retired_count = 0;
  }

  void Extend() {
    const Generator &g = state_.generator;
    if (!remote_) state_.ask_by_wall = false;
    const ExtendRequest request = AskForWindow(state_, kWindowUs);
    const ClockReading right = {now_us_, kYear};
    if (!Accepts(request.now, request.leapt) &&
        (request.leapt || !AcceptsHolder(layout_, {OffsetUs(right), 1, 0, 0}, right, request.now, request.window_start,
                                         g.lease.window_end, request.duration_us)))
      return RefusedForSkew(&state_);
    const Tick end = EndForExtend(layout_, request);
    Tick *watermark = &watermarks_[static_cast<size_t>(g.lease.worker)];
    *watermark = std::max(*watermark, end - 1);
    TakeWindow(&state_, request, {end, {1, 1, kNoWatermark, 0}}, kMaxLeaseUs, false);
  }

  // The registry does not have the lease, and has not assigned another one before the crash.
  void Lose() {
    ReadClock();
    LoseLease(&state_, state_.generator.lease.lease_id, {1, 1, kNoWatermark, 0});
    StoreInBox();
    now_us_ += SomeUs(2 * kSecond);
    if (Once(2)) TakeHorizon();
  }

  // KeepLastTickOnce(), and the release, which may fail, or be refused.
  void ShutDown() {
    ReadClock();
    CloseLease(&state_);
    if (state_.generator.lease.lease_id != 0) row_us_ = LastUsOfLife(state_.generator, layout_, horizon_);
    StoreInBox();
    if (Once(4)) return;
    if (state_.retired_count > 0) NoteAsked(&state_, state_.retired[0].lease_id);
    if (!Once(4)) state_.retired_count = 0;
    if (ForgetQuestion(&state_))
      Empty(box_.get());
    else
      StoreInBox();
  }

  // RestoreNodes() and AdmitRecovered()
  void Start(bool after_reboot) {
    static Kept kept;
    kept = {};
    const bool recovered = Load(box_.get(), &kept);
    state_ = {};
    state_.policy = policy_;
    goes_on_ = false;
    if (recovered) state_ = kept.state;
    if (recovered) Resume(&state_, Now(), policy_);
    KeptHorizon horizon = {};
    if (LoadHorizon(*box_, &horizon) && !state_.generator.open && horizon.horizon > 0)
      GoOnAfter(&state_, layout_, LastTickBelow(layout_, horizon.horizon), Now());
    // The file has a limit, which is not below what was reported.
    if (after_reboot && horizon_ > 0) GoOnAfter(&state_, layout_, LastTickBelow(layout_, horizon_), Now());
    if (recovered) CatchUp(&state_, false);
    ReadClock();
  }

  std::mt19937_64 random_;
  bool has_row_;
  Layout layout_ = {};
  ClockPolicy policy_ = {};
  bool remote_ = false;
  int64_t now_us_ = kBegin, off_us_ = 0, steady_base_us_ = kBegin - kHour;
  int64_t shown_us_ = 0;  // the latest that ids or the horizon have used
  NodeState state_ = {};
  std::unique_ptr<BoxSlot> box_;
  int64_t row_us_ = 0;
  bool goes_on_ = false;
  std::array<Tick, 16> watermarks_ = {};
  int64_t leases_ = 0, secrets_ = 0;
  int64_t last_id_ = -1, horizon_ = 0;
  Figures figures_ = {};
};

Figures Restarts(End end, bool has_row, int64_t count) {
  std::mt19937_64 random = SeededRandom(20261129);
  Figures sum = {};
  while (sum.restarts < count) {
    const uint64_t seed = random();
    World world(seed, has_row);
    for (int i = 0; i < 5; ++i) {
      const Figures one = world.Restart(end);
      if (has_row && one.fell + one.below_horizon > 0 && sum.fell + sum.below_horizon == 0)
        std::cout << "the world of seed " << seed << ", restart " << i << std::endl;
      sum.restarts += one.restarts;
      sum.ids += one.ids;
      sum.fell += one.fell;
      sum.below_horizon += one.below_horizon;
      sum.workers += one.workers;
      sum.bridged += one.bridged;
      sum.waited_us = std::max(sum.waited_us, one.waited_us);
    }
  }
  std::cout << "# " << kEnds[static_cast<int>(end)] << (has_row ? "" : ", without the row") << ": " << sum.restarts
            << " restarts, " << sum.bridged << " while ids were ahead by more than 1 s; of " << sum.ids << " ids "
            << sum.fell << " fell, " << sum.below_horizon << " below a horizon; " << sum.workers
            << " times another worker id; the first id waited for at most " << sum.waited_us / kMs << " ms"
            << std::endl;
  return sum;
}

int64_t Count() {
  const char *given = std::getenv("SNOWFLAKE_RESTARTS");
  return given != nullptr ? std::strtoll(given, nullptr, 10) : AtLength(300, 2500);
}

TEST(Restarts, NoIdFallsOverACleanShutdownOrACrash) {
  for (const End end : {End::kClean, End::kCrash, End::kClockless, End::kMoved}) {
    const Figures sum = Restarts(end, true, Count());
    EXPECT_EQ(sum.fell, 0);
    EXPECT_EQ(sum.below_horizon, 0);
    EXPECT_GT(sum.bridged, sum.restarts / 10);
    EXPECT_LT(sum.waited_us, 3 * kSecond);
  }
}

// This run can fail.
TEST(Restarts, WithoutTheRowIdsFall) {
  EXPECT_GT(Restarts(End::kClean, false, Count() / 10).fell, 0);
  const Figures moved = Restarts(End::kMoved, false, Count() / 10);
  EXPECT_GT(moved.fell, 0);
  EXPECT_GT(moved.below_horizon, 0);
}

}  // namespace
}  // namespace snowflake
