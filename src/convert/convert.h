// Converting a column as a part of another command.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Executes what snowflake_convert() would. `widen`: the column, and those that refer to it, only
// become bigint. Requires: SPI_connect(), and pg_catalog as the search_path.
void ConvertColumn(Oid fn_oid, Oid table, const char *column, bool widen);

}  // namespace snowflake
