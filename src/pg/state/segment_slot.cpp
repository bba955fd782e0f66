// Makes, finds and frees the slots of segments.
#include "pg/state/segment_slot.h"

#include "pg/state/node_block.h"

namespace snowflake {
namespace {
struct alignas(128) Segments {
  int slots;  // Order: none. It is written before any process but the first can find the block.
  SegmentSlot at[FLEXIBLE_ARRAY_MEMBER];
};

Segments *segments = nullptr;

SegmentSlot *SlotNamed(Oid extension, const char *name) {
  Assert(IsHeld(*SlotsLock()));  // Requires: the lock of the slots.
  for (int i = 0; i < segments->slots; ++i) {
    SegmentSlot *slot = SegmentSlotAt(i);
    if (slot->database == MyDatabaseId && slot->extension == extension && strcmp(slot->name, name) == 0) return slot;
  }
  return nullptr;
}

SegmentRef RefOf(SegmentSlot *slot) {
  Assert(IsHeld(*SlotsLock()));  // Requires: the lock of the slots.
  return slot != nullptr ? SegmentRef{slot, slot->incarnation} : SegmentRef{};
}

// Owner and name change together under the mutex.
void AssignSlot(SegmentSlot *slot, Oid database, Oid extension, const char *name, int64_t now_us) {
  Assert(IsHeldExclusively(*SlotsLock()));  // Requires: the lock of the slots.
  WithMutex(slot, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
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

void FreeSlot(SegmentSlot *slot) { AssignSlot(slot, InvalidOid, InvalidOid, "", 0); }

}  // namespace

Size SizeOfSegments(int slots) {
  return add_size(offsetof(Segments, at), mul_size(static_cast<Size>(slots), sizeof(SegmentSlot)));
}

void MakeSegments(void *memory, int slots) {
  Segments *made = static_cast<Segments *>(memory);
  made->slots = slots;
  for (int i = 0; i < slots; ++i) SpinLockInit(&made->at[i].mutex);
}

void UseSegments(void *memory) { segments = static_cast<Segments *>(memory); }

int SegmentSlots() { return segments == nullptr ? 0 : segments->slots; }
SegmentSlot *SegmentSlotAt(int number) { return &segments->at[number]; }

SegmentRef FindSegment(Oid extension, const char *name) {
  LWLockAcquire(SlotsLock(), LW_SHARED);
  const SegmentRef segment = RefOf(SlotNamed(extension, name));
  LWLockRelease(SlotsLock());
  return segment;
}

// Order: none. Its reads without the mutex only choose; a call that loses its slot sees another
// incarnation.
SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle) SNOWFLAKE_LOCKS_UNCHECKED {
  SegmentSlot *idle = nullptr;
  const int64_t now_us = SteadyUs();
  LWLockAcquire(SlotsLock(), LW_EXCLUSIVE);
  SegmentSlot *slot = SlotNamed(extension, name), *free_slot = nullptr;
  for (int i = 0; slot == nullptr && i < segments->slots; ++i) {
    SegmentSlot *other = SegmentSlotAt(i);
    if (!OidIsValid(other->database)) {
      free_slot = other;
      break;
    }
    // A name without a segment needs no slot.
    if (other->answer == SegmentAnswer::kNoSegment && !other->ranges.wanted) free_slot = other;
    if (idle == nullptr || other->used_us < idle->used_us) idle = other;
  }
  if (slot == nullptr && free_slot != nullptr) {
    slot = free_slot;
    AssignSlot(slot, MyDatabaseId, extension, name, now_us);
  }
  const SegmentRef segment = RefOf(slot);
  *longest_idle = RefOf(idle);
  LWLockRelease(SlotsLock());
  return segment;
}

bool UsesSegments() {
  bool uses = false;
  LWLockAcquire(SlotsLock(), LW_SHARED);
  for (int i = 0; i < SegmentSlots(); ++i) uses |= SegmentSlotAt(i)->database == MyDatabaseId;
  LWLockRelease(SlotsLock());
  return uses;
}

void FreeSegment(const SegmentRef &segment) {
  LWLockAcquire(SlotsLock(), LW_EXCLUSIVE);
  if (segment.slot->incarnation == segment.incarnation) FreeSlot(segment.slot);
  LWLockRelease(SlotsLock());
}

void FreeSegments() {
  LWLockAcquire(SlotsLock(), LW_EXCLUSIVE);
  FreeSegmentsOf(MyDatabaseId);
  LWLockRelease(SlotsLock());
}

void FreeSegmentsOf(Oid database) {
  Assert(IsHeldExclusively(*SlotsLock()));  // Requires: the lock of the slots.
  for (int i = 0; i < segments->slots; ++i)
    if (SegmentSlotAt(i)->database == database) FreeSlot(SegmentSlotAt(i));
}

}  // namespace snowflake
