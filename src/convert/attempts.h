// What conversions check before they begin, and how the procedures of an online one pause: they end
// transactions of their own.
#pragma once

#include "pg/pg.h"
#include "pg/catalogs.h"

namespace snowflake {
// Error: 25001 in a transaction block, or in a function.
void CheckMayCommit(FunctionCallInfo fcinfo, const char *procedure);

// Errors: 25006, and 55000 at any isolation level except read committed.
void CheckMayChange(const char *function);

// For a caller with its owner's rights. Errors: 42P01, 42501.
Relation OpenOwn(Oid table, LOCKMODE mode, const char *procedure);

// Outside of a transaction's locks. A signal ends the pause early.
void PauseFor(int64_t us);

}  // namespace snowflake
