// What the views snowflake_status and snowflake_metrics read: one consistent look at this node's state.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/report.h"
#include "pg/keeper/advice.h"
#include "pg/registry/tables.h"
#include "pg/rows.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// The columns of snowflake_get_status(), in its order.
enum Column {
  kState,
  kNode,
  kWorker,
  kLeaseId,
  kWindowStart,
  kWindowEnd,
  kIdsFlowFor,
  kLastId,
  kLead,
  kKeeperPid,
  kIdsTaken,
  kRunsTaken,
  kClockWaits,
  kLeaseWaits,
  kClockStepsBack,
  kLeasesDrawn,
  kLastError,
  kLastErrorCode,
  kLastErrorAt,
  kEndOfLife,
  kColumns
};
static_assert(kColumns == 20,
              "version 1.0 made snowflake_get_status(), whose columns never change: a new one of the view needs a "
              "function of its own, like snowflake_get_advice()");

// What is copied out of shared memory under the lock.
struct Seen {
  NodeClock clock;
  Generator generator;
  Counters counters;
  RegistryError error;
  bool lease_wanted;
  int keeper_pid;
  char node_name[sizeof(NodeBlock::node_name)];
};

using StatusRow = ResultRow<kColumns>;

// What a call would get now.
const char *StateOfLease(Generator g, int64_t now_us) {
  const Terms terms = {MaxLead(g.layout, settings.max_lead_ms * kUsPerMs), 0};
  switch (Take(&g, g.layout.TickAt(now_us), 1, terms).outcome) {
    case Outcome::kNoLease:
      break;
    case Outcome::kRun:
    case Outcome::kTickUsedUp:
      return "issuing";
    case Outcome::kWindowEnd:
      return "window ended";
    case Outcome::kClockBehind:
      return "clock behind";
    case Outcome::kTimeUsedUp:
      return "time used up";
  }
  return "no lease";
}

// Idle: the first call will draw a lease, as far as anybody can know.
const char *State(const NodeBlock *node, const Seen &shot, int64_t now_us) {
  if (!HasSharedMemory()) return "not preloaded";
  if (shot.generator.open) return StateOfLease(shot.generator, now_us);
  if (node == nullptr) return PlacesInUse() < Places() ? "idle" : "no lease";
  if (shot.error.message[0] != '\0') return shot.error.held_back ? "held back" : "no lease";
  const bool keeps = shot.keeper_pid != 0 && shot.generator.lease.lease_id != 0;  // it may be there for segments alone
  return shot.lease_wanted || keeps ? "no lease" : "idle";
}

void SetLease(StatusRow *row, const Generator &g, bool issuing, int64_t now_us) {
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  row->Set(kWorker, Int32GetDatum(g.lease.worker));
  row->Set(kLeaseId, Int64GetDatum(g.lease.lease_id));
  row->Set(kWindowStart, TimeDatum(g.layout.UnixUsAt(g.lease.window_start)));
  row->Set(kWindowEnd, TimeDatum(end_us));
  if (g.open) row->Set(kIdsFlowFor, IntervalDatum(issuing && end_us > now_us ? end_us - now_us : 0));
  const int64_t lead_us = g.layout.UnixUsAt(Max(g.last_tick, g.lease.window_start)) - now_us;
  row->Set(kLead, IntervalDatum(lead_us > 0 ? lead_us : 0));
  if (g.last_tick < g.lease.window_start) return;
  const int32_t last_sequence = static_cast<int32_t>(g.next_sequence - 1);
  row->Set(kLastId, Int64GetDatum(g.layout.Pack({g.last_tick, g.lease.worker, last_sequence})));
}

void SetNode(StatusRow *row, const Seen &shot) {
  if (shot.node_name[0] != '\0') row->Set(kNode, CStringGetTextDatum(shot.node_name));
  if (shot.keeper_pid != 0) row->Set(kKeeperPid, Int32GetDatum(shot.keeper_pid));
  row->Set(kIdsTaken, Int64GetDatum(shot.counters.ids_taken - shot.counters.ids_given_back));
  row->Set(kRunsTaken, Int64GetDatum(shot.counters.runs_taken));
  row->Set(kClockWaits, Int64GetDatum(shot.counters.clock_waits));
  row->Set(kLeaseWaits, Int64GetDatum(shot.counters.lease_waits));
  row->Set(kClockStepsBack, Int64GetDatum(shot.counters.clock_steps_back));
  row->Set(kLeasesDrawn, Int64GetDatum(shot.counters.leases_drawn));
  if (shot.error.message[0] == '\0') return;
  row->Set(kLastError, CStringGetTextDatum(WhatRegistrySaid(shot.error)));
  row->Set(kLastErrorCode, CStringGetTextDatum(unpack_sql_state(shot.error.sqlstate)));
  row->Set(kLastErrorAt, TimeDatum(shot.error.at_us));
}

}  // namespace

}  // namespace snowflake

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_get_status) {
  StatusRow row;
  Seen shot = {};
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) {
    WithLock(node, LW_SHARED, [&] {
      // A lease of an extension that was dropped is none of this one's.
      if (node->extension == extension) shot.generator = node->state.generator;
      shot.clock = node->state.clock;
      shot.counters = node->counters;
      shot.error = node->error;
      shot.lease_wanted = node->state.lease_wanted;
      shot.keeper_pid = node->keeper_pid;
      memcpy(shot.node_name, node->node_name, sizeof(shot.node_name));
    });
  }
  Read(&shot.clock, ReadClocks(), PatienceNow().clock);
  const int64_t now_us = shot.clock.shown_us;
  const char *state = State(node, shot, now_us);
  if (shot.generator.lease.lease_id != 0) SetLease(&row, shot.generator, strcmp(state, "issuing") == 0, now_us);
  if (HasSharedMemory()) SetNode(&row, shot);
  // A table is opened only where no lease says what it holds.
  const Layout layout = shot.generator.open ? shot.generator.layout : DatabaseLayout(fcinfo->flinfo->fn_oid);
  row.Set(kEndOfLife, TimeDatum(layout.UnixUsAt(layout.max_tick() + 1)));
  row.Set(kState, CStringGetTextDatum(state));
  return row.AsResult(fcinfo);
}

SNOWFLAKE_FUNCTION(snowflake_get_counters) {
  enum {
    kRegistryHere,
    kTaken,
    kGivenBack,
    kFailedCalls,
    kFailedSegmentCalls,
    kAnswers,
    kFailures,
    kAnswerSeconds,
    kSinceAnswerSeconds,
    kRangesFailing,
    kWorkers,
    kWorkersFree,
    kCounterColumns
  };
  ResultRow<kCounterColumns> row;
  row.Set(kRegistryHere, BoolGetDatum(RegistryIsHere()));
  if (!HasSharedMemory()) return row.AsResult(fcinfo);

  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  Counters counters = {};
  Exchanges exchanges = {};
  Lease lease = {};
  int64_t workers = 0, workers_free = -1;
  bool ranges_failing = false;
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) {
    WithLock(node, LW_SHARED, [&] {
      counters = node->counters;
      exchanges = node->exchanges;
      ranges_failing = node->ranges_error.message[0] != '\0';
      if (node->extension != extension) return;
      lease = node->state.generator.lease;
      workers = node->state.generator.layout.workers_per_datacenter();
      workers_free = node->state.workers_free;
    });
  }
  row.Set(kTaken, Int64GetDatum(counters.ids_taken));
  row.Set(kGivenBack, Int64GetDatum(counters.ids_given_back));
  row.Set(kFailedCalls, Int64GetDatum(counters.failed_calls));
  row.Set(kFailedSegmentCalls, Int64GetDatum(counters.failed_segment_calls));
  row.Set(kAnswers, Int64GetDatum(exchanges.answered));
  row.Set(kFailures, Int64GetDatum(exchanges.failed));
  if (exchanges.answered > 0) {
    row.Set(kAnswerSeconds, Float8GetDatum(Seconds(exchanges.took_us)));
    row.Set(kSinceAnswerSeconds, Float8GetDatum(Seconds(SteadyUs() - exchanges.answered_us)));
  }
  row.Set(kRangesFailing, BoolGetDatum(ranges_failing));
  if (lease.lease_id != 0 && workers_free >= 0) {
    row.Set(kWorkers, Int64GetDatum(workers));
    row.Set(kWorkersFree, Int64GetDatum(workers_free));
  }
  return row.AsResult(fcinfo);
}

SNOWFLAKE_FUNCTION(snowflake_get_clock) {
  ResultRow<2> row;
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) {
    NodeClock clock = {};
    WithLock(node, LW_SHARED, [&] { clock = node->state.clock; });
    Read(&clock, ReadClocks(), PatienceNow().clock);
    row.Set(0, IntervalDatum(LeadUs(clock)));
    row.Set(1, Int64GetDatum(clock.bridged));
  }
  return row.AsResult(fcinfo);
}

SNOWFLAKE_FUNCTION(snowflake_get_horizon) {
  ResultRow<5> row;
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) {
    const HorizonShown shown = ShowHorizon(node, ExtensionOfFunction(fcinfo->flinfo->fn_oid));
    const auto time_of = [&](int64_t id) { return shown.layout.UnixUsAt(shown.layout.Unpack(id).tick); };
    if (shown.horizon != 0) {
      NodeClock clock = {};
      WithLock(node, LW_SHARED, [&] { clock = node->state.clock; });
      Read(&clock, ReadClocks(), PatienceNow().clock);
      row.Set(0, Int64GetDatum(shown.horizon));
      row.Set(1, IntervalDatum(Max(clock.shown_us - time_of(shown.horizon), int64_t{0})));
    }
    if (shown.holder.by.pid != 0) row.Set(2, Int32GetDatum(shown.holder.by.pid));
    if (shown.holder.xid != 0) row.Set(3, TransactionIdGetDatum(shown.holder.xid));
    if (shown.holder.first != 0) row.Set(4, TimeDatum(time_of(shown.holder.first)));
  }
  return row.AsResult(fcinfo);
}

SNOWFLAKE_FUNCTION(snowflake_get_advice) {
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) PG_RETURN_NULL();
  Advised advised = {};
  WithLock(node, LW_SHARED, [&] {
    // Without a lease yet it is of who draws ranges alone.
    if (OidIsValid(node->extension) && node->extension != extension) return;
    advised = {node->advice, node->state.workers_free, node->state.generator.layout.workers_per_datacenter(), 0};
  });
  if (advised.advice == 0) PG_RETURN_NULL();
  advised.databases = PlacesInUse();
  PG_RETURN_DATUM(CStringGetTextDatum(AdviceText(advised)));
}
