// Starting the keeper, and waiting for what it does.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {

enum class Launch {
  kAsked,          // one runs, or was asked for a moment ago
  kNoSlot,         // max_worker_processes is used up
  kSingleUser,     // no background workers at all
  kBinaryUpgrade,  // pg_upgrade has the server for itself
};

// Asks for a keeper of this process's database unless one runs. Never waits.
Launch EnsureKeeper(NodeBlock *node);

// In the postmaster, while it preloads the library: registers keepers of the databases that issued ids before, so that they
// have their slots before parallel queries and others take them, and their leases before the first call. At most half of
// max_worker_processes: other libraries' workers that start with the server need slots, too.
void StartKeepers();

// Whether this process is one of those.
bool StartedWithServer();

// A node of another server was answered by the registry in this database: somebody has to write the mark of a clean shutdown.
// A server that has no state block, or no slot left in it, has a keeper for that with a block of its own. Never waits.
void KeepRegistry(Oid extension);

// In such a keeper. False if there is one already.
bool BecomePrivateKeeper(Oid extension);

// False where the node has no keeper.
bool WakeKeeper(NodeBlock *node);

// Waits are looked after at least this often, should a wake-up be missed or a keeper have died.
inline constexpr long kWaitMs = 100;

// Why a call has no lease although it asked for one.
enum class NoLeaseReason { kKeeperSlots, kRegistry, kSingleUser, kBinaryUpgrade };

// One call's wait.
struct KeeperWait {
  int64_t since_us;   // monotonic; 0: has not waited
  int64_t waited_us;  // up to now
  NoLeaseReason why;  // nothing came of it
};

// Waits for a while, for a keeper that is asked for and woken. False where that is of no use, or start_timeout is over.
bool WaitForKeeper(NodeBlock *node, KeeperWait *wait, uint32 event);

// What the registry said last, in words for who asks: of its address and its roles only who may see all settings reads.
const char *WhatRegistrySaid(const RegistryError &error);

}  // namespace snowflake
