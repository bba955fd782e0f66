// All that a node decides: what it asks a registry for, what becomes of the answers, and what a call does whose clock is behind.
// When the keeper asks is decided in keeper.h.
//
// The server has a NodeState in shared memory and calls this under its lock; the simulation has some of its own. Clocks and secrets
// are passed in.
//
// 1. A lease is put in place, replaced, ended and given back here alone. What was issued last under the one before is taken in
//    the same step that puts the new one in place.
// 2. An acquire that has had no answer is asked again with its token, so that it costs no second worker id.
// 3. What a registry answers is judged before any of it is used; a lease that is not put to use is given back.
#pragma once

#include <cstdint>

#include "core/exchange.h"
#include "core/generator.h"
#include "core/keeper.h"

namespace snowflake {

// Leases on their way back. More would take as many steps back of the clock without one answer of the registry; the
// oldest then goes by expiry.
inline constexpr int kMaxRetired = 4;

// The newest that a registry has shown of itself. One that shows less has lost commits, or is not the one any more.
struct RegistrySeen {
  int64_t system_identifier;  // 0: nothing yet
  int64_t timeline;
  int64_t lease_id;
};

// All zero is a node that never had a lease.
struct NodeState {
  Generator generator;

  Retired retired[kMaxRetired];  // the oldest first
  int retired_count;

  // What backends ask of the keeper.
  bool lease_wanted;
  bool new_worker_wanted;  // because the clock stepped back
  bool window_wanted;

  RegistrySeen seen;
  Token next_token;       // of the acquire that has no answer yet; all zero: none
  Tick next_token_since;  // the earliest clock that it was asked with
  int64_t workers_free;   // at the newest acquire; below 0: not said
};

// How far a clock may be behind before something else is done about it.
struct Patience {
  int64_t max_lead_us;
  int64_t max_wait_us;
  bool new_worker;  // ... and then another worker id is drawn, instead of an error
};

// ---------------------------------------------------------------------------------------------------------------------
// Calls
// ---------------------------------------------------------------------------------------------------------------------

// How many numbers a process takes at once: 1 for the first take in a tick of the clock, doubled with each further one.
struct Appetite {
  Tick tick;
  int64_t count;

  constexpr int64_t Next(Tick now, int64_t ahead, int64_t most) {
    count = tick == now ? count * 2 : 1;
    tick = now;
    if (count < ahead) count = ahead;
    if (count > most) count = most;
    return count;
  }
};

// Take() of the generator; what is missing is asked of the keeper.
constexpr Decision TakeOrAsk(NodeState *node, Tick now, int64_t want, const Terms &terms) {
  const Decision decision = Take(&node->generator, now, want, terms);
  if (decision.outcome == Outcome::kNoLease) node->lease_wanted = true;
  if (decision.outcome == Outcome::kWindowEnd) node->window_wanted = true;
  return decision;
}

// What a call does whose clock is behind the last tick, or the lease's first, by `lead`.
enum class Behind {
  kWait,       // for the clock
  kNewWorker,  // for another worker id
  kFail,
};

constexpr Behind WhenBehind(const Layout &layout, Tick lead, bool new_worker_helps, bool waited_long,
                            const Patience &patience) {
  if (lead <= patience.max_wait_us / layout.tick_us && !waited_long) return Behind::kWait;
  return new_worker_helps && patience.new_worker ? Behind::kNewWorker : Behind::kFail;
}

// ---------------------------------------------------------------------------------------------------------------------
// The keeper's view, and the end of a lease
// ---------------------------------------------------------------------------------------------------------------------

// What core/keeper decides by, at `clock_us` of the node's clock. A wish for another worker id that no longer helps is dropped.
constexpr KeeperView See(NodeState *node, int64_t clock_us, int64_t lease_duration_us, const Patience &patience,
                         bool leaving) {
  const Generator &g = node->generator;
  KeeperView view = {};
  view.lease_duration_us = lease_duration_us;
  view.leaving = leaving;
  view.leased = g.open;
  bool new_worker_helps = false;
  if (g.open) {
    const Tick now = g.layout.TickAt(clock_us);
    const Tick max_lead = MaxLead(g.layout, patience.max_lead_us);
    view.window_left_us = g.layout.UnixUsAt(g.lease.window_end) - clock_us;
    view.future = BeginsInFuture(g, now, max_lead);
    new_worker_helps = NewWorkerHelps(g, now, max_lead);
  }
  if (node->new_worker_wanted && !new_worker_helps) {
    node->new_worker_wanted = false;
    node->next_token = {};  // what it drew begins too early for a clock that is right again
  }
  view.lease_wanted = g.open ? node->new_worker_wanted : node->lease_wanted;
  view.window_wanted = g.open && node->window_wanted;
  view.retired = node->retired_count > 0;
  return view;
}

// Puts a lease that nothing is issued under any more on its way back.
constexpr void Retire(NodeState *node, const Retired &retired) {
  if (node->retired_count == kMaxRetired) {
    for (int i = 1; i < kMaxRetired; ++i) node->retired[i - 1] = node->retired[i];
    --node->retired_count;
  }
  node->retired[node->retired_count++] = retired;
}

// It is back, or gone.
constexpr void DropRetired(NodeState *node, int64_t lease_id) {
  int kept = 0;
  for (int i = 0; i < node->retired_count; ++i)
    if (node->retired[i].lease_id != lease_id) node->retired[kept++] = node->retired[i];
  node->retired_count = kept;
}

// From here on nothing is issued.
constexpr void CloseLease(NodeState *node) {
  if (node->generator.open) Retire(node, Close(&node->generator));
}

// What one registry has said or was asked means nothing to another.
constexpr void ForgetRegistry(NodeState *node) {
  node->retired_count = 0;
  node->seen = {};
  node->next_token = {};
  node->next_token_since = 0;
  node->workers_free = -1;
}

// ---------------------------------------------------------------------------------------------------------------------
// Exchanges with the registry
// ---------------------------------------------------------------------------------------------------------------------

// What is wrong with an answer.
enum class AnswerFault {
  kNone,
  kLayout,    // another one than the node's
  kLeaseId,   // no lease's
  kWorker,    // none of the datacenter's
  kWindow,    // not what was asked for
  kLeaseOld,  // older than one that was seen
  kTimeline,  // older than one that was seen
  kRaised,    // it rules out ticks that are far ahead
};

// Of the lease alone. The registry was asked between the ticks `since` and `now` of the node's clock, for windows of up to
// `duration_us`.
constexpr AnswerFault Judge(const Layout &layout, int32_t datacenter, const Lease &lease, Tick since, Tick now,
                            int64_t duration_us) {
  if (lease.lease_id <= 0) return AnswerFault::kLeaseId;
  const int64_t ring = layout.workers_per_datacenter();
  if (lease.worker < datacenter * ring || lease.worker >= (datacenter + 1) * ring) return AnswerFault::kWorker;
  const Tick from = lease.window_start > now ? lease.window_start : now;
  const bool fits = lease.window_start >= (since > 0 ? since : 0) && lease.window_start < lease.window_end &&
                    lease.window_start <= layout.max_tick() && lease.window_end <= WindowEnd(layout, from, duration_us);
  return fits ? AnswerFault::kNone : AnswerFault::kWindow;
}

// The same for a window that was moved: by no more than can be asked for, and whatever was asked for before.
constexpr bool IsPlausibleEnd(const Layout &layout, Tick window_end, Tick held_until, Tick now) {
  return window_end > 0 &&
         (window_end <= held_until || window_end <= WindowEnd(layout, now > 0 ? now : 0, kMaxLeaseUs));
}

// The same for the tick that leases are to be above: who raises it waits until the registry's clock has passed it.
constexpr bool IsPlausibleRaise(const Layout &layout, Tick raised_tick, Tick now) {
  return raised_tick < WindowEnd(layout, now > 0 ? now : 0, kMaxLeaseUs);
}

// Whether an answer comes from where the registry was before: of the same server, an older timeline. An old primary has come
// back then, and what it says of leases is what it knew.
constexpr bool IsOlder(const Standing &standing, const RegistrySeen &seen) {
  return standing.system_identifier != 0 && standing.system_identifier == seen.system_identifier &&
         standing.timeline < seen.timeline;
}

constexpr void Note(NodeState *node, const Standing &standing, int64_t lease_id) {
  if (standing.system_identifier != 0) {
    node->seen.system_identifier = standing.system_identifier;
    node->seen.timeline = standing.timeline;
  }
  if (lease_id > node->seen.lease_id) node->seen.lease_id = lease_id;
  RaiseTo(&node->generator, standing.raised_tick);
}

// An acquire under way. Its request still lacks the node's name and datacenter.
struct AcquireAsked {
  AcquireRequest request;
  Tick clock;       // what it showed
  Tick since;       // the earliest beginning that was asked for with this token
  bool new_worker;  // because the clock stepped back
};

// Where a window is asked to begin: above all that was issued here, unless it is a clock that stepped back that asks.
constexpr Tick StartFrom(const Generator &g, const Layout &layout, Tick clock, const Patience &patience) {
  const Tick first_unused = FirstUnused(g, layout);
  if (first_unused <= clock) return clock;
  const Tick bridged = MaxLead(layout, patience.max_lead_us) + layout.TicksIn(patience.max_wait_us);
  const bool stepped_back = first_unused - clock > bridged && patience.new_worker;
  return g.open || stepped_back ? clock : first_unused;
}

// `fresh` is a secret that nobody has used yet.
constexpr AcquireAsked AskForLease(NodeState *node, const Layout &layout, Tick clock, int64_t duration_us,
                                   const Token &fresh, const Patience &patience) {
  const Generator &g = node->generator;
  AcquireAsked asked = {};
  asked.clock = clock;
  asked.new_worker = g.open && node->new_worker_wanted;
  asked.request.now = StartFrom(g, layout, clock, patience);
  asked.request.duration_us = duration_us;
  // Of another lease in place of this one only an earlier beginning is of use.
  asked.request.start_before = kAnyStart;
  if (g.open && g.layout == layout)
    asked.request.start_before = g.last_tick > g.lease.window_start ? g.last_tick : g.lease.window_start;
  asked.request.seen_lease_id = node->seen.lease_id;
  if (node->next_token == Token{}) {
    node->next_token = fresh;
    node->next_token_since = asked.request.now;
  }
  if (asked.request.now < node->next_token_since) node->next_token_since = asked.request.now;
  asked.request.token = node->next_token;
  asked.since = node->next_token_since;
  return asked;
}

struct TakenLease {
  AnswerFault fault;
  bool opened;
  bool replaced;  // another lease
  Retired old;    // that one
};

constexpr AnswerFault FaultOf(const NodeState &node, const Layout &layout, const AcquireAsked &asked,
                              const AcquireAnswer &answer) {
  const AcquireRequest &request = asked.request;
  if (IsOlder(answer.standing, node.seen)) return AnswerFault::kTimeline;
  if (answer.layout != layout) return AnswerFault::kLayout;
  const AnswerFault fault =
      Judge(layout, request.datacenter, answer.lease, asked.since, request.now, request.duration_us);
  if (fault != AnswerFault::kNone) return fault;
  if (!IsPlausibleRaise(layout, answer.standing.raised_tick, request.now)) return AnswerFault::kRaised;
  // A registry of before 1.2 is never told what was seen, so it can do nothing about it.
  const bool old = answer.standing.system_identifier != 0 && answer.lease.lease_id <= request.seen_lease_id;
  return old ? AnswerFault::kLeaseOld : AnswerFault::kNone;
}

// The answer to an acquire. Neither with a fault, nor while `stopping`, nor when it begins too late is it put in place.
constexpr TakenLease TakeLease(NodeState *node, const Layout &layout, const AcquireAsked &asked,
                               const AcquireAnswer &answer, bool stopping) {
  const Lease &lease = answer.lease;
  TakenLease taken = {FaultOf(*node, layout, asked, answer), false, false, {}};
  // Who is asked next may know of this request.
  if (taken.fault == AnswerFault::kTimeline) return taken;
  node->next_token = {};
  if (taken.fault != AnswerFault::kNone || stopping || lease.window_start >= asked.request.start_before) {
    Retire(node, {lease.lease_id, lease.token, lease.worker, lease.window_start - 1, lease.window_end});
    return taken;
  }
  taken.opened = true;
  taken.replaced = node->generator.open;
  if (taken.replaced) Retire(node, taken.old = Close(&node->generator));
  Open(&node->generator, layout, lease, asked.clock);
  Note(node, answer.standing, lease.lease_id);
  node->workers_free = answer.workers_free;
  node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
  return taken;
}

constexpr ExtendRequest AskForWindow(const NodeState &node, Tick clock, int64_t duration_us, const Patience &patience) {
  const Generator &g = node.generator;
  const Tick now = ExtendFrom(g, clock, MaxLead(g.layout, patience.max_lead_us));
  return {g.lease.lease_id, g.lease.token, now, duration_us, g.lease.window_end, g.lease.window_end};
}

// The answer to an extend. One of another lease than the one in place moves nothing.
constexpr AnswerFault TakeWindow(NodeState *node, const ExtendRequest &asked, const ExtendAnswer &answer,
                                 bool stopping) {
  if (IsOlder(answer.standing, node->seen)) return AnswerFault::kTimeline;
  if (!IsPlausibleEnd(node->generator.layout, answer.window_end, asked.held_until, asked.now))
    return AnswerFault::kWindow;
  if (!IsPlausibleRaise(node->generator.layout, answer.standing.raised_tick, asked.now)) return AnswerFault::kRaised;
  // Told to stop, a wait for a synchronous standby ends without its acknowledgement.
  if (stopping) return AnswerFault::kNone;
  MoveWindowEnd(&node->generator, asked.lease_id, answer.window_end);
  Note(node, answer.standing, 0);
  node->window_wanted = false;
  return AnswerFault::kNone;
}

// The registry does not have the lease any more.
constexpr AnswerFault LoseLease(NodeState *node, int64_t lease_id, const Standing &standing) {
  if (IsOlder(standing, node->seen)) return AnswerFault::kTimeline;
  if (node->generator.lease.lease_id == lease_id) node->generator.open = false;
  return AnswerFault::kNone;
}

constexpr ReleaseRequest AskToRelease(const Retired &retired) {
  return {retired.lease_id, retired.token, retired.last_tick, retired.window_end, retired.window_end, kNoWatermark};
}

}  // namespace snowflake
