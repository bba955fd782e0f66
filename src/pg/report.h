// The extension's SQLSTATEs, what messages need, and the errors that several files raise. An error
// of one function is written in that function.
#pragma once

#include "core/layout.h"
#include "core/segment.h"
#include "pg/pg.h"

#include <initializer_list>

namespace snowflake {
inline constexpr int kNoLease = MAKE_SQLSTATE('S', 'F', '0', '0', '1');
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'F', '0', '0', '2');  // or too far ahead
inline constexpr int kTimeUsedUp = MAKE_SQLSTATE('S', 'F', '0', '0', '3');   // of the layout
inline constexpr int kAllLeased = MAKE_SQLSTATE('S', 'F', '0', '0', '4');    // every worker id
inline constexpr int kNoNumbers = MAKE_SQLSTATE('S', 'F', '0', '0', '5');    // of a segment
inline constexpr int kSegmentUsedUp = MAKE_SQLSTATE('S', 'F', '0', '0', '6');
inline constexpr int kBelowHorizon = MAKE_SQLSTATE('S', 'F', '0', '0', '7');

// For messages: a time in the session's zone and style, and a number of 64 bits.
inline char *Time(int64_t unix_us) { return pstrdup(timestamptz_to_str(TimestampFromUnixUs(unix_us))); }
inline long long Long(int64_t value) { return static_cast<long long>(value); }

// The error of a registry that holds worker ids back names this column. It identifies the error in
// any language and over a connection.
inline constexpr const char *kHeldBackColumn = "settles_until";
inline bool IsHeldBack(const ErrorData &error) {
  return error.sqlerrcode == kAllLeased && error.column_name != nullptr &&
         strcmp(error.column_name, kHeldBackColumn) == 0;
}

// An error that ends a wait for a session whose commit waits for a synchronous standby names this
// column.
inline constexpr const char *kStandbyColumn = "synchronous_standby_names";
inline bool IsForStandby(const ErrorData &error) {
  return error.column_name != nullptr && strcmp(error.column_name, kStandbyColumn) == 0;
}
inline constexpr const char *kAwaitsStandby = "the registry waits for a synchronous standby";
inline constexpr const char *kStandbyToDo =
    "Start a standby that synchronous_standby_names of the registry's server names, or remove it from there and "
    "reload. Ending sessions does not help.";

// Whether an error ends or replaces a wait for a lock on the registry's tables.
inline bool EndsWait(int sqlstate) {
  return sqlstate == ERRCODE_LOCK_NOT_AVAILABLE || sqlstate == ERRCODE_QUERY_CANCELED ||
         sqlstate == ERRCODE_OBJECT_IN_USE;
}

[[noreturn]] void ReportNoExtension(Oid fn_oid);
// `where` is "this database" or "the registry's database".
[[noreturn]] void ReportNamesake(const char *where, const char *schema);
[[noreturn]] void ReportTimeUsedUp(const Layout &layout, int64_t now_us);
[[noreturn]] void ReportForeignTable(const char *table);
[[noreturn]] void ReportForeignFunction(const char *function);
[[noreturn]] void ReportIsolation(const char *function);
// Error: 22023 unless a segment can have a name of that length.
void CheckSegmentName(size_t bytes);
// `known`: the names of the registry's segments, or ""; nullptr if the caller may not see them.
[[noreturn]] void ReportNoSegment(const char *name, const char *known);
[[noreturn]] void ReportNotTrigger(const char *function);
[[noreturn]] void ReportNoRelation(Oid relation);
[[noreturn]] void ReportNoColumn(Oid relation, const char *column);

// For functions that are not strict: a null that is silently ignored would look like success.
void CheckNotNull(FunctionCallInfo fcinfo, const char *function, std::initializer_list<const char *> names);

}  // namespace snowflake
