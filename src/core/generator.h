// The generator, which decides the next ids: Take(state, now, want) -> (outcome, run).
//
// 1. Inside a window no (tick, sequence) pair is issued twice: (last_tick, next_sequence) only
//    rises, except for numbers of the open run that nobody issued (open_run.h).
// 2. No tick outside [window_start, window_end) is ever used, nor one that the layout cannot hold.
// 3. A tick is ahead of the clock by at most max_lead.
// 4. The state changes only with numbers that are taken, returned or sealed, and with the lease.
//
// Locking: the server calls it under the generator's lock.
#pragma once

#include <cstdint>

#include "core/layout.h"
#include "core/lease.h"

namespace snowflake {
// One node's state. All zero is a generator that never had a lease.
struct Generator {
  Layout layout;
  Lease lease;
  Tick last_tick;         // outlives the lease
  int64_t next_sequence;  // the numbers of last_tick below this one are gone
  bool open;              // whether ids may be issued under the lease
  Tick sealed_tick;       // nothing before it is issued under the lease from now on: Seal()
};

// Settings, in the layout's measures.
struct Terms {
  Tick max_lead;           // at least 1
  int64_t first_sequence;  // where a fresh tick starts: below FreshLimit()
};

enum class Outcome {
  kRun,          // numbers were taken
  kNoLease,      // no lease: ask the keeper for one
  kWindowEnd,    // the clock has reached the window's end: ask the keeper to move it
  kTickUsedUp,   // every number that may be used by now is used: wait for the clock
  kClockBehind,  // the clock is more than max_lead behind EarliestLeft()
  kTimeUsedUp,   // the layout holds no later tick
};

// Consecutive sequence numbers of one tick.
struct Run {
  Tick tick;
  int32_t worker;
  int32_t sequence;  // the first
  int32_t count;
};

struct Decision {
  Outcome outcome;
  Run run;    // for kRun
  Tick lead;  // how far the tick in question is ahead of the clock; below 0: behind
};

// At least one tick, or layouts with long ticks could not use any lead.
constexpr Tick MaxLead(const Layout &layout, int64_t max_lead_us) {
  return layout.TicksIn(max_lead_us) > 1 ? layout.TicksIn(max_lead_us) : 1;
}

// A fresh tick starts at a random number below this, so that ids of a quiet system, one in each
// tick, spread evenly over id % n for every n up to it: 1,024 in the default layout, which is as
// many shards as the layout has nodes. It is a power of two, because the factors of two of n are
// what the ticks do not spread. It is a quarter of the tick's numbers: a larger part spreads over
// more, but the numbers that are skipped are lost to this tick, and if they are missing, ids are
// ahead of the clock. With a quarter that needs more calls than 3/4 of what a tick has. At full
// speed nothing is lost, because ticks that are borrowed from the lead start at 0.
constexpr int64_t FreshLimit(const Layout &layout) {
  const int64_t limit = layout.sequence_count() / 4;
  return limit > 1 ? limit : 1;
}

// The earliest tick that the next id can have.
constexpr Tick EarliestLeft(const Generator &g) {
  const Tick tick = g.last_tick > g.lease.window_start ? g.last_tick : g.lease.window_start;
  return tick > g.sealed_tick ? tick : g.sealed_tick;
}

// As that, and not a tick whose numbers are used up.
constexpr Tick NextTick(const Generator &g) {
  const Tick tick = EarliestLeft(g);
  return tick == g.last_tick && g.next_sequence >= g.layout.sequence_count() ? tick + 1 : tick;
}

// Takes up to `want` (at least 1) numbers for a clock that shows `now`.
constexpr Decision Take(Generator *g, Tick now, int64_t want, const Terms &terms) {
  SNOWFLAKE_ASSERT(want >= 1 && terms.max_lead >= 1);
  SNOWFLAKE_ASSERT(terms.first_sequence >= 0);
  if (!g->open) return {Outcome::kNoLease, {}, 0};

  Tick tick = EarliestLeft(*g);
  if (now > tick) tick = now;
  if (tick - now > terms.max_lead) return {Outcome::kClockBehind, {}, tick - now};

  // A tick that is borrowed from the lead starts at 0, so that nothing is lost at full speed.
  int64_t sequence = tick > now ? 0 : terms.first_sequence;
  if (tick == g->last_tick) {
    sequence = g->next_sequence;
    if (sequence >= g->layout.sequence_count()) {
      ++tick;
      if (tick - now > terms.max_lead) return {Outcome::kTickUsedUp, {}, tick - now};
      sequence = 0;
    }
  }
  if (tick > g->layout.max_tick()) return {Outcome::kTimeUsedUp, {}, tick - now};
  if (tick >= g->lease.window_end) return {Outcome::kWindowEnd, {}, tick - now};

  const int64_t left = g->layout.sequence_count() - sequence;
  int64_t count = want < left ? want : left;
  if (count > INT32_MAX) count = INT32_MAX;
  SNOWFLAKE_ASSERT(count >= 1);
  SNOWFLAKE_ASSERT(tick > g->last_tick || (tick == g->last_tick && sequence >= g->next_sequence));
  SNOWFLAKE_ASSERT(tick >= g->lease.window_start && tick < g->lease.window_end && tick <= g->layout.max_tick());
  SNOWFLAKE_ASSERT(tick >= g->sealed_tick);
  SNOWFLAKE_ASSERT(tick - now <= terms.max_lead);
  g->last_tick = tick;
  g->next_sequence = sequence + count;
  return {
      Outcome::kRun, {tick, g->lease.worker, static_cast<int32_t>(sequence), static_cast<int32_t>(count)}, tick - now};
}

struct Position {
  Tick tick;
  int64_t sequence;
};

// Returns the next number for a clock that shows `now`, beyond the tick's if those are used up, and
// fixes it: nothing before it is issued then, even if the clock steps back.
constexpr Position Seal(Generator *g, Tick now) {
  const Tick earliest = EarliestLeft(*g);
  g->sealed_tick = earliest > now ? earliest : now;
  return {g->sealed_tick, g->sealed_tick == g->last_tick ? g->next_sequence : 0};
}

// The lease's highest tick that may have been used, which its release reports.
constexpr Tick LastTickOfLease(const Generator &g) {
  if (g.last_tick < g.lease.window_start) return g.lease.window_start - 1;
  return g.last_tick < g.lease.window_end ? g.last_tick : g.lease.window_end - 1;  // it may have been raised beyond
}

// The first tick of `layout` above all that the generator issued under any layout.
constexpr Tick FirstUnused(const Generator &g, const Layout &layout) {
  return layout.TickAt(g.layout.UnixUsAt(g.last_tick)) + 1;
}

// Whether no id can be issued because the clock is behind.
constexpr bool IsBehind(const Generator &g, Tick now, Tick max_lead) {
  return g.open && EarliestLeft(g) - now > max_lead;
}

// Whether no id can be issued, and none was under this lease, because its window begins in the
// future. The registry may have a better worker id by now, because others were released.
constexpr bool BeginsInFuture(const Generator &g, Tick now, Tick max_lead) {
  return IsBehind(g, now, max_lead) && g.last_tick < g.lease.window_start;
}

// The time from which to ask for a longer window: the clock's, or the next tick if that may be used
// already. Otherwise a window shorter than the lead would never be extended far enough.
constexpr Tick ExtendFrom(const Generator &g, Tick now, Tick max_lead) {
  const Tick next = g.last_tick + 1;
  return next > now && next - now <= max_lead ? next : now;
}

// Puts a lease in place, with the tick before the window as its last, used up.
constexpr void Open(Generator *g, const Layout &layout, const Lease &lease) {
  SNOWFLAKE_ASSERT(!g->open && layout.Fault(true) == LayoutFault::kNone);
  SNOWFLAKE_ASSERT(lease.worker >= 0 && lease.worker < layout.worker_count());
  SNOWFLAKE_ASSERT(lease.window_start >= 0 && lease.window_start < lease.window_end);
  SNOWFLAKE_ASSERT(lease.window_end <= layout.max_tick() + 1);
  g->layout = layout;
  g->lease = lease;
  g->last_tick = lease.window_start - 1;
  g->next_sequence = layout.sequence_count();
  g->sealed_tick = lease.window_start;
  g->open = true;
}

// Ends issuing under the lease and returns what to release.
constexpr Retired Close(Generator *g) {
  SNOWFLAKE_ASSERT(g->open);
  g->open = false;
  return {g->lease.lease_id, g->lease.secret, g->lease.worker, LastTickOfLease(*g), g->lease.window_end, false};
}

// Every id from now on is of a later tick. If that is beyond the window, ids wait for an extension.
constexpr void PassTick(Generator *g, Tick tick) {
  if (!g->open || g->last_tick > tick) return;
  g->last_tick = tick;
  g->next_sequence = g->layout.sequence_count();
}

// An answer that overtakes another does not shorten a window in use.
constexpr void MoveWindowEnd(Generator *g, int64_t lease_id, Tick window_end) {
  if (g->open && g->lease.lease_id == lease_id && window_end > g->lease.window_end) g->lease.window_end = window_end;
}

}  // namespace snowflake
