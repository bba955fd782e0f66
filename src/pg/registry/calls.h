// What calls of the protocol have in common, be it leases or segments.
#pragma once

#include "pg/registry/settling.h"
#include "pg/registry/tables.h"

namespace snowflake {

// To be called first. Errors: 25006 where nothing can be written, 55000 in pg_upgrade's servers and for any isolation level but read
// committed.
void CheckCall(const char *function);

// How the transaction commits: as safely as synchronous_commit = on at least, or without waiting for a standby.
void CommitDurably();
void CommitLocally();

// Whose lease or range it is: not the owner's, behind whose fence the statements run.
Value SessionRole();

Standing StandingOf(const Origin &origin);

// The rest inside AsOwner().

// Of a node that names a lease, an end of its window or a number which this registry never gave: those commits are lost, and others
// may be. The lock comes first, so that an acquire under way has ended.
void NoticeLoss(const Tables &tables, const Layout &layout, const Notice &notice, Loss loss);

// Before a row is moved, or leaves, otherwise than by an acquire: when a loss is noticed, the newest row tells when it was, and a
// worker id that became free since would count as one that was free then. The mark of a clean shutdown is still there, too.
void NoticeMove(const Tables &tables, const Layout &layout, const Notice &notice, Origin origin);

// After a clean shutdown: something comes after it.
void NoticeActivity(const Tables &tables, const Origin &origin);

// Where no node says what its clock shows and how long its leases are.
Notice NoticeOfOurs(const Layout &layout, int64_t named = 0);

}  // namespace snowflake
