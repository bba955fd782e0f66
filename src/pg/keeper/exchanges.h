// The exchanges of leases: what the keeper does with the answers. core/keeper decides when, and
// process.cpp carries that out. Errors of the registry pass through here.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {

RegistryAnswer Acquire(int64_t duration_us);
RegistryAnswer Extend(int64_t duration_us);
// The oldest lease that waits to be released. In a hurry it takes no longer than a shutdown may.
RegistryAnswer Release(bool hurry);

}  // namespace snowflake
