// The horizons of the nodes (section 12), and the slots of the transactions that took or claimed
// ids, of which samples are made.
//
// 1. Node and horizon have the same number.
// 2. `answered` does not fall, nor `highest` below it, while extension, layout and `resets` stay.
// 3. Nothing above `stored` is reported.
// 4. An operator may take the horizon back (issue/horizon.h). That counts `resets` up, and what
//    memory, the black box or the data directory have of an earlier number does not count.
//
// Locking: `file_lock` is held while the limit in the data directory is written and put into
// `stored`. It is taken before the horizon's lock. A horizon's lock guards all of HorizonBlock but
// the two atomics, the xids of its samples, and what the black box has of the horizon. It is taken
// before the node's lock, never after. The slots of transactions have no lock: core/horizon.h says
// who writes to them.
#pragma once

#include "core/box.h"
#include "core/horizon.h"
#include "pg/state/node_block.h"

namespace snowflake {
// A node's horizon.
struct alignas(128) HorizonBlock {
  LWLock lock;
  LWLock file_lock;
  Oid extension;  // whose ids the samples are of, ...
  Layout layout;  // ... and in which layout
  int64_t shown;  // before the restart: it holds for every snapshot since
  Samples samples;
  std::atomic<int64_t> answered;  // the highest that was, or may have been, reported
  std::atomic<int64_t> highest;   // the same, or the newest sample's: the highest that may be reported
  FirstId holder;                 // what held back the newest sample taken, kept only if higher, ...
  int64_t taken_us;               // ... and when that was, by the monotonic clock
  int64_t asked_us;               // when the horizon was last requested; 0: never
  int64_t stored;                 // the limit of reports that the data directory has; 0: none
  int64_t waits_us;               // since when calls have found only that limit in the way; 0: it is not
  int64_t resets;
};

// Memory for the horizons of so many nodes, with the slots of all transactions that can be in
// progress at a time. Only the first ZeroOfHorizons() bytes need to be zero. Makes the horizons in
// it; from here on they are this process's.
Size SizeOfHorizons(int node_slots);
Size ZeroOfHorizons(int node_slots);
void MakeHorizons(void *memory, int node_slots, int tranche);
void UseHorizons(void *memory);

// The slots of transactions with ids: one for each process slot of PostgreSQL, then one for each
// prepared transaction. 0: there is no state block.
int HorizonSlots();
HorizonSlot *HorizonSlotAt(int i);

HorizonBlock *HorizonOf(const NodeBlock *node);
// The xids of one of its samples.
Xid *SampleXids(const NodeBlock *node, int32_t number);

// The database is dropped. Requires: SlotsLock(), exclusively.
void FreeHorizon(HorizonBlock *horizon);

// The highest known horizon.
int64_t NewestHorizon(const HorizonBlock &horizon);
// After a change of what is kept or was reported, except by a report.
void NoteHighest(HorizonBlock *horizon);
// `id` as a record with zero padding.
void ToKeep(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, KeptHorizon *kept);

}  // namespace snowflake
