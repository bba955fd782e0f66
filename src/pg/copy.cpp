// COPY FROM inserts row by row where a column's default is volatile, because such a function could read the table; nextval()
// alone is excepted. snowflake_nextval() reads no table either, so a COPY evaluates a twin that is labelled stable.
//
// 1. Whoever plans with the twin might evaluate it once for many rows. COPY does not: it evaluates a default for each row. So
//    the twin is given only to an expression that is planned outside of a query, while the innermost utility command is a
//    COPY FROM. Queries and cached plans of triggers have a planner's root; what else plans bare expressions (ADD COLUMN,
//    above all) is a utility command of its own.
// 2. The twin takes an argument of type internal, which no SQL can write: nobody else can call it or make it a default.
#include "pg/copy.h"

#include "pg/issue.h"
#include "pg/namesake.h"

namespace snowflake {

namespace {

bool in_copy_from = false;
ProcessUtility_hook_type next_utility_hook = nullptr;

void RunUtility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
                QueryCompletion *completion) {
  const bool outer = in_copy_from;
  const Node *command = statement->utilityStmt;
  CheckCommandForNamesake(command);  // the library has this one utility hook
  PG_TRY();
  {
    in_copy_from = IsA(command, CopyStmt) && reinterpret_cast<const CopyStmt *>(command)->is_from;
    const auto next = next_utility_hook ? next_utility_hook : standard_ProcessUtility;
    next(statement, text, read_only_tree, context, parameters, environment, receiver, completion);
  }
  PG_FINALLY();
  { in_copy_from = outer; }
  PG_END_TRY();
}

// The other function of the extension that has this support function.
Oid FindTwin(Oid support, Oid function) {
  const Oid extension = getExtensionOfObject(ProcedureRelationId, support);
  Oid twin = InvalidOid;
  Relation catalog = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(ProcedureRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(support));
  SysScanDesc scan = systable_beginscan(catalog, DependReferenceIndexId, true, nullptr, 2, keys);
  while (HeapTuple tuple = systable_getnext(scan)) {
    const Form_pg_depend depend = reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple));
    if (depend->classid == ProcedureRelationId && depend->objid != function && OidIsValid(extension) &&
        getExtensionOfObject(ProcedureRelationId, depend->objid) == extension)
      twin = depend->objid;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return twin;
}

Node *CallOfTwin(Oid support, const SupportRequestSimplify *request) {
  if (!in_copy_from || request->root != nullptr) return nullptr;
  const FuncExpr *call = request->fcall;
  // The twin is everybody's; the right to issue ids is that to call the function itself.
  if (call->args != NIL || !MayExecute(call->funcid)) return nullptr;
  const Oid twin = FindTwin(support, call->funcid);
  if (!OidIsValid(twin)) return nullptr;
  Const *seal = makeConst(INTERNALOID, -1, InvalidOid, sizeof(Datum), BoolGetDatum(true), false, true);
  return reinterpret_cast<Node *>(
      makeFuncExpr(twin, INT8OID, list_make1(seal), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

}  // namespace

void WatchCopies() {
  next_utility_hook = ProcessUtility_hook;
  ProcessUtility_hook = RunUtility;
}

}  // namespace snowflake

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_nextval_support) {
  Node *request = reinterpret_cast<Node *>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSimplify)) PG_RETURN_POINTER(nullptr);
  PG_RETURN_POINTER(CallOfTwin(fcinfo->flinfo->fn_oid, reinterpret_cast<SupportRequestSimplify *>(request)));
}

SNOWFLAKE_FUNCTION(snowflake_copy_nextval) { PG_RETURN_INT64(NextId(fcinfo->flinfo->fn_oid, 1)); }
