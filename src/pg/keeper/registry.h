// What the keeper asks of a registry, in this database or elsewhere: the three exchanges of section
// 4 of the design and the one of segments. Each is a transaction of its own. If no answer comes, or
// an error, that is an ERROR here.
#pragma once

#include "pg/registry/last_tick.h"
#include "pg/registry/protocol.h"

namespace snowflake {
enum class RegistryAnswer {
  kDone,
  kGone,           // the lease or the extension is missing
  kBusy,           // ask again: the registry has just noticed a failover
  kNothingBetter,  // no window can begin before what was asked for
  kAnother,        // a probe found another registry than the one in use
};

struct NodeBlock;

struct RegistryTarget {
  NodeBlock *node;  // a connection finds out whether its registry is in its own database; null: of a probe
  Oid extension;    // the node's own, in this database
  char *conninfo;   // snowflake.registry; null: its former value, which is not known

  // What the newest exchange found.
  RegistryPlace place;
  bool leads_here;  // a connection leads to this database
  bool hangs;       // the server answered, but not the exchange's last statement
};

// What a node requests of a registry.
struct Wanted {
  bool leases, ranges;
};

// Makes a request right before it is sent: it names the node's clock, and a connection takes time.
template <typename Request>
struct Asking {
  Request (*make)(void *by);
  void *by;
  Request operator()() const { return make(by); }
};

// By a lambda, which must outlive it.
template <typename Request, typename Make>
Asking<Request> AskBy(Make *make) {
  return {[](void *by) -> Request { return (*static_cast<Make *>(by))(); }, make};
}

// Called right before the registry receives a release.
using BeforeRelease = void (*)(int64_t lease_id);

// The node's own layout must be that of a registry elsewhere (55000), and is then kept. A release
// or ranges in a `hurry` take less than 2 s. False: the lease or the extension is gone. An acquire
// returns kBusy whenever the registry assigned nothing.
struct Registry {
  bool is_here;
  RegistryAnswer (*acquire)(RegistryTarget *target, const Layout &layout, const Asking<AcquireRequest> &ask,
                            AcquireAnswer *answer);
  bool (*extend)(RegistryTarget *target, const Asking<ExtendRequest> &ask, ExtendAnswer *answer);
  bool (*release)(RegistryTarget *target, const ReleaseRequest &request, bool hurry, BeforeRelease before);
  bool (*ranges)(RegistryTarget *target, const RangesRequest &request, bool hurry, RangesAnswer *answer);
  // Whether the node could have leases or ranges there: an ERROR if not. Changes nothing there. The
  // answer is the system identifier, with what is in the target.
  bool (*probe)(RegistryTarget *target, const Layout &layout, const Wanted &wanted, int64_t *system_identifier);
};

extern const Registry kLocalRegistry;   // in this database
extern const Registry kRemoteRegistry;  // in another, over libpq

// Whether the server ends, not only this process. The postmaster writes so into its lock file
// before it tells others.
bool ServerIsStopping();

// If the server ends: where its own registry goes on, nothing that it committed can be missing.
void MarkCleanLocally(Oid extension);

// The last tick of a shutdown (registry/last_tick.h). It is stored within 0.5 s, or that is an
// ERROR; false while somebody changes the extension.
bool KeepLastTickLocally(Oid extension, int64_t unix_us);
LastShutdown LocalLastTick(Oid extension);

// How many worker ids of this node's datacenter are free in the registry here; below 0: it is being
// changed.
int64_t LocalWorkersFree(Oid extension, const Layout &layout);

// The extension of this database, InvalidOid when there is none.
Oid FindExtension();
// This database's layout.
Layout LocalLayout(Oid extension);
// Stores it, as a lease of the registry here would, so that it cannot change under another's lease.
void KeepLocalLayout(Oid extension);

}  // namespace snowflake
