// The steps before the switch of an online conversion, and the way back.
#include "convert/online.h"

#include "convert/attempts.h"
#include "convert/made.h"
#include "convert/qualified.h"
#include "convert/queries.h"
#include "convert/switch.h"
#include "pg/execution.h"
#include "pg/report.h"

namespace snowflake {
namespace {
const char *Joined(List *statements) {
  StringInfoData all;
  initStringInfo(&all);
  ListCell *cell = nullptr;
  foreach (cell, statements) {
    const char *statement = static_cast<const char *>(lfirst(cell));
    const size_t length = strlen(statement);
    const int kept = static_cast<int>(length > 0 && statement[length - 1] == ';' ? length - 1 : length);
    appendStringInfo(&all, "%s%.*s", all.len > 0 ? ";\n" : "", kept, statement);
  }
  return all.data;
}

const char *Quoted(const char *statements) {
  if (strstr(statements, "$try$") != nullptr) return quote_literal_cstr(statements);
  return psprintf("$try$\n%s\n$try$", statements);
}

struct Extension {
  const char *attempt, *fill, *follow, *check;
};

Extension FunctionsOf(const Conversion &conversion) {
  const auto name = [&](const char *function, int16_t arguments) {
    return FindFunction(conversion.extension, function, arguments).name_sql;
  };
  return {name("snowflake_try", 1), name("snowflake_fill", 2), name("snowflake_follow", 0),
          name("snowflake_check_switch", 4)};
}

Value Follow(const Conversion &conversion) {
  return OidValue(FindFunction(conversion.extension, "snowflake_follow", 0).oid);
}

char *Attempt(const Extension &extension, const char *statements) {
  return psprintf("CALL %s(%s::pg_catalog.text);", extension.attempt, Quoted(statements));
}

List *Attempts(const Extension &extension, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) lfirst(cell) = Attempt(extension, static_cast<const char *>(lfirst(cell)));
  return statements;
}

bool IsTrue(const char *boolean) { return boolean != nullptr && boolean[0] == 't'; }

struct IndexToBuild {
  const char *relation, *table_sql, *unique, *new_sql, *method, *keys, *rest, *expressions, *predicate;
};

// CheckOnline() has found out that it can be written.
const char *Qualified(const IdColumns &columns, const IndexToBuild &index, Node *expression) {
  const char *part = nullptr;
  const char *sql = QualifiedSql(columns, OidOf(index.relation), expression, &part);
  if (sql == nullptr) elog(ERROR, "an expression of index %s contains %s", index.new_sql, part);
  return sql;
}

const char *KeysOf(const IdColumns &columns, const IndexToBuild &index) {
  StringInfoData keys;
  initStringInfo(&keys);
  List *expressions = index.expressions != nullptr ? castNode(List, stringToNode(index.expressions)) : NIL;
  int next = 0;
  for (const char *c = index.keys; *c != '\0'; ++c) {
    if (*c == '\x01')
      appendStringInfoString(&keys, Qualified(columns, index, static_cast<Node *>(list_nth(expressions, next++))));
    else
      appendStringInfoChar(&keys, *c);
  }
  return keys.data;
}

const char *PredicateOf(const IdColumns &columns, const IndexToBuild &index) {
  if (index.predicate == nullptr) return "";
  return psprintf(" WHERE %s", Qualified(columns, index, static_cast<Node *>(stringToNode(index.predicate))));
}

List *IndexSteps(const IdColumns &columns, const Made &made) {
  List *steps = NIL;
  Query(kIndexesToBuild, columns.narrow.tables, columns.narrow.numbers, made.indexes);
  ForEachRow<IndexToBuild>([&](const IndexToBuild &index) {
    steps = lappend(steps, psprintf("CREATE %sINDEX CONCURRENTLY %s ON %s USING %s (%s)%s%s;", index.unique,
                                    index.new_sql, index.table_sql, index.method, KeysOf(columns, index), index.rest,
                                    PredicateOf(columns, index)));
  });
  return steps;
}

struct ConstraintToAdd {
  const char *table_sql, *new_sql, *definition, *add, *validate, *relation, *expression;
};

// A constraint is added for a moment, and validated while others write.
List *ConstraintSteps(const Extension &extension, const IdColumns &columns) {
  List *steps = NIL;
  ForEachRow<ConstraintToAdd>([&](const ConstraintToAdd &constraint) {
    const char *check = "";
    if (constraint.expression != nullptr)
      check = psprintf("CHECK (%s)", OnNewColumns(columns, OidOf(constraint.relation),
                                                  static_cast<Node *>(stringToNode(constraint.expression))));
    if (IsTrue(constraint.add))
      steps = lappend(
          steps, Attempt(extension, psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s%s NOT VALID", constraint.table_sql,
                                             constraint.new_sql, check, constraint.definition)));
    if (IsTrue(constraint.validate))
      steps = lappend(steps, Attempt(extension, psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", constraint.table_sql,
                                                         constraint.new_sql)));
  });
  return steps;
}

// Those up to the switch, without ANALYZE, which leaves nothing that could be found.
List *StepsBefore(const Extension &extension, const IdColumns &columns) {
  const Made made = FindMade(columns);
  const auto query = [&](const QueryParts &parts, auto... more) {
    return Texts(parts, columns.narrow.tables, columns.narrow.numbers, more...);
  };
  const auto attempts = [&](const QueryParts &parts, auto... more) {
    return Attempts(extension, query(parts, more...));
  };
  const auto constraints = [&](const QueryParts &parts) {
    query(parts, made.checks, made.indexes);
    return ConstraintSteps(extension, columns);
  };
  List *steps = attempts(kAdd, TextValue(extension.follow));
  steps = list_concat(steps, attempts(kDropGone, made.checks, made.indexes));
  steps = list_concat(steps, query(kDropGoneIndexes, made.checks, made.indexes));
  steps = list_concat(steps, query(kFill, TextValue(extension.fill)));
  steps = list_concat(steps, attempts(kValidate));
  steps = list_concat(steps, IndexSteps(columns, made));
  steps = list_concat(steps, constraints(kChecks));
  return list_concat(steps, constraints(kForeignKeys));
}

const char *SwitchText(const IdColumns &columns, List *defaults) {
  return Joined(SwitchStatements(columns, list_copy(defaults)));
}

char *ChecksumOf(const char *statements) {
  return TextDatumGetCString(DirectFunctionCall1Coll(md5_text, C_COLLATION_OID, CStringGetTextDatum(statements)));
}

// Locks, the check, and the statements that it has checked.
char *Switch(const Extension &extension, const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const char *text = SwitchText(columns, defaults);
  StringInfoData tables;
  initStringInfo(&tables);
  ListCell *cell = nullptr;
  foreach (cell, TablesOfSwitch(columns))
    appendStringInfo(&tables, "%s%s", tables.len > 0 ? ", " : "", static_cast<const char *>(lfirst(cell)));
  return Attempt(extension, psprintf("LOCK TABLE %s;\nSELECT %s(%s::regclass, %s::name, %s::text, '%s'::text);\n%s",
                                     tables.data, extension.check, quote_literal_cstr(columns.all[0].table_sql),
                                     quote_literal_cstr(conversion.column), quote_literal_cstr(conversion.target),
                                     ChecksumOf(text), text));
}

List *WhatToAbandon(const Conversion &conversion, const IdColumns &columns) {
  return Texts(kAbandon, columns.narrow.tables, columns.narrow.numbers, Follow(conversion), FindTies(columns));
}

// --- What is refused ---

// Lines for the indexes whose expressions cannot be written for any search_path.
List *Expressions(const IdColumns &columns) {
  List *lines = NIL;
  Query(kExpressions, columns.narrow.tables, columns.narrow.numbers);
  for (int64_t row = 0; row < Rows(); ++row) {
    const char *expressions = Text(row, 3), *predicate = Text(row, 4), *part = nullptr;
    List *nodes = expressions != nullptr ? castNode(List, stringToNode(expressions)) : NIL;
    if (predicate != nullptr) nodes = lappend(nodes, stringToNode(predicate));
    ListCell *cell = nullptr;
    foreach (cell, nodes)
      if (part == nullptr) QualifiedSql(columns, OidField(row, 1), static_cast<Node *>(lfirst(cell)), &part);
    if (part != nullptr)
      lines =
          lappend(lines, psprintf("%s contains %s, which cannot be written for every search_path", Text(row, 2), part));
  }
  return lines;
}

// What belongs to other roles, or is where the owner may not create.
List *RightsLacking(const IdColumns &columns) {
  const ColumnSet &narrow = columns.narrow;
  Query(kTouchedRelations, narrow.tables, narrow.numbers, columns.tables);
  List *touched = NIL;
  for (int64_t row = 0; row < Rows(); ++row) touched = lappend_oid(touched, OidField(row, 1));
  List *lines = CodeOfOthers(OidsValue(touched));
  lines = list_concat(lines, Texts(kForeignOwners, narrow.tables, narrow.numbers, columns.tables));
  return list_concat(lines, Texts(kSchemas, narrow.tables, narrow.numbers));
}

List *Obstacles(const Conversion &conversion, const IdColumns &columns) {
  const ColumnSet &narrow = columns.narrow;
  const Value ties = FindTies(columns);
  List *lines = Texts(kObstacles, narrow.tables, narrow.numbers, Follow(conversion), ties);
  lines =
      list_concat(lines, Texts(kNotCarried, narrow.tables, narrow.numbers, columns.keep.tables, columns.keep.numbers));
  lines = list_concat(lines, Texts(kOthersMayCreate, narrow.tables, narrow.numbers));
  return list_concat(lines, Expressions(columns));
}

}  // namespace

void CheckOnline(const Conversion &conversion, const IdColumns &columns, MayConvert may_directly) {
  List *rights = RightsLacking(columns);
  List *obstacles = Obstacles(conversion, columns);
  List *of_rows = Texts(kRowTypes, columns.narrow.tables, columns.narrow.numbers);
  const bool rows_used = of_rows != NIL;
  obstacles = list_concat(obstacles, of_rows);
  if (rights == NIL && obstacles == NIL) return;
  const bool direct = !rows_used && !columns.of_others && may_directly(conversion, columns);
  const char *to_do = rights == NIL      ? "Drop these objects, convert, and create them again"
                      : obstacles == NIL ? "Give these objects the owner of the tables, and the owner these rights"
                                         : "Change these owners and rights, drop the other objects, convert, and "
                                           "create them again";
  ereport(ERROR,
          (errcode(rights != NIL ? ERRCODE_INSUFFICIENT_PRIVILEGE : ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("cannot convert these columns online"), errdetail("%s", Listed(list_concat(rights, obstacles))),
           errhint("%s%s.", to_do, direct ? ", or convert without online" : "")));
}

List *OnlineSteps(const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const Extension extension = FunctionsOf(conversion);
  if (columns.narrow_count == 0) return defaults == NIL ? NIL : list_make1(Attempt(extension, Joined(defaults)));
  List *steps = StepsBefore(extension, columns);
  steps = list_concat(steps, Texts(kAnalyze, columns.narrow.tables, columns.narrow.numbers));
  return lappend(steps, Switch(extension, conversion, columns, defaults));
}

bool OnlineHasBegun(const Conversion &conversion, const IdColumns &columns) {
  return columns.narrow_count > 0 && WhatToAbandon(conversion, columns) != NIL;
}

List *AbandonSteps(const Conversion &conversion, const IdColumns &columns) {
  return Attempts(FunctionsOf(conversion), WhatToAbandon(conversion, columns));
}

void CheckSwitch(const Conversion &conversion, const IdColumns &columns, List *defaults, const char *checksum) {
  if (columns.narrow_count > 0 && StepsBefore(FunctionsOf(conversion), columns) == NIL &&
      strcmp(ChecksumOf(SwitchText(columns, defaults)), checksum) == 0)
    return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the switch of %s is not due", columns.all[0].described),
           errdetail("A step before it has not been done, or its tables have changed since the statements were made."),
           errhint("Call snowflake_convert() with online => true again, and run the statements that it returns.")));
}

}  // namespace snowflake
