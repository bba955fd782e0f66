#include "pg/issue/node_block.h"

#include <time.h>

#include "pg/issue/black_box.h"
#include "pg/issue/kept_horizons.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

struct State {
  LWLock lock;
  // Order: none. These are written before any process but the first can find the block.
  int tranche;
  int places;
  int segment_places;
  int slots;            // for transactions
  uint64_t box;         // 0: there is none
  int boxes_made;       // in place of the first
  bool box_is_made;     // by a keeper, now
  bool box_is_missing;  // and could not be made anew
  // Then the segments' places, each node's horizon, the slots, and for each node the xids of its samples.
  alignas(128) NodeBlock nodes[FLEXIBLE_ARRAY_MEMBER];
};

// A named segment's layout is its name's: a library that lays the block out otherwise counts this up. Sessions of the one
// before then go on with their own block, lease and keeper, so nothing is issued twice.
constexpr const char *kMemoryName = "snowflake 1";
constexpr int kNamedPlaces = 64;

// A process that gets at no box takes each away again.
constexpr int kMostBoxes = 100;

// Locks and pointers have other sizes on other processors, and 32-bit x86 aligns int64_t to 4 bytes.
// All the rest has the same size everywhere, so a change of it shows as another number.
static_assert(MAXIMUM_ALIGNOF != 8 ||
                  (offsetof(NodeBlock, changed) == sizeof(LWLock) + 2 * sizeof(Latch *) + 2496 &&
                   offsetof(SegmentSlot, used_us) == MAXALIGN(sizeof(slock_t)) + 384 &&
                   offsetof(HorizonBlock, stored) == sizeof(LWLock) + 624 && offsetof(HorizonSlot, of_worker) == 24),
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
  const uint64_t box = node->box;
  ClearBlock(node);
  node->box = box;
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

// What the data directory has is for where the box has none.
void PutBackFromDirectory(const KeptHorizon &kept, void *argument) {
  State *block = static_cast<State *>(argument);
  int place = -1;
  for (int i = 0; i < block->places; ++i) {
    const Oid database = block->nodes[i].database;
    if (database == kept.database || (place < 0 && !OidIsValid(database))) place = i;
    if (database == kept.database) break;
  }
  if (place < 0) return;
  HorizonBlock *horizon = &HorizonsOf(block)[place];
  if (horizon->shown == 0) {
    // It was stored some seconds ahead of what could be told, and no more is bridged.
    const int64_t latest_us = NowUnixUs() + PatienceNow().clock.max_bridge_us;
    KeptHorizon told = kept;
    told.horizon = Min(kept.horizon, LowestId(kept.layout, kept.layout.TickAt(latest_us)));
    PutBackHorizon(place, told, block);
    BoxSlot *slot = block->box != 0 ? SlotOf(place) : nullptr;
    if (slot != nullptr) StoreHorizon(slot, told);
  }
  horizon->stored = kept.horizon;
}

void Fill(State *block, int places, int segment_places) {
  block->tranche = NewTranche("snowflake");
  block->places = places;
  block->segment_places = segment_places;
  block->slots = MostTransactions();
  LWLockInitialize(&block->lock, block->tranche);
  for (int i = 0; i < places; ++i) {
    block->nodes[i].box = 0;
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
  block->box = 0;
  block->boxes_made = 0;
  block->box_is_made = block->box_is_missing = false;
}

void FillShared(State *block, int places, int segment_places) {
  Fill(block, places, segment_places);
  block->box = OpenBlackBox(kMemoryName, places, PutBack, PutBackHorizon, block);
  ForEachKeptHorizon(PutBackFromDirectory, block);
  for (int i = 0; i < places; ++i) block->nodes[i].box = block->box;
}

// A process that issues ids does not get at the box: from here on nobody writes to it.
void GiveBoxUp(State *block) {
  for (int i = 0; i < block->places; ++i) WithLock(&block->nodes[i], LW_EXCLUSIVE, [&] { block->nodes[i].box = 0; });
  block->box = 0;
}

void StartState() {
  if (next_startup_hook) next_startup_hook();
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  bool found = false;
  state = static_cast<State *>(
      ShmemInitStruct("snowflake", StateSize(settings.max_databases, settings.max_segments), &found));
  if (!found) FillShared(state, settings.max_databases, settings.max_segments);
  LWLockRelease(AddinShmemInitLock);
  RegisterTranche(state->tranche, "snowflake");
}

// PostgreSQL's own error names a file of /dev/shm, and neither what it is for nor how large it has to be.
void SayWhatNeedsRoom(void *) {
  if (geterrcode() != ERRCODE_DISK_FULL && geterrcode() != ERRCODE_OUT_OF_MEMORY) return;
  errhint(
      "snowflake needs %zu kB of shared memory. Make room for it (on Linux, in /dev/shm), or put the library into "
      "shared_preload_libraries and restart the server.",
      StateSize(kNamedPlaces, kNamedPlaces) / 1024);
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

// Requires: the block's lock.
SegmentRef RefOf(SegmentSlot *slot) {
  if (slot == nullptr) return {};
  return {slot, slot->incarnation};
}

struct SegmentName {
  char bytes[kMaxSegmentName + 1];
};

// The name changes with all else that says whose place it is, so that it is read with that.
void GivePlace(SegmentSlot *slot, Oid database, Oid extension, const SegmentName &name, int64_t now_us) {
  WithMutex(slot, [&] {
    ++slot->incarnation;
    slot->database = database;
    slot->extension = extension;
    memcpy(slot->name, name.bytes, sizeof(slot->name));
    slot->ranges = {};
    slot->segment_id = slot->asked = slot->answered = 0;
    slot->answer = SegmentAnswer::kNone;
    slot->used = slot->leaving = false;
    slot->usage_changes = 0;
    memset(slot->usage_role, 0, sizeof(slot->usage_role));
    slot->used_us = now_us;
  });
}

void Free(SegmentSlot *slot) { GivePlace(slot, InvalidOid, InvalidOid, {}, 0); }

void FreeSegmentsOf(Oid database) {
  for (int i = 0; i < state->segment_places; ++i)
    if (SegmentPlace(i)->database == database) Free(SegmentPlace(i));
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

// Into an empty slot. What was sealed for the horizon is as good as used.
void KeepAllInBox(const NodeBlock *node, const HorizonBlock &horizon, BoxSlot *slot) {
  if (!OidIsValid(node->database)) return;
  KeepInBox(node, slot);
  const Generator &g = node->state.generator;
  if (g.open) StoreLastTick(slot, Max(g.last_tick, g.sealed_tick - 1));
  if (NewestHorizon(horizon) > 0) KeepHorizonInBox(node, horizon, NewestHorizon(horizon), slot);
}

// The new box has been begun.
void MoveTo(uint64_t box) {
  for (int i = 0; i < state->places; ++i) {
    NodeBlock *node = &state->nodes[i];
    HorizonBlock *horizon = HorizonOf(node);
    LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
    WithLock(node, LW_EXCLUSIVE, [&] {
      KeepAllInBox(node, *horizon, FreshSlotOf(i));
      node->box = box;
    });
    LWLockRelease(&horizon->lock);
  }
  EndBox();
  state->box = box;
  ++state->boxes_made;
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
  const auto fill = [](void *segment) { FillShared(static_cast<State *>(segment), kNamedPlaces, kNamedPlaces); };
  ErrorContextCallback context = {error_context_stack, SayWhatNeedsRoom, nullptr};
  error_context_stack = &context;
  State *segment = static_cast<State *>(NamedSegment(kMemoryName, StateSize(kNamedPlaces, kNamedPlaces), fill));
  error_context_stack = context.previous;
  if (segment == nullptr) return false;
  RegisterTranche(segment->tranche, "snowflake");
  if (!FindBlackBox(kMemoryName, segment->box)) GiveBoxUp(segment);
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
  return node->box != 0 && node->box == BoxId() ? SlotOf(static_cast<int>(node - state->nodes)) : nullptr;
}

void FollowBox(uint64_t box) {
  if (!FindBlackBox(kMemoryName, box)) GiveBoxUp(state);
}

bool HasBox() { return state->box != 0 && !state->box_is_missing; }

void LookAfterBox() {
  if (state->box != 0 && state->box != BoxId()) FollowBox(state->box);
  const uint64_t before = state->box;
  if (before != 0 && BlackBoxIsThere(state->box_is_missing)) {
    state->box_is_missing = false;
    return;
  }
  // One keeper at a time, and not for one that was made meanwhile.
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  const bool ours = !state->box_is_made && state->box == before && state->boxes_made < kMostBoxes;
  if (ours) state->box_is_made = true;
  LWLockRelease(&state->lock);
  if (!ours) return;
  const uint64_t box = BeginBox(state->places, state->box_is_missing || before == 0);
  state->box_is_missing = box == 0;
  if (box != 0) MoveTo(box);
  state->box_is_made = false;
}

int64_t NewestHorizon(const HorizonBlock &horizon) {
  const Samples &samples = horizon.samples;
  return samples.count > 0 ? samples.kept[samples.count - 1].horizon : horizon.shown;
}

void ToKeep(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, KeptHorizon *kept) {
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

NodeBlock *MakePrivateNode() {
  const Size size = StateSize(1, 0);
  void *memory = MemoryContextAllocHuge(TopMemoryContext, add_size(size, alignof(State)));
  state = reinterpret_cast<State *>(TYPEALIGN(alignof(State), memory));
  Fill(state, 1, 0);
  state->boxes_made = kMostBoxes;
  RegisterTranche(state->tranche, "snowflake");
  return Make(MyDatabaseId);
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

SegmentRef FindSegment(Oid extension, const char *name) {
  if (!HasSharedMemory()) return {};
  LWLockAcquire(&state->lock, LW_SHARED);
  const SegmentRef segment = RefOf(PlaceOf(extension, name));
  LWLockRelease(&state->lock);
  return segment;
}

SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle) {
  SegmentSlot *idle = nullptr;
  SegmentName own_name = {};
  strlcpy(own_name.bytes, name, sizeof(own_name.bytes));
  const int64_t now_us = SteadyUs();
  LWLockAcquire(&state->lock, LW_EXCLUSIVE);
  SegmentSlot *slot = PlaceOf(extension, name), *free_slot = nullptr;
  for (int i = 0; slot == nullptr && i < state->segment_places; ++i) {
    SegmentSlot *other = SegmentPlace(i);
    if (!OidIsValid(other->database)) {
      free_slot = other;
      break;
    }
    // A name that is no segment's needs no place. Order: none. What is read without the mutex only
    // chooses; a call that loses its place notices by the incarnation.
    if (other->answer == SegmentAnswer::kNoSegment && !other->ranges.wanted) free_slot = other;
    if (idle == nullptr || other->used_us < idle->used_us) idle = other;
  }
  if (slot == nullptr && free_slot != nullptr) {
    slot = free_slot;
    GivePlace(slot, MyDatabaseId, extension, own_name, now_us);
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
