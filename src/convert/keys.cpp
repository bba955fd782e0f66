// Which columns are keys, and which may be, is in the queries.
#include "convert/keys.h"

#include "convert/attempts.h"
#include "convert/queries.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
List *AddText(List *texts, const char *text) {
  ListCell *cell = nullptr;
  foreach (cell, texts)
    if (strcmp(static_cast<const char *>(lfirst(cell)), text) == 0) return texts;
  return lappend(texts, pstrdup(text));
}

// The tables of an array. Error: 22004.
List *TablesOf(Datum array) {
  Datum *values = nullptr;
  bool *nulls = nullptr;
  int count = 0;
  deconstruct_array(DatumGetArrayTypeP(array), REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT, &values, &nulls, &count);
  List *tables = NIL;
  for (int i = 0; i < count; ++i) {
    if (nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("exclude must not contain nulls"),
                      errhint("Name tables of the schema.")));
    tables = list_append_unique_oid(tables, DatumGetObjectId(values[i]));
  }
  return tables;
}

// A table that is named for nothing is probably meant to keep a key from being converted.
void CheckExcluded(const SchemaKeys &found, List *tables) {
  ListCell *cell = nullptr, *key = nullptr;
  foreach (cell, tables) {
    bool has_key = false;
    foreach (key, found.excluded)
      has_key |= static_cast<const Key *>(lfirst(key))->conversion.table == lfirst_oid(cell);
    if (has_key) continue;
    const char *name = get_rel_name(lfirst_oid(cell));
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("cannot exclude table \"%s\"", name != nullptr ? name : psprintf("%u", lfirst_oid(cell))),
                    errdetail("It is not in schema %s, or has no key of its own.", found.schema_sql),
                    errhint("Name the table from which a partition or child inherits its key.")));
  }
}

struct FoundKey {
  Oid table;
  char *column, *described, *described_table;
  bool takes_ids, excluded;

  static FoundKey Read(const Row &row) {
    return {row.Object("relation"), row.Text("column"),    row.Text("described"),
            row.Text("of_table"),   row.Flag("takes_ids"), row.Flag("excluded")};
  }
};

}  // namespace

SchemaKeys FindKeys(FunctionCallInfo fcinfo, Oid schema, Datum excluded, bool dry_run, const char *target) {
  const char *name = get_namespace_name(schema);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_SCHEMA), errmsg("schema with OID %u does not exist", schema),
                    errhint("Name a schema that exists.")));
  SchemaKeys found = {schema, quote_identifier(name), {}, NIL, NIL};
  found.all.extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  found.all.dry_run = dry_run;
  found.all.target = target;
  FindNextval(&found.all);
  List *tables = TablesOf(excluded);
  for (const FoundKey &each :
       Read<FoundKey>(kKeysOfSchema, OidValue(schema), OidValue(found.all.nextval_oid), OidsValue(tables))) {
    Key *key = static_cast<Key *>(palloc0(sizeof(Key)));
    key->conversion = found.all;
    key->conversion.table = each.table;
    key->conversion.column = each.column;
    key->described = each.described;
    key->table = each.described_table;
    key->takes_ids = each.takes_ids;
    List **keys = each.excluded ? &found.excluded : &found.keys;
    *keys = lappend(*keys, key);
  }
  CheckExcluded(found, tables);
  return found;
}

IdColumns Together(const Conversion &owners, List *keys) {
  IdColumns together = {};
  ListCell *cell = nullptr;
  foreach (cell, keys) together.count += static_cast<const Key *>(lfirst(cell))->columns.count;
  together.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * (together.count + 1)));
  together.count = 0;
  foreach (cell, keys) {
    const Key &key = *static_cast<const Key *>(lfirst(cell));
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

bool SayLeftOut(const SchemaKeys &found) {
  List *all = list_concat_copy(found.keys, found.excluded), *lines = NIL;
  ListCell *cell = nullptr;
  foreach (cell, all) {
    Key *key = static_cast<Key *>(lfirst(cell));
    if (key->columns.count == 0) key->columns = FindColumns(key->conversion);
    if (foreach_current_index(cell) >= list_length(found.keys) && !key->takes_ids)
      lines = lappend(lines, psprintf("%s is excluded", key->described));
  }
  const ColumnSet own = Together(found.all, all).own;
  lines = list_concat(lines, Texts(kLeftOut, OidValue(found.schema), own.tables, own.numbers));
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

bool IsRefusal(int code) {
  constexpr int codes[] = {ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                           ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
                           ERRCODE_WRONG_OBJECT_TYPE,
                           ERRCODE_DATATYPE_MISMATCH,
                           ERRCODE_INVALID_TABLE_DEFINITION,
                           ERRCODE_INSUFFICIENT_PRIVILEGE};
  for (const int known : codes)
    if (code == known) return true;
  return false;
}

// The lines of a detail are objects, each with what it depends on, or the reason for the message.
void Note(Refusals *refusals, const Key &key, const ErrorData &error) {
  if (refusals->code == 0 || error.sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE)
    refusals->code = error.sqlerrcode;
  else if (refusals->code != error.sqlerrcode && refusals->code != ERRCODE_INSUFFICIENT_PRIVILEGE)
    refusals->code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
  // Code of users may raise the same error without a detail.
  if (error.sqlerrcode != ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST || error.detail == nullptr) {
    // PostgreSQL's own errors, and those of event triggers, name neither the key nor its table.
    const bool names = strstr(error.message, key.described) != nullptr || strstr(error.message, key.table) != nullptr;
    const char *detail = error.detail != nullptr ? psprintf(": %s", error.detail) : "";
    refusals->lines = AddText(
        refusals->lines, psprintf("%s%s%s%s", names ? "" : key.described, names ? "" : ": ", error.message, detail));
    return;
  }
  char *rest = pstrdup(error.detail);
  for (char *line = strsep(&rest, "\n"); line != nullptr; line = strsep(&rest, "\n"))
    refusals->lines = AddText(refusals->lines, line);
}

}  // namespace snowflake
