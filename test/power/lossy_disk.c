// A disk for nbdkit that loses, at a power cut, what was written and not flushed. SIGTERM, after the
// machine has died, is the cut: each sector that was not flushed is kept with the probability `keep`,
// by `seed`, as a disk may have written any of them. With `lie`, a disk that answers to a flush
// before it has written anything: it writes all of it no more than once in so many milliseconds.
//
// The view is a private mapping of the file: it has all writes, and the file what was flushed.
#define NBDKIT_API_VERSION 2
#include <fcntl.h>
#include <nbdkit-plugin.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS
// That of present disks. ext4 also relies on whole blocks: it refuses a journal with a part of one.
enum { kSector = 4096 };

static const char *file;
static double keep = 0;
static unsigned seed, lie_ms;
static int fd;
static char *view;
static bool *unflushed;
static size_t sectors;
static struct timespec flushed_at;

static int Config(const char *key, const char *value) {
  if (strcmp(key, "file") == 0) file = value;
  else if (strcmp(key, "keep") == 0) keep = atof(value);
  else if (strcmp(key, "seed") == 0) seed = (unsigned)strtoul(value, NULL, 10);
  else if (strcmp(key, "lie") == 0) lie_ms = (unsigned)strtoul(value, NULL, 10);
  else return nbdkit_error("unknown parameter %s", key), -1;
  return 0;
}

static int GetReady(void) {
  struct stat status;
  fd = file == NULL ? -1 : open(file, O_RDWR);
  if (fd < 0 || fstat(fd, &status) != 0) return nbdkit_error("%s: %m", file), -1;
  sectors = (size_t)status.st_size / kSector;
  view = mmap(NULL, sectors * kSector, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  unflushed = calloc(sectors, sizeof(bool));
  return view == MAP_FAILED || unflushed == NULL ? (nbdkit_error("no memory"), -1) : 0;
}

static void *Open(int readonly) { (void)readonly; return NBDKIT_HANDLE_NOT_NEEDED; }
static int64_t Size(void *handle) { (void)handle; return (int64_t)(sectors * kSector); }
static int CanFlush(void *handle) { (void)handle; return 1; }

static int Read(void *handle, void *to, uint32_t count, uint64_t at, uint32_t flags) {
  (void)handle, (void)flags;
  memcpy(to, view + at, count);
  return 0;
}

static int Write(void *handle, const void *from, uint32_t count, uint64_t at, uint32_t flags) {
  (void)handle, (void)flags;
  memcpy(view + at, from, count);
  memset(unflushed + at / kSector, true, (at + count + kSector - 1) / kSector - at / kSector);
  return 0;
}

// Writes the sectors that were not flushed, each with this probability.
static int Store(double probability) {
  for (size_t i = 0; i < sectors; ++i) {
    if (!unflushed[i] || drand48() >= probability) continue;
    if (pwrite(fd, view + i * kSector, kSector, (off_t)(i * kSector)) != kSector) return nbdkit_error("%m"), -1;
    unflushed[i] = false;
  }
  return 0;
}

static int Flush(void *handle, uint32_t flags) {
  (void)handle, (void)flags;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double passed_ms = (double)(now.tv_sec - flushed_at.tv_sec) * 1e3 + (double)(now.tv_nsec - flushed_at.tv_nsec) / 1e6;
  if (passed_ms < lie_ms) return 0;
  flushed_at = now;
  return Store(1);
}

static void Unload(void) {
  srand48((long)seed);
  if (unflushed != NULL) Store(keep);
}

static struct nbdkit_plugin plugin = {
    .name = "lossy", .config = Config, .get_ready = GetReady, .unload = Unload, .open = Open,
    .get_size = Size, .can_flush = CanFlush, .pread = Read, .pwrite = Write, .flush = Flush};
NBDKIT_REGISTER_PLUGIN(plugin)
