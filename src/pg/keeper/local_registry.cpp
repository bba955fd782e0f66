// The registry in this database: the protocol, called in transactions of the keeper's own.
//
// Every transaction runs in a security-restricted operation: the protocol itself enters the security context of
// the tables' owner, and this one is for what only happens at commit.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/keeper/registry.h"
#include "pg/registry/segments.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

struct Transaction {
  MemoryContext caller;  // a transaction's end leaves another one
  Oid user;
  int security_context;
};

Transaction Begin() {
  Transaction transaction;
  transaction.caller = CurrentMemoryContext;
  SetCurrentStatementStartTimestamp();
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  GetUserIdAndSecContext(&transaction.user, &transaction.security_context);
  SetUserIdAndSecContext(transaction.user, transaction.security_context | SECURITY_RESTRICTED_OPERATION);
  return transaction;
}

void End(const Transaction &transaction) {
  PopActiveSnapshot();
  CommitTransactionCommand();
  MemoryContextSwitchTo(transaction.caller);
  SetUserIdAndSecContext(transaction.user, transaction.security_context);
  pgstat_report_stat(true);
}

// The postmaster says so in its lock file before it tells anybody. Where a keeper alone is ended, others go on.
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

// Runs `ask` in a transaction that no drop of the extension has to wait for before it began, nor the other way round. What is
// not `needed` is left out while somebody changes the extension. Error: 55006.
template <typename Ask>
RegistryAnswer InTransaction(Oid extension, Ask ask, bool needed = true) {
  const Transaction transaction = Begin();
  RegistryAnswer answer = RegistryAnswer::kGone;
  const bool locked = LockTables(extension, RowShareLock, false);
  if (!locked && needed) ReportChanging(extension);
  if (locked && OidIsValid(SchemaOfExtension(extension))) answer = ask();
  End(transaction);
  return answer;
}

RegistryAnswer AcquireHere(const RegistryTarget &target, const Layout &, const AcquireRequest &request,
                           AcquireAnswer *answer) {
  return InTransaction(target.extension, [&] {
    if (ProtocolAcquire(target.extension, request, answer)) return RegistryAnswer::kDone;
    return request.start_before == kAnyStart ? RegistryAnswer::kBusy : RegistryAnswer::kNothingBetter;
  });
}

RegistryAnswer ExtendHere(const RegistryTarget &target, const ExtendRequest &request, ExtendAnswer *answer) {
  return InTransaction(target.extension, [&] {
    return ProtocolExtend(target.extension, request, answer) ? RegistryAnswer::kDone : RegistryAnswer::kGone;
  });
}

// Together with the wait for a lock within the 3 s that a shutdown may take.
constexpr int kHurryMs = 1500;

template <typename Ask>
RegistryAnswer InTransactionInTime(Oid extension, bool hurry, Ask ask) {
  if (hurry) enable_timeout_after(STATEMENT_TIMEOUT, kHurryMs);
  const RegistryAnswer answer = InTransaction(extension, ask);
  disable_timeout(STATEMENT_TIMEOUT, false);
  return answer;
}

RegistryAnswer ReleaseHere(const RegistryTarget &target, const ReleaseRequest &request, bool hurry, Telling telling) {
  return InTransactionInTime(target.extension, hurry, [&] {
    telling(request.lease_id);
    return ProtocolRelease(target.extension, request) ? RegistryAnswer::kDone : RegistryAnswer::kGone;
  });
}

RegistryAnswer AcquireRangesHere(const RegistryTarget &target, const RangesRequest &request, bool hurry,
                                 RangesAnswer *answer) {
  return InTransactionInTime(target.extension, hurry, [&] {
    ProtocolRanges(target.extension, request, answer);
    return RegistryAnswer::kDone;
  });
}

}  // namespace

const Registry kLocalRegistry = {true, AcquireHere, ExtendHere, ReleaseHere, AcquireRangesHere};

void MarkCleanLocally(Oid extension) {
  if (!ServerIsStopping()) return;
  const auto mark = [&] {
    ProtocolMarkClean(extension);
    return RegistryAnswer::kDone;
  };
  InTransaction(extension, mark, false);
}

int64_t LocalWorkersFree(Oid extension, const Layout &layout) {
  int64_t free = -1;
  const auto count = [&] {
    free = ProtocolWorkersFree(extension, layout, settings.datacenter);
    return RegistryAnswer::kDone;
  };
  InTransaction(extension, count, false);
  return free;
}

Oid FindExtension() {
  const Transaction transaction = Begin();
  const Oid extension = get_extension_oid("snowflake", true);
  End(transaction);
  return extension;
}

Layout LocalLayout(Oid extension) {
  const Transaction transaction = Begin();
  const Layout layout = ReadLayout(FindTables(extension, AccessShareLock).layout);
  End(transaction);
  return layout;
}

void KeepLocalLayout(Oid extension) {
  const auto keep = [&] {
    ProtocolKeepLayout(extension);
    return RegistryAnswer::kDone;
  };
  InTransaction(extension, keep, false);
}

}  // namespace snowflake
