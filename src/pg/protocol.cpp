#include "pg/protocol.h"

#include "pg/layout_table.h"
#include "pg/registry_tables.h"
#include "pg/report.h"
#include "pg/shared.h"
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

void CheckDuration(int64_t duration_us) {
  if (duration_us < kMinLeaseUs || duration_us > kMaxLeaseUs) ReportDuration(duration_us);
}

// Inside AsOwner(). The first lease writes the default layout down.
Layout EnsureLayout(const Tables &tables) {
  Execute(tables, psprintf("SELECT 1 FROM %s", tables.layout_name));
  if (Rows() == 0) {
    const Layout &d = kDefaultLayout;
    Execute(tables,
            psprintf("INSERT INTO %s (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits,"
                     " sequence_first) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                     tables.layout_name),
            Int8(d.epoch_ms), Int8(d.tick_us), Int4(d.timestamp_bits), Int4(d.datacenter_bits), Int4(d.worker_bits),
            Int4(d.sequence_bits), Bool(d.sequence_first));
    CommandCounterIncrement();
  }
  const Layout layout = ReadLayout(tables.layout);
  const LayoutFault fault = layout.Check(true);
  if (fault != LayoutFault::kNone) ReportLayoutFault(layout, fault);
  return layout;
}

void Expire(const Tables &tables, Tick now) {
  Execute(tables,
          psprintf("WITH expired AS (DELETE FROM %s WHERE window_end <= $1 RETURNING worker_id, window_end)"
                   " INSERT INTO %s AS w (worker_id, last_tick) SELECT worker_id, window_end - 1 FROM expired"
                   " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick)",
                   tables.registry_name, tables.watermark_name),
          Int8(now));
}

// None is found when all that is free is held back and that was noticed just now; otherwise that is SF004.
Choice Choose(const Tables &tables, const Layout &layout, int32_t datacenter, int64_t start, const Settling &settling,
              Tick now) {
  const int64_t ring = layout.workers_per_datacenter();
  const int64_t base = datacenter * ring;
  Execute(
      tables,
      psprintf("SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place, live, last_tick FROM ("
               "SELECT coalesce(r.worker_id, w.worker_id)::bigint AS worker_id, r.worker_id IS NOT NULL AS live,"
               " coalesce(w.last_tick, -1) AS last_tick FROM %s r FULL JOIN %s w ON r.worker_id = w.worker_id) claims"
               " WHERE worker_id >= $1 AND worker_id < $1 + $3 ORDER BY place",
               tables.registry_name, tables.watermark_name),
      Int8(base), Int8(start), Int8(ring));
  WorkerChoice walk(now, ring, RingOffset(settling.anchor + settling.cut, start, ring), ring - settling.cut);
  for (int64_t i = 0; i < Rows(); ++i) walk.Offer({Int8Result(i, 1), BoolResult(i, 2), Int8Result(i, 3)});
  const Choice choice = walk.Finish();
  if (choice.found || settling.noticed) return choice;

  if (settling.active) ReportAllLeased(ring, settling.cut, settling.until + kPostgresEpochUs);
  Execute(
      tables,
      psprintf("SELECT min(window_end) FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $2", tables.registry_name),
      Int8(base), Int8(ring));
  ReportAllLeased(ring, 0, layout.UnixUsAt(Int8Result(0, 1)));
}

void CheckDatacenter(const Layout &layout, int32_t datacenter) {
  if (datacenter < 0 || datacenter >= layout.datacenter_count()) ReportDatacenter(datacenter, layout);
}

void Insert(const Tables &tables, const char *node, const Lease &lease) {
  Execute(tables,
          psprintf("INSERT INTO %s (lease_id, worker_id, node, token, acquired_at, renewed_at, window_start,"
                   " window_end) OVERRIDING SYSTEM VALUE"
                   " VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6)",
                   tables.registry_name),
          Int8(lease.lease_id), Int4(lease.worker), Of(TEXTOID, CStringGetTextDatum(node)),
          Of(UUIDOID, TokenDatum(lease.token)), Int8(lease.window_start), Int8(lease.window_end));
  // A rule or a trigger may have swallowed the row, and a lease that is not in the registry is none.
  if (Rows() != 1) ReportForeignTable("snowflake_registry");
}

// Inside AsOwner(), with the registry's lock held.
bool Draw(const Tables &tables, const AcquireRequest &request, AcquireAnswer *answer) {
  const Layout layout = answer->layout = EnsureLayout(tables);
  CheckDatacenter(layout, request.datacenter);
  const Tick now = Max(request.now, Tick{0});  // no window covers a time before the epoch
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(now));

  Lease *lease = &answer->lease;
  lease->lease_id = NextLeaseId(tables);
  const Settling settling = Settle(tables, layout, request.datacenter, now, request.duration_us);
  if (!settling.active) Expire(tables, now);

  const int64_t ring = layout.workers_per_datacenter();
  const int64_t start = (settling.active ? settling.anchor + settling.cut : lease->lease_id) % ring;
  const Choice choice = Choose(tables, layout, request.datacenter, start, settling, now);
  if (!choice.found) return false;
  lease->worker = static_cast<int32_t>(request.datacenter * ring + (start + choice.offset) % ring);
  lease->window_start = WindowStart(now, choice.watermark);
  lease->window_end = WindowEnd(layout, lease->window_start, request.duration_us);
  if (lease->window_start > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(lease->window_start));
  if (!pg_strong_random(lease->token.bytes, sizeof(lease->token.bytes)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random token")));
  Insert(tables, request.node, *lease);
  WriteOrigin(tables, lease->lease_id);
  return true;
}

}  // namespace

Datum TokenDatum(const Token &token) {
  pg_uuid_t *uuid = static_cast<pg_uuid_t *>(palloc(sizeof(pg_uuid_t)));
  memcpy(uuid->data, token.bytes, sizeof(token.bytes));
  return UUIDPGetDatum(uuid);
}

Token TokenFromDatum(Datum uuid) {
  Token token;
  memcpy(token.bytes, DatumGetUUIDP(uuid)->data, sizeof(token.bytes));
  return token;
}

bool ProtocolAcquire(Oid extension, const AcquireRequest &request, AcquireAnswer *answer) {
  CheckCall("snowflake_acquire");
  CheckDuration(request.duration_us);
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  bool drawn = false;
  AsOwner(tables, [&] { drawn = Draw(tables, request, answer); });
  return drawn;
}

bool ProtocolExtend(Oid extension, int64_t lease_id, const Token &token, Tick now, int64_t duration_us,
                    Tick *window_end) {
  CheckCall("snowflake_extend");
  CheckDuration(duration_us);
  const Tables tables = FindTables(extension);
  CommitDurably();
  bool found = false;
  AsOwner(tables, [&] {
    const Tick end = WindowEnd(ReadLayout(tables.layout), Max(now, Tick{0}), duration_us);
    Execute(tables,
            psprintf("UPDATE %s SET window_end = greatest(window_end, $3), renewed_at = clock_timestamp()"
                     " WHERE lease_id = $1 AND token = $2 RETURNING window_end",
                     tables.registry_name),
            Int8(lease_id), Of(UUIDOID, TokenDatum(token)), Int8(end));
    found = Rows() > 0;
    if (found) *window_end = Int8Result(0, 1);
  });
  return found;
}

bool ProtocolRelease(Oid extension, int64_t lease_id, const Token &token, Tick last_tick) {
  CheckCall("snowflake_release");
  const Tables tables = FindTables(extension);
  // To lose a release is no worse than a crash, and a standby that is missing must not hang a shutdown.
  SetSynchronousCommit("local");
  bool found = false;
  AsOwner(tables, [&] {
    Execute(tables,
            psprintf("DELETE FROM %s WHERE lease_id = $1 AND token = $2"
                     " RETURNING worker_id::bigint, window_start, window_end",
                     tables.registry_name),
            Int8(lease_id), Of(UUIDOID, TokenDatum(token)));
    found = Rows() > 0;
    if (!found) return;
    const int64_t worker = Int8Result(0, 1);
    const Tick window_start = Int8Result(0, 2);
    const Tick window_end = Int8Result(0, 3);
    if (last_tick < window_start - 1 || last_tick >= window_end) ReportLastTick(last_tick, window_start, window_end);
    Execute(tables,
            psprintf("INSERT INTO %s AS w (worker_id, last_tick) VALUES ($1, $2)"
                     " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick)",
                     tables.watermark_name),
            Int4(static_cast<int32_t>(worker)), Int8(last_tick));
  });
  return found;
}

void CheckLayoutMayChange(Oid extension) {
  const Tables tables = FindTables(extension);
  // Against an acquire that is under way.
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  AsOwner(tables, [&] {
    Execute(tables, psprintf("SELECT 1 FROM (SELECT FROM %s UNION ALL SELECT FROM %s) used LIMIT 1",
                             tables.registry_name, tables.watermark_name));
    if (Rows() > 0) ReportLayoutInUse();
  });
  const Layout layout = ReadLayout(tables.layout);  // refuses what cannot be
  // With a registry on another server both tables are empty here; the layout of the lease may be written down.
  bool in_use = false;
  if (NodeState *node = FindNode(MyDatabaseId))
    WithLock(node, LW_SHARED, [&] {
      const Generator &g = node->generator;
      in_use = node->extension == extension && g.lease.lease_id != 0 && g.layout != layout;
    });
  if (in_use) ReportLayoutInUse();
}

}  // namespace snowflake
