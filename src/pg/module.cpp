// Loads the library: settings and hooks always, shared memory only while the postmaster preloads it.
#include "pg/issue/transactions.h"
#include "pg/issue/launch.h"
#include "pg/state/node_block.h"
#include "pg/keeper/libpq.h"
#include "pg/pg.h"
#include "pg/registry/calls.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"
#include "pg/sql/copy.h"
#include "pg/sql/drops.h"
#include "pg/sql/segments.h"

extern "C" {

SNOWFLAKE_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

void _PG_init(void) {
  const bool preloading = process_shared_preload_libraries_in_progress;
  snowflake::DefineSettings(preloading, snowflake::CheckConnectionString);
  snowflake::WatchRegistry();
  snowflake::WatchParsing();
  snowflake::WatchCopies();
  snowflake::WatchTransactions();
  snowflake::WatchDrops();
  snowflake::WatchRestoredSegments();
  snowflake::after_answer = snowflake::KeepRegistry;
  if (!preloading) return;
  snowflake::RequestSharedMemory();
  snowflake::StartKeepers();
}
}
