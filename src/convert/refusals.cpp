// A rule is a query of queries/ whose rows have the columns `line` and `to_do`, or a function here.
#include "convert/refusals.h"

#include "convert/attempts.h"
#include "convert/bounds.h"
#include "convert/not_valid.h"
#include "convert/online.h"
#include "convert/queries.h"
#include "pg/report.h"

namespace snowflake {
namespace {
struct Found {
  char *line, *to_do;

  static Found Read(const Row &row) { return row.As<Found>("line", "to_do"); }
};

int CompareRefusals(const ListCell *a, const ListCell *b) {
  return strcmp(static_cast<const Refusal *>(lfirst(a))->line, static_cast<const Refusal *>(lfirst(b))->line);
}

template <typename Query, typename... Values>
List *AddFound(List *refusals, int code, const Query &query, Values... values) {
  for (const Found &found : Read<Found>(query, values...))
    refusals = AddRefusal(refusals, found.line, found.to_do, code);
  return refusals;
}

// --- Columns and tables ---

List *AddColumn(List *refusals, const IdColumn &column, bool first, bool online) {
  const auto refuse = [&](const char *reason, const char *to_do) {
    refusals = AddRefusal(refusals, psprintf("%s %s", column.described, reason), to_do);
  };
  if (first && !column.root)
    refuse(psprintf("is inherited from %s", column.roots),
           psprintf("Convert it in %s; the inherited one changes with it.", column.roots));
  // Online, triggers fill the new column before a generated one is computed.
  if (column.generated && (column.own || (online && column.narrow)))
    refuse("is a generated column",
           "Make generated columns plain ones first: ALTER TABLE ... ALTER COLUMN ... DROP "
           "EXPRESSION.");
  if (column.narrow && column.root_count > 1)
    refuse(psprintf("is inherited from %s, and its type cannot be changed in all of them at once", column.roots),
           "Let tables inherit the column from one table only: ALTER TABLE ... NO INHERIT.");
  if (column.narrow && column.typed_table)
    refuse("is in a typed table", "Make typed tables plain ones first: ALTER TABLE ... NOT OF.");
  if (column.own && !IsInteger(column.type))
    refuse(psprintf("is of type %s; ids are bigint", column.type_name),
           "Only columns of type smallint, integer or bigint can be converted.");
  // For a column that refers, snowflake_id and domains are wide enough.
  if (!column.own && !IsInteger(column.type) && !IsBinaryCoercible(column.type, INT8OID))
    refuse(psprintf("refers to the converted column and is of type %s; ids are bigint", column.type_name),
           "Only columns of type smallint, integer or bigint can be widened. Change other types first.");
  return refusals;
}

List *AddTable(List *refusals, const FoundTable &table) {
  constexpr const char *kApart = "Detach tables that inherit, and drop foreign keys, before the conversion.";
  const auto refuse = [&](const char *reason, const char *to_do) {
    refusals = AddRefusal(refusals, psprintf("%s %s", table.described, reason), to_do);
  };
  if (table.detached != nullptr)
    refuse("is being detached: DETACH PARTITION ... CONCURRENTLY was interrupted", table.detached);
  if (table.lacking != nullptr)
    refusals =
        AddRefusal(refusals, psprintf("%s belongs to %s, who %s", table.described, table.owner_name, table.lacking),
                   psprintf("Run %s.", table.grants), ERRCODE_INSUFFICIENT_PRIVILEGE);
  if (!table.named && table.kind == RELKIND_FOREIGN_TABLE) refuse("is on another server", kApart);
  if (!table.named && table.extension != nullptr)
    refuse(psprintf("belongs to the extension \"%s\", which alone should change it", table.extension), kApart);
  return refusals;
}

// --- Rights ---

// What belongs to other roles, or is where the owner may not create.
List *AddOnlineRights(List *refusals, const IdColumns &columns) {
  const ColumnSet &narrow = columns.narrow;
  List *lines = NIL;
  if (superuser()) lines = CodeOfOthers(OidsValue(Oids(kTouchedRelations, narrow, columns.tables)));
  lines = list_concat(lines, Texts(kForeignOwners, narrow, columns.tables));
  lines = list_concat(lines, Texts(kSchemas, narrow));
  for (const char *line : Each<char *>(lines))
    refusals = AddRefusal(refusals, line, "Give these objects the owner of the tables, and the owner these rights.",
                          ERRCODE_INSUFFICIENT_PRIVILEGE);
  return refusals;
}

// In one step, code that is attached to one table would run with the rights of the other's owner.
List *AddOwners(List *refusals, const Conversion &conversion, const IdColumns &columns) {
  for (const FoundLock &lock : FindLocks(conversion, columns))
    if (lock.of_other != nullptr)
      refusals = AddRefusal(refusals, lock.of_other,
                            "Detach tables of other owners or drop the foreign keys first, or give all tables the "
                            "same owner with ALTER TABLE ... OWNER TO.",
                            ERRCODE_INSUFFICIENT_PRIVILEGE);
  return refusals;
}

// --- Rules in the catalogs ---

struct Rule {
  const QueryParts &query;
  bool in_one_step, online;
  int code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
};

// The queries' parameters: the narrow columns ($1, $2), whether online ($3), those that keep their
// defaults ($4, $5), the function of the conversion's triggers ($6).
constexpr Rule kRules[] = {{kObjectsOnNarrow, true, false},
                           {kObstacles, false, true},
                           {kNotCarried, false, true},
                           {kRowTypes, true, true},
                           {kOthersMayCreate, true, true},
                           {kOperatorClasses, true, true},
                           {kMadeAgain, true, false},
                           {kOwnChecks, true, false},
                           {kRevoked, true, true, ERRCODE_INSUFFICIENT_PRIVILEGE}};

List *AddRules(List *refusals, const Conversion &conversion, const IdColumns &columns) {
  if (columns.narrow_count == 0) return refusals;
  const bool online = conversion.online;
  const Value follow = online ? Follow(conversion) : OidValue(InvalidOid);
  for (const Rule &rule : kRules)
    if (online ? rule.online : rule.in_one_step)
      refusals = AddFound(refusals, rule.code, rule.query, columns.narrow, Bool(online), columns.keep, follow);
  return refusals;
}

List *AddSequences(List *refusals, const Conversion &conversion, const IdColumns &columns, const ColumnSet &together,
                   int64_t least) {
  const Function convert = FindFunction(conversion.extension, "snowflake_convert", kArgumentsOfConvert);
  return AddFound(refusals, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kOtherUsers, columns.own, together,
                  TextValue(convert.name_sql), TextValue(kUsualArgumentsOfConvert), Bool(conversion.keep_sequence),
                  Of(INT8OID, Int64GetDatum(least)));
}

// What only a conversion in one step stops at. The settings are those of the session, not pinned.
List *AddOfOneStep(List *refusals, const Conversion &conversion, const IdColumns &columns) {
  if (OnlineHasBegun(conversion, columns))
    refusals = AddRefusal(refusals, psprintf("an online conversion of %s has begun", columns.all[0].described),
                          "Call snowflake_convert() with online => true, and run the statements that it returns. With "
                          "abandon => true they undo that conversion.");
  refusals = AddFound(refusals, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kTextSettingsText, columns.narrow);
  if (const char *of_partition = FindNotNulls(columns).of_partition)
    refusals = AddRefusal(
        refusals, psprintf("%s has its own NOT NULL constraint besides the inherited one", of_partition),
        "Detach partitions with their own NOT NULL constraints and attach them again; they then have only the "
        "inherited ones.");
  return refusals;
}

// --- Rows ---

List *AddViolated(List *refusals, const IdColumns &columns) {
  for (const char *line : Each<char *>(FindViolated(columns)))
    refusals = AddRefusal(refusals, line,
                          "Change the rows that violate these constraints first. Or drop the constraints, and add them "
                          "again after the conversion.");
  return refusals;
}

// --- New ids ---

// Reads no rows. What refers to a column fails as surely as the column itself.
List *AddBounds(List *refusals, const Conversion &conversion, const IdColumns &columns, int64_t least) {
  const ColumnSet &set = columns.all[0].issues ? columns.narrow : conversion.is_switch ? columns.own : columns.every;
  for (const Bound &bound : Each<Bound>(FindBounds(set, least))) {
    if (!bound.whole || list_member_oid(conversion.excluded, bound.table)) continue;
    const bool refers = bound.table != conversion.table;
    refusals = AddRefusal(refusals, bound.detail,
                          refers ? psprintf("%s Or name the referring table in exclude: its column becomes bigint, and "
                                            "takes no new ids.",
                                            bound.hint)
                                 : bound.hint);
  }
  return refusals;
}

// Reads the table, which plans with the expressions of its owner.
List *AddLargestId(List *refusals, const Conversion &conversion, const IdColumn &column, int64_t least) {
  int64_t largest = 0;
  bool is_null = false;
  ErrorData *error = Attempted([&] {
    AsTableOwner(conversion, [&] {
      RunQuery(psprintf("SELECT max(%s)::pg_catalog.int8 FROM %s", column.name_sql, column.table_sql), Parameters());
      largest = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
      SPI_freetuptable(SPI_tuptable);
    });
  });
  if (error != nullptr && error->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE) ReThrowError(error);
  if (error != nullptr)
    return AddRefusal(refusals,
                      psprintf("%s cannot be read by its table's owner: %s", column.described, error->message),
                      "Let the owners of tables read all of their rows: check rights and row security.",
                      ERRCODE_INSUFFICIENT_PRIVILEGE);
  if (is_null || largest < least) return refusals;
  return AddRefusal(
      refusals,
      psprintf("%s has ids that are larger than new ids: its largest id is %lld; new ids begin at %lld",
               column.described, Long(largest), Long(least)),
      "Give rows with such ids smaller ones first, or use a layout with an earlier epoch, whose ids are larger.");
}

}  // namespace

List *AddRefusal(List *refusals, const char *line, const char *to_do, int code) {
  if (line == nullptr) return refusals;
  return lappend(refusals, CopyOf(Refusal{line, to_do, code}));
}

List *RefusalsOfTables(const Conversion &conversion, const IdColumns &columns) {
  List *refusals = NIL;
  for (const FoundTable &table : FindTables(conversion, columns)) {
    refusals = AddTable(refusals, table);
    if (!table.own && (table.named || !conversion.online))
      refusals =
          AddRefusal(refusals, psprintf("must be owner of %s", table.described),
                     "Call the function as a role that owns all tables that change.", ERRCODE_INSUFFICIENT_PRIVILEGE);
  }
  return conversion.online ? refusals : AddOwners(refusals, conversion, columns);
}

List *FindRefusals(const Conversion &conversion, const IdColumns &columns, const ColumnSet &together) {
  List *refusals = RefusalsOfTables(conversion, columns);
  for (const IdColumn &column : columns)
    refusals = AddColumn(refusals, column, &column == columns.all, conversion.online);
  refusals = conversion.online ? AddOnlineRights(refusals, columns) : AddOfOneStep(refusals, conversion, columns);
  refusals = AddRules(refusals, conversion, columns);
  // At the switch, the rows are filled.
  if (conversion.online && !conversion.is_switch && CodeOf(refusals) != ERRCODE_INSUFFICIENT_PRIVILEGE)
    refusals = AddViolated(refusals, columns);
  if (!OnlyWidens(conversion)) {
    const IdColumn &column = columns.all[0];
    const int64_t least = LeastNewId();
    refusals = AddFound(refusals, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kElsewhere, columns.own);
    refusals = AddSequences(refusals, conversion, columns, together, least);
    refusals = AddBounds(refusals, conversion, columns, least);
    // So an online switch reads no table. Ids that snowflake issued may even be of the next tick.
    const bool may_be_larger = !column.issues && (column.type == INT8OID || least <= PG_INT32_MAX);
    if (may_be_larger && IsInteger(column.type) && CodeOf(refusals) != ERRCODE_INSUFFICIENT_PRIVILEGE)
      refusals = AddLargestId(refusals, conversion, column, least);
  }
  list_sort(refusals, CompareRefusals);
  return refusals;
}

bool OtherWayIsOpen(Conversion conversion, const IdColumns &columns) {
  conversion.online = !conversion.online;
  if (conversion.is_switch || columns.narrow_count == 0 || (conversion.online && !IsSessionOf(conversion.owner)))
    return false;
  return FindRefusals(conversion, columns, columns.own) == NIL;
}

List *CopyRefusals(const List *refusals) {
  List *copies = NIL;
  for (const Refusal &refusal : Each<Refusal>(refusals))
    copies = AddRefusal(copies, pstrdup(refusal.line), refusal.to_do != nullptr ? pstrdup(refusal.to_do) : nullptr,
                        refusal.code);
  return copies;
}

int CodeOf(const List *refusals) {
  int code = 0;
  for (const Refusal &each : Each<Refusal>(refusals)) {
    if (each.code == ERRCODE_INSUFFICIENT_PRIVILEGE) return each.code;
    code = code == 0 || code == each.code ? each.code : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
  }
  return code;
}

const char *LinesOf(const List *refusals) {
  List *lines = NIL;
  for (const Refusal &refusal : Each<Refusal>(refusals)) lines = lappend(lines, const_cast<char *>(refusal.line));
  return Listed(lines);
}

const char *WhatToDo(const List *refusals) {
  List *once = NIL;
  StringInfoData all;
  initStringInfo(&all);
  for (const Refusal &refusal : Each<Refusal>(refusals)) {
    if (refusal.to_do == nullptr || list_member(once, makeString(const_cast<char *>(refusal.to_do)))) continue;
    once = lappend(once, makeString(const_cast<char *>(refusal.to_do)));
    appendStringInfo(&all, "%s\n", refusal.to_do);
  }
  return all.data;
}

void Refuse(const Conversion &conversion, const IdColumns &columns, const List *refusals) {
  StringInfoData hint;
  initStringInfo(&hint);
  appendStringInfoString(&hint, WhatToDo(refusals));
  if (OtherWayIsOpen(conversion, columns))
    appendStringInfoString(&hint, conversion.online ? "Or convert without online." : "Or convert with online => true.");
  else if (hint.len > 0)
    hint.data[--hint.len] = '\0';
  ereport(ERROR, (errcode(CodeOf(refusals)),
                  errmsg("cannot convert %s%s", columns.all[0].described, conversion.online ? " online" : ""),
                  errdetail("%s", LinesOf(refusals)), errhint("%s", hint.data)));
}

}  // namespace snowflake
