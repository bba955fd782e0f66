// The keeper's process.
#pragma once

#include "pg/pg.h"

extern "C" PGDLLEXPORT void snowflake_keeper_main(Datum database);

namespace snowflake {

// Whether the process was told to end: what an exchange that was under way brought must not be put to use.
bool StopRequested();

}  // namespace snowflake
