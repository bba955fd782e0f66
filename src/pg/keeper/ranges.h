// Ranges of segments: what the keeper asks for, and what it gives back.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"

namespace snowflake {

// What this database's segments want of the keeper.
void LookAtRanges(KeeperView *view);

// One exchange for all of them. While leaving, everything goes back.
RegistryAnswer ExchangeRanges(bool leaving);

// From another registry, or a segment's that is there no more: none of them is used.
void DiscardRanges();

}  // namespace snowflake
