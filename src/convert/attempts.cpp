// snowflake_try(): executes statements that need a strong lock for a moment. Whoever waits for such
// a lock makes all later sessions wait, too. So each attempt waits for a short time only.
//
// 1. An attempt is a subtransaction. If it fails, it has no effect and keeps no lock.
// 2. Between two attempts the transaction ends, so that its snapshot holds no vacuum back.
// 3. The statements run with the caller's rights, or with those of a table's owner. They are made
//    for the search_path pg_catalog.
#include "convert/attempts.h"

#include "convert/subtransaction.h"
#include "pg/report.h"
#include "pg/security_context.h"
#include "pg/spi.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
constexpr int64_t kFirstPauseUs = 100 * 1000;
constexpr int64_t kLongestPauseUs = 3 * 1000 * 1000;
constexpr int64_t kGiveUpUs = int64_t{600} * 1000 * 1000;

// `owner`: InvalidOid for the caller.
void RunStatements(const char *statements, Oid owner) {
  SecurityContext outer = {};
  if (OidIsValid(owner)) outer = EnterSecurityContext(owner);
  const int guc_level = NewGUCNestLevel();
  SetForLevel("search_path", "pg_catalog, pg_temp");
  SetForLevel("lock_timeout", "100ms");
  // What waits for this long ends an autovacuum that is in the way.
  SetForLevel("deadlock_timeout", "50ms");
  const int rc = SPI_execute(statements, false, 0);
  if (rc == SPI_ERROR_TRANSACTION)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot begin or end transactions in snowflake_try()"),
             errdetail("All statements of one call are executed in one transaction."),
             errhint("Leave out BEGIN, COMMIT and the like.")));
  if (rc < 0) elog(ERROR, "SPI failed: %s", SPI_result_code_string(rc));
  AtEOXact_GUC(false, guc_level);
  if (OidIsValid(owner)) LeaveSecurityContext(outer);
}

// The owner of the table that was named; InvalidOid if none was.
Oid OwnerFor(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(1)) return InvalidOid;
  Relation table = OpenOwn(PG_GETARG_OID(1), AccessShareLock, "snowflake_try");
  const Oid owner = table->rd_rel->relowner;
  relation_close(table, AccessShareLock);
  return owner;
}

// Null: the attempt succeeded. An error that is not about a lock is raised again.
const ErrorData *TryOnce(const char *statements, Oid table_owner) {
  ErrorData *error = Attempted([&] { RunStatements(statements, table_owner); });
  if (error != nullptr && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
      error->sqlerrcode != ERRCODE_T_R_DEADLOCK_DETECTED)
    ReThrowError(error);
  return error;
}

}  // namespace

void CheckMayCommit(FunctionCallInfo fcinfo, const char *procedure) {
  const Node *context = fcinfo->context;
  if (context != nullptr && IsA(context, CallContext) && !castNode(CallContext, fcinfo->context)->atomic) return;
  ereport(ERROR,
          (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION), errmsg("%s() cannot run inside a transaction block", procedure),
           errdetail("It ends transactions of its own."), errhint("Call it as a statement of its own.")));
}

void CheckMayChange(const char *function) {
  const char *call = psprintf("%s()", function);
  PreventCommandDuringRecovery(call);
  PreventCommandIfReadOnly(call);
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation(function);
}

Relation OpenOwn(Oid table, LOCKMODE mode, const char *procedure) {
  Relation relation = try_relation_open(table, mode);
  if (relation == nullptr) ReportNoRelation(table);
  if (!has_privs_of_role(GetUserId(), relation->rd_rel->relowner))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("must be owner of table %s", RelationGetRelationName(relation)),
                    errhint("Call %s() as the table's owner.", procedure)));
  return relation;
}

void PauseFor(int64_t us) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeConvert");
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(us / 1000), event);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

SNOWFLAKE_FUNCTION(snowflake_try) {
  CheckNotNull(fcinfo, "snowflake_try", {"statements"});
  CheckMayCommit(fcinfo, "snowflake_try");
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  const char *statements = text_to_cstring(PG_GETARG_TEXT_PP(0));
  const Oid owner = OwnerFor(fcinfo);
  const TimestampTz since = GetCurrentTimestamp();
  int64_t pause_us = kFirstPauseUs;
  while (const ErrorData *error = TryOnce(statements, owner)) {
    const int64_t waited_us = GetCurrentTimestamp() - since;
    if (waited_us > kGiveUpUs)
      ereport(ERROR,
              (errcode(error->sqlerrcode), errmsg("could not lock what the statements change"),
               errdetail("It was tried for %lld s: %s", Long(waited_us / 1000000), error->message),
               errhint("A long transaction uses the table: see pg_locks and pg_stat_activity. Then call again.")));
    SPI_commit();
    PauseFor(pause_us / 2 +
             static_cast<int64_t>(pg_prng_double(&pg_global_prng_state) * static_cast<double>(pause_us)));
    pause_us = Min(2 * pause_us, kLongestPauseUs);
  }
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
