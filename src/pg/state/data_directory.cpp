// Names, finds, reads and writes the files; a horizon has a checksum, and replaces the one before
// as a whole and durably.
#include "pg/state/data_directory.h"

#include "pg/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake {
namespace {
constexpr const char *kIssuers = "snowflake.databases";
constexpr const char *kHorizons = "snowflake.horizons";
constexpr const char *kClock = "snowflake.clock";
constexpr const char *kNewClock = "snowflake.clock.new";

struct FileName {
  char path[MAXPGPATH];
};

// Relative to the data directory, the working directory of all processes of the server.
FileName DatabaseFile(const char *folder, Oid database, const char *suffix = "") {
  FileName file;
  snprintf(file.path, sizeof(file.path), "%s/%u%s", folder, database, suffix);
  return file;
}

int OpenFile(const char *path) {
  return open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, static_cast<mode_t>(pg_file_create_mode));
}

// Opens such a file to be written anew, and makes a missing folder; below 0: failed, see errno. A
// folder that a loss of power could undo is removed at once, so that the next call makes it.
int OpenDatabaseFile(const char *folder, const FileName &file) {
  if (mkdir(folder, static_cast<mode_t>(pg_dir_create_mode)) == 0 && fsync_fname_ext(".", true, true, DEBUG1) != 0)
    rmdir(folder);
  return OpenFile(file.path);
}

// InvalidOid: it is no such file.
Oid DatabaseOfFile(const char *name) {
  char *end = nullptr;
  const unsigned long oid = strtoul(name, &end, 10);
  char same[16];
  snprintf(same, sizeof(same), "%lu", oid);
  return oid <= PG_UINT32_MAX && strcmp(same, name) == 0 ? static_cast<Oid>(oid) : InvalidOid;
}

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

template <typename Kept>
struct Record {
  uint64_t seal;
  Kept kept;
};

template <typename Kept>
bool ReadRecord(const char *path, Record<Kept> *record) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = read(fd, record, sizeof(*record)) == sizeof(*record) && record->seal == SealOf(record->kept);
  close(fd);
  return whole;
}

// `kept` has no padding that is not zero.
template <typename Kept>
bool WriteRecord(int fd, const Kept &kept) {
  if (fd < 0) return false;
  Record<Kept> record;
  memset(static_cast<void *>(&record), 0, sizeof(record));
  memcpy(static_cast<void *>(&record.kept), &kept, sizeof(kept));
  record.seal = SealOf(record.kept);
  errno = 0;
  const bool written = write(fd, &record, sizeof(record)) == sizeof(record);
  const int saved_errno = errno == 0 ? ENOSPC : errno;
  // Some file systems write only now.
  if (close(fd) != 0) return false;
  errno = saved_errno;
  return written;
}

}  // namespace

void ForEachIssuer(int most, void (*start)(Oid database)) {
  ForEachDatabaseFile(kIssuers, [&](Oid database) {
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

bool HasIssuer() {
  bool found = false;
  ForEachDatabaseFile(kIssuers, [&](Oid database) {
    found = HasFiles(database);
    return !found;
  });
  return found;
}

void NoteIssuer(Oid database) {
  const int fd = OpenDatabaseFile(kIssuers, DatabaseFile(kIssuers, database));
  if (fd >= 0) close(fd);
}

void ForgetIssuer(Oid database) {
  unlink(DatabaseFile(kIssuers, database).path);
  rmdir(kIssuers);  // only if it is empty
}

void ForEachKeptHorizon(void (*visit)(const KeptHorizon &kept)) {
  ForEachDatabaseFile(kHorizons, [&](Oid database) {
    Record<KeptHorizon> record;
    const FileName file = DatabaseFile(kHorizons, database), next = DatabaseFile(kHorizons, database, ".new");
    if (HasFiles(database)) {
      if (ReadRecord(file.path, &record)) visit(record.kept);
    } else {
      unlink(file.path);
      unlink(next.path);
    }
    return true;
  });
}

bool WriteKeptHorizon(const KeptHorizon &kept) {
  static bool logged = false;
  const FileName file = DatabaseFile(kHorizons, MyDatabaseId), next = DatabaseFile(kHorizons, MyDatabaseId, ".new");
  const bool written =
      WriteRecord(OpenDatabaseFile(kHorizons, next), kept) && durable_rename(next.path, file.path, DEBUG1) == 0;
  if (!written && !logged)
    ereport(WARNING, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", file.path),
                      errdetail("The horizon of ids does not rise until this file is written.")));
  logged = !written;
  return written;
}

bool ReadClockRecord(ClockRecord *record) {
  Record<ClockRecord> found = {};
  if (!ReadRecord(kClock, &found)) return false;
  *record = found.kept;
  return true;
}

bool WriteClockRecord(const ClockRecord &record, bool durably) {
  static bool logged = false;
  const bool written = WriteRecord(OpenFile(kNewClock), record) &&
                       (durably ? durable_rename(kNewClock, kClock, DEBUG1) : rename(kNewClock, kClock)) == 0;
  if (!written && !logged)
    ereport(WARNING, (errcode_for_file_access(), errmsg("could not write file \"%s\": %m", kClock),
                      errdetail("The horizon of ids does not rise until this file is written.")));
  logged = !written;
  return written;
}

}  // namespace snowflake
