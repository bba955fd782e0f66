// Settling, section 4 of the design: what a registry holds back after it was failed over, because commits that it lost may
// have handed it out.
//
// Lost commits drew in the ring's order from the newest lease that is not lost. So the order is counted from there, and
// not from the next number of the sequence, which comes back up to 32 ahead after a promotion; and while it settles, leases
// are drawn from the cut on, so that a second failover finds those that it lost in the nearer half again.
#pragma once

#include "core/lease.h"
#include "pg/registry_tables.h"

namespace snowflake {

// What is left of one datacenter's ring: places at offsets `cut` and beyond, counted from `anchor`.
struct Settling {
  bool active;
  bool noticed;  // in this very transaction
  int64_t anchor;
  int64_t cut;
  TimestampTz until;
};

// Inside AsOwner(), with the registry's lock held: notices a failover, and says what is still held back because of one.
Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, Tick now, int64_t duration_us);

// The same place: writes down that this lease was drawn, and at the first one where.
void WriteOrigin(const Tables &tables, int64_t lease_id);

}  // namespace snowflake
