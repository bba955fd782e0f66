// All that a registry decides: which worker id a lease gets, which lease expires, what becomes of a
// window and of a watermark, and what it holds back because commits may be lost (settling).
//
// The worker ids of a layout, or of one datacenter, are a ring: slots 0 to n - 1. Its lower two
// thirds are the common part, the rest is the reserve.
//
// 1. A new window starts above the watermark: no lower than the last tick that may have been used.
// 2. A window's end does not fall.
// 3. Leases are acquired from the common part, or while the registry settles after a loss from the
//    reserve. So lost leases and later ones differ in worker id, however many restarts were lost.
// 4. A life of a registry begins with the first exchange that finds another start, timeline,
//    system identifier or database than the recorded one, and is recorded before it assigns
//    anything. Lease ids then jump by random strides. An id in use that is skipped, or above all
//    that were assigned, proves a loss, however far above.
// 5. A restarted server may have older files, which it cannot detect, and a copied database has an
//    original. So it goes on at a random slot of the farther half of the common part, in the other
//    direction: away from what the same files acquired elsewhere, which went on from the old slot.
//    What never acquired anything may be a template of many, and begins at a random slot.
//    A server that was reverted with its memory has the same life, and its wall clock steps as soon
//    as it is set right: from then on this holds as after a restart.
// 6. Settling lasts as long as any lease can that the registry may have assigned. Until its end
//    nothing expires, because a lost extend makes a row look older than its lease.
// 7. Settling is counted by the monotonic clock. What is left is recorded every second, because a
//    start of the server has a monotonic clock of its own.
// 8. Settling leaves a floor for new windows, above every window that may have been lost, so that a
//    clock that steps back later brings none of them back. It is of a confirmed time.
//
// Locking: the server calls this under the registry's lock. Clocks are passed in.
#pragma once

#include <cstdint>

#include "core/exchange.h"
#include "core/kept_time.h"

namespace snowflake {
// More leases than one life assigns. The direction on the ring alternates with each stride.
inline constexpr int64_t kLeaseIdStride = int64_t{1} << 22;

// A life begins up to twice as many strides further on. The more there are, the less likely two
// servers with the same files use the same ids. The random bits above choose the slot.
inline constexpr uint64_t kMostStrides = 1 << 14;

// Spreads a time over 64 bits.
inline constexpr uint64_t kMixer = 0x9E3779B97F4A7C15u;

// Lease ids that nodes name raise the registry's own by no more in one life, or after one step of
// the clock, so that a role cannot use up the numbers. Five hundred lost lives fit in, and 2^16
// such raises into the lease ids.
inline constexpr int64_t kFarthestRaise = int64_t{1} << 46;

// How often a registry records how long it settles yet: a start of its server repeats that much.
inline constexpr int64_t kCountedUs = int64_t{1000} * kUsPerMs;

// Planned switchovers take seconds. An older mark is of a cold copy, whose original went on.
inline constexpr int64_t kCleanLastsUs = int64_t{10} * 60 * 1000 * kUsPerMs;

// --- Lives ---

struct Here {
  int64_t system_identifier;
  int64_t timeline;
  int64_t started_us;
  int64_t database_oid;
  ClockReading clock;
};

// Lease ids above the one, up to the other: only lost leases have them.
struct SkippedIds {
  int64_t from, to;

  constexpr bool Has(int64_t lease_id) const { return lease_id > from && lease_id <= to; }
};

// What the registry has recorded about itself: snowflake_origin.
struct Origin {
  bool found;

  // Of server and database when the last life began. 0 as the start: none has begun.
  int64_t system_identifier;
  int64_t timeline;
  int64_t started_us;
  int64_t database_oid;
  int64_t clean_us;  // when it was shut down cleanly; 0: it was not, or something came after

  int64_t last_lease_id;  // the highest of a lease that is not lost
  SkippedIds jumped;      // when the life began, ...
  SkippedIds stepped;     // ... and when the wall clock stepped
  int64_t leases_begun;            // as many are in the registry, or have left it for a watermark
  Tick raised_tick;

  int64_t longest_us;        // the longest lease duration requested; 0: none
  int64_t settling_us;       // for how long it settles, in all; 0: it has left its floor, or none is due
  int64_t settling_left_us;  // ... and for how long yet, when the monotonic clock showed
  int64_t counted_us;        // ... this, in this life
  int64_t settles_until_us;  // the same by the wall clock, for people; 0: it does not settle
  int64_t floor_us;          // new windows begin above; 0: there is none
  bool loss_known;           // a loss was noticed in this life: skipped ids prove the same one
  int64_t settle_called_us;  // when the operator last reported lost commits
  KeptTime time;
};

enum class Loss {
  kNone,
  kFailover,
  kOtherSystem,
  kEmptyOrigin,
  kEmptyTables,  // of leases, watermarks or both
  kLease,        // a node has one that the registry does not know, ...
  kHeldEnd,      // ... or an end of its window, ...
  kRange,        // ... or a number of a segment
  kSettleCall,   // the operator reported it
};

constexpr bool IsInPlace(const Origin &origin, const Here &here) {
  return origin.found && origin.system_identifier == here.system_identifier && origin.timeline == here.timeline &&
         origin.started_us == here.started_us && origin.database_oid == here.database_oid;
}

// The mark proves that the previous timeline ended with it. A new system identifier proves nothing:
// pg_upgrade may have made the cluster from a copy, while the original went on.
constexpr bool WasHandedOver(const Origin &origin, const Here &here) {
  const int64_t now_us = here.clock.wall_us;
  return origin.clean_us > now_us - kCleanLastsUs && origin.clean_us < now_us + kCleanLastsUs && origin.clean_us != 0 &&
         origin.system_identifier == here.system_identifier && here.timeline == origin.timeline + 1;
}

constexpr int64_t CommonSize(int64_t ring_size) { return ring_size - ring_size / 3; }

constexpr bool TurnsBack(int64_t lease_id) { return lease_id / kLeaseIdStride % 2 != 0; }

// The first slot of the common part that is tried for the lease with this id.
constexpr int64_t StartSlot(int64_t lease_id, int64_t common) {
  SNOWFLAKE_ASSERT(lease_id >= 0 && common > 0);
  const int64_t slot = lease_id % common;
  return TurnsBack(lease_id) ? common - 1 - slot : slot;
}

// Where a life begins on the ring.
enum class Place {
  kSame,     // with the slot and direction of the last one
  kFarther,  // at a slot of the farther half, in the other direction
  kAny,
};

// The id from which they go on.
constexpr int64_t JumpFrom(int64_t last, int64_t common, Place place, uint64_t random) {
  if (last >= kHighestLeaseId) return last;
  const int64_t chance = static_cast<int64_t>(random / kMostStrides);
  const int64_t half = common / 2;
  // One more, because the next lease is a step back from there.
  const int64_t by = place == Place::kFarther ? half + 1 + chance % (common - half)
                     : place == Place::kAny   ? chance % common
                                              : 0;
  const int64_t from = StartSlot(last, common);
  const int64_t slot = (from + (TurnsBack(last) ? common - by : by)) % common;
  const int64_t strides = 2 * static_cast<int64_t>(random % kMostStrides + 1) + (place == Place::kFarther ? 1 : 0);
  const int64_t floor = (last / kLeaseIdStride + strides) * kLeaseIdStride;
  const int64_t remainder = TurnsBack(floor) ? common - 1 - slot : slot;
  const int64_t next = floor + (remainder - floor % common + common) % common;
  SNOWFLAKE_ASSERT(next > last && StartSlot(next, common) == slot);
  return next;
}

// If nothing was assigned since ids were skipped last, what was skipped then stays skipped. A
// virtual machine that is reverted to one snapshot twice has the same random numbers again, but not
// the same time.
constexpr void Skip(Origin *origin, SkippedIds *skipped, const Here &here, int64_t ring_size, Place place,
                    uint64_t random) {
  const uint64_t mixed = random ^ static_cast<uint64_t>(here.clock.wall_us) * kMixer;
  if (origin->last_lease_id != skipped->to) skipped->from = origin->last_lease_id;
  skipped->to = origin->last_lease_id = JumpFrom(origin->last_lease_id, CommonSize(ring_size), place, mixed);
}

// Its leases prove no other loss.
constexpr void ForgetLoss(Origin *origin) {
  origin->jumped.from = origin->jumped.to;
  origin->stepped.from = origin->stepped.to;
  origin->loss_known = false;
}

// To be called unless IsInPlace(). Returns the loss that it notices. A database that was copied is
// like a server that was restarted: nothing was lost, and its original goes on.
constexpr Loss BeginLife(Origin *origin, const Here &here, int64_t ring_size, uint64_t random) {
  const bool same_system = origin->system_identifier == here.system_identifier;
  const bool restarted = same_system && origin->timeline == here.timeline;
  const bool lossless = restarted || WasHandedOver(*origin, here);
  const Place place = origin->started_us == 0 ? Place::kAny : restarted ? Place::kFarther : Place::kSame;
  if (origin->loss_known) ForgetLoss(origin);
  Skip(origin, &origin->jumped, here, ring_size, place, random);
  origin->system_identifier = here.system_identifier;
  origin->timeline = here.timeline;
  origin->started_us = here.started_us;
  origin->database_oid = here.database_oid;
  origin->clean_us = 0;
  origin->counted_us = here.clock.steady_us;
  origin->time = KeptSince(here.clock);
  if (lossless) return Loss::kNone;
  return same_system ? Loss::kFailover : Loss::kOtherSystem;
}

// How many promotions led from that record to this server, if it noticed this loss.
constexpr int64_t PromotionsSince(const Origin &record, const Here &here, Loss loss) {
  if (loss == Loss::kOtherSystem || loss == Loss::kEmptyOrigin) return 1;
  if (loss != Loss::kFailover) return 0;
  return here.timeline > record.timeline ? here.timeline - record.timeline : 1;
}

// --- Settling ---

constexpr const SkippedIds &NewestSkipped(const Origin &origin) {
  return origin.stepped.to > origin.jumped.to ? origin.stepped : origin.jumped;
}

// The highest lease id that ids rise above before they skip the next time. One beyond it proves a
// loss, too, but its lease is not adopted, and its node acquires another one.
constexpr int64_t HighestRaise(const Origin &origin) { return NewestSkipped(origin).to + kFarthestRaise; }

// Whether a node with this lease proves an unknown loss of commits, or ids have to rise.
constexpr bool IsEvidence(const Origin &origin, int64_t named) {
  if (named > origin.last_lease_id)
    return named <= kHighestLeaseId && (!origin.loss_known || named <= HighestRaise(origin));
  return !origin.loss_known && (origin.jumped.Has(named) || origin.stepped.Has(named));
}

// Ids go on above all that were lost with this one. Two strides keep the direction.
constexpr void GoAbove(Origin *origin, int64_t named) {
  if (named > origin->last_lease_id && named <= HighestRaise(*origin))
    origin->last_lease_id = named + 2 * kLeaseIdStride;
}

constexpr int64_t SettlingLeftUs(const Origin &origin, const Here &here) {
  const int64_t left_us = origin.settling_left_us - (here.clock.steady_us - origin.counted_us);
  return left_us > 0 ? left_us : 0;
}

constexpr bool IsFloorDue(const Origin &origin, const Here &here) {
  return origin.settling_us > 0 && SettlingLeftUs(origin, here) == 0 && IsConfirmed(origin.time, here.clock);
}

// To be called before PassTime(), with a record of this life: if the wall clock has stepped against
// the monotonic one, ids skip as at a restart. While the registry settles, it has noticed the loss.
constexpr void NoticeStep(Origin *origin, const Here &here, int64_t ring_size, uint64_t random) {
  SNOWFLAKE_ASSERT(IsInPlace(*origin, here));
  if (!HasStepped(origin->time, here.clock)) return;
  if (origin->loss_known && SettlingLeftUs(*origin, here) == 0) ForgetLoss(origin);
  SkippedIds *skipped = origin->last_lease_id == origin->jumped.to ? &origin->jumped : &origin->stepped;
  Skip(origin, skipped, here, ring_size, Place::kFarther, random);
}

// The floor is of the present, less what a node's clock may be behind. So with clocks that are
// right it delays no window.
constexpr void PassTime(Origin *origin, const Here &here, int64_t skew_us) {
  SNOWFLAKE_ASSERT(IsInPlace(*origin, here));  // or its monotonic clock is another one
  origin->settling_left_us = SettlingLeftUs(*origin, here);
  origin->counted_us = here.clock.steady_us;
  const int64_t until_us = origin->settling_left_us > 0 ? here.clock.wall_us + origin->settling_left_us : 0;
  if (until_us - origin->settles_until_us > kLeapUs || until_us - origin->settles_until_us < -kLeapUs)
    origin->settles_until_us = until_us;
  origin->time = After(origin->time, here.clock);
  if (!IsFloorDue(*origin, here)) return;
  origin->settling_us = 0;
  if (here.clock.wall_us - skew_us > origin->floor_us) origin->floor_us = here.clock.wall_us - skew_us;
}

// Whether that is to be recorded.
constexpr bool HasPassed(const Origin &origin, const Here &here) {
  if (!(After(origin.time, here.clock) == origin.time)) return true;
  if (origin.settling_left_us == 0) return IsFloorDue(origin, here);
  return here.clock.steady_us - origin.counted_us >= kCountedUs || SettlingLeftUs(origin, here) == 0;
}

// Whether there is anything to record before an exchange of a node with this lease.
constexpr bool HasNews(const Origin &origin, const Here &here, int64_t named) {
  return !IsInPlace(origin, here) || IsEvidence(origin, named) || HasPassed(origin, here);
}

// ... even if nothing can be assigned. If nobody else has an exchange that succeeds, settling would
// begin anew at each start of the server.
constexpr bool IsUrgent(const Origin &origin, const Here &here, int64_t named) {
  const bool counted = origin.settling_left_us == 0 || here.clock.steady_us - origin.counted_us < 10 * kCountedUs;
  return !IsInPlace(origin, here) || IsEvidence(origin, named) || !counted;
}

// Until any lost lease has expired by the clock of its node, and any new one begins later: the two
// clocks may differ by twice the skew. Nothing shortens it.
constexpr void Settle(Origin *origin, const Here &here, int64_t own_lease_us, int64_t skew_us) {
  SNOWFLAKE_ASSERT(IsInPlace(*origin, here));
  const int64_t longest_us = origin->longest_us > own_lease_us ? origin->longest_us : own_lease_us;
  const int64_t left_us = SettlingLeftUs(*origin, here);
  origin->settling_us = longest_us + 2 * skew_us > left_us ? longest_us + 2 * skew_us : left_us;
  origin->settling_left_us = origin->settling_us;
  origin->counted_us = here.clock.steady_us;
  origin->settles_until_us = here.clock.wall_us + origin->settling_left_us;
  origin->loss_known = true;
}

struct Settling {
  bool active;
  bool noticed;     // there is a record to be committed, whatever else fails
  bool holds_back;  // half of it is not over: the common part is not used
  bool downwards;   // the reserve is used from its upper end on
  uint64_t start;   // chooses the slot in the first quarter

  // By the wall clock, for people.
  int64_t half_us;
  int64_t until_us;
};

// Timelines alternate between the ends of the reserve, because leases of settling can be lost, too.
constexpr Settling SettlingOf(const Origin &origin, const Here &here, bool noticed) {
  const int64_t left_us = SettlingLeftUs(origin, here), second_us = origin.settling_us / 2;
  if (left_us == 0) return {};
  const uint64_t start = static_cast<uint64_t>(NewestSkipped(origin).to) * kMixer >> 32;
  const int64_t until_us = here.clock.wall_us + left_us;
  return {true, noticed, left_us > second_us, origin.timeline % 2 != 0, start, until_us - second_us, until_us};
}

// --- Clocks ---

// By how many ticks two clocks may differ.
constexpr Tick SkewTicks(const Layout &layout, int64_t skew_us) { return layout.TicksIn(skew_us) + 1; }

constexpr bool IsNear(const Layout &layout, Tick tick, int64_t us, int64_t skew_us) {
  const Tick at = layout.TickAt(us), allowed = SkewTicks(layout, skew_us);
  return tick >= at - allowed && tick <= at + allowed;
}

// Whether a node's clock may be right: the registry's shows that time, or did before it stepped. A
// leap that the node does not follow yet is right only by a confirmed time, or one bad time server
// of both would confirm itself.
constexpr bool AcceptsClock(const Layout &layout, const KeptTime &time, const ClockReading &clock, Tick now, bool leapt,
                            int64_t skew_us) {
  if (leapt && !IsConfirmed(time, clock)) return false;
  return IsNear(layout, now, clock.wall_us, skew_us) || IsNear(layout, now, HeldUs(time, clock), skew_us);
}

// Whether the clock of a node that extends a lease in use is accepted. Such a node goes on though
// the registry's clock is wrong. But a clock that is ahead of it by more than a window could be
// ahead by ever more.
constexpr bool AcceptsHolder(const Layout &layout, const KeptTime &time, const ClockReading &clock, Tick now,
                             Tick window_start, Tick window_end, int64_t duration_us) {
  const Tick latest = layout.TickAt(LatestUs(time, clock)) + layout.TicksIn(duration_us);
  return now >= window_start && now < window_end && now <= latest;
}

// --- The choice of a worker id ---

// A lease or a watermark at a slot of the ring.
struct Taken {
  int64_t slot;
  int64_t lease_id;  // 0: a watermark
  Tick window_end;   // of the lease
  Tick watermark;    // if there is no lease
};

enum class Chosen {
  kFree,      // neither leased nor excluded: its watermark is still to be read
  kHeldBack,  // the same, although a lost commit may have assigned it
  kExpired,   // once that lease has become a watermark
  kLater,     // all are excluded for now: the one that may be used first
  kNone,
};

struct Choice {
  Chosen what;
  int64_t slot;
  int64_t lease_id;  // kExpired
  Tick watermark;    // kLater
};

// The slots from `from` to before `to`, in either direction. Taken ones are offered ascending.
class Stretch {
 public:
  constexpr Stretch(int64_t from, int64_t to, bool downwards) : next_(from), to_(to), downwards_(downwards) {
    SNOWFLAKE_ASSERT(from >= 0 && from <= to);
  }

  constexpr void Offer(int64_t slot) {
    if (slot < next_ || slot >= to_) return;
    if (slot > next_ && downwards_) free_ = slot - 1;
    if (slot > next_ && !downwards_ && free_ < 0) free_ = next_;
    next_ = slot + 1;
  }

  // The first slot that is free; -1: none.
  constexpr int64_t FirstFree() const {
    if (next_ == to_ || (free_ >= 0 && !downwards_)) return free_;
    return downwards_ ? to_ - 1 : next_;
  }

 private:
  int64_t next_;
  int64_t to_;
  bool downwards_;
  int64_t free_ = -1;
};

// The order in which the slots of a ring are tried: by the numbers, and in the direction of the
// arrows. S is the slot that the lease id gives. With each restart the arrows in the common part
// turn round.
//
//     slot         0                  S                 2n/3        middle      n - 1
//                  |----------- common part ------------|------- reserve -------|
//     ordinarily   |2 >>>>>>>>>>>>>>>>|1 >>>>>>>>>>>>>>>|<<<<<<<<< 4|3 >>>>>>>>>|
//
//     settling, at an even timeline                     |2 >|1 >>>>>>>>>>>>>>>>>|
//     settling, at an odd timeline                      |<<<<<<<<<<<<<<<<< 1|< 2|
//     settling, if half of it has passed and the reserve is used up
//                  |<<<<<<<<<<<<<<<< 3|<<<<<<<<<<<<<<< 4|
struct Order {
  Stretch stretches[4];
};

// The common part from its slot on; then the reserve from its middle, which settling uses last.
constexpr Order OrdinaryOrder(int64_t ring_size, int64_t lease_id) {
  const int64_t common = CommonSize(ring_size), middle = common + ring_size / 6;
  const int64_t slot = StartSlot(lease_id, common);
  const Stretch up = {middle, ring_size, false}, down = {common, middle, true};
  if (TurnsBack(lease_id)) return {{{0, slot + 1, true}, {slot + 1, common, true}, up, down}};
  return {{{slot, common, false}, {0, slot, false}, up, down}};
}

// The reserve from a slot near one end to the other, and the rest of it; then the common part
// backwards, because lost leases follow the newest known one.
constexpr Order SettlingOrder(int64_t ring_size, int64_t lease_id, const Settling &settling) {
  const int64_t common = CommonSize(ring_size), quarter = ring_size / 12;
  const int64_t skipped = quarter > 0 ? static_cast<int64_t>(settling.start % static_cast<uint64_t>(quarter)) : 0;
  const int64_t start = settling.downwards ? ring_size - skipped : common + skipped;
  const int64_t slot = StartSlot(lease_id, common);
  const Stretch above = {start, ring_size, false}, below = {common, start, true};
  const Stretch &first = settling.downwards ? below : above, &second = settling.downwards ? above : below;
  if (TurnsBack(lease_id)) return {{first, second, {slot + 1, common, false}, {0, slot + 1, false}}};
  return {{first, second, {0, slot, true}, {slot, common, true}}};
}

// Chooses the first slot in that order that is free, only in the reserve during the first half of
// settling; else the lease whose window has been over for longest, unless it settles; else the slot
// with the lowest watermark.
//
// Slots that are taken are offered in ascending order, a lease before the watermark of its worker
// id. Windows that end by tick `over` are over.
class Choosing {
 public:
  constexpr Choosing(int64_t ring_size, int64_t lease_id, const Settling &settling, Tick now, Tick over)
      : reserve_from_(CommonSize(ring_size)),
        settling_(settling),
        now_(now),
        over_(over),
        order_(settling.active ? SettlingOrder(ring_size, lease_id, settling) : OrdinaryOrder(ring_size, lease_id)) {}

  constexpr void Offer(const Taken &taken) {
    SNOWFLAKE_ASSERT(taken.slot >= last_);
    const bool leased = taken.lease_id != 0;
    if (taken.slot == last_ || (!leased && taken.watermark < now_)) return;
    last_ = taken.slot;
    for (Stretch &stretch : order_.stretches) stretch.Offer(taken.slot);
    if (!leased)
      OfferWatermark(taken);
    else
      OfferLease(taken);
  }

  constexpr Choice Finish() const {
    for (int i = 0; i < 4; ++i) {
      const int64_t slot = order_.stretches[i].FirstFree();
      const bool held_back = settling_.active && i >= 2;
      if (slot < 0 || (held_back && settling_.holds_back)) continue;
      return {held_back ? Chosen::kHeldBack : Chosen::kFree, slot, 0, 0};
    }
    if (!settling_.active && expired_.lease_id != 0) return {Chosen::kExpired, expired_.slot, expired_.lease_id, 0};
    if (lowest_ >= 0) return {Chosen::kLater, lowest_, 0, lowest_tick_};
    return {Chosen::kNone, 0, 0, 0};
  }

  // Leases; those whose windows are not over; the earliest end.
  constexpr int64_t leased() const { return leased_; }
  constexpr int64_t live() const { return live_; }
  constexpr Tick first_end() const { return first_end_; }

 private:
  constexpr void OfferLease(const Taken &taken) {
    ++leased_;
    if (taken.window_end < first_end_) first_end_ = taken.window_end;
    if (taken.window_end > over_) {
      ++live_;
      return;
    }
    const bool sooner = taken.window_end < expired_.window_end ||
                        (taken.window_end == expired_.window_end && taken.lease_id < expired_.lease_id);
    if (expired_.lease_id == 0 || sooner) expired_ = taken;
  }

  constexpr void OfferWatermark(const Taken &taken) {
    if (settling_.holds_back && taken.slot < reserve_from_) return;
    if (lowest_ >= 0 && taken.watermark >= lowest_tick_) return;
    lowest_ = taken.slot;
    lowest_tick_ = taken.watermark;
  }

  const int64_t reserve_from_;
  const Settling settling_;
  const Tick now_;
  const Tick over_;
  Order order_;
  int64_t last_ = -1;
  Taken expired_ = {};
  int64_t lowest_ = -1;
  Tick lowest_tick_ = 0;
  int64_t leased_ = 0;
  int64_t live_ = 0;
  Tick first_end_ = INT64_MAX;
};

// By the earlier clock: a node whose clock is ahead must not end the leases of all nodes.
constexpr Tick OverBy(Tick node_now, Tick registry_now) { return node_now < registry_now ? node_now : registry_now; }

// --- The leases of a role ---

// Whether a role has as many leases as it may have; 0: any number. An expired lease counts, because
// an extend revives it.
constexpr bool IsAtLimit(int64_t leases, int64_t limit) { return limit > 0 && leases >= limit; }

// Whether such a role gets another lease in place of this one, which is the one of its leases whose
// window ends first. It becomes a watermark, and its worker id is used again as late as any other.
constexpr bool MakesRoom(Tick window_end, Tick over, const Settling &settling) {
  return !settling.active && window_end <= over;
}

// --- Leases and their ends ---

constexpr Tick FromEpoch(Tick now) { return now > 0 ? now : 0; }

enum class Assignment { kAssigned, kTooLate, kTimeUsedUp };

constexpr int64_t FirstWindowUs(const AcquireRequest &request) {
  return request.duration_us < kFirstWindowUs ? request.duration_us : kFirstWindowUs;
}

// The tick above which new windows begin.
constexpr Tick FloorOf(const Layout &layout, const Origin &origin) {
  const Tick floor = origin.floor_us > 0 ? layout.TickAt(origin.floor_us) : kNoWatermark;
  return floor > origin.raised_tick ? floor : origin.raised_tick;
}

// The window of a new lease on a worker id with this watermark.
constexpr Assignment AssignWindow(const Layout &layout, const AcquireRequest &request, Tick watermark, Tick floor,
                                  Lease *lease) {
  const Tick above = watermark > floor ? watermark : floor;
  lease->window_start = WindowStart(FromEpoch(request.now), above);
  if (request.start_before != kAnyStart && lease->window_start >= request.start_before) return Assignment::kTooLate;
  if (lease->window_start > layout.max_tick()) return Assignment::kTimeUsedUp;
  lease->window_end = WindowEnd(layout, lease->window_start, FirstWindowUs(request));
  SNOWFLAKE_ASSERT(lease->window_start > watermark && lease->window_start > floor && lease->window_start >= 0);
  SNOWFLAKE_ASSERT(lease->window_start < lease->window_end && lease->window_end <= layout.max_tick() + 1);
  return Assignment::kAssigned;
}

// The window's end, unless it has a later one, if an earlier request has acquired the lease.
constexpr Tick EndForAcquired(const Layout &layout, const AcquireRequest &request) {
  return WindowEnd(layout, FromEpoch(request.now), FirstWindowUs(request));
}

// The window's end that a node holds, within the layout.
constexpr Tick HeldUntil(const Layout &layout, Tick held_until) {
  return held_until <= layout.max_tick() ? held_until : layout.max_tick() + 1;
}

// A later end may be of a lost commit; none is beyond `latest`, or nodes could prolong settling.
constexpr bool IsHeldTooFar(Tick held_until, Tick known, Tick latest) {
  return held_until > known && held_until > latest;
}

// The window's end of a lease that is extended, unless it has a later one.
constexpr Tick EndForExtend(const Layout &layout, const ExtendRequest &request) {
  const Tick end = WindowEnd(layout, FromEpoch(request.now), request.duration_us);
  const Tick held_until = HeldUntil(layout, request.held_until);
  return end > held_until ? end : held_until;
}

// Whether an unknown lease is recorded again as its node has it: the registry has passed its id,
// and its worker id was not used since it began. If its window is over, its id must be above those
// of earlier lives: a lease that was lost earlier has ended, and its worker id may by now be that
// of another lost lease.
constexpr bool MayAdopt(const Layout &layout, const ExtendRequest &request, const Origin &origin, Tick watermark) {
  const Tick held_until = HeldUntil(layout, request.held_until);
  const bool lost = request.lease_id > NewestSkipped(origin).from || held_until > FromEpoch(request.now);
  return lost && request.lease_id > 0 && request.lease_id <= origin.last_lease_id && request.worker >= 0 &&
         request.worker < layout.worker_count() && request.window_start > watermark && request.window_start >= 0 &&
         request.window_start < held_until;
}

// The watermark of a lease that expires or is deleted by hand.
constexpr Tick WatermarkOfWindow(Tick window_end) { return window_end - 1; }

// The watermark of a lease that is released: within the window, no lower than the floor. False: its
// last tick is impossible.
constexpr bool WatermarkOfRelease(const Layout &layout, const ReleaseRequest &request, Tick window_start,
                                  Tick window_end, Tick floor, Tick *watermark) {
  const Tick held_until = HeldUntil(layout, request.held_until);
  const Tick end = window_end > held_until ? window_end : held_until;
  if (request.last_tick < window_start - 1 || request.last_tick >= end) return false;
  const Tick least = floor < end - 1 ? floor : end - 1;
  *watermark = request.last_tick > least ? request.last_tick : least;
  SNOWFLAKE_ASSERT(*watermark >= request.last_tick && *watermark < end);
  return true;
}

// The window of a worker id that is set aside: all ticks. It is never over, and no node has it.
constexpr Lease WholeTime(const Layout &layout, int64_t lease_id, int32_t worker) {
  return {lease_id, {}, worker, 0, layout.max_tick() + 1};
}

constexpr bool IsWholeTime(const Layout &layout, Tick window_start, Tick window_end) {
  return window_start == 0 && window_end > layout.max_tick();
}

// The watermark of a lease whose node is dead, and cannot have used a tick after `last_tick` by the
// registry's clock. If the window ends later than one that was requested by that clock at
// `renewed`, the node's clock is ahead, and any tick of the window may be used.
constexpr Tick WatermarkOfEvicted(Tick window_start, Tick window_end, Tick last_tick, Tick latest_end) {
  if (window_end > latest_end) return window_end - 1;
  const Tick used = last_tick > window_start - 1 ? last_tick : window_start - 1;
  return used < window_end - 1 ? used : window_end - 1;
}

}  // namespace snowflake
