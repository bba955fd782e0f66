// Starting the keeper.
#pragma once

#include "pg/issue/node_block.h"

namespace snowflake {

enum class Launch {
  kAsked,          // one runs, or was asked for a moment ago
  kNoSlot,         // max_worker_processes is used up
  kSingleUser,     // no background workers at all
  kBinaryUpgrade,  // pg_upgrade has the server for itself
};

// Asks for a keeper of this process's database unless one runs. Never waits.
Launch EnsureKeeper(NodeBlock *node);

}  // namespace snowflake
