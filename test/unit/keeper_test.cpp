// When the keeper talks to the registry, and about what.
#include "core/keeper.h"

#include <gtest/gtest.h>

namespace snowflake {
namespace {

constexpr int64_t kMs = 1000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kDuration = 600 * kSecond;
constexpr int64_t kStart = 5000 * kSecond;  // a monotonic clock starts anywhere

constexpr KeeperView kUnleased = {kDuration, false, false, false, false, false};
constexpr KeeperView kLeased = {kDuration, true, false, false, false, false};

KeeperView LeaseWanted(KeeperView view) {
  view.lease_wanted = true;
  return view;
}

KeeperView WindowWanted(KeeperView view) {
  view.window_wanted = true;
  return view;
}

KeeperView Retiring(KeeperView view) {
  view.retired = true;
  return view;
}

KeeperView Leaving(KeeperView view) {
  view.leased = false;
  view.leaving = true;
  return view;
}

void ExpectAction(const KeeperStep &step, KeeperAction action) {
  EXPECT_EQ(static_cast<int>(step.action), static_cast<int>(action));
}

void ExpectSleep(const KeeperStep &step, int64_t until_us) {
  ExpectAction(step, KeeperAction::kSleep);
  EXPECT_EQ(step.until_us, until_us);
}

// A keeper whose lease was drawn at kStart.
Keeper Settled() {
  Keeper keeper;
  keeper.Next(kUnleased, kStart);
  keeper.Done(KeeperAction::kAcquire, true, kStart);
  return keeper;
}

TEST(Keeper, DrawsALeaseAtOnce) {
  Keeper keeper;
  ExpectAction(keeper.Next(kUnleased, kStart), KeeperAction::kAcquire);
  Keeper at_zero;
  ExpectAction(at_zero.Next(kUnleased, 0), KeeperAction::kAcquire);
}

// Counted from the question: the window that was asked for begins there, however long the answer takes.
TEST(Keeper, ExtendsEveryThirdOfTheLeaseDuration) {
  Keeper keeper = Settled();
  int64_t now = kStart;
  for (int i = 0; i < 10; ++i) {
    const int64_t due = now + kDuration / 3;
    ExpectSleep(keeper.Next(kLeased, now), due);
    ExpectSleep(keeper.Next(kLeased, due - 1), due);
    ExpectAction(keeper.Next(kLeased, due), KeeperAction::kExtend);
    keeper.Done(KeeperAction::kExtend, true, due + kSecond);  // the registry took its time
    now = due;
  }
}

TEST(Keeper, FollowsAChangedLeaseDuration) {
  Keeper keeper = Settled();
  KeeperView shorter = kLeased;
  shorter.lease_duration_us = 3 * kSecond;
  ExpectSleep(keeper.Next(shorter, kStart), kStart + kSecond);
  ExpectAction(keeper.Next(shorter, kStart + 2 * kSecond), KeeperAction::kExtend);
}

// G4: a call that has reached the window's end waits no longer than one exchange.
TEST(Keeper, ExtendsAtOnceWhenWoken) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(WindowWanted(kLeased), kStart + 1), KeeperAction::kExtend);
}

TEST(Keeper, AnInheritedLeaseIsCheckedAtOnce) {
  Keeper keeper;
  ExpectAction(keeper.Next(kLeased, kStart), KeeperAction::kExtend);
  keeper.Done(KeeperAction::kExtend, false, kStart);
  ExpectSleep(keeper.Next(kLeased, kStart), kStart + 100 * kMs);
  ExpectAction(keeper.Next(kLeased, kStart + 100 * kMs), KeeperAction::kExtend);
  keeper.Done(KeeperAction::kExtend, true, kStart + 100 * kMs);
  ExpectSleep(keeper.Next(kLeased, kStart + 100 * kMs), kStart + 100 * kMs + kDuration / 3);
}

// A monotonic clock may count from the machine's start: then a third of the lease is not over yet.
TEST(Keeper, AnInheritedLeaseIsCheckedAtOnceSoonAfterTheMachinesStart) {
  Keeper keeper;
  ExpectAction(keeper.Next(kLeased, kSecond), KeeperAction::kExtend);
}

TEST(Keeper, ALostLeaseIsReplacedAtOnce) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration / 3;
  ExpectAction(keeper.Next(kLeased, now), KeeperAction::kExtend);
  keeper.Done(KeeperAction::kExtend, true, now);  // it answered: the lease is gone
  ExpectAction(keeper.Next(kUnleased, now), KeeperAction::kAcquire);
}

// G5: a step back of the clock is answered with another worker id, before the window is looked after.
TEST(Keeper, AnotherLeaseIsDrawnWhenOneIsWanted) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(LeaseWanted(kLeased), kStart + 1), KeeperAction::kAcquire);
  ExpectAction(keeper.Next(LeaseWanted(WindowWanted(kLeased)), kStart + 1), KeeperAction::kAcquire);
  keeper.Done(KeeperAction::kAcquire, true, kStart + 2);
  ExpectSleep(keeper.Next(kLeased, kStart + 2), kStart + 1 + kDuration / 3);
}

TEST(KeeperPause, GrowsFrom100MillisecondsTo10Seconds) {
  EXPECT_EQ(PauseUs(-1, false), 0);
  EXPECT_EQ(PauseUs(0, false), 0);
  const int64_t expected_ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(PauseUs(i + 1, false), expected_ms[i] * kMs) << i;
  EXPECT_EQ(PauseUs(2147483647, false), 10 * kSecond);
}

TEST(KeeperPause, IsAtMostHalfASecondWhenSomebodyWaits) {
  EXPECT_EQ(PauseUs(0, true), 0);
  const int64_t expected_ms[] = {100, 200, 400, 500, 500};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(PauseUs(i + 1, true), expected_ms[i] * kMs) << i;
  EXPECT_EQ(PauseUs(2147483647, true), 500 * kMs);
}

// Nodes that lost their registry at the same instant come back spread over one pause, half of it before and half after.
TEST(KeeperPause, IsSpread) {
  for (int32_t spread : {0, 250, 500, 999}) {
    Keeper keeper = Settled();
    const int64_t now = kStart + kDuration / 3;
    for (int i = 0; i < 3; ++i) keeper.Done(KeeperAction::kExtend, false, now, spread);
    const int64_t pause = PauseUs(3, false) * (500 + spread) / 1000;
    ExpectSleep(keeper.Next(kLeased, now), now + pause);
    ExpectAction(keeper.Next(kLeased, now + pause), KeeperAction::kExtend);
  }
}

TEST(Keeper, ARegistryThatDoesNotAnswerIsTriedWithGrowingPauses) {
  Keeper keeper;
  int64_t now = kStart;
  for (int failures = 1; failures < 12; ++failures) {
    ExpectAction(keeper.Next(kUnleased, now), KeeperAction::kAcquire);
    keeper.Done(KeeperAction::kAcquire, false, now);
    ExpectSleep(keeper.Next(kUnleased, now), now + PauseUs(failures, false));
    now += PauseUs(failures, false);
  }
  ExpectAction(keeper.Next(kUnleased, now), KeeperAction::kAcquire);
  keeper.Done(KeeperAction::kAcquire, true, now);
  keeper.Done(KeeperAction::kExtend, false, now);
  ExpectSleep(keeper.Next(WindowWanted(kLeased), now), now + PauseUs(1, true));  // an answer resets the pause
}

TEST(Keeper, SomebodyWhoWaitsShortensAPauseThatHasBegun) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration;
  for (int i = 0; i < 20; ++i) keeper.Done(KeeperAction::kExtend, false, now);
  ExpectSleep(keeper.Next(kLeased, now), now + 10 * kSecond);
  ExpectSleep(keeper.Next(WindowWanted(kLeased), now), now + kSecond / 2);
  ExpectSleep(keeper.Next(LeaseWanted(kLeased), now), now + kSecond / 2);
  ExpectAction(keeper.Next(WindowWanted(kLeased), now + kSecond / 2), KeeperAction::kExtend);
}

TEST(Keeper, AFailedExtensionIsNotPutOffByAThirdOfTheLease) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration / 3;
  ExpectAction(keeper.Next(kLeased, now), KeeperAction::kExtend);
  keeper.Done(KeeperAction::kExtend, false, now);
  ExpectSleep(keeper.Next(kLeased, now), now + PauseUs(1, false));
}

// G4: ids go on while the registry is away; a window survives two lost extensions.
TEST(Keeper, ThreeTriesFitIntoAWindow) {
  for (int64_t duration : {kSecond, 10 * kSecond, kDuration, 86400 * kSecond}) {
    KeeperView view = kLeased;
    view.lease_duration_us = duration;
    Keeper keeper = Settled();
    int tries = 0;
    for (int64_t now = kStart; now < kStart + duration;) {
      const KeeperStep step = keeper.Next(view, now);
      if (step.action == KeeperAction::kExtend) {
        ++tries;
        keeper.Done(KeeperAction::kExtend, false, now);
      } else {
        ASSERT_GT(step.until_us, now) << "a sleep that does not move on";
        now = step.until_us;
      }
    }
    EXPECT_GE(tries, 3) << duration;
  }
}

TEST(Keeper, ARetiredLeaseIsGivenBackWhenNothingElseIsDue) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(Retiring(kLeased), kStart + 1), KeeperAction::kRelease);
  ExpectAction(keeper.Next(Retiring(WindowWanted(kLeased)), kStart + 1), KeeperAction::kExtend);
  ExpectAction(keeper.Next(Retiring(kUnleased), kStart + 1), KeeperAction::kAcquire);
}

TEST(Keeper, AReleaseIsRepeatedWithAPauseOfItsOwn) {
  Keeper keeper = Settled();
  int64_t now = kStart + 1;
  for (int failures = 1; failures < 10; ++failures) {
    ExpectAction(keeper.Next(Retiring(kLeased), now), KeeperAction::kRelease);
    keeper.Done(KeeperAction::kRelease, false, now);
    ExpectSleep(keeper.Next(Retiring(kLeased), now), now + PauseUs(failures, false));
    // It neither delays the lease in place ...
    ExpectAction(keeper.Next(Retiring(WindowWanted(kLeased)), now), KeeperAction::kExtend);
    now += PauseUs(failures, false);
  }
  keeper.Done(KeeperAction::kRelease, true, now);
  ExpectAction(keeper.Next(Retiring(kLeased), now), KeeperAction::kRelease);  // the next one: no pause is left
  // ... nor moves its next extension.
  ExpectSleep(keeper.Next(kLeased, now), kStart + kDuration / 3);
}

TEST(Keeper, ARegistryThatIsAwayDoesNotStopTheReleaseOfAnotherTry) {
  Keeper keeper = Settled();
  for (int i = 0; i < 20; ++i) keeper.Done(KeeperAction::kExtend, false, kStart);
  ExpectAction(keeper.Next(Retiring(WindowWanted(kLeased)), kStart), KeeperAction::kRelease);
  keeper.Done(KeeperAction::kRelease, false, kStart);
  ExpectSleep(keeper.Next(Retiring(WindowWanted(kLeased)), kStart), kStart + 100 * kMs);
}

// G8: a clean shutdown gives back every lease that it can.
TEST(Keeper, LeavingGivesBackEveryRetiredLeaseThenExits) {
  Keeper keeper = Settled();
  const KeeperView leaving = Leaving(Retiring(kLeased));
  for (int i = 0; i < 3; ++i) {
    ExpectAction(keeper.Next(leaving, kStart + i), KeeperAction::kRelease);
    keeper.Done(KeeperAction::kRelease, true, kStart + i);
  }
  ExpectAction(keeper.Next(Leaving(kLeased), kStart + 3), KeeperAction::kExit);
}

TEST(Keeper, LeavingTriesAReleaseOnceThenExits) {
  Keeper keeper = Settled();
  const KeeperView leaving = Leaving(Retiring(kLeased));
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kRelease);
  keeper.Done(KeeperAction::kRelease, false, kStart + 2 * kSecond);
  ExpectAction(keeper.Next(leaving, kStart + 2 * kSecond), KeeperAction::kExit);
  ExpectAction(keeper.Next(leaving, kStart + 100 * kSecond), KeeperAction::kExit);
}

TEST(Keeper, LeavingTriesOnceMoreWhatFailedBefore) {
  Keeper keeper = Settled();
  for (int i = 0; i < 5; ++i) keeper.Done(KeeperAction::kRelease, false, kStart);
  const KeeperView leaving = Leaving(Retiring(kLeased));
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kRelease);
  keeper.Done(KeeperAction::kRelease, false, kStart);
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kExit);
}

TEST(Keeper, LeavingDrawsAndExtendsNothing) {
  Keeper keeper;
  ExpectAction(keeper.Next(Leaving(LeaseWanted(WindowWanted(kUnleased))), kStart), KeeperAction::kExit);
}

}  // namespace
}  // namespace snowflake
