/*
 * Makes one malloc() fail, for test/t/node/keeper_out_of_memory.pl.
 *
 * Preloaded (LD_PRELOAD), it acts in the process whose number is in the file that
 * SNOWFLAKE_NO_MEMORY_FILE names. There the next malloc() fails that is as large as the one of the
 * first GetRunningTransactionData() of a process. Then the file is removed.
 */
#include "postgres.h"

#include <errno.h>
#include <unistd.h>

#include "access/twophase.h"
#include "miscadmin.h"
#include "storage/proc.h"

/* These belong to the server, and the library is also loaded into other programs. */
#pragma weak MaxBackends
#pragma weak max_prepared_xacts

extern void *__libc_malloc(size_t size);
extern PGDLLEXPORT void *malloc(size_t size);

static bool has_turn(void) {
  const char *name = getenv("SNOWFLAKE_NO_MEMORY_FILE");
  char text[16] = "";
  int fd = name != NULL ? open(name, O_RDONLY) : -1;

  if (fd < 0) return false;
  if (read(fd, text, sizeof(text) - 1) < 0) text[0] = '\0';
  close(fd);
  return atoi(text) == getpid() && unlink(name) == 0;
}

void *malloc(size_t size) {
  if (&MaxBackends != NULL &&
      size == sizeof(TransactionId) * (PGPROC_MAX_CACHED_SUBXIDS + 1) * (MaxBackends + max_prepared_xacts) && has_turn()) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(size);
}
