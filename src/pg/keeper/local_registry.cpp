// The registry in this database: the protocol, called in transactions of the keeper's own.
//
// Every transaction runs in a security-restricted operation: the protocol itself enters the
// security context of the tables' owner, and this one is for what only happens at commit.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/registry.h"
#include "pg/registry/calls.h"
#include "pg/registry/segments.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
template <typename Call>
void InTransaction(Call call) {
  MemoryContext caller = CurrentMemoryContext;  // a transaction's end leaves another one
  Oid user;
  int security_context;
  SetCurrentStatementStartTimestamp();
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  GetUserIdAndSecContext(&user, &security_context);
  SetUserIdAndSecContext(user, security_context | SECURITY_RESTRICTED_OPERATION);
  call();
  PopActiveSnapshot();
  CommitTransactionCommand();
  MemoryContextSwitchTo(caller);
  SetUserIdAndSecContext(user, security_context);
  pgstat_report_stat(true);
  disable_timeout(STATEMENT_TIMEOUT, false);
}

enum Need { kNeeded, kOptional };

// Runs `ask` in a transaction; false if the extension is gone. The transaction and a drop of the
// extension never wait for each other before `ask` begins: while somebody changes the extension,
// what is optional is left out, and what is needed is an error (55006).
template <typename Ask>
bool AskHere(Oid extension, Need need, Ask ask) {
  bool asked = false;
  InTransaction([&] {
    const bool locked = LockTables(extension, RowShareLock, false);
    if (!locked && need == kNeeded) ReportChanging(extension);
    asked = locked && OidIsValid(SchemaOfExtension(extension));
    if (asked) ask();
  });
  return asked;
}

// InTransaction() ends it.
void Hurry(int ms) { enable_timeout_after(STATEMENT_TIMEOUT, ms); }

// With the wait for a lock, this is within the 3 s that a shutdown may take.
constexpr int kReleaseMs = 1500;
constexpr int kLastTickMs = 500;

// Runs one of the node's own requests in a transaction, as AskHere() does.
template <typename Ask>
bool AskTarget(RegistryTarget *target, Ask ask) {
  target->place = {MyDatabaseId, target->extension, GetSessionUserId()};
  target->hangs = false;
  registry_failed = true;
  const bool asked = AskHere(target->extension, kNeeded, ask);
  registry_failed = false;
  return asked;
}

RegistryAnswer AcquireHere(RegistryTarget *target, const Layout &, const Asking<AcquireRequest> &ask,
                           AcquireAnswer *answer) {
  bool acquired = false;
  if (!AskTarget(target, [&] { acquired = ProtocolAcquire(target->extension, By::kOwnNode, ask(), answer); }))
    return RegistryAnswer::kGone;
  return acquired ? RegistryAnswer::kDone : RegistryAnswer::kBusy;
}

bool ExtendHere(RegistryTarget *target, const Asking<ExtendRequest> &ask, ExtendAnswer *answer) {
  bool extended = false;
  AskTarget(target, [&] { extended = ProtocolExtend(target->extension, By::kOwnNode, ask(), answer); });
  return extended;
}

bool ReleaseHere(RegistryTarget *target, const ReleaseRequest &request, bool hurry, BeforeRelease before) {
  bool released = false;
  if (hurry) Hurry(kReleaseMs);
  AskTarget(target, [&] {
    before(request.lease_id);
    released = ProtocolRelease(target->extension, By::kOwnNode, request);
  });
  return released;
}

bool AcquireRangesHere(RegistryTarget *target, const RangesRequest &request, bool hurry, RangesAnswer *answer) {
  if (hurry) Hurry(kReleaseMs);
  return AskTarget(target, [&] { ProtocolRanges(target->extension, request, answer); });
}

bool ProbeHere(RegistryTarget *target, const Layout &, const Wanted &, int64_t *system_identifier) {
  *system_identifier = static_cast<int64_t>(GetSystemIdentifier());
  return AskTarget(target, [&] {
    CheckCall("snowflake_lease_acquire");
    FindTables(target->extension);
  });
}

}  // namespace

const Registry kLocalRegistry = {true, AcquireHere, ExtendHere, ReleaseHere, AcquireRangesHere, ProbeHere};

bool ServerIsStopping() {
  FILE *file = AllocateFile("postmaster.pid", "r");
  if (file == nullptr) return false;
  char line[MAXPGPATH] = "";
  for (int i = 0; i < LOCK_FILE_LINE_PM_STATUS && fgets(line, sizeof(line), file) != nullptr; ++i) {
  }
  const bool stopping = strncmp(line, PM_STATUS_STOPPING, strlen(PM_STATUS_STOPPING)) == 0;
  FreeFile(file);
  return stopping;
}

void MarkCleanLocally(Oid extension) {
  if (ServerIsStopping()) AskHere(extension, kOptional, [&] { ProtocolMarkClean(extension); });
}

bool KeepLastTickLocally(Oid extension, int64_t unix_us) {
  Hurry(kLastTickMs);
  if (AskHere(extension, kOptional, [&] { KeepLastTick(extension, unix_us); })) return true;
  ereport(LOG, (errmsg("snowflake keeper: did not store the last tick, because the extension is being changed")));
  return false;
}

LastShutdown LocalLastTick(Oid extension) {
  LastShutdown last = {};
  InTransaction([&] { last = KeptLastTick(extension); });
  return last;
}

int64_t LocalWorkersFree(Oid extension, const Layout &layout) {
  int64_t free = -1;
  AskHere(extension, kOptional, [&] { free = ProtocolWorkersFree(extension, layout, settings.datacenter); });
  return free;
}

Oid FindExtension() {
  Oid extension = InvalidOid;
  InTransaction([&] { extension = get_extension_oid("snowflake", true); });
  return extension;
}

Layout LocalLayout(Oid extension) {
  Layout layout = {};
  InTransaction([&] { layout = ReadLayout(FindTables(extension, AccessShareLock).layout); });
  return layout;
}

void KeepLocalLayout(Oid extension) {
  AskHere(extension, kOptional, [&] { ProtocolKeepLayout(extension); });
}

}  // namespace snowflake
