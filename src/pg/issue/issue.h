// The way of an id, section 3: a number of this process's own run, or a new run of the node's generator.
#pragma once

#include "pg/issue/node_block.h"

namespace snowflake {

// The next id. `fn_oid` is the SQL function that asks, through which the extension is found; `ahead` says how many ids the
// caller is sure to ask for, this one included. Raises the errors of section 9.
int64_t NextId(Oid fn_oid, int64_t ahead);

// Up to `most` ids at one reading of the clock: first, first + step, and so on; at least one.
struct Ids {
  int64_t first;
  int64_t step;
  int32_t count;
};
Ids NextIds(Oid fn_oid, int32_t most);

// What a call needs of its surroundings, the same for ids and for segments. The extension that a function belongs to, and this
// database's node; errors: 55000 where there is none.
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

// The last id of this process, or -1 before the first.
int64_t LastId();

}  // namespace snowflake
