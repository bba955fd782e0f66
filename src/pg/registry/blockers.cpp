// Finds the transaction that blocks a call, in PostgreSQL's lock table, processes and statistics.
#include "pg/registry/blockers.h"

#include "pg/extension.h"
#include "pg/report.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// How many waits for locks are followed from one process to the next.
constexpr int kLongestChain = 20;

struct Blocker {
  int pid;
  TransactionId prepared;  // instead of a process
  Oid role;
  TimestampTz since;  // its transaction's start; 0: not known
  bool waits_for_lock;
  bool waits_for_standby;
  uint32 wait_event;
  bool behind_prepared;  // it waits for a prepared transaction
  int holder;            // of the tables, if that waits for this one; 0: itself
  bool holder_waits;     // for the tables, too, and is ahead of the call
};

bool IsFound(const Blocker &blocker) { return blocker.pid != 0 || TransactionIdIsValid(blocker.prepared); }

TimestampTz TransactionStart(int pid) {
  const int count = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= count; ++i) {
    const PgBackendStatus &status = BackendStatusAt(i);
    if (status.st_procpid == pid) return status.st_xact_start_timestamp;
  }
  return 0;
}

// Order: none. What changes meanwhile only makes the message out of date.
Blocker BlockerAt(const volatile PGPROC *proc) {
  return {proc->pid,
          InvalidTransactionId,
          proc->roleId,
          TransactionStart(proc->pid),
          proc->waitLock != nullptr,
          AwaitsStandby(proc),
          proc->wait_event_info,
          false,
          0,
          false};
}

Blocker BlockerOf(const VirtualTransactionId &vxid) {
  const volatile PGPROC *proc = VirtualTransactionIdIsValid(vxid) ? HolderOf(vxid) : nullptr;
  if (proc != nullptr && proc->pid != 0 && LocalXid(proc) == vxid.localTransactionId) return BlockerAt(proc);
  bool more = false;
  const bool prepared = !VirtualTransactionIdIsValid(vxid);
  Blocker blocker = {};
  blocker.prepared = prepared ? vxid.localTransactionId : TwoPhaseGetXidByVirtualXID(vxid, &more);
  return blocker;
}

constexpr int kNone = -1;

// Which process one waits for; 0: a prepared transaction.
int BlockingPid(int pid) {
  ArrayType *pids = DatumGetArrayTypeP(DirectFunctionCall1(pg_blocking_pids, Int32GetDatum(pid)));
  return ArrayGetNItems(ARR_NDIM(pids), ARR_DIMS(pids)) > 0 ? *reinterpret_cast<int32 *>(ARR_DATA_PTR(pids)) : kNone;
}

// The end of the chain of waits that begins with one that has locked the tables. Nothing if that is
// this process.
Blocker EndOf(Blocker blocker) {
  const int holder = blocker.pid;
  for (int steps = 0; blocker.waits_for_lock && steps < kLongestChain; ++steps) {
    const int pid = BlockingPid(blocker.pid);
    if (pid == MyProcPid) return {};
    blocker.behind_prepared = pid == 0;
    const PGPROC *proc = pid > 0 ? BackendPidGetProc(pid) : nullptr;
    if (proc == nullptr) break;
    blocker = BlockerAt(proc);
  }
  if (blocker.pid != holder) blocker.holder = holder;
  return blocker;
}

// One that itself waits for a lock is at most a link of a chain. Of the others, the oldest is
// first. If several chains lead to it, its own locks count.
bool ComesFirst(const Blocker &a, const Blocker &b) {
  if (a.waits_for_lock != b.waits_for_lock) return b.waits_for_lock;
  if (a.pid == b.pid) return a.holder == 0;
  return a.since != 0 && (b.since == 0 || a.since < b.since);
}

// Whom a process waits for that is itself first in the queue for a lock on a table that no call
// takes, such as VACUUM FULL. That one's own lock need not conflict with a call.
Blocker AheadInQueue(Oid extension) {
  Blocker blocker = {};
  const LockData *locks = GetLockStatusData();
  ForEachTable(extension, [&](Oid table) {
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
    for (int i = 0; i < locks->nelements; ++i) {
      const LockInstanceData &lock = locks->locks[i];
      if (lock.waitLockMode <= ShareRowExclusiveLock || memcmp(&lock.locktag, &tag, sizeof(tag)) != 0) continue;
      const PGPROC *proc = lock.pid != MyProcPid ? BackendPidGetProc(lock.pid) : nullptr;
      const Blocker other = proc != nullptr ? EndOf(BlockerAt(proc)) : Blocker{};
      if (IsFound(other) && (!IsFound(blocker) || ComesFirst(other, blocker))) blocker = other;
    }
    return true;
  });
  blocker.holder_waits = true;
  return blocker;
}

// Whose locks on the extension's tables conflict with `mode`, or whom that one waits for.
Blocker FindBlocker(Oid extension, LOCKMODE mode) {
  Blocker blocker = {};
  pgstat_clear_backend_activity_snapshot();
  ForEachTable(extension, [&](Oid table) {
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
    int count = 0;
    const VirtualTransactionId *vxids = GetLockConflicts(&tag, mode, &count);
    for (int i = 0; i < count; ++i) {
      const Blocker other = EndOf(BlockerOf(vxids[i]));
      // One that is not found has ended.
      if (IsFound(other) && (!IsFound(blocker) || ComesFirst(other, blocker))) blocker = other;
    }
    return true;
  });
  return IsFound(blocker) ? blocker : AheadInQueue(extension);
}

// "Process 7 of role "x"", with when its transaction began.
char *DescribeProcess(const Blocker &blocker, const char *does) {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfo(&text, "Process %d", blocker.pid);
  const char *role = OidIsValid(blocker.role) ? GetUserNameFromId(blocker.role, true) : nullptr;
  if (role != nullptr) appendStringInfo(&text, " of role \"%s\"", role);
  appendStringInfo(&text, " %s", does);
  if (blocker.since != 0)
    appendStringInfo(&text, " in a transaction that began %.1f s ago", Seconds(GetCurrentTimestamp() - blocker.since));
  return text.data;
}

char *Describe(const Blocker &blocker) {
  if (blocker.pid == 0)
    return psprintf("The prepared transaction %u has locked the registry's tables.", blocker.prepared);
  if (blocker.waits_for_standby)
    return psprintf("%s; synchronous_standby_names is \"%s\".",
                    DescribeProcess(blocker, "waits for a synchronous standby"), SyncRepStandbyNames);
  const char *event = pgstat_get_wait_event(blocker.wait_event);
  const char *waits = blocker.behind_prepared ? " It waits for a prepared transaction."
                      : event != nullptr      ? psprintf(" It waits for %s.", event)
                                              : "";
  const char *does = blocker.holder_waits ? "waits to lock" : "has locked";
  const char *blocks = blocker.holder == 0 ? "" : psprintf("blocks process %d, which ", blocker.holder);
  const char *comma = blocker.holder == 0 ? "" : ",";
  return psprintf("%s.%s", DescribeProcess(blocker, psprintf("%s%s the registry's tables%s", blocks, does, comma)),
                  waits);
}

}  // namespace

void RethrowWithBlocker(Oid extension) {
  if (!EndsWait(geterrcode())) PG_RE_THROW();
  // A cancellation is raised where nothing is half done and no lightweight lock is held, so
  // catalogs can be read. Locks on rows come with RowShareLock or more on their table, which is
  // kept until the transaction ends.
  MemoryContextSwitchTo(TopTransactionContext);
  ErrorData *error = CopyErrorData();
  FlushErrorState();
  if (error->detail == nullptr) {
    const Blocker blocker = FindBlocker(extension, ExclusiveLock);
    if (IsFound(blocker)) error->detail = Describe(blocker);
    if (blocker.waits_for_standby) {
      error->column_name = pstrdup(kStandbyColumn);
      error->hint = pstrdup(kStandbyToDo);
    }
  }
  ReThrowError(error);
}

void ReportChanging(Oid extension) {
  const Blocker blocker = FindBlocker(extension, RowShareLock);
  ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("the registry's tables are locked"),
                  IsFound(blocker) ? errdetail_internal("%s", Describe(blocker)) : 0,
                  blocker.waits_for_standby ? err_generic_string(PG_DIAG_COLUMN_NAME, kStandbyColumn) : 0));
}

}  // namespace snowflake
