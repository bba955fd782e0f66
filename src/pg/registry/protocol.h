// The registry protocol, section 4 of the design. Both callers come here: the SQL functions
// snowflake_lease_acquire, snowflake_lease_extend and snowflake_lease_release, which remote nodes
// call, and the keeper of this database.
//
// 1. One acquire at a time: it holds the registry's lock, a self-conflicting lock on
//    snowflake_origin, to its end, and waits for no row of a lease. extend and release need only
//    their row's lock; an extend also blocks the mark of a clean shutdown, which says that nothing
//    came after it. Who needs both locks takes the registry's first.
// 2. A row leaves snowflake_registry and its watermark enters snowflake_watermark in one
//    transaction. Both are counted, so that rows that are lost are missed. The counts are compared
//    under the registry's lock, before anything is assigned: a crash empties unlogged tables, and
//    one of a single process begins no life.
// 3. A lease belongs to the session's role that acquired it: for another role it is gone.
//
// Errors common to all: 22023 for arguments, 25006 if nothing can be written, 55000 for any
// isolation level but read committed and for tables that are not as made, 42501 if these have
// several owners.
#pragma once

#include "pg/registry/clocks.h"

namespace snowflake {
// Acquires a lease. False if no window can begin in time for the node. Also false if all that is
// free is held back, and a loss, or how long it settles yet, is to be recorded: that must be
// committed, so it is no error, and the next try gets SF004. Errors: SF002, SF003, SF004.
bool ProtocolAcquire(Oid extension, By by, const AcquireRequest &request, AcquireAnswer *answer);

// Moves the window's end, never back. False if the lease is gone. Error: SF002.
bool ProtocolExtend(Oid extension, By by, const ExtendRequest &request, ExtendAnswer *answer);

// How many worker ids of a datacenter no other node holds.
int64_t ProtocolWorkersFree(Oid extension, const Layout &layout, int32_t datacenter);

// Releases a lease and keeps its last tick as its worker id's watermark. False if it was gone.
// Error: SF002.
bool ProtocolRelease(Oid extension, By by, const ReleaseRequest &request);

// The server is about to end, and all that was committed is on disk: a successor has lost nothing.
void ProtocolMarkClean(Oid extension);

// The operator reports that the node is dead since then. Returns whether a node had the worker id.
// Error: 22023 if its lease was extended since.
bool ProtocolEvict(Oid extension, int32_t worker, TimestampTz dead_since);

// No node ever gets this worker id, which was never leased, unless the operator evicts it: its row
// is a lease of no role, which is never over, counts for no limit, keeps a lost lease from being
// adopted, and does not keep the extension from being dropped. Deleted by hand, it leaves the
// layout's last tick as watermark. Errors: 22023 if the layout has no such worker id, 55000 if it
// was leased or the registry settles.
void ProtocolSetAside(Oid extension, int32_t worker);

// The operator reports that commits were lost, or were not. The second returns whether it ended
// anything.
void ProtocolSettle(Oid extension, const char *reason);
bool ProtocolSettled(Oid extension);

// Records which server the registry is on, unless that was done.
void ProtocolMakeOrigin(Oid extension);

// No node is to issue ids of this tick or before it: leases begin above it, and holders of leases
// learn of it when they extend. It never falls.
void ProtocolRaise(Oid extension, Tick tick);

// A lease that is deleted by hand leaves its watermark.
void ProtocolKeepWatermark(Oid extension, int32_t worker, Tick last_tick);

// Stores the layout that this database begins with; nothing happens if it is stored already. Error:
// 55000 if a lease was acquired under another.
void ProtocolSetLayout(Oid extension, const Layout &layout);

// Raises 55000 if a lease was acquired in this registry under its layout.
void CheckLayoutMayChange(Oid extension);

// Stores the layout that this database has, unless that was done.
void ProtocolKeepLayout(Oid extension);

}  // namespace snowflake
