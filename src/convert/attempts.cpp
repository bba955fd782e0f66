// snowflake_try(): executes statements that need a strong lock for a moment. Whoever waits for such
// a lock makes all later sessions wait, too. So each attempt waits for a short time only.
//
// 1. An attempt is a subtransaction. If it fails, it has no effect and keeps no lock.
// 2. Between two attempts the transaction ends, so that its snapshot holds no vacuum back.
// 3. The statements run with the caller's rights, as any SQL does. They are made for the settings
//    of PinSettings(), among them the search_path pg_catalog, and run under them unless they
//    evaluate rows.
#include "convert/attempts.h"

#include "convert/empty_index.h"
#include "convert/queries.h"
#include "pg/processes.h"
#include "pg/report.h"
#include "pg/security_context.h"

extern "C" {
#include "parser/parser.h"
#include "utils/timeout.h"
}

namespace snowflake {
namespace {
constexpr int kDeadlineMs = 100;
constexpr int64_t kFirstPauseUs = 100 * 1000;
constexpr int64_t kLongestPauseUs = 3 * 1000 * 1000;
constexpr int64_t kGiveUpUs = int64_t{600} * 1000 * 1000;

// VALIDATE CONSTRAINT does. Its text has nothing that settings decide on.
bool EvaluatesRows(List *parsed) {
  ListCell *cell = nullptr, *command = nullptr;
  foreach (cell, parsed) {
    Node *statement = lfirst_node(RawStmt, cell)->stmt;
    if (!IsA(statement, AlterTableStmt)) continue;
    foreach (command, castNode(AlterTableStmt, statement)->cmds)
      if (lfirst_node(AlterTableCmd, command)->subtype == AT_ValidateConstraint) return true;
  }
  return false;
}

// At the deadline a wait for a lock ends, and later ones end at once. In a signal handler.
void EndWaits() {
  LockTimeout = 1;
  if (get_timeout_active(LOCK_TIMEOUT)) enable_timeout_after(LOCK_TIMEOUT, 0);
}

TimeoutId Deadline() {
  static TimeoutId deadline = MAX_TIMEOUTS;
  if (deadline == MAX_TIMEOUTS) deadline = RegisterTimeout(USER_TIMEOUT, EndWaits);
  return deadline;
}

void RunStatement(const RawStmt &statement, const char *statements) {
  const char *start = statements + statement.stmt_location;
  const char *sql = statement.stmt_len > 0 ? pnstrdup(start, static_cast<Size>(statement.stmt_len)) : start;
  if (IsA(statement.stmt, IndexStmt) && castNode(IndexStmt, statement.stmt)->concurrent)
    return CreateEmptyIndex(castNode(IndexStmt, statement.stmt), sql);
  const int rc = SPI_execute(sql, false, 0);
  if (rc == SPI_ERROR_TRANSACTION)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot begin or end transactions in snowflake_try()"),
             errdetail("All statements of one call are executed in one transaction."),
             errhint("Leave out BEGIN, COMMIT and the like.")));
  if (rc < 0) elog(ERROR, "SPI failed: %s", SPI_result_code_string(rc));
}

List *Parsed(const char *statements) {
  const int guc_level = NewGUCNestLevel();
  PinSettings();
  List *parsed = raw_parser(statements, RAW_PARSE_DEFAULT);
  AtEOXact_GUC(false, guc_level);
  return parsed;
}

}  // namespace

void SetLockTimeouts() {
  SetForLevel("lock_timeout", psprintf("%dms", kDeadlineMs));
  // What waits for this long ends an autovacuum that is in the way.
  SetForLevel("deadlock_timeout", "50ms");
}

void BeginDeadline() { enable_timeout_after(Deadline(), kDeadlineMs); }

void EndDeadline(int lock_timeout) {
  disable_timeout(Deadline(), false);
  // The timer may have come just after the settings were restored.
  LockTimeout = lock_timeout;
}

namespace {
void RunStatements(const char *statements) {
  List *parsed = Parsed(statements);
  const bool evaluates_rows = EvaluatesRows(parsed);
  const int guc_level = NewGUCNestLevel();
  if (evaluates_rows) {
    SetForLevel("search_path", "pg_catalog, pg_temp");
  } else {
    PinSettings();
    SetForLevel("lc_monetary", "C");
  }
  // Indexes of partitioned tables have none of their own.
  SetForLevel("default_tablespace", "");
  SetLockTimeouts();
  // To read all rows takes long, under a lock that nobody who reads or writes waits for.
  bool has_deadline = evaluates_rows;
  ListCell *cell = nullptr;
  foreach (cell, parsed) {
    const RawStmt &statement = *lfirst_node(RawStmt, cell);
    // Nobody waits for the locks of the queries before.
    if (!has_deadline && !IsA(statement.stmt, SelectStmt)) {
      has_deadline = true;
      BeginDeadline();
    }
    RunStatement(statement, statements);
  }
  AtEOXact_GUC(false, guc_level);
}

// Null: the attempt succeeded. An error that is not about a lock is raised again.
const ErrorData *TryOnce(const char *statements) {
  ErrorData *error = AttemptedInTime([&] { RunStatements(statements); });
  if (error != nullptr && !IsOfLock(error->sqlerrcode)) ReThrowError(error);
  return error;
}

int CompareLines(const ListCell *a, const ListCell *b) {
  return strcmp(static_cast<const char *>(lfirst(a)), static_cast<const char *>(lfirst(b)));
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

void CheckSession(Oid owner, const char *described) {
  const Oid role = GetAuthenticatedUserId();
  const bool unchanged = role == GetSessionUserId() && role == GetUserId();
  if (unchanged && (role == owner || (superuser_arg(role) && superuser_arg(owner)))) return;
  const char *owner_name = GetUserNameFromId(owner, false);
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be connected as the owner of %s", described),
           errdetail("It belongs to %s. The session was opened as %s, and its role is now %s. Code of the table runs "
                     "in it, and can undo SET ROLE and SET SESSION AUTHORIZATION.",
                     owner_name, GetUserNameFromId(role, false), GetUserNameFromId(GetUserId(), false)),
           errhint("Connect as %s, if necessary after ALTER ROLE %s LOGIN, or convert without online.", owner_name,
                   quote_identifier(owner_name))));
}

List *CodeOfOthers(Value tables) {
  if (!superuser()) return NIL;
  const int guc_level = NewGUCNestLevel();
  PinSettings();
  List *lines = Texts(kCodeOfOthers, tables);
  AtEOXact_GUC(false, guc_level);
  return lines;
}

const char *Joined(const List *lines) {
  StringInfoData all;
  initStringInfo(&all);
  ListCell *cell = nullptr;
  foreach (cell, lines)
    appendStringInfo(&all, "%s%s", all.len > 0 ? "\n" : "", static_cast<const char *>(lfirst(cell)));
  return all.data;
}

const char *Listed(List *lines) {
  list_sort(lines, CompareLines);
  List *once = NIL;
  ListCell *cell = nullptr;
  foreach (cell, lines) {
    const char *line = static_cast<const char *>(lfirst(cell));
    if (once == NIL || strcmp(line, static_cast<const char *>(llast(once))) != 0) once = lappend(once, lfirst(cell));
  }
  return Joined(once);
}

void CheckCode(Oid table) {
  if (!superuser()) return;
  List *lines = CodeOfOthers(OidsValue(find_all_inheritors(table, AccessShareLock, nullptr)));
  if (lines == NIL) return;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("cannot convert table %s online as a superuser", get_rel_name(table)), errdetail("%s", Listed(lines)),
           errhint("Give these objects to a superuser, or convert without online.")));
}

Relation OpenOwn(Oid table, LOCKMODE mode) {
  Relation relation = try_relation_open(table, mode);
  if (relation == nullptr) ReportNoRelation(table);
  CheckSession(relation->rd_rel->relowner, psprintf("table %s", RelationGetRelationName(relation)));
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
  const TimestampTz since = GetCurrentTimestamp();
  int64_t pause_us = kFirstPauseUs;
  while (const ErrorData *error = TryOnce(statements)) {
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
