#include "pg/settling.h"

#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// The live leases of one datacenter in the ring's order from `anchor` on, beyond `cut`.
int64_t HalveRing(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t anchor, int64_t cut,
                  int32_t times) {
  const int64_t ring = layout.workers_per_datacenter();
  Execute(tables,
          psprintf("SELECT place FROM (SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place FROM %s"
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

// Noticed at a failover, and kept until it is over.
struct Record {
  bool found;
  int64_t system_identifier;
  int64_t timeline;
  int64_t last_lease_id;  // of the newest lease that is not lost
  TimestampTz settles_until;
  bool settled_before;
  int64_t anchor_lease_id;
  Datum cuts;
};

Record ReadRecord(const Tables &tables) {
  Record record = {};
  Execute(tables, psprintf("SELECT system_identifier, timeline, last_lease_id, settles_until, settling_lease_id,"
                           " settling_cuts FROM %s",
                           tables.origin_name));
  record.found = Rows() > 0;
  if (!record.found) return record;
  record.system_identifier = Int8Result(0, 1);
  record.timeline = Int8Result(0, 2);
  record.last_lease_id = Int8Result(0, 3);
  bool is_null = false;
  record.settles_until = DatumGetTimestampTz(Result(0, 4, TIMESTAMPTZOID, &is_null));
  record.settled_before = !is_null;
  if (is_null) return record;
  record.anchor_lease_id = Int8Result(0, 5);
  record.cuts = Result(0, 6, INT8ARRAYOID, &is_null);
  if (is_null) ReportForeignColumn();
  return record;
}

// A lost lease may live on for one lease duration: this node's, or the longest that the registry knows of; by the clock of
// its node.
int64_t SettlingUs(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us) {
  Execute(tables, psprintf("SELECT coalesce(max(window_end), 0)::bigint FROM %s", tables.registry_name));
  const int64_t longest_us = (Int8Result(0, 1) - now) * layout.tick_us;
  return Min(Max(duration_us, longest_us) + settings.max_clock_skew_ms * kUsPerMs, kMaxLeaseUs);
}

}  // namespace

Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, Tick now, int64_t duration_us) {
  const int64_t ring = layout.workers_per_datacenter();
  const TimestampTz clock = GetCurrentTimestamp();
  const Record record = ReadRecord(tables);
  const int32_t failovers = record.found ? Failovers(record.system_identifier, record.timeline) : 0;
  if (failovers == 0) {
    if (!record.settled_before || record.settles_until <= clock) return {};
    return {true, false, record.anchor_lease_id % ring, CutOf(record.cuts, datacenter), record.settles_until};
  }

  // A further failover halves what was left, also for as long as leases may live that were drawn while it settled; the
  // place that offsets are counted from stays. Otherwise lost commits went on from the newest lease that is not lost.
  const int64_t settling_us = SettlingUs(tables, layout, now, duration_us);
  const bool again = record.settled_before && clock - settling_us < record.settles_until;
  const int64_t anchor_lease_id = again ? record.anchor_lease_id : record.last_lease_id + 1;
  const int64_t anchor = anchor_lease_id % ring;
  const int32_t datacenters = layout.datacenter_count();
  int64_t *cuts = static_cast<int64_t *>(palloc0(sizeof(int64_t) * datacenters));
  for (int32_t i = 0; i < datacenters; ++i)
    cuts[i] = HalveRing(tables, layout, i, anchor, again ? CutOf(record.cuts, i) : 0, failovers);

  const TimestampTz until = Max(clock + settling_us, again ? record.settles_until : clock);
  Execute(tables,
          psprintf("UPDATE %s SET system_identifier = $1, timeline = $2, settles_until = $3,"
                   " settling_lease_id = $4, settling_cuts = $5",
                   tables.origin_name),
          Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()),
          Of(TIMESTAMPTZOID, TimestampTzGetDatum(until)), Int8(anchor_lease_id),
          Of(INT8ARRAYOID, CutsDatum(cuts, datacenters)));
  ereport(LOG,
          (errmsg("snowflake registry was failed over and settles until %s", timestamptz_to_str(until)),
           errdetail("Nothing expires until then, and of the free worker ids only the farther half is handed out.")));
  return {true, true, anchor, cuts[datacenter], until};
}

void WriteOrigin(const Tables &tables, int64_t lease_id) {
  Execute(tables, psprintf("UPDATE %s SET last_lease_id = $1", tables.origin_name), Int8(lease_id));
  if (Rows() > 0) return;
  Execute(
      tables,
      psprintf("INSERT INTO %s (system_identifier, timeline, last_lease_id) VALUES ($1, $2, $3)", tables.origin_name),
      Int8(static_cast<int64_t>(GetSystemIdentifier())), Int8(GetWALInsertionTimeLine()), Int8(lease_id));
}

}  // namespace snowflake
