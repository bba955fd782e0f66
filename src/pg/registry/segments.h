// Segments, section 11 of the design: what the registry allocates of them. Errors common to all: as
// in protocol.h.
//
// 1. A range is allocated under its segment's row lock, and committed before the node gets it.
// 2. Losses of the registry are detected before any row is locked, because settling locks all rows.
#pragma once

#include "core/exchange.h"
#include "pg/pg.h"

namespace snowflake {
// `usage_role`: whose members may use its numbers; nullptr: every role. Errors: 42710, 22023; SF006
// if a segment of that name was dropped and nothing is left above it.
void ProtocolCreateSegment(Oid extension, const char *name, int64_t start, int64_t step, int64_t max_value,
                           int64_t max_step, Name usage_role);

// Remembers where it ended, for another segment of that name, unless only this database's own node
// has had numbers of it. Error: 42704.
void ProtocolDropSegment(Oid extension, const char *name);

// Returns the next number. Errors: 42704, 22023.
int64_t ProtocolRaiseSegment(Oid extension, const char *name, int64_t value);

// A restored dump has a segment of this name. False if the registry has none.
bool ProtocolRestoreSegment(Oid extension, const char *name, int64_t last_value);

// Called then for this database's own node, whose rows are in the dump. Set when the library is
// loaded.
extern void (*restored_segment)(Oid extension, const char *name, int64_t last_value);

// Segments that one exchange may be about.
inline constexpr int kMostRanges = 1000;

// Takes numbers back, then allocates, for each segment in the order of the names. Error: 55000 for
// a node that has had numbers far above all that were allocated.
void ProtocolRanges(Oid extension, const RangesRequest &request, RangesAnswer *answer);

}  // namespace snowflake
