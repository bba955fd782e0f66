// Begins calls of the protocol, and watches their transactions by callbacks and a timer.
#include "pg/registry/calls.h"

#include "pg/registry/secrets.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// As nodes set it, who give up after 5 s. A pooler may not let their settings through, and then
// nobody would name what blocks them.
constexpr int kLockMs = 4 * 1000;

// Between a node's call and its commit there is nothing to do, so this is plenty. Three hostile
// roles in a row do not use up kLockMs.
constexpr int kCommitMs = 1000;
constexpr int kLookMs = 100;

bool watched = false;
const char *limited = nullptr;  // the function that this transaction called; null: none
volatile sig_atomic_t expected = false;
volatile sig_atomic_t overrun = false;

// PostgreSQL's timeouts go by the wall clock: if it steps back by two hours, the alarm comes in
// time, is compared with the clock, and set again for two hours. An error ends them all, although a
// savepoint keeps the locks.
#if defined(_POSIX_TIMERS) && _POSIX_TIMERS > 0
timer_t timer;

// A session that is idle in its transaction ignores a cancellation, and PL/pgSQL may catch one.
// From its begin, a commit holds interrupts: to wait for a synchronous standby is no overrun.
// Everything else holds them for moments, and this is called again.
void HandleTimer(int) {
  if (!expected || InterruptHoldoffCount > 0 || CritSectionCount > 0) return;
  const int saved_errno = errno;
  overrun = true;
  ProcDiePending = true;
  InterruptPending = true;
  SetLatch(MyLatch);
  errno = saved_errno;
}

void MakeTimer() {
  // PostgreSQL uses no real-time signal.
  const int signal = SIGRTMIN + 5;
  struct sigaction action = {};
  action.sa_handler = HandleTimer;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  if (sigaction(signal, &action, nullptr) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
    elog(ERROR, "could not create a timer: %m");
}

void SetTimer(int first_ms, int period_ms) {
  const auto time = [](int ms) { return timespec{ms / 1000, ms % 1000 * 1000000L}; };
  const itimerspec spec = {time(period_ms), time(first_ms)};
  timer_settime(timer, 0, &spec, nullptr);
}
#elif defined(__linux__)
#error "unistd.h does not say that there are timers"
#else
// Such systems, macOS for one, do not limit transactions.
void MakeTimer() {}
void SetTimer(int, int) {}
#endif

void LogOverrun(int, Datum) {
  if (overrun)
    ereport(LOG, (errmsg("snowflake registry: ended a session that did not commit within %d s of its call",
                         kCommitMs / 1000),
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
  if (expected) SetTimer(0, 0);
  expected = false;
  limited = nullptr;
}

void WatchCalls() {
  if (watched) return;
  MakeTimer();
  RegisterXactCallback(EndTransaction, nullptr);
  before_shmem_exit(LogOverrun, Datum{0});
  watched = true;
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
  // An index may call functions of its owner in a superuser's session, or in that of autovacuum.
  if (InSecurityRestrictedOperation())
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("%s() cannot run within a security-restricted operation", function),
                    errdetail("The session could block the other nodes of the registry for as long as it likes."),
                    errhint("Call it in a statement of its own.")));
  WatchCalls();
  if (LockTimeout == 0 || LockTimeout > kLockMs) SetInTransaction("lock_timeout", psprintf("%d", kLockMs));
  limited = function;
}

void ExpectCommit() {
  if (expected || superuser_arg(GetSessionUserId())) return;
  expected = true;
  SetTimer(kCommitMs, kLookMs);
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
