// Files of the data directory for the next start of the server: one for each database, with its OID
// as its name, in a folder for each purpose.
#pragma once

#include <dirent.h>

#include "pg/pg.h"

namespace snowflake {

struct FileName {
  char path[MAXPGPATH];
};

// Relative to the data directory, the working directory of all processes of the server.
FileName DatabaseFile(const char *folder, Oid database, const char *suffix = "");

// Opens such a file to be written anew, and makes a missing folder; below 0: failed, see errno.
int OpenDatabaseFile(const char *folder, const FileName &file);

// InvalidOid: it is no such file.
Oid DatabaseOfFile(const char *name);

// The databases that have a file there, until `visit` returns false.
template <typename Visit>
void ForEachDatabaseFile(const char *folder, Visit visit) {
  DIR *files = opendir(folder);
  if (files == nullptr) return;
  for (const dirent *entry = readdir(files); entry != nullptr; entry = readdir(files)) {
    const Oid database = DatabaseOfFile(entry->d_name);
    if (OidIsValid(database) && !visit(database)) break;
  }
  closedir(files);
}

}  // namespace snowflake
