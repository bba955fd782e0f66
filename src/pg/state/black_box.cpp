// Opens, checks, makes and removes the shared memory object of the black box.
#include "pg/state/black_box.h"

#include "pg/processes.h"
#include "pg/state/data_directory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace snowflake {
namespace {
// Some systems round an object's size up to whole pages, none of which are longer than this.
constexpr size_t kSizeUnit = 16 * 1024;
constexpr uint64_t kMostSlots = 1 << 20;

// Two files that exist at the same time differ in device or inode. A later one that has both was
// born later.
struct FileIdentity {
  uint64_t device, inode, born_ns;
};

// PostgreSQL writes the control file in place; after a restore into the directory it is another
// one.
struct DataDirectory {
  uint64_t block, slot_size;
  uint64_t system_identifier;
  uint64_t boot;  // 0: the system does not say
  FileIdentity directory, control_file;

  bool operator==(const DataDirectory &other) const { return memcmp(this, &other, sizeof(other)) == 0; }
};

struct alignas(64) BoxHeader {
  uint64_t box;  // which one; written last; 0: not a box, or no longer one
  uint64_t slots;
  char path[256];  // for people who find the object
  DataDirectory directory;
  uint64_t inode;  // the object's own: one that was saved and restored has another
};

struct Mapping {
  BoxHeader *header;  // nullptr: none
  size_t size;
  int fd;
  uint64_t id;  // header->box, known without a read of an object that may be truncated

  BoxSlot *slots() const { return reinterpret_cast<BoxSlot *>(header + 1); }
};

// This process's; in the postmaster it survives crashes of its children.
Mapping box = {};
char name[32] = "";
DataDirectory here = {};

size_t SizeFor(uint64_t slots) { return TYPEALIGN(kSizeUnit, sizeof(BoxHeader) + slots * sizeof(BoxSlot)); }

uint64_t Hash(const void *bytes, size_t size) {
  return hash_bytes_extended(static_cast<const unsigned char *>(bytes), static_cast<int>(size), 0);
}

template <typename Time>
uint64_t Ns(const Time &time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// 0: the system does not say.
uint64_t BornNs(const char *path, const struct stat &file) {
#ifdef STATX_BTIME
  struct statx more = {};
  const bool known = statx(AT_FDCWD, path, 0, STATX_BTIME, &more) == 0 && (more.stx_mask & STATX_BTIME) != 0;
  return known ? Ns(more.stx_btime) : 0;
#elif defined(__APPLE__)
  return Ns(file.st_birthtimespec);
#elif defined(__FreeBSD__)
  return Ns(file.st_birthtim);
#else
  return 0;
#endif
}

bool IdentifyFile(const char *path, FileIdentity *identity) {
  struct stat file = {};
  if (stat(path, &file) != 0) return false;
  *identity = {static_cast<uint64_t>(file.st_dev), static_cast<uint64_t>(file.st_ino), BornNs(path, file)};
  return true;
}

// Shared memory on a disk may survive a reboot, in an older state.
uint64_t Boot() {
  char id[64] = "";
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = read(fd, id, sizeof(id));
  close(fd);
  return length > 0 ? Hash(id, static_cast<size_t>(length)) : 0;
}

// Paths are relative to the data directory, the working directory of all processes of the server.
bool IdentifyDirectory(const char *block) {
  here = {};
  here.block = Hash(block, strlen(block));
  here.slot_size = sizeof(BoxSlot);
  here.system_identifier = GetSystemIdentifier();
  here.boot = Boot();
  if (!IdentifyFile(".", &here.directory) || !IdentifyFile("global/pg_control", &here.control_file)) return false;
  snprintf(name, sizeof(name), "/snowflake.%016llx", static_cast<unsigned long long>(Hash(&here, sizeof(here))));
  return true;
}

void Unmap(Mapping *mapping) {
  if (mapping->header != nullptr) {
    munmap(mapping->header, mapping->size);
    close(mapping->fd);
  }
  *mapping = {};
}

// Access beyond an object's end would raise SIGBUS.
bool IsWhole(const Mapping &mapping) {
  struct stat object = {};
  return fstat(mapping.fd, &object) == 0 && object.st_size >= static_cast<off_t>(mapping.size);
}

// Without room for all of it, a write would end the process.
bool HasRoom(int fd, size_t size) {
#ifdef __linux__
  int error = 0;
  do error = posix_fallocate(fd, 0, static_cast<off_t>(size));
  while (error == EINTR);
  errno = error;
  return error == 0;
#else
  return true;
#endif
}

bool Map(int fd, size_t size, Mapping *mapping) {
  if (!HasRoom(fd, size)) return false;
  void *address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return false;
  *mapping = {static_cast<BoxHeader *>(address), size, fd, 0};
  return true;
}

// What is wrong with an object of our name; nullptr: nothing.
const char *FaultOfObject(const struct stat &object) {
  // On some systems it has no file type.
  if ((object.st_mode & S_IFMT) != 0 && !S_ISREG(object.st_mode)) return "It is not a regular file.";
  if (object.st_uid != geteuid()) return psprintf("It belongs to user %u.", object.st_uid);
  if ((object.st_mode & 07777) != (S_IRUSR | S_IWUSR)) return psprintf("Its mode is %o.", object.st_mode & 07777);
  if (object.st_size <= 0 || object.st_size % static_cast<off_t>(kSizeUnit) != 0 ||
      static_cast<uint64_t>(object.st_size) > SizeFor(kMostSlots))
    return psprintf("Its size is %lld bytes.", static_cast<long long>(object.st_size));
  return nullptr;
}

const char *SystemError() { return psprintf("%m"); }

// Maps the object of our name, if there is one. Returns why it cannot be used; nullptr: no fault.
const char *MapObject(Mapping *mapping) {
  const int fd = shm_open(name, O_RDWR, 0);
  if (fd < 0) return errno == ENOENT ? nullptr : SystemError();
  struct stat object = {};
  const char *fault = fstat(fd, &object) != 0 ? SystemError() : FaultOfObject(object);
  if (fault == nullptr && !Map(fd, static_cast<size_t>(object.st_size), mapping)) fault = SystemError();
  if (fault != nullptr) {
    close(fd);
    return fault;
  }
  const BoxHeader *header = mapping->header;
  mapping->id = header->box;
  if (header->box != 0 && header->inode == object.st_ino && header->directory == here && header->slots <= kMostSlots &&
      SizeFor(header->slots) == mapping->size)
    return nullptr;
  Unmap(mapping);
  return "Its content is not a black box of this data directory.";
}

// Returns what failed; nullptr: nothing.
const char *MakeObject(int slots, Mapping *mapping) {
  if (shm_unlink(name) != 0 && errno != ENOENT) return SystemError();
  const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  uint64_t which = 0;
  const size_t size = SizeFor(static_cast<uint64_t>(slots));
  struct stat object = {};
  const bool made = fd >= 0 && pg_strong_random(&which, sizeof(which)) &&
                    ftruncate(fd, static_cast<off_t>(size)) == 0 && fstat(fd, &object) == 0 && Map(fd, size, mapping);
  if (!made) {
    const char *fault = SystemError();
    if (fd >= 0) {
      close(fd);
      shm_unlink(name);
    }
    return fault;
  }
  BoxHeader *header = mapping->header;
  header->slots = static_cast<uint64_t>(slots);
  header->directory = here;
  header->inode = object.st_ino;
  strlcpy(header->path, DataDir, sizeof(header->path));
  std::atomic_thread_fence(std::memory_order_release);
  mapping->id = header->box = which | 1;
  return nullptr;
}

// Whether this server can have had leases. If it is a standby, or a backup that is started for the
// first time, its files are those of another server.
bool MayHaveIssued() {
  for (const char *file : {BACKUP_LABEL_FILE, STANDBY_SIGNAL_FILE, RECOVERY_SIGNAL_FILE})
    if (access(file, F_OK) == 0) return false;
  return HasIssuer();
}

// Shared memory is gone after a reboot, or if systemd-logind removed it as a logged-out user's.
void TellMissing() {
  if (!MayHaveIssued()) return;
  bool sound = false;
  ControlFileData *control = get_controlfile(DataDir, &sound);
  const bool clean = control->state == DB_SHUTDOWNED || control->state == DB_SHUTDOWNED_IN_RECOVERY;
  pfree(control);
  if (clean || !sound) return;
  ereport(LOG, (errmsg("snowflake: the server was not shut down and its black box is missing; new leases are acquired"),
                errdetail("There is no shared memory object \"%s\".", name),
                errhint("This is expected after a reboot and in a new copy of a data directory. Otherwise check "
                        "RemoveIPC of systemd-logind.")));
}

void TellFault(const char *fault) {
  ereport(LogLevel(WARNING),
          (errmsg("snowflake: the shared memory object \"%s\" cannot be used", name), errdetail_internal("%s", fault)));
}

void TellNone(const char *fault) {
  ereport(LogLevel(WARNING),
          (errmsg("snowflake: there is no black box; after a crash of this server, new leases are acquired"),
           errdetail("The shared memory object \"%s\" cannot be created: %s", name, fault),
           errhint("Ids are still issued, but a lease that a crash leaves behind blocks its worker id until its window "
                   "ends. To prevent this, make room for POSIX shared memory.")));
}

void CopySlots(const Mapping &from, const Mapping &to) {
  Kept kept = {};
  KeptHorizon horizon = {};
  uint64_t number = 0;
  for (uint64_t i = 0; i < from.header->slots && number < to.header->slots; ++i) {
    BoxSlot *slot = &to.slots()[number];
    const bool has_kept = Load(&from.slots()[i], &kept), has_horizon = LoadHorizon(from.slots()[i], &horizon);
    if (has_kept) Store(slot, [&](Kept *copy) { *copy = kept; });
    if (has_horizon) StoreHorizon(slot, horizon);
    number += has_kept || has_horizon;
  }
}

// After a clean shutdown nothing is left of the server.
void RemoveEmptyBox(int, Datum) {
  // By its name: the postmaster's own object may be truncated.
  Mapping last = {};
  if (box.header == nullptr || MapObject(&last) != nullptr || last.header == nullptr) return;
  for (uint64_t i = 0; i < last.header->slots; ++i)
    if (!IsEmpty(last.slots()[i]) || NewestRecord(last.slots()[i]) >= 0) return;
  shm_unlink(name);
}

}  // namespace

uint64_t OpenBlackBox(const char *block, int slots) {
  static bool registered = false;
  if (!IsUnderPostmaster && !registered) on_proc_exit(RemoveEmptyBox, Datum{0});
  registered = true;

  Mapping before = box, found = {};
  box = {};
  if (!IdentifyDirectory(block)) {
    TellNone(SystemError());
    return 0;
  }
  const char *fault = MapObject(&found);
  if (fault != nullptr) TellFault(fault);
  // Its children may have gone on without it.
  if (before.header != nullptr && (!IsWhole(before) || before.header->box != before.id)) Unmap(&before);
  // The postmaster still has the object that its children wrote to, even if the name leads
  // elsewhere.
  const bool taken_away = before.header != nullptr && (found.header == nullptr || found.id != before.id);
  if (taken_away)
    ereport(LogLevel(LOG), (errmsg("snowflake: the shared memory object \"%s\" was lost while the server ran", name),
                            errhint("Check RemoveIPC of systemd-logind.")));
  const bool missing = !taken_away && found.header == nullptr && fault == nullptr;

  const Mapping source = taken_away ? before : found;
  if (!taken_away && found.header != nullptr && found.header->slots == static_cast<uint64_t>(slots)) {
    box = found;
  } else {
    if (const char *failure = MakeObject(slots, &box))
      TellNone(failure);
    else if (source.header != nullptr)
      CopySlots(source, box);
    else if (missing && !IsUnderPostmaster)
      TellMissing();
    Unmap(&found);
  }
  Unmap(&before);
  return box.id;
}

bool FindBlackBox(const char *block, uint64_t which) {
  if (which == 0 || box.id == which) return true;
  Unmap(&box);
  const char *fault = IdentifyDirectory(block) ? MapObject(&box) : SystemError();
  if (fault == nullptr && box.id == which) return true;
  Unmap(&box);
  // An object of another user may stay: it is never used.
  if (shm_unlink(name) != 0 && errno != ENOENT && errno != EPERM && errno != EACCES)
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("could not remove shared memory object \"%s\": %m", name),
                    fault ? errdetail_internal("%s", fault) : 0));
  ereport(LogLevel(LOG),
          (errmsg("snowflake: there is no black box any more; after a crash of this server, new leases are acquired"),
           errdetail("The shared memory object \"%s\" cannot be used: %s", name,
                     fault ? fault : "It is missing or was replaced.")));
  return false;
}

bool BootIsKnown() { return here.boot != 0; }

BoxSlot *SlotOf(int number) { return box.header != nullptr ? &box.slots()[number] : nullptr; }

bool BoxIsCut() { return box.header != nullptr && !IsWhole(box); }

const char *FaultOfBox() {
  if (!IsWhole(box)) return "It was truncated.";
  if (box.header->box != box.id) return "Its content was changed.";
  const int fd = shm_open(name, O_RDWR, 0);
  if (fd < 0) return errno == ENOENT ? "It was removed." : SystemError();
  struct stat object = {};
  const bool ours = fstat(fd, &object) == 0 && object.st_ino == box.header->inode;
  close(fd);
  return ours ? nullptr : "Another object has its name.";
}

void TellBoxLost(const char *fault) {
  ereport(WARNING, (errmsg("snowflake keeper: the shared memory object \"%s\" was lost while the server ran", name),
                    errdetail_internal("%s", fault),
                    errhint("Check RemoveIPC of systemd-logind. To create a new object, restart the server.")));
}

void RemoveBox() {
  const bool unlinked = shm_unlink(name) == 0 || errno == ENOENT;
  // The object may be found under another name, or be the postmaster's, and be made as long as it
  // was. A store to memory that is cut off would raise SIGBUS.
  const uint64_t none = 0;
  const bool marked = pwrite(box.fd, &none, sizeof(none), offsetof(BoxHeader, box)) == sizeof(none);
  if (!unlinked || !marked)
    ereport(LOG, (errcode(ERRCODE_IO_ERROR), errmsg("could not remove shared memory object \"%s\": %m", name)));
}

}  // namespace snowflake
