// Settling, as core/ring.h decides it: this reads snowflake_origin and the leases, and writes down what comes of it.
#pragma once

#include "core/ring.h"
#include "pg/registry/tables.h"

namespace snowflake {

// Inside AsOwner(), like all that follows; its cuts lie in the current memory context. Error: 55000 when it cannot be.
Origin ReadOrigin(const Tables &tables);

// Where this server is, now.
Here HereNow();

// What an exchange brings along: whose leases are how long, and what its node knows. All with the registry's lock held.
struct Notice {
  Tick now;
  int64_t duration_us;
  int64_t named;  // the highest lease id that the asking node has seen of this registry, 0 for none
};

// An empty one is made anew, and settles firmly. Nobody can have deleted it: it was lost with the files, or with a table that was not
// permanent for a while. Returns whether it was.
bool EnsureOrigin(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin);

// Notices a loss, and says what is still held back because of one. `origin` is brought up to date.
Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, const Notice &notice, Origin *origin);

// Settles from now on because of this loss; `reason` for the log.
void BeginSettling(const Tables &tables, const Layout &layout, const Notice &notice, Loss loss, const char *reason,
                   Origin *origin);

// Ends settling, and takes this server for the one that the registry has always been on. False when there was nothing to end.
bool EndSettling(const Tables &tables);

// Writes down that this lease was drawn, and at the first one where.
void WriteOrigin(const Tables &tables, int64_t lease_id);

// That all up to now is on disk and the server is about to end; and that something came after.
void MarkClean(const Tables &tables);
void UnmarkClean(const Tables &tables);

}  // namespace snowflake
