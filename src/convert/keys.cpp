// Which columns are keys, and which may be, is in the queries.
#include "convert/keys.h"

#include "convert/attempts.h"
#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
bool IsReferring(const IdColumns &columns, Oid table) {
  for (const IdColumn &column : columns)
    if (column.table == table && column.root && table != columns.all[0].table) return true;
  return false;
}

[[noreturn]] void ReportExcluded(Oid table, const char *detail) {
  const char *name = get_rel_name(table);
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("cannot exclude table \"%s\"", name != nullptr ? name : psprintf("%u", table)),
           errdetail("%s", detail), errhint("Name the table from which a partition or child inherits its column.")));
}

struct FoundKey {
  Oid table;
  char *column, *described, *described_table;
  bool takes_ids, excluded;

  static FoundKey Read(const Row &row) {
    return row.As<FoundKey>("relation", "column", "described", "of_table", "takes_ids", "excluded");
  }
};

}  // namespace

List *TablesOf(Datum array) {
  Datum *values = nullptr;
  bool *nulls = nullptr;
  int count = 0;
  deconstruct_array(DatumGetArrayTypeP(array), REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &values, &nulls, &count);
  List *tables = NIL;
  for (int i = 0; i < count; ++i) {
    if (nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("exclude must not contain nulls"),
                      errhint("Name tables.")));
    tables = list_append_unique_oid(tables, DatumGetObjectId(values[i]));
  }
  return tables;
}

// A table that is named for nothing is probably meant to keep something from being converted.
void CheckExcluded(const SchemaKeys &found) {
  for (const Oid table : Each<Oid>(found.all.excluded)) {
    bool known = false;
    for (const Key &key : Each<Key>(found.excluded)) known |= key.conversion.table == table;
    // What refers to a key that others keep locked is not known.
    for (const Key &key : Each<Key>(found.keys)) known |= key.columns.count == 0 || IsReferring(key.columns, table);
    if (!known)
      ReportExcluded(table,
                     psprintf("It has no key in schema %s, and no column that refers to one.", found.schema_sql));
  }
}

void CheckExcluded(const Conversion &conversion, const IdColumns &columns) {
  for (const Oid table : Each<Oid>(conversion.excluded))
    if (!IsReferring(columns, table))
      ReportExcluded(table, psprintf("It has no column that refers to %s.", columns.all[0].described));
}

SchemaKeys FindKeys(FunctionCallInfo fcinfo, Oid schema, Datum excluded, bool dry_run, const char *target,
                    bool keep_sequence) {
  const char *name = get_namespace_name(schema);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_SCHEMA), errmsg("schema with OID %u does not exist", schema),
                    errhint("Name a schema that exists.")));
  SchemaKeys found = {schema, quote_identifier(name), {}, NIL, NIL};
  found.all.extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  found.all.dry_run = dry_run;
  found.all.target = target;
  found.all.keep_sequence = keep_sequence && !OnlyWidens(found.all);
  FindNextval(&found.all);
  found.all.excluded = TablesOf(excluded);
  for (const FoundKey &each : Read<FoundKey>(kKeysOfSchema, OidValue(schema), OidValue(found.all.nextval_oid),
                                             OidsValue(found.all.excluded))) {
    Key key = {found.all, each.described, each.described_table, each.takes_ids, {}, NIL, nullptr};
    key.conversion.table = each.table;
    key.conversion.column = each.column;
    List **keys = each.excluded ? &found.excluded : &found.keys;
    *keys = lappend(*keys, CopyOf(key));
  }
  return found;
}

IdColumns Together(const Conversion &owners, List *keys) {
  IdColumns together = {};
  for (const Key &key : Each<Key>(keys)) together.count += key.columns.count;
  together.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * (together.count + 1)));
  together.count = 0;
  for (const Key &key : Each<Key>(keys)) {
    for (const IdColumn &column : key.columns) {
      int64_t at = 0;
      while (at < together.count &&
             !(together.all[at].table == column.table && together.all[at].number == column.number))
        ++at;
      IdColumn *here = &together.all[at];
      if (at == together.count) together.all[together.count++] = column;
      here->own |= column.own;
      here->gets_default |= column.gets_default;
    }
  }
  MakeSets(owners, &together);
  return together;
}

bool IsToDo(const IdColumns &columns) {
  for (const IdColumn &column : columns)
    if (column.narrow || column.gets_default) return true;
  return false;
}

List *OpenKeys(const List *keys) {
  List *open = NIL;
  for (Key *key : Each<Key *>(keys))
    if (key->refusals == NIL) open = lappend(open, key);
  return open;
}

bool SayLeftOut(const SchemaKeys &found) {
  List *all = list_copy(found.keys), *lines = NIL;
  for (const Key &each : Each<Key>(found.excluded)) {
    Key *key = CopyOf(each);
    key->columns = FindColumns(key->conversion);
    all = lappend(all, key);
    if (!key->takes_ids) lines = lappend(lines, psprintf("%s is excluded", key->described));
  }
  const ColumnSet own = Together(found.all, all).own;
  lines = list_concat(lines, Texts(kLeftOut, OidValue(found.schema), own));
  if (lines == NIL) return true;
  ereport(NOTICE, (errmsg_plural("%d column of schema %s is left out", "%d columns of schema %s are left out",
                                 static_cast<unsigned long>(list_length(lines)), list_length(lines), found.schema_sql),
                   errdetail_internal("%s", Joined(lines)),
                   errhint("If a column holds ids, snowflake_convert() may be able to convert it.")));
  return false;
}

void SayNothingLeft(const SchemaKeys &found, bool whole) {
  if (found.keys == NIL)
    ereport(NOTICE, (errmsg("schema %s has no keys that could be converted", found.schema_sql)));
  else if (OnlyWidens(found.all))
    ereport(NOTICE, (errmsg("%s keys of schema %s and what refers to them are already bigint",
                            whole ? "all" : "the other", found.schema_sql)));
  else
    ereport(NOTICE, (errmsg("%s keys of schema %s already take their ids from snowflake_nextval()",
                            whole ? "all" : "the other", found.schema_sql)));
}

bool IsLeft(const Key &key) { return key.refusals != NIL || key.error != nullptr; }

namespace {
int CodeOf(const ErrorData &error) {
  if (IsOfLock(error.sqlerrcode) || error.sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE) return error.sqlerrcode;
  return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

// The errors of PostgreSQL and of event triggers name neither the key nor its table.
const char *LineOf(const Key &key, const ErrorData &error) {
  if (IsOfLock(error.sqlerrcode)) return psprintf("other sessions use the table of %s", key.described);
  const bool names = strstr(error.message, key.described) != nullptr || strstr(error.message, key.table) != nullptr;
  const char *detail = error.detail != nullptr ? psprintf(": %s", error.detail) : "";
  return psprintf("%s%s%s%s", names ? "" : key.described, names ? "" : ": ", error.message, detail);
}

}  // namespace

Reasons ReasonsOf(const List *keys) {
  Reasons reasons = {};
  for (const Key &key : Each<Key>(keys)) {
    reasons.refusals = list_concat(reasons.refusals, key.refusals);
    if (key.error != nullptr)
      reasons.refusals = AddRefusal(reasons.refusals, LineOf(key, *key.error), nullptr, CodeOf(*key.error));
    reasons.keys += IsLeft(key);
  }
  return reasons;
}

}  // namespace snowflake
