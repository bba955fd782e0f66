// All that a node decides: what it asks a registry for, what becomes of the answers, and how a call
// goes on if the clock is behind. When the keeper asks is in keeper.h.
//
// 1. Only this file opens and closes leases. A step that replaces one takes its last tick, too.
// 2. An acquire without an answer is repeated with its secret, to cost no second worker id.
// 3. Ids and requests use the node's clock. The caller has taken a reading before (core/clock.h).
// 4. Answers are judged before they are used; a lease that is not used is released.
// 5. A setting is not a clock: after a change of limits no clock steps, no id falls, and no call
//    fails.
//
// Locking: the server calls this under the lock of the NodeState. Clocks and secrets are passed in.
#pragma once

#include <cstdint>

#include "core/clock.h"
#include "core/exchange.h"
#include "core/generator.h"
#include "core/keeper.h"

namespace snowflake {
// Leases pending release. More take as many steps back without an answer; then the oldest expires.
inline constexpr int kMaxRetired = 4;

// The newest standing seen of a registry. One that shows less has lost commits or is another one.
struct RegistrySeen {
  int64_t system_identifier;  // 0: nothing yet
  int64_t timeline;
  int64_t settle_called_us;
  int64_t lease_id;  // the newest from there: a registry that has lost it is to hear of it
};

// No max_lead is larger.
inline constexpr int64_t kMostLeadUs = int64_t{10} * 1000 * kUsPerMs;

// How far ids and the clock may lead, and what may be done about a clock that is behind.
struct ClockPolicy {
  int64_t max_lead_us;  // how far ahead of the clock an id may be
  ClockLimits clock;
  bool new_worker;  // beyond that: another worker id instead of an error
};

// All zero is a node that never had a lease.
struct NodeState {
  NodeClock clock;
  Generator generator;

  // In force for all processes: SetPolicy().
  ClockPolicy policy;
  // How far ids were ahead when max_lead was lowered and the clock showed `lead_since_us`. They may
  // still be that, less half of what the clock has moved on since.
  int64_t lead_left_us;
  int64_t lead_since_us;

  Retired retired[kMaxRetired];  // the oldest first
  int retired_count;

  // Requests of calls to the keeper. Each outlives its call. The keeper ends it: with what was
  // requested, if that does not help any more, or with the extension.
  bool lease_wanted;
  bool new_worker_wanted;  // because the clock stepped back
  bool window_wanted;

  RegistrySeen seen;
  RegistryPlace place;                        // of the registry that was seen
  Secret next_secret;                         // of the acquire that has no answer yet; all zero: none
  Tick next_secret_since, next_secret_until;  // the earliest and the latest clock of its requests
  int64_t workers_free;                       // at the newest acquire; below 0: not counted
  bool ask_by_wall;  // the registry refused the node's clock, or was not asked about a leap yet
};

// --- Limits ---

constexpr Tick NowOf(const NodeState &node, const Layout &layout) { return layout.TickAt(node.clock.shown_us); }

// When the clock's tick ends, by the monotonic clock. One less, because the microseconds of the two
// clocks do not begin at the same moment.
constexpr int64_t TickEndUs(const NodeState &node, const Layout &layout) {
  const NodeClock &clock = node.clock;
  return clock.read.steady_us + layout.UnixUsAt(NowOf(node, layout) + 1) - clock.shown_us - 1;
}

// How far an id may be ahead of the clock. What is left of a larger max_lead shrinks more slowly
// than the clock moves on, so no id that it allowed is too far ahead later.
constexpr Tick MaxLead(const NodeState &node, const Layout &layout) {
  const int64_t passed_us = node.clock.shown_us - node.lead_since_us;
  const int64_t left_us = node.lead_left_us - (passed_us > 0 ? passed_us / 2 : 0);
  return MaxLead(layout, left_us > node.policy.max_lead_us ? left_us : node.policy.max_lead_us);
}

// The time that is believed: that of the node's clock, as far as it may bridge.
constexpr int64_t BelievedUs(const NodeState &node) {
  const int64_t bridged_us = node.clock.read.wall_us + node.policy.clock.max_bridge_us;
  return node.clock.shown_us < bridged_us ? node.clock.shown_us : bridged_us;
}

// The latest time that ids have a reason to be of: that, or that of a wall clock whose leap is
// held. What is further ahead than kWrongUs is of a wrong clock.
constexpr int64_t LatestIdUs(const NodeState &node) {
  const int64_t believed_us = BelievedUs(node), wall_us = node.clock.read.wall_us;
  return believed_us > wall_us ? believed_us : wall_us;
}

// Puts other limits in force. What ids and the clock lead by stays allowed.
constexpr void SetPolicy(NodeState *node, const ClockPolicy &policy) {
  SNOWFLAKE_ASSERT(policy.max_lead_us >= 0 && policy.max_lead_us <= kMostLeadUs);
  const Layout &layout = node->generator.layout;
  if (policy.clock.max_bridge_us < node->policy.clock.max_bridge_us) KeepLead(&node->clock, policy.clock);
  const bool lowered = policy.max_lead_us < node->policy.max_lead_us && layout.tick_us > 0;
  const Tick before = lowered ? MaxLead(*node, layout) : 0;
  node->policy = policy;
  if (!lowered) return;
  const Tick now = NowOf(*node, layout), lead = EarliestLeft(node->generator) - now;
  // If it is larger, the clock has stepped back. If it is still allowed, it shrinks already.
  if (lead > before || lead <= MaxLead(*node, layout)) return;
  // `lead` ticks, and one less for every two that the clock moves on.
  node->lead_left_us = (lead + 1) * layout.tick_us - 1;
  node->lead_since_us = layout.UnixUsAt(now);
  SNOWFLAKE_ASSERT(lead <= MaxLead(*node, layout));
}

// Takes a reading of the clocks, by the limits in force. The registry is asked about a leap that is
// not followed.
constexpr void Read(NodeState *node, const ServerTime &time) {
  const bool held = node->clock.mode == ClockMode::kHeld;
  Read(&node->clock, time, node->policy.clock);
  if (!held && node->clock.mode == ClockMode::kHeld) node->ask_by_wall = true;
}

// After a restart with the state of before.
constexpr void Resume(NodeState *node, const ServerTime &time, const ClockPolicy &policy) {
  Resume(&node->clock, time.reading);
  Read(node, time);
  SetPolicy(node, policy);
}

// --- Calls ---

// Take() of the generator, with a request to the keeper for what is missing.
constexpr Decision TakeOrAsk(NodeState *node, int64_t want, const Terms &terms) {
  Generator *g = &node->generator;
  const Decision decision = Take(g, g->open ? NowOf(*node, g->layout) : 0, want, terms);
  if (decision.outcome == Outcome::kNoLease) node->lease_wanted = true;
  if (decision.outcome == Outcome::kWindowEnd) node->window_wanted = true;
  return decision;
}

// Whether ids may go on any distance ahead of this clock. A time before the epoch is wrong: not
// then, unless ids were already issued under the lease.
constexpr bool MayLead(const NodeState &node) {
  return node.generator.last_tick >= node.generator.lease.window_start || node.clock.shown_us >= node.clock.earliest_us;
}

// Moves a clock that is behind as far as the next id needs, if that may be bridged or `any_lead`.
// Not to the tick of that id: each time, ids could come to be ahead by max_lead more.
constexpr void CatchUp(NodeState *node, bool any_lead) {
  const Generator &g = node->generator;
  const ClockLimits &limits = node->policy.clock;
  if (!g.open || !IsBehind(g, NowOf(*node, g.layout), MaxLead(*node, g.layout))) return;
  const Tick lead = MaxLead(g.layout, node->policy.max_lead_us);  // what is left of a larger one shrinks
  const int64_t to_us = Clamped(g.layout.UnixUsAt(NextTick(g) - lead));
  if ((any_lead && MayLead(*node)) || to_us - node->clock.read.wall_us <= limits.max_bridge_us)
    BridgeTo(&node->clock, to_us, limits);
}

// No worker id is available that helps: ids go on with the present one.
constexpr void KeepPresentWorker(NodeState *node) {
  if (!node->generator.open || !node->new_worker_wanted) return;
  node->new_worker_wanted = false;
  node->next_secret = {};
  CatchUp(node, true);
}

// The operator says that ids were of a wrong time: the clock gives up what it leads by beyond what
// is bridged, and the keeper is asked for a worker id whose ids are of the present.
constexpr void GoBack(NodeState *node) {
  const Generator &g = node->generator;
  if (node->clock.shown_us > LatestIdUs(*node)) FollowWall(&node->clock);
  // Without a lease there may be no layout yet.
  if (g.open && IsBehind(g, NowOf(*node, g.layout), MaxLead(*node, g.layout))) node->new_worker_wanted = true;
}

// --- The keeper's view, and the end of a lease ---

// No id was requested yet.
constexpr bool IsIdle(const NodeState &node) { return node.generator.lease.lease_id == 0 && !node.lease_wanted; }

// The input of core/keeper.h. If another worker id does not help, the request for it is dropped.
constexpr KeeperView ViewForKeeper(NodeState *node, int64_t lease_duration_us, bool leaving) {
  const Generator &g = node->generator;
  KeeperView view = {};
  view.lease_duration_us = lease_duration_us;
  view.leaving = leaving;
  view.leased = g.open;
  view.idle = IsIdle(*node);
  bool behind = false;
  if (g.open) {
    const Tick now = NowOf(*node, g.layout);
    const Tick max_lead = MaxLead(*node, g.layout);
    view.window_left_us = Clamped(g.layout.UnixUsAt(g.lease.window_end)) - node->clock.shown_us;
    view.future = BeginsInFuture(g, now, max_lead);
    behind = IsBehind(g, now, max_lead);
  }
  if (node->new_worker_wanted && !behind) {
    node->new_worker_wanted = false;
    node->next_secret = {};  // its lease begins too early for a clock that is right again
  }
  view.lease_wanted = g.open ? node->new_worker_wanted : node->lease_wanted;
  view.window_wanted = g.open && node->window_wanted;
  view.retired = node->retired_count;
  return view;
}

constexpr void Retire(NodeState *node, const Retired &retired) {
  SNOWFLAKE_ASSERT(node->retired_count >= 0 && node->retired_count <= kMaxRetired);
  if (node->retired_count == kMaxRetired) {
    for (int i = 1; i < kMaxRetired; ++i) node->retired[i - 1] = node->retired[i];
    --node->retired_count;
  }
  node->retired[node->retired_count++] = retired;
}

// It is released, or the registry does not have it.
constexpr void DropRetired(NodeState *node, int64_t lease_id) {
  int kept = 0;
  for (int i = 0; i < node->retired_count; ++i)
    if (node->retired[i].lease_id != lease_id) node->retired[kept++] = node->retired[i];
  node->retired_count = kept;
}

constexpr void CloseLease(NodeState *node) {
  if (node->generator.open) Retire(node, Close(&node->generator));
}

// A copy of this node, with its memory, may issue under the lease and request the next one with the
// same secret. So neither is used again, and nothing is released. A node that issues only numbers
// asks for no lease then either.
constexpr void ForgetLease(NodeState *node) {
  node->generator.open = false;
  node->retired_count = 0;
  node->next_secret = {};
  node->lease_wanted = !IsIdle(*node);
}

// A keeper ends in good order. Returns whether a restart of the server is to find nothing here:
// without a lease, also without one to release.
constexpr bool ForgetQuestion(NodeState *node) {
  if (node->generator.open || node->retired_count > 0) return false;
  node->next_secret = {};
  return true;
}

// The extension was dropped. The next one's first lease is for a call of its own.
constexpr void ForgetExtension(NodeState *node) {
  SNOWFLAKE_ASSERT(!node->generator.open);
  node->generator.lease.lease_id = 0;
  node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
}

// The state that a crash left, with the last tick that was used. Requests ended with their
// backends. A lease that was closed is still this node's if no registry was asked to release it.
// The state may be older than the last id: a clock with which ids were in order has run on with
// them. One that holds a leap catches up by itself.
constexpr void Recover(NodeState *node, Tick last_tick) {
  Generator *g = &node->generator;
  if (!g->open && node->retired_count > 0) {
    const Retired &newest = node->retired[node->retired_count - 1];
    if (newest.lease_id == g->lease.lease_id && newest.secret == g->lease.secret && !newest.asked) {
      g->open = true;
      --node->retired_count;
    }
  }
  SNOWFLAKE_ASSERT(last_tick >= g->last_tick);
  if (g->open && node->clock.mode != ClockMode::kHeld) {
    const Tick now = NowOf(*node, g->layout), lead = MaxLead(*node, g->layout);
    const Tick least = MaxLead(g->layout, node->policy.max_lead_us), behind = last_tick - lead - now;
    // What is left of a larger lead shrinks by a tick while the clock runs on by two.
    const Tick shown = behind < lead - least ? now + (behind > 0 ? 2 * behind : 0) : last_tick - least;
    if (g->last_tick - now <= lead) BridgeTo(&node->clock, Clamped(g->layout.UnixUsAt(shown)), node->policy.clock);
  }
  g->last_tick = last_tick;
  g->next_sequence = g->layout.sequence_count();
  node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
  node->clock.events = node->clock.bridged = 0;
}

// A restart without a lease: no tick up to this one may be used again. If the clock is behind it by
// no more than may be bridged and ids may lead, clock and next lease go on from there. False: it is
// further behind.
constexpr bool GoOnAfter(NodeState *node, const Layout &layout, Tick last, const ServerTime &time) {
  Generator *g = &node->generator;
  SNOWFLAKE_ASSERT(!g->open);
  const ClockLimits &limits = node->policy.clock;
  Read(node, time);
  const Tick latest = layout.TickAt(Clamped(node->clock.read.wall_us + limits.max_bridge_us));
  if (last - latest > MaxLead(layout, kMostLeadUs)) return false;
  if (g->layout.tick_us > 0 && FirstUnused(*g, layout) > last) return true;
  g->layout = layout;
  g->last_tick = last;
  g->next_sequence = layout.sequence_count();
  BridgeTo(&node->clock, Clamped(layout.UnixUsAt(last + 1 - MaxLead(*node, layout))), limits);
  return true;
}

// For a change of the registry.
constexpr void ForgetRegistry(NodeState *node) {
  node->retired_count = 0;
  node->seen = {};
  node->place = {};
  node->next_secret = {};
  node->next_secret_since = node->next_secret_until = 0;
  node->workers_free = -1;
  node->ask_by_wall = false;
}

// Whether another address leads to the registry that was seen: the lease goes on there. A copy of
// its server counts as the same one, as at an address that did not change.
constexpr bool IsSameRegistry(const NodeState &node, int64_t system_identifier, const RegistryPlace &place) {
  return node.seen.system_identifier != 0 && node.seen.system_identifier == system_identifier && node.place == place;
}

// --- Exchanges with the registry ---

// What is wrong with an answer.
enum class AnswerFault {
  kNone,
  kLayout,    // another one than the node's
  kLeaseId,   // no registry assigns it
  kWorker,    // not of the datacenter
  kWindow,    // not what was asked for
  kEnded,     // the window is over all the same
  kTimeline,  // older than one that was seen
  kRaised,    // it excludes ticks far ahead
};

// Of the lease alone, requested between these ticks of the node's clock for windows of this length.
constexpr AnswerFault Judge(const Layout &layout, int32_t datacenter, const Lease &lease, Tick since, Tick until,
                            int64_t duration_us) {
  if (lease.lease_id <= 0 || lease.lease_id > kHighestLeaseId) return AnswerFault::kLeaseId;
  const int64_t ring = layout.workers_per_datacenter();
  const int64_t first = datacenter * ring;
  if (lease.worker < first || lease.worker - first >= ring) return AnswerFault::kWorker;
  const Tick from = lease.window_start > until ? lease.window_start : until;
  const bool fits = lease.window_start >= (since > 0 ? since : 0) && lease.window_start < lease.window_end &&
                    lease.window_start <= layout.max_tick() && lease.window_end <= WindowEnd(layout, from, duration_us);
  return fits ? AnswerFault::kNone : AnswerFault::kWindow;
}

// Whether an extended window can be: it ends no later than can be requested now, or was before.
constexpr bool IsPlausibleEnd(const Layout &layout, Tick window_end, Tick held_until, Tick now) {
  return window_end > 0 &&
         (window_end <= held_until || window_end <= WindowEnd(layout, now > 0 ? now : 0, kMaxLeaseUs));
}

// How far ahead of a request a raised tick may be: whoever raises it waits until the registry's
// clock, which may bridge a step, has passed it. A registry in this database is believed more,
// because both go by one clock, which may have stepped back since. So is one whose clock may be off
// by any time (0).
constexpr int64_t MostRaisedUs(int64_t max_clock_skew_us, int64_t max_bridge_us, bool is_here) {
  return is_here || max_clock_skew_us <= 0 ? kMaxLeaseUs : max_clock_skew_us + max_bridge_us + kWrongUs;
}

constexpr bool IsPlausibleRaise(const Layout &layout, Tick raised_tick, Tick now, int64_t most_raised_us) {
  return raised_tick < WindowEnd(layout, now > 0 ? now : 0, most_raised_us);
}

// Whether an answer comes from an old primary: the same server on an older timeline. A call of
// snowflake_settle() overrules the timeline: then the server without that call is the old one.
constexpr bool IsOlder(const Standing &standing, const RegistrySeen &seen, int64_t now_us) {
  if (standing.system_identifier != seen.system_identifier) return false;
  const int64_t settle_called_us = PlausibleSettleCall(standing.settle_called_us, now_us);
  const int64_t seen_us = PlausibleSettleCall(seen.settle_called_us, now_us);
  return settle_called_us < seen_us || (settle_called_us == seen_us && standing.timeline < seen.timeline);
}

constexpr void NoteStanding(RegistrySeen *seen, const Standing &standing, int64_t now_us) {
  seen->system_identifier = standing.system_identifier;
  seen->timeline = standing.timeline;
  seen->settle_called_us = PlausibleSettleCall(standing.settle_called_us, now_us);
}

// snowflake_raise() ruled out ids up to this tick, here or in the registry.
constexpr void TakeRaise(NodeState *node, Tick raised_tick) {
  const Tick before = EarliestLeft(node->generator);
  PassTick(&node->generator, raised_tick);
  if (EarliestLeft(node->generator) > before) CatchUp(node, node->policy.new_worker);
}

constexpr void TakeStanding(NodeState *node, const Standing &standing) {
  NoteStanding(&node->seen, standing, node->clock.shown_us);
  node->seen.lease_id = node->generator.lease.lease_id;
  TakeRaise(node, standing.raised_tick);
}

// The registry refused the clock of a request: if the wall clock differs, they take turns.
constexpr void RefusedForSkew(NodeState *node) { node->ask_by_wall = !node->ask_by_wall && LeadUs(node->clock) != 0; }

constexpr int64_t AskingUs(const NodeState &node) {
  return node.ask_by_wall ? node.clock.read.wall_us : node.clock.shown_us;
}

// Such a time is accepted only by a registry that has kept its own: it may have leapt, too.
constexpr bool AsksByLeap(const NodeState &node) { return node.ask_by_wall && LeadUs(node.clock) < 0; }

// The registry accepted the clock of a request. If that was of a leap, and the clock has not leapt
// again since, the leap was right. A lead shrinks by itself, in order; until then requests use the
// wall clock.
constexpr void AcceptedClock(NodeState *node, bool leapt, int64_t asked_us) {
  const bool leapt_again = node->clock.read.wall_us - asked_us > node->policy.clock.max_leap_us;
  if (leapt && !leapt_again && LeadUs(node->clock) < 0) FollowWall(&node->clock);
  node->ask_by_wall = node->ask_by_wall && LeadUs(node->clock) != 0;
}

// An acquire under way. Its request lacks the node's name and datacenter.
struct AcquireAsked {
  AcquireRequest request;
  Tick since, until;  // the earliest and the latest `now` of requests with this secret
  bool new_worker;    // because the clock stepped back
  int64_t most_raised_us;
};

// The requested beginning of a window: above all issued ids, unless the clock stepped back, or ids
// are in order with a clock that is ahead of the wall clock, by which the registry is asked.
constexpr Tick StartFrom(const NodeState &node, const Layout &layout, Tick clock) {
  const Tick first_unused = FirstUnused(node.generator, layout), lead = MaxLead(node, layout);
  if (first_unused <= clock) return clock;
  const bool stepped_back = first_unused - 1 - clock > lead && node.policy.new_worker;
  const bool in_order = node.ask_by_wall && first_unused - 1 - NowOf(node, layout) <= lead;
  return node.generator.open || stepped_back || in_order ? clock : first_unused;
}

// `fresh` is an unused secret. Of `most_raised_us`: MostRaisedUs().
constexpr AcquireAsked AskForLease(NodeState *node, const Layout &layout, int64_t duration_us, const Secret &fresh,
                                   int64_t most_raised_us) {
  SNOWFLAKE_ASSERT(fresh != Secret{});
  const Generator &g = node->generator;
  AcquireAsked asked = {};
  const Tick clock = layout.TickAt(AskingUs(*node));
  asked.new_worker = g.open && node->new_worker_wanted;
  asked.most_raised_us = most_raised_us;
  asked.request.now = StartFrom(*node, layout, clock);
  asked.request.duration_us = duration_us;
  // Another lease helps only if it begins earlier, and after a step back only if usable at once.
  asked.request.start_before = kAnyStart;
  if (g.open && g.layout == layout) {
    asked.request.start_before = EarliestLeft(g);
    const Tick at_once = clock + MaxLead(*node, layout) + 1;
    if (asked.new_worker && at_once < asked.request.start_before)
      asked.request.start_before = at_once > 0 ? at_once : 0;
  }
  asked.request.leapt = AsksByLeap(*node);
  asked.request.seen_lease_id = node->seen.lease_id;
  if (node->next_secret == Secret{}) {
    node->next_secret = fresh;
    node->next_secret_since = node->next_secret_until = asked.request.now;
  }
  if (asked.request.now < node->next_secret_since) node->next_secret_since = asked.request.now;
  if (asked.request.now > node->next_secret_until) node->next_secret_until = asked.request.now;
  asked.request.secret_hash = node->next_secret.hash;
  asked.since = node->next_secret_since;
  asked.until = node->next_secret_until;
  return asked;
}

struct TakenLease {
  AnswerFault fault;
  bool opened;
  bool replaced;  // another lease
  Retired old;    // if replaced
};

constexpr AnswerFault FaultOf(const NodeState &node, const Layout &layout, const AcquireAsked &asked,
                              const AcquireAnswer &answer) {
  const AcquireRequest &request = asked.request;
  if (IsOlder(answer.standing, node.seen, node.clock.shown_us)) return AnswerFault::kTimeline;
  if (answer.layout != layout) return AnswerFault::kLayout;
  const AnswerFault fault =
      Judge(layout, request.datacenter, answer.lease, asked.since, asked.until, request.duration_us);
  if (fault != AnswerFault::kNone) return fault;
  return IsPlausibleRaise(layout, answer.standing.raised_tick, request.now, asked.most_raised_us)
             ? AnswerFault::kNone
             : AnswerFault::kRaised;
}

// The answer to an acquire. Not used with a fault, while `stopping`, or if it begins too late.
constexpr TakenLease TakeLease(NodeState *node, const Layout &layout, const AcquireAsked &asked,
                               const AcquireAnswer &answer, bool stopping) {
  Lease lease = answer.lease;
  TakenLease taken = {FaultOf(*node, layout, asked, answer), false, false, {}};
  // A copy may have requested it, too: ForgetLease().
  if (asked.request.secret_hash != node->next_secret.hash) return taken;
  // The present primary may have the request.
  if (taken.fault == AnswerFault::kTimeline) return taken;
  lease.secret = node->next_secret;
  node->next_secret = {};
  if (taken.fault != AnswerFault::kNone || stopping || lease.window_start >= asked.request.start_before) {
    Retire(node, {lease.lease_id, lease.secret, lease.worker, lease.window_start - 1, lease.window_end, false});
    KeepPresentWorker(node);
    return taken;
  }
  taken.opened = true;
  taken.replaced = node->generator.open;
  const Tick last = FirstUnused(node->generator, layout) - 1;
  if (taken.replaced) Retire(node, taken.old = Close(&node->generator));
  Open(&node->generator, layout, lease);
  node->clock.earliest_us = layout.epoch_us();
  // If the clock is right again, or never was behind, ids go on in order. Otherwise they begin
  // anew.
  if (last - NowOf(*node, layout) <= MaxLead(*node, layout))
    PassTick(&node->generator, last);
  else
    node->lead_left_us = 0;
  AcceptedClock(node, asked.request.leapt, layout.UnixUsAt(asked.request.now));
  CatchUp(node, node->policy.new_worker);
  TakeStanding(node, answer.standing);
  node->workers_free = answer.workers_free;
  node->lease_wanted = node->new_worker_wanted = node->window_wanted = false;
  return taken;
}

// A request with the wall clock asks for a longer window, by the lead of the node's clock.
constexpr ExtendRequest AskForWindow(const NodeState &node, int64_t duration_us) {
  SNOWFLAKE_ASSERT(duration_us <= kMaxLeaseUs);
  const Generator &g = node.generator;
  const Lease &lease = g.lease;
  const Tick now = ExtendFrom(g, g.layout.TickAt(AskingUs(node)), MaxLead(node, g.layout));
  const int64_t ahead_us = node.clock.shown_us - AskingUs(node), most_us = kMaxLeaseUs - duration_us;
  const int64_t longer_us = ahead_us > most_us ? most_us : ahead_us;
  if (longer_us > 0) duration_us += longer_us;
  return {lease.lease_id,     lease.secret.hash, now, duration_us, lease.window_end, lease.worker,
          lease.window_start, AsksByLeap(node)};
}

// The answer to an extend, which counts only for the lease in place. If the window is over all the
// same, that is a fault: the call that waits for it would have it asked for again at once.
constexpr AnswerFault TakeWindow(NodeState *node, const ExtendRequest &asked, const ExtendAnswer &answer,
                                 int64_t most_raised_us, bool stopping) {
  if (IsOlder(answer.standing, node->seen, node->clock.shown_us)) return AnswerFault::kTimeline;
  if (!IsPlausibleEnd(node->generator.layout, answer.window_end, asked.held_until, asked.now))
    return AnswerFault::kWindow;
  if (!IsPlausibleRaise(node->generator.layout, answer.standing.raised_tick, asked.now, most_raised_us))
    return AnswerFault::kRaised;
  // A shutdown ends a wait for a synchronous standby without its acknowledgement.
  if (stopping) return AnswerFault::kNone;
  MoveWindowEnd(&node->generator, asked.lease_id, answer.window_end);
  AcceptedClock(node, asked.leapt, node->generator.layout.UnixUsAt(asked.now));
  TakeStanding(node, answer.standing);
  const Generator &g = node->generator;
  const bool ended = ExtendFrom(g, NowOf(*node, g.layout), MaxLead(*node, g.layout)) >= g.lease.window_end;
  if (g.open && ended) return AnswerFault::kEnded;
  node->window_wanted = false;
  return AnswerFault::kNone;
}

// The registry does not have the lease.
constexpr AnswerFault LoseLease(NodeState *node, int64_t lease_id, const Standing &standing) {
  if (IsOlder(standing, node->seen, node->clock.shown_us)) return AnswerFault::kTimeline;
  if (node->generator.lease.lease_id == lease_id) node->generator.open = false;
  return AnswerFault::kNone;
}

// The registry is asked to release a lease. Whatever it answers, this node does not use it again.
constexpr void NoteAsked(NodeState *node, int64_t lease_id) {
  for (int i = 0; i < node->retired_count; ++i)
    if (node->retired[i].lease_id == lease_id) node->retired[i].asked = true;
}

constexpr ReleaseRequest AskToRelease(const Retired &retired) {
  return {retired.lease_id, retired.secret, retired.last_tick, retired.window_end};
}

}  // namespace snowflake
