// The state block in shared memory, which holds nodes, segments, horizons and the state of the
// black box together. It is in the server's own shared memory if the library is preloaded;
// otherwise, from PostgreSQL 17 on, in a named segment that lasts as long as the server.
//
// 1. A process finds the block once, and has it from then on.
// 2. The block is filled before any process but the first can find it. Its size does not change.
//
// Locking: that of its parts. SlotsLock() (node_block.h) is the outermost lock.
#pragma once

#include "pg/state/horizon_block.h"
#include "pg/state/node_block.h"
#include "pg/state/node_box.h"
#include "pg/state/segment_slot.h"
#include "pg/state/server_clock.h"

namespace snowflake {
// Called while the library is preloaded.
void RequestSharedMemory();

// Gives RegistryIsHere() what this database's keeper found.
void WatchRegistry();

// Whether there is a state block; makes it if possible. False: the library must be preloaded.
bool HasSharedMemory();

// How many slots of nodes are in use, after those of dropped databases were freed. Requires: a
// state block.
int NodeSlotsInUse();

// nullptr: it has none.
NodeBlock *FindNode(Oid database);

// Takes a slot if the database has none. nullptr: every slot belongs to an existing database.
NodeBlock *FindOrMakeNode(Oid database);

}  // namespace snowflake
