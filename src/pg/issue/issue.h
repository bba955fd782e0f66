// The way of an id, section 3: a number of this process's own run, or a new run of the node's generator.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// The next id. `fn_oid` is the SQL function that asks, through which the extension is found; `ahead` says how many ids the
// caller is sure to ask for, this one included. Raises the errors of section 9.
int64_t NextId(Oid fn_oid, int64_t ahead);

// Up to `most` ids at one reading of the clock: first, first + step, and so on; at least one.
struct Ids {
  int64_t first;
  int64_t step;
  int32_t count;
};
Ids NextIds(Oid fn_oid, int32_t most);

// The last id of this process, or -1 before the first.
int64_t LastId();

}  // namespace snowflake
