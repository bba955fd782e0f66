// Watches the transactions that called the protocol, by PostgreSQL's callbacks and a timeout.
#include "pg/registry/limits.h"

#include "pg/report.h"

namespace snowflake {

namespace {

// Twice the statement_timeout that nodes set for themselves, so they never reach it.
constexpr int kTransactionMs = 10 * 1000;

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

void WatchTransactions() {
  if (timeout != kNotRegistered) return;
  timeout = RegisterTimeout(USER_TIMEOUT, HandleOverrun);
  RegisterXactCallback(EndTransaction, nullptr);
  RegisterSubXactCallback(EndSubTransaction, nullptr);
  before_shmem_exit(LogOverrun, Datum{0});
}

}  // namespace

void ForbidPrepare(const char *function) {
  WatchTransactions();
  if (limited == nullptr) limited = function;
}

void LimitTransaction(const char *function) {
  if (IsTransactionBlock() || IsSubTransaction())
    ereport(ERROR,
            (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION), errmsg("%s() cannot run inside a transaction block", function),
             errdetail("An open transaction would block the other nodes of the registry."),
             errhint("Call it in a statement of its own.")));
  WatchTransactions();
  if (deadline == 0) {
    deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kTransactionMs);
    enable_timeout_at(static_cast<TimeoutId>(timeout), deadline);
  }
  limited = function;
}

}  // namespace snowflake
