// The state block: one NodeBlock per database that issues ids, in shared memory. Where it lives is known here alone: in the
// server's own when the library is preloaded, otherwise, from PostgreSQL 17 on, in a named segment that the first who needs
// it makes, and that lives as long as the server.
//
// Locking: the block's lock guards which database has which place; it is taken before a node's lock, never after. A
// node's lock guards everything in NodeBlock below it but the condition variable. It is held for a few dozen
// instructions: no ERROR, palloc or system call under it, which is why the code under it is a lambda that only computes.
#pragma once

#include "core/box.h"
#include "core/horizon.h"
#include "core/node.h"
#include "core/segment.h"
#include "pg/state/black_box.h"
#include "pg/pg.h"

namespace snowflake {

// Each only grows while the server runs, as whoever works rates out of them takes for granted.
struct Counters {
  int64_t ids_taken;
  int64_t ids_given_back;  // of these
  int64_t runs_taken;
  int64_t clock_waits;
  int64_t lease_waits;
  int64_t failed_calls;          // that ended in an error, or were cancelled, while they waited for an id, ...
  int64_t failed_segment_calls;  // ... or for a number of a segment
  int64_t clock_steps_back;
  int64_t leases_drawn;
};

// What became of the questions that the keeper asked the registry.
struct Exchanges {
  int64_t answered;
  int64_t failed;
  int64_t took_us;      // the newest that was answered, ...
  int64_t answered_us;  // ... and when, by the steady clock; 0: none was
};

// What the registry answered to the keeper's last try; message[0] is 0 when that succeeded.
struct RegistryError {
  int sqlstate;
  int64_t at_us;
  bool for_all;    // names neither the registry's address nor anybody there: everybody may read it
  bool held_back;  // what is free is held back while the registry settles
  char message[512];
};

// What an operator should know although ids flow: bits of NodeBlock::advice.
enum Advice : uint32_t {
  kAdviceOwnRegistry = 1,  // other servers' rows come here, and the registry is not shared with them
  kAdviceFewWorkers = 2,   // less than a tenth of the worker ids is free
  kAdviceFewKeepers = 4,   // keepers take all background workers (max_worker_processes)
  kAdvicePassword = 8,     // libpq sends the registry's password in clear to whoever asks for that
  kAdviceNoBox = 16,       // there is no black box: the same for all nodes of a server
};

// The core's NodeState, and what the server knows of it. Aligned to two cache lines, so that neighbours do not fight over one.
struct alignas(128) NodeBlock {
  LWLock lock;
  Oid database;    // InvalidOid: a free slot
  Oid extension;   // whose registry the lease comes from
  uint64_t box;    // the black box that keeps this node; 0: none. Changes under the horizon's lock, too
  bool recovered;  // what a life before this one left, and nobody has looked at yet whether it may go on
  NodeState state;

  bool serves;     // nodes of other servers have asked the registry in this database
  int keeper_pid;  // 0: none
  Latch *keeper_latch;
  int64_t keeper_asked_us;  // monotonic: when one was last asked for

  Counters counters;
  Exchanges exchanges;
  RegistryError error;
  char node_name[256];
  uint64_t registry;  // the connection string that the answers are of, hashed
  uint32_t advice;
  bool registry_is_here;      // although the connection string is not empty
  int64_t clock_events_told;  // of the clock's events, in the log

  RegistryError ranges_error;  // of the last try to draw ranges
  char segments_known[256];    // what the registry said when one was not there

  ConditionVariable changed;  // a lease came or went, a window moved, a try failed
};

// What the registry said of a segment when it was last asked.
enum class SegmentAnswer { kNone, kNumbers, kNoSegment, kUsedUp };

// A node's numbers of one segment. `mutex` guards all of it, for a few instructions, as calls take
// each number by itself. Whose slot it is, with the name, changes with the block's lock held, too.
// Whoever acts on what was read under the mutex before takes the mutex by WithSegment(). What a call
// touches is in one cache line, which goes from processor to processor.
struct alignas(128) SegmentSlot {
  slock_t mutex;
  uint32_t incarnation;    // of the slot: counts up whenever it goes to another segment
  Oid database;            // whose slot it is: InvalidOid, a free one; ...
  Oid extension;           // ... these two, and the name
  bool used;               // since the keeper last looked
  bool leaving;            // another segment waits for the slot
  uint32_t usage_changes;  // of `usage_role`; 0: every role
  Ranges ranges;

  char name[kMaxSegmentName + 1];
  int64_t segment_id;  // 0: not known yet
  int64_t asked;       // how often the keeper has asked, ...
  int64_t answered;    // ... and which of that the answer is to
  SegmentAnswer answer;
  Secret secret;                      // of the ranges; all zero: the keeper makes one
  char usage_role[kMaxRoleName + 1];  // whose members may use the numbers; empty: every role
  int64_t used_us;                    // by the steady clock, when the keeper saw it
};
static_assert(NAMEDATALEN <= kMaxRoleName + 1, "the name of a role is longer than kMaxRoleName");
static_assert(offsetof(SegmentSlot, ranges) + offsetof(Ranges, size) <= 64, "a call touches more than one cache line");

// What is known of one node's horizon. Its lock guards all of it, but readers write `answered`; it is taken before the node's, never after.
struct alignas(128) HorizonBlock {
  LWLock lock;
  Oid extension;  // whose ids the samples are of, ...
  Layout layout;  // ... and in which layout
  int64_t shown;  // in a life before: it holds for every snapshot of this one
  Samples samples;
  std::atomic<int64_t> answered;  // the highest of them that somebody was told
  Drawn holder;                   // what held back the newest sample taken, which was kept only if it is higher, ...
  int64_t taken_us;               // ... and when that was, by the steady clock
  int64_t asked_us;               // when somebody last asked for the horizon; 0: never
  int64_t stored;                 // up to here it may be told while the node's clock leads the wall clock
};

// Read one right after the other: a process that is held up in between tries again.
ClockReading ReadClocks();

// Called while the library is preloaded: asks for the memory and arranges its set-up.
void RequestSharedMemory();

// Lets RegistryIsHere() know what this database's keeper found.
void WatchRegistry();

// Whether there is a state block; makes it where it can be made now. False: the library must be preloaded.
bool HasSharedMemory();

// How many databases it has room for, and how many have taken a slot; of both there must be a state block.
int NodeSlots();
int NodeSlotsInUse();

// The node of a database, or nullptr when it has none.
NodeBlock *FindNode(Oid database);

// The same, made when missing; nullptr when every slot is taken by a database that still exists.
NodeBlock *FindOrMakeNode(Oid database);

// A block with a single slot that this process has for itself: for the keeper of a registry whose server has no state
// block, or no slot left in it. Nothing is issued from it.
NodeBlock *MakePrivateNode();

// Whether this database's node holds a lease of this extension, or held one last, under another layout.
bool HoldsOtherLayout(Oid extension, const Layout &layout);

// Where the black box keeps a node; nullptr: nowhere, or in one that this process does not have yet.
BoxSlot *SlotOf(const NodeBlock *node);

// Goes on with a box that was made in place of the one that this process has.
void FollowBox(uint64_t box);

// The keeper's look. A box that was removed, truncated or replaced is made anew, and filled with all nodes.
void LookAfterBox();

// Whether there is a box, as far as the keepers know.
bool HasBox();

void KeepInBox(const NodeBlock *node, BoxSlot *slot);

// The highest horizon that is known; one as it is kept, with padding that is zero; and into the box with
// it.
int64_t NewestHorizon(const HorizonBlock &horizon);
void ToKeep(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, KeptHorizon *kept);
void KeepHorizonInBox(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, BoxSlot *slot);

// The slots for segments. One that is free is all zero but for `mutex` and `incarnation`.
int SegmentSlots();
SegmentSlot *SegmentSlotAt(int number);

// A segment's slot. Without a lock it may go to another segment at any moment; the incarnation
// tells. All zero: none.
struct SegmentRef {
  SegmentSlot *slot;
  uint32_t incarnation;
};
// Of this database.
SegmentRef FindSegment(Oid extension, const char *name);
// Gives a slot to a segment, unless another process was faster. If no slot is free, `longest_idle`
// is the one that was not used for longest.
SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle);
// Frees the slot, if it is still that segment's. What is left of its numbers is lost.
void FreeSegment(const SegmentRef &segment);
// The same for all of this database.
void FreeSegments();

// The slots for transactions that have drawn ids: one for each of PostgreSQL's places for processes, then one for each that can be
// prepared. And the horizon of a node, with the slot in shared memory for the xids of one of its samples.
int HorizonSlots();
HorizonSlot *HorizonSlotAt(int i);
HorizonBlock *HorizonOf(const NodeBlock *node);
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

// The same, exclusively, with the node's slot in the black box, or nullptr.
template <typename Critical>
inline void WithBox(NodeBlock *node, Critical critical) {
  LWLockAcquire(&node->lock, LW_EXCLUSIVE);
  while (unlikely(node->box != 0 && node->box != BoxId())) {
    const uint64_t box = node->box;
    LWLockRelease(&node->lock);
    FollowBox(box);
    LWLockAcquire(&node->lock, LW_EXCLUSIVE);
  }
  critical(SlotOf(node));
  LWLockRelease(&node->lock);
}

// For what is to outlive a crash: all that the keeper changes, but for what it says of itself.
template <typename Critical>
inline void ChangeNode(NodeBlock *node, Critical critical) {
  WithBox(node, [&](BoxSlot *slot) {
    critical();
    if (slot != nullptr) KeepInBox(node, slot);
  });
}

}  // namespace snowflake
