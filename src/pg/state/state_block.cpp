// Makes and finds the state block, and the nodes in it.
#include "pg/state/state_block.h"

#include "pg/settings.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
struct alignas(128) StateBlock {
  // Order: none. These are written before any process but the first can find the block.
  int tranche;
  int node_slots;
  int segment_slots;
  BoxState box;
  ServerClock clock;
  // Then the nodes, the segments and the horizons.
};

// A library with another layout of the block counts this up. Sessions of the old library go on with
// their own block, lease and keeper, so nothing is issued twice.
constexpr const char *kMemoryName = "snowflake 6";
constexpr int kNamedSlots = 64;

// Locks and pointers have other sizes on other processors, and 32-bit x86 aligns int64_t to 4
// bytes. All the rest has the same size everywhere.
static_assert(MAXIMUM_ALIGNOF != 8 || (offsetof(NodeBlock, changed) == sizeof(LWLock) + 2 * sizeof(Latch *) + 2552 &&
                                       offsetof(SegmentSlot, used_us) == MAXALIGN(sizeof(slock_t)) + 384 &&
                                       offsetof(HorizonBlock, resets) == 2 * sizeof(LWLock) + 648 &&
                                       offsetof(HorizonSlot, of_worker) == 24),
              "the block is laid out otherwise: count kMemoryName up, then say the new size here");

StateBlock *state = nullptr;
shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;

// Where the parts are. Each is a multiple of a cache line's length, but for the last one.
char *NodesOf(StateBlock *block) { return reinterpret_cast<char *>(block + 1); }
char *SegmentsOf(StateBlock *block) { return NodesOf(block) + SizeOfNodes(block->node_slots); }
char *HorizonsOf(StateBlock *block) { return SegmentsOf(block) + SizeOfSegments(block->segment_slots); }

Size SizeBeforeHorizons(int node_slots, int segment_slots) {
  return add_size(sizeof(StateBlock), add_size(SizeOfNodes(node_slots), SizeOfSegments(segment_slots)));
}

Size StateSize(int node_slots, int segment_slots) {
  return add_size(SizeBeforeHorizons(node_slots, segment_slots), SizeOfHorizons(node_slots));
}

void RequestState() {
  if (next_request_hook) next_request_hook();
  RequestAddinShmemSpace(add_size(StateSize(settings.max_databases, settings.max_segments), alignof(StateBlock)));
}

void UseParts(StateBlock *block) {
  UseNodes(NodesOf(block));
  UseSegments(SegmentsOf(block));
  UseHorizons(HorizonsOf(block));
  UseServerClock(&block->clock);
  RegisterTranche(block->tranche, "snowflake");
}

void FillBlock(StateBlock *block, int node_slots, int segment_slots) {
  memset(static_cast<void *>(block), 0, SizeBeforeHorizons(node_slots, segment_slots) + ZeroOfHorizons(node_slots));
  block->tranche = NewTranche("snowflake");
  block->node_slots = node_slots;
  block->segment_slots = segment_slots;
  MakeNodes(NodesOf(block), node_slots, block->tranche);
  MakeSegments(SegmentsOf(block), segment_slots);
  MakeHorizons(HorizonsOf(block), node_slots, block->tranche);
  MakeServerClock(&block->clock, block->tranche);
  UseParts(block);
  RestoreNodes(&block->box, kMemoryName);
}

// Not this process's before its box is.
void Use(StateBlock *block) {
  UseBox(&block->box, kMemoryName);
  UseParts(block);
  state = block;
}

void StartState() {
  if (next_startup_hook) next_startup_hook();
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  bool found = false;
  StateBlock *block = static_cast<StateBlock *>(
      ShmemInitStruct("snowflake", StateSize(settings.max_databases, settings.max_segments), &found));
  if (!found) FillBlock(block, settings.max_databases, settings.max_segments);
  LWLockRelease(AddinShmemInitLock);
  Use(block);
}

// PostgreSQL's own error names a file of /dev/shm, but neither its purpose nor its size.
void SayWhatNeedsRoom(void *) {
  if (geterrcode() != ERRCODE_DISK_FULL && geterrcode() != ERRCODE_OUT_OF_MEMORY) return;
  errhint(
      "snowflake needs %zu kB of shared memory. Make room for it (on Linux, in /dev/shm), or put the library into "
      "shared_preload_libraries and restart the server.",
      StateSize(kNamedSlots, kNamedSlots) / 1024);
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

// Frees the slots of dropped databases, which have no connections. Catalogs cannot be read under
// the lock, and a slot may meanwhile have gone to another database.
void FreeDropped() {
  for (int i = 0; i < NodeSlots(); ++i) {
    NodeBlock *node = NodeAt(i);
    LWLockAcquire(SlotsLock(), LW_SHARED);
    const Oid database = node->database;
    LWLockRelease(SlotsLock());
    if (!OidIsValid(database) || DatabaseExists(database)) continue;
    LWLockAcquire(SlotsLock(), LW_EXCLUSIVE);
    if (node->database == database) {
      if (BoxSlot *slot = SlotOf(node)) {
        Empty(slot);
        EmptyHorizon(slot);
      }
      FreeSegmentsOf(database);
      FreeHorizon(HorizonOf(node));
      FreeNode(node);
    }
    LWLockRelease(SlotsLock());
  }
}

NodeBlock *Make(Oid database) {
  LWLockAcquire(SlotsLock(), LW_EXCLUSIVE);
  NodeBlock *node = NodeOf(database);
  if (node == nullptr) {
    node = NodeOf(InvalidOid);
    if (node != nullptr) GiveNode(node, database);
  }
  LWLockRelease(SlotsLock());
  return node;
}

}  // namespace

void RequestSharedMemory() {
  next_request_hook = shmem_request_hook;
  shmem_request_hook = RequestState;
  next_startup_hook = shmem_startup_hook;
  shmem_startup_hook = StartState;
}

bool HasSharedMemory() {
  if (state != nullptr) return true;
  const auto fill = [](void *segment) { FillBlock(static_cast<StateBlock *>(segment), kNamedSlots, kNamedSlots); };
  ErrorContextCallback context = {error_context_stack, SayWhatNeedsRoom, nullptr};
  error_context_stack = &context;
  void *segment = NamedSegment(kMemoryName, StateSize(kNamedSlots, kNamedSlots), fill);
  error_context_stack = context.previous;
  if (segment == nullptr) return false;
  Use(static_cast<StateBlock *>(segment));
  return true;
}

int NodeSlotsInUse() {
  FreeDropped();
  int used = 0;
  LWLockAcquire(SlotsLock(), LW_SHARED);
  for (int i = 0; i < NodeSlots(); ++i) used += OidIsValid(NodeAt(i)->database);
  LWLockRelease(SlotsLock());
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

NodeBlock *FindNode(Oid database) {
  if (!HasSharedMemory()) return nullptr;
  LWLockAcquire(SlotsLock(), LW_SHARED);
  NodeBlock *node = NodeOf(database);
  LWLockRelease(SlotsLock());
  return node;
}

NodeBlock *FindOrMakeNode(Oid database) {
  if (NodeBlock *node = FindNode(database)) return node;
  if (NodeBlock *node = Make(database)) return node;
  FreeDropped();
  return Make(database);
}

}  // namespace snowflake
