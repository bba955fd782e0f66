// What the keeper asks of a registry: the three exchanges of section 4 and the one of segments, whichever way they are reached. Each is a
// transaction of its own. An answer that never comes, and an answer that is an error, is an ERROR here.
#pragma once

#include "pg/registry/protocol.h"

namespace snowflake {

enum class RegistryAnswer {
  kDone,
  kGone,           // the lease is not there any more, or the extension is not
  kBusy,           // ask again: the registry has just noticed a failover
  kNothingBetter,  // no window can begin before what was asked for
};

// What was found of a registry over a connection when it was reached.
struct TargetFound {
  bool is_here;   // the setting leads to this very database
  bool in_clear;  // a password may go to whoever answers, in clear
};

// Where the node's own extension is, and its registry.
struct RegistryTarget {
  Oid extension;
  const char *conninfo;  // snowflake.registry
  TargetFound *found;
};

// Called when the registry is about to hear of a release, and not before.
using Telling = void (*)(int64_t lease_id);

// The node's own layout must be that of a registry elsewhere (55000), and is then kept. A release or ranges in a `hurry` take less than 2 s.
struct Registry {
  bool is_here;
  RegistryAnswer (*acquire)(const RegistryTarget &target, const Layout &layout, const AcquireRequest &request,
                            AcquireAnswer *answer);
  RegistryAnswer (*extend)(const RegistryTarget &target, const ExtendRequest &request, ExtendAnswer *answer);
  RegistryAnswer (*release)(const RegistryTarget &target, const ReleaseRequest &request, bool hurry, Telling telling);
  RegistryAnswer (*ranges)(const RegistryTarget &target, const RangesRequest &request, bool hurry,
                           RangesAnswer *answer);
};

extern const Registry kLocalRegistry;   // in this database
extern const Registry kRemoteRegistry;  // in another, over libpq

// Of this server's own registry when the server ends: nothing that it committed can be missing where it goes on.
void MarkCleanLocally(Oid extension);

// How many worker ids of this node's datacenter nobody else holds in the registry here; below 0: it is being changed.
int64_t LocalWorkersFree(Oid extension, const Layout &layout);

// The extension of this database, InvalidOid when there is none.
Oid FindExtension();
// This database's layout.
Layout LocalLayout(Oid extension);
// Writes it down, as a lease in this database would, so that it stays when the lease is another registry's.
void KeepLocalLayout(Oid extension);

}  // namespace snowflake
