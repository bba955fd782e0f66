// Segments, section 11 of the design: what the registry hands out of them. Errors common to all: as for the protocol of leases.
//
// 1. A range is handed out under its segment's row lock, and committed before it is answered.
// 2. What happened to the registry as a whole is looked at before any row is locked, as whoever settles locks them all.
#pragma once

#include "core/exchange.h"
#include "pg/pg.h"

namespace snowflake {

// `usage_role`: whose members may use its numbers; nullptr: every role. Errors: 42710, 22023; SF006 where one of that name was dropped, and nothing is left above it.
void ProtocolCreateSegment(Oid extension, const char *name, int64_t start, int64_t step, int64_t max_value,
                           int64_t max_step, Name usage_role);

// Where it ended is remembered, should there be one of the name again: unless this database's own node alone has had
// numbers of it. Error: 42704.
void ProtocolDropSegment(Oid extension, const char *name);

// Returns the next number. Errors: 42704, 22023.
int64_t ProtocolRaiseSegment(Oid extension, const char *name, int64_t value);

// Who may issue which of its numbers. `held_to`: the last one that another node has, or 0; what is below it that node may have, too, down
// to the first.
struct SegmentStanding {
  bool known;  // there is one of that name, or was
  bool dropped;
  int64_t first_value;
  int64_t last_value;
  int64_t max_value;
  const char *holder;
  int64_t held_to;
};
// Of other nodes than this database's own. With `lock` it stays so until the transaction ends.
SegmentStanding ProtocolSegmentStanding(Oid extension, const char *name, bool lock);

// A restored dump has a segment of this name. False where the registry has none.
bool ProtocolRestoreSegment(Oid extension, const char *name, int64_t last_value);

// What this database's own node has of it is to know, too: its rows come along. Set when the library is loaded.
extern void (*restored_segment)(Oid extension, const char *name, int64_t last_value);

// Segments that one exchange may be about.
inline constexpr int kMostRanges = 1000;

// Takes back, then hands out, for each in the order of the names. Error: 55000 for a node that has had numbers far above all that
// were handed out.
void ProtocolRanges(Oid extension, const RangesRequest &request, RangesAnswer *answer);

}  // namespace snowflake
