// Spans of time in microseconds.
#pragma once

#include <cstdint>

namespace snowflake {

inline constexpr int64_t kMs = 1000;
inline constexpr int64_t kSecond = 1000 * kMs;
inline constexpr int64_t kMinute = 60 * kSecond;
inline constexpr int64_t kHour = 60 * kMinute;
inline constexpr int64_t kDay = 24 * kHour;
inline constexpr int64_t kYear = 365 * kDay;

}  // namespace snowflake
