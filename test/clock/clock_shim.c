/*
 * A wall clock and a steady clock that can be moved, for a process and its children.
 *
 * A library for LD_PRELOAD. It replaces clock_gettime() for CLOCK_REALTIME, CLOCK_REALTIME_COARSE,
 * CLOCK_TAI and CLOCK_BOOTTIME, gettimeofday() and time(). It reads 32 bytes of the file that
 * SNOWFLAKE_CLOCK_FILE names:
 *
 *     int64 offset_ns           added to the real clock
 *     int64 frozen_ns           0: the clock runs; otherwise it stands still at this time, in
 *                               nanoseconds since 1970
 *     int64 steady_offset_ns    the same for CLOCK_BOOTTIME
 *     int64 steady_frozen_ns
 *
 * All processes map the file shared, so a write to it moves the clocks of all of them at once. The
 * file must exist, with 32 bytes, before the first process reads it; otherwise the clocks are the
 * real ones. CLOCK_MONOTONIC stays as it is, so timeouts and sleeps keep their lengths.
 *
 * Write the file in place: if another file is renamed to its name, the processes do not see it.
 * Each field is read atomically, but not all of them together.
 *
 * The library allocates nothing and takes no lock, so it may be called from a signal handler and
 * before and after a fork. If two threads make the first call at the same time, both map the file,
 * and one mapping stays unused.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct clock {
  int64_t offset_ns;
  int64_t frozen_ns;
};

struct clock_file {
  struct clock wall;
  struct clock steady;
};

static const int64_t kNsPerSecond = 1000000000;

/* Used if there is no file. */
static const struct clock_file real_clock;

static const struct clock_file *mapped;

static const struct clock_file *MapClockFile(void) {
  const char *name = getenv("SNOWFLAKE_CLOCK_FILE");
  if (name == NULL || name[0] == '\0') return &real_clock;
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &real_clock;
  struct stat about;
  void *at = MAP_FAILED;
  /* A read beyond the end of a short file would be a SIGBUS. */
  if (fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof(struct clock_file))
    at = mmap(NULL, sizeof(struct clock_file), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return at == MAP_FAILED ? &real_clock : at;
}

static const struct clock_file *ClockFile(void) {
  const struct clock_file *file = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE);
  if (file == NULL) {
    const int saved_errno = errno;
    file = MapClockFile();
    __atomic_store_n(&mapped, file, __ATOMIC_RELEASE);
    errno = saved_errno;
  }
  return file;
}

static void SetFromNs(struct timespec *out, int64_t ns) {
  int64_t seconds = ns / kNsPerSecond;
  int64_t rest = ns % kNsPerSecond;
  if (rest < 0) {
    seconds--;
    rest += kNsPerSecond;
  }
  out->tv_sec = seconds;
  out->tv_nsec = rest;
}

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

/* The C library's function, which need not enter the kernel. It is looked up before main(), because
 * a signal handler must not call dlsym(). */
static clock_gettime_fn real_clock_gettime;

__attribute__((constructor)) static void FindRealClock(void) {
  real_clock_gettime = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, struct timespec *out) {
  const int result =
      real_clock_gettime != NULL ? real_clock_gettime(which, out) : (int)syscall(SYS_clock_gettime, which, out);
  const int steady = which == CLOCK_BOOTTIME;
  const int wall = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE || which == CLOCK_TAI;
  if (result != 0 || !(steady || wall)) return result;

  const struct clock *clock = steady ? &ClockFile()->steady : &ClockFile()->wall;
  const int64_t frozen_ns = __atomic_load_n(&clock->frozen_ns, __ATOMIC_RELAXED);
  const int64_t offset_ns = __atomic_load_n(&clock->offset_ns, __ATOMIC_RELAXED);
  if (frozen_ns != 0)
    SetFromNs(out, frozen_ns);
  else if (offset_ns != 0)
    SetFromNs(out, (int64_t)out->tv_sec * kNsPerSecond + out->tv_nsec + offset_ns);
  return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  if (zone != NULL) {
    struct timeval unused;
    if (syscall(SYS_gettimeofday, &unused, zone) != 0) return -1;
  }
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
