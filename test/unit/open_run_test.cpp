// The run that all processes of a node issue from: its edges, and threads in place of processes.
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

int32_t IssueFrom(OpenRun *open, int32_t most, int32_t *first) {
  return Issue(&open->word, open->serial, open->run.count, most, first);
}

TEST(OpenRun, IssuesEachNumberOnce) {
  OpenRun open = {};
  int32_t first = -1;
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "none was ever open";
  BeginRun(&open, RunOf(10), 1, 5);
  EXPECT_EQ(open.until_us.load(), 5);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 1);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(IssueFrom(&open, 5, &first), 5);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(IssueFrom(&open, std::numeric_limits<int32_t>::max(), &first), 3) << "what is left";
  EXPECT_EQ(first, 7);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "used up";
  Generator g = Opened(kDefaultLayout, 7, 100, 200);
  g.next_sequence = 10;
  EXPECT_EQ(EndRun(&open, &g), 10);
  EXPECT_EQ(g.next_sequence, 10);
  EXPECT_EQ(open.until_us.load(), 0);
  EXPECT_EQ(EndRun(&open, &g), 0) << "none is open";
  EXPECT_EQ(g.next_sequence, 10);
  EXPECT_EQ(IssueFrom(&open, 1, &first), 0) << "it has ended";
}

TEST(OpenRun, EndGivesBackWhatIsLeft) {
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

TEST(OpenRun, LeavesOthersSome) {
  for (int32_t bits = 0; bits <= 22; ++bits) {
    const Layout layout = {0, 1000, 41 - std::max(bits - 12, 0), 0, 10, bits, false};
    EXPECT_EQ(MostAtOnce(layout), bits <= 4 ? 1 : std::min(1 << (bits - 4), kMostOfRun)) << bits;
  }
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
  // Each id with the count of the calls that had returned before it was requested, and after.
  struct Call {
    int64_t id;
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
    issued_ += EndRun(&open_, &g_);
  }

  int64_t changes() const { return changes_; }

  void Check() {
    std::vector<Call> all;
    for (const auto &calls : calls_) all.insert(all.end(), calls.begin(), calls.end());
    EXPECT_EQ(issued_, static_cast<int64_t>(all.size())) << "ids";
    std::sort(all.begin(), all.end(), [](const Call &a, const Call &b) { return a.id < b.id; });
    int64_t twice = 0, fell = 0, latest = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i > 0 && all[i].id == all[i - 1].id) ++twice;
      // A smaller id was requested after this one was returned.
      if (all[i].after < latest) ++fell;
      latest = std::max(latest, all[i].before);
    }
    EXPECT_EQ(twice, 0);
    EXPECT_EQ(fell, 0);
    EXPECT_EQ(late_, 0) << "issued from a run after it had ended";
  }

 private:
  void Session(std::vector<Call> *calls, int seed, int64_t count) {
    auto random = SeededRandom(static_cast<uint64_t>(20261127 + seed));
    uint64_t serial = 0;
    Run run = {};
    calls->reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t before = clock_.fetch_add(1);
      const uint64_t ended = ended_.load(std::memory_order_acquire);
      int32_t first = 0;
      if (serial == 0 || random() % 64 == 0 || Issue(&open_.word, serial, run.count, 1, &first) == 0) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (IssueFrom(&open_, 1, &first) == 0) {
          issued_ += EndRun(&open_, &g_);
          ended_.store(open_.serial, std::memory_order_release);
          Decision d = Take(&g_, now_, kMostOfRun, {5, 0});
          while (d.outcome != Outcome::kRun) d = Take(&g_, ++now_, kMostOfRun, {5, 0});
          BeginRun(&open_, d.run, 1, 1);
          first = 0;
        }
        run = open_.run;
        serial = open_.serial;
      } else if (serial <= ended) {
        ++late_;
      }
      calls->push_back(
          {kDefaultLayout.Pack({run.tick, run.worker, run.sequence + first}), before, clock_.fetch_add(1)});
    }
  }

  void Change() {
    auto random = SeededRandom(20261126);
    while (!stop_) {
      {
        std::lock_guard<std::mutex> lock(mutex_);
        issued_ += EndRun(&open_, &g_);
        ended_.store(open_.serial, std::memory_order_release);
        const uint64_t what = random() % 5;
        if (what == 0) RaiseTo(&g_, g_.last_tick);
        if (what == 1) Seal(&g_, now_ + 1);
        if (what == 2) ++now_;
        if (what == 3) {
          const Tick last = g_.last_tick;
          Lease lease = g_.lease;
          lease.worker ^= 1;
          Close(&g_);
          Open(&g_, kDefaultLayout, lease);
          RaiseTo(&g_, last);
        }
        ++changes_;
      }
      for (uint64_t i = random() % 2000; i > 0; --i) clock_.load(std::memory_order_relaxed);
    }
  }

  OpenRun open_ = {};
  Generator g_;
  Tick now_ = 100;
  std::mutex mutex_;
  int64_t issued_ = 0, changes_ = 0;
  std::atomic<uint64_t> ended_ = 0;  // the newest run of which nothing is issued any more
  std::atomic<int64_t> clock_ = 0, late_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<std::vector<Call>> calls_;
};

TEST(OpenRun, OfThreads) {
  constexpr int kThreads = 4;
  const int64_t calls = AtLength(200000, 2000000);
  Threads threads;
  threads.Go(kThreads, calls);
  threads.Check();
  std::cout << "# " << kThreads * calls << " calls of " << kThreads << " threads, " << threads.changes()
            << " trials (changes meanwhile)\n";
  EXPECT_GT(threads.changes(), 100);
}

}  // namespace
}  // namespace snowflake
