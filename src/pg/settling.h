// Settling, section 4 of the design: what a registry holds back after it was failed over, because commits that it lost may
// have handed it out.
#pragma once

#include "core/lease.h"
#include "pg/registry_tables.h"

namespace snowflake {

// What is left of one datacenter's ring: places at offsets `cut` and beyond, counted from `anchor`.
struct Settling {
  bool active;
  int64_t anchor;
  int64_t cut;
  TimestampTz until;
};

// Inside AsOwner(), with the registry's lock held: notices a failover, and says what is still held back because of one.
// `lease_id` is the lease about to be drawn.
Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t lease_id, int64_t duration_us,
                Tick now);

}  // namespace snowflake
