// Issues ids (section 3): numbers of the node's open run, or of a new one.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// The extension is found through `fn_oid`, the SQL function that asks. Raises the errors of
// section 9.
int64_t NextId(Oid fn_oid);

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
