// Makes, finds and frees the slots of nodes.
#include "pg/state/node_block.h"

#include "core/horizon.h"
#include "pg/settings.h"
#include "pg/state/server_clock.h"

namespace snowflake {
namespace {
struct alignas(128) Nodes {
  LWLock lock;
  int slots;  // Order: none. It is written before any process but the first can find the block.
  NodeBlock at[FLEXIBLE_ARRAY_MEMBER];
};

Nodes *nodes = nullptr;

// Of a clock that is a little behind, for which no advice is given, the id proves nothing.
bool MayBeOfPresent(const Layout &layout, int64_t id, const ServerTime &time) {
  return time.known.read_us != 0 && !IsOfFuture(layout, id, KnownUs(time.known, time.reading.steady_us)) &&
         ConfiguredPolicy().clock.max_leap_us > 0;
}

}  // namespace

void NoteWindow(NodeBlock *node) {
  const NodeState &state = node->state;
  const Generator &g = state.generator;
  node->exchanges.extended_us = state.clock.read.steady_us;
  node->exchanges.window_us = Clamped(g.layout.UnixUsAt(g.lease.window_end)) - state.clock.shown_us;
}

NodeState StateAt(NodeBlock *node, const ServerTime &time) {
  NodeState state = {};
  if (node != nullptr) WithLock(node, LW_SHARED, [&] { state = node->state; });
  Read(&state, time);
  return state;
}

Future FutureOf(const Layout &layout, int64_t id, const NodeState &state, const ServerTime &time) {
  if (!IsOfFuture(layout, id, LatestIdUs(state))) return Future::kNone;
  if (IsKnownBehind(time)) return Future::kClockIsBehind;
  return MayBeOfPresent(layout, id, time) ? Future::kNone : Future::kWrong;
}

Size SizeOfNodes(int slots) {
  return add_size(offsetof(Nodes, at), mul_size(static_cast<Size>(slots), sizeof(NodeBlock)));
}

void MakeNodes(void *memory, int slots, int tranche) {
  Nodes *made = static_cast<Nodes *>(memory);
  made->slots = slots;
  LWLockInitialize(&made->lock, tranche);
  for (int i = 0; i < slots; ++i) {
    LWLockInitialize(&made->at[i].lock, tranche);
    ConditionVariableInit(&made->at[i].changed);
  }
}

void UseNodes(void *memory) { nodes = static_cast<Nodes *>(memory); }

int NodeSlots() { return nodes->slots; }
NodeBlock *NodeAt(int number) { return &nodes->at[number]; }
int NumberOf(const NodeBlock *node) { return static_cast<int>(node - nodes->at); }
LWLock *SlotsLock() { return &nodes->lock; }

NodeBlock *NodeOf(Oid database) {
  Assert(IsHeld(nodes->lock));  // Requires: the lock of the slots.
  for (int i = 0; i < nodes->slots; ++i)
    if (nodes->at[i].database == database) return &nodes->at[i];
  return nullptr;
}

void GiveNode(NodeBlock *node, Oid database) {
  node->database = database;
  node->state.policy = ConfiguredPolicy();
}

void FreeNode(NodeBlock *node) {
  Assert(IsHeldExclusively(nodes->lock));  // Requires: the lock of the slots.
  // A serial number never comes again, not even in another database's node.
  const uint64_t serial = node->run.serial;
  memset(reinterpret_cast<char *>(node) + sizeof(node->lock), 0, sizeof(*node) - sizeof(node->lock));
  node->run.serial = serial;
  ConditionVariableInit(&node->changed);
}

}  // namespace snowflake
