// The generator: the one decision of how an id comes to be.
//
//     Take(state, now, want) -> (outcome, run)
//
// It reads no clock, no setting and no memory of its own. The server calls it under the generator's lock; tests call it
// alone. Invariants:
//
// 1. Inside a window no (tick, sequence) pair is issued twice: (last_tick, next_sequence) only rises, but for numbers that
//    come back before they were issued.
// 2. No tick outside [window_start, window_end) is ever used, nor one that the layout cannot hold.
// 3. A tick leads the clock by at most max_lead.
// 4. The state changes only when numbers are handed out, and when a lease comes or goes.
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
  // Nothing before this comes under the lease any more, be it never issued: Seal().
  Tick sealed_tick;
  int64_t sealed_sequence;
};

// What the settings say, in the layout's own measures.
struct Terms {
  Tick max_lead;           // at least 1
  int64_t first_sequence;  // where a fresh tick starts: below FreshLimit()
};

enum class Outcome {
  kRun,          // numbers were taken
  kNoLease,      // no lease: ask the keeper for one
  kWindowEnd,    // the clock has reached the window's end: ask the keeper to move it
  kTickUsedUp,   // every number that may be used by now is gone: wait for the clock
  kClockBehind,  // the clock is more than max_lead behind the earliest tick that is left
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
  Tick lead;  // how far the tick in question leads the clock; below 0 when it trails
};

// A setting in microseconds as whole ticks; at least one, or a layout with long ticks could never use up a lead.
constexpr Tick MaxLead(const Layout &layout, int64_t max_lead_us) {
  return layout.TicksIn(max_lead_us) > 1 ? layout.TicksIn(max_lead_us) : 1;
}

// Fresh ticks start below this, so that ids of a quiet system spread over id % n. In a narrow sequence field it is at most
// 1/32 of the tick's numbers: what is skipped is lost.
constexpr int64_t FreshLimit(const Layout &layout, int64_t jitter) {
  const int64_t most = layout.sequence_count() / 32;
  const int64_t limit = jitter < most ? jitter : most;
  return limit > 1 ? limit : 1;
}

// The earliest tick that the next id can be of.
constexpr Tick EarliestLeft(const Generator &g) {
  const Tick tick = g.last_tick > g.lease.window_start ? g.last_tick : g.lease.window_start;
  return tick > g.sealed_tick ? tick : g.sealed_tick;
}

// Takes up to `want` (at least 1) numbers for a clock that shows `now`.
constexpr Decision Take(Generator *g, Tick now, int64_t want, const Terms &terms) {
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
  const int64_t count = want < left ? want : left;
  g->last_tick = tick;
  g->next_sequence = sequence + count;
  return {
      Outcome::kRun, {tick, g->lease.worker, static_cast<int32_t>(sequence), static_cast<int32_t>(count)}, tick - now};
}

// Takes back the end of a run that was not issued, so that a session that leaves a tick behind wastes none of it. False when
// numbers above it were taken meanwhile, or the lease is another one: then they are lost.
constexpr bool GiveBack(Generator *g, const Secret &secret, const Run &rest) {
  if (!g->open || g->lease.secret != secret || rest.tick != g->last_tick ||
      int64_t{rest.sequence} + rest.count != g->next_sequence)
    return false;
  if (rest.tick < g->sealed_tick || (rest.tick == g->sealed_tick && rest.sequence < g->sealed_sequence)) return false;
  g->next_sequence = rest.sequence;
  return true;
}

// Fixes what the next number is by a clock that shows `now`: from then on nothing before it is handed out, though the clock steps back
// or numbers come back. Returns its tick and sequence number; the latter is beyond the tick's numbers where those are used up.
struct Position {
  Tick tick;
  int64_t sequence;
};
constexpr Position Seal(Generator *g, Tick now) {
  const Tick earliest = EarliestLeft(*g);
  const Tick tick = earliest > now ? earliest : now;
  int64_t sequence = tick == g->last_tick ? g->next_sequence : 0;
  if (tick == g->sealed_tick && sequence < g->sealed_sequence) sequence = g->sealed_sequence;
  g->sealed_tick = tick;
  g->sealed_sequence = sequence;
  return {tick, sequence};
}

// The lease's highest tick that may have been used: what its release reports.
constexpr Tick LastTickOfLease(const Generator &g) {
  if (g.last_tick < g.lease.window_start) return g.lease.window_start - 1;
  return g.last_tick < g.lease.window_end ? g.last_tick : g.lease.window_end - 1;  // it may have been raised beyond
}

// The first tick, in the layout's measure, above everything that the generator issued, under whatever layout.
constexpr Tick FirstUnused(const Generator &g, const Layout &layout) {
  return layout.TickAt(g.layout.UnixUsAt(g.last_tick)) + 1;
}

// Whether no id can be had because the clock is behind.
constexpr bool IsBehind(const Generator &g, Tick now, Tick max_lead) {
  return g.open && EarliestLeft(g) - now > max_lead;
}

// The same where nothing was issued under the lease, because its window is still to begin: the best that the registry had. As others
// give worker ids back, it may have a better one.
constexpr bool BeginsInFuture(const Generator &g, Tick now, Tick max_lead) {
  return IsBehind(g, now, max_lead) && g.last_tick < g.lease.window_start;
}

// The time to ask a longer window for: the clock's, or the next tick where that may be used already. Otherwise a window
// that is no longer than the lead would be moved again and again, and never far enough.
constexpr Tick ExtendFrom(const Generator &g, Tick now, Tick max_lead) {
  const Tick next = g.last_tick + 1;
  return next > now && next - now <= max_lead ? next : now;
}

// Puts a lease in place. The last tick then stands just before the window, its numbers used up.
constexpr void Open(Generator *g, const Layout &layout, const Lease &lease) {
  g->layout = layout;
  g->lease = lease;
  g->last_tick = lease.window_start - 1;
  g->next_sequence = layout.sequence_count();
  g->sealed_tick = lease.window_start;
  g->sealed_sequence = 0;
  g->open = true;
}

// Ends issuing under the lease and says what to give back.
constexpr Retired Close(Generator *g) {
  g->open = false;
  return {g->lease.lease_id, g->lease.secret, g->lease.worker, LastTickOfLease(*g), g->lease.window_end, false};
}

// Every id from now on is of a later tick, be it beyond the window: then it waits for one that reaches so far.
constexpr void RaiseTo(Generator *g, Tick tick) {
  if (!g->open || g->last_tick > tick) return;
  g->last_tick = tick;
  g->next_sequence = g->layout.sequence_count();
}

// An answer that overtakes another must not shorten a window in use.
constexpr void MoveWindowEnd(Generator *g, int64_t lease_id, Tick window_end) {
  if (g->open && g->lease.lease_id == lease_id && window_end > g->lease.window_end) g->lease.window_end = window_end;
}

}  // namespace snowflake
