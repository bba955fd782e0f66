// snowflake_fill(): copies columns to the new ones that are to replace them, in batches.
//
// 1. The trigger has been there before: rows that it wrote need nothing. So one walk over the
//    blocks that the table has at the start finds all others.
// 2. A batch locks the rows that nobody else has locked, updates them and commits. What it skipped
//    is left for the next walk. The check constraint, once validated, proves that nothing is left.
// 3. The update has the rights of the table's owner, and fires no trigger of a user: for others it
//    changes nothing. Triggers that are ENABLE ALWAYS or REPLICA do fire.
// 4. Progress is in the backend's own status entry, as that of PostgreSQL's commands is. It needs
//    no table and no shared memory of the extension, and it ends with the command.
#include "convert/attempts.h"
#include "convert/query.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/security_context.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// None of PostgreSQL's own commands. Copied, because a conversion of a number outside of the enum's
// range is undefined.
ProgressCommandType FillCommand() {
  constexpr int number = 0x534e;
  ProgressCommandType command;
  static_assert(sizeof(command) == sizeof(number));
  memcpy(&command, &number, sizeof(command));
  return command;
}

enum Progress { kBlocksTotal, kBlocksDone, kRowsFilled, kWaitsFor };
enum Waits { kNothing, kReplicas, kLocks, kRows };
constexpr const char *kWaits[] = {nullptr, "replicas", "locks", "rows"};

// A batch lasts about this long, and so does the wait of whoever needs one of its rows.
constexpr int64_t kBatchUs = 50 * 1000;
constexpr int64_t kFewestRows = 16;
constexpr int64_t kMostRows = 16384;
// What one query reads. Blocks that are filled already are passed quickly.
constexpr BlockNumber kBlocksAtOnce = 1024;
constexpr int64_t kPauseUs = 100 * 1000;

// How far replicas are behind, and whether somebody waits for the table or for this transaction.
constexpr char kOthers[] = R"(
SELECT coalesce((SELECT max(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), replay_lsn))::int8 FROM pg_stat_replication
                 WHERE state = 'streaming'), 0),
    EXISTS (SELECT FROM pg_locks WHERE NOT granted
            AND (relation = $1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                OR transactionid = pg_current_xact_id_if_assigned()::xid)))";

struct Fill {
  Oid table;
  int64_t max_lag;
  const char *select, *update;
  int64_t most_rows;
  int64_t rows;
};

void Show(Progress what, int64_t value) { pgstat_progress_update_param(what, value); }

// The two statements for the table's columns that have a new one; false: there is none. The
// triggers that keep these in step name both.
bool MakeStatements(Fill *fill, Relation table) {
  StringInfoData set, differ;
  initStringInfo(&set);
  initStringInfo(&differ);
  const TupleDesc columns = RelationGetDescr(table);
  for (int i = 0; table->trigdesc != nullptr && i < table->trigdesc->numtriggers; ++i) {
    const Trigger &trigger = table->trigdesc->triggers[i];
    if (trigger.tgnargs != 2 || trigger.tgname[0] != '~' || strcmp(trigger.tgname + 1, trigger.tgargs[1]) != 0)
      continue;
    const int number = SPI_fnumber(columns, trigger.tgargs[1]);
    if (SPI_fnumber(columns, trigger.tgargs[0]) <= 0 || number <= 0 || SPI_gettypeid(columns, number) != INT8OID)
      continue;
    const char *from = quote_identifier(trigger.tgargs[0]), *to = quote_identifier(trigger.tgargs[1]);
    appendStringInfo(&set, "%s%s = %s", set.len > 0 ? ", " : "", to, from);
    appendStringInfo(&differ, "%s%s IS DISTINCT FROM %s", differ.len > 0 ? " OR " : "", to, from);
  }
  const char *name =
      quote_qualified_identifier(get_namespace_name(RelationGetNamespace(table)), RelationGetRelationName(table));
  fill->select = psprintf("SELECT ctid FROM ONLY %s WHERE ctid >= $1 AND ctid < $2 AND (%s)", name, differ.data);
  fill->update = psprintf("UPDATE ONLY %s SET %s WHERE ctid = ANY ($1)", name, set.data);
  return set.len > 0;
}

// Locks the table until the transaction ends.
Relation OpenToFill(Oid table) { return OpenOwn(table, RowExclusiveLock, "snowflake_fill"); }

// As the table's owner, without the triggers of users, and whatever policies say.
template <typename Body>
void WithoutUserTriggers(Oid owner, Body body) {
  const SecurityContext outer = EnterSecurityContext(owner, SECURITY_NOFORCE_RLS);
  SetForLevel("session_replication_role", "replica");
  body();
  LeaveSecurityContext(outer);
}

Value Tid(ItemPointerData *tid) { return Of(TIDOID, PointerGetDatum(tid)); }

// Locked rows are updated, unless a trigger prevents it. Filling would then never end.
void CheckFilled(const Fill &fill, int64_t updated, int64_t locked) {
  if (updated == locked) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a trigger keeps rows of table %s from being filled", get_rel_name(fill.table)),
                  errdetail("Of %lld rows, %lld were updated.", Long(locked), Long(updated)),
                  errhint("Disable the trigger that is ENABLE ALWAYS or ENABLE REPLICA and returns null, or change "
                          "these rows, and call snowflake_fill() again.")));
}

// One batch of rows from `from` on, which moves behind them. False: the blocks have no more.
bool FillRows(const Fill &fill, ItemPointerData *from, ItemPointerData *to, int64_t *count) {
  Query(psprintf("%s LIMIT " INT64_FORMAT " FOR NO KEY UPDATE SKIP LOCKED", fill.select, fill.most_rows), Tid(from),
        Tid(to));
  *count = Rows();
  if (*count == 0) return false;
  SPITupleTable *found = SPI_tuptable;
  Datum *rows = static_cast<Datum *>(palloc(sizeof(Datum) * static_cast<Size>(*count)));
  bool is_null = false;
  ItemPointerData last = *from;
  for (int64_t i = 0; i < *count; ++i) {
    rows[i] = SPI_getbinval(found->vals[i], found->tupdesc, 1, &is_null);
    ItemPointer row = reinterpret_cast<ItemPointer>(DatumGetPointer(rows[i]));
    if (ItemPointerCompare(row, &last) > 0) last = *row;
  }
  ArrayType *all =
      construct_array(rows, static_cast<int>(*count), TIDOID, sizeof(ItemPointerData), false, TYPALIGN_SHORT);
  Oid type = TIDARRAYOID;
  Datum ids = PointerGetDatum(all);
  const int rc = SPI_execute_with_args(fill.update, 1, &type, &ids, nullptr, false, 0);
  if (rc != SPI_OK_UPDATE) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), fill.update);
  CheckFilled(fill, Rows(), *count);
  SPI_freetuptable(found);
  *from = last;
  ItemPointerSetOffsetNumber(from, OffsetNumberNext(ItemPointerGetOffsetNumber(&last)));
  return *count == fill.most_rows;
}

bool IsLeft(const Fill &fill, ItemPointerData *from, ItemPointerData *to) {
  Query(psprintf("%s LIMIT 1", fill.select), Tid(from), Tid(to));
  const bool is_left = Rows() > 0;
  SPI_freetuptable(SPI_tuptable);
  return is_left;
}

// What others need; the batch before lasted that long.
Waits WhatOthersNeed(const Fill &fill) {
  const SecurityContext outer = EnterSecurityContext(BOOTSTRAP_SUPERUSERID);
  Query(kOthers, OidValue(fill.table));
  const Waits waits = DatumGetInt64(Field(0, 1)) > fill.max_lag ? kReplicas : BoolField(0, 2) ? kLocks : kNothing;
  SPI_freetuptable(SPI_tuptable);
  LeaveSecurityContext(outer);
  return waits;
}

// Commits, and pauses for as long as others need it.
void Commit(Fill *fill, int64_t lasted_us) {
  Waits waits = WhatOthersNeed(*fill);
  SPI_commit();
  Show(kRowsFilled, fill->rows);
  if (lasted_us > 2 * kBatchUs || waits != kNothing)
    fill->most_rows = Max(fill->most_rows / 2, kFewestRows);
  else if (lasted_us < kBatchUs)
    fill->most_rows = Min(fill->most_rows * 2, kMostRows);
  Show(kWaitsFor, waits);
  if (waits == kLocks) PauseFor(Max(2 * lasted_us, kPauseUs));
  while (waits == kReplicas) {
    PauseFor(kPauseUs);
    waits = WhatOthersNeed(*fill);
    SPI_commit();
  }
  Show(kWaitsFor, kNothing);
}

// One batch. False: there are no more rows that nobody has locked; `left` says whether others are.
bool FillBatch(Fill *fill, const ItemPointerData &first, ItemPointerData *from, ItemPointerData *to, bool *left) {
  Relation table = OpenToFill(fill->table);
  bool more = false;
  *left = false;
  if (MakeStatements(fill, table))
    WithoutUserTriggers(table->rd_rel->relowner, [&] {
      int64_t count = 0;
      more = FillRows(*fill, from, to, &count);
      fill->rows += count;
      *from = more ? *from : first;
      *left = !more && IsLeft(*fill, from, to);
    });
  table_close(table, NoLock);
  return more;
}

// Blocks [first, end): fills what nobody has locked. Returns whether something is left.
bool FillBlocks(Fill *fill, BlockNumber first, BlockNumber end) {
  ItemPointerData begin, from, to;
  ItemPointerSet(&begin, first, FirstOffsetNumber);
  ItemPointerSet(&to, end, InvalidOffsetNumber);
  from = begin;
  MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "snowflake_fill", ALLOCSET_DEFAULT_SIZES);
  bool more = true, left = false;
  while (more) {
    const TimestampTz since = GetCurrentTimestamp();
    MemoryContext outer = MemoryContextSwitchTo(batch);
    more = FillBatch(fill, begin, &from, &to, &left);
    MemoryContextSwitchTo(outer);
    MemoryContextReset(batch);
    Commit(fill, GetCurrentTimestamp() - since);
  }
  MemoryContextDelete(batch);
  return left;
}

void FillTable(Fill *fill) {
  Relation table = OpenToFill(fill->table);
  BlockNumber begin = 0, end = RelationGetNumberOfBlocks(table);
  const bool any = MakeStatements(fill, table);
  table_close(table, NoLock);
  if (!any) return;
  pgstat_progress_start_command(FillCommand(), fill->table);
  Show(kBlocksTotal, end);
  while (begin < end) {
    BlockNumber first_left = end, end_left = end;
    for (BlockNumber first = begin; first < end; first += kBlocksAtOnce) {
      const BlockNumber next = end - first > kBlocksAtOnce ? first + kBlocksAtOnce : end;
      Show(kBlocksDone, first);
      if (!FillBlocks(fill, first, next)) continue;
      if (first_left == end) first_left = first;
      end_left = next;
    }
    begin = first_left;
    end = end_left;
    if (begin == end) break;
    Show(kWaitsFor, kRows);
    PauseFor(kPauseUs);
  }
  pgstat_progress_end_command();
}

// The table and what inherits from it, as far as it has rows of its own.
List *TablesBelow(Oid table) {
  List *found = NIL;
  ListCell *cell = nullptr;
  foreach (cell, find_all_inheritors(table, AccessShareLock, nullptr))
    if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_RELATION) found = lappend_oid(found, lfirst_oid(cell));
  return found;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_fill) {
  CheckNotNull(fcinfo, "snowflake_fill", {"relation", "max_lag"});
  CheckMayCommit(fcinfo, "snowflake_fill");
  const int64_t max_lag = PG_GETARG_INT64(1);
  if (max_lag < 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_lag must not be negative"),
                    errdetail("It is %lld bytes.", Long(max_lag))));
  CheckMayChange("snowflake_fill");
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  relation_close(OpenToFill(PG_GETARG_OID(0)), NoLock);
  ListCell *cell = nullptr;
  foreach (cell, TablesBelow(PG_GETARG_OID(0))) {
    Fill fill = {lfirst_oid(cell), max_lag, nullptr, nullptr, kFewestRows, 0};
    FillTable(&fill);
  }
  SPI_finish();
  return Datum{0};
}

SNOWFLAKE_FUNCTION(snowflake_get_progress) {
  InitMaterializedSRF(fcinfo, 0);
  const int count = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= count; ++i) {
    const PgBackendStatus &backend = BackendStatusAt(i);
    if (backend.st_progress_command != FillCommand() || backend.st_databaseid != MyDatabaseId) continue;
    const bool hidden =
        !has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) && !has_privs_of_role(GetUserId(), backend.st_userid);
    const int64 *shown = backend.st_progress_param;
    const char *waits = kWaits[Min(static_cast<uint64_t>(shown[kWaitsFor]), static_cast<uint64_t>(kRows))];
    Datum values[] = {Int32GetDatum(backend.st_procpid),  ObjectIdGetDatum(backend.st_progress_command_target),
                      Int64GetDatum(shown[kBlocksTotal]), Int64GetDatum(shown[kBlocksDone]),
                      Int64GetDatum(shown[kRowsFilled]),  waits != nullptr ? CStringGetTextDatum(waits) : Datum{0}};
    bool nulls[] = {false, hidden, hidden, hidden, hidden, hidden || waits == nullptr};
    AddRow(fcinfo, values, nulls);
  }
  return Datum{0};
}

}  // namespace snowflake
