/*
 * A clock whose readings cost SLOW_CLOCK_NS nanoseconds more, or a little more than that, as on a
 * machine where a reading is a system call. A library for LD_PRELOAD.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

static clock_gettime_fn real_clock_gettime;
static int64_t more_ns;

__attribute__((constructor)) static void Find(void) {
  const char *ns = getenv("SLOW_CLOCK_NS");
  real_clock_gettime = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
  more_ns = ns != NULL ? atoll(ns) : 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *out) {
  struct timespec from, now;
  real_clock_gettime(CLOCK_MONOTONIC, &from);
  do real_clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < more_ns);
  return real_clock_gettime(which, out);
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
