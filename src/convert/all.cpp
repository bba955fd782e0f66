// snowflake_convert_all(): all keys of a schema become ids in one transaction. Arguments, result
// and errors: COMMENT ON in the install script.
//
// 1. Each key is examined by itself, as snowflake_convert() would. All refusals are in one error,
//    before anything is changed.
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
// The keys that could be converted online.
const char *OpenOnline(const SchemaKeys &found) {
  List *names = NIL;
  for (const Key &key : Each<Key>(found.keys)) {
    if (key.refusals == NIL) continue;
    SPI_connect();
    const bool open = OtherWayIsOpen(key.conversion, key.columns);
    SPI_finish();
    if (open) names = lappend(names, const_cast<char *>(key.described));
  }
  if (names == NIL) return "";
  return psprintf("Or convert these first, by snowflake_convert() with online => true: %s.\n", Joined(names, ", "));
}

// Looks for what keeps a key from being converted together with other columns; its memory lasts for
// one key.
void Judge(Key *key, const ColumnSet &together) {
  MemoryContext caller = CurrentMemoryContext;
  SPI_connect();
  const List *found = FindRefusals(key->conversion, key->columns, together);
  MemoryContextSwitchTo(caller);
  key->refusals = CopyRefusals(found);
  SPI_finish();
}

// Locks what the keys' conversions change, or as a dry run does, and looks for what is in the way.
void Examine(const SchemaKeys &found, bool dry_run) {
  List *changed = NIL;
  for (Key &key : Each<Key>(found.keys)) {
    key.conversion.dry_run = dry_run;
    if (!dry_run) changed = list_concat_unique_oid(changed, FindLocksOf(&key.conversion).changed);
  }
  // In one order for all keys.
  LockInOrder(nullptr, changed, AccessExclusiveLock);
  for (Key &key : Each<Key>(found.keys)) key.columns = LockColumns(&key.conversion);
  CheckExcluded(found);
  const ColumnSet own = Together(found.all, found.keys).own;
  for (Key *key : Each<Key *>(found.keys)) Judge(key, own);
}

void RefuseAll(const SchemaKeys &found) {
  const Reasons reasons = ReasonsOf(found.keys);
  if (reasons.keys == 0) return;
  // It may catch errors, which no report that is being made survives.
  const char *online = OpenOnline(found);
  ereport(ERROR, (errcode(CodeOf(reasons.refusals)),
                  errmsg("cannot convert %d of the %d keys of schema %s", reasons.keys, list_length(found.keys),
                         found.schema_sql),
                  errdetail("%s", LinesOf(reasons.refusals)),
                  errhint("%s%sOr name the tables of these keys in exclude.", WhatToDo(reasons.refusals), online)));
}

List *KeysOf(List *keys, Oid owner) {
  List *found = NIL;
  for (Key *key : Each<Key *>(keys))
    if (key->conversion.owner == owner) found = lappend(found, key);
  return found;
}

// The statements for one of them.
struct ForeignKey {
  char *drop, *add, *comment;

  static ForeignKey Read(const Row &row) { return row.As<ForeignKey>("drop", "add", "comment"); }
};

ForeignKeys FindForeignKeys(const IdColumns &columns) {
  ForeignKeys keys = {};
  for (const ForeignKey &key : Read<ForeignKey>(kKeysBetween, columns.narrow)) {
    keys.drop = lappend(keys.drop, key.drop);
    keys.add = lappend(keys.add, key.add);
    if (key.comment != nullptr) keys.add = lappend(keys.add, key.comment);
  }
  return keys;
}

// Whether nothing is left to do, and the foreign keys are what they were.
void CheckDone(List *keys, const IdColumns &columns, const ForeignKeys &before) {
  const ForeignKeys after = FindForeignKeys(columns);
  bool same = list_length(after.add) == list_length(before.add);
  for (int i = 0; same && i < list_length(before.add); ++i)
    same = strcmp(static_cast<const char *>(list_nth(before.add, i)),
                  static_cast<const char *>(list_nth(after.add, i))) == 0;
  for (const Key &key : Each<Key>(keys)) {
    const IdColumns now = FindColumns(key.conversion);
    if (same && now.count > 0 && Statements(key.conversion, now, true) == NIL) continue;
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

  static Needs Read(const Row &row) { return row.As<Needs>("tables", "indexes", "foreign_keys", "largest", "size"); }
};

void SayNeeds(const IdColumns &columns, int64_t keys) {
  const Needs needs = *Read<Needs>(kNeeds, columns.narrow).all;
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

// What a call says and refuses, it says and refuses before it keeps anybody out. Whether no column
// is left out.
bool Foresee(const SchemaKeys &found) {
  Examine(found, true);
  const bool whole = SayLeftOut(found);
  List *open = OpenKeys(found.keys);
  const IdColumns columns = Together(found.all, open);
  if (IsToDo(columns)) NoticeWarnings(found.all, columns, false);
  RefuseAll(found);
  SayNeeds(columns, list_length(open));
  return whole;
}

// The keys of one owner. Whether something was left to do.
bool ConvertKeys(const Conversion &of_owner, List *keys, ReturnSetInfo *result) {
  const IdColumns columns = Together(of_owner, keys);
  const ForeignKeys foreign_keys = FindForeignKeys(columns);
  List *statements = Statements(of_owner, columns, true, foreign_keys);
  Return(result, statements);
  if (of_owner.dry_run) return statements != NIL;
  ExecuteStatements(of_owner, statements);
  CheckDone(keys, columns, foreign_keys);
  return statements != NIL;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_convert_all) {
  CheckNotNull(fcinfo, "snowflake_convert_all", {"schema", "dry_run", "exclude", "target", "keep_sequence"});
  const bool dry_run = PG_GETARG_BOOL(1);
  const char *target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(3)));
  if (!dry_run) CheckMayChange("snowflake_convert_all");
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  SPI_connect();
  const SchemaKeys found = FindKeys(fcinfo, PG_GETARG_OID(0), PG_GETARG_DATUM(2), dry_run, target, PG_GETARG_BOOL(4));
  bool whole = false;
  if (dry_run) {
    whole = Foresee(found);
  } else {
    // Its memory, too, lasts no longer.
    SPI_connect();
    if (ErrorData *error = Looked([&] { whole = Foresee(found); })) ReThrowError(error);
    SPI_finish();
    Examine(found, false);
    RefuseAll(found);
  }
  List *owners = NIL;
  for (const Key &key : Each<Key>(found.keys)) owners = list_append_unique_oid(owners, key.conversion.owner);
  bool any = false;
  for (const Oid owner : Each<Oid>(owners)) {
    Conversion of_owner = found.all;
    of_owner.owner = owner;
    any |= ConvertKeys(of_owner, KeysOf(found.keys, owner), reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo));
  }
  if (!any) SayNothingLeft(found, whole);
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
