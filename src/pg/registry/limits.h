// Limits to what a node's role can do to others with the protocol. Its calls run in transactions of
// their own that end soon, because an open one would hold the registry's lock, or a lease's.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// To be called first by each function of the protocol that SQL calls. Error: 25001 in a transaction
// block. A pipeline can still turn the transaction into a block afterwards. So from here on it must
// not be prepared (0A000), and its session ends if it takes longer than a slow registry does.
void LimitTransaction(const char *function);

// For what holds the registry's lock in a caller's transaction: if that were prepared (0A000), the
// lock would be held over restarts.
void ForbidPrepare(const char *function);

}  // namespace snowflake
