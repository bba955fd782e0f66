// Starting the keeper, and waiting for what it does.
#pragma once

#include "pg/issue/node_block.h"
#include "pg/issue/report.h"

namespace snowflake {

enum class Launch {
  kAsked,          // one runs, or was asked for a moment ago
  kNoSlot,         // max_worker_processes is used up
  kSingleUser,     // no background workers at all
  kBinaryUpgrade,  // pg_upgrade has the server for itself
};

// Asks for a keeper of this process's database unless one runs. Never waits.
Launch EnsureKeeper(NodeBlock *node);

// False where the node has no keeper.
bool WakeKeeper(NodeBlock *node);

// Waits are looked after at least this often, should a wake-up be missed or a keeper have died.
inline constexpr long kWaitMs = 100;

// One call's wait.
struct KeeperWait {
  int64_t since_us;   // monotonic; 0: has not waited
  int64_t waited_us;  // up to now
  NoLeaseReason why;  // nothing came of it
};

// Waits for a while, for a keeper that is asked for and woken. False where that is of no use, or start_timeout is over.
bool WaitForKeeper(NodeBlock *node, KeeperWait *wait, uint32 event);

}  // namespace snowflake
