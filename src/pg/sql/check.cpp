// snowflake_check(): finds ids of a table that no node of this registry can have issued. Arguments,
// result and errors: COMMENT ON in the install script.
//
// 1. The caller needs the right to read the column, but the table is read by its access method
//    alone: a plan would evaluate expressions of indexes and statistics with the caller's rights.
// 2. The rows are those of the statement's snapshot, and the registry is read after it was taken:
//    each id that is seen had a lease by then.
// 3. An id is of the future as a horizon is (core/horizon.h). Clocks of other nodes may be ahead by
//    max_clock_skew.
// 4. Only the registry's history of each worker id and the rows of the result are kept in memory.
#include "core/check.h"
#include "core/horizon.h"
#include "core/lease.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/registry/tables.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"
#include "pg/state/state_block.h"

namespace snowflake {
namespace {
constexpr int32_t kNoWorker = -1;

struct WorkerHistory {
  int32_t worker;  // the key
  LeaseHistory history;
};

// A row of the result.
struct ProblemGroup {
  struct GroupKey {
    IdProblem problem;
    int32_t worker;
  } key;
  int64_t ids;
  int64_t first;
  int64_t last;
};

struct IdCheck {
  Layout layout;
  Tick latest;
  bool is_behind;  // the clock, by what the server knows
  bool compares;   // the registry is in this database
  HTAB *known;
  HTAB *groups;
};

HTAB *MakeTable(const char *name, Size key, Size entry) {
  HASHCTL control = {};
  control.keysize = key;
  control.entrysize = entry;
  control.hcxt = CurrentMemoryContext;
  return hash_create(name, 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

LeaseHistory *HistoryOf(IdCheck *check, int32_t worker) {
  bool found = false;
  WorkerHistory *known = static_cast<WorkerHistory *>(hash_search(check->known, &worker, HASH_ENTER, &found));
  if (!found) known->history = {kNoWatermark, 0, 0};
  return &known->history;
}

void ReadRegistry(Oid extension, IdCheck *check) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] {
    Execute(tables, "SELECT worker_id::bigint, window_start, window_end FROM snowflake_registry");
    for (int64_t i = 0; i < Rows(); ++i) {
      LeaseHistory *history = HistoryOf(check, static_cast<int32_t>(Int8Result(i, 1)));
      history->window_start = Int8Result(i, 2);
      history->window_end = Int8Result(i, 3);
    }
    Execute(tables, "SELECT worker_id::bigint, last_tick FROM snowflake_watermark");
    for (int64_t i = 0; i < Rows(); ++i)
      HistoryOf(check, static_cast<int32_t>(Int8Result(i, 1)))->watermark = Int8Result(i, 2);
  });
}

void CountId(const IdCheck &check, int64_t id) {
  const int32_t worker = check.layout.Unpack(id).worker;
  const WorkerHistory *known =
      static_cast<const WorkerHistory *>(hash_search(check.known, &worker, HASH_FIND, nullptr));
  const IdProblem problem = ProblemOf(check.layout, id, check.latest, known != nullptr ? &known->history : nullptr);
  if (problem == IdProblem::kNone) return;
  const ProblemGroup::GroupKey key = {problem, problem == IdProblem::kForeign ? kNoWorker : worker};
  bool found = false;
  ProblemGroup *group = static_cast<ProblemGroup *>(hash_search(check.groups, &key, HASH_ENTER, &found));
  if (!found) *group = {key, 0, id, id};
  ++group->ids;
  group->first = Min(group->first, id);
  group->last = Max(group->last, id);
}

void CheckTable(Relation table, AttrNumber column, const IdCheck &check) {
  TupleTableSlot *slot = table_slot_create(table, nullptr);
  TableScanDesc scan = BeginScan(table, GetActiveSnapshot());
  while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
    CHECK_FOR_INTERRUPTS();
    bool is_null = false;
    const Datum id = slot_getattr(slot, column, &is_null);
    if (!is_null) CountId(check, DatumGetInt64(id));
  }
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(slot);
}

// Partitions and children may have the column under another number.
AttrNumber FindIdColumn(Oid relation, const char *name) {
  const AttrNumber column = get_attnum(relation, name);
  if (column <= 0) ReportNoColumn(relation, name);
  const Oid type = get_atttype(relation, column);
  const bool stored = get_attgenerated(relation, column) != 'v';  // 18 brought virtual columns
  if (!IsBinaryCoercible(type, INT8OID) || !stored)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" cannot be checked", name),
                    stored ? errdetail("It is of type %s; ids are bigint.", format_type_be(type))
                           : errdetail("It is a virtual generated column."),
                    errhint("Name a column that holds ids.")));
  return column;
}

void CheckMayRead(Oid relation, AttrNumber column) {
  const bool may = pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
                   pg_attribute_aclcheck(relation, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
  if (!may) aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)), get_rel_name(relation));
  // With row_security off, it is an error if policies would hide rows from the caller.
  check_enable_rls(relation, InvalidOid, false);
}

void ReadTables(Oid relation, const char *name, const IdCheck &check) {
  ListCell *cell = nullptr;
  foreach (cell, find_all_inheritors(relation, AccessShareLock, nullptr)) {
    Relation table = table_open(lfirst_oid(cell), NoLock);
    const char kind = table->rd_rel->relkind;
    if (RELATION_IS_OTHER_TEMP(table) || (!RELKIND_HAS_TABLE_AM(kind) && kind != RELKIND_PARTITIONED_TABLE))
      ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                      errmsg("relation \"%s\" cannot be checked", RelationGetRelationName(table)),
                      errdetail("Only a table's own rows are read, and those of its partitions."),
                      errhint("Name a table, or those of its partitions that are on this server.")));
    if (kind != RELKIND_PARTITIONED_TABLE) CheckTable(table, FindIdColumn(RelationGetRelid(table), name), check);
    table_close(table, NoLock);
  }
}

const char *ProblemText(const IdCheck &check, IdProblem problem) {
  switch (problem) {
    case IdProblem::kNone: break;
    case IdProblem::kForeign: return "not of this database's layout";
    case IdProblem::kFuture:
      return check.is_behind ? "ahead of the clock, which is behind what was known" : "of the future";
    case IdProblem::kNeverAssigned:
      return check.compares ? "never allocated by this registry" : "not compared: the registry is in another database";
  }
  return "";
}

int InOrder(const void *left, const void *right) {
  const ProblemGroup::GroupKey &a = static_cast<const ProblemGroup *>(left)->key,
                               &b = static_cast<const ProblemGroup *>(right)->key;
  if (a.problem != b.problem) return a.problem < b.problem ? -1 : 1;
  return a.worker < b.worker ? -1 : a.worker > b.worker;
}

void ReturnGroups(FunctionCallInfo fcinfo, const IdCheck &check) {
  const long count = hash_get_num_entries(check.groups);
  if (count == 0) return;
  ProblemGroup *all =
      static_cast<ProblemGroup *>(MemoryContextAllocHuge(CurrentMemoryContext, sizeof(ProblemGroup) * count));
  HASH_SEQ_STATUS walk;
  hash_seq_init(&walk, check.groups);
  for (long i = 0; const void *group = hash_seq_search(&walk); ++i) all[i] = *static_cast<const ProblemGroup *>(group);
  qsort(all, count, sizeof(ProblemGroup), InOrder);
  for (long i = 0; i < count; ++i) {
    const ProblemGroup &found = all[i];
    Datum values[] = {CStringGetTextDatum(ProblemText(check, found.key.problem)), Int32GetDatum(found.key.worker),
                      Int64GetDatum(found.ids), Int64GetDatum(found.first), Int64GetDatum(found.last)};
    bool nulls[lengthof(values)] = {false, found.key.worker == kNoWorker};
    AddRow(fcinfo, values, nulls);
  }
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_check) {
  CheckNotNull(fcinfo, "snowflake_check", {"relation", "column_name"});
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation("snowflake_check");
  const Oid relation = PG_GETARG_OID(0);
  const char *name = NameStr(*PG_GETARG_NAME(1));
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  Relation table = try_table_open(relation, AccessShareLock);
  if (table == nullptr) ReportNoRelation(relation);
  CheckMayRead(relation, FindIdColumn(relation, name));

  IdCheck check = {};
  check.layout = DatabaseLayout(fcinfo->flinfo->fn_oid);
  const ServerTime time = LookAtTime();
  const int64_t skew_us = settings.max_clock_skew_ms * kUsPerMs;
  check.latest =
      LatestTick(check.layout, LatestIdUs(StateAt(FindNode(MyDatabaseId), time)) + Max(skew_us - kWrongUs, int64_t{0}));
  check.is_behind = IsKnownBehind(time);
  check.compares = RegistryIsHere();
  check.known = MakeTable("snowflake worker ids", sizeof(int32_t), sizeof(WorkerHistory));
  check.groups = MakeTable("snowflake check", sizeof(ProblemGroup::GroupKey), sizeof(ProblemGroup));
  if (check.compares) ReadRegistry(ExtensionOfFunction(fcinfo->flinfo->fn_oid), &check);
  ReadTables(relation, name, check);
  ReturnGroups(fcinfo, check);
  table_close(table, NoLock);
  return Datum{0};
}

}  // namespace snowflake
