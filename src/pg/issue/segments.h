// The way of a number, section 11 of the design: one of the range that this node has in shared memory.
#pragma once

#include "pg/state/node_block.h"

namespace snowflake {

// The next number of the segment of this name. `fn_oid` is the SQL function that asks; in `*kept`, nullptr at first, its call site
// keeps which segment that is. Errors: 22023 for what can be no name, 42704, 42501, SF005, SF006,
// and those of ids where nothing can be issued.
int64_t NextNumber(Oid fn_oid, void **kept, const text *name);

// The last number that this process had of it, or 0. Error: 42501.
int64_t LastNumber(Oid fn_oid, const text *name);

// This transaction has created a segment, which the keeper cannot see yet.
void NoteSegmentCreated();

}  // namespace snowflake
