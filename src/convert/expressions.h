// The SQL of expressions of tables, with the new columns instead of the narrow ones.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// For the settings of PinSettings(), under which snowflake_try() executes it.
const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression);

}  // namespace snowflake
