// An expression is parsed as CREATE INDEX or ADD CONSTRAINT would parse it, and compared with the
// stored one. So what another function, operator or type has got into is not recognised.
#include "convert/made.h"

#include "convert/qualified.h"
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

// Rows of a query, which others overwrite, as arrays of texts.
List *TextRows(int fields) {
  List *rows = NIL;
  for (int64_t row = 0; row < Rows(); ++row) {
    char **texts = static_cast<char **>(palloc(sizeof(char *) * static_cast<Size>(fields)));
    for (int i = 0; i < fields; ++i) texts[i] = Text(row, i + 1);
    rows = lappend(rows, texts);
  }
  return rows;
}

bool IsPredicate(const IdColumns &columns, Oid table, Node *old, Node *made) {
  if (old == nullptr || made == nullptr) return old == made;
  const char *part = nullptr;
  const char *sql = QualifiedSql(columns, table, old, &part);
  if (sql == nullptr) return false;
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
    const char *part = nullptr;
    const char *sql = QualifiedSql(columns, table, static_cast<Node *>(list_nth(old, next++)), &part);
    if (sql == nullptr) return false;
    Node *parsed = Parsed(table, sql, EXPR_KIND_INDEX_EXPRESSION);
    while (IsA(parsed, CollateExpr)) parsed = reinterpret_cast<Node *>(castNode(CollateExpr, parsed)->arg);
    const bool is_column = IsA(parsed, Var);
    if (is_column ? castNode(Var, parsed)->varattno != made_number
                  : made_number != 0 || !equal(parsed, list_nth(made, next_made++)))
      return false;
  }
  return true;
}

Oid OidOf(const char *digits) { return static_cast<Oid>(strtoul(digits, nullptr, 10)); }

List *MadeChecks(const IdColumns &columns) {
  List *made = NIL;
  Query(kMadeChecks, columns.narrow.tables, columns.narrow.numbers);
  ListCell *cell = nullptr;
  foreach (cell, TextRows(4)) {
    char **texts = static_cast<char **>(lfirst(cell));
    const Oid table = OidOf(texts[1]);
    const char *sql = OnNewColumns(columns, table, AsNode(texts[3]));
    if (equal(Parsed(table, sql, EXPR_KIND_CHECK_CONSTRAINT), AsNode(texts[2])))
      made = lappend_oid(made, OidOf(texts[0]));
  }
  return made;
}

List *MadeIndexes(const IdColumns &columns) {
  List *made = NIL;
  Query(kMadeIndexes, columns.narrow.tables, columns.narrow.numbers);
  ListCell *cell = nullptr;
  foreach (cell, TextRows(8)) {
    char **texts = static_cast<char **>(lfirst(cell));
    const Oid table = OidOf(texts[1]);
    if (AreKeys(columns, table, texts[2], texts[3], reinterpret_cast<List *>(AsNode(texts[4])),
                reinterpret_cast<List *>(AsNode(texts[5]))) &&
        IsPredicate(columns, table, AsNode(texts[6]), AsNode(texts[7])))
      made = lappend_oid(made, OidOf(texts[0]));
  }
  return made;
}

}  // namespace

Value FindTies(const IdColumns &columns) {
  List *ties = NIL;
  Query(kTies, columns.narrow.tables, columns.narrow.numbers);
  ListCell *cell = nullptr;
  foreach (cell, TextRows(4)) {
    char **texts = static_cast<char **>(lfirst(cell));
    if (equal(Parsed(OidOf(texts[1]), texts[3], EXPR_KIND_CHECK_CONSTRAINT), AsNode(texts[2])))
      ties = lappend_oid(ties, OidOf(texts[0]));
  }
  return OidsValue(ties);
}

Made FindMade(const IdColumns &columns) { return {OidsValue(MadeChecks(columns)), OidsValue(MadeIndexes(columns))}; }

}  // namespace snowflake
