// The processor's counter (core/counter.h): its reading, and whether it runs at one speed.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Requires: CounterServes(), in this process or in another one of this server.
inline uint64_t ReadCounter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t counts;
  asm volatile("mrs %0, cntvct_el0" : "=r"(counts));
  return counts;
#else
  return 0;
#endif
}

// Whether the processor says that its counter runs at one speed, and the system and settings allow
// processes to read it.
bool CounterServes();

}  // namespace snowflake
