// Ranges of segments: what the keeper asks for, and what it releases.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {

// What this database's segments want of the keeper.
void ObserveRanges(KeeperView *view);

// One exchange for all of them. While leaving, all ranges are released.
RegistryAnswer ExchangeRanges(bool leaving);

}  // namespace snowflake
