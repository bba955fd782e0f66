// How much a test with two lengths does: the short form in the default run, the long form in
// `test/run --all`.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace snowflake {

inline int64_t AtLength(int64_t brief, int64_t full) { return std::getenv("SNOWFLAKE_ALL") != nullptr ? full : brief; }

}  // namespace snowflake
