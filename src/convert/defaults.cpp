// snowflake_convert_defaults(): the keys of a schema that are bigint throughout take ids, one after
// the other. Arguments and errors: COMMENT ON in the install script.
//
// 1. A key is converted in a transaction of its own, as snowflake_convert() would. So it is
//    converted or not, and the locks last for one key.
// 2. Whoever waits for such a lock makes all later sessions wait, too. So all locks of a key are
//    awaited for a moment only, and a key that others use is tried again after the other ones.
// 3. A serial column's sequence is dropped in a transaction of its own, after the default has
//    changed. So those who have called nextval() before they use the table are in nobody's way.
// 4. What a procedure has set by a SET clause would keep it from ending transactions. So the
//    settings are set for each key.
#include "convert/attempts.h"
#include "convert/convert.h"
#include "convert/keys.h"
#include "convert/warnings.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Not known by the code alone: an event trigger may fail with the same one.
bool IsGone(const Key &key, int code) {
  return (code == ERRCODE_UNDEFINED_TABLE || code == ERRCODE_UNDEFINED_COLUMN) &&
         FindColumns(key.conversion).count == 0;
}

// Whether an error leaves a key as it was. Any other one ends the call.
bool IsRefusal(int code) {
  return code == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE || code == ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST ||
         code == ERRCODE_WRONG_OBJECT_TYPE || code == ERRCODE_DATATYPE_MISMATCH ||
         code == ERRCODE_INVALID_TABLE_DEFINITION || code == ERRCODE_INSUFFICIENT_PRIVILEGE;
}

// Narrow columns are refused, and everything else is judged as if they were wide.
List *RefusalsOf(const Conversion &conversion, const IdColumns &columns, const ColumnSet &together) {
  List *refusals = NIL;
  IdColumns wide = columns;
  wide.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * static_cast<Size>(columns.count)));
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    wide.all[i] = column;
    wide.all[i].narrow = false;
    if (column.narrow)
      refusals = AddRefusal(refusals, psprintf("%s is of type %s", column.described, column.type_name),
                            "Convert narrow columns with target => 'bigint' first.");
  }
  MakeSets(conversion, &wide);
  return list_concat(refusals, FindRefusals(conversion, wide, together));
}

// Converts one part of a key, and says whether that changed anything, or returns what refuses it. A
// key for which there is nothing to do, or that is refused, is not locked against others.
List *ConvertPart(Conversion conversion, bool *converted) {
  Conversion look = conversion;
  look.dry_run = true;
  const IdColumns seen = LockColumns(&look);
  List *refusals = RefusalsOf(look, seen, seen.own);
  if (refusals != NIL || Statements(look, seen, true) == NIL) return refusals;
  conversion.part = seen.all[0].gets_default ? Part::kDefault : Part::kSequence;
  BeginDeadline(conversion.attempts);
  const IdColumns columns = LockColumns(&conversion);
  refusals = RefusalsOf(conversion, columns, columns.own);
  if (refusals != NIL) return refusals;
  ExecuteChecked(conversion, columns, Statements(conversion, columns, true));
  *converted = true;
  return NIL;
}

// For queries, and for what reads rows. The settings are of the present nest level.
void SetForKeys() {
  SetForLevel("search_path", "pg_catalog, pg_temp");
  SetForLevel("row_security", "off");
}

// In a moment, and so that nothing stays locked. A key that others keep locked is left.
template <typename Body>
void LookAt(Key *key, Body body) {
  ErrorData *error = Looked(body);
  if (error == nullptr) return;
  key->columns = {};
  if (IsGone(*key, error->sqlerrcode)) return;
  if (!IsOfLock(error->sqlerrcode)) ReThrowError(error);
  key->error = error;
}

// Says what a dry run of snowflake_convert_all() would, before anybody is kept out. What is found
// out about the keys lasts no longer. A key is refused for a sequence only if what uses it is not
// converted, too. Returns how many keys would change.
int Foresee(const SchemaKeys &found) {
  for (Key *key : Each<Key *>(found.keys)) {
    key->conversion.dry_run = true;
    LookAt(key, [&] { key->columns = LockColumns(&key->conversion); });
  }
  CheckExcluded(found);
  for (int open = -1; open != list_length(OpenKeys(found.keys));) {
    open = list_length(OpenKeys(found.keys));
    const ColumnSet own = Together(found.all, OpenKeys(found.keys)).own;
    for (Key *key : Each<Key *>(found.keys))
      if (key->columns.count > 0) LookAt(key, [&] { key->refusals = RefusalsOf(key->conversion, key->columns, own); });
  }
  const IdColumns columns = Together(found.all, OpenKeys(found.keys));
  if (IsToDo(columns)) NoticeWarnings(found.all, columns, false);
  int change = 0;
  for (Key *key : Each<Key *>(found.keys)) {
    if (key->columns.count > 0 && key->refusals == NIL)
      LookAt(key, [&] { change += Statements(key->conversion, key->columns, true) != NIL; });
    key->conversion.dry_run = found.all.dry_run;
  }
  return change;
}

// For an error that ends the call.
void NameKey(void *key) { errcontext("conversion of %s", static_cast<const Key *>(key)->described); }

// In a transaction of its own. Whether a part of it was converted; the key says why not.
bool TryPart(Key *key) {
  Attempts *attempts = key->conversion.attempts;
  MemoryContext caller = CurrentMemoryContext;
  key->refusals = NIL;
  bool *converted = static_cast<bool *>(palloc0(sizeof(bool)));
  const int guc_level = NewGUCNestLevel();
  ErrorContextCallback context = {error_context_stack, NameKey, key};
  error_context_stack = &context;
  key->error = AttemptedInTime(attempts, [&] {
    SetForKeys();
    SetLockTimeouts(*attempts);
    // Its memory, too, lasts for one key.
    SPI_connect();
    const List *refusals = ConvertPart(key->conversion, converted);
    MemoryContextSwitchTo(caller);
    key->refusals = CopyRefusals(refusals);
    SPI_finish();
  });
  error_context_stack = context.previous;
  AtEOXact_GUC(false, guc_level);
  const int code = key->error != nullptr ? key->error->sqlerrcode : 0;
  if (IsGone(*key, code)) key->error = nullptr;
  if (key->error != nullptr && !IsOfLock(code) && !IsRefusal(code)) ReThrowError(const_cast<ErrorData *>(key->error));
  SPI_commit();
  return !IsLeft(*key) && *converted;
}

// Whether it was converted, or the rest of it.
bool TryKey(Key *key) {
  bool any = false;
  while (TryPart(key)) any = true;
  return any && !IsLeft(*key);
}

// Until nothing changes any more: a key may have to wait for another one that uses its sequence.
// Returns how many are converted.
int TryKeys(List *keys, Attempts *attempts) {
  int all = 0;
  for (bool again = false;;) {
    int converted = 0, locked = 0;
    for (Key *key : Each<Key *>(keys)) {
      if (again && !IsLeft(*key)) continue;
      key->conversion.attempts = attempts;
      converted += TryKey(key);
      locked += key->error != nullptr && IsOfLock(key->error->sqlerrcode);
    }
    all += converted;
    again = true;
    if (converted + locked == 0 || (locked > 0 && HaveEnded(*attempts))) return all;
    if (locked > 0) PauseBeforeNext(attempts);
  }
}

void Report(const SchemaKeys &found, int converted, bool whole) {
  const Reasons reasons = ReasonsOf(found.keys);
  const bool dry_run = found.all.dry_run;
  if (converted > 0 && dry_run)
    ereport(NOTICE, (errmsg_plural("%d key of schema %s would take its ids from snowflake_nextval()",
                                   "%d keys of schema %s would take their ids from snowflake_nextval()",
                                   static_cast<unsigned long>(converted), converted, found.schema_sql)));
  else if (converted > 0)
    ereport(NOTICE, (errmsg_plural("%d key of schema %s now takes its ids from snowflake_nextval()",
                                   "%d keys of schema %s now take their ids from snowflake_nextval()",
                                   static_cast<unsigned long>(converted), converted, found.schema_sql)));
  else if (reasons.keys == 0)
    SayNothingLeft(found, whole);
  const bool others = reasons.keys < list_length(found.keys);
  if (reasons.keys > 0)
    ereport(ERROR,
            (errcode(CodeOf(reasons.refusals)),
             errmsg("cannot convert %d of the %d keys of schema %s", reasons.keys, list_length(found.keys),
                    found.schema_sql),
             errdetail("%s", LinesOf(reasons.refusals)),
             errhint("%s%s%s", WhatToDo(reasons.refusals), others && !dry_run ? "The other keys are converted. " : "",
                     others && dry_run ? "The other keys can be converted without them."
                     : dry_run         ? "Or name the tables of these keys in exclude."
                                       : "Call the procedure again, or name the tables of these keys in exclude.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_convert_defaults) {
  CheckNotNull(fcinfo, "snowflake_convert_defaults",
               {"schema", "exclude", "max_wait", "give_up_after", "dry_run", "keep_sequence"});
  const bool dry_run = PG_GETARG_BOOL(4);
  if (!dry_run) {
    CheckMayCommit(fcinfo, "snowflake_convert_defaults");
    CheckMayChange("snowflake_convert_defaults");
  }
  Attempts attempts = BeginAttempts(fcinfo, 2, 3);
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  const SchemaKeys found = FindKeys(fcinfo, PG_GETARG_OID(0), PG_GETARG_DATUM(1), dry_run, "ids", PG_GETARG_BOOL(5));
  const int guc_level = NewGUCNestLevel();
  SetForKeys();
  SetLockTimeouts(attempts);
  SPI_connect();
  int converted = Foresee(found);
  const bool whole = SayLeftOut(found);
  if (dry_run) Report(found, converted, whole);
  SPI_finish();
  AtEOXact_GUC(false, guc_level);
  if (!dry_run) {
    converted = TryKeys(found.keys, &attempts);
    Report(found, converted, whole);
  }
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
