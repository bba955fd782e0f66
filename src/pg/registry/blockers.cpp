// Finds the transaction that blocks a call, in PostgreSQL's lock table and statistics.
#include "pg/registry/blockers.h"

#include "pg/extension.h"
#include "pg/report.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
struct Blocker {
  int pid;
  TransactionId prepared;  // instead of a process
  Oid role;
  TimestampTz since;  // its transaction's start; 0: not known
  bool waits;
};

TimestampTz TransactionStart(int pid) {
  const int count = pgstat_fetch_stat_numbackends();
  for (int i = 1; i <= count; ++i) {
    const PgBackendStatus &status = BackendStatusAt(i);
    if (status.st_procpid == pid) return status.st_xact_start_timestamp;
  }
  return 0;
}

Blocker BlockerOf(const VirtualTransactionId &vxid) {
  // Order: none. What changes meanwhile only makes the message out of date.
  const volatile PGPROC *proc = VirtualTransactionIdIsValid(vxid) ? HolderOf(vxid) : nullptr;
  if (proc != nullptr && proc->pid != 0 && LocalXid(proc) == vxid.localTransactionId)
    return {proc->pid, InvalidTransactionId, proc->roleId, TransactionStart(proc->pid), proc->waitLock != nullptr};
  bool more = false;
  const bool prepared = !VirtualTransactionIdIsValid(vxid);
  return {0, prepared ? vxid.localTransactionId : TwoPhaseGetXidByVirtualXID(vxid, &more), InvalidOid, 0, false};
}

// One that itself waits for a lock is at most a link of a chain. Of the others, the oldest is
// first.
bool ComesFirst(const Blocker &a, const Blocker &b) {
  if (a.waits != b.waits) return b.waits;
  return a.since != 0 && (b.since == 0 || a.since < b.since);
}

bool IsFound(const Blocker &blocker) { return blocker.pid != 0 || TransactionIdIsValid(blocker.prepared); }

// Whose locks on the extension's tables conflict with `mode`.
Blocker FindBlocker(Oid extension, LOCKMODE mode) {
  Blocker blocker = {};
  pgstat_clear_backend_activity_snapshot();
  ForEachTable(extension, [&](Oid table) {
    LOCKTAG tag;
    SET_LOCKTAG_RELATION(tag, MyDatabaseId, table);
    int count = 0;
    const VirtualTransactionId *vxids = GetLockConflicts(&tag, mode, &count);
    for (int i = 0; i < count; ++i) {
      const Blocker other = BlockerOf(vxids[i]);
      // One that is not found has ended.
      if (IsFound(other) && (!IsFound(blocker) || ComesFirst(other, blocker))) blocker = other;
    }
    return true;
  });
  return blocker;
}

// Null: there is none.
char *DescribeBlocker(Oid extension, LOCKMODE mode) {
  const Blocker blocker = FindBlocker(extension, mode);
  if (!IsFound(blocker)) return nullptr;
  if (blocker.pid == 0)
    return psprintf("The prepared transaction %u has locked the registry's tables.", blocker.prepared);
  const char *role = OidIsValid(blocker.role) ? GetUserNameFromId(blocker.role, true) : nullptr;
  const char *of_role = role != nullptr ? psprintf(" of role \"%s\"", role) : "";
  if (blocker.since == 0) return psprintf("Process %d%s has locked the registry's tables.", blocker.pid, of_role);
  return psprintf("Process %d%s has locked the registry's tables in a transaction that began %.1f s ago.", blocker.pid,
                  of_role, Seconds(GetCurrentTimestamp() - blocker.since));
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
  if (error->detail == nullptr) error->detail = DescribeBlocker(extension, ExclusiveLock);
  ReThrowError(error);
}

void ReportChanging(Oid extension) {
  const char *blocker = DescribeBlocker(extension, RowShareLock);
  ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE), errmsg("the registry's tables are locked"),
                  blocker != nullptr ? errdetail_internal("%s", blocker) : 0));
}

}  // namespace snowflake
