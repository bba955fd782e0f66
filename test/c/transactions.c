/*
 * Reports how PostgreSQL orders the end of a transaction, for test/t/horizon/promises.pl: what
 * other sessions could see at each of its callbacks. Also simulates a PostgreSQL that does not do
 * what snowflake relies on.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include "calls.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/standby.h"
#include "utils/array.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(running);
PG_FUNCTION_INFO_V1(seen);
PG_FUNCTION_INFO_V1(is_unmarked);
PG_FUNCTION_INFO_V1(with_snapshot);
PG_FUNCTION_INFO_V1(without_backends);
PG_FUNCTION_INFO_V1(surprise);

extern PGDLLEXPORT void _PG_init(void);

static TransactionId own;
static const char *const names[] = {"commit",  "parallel commit", "abort",       "parallel abort",
                                    "prepare", "pre commit",      "parallel pre commit", "pre prepare"};

static LocalTransactionId lxid_of(PGPROC *proc) {
#if PG_VERSION_NUM >= 170000
  return proc->vxid.lxid;
#else
  return proc->lxid;
#endif
}

static bool is_running(TransactionId xid) {
  RunningTransactions running = GetRunningTransactionData();
  bool found = false;

  for (int i = 0; i < running->xcnt; ++i) found |= running->xids[i] == xid;
  LWLockRelease(ProcArrayLock);
  LWLockRelease(XidGenLock);
  return found;
}

static bool has_proc(TransactionId xid) {
  for (int i = 0; i < max_prepared_xacts; ++i)
    if (PreparedXactProcs[i].xid == xid && PreparedXactProcs[i].databaseId == MyProc->databaseId) return true;
  return false;
}

static void tell(XactEvent event, void *arg) {
  PGPROC *leader = MyProc->lockGroupLeader;

  if (TransactionIdIsValid(GetTopTransactionIdIfAny())) own = GetTopTransactionIdIfAny();
  if (event == XACT_EVENT_PARALLEL_PRE_COMMIT)
    elog(LOG, "at %s: the leader's lxid is %s, its pid %d", names[event], lxid_of(leader) != 0 ? "there" : "gone", leader->pid);
  if (!TransactionIdIsValid(own) || event == XACT_EVENT_PARALLEL_PRE_COMMIT || event == XACT_EVENT_PARALLEL_COMMIT) return;
  elog(LOG, "at %s: the lxid is %s, the xid %s, %s", names[event], lxid_of(MyProc) != 0 ? "there" : "gone",
       is_running(own) ? "running" : "ended", has_proc(own) ? "prepared" : "not prepared");
  if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) own = InvalidTransactionId;
}

void _PG_init(void) { RegisterXactCallback(tell, NULL); }

static Datum xids(const TransactionId *from, int count) {
  Datum *values = palloc(sizeof(Datum) * (count + 1));

  for (int i = 0; i < count; ++i) values[i] = TransactionIdGetDatum(from[i]);
  return PointerGetDatum(construct_array(values, count, XIDOID, sizeof(TransactionId), true, TYPALIGN_INT));
}

/* The xids in progress, without those of subtransactions. */
Datum running(PG_FUNCTION_ARGS) {
  RunningTransactions running = GetRunningTransactionData();
  int count = running->xcnt;
  TransactionId *copy = malloc(sizeof(TransactionId) * (count + 1));

  memcpy(copy, running->xids, sizeof(TransactionId) * count);
  LWLockRelease(ProcArrayLock);
  LWLockRelease(XidGenLock);
  return xids(copy, count);
}

/* The xids in progress in the statement's snapshot. */
Datum seen(PG_FUNCTION_ARGS) { return xids(GetActiveSnapshot()->xip, (int)GetActiveSnapshot()->xcnt); }

/* Whether the statement's snapshot is a copy, and the field that stores the horizon is empty. */
Datum is_unmarked(PG_FUNCTION_ARGS) {
  return BoolGetDatum(GetActiveSnapshot()->copied && GetActiveSnapshot()->snapXactCompletionCount == 0);
}

/* with_snapshot(function, count, copied) -> bigint: its result with these fields in the statement's
 * snapshot. */
Datum with_snapshot(PG_FUNCTION_ARGS) {
  Snapshot snapshot = GetActiveSnapshot();
  const uint64 count = snapshot->snapXactCompletionCount;
  const bool copied = snapshot->copied;
  Datum result = 0;

  PG_TRY();
  {
    snapshot->snapXactCompletionCount = (uint64)PG_GETARG_INT64(1);
    snapshot->copied = PG_GETARG_BOOL(2);
    result = OidFunctionCall0(PG_GETARG_OID(0));
  }
  PG_FINALLY();
  {
    snapshot->snapXactCompletionCount = count;
    snapshot->copied = copied;
  }
  PG_END_TRY();
  return result;
}

/* without_backends(function) -> bigint: its result if this process is not counted as one of the
 * server's. */
Datum without_backends(PG_FUNCTION_ARGS) {
  const int backends = MaxBackends;
  FmgrInfo function;
  Datum result = 0;

  fmgr_info(PG_GETARG_OID(0), &function);
  PG_TRY();
  {
    MaxBackends = 0;
    result = FunctionCall0Coll(&function, InvalidOid);
  }
  PG_FINALLY();
  { MaxBackends = backends; }
  PG_END_TRY();
  return result;
}

static RunningTransactions too_many(void) {
  RunningTransactions running = GetRunningTransactionData();

  running->xcnt = MaxBackends + max_prepared_xacts + 1;
  return running;
}

static Snapshot no_copy(Snapshot snapshot) { return snapshot; }

/* surprise(what): from now on, a function that snowflake calls in this session behaves
 * differently. */
Datum surprise(PG_FUNCTION_ARGS) {
  const char *what = PG_GETARG_CSTRING(0);

  if (strcmp(what, "more transactions than processes") == 0)
    replace_call("GetRunningTransactionData", (void *)too_many);
  else if (strcmp(what, "a registered snapshot is no copy") == 0)
    replace_call("RegisterSnapshot", (void *)no_copy);
  else
    elog(ERROR, "there is no surprise called \"%s\"", what);
  PG_RETURN_VOID();
}
