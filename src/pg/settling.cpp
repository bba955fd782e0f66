#include "pg/settling.h"

#include "pg/report.h"

namespace snowflake {

namespace {

// The live leases of one datacenter in the ring's order from `anchor` on, beyond `cut`.
int64_t HalveRing(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t anchor, int64_t cut,
                  int32_t times) {
  const int64_t ring = layout.workers_per_datacenter();
  Execute(psprintf("SELECT place FROM (SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3) live WHERE place >= $4 ORDER BY place",
                   tables.registry_name),
          Int8(datacenter * ring), Int8(anchor), Int8(ring), Int8(cut));
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

// How often the server under the registry was failed over since `timeline` was written down.
int32_t Failovers(int64_t system_identifier, int64_t timeline) {
  const int64_t now = GetWALInsertionTimeLine();
  if (system_identifier == static_cast<int64_t>(GetSystemIdentifier())) {
    if (now == timeline) return 0;
    if (now > timeline) return static_cast<int32_t>(Min(now - timeline, int64_t{62}));
  }
  return 1;
}

void WriteOrigin(const Tables &tables) {
  Execute(psprintf("INSERT INTO %s (system_identifier, timeline) VALUES ($1, $2) ON CONFLICT (singleton) DO UPDATE"
                   " SET system_identifier = excluded.system_identifier, timeline = excluded.timeline",
                   tables.origin_name),
          Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()));
}

}  // namespace

Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t lease_id, int64_t duration_us,
                Tick now) {
  const int64_t ring = layout.workers_per_datacenter();
  const TimestampTz clock = GetCurrentTimestamp();
  Settling settling = {false, 0, 0, 0};
  Execute(psprintf("SELECT system_identifier, timeline, settles_until, settling_lease_id, settling_cuts FROM %s",
                   tables.origin_name));
  if (Rows() == 0) {
    WriteOrigin(tables);
    return settling;
  }

  const int32_t failovers = Failovers(Int8Result(0, 1), Int8Result(0, 2));
  bool is_null = false;
  const Datum until = Result(0, 3, TIMESTAMPTZOID, &is_null);
  if (!is_null && DatumGetTimestampTz(until) > clock) {
    settling.active = true;
    settling.until = DatumGetTimestampTz(until);
    settling.anchor = Int8Result(0, 4) % ring;
    const Datum cuts = Result(0, 5, INT8ARRAYOID, &is_null);
    if (is_null) ReportForeignColumn();
    settling.cut = CutOf(cuts, datacenter);
    if (failovers == 0) return settling;
  }
  if (failovers == 0) return settling;

  // While it settles, a further failover halves what was left; the place that offsets are counted from stays.
  const bool again = settling.active;
  const int32_t datacenters = layout.datacenter_count();
  int64_t *cuts = static_cast<int64_t *>(palloc0(sizeof(int64_t) * datacenters));
  if (again) {
    const Datum old = Result(0, 5, INT8ARRAYOID, &is_null);
    for (int32_t i = 0; i < datacenters; ++i) cuts[i] = CutOf(old, i);
  }
  const int64_t anchor_lease = again ? Int8Result(0, 4) : lease_id;
  for (int32_t i = 0; i < datacenters; ++i)
    cuts[i] = HalveRing(tables, layout, i, anchor_lease % ring, cuts[i], failovers);

  // One lease duration, and that is the longest that any node is known to use.
  Execute(psprintf("SELECT coalesce(max(window_end), 0)::bigint FROM %s", tables.registry_name));
  const int64_t longest_us = (Int8Result(0, 1) - now) * layout.tick_us;
  const int64_t settle_us = Min(Max(duration_us, longest_us), kMaxLeaseUs);
  settling = {true, anchor_lease % ring, cuts[datacenter], clock + settle_us};
  Execute(
      psprintf("UPDATE %s SET settles_until = greatest(settles_until, $1), settling_lease_id = $2, settling_cuts = $3",
               tables.origin_name),
      Of(TIMESTAMPTZOID, TimestampTzGetDatum(settling.until)), Int8(anchor_lease),
      Of(INT8ARRAYOID, CutsDatum(cuts, datacenters)));
  WriteOrigin(tables);
  ereport(LOG,
          (errmsg("snowflake registry was failed over and settles until %s", timestamptz_to_str(settling.until)),
           errdetail("Nothing expires until then, and of the free worker ids only the farther half is handed out.")));
  return settling;
}

}  // namespace snowflake
