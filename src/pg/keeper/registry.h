// What the keeper asks of a registry, in this database or elsewhere: the three exchanges of section
// 4 of the design and the one of segments. Each is a transaction of its own. If no answer comes, or
// an error, that is an ERROR here.
#pragma once

#include "pg/registry/protocol.h"

namespace snowflake {
enum class RegistryAnswer {
  kDone,
  kGone,           // the lease or the extension is missing
  kBusy,           // ask again: the registry has just noticed a failover
  kNothingBetter,  // no window can begin before what was asked for
};

struct NodeBlock;

struct RegistryTarget {
  NodeBlock *node;  // a connection finds out whether its registry is in its own database
  Oid extension;    // the node's own, in this database
  char *conninfo;   // snowflake.registry
  bool in_clear;    // found over a connection: a password may go in clear to any host that answers
};

// Called right before the registry receives a release.
using BeforeRelease = void (*)(int64_t lease_id);

// The node's own layout must be that of a registry elsewhere (55000), and is then kept. A release
// or ranges in a `hurry` take less than 2 s. False: the lease or the extension is gone. An acquire
// returns kBusy whenever the registry assigned nothing.
struct Registry {
  bool is_here;
  RegistryAnswer (*acquire)(RegistryTarget *target, const Layout &layout, const AcquireRequest &request,
                            AcquireAnswer *answer);
  bool (*extend)(RegistryTarget *target, const ExtendRequest &request, ExtendAnswer *answer);
  bool (*release)(RegistryTarget *target, const ReleaseRequest &request, bool hurry, BeforeRelease before);
  bool (*ranges)(RegistryTarget *target, const RangesRequest &request, bool hurry, RangesAnswer *answer);
};

extern const Registry kLocalRegistry;   // in this database
extern const Registry kRemoteRegistry;  // in another, over libpq

// If the server ends: where its own registry goes on, nothing that it committed can be missing.
void MarkCleanLocally(Oid extension);

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
