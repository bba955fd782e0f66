// snowflake_convert_all(): all keys of a schema become ids in one transaction. Arguments, result
// and errors: COMMENT ON in the install script.
//
// 1. Each key is examined by itself, as snowflake_convert() would. What it refuses is collected, so
//    that all refusals are in one error, before anything is changed.
// 2. The keys of one owner are converted together. ALTER TABLE would rebuild the foreign keys of a
//    table, and so read both tables, once for each statement. So those between the tables are
//    dropped first, each table is altered once, and each foreign key is added once.
// 3. As with snowflake_convert(), the result is checked afterwards.
#include "convert/attempts.h"
#include "convert/convert.h"
#include "convert/queries.h"
#include "convert/subtransaction.h"
#include "convert/warnings.h"
#include "pg/extension.h"
#include "pg/processes.h"
#include "pg/report.h"

namespace snowflake {
namespace {
struct Key {
  Conversion conversion;
  IdColumns columns;
  bool refused;
};

// What is collected while all keys are examined.
struct Refusals {
  List *lines;  // none twice
  int code;
};

bool IsRefusal(int code) {
  constexpr int codes[] = {ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
                           ERRCODE_WRONG_OBJECT_TYPE,                ERRCODE_DATATYPE_MISMATCH,
                           ERRCODE_INVALID_TABLE_DEFINITION,         ERRCODE_INSUFFICIENT_PRIVILEGE};
  for (const int known : codes)
    if (code == known) return true;
  return false;
}

List *AddText(List *texts, const char *text) {
  ListCell *cell = nullptr;
  foreach (cell, texts)
    if (strcmp(static_cast<const char *>(lfirst(cell)), text) == 0) return texts;
  return lappend(texts, pstrdup(text));
}

// The lines of a detail are objects, each with what it depends on, or the reason for the message.
void Note(Refusals *refusals, const ErrorData &error) {
  if (refusals->code == 0 || error.sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE)
    refusals->code = error.sqlerrcode;
  else if (refusals->code != error.sqlerrcode && refusals->code != ERRCODE_INSUFFICIENT_PRIVILEGE)
    refusals->code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
  if (error.sqlerrcode != ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST) {
    const char *detail = error.detail != nullptr ? psprintf(": %s", error.detail) : "";
    refusals->lines = AddText(refusals->lines, psprintf("%s%s", error.message, detail));
    return;
  }
  char *rest = pstrdup(error.detail);
  for (char *line = strsep(&rest, "\n"); line != nullptr; line = strsep(&rest, "\n"))
    refusals->lines = AddText(refusals->lines, line);
}

const char *Joined(const List *texts) {
  StringInfoData all;
  initStringInfo(&all);
  ListCell *cell = nullptr;
  foreach (cell, texts) appendStringInfo(&all, "%s%s", all.len > 0 ? "\n" : "", static_cast<const char *>(lfirst(cell)));
  return all.data;
}

// The keys, as they are now, and unlocked.
List *FindKeys(Oid schema, const Conversion &all) {
  Query(kKeysOfSchema, OidValue(schema), OidValue(all.nextval_oid));
  List *keys = NIL;
  for (int64_t row = 0; row < Rows(); ++row) {
    Key *key = static_cast<Key *>(palloc0(sizeof(Key)));
    key->conversion = all;
    key->conversion.table = OidField(row, 1);
    key->conversion.column = Text(row, 2);
    keys = lappend(keys, key);
  }
  return keys;
}

// All columns of the keys, each once.
IdColumns Together(const Conversion &owners, List *keys) {
  IdColumns together = {};
  ListCell *cell = nullptr;
  foreach (cell, keys) together.count += static_cast<const Key *>(lfirst(cell))->columns.count;
  together.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * (together.count + 1)));
  together.count = 0;
  foreach (cell, keys) {
    const Key &key = *static_cast<const Key *>(lfirst(cell));
    for (int64_t i = 0; i < key.columns.count; ++i) {
      const IdColumn &column = key.columns.all[i];
      int64_t at = 0;
      while (at < together.count && !(together.all[at].table == column.table && together.all[at].number == column.number))
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

// Locks what the keys' conversions change, and refuses if one of them has to be refused. Returns
// their columns.
IdColumns Examine(const Conversion &all, List *keys, const char *schema) {
  Refusals refusals = {};
  const auto check = [&](Key *key, auto body) {
    ErrorData *error = Attempted(body);
    if (error == nullptr) return;
    if (!IsRefusal(error->sqlerrcode)) ReThrowError(error);
    Note(&refusals, *error);
    key->refused = true;
  };
  ListCell *cell = nullptr;
  foreach (cell, keys) {
    Key *key = static_cast<Key *>(lfirst(cell));
    check(key, [&] {
      key->columns = LockColumns(&key->conversion);
      CheckColumns(key->conversion, key->columns);
      CheckDirect(key->conversion, key->columns, FindNotNulls(key->columns));
    });
  }
  const IdColumns together = Together(all, keys);
  int refused = 0;
  foreach (cell, keys) {
    Key *key = static_cast<Key *>(lfirst(cell));
    // None: they could not be locked.
    if (key->columns.count > 0) check(key, [&] { CheckSequences(all, key->columns, together.own); });
    refused += key->refused;
  }
  if (refused > 0)
    ereport(ERROR, (errcode(refusals.code),
                    errmsg("cannot convert %d of the %d keys of schema %s", refused, list_length(keys), schema),
                    errdetail("%s", Joined(refusals.lines)),
                    errhint("Change or drop these objects, call the function again, and create them again. Or convert "
                            "the other keys one by one with snowflake_convert().")));
  return together;
}

List *KeysOf(List *keys, Oid owner) {
  List *found = NIL;
  ListCell *cell = nullptr;
  foreach (cell, keys)
    if (static_cast<const Key *>(lfirst(cell))->conversion.owner == owner) found = lappend(found, lfirst(cell));
  return found;
}

// Names what else may hold ids. Whether there is nothing.
bool SayLeftOut(Oid schema, const char *schema_sql, const IdColumns &columns) {
  List *lines = Texts(kLeftOut, OidValue(schema), columns.own.tables, columns.own.numbers);
  if (lines == NIL) return true;
  ereport(NOTICE, (errmsg_plural("%d column of schema %s is left out", "%d columns of schema %s are left out",
                                 static_cast<unsigned long>(list_length(lines)), list_length(lines), schema_sql),
                   errdetail_internal("%s", Joined(lines)),
                   errhint("If a column holds ids, snowflake_convert() may be able to convert it.")));
  return false;
}

struct ForeignKeys {
  List *drop, *add;
};

ForeignKeys FindForeignKeys(const IdColumns &columns) {
  Query(kKeysBetween, columns.narrow.tables, columns.narrow.numbers);
  ForeignKeys keys = {};
  for (int64_t row = 0; row < Rows(); ++row) {
    keys.drop = lappend(keys.drop, Text(row, 2));
    keys.add = lappend(keys.add, Text(row, 3));
    if (Text(row, 5) != nullptr) keys.add = lappend(keys.add, Text(row, 4));
  }
  return keys;
}

List *StatementsTogether(const Conversion &owners, const IdColumns &columns, const ForeignKeys &keys) {
  const NotNulls not_nulls = FindNotNulls(columns);
  List *statements = IdentityStatements(columns);
  statements = list_concat(statements, keys.drop);
  statements = list_concat(statements, not_nulls.apart);
  statements = list_concat(statements, AlterStatements(owners, columns, true));
  statements = list_concat(statements, not_nulls.together);
  statements = list_concat(statements, KeptProperties(columns));
  statements = list_concat(statements, keys.add);
  return list_concat(statements, SequenceStatements(columns));
}

[[noreturn]] void ReportInterference(const IdColumn &column) {
  CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, column.described,
                "A schema was renamed or an event trigger interfered during the conversion.", "Try again.");
}

// Whether nothing is left to do, and the foreign keys are what they were.
void CheckDone(List *keys, const IdColumns &columns, const ForeignKeys &before) {
  const ForeignKeys after = FindForeignKeys(columns);
  bool same = list_length(after.add) == list_length(before.add);
  for (int i = 0; same && i < list_length(before.add); ++i)
    same = strcmp(static_cast<const char *>(list_nth(before.add, i)), static_cast<const char *>(list_nth(after.add, i))) == 0;
  ListCell *cell = nullptr;
  foreach (cell, keys) {
    const Key &key = *static_cast<const Key *>(lfirst(cell));
    const IdColumns now = FindColumns(key.conversion);
    if (same && now.count > 0 && Statements(key.conversion, now, FindNotNulls(now), true) == NIL) continue;
    ReportInterference(key.columns.all[0]);
  }
}

// A new table, its toast table, their indexes and types are locked beside the old ones, and so are
// the constraints, triggers and defaults that are made again. On random schemas these figures were
// never too low, and up to a half too high (t/convert/convert_all).
constexpr int64_t kLocksOfCatalogs = 50;
constexpr int64_t kLocksOfKey = 4;
constexpr int64_t kLocksOfTable = 22;
constexpr int64_t kLocksOfIndex = 5;
constexpr int64_t kLocksOfForeignKey = 7;

void SayNeeds(const IdColumns &columns, int64_t keys) {
  Query(kNeeds, columns.narrow.tables, columns.narrow.numbers);
  const int64_t tables = DatumGetInt64(Field(0, 1));
  if (tables == 0) return;
  const int64_t locks = kLocksOfCatalogs + kLocksOfKey * keys + kLocksOfTable * tables +
                        kLocksOfIndex * DatumGetInt64(Field(0, 2)) + kLocksOfForeignKey * DatumGetInt64(Field(0, 4));
  const int64_t room = static_cast<int64_t>(max_locks_per_xact) * (MaxBackends + max_prepared_xacts);
  const char *size = TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, Field(0, 3)));
  ereport(NOTICE,
          (errmsg_plural("%lld table is written anew, which takes up to %s of disk, and as much WAL",
                         "%lld tables are written anew, which takes up to %s of disk, and as much WAL",
                         static_cast<unsigned long>(tables), Long(tables), size),
           errdetail("About %lld locks are needed.", Long(locks)),
           locks <= room / 2 ? 0
                             : errhint("The server has room for %lld locks of all sessions: raise "
                                       "max_locks_per_transaction, or convert some keys before with "
                                       "snowflake_convert().",
                                       Long(room))));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_convert_all) {
  CheckNotNull(fcinfo, "snowflake_convert_all", {"schema", "dry_run"});
  const Oid schema = PG_GETARG_OID(0);
  const bool dry_run = PG_GETARG_BOOL(1);
  const char *name = get_namespace_name(schema);
  if (name == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_SCHEMA), errmsg("schema with OID %u does not exist", schema),
                    errhint("Name a schema that exists.")));
  if (!dry_run) CheckMayChange("snowflake_convert_all");
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  ReturnSetInfo *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
  SPI_connect();
  Conversion all = {};
  all.extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  all.dry_run = dry_run;
  all.target = "ids";
  FindNextval(&all);
  const char *schema_sql = quote_identifier(name);
  List *keys = FindKeys(schema, all), *owners = NIL;
  const bool whole = SayLeftOut(schema, schema_sql, Examine(all, keys, schema_sql));
  bool any = false;
  ListCell *cell = nullptr;
  foreach (cell, keys) owners = list_append_unique_oid(owners, static_cast<const Key *>(lfirst(cell))->conversion.owner);
  foreach (cell, owners) {
    Conversion of_owner = all;
    of_owner.owner = lfirst_oid(cell);
    List *owners_keys = KeysOf(keys, of_owner.owner);
    const IdColumns columns = Together(of_owner, owners_keys);
    const ForeignKeys foreign_keys = FindForeignKeys(columns);
    SayNeeds(columns, list_length(owners_keys));
    List *statements = StatementsTogether(of_owner, columns, foreign_keys);
    Return(result, statements);
    any = any || statements != NIL;
    if (dry_run) continue;
    ExecuteStatements(of_owner, statements);
    CheckDone(owners_keys, columns, foreign_keys);
  }
  if (dry_run && keys != NIL) NoticeWarnings(all, Together(all, keys), false);
  if (keys == NIL)
    ereport(NOTICE, (errmsg("schema %s has no keys that could be converted", schema_sql)));
  else if (!any && whole)
    ereport(NOTICE, (errmsg("all keys of schema %s already take their ids from snowflake_nextval()", schema_sql)));
  else if (!any)
    ereport(NOTICE, (errmsg("the other keys of schema %s already take their ids from snowflake_nextval()", schema_sql)));
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
