// An expression is parsed as CREATE INDEX or ADD CONSTRAINT would parse it, and compared with the
// stored one. So what another function, operator or type has got into is not recognised.
#include "convert/made.h"

#include "convert/expressions.h"
#include "convert/queries.h"
#include "pg/execution.h"

extern "C" {
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
}

namespace snowflake {
namespace {
// As PostgreSQL would store it.
Node *Parsed(Oid table, const char *sql, ParseExprKind kind) {
  Relation relation = table_open(table, AccessShareLock);
  ParseState *state = make_parsestate(nullptr);
  state->p_sourcetext = sql;
  ParseNamespaceItem *item = addRangeTableEntryForRelation(state, relation, AccessShareLock, nullptr, false, true);
  addNSItemToQuery(state, item, true, true, true);
  RawStmt *raw = linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_PLPGSQL_EXPR));
  ResTarget *target = linitial_node(ResTarget, castNode(SelectStmt, raw->stmt)->targetList);
  Node *expression = transformExpr(state, target->val, kind);
  if (kind != EXPR_KIND_INDEX_EXPRESSION) expression = coerce_to_boolean(state, expression, "CHECK");
  assign_expr_collations(state, expression);
  free_parsestate(state);
  table_close(relation, NoLock);
  return expression;
}

Node *AsNode(const char *text) { return text != nullptr ? static_cast<Node *>(stringToNode(text)) : nullptr; }

bool IsPredicate(const IdColumns &columns, Oid table, Node *old, Node *made) {
  if (old == nullptr || made == nullptr) return old == made;
  const char *sql = OnNewColumns(columns, table, old);
  List *parsed = make_ands_implicit(reinterpret_cast<Expr *>(Parsed(table, sql, EXPR_KIND_INDEX_PREDICATE)));
  return equal(make_ands_explicit(parsed), made);
}

// `old_keys` and `made_keys`: the numbers of columns, 0 for an expression. An expression may have
// become a column, because a cast to bigint has become superfluous.
bool AreKeys(const IdColumns &columns, Oid table, const char *old_keys, const char *made_keys, List *old, List *made) {
  int next = 0, next_made = 0;
  for (char *key = const_cast<char *>(old_keys), *other = const_cast<char *>(made_keys); *key != '\0';) {
    const long number = strtol(key, &key, 10), made_number = strtol(other, &other, 10);
    if (number != 0) continue;
    const char *sql = OnNewColumns(columns, table, static_cast<Node *>(list_nth(old, next++)));
    Node *parsed = Parsed(table, sql, EXPR_KIND_INDEX_EXPRESSION);
    while (IsA(parsed, CollateExpr)) parsed = reinterpret_cast<Node *>(castNode(CollateExpr, parsed)->arg);
    const bool is_column = IsA(parsed, Var);
    if (is_column ? castNode(Var, parsed)->varattno != made_number
                  : made_number != 0 || !equal(parsed, list_nth(made, next_made++)))
      return false;
  }
  return true;
}

// A check constraint, and what it would be: SQL, or the expression of the old one.
struct Check {
  Oid constraint, relation;
  const char *expression, *wanted;

  static Check Read(const Row &row) {
    return {row.Object("constraint"), row.Object("relation"), row.Text("expression"), row.Text("wanted")};
  }
};

List *MadeChecks(const IdColumns &columns) {
  List *made = NIL;
  for (const Check &check : Read<Check>(kMadeChecks, columns.narrow.tables, columns.narrow.numbers)) {
    const char *sql = OnNewColumns(columns, check.relation, AsNode(check.wanted));
    if (equal(Parsed(check.relation, sql, EXPR_KIND_CHECK_CONSTRAINT), AsNode(check.expression)))
      made = lappend_oid(made, check.constraint);
  }
  return made;
}

struct Remade {
  Oid relation;
  char *described, *expression;

  static Remade Read(const Row &row) { return {row.Object("relation"), row.Text("described"), row.Text("expression")}; }
};

// The expressions, written and read.
Node *Again(Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table), *parsed = NIL;
  List *expressions = IsA(expression, List) ? castNode(List, expression) : list_make1(expression);
  ListCell *cell = nullptr;
  foreach (cell, expressions) {
    const char *sql = deparse_expression(static_cast<Node *>(lfirst(cell)), context, false, false);
    parsed = lappend(parsed, Parsed(table, sql, EXPR_KIND_INDEX_EXPRESSION));
  }
  return reinterpret_cast<Node *>(parsed);
}

// An index on new columns, and the one that it is made for.
struct IndexPair {
  Oid made, relation;
  const char *keys, *made_keys, *expressions, *made_expressions, *predicate, *made_predicate;

  static IndexPair Read(const Row &row) {
    return {row.Object("made"),      row.Object("relation"),       row.Text("keys"),      row.Text("made_keys"),
            row.Text("expressions"), row.Text("made_expressions"), row.Text("predicate"), row.Text("made_predicate")};
  }
};

List *MadeIndexes(const IdColumns &columns) {
  List *made = NIL;
  for (const IndexPair &pair : Read<IndexPair>(kMadeIndexes, columns.narrow.tables, columns.narrow.numbers)) {
    if (AreKeys(columns, pair.relation, pair.keys, pair.made_keys, reinterpret_cast<List *>(AsNode(pair.expressions)),
                reinterpret_cast<List *>(AsNode(pair.made_expressions))) &&
        IsPredicate(columns, pair.relation, AsNode(pair.predicate), AsNode(pair.made_predicate)))
      made = lappend_oid(made, pair.made);
  }
  return made;
}

}  // namespace

Value FindTies(const IdColumns &columns) {
  List *ties = NIL;
  for (const Check &check : Read<Check>(kTies, columns.narrow.tables, columns.narrow.numbers)) {
    if (equal(Parsed(check.relation, check.wanted, EXPR_KIND_CHECK_CONSTRAINT), AsNode(check.expression)))
      ties = lappend_oid(ties, check.constraint);
  }
  return OidsValue(ties);
}

List *ChangedBySettings(const IdColumns &columns) {
  List *lines = NIL;
  for (const Remade &remade : Read<Remade>(kRemade, columns.narrow.tables, columns.narrow.numbers)) {
    Node *expression = AsNode(remade.expression), *here = Again(remade.relation, expression);
    const int guc_level = NewGUCNestLevel();
    PinSettings();
    Node *pinned = Again(remade.relation, expression);
    AtEOXact_GUC(false, guc_level);
    if (!equal(here, pinned)) lines = lappend(lines, remade.described);
  }
  return lines;
}

Made FindMade(const IdColumns &columns) { return {OidsValue(MadeChecks(columns)), OidsValue(MadeIndexes(columns))}; }

}  // namespace snowflake
