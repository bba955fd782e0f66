// Takes numbers from the slots of segments, and waits for the keeper if there are none.
//
// 1. Each call takes one number, under the slot's mutex. So numbers rise within a node in the order
//    of calls, and none is lost with a session.
// 2. The range was committed in the registry before the node got it. The black box does not keep
//    it: after a crash its rest is a gap.
// 3. The keeper acquires ranges. A call that finds no number waits for it, as for a lease.
#include "pg/issue/segments.h"

#include "pg/extension.h"
#include "pg/issue/caller.h"
#include "pg/issue/launch.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/state_block.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
struct SegmentKey {
  Oid extension;
  char name[kMaxSegmentName + 1];
};

// Who may use a segment's numbers: roles with the privileges of this role of this server.
struct Usage {
  uint32_t changes;
  char role[kMaxRoleName + 1];  // empty: every role
};

// A segment of which this process has issued a number.
struct SegmentUse {
  SegmentKey key;
  int32_t length;      // of the name
  SegmentRef segment;  // .slot is nullptr: not looked for yet
  Usage usage;         // as the slot had it when this process last read it
  int64_t last;        // 0: none yet
};

HTAB *uses = nullptr;
FullTransactionId created_in = {};

// A segment that was not used for this long makes room for another.
constexpr int64_t kIdleUs = 10 * 1000 * 1000;

// One call's wait.
struct NumberWait {
  KeeperWait keeper;
  int64_t asked;  // of the slot, when the call came to it
  uint32_t incarnation;
};

struct NumberAttempt {
  bool taken;
  int64_t number;
  bool wanted;  // a range, of the keeper
  int64_t asked;
  int64_t answered;
  SegmentAnswer answer;
  bool usage_changed;  // since this process read it: nothing was taken
};

inline void TakeOne(SegmentSlot *slot, NumberAttempt *attempt) SNOWFLAKE_HOLDS(slot->mutex) {
  slot->used = true;
  attempt->taken = TakeNumber(&slot->ranges, &attempt->number);
  if (attempt->taken && likely(!IsDue(slot->ranges))) return;
  Want(&slot->ranges);
  attempt->wanted = slot->ranges.wanted;
}

// Catalogs cannot be read under the mutex. So a call checks the role that this process has read
// before, and takes a number only if the slot still has that role.
inline bool MayUse(const Usage &usage) {
  if (likely(usage.role[0] == '\0')) return true;
  const Oid role = get_role_oid(usage.role, true);
  return OidIsValid(role) ? has_privs_of_role(GetUserId(), role) : superuser();
}

void CheckUsage(const SegmentUse *use) {
  if (MayUse(use->usage)) return;
  const Oid role = get_role_oid(use->usage.role, true);
  const bool known = OidIsValid(role);
  const bool inherits_not = known && is_member_of_role(GetUserId(), role);
  const char *user = GetUserNameFromId(GetUserId(), false);
  const char *grant = psprintf("GRANT %s TO %s;", quote_identifier(use->usage.role), quote_identifier(user));
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for segment \"%s\"", use->key.name),
           known ? errdetail("Its usage_role is \"%s\", and role \"%s\" does not have the privileges of that role.",
                             use->usage.role, user)
                 : errdetail("Its usage_role is \"%s\", and this server has no role of that name, so only superusers "
                             "may use the numbers here.",
                             use->usage.role),
           inherits_not ? errhint("Run: SET ROLE %s;", quote_identifier(use->usage.role))
           : known      ? errhint("As a superuser or a role that may grant it, run: %s", grant)
                        : errhint("Create the role on this server, and run: %s", grant)));
}

// False if the slot has gone to another segment.
inline bool TakeFrom(const SegmentUse *use, NumberAttempt *attempt) {
  SegmentSlot *slot = use->segment.slot;
  return WithSegment(use->segment, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
    if (likely(slot->usage_changes == use->usage.changes)) TakeOne(slot, attempt);
  });
}

// Takes a number also from the next range, and with the keeper's last answer.
bool TakeFromNext(SegmentUse *use, NumberAttempt *attempt) {
  const int64_t now_us = SteadyUs();
  SegmentSlot *slot = use->segment.slot;
  return WithSegment(use->segment, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
    attempt->usage_changed = slot->usage_changes != use->usage.changes;
    if (attempt->usage_changed) {
      use->usage.changes = slot->usage_changes;
      memcpy(use->usage.role, slot->usage_role, sizeof(use->usage.role));
      return;
    }
    slot->used_us = now_us;
    if (slot->ranges.current.left == 0) UseNext(&slot->ranges, now_us);
    TakeOne(slot, attempt);
    attempt->asked = slot->asked;
    attempt->answered = slot->answered;
    attempt->answer = slot->answer;
  });
}

void WakeKeeperOrAsk(NodeBlock *node) {
  if (!WakeKeeper(node)) EnsureKeeper(node);
}

[[noreturn]] void ReportNoNumbers(const KeeperWait &wait, const char *segment, const RegistryError &error) {
  CheckKeeper(wait, kNoNumbers, psprintf("numbers of segment \"%s\"", segment));
  ereport(ERROR,
          (errcode(kNoNumbers), errmsg("segment \"%s\" has no numbers left on this node", segment),
           DetailOfRegistry(wait, error),
           errhint("%s", error.standby
                             ? kStandbyToDo
                             : "The keeper goes on trying; numbers flow as soon as the registry allocates a range.")));
}

void WaitForRange(NodeBlock *node, NumberWait *wait, const char *name) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeSegment");
  if (WaitForKeeper(node, &wait->keeper, event)) return;
  ReportNoNumbers(wait->keeper, name, NewestError(node, &NodeBlock::ranges_error));
}

[[noreturn]] void ReportTooManySegments() {
  ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many segments are in use"),
                  errdetail("All %d entries in shared memory (snowflake.max_segments) were used a moment ago.",
                            SegmentSlots()),
                  errhint("Raise snowflake.max_segments and restart the server. If the library is not preloaded, add "
                          "it to shared_preload_libraries first.")));
}

// Asks a keeper, perhaps another database's, to release an idle segment's numbers and its slot.
void AskForSlot(const SegmentRef &idle) {
  Oid database = InvalidOid;
  const int64_t now_us = SteadyUs();
  bool is_idle = false;
  SegmentSlot *slot = idle.slot;
  const bool is_its = WithSegment(idle, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
    is_idle = slot->leaving || (!slot->used && now_us - slot->used_us >= kIdleUs);
    if (is_idle) slot->leaving = true;
    database = slot->database;
  });
  if (!is_its) return;
  if (!is_idle) {
    for (int i = 0; i < SegmentSlots(); ++i) {
      SegmentSlot *other = SegmentSlotAt(i);
      WithMutex(other, [&]() SNOWFLAKE_HOLDS(other->mutex) { NoteUse(other, now_us); });
    }
    ReportTooManySegments();
  }
  NodeBlock *node = FindNode(database);
  // Without a keeper, the numbers are lost.
  if (node == nullptr || !WakeKeeper(node)) FreeSegment(idle);
}

void FindSlot(NodeBlock *node, SegmentUse *use, NumberWait *wait) {
  use->usage = {};
  for (;;) {
    SegmentRef idle = {};
    use->segment = FindSegment(use->key.extension, use->key.name);
    if (use->segment.slot == nullptr) use->segment = FindOrMakeSegment(use->key.extension, use->key.name, &idle);
    if (use->segment.slot != nullptr) return;
    AskForSlot(idle);
    CHECK_FOR_INTERRUPTS();
    if (wait->keeper.since_us != 0 && MonotonicUs() - wait->keeper.since_us >= settings.start_timeout_ms * kUsPerMs)
      ReportTooManySegments();
    WaitForRange(node, wait, use->key.name);
  }
}

// Raises the keeper's answer, if it is to a question asked after the call began.
void CheckAnswer(const SegmentUse *use, const NumberAttempt &attempt, const NumberWait &wait) {
  if (attempt.answered <= wait.asked) return;
  if (attempt.answer == SegmentAnswer::kUsedUp)
    ereport(
        ERROR,
        (errcode(kSegmentUsedUp), errmsg("segment \"%s\" is used up", use->key.name),
         errdetail("The registry has allocated all numbers up to the segment's max_value."),
         errhint("If larger numbers fit, UPDATE snowflake_segment SET max_value = ... in the registry's database.")));
  if (attempt.answer != SegmentAnswer::kNoSegment) return;
  if (FullTransactionIdIsValid(created_in) && FullTransactionIdEquals(created_in, GetTopFullTransactionIdIfAny()))
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("segment \"%s\" has no numbers in the transaction that created it", use->key.name),
             errdetail("The keeper cannot see it until that transaction is committed."), errhint("Commit first.")));
  NodeBlock *node = FindNode(MyDatabaseId);
  char known[sizeof(node->segments_known)];
  WithLock(node, LW_SHARED, [&] { memcpy(known, node->segments_known, sizeof(known)); });
  ReportNoSegment(use->key.name, MaySeeSegments(use->key.extension, GetUserId()) ? known : nullptr);
}

int64_t WaitForNumber(NodeBlock *node, Oid fn_oid, SegmentUse *use) {
  NumberWait wait = {};
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (use->segment.slot == nullptr) FindSlot(node, use, &wait);
    CheckUsage(use);
    NumberAttempt attempt = {};
    if (!TakeFromNext(use, &attempt)) {
      use->segment = {};
      continue;
    }
    if (attempt.usage_changed) continue;
    if (attempt.taken) {
      if (wait.keeper.since_us != 0) ConditionVariableCancelSleep();
      if (attempt.wanted) WakeKeeperOrAsk(node);
      return attempt.number;
    }
    if (wait.incarnation != use->segment.incarnation) {
      wait.incarnation = use->segment.incarnation;
      wait.asked = attempt.asked;
    }
    CheckAnswer(use, attempt, wait);
    CheckRegistryMayAnswer(fn_oid, use->key.extension);
    WaitForRange(node, &wait, use->key.name);
  }
}

pg_noinline int64_t NumberOfNextRange(Oid fn_oid, SegmentUse *use) {
  NodeBlock *node = ThisNode(fn_oid, use->key.extension);
  int64_t number = 0;
  CountFailure(node, &Counters::failed_segment_calls, [&] { number = WaitForNumber(node, fn_oid, use); });
  return number;
}

SegmentUse NewUse(Oid fn_oid, const text *name) {
  const size_t length = VARSIZE_ANY_EXHDR(name);
  CheckSegmentName(length);
  SegmentUse use = {};
  use.key.extension = CallersExtension(fn_oid);
  memcpy(use.key.name, VARDATA_ANY(name), length);
  use.length = static_cast<int32_t>(length);
  return use;
}

SegmentUse *UseOf(const SegmentKey &key, HASHACTION action) {
  if (uses == nullptr) {
    HASHCTL control = {};
    control.keysize = sizeof(SegmentKey);
    control.entrysize = sizeof(SegmentUse);
    uses = hash_create("snowflake segments", 16, &control, HASH_ELEM | HASH_BLOBS);
  }
  return static_cast<SegmentUse *>(hash_search(uses, &key, action, nullptr));
}

inline bool HasName(const SegmentUse *use, const text *name) {
  return static_cast<int32_t>(VARSIZE_ANY_EXHDR(name)) == use->length &&
         memcmp(VARDATA_ANY(name), use->key.name, static_cast<size_t>(use->length)) == 0;
}

}  // namespace

int64_t NextNumber(Oid fn_oid, void **kept, const text *name) {
  SegmentUse *use = static_cast<SegmentUse *>(*kept);
  if (unlikely(use == nullptr || !HasName(use, name))) {
    SegmentUse fresh = NewUse(fn_oid, name);
    *kept = use = UseOf(fresh.key, HASH_FIND);
    if (use == nullptr) {
      fresh.last = NumberOfNextRange(fn_oid, &fresh);
      *kept = use = UseOf(fresh.key, HASH_ENTER);
      *use = fresh;
      return fresh.last;
    }
  }
  NumberAttempt attempt = {};
  if (use->segment.slot == nullptr || !MayUse(use->usage) || !TakeFrom(use, &attempt) || !attempt.taken)
    attempt.number = NumberOfNextRange(fn_oid, use);
  else if (unlikely(attempt.wanted))
    WakeKeeperOrAsk(ThisNode(fn_oid, use->key.extension));
  return use->last = attempt.number;
}

int64_t LastNumber(Oid fn_oid, const text *name) {
  const SegmentUse *use = UseOf(NewUse(fn_oid, name).key, HASH_FIND);
  if (use == nullptr) return 0;
  CheckUsage(use);
  return use->last;
}

void NoteSegmentCreated() { created_in = GetTopFullTransactionId(); }

}  // namespace snowflake
