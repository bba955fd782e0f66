// What the keeper reports: to waiting backends and the view in the state block, to people in the
// log.
#pragma once

#include "core/keeper.h"
#include "pg/pg.h"

namespace snowflake {
// The newest of the clock's events, if it was not reported yet.
void TellClockEvents();

// How the last exchange went; and how long it took, compared with the window that it asked for.
void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us);
void RecordFailure(KeeperAction action, const ErrorData &failure);

// What failed is no exchange, but this server's own. `shown`: ids end because of it.
void RecordOwnFailure(const ErrorData &failure, bool shown);

// Failures that no longer matter, because the registry that they are of is not asked again.
void ForgetFailures();

}  // namespace snowflake
