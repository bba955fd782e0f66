// The steps before the switch of an online conversion, and the way back.
#include "convert/online.h"

#include "convert/queries.h"
#include "convert/switch.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Expressions of tables have no parameters. So the parameter mark + n can stand for column n.
struct Marking {
  const IdColumns *columns;
  Oid table;
  int mark;
};

bool IsNarrow(const IdColumns &columns, Oid table, AttrNumber number) {
  bool narrow = false;
  for (int64_t i = 0; i < columns.count; ++i)
    narrow |= columns.all[i].narrow && columns.all[i].table == table && columns.all[i].number == number;
  return narrow;
}

Node *MarkColumns(Node *node, void *context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Var)) return MutateTree(node, MarkColumns, context);
  const Marking *marking = static_cast<Marking *>(context);
  const Var *var = castNode(Var, node);
  if (!IsNarrow(*marking->columns, marking->table, var->varattno)) return static_cast<Node *>(copyObjectImpl(node));
  Param *param = makeNode(Param);
  param->paramkind = PARAM_EXTERN;
  param->paramid = marking->mark + var->varattno;
  param->paramtype = var->vartype;
  param->paramtypmod = var->vartypmod;
  param->paramcollid = var->varcollid;
  param->location = -1;
  return reinterpret_cast<Node *>(param);
}

const char *Replaced(const char *text, const char *from, const char *to) {
  StringInfoData all;
  initStringInfo(&all);
  while (const char *found = strstr(text, from)) {
    appendBinaryStringInfo(&all, text, static_cast<int>(found - text));
    appendStringInfoString(&all, to);
    text = found + strlen(from);
  }
  appendStringInfoString(&all, text);
  return all.data;
}

// The SQL of an expression of a table, with the new columns instead of the narrow ones.
const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table);
  Marking marking = {&columns, table, 100 * 10000};
  // A literal may look like the mark of a column, which has up to four digits.
  const char *before = deparse_expression(expression, context, false, false);
  while (strstr(before, psprintf("$%d", marking.mark / 10000)) != nullptr) marking.mark += 10000;
  const char *sql = deparse_expression(MarkColumns(expression, &marking), context, false, false);
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (column.narrow && column.table == table)
      sql = Replaced(sql, psprintf("$%d", marking.mark + column.number), column.new_sql);
  }
  return sql;
}

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
  return {FindFunction(conversion.extension, "snowflake_try", 2).name_sql, FindFunction(conversion.extension, "snowflake_fill", 2).name_sql,
          FindFunction(conversion.extension, "snowflake_follow", 0).name_sql,
          FindFunction(conversion.extension, "snowflake_check_switch", 4).name_sql};
}

char *Attempt(const Extension &extension, const char *statements, const char *owner_of = nullptr) {
  return psprintf("CALL %s(%s%s%s);", extension.attempt, Quoted(statements),
                  owner_of != nullptr ? ", owner_of => " : "", owner_of != nullptr ? quote_literal_cstr(owner_of) : "");
}

List *Attempts(const Extension &extension, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) lfirst(cell) = Attempt(extension, static_cast<const char *>(lfirst(cell)));
  return statements;
}

// The rows of a query, which the next query would overwrite, as a list of Row: a struct of texts.
template <typename Row>
List *Copied() {
  List *rows = NIL;
  for (int64_t row = 0; row < Rows(); ++row) {
    const char **texts = static_cast<const char **>(palloc(sizeof(Row)));
    for (size_t i = 0; i < sizeof(Row) / sizeof(char *); ++i) texts[i] = Text(row, static_cast<int>(i) + 1);
    rows = lappend(rows, texts);
  }
  return rows;
}

bool IsTrue(const char *boolean) { return boolean != nullptr && boolean[0] == 't'; }

Oid OidOf(const char *digits) { return static_cast<Oid>(strtoul(digits, nullptr, 10)); }

struct IndexToBuild {
  const char *relation, *table_sql, *unique, *new_sql, *method, *keys, *rest, *expressions, *predicate;
};

const char *KeysOf(const IdColumns &columns, const IndexToBuild &index) {
  StringInfoData keys;
  initStringInfo(&keys);
  List *expressions = index.expressions != nullptr ? castNode(List, stringToNode(index.expressions)) : NIL;
  int next = 0;
  for (const char *c = index.keys; *c != '\0'; ++c) {
    if (*c == '\x01')
      appendStringInfoString(
          &keys, OnNewColumns(columns, OidOf(index.relation), static_cast<Node *>(list_nth(expressions, next++))));
    else
      appendStringInfoChar(&keys, *c);
  }
  return keys.data;
}

const char *PredicateOf(const IdColumns &columns, const IndexToBuild &index) {
  if (index.predicate == nullptr) return "";
  Node *node = static_cast<Node *>(stringToNode(index.predicate));
  if (IsA(node, List)) node = reinterpret_cast<Node *>(make_ands_explicit(castNode(List, node)));
  return psprintf(" WHERE %s", OnNewColumns(columns, OidOf(index.relation), node));
}

List *IndexSteps(const IdColumns &columns) {
  List *steps = NIL;
  Query(kIndexesToBuild, columns.narrow.tables, columns.narrow.numbers);
  ListCell *cell = nullptr;
  foreach (cell, Copied<IndexToBuild>()) {
    const IndexToBuild &index = *static_cast<const IndexToBuild *>(lfirst(cell));
    steps = lappend(steps, psprintf("CREATE %sINDEX CONCURRENTLY %s ON %s USING %s (%s)%s%s;", index.unique,
                                    index.new_sql, index.table_sql, index.method, KeysOf(columns, index), index.rest,
                                    PredicateOf(columns, index)));
  }
  return steps;
}

struct ConstraintToAdd {
  const char *table_sql, *new_sql, *definition, *add, *validate, *relation, *expression;
};

// A constraint is added for a moment, and validated while others write. The validation runs code of
// the table's owner.
List *ConstraintSteps(const Extension &extension, const IdColumns &columns) {
  List *steps = NIL;
  ListCell *cell = nullptr;
  foreach (cell, Copied<ConstraintToAdd>()) {
    const ConstraintToAdd &constraint = *static_cast<const ConstraintToAdd *>(lfirst(cell));
    const char *check = "";
    if (constraint.expression != nullptr)
      check = psprintf("CHECK (%s)", OnNewColumns(columns, OidOf(constraint.relation),
                                                  static_cast<Node *>(stringToNode(constraint.expression))));
    if (IsTrue(constraint.add))
      steps = lappend(
          steps, Attempt(extension, psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s%s NOT VALID", constraint.table_sql,
                                             constraint.new_sql, check, constraint.definition)));
    if (IsTrue(constraint.validate))
      steps = lappend(
          steps, Attempt(extension,
                         psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", constraint.table_sql, constraint.new_sql),
                         constraint.table_sql));
  }
  return steps;
}

List *CheckSteps(const Extension &extension, const IdColumns &columns) {
  Query(kChecks, columns.narrow.tables, columns.narrow.numbers);
  return ConstraintSteps(extension, columns);
}

List *ForeignKeySteps(const Extension &extension, const IdColumns &columns) {
  Query(kForeignKeys, columns.narrow.tables, columns.narrow.numbers);
  return ConstraintSteps(extension, columns);
}

// Those up to the switch, without ANALYZE, which leaves nothing that could be found.
List *StepsBefore(const Extension &extension, const IdColumns &columns) {
  const auto texts = [&](const QueryParts &query, auto... more) {
    return Texts(query, columns.narrow.tables, columns.narrow.numbers, more...);
  };
  List *steps = Attempts(extension, texts(kAdd, TextValue(extension.follow)));
  steps = list_concat(steps, Attempts(extension, texts(kDropGone)));
  steps = list_concat(steps, texts(kDropGoneIndexes));
  steps = list_concat(steps, texts(kFill, TextValue(extension.fill)));
  steps = list_concat(steps, texts(kValidate));
  steps = list_concat(steps, IndexSteps(columns));
  steps = list_concat(steps, CheckSteps(extension, columns));
  return list_concat(steps, ForeignKeySteps(extension, columns));
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
  return Attempt(extension,
                 psprintf("LOCK TABLE %s;\nSELECT %s(%s, %s, %s, '%s');\n%s", tables.data, extension.check,
                          quote_literal_cstr(columns.all[0].table_sql), quote_literal_cstr(conversion.column),
                          quote_literal_cstr(conversion.target), ChecksumOf(text), text));
}

List *WhatToAbandon(const IdColumns &columns) {
  return Texts(kAbandon, columns.narrow.tables, columns.narrow.numbers);
}

}  // namespace

void CheckOnline(const IdColumns &columns) {
  Query(kObstacles, columns.narrow.tables, columns.narrow.numbers);
  if (const char *obstacles = Text(0, 1))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert these columns online"),
                    errdetail("%s", obstacles),
                    errhint("Drop these objects, convert, and create them again, or convert without online.")));
  Query(kSchemas, columns.narrow.tables, columns.narrow.numbers);
  if (Rows() > 0)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for schema %s", Text(0, 1)),
                    errdetail("An online conversion creates indexes in the schemas of its tables."),
                    errhint("Grant CREATE on the schema to the owner of the tables, or convert without online.")));
}

List *OnlineSteps(const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const Extension extension = FunctionsOf(conversion);
  if (columns.narrow_count == 0) return defaults == NIL ? NIL : list_make1(Attempt(extension, Joined(defaults)));
  List *steps = StepsBefore(extension, columns);
  steps = list_concat(steps, Texts(kAnalyze, columns.narrow.tables, columns.narrow.numbers));
  return lappend(steps, Switch(extension, conversion, columns, defaults));
}

bool OnlineHasBegun(const IdColumns &columns) { return columns.narrow_count > 0 && WhatToAbandon(columns) != NIL; }

List *AbandonSteps(const Conversion &conversion, const IdColumns &columns) {
  return Attempts(FunctionsOf(conversion), WhatToAbandon(columns));
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
