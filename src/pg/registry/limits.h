// What a node's role may do to others with the protocol: it runs in transactions of its own that end soon, because one that is
// left open would hold the registry's lock, or a lease's.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// To be called first by each function of the protocol that SQL calls. Error: 25001 in a transaction
// block. A pipeline can still turn the transaction into a block afterwards: so from here on it may
// not be prepared (0A000), and has as long as a slow registry takes at most; then its session ends.
void LimitTransaction(const char *function);

// For what holds the registry's lock in a transaction of the caller's: prepared, it would be held over restarts (0A000).
void ForbidPrepare(const char *function);

// The first argument: a node's name, in bounds (22023).
const char *NodeName(FunctionCallInfo fcinfo);

}  // namespace snowflake
