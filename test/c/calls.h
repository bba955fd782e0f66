/*
 * Replaces a function of the server in the table by which snowflake's code calls it. This process
 * must have loaded that code before. Needs _GNU_SOURCE.
 */
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  const char *name;
  void *by;
  int replaced;
} Call;

static void replace_in(Call *call, const ElfW(Addr) base, const ElfW(Rela) * relocation, size_t bytes,
                       const ElfW(Sym) * symbols, const char *names) {
  for (size_t i = 0; i < bytes / sizeof(*relocation); ++i) {
    const char *name = names + symbols[ELF64_R_SYM(relocation[i].r_info)].st_name;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void **entry = (void **)(base + relocation[i].r_offset);

    if (strcmp(name, call->name) != 0) continue;
    if (mprotect((void *)((uintptr_t)entry & ~(page - 1)), page, PROT_READ | PROT_WRITE) != 0)
      elog(FATAL, "mprotect: %m");
    *entry = call->by;
    ++call->replaced;
  }
}

static int visit_library(struct dl_phdr_info *object, size_t size, void *call) {
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
  for (int i = 0; i < 2; ++i) replace_in(call, object->dlpi_addr, tables[i], bytes[i], symbols, names);
  return 1;
}

static void replace_call(const char *name, void *by) {
  Call call = {name, by, 0};

  dl_iterate_phdr(visit_library, &call);
  if (call.replaced == 0) elog(FATAL, "snowflake does not call %s()", name);
}
