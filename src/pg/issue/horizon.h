// The horizon, section 12 of the design: what PostgreSQL says of transactions, for core/horizon.h. Where a run is taken, its first id
// is noted for the transaction (issue.cpp); samples are taken by those who ask, and by the keeper while somebody does.
//
// That rests on what PostgreSQL does, and test/t/horizon/promises.pl looks at each:
//
// a. A transaction has its lxid before any of its statements runs, and until others see it as ended: with an xid, the two end together,
//    under ProcArrayLock. That is after its commit, be it a synchronous one that waits for a standby.
// b. A snapshot has in xip every xid in progress below its xmax, but for those of subtransactions, and its own; so has what
//    GetRunningTransactionData() returns, with its own.
// c. A transaction that is prepared is in progress under its own PGPROC before its process's lxid ends. XACT_EVENT_PRE_PREPARE is
//    before both, XACT_EVENT_PREPARE after, and before others can end it. From before the first of both on,
//    that PGPROC has the virtual transaction id of the process; if it was recovered, that of none.
// d. A parallel worker's lock group leader is the process whose transaction it works for, which outlasts it.
// e. The active snapshot is a copy, made for one command or shared by those of a function. In copies
//    PostgreSQL sets snapXactCompletionCount to 0 and never reads it. The answer is kept in it, because
//    each partition, each arm of a UNION ALL and each rescan evaluates the function by itself.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {

// For the statement under way, which gets one answer. `fn_oid` is the SQL function that asks. Errors:
// 25006 during recovery, 0A000 for another node of Citus, 55000 if there is no node.
int64_t Horizon(Oid fn_oid);

// Of the keeper: takes a sample where somebody asks for the horizon and one is due. Returns in how many microseconds the next will be;
// INT64_MAX: not before somebody asks.
int64_t SampleForAskers(NodeBlock *node);

// What the view shows; horizon 0: nobody has asked for it, or nothing is known yet.
struct HorizonShown {
  int64_t horizon;
  Drawn holder;
  Layout layout;
};
HorizonShown ShowHorizon(NodeBlock *node, Oid extension);

}  // namespace snowflake
