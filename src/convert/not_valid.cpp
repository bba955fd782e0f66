// A row is judged as an update of it would be, by the stored expression of the constraint.
#include "convert/not_valid.h"

#include "convert/queries.h"
#include "pg/execution.h"
#include "pg/security_context.h"

extern "C" {
#include "utils/snapmgr.h"
}

namespace snowflake {
namespace {
struct NotValid {
  Oid table;
  int16 number;
  const char *expression;
  char *line;

  static NotValid Read(const Row &row) { return row.As<NotValid>("relation", "number", "expression", "line"); }
};

struct Tested {
  const NotValid *constraint;
  ExprState *condition;
};

Expr *ConditionOf(Relation table, const NotValid &constraint) {
  if (constraint.expression != nullptr) return static_cast<Expr *>(stringToNode(constraint.expression));
  const FormData_pg_attribute &column = *TupleDescAttr(RelationGetDescr(table), constraint.number - 1);
  NullTest *test = makeNode(NullTest);
  test->arg = reinterpret_cast<Expr *>(
      makeVar(1, constraint.number, column.atttypid, column.atttypmod, column.attcollation, 0));
  test->nulltesttype = IS_NOT_NULL;
  test->location = -1;
  return reinterpret_cast<Expr *>(test);
}

// Moves the lines of what the row violates from `left` to `lines`.
List *Judge(List *left, ExprContext *context, List **lines) {
  ListCell *cell = nullptr;
  foreach (cell, left) {
    const Tested &tested = *static_cast<Tested *>(lfirst(cell));
    if (ExecCheck(tested.condition, context)) continue;
    *lines = lappend(*lines, tested.constraint->line);
    left = foreach_delete_current(left, cell);
  }
  return left;
}

// The constraints [first, end) of one table.
List *AddOfTable(List *lines, const NotValid *first, const NotValid *end) {
  Relation table = table_open(first->table, AccessShareLock);
  const SecurityContext outer = EnterSecurityContext(table->rd_rel->relowner);
  EState *state = CreateExecutorState();
  ExprContext *context = GetPerTupleExprContext(state);
  List *left = NIL;
  for (const NotValid *each = first; each != end; ++each)
    left = lappend(left, CopyOf(Tested{each, ExecPrepareExpr(ConditionOf(table, *each), state)}));
  TupleTableSlot *row = table_slot_create(table, nullptr);
  context->ecxt_scantuple = row;
  PushActiveSnapshot(GetLatestSnapshot());
  TableScanDesc scan = BeginScan(table, GetActiveSnapshot());
  while (left != NIL && table_scan_getnextslot(scan, ForwardScanDirection, row)) {
    CHECK_FOR_INTERRUPTS();
    left = Judge(left, context, &lines);
    ResetPerTupleExprContext(state);
  }
  table_endscan(scan);
  PopActiveSnapshot();
  ExecDropSingleTupleTableSlot(row);
  FreeExecutorState(state);
  LeaveSecurityContext(outer);
  table_close(table, NoLock);
  return lines;
}

}  // namespace

List *FindViolated(const IdColumns &columns) {
  List *lines = NIL;
  const RowsOf<NotValid> constraints = Read<NotValid>(kNotValid, columns.narrow);
  for (const NotValid *first = constraints.begin(); first != constraints.end();) {
    const NotValid *end = first;
    while (end != constraints.end() && end->table == first->table) ++end;
    lines = AddOfTable(lines, first, end);
    first = end;
  }
  return lines;
}

}  // namespace snowflake
