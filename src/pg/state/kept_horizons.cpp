// Reads and writes the files, each with a checksum; a new one replaces the old one as a whole.
#include "pg/state/kept_horizons.h"

#include <fcntl.h>
#include <unistd.h>

#include "pg/state/database_files.h"

namespace snowflake {

namespace {

constexpr const char *kFolder = "snowflake.horizons";

struct Record {
  uint64_t seal;
  KeptHorizon kept;
};

bool ReadRecord(const FileName &file, Record *record) {
  const int fd = open(file.path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = read(fd, record, sizeof(*record)) == sizeof(*record) && record->seal == SealOf(record->kept);
  close(fd);
  return whole;
}

bool WriteRecord(const FileName &file, const Record &record) {
  const int fd = OpenDatabaseFile(kFolder, file);
  if (fd < 0) return false;
  errno = 0;
  const bool written = write(fd, &record, sizeof(record)) == sizeof(record);
  if (!written && errno == 0) errno = ENOSPC;
  const int saved_errno = errno;
  close(fd);
  errno = saved_errno;
  return written;
}

}  // namespace

void ForEachKeptHorizon(void (*put_back)(const KeptHorizon &kept, void *argument), void *argument) {
  ForEachDatabaseFile(kFolder, [&](Oid database) {
    Record record;
    if (ReadRecord(DatabaseFile(kFolder, database), &record)) put_back(record.kept, argument);
    return true;
  });
}

bool WriteKeptHorizon(const KeptHorizon &kept) {
  static bool logged = false;
  Record record;
  memset(static_cast<void *>(&record), 0, sizeof(record));
  memcpy(static_cast<void *>(&record.kept), &kept, sizeof(kept));
  record.seal = SealOf(record.kept);
  const FileName file = DatabaseFile(kFolder, MyDatabaseId), next = DatabaseFile(kFolder, MyDatabaseId, ".new");
  if (WriteRecord(next, record) && rename(next.path, file.path) == 0) return true;
  if (!logged)
    ereport(WARNING, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", file.path),
                      errdetail("The horizon of ids does not rise until the wall clock has caught up.")));
  logged = true;
  return false;
}

void RemoveKeptHorizon() { unlink(DatabaseFile(kFolder, MyDatabaseId).path); }

}  // namespace snowflake
