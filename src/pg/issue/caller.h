// What a call needs of its surroundings, the same for ids, segments and the horizon.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {

// The extension that a function belongs to, and this database's node. Errors: 55000 if there is none.
Oid CallersExtension(Oid fn_oid);
NodeBlock *ThisNode(Oid fn_oid, Oid extension);

// What a crash left goes on only under the same registry and layout, and not if this server followed another one meanwhile,
// which had that registry. Whoever comes first looks, a call or the keeper. If another extension is asked for ids, the
// keeper sees to it.
bool IsRecovered(NodeBlock *node);
void AdmitRecovered(NodeBlock *node, const Layout &layout, Oid extension);

// Calls what may wait, and counts it where it ends in an error; a wait that is cancelled is one.
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

// Before a call waits for the registry. Errors: 25006 on a standby whose registry is here, 55000 where this transaction's own changes are what the keeper cannot see.
void CheckRegistryMayAnswer(Oid fn_oid, Oid extension);

}  // namespace snowflake
