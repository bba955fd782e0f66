// Issues numbers of segments (section 11) from the range that this node has in shared memory.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// The next number of the segment of this name. `fn_oid` is the SQL function that asks; its call
// site keeps in `*kept`, nullptr at first, which segment that is. Errors: 22023 for a malformed
// name, 42704, 42501, SF005, SF006, and those of ids if nothing can be issued.
int64_t NextNumber(Oid fn_oid, void **kept, const text *name);

// The last number of it that this process has issued, or 0. Error: 42501.
int64_t LastNumber(Oid fn_oid, const text *name);

// This transaction has created a segment: the keeper cannot see it before the commit.
void NoteSegmentCreated();

}  // namespace snowflake
