// Names and opens the files.
#include "pg/state/database_files.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace snowflake {

FileName DatabaseFile(const char *folder, Oid database, const char *suffix) {
  FileName file;
  snprintf(file.path, sizeof(file.path), "%s/%u%s", folder, database, suffix);
  return file;
}

int OpenDatabaseFile(const char *folder, const FileName &file) {
  mkdir(folder, static_cast<mode_t>(pg_dir_create_mode));
  return open(file.path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, static_cast<mode_t>(pg_file_create_mode));
}

Oid DatabaseOfFile(const char *name) {
  char *end = nullptr;
  const unsigned long oid = strtoul(name, &end, 10);
  char same[16];
  snprintf(same, sizeof(same), "%lu", oid);
  return oid <= PG_UINT32_MAX && strcmp(same, name) == 0 ? static_cast<Oid>(oid) : InvalidOid;
}

}  // namespace snowflake
