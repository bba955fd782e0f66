// The nodes: one NodeBlock for each database of this server that issues ids, or whose registry
// serves nodes of other servers.
//
// 1. A database has one node at most, and keeps its slot until it is dropped.
// 2. Counters only grow.
// 3. What a call requests outlives the call. The keeper ends the request (core/node.h).
//
// Locking: SlotsLock() guards which database has which slot, here and among the segments. It is
// taken before a node's lock, never after. A node's lock guards everything in NodeBlock below it
// but the condition variable and what is atomic. Whatever reads how far ids are, or changes the
// generator or the clock, goes through WithBox() (node_box.h), which ends the open run. No ERROR,
// palloc or system call under the lock, so the code under it is a lambda that only computes.
#pragma once

#include "core/node.h"
#include "core/open_run.h"
#include "pg/pg.h"

namespace snowflake {
// They only grow while the server runs, because monitoring computes rates from them.
struct Counters {
  int64_t ids_taken;  // but for those of the open run
  int64_t clock_waits;
  int64_t lease_waits;
  int64_t failed_calls;          // ended by an error or cancelled while they waited for an id, ...
  int64_t failed_segment_calls;  // ... or for a number of a segment
  int64_t clock_steps_back;
  int64_t leases_acquired;
};

// The keeper's requests to the registry.
struct Exchanges {
  int64_t answered;
  int64_t failed;
  int64_t took_us;      // the newest that was answered, ...
  int64_t answered_us;  // ... and when, by the monotonic clock; 0: none was
  int64_t asked_us;     // when the one under way began, by the same clock; 0: none is
  int64_t extended_us;  // when the window was acquired or last extended, by the same clock, ...
  int64_t window_us;    // ... and how much of it was left then
};

// The error of the keeper's last request; message[0] is 0 if it succeeded.
struct RegistryError {
  int sqlstate;
  int64_t at_us;
  bool for_all;    // readable by every role: no address and no names of the registry
  bool held_back;  // free worker ids are held back while the registry settles
  bool standby;    // the registry's commits wait for a synchronous standby
  bool own;        // this server is to blame, not the registry
  char message[512];
};

inline void SetMessage(RegistryError *error, const char *message) {
  const int length = static_cast<int>(strlen(message));
  strlcpy(error->message, message, static_cast<size_t>(pg_mbcliplen(message, length, sizeof(error->message) - 1)) + 1);
}

// Advice to the operator: bits of NodeBlock::advice, and eight that are found when they are shown.
enum Advice : uint32_t {
  kAdviceOwnRegistry = 1,  // other servers' rows come here, but they have another registry
  kAdviceFewWorkers = 2,   // less than a tenth of the worker ids is free
  kAdviceFewKeepers = 4,   // keepers take all background workers (max_worker_processes)
  kAdviceNoBox = 8,        // the server has no black box
  kAdviceIds = 16,         // ids have stopped, or are about to
  kAdviceMaskKeys = 32,    // the file of the keys that mask ids was refused
  kAdviceDoubt = 64,       // the clock is in doubt
  kAdviceFuture = 128,     // the horizon is of a wrong clock
  kAdviceNumbers = 256,    // numbers of segments have stopped, or are about to
  kAdviceGuards = 512,     // the registry's tables here have lost guards
  kAdviceBehind = 1024,    // the clock is behind what is known
  kAdviceUnset = 2048,     // before the shutdown, the registry was elsewhere
};

// A node. Aligned to two cache lines, so that neighbours do not share one.
struct alignas(128) NodeBlock {
  LWLock lock;
  Oid database;    // InvalidOid: a free slot
  Oid extension;   // whose registry the lease comes from
  bool recovered;  // from before the restart; AdmitRecovered() checks whether it may go on, and ends this
  NodeState state;

  // Nodes of other servers have asked the registry in this database. Nothing ends this before the
  // database is dropped: the keeper then marks one clean shutdown more, which does no harm.
  bool serves;
  // The keeper's own, from Attach() to the end of its process, however that ends.
  int keeper_pid;  // 0: none
  Latch *keeper_latch;
  int64_t keeper_asked_us;  // by MonotonicUs(), when one was last requested; counts for a second

  Counters counters;
  Exchanges exchanges;
  RegistryError error;
  char node_name[256];
  uint64_t registry;  // the hashed connection string of the answers
  uint32_t advice;
  bool registry_is_here;        // although the connection string is not empty; as its last answer showed
  bool password_in_clear;       // would have gone to any host that asked; as the newest connection showed
  int64_t clock_events_logged;  // how many are in the log

  RegistryError ranges_error;  // of the last request for ranges
  char segments_known[256];    // from the registry, when one was missing

  ConditionVariable changed;  // a lease came or went, a window moved, a try failed
  OpenRun run;
};

// The window was acquired or extended. Requires: the node's lock, or a node that no other process
// has yet.
void NoteWindow(NodeBlock *node);

// A copy that has read this time, so that a step that nobody has seen yet is seen. nullptr: of no
// node.
NodeState StateAt(NodeBlock *node, const ServerTime &time);

// What is known of an id, or a horizon, that is later than any id has a reason to be.
enum class Future {
  kNone,           // it is not
  kClockIsBehind,  // it is ahead of a clock that is known to be behind
  kWrong,          // it is of a wrong clock
};

// By a node that has read this time.
Future FutureOf(const Layout &layout, int64_t id, const NodeState &state, const ServerTime &time);

// Memory for so many nodes, which is zero; makes the nodes in it; from here on they are this
// process's.
Size SizeOfNodes(int slots);
void MakeNodes(void *memory, int slots, int tranche);
void UseNodes(void *memory);

// Requires, like the rest: nodes.
int NodeSlots();
NodeBlock *NodeAt(int number);
int NumberOf(const NodeBlock *node);
LWLock *SlotsLock();

// The node of a database; InvalidOid: a free slot. nullptr: there is none. Requires: SlotsLock().
NodeBlock *NodeOf(Oid database);

// A free slot is this database's from here on, with the limits that this process's settings say.
// Requires: SlotsLock(), exclusively, or a block that no other process has yet.
void GiveNode(NodeBlock *node, Oid database);

// It is of no database any more. Requires: SlotsLock(), exclusively.
void FreeNode(NodeBlock *node);

template <typename Critical>
inline void WithLock(NodeBlock *node, LWLockMode mode, Critical critical) {
  LWLockAcquire(&node->lock, mode);
  critical();
  LWLockRelease(&node->lock);
}

}  // namespace snowflake
