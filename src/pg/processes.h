// Headers of PostgreSQL for processes, transactions, shared memory and locks, and differences
// between its versions.
#pragma once

#include "pg/pg.h"

extern "C" {
#include <unistd.h>

#include "access/parallel.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "common/file_perm.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "postmaster/postmaster.h"
#include "replication/logicalworker.h"
#include "replication/syncrep.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/pg_shmem.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/sinvaladt.h"
#include "storage/standby.h"
#include "utils/pidfile.h"
#include "utils/timeout.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#include "utils/wait_event.h"
#endif
}

namespace snowflake {
// Waits of extensions have names from 17 on; before, all show as "Extension".
inline uint32 WaitEventNamed(const char *name) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return PG_WAIT_EXTENSION;
#endif
}

// 17 brought named segments of shared memory, which any process can make while the server runs;
// from 19 on, the function that fills a new one has an argument. Null before 17.
inline void *NamedSegment(const char *name, Size size, void (*fill)(void *)) {
#if PG_VERSION_NUM >= 190000
  bool found = false;
  const auto call = [](void *segment, void *argument) { reinterpret_cast<void (*)(void *)>(argument)(segment); };
  return GetNamedDSMSegment(name, size, call, &found, reinterpret_cast<void *>(fill));
#elif PG_VERSION_NUM >= 170000
  bool found = false;
  return GetNamedDSMSegment(name, size, fill, &found);
#else
  return nullptr;
#endif
}

// 17 replaced backend ids by proc numbers.
inline PGPROC *HolderOf(const VirtualTransactionId &vxid) {
#if PG_VERSION_NUM >= 170000
  return ProcNumberGetProc(vxid.procNumber);
#else
  return BackendIdGetProc(vxid.backendId);
#endif
}

// 17 moved it beside the proc number.
inline uint32 LocalXid(const volatile PGPROC *proc) {
#if PG_VERSION_NUM >= 170000
  return proc->vxid.lxid;
#else
  return proc->lxid;
#endif
}

// Whether a process waits for a synchronous standby to confirm its commit. It keeps its locks.
// Order: none. What changes meanwhile only makes a message out of date.
inline bool AwaitsStandby(const volatile PGPROC *proc) { return proc->wait_event_info == WAIT_EVENT_SYNC_REP; }

// 16 renamed the function. `index` counts from 1.
inline const PgBackendStatus &BackendStatusAt(int index) {
#if PG_VERSION_NUM >= 160000
  return pgstat_get_local_beentry_by_index(index)->backendStatus;
#else
  return pgstat_fetch_stat_local_beentry(index)->backendStatus;
#endif
}

// Whether a process prepared a transaction; in 17 its PGPROC has that. It is needed only if
// parallel workers have this library and their leader does not, which needs 17, too.
inline bool WasOf(const volatile PGPROC *prepared, int proc_number, uint32 lxid) {
#if PG_VERSION_NUM >= 170000
  return prepared->vxid.procNumber == proc_number && prepared->vxid.lxid == lxid;
#else
  return false;
#endif
}

// Whether a prepared transaction is of no process: it was prepared before the server's start, or on
// another server. 17 replaced backend ids.
inline bool WasRecovered(const volatile PGPROC *prepared) {
#if PG_VERSION_NUM >= 170000
  return prepared->vxid.procNumber == INVALID_PROC_NUMBER;
#else
  return prepared->backendId == InvalidBackendId;
#endif
}

// 19 takes the full transaction id.
inline PGPROC *ProcOfPrepared(FullTransactionId xid) {
#if PG_VERSION_NUM >= 190000
  return TwoPhaseGetDummyProc(xid, false);
#else
  return TwoPhaseGetDummyProc(XidFromFullTransactionId(xid), false);
#endif
}

}  // namespace snowflake
