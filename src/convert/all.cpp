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
#include "convert/keys.h"
#include "convert/queries.h"
#include "convert/subtransaction.h"
#include "convert/warnings.h"
#include "pg/processes.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Locks what the keys' conversions change, and refuses if one of them has to be refused.
void Examine(const SchemaKeys &found) {
  Refusals refusals = {};
  const auto check = [&](Key *key, auto body) {
    ErrorData *error = Attempted(body);
    if (error == nullptr) return;
    if (!IsRefusal(error->sqlerrcode)) ReThrowError(error);
    Note(&refusals, *key, *error);
    key->error = error;
  };
  ListCell *cell = nullptr;
  foreach (cell, found.keys) {
    Key *key = static_cast<Key *>(lfirst(cell));
    check(key, [&] {
      key->columns = LockColumns(&key->conversion);
      CheckColumns(key->conversion, key->columns);
      CheckDirect(key->conversion, key->columns, FindNotNulls(key->columns));
    });
  }
  const ColumnSet own = Together(found.all, found.keys).own;
  int refused = 0;
  foreach (cell, found.keys) {
    Key *key = static_cast<Key *>(lfirst(cell));
    // None: they could not be locked.
    if (key->columns.count > 0) check(key, [&] { CheckSequences(found.all, key->columns, own); });
    refused += key->error != nullptr;
  }
  if (refused > 0)
    ereport(ERROR, (errcode(refusals.code),
                    errmsg("cannot convert %d of the %d keys of schema %s", refused, list_length(found.keys),
                           found.schema_sql),
                    errdetail("%s", Joined(refusals.lines)),
                    errhint("Change or drop these objects, call the function again, and create them again. Or name the "
                            "tables of these keys in exclude.")));
}

List *KeysOf(List *keys, Oid owner) {
  List *found = NIL;
  ListCell *cell = nullptr;
  foreach (cell, keys)
    if (static_cast<const Key *>(lfirst(cell))->conversion.owner == owner) found = lappend(found, lfirst(cell));
  return found;
}

struct ForeignKeys {
  List *drop, *add;
};

// The statements for one of them.
struct ForeignKey {
  char *drop, *add, *comment;

  static ForeignKey Read(const Row &row) { return {row.Text("drop"), row.Text("add"), row.Text("comment")}; }
};

ForeignKeys FindForeignKeys(const IdColumns &columns) {
  ForeignKeys keys = {};
  for (const ForeignKey &key : Read<ForeignKey>(kKeysBetween, columns.narrow.tables, columns.narrow.numbers)) {
    keys.drop = lappend(keys.drop, key.drop);
    keys.add = lappend(keys.add, key.add);
    if (key.comment != nullptr) keys.add = lappend(keys.add, key.comment);
  }
  return keys;
}

List *StatementsTogether(const Conversion &owners, const IdColumns &columns, const ForeignKeys &keys) {
  const NotNulls not_nulls = FindNotNulls(columns);
  const bool only_widens = OnlyWidens(owners);
  List *statements = only_widens ? NIL : IdentityStatements(columns);
  statements = list_concat(statements, keys.drop);
  statements = list_concat(statements, not_nulls.apart);
  statements = list_concat(statements, AlterStatements(owners, columns, true));
  statements = list_concat(statements, not_nulls.together);
  statements = list_concat(statements, KeptProperties(columns));
  statements = list_concat(statements, keys.add);
  return list_concat(statements, only_widens ? SequenceTypeStatements(columns) : SequenceStatements(columns));
}

// Whether nothing is left to do, and the foreign keys are what they were.
void CheckDone(List *keys, const IdColumns &columns, const ForeignKeys &before) {
  const ForeignKeys after = FindForeignKeys(columns);
  bool same = list_length(after.add) == list_length(before.add);
  for (int i = 0; same && i < list_length(before.add); ++i)
    same = strcmp(static_cast<const char *>(list_nth(before.add, i)),
                  static_cast<const char *>(list_nth(after.add, i))) == 0;
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
constexpr int64_t kLocksOfCatalogs = 80;
constexpr int64_t kLocksOfKey = 4;
constexpr int64_t kLocksOfTable = 22;
constexpr int64_t kLocksOfIndex = 5;
constexpr int64_t kLocksOfForeignKey = 7;

struct Needs {
  int64_t tables, indexes, foreign_keys;
  char *largest, *size;

  static Needs Read(const Row &row) {
    return {row.Count("tables"), row.Count("indexes"), row.Count("foreign_keys"), row.Text("largest"),
            row.Text("size")};
  }
};

void SayNeeds(const IdColumns &columns, int64_t keys) {
  const Needs needs = *Read<Needs>(kNeeds, columns.narrow.tables, columns.narrow.numbers).all;
  if (needs.tables == 0) return;
  const int64_t locks = kLocksOfCatalogs + kLocksOfKey * keys + kLocksOfTable * needs.tables +
                        kLocksOfIndex * needs.indexes + kLocksOfForeignKey * needs.foreign_keys;
  const int64_t room = static_cast<int64_t>(max_locks_per_xact) * (MaxBackends + max_prepared_xacts);
  ereport(NOTICE,
          (errmsg_plural("%lld table is written anew, which takes up to %s of disk, and as much WAL",
                         "%lld tables are written anew, which takes up to %s of disk, and as much WAL",
                         static_cast<unsigned long>(needs.tables), Long(needs.tables), needs.size),
           errdetail("The largest: %s. About %lld locks are needed.", needs.largest, Long(locks)),
           locks <= room / 2 ? errhint("Keys of tables that are too large for this can be converted before, with "
                                       "snowflake_convert(), online => true and target => 'bigint'.")
                             : errhint("The server has room for %lld locks of all sessions: raise "
                                       "max_locks_per_transaction, or convert some keys before with "
                                       "snowflake_convert().",
                                       Long(room))));
}

// The keys of one owner. Whether something was left to do.
bool ConvertKeys(const Conversion &of_owner, List *keys, ReturnSetInfo *result) {
  const IdColumns columns = Together(of_owner, keys);
  const ForeignKeys foreign_keys = FindForeignKeys(columns);
  SayNeeds(columns, list_length(keys));
  List *statements = StatementsTogether(of_owner, columns, foreign_keys);
  Return(result, statements);
  if (of_owner.dry_run) return statements != NIL;
  ExecuteStatements(of_owner, statements);
  CheckDone(keys, columns, foreign_keys);
  return statements != NIL;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_convert_all) {
  CheckNotNull(fcinfo, "snowflake_convert_all", {"schema", "dry_run", "exclude", "target"});
  const bool dry_run = PG_GETARG_BOOL(1);
  const char *target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(3)));
  if (!dry_run) CheckMayChange("snowflake_convert_all");
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  SPI_connect();
  const SchemaKeys found = FindKeys(fcinfo, PG_GETARG_OID(0), PG_GETARG_DATUM(2), dry_run, target);
  Examine(found);
  const bool whole = SayLeftOut(found);
  List *owners = NIL;
  ListCell *cell = nullptr;
  foreach (cell, found.keys)
    owners = list_append_unique_oid(owners, static_cast<const Key *>(lfirst(cell))->conversion.owner);
  bool any = false;
  foreach (cell, owners) {
    Conversion of_owner = found.all;
    of_owner.owner = lfirst_oid(cell);
    any |= ConvertKeys(of_owner, KeysOf(found.keys, of_owner.owner),
                       reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo));
  }
  if (dry_run && found.keys != NIL) NoticeWarnings(found.all, Together(found.all, found.keys), false);
  if (!any) SayNothingLeft(found, whole);
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
