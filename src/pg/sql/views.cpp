// What the views snowflake_status and snowflake_metrics show: this node at one moment, copied under
// its lock. The horizon has a lock of its own and is read first, so that it is behind the clock.
#include "core/outlook.h"
#include "core/ring.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/launch.h"
#include "pg/keeper/advice.h"
#include "pg/registry/triggers.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"
#include "pg/sql/mask_keys.h"
#include "pg/state/state_block.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
struct ResultRow {
  Datum values[32];
  bool nulls[lengthof(values)];
  int count;

  void Add(Datum value, bool known = true) {
    values[count] = value;
    nulls[count++] = !known;
  }
  void AddString(const char *text) { Add(text == nullptr ? Datum{0} : CStringGetTextDatum(text), text != nullptr); }
  void AddInteger(int64_t number, bool known = true) { Add(Int32GetDatum(static_cast<int32_t>(number)), known); }
  void AddCount(int64_t number, bool known = true) { Add(Int64GetDatum(number), known); }
  void AddTime(int64_t unix_us, bool known = true) { Add(TimeDatum(unix_us), known); }
  void AddSeconds(int64_t us, bool known = true) { Add(Float8GetDatum(Seconds(us)), known); }

  Datum ToDatum(FunctionCallInfo fcinfo) {
    TupleDesc descriptor = ResultDescriptor(fcinfo);
    Assert(count == descriptor->natts);
    return HeapTupleGetDatum(heap_form_tuple(descriptor, values, nulls));
  }
};

// What is copied under the lock.
struct NodeShot {
  NodeState state;
  Counters counters;
  Exchanges exchanges;
  RegistryError error;
  RegistryError ranges_error;
  uint32_t advice;
  int keeper_pid;
  bool has_keeper;  // or will have one with the first call
  bool password_in_clear;
  char node_name[sizeof(NodeBlock::node_name)];
};

void CopyNode(NodeBlock *node, Oid extension, NodeShot *shot) {
  const int64_t monotonic_us = MonotonicUs();
  WithBox(node, [&](BoxSlot *) {
    shot->state = node->state;
    // The lease may be that of an extension that was dropped.
    if (node->extension != extension) {
      shot->state.generator = {};
      shot->state.workers_free = 0;
    }
    // A node that only acquires ranges has advice, and no extension.
    if (node->extension == extension || !OidIsValid(node->extension)) shot->advice = node->advice;
    shot->password_in_clear = node->password_in_clear;
    shot->counters = node->counters;
    shot->exchanges = node->exchanges;
    shot->keeper_pid = node->keeper_pid;
    // After a crash, ids go on before a keeper starts.
    shot->has_keeper = HasKeeper(*node, monotonic_us) || node->recovered;
    memcpy(shot->node_name, node->node_name, sizeof(shot->node_name));
  });
  shot->error = NewestError(node, &NodeBlock::error);
  shot->ranges_error = NewestError(node, &NodeBlock::ranges_error);
}

// Whether calls fail until a clock that is behind has caught up. If not, the next one gets another
// worker id.
bool MustWait(const NodeState &state) { return !state.policy.new_worker || !MayLead(state); }

// What a call would get now.
const char *StateOfLease(NodeState state) {
  const Terms terms = {MaxLead(state, state.generator.layout), 0};
  switch (TakeOrAsk(&state, 1, terms).outcome) {
    case Outcome::kNoLease: break;
    case Outcome::kRun:
    case Outcome::kTickUsedUp: return "issuing";
    case Outcome::kWindowEnd: return "window ended";
    case Outcome::kClockBehind: return MustWait(state) ? "clock behind" : "issuing";
    case Outcome::kTimeUsedUp: return "time used up";
  }
  return "no lease";
}

// Idle: as far as this process can know, the first call will acquire a lease.
const char *StateText(const NodeBlock *node, const NodeShot &shot) {
  if (!HasSharedMemory()) return "not preloaded";
  // Even with an open lease, which it may have from its time as the primary.
  if (RegistryIsHere() && RecoveryInProgress()) return "standby";
  if (shot.state.generator.open) return StateOfLease(shot.state);
  if (node == nullptr) return NodeSlotsInUse() < NodeSlots() ? "idle" : "no lease";
  if (shot.error.message[0] != '\0') return shot.error.held_back ? "held back" : "no lease";
  // Without a lease, the keeper may be there for segments alone.
  const bool keeps = shot.keeper_pid != 0 && shot.state.generator.lease.lease_id != 0;
  return shot.state.lease_wanted || keeps ? "no lease" : "idle";
}

// Of this database's segments, the one with the fewest numbers left.
struct Scarcest {
  bool known;
  bool wanted;  // a range, for any segment
  int64_t left;
  char name[sizeof(SegmentSlot::name)];
};

Scarcest FindScarcest() {
  Scarcest scarcest = {};
  for (int i = 0; i < SegmentSlots(); ++i) {
    SegmentSlot *slot = SegmentSlotAt(i);
    WithMutex(slot, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
      if (slot->database != MyDatabaseId) return;
      const int64_t left = slot->ranges.current.left + slot->ranges.next.left;
      scarcest.wanted |= slot->ranges.wanted;
      if (scarcest.known && left >= scarcest.left) return;
      scarcest.known = true;
      scarcest.left = left;
      memcpy(scarcest.name, slot->name, sizeof(scarcest.name));
    });
  }
  return scarcest;
}

// How long ago the window was acquired or last extended.
int64_t SinceExtensionUs(const NodeShot &shot) { return Max(SteadyUs() - shot.exchanges.extended_us, int64_t{0}); }

// How long the request under way has had no answer.
int64_t UnansweredUs(const NodeShot &shot) {
  const int64_t asked_us = shot.exchanges.asked_us;
  return asked_us == 0 ? 0 : Max(SteadyUs() - asked_us, int64_t{0});
}

const char *WhyLate(const NodeShot &shot) {
  const int64_t unanswered_us = UnansweredUs(shot);
  if (unanswered_us > 0) return psprintf("the keeper's request has had no answer for %.1f s", Seconds(unanswered_us));
  return psprintf("the keeper (process %d) has not extended the lease for %.1f s", shot.keeper_pid,
                  Seconds(SinceExtensionUs(shot)));
}

// `what` is about to stop, or has stopped.
Wording StopOf(const char *what, Trouble trouble, const NodeShot &shot, const RegistryError &error) {
  const auto why = [what](const char *reason) { return psprintf("%s: %s", what, reason); };
  switch (trouble) {
    case Trouble::kNone: break;
    case Trouble::kFailed: return {why(WhatRegistrySaid(error)), WhatToDoAbout(error)};
    case Trouble::kLate:
      if (shot.keeper_pid != 0) return {why(WhyLate(shot)), WhatToDoAbout({})};
      [[fallthrough]];  // it was expected, and did not start
    case Trouble::kNoKeeper:
      return {why("the keeper does not run"),
              "The next call starts it. If all background workers are in use, raise max_worker_processes and restart "
              "the server."};
  }
  return {};
}

RegistryError ErrorOfClock(int sqlstate, const char *message) {
  RegistryError error = {};
  error.sqlstate = sqlstate;
  error.for_all = true;
  SetMessage(&error, message);
  return error;
}

// All null: ids go on.
Wording StopOfIds(const char *state, const NodeBlock *node, const NodeShot &shot, int64_t now_us) {
  const auto is = [state](const char *other) { return strcmp(state, other) == 0; };
  if (is("idle") || is("standby") || is("not preloaded")) return {};
  if (node == nullptr)
    return {"no ids are issued: too many databases of this server issue ids",
            "Raise snowflake.max_databases and restart the server."};
  RegistryError error = shot.error;
  if (is("clock behind")) error = ErrorOfClock(kClockBehind, "the clock is behind the last id or the lease");
  if (is("time used up")) error = ErrorOfClock(kTimeUsedUp, "the layout's time is used up");
  const Generator &g = shot.state.generator;
  Outlook outlook = {true, error.message[0] != '\0', shot.has_keeper, 0, UnansweredUs(shot)};
  if (g.open) {
    outlook.window_us = shot.exchanges.window_us;
    outlook.since_us = SinceExtensionUs(shot);
  }
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  const char *what = is("issuing") ? psprintf("ids stop at %s, in %.1f s, unless the lease is extended", Time(end_us),
                                              Seconds(end_us - now_us))
                                   : "no ids are issued";
  return StopOf(what, TroubleOf(outlook), shot, error);
}

// Advice if numbers of segments are about to stop. Roles that may not read snowflake_segments read
// no name and no number here either.
Wording StopOfNumbers(const char *state, const NodeShot &shot) {
  const Scarcest scarcest = FindScarcest();
  if (!scarcest.known || strcmp(state, "standby") == 0) return {};
  const RegistryError &error = shot.ranges_error;
  const Outlook outlook = {scarcest.wanted, error.message[0] != '\0', shot.has_keeper, 0, UnansweredUs(shot)};
  const bool may_read = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
  const char *what =
      may_read ? psprintf("segments get no more numbers, and \"%s\" has %lld left", scarcest.name, Long(scarcest.left))
               : "segments get no more numbers";
  return StopOf(what, TroubleOf(outlook), shot, error);
}

// How the node's clock goes.
const char *TextOfClock(const NodeClock &clock, const ServerTime &time) {
  if (time.reading.wall_us < clock.earliest_us) return "runs by itself";
  switch (clock.mode) {
    case ClockMode::kWall: break;
    case ClockMode::kBridged: return "bridges a step back";
    case ClockMode::kHeld: return "holds a leap";
  }
  return "follows";
}

// This node, and what follows from it.
struct NodeStatus {
  NodeBlock *node;  // null if it has none yet
  NodeShot shot;
  HorizonShown horizon;
  const char *state;
  ServerTime time;
  int64_t now_us;
  bool has_box;
  Advised advised;

  const Generator &generator() const { return shot.state.generator; }
  const Lease &lease() const { return generator().lease; }
  bool has_lease() const { return lease().lease_id != 0; }
  bool failed() const { return shot.error.message[0] != '\0'; }
  int64_t TimeAt(Tick tick) const { return generator().layout.UnixUsAt(tick); }
  bool IsIn(const char *other) const { return strcmp(state, other) == 0; }
};

Advised FindAdvice(const NodeStatus &shown, Oid extension) {
  Advised advised = {};
  advised.workers = shown.generator().layout.workers_per_datacenter();
  advised.workers_free = shown.shot.state.workers_free;
  advised.ids = StopOfIds(shown.state, shown.node, shown.shot, shown.now_us);
  advised.time = shown.time;
  if (IsInDoubt(shown.time)) advised.advice |= kAdviceDoubt;
  if (IsKnownBehind(shown.time)) advised.advice |= kAdviceBehind;
  if (shown.node != nullptr) {
    const HorizonShown &horizon = shown.horizon;
    const auto future_of = [&](int64_t id) { return FutureOf(horizon.layout, id, shown.shot.state, shown.time); };
    const Future future = future_of(horizon.limit);
    advised.advice |= shown.shot.advice;
    advised.holds = shown.shot.state.clock.mode == ClockMode::kHeld;
    advised.rises = MayBeRight(shown.shot.state.clock);
    if (!shown.has_box) advised.advice |= kAdviceNoBox;
    if (future == Future::kWrong) advised.advice |= kAdviceFuture;
    if (future != Future::kNone) advised.horizon_us = horizon.layout.UnixUsOf(horizon.limit);
    advised.only_on_disk = future_of(horizon.highest) == Future::kNone;
    advised.numbers = StopOfNumbers(shown.state, shown.shot);
  }
  if (advised.ids.what != nullptr) advised.advice |= kAdviceIds;
  if (advised.numbers.what != nullptr) advised.advice |= kAdviceNumbers;
  if (MaskKeysAreRefused()) advised.advice |= kAdviceMaskKeys;
  advised.lost_guards = LostGuards(extension);
  if (advised.lost_guards != nullptr) advised.advice |= kAdviceGuards;
  if ((advised.advice & kAdviceFewKeepers) != 0) advised.databases = NodeSlotsInUse();
  return advised;
}

NodeStatus ReadStatus(Oid extension) {
  NodeStatus shown = {};
  shown.node = FindNode(MyDatabaseId);
  if (shown.node != nullptr) {
    shown.horizon = ShowHorizon(shown.node, extension);
    CopyNode(shown.node, extension, &shown.shot);
  }
  shown.time = LookAtTime();
  Read(&shown.shot.state, shown.time);
  shown.now_us = shown.shot.state.clock.shown_us;
  shown.state = StateText(shown.node, shown.shot);
  shown.has_box = HasSharedMemory() && HasBox();
  shown.advised = FindAdvice(shown, extension);
  return shown;
}

// For how long a transaction has held the horizon back, or a call has waited for the keeper to
// raise its limit. 0: neither. Of a transaction that was prepared before the server was started, it
// is not recorded whether it took ids, nor when.
int64_t HeldBackUs(const NodeStatus &shown) {
  const HorizonShown &horizon = shown.horizon;
  const FirstId &holder = horizon.holder;
  int64_t held_us = 0;
  if (holder.first != 0)
    held_us = shown.now_us - horizon.layout.UnixUsOf(holder.first);
  else if (holder.xid != 0)
    held_us = GetCurrentTimestamp() - PgStartTime;
  const int64_t waited_us = horizon.waits_us == 0 ? 0 : SteadyUs() - horizon.waits_us;
  return Max(Max(held_us, waited_us), int64_t{0});
}

// 0: none was issued under the lease.
int64_t LastIdOf(const NodeStatus &shown) {
  const Generator &g = shown.generator();
  if (!shown.has_lease() || g.last_tick < g.lease.window_start) return 0;
  return g.layout.Pack({g.last_tick, g.lease.worker, static_cast<int32_t>(g.next_sequence - 1)});
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_get_status) {
  const NodeStatus shown = ReadStatus(ExtensionOfFunction(fcinfo->flinfo->fn_oid));
  const NodeShot &shot = shown.shot;
  const FirstId &holder = shown.horizon.holder;
  const int64_t last_id = LastIdOf(shown);
  ResultRow row = {};
  row.AddString(shown.state);
  row.AddString(shot.node_name[0] != '\0' ? shot.node_name : nullptr);
  row.AddInteger(shown.lease().worker, shown.has_lease());
  row.AddCount(shown.lease().lease_id, shown.has_lease());
  row.AddTime(shown.TimeAt(shown.lease().window_end), shown.has_lease());
  row.AddCount(last_id, last_id != 0);
  row.AddInteger(shot.keeper_pid, shot.keeper_pid != 0);
  row.AddString(shown.failed() ? WhatRegistrySaid(shot.error) : nullptr);
  row.AddString(shown.failed() ? unpack_sql_state(shot.error.sqlstate) : nullptr);
  row.AddString(shown.advised.advice != 0 ? AdviceText(shown.advised) : nullptr);
  row.AddString(shown.node != nullptr ? TextOfClock(shot.state.clock, shown.time) : nullptr);
  row.AddCount(shown.horizon.horizon, shown.horizon.horizon != 0);
  row.AddInteger(holder.by.pid, holder.by.pid != 0);
  row.Add(TransactionIdGetDatum(holder.xid), holder.xid != 0);
  row.AddTime(shown.horizon.layout.UnixUsOf(holder.first), holder.first != 0);
  return row.ToDatum(fcinfo);
}

SNOWFLAKE_FUNCTION(snowflake_get_metrics) {
  const NodeStatus shown = ReadStatus(ExtensionOfFunction(fcinfo->flinfo->fn_oid));
  const NodeShot &shot = shown.shot;
  const Generator &g = shown.generator();
  const Exchanges &exchanges = shot.exchanges;
  const bool counts = HasSharedMemory();
  const bool issues_here = counts && !shown.IsIn("standby");
  ResultRow row = {};
  row.AddString(shown.state);
  row.AddInteger(shown.IsIn("issuing"), issues_here);
  row.AddInteger(shown.IsIn("idle"), issues_here);
  row.AddInteger(shot.keeper_pid != 0);
  row.AddInteger(RegistryIsHere());
  row.AddInteger(shown.lease().worker, shown.has_lease());
  const int64_t left_us = shown.IsIn("issuing") ? shown.TimeAt(shown.lease().window_end) - shown.now_us : 0;
  row.AddSeconds(Max(left_us, int64_t{0}), g.open);
  const int64_t lead_us = shown.TimeAt(Max(g.last_tick, shown.lease().window_start)) - shown.now_us;
  row.AddSeconds(Max(lead_us, int64_t{0}), shown.has_lease());
  row.AddSeconds(shot.state.clock.shown_us - shown.time.reading.wall_us, shown.node != nullptr);
  row.AddCount(shot.state.clock.bridged);
  constexpr int64_t Counters::*kInOrder[] = {&Counters::clock_steps_back, &Counters::ids_taken,
                                             &Counters::clock_waits,      &Counters::lease_waits,
                                             &Counters::failed_calls,     &Counters::failed_segment_calls,
                                             &Counters::leases_acquired};
  for (const auto counter : kInOrder) row.AddCount(shot.counters.*counter, counts);
  row.AddCount(exchanges.answered, counts);
  row.AddCount(exchanges.failed, counts);
  row.AddSeconds(exchanges.took_us, exchanges.answered > 0);
  row.AddSeconds(SteadyUs() - exchanges.answered_us, exchanges.answered > 0);
  row.AddSeconds(SinceExtensionUs(shot), g.open);
  row.AddInteger(shown.failed());
  row.AddInteger(shot.ranges_error.message[0] != '\0', counts);
  row.AddInteger(shot.password_in_clear, counts);
  row.AddSeconds(HeldBackUs(shown), shown.horizon.asked);
  row.AddInteger(shown.has_box, counts);
  row.AddInteger(__builtin_popcount(shown.advised.advice));
  // Without an open lease, the layout is read from its table.
  const Layout layout = g.open ? g.layout : DatabaseLayout(fcinfo->flinfo->fn_oid);
  row.AddSeconds(layout.UsLeft(shot.state.clock.read.wall_us));
  return row.ToDatum(fcinfo);
}

// The shares of a ring, for snowflake_registry_metrics.
SNOWFLAKE_FUNCTION(snowflake_get_ring) {
  const int64_t size = DatabaseLayout(fcinfo->flinfo->fn_oid).workers_per_datacenter();
  Datum values[] = {Int64GetDatum(size), Int64GetDatum(CommonSize(size))};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls));
}

}  // namespace snowflake
