// The queries about what is to be converted, and the locks that keep their results true.
#include "convert/catalog.h"

#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The queries rely on the search_path that snowflake_convert() has: pg_catalog.

// `field`: of kDroppedSequences.
List *SequencesOf(const IdColumns &columns, char dependency, int field) {
  Query(kDroppedSequences, columns.own.tables, columns.own.numbers, Of(CHAROID, CharGetDatum(dependency)));
  return Texts(field);
}

// Whether a default, as it is stored, is a call of the function that the conversion sets.
bool IsOurs(const Conversion &conversion, const char *expression) {
  if (expression == nullptr) return false;
  const Node *node = strip_implicit_coercions(static_cast<Node *>(stringToNode(expression)));
  if (!IsA(node, FuncExpr)) return false;
  const FuncExpr *call = castNode(FuncExpr, const_cast<Node *>(node));
  if (call->funcid != conversion.nextval_oid) return false;
  if (conversion.segment == nullptr) return true;
  const Node *argument = static_cast<Node *>(linitial(call->args));
  if (!IsA(argument, Const)) return false;
  const Const *name = castNode(Const, const_cast<Node *>(argument));
  return !name->constisnull && strcmp(TextDatumGetCString(name->constvalue), conversion.segment) == 0;
}

// The one number that a query of the tables returns; false if it returns none.
bool Number(const Conversion &conversion, const char *query, int64_t *number) {
  AsTableOwner(conversion, [&] { Query(query); });
  if (Rows() == 0 || Text(0, 1) == nullptr) return false;
  *number = DatumGetInt64(Field(0, 1));
  return true;
}

template <typename Select>
ColumnSet SetOf(const IdColumns &columns, Select select) {
  Datum *tables = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  Datum *numbers = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  int count = 0;
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (!select(column)) continue;
    tables[count] = ObjectIdGetDatum(column.table);
    numbers[count++] = Int16GetDatum(column.number);
  }
  ArrayType *all_tables = construct_array(tables, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  ArrayType *all_numbers = construct_array(numbers, count, INT2OID, sizeof(int16), true, TYPALIGN_SHORT);
  return {Of(OIDARRAYOID, PointerGetDatum(all_tables)), Of(INT2ARRAYOID, PointerGetDatum(all_numbers))};
}

// Refuses what is no table, or not the caller's. Returns the owner of the one that was named.
Oid CheckTables(const Conversion &conversion, const IdColumns &columns) {
  Query(kTables, OidValue(conversion.table), columns.tables);
  if (Rows() == 0 || OidField(0, 1) != conversion.table) ReportNoRelation(conversion.table);
  for (int64_t row = 0; row < Rows(); ++row) {
    const bool other = !BoolField(row, 2);
    const char kind = DatumGetChar(Field(row, 3));
    const char *extension = Text(row, 5);
    const char *described = Text(row, 7);
    const auto refuse = [&](int code, const char *detail, const char *hint) {
      if (other) hint = "It inherits or refers to the converted column. Detach it or drop its foreign key first.";
      CannotConvert(code, described, detail, hint);
    };
    if (OidField(row, 1) < FirstNormalObjectId)
      refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "It belongs to PostgreSQL itself.", "Name a table of your own.");
    if (kind == RELKIND_FOREIGN_TABLE)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "Its rows are on another server.", "Convert the table there.");
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "It is not a table that holds ids of its own.",
             "Name the table that the rows are in.");
    if (DatumGetChar(Field(row, 4)) == RELPERSISTENCE_TEMP)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "A temporary table is dropped at the end of its session.",
             "Create the table with that default instead.");
    if (extension != nullptr)
      refuse(
          ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
          psprintf("It belongs to the extension \"%s\", and a dump does not contain changes to an extension's tables.",
                   extension),
          "Only the extension itself should change it.");
    if (!BoolField(row, 6) && !(other && conversion.online))
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of %s", described),
                      other ? errdetail("It inherits or refers to the converted column and changes with it.") : 0,
                      errhint("Call the function as a role that owns all affected tables.")));
  }
  return OidField(0, 8);
}

// Refuses tables of others. Returns whether it locked something that was not locked when read.
bool LockFurther(const Conversion &conversion, IdColumns *columns, List **locked) {
  Query(kLocks, OidValue(conversion.table), columns->own.tables, columns->own.numbers, columns->narrow.tables,
        columns->narrow.numbers, OidValue(conversion.owner));
  for (int64_t row = 0; row < Rows(); ++row) {
    columns->of_others |= BoolField(row, 5);
    if (BoolField(row, 5) && !conversion.online)
      ereport(ERROR,
              (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("cannot convert a table together with %s", Text(row, 2)),
               errdetail("It belongs to %s, and the converted table to %s. Code attached to one of them would run with "
                         "the rights of the other's owner.",
                         Text(row, 3), Text(row, 4)),
               errhint("Detach it or drop its foreign key first, or give both tables the same owner with ALTER TABLE "
                       "... OWNER TO.")));
  }
  const int before = list_length(*locked);
  for (int64_t row = 0; row < Rows(); ++row) {
    if (BoolField(row, 5)) continue;
    LockRelationOid(OidField(row, 1), conversion.dry_run ? AccessShareLock : AccessExclusiveLock);
    *locked = list_append_unique_oid(*locked, OidField(row, 1));
  }
  return list_length(*locked) > before;
}

char *OneText(const QueryParts &query, const ColumnSet &set) {
  Query(query, set.tables, set.numbers);
  return Text(0, 1);
}

}  // namespace

void CannotConvert(int code, const char *described, const char *detail, const char *hint) {
  ereport(ERROR, (errcode(code), errmsg("cannot convert %s", described), errdetail("%s", detail), errhint("%s", hint)));
}

Function FindFunction(Oid extension, const char *name, int16_t arguments) {
  Query(kFunction, OidValue(extension), Of(NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(name))),
        Of(INT2OID, Int16GetDatum(arguments)));
  if (Rows() != 1)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension \"%s\" has no function %s() with %d arguments", get_extension_name(extension),
                           name, arguments),
                    errdetail("The function was removed from it, or the extension is of another version."),
                    errhint("Drop the extension and create it again, or update it.")));
  return {OidField(0, 1), Text(0, 2)};
}

Oid Snowflake() { return get_extension_oid("snowflake", false); }

void FindNextval(Conversion *conversion) {
  const bool ids = conversion->segment == nullptr;
  const Function nextval =
      FindFunction(Snowflake(), ids ? "snowflake_nextval" : "snowflake_segment_nextval", ids ? 0 : 1);
  conversion->nextval_oid = nextval.oid;
  const char *argument = ids ? "" : psprintf("%s::pg_catalog.text", quote_literal_cstr(conversion->segment));
  conversion->nextval = psprintf("%s(%s)", nextval.name_sql, argument);
}

IdColumns FindColumns(const Conversion &conversion) {
  Query(kIdColumns, OidValue(conversion.table), Of(NAMEOID, CStringGetDatum(conversion.column)),
        Bool(conversion.segment != nullptr));
  IdColumns columns = {};
  columns.count = Rows();
  columns.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * (columns.count + 1)));
  for (int64_t row = 0; row < columns.count; ++row) {
    const auto text = [&](int field) { return Text(row, field); };
    const auto flag = [&](int field) { return BoolField(row, field); };
    const Oid type = OidField(row, 8);
    const bool narrow = conversion.segment == nullptr && IsInteger(type) && type != INT8OID;
    const int16 number = DatumGetInt16(Field(row, 2));
    const int64_t roots = DatumGetInt64(Field(row, 7));
    const bool issues = IsOurs(conversion, text(14));
    columns.all[row] = {OidField(row, 1), number,  text(3),  text(4),  text(5),  text(6),  roots,  type,
                        narrow,           text(9), flag(10), flag(11), flag(12), flag(13), issues, text(15),
                        false};
    if (columns.all[row].own && !issues && !OnlyWidens(conversion)) columns.all[0].gets_default = true;
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
  for (int64_t i = 0; i < columns->count; ++i) columns->narrow_count += columns->all[i].narrow;
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

char *OtherUsersOfSequences(const IdColumns &columns, const ColumnSet &together) {
  Query(kOtherUsers, columns.own.tables, columns.own.numbers, together.tables, together.numbers);
  return Text(0, 1);
}

bool TakesIdsFromElsewhere(const IdColumns &columns, char **foreign_key, char **from) {
  Query(kElsewhere, columns.own.tables, columns.own.numbers);
  if (Rows() == 0) return false;
  *foreign_key = Text(0, 1);
  *from = Text(0, 2);
  return true;
}

NotNulls FindNotNulls(const IdColumns &columns) {
  Query(kNotNulls, columns.narrow.tables, columns.narrow.numbers);
  NotNulls found = {};
  for (int64_t row = 0; row < Rows(); ++row) {
    const char *constraint = Text(row, 1);
    found.apart = lappend(found.apart, psprintf("%sNO INHERIT;", constraint));
    found.together = lcons(psprintf("%sINHERIT;", constraint), found.together);
    if (found.of_partition == nullptr) found.of_partition = Text(row, 2);
  }
  return found;
}

List *IdentityStatements(const IdColumns &columns) { return SequencesOf(columns, 'i', 1); }
List *SequenceStatements(const IdColumns &columns) { return SequencesOf(columns, 'a', 1); }

List *SequenceTypeStatements(const IdColumns &columns) {
  Query(kNarrowSequences, columns.own.tables, columns.own.numbers);
  return Texts(1);
}

List *KeptProperties(const IdColumns &columns) {
  return Texts(kKeptProperties, columns.narrow.tables, columns.narrow.numbers);
}

bool LargestId(const Conversion &conversion, const IdColumn &column, int64_t *id) {
  return Number(conversion, psprintf("SELECT max(%s)::pg_catalog.int8 FROM %s", column.name_sql, column.table_sql), id);
}

bool SmallestPositive(const Conversion &conversion, const IdColumn &column, int64_t *id) {
  return Number(conversion,
                psprintf("SELECT min(%s)::pg_catalog.int8 FROM %s WHERE %s > 0", column.name_sql, column.table_sql,
                         column.name_sql),
                id);
}

int64_t LastOfSequences(const Conversion &conversion, const IdColumns &columns) {
  int64_t last = 0, number = 0;
  List *sequences = list_concat(SequencesOf(columns, 'i', 2), SequencesOf(columns, 'a', 2));
  ListCell *cell = nullptr;
  foreach (cell, sequences) {
    const char *query = psprintf("SELECT last_value FROM %s WHERE is_called", static_cast<char *>(lfirst(cell)));
    if (Number(conversion, query, &number)) last = Max(last, number);
  }
  return last;
}

}  // namespace snowflake
