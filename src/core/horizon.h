// The horizon: an id below which no id of this node appears later in what a snapshot shows.
//
// A sample is (h, P). First h is read: the lowest id that is still to come, or the first id of a
// transaction in progress if that is lower. Then P: which transactions are in progress. h holds for
// every snapshot to which all that had ended at P has ended, too.
//
// 1. A transaction's first id is taken under the generator's lock, and is in its slot before the
//    lock is released. So a transaction with an id below h that is not found in progress had ended
//    before P.
// 2. Slots are read without the lock: what is written after h was read is not below it.
// 3. A slot counts while PostgreSQL shows its transaction in progress. Nothing clears it.
// 4. A prepared transaction leaves its process. Its slot then has its xid, too, and later another
//    slot has both. They are read in this order, and P decides whether it was in progress.
// 5. A process may not know of its parallel workers' ids, and then it does neither. Before such a
//    transaction leaves its process, PostgreSQL shows it as prepared by that process. The slot is
//    checked for that until the process's next transaction with an id, which moves it first.
// 6. A transaction may claim an id that it did not take, if no horizon above the id was reported.
//    Kept samples above it are dropped, and its slot holds later ones. Neither happens while a
//    sample is taken or chosen.
//
// Locking: each read without a lock names its order, because processors reorder loads and stores.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "core/generator.h"
#include "core/known_time.h"

namespace snowflake {
// A transaction's number, which wraps around; 0: none.
using Xid = uint32_t;

constexpr bool Precedes(Xid a, Xid b) { return static_cast<int32_t>(a - b) < 0; }

// Which transactions had ended at some moment: those below xmax that are not among the running.
struct Moment {
  Xid xmax;
  const Xid *running;
  int32_t count;
};

// What WasRunning() requires. A transaction that is just being prepared is there twice.
constexpr bool IsSorted(const Moment &moment) {
  for (int32_t i = 1; i < moment.count; ++i)
    if (moment.running[i - 1] > moment.running[i]) return false;
  return true;
}

// `running` is sorted.
constexpr bool WasRunning(const Moment &moment, Xid xid) {
  int32_t from = 0, to = moment.count;
  while (from < to) {
    const int32_t middle = from + (to - from) / 2;
    if (moment.running[middle] == xid) return true;
    if (moment.running[middle] < xid)
      from = middle + 1;
    else
      to = middle;
  }
  return false;
}

// Whether all that had ended then has ended for `seen`, too. `then.running` is sorted.
constexpr bool Covers(const Moment &then, const Moment &seen) {
  if (Precedes(seen.xmax, then.xmax)) return false;
  for (int32_t i = 0; i < seen.count; ++i)
    if (Precedes(seen.running[i], then.xmax) && !WasRunning(then, seen.running[i])) return false;
  return true;
}

// --- Slots: one for each process, and one for each transaction that can be prepared ---

// A transaction as the process that runs it is known to others.
struct Local {
  int32_t pid;
  uint32_t lxid;  // 0: none
};

// A transaction's first id.
struct FirstId {
  int64_t first;
  Local by;
  Xid xid;  // once it is being prepared
};

struct alignas(64) HorizonSlot {
  std::atomic<int64_t> first;
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> lxid;
  std::atomic<Xid> xid;
  std::atomic<uint32_t> database;
  std::atomic<bool> of_worker;  // a parallel worker wrote it: its leader may not know of it
};

inline bool IsOf(const HorizonSlot &slot, const Local &by) {
  return slot.lxid.load(std::memory_order_relaxed) == by.lxid && slot.pid.load(std::memory_order_relaxed) == by.pid;
}

// Whether no sample that is taken from now on is above the id while the transaction runs.
inline bool Holds(const HorizonSlot &slot, const Local &by, int64_t id) {
  return IsOf(slot, by) && slot.first.load(std::memory_order_relaxed) <= id;
}

// The slot has the lowest id: another worker id's can be lower. Requires: the generator's lock.
// If the id is claimed, also that Claim() allowed it, and that no sample was taken or chosen since.
inline void NoteFirstId(HorizonSlot *slot, uint32_t database, const Local &by, bool of_worker, int64_t first) {
  SNOWFLAKE_ASSERT(by.lxid != 0 && first >= 0);
  const auto release = std::memory_order_release;
  const bool goes_on = IsOf(*slot, by);
  if (!goes_on) slot->lxid.store(0, release);
  if (!goes_on || slot->first.load(std::memory_order_relaxed) > first) slot->first.store(first, release);
  if (goes_on) return;
  slot->xid.store(0, release);
  slot->database.store(database, release);
  slot->pid.store(by.pid, release);
  slot->of_worker.store(of_worker, release);
  slot->lxid.store(by.lxid, release);
}

// The transaction `lxid` has left its process for the slot `to`. If its process does not know of
// its ids, another worker may have moved it already and be writing into `from`, with another lxid.
inline void MovePrepared(const HorizonSlot &from, uint32_t lxid, HorizonSlot *to, Xid xid) {
  const int64_t first = from.first.load(std::memory_order_acquire);
  const uint32_t database = from.database.load(std::memory_order_acquire);
  if (from.lxid.load(std::memory_order_acquire) != lxid) return;
  to->first.store(first);
  to->lxid.store(0);
  to->database.store(database);
  to->xid.store(xid);
}

// --- Samples ---

// The lowest id of a tick under any worker id; above all ids if the layout does not hold the tick.
constexpr int64_t LowestId(const Layout &layout, Tick tick) {
  if (tick > layout.max_tick()) return std::numeric_limits<int64_t>::max();
  return tick < 0 ? 0 : layout.Pack({tick, 0, 0});
}

// The lowest id that is still to come under the lease in place, which is fixed, and under a later
// one, by a clock that shows `now`. A later lease begins above what was issued, and is not used
// before `now`. But if what was issued is out of reach, because the clock stepped back, another
// worker id is used from `now` on.
constexpr int64_t SealIds(Generator *g, const Layout &layout, Tick now, Tick max_lead) {
  const bool stepped_back = g->lease.lease_id != 0 && FirstUnused(*g, layout) - 1 - now > max_lead;
  if (!g->open || g->layout != layout) {
    const Tick unused = g->lease.lease_id != 0 && !stepped_back ? FirstUnused(*g, layout) : now;
    return LowestId(layout, unused > now ? unused : now);
  }
  const Position next = Seal(g, now);
  if (next.tick - now > max_lead) return LowestId(layout, now);
  if (next.sequence >= layout.sequence_count()) return LowestId(layout, next.tick + 1);
  if (next.sequence == 0 || next.tick > layout.max_tick()) return LowestId(layout, next.tick);
  return layout.Pack({next.tick, g->lease.worker, static_cast<int32_t>(next.sequence)});
}

// What is later than this tick is of a wrong clock.
constexpr Tick LatestTick(const Layout &layout, int64_t latest_us) { return layout.TickAt(latest_us + kWrongUs) + 1; }

// Whether a horizon cannot come from a clock that was right, if no id has a reason to be later than
// `latest_us`. If the clock is known to be behind, it is ahead of that clock, and nothing is wrong.
constexpr bool IsOfFuture(const Layout &layout, int64_t horizon, int64_t latest_us) {
  return horizon > 0 && horizon > LowestId(layout, LatestTick(layout, latest_us));
}

// The last tick of which ids may be below this horizon: later lives use later ones.
constexpr Tick LastTickBelow(const Layout &layout, int64_t horizon) { return layout.Unpack(horizon - 1).tick; }

// What the next life goes on after: the last tick that was used, or the one of the highest horizon
// that may have been reported, if that is later. Not what the clock shows: nothing was issued by
// it, and it may be wrong. 0: this life knows of no last tick.
constexpr int64_t LastUsOfLife(const Generator &g, const Layout &layout, int64_t highest) {
  if (g.layout.tick_us == 0) return 0;
  const int64_t used_us = g.layout.UnixUsAt(g.last_tick);
  const int64_t reported_us = highest > 0 ? layout.UnixUsAt(LastTickBelow(layout, highest)) : used_us;
  return used_us > reported_us ? used_us : reported_us;
}

// Takes h, then P. A Server has
//   int64_t LowestToCome()                   the lowest id that is still to come
//   int32_t Slots()                          how many; those of prepared transactions last
//   const HorizonSlot *Slot(int32_t i)       nullptr: not of this database
//   bool Runs(int32_t i, const Local &by)    whether that process still runs that transaction; what
//                                            is read after it was written before the end it saw
//   Xid PreparedBy(int32_t i, uint32_t lxid) the xid of that transaction if prepared, or 0
//   Xid Unknown(int32_t i)                   a prepared transaction that may have ids, or 0
//   Moment TakeMoment()                      P, sorted; its xids are the Server's
// `left` has room for twice Slots(). `holder` is what holds the horizon back; all zero: nothing.
template <typename Server>
int64_t TakeSample(Server *server, FirstId *left, Moment *moment, FirstId *holder) {
  int64_t horizon = server->LowestToCome();
  *holder = {};
  const auto hold = [&](const FirstId &id) {
    if (id.first >= horizon) return;
    horizon = id.first;
    *holder = id;
  };
  int32_t count = 0;
  for (int32_t i = 0; i < server->Slots(); ++i) {
    if (const HorizonSlot *slot = server->Slot(i)) {
      // Order: lxid is written last and read first, so that the others are not of an earlier
      // transaction. All three before Runs(): a transaction has its lxid before it has ids.
      FirstId id = {};
      const uint32_t lxid = slot->lxid.load(std::memory_order_acquire);
      id.by.lxid = lxid;
      id.by.pid = slot->pid.load(std::memory_order_acquire);
      id.first = slot->first.load(std::memory_order_acquire);
      if (lxid != 0 && server->Runs(i, id.by)) {
        hold(id);
        continue;
      }
      if (lxid != 0 && slot->of_worker.load(std::memory_order_acquire)) {
        // Order: after Runs(), because the transaction was shown as prepared before it left. lxid
        // once more, because what overwrites `first` has cleared lxid before, and moved both.
        id.xid = server->PreparedBy(i, lxid);
        id.by = {};
        if (id.xid != 0 && slot->lxid.load(std::memory_order_acquire) == lxid) left[count++] = id;
      }
      // Order: after Runs(), because the transaction had its xid here before it left. xid before
      // first, because they are overwritten after the transaction has another slot. That slot is
      // read later, so both come before it.
      id = {0, {}, slot->xid.load(std::memory_order_acquire)};
      id.first = slot->first.load(std::memory_order_acquire);
      if (id.xid != 0) left[count++] = id;
    }
    if (const Xid unknown = server->Unknown(i)) left[count++] = {0, {}, unknown};
  }
  *moment = server->TakeMoment();
  SNOWFLAKE_ASSERT(IsSorted(*moment));
  for (int32_t i = 0; i < count; ++i)
    if (WasRunning(*moment, left[i].xid)) hold(left[i]);
  return horizon;
}

struct Sample {
  int64_t horizon;
  int64_t taken_us;  // by the monotonic clock
  Xid xmax;
  int32_t running;
  int32_t place;  // where its xids are
};

// Rising, the oldest first. Old snapshots need old samples, so these thin out with age.
inline constexpr int kSamples = 16;
struct Samples {
  int32_t count;
  Sample kept[kSamples];
};

// For any snapshot, a horizon may be this much older than possible.
inline constexpr int64_t kUnnoticedUs = 100 * 1000;

constexpr int32_t FreePlace(const Samples &samples) {
  uint32_t taken = 0;
  for (int i = 0; i < samples.count; ++i) taken |= uint32_t{1} << samples.kept[i].place;
  int32_t place = 0;
  while (taken >> place & 1) ++place;
  SNOWFLAKE_ASSERT(place < kSamples);
  return place;
}

// Makes room for another and returns the place of its xids. Drops the sample with the smallest hole
// for the age of its snapshots, but not the `answered` one: later horizons must not be lower.
constexpr int32_t MakeRoomForSample(Samples *samples, int64_t answered, int64_t now_us) {
  if (samples->count < kSamples) return FreePlace(*samples);
  Sample *kept = samples->kept;
  int least = 0;
  double least_hole = 0;
  for (int i = 1; i < kSamples - 1; ++i) {
    if (kept[i].horizon == answered) continue;
    const double hole = static_cast<double>(kept[i + 1].taken_us - kept[i - 1].taken_us) /
                        static_cast<double>(now_us - kept[i + 1].taken_us + kUnnoticedUs);
    if (least > 0 && hole >= least_hole) continue;
    least = i;
    least_hole = hole;
  }
  SNOWFLAKE_ASSERT(least > 0);
  const int32_t place = kept[least].place;
  --samples->count;
  for (int i = least; i < samples->count; ++i) kept[i] = kept[i + 1];
  return place;
}

constexpr void AddSample(Samples *samples, const Sample &sample) {
  SNOWFLAKE_ASSERT(samples->count < kSamples);
  SNOWFLAKE_ASSERT(samples->count == 0 || sample.horizon > samples->kept[samples->count - 1].horizon);
  samples->kept[samples->count++] = sample;
}

// Whether a transaction may write a row with an id that it did not take: no horizon above the id
// was reported. `answered` is the highest that was, at least 0. Samples above the id were not
// reported, and are dropped.
constexpr bool Claim(Samples *samples, int64_t answered, int64_t id) {
  SNOWFLAKE_ASSERT(answered >= 0);
  if (id < answered) return false;
  while (samples->count > 0 && samples->kept[samples->count - 1].horizon > id) --samples->count;
  return true;
}

}  // namespace snowflake
