// The queries about what is to be converted, and the locks that keep their results true. They rely
// on the search_path that snowflake_convert() has: pg_catalog.
#include "convert/catalog.h"

#include "convert/attempts.h"
#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Whether a default, as it is stored, is a call of the function that the conversion sets.
bool IsOurs(const Conversion &conversion, const char *expression) {
  if (expression == nullptr) return false;
  const Node *node = strip_implicit_coercions(static_cast<Node *>(stringToNode(expression)));
  if (!IsA(node, FuncExpr)) return false;
  return castNode(FuncExpr, const_cast<Node *>(node))->funcid == conversion.nextval_oid;
}

template <typename Select>
ColumnSet SetOf(const IdColumns &columns, Select select) {
  Datum *tables = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  Datum *numbers = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  int count = 0;
  for (const IdColumn &column : columns) {
    if (!select(column)) continue;
    tables[count] = ObjectIdGetDatum(column.table);
    numbers[count++] = Int16GetDatum(column.number);
  }
  ArrayType *all_tables = construct_array(tables, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  ArrayType *all_numbers = construct_array(numbers, count, INT2OID, sizeof(int16), true, TYPALIGN_SHORT);
  return {Of(OIDARRAYOID, PointerGetDatum(all_tables)), Of(INT2ARRAYOID, PointerGetDatum(all_numbers))};
}

// Of what the caller has named: errors about an argument.
void CheckNamed(const FoundTable &table) {
  const auto refuse = [&](int code, const char *detail, const char *hint) {
    ereport(ERROR, (errcode(code), errmsg("cannot convert %s", table.described), errdetail("%s", detail),
                    errhint("%s", hint)));
  };
  if (table.oid < FirstNormalObjectId)
    refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "It belongs to PostgreSQL itself.", "Name a table of your own.");
  if (table.kind == RELKIND_FOREIGN_TABLE)
    refuse(ERRCODE_WRONG_OBJECT_TYPE, "Its rows are on another server.", "Convert the table there.");
  if (table.kind != RELKIND_RELATION && table.kind != RELKIND_PARTITIONED_TABLE)
    refuse(ERRCODE_WRONG_OBJECT_TYPE, "It is not a table that holds ids of its own.",
           "Name the table that the rows are in.");
  if (table.persistence == RELPERSISTENCE_TEMP)
    refuse(ERRCODE_WRONG_OBJECT_TYPE, "A temporary table is dropped at the end of its session.",
           "Create the table with that default instead.");
  if (table.extension != nullptr)
    refuse(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
           psprintf("It belongs to the extension \"%s\", and a dump does not contain changes to an extension's tables.",
                    table.extension),
           "Only the extension itself should change it.");
}

}  // namespace

Function FindFunction(Oid extension, const char *name, int16_t arguments) {
  const RowsOf<Function> found =
      Read<Function>(kFunction, OidValue(extension), Of(NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(name))),
                     Of(INT2OID, Int16GetDatum(arguments)));
  if (found.count != 1)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension \"%s\" has no function %s() with %d arguments", get_extension_name(extension),
                           name, arguments),
                    errdetail("The function was removed from it, or the extension is of another version."),
                    errhint("Drop the extension and create it again, or update it.")));
  return found.all[0];
}

Oid Snowflake() { return get_extension_oid("snowflake", false); }

void FindNextval(Conversion *conversion) {
  const Function nextval = FindFunction(Snowflake(), "snowflake_nextval", 0);
  conversion->nextval_oid = nextval.oid;
  conversion->nextval = psprintf("%s()", nextval.name_sql);
}

IdColumn IdColumn::Read(const Row &row) {
  IdColumn column =
      row.As<IdColumn>("relation", "number", "table_sql", "name_sql", "described", "roots", "root_count", "type",
                       "type_name", "own", "root", "generated", "typed_table", "value", "new_sql");
  column.narrow = IsInteger(column.type) && column.type != INT8OID;
  return column;
}

IdColumns FindColumns(const Conversion &conversion) {
  IdColumns columns = {};
  static_cast<RowsOf<IdColumn> &>(columns) =
      Read<IdColumn>(kIdColumns, OidValue(conversion.table), Of(NAMEOID, CStringGetDatum(conversion.column)));
  for (IdColumn &column : columns) {
    column.issues = IsOurs(conversion, column.value);
    if (column.own && !column.issues && !OnlyWidens(conversion)) columns.all[0].gets_default = true;
  }
  MakeSets(conversion, &columns);
  return columns;
}

void MakeSets(const Conversion &conversion, IdColumns *columns) {
  columns->every = SetOf(*columns, [](const IdColumn &) { return true; });
  columns->own = SetOf(*columns, [](const IdColumn &column) { return column.own; });
  columns->narrow = SetOf(*columns, [](const IdColumn &column) { return column.narrow; });
  columns->tables = SetOf(*columns, [](const IdColumn &column) { return column.own || column.narrow; }).tables;
  const bool all = OnlyWidens(conversion);
  columns->keep = SetOf(*columns, [all](const IdColumn &column) { return column.narrow && (all || !column.own); });
  columns->narrow_count = 0;
  for (const IdColumn &column : *columns) columns->narrow_count += column.narrow;
}

RowsOf<FoundTable> FindTables(const Conversion &conversion, const IdColumns &columns) {
  return Read<FoundTable>(kTables, OidValue(conversion.table), columns.tables,
                          OidValue(OnlyWidens(conversion) ? InvalidOid : conversion.nextval_oid));
}

RowsOf<FoundLock> FindLocks(const Conversion &conversion, const IdColumns &columns) {
  return Read<FoundLock>(kLocks, OidValue(conversion.table), columns.own, columns.narrow, OidValue(conversion.owner));
}

Locks FindLocksOf(Conversion *conversion) {
  const IdColumns columns = FindColumns(*conversion);
  const RowsOf<FoundTable> tables = FindTables(*conversion, columns);
  if (tables.count == 0 || !tables.all[0].named) ReportNoRelation(conversion->table);
  CheckNamed(tables.all[0]);
  conversion->owner = tables.all[0].owner;
  Locks locks = {};
  if (!tables.all[0].own) return locks;
  for (const FoundLock &lock : FindLocks(*conversion, columns)) {
    if (lock.of_other != nullptr || (lock.serial && conversion->keep_sequence)) continue;
    const bool changes = conversion->part == Part::kAll || lock.serial == (conversion->part == Part::kSequence);
    List **list = changes && !conversion->dry_run ? &locks.changed : &locks.read;
    *list = lappend_oid(*list, lock.oid);
  }
  return locks;
}

List *LockInOrder(Attempts *attempts, List *relations, LOCKMODE mode) {
  if (relations == NIL) return NIL;
  List *ordered = NIL;
  for (const ToLock &each : InOrder(OidsValue(relations))) ordered = lappend_oid(ordered, each.relation);
  LockInTurn(attempts, ordered, mode);
  return ordered;
}

IdColumns LockColumns(Conversion *conversion) {
  MemoryContext caller = CurrentMemoryContext;
  List *locked = NIL;
  for (bool again = true; again;) {
    SPI_connect();
    const Locks locks = FindLocksOf(conversion);
    List *now = list_concat(LockInOrder(nullptr, locks.read, AccessShareLock),
                            LockInOrder(conversion->attempts, locks.changed, AccessExclusiveLock));
    const List *further = list_difference_oid(now, locked);
    again = further != NIL;
    MemoryContextSwitchTo(caller);
    locked = list_concat(locked, further);
    SPI_finish();
  }
  const IdColumns columns = FindColumns(*conversion);
  if (columns.count == 0) ReportNoColumn(conversion->table, conversion->column);
  return columns;
}

RowsOf<ToLock> InOrder(Value relations) { return Read<ToLock>(kInOrder, relations); }

namespace {
struct NotNull {
  char *constraint, *of_partition;

  static NotNull Read(const Row &row) { return row.As<NotNull>("constraint", "of_partition"); }
};

}  // namespace

NotNulls FindNotNulls(const IdColumns &columns) {
  NotNulls found = {};
  if (columns.narrow_count == 0) return found;
  for (const NotNull &each : Read<NotNull>(kNotNulls, columns.narrow)) {
    found.apart = lappend(found.apart, psprintf("%s NO INHERIT;", each.constraint));
    found.together = lcons(psprintf("%s INHERIT;", each.constraint), found.together);
    if (found.of_partition == nullptr) found.of_partition = each.of_partition;
  }
  return found;
}

}  // namespace snowflake
