// When the keeper calls the registry, and with which request.
#include "core/keeper.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "core/lease.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kDuration = 600 * kSecond;
constexpr int64_t kStart = 5000 * kSecond;  // a monotonic clock starts anywhere

constexpr int64_t kFirst = kFirstWindowUs;

KeeperView Unleased(int64_t duration_us = kDuration) {
  KeeperView view = {};
  view.lease_duration_us = duration_us;
  return view;
}

KeeperView Leased(int64_t window_left_us, int64_t duration_us = kDuration) {
  KeeperView view = Unleased(duration_us);
  view.window_left_us = window_left_us;
  view.leased = true;
  return view;
}

const KeeperView kUnleased = Unleased();
const KeeperView kLeased = Leased(kDuration);

KeeperView Future(KeeperView view) {
  view.future = true;
  return view;
}

KeeperView LeaseWanted(KeeperView view) {
  view.lease_wanted = true;
  return view;
}

KeeperView WindowWanted(KeeperView view) {
  view.window_wanted = true;
  return view;
}

KeeperView Retiring(KeeperView view) {
  view.retired = 1;
  return view;
}

KeeperView Moving(KeeperView view) {
  view.moving = true;
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

void ExpectAsk(const KeeperStep &step, KeeperAction action, int64_t duration_us) {
  ExpectAction(step, action);
  EXPECT_EQ(step.duration_us, duration_us);
}

void Done(Keeper *keeper, KeeperAction action, int64_t now_us) { keeper->Done(action, KeeperOutcome::kDone, now_us); }
void Fail(Keeper *keeper, KeeperAction action, int64_t now_us) { keeper->Done(action, KeeperOutcome::kFailed, now_us); }

// A keeper whose window was moved at kStart, to its full length.
Keeper Settled(int64_t duration_us = kDuration) {
  Keeper keeper;
  keeper.Next(Leased(duration_us, duration_us), kStart);
  Done(&keeper, KeeperAction::kExtend, kStart);
  keeper.Next(Leased(duration_us, duration_us), kStart);
  return keeper;
}

// Tries that fail, each after a longer pause. Returns when the last pause ends.
int64_t ExpectGrowingPauses(Keeper *keeper, const KeeperView &view, KeeperAction action, bool waited_for, int tries) {
  int64_t now = kStart;
  for (int failures = 1; failures <= tries; ++failures) {
    ExpectAction(keeper->Next(view, now), action);
    Fail(keeper, action, now);
    ExpectSleep(keeper->Next(view, now), now + PauseUs(failures, waited_for));
    now += PauseUs(failures, waited_for);
  }
  return now;
}

TEST(Keeper, AcquiresALeaseAtOnce) {
  Keeper keeper;
  ExpectAction(keeper.Next(kUnleased, kStart), KeeperAction::kAcquire);
  Keeper at_zero;
  ExpectAction(at_zero.Next(kUnleased, 0), KeeperAction::kAcquire);
}

// Counted from the request: the requested window begins there, however long the response takes.
TEST(Keeper, ExtendsEveryThirdOfTheWindow) {
  Keeper keeper = Settled();
  int64_t now = kStart;
  for (int i = 0; i < 10; ++i) {
    const int64_t due = now + kDuration / 3;
    ExpectSleep(keeper.Next(kLeased, now), due);
    ExpectSleep(keeper.Next(Leased(kDuration / 3 * 2), due - 1), due);
    ExpectAsk(keeper.Next(Leased(kDuration / 3 * 2), due), KeeperAction::kExtend, kDuration);
    Done(&keeper, KeeperAction::kExtend, due + kSecond);  // the registry was slow
    ExpectSleep(keeper.Next(Leased(kDuration - kSecond), due + kSecond), due + kDuration / 3);
    now = due;
  }
}

// A crash soon after the acquire makes the worker id unavailable for seconds.
TEST(Keeper, WindowsGrowFromTenSecondsToTheLeaseDuration) {
  Keeper keeper;
  int64_t now = kStart;
  ExpectAsk(keeper.Next(kUnleased, now), KeeperAction::kAcquire, kDuration);
  Done(&keeper, KeeperAction::kAcquire, now);
  int64_t window = 10 * kSecond;
  for (int64_t asked : {20, 40, 80, 160, 320, 600, 600}) {
    const int64_t due = now + window / 3;
    ExpectSleep(keeper.Next(Leased(window), now), due);
    ExpectAsk(keeper.Next(Leased(window - window / 3), due), KeeperAction::kExtend, asked * kSecond);
    Done(&keeper, KeeperAction::kExtend, due);
    window = asked * kSecond;
    now = due;
  }
}

TEST(Keeper, AShortLeaseDurationIsTheFirstWindow) {
  for (int64_t duration : {kSecond, 9 * kSecond, kFirst}) {
    Keeper keeper;
    ExpectAsk(keeper.Next(Unleased(duration), kStart), KeeperAction::kAcquire, duration);
    Done(&keeper, KeeperAction::kAcquire, kStart);
    ExpectSleep(keeper.Next(Leased(duration, duration), kStart), kStart + duration / 3);
    ExpectAsk(keeper.Next(Leased(duration, duration), kStart + duration / 3), KeeperAction::kExtend, duration);
  }
}

// A window that was moved although the registry is slow has the requested length, and continues to
// grow.
TEST(Keeper, WindowsGrowHoweverLongAnAnswerTakes) {
  Keeper keeper;
  ExpectAsk(keeper.Next(kUnleased, kStart), KeeperAction::kAcquire, kDuration);
  Done(&keeper, KeeperAction::kAcquire, kStart + 7 * kSecond);
  ExpectAsk(keeper.Next(Leased(kFirst - 7 * kSecond), kStart + 7 * kSecond), KeeperAction::kExtend, 2 * kFirst);
  // Longer than the window lasts.
  Done(&keeper, KeeperAction::kExtend, kStart + 37 * kSecond);
  ExpectAsk(keeper.Next(Leased(2 * kFirst - 30 * kSecond), kStart + 37 * kSecond), KeeperAction::kExtend, 4 * kFirst);
}

// A registry may assign less than was requested.
TEST(Keeper, ExtendsByTheLengthThatWasAssigned) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration / 3;
  ExpectAction(keeper.Next(kLeased, now), KeeperAction::kExtend);
  Done(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(Leased(60 * kSecond), now), now + 20 * kSecond);
  ExpectAsk(keeper.Next(Leased(40 * kSecond), now + 20 * kSecond), KeeperAction::kExtend, 120 * kSecond);
}

TEST(Keeper, ARaisedLeaseDurationIsAskedForAtOnce) {
  Keeper keeper = Settled(6 * kSecond);
  const int64_t hour = 3600 * kSecond;
  const int64_t now = kStart + kSecond;
  ExpectAsk(keeper.Next(Leased(5 * kSecond, hour), now), KeeperAction::kExtend, hour);
  Fail(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(Leased(5 * kSecond, hour), now), now + 100 * kMs);
  ExpectAsk(keeper.Next(Leased(5 * kSecond, hour), now + 100 * kMs), KeeperAction::kExtend, hour);
  Done(&keeper, KeeperAction::kExtend, now + 100 * kMs);
  ExpectSleep(keeper.Next(Leased(hour, hour), now + 100 * kMs), now + 100 * kMs + hour / 3);
}

// ... once, also if a registry assigns no more, and while the window grows.
TEST(Keeper, ARaisedLeaseDurationIsAskedForOnce) {
  Keeper keeper;
  keeper.Next(kUnleased, kStart);
  Done(&keeper, KeeperAction::kAcquire, kStart);
  ExpectAsk(keeper.Next(Leased(kFirst, 2 * kDuration), kStart), KeeperAction::kExtend, 2 * kDuration);
  Done(&keeper, KeeperAction::kExtend, kStart);
  ExpectSleep(keeper.Next(Leased(kFirst, 2 * kDuration), kStart), kStart + kFirst / 3);
  ExpectAsk(keeper.Next(Leased(kFirst, 2 * kDuration), kStart + kFirst / 3), KeeperAction::kExtend, 2 * kFirst);
}

TEST(Keeper, ALoweredLeaseDurationLeavesTheWindowAsItIs) {
  Keeper keeper = Settled();
  int64_t now = kStart;
  int64_t left = kDuration;
  const int64_t shorter = 3 * kSecond;
  ExpectSleep(keeper.Next(Leased(left, shorter), now), now + kDuration / 3);
  // The rest of the window is used until it is as short as requested.
  while (left > shorter) {
    const KeeperStep sleep = keeper.Next(Leased(left, shorter), now);
    ExpectSleep(sleep, now + left / 3);
    left -= sleep.until_us - now;
    now = sleep.until_us;
    ExpectAsk(keeper.Next(Leased(left, shorter), now), KeeperAction::kExtend, shorter);
    Done(&keeper, KeeperAction::kExtend, now);
    if (left < shorter) left = shorter;
  }
  ExpectSleep(keeper.Next(Leased(left, shorter), now), now + shorter / 3);
}

// The clock leapt during the request: the assigned window is over already.
TEST(Keeper, AWindowThatIsOverIsNotExtendedWithoutAPause) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration / 3;
  ExpectAction(keeper.Next(kLeased, now), KeeperAction::kExtend);
  Done(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(Leased(-3600 * kSecond), now), now + kSecond / 3);
}

// G4: a call that has reached the window's end waits no longer than one exchange.
TEST(Keeper, ExtendsAtOnceWhenWoken) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(WindowWanted(kLeased), kStart + 1), KeeperAction::kExtend);
}

TEST(Keeper, AnInheritedLeaseIsCheckedAtOnce) {
  Keeper keeper;
  ExpectAsk(keeper.Next(Leased(kSecond), kStart), KeeperAction::kExtend, kFirst);
  Fail(&keeper, KeeperAction::kExtend, kStart);
  ExpectSleep(keeper.Next(Leased(kSecond), kStart), kStart + 100 * kMs);
  ExpectAsk(keeper.Next(Leased(kSecond), kStart + 100 * kMs), KeeperAction::kExtend, kFirst);
  Done(&keeper, KeeperAction::kExtend, kStart + 100 * kMs);
  ExpectSleep(keeper.Next(Leased(kFirst), kStart + 100 * kMs), kStart + 100 * kMs + kFirst / 3);
}

// The window that its keeper had requested is still there.
TEST(Keeper, AnInheritedWindowIsAsLongAsItIs) {
  Keeper keeper;
  ExpectAction(keeper.Next(Leased(300 * kSecond), kStart), KeeperAction::kExtend);
  Done(&keeper, KeeperAction::kExtend, kStart);
  ExpectSleep(keeper.Next(Leased(300 * kSecond), kStart), kStart + 100 * kSecond);
  ExpectAsk(keeper.Next(Leased(200 * kSecond), kStart + 100 * kSecond), KeeperAction::kExtend, kDuration);
}

// After each crash, too, a longer outage can be survived.
TEST(Keeper, AnInheritedWindowGrowsAtOnce) {
  const int64_t left = 100 * kSecond;
  Keeper keeper;
  ExpectAsk(keeper.Next(Leased(left), kStart), KeeperAction::kExtend, 2 * left);
  for (const int64_t far : {kDuration - 1, kDuration + 1, INT64_MAX}) {
    Keeper other;
    ExpectAsk(other.Next(Leased(far), kStart), KeeperAction::kExtend, kDuration);
  }
  for (const int64_t over : {int64_t{0}, -kSecond, INT64_MIN}) {
    Keeper other;
    ExpectAsk(other.Next(Leased(over), kStart), KeeperAction::kExtend, kFirst);
  }
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
  Done(&keeper, KeeperAction::kExtend, now);  // the response: the lease is gone
  ExpectAsk(keeper.Next(kUnleased, now), KeeperAction::kAcquire, kDuration);
}

// G5: after a step back of the clock the keeper first acquires another worker id, then extends the
// window.
TEST(Keeper, AnotherLeaseIsAcquiredWhenOneIsWanted) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(LeaseWanted(kLeased), kStart + 1), KeeperAction::kAcquire);
  ExpectAsk(keeper.Next(LeaseWanted(WindowWanted(kLeased)), kStart + 1), KeeperAction::kAcquire, kDuration);
  Done(&keeper, KeeperAction::kAcquire, kStart + 2);
  ExpectSleep(keeper.Next(Leased(kFirst - 1), kStart + 2), kStart + 1 + kFirst / 3);
}

// A window that is still to begin was the registry's best. Meanwhile other nodes release worker
// ids.
TEST(Keeper, ANodeThatCannotIssueYetAsksForABetterLeaseEveryThreeSeconds) {
  const KeeperView future = Future(Leased(3610 * kSecond));
  Keeper keeper;
  int64_t now = kStart;
  ExpectAction(keeper.Next(kUnleased, now), KeeperAction::kAcquire);
  Done(&keeper, KeeperAction::kAcquire, now + kSecond);
  for (int i = 0; i < 5; ++i) {
    ExpectSleep(keeper.Next(future, now + kSecond), now + 3 * kSecond);
    now += 3 * kSecond;
    ExpectAsk(keeper.Next(future, now), KeeperAction::kAcquire, kDuration);
    keeper.Done(KeeperAction::kAcquire, KeeperOutcome::kAnswered, now + kSecond);
  }
  // A registry that does not respond is called with the usual pauses.
  ExpectAction(keeper.Next(future, now + 3 * kSecond), KeeperAction::kAcquire);
  Fail(&keeper, KeeperAction::kAcquire, now + 3 * kSecond);
  ExpectSleep(keeper.Next(future, now + 3 * kSecond), now + 3 * kSecond + 100 * kMs);
  // The clock has reached the window, or was corrected.
  ExpectSleep(keeper.Next(Leased(3600 * kSecond), now + 3 * kSecond), kStart + 3611 * kSecond / 3);
}

// A request for a better lease neither delays the extend of the present one nor counts as it.
TEST(Keeper, ALeaseThatIsStillToBeginIsExtendedInTime) {
  Keeper keeper;
  ExpectAction(keeper.Next(kUnleased, kStart), KeeperAction::kAcquire);
  Done(&keeper, KeeperAction::kAcquire, kStart);
  int64_t now = kStart;
  KeeperStep step = keeper.Next(Future(Leased(30 * kSecond)), now);
  int asked = 0;
  for (; step.action != KeeperAction::kExtend; step = keeper.Next(Future(Leased(30 * kSecond)), now)) {
    ASSERT_LE(now, kStart + 10 * kSecond);
    if (step.action == KeeperAction::kSleep) {
      now = step.until_us;
      continue;
    }
    ++asked;
    keeper.Done(KeeperAction::kAcquire, KeeperOutcome::kAnswered, now);
  }
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(now, kStart + 10 * kSecond);
}

TEST(Keeper, AnInheritedLeaseThatIsStillToBeginIsCheckedFirst) {
  Keeper keeper;
  ExpectAction(keeper.Next(Future(kLeased), kStart), KeeperAction::kExtend);
  Done(&keeper, KeeperAction::kExtend, kStart);
  ExpectAction(keeper.Next(Future(kLeased), kStart), KeeperAction::kAcquire);
}

TEST(KeeperPause, GrowsFrom100MillisecondsTo10Seconds) {
  EXPECT_EQ(PauseUs(-1, false), 0);
  EXPECT_EQ(PauseUs(0, false), 0);
  const int64_t expected_ms[] = {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(PauseUs(i + 1, false), expected_ms[i] * kMs) << i;
  EXPECT_EQ(PauseUs(2147483647, false), 10 * kSecond);
}

TEST(KeeperPause, IsAtMostASecondWhenSomebodyWaits) {
  EXPECT_EQ(PauseUs(0, true), 0);
  const int64_t expected_ms[] = {100, 200, 400, 800, 1000};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(PauseUs(i + 1, true), expected_ms[i] * kMs) << i;
  EXPECT_EQ(PauseUs(2147483647, true), kSecond);
}

// Nodes that lost their registry at the same time call it again spread over one pause, half of it
// before and half after.
TEST(KeeperPause, IsSpread) {
  for (int32_t spread : {0, 250, 500, 999}) {
    Keeper keeper = Settled();
    const int64_t now = kStart + kDuration / 3;
    for (int i = 0; i < 3; ++i) keeper.Done(KeeperAction::kExtend, KeeperOutcome::kFailed, now, spread);
    const int64_t pause = PauseUs(3, false) * (500 + spread) / 1000;
    ExpectSleep(keeper.Next(kLeased, now), now + pause);
    ExpectAction(keeper.Next(kLeased, now + pause), KeeperAction::kExtend);
  }
}

TEST(Keeper, ARegistryThatDoesNotAnswerIsTriedWithGrowingPauses) {
  Keeper keeper;
  const int64_t now = ExpectGrowingPauses(&keeper, kUnleased, KeeperAction::kAcquire, false, 11);
  ExpectAction(keeper.Next(kUnleased, now), KeeperAction::kAcquire);
  Done(&keeper, KeeperAction::kAcquire, now);
  Fail(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(WindowWanted(kLeased), now), now + PauseUs(1, true));  // a response resets the pause
}

TEST(Keeper, SomebodyWhoWaitsShortensAPauseThatHasBegun) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration;
  for (int i = 0; i < 20; ++i) Fail(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(kLeased, now), now + 10 * kSecond);
  ExpectSleep(keeper.Next(WindowWanted(kLeased), now), now + kSecond);
  ExpectSleep(keeper.Next(LeaseWanted(kLeased), now), now + kSecond);
  ExpectAction(keeper.Next(WindowWanted(kLeased), now + kSecond), KeeperAction::kExtend);
}

TEST(Keeper, AFailedExtensionIsNotPutOffByAThirdOfTheLease) {
  Keeper keeper = Settled();
  const int64_t now = kStart + kDuration / 3;
  ExpectAction(keeper.Next(kLeased, now), KeeperAction::kExtend);
  Fail(&keeper, KeeperAction::kExtend, now);
  ExpectSleep(keeper.Next(kLeased, now), now + PauseUs(1, false));
}

// G4: ids continue while the registry is unavailable; a window survives two lost extends.
TEST(Keeper, ThreeTriesFitIntoAWindow) {
  for (int64_t duration : {kSecond, kFirst, kDuration, 86400 * kSecond}) {
    Keeper keeper = Settled(duration);
    int tries = 0;
    for (int64_t now = kStart; now < kStart + duration;) {
      const KeeperStep step = keeper.Next(Leased(kStart + duration - now, duration), now);
      if (step.action == KeeperAction::kExtend) {
        ++tries;
        Fail(&keeper, KeeperAction::kExtend, now);
      } else {
        ASSERT_GT(step.until_us, now) << "a sleep that does not move on";
        now = step.until_us;
      }
    }
    EXPECT_GE(tries, 3) << duration;
  }
}

TEST(Keeper, ARetiredLeaseIsReleasedWhenNothingElseIsDue) {
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
    Fail(&keeper, KeeperAction::kRelease, now);
    ExpectSleep(keeper.Next(Retiring(kLeased), now), now + PauseUs(failures, false));
    // It neither delays the present lease ...
    ExpectAction(keeper.Next(Retiring(WindowWanted(kLeased)), now), KeeperAction::kExtend);
    now += PauseUs(failures, false);
  }
  Done(&keeper, KeeperAction::kRelease, now);
  ExpectAction(keeper.Next(Retiring(kLeased), now), KeeperAction::kRelease);  // the next one: no pause is left
  // ... nor moves its next extend.
  ExpectSleep(keeper.Next(kLeased, now), kStart + kDuration / 3);
}

TEST(Keeper, ARegistryThatIsAwayDoesNotStopTheReleaseOfAnotherTry) {
  Keeper keeper = Settled();
  for (int i = 0; i < 20; ++i) Fail(&keeper, KeeperAction::kExtend, kStart);
  ExpectAction(keeper.Next(Retiring(WindowWanted(kLeased)), kStart), KeeperAction::kRelease);
  Fail(&keeper, KeeperAction::kRelease, kStart);
  ExpectSleep(keeper.Next(Retiring(WindowWanted(kLeased)), kStart), kStart + 100 * kMs);
}

// G8: a clean shutdown releases every lease that it can.
TEST(Keeper, LeavingReleasesEveryRetiredLeaseThenExits) {
  Keeper keeper = Settled();
  const KeeperView leaving = Leaving(Retiring(kLeased));
  for (int i = 0; i < 3; ++i) {
    ExpectAction(keeper.Next(leaving, kStart + i), KeeperAction::kRelease);
    Done(&keeper, KeeperAction::kRelease, kStart + i);
  }
  ExpectAction(keeper.Next(Leaving(kLeased), kStart + 3), KeeperAction::kExit);
}

TEST(Keeper, LeavingTriesAReleaseOnceThenExits) {
  Keeper keeper = Settled();
  const KeeperView leaving = Leaving(Retiring(kLeased));
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kRelease);
  Fail(&keeper, KeeperAction::kRelease, kStart + 2 * kSecond);
  ExpectAction(keeper.Next(leaving, kStart + 2 * kSecond), KeeperAction::kExit);
  ExpectAction(keeper.Next(leaving, kStart + 100 * kSecond), KeeperAction::kExit);
}

TEST(Keeper, LeavingTriesOnceMoreWhatFailedBefore) {
  Keeper keeper = Settled();
  for (int i = 0; i < 5; ++i) Fail(&keeper, KeeperAction::kRelease, kStart);
  const KeeperView leaving = Leaving(Retiring(kLeased));
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kRelease);
  Fail(&keeper, KeeperAction::kRelease, kStart);
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kExit);
}

TEST(Keeper, LeavingAcquiresAndExtendsNothing) {
  Keeper keeper;
  ExpectAction(keeper.Next(Leaving(LeaseWanted(WindowWanted(kUnleased))), kStart), KeeperAction::kExit);
}

KeeperView RangesWanted(KeeperView view, bool missing) {
  view.ranges_wanted = true;
  view.numbers_missing = missing;
  return view;
}

KeeperView Idle() {
  KeeperView view = kUnleased;
  view.idle = true;
  return view;
}

KeeperView RangesHeld(KeeperView view) {
  view.ranges_held = true;
  return view;
}

TEST(Keeper, WhoIssuesNumbersOfSegmentsAloneAcquiresNoLease) {
  Keeper keeper;
  ExpectAction(keeper.Next(Idle(), kStart), KeeperAction::kSleep);
  ExpectAction(keeper.Next(RangesWanted(Idle(), true), kStart), KeeperAction::kRanges);
  Done(&keeper, KeeperAction::kRanges, kStart);
  ExpectAction(keeper.Next(Idle(), kStart + 100 * kDuration), KeeperAction::kSleep);
  ExpectAction(keeper.Next(LeaseWanted(kUnleased), kStart), KeeperAction::kAcquire);
}

TEST(Keeper, RangesAreAskedForWithAPauseOfTheirOwn) {
  Keeper keeper = Settled();
  int64_t now = kStart + 1;
  for (int failures = 1; failures < 10; ++failures) {
    ExpectAction(keeper.Next(RangesWanted(kLeased, false), now), KeeperAction::kRanges);
    Fail(&keeper, KeeperAction::kRanges, now);
    ExpectSleep(keeper.Next(RangesWanted(kLeased, false), now), now + PauseUs(failures, false));
    ExpectSleep(keeper.Next(RangesWanted(kLeased, true), now), now + PauseUs(failures, true));
    ExpectAction(keeper.Next(RangesWanted(WindowWanted(kLeased), true), now), KeeperAction::kExtend);
    now += PauseUs(failures, false);
  }
  Done(&keeper, KeeperAction::kRanges, now);
  ExpectAction(keeper.Next(RangesWanted(kLeased, false), now), KeeperAction::kRanges);
  ExpectSleep(keeper.Next(kLeased, now), kStart + kDuration / 3);
}

TEST(Keeper, LeavingGivesRangesBackAfterLeases) {
  Keeper keeper = Settled();
  for (int i = 0; i < 5; ++i) Fail(&keeper, KeeperAction::kRanges, kStart);
  const KeeperView leaving = Leaving(RangesHeld(kLeased));
  ExpectAction(keeper.Next(Retiring(leaving), kStart), KeeperAction::kRelease);
  Done(&keeper, KeeperAction::kRelease, kStart);
  ExpectAction(keeper.Next(leaving, kStart), KeeperAction::kRanges);
  Done(&keeper, KeeperAction::kRanges, kStart);
  ExpectAction(keeper.Next(Leaving(kLeased), kStart), KeeperAction::kExit);
}

// However many leases there are, and whichever of the tries fail.
TEST(Keeper, LeavingTriesEachThingOnce) {
  for (int32_t leases = 0; leases <= 4; ++leases) {
    for (int fails = 0; fails < 1 << (leases + 1); ++fails) {
      Keeper keeper = Settled();
      std::vector<int> left(leases), tried;
      std::iota(left.begin(), left.end(), 0);
      KeeperView leaving = Leaving(RangesHeld(kLeased));
      bool ranges = false;
      for (int i = 0; i <= leases; ++i) {
        leaving.retired = static_cast<int32_t>(left.size());
        const KeeperStep step = keeper.Next(leaving, kStart + i);
        const bool failed = (fails >> i & 1) != 0;
        if (step.action == KeeperAction::kRelease) {
          tried.push_back(left.at(step.retired));
          if (!failed) left.erase(left.begin() + step.retired);
        } else {
          ExpectAction(step, KeeperAction::kRanges);
          ranges = true;
          if (!failed) leaving.ranges_held = false;
        }
        keeper.Done(step.action, failed ? KeeperOutcome::kFailed : KeeperOutcome::kDone, kStart + i);
      }
      EXPECT_TRUE(ranges);
      ASSERT_EQ(tried.size(), static_cast<size_t>(leases)) << fails;
      for (int i = 0; i < leases; ++i) EXPECT_EQ(tried[i], i) << fails;
      leaving.retired = static_cast<int32_t>(left.size());
      ExpectAction(keeper.Next(leaving, kStart + 100 * kSecond), KeeperAction::kExit);
    }
  }
}

TEST(Keeper, ALeaseThatIsNotTakenBackIsNotInTheWayOfAnother) {
  Keeper keeper = Settled();
  KeeperView view = kLeased;
  view.retired = 3;
  int64_t now = kStart + 1;
  for (int failures = 0; failures < 7; ++failures) {
    const KeeperStep step = keeper.Next(view, now);
    ExpectAction(step, KeeperAction::kRelease);
    EXPECT_EQ(step.retired, failures % 3);
    Fail(&keeper, KeeperAction::kRelease, now);
    now += PauseUs(failures + 1, false);
  }
}

TEST(Keeper, AnotherRegistryIsProbedInPlaceOfAllElse) {
  for (const KeeperView &view :
       {kLeased, WindowWanted(kLeased), kUnleased, Retiring(kLeased), RangesWanted(kLeased, true)}) {
    Keeper keeper;
    ExpectGrowingPauses(&keeper, Moving(view), KeeperAction::kProbe, view.window_wanted || view.numbers_missing, 9);
  }
}

TEST(Keeper, AProbeIsNoNewWindow) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(Moving(kLeased), kStart + kSecond), KeeperAction::kProbe);
  Done(&keeper, KeeperAction::kProbe, kStart + kSecond);
  ExpectSleep(keeper.Next(kLeased, kStart + kSecond), kStart + kDuration / 3);
}

TEST(Keeper, LeavingProbesNothing) {
  Keeper keeper = Settled();
  ExpectAction(keeper.Next(Leaving(Moving(Retiring(kLeased))), kStart), KeeperAction::kRelease);
  Done(&keeper, KeeperAction::kRelease, kStart);
  ExpectAction(keeper.Next(Leaving(Moving(kLeased)), kStart), KeeperAction::kExit);
}

}  // namespace
}  // namespace snowflake
