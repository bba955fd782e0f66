// The segments of which the databases of this server have issued numbers: a SegmentSlot for each.
//
// 1. A segment of an extension in a database has one slot at most. The slot is not the segment's
//    for ever: if none is free, an idle segment returns its numbers and makes room.
// 2. `incarnation` counts up whenever the slot goes to another segment, so a reference that was
//    kept shows whether the slot is still the same segment's.
//
// Locking: a slot's mutex guards all of it, for a few instructions. Owner, name and incarnation
// change only with SlotsLock() held exclusively, too, which is taken before; whoever holds that may
// read them. Code that acts on an earlier read under the mutex uses WithSegment().
#pragma once

#include "core/lease.h"
#include "core/segment.h"
#include "pg/pg.h"

namespace snowflake {
// The registry's last answer about a segment.
enum class SegmentAnswer { kNone, kNumbers, kNoSegment, kUsedUp };

// A node's numbers of one segment. A call touches one cache line.
struct alignas(128) SegmentSlot {
  Spinlock mutex;
  uint32_t incarnation;  // counts up whenever the slot goes to another segment
  Oid database;          // the owner is these two and the name; InvalidOid: a free slot
  Oid extension;
  // By a call, since NoteUse().
  bool used SNOWFLAKE_GUARDED_BY(mutex);
  // A call waits for the slot; ends when the slot is freed, or used after all.
  bool leaving SNOWFLAKE_GUARDED_BY(mutex);
  uint32_t usage_changes SNOWFLAKE_GUARDED_BY(mutex);  // of `usage_role`; 0: every role
  Ranges ranges SNOWFLAKE_GUARDED_BY(mutex);

  char name[kMaxSegmentName + 1];
  int64_t segment_id SNOWFLAKE_GUARDED_BY(mutex);  // 0: not known yet
  int64_t asked SNOWFLAKE_GUARDED_BY(mutex);       // requests of the keeper, ...
  int64_t answered SNOWFLAKE_GUARDED_BY(mutex);    // ... and which of them the answer is to
  SegmentAnswer answer SNOWFLAKE_GUARDED_BY(mutex);
  Secret secret SNOWFLAKE_GUARDED_BY(mutex);  // of the ranges; all zero: the keeper makes one
  // Whose members may use the numbers; empty: every role.
  char usage_role[kMaxRoleName + 1] SNOWFLAKE_GUARDED_BY(mutex);
  int64_t used_us SNOWFLAKE_GUARDED_BY(mutex);  // by the monotonic clock, when `used` was noted
};
static_assert(NAMEDATALEN <= kMaxRoleName + 1, "the name of a role is longer than kMaxRoleName");
static_assert(offsetof(SegmentSlot, ranges) + offsetof(Ranges, size) <= 64, "a call touches more than one cache line");

// Memory for so many slots, which is zero; makes the slots in it; from here on they are this
// process's.
Size SizeOfSegments(int slots);
void MakeSegments(void *memory, int slots);
void UseSegments(void *memory);

// A free slot is all zero except `mutex` and `incarnation`. 0: there is no state block.
int SegmentSlots();
SegmentSlot *SegmentSlotAt(int number);

// A segment's slot, unless its incarnation has changed. All zero: none.
struct SegmentRef {
  SegmentSlot *slot;
  uint32_t incarnation;
};

// The slot of one of this database's segments. Requires: a state block, here and below.
SegmentRef FindSegment(Oid extension, const char *name);
// Takes a slot if the segment has none. If none is free, `longest_idle` is the one unused for
// longest.
SegmentRef FindOrMakeSegment(Oid extension, const char *name, SegmentRef *longest_idle);
// Whether this database has slots.
bool UsesSegments();
// Frees the slot if it is still that segment's, or all of this database; their numbers are lost.
void FreeSegment(const SegmentRef &segment);
void FreeSegments();
// All of a database. Requires: SlotsLock(), exclusively.
void FreeSegmentsOf(Oid database);

// WithMutex() if the slot is still that segment's; returns whether it is.
template <typename Critical>
inline bool WithSegment(const SegmentRef &segment, Critical critical) {
  bool is_its = false;
  WithMutex(segment.slot, [&]() SNOWFLAKE_LOCKS_UNCHECKED {
    is_its = segment.slot->incarnation == segment.incarnation;
    if (is_its) critical();
  });
  return is_its;
}

// Makes a time of `used`. The keeper does so, and a call that finds no slot, because a segment's
// database may have no keeper.
inline void NoteUse(SegmentSlot *slot, int64_t now_us) SNOWFLAKE_HOLDS(slot->mutex) {
  if (!slot->used) return;
  slot->used_us = now_us;
  slot->used = slot->leaving = false;
}

}  // namespace snowflake
