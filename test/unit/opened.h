// A generator under a lease.
#pragma once

#include "core/generator.h"

namespace snowflake {

inline Generator Opened(const Layout &layout, int32_t worker, Tick start, Tick end) {
  Generator g = {};
  Lease lease = {};
  lease.lease_id = 1;
  lease.worker = worker;
  lease.window_start = start;
  lease.window_end = end;
  Open(&g, layout, lease);
  return g;
}

}  // namespace snowflake
