// What calls of the protocol have in common, for both leases and segments.
#pragma once

#include "core/lease.h"
#include "pg/registry/settling.h"
#include "pg/registry/tables.h"

namespace snowflake {
// To be called first by each function of the protocol that SQL calls. A node's role must not block
// others for long, as an open transaction would with the registry's lock, or a lease's. Errors:
// 25001 in a transaction block, 42501 where others' code runs in the session. From here on the
// transaction must not be prepared (0A000), and waits for each lock for no longer than nodes wait
// for an answer.
void LimitTransaction(const char *function);

// To be called last by it. The statement may go on, and a pipeline can still turn its transaction
// into a block. So if its commit does not begin within a second of the first call, the session
// ends. The call itself does not count: a slow registry ends nobody. Superusers are free to wait,
// because they can lock the tables anyway.
void ExpectCommit();

// To be called before anything else of a call. Errors: 25006 if nothing can be written, 55000 in
// pg_upgrade's servers and for any isolation level but read committed.
void CheckCall(const char *function);

// Begins a call that commits durably: CheckCall(), the tables, and the registry's lock.
Tables BeginCall(const char *function, Oid extension, LOCKMODE mode = ShareUpdateExclusiveLock);

// Begins an operator's call likewise; its transaction must not be prepared (0A000).
Tables BeginOperatorsCall(const char *function, Oid extension, LOCKMODE tables_mode = RowShareLock);

// Called after the answer to a node of another server: what the keeper does then is unknown here.
extern void (*after_answer)();

// The transaction commits without waiting for a standby.
void CommitLocally();

// Whose lease or range it is: not the owner's, as whom the statements run.
Value SessionRole();

Value HashValue(const SecretHash &hash);

Standing StandingOf(const Origin &origin);

}  // namespace snowflake
