// Rows that keep a table from being filled.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// A line for each constraint that is NOT VALID, and that a row violates. Filling would update the
// row, which checks the constraint. Only tables with such constraints are read, and only until they
// are filled. Expressions run with the rights of the tables' owners, and not under PinSettings().
List *FindViolated(const IdColumns &columns);
}  // namespace snowflake
