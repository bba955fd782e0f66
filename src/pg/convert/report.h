// What stands in the way of moving a table over. All but the notice raise an ERROR. Objects come described: "column id of table
// public.orders".
#pragma once

#include "pg/report.h"

namespace snowflake {

enum class TableFault { kNoTable, kForeign, kTemporary, kSystem, kExtension, kOwner };
enum class ColumnFault { kInherited, kSeveralRoots, kGenerated, kTypedTable, kType, kReferringType, kOwnNotNull };

// `extension` is the one that the table belongs to; `other`: it is not the table that was named.
[[noreturn]] void ReportTableFault(TableFault fault, const char *table, const char *extension, bool other);
[[noreturn]] void ReportOtherOwner(const char *table, const char *its_owner, const char *owner);

// `what` is the type or the tables that the fault is about.
[[noreturn]] void ReportColumnFault(ColumnFault fault, const char *column, const char *what);
[[noreturn]] void ReportIdsFromElsewhere(const char *column, const char *foreign_key, const char *from);
[[noreturn]] void ReportObjectsOnNarrow(const char *objects);
[[noreturn]] void ReportSequenceInUse(const char *users);
[[noreturn]] void ReportLargeIds(const char *column, int64_t largest, int64_t smallest_now);
[[noreturn]] void ReportMovedMeanwhile(const char *column);
// `segment`: nullptr for ids.
void NoticeIssuing(const char *column, const char *segment);

// Of segments. `last`: of the column's numbers and its sequence's.
[[noreturn]] void ReportSegmentIsBoolean(const char *segment);
[[noreturn]] void ReportNoNumberAbove(const char *column, const char *type, int64_t last);
[[noreturn]] void ReportSegmentOutOfSight(const char *column, int64_t last, const char *creation, const char *raise);
[[noreturn]] void ReportSegmentTooLarge(const char *column, const char *segment, int64_t last_value, const char *type);
[[noreturn]] void ReportSegmentTooSmall(const char *column, const char *segment, int64_t max_value, int64_t last);
[[noreturn]] void ReportHeldNumbers(const char *column, const char *segment, const char *holder, int64_t held_to,
                                    int64_t smallest);
[[noreturn]] void ReportNoRightToSegment(const char *function, const char *column, int64_t last);

}  // namespace snowflake
