#include "pg/registry/protocol.h"

#include "pg/database_layout.h"
#include "pg/registry/calls.h"
#include "pg/registry/report.h"
#include "pg/registry/settling.h"
#include "pg/registry/tables.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

void CheckDuration(int64_t duration_us) {
  if (duration_us < kMinLeaseUs || duration_us > kMaxLeaseUs) ReportDuration(duration_us);
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

Tick WatermarkOf(const Tables &tables, int32_t worker) {
  Execute(tables, psprintf("SELECT last_tick FROM %s WHERE worker_id = $1", tables.watermark_name), Int4(worker));
  return Rows() > 0 ? Int8Result(0, 1) : kNoWatermark;
}

// One datacenter's ring. Places are counted from `anchor`.
struct Ring {
  int64_t base;  // its first worker id
  int64_t size;
  int64_t anchor;

  int32_t WorkerAt(int64_t place) const { return static_cast<int32_t>(base + (anchor + place) % size); }
};

// A lease whose window is over stays until its worker id is needed, and does not count.
void CheckLeasesOfRole(const Tables &tables, Tick over) {
  if (settings.max_leases_per_role == 0) return;
  Execute(tables, psprintf("SELECT count(*) FROM %s WHERE role = $1 AND window_end > $2", tables.registry_name),
          SessionRole(), Int8(over));
  if (Int8Result(0, 1) >= settings.max_leases_per_role) ReportLeasesOfRole(Int8Result(0, 1));
}

// What stands in the way is read and offered; the places in between were never used, or long ago.
void Offer(const Tables &tables, const Ring &ring, Tick now, Choosing *choosing) {
  Execute(tables,
          psprintf("SELECT place, lease_id, window_end, last_tick FROM"
                   " (SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3 AS place, lease_id, window_end,"
                   " 0::bigint AS last_tick FROM %s WHERE worker_id >= $1 AND worker_id < $1 + $3"
                   " UNION ALL SELECT ((worker_id - $1 - $2) %% $3 + $3) %% $3, 0, 0, last_tick FROM %s"
                   " WHERE worker_id >= $1 AND worker_id < $1 + $3 AND last_tick >= $4) taken"
                   " ORDER BY place, lease_id DESC",
                   tables.registry_name, tables.watermark_name),
          Int8(ring.base), Int8(ring.anchor), Int8(ring.size), Int8(now));
  for (int64_t i = 0; i < Rows(); ++i)
    choosing->Offer({Int8Result(i, 1), Int8Result(i, 2), Int8Result(i, 3), Int8Result(i, 4)});
}

// False when the lease is no longer there, or its window was moved meanwhile.
bool Expire(const Tables &tables, int64_t lease_id, Tick over, int32_t worker) {
  Execute(
      tables,
      psprintf("DELETE FROM %s WHERE lease_id = $1 AND window_end <= $2 RETURNING window_end", tables.registry_name),
      Int8(lease_id), Int8(over));
  if (Rows() == 0) return false;
  Raise(tables, worker, WatermarkOfWindow(Int8Result(0, 1)));
  return true;
}

// A worker id and its watermark; how many are free besides. None is found when all that is free is held back and that was noticed
// just now; otherwise that is SF004.
bool Choose(const Tables &tables, const Layout &layout, const Ring &ring, const Settling &settling, Tick now,
            int32_t *worker, Tick *watermark, int64_t *workers_free) {
  const Tick over = OverBy(now, layout.TickAt(NowUnixUs()));
  CheckLeasesOfRole(tables, over);
  for (;;) {
    Choosing choosing(ring.size, settling, now, over);
    Offer(tables, ring, now, &choosing);
    const Choice choice = choosing.Finish();
    *workers_free = ring.size - choosing.live();
    *worker = ring.WorkerAt(choice.place);
    if (choice.what == Chosen::kNone) {
      if (settling.noticed) return false;
      if (settling.active && !settling.soft) ReportHeldBack(ring.size, settling.cut, settling.until_us);
      ReportAllLeased(ring.size, layout.UnixUsAt(choosing.first_end()));
    }
    // One that was being moved or given back was waited for.
    if (choice.what == Chosen::kExpired && !Expire(tables, choice.lease_id, over, *worker)) continue;
    if (choice.what == Chosen::kHeldBack && !settling.soft)
      ereport(LOG, (errmsg("snowflake registry: hands out worker id %d, which is held back until %s", *worker,
                           Time(settling.until_us)),
                    errdetail("All others are leased, and half of the time is over. If a lost commit had handed it"
                              " out, its node may still issue ids under it.")));
    *watermark = choice.what == Chosen::kLater ? choice.watermark : WatermarkOf(tables, *worker);
    return true;
  }
}

void CheckDatacenter(const Layout &layout, int32_t datacenter) {
  if (datacenter < 0 || datacenter >= layout.datacenter_count()) ReportDatacenter(datacenter, layout);
}

void Insert(const Tables &tables, const char *node, const Lease &lease) {
  Execute(tables,
          psprintf("INSERT INTO %s (lease_id, worker_id, node, token, acquired_at, renewed_at, window_start,"
                   " window_end, role) OVERRIDING SYSTEM VALUE"
                   " VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6, $7)"
                   " RETURNING worker_id::bigint, window_start, window_end",
                   tables.registry_name),
          Int8(lease.lease_id), Int4(lease.worker), TextValue(node), Of(UUIDOID, TokenDatum(lease.token)),
          Int8(lease.window_start), Int8(lease.window_end), SessionRole());
  // A trigger may have swallowed or changed the row, and a lease that is not in the registry is none.
  if (Rows() != 1 || Int8Result(0, 1) != lease.worker || Int8Result(0, 2) != lease.window_start ||
      Int8Result(0, 3) != lease.window_end)
    ReportForeignTable("snowflake_registry");
}

// The lease that an earlier request of the same node drew, whose answer was lost or late: it is moved as by an extend.
bool FindDrawn(const Tables &tables, const AcquireRequest &request, AcquireAnswer *answer) {
  Execute(tables,
          psprintf("UPDATE %s SET window_end = greatest(window_end, $3), renewed_at = clock_timestamp()"
                   " WHERE token = $1 AND role = $2 RETURNING lease_id, worker_id::bigint, window_start, window_end",
                   tables.registry_name),
          Of(UUIDOID, TokenDatum(request.token)), SessionRole(), Int8(EndForDrawn(answer->layout, request)));
  if (Rows() == 0) return false;
  answer->lease = {Int8Result(0, 1), request.token, static_cast<int32_t>(Int8Result(0, 2)), Int8Result(0, 3),
                   Int8Result(0, 4)};
  answer->workers_free = -1;
  return true;
}

// Inside AsOwner(), with the registry's lock held.
bool Draw(const Tables &tables, const AcquireRequest &request, AcquireAnswer *answer) {
  const Layout layout = answer->layout = EnsureLayout(tables);
  CheckDatacenter(layout, request.datacenter);
  const Tick now = FromEpoch(request.now);
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(now));

  Origin origin = ReadOrigin(tables);
  const Settling settling =
      Settle(tables, layout, request.datacenter, {now, request.duration_us, request.seen_lease_id}, &origin);
  answer->standing = StandingOf(origin);
  if (FindDrawn(tables, request, answer)) return true;

  Lease *lease = &answer->lease;
  lease->lease_id = NextLeaseId(tables, origin.last_lease_id);
  lease->token = request.token;
  const int64_t size = layout.workers_per_datacenter();
  const Ring ring = {request.datacenter * size, size, settling.active ? settling.anchor : lease->lease_id % size};
  Tick watermark = kNoWatermark;
  if (!Choose(tables, layout, ring, settling, now, &lease->worker, &watermark, &answer->workers_free)) return false;
  switch (GrantLease(layout, request, watermark, origin.raised_tick, lease)) {
    case Grant::kTooLate:
      return false;
    case Grant::kTimeUsedUp:
      ReportTimeUsedUp(layout, layout.UnixUsAt(lease->window_start));
    case Grant::kGranted:
      break;
  }
  Insert(tables, request.node, *lease);
  WriteOrigin(tables, lease->lease_id);
  return true;
}

void CheckHeld(const Layout &layout, Tick held_until, Tick known, Tick latest) {
  if (IsHeldTooFar(held_until, known, latest)) ReportTickAhead(layout.UnixUsAt(held_until), NowUnixUs());
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

Token NewToken() {
  Token token;
  if (!pg_strong_random(token.bytes, sizeof(token.bytes)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random token")));
  return token;
}

bool ProtocolAcquire(Oid extension, const AcquireRequest &request, AcquireAnswer *answer) {
  CheckCall("snowflake_lease_acquire");
  CheckDuration(request.duration_us);
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  bool drawn = false;
  AsOwner(tables, [&] { drawn = Draw(tables, request, answer); });
  return drawn;
}

bool ProtocolExtend(Oid extension, const ExtendRequest &request, ExtendAnswer *answer) {
  CheckCall("snowflake_lease_extend");
  CheckDuration(request.duration_us);
  const Tables tables = FindTables(extension);
  CommitDurably();
  // Against MarkClean(): what it does not wait for has to see its mark.
  LockRelationOid(tables.origin, RowExclusiveLock);
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Notice notice = {FromEpoch(request.now), request.duration_us, request.lease_id};
    const Tick held_until = HeldUntil(layout, request.held_until);
    const Origin origin = ReadOrigin(tables);
    answer->standing = StandingOf(origin);
    if (IsEvidence(origin, request.lease_id)) NoticeLoss(tables, layout, notice, Loss::kLease);
    NoticeMove(tables, layout, notice, origin);
    NoticeActivity(tables, origin);
    Execute(tables,
            psprintf("UPDATE %s r SET window_end = greatest(r.window_end, $3), renewed_at = clock_timestamp()"
                     " FROM (SELECT lease_id, window_end FROM %s) o"
                     " WHERE r.lease_id = $1 AND token = $2 AND role = $4 AND o.lease_id = $1"
                     " RETURNING r.window_end, o.window_end",
                     tables.registry_name, tables.registry_name),
            Int8(request.lease_id), Of(UUIDOID, TokenDatum(request.token)), Int8(EndForExtend(layout, request)),
            SessionRole());
    found = Rows() > 0;
    if (!found) return;
    answer->window_end = Int8Result(0, 1);
    CheckHeld(layout, held_until, Int8Result(0, 2), request.latest_end);
    if (held_until > Int8Result(0, 2)) NoticeLoss(tables, layout, {notice.now, notice.duration_us, 0}, Loss::kHeldEnd);
  });
  return found;
}

bool ProtocolRelease(Oid extension, const ReleaseRequest &request) {
  CheckCall("snowflake_lease_release");
  const Tables tables = FindTables(extension);
  // To lose a release is no worse than a crash, and a standby that is missing must not hang a shutdown.
  CommitLocally();
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Origin origin = ReadOrigin(tables);
    if (IsEvidence(origin, request.lease_id))
      NoticeLoss(tables, layout, NoticeOfOurs(layout, request.lease_id), Loss::kLease);
    NoticeMove(tables, layout, NoticeOfOurs(layout), origin);
    Execute(tables,
            psprintf("DELETE FROM %s WHERE lease_id = $1 AND token = $2 AND role = $3"
                     " RETURNING worker_id::bigint, window_start, window_end",
                     tables.registry_name),
            Int8(request.lease_id), Of(UUIDOID, TokenDatum(request.token)), SessionRole());
    found = Rows() > 0;
    if (!found) return;
    const int32_t worker = static_cast<int32_t>(Int8Result(0, 1));
    const Tick window_start = Int8Result(0, 2);
    const Tick window_end = Int8Result(0, 3);
    CheckHeld(layout, HeldUntil(layout, request.held_until), window_end, request.latest_end);
    Tick watermark = kNoWatermark;
    if (!WatermarkOfRelease(layout, request, window_start, window_end, &watermark)) ReportLastTick(request.last_tick);
    Raise(tables, worker, watermark);
  });
  return found;
}

void ProtocolMarkClean(Oid extension) {
  CheckCall("snowflake_lease_release");
  const Tables tables = FindTables(extension);
  CommitLocally();
  // Waits for acquires and extends under way, and holds up those that come.
  LockRelationOid(tables.origin, ShareRowExclusiveLock);
  AsOwner(tables, [&] { MarkClean(tables); });
}

bool ProtocolEvict(Oid extension, int32_t worker, TimestampTz dead_since, Tick last_tick) {
  CheckCall("snowflake_evict");
  // Who means to drop the extension calls this in the same transaction: it has what a drop locks before anything that calls wait for.
  LockDatabaseObject(ExtensionRelationId, extension, 0, AccessExclusiveLock);
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  bool found = false;
  AsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    NoticeMove(tables, layout, NoticeOfOurs(layout), ReadOrigin(tables));
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
    Raise(tables, worker, WatermarkOfEvicted(window_start, window_end, last_tick));
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
    const Notice notice = NoticeOfOurs(layout);
    Origin origin = ReadOrigin(tables);
    EnsureOrigin(tables, layout, notice, &origin);
    BeginSettling(tables, layout, notice, Loss::kWord, reason, &origin);
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
    EnsureOrigin(tables, layout, NoticeOfOurs(layout), &origin);
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
