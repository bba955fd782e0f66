// A server with two databases under random clocks, restarts and operators, for hours to a year of
// its time. Does any reader of the horizon miss a row, and is what advice says so?
//
// 1. The core's own code decides: known_time.h, clock.h, node.h, generator.h, horizon.h, box.h. Of
//    the server there is only what stands between its parts. Each mirror names its function.
// 2. The second database has another epoch and a registry elsewhere, whose clock is right.
// 3. Two readers: one follows the horizon (a feed's cursor), one its last row.
// 4. Nothing here reads a clock or the machine's randomness: the same seed gives the same run.
//
// SNOWFLAKE_SCHEDULES: how many. The table shows them by kind and by operator, in hours.
//
// Optimized: it takes two seconds, and ten without.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/box.h"
#include "core/horizon.h"
#include "core/node.h"
#include "core/ring.h"
#include "length.h"
#include "random.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kBegin = 1780272000 * kSecond;  // 2026-06-01
constexpr int64_t kSkewUs = 10 * kSecond;         // of the registry elsewhere
constexpr int64_t kWindowUs = kMinute;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr Layout kLayouts[] = {{kFirstTimeUs / kMs, kMs, 41, 0, 4, 12, false},
                               {int64_t{1288834974657}, kMs, 41, 0, 4, 12, false}};
constexpr int kDatabases = 2;
constexpr int kReaders = 2;

ClockPolicy policy = {5 * kMs, {kMinute, kDay}, true};

int64_t IdAt(const Layout &layout, int64_t us) { return LowestId(layout, layout.TickAt(us)); }

// --- The files of the data directory, and pg_control ---

struct ClockFile {
  bool found;
  int64_t known_us;
  bool counts_alone;
};

struct Disk {
  ClockFile clock;
  bool has_limit[kDatabases];
  KeptHorizon limits[kDatabases];
  bool has_issuer;
  int64_t checkpoint_us;  // when the last one began, by the wall clock
  int64_t replayed_us;    // the newest commit after it; kNoSign: none
};

// Mirrors server_clock.cpp.
class Server {
 public:
  KnownTime known = {};

  // StartServerClock(), in the postmaster.
  ServerTime Start(Disk *disk, const ClockReading &reading, int64_t sign_us, bool is_first) {
    file_ = &disk->clock;
    disk_ = disk;
    if (is_first) first_ = reading;
    int64_t since_us = first_.wall_us + reading.steady_us - first_.steady_us;
    if (is_first || since_us > reading.wall_us) since_us = kNoSign;
    known = {};
    if (file_->found || sign_us != kNoSign || disk->has_issuer) {
      int64_t newest_us = std::max({sign_us, disk->checkpoint_us, since_us});
      if (file_->found) newest_us = file_->counts_alone ? file_->known_us : std::max(file_->known_us, newest_us);
      known = KnownBySign(newest_us, reading.steady_us);
    }
    const ServerTime time = Look(reading);
    known = time.known;
    right_since_us_ = written_us_ = latest_offset_us_ = 0;
    doubt_told_ = false;
    counts_alone_ = file_->found && file_->counts_alone;
    takes_signs_ = !counts_alone_;
    if (counts_alone_) latest_offset_us_ = kFarthestUs;
    if (IsInDoubt(time)) WriteIfDue(time, true);
    return time;
  }

  ServerTime Read(const ClockReading &reading) {
    known = After(known, reading, policy.clock.max_bridge_us);
    return {reading, known};
  }
  ServerTime Look(const ClockReading &reading) const {
    return {reading, known.read_us == 0 ? known : After(known, reading, policy.clock.max_bridge_us)};
  }
  bool IsInDoubt(const ServerTime &time) const { return !MayBe(time.known, time.reading, policy.clock.max_leap_us); }
  bool IsKnownBehind(const ServerTime &time) const {
    return policy.clock.max_leap_us > 0 && IsBehindKnown(time.known, time.reading, policy.clock.max_bridge_us);
  }
  bool MayBeRight(const NodeClock &clock) const {
    return MayBe(known, {clock.shown_us, clock.read.steady_us}, policy.clock.max_leap_us);
  }
  // KeepServerClock()
  void Keep(const ClockReading &reading, bool last) {
    const ServerTime time = Read(reading);
    if (time.known.read_us != 0) WriteIfDue(time, last);
  }
  // NoteSignOfLife()
  void Note(int64_t sign_us, int64_t steady_us) {
    if (takes_signs_) NoteSign(&known, sign_us, steady_us);
    takes_signs_ = false;
  }
  // ConfirmServerClock()
  void Confirm(const ServerTime &time) {
    const ServerTime confirmed = {time.reading, KnownBy(time.reading)};
    latest_offset_us_ = std::max(latest_offset_us_, time.known.offset_us);
    Write(confirmed, MayOthersBeWrong(confirmed));
    known = confirmed.known;
    takes_signs_ = false;
  }

 private:
  bool MayOthersBeWrong(const ServerTime &time) {
    const bool doubted = IsInDoubt(time);
    if (doubted) latest_offset_us_ = std::max(latest_offset_us_, OffsetUs(time.reading));
    if (latest_offset_us_ <= time.known.offset_us + kLeapUs) return false;
    if (doubted)
      right_since_us_ = 0;
    else if (right_since_us_ == 0)
      right_since_us_ = time.reading.wall_us;
    else if (disk_->checkpoint_us > right_since_us_ && disk_->checkpoint_us <= time.reading.wall_us)
      latest_offset_us_ = right_since_us_ = 0;
    return latest_offset_us_ != 0;
  }
  void Write(const ServerTime &time, bool counts_alone) {
    *file_ = {true, KnownUs(time.known, time.reading.steady_us), counts_alone};
    counts_alone_ = counts_alone;
    written_us_ = time.reading.steady_us;
  }
  void WriteIfDue(const ServerTime &time, bool last) {
    const bool was_written = written_us_ != 0 && time.reading.steady_us - written_us_ < kMinute;
    if (!last && was_written && IsInDoubt(time) == doubt_told_) return;
    const bool counts_alone = MayOthersBeWrong(time);
    doubt_told_ = IsInDoubt(time);
    Write(time, counts_alone);
  }

  ClockFile *file_ = nullptr;
  const Disk *disk_ = nullptr;
  ClockReading first_ = {};  // SinceFirstStart()
  int64_t latest_offset_us_ = 0, right_since_us_ = 0, written_us_ = 0;
  bool counts_alone_ = false, takes_signs_ = false, doubt_told_ = false;
};

// --- What is counted ---

struct Totals {
  int64_t schedules = 0, rows = 0;
  int64_t missed = 0;           // rows that passed the trigger, by a reader
  int64_t falls = 0;            // ids that fell although the one before was within max_bridge
  int64_t told = 0;             // schedules with a horizon of the future
  int64_t told_us = 0;          // ... and for how long
  int64_t future_ids = 0;       // us
  int64_t closed_us = 0;        // the outbox, while the clock is right
  int64_t stalled_us = 0;       // the horizon, while the clock is right and has been for ten seconds
  int64_t doubt_us = 0;         // while the clock is right
  int64_t untrue_us = 0;        // "the horizon is of the future" of a right one, and the clock is right
  int64_t untrue_wrong_us = 0;  // ... and the clock is wrong
  int64_t silent_us = 0;        // rows are refused by a horizon of the future, and no word of it
  int64_t held_us = 0;          // a time is held that is not believed either, and the clock is right
  int64_t nothing_us = 0;       // "nothing else is to be done" while a horizon is of the future
  int64_t clock_us = 0;         // rows "ahead of the clock, which is behind", and the clock is right
  int64_t behind_us = 0;        // "behind what is known", while the clock is right
  int64_t refused = 0;          // resets, although rows are refused by a horizon of the future
  int64_t longest_doubt_us = 0;

  void Add(const Totals &other) {
    longest_doubt_us = std::max(longest_doubt_us, other.longest_doubt_us);
    for (int64_t Totals::*each :
         {&Totals::schedules, &Totals::rows, &Totals::missed, &Totals::falls, &Totals::told, &Totals::told_us,
          &Totals::future_ids, &Totals::closed_us, &Totals::stalled_us, &Totals::doubt_us, &Totals::untrue_us,
          &Totals::untrue_wrong_us, &Totals::silent_us, &Totals::held_us, &Totals::nothing_us, &Totals::clock_us,
          &Totals::behind_us, &Totals::refused})
      this->*each += other.*each;
  }
};

enum class Operator { kNever, kConfirmsRightly, kConfirmsAlways, kFollowsRightly, kFollowsAtOnce, kRestarts, kLate };
constexpr const char *kOperators[] = {"never",
                                      "confirms rightly",
                                      "confirms always",
                                      "follows advice, right",
                                      "follows advice, at once",
                                      "restarts on SF007",
                                      "follows advice, late"};

// --- A database ---

struct Row {
  bool committed;
  int64_t ends_us;  // its transaction
  bool aborts;
  bool read[kReaders];
};

struct Advised {
  bool doubt, behind, future, of_future;
};

struct Database {
  int number = 0;
  Layout layout = {};
  NodeState state = {};
  NodeState in_box = {};  // as the keeper left it
  std::unique_ptr<BoxSlot> box = std::make_unique<BoxSlot>();
  bool issues = false, asked = false;
  bool clean_start = false;  // no id since a start without the node's state

  // HorizonBlock. What may be reported is reported: `shown`.
  int64_t shown = 0, highest = 0, stored = 0, resets = 0;

  // The registry.
  Tick watermarks[16] = {};
  int64_t last_lease_id = 0, leased = 0;
  int32_t leased_worker = 0;
  Tick leased_end = 0;

  std::map<int64_t, Row> rows;
  int64_t cursors[kReaders] = {};
  bool promoted = false;  // the old primary reported more than the files know
  int64_t newest_id = -1;
  bool told_future = false;
  bool mended = false, stepped_back = false;  // since the newest id: by the operator, by the clock beyond max_bridge
  int64_t doubt_us = 0;
};

struct Fate {
  Operator who;
  int64_t delay_us;
  bool deletes;
};

class World {
 public:
  World(const Fate &fate, uint64_t seed) : fate_(fate), random_(seed) {
    for (int i = 0; i < kDatabases; ++i) {
      databases_[i].number = i;
      databases_[i].layout = kLayouts[i];
      std::fill(std::begin(databases_[i].watermarks), std::end(databases_[i].watermarks), kNoWatermark);
    }
    disk.replayed_us = disk.checkpoint_us = kNoSign;
  }

  int64_t now_us = kBegin, off_us = 0, ppm = 0, booted_us = kBegin - 30 * kSecond;
  bool idle = false;
  Disk disk = {};
  Totals totals;

  Database &At(int i) { return databases_[i]; }
  bool IsUp() const { return up_; }
  bool IsRight() const { return off_us < kSecond && off_us > -kSecond; }
  void SetClock(int64_t off) {
    for (Database &d : databases_) d.stepped_back |= off_us - off > policy.clock.max_bridge_us;
    off_us = off;
    right_since_us_ = IsRight() ? now_us : kNever;
    ppm = 0;
    for (Database &d : databases_) d.doubt_us = 0;
  }

  void Start() {
    up_ = true;
    const ClockReading reading = Reading();
    if (disk.checkpoint_us == kNoSign) disk.checkpoint_us = Whole(reading.wall_us);  // initdb
    int64_t sign_us = kNoSign;
    bool recovered[kDatabases] = {}, has_state[kDatabases] = {};
    // RestoreNodes()
    for (Database &d : databases_) recovered[d.number] = has_state[d.number] = Restore(&d, reading, &sign_us);
    for (const Database &d : databases_)
      if (disk.has_limit[d.number]) FindSign(disk.limits[d.number], &sign_us);
    const ServerTime time = server_.Start(&disk, reading, sign_us, !was_up_);
    was_up_ = true;
    for (Database &d : databases_) GoOn(&d, time, &recovered[d.number]);
    for (Database &d : databases_) RestoreFromDirectory(&d, time, &recovered[d.number]);
    // Without its state a node goes on above its horizon, not above its last id.
    for (Database &d : databases_) d.clean_start = !has_state[d.number];
    // LookForSigns() of the first keeper.
    if (disk.replayed_us != kNoSign && disk.has_issuer) server_.Note(disk.replayed_us, reading.steady_us);
    next_checkpoint_us_ = now_us + 5 * kMinute;
    for (Database &d : databases_) d.doubt_us = 0;
  }

  void Stop(bool clean) {
    if (!up_) return;
    up_ = false;
    const ClockReading reading = Reading();
    for (Database &d : databases_) {
      for (auto row = d.rows.begin(); row != d.rows.end();) row = row->second.committed ? ++row : d.rows.erase(row);
      if (!clean && d.issues) FillBox(&d);
      if (!clean || !d.issues) continue;
      Read(&d.state, server_.Read(reading));
      CloseLease(&d.state);
      ReleaseAll(&d);
      Empty(d.box.get());
    }
    if (!clean) return;
    if (disk.has_issuer) server_.Keep(reading, true);  // TidyUp()
    disk.checkpoint_us = Whole(reading.wall_us);
    disk.replayed_us = kNoSign;
  }

  // The postmaster, and the machine's memory, are new.
  void PowerOff() {
    was_up_ = false;
    for (Database &d : databases_) d.box = std::make_unique<BoxSlot>();
  }
  void EndPostmaster() { was_up_ = false; }

  void Step(int64_t passed_us) {
    if (!up_ || idle) return;
    for (Database &d : databases_)
      if (d.issues) RunDatabase(&d, passed_us);
    if (disk.has_issuer) server_.Keep(Reading(), false);
    for (Database &d : databases_)
      if (d.issues) Report(&d, passed_us);
    if (now_us >= next_checkpoint_us_) {
      disk.checkpoint_us = Whole(Reading().wall_us);
      disk.replayed_us = kNoSign;
      next_checkpoint_us_ = now_us + 5 * kMinute;
    }
    Operate();
  }

  void Finish() {
    totals.schedules = 1;
    for (Database &d : databases_) {
      totals.told += d.told_future && !totals.told;
      for (const auto &[id, row] : d.rows)
        for (int i = 0; i < kReaders; ++i) totals.missed += row.committed && !row.read[i] && id <= d.cursors[i];
    }
  }

 private:
  static int64_t Whole(int64_t us) { return us / kSecond * kSecond; }

  ClockReading Reading() const { return {now_us + off_us, now_us - booted_us + 1}; }

  ServerTime ReadTime() { return server_.Read(Reading()); }

  // --- The black box: node_box.cpp ---

  static void FindSign(const KeptHorizon &kept, int64_t *sign_us) {
    if (kept.horizon > 0) *sign_us = std::max(*sign_us, kept.layout.UnixUsOf(kept.horizon));
  }

  KeptHorizon ToKeep(const Database &d, int64_t id) const {
    KeptHorizon kept;
    memset(static_cast<void *>(&kept), 0, sizeof(kept));
    kept.database = static_cast<uint32_t>(d.number) + 1;
    kept.layout = d.layout;
    kept.resets = d.resets;
    kept.horizon = id;
    return kept;
  }

  // What a crash leaves: the state as the keeper left it, and the last tick.
  void FillBox(Database *d) {
    Empty(d->box.get());
    Store(d->box.get(), [&](Kept *kept) { kept->state = d->in_box; });
    if (!IsEmpty(*d->box) && d->state.generator.last_tick >= d->in_box.generator.last_tick)
      StoreLastTick(d->box.get(), std::max(d->state.generator.last_tick, d->state.generator.sealed_tick - 1));
  }

  bool Restore(Database *d, const ClockReading &reading, int64_t *sign_us) {
    static Kept kept;
    kept = {};
    d->state = {};
    d->state.policy = policy;
    d->shown = d->highest = d->stored = d->resets = 0;
    const bool used = Load(d->box.get(), &kept) && kept.state.clock.read.steady_us <= reading.steady_us;
    if (used) {
      d->state = kept.state;
      if (kept.state.clock.read.steady_us != 0) *sign_us = std::max(*sign_us, SignOf(kept.state.clock, reading));
    } else {
      Empty(d->box.get());
    }
    KeptHorizon horizon = {};
    if (LoadHorizon(*d->box, &horizon)) FindSign(horizon, sign_us);
    return used;
  }

  static void RestoreHorizon(Database *d, const KeptHorizon &kept, const ServerTime &time, bool *recovered) {
    d->resets = kept.resets;
    d->highest = kept.horizon;
    if (!*recovered && kept.horizon > 0)
      GoOnAfter(&d->state, kept.layout, LastTickBelow(kept.layout, kept.horizon), time);
    *recovered = true;
  }

  void GoOn(Database *d, const ServerTime &time, bool *recovered) const {
    if (*recovered) Resume(&d->state, time, policy);
    KeptHorizon horizon = {};
    if (!LoadHorizon(*d->box, &horizon)) return;
    RestoreHorizon(d, horizon, time, recovered);
    d->shown = horizon.horizon;
  }

  void RestoreFromDirectory(Database *d, const ServerTime &time, bool *recovered) const {
    if (!disk.has_limit[d->number]) return;
    const KeptHorizon &kept = disk.limits[d->number];
    if (d->resets < kept.resets) {
      d->shown = d->highest = 0;
      EmptyHorizon(d->box.get());
    }
    const bool doubted = server_.IsInDoubt(time);
    if (d->highest == 0) {
      RestoreHorizon(d, kept, time, recovered);
      d->highest = std::max(kept.horizon, doubted ? 0 : IdAt(d->layout, time.reading.wall_us));
    }
    if (d->resets == kept.resets) d->stored = doubted ? d->highest : kept.horizon;
  }

  // --- The registry ---

  bool Accepts(const Database &d, Tick now, bool leapt) const {
    if (d.number == 0) return true;  // of the same clock
    const ClockReading right = {now_us, kYear};
    return AcceptsClock(d.layout, {OffsetUs(right), 1, 0, 0}, right, now, leapt, kSkewUs);
  }

  // ReadForRequest()
  void ReadForRequest(Database *d) {
    Read(&d->state, ReadTime());
    if (d->number == 0) d->state.ask_by_wall = false;
  }

  static void ReleaseAll(Database *d) {
    while (d->state.retired_count > 0) {
      const Retired retired = d->state.retired[0];
      d->watermarks[retired.worker] = std::max(d->watermarks[retired.worker], retired.last_tick);
      DropRetired(&d->state, retired.lease_id);
      if (d->leased == retired.lease_id) d->leased = 0;
    }
  }

  bool Acquire(Database *d) {
    const Standing standing = {1, 1, kNoWatermark, 0};
    ReadForRequest(d);
    Secret fresh = {};
    memset(&fresh, 1, sizeof(fresh));
    memcpy(&fresh, &++secrets_, sizeof(secrets_));
    memcpy(&fresh.hash, &secrets_, sizeof(secrets_));
    const AcquireAsked asked = AskForLease(&d->state, d->layout, kWindowUs, fresh, kMaxLeaseUs);
    if (!Accepts(*d, asked.request.now, asked.request.leapt)) {
      RefusedForSkew(&d->state);
      return false;
    }
    // The lease that a start lost.
    if (d->leased != 0 && !d->state.generator.open) {
      d->watermarks[d->leased_worker] = std::max(d->watermarks[d->leased_worker], d->leased_end - 1);
      d->leased = 0;
    }
    int32_t worker = -1;
    for (int32_t i = 0; i < d->layout.worker_count(); ++i)
      if ((d->leased == 0 || i != d->leased_worker) && (worker < 0 || d->watermarks[i] < d->watermarks[worker]))
        worker = i;
    Lease lease = {};
    lease.lease_id = ++d->last_lease_id;
    lease.worker = worker;
    const bool assigned =
        AssignWindow(d->layout, asked.request, d->watermarks[worker], kNoWatermark, &lease) == Assignment::kAssigned;
    TakenLease taken = {};
    if (assigned) taken = TakeLease(&d->state, d->layout, asked, {lease, d->layout, standing, 1}, false);
    if (!taken.opened) {
      KeepPresentWorker(&d->state);
      return false;
    }
    d->leased = lease.lease_id;
    d->leased_worker = worker;
    d->leased_end = lease.window_end;
    ReleaseAll(d);
    d->leased = lease.lease_id;
    return true;
  }

  bool Extend(Database *d) {
    ReadForRequest(d);
    const ExtendRequest request = AskForWindow(d->state, kWindowUs);
    const ClockReading right = {now_us, kYear};
    const bool accepted = Accepts(*d, request.now, request.leapt) ||
                          (!request.leapt && AcceptsHolder(d->layout, {OffsetUs(right), 1, 0, 0}, right, request.now,
                                                           request.window_start, d->leased_end, request.duration_us));
    if (!accepted) {
      RefusedForSkew(&d->state);
      return false;
    }
    const Tick end = EndForExtend(d->layout, request);
    d->leased_end = std::max(d->leased_end, end);
    return TakeWindow(&d->state, request, {end, {1, 1, kNoWatermark, 0}}, kMaxLeaseUs, false) == AnswerFault::kNone;
  }

  // --- Ids: issue.cpp ---

  int64_t Issue(Database *d) {
    for (int tries = 0; tries < 4; ++tries) {
      Read(&d->state, ReadTime());
      const Generator &g = d->state.generator;
      const Terms terms = {MaxLead(d->state, d->layout), 0};
      const Decision decision = TakeOrAsk(&d->state, 1, terms);
      switch (decision.outcome) {
        case Outcome::kRun:
          return NoteId(d, d->layout.Pack({decision.run.tick, g.lease.worker, decision.run.sequence}));
        case Outcome::kNoLease:
          if (!Acquire(d)) return -1;
          break;
        case Outcome::kWindowEnd:
          if (!Extend(d)) return -1;
          break;
        case Outcome::kClockBehind:
          if (!MayLead(d->state)) return -1;
          d->state.new_worker_wanted = true;
          Acquire(d);
          break;
        default: return -1;
      }
    }
    return -1;
  }

  int64_t NoteId(Database *d, int64_t id) {
    const Tick before = d->newest_id < 0 ? -1 : d->layout.Unpack(d->newest_id).tick;
    const int64_t lead_us = d->layout.UnixUsAt(before) - Reading().wall_us;
    if (d->newest_id >= 0 && id <= d->newest_id && lead_us <= policy.clock.max_bridge_us && !d->clean_start &&
        !d->mended && !d->stepped_back)
      ++totals.falls;
    d->newest_id = id;
    d->clean_start = d->mended = d->stepped_back = false;
    if (!disk.has_issuer) disk.has_issuer = true;
    return id;
  }

  // --- The horizon: issue/horizon.cpp, the trigger, and readers ---

  int64_t LookForSample(Database *d) {
    Read(&d->state, ReadTime());
    const Layout &layout = d->layout;
    int64_t lowest =
        SealIds(&d->state.generator, layout, layout.TickAt(d->state.clock.shown_us), MaxLead(d->state, layout));
    for (const auto &[id, row] : d->rows) {
      if (id >= lowest) break;
      if (!row.committed) lowest = id;
    }
    return lowest;
  }

  void StoreLimit(Database *d) {
    const NodeClock &clock = d->state.clock;
    if (!d->asked || !server_.MayBeRight(clock)) return;
    if (d->stored >= IdAt(d->layout, clock.shown_us + 2 * kSecond)) return;
    const int64_t limit = IdAt(d->layout, clock.shown_us + 4 * kSecond);
    d->stored = std::max(limit, d->highest);
    disk.limits[d->number] = ToKeep(*d, d->stored);
    disk.has_limit[d->number] = true;
  }

  void SampleNode(Database *d) {
    const int64_t id = std::min(LookForSample(d), d->stored);
    if (id <= d->highest) return;
    StoreHorizon(d->box.get(), ToKeep(*d, id));
    d->shown = d->highest = id;
  }

  // FindRightLimit(), and BeginAnew(). Returns whether the horizon was of the future.
  bool ResetHorizon(Database *d, int64_t *after) {
    const ServerTime time = ReadTime();
    Read(&d->state, time);
    const int64_t latest_us = LatestIdUs(d->state);
    if (!IsPossible(time.reading) || !IsOfFuture(d->layout, std::max(d->highest, d->stored), latest_us)) return false;
    GoBack(&d->state);
    const int64_t sampled = LookForSample(d);
    *after = sampled > 0 ? sampled : IdAt(d->layout, latest_us);
    misled_ |= !IsRight();
    server_.Confirm(time);
    ++d->resets;
    disk.limits[d->number] = ToKeep(*d, *after);
    disk.has_limit[d->number] = true;
    d->stored = *after;
    const int64_t again = LookForSample(d);
    d->highest = again > 0 ? std::min(again, *after) : *after;
    d->shown = again > 0 ? d->highest : 0;
    if (again > 0)
      LowerHorizon(d->box.get(), ToKeep(*d, d->highest));
    else
      EmptyHorizon(d->box.get());
    d->mended = true;
    return true;
  }

  // Inserts a row, with its id by default; its transaction ends at once, or stays open.
  void Insert(Database *d, int64_t passed_us) {
    const int64_t id = Issue(d);
    if (id < 0) return;
    if (d->layout.UnixUsOf(id) > now_us + kWrongUs + kSecond) totals.future_ids += passed_us;
    // Claim()
    Samples none = {};
    if (!Claim(&none, d->highest, id)) {
      Refused(*d, passed_us);
      return;
    }
    const bool open = Below(&random_, 20) == 0;
    const int64_t lasts_us = open ? (int64_t{1} << Below(&random_, 10)) * kSecond : 0;
    d->rows[id] = {!open, now_us + lasts_us, Below(&random_, 4) == 0, {}};
    // The exception of doc/horizon.md: a clock that is behind what the old primary reported.
    const int64_t reported = *std::max_element(std::begin(d->cursors), std::end(d->cursors));
    d->promoted = d->promoted && d->highest < reported;
    if (d->promoted && id <= reported) d->rows[id].read[0] = d->rows[id].read[1] = true;
    ++totals.rows;
    if (!open) disk.replayed_us = Reading().wall_us;
  }

  void Refused(const Database &d, int64_t passed_us) {
    if (!IsRight()) return;
    totals.closed_us += passed_us;
    refused_ = true;
    const Advised told = Advice(d);
    // What is ahead by less than that passes before anybody could act.
    const bool of_future = d.highest > IdAt(d.layout, now_us + policy.clock.max_bridge_us + 2 * kWrongUs + kSecond);
    if (of_future && !told.behind && !told.future) totals.silent_us += passed_us;
  }

  void EndTransactions(Database *d) {
    for (auto row = d->rows.begin(); row != d->rows.end();) {
      const bool ends = !row->second.committed && row->second.ends_us <= now_us;
      if (ends) row->second.committed = true;
      if (ends && !row->second.aborts) disk.replayed_us = Reading().wall_us;
      row = ends && row->second.aborts ? d->rows.erase(row) : std::next(row);
    }
  }

  void ReadRows(Database *d) {
    for (int i = 0; i < kReaders; ++i) {
      int64_t *cursor = &d->cursors[i];
      int64_t last = *cursor;
      for (auto row = d->rows.upper_bound(*cursor); row != d->rows.end() && row->first < d->shown; ++row)
        if (row->second.committed) row->second.read[i] = true, last = row->first;
      *cursor = i == 0 ? std::max(*cursor, d->shown - 1) : last;
    }
    // Those of the future may get new ids.
    const int64_t now = IdAt(d->layout, now_us);
    for (auto row = d->rows.begin(); row != d->rows.end() && row->first < now;)
      row = row->second.read[0] && row->second.read[1] ? d->rows.erase(row) : std::next(row);
  }

  // One step of sessions and keeper.
  void RunDatabase(Database *d, int64_t passed_us) {
    EndTransactions(d);
    Insert(d, passed_us);
    // Observe() of the keeper
    Read(&d->state, ReadTime());
    SetPolicy(&d->state, policy);
    const KeeperView view = ViewForKeeper(&d->state, kWindowUs, false);
    if (view.lease_wanted)
      Acquire(d);
    else if (view.leased && (view.window_wanted || view.window_left_us < kWindowUs / 2))
      Extend(d);
    ReleaseAll(d);
    d->in_box = d->state;
  }

  void Report(Database *d, int64_t passed_us) {
    if (d->asked) {
      StoreLimit(d);
      SampleNode(d);
      ReadRows(d);
      if (d->shown > IdAt(d->layout, now_us + kWrongUs + kSecond)) totals.told_us += passed_us, d->told_future = true;
      const bool held_back =
          std::any_of(d->rows.begin(), d->rows.end(), [](const auto &r) { return !r.second.committed; });
      const bool stalls = d->shown < IdAt(d->layout, now_us - 10 * kSecond) && !held_back && d->state.generator.open;
      if (IsRight() && now_us - right_since_us_ > 10 * kSecond && stalls) totals.stalled_us += passed_us;
    }
    CheckAdvice(d, passed_us);
  }

  // --- What is told: FindAdvice() of views.cpp, and advice.cpp ---

  Advised Advice(const Database &d) const {
    const ServerTime time = server_.Look(Reading());
    NodeState state = d.state;
    Read(&state, time);
    const int64_t highest = std::max(d.highest, d.stored);
    const bool of_future = IsOfFuture(d.layout, highest, LatestIdUs(state));
    const bool behind = server_.IsKnownBehind(time);
    // FutureOf()
    const int64_t known_us = KnownUs(time.known, time.reading.steady_us);
    const bool may_be_of_present = time.known.read_us != 0 && !IsOfFuture(d.layout, highest, known_us);
    return {server_.IsInDoubt(time), behind, of_future && !behind && !may_be_of_present, of_future};
  }

  void CheckAdvice(Database *database, int64_t passed_us) {
    Database &d = *database;
    const Advised told = Advice(d);
    const int64_t horizon = std::max(d.highest, d.stored);
    const bool is_wrong = horizon > IdAt(d.layout, now_us + kWrongUs - 2 * kSecond);
    if (told.future && !is_wrong && !misled_) (IsRight() ? totals.untrue_us : totals.untrue_wrong_us) += passed_us;
    if (told.behind && IsRight()) totals.behind_us += passed_us;
    if (told.behind && !IsRight() && is_wrong) totals.nothing_us += passed_us;
    if (told.behind && IsRight() && told.of_future) totals.clock_us += passed_us;
    // Neither the time that is held nor the wall clock's is believed.
    const bool holds = d.state.clock.mode == ClockMode::kHeld;
    if (IsRight() && holds && !server_.MayBeRight(d.state.clock)) totals.held_us += passed_us;
    if (!told.doubt || !IsRight()) {
      d.doubt_us = 0;
    } else {
      totals.doubt_us += passed_us;
      d.doubt_us += passed_us;
      totals.longest_doubt_us = std::max(totals.longest_doubt_us, d.doubt_us);
    }
  }

  // --- The operator ---

  // snowflake_confirm_clock()
  void Confirm() {
    const ServerTime time = ReadTime();
    if (!IsPossible(time.reading) || (!server_.IsInDoubt(time) && !server_.IsKnownBehind(time))) return;
    misled_ |= !IsRight();
    server_.Confirm(time);
  }

  // "After a wrong clock" of doc/horizon.md, to the letter.
  void Recipe(Database *d) {
    int64_t after = 0;
    if (!ResetHorizon(d, &after)) {
      if (IsRight() && d->highest > IdAt(d->layout, now_us + policy.clock.max_bridge_us + 2 * kMinute))
        ++totals.refused;
      return;
    }
    const int64_t soon = IdAt(d->layout, Reading().wall_us + kMinute);
    const int64_t least = *std::min_element(std::begin(d->cursors), std::end(d->cursors));
    for (auto row = d->rows.upper_bound(soon); fate_.deletes && row != d->rows.end() && row->first <= least;)
      row = row->second.committed ? d->rows.erase(row) : std::next(row);
    for (int64_t &cursor : d->cursors)
      if (cursor >= after) cursor = after - 1;
    GiveNewIds(d);
  }

  // Its second step, repeated until snowflake_check() is silent.
  void GiveNewIds(Database *d) {
    std::vector<int64_t> wrong;
    for (auto row = d->rows.upper_bound(IdAt(d->layout, Reading().wall_us + kMinute)); row != d->rows.end(); ++row)
      if (row->second.committed) wrong.push_back(row->first);
    for (const int64_t id : wrong) {
      const int64_t next = Issue(d);
      if (next < 0) return;
      d->rows.erase(id);
      d->rows[next] = {true, 0, false, {}};
    }
  }

  void Operate() {
    Advised told = {};
    for (const Database &d : databases_) {
      if (!d.issues) continue;
      const Advised of = Advice(d);
      told = {told.doubt || of.doubt, told.behind || of.behind, told.future || of.future,
              told.of_future || of.of_future};
    }
    const bool any = told.doubt || told.behind || told.future;
    bool wants = false;
    switch (fate_.who) {
      case Operator::kNever: break;
      case Operator::kConfirmsRightly: wants = (told.doubt || told.behind) && IsRight(); break;
      case Operator::kConfirmsAlways: wants = told.doubt || told.behind; break;
      case Operator::kFollowsRightly:
      case Operator::kLate: wants = any && IsRight(); break;
      case Operator::kFollowsAtOnce: wants = any; break;
      case Operator::kRestarts: wants = refused_ && IsRight(); break;
    }
    refused_ = false;
    if (!wants) {
      wants_since_us_ = kNever;
      return;
    }
    if (wants_since_us_ == kNever) wants_since_us_ = now_us;
    if (now_us - wants_since_us_ < fate_.delay_us) return;
    wants_since_us_ = kNever;
    if (fate_.who == Operator::kRestarts) {
      Stop(true);
      EndPostmaster();
      now_us += 2 * kSecond;
      Start();
      return;
    }
    if (told.doubt || told.behind) Confirm();
    if (fate_.who == Operator::kConfirmsRightly || fate_.who == Operator::kConfirmsAlways) return;
    for (Database &d : databases_)
      if (d.issues && Advice(d).of_future) Recipe(&d);
    for (Database &d : databases_)
      if (d.issues) GiveNewIds(&d);
  }

  const Fate fate_;
  std::mt19937_64 random_;
  Database databases_[kDatabases];
  Server server_;
  bool up_ = false, was_up_ = false, refused_ = false;
  bool misled_ = false;  // the operator said of a wrong clock that it is right
  int64_t next_checkpoint_us_ = 0, right_since_us_ = 0, wants_since_us_ = kNever;
  uint64_t secrets_ = 0;
};

// --- Schedules ---

using Act = std::function<void(World *)>;
struct Event {
  int64_t at_us;
  Act act;
};

class Schedule {
 public:
  explicit Schedule(std::mt19937_64 *random) : random_(random) {}

  int64_t at_us = kBegin;
  std::vector<Event> events;

  int64_t Below(int64_t limit) { return snowflake::Below(random_, limit); }
  bool Percent(int64_t percent) { return Below(100) < percent; }
  // Short and long spans are as frequent as one another.
  int64_t Span(int64_t from_us, int64_t to_us) {
    const double part = static_cast<double>(Below(1 << 20)) / (1 << 20);
    return static_cast<int64_t>(static_cast<double>(from_us) *
                                std::exp(part * std::log(static_cast<double>(to_us) / static_cast<double>(from_us))));
  }
  void Do(Act act) { events.push_back({at_us, std::move(act)}); }
  void Pass(int64_t us) { at_us += us; }
  void Pass(int64_t from_us, int64_t to_us) { at_us += Span(from_us, to_us); }

  void Set(int64_t off_us) {
    Do([off_us](World *w) { w->SetClock(off_us); });
  }
  // To a time since 1970.
  void SetTo(int64_t unix_us) {
    Do([unix_us](World *w) { w->SetClock(unix_us - w->now_us); });
  }
  void Stop(bool clean) {
    Do([clean](World *w) { w->Stop(clean); });
  }
  void Start() {
    Do([](World *w) {
      if (!w->IsUp()) w->Start();
    });
  }
  void Ask() {
    Do([](World *w) { w->At(0).asked = w->At(1).asked = true; });
  }
  void Issue(int number) {
    Do([number](World *w) { w->At(number).issues = true; });
  }
  void Idle(bool idle) {
    Do([idle](World *w) { w->idle = idle; });
  }
  void PowerOff(bool clean) {
    Stop(clean);
    Do([](World *w) { w->PowerOff(); });
  }
  void Boot() {
    Do([](World *w) { w->booted_us = w->now_us - 10 * kSecond; });
  }
  // Clean, a crash, a crash that the postmaster survives, a reboot, a loss of power.
  void Restart() {
    const int64_t how = Below(5);
    Stop(how == 0 || how == 3);
    if (how < 2) Do([](World *w) { w->EndPostmaster(); });
    if (how < 3) {
      Pass(kSecond, 10 * kSecond);
    } else {
      Do([](World *w) { w->PowerOff(); });
      Pass(10 * kSecond, 10 * kMinute);
      Boot();
    }
    Start();
  }
  void MaybeRestart(int64_t percent) {
    if (Percent(percent)) Restart();
  }

 private:
  std::mt19937_64 *random_;
};

// A wrong time for a while, perhaps with a restart in it, or at its end.
void WrongFor(Schedule *s, int64_t off_us, int64_t span_us) {
  s->Set(off_us);
  if (s->Percent(25)) {
    s->Pass(span_us / 2);
    s->Restart();
    s->Pass(span_us / 2 + kSecond);
  } else {
    s->Pass(span_us + kSecond);
  }
  s->Set(0);
  if (s->Percent(20)) {
    if (s->Percent(70)) s->Pass(kSecond, 10 * kMinute);
    s->Restart();
  }
}

void StepsBack(Schedule *s) { WrongFor(s, -s->Span(2 * kSecond, 400 * kDay), s->Span(2 * kSecond, 4 * kHour)); }

void Leaps(Schedule *s) { WrongFor(s, s->Span(2 * kSecond, 5 * kYear), s->Span(2 * kSecond, 4 * kHour)); }

// A machine without a clock of its own.
void BootsWithNoClock(Schedule *s) {
  const int64_t stopped_us = s->at_us;
  s->PowerOff(s->Percent(50));
  if (s->Percent(30))
    s->Pass(kDay, 20 * kDay);
  else
    s->Pass(10 * kSecond, 2 * kHour);
  s->Boot();
  const int64_t what = s->Below(4);
  if (what == 0) s->SetTo(20 * kSecond);                   // 1970
  if (what == 1) s->SetTo(1420070400 * kSecond);           // 2015: after one epoch
  if (what == 2) s->Set(-s->Span(30 * kDay, 500 * kDay));  // the image's date
  if (what == 3) s->SetTo(stopped_us);                     // the time of the shutdown
  s->Start();
  s->Pass(3 * kSecond, kMinute);
  s->Set(0);
  if (s->Percent(20)) {
    s->Pass(kSecond, 9 * kMinute);
    WrongFor(s, -s->Span(kMinute, 10 * kDay), s->Span(2 * kSecond, kMinute));
  }
}

void IsOff(Schedule *s) {
  s->PowerOff(s->Percent(70));
  s->Pass(kHour, 30 * kDay);
  s->Boot();
  s->Start();
}

void Restarts(Schedule *s) { s->Restart(); }

void BootsInTheFuture(Schedule *s) {
  s->PowerOff(s->Percent(70));
  if (s->Percent(50))
    s->Pass(10 * kSecond, 10 * kMinute);
  else
    s->Pass(kDay, 20 * kDay);  // off for longer than max_leap
  s->Boot();
  s->Set(s->Span(2 * kHour, 5 * kYear));
  s->Start();
  s->Pass(2 * kSecond, 4 * kHour);
  if (s->Percent(30)) s->Restart();  // while in doubt
  s->Pass(2 * kSecond, 20 * kMinute);
  s->Set(0);
  s->MaybeRestart(30);
}

void StepsWithinTheBridge(Schedule *s) {
  s->Set(-s->Span(2 * kSecond, 59 * kSecond));
  s->Pass(2 * kSecond, 15 * kMinute);
  s->Restart();
  s->Pass(2 * kSecond, kHour);
  s->Set(0);
}

void IsIdle(Schedule *s) {
  s->Idle(true);
  s->Pass(kHour, 10 * kDay);
  s->PowerOff(false);
  s->Pass(10 * kSecond, 10 * kMinute);
  s->Boot();
  s->Idle(false);
  s->Start();
}

// A leap that was kept, and then the same one, or nearly.
void LeapsAgain(Schedule *s) {
  const int64_t by_us = s->Span(3 * kHour, 5 * kYear);
  s->Set(by_us);
  s->Pass(12 * kMinute, 2 * kHour);
  s->Set(0);
  s->Pass(5 * kSecond, 3 * kHour);
  s->MaybeRestart(30);
  s->Set(by_us - s->Span(kSecond, kHour));
  s->Pass(10 * kSecond, 9 * kMinute);
  s->Set(0);
}

// Its files are from when it was made; the checkpoint and what it replayed are of today.
void IsPromoted(Schedule *s) {
  auto saved = std::make_shared<Disk>();
  s->Do([saved](World *w) { *saved = w->disk; });
  s->Idle(true);
  s->Pass(2 * kDay, 200 * kDay);
  s->Idle(false);
  s->Pass(kMinute, 20 * kMinute);
  s->PowerOff(false);
  s->Pass(2 * kSecond, kMinute);
  s->Boot();
  s->Do([saved](World *w) {
    const int64_t checkpoint_us = w->disk.checkpoint_us, replayed_us = w->disk.replayed_us;
    w->disk = *saved;
    w->disk.checkpoint_us = checkpoint_us;
    w->disk.replayed_us = replayed_us;
    w->At(0).promoted = w->At(1).promoted = true;
  });
  // A clock that is behind is an exception: nobody knows here what was reported.
  if (s->Percent(30)) s->Set(s->Span(kMinute, kYear));
  s->Start();
  s->Pass(2 * kSecond, 30 * kMinute);
  s->Set(0);
}

void LeapsInSteps(Schedule *s) {
  int64_t off_us = 0;
  for (int i = 0; i < 6; ++i) {
    off_us += policy.clock.max_leap_us / 2 + s->Below(policy.clock.max_leap_us / 2);
    s->Set(off_us);
    s->Pass(2 * kSecond, s->Percent(70) ? 80 * kSecond : 12 * kMinute);
  }
  s->Set(0);
}

// A virtual machine. Its monotonic clock stands; its wall clock is right at once, or soon.
void IsPaused(Schedule *s) {
  const int64_t span_us = s->Span(kHour, 20 * kDay);
  s->Idle(true);
  s->Pass(span_us);
  s->Do([span_us](World *w) {
    w->booted_us += span_us;
    w->SetClock(w->off_us);
  });
  s->Idle(false);
  if (s->Percent(50)) return;
  s->Set(-span_us);
  s->Pass(2 * kSecond, 10 * kMinute);
  s->Set(0);
}

void DriftsAndIsSetRight(Schedule *s) {
  const int64_t ppm = (s->Percent(50) ? 1 : -1) * s->Span(10, 100000);
  s->Do([ppm](World *w) { w->ppm = ppm; });
  s->Pass(kMinute, 6 * kHour);
  s->MaybeRestart(20);
  s->Pass(kMinute);
  s->Set(0);
}

void CrashesWithAWrongClock(Schedule *s) {
  s->Set((s->Percent(70) ? 1 : -1) * s->Span(kMinute, 5 * kYear));
  s->Pass(kSecond, 9 * kMinute);
  s->PowerOff(s->Percent(30));
  s->Pass(10 * kSecond, kHour);
  s->Boot();
  if (s->Percent(60)) s->Set(0);
  s->Start();
  s->Pass(2 * kSecond, 20 * kMinute);
  s->MaybeRestart(30);
  s->Set(0);
}

using Fault = void (*)(Schedule *);
struct Kind {
  const char *name;
  Fault fault;  // nullptr: three of the others
};

constexpr Kind kKinds[] = {
    {"step back, taken back", StepsBack},
    {"leap, taken back", Leaps},
    {"boot with no clock", BootsWithNoClock},
    {"off for hours to days", IsOff},
    {"restarts", Restarts},
    {"boot in the future", BootsInTheFuture},
    {"step within the bridge", StepsWithinTheBridge},
    {"idle, crash, reboot", IsIdle},
    {"a leap, and again", LeapsAgain},
    {"standby promoted", IsPromoted},
    {"steps below max_leap", LeapsInSteps},
    {"paused", IsPaused},
    {"drift, set right", DriftsAndIsSetRight},
    {"crash, wrong clock", CrashesWithAWrongClock},
    {"image, first started", nullptr},
    {"asked in a wrong time", nullptr},
    {"second database, leap", nullptr},
    {"5 s a night, a year", nullptr},
    {"three of these", nullptr},
};
constexpr int kKindCount = static_cast<int>(std::size(kKinds)), kFaults = 14;

Schedule MakeSchedule(int kind, std::mt19937_64 *random) {
  Schedule s(random);
  const bool is_image = kind == kFaults, asks_late = kind == kFaults + 1, starts_late = kind == kFaults + 2;
  if (!is_image) s.Issue(0);
  s.Start();
  if (!is_image && !starts_late) s.Issue(1);
  if (is_image) {
    s.Pass(30 * kSecond);
    s.PowerOff(true);
    s.Pass(kHour, 300 * kDay);
    s.Boot();
    s.Issue(0);
    s.Issue(1);
    s.Start();
    s.Pass(20 * kSecond);
  }
  const bool is_long = kind == kFaults + 3;
  if (is_long || (!asks_late && !s.Percent(20))) s.Ask();
  s.Pass(kMinute, 40 * kMinute);
  switch (kind - kFaults) {
    case 0: break;
    case 1:
      s.PowerOff(true);
      s.Pass(10 * kSecond, 10 * kMinute);
      s.Boot();
      s.Set(s.Span(kMinute, 5 * kYear));
      s.Start();
      s.Pass(5 * kSecond, 2 * kHour);
      s.Ask();
      s.Pass(5 * kSecond, 2 * kHour);
      s.Set(0);
      break;
    case 2:
      s.Set((s.Percent(80) ? 1 : -1) * s.Span(kHour, kYear));
      s.Pass(kSecond, 15 * kMinute);
      s.Issue(1);
      s.Pass(kSecond, 15 * kMinute);
      s.MaybeRestart(20);
      s.Set(0);
      break;
    case 3:
      for (int night = 0; night < 365; ++night) {
        s.Set(-5 * kSecond * (night + 1));
        s.Pass(kDay);
      }
      s.Set(0);
      break;
    case 4:
      for (int i = 0; i < 3; ++i) {
        kKinds[s.Below(kFaults)].fault(&s);
        s.Pass(5 * kSecond, 25 * kMinute);
      }
      break;
    default:
      for (int64_t i = s.Percent(30) ? 2 : 1; i > 0; --i) {
        kKinds[kind].fault(&s);
        s.Pass(5 * kSecond, 25 * kMinute);
      }
  }
  s.Ask();
  s.Pass(15 * kMinute);
  return s;
}

// Steps are short after an event, and grow.
Totals Run(const Schedule &schedule, const Fate &fate, uint64_t seed) {
  World world(fate, seed);
  int64_t event_us = world.now_us;
  for (size_t next = 0; next < schedule.events.size() || world.now_us < schedule.at_us;) {
    if (next < schedule.events.size() && schedule.events[next].at_us <= world.now_us) {
      schedule.events[next++].act(&world);
      event_us = world.now_us;
      continue;
    }
    const int64_t end_us = next < schedule.events.size() ? schedule.events[next].at_us : schedule.at_us;
    const int64_t since_us = world.now_us - event_us;
    int64_t step_us = std::max(kSecond, std::min(since_us / 8 / kSecond * kSecond, int64_t{30} * kSecond));
    if (since_us > 20 * kMinute) step_us = kMinute;
    if (since_us > 4 * kHour) step_us = 10 * kMinute;
    if (!world.IsUp() || world.idle) step_us = end_us - world.now_us;
    step_us = std::max(int64_t{0}, std::min(step_us, end_us - world.now_us));
    if (step_us == 0) {  // an operator's restart took longer
      world.now_us = std::max(world.now_us, end_us);
      continue;
    }
    world.Step(step_us);
    world.now_us += step_us;
    world.off_us += step_us / 1000000 * world.ppm;
  }
  world.Finish();
  return world.totals;
}

// --- The table ---

void Print(const std::string &name, const Totals &t) {
  const auto hours = [](int64_t us) { return static_cast<double>(us) / static_cast<double>(kHour); };
  char line[400];
  snprintf(line, sizeof(line),
           "%-24s|%7lld %9lld|%6lld %4lld|%6lld %8.0f %8.0f|%7.1f %7.1f|%7.1f %5.0f|%6.2f %6.2f %6.2f %6.2f|%7.1f "
           "%7.1f %8.0f|%lld",
           name.c_str(), static_cast<long long>(t.schedules), static_cast<long long>(t.rows),
           static_cast<long long>(t.missed), static_cast<long long>(t.falls), static_cast<long long>(t.told),
           hours(t.told_us), hours(t.future_ids), hours(t.closed_us), hours(t.stalled_us), hours(t.doubt_us),
           static_cast<double>(t.longest_doubt_us) / kSecond, hours(t.untrue_us), hours(t.untrue_wrong_us),
           hours(t.silent_us), hours(t.held_us), hours(t.nothing_us), hours(t.clock_us), hours(t.behind_us),
           static_cast<long long>(t.refused));
  std::cout << line << std::endl;
}

Totals RunSchedules(int64_t count, uint64_t seed) {
  std::map<int, Totals> by_kind, by_operator;
  Totals all;
  const char *only = std::getenv("SNOWFLAKE_KIND"), *from = std::getenv("SNOWFLAKE_FROM");
  for (int64_t i = from != nullptr ? std::atoll(from) : 0; i < count; ++i) {
    std::mt19937_64 random(seed * 1000003 + static_cast<uint64_t>(i));
    random.discard(8);
    const int kind = static_cast<int>(i % kKindCount);
    // A year takes as long as a hundred others.
    if (kind == 17 && i / kKindCount % 20 != 0) continue;
    if (only != nullptr && kind != std::atoi(only)) continue;
    const Schedule schedule = MakeSchedule(kind, &random);
    Fate fate = {static_cast<Operator>(Below(&random, 7)), 0, Below(&random, 2) == 0};
    fate.delay_us =
        fate.who == Operator::kLate ? kHour + Below(&random, 5 * kHour) : (10 + Below(&random, 290)) * kSecond;
    if (fate.who == Operator::kFollowsAtOnce) fate.delay_us = 0;
    const Totals totals = Run(schedule, fate, random());
    if (std::getenv("SNOWFLAKE_LIST") != nullptr &&
        (totals.missed || totals.falls || totals.untrue_us || totals.silent_us || totals.held_us || totals.stalled_us ||
         totals.untrue_wrong_us))
      Print(std::to_string(i) + " " + kKinds[kind].name + " " + kOperators[static_cast<int>(fate.who)], totals);
    by_kind[kind].Add(totals);
    by_operator[static_cast<int>(fate.who)].Add(totals);
    all.Add(totals);
  }
  std::cout
      << "                        |  sched      rows|missed fall|  told    hours future h|closed  stalled|doubt h max s"
         "|untrue  wrong silent   held|nothing ahead c behind h|refused"
      << std::endl;
  for (const auto &[kind, totals] : by_kind) Print(kKinds[kind].name, totals);
  for (const auto &[who, totals] : by_operator) Print(kOperators[who], totals);
  Print("all", all);
  return all;
}

void Check(int64_t max_leap_us, int64_t brief, int64_t full) {
  std::mt19937_64 random = SeededRandom(6202);
  const char *given = std::getenv("SNOWFLAKE_SCHEDULES");
  const int64_t count = given != nullptr ? std::atoll(given) : AtLength(brief, full);
  policy.clock.max_leap_us = max_leap_us;
  std::cout << count << " schedules, max_leap " << max_leap_us / kSecond << " s" << std::endl;
  const Totals all = RunSchedules(count, random());
  EXPECT_EQ(all.missed, 0);
  EXPECT_EQ(all.falls, 0);
  EXPECT_EQ(all.untrue_us, 0);
  EXPECT_EQ(all.silent_us, 0);
  EXPECT_EQ(all.refused, 0);
  EXPECT_LE(all.longest_doubt_us, kHoldUs + kMinute);
}

TEST(TimeSchedules, ADay) { Check(kDay, 600, 6000); }
TEST(TimeSchedules, FiveMinutes) { Check(5 * kMinute, 600, 6000); }

}  // namespace
}  // namespace snowflake
