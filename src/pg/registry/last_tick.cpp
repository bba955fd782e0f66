// Reads and writes snowflake_last_tick, as the protocol does its tables.
#include "pg/registry/last_tick.h"

#include "pg/registry/calls.h"
#include "pg/settings.h"

namespace snowflake {
void KeepLastTick(Oid extension, int64_t unix_us) {
  const Tables tables = FindTables(extension);
  CommitLocally();
  AsOwner(tables, [&] {
    Execute(tables,
            "INSERT INTO snowflake_last_tick (database_oid, began_at, registry_is_set) VALUES ($1, $2, $3)"
            " ON CONFLICT (database_oid)"
            " DO UPDATE SET began_at = excluded.began_at, registry_is_set = excluded.registry_is_set",
            Int8(MyDatabaseId), TimeValue(unix_us), Bool(!AsksOwnTables()));
    CheckWritten("snowflake_last_tick");
  });
}

LastShutdown KeptLastTick(Oid extension) {
  const Tables tables = FindTables(extension, AccessShareLock);
  return ResultAsOwner(tables, [&] {
    LastShutdown last = {};
    Execute(tables,
            "SELECT began_at, registry_is_set, database_oid OPERATOR(pg_catalog.=) $1 AS own FROM snowflake_last_tick"
            " ORDER BY own DESC, began_at DESC LIMIT 1",
            Int8(MyDatabaseId));
    if (Rows() == 0) return last;
    last.registry_is_set = BoolResult(0, 2);
    if (BoolResult(0, 3)) last.unix_us = Clamped(TimeResult(0, 1));
    return last;
  });
}

}  // namespace snowflake
