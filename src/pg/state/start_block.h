// Whether the wall clock of the server is believed (core/start.h), for all databases.
//
// 1. Signs of life are the newest of: the checkpoint of pg_control, horizons and clocks that the
//    black box has, limits of horizons in the data directory, and the last commit that recovery
//    replayed, which a keeper notes later. After a crash that the postmaster survives, the time
//    since its own start counts, too. What is ahead of the clock does not count. Nor do ticks that
//    the registry has: they may be of another start with the same wrong clock.
// 2. While the clock is in doubt, a file has the sign of life from before the doubt
//    (data_directory.h). A start that finds it looks for no other: the doubtful clock has left its
//    own.
// 3. Without preloading, the first session that needs shared memory compares. A checkpoint of
//    pg_control that is later than the postmaster's start is then no sign of life.
//
// Locking: a lock of its own, under which no other is taken.
#pragma once

#include "core/start.h"
#include "pg/pg.h"

namespace snowflake {
struct StartBlock {
  LWLock lock;
  StartClock clock;
  bool of_before;  // there was a doubt before this start
};

void MakeStart(StartBlock *memory, int tranche);
void UseStart(StartBlock *memory);

// Compares the clock with the newest sign of life; `sign_us` is that of black box and data
// directory. No other process has the block yet.
void CompareStart(const ClockReading &reading, int64_t sign_us);

// Takes a reading.
StartClock ReadStart(const ClockReading &reading);

// The same for what a node's clock has read. Returns whether a horizon may be reported by it.
bool MayReportBy(const NodeClock &clock);

bool IsStartDoubted();

// The operator says that the clock is right. False: it was not in doubt.
bool ConfirmStart(const ClockReading &reading);

// Of a keeper, once.
bool IsSignWanted();
void NoteSignOfLife(int64_t sign_us);

}  // namespace snowflake
