// Files of the data directory that tell the next life of the server something of a database: one for
// each database, with its OID as its name, in a folder for each purpose.
#pragma once

#include <dirent.h>

#include "pg/pg.h"

namespace snowflake {

struct FileName {
  char path[MAXPGPATH];
};

// Relative to the data directory, where every process of the server works.
FileName DatabaseFile(const char *folder, Oid database, const char *suffix = "");

// Opens such a file to be written anew, and makes the folder if it is missing; below 0: failed, and errno
// says why.
int OpenDatabaseFile(const char *folder, const FileName &file);

// InvalidOid: the name is none of such a file.
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
