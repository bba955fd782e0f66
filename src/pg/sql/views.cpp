// What the views snowflake_status and snowflake_metrics read: one consistent look at this node, under
// its lock. The horizon has a lock of its own, and is read first: it only rises.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/launch.h"
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
  kClockLead,
  kClockBridged,
  kKeeperPid,
  kIdsTaken,
  kIdsGivenBack,
  kRunsTaken,
  kClockWaits,
  kLeaseWaits,
  kFailedCalls,
  kFailedSegmentCalls,
  kClockStepsBack,
  kLeasesDrawn,
  kRegistryHere,
  kRegistryAnswers,
  kRegistryFailures,
  kAnswerSeconds,
  kSinceAnswerSeconds,
  kRangesFailing,
  kLastError,
  kLastErrorCode,
  kLastErrorAt,
  kWorkers,
  kWorkersFree,
  kEndOfLife,
  kAdvice,
  kBlackBox,
  kHorizon,
  kHorizonAge,
  kHorizonPid,
  kHorizonXid,
  kHorizonSince,
  kColumns
};

// What is copied out of shared memory under the lock.
struct NodeShot {
  NodeClock clock;
  Generator generator;
  Counters counters;
  Exchanges exchanges;
  RegistryError error;
  uint32_t advice;
  int64_t workers_free;
  bool ranges_failing;
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
const char *StateText(const NodeBlock *node, const NodeShot &shot, int64_t now_us) {
  if (!HasSharedMemory()) return "not preloaded";
  // Whatever it holds: it may have been the primary before.
  if (RegistryIsHere() && RecoveryInProgress()) return "standby";
  if (shot.generator.open) return StateOfLease(shot.generator, now_us);
  if (node == nullptr) return NodeSlotsInUse() < NodeSlots() ? "idle" : "no lease";
  if (shot.error.message[0] != '\0') return shot.error.held_back ? "held back" : "no lease";
  const bool keeps = shot.keeper_pid != 0 && shot.generator.lease.lease_id != 0;  // it may be there for segments alone
  return shot.lease_wanted || keeps ? "no lease" : "idle";
}

void SetLease(StatusRow *row, const NodeShot &shot, bool issuing, int64_t now_us) {
  const Generator &g = shot.generator;
  const int64_t end_us = g.layout.UnixUsAt(g.lease.window_end);
  row->Set(kWorker, Int32GetDatum(g.lease.worker));
  row->Set(kLeaseId, Int64GetDatum(g.lease.lease_id));
  row->Set(kWindowStart, TimeDatum(g.layout.UnixUsAt(g.lease.window_start)));
  row->Set(kWindowEnd, TimeDatum(end_us));
  if (g.open) row->Set(kIdsFlowFor, IntervalDatum(issuing && end_us > now_us ? end_us - now_us : 0));
  const int64_t lead_us = g.layout.UnixUsAt(Max(g.last_tick, g.lease.window_start)) - now_us;
  row->Set(kLead, IntervalDatum(lead_us > 0 ? lead_us : 0));
  if (shot.workers_free >= 0) {
    row->Set(kWorkers, Int64GetDatum(g.layout.workers_per_datacenter()));
    row->Set(kWorkersFree, Int64GetDatum(shot.workers_free));
  }
  if (g.last_tick < g.lease.window_start) return;
  const int32_t last_sequence = static_cast<int32_t>(g.next_sequence - 1);
  row->Set(kLastId, Int64GetDatum(g.layout.Pack({g.last_tick, g.lease.worker, last_sequence})));
}

// What only a state block has.
void SetNode(StatusRow *row, const NodeShot &shot) {
  const Counters &counters = shot.counters;
  const Exchanges &exchanges = shot.exchanges;
  if (shot.node_name[0] != '\0') row->Set(kNode, CStringGetTextDatum(shot.node_name));
  if (shot.keeper_pid != 0) row->Set(kKeeperPid, Int32GetDatum(shot.keeper_pid));
  row->Set(kIdsTaken, Int64GetDatum(counters.ids_taken));
  row->Set(kIdsGivenBack, Int64GetDatum(counters.ids_given_back));
  row->Set(kRunsTaken, Int64GetDatum(counters.runs_taken));
  row->Set(kClockWaits, Int64GetDatum(counters.clock_waits));
  row->Set(kLeaseWaits, Int64GetDatum(counters.lease_waits));
  row->Set(kFailedCalls, Int64GetDatum(counters.failed_calls));
  row->Set(kFailedSegmentCalls, Int64GetDatum(counters.failed_segment_calls));
  row->Set(kClockStepsBack, Int64GetDatum(counters.clock_steps_back));
  row->Set(kLeasesDrawn, Int64GetDatum(counters.leases_drawn));
  row->Set(kRegistryAnswers, Int64GetDatum(exchanges.answered));
  row->Set(kRegistryFailures, Int64GetDatum(exchanges.failed));
  row->Set(kRangesFailing, BoolGetDatum(shot.ranges_failing));
  if (exchanges.answered > 0) {
    row->Set(kAnswerSeconds, Float8GetDatum(Seconds(exchanges.took_us)));
    row->Set(kSinceAnswerSeconds, Float8GetDatum(Seconds(SteadyUs() - exchanges.answered_us)));
  }
  if (shot.error.message[0] == '\0') return;
  row->Set(kLastError, CStringGetTextDatum(WhatRegistrySaid(shot.error)));
  row->Set(kLastErrorCode, CStringGetTextDatum(unpack_sql_state(shot.error.sqlstate)));
  row->Set(kLastErrorAt, TimeDatum(shot.error.at_us));
}

void SetAdvice(StatusRow *row, const NodeShot &shot) {
  const uint32_t advice = shot.advice | (HasBox() ? 0u : uint32_t{kAdviceNoBox});
  if (advice == 0) return;
  const Advised advised = {advice, shot.workers_free, shot.generator.layout.workers_per_datacenter(), NodeSlotsInUse()};
  row->Set(kAdvice, CStringGetTextDatum(AdviceText(advised)));
}

void SetHorizon(StatusRow *row, const HorizonShown &shown, int64_t now_us) {
  const auto time_of = [&](int64_t id) { return shown.layout.UnixUsAt(shown.layout.Unpack(id).tick); };
  if (shown.horizon != 0) {
    row->Set(kHorizon, Int64GetDatum(shown.horizon));
    row->Set(kHorizonAge, IntervalDatum(Max(now_us - time_of(shown.horizon), int64_t{0})));
  }
  if (shown.holder.by.pid != 0) row->Set(kHorizonPid, Int32GetDatum(shown.holder.by.pid));
  if (shown.holder.xid != 0) row->Set(kHorizonXid, TransactionIdGetDatum(shown.holder.xid));
  if (shown.holder.first != 0) row->Set(kHorizonSince, TimeDatum(time_of(shown.holder.first)));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_get_status) {
  StatusRow row;
  NodeShot shot = {};
  HorizonShown shown = {};
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) {
    shown = ShowHorizon(node, extension);
    WithLock(node, LW_SHARED, [&] {
      // A lease of an extension that was dropped is none of this one's.
      if (node->extension == extension) {
        shot.generator = node->state.generator;
        shot.workers_free = node->state.workers_free;
      }
      // A node that draws ranges alone has advice, and no extension.
      if (node->extension == extension || !OidIsValid(node->extension)) shot.advice = node->advice;
      shot.clock = node->state.clock;
      shot.counters = node->counters;
      shot.exchanges = node->exchanges;
      shot.error = node->error;
      shot.ranges_failing = node->ranges_error.message[0] != '\0';
      shot.lease_wanted = node->state.lease_wanted;
      shot.keeper_pid = node->keeper_pid;
      memcpy(shot.node_name, node->node_name, sizeof(shot.node_name));
    });
  }
  Read(&shot.clock, ReadClocks(), PatienceNow().clock);
  const int64_t now_us = shot.clock.shown_us;
  const char *state = StateText(node, shot, now_us);
  if (shot.generator.lease.lease_id != 0) SetLease(&row, shot, strcmp(state, "issuing") == 0, now_us);
  if (HasSharedMemory()) {
    SetNode(&row, shot);
    row.Set(kBlackBox, BoolGetDatum(HasBox()));
  }
  if (node != nullptr) {
    row.Set(kClockLead, IntervalDatum(LeadUs(shot.clock)));
    row.Set(kClockBridged, Int64GetDatum(shot.clock.bridged));
    SetAdvice(&row, shot);
    SetHorizon(&row, shown, now_us);
  }
  // A table is opened only where no lease says what it holds.
  const Layout layout = shot.generator.open ? shot.generator.layout : DatabaseLayout(fcinfo->flinfo->fn_oid);
  row.Set(kEndOfLife, TimeDatum(layout.UnixUsAt(layout.max_tick() + 1)));
  row.Set(kRegistryHere, BoolGetDatum(RegistryIsHere()));
  row.Set(kState, CStringGetTextDatum(state));
  return row.AsResult(fcinfo);
}

}  // namespace snowflake
