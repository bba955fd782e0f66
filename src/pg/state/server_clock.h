// What this server knows of the time (core/known_time.h), for all databases, and the file with it.
//
// 1. Readings of nodes and keepers move it. Whoever only looks at it moves nothing.
// 2. A start sets it from the newest sign of life: what the file has, the checkpoint of pg_control,
//    horizons and clocks that the black box has, limits of horizons in the data directory, and the
//    last commit that recovery replayed, which a keeper notes later. After a crash that the
//    postmaster survives, the time since its own start counts, if it is not ahead of the clock. Not
//    ticks that the registry has: they may be of another start with the same wrong clock. Without
//    preloading, the first session that needs shared memory does this, and a checkpoint of
//    pg_control that is later than the postmaster's start is then no sign of life.
// 3. While other signs may be of a wrong clock, the file says that it counts alone: from when the
//    wall clock cannot be right, or the operator has set it back, until it is believed, or a
//    checkpoint has begun after it was set right.
// 4. The file is written by a start, by keepers, and for the operator, and what is in memory
//    follows. Nobody who reads a clock waits for it. No horizon rises before the file says what
//    memory says.
//
// Locking: `mutex` guards what is known, for a few instructions, and is the innermost lock. If its
// holder is stopped, other processes go on by what they have seen, each by its own readings; one
// that has seen nothing yet, by the offset of what is known, which it reads without the mutex.
// `file_lock` is held while the file is written, and guards the rest. A horizon's `file_lock` is
// taken before, all other locks after.
#pragma once

#include "core/clock.h"
#include "pg/pg.h"

namespace snowflake {
struct ServerClock {
  Spinlock mutex;
  KnownTime known SNOWFLAKE_GUARDED_BY(mutex);
  bool takes_signs SNOWFLAKE_GUARDED_BY(mutex);  // of life that are found after the start
  LWLock file_lock;
  int64_t latest_offset_us;  // of a wrong clock that may have left signs; 0: of none
  int64_t right_since_us;    // when it was found to be right again, by the wall clock; 0: it was not
  bool counts_alone;         // what the file says, ...
  int64_t written_us;        // ... and when it was written, by the monotonic clock; 0: not in this life
  bool doubt_told;           // in the log
};

void MakeServerClock(ServerClock *memory, int tranche);
void UseServerClock(ServerClock *memory);

// `sign_us` is the newest sign of life that black box and data directory have; kNoSign: none. No
// other process has the block yet.
ServerTime StartServerClock(const ClockReading &reading, int64_t sign_us);

// Reads both clocks, again if the process was delayed between them, and takes the reading.
ServerTime ReadTime();
// Reads both clocks, but does not take the reading. Without a state block nothing is known.
ServerTime LookAtTime();

// Whether the wall clock cannot be right: it is in doubt. Whether it is known to be behind.
bool IsInDoubt(const ServerTime &time);
bool IsKnownBehind(const ServerTime &time);

// Whether the time that a node's clock shows may be right.
bool MayBeRight(const NodeClock &clock);

// Of a keeper: writes the file if that is due; `last`: in any case. False: it does not say yet what
// it should, because another process is writing it, or it cannot be written.
bool KeepServerClock(bool last);

// Of a keeper, after recovery; only the first counts.
void NoteSignOfLife(int64_t sign_us);

// The operator says that the wall clock is right. False: the file could not be written, and nothing
// was changed.
bool ConfirmServerClock(const ServerTime &time);

}  // namespace snowflake
