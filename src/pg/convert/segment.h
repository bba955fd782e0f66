// What becomes of a segment before a column has its numbers: afterwards no node is given one that is in the column, or was drawn from its
// sequence.
#pragma once

#include "pg/convert/catalog.h"

namespace snowflake {

// It is made, or raised, by a call with the caller's own rights; the statement says the same.
struct SegmentChange {
  const char *statement;  // nullptr: nothing is to be done
  Oid function;
  bool create;
  int64_t from;       // the first number, or the next one at least
  int64_t max_value;  // where it is made
};

// After LockColumns(). The segment stays as it was found until the transaction ends, but for a dry run or where nothing is to be done.
// Errors: 22003, 42501, 55000.
SegmentChange PlanSegment(const Conversion &conversion, const IdColumns &columns, Oid fn_oid, bool dry_run);

void Execute(const Conversion &conversion, const SegmentChange &change);

}  // namespace snowflake
