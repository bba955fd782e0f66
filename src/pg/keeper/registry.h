// What the keeper asks of a registry: the three exchanges of section 4, whichever way they are reached. Each is a
// transaction of its own. An answer that never comes, and an answer that is an error, is an ERROR here.
#pragma once

#include "pg/registry/protocol.h"

namespace snowflake {

enum class RegistryAnswer {
  kDone,
  kGone,           // the lease is not there any more, or the extension is not
  kBusy,           // ask again: somebody is changing the extension, or the registry has just noticed a failover
  kNothingBetter,  // no window can begin before what was asked for
};

RegistryAnswer AcquireLocally(Oid extension, const AcquireRequest &request, AcquireAnswer *answer);
RegistryAnswer ExtendLocally(Oid extension, const ExtendRequest &request, ExtendAnswer *answer);
RegistryAnswer ReleaseLocally(Oid extension, const ReleaseRequest &request);

// Of this server's own registry when the server ends: nothing that it committed can be missing where it goes on.
void MarkCleanLocally(Oid extension);

// `conninfo` is snowflake.registry; the node's own layout must be the registry's (55000), and is then kept. A release in a
// `hurry` takes less than 2 s.
RegistryAnswer AcquireRemotely(const char *conninfo, Oid extension, const Layout &layout, const AcquireRequest &request,
                               AcquireAnswer *answer);
RegistryAnswer ExtendRemotely(const char *conninfo, const ExtendRequest &request, ExtendAnswer *answer);
RegistryAnswer ReleaseRemotely(const char *conninfo, const ReleaseRequest &request, bool hurry);

// The extension of this database, InvalidOid when there is none.
Oid FindExtension();
// This database's layout.
Layout LocalLayout(Oid extension);
// Writes it down, as a lease in this database would, so that it stays when the lease is another registry's.
void KeepLocalLayout(Oid extension);

}  // namespace snowflake
