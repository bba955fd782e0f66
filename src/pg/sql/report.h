// What SQL functions, and the hook of dropped objects, refuse. All but the notice raise an ERROR.
#pragma once

#include "core/layout.h"
#include "core/text.h"
#include "pg/report.h"

namespace snowflake {

// What keeps a registry from being dropped: leases of other nodes, the last of which may be in use until then.
[[noreturn]] void ReportLeasesHeld(int64_t leases, int64_t until_us);
[[noreturn]] void ReportRangesHeld(int64_t ranges, const char *shown);
[[noreturn]] void ReportRaiseAhead(int64_t tick_us, int64_t now_us);
void NoticeRaisedHere();
[[noreturn]] void ReportCheckedColumn(const char *column, Oid type, bool stored);
[[noreturn]] void ReportCheckedTable(const char *table);
[[noreturn]] void ReportUnknownLayout(const char *name);
[[noreturn]] void ReportForeignId(int64_t id, const Layout &layout);
[[noreturn]] void ReportPartsFault(TimestampTz ts, const Parts &parts, const Layout &layout, PartsFault fault);
[[noreturn]] void ReportNoIdAt(TimestampTz ts, const Layout &layout);
[[noreturn]] void ReportEpoch(TimestampTz epoch);
[[noreturn]] void ReportEpochAhead(const Layout &layout, int64_t now_us);
[[noreturn]] void ReportTick(const Interval *tick);
[[noreturn]] void ReportEndsTooSoon(const Layout &layout, int64_t now_us);
[[noreturn]] void ReportCount(int32_t count);
[[noreturn]] void ReportNoCurrval();
[[noreturn]] void ReportNoSegmentCurrval(const char *segment);
[[noreturn]] void ReportSegmentElsewhere();
[[noreturn]] void ReportUnknownEncoding(const char *name);
[[noreturn]] void ReportNegativeId(int64_t id);
[[noreturn]] void ReportTextFault(const TextEncoding &encoding, const char *input, const TextReading &reading);

}  // namespace snowflake
