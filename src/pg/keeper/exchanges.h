// The exchanges with the registry, for leases and for ranges of segments (ranges.cpp): what the
// keeper asks for, and what it does with the answers. core/keeper decides when, and process.cpp
// carries that out. Errors of the registry pass through here.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {
RegistryAnswer Acquire(int64_t duration_us);
RegistryAnswer Extend(int64_t duration_us);
// One of the leases that wait to be released; the oldest is 0. In a hurry it takes no longer than a
// shutdown may.
RegistryAnswer Release(int retired, bool hurry);

// The registry that snowflake.registry names now. If it is the one in use, at another address, the
// node goes on there with its lease; otherwise nothing changes yet (kAnother).
RegistryAnswer Probe();

// What this database's segments want of the keeper.
void ObserveRanges(KeeperView *view);
// For all segments that want a range. While leaving, all ranges are released.
RegistryAnswer ExchangeRanges(bool leaving);

}  // namespace snowflake
