// Errors: the extension's SQLSTATEs, what all messages need, and the errors that several files raise. What one function raises
// is written in that function. All raise an ERROR.
//
// The extension's own class: SF001 no lease, SF002 the clock is behind or off, SF003 the layout's time is used up, SF004
// every worker id is leased, SF005 no numbers of a segment, SF006 a segment is used up.
#pragma once

#include "core/layout.h"
#include "pg/pg.h"

namespace snowflake {

inline constexpr int kNoLease = MAKE_SQLSTATE('S', 'F', '0', '0', '1');
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'F', '0', '0', '2');
inline constexpr int kTimeUsedUp = MAKE_SQLSTATE('S', 'F', '0', '0', '3');
inline constexpr int kAllLeased = MAKE_SQLSTATE('S', 'F', '0', '0', '4');
inline constexpr int kNoNumbers = MAKE_SQLSTATE('S', 'F', '0', '0', '5');
inline constexpr int kSegmentUsedUp = MAKE_SQLSTATE('S', 'F', '0', '0', '6');

// For messages: a time in the session's own zone and style, and a number of 64 bits.
inline char *Time(int64_t unix_us) { return pstrdup(timestamptz_to_str(TimestampFromUnixUs(unix_us))); }
inline long long Long(int64_t value) { return static_cast<long long>(value); }

// The column that is named by the error of a registry which holds worker ids back, whatever language its message is in, and over
// a connection, too.
inline constexpr const char *kHeldBackColumn = "settles_until";
bool IsHeldBack(const ErrorData &error);

// Whether an error ends a wait, or stands for one, for whoever has locked the registry's tables.
inline bool EndsWait(int sqlstate) {
  return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE || sqlstate == ERRCODE_QUERY_CANCELED ||
         sqlstate == ERRCODE_OBJECT_IN_USE;
}

[[noreturn]] void ReportNoExtension(Oid fn_oid);

// `where` is "this database" or "the registry's database".
[[noreturn]] void ReportNamesake(const char *where, const char *schema);
[[noreturn]] void ReportTimeUsedUp(const Layout &layout, int64_t now_us);
[[noreturn]] void ReportForeignTable(const char *table);
[[noreturn]] void ReportIsolation(const char *function);
[[noreturn]] void ReportSegmentName(int64_t bytes);
// `known`: names of segments that are there, may be empty.
[[noreturn]] void ReportNoSegment(const char *name, const char *known);
[[noreturn]] void ReportNotTrigger(const char *function);
[[noreturn]] void ReportNoRelation(Oid relation);
[[noreturn]] void ReportNoColumn(Oid relation, const char *column);

// For functions that are not strict, because a null that is silently ignored would be taken for success.
void CheckNotNull(FunctionCallInfo fcinfo, const char *function, const char *const *names, int count);

}  // namespace snowflake
