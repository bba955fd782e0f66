// The horizons that lead the wall clock, for the next life of the server: a file for each database, in a
// folder of the data directory. After a loss of the black box it alone knows of them.
//
// 1. A file is there while the node's clock leads the wall clock. Otherwise the next life's clock, which
//    is the wall clock, goes on above all that was told.
// 2. Only the database's keeper writes and removes it. Nothing is synced to disk: it is to outlive the
//    server's processes, and a reboot is not covered.
// 3. In a copy of the data directory it is of no harm: that node's clock begins no further ahead.
#pragma once

#include "core/box.h"
#include "pg/pg.h"

namespace snowflake {

// What is not whole is left out. In the postmaster, or in who makes the state block.
void ForEachKeptHorizon(void (*put_back)(const KeptHorizon &kept, void *argument), void *argument);

// Of this database; the padding of `kept` is zero. False: it is not written, which was logged once.
bool WriteKeptHorizon(const KeptHorizon &kept);
void RemoveKeptHorizon();

}  // namespace snowflake
