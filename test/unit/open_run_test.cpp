// The run that all processes of a node issue from: its edges, and threads in place of processes.
//
// Optimized: its threads run for a second, and for five without.
#include "core/open_run.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "length.h"
#include "opened.h"
#include "random.h"

namespace snowflake {
namespace {
constexpr uint64_t kHighestSerial = (uint64_t{1} << (64 - kIssuedBits)) - 1;

Run RunOf(int32_t count) { return {100, 7, 0, count}; }

// A generator that has taken this run.
Generator TakenFrom(const Run &run) {
  Generator g = Opened(kDefaultLayout, run.worker, run.tick, run.tick + 100);
  g.last_tick = run.tick;
  g.next_sequence = run.sequence + run.count;
  return g;
}

int32_t IssueFrom(OpenRun *open, int32_t most, int32_t *first) {
  return Issue(&open->word, open->serial, open->run.count, most, first);
}

TEST(OpenRun, IssuesEachNumberOnce) {
  OpenRun open = {};
  int32_t first = -1;
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "none was ever open";
  BeginRun(&open, RunOf(10), 1, 5);
  EXPECT_EQ(open.until_us.load(), 5);
  EXPECT_EQ(IssueFrom(&open, 0, &first), 0) << "none was wanted";
  EXPECT_EQ(IssueFrom(&open, 1, &first), 1);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(IssueFrom(&open, 5, &first), 5);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(IssueFrom(&open, std::numeric_limits<int32_t>::max(), &first), 3) << "what is left";
  EXPECT_EQ(first, 7);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "used up";
  Generator g = TakenFrom(RunOf(10));
  EXPECT_EQ(EndRun(&open, &g), 10);
  EXPECT_EQ(g.next_sequence, 10);
  EXPECT_EQ(open.until_us.load(), 0);
  EXPECT_EQ(EndRun(&open, &g), 0) << "none is open";
  EXPECT_EQ(g.next_sequence, 10);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "it has ended";
}

TEST(OpenRun, OfOneNumber) {
  Generator g = Opened(kDefaultLayout, 7, 100, 200);
  OpenRun open = {};
  BeginRun(&open, Take(&g, 100, 1, {5, 0}).run, 1, 1);
  int32_t first = 0;
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0);
  EXPECT_EQ(EndRun(&open, &g), 1);
  EXPECT_EQ(Take(&g, 100, 1, {5, 0}).run.sequence, 1);
}

TEST(OpenRun, OfAsManyNumbersAsTheWordCounts) {
  Generator g = TakenFrom(RunOf(kMostOfRun));
  OpenRun open = {};
  BeginRun(&open, RunOf(kMostOfRun), 1, 1);
  int32_t first = 0;
  for (int32_t issued = 1; issued < kMostOfRun; ++issued) {
    ASSERT_EQ(IssueFrom(&open, 1, &first), 1);
    ASSERT_EQ(first, issued);
  }
  for (const int32_t most : {1, std::numeric_limits<int32_t>::max()}) EXPECT_EQ(IssueFrom(&open, most, &first), 0);
  EXPECT_EQ(open.word >> kIssuedBits, open.serial);
  EXPECT_EQ(EndRun(&open, &g), kMostOfRun);
}

TEST(OpenRun, EndReturnsWhatIsLeft) {
  for (const int32_t issued : {1, 2, 255, 4094, 4095, 4096}) {
    Generator g = Opened(kDefaultLayout, 7, 100, 200);
    OpenRun open = {};
    const auto run = Take(&g, 100, kMostOfRun, {5, 0}).run;
    ASSERT_EQ(run.count, 4096);
    BeginRun(&open, run, 1, 1);
    int32_t first = 0;
    if (issued > 1) {
      ASSERT_EQ(IssueFrom(&open, issued - 1, &first), issued - 1);
    }
    EXPECT_EQ(EndRun(&open, &g), issued);
    const auto next = Take(&g, 100, kMostOfRun, {5, 0}).run;
    EXPECT_EQ(next.tick, issued < 4096 ? 100 : 101);
    EXPECT_EQ(next.sequence, issued % 4096);
  }
}

TEST(OpenRun, ServesNobodyWhoKnowsAnother) {
  OpenRun open = {};
  int32_t first = 0;
  for (const uint64_t serial : {uint64_t{0}, uint64_t{1}, uint64_t{41}, kHighestSerial - 2}) {
    open.serial = serial;
    BeginRun(&open, RunOf(kMostOfRun), 1, 1);
    for (const int32_t count : {1, 2, kMostOfRun}) {
      for (const uint64_t other : {serial + 2, serial + 3, kHighestSerial, kHighestSerial - 1, serial}) {
        if (other == 0 || other == open.serial) continue;
        EXPECT_EQ(Issue(&open.word, other, count, 1, &first), 0) << other << " instead of " << open.serial;
      }
    }
    EXPECT_EQ(IssueFrom(&open, 1, &first), 1);
    open.word = 0;
    for (const uint64_t other : {uint64_t{1}, open.serial, kHighestSerial})
      EXPECT_EQ(Issue(&open.word, other, kMostOfRun, 1, &first), 0) << "none is open";
  }
}

// The next number has the word of no run, and then words come again.
TEST(OpenRun, HasNumbersForEightYears) {
  constexpr int64_t kRunsOfAYear = int64_t{1000000} * 3600 * 24 * 366;
  EXPECT_GE(static_cast<int64_t>(kHighestSerial) / kRunsOfAYear, 8);
  EXPECT_EQ(WordOf(kHighestSerial + 1), 0u);
  EXPECT_EQ(WordOf(kHighestSerial + 2), WordOf(1));

  Generator g = TakenFrom(RunOf(kMostOfRun));
  OpenRun open = {};
  open.serial = kHighestSerial - 1;
  BeginRun(&open, RunOf(kMostOfRun), 1, 1);
  EXPECT_EQ(open.serial, kHighestSerial);
  int32_t first = 0;
  EXPECT_EQ(IssueFrom(&open, kMostOfRun, &first), kMostOfRun - 1);
  EXPECT_EQ(open.word, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "used up";
  EXPECT_EQ(EndRun(&open, &g), kMostOfRun);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "it has ended";
}

TEST(OpenRun, LeavesOthersSome) {
  for (int32_t bits = 0; bits <= kMaxFieldBits; ++bits) {
    const Layout layout = {0, 1000, 22, 0, 10, bits, false};
    EXPECT_EQ(MostAtOnce(layout), bits <= 4 ? 1 : std::min(1 << (bits - 4), kMostOfRun)) << bits;
  }
}

TEST(OpenRun, HasTheLastNumbersOfTheLargestTick) {
  const Layout layout = {0, 1000, 22, 0, 10, kMaxFieldBits, false};
  Generator g = Opened(layout, 1023, layout.max_tick() - 1, layout.max_tick() + 1);
  g.last_tick = layout.max_tick();
  g.next_sequence = layout.sequence_count() - kMostOfRun;
  OpenRun open = {};
  for (const int32_t issued : {kMostOfRun - 1, 1}) {
    const Decision d = Take(&g, layout.max_tick(), kMostOfRun, {1, 0});
    ASSERT_EQ(d.outcome, Outcome::kRun);
    BeginRun(&open, d.run, issued, 1);
    ASSERT_EQ(EndRun(&open, &g), issued);
    const Parts last = {d.run.tick, d.run.worker, d.run.sequence + (issued - 1)};
    EXPECT_EQ(layout.Unpack(layout.Pack(last)).sequence, last.sequence);
  }
  EXPECT_EQ(g.next_sequence, layout.sequence_count());
  EXPECT_EQ(Take(&g, layout.max_tick(), 1, {1, 0}).outcome, Outcome::kTimeUsedUp);
}

// A tick with more numbers than a run has.
TEST(OpenRun, CoversAPartOfALargeTick) {
  const Layout layout = {0, 1000000, 31, 0, 10, 22, false};
  Generator g = Opened(layout, 7, 100, 200);
  OpenRun open = {};
  int64_t next = 0;
  while (next < layout.sequence_count()) {
    const Decision d = Take(&g, 100, kMostOfRun, {1, 0});
    ASSERT_EQ(d.outcome, Outcome::kRun);
    ASSERT_EQ(d.run.tick, 100);
    ASSERT_EQ(d.run.sequence, next);
    BeginRun(&open, d.run, 1, 1);
    int32_t first = 0;
    // All of it, or a part.
    const int32_t issued = next % 3 == 0 || d.run.count < 1000 ? d.run.count : 1000;
    if (issued > 1) {
      ASSERT_EQ(IssueFrom(&open, issued - 1, &first), issued - 1);
    }
    ASSERT_EQ(EndRun(&open, &g), issued);
    next += issued;
  }
  EXPECT_EQ(Take(&g, 100, 1, {1, 0}).run.tick, 101);
}

// Threads issue from what they know of a run, while others end runs, raise ids, seal and change the
// lease, under a mutex in place of the generator's lock.
class Threads {
 public:
  // A call's ids, and how many calls had begun or returned when it began and when it returned.
  struct Call {
    int64_t first, last;
    int64_t before, after;
  };

  Threads() : g_(Opened(kDefaultLayout, 1, 0, Tick{1} << 40)) {}

  void Go(int threads, int64_t calls) {
    std::vector<std::thread> all;
    calls_.resize(static_cast<size_t>(threads));
    for (int i = 0; i < threads; ++i)
      all.emplace_back([this, i, calls] { Session(&calls_[static_cast<size_t>(i)], i, calls); });
    std::thread other([this] { Change(); });
    for (std::thread &thread : all) thread.join();
    stop_ = true;
    other.join();
    std::lock_guard<std::mutex> lock(mutex_);
    EndOpenRun();
  }

  int64_t changes() const { return changes_; }
  int64_t too_late() const { return too_late_; }

  void Check() {
    std::vector<Call> all;
    int64_t fell_of_one = 0, ids = 0;
    for (auto &calls : calls_) {
      for (size_t i = 1; i < calls.size(); ++i) fell_of_one += calls[i].first <= calls[i - 1].last;
      all.insert(all.end(), calls.begin(), calls.end());
      std::vector<Call>().swap(calls);
    }
    std::sort(all.begin(), all.end(), [](const Call &a, const Call &b) { return a.first < b.first; });
    int64_t twice = 0, fell = 0, latest = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      ids += all[i].last - all[i].first + 1;
      if (i > 0 && all[i].first <= all[i - 1].last) ++twice;
      // A smaller id was requested after this one was returned.
      if (all[i].after < latest) ++fell;
      latest = std::max(latest, all[i].before);
    }
    EXPECT_EQ(issued_, ids);
    EXPECT_EQ(twice, 0);
    EXPECT_EQ(fell_of_one, 0);
    EXPECT_EQ(fell, 0);
    EXPECT_EQ(late_, 0) << "issued from a run after it had ended";
  }

 private:
  // What a thread knows of a run.
  struct Known {
    uint64_t serial;  // 0: of none
    Run run;
  };

  // Order: release and acquire, as of whatever tells a process that another's call has returned.
  int64_t CountCall() { return clock_.fetch_add(1, std::memory_order_acq_rel); }

  void Session(std::vector<Call> *calls, int seed, int64_t count) {
    auto random = SeededRandom(static_cast<uint64_t>(20261127 + seed));
    Known known = {}, former = {};
    calls->reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int32_t most = random() % 8 == 0 ? 5 : 1;
      const int64_t before = CountCall();
      // On few processors threads seldom change in the middle of a call.
      if (random() % 128 == 0) std::this_thread::yield();
      const uint64_t ended = ended_.load(std::memory_order_acquire);
      int32_t first = 0, issued = 0;
      if (former.serial != 0 && random() % 16 == 0)
        late_ += Issue(&open_.word, former.serial, former.run.count, most, &first) > 0;
      if (known.serial != 0 && random() % 64 != 0) {
        issued = Issue(&open_.word, known.serial, known.run.count, most, &first);
        if (known.serial <= ended) ++(issued > 0 ? late_ : too_late_);
      }
      if (issued == 0) {
        if (known.serial < ended) former = known;
        issued = IssueUnderLock(most, &known, &first);
      }
      const int32_t sequence = known.run.sequence + first;
      calls->push_back({kDefaultLayout.Pack({known.run.tick, known.run.worker, sequence}),
                        kDefaultLayout.Pack({known.run.tick, known.run.worker, sequence + (issued - 1)}), before,
                        CountCall()});
    }
  }

  int32_t IssueUnderLock(int32_t most, Known *known, int32_t *first) {
    std::lock_guard<std::mutex> lock(mutex_);
    int32_t issued = IssueFrom(&open_, most, first);
    if (issued == 0) {
      EndOpenRun();
      Decision d = Take(&g_, now_, kMostOfRun, {5, 0});
      while (d.outcome != Outcome::kRun) d = Take(&g_, ++now_, kMostOfRun, {5, 0});
      issued = std::min(most, d.run.count);
      BeginRun(&open_, d.run, issued, 1);
      *first = 0;
    }
    *known = {open_.serial, open_.run};
    return issued;
  }

  // Requires: the mutex.
  void EndOpenRun() {
    issued_ += EndRun(&open_, &g_);
    ended_.store(open_.serial, std::memory_order_release);
  }

  void Change() {
    auto random = SeededRandom(20261126);
    while (!stop_) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        EndOpenRun();
        const uint64_t what = random() % 5;
        if (what == 0) PassTick(&g_, g_.last_tick);
        if (what == 1) Seal(&g_, now_ + 1);
        if (what == 2) ++now_;
        if (what == 3) {
          const Tick last = g_.last_tick;
          Lease lease = g_.lease;
          lease.worker ^= 1;
          Close(&g_);
          Open(&g_, kDefaultLayout, lease);
          PassTick(&g_, last);
        }
        ++changes_;
      }
      std::this_thread::yield();
      for (uint64_t i = random() % 2000; i > 0; --i) clock_.load(std::memory_order_relaxed);
    }
  }

  OpenRun open_ = {};
  Generator g_;
  Tick now_ = 100;
  std::mutex mutex_;
  int64_t issued_ = 0, changes_ = 0;
  std::atomic<uint64_t> ended_ = 0;  // the newest run of which nothing is issued any more
  std::atomic<int64_t> clock_ = 0, late_ = 0, too_late_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::vector<Call>> calls_;
};

TEST(OpenRun, OfThreads) {
  constexpr int kThreads = 4;
  const int64_t calls = AtLength(750000, 2000000);
  Threads threads;
  threads.Go(kThreads, calls);
  threads.Check();
  std::cout << "# " << kThreads * calls << " calls of " << kThreads << " threads, " << threads.too_late()
            << " with a run that had ended, " << threads.changes() << " trials (changes meanwhile)\n";
  EXPECT_GT(threads.changes(), 100);
  EXPECT_GT(threads.too_late(), 1000);
}

}  // namespace
}  // namespace snowflake
