// The transactions that have taken ids: the slot of each in shared memory, and where it moves when
// the transaction is prepared. The horizon is taken from these slots (horizon.h).
#pragma once

#include "pg/state/horizon_block.h"

namespace snowflake {
// Called once per load of the library: follows transactions that are prepared.
void WatchTransactions();

// The slot of the transaction that this process works for.
struct OwnSlot {
  HorizonSlot *slot;
  Local by;
  bool is_leaders;  // this process is a parallel worker
};
OwnSlot SlotOfTransaction();

// Before the transaction's first id is taken: the slot may still have an earlier transaction,
// which is prepared and whose process does not know that its parallel workers took ids.
void KeepPrepared(const OwnSlot &own);

}  // namespace snowflake
