// snowflake_renew(): for a machine that was copied with its memory. Result and errors: COMMENT ON in the install script.
#include "pg/issue/node_block.h"
#include "pg/sql/waits.h"

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_renew) {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) PG_RETURN_VOID();
  Latch *keeper_latch = nullptr;
  int64_t tick_us = 0;
  ChangeNode(node, [&] {
    ForgetLease(&node->state);
    tick_us = node->state.generator.layout.tick_us;
    keeper_latch = node->keeper_latch;
    node->range_token = {};
  });
  // Nor the numbers.
  for (int i = 0; i < SegmentPlaces(); ++i) {
    SegmentSlot *slot = SegmentPlace(i);
    if (slot->database == MyDatabaseId) FreeSegment(slot, slot->incarnation);
  }
  if (keeper_latch != nullptr) SetLatch(keeper_latch);
  WaitForRunsToEnd(tick_us);
  PG_RETURN_VOID();
}
