// The keeper's process.
#pragma once

#include "pg/pg.h"

extern "C" PGDLLEXPORT void snowflake_keeper_main(Datum database);
