// The processor's counter: edges, and a machine whose clock and counter move as no machine's should.
//
// Optimized: it takes a second, and five without.
#include "core/counter.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include <gtest/gtest.h>

#include "length.h"
#include "random.h"

namespace snowflake {
namespace {
constexpr int64_t kGHz = 1000 * 1000;  // per ms

CounterSpeed Measured(std::initializer_list<std::pair<int64_t, int64_t>> readings) {
  CounterSpeed speed = {};
  for (const auto &[us, counts] : readings) Measure(&speed, static_cast<uint64_t>(counts), us, static_cast<uint64_t>(counts));
  return speed;
}

TEST(Counter, IsKnownAfterTwoStretches) {
  EXPECT_EQ(Measured({{1, 5}}).per_ms, 0);
  EXPECT_EQ(Measured({{1, 0}, {3000, 3000000}}).per_ms, 0);
  EXPECT_EQ(Measured({{1, 0}, {3001, 3001000}, {6001, 6001000}}).per_ms, 999666);
  EXPECT_EQ(Measured({{1, 0}, {1000, 3001000}, {2000, 6001000}}).per_ms, 0) << "these are too short";
  EXPECT_EQ(Measured({{1, 0}, {1000, 1}, {3001, 3001000}, {4000, 2}, {6001, 6001000}}).per_ms, 999666)
      << "short ones change nothing";
}

TEST(Counter, IsNoFasterThanInEitherStretch) {
  EXPECT_EQ(Measured({{1, 0}, {100001, 100001000}, {200001, 150001000}}).per_ms, 499995);
  EXPECT_EQ(Measured({{1, 0}, {100001, 50001000}, {200001, 150001000}}).per_ms, 500004);
  EXPECT_EQ(Measured({{1, 0}, {100001, 50001000}, {200001, 150001000}, {300001, 250001000}}).per_ms, 999990);
}

TEST(Counter, IsUnknownIfItOrTheClockWasSet) {
  EXPECT_EQ(Measured({{1, 5000000}, {3001, 8000000}, {6001, 7000000}}).per_ms, 0) << "back";
  EXPECT_EQ(Measured({{1, 5000000}, {3001, 8000000}, {6001, 7000000}, {9001, 10000000}}).per_ms, 0) << "... and on";
  EXPECT_EQ(Measured({{1, 5000000}, {3001, 8000000}, {6001, 7000000}, {9001, 10000000}, {12001, 13000000}}).per_ms, 999666);
  EXPECT_EQ(Measured({{1, 0}, {3001, 3000000}, {6001, 3000000}}).per_ms, 0) << "it stands";
  EXPECT_EQ(Measured({{5001, 0}, {8001, 3000000}, {7001, 6000000}}).per_ms, 0) << "the clock steps back";
  EXPECT_EQ(Measured({{5001, 0}, {8001, 3000000}, {7001, 6000000}, {10001, 9000000}, {13001, 12000000}}).per_ms, 999666);
  EXPECT_EQ(Measured({{1, 0}, {3001, 3000000}, {6001, int64_t{1} << 60}}).per_ms, 0) << "far ahead";
  EXPECT_EQ(Measured({{1, 0}, {3001, 3000000}, {6001, -1}}).per_ms, 0);
  const int64_t fast = 2 * 3001 * (kFastestPerMs / 1000);
  EXPECT_EQ(Measured({{1, 0}, {3001, fast}, {6001, 2 * fast}}).per_ms, 0) << "faster than any";
  EXPECT_EQ(Measured({{1, -1000}, {3001, 2999000}, {6001, 5999000}}).per_ms, 999666) << "across the highest number";
  const int64_t last = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Measured({{1, 0}, {3001, 3000000}, {last, 6000000}}).per_ms, 0) << "an age";
}

TEST(Counter, ServesForThreeQuartersOfTheTick) {
  EXPECT_EQ(CountsFor(1002, kGHz), 750000u);
  EXPECT_EQ(CountsFor(402, kGHz), 300000u);
  EXPECT_EQ(CountsFor(10000, kGHz), 9998u * 750);
  for (const int64_t left : {int64_t{10001}, int64_t{1000000}, std::numeric_limits<int64_t>::max()})
    EXPECT_EQ(CountsFor(left, kGHz), 9998u * 750) << "10 ms at most";
  for (const int64_t left : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{2}})
    EXPECT_EQ(CountsFor(left, kGHz), 0u) << left;
  EXPECT_EQ(CountsFor(1002, 0), 0u);
  EXPECT_EQ(CountsFor(1002, 24000), 18000u) << "a slow one";
  EXPECT_EQ(CountsFor(10000, kFastestPerMs), 9998u * 75000) << "the fastest";
}

TEST(Counter, IsOverIfItWasSetBack) {
  const uint64_t highest = std::numeric_limits<uint64_t>::max();
  EXPECT_TRUE(IsWithin(10, 100, 100));
  EXPECT_TRUE(IsWithin(10, 100, 109));
  EXPECT_FALSE(IsWithin(10, 100, 110));
  EXPECT_FALSE(IsWithin(10, 100, 99));
  EXPECT_FALSE(IsWithin(10, 100, 0));
  EXPECT_FALSE(IsWithin(CountsFor(10000, kFastestPerMs), 100, 99));
  EXPECT_TRUE(IsWithin(10, highest - 4, 4)) << "across the highest number";
  EXPECT_FALSE(IsWithin(0, 100, 100));
}

// A clock and a counter, both real numbers; readings are cut to whole ones.
class Machine {
 public:
  Machine(std::mt19937_64 *random, double counts_per_us)
      : random_(random), counts_per_us_(counts_per_us), clock_us_(1 + Below(1e12)), counts_(Below(1e9)) {}

  double Below(double limit) { return std::uniform_real_distribution<>(0, limit)(*random_); }
  bool Chance(double part) { return Below(1) < part; }

  void Pass(double us) {
    clock_us_ += us * clock_speed_;
    counts_ += us * counts_per_us_ * counter_speed_;
  }
  // A process may be delayed between any two instructions.
  void Delay() {
    if (Chance(0.05)) Pass(std::exp(Below(std::log(1e5))));
  }

  int64_t ReadClock() const { return static_cast<int64_t>(clock_us_); }
  uint64_t ReadCounter() const { return static_cast<uint64_t>(static_cast<int64_t>(counts_)); }
  double clock_us() const { return clock_us_; }
  double counts() const { return counts_; }
  double counts_per_us() const { return counts_per_us_; }

  // As NTP may, by a tenth either way.
  void Slew() { clock_speed_ = 0.9 + Below(0.2); }
  void SetSpeed(double times) { counter_speed_ = times; }
  void MoveCounter(double us) { counts_ += us * counts_per_us_; }

  void MeasureSpeed() {
    const uint64_t before = ReadCounter();
    Delay();
    const int64_t us = ReadClock();
    Delay();
    Measure(&speed_, before, us, ReadCounter());
  }
  int64_t per_ms() const { return speed_.per_ms; }

 private:
  std::mt19937_64 *random_;
  double counts_per_us_;
  double clock_us_, counts_;
  double clock_speed_ = 1, counter_speed_ = 1;
  CounterSpeed speed_ = {};
};

constexpr double kSpeeds[] = {1, 24, 512, 1000, 2600, 4096, 9000};

// What calls showed that read no clock.
struct Calls {
  int64_t all = 0, late = 0;
  double latest_us = 0;
  double most_us = 0;  // how much later than what the counter had lost
};

// A process reads the clock, and calls until its counts are over. `happen` is called between two
// calls, with what was left of the tick.
template <typename Happen>
void Call(Machine *machine, Calls *calls, Happen happen) {
  const int64_t left_us = machine->Chance(0.5) ? 1 + static_cast<int64_t>(machine->Below(20))
                                               : static_cast<int64_t>(std::exp(machine->Below(std::log(2e6))));
  const double counts_before = machine->counts(), clock_before = machine->clock_us();
  const uint64_t since = machine->ReadCounter();
  machine->Delay();
  const int64_t until_us = machine->ReadClock() + left_us;
  const uint64_t counts = CountsFor(left_us, machine->per_ms());
  for (int i = 0; i < 40; ++i) {
    // The processor has read the counter up to a microsecond before the call begins.
    const uint64_t now = machine->ReadCounter();
    if (machine->Chance(0.2)) machine->Pass(machine->Below(0.9));
    if (counts == 0 || !IsWithin(counts, since, now)) return;
    ++calls->all;
    const double late_us = machine->clock_us() - static_cast<double>(until_us);
    const double lost_us =
        machine->clock_us() - clock_before - (machine->counts() - counts_before) / machine->counts_per_us();
    calls->late += late_us >= 0;
    calls->latest_us = std::max(calls->latest_us, late_us);
    calls->most_us = std::max(calls->most_us, late_us - std::max(lost_us, 0.0));
    machine->Pass(static_cast<double>(left_us) / 20);
    machine->Delay();
    happen(static_cast<double>(left_us < kLongestCountUs ? left_us : kLongestCountUs));
  }
}

// However processes are delayed, and however the clock is slewed, no call is late if the counter
// runs at one speed.
TEST(Counter, MakesNoCallLate) {
  auto random = SeededRandom(20261127);
  Calls calls;
  int64_t trials = 0;
  for (int64_t i = AtLength(1000, 20000); i > 0; --i) {
    Machine machine(&random, kSpeeds[random() % std::size(kSpeeds)]);
    for (int round = 0; round < 20; ++round) {
      machine.MeasureSpeed();
      if (machine.Chance(0.3)) machine.Slew();
      const double true_per_ms = machine.counts_per_us() * 1000 / 0.9;
      ASSERT_LE(static_cast<double>(machine.per_ms()), true_per_ms) << "overestimated";
      for (int i = 0; i < 5; ++i, ++trials) Call(&machine, &calls, [](double) {});
      machine.Pass(std::exp(machine.Below(std::log(4e6))));
    }
  }
  std::cout << "# " << trials << " trials, " << calls.all << " calls without a clock, " << calls.late << " late\n";
  EXPECT_EQ(calls.late, 0);
  EXPECT_GT(calls.all, trials);
}

// One step of the counter, or one of the clock, does not make later spans longer.
TEST(Counter, IsNotMeasuredAcrossAStep) {
  auto random = SeededRandom(20261128);
  Calls calls;
  for (int64_t i = AtLength(1000, 20000); i > 0; --i) {
    Machine machine(&random, kSpeeds[random() % std::size(kSpeeds)]);
    for (int round = 0; round < 20; ++round) {
      machine.MeasureSpeed();
      if (round % 4 == 3) machine.MoveCounter((machine.Chance(0.5) ? 1 : -1) * std::exp(machine.Below(std::log(1e9))));
      Call(&machine, &calls, [](double) {});
      machine.Pass(2e3 + std::exp(machine.Below(std::log(4e6))));
    }
  }
  EXPECT_EQ(calls.late, 0);
  EXPECT_GT(calls.all, 10000);
}

// A counter that is moved while a process counts makes its calls late by no more than it lost: the
// bound of G3.
TEST(Counter, MakesCallsLateByWhatItLost) {
  auto random = SeededRandom(20261129);
  enum { kHalf, kThird, kDouble, kForward, kBack, kFarBack, kStands, kOther };
  const char *const names[] = {"half its speed", "a third of its speed", "double speed", "set forward",
                               "set back within the tick", "set back by a second", "stands still", "another processor's"};
  for (int which = kHalf; which <= kOther; ++which) {
    Calls calls;
    for (int64_t i = AtLength(4000, 40000); i > 0; --i) {
      Machine machine(&random, kSpeeds[random() % std::size(kSpeeds)]);
      for (int stretches = 0; stretches < 3; ++stretches, machine.Pass(1e6)) machine.MeasureSpeed();
      ASSERT_GT(machine.per_ms(), 0);
      if (which <= kDouble) machine.SetSpeed(which == kHalf ? 0.5 : which == kThird ? 1.0 / 3 : 2);
      bool moved = false;
      Call(&machine, &calls, [&](double left_us) {
        if (which <= kDouble || machine.Chance(0.8) || (moved && which != kOther)) return;
        moved = !moved;
        if (which == kForward) machine.MoveCounter(machine.Below(left_us));
        if (which == kBack) machine.MoveCounter(-machine.Below(left_us));
        if (which == kFarBack) machine.MoveCounter(-1e6);
        if (which == kOther) machine.MoveCounter((moved ? -0.5 : 0.5) * left_us);
        if (which != kStands) return;
        machine.SetSpeed(0);
        machine.Pass(machine.Below(1e5));
        machine.SetSpeed(1);
      });
    }
    std::cout << "# " << names[which] << ": of " << calls.all << " calls without a clock " << calls.late
              << " late, by up to " << calls.latest_us << " us\n";
    EXPECT_LE(calls.most_us, 0) << names[which];
    if (which == kHalf) {
      EXPECT_LE(calls.latest_us, 5000);
    }
    if (which == kBack || which == kOther) {
      EXPECT_LE(calls.latest_us, 10000);
    }
    if (which == kDouble || which == kForward || which == kFarBack) {
      EXPECT_EQ(calls.late, 0) << names[which];
    } else {
      EXPECT_GT(calls.late, 20) << names[which];
    }
  }
}

}  // namespace
}  // namespace snowflake
