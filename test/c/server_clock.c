/*
 * Holds the mutex of the server's clock, as a process does that is stopped there, for
 * test/t/clock/held_leap.pl. Where it is in the state block is checked by what is beside it.
 */
#include "postgres.h"
#include "fmgr.h"

#include <sys/time.h>

#include "storage/shmem.h"
#include "storage/spin.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(hold_mutex);

/* Of StateBlock in pg/state/state_block.cpp, and ServerClock in it. */
typedef struct {
  int numbers[3];
  int64 box[2];
  slock_t mutex;
  int64 offset_us;
} Block;

/* hold_mutex(size, held): of the block, as pg_shmem_allocations shows it; whether it is held from
 * now on. */
Datum hold_mutex(PG_FUNCTION_ARGS) {
  bool found;
  Block *block = ShmemInitStruct("snowflake", (Size)PG_GETARG_INT64(0), &found);
  struct timeval now;

  gettimeofday(&now, NULL);
  /* The monotonic clock shows less than two years. */
  if (!found || llabs((long long)now.tv_sec * 1000000 - block->offset_us) > INT64CONST(63072000000000))
    elog(ERROR, "the server's clock is elsewhere in the block");
  if (PG_GETARG_BOOL(1))
    SpinLockAcquire(&block->mutex);
  else
    SpinLockRelease(&block->mutex);
  PG_RETURN_VOID();
}
