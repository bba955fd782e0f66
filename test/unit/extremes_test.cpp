// The core at the extremes of its types: layouts, clocks, settings and answers of registries that
// no server has. The unit tests are compiled without -fwrapv, and UBSan ends them if a sum
// overflows. So the core's headers do the same in files that are compiled with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/box.h"
#include "core/check.h"
#include "core/horizon.h"
#include "core/node.h"
#include "core/ring.h"
#include "core/segment.h"
#include "core/time_range.h"
#include "opened.h"
#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();
constexpr Secret kSecret = {{1}, {{1}}};
using Wide = __int128;

// Every layout that can issue and has its fields at their limits.
std::vector<Layout> Layouts() {
  std::vector<Layout> layouts = {kDefaultLayout};
  for (const int64_t epoch_ms : {int64_t{0}, kMaxEpochMs})
    for (const int64_t tick_us : {int64_t{1}, int64_t{1000}, kMaxTickUs})
      for (const int32_t datacenter_bits : {0, kMaxDatacenterBits})
        for (const int32_t worker_bits : {1, 21, kMaxFieldBits})
          for (const int32_t sequence_bits : {1, kMaxFieldBits})
            for (int32_t timestamp_bits = 1; timestamp_bits <= 63; ++timestamp_bits) {
              const Layout layout = {epoch_ms,    tick_us,       timestamp_bits,         datacenter_bits,
                                     worker_bits, sequence_bits, timestamp_bits % 2 != 0};
              Layout longer = layout;
              ++longer.timestamp_bits;
              if (layout.Fault(true) != LayoutFault::kNone) continue;
              if (timestamp_bits == 1 || longer.Fault(true) != LayoutFault::kNone) layouts.push_back(layout);
            }
  return layouts;
}

class Extremes {
 public:
  explicit Extremes(uint64_t seed) : random_(SeededRandom(seed)) {}

  int64_t Below(int64_t limit) { return snowflake::Below(&random_, limit); }
  template <typename T, size_t size>
  T One(const T (&of)[size]) {
    return of[Below(static_cast<int64_t>(size))];
  }
  // An extreme of the type, or a number near one of these.
  int64_t Near(std::initializer_list<int64_t> places) {
    const int64_t extremes[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
    const int64_t choice = Below(static_cast<int64_t>(places.size() + 2));
    if (choice >= static_cast<int64_t>(places.size())) return One(extremes);
    int64_t near = 0;
    const int64_t place = *(places.begin() + choice);
    return __builtin_add_overflow(place, Below(5) - 2, &near) ? place : near;
  }

 private:
  std::mt19937_64 random_;
};

TEST(Extremes, TimesAndTicksAreThoseOfWiderArithmetic) {
  Extremes extremes(20261201);
  for (const Layout &layout : Layouts()) {
    const auto unix_us = [&](Tick tick) { return Wide{tick} * layout.tick_us + layout.epoch_us(); };
    const int64_t end_us = layout.UnixUsAt(layout.max_tick() + 1);
    for (int i = 0; i < 300; ++i) {
      const Tick tick = extremes.Near({layout.max_tick(), layout.max_readable_tick()});
      const Wide us = unix_us(tick);
      EXPECT_EQ(layout.UnixUsAt(tick), us > kMax ? kMax : us < kMin ? kMin : static_cast<int64_t>(us));
      const int64_t time = extremes.Near({layout.epoch_us(), end_us, kFarthestUs});
      if (time >= kMin + layout.epoch_us()) {
        EXPECT_LE(unix_us(layout.TickAt(time)), time);
        EXPECT_GT(unix_us(layout.TickAt(time)) + layout.tick_us, time);
      }
      EXPECT_EQ(layout.UsLeft(time), std::min(Wide{end_us} - time, Wide{kMax}));
      int64_t id = 0;
      if (FirstIdAt(layout, time, &id)) {
        EXPECT_GE(id, 0);
        EXPECT_GE(unix_us(layout.Unpack(id).tick), std::min(time, end_us - 1));
      }
      IdsBetween(layout, {time, i % 2 == 0}, {extremes.Near({time, end_us}), i % 3 == 0});
      const int64_t duration_us = extremes.One({kMinLeaseUs, kMaxLeaseUs});
      const Tick window_end = WindowEnd(layout, tick, duration_us);
      EXPECT_LE(window_end, layout.max_tick() + 1);
      EXPECT_GE(WindowStart(tick, extremes.Near({tick})), 0);
    }
  }
}

// The time that int64 ends with is later than any tick, so no finite time is taken for a tick's.
TEST(Extremes, NoTickIsAtTheEndOfTime) {
  for (const Layout &layout : Layouts()) EXPECT_GT(layout.TickAt(kMax - 1), layout.max_readable_tick());
}

TEST(Extremes, RunsFitTheirFields) {
  for (const Layout &layout : Layouts()) {
    for (const int64_t want : {int64_t{1}, int64_t{kMaxInt}, int64_t{kMaxInt} + 1, kMax}) {
      Generator g = Opened(layout, static_cast<int32_t>(layout.worker_count() - 1), 0, layout.max_tick() + 1);
      for (const int64_t first : {int64_t{0}, int64_t{0}, layout.sequence_count() - 1}) {
        const Decision d = Take(&g, 0, want, {1, first});
        if (d.outcome != Outcome::kRun) continue;
        ASSERT_GE(d.run.count, 1);
        ASSERT_LE(d.run.sequence + int64_t{d.run.count}, layout.sequence_count());
        EXPECT_GE(layout.Pack({d.run.tick, d.run.worker, d.run.sequence + (d.run.count - 1)}), 0);
      }
    }
  }
}

TEST(Extremes, AWorkerIdIsJudgedInAnyDatacenter) {
  std::vector<Layout> layouts = Layouts();
  layouts.push_back({0, 1000, 41, 0, 0, 12, false});
  for (const Layout &layout : layouts) {
    for (const int32_t datacenter : {0, 1, kMaxInt - 1, kMaxInt}) {
      for (const int32_t worker : {std::numeric_limits<int32_t>::min(), -1, 0, 1, kMaxInt - 1, kMaxInt}) {
        const Wide ring = layout.workers_per_datacenter();
        const bool fits = worker >= datacenter * ring && worker < (Wide{datacenter} + 1) * ring;
        const AnswerFault fault = Judge(layout, datacenter, {1, {}, worker, 0, 1}, 0, 0, kMinLeaseUs);
        EXPECT_EQ(fault, fits ? AnswerFault::kNone : AnswerFault::kWorker);
      }
    }
  }
}

// One node under a lease at either end of the layout's time, whose clock steps between extremes.
TEST(Extremes, ANodeBearsAnyClock) {
  const ClockPolicy policies[] = {{0, {0, 0}, false}, {kMostLeadUs, {kDay, kMaxInt * kMs}, true}};
  int64_t runs = 0;
  for (const Layout &layout : Layouts()) {
    const Tick last = layout.max_tick();
    const int64_t end_us = layout.UnixUsAt(last + 1);
    const int64_t walls_us[] = {
        kMin,         -kFarthestUs, -1,          0,   layout.epoch_us(), layout.UnixUsAt(last / 2),
        end_us - kMs, end_us,       kFarthestUs, kMax};
    for (const int64_t wall_us : walls_us)
      for (const int64_t then_us : walls_us)
        for (const Tick start : {Tick{0}, last / 2, last})
          for (const ClockPolicy &policy : policies) {
            NodeState node = {};
            node.policy = policy;
            const auto check = [&] {
              const Terms terms = {MaxLead(node, layout), 0};
              const Decision d = TakeOrAsk(&node, kMax, terms);
              if (d.outcome != Outcome::kRun) return;
              ++runs;
              ASSERT_TRUE(d.run.tick >= start && d.run.tick <= last && d.lead <= terms.max_lead);
            };
            KnownTime known = KnownBySign(start == 0 ? wall_us : then_us, 1);
            const auto time_at = [&](int64_t us, int64_t steady_us) {
              known = After(known, {us, steady_us}, policy.clock.max_bridge_us);
              return ServerTime{{us, steady_us}, known};
            };
            Read(&node.clock, time_at(wall_us, 1), policy.clock);
            const AcquireAsked asked = AskForLease(&node, layout, kMaxLeaseUs, kSecret, kMaxLeaseUs);
            const Tick from = std::max(start, asked.request.now);
            TakeLease(&node, layout, asked, {{1, {}, 0, from, WindowEnd(layout, from, kMaxLeaseUs)}, layout, {}, 0},
                      false);
            if (!node.generator.open) Open(&node.generator, layout, {1, kSecret, 0, start, last + 1});
            check();
            Read(&node.clock, time_at(then_us, kDay), policy.clock);
            check();
            CatchUp(&node, start == 0);
            SetPolicy(&node, policies[start == 0]);
            Keeper keeper;
            for (int i = 0; i < 2; ++i) {
              const KeeperStep step = keeper.Next(ViewForKeeper(&node, kMaxLeaseUs, false), kFarthestUs);
              if (step.action != KeeperAction::kSleep) keeper.Done(step.action, KeeperOutcome::kDone, kFarthestUs);
            }
            RefusedForSkew(&node);
            const ExtendRequest extend = AskForWindow(node, kMinLeaseUs);
            TakeWindow(&node, extend, {EndForExtend(layout, extend), {1, 1, extend.now, then_us}}, kMaxLeaseUs, false);
            node.new_worker_wanted = true;
            AskForLease(&node, layout, kMaxLeaseUs, kSecret, kMaxLeaseUs);
            KeepPresentWorker(&node);
            check();
            EXPECT_GE(SealIds(&node.generator, layout, NowOf(node, layout), MaxLead(node, layout)), 0);
            Recover(&node, node.generator.last_tick);
            Resume(&node, time_at(wall_us, 2 * kDay), policy);
            check();
            CloseLease(&node);
            StartFrom(node, layout, NowOf(node, layout));
            NodeState next = {};
            next.policy = policy;
            GoOnAfter(&next, layout, std::max(start, Tick{0}), {{then_us, 1}, {}});
            SetPolicy(&next, policies[0]);
          }
  }
  std::cout << "# trials " << runs << " runs under " << Layouts().size() << " layouts" << std::endl;
  EXPECT_GT(runs, 10000);
}

TEST(Extremes, ARegistryBearsAnyRequest) {
  Extremes extremes(20261203);
  for (const Layout &layout : Layouts()) {
    for (int i = 0; i < 300; ++i) {
      const Tick last = layout.max_tick(), now = extremes.Near({last});
      const int64_t duration_us = extremes.One({kMinLeaseUs, kMaxLeaseUs});
      AcquireRequest acquire = {};
      acquire.now = now;
      acquire.duration_us = duration_us;
      acquire.start_before = extremes.Near({now});
      Lease lease = {};
      const Tick watermark = std::max(extremes.Near({last}), kNoWatermark);
      if (AssignWindow(layout, acquire, watermark, kNoWatermark, &lease) == Assignment::kAssigned) {
        EXPECT_GT(lease.window_start, watermark);
        EXPECT_LE(lease.window_end, last + 1);
      }
      EXPECT_LE(EndForAcquired(layout, acquire), last + 1);
      const ExtendRequest extend = {extremes.Near({}),
                                    {},
                                    now,
                                    duration_us,
                                    extremes.Near({last}),
                                    static_cast<int32_t>(extremes.Near({}) % kMaxInt),
                                    extremes.Near({last}),
                                    false};
      EXPECT_LE(EndForExtend(layout, extend), last + 1);
      Origin origin = {};
      origin.jumped.from = extremes.Near({kHighestLeaseId});
      origin.last_lease_id = extremes.Near({kHighestLeaseId});
      MayAdopt(layout, extend, origin, watermark);
      Tick released = 0;
      const Tick start = std::max(std::min(extremes.Near({last}), last), Tick{0}), end = last + 1;
      if (WatermarkOfRelease(layout, {1, {}, extremes.Near({start, end}), extremes.Near({end})}, start, end,
                             extremes.Near({end}), &released)) {
        EXPECT_GE(released, start - 1);
      }
      EXPECT_LT(WatermarkOfEvicted(start, end, extremes.Near({end}), extremes.Near({end})), end);
      const LeaseHistory history = {watermark, start, end};
      ProblemOf(layout, extremes.Near({}), extremes.Near({last}), &history);
    }
  }
}

TEST(Extremes, ASegmentBearsAnyNumber) {
  Extremes extremes(20261204);
  const auto positive = [&](int64_t least) { return std::max(extremes.Near({kMax}), least); };
  for (int i = 0; i < 20000; ++i) {
    Segment segment = {};
    segment.max_value = positive(1);
    segment.last_value = std::min(positive(0), segment.max_value);
    segment.step = positive(1);
    segment.max_step = std::max(segment.step, positive(1));
    segment.allocated = positive(0);
    segment.allocated_before = positive(0);
    segment.newest = positive(0);
    const Range range = Allocate(&segment, extremes.Near({}), extremes.One({int64_t{1}, kFarthestUs}), kSecond);
    ASSERT_LE(segment.last_value, segment.max_value);
    Ranges ranges = {};
    if (IsPlausible(ranges, range)) {
      PutRange(&ranges, range);
      UseNext(&ranges, 1);
      const int64_t now_us = extremes.One({int64_t{1}, kDay, kFarthestUs});
      EXPECT_GE(SizeToAskFor(ranges, now_us, extremes.One({int64_t{0}, int64_t{1}, kDay})), 0);
      RaiseTo(&ranges, positive(1));
      CloseRanges(&ranges);
    }
    const Range claimed = {extremes.Near({}), extremes.Near({})};
    if (IsPlausible(ranges, claimed)) EXPECT_GT(claimed.next(), 0);
    const int64_t seen = positive(0);
    if (IsNumberBelieved(segment, seen)) Admit(&segment, seen);
    SkipLost(&segment, 1 + static_cast<int32_t>(extremes.Below(kMostSkips)));
    RaiseTo(&segment, positive(1));
    ASSERT_LE(segment.last_value, segment.max_value);
  }
}

}  // namespace
}  // namespace snowflake
