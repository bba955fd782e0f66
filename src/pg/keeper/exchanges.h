// What the keeper does: to its node's state, and with the registry's answers. When it does it is decided by core/keeper
// and carried out by process.cpp; errors of the registry pass through here.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {

RegistryAnswer Acquire(int64_t duration_us);
RegistryAnswer Extend(int64_t duration_us);
// The oldest lease that waits to be given back. While leaving it takes no longer than a shutdown may.
RegistryAnswer Release(bool leaving);
void DropOldestRetired();

// After an acquire that brought no other worker id, although the clock is behind: ids go on, ahead of it.
void GoOn();
// After a refusal because of the clock.
void AskByOtherClock();

}  // namespace snowflake
