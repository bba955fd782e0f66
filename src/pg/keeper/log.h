// What the keeper reports: to waiting backends and the view by the state block, to people by the log.
#pragma once

#include "core/keeper.h"
#include "pg/pg.h"

namespace snowflake {

// One message for each of the clock's events.
void TellClockEvents();

// Tells waiting backends, the view and the log how the last exchange went; and how long it took, beside the window that it
// asked for.
void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us);
void RecordFailure(KeeperAction action, int sqlstate, const char *message, const char *detail, bool held_back = false);
void RecordBusy(KeeperAction action);

}  // namespace snowflake
