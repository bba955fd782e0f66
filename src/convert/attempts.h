// What conversions check before they begin, and how the procedures of an online one pause: they end
// transactions of their own.
#pragma once

#include "convert/subtransaction.h"
#include "pg/catalogs.h"
#include "pg/spi.h"

extern "C" {
#include "storage/proc.h"
}

namespace snowflake {
// Error: 25001 in a transaction block, or in a function.
void CheckMayCommit(FunctionCallInfo fcinfo, const char *procedure);

// Errors: 25006, and 55000 at any isolation level except read committed.
void CheckMayChange(const char *function);

// Code of a table runs in the session that converts it online, with the rights of the session. So
// this has to be a session of the owner from its start on: that code can undo SET ROLE and SET
// SESSION AUTHORIZATION. Superusers also may convert each other's tables. Error: 42501.
void CheckSession(Oid owner, const char *described);

// For a superuser: a line for each object that the catalogs show on these tables, an array of OIDs,
// and that does not belong to a superuser. Between SPI_connect() and SPI_finish().
List *CodeOfOthers(Value tables);

// The same for a table and what inherits from it. Error: 42501.
void CheckCode(Oid table);

// Lines for an error's detail, as they are; and sorted, each once.
const char *Joined(const List *lines);
const char *Listed(List *lines);

// For CheckSession(). Errors: 42P01, 42501.
Relation OpenOwn(Oid table, LOCKMODE mode);

// All locks of an attempt are awaited for 0.1 s together, from BeginDeadline() on. The settings are
// of the present nest level.
void SetLockTimeouts();
void BeginDeadline();
void EndDeadline(int lock_timeout);

template <typename Body>
ErrorData *AttemptedInTime(Body body) {
  const int lock_timeout = LockTimeout;
  ErrorData *error = Attempted(body);
  EndDeadline(lock_timeout);
  return error;
}

// Whether an attempt failed because others have locks.
inline bool IsOfLock(int code) { return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_T_R_DEADLOCK_DETECTED; }

// Outside of a transaction's locks. A signal ends the pause early.
void PauseFor(int64_t us);

}  // namespace snowflake
