#include "pg/registry/protocol.h"

#include "pg/database_layout.h"
#include "pg/registry/report.h"
#include "pg/registry/settling.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"

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

bool IsSet(const Token &token) { return token != Token{}; }

// Whose lease it is: not the owner's, behind whose fence the statements run.
Value Role() { return Of(OIDOID, ObjectIdGetDatum(GetSessionUserId())); }

Standing StandingOf(const Origin &origin) {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), origin.raised_tick};
}

// The next three inside AsOwner().
bool HasLayout(const Tables &tables) {
  Execute(tables, psprintf("SELECT 1 FROM %s", tables.layout_name));
  return Rows() > 0;
}

void WriteLayout(const Tables &tables, const Layout &layout, bool replace) {
  const char *parameters = "($1, $2, $3, $4, $5, $6, $7)";
  Datum datums[kLayoutColumnCount];
  Value values[kLayoutColumnCount];
  LayoutToDatums(layout, datums);
  for (int i = 0; i < kLayoutColumnCount; ++i) values[i] = Of(kLayoutColumns[i].type, datums[i]);
  ExecuteWith(tables,
              psprintf(replace ? "UPDATE %s SET (%s) = %s" : "INSERT INTO %s (%s) VALUES %s", tables.layout_name,
                       kLayoutColumnList, parameters),
              kLayoutColumnCount, values);
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

void Raise(const Tables &tables, int32_t worker, Tick last_tick) {
  Execute(tables,
          psprintf("INSERT INTO %s AS w (worker_id, last_tick) VALUES ($1, $2)"
                   " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick)"
                   " RETURNING worker_id::bigint, last_tick",
                   tables.watermark_name),
          Int4(worker), Int8(last_tick));
  // A trigger may have swallowed or changed the row, and then nothing would keep the next lease above this one.
  if (Rows() != 1 || Int8Result(0, 1) != worker || Int8Result(0, 2) < last_tick)
    ReportForeignTable("snowflake_watermark");
}

struct Place {
  bool found;
  int32_t worker;
  Tick watermark;
};

// Part of one datacenter's ring. Places are counted from `start`, upwards or downwards; those from `allowed` on are no part of it.
struct Ring {
  int64_t base;  // its first worker id
  int64_t size;
  int64_t start;
  int64_t allowed;
  int64_t step;  // 1 or -1

  int32_t WorkerAt(int64_t place) const {
    return static_cast<int32_t>(base + ((start + step * place) % size + size) % size);
  }

  Ring Whole() const { return {base, size, start, size, step}; }
};

Tick WatermarkOf(const Tables &tables, int32_t worker) {
  Execute(tables, psprintf("SELECT last_tick FROM %s WHERE worker_id = $1", tables.watermark_name), Int4(worker));
  return Rows() > 0 ? Int8Result(0, 1) : kNoWatermark;
}

// The first place without a live lease whose watermark lies below `now`. Only what stands in the way is read: the places
// in between were never used, or long ago.
Place FirstFree(const Tables &tables, const Ring &ring, Tick now) {
  Execute(tables,
          psprintf("SELECT coalesce(min(rank) FILTER (WHERE place <> rank), max(rank) + 1, 0) FROM"
                   " (SELECT place, dense_rank() OVER (ORDER BY place) - 1 AS rank FROM"
                   " (SELECT ($5 * (worker_id - $1 - $2) %% $3 + $3) %% $3 AS place FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3"
                   " UNION ALL SELECT ($5 * (worker_id - $1 - $2) %% $3 + $3) %% $3 FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3 AND last_tick >= $4) taken) ranked",
                   tables.registry_name, tables.watermark_name),
          Int8(ring.base), Int8(ring.start), Int8(ring.size), Int8(now), Int8(ring.step));
  const int64_t place = Int8Result(0, 1);
  if (place >= ring.allowed) return {};
  const int32_t worker = ring.WorkerAt(place);
  return {true, worker, WatermarkOf(tables, worker)};
}

// Of the leases whose windows are over, the one that has been so for longest: it becomes a watermark, and its worker id free. One
// that is being moved or given back is waited for, and then no longer among them.
Place ExpireOne(const Tables &tables, const Ring &ring, Tick over) {
  Execute(
      tables,
      psprintf(
          "WITH over AS (SELECT lease_id FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $2 AND window_end <= $3"
          " ORDER BY window_end, lease_id LIMIT 1 FOR UPDATE)"
          " DELETE FROM %s r USING over WHERE r.lease_id = over.lease_id RETURNING r.worker_id::bigint, r.window_end",
          tables.registry_name, tables.registry_name),
      Int8(ring.base), Int8(ring.size), Int8(over));
  if (Rows() == 0) return {};
  const int32_t worker = static_cast<int32_t>(Int8Result(0, 1));
  Raise(tables, worker, Int8Result(0, 2) - 1);
  return {true, worker, WatermarkOf(tables, worker)};
}

// The free place with the lowest watermark.
Place LowestWatermark(const Tables &tables, const Ring &ring) {
  Execute(tables,
          psprintf("SELECT w.worker_id::bigint, last_tick FROM %s w LEFT JOIN %s r ON r.worker_id = w.worker_id"
                   " WHERE r.worker_id IS NULL AND w.worker_id >= $1 AND w.worker_id < $1 + $3"
                   " AND ($5 * (w.worker_id - $1 - $2) %% $3 + $3) %% $3 < $4"
                   " ORDER BY last_tick, ($5 * (w.worker_id - $1 - $2) %% $3 + $3) %% $3 LIMIT 1",
                   tables.watermark_name, tables.registry_name),
          Int8(ring.base), Int8(ring.start), Int8(ring.size), Int8(ring.allowed), Int8(ring.step));
  return Rows() > 0 ? Place{true, static_cast<int32_t>(Int8Result(0, 1)), Int8Result(0, 2)} : Place{};
}

// The nearer half, from the farthest place down: what lost commits are least likely to have handed out.
Place HeldBack(const Tables &tables, const Ring &ring, const Settling &settling, Tick now) {
  const Ring nearer = {ring.base, ring.size, settling.anchor + settling.cut - 1, settling.cut, -1};
  const Place place = FirstFree(tables, nearer, now);
  if (place.found && !settling.soft)
    ereport(
        LOG,
        (errmsg("snowflake registry: hands out worker id %d, which is held back until %s", place.worker,
                timestamptz_to_str(settling.until)),
         errdetail("All others are leased, and half of the time is over. If a lost commit had handed it out, its node"
                   " may still issue ids under it.")));
  return place;
}

// A worker id that is free now; if there is none, one that is free later. None is found when all that is free is held back and
// that was noticed just now; otherwise that is SF004. Leases whose windows ended by tick `over` expire, only where nothing else
// is left.
Place Choose(const Tables &tables, const Layout &layout, const Ring &ring, const Settling &settling, Tick now,
             Tick over) {
  const bool firm = settling.active && !settling.soft;
  const bool all = settling.active && (settling.soft || settling.half_over);
  Place place = FirstFree(tables, ring, now);
  const Ring farther = {ring.base, ring.size, settling.anchor + settling.cut, ring.size - settling.cut, 1};
  if (!place.found && settling.start > settling.cut) place = FirstFree(tables, farther, now);
  if (!place.found && all) place = HeldBack(tables, ring, settling, now);
  if (!place.found && !firm) place = ExpireOne(tables, ring, over);
  if (!place.found) place = LowestWatermark(tables, all ? ring.Whole() : settling.active ? farther : ring);
  if (place.found || settling.noticed) return place;

  if (firm) ReportHeldBack(ring.size, settling.cut, settling.until);
  Execute(
      tables,
      psprintf("SELECT min(window_end) FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $2", tables.registry_name),
      Int8(ring.base), Int8(ring.size));
  ReportAllLeased(ring.size, layout.UnixUsAt(Int8Result(0, 1)));
}

void CheckDatacenter(const Layout &layout, int32_t datacenter) {
  if (datacenter < 0 || datacenter >= layout.datacenter_count()) ReportDatacenter(datacenter, layout);
}

void Insert(const Tables &tables, const char *node, const Lease &lease) {
  Execute(tables,
          psprintf("INSERT INTO %s (lease_id, worker_id, node, token, acquired_at, renewed_at, window_start,"
                   " window_end%s) OVERRIDING SYSTEM VALUE"
                   " VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6%s)"
                   " RETURNING worker_id::bigint, window_start, window_end",
                   tables.registry_name, tables.current ? ", role" : "", tables.current ? ", $7" : ""),
          Int8(lease.lease_id), Int4(lease.worker), Of(TEXTOID, CStringGetTextDatum(node)),
          Of(UUIDOID, TokenDatum(lease.token)), Int8(lease.window_start), Int8(lease.window_end), Role());
  // A trigger may have swallowed or changed the row, and a lease that is not in the registry is none.
  if (Rows() != 1 || Int8Result(0, 1) != lease.worker || Int8Result(0, 2) != lease.window_start ||
      Int8Result(0, 3) != lease.window_end)
    ReportForeignTable("snowflake_registry");
}

// The lease that an earlier request of the same node drew, whose answer was lost or late: it is moved as by an extend.
bool FindDrawn(const Tables &tables, const AcquireRequest &request, Tick now, AcquireAnswer *answer) {
  if (!tables.current || !IsSet(request.token)) return false;
  const Tick end = WindowEnd(answer->layout, now, Min(request.duration_us, kFirstWindowUs));
  Execute(tables,
          psprintf("UPDATE %s SET window_end = greatest(window_end, $3), renewed_at = clock_timestamp()"
                   " WHERE token = $1 AND role = $2 RETURNING lease_id, worker_id::bigint, window_start, window_end",
                   tables.registry_name),
          Of(UUIDOID, TokenDatum(request.token)), Role(), Int8(end));
  if (Rows() == 0) return false;
  answer->lease = {Int8Result(0, 1), request.token, static_cast<int32_t>(Int8Result(0, 2)), Int8Result(0, 3),
                   Int8Result(0, 4)};
  answer->workers_free = -1;
  return true;
}

// How many worker ids of the ring are free; and whether this role may have another lease. A lease whose window is over stays
// until its worker id is needed, and does not count.
int64_t CountFree(const Tables &tables, const Ring &ring, Tick now) {
  if (!tables.current) return -1;
  Execute(
      tables,
      psprintf(
          "SELECT count(*) FILTER (WHERE worker_id >= $1 AND worker_id < $1 + $2), count(*) FILTER (WHERE role = $3)"
          " FROM %s WHERE window_end > $4",
          tables.registry_name),
      Int8(ring.base), Int8(ring.size), Role(), Int8(now));
  const int64_t leases_of_role = Int8Result(0, 2);
  if (settings.max_leases_per_role > 0 && leases_of_role >= settings.max_leases_per_role)
    ReportLeasesOfRole(leases_of_role);
  return ring.size - Int8Result(0, 1);
}

// Inside AsOwner(), with the registry's lock held.
bool Draw(const Tables &tables, const AcquireRequest &request, AcquireAnswer *answer) {
  const Layout layout = answer->layout = EnsureLayout(tables);
  CheckDatacenter(layout, request.datacenter);
  const Tick now = Max(request.now, Tick{0});  // no window covers a time before the epoch
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(now));

  Origin origin = ReadOrigin(tables);
  const Settling settling =
      Settle(tables, layout, request.datacenter, now, request.duration_us, request.seen_lease_id, &origin);
  answer->standing = StandingOf(origin);
  if (FindDrawn(tables, request, now, answer)) return true;

  Lease *lease = &answer->lease;
  lease->lease_id = NextLeaseId(tables, origin.last_lease_id);
  const int64_t size = layout.workers_per_datacenter();
  const int64_t start = (settling.active ? settling.anchor + settling.start : lease->lease_id) % size;
  const Ring ring = {request.datacenter * size, size, start, size - settling.start, 1};
  // By the earlier one of the node's and this server's clock: a node whose clock is ahead must not end the leases of all.
  const Tick over = Min(now, layout.TickAt(NowUnixUs()));
  answer->workers_free = CountFree(tables, ring, over);
  const Place place = Choose(tables, layout, ring, settling, now, over);
  if (!place.found) return false;
  lease->worker = place.worker;
  lease->window_start = WindowStart(now, Max(place.watermark, origin.raised_tick));
  if (request.start_before != kAnyStart && lease->window_start >= request.start_before) return false;
  if (lease->window_start > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(lease->window_start));
  const bool grows = IsSet(request.token);
  lease->window_end =
      WindowEnd(layout, lease->window_start, grows ? Min(request.duration_us, kFirstWindowUs) : request.duration_us);
  lease->token = grows ? request.token : NewToken();
  Insert(tables, request.node, *lease);
  WriteOrigin(tables, lease->lease_id);
  return true;
}

// Of a node that names a lease, or an end of its window, which this registry never gave: those commits are lost, and others
// may be. The lock comes first, so that an acquire under way has ended.
void NoticeLoss(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, int64_t named,
                const char *reason) {
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  Origin origin = ReadOrigin(tables);
  // One loss shows itself to every node that it concerns.
  if (origin.found && (IsEvidence(origin, named) || !IsKnownLoss(origin)))
    BeginSettling(tables, layout, now, duration_us, named, reason, &origin);
}

// Before a row is moved, or leaves, otherwise than by an acquire: when a loss is noticed, the newest row tells when it was, and a
// worker id that became free since would count as one that was free then. The mark of a clean shutdown is still there, too.
void NoticeMove(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, Origin origin) {
  if (IsInPlace(origin)) return;
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  origin = ReadOrigin(tables);
  Settle(tables, layout, 0, now, duration_us, 0, &origin);
}

// The same where no node says how long its leases are.
void NoticeMove(const Tables &tables, const Layout &layout, const Origin &origin) {
  NoticeMove(tables, layout, layout.TickAt(NowUnixUs()), settings.lease_duration_ms * kUsPerMs, origin);
}

// A window's end that the registry does not know may be of a commit that was lost; further ahead than any that it grants it is not.
// So nobody can make it settle for longer than that takes.
void CheckHeld(const Layout &layout, Tick held_until, Tick known, Tick latest) {
  if (held_until > known && held_until > latest) ReportTickAhead(layout.UnixUsAt(held_until), NowUnixUs());
}

constexpr const char *kUnknownLease = "a node holds a lease that it does not know";
constexpr const char *kUnknownEnd = "a node holds a window that is longer than it knows";

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

Token NewToken() {
  Token token;
  if (!pg_strong_random(token.bytes, sizeof(token.bytes)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random token")));
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

bool ProtocolExtend(Oid extension, const ExtendRequest &request, ExtendAnswer *answer) {
  CheckCall("snowflake_extend");
  CheckDuration(request.duration_us);
  const Tables tables = FindTables(extension);
  CommitDurably();
  // Against MarkClean(): what it does not wait for has to see its mark.
  if (tables.current) LockRelationOid(tables.origin, RowExclusiveLock);
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Tick now = Max(request.now, Tick{0});
    const Tick held_until = Min(request.held_until, layout.max_tick() + 1);
    const Origin origin = ReadOrigin(tables);
    answer->standing = StandingOf(origin);
    if (IsEvidence(origin, request.lease_id))
      NoticeLoss(tables, layout, now, request.duration_us, request.lease_id, kUnknownLease);
    NoticeMove(tables, layout, now, request.duration_us, origin);
    if (origin.clean_at != 0) {
      LockRelationOid(tables.origin, ShareUpdateExclusiveLock);  // before its row, as who settles
      UnmarkClean(tables);
    }
    Execute(
        tables,
        psprintf(
            "UPDATE %s r SET window_end = greatest(r.window_end, $3, $4), renewed_at = clock_timestamp()%s"
            " FROM (SELECT lease_id, window_end FROM %s) o WHERE r.lease_id = $1 AND token = $2%s AND o.lease_id = $1"
            " RETURNING r.window_end, o.window_end",
            tables.registry_name, tables.current ? ", role = coalesce(role, $5)" : "", tables.registry_name,
            tables.current ? " AND (role = $5 OR role IS NULL)" : ""),
        Int8(request.lease_id), Of(UUIDOID, TokenDatum(request.token)),
        Int8(WindowEnd(layout, now, request.duration_us)), Int8(held_until), Role());
    found = Rows() > 0;
    if (!found) return;
    answer->window_end = Int8Result(0, 1);
    CheckHeld(layout, held_until, Int8Result(0, 2), request.latest_end);
    if (held_until > Int8Result(0, 2)) NoticeLoss(tables, layout, now, request.duration_us, 0, kUnknownEnd);
  });
  return found;
}

bool ProtocolRelease(Oid extension, const ReleaseRequest &request) {
  CheckCall("snowflake_release");
  const Tables tables = FindTables(extension);
  // To lose a release is no worse than a crash, and a standby that is missing must not hang a shutdown.
  SetSynchronousCommit("local");
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Origin origin = ReadOrigin(tables);
    if (IsEvidence(origin, request.lease_id))
      NoticeLoss(tables, layout, layout.TickAt(NowUnixUs()), settings.lease_duration_ms * kUsPerMs, request.lease_id,
                 kUnknownLease);
    NoticeMove(tables, layout, origin);
    Execute(tables,
            psprintf("DELETE FROM %s WHERE lease_id = $1 AND token = $2%s"
                     " RETURNING worker_id::bigint, window_start, window_end",
                     tables.registry_name, tables.current ? " AND (role = $3 OR role IS NULL)" : ""),
            Int8(request.lease_id), Of(UUIDOID, TokenDatum(request.token)), Role());
    found = Rows() > 0;
    if (!found) return;
    const int32_t worker = static_cast<int32_t>(Int8Result(0, 1));
    const Tick window_start = Int8Result(0, 2);
    const Tick held_until = Min(request.held_until, layout.max_tick() + 1);
    CheckHeld(layout, held_until, Int8Result(0, 3), request.latest_end);
    const Tick window_end = Max(Int8Result(0, 3), held_until);
    if (request.last_tick < window_start - 1 || request.last_tick >= window_end) ReportLastTick(request.last_tick);
    Raise(tables, worker, Max(request.last_tick, Min(request.floor, window_end - 1)));
  });
  return found;
}

void ProtocolMarkClean(Oid extension) {
  CheckCall("snowflake_release");
  const Tables tables = FindTables(extension);
  if (!tables.current) return;
  SetSynchronousCommit("local");
  // Waits for acquires and extends under way, and holds up those that come.
  LockRelationOid(tables.origin, ShareRowExclusiveLock);
  AsOwner(tables, [&] { MarkClean(tables); });
}

bool ProtocolEvict(Oid extension, int32_t worker, TimestampTz dead_since, Tick last_tick) {
  CheckCall("snowflake_evict");
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    NoticeMove(tables, layout, ReadOrigin(tables));
    Execute(tables,
            psprintf("DELETE FROM %s WHERE worker_id = $1 RETURNING window_start, window_end, renewed_at",
                     tables.registry_name),
            Int4(worker));
    found = Rows() > 0;
    if (!found) return;
    const Tick window_start = Int8Result(0, 1);
    const Tick window_end = Int8Result(0, 2);
    bool is_null = false;
    const TimestampTz renewed_at = DatumGetTimestampTz(Result(0, 3, TIMESTAMPTZOID, &is_null));
    if (is_null) ReportForeignColumn();
    if (dead_since < renewed_at) ReportAliveSince(worker, dead_since, renewed_at);
    Raise(tables, worker, Min(Max(last_tick, window_start - 1), window_end - 1));
  });
  return found;
}

void ProtocolSettle(Oid extension, const char *reason) {
  CheckCall("snowflake_settle");
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Tick now = layout.TickAt(NowUnixUs());
    const int64_t duration_us = settings.lease_duration_ms * kUsPerMs;
    Origin origin = ReadOrigin(tables);
    EnsureOrigin(tables, layout, now, duration_us, &origin);
    BeginSettling(tables, layout, now, duration_us, 0, reason, &origin);
  });
}

void ProtocolRaise(Oid extension, Tick tick) {
  CheckCall("snowflake_raise");
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  AsOwner(tables, [&] {
    Origin origin = ReadOrigin(tables);
    const Layout layout = ReadLayout(tables.layout);
    EnsureOrigin(tables, layout, layout.TickAt(NowUnixUs()), settings.lease_duration_ms * kUsPerMs, &origin);
    Execute(tables,
            psprintf("UPDATE %s SET raised_tick = greatest(raised_tick, $1) RETURNING raised_tick", tables.origin_name),
            Int8(tick));
    // A trigger may have swallowed or changed it.
    if (Rows() != 1 || Int8Result(0, 1) < tick) ReportForeignTable("snowflake_origin");
  });
}

bool ProtocolSettled(Oid extension) {
  CheckCall("snowflake_settled");
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  bool ended = false;
  AsOwner(tables, [&] { ended = EndSettling(tables); });
  return ended;
}

void ProtocolMakeOrigin(Oid extension) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] {
    if (!ReadOrigin(tables).found) WriteOrigin(tables, NextLeaseId(tables, 0));
  });
}

void ProtocolKeepWatermark(Oid extension, int32_t worker, Tick last_tick) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] { Raise(tables, worker, last_tick); });
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
}

}  // namespace snowflake
