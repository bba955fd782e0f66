// What the views snowflake_status and snowflake_metrics read: this node at one moment, copied under
// its lock. The horizon has a lock of its own and is read first, so that it is behind the clock.
#include "core/ring.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/launch.h"
#include "pg/keeper/advice.h"
#include "pg/rows.h"
#include "pg/settings.h"
#include "pg/sql/mask_keys.h"
#include "pg/state/state_block.h"

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
  char node_name[sizeof(NodeBlock::node_name)];
};

void CopyNode(NodeBlock *node, Oid extension, NodeShot *shot) {
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

void AddLease(StatusRow *row, const NodeBlock *node, const NodeShot &shot, int64_t now_us) {
  const Generator &g = shot.state.generator;
  const bool has_lease = g.lease.lease_id != 0;
  const char *state = StateText(node, shot);
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  row->Add(CStringGetTextDatum(state));
  row->Add(CStringGetTextDatum(shot.node_name), shot.node_name[0] != '\0');
  row->Add(Int32GetDatum(g.lease.worker), has_lease);
  row->Add(Int64GetDatum(g.lease.lease_id), has_lease);
  row->Add(TimeDatum(g.layout.UnixUsAt(g.lease.window_start)), has_lease);
  row->Add(TimeDatum(end_us), has_lease);
  row->Add(Positive(strcmp(state, "issuing") == 0 ? end_us - now_us : 0), has_lease && g.open);
  const int32_t last_sequence = static_cast<int32_t>(g.next_sequence - 1);
  row->Add(Int64GetDatum(g.layout.Pack({g.last_tick, g.lease.worker, last_sequence})),
           has_lease && g.last_tick >= g.lease.window_start);
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

// Advice that is found when it is shown.
uint32_t AdviceNow(const NodeShot &shot, const HorizonShown &horizon, bool has_box, bool standby, bool doubted) {
  uint32_t advice = shot.advice;
  if (!has_box) advice |= kAdviceNoBox;
  if (standby) advice |= kAdviceStandby;
  if (doubted) advice |= kAdviceStart;
  if (IsOfFuture(horizon.layout, horizon.highest, LatestIdUs(shot.state))) advice |= kAdviceFuture;
  return advice;
}

void AddOutlook(StatusRow *row, Oid fn_oid, const NodeBlock *node, const NodeShot &shot, const HorizonShown &horizon) {
  const Generator &g = shot.state.generator;
  const int64_t workers = g.layout.workers_per_datacenter(), free = shot.state.workers_free;
  const bool counted = g.lease.lease_id != 0 && free >= 0;
  row->Add(Int64GetDatum(workers), counted);
  row->Add(Int64GetDatum(free), counted);
  // Without an open lease, the layout is read from its table.
  const Layout layout = g.open ? g.layout : DatabaseLayout(fn_oid);
  row->Add(TimeDatum(layout.UnixUsAt(layout.max_tick() + 1)));
  const bool has_box = HasSharedMemory() && HasBox();
  const RegistryError *waits = shot.error.standby ? &shot.error : &shot.ranges_error;
  const char *standby = waits->standby ? WhatRegistrySaid(*waits) : nullptr;
  const StartClock start = node == nullptr ? StartClock{} : ReadStart(shot.state.clock.read);
  uint32_t advice = node == nullptr ? 0 : AdviceNow(shot, horizon, has_box, standby != nullptr, start.doubted);
  if (MaskKeysAreRefused()) advice |= kAdviceMaskKeys;
  const int databases = (advice & kAdviceFewKeepers) != 0 ? NodeSlotsInUse() : 0;
  const int64_t horizon_us = (advice & kAdviceFuture) != 0 ? horizon.layout.UnixUsOf(horizon.highest) : 0;
  const char *text =
      advice == 0 ? "" : AdviceText({advice, free, workers, databases, standby, start.sign_us, horizon_us});
  row->Add(CStringGetTextDatum(text), advice != 0);
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
  StatusRow row = {};
  AddLease(&row, node, shot, now_us);
  AddCounters(&row, shot.counters);
  AddExchanges(&row, shot);
  AddOutlook(&row, fcinfo->flinfo->fn_oid, node, shot, shown);
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
