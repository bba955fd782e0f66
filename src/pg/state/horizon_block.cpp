// Makes and finds horizons and the slots of transactions.
#include "pg/state/horizon_block.h"

#include "pg/processes.h"

namespace snowflake {
namespace {
struct alignas(128) Horizons {
  // Order: none. These are written before any process but the first can find the block.
  int node_slots;
  int transaction_slots;
  // Then the slots of transactions, and the samples' xids, which are written before they are read.
  HorizonBlock at[FLEXIBLE_ARRAY_MEMBER];
};

Horizons *horizons = nullptr;

HorizonSlot *SlotsOf(Horizons *of) { return reinterpret_cast<HorizonSlot *>(of->at + of->node_slots); }

// In progress at a time.
int MostTransactions() { return MaxBackends + max_prepared_xacts; }

}  // namespace

Size ZeroOfHorizons(int node_slots) {
  const Size size = add_size(offsetof(Horizons, at), mul_size(static_cast<Size>(node_slots), sizeof(HorizonBlock)));
  return add_size(size, mul_size(static_cast<Size>(MostTransactions()), sizeof(HorizonSlot)));
}

Size SizeOfHorizons(int node_slots) {
  const Size xids = mul_size(static_cast<Size>(MostTransactions()), kSamples * sizeof(Xid));
  return add_size(ZeroOfHorizons(node_slots), mul_size(static_cast<Size>(node_slots), xids));
}

void MakeHorizons(void *memory, int node_slots, int tranche) {
  Horizons *made = static_cast<Horizons *>(memory);
  made->node_slots = node_slots;
  made->transaction_slots = MostTransactions();
  for (int i = 0; i < node_slots; ++i) {
    LWLockInitialize(&made->at[i].lock, tranche);
    LWLockInitialize(&made->at[i].file_lock, tranche);
  }
}

void UseHorizons(void *memory) { horizons = static_cast<Horizons *>(memory); }

int HorizonSlots() { return horizons == nullptr ? 0 : horizons->transaction_slots; }
HorizonSlot *HorizonSlotAt(int i) { return &SlotsOf(horizons)[i]; }
HorizonBlock *HorizonOf(const NodeBlock *node) { return &horizons->at[NumberOf(node)]; }

Xid *SampleXids(const NodeBlock *node, int32_t number) {
  Xid *xids = reinterpret_cast<Xid *>(SlotsOf(horizons) + horizons->transaction_slots);
  return xids + (ptrdiff_t{NumberOf(node)} * kSamples + number) * horizons->transaction_slots;
}

void FreeHorizon(HorizonBlock *horizon) {
  Assert(IsHeldExclusively(*SlotsLock()));  // Requires: the lock of the slots.
  constexpr Size locks = offsetof(HorizonBlock, extension);
  memset(reinterpret_cast<char *>(horizon) + locks, 0, sizeof(*horizon) - locks);
}

int64_t NewestHorizon(const HorizonBlock &horizon) {
  Assert(IsHeld(horizon.lock));  // Requires: the horizon's lock.
  const Samples &samples = horizon.samples;
  return samples.count > 0 ? samples.kept[samples.count - 1].horizon : horizon.shown;
}

void NoteHighest(HorizonBlock *horizon) {
  Assert(IsHeldExclusively(horizon->lock));  // Requires: the horizon's lock.
  horizon->highest = Max(NewestHorizon(*horizon), horizon->answered.load());
}

void ToKeep(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, KeptHorizon *kept) {
  Assert(IsHeld(horizon.lock));  // Requires: the horizon's lock.
  memset(static_cast<void *>(kept), 0, sizeof(*kept));
  kept->database = node->database;
  kept->extension = horizon.extension;
  kept->layout = horizon.layout;
  kept->resets = horizon.resets;
  kept->horizon = id;
}

}  // namespace snowflake
