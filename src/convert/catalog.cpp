// The queries about what is to be converted, and the locks that keep their results true.
#include "convert/catalog.h"

#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The queries rely on the search_path that snowflake_convert() has: pg_catalog.

List *SequencesOf(const IdColumns &columns, char dependency) {
  return Texts(kDroppedSequences, columns.own.tables, columns.own.numbers, Of(CHAROID, CharGetDatum(dependency)));
}

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

struct FoundTable {
  Oid oid, owner;
  char *described, *extension, *detached;
  bool named, own;  // by the caller; the caller's
  char kind, persistence;

  static FoundTable Read(const Row &row) {
    return {row.Object("oid"),     row.Object("owner"),  row.Text("described"),
            row.Text("extension"), row.Text("detached"), row.Flag("named"),
            row.Flag("own"),       row.Letter("kind"),   row.Letter("persistence")};
  }
};

void CheckTable(const Conversion &conversion, const FoundTable &table) {
  const auto refuse = [&](int code, const char *detail, const char *hint) {
    if (!table.named) hint = "It inherits or refers to the converted column. Detach it or drop its foreign key first.";
    CannotConvert(code, table.described, detail, hint);
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
  if (table.detached != nullptr)
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, table.described,
                  "DETACH PARTITION ... CONCURRENTLY of it was interrupted.", table.detached);
  if (!table.own && (table.named || !conversion.online))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of %s", table.described),
                    table.named ? 0 : errdetail("It inherits or refers to the converted column and changes with it."),
                    errhint("Call the function as a role that owns all affected tables.")));
}

// Refuses what is no table, or not the caller's. Returns the owner of the one that was named.
Oid CheckTables(const Conversion &conversion, const IdColumns &columns) {
  const RowsOf<FoundTable> tables = Read<FoundTable>(kTables, OidValue(conversion.table), columns.tables);
  if (tables.count == 0 || !tables.all[0].named) ReportNoRelation(conversion.table);
  for (const FoundTable &table : tables) CheckTable(conversion, table);
  return tables.all[0].owner;
}

struct Lock {
  Oid oid;
  char *described, *owner, *table_owner;
  bool of_other;

  static Lock Read(const Row &row) {
    return {row.Object("oid"), row.Text("described"), row.Text("owner"), row.Text("table_owner"), row.Flag("of_other")};
  }
};

// Refuses tables of others. Returns whether it locked something that was not locked when read.
bool LockFurther(const Conversion &conversion, IdColumns *columns, List **locked) {
  const RowsOf<Lock> locks = Read<Lock>(kLocks, OidValue(conversion.table), columns->own.tables, columns->own.numbers,
                                        columns->narrow.tables, columns->narrow.numbers, OidValue(conversion.owner));
  for (const Lock &lock : locks) {
    columns->of_others |= lock.of_other;
    if (lock.of_other && !conversion.online)
      ereport(
          ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("cannot convert a table together with %s", lock.described),
           errdetail("It belongs to %s, and the converted table to %s. Code attached to one of them would run with "
                     "the rights of the other's owner.",
                     lock.owner, lock.table_owner),
           errhint("Detach it or drop its foreign key first, or give both tables the same owner with ALTER TABLE "
                   "... OWNER TO.")));
  }
  const int before = list_length(*locked);
  for (const Lock &lock : locks) {
    if (lock.of_other) continue;
    LockRelationOid(lock.oid, conversion.dry_run ? AccessShareLock : AccessExclusiveLock);
    *locked = list_append_unique_oid(*locked, lock.oid);
  }
  return list_length(*locked) > before;
}

// The text of the one row; nullptr: it is null, or there is none.
template <typename... Values>
char *OneText(const QueryParts &query, Values... values) {
  List *texts = Texts(query, values...);
  return texts != NIL ? static_cast<char *>(linitial(texts)) : nullptr;
}

char *OneText(const QueryParts &query, const ColumnSet &set) { return OneText(query, set.tables, set.numbers); }

}  // namespace

void CannotConvert(int code, const char *described, const char *detail, const char *hint) {
  ereport(ERROR, (errcode(code), errmsg("cannot convert %s", described), errdetail("%s", detail), errhint("%s", hint)));
}

Function Function::Read(const Row &row) { return {row.Object("oid"), row.Text("name_sql")}; }

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
  IdColumn column = {};
  column.table = row.Object("relation");
  column.number = row.Number("number");
  column.table_sql = row.Text("table_sql");
  column.name_sql = row.Text("name_sql");
  column.described = row.Text("described");
  column.roots = row.Text("roots");
  column.root_count = row.Count("root_count");
  column.type = row.Object("type");
  column.narrow = IsInteger(column.type) && column.type != INT8OID;
  column.type_name = row.Text("type_name");
  column.own = row.Flag("own");
  column.root = row.Flag("root");
  column.generated = row.Flag("generated");
  column.typed_table = row.Flag("typed_table");
  column.value = row.Text("value");
  column.new_sql = row.Text("new_sql");
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

IdColumns LockColumns(Conversion *conversion) {
  List *locked = NIL;
  IdColumns columns;
  do {
    columns = FindColumns(*conversion);
    conversion->owner = CheckTables(*conversion, columns);
  } while (LockFurther(*conversion, &columns, &locked));
  return columns;
}

char *ObjectsOnNarrow(const IdColumns &columns) { return OneText(kObjectsOnNarrow, columns.narrow); }

char *DisabledKeys(const IdColumns &columns) { return OneText(kDisabledKeys, columns.narrow); }

char *CatalogTables(const IdColumns &columns) { return OneText(kCatalogTables, columns.narrow); }

char *OwnOfPartitions(const IdColumns &columns) { return OneText(kOwnOfPartitions, columns.narrow); }

char *OwnChecks(const IdColumns &columns) { return OneText(kOwnChecks, columns.narrow); }

List *OthersMayCreate(const IdColumns &columns) {
  return Texts(kOthersMayCreate, columns.narrow.tables, columns.narrow.numbers);
}

List *OperatorClasses(const IdColumns &columns, bool online) {
  return Texts(kOperatorClasses, columns.narrow.tables, columns.narrow.numbers, Bool(online));
}

char *OtherUsersOfSequences(const IdColumns &columns, const ColumnSet &together) {
  return OneText(kOtherUsers, columns.own.tables, columns.own.numbers, together.tables, together.numbers);
}

Elsewhere Elsewhere::Read(const Row &row) { return {row.Text("foreign_key"), row.Text("from")}; }

const Elsewhere *FindElsewhere(const IdColumns &columns) {
  const RowsOf<Elsewhere> found = Read<Elsewhere>(kElsewhere, columns.own.tables, columns.own.numbers);
  return found.count > 0 ? found.all : nullptr;
}

namespace {
struct NotNull {
  char *constraint, *of_partition;

  static NotNull Read(const Row &row) { return {row.Text("constraint"), row.Text("of_partition")}; }
};

}  // namespace

NotNulls FindNotNulls(const IdColumns &columns) {
  NotNulls found = {};
  for (const NotNull &each : Read<NotNull>(kNotNulls, columns.narrow.tables, columns.narrow.numbers)) {
    found.apart = lappend(found.apart, psprintf("%s NO INHERIT;", each.constraint));
    found.together = lcons(psprintf("%s INHERIT;", each.constraint), found.together);
    if (found.of_partition == nullptr) found.of_partition = each.of_partition;
  }
  return found;
}

List *IdentityStatements(const IdColumns &columns) { return SequencesOf(columns, 'i'); }
List *SequenceStatements(const IdColumns &columns) { return SequencesOf(columns, 'a'); }

List *SequenceTypeStatements(const IdColumns &columns) {
  return Texts(kNarrowSequences, columns.own.tables, columns.own.numbers);
}

List *KeptProperties(const IdColumns &columns) {
  return Texts(kKeptProperties, columns.narrow.tables, columns.narrow.numbers);
}

bool LargestId(const Conversion &conversion, const IdColumn &column, int64_t *id) {
  bool is_null = false;
  AsTableOwner(conversion, [&] {
    const char *query = psprintf("SELECT max(%s)::pg_catalog.int8 FROM %s", column.name_sql, column.table_sql);
    const int rc = SPI_execute(query, false, 0);
    if (rc != SPI_OK_SELECT) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), query);
    *id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
    SPI_freetuptable(SPI_tuptable);
  });
  return !is_null;
}

}  // namespace snowflake
