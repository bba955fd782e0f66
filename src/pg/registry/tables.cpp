// Finds the registry's tables, checks that they are as made, and runs statements on them.
#include "pg/registry/tables.h"

#include "pg/extension.h"
#include "pg/processes.h"
#include "pg/registry/triggers.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The statement under way. It fails unless its check has run before it.
struct Statement {
  const Tables *tables;
  const char *command;
  CommandId id;
  bool checked;
};
Statement statement;
post_parse_analyze_hook_type next_parse_hook = nullptr;

struct MadeTable {
  const char *name;
  Oid Tables::*oid;
};
constexpr MadeTable kMadeTables[] = {
    {"snowflake_registry", &Tables::registry}, {"snowflake_watermark", &Tables::watermark},
    {"snowflake_layout", &Tables::layout},     {"snowflake_origin", &Tables::origin},
    {"snowflake_segment", &Tables::segment},   {"snowflake_segment_range", &Tables::range},
    {"snowflake_last_tick", &Tables::last_tick}};

[[noreturn]] void ReportNoGuard(const char *table) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("table \"%s\" has lost a guard", table),
       errdetail("Its triggers snowflake_guard, snowflake_guard_after and snowflake_guard_table keep ids unique; one is"
                 " missing, changed, or does not fire always."),
       errhint("Call snowflake_make_guards().")));
}

// Nothing of the table changes before the transaction ends: the statement has locked it.
void CheckAsMade(const MadeTable &made) {
  const Oid relation = statement.tables->*made.oid;
  Relation table = table_open(relation, NoLock);
  const Form_pg_class row = table->rd_rel;
  if (row->relpersistence != RELPERSISTENCE_PERMANENT)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("table \"%s\" is not permanent", made.name),
             errdetail("A crash would empty it, and worker ids that are leased would be assigned again."),
             errhint("Use ALTER TABLE ... SET LOGGED. If the server has crashed meanwhile, first stop all "
                     "nodes, or wait until their windows have ended.")));
  // The statement runs as the table's owner, to whom policies apply only if they are forced.
  const bool has_policies = row->relrowsecurity && row->relforcerowsecurity;
  // pg_class still marks rules and children after the last one is gone.
  const bool has_children = row->relhassubclass && find_inheritance_children(relation, NoLock) != NIL;
  if (table->rd_rules != nullptr || has_policies || has_children) ReportForeignTable(made.name);
  if (!HasGuards(table, statement.tables->guard)) ReportNoGuard(made.name);
  table_close(table, NoLock);
}

[[noreturn]] void ReportMovedTables() {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry's tables were moved meanwhile"),
           errdetail("The extension was dropped, or it, its schema or an object of it was moved or renamed."),
           errhint("Try again. If the error stays, undo the change.")));
}

const MadeTable &MadeTableOf(Oid relation) {
  for (const MadeTable &made : kMadeTables)
    if (statement.tables->*made.oid == relation) return made;
  ReportMovedTables();
}

// No statement has a sub-select elsewhere than in FROM.
void CheckRelations(const Query *query) {
  if (query->hasSubLinks || query->cteList != NIL)
    elog(ERROR, "the registry's statement has a sub-select that is not checked");
  ListCell *cell = nullptr;
  foreach (cell, query->rtable) {
    const RangeTblEntry *entry = lfirst_node(RangeTblEntry, cell);
    if (entry->rtekind == RTE_SUBQUERY) CheckRelations(entry->subquery);
    if (entry->rtekind != RTE_RELATION) continue;
    CheckAsMade(MadeTableOf(entry->relid));
  }
}

// Parse analysis of the statement under way has locked what it refers to, so nothing renames it.
void CheckParsed(ParseState *state, Query *query, ParsedJumble *jumble) {
  if (next_parse_hook) next_parse_hook(state, query, jumble);
  if (statement.command == nullptr || state->p_sourcetext != statement.command) return;
  CheckRelations(query);
  statement.checked = true;
}

Oid TableOwner(Oid relation, Oid extension) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) ReportMovedTables();
  const FormData_pg_class table = *reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  if (table.relkind != RELKIND_RELATION || getExtensionOfObject(RelationRelationId, relation) != extension)
    ReportForeignTable(NameStr(table.relname));
  return table.relowner;
}

char *WithSchema(const Tables &tables, const char *command) {
  StringInfoData text;
  initStringInfo(&text);
  while (const char *name = strstr(command, "snowflake_")) {
    appendBinaryStringInfo(&text, command, static_cast<int>(name - command));
    appendStringInfo(&text, "%s.snowflake_", tables.schema_sql);
    command = name + strlen("snowflake_");
  }
  appendStringInfoString(&text, command);
  return text.data;
}

}  // namespace

void WatchParsing() {
  next_parse_hook = post_parse_analyze_hook;
  post_parse_analyze_hook = CheckParsed;
}

bool LockTables(Oid extension, LOCKMODE mode, bool wait) {
  bool locked = true;
  NamingBlocker(extension, [&] {
    ForEachTable(extension, [&](Oid table) {
      if (wait)
        LockRelationOid(table, mode);
      else
        locked = ConditionalLockRelationOid(table, mode);
      return locked;
    });
  });
  return locked;
}

// PostgreSQL locks objects as wholes (objsubid 0), so no SQL takes such a lock. pg_locks shows it.
void LockPart(Oid extension, Oid classid, Oid object, uint16 part) {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, MyDatabaseId, classid, object, part);
  NamingBlocker(extension, [&] { LockAcquire(&tag, ExclusiveLock, false, false); });
}

void JoinQueue(Oid extension, Queue queue) {
  LockPart(extension, AuthIdRelationId, GetSessionUserId(), static_cast<uint16>(queue));
}

void LockInserts(Oid extension, Oid table) { LockPart(extension, RelationRelationId, table, 1); }

void LockRegistry(const Tables &tables, LOCKMODE mode) {
  // The mark of a clean shutdown waits for extends, which may themselves join the queue.
  if (mode == ShareUpdateExclusiveLock) JoinQueue(tables.extension, Queue::kRegistry);
  NamingBlocker(tables.extension, [&] { LockRelationOid(tables.origin, mode); });
}

Tables FindTables(Oid extension, LOCKMODE mode) {
  Tables tables = {};
  tables.extension = extension;
  LockTables(extension, mode, true);
  tables.schema = SchemaOfExtension(extension);
  const char *schema = OidIsValid(tables.schema) ? get_namespace_name(tables.schema) : nullptr;
  if (schema == nullptr) ReportMovedTables();
  tables.schema_sql = quote_identifier(schema);
  for (const MadeTable &made : kMadeTables) {
    const Oid relation = tables.*made.oid = get_relname_relid(made.name, tables.schema);
    if (!OidIsValid(relation)) {
      CheckNotNamesake(extension);
      ReportForeignTable(made.name);
    }
    const Oid owner = TableOwner(relation, extension);
    if (OidIsValid(tables.owner) && owner != tables.owner)
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("the registry's tables have several owners"),
                      errdetail("The protocol runs with the rights of the tables' owner, which must not apply to "
                                "another role's tables."),
                      errhint("Give snowflake_registry and the extension's other tables one owner.")));
    tables.owner = owner;
  }
  tables.guard = TriggerFunction(extension, tables.schema, "snowflake_guard");
  if (!OidIsValid(tables.guard)) ReportMovedTables();
  // Its owner may have given it another body.
  if (!RunsCode(tables.guard, "snowflake_guard")) ReportForeignFunction("snowflake_guard");
  return tables;
}

void ExecuteWith(const Tables &tables, const char *statement_sql, int count, Oid *types, Datum *values) {
  Assert(GetUserId() == tables.owner);  // Requires: AsOwner().
  const char *command = WithSchema(tables, statement_sql);
  // A planted trigger may call the protocol again.
  const Statement outer = statement;
  CommandCounterIncrement();
  statement = {&tables, command, GetCurrentCommandId(false), false};
  PG_TRY();
  {
    const int rc = SPI_execute_with_args(command, count, types, values, nullptr, false, 0);
    if (rc < 0) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), command);
    if (!statement.checked) elog(ERROR, "the registry's statement was not checked: %s", command);
  }
  PG_FINALLY();
  { statement = outer; }
  PG_END_TRY();
}

// What a planted trigger, condition, constraint or default executes is a later command, with a
// snapshot of its own.
bool FiredByProtocol() { return statement.command != nullptr && GetActiveSnapshot()->curcid == statement.id; }

void ReportForeignColumn() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a table of the registry is not as the extension snowflake made it"),
                  errdetail("A column has a different type, or is null although it must not be."),
                  errhint("Undo the change, or drop the extension and create it again.")));
}

Datum Result(int64_t row, int column, Oid type, bool *is_null) {
  if (SPI_gettypeid(SPI_tuptable->tupdesc, column) != type) ReportForeignColumn();
  bool null = false;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &null);
  if (null && is_null == nullptr) ReportForeignColumn();
  if (is_null != nullptr) *is_null = null;
  return value;
}

void CheckWritten(const char *table) {
  if (Rows() != 1) ReportForeignTable(table);
}

void CheckWritten(const char *table, int64_t least) {
  CheckWritten(table);
  if (Int8Result(0, 1) < least) ReportForeignTable(table);
}

int64_t TimeResult(int64_t row, int column) {
  bool is_null = false;
  const Datum value = Result(row, column, TIMESTAMPTZOID, &is_null);
  return is_null ? 0 : UnixUsFromTimestamp(DatumGetTimestampTz(value));
}

int64_t NextLeaseId(const Tables &tables, int64_t floor) {
  const AttrNumber column = get_attnum(tables.registry, "lease_id");
  const Oid sequence = column == InvalidAttrNumber ? InvalidOid : IdentitySequence(tables.registry, column);
  if (!OidIsValid(sequence)) ReportForeignTable("snowflake_registry");
  const int64_t next = nextval_internal(sequence, true);
  if (next > floor) return next;
  DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence), Int64GetDatum(floor + 1));
  return floor + 1;
}

}  // namespace snowflake
