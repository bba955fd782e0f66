// What the fuzz targets share: values from a fuzzer's bytes, and a check that stops with its line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#define REQUIRE(condition)                                                         \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace snowflake {

// Bytes that are used from the front; after their end everything is 0.
class Input {
 public:
  Input(const uint8_t *data, size_t size) : data_(data), left_(size) {}

  size_t left() const { return left_; }

  template <typename T>
  T Next() {
    T value = 0;
    const size_t bytes = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, data_, bytes);
    data_ += bytes;
    left_ -= bytes;
    return value;
  }

  // A value from 0 to limit - 1.
  int64_t Below(int64_t limit) { return static_cast<int64_t>(Next<uint64_t>() % static_cast<uint64_t>(limit)); }

  std::string_view Rest() const { return {reinterpret_cast<const char *>(data_), left_}; }

 private:
  const uint8_t *data_;
  size_t left_;
};

}  // namespace snowflake
