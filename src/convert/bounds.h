// What keeps new ids out of the tables with the columns: bounds of partitions, and checks.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// A table or a column that takes no new ids, why not, and the statement that helps.
struct Bound {
  const char *object, *detail, *hint;
  bool whole;  // neither the table nor one below it takes any
};

// Runs no code that belongs to tables.
List *FindBounds(const ColumnSet &columns);

// Error: 55000 if the converted column takes no new ids.
void CheckBounds(const Conversion &conversion, const IdColumns &columns);

// The least id that can be issued from now on.
int64_t LeastNewId();

}  // namespace snowflake
