#include "pg/registry/settling.h"

#include "pg/registry/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// Nodes name every lease that was lost, one after the other. Lease ids go on so far above the first that is named, that what is
// named later shows whether it was lost at the same time. A multiple of every ring of up to 22 bits: the order goes on, too.
constexpr int64_t kLeaseIdStride = int64_t{1} << 22;

// Lost commits of a thousand such jumps. What is named further ahead proves no loss: it would use up the numbers.
constexpr int64_t kFarthestEvidence = int64_t{1} << 32;

// A planned hand-over takes seconds. A mark of long before is a cold copy's, whose original went on.
constexpr int64_t kCleanLastsUs = int64_t{10} * 60 * USECS_PER_SEC;

// What lost commits cannot have drawn in one datacenter, in the ring's order from `anchor` on, beyond `cut`: what is leased, and
// what was ruled out when they were made, not before the tick `since`.
int64_t HalveRing(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t anchor, int64_t cut,
                  Tick since, int32_t times) {
  const int64_t ring = layout.workers_per_datacenter();
  Execute(tables,
          psprintf("SELECT place FROM (SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place FROM"
                   " (SELECT worker_id FROM %s UNION SELECT worker_id FROM %s WHERE last_tick >= $5) taken"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3) places WHERE place >= $4 ORDER BY place",
                   tables.registry_name, tables.watermark_name),
          Int8(datacenter * ring), Int8(anchor), Int8(ring), Int8(cut), Int8(since));
  Halving halving(cut, ring, Rows(), times);
  for (int64_t i = 0; i < Rows(); ++i) halving.Offer(Int8Result(i, 1));
  return halving.Finish();
}

Datum CutsDatum(const int64_t *cuts, int32_t count) {
  Datum *elements = static_cast<Datum *>(palloc(sizeof(Datum) * count));
  for (int32_t i = 0; i < count; ++i) elements[i] = Int64GetDatum(cuts[i]);
  return PointerGetDatum(construct_array(elements, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

int64_t CutOf(Datum array, int32_t datacenter) {
  ArrayType *cuts = DatumGetArrayTypeP(array);
  if (ARR_NDIM(cuts) != 1 || ARR_HASNULL(cuts) || ARR_DIMS(cuts)[0] <= datacenter) ReportForeignColumn();
  return reinterpret_cast<int64 *>(ARR_DATA_PTR(cuts))[datacenter];
}

// How often the server under the registry was failed over since that was written down.
int32_t Failovers(const Origin &origin) {
  const int64_t now = GetWALInsertionTimeLine();
  if (origin.system_identifier == static_cast<int64_t>(GetSystemIdentifier())) {
    if (now == origin.timeline) return 0;
    if (now > origin.timeline) return static_cast<int32_t>(Min(now - origin.timeline, int64_t{62}));
  }
  return 1;
}

// The mark says that nothing came after it. A server that pg_upgrade made has it, too, and the old one may go on.
bool WasCleanJustNow(const Origin &origin, TimestampTz clock) {
  return origin.clean_at != 0 && origin.clean_at > clock - kCleanLastsUs && origin.clean_at < clock + kCleanLastsUs &&
         origin.system_identifier == static_cast<int64_t>(GetSystemIdentifier());
}

bool WasRestarted(const Origin &origin) { return origin.started_at != 0 && origin.started_at != PgStartTime; }

bool SettlesAt(const Origin &origin, TimestampTz clock) {
  return origin.settled_before && origin.settles_until > clock;
}

// A server that runs loses nothing: what tells of a loss tells of one of before it started, and that is known.
bool SettlesSinceStart(const Origin &origin, TimestampTz clock) {
  return SettlesAt(origin, clock) && Failovers(origin) == 0 && !WasRestarted(origin);
}

// A lost lease may live on for as long as any is granted: to this node, or to those that the registry knows of, now or when they
// were moved last; by the clock of its node.
int64_t SettlingUs(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us) {
  Execute(tables,
          psprintf("SELECT coalesce(max(greatest(window_end::numeric * $1 - $2, window_end::numeric * $1 + $3"
                   " - extract(epoch FROM renewed_at) * 1000000)), 0)::bigint FROM %s WHERE isfinite(renewed_at)",
                   tables.registry_name),
          Int8(layout.tick_us), Int8(now * layout.tick_us), Int8(layout.epoch_ms * kUsPerMs));
  return Min(Max(duration_us, Int8Result(0, 1)) + settings.max_clock_skew_ms * kUsPerMs, kMaxLeaseUs);
}

// When the newest commit was made that is not lost: what this transaction has moved does not tell.
Tick NewestTick(const Tables &tables, const Layout &layout, Tick now) {
  Execute(tables,
          psprintf("SELECT coalesce(floor(max(extract(epoch FROM renewed_at)) * 1000000)::bigint, $2) FROM %s"
                   " WHERE isfinite(renewed_at) AND renewed_at < $1",
                   tables.registry_name),
          Of(TIMESTAMPTZOID, TimestampTzGetDatum(GetCurrentTransactionStartTimestamp())), Int8(NowUnixUs()));
  return Min(now, layout.TickAt(Int8Result(0, 1)));
}

// Where the server is now.
void WriteHere(const Tables &tables) {
  Execute(tables, psprintf("UPDATE %s SET system_identifier = $1, timeline = $2", tables.origin_name),
          Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()));
  if (!tables.current) return;
  Execute(tables, psprintf("UPDATE %s SET started_at = $1, clean_at = NULL", tables.origin_name),
          Of(TIMESTAMPTZOID, TimestampTzGetDatum(PgStartTime)));
}

struct Loss {
  bool soft;      // nothing tells of it
  int64_t named;  // the lease that does, 0: something else
  const char *reason;
};

// What is held back from now on, for each datacenter: places from the anchor to the cut.
struct HeldPlaces {
  int64_t anchor_lease_id;
  int64_t *cuts;
  int64_t start;  // 0: the cut
};

HeldPlaces HoldBack(const Tables &tables, const Layout &layout, Tick now, TimestampTz clock, int64_t settling_us,
                    const Loss &loss, const Origin &origin) {
  const Tick since = NewestTick(tables, layout, now);
  const int64_t ring = layout.workers_per_datacenter();
  const int32_t datacenters = layout.datacenter_count();
  HeldPlaces held = {origin.last_lease_id + 1, static_cast<int64_t *>(palloc0(sizeof(int64_t) * datacenters)), 0};
  const bool known = SettlesSinceStart(origin, clock);
  // A further loss halves what was left, also for as long as leases may live that were drawn while it settled; the
  // place that offsets are counted from stays. Otherwise lost commits went on from the newest lease that is not lost.
  const bool again = !loss.soft && origin.settled_before && !origin.soft && clock - settling_us < origin.settles_until;
  const bool elsewhere = SettlesAt(origin, clock) && origin.start != 0;
  const bool stays = known || (again && !elsewhere);
  if (stays)
    held.anchor_lease_id = origin.anchor_lease_id;
  else if (elsewhere)
    held.anchor_lease_id = origin.anchor_lease_id + origin.start;  // leases were drawn from there meanwhile
  int64_t farthest = 0;
  for (int32_t i = 0; i < datacenters; ++i) {
    held.cuts[i] = stays ? CutOf(origin.cuts, i) : 0;
    if (!known)
      held.cuts[i] =
          HalveRing(tables, layout, i, held.anchor_lease_id % ring, held.cuts[i], since, Max(Failovers(origin), 1));
    farthest = Max(farthest, held.cuts[i]);
  }
  if (known)
    held.start = origin.start;
  else if (loss.soft && farthest < ring)
    held.start = static_cast<int64_t>(pg_prng_uint64_range(&pg_global_prng_state, farthest, ring - 1));
  return held;
}

void Begin(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, const Loss &loss,
           Origin *origin) {
  const TimestampTz clock = GetCurrentTimestamp();
  const int64_t settling_us = SettlingUs(tables, layout, now, duration_us);
  const HeldPlaces held = HoldBack(tables, layout, now, clock, settling_us, loss, *origin);
  // No later than it can last: the clock may have been ahead when it began.
  const bool firm_before = origin->settled_before && !origin->soft;
  const TimestampTz before = firm_before ? Min(origin->settles_until, clock + origin->settling_us) : clock;
  const TimestampTz until = Max(clock + settling_us, before);
  const bool evidence = IsEvidence(*origin, loss.named);
  WriteHere(tables);
  Execute(tables,
          psprintf("UPDATE %s SET settles_until = $1, settling_lease_id = $2, settling_cuts = $3", tables.origin_name),
          Of(TIMESTAMPTZOID, TimestampTzGetDatum(until)), Int8(held.anchor_lease_id),
          Of(INT8ARRAYOID, CutsDatum(held.cuts, layout.datacenter_count())));
  if (tables.current)
    Execute(tables,
            psprintf("UPDATE %s SET settling_us = $1, settling_soft = $2, settling_start = nullif($3, 0)",
                     tables.origin_name),
            Int8(until - clock), Bool(loss.soft), Int8(held.start));
  if (evidence)
    Execute(tables, psprintf("UPDATE %s SET last_lease_id = $1", tables.origin_name),
            Int8(loss.named + kLeaseIdStride));
  ereport(
      LOG,
      (errmsg("snowflake registry settles until %s: %s", timestamptz_to_str(until), loss.reason),
       loss.soft
           ? errdetail("The nearer half of the free worker ids is handed out last until then.")
           : errdetail("Nothing expires until then, and of the free worker ids only the farther half is handed out.")));
  *origin = ReadOrigin(tables);
}

}  // namespace

Origin ReadOrigin(const Tables &tables) {
  Origin origin = {};
  origin.raised_tick = kNoWatermark;
  Execute(tables,
          psprintf("SELECT system_identifier, timeline, last_lease_id, settles_until, settling_lease_id,"
                   " settling_cuts, %s FROM %s",
                   tables.current
                       ? "settling_us, settling_soft, started_at, clean_at, raised_tick, coalesce(settling_start, 0)"
                       : "NULL::bigint, false, NULL::timestamptz, NULL::timestamptz, -1::bigint, 0::bigint",
                   tables.origin_name));
  origin.found = Rows() > 0;
  if (!origin.found) return origin;
  bool is_null = false;
  const auto time = [&](int column) {
    const Datum value = Result(0, column, TIMESTAMPTZOID, &is_null);
    return is_null ? TimestampTz{0} : DatumGetTimestampTz(value);
  };
  origin.system_identifier = Int8Result(0, 1);
  origin.timeline = Int8Result(0, 2);
  origin.last_lease_id = Int8Result(0, 3);
  origin.soft = BoolResult(0, 8);
  origin.started_at = time(9);
  origin.clean_at = time(10);
  origin.raised_tick = Int8Result(0, 11);
  origin.start = Int8Result(0, 12);
  origin.settles_until = time(4);
  origin.settled_before = !is_null;
  if (is_null) return origin;
  origin.anchor_lease_id = Int8Result(0, 5);
  origin.cuts = Result(0, 6, INT8ARRAYOID, &is_null);
  if (is_null) ReportForeignColumn();
  const Datum settling_us = Result(0, 7, INT8OID, &is_null);
  origin.settling_us = is_null ? kMaxLeaseUs : DatumGetInt64(settling_us);
  return origin;
}

bool EnsureOrigin(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, Origin *origin) {
  if (origin->found) return false;
  WriteOrigin(tables, NextLeaseId(tables, 0));
  *origin = ReadOrigin(tables);
  Begin(tables, layout, now, duration_us, {false, 0, "its snowflake_origin was empty"}, origin);
  return true;
}

bool IsEvidence(const Origin &origin, int64_t named) {
  return origin.found && named > origin.last_lease_id && named - origin.last_lease_id <= kFarthestEvidence;
}

bool IsKnownLoss(const Origin &origin) { return !origin.soft && SettlesSinceStart(origin, GetCurrentTimestamp()); }

bool IsInPlace(const Origin &origin) { return !origin.found || (Failovers(origin) == 0 && !WasRestarted(origin)); }

Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, Tick now, int64_t duration_us,
                int64_t named, Origin *origin) {
  const TimestampTz clock = GetCurrentTimestamp();
  const bool empty = tables.current && EnsureOrigin(tables, layout, now, duration_us, origin);
  const bool moved = origin->found && Failovers(*origin) > 0;
  const bool failed_over = moved && !WasCleanJustNow(*origin, clock);
  const bool firm = failed_over || IsEvidence(*origin, named);
  const bool soft = (moved || WasRestarted(*origin)) && !(SettlesAt(*origin, clock) && !origin->soft);
  if (firm || soft) {
    const char *reason = failed_over ? "it was failed over"
                         : firm      ? "a node knows of a lease that it does not"
                         : moved     ? "it was handed over"
                                     : "its server was started again, perhaps with files of before";
    Begin(tables, layout, now, duration_us, {!firm, named, reason}, origin);
  } else if (origin->settled_before && origin->settles_until - origin->settling_us > clock) {
    // The clock was ahead when it began.
    origin->settles_until = clock + origin->settling_us;
    Execute(tables, psprintf("UPDATE %s SET settles_until = $1", tables.origin_name),
            Of(TIMESTAMPTZOID, TimestampTzGetDatum(origin->settles_until)));
  }
  if (tables.current && (moved || origin->clean_at != 0 || origin->started_at != PgStartTime)) WriteHere(tables);
  if (!SettlesAt(*origin, clock)) return {};
  return {true,
          empty || firm || soft,
          origin->soft,
          clock > origin->settles_until - origin->settling_us / 2,
          origin->anchor_lease_id % layout.workers_per_datacenter(),
          CutOf(origin->cuts, datacenter),
          Max(origin->start, CutOf(origin->cuts, datacenter)),
          origin->settles_until};
}

void BeginSettling(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, int64_t named,
                   const char *reason, Origin *origin) {
  Begin(tables, layout, now, duration_us, {false, named, reason}, origin);
}

bool EndSettling(const Tables &tables) {
  const Origin origin = ReadOrigin(tables);
  const bool would = origin.found && (Failovers(origin) > 0 || WasRestarted(origin));
  WriteHere(tables);
  Execute(tables, psprintf("UPDATE %s SET settles_until = NULL, settling_lease_id = NULL, settling_cuts = NULL",
                           tables.origin_name));
  return would || SettlesAt(origin, GetCurrentTimestamp());
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
