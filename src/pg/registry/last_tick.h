// The last tick of a clean shutdown, a row of snowflake_last_tick in the node's own database,
// wherever its registry is. The next start goes on after it (core/node.h), on any server that has
// the row: after pg_upgrade and on a promoted standby, too. An old row is of the past, and does
// nothing.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Stores when it began, and whether snowflake.registry is set. It may fall, because an operator may
// have set a wrong clock right.
void KeepLastTick(Oid extension, int64_t unix_us);

struct LastShutdown {
  int64_t unix_us;       // 0: no last tick is known of this database
  bool registry_is_set;  // without a row of its own, that of the database that this one is a copy of
};
LastShutdown KeptLastTick(Oid extension);

}  // namespace snowflake
