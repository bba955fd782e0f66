// Random numbers that one seed repeats, with every standard library.
#pragma once

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "core/layout.h"

namespace snowflake {

// The seed is printed; SNOWFLAKE_SEED gives another.
inline std::mt19937_64 SeededRandom(uint64_t seed) {
  if (const char *given = std::getenv("SNOWFLAKE_SEED")) seed = std::strtoull(given, nullptr, 10);
  std::cout << "seed " << seed << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return std::mt19937_64(seed);
}

// Uniform enough in 0 .. limit - 1.
inline int64_t Below(std::mt19937_64 *random, int64_t limit) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(limit));
}

// Small ticks, large ticks and everything between must be as frequent as one another.
inline Parts RandomParts(std::mt19937_64 *random, const Layout &layout, Tick max_tick) {
  const Tick tick = static_cast<Tick>((*random)() >> 1) & max_tick;
  return {tick >> Below(random, 63), static_cast<int32_t>(Below(random, layout.worker_count())),
          static_cast<int32_t>(Below(random, layout.sequence_count()))};
}

}  // namespace snowflake
