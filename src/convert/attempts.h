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
bool IsSessionOf(Oid owner);

// For a superuser: a line for each object that the catalogs show on these tables, an array of OIDs,
// and that does not belong to a superuser. Between SPI_connect() and SPI_finish().
List *CodeOfOthers(Value tables);

// Refuses such objects on a table and what inherits from it. Error: 42501.
void CheckCode(Oid table);

// Lines for an error's detail, as they are; and sorted, each once.
const char *Joined(const List *lines, const char *separator = "\n");
const char *Listed(List *lines);

// For CheckSession(). Errors: 42P01, 42501.
Relation OpenOwn(Oid table, LOCKMODE mode);

// Attempts to lock and change something, one after the other, for as long as the caller allows.
//
// 1. Whoever waits for a lock makes all later sessions wait, too. So an attempt waits for all its
//    locks together for `max_wait_ms` only, from BeginDeadline() on, and a pause is at least as
//    long as the attempt before it. The more attempts fail, the longer are the pauses.
// 2. Once it keeps others out, one of them may wait for it that it waits for. Their check for
//    deadlocks would end them. So it waits for further locks for half of deadlock_timeout only, and
//    looks for a deadlock itself, soon and just before it gives up: then it is the one that ends.
// 3. A deadlock shows that others lock in another order. So what was held then, the next attempt
//    locks last.
struct Attempts {
  int max_wait_ms, held_wait_ms;
  int64_t give_up_us, until_us, since_us;  // the last two by the monotonic clock
  int failed;
  MemoryContext memory;  // of the lists
  List *held, *last;
  Oid awaited;  // at the end of an attempt, the relation that it waited for in vain
};

// By the arguments of a function, both of type interval. Error: 22023.
Attempts BeginAttempts(FunctionCallInfo fcinfo, int max_wait, int give_up_after);
// The two arguments of these attempts as SQL, and whether they are the defaults.
const char *ArgumentsOf(const Attempts &attempts);
bool AreUsual(const Attempts &attempts);
bool HaveEnded(const Attempts &attempts);
void PauseBeforeNext(Attempts *attempts);

// The settings are of the present nest level.
void SetLockTimeouts(const Attempts &attempts);
void BeginDeadline(Attempts *attempts);
// The attempt keeps others out from here on.
void NoteHeld(const Attempts &attempts);
void EndDeadline(Attempts *attempts, int lock_timeout, bool deadlock);

// Locks relations, an OID each, in this order but for what a deadlock has shown. `attempts` may be
// null: then as the session's settings say.
void LockInTurn(Attempts *attempts, List *relations, LOCKMODE mode);

template <typename Body>
ErrorData *AttemptedInTime(Attempts *attempts, Body body) {
  const int lock_timeout = LockTimeout;
  attempts->held = NIL;
  attempts->awaited = InvalidOid;
  attempts->since_us = MonotonicUs();
  ErrorData *error = Attempted(body);
  EndDeadline(attempts, lock_timeout, error != nullptr && error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED);
  return error;
}

// Whether an attempt failed because others have locks.
inline bool IsOfLock(int code) { return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_T_R_DEADLOCK_DETECTED; }

// Outside of a transaction's locks. A signal ends the pause early.
void PauseFor(int64_t us);

}  // namespace snowflake
