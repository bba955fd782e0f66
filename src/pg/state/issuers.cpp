// Finds the databases with files here, and in the tablespaces whether they still exist.
#include "pg/state/issuers.h"

#include <sys/stat.h>
#include <unistd.h>

#include "pg/state/database_files.h"

namespace snowflake {

namespace {

constexpr const char *kFolder = "snowflake.databases";

bool IsFolder(const char *path) {
  struct stat file = {};
  return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

// Whether there are files of a database in any tablespace.
bool HasFiles(Oid database) {
  char path[MAXPGPATH];
  snprintf(path, sizeof(path), "base/%u", database);
  if (IsFolder(path)) return true;
  DIR *tablespaces = opendir("pg_tblspc");
  if (tablespaces == nullptr) return false;
  bool found = false;
  for (const dirent *entry = readdir(tablespaces); entry != nullptr && !found; entry = readdir(tablespaces)) {
    snprintf(path, sizeof(path), "pg_tblspc/%s/%s/%u", entry->d_name, TABLESPACE_VERSION_DIRECTORY, database);
    found = IsFolder(path);
  }
  closedir(tablespaces);
  return found;
}

}  // namespace

void ForEachIssuer(int most, void (*start)(Oid database)) {
  ForEachDatabaseFile(kFolder, [&](Oid database) {
    if (most <= 0) return false;
    if (HasFiles(database)) {
      start(database);
      --most;
    } else {
      ForgetIssuer(database);
    }
    return true;
  });
}

void NoteIssuer(Oid database) {
  const int fd = OpenDatabaseFile(kFolder, DatabaseFile(kFolder, database));
  if (fd >= 0) close(fd);
}

void ForgetIssuer(Oid database) { unlink(DatabaseFile(kFolder, database).path); }

}  // namespace snowflake
