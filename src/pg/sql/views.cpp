// What the views snowflake_status and snowflake_metrics read: this node at one moment, copied under
// its lock. The horizon has a lock of its own and is read first, so that it is behind the clock.
#include "core/outlook.h"
#include "core/ring.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/launch.h"
#include "pg/keeper/advice.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"
#include "pg/sql/mask_keys.h"
#include "pg/state/state_block.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// A row of snowflake_get_status(): its columns in their order.
struct StatusRow {
  Datum values[38];
  bool nulls[lengthof(values)];
  int count;

  void Add(Datum value, bool known = true) {
    values[count] = value;
    nulls[count++] = !known;
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

// What a call would get now.
const char *StateOfLease(NodeState state) {
  const Terms terms = {MaxLead(state, state.generator.layout), 0};
  switch (TakeOrAsk(&state, 1, terms).outcome) {
    case Outcome::kNoLease: break;
    case Outcome::kRun:
    case Outcome::kTickUsedUp: return "issuing";
    case Outcome::kWindowEnd: return "window ended";
    case Outcome::kClockBehind: return "clock behind";
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

Datum Positive(int64_t us) { return IntervalDatum(Max(us, int64_t{0})); }

void AddLease(StatusRow *row, const char *state, const NodeBlock *node, const NodeShot &shot, int64_t now_us) {
  const Generator &g = shot.state.generator;
  const bool has_lease = g.lease.lease_id != 0;
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  row->Add(CStringGetTextDatum(state));
  row->Add(CStringGetTextDatum(shot.node_name), shot.node_name[0] != '\0');
  row->Add(Int32GetDatum(g.lease.worker), has_lease);
  row->Add(Int64GetDatum(g.lease.lease_id), has_lease);
  row->Add(TimeDatum(g.layout.UnixUsAt(g.lease.window_start)), has_lease);
  row->Add(TimeDatum(end_us), has_lease);
  row->Add(Positive(strcmp(state, "issuing") == 0 ? end_us - now_us : 0), has_lease && g.open);
  const int32_t last_sequence = static_cast<int32_t>(g.next_sequence - 1);
  const bool has_issued = has_lease && g.last_tick >= g.lease.window_start;
  row->Add(Int64GetDatum(has_issued ? g.layout.Pack({g.last_tick, g.lease.worker, last_sequence}) : 0), has_issued);
  row->Add(Positive(g.layout.UnixUsAt(Max(g.last_tick, g.lease.window_start)) - now_us), has_lease);
  row->Add(IntervalDatum(LeadUs(shot.state.clock)), node != nullptr);
  row->Add(Int64GetDatum(shot.state.clock.bridged), node != nullptr);
  row->Add(Int32GetDatum(shot.keeper_pid), shot.keeper_pid != 0);
}

void AddCounters(StatusRow *row, const Counters &counters) {
  constexpr int64_t Counters::*kInOrder[] = {
      &Counters::ids_taken,      &Counters::clock_waits,          &Counters::lease_waits,
      &Counters::failed_calls,   &Counters::failed_segment_calls, &Counters::clock_steps_back,
      &Counters::leases_acquired};
  for (const auto counter : kInOrder) row->Add(Int64GetDatum(counters.*counter), HasSharedMemory());
}

void AddExchanges(StatusRow *row, const NodeShot &shot) {
  const Exchanges &exchanges = shot.exchanges;
  const RegistryError &error = shot.error;
  const bool failed = error.message[0] != '\0';
  row->Add(BoolGetDatum(RegistryIsHere()));
  row->Add(Int64GetDatum(exchanges.answered), HasSharedMemory());
  row->Add(Int64GetDatum(exchanges.failed), HasSharedMemory());
  row->Add(Float8GetDatum(Seconds(exchanges.took_us)), exchanges.answered > 0);
  row->Add(Float8GetDatum(Seconds(SteadyUs() - exchanges.answered_us)), exchanges.answered > 0);
  row->Add(BoolGetDatum(shot.ranges_error.message[0] != '\0'), HasSharedMemory());
  row->Add(CStringGetTextDatum(failed ? WhatRegistrySaid(error) : ""), failed);
  row->Add(CStringGetTextDatum(unpack_sql_state(error.sqlstate)), failed);
  row->Add(TimeDatum(error.at_us), failed);
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

// How long the request under way has had no answer.
int64_t UnansweredUs(const NodeShot &shot) {
  const int64_t asked_us = shot.exchanges.asked_us;
  return asked_us == 0 ? 0 : Max(SteadyUs() - asked_us, int64_t{0});
}

const char *WhyLate(const NodeShot &shot) {
  const int64_t unanswered_us = UnansweredUs(shot);
  if (unanswered_us > 0) return psprintf("the keeper's request has had no answer for %.1f s", Seconds(unanswered_us));
  return psprintf("the keeper (process %d) has not extended the lease for %.1f s", shot.keeper_pid,
                  Seconds(SteadyUs() - shot.exchanges.extended_us));
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
  // If it need not, the next call gets another worker id.
  const bool must_wait = !shot.state.policy.new_worker || !MayLead(shot.state);
  if (is("clock behind") && must_wait)
    error = ErrorOfClock(kClockBehind, "the clock is behind the last id or the lease");
  if (is("time used up")) error = ErrorOfClock(kTimeUsedUp, "the layout's time is used up");
  const Generator &g = shot.state.generator;
  Outlook outlook = {true, error.message[0] != '\0', shot.has_keeper, 0, UnansweredUs(shot)};
  if (g.open) {
    outlook.window_us = shot.exchanges.window_us;
    outlook.since_us = SteadyUs() - shot.exchanges.extended_us;
  }
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  const char *what = is("issuing") ? psprintf("ids stop at %s, in %.1f s, unless the lease is extended", Time(end_us),
                                              Seconds(end_us - now_us))
                                   : "no ids are issued";
  return StopOf(what, TroubleOf(outlook), shot, error);
}

// The same for numbers of segments. Roles that may not read snowflake_segments read no name and no
// number here either.
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

// Advice that is found when it is shown, but for what stops.
uint32_t AdviceNow(const NodeShot &shot, const HorizonShown &horizon, bool has_box, bool doubted) {
  uint32_t advice = shot.advice;
  if (!has_box) advice |= kAdviceNoBox;
  if (doubted) advice |= kAdviceStart;
  if (IsOfFuture(horizon.layout, horizon.highest, LatestIdUs(shot.state))) advice |= kAdviceFuture;
  return advice;
}

void AddOutlook(StatusRow *row, Oid fn_oid, const char *state, const NodeBlock *node, const NodeShot &shot,
                const HorizonShown &horizon, int64_t now_us) {
  const Generator &g = shot.state.generator;
  Advised advised = {};
  advised.workers = g.layout.workers_per_datacenter();
  advised.workers_free = shot.state.workers_free;
  const bool counted = g.lease.lease_id != 0 && advised.workers_free >= 0;
  row->Add(Int64GetDatum(advised.workers), counted);
  row->Add(Int64GetDatum(advised.workers_free), counted);
  // Without an open lease, the layout is read from its table.
  const Layout layout = g.open ? g.layout : DatabaseLayout(fn_oid);
  row->Add(TimeDatum(layout.UnixUsAt(layout.max_tick() + 1)));
  const bool has_box = HasSharedMemory() && HasBox();
  advised.ids = StopOfIds(state, node, shot, now_us);
  if (node != nullptr) {
    const StartClock start = ReadStart(shot.state.clock.read);
    advised.advice = AdviceNow(shot, horizon, has_box, start.doubted);
    advised.sign_us = start.sign_us;
    advised.numbers = StopOfNumbers(state, shot);
  }
  if (advised.ids.what != nullptr) advised.advice |= kAdviceIds;
  if (advised.numbers.what != nullptr) advised.advice |= kAdviceNumbers;
  if (MaskKeysAreRefused()) advised.advice |= kAdviceMaskKeys;
  if ((advised.advice & kAdviceFewKeepers) != 0) advised.databases = NodeSlotsInUse();
  if ((advised.advice & kAdviceFuture) != 0) advised.horizon_us = horizon.layout.UnixUsOf(horizon.highest);
  row->Add(CStringGetTextDatum(advised.advice == 0 ? "" : AdviceText(advised)), advised.advice != 0);
  row->Add(BoolGetDatum(has_box), HasSharedMemory());
}

void AddHorizon(StatusRow *row, const HorizonShown &shown, int64_t now_us) {
  const auto time_of = [&](int64_t id) { return shown.layout.UnixUsOf(id); };
  const FirstId &holder = shown.holder;
  row->Add(Int64GetDatum(shown.horizon), shown.horizon != 0);
  row->Add(Positive(now_us - time_of(shown.horizon)), shown.horizon != 0);
  row->Add(Int32GetDatum(holder.by.pid), holder.by.pid != 0);
  row->Add(TransactionIdGetDatum(holder.xid), holder.xid != 0);
  row->Add(TimeDatum(time_of(holder.first)), holder.first != 0);
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_get_status) {
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  NodeBlock *node = FindNode(MyDatabaseId);
  HorizonShown shown = {};
  NodeShot shot = {};
  if (node != nullptr) {
    shown = ShowHorizon(node, extension);
    CopyNode(node, extension, &shot);
  }
  Read(&shot.state, ReadClocks());
  const int64_t now_us = shot.state.clock.shown_us;
  const char *state = StateText(node, shot);
  StatusRow row = {};
  AddLease(&row, state, node, shot, now_us);
  AddCounters(&row, shot.counters);
  AddExchanges(&row, shot);
  AddOutlook(&row, fcinfo->flinfo->fn_oid, state, node, shot, shown, now_us);
  AddHorizon(&row, shown, now_us);
  Assert(row.count == lengthof(row.values));
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), row.values, row.nulls));
}

// The shares of a ring, for snowflake_registry_metrics.
SNOWFLAKE_FUNCTION(snowflake_get_ring) {
  const int64_t size = DatabaseLayout(fcinfo->flinfo->fn_oid).workers_per_datacenter();
  Datum values[] = {Int64GetDatum(size), Int64GetDatum(CommonSize(size))};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls));
}

}  // namespace snowflake
