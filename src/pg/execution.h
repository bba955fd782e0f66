// Headers of PostgreSQL for statements: parse analysis, planning, execution, triggers; and
// differences between its versions.
#pragma once

#include "pg/pg.h"

extern "C" {
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "parser/parse_utilcmd.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"
}

namespace snowflake {
// From 19 on the hook of parse analysis must not change it.
#if PG_VERSION_NUM >= 190000
using ParsedJumble = const JumbleState;
#else
using ParsedJumble = JumbleState;
#endif

// 19 takes flags.
inline TableScanDesc BeginScan(Relation table, Snapshot snapshot) {
#if PG_VERSION_NUM >= 190000
  return table_beginscan(table, snapshot, 0, nullptr, SO_NONE);
#else
  return table_beginscan(table, snapshot, 0, nullptr);
#endif
}

// Scans the rows from `first` to `last`.
inline TableScanDesc BeginTidScan(Relation table, Snapshot snapshot, ItemPointer first, ItemPointer last) {
#if PG_VERSION_NUM >= 190000
  return table_beginscan_tidrange(table, snapshot, first, last, SO_NONE);
#else
  return table_beginscan_tidrange(table, snapshot, first, last);
#endif
}

// For updates of columns of a table, which is number 1. 16 moved the columns out of the table's
// entry, 18 takes the numbers of tables that are not pruned.
inline EState *StateForUpdate(Relation table, Bitmapset *columns) {
  EState *state = CreateExecutorState();
  RangeTblEntry *entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_RELATION;
  entry->relid = RelationGetRelid(table);
  entry->relkind = table->rd_rel->relkind;
  entry->rellockmode = RowExclusiveLock;
#if PG_VERSION_NUM >= 160000
  List *permissions = NIL;
  addRTEPermissionInfo(&permissions, entry)->updatedCols = columns;
#endif
#if PG_VERSION_NUM >= 180000
  ExecInitRangeTable(state, list_make1(entry), permissions, bms_make_singleton(1));
#elif PG_VERSION_NUM >= 160000
  ExecInitRangeTable(state, list_make1(entry), permissions);
#else
  entry->updatedCols = columns;
  ExecInitRangeTable(state, list_make1(entry));
#endif
  return state;
}

// The entries of an index in the catalogs and its empty file, with the checks of CREATE INDEX. 16
// takes the number of partitions, 19 what errors are reported for.
inline Oid DefineEmptyIndex(Oid table, IndexStmt *index) {
#if PG_VERSION_NUM >= 190000
  return DefineIndex(nullptr, table, index, InvalidOid, InvalidOid, InvalidOid, -1, false, true, true, true, false)
      .objectId;
#elif PG_VERSION_NUM >= 160000
  return DefineIndex(table, index, InvalidOid, InvalidOid, InvalidOid, -1, false, true, true, true, false).objectId;
#else
  return DefineIndex(table, index, InvalidOid, InvalidOid, InvalidOid, false, true, true, true, false).objectId;
#endif
}

// 16 declared the mutator's arguments.
inline Node *MutateTree(Node *node, Node *(*mutator)(Node *, void *), void *context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_mutator(node, mutator, context);
#else
  return expression_tree_mutator(node, reinterpret_cast<Node *(*)()>(reinterpret_cast<void *>(mutator)), context);
#endif
}

}  // namespace snowflake
