#include "pg/protocol.h"

#include "pg/layout_table.h"
#include "pg/registry_tables.h"
#include "pg/report.h"
#include "pg/shared.h"
#include "pg/settling.h"

namespace snowflake {

namespace {

void CheckCall(const char *function) {
  // Nodes reach a server that pg_upgrade started if the user gave it the usual socket. The new server's tables are empty
  // still, and whatever is written to them, or to the old one's from then on, is lost: a lease would be no lease.
  if (IsBinaryUpgrade) ReportBinaryUpgrade(function);
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

// The next three inside AsOwner().
bool HasLayout(const Tables &tables) {
  Execute(tables, psprintf("SELECT 1 FROM %s", tables.layout_name));
  return Rows() > 0;
}

void WriteLayout(const Tables &tables, const Layout &layout, bool replace) {
  const char *columns =
      "(epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)";
  const char *values = "($1, $2, $3, $4, $5, $6, $7)";
  Execute(tables,
          replace ? psprintf("UPDATE %s SET %s = %s", tables.layout_name, columns, values)
                  : psprintf("INSERT INTO %s %s VALUES %s", tables.layout_name, columns, values),
          Int8(layout.epoch_ms), Int8(layout.tick_us), Int4(layout.timestamp_bits), Int4(layout.datacenter_bits),
          Int4(layout.worker_bits), Int4(layout.sequence_bits), Bool(layout.sequence_first));
  CommandCounterIncrement();
}

// The first lease writes the default layout down.
Layout EnsureLayout(const Tables &tables) {
  if (!HasLayout(tables)) WriteLayout(tables, kDefaultLayout, false);
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

struct Place {
  bool found;
  int64_t offset;  // on the ring, from where the walk starts
  Tick watermark;
};

// One datacenter's ring. Places are counted from `start`; those from `allowed` on are held back.
struct Ring {
  int64_t base;  // its first worker id
  int64_t size;
  int64_t start;
  int64_t allowed;
};

// The first place without a live lease whose watermark lies below `now`. Only what stands in the way is read: the places
// in between were never used, or long ago.
Place FirstFree(const Tables &tables, const Ring &ring, Tick now) {
  Execute(tables,
          psprintf("SELECT coalesce(min(rank) FILTER (WHERE place <> rank), max(rank) + 1, 0) FROM"
                   " (SELECT place, dense_rank() OVER (ORDER BY place) - 1 AS rank FROM"
                   " (SELECT (worker_id - $1 - $2 + $3) %% $3 AS place FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3"
                   " UNION ALL SELECT (worker_id - $1 - $2 + $3) %% $3 FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3 AND last_tick >= $4) taken) ranked",
                   tables.registry_name, tables.watermark_name),
          Int8(ring.base), Int8(ring.start), Int8(ring.size), Int8(now));
  const int64_t offset = Int8Result(0, 1);
  if (offset >= ring.allowed) return {};
  Execute(tables, psprintf("SELECT last_tick FROM %s WHERE worker_id = $1", tables.watermark_name),
          Int4(static_cast<int32_t>(ring.base + (ring.start + offset) % ring.size)));
  return {true, offset, Rows() > 0 ? Int8Result(0, 1) : kNoWatermark};
}

// If there is none: the free place with the lowest watermark.
Place LowestWatermark(const Tables &tables, const Ring &ring) {
  Execute(tables,
          psprintf("SELECT place, last_tick FROM (SELECT (w.worker_id - $1 - $2 + $3) %% $3 AS place, last_tick"
                   " FROM %s w LEFT JOIN %s r ON r.worker_id = w.worker_id"
                   " WHERE r.worker_id IS NULL AND w.worker_id >= $1 AND w.worker_id < $1 + $3) free"
                   " WHERE place < $4 ORDER BY last_tick, place LIMIT 1",
                   tables.watermark_name, tables.registry_name),
          Int8(ring.base), Int8(ring.start), Int8(ring.size), Int8(ring.allowed));
  return Rows() > 0 ? Place{true, Int8Result(0, 1), Int8Result(0, 2)} : Place{};
}

// None is found when all that is free is held back and that was noticed just now; otherwise that is SF004.
Place Choose(const Tables &tables, const Layout &layout, const Ring &ring, const Settling &settling, Tick now) {
  Place place = FirstFree(tables, ring, now);
  if (!place.found) place = LowestWatermark(tables, ring);
  if (place.found || settling.noticed) return place;

  if (settling.active) ReportAllLeased(ring.size, settling.cut, settling.until + kPostgresEpochUs);
  Execute(
      tables,
      psprintf("SELECT min(window_end) FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $2", tables.registry_name),
      Int8(ring.base), Int8(ring.size));
  ReportAllLeased(ring.size, 0, layout.UnixUsAt(Int8Result(0, 1)));
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

  const int64_t size = layout.workers_per_datacenter();
  const int64_t start = (settling.active ? settling.anchor + settling.cut : lease->lease_id) % size;
  const Ring ring = {request.datacenter * size, size, start, size - settling.cut};
  const Place place = Choose(tables, layout, ring, settling, now);
  if (!place.found) return false;
  lease->worker = static_cast<int32_t>(ring.base + (start + place.offset) % size);
  lease->window_start = WindowStart(now, place.watermark);
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

void ProtocolKeepLayout(Oid extension) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] { EnsureLayout(tables); });
}

void ProtocolSetLayout(Oid extension, const Layout &layout) {
  CheckCall("snowflake_set_layout");
  const Tables tables = FindTables(extension);
  // As an acquire does, and before the row: the other way round the two could wait for each other.
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  AsOwner(tables, [&] {
    const bool there = HasLayout(tables);
    if (there && ReadLayout(tables.layout) == layout) return;
    WriteLayout(tables, layout, there);
    // A rule or a trigger may have swallowed or changed the row.
    if (!HasLayout(tables) || ReadLayout(tables.layout) != layout) ReportForeignTable("snowflake_layout");
  });
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
