#include "pg/issue/launch.h"

#include "pg/settings.h"

namespace snowflake {

namespace {

// A keeper that was asked for shows up within milliseconds, or never if its start failed: then ask again.
constexpr int64_t kAskAgainUs = 1000 * 1000;

// How soon a refused start of a keeper is tried again: parallel workers come and go in the same slots.
constexpr long kSlotWaitMs = 20;

bool Register() {
  BackgroundWorker worker = {};
  strlcpy(worker.bgw_name, "snowflake keeper", BGW_MAXLEN);
  strlcpy(worker.bgw_type, "snowflake keeper", BGW_MAXLEN);
  strlcpy(worker.bgw_library_name, "snowflake", BGW_MAXLEN);
  strlcpy(worker.bgw_function_name, "snowflake_keeper_main", BGW_MAXLEN);
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  // On a standby "recovery finished" may never come.
  worker.bgw_start_time = BgWorkerStart_ConsistentState;
  // A restart time would revive it for ever after its database was dropped.
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
  return RegisterDynamicBackgroundWorker(&worker, nullptr);
}

}  // namespace

Launch EnsureKeeper(NodeBlock *node) {
  if (!IsUnderPostmaster) return Launch::kSingleUser;
  // The new server's tables still lack the old one's leases and watermarks, which its ids have to be above. What calls here
  // is an event trigger, perhaps: pg_upgrade itself never does.
  if (IsBinaryUpgrade) return Launch::kBinaryUpgrade;
  const int64_t now_us = MonotonicUs();
  bool ask = false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    ask = node->keeper_pid == 0 && (node->keeper_asked_us == 0 || now_us - node->keeper_asked_us >= kAskAgainUs);
    if (ask) node->keeper_asked_us = now_us;
  });
  if (!ask || Register()) return Launch::kAsked;
  WithLock(node, LW_EXCLUSIVE, [&] { node->keeper_asked_us = 0; });
  return Launch::kNoSlot;
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
  const Launch launch = EnsureKeeper(node);
  if (launch == Launch::kSingleUser) wait->why = NoLeaseReason::kSingleUser;
  if (launch == Launch::kBinaryUpgrade) wait->why = NoLeaseReason::kBinaryUpgrade;
  if (launch == Launch::kSingleUser || launch == Launch::kBinaryUpgrade) return false;
  if (launch == Launch::kNoSlot) wait->why = NoLeaseReason::kKeeperSlots;
  const bool woken = WakeKeeper(node);
  if (launch == Launch::kAsked && woken) wait->why = NoLeaseReason::kRegistry;

  const int64_t left_us = settings.start_timeout_ms * kUsPerMs - wait->waited_us;
  if (left_us <= 0) return false;
  const long longest_ms = wait->why == NoLeaseReason::kKeeperSlots ? kSlotWaitMs : kWaitMs;
  const long ms = left_us / kUsPerMs < longest_ms ? static_cast<long>(left_us / kUsPerMs) + 1 : longest_ms;
  ConditionVariableTimedSleep(&node->changed, ms, event);
  return true;
}

}  // namespace snowflake
