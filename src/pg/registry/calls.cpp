// Begins calls of the protocol, and watches their transactions by callbacks and a timeout.
#include "pg/registry/calls.h"

#include "pg/registry/secrets.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// Twice the statement_timeout that nodes set for themselves, so they never reach it.
constexpr int kTransactionMs = 10 * 1000;

// As nodes set it, who give up after 5 s. A pooler may not let their settings through, and then
// nobody would name what blocks them.
constexpr int kLockMs = 4 * 1000;

constexpr int kNotRegistered = -1;
int timeout = kNotRegistered;
const char *limited = nullptr;  // the function that this transaction called; null: none
TimestampTz deadline = 0;       // 0: none
volatile sig_atomic_t overrun = false;

// A session that is idle in its transaction ignores a cancellation, and PL/pgSQL may catch one.
void HandleOverrun() {
  overrun = true;
  ProcDiePending = true;
  InterruptPending = true;
  SetLatch(MyLatch);
}

void LogOverrun(int, Datum) {
  if (overrun)
    ereport(LOG, (errmsg("snowflake registry: ended a session whose transaction took longer than %d s",
                         kTransactionMs / 1000),
                  errdetail("It had called %s().", limited != nullptr ? limited : "the protocol")));
}

void EndTransaction(XactEvent event, void *) {
  if (limited == nullptr) return;
  if (event == XACT_EVENT_PRE_PREPARE)
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot PREPARE a transaction that has called %s()", limited),
         errdetail("It would block the other nodes of the registry, even across restarts."), errhint("Commit it.")));
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE) return;
  disable_timeout(static_cast<TimeoutId>(timeout), false);
  limited = nullptr;
  deadline = 0;
}

// An error ends all timeouts, but a savepoint keeps the transaction and its locks.
void EndSubTransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void *) {
  if (event == SUBXACT_EVENT_ABORT_SUB && deadline != 0) enable_timeout_at(static_cast<TimeoutId>(timeout), deadline);
}

void WatchCalls() {
  if (timeout != kNotRegistered) return;
  timeout = RegisterTimeout(USER_TIMEOUT, HandleOverrun);
  RegisterXactCallback(EndTransaction, nullptr);
  RegisterSubXactCallback(EndSubTransaction, nullptr);
  before_shmem_exit(LogOverrun, Datum{0});
}

// A prepared transaction would keep the registry's lock, even over restarts.
void ForbidPrepare(const char *function) {
  WatchCalls();
  if (limited == nullptr) limited = function;
}

// A function's own SET clause would end before the commit that it is meant for.
void SetInTransaction(const char *name, const char *value) {
  set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

// As safely as synchronous_commit = on at least.
void CommitDurably() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) SetInTransaction("synchronous_commit", "on");
}

}  // namespace

void (*after_answer)() = nullptr;

void LimitTransaction(const char *function) {
  if (IsTransactionBlock() || IsSubTransaction())
    ereport(ERROR,
            (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION), errmsg("%s() cannot run inside a transaction block", function),
             errdetail("An open transaction would block the other nodes of the registry."),
             errhint("Call it in a statement of its own.")));
  WatchCalls();
  if (deadline == 0) {
    deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kTransactionMs);
    enable_timeout_at(static_cast<TimeoutId>(timeout), deadline);
  }
  if (LockTimeout == 0 || LockTimeout > kLockMs) SetInTransaction("lock_timeout", psprintf("%d", kLockMs));
  limited = function;
}

void CheckCall(const char *function) {
  // Nodes reach a server that pg_upgrade started if the user gave it the usual socket. The new
  // server's tables are still empty. What is written to either server is lost.
  if (IsBinaryUpgrade)
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("cannot execute %s() while pg_upgrade runs", function),
         errdetail(
             "The registry's contents have yet to be copied to the new server, and must not change on the old one."),
         errhint("Nodes issue ids until their windows end, and try again.")));
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation(function);
}

Tables BeginCall(const char *function, Oid extension, LOCKMODE mode) {
  CheckCall(function);
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRegistry(tables, mode);
  return tables;
}

Tables BeginOperatorsCall(const char *function, Oid extension, LOCKMODE tables_mode) {
  CheckCall(function);
  ForbidPrepare(function);
  const Tables tables = FindTables(extension, tables_mode);
  CommitDurably();
  LockRegistry(tables);
  return tables;
}

void CommitLocally() { SetInTransaction("synchronous_commit", "local"); }

Value SessionRole() { return Of(OIDOID, ObjectIdGetDatum(GetSessionUserId())); }

Value HashValue(const SecretHash &hash) { return Of(BYTEAOID, SecretHashDatum(hash)); }

Standing StandingOf(const Origin &origin) {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), origin.raised_tick,
          origin.settle_called_us};
}

}  // namespace snowflake
