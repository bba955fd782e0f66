/*
 * Makes one malloc() fail, for test/t/node/keeper_out_of_memory.pl.
 *
 * Preloaded (LD_PRELOAD), it fails the next malloc() that is as large as what
 * GetRunningTransactionData() allocates when a process calls it first, in the process whose number
 * is in the file that SNOWFLAKE_NO_MEMORY_FILE names, and removes the file.
 */
#include "postgres.h"

#include <errno.h>
#include <unistd.h>

#include "access/twophase.h"
#include "miscadmin.h"
#include "storage/proc.h"

/* Of the server: the library is loaded into other programs, too. */
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
