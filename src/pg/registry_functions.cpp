// The registry protocol, section 4 of the design: snowflake_acquire, snowflake_extend, snowflake_release.
//
// 1. One acquire at a time: it holds the registry's lock, a self-conflicting lock on snowflake_origin, to its end.
//    extend and release touch one row and need no more than that row's lock.
// 2. A row leaves snowflake_registry and its watermark enters snowflake_watermark in one transaction.
// 3. All SQL runs as the tables' owner, security-restricted, with a pinned search_path: triggers, rules and operators that
//    the owner planted get the owner's rights and no more.
#include "pg/layout_table.h"
#include "pg/registry_tables.h"
#include "pg/report.h"
#include "pg/settling.h"

namespace snowflake {

namespace {

void CheckCall(const char *function) {
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation(function);
}

// A function's own SET clause would end before the commit that it is meant for.
void SetSynchronousCommit(const char *value) {
  set_config_option("synchronous_commit", value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

void CommitDurably() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) SetSynchronousCommit("on");
}

int64_t DurationUs(const Interval *duration) {
  const int64_t days = static_cast<int64_t>(duration->month) * DAYS_PER_MONTH + duration->day;
  int64_t us = 0;
  if (__builtin_mul_overflow(days, USECS_PER_DAY, &us) || __builtin_add_overflow(us, duration->time, &us))
    us = days < 0 ? PG_INT64_MIN : PG_INT64_MAX;
  if (us < kMinLeaseUs || us > kMaxLeaseUs) ReportDuration(us);
  return us;
}

void CheckNotNull(FunctionCallInfo fcinfo, const char *function, const char *const *names, int count) {
  for (int i = 0; i < count; ++i)
    if (PG_ARGISNULL(i)) ReportNullArgument(function, names[i]);
}

// Inside AsOwner(). The first lease writes the default layout down.
Layout EnsureLayout(const Tables &tables) {
  Execute(psprintf("SELECT 1 FROM %s", tables.layout_name));
  if (Rows() == 0) {
    const Layout &d = kDefaultLayout;
    Execute(psprintf("INSERT INTO %s (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits,"
                     " sequence_first) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                     tables.layout_name),
            Int8(d.epoch_ms), Int8(d.tick_us), Int4(d.timestamp_bits), Int4(d.datacenter_bits), Int4(d.worker_bits),
            Int4(d.sequence_bits), Bool(d.sequence_first));
    CommandCounterIncrement();
  }
  const Layout layout = ReadLayout(tables.schema);
  const LayoutFault fault = layout.Check(true);
  if (fault != LayoutFault::kNone) ReportLayoutFault(layout, fault);
  return layout;
}

void Expire(const Tables &tables, Tick now) {
  Execute(psprintf("WITH expired AS (DELETE FROM %s WHERE window_end <= $1 RETURNING worker_id, window_end)"
                   " INSERT INTO %s AS w (worker_id, last_tick) SELECT worker_id, window_end - 1 FROM expired"
                   " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick)",
                   tables.registry_name, tables.watermark_name),
          Int8(now));
}

int64_t NextLeaseId(const Tables &tables) {
  Execute("SELECT nextval(pg_get_serial_sequence($1, 'lease_id'))",
          Of(TEXTOID, CStringGetTextDatum(tables.registry_name)));
  return Int8Result(0, 1);
}

// Raises SF004 when there is none.
Choice Choose(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t start, const Settling &settling,
              Tick now) {
  const int64_t ring = layout.workers_per_datacenter();
  const int64_t base = datacenter * ring;
  Execute(
      psprintf("SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place, live, last_tick FROM ("
               "SELECT coalesce(r.worker_id, w.worker_id)::bigint AS worker_id, r.worker_id IS NOT NULL AS live,"
               " coalesce(w.last_tick, -1) AS last_tick FROM %s r FULL JOIN %s w ON r.worker_id = w.worker_id) claims"
               " WHERE worker_id >= $1 AND worker_id < $1 + $3 ORDER BY place",
               tables.registry_name, tables.watermark_name),
      Int8(base), Int8(start), Int8(ring));
  WorkerChoice walk(now, ring, RingOffset(settling.anchor + settling.cut, start, ring), ring - settling.cut);
  for (int64_t i = 0; i < Rows(); ++i) walk.Offer({Int8Result(i, 1), BoolResult(i, 2), Int8Result(i, 3)});
  const Choice choice = walk.Finish();
  if (choice.found) return choice;

  if (settling.active) ReportAllLeased(ring, settling.cut, settling.until + kPostgresEpochUs);
  Execute(
      psprintf("SELECT min(window_end) FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $2", tables.registry_name),
      Int8(base), Int8(ring));
  ReportAllLeased(ring, 0, layout.UnixUsAt(Int8Result(0, 1)));
}

void CheckDatacenter(const Layout &layout, int32_t datacenter) {
  if (datacenter < 0 || datacenter >= layout.datacenter_count()) ReportDatacenter(datacenter, layout);
}

struct Drawn {
  int64_t lease_id;
  Token token;
  int32_t worker;
  Tick window_start;
  Tick window_end;
  Layout layout;
};

// Inside AsOwner(), with the registry's lock held.
Drawn Draw(const Tables &tables, Datum node, int32_t datacenter, Tick now, int64_t duration_us) {
  Drawn drawn = {};
  const Layout layout = drawn.layout = EnsureLayout(tables);
  CheckDatacenter(layout, datacenter);
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(now));

  drawn.lease_id = NextLeaseId(tables);
  const Settling settling = Settle(tables, layout, datacenter, drawn.lease_id, duration_us, now);
  if (!settling.active) Expire(tables, now);

  const int64_t ring = layout.workers_per_datacenter();
  const int64_t start = drawn.lease_id % ring;
  const Choice choice = Choose(tables, layout, datacenter, start, settling, now);
  drawn.worker = static_cast<int32_t>(datacenter * ring + (start + choice.offset) % ring);
  drawn.window_start = WindowStart(now, choice.watermark);
  drawn.window_end = WindowEnd(layout, drawn.window_start, duration_us);
  if (drawn.window_start > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(drawn.window_start));

  if (!pg_strong_random(drawn.token.bytes, sizeof(drawn.token.bytes)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random token")));
  pg_uuid_t uuid;
  memcpy(uuid.data, drawn.token.bytes, sizeof(uuid.data));
  Execute(
      psprintf("INSERT INTO %s (lease_id, worker_id, node, token, acquired_at, renewed_at, window_start, window_end)"
               " OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6)",
               tables.registry_name),
      Int8(drawn.lease_id), Int4(drawn.worker), Of(TEXTOID, node), Of(UUIDOID, UUIDPGetDatum(&uuid)),
      Int8(drawn.window_start), Int8(drawn.window_end));
  // A rule or a trigger may have swallowed the row, and a lease that is not in the registry is none.
  if (Rows() != 1) ReportForeignTable("snowflake_registry");
  return drawn;
}

Datum DrawnDatum(FunctionCallInfo fcinfo, const Drawn &drawn) {
  TupleDesc descriptor = nullptr;
  if (get_call_result_type(fcinfo, nullptr, &descriptor) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  pg_uuid_t uuid;
  memcpy(uuid.data, drawn.token.bytes, sizeof(uuid.data));
  const Layout &layout = drawn.layout;
  Datum values[] = {Int64GetDatum(drawn.lease_id),         UUIDPGetDatum(&uuid),
                    Int32GetDatum(drawn.worker),           Int64GetDatum(drawn.window_start),
                    Int64GetDatum(drawn.window_end),       Int64GetDatum(layout.epoch_ms),
                    Int64GetDatum(layout.tick_us),         Int32GetDatum(layout.timestamp_bits),
                    Int32GetDatum(layout.datacenter_bits), Int32GetDatum(layout.worker_bits),
                    Int32GetDatum(layout.sequence_bits),   BoolGetDatum(layout.sequence_first)};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}

}  // namespace

}  // namespace snowflake

using namespace snowflake;

// snowflake_acquire(node text, datacenter integer, now_tick bigint, duration interval) -> the lease and the layout
SNOWFLAKE_FUNCTION(snowflake_acquire) {
  static const char *const names[] = {"node", "datacenter", "now_tick", "duration"};
  CheckNotNull(fcinfo, "snowflake_acquire", names, 4);
  CheckCall("snowflake_acquire");
  const int64_t duration_us = DurationUs(PG_GETARG_INTERVAL_P(3));
  const Tables tables = FindTables(fcinfo->flinfo->fn_oid);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  Drawn drawn = {};
  AsOwner(tables, [&] {
    const Tick now = Max(PG_GETARG_INT64(2), int64_t{0});  // no window covers a time before the epoch
    drawn = Draw(tables, PG_GETARG_DATUM(0), PG_GETARG_INT32(1), now, duration_us);
  });
  return DrawnDatum(fcinfo, drawn);
}

// snowflake_extend(lease_id bigint, token uuid, now_tick bigint, duration interval) -> the window's end, or null
SNOWFLAKE_FUNCTION(snowflake_extend) {
  static const char *const names[] = {"lease_id", "token", "now_tick", "duration"};
  CheckNotNull(fcinfo, "snowflake_extend", names, 4);
  CheckCall("snowflake_extend");
  const int64_t duration_us = DurationUs(PG_GETARG_INTERVAL_P(3));
  const Tables tables = FindTables(fcinfo->flinfo->fn_oid);
  CommitDurably();
  bool gone = true;
  int64_t window_end = 0;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.schema);
    const Tick end = WindowEnd(layout, Max(PG_GETARG_INT64(2), int64_t{0}), duration_us);
    Execute(psprintf("UPDATE %s SET window_end = greatest(window_end, $3), renewed_at = clock_timestamp()"
                     " WHERE lease_id = $1 AND token = $2 RETURNING window_end",
                     tables.registry_name),
            Int8(PG_GETARG_INT64(0)), Of(UUIDOID, PG_GETARG_DATUM(1)), Int8(end));
    gone = Rows() == 0;
    if (!gone) window_end = Int8Result(0, 1);
  });
  if (gone) PG_RETURN_NULL();
  PG_RETURN_INT64(window_end);
}

// snowflake_release(lease_id bigint, token uuid, last_tick bigint) -> whether there was such a lease
SNOWFLAKE_FUNCTION(snowflake_release) {
  static const char *const names[] = {"lease_id", "token", "last_tick"};
  CheckNotNull(fcinfo, "snowflake_release", names, 3);
  CheckCall("snowflake_release");
  const int64_t last_tick = PG_GETARG_INT64(2);
  const Tables tables = FindTables(fcinfo->flinfo->fn_oid);
  // To lose a release is no worse than a crash, and a standby that is missing must not hang a shutdown.
  SetSynchronousCommit("local");
  bool gone = true;
  AsOwner(tables, [&] {
    Execute(
        psprintf(
            "DELETE FROM %s WHERE lease_id = $1 AND token = $2 RETURNING worker_id::bigint, window_start, window_end",
            tables.registry_name),
        Int8(PG_GETARG_INT64(0)), Of(UUIDOID, PG_GETARG_DATUM(1)));
    gone = Rows() == 0;
    if (gone) return;
    const int64_t worker = Int8Result(0, 1);
    const int64_t window_start = Int8Result(0, 2);
    const int64_t window_end = Int8Result(0, 3);
    if (last_tick < window_start - 1 || last_tick >= window_end) ReportLastTick(last_tick, window_start, window_end);
    Execute(psprintf("INSERT INTO %s AS w (worker_id, last_tick) VALUES ($1, $2)"
                     " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick)",
                     tables.watermark_name),
            Int4(static_cast<int32_t>(worker)), Int8(last_tick));
  });
  PG_RETURN_BOOL(!gone);
}

// The statement trigger of snowflake_layout. Plain DML tells no other session of a change.
SNOWFLAKE_FUNCTION(snowflake_layout_changed) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("snowflake_layout_changed() must be called as a trigger")));
  const TriggerData *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
  const Tables tables = FindTables(fcinfo->flinfo->fn_oid);
  // Against an acquire that is under way.
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  AsOwner(tables, [&] {
    Execute(psprintf("SELECT 1 WHERE EXISTS (SELECT FROM %s) OR EXISTS (SELECT FROM %s)", tables.registry_name,
                     tables.watermark_name));
    if (Rows() > 0) ReportLayoutInUse();
  });
  ReadLayout(tables.schema);  // refuses what cannot be
  CacheInvalidateRelcacheByRelid(RelationGetRelid(trigger->tg_relation));
  return PointerGetDatum(nullptr);
}
