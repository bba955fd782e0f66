// Finds the extension and the node of a call, and refuses calls that cannot have one.
#include "pg/issue/caller.h"

#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/state_block.h"

namespace snowflake {
namespace {
NodeBlock *this_node = nullptr;

// A function never changes its extension. A session may call several in turns.
struct {
  Oid function, extension;
} known[4];

[[noreturn]] void ReportNotPreloaded() {
  // A second line would replace the first.
  const char *others = GetConfigOption("shared_preload_libraries", false, false);
  const bool none = others[0] == '\0';
  const bool shown = none || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS);
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("snowflake is not preloaded"),
       errdetail(
           "Ids are issued from shared memory, which the library can allocate only if it is loaded at server start."),
       shown ? errhint("Put this line into postgresql.conf and restart the server: shared_preload_libraries = "
                       "'%s%ssnowflake'",
                       others, none ? "" : ", ")
             : errhint("Append snowflake to shared_preload_libraries in postgresql.conf and restart the server.")));
}

// A registry on another server can store a lease for a standby.
void CheckNotStandby() {
  if (!AsksOwnTables() || !RecoveryInProgress()) return;
  ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot issue ids during recovery"),
                  errdetail("The registry is in this database, and a standby cannot write a lease to it."),
                  errhint("Issue ids on the primary. After promotion, this server issues ids at once.")));
}

}  // namespace

Oid CallersExtension(Oid fn_oid) {
  for (const auto &caller : known)
    if (caller.function == fn_oid) return caller.extension;
  const Oid extension = ExtensionOfFunction(fn_oid);
  CheckNotNamesake(extension);
  WatchLayout(fn_oid);
  static uint32 next = 0;
  known[next++ % lengthof(known)] = {fn_oid, extension};
  return extension;
}

bool IsRecovered(NodeBlock *node) {
  bool recovered = false;
  WithLock(node, LW_SHARED, [&] { recovered = node->recovered; });
  return recovered;
}

void AdmitRecovered(NodeBlock *node, const Layout &layout, Oid extension) {
  const uint64_t own_tables = HashOfOwnTables();
  const int64_t timeline = RecoveryInProgress() ? 0 : GetWALInsertionTimeLine();
  const ServerTime time = ReadTime();
  ChangeNode(node, [&] {
    if (!node->recovered) return;
    node->recovered = false;
    Read(&node->state, time);
    const bool other_layout = node->extension == extension && node->state.generator.layout != layout;
    const bool followed = node->registry == own_tables && node->state.seen.timeline != timeline;
    if (other_layout || followed) CloseLease(&node->state);
    CatchUp(&node->state, false);
  });
}

NodeBlock *ThisNode(Oid fn_oid, Oid extension) {
  if (this_node == nullptr) {
    if (!HasSharedMemory()) ReportNotPreloaded();
    NodeBlock *node = FindOrMakeNode(MyDatabaseId);
    if (node == nullptr)
      ereport(ERROR, (errcode(kNoLease), errmsg("too many databases of this server issue ids"),
                      errdetail("All %d entries in shared memory (snowflake.max_databases) are in use.", NodeSlots()),
                      errhint("Raise snowflake.max_databases and restart the server. If the library is not preloaded, "
                              "add it to shared_preload_libraries first.")));
    if (IsRecovered(node)) {
      CheckNotStandby();
      AdmitRecovered(node, DatabaseLayout(fn_oid), extension);
    }
    this_node = node;
  }
  return this_node;
}

void CheckRegistryMayAnswer(Oid fn_oid, Oid extension) {
  CheckNotStandby();
  // The keeper is another process: it cannot see what this transaction has not committed.
  bool created_here = false;
  if (!OidIsValid(SchemaOfExtension(extension, &created_here))) ReportNoExtension(fn_oid);
  if (created_here)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot issue ids in the transaction that created the extension"),
                    errdetail("The keeper cannot see the registry until that transaction is committed."),
                    errhint("Commit first.")));
}

}  // namespace snowflake
