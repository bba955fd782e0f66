/*
 * Preloaded after snowflake, this library makes the server's processes pause for up to SNOWFLAKE_PAUSE_US after one in
 * eight releases of a lightweight lock by snowflake: whatever another process may do before the next step, it then does.
 * It takes LWLockRelease()'s place in the table by which snowflake's code calls the server.
 */
#define _GNU_SOURCE
#include "postgres.h"
#include "fmgr.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/lwlock.h"

PG_MODULE_MAGIC;

static long longest_us;
static int patched;

static void release_and_pause(LWLock *lock) {
  static unsigned seed;

  LWLockRelease(lock);
  if (!IsUnderPostmaster) return;
  if (seed == 0) seed = (unsigned)getpid();
  if (rand_r(&seed) % 8 == 0) usleep((useconds_t)(rand_r(&seed) % longest_us));
}

static void patch(const ElfW(Addr) base, const ElfW(Rela) * relocation, size_t bytes, const ElfW(Sym) * symbols,
                  const char *names) {
  for (size_t i = 0; i < bytes / sizeof(*relocation); ++i) {
    const char *name = names + symbols[ELF64_R_SYM(relocation[i].r_info)].st_name;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void **entry = (void **)(base + relocation[i].r_offset);

    if (strcmp(name, "LWLockRelease") != 0) continue;
    if (mprotect((void *)((uintptr_t)entry & ~(page - 1)), page, PROT_READ | PROT_WRITE) != 0)
      elog(FATAL, "mprotect: %m");
    *entry = (void *)release_and_pause;
    ++patched;
  }
}

static int visit(struct dl_phdr_info *object, size_t size, void *unused) {
  const char *name = strrchr(object->dlpi_name, '/');
  const ElfW(Rela) *tables[2] = {NULL, NULL};
  size_t bytes[2] = {0, 0};
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;

  if (name == NULL || strcmp(name, "/snowflake.so") != 0) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) names = (const char *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELA) tables[0] = (const ElfW(Rela) *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELASZ) bytes[0] = entry->d_un.d_val;
      if (entry->d_tag == DT_JMPREL) tables[1] = (const ElfW(Rela) *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_PLTRELSZ) bytes[1] = entry->d_un.d_val;
    }
  }
  for (int i = 0; i < 2; ++i) patch(object->dlpi_addr, tables[i], bytes[i], symbols, names);
  return 1;
}

void _PG_init(void);
PGDLLEXPORT void _PG_init(void) {
  const char *pause = getenv("SNOWFLAKE_PAUSE_US");

  longest_us = pause == NULL ? 1000 : atol(pause);
  dl_iterate_phdr(visit, NULL);
  if (patched == 0) elog(FATAL, "snowflake does not call LWLockRelease()");
}
