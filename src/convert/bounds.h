// What keeps new ids out of the tables with the columns: bounds of partitions, and checks.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// A table or a column that takes no new ids, why not, and the statement that helps.
struct Bound {
  Oid table;  // the topmost one
  const char *object, *detail, *hint;
  bool whole;  // neither the table nor one below it takes any
};

// The least id that can be issued from now on.
int64_t LeastNewId();

// Runs no code that belongs to tables. `least`: the least new id.
List *FindBounds(const ColumnSet &columns, int64_t least);

}  // namespace snowflake
