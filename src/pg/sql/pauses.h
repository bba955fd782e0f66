// Waits of SQL functions, which an interrupt ends.
#pragma once

#include "core/layout.h"
#include "pg/pg.h"

namespace snowflake {

inline void WaitAWhile(int64_t ms) {
  constexpr int64_t look_ms = 100;
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeRaise");
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(Min(ms, look_ms)), event);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

// Waits as long as any session may use a run that it has taken before.
inline void WaitForRunsToEnd(int64_t tick_us) {
  for (const int64_t until_us = SteadyUs() + tick_us; SteadyUs() < until_us;)
    WaitAWhile((until_us - SteadyUs()) / kUsPerMs + 1);
}

}  // namespace snowflake
