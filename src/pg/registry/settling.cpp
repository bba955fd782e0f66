#include "pg/registry/settling.h"

#include "pg/registry/report.h"
#include "pg/rows.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

Survey SurveyLeases(const Tables &tables, const Layout &layout, Tick now) {
  Execute(tables, psprintf("SELECT window_end, renewed_at FROM %s WHERE isfinite(renewed_at)", tables.registry_name));
  Survey survey(layout, now, UnixUsFromTimestamp(GetCurrentTransactionStartTimestamp()));
  for (int64_t i = 0; i < Rows(); ++i) {
    bool is_null = false;
    const TimestampTz renewed_at = DatumGetTimestampTz(Result(i, 2, TIMESTAMPTZOID, &is_null));
    survey.Offer(Int8Result(i, 1), UnixUsFromTimestamp(renewed_at));
  }
  return survey;
}

// The new cut of one datacenter's ring.
int64_t HalveRing(const Tables &tables, const Layout &layout, int32_t datacenter, const Beginning &begun, int64_t cut,
                  Tick since) {
  const int64_t ring = layout.workers_per_datacenter();
  Execute(tables,
          psprintf("SELECT place, bool_or(leased), max(last_tick) FROM"
                   " (SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place, leased, last_tick FROM"
                   " (SELECT worker_id, true AS leased, $5::bigint AS last_tick FROM %s"
                   " UNION ALL SELECT worker_id, false, last_tick FROM %s) known"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3) places"
                   " WHERE place >= $4 GROUP BY place ORDER BY place",
                   tables.registry_name, tables.watermark_name),
          Int8(datacenter * ring), Int8(begun.anchor_lease_id % ring), Int8(ring), Int8(cut), Int8(kNoWatermark));
  const auto is_out = [&](int64_t i) { return IsOutOfReach(BoolResult(i, 2), Int8Result(i, 3), since); };
  int64_t count = 0;
  for (int64_t i = 0; i < Rows(); ++i) count += is_out(i);
  Halving halving(cut, ring, count, begun.times);
  for (int64_t i = 0; i < Rows(); ++i)
    if (is_out(i)) halving.Offer(Int8Result(i, 1));
  return halving.Finish();
}

void CheckCuts(const Origin &origin, const Layout &layout) {
  if (origin.settled_before && origin.cut_count < layout.datacenter_count()) ReportForeignColumn();
}

// Where the server is now.
void WriteHere(const Tables &tables, const Here &here) {
  Execute(tables,
          psprintf("UPDATE %s SET system_identifier = $1, timeline = $2, started_at = $3, clean_at = NULL",
                   tables.origin_name),
          Int8(here.system_identifier), Int8(here.timeline), TimeValue(here.started_us));
}

void WriteBeginning(const Tables &tables, const Beginning &begun, const int64_t *cuts, int32_t count, int64_t start) {
  Execute(tables,
          psprintf("UPDATE %s SET settles_until = $1, settling_lease_id = $2, settling_cuts = $3, last_lease_id = $4,"
                   " settling_us = $5, settling_soft = $6, settling_start = nullif($7, 0)",
                   tables.origin_name),
          TimeValue(begun.until_us), Int8(begun.anchor_lease_id), Of(INT8ARRAYOID, Int8ArrayDatum(cuts, count)),
          Int8(begun.last_lease_id), Int8(begun.settling_us), Bool(begun.soft), Int8(start));
}

const char *ReasonOf(Loss loss) {
  switch (loss) {
    case Loss::kFailover:
      return "it was failed over";
    case Loss::kEmptyOrigin:
      return "its snowflake_origin was empty";
    case Loss::kLease:
      return "a node knows of a lease that it does not";
    case Loss::kHandOver:
      return "it was handed over";
    default:
      return "its server was started again, perhaps with files of before";
  }
}

}  // namespace

Here HereNow() {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), UnixUsFromTimestamp(PgStartTime),
          NowUnixUs()};
}

Origin ReadOrigin(const Tables &tables) {
  Origin origin = {};
  origin.raised_tick = kNoWatermark;
  Execute(tables, psprintf("SELECT system_identifier, timeline, last_lease_id, settles_until, settling_lease_id,"
                           " settling_cuts, settling_us, settling_soft, started_at, clean_at, raised_tick,"
                           " coalesce(settling_start, 0) FROM %s",
                           tables.origin_name));
  origin.found = Rows() > 0;
  if (!origin.found) return origin;
  bool is_null = false;
  const auto time = [&](int column) {
    const Datum value = Result(0, column, TIMESTAMPTZOID, &is_null);
    return is_null ? int64_t{0} : UnixUsFromTimestamp(DatumGetTimestampTz(value));
  };
  origin.system_identifier = Int8Result(0, 1);
  origin.timeline = Int8Result(0, 2);
  origin.last_lease_id = Int8Result(0, 3);
  origin.soft = BoolResult(0, 8);
  origin.started_us = time(9);
  origin.clean_us = time(10);
  origin.raised_tick = Int8Result(0, 11);
  origin.start = Int8Result(0, 12);
  origin.settles_until_us = time(4);
  origin.settled_before = !is_null;
  if (is_null) return origin;
  origin.anchor_lease_id = Int8Result(0, 5);
  const Datum cuts = Result(0, 6, INT8ARRAYOID, &is_null);
  if (is_null) ReportForeignColumn();
  ArrayType *array = DatumGetArrayTypePCopy(cuts);
  if (ARR_NDIM(array) != 1 || ARR_HASNULL(array)) ReportForeignColumn();
  origin.cuts = reinterpret_cast<const int64_t *>(ARR_DATA_PTR(array));
  origin.cut_count = ARR_DIMS(array)[0];
  origin.settling_us = Int8Result(0, 7);
  return origin;
}

bool EnsureOrigin(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin) {
  if (origin->found) return false;
  WriteOrigin(tables, NextLeaseId(tables, 0));
  *origin = ReadOrigin(tables);
  BeginSettling(tables, layout, notice, Loss::kEmptyOrigin, ReasonOf(Loss::kEmptyOrigin), origin);
  return true;
}

void BeginSettling(const Tables &tables, const Layout &layout, const Notice &notice, Loss loss, const char *reason,
                   Origin *origin) {
  CheckCuts(*origin, layout);
  const Here here = HereNow();
  const Survey survey = SurveyLeases(tables, layout, notice.now);
  const int64_t settling_us = survey.SettlingUs(notice.duration_us, settings.max_clock_skew_ms * kUsPerMs);
  const Beginning begun = Begin(*origin, here, loss, notice.named, settling_us);
  const int32_t count = layout.datacenter_count();
  int64_t *cuts = static_cast<int64_t *>(palloc0(sizeof(int64_t) * count));
  int64_t farthest = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (begun.from_cuts) cuts[i] = origin->cuts[i];
    if (begun.times > 0)
      cuts[i] = HalveRing(tables, layout, i, begun, cuts[i], survey.Since(notice.now, here.clock_us));
    farthest = Max(farthest, cuts[i]);
  }
  const int64_t start =
      StartOf(*origin, begun, farthest, layout.workers_per_datacenter(), pg_prng_uint64(&pg_global_prng_state));
  WriteHere(tables, here);
  WriteBeginning(tables, begun, cuts, count, start);
  // Ranges, too, may have been handed out by commits that are lost.
  if (!begun.soft) Execute(tables, psprintf("UPDATE %s SET may_have_lost = true", tables.segment_name));
  ereport(
      LOG,
      (errmsg("snowflake registry settles until %s: %s", Time(begun.until_us), reason),
       begun.soft
           ? errdetail("The nearer half of the free worker ids is handed out last until then.")
           : errdetail("Nothing expires until then, and of the free worker ids only the farther half is handed out.")));
  *origin = ReadOrigin(tables);
}

Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, const Notice &notice, Origin *origin) {
  const Here here = HereNow();
  const bool empty = EnsureOrigin(tables, layout, notice, origin);
  CheckCuts(*origin, layout);
  const bool moved = !IsInPlace(*origin, here) || origin->clean_us != 0 || origin->started_us != here.started_us;
  const Loss loss = NoticedLoss(*origin, here, notice.named);
  if (loss != Loss::kNone) {
    BeginSettling(tables, layout, notice, loss, ReasonOf(loss), origin);
  } else if (origin->settled_before && SettlesUntil(*origin, here) < origin->settles_until_us) {
    origin->settles_until_us = SettlesUntil(*origin, here);
    Execute(tables, psprintf("UPDATE %s SET settles_until = $1", tables.origin_name),
            TimeValue(origin->settles_until_us));
  }
  if (moved) WriteHere(tables, here);
  return SettlingOf(*origin, here, layout.workers_per_datacenter(), datacenter, empty || loss != Loss::kNone);
}

bool EndSettling(const Tables &tables) {
  const Here here = HereNow();
  const Origin origin = ReadOrigin(tables);
  WriteHere(tables, here);
  Execute(tables, psprintf("UPDATE %s SET settles_until = NULL, settling_lease_id = NULL, settling_cuts = NULL",
                           tables.origin_name));
  Execute(tables, psprintf("UPDATE %s SET may_have_lost = false", tables.segment_name));
  return !IsInPlace(origin, here) || Settles(origin, here);
}

void WriteOrigin(const Tables &tables, int64_t lease_id) {
  Execute(tables, psprintf("UPDATE %s SET last_lease_id = $1", tables.origin_name), Int8(lease_id));
  if (Rows() > 0) return;
  Execute(
      tables,
      psprintf("INSERT INTO %s (system_identifier, timeline, last_lease_id) VALUES ($1, $2, $3)", tables.origin_name),
      Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()), Int8(lease_id));
}

void MarkClean(const Tables &tables) {
  Execute(tables, psprintf("UPDATE %s SET clean_at = clock_timestamp()", tables.origin_name));
}

void UnmarkClean(const Tables &tables) {
  Execute(tables, psprintf("UPDATE %s SET clean_at = NULL", tables.origin_name));
}

}  // namespace snowflake
