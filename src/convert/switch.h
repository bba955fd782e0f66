// The switch of an online conversion: the statements that put the new columns in the place of the
// old ones.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// All of it but the locks, to be executed in one transaction. `defaults`: what gives the converted
// column its new default.
List *SwitchStatements(const IdColumns &columns, List *defaults);

// The tables that the switch changes or whose foreign keys it replaces.
List *TablesOfSwitch(const IdColumns &columns);

}  // namespace snowflake
