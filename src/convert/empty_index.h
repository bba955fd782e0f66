// CREATE INDEX CONCURRENTLY up to its first commit, for snowflake_try(): it cannot do the rest.
#pragma once

#include "pg/execution.h"

namespace snowflake {
// The index is invalid and gets no rows, as after a CREATE INDEX CONCURRENTLY that failed at once.
// REINDEX INDEX CONCURRENTLY builds it. Fires the event triggers of CREATE INDEX. Errors: those of
// CREATE INDEX.
void CreateEmptyIndex(IndexStmt *index, const char *sql);

}  // namespace snowflake
