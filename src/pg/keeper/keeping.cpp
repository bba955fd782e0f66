// Attaches a keeper to its node and to a registry, and detaches it again.
#include "pg/keeper/keeping.h"

#include <unistd.h>

#include "pg/issue/caller.h"
#include "pg/issue/launch.h"
#include "pg/keeper/blame.h"
#include "pg/presentable.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
volatile sig_atomic_t stop_requested = false;
Keeping keeping;

void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen) {
  const char *detail = psprintf(
      "It is on timeline %lld, but this node has seen timeline %lld. The node accepts the older timeline only after a "
      "call of snowflake_settle() in the registry's database.",
      Long(standing.timeline), Long(seen.timeline));
  if (standing.settle_called_us < seen.settle_called_us)
    detail = psprintf("It has no record that snowflake_settle() was called at %s.", Time(seen.settle_called_us));
  ereport(ERROR,
          (errcode(kNoLease), errmsg("the registry answers from an older timeline"), errdetail_internal("%s", detail),
           errhint("If an old primary has come back, stop it. If this server is to be the registry from now on, call"
                   " snowflake_settle() in its database. If what this node has seen is false, restart this server."),
           BlameRegistry()));
}

void ReportUnusable(const char *what) {
  ereport(ERROR, (errcode(kNoLease), errmsg("implausible response from registry"), errdetail_internal("%s", what),
                  errhint("Check snowflake.registry, and which roles may change that database."), BlameRegistry()));
}

namespace {
void Detach(int, Datum) {
  WithLock(keeping.node, LW_EXCLUSIVE, [] {
    keeping.node->keeper_pid = 0;
    keeping.node->keeper_latch = nullptr;
    keeping.node->keeper_asked_us = 0;
  });
  ConditionVariableBroadcast(&keeping.node->changed);
}

void ForgetAnswers() {
  NodeBlock *node = keeping.node;
  Assert(IsHeldExclusively(node->lock));  // Requires: the node's lock.
  ForgetRegistry(&node->state);
  node->advice = 0;
  node->registry_is_here = node->password_in_clear = false;
  node->error.message[0] = node->ranges_error.message[0] = '\0';
}

// One that issues ids, or whose registry serves nodes of other servers. nullptr: no slot is free.
NodeBlock *NodeToKeep() {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr && HasSharedMemory()) {
    StartTransactionCommand();
    node = FindOrMakeNode(MyDatabaseId);
    CommitTransactionCommand();
  }
  return node;
}

// A database is renamed only while nobody is connected to it.
const char *DatabaseName() {
  static char name[NAMEDATALEN] = "";
  if (name[0] != '\0') return name;
  MemoryContext caller = CurrentMemoryContext;  // a transaction's end leaves another
  StartTransactionCommand();
  const char *database = get_database_name(MyDatabaseId);
  if (database != nullptr) strlcpy(name, database, sizeof(name));
  CommitTransactionCommand();
  MemoryContextSwitchTo(caller);
  return name;
}

}  // namespace

void UseRegistry() {
  const bool own_tables = keeping.node->registry == HashOfOwnTables();
  const bool known = own_tables || keeping.node->registry == HashOfRegistry();
  RegistryTarget *target = &keeping.target;
  char *conninfo = known ? MemoryContextStrdup(TopMemoryContext, own_tables ? "" : settings.registry) : nullptr;
  if (target->conninfo != nullptr) pfree(target->conninfo);
  keeping.registry = own_tables ? &kLocalRegistry : &kRemoteRegistry;
  *target = {keeping.node, target->extension, conninfo, {}, false, false};
}

bool Attach() {
  NodeBlock *node = keeping.node = NodeToKeep();
  if (node == nullptr) return false;
  const bool early = StartedWithServer();
  bool taken = false;
  ChangeNode(node, [&] {
    taken = node->keeper_pid != 0;
    if (taken) return;
    node->keeper_pid = MyProcPid;
    node->keeper_latch = MyLatch;
    node->exchanges.asked_us = 0;
    // So that the first call need not wait for a lease.
    node->state.lease_wanted |= early && !node->state.generator.open;
  });
  if (taken) return false;
  before_shmem_exit(Detach, Datum{0});
  UseRegistry();
  return true;
}

void NameNode() {
  char name[sizeof(NodeBlock::node_name)];
  if (settings.node_name[0] != '\0') {
    CopyPresentable(name, sizeof(name), settings.node_name, Alphabet::kName);
  } else {
    char host[128] = "localhost";
    gethostname(host, sizeof(host) - 1);
    // A primary and its standbys have one cluster_name, and are nodes of their own.
    CopyPresentable(name, sizeof(name),
                    psprintf("%s%s%s:%d/%s", cluster_name, cluster_name[0] != '\0' ? "@" : "", host, PostPortNumber,
                             DatabaseName()),
                    Alphabet::kName);
  }
  ChangeNode(keeping.node, [&] { memcpy(keeping.node->node_name, name, sizeof(name)); });
}

void FollowRegistry() {
  const uint64_t registry = HashOfRegistry();
  FreeSegments();
  ChangeNode(keeping.node, [&] {
    ForgetAnswers();
    keeping.node->registry = registry;
  });
  UseRegistry();
}

void SetExtension(Oid extension) {
  NodeBlock *node = keeping.node;
  const bool here = keeping.registry->is_here;
  bool other = OidIsValid(keeping.target.extension) && keeping.target.extension != extension;
  // It may have been dropped while there was no keeper.
  WithLock(node, LW_SHARED,
           [&] { other |= node->state.generator.lease.lease_id != 0 && node->extension != extension; });
  if (other) FreeSegments();
  // The registry in this database is gone, with what it leased. One elsewhere gets the lease back.
  if (other && here)
    ChangeNode(node, [&] {
      node->state.generator.open = false;
      ForgetAnswers();
    });
  else if (other)
    CloseGenerator();
  keeping.target.extension = extension;
  if (OidIsValid(extension) && IsRecovered(node) && !(here && RecoveryInProgress()))
    AdmitRecovered(node, LocalLayout(extension), extension);
}

void CloseGenerator() {
  ChangeNode(keeping.node, [] { CloseLease(&keeping.node->state); });
}

}  // namespace snowflake
