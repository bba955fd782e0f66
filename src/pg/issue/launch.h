// Starting the keeper, and waiting for what it does.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {
// Why a call has no lease although it asked for one.
enum class NoLeaseReason {
  kRegistry,       // a keeper runs, or was asked for a moment ago
  kKeeperSlots,    // max_worker_processes is used up
  kSingleUser,     // there are no background workers
  kBinaryUpgrade,  // pg_upgrade has the server for itself
};

// Asks for a keeper of this process's database unless one runs. Never waits.
NoLeaseReason EnsureKeeper(NodeBlock *node);

// In the postmaster, while it preloads the library: registers keepers of the databases that issued
// ids before the restart. They get background workers before parallel queries take these, and
// leases before the first call. At most half of max_worker_processes: others need some, too.
void StartKeepers();

// Whether this process is one of those.
bool StartedWithServer();

// The registry in this database has answered a node of another server, so a keeper has to write the
// mark of a clean shutdown. There is none if the server has no state block, or no free slot in it.
// Never waits.
void KeepRegistry();

// Whether one runs, or was requested a moment ago. `now_us` is by MonotonicUs(). Requires: the
// node's lock.
bool HasKeeper(const NodeBlock &node, int64_t now_us);

// False if the node has no keeper.
bool WakeKeeper(NodeBlock *node);

// A wait checks at least this often, in case a wake-up was missed or the keeper has died.
inline constexpr long kWaitMs = 100;

// One call's wait.
struct KeeperWait {
  int64_t since_us;   // monotonic; 0: has not waited
  int64_t waited_us;  // up to now
  NoLeaseReason why;
};

// Asks for a keeper, wakes it and waits. False if that is of no use, or start_timeout is over.
bool WaitForKeeper(NodeBlock *node, KeeperWait *wait, uint32 event);

// After a wait in vain for `what`: an error of this SQLSTATE if there can be no keeper.
void CheckKeeper(const KeeperWait &wait, int sqlstate, const char *what);

// The detail if a keeper is there.
int DetailOfRegistry(const KeeperWait &wait, const RegistryError &error);

// The error of the keeper's newest request for leases or for ranges. If the keeper's own commit
// waits for a synchronous standby, the request does not end, and that is its error.
RegistryError NewestError(NodeBlock *node, RegistryError NodeBlock::*kind);

// The keeper's last error. Only members of pg_read_all_settings see addresses and roles in it.
const char *WhatRegistrySaid(const RegistryError &error);

// A hint; without an error the keeper is to be looked at.
const char *WhatToDoAbout(const RegistryError &error);

}  // namespace snowflake
