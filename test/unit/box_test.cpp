#include "core/box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr Tick kNow = 360000000;
constexpr ClockPolicy kPolicy = {5 * kMs, {kMinute, kDay}, true};

Secret SecretOf(uint8_t first) {
  Secret secret = {};
  secret.bytes[0] = first;
  return secret;
}

// Holds lease 10 of worker id 3, and has used the tick kNow.
NodeState Holding() {
  NodeState node = {};
  node.policy = kPolicy;
  Read(&node.clock, {{kDefaultLayout.UnixUsAt(kNow), 1}, {}}, kPolicy.clock);
  Open(&node.generator, kDefaultLayout, {10, SecretOf(1), 3, kNow - 5, kNow + 10000});
  Take(&node.generator, kNow, 1, {5, 0});
  return node;
}

void Keep(BoxSlot *slot, const NodeState &node) {
  Store(slot, [&](Kept *kept) { *kept = {5, 16384, 77, node, "a:5432/b"}; });
}

// The recovered state; an empty node if there is nothing to recover.
NodeState Recovered(BoxSlot *slot) {
  Kept kept = {};
  return Load(slot, &kept) ? kept.state : NodeState{};
}

TEST(Box, HasWhatWasKept) {
  BoxSlot slot = {};
  Keep(&slot, Holding());
  Kept kept = {};
  ASSERT_TRUE(Load(&slot, &kept));
  EXPECT_EQ(kept.database, 5u);
  EXPECT_EQ(kept.extension, 16384u);
  EXPECT_EQ(kept.registry, 77u);
  EXPECT_STREQ(kept.node_name, "a:5432/b");
  const Generator &g = kept.state.generator;
  EXPECT_TRUE(g.open);
  EXPECT_EQ(g.lease.lease_id, 10);
  EXPECT_EQ(g.lease.secret, SecretOf(1));
  EXPECT_EQ(g.lease.window_end, kNow + 10000);
}

TEST(Box, LeavesNothingOfATickThatWasUsed) {
  BoxSlot slot = {};
  NodeState node = Holding();
  Keep(&slot, node);
  for (const Tick used : {kNow, kNow + 1, kNow + 700}) {
    StoreLastTick(&slot, used);
    node = Recovered(&slot);
    const Decision decision = Take(&node.generator, used, 1, {5, 0});
    ASSERT_EQ(decision.outcome, Outcome::kRun);
    EXPECT_EQ(decision.run.tick, used + 1);
  }
}

TEST(Box, IsNoneWhereItIsEmpty) {
  BoxSlot slot = {};
  Kept kept = {};
  EXPECT_FALSE(Load(&slot, &kept));
  Keep(&slot, Holding());
  Empty(&slot);
  EXPECT_FALSE(Load(&slot, &kept));
  Keep(&slot, NodeState{});
  EXPECT_FALSE(Load(&slot, &kept)) << "a node that has no lease";
  NodeState asking = {};
  asking.next_secret = SecretOf(7);
  Keep(&slot, asking);
  EXPECT_EQ(Recovered(&slot).next_secret, SecretOf(7)) << "the answer may be under way";
  ForgetQuestion(&asking);
  Keep(&slot, asking);
  EXPECT_FALSE(Load(&slot, &kept)) << "a keeper that ends in good order leaves nothing";
}

// A node whose lease is gone goes on above its last id, on its own clock.
TEST(Box, HasWhatOutlivesALease) {
  BoxSlot slot = {};
  NodeState node = Holding();
  const int64_t back_us = node.clock.shown_us - 40 * kSecond;
  Read(&node, {{back_us, 2}, {}});
  ASSERT_EQ(LoseLease(&node, 10, {1, 1, kNoWatermark, 0}), AnswerFault::kNone);
  Keep(&slot, node);
  NodeState found = Recovered(&slot);
  EXPECT_FALSE(found.generator.open);
  Resume(&found, {{back_us + kMs, 3}, {}}, kPolicy);
  EXPECT_GE(AskForLease(&found, kDefaultLayout, kMinute, SecretOf(8), kMaxLeaseUs).request.now, kNow + 1);
  ForgetExtension(&node);
  Keep(&slot, node);
  EXPECT_TRUE(IsEmpty(slot)) << "the extension is gone";
}

// What is found if the process is killed now.
NodeState FoundNow(const BoxSlot &slot) {
  alignas(BoxSlot) unsigned char bytes[sizeof(BoxSlot)];
  std::memcpy(bytes, &slot, sizeof(bytes));
  return Recovered(reinterpret_cast<BoxSlot *>(bytes));
}

// A process may be killed between any two of its stores.
TEST(Box, HasWhatWasThereWhileItIsWritten) {
  BoxSlot slot = {};
  for (int64_t lease_id = 10; lease_id < 20; ++lease_id) {
    NodeState node = Holding();
    node.generator.lease.lease_id = lease_id;
    const int64_t before = lease_id > 10 ? lease_id - 1 : 0;
    Store(&slot, [&](Kept *into) {
      EXPECT_EQ(FoundNow(slot).generator.lease.lease_id, before) << "before";
      *into = {5, 16384, 77, node, "a:5432/b"};
      EXPECT_EQ(FoundNow(slot).generator.lease.lease_id, before) << "after";
    });
    EXPECT_EQ(FoundNow(slot).generator.lease.lease_id, lease_id);
    // Ids are issued, and the next change is not sealed.
    StoreLastTick(&slot, kNow + lease_id);
    EXPECT_EQ(FoundNow(slot).generator.last_tick, kNow + lease_id);
  }
}

// A change that was sealed, and what it replaces: after a crash, either goes on alone.
TEST(Box, HasOneOfTwoThatAreSealed) {
  for (const int sealed : {1, 2}) {
    BoxSlot slot = {};
    for (int i = 0; i < sealed; ++i) Keep(&slot, Holding());
    StateRecord &before = *CurrentState(&slot);
    const uint64_t seal = before.seal.load();
    NodeState node = Holding();
    node.generator.lease.lease_id = 11;
    Keep(&slot, node);
    before.seal.store(seal);
    const int64_t found = Recovered(&slot).generator.lease.lease_id;
    EXPECT_TRUE(found == 10 || found == 11);
    StoreLastTick(&slot, kNow + 500);
    EXPECT_EQ(Recovered(&slot).generator.lease.lease_id, found);
    EXPECT_EQ(Recovered(&slot).generator.last_tick, kNow + 500);
    CurrentState(&slot)->kept.database = 6;
    EXPECT_EQ(Recovered(&slot).generator.lease.lease_id, 0) << "the other one is of before";
  }
}

TEST(Box, GoesBackToNothing) {
  BoxSlot slot = {};
  for (int i = 0; i < 2; ++i) {
    Keep(&slot, Holding());
    NodeState node = Holding();
    node.generator.lease.lease_id = 11;
    Keep(&slot, node);
    CurrentState(&slot)->kept.database = 6;
    EXPECT_EQ(Recovered(&slot).generator.lease.lease_id, 0) << "what it replaced must not come back";
    EXPECT_TRUE(IsEmpty(slot));
  }
}

TEST(Box, IsNoneWithoutAWholeTick) {
  BoxSlot slot = {};
  Kept kept = {};
  const auto with = [&](Tick tick, Tick inverted) {
    Empty(&slot);
    Keep(&slot, Holding());
    CurrentState(&slot)->last_tick.store(tick);
    CurrentState(&slot)->last_tick_inverted.store(inverted);
    return Load(&slot, &kept);
  };
  EXPECT_FALSE(with(kNow + 1, ~kNow)) << "a tick without its complement";
  EXPECT_TRUE(with(kNow + 1, ~(kNow + 1)));
  EXPECT_FALSE(with(kNow - 1, ~(kNow - 1))) << "less than when it was sealed";
}

TEST(Box, ReopensALeaseThatNobodyWasAskedToRelease) {
  BoxSlot slot = {};
  NodeState node = Holding();
  CloseLease(&node);
  Keep(&slot, node);
  NodeState next = Recovered(&slot);
  EXPECT_TRUE(next.generator.open) << "no registry has heard of it";
  EXPECT_EQ(next.retired_count, 0);
  EXPECT_EQ(Take(&next.generator, kNow + 1, 1, {5, 0}).run.worker, 3);

  NoteAsked(&node, 10);
  Keep(&slot, node);
  next = Recovered(&slot);
  EXPECT_FALSE(next.generator.open) << "another may have the worker id";
  ASSERT_EQ(next.retired_count, 1);
  EXPECT_EQ(next.retired[0].lease_id, 10) << "asked again";
}

TEST(Box, ReopensNoLeaseThatWasReplacedOrLost) {
  BoxSlot slot = {};
  NodeState node = Holding();
  LoseLease(&node, 10, Standing{});
  Retire(&node, {11, SecretOf(2), 4, kNow, kNow + 10, false});
  Keep(&slot, node);
  EXPECT_FALSE(Recovered(&slot).generator.open) << "the registry said that it is gone";

  node = Holding();
  Retire(&node, Close(&node.generator));
  Open(&node.generator, kDefaultLayout, {11, SecretOf(2), 4, kNow, kNow + 10000});
  LoseLease(&node, 11, Standing{});
  Keep(&slot, node);
  EXPECT_FALSE(Recovered(&slot).generator.open) << "of another lease";

  node = Holding();
  CloseLease(&node);
  Retire(&node, {10, SecretOf(9), 4, kNow, kNow + 10, false});
  Keep(&slot, node);
  EXPECT_FALSE(Recovered(&slot).generator.open) << "of another registry, which has the same number";

  node = Holding();
  CloseLease(&node);
  ForgetLease(&node);
  node.next_secret = SecretOf(3);
  Keep(&slot, node);
  EXPECT_FALSE(Recovered(&slot).generator.open) << "renewed";
}

TEST(Box, ForgetsWishesAndCounts) {
  BoxSlot slot = {};
  NodeState node = Holding();
  node.lease_wanted = node.new_worker_wanted = node.window_wanted = true;
  node.clock.events = node.clock.bridged = 9;
  Keep(&slot, node);
  node = Recovered(&slot);
  EXPECT_FALSE(node.lease_wanted || node.new_worker_wanted || node.window_wanted);
  EXPECT_EQ(node.clock.events + node.clock.bridged, 0);
}

// A clock that did not follow a leap before the crash does not follow it afterwards, and its time is
// a sign of life, not that of the wall clock.
TEST(Box, KeepsTheClock) {
  BoxSlot slot = {};
  NodeState node = Holding();
  const int64_t wall_us = node.clock.read.wall_us;
  KnownTime known = KnownBy(node.clock.read);
  const auto read = [&](int64_t since_us) {
    const ClockReading reading = {wall_us + 400 * kDay + since_us, 2 + since_us};
    known = After(known, reading, kPolicy.clock.max_bridge_us);
    Read(&node.clock, {reading, known}, kPolicy.clock);
  };
  read(0);
  ASSERT_EQ(node.clock.mode, ClockMode::kHeld);
  Keep(&slot, node);
  node = Recovered(&slot);
  const ClockReading start = {wall_us + 400 * kDay + kMinute, 2 + kMinute};
  EXPECT_EQ(SignOf(node.clock, start), wall_us + kMinute + 1);
  known = KnownBySign(SignOf(node.clock, start), start.steady_us);
  read(kMinute);
  EXPECT_EQ(node.clock.shown_us, wall_us + kMinute + 1);
  read(11 * kMinute - 1);
  EXPECT_EQ(node.clock.mode, ClockMode::kHeld) << "a start counts anew";
  read(11 * kMinute);
  EXPECT_EQ(node.clock.mode, ClockMode::kWall);
}

// CRC-32C of "123456789", and of the empty string.
KeptHorizon HorizonOf(int64_t id) {
  KeptHorizon horizon;
  std::memset(static_cast<void *>(&horizon), 0, sizeof(horizon));
  horizon.database = 5;
  horizon.layout = kDefaultLayout;
  horizon.horizon = id;
  return horizon;
}

int64_t RecoveredHorizon(const BoxSlot &slot) {
  KeptHorizon horizon = {};
  return LoadHorizon(slot, &horizon) ? horizon.horizon : -1;
}

TEST(Box, HasTheHorizonWithoutALease) {
  BoxSlot slot = {};
  EXPECT_EQ(RecoveredHorizon(slot), -1);
  for (int64_t id = 100; id < 105; ++id) {
    StoreHorizon(&slot, HorizonOf(id));
    EXPECT_EQ(RecoveredHorizon(slot), id);
    EXPECT_LT(NewestRecord(slot), 2);
  }
  Keep(&slot, NodeState{});
  EXPECT_EQ(RecoveredHorizon(slot), 104) << "a node without a lease is kept nowhere";
  EmptyHorizon(&slot);
  EXPECT_EQ(RecoveredHorizon(slot), -1);
}

TEST(Box, HasTheHorizonOfBeforeWhileTheNextIsWritten) {
  BoxSlot slot = {};
  StoreHorizon(&slot, HorizonOf(100));
  StoreHorizon(&slot, HorizonOf(101));
  // The process that was writing it was killed.
  HorizonRecord *next = &slot.horizons[NewestRecord(slot) == 0 ? 1 : 0];
  next->kept.horizon = 102;
  EXPECT_EQ(RecoveredHorizon(slot), 101);
  next->seal.store(0);
  EXPECT_EQ(RecoveredHorizon(slot), 101);
  StoreHorizon(&slot, HorizonOf(103));
  EXPECT_EQ(RecoveredHorizon(slot), 103);
}

TEST(Box, HasALowerHorizonOnlyIfToldSo) {
  for (int stored = 0; stored < 4; ++stored) {
    BoxSlot slot = {};
    for (int i = 0; i < stored; ++i) StoreHorizon(&slot, HorizonOf(100 + i));
    StoreHorizon(&slot, HorizonOf(50));
    EXPECT_EQ(RecoveredHorizon(slot), stored == 0 ? 50 : 99 + stored);
    LowerHorizon(&slot, HorizonOf(70));
    EXPECT_EQ(RecoveredHorizon(slot), 70);
    LowerHorizon(&slot, HorizonOf(0));
    EXPECT_EQ(RecoveredHorizon(slot), 0);
    StoreHorizon(&slot, HorizonOf(60));
    EXPECT_EQ(RecoveredHorizon(slot), 60);
  }
}

// A reset writes the new record, then it ends the old one. It may be killed in between.
TEST(Box, HasTheHorizonThatWasTakenBack) {
  for (int stored = 0; stored < 4; ++stored) {
    BoxSlot slot = {};
    for (int i = 0; i < stored; ++i) StoreHorizon(&slot, HorizonOf(100 + i));
    KeptHorizon taken_back = HorizonOf(50);
    taken_back.resets = 1;
    StoreHorizon(&slot, taken_back);
    EXPECT_EQ(RecoveredHorizon(slot), 50);
    StoreHorizon(&slot, HorizonOf(200));
    EXPECT_EQ(RecoveredHorizon(slot), 50) << "of before the reset";
  }
}

TEST(Box, ChecksumIsTheStandardOne) {
  EXPECT_EQ(Checksum("123456789", 9), 0xE3069283u);
  EXPECT_EQ(Checksum("", 0), 0u);
}

// Changed bytes: the content is right, or there is none.
TEST(Box, WithBytesChangedIsRightOrNone) {
  std::mt19937_64 random = SeededRandom(20261122);
  const auto below = [&](size_t limit) { return static_cast<size_t>(Below(&random, static_cast<int64_t>(limit))); };
  BoxSlot right = {};
  const NodeState holding = Holding();
  Keep(&right, holding);
  StoreLastTick(&right, kNow + 42);
  const NodeState expected = Recovered(&right);
  constexpr int kTrials = 10000;
  int refused = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    alignas(BoxSlot) unsigned char bytes[sizeof(BoxSlot)];
    std::memcpy(bytes, &right, sizeof(bytes));
    const size_t from = below(sizeof(bytes));
    const size_t length = 1 + below(std::min(sizeof(bytes) - from, trial % 2 != 0 ? size_t{8} : sizeof(bytes)));
    switch (below(4)) {
      case 0:
        for (size_t i = 0; i < length; ++i) bytes[from + i] = static_cast<unsigned char>(random());
        break;
      case 1: std::memset(bytes + from, 0, length); break;
      case 2: bytes[from] ^= static_cast<unsigned char>(1 << below(8)); break;
      case 3: std::memmove(bytes + from, bytes + below(sizeof(bytes) - length + 1), length);
    }
    Kept kept = {};
    if (!Load(reinterpret_cast<BoxSlot *>(bytes), &kept)) {
      ++refused;
      continue;
    }
    ASSERT_EQ(std::memcmp(&kept.state, &expected, sizeof(expected)), 0) << "trial " << trial;
  }
  std::cout << "# trials " << kTrials << " changed boxes, " << refused << " refused, 0 wrong" << std::endl;
  // Nearly half of the box is the state that counts.
  EXPECT_GT(refused, kTrials / 3);
}

}  // namespace
}  // namespace snowflake
