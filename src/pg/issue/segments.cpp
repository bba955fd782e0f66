// 1. A number is taken by itself, under the slot's spinlock: so numbers rise within a node in the order of calls, and none is lost with
//    a session.
// 2. The range was committed in the registry before it came here. What a crash leaves of it is a gap: nothing of it is in the black box.
// 3. The keeper fetches. A call that finds no number waits for it, as for a lease.
#include "pg/issue/segments.h"

#include "pg/issue/issue.h"
#include "pg/issue/launch.h"
#include "pg/issue/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// What tells one segment from another in a process.
struct SegmentKey {
  Oid extension;
  char name[kMaxSegmentName + 1];
};

// A segment as this process knows it.
struct SegmentUse {
  SegmentKey key;
  int32_t length;  // of the name
  uint32_t incarnation;
  SegmentSlot *slot;  // nullptr: not looked for yet
  int64_t last;       // 0: none yet
};

HTAB *uses = nullptr;
FullTransactionId created_in = {};

// A segment that was not used for so long makes room for another.
constexpr int64_t kIdleUs = 10 * 1000 * 1000;

// One call's wait.
struct Wait {
  KeeperWait keeper;
  int64_t asked;  // of the slot, when the call came to it
  uint32_t incarnation;
};

struct Look {
  bool taken;
  int64_t number;
  bool wanted;  // a range, of the keeper
  int64_t asked;
  int64_t answered;
  SegmentAnswer answer;
};

// The mutex is held.
inline void Take(SegmentSlot *slot, Look *look) {
  slot->used = true;
  look->taken = TakeNumber(&slot->ranges, &look->number);
  if (look->taken && likely(!IsDue(slot->ranges))) return;
  Want(&slot->ranges);
  look->wanted = slot->ranges.wanted;
}

// False where the place has gone to another segment.
inline bool TakeFrom(SegmentSlot *slot, uint32_t incarnation, Look *look) {
  bool ours = false;
  WithMutex(slot, [&] {
    ours = slot->incarnation == incarnation;
    if (ours) Take(slot, look);
  });
  return ours;
}

// The same where the next range may have to take its place; what the keeper last heard of the segment, too.
bool TakeFromNext(SegmentSlot *slot, uint32_t incarnation, Look *look) {
  const int64_t now_us = SteadyUs();
  bool ours = false;
  WithMutex(slot, [&] {
    ours = slot->incarnation == incarnation;
    if (!ours) return;
    slot->used_us = now_us;
    if (slot->ranges.current.left == 0) UseNext(&slot->ranges, now_us);
    Take(slot, look);
    look->asked = slot->asked;
    look->answered = slot->answered;
    look->answer = slot->answer;
  });
  return ours;
}

void WakeKeeperOrAsk(NodeBlock *node) {
  if (!WakeKeeper(node)) EnsureKeeper(node);
}

void Pause(NodeBlock *node, Wait *wait, const char *name) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeSegment");
  if (WaitForKeeper(node, &wait->keeper, event)) return;
  RegistryError error = {};
  WithLock(node, LW_SHARED, [&] { error = node->ranges_error; });
  ReportNoNumbers(wait->keeper.why, name, error, wait->keeper.waited_us);
}

// The keeper gives back what is left of a segment that is not used any more, and frees its place; another database's, too.
void AskForPlace(SegmentSlot *idle) {
  Oid database = InvalidOid;
  uint32_t incarnation = 0;
  const int64_t now_us = SteadyUs();
  bool is_idle = false;
  WithMutex(idle, [&] {
    is_idle = idle->leaving || (!idle->used && now_us - idle->used_us >= kIdleUs);
    if (is_idle) idle->leaving = true;
    database = idle->database;
    incarnation = idle->incarnation;
  });
  if (!is_idle) ReportTooManySegments();
  NodeBlock *node = FindNode(database);
  // There may be nobody who could.
  if (node == nullptr || !WakeKeeper(node)) FreeSegment(idle, incarnation);
}

void FindPlace(NodeBlock *node, SegmentUse *use, Wait *wait) {
  for (;;) {
    SegmentSlot *idle = nullptr;
    SegmentSlot *slot = FindSegment(use->key.extension, use->key.name);
    if (slot == nullptr) slot = FindOrMakeSegment(use->key.extension, use->key.name, &idle);
    if (slot != nullptr) {
      WithMutex(slot, [&] { use->incarnation = slot->incarnation; });
      use->slot = slot;
      return;
    }
    AskForPlace(idle);
    CHECK_FOR_INTERRUPTS();
    if (wait->keeper.since_us != 0 && MonotonicUs() - wait->keeper.since_us >= settings.start_timeout_ms * kUsPerMs)
      ReportTooManySegments();
    Pause(node, wait, use->key.name);
  }
}

// The keeper's answer to what was asked after this call had come.
void CheckAnswer(const SegmentUse *use, const Look &look, const Wait &wait) {
  if (look.answered <= wait.asked) return;
  if (look.answer == SegmentAnswer::kUsedUp) ReportSegmentUsedUp(use->key.name);
  if (look.answer != SegmentAnswer::kNoSegment) return;
  if (FullTransactionIdIsValid(created_in) && FullTransactionIdEquals(created_in, GetTopFullTransactionIdIfAny()))
    ReportSegmentCreatedHere(use->key.name);
  NodeBlock *node = FindNode(MyDatabaseId);
  char known[sizeof(node->segments_known)];
  WithLock(node, LW_SHARED, [&] { memcpy(known, node->segments_known, sizeof(known)); });
  ReportNoSegment(use->key.name, known);
}

int64_t WaitForNumber(NodeBlock *node, Oid fn_oid, SegmentUse *use) {
  Wait wait = {};
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (use->slot == nullptr) FindPlace(node, use, &wait);
    Look look = {};
    if (!TakeFromNext(use->slot, use->incarnation, &look)) {
      use->slot = nullptr;
      continue;
    }
    if (look.taken) {
      if (wait.keeper.since_us != 0) ConditionVariableCancelSleep();
      if (look.wanted) WakeKeeperOrAsk(node);
      return look.number;
    }
    if (wait.incarnation != use->incarnation) {
      wait.incarnation = use->incarnation;
      wait.asked = look.asked;
    }
    CheckAnswer(use, look, wait);
    CheckRegistryMayAnswer(fn_oid, use->key.extension);
    Pause(node, &wait, use->key.name);
  }
}

pg_noinline int64_t NumberOfNextRange(Oid fn_oid, SegmentUse *use) {
  NodeBlock *node = ThisNode(fn_oid, use->key.extension);
  int64_t number = 0;
  CountFailure(node, &Counters::failed_segment_calls, [&] { number = WaitForNumber(node, fn_oid, use); });
  return number;
}

SegmentUse *UseSegment(Oid fn_oid, const text *name) {
  const size_t length = VARSIZE_ANY_EXHDR(name);
  if (length == 0 || length > kMaxSegmentName) ReportSegmentName(length);
  if (uses == nullptr) {
    HASHCTL control = {};
    control.keysize = sizeof(SegmentKey);
    control.entrysize = sizeof(SegmentUse);
    uses = hash_create("snowflake segments", 16, &control, HASH_ELEM | HASH_BLOBS);
  }
  SegmentKey key = {};
  key.extension = CallersExtension(fn_oid);
  memcpy(key.name, VARDATA_ANY(name), length);
  bool found = false;
  SegmentUse *use = static_cast<SegmentUse *>(hash_search(uses, &key, HASH_ENTER, &found));
  if (!found) {
    use->length = static_cast<int32_t>(length);
    use->incarnation = 0;
    use->slot = nullptr;
    use->last = 0;
  }
  return use;
}

inline bool IsOf(const SegmentUse *use, const text *name) {
  return static_cast<int32_t>(VARSIZE_ANY_EXHDR(name)) == use->length &&
         memcmp(VARDATA_ANY(name), use->key.name, static_cast<size_t>(use->length)) == 0;
}

}  // namespace

int64_t NextNumber(Oid fn_oid, void **place, const text *name) {
  SegmentUse *use = static_cast<SegmentUse *>(*place);
  if (unlikely(use == nullptr || !IsOf(use, name))) *place = use = UseSegment(fn_oid, name);
  Look look = {};
  if (use->slot == nullptr || !TakeFrom(use->slot, use->incarnation, &look) || !look.taken)
    look.number = NumberOfNextRange(fn_oid, use);
  else if (unlikely(look.wanted))
    WakeKeeperOrAsk(ThisNode(fn_oid, use->key.extension));
  return use->last = look.number;
}

int64_t LastNumber(Oid fn_oid, const text *name) { return UseSegment(fn_oid, name)->last; }

void NoteSegmentCreated() { created_in = GetTopFullTransactionId(); }

}  // namespace snowflake
