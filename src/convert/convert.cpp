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
#include "convert/bounds.h"
#include "convert/made.h"
#include "convert/online.h"
#include "convert/query.h"
#include "convert/warnings.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
void CheckColumn(const IdColumn &column, bool first) {
  const auto refuse = [&](int code, const char *detail, const char *hint) {
    CannotConvert(code, column.described, detail, hint);
  };
  if (first && !column.root)
    refuse(ERRCODE_WRONG_OBJECT_TYPE, psprintf("It is inherited from %s.", column.roots),
           psprintf("Convert it in %s; this one changes with it.", column.roots));
  if (column.own && column.generated)
    refuse(ERRCODE_WRONG_OBJECT_TYPE, "It is a generated column.",
           "Make it a plain column first: ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION.");
  if (column.narrow) {
    if (column.root_count > 1)
      refuse(ERRCODE_INVALID_TABLE_DEFINITION,
             psprintf("It is inherited from %s, and its type cannot be changed in all of them at once.", column.roots),
             "Let its table inherit from one of them only: ALTER TABLE ... NO INHERIT.");
    if (column.typed_table)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "Its table is a typed table.",
             "Make it a plain table first: ALTER TABLE ... NOT OF.");
  } else if (column.own && !IsInteger(column.type)) {
    refuse(ERRCODE_DATATYPE_MISMATCH, psprintf("It is of type %s; ids are bigint.", column.type_name),
           "Only columns of type smallint, integer or bigint can be converted.");
  } else if (!column.own && !IsBinaryCoercible(column.type, INT8OID)) {
    // For a column that refers, snowflake_id and domains are wide enough.
    refuse(ERRCODE_DATATYPE_MISMATCH,
           psprintf("It refers to the converted column and is of type %s; ids are bigint.", column.type_name),
           "Only columns of type smallint, integer or bigint can be widened. Change its type first.");
  }
}

// Reads the table, which plans with the expressions of its owner.
void CheckIds(const Conversion &conversion, const IdColumns &columns) {
  const IdColumn &column = columns.all[0];
  if (OnlyWidens(conversion)) return;
  // Ids that snowflake issued may even be of the next tick.
  if (column.issues) return;
  const int64_t smallest = LeastNewId();
  CheckBounds(columns, smallest);
  // So an online switch reads no table.
  if (column.narrow && smallest > PG_INT32_MAX) return;
  int64_t largest = 0;
  if (LargestId(conversion, column, &largest) && largest >= smallest)
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("%s has ids that are larger than new ids", column.described),
         errdetail("Its largest id is %lld; new ids begin at %lld.", Long(largest), Long(smallest)),
         errhint("Give these rows smaller ids first, or use a layout with an earlier epoch, whose ids are larger.")));
}

}  // namespace

void CheckColumns(const Conversion &conversion, const IdColumns &columns) {
  if (columns.count == 0) ReportNoColumn(conversion.table, conversion.column);
  for (int64_t i = 0; i < columns.count; ++i) CheckColumn(columns.all[i], i == 0);
  const Elsewhere *elsewhere = OnlyWidens(conversion) ? nullptr : FindElsewhere(columns);
  if (elsewhere != nullptr)
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  psprintf("It takes its ids from %s through the foreign key \"%s\".", elsewhere->from,
                           elsewhere->foreign_key),
                  psprintf("Convert %s; this one changes with it.", elsewhere->from));
}

void CheckSequences(const Conversion &conversion, const IdColumns &columns, const ColumnSet &together) {
  if (OnlyWidens(conversion)) return;
  if (const char *users = OtherUsersOfSequences(columns, together))
    ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
                    errmsg("cannot drop a sequence that other objects depend on"), errdetail("%s", users),
                    errhint("Convert such columns with snowflake_convert(), or let these objects take their values from "
                            "elsewhere.")));
}

void CheckDirect(const Conversion &conversion, const IdColumns &columns, const NotNulls &not_nulls) {
  CheckIds(conversion, columns);
  if (OnlineHasBegun(conversion, columns))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  "An online conversion of it has begun.",
                  "Call snowflake_convert() with online => true, and run the statements that it returns. With abandon "
                  "=> true they undo that conversion.");
  if (const char *objects = ObjectsOnNarrow(columns))
    ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
                    errmsg("cannot change the type of columns that other objects depend on"), errdetail("%s", objects),
                    errhint("Drop these objects, convert, and create them again.")));
  if (List *used = OthersMayCreate(columns))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described, Listed(used),
                  "Revoke CREATE on these schemas. Or drop what uses these functions and operators, convert, and "
                  "create it again.");
  if (const char *keys = DisabledKeys(columns))
    CannotConvert(
        ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
        psprintf("Triggers of constraints are disabled: %s. Constraints that are made again have them enabled.", keys),
        "Enable them, or drop these constraints first.");
  if (const char *tables = CatalogTables(columns))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  psprintf("PostgreSQL does not rewrite tables with user_catalog_table: %s.", tables),
                  "Run ALTER TABLE ... RESET (user_catalog_table), convert, and set it again.");
  if (const char *indexes = OwnOfPartitions(columns))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  psprintf("PostgreSQL makes indexes of partitions anew, and what they have of their own is lost: %s.",
                           indexes),
                  "Take this from them first, and give it to the new indexes after the conversion.");
  if (const char *checks = OwnChecks(columns))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described,
                  psprintf("A constraint is valid, and the one above it is NOT VALID: %s.", checks),
                  "Validate the one above, or let the table inherit after the conversion.");
  if (List *indexes = OperatorClasses(columns, false))
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, columns.all[0].described, Listed(indexes),
                  "Drop these indexes, convert, and create them again.");
  if (not_nulls.of_partition)
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, not_nulls.of_partition,
                  "It has its own NOT NULL constraint besides the inherited one, so its type cannot be changed.",
                  "Detach the partition and attach it again; it then has only the inherited one.");
  List *changed = NIL;
  AsTableOwner(conversion, [&] { changed = ChangedBySettings(columns); });
  if (changed != NIL)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot convert %s under the settings of this session", columns.all[0].described),
             errdetail("PostgreSQL would make these objects again with other constants: %s", Listed(changed)),
             errhint("Reset DateStyle, extra_float_digits, array_nulls and xmloption in the session, and call again.")));
}

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
    if (actions.len > 0) statements = lappend(statements, psprintf("ALTER TABLE %s %s;", table.table_sql, actions.data));
  }
  return statements;
}

List *Statements(const Conversion &conversion, const IdColumns &columns, const NotNulls &not_nulls, bool types) {
  const bool only_widens = OnlyWidens(conversion);
  // An identity takes no default, and a sequence cannot be dropped while a default uses it.
  List *statements = only_widens ? NIL : IdentityStatements(columns);
  statements = list_concat(statements, not_nulls.apart);
  statements = list_concat(statements, AlterStatements(conversion, columns, types));
  statements = list_concat(statements, not_nulls.together);
  if (types) statements = list_concat(statements, KeptProperties(columns));
  return list_concat(statements, only_widens ? SequenceTypeStatements(columns) : SequenceStatements(columns));
}

namespace {
// What follows the switch of an online conversion: the old column has gone with its identity or
// sequence. A column that was bigint already has them.
List *StatementsAfterSwitch(const Conversion &conversion, const IdColumns &columns) {
  if (columns.all[0].narrow) return AlterStatements(conversion, columns, false);
  return Statements(conversion, columns, {}, false);
}

}  // namespace

void ReportInterference(const IdColumn &column) {
  CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, column.described,
                "A schema was renamed or an event trigger interfered during the conversion.", "Try again.");
}

// Each in a security context of its own, which ends what the statement has set.
void ExecuteStatements(const Conversion &conversion, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) {
    const char *statement = static_cast<const char *>(lfirst(cell));
    AsTableOwner(conversion, [&] {
      const int rc = SPI_execute(statement, false, 0);
      if (rc != SPI_OK_UTILITY) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), statement);
    });
  }
}

List *CheckedStatements(const Conversion &conversion, const IdColumns &columns) {
  const NotNulls not_nulls = FindNotNulls(columns);
  CheckColumns(conversion, columns);
  CheckSequences(conversion, columns, columns.own);
  CheckDirect(conversion, columns, not_nulls);
  return Statements(conversion, columns, not_nulls, true);
}

void ExecuteChecked(const Conversion &conversion, const IdColumns &columns, List *statements) {
  ExecuteStatements(conversion, statements);
  const IdColumns now = FindColumns(conversion);
  if (Statements(conversion, now, FindNotNulls(now), true) != NIL) ReportInterference(columns.all[0]);
}

void Return(ReturnSetInfo *result, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) {
    Datum value = CStringGetTextDatum(static_cast<const char *>(lfirst(cell)));
    bool is_null = false;
    tuplestore_putvalues(result->setResult, result->setDesc, &value, &is_null);
  }
}

namespace {
void ReportNothingLeft(const Conversion &conversion, const IdColumn &column) {
  if (OnlyWidens(conversion))
    ereport(NOTICE, (errmsg("%s and what refers to it are already bigint", column.described)));
  else
    ereport(NOTICE, (errmsg("%s already takes its ids from snowflake_nextval()", column.described)));
}

void Convert(Conversion conversion, ReturnSetInfo *result) {
  FindNextval(&conversion);
  const IdColumns columns = LockColumns(&conversion);
  List *statements = CheckedStatements(conversion, columns);
  if (statements == NIL) ReportNothingLeft(conversion, columns.all[0]);
  Return(result, statements);
  if (conversion.dry_run) {
    if (statements != NIL) NoticeWarnings(conversion, columns, false);
    return;
  }
  ExecuteChecked(conversion, columns, statements);
}

bool MayConvertDirectly(const Conversion &conversion, const IdColumns &columns) {
  return ObjectsOnNarrow(columns) == nullptr && OthersMayCreate(columns) == NIL && DisabledKeys(columns) == nullptr &&
         CatalogTables(columns) == nullptr && OwnOfPartitions(columns) == nullptr && OwnChecks(columns) == nullptr &&
         OperatorClasses(columns, false) == NIL && FindNotNulls(columns).of_partition == nullptr &&
         !OnlineHasBegun(conversion, columns);
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
  const int guc_level = NewGUCNestLevel();
  PinTexts();
  FindNextval(conversion);
  conversion->online = true;
  const IdColumns columns = LockColumns(conversion);
  if (columns.count == 0) ReportNoColumn(conversion->table, conversion->column);
  CheckSession(conversion->owner, psprintf("table %s", columns.all[0].table_sql));
  if (!abandon) {
    CheckColumns(*conversion, columns);
    CheckSequences(*conversion, columns, columns.own);
    CheckOnline(*conversion, columns, MayConvertDirectly);
  }
  AtEOXact_GUC(false, guc_level);
  if (!abandon) CheckIds(*conversion, columns);
  PinTexts();
  return columns;
}

// Executes nothing.
void ConvertOnline(Conversion conversion, bool abandon, ReturnSetInfo *result) {
  const IdColumns columns = CheckedOnline(&conversion, abandon);
  List *statements = abandon ? AbandonSteps(conversion, columns)
                             : OnlineSteps(conversion, columns, StatementsAfterSwitch(conversion, columns));
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
  conversion.target = "ids";
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
  CheckNotNull(fcinfo, "snowflake_convert", {"relation", "column_name", "dry_run", "online", "abandon", "target"});
  const bool dry_run = PG_GETARG_BOOL(2), online = PG_GETARG_BOOL(3), abandon = PG_GETARG_BOOL(4);
  if (abandon && !online)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("abandon needs online => true"),
                    errdetail("Only an online conversion can be abandoned; another one is one transaction.")));
  if (!dry_run && !online) CheckMayChange("snowflake_convert");
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  ReturnSetInfo *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
  SPI_connect();
  Conversion conversion = ConversionOf(fcinfo, dry_run || online);
  conversion.target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(5)));
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
  if (columns.count == 0) ReportNoColumn(conversion.table, conversion.column);
  ReturnWarnings(fcinfo, conversion, columns, PG_GETARG_BOOL(2));
  SPI_finish();
  return Datum{0};
}

SNOWFLAKE_FUNCTION(snowflake_check_switch) {
  CheckNotNull(fcinfo, "snowflake_check_switch", {"relation", "column_name", "target", "checksum"});
  SPI_connect();
  Conversion conversion = ConversionOf(fcinfo, true);
  conversion.target = TargetOf(text_to_cstring(PG_GETARG_TEXT_PP(2)));
  const IdColumns columns = CheckedOnline(&conversion, false);
  CheckSwitch(conversion, columns, StatementsAfterSwitch(conversion, columns), text_to_cstring(PG_GETARG_TEXT_PP(3)));
  SPI_finish();
  PG_RETURN_VOID();
}

}  // namespace snowflake
