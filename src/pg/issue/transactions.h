// The transactions that have drawn ids: the slot of each in shared memory, and what becomes of it when
// the transaction is prepared. The horizon is taken from these slots; see horizon.h.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {

// Arranges for transactions that are prepared.
void WatchTransactions();

// The slot of the transaction that this process works for.
struct OwnSlot {
  HorizonSlot *slot;
  Local by;
  bool is_leaders;  // this process is a parallel worker
};
OwnSlot SlotOfTransaction();

// Before the transaction's first run is taken: the slot may have that of an earlier one, which is prepared
// and which its process does not know of.
void KeepPrepared(const OwnSlot &own);

}  // namespace snowflake
