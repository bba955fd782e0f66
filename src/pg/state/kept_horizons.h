// The horizons ahead of the wall clock, for the next start of the server: a file for each database,
// in a folder of the data directory. They are needed if the black box is lost.
//
// 1. A file exists while the node's clock is ahead of the wall clock. Otherwise the clock after a
//    restart, the wall clock, is above all reported horizons.
// 2. Only the database's keeper writes and removes it. It is not synced to disk: a reboot is not
//    covered.
// 3. In a copy of the data directory it does no harm: that node's clock begins no further ahead.
#pragma once

#include "core/box.h"
#include "pg/pg.h"

namespace snowflake {

// Skips files that are not whole.
void ForEachKeptHorizon(void (*put_back)(const KeptHorizon &kept, void *argument), void *argument);

// Of this database; the padding of `kept` is zero. False: it is not written, which is logged once.
bool WriteKeptHorizon(const KeptHorizon &kept);
void RemoveKeptHorizon();

}  // namespace snowflake
