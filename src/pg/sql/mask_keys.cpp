// Reads the file of keys. Nothing here raises an error, because the postmaster runs it, too; and no
// message shows what is in the file.
#include "pg/sql/mask_keys.h"

#include "pg/execution.h"
#include "pg/processes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake {
namespace {
const MaskKeys *current = nullptr;
bool used = false;     // in this process
bool refused = false;  // the file that this process, or the postmaster before it, was to use
bool defined = false;  // the setting, for as long as this process lives

// 57 keys and some lines of comment.
constexpr size_t kMaxFile = 16384;

// As the server judges ssl_key_file.
bool IsPrivate(int file) {
  struct stat st;
  if (fstat(file, &st) != 0) {
    GUC_check_errdetail("Could not stat the file: %m.");
    return false;
  }
  if (!S_ISREG(st.st_mode)) {
    GUC_check_errdetail("It is not a regular file.");
    return false;
  }
  if (st.st_uid != geteuid() && st.st_uid != 0) {
    GUC_check_errdetail("The file is owned by another user.");
    GUC_check_errhint("It must be owned by the database user or root.");
    return false;
  }
  if ((st.st_mode & (st.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO)) != 0) {
    GUC_check_errdetail("The file has group or world access.");
    GUC_check_errhint(
        "It must have permissions 0600 or less if the database user owns it, or 0640 or less if root does.");
    return false;
  }
  return true;
}

bool ReadFile(int file, char *text, size_t *size) {
  *size = 0;
  while (*size <= kMaxFile) {
    const ssize_t got = read(file, text + *size, kMaxFile + 1 - *size);
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      GUC_check_errdetail("Could not read the file: %m.");
      return false;
    }
    *size += static_cast<size_t>(got);
  }
  GUC_check_errdetail("The file has more than %d bytes.", static_cast<int>(kMaxFile));
  return false;
}

bool AreGood(const MaskKeysReading &reading) {
  switch (reading.fault) {
    case MaskKeysFault::kNone: return true;
    case MaskKeysFault::kNoKey: GUC_check_errdetail("The file has no key."); break;
    case MaskKeysFault::kMalformed: GUC_check_errdetail("Line %d is not a number and a key.", reading.line); break;
    case MaskKeysFault::kNumber:
      GUC_check_errdetail("The number in line %d is not 1 to %d.", reading.line, kMaxMaskKey);
      break;
    case MaskKeysFault::kTwice:
      GUC_check_errdetail("Line %d has number %d, which an earlier line has.", reading.line, reading.number);
      break;
  }
  GUC_check_errhint("Each line has a number from 1 to %d, a space and 64 hexadecimal digits.", kMaxMaskKey);
  return false;
}

bool ReadKeys(int file, MaskKeys *keys) {
  static char text[kMaxFile + 1];
  size_t size;
  const bool good = IsPrivate(file) && ReadFile(file, text, &size) && AreGood(ReadMaskKeys({text, size}, keys));
  explicit_bzero(text, sizeof text);
  return good;
}

// Null: the file is refused.
MaskKeys *KeysIn(const char *path) {
  // Without waiting, in case it is a pipe.
  const int file = BasicOpenFile(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) {
    GUC_check_errdetail("Could not open the file: %m.");
    return nullptr;
  }
  MaskKeys *keys = static_cast<MaskKeys *>(AllocateForSetting(sizeof(MaskKeys)));
  if (keys != nullptr && !ReadKeys(file, keys)) {
    FreeForSetting(keys);
    keys = nullptr;
  }
  close(file);
  return keys;
}

}  // namespace

bool CheckMaskKeyFile(char **value, void **extra, GucSource source) {
  // A parallel worker masks nothing. A file that is broken by now must not fail its query.
  if (InitializingParallelWorker) return true;
  if (**value != '\0') *extra = KeysIn(*value);
  const bool good = **value == '\0' || *extra != nullptr;
  // What a command checks, which is ALTER SYSTEM, is not yet to be used.
  if (defined && ActivePortal != nullptr) return good;
  refused = !good;
  // PostgreSQL logs what the postmaster refuses at a reload, not what a session does.
  if (refused && used && source == PGC_S_FILE)
    ereport(LOG, (errmsg("could not use the keys in file \"%s\"", *value),
                  errdetail_internal("%s", GUC_check_errdetail_string),
                  errhint("Mend the file and reload; until then this session keeps its old keys.")));
  return good;
}

void AssignMaskKeyFile(const char *value, void *extra) { current = static_cast<const MaskKeys *>(extra); }

void WatchMaskKeyFile() { defined = true; }

const MaskKeys *CurrentMaskKeys() {
  used = true;
  return current;
}

bool MaskKeysAreRefused() { return refused; }

}  // namespace snowflake
