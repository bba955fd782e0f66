// Registers keepers as background workers, and wakes them.
#include "pg/issue/launch.h"

#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/data_directory.h"
#include "pg/state/state_block.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// A keeper starts within milliseconds, or never if its start failed: then another is asked for.
constexpr int64_t kAskAgainUs = 1000 * 1000;

// Standbys that are there confirm a commit within this time.
constexpr int64_t kLongCommitUs = 1000 * 1000;

// How soon a refused start is tried again: parallel workers come and go.
constexpr long kSlotWaitMs = 20;

// Marks a keeper that starts with the server.
constexpr const char *kWithServer = "with the server";

BackgroundWorker KeeperWorker(Oid database, BgWorkerStartTime start) {
  BackgroundWorker worker = {};
  strlcpy(worker.bgw_name, "snowflake keeper", BGW_MAXLEN);
  strlcpy(worker.bgw_type, "snowflake keeper", BGW_MAXLEN);
  strlcpy(worker.bgw_library_name, "snowflake", BGW_MAXLEN);
  strlcpy(worker.bgw_function_name, "snowflake_keeper_main", BGW_MAXLEN);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = start;
  // Otherwise it would be restarted for ever after its database was dropped.
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = ObjectIdGetDatum(database);
  return worker;
}

bool Register() {
  // On a standby "recovery finished" may never come.
  BackgroundWorker worker = KeeperWorker(MyDatabaseId, BgWorkerStart_ConsistentState);
  return RegisterDynamicBackgroundWorker(&worker, nullptr);
}

}  // namespace

void StartKeepers() {
  if (IsUnderPostmaster || !IsPostmasterEnvironment || IsBinaryUpgrade) return;
  ForEachIssuer(max_worker_processes / 2, [](Oid database) {
    // A standby's starts when it is promoted.
    BackgroundWorker worker = KeeperWorker(database, BgWorkerStart_RecoveryFinished);
    strlcpy(worker.bgw_extra, kWithServer, BGW_EXTRALEN);
    RegisterBackgroundWorker(&worker);
  });
}

bool StartedWithServer() { return strcmp(MyBgworkerEntry->bgw_extra, kWithServer) == 0; }

void KeepRegistry() {
  if (!IsUnderPostmaster || !HasSharedMemory()) return;
  NodeBlock *node = FindOrMakeNode(MyDatabaseId);
  if (node == nullptr) return;
  WithLock(node, LW_EXCLUSIVE, [&] { node->serves = true; });
  EnsureKeeper(node);
}

NoLeaseReason EnsureKeeper(NodeBlock *node) {
  if (!IsUnderPostmaster) return NoLeaseReason::kSingleUser;
  // The new server's tables do not have the old one's leases and watermarks yet, and its ids must
  // be above these. pg_upgrade itself asks for no id, but an event trigger may.
  if (IsBinaryUpgrade) return NoLeaseReason::kBinaryUpgrade;
  const int64_t now_us = MonotonicUs();
  bool ask = false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    ask = !HasKeeper(*node, now_us);
    if (ask) node->keeper_asked_us = now_us;
  });
  if (!ask || Register()) return NoLeaseReason::kRegistry;
  WithLock(node, LW_EXCLUSIVE, [&] { node->keeper_asked_us = 0; });
  return NoLeaseReason::kKeeperSlots;
}

bool HasKeeper(const NodeBlock &node, int64_t now_us) {
  const bool asked_for = node.keeper_asked_us != 0 && now_us - node.keeper_asked_us < kAskAgainUs;
  return node.keeper_pid != 0 || asked_for;
}

bool WakeKeeper(NodeBlock *node) {
  Latch *latch = nullptr;
  WithLock(node, LW_SHARED, [&] { latch = node->keeper_latch; });
  if (latch != nullptr) SetLatch(latch);
  return latch != nullptr;
}

bool WaitForKeeper(NodeBlock *node, KeeperWait *wait, uint32 event) {
  const int64_t now_us = MonotonicUs();
  if (wait->since_us == 0) *wait = {now_us, 0, NoLeaseReason::kRegistry};
  wait->waited_us = now_us - wait->since_us;
  const NoLeaseReason reason = EnsureKeeper(node);
  // A keeper that has not started yet may lack a background worker: the reason stays.
  if (WakeKeeper(node) || reason != NoLeaseReason::kRegistry) wait->why = reason;
  if (reason == NoLeaseReason::kSingleUser || reason == NoLeaseReason::kBinaryUpgrade) return false;
  const int64_t left_us = settings.start_timeout_ms * kUsPerMs - wait->waited_us;
  if (left_us <= 0) return false;
  const long longest_ms = wait->why == NoLeaseReason::kKeeperSlots ? kSlotWaitMs : kWaitMs;
  const long ms = left_us / kUsPerMs < longest_ms ? static_cast<long>(left_us / kUsPerMs) + 1 : longest_ms;
  ConditionVariableTimedSleep(&node->changed, ms, event);
  return true;
}

void CheckKeeper(const KeeperWait &wait, int sqlstate, const char *what) {
  switch (wait.why) {
    case NoLeaseReason::kRegistry: return;
    case NoLeaseReason::kSingleUser:
      ereport(ERROR, (errcode(sqlstate), errmsg("cannot issue %s in single-user mode", what),
                      errdetail("A background worker makes the registry's requests, and single-user mode has none."),
                      errhint("Start the server normally.")));
    case NoLeaseReason::kBinaryUpgrade:
      ereport(ERROR, (errcode(sqlstate), errmsg("cannot issue %s while pg_upgrade runs", what),
                      errdetail("The registry's contents have yet to be copied to the new server, and must not change "
                                "on the old one."),
                      errhint("While pg_upgrade runs, disable the event trigger or other object that requests this in "
                              "its sessions.")));
    case NoLeaseReason::kKeeperSlots:
      ereport(ERROR,
              (errcode(sqlstate), errmsg("cannot issue %s without a keeper", what),
               errdetail("All %d background workers (max_worker_processes) were in use for %.1f s.",
                         max_worker_processes, Seconds(wait.waited_us)),
               errhint("Raise max_worker_processes and restart the server; each database that issues ids takes one.")));
  }
}

int DetailOfRegistry(const KeeperWait &wait, const RegistryError &error) {
  if (error.message[0] == '\0')
    return errdetail("The keeper had no answer from the registry within %.1f s.", Seconds(wait.waited_us));
  return errdetail("The keeper's last error, %.1f s ago: %s", Seconds(NowUnixUs() - error.at_us),
                   WhatRegistrySaid(error));
}

RegistryError NewestError(NodeBlock *node, RegistryError NodeBlock::*kind) {
  RegistryError error = {};
  int keeper_pid = 0;
  int64_t asked_us = 0;
  WithLock(node, LW_SHARED, [&] {
    error = node->*kind;
    keeper_pid = node->keeper_pid;
    asked_us = node->exchanges.asked_us;
  });
  if (error.message[0] == '\0') error = {};
  if (keeper_pid == 0 || asked_us == 0 || SteadyUs() - asked_us < kLongCommitUs) return error;
  const PGPROC *keeper = BackendPidGetProc(keeper_pid);
  if (keeper == nullptr || !AwaitsStandby(keeper)) return error;
  error = {ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, NowUnixUs(), true, false, true, false, {}};
  SetMessage(&error,
             psprintf("the keeper's commit waits for a synchronous standby (synchronous_standby_names is \"%s\")",
                      SyncRepStandbyNames));
  return error;
}

const char *WhatRegistrySaid(const RegistryError &error) {
  if (error.for_all || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS)) return pstrdup(error.message);
  if (error.standby) return kAwaitsStandby;
  if (ERRCODE_TO_CATEGORY(error.sqlstate) == ERRCODE_CONNECTION_EXCEPTION) return "the registry does not answer";
  return EndsWait(error.sqlstate) ? "the registry's tables are locked" : "the registry refused";
}

const char *WhatToDoAbout(const RegistryError &error) {
  if (error.message[0] == '\0')
    return "Check in pg_stat_activity what the keeper (backend_type \"snowflake keeper\") waits for.";
  if (error.standby) return kStandbyToDo;
  if (error.held_back)
    return "If nothing was lost, call snowflake_settled() in the registry's database. Otherwise wait.";
  if (error.own) return "See this server's log. The keeper goes on trying.";
  if (EndsWait(error.sqlstate)) return "End the transaction that has locked the registry's tables, or wait for it.";
  switch (error.sqlstate) {
    case kNoLease:
      return "If an old primary of the registry has come back, stop it. If the window was not extended far enough, see "
             "snowflake.max_leases_per_role and snowflake.max_lease_duration on the registry. Otherwise check that "
             "snowflake.registry leads to the registry.";
    case kAllLeased:
      return "See snowflake_workers in the registry's database; snowflake_evict() there frees the worker id of a node"
             " that is certainly dead.";
    case kClockBehind: return "Set the clock right on the server where it is wrong.";
    case kTimeUsedUp:
      return "Set the clock right if it is wrong; otherwise ids need a layout with a later epoch or a wider timestamp.";
    case ERRCODE_INSUFFICIENT_PRIVILEGE:
      return "In the registry's database, the node's role needs USAGE on the extension's schema and EXECUTE on the "
             "functions of the protocol, and the extension's tables need one owner.";
    case ERRCODE_DISK_FULL: return "Make room on the disk of the registry's server.";
    // An answer: with another layout, or without the extension.
    case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE: return "Correct this; the keeper goes on trying.";
    case ERRCODE_PROTOCOL_VIOLATION: return "Check that snowflake.registry leads to a registry.";
  }
  // libpq does not say with which SQLSTATE a server refuses a connection.
  if (ERRCODE_TO_CATEGORY(error.sqlstate) == ERRCODE_CONNECTION_EXCEPTION)
    return "Check that the registry's server runs, can be reached from here, and accepts this node's password or "
           "certificate, and that no login trigger there fails. The keeper goes on trying.";
  return "See the log of the registry's server. The keeper goes on trying.";
}

}  // namespace snowflake
