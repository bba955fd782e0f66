// From a status of the core to SQLSTATE, message, detail and hint; nowhere else. All but the notices raise an ERROR.
//
// The extension's own class: SF001 no lease, SF002 the clock is behind or off, SF003 the layout's time is used up, SF004
// every worker id is leased.
#pragma once

#include "core/generator.h"
#include "core/text.h"
#include "pg/pg.h"
#include "pg/issue/node_block.h"

namespace snowflake {

inline constexpr int kNoLease = MAKE_SQLSTATE('S', 'F', '0', '0', '1');
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'F', '0', '0', '2');
inline constexpr int kTimeUsedUp = MAKE_SQLSTATE('S', 'F', '0', '0', '3');
inline constexpr int kAllLeased = MAKE_SQLSTATE('S', 'F', '0', '0', '4');

// Why a call has no lease although it asked for one.
enum class NoLeaseReason { kKeeperSlots, kRegistry, kSingleUser, kBinaryUpgrade };

[[noreturn]] void ReportNotPreloaded();
[[noreturn]] void ReportTooManyDatabases();
[[noreturn]] void ReportSameTransaction(bool updated);
[[noreturn]] void ReportNoExtension(Oid fn_oid);
// `where` is "this database" or "the registry's database".
[[noreturn]] void ReportNamesake(const char *where, const char *schema);
[[noreturn]] void ReportRecovery();
[[noreturn]] void ReportBinaryUpgrade(const char *function);

// `error` is what the registry said last, message[0] == 0 when it has not said anything.
[[noreturn]] void ReportNoLease(NoLeaseReason reason, const RegistryError &error, int64_t waited_us);

// What the registry said last, in words for who asks: of its address and its roles only who may see all settings reads.
const char *WhatRegistrySaid(const RegistryError &error);

// `ahead_us` (Unix) is the last id's time when the clock stepped back, otherwise when the lease's window begins.
[[noreturn]] void ReportClockBehind(const Layout &layout, int64_t now_us, int64_t ahead_us, bool step_back);
// The clock stepped back, and no worker id was to be had that may be used so early; `error` as for ReportNoLease().
[[noreturn]] void ReportNothingBetter(const Layout &layout, int64_t now_us, int64_t ahead_us,
                                      const RegistryError &error);
[[noreturn]] void ReportClockStands(int64_t now_us, int64_t waited_us);
[[noreturn]] void ReportTimeUsedUp(const Layout &layout, int64_t now_us);

// The registry's own answers.
[[noreturn]] void ReportAllLeased(int64_t ring_size, int64_t next_free_us);
[[noreturn]] void ReportHeldBack(int64_t ring_size, int64_t held_back, TimestampTz until);
// Whether an error is that one: it names the column that is the reason, whatever language its message is in.
bool IsHeldBack(const ErrorData &error);
[[noreturn]] void ReportLeasesOfRole(int64_t leases);
[[noreturn]] void ReportForeignTable(const char *table);
[[noreturn]] void ReportForeignColumn();
[[noreturn]] void ReportNotPermanent(const char *table);
[[noreturn]] void ReportNoGuard(const char *table);
[[noreturn]] void ReportMovedTables();
[[noreturn]] void ReportSeveralOwners();
[[noreturn]] void ReportIsolation(const char *function);
[[noreturn]] void ReportNullArgument(const char *function, const char *argument);
[[noreturn]] void ReportDuration(int64_t duration_us);
[[noreturn]] void ReportDatacenter(int32_t datacenter, const Layout &layout);
[[noreturn]] void ReportLastTick(int64_t last_tick);
[[noreturn]] void ReportNodeName(int64_t bytes);
[[noreturn]] void ReportToken();
[[noreturn]] void ReportTickAhead(int64_t tick_us, int64_t registry_us);
[[noreturn]] void ReportDeadSince(TimestampTz dead_since);
[[noreturn]] void ReportAliveSince(int32_t worker, TimestampTz dead_since, TimestampTz renewed_at);
[[noreturn]] void ReportTransactionBlock(const char *function);
[[noreturn]] void ReportPrepare(const char *function);
[[noreturn]] void ReportNotTrigger(const char *function);

// What the guards keep out.
enum class GuardFault { kLease, kLeaseChanged, kWindowFalls, kWatermarkGone, kWatermarkFalls, kOrigin, kTruncate };
[[noreturn]] void ReportGuard(GuardFault fault);
// ... and from being dropped: leases of other nodes, the last of which may be in use until then.
[[noreturn]] void ReportLeasesHeld(int64_t leases, int64_t until_us);
[[noreturn]] void ReportLayoutFault(const Layout &layout, LayoutFault fault);
[[noreturn]] void ReportLayoutInUse();

[[noreturn]] void ReportClockSkew(int64_t node_us, int64_t registry_us);
[[noreturn]] void ReportNoRegistry();
[[noreturn]] void ReportRegistrySetting(const char *fault);
[[noreturn]] void ReportOtherLayout(const Layout &ours, const Layout &theirs);

// Arguments of the SQL functions.
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
[[noreturn]] void ReportUnknownEncoding(const char *name);
[[noreturn]] void ReportNegativeId(int64_t id);
[[noreturn]] void ReportTextFault(const TextEncoding &encoding, const char *input, const TextReading &reading);

// For functions that are not strict, because a null that is silently ignored would be taken for success.
inline void CheckNotNull(FunctionCallInfo fcinfo, const char *function, const char *const *names, int count) {
  for (int i = 0; i < count; ++i)
    if (PG_ARGISNULL(i)) ReportNullArgument(function, names[i]);
}

// Moving a table over: pg/convert/report.cpp. Objects come described: "column id of table public.orders".
enum class TableFault { kNoTable, kForeign, kTemporary, kSystem, kExtension, kOwner };
enum class ColumnFault { kInherited, kSeveralRoots, kGenerated, kTypedTable, kType, kReferringType, kOwnNotNull };

// `extension` is the one that the table belongs to; `other`: it is not the table that was named.
[[noreturn]] void ReportTableFault(TableFault fault, const char *table, const char *extension, bool other);
[[noreturn]] void ReportOtherOwner(const char *table, const char *its_owner, const char *owner);

// `what` is the type or the tables that the fault is about.
[[noreturn]] void ReportColumnFault(ColumnFault fault, const char *column, const char *what);
[[noreturn]] void ReportNoRelation(Oid relation);
[[noreturn]] void ReportNoColumn(Oid relation, const char *column);
[[noreturn]] void ReportIdsFromElsewhere(const char *column, const char *foreign_key, const char *from);
[[noreturn]] void ReportObjectsOnNarrow(const char *objects);
[[noreturn]] void ReportSequenceInUse(const char *users);
[[noreturn]] void ReportLargeIds(const char *column, int64_t largest, int64_t smallest_now);
[[noreturn]] void ReportMovedMeanwhile(const char *column);
void NoticeIssuing(const char *column);

// What PostgreSQL says itself where a function may not be called.
[[noreturn]] void ReportNoRight(Oid function);

}  // namespace snowflake
