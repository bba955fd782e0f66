// Lets COPY FROM insert many rows at a time into tables whose default is snowflake_nextval(). If a
// default is volatile, COPY inserts row by row, because the function could read the table; only
// nextval() is exempt. snowflake_nextval() reads none either: a COPY calls a twin labelled stable.
//
// 1. A stable function may be evaluated once for many rows, or twice instead of once: by an SQL
//    function that uses its argument twice and is inlined. So the twin is beside the node of
//    identity columns, which is never reached. That is volatile to all checks of PostgreSQL but
//    COPY's check of defaults, which ignores it like nextval().
// 2. Only what COPY FROM plans as a column's default gets the twin. Extensions with their own
//    planner, in a table's trigger, take expressions apart and evaluate or keep the parts.
// 3. The twin has an argument of type internal, so SQL cannot call it or make it a default.
//
// This rests on what PostgreSQL does and does not promise; test/t/copy/planners.pl checks each:
//
// a. COPY FROM plans defaults without a planner's root, in its memory context "COPY". Its WHERE,
//    CHECKs and WHEN conditions, and what its functions and triggers run, are planned elsewhere.
//    From PostgreSQL 19 on, the CHECKs of a domain that is new to the session are planned there,
//    too: while pg_constraint, from which they come, is open. The session keeps that plan. COPY
//    makes this context in the one in which it is called. If what is found is anything else, also
//    if opening pg_constraint is not counted, the default is planned as everywhere: COPY is slower.
// b. COPY TO has such a context, too. It plans a query in it with a root, under its own command.
// c. contain_volatile_functions_not_nextval(), which is COPY's check, ignores NextValueExpr;
//    contain_volatile_functions() and contain_mutable_functions() do not.
// d. COALESCE keeps its second argument if the first is no constant, and evaluates it after a null.
#include "pg/extension.h"
#include "pg/issue/issue.h"
#include "pg/issue/segments.h"
#include "pg/sql/hooks.h"
#include "pg/execution.h"

namespace snowflake {
namespace {
// In which memory context the COPY FROM under way was called. nullptr: the innermost utility
// command is none.
MemoryContext copy_from = nullptr;
ProcessUtility_hook_type next_utility_hook = nullptr;

void RunUtility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
                QueryCompletion *completion) {
  const MemoryContext outer_copy_from = copy_from;
  const Node *command = statement->utilityStmt;
  CheckCommandForNamesake(command);
  PG_TRY();
  {
    const bool is_copy_from = IsA(command, CopyStmt) && reinterpret_cast<const CopyStmt *>(command)->is_from;
    copy_from = is_copy_from ? CurrentMemoryContext : nullptr;
    const auto next = next_utility_hook ? next_utility_hook : standard_ProcessUtility;
    next(statement, text, read_only_tree, context, parameters, environment, receiver, completion);
  }
  PG_FINALLY();
  { copy_from = outer_copy_from; }
  PG_END_TRY();
}

// Opens pg_constraint twice to see that this is counted, and that it was not open before.
bool ConstraintsAreNotBeingRead() {
  Relation once = table_open(ConstraintRelationId, AccessShareLock);
  const int count = once->rd_refcnt;
  Relation twice = table_open(ConstraintRelationId, AccessShareLock);
  const bool is_counted = twice == once && twice->rd_refcnt == count + 1;
  table_close(twice, AccessShareLock);
  table_close(once, AccessShareLock);
  return is_counted && count == 1;
}

// Whether COPY FROM is planning a column's default.
bool PlansDefault(const SupportRequestSimplify *request) {
  return copy_from != nullptr && request->root == nullptr &&
         MemoryContextGetParent(CurrentMemoryContext) == copy_from && strcmp(CurrentMemoryContext->name, "COPY") == 0 &&
         ConstraintsAreNotBeingRead();
}

// The code of a function's twin; nullptr: it has none.
const char *CodeOfTwin(Oid function) {
  if (RunsCode(function, "snowflake_nextval")) return "snowflake_copy_nextval";
  if (RunsCode(function, "snowflake_segment_nextval")) return "snowflake_copy_segment_nextval";
  return nullptr;
}

// The extension's function with this code and this support function.
Oid FindTwin(Oid support, const char *code) {
  Oid twin = InvalidOid;
  const Oid extension = getExtensionOfObject(ProcedureRelationId, support);
  ForEachDependent(ProcedureRelationId, support, [&](const FormData_pg_depend &depend) {
    if (depend.classid == ProcedureRelationId && OidIsValid(extension) &&
        getExtensionOfObject(ProcedureRelationId, depend.objid) == extension && RunsCode(depend.objid, code))
      twin = depend.objid;
    return true;
  });
  return twin;
}

Node *CallOfTwin(Oid support, const SupportRequestSimplify *request) {
  if (!PlansDefault(request)) return nullptr;
  // A superuser may have given the support function to another function, or changed this one. If a
  // right is missing, the call of snowflake_nextval() itself reports it.
  const Oid function = request->fcall->funcid;
  const char *code = CodeOfTwin(function);
  if (code == nullptr || !MayExecute(function)) return nullptr;
  const Oid twin = FindTwin(support, code);
  if (!OidIsValid(twin) || !MayExecute(twin)) return nullptr;

  Const *argument = makeConst(INTERNALOID, -1, InvalidOid, sizeof(Datum), ObjectIdGetDatum(function), false, true);
  FuncExpr *call = makeFuncExpr(twin, INT8OID, lcons(argument, list_copy(request->fcall->args)), InvalidOid,
                                request->fcall->inputcollid, COERCE_EXPLICIT_CALL);
  NextValueExpr *never_reached = makeNode(NextValueExpr);
  never_reached->typeId = INT8OID;
  CoalesceExpr *first = makeNode(CoalesceExpr);
  first->coalescetype = INT8OID;
  first->args = list_make2(call, never_reached);
  first->location = -1;
  return reinterpret_cast<Node *>(first);
}

// Raises PostgreSQL's own error.
void CheckMayExecute(Oid function) {
  if (!MayExecute(function)) aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
}

}  // namespace

void WatchCopies() {
  next_utility_hook = ProcessUtility_hook;
  ProcessUtility_hook = RunUtility;
}

SNOWFLAKE_FUNCTION(snowflake_nextval_support) {
  Node *request = reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
  Node *answer = nullptr;
  if (IsA(request, SupportRequestSimplify))
    answer = CallOfTwin(fcinfo->flinfo->fn_oid, reinterpret_cast<SupportRequestSimplify *>(request));
  PG_RETURN_POINTER(answer);
}

// The first argument is the function itself. Its right is checked once per expression.
SNOWFLAKE_FUNCTION(snowflake_copy_nextval) {
  const Oid function = DatumGetObjectId(PG_GETARG_DATUM(0));
  if (fcinfo->flinfo->fn_extra == nullptr) {
    CheckMayExecute(function);
    fcinfo->flinfo->fn_extra = fcinfo->flinfo;
  }
  PG_RETURN_INT64(NextId(function));
}

SNOWFLAKE_FUNCTION(snowflake_copy_segment_nextval) {
  const Oid function = DatumGetObjectId(PG_GETARG_DATUM(0));
  if (fcinfo->flinfo->fn_extra == nullptr) CheckMayExecute(function);
  PG_RETURN_INT64(NextNumber(function, &fcinfo->flinfo->fn_extra, PG_GETARG_TEXT_PP(1)));
}

}  // namespace snowflake
