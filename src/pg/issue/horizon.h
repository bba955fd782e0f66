// The horizon, section 12 of the design: what PostgreSQL says of transactions, for core/horizon.h.
// A transaction's first call notes its first id (issue.cpp). Calls take samples, and so does the
// keeper for a while after the last call.
//
// This rests on what PostgreSQL does; test/t/horizon/promises.pl checks each:
//
// a. A transaction has its lxid before any of its statements runs, and until others see it as
//    ended. With an xid, the two end together, under ProcArrayLock. That is after its commit, which
//    may have waited for a synchronous standby.
// b. A snapshot has in xip every xid in progress below its xmax, except those of subtransactions
//    and of its own transaction. So has GetRunningTransactionData(), with its own.
// c. A transaction that is prepared is in progress under its own PGPROC before its process's lxid
//    ends. XACT_EVENT_PRE_PREPARE is before both. XACT_EVENT_PREPARE is after both, and before
//    others can end the transaction. From before the first of both on, that PGPROC has the virtual
//    transaction id of the process, or an invalid one if the transaction was recovered.
// d. A parallel worker's lock group leader runs the transaction it works for, and outlasts it.
// e. The active snapshot is a copy, made for one command or shared by those of a function. In
//    copies PostgreSQL sets snapXactCompletionCount to 0 and never reads it. The result is kept
//    there, because each partition, arm of a UNION ALL and rescan evaluates the function by itself.
//    If it is no copy, or the field is in use, the call fails. Parallel workers have copies of
//    their own, so the function is parallel restricted.
#pragma once

#include "pg/state/horizon_block.h"

namespace snowflake {
// The horizon for the current statement, the same in each call of it. `fn_oid` is the SQL function
// that asks. Errors: 25006 during recovery, 0A000 for another node of Citus, 55000 without a node.
int64_t Horizon(Oid fn_oid);

// Of the keeper: takes a sample if sessions ask for the horizon and one is due. Returns in how many
// microseconds the next is due; INT64_MAX: not before a session asks.
int64_t SampleForAskers(NodeBlock *node);

// Of a keeper that ends, when its node issues nothing any more: when the tick began that the next
// life goes on after. No horizon above it is reported until there is another keeper. 0: this life
// knows of none.
int64_t EndLife(NodeBlock *node);

// After a wrong clock was set right, takes back a horizon of the future. What lies before the
// present stays reported: the new horizon is that of a sample taken now.
struct HorizonReset {
  enum { kDone, kNotOfFuture, kNotWritten } outcome;
  int64_t before, after;
  int64_t clock_us;
};
HorizonReset ResetHorizon(Oid fn_oid);

// What the view shows.
struct HorizonShown {
  bool asked;       // sessions have asked for it
  int64_t horizon;  // 0: none is known yet
  int64_t highest;  // that was sampled, so that it is or will be reported
  int64_t limit;    // that was reported, or may have been after a loss of the black box
  FirstId holder;
  int64_t waits_us;  // since when a call waits for the keeper; 0: none does
  Layout layout;
};
HorizonShown ShowHorizon(NodeBlock *node, Oid extension);

}  // namespace snowflake
