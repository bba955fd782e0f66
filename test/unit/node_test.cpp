#include "core/node.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/open_run.h"
#include "random.h"

namespace snowflake {
namespace {

// Requests at ticks 90 to 100, for 100 ticks of a millisecond.
TEST(Window, AnImplausibleAnswerIsNotBelieved) {
  const Layout split = {0, 1000, 41, 5, 5, 12, false};
  const Tick last = split.max_tick();
  const auto judge = [&](int64_t lease_id, int32_t worker, Tick start, Tick end, Tick now = 100) {
    return Judge(split, 2, {lease_id, {}, worker, start, end}, now - 10, now, 100 * 1000);
  };
  EXPECT_EQ(judge(1, 64, 100, 200), AnswerFault::kNone);
  EXPECT_EQ(judge(1, 95, 90, 200), AnswerFault::kNone) << "acquired by an earlier request, and moved by this one";
  EXPECT_EQ(judge(1, 64, 150, 250), AnswerFault::kNone) << "above a watermark";
  EXPECT_EQ(judge(1, 64, last, last + 1), AnswerFault::kNone);
  EXPECT_EQ(judge(INT64_MAX / 2, 64, 100, 101), AnswerFault::kNone) << "shorter than was asked for";
  EXPECT_EQ(judge(1, 64, 0, 95, -5), AnswerFault::kNone) << "before the epoch";
  EXPECT_EQ(judge(0, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(-1, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(INT64_MIN, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(INT64_MAX / 2 + 1, 64, 100, 200), AnswerFault::kLeaseId) << "above what any registry assigns";
  EXPECT_EQ(judge(INT64_MAX, 64, 100, 200), AnswerFault::kLeaseId);
  EXPECT_EQ(judge(1, 63, 100, 200), AnswerFault::kWorker) << "of datacenter 1";
  EXPECT_EQ(judge(1, 96, 100, 200), AnswerFault::kWorker) << "of datacenter 3";
  EXPECT_EQ(judge(1, -1, 100, 200), AnswerFault::kWorker);
  EXPECT_EQ(judge(1, INT32_MAX, 100, 200), AnswerFault::kWorker);
  EXPECT_EQ(judge(1, 64, 89, 200), AnswerFault::kWindow) << "of before the first request";
  EXPECT_EQ(judge(1, 64, 0, 200), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, -1, 95, -5), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, 100, 201), AnswerFault::kWindow) << "longer than was asked for";
  EXPECT_EQ(judge(1, 64, 100, 100), AnswerFault::kWindow) << "empty";
  EXPECT_EQ(judge(1, 64, 100, 99), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, 100, INT64_MAX), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, last + 1, last + 2), AnswerFault::kWindow) << "beyond the layout";
  EXPECT_EQ(judge(1, 64, last, last + 2), AnswerFault::kWindow);
  EXPECT_EQ(judge(1, 64, INT64_MIN, INT64_MAX), AnswerFault::kWindow);
}

TEST(Window, AnImplausibleEndIsNotBelieved) {
  const Layout &layout = kDefaultLayout;
  EXPECT_TRUE(IsPlausibleEnd(layout, 1, 200, 100)) << "short of what is held, which stays";
  EXPECT_TRUE(IsPlausibleEnd(layout, 200, 200, 100));
  EXPECT_TRUE(IsPlausibleEnd(layout, 100 + 86400000, 200, 100));
  EXPECT_TRUE(IsPlausibleEnd(layout, 90000000, 90000000, 100)) << "held since the clock was ahead";
  EXPECT_TRUE(IsPlausibleEnd(layout, 86400000, 0, -5));
  EXPECT_FALSE(IsPlausibleEnd(layout, 100 + 86400001, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, INT64_MAX, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, 0, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, -1, 200, 100));
  EXPECT_FALSE(IsPlausibleEnd(layout, INT64_MIN, 200, 100));
}

TEST(Standing, ARaiseFurtherAheadThanClocksMayBeOffIsNotBelieved) {
  const Layout layout = kDefaultLayout;
  EXPECT_TRUE(IsPlausibleRaise(layout, kNoWatermark, 100, kMaxLeaseUs)) << "nothing was raised";
  EXPECT_TRUE(IsPlausibleRaise(layout, 99, 100, kMaxLeaseUs));
  EXPECT_TRUE(IsPlausibleRaise(layout, 100 + 86400000 - 1, 100, kMaxLeaseUs));
  EXPECT_TRUE(IsPlausibleRaise(layout, 86400000 - 1, -5, kMaxLeaseUs));
  EXPECT_TRUE(IsPlausibleRaise(layout, layout.max_tick(), layout.max_tick(), kMaxLeaseUs));
  EXPECT_FALSE(IsPlausibleRaise(layout, 100 + 86400000, 100, kMaxLeaseUs));
  EXPECT_FALSE(IsPlausibleRaise(layout, layout.max_tick() + 1, layout.max_tick(), kMaxLeaseUs));
  EXPECT_FALSE(IsPlausibleRaise(layout, INT64_MAX, 100, kMaxLeaseUs));
}

TEST(Standing, ARaiseIsBelievedByWhatClocksMayDiffer) {
  constexpr int64_t second_us = 1000 * kUsPerMs;
  EXPECT_EQ(MostRaisedUs(10 * second_us, 60 * second_us, false), 130 * second_us);
  EXPECT_EQ(MostRaisedUs(0, 60 * second_us, false), kMaxLeaseUs) << "clocks are not compared";
  EXPECT_EQ(MostRaisedUs(10 * second_us, 60 * second_us, true), kMaxLeaseUs) << "one clock may have stepped back";
  for (const int64_t tick_us : {kUsPerMs, second_us, int64_t{3600} * second_us}) {
    const Layout layout = {1735689600000, tick_us, 41, 0, 10, 12, false};
    const Tick most = layout.TicksIn(130 * second_us) > 0 ? layout.TicksIn(130 * second_us) : 1;
    EXPECT_TRUE(IsPlausibleRaise(layout, 100 + most - 1, 100, 130 * second_us)) << tick_us;
    EXPECT_FALSE(IsPlausibleRaise(layout, 100 + most, 100, 130 * second_us)) << tick_us;
  }
}

constexpr int64_t kNowUs = 1000 * kUsPerMs;

TEST(Standing, AnOlderTimelineOfTheSameServerIsOlder) {
  EXPECT_TRUE(IsOlder({7, 2, kNoWatermark, 0}, {7, 3, 0, 1}, kNowUs));
  EXPECT_FALSE(IsOlder({7, 3, kNoWatermark, 0}, {7, 3, 0, 1}, kNowUs));
  EXPECT_FALSE(IsOlder({7, 4, kNoWatermark, 0}, {7, 3, 0, 1}, kNowUs));
  EXPECT_FALSE(IsOlder({8, 1, kNoWatermark, 0}, {7, 3, 0, 1}, kNowUs)) << "another cluster";
  EXPECT_FALSE(IsOlder({7, 1, kNoWatermark, 0}, {0, 0, 0, 1}, kNowUs)) << "the first answer";
}

TEST(Standing, SettleOverrulesTheTimeline) {
  EXPECT_FALSE(IsOlder({7, 2, kNoWatermark, 60}, {7, 3, 50, 1}, kNowUs));
  EXPECT_TRUE(IsOlder({7, 2, kNoWatermark, 50}, {7, 3, 50, 1}, kNowUs)) << "a call from before the other timeline";
  EXPECT_TRUE(IsOlder({7, 3, kNoWatermark, 50}, {7, 2, 60, 1}, kNowUs)) << "the registry that was reported";
  RegistrySeen seen = {7, 3, 50, 1000};
  NoteStanding(&seen, {7, 2, kNoWatermark, 60}, kNowUs);
  EXPECT_EQ(seen.timeline, 2);
  EXPECT_EQ(seen.settle_called_us, 60);
  EXPECT_EQ(seen.lease_id, 1000);
}

TEST(Standing, ACallOfTheFutureCountsAsNone) {
  for (const int64_t settle_called_us : {kNowUs + kMaxLeaseUs + 1, INT64_MAX}) {
    const Standing standing = {7, 3, kNoWatermark, settle_called_us};
    RegistrySeen seen = {7, 3, 0, 1000};
    EXPECT_TRUE(IsOlder({7, 2, kNoWatermark, settle_called_us}, seen, kNowUs));
    NoteStanding(&seen, standing, kNowUs);
    EXPECT_EQ(seen.settle_called_us, 0);
    EXPECT_FALSE(IsOlder({7, 3, kNoWatermark, 0}, {7, 3, settle_called_us, 1}, kNowUs))
        << "seen while the clock was wrong";
    EXPECT_FALSE(IsOlder({7, 1, kNoWatermark, kNowUs}, {7, 3, settle_called_us, 1}, kNowUs));
  }
  EXPECT_FALSE(IsOlder({7, 2, kNoWatermark, kNowUs + kMaxLeaseUs}, {7, 3, 0, 1}, kNowUs));
}

TEST(Standing, AnotherAddressLeadsToTheSameRegistryIfServerDatabaseExtensionAndRoleAreTheSame) {
  NodeState node = {};
  const RegistryPlace place = {5, 16384, 16400};
  EXPECT_FALSE(IsSameRegistry(node, 0, {})) << "nothing was seen yet";
  node.seen.system_identifier = 7;
  node.place = place;
  EXPECT_TRUE(IsSameRegistry(node, 7, place));
  EXPECT_FALSE(IsSameRegistry(node, 8, place));
  EXPECT_FALSE(IsSameRegistry(node, 7, {6, 16384, 16400}));
  EXPECT_FALSE(IsSameRegistry(node, 7, {5, 16385, 16400}));
  EXPECT_FALSE(IsSameRegistry(node, 7, {5, 16384, 16401})) << "leases belong to a role";
  ForgetRegistry(&node);
  EXPECT_FALSE(IsSameRegistry(node, 7, place));
}

constexpr Tick kMinute = 60 * 1000;
constexpr Tick kHour = 60 * kMinute;
constexpr ClockPolicy kPolicy = {5 * kUsPerMs, {kMinute * kUsPerMs, 24 * kHour *kUsPerMs}, true};
constexpr ClockPolicy kFailing = {kPolicy.max_lead_us, kPolicy.clock, false};
constexpr Tick kNow = 100 * kHour;
constexpr int64_t kDuration = 60000 * kUsPerMs;

Secret SecretOf(uint8_t first) {
  Secret secret = {};
  secret.bytes[0] = secret.hash.bytes[0] = first;
  return secret;
}

AcquireAnswer Assigned(int64_t lease_id, int32_t worker, Tick start, Tick end) {
  return {{lease_id, {}, worker, start, end}, kDefaultLayout, {7, 2, kNoWatermark}, 100};
}

NodeState NodeWith(const ClockPolicy &policy) {
  NodeState node = {};
  node.policy = policy;
  return node;
}

// Sets the node's clock, and the wall clock as well.
void Show(NodeState *node, Tick tick) {
  node->clock = {};
  Read(node, {{kDefaultLayout.UnixUsAt(tick), 1}, {}});
}

// The wall clock, `passed` ticks of the monotonic clock later. The server knows what the node shows.
void Step(NodeState *node, Tick tick, Tick passed = 0) {
  const KnownTime known = KnownBySign(node->clock.shown_us, node->clock.read.steady_us);
  Read(node, {{kDefaultLayout.UnixUsAt(tick), node->clock.read.steady_us + passed * kUsPerMs}, known});
}

Tick Shown(const NodeState &node) { return NowOf(node, kDefaultLayout); }

AcquireAsked Ask(NodeState *node, uint8_t secret) {
  return AskForLease(node, kDefaultLayout, kDuration, SecretOf(secret), kMaxLeaseUs);
}

TakenLease Put(NodeState *node, const AcquireAsked &asked, const AcquireAnswer &answer, bool stopping = false) {
  return TakeLease(node, kDefaultLayout, asked, answer, stopping);
}

// A node that holds lease 10 of worker id 3, and has issued up to the tick `used`.
NodeState Holding(Tick used) {
  NodeState node = NodeWith(kPolicy);
  Show(&node, kNow);
  Put(&node, Ask(&node, 1), Assigned(10, 3, kNow, kNow + 10000));
  if (used >= kNow) Take(&node.generator, used, 1, {5, 0});
  return node;
}

TEST(Node, TakesALeaseAndDropsTheOneBefore) {
  NodeState node = Holding(kNow + 5);
  EXPECT_TRUE(node.generator.open);
  EXPECT_EQ(node.seen.lease_id, 10);
  node.lease_wanted = node.new_worker_wanted = node.window_wanted = true;
  Show(&node, kNow - 5000);
  const AcquireAsked asked = Ask(&node, 2);
  EXPECT_TRUE(asked.new_worker);
  EXPECT_EQ(asked.request.now, kNow - 5000);
  EXPECT_EQ(asked.request.start_before, kNow - 4994) << "order is given up for what may be used at once";
  node.new_worker_wanted = false;
  EXPECT_EQ(Ask(&node, 2).request.start_before, kNow + 5) << "only an earlier beginning is of use";
  EXPECT_EQ(asked.request.seen_lease_id, 10);
  const TakenLease taken = Put(&node, asked, Assigned(11, 4, kNow - 5000, kNow + 5000));
  EXPECT_EQ(taken.fault, AnswerFault::kNone);
  EXPECT_TRUE(taken.opened && taken.replaced);
  EXPECT_EQ(taken.old.last_tick, kNow + 5);
  EXPECT_EQ(node.generator.lease.worker, 4);
  EXPECT_EQ(node.seen.lease_id, 11);
  EXPECT_FALSE(node.lease_wanted || node.new_worker_wanted || node.window_wanted);
  ASSERT_EQ(node.retired_count, 1);
  EXPECT_EQ(node.retired[0].lease_id, 10);
  EXPECT_EQ(node.retired[0].last_tick, kNow + 5);
}

// A registry that lost commits hears of lease 10 before it assigns anything. If its lease ids do not
// rise above that, the node must not ask for ever.
TEST(Node, TakesALeaseWithALowerId) {
  NodeState node = Holding(kNow + 5);
  LoseLease(&node, 10, {7, 2, kNoWatermark});
  const AcquireAsked asked = Ask(&node, 2);
  EXPECT_EQ(asked.request.seen_lease_id, 10);
  EXPECT_TRUE(Put(&node, asked, Assigned(4, 5, kNow + 6, kNow + 5000)).opened);
  EXPECT_EQ(node.retired_count, 0);
  LoseLease(&node, 4, {7, 2, kNoWatermark});
  EXPECT_EQ(Ask(&node, 3).request.seen_lease_id, 4) << "of which the registry knows";
}

TEST(Node, AsksAgainWithTheSameSecretUntilThereIsAnAnswer) {
  NodeState node = NodeWith(kPolicy);
  Show(&node, kNow);
  const AcquireAsked first = Ask(&node, 1);
  Show(&node, kNow - 50);
  const AcquireAsked second = Ask(&node, 2);
  Show(&node, kNow + 50);
  const AcquireAsked third = Ask(&node, 3);
  EXPECT_EQ(first.request.secret_hash, SecretOf(1).hash);
  EXPECT_EQ(second.request.secret_hash, SecretOf(1).hash);
  EXPECT_EQ(third.request.secret_hash, SecretOf(1).hash);
  EXPECT_EQ(third.since, kNow - 50) << "what the second has acquired is believed";
  EXPECT_TRUE(Put(&node, third, Assigned(1, 0, kNow - 50, kNow + 50)).opened);
  EXPECT_EQ(Ask(&node, 4).request.secret_hash, SecretOf(4).hash);
}

TEST(Node, ReleasesWhatItDoesNotPutToUse) {
  const auto ask = [](NodeState *node) { return Ask(node, 9); };
  NodeState node = Holding(kNow + 5);
  TakenLease taken = Put(&node, ask(&node), Assigned(11, 1024, kNow, kNow + 5000), false);
  EXPECT_EQ(taken.fault, AnswerFault::kWorker);
  ASSERT_EQ(node.retired_count, 1);
  EXPECT_EQ(node.retired[0].last_tick, kNow - 1) << "nothing was issued";
  EXPECT_EQ(node.generator.lease.worker, 3) << "the lease in hand goes on";

  node = Holding(kNow + 5);
  taken = Put(&node, ask(&node), Assigned(11, 4, kNow + 5, kNow + 5000), false);
  EXPECT_EQ(taken.fault, AnswerFault::kNone);
  EXPECT_FALSE(taken.opened) << "it begins no earlier";
  EXPECT_EQ(node.retired_count, 1);

  node = Holding(kNow + 5);
  taken = Put(&node, ask(&node), Assigned(11, 4, kNow, kNow + 5000), true);
  EXPECT_FALSE(taken.opened) << "it was told to stop";
  EXPECT_EQ(node.retired_count, 1);

  node = Holding(kNow + 5);
  AcquireAnswer answer = Assigned(11, 4, kNow, kNow + 5000);
  answer.layout.epoch_ms += 1;
  EXPECT_EQ(Put(&node, ask(&node), answer, false).fault, AnswerFault::kLayout);
  EXPECT_EQ(node.retired_count, 1);

  node = Holding(kNow + 5);
  answer = Assigned(11, 4, kNow, kNow + 5000);
  answer.standing.raised_tick = INT64_MAX;
  EXPECT_EQ(Put(&node, ask(&node), answer, false).fault, AnswerFault::kRaised);
  EXPECT_TRUE(node.generator.open && node.generator.lease.lease_id == 10);
}

TEST(Node, LeavesAnOldPrimarysAnswerAlone) {
  NodeState node = Holding(kNow + 5);
  const AcquireAsked asked = Ask(&node, 9);
  AcquireAnswer answer = Assigned(11, 4, kNow, kNow + 5000);
  answer.standing.timeline = 1;
  EXPECT_EQ(Put(&node, asked, answer, false).fault, AnswerFault::kTimeline);
  EXPECT_EQ(node.retired_count, 0);
  EXPECT_EQ(node.next_secret, SecretOf(9)) << "the primary may know of this request";
  const ExtendRequest extend = AskForWindow(node, kDuration);
  const ExtendAnswer older = {kNow + 60000, {7, 1, kNoWatermark}};
  EXPECT_EQ(TakeWindow(&node, extend, older, kMaxLeaseUs, false), AnswerFault::kTimeline);
  EXPECT_EQ(LoseLease(&node, 10, {7, 1, kNoWatermark}), AnswerFault::kTimeline);
  EXPECT_EQ(node.generator.lease.window_end, kNow + 10000);
  EXPECT_TRUE(node.generator.open);
}

// The call that waits for the window would have it asked for again at once.
TEST(Node, TakesNoWindowThatIsOverForAnAnswer) {
  NodeState node = Holding(kNow + 5);
  node.window_wanted = true;
  Show(&node, kNow + 20000);
  const ExtendRequest asked = AskForWindow(node, kDuration);
  const Standing standing = {7, 2, kNoWatermark};
  for (const Tick end : {kNow + 10000, kNow + 20000}) {
    EXPECT_EQ(TakeWindow(&node, asked, {end, standing}, kMaxLeaseUs, false), AnswerFault::kEnded) << end - kNow;
    EXPECT_EQ(node.generator.lease.window_end, end);
    EXPECT_TRUE(node.window_wanted);
  }
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 20001, standing}, kMaxLeaseUs, false), AnswerFault::kNone);
  EXPECT_FALSE(node.window_wanted);
}

TEST(Node, MovesTheWindowOfItsOwnLeaseOnly) {
  NodeState node = Holding(kNow + 5);
  node.window_wanted = true;
  Show(&node, kNow + 100);
  const ExtendRequest asked = AskForWindow(node, kDuration);
  EXPECT_EQ(asked.lease_id, 10);
  EXPECT_EQ(asked.held_until, kNow + 10000);
  const Standing standing = {7, 2, kNoWatermark};
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 60000, standing}, kMaxLeaseUs, true), AnswerFault::kNone);
  EXPECT_EQ(node.generator.lease.window_end, kNow + 10000) << "told to stop";
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 60000, standing}, kMaxLeaseUs, false), AnswerFault::kNone);
  EXPECT_EQ(node.generator.lease.window_end, kNow + 60000);
  EXPECT_FALSE(node.window_wanted);
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 20000, standing}, kMaxLeaseUs, false), AnswerFault::kNone);
  EXPECT_EQ(node.generator.lease.window_end, kNow + 60000) << "an answer that was overtaken";
  ExtendRequest other = asked;
  other.lease_id = 9;
  TakeWindow(&node, other, {kNow + 90000, standing}, kMaxLeaseUs, false);
  EXPECT_EQ(node.generator.lease.window_end, kNow + 60000);
  EXPECT_EQ(TakeWindow(&node, asked, {INT64_MAX, standing}, kMaxLeaseUs, false), AnswerFault::kWindow);
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 60000, {7, 2, INT64_MAX}}, kMaxLeaseUs, false), AnswerFault::kRaised);
  EXPECT_EQ(LoseLease(&node, 9, standing), AnswerFault::kNone);
  EXPECT_TRUE(node.generator.open) << "another lease's";
  EXPECT_EQ(LoseLease(&node, 10, standing), AnswerFault::kNone);
  EXPECT_FALSE(node.generator.open);
}

TEST(Node, BeginsAboveItsOwnIdsUnlessTheClockSteppedBack) {
  NodeState node = Holding(kNow + 5);
  CloseLease(&node);
  ASSERT_EQ(node.retired_count, 1);
  EXPECT_EQ(StartFrom(node, kDefaultLayout, kNow), kNow + 6) << "just as far behind as ids may lead";
  EXPECT_EQ(StartFrom(node, kDefaultLayout, kNow + 6), kNow + 6);
  EXPECT_EQ(StartFrom(node, kDefaultLayout, kNow - 1), kNow - 1);
  node.policy = kFailing;
  EXPECT_EQ(StartFrom(node, kDefaultLayout, kNow - 5000), kNow + 6);
}

// G9: ids stay in order also if another lease begins below issued ids: after a response that came
// when the clock was right again.
TEST(Node, GoesOnAboveItsIdsUnderAnyLease) {
  NodeState node = Holding(kNow + 5);
  Show(&node, kNow - 40000);
  node.new_worker_wanted = true;
  const AcquireAsked asked = Ask(&node, 2);
  Show(&node, kNow + 3);
  ASSERT_TRUE(Put(&node, asked, Assigned(11, 4, kNow - 40000, kNow + 20000)).opened);
  const Decision next = TakeOrAsk(&node, 1, {5, 0});
  EXPECT_EQ(next.outcome, Outcome::kRun);
  EXPECT_EQ(next.run.tick, kNow + 6);
}

TEST(Node, GoesOnUnderALeaseThatBeginsAheadOfTheClock) {
  for (const Tick ahead : {Tick{6}, Tick{1000}, kMinute, kHour}) {
    for (const bool fails : {false, true}) {
      NodeState node = NodeWith(fails ? kFailing : kPolicy);
      Show(&node, kNow);
      ASSERT_TRUE(Put(&node, Ask(&node, 1), Assigned(10, 3, kNow + ahead, kNow + ahead + 10000)).opened);
      const bool goes_on = !fails || ahead <= kMinute;
      EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).outcome, goes_on ? Outcome::kRun : Outcome::kClockBehind) << ahead;
      EXPECT_EQ(Shown(node), goes_on ? kNow + ahead - 5 : kNow) << ahead << ", less what ids may lead by";
      EXPECT_EQ(ViewForKeeper(&node, kDuration, false).future, !goes_on) << ahead;
    }
  }
}

TEST(Node, GoesOnWhereThereIsNoBetterWorker) {
  const auto behind = [] {
    NodeState node = Holding(kNow + 5);
    Step(&node, kNow - kHour);
    EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).outcome, Outcome::kClockBehind);
    node.new_worker_wanted = true;
    EXPECT_TRUE(ViewForKeeper(&node, kDuration, false).lease_wanted);
    return node;
  };
  NodeState node = behind();
  Ask(&node, 2);
  KeepPresentWorker(&node);
  EXPECT_EQ(Shown(node), kNow);
  EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).run.tick, kNow + 5);
  EXPECT_FALSE(ViewForKeeper(&node, kDuration, false).lease_wanted);
  EXPECT_EQ(node.next_secret, Secret{});
  Step(&node, kNow - kHour + 100, 100);
  EXPECT_EQ(Shown(node), kNow + 50) << "at half speed";

  node = behind();
  EXPECT_FALSE(Put(&node, Ask(&node, 2), Assigned(11, 4, kNow + 5, kNow + 5000)).opened) << "it begins no earlier";
  EXPECT_EQ(Shown(node), kNow);

  node = behind();
  node.new_worker_wanted = false;
  KeepPresentWorker(&node);
  EXPECT_EQ(Shown(node), kNow - kHour) << "nobody wanted one";
  node.new_worker_wanted = true;
  CloseLease(&node);
  KeepPresentWorker(&node);
  EXPECT_EQ(Shown(node), kNow - kHour) << "no lease to go on under";
  NodeState never = {};
  never.new_worker_wanted = true;
  KeepPresentWorker(&never);
}

// The operator takes back a horizon of a wrong time.
TEST(Node, GoesBackIfItIsTold) {
  NodeState node = Holding(kNow + 5);
  GoBack(&node);
  EXPECT_FALSE(node.new_worker_wanted) << "nothing was wrong";
  Step(&node, kNow - kHour);
  node.new_worker_wanted = true;
  Ask(&node, 2);
  KeepPresentWorker(&node);
  ASSERT_EQ(Shown(node), kNow) << "no worker id was free";
  EXPECT_EQ(LatestIdUs(node), node.clock.read.wall_us + node.policy.clock.max_bridge_us);
  EXPECT_EQ(BelievedUs(node), LatestIdUs(node));
  GoBack(&node);
  EXPECT_EQ(Shown(node), kNow - kHour);
  EXPECT_EQ(LatestIdUs(node), node.clock.shown_us);
  EXPECT_TRUE(ViewForKeeper(&node, kDuration, false).lease_wanted) << "another one may be free by now";
  ASSERT_TRUE(Put(&node, Ask(&node, 3), Assigned(11, 4, kNow - kHour, kNow - kHour + 5000)).opened);
  EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).run.tick, kNow - kHour);
}

// An outbox is not closed by an id of the wall clock's time because the node does not follow it yet.
TEST(Node, HasNoIdsOfTheFutureWhileItHoldsALeap) {
  NodeState node = {};
  node.policy = kPolicy;
  const ClockReading before = {kFirstTimeUs, 1}, leapt = {kFirstTimeUs + 2 * kPolicy.clock.max_leap_us, 2};
  Read(&node, {before, KnownBy(before)});
  Read(&node, {leapt, KnownBy(before)});
  ASSERT_EQ(node.clock.mode, ClockMode::kHeld);
  EXPECT_EQ(LatestIdUs(node), leapt.wall_us);
  EXPECT_EQ(BelievedUs(node), node.clock.shown_us);
}

// After a start, before the first id, there is no layout yet.
TEST(Node, GoesBackWithoutALease) {
  NodeState node = {};
  GoBack(&node);
  EXPECT_FALSE(node.new_worker_wanted);
}

// G9: order is given up for another worker id only if ids then follow the clock.
TEST(Node, AsksForNoWorkerThatCannotBeUsedAtOnce) {
  for (const Tick ahead : {Tick{5}, Tick{6}}) {
    NodeState node = Holding(kNow + 5);
    Step(&node, kNow - kHour);
    node.new_worker_wanted = true;
    const AcquireAsked asked = Ask(&node, 2);
    EXPECT_EQ(asked.request.start_before, kNow - kHour + 6);
    const Tick start = kNow - kHour + ahead;
    EXPECT_EQ(Put(&node, asked, Assigned(11, 4, start, start + 5000)).opened, ahead == 5);
    EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).run.tick, ahead == 5 ? start : kNow + 5);
  }
  NodeState node = Holding(0);
  Step(&node, kNow - kHour);
  EXPECT_EQ(Ask(&node, 2).request.start_before, kNow)
      << "under a lease that is still to begin, any earlier one is of use";
}

// No clock that is right shows such a time.
TEST(Node, RunsOnWhereTheClockIsBeforeTheEpoch) {
  NodeState node = Holding(kNow + 5);
  Step(&node, -5000, 10);
  EXPECT_EQ(Shown(node), kNow + 10);
  EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).run.tick, kNow + 10);
  Step(&node, -5000, 1000);
  EXPECT_EQ(Shown(node), kNow + 1010);
  EXPECT_EQ(AskingUs(node), kDefaultLayout.UnixUsAt(kNow + 1010));
  Step(&node, kNow + 2010, 1000);
  EXPECT_EQ(Shown(node), kNow + 2010);
  EXPECT_EQ(node.clock.events, 0) << "nothing was";
}

TEST(Node, BelievesALeapFromBeforeTheEpoch) {
  for (const Tick from : {Tick{-1}, Tick{0}}) {
    NodeState node = NodeWith(kPolicy);
    Show(&node, from);
    ASSERT_TRUE(Put(&node, Ask(&node, 1), Assigned(10, 3, 0, 10000)).opened);
    Step(&node, kNow);
    EXPECT_EQ(Shown(node), from < 0 ? kNow : from);
    EXPECT_EQ(node.clock.event, from < 0 ? ClockEvent::kLeapt : ClockEvent::kHeld);
  }
}

// A window that is moved in time must not hide the step from a call that needs another worker id.
TEST(Node, DoesNotGoOnBecauseItsWindowWasMoved) {
  NodeState node = Holding(kNow + 5);
  Step(&node, kNow - kHour);
  const ExtendRequest asked = AskForWindow(node, kDuration);
  EXPECT_EQ(TakeWindow(&node, asked, {kNow + 10000, {7, 2, kNoWatermark}}, kMaxLeaseUs, false), AnswerFault::kNone);
  EXPECT_EQ(Shown(node), kNow - kHour);
  EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).outcome, Outcome::kClockBehind);
}

TEST(Node, GoesOnAboveATickThatWasRaised) {
  NodeState node = Holding(kNow + 5);
  AcquireAnswer answer = Assigned(11, 4, kNow, kNow + 10000);
  answer.standing.raised_tick = kNow + 3000;
  node.new_worker_wanted = true;
  ASSERT_TRUE(Put(&node, Ask(&node, 2), answer).opened);
  EXPECT_EQ(Shown(node), kNow + 3001 - 5);
  EXPECT_EQ(TakeOrAsk(&node, 1, {5, 0}).run.tick, kNow + 3001);
}

// The registry shows which clock is right.
TEST(Node, AsksWithTheWallClockWhereItsOwnIsRefused) {
  NodeState node = Holding(kNow + 5);
  RefusedForSkew(&node);
  EXPECT_EQ(AskingUs(node), node.clock.shown_us) << "there is no other";

  Step(&node, kNow + 100 * 24 * kHour);
  EXPECT_EQ(Shown(node), kNow) << "a leap that is not believed";
  NodeState held_to = node;
  RefusedForSkew(&held_to);
  const ExtendRequest held = AskForWindow(held_to, kDuration);
  EXPECT_EQ(held.now, kNow);
  EXPECT_FALSE(held.leapt);
  const ExtendRequest asked = AskForWindow(node, kDuration);
  EXPECT_EQ(asked.now, kNow + 100 * 24 * kHour);
  EXPECT_EQ(asked.duration_us, kDuration);
  EXPECT_TRUE(asked.leapt) << "a registry that leapt, too, is not to accept it";
  NodeState refused = node;
  RefusedForSkew(&refused);
  EXPECT_EQ(AskForWindow(refused, kDuration).now, kNow) << "neither: by turns";
  const ExtendAnswer answer = {asked.now + kMinute, {7, 2, kNoWatermark}};
  NodeState late = node;
  TakeWindow(&late, held, {kNow + kMinute, {7, 2, kNoWatermark}}, kMaxLeaseUs, false);
  EXPECT_EQ(Shown(late), kNow) << "of an earlier request, which says nothing about the leap";
  NodeState again = node;
  Step(&again, kNow + 300 * 24 * kHour);
  TakeWindow(&again, asked, answer, kMaxLeaseUs, false);
  EXPECT_EQ(Shown(again), kNow) << "that is another leap";
  EXPECT_EQ(TakeWindow(&node, asked, answer, kMaxLeaseUs, false), AnswerFault::kNone);
  EXPECT_EQ(Shown(node), kNow + 100 * 24 * kHour) << "it was no mistake";
  EXPECT_FALSE(node.ask_by_wall);

  node = Holding(kNow + 5);
  Step(&node, kNow - 30000);
  EXPECT_EQ(Shown(node), kNow);
  RefusedForSkew(&node);
  const ExtendRequest bridged = AskForWindow(node, kDuration);
  EXPECT_EQ(bridged.now, kNow - 30000);
  EXPECT_EQ(bridged.duration_us, kDuration + 30000 * kUsPerMs) << "the window is to last as long";
  TakeWindow(&node, bridged, {kNow + 30000, {7, 2, kNoWatermark}}, kMaxLeaseUs, false);
  EXPECT_EQ(Shown(node), kNow) << "order stays";
  EXPECT_TRUE(node.ask_by_wall);
  Step(&node, kNow + 30000, 60000);
  TakeWindow(&node, AskForWindow(node, kDuration), {kNow + 90000, {7, 2, kNoWatermark}}, kMaxLeaseUs, false);
  EXPECT_FALSE(node.ask_by_wall) << "the wall clock has caught up";
}

// A copy of this node may have sent a request with the same secret.
TEST(Node, TakesNoLeaseThatItAskedForBeforeItWasTold) {
  NodeState node = NodeWith(kPolicy);
  Show(&node, kNow);
  const AcquireAsked asked = Ask(&node, 1);
  ForgetLease(&node);
  EXPECT_FALSE(Put(&node, asked, Assigned(10, 3, kNow, kNow + 10000)).opened);
  EXPECT_FALSE(node.generator.open);
  EXPECT_EQ(node.retired_count, 0) << "the other may use it";
  EXPECT_EQ(node.lease_wanted, false) << "no id was requested";
  EXPECT_TRUE(Put(&node, Ask(&node, 2), Assigned(11, 4, kNow, kNow + 10000)).opened);
}

TEST(Node, BelievesALeaseOfTheLatestClockThatItWasAskedWith) {
  NodeState node = NodeWith(kPolicy);
  Show(&node, kNow);
  Ask(&node, 1);
  Show(&node, kNow - 2 * kMinute);
  const AcquireAsked asked = Ask(&node, 2);
  EXPECT_EQ(asked.until, kNow);
  EXPECT_TRUE(Put(&node, asked, Assigned(10, 3, kNow - kMinute, kNow + kMinute)).opened);
}

TEST(Node, KeepsTheNewestRetiredLeases) {
  NodeState node = NodeWith(kPolicy);
  for (int64_t lease_id = 1; lease_id <= kMaxRetired + 2; ++lease_id) Retire(&node, {lease_id, {}, 0, 0, 0, false});
  ASSERT_EQ(node.retired_count, kMaxRetired);
  EXPECT_EQ(node.retired[0].lease_id, 3);
  EXPECT_EQ(node.retired[kMaxRetired - 1].lease_id, kMaxRetired + 2);
  DropRetired(&node, 4);
  DropRetired(&node, 99);
  ASSERT_EQ(node.retired_count, kMaxRetired - 1);
  EXPECT_EQ(node.retired[1].lease_id, 5);
  ForgetRegistry(&node);
  EXPECT_EQ(node.retired_count, 0);
}

TEST(Node, DropsAWishThatNoLongerHelps) {
  NodeState node = Holding(kNow + 5);
  node.new_worker_wanted = true;
  Show(&node, kNow - 5000);
  Ask(&node, 2);
  EXPECT_TRUE(ViewForKeeper(&node, kDuration, false).lease_wanted);
  EXPECT_EQ(node.next_secret, SecretOf(2));
  Show(&node, kNow + 6);
  EXPECT_FALSE(ViewForKeeper(&node, kDuration, false).lease_wanted);
  EXPECT_EQ(node.next_secret, Secret{}) << "what it acquired begins too early for a clock that is right again";
}

TEST(Node, GoesOnAboveTheHorizonOfALifeBefore) {
  const Tick last = kNow;
  const int64_t horizon = kDefaultLayout.Pack({last, 7, 3});
  const auto recovered = [&](Tick clock) {
    NodeState node = NodeWith(kPolicy);
    GoOnAfter(&node, kDefaultLayout, last, {{kDefaultLayout.UnixUsAt(clock), 1}, {}});
    return node;
  };
  const auto first_id = [](NodeState node) {
    const Tick asked = Ask(&node, 1).request.now;
    Put(&node, Ask(&node, 1), Assigned(11, 0, asked, asked + 10000));
    const auto run = Take(&node.generator, Shown(node), 1, {5, 0}).run;
    return kDefaultLayout.Pack({run.tick, run.worker, run.sequence});
  };
  EXPECT_EQ(first_id(recovered(kNow + 50)), kDefaultLayout.Pack({kNow + 50, 0, 0})) << "the clock is beyond it";
  EXPECT_GT(first_id(recovered(kNow)), horizon) << "not in its tick, which other worker ids share";
  EXPECT_GT(first_id(recovered(kNow - 5000)), horizon) << "the clock stepped back";
  EXPECT_EQ(Shown(recovered(kNow - 2 * kMinute)), kNow - 2 * kMinute) << "by more than may be bridged";
  NodeState unbridged = NodeWith({0, {0, 0}, false});
  GoOnAfter(&unbridged, kDefaultLayout, last, {{kDefaultLayout.UnixUsAt(kNow - 9000), 1}, {}});
  EXPECT_GT(first_id(unbridged), horizon) << "ids were ahead, and not the clock behind";

  NodeState node = recovered(kNow);
  Step(&node, kNow - 5000, 100);
  EXPECT_GT(first_id(node), horizon) << "it stepped back since";
  node = recovered(kNow - 5000);
  node.ask_by_wall = true;
  EXPECT_GT(first_id(node), horizon) << "the registry wants to be asked by the wall clock";
}

TEST(Node, LeadsDoNotAddUpOverRestarts) {
  const ClockPolicy policy = {kMostLeadUs, kPolicy.clock, true};
  const ServerTime now = {{kDefaultLayout.UnixUsAt(kNow), 1}, {}};
  Tick last = kNow + 10000;
  for (int restarts = 1; restarts <= 100; ++restarts) {
    NodeState node = NodeWith(policy);
    ASSERT_TRUE(GoOnAfter(&node, kDefaultLayout, last, now));
    EXPECT_LE(Shown(node), kNow + restarts) << "ids were ahead, and not the clock behind";
    last = Shown(node) + MaxLead(node, kDefaultLayout);
  }
}

// Ids are as far ahead as they may be when each lease is closed, so that the next one begins above
// them, and ahead of the clock by more.
TEST(Node, LeadsDoNotAddUpOverLeases) {
  NodeState node = NodeWith({kMostLeadUs, kPolicy.clock, true});
  Show(&node, kNow);
  for (int leases = 1; leases <= 100; ++leases) {
    const AcquireAsked asked = Ask(&node, leases);
    const Tick start = asked.request.now;
    ASSERT_TRUE(Put(&node, asked, Assigned(10 + leases, 3, start, start + 60000)).opened);
    EXPECT_LE(Shown(node), kNow + leases) << "ids were ahead, and not the clock behind";
    EXPECT_FALSE(IsBehind(node.generator, Shown(node), MaxLead(node, kDefaultLayout)));
    node.generator.last_tick = Shown(node) + MaxLead(node, kDefaultLayout);
    node.generator.next_sequence = kDefaultLayout.sequence_count();
    CloseLease(&node);
    node.retired_count = 0;
  }
}

TEST(Node, BelievesNoLastTickOfAWrongClock) {
  const ServerTime now = {{kDefaultLayout.UnixUsAt(kNow), 1}, {}};
  for (const Tick far : {kMinute + 10000, kMinute + 10001, kDefaultLayout.max_tick() - kNow}) {
    NodeState node = NodeWith(kPolicy);
    EXPECT_EQ(GoOnAfter(&node, kDefaultLayout, kNow + far, now), far == kMinute + 10000);
    EXPECT_EQ(Shown(node) > kNow, far == kMinute + 10000);
  }
  NodeState node = NodeWith(kPolicy);
  ASSERT_TRUE(GoOnAfter(&node, kDefaultLayout, kNow + 3000, now));
  ASSERT_TRUE(GoOnAfter(&node, kDefaultLayout, kNow - 3000, now));
  EXPECT_EQ(node.generator.last_tick, kNow + 3000) << "the later one of two counts";
}

// The server dies a second after its keeper has looked, ids are as far ahead as they may, and the
// clock is set back before the next start, also if max_lead was lowered then.
TEST(Node, ACrashTakesNoClockBackThatHasRunOn) {
  for (const bool lowered : {false, true}) {
    NodeState node = NodeWith({kMostLeadUs, kPolicy.clock, true});
    Show(&node, kNow);
    Put(&node, Ask(&node, 1), Assigned(10, 3, kNow, kNow + 60000));
    node.generator.last_tick = kNow + 10000;
    if (lowered) SetPolicy(&node, kPolicy);
    const Tick last = kNow + 10000 + (lowered ? 500 : 1000);
    Recover(&node, last);
    const ClockReading later = {kDefaultLayout.UnixUsAt(kNow + 1100 - 60000),
                                node.clock.read.steady_us + 1100 * kUsPerMs};
    Resume(&node, {later, {}}, node.policy);
    CatchUp(&node, false);
    EXPECT_FALSE(IsBehind(node.generator, Shown(node), MaxLead(node, kDefaultLayout))) << lowered;
    EXPECT_LE(Shown(node), kNow + 1100) << "no further ahead than it was";
  }
}

// The state is a moment older than the last id, and the clock is ahead by more than may be bridged, as
// after a horizon or a change of the limit.
TEST(Node, ACrashTakesNoClockBackThatIsAhead) {
  const Tick last = kNow + 1500;
  const auto crash = [&](NodeState node, int64_t max_bridge_us) {
    Recover(&node, last);
    const ClockPolicy policy = {kPolicy.max_lead_us, {max_bridge_us, kPolicy.clock.max_leap_us}, true};
    const int64_t wall_us = kDefaultLayout.UnixUsAt(kNow - 47000);
    Resume(&node, {{wall_us, node.clock.read.steady_us + 3000 * kUsPerMs}, {}}, policy);
    CatchUp(&node, false);
    return node;
  };
  NodeState node = Holding(kNow + 5);
  Step(&node, kNow - 50000, 10);
  for (const int64_t max_bridge_us : {int64_t{0}, 10000 * kUsPerMs, kPolicy.clock.max_bridge_us}) {
    NodeState after = crash(node, max_bridge_us);
    EXPECT_FALSE(IsBehind(after.generator, Shown(after), MaxLead(after, kDefaultLayout)));
    EXPECT_LE(Shown(after), last) << "no further ahead than ids were";
    Step(&after, kNow - 46990, 10);
    const Decision decision = TakeOrAsk(&after, 1, {MaxLead(after, kDefaultLayout), 0});
    ASSERT_EQ(decision.outcome, Outcome::kRun);
    EXPECT_GT(decision.run.tick, last);
  }

  // Ids that the clock had left behind before do not move it.
  node.generator.last_tick = last;
  EXPECT_LT(Shown(crash(node, 0)), kNow + 100);
}

// With that clock ids are in order, so a window may begin at the wall clock's time, whatever is to be
// done about steps back.
TEST(Node, AsksByTheWallClockForIdsThatAreInOrderAheadOfIt) {
  for (const ClockPolicy &policy : {kPolicy, kFailing}) {
    NodeState node = Holding(kNow + 5);
    node.policy = policy;
    Step(&node, kNow - 40000, 10);
    CloseLease(&node);
    EXPECT_EQ(Ask(&node, 2).request.now, kNow + 6);
    node.ask_by_wall = true;
    const AcquireAsked asked = Ask(&node, 2);
    EXPECT_EQ(asked.request.now, kNow - 40000);
    ASSERT_TRUE(Put(&node, asked, Assigned(11, 4, kNow - 40000, kNow + 20000)).opened);
    const Decision decision = TakeOrAsk(&node, 1, {MaxLead(node, kDefaultLayout), 0});
    ASSERT_EQ(decision.outcome, Outcome::kRun);
    EXPECT_GT(decision.run.tick, kNow + 4);
    // If ids are far ahead of that clock, too, they would fall.
    node.policy = kFailing;
    node.generator.last_tick = kNow + 1000;
    CloseLease(&node);
    node.ask_by_wall = true;
    EXPECT_EQ(Ask(&node, 3).request.now, kNow + 1001);
  }
}

// --- Changes of settings ---

constexpr Layout kHundredths = {0, 10 * kUsPerMs, 39, 0, 16, 8, true};
constexpr Layout kSeconds = {1700000000000, 1000 * kUsPerMs, 28, 0, 22, 13, false};

constexpr ClockPolicy WithLead(int64_t max_lead_ms) {
  return {max_lead_ms * kUsPerMs, kPolicy.clock, kPolicy.new_worker};
}

// A node under a long lease, whose clock runs.
struct Running {
  Layout layout;
  NodeState node;
  int64_t wall_us = int64_t{1800000000} * 1000 * kUsPerMs + 123;
  int64_t steady_us = 1;

  Running(const Layout &layout, const ClockPolicy &policy) : layout(layout), node(NodeWith(policy)) {
    Pass(0);
    Open(&node.generator, layout, {10, SecretOf(1), 3, layout.TickAt(wall_us), layout.max_tick()});
  }
  void Pass(int64_t us) {
    wall_us += us;
    steady_us += us;
    Read(&node.clock, {{wall_us, steady_us}, {}}, node.policy.clock);
  }
  Decision TakeAll() { return TakeOrAsk(&node, layout.sequence_count(), {MaxLead(node, layout), 0}); }
  // All that may be used by now. Returns how far the last tick is ahead of the clock.
  Tick UseUp() {
    while (TakeAll().outcome == Outcome::kRun) {
    }
    EXPECT_EQ(TakeAll().outcome, Outcome::kTickUsedUp);
    return node.generator.last_tick - NowOf(node, layout);
  }
};

// G2, G9: at full speed, and with nothing to issue.
TEST(Limits, ALoweredLeadGoesAtHalfOfTheClocksSpeed) {
  for (const Layout &layout : {kDefaultLayout, kHundredths, kSeconds}) {
    for (const int64_t lowered_ms : {0, 5, 2000}) {
      Running running(layout, WithLead(10000));
      const Tick lead = running.UseUp(), least = MaxLead(layout, lowered_ms * kUsPerMs);
      ASSERT_EQ(lead, 10000 * kUsPerMs / layout.tick_us);
      const int64_t shown_us = running.node.clock.shown_us;
      SetPolicy(&running.node, WithLead(lowered_ms));
      EXPECT_EQ(running.node.clock.shown_us, shown_us) << "the clock is right";
      EXPECT_EQ(running.UseUp(), lead) << "not one tick more";
      Running idle = running;
      for (Tick passed = 1; passed <= 2 * lead; ++passed) {
        running.Pass(layout.tick_us);
        ASSERT_EQ(running.UseUp(), std::max(lead - passed / 2, least));
        idle.Pass(layout.tick_us);
        ASSERT_NE(Running(idle).TakeAll().outcome, Outcome::kClockBehind);
      }
      EXPECT_EQ(running.UseUp(), least);
      EXPECT_EQ(running.node.clock.events, 0);
      EXPECT_FALSE(ViewForKeeper(&running.node, kDuration, false).lease_wanted);
    }
  }
}

// Limits that change all the time add up to no more than the largest.
TEST(Limits, LeadsOfSettingsDoNotAddUp) {
  for (const Layout &layout : {kDefaultLayout, kHundredths, kSeconds}) {
    Running running(layout, WithLead(10000));
    for (int i = 0; i < 200; ++i) {
      ASSERT_LE(running.UseUp(), 10000 * kUsPerMs / layout.tick_us);
      SetPolicy(&running.node, WithLead(i % 3 == 0 ? 10000 : i % 3 == 1 ? 0 : 4000));
      running.Pass(i % 7 * layout.tick_us / 3);
    }
  }
}

TEST(Limits, EndALeadThatNobodyUsed) {
  Running running(kDefaultLayout, WithLead(10000));
  running.TakeAll();
  SetPolicy(&running.node, WithLead(5));
  EXPECT_EQ(running.UseUp(), 5);
}

// Nor does the clock step, whatever it bridges.
TEST(Limits, ALoweredMaxBridgeIsNoStep) {
  Running running(kDefaultLayout, kPolicy);
  running.Pass(1000);
  running.wall_us -= 30000 * kUsPerMs;
  running.Pass(0);
  const int64_t shown_us = running.node.clock.shown_us;
  running.UseUp();
  SetPolicy(&running.node, {0, {0, 0}, false});
  running.Pass(1000 * kUsPerMs);
  EXPECT_EQ(running.node.clock.shown_us, shown_us + 500 * kUsPerMs) << "half speed";
  EXPECT_EQ(running.TakeAll().outcome, Outcome::kRun);
  EXPECT_EQ(running.node.clock.events, 1);
}

TEST(Limits, HideNoStepOfTheClock) {
  for (const int64_t lowered_ms : {0, 5, 10000}) {
    Running running(kDefaultLayout, WithLead(10000));
    running.UseUp();
    Running before = running;
    SetPolicy(&running.node, WithLead(lowered_ms));
    for (Running *stepped : {&before, &running}) {
      stepped->wall_us -= kHour * kUsPerMs;
      stepped->Pass(0);
      SetPolicy(&stepped->node, WithLead(lowered_ms));
      EXPECT_EQ(stepped->TakeAll().outcome, Outcome::kClockBehind);
    }
    // Under another worker id nothing is left of the lead.
    running.node.new_worker_wanted = true;
    const AcquireAsked asked = Ask(&running.node, 2);
    ASSERT_TRUE(Put(&running.node, asked, Assigned(11, 4, asked.request.now, asked.request.now + kMinute)).opened);
    EXPECT_EQ(running.UseUp(), std::max(lowered_ms, int64_t{1}));
  }
}

// G2: a lease that is acquired after the lead was lowered begins above the ids of before.
TEST(Limits, LeaveIdsInOrderUnderTheNextLease) {
  Running running(kDefaultLayout, WithLead(10000));
  running.UseUp();
  const Tick last = running.node.generator.last_tick;
  CloseLease(&running.node);
  SetPolicy(&running.node, WithLead(0));
  running.Pass(100 * kUsPerMs);
  const AcquireAsked asked = Ask(&running.node, 2);
  EXPECT_EQ(asked.request.now, last + 1);
  ASSERT_TRUE(Put(&running.node, asked, Assigned(11, 4, last + 1, last + 60000)).opened);
  EXPECT_EQ(running.TakeAll().run.tick, last + 1);
  NodeState never = {};
  SetPolicy(&never, WithLead(10000));
  SetPolicy(&never, WithLead(0));
}

// Before the first call after a crash the settings may have changed.
TEST(Limits, AreTheNewOnesAfterARestart) {
  Running running(kDefaultLayout, WithLead(10000));
  const Tick lead = running.UseUp();
  ClockPolicy none = {0, {0, 0}, false};
  Recover(&running.node, running.node.generator.last_tick);
  running.wall_us += 100 * kUsPerMs;
  running.steady_us += 100 * kUsPerMs;
  Resume(&running.node, {{running.wall_us, running.steady_us}, {}}, none);
  EXPECT_FALSE(running.node.policy.new_worker);
  EXPECT_EQ(running.UseUp(), lead - 100);
  for (int i = 0; i < 100; ++i) running.Pass(200 * kUsPerMs);
  EXPECT_EQ(running.UseUp(), 1);
}

// Times pass, limits change, and ids are taken, all at random: with a clock that is right no call
// finds it behind, and the lead is what the limits allow or have allowed.
TEST(Limits, MayChangeInAnyWay) {
  std::mt19937_64 random = SeededRandom(20261130);
  const auto below = [&](int64_t limit) { return Below(&random, limit); };
  const auto limits = [&] {
    const int64_t leads_ms[] = {0, 1, 5, 100, 999, 1000, 1001, 9999, 10000};
    const int64_t bridges_us[] = {0, 1, kUsPerMs, kMinute * kUsPerMs}, leaps_us[] = {0, kUsPerMs, kHour * kUsPerMs};
    return ClockPolicy{leads_ms[below(9)] * kUsPerMs, {bridges_us[below(4)], leaps_us[below(3)]}, below(2) == 0};
  };
  for (int run = 0; run < 300; ++run) {
    SCOPED_TRACE(run);
    const Layout layout = run % 3 == 0 ? kDefaultLayout : run % 3 == 1 ? kHundredths : kSeconds;
    Running running(layout, limits());
    int64_t allowed_us = running.node.policy.max_lead_us;
    Tick last = 0;
    for (int i = 0; i < 300; ++i) {
      const int64_t shown_us = running.node.clock.shown_us;
      running.Pass(below(3) == 0 ? below(3 * layout.tick_us) : below(2) == 0 ? below(1000 * kUsPerMs) : below(50));
      const int64_t moved_us = running.node.clock.shown_us - shown_us;
      ASSERT_GE(moved_us, 0);
      allowed_us = std::max(allowed_us - moved_us / 2, running.node.policy.max_lead_us);
      if (below(4) == 0) SetPolicy(&running.node, limits());
      allowed_us = std::max(allowed_us, running.node.policy.max_lead_us);
      for (int64_t takes = below(50); takes > 0; --takes) {
        const Decision d = running.TakeAll();
        ASSERT_TRUE(d.outcome == Outcome::kRun || d.outcome == Outcome::kTickUsedUp);
        if (d.outcome != Outcome::kRun) break;
        ASSERT_GE(d.run.tick, last);
        last = d.run.tick;
        ASSERT_LE(d.lead, 1 + allowed_us / layout.tick_us);
      }
    }
    ASSERT_EQ(running.node.clock.events, 0);
  }
}

// Whatever the wall clock shows; a microsecond early, never late.
TEST(Node, TicksEndByTheMonotonicClock) {
  const Layout layout = {0, 1000, 41, 0, 10, 4, false};
  NodeState node = {};
  for (const int64_t shown_us : {5000000, 5000001, 5000999}) {
    node.clock.shown_us = shown_us;
    node.clock.read = {1, 77};
    EXPECT_EQ(TickEndUs(node, layout), 77 + 5001000 - shown_us - 1) << shown_us;
  }
}

// Whoever sealed which number before, and however many of the tick are issued.
TEST(Raise, IsSealed) {
  const Layout layout = {0, 1000, 41, 0, 10, 4, false};
  for (Tick raised = 98; raised <= 103; ++raised) {
    for (Tick sealed = 99; sealed <= 103; ++sealed) {
      for (int32_t issued = 1; issued <= 16; ++issued) {
        Generator g = {};
        Open(&g, layout, {1, {}, 3, 99, 200});
        const Decision d = Take(&g, 100, 16, {5, 0});
        ASSERT_EQ(d.run.count, 16);
        OpenRun open = {};
        BeginRun(&open, d.run, issued, 1);
        EndRun(&open, &g);
        if (sealed > 99) Seal(&g, sealed);
        PassTick(&g, raised);
        const Decision next = Take(&g, 100, 1, {5, 0});
        ASSERT_EQ(next.outcome, Outcome::kRun);
        EXPECT_GT(next.run.tick, raised);
        EXPECT_GE(next.run.tick, sealed);
      }
    }
  }
}

}  // namespace
}  // namespace snowflake
