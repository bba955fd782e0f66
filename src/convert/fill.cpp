// snowflake_fill(): copies columns to the new ones that are to replace them, in batches.
//
// 1. The trigger has been there before: rows that it wrote need nothing. So one walk over the
//    blocks that the table has at the start finds all others.
// 2. A batch locks the rows that nobody else has locked, updates them and commits. What it skipped
//    is left for the next walk. The check constraint, once validated, proves that nothing is left.
// 3. The update fires no trigger, so no foreign key and no deferred constraint is checked either.
//    It gives nobody rights that the table's owner lacks: it writes no value but the one that the
//    conversion's check constraint demands, and no column that needs those checks. Code of the
//    table runs with the owner's rights.
// 4. A call that lasts says how far it is, between two batches: so it holds no lock while a client
//    is slow to read.
// 5. Others may grant rights on the table meanwhile, or comment on it. Then the next look-up of
//    anything rebuilds its relcache entry: only the TupleDesc stays until the transaction ends. So
//    triggers are read in a copy.
#include "convert/attempts.h"
#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"
#include "pg/security_context.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
enum Waits { kNothing, kReplicas, kLocks, kRows };

// A batch lasts this long, and so does the wait of whoever needs one of its rows. While others
// wait, it becomes shorter, but its commit must not cost more than its rows.
constexpr int64_t kLongestBatchUs = 50 * 1000;
constexpr int64_t kShortestBatchUs = 2 * 1000;
constexpr int64_t kPauseUs = 100 * 1000;

// A shorter call says nothing.
constexpr int64_t kReportUs = 10 * 1000 * 1000;

struct Fill {
  Oid extension;
  int64_t max_lag;
  bool said_hidden;
  int64_t reported_us;  // by the monotonic clock
  Oid table;
  NameData name;
  int64_t batch_us;
  BlockNumber blocks, blocks_read;
  int64_t rows;
  bool reported;
};

// Through blocks [first block of `next`, end), of which [first_left, end_left) have rows that are
// left. A table in another file is walked through from the beginning.
struct Walk {
  Oid file;
  ItemPointerData next;
  BlockNumber end;
  BlockNumber first_left, end_left;
};

// --- Which columns ---

// A narrow column, its type, and the new column.
struct Pair {
  AttrNumber from;
  Oid type;
  AttrNumber to;
};

// What pull_varattnos() calls a column. 0 is the whole row.
int Bit(AttrNumber column) { return column - FirstLowInvalidHeapAttributeNumber; }

Bitmapset *ColumnsIn(void *expression) {
  Bitmapset *columns = nullptr;
  pull_varattnos(static_cast<Node *>(expression), 1, &columns);
  return columns;
}

bool Uses(const Bitmapset *used, const Bitmapset *columns) {
  return bms_overlap(used, columns) || bms_is_member(Bit(InvalidAttrNumber), used);
}

[[noreturn]] void ReportCannotFill(Relation table, const char *detail) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("cannot fill table %s", RelationGetRelationName(table)), errdetail_internal("%s", detail),
                  errhint("Undo what has changed since the conversion began. Or call snowflake_convert() with online "
                          "=> true and abandon => true, run the statements, and begin again.")));
}

const char *NameOf(Relation table, AttrNumber column) {
  return NameStr(TupleDescAttr(RelationGetDescr(table), column - 1)->attname);
}

// The type of a stored column; InvalidOid: there is no such column.
Oid TypeOf(Relation table, int column) {
  if (column <= 0 || TupleDescAttr(RelationGetDescr(table), column - 1)->attgenerated != '\0') return InvalidOid;
  return SPI_gettypeid(RelationGetDescr(table), column);
}

Pair PairOf(Relation table, const Trigger &trigger) {
  const TupleDesc columns = RelationGetDescr(table);
  const int from = SPI_fnumber(columns, trigger.tgargs[0]), to = SPI_fnumber(columns, trigger.tgargs[1]);
  const Oid type = TypeOf(table, from);
  if ((type != INT2OID && type != INT4OID) || TypeOf(table, to) != INT8OID)
    ReportCannotFill(table,
                     psprintf(_("Trigger \"%s\" does not name a narrow column and a bigint column."), trigger.tgname));
  return {static_cast<AttrNumber>(from), type, static_cast<AttrNumber>(to)};
}

// new IS NOT DISTINCT FROM old, as PostgreSQL parses it.
Node *IsSame(const Pair &pair) {
  List *equal = list_make2(makeString(pstrdup("pg_catalog")), makeString(pstrdup("=")));
  DistinctExpr *distinct = makeNode(DistinctExpr);
  distinct->opno = OpernameGetOprid(equal, INT8OID, pair.type);
  distinct->opfuncid = get_opcode(distinct->opno);
  distinct->opresulttype = BOOLOID;
  distinct->args =
      list_make2(makeVar(1, pair.to, INT8OID, -1, InvalidOid, 0), makeVar(1, pair.from, pair.type, -1, InvalidOid, 0));
  return reinterpret_cast<Node *>(makeBoolExpr(NOT_EXPR, list_make1(distinct), -1));
}

// Null: there is none.
const ConstrCheck *CheckOf(Relation table, const Pair &pair) {
  const Node *same = IsSame(pair);
  const TupleConstr *constraints = RelationGetDescr(table)->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_check; ++i) {
    const ConstrCheck &check = constraints->check[i];
    if (IsEnforced(check) && equal(stringToNode(check.ccbin), same)) return &check;
  }
  return nullptr;
}

// Those columns and what is generated from them.
Bitmapset *WithGenerated(Relation table, Bitmapset *columns) {
  Bitmapset *all = bms_copy(columns);
  const TupleConstr *constraints = RelationGetDescr(table)->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_defval; ++i) {
    const AttrDefault &value = constraints->defval[i];
    if (TupleDescAttr(RelationGetDescr(table), value.adnum - 1)->attgenerated != '\0' &&
        Uses(ColumnsIn(stringToNode(value.adbin)), columns))
      all = bms_add_member(all, Bit(value.adnum));
  }
  return all;
}

// Whether one of the columns is in this array of a row of pg_constraint.
bool HasAny(HeapTuple constraint, AttrNumber attribute, const Bitmapset *columns) {
  bool is_null = false;
  const Datum value = SysCacheGetAttr(CONSTROID, constraint, attribute, &is_null);
  const ArrayType *array = DatumGetArrayTypeP(value);
  const int16 *numbers = reinterpret_cast<const int16 *>(ARR_DATA_PTR(array));
  for (int i = 0; i < ARR_DIMS(array)[0]; ++i)
    if (bms_is_member(Bit(numbers[i]), columns)) return true;
  return false;
}

// A foreign key from or to the table. A plain update of the row would check it, valid or not.
void CheckForeignKey(Relation table, Oid constraint, const Bitmapset *columns) {
  HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for constraint %u", constraint);
  const FormData_pg_constraint &key = *reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple));
  const bool from = key.conrelid == RelationGetRelid(table) && HasAny(tuple, Anum_pg_constraint_conkey, columns);
  const bool to = key.confrelid == RelationGetRelid(table) && HasAny(tuple, Anum_pg_constraint_confkey, columns);
  if (from || to) ReportCannotFill(table, psprintf(_("Foreign key \"%s\" uses a new column."), NameStr(key.conname)));
  ReleaseSysCache(tuple);
}

void CheckForeignKeys(Relation table, const TriggerDesc &triggers, const Bitmapset *columns) {
  for (int i = 0; i < triggers.numtriggers; ++i)
    if (RI_FKey_trigger_type(triggers.triggers[i].tgfoid) != RI_TRIGGER_NONE)
      CheckForeignKey(table, triggers.triggers[i].tgconstraint, columns);
}

void CheckIndex(Relation table, Relation index, const Bitmapset *columns) {
  const IndexInfo *info = BuildIndexInfo(index);
  Bitmapset *used = bms_union(ColumnsIn(info->ii_Expressions), ColumnsIn(info->ii_Predicate));
  for (int i = 0; i < info->ii_NumIndexKeyAttrs; ++i)
    if (info->ii_IndexAttrNumbers[i] != 0) used = bms_add_member(used, Bit(info->ii_IndexAttrNumbers[i]));
  if (Uses(used, columns))
    ReportCannotFill(table, psprintf(_("The constraint of index \"%s\" uses a new column and is deferrable."),
                                     RelationGetRelationName(index)));
}

void CheckIndexes(Relation table, const Bitmapset *columns) {
  for (const Oid oid : Each<Oid>(RelationGetIndexList(table))) {
    Relation index = index_open(oid, AccessShareLock);
    if (!index->rd_index->indimmediate) CheckIndex(table, index, columns);
    index_close(index, AccessShareLock);
  }
}

// A list of Pair, without those whose check constraint is valid: their rows are filled. NIL: the
// table is in no conversion, or needs nothing. Error: 55000 if a trigger or a column is not as a
// conversion makes it.
List *PairsToFill(Oid extension, Relation table) {
  const TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
  List *pairs = NIL;
  Bitmapset *columns = nullptr;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger &trigger = triggers->triggers[i];
    if (trigger.tgnargs != 2 || getExtensionOfObject(ProcedureRelationId, trigger.tgfoid) != extension ||
        strcmp(get_func_name(trigger.tgfoid), "snowflake_follow") != 0)
      continue;
    const Pair pair = PairOf(table, trigger);
    const ConstrCheck *check = CheckOf(table, pair);
    if (check == nullptr)
      ReportCannotFill(table, psprintf(_("No check constraint states that \"%s\" IS NOT DISTINCT FROM \"%s\"."),
                                       NameOf(table, pair.to), NameOf(table, pair.from)));
    if (check->ccvalid) continue;
    pairs = lappend(pairs, CopyOf(pair));
    columns = bms_add_member(columns, Bit(pair.to));
  }
  if (pairs == NIL) return NIL;
  columns = WithGenerated(table, columns);
  CheckForeignKeys(table, *triggers, columns);
  CheckIndexes(table, columns);
  return pairs;
}

// --- Rows ---

struct Writer {
  const List *pairs;
  EState *state;
  ResultRelInfo *target;
  LockTupleMode lock;
  TupleTableSlot *found, *locked, *changed;
};

Writer BeginWriting(Relation table, const List *pairs) {
  Bitmapset *columns = nullptr;
  for (const Pair &pair : Each<Pair>(pairs)) columns = bms_add_member(columns, Bit(pair.to));
  Writer writer = {pairs, StateForUpdate(table, columns), makeNode(ResultRelInfo), {}, nullptr, nullptr, nullptr};
  writer.state->es_snapshot = GetActiveSnapshot();
  writer.state->es_output_cid = GetCurrentCommandId(true);
  InitResultRelInfo(writer.target, table, 1, nullptr, 0);
  writer.target->ri_TrigDesc = nullptr;
  writer.target->ri_TrigFunctions = nullptr;
  writer.target->ri_TrigWhenExprs = nullptr;
  ExecOpenIndices(writer.target, false);
  writer.lock = ExecUpdateLockMode(writer.state, writer.target);
  writer.found = table_slot_create(table, &writer.state->es_tupleTable);
  writer.locked = table_slot_create(table, &writer.state->es_tupleTable);
  writer.changed = ExecInitExtraTupleSlot(writer.state, RelationGetDescr(table), &TTSOpsVirtual);
  return writer;
}

void EndWriting(const Writer &writer) {
  ExecCloseIndices(writer.target);
  ExecResetTupleTable(writer.state->es_tupleTable, false);
  FreeExecutorState(writer.state);
}

// The value of a narrow column as the new one has it.
Datum Widened(TupleTableSlot *row, const Pair &pair, bool *is_null) {
  const Datum value = slot_getattr(row, pair.from, is_null);
  if (*is_null) return Datum{0};
  return Int64GetDatum(pair.type == INT2OID ? DatumGetInt16(value) : DatumGetInt32(value));
}

bool IsFilled(const Writer &writer, TupleTableSlot *row) {
  for (const Pair &pair : Each<Pair>(writer.pairs)) {
    bool is_null = false, was_null = false;
    const Datum wanted = Widened(row, pair, &is_null), now = slot_getattr(row, pair.to, &was_null);
    if (is_null != was_null || (!is_null && DatumGetInt64(wanted) != DatumGetInt64(now))) return false;
  }
  return true;
}

// False: somebody else has locked or changed the row.
bool Lock(const Writer &writer) {
  Relation table = writer.target->ri_RelationDesc;
  TM_FailureData failure;
  const TM_Result result = table_tuple_lock(table, &writer.found->tts_tid, writer.state->es_snapshot, writer.locked,
                                            writer.state->es_output_cid, writer.lock, LockWaitSkip, 0, &failure);
  if (result == TM_SelfModified || result == TM_Invisible)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("a row of table %s was changed while it was being filled", RelationGetRelationName(table)),
                    errdetail("A function in a constraint, generated column or index of the table changed it."),
                    errhint("Change the function so that it only reads.")));
  return result == TM_Ok;
}

void Write(const Writer &writer) {
  const TupleDesc columns = RelationGetDescr(writer.target->ri_RelationDesc);
  TupleTableSlot *row = writer.changed;
  slot_getallattrs(writer.locked);
  ExecClearTuple(row);
  for (int i = 0; i < columns->natts; ++i) {
    row->tts_values[i] = writer.locked->tts_values[i];
    row->tts_isnull[i] = writer.locked->tts_isnull[i] || TupleDescAttr(columns, i)->attisdropped;
  }
  for (const Pair &pair : Each<Pair>(writer.pairs))
    row->tts_values[pair.to - 1] = Widened(writer.locked, pair, &row->tts_isnull[pair.to - 1]);
  ExecStoreVirtualTuple(row);
  row->tts_tableOid = RelationGetRelid(writer.target->ri_RelationDesc);
  // Only triggers before an update would use an EPQState.
  ExecSimpleRelationUpdate(writer.target, writer.state, nullptr, writer.locked, row);
  ResetPerTupleExprContext(writer.state);
}

void NoteLeft(Walk *walk, BlockNumber block) {
  walk->first_left = Min(walk->first_left, block);
  walk->end_left = Max(walk->end_left, block + 1);
}

void WalkThrough(Walk *walk, BlockNumber begin, BlockNumber end) {
  ItemPointerSet(&walk->next, begin, FirstOffsetNumber);
  walk->end = end;
  walk->first_left = end;
  walk->end_left = begin;
}

// One batch of rows. False: the blocks have no more.
bool FillRows(Fill *fill, Relation table, const List *pairs, Walk *walk) {
  const int64_t until_us = MonotonicUs() + fill->batch_us;
  const Writer writer = BeginWriting(table, pairs);
  ItemPointerData last;
  ItemPointerSet(&last, walk->end - 1, MaxOffsetNumber);
  TableScanDesc scan = BeginTidScan(table, GetActiveSnapshot(), &walk->next, &last);
  bool more = true, in_time = true;
  while (in_time && (more = table_scan_getnextslot_tidrange(scan, ForwardScanDirection, writer.found))) {
    CHECK_FOR_INTERRUPTS();
    const ItemPointer row = &writer.found->tts_tid;
    ItemPointerSet(&walk->next, ItemPointerGetBlockNumber(row), OffsetNumberNext(ItemPointerGetOffsetNumber(row)));
    if (!IsFilled(writer, writer.found)) {
      if (Lock(writer)) {
        Write(writer);
        ++fill->rows;
      } else {
        NoteLeft(walk, ItemPointerGetBlockNumber(row));
      }
    }
    in_time = MonotonicUs() < until_us;
  }
  table_endscan(scan);
  EndWriting(writer);
  return more;
}

// --- Batches ---

// Locks the table until the transaction ends.
Relation OpenToFill(Oid table) { return OpenOwn(table, RowExclusiveLock); }

// One batch. False: the walk is at its end. Even a look at the table's indexes can run its code,
// because PostgreSQL evaluates constants in their expressions.
bool FillBatch(Fill *fill, Walk *walk) {
  Relation table = OpenToFill(fill->table);
  if (table->rd_rel->relfilenode != walk->file) {
    walk->file = table->rd_rel->relfilenode;
    WalkThrough(walk, 0, RelationGetNumberOfBlocks(table));
    fill->blocks = walk->end;
    fill->blocks_read = 0;
  }
  fill->name = table->rd_rel->relname;
  const SecurityContext outer = EnterSecurityContext(table->rd_rel->relowner);
  PushActiveSnapshot(GetTransactionSnapshot());
  const List *pairs = PairsToFill(fill->extension, table);
  const bool more = pairs != NIL && walk->end > 0 && FillRows(fill, table, pairs, walk);
  PopActiveSnapshot();
  LeaveSecurityContext(outer);
  table_close(table, NoLock);
  return more;
}

void SayHidden(Fill *fill) {
  if (fill->said_hidden) return;
  fill->said_hidden = true;
  ereport(NOTICE, (errmsg("role \"%s\" cannot see how far replicas are behind", GetUserNameFromId(GetUserId(), false)),
                   errdetail("snowflake_fill() does not pause for them."),
                   errhint("Grant pg_read_all_stats to the role, or watch pg_stat_replication as another role.")));
}

struct Others {
  int64_t lag;
  bool hidden, locks;

  static Others Read(const Row &row) { return row.As<Others>("lag", "hidden", "locks"); }
};

// What others need, as far as the caller may see it.
Waits WhatOthersNeed(Fill *fill) {
  const SecurityContext outer = EnterSecurityContext(GetUserId());
  Others *found = Read<Others>(kOthers, OidValue(fill->table)).all;
  const Others others = *found;
  pfree(found);
  if (others.hidden) SayHidden(fill);
  LeaveSecurityContext(outer);
  return others.lag > fill->max_lag ? kReplicas : others.locks ? kLocks : kNothing;
}

void Report(Fill *fill, Waits waits) {
  const int64_t now_us = MonotonicUs();
  if (now_us - fill->reported_us < kReportUs) return;
  fill->reported_us = now_us;
  fill->reported = true;
  ereport(
      NOTICE,
      (errmsg("filling table \"%s\": %u of %u blocks read, %lld rows filled", NameStr(fill->name), fill->blocks_read,
              fill->blocks, Long(fill->rows)),
       waits == kReplicas ? errdetail("It waits until no replica is more than %lld bytes behind.", Long(fill->max_lag))
       : waits == kLocks  ? errdetail("It pauses because other sessions wait for locks on the table or its rows.")
       : waits == kRows   ? errdetail("It waits for rows that other sessions have locked.")
                          : 0));
}

void ReportEnd(const Fill &fill) {
  if (!fill.reported) return;
  ereport(NOTICE, (errmsg_plural("filled %lld row of table \"%s\"", "filled %lld rows of table \"%s\"",
                                 static_cast<unsigned long>(fill.rows), Long(fill.rows), NameStr(fill.name))));
}

// Commits, and pauses for as long as others need it, or if only locked rows are left.
void Commit(Fill *fill, int64_t lasted_us, bool only_locked_rows) {
  Waits waits = WhatOthersNeed(fill);
  SPI_commit();
  fill->batch_us =
      waits != kNothing ? Max(fill->batch_us / 2, kShortestBatchUs) : Min(fill->batch_us * 2, kLongestBatchUs);
  if (waits == kNothing && only_locked_rows) waits = kRows;
  Report(fill, waits);
  if (waits == kLocks || waits == kRows) PauseFor(Max(2 * lasted_us, kPauseUs));
  while (waits == kReplicas) {
    PauseFor(kPauseUs);
    waits = WhatOthersNeed(fill);
    SPI_commit();
    Report(fill, waits);
  }
}

// Walks until nobody has locked or changed a row before it was filled.
void FillTable(Fill *fill) {
  Walk walk = {};
  MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "snowflake_fill", ALLOCSET_DEFAULT_SIZES);
  for (bool more = true; more;) {
    const int64_t since_us = MonotonicUs();
    MemoryContext outer = MemoryContextSwitchTo(batch);
    more = FillBatch(fill, &walk);
    MemoryContextSwitchTo(outer);
    MemoryContextReset(batch);
    fill->blocks_read = Max(fill->blocks_read, more ? ItemPointerGetBlockNumberNoCheck(&walk.next) : walk.end);
    const bool only_locked_rows = !more && walk.first_left < walk.end_left;
    Commit(fill, MonotonicUs() - since_us, only_locked_rows);
    if (!only_locked_rows) continue;
    WalkThrough(&walk, walk.first_left, walk.end_left);
    more = true;
  }
  ReportEnd(*fill);
  MemoryContextDelete(batch);
}

// The table and what inherits from it, as far as it has rows of its own.
List *TablesBelow(Oid table) {
  List *found = NIL;
  for (const Oid each : Each<Oid>(find_all_inheritors(table, AccessShareLock, nullptr)))
    if (get_rel_relkind(each) == RELKIND_RELATION) found = lappend_oid(found, each);
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
  CheckCode(PG_GETARG_OID(0));
  Fill fill = {};
  fill.extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  fill.max_lag = max_lag;
  fill.reported_us = MonotonicUs();
  for (const Oid table : Each<Oid>(TablesBelow(PG_GETARG_OID(0)))) {
    fill.table = table;
    fill.batch_us = kLongestBatchUs;
    fill.rows = 0;
    fill.reported = false;
    FillTable(&fill);
  }
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
