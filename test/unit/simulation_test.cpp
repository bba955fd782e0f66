// One registry and some nodes in a world of their own, where everything fails that can: messages are lost, delayed or
// overtaken, processes crash, are paused and cloned, clocks step, drift and freeze, the registry goes away or fails
// over to a copy that lacks its newest commits. One seed is one run, and every id of the run is remembered.
//
// 1. The nodes are the core's own Generator and Keeper. The registry is section 4 of the design over plain maps.
// 2. Nothing here reads a clock or the machine's randomness: the same seed gives the same run everywhere.
// 3. A test that cannot fail proves nothing: with one rule of the registry switched off it must find a repeated id.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <queue>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "core/node.h"

namespace snowflake {
namespace {

constexpr int64_t kMs = 1000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kExchangeTimeoutUs = 2 * kSecond;
constexpr int64_t kMaxWaitUs = 100 * kMs;
constexpr int64_t kMaxLeadUs = 5 * kMs;
constexpr Patience kPatience = {kMaxLeadUs, kMaxWaitUs, true};

// Which rules the registry follows, and what else is bent to show what they are for.
struct Rules {
  bool watermarks = true;
  bool settling = true;
  bool tokens = true;
};

struct World {
  const char *name;
  int32_t worker_bits;
  int64_t nodes;
  int64_t run_us;
  int64_t duration_us;
  int64_t issue_every_us;  // mean, for each node
  bool clock_faults;
  int64_t failover_us;  // mean time between failovers that lose commits; 0: none
  Rules rules;
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t Below(int64_t limit) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit)); }
  bool Percent(int64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

// Section 4: the tables, the three functions, and what a failover leaves of them.
class Registry {
 public:
  enum class Status { kDone, kGone, kNoWorker, kTimeUsedUp, kNothingBetter };
  struct Answer {
    Status status;
    Lease lease;  // of acquire
    Tick window_end;
  };

  // What a node makes of it.
  AcquireAnswer Answered(const Lease &lease) const { return {lease, layout_, kSilent, -1, false}; }

  Registry(const Layout &layout, const Rules &rules, uint64_t seed, int64_t first_lease_id)
      : layout_(layout), rules_(rules), secrets_(seed), sequence_(first_lease_id), logged_(first_lease_id) {}

  Answer Acquire(int64_t at_us, const AcquireRequest &request) {
    const Tick now = std::max<Tick>(request.now, 0);
    const int64_t duration_us = request.duration_us;
    const int64_t ring = layout_.worker_count();
    NoticeFailover(at_us, duration_us);
    const bool settling = rules_.settling && at_us < now_.settles_until_us;
    if (!settling) Expire(now);
    // Like a sequence: outside the transaction, and written to the log ahead of use.
    const int64_t lease_id = ++sequence_;
    if (sequence_ > logged_) logged_ = sequence_ + kLoggedAhead;

    const int64_t cut = settling ? now_.cut : 0;
    const int64_t start = (settling ? now_.settling_anchor + cut : lease_id) % ring;
    // Of the free places, the first whose watermark lies below the clock; else the one with the lowest.
    int64_t place = -1;
    Tick watermark = 0;
    for (int64_t offset = 0; offset < ring - cut && (place < 0 || watermark >= now); ++offset) {
      const int32_t worker = static_cast<int32_t>((start + offset) % ring);
      const auto known = now_.watermarks.find(worker);
      const Tick last = rules_.watermarks && known != now_.watermarks.end() ? known->second : kNoWatermark;
      if (IsLive(worker) || (place >= 0 && last >= now && last >= watermark)) continue;
      place = offset;
      watermark = last;
    }
    if (place < 0) return {Status::kNoWorker, {}, 0};
    if (WindowStart(now, watermark) >= request.start_before) return {Status::kNothingBetter, {}, 0};

    Lease lease = {};
    lease.lease_id = lease_id;
    for (uint8_t &byte : lease.token.bytes) byte = static_cast<uint8_t>(secrets_.Below(256));
    lease.worker = static_cast<int32_t>((start + place) % ring);
    lease.window_start = WindowStart(now, watermark);
    lease.window_end = WindowEnd(layout_, lease.window_start, std::min(duration_us, kFirstWindowUs));
    if (lease.window_start > layout_.max_tick()) return {Status::kTimeUsedUp, {}, 0};
    now_.rows[lease_id] = lease;
    now_.last_lease_id = lease_id;
    Commit(at_us);
    return {Status::kDone, lease, lease.window_end};
  }

  Answer Extend(int64_t at_us, const ExtendRequest &request) {
    const auto row = Find(request.lease_id, request.token);
    if (row == now_.rows.end()) return {Status::kGone, {}, 0};
    const Tick end = WindowEnd(layout_, std::max<Tick>(request.now, 0), request.duration_us);
    row->second.window_end = std::max(row->second.window_end, end);
    Commit(at_us);
    return {Status::kDone, {}, row->second.window_end};
  }

  Answer Release(int64_t at_us, const ReleaseRequest &retired) {
    const auto row = Find(retired.lease_id, retired.token);
    if (row == now_.rows.end()) return {Status::kGone, {}, 0};
    // Refused, as for the node's own mistake: the row then goes by expiry.
    if (retired.last_tick < row->second.window_start - 1 || retired.last_tick >= row->second.window_end)
      return {Status::kDone, {}, 0};
    Raise(row->second.worker, retired.last_tick);
    now_.rows.erase(row);
    Commit(at_us);
    return {Status::kDone, {}, 0};
  }

  // Back to what was committed `loss_us` ago. A sequence comes back at a number that was logged but perhaps not used.
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
  }

  // G1: what the registry has on disk must cover every tick that is in use.
  bool Covers(int32_t worker, Tick tick) const {
    const auto known = now_.watermarks.find(worker);
    if (known != now_.watermarks.end() && known->second >= tick) return true;
    for (const auto &[id, lease] : now_.rows)
      if (lease.worker == worker && lease.window_start <= tick && tick < lease.window_end) return true;
    return false;
  }

  bool Has(int64_t lease_id) const { return now_.rows.count(lease_id) != 0; }
  int64_t lost_commits() const { return lost_commits_; }

 private:
  static constexpr int64_t kLoggedAhead = 32;
  static constexpr int64_t kRememberUs = 10 * kSecond;

  struct State {
    std::map<int64_t, Lease> rows;
    std::map<int32_t, Tick> watermarks;
    int64_t timeline = 1;
    int64_t last_lease_id = 0;
    int64_t settles_until_us = 0;
    int64_t settling_anchor = 0;
    int64_t cut = 0;
  };
  struct Committed {
    int64_t at_us;
    int64_t logged;
    State state;
  };

  bool IsLive(int32_t worker) const {
    for (const auto &[id, lease] : now_.rows)
      if (lease.worker == worker) return true;
    return false;
  }

  // A lost lease's number is given out again; its token is not.
  std::map<int64_t, Lease>::iterator Find(int64_t lease_id, const Token &token) {
    const auto row = now_.rows.find(lease_id);
    if (row == now_.rows.end() || !rules_.tokens) return row;
    const bool same = std::equal(std::begin(token.bytes), std::end(token.bytes), std::begin(row->second.token.bytes));
    return same ? row : now_.rows.end();
  }

  void Raise(int32_t worker, Tick tick) {
    Tick *watermark = &now_.watermarks.try_emplace(worker, kNoWatermark).first->second;
    *watermark = std::max(*watermark, tick);
  }

  // Judged by the clock of whoever asks, which may be any clock.
  void Expire(Tick now) {
    for (auto row = now_.rows.begin(); row != now_.rows.end();) {
      if (row->second.window_end > now) {
        ++row;
        continue;
      }
      Raise(row->second.worker, row->second.window_end - 1);
      row = now_.rows.erase(row);
    }
  }

  // The ring's order starts after the newest lease that is not lost. What is noticed is kept even when no worker id is
  // left to hand out, or the time to settle would start anew with each try, and never end. Leases that were drawn while
  // it settled live on after that, so a failover that is noticed a little later halves again, too.
  void NoticeFailover(int64_t at_us, int64_t duration_us) {
    if (!rules_.settling || now_.timeline == timeline_) return;
    const int64_t ring = layout_.worker_count();
    if (at_us - duration_us >= now_.settles_until_us) {
      now_.settling_anchor = (now_.last_lease_id + 1) % ring;
      now_.cut = 0;
    }
    std::vector<int64_t> live;
    for (int64_t offset = now_.cut; offset < ring; ++offset)
      if (IsLive(static_cast<int32_t>((now_.settling_anchor + offset) % ring))) live.push_back(offset);
    const int32_t times = static_cast<int32_t>(timeline_ - now_.timeline);
    Halving halving(now_.cut, ring, static_cast<int64_t>(live.size()), times);
    for (int64_t offset : live) halving.Offer(offset);
    now_.cut = halving.Finish();
    now_.settles_until_us = std::max(now_.settles_until_us, at_us + duration_us);
    now_.timeline = timeline_;
    Commit(at_us);
  }

  void Commit(int64_t at_us) {
    history_.push_back({at_us, logged_, now_});
    while (history_.size() > 1 && history_[1].at_us < at_us - kRememberUs) history_.pop_front();
  }

  Layout layout_;
  Rules rules_;
  Random secrets_;
  State now_;
  std::deque<Committed> history_;
  int64_t sequence_;
  int64_t logged_;
  int64_t timeline_ = 1;
  int64_t lost_commits_ = 0;
};

// A wall clock over the true time.
struct Clock {
  int64_t base_us;
  int64_t set_at_us;
  int64_t parts_per_million;  // 0: frozen

  int64_t At(int64_t true_us) const { return base_us + (true_us - set_at_us) / 1000 * parts_per_million / 1000; }
  void Set(int64_t true_us, int64_t shows_us, int64_t rate) { *this = {shows_us, true_us, rate}; }
};

struct SimulatedNode {
  Clock clock = {};
  bool up = false;
  int64_t incarnation = 0;  // a crash ends one
  int64_t paused_until_us = 0;
  int64_t cut_off_until_us = 0;  // from the registry

  NodeState state = {};  // shared memory

  // The keeper's own.
  Keeper keeper;
  int64_t exchange = 0;  // the one it waits for; 0: none
  int64_t wake = 0;      // the newest deadline; older ones mean nothing
  bool leaving = false;

  int64_t last_id = -1;  // of the lease in place
  int64_t last_issue_us = 0;
};

struct Totals {
  int64_t trials = 0, faults = 0, leases = 0, ids = 0, lost_commits = 0, extensions = 0, releases = 0;
};

class Simulation {
 public:
  Simulation(const World &world, uint64_t seed)
      : world_(world),
        random_(seed),
        layout_{0, kMs, 41, 0, world.worker_bits, 6, random_.Percent(50)},
        registry_(layout_, world.rules, seed, random_.Below(1000)) {
    for (bool &enabled : enabled_) enabled = random_.Percent(60);
    loss_percent_ = random_.Percent(50) ? random_.Below(20) : 0;
    nodes_.resize(static_cast<size_t>(world.nodes));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].clock.Set(now_us_, now_us_, 1000000);
      After(random_.Below(kSecond), [this, i] { Start(i); });
    }
    After(random_.Below(kSecond), [this] { Fault(); });
    if (world.failover_us > 0) After(world.failover_us / 2 + random_.Below(world.failover_us), [this] { FailOver(); });
  }

  // False when an id was repeated, or another guarantee was broken; why() says which.
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
    totals->lost_commits += registry_.lost_commits();
  }

 private:
  // Hours after the layout's epoch, so that a clock may step back by hours.
  static constexpr int64_t kStartUs = 10 * kHour;
  static constexpr size_t kMostNodes = 12;

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

  Tick NowOf(size_t i) const { return layout_.TickAt(nodes_[i].clock.At(now_us_)); }

  // --- Backends ---

  void Start(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (node.up || healed_ == Healed::kShutDown) return;
    node.up = true;
    node.leaving = false;
    InNode(i, 0, [this, i] { Issue(i); });
    Step(i);
  }

  void Issue(size_t i) {
    const Tick now = NowOf(i);
    // Between reading the clock and taking the lock a process may be held up for long.
    const bool held_up = random_.Percent(5);
    const int64_t bursts = 1 + random_.Below(3);
    if (held_up)
      InNode(i, random_.Below(2 * kSecond), [this, i, now] { TakeOne(i, now); });
    else
      for (int64_t burst = 0; burst < bursts; ++burst) TakeOne(i, now);
    InNode(i, 1 + random_.Below(2 * world_.issue_every_us), [this, i] { Issue(i); });
  }

  void TakeOne(size_t i, Tick now) {
    SimulatedNode &node = nodes_[i];
    const Terms terms = {MaxLead(layout_, kMaxLeadUs), random_.Below(FreshLimit(layout_, 128))};
    const Decision decision = TakeOrAsk(&node.state, now, 1 + random_.Below(40), terms);
    switch (decision.outcome) {
      case Outcome::kRun:
        Remember(i, decision, terms);
        break;
      case Outcome::kNoLease:
      case Outcome::kWindowEnd:
        Step(i);
        break;
      case Outcome::kClockBehind: {
        // By the clock as it is: the one that was read may be old.
        const bool helps = NewWorkerHelps(node.state.generator, NowOf(i), terms.max_lead);
        if (WhenBehind(layout_, decision.lead, helps, false, kPatience) != Behind::kNewWorker) break;
        node.state.new_worker_wanted = true;
        Step(i);
        break;
      }
      case Outcome::kTickUsedUp:
      case Outcome::kTimeUsedUp:
        break;
    }
  }

  // G1, G2, G3 for one run.
  void Remember(size_t i, const Decision &decision, const Terms &terms) {
    SimulatedNode &node = nodes_[i];
    const snowflake::Run &run = decision.run;
    uint64_t *taken = &ids_[static_cast<uint64_t>(run.tick) << 16 | static_cast<uint64_t>(run.worker)];
    const uint64_t numbers = (run.count == 64 ? ~uint64_t{0} : (uint64_t{1} << run.count) - 1) << run.sequence;
    if ((*taken & numbers) != 0)
      Broken("worker " + std::to_string(run.worker) + " repeated a number of tick " + std::to_string(run.tick));
    *taken |= numbers;
    if (world_.failover_us == 0 && world_.rules.watermarks && !registry_.Covers(run.worker, run.tick))
      Broken("a tick was used that the registry does not know of");
    if (decision.lead > terms.max_lead) Broken("an id leads the clock too far");
    const int64_t first = layout_.Pack({run.tick, run.worker, run.sequence});
    if (first <= node.last_id) Broken("ids of one lease do not rise");
    node.last_id = layout_.Pack({run.tick, run.worker, run.sequence + run.count - 1});
    node.last_issue_us = now_us_;
    count_.ids += run.count;
  }

  // --- The keeper ---

  void Step(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (!node.up || node.exchange != 0 || node.paused_until_us > now_us_) return;
    const KeeperView view = See(&node.state, node.clock.At(now_us_), world_.duration_us, kPatience, node.leaving);
    const KeeperStep step = node.keeper.Next(view, now_us_);
    const int64_t wake = ++node.wake;
    switch (step.action) {
      case KeeperAction::kSleep:
        if (step.until_us <= now_us_) return Broken("the keeper sleeps until a time that has passed");
        return InNode(i, step.until_us - now_us_, [this, i, wake] {
          if (nodes_[i].wake == wake) Step(i);
        });
      case KeeperAction::kExit:
        return Stop(i);
      case KeeperAction::kAcquire:
        return Acquire(i, step.duration_us);
      case KeeperAction::kExtend:
        return Extend(i, step.duration_us);
      case KeeperAction::kRelease:
        return Release(i);
    }
  }

  // One exchange: a request, an answer, either may be lost or take its time; and a deadline.
  void Exchange(size_t i, KeeperAction action, std::function<Registry::Answer()> ask,
                std::function<void(const Registry::Answer &, bool expected)> take) {
    SimulatedNode &node = nodes_[i];
    const int64_t exchange = node.exchange = ++exchanges_;
    const int64_t incarnation = node.incarnation;
    const auto end = [this, i, exchange, action](KeeperOutcome outcome) {
      if (nodes_[i].exchange != exchange) return;
      nodes_[i].exchange = 0;
      nodes_[i].keeper.Done(action, outcome, now_us_);
      Step(i);
    };
    InNode(i, kExchangeTimeoutUs, [end] { end(KeeperOutcome::kFailed); });
    if (IsLost(i)) return;
    After(Delay(), [this, i, exchange, incarnation, end, ask, take] {
      if (registry_down_until_us_ > now_us_ || IsLost(i)) return;
      const Registry::Answer answer = ask();
      if (IsLost(i) || nodes_[i].incarnation != incarnation) return;
      InNode(i, Delay(), [this, i, exchange, end, take, answer] {
        const bool expected = nodes_[i].exchange == exchange;
        take(answer, expected);
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
    Token fresh = {};
    for (uint8_t &byte : fresh.bytes) byte = static_cast<uint8_t>(random_.Below(256));
    const AcquireAsked asked = AskForLease(&nodes_[i].state, layout_, NowOf(i), duration_us, fresh, kPatience);
    Exchange(
        i, KeeperAction::kAcquire, [this, asked] { return registry_.Acquire(now_us_, asked.request); },
        [this, i, asked](const Registry::Answer &answer, bool expected) {
          if (!expected || answer.status != Registry::Status::kDone) return;
          const AcquireAnswer answered = registry_.Answered(answer.lease);
          const TakenLease taken = TakeLease(&nodes_[i].state, layout_, asked, answered, nodes_[i].leaving);
          if (taken.fault != AnswerFault::kNone) return Broken("an implausible lease");
          if (!taken.opened) return;
          nodes_[i].last_id = -1;
          ++count_.leases;
        });
  }

  void Extend(size_t i, int64_t duration_us) {
    const ExtendRequest asked = AskForWindow(nodes_[i].state, NowOf(i), duration_us, kPatience);
    Exchange(
        i, KeeperAction::kExtend, [this, asked] { return registry_.Extend(now_us_, asked); },
        [this, i, asked](const Registry::Answer &answer, bool) {
          // Also an answer that nobody expects any more: it is for this lease, or it moves nothing.
          NodeState *state = &nodes_[i].state;
          if (answer.status == Registry::Status::kDone) {
            if (TakeWindow(state, asked, {answer.window_end, kSilent, false}, false) != AnswerFault::kNone)
              return Broken("an implausible window");
            ++count_.extensions;
          } else {
            LoseLease(state, asked.lease_id, kSilent);
          }
        });
  }

  void Release(size_t i) {
    const ReleaseRequest asked = AskToRelease(nodes_[i].state.retired[0]);
    Exchange(
        i, KeeperAction::kRelease, [this, asked] { return registry_.Release(now_us_, asked); },
        [this, i, asked](const Registry::Answer &, bool) {
          DropRetired(&nodes_[i].state, asked.lease_id);
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
    node.keeper = Keeper();
    node.exchange = 0;
    node.paused_until_us = 0;
    node.last_id = -1;
  }

  void Stop(size_t i) {
    Crash(i);
    After(random_.Below(2 * kSecond), [this, i] { Start(i); });
  }

  // G8: the generator is closed at once, and what the keeper was doing is interrupted.
  void Leave(size_t i) {
    SimulatedNode &node = nodes_[i];
    if (!node.up || node.leaving || node.paused_until_us > now_us_) return;
    CloseLease(&node.state);
    node.exchange = 0;
    node.leaving = true;
    Step(i);
  }

  void Fault() {
    if (healed_ != Healed::kNo) return;
    After(1 + random_.Below(2 * kSecond), [this] { Fault(); });
    const size_t kind = static_cast<size_t>(random_.Below(11));
    if (!enabled_[kind]) return;
    ++count_.faults;
    const size_t i = static_cast<size_t>(random_.Below(static_cast<int64_t>(nodes_.size())));
    SimulatedNode &node = nodes_[i];
    switch (kind) {
      case 0:
        Crash(i);
        return After(random_.Below(3 * kSecond), [this, i] { Start(i); });
      case 1:
        return Leave(i);
      case 2:
        node.paused_until_us = now_us_ + random_.Below(3 * world_.duration_us);
        return;
      case 3:
        node.cut_off_until_us = now_us_ + random_.Below(3 * world_.duration_us);
        return;
      case 4:
        registry_down_until_us_ = now_us_ + random_.Below(world_.duration_us);
        return;
      case 5:
        return CrashKeeper(i);
      case 6:
        return Clone(i);
      default:
        return ClockFault(i, kind);
    }
  }

  // Its successor finds the lease in shared memory.
  void CrashKeeper(size_t i) {
    nodes_[i].keeper = Keeper();
    nodes_[i].exchange = 0;
    if (!nodes_[i].leaving) InNode(i, random_.Below(kSecond), [this, i] { Step(i); });
  }

  // A copied data directory: no shared memory comes with it, and its clock is that of the original's machine.
  void Clone(size_t i) {
    if (nodes_.size() >= kMostNodes) return;
    SimulatedNode copy;
    copy.clock = nodes_[i].clock;
    nodes_.push_back(copy);
    const size_t clone = nodes_.size() - 1;
    After(0, [this, clone] { Start(clone); });
  }

  void ClockFault(size_t i, size_t kind) {
    if (!world_.clock_faults) return;
    Clock *clock = &nodes_[i].clock;
    const int64_t shows_us = clock->At(now_us_);
    const int64_t sizes_us[] = {4 * kMs, 60 * kMs, 500 * kMs, 3 * kSecond, 20 * kSecond, kHour};
    const int64_t size_us = random_.Below(sizes_us[random_.Below(random_.Percent(5) ? 6 : 5)]);
    if (kind == 7) clock->Set(now_us_, shows_us - size_us, clock->parts_per_million);
    if (kind == 8) clock->Set(now_us_, shows_us + size_us, clock->parts_per_million);
    if (kind == 9) clock->Set(now_us_, shows_us, random_.Percent(30) ? 0 : 900000 + random_.Below(200000));
    if (kind == 10) clock->Set(now_us_, now_us_, 1000000);
  }

  void FailOver() {
    if (healed_ != Healed::kNo) return;
    ++count_.faults;
    registry_.Failover(now_us_, random_.Below(5 * kSecond));
    // Now and then the copy fails as well.
    const int64_t usual_us = world_.failover_us / 2 + random_.Below(world_.failover_us);
    After(random_.Percent(20) ? random_.Below(world_.duration_us) : usual_us, [this] { FailOver(); });
  }

  // --- The end ---

  void Heal() {
    healed_ = Healed::kYes;
    registry_down_until_us_ = 0;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].paused_until_us = std::min(nodes_[i].paused_until_us, now_us_);
      InNode(i, 0, [this, i] { Step(i); });
    }
  }

  // G4, G6: with sound clocks and a registry that answers, every node issues, whatever happened before.
  void CheckEveryNodeIssues() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (now_us_ - nodes_[i].last_issue_us > 5 * kSecond) Broken("node " + std::to_string(i) + " issues nothing");
  }

  // G8: the lease's row is gone, and its watermark covers all that was used.
  void ShutDown() {
    healed_ = Healed::kShutDown;
    std::vector<Lease> leases;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].state.generator.open) leases.push_back(nodes_[i].state.generator.lease);
      Leave(i);
    }
    RunUntil(now_us_ + 10 * kSecond);
    if (world_.failover_us > 0) return;  // a row may look shorter than what was used: it goes by expiry
    for (const Lease &lease : leases)
      if (registry_.Has(lease.lease_id)) Broken("a clean shutdown left its row behind");
  }

  const World world_;
  Random random_;
  const Layout layout_;
  Registry registry_;
  std::vector<SimulatedNode> nodes_;
  std::priority_queue<Event> events_;
  std::unordered_map<uint64_t, uint64_t> ids_;  // tick and worker -> the sequence numbers that were handed out
  int64_t now_us_ = kStartUs;
  int64_t order_ = 0;
  int64_t exchanges_ = 0;
  int64_t registry_down_until_us_ = 0;
  int64_t loss_percent_ = 0;
  bool enabled_[11] = {};
  Healed healed_ = Healed::kNo;
  std::string why_;
  Totals count_;
};

uint64_t FirstSeed() {
  const char *given = std::getenv("SNOWFLAKE_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20250104;
}

uint64_t Seeds(uint64_t usual) {
  const char *given = std::getenv("SNOWFLAKE_SIM_SEEDS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : usual;
}

// Runs the seeds until one breaks a guarantee; says which one, and why.
std::string FirstBroken(const World &world, uint64_t seeds) {
  Totals totals;
  std::string broken;
  std::cout << "seed " << FirstSeed() << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(FirstSeed()));
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + seeds && broken.empty(); ++seed) {
    Simulation simulation(world, seed);
    if (!simulation.Run()) broken = "seed " + std::to_string(seed) + ": " + simulation.why();
    simulation.AddTo(&totals);
  }
  std::cout << world.name << ": " << totals.trials << " trials, " << totals.faults << " faults, " << totals.leases
            << " leases, " << totals.extensions << " extensions, " << totals.releases << " releases, "
            << totals.lost_commits << " lost commits, " << totals.ids << " ids" << (broken.empty() ? "" : "; " + broken)
            << std::endl;
  return broken;
}

// 16 worker ids for up to 12 nodes, and leases of two seconds: ids are reused all the time.
constexpr World kCrowded = {"no lost commits", 4, 6, 60 * kSecond, 2 * kSecond, 50 * kMs, true, 0, {}};
// The same with clocks that are right, where service must come back as well.
constexpr World kSoundClocks = {"sound clocks", 4, 6, 60 * kSecond, 2 * kSecond, 50 * kMs, false, 0, {}};
// Losses of up to 5 s every 100 s.
constexpr World kFailovers = {"lost commits", 8, 8, 400 * kSecond, 10 * kSecond, 200 * kMs, false, 100 * kSecond, {}};
// To show what a rule is for: a short ring, on which a lost worker id comes round again soon, and losses all the time.
constexpr World kFailing = {"", 5, 8, 400 * kSecond, 10 * kSecond, 200 * kMs, false, 20 * kSecond, {}};

// G1, G2, G3: whatever fails and whatever the clocks do, as long as the registry keeps what it acknowledged.
TEST(Simulation, NoIdTwice) { EXPECT_EQ(FirstBroken(kCrowded, Seeds(200)), ""); }

// G1, G4, G6, G8: and ids flow again when the faults are over.
TEST(Simulation, NoIdTwiceAndServiceComesBack) { EXPECT_EQ(FirstBroken(kSoundClocks, Seeds(100)), ""); }

// G1, as far as section 4 softens its assumption.
TEST(Simulation, NoIdTwiceAfterFailoversThatLoseCommits) { EXPECT_EQ(FirstBroken(kFailovers, Seeds(60)), ""); }

// The proof that the tests above can fail: without the watermarks ids repeat ...
TEST(Simulation, WithoutWatermarksIdsRepeat) {
  World world = kCrowded;
  world.name = "watermarks ignored";
  world.rules.watermarks = false;
  EXPECT_NE(FirstBroken(world, 200).find("repeated"), std::string::npos);
}

// ... and so they do after failovers without settling ...
TEST(Simulation, WithoutSettlingIdsRepeatAfterFailovers) {
  World world = kFailing;
  world.name = "no settling";
  world.rules.settling = false;
  EXPECT_NE(FirstBroken(world, 400).find("repeated"), std::string::npos);
}

// ... or when an extension is granted to a lease's number alone: a failover brings numbers back, but no tokens.
TEST(Simulation, WithoutTokensIdsRepeatAfterFailovers) {
  World world = kFailing;
  world.name = "tokens ignored";
  world.rules.tokens = false;
  EXPECT_NE(FirstBroken(world, 400).find("repeated"), std::string::npos);
}

}  // namespace
}  // namespace snowflake
