// snowflake_renew(), for a machine that was copied with its memory. COMMENT ON has its errors.
#include "pg/issue/launch.h"
#include "pg/sql/pauses.h"

namespace snowflake {

SNOWFLAKE_FUNCTION(snowflake_renew) {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) PG_RETURN_VOID();
  int64_t tick_us = 0;
  ChangeNode(node, [&] {
    ForgetLease(&node->state);
    tick_us = node->state.generator.layout.tick_us;
  });
  FreeSegments();
  WakeKeeper(node);
  WaitForRunsToEnd(tick_us);
  PG_RETURN_VOID();
}

}  // namespace snowflake
