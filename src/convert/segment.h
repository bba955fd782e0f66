// What becomes of a segment before a column gets its numbers: afterwards no node acquires a number
// that is in the column, or that the column's sequence has issued.
//
// 1. The registry has no record of the numbers in the column. So the segment begins above them, or
//    is raised.
// 2. A raise does not reach what other nodes hold already: any number from the segment's first to
//    the end of each node's newest range. If the column has a number there, nothing is done.
// 3. The owner of a table may read, through this function, but not change a segment: that takes
//    EXECUTE on the function that does it. So it is called by OID, with the caller's rights.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// The segment is created, or raised, by a call with the caller's rights; `statement` does the same.
// It has all arguments with their types, so that no other function of the name can be called.
struct SegmentChange {
  const char *statement;  // nullptr: nothing is to be done
  Oid function;
  bool create;
  int64_t from;       // the first number, or the lowest that may come next
  int64_t max_value;  // if it is created
};

// After LockColumns(). The segment stays as it was found until the transaction ends, unless this is
// a dry run or nothing is to be done. Errors: 22003, 42501, 55000.
SegmentChange PlanSegment(const Conversion &conversion, const IdColumns &columns);

void ExecuteChange(const Conversion &conversion, const SegmentChange &change);

}  // namespace snowflake
