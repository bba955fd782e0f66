/*
 * Lets calls of a keeper fail, for test/t/node/planted_errors.pl. A call site is a place in
 * snowflake.so that calls one of the functions below, known by its address there. The library
 * replaces these functions in snowflake.so's table of imported ones. It notes each site that a
 * keeper comes by, and raises an ERROR at the sites that the test chooses for a database: once, or
 * as long as the test wants.
 *
 * It is preloaded after snowflake. The file $SNOWFLAKE_FAILING_CALLS is the memory that all
 * processes and the test share: `struct shared`.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"

PG_MODULE_MAGIC;

#define SITES 1024
#define FAULTS 1024

struct site {
  uint64_t address;
  char function[40];
};
struct fault {
  uint32_t database;
  int32_t left; /* how often it still happens; below 0: each time */
  uint64_t address;
  uint64_t happened;
};
struct shared {
  uint64_t site_count, fault_count;
  struct site sites[SITES];
  struct fault faults[FAULTS];
};

static struct shared *shared;
static uintptr_t base;
static bool noting;

static void note(const char *function, uint64_t address) {
  for (uint64_t i = 0; i < shared->site_count; ++i)
    if (shared->sites[i].address == address) return;
  /* Keepers come by at the same time: a site may be noted twice. */
  const uint64_t i = __atomic_fetch_add(&shared->site_count, 1, __ATOMIC_SEQ_CST);
  if (i >= SITES) return;
  shared->sites[i].address = address;
  strlcpy(shared->sites[i].function, function, sizeof(shared->sites[i].function));
}

static void come_by(const char *function, void *from) {
  const uint64_t address = (uintptr_t)from - base;
  if (noting || proc_exit_inprogress || CritSectionCount > 0 || MyBgworkerEntry == NULL ||
      strcmp(MyBgworkerEntry->bgw_type, "snowflake keeper") != 0 || !OidIsValid(MyDatabaseId))
    return;
  noting = true;
  note(function, address);
  noting = false;
  for (uint64_t i = 0; i < shared->fault_count; ++i) {
    struct fault *fault = &shared->faults[i];
    if (fault->database != MyDatabaseId || fault->address != address || fault->left == 0) continue;
    if (fault->left > 0) --fault->left;
    ++fault->happened;
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("planted in %s()", function)));
  }
}

/* Arguments and results are integers and pointers, at most six. */
typedef uintptr_t (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
#define EACH(DO)                                                                                                    \
  DO(AcceptInvalidationMessages) DO(AllocateFile) DO(CommitTransactionCommand) DO(ConditionVariableBroadcast)       \
  DO(CountDBConnections) DO(GetLockConflicts) DO(GetTransactionSnapshot) DO(LWLockAcquire) DO(LockRelationOid)      \
  DO(MemoryContextStrdup) DO(PQconnectStartParams) DO(ProcessConfigFile) DO(RecoveryInProgress) DO(SPI_connect)     \
  DO(StartTransactionCommand) DO(WaitLatch) DO(WaitLatchOrSocket) DO(enable_timeout_every) DO(get_database_name)    \
  DO(get_extension_oid) DO(get_namespace_name) DO(initStringInfo) DO(palloc) DO(palloc0) DO(pgstat_report_activity) \
  DO(pstrdup) DO(timestamptz_to_str)
#define WRAP(name)                                                                                              \
  static function real_##name;                                                                                  \
  static uintptr_t fail_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f) { \
    come_by(#name, __builtin_return_address(0));                                                                \
    return real_##name(a, b, c, d, e, f);                                                                       \
  }
EACH(WRAP)

/* A message of the log: an ERROR's own message is none. */
static bool (*real_errstart)(int, const char *);
static bool fail_errstart(int level, const char *domain) {
  if (level < ERROR) come_by("errstart", __builtin_return_address(0));
  return real_errstart(level, domain);
}

#define ENTRY(name) {#name, (void *)fail_##name, (void **)&real_##name},
static const struct {
  const char *name;
  void *instead;
  void **real;
} wrapped[] = {EACH(ENTRY){"errstart", (void *)fail_errstart, (void **)&real_errstart}};

static void replace(uintptr_t slot, const char *name) {
  const uintptr_t page = slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
  for (size_t i = 0; i < lengthof(wrapped); ++i) {
    if (strcmp(wrapped[i].name, name) != 0) continue;
    if (mprotect((void *)page, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE) != 0) elog(FATAL, "mprotect: %m");
    *wrapped[i].real = *(void **)slot;
    *(void **)slot = wrapped[i].instead;
  }
}

static int patch(struct dl_phdr_info *info, size_t size, void *argument) {
  const ElfW(Dyn) *dynamic = NULL;
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const ElfW(Rela) *tables[2] = {NULL, NULL};
  size_t sizes[2] = {0, 0};
  const size_t length = strlen(info->dlpi_name), tail = strlen("/snowflake.so");

  if (length < tail || strcmp(info->dlpi_name + length - tail, "/snowflake.so") != 0) return 0;
  base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) dynamic = (const void *)(base + info->dlpi_phdr[i].p_vaddr);
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_STRTAB) names = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_JMPREL) tables[0] = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_PLTRELSZ) sizes[0] = dynamic->d_un.d_val;
    if (dynamic->d_tag == DT_RELA) tables[1] = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_RELASZ) sizes[1] = dynamic->d_un.d_val;
  }
  for (int t = 0; t < 2; ++t)
    for (size_t i = 0; i < sizes[t] / sizeof(ElfW(Rela)); ++i)
      replace(base + tables[t][i].r_offset, names + symbols[ELF64_R_SYM(tables[t][i].r_info)].st_name);
  return 1;
}

void _PG_init(void) {
  const char *path = getenv("SNOWFLAKE_FAILING_CALLS");
  const int file = path != NULL ? open(path, O_RDWR) : -1;

  if (file < 0 || ftruncate(file, sizeof(struct shared)) != 0) elog(FATAL, "no file SNOWFLAKE_FAILING_CALLS: %m");
  shared = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) elog(FATAL, "mmap: %m");
  close(file);
  if (dl_iterate_phdr(patch, NULL) == 0) elog(FATAL, "snowflake is not loaded");
  for (size_t i = 0; i < lengthof(wrapped); ++i)
    if (*wrapped[i].real == NULL) elog(LOG, "snowflake does not call %s()", wrapped[i].name);
}
