// Those of PostgreSQL's headers that most files need, in C linkage; exports, differences between
// server versions, and clocks. catalogs.h, execution.h and processes.h bring more.
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

#include "access/xact.h"
#include "common/cryptohash.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#if PG_VERSION_NUM >= 190000
#include "portability/instr_time.h"
#endif
}

#include <cstdint>
#include <ctime>

#define SNOWFLAKE_VERSION "1.0.0"

// Which spinlock guards what. No assertion can ask who holds one, so clang compares each access
// with this (-Wthread-safety, in test/run). A lambda says which lock it runs under, because clang
// does not see who calls it.
#ifdef __clang__
#define SNOWFLAKE_SPINLOCK __attribute__((capability("spinlock")))
#define SNOWFLAKE_GUARDED_BY(lock) __attribute__((guarded_by(lock)))
#define SNOWFLAKE_HOLDS(lock) __attribute__((requires_capability(lock)))
#define SNOWFLAKE_LOCKS_UNCHECKED __attribute__((no_thread_safety_analysis))
#else
#define SNOWFLAKE_SPINLOCK
#define SNOWFLAKE_GUARDED_BY(lock)
#define SNOWFLAKE_HOLDS(lock)
#define SNOWFLAKE_LOCKS_UNCHECKED
#endif

using Spinlock SNOWFLAKE_SPINLOCK = slock_t;

// For a few instructions that only compute.
template <typename Block, typename Critical>
inline void WithMutex(Block *block, Critical critical) SNOWFLAKE_LOCKS_UNCHECKED {
  SpinLockAcquire(&block->mutex);
  critical();
  SpinLockRelease(&block->mutex);
}

// Minor releases of 15 and 16 brought it in 2024. Needed only without preloading, so from 17 on.
#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL 0
#endif

// From 18 on a library has a name and a version, which pg_get_loaded_modules() shows.
#if PG_VERSION_NUM >= 180000
#define SNOWFLAKE_MODULE_MAGIC(library) PG_MODULE_MAGIC_EXT(.name = library, .version = SNOWFLAKE_VERSION)
#else
#define SNOWFLAKE_MODULE_MAGIC(library) PG_MODULE_MAGIC
#endif

// A function that SQL calls. Before 16 PG_FUNCTION_INFO_V1 does not export it.
#define SNOWFLAKE_FUNCTION(name)            \
  extern "C" {                              \
  PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
  PG_FUNCTION_INFO_V1(name);                \
  }                                         \
  Datum name(PG_FUNCTION_ARGS)

namespace snowflake {
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

// PostgreSQL's timestamps count microseconds from 2000.
inline constexpr int64_t kPostgresEpochUs =
    static_cast<int64_t>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;

// The wall clock, in Unix microseconds.
inline int64_t NowUnixUs() { return GetCurrentTimestamp() + kPostgresEpochUs; }

// For messages.
inline double Seconds(int64_t us) { return static_cast<double>(us) / USECS_PER_SEC; }

// Ends the process as PostgreSQL's Assert() does. 16 dropped the kind of the failure.
[[noreturn]] inline void FailAsAssert(const char *condition, const char *file, int line) {
#if PG_VERSION_NUM >= 160000
  ExceptionalCondition(condition, file, line);
#else
  ExceptionalCondition(condition, "FailedAssertion", file, line);
#endif
}

// For assertions.
inline bool IsHeld(const LWLock &lock) { return LWLockHeldByMe(const_cast<LWLock *>(&lock)); }
inline bool IsHeldExclusively(const LWLock &lock) {
  return LWLockHeldByMeInMode(const_cast<LWLock *>(&lock), LW_EXCLUSIVE);
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

// 19 brought timing_clock_source, by which an operator says that the processor's counter is unfit.
inline bool OnlySystemClock() {
#if PG_VERSION_NUM >= 190000
  return timing_clock_source == TIMING_CLOCK_SOURCE_SYSTEM;
#else
  return false;
#endif
}

// Infinite beyond the range of timestamps; Layout::UnixUsAt() saturates at INT64_MAX.
inline TimestampTz TimestampFromUnixUs(int64_t unix_us) {
  if (unix_us == PG_INT64_MAX) return DT_NOEND;
  if (unix_us < MIN_TIMESTAMP + kPostgresEpochUs) return DT_NOBEGIN;
  const int64_t us = unix_us - kPostgresEpochUs;
  return IS_VALID_TIMESTAMP(us) ? us : DT_NOEND;
}

// The inverse: the extremes are the infinities alone. From the year 294247 on, where int64 ends,
// the result is the last microsecond before, which is later than any tick.
inline int64_t UnixUsFromTimestamp(TimestampTz ts) {
  if (TIMESTAMP_IS_NOBEGIN(ts)) return PG_INT64_MIN;
  if (TIMESTAMP_IS_NOEND(ts)) return PG_INT64_MAX;
  constexpr int64_t last_us = PG_INT64_MAX - 1;
  return ts > last_us - kPostgresEpochUs ? last_us : ts + kPostgresEpochUs;
}

}  // namespace snowflake
