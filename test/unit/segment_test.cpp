// Optimized: it takes a second or a few, and ten or more without.
#include "core/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <vector>

#include "length.h"
#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kPeriod = 10 * kMinute;
constexpr int64_t kStart = 5000 * kSecond;

Segment Make(int64_t start = 1, int64_t step = 1000, int64_t max_value = INT64_MAX, int64_t max_step = 1000000) {
  return {start - 1, max_value, step, max_step, 0, 0, 0, 0};
}

Range Ask(Segment *segment, int64_t wanted) { return Allocate(segment, wanted, kStart, kPeriod); }

// Up to `count` numbers, one call after the other, as a node issues them.
std::vector<int64_t> Take(Ranges *ranges, int64_t count, int64_t now_us) {
  std::vector<int64_t> numbers;
  int64_t number = 0;
  while (static_cast<int64_t>(numbers.size()) < count) {
    if (TakeNumber(ranges, &number))
      numbers.push_back(number);
    else if (!UseNext(ranges, now_us))
      break;
    if (IsDue(*ranges)) Want(ranges);
  }
  if (numbers.empty()) Want(ranges);
  return numbers;
}

int64_t TakeOne(Ranges *ranges, int64_t now_us = kStart) {
  const std::vector<int64_t> numbers = Take(ranges, 1, now_us);
  return numbers.empty() ? 0 : numbers[0];
}

// A node that has one range and has used so many of its numbers by now.
Ranges Using(int64_t size, int64_t used) {
  Ranges ranges = {};
  PutRange(&ranges, {size, size});
  Take(&ranges, used, kStart);
  return ranges;
}

TEST(Segment, AllocatesWhatFollows) {
  Segment segment = Make(5);
  const Range first = Ask(&segment, 0);
  EXPECT_EQ(first.next(), 5);
  EXPECT_EQ(first.left, 1000) << "no less than a step";
  const Range second = Ask(&segment, 3000);
  EXPECT_EQ(second.next(), 1005);
  EXPECT_EQ(second.last, 4004);
  EXPECT_EQ(Ask(&segment, INT64_MAX).left, 1000000) << "no more than the longest step";
  EXPECT_EQ(Ask(&segment, INT64_MIN).left, 1000);
}

TEST(Segment, EndsAtItsEnd) {
  for (const int64_t max : {int64_t{7}, int64_t{INT32_MAX}, INT64_MAX}) {
    Segment segment = Make(max - 2, 1000, max);
    const Range last = Ask(&segment, 5000);
    EXPECT_EQ(last.next(), max - 2);
    EXPECT_EQ(last.last, max);
    EXPECT_EQ(Ask(&segment, 1).left, 0);
    SkipLost(&segment, kMostSkips);
    RaiseTo(&segment, max);
    RaiseTo(&segment, INT64_MAX);
    EXPECT_EQ(segment.last_value, max);
    Holding holding = {};
    HoldRange(&holding, last);
    EXPECT_TRUE(TakeBack(&segment, &holding, {max, 1}));
    EXPECT_EQ(Ask(&segment, 1).next(), max);
  }
}

TEST(Segment, TakesBackTheEndOfTheNewestRangeAlone) {
  Segment segment = Make();
  Holding one = {}, other = {};
  HoldRange(&one, Ask(&segment, 0));
  HoldRange(&other, Ask(&segment, 0));
  EXPECT_FALSE(TakeBack(&segment, &one, {1000, 500})) << "others were allocated above it";
  EXPECT_TRUE(TakeBack(&segment, &other, {2000, 400}));
  EXPECT_FALSE(TakeBack(&segment, &other, {2000, 400})) << "twice";
  EXPECT_FALSE(TakeBack(&segment, &other, {1600, 0}));
  EXPECT_FALSE(TakeBack(&segment, &other, {1600, -1}));
  EXPECT_FALSE(TakeBack(&segment, &other, {1600, 601})) << "more than it was given";
  for (const int64_t unused : {int64_t{1601}, INT64_MAX})
    EXPECT_FALSE(TakeBack(&segment, &other, {1600, unused})) << "more than there are numbers";
  EXPECT_FALSE(TakeBack(&segment, &one, {1600, 100})) << "another's";
  HoldRange(&one, Ask(&segment, 0));
  EXPECT_EQ(one.from, 1601);
  EXPECT_FALSE(TakeBack(&segment, &other, {2000, 400})) << "again, when it is another's";
  EXPECT_TRUE(TakeBack(&segment, &one, {2600, 1000}));
  EXPECT_EQ(one.to, 0) << "nothing is left";
  EXPECT_EQ(Ask(&segment, 0).next(), 1601);
}

TEST(Segment, TakesBackTwoRangesThatFollowOnEachOther) {
  Segment segment = Make();
  Holding holding = {};
  for (int i = 0; i < 3; ++i) HoldRange(&holding, Ask(&segment, 0));
  EXPECT_EQ(holding.from, 1001);
  EXPECT_FALSE(TakeBack(&segment, &holding, {3000, 2001}));
  EXPECT_TRUE(TakeBack(&segment, &holding, {3000, 1500}));
  EXPECT_EQ(segment.last_value, 1500);
  EXPECT_EQ(holding.newest, 1001);
  EXPECT_TRUE(TakeBack(&segment, &holding, {1500, 500}));
  EXPECT_EQ(segment.last_value, 1000);
}

TEST(Segment, BelievesEvidenceWithinBounds) {
  Segment segment = Make(1, 10, INT32_MAX, 100);
  Ask(&segment, 0);
  EXPECT_FALSE(IsEvidence(segment, 10));
  EXPECT_TRUE(IsEvidence(segment, 11));
  EXPECT_TRUE(IsNumberBelieved(segment, 11));
  EXPECT_TRUE(IsNumberBelieved(segment, 10 + 100 * kRangesBelieved));
  EXPECT_FALSE(IsNumberBelieved(segment, 10 + 101 * kRangesBelieved));
  EXPECT_FALSE(IsNumberBelieved(segment, INT64_MAX));
}

TEST(Segment, IsRaisedAndNeverLowered) {
  Segment segment = Make();
  RaiseTo(&segment, 500);
  EXPECT_EQ(Ask(&segment, 0).next(), 500);
  for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{1500}, INT64_MIN + 1}) RaiseTo(&segment, value);
  EXPECT_EQ(Ask(&segment, 0).next(), 1500);
}

TEST(Segment, SkipsWhatMayBeLost) {
  Segment segment = Make();
  SkipLost(&segment, 1);
  EXPECT_EQ(segment.last_value, 10000) << "ten ranges at least";
  for (int i = 0; i < 50; ++i) Allocate(&segment, 0, kStart + i * kMinute / 10, kPeriod);
  int64_t before = segment.last_value;
  SkipLost(&segment, 1);
  EXPECT_EQ(segment.last_value - before, 50000) << "as much as of late";
  Allocate(&segment, 20000, kStart + 3 * kPeriod, kPeriod);
  before = segment.last_value;
  SkipLost(&segment, 1);
  EXPECT_EQ(segment.last_value - before, 200000) << "ten of the newest one's size";
}

// A clock that is set forward seems to begin a period long after the one before.
TEST(Segment, SkipsWhatWasAllocatedBeforeALeap) {
  Segment segment = Make();
  for (int i = 0; i < 50; ++i) Ask(&segment, 0);
  Allocate(&segment, 0, kStart + 100 * kPeriod, kPeriod);
  const int64_t before = segment.last_value;
  SkipLost(&segment, 1);
  EXPECT_EQ(segment.last_value - before, 51000);
}

// Whenever it fails, the numbers that were allocated in the period before are covered, also if the
// present period has just begun.
TEST(Segment, SkipsNoLessThanAPeriodAllocated) {
  std::mt19937_64 random = SeededRandom(20261123);
  Segment segment = Make();
  std::vector<std::pair<int64_t, int64_t>> handed;
  int64_t now_us = kStart;
  for (int i = 0; i < 20000; ++i) {
    now_us += Below(&random, i % 100 == 0 ? 3 * kPeriod : kPeriod / 20);
    handed.push_back({now_us, Allocate(&segment, Below(&random, 5000), now_us, kPeriod).left});
    int64_t within = 0;
    for (size_t k = handed.size(); k-- > 0 && handed[k].first > now_us - kPeriod;) within += handed[k].second;
    Segment copy = segment;
    SkipLost(&copy, 1);
    ASSERT_GE(copy.last_value - segment.last_value, within) << i;
  }
  std::cout << "# trials 20000 failovers" << std::endl;
}

// The standby knows of up to three losses, after each of which numbers are skipped. The registry
// may have detected one more, or was just promoted. It allocates ten ranges. Then it fails over,
// and everything that the standby does not know is lost. No number is allocated twice.
TEST(Segment, SkipsWhatWasSkippedBefore) {
  constexpr int kFailovers = 40000;
  std::mt19937_64 random = SeededRandom(20261125);
  int lost_skips = 0, lost_failovers = 0;
  for (int i = 0; i < kFailovers; ++i) {
    Segment segment = Make();
    int64_t now_us = kStart;
    int32_t skips = 0;
    const int64_t size = 1000 + Below(&random, 5000);
    const auto hand_out = [&] {
      now_us += Below(&random, kPeriod / 20);
      if (skips > 0) SkipLost(&segment, skips);
      skips = 0;
      return Allocate(&segment, size, now_us, kPeriod);
    };
    for (int64_t before = 1 + Below(&random, 30); before > 0; --before) hand_out();
    const Segment standby = segment;
    const int32_t known = skips = static_cast<int32_t>(Below(&random, 4));
    const int64_t promotions = 1 + Below(&random, 2);
    const int64_t notices = promotions == 1 ? Below(&random, 2 * kSkippedRanges) : -1;
    if (promotions > 1) skips += SkipsOf(1), ++lost_failovers;
    int64_t last = 0;
    for (int64_t range = 0; range < kSkippedRanges; ++range) {
      if (range == notices) ++skips, ++lost_skips;
      last = hand_out().last;
    }
    segment = standby;
    skips = known + SkipsOf(promotions);
    ASSERT_GT(hand_out().next(), last) << "failover " << i;
  }
  std::cout << "# trials " << kFailovers << " failovers, " << lost_skips << " lost losses, "
            << lost_failovers << " lost failovers" << std::endl;
  EXPECT_GT(lost_skips, kFailovers / 6);
  EXPECT_GT(lost_failovers, kFailovers / 3);
}

TEST(Ranges, AreUsedOneAfterTheOther) {
  Ranges ranges = {};
  EXPECT_EQ(TakeOne(&ranges), 0);
  EXPECT_TRUE(ranges.wanted);
  EXPECT_TRUE(PutRange(&ranges, {100, 100}));
  EXPECT_FALSE(ranges.wanted);
  EXPECT_EQ(Take(&ranges, 9, kStart).back(), 9);
  EXPECT_FALSE(ranges.wanted);
  EXPECT_EQ(TakeOne(&ranges), 10);
  EXPECT_TRUE(ranges.wanted) << "a tenth is used up";
  EXPECT_TRUE(PutRange(&ranges, {1100, 100}));
  EXPECT_FALSE(PutRange(&ranges, {1200, 100})) << "there is one already";
  EXPECT_EQ(Take(&ranges, 91, kStart + 2).back(), 1001);
  EXPECT_EQ(ranges.lasted_us, 2) << "the one before";
  EXPECT_EQ(ranges.size_before, 100);
}

TEST(Ranges, ARangeOfOneNumberIsOne) {
  Ranges ranges = {};
  PutRange(&ranges, {7, 1});
  EXPECT_EQ(TakeOne(&ranges), 7);
  EXPECT_TRUE(ranges.wanted);
  EXPECT_EQ(TakeOne(&ranges), 0);
  PutRange(&ranges, {INT64_MAX, 2});
  EXPECT_EQ(TakeOne(&ranges), INT64_MAX - 1);
  EXPECT_EQ(TakeOne(&ranges), INT64_MAX);
  EXPECT_EQ(TakeOne(&ranges), 0);
  EXPECT_EQ(CloseRanges(&ranges).left, 0);
  EXPECT_EQ(ranges.issued, INT64_MAX);
}

TEST(Ranges, AskOnceForEach) {
  Ranges ranges = Using(100, 10);
  EXPECT_TRUE(ranges.wanted);
  ranges.wanted = false;  // the segment is used up
  Take(&ranges, 90, kStart);
  EXPECT_FALSE(ranges.wanted) << "nobody waits yet";
  EXPECT_EQ(TakeOne(&ranges), 0);
  EXPECT_TRUE(ranges.wanted);
}

TEST(Ranges, AreRaised) {
  Ranges ranges = Using(100, 30);
  PutRange(&ranges, {200, 100});
  RaiseTo(&ranges, 31);
  EXPECT_EQ(ranges.current.left, 70);
  RaiseTo(&ranges, 90);
  EXPECT_EQ(TakeOne(&ranges), 90);
  RaiseTo(&ranges, 120);
  EXPECT_EQ(TakeOne(&ranges), 120);
  RaiseTo(&ranges, 5);
  EXPECT_EQ(TakeOne(&ranges), 121);
  RaiseTo(&ranges, 1000);
  EXPECT_EQ(TakeOne(&ranges), 0);
  PutRange(&ranges, {1100, 200});
  EXPECT_EQ(TakeOne(&ranges), 1000) << "a part of it came from before";
}

TEST(Ranges, ForgetARaiseThatWasRolledBack) {
  Ranges ranges = Using(100, 30);
  RaiseTo(&ranges, 1000);
  PutRange(&ranges, {200, 100});
  EXPECT_TRUE(ranges.wanted) << "it may have been under way";
  EXPECT_EQ(TakeOne(&ranges), 0);
  PutRange(&ranges, {300, 100});
  EXPECT_EQ(TakeOne(&ranges), 201);
}

TEST(Ranges, OfAnotherSegmentKeepARaiseSinceTheRequest) {
  for (Ranges ranges : {Ranges{}, Using(100, 30)}) {
    RaiseTo(&ranges, 5000);
    const int64_t asked_with = ranges.floor;
    BeginSegment(&ranges, asked_with - 1);
    EXPECT_TRUE(IsPlausible(ranges, {50, 50})) << "numbers of another segment";
    PutRange(&ranges, {1000, 1000});
    EXPECT_EQ(TakeOne(&ranges), 0) << "it was under way";
    PutRange(&ranges, {5999, 1000});
    EXPECT_EQ(TakeOne(&ranges), 5000);
    BeginSegment(&ranges, ranges.floor);
    PutRange(&ranges, {1000, 1000});
    EXPECT_EQ(TakeOne(&ranges), 1) << "the raise was of the segment before";
  }
}

TEST(Ranges, TakeNoAnswerThatCannotBe) {
  Ranges ranges = {};
  PutRange(&ranges, {100, 50});
  EXPECT_TRUE(IsPlausible(ranges, {200, 100}));
  EXPECT_FALSE(IsPlausible(ranges, {200, 101})) << "a number that came before";
  EXPECT_FALSE(IsPlausible(ranges, {100, 50}));
  EXPECT_FALSE(IsPlausible(ranges, {200, 0}));
  EXPECT_FALSE(IsPlausible({}, {5, 6})) << "0 is no number";
  EXPECT_FALSE(IsPlausible({}, {INT64_MIN, 1}));
  TakeOne(&ranges);
  CloseRanges(&ranges);
  EXPECT_TRUE(IsPlausible(ranges, {100, 49})) << "what went back may come again";
  EXPECT_FALSE(IsPlausible(ranges, {100, 50}));
}

TEST(Ranges, GoBackTogetherWhereTheyFollow) {
  Ranges ranges = Using(100, 30);
  EXPECT_EQ(CloseRanges(&ranges).left, 70);
  EXPECT_EQ(ranges.current.left + ranges.next.left, 0);
  ranges = Using(100, 30);
  PutRange(&ranges, {150, 50});
  EXPECT_EQ(CloseRanges(&ranges).next(), 31);
  ranges = Using(100, 30);
  PutRange(&ranges, {151, 50});
  EXPECT_EQ(CloseRanges(&ranges).next(), 102);
  ranges = {};
  EXPECT_EQ(CloseRanges(&ranges).left, 0);
}

TEST(Ranges, AsksForWhatLasts) {
  EXPECT_EQ(SizeToAskFor({}, kStart, kSecond), 0) << "the first: a step";
  Ranges ranges = Using(1000, 100);
  EXPECT_EQ(SizeToAskFor(ranges, kStart + kMinute, kMs), 2000) << "it would last for ten minutes";
  EXPECT_EQ(SizeToAskFor(ranges, kStart + 2 * kMinute, kMs), 1000) << "... twenty";
  EXPECT_EQ(SizeToAskFor(ranges, kStart + 4 * kMinute, kMs), 500) << "... forty";
  ranges.size_before = 1000;
  ranges.lasted_us = kMinute;
  EXPECT_EQ(SizeToAskFor(ranges, kStart + 4 * kMinute, kMs), 2000) << "but the one before was short";
}

// A hundred thousand numbers a second, with a registry that takes 200 ms: if ranges only doubled,
// calls would be without numbers eight times.
TEST(Ranges, KeepUpWithARegistryThatIsFarAway) {
  constexpr int64_t answer_us = 200 * kMs, rate_per_ms = 100;
  Segment segment = Make();
  Ranges ranges = {};
  int64_t arrives_us = 0, missing_ms = 0, last_missing_ms = 0;
  Range under_way = {};
  for (int64_t ms = 0; ms < 60000; ++ms) {
    const int64_t now_us = kStart + ms * kMs;
    if (arrives_us != 0 && arrives_us <= now_us) {
      PutRange(&ranges, under_way);
      arrives_us = 0;
    }
    if (Take(&ranges, rate_per_ms, now_us).size() < rate_per_ms) ++missing_ms, last_missing_ms = ms;
    if (ranges.wanted && arrives_us == 0) {
      under_way = Allocate(&segment, SizeToAskFor(ranges, now_us, answer_us), now_us, kPeriod);
      arrives_us = now_us + answer_us;
    }
  }
  EXPECT_LT(last_missing_ms, 1000) << "after the first second nobody waits";
  std::cout << "# figures: " << missing_ms << " ms without numbers, the last after " << last_missing_ms << " ms"
            << std::endl;
}

// A burst uses up a tenth of the first range at once, while the registry takes 5 s to respond.
TEST(Ranges, ABurstAsksForNoMoreThanItUsed) {
  Ranges ranges = Using(1000, 100);
  EXPECT_EQ(SizeToAskFor(ranges, kStart + 50, 5 * kSecond), 2000) << "doubled, as eight times 100 is less";
  PutRange(&ranges, {3000, 2000});
  Take(&ranges, 900 + 200, kStart + 500);
  EXPECT_EQ(SizeToAskFor(ranges, kStart + 600, 5 * kSecond), 8 * 1200) << "eight times what it used";
}

// Loads of every kind, with bursts, with registries of every distance, whose response times vary
// and are sometimes very long. The test counts the numbers that a crash would cost, and how long
// calls are without numbers.
TEST(SegmentProperty, RangesFollowTheRate) {
  std::mt19937_64 random = SeededRandom(20261125);
  const auto below = [&](int64_t limit) { return Below(&random, limit); };
  const auto magnitude = [&](int64_t least, int decades) {
    double value = static_cast<double>(least);
    for (int64_t i = below(decades * 10); i > 0; --i) value *= 1.2589;
    return static_cast<int64_t>(value);
  };
  constexpr int64_t kSecondsEach = 120;
  const int64_t worlds = AtLength(60, 300);
  int64_t used = 0, taken = 0, stalled_ms = 0, stalled_late_ms = 0;
  std::vector<double> factors;
  for (int world = 0; world < worlds; ++world) {
    const int64_t steady_per_s = magnitude(1, 4), burst = magnitude(100, 3), burst_every_ms = magnitude(500, 2);
    const int64_t typical_us = magnitude(kMs, 2);
    std::mt19937_64 answers(random());  // a separate generator, so that the loads do not depend on the decisions
    Segment segment = Make();
    Ranges ranges = {};
    int64_t arrives_us = 0, asked_us = 0, answer_us = 0, missing = 0, used_here = 0;
    Range under_way = {};
    for (int64_t ms = 0; ms < kSecondsEach * 1000; ++ms) {
      const int64_t now_us = kStart + ms * kMs;
      if (arrives_us != 0 && arrives_us <= now_us) {
        answer_us = now_us - asked_us;
        PutRange(&ranges, under_way);
        arrives_us = 0;
      }
      // Callers wait for missing numbers. A client of a bulk load gets a thousand in a millisecond.
      missing += steady_per_s * (ms + 1) / 1000 - steady_per_s * ms / 1000;
      if (below(burst_every_ms) == 0) missing += burst;
      const int64_t asked = std::min<int64_t>(missing, 1000);
      const int64_t got = static_cast<int64_t>(Take(&ranges, asked, now_us).size());
      missing -= got;
      used_here += got;
      if (got < asked) ++stalled_ms, stalled_late_ms += ms >= 10000;
      if (ranges.wanted && arrives_us == 0) {
        under_way = Allocate(&segment, SizeToAskFor(ranges, now_us, answer_us), now_us, kPeriod);
        const int64_t late = Below(&answers, 20) == 0 ? 20 : 1;
        asked_us = now_us;
        arrives_us = now_us + typical_us * late * (50 + Below(&answers, 100)) / 100;
      }
    }
    used += used_here;
    taken += segment.last_value;
    factors.push_back(static_cast<double>(segment.last_value) / static_cast<double>(used_here + 2000));
  }
  std::sort(factors.begin(), factors.end());
  std::cout << "# figures: " << worlds << " loads of " << kSecondsEach << " s: " << taken << " numbers taken for "
            << used << " used; of one load at most " << factors.back() << " times, in the median "
            << factors[factors.size() / 2] << "; callers waited "
            << static_cast<double>(stalled_ms) / (worlds * kSecondsEach) << " ms in a second, after the first 10 s "
            << static_cast<double>(stalled_late_ms) / (worlds * (kSecondsEach - 10)) << std::endl;
  EXPECT_LT(factors.back(), 12) << "what is taken follows what is used";
  EXPECT_LT(stalled_late_ms, worlds * (kSecondsEach - 10) / 10) << "and callers hardly ever wait";
}

// G11. Nodes take numbers, crash, are shut down and request ranges; responses are lost or late; the
// segment is raised. No number appears twice, and none is below a raise.
TEST(SegmentProperty, NoNumberTwice) {
  std::mt19937_64 random = SeededRandom(20261124);
  const auto below = [&](int64_t limit) { return Below(&random, limit); };
  int64_t trials = 0, issued = 0, without_gaps = 0;
  for (int64_t world = 0, worlds = AtLength(100, 300); world < worlds; ++world) {
    const int64_t first = 1 + below(3);
    Segment segment = Make(first, 1 + below(50), below(2) ? INT64_MAX : 20000, 50 + below(1000));
    const bool faults = below(2) > 0;
    struct Node {
      Ranges ranges;
      Holding holding;
    };
    std::vector<Node> nodes(static_cast<size_t>(1 + below(4)));
    std::set<int64_t> seen;
    int64_t now_us = kStart;
    bool lost = false;
    const auto return_range = [&](Node *node, const Range &rest) {
      lost |= rest.left > 0 && !TakeBack(&segment, &node->holding, rest);
      EXPECT_FALSE(TakeBack(&segment, &node->holding, rest)) << "asked again";
    };
    for (int step = 0; step < 2000; ++step, ++trials) {
      now_us += below(kSecond);
      Node *node = &nodes[static_cast<size_t>(below(static_cast<int64_t>(nodes.size())))];
      Ranges *ranges = &node->ranges;
      switch (faults ? below(20) : 4 + below(16)) {
        case 0:
          lost |= ranges->current.left + ranges->next.left > 0;
          *node = {};
          break;
        case 1: {
          const int64_t left = ranges->current.left + ranges->next.left;
          const Range rest = CloseRanges(ranges);
          lost |= rest.left < left;
          return_range(node, rest);
          break;
        }
        case 2:
          if (below(10) > 0) break;
          RaiseTo(&segment, segment.last_value + below(100));
          lost = true;
          break;
        case 3:
          if (below(10) > 0) break;
          SkipLost(&segment, 1);
          lost = true;
          break;
        case 4:
        case 5:
        case 6: {
          const Range range = Allocate(&segment, SizeToAskFor(*ranges, now_us, below(kSecond)), now_us, kPeriod);
          if (range.left == 0) break;
          HoldRange(&node->holding, range);
          ASSERT_TRUE(IsPlausible(*ranges, range));
          ASSERT_FALSE(IsEvidence(segment, Highest(*ranges)));
          if (faults && below(10) == 0)
            lost = true;
          else if (!PutRange(ranges, range))
            return_range(node, range);
          break;
        }
        default:
          for (const int64_t number : Take(ranges, 1 + below(30), now_us)) {
            ASSERT_TRUE(seen.insert(number).second) << "world " << world;
            ++issued;
          }
      }
    }
    ASSERT_LE(seen.empty() ? 0 : *seen.rbegin(), segment.max_value);
    if (lost) continue;
    // All allocated numbers are issued, or some node has them.
    int64_t held = 0;
    for (const Node &node : nodes) held += node.ranges.current.left + node.ranges.next.left;
    ASSERT_EQ(static_cast<int64_t>(seen.size()) + held, segment.last_value - first + 1) << "world " << world;
    ++without_gaps;
  }
  std::cout << "# trials " << trials << " steps, " << issued << " numbers, 0 duplicates, " << without_gaps
            << " worlds without a gap" << std::endl;
}

}  // namespace
}  // namespace snowflake
