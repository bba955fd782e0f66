/*
 * Plans and evaluates expressions as extensions with their own planner do, for
 * test/t/copy/planners.pl. The expression is a column's default as it is stored. Also simulates a
 * PostgreSQL that does not do what snowflake relies on.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include "calls.h"
#include "access/table.h"
#include "catalog/pg_constraint.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(planned);
PG_FUNCTION_INFO_V1(planned_elsewhere);
PG_FUNCTION_INFO_V1(evaluated_in_parts);
PG_FUNCTION_INFO_V1(looks);
PG_FUNCTION_INFO_V1(count_no_openings);

static Node *default_of(Oid relation, int16 column) {
  Relation table = table_open(relation, AccessShareLock);
  Node *expression = build_column_default(table, column);

  table_close(table, AccessShareLock);
  if (expression == NULL) elog(ERROR, "column %d has no default", column);
  return expression;
}

/* All ways in which PostgreSQL can plan an expression alone, and one way of a query. */
static Node *plan(Node *node, const char *way) {
  Expr *expression = (Expr *)node;
  EState *estate = CreateExecutorState();
  List *relations, *items;
  PlannerInfo root = {.type = T_PlannerInfo};
  PlannerGlobal glob = {.type = T_PlannerGlobal};

  root.glob = &glob;
  if (strcmp(way, "eval_const_expressions") == 0) return eval_const_expressions(NULL, node);
  if (strcmp(way, "eval_const_expressions, a list") == 0)
    return eval_const_expressions(NULL, (Node *)list_make1(makeTargetEntry(expression, 1, NULL, false)));
  if (strcmp(way, "eval_const_expressions, of a query") == 0) return eval_const_expressions(&root, node);
  if (strcmp(way, "estimate_expression_value") == 0) return estimate_expression_value(&root, node);
  if (strcmp(way, "expression_planner") == 0) return (Node *)expression_planner(expression);
  if (strcmp(way, "expression_planner_with_deps") == 0)
    return (Node *)expression_planner_with_deps(expression, &relations, &items);
  if (strcmp(way, "GetCachedExpression") == 0) return GetCachedExpression(node)->expr;
  if (strcmp(way, "ExecPrepareExpr") == 0) return (Node *)ExecPrepareExpr(expression, estate)->expr;
  if (strcmp(way, "ExecPrepareExprList") == 0)
    return (Node *)((ExprState *)linitial(ExecPrepareExprList(list_make1(expression), estate)))->expr;
  if (strcmp(way, "ExecPrepareQual") == 0) return (Node *)ExecPrepareQual(list_make1(expression), estate)->expr;
  if (strcmp(way, "ExecPrepareCheck") == 0) return (Node *)ExecPrepareCheck(list_make1(expression), estate)->expr;
  elog(ERROR, "there is no way called \"%s\"", way);
}

/* In a memory context with the name of COPY's own context. */
static Node *plan_in_copy(MemoryContext parent, Node *expression, const char *way) {
  MemoryContext old = MemoryContextSwitchTo(AllocSetContextCreate(parent, "COPY", ALLOCSET_SMALL_SIZES));

  expression = plan(expression, way);
  MemoryContextSwitchTo(old);
  return expression;
}

/* As if COPY planned it as a client's statement: its context is then a child of the portal's
 * context. */
static Node *plan_like_copy(Node *expression, const char *way) { return plan_in_copy(PortalContext, expression, way); }

/* planned(table, column, way, like COPY) -> text: the planned expression, as PostgreSQL writes
 * trees. */
Datum planned(PG_FUNCTION_ARGS) {
  Node *expression = default_of(PG_GETARG_OID(0), PG_GETARG_INT16(1));
  const char *way = text_to_cstring(PG_GETARG_TEXT_PP(2));

  expression = PG_GETARG_BOOL(3) ? plan_like_copy(expression, way) : plan(expression, way);
  PG_RETURN_TEXT_P(cstring_to_text(nodeToString(expression)));
}

/* planned_elsewhere(table, column) -> text: the same in a context that only has the name of
 * COPY's. */
Datum planned_elsewhere(PG_FUNCTION_ARGS) {
  Node *expression = default_of(PG_GETARG_OID(0), PG_GETARG_INT16(1));

  expression = plan_in_copy(CurrentMemoryContext, expression, "expression_planner");
  PG_RETURN_TEXT_P(cstring_to_text(nodeToString(expression)));
}

static Node *evaluate_parts(Node *node, void *context) {
  if (node == NULL || IsA(node, Const)) return node;
  node = expression_tree_mutator(node, evaluate_parts, context);
  if (IsA(node, List)) return node;
  return (Node *)evaluate_expr((Expr *)node, exprType(node), exprTypmod(node), exprCollation(node));
}

/* evaluated_in_parts(table, column) -> bigint: plans, then evaluates each part alone, as Citus does
 * for VALUES. */
Datum evaluated_in_parts(PG_FUNCTION_ARGS) {
  Node *expression = eval_const_expressions(NULL, default_of(PG_GETARG_OID(0), PG_GETARG_INT16(1)));

  PG_RETURN_DATUM(castNode(Const, evaluate_parts(expression, NULL))->constvalue);
}

/* looks(table, column) -> text: whether functions find the default, planned like COPY's,
 * volatile. */
Datum looks(PG_FUNCTION_ARGS) {
  Node *expression = plan_like_copy(default_of(PG_GETARG_OID(0), PG_GETARG_INT16(1)), "expression_planner");

  PG_RETURN_TEXT_P(cstring_to_text(
      psprintf("%s, %s, %s to COPY", contain_volatile_functions(expression) ? "volatile" : "not volatile",
               contain_mutable_functions(expression) ? "mutable" : "immutable",
               contain_volatile_functions_not_nextval(expression) ? "volatile" : "not volatile")));
}

static int hidden;

static Relation open_uncounted(Oid relation, LOCKMODE mode) {
  Relation table = table_open(relation, mode);

  if (relation == ConstraintRelationId) {
    hidden += table->rd_refcnt - 1;
    table->rd_refcnt = 1;
  }
  return table;
}

static void close_uncounted(Relation table, LOCKMODE mode) {
  if (RelationGetRelid(table) == ConstraintRelationId && hidden > 0) {
    --hidden;
    ++table->rd_refcnt;
  }
  table_close(table, mode);
}

/* count_no_openings(): from now on, in this session, snowflake sees pg_constraint as opened once,
 * however often it is open. */
Datum count_no_openings(PG_FUNCTION_ARGS) {
  replace_call("table_open", (void *)open_uncounted);
  replace_call("table_close", (void *)close_uncounted);
  PG_RETURN_VOID();
}
