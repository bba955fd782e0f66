// A disk for nbdkit that loses, at a power cut, what was written and not flushed. SIGTERM, after the
// machine has died, is the cut: each sector that was not flushed is kept with the probability `keep`,
// as a disk may have written any of them, at any moment: with one of the contents that it had since
// the last flush. `seed` decides. With `lie`, a disk that answers to a flush before it has written
// anything: it writes all of it no more than once in so many milliseconds.
//
// The view is a private mapping of the file: it has all writes, and the file what was flushed.
// `chosen` has the content that a cut would keep: of n contents, the newest one replaces the one
// before with the probability 1/n.
#define NBDKIT_API_VERSION 2
#include <fcntl.h>
#include <nbdkit-plugin.h>
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
static char *view, *chosen;
static unsigned *contents;  // of each sector, since it was flushed
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
  chosen = mmap(NULL, sectors * kSector, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  contents = calloc(sectors, sizeof(unsigned));
  srand48((long)seed);
  return view == MAP_FAILED || chosen == MAP_FAILED || contents == NULL ? (nbdkit_error("no memory"), -1) : 0;
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
  for (size_t i = at / kSector; i * kSector < at + count; ++i)
    if (drand48() * ++contents[i] < 1) memcpy(chosen + i * kSector, view + i * kSector, kSector);
  return 0;
}

static int Store(const char *from, size_t i) {
  contents[i] = 0;
  if (pwrite(fd, from + i * kSector, kSector, (off_t)(i * kSector)) == kSector) return 0;
  return nbdkit_error("%m"), -1;
}

static int Flush(void *handle, uint32_t flags) {
  (void)handle, (void)flags;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double passed_ms = (double)(now.tv_sec - flushed_at.tv_sec) * 1e3 + (double)(now.tv_nsec - flushed_at.tv_nsec) / 1e6;
  if (passed_ms < lie_ms) return 0;
  flushed_at = now;
  for (size_t i = 0; i < sectors; ++i)
    if (contents[i] > 0 && Store(view, i) != 0) return -1;
  return 0;
}

static void Unload(void) {
  size_t unflushed = 0, kept = 0, older = 0;
  for (size_t i = 0; contents != NULL && i < sectors; ++i) {
    if (contents[i] == 0) continue;
    ++unflushed;
    if (drand48() >= keep) continue;
    ++kept;
    older += memcmp(chosen + i * kSector, view + i * kSector, kSector) != 0;
    Store(chosen, i);
  }
  fprintf(stderr, "unflushed sectors: %zu, kept: %zu, with a content in between: %zu\n", unflushed, kept, older);
}

static struct nbdkit_plugin plugin = {
    .name = "lossy", .config = Config, .get_ready = GetReady, .unload = Unload, .open = Open,
    .get_size = Size, .can_flush = CanFlush, .pread = Read, .pwrite = Write, .flush = Flush};
NBDKIT_REGISTER_PLUGIN(plugin)
