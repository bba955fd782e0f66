// One registry and some nodes in a simulated world in which everything fails that can fail.
// Messages are lost, delayed or overtaken. Processes crash, are paused and cloned. Clocks step,
// drift and stand still, and settings change. The registry becomes unavailable, or fails over to a
// copy that lacks its newest commits. One seed is one run, and every id of the run is remembered.
//
// 1. The core's own code makes the decisions of nodes and registry: node.h, keeper.h, generator.h,
//    open_run.h and ring.h. Here are only rows, messages and processes.
// 2. Nothing here reads a clock or the machine's randomness: the same seed gives the same run
//    everywhere.
// 3. A test that cannot fail proves nothing: with one rule of the registry or of the open run
//    switched off it must find a repeated id.
//
// Optimized: it runs for 6 s, and for 15 s without.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "core/box.h"
#include "core/node.h"
#include "core/open_run.h"
#include "core/ring.h"
#include "length.h"
#include "times.h"

namespace snowflake {
namespace {

constexpr int64_t kExchangeTimeoutUs = 2 * kSecond;
constexpr int64_t kMaxSkewUs = 10 * kSecond;
constexpr ClockPolicy kPolicy = {5 * kMs, {kSecond, 10 * kSecond}, true};

// The rules that registry and nodes follow, and that can be switched off to show their purpose.
struct Rules {
  bool watermarks = true;
  bool settling = true;
  bool limits = true;
  bool serials = true;
  bool held = true;  // the registry holds its time after a step, and confirms no leap then
};

// Faults in addition to those of messages and the registry's commits. A run has some of them.
enum class Fault {
  kCrash,
  kReboot,
  kShutdown,
  kPause,
  kCutOff,
  kRegistryDown,
  kKeeperCrash,
  kClone,
  kClockStepsBack,
  kClockLeaps,
  kClockDrifts,
  kClockIsSet,
};
constexpr int64_t kFaults = static_cast<int64_t>(Fault::kClockIsSet) + 1;

struct World {
  const char *name;
  int32_t worker_bits;
  int64_t nodes;
  int64_t run_us;
  int64_t duration_us;
  int64_t issue_every_us;  // mean, for each node
  bool clock_faults;
  int64_t failover_us;  // mean time between failovers that lose commits, and restarts; 0: none
  bool changing_limits;
  Rules rules;
  bool registry_clock;    // its clock steps
  int64_t leap_every_us;  // mean time between leaps of many clocks, which are taken back; 0: none
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Bits() { return engine_(); }
  int64_t Below(int64_t limit) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit)); }
  bool Percent(int64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

// A wall clock as a function of the true time.
struct Clock {
  int64_t base_us;
  int64_t set_at_us;
  int64_t parts_per_million;  // 0: stands still

  int64_t At(int64_t true_us) const { return base_us + (true_us - set_at_us) / 1000 * parts_per_million / 1000; }
  void Set(int64_t true_us, int64_t shows_us, int64_t rate) { *this = {shows_us, true_us, rate}; }
};

// Section 4: the rows, and what a failover leaves of them. core/ring.h decides how they change.
class Registry {
 public:
  enum class Status { kDone, kGone, kNoWorker, kTimeUsedUp, kNothingBetter, kSkewed };
  struct Answer {
    Status status;
    AcquireAnswer lease;
    ExtendAnswer window;
  };

  Registry(const Layout &layout, const Rules &rules, uint64_t seed, int64_t first_lease_id)
      : layout_(layout), rules_(rules), random_(seed), sequence_(first_lease_id), logged_(first_lease_id) {
    now_.origin.found = true;
    now_.origin.last_lease_id = first_lease_id;
    now_.origin.raised_tick = kNoWatermark;
    BeginLife(&now_.origin, Here(0), layout_.worker_count(), 0);
    judges_clocks_ = random_.Percent(50);
    clock.Set(0, 0, 1000000);
  }

  Answer Acquire(int64_t at_us, const AcquireRequest &request) {
    if (IsSkewed(at_us, request.now, request.leapt)) return {Status::kSkewed, {}, {}};
    const int64_t ring = layout_.worker_count();
    const Tick now = FromEpoch(request.now);
    Look(at_us, request.duration_us, request.seen_lease_id);
    for (auto &[id, row] : now_.rows)
      if (row.lease.secret.hash == request.secret_hash) return Again(at_us, request, &row);

    const Tick over = OverBy(now, layout_.TickAt(clock.At(at_us)));
    const int64_t lease_id = NextLeaseId();
    Choosing choosing(ring, lease_id, SettlingOf(now_.origin, Here(at_us), false), now, over);
    for (int64_t slot = 0; slot < ring; ++slot) Offer(static_cast<int32_t>(slot), &choosing);
    const Choice choice = choosing.Finish();
    Commit(at_us);  // a detected loss stays recorded, whatever the result is
    if (choice.what == Chosen::kNone) return {Status::kNoWorker, {}, {}};
    if (choice.what == Chosen::kExpired) Drop(choice.lease_id);

    Lease lease = {};
    lease.lease_id = lease_id;
    lease.secret.hash = request.secret_hash;
    lease.worker = static_cast<int32_t>(choice.slot);
    const Tick watermark = rules_.watermarks ? WatermarkOf(lease.worker) : kNoWatermark;
    const Assignment assignment = AssignWindow(layout_, request, watermark, FloorOf(layout_, now_.origin), &lease);
    if (assignment == Assignment::kTooLate) return {Status::kNothingBetter, {}, {}};
    if (assignment == Assignment::kTimeUsedUp) return {Status::kTimeUsedUp, {}, {}};
    now_.rows[lease_id] = {lease, at_us};
    now_.origin.last_lease_id = lease_id;
    Commit(at_us);
    return {Status::kDone, {lease, layout_, Stand(), ring - choosing.live()}, {}};
  }

  Answer Extend(int64_t at_us, const ExtendRequest &request) {
    Row *row = Find(request.lease_id, request.secret_hash);
    if (IsSkewed(at_us, request.now, request.leapt) && (row == nullptr || !MayHold(at_us, request, row->lease)))
      return {Status::kSkewed, {}, {}};
    Look(at_us, request.duration_us, request.lease_id);
    if (row == nullptr) return {Status::kGone, {}, {0, Stand()}};
    const Tick known = row->lease.window_end;
    row->lease.window_end = std::max(known, EndForExtend(layout_, request));
    row->renewed_us = at_us;
    const Tick end = row->lease.window_end;
    if (HeldUntil(layout_, request.held_until) > known) Lost(at_us);
    Commit(at_us);
    return {Status::kDone, {}, {end, Stand()}};
  }

  Answer Release(int64_t at_us, const ReleaseRequest &request) {
    Look(at_us, 0, request.lease_id);
    const Row *row = Find(request.lease_id, request.secret.hash);
    if (row == nullptr) return {Status::kGone, {}, {}};
    // Refused because of the node's own mistake: the row then expires.
    Tick watermark = kNoWatermark;
    if (!WatermarkOfRelease(layout_, request, row->lease.window_start, row->lease.window_end, kNoWatermark, &watermark))
      return {Status::kDone, {}, {}};
    Raise(row->lease.worker, watermark);
    now_.rows.erase(row->lease.lease_id);
    Commit(at_us);
    return {Status::kDone, {}, {}};
  }

  // Back to the state committed `loss_us` ago. A sequence is restored to a number that was logged
  // but may be unused.
  void Failover(int64_t at_us, int64_t loss_us) {
    while (history_.size() > 1 && history_.back().at_us > at_us - loss_us) {
      history_.pop_back();
      ++lost_commits_;
    }
    if (!history_.empty()) {
      now_ = history_.back().state;
      sequence_ = logged_ = history_.back().logged;
    }
    ++timeline_;
    Restart(at_us);
  }

  void Restart(int64_t at_us) { started_us_ = at_us; }

  // G1: the registry's disk must cover every tick in use.
  bool Covers(int32_t worker, Tick tick) const {
    if (WatermarkOf(worker) >= tick) return true;
    for (const auto &[id, row] : now_.rows)
      if (row.lease.worker == worker && row.lease.window_start <= tick && tick < row.lease.window_end) return true;
    return false;
  }

  // The last tick that a worker id may have used.
  Tick Latest() const {
    Tick latest = kNoWatermark;
    for (const auto &[id, row] : now_.rows) latest = std::max(latest, row.lease.window_end - 1);
    for (const auto &[worker, watermark] : now_.watermarks) latest = std::max(latest, watermark);
    return latest;
  }

  Clock clock = {};  // its server's

  bool Has(int64_t lease_id) const { return now_.rows.count(lease_id) != 0; }
  int64_t lost_commits() const { return lost_commits_; }

 private:
  static constexpr int64_t kLoggedAhead = 32;
  static constexpr int64_t kRememberUs = 10 * kSecond;

  struct Row {
    Lease lease;
    int64_t renewed_us;
  };
  struct State {
    std::map<int64_t, Row> rows;
    std::map<int32_t, Tick> watermarks;
    Origin origin = {};
  };
  struct Committed {
    int64_t at_us;
    int64_t logged;
    State state;
  };

  snowflake::Here Here(int64_t at_us) const { return {1, timeline_, started_us_, 1, {clock.At(at_us), at_us + 1}}; }

  KeptTime TimeAt(int64_t at_us) const {
    const snowflake::Here here = Here(at_us);
    return IsInPlace(now_.origin, here) && rules_.held ? After(now_.origin.time, here.clock) : KeptSince(here.clock);
  }

  bool IsSkewed(int64_t at_us, Tick tick, bool leapt) const {
    leapt = leapt && rules_.held;
    if (!judges_clocks_) return leapt;
    return !AcceptsClock(layout_, TimeAt(at_us), Here(at_us).clock, tick, leapt, kMaxSkewUs);
  }

  bool MayHold(int64_t at_us, const ExtendRequest &request, const Lease &lease) const {
    return rules_.held && !request.leapt &&
           AcceptsHolder(layout_, TimeAt(at_us), Here(at_us).clock, request.now, lease.window_start, lease.window_end,
                         request.duration_us);
  }

  Standing Stand() const { return {1, timeline_, kNoWatermark, 0}; }

  // Like pg/registry/settling.cpp.
  void Look(int64_t at_us, int64_t duration_us, int64_t named) {
    Origin *origin = &now_.origin;
    origin->longest_us = std::max(origin->longest_us, duration_us);
    if (!rules_.settling) return;
    bool lost = false;
    if (!IsInPlace(*origin, Here(at_us)))
      lost = BeginLife(origin, Here(at_us), layout_.worker_count(), random_.Bits()) != Loss::kNone;
    else if (HasStepped(origin->time, Here(at_us).clock))
      NoticeStep(origin, Here(at_us), layout_.worker_count(), random_.Bits());
    PassTime(origin, Here(at_us), kMaxSkewUs);
    lost |= IsEvidence(*origin, named) && !origin->loss_known;
    if (IsEvidence(*origin, named)) GoAbove(origin, named);
    if (!lost) return;
    Settle(origin, Here(at_us), 0, kMaxSkewUs);
    Commit(at_us);
  }

  void Lost(int64_t at_us) {
    if (rules_.settling && !now_.origin.loss_known) Settle(&now_.origin, Here(at_us), 0, kMaxSkewUs);
  }

  // The same node repeats its request because it got no response.
  Answer Again(int64_t at_us, const AcquireRequest &request, Row *row) {
    row->lease.window_end = std::max(row->lease.window_end, EndForAcquired(layout_, request));
    row->renewed_us = at_us;
    const Lease lease = row->lease;
    Commit(at_us);
    return {Status::kDone, {lease, layout_, Stand(), -1}, {}};
  }

  void Offer(int32_t worker, Choosing *choosing) const {
    for (const auto &[id, row] : now_.rows)
      if (row.lease.worker == worker) choosing->Offer({worker, id, row.lease.window_end, 0});
    if (rules_.watermarks && WatermarkOf(worker) != kNoWatermark) choosing->Offer({worker, 0, 0, WatermarkOf(worker)});
  }

  // Like a sequence: outside the transaction, and logged before use. A restored sequence continues
  // above.
  int64_t NextLeaseId() {
    sequence_ = std::max(sequence_ + 1, now_.origin.last_lease_id + 1);
    if (sequence_ > logged_) logged_ = sequence_ + kLoggedAhead;
    return sequence_;
  }

  Tick WatermarkOf(int32_t worker) const {
    const auto known = now_.watermarks.find(worker);
    return known != now_.watermarks.end() ? known->second : kNoWatermark;
  }

  // A lost lease's number is assigned again; its secret is not.
  Row *Find(int64_t lease_id, const SecretHash &hash) {
    const auto row = now_.rows.find(lease_id);
    if (row == now_.rows.end()) return nullptr;
    return row->second.lease.secret.hash == hash ? &row->second : nullptr;
  }

  void Raise(int32_t worker, Tick tick) {
    Tick *watermark = &now_.watermarks.try_emplace(worker, kNoWatermark).first->second;
    *watermark = std::max(*watermark, tick);
  }

  void Drop(int64_t lease_id) {
    const auto row = now_.rows.find(lease_id);
    Raise(row->second.lease.worker, WatermarkOfWindow(row->second.lease.window_end));
    now_.rows.erase(row);
  }

  void Commit(int64_t at_us) {
    history_.push_back({at_us, logged_, now_});
    while (history_.size() > 1 && history_[1].at_us < at_us - kRememberUs) history_.pop_front();
  }

  Layout layout_;
  Rules rules_;
  Random random_;
  bool judges_clocks_;
  State now_;
  std::deque<Committed> history_;
  int64_t sequence_;
  int64_t logged_;
  int64_t timeline_ = 1;
  int64_t started_us_ = 1;
  int64_t lost_commits_ = 0;
};

// What a backend knows of a run.
struct Backend {
  uint64_t serial = 0;  // 0: of none
  snowflake::Run run = {};
  int64_t until_us = 0;
};

struct SimulatedNode {
  Clock clock = {};
  int64_t steady_us = 0;           // what its monotonic clock is ahead of the others'
  KnownTime known = {};            // of its server
  ClockPolicy settings = kPolicy;  // which the keeper puts in force
  bool up = false;
  int64_t incarnation = 0;  // a crash ends one
  int64_t paused_until_us = 0;
  int64_t cut_off_until_us = 0;  // from the registry

  // Shared memory.
  NodeState state = {};
  std::shared_ptr<OpenRun> open = std::make_shared<OpenRun>();
  int32_t issued = 0;  // from the newest run

  std::vector<Backend> backends{3};
  std::shared_ptr<BoxSlot> box = std::make_shared<BoxSlot>();

  // The keeper's own state.
  Keeper keeper;
  int64_t exchange = 0;  // the exchange that it waits for; 0: none
  int64_t wake = 0;      // the newest deadline; older ones are ignored
  bool leaving = false;

  int64_t last_id = -1;  // since the start, and since the clock stepped back
  int64_t last_issue_us = 0;
};

struct Totals {
  int64_t trials = 0, faults = 0, leases = 0, ids = 0, lost_commits = 0, extensions = 0, releases = 0, bridged = 0;
  int64_t recovered = 0, renewed = 0, changes = 0, too_late = 0, leaps = 0;
};

class Simulation {
 public:
  Simulation(const World &world, uint64_t seed)
      : world_(world),
        random_(seed),
        changes_(~seed),
        calls_(seed ^ 1),
        leaps_(~seed ^ 1),
        layout_{kFirstTimeUs / kMs, kMs, 41, 0, world.worker_bits, 6, random_.Percent(50)},
        registry_(layout_, world.rules, seed, random_.Below(1000)) {
    for (bool &enabled : enabled_) enabled = random_.Percent(60);
    loss_percent_ = random_.Percent(50) ? random_.Below(20) : 0;
    nodes_.resize(static_cast<size_t>(world.nodes));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].clock.Set(now_us_, now_us_, 1000000);
      After(random_.Below(kSecond), [this, i] { Start(i); });
    }
    After(random_.Below(kSecond), [this] { FaultAtRandom(); });
    if (world.registry_clock) After(leaps_.Below(5 * kSecond), [this] { StepRegistry(); });
    if (world.leap_every_us > 0) After(leaps_.Below(world.leap_every_us), [this] { Leap(); });
    if (world.changing_limits) After(changes_.Below(kSecond), [this] { ChangeLimits(); });
    if (world.failover_us > 0) After(world.failover_us / 2 + random_.Below(world.failover_us), [this] { FailOver(); });
  }

  // False if an id was repeated, or another guarantee was broken; why() says which.
  bool Run() {
    RunUntil(kStartUs + world_.run_us);
    Heal();
    // The longest window that a fault left behind, the longest pause, and a few exchanges.
    RunUntil(now_us_ + 2 * world_.duration_us + 20 * kSecond);
    if (why_.empty() && !world_.clock_faults) CheckEveryNodeIssues();
    ShutDown();
    return why_.empty();
  }

  const std::string &why() const { return why_; }
  void AddTo(Totals *totals) const {
    ++totals->trials;
    totals->faults += count_.faults;
    totals->leases += count_.leases;
    totals->ids += count_.ids;
    totals->extensions += count_.extensions;
    totals->releases += count_.releases;
    totals->bridged += count_.bridged;
    totals->recovered += count_.recovered;
    totals->renewed += count_.renewed;
    totals->changes += count_.changes;
    totals->too_late += count_.too_late;
    totals->leaps += count_.leaps;
    totals->lost_commits += registry_.lost_commits();
  }

 private:
  // Hours after the layout's epoch, so that a clock may step back by hours.
  static constexpr int64_t kStartUs = kFirstTimeUs + 10 * kHour;
  static constexpr size_t kMostNodes = 12;
  static constexpr int64_t kLargestLeadUs = 300 * kMs;

  struct Event {
    int64_t at_us;
    int64_t order;
    std::function<void()> run;
    bool operator<(const Event &other) const {
      return at_us != other.at_us ? at_us > other.at_us : order > other.order;
    }
  };

  void After(int64_t delay_us, std::function<void()> run) {
    events_.push({now_us_ + delay_us, ++order_, std::move(run)});
  }

  void RunUntil(int64_t end_us) {
    while (!events_.empty() && events_.top().at_us <= end_us && why_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_us_ = event.at_us;
      event.run();
    }
    now_us_ = std::max(now_us_, end_us);
  }

  void Broken(const std::string &why) {
    if (why_.empty()) why_ = why + " after " + std::to_string((now_us_ - kStartUs) / kMs) + " ms";
  }

  // Runs in a node's process: not before a pause ends, and never after that process's crash.
  void InNode(size_t i, int64_t delay_us, std::function<void()> run) {
    const int64_t incarnation = nodes_[i].incarnation;
    After(delay_us, [this, i, incarnation, run] {
      const SimulatedNode &node = nodes_[i];
      if (!node.up || node.incarnation != incarnation) return;
      if (node.paused_until_us > now_us_)
        InNode(i, node.paused_until_us - now_us_, run);
      else
        run();
    });
  }

  ClockReading ReadingOf(size_t i) const { return {nodes_[i].clock.At(now_us_), now_us_ + nodes_[i].steady_us}; }

  // Like WithBox() of the server: whatever reads or changes the generator or the clock ends the run.
  NodeState *Locked(size_t i) {
    SimulatedNode &node = nodes_[i];
    Generator *g = &node.state.generator;
    const bool open = node.open->word != 0;
    const snowflake::Run &run = node.open->run;
    if (open && (g->last_tick != run.tick || g->next_sequence != run.sequence + run.count))
      Broken("the generator changed while a run was open");
    if (EndRun(node.open.get(), g) != (open ? node.issued : 0))
      Broken("a run ended with other numbers than were issued");
    return &node.state;
  }

  ServerTime TimeOf(size_t i, const ClockReading &reading) {
    SimulatedNode &node = nodes_[i];
    node.known = snowflake::After(node.known, reading, node.settings.clock.max_bridge_us);
    return {reading, node.known};
  }

  void ReadClock(size_t i, const ClockReading &reading) {
    NodeState *state = Locked(i);
    const NodeState before = *state;
    Read(state, TimeOf(i, reading));
    CheckClock(i, before, reading);
  }

  // G9: the node's clock steps back only after a step of more than could be bridged before.
  void CheckClock(size_t i, const NodeState &before, const ClockReading &reading) {
    const NodeClock &clock = nodes_[i].state.clock;
    count_.bridged += clock.bridged - before.clock.bridged;
    if (clock.shown_us >= before.clock.shown_us) return;
    const int64_t step_us = before.clock.shown_us - reading.wall_us;
    const int64_t bridged_us = std::max(before.policy.clock.max_bridge_us, LeadUs(before.clock));
    if (!world_.clock_faults || step_us <= bridged_us) Broken("a step back was not bridged");
    nodes_[i].last_id = -1;
  }

  // --- Backends ---

  void Start(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (node.up || healed_ == Healed::kShutDown) return;
    // Without its box it could not know that its clock has leapt.
    if (leaping_) return After(kSecond, [this, i] { Start(i); });
    node.up = true;
    node.leaving = false;
    LookIntoBox(i);
    InNode(i, 0, [this, i] { Issue(i); });
    Step(i);
  }

  // G10: ids continue at once under the box's lease, in order, without any request.
  void LookIntoBox(size_t i) {
    SimulatedNode &node = nodes_[i];
    Kept kept = {};
    if (!Load(node.box.get(), &kept)) {
      node.last_id = -1;
      node.known = KnownBy(ReadingOf(i));
      SetPolicy(&node.state, node.settings);  // a copy has the original's memory, and no box
      return;
    }
    node.state = kept.state;
    const ClockReading reading = ReadingOf(i);
    Generator g = node.state.generator;
    const int64_t lead_us = layout_.UnixUsAt(g.last_tick) - reading.wall_us;
    if (world_.clock_faults && lead_us > node.settings.clock.max_bridge_us) node.last_id = -1;
    const NodeState before = node.state;
    node.known = KnownBySign(SignOf(before.clock, reading), reading.steady_us);
    Resume(&node.state, TimeOf(i, reading), node.settings);
    CheckClock(i, before, reading);
    if (node.state.clock.shown_us > std::max(before.clock.shown_us, reading.wall_us))
      Broken("time passed between two lives");
    CatchUp(&node.state, false);
    if (!g.open) return;
    ++count_.recovered;
    const Tick now = NowOf(node.state, layout_);
    const Tick max_lead = MaxLead(node.state, layout_);
    if (IsBehind(g, now, max_lead) || std::max(now, g.last_tick + 1) >= g.lease.window_end) return;
    if (g.last_tick + 1 - now > max_lead) return;
    if (Take(&g, now, 1, {max_lead, 0}).outcome != Outcome::kRun) Broken("a crash cost something");
  }

  // The server does this under the lock whenever the keeper has changed the state.
  void Keep(size_t i) {
    SimulatedNode &node = nodes_[i];
    Store(node.box.get(), [&](Kept *kept) { kept->state = *Locked(i); });
  }

  void Issue(size_t i) {
    const ClockReading reading = ReadingOf(i);
    // Between reading the clock and taking the lock a process may be delayed for a long time.
    const bool held_up = random_.Percent(5);
    const int64_t bursts = 1 + random_.Below(3);
    if (held_up)
      InNode(i, random_.Below(2 * kSecond), [this, i, reading] { TakeOne(i, reading, 1 + random_.Below(40)); });
    else
      for (int64_t burst = 0; burst < bursts; ++burst) TakeOne(i, reading, 1 + random_.Below(40));
    InNode(i, 1 + random_.Below(2 * world_.issue_every_us), [this, i] { Issue(i); });
  }

  // Like a call of the server, whose first step is the reading: without the lock, then under it,
  // from the run that is open or from another one.
  Outcome TakeOne(size_t i, const ClockReading &reading, int64_t want) {
    SimulatedNode &node = nodes_[i];
    if (!node.up) return Outcome::kNoLease;  // the call before let it exit
    const int64_t jitter = random_.Below(FreshLimit(layout_));
    Backend *backend = &node.backends[static_cast<size_t>(calls_.Below(3))];
    const int32_t most = static_cast<int32_t>(want);
    if (reading.steady_us < backend->until_us && IssueFrom(i, *backend, most)) return Outcome::kRun;
    OpenRun *open = node.open.get();
    if (reading.steady_us < open->until_us) {
      *backend = {open->serial, open->run, open->until_us};
      if (IssueFrom(i, *backend, most)) return Outcome::kRun;
    }
    ReadClock(i, reading);
    const Terms terms = {MaxLead(node.state, layout_), jitter};
    const Decision decision = TakeOrAsk(&node.state, kMostOfRun, terms);
    switch (decision.outcome) {
      case Outcome::kRun: {
        if (decision.lead > terms.max_lead || decision.lead > kLargestLeadUs / kMs)
          Broken("an id leads the clock too far");
        StoreLastTick(node.box.get(), decision.run.tick);
        const int64_t until_us = TickEndUs(node.state, layout_);
        const int32_t issued = std::min(most, decision.run.count);
        BeginRun(open, decision.run, issued, until_us);
        node.issued = 0;
        *backend = {open->serial, open->run, until_us};
        Remember(i, decision.run, 0, issued);
        break;
      }
      case Outcome::kNoLease:
      case Outcome::kWindowEnd: Step(i); break;
      case Outcome::kClockBehind:
        if (!world_.clock_faults && node.state.generator.last_tick >= node.state.generator.lease.window_start)
          Broken("a clock that is right is behind");
        node.state.new_worker_wanted = node.state.policy.new_worker;
        Step(i);
        break;
      case Outcome::kTickUsedUp:
      case Outcome::kTimeUsedUp: break;
    }
    return decision.outcome;
  }

  bool IssueFrom(size_t i, const Backend &backend, int32_t most) {
    OpenRun *open = nodes_[i].open.get();
    const bool ended = open->word == 0 || backend.serial != open->serial;
    count_.too_late += ended;
    int32_t first = 0;
    const uint64_t serial = world_.rules.serials ? backend.serial : open->word >> kIssuedBits;
    const int32_t issued = snowflake::Issue(&open->word, serial, backend.run.count, most, &first);
    if (issued == 0) return false;
    if (ended && world_.rules.serials) Broken("a run that had ended was issued from");
    Remember(i, backend.run, first, issued);
    return true;
  }

  // At full speed, until the clock moves on.
  void UseUp(size_t i) {
    if (!nodes_[i].up || nodes_[i].paused_until_us > now_us_) return;
    while (why_.empty() && TakeOne(i, ReadingOf(i), layout_.sequence_count()) == Outcome::kRun) {
    }
  }

  // G1, G2 for some numbers of a run.
  void Remember(size_t i, const snowflake::Run &run, int32_t first, int32_t count) {
    SimulatedNode &node = nodes_[i];
    uint64_t *taken = &ids_[static_cast<uint64_t>(run.tick) << 16 | static_cast<uint64_t>(run.worker)];
    const int32_t sequence = run.sequence + first;
    const uint64_t numbers = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << sequence;
    if ((*taken & numbers) != 0)
      Broken("worker " + std::to_string(run.worker) + " repeated a number of tick " + std::to_string(run.tick));
    *taken |= numbers;
    if (world_.failover_us == 0 && world_.rules.watermarks && !registry_.Covers(run.worker, run.tick))
      Broken("a tick was used that the registry does not know of");
    const int64_t id = layout_.Pack({run.tick, run.worker, sequence});
    if (id <= node.last_id) Broken("ids do not rise");
    if (world_.leap_every_us > 0 && layout_.UnixUsAt(run.tick) > now_us_ + kSecond) Broken("an id is of the future");
    node.last_id = layout_.Pack({run.tick, run.worker, sequence + count - 1});
    node.last_issue_us = now_us_;
    node.issued += count;
    count_.ids += count;
  }

  // --- The keeper ---

  void Step(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (!node.up || node.exchange != 0 || node.paused_until_us > now_us_) return;
    ReadClock(i, ReadingOf(i));
    if (world_.rules.limits)
      SetPolicy(&node.state, node.settings);
    else
      node.state.policy = node.settings;
    const KeeperView view = ViewForKeeper(&node.state, world_.duration_us, node.leaving);
    Keep(i);
    const KeeperStep step = node.keeper.Next(view, now_us_);
    const int64_t wake = ++node.wake;
    switch (step.action) {
      case KeeperAction::kSleep:
        if (step.until_us <= now_us_) return Broken("the keeper sleeps until a time that has passed");
        return InNode(i, step.until_us - now_us_, [this, i, wake] {
          if (nodes_[i].wake == wake) Step(i);
        });
      case KeeperAction::kExit: return Stop(i);
      case KeeperAction::kAcquire: return Acquire(i, step.duration_us);
      case KeeperAction::kExtend: return Extend(i, step.duration_us);
      case KeeperAction::kRelease: return Release(i, step.retired);
      case KeeperAction::kProbe: return Broken("the keeper probes a registry whose address did not change");
      case KeeperAction::kRanges: return Broken("the keeper asks for ranges of segments, of which there are none");
    }
  }

  // One exchange: a request and a response, either of which may be lost or late; and a deadline.
  void Exchange(size_t i, KeeperAction action, bool reached, std::function<Registry::Answer()> ask,
                std::function<void(const Registry::Answer &, bool expected)> take) {
    SimulatedNode &node = nodes_[i];
    const int64_t exchange = node.exchange = ++exchanges_;
    const int64_t incarnation = node.incarnation;
    const auto end = [this, i, exchange, action](KeeperOutcome outcome) {
      if (nodes_[i].exchange != exchange) return;
      nodes_[i].exchange = 0;
      if (action == KeeperAction::kAcquire && outcome != KeeperOutcome::kDone) KeepPresentWorker(Locked(i));
      Keep(i);
      nodes_[i].keeper.Done(action, outcome, now_us_);
      Step(i);
    };
    InNode(i, kExchangeTimeoutUs, [end] { end(KeeperOutcome::kFailed); });
    if (!reached || IsLost(i)) return;
    After(Delay(), [this, i, exchange, incarnation, end, ask, take] {
      if (registry_down_until_us_ > now_us_ || IsLost(i)) return;
      const Registry::Answer answer = ask();
      if (IsLost(i) || nodes_[i].incarnation != incarnation) return;
      InNode(i, Delay(), [this, i, exchange, end, take, answer] {
        const bool expected = nodes_[i].exchange == exchange;
        if (answer.status == Registry::Status::kSkewed)
          RefusedForSkew(Locked(i));
        else
          take(answer, expected);
        Keep(i);
        end(OutcomeOf(answer.status));
      });
    });
  }

  static KeeperOutcome OutcomeOf(Registry::Status status) {
    if (status == Registry::Status::kNothingBetter) return KeeperOutcome::kAnswered;
    const bool done = status == Registry::Status::kDone || status == Registry::Status::kGone;
    return done ? KeeperOutcome::kDone : KeeperOutcome::kFailed;
  }

  void Acquire(size_t i, int64_t duration_us) {
    Secret fresh = {};
    for (size_t i = 0; i < sizeof(fresh.bytes); ++i)
      fresh.bytes[i] = fresh.hash.bytes[i] = static_cast<uint8_t>(random_.Below(256));
    // What a node has seen of the registry is evidence of a loss, too.
    if (!world_.rules.settling) nodes_[i].state.seen = {};
    const AcquireAsked asked = AskForLease(&nodes_[i].state, layout_, duration_us, fresh, kMaxLeaseUs);
    Keep(i);
    Exchange(
        i, KeeperAction::kAcquire, true, [this, asked] { return registry_.Acquire(now_us_, asked.request); },
        [this, i, asked](const Registry::Answer &answer, bool expected) {
          if (!expected || answer.status != Registry::Status::kDone) return;
          const TakenLease taken = TakeLease(Locked(i), layout_, asked, answer.lease, nodes_[i].leaving);
          if (taken.fault == AnswerFault::kTimeline) return;  // sent before a failover
          if (taken.fault != AnswerFault::kNone) return Broken("an implausible lease");
          if (!taken.opened) return;
          ++count_.leases;
        });
  }

  void Extend(size_t i, int64_t duration_us) {
    const ExtendRequest asked = AskForWindow(nodes_[i].state, duration_us);
    Exchange(
        i, KeeperAction::kExtend, true, [this, asked] { return registry_.Extend(now_us_, asked); },
        [this, i, asked](const Registry::Answer &answer, bool) {
          // Also a response that is no longer expected: it is for this lease, or it changes
          // nothing.
          NodeState *state = Locked(i);
          if (answer.status == Registry::Status::kDone) {
            const AnswerFault fault = TakeWindow(state, asked, answer.window, kMaxLeaseUs, false);
            if (fault == AnswerFault::kTimeline) return;
            if (fault != AnswerFault::kNone && fault != AnswerFault::kEnded) return Broken("an implausible window");
            ++count_.extensions;
          } else {
            LoseLease(state, asked.lease_id, {});
          }
        });
  }

  void Release(size_t i, int32_t retired) {
    const ReleaseRequest asked = AskToRelease(nodes_[i].state.retired[retired]);
    const bool reached = nodes_[i].cut_off_until_us <= now_us_ && registry_down_until_us_ <= now_us_;
    if (reached) NoteAsked(&nodes_[i].state, asked.lease_id);
    Keep(i);
    Exchange(
        i, KeeperAction::kRelease, reached, [this, asked] { return registry_.Release(now_us_, asked); },
        [this, i, asked](const Registry::Answer &, bool) {
          DropRetired(Locked(i), asked.lease_id);
          ++count_.releases;
        });
  }

  // --- Faults ---

  enum class Healed { kNo, kYes, kShutDown };

  bool IsLost(size_t i) {
    if (healed_ != Healed::kNo) return false;
    return nodes_[i].cut_off_until_us > now_us_ || random_.Percent(loss_percent_);
  }

  int64_t Delay() {
    if (healed_ != Healed::kNo) return 1 + random_.Below(kMs);
    return random_.Percent(5) ? random_.Below(5 * kSecond) : 1 + random_.Below(20 * kMs);
  }

  void Crash(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (!node.up) return;
    ++node.incarnation;
    node.up = false;
    node.state = {};
    node.open = std::make_shared<OpenRun>();
    node.backends.assign(node.backends.size(), {});
    node.keeper = Keeper();
    node.exchange = 0;
    node.paused_until_us = 0;
    // It may start again with a monotonic clock of its own, as a container.
    if (world_.changing_limits && changes_.Percent(20)) node.steady_us += changes_.Below(30 * kHour);
    // A reboot removes the box, and a kill may come between the two stores of a tick.
    if (random_.Percent(3)) Empty(node.box.get());
    if (random_.Percent(3)) CurrentState(node.box.get())->last_tick_inverted.store(node.state.generator.last_tick);
  }

  void Stop(size_t i) {
    Crash(i);
    After(random_.Below(2 * kSecond), [this, i] { Start(i); });
  }

  // G8: the generator is closed at once, and the keeper is interrupted.
  void Leave(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (!node.up || node.leaving || node.paused_until_us > now_us_) return;
    CloseLease(Locked(i));
    Keep(i);
    node.exchange = 0;
    node.leaving = true;
    Step(i);
  }

  void FaultAtRandom() {
    if (healed_ != Healed::kNo) return;
    After(1 + random_.Below(2 * kSecond), [this] { FaultAtRandom(); });
    const int64_t kind = random_.Below(kFaults);
    if (!enabled_[kind]) return;
    ++count_.faults;
    const size_t i = static_cast<size_t>(random_.Below(static_cast<int64_t>(nodes_.size())));
    SimulatedNode &node = nodes_[i];
    switch (static_cast<Fault>(kind)) {
      case Fault::kCrash: Crash(i); return After(random_.Below(3 * kSecond), [this, i] { Start(i); });
      case Fault::kReboot:
        Crash(i);
        Empty(node.box.get());
        return After(random_.Below(10 * kSecond), [this, i] { Start(i); });
      case Fault::kShutdown: return Leave(i);
      case Fault::kPause:
        if (node.up) node.paused_until_us = now_us_ + random_.Below(3 * world_.duration_us);
        return;
      case Fault::kCutOff: node.cut_off_until_us = now_us_ + random_.Below(3 * world_.duration_us); return;
      case Fault::kRegistryDown: registry_down_until_us_ = now_us_ + random_.Below(world_.duration_us); return;
      case Fault::kKeeperCrash: return CrashKeeper(i);
      case Fault::kClone: return Clone(i);
      case Fault::kClockStepsBack:
      case Fault::kClockLeaps:
      case Fault::kClockDrifts:
      case Fault::kClockIsSet: return ClockFault(i, static_cast<Fault>(kind));
    }
  }

  void StepRegistry() {
    if (healed_ != Healed::kNo) return;
    After(1 + leaps_.Below(10 * kSecond), [this] { StepRegistry(); });
    const int64_t sizes_us[] = {kSecond, 20 * kSecond, kHour, kDay};
    const int64_t off_us = leaps_.Percent(30) ? 0 : leaps_.Below(sizes_us[leaps_.Below(4)]);
    registry_.clock.Set(now_us_, now_us_ + (leaps_.Percent(50) ? off_us : -off_us), 1000000);
  }

  // By days or years, for seconds or almost ten minutes: of all clocks, of the registry's alone, or
  // of most nodes'. The registry may be restarted or promoted meanwhile.
  void Leap() {
    if (healed_ != Healed::kNo) return;
    ++count_.leaps;
    leaping_ = true;
    const int64_t size_us = leaps_.Percent(50) ? 2 * kDay : 5 * kYear, kind = leaps_.Below(3);
    const int64_t lasts_us = leaps_.Percent(50) ? 12 * kSecond : 9 * kMinute;
    if (kind < 2) registry_.clock.Set(now_us_, now_us_ + size_us, 1000000);
    for (SimulatedNode &node : nodes_)
      if (kind == 0 || (kind == 2 && leaps_.Percent(80))) node.clock.Set(now_us_, now_us_ + size_us, 1000000);
    if (leaps_.Percent(20)) After(leaps_.Below(lasts_us), [this] { registry_.Restart(now_us_); });
    if (leaps_.Percent(20)) After(leaps_.Below(lasts_us), [this] { registry_.Failover(now_us_, 0); });
    After(lasts_us, [this] {
      registry_.clock.Set(now_us_, now_us_, 1000000);
      for (SimulatedNode &node : nodes_) node.clock.Set(now_us_, now_us_, 1000000);
      leaping_ = false;
    });
    After(lasts_us + world_.leap_every_us / 2 + leaps_.Below(world_.leap_every_us), [this] { Leap(); });
  }

  // The next keeper finds the lease in shared memory.
  void CrashKeeper(size_t i) {
    nodes_[i].keeper = Keeper();
    nodes_[i].exchange = 0;
    if (!nodes_[i].leaving) InNode(i, random_.Below(kSecond), [this, i] { Step(i); });
  }

  // A copied data directory: without shared memory, and with the clocks of the original's machine.
  // Or a copied machine with its memory, on which ForgetLease() is called before it issues an id.
  void Clone(size_t i) {
    if (nodes_.size() >= kMostNodes) return;
    SimulatedNode copy;
    copy.clock = nodes_[i].clock;
    copy.steady_us = nodes_[i].steady_us;
    copy.settings = nodes_[i].settings;
    if (random_.Percent(50)) {
      copy.state = nodes_[i].state;
      ForgetLease(&copy.state);
      Store(copy.box.get(), [&](Kept *kept) { kept->state = copy.state; });
      ++count_.renewed;
    }
    nodes_.push_back(copy);
    const size_t clone = nodes_.size() - 1;
    After(0, [this, clone] { Start(clone); });
  }

  void ClockFault(size_t i, Fault fault) {
    if (!world_.clock_faults) return;
    Clock *clock = &nodes_[i].clock;
    const int64_t shows_us = clock->At(now_us_);
    const int64_t sizes_us[] = {4 * kMs, 60 * kMs, 500 * kMs, 3 * kSecond, 20 * kSecond, kHour};
    const int64_t size_us = random_.Below(sizes_us[random_.Below(random_.Percent(5) ? 6 : 5)]);
    if (fault == Fault::kClockStepsBack) clock->Set(now_us_, shows_us - size_us, clock->parts_per_million);
    if (fault == Fault::kClockLeaps) clock->Set(now_us_, shows_us + size_us, clock->parts_per_million);
    if (fault == Fault::kClockDrifts)
      clock->Set(now_us_, shows_us, random_.Percent(30) ? 0 : 900000 + random_.Below(200000));
    if (fault == Fault::kClockIsSet) clock->Set(now_us_, now_us_, 1000000);
  }

  // Limits are lowered when they are used up, more often than not.
  void ChangeLimits() {
    if (healed_ != Healed::kNo) return;
    After(1 + changes_.Below(kSecond / 2), [this] { ChangeLimits(); });
    const size_t i = static_cast<size_t>(changes_.Below(static_cast<int64_t>(nodes_.size())));
    const int64_t leads_us[] = {0, kMs, 5 * kMs, 50 * kMs, kLargestLeadUs};
    const int64_t bridges_us[] = {0, kMs, 100 * kMs, kSecond, 5 * kSecond}, leaps_us[] = {0, 10 * kSecond, kDay};
    nodes_[i].settings = {leads_us[changes_.Below(5)],
                          {bridges_us[changes_.Below(5)], leaps_us[changes_.Below(3)]},
                          changes_.Percent(60)};
    ++count_.changes;
    if (changes_.Percent(70)) UseUp(i);
    InNode(i, changes_.Below(50 * kMs), [this, i] { Step(i); });
  }

  void FailOver() {
    if (healed_ != Healed::kNo) return;
    ++count_.faults;
    if (random_.Percent(30))
      registry_.Restart(now_us_);
    else
      registry_.Failover(now_us_, random_.Below(5 * kSecond));
    // Sometimes the copy fails as well.
    const int64_t usual_us = world_.failover_us / 2 + random_.Below(world_.failover_us);
    After(random_.Percent(20) ? random_.Below(world_.duration_us) : usual_us, [this] { FailOver(); });
  }

  // --- The end ---

  void Heal() {
    healed_ = Healed::kYes;
    registry_.clock.Set(now_us_, now_us_, 1000000);
    if (leaping_)
      for (SimulatedNode &node : nodes_) node.clock.Set(now_us_, now_us_, 1000000);
    leaping_ = false;
    registry_down_until_us_ = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].paused_until_us = std::min(nodes_[i].paused_until_us, now_us_);
      InNode(i, 0, [this, i] { Step(i); });
    }
  }

  // G4, G6: with sound clocks and a registry that responds, every node issues, whatever happened
  // before.
  void CheckEveryNodeIssues() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (now_us_ - nodes_[i].last_issue_us > 5 * kSecond) Broken("node " + std::to_string(i) + " issues nothing");
    if (layout_.UnixUsAt(registry_.Latest()) > now_us_ + 2 * kDay - kHour) Broken("a worker id is lost to a leap");
  }

  // G8: the lease's row is gone, and its watermark covers all used ticks.
  void ShutDown() {
    healed_ = Healed::kShutDown;
    std::vector<Lease> leases;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].state.generator.open) leases.push_back(nodes_[i].state.generator.lease);
      Leave(i);
    }
    RunUntil(now_us_ + 10 * kSecond);
    if (world_.failover_us > 0) return;  // a row may cover less than was used: it expires
    for (const Lease &lease : leases)
      if (registry_.Has(lease.lease_id)) Broken("a clean shutdown left its row behind");
  }

  const World world_;
  Random random_;
  // Without them the seed of a run means the same.
  Random changes_;  // of limits
  Random calls_;    // by which backend
  Random leaps_;    // of the registry's clock, and of many
  const Layout layout_;
  Registry registry_;
  std::vector<SimulatedNode> nodes_;
  std::priority_queue<Event> events_;
  std::unordered_map<uint64_t, uint64_t> ids_;  // tick and worker -> the sequence numbers that were issued
  int64_t now_us_ = kStartUs;
  int64_t order_ = 0;
  int64_t exchanges_ = 0;
  int64_t registry_down_until_us_ = 0;
  int64_t loss_percent_ = 0;
  bool leaping_ = false;
  bool enabled_[kFaults] = {};
  Healed healed_ = Healed::kNo;
  std::string why_;
  Totals count_;
};

constexpr uint64_t kUsualSeed = 20250104;

uint64_t SeedOr(uint64_t usual) {
  const char *given = std::getenv("SNOWFLAKE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

uint64_t Seeds(int64_t usual) {
  const char *given = std::getenv("SNOWFLAKE_SIM_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : static_cast<uint64_t>(usual);
}

// Runs the seeds until one breaks a guarantee; says which one, and why.
std::string FirstBroken(const World &world, uint64_t seeds) {
  Totals totals;
  std::string broken;
  const uint64_t first = SeedOr(kUsualSeed);
  std::cout << "seed " << first << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(first));
  for (uint64_t seed = first; seed < first + seeds && broken.empty(); ++seed) {
    Simulation simulation(world, seed);
    if (!simulation.Run()) broken = "seed " + std::to_string(seed) + ": " + simulation.why();
    simulation.AddTo(&totals);
  }
  std::cout << world.name << ": " << totals.trials << " trials, " << totals.faults << " faults, " << totals.leases
            << " leases, " << totals.extensions << " extensions, " << totals.releases << " releases, "
            << totals.lost_commits << " lost commits, " << totals.bridged << " steps back bridged, " << totals.recovered
            << " leases recovered, " << totals.renewed << " renewed, " << totals.changes << " changes of limits, "
            << totals.leaps << " leaps of many clocks, " << totals.ids << " ids, " << totals.too_late
            << " calls with a run that had ended" << (broken.empty() ? "" : "; " + broken) << std::endl;
  return broken;
}

// 16 worker ids for up to 12 nodes, and leases of two seconds: worker ids are reused all the time.
constexpr World kCrowded = {"no lost commits", 4, 6, 60 * kSecond, 2 * kSecond, 50 * kMs, true, 0, true, {}, true, 0};
// The same with clocks that are right. Here every node must also issue again.
constexpr World kSoundClocks = {"sound clocks", 4, 6,    60 * kSecond, 2 * kSecond, 50 * kMs,
                                false,          0, true, {},           false,       0};
// Clocks that leap by days or years and are taken back within ten minutes. Each node must have an
// id of the present all the time. A node that is paused sees the clock between two leaps.
constexpr World kLeaps = {"leaps", 6, 5, kHour / 2, 10 * kSecond, 500 * kMs, false, 0, false, {}, false, 2 * kMinute};
// Losses of up to 5 s every 100 s.
constexpr World kFailovers = {
    "lost commits", 8, 8, 400 * kSecond, 10 * kSecond, 200 * kMs, false, 100 * kSecond, false, {}, true, 0};
// To show a rule's purpose: a short ring, in which a lost worker id is soon acquired again, and
// losses all the time.
constexpr World kFailing = {"", 5, 8, 400 * kSecond, 10 * kSecond, 200 * kMs, false, 20 * kSecond, false, {}, false, 0};

// G1, G2, G3: whatever fails, whatever the clocks do, and whatever settings say, as long as the
// registry keeps every commit that it acknowledged.
TEST(Simulation, NoIdTwice) { EXPECT_EQ(FirstBroken(kCrowded, Seeds(AtLength(25, 200))), ""); }

// G1, G4, G6, G8: ids are also issued again when the faults are over. No setting makes a clock step.
TEST(Simulation, NoIdTwiceAndServiceComesBack) { EXPECT_EQ(FirstBroken(kSoundClocks, Seeds(AtLength(15, 100))), ""); }

// G9: a leap that is taken back within ten minutes, of however many clocks.
TEST(Simulation, NoIdOfTheFuture) { EXPECT_EQ(FirstBroken(kLeaps, Seeds(AtLength(10, 60))), ""); }

// G1, as far as section 4 weakens its assumption.
TEST(Simulation, NoIdTwiceAfterFailoversThatLoseCommits) {
  EXPECT_EQ(FirstBroken(kFailovers, Seeds(AtLength(10, 60))), "");
}

// What breaks first in a world in which one rule is ignored.
std::string Without(World world, bool Rules::*rule, const char *name, uint64_t seeds) {
  world.name = name;
  world.rules.*rule = false;
  return FirstBroken(world, seeds);
}

// Proves that the tests above can fail: without the watermarks ids repeat ...
TEST(Simulation, WithoutWatermarksIdsRepeat) {
  EXPECT_NE(Without(kCrowded, &Rules::watermarks, "watermarks ignored", 200).find("repeated"), std::string::npos);
}

// ... and they repeat after failovers without settling ...
TEST(Simulation, WithoutSettlingIdsRepeatAfterFailovers) {
  EXPECT_NE(Without(kFailing, &Rules::settling, "no settling", 1000).find("repeated"), std::string::npos);
}

// ... or if a backend goes on with a run that is not the open one ...
TEST(Simulation, WithoutSerialNumbersIdsRepeat) {
  EXPECT_NE(Without(kSoundClocks, &Rules::serials, "serial numbers ignored", 50).find("repeated"), std::string::npos);
}

// ... or are of the future if a registry that leapt confirms the leaps of others ...
TEST(Simulation, WithoutAHeldTimeALeapOfAllIsFollowed) {
  EXPECT_NE(Without(kLeaps, &Rules::held, "leaps confirmed by a registry that leapt", 50).find("of the future"),
            std::string::npos);
}

// ... or if limits change without regard for what ids lead by.
TEST(Simulation, WithoutSetPolicyASettingIsAStep) {
  EXPECT_NE(Without(kSoundClocks, &Rules::limits, "limits replaced", 50).find("a clock that is right is behind"),
            std::string::npos);
}

}  // namespace
}  // namespace snowflake
