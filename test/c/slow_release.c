/*
 * Preloaded after snowflake, this library makes the server's processes pause for up to
 * SNOWFLAKE_PAUSE_US after one in eight releases of a lightweight lock by snowflake. So other
 * processes do whatever they can do before the next step. It replaces LWLockRelease() in the table
 * by which snowflake's code calls the server.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include <unistd.h>

#include "calls.h"
#include "miscadmin.h"
#include "storage/lwlock.h"

PG_MODULE_MAGIC;

static long longest_us;

static void release_and_pause(LWLock *lock) {
  static unsigned seed;

  LWLockRelease(lock);
  if (!IsUnderPostmaster) return;
  if (seed == 0) seed = (unsigned)getpid();
  if (rand_r(&seed) % 8 == 0) usleep((useconds_t)(rand_r(&seed) % longest_us));
}

void _PG_init(void);
PGDLLEXPORT void _PG_init(void) {
  const char *pause = getenv("SNOWFLAKE_PAUSE_US");

  longest_us = pause == NULL ? 1000 : atol(pause);
  replace_call("LWLockRelease", (void *)release_and_pause);
}
