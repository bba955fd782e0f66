// The last tick of a clean shutdown, a row of snowflake_last_tick in the node's own database,
// wherever its registry is. The next start goes on after it (core/node.h), on any server that has
// the row: after pg_upgrade and on a promoted standby, too. An old row is of the past, and does
// nothing.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Stores when it began. It may fall, because an operator may have set a wrong clock right.
void KeepLastTick(Oid extension, int64_t unix_us);

// 0: none is known of this database. A copy has the row of the database that it was made of.
int64_t KeptLastTick(Oid extension);

}  // namespace snowflake
