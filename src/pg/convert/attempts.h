// What the procedures of an online conversion share: they end transactions, and pause in between.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Error: 25001 in a transaction block, or in a function.
void CheckMayCommit(FunctionCallInfo fcinfo, const char *procedure);

// Outside of a transaction's locks. A signal ends the pause early.
void PauseFor(int64_t us);

}  // namespace snowflake
