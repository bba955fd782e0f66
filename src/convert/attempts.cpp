// snowflake_try(): executes statements that need a strong lock for a moment.
//
// 1. An attempt is a subtransaction. If it fails, it has no effect and keeps no lock.
// 2. Between two attempts the transaction ends, so that its snapshot holds no vacuum back.
// 3. LOCK TABLE is executed here: it also takes sequences, and a view without its tables, and
//    learns the order of locks from deadlocks.
// 4. The statements run with the caller's rights, as any SQL does. They are made for the settings
//    of PinSettings(), among them the search_path pg_catalog, and run under them unless they
//    evaluate rows.
#include "convert/attempts.h"

#include "convert/queries.h"
#include "pg/processes.h"
#include "pg/report.h"
#include "pg/security_context.h"

extern "C" {
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_index.h"
#include "commands/tablecmds.h"
#include "parser/parser.h"
#include "storage/bufmgr.h"
#include "utils/timeout.h"
}

namespace snowflake {
namespace {
constexpr int64_t kShortestWaitUs = 100 * 1000;
constexpr int64_t kReportUs = 10 * 1000 * 1000;
constexpr int64_t kLongestWaitUs = int64_t{24} * 3600 * 1000 * 1000;
// How long before its end an attempt looks for a deadlock once more.
constexpr int kLastLookMs = 10;

// Error: 22023.
int64_t DurationUs(FunctionCallInfo fcinfo, int argument, const char *name, int64_t least_us) {
  const Interval &value = *PG_GETARG_INTERVAL_P(argument);
  const double us = static_cast<double>(value.time) + (value.day + 30.0 * value.month) * 24 * 3600 * 1e6;
  if (us >= static_cast<double>(least_us) && us <= static_cast<double>(kLongestWaitUs)) return static_cast<int64_t>(us);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s must be between %lld ms and one day", name, Long(least_us / 1000)),
           errdetail("It is %s.", DatumGetCString(DirectFunctionCall1(interval_out, PG_GETARG_DATUM(argument))))));
}

// VALIDATE CONSTRAINT does. Its text has nothing that settings decide on.
bool EvaluatesRows(List *parsed) {
  for (const RawStmt &statement : Each<RawStmt>(parsed)) {
    if (!IsA(statement.stmt, AlterTableStmt)) continue;
    for (const AlterTableCmd &command : Each<AlterTableCmd>(castNode(AlterTableStmt, statement.stmt)->cmds))
      if (command.subtype == AT_ValidateConstraint) return true;
  }
  return false;
}

// At the deadline a wait for a lock ends, and later ones end at once. In a signal handler.
void EndWaits() {
  LockTimeout = 1;
  if (!get_timeout_active(LOCK_TIMEOUT)) return;
  enable_timeout_after(DEADLOCK_TIMEOUT, 0);
  enable_timeout_after(LOCK_TIMEOUT, kLastLookMs);
}

TimeoutId Deadline() {
  static TimeoutId deadline = MAX_TIMEOUTS;
  if (deadline == MAX_TIMEOUTS) deadline = RegisterTimeout(USER_TIMEOUT, EndWaits);
  return deadline;
}

// --- An empty index ---

// Nobody else has seen the index yet.
void MakeInvalid(Oid oid) {
  Relation index = index_open(oid, NoLock);
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" was not created empty", RelationGetRelationName(index));
  index_close(index, NoLock);
  Relation catalog = table_open(IndexRelationId, RowExclusiveLock);
  HeapTuple row = SearchSysCacheCopy1(INDEXRELID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for index %u", oid);
  const Form_pg_index form = reinterpret_cast<Form_pg_index>(GETSTRUCT(row));
  form->indisvalid = false;
  form->indisready = false;
  CatalogTupleUpdate(catalog, &row->t_self, row);
  table_close(catalog, RowExclusiveLock);
}

Oid DefineInvalidIndex(IndexStmt *index, const char *sql) {
  const Oid table = RangeVarGetRelidExtended(index->relation, ShareLock, 0, RangeVarCallbackOwnsRelation, nullptr);
  if (get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot create index on partitioned table \"%s\" concurrently", get_rel_name(table)),
                    errhint("Create it on the partitions.")));
  index->concurrent = false;
  const Oid oid = DefineEmptyIndex(table, transformIndexStmt(table, index, sql));
  if (!OidIsValid(oid)) return oid;  // IF NOT EXISTS
  CommandCounterIncrement();
  MakeInvalid(oid);
  CommandCounterIncrement();
  return oid;
}

// CREATE INDEX CONCURRENTLY up to its first commit. The index is invalid and gets no rows, as after
// one that failed at once; REINDEX INDEX CONCURRENTLY builds it. Fires the event triggers of CREATE
// INDEX. Errors: those of CREATE INDEX.
//
// Expressions are parsed here, under the settings that are pinned. REINDEX copies them from the
// catalog and parses nothing. So no setting of the session that builds the index changes them.
void CreateEmptyIndex(IndexStmt *index, const char *sql) {
  PreventCommandIfReadOnly("CREATE INDEX");
  PreventCommandDuringRecovery("CREATE INDEX");
  Node *command = reinterpret_cast<Node *>(index);
  const bool collects = EventTriggerBeginCompleteQuery();
  PG_TRY();
  {
    EventTriggerDDLCommandStart(command);
    const ObjectAddress made = {RelationRelationId, DefineInvalidIndex(index, sql), 0};
    EventTriggerCollectSimpleCommand(made, InvalidObjectAddress, command);
    EventTriggerDDLCommandEnd(command);
  }
  PG_FINALLY();
  {
    if (collects) EventTriggerEndCompleteQuery();
  }
  PG_END_TRY();
}

// --- Statements ---

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

// Of a table, also what inherits from it.
void LockTables(Attempts *attempts, const LockStmt &lock) {
  List *relations = NIL;
  for (const RangeVar *name : Each<RangeVar *>(lock.relations)) {
    const Oid relation = RangeVarGetRelidExtended(name, NoLock, 0, RangeVarCallbackOwnsRelation, nullptr);
    relations = list_concat_unique_oid(
        relations, name->inh ? find_all_inheritors(relation, NoLock, nullptr) : list_make1_oid(relation));
  }
  LockInTurn(attempts, relations, lock.mode);
}

}  // namespace

Attempts BeginAttempts(FunctionCallInfo fcinfo, int max_wait, int give_up_after) {
  Attempts attempts = {};
  attempts.max_wait_ms = static_cast<int>(DurationUs(fcinfo, max_wait, "max_wait", kShortestWaitUs) / 1000);
  attempts.held_wait_ms = Max(DeadlockTimeout / 2, kLastLookMs + 1);
  attempts.give_up_us = DurationUs(fcinfo, give_up_after, "give_up_after", 0);
  attempts.until_us = MonotonicUs() + attempts.give_up_us;
  attempts.memory = CurrentMemoryContext;
  return attempts;
}

const char *ArgumentsOf(const Attempts &attempts) {
  return psprintf("'%d ms'::pg_catalog.interval, '%g s'::pg_catalog.interval", attempts.max_wait_ms,
                  static_cast<double>(attempts.give_up_us) / 1e6);
}

bool AreUsual(const Attempts &attempts) { return attempts.max_wait_ms == 100 && attempts.give_up_us == 600 * 1000000; }

bool HaveEnded(const Attempts &attempts) { return MonotonicUs() >= attempts.until_us; }

// A random one, because the sessions that waited all go on at once.
void PauseBeforeNext(Attempts *attempts) {
  const int64_t longest_us = int64_t{1000} * attempts->max_wait_ms;
  const int64_t took_us = Min(Max(MonotonicUs() - attempts->since_us, kShortestWaitUs), longest_us);
  const double times = (1 + 3 * pg_prng_double(&pg_global_prng_state)) * (1 + Min(attempts->failed++, 1000) / 100.0);
  PauseFor(static_cast<int64_t>(times * static_cast<double>(took_us)));
}

void SetLockTimeouts(const Attempts &attempts) {
  SetForLevel("lock_timeout", psprintf("%dms", attempts.max_wait_ms));
  // What waits for this long also ends an autovacuum that is in the way.
  SetForLevel("deadlock_timeout", "20ms");
}

void BeginDeadline(Attempts *attempts) {
  attempts->since_us = MonotonicUs();
  enable_timeout_after(Deadline(), attempts->max_wait_ms - kLastLookMs);
}

void NoteHeld(const Attempts &attempts) {
  if (!get_timeout_active(Deadline())) return;
  const TimestampTz held = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), attempts.held_wait_ms - kLastLookMs);
  if (held < get_timeout_finish_time(Deadline())) enable_timeout_at(Deadline(), held);
}

void EndDeadline(Attempts *attempts, int lock_timeout, bool deadlock) {
  disable_timeout(Deadline(), false);
  // The timer may have come just after the settings were restored.
  LockTimeout = lock_timeout;
  if (!deadlock) return;
  MemoryContext outer = MemoryContextSwitchTo(attempts->memory);
  attempts->last = list_concat(list_difference_oid(attempts->last, attempts->held), attempts->held);
  MemoryContextSwitchTo(outer);
}

void LockInTurn(Attempts *attempts, List *relations, LOCKMODE mode) {
  const List *last = attempts != nullptr ? attempts->last : NIL;
  List *of_these = list_difference_oid(last, list_difference_oid(last, relations));
  List *in_turn = list_concat(list_difference_oid(relations, last), of_these);
  for (const Oid relation : Each<Oid>(in_turn)) {
    if (attempts != nullptr) attempts->awaited = relation;
    LockRelationOid(relation, mode);
    if (attempts == nullptr) continue;
    attempts->awaited = InvalidOid;
    NoteHeld(*attempts);
    MemoryContext outer = MemoryContextSwitchTo(attempts->memory);
    attempts->held = lappend_oid(attempts->held, relation);
    MemoryContextSwitchTo(outer);
  }
}

namespace {
void RunStatements(Attempts *attempts, const char *statements) {
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
  SetLockTimeouts(*attempts);
  // To read all rows takes long, under a lock that nobody who reads or writes waits for.
  bool has_deadline = evaluates_rows;
  for (const RawStmt &statement : Each<RawStmt>(parsed)) {
    // Nobody waits for the locks of the queries before.
    if (!has_deadline && !IsA(statement.stmt, SelectStmt)) {
      has_deadline = true;
      BeginDeadline(attempts);
    }
    if (IsA(statement.stmt, LockStmt))
      LockTables(attempts, *castNode(LockStmt, statement.stmt));
    else
      RunStatement(statement, statements);
    NoteHeld(*attempts);
  }
  AtEOXact_GUC(false, guc_level);
}

// Null: the attempt succeeded. An error that is not about a lock is raised again.
const ErrorData *TryOnce(Attempts *attempts, const char *statements) {
  ErrorData *error = AttemptedInTime(attempts, [&] { RunStatements(attempts, statements); });
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

bool IsSessionOf(Oid owner) {
  const Oid role = GetAuthenticatedUserId();
  const bool unchanged = role == GetSessionUserId() && role == GetUserId();
  return unchanged && (role == owner || (superuser_arg(role) && superuser_arg(owner)));
}

void CheckSession(Oid owner, const char *described) {
  if (IsSessionOf(owner)) return;
  const char *owner_name = GetUserNameFromId(owner, false);
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be connected as the owner of %s", described),
       errdetail("It belongs to %s. The session was opened as %s, and its role is now %s. Code of the table runs "
                 "in it, and can undo SET ROLE and SET SESSION AUTHORIZATION.",
                 owner_name, GetUserNameFromId(GetAuthenticatedUserId(), false), GetUserNameFromId(GetUserId(), false)),
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

const char *Joined(const List *lines, const char *separator) {
  StringInfoData all;
  initStringInfo(&all);
  for (const char *line : Each<char *>(lines)) appendStringInfo(&all, "%s%s", all.len > 0 ? separator : "", line);
  return all.data;
}

const char *Listed(List *lines) {
  list_sort(lines, CompareLines);
  List *once = NIL;
  for (char *line : Each<char *>(lines))
    if (once == NIL || strcmp(line, static_cast<const char *>(llast(once))) != 0) once = lappend(once, line);
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

namespace {
void ReportInVain(const Attempts &attempts, const ErrorData &error, int64_t tried_us, int level) {
  const char *awaited = get_rel_name(attempts.awaited);
  ereport(level, (level < ERROR ? 0 : errcode(error.sqlerrcode), errmsg("could not lock what the statements change"),
                  errdetail("It was tried for %lld s. The last attempt%s failed: %s", Long(tried_us / 1000000),
                            awaited != nullptr ? psprintf(", which waited for %s,", awaited) : "", error.message),
                  errhint("Other transactions use the tables: see pg_locks and pg_stat_activity. Unless they end soon, "
                          "call again with a max_wait of twice as long as they last.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_try) {
  CheckNotNull(fcinfo, "snowflake_try", {"statements", "max_wait", "give_up_after"});
  CheckMayCommit(fcinfo, "snowflake_try");
  Attempts attempts = BeginAttempts(fcinfo, 1, 2);
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  const char *statements = text_to_cstring(PG_GETARG_TEXT_PP(0));
  int64_t reported_us = 0;
  while (const ErrorData *error = TryOnce(&attempts, statements)) {
    const int64_t tried_us = MonotonicUs() - attempts.until_us + attempts.give_up_us;
    if (HaveEnded(attempts)) ReportInVain(attempts, *error, tried_us, ERROR);
    if (tried_us >= reported_us + kReportUs) ReportInVain(attempts, *error, reported_us = tried_us, NOTICE);
    SPI_commit();
    PauseBeforeNext(&attempts);
  }
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
