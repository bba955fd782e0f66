// snowflake_convert_defaults(): the keys of a schema that are bigint throughout take ids, one after
// the other. Arguments and errors: COMMENT ON in the install script.
//
// 1. A key is converted in a transaction of its own, as snowflake_convert() would. So it is
//    converted or not, and the locks last for one key.
// 2. Whoever waits for such a lock makes all later sessions wait, too. So all locks of a key are
//    awaited for a moment only, and a key that others use is tried again after the other ones.
// 3. What a procedure has set by a SET clause would keep it from ending transactions. So the
//    settings are set for each key.
#include "convert/attempts.h"
#include "convert/convert.h"
#include "convert/keys.h"
#include "pg/report.h"

namespace snowflake {
namespace {
constexpr int kPasses = 10;
constexpr int64_t kPauseUs = 1000 * 1000;

// Not known by the code alone: an event trigger may fail with the same one.
bool IsGone(const Key &key, int code) {
  return (code == ERRCODE_UNDEFINED_TABLE || code == ERRCODE_UNDEFINED_COLUMN) &&
         FindColumns(key.conversion).count == 0;
}

void CheckWide(const IdColumns &columns) {
  for (const IdColumn &column : columns) {
    if (!column.narrow) continue;
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  psprintf("%s is of type %s, and has to become bigint first.",
                           &column == columns.all ? "It" : column.described, column.type_name),
                  "Convert it with target => 'bigint'.");
  }
}

// Whether there was something to do. A key for which there is nothing, or that is refused, is not
// locked against others.
bool ConvertDefault(Conversion conversion) {
  Conversion look = conversion;
  look.dry_run = true;
  const IdColumns seen = LockColumns(&look);
  CheckWide(seen);
  if (CheckedStatements(look, seen) == NIL) return false;
  BeginDeadline();
  const IdColumns columns = LockColumns(&conversion);
  CheckWide(columns);
  ExecuteChecked(conversion, columns, CheckedStatements(conversion, columns));
  return true;
}

// For an error that ends the call.
void NameKey(void *key) { errcontext("conversion of %s", static_cast<const Key *>(key)->described); }

// In a transaction of its own. Whether it was converted; otherwise `error` says why it was not.
bool TryKey(Key *key) {
  bool *converted = static_cast<bool *>(palloc0(sizeof(bool)));
  const int guc_level = NewGUCNestLevel();
  ErrorContextCallback context = {error_context_stack, NameKey, key};
  error_context_stack = &context;
  key->error = AttemptedInTime([&] {
    SetForLevel("search_path", "pg_catalog, pg_temp");
    SetForLevel("row_security", "off");
    SetLockTimeouts();
    // Its memory, too, lasts for one key.
    SPI_connect();
    *converted = ConvertDefault(key->conversion);
    SPI_finish();
  });
  error_context_stack = context.previous;
  AtEOXact_GUC(false, guc_level);
  const int code = key->error != nullptr ? key->error->sqlerrcode : 0;
  if (IsGone(*key, code)) key->error = nullptr;
  if (key->error != nullptr && !IsOfLock(code) && !IsRefusal(code)) ReThrowError(const_cast<ErrorData *>(key->error));
  SPI_commit();
  return key->error == nullptr && *converted;
}

// Until nothing changes any more: a key may have to wait for another one that uses its sequence.
// Returns how many are converted.
int TryKeys(List *keys) {
  int all = 0;
  bool more = true;
  for (int pass = 0, locked = 0; more && pass < kPasses; ++pass) {
    if (locked > 0) PauseFor(kPauseUs);
    int converted = 0;
    locked = 0;
    ListCell *cell = nullptr;
    foreach (cell, keys) {
      Key *key = static_cast<Key *>(lfirst(cell));
      if (pass > 0 && key->error == nullptr) continue;
      converted += TryKey(key);
      locked += key->error != nullptr && IsOfLock(key->error->sqlerrcode);
    }
    all += converted;
    more = converted + locked > 0;
  }
  return all;
}

// Returns how many are left.
int NoteAll(List *keys, Refusals *refusals) {
  int left = 0;
  ListCell *cell = nullptr;
  foreach (cell, keys) {
    const Key &key = *static_cast<const Key *>(lfirst(cell));
    if (key.error == nullptr) continue;
    ErrorData error = *key.error;
    if (IsOfLock(error.sqlerrcode)) error.message = psprintf("other sessions use the table of %s", key.described);
    if (IsOfLock(error.sqlerrcode)) error.detail = nullptr;
    Note(refusals, key, error);
    ++left;
  }
  return left;
}

void Report(const SchemaKeys &found, int converted, bool whole) {
  Refusals refusals = {};
  const int left = NoteAll(found.keys, &refusals);
  if (converted > 0)
    ereport(NOTICE, (errmsg_plural("%d key of schema %s now takes its ids from snowflake_nextval()",
                                   "%d keys of schema %s now take their ids from snowflake_nextval()",
                                   static_cast<unsigned long>(converted), converted, found.schema_sql)));
  else if (left == 0)
    SayNothingLeft(found, whole);
  if (left > 0)
    ereport(ERROR,
            (errcode(refusals.code),
             errmsg("cannot convert %d of the %d keys of schema %s", left, list_length(found.keys), found.schema_sql),
             errdetail("%s", Joined(refusals.lines)),
             errhint("The other keys are converted. Remove the reasons and call the procedure again, or name the "
                     "tables of these keys in exclude.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_convert_defaults) {
  CheckNotNull(fcinfo, "snowflake_convert_defaults", {"schema", "exclude"});
  CheckMayCommit(fcinfo, "snowflake_convert_defaults");
  CheckMayChange("snowflake_convert_defaults");
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  const SchemaKeys found = FindKeys(fcinfo, PG_GETARG_OID(0), PG_GETARG_DATUM(1), false, "ids");
  const int converted = TryKeys(found.keys);
  Report(found, converted, SayLeftOut(found));
  SPI_finish();
  return Datum{0};
}

}  // namespace snowflake
