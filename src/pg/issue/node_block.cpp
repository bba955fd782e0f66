#include "pg/issue/node_block.h"

#include <time.h>

#include "pg/issue/black_box.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

struct State {
  LWLock lock;
  int tranche;
  int places;
  int segment_places;
  int slots;     // for transactions
  uint64_t box;  // 0: there is none
  // Then the segments' places, each node's horizon, the slots, and for each node the xids of its samples.
  alignas(128) NodeBlock nodes[FLEXIBLE_ARRAY_MEMBER];
};

// A named segment's layout is its name's: a library that lays the block out otherwise counts this up. Sessions of the one
// before then go on with their own block, lease and keeper, so nothing is issued twice.
constexpr const char *kMemoryName = "snowflake 1";
constexpr int kNamedPlaces = 64;
static_assert(offsetof(NodeBlock, changed) - sizeof(LWLock) == 2320 && offsetof(SegmentSlot, used_us) == 264 &&
                  offsetof(HorizonBlock, transactions_from) - sizeof(LWLock) == 624 &&
                  offsetof(HorizonSlot, database) == 20,
              "the block is laid out otherwise: count kMemoryName up, then say the new size here");

State *state = nullptr;
shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;

// How many transactions can have drawn ids, and be in progress, at a time.
int MostTransactions() { return MaxBackends + max_prepared_xacts; }

Size StateSize(int places, int segment_places) {
  const Size slots = static_cast<Size>(MostTransactions());
  const Size node = sizeof(NodeBlock) + sizeof(HorizonBlock) + mul_size(slots, kSamples * sizeof(Xid));
  Size size = add_size(offsetof(State, nodes), mul_size(places, node));
  size = add_size(size, mul_size(segment_places, sizeof(SegmentSlot)));
  return add_size(size, mul_size(slots, sizeof(HorizonSlot)));
}

SegmentSlot *SegmentsOf(State *block) { return reinterpret_cast<SegmentSlot *>(block->nodes + block->places); }
HorizonBlock *HorizonsOf(State *block) {
  return reinterpret_cast<HorizonBlock *>(SegmentsOf(block) + block->segment_places);
}
HorizonSlot *SlotsOf(State *block) { return reinterpret_cast<HorizonSlot *>(HorizonsOf(block) + block->places); }

void RequestState() {
  if (next_request_hook) next_request_hook();
  RequestAddinShmemSpace(add_size(StateSize(settings.max_databases, settings.max_segments), alignof(State)));
}

// All but its lock.
template <typename Block>
void ClearBlock(Block *block) {
  memset(reinterpret_cast<char *>(block) + sizeof(block->lock), 0, sizeof(*block) - sizeof(block->lock));
}

void Clear(NodeBlock *node) {
  ClearBlock(node);
  ConditionVariableInit(&node->changed);
}

// Of the life before; nobody else is here yet. A node that a changed box has twice would come back when its lease is no longer its own.
bool PutBack(int place, const Kept &kept, void *block) {
  NodeBlock *nodes = static_cast<State *>(block)->nodes, *node = &nodes[place];
  for (int i = 0; i < place; ++i)
    if (nodes[i].database == kept.database) return false;
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

// The same for a horizon, whose node may have no lease left.
bool PutBackHorizon(int place, const KeptHorizon &kept, void *block) {
  NodeBlock *nodes = static_cast<State *>(block)->nodes;
  for (int i = 0; i < static_cast<State *>(block)->places; ++i)
    if (i != place && nodes[i].database == kept.database) return false;
  if (!OidIsValid(nodes[place].database)) nodes[place].database = kept.database;
  if (nodes[place].database != kept.database) return false;
  HorizonBlock *horizon = &HorizonsOf(static_cast<State *>(block))[place];
  horizon->extension = kept.extension;
  horizon->layout = kept.layout;
  horizon->shown = kept.horizon;
  NodeState *node = &nodes[place].state;
  if (!nodes[place].recovered && kept.horizon > 0)
    RecoverHorizon(node, kept.layout, kept.horizon, ReadClocks(), PatienceNow().clock);
  return true;
}

void Fill(State *block, int places, int segment_places) {
  block->tranche = NewTranche("snowflake");
  block->places = places;
  block->segment_places = segment_places;
  block->slots = MostTransactions();
  LWLockInitialize(&block->lock, block->tranche);
  for (int i = 0; i < places; ++i) {
    Clear(&block->nodes[i]);
    LWLockInitialize(&block->nodes[i].lock, block->tranche);
    ClearBlock(&HorizonsOf(block)[i]);
    LWLockInitialize(&HorizonsOf(block)[i].lock, block->tranche);
  }
  memset(static_cast<void *>(SlotsOf(block)), 0, sizeof(HorizonSlot) * static_cast<Size>(block->slots));
  for (int i = 0; i < segment_places; ++i) {
    SegmentSlot *slot = &SegmentsOf(block)[i];
    memset(slot, 0, sizeof(*slot));
    SpinLockInit(&slot->mutex);
  }
  block->box = OpenBlackBox(kMemoryName, places, PutBack, PutBackHorizon, block);
}

void StartState() {
  if (next_startup_hook) next_startup_hook();
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  bool found = false;
  state = static_cast<State *>(
      ShmemInitStruct("snowflake", StateSize(settings.max_databases, settings.max_segments), &found));
  if (!found) Fill(state, settings.max_databases, settings.max_segments);
  LWLockRelease(AddinShmemInitLock);
  RegisterTranche(state->tranche, "snowflake");
}

// The block's lock is held.
NodeBlock *Place(Oid database) {
  for (int i = 0; i < state->places; ++i)
    if (state->nodes[i].database == database) return &state->nodes[i];
  return nullptr;
}

// Whoever took a place was connected. A transaction may have seen the catalogs before that database was created, and would
// not look again.
bool DatabaseExists(Oid database) {
  AcceptInvalidationMessages();
  InvalidateCatalogSnapshot();
  char *name = get_database_name(database);
  if (name == nullptr) return false;
  pfree(name);
  return true;
}

// The next four with the block's lock held.
SegmentSlot *PlaceOf(Oid extension, const char *name) {
  for (int i = 0; i < state->segment_places; ++i) {
    SegmentSlot *slot = SegmentPlace(i);
    if (slot->database == MyDatabaseId && slot->extension == extension && strcmp(slot->name, name) == 0) return slot;
  }
  return nullptr;
}

// A spinlock is held for a few instructions: the bytes of the name are copied in before.
void GivePlace(SegmentSlot *slot, Oid database, Oid extension) {
  WithMutex(slot, [&] {
    ++slot->incarnation;
    slot->database = database;
    slot->extension = extension;
    slot->ranges = {};
    slot->segment_id = slot->asked = slot->answered = 0;
    slot->answer = SegmentAnswer::kNone;
    slot->used = slot->leaving = false;
    slot->used_us = 0;
  });
}

void FreeSegmentsOf(Oid database) {
  for (int i = 0; i < state->segment_places; ++i)
    if (SegmentPlace(i)->database == database) GivePlace(SegmentPlace(i), InvalidOid, InvalidOid);
}

// Frees the places of dropped databases: nobody is connected to one, so nobody uses its node. Catalog access cannot be
// under the lock, and a place may meanwhile have gone to another database.
void FreeDropped() {
  for (int i = 0; i < state->places; ++i) {
    LWLockAcquire(&state->lock, LW_SHARED);
    const Oid database = state->nodes[i].database;
    LWLockRelease(&state->lock);
    if (!OidIsValid(database) || DatabaseExists(database)) continue;
    LWLockAcquire(&state->lock, LW_EXCLUSIVE);
    if (state->nodes[i].database == database) {
      if (BoxSlot *slot = SlotOf(i)) {
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
  NodeBlock *node = Place(database);
  if (node == nullptr) {
    node = Place(InvalidOid);
    if (node != nullptr) node->database = database;
  }
  LWLockRelease(&state->lock);
  return node;
}

}  // namespace

int64_t MonotonicUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * USECS_PER_SEC + now.tv_nsec / 1000;
}

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
  const auto fill = [](void *segment) { Fill(static_cast<State *>(segment), kNamedPlaces, kNamedPlaces); };
  State *segment = static_cast<State *>(NamedSegment(kMemoryName, StateSize(kNamedPlaces, kNamedPlaces), fill));
  if (segment == nullptr) return false;
  RegisterTranche(segment->tranche, "snowflake");
  if (!FindBlackBox(kMemoryName, segment->box)) segment->box = 0;
  state = segment;
  return true;
}

int Places() { return state->places; }

int PlacesInUse() {
  FreeDropped();
  int used = 0;
  LWLockAcquire(&state->lock, LW_SHARED);
  for (int i = 0; i < state->places; ++i) used += OidIsValid(state->nodes[i].database);
  LWLockRelease(&state->lock);
  return used;
}

BoxSlot *SlotOf(const NodeBlock *node) { return SlotOf(static_cast<int>(node - state->nodes)); }

void KeepInBox(const NodeBlock *node, BoxSlot *slot) {
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
  NodeBlock *node = Place(database);
  LWLockRelease(&state->lock);
  return node;
}

NodeBlock *FindOrMakeNode(Oid database) {
  NodeBlock *node = FindNode(database);
  if (node == nullptr) node = Make(database);
  if (node == nullptr) {
    FreeDropped();
    node = Make(database);
  }
  return node;
}

int HorizonSlots() { return state == nullptr ? 0 : state->slots; }
HorizonSlot *HorizonSlotAt(int i) { return &SlotsOf(state)[i]; }
HorizonBlock *HorizonOf(const NodeBlock *node) { return &HorizonsOf(state)[node - state->nodes]; }

Xid *SampleXids(const NodeBlock *node, int32_t place) {
  Xid *xids = reinterpret_cast<Xid *>(SlotsOf(state) + state->slots);
  return xids + ((node - state->nodes) * kSamples + place) * state->slots;
}

int SegmentPlaces() { return state == nullptr ? 0 : state->segment_places; }
SegmentSlot *SegmentPlace(int place) { return &SegmentsOf(state)[place]; }

SegmentSlot *FindSegment(Oid extension, const char *name) {
  if (!HasSharedMemory()) return nullptr;
  LWLockAcquire(&state->lock, LW_SHARED);
  SegmentSlot *slot = PlaceOf(extension, name);
  LWLockRelease(&state->lock);
  return slot;
}

SegmentSlot *FindOrMakeSegment(Oid extension, const char *name, SegmentSlot **longest_idle) {
  *longest_idle = nullptr;
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  SegmentSlot *slot = PlaceOf(extension, name), *free_slot = nullptr;
  for (int i = 0; slot == nullptr && i < state->segment_places; ++i) {
    SegmentSlot *other = SegmentPlace(i);
    if (!OidIsValid(other->database)) {
      free_slot = other;
      break;
    }
    // A name that is no segment's needs no place.
    if (other->answer == SegmentAnswer::kNoSegment && !other->ranges.wanted) free_slot = other;
    if (*longest_idle == nullptr || other->used_us < (*longest_idle)->used_us) *longest_idle = other;
  }
  if (slot == nullptr && free_slot != nullptr) {
    slot = free_slot;
    GivePlace(slot, MyDatabaseId, extension);
    strlcpy(slot->name, name, sizeof(slot->name));
  }
  LWLockRelease(&state->lock);
  return slot;
}

bool CopySegmentName(const SegmentSlot *slot, char *name) {
  LWLockAcquire(&state->lock, LW_SHARED);
  const bool ours = slot->database == MyDatabaseId;
  if (ours) memcpy(name, slot->name, sizeof(slot->name));
  LWLockRelease(&state->lock);
  return ours;
}

void FreeSegment(SegmentSlot *slot, uint32_t incarnation) {
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  if (slot->incarnation == incarnation) GivePlace(slot, InvalidOid, InvalidOid);
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
