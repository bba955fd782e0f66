// Reads and writes snowflake_origin; what a loss is and how long settling lasts is in core/ring.h.
#include "pg/registry/settling.h"

#include "pg/catalogs.h"
#include "pg/registry/clocks.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {
namespace {
// Why it settles, in the order of Loss; the operator gives the reason of kSettleCall.
constexpr const char *kReasons[] = {"",
                                    "its server is on another timeline, as after a failover",
                                    "its server has another system identifier, as after pg_upgrade",
                                    "its snowflake_origin was empty",
                                    "leases or watermarks are gone, as those of an unlogged table after a crash",
                                    "a node holds a lease that it has no record of",
                                    "a node holds a longer window than it has on record",
                                    "a node has had numbers of a segment that it never allocated"};
static_assert(lengthof(kReasons) == static_cast<size_t>(Loss::kSettleCall));
const char *ReasonOf(Loss loss) { return kReasons[static_cast<size_t>(loss)]; }

void SettleBecause(const Tables &tables, const char *reason, int64_t promotions, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Settle(origin, HereNow(), settings.lease_duration_ms * kUsPerMs, SkewUs());
  // Lost commits may have allocated ranges, too.
  Execute(tables, "UPDATE snowflake_segment SET skips = least(skips::bigint + $1, $2)", Int4(SkipsOf(promotions)),
          Int4(kMostSkips));
  ereport(LOG, (errmsg("snowflake registry settles until %s: %s", Time(origin->settles_until_us), reason),
                errdetail("Until then, no lease expires, and worker ids are assigned from the upper third alone, which "
                          "no lost lease has.")));
}

// Leases that are there, and those that have ended.
int64_t LeasesOnRecord(const Tables &tables) {
  Execute(tables,
          "SELECT coalesce(sum(leases), 0)::bigint FROM (SELECT leases_ended AS leases FROM snowflake_watermark"
          " UNION ALL SELECT 1 FROM snowflake_registry) on_record");
  return Int8Result(0, 1);
}

// Brings the record up to date, but neither writes it nor settles.
Loss Recognize(const Tables &tables, const Layout &layout, int64_t named, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  const Here here = HereNow();
  Loss loss = Loss::kNone;
  if (!origin->found) {
    // It was lost with the files, or with a table that was not permanent for a while, because the
    // guards keep its row. So is the longest duration of a lease.
    MakeOrigin(tables);
    *origin = ReadOrigin(tables);
    origin->longest_us = settings.max_lease_duration_ms * kUsPerMs;
    loss = Loss::kEmptyOrigin;
  }
  const int64_t leases = LeasesOnRecord(tables);
  if (loss == Loss::kNone && leases != origin->leases_begun) loss = Loss::kEmptyTables;
  origin->leases_begun = leases;
  const int64_t ring = layout.workers_per_datacenter();
  const uint64_t random = pg_prng_uint64(&pg_global_prng_state);
  if (IsInPlace(*origin, here)) {
    NoticeStep(origin, here, ring, random);
  } else {
    const Loss moved = BeginLife(origin, here, ring, random);
    if (moved != Loss::kNone) loss = moved;
  }
  PassTime(origin, here, SkewUs());
  if (IsEvidence(*origin, named)) {
    if (loss == Loss::kNone && !origin->loss_known) loss = Loss::kLease;
    GoAbove(origin, named);
  }
  return loss;
}

}  // namespace

Origin ReadOrigin(const Tables &tables) {
  Execute(tables,
          "SELECT system_identifier, timeline, started_at, database_oid, clean_at, last_lease_id, jumped_from,"
          " jumped_to, raised_tick, longest_us, settling_us, settling_left_us, counted_us, settles_until, floor_at,"
          " loss_known, settle_called_at, clock_offset_us, clock_since_us, step_offset_us, step_since_us,"
          " leases_begun, stepped_from, stepped_to FROM snowflake_origin");
  if (Rows() == 0) {
    Origin none = {};
    none.raised_tick = kNoWatermark;
    return none;
  }
  const auto number = [](int column) { return Int8Result(0, column); };
  const auto time = [](int column) { return TimeResult(0, column); };
  Origin origin = {};
  origin.found = true;
  origin.system_identifier = number(1);
  origin.timeline = number(2);
  origin.started_us = time(3);
  origin.database_oid = number(4);
  origin.clean_us = time(5);
  origin.last_lease_id = number(6);
  origin.jumped = {number(7), number(8)};
  origin.stepped = {number(23), number(24)};
  origin.raised_tick = number(9);
  origin.longest_us = number(10);
  origin.settling_us = number(11);
  origin.settling_left_us = number(12);
  origin.counted_us = number(13);
  origin.settles_until_us = time(14);
  origin.floor_us = time(15);
  origin.loss_known = BoolResult(0, 16);
  origin.settle_called_us = time(17);
  origin.time = {number(18), number(19), number(20), number(21)};
  origin.leases_begun = number(22);
  return origin;
}

void WriteOrigin(const Tables &tables, const Origin &origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Execute(tables,
          "UPDATE snowflake_origin SET system_identifier = $1, timeline = $2, started_at = nullif($3, 'epoch'),"
          " database_oid = $4, clean_at = nullif($5, 'epoch'), last_lease_id = $6, jumped_from = $7, jumped_to = $8,"
          " longest_us = $9, settling_us = $10, settling_left_us = $11, counted_us = $12,"
          " settles_until = nullif($13, 'epoch'), floor_at = nullif($14, 'epoch'), loss_known = $15,"
          " settle_called_at = nullif($16, 'epoch'), clock_offset_us = $17, clock_since_us = $18,"
          " step_offset_us = $19, step_since_us = $20, leases_begun = $21, stepped_from = $22, stepped_to = $23",
          Int8(origin.system_identifier), Int8(origin.timeline), TimeValue(origin.started_us),
          Int8(origin.database_oid), TimeValue(origin.clean_us), Int8(origin.last_lease_id), Int8(origin.jumped.from),
          Int8(origin.jumped.to), Int8(origin.longest_us), Int8(origin.settling_us), Int8(origin.settling_left_us),
          Int8(origin.counted_us), TimeValue(origin.settles_until_us), TimeValue(origin.floor_us),
          Bool(origin.loss_known), TimeValue(origin.settle_called_us), Int8(origin.time.offset_us),
          Int8(origin.time.since_us), Int8(origin.time.step_offset_us), Int8(origin.time.step_since_us),
          Int8(origin.leases_begun), Int8(origin.stepped.from), Int8(origin.stepped.to));
  CheckWritten("snowflake_origin");
}

bool DetectLossLocked(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  const Origin record = *origin;
  const Here here = HereNow();
  const Loss loss = Recognize(tables, layout, notice.named, origin);
  origin->longest_us = Max(origin->longest_us, notice.duration_us);
  if (loss != Loss::kNone) SettleBecause(tables, ReasonOf(loss), PromotionsSince(record, here, loss), origin);
  const bool lost = loss != Loss::kNone;
  if (lost || HasNews(record, here, notice.named) || origin->longest_us > record.longest_us)
    WriteOrigin(tables, *origin);
  return lost || IsUrgent(record, here, notice.named);
}

Origin DetectLoss(const Tables &tables, const Layout &layout, const Notice &notice) {
  Origin origin = ReadOrigin(tables);
  if (!HasNews(origin, HereNow(), notice.named) && notice.duration_us <= origin.longest_us) return origin;
  LockRegistry(tables);
  origin = ReadOrigin(tables);
  DetectLossLocked(tables, layout, notice, &origin);
  return origin;
}

void NoticeLoss(const Tables &tables, Loss loss) {
  LockRegistry(tables);
  Origin origin = ReadOrigin(tables);
  if (origin.loss_known) return;
  SettleBecause(tables, ReasonOf(loss), 0, &origin);
  WriteOrigin(tables, origin);
}

void NoticeActivity(const Tables &tables, const Origin &origin) {
  if (origin.clean_us == 0) return;
  LockRegistry(tables);  // before its row, as others do
  Execute(tables, "UPDATE snowflake_origin SET clean_at = NULL");
}

void BeginSettling(const Tables &tables, const Layout &layout, const char *reason) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Origin origin = ReadOrigin(tables);
  const Origin record = origin;
  const Loss loss = Recognize(tables, layout, 0, &origin);
  SettleBecause(tables, reason, PromotionsSince(record, HereNow(), loss), &origin);
  const int64_t now_us = NowUnixUs();
  origin.settle_called_us = Max(PlausibleSettleCall(origin.settle_called_us, now_us) + 1, now_us);
  WriteOrigin(tables, origin);
}

bool EndSettling(const Tables &tables, const Layout &layout) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Origin origin = ReadOrigin(tables);
  const bool lost = Recognize(tables, layout, 0, &origin) != Loss::kNone;
  const bool settles = SettlingOf(origin, HereNow(), false).active;
  origin.settling_us = origin.settling_left_us = origin.settles_until_us = origin.floor_us = 0;
  origin.loss_known = false;
  WriteOrigin(tables, origin);
  Execute(tables, "UPDATE snowflake_segment SET skips = 0");
  return lost || settles;
}

void MarkClean(const Tables &tables, const Layout &layout) {
  Assert(IsLocked(tables.origin, ShareRowExclusiveLock));  // Requires: the registry's lock.
  Origin origin = ReadOrigin(tables);
  DetectLossLocked(tables, layout, {}, &origin);
  origin.clean_us = NowUnixUs();
  WriteOrigin(tables, origin);
}

void MakeOrigin(const Tables &tables) {
  if (ReadOrigin(tables).found) return;
  const Here here = HereNow();
  Execute(tables,
          "INSERT INTO snowflake_origin (system_identifier, timeline, database_oid, last_lease_id)"
          " VALUES ($1, $2, $3, $4)",
          Int8(here.system_identifier), Int8(here.timeline), Int8(here.database_oid), Int8(NextLeaseId(tables, 0)));
}

}  // namespace snowflake
