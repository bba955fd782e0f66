// Exchanges for ranges of segments.
//
// 1. What the node releases is closed before the registry hears of it. If the registry never does,
//    it is a gap.
// 2. All segments that want a range are in one exchange. After one that failed they are asked for
//    one by one, because the registry may refuse a single segment, or somebody may hold its row.
// 3. A range whose answer is late or never comes is a gap, too; another one is asked for.
#include "pg/keeper/exchanges.h"
#include "pg/keeper/keeping.h"
#include "pg/registry/secrets.h"
#include "pg/registry/segments.h"
#include "pg/report.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// One segment's part of an exchange.
struct Asked {
  SegmentRef segment;
  int64_t asked, floor;
  char name[kMaxSegmentName + 1];
};

struct Collected {
  RangeAsk *asks;
  Asked *parts;
  int count;
};

// Only the keeper and a drop of the segment take the slot away from this database and extension.
bool IsOfThisDatabase(const SegmentSlot &slot) SNOWFLAKE_HOLDS(slot.mutex) {
  return slot.database == MyDatabaseId && slot.extension == keeping.target.extension;
}

void CloseSlot(SegmentSlot *slot, RangeAsk *ask) SNOWFLAKE_HOLDS(slot->mutex) {
  const Range rest = CloseRanges(&slot->ranges);
  ask->highest = rest.left > 0 ? rest.last : Highest(slot->ranges);
  ask->unused = rest.left;
  ask->wanted = -1;
  slot->secret = {};  // the registry is about to be sent it
}

// Frees the slots of segments that have nothing to release.
Collected Collect(bool leaving) {
  Collected all = {};
  const int slots = SegmentSlots();
  const int most = keeping.ranges_failed && !leaving ? 1 : Min(slots, kMostRanges);
  all.asks = static_cast<RangeAsk *>(palloc0(sizeof(RangeAsk) * most));
  all.parts = static_cast<Asked *>(palloc0(sizeof(Asked) * most));
  const int64_t now_us = SteadyUs();
  for (int i = 0; i < slots && all.count < most; ++i) {
    Asked *part = &all.parts[all.count];
    RangeAsk *ask = &all.asks[all.count];
    const int number = (keeping.ranges_from + i) % slots;
    SegmentSlot *slot = SegmentSlotAt(number);
    // Order: none, as in ObserveRanges(), which has seen what is wanted.
    if (slot->database != MyDatabaseId) continue;
    const Secret fresh = NewSecret();
    bool ours = false, empty = false;
    WithMutex(slot, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
      ours = IsOfThisDatabase(*slot) && (leaving || slot->leaving || slot->ranges.wanted);
      if (!ours) return;
      memcpy(part->name, slot->name, sizeof(part->name));
      if (slot->secret == Secret{}) slot->secret = fresh;
      *ask = {part->name, slot->segment_id, Highest(slot->ranges), 0, 0, slot->secret};
      if (leaving || slot->leaving)
        CloseSlot(slot, ask);
      else
        ask->wanted = SizeToAskFor(slot->ranges, now_us, keeping.ranges_us);
      empty = ask->wanted < 0 && ask->unused == 0;
      part->segment = {slot, slot->incarnation};
      part->asked = ++slot->asked;
      part->floor = slot->ranges.floor;
    });
    if (!ours) continue;
    if (empty)
      FreeSegment(part->segment);
    else
      ++all.count;
    if (most == 1) keeping.ranges_from = number + 1;
  }
  return all;
}

// False if the answer is impossible.
bool PutAnswer(SegmentSlot *slot, const Asked &part, const RangeAnswer &answer) SNOWFLAKE_HOLDS(slot->mutex) {
  if (memcmp(slot->usage_role, answer.usage_role, sizeof(slot->usage_role)) != 0) {
    memcpy(slot->usage_role, answer.usage_role, sizeof(slot->usage_role));
    ++slot->usage_changes;
  }
  if (answer.segment_id != slot->segment_id) BeginSegment(&slot->ranges, part.floor);
  slot->segment_id = answer.segment_id;
  slot->answer = answer.segment_id == 0   ? SegmentAnswer::kNoSegment
                 : answer.range.left == 0 ? SegmentAnswer::kUsedUp
                                          : SegmentAnswer::kNumbers;
  if (slot->answer != SegmentAnswer::kNumbers) {
    slot->ranges.wanted = false;
    return true;
  }
  if (!IsPlausible(slot->ranges, answer.range)) return false;
  PutRange(&slot->ranges, answer.range);
  return true;
}

// An ERROR if the registry has gone back to an older timeline.
void JudgeStanding(const Standing &standing) {
  bool older = false;
  RegistrySeen seen = {};
  const int64_t now_us = NowUnixUs();  // a node that issues only numbers has not read its clock
  ChangeNode(keeping.node, [&] {
    seen = keeping.node->state.seen;
    older = IsOlder(standing, seen, now_us);
    if (older) return;
    NoteStanding(&keeping.node->state.seen, standing, now_us);
    keeping.node->state.place = keeping.target.place;
  });
  if (older) ReportOlderTimeline(standing, seen);
}

void PutAnswers(const Collected &all, const RangesAnswer &answer) {
  int wrong = -1;
  for (int i = 0; i < all.count; ++i) {
    const Asked &part = all.parts[i];
    if (all.asks[i].wanted < 0) {
      FreeSegment(part.segment);
      continue;
    }
    WithSegment(part.segment, [&]() SNOWFLAKE_HOLDS(part.segment.slot->mutex) {
      part.segment.slot->answered = part.asked;
      if (!PutAnswer(part.segment.slot, part, answer.answers[i])) wrong = i;
    });
  }
  if (wrong < 0) return;
  const RangeAnswer &given = answer.answers[wrong];
  ReportUnusable(psprintf("It has %lld numbers up to %lld of segment \"%s\", of which this node has already had %lld.",
                          Long(given.range.left), Long(given.range.last), all.parts[wrong].name,
                          Long(all.asks[wrong].highest)));
}

}  // namespace

void ObserveRanges(KeeperView *view) {
  const int64_t now_us = SteadyUs();
  for (int i = 0; i < SegmentSlots(); ++i) {
    SegmentSlot *slot = SegmentSlotAt(i);
    // Order: none. A process that has just taken a slot wakes the keeper, a barrier on both sides.
    if (slot->database != MyDatabaseId) continue;
    WithMutex(slot, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
      if (!IsOfThisDatabase(*slot)) return;
      NoteUse(slot, now_us);
      const Ranges &ranges = slot->ranges;
      view->ranges_wanted |= ranges.wanted || slot->leaving;
      view->numbers_missing |= (ranges.wanted && ranges.current.left == 0) || slot->leaving;
      view->ranges_held |= ranges.current.left > 0 || ranges.next.left > 0;
    });
  }
}

RegistryAnswer ExchangeRanges(bool leaving) {
  pgstat_report_activity(STATE_RUNNING, leaving ? "returning ranges of segments" : "acquiring ranges of segments");
  const Collected all = Collect(leaving);
  if (all.count == 0) return RegistryAnswer::kDone;
  RangesAnswer answer = {};
  answer.answers = static_cast<RangeAnswer *>(palloc0(sizeof(RangeAnswer) * all.count));
  const int64_t since_us = SteadyUs();
  keeping.ranges_failed = true;
  const RangesRequest request = {keeping.node->node_name, keeping.registry->is_here, all.count, all.asks};
  if (!keeping.registry->ranges(&keeping.target, request, leaving, &answer)) return RegistryAnswer::kGone;
  keeping.ranges_us = SteadyUs() - since_us;
  keeping.ranges_failed = false;
  JudgeStanding(answer.standing);
  // A request to stop ends a wait for a synchronous standby without its acknowledgement.
  if (stop_requested && !leaving) return RegistryAnswer::kDone;
  WithLock(keeping.node, LW_EXCLUSIVE,
           [&] { memcpy(keeping.node->segments_known, answer.known, sizeof(answer.known)); });
  PutAnswers(all, answer);
  return RegistryAnswer::kDone;
}

}  // namespace snowflake
