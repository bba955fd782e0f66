// What a registry refuses. All raise an ERROR.
#pragma once

#include "core/ring.h"
#include "pg/report.h"

namespace snowflake {

[[noreturn]] void ReportBinaryUpgrade(const char *function);
[[noreturn]] void ReportAllLeased(int64_t ring_size, int64_t next_free_us);
[[noreturn]] void ReportHeldBack(int64_t ring_size, int64_t leased, const Settling &settling);
[[noreturn]] void ReportLeasesOfRole(int64_t leases);
[[noreturn]] void ReportForeignColumn();
[[noreturn]] void ReportNotPermanent(const char *table);
[[noreturn]] void ReportNoGuard(const char *table);
[[noreturn]] void ReportMovedTables();
[[noreturn]] void ReportSeveralOwners();
[[noreturn]] void ReportDuration(int64_t duration_us);
[[noreturn]] void ReportDatacenter(int32_t datacenter, const Layout &layout);
[[noreturn]] void ReportLastTick(int64_t last_tick);
[[noreturn]] void ReportNodeName(int64_t bytes);
[[noreturn]] void ReportTickAhead(int64_t tick_us, int64_t registry_us);
[[noreturn]] void ReportDeadSince(TimestampTz dead_since);
[[noreturn]] void ReportAliveSince(int32_t worker, TimestampTz dead_since, TimestampTz renewed_at);
[[noreturn]] void ReportTransactionBlock(const char *function);
[[noreturn]] void ReportPrepare(const char *function);

// What the guards keep out.
enum class GuardFault {
  kLease,
  kLeaseChanged,
  kWindowFalls,
  kWatermarkGone,
  kWatermarkFalls,
  kOrigin,
  kSegmentGone,
  kSegmentFalls,
  kRange,
  kTruncate
};
[[noreturn]] void ReportGuard(GuardFault fault);
[[noreturn]] void ReportClockSkew(int64_t node_us, int64_t registry_us);

[[noreturn]] void ReportSegmentExists(const char *name);
[[noreturn]] void ReportSegmentLimits(int64_t start, int64_t step, int64_t max_value, int64_t max_step);
[[noreturn]] void ReportSegmentEnd(const char *name, int64_t last_value, int64_t max_value);
[[noreturn]] void ReportSegmentValue(const char *name, int64_t value, int64_t max_value);
[[noreturn]] void ReportSegmentAhead(const char *name, int64_t highest, int64_t last_value);
[[noreturn]] void ReportRangeArrays();
// No error.
void NoticeGoesOn(const char *segment, int64_t next);

}  // namespace snowflake
