// The registry protocol, section 4 of the design. The SQL functions snowflake_lease_acquire,
// snowflake_lease_extend and snowflake_lease_release, which remote nodes call, and the keeper of this
// database both come here.
//
// 1. One acquire at a time: it holds the registry's lock, a self-conflicting lock on snowflake_origin, to its end.
//    extend and release touch one row and need no more than that row's lock; an extend also holds off the mark of a clean
//    shutdown, which says that nothing came after it.
// 2. A row leaves snowflake_registry and its watermark enters snowflake_watermark in one transaction.
// 3. A lease belongs to the role that drew it, the session's: for another one it is gone.
//
// Errors common to all: 22023 for arguments, 25006 where nothing can be written, 55000 for any isolation level but
// read committed and for tables that are not as the extension made them, 42501 when these have several owners.
#pragma once

#include "core/exchange.h"
#include "pg/pg.h"

namespace snowflake {

// SF002: a node names a tick that lies further ahead of this server's clock than max_clock_skew allows.
[[noreturn]] void ReportTickAhead(int64_t tick_us, int64_t registry_us);

// Draws a lease. False when no window can begin in time for the node, and when a loss was noticed just now and all that is free
// is held back: that must be committed, so it is no error; the next try gets SF004. Errors: SF003, SF004.
bool ProtocolAcquire(Oid extension, const AcquireRequest &request, AcquireAnswer *answer);

// Moves the window's end, never back. False when the lease is gone.
bool ProtocolExtend(Oid extension, const ExtendRequest &request, ExtendAnswer *answer);

// How many worker ids of a datacenter nobody holds, but for one.
int64_t ProtocolWorkersFree(Oid extension, const Layout &layout, int32_t datacenter);

// Gives a lease back and keeps its last tick as its worker id's watermark. False when it was gone.
bool ProtocolRelease(Oid extension, const ReleaseRequest &request);

// The server is about to end, and all that was committed is on disk: whoever goes on from there has lost nothing.
void ProtocolMarkClean(Oid extension);

// The operator's word: the node is dead since then, and cannot have used a later tick. Returns whether anybody had the worker
// id. Error: 22023 when it was heard of since.
bool ProtocolEvict(Oid extension, int32_t worker, TimestampTz dead_since, Tick last_tick);

// The operator's word: commits were lost, or were not. The second returns whether there was anything to end.
void ProtocolSettle(Oid extension, const char *reason);
bool ProtocolSettled(Oid extension);

// Writes down which server the registry is on, unless that was done.
void ProtocolMakeOrigin(Oid extension);

// No id of this tick or before it is wanted any more, on any node: leases begin above it, and who holds one learns of it when it
// is extended. It never falls.
void ProtocolRaise(Oid extension, Tick tick);

// A lease that somebody deletes by hand leaves its watermark.
void ProtocolKeepWatermark(Oid extension, int32_t worker, Tick last_tick);

// Writes down the layout that this database begins with; nothing happens when it is there already. Error: 55000 when a
// lease was drawn under another.
void ProtocolSetLayout(Oid extension, const Layout &layout);

// Raises 55000 when a lease was drawn in this registry under its layout.
void CheckLayoutMayChange(Oid extension);

// Writes down the layout that this database has, if nobody has yet.
void ProtocolKeepLayout(Oid extension);

}  // namespace snowflake
