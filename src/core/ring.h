// All that a registry decides: which worker id it hands out, which lease expires, what becomes of a window and of a watermark,
// and what it holds back because commits may be lost (settling). Worker ids are drawn round and round the ring: all of them, or
// one datacenter's, in a circle.
//
// The server reads and writes its tables and calls this under the registry's lock; the simulation has rows of its own. Rows are
// offered one by one. Clocks of the registry are in Unix microseconds, and passed in.
//
// 1. A new window starts above the watermark of its worker id. A watermark is no lower than the last tick that may have been used.
// 2. A window's end does not fall.
// 3. Lost commits drew in the ring's order from the newest lease that is not lost. So places are counted from there, and not from
//    the next number of the sequence, which comes back up to 32 ahead after a promotion; and while it settles, leases are drawn
//    from the cut on, so that a second loss finds those that it took in the nearer half again. They went past what a watermark
//    ruled out at the time, so that is not counted.
// 4. What tells of a loss: another server or timeline than at the last acquire, but for one that was shut down cleanly; a lease or a
//    window's end that a node knows and the registry does not; the operator's word. Then it settles firmly: nothing expires, and
//    the nearer half of what was free is held back. All that tells of one loss halves but once: a server that runs loses nothing.
// 5. A server that was started again, or took over from one that was shut down cleanly, has lost nothing, unless its files are of an
//    earlier day or the other one went on, and nothing on it can tell. Then it settles softly: the nearer half is handed out, too,
//    but last. In the other half it begins at a random place: a server that is started again and again with the same files
//    would always begin at the same one.
#pragma once

#include <cstdint>

#include "core/exchange.h"

namespace snowflake {

// Nodes name every lease that was lost, one after the other. Lease ids go on so far above the first that is named, that what is
// named later shows whether it was lost at the same time. A multiple of every ring of up to 22 bits: the order goes on, too.
inline constexpr int64_t kLeaseIdStride = int64_t{1} << 22;

// Lost commits of a thousand such jumps. What is named further ahead proves no loss: it would use up the numbers.
inline constexpr int64_t kFarthestEvidence = int64_t{1} << 32;

// A planned hand-over takes seconds. A mark of long before is a cold copy's, whose original went on.
inline constexpr int64_t kCleanLastsUs = int64_t{10} * 60 * 1000 * kUsPerMs;

// ---------------------------------------------------------------------------------------------------------------------
// Where the registry's server is, and where it was
// ---------------------------------------------------------------------------------------------------------------------

struct Here {
  int64_t system_identifier;
  int64_t timeline;
  int64_t started_us;
  int64_t clock_us;
};

// What the registry has written down of itself: snowflake_origin.
struct Origin {
  bool found;
  int64_t system_identifier;
  int64_t timeline;
  int64_t started_us;     // of the server at the last acquire; 0: there was none yet
  int64_t clean_us;       // 0: not shut down cleanly since
  int64_t last_lease_id;  // of the newest lease that is not lost
  Tick raised_tick;

  bool settled_before;
  int64_t settles_until_us;
  int64_t settling_us;  // in all
  bool soft;
  int64_t anchor_lease_id;  // places are counted from its place
  int64_t start;            // the place from which leases are drawn; 0: the cut
  const int64_t *cuts;      // of each datacenter: the first place that is not held back
  int32_t cut_count;
};

// How often the server was failed over since that was written down.
constexpr int32_t Failovers(const Origin &origin, const Here &here) {
  if (origin.system_identifier != here.system_identifier || here.timeline < origin.timeline) return 1;
  const int64_t times = here.timeline - origin.timeline;
  return static_cast<int32_t>(times < 62 ? times : 62);
}

// The mark says that nothing came after it. A server that pg_upgrade made has it, too, and the old one may go on.
constexpr bool WasCleanJustNow(const Origin &origin, const Here &here) {
  return origin.clean_us != 0 && origin.clean_us > here.clock_us - kCleanLastsUs &&
         origin.clean_us < here.clock_us + kCleanLastsUs && origin.system_identifier == here.system_identifier;
}

constexpr bool WasRestarted(const Origin &origin, const Here &here) {
  return origin.started_us != 0 && origin.started_us != here.started_us;
}

// Whether it is still where it was at the last acquire.
constexpr bool IsInPlace(const Origin &origin, const Here &here) {
  return !origin.found || (Failovers(origin, here) == 0 && !WasRestarted(origin, here));
}

constexpr bool Settles(const Origin &origin, const Here &here) {
  return origin.settled_before && origin.settles_until_us > here.clock_us;
}

// A server that runs loses nothing: what tells of a loss tells of one of before it started, and that is known.
constexpr bool SettlesSinceStart(const Origin &origin, const Here &here) {
  return Settles(origin, here) && IsInPlace(origin, here);
}

// ---------------------------------------------------------------------------------------------------------------------
// Losses
// ---------------------------------------------------------------------------------------------------------------------

enum class Loss {
  kNone,
  kFailover,
  kEmptyOrigin,
  kLease,     // a node knows of one that was never given
  kHeldEnd,   // or of a window's end, ...
  kRange,     // or of a segment's number
  kWord,      // the operator says so
  kHandOver,  // soft, like the next: nothing tells of one
  kRestarted,
};

constexpr bool IsSoft(Loss loss) { return loss == Loss::kHandOver || loss == Loss::kRestarted; }

// Whether a node that knows of this lease proves that commits were lost.
constexpr bool IsEvidence(const Origin &origin, int64_t named) {
  return origin.found && named > origin.last_lease_id && named - origin.last_lease_id <= kFarthestEvidence;
}

// What is noticed before anything else is done. `named` is the highest lease that the asking node has seen, 0 for none.
constexpr Loss NoticedLoss(const Origin &origin, const Here &here, int64_t named) {
  if (!origin.found) return Loss::kNone;
  const bool moved = Failovers(origin, here) > 0;
  if (moved && !WasCleanJustNow(origin, here)) return Loss::kFailover;
  if (IsEvidence(origin, named)) return Loss::kLease;
  const bool firm_already = Settles(origin, here) && !origin.soft;
  if (firm_already) return Loss::kNone;
  if (moved) return Loss::kHandOver;
  return WasRestarted(origin, here) ? Loss::kRestarted : Loss::kNone;
}

// Whether evidence tells of a loss that is not known: one shows itself to every node that it concerns.
constexpr bool IsNews(const Origin &origin, const Here &here, int64_t named) {
  const bool known = !origin.soft && SettlesSinceStart(origin, here);
  return origin.found && (IsEvidence(origin, named) || !known);
}

// The leases, when a loss is noticed, offered one by one: how long a lost one may live, and when the newest commit was made that
// is not lost. What this transaction has moved does not tell: `before_us` is when it began.
class Survey {
 public:
  constexpr Survey(const Layout &layout, Tick now, int64_t before_us)
      : layout_(layout), now_us_(layout.UnixUsAt(now)), before_us_(before_us) {}

  constexpr void Offer(Tick window_end, int64_t renewed_us) {
    const int64_t end_us = layout_.UnixUsAt(window_end);
    Lengthen(end_us, now_us_);
    Lengthen(end_us, renewed_us);
    if (renewed_us < before_us_ && (!seen_ || renewed_us > newest_us_)) newest_us_ = renewed_us;
    seen_ = seen_ || renewed_us < before_us_;
  }

  // As long as any lease is granted: to this node, or to those that the registry knows of, now or when they were moved last; by
  // the clock of its node.
  constexpr int64_t SettlingUs(int64_t duration_us, int64_t skew_us) const {
    const int64_t us = (longest_us_ > duration_us ? longest_us_ : duration_us) + skew_us;
    return us < kMaxLeaseUs ? us : kMaxLeaseUs;
  }

  // The tick above which a watermark was ruled out for lost commits, too.
  constexpr Tick Since(Tick now, int64_t clock_us) const {
    const Tick newest = layout_.TickAt(seen_ ? newest_us_ : clock_us);
    return newest < now ? newest : now;
  }

 private:
  constexpr void Lengthen(int64_t end_us, int64_t from_us) {
    const bool whole_day = end_us >= 0 && end_us - kMaxLeaseUs > from_us;
    const int64_t us = whole_day ? kMaxLeaseUs : end_us > from_us ? end_us - from_us : 0;
    if (us > longest_us_) longest_us_ = us;
  }

  const Layout layout_;
  const int64_t now_us_;
  const int64_t before_us_;
  int64_t longest_us_ = 0;
  int64_t newest_us_ = 0;
  bool seen_ = false;
};

// Whether lost commits cannot have drawn this worker id: what is leased, and what was ruled out when they were made.
constexpr bool IsOutOfReach(bool leased, Tick watermark, Tick since) { return leased || watermark >= since; }

// After a loss, of the places at `cut` and beyond that are in reach only the farther half, rounded down, stays allowed; `times`
// failovers at once halve as often. Those out of reach, `count` of them, are offered in ascending order; Finish() is the new cut.
class Halving {
 public:
  constexpr Halving(int64_t cut, int64_t ring_size, int64_t count, int32_t times) : next_(cut) {
    const int64_t free = ring_size - cut - count;
    skip_ = free - (times < 63 ? free >> times : 0);
  }

  constexpr void Offer(int64_t place) {
    if (place - next_ > skip_) return;
    skip_ -= place - next_;
    next_ = place + 1;
  }

  constexpr int64_t Finish() const { return next_ + skip_; }

 private:
  int64_t next_;
  int64_t skip_ = 0;
};

// When settling ends: no later than it can last, because the clock may have been ahead when it began.
constexpr int64_t SettlesUntil(const Origin &origin, const Here &here) {
  const int64_t latest_us = here.clock_us + origin.settling_us;
  return origin.settles_until_us < latest_us ? origin.settles_until_us : latest_us;
}

// How it settles from now on.
struct Beginning {
  bool soft;
  int64_t until_us;
  int64_t settling_us;
  int64_t last_lease_id;
  int64_t anchor_lease_id;
  bool from_cuts;  // each cut goes on from where it is, instead of 0
  int32_t times;   // ... and what is left is halved as often
  bool same_start;
};

constexpr Beginning Begin(const Origin &origin, const Here &here, Loss loss, int64_t named, int64_t settling_us) {
  const bool soft = IsSoft(loss);
  const bool known = SettlesSinceStart(origin, here);
  // A further loss halves what was left, also for as long as leases may live that were drawn while it settled; the place
  // that is counted from stays. Otherwise lost commits went on from the newest lease that is not lost.
  const bool firm_before = origin.settled_before && !origin.soft;
  const bool again = !soft && firm_before && here.clock_us - settling_us < origin.settles_until_us;
  const bool elsewhere = Settles(origin, here) && origin.start != 0;
  Beginning begun = {};
  begun.soft = soft;
  begun.from_cuts = known || (again && !elsewhere);
  begun.anchor_lease_id = origin.last_lease_id + 1;
  if (begun.from_cuts)
    begun.anchor_lease_id = origin.anchor_lease_id;
  else if (elsewhere)
    begun.anchor_lease_id = origin.anchor_lease_id + origin.start;  // leases were drawn from there meanwhile
  const int32_t failovers = Failovers(origin, here);
  begun.times = known ? 0 : failovers > 1 ? failovers : 1;
  begun.same_start = known;
  begun.until_us = here.clock_us + settling_us;
  if (firm_before && SettlesUntil(origin, here) > begun.until_us) begun.until_us = SettlesUntil(origin, here);
  begun.settling_us = begun.until_us - here.clock_us;
  begun.last_lease_id = IsEvidence(origin, named) ? named + kLeaseIdStride : origin.last_lease_id;
  return begun;
}

// The place from which leases are drawn then, 0 for the cut. `farthest` is the farthest cut.
constexpr int64_t StartOf(const Origin &origin, const Beginning &begun, int64_t farthest, int64_t ring_size,
                          uint64_t random) {
  if (begun.same_start) return origin.start;
  if (!begun.soft || farthest >= ring_size) return 0;
  return farthest + static_cast<int64_t>(random % static_cast<uint64_t>(ring_size - farthest));
}

// What is left of one datacenter's ring.
struct Settling {
  bool active;
  bool noticed;  // in this very transaction
  bool soft;
  bool half_over;
  int64_t anchor;  // places are counted from here, those below `cut` held back, leases drawn from `start` on
  int64_t cut;
  int64_t start;
  int64_t until_us;
};

constexpr Settling SettlingOf(const Origin &origin, const Here &here, int64_t ring_size, int32_t datacenter,
                              bool noticed) {
  if (!Settles(origin, here)) return {};
  const int64_t cut = origin.cuts[datacenter];
  return {true,
          noticed,
          origin.soft,
          here.clock_us > origin.settles_until_us - origin.settling_us / 2,
          origin.anchor_lease_id % ring_size,
          cut,
          origin.start > cut ? origin.start : cut,
          origin.settles_until_us};
}

// ---------------------------------------------------------------------------------------------------------------------
// The choice of a worker id
// ---------------------------------------------------------------------------------------------------------------------

// What stands in the way at a place of the ring: a lease, or a watermark.
struct Taken {
  int64_t place;
  int64_t lease_id;  // 0: a watermark
  Tick window_end;   // of the lease
  Tick watermark;    // where there is no lease
};

enum class Chosen {
  kFree,      // neither leased nor ruled out: its watermark is still to be read
  kHeldBack,  // the same, although lost commits may have handed it out
  kExpired,   // once that lease has become a watermark
  kLater,     // all are ruled out for now: the one that may be used first
  kNone,
};

struct Choice {
  Chosen what;
  int64_t place;
  int64_t lease_id;  // kExpired
  Tick watermark;    // kLater
};

// The first place from the start on that is free now. If there is none: while settling one from the cut on; when half of it is
// over, or nothing tells of a loss, one of those that are held back, the farthest first; unless it settles firmly, the lease
// whose window has been over for longest; the one with the lowest watermark.
//
// What is taken is offered in ascending order of place, a lease before the watermark of its worker id; places that are not
// offered are free. Windows that end by tick `over` are over.
class Choosing {
 public:
  constexpr Choosing(int64_t ring_size, const Settling &settling, Tick now, Tick over)
      : size_(ring_size),
        settling_(settling),
        now_(now),
        over_(over),
        from_start_(settling.start),
        from_cut_(settling.cut) {}

  constexpr void Offer(const Taken &taken) {
    const bool leased = taken.lease_id != 0;
    if (taken.place == last_ || (!leased && taken.watermark < now_)) return;
    const int64_t below = taken.place < settling_.cut ? taken.place : settling_.cut;
    if (below - 1 > last_) held_back_ = below - 1;
    last_ = taken.place;
    if (taken.place == from_start_) ++from_start_;
    if (taken.place == from_cut_) ++from_cut_;
    if (!leased)
      OfferWatermark(taken);
    else
      OfferLease(taken);
  }

  constexpr Choice Finish() {
    if (settling_.cut - 1 > last_) held_back_ = settling_.cut - 1;
    const bool firm = settling_.active && !settling_.soft;
    if (from_start_ < size_) return {Chosen::kFree, from_start_, 0, 0};
    if (from_cut_ < size_) return {Chosen::kFree, from_cut_, 0, 0};
    if (TakesAll() && held_back_ >= 0) return {Chosen::kHeldBack, held_back_, 0, 0};
    if (!firm && expired_.lease_id != 0) return {Chosen::kExpired, expired_.place, expired_.lease_id, 0};
    if (lowest_ >= 0) return {Chosen::kLater, lowest_, 0, lowest_tick_};
    return {Chosen::kNone, 0, 0, 0};
  }

  // Leases whose windows are not over, and the end of the first of all.
  constexpr int64_t live() const { return live_; }
  constexpr Tick first_end() const { return first_end_; }

 private:
  constexpr bool TakesAll() const { return !settling_.active || settling_.soft || settling_.half_over; }

  constexpr void OfferLease(const Taken &taken) {
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
    if (!TakesAll() && taken.place < settling_.cut) return;
    if (lowest_ >= 0 && taken.watermark >= lowest_tick_) return;
    lowest_ = taken.place;
    lowest_tick_ = taken.watermark;
  }

  const int64_t size_;
  const Settling settling_;
  const Tick now_;
  const Tick over_;
  int64_t last_ = -1;
  int64_t from_start_;
  int64_t from_cut_;
  int64_t held_back_ = -1;
  Taken expired_ = {};
  int64_t lowest_ = -1;
  Tick lowest_tick_ = 0;
  int64_t live_ = 0;
  Tick first_end_ = INT64_MAX;
};

// By the earlier one of the node's and the registry's clock: a node whose clock is ahead must not end the leases of all.
constexpr Tick OverBy(Tick node_now, Tick registry_now) { return node_now < registry_now ? node_now : registry_now; }

// ---------------------------------------------------------------------------------------------------------------------
// Leases and their ends
// ---------------------------------------------------------------------------------------------------------------------

// No window covers a time before the epoch.
constexpr Tick FromEpoch(Tick now) { return now > 0 ? now : 0; }

enum class Grant { kGranted, kTooLate, kTimeUsedUp };

constexpr int64_t FirstWindowUs(const AcquireRequest &request) {
  return request.duration_us < kFirstWindowUs ? request.duration_us : kFirstWindowUs;
}

// A lease of a worker id with this watermark. Windows grow from kFirstWindowUs on.
constexpr Grant GrantLease(const Layout &layout, const AcquireRequest &request, Tick watermark, Tick raised_tick,
                           Lease *lease) {
  const Tick above = watermark > raised_tick ? watermark : raised_tick;
  lease->window_start = WindowStart(FromEpoch(request.now), above);
  if (request.start_before != kAnyStart && lease->window_start >= request.start_before) return Grant::kTooLate;
  if (lease->window_start > layout.max_tick()) return Grant::kTimeUsedUp;
  lease->window_end = WindowEnd(layout, lease->window_start, FirstWindowUs(request));
  return Grant::kGranted;
}

// The window's end of a lease that an earlier request of the same node drew, if it has none that is later.
constexpr Tick EndForDrawn(const Layout &layout, const AcquireRequest &request) {
  return WindowEnd(layout, FromEpoch(request.now), FirstWindowUs(request));
}

// What a node says that its window's end is, as far as the layout goes.
constexpr Tick HeldUntil(const Layout &layout, Tick held_until) {
  return held_until <= layout.max_tick() ? held_until : layout.max_tick() + 1;
}

// A window's end that the registry does not know may be of a commit that was lost; further ahead than any that it grants it is not.
// So nobody can make it settle for longer than that takes.
constexpr bool IsHeldTooFar(Tick held_until, Tick known, Tick latest) {
  return held_until > known && held_until > latest;
}

// The window's end of a lease that is extended, if it has none that is later.
constexpr Tick EndForExtend(const Layout &layout, const ExtendRequest &request) {
  const Tick end = WindowEnd(layout, FromEpoch(request.now), request.duration_us);
  const Tick held_until = HeldUntil(layout, request.held_until);
  return end > held_until ? end : held_until;
}

// The watermark that a lease leaves which expires, or is deleted by hand.
constexpr Tick WatermarkOfWindow(Tick window_end) { return window_end - 1; }

// The watermark of a lease that is given back; false for a last tick that cannot be.
constexpr bool WatermarkOfRelease(const Layout &layout, const ReleaseRequest &request, Tick window_start,
                                  Tick window_end, Tick *watermark) {
  const Tick held_until = HeldUntil(layout, request.held_until);
  const Tick end = window_end > held_until ? window_end : held_until;
  if (request.last_tick < window_start - 1 || request.last_tick >= end) return false;
  const Tick floor = request.floor < end - 1 ? request.floor : end - 1;
  *watermark = request.last_tick > floor ? request.last_tick : floor;
  return true;
}

// The same of one whose node is dead and cannot have used a tick after `last_tick`.
constexpr Tick WatermarkOfEvicted(Tick window_start, Tick window_end, Tick last_tick) {
  const Tick used = last_tick > window_start - 1 ? last_tick : window_start - 1;
  return used < window_end - 1 ? used : window_end - 1;
}

}  // namespace snowflake
