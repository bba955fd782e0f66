// Compares the order of calls with the order of their ids, from what test/c/order.c recorded.
//
//     order MASK STEPS FILE...
//
// 1. If a call ended more than kApartNs before another began, its highest id must be below the
//    lowest id of the other. MASK is the field of the worker id: if both ids have the same worker
//    id, or a session's own calls are not in order, the call "fell".
// 2. If the worker ids differ, the call "fell across", unless a step of the clock allows it. STEPS
//    is a file of lines "FROM UNTIL": between these moments, in ns, the clock stepped back by more
//    than a node bridges, and calls got ids under another worker id. A step allows one fall, below
//    an id that was requested before the step's end: later ids are not of the worker id before. The
//    call that fell may come later, if all sessions were away. What began before its end is not
//    compared with later calls of other worker ids any more, because it may be of the worker id
//    before.
// 3. "near" are calls that began less than kNearNs after a call of another process, and none of
//    their own process in between. Without them a run shows nothing about the order across
//    sessions.
//
// It prints a line for each of the first falls. The last line has the numbers of calls, ids, ids
// that occur again, calls that fell, that fell across, that a step allowed, that were near, and for
// each kind of call how many there were.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int64_t kApartNs = 1000;
constexpr int64_t kNearNs = 10 * 1000;
constexpr int kShown = 20;

struct Call {
  int64_t begin, end, lowest, highest;
};

struct File {
  const char *name;
  std::string kind;
  size_t process;  // their numbers are dense
  const Call *calls;
  size_t count;
};

struct Step {
  int64_t from, until;
  bool used;
};

// The bytes of a file, mapped.
template <typename Value>
const Value *Map(const char *name, size_t *count) {
  const int fd = open(name, O_RDONLY);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) {
    std::perror(name);
    std::exit(1);
  }
  *count = static_cast<size_t>(about.st_size) / sizeof(Value);
  const size_t bytes = *count * sizeof(Value);
  const void *at = bytes == 0 ? nullptr : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) {
    std::perror(name);
    std::exit(1);
  }
  return static_cast<const Value *>(at);
}

// The highest id of each worker id. Nearly always the worker id is that of the time before.
class Floors {
 public:
  int64_t *Of(int64_t worker) {
    if (newest_ < floors_.size() && floors_[newest_].worker == worker) return &floors_[newest_].highest;
    for (newest_ = 0; newest_ < floors_.size(); ++newest_)
      if (floors_[newest_].worker == worker) return &floors_[newest_].highest;
    floors_.push_back({worker, -1});
    return &floors_[newest_].highest;
  }

 private:
  struct Floor {
    int64_t worker, highest;
  };
  std::vector<Floor> floors_;
  size_t newest_ = 0;
};

// The calls of all files, in the order of one of their moments. In a file they are in that order.
class Merge {
 public:
  Merge(const std::vector<File> &files, int64_t Call::*moment) : files_(files), moment_(moment), at_(files.size(), 0) {
    for (size_t file = 0; file < files.size(); ++file)
      if (files[file].count > 0) heap_.push_back(file);
    for (size_t place = heap_.size(); place-- > 0;) Sink(place);
  }

  bool Done() const { return heap_.empty(); }
  const File &file() const { return files_[heap_[0]]; }
  const Call &call() const { return files_[heap_[0]].calls[at_[heap_[0]]]; }

  void Next() {
    const size_t file = heap_[0];
    if (++at_[file] == files_[file].count) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) Sink(0);
  }

 private:
  int64_t Moment(size_t place) const { return files_[heap_[place]].calls[at_[heap_[place]]].*moment_; }

  void Sink(size_t place) {
    for (;;) {
      size_t least = place;
      for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < heap_.size(); ++child)
        if (Moment(child) < Moment(least)) least = child;
      if (least == place) return;
      std::swap(heap_[place], heap_[least]);
      place = least;
    }
  }

  const std::vector<File> &files_;
  int64_t Call::*moment_;
  std::vector<size_t> at_;
  std::vector<size_t> heap_;
};

std::vector<Step> ReadSteps(const char *name) {
  std::vector<Step> steps;
  std::FILE *file = std::fopen(name, "r");
  if (file == nullptr) return steps;
  Step step = {0, 0, false};
  while (std::fscanf(file, "%" SCNd64 " %" SCNd64, &step.from, &step.until) == 2) steps.push_back(step);
  std::fclose(file);
  return steps;
}

// Whether a step allows that this call fell below an id that was requested then. That step, and
// those before it, allow no other one.
bool UseStep(std::vector<Step> *steps, const Call &call, int64_t requested) {
  bool allowed = false;
  for (Step &step : *steps) {
    if (step.from > call.end) continue;
    allowed |= !step.used && requested <= step.until;
    step.used = true;
  }
  return allowed;
}

}  // namespace

int main(int count, char **arguments) {
  if (count < 4) return 2;
  const int64_t mask = std::atoll(arguments[1]);
  std::vector<Step> steps = ReadSteps(arguments[2]);
  std::vector<File> files;
  std::vector<int> processes;
  std::vector<int64_t> ids;
  for (int i = 3; i < count; ++i) {
    const char *name = arguments[i], *base = std::strrchr(name, '/');
    base = base == nullptr ? name : base + 1;
    size_t records = 0;
    const size_t length = std::strlen(name);
    if (length > 4 && std::strcmp(name + length - 4, ".ids") == 0) {
      const int64_t *values = Map<int64_t>(name, &records);
      while (records > 0 && values[records - 1] == 0) --records;
      ids.insert(ids.end(), values, values + records);
      continue;
    }
    const int pid = std::atoi(std::strchr(base, '.') + 1);
    const size_t process = std::find(processes.begin(), processes.end(), pid) - processes.begin();
    if (process == processes.size()) processes.push_back(pid);
    File file = {name, std::strrchr(base, '.') + 1, process, Map<Call>(name, &records), 0};
    while (file.count < records && file.calls[file.count].end != 0) ++file.count;
    const bool has_ids = access((std::string(name) + ".ids").c_str(), F_OK) == 0;
    for (size_t at = 0; at < file.count && !has_ids; ++at) ids.push_back(file.calls[at].lowest);
    files.push_back(file);
  }

  size_t calls = 0, fell = 0, across = 0, allowed = 0, near = 0;
  Floors floors;
  int64_t highest = -1, requested = 0;  // of all worker ids, and when
  int64_t not_before = INT64_MIN;       // what began before that does not count for `highest`
  std::vector<Call> last_of(processes.size(), {0, 0, 0, -1});
  struct {
    int64_t begin;
    size_t process;
  } previous = {0, 0};
  std::vector<std::pair<std::string, size_t>> kinds;
  Merge ended(files, &Call::end);
  for (Merge begun(files, &Call::begin); !begun.Done(); begun.Next()) {
    const Call &call = begun.call();
    const File &file = begun.file();
    ++calls;
    for (; !ended.Done() && ended.call().end + kApartNs < call.begin; ended.Next()) {
      const Call &before = ended.call();
      int64_t *floor = floors.Of(before.highest & mask);
      *floor = std::max(*floor, before.highest);
      if (before.begin < not_before || before.highest <= highest) continue;
      highest = before.highest;
      requested = before.begin;
    }

    const char *fault = nullptr;
    int64_t above = *floors.Of(call.lowest & mask);
    const Call &last = last_of[file.process];
    if (last.end <= call.begin && ((last.highest ^ call.lowest) & mask) == 0) above = std::max(above, last.highest);
    if (call.lowest <= above) {
      ++fell;
      fault = "fell";
    } else if (call.lowest <= highest) {
      if (UseStep(&steps, call, requested)) {
        ++allowed;
        highest = -1;
        not_before = call.end;
      } else {
        ++across;
        fault = "across";
        above = highest;
      }
    }
    if (fault != nullptr && fell + across <= kShown)
      std::printf("%s %s from %" PRId64 " until %" PRId64 ": %" PRId64 " to %" PRId64 " after %" PRId64 "\n", fault,
                  file.name, call.begin, call.end, call.lowest, call.highest, above);
    last_of[file.process] = call;

    if (previous.process != file.process && call.begin - previous.begin < kNearNs) ++near;
    previous = {call.begin, file.process};
  }

  size_t twice = 0;
  std::sort(ids.begin(), ids.end());
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] != ids[i - 1]) continue;
    if (twice++ < kShown) std::printf("twice %" PRId64 "\n", ids[i]);
  }
  std::printf("%zu %zu %zu %zu %zu %zu %zu", calls, ids.size(), twice, fell, across, allowed, near);
  for (const File &file : files) {
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto &one) { return one.first == file.kind; });
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {file.kind, 0});
    kind->second += file.count;
  }
  for (const auto &kind : kinds) std::printf(" %s=%zu", kind.first.c_str(), kind.second);
  std::printf("\n");
  return 0;
}
