// Lives and settling in snowflake_origin: see core/ring.h for what they are.
#include "pg/registry/settling.h"

#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

const char *ReasonOf(Loss loss) {
  switch (loss) {
    case Loss::kFailover:
      return "its server is on another timeline, as after a failover";
    case Loss::kOtherSystem:
      return "its server has another system identifier, as after pg_upgrade";
    case Loss::kEmptyOrigin:
      return "its snowflake_origin was empty";
    case Loss::kEmptyTables:
      return "its leases are gone, as those of an unlogged table after a crash";
    case Loss::kLease:
      return "a node holds a lease that it has no record of";
    case Loss::kHeldEnd:
      return "a node holds a longer window than it has on record";
    case Loss::kRange:
      return "a node has had numbers of a segment that it never allocated";
    default:
      return "";
  }
}

// Ranges, too, may have been handed out by lost commits.
void NoteRanges(const Tables &tables, bool may_have_lost) {
  Execute(tables, psprintf("UPDATE %s SET may_have_lost = $1", tables.segment_name), Bool(may_have_lost));
}

void SettleBecause(const Tables &tables, Loss loss, const char *reason, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Settle(origin, HereNow(), settings.lease_duration_ms * kUsPerMs, settings.max_clock_skew_ms * kUsPerMs);
  NoteRanges(tables, true);
  ereport(LOG, (errmsg("snowflake registry settles until %s: %s", Time(origin->settles_until_us),
                       loss == Loss::kWord ? reason : ReasonOf(loss)),
                errdetail("Until then, no lease expires, and worker ids are assigned from the upper third alone, which "
                          "no lost lease has.")));
}

// Nobody can have deleted it: it was lost with the files, or with a table that was not permanent for a
// while. Then nothing tells how long leases are.
Origin NewOrigin(const Tables &tables) {
  MakeOrigin(tables);
  Origin origin = ReadOrigin(tables);
  origin.longest_us = settings.max_lease_duration_ms * kUsPerMs;
  return origin;
}

// A row leaves for a watermark, so tables of which leases were acquired are never both empty. Without
// any row, a clean shutdown says that none was lost.
bool HasLostLeases(const Tables &tables, const Origin &origin) {
  if (origin.longest_us == 0) return false;
  Execute(tables, psprintf("SELECT 1 FROM %s LIMIT 1", tables.registry_name));
  if (Rows() > 0) return false;
  Execute(tables, psprintf("SELECT 1 FROM %s LIMIT 1", tables.watermark_name));
  return Rows() == 0 || origin.clean_us == 0;
}

// Brings the record up to date, but neither writes it nor settles.
Loss Recognize(const Tables &tables, const Layout &layout, int64_t named, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  const Here here = HereNow();
  Loss loss = Loss::kNone;
  if (!origin->found) {
    *origin = NewOrigin(tables);
    loss = Loss::kEmptyOrigin;
  }
  origin->settles_until_us = SettlesUntil(*origin, here);
  if (!IsInPlace(*origin, here)) {
    if (loss == Loss::kNone && HasLostLeases(tables, *origin)) loss = Loss::kEmptyTables;
    const Loss moved = BeginLife(origin, here, layout.workers_per_datacenter(), pg_prng_uint64(&pg_global_prng_state));
    if (moved != Loss::kNone) loss = moved;
  }
  if (IsEvidence(*origin, named)) {
    if (loss == Loss::kNone && !origin->loss_known) loss = Loss::kLease;
    GoAbove(origin, named);
  }
  return loss;
}

}  // namespace

Here HereNow() {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), UnixUsFromTimestamp(PgStartTime),
          NowUnixUs()};
}

Origin ReadOrigin(const Tables &tables) {
  Execute(tables, psprintf("SELECT system_identifier, timeline, started_at, clean_at, last_lease_id, jumped_from,"
                           " jumped_to, raised_tick, longest_us, settles_until, settling_us, loss_known, word_at"
                           " FROM %s",
                           tables.origin_name));
  Origin origin = {};
  origin.raised_tick = kNoWatermark;
  origin.found = Rows() > 0;
  if (!origin.found) return origin;
  const auto time = [](int column) {
    bool is_null = false;
    const Datum value = Result(0, column, TIMESTAMPTZOID, &is_null);
    return is_null ? int64_t{0} : UnixUsFromTimestamp(DatumGetTimestampTz(value));
  };
  origin.system_identifier = Int8Result(0, 1);
  origin.timeline = Int8Result(0, 2);
  origin.started_us = time(3);
  origin.clean_us = time(4);
  origin.last_lease_id = Int8Result(0, 5);
  origin.jumped_from = Int8Result(0, 6);
  origin.jumped_to = Int8Result(0, 7);
  origin.raised_tick = Int8Result(0, 8);
  origin.longest_us = Int8Result(0, 9);
  origin.settles_until_us = time(10);
  origin.settling_us = Int8Result(0, 11);
  origin.loss_known = BoolResult(0, 12);
  origin.word_us = time(13);
  return origin;
}

void WriteOrigin(const Tables &tables, const Origin &origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Execute(tables,
          psprintf("UPDATE %s SET system_identifier = $1, timeline = $2, started_at = nullif($3, 'epoch'),"
                   " clean_at = nullif($4, 'epoch'), last_lease_id = $5, jumped_from = $6, jumped_to = $7,"
                   " longest_us = $8, settles_until = nullif($9, 'epoch'), settling_us = $10, loss_known = $11,"
                   " word_at = nullif($12, 'epoch')",
                   tables.origin_name),
          Int8(origin.system_identifier), Int8(origin.timeline), TimeValue(origin.started_us),
          TimeValue(origin.clean_us), Int8(origin.last_lease_id), Int8(origin.jumped_from), Int8(origin.jumped_to),
          Int8(origin.longest_us), TimeValue(origin.settles_until_us), Int8(origin.settling_us),
          Bool(origin.loss_known), TimeValue(origin.word_us));
}

bool DetectLossLocked(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  const bool news = HasNews(*origin, HereNow(), notice.named);
  const Loss loss = news ? Recognize(tables, layout, notice.named, origin) : Loss::kNone;
  origin->longest_us = Max(origin->longest_us, notice.duration_us);
  if (loss != Loss::kNone) SettleBecause(tables, loss, nullptr, origin);
  if (news) WriteOrigin(tables, *origin);
  return news;
}

Origin DetectLoss(const Tables &tables, const Layout &layout, const Notice &notice) {
  Origin origin = ReadOrigin(tables);
  if (!HasNews(origin, HereNow(), notice.named) && notice.duration_us <= origin.longest_us) return origin;
  LockRegistry(tables);
  origin = ReadOrigin(tables);
  if (!DetectLossLocked(tables, layout, notice, &origin)) WriteOrigin(tables, origin);
  return origin;
}

void NoticeLoss(const Tables &tables, Loss loss) {
  LockRegistry(tables);
  Origin origin = ReadOrigin(tables);
  if (origin.loss_known) return;
  SettleBecause(tables, loss, nullptr, &origin);
  WriteOrigin(tables, origin);
}

void NoticeActivity(const Tables &tables, const Origin &origin) {
  if (origin.clean_us == 0) return;
  LockRegistry(tables);  // before its row, as others do
  Execute(tables, psprintf("UPDATE %s SET clean_at = NULL", tables.origin_name));
}

void BeginSettling(const Tables &tables, const Layout &layout, const char *reason) {
  Origin origin = ReadOrigin(tables);
  Recognize(tables, layout, 0, &origin);
  SettleBecause(tables, Loss::kWord, reason, &origin);
  const int64_t now_us = NowUnixUs();
  origin.word_us = Max(PlausibleWord(origin.word_us, now_us) + 1, now_us);
  WriteOrigin(tables, origin);
}

bool EndSettling(const Tables &tables, const Layout &layout) {
  Origin origin = ReadOrigin(tables);
  const bool lost = Recognize(tables, layout, 0, &origin) != Loss::kNone;
  const bool settles = SettlingOf(origin, HereNow(), false).active;
  origin.settles_until_us = origin.settling_us = 0;
  origin.loss_known = false;
  WriteOrigin(tables, origin);
  NoteRanges(tables, false);
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
  Execute(
      tables,
      psprintf("INSERT INTO %s (system_identifier, timeline, last_lease_id) VALUES ($1, $2, $3)", tables.origin_name),
      Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()), Int8(NextLeaseId(tables, 0)));
}

}  // namespace snowflake
