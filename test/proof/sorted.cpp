// Sorts what clients were given, and looks for what occurs twice: files of eight bytes each, whoever wrote them.
//
//     sorted FOLDER FILE...
//
// It prints how many there are, how many of them occur again, the lowest and the highest; for each that occurs again, a line before
// that names the files that have it. It shares nothing with the program that compares them while they are taken.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr size_t kPart = size_t{16} << 20;  // values that are sorted at once
constexpr size_t kBuffer = size_t{1} << 16;

std::FILE *Open(const std::string &name, const char *mode) {
  std::FILE *file = std::fopen(name.c_str(), mode);
  if (file == nullptr) {
    std::perror(name.c_str());
    std::exit(1);
  }
  return file;
}

template <typename Each>
void Read(const std::string &name, Each each) {
  std::FILE *file = Open(name, "rb");
  std::vector<int64_t> values(kBuffer);
  while (const size_t count = std::fread(values.data(), sizeof(int64_t), values.size(), file))
    for (size_t i = 0; i < count; ++i) each(values[i]);
  std::fclose(file);
}

void Write(std::FILE *file, const std::vector<int64_t> &values) {
  if (std::fwrite(values.data(), sizeof(int64_t), values.size(), file) != values.size()) {
    std::perror("write");
    std::exit(1);
  }
}

size_t SizeOf(const std::string &name) {
  std::FILE *file = Open(name, "rb");
  std::fseek(file, 0, SEEK_END);
  const size_t size = static_cast<size_t>(std::ftell(file)) / sizeof(int64_t);
  std::fclose(file);
  return size;
}

}  // namespace

int main(int count, char **arguments) {
  if (count < 3) return 2;
  const std::string folder = arguments[1];
  const std::vector<std::string> files(arguments + 2, arguments + count);

  // Equal ones come into the same part.
  size_t all = 0;
  for (const std::string &name : files) all += SizeOf(name);
  const uint64_t parts = all / kPart + 1;
  std::vector<std::FILE *> part_files;
  std::vector<std::vector<int64_t>> buffers(parts);
  const auto part_name = [&](size_t part) { return folder + "/part" + std::to_string(part); };
  for (size_t part = 0; part < parts; ++part) part_files.push_back(Open(part_name(part), "wb"));
  for (const std::string &name : files) {
    Read(name, [&](int64_t value) {
      const size_t part = static_cast<uint64_t>(value) * UINT64_C(0x9E3779B97F4A7C15) % parts;
      buffers[part].push_back(value);
      if (buffers[part].size() < kBuffer) return;
      Write(part_files[part], buffers[part]);
      buffers[part].clear();
    });
  }
  for (size_t part = 0; part < parts; ++part) {
    Write(part_files[part], buffers[part]);
    if (std::fclose(part_files[part]) != 0) return 1;
  }

  size_t total = 0, twice = 0;
  int64_t lowest = INT64_MAX, highest = INT64_MIN;
  std::vector<int64_t> shown;
  for (size_t part = 0; part < parts; ++part) {
    std::vector<int64_t> values;
    Read(part_name(part), [&](int64_t value) { values.push_back(value); });
    std::remove(part_name(part).c_str());
    std::sort(values.begin(), values.end());
    total += values.size();
    if (!values.empty()) {
      lowest = std::min(lowest, values.front());
      highest = std::max(highest, values.back());
    }
    for (size_t i = 1; i < values.size(); ++i) {
      if (values[i] != values[i - 1]) continue;
      ++twice;
      if (shown.size() < 100 && (shown.empty() || shown.back() != values[i])) shown.push_back(values[i]);
    }
  }
  std::sort(shown.begin(), shown.end());
  if (!shown.empty()) {
    for (const std::string &name : files) {
      Read(name, [&](int64_t value) {
        if (std::binary_search(shown.begin(), shown.end(), value))
          std::printf("again %" PRId64 " %s\n", value, name.c_str());
      });
    }
  }
  if (total == 0) lowest = highest = 0;
  std::printf("%zu %zu %" PRId64 " %" PRId64 "\n", total, twice, lowest, highest);
  return 0;
}
