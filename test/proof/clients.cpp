// Sessions that take ids and numbers as fast as they are told to, in many ways, from servers that
// fail all the time. What they are given is written to disk as it is, eight bytes each, and compared
// at once with what any of them was given before.
//
//     clients FOLDER SEED
//
// Commands on stdin, a line each:
//     start NAME SESSIONS CONNINFO    sessions on a node: a database with the tables `kept` and `counted`
//     pace N                          ids a second, of all sessions together
//     ordered NAME                    the ids of this node rise from here on, whichever worker id they have
//     unordered NAME                  ... no more: its clock may step back by more than it bridges
//     stop                            ends when each session has ended its statement
//
// It prints a line of figures each second, and one that begins with "found:" for everything that
// must not be. Its memory is bounded: ids are compared as bits of (worker id, tick), for ticks of the
// last three minutes; older ones count as late, and only the sorted files say whether they are
// unique. Numbers of a segment are dense, so all of them fit.

#include <endian.h>
#include <libpq-fe.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSequenceBits = 12;
constexpr int kWorkerBits = 10;
constexpr int64_t kEpochMs = 1735689600000;

// Ids that are older than this are not compared, and wrong if they were when their statement began.
// If a clock is an hour behind, ids are not: the registry refuses leases for such a clock, and under
// the present lease ids continue above the last one. That one is old only if the node was down or
// frozen since. Faults do that for some seconds, but test/proof/soak.pl may end it late: another
// fault may first wait in vain for a minute until a server stops, and for one more until it starts.
constexpr int64_t kRememberedTicks = 3 * 60 * 1000;
constexpr int64_t kClocksDifferMs = 10 * 1000;
// A clock that was ahead steps back: ids go on ahead of it, as far as snowflake.max_bridge.
constexpr int64_t kClocksAheadMs = 60 * 1000 + kClocksDifferMs;

int Worker(int64_t id) { return static_cast<int>(id >> kSequenceBits & ((1 << kWorkerBits) - 1)); }
int64_t Tick(int64_t id) { return id >> (kSequenceBits + kWorkerBits); }

int64_t NowTick() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - kEpochMs;
}

std::atomic<int64_t> ids, numbers, lost_connections, errors, late, found, highest_number, ordered;
std::atomic<int64_t> pace{100000};
std::atomic<bool> stopping;

// The highest id that a node gave under each worker id: on a node ids rise in the order of calls. If
// a lease's row is lost, another node can use later ticks of the worker id at the same time.
template <typename Value>
using Highest = std::array<Value, 1 << kWorkerBits>;
struct HighestOfNode {
  Highest<std::atomic<int64_t>> of_worker = {};
  // Of all worker ids, since the node's ids have been in order; null while they need not be.
  std::atomic<std::atomic<int64_t> *> of_all = nullptr;
};

void Raise(std::atomic<int64_t> *highest, int64_t value) {
  for (int64_t before = *highest; value > before && !highest->compare_exchange_weak(before, value);) continue;
}

void Found(const std::string &what, const std::string &where, int64_t value) {
  static std::mutex lock;
  static std::map<std::string, int> shown;
  ++found;
  const std::lock_guard guard(lock);
  if (++shown[what] > 20) return;
  std::printf("found: %s %" PRId64 " (worker id %d, tick %" PRId64 ") on %s\n", what.c_str(), value, Worker(value),
              Tick(value), where.c_str());
  std::fflush(stdout);
}

// ---------------------------------------------------------------------------------------------------------------------
// What was given before
// ---------------------------------------------------------------------------------------------------------------------

template <size_t kBits>
class Bits {
 public:
  // Whether it is new.
  bool Set(size_t at) {
    uint64_t &word = words_[at / 64];
    const uint64_t bit = uint64_t{1} << at % 64;
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

 private:
  std::array<uint64_t, kBits / 64> words_ = {};
};

class GivenIds {
 public:
  enum Result { kNew, kGiven, kLate };

  Result Add(int64_t id) {
    Ticks &ticks = workers_[Worker(id)];
    const std::lock_guard guard(ticks.lock);
    const int64_t tick = Tick(id);
    if (tick < ticks.floor) return kLate;
    auto &bits = ticks.given[tick];
    if (!bits) bits = std::make_unique<Bits<1 << kSequenceBits>>();
    return bits->Set(static_cast<size_t>(id & ((1 << kSequenceBits) - 1))) ? kNew : kGiven;
  }

  void ForgetBefore(int64_t tick) {
    for (Ticks &ticks : workers_) {
      const std::lock_guard guard(ticks.lock);
      ticks.floor = tick;
      for (auto at = ticks.given.begin(); at != ticks.given.end();)
        at = at->first < tick ? ticks.given.erase(at) : std::next(at);
    }
  }

 private:
  struct Ticks {
    std::mutex lock;
    int64_t floor = 0;
    std::unordered_map<int64_t, std::unique_ptr<Bits<1 << kSequenceBits>>> given;
  };
  std::array<Ticks, 1 << kWorkerBits> workers_;
};

class GivenNumbers {
 public:
  bool Add(int64_t number) {
    const std::lock_guard guard(lock_);
    auto &bits = pages_[number / kPage];
    if (!bits) bits = std::make_unique<Bits<kPage>>();
    return bits->Set(static_cast<size_t>(number % kPage));
  }

 private:
  static constexpr size_t kPage = 1 << 16;
  std::mutex lock_;
  std::unordered_map<int64_t, std::unique_ptr<Bits<kPage>>> pages_;
};

GivenIds given_ids;
GivenNumbers given_numbers;

// ---------------------------------------------------------------------------------------------------------------------
// A session
// ---------------------------------------------------------------------------------------------------------------------

int64_t FromNetwork(const char *bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<int64_t>(be64toh(value));
}

class Session {
 public:
  Session(const std::string &folder, std::string name, std::shared_ptr<HighestOfNode> highest_ids, std::string conninfo,
          uint64_t seed)
      : name_(std::move(name)),
        highest_ids_(std::move(highest_ids)),
        conninfo_(std::move(conninfo)),
        random_(seed),
        ids_(std::fopen((folder + "/" + name_ + ".ids").c_str(), "ab")),
        numbers_(std::fopen((folder + "/" + name_ + ".numbers").c_str(), "ab")) {
    if (ids_ == nullptr || numbers_ == nullptr) {
      std::perror(folder.c_str());
      std::exit(1);
    }
  }

  void Run() {
    while (!stopping) {
      if (ids > pace * Seconds()) {
        Sleep(10);
        // An order that is only looked at for a moment needs ids in it.
        if (highest_ids_->of_all != nullptr && IsConnected()) TakeIds("SELECT snowflake_nextval()");
      } else if (!IsConnected()) {
        Sleep(50);
      } else {
        Turn();
      }
    }
    PQfinish(connection_);
    if (std::fclose(ids_) != 0 || std::fclose(numbers_) != 0) Found("not written to disk", name_, 0);
  }

 private:
  static constexpr int kNone = -1;

  static double Seconds() {
    static const Clock::time_point began = Clock::now();
    return std::chrono::duration<double>(Clock::now() - began).count();
  }

  static void Sleep(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

  int Random(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }

  // A number up to that, of any order of magnitude.
  int RandomSize(int most) { return 1 + Random(1 + Random(most)); }

  bool IsConnected() {
    if (PQstatus(connection_) == CONNECTION_OK) return true;
    if (connection_ != nullptr) ++lost_connections;
    PQfinish(connection_);
    connection_ = PQconnectdb(conninfo_.c_str());
    last_number_ = kNone;
    if (PQstatus(connection_) != CONNECTION_OK) return false;
    return true;
  }

  void Turn() {
    const std::string some = std::to_string(RandomSize(50));
    // Not more than is due in a second, or the pace would keep a node without ids for long.
    const std::string many = std::to_string(RandomSize(static_cast<int>(std::min<int64_t>(pace + 1, 100000))));
    switch (Random(12)) {
      case 0: return TakeIds("SELECT snowflake_nextval()");
      case 1: return TakeIds("SELECT id FROM snowflake_nextvals(" + some + ") id");
      case 2: return TakeIds("INSERT INTO kept SELECT FROM generate_series(1, " + some + ") RETURNING id");
      case 3:
        Execute("BEGIN");
        TakeIds("INSERT INTO kept SELECT FROM generate_series(1, " + some + ") RETURNING id");
        TakeNumbers("INSERT INTO counted SELECT FROM generate_series(1, " + some + ") RETURNING number");
        return Execute("ROLLBACK");
      case 4:
        TakeNumbers("SELECT snowflake_segment_nextval('ticket')");
        return TakeNumbers("INSERT INTO counted SELECT FROM generate_series(1, " + some + ") RETURNING number");
      case 5:
        return TakeNumbers("COPY (SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, " +
                           std::to_string(RandomSize(10000)) + ")) TO STDOUT (FORMAT binary)");
      default:
        return TakeIds("COPY (SELECT snowflake_nextval() FROM generate_series(1, " + many +
                       ")) TO STDOUT (FORMAT binary)");
    }
  }

  void Execute(const std::string &statement) { PQclear(PQexec(connection_, statement.c_str())); }

  void TakeIds(const std::string &statement) {
    Take(statement, [this](int64_t id) { KeepId(id); });
  }
  void TakeNumbers(const std::string &statement) {
    Take(statement, [this](int64_t number) { KeepNumber(number); });
  }

  // What has come counts, even if the statement fails later.
  template <typename Keep>
  void Take(const std::string &statement, Keep keep) {
    statement_began_tick_ = NowTick();
    for (size_t i = 0; i < given_before_.size(); ++i) given_before_[i] = highest_ids_->of_worker[i];
    of_all_ = highest_ids_->of_all;
    if (of_all_ != nullptr) all_before_ = *of_all_;
    PGresult *result = PQexecParams(connection_, statement.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1);
    if (PQresultStatus(result) == PGRES_COPY_OUT) {
      char *row = nullptr;
      while (const int length = PQgetCopyData(connection_, &row, 0)) {
        if (length < 0) break;
        // The first row comes with the header of 19 bytes; a row is its number of columns, and each column's length and value.
        if (length >= 14) keep(FromNetwork(row + length - 8));
        PQfreemem(row);
      }
      PQclear(result);
      result = PQgetResult(connection_);
    }
    for (int row = 0; row < PQntuples(result); ++row) keep(FromNetwork(PQgetvalue(result, row, 0)));
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) ++errors;
    PQclear(result);
    while ((result = PQgetResult(connection_)) != nullptr) PQclear(result);
  }

  void KeepId(int64_t id) {
    ++ids;
    std::fwrite(&id, sizeof(id), 1, ids_);
    switch (given_ids.Add(id)) {
      case GivenIds::kGiven: Found("an id twice:", name_, id); break;
      case GivenIds::kLate: ++late; break;
      case GivenIds::kNew: break;
    }
    // Only a node that was given another worker id may go back.
    int64_t &before = given_before_[static_cast<size_t>(Worker(id))];
    if (id <= before) Found("an id that is not above one of an earlier call:", name_, id);
    before = id;
    Raise(&highest_ids_->of_worker[static_cast<size_t>(Worker(id))], id);
    if (of_all_ != nullptr && of_all_ == highest_ids_->of_all) {
      ++ordered;
      if (id <= all_before_) Found("an id that is not above one of another worker id:", name_, id);
      all_before_ = id;
      Raise(of_all_, id);
    }
    if (Tick(id) < statement_began_tick_ - kRememberedTicks || Tick(id) > NowTick() + kClocksAheadMs)
      Found("an id of another time:", name_, id);
  }

  void KeepNumber(int64_t number) {
    ++numbers;
    std::fwrite(&number, sizeof(number), 1, numbers_);
    if (!given_numbers.Add(number)) Found("a number twice:", name_, number);
    if (number <= last_number_) Found("a number that is not above the one before:", name_, number);
    last_number_ = number;
    Raise(&highest_number, number);
  }

  const std::string name_;
  const std::shared_ptr<HighestOfNode> highest_ids_;
  const std::string conninfo_;
  std::mt19937_64 random_;
  std::FILE *ids_;
  std::FILE *numbers_;
  PGconn *connection_ = nullptr;
  int64_t statement_began_tick_ = 0;
  Highest<int64_t> given_before_ = {};  // when its statement began, or in it
  std::atomic<int64_t> *of_all_ = nullptr;
  int64_t all_before_ = 0;
  int64_t last_number_ = kNone;
};

void PrintFigures(const char *what) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%s ids %" PRId64 " numbers %" PRId64 " found %" PRId64 " late %" PRId64 " connections %" PRId64
              " errors %" PRId64 " highest %" PRId64 " ordered %" PRId64 " megabytes %ld\n",
              what, ids.load(), numbers.load(), found.load(), late.load(), lost_connections.load(), errors.load(),
              highest_number.load(), ordered.load(), usage.ru_maxrss / 1024);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const std::string folder = arguments[1];
  const uint64_t seed = std::stoull(arguments[2]);
  std::vector<std::thread> sessions;
  std::map<std::string, std::shared_ptr<HighestOfNode>> nodes;
  std::deque<std::atomic<int64_t>> orders;
  std::thread watch([] {
    while (!stopping) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      given_ids.ForgetBefore(NowTick() - kRememberedTicks);
      PrintFigures("taken");
    }
  });
  for (std::string line; std::getline(std::cin, line) && line != "stop";) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "pace") {
      int64_t value = 0;
      words >> value;
      pace = value;
    } else if (command == "ordered" || command == "unordered") {
      std::string name;
      words >> name;
      nodes.at(name)->of_all = command == "ordered" ? &orders.emplace_back(0) : nullptr;
    } else if (command == "start") {
      std::string name, conninfo;
      int wanted = 0;
      words >> name >> wanted >> std::ws;
      std::getline(words, conninfo);
      auto highest_ids = nodes[name] = std::make_shared<HighestOfNode>();
      for (int i = 1; i <= wanted; ++i) {
        sessions.emplace_back([=, number = sessions.size()] {
          Session(folder, name + "." + std::to_string(i), highest_ids, conninfo, seed + number).Run();
        });
      }
    }
  }
  stopping = true;
  for (std::thread &session : sessions) session.join();
  watch.join();
  PrintFigures("ended");
  return 0;
}
