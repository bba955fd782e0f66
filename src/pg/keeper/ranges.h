// Ranges of segments: what the keeper asks for, and what it gives back.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {

// What this database's segments want of the keeper.
void ObserveRanges(KeeperView *view);

// One exchange for all of them. While leaving, everything goes back.
RegistryAnswer ExchangeRanges(bool leaving);

}  // namespace snowflake
