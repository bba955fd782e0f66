// snowflake_convert(): a column becomes bigint DEFAULT snowflake_nextval(). Arguments, result and
// errors: COMMENT ON in the install script.
//
// 1. Everything is done by ALTER TABLE and DROP SEQUENCE, and every name in a statement is
//    qualified. The caller needs the rights that these take. But they run with the rights of the
//    table's owner only, and reach no code that belongs to another owner's table: no role's code
//    gets more rights than the role.
// 2. All locks are acquired before the checks, so nothing changes between checks and statements.
// 3. No lock keeps a schema from being renamed. So the result is checked afterwards, by OID: if
//    anything is left to do, an ERROR undoes all of it.
#include "convert/convert.h"

#include "convert/attempts.h"
#include "convert/keys.h"
#include "convert/online.h"
#include "convert/queries.h"
#include "convert/refusals.h"
#include "convert/warnings.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The error of all refusals, if there are any.
void Check(const Conversion &conversion, const IdColumns &columns) {
  List *refusals = FindRefusals(conversion, columns, columns.own);
  if (refusals != NIL) Refuse(conversion, columns, refusals);
}

// One statement for each table at a top; ALTER TABLE passes it on. So each is rewritten only once.
// `types`: whether the types change, too.
List *AlterStatements(const Conversion &conversion, const IdColumns &columns, bool types) {
  List *statements = NIL, *done = NIL;
  const char *set_default = psprintf("SET DEFAULT %s", conversion.nextval);
  for (int64_t first = 0; first < columns.count; ++first) {
    const IdColumn &table = columns.all[first];
    if (list_member_oid(done, table.table)) continue;
    done = lappend_oid(done, table.table);
    StringInfoData actions;
    initStringInfo(&actions);
    const auto add = [&](const IdColumn &column, const char *what) {
      if (column.table == table.table)
        appendStringInfo(&actions, "%sALTER COLUMN %s %s", actions.len > 0 ? ", " : "", column.name_sql, what);
    };
    for (int64_t i = first; types && i < columns.count; ++i)
      if (columns.all[i].root && columns.all[i].narrow) add(columns.all[i], "TYPE bigint");
    for (int64_t i = first; i < columns.count; ++i)
      if (columns.all[i].gets_default) add(columns.all[i], set_default);
    if (actions.len > 0)
      statements = lappend(statements, psprintf("ALTER TABLE %s %s;", table.table_sql, actions.data));
  }
  return statements;
}

// Of identities (i) or serial columns (a): the statements that drop them.
List *SequencesOf(const IdColumns &columns, char dependency) {
  return Texts(kDroppedSequences, columns.own, Of(CHAROID, CharGetDatum(dependency)));
}

// That drop the sequences of serial columns, unless they stay, or make them bigint.
List *StatementsOfSequences(const Conversion &conversion, const IdColumns &columns) {
  if (OnlyWidens(conversion)) return Texts(kNarrowSequences, columns.own);
  return conversion.keep_sequence ? NIL : SequencesOf(columns, 'a');
}

}  // namespace

List *Statements(const Conversion &conversion, const IdColumns &columns, bool types, const ForeignKeys &keys) {
  // An identity takes no default, and a sequence cannot be dropped while a default uses it.
  List *statements = OnlyWidens(conversion) ? NIL : SequencesOf(columns, 'i');
  statements = list_concat(statements, keys.drop);
  const NotNulls not_nulls = types ? FindNotNulls(columns) : NotNulls{};
  statements = list_concat(statements, not_nulls.apart);
  statements = list_concat(statements, AlterStatements(conversion, columns, types));
  statements = list_concat(statements, not_nulls.together);
  statements = list_concat(statements, keys.add);
  if (types) statements = list_concat(statements, Texts(kKeptProperties, columns.narrow));
  if (conversion.part == Part::kDefault) return statements;
  return list_concat(statements, StatementsOfSequences(conversion, columns));
}

namespace {
// The new default of an online conversion. With a narrow column, its identity goes, too. A column
// that was bigint already has them.
List *DefaultsOf(Conversion conversion, const IdColumns &columns) {
  if (columns.all[0].narrow) return AlterStatements(conversion, columns, false);
  conversion.part = Part::kDefault;
  return Statements(conversion, columns, false);
}

}  // namespace

void ReportInterference(const IdColumn &column) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column.described),
                  errdetail("A schema was renamed or an event trigger interfered during the conversion."),
                  errhint("Try again.")));
}

// Each in a security context of its own, which ends what the statement has set.
void ExecuteStatements(const Conversion &conversion, List *statements) {
  for (const char *statement : Each<char *>(statements)) {
    AsTableOwner(conversion, [&] {
      const int rc = SPI_execute(statement, false, 0);
      if (rc != SPI_OK_UTILITY) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), statement);
    });
  }
}

void ExecuteChecked(const Conversion &conversion, const IdColumns &columns, List *statements) {
  ExecuteStatements(conversion, statements);
  if (Statements(conversion, FindColumns(conversion), true) != NIL) ReportInterference(columns.all[0]);
}

void Return(ReturnSetInfo *result, List *statements) {
  for (const char *statement : Each<char *>(statements)) {
    Datum value = CStringGetTextDatum(statement);
    bool is_null = false;
    tuplestore_putvalues(result->setResult, result->setDesc, &value, &is_null);
  }
}

namespace {
void ReportNothingLeft(const Conversion &conversion, const IdColumn &column) {
  ereport(NOTICE, (errmsg(OnlyWidens(conversion) ? "%s and what refers to it are already bigint"
                                                 : "%s already takes its ids from snowflake_nextval()",
                          column.described)));
}

// What a call says and refuses, it says and refuses before it keeps anybody out.
void Convert(Conversion conversion, ReturnSetInfo *result) {
  FindNextval(&conversion);
  Conversion look = conversion;
  look.dry_run = true;
  List *statements = NIL;
  const auto foresee = [&] {
    const IdColumns columns = LockColumns(&look);
    CheckExcluded(look, columns);
    Check(look, columns);
    statements = Statements(look, columns, true);
    if (statements == NIL)
      ReportNothingLeft(look, columns.all[0]);
    else
      NoticeWarnings(look, columns, false);
  };
  if (conversion.dry_run) {
    foresee();
    Return(result, statements);
    return;
  }
  if (ErrorData *error = Looked(foresee)) ReThrowError(error);
  if (statements == NIL) return;
  const IdColumns columns = LockColumns(&conversion);
  Check(conversion, columns);
  statements = Statements(conversion, columns, true);
  Return(result, statements);
  ExecuteChecked(conversion, columns, statements);
}

// Texts with constants are compared with those that another session has made. The queries of the
// catalogs are estimated far too high.
void PinTexts() {
  PinSettings();
  SetForLevel("TimeZone", "UTC");
  SetForLevel("lc_monetary", "C");
  SetForLevel("jit", "off");
}

// What an online conversion needs, for the call that returns its statements and for its switch.
// Nothing that users have written is parsed, planned or executed before the rights are known.
// Texts are pinned from here on.
IdColumns CheckedOnline(Conversion *conversion, bool abandon) {
  FindNextval(conversion);
  conversion->online = true;
  const IdColumns columns = LockColumns(conversion);
  CheckSession(conversion->owner, psprintf("table %s", columns.all[0].table_sql));
  CheckExcluded(*conversion, columns);
  if (!abandon) Check(*conversion, columns);
  PinTexts();
  return columns;
}

// Executes nothing.
void ConvertOnline(Conversion conversion, bool abandon, ReturnSetInfo *result) {
  const IdColumns columns = CheckedOnline(&conversion, abandon);
  List *statements = abandon ? AbandonSteps(conversion, columns)
                             : OnlineSteps(conversion, columns, DefaultsOf(conversion, columns),
                                           StatementsOfSequences(conversion, columns));
  if (statements == NIL && abandon)
    ereport(NOTICE, (errmsg("no online conversion of %s has begun, or it has ended", columns.all[0].described)));
  else if (statements == NIL)
    ReportNothingLeft(conversion, columns.all[0]);
  Return(result, statements);
  if (statements != NIL && !abandon && !OnlineHasBegun(conversion, columns)) NoticeWarnings(conversion, columns, true);
}

// The first two arguments. A conversion that executes nothing locks as a dry run does.
Conversion ConversionOf(FunctionCallInfo fcinfo, bool dry_run) {
  Conversion conversion = {};
  conversion.extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  conversion.dry_run = dry_run;
  conversion.table = PG_GETARG_OID(0);
  conversion.column = NameStr(*PG_GETARG_NAME(1));
  conversion.budget = "";
  return conversion;
}

}  // namespace

const char *TargetOf(const char *target) {
  if (strcmp(target, "ids") == 0 || strcmp(target, "bigint") == 0) return target;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid target \"%s\" of a conversion", target),
                  errdetail("A column is converted to \"ids\", or only widened to \"bigint\"."),
                  errhint("Write target => 'ids' or target => 'bigint'.")));
}

SNOWFLAKE_FUNCTION(snowflake_convert) {
  CheckNotNull(fcinfo, "snowflake_convert",
               {"relation", "column_name", "dry_run", "online", "abandon", "target", "max_wait", "give_up_after",
                "exclude", "keep_sequence"});
  const bool dry_run = PG_GETARG_BOOL(2), online = PG_GETARG_BOOL(3), abandon = PG_GETARG_BOOL(4);
  if (abandon && !online)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("abandon needs online => true"),
                    errdetail("Only an online conversion can be abandoned; another one is one transaction.")));
  const Attempts attempts = BeginAttempts(fcinfo, 6, 7);
  if (!online && !AreUsual(attempts))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("max_wait and give_up_after need online => true"),
                    errhint("For a conversion in one transaction, set lock_timeout.")));
  if (!dry_run && !online) CheckMayChange("snowflake_convert");
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  ReturnSetInfo *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
  SPI_connect();
  Conversion conversion = ConversionOf(fcinfo, dry_run || online);
  conversion.target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(5)));
  conversion.budget = ArgumentsOf(attempts);
  conversion.excluded = TablesOf(PG_GETARG_DATUM(8));
  conversion.keep_sequence = PG_GETARG_BOOL(9) && !OnlyWidens(conversion);
  if (online)
    ConvertOnline(conversion, abandon, result);
  else
    Convert(conversion, result);
  SPI_finish();
  return Datum{0};
}

SNOWFLAKE_FUNCTION(snowflake_convert_warnings) {
  CheckNotNull(fcinfo, "snowflake_convert_warnings", {"relation", "column_name", "online", "target"});
  InitMaterializedSRF(fcinfo, 0);
  SPI_connect();
  Conversion conversion = ConversionOf(fcinfo, true);
  conversion.target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(3)));
  FindNextval(&conversion);
  const IdColumns columns = LockColumns(&conversion);
  if (List *refusals = RefusalsOfTables(conversion, columns)) Refuse(conversion, columns, refusals);
  ReturnWarnings(fcinfo, conversion, columns, PG_GETARG_BOOL(2));
  SPI_finish();
  return Datum{0};
}

SNOWFLAKE_FUNCTION(snowflake_check_switch) {
  CheckNotNull(fcinfo, "snowflake_check_switch", {"relation", "column_name", "target", "keep_sequence", "checksum"});
  SPI_connect();
  Conversion conversion = ConversionOf(fcinfo, true);
  conversion.target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(2)));
  conversion.keep_sequence = PG_GETARG_BOOL(3);
  conversion.is_switch = true;
  const IdColumns columns = CheckedOnline(&conversion, false);
  CheckSwitch(conversion, columns, DefaultsOf(conversion, columns), text_to_cstring(PG_GETARG_TEXT_PP(4)));
  SPI_finish();
  PG_RETURN_VOID();
}

}  // namespace snowflake
