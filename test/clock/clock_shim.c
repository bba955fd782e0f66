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
 * The processor's counter does not follow these clocks, so processes are told that they may not read
 * it: prctl(PR_GET_TSC) says so. SNOWFLAKE_CLOCK_COUNTER is for servers whose steady clock is not
 * moved: with `real` they may read it, and with `moved` (x86-64 only) the file is 64 bytes long and
 * goes on with a counter that is read instead, of nanoseconds if its speed is 1000:
 *
 *     int64 counts              what it shows ...
 *     int64 at_ns               ... when CLOCK_MONOTONIC shows this
 *     int64 speed               counts in a microsecond
 *     int64 apart               how much further the counter of each next processor is
 *
 * A counter that is moved costs microseconds: the instruction is forbidden, and the signal's handler
 * does its work. It is so in processes named postgres, and in those that they fork; they must not
 * execute other programs, which would die of the signal.
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
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

struct clock {
  int64_t offset_ns;
  int64_t frozen_ns;
};

struct counter {
  int64_t counts;
  int64_t at_ns;
  int64_t speed;
  int64_t apart;
};

struct clock_file {
  struct clock wall;
  struct clock steady;
  struct counter counter; /* only if it is moved */
};

static const int64_t kNsPerSecond = 1000000000;

/* Used if there is no file. */
static const struct clock_file real_clock;

static const struct clock_file *mapped;

/* The C library's clocks would read the counter, too. */
static int counter_is_moved;

static size_t LengthOfFile(void) {
  return counter_is_moved ? sizeof(struct clock_file) : offsetof(struct clock_file, counter);
}

static const struct clock_file *MapClockFile(void) {
  const char *name = getenv("SNOWFLAKE_CLOCK_FILE");
  if (name == NULL || name[0] == '\0') return &real_clock;
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return &real_clock;
  struct stat about;
  void *at = MAP_FAILED;
  /* A read beyond the end of a short file would be a SIGBUS. */
  if (fstat(fd, &about) == 0 && about.st_size >= (off_t)LengthOfFile())
    at = mmap(NULL, LengthOfFile(), PROT_READ, MAP_SHARED, fd, 0);
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

#if defined(__x86_64__)
static uint64_t MovedCounter(void) {
  const struct counter *counter = &ClockFile()->counter;
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  const int64_t now_ns = now.tv_sec * kNsPerSecond + now.tv_nsec;
  const int64_t passed_ns = now_ns - __atomic_load_n(&counter->at_ns, __ATOMIC_RELAXED);
  return (uint64_t)(__atomic_load_n(&counter->counts, __ATOMIC_RELAXED) +
                    passed_ns * __atomic_load_n(&counter->speed, __ATOMIC_RELAXED) / 1000 +
                    sched_getcpu() * __atomic_load_n(&counter->apart, __ATOMIC_RELAXED));
}

/* Until the first trap. */
static volatile sig_atomic_t probes = 1;

/* Does the work of `rdtsc`. Any other fault comes again, and ends the process. */
static void ReadMovedCounter(int signal_number, siginfo_t *about, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
  const int saved_errno = errno;
  (void)about;
  /* A faulty address would be read here only if the fault was to execute it. */
  if (instruction[0] != 0x0f || instruction[1] != 0x31) {
    signal(signal_number, SIG_DFL);
    return;
  }
  const uint64_t counts = probes ? 0 : MovedCounter();
  probes = 0;
  registers[REG_RAX] = (greg_t)(counts & UINT32_MAX);
  registers[REG_RDX] = (greg_t)(counts >> 32);
  registers[REG_RIP] += 2;
  errno = saved_errno;
}

__attribute__((constructor(101))) static void MoveCounter(void) {
  const char *counter = getenv("SNOWFLAKE_CLOCK_COUNTER");
  if (counter == NULL || strcmp(counter, "moved") != 0) return;
  counter_is_moved = 1;
  if (strcmp(program_invocation_short_name, "postgres") != 0) return;
  struct sigaction action = {.sa_sigaction = ReadMovedCounter, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGSEGV, &action, NULL) != 0 || prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0) abort();
  /* Below some hypervisors a process reads it all the same. */
  __builtin_ia32_rdtsc();
  if (probes) _exit(77);
}
#endif

typedef int (*clock_gettime_fn)(clockid_t, struct timespec *);

/* The C library's function, which need not enter the kernel. It is looked up before main(), because
 * a signal handler must not call dlsym(). */
static clock_gettime_fn real_clock_gettime;

__attribute__((constructor)) static void FindRealClock(void) {
  if (!counter_is_moved) real_clock_gettime = (clock_gettime_fn)dlsym(RTLD_NEXT, "clock_gettime");
}

__attribute__((visibility("default"))) int prctl(int option, ...) {
  unsigned long arguments[4];
  va_list list;
  va_start(list, option);
  for (int i = 0; i < 4; ++i) arguments[i] = va_arg(list, unsigned long);
  va_end(list);
  if (option != PR_GET_TSC)
    return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
  const char *counter = getenv("SNOWFLAKE_CLOCK_COUNTER");
  const int is_read = counter != NULL && counter[0] != '\0';
  *(int *)arguments[0] = is_read ? PR_TSC_ENABLE : PR_TSC_SIGSEGV;
  return 0;
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
