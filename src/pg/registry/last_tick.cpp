// Reads and writes snowflake_last_tick, as the protocol does its tables.
#include "pg/registry/last_tick.h"

#include "pg/registry/calls.h"

namespace snowflake {
void KeepLastTick(Oid extension, int64_t unix_us) {
  const Tables tables = FindTables(extension);
  CommitLocally();
  AsOwner(tables, [&] {
    Execute(tables,
            "INSERT INTO snowflake_last_tick (database_oid, began_at) VALUES ($1, $2)"
            " ON CONFLICT (database_oid) DO UPDATE SET began_at = excluded.began_at",
            Int8(MyDatabaseId), TimeValue(unix_us));
    CheckWritten("snowflake_last_tick");
  });
}

int64_t KeptLastTick(Oid extension) {
  const Tables tables = FindTables(extension, AccessShareLock);
  return ResultAsOwner(tables, [&] {
    Execute(tables, "SELECT began_at FROM snowflake_last_tick WHERE database_oid = $1", Int8(MyDatabaseId));
    return Rows() > 0 ? Clamped(TimeResult(0, 1)) : 0;
  });
}

}  // namespace snowflake
