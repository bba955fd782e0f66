// The open run: a run of the generator that all processes of a node issue from, without its lock.
//
// 1. One word has the run's serial number and how many of its numbers are issued. Whoever issues
//    changes it, so ids have one order, that of its changes: no id that is requested after another
//    was returned is smaller (G2).
// 2. A run takes the rest of a tick. Its end returns what was not issued, so nothing is wasted.
//    While a run is open, the generator counts all its numbers as taken.
// 3. Whatever reads how far ids are, or changes the generator or the clock, ends the run first.
//    From then on none of its numbers is issued: a serial number never comes again, so a process
//    that was stopped anywhere in Issue() finds another one.
//
// Locking: BeginRun() and EndRun() need the generator's lock. Issue() needs none, but what its
// caller knows of the run was read under it. Order: none. The changes of one atomic have one order,
// which all processors see, and whatever tells a process that another's call has returned orders
// their changes of the word, too. Nothing else is read by what the word says.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/generator.h"

namespace snowflake {
// A tick with more numbers than this has several runs. The other bits are the serial number, which
// lasts for 8,900 years at a run in a millisecond, and for eight at a million a second.
inline constexpr int kIssuedBits = 16;
inline constexpr int32_t kMostOfRun = (1 << kIssuedBits) - 1;

// All zero: none is open, and none was. On a cache line of its own, because all processes write it.
struct alignas(64) OpenRun {
  std::atomic<uint64_t> word;     // 0: none is open
  std::atomic<int64_t> until_us;  // the end of the clock's tick, by the monotonic clock; 0: none is open
  uint64_t serial;                // of the newest run
  Run run;                        // which that is
  int64_t counts_per_ms;          // of the processor's counter (core/counter.h); 0: only the clock serves
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "a processor without 64-bit atomics cannot issue ids");

// The word of a run of which nothing is issued.
constexpr uint64_t WordOf(uint64_t serial) { return serial << kIssuedBits; }

// How many numbers one call takes at most, so that others' calls find some, too.
constexpr int32_t MostAtOnce(const Layout &layout) {
  const int64_t part = layout.sequence_count() / 16;
  return part < 1 ? 1 : part > kMostOfRun ? kMostOfRun : static_cast<int32_t>(part);
}

// Issues up to `most` numbers of a run with `count`. Returns how many, and in `first` how many were
// issued before. 0: the run has ended or is used up.
inline int32_t Issue(std::atomic<uint64_t> *word, uint64_t serial, int32_t count, int32_t most, int32_t *first) {
  SNOWFLAKE_ASSERT(count <= kMostOfRun);  // or numbers of the next run would be among them
  uint64_t seen = word->load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t issued = seen - WordOf(serial);
    if (issued >= static_cast<uint64_t>(count)) return 0;  // also with another serial number
    *first = static_cast<int32_t>(issued);
    const int32_t taken = most < count - *first ? most : count - *first;
    if (word->compare_exchange_weak(seen, seen + static_cast<uint64_t>(taken), std::memory_order_relaxed,
                                    std::memory_order_relaxed))
      return taken;
  }
}

// Opens a run, of which the caller issues the first `issued` numbers. None is open.
inline void BeginRun(OpenRun *open, const Run &run, int32_t issued, int64_t until_us) {
  SNOWFLAKE_ASSERT(open->word.load(std::memory_order_relaxed) == 0);
  SNOWFLAKE_ASSERT(run.count <= kMostOfRun && issued >= 1 && issued <= run.count);
  SNOWFLAKE_ASSERT(WordOf(open->serial + 1) > WordOf(open->serial));
  open->run = run;
  open->until_us.store(until_us, std::memory_order_relaxed);
  open->word.store(WordOf(++open->serial) + static_cast<uint64_t>(issued), std::memory_order_relaxed);
}

// Ends the open run, if there is one. Returns how many of its numbers were issued.
inline int32_t EndRun(OpenRun *open, Generator *g) {
  const uint64_t word = open->word.exchange(0, std::memory_order_relaxed);
  if (word == 0) return 0;
  open->until_us.store(0, std::memory_order_relaxed);
  const int32_t issued = static_cast<int32_t>(word & kMostOfRun);
  SNOWFLAKE_ASSERT(word >> kIssuedBits == open->serial && issued <= open->run.count);
  // Nothing else has changed the generator since (3).
  SNOWFLAKE_ASSERT(g->last_tick == open->run.tick);
  SNOWFLAKE_ASSERT(g->next_sequence == int64_t{open->run.sequence} + open->run.count);
  g->next_sequence -= open->run.count - issued;
  return issued;
}

}  // namespace snowflake
