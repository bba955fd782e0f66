// What calls of the protocol have in common, be it leases or segments.
#pragma once

#include "pg/registry/settling.h"
#include "pg/registry/tables.h"

namespace snowflake {

// To be called first. Errors: 25006 where nothing can be written, 55000 in pg_upgrade's servers and for any isolation level but read
// committed.
void CheckCall(const char *function);

// Called when a node of another server was answered: the registry does not know what follows from that.
extern void (*after_answer)(Oid extension);

// How the transaction commits: as safely as synchronous_commit = on at least, or without waiting for a standby.
void CommitDurably();
void CommitLocally();

// Whose lease or range it is: not the owner's, as whom the statements run.
Value SessionRole();

Standing StandingOf(const Origin &origin);

}  // namespace snowflake
