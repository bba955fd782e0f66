// What calls for ids, numbers and the horizon need first: their extension and their node.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {
// The extension of a function, and this database's node. Errors: 55000 if there is none.
Oid CallersExtension(Oid fn_oid);
NodeBlock *ThisNode(Oid fn_oid, Oid extension);

// A lease that was recovered after a crash goes on only under the same layout. One of the registry
// here does not if this server has followed another one since, which then had the registry. The
// first call or the keeper checks that. If the setting names another registry, the keeper decides.
bool IsRecovered(NodeBlock *node);
void AdmitRecovered(NodeBlock *node, const Layout &layout, Oid extension);

// Counts a call that ends in an error, or is cancelled.
template <typename Call>
inline void CountFailure(NodeBlock *node, int64_t Counters::*counter, Call call) {
  PG_TRY();
  { call(); }
  PG_CATCH();
  {
    WithLock(node, LW_EXCLUSIVE, [&] { ++(node->counters.*counter); });
    PG_RE_THROW();
  }
  PG_END_TRY();
}

// Before a call waits for the registry. Errors: 25006 on a standby whose registry is here, 55000 if
// the extension was dropped, or created in this transaction, which the keeper cannot see.
void CheckRegistryMayAnswer(Oid fn_oid, Oid extension);

}  // namespace snowflake
