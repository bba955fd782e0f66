// What the keeper asks of a registry: the three functions of section 4, whichever way they are reached. Each call is one
// exchange, a transaction of its own. An answer that never comes, and an answer that is an error, is an ERROR here.
#pragma once

#include "core/lease.h"
#include "pg/pg.h"

namespace snowflake {

struct AcquireRequest {
  const char *node;
  int32_t datacenter;
  Tick now;
  int64_t duration_us;
};

struct AcquireAnswer {
  Lease lease;
  Layout layout;
};

// Where the registry is.
struct RegistryPlace {
  Oid extension;  // of this database
  const char *schema;
};

enum class RegistryAnswer {
  kDone,
  kGone,  // the lease is not there any more, or the extension is not
  kBusy,  // somebody is changing the extension: ask again
};

RegistryAnswer AcquireLocally(const RegistryPlace &place, const AcquireRequest &request, AcquireAnswer *answer);
RegistryAnswer ExtendLocally(const RegistryPlace &place, const Lease &lease, Tick now, int64_t duration_us,
                             Tick *window_end);
RegistryAnswer ReleaseLocally(const RegistryPlace &place, const Retired &retired);

// The extension of this database, InvalidOid when there is none, and its schema's name in the current memory context.
RegistryPlace FindRegistry();
// This database's layout.
Layout RegistryLayout(const RegistryPlace &place);

}  // namespace snowflake
