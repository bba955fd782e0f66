// Makes, finds and frees the slots of the state block, and moves nodes into a black box and back.
#include "pg/state/node_block.h"

#include "pg/state/black_box.h"
#include "pg/state/data_directory.h"
#include "pg/settings.h"

namespace snowflake {
namespace {
struct StateBlock {
  LWLock lock;
  // Order: none. These are written before any process but the first can find the block.
  int tranche;
  int node_slots;
  int segment_slots;
  int transaction_slots;
  // Order: none. Before a process sets it to 0, no start of the server finds or believes the box.
  std::atomic<uint64_t> box;         // 0: there is none
  std::atomic<bool> box_is_missing;  // a start would not find it, as the last look of a keeper showed
  // Then the slots of segments, the horizons, the slots of transactions, and the samples' xids.
  alignas(128) NodeBlock nodes[FLEXIBLE_ARRAY_MEMBER];
};

// A library with another layout of the block counts this up. Sessions of the old library go on with
// their own block, lease and keeper, so nothing is issued twice.
constexpr const char *kMemoryName = "snowflake 1";
constexpr int kNamedSlots = 64;

// Locks and pointers have other sizes on other processors, and 32-bit x86 aligns int64_t to 4
// bytes. All the rest has the same size everywhere.
static_assert(MAXIMUM_ALIGNOF != 8 ||
                  (offsetof(NodeBlock, changed) == sizeof(LWLock) + 2 * sizeof(Latch *) + 2488 &&
                   offsetof(SegmentSlot, used_us) == MAXALIGN(sizeof(slock_t)) + 384 &&
                   offsetof(HorizonBlock, stored) == sizeof(LWLock) + 632 && offsetof(HorizonSlot, of_worker) == 24),
              "the block is laid out otherwise: count kMemoryName up, then say the new size here");

StateBlock *state = nullptr;
shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;

// In progress at a time.
int MostTransactions() { return MaxBackends + max_prepared_xacts; }

Size StateSize(int node_slots, int segment_slots) {
  const Size slots = static_cast<Size>(MostTransactions());
  const Size node = sizeof(NodeBlock) + sizeof(HorizonBlock) + mul_size(slots, kSamples * sizeof(Xid));
  Size size = add_size(offsetof(StateBlock, nodes), mul_size(node_slots, node));
  size = add_size(size, mul_size(segment_slots, sizeof(SegmentSlot)));
  return add_size(size, mul_size(slots, sizeof(HorizonSlot)));
}

SegmentSlot *SegmentsOf(StateBlock *block) { return reinterpret_cast<SegmentSlot *>(block->nodes + block->node_slots); }
HorizonBlock *HorizonsOf(StateBlock *block) {
  return reinterpret_cast<HorizonBlock *>(SegmentsOf(block) + block->segment_slots);
}
HorizonSlot *SlotsOf(StateBlock *block) {
  return reinterpret_cast<HorizonSlot *>(HorizonsOf(block) + block->node_slots);
}

void RequestState() {
  if (next_request_hook) next_request_hook();
  RequestAddinShmemSpace(add_size(StateSize(settings.max_databases, settings.max_segments), alignof(StateBlock)));
}

// All except its lock.
template <typename Block>
void ClearBlock(Block *block) {
  memset(reinterpret_cast<char *>(block) + sizeof(block->lock), 0, sizeof(*block) - sizeof(block->lock));
}

void Clear(NodeBlock *node) {
  ClearBlock(node);
  ConditionVariableInit(&node->changed);
}

// No other process has the block yet. If a changed box has a node twice, only the first is used.
bool PutBackNode(StateBlock *block, int number, const Kept &kept) {
  NodeBlock *node = &block->nodes[number];
  for (int i = 0; i < number; ++i)
    if (block->nodes[i].database == kept.database) return false;
  // Of another boot, on a system that does not say so.
  if (kept.state.clock.read.steady_us > SteadyUs()) return false;
  node->database = kept.database;
  node->extension = kept.extension;
  node->recovered = true;
  node->state = kept.state;
  node->registry = kept.registry;
  memcpy(node->node_name, kept.node_name, sizeof(node->node_name));
  return true;
}

// The same for a horizon that may have been reported, and whose node may have no lease.
bool PutBackHorizon(StateBlock *block, int number, const KeptHorizon &kept) {
  NodeBlock *node = &block->nodes[number];
  for (int i = 0; i < block->node_slots; ++i)
    if (i != number && block->nodes[i].database == kept.database) return false;
  if (!OidIsValid(node->database)) node->database = kept.database;
  if (node->database != kept.database) return false;
  HorizonBlock *horizon = &HorizonsOf(block)[number];
  horizon->extension = kept.extension;
  horizon->layout = kept.layout;
  horizon->answered = horizon->highest = kept.horizon;
  if (!node->recovered && kept.horizon > 0)
    RecoverHorizon(&node->state, kept.layout, kept.horizon, ReadClocks(), PatienceNow().clock);
  return true;
}

// Takes what the box has from before the restart, and empties the rest. Returns whether there is a
// lease.
bool PutBack(StateBlock *block, int number) {
  BoxSlot *slot = SlotOf(number);
  Kept kept = {};
  const bool is_used = Load(*slot, &kept) && PutBackNode(block, number, kept);
  if (!is_used) Empty(slot);
  KeptHorizon horizon = {};
  if (LoadHorizon(*slot, &horizon) && PutBackHorizon(block, number, horizon))
    HorizonsOf(block)[number].shown = horizon.horizon;
  else
    EmptyHorizon(slot);
  return is_used && kept.state.generator.open;
}

// For horizons that the box does not have.
void PutBackFromDirectory(const KeptHorizon &kept, void *argument) {
  StateBlock *block = static_cast<StateBlock *>(argument);
  int number = -1;
  for (int i = 0; i < block->node_slots; ++i) {
    const Oid database = block->nodes[i].database;
    if (database == kept.database || (number < 0 && !OidIsValid(database))) number = i;
    if (database == kept.database) break;
  }
  if (number < 0) return;
  HorizonBlock *horizon = &HorizonsOf(block)[number];
  // What was reported is below the limit, and what was issued, below the clock. Neither is shown,
  // because a transaction that was prepared may have ids below it.
  if (horizon->answered == 0 && PutBackHorizon(block, number, kept)) {
    const int64_t now = LowestId(kept.layout, kept.layout.TickAt(NowUnixUs()));
    horizon->answered = horizon->highest = Max(kept.horizon, now);
  }
  horizon->stored = kept.horizon;
}

void Fill(StateBlock *block, int node_slots, int segment_slots) {
  const int transaction_slots = MostTransactions();
  // The samples' xids are written before they are read.
  const Size xids = sizeof(Xid) * kSamples * static_cast<Size>(node_slots) * static_cast<Size>(transaction_slots);
  memset(static_cast<void *>(block), 0, StateSize(node_slots, segment_slots) - xids);
  block->tranche = NewTranche("snowflake");
  block->node_slots = node_slots;
  block->segment_slots = segment_slots;
  block->transaction_slots = transaction_slots;
  LWLockInitialize(&block->lock, block->tranche);
  for (int i = 0; i < node_slots; ++i) {
    LWLockInitialize(&block->nodes[i].lock, block->tranche);
    ConditionVariableInit(&block->nodes[i].changed);
    LWLockInitialize(&HorizonsOf(block)[i].lock, block->tranche);
  }
  for (int i = 0; i < segment_slots; ++i) SpinLockInit(&SegmentsOf(block)[i].mutex);
}

void FillShared(StateBlock *block, int node_slots, int segment_slots) {
  Fill(block, node_slots, segment_slots);
  block->box = OpenBlackBox(kMemoryName, node_slots);
  int leases = 0;
  for (int i = 0; i < node_slots && block->box != 0; ++i) leases += PutBack(block, i);
  if (leases > 0)
    ereport(LogLevel(LOG), (errmsg_plural("snowflake: %d database continues with its previous lease",
                                          "snowflake: %d databases continue with their previous leases",
                                          static_cast<unsigned long>(leases), leases)));
  ForEachKeptHorizon(PutBackFromDirectory, block);
}

void StartState() {
  if (next_startup_hook) next_startup_hook();
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  bool found = false;
  state = static_cast<StateBlock *>(
      ShmemInitStruct("snowflake", StateSize(settings.max_databases, settings.max_segments), &found));
  if (!found) FillShared(state, settings.max_databases, settings.max_segments);
  LWLockRelease(AddinShmemInitLock);
  RegisterTranche(state->tranche, "snowflake");
}

// PostgreSQL's own error names a file of /dev/shm, but neither its purpose nor its size.
void SayWhatNeedsRoom(void *) {
  if (geterrcode() != ERRCODE_DISK_FULL && geterrcode() != ERRCODE_OUT_OF_MEMORY) return;
  errhint(
      "snowflake needs %zu kB of shared memory. Make room for it (on Linux, in /dev/shm), or put the library into "
      "shared_preload_libraries and restart the server.",
      StateSize(kNamedSlots, kNamedSlots) / 1024);
}

NodeBlock *NodeOf(Oid database) {
  Assert(IsHeld(state->lock));  // Requires: the block's lock.
  for (int i = 0; i < state->node_slots; ++i)
    if (state->nodes[i].database == database) return &state->nodes[i];
  return nullptr;
}

// This transaction may have read the catalogs before the database was created.
bool DatabaseExists(Oid database) {
  AcceptInvalidationMessages();
  InvalidateCatalogSnapshot();
  char *name = get_database_name(database);
  if (name == nullptr) return false;
  pfree(name);
  return true;
}

SegmentSlot *SlotNamed(Oid extension, const char *name) {
  Assert(IsHeld(state->lock));  // Requires: the block's lock.
  for (int i = 0; i < state->segment_slots; ++i) {
    SegmentSlot *slot = SegmentSlotAt(i);
    if (slot->database == MyDatabaseId && slot->extension == extension && strcmp(slot->name, name) == 0) return slot;
  }
  return nullptr;
}

SegmentRef RefOf(SegmentSlot *slot) {
  Assert(IsHeld(state->lock));  // Requires: the block's lock.
  return slot != nullptr ? SegmentRef{slot, slot->incarnation} : SegmentRef{};
}

// Owner and name change together under the mutex.
void AssignSlot(SegmentSlot *slot, Oid database, Oid extension, const char *name, int64_t now_us) {
  Assert(IsHeldExclusively(state->lock));  // Requires: the block's lock.
  WithMutex(slot, [&] {
    ++slot->incarnation;
    slot->database = database;
    slot->extension = extension;
    memset(slot->name, 0, sizeof(slot->name));
    strlcpy(slot->name, name, sizeof(slot->name));
    slot->ranges = {};
    slot->segment_id = slot->asked = slot->answered = 0;
    slot->answer = SegmentAnswer::kNone;
    slot->used = slot->leaving = false;
    slot->usage_changes = 0;
    memset(slot->usage_role, 0, sizeof(slot->usage_role));
    slot->used_us = now_us;
  });
}

void Free(SegmentSlot *slot) { AssignSlot(slot, InvalidOid, InvalidOid, "", 0); }

void FreeSegmentsOf(Oid database) {
  Assert(IsHeldExclusively(state->lock));  // Requires: the block's lock.
  for (int i = 0; i < state->segment_slots; ++i)
    if (SegmentSlotAt(i)->database == database) Free(SegmentSlotAt(i));
}

// Frees the slots of dropped databases, which have no connections. Catalogs cannot be read under
// the lock, and a slot may meanwhile have gone to another database.
void FreeDropped() {
  for (int i = 0; i < state->node_slots; ++i) {
    LWLockAcquire(&state->lock, LW_SHARED);
    const Oid database = state->nodes[i].database;
    LWLockRelease(&state->lock);
    if (!OidIsValid(database) || DatabaseExists(database)) continue;
    LWLockAcquire(&state->lock, LW_EXCLUSIVE);
    if (state->nodes[i].database == database) {
      if (BoxSlot *slot = SlotOf(&state->nodes[i])) {
        Empty(slot);
        EmptyHorizon(slot);
      }
      FreeSegmentsOf(database);
      ClearBlock(HorizonOf(&state->nodes[i]));
      Clear(&state->nodes[i]);
    }
    LWLockRelease(&state->lock);
  }
}

NodeBlock *Make(Oid database) {
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  NodeBlock *node = NodeOf(database);
  if (node == nullptr) node = NodeOf(InvalidOid);
  if (node != nullptr) node->database = database;
  LWLockRelease(&state->lock);
  return node;
}

}  // namespace

ClockReading ReadClocks() {
  constexpr int64_t close_us = kStepUs / 5;
  ClockReading reading = {};
  for (int tries = 0; tries < 3; ++tries) {
    reading.steady_us = SteadyUs();
    reading.wall_us = NowUnixUs();
    if (SteadyUs() - reading.steady_us < close_us) break;
  }
  return reading;
}

void RequestSharedMemory() {
  next_request_hook = shmem_request_hook;
  shmem_request_hook = RequestState;
  next_startup_hook = shmem_startup_hook;
  shmem_startup_hook = StartState;
}

bool HasSharedMemory() {
  if (state != nullptr) return true;
  const auto fill = [](void *segment) { FillShared(static_cast<StateBlock *>(segment), kNamedSlots, kNamedSlots); };
  ErrorContextCallback context = {error_context_stack, SayWhatNeedsRoom, nullptr};
  error_context_stack = &context;
  StateBlock *segment = static_cast<StateBlock *>(NamedSegment(kMemoryName, StateSize(kNamedSlots, kNamedSlots), fill));
  error_context_stack = context.previous;
  if (segment == nullptr) return false;
  RegisterTranche(segment->tranche, "snowflake");
  // One process that issues ids cannot write to it, so from here on none does.
  if (!FindBlackBox(kMemoryName, segment->box)) segment->box = 0;
  state = segment;
  return true;
}

int NodeSlots() { return state->node_slots; }

int NodeSlotsInUse() {
  FreeDropped();
  int used = 0;
  LWLockAcquire(&state->lock, LW_SHARED);
  for (int i = 0; i < state->node_slots; ++i) used += OidIsValid(state->nodes[i].database);
  LWLockRelease(&state->lock);
  return used;
}

void WatchRegistry() {
  registry_leads_here = [] {
    NodeBlock *node = FindNode(MyDatabaseId);
    bool here = false;
    const uint64_t registry = HashOfRegistry();
    if (node != nullptr)
      WithLock(node, LW_SHARED, [&] { here = node->registry_is_here && node->registry == registry; });
    return here;
  };
}

BoxSlot *SlotOf(const NodeBlock *node) {
  // Requires: the node's lock, its horizon's or the block's.
  Assert(IsHeld(node->lock) || IsHeld(HorizonOf(node)->lock) || IsHeld(state->lock));
  return state->box != 0 ? SlotOf(static_cast<int>(node - state->nodes)) : nullptr;
}

bool HasBox() { return state->box != 0 && !state->box_is_missing; }

void LookAfterBox() {
  if (state->box == 0) return;
  const char *fault = FaultOfBox();
  const bool known = state->box_is_missing.exchange(fault != nullptr);
  if (fault != nullptr && BoxIsCut()) {
    RemoveBox();
    state->box = 0;
  }
  if (fault != nullptr && !known) TellBoxLost(fault);
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
  kept->horizon = id;
}

void KeepHorizonInBox(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, BoxSlot *slot) {
  KeptHorizon kept;
  ToKeep(node, horizon, id, &kept);
  StoreHorizon(slot, kept);
}

void KeepInBox(const NodeBlock *node, BoxSlot *slot) {
  Assert(IsHeldExclusively(node->lock));  // Requires: the node's lock.
  Store(slot, [&](Kept *kept) {
    kept->database = node->database;
    kept->extension = node->extension;
    kept->registry = node->registry;
    kept->state = node->state;
    memcpy(kept->node_name, node->node_name, sizeof(kept->node_name));
  });
}

NodeBlock *FindNode(Oid database) {
  if (!HasSharedMemory()) return nullptr;
  LWLockAcquire(&state->lock, LW_SHARED);
  NodeBlock *node = NodeOf(database);
  LWLockRelease(&state->lock);
  return node;
}

NodeBlock *FindOrMakeNode(Oid database) {
  if (NodeBlock *node = FindNode(database)) return node;
  if (NodeBlock *node = Make(database)) return node;
  FreeDropped();
  return Make(database);
}

int HorizonSlots() { return state == nullptr ? 0 : state->transaction_slots; }
HorizonSlot *HorizonSlotAt(int i) { return &SlotsOf(state)[i]; }
HorizonBlock *HorizonOf(const NodeBlock *node) { return &HorizonsOf(state)[node - state->nodes]; }

Xid *SampleXids(const NodeBlock *node, int32_t number) {
  Xid *xids = reinterpret_cast<Xid *>(SlotsOf(state) + state->transaction_slots);
  return xids + ((node - state->nodes) * kSamples + number) * state->transaction_slots;
}

int SegmentSlots() { return state == nullptr ? 0 : state->segment_slots; }
SegmentSlot *SegmentSlotAt(int number) { return &SegmentsOf(state)[number]; }

SegmentRef FindSegment(Oid extension, const char *name) {
  if (!HasSharedMemory()) return {};
  LWLockAcquire(&state->lock, LW_SHARED);
  const SegmentRef segment = RefOf(SlotNamed(extension, name));
  LWLockRelease(&state->lock);
  return segment;
}

SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle) {
  SegmentSlot *idle = nullptr;
  const int64_t now_us = SteadyUs();
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  SegmentSlot *slot = SlotNamed(extension, name), *free_slot = nullptr;
  for (int i = 0; slot == nullptr && i < state->segment_slots; ++i) {
    SegmentSlot *other = SegmentSlotAt(i);
    if (!OidIsValid(other->database)) {
      free_slot = other;
      break;
    }
    // A name without a segment needs no slot. Order: none. These reads without the mutex only
    // choose; a call that loses its slot sees another incarnation.
    if (other->answer == SegmentAnswer::kNoSegment && !other->ranges.wanted) free_slot = other;
    if (idle == nullptr || other->used_us < idle->used_us) idle = other;
  }
  if (slot == nullptr && free_slot != nullptr) {
    slot = free_slot;
    AssignSlot(slot, MyDatabaseId, extension, name, now_us);
  }
  const SegmentRef segment = RefOf(slot);
  *longest_idle = RefOf(idle);
  LWLockRelease(&state->lock);
  return segment;
}

void FreeSegment(const SegmentRef &segment) {
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  if (segment.slot->incarnation == segment.incarnation) Free(segment.slot);
  LWLockRelease(&state->lock);
}

void FreeSegments() {
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  FreeSegmentsOf(MyDatabaseId);
  LWLockRelease(&state->lock);
}

bool HoldsOtherLayout(Oid extension, const Layout &layout) {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) return false;
  bool other = false;
  WithLock(node, LW_SHARED, [&] {
    const Generator &g = node->state.generator;
    other = node->extension == extension && g.lease.lease_id != 0 && g.layout != layout;
  });
  return other;
}

}  // namespace snowflake
