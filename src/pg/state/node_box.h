// The nodes in the black box: what is written to it while they issue, and what a start of the
// server puts back from it.
//
// 1. A node's slot in the box has the node's number.
// 2. If there is a box, every process that issues ids has it and writes to it. So what a start
//    finds covers all that was issued. Before one process gives the box up for all, it makes sure
//    that no start finds or believes it. The server then has no box until its next start.
//
// Locking: that of what is written (core/box.h). Whether there is a box needs no lock: a process
// that still writes to a box that was given up does no harm.
#pragma once

#include "pg/state/black_box.h"
#include "pg/state/horizon_block.h"
#include "pg/state/node_block.h"

namespace snowflake {
// In shared memory. Order: none.
struct BoxState {
  std::atomic<uint64_t> id;      // 0: there is no box, or it was given up
  std::atomic<bool> is_missing;  // no start would find it, as the last look of a keeper showed
};

// Opens or creates the box of a new state block, whose name is `block`, and puts back what it and
// the data directory have of the nodes and horizons. No other process has the block yet.
void RestoreNodes(BoxState *state, const char *block);

// In a process that finds a state block: opens its box, or gives it up. Error 58030: it cannot.
void UseBox(BoxState *state, const char *block);

// For the keeper: warns if the box's name is lost, and gives up a box that was truncated.
void LookAfterBox();

// Whether the next start of the server would find one, as far as the keepers have checked.
bool HasBox();

// A node's slot in the black box; nullptr: there is no box.
BoxSlot *SlotOf(const NodeBlock *node);

void KeepInBox(const NodeBlock *node, BoxSlot *slot);
void KeepHorizonInBox(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, BoxSlot *slot);

// WithLock(), exclusively, after the end of the open run, with the node's slot in the black box or
// nullptr.
template <typename Critical>
inline void WithBox(NodeBlock *node, Critical critical) {
  WithLock(node, LW_EXCLUSIVE, [&] {
    node->counters.ids_taken += EndRun(&node->run, &node->state.generator);
    critical(SlotOf(node));
  });
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
