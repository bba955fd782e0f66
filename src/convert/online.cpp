// The statements of an online conversion: steps before the switch, the switch, and the way back.
#include "convert/online.h"

#include "convert/attempts.h"
#include "convert/queries.h"
#include "pg/execution.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// --- Expressions on the new columns ---

// nullptr: the column stays as it is.
const IdColumn *NarrowColumn(const IdColumns &columns, Oid table, AttrNumber number) {
  for (const IdColumn &column : columns)
    if (column.narrow && column.table == table && column.number == number) return &column;
  return nullptr;
}

// Expressions of tables have no parameters. So the parameter mark + n can stand for column n.
struct Marking {
  const IdColumns *columns;
  Oid table;
  int mark;
};

Node *MarkColumns(Node *node, void *context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Var)) return MutateTree(node, MarkColumns, context);
  const Marking *marking = static_cast<Marking *>(context);
  const Var *var = castNode(Var, node);
  if (NarrowColumn(*marking->columns, marking->table, var->varattno) == nullptr)
    return static_cast<Node *>(copyObjectImpl(node));
  Param *param = makeNode(Param);
  param->paramkind = PARAM_EXTERN;
  param->paramid = marking->mark + var->varattno;
  param->paramtype = var->vartype;
  param->paramtypmod = var->vartypmod;
  param->paramcollid = var->varcollid;
  param->location = -1;
  return reinterpret_cast<Node *>(param);
}

const char *Replaced(const char *sql, const char *from, const char *to) {
  return TextDatumGetCString(DirectFunctionCall3Coll(replace_text, C_COLLATION_OID, CStringGetTextDatum(sql),
                                                     CStringGetTextDatum(from), CStringGetTextDatum(to)));
}

// PostgreSQL itself writes them, with a mark in the place of each narrow column, for the settings
// of PinSettings(), under which snowflake_try() executes them. The type bigint finds its own
// operators when the text is parsed.
const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table);
  Marking marking = {&columns, table, 100 * 10000};
  // A literal may look like the mark of a column, which has up to four digits.
  const char *before = deparse_expression(expression, context, false, false);
  while (strstr(before, psprintf("$%d", marking.mark / 10000)) != nullptr) marking.mark += 10000;
  const char *sql = deparse_expression(MarkColumns(expression, &marking), context, false, false);
  for (const IdColumn &column : columns)
    if (column.narrow && column.table == table)
      sql = Replaced(sql, psprintf("$%d", marking.mark + column.number), column.new_sql);
  return sql;
}

// --- The switch ---

// LOCK TABLE, in the order of InOrder(), with what stands before each relation and after them all.
const char *LockTable(const char *before, const List *relations, const char *after) {
  StringInfoData locks;
  initStringInfo(&locks);
  for (const ToLock &each : InOrder(OidsValue(relations)))
    appendStringInfo(&locks, "%s%s%s", locks.len > 0 ? ", " : "LOCK TABLE ", before, each.name_sql);
  return psprintf("%s%s", locks.data, after);
}

const char *LocksOfSwitch(const IdColumns &columns) {
  return LockTable("", Oids(kSwitchTables, columns.narrow, columns.own), "");
}

// All of it but the locks, to be executed in one transaction. Every object on an old column goes
// with it, and comes again on the new column under its old name.
//
// 1. What refers to other tables or shows rows is dropped first: foreign keys, views, publications.
// 2. After the columns have changed their names, whatever PostgreSQL can replace by its definition
//    is replaced: triggers and policies. Their comments stay.
// 3. The old column is dropped with its indexes, constraints and statistics.
// 4. The indexes and constraints that the steps before have made get the names that are free now.
List *SwitchStatements(const IdColumns &columns, List *defaults) {
  List *statements = NIL;
  const auto add = [&](const ColumnSet &set, const auto &...queries) {
    ((statements = list_concat(statements, Texts(queries, set))), ...);
  };
  add(columns.narrow, kDropViews, kDropKeys, kUnpublish, kRename, kReplaceTriggers, kReplacePolicies);
  add(columns.keep, kKeepSequences);
  add(columns.narrow, kDropColumns, kNotNull, kDropFilled);
  add(columns.keep, kMakeIdentities, kDefaults);
  statements = list_concat(statements, defaults);
  add(columns.narrow, kNameIndexes, kIndexProperties, kConstraints, kColumnProperties, kStatistics, kMakeViews,
      kTouchFunctions, kPublish);
  return statements;
}

// --- The steps ---

// One script of them.
const char *ScriptOf(List *statements) {
  StringInfoData all;
  initStringInfo(&all);
  for (const char *statement : Each<char *>(statements)) {
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
  const char *attempt, *fill, *follow, *check, *budget;
};

Extension FunctionsOf(const Conversion &conversion) {
  const auto name = [&](const char *function, int16_t arguments) {
    return FindFunction(conversion.extension, function, arguments).name_sql;
  };
  return {name("snowflake_try", 3), name("snowflake_fill", 2), name("snowflake_follow", 0),
          name("snowflake_check_switch", 5), conversion.budget};
}

char *Attempt(const Extension &extension, const char *statements) {
  return psprintf("CALL %s(%s::pg_catalog.text, %s);", extension.attempt, Quoted(statements), extension.budget);
}

List *EachAttempt(const Extension &extension, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) lfirst(cell) = Attempt(extension, ScriptOf(list_make1(lfirst(cell))));
  return statements;
}

struct IndexToBuild {
  Oid relation;
  const char *table_sql, *unique, *new_sql, *qualified_sql, *method, *keys, *rest, *expressions, *predicate, *mark;

  static IndexToBuild Read(const Row &row) {
    return row.As<IndexToBuild>("relation", "table_sql", "unique", "new_sql", "qualified_sql", "method", "keys", "rest",
                                "expressions", "predicate", "mark");
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
List *IndexSteps(const Extension &extension, const IdColumns &columns, Value made) {
  List *steps = NIL;
  for (const IndexToBuild &index : Read<IndexToBuild>(kIndexesToBuild, columns.narrow, made)) {
    char *create =
        psprintf("CREATE %sINDEX CONCURRENTLY %s ON %s USING %s (%s)%s%s", index.unique, index.new_sql, index.table_sql,
                 index.method, KeysOf(columns, index), index.rest, PredicateOf(columns, index));
    if (index.mark == nullptr) {
      steps = lappend(steps, psprintf("%s;", create));
    } else {
      steps =
          lappend(steps, Attempt(extension, psprintf("-- Here it is only made, empty and invalid. REINDEX builds it.\n"
                                                     "%s;\nCOMMENT ON INDEX %s IS '%s'",
                                                     create, index.qualified_sql, index.mark)));
      steps = lappend(steps, psprintf("REINDEX INDEX CONCURRENTLY %s;", index.qualified_sql));
    }
  }
  return steps;
}

struct ConstraintToAdd {
  Oid relation, referred;
  const char *table_sql, *new_sql, *definition, *expression, *mark;
  bool add, validate;

  static ConstraintToAdd Read(const Row &row) {
    return row.As<ConstraintToAdd>("relation", "referred", "table_sql", "new_sql", "definition", "expression", "mark",
                                   "add", "validate");
  }
};

// All are added at once, for a moment, and validated one by one while others write.
List *ConstraintSteps(const Extension &extension, const IdColumns &columns, Value made, const QueryParts &query) {
  List *adds = NIL, *relations = NIL, *steps = NIL;
  const char *check = "";
  for (const ConstraintToAdd &constraint : Read<ConstraintToAdd>(query, columns.narrow, made)) {
    if (constraint.expression != nullptr)
      check = psprintf("CHECK (%s)", OnNewColumns(columns, constraint.relation,
                                                  static_cast<Node *>(stringToNode(constraint.expression))));
    if (constraint.add) {
      adds = lappend(adds, psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s%s NOT VALID", constraint.table_sql,
                                    constraint.new_sql, check, constraint.definition));
      if (constraint.mark != nullptr)
        adds = lappend(adds, psprintf("COMMENT ON CONSTRAINT %s ON %s IS '%s'", constraint.new_sql,
                                      constraint.table_sql, constraint.mark));
      relations = list_append_unique_oid(list_append_unique_oid(relations, constraint.relation), constraint.referred);
    }
    if (constraint.validate)
      steps = lappend(steps, Attempt(extension, psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", constraint.table_sql,
                                                         constraint.new_sql)));
  }
  if (adds == NIL) return steps;
  const char *locks =
      *check != '\0' ? LockTable("", relations, "") : LockTable("ONLY ", relations, " IN SHARE ROW EXCLUSIVE MODE");
  return lcons(Attempt(extension, psprintf("%s;\n%s", locks, ScriptOf(adds))), steps);
}

// Those up to the switch, without ANALYZE, which leaves nothing that could be found.
List *StepsBefore(const Extension &extension, const IdColumns &columns) {
  const Value made = OidsValue(Oids(kMadeIndexes, columns.narrow));
  const auto query = [&](const QueryParts &parts, auto... more) { return Texts(parts, columns.narrow, more...); };
  const auto attempts = [&](const QueryParts &parts, auto... more) {
    return EachAttempt(extension, query(parts, more...));
  };
  List *steps = attempts(kAdd, TextValue(extension.follow));
  steps = list_concat(steps, attempts(kDropGone, made));
  steps = list_concat(steps, query(kDropGoneIndexes, made));
  steps = list_concat(steps, query(kFill, TextValue(extension.fill)));
  steps = list_concat(steps, attempts(kValidate));
  steps = list_concat(steps, IndexSteps(extension, columns, made));
  steps = list_concat(steps, ConstraintSteps(extension, columns, made, kChecks));
  steps = list_concat(steps, ConstraintSteps(extension, columns, made, kForeignKeys));
  return list_concat(steps, attempts(kPassSequences, Bool(false)));
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
  const char *check =
      psprintf("SELECT %s(%s::regclass, %s::name, %s::text, %s, '%s'::text);", extension.check,
               quote_literal_cstr(columns.all[0].table_sql), quote_literal_cstr(conversion.column),
               quote_literal_cstr(conversion.target), conversion.keep_sequence ? "true" : "false", ChecksumOf(text));
  return Attempt(extension, psprintf("%s\n%s;\n%s\n%s", check, LocksOfSwitch(columns), check, text));
}

List *WhatToAbandon(const Conversion &conversion, const IdColumns &columns) {
  return columns.narrow_count > 0 ? Texts(kAbandon, columns.narrow, Follow(conversion)) : NIL;
}

}  // namespace

Value Follow(const Conversion &conversion) {
  return OidValue(FindFunction(conversion.extension, "snowflake_follow", 0).oid);
}

List *OnlineSteps(const Conversion &conversion, const IdColumns &columns, List *defaults, List *sequences) {
  const Extension extension = FunctionsOf(conversion);
  List *steps = NIL;
  if (columns.narrow_count > 0) {
    steps = StepsBefore(extension, columns);
    steps = list_concat(steps, Texts(kAnalyze, columns.narrow));
    steps = lappend(steps, Switch(extension, conversion, columns, defaults));
  } else if (defaults != NIL) {
    steps = lappend(steps, Attempt(extension, psprintf("%s;\n%s", LocksOfSwitch(columns), ScriptOf(defaults))));
  }
  return list_concat(steps, EachAttempt(extension, sequences));
}

bool OnlineHasBegun(const Conversion &conversion, const IdColumns &columns) {
  return WhatToAbandon(conversion, columns) != NIL;
}

List *AbandonSteps(const Conversion &conversion, const IdColumns &columns) {
  List *undo = WhatToAbandon(conversion, columns);
  if (undo == NIL) return NIL;
  return EachAttempt(FunctionsOf(conversion), list_concat(Texts(kPassSequences, columns.narrow, Bool(true)), undo));
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
