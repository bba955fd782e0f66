// The steps before the switch of an online conversion, and the way back.
#include "convert/online.h"

#include "convert/attempts.h"
#include "convert/expressions.h"
#include "convert/made.h"
#include "convert/queries.h"
#include "convert/switch.h"
#include "pg/execution.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// One script of them.
const char *ScriptOf(List *statements) {
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

struct IndexToBuild {
  Oid relation;
  const char *table_sql, *unique, *new_sql, *qualified_sql, *method, *keys, *rest, *expressions, *predicate;

  static IndexToBuild Read(const Row &row) {
    return {row.Object("relation"),    row.Text("table_sql"), row.Text("unique"), row.Text("new_sql"),
            row.Text("qualified_sql"), row.Text("method"),    row.Text("keys"),   row.Text("rest"),
            row.Text("expressions"),   row.Text("predicate")};
  }
};

const char *KeysOf(const IdColumns &columns, const IndexToBuild &index) {
  StringInfoData keys;
  initStringInfo(&keys);
  List *expressions = index.expressions != nullptr ? castNode(List, stringToNode(index.expressions)) : NIL;
  int next = 0;
  for (const char *c = index.keys; *c != '\0'; ++c) {
    if (*c == '\x01')
      appendStringInfoString(&keys,
                             OnNewColumns(columns, index.relation, static_cast<Node *>(list_nth(expressions, next++))));
    else
      appendStringInfoChar(&keys, *c);
  }
  return keys.data;
}

const char *PredicateOf(const IdColumns &columns, const IndexToBuild &index) {
  if (index.predicate == nullptr) return "";
  return psprintf(" WHERE %s",
                  OnNewColumns(columns, index.relation, static_cast<Node *>(stringToNode(index.predicate))));
}

// CREATE INDEX CONCURRENTLY runs in no function, so the session's settings decide what its text
// means. Expressions must not depend on them: snowflake_try() parses these, and REINDEX builds what
// it has parsed.
List *IndexSteps(const Extension &extension, const IdColumns &columns, const Made &made) {
  List *steps = NIL;
  for (const IndexToBuild &index :
       Read<IndexToBuild>(kIndexesToBuild, columns.narrow.tables, columns.narrow.numbers, made.indexes)) {
    char *create =
        psprintf("CREATE %sINDEX CONCURRENTLY %s ON %s USING %s (%s)%s%s", index.unique, index.new_sql, index.table_sql,
                 index.method, KeysOf(columns, index), index.rest, PredicateOf(columns, index));
    if (index.expressions == nullptr && index.predicate == nullptr) {
      steps = lappend(steps, psprintf("%s;", create));
    } else {
      steps = lappend(steps, Attempt(extension, create));
      steps = lappend(steps, psprintf("REINDEX INDEX CONCURRENTLY %s;", index.qualified_sql));
    }
  }
  return steps;
}

struct ConstraintToAdd {
  Oid relation;
  const char *table_sql, *new_sql, *definition, *expression;
  bool add, validate;

  static ConstraintToAdd Read(const Row &row) {
    return {row.Object("relation"), row.Text("table_sql"), row.Text("new_sql"), row.Text("definition"),
            row.Text("expression"), row.Flag("add"),       row.Flag("validate")};
  }
};

// A constraint is added for a moment, and validated while others write.
List *ConstraintSteps(const Extension &extension, const IdColumns &columns, const Made &made, const QueryParts &query) {
  List *steps = NIL;
  for (const ConstraintToAdd &constraint :
       Read<ConstraintToAdd>(query, columns.narrow.tables, columns.narrow.numbers, made.checks, made.indexes)) {
    const char *check = "";
    if (constraint.expression != nullptr)
      check = psprintf("CHECK (%s)", OnNewColumns(columns, constraint.relation,
                                                  static_cast<Node *>(stringToNode(constraint.expression))));
    if (constraint.add)
      steps = lappend(
          steps, Attempt(extension, psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s%s NOT VALID", constraint.table_sql,
                                             constraint.new_sql, check, constraint.definition)));
    if (constraint.validate)
      steps = lappend(steps, Attempt(extension, psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", constraint.table_sql,
                                                         constraint.new_sql)));
  }
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
  List *steps = attempts(kAdd, TextValue(extension.follow));
  steps = list_concat(steps, attempts(kDropGone, made.checks, made.indexes));
  steps = list_concat(steps, query(kDropGoneIndexes, made.checks, made.indexes));
  steps = list_concat(steps, query(kFill, TextValue(extension.fill)));
  steps = list_concat(steps, attempts(kValidate));
  steps = list_concat(steps, IndexSteps(extension, columns, made));
  steps = list_concat(steps, ConstraintSteps(extension, columns, made, kChecks));
  return list_concat(steps, ConstraintSteps(extension, columns, made, kForeignKeys));
}

const char *SwitchText(const IdColumns &columns, List *defaults) {
  return ScriptOf(SwitchStatements(columns, list_copy(defaults)));
}

char *ChecksumOf(const char *statements) {
  return TextDatumGetCString(DirectFunctionCall1Coll(md5_text, C_COLLATION_OID, CStringGetTextDatum(statements)));
}

// The check, locks, the check again, and the statements that it has checked. The first check finds
// out whether the switch is due before anybody has to wait, and leaves plans to the second.
char *Switch(const Extension &extension, const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const char *text = SwitchText(columns, defaults);
  const char *check = psprintf("SELECT %s(%s::regclass, %s::name, %s::text, '%s'::text);", extension.check,
                               quote_literal_cstr(columns.all[0].table_sql), quote_literal_cstr(conversion.column),
                               quote_literal_cstr(conversion.target), ChecksumOf(text));
  StringInfoData tables;
  initStringInfo(&tables);
  ListCell *cell = nullptr;
  foreach (cell, TablesOfSwitch(columns))
    appendStringInfo(&tables, "%s%s", tables.len > 0 ? ", " : "", static_cast<const char *>(lfirst(cell)));
  return Attempt(extension, psprintf("%s\nLOCK TABLE %s;\n%s\n%s", check, tables.data, check, text));
}

List *WhatToAbandon(const Conversion &conversion, const IdColumns &columns) {
  return Texts(kAbandon, columns.narrow.tables, columns.narrow.numbers, Follow(conversion), FindTies(columns));
}

// --- What is refused ---

struct Touched {
  Oid table;

  static Touched Read(const Row &row) { return {row.Object("objid")}; }
};

// What belongs to other roles, or is where the owner may not create.
List *RightsLacking(const IdColumns &columns) {
  const ColumnSet &narrow = columns.narrow;
  List *lines = NIL;
  if (superuser()) {
    List *touched = NIL;
    for (const Touched &each : Read<Touched>(kTouchedRelations, narrow.tables, narrow.numbers, columns.tables))
      touched = lappend_oid(touched, each.table);
    lines = CodeOfOthers(OidsValue(touched));
  }
  lines = list_concat(lines, Texts(kForeignOwners, narrow.tables, narrow.numbers, columns.tables));
  return list_concat(lines, Texts(kSchemas, narrow.tables, narrow.numbers));
}

List *Obstacles(const Conversion &conversion, const IdColumns &columns) {
  const ColumnSet &narrow = columns.narrow;
  const Value ties = FindTies(columns);
  List *lines = Texts(kObstacles, narrow.tables, narrow.numbers, Follow(conversion), ties);
  lines =
      list_concat(lines, Texts(kNotCarried, narrow.tables, narrow.numbers, columns.keep.tables, columns.keep.numbers));
  lines = list_concat(lines, OperatorClasses(columns, true));
  return list_concat(lines, OthersMayCreate(columns));
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
  if (columns.narrow_count == 0) return defaults == NIL ? NIL : list_make1(Attempt(extension, ScriptOf(defaults)));
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
