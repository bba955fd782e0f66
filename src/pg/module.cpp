// Loads the library: settings and hooks always, shared memory only if the postmaster preloads it.
#include "core/assert.h"
#include "pg/issue/launch.h"
#include "pg/issue/transactions.h"
#include "pg/keeper/libpq.h"
#include "pg/pg.h"
#include "pg/registry/calls.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"
#include "pg/sql/hooks.h"
#include "pg/sql/mask_keys.h"
#include "pg/state/state_block.h"

using namespace snowflake;

extern "C" {

SNOWFLAKE_MODULE_MAGIC("snowflake");

PGDLLEXPORT void _PG_init(void);

void _PG_init(void) {
  HandleAssertions(FailAsAssert);
  const bool preloading = process_shared_preload_libraries_in_progress;
  DefineSettings(preloading, {CheckConnectionString, CheckMaskKeyFile, AssignMaskKeyFile});
  WatchMaskKeyFile();
  WatchRegistry();
  WatchParsing();
  WatchCopies();
  WatchTransactions();
  WatchDrops();
  WatchRestoredSegments();
  after_answer = KeepRegistry;
  if (!preloading) return;
  RequestSharedMemory();
  StartKeepers();
}
}
