// The state block in shared memory: one NodeBlock for each database that issues ids. It is in the
// server's own shared memory if the library is preloaded; otherwise, from PostgreSQL 17 on, in a
// named segment that lasts as long as the server.
//
// Locking: the block's lock guards which database has which slot; it is taken before a node's lock,
// never after. A node's lock guards everything in NodeBlock below it but the condition variable. No
// ERROR, palloc or system call under it, so the code under it is a lambda that only computes.
#pragma once

#include "core/box.h"
#include "core/horizon.h"
#include "core/node.h"
#include "core/segment.h"
#include "pg/state/black_box.h"
#include "pg/pg.h"

namespace snowflake {
// They only grow while the server runs, because monitoring computes rates from them.
struct Counters {
  int64_t ids_taken;
  int64_t ids_given_back;  // of these
  int64_t runs_taken;
  int64_t clock_waits;
  int64_t lease_waits;
  int64_t failed_calls;          // ended by an error or cancelled while they waited for an id, ...
  int64_t failed_segment_calls;  // ... or for a number of a segment
  int64_t clock_steps_back;
  int64_t leases_drawn;
};

// The keeper's requests to the registry.
struct Exchanges {
  int64_t answered;
  int64_t failed;
  int64_t took_us;      // the newest that was answered, ...
  int64_t answered_us;  // ... and when, by the monotonic clock; 0: none was
};

// The error of the keeper's last request; message[0] is 0 if it succeeded.
struct RegistryError {
  int sqlstate;
  int64_t at_us;
  bool for_all;    // readable by every role: no address and no names of the registry
  bool held_back;  // free worker ids are held back while the registry settles
  char message[512];
};

// Advice to the operator while ids flow: bits of NodeBlock::advice.
enum Advice : uint32_t {
  kAdviceOwnRegistry = 1,  // other servers' rows come here, but they have another registry
  kAdviceFewWorkers = 2,   // less than a tenth of the worker ids is free
  kAdviceFewKeepers = 4,   // keepers take all background workers (max_worker_processes)
  kAdvicePassword = 8,     // libpq sends the registry's password in clear if the server asks for that
  kAdviceNoBox = 16,       // the server has no black box
};

// A node. Aligned to two cache lines, so that neighbours do not share one.
struct alignas(128) NodeBlock {
  LWLock lock;
  Oid database;    // InvalidOid: a free slot
  Oid extension;   // whose registry the lease comes from
  bool recovered;  // from before the restart, and not yet checked whether it may go on
  NodeState state;

  bool serves;     // nodes of other servers have asked the registry in this database
  int keeper_pid;  // 0: none
  Latch *keeper_latch;
  int64_t keeper_asked_us;  // by MonotonicUs(), when one was last requested

  Counters counters;
  Exchanges exchanges;
  RegistryError error;
  char node_name[256];
  uint64_t registry;  // the hashed connection string of the answers
  uint32_t advice;
  bool registry_is_here;      // although the connection string is not empty
  int64_t clock_events_told;  // how many are in the log

  RegistryError ranges_error;  // of the last request for ranges
  char segments_known[256];    // from the registry, when one was missing

  ConditionVariable changed;  // a lease came or went, a window moved, a try failed
};

// The registry's last answer about a segment.
enum class SegmentAnswer { kNone, kNumbers, kNoSegment, kUsedUp };

// A node's numbers of one segment. `mutex` guards all of it, for a few instructions. Owner and name
// change only with the block's lock, too. Code that acts on an earlier read under the mutex uses
// WithSegment(). A call touches one cache line.
struct alignas(128) SegmentSlot {
  slock_t mutex;
  uint32_t incarnation;  // counts up whenever the slot goes to another segment
  Oid database;          // the owner is these two and the name; InvalidOid: a free slot
  Oid extension;
  bool used;               // since the keeper's last check
  bool leaving;            // another segment waits for the slot
  uint32_t usage_changes;  // of `usage_role`; 0: every role
  Ranges ranges;

  char name[kMaxSegmentName + 1];
  int64_t segment_id;  // 0: not known yet
  int64_t asked;       // requests of the keeper, ...
  int64_t answered;    // ... and which of them the answer is to
  SegmentAnswer answer;
  Secret secret;                      // of the ranges; all zero: the keeper makes one
  char usage_role[kMaxRoleName + 1];  // whose members may use the numbers; empty: every role
  int64_t used_us;                    // by the monotonic clock, when the keeper saw it
};
static_assert(NAMEDATALEN <= kMaxRoleName + 1, "the name of a role is longer than kMaxRoleName");
static_assert(offsetof(SegmentSlot, ranges) + offsetof(Ranges, size) <= 64, "a call touches more than one cache line");

// A node's horizon. The lock guards all but the two atomics; it is taken before the node's, never
// after.
struct alignas(128) HorizonBlock {
  LWLock lock;
  Oid extension;  // whose ids the samples are of, ...
  Layout layout;  // ... and in which layout
  int64_t shown;  // before the restart: it holds for every snapshot since
  Samples samples;
  std::atomic<int64_t> answered;  // the highest that was, or may have been, reported
  std::atomic<int64_t> highest;   // the same, or the newest sample's: the highest that may be reported
  Drawn holder;                   // what held back the newest sample taken, kept only if higher, ...
  int64_t taken_us;               // ... and when that was, by the monotonic clock
  int64_t asked_us;               // when the horizon was last requested; 0: never
  int64_t stored;                 // the limit of reports that the data directory has; 0: none
};

// Both clocks, again if the process was delayed between them.
ClockReading ReadClocks();

// Called while the library is preloaded.
void RequestSharedMemory();

// Gives RegistryIsHere() what this database's keeper found.
void WatchRegistry();

// Whether there is a state block; makes it if possible. False: the library must be preloaded.
bool HasSharedMemory();

// Requires: a state block.
int NodeSlots();
int NodeSlotsInUse();

// nullptr: it has none.
NodeBlock *FindNode(Oid database);

// The same, made if missing; nullptr: every slot belongs to an existing database.
NodeBlock *FindOrMakeNode(Oid database);

// Whether the last lease of this database's node, of this extension, has another layout.
bool HoldsOtherLayout(Oid extension, const Layout &layout);

// A node's slot in the black box; nullptr: there is no box.
BoxSlot *SlotOf(const NodeBlock *node);

// For the keeper: warns if the box's name is lost, and gives up a box that was truncated.
void LookAfterBox();

// Whether the next start of the server would find one, as far as the keepers have checked.
bool HasBox();

void KeepInBox(const NodeBlock *node, BoxSlot *slot);

// The highest known horizon; `id` as a record with zero padding; and that written to the box.
int64_t NewestHorizon(const HorizonBlock &horizon);
// After a change of what is kept or was reported, except by a report.
void NoteHighest(HorizonBlock *horizon);
void ToKeep(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, KeptHorizon *kept);
void KeepHorizonInBox(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, BoxSlot *slot);

// A free slot is all zero except `mutex` and `incarnation`.
int SegmentSlots();
SegmentSlot *SegmentSlotAt(int number);

// A segment's slot, unless its incarnation has changed. All zero: none.
struct SegmentRef {
  SegmentSlot *slot;
  uint32_t incarnation;
};

// Of this database.
SegmentRef FindSegment(Oid extension, const char *name);
// The same, made if missing. If no slot is free, `longest_idle` is the one unused for longest.
SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle);
// Frees the slot if it is still that segment's, or all of this database; their numbers are lost.
void FreeSegment(const SegmentRef &segment);
void FreeSegments();

// The slots of transactions with ids: one for each process slot of PostgreSQL, then one for each
// prepared transaction.
int HorizonSlots();
HorizonSlot *HorizonSlotAt(int i);

HorizonBlock *HorizonOf(const NodeBlock *node);
// The xids of one of its samples.
Xid *SampleXids(const NodeBlock *node, int32_t number);

template <typename Critical>
inline void WithMutex(SegmentSlot *slot, Critical critical) {
  SpinLockAcquire(&slot->mutex);
  critical();
  SpinLockRelease(&slot->mutex);
}

// The same if the slot is still that segment's; returns whether it is.
template <typename Critical>
inline bool WithSegment(const SegmentRef &segment, Critical critical) {
  bool is_its = false;
  WithMutex(segment.slot, [&] {
    is_its = segment.slot->incarnation == segment.incarnation;
    if (is_its) critical();
  });
  return is_its;
}

template <typename Critical>
inline void WithLock(NodeBlock *node, LWLockMode mode, Critical critical) {
  LWLockAcquire(&node->lock, mode);
  critical();
  LWLockRelease(&node->lock);
}

// The same, exclusively, with the node's slot in the black box or nullptr.
template <typename Critical>
inline void WithBox(NodeBlock *node, Critical critical) {
  WithLock(node, LW_EXCLUSIVE, [&] { critical(SlotOf(node)); });
}

// For what is to outlive a crash: all that the keeper changes, except for its own state.
template <typename Critical>
inline void ChangeNode(NodeBlock *node, Critical critical) {
  WithBox(node, [&](BoxSlot *slot) {
    critical();
    if (slot != nullptr) KeepInBox(node, slot);
  });
}

}  // namespace snowflake
