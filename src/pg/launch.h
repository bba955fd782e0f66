// Starting the keeper.
#pragma once

#include "pg/shared.h"

namespace snowflake {

enum class Launch {
  kAsked,       // one runs, or was asked for a moment ago
  kNoSlot,      // max_worker_processes is used up
  kSingleUser,  // no background workers at all
};

// Asks for a keeper of this process's database unless one runs. Never waits.
Launch EnsureKeeper(NodeState *node);

}  // namespace snowflake
