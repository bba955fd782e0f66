// PostgreSQL's headers in C linkage, exports, the differences between server versions, and clocks.
//
// Every file includes this first. Standard headers come after it, and only those that do not
// include <cstdio>: PostgreSQL redefines printf and its like.
#pragma once

// Before 16 modules export everything and PGDLLEXPORT is empty; this library has hidden visibility.
#ifndef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

extern "C" {
#include "postgres.h"

// First, because other versions may lack some headers. The tests have passed up to the newest.
#if PG_VERSION_NUM < 150000
#error "snowflake needs PostgreSQL 15 or later"
#elif PG_VERSION_NUM >= 200000
#error "this release of snowflake knows PostgreSQL 15 to 19 and no later one: a newer release is needed"
#endif

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_control.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_database.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_subscription.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "common/controldata_utils.h"
#include "common/cryptohash.h"
#include "common/file_perm.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "postmaster/postmaster.h"
#include "replication/logicalworker.h"
#include "storage/bufmgr.h"
#include "storage/condition_variable.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pg_shmem.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "storage/sinvaladt.h"
#include "storage/spin.h"
#include "storage/standby.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pidfile.h"
#include "utils/rangetypes.h"
#include "utils/rel.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#include "utils/wait_event.h"
#endif
}

#include <cstdint>

#define SNOWFLAKE_VERSION "1.0.0"

// Minor releases of 15 and 16 brought it in 2024. Needed only without preloading, so from 17 on.
#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL 0
#endif

// From 18 on a library has a name and a version, which pg_get_loaded_modules() shows.
#if PG_VERSION_NUM >= 180000
#define SNOWFLAKE_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "snowflake", .version = SNOWFLAKE_VERSION)
#else
#define SNOWFLAKE_MODULE_MAGIC PG_MODULE_MAGIC
#endif

// A function that SQL calls. Before 16 PG_FUNCTION_INFO_V1 does not export it.
#define SNOWFLAKE_FUNCTION(name)            \
  extern "C" {                              \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
  PG_FUNCTION_INFO_V1(name);                \
  }                                         \
  Datum name(PG_FUNCTION_ARGS)

namespace snowflake {
// Waits of extensions have names from 17 on; before, all show as "Extension".
inline uint32 WaitEventNamed(const char *name) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return PG_WAIT_EXTENSION;
#endif
}

// For what a setting's check hook leaves to its assign hook. Null: there is no memory left.
inline void *AllocateForSetting(size_t size) {
#if PG_VERSION_NUM >= 160000
  return guc_malloc(LOG, size);
#else
  return malloc(size);
#endif
}

inline void FreeForSetting(void *memory) {
#if PG_VERSION_NUM >= 160000
  guc_free(memory);
#else
  free(memory);
#endif
}

// 17 brought transaction_timeout.
inline constexpr bool kHasTransactionTimeout = PG_VERSION_NUM >= 170000;

// From 19 on the hook of parse analysis must not change it.
#if PG_VERSION_NUM >= 190000
using ParsedJumble = const JumbleState;
#else
using ParsedJumble = JumbleState;
#endif

// 19 keeps the names of tranches in shared memory; before, each process inherits its own list.
inline int NewTranche(const char *name) {
#if PG_VERSION_NUM >= 190000
  return LWLockNewTrancheId(name);
#else
  return LWLockNewTrancheId();
#endif
}

inline void RegisterTranche(int tranche, const char *name) {
#if PG_VERSION_NUM < 190000
  LWLockRegisterTranche(tranche, name);
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

// 17 takes the open relation. The lock is the weakest for opening, and ends here: a statement that
// needs a number locks the table itself.
inline Oid IdentitySequence(Oid relation, AttrNumber column) {
#if PG_VERSION_NUM >= 170000
  Relation table = table_open(relation, AccessShareLock);
  const Oid sequence = getIdentitySequence(table, column, true);
  table_close(table, AccessShareLock);
  return sequence;
#else
  return getIdentitySequence(relation, column, true);
#endif
}

// 16 replaced the functions for each kind of object by one.
inline bool MayExecute(Oid function) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
  return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// 19 takes flags.
inline TableScanDesc BeginScan(Relation table, Snapshot snapshot) {
#if PG_VERSION_NUM >= 190000
  return table_beginscan(table, snapshot, 0, nullptr, SO_NONE);
#else
  return table_beginscan(table, snapshot, 0, nullptr);
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

// 16 can return an error instead of raising it.
inline RangeType *MakeRange(TypeCacheEntry *type, RangeBound *lower, RangeBound *upper, bool empty) {
#if PG_VERSION_NUM >= 160000
  return make_range(type, lower, upper, empty, nullptr);
#else
  return make_range(type, lower, upper, empty);
#endif
}

// PostgreSQL's timestamps count microseconds from 2000.
inline constexpr int64_t kPostgresEpochUs =
    static_cast<int64_t>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;

// The wall clock, in Unix microseconds.
inline int64_t NowUnixUs() { return GetCurrentTimestamp() + kPostgresEpochUs; }

// For messages.
inline double Seconds(int64_t us) { return static_cast<double>(us) / USECS_PER_SEC; }

// For assertions.
inline bool IsHeld(const LWLock &lock) { return LWLockHeldByMe(const_cast<LWLock *>(&lock)); }
inline bool IsHeldExclusively(const LWLock &lock) {
  return LWLockHeldByMeInMode(const_cast<LWLock *>(&lock), LW_EXCLUSIVE);
}
inline bool IsLocked(Oid relation, LOCKMODE mode) {
  Relation table = RelationIdGetRelation(relation);
  const bool locked = CheckRelationLockedByMe(table, mode, true);
  RelationClose(table);
  return locked;
}

inline int64_t ClockUs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * USECS_PER_SEC + now.tv_nsec / 1000;
}

// Two clocks that no step of the wall clock changes, the same in all processes. The first is for
// deadlines and pauses; like the system's own timeouts, it stops while the system sleeps.
inline int64_t MonotonicUs() { return ClockUs(CLOCK_MONOTONIC); }

// The second is for ids: it goes on while the system sleeps, if there is such a clock. Above 0.
inline int64_t SteadyUs() {
#ifdef CLOCK_BOOTTIME
  return ClockUs(CLOCK_BOOTTIME) + 1;
#else
  return ClockUs(CLOCK_MONOTONIC) + 1;
#endif
}

// Infinite beyond the range of timestamps; Layout::UnixUsAt() saturates at INT64_MAX.
inline TimestampTz TimestampFromUnixUs(int64_t unix_us) {
  if (unix_us == PG_INT64_MAX) return DT_NOEND;
  if (unix_us < MIN_TIMESTAMP + kPostgresEpochUs) return DT_NOBEGIN;
  const int64_t us = unix_us - kPostgresEpochUs;
  return IS_VALID_TIMESTAMP(us) ? us : DT_NOEND;
}

// The inverse. Saturates for infinite times, and from the year 294247 on, where int64 ends.
inline int64_t UnixUsFromTimestamp(TimestampTz ts) {
  if (TIMESTAMP_IS_NOBEGIN(ts)) return PG_INT64_MIN;
  return ts > PG_INT64_MAX - kPostgresEpochUs ? PG_INT64_MAX : ts + kPostgresEpochUs;
}

}  // namespace snowflake
