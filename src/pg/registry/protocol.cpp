// The calls of the protocol, and the SQL by which they read and write leases and watermarks.
#include "pg/registry/protocol.h"

#include "pg/database_layout.h"
#include "pg/registry/calls.h"
#include "pg/registry/secrets.h"
#include "pg/registry/settling.h"
#include "pg/registry/tables.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// Whose leases are adopted: an extend has no name.
constexpr const char *kUnknownNode = "unknown";

void CheckDuration(int64_t duration_us) {
  if (duration_us < kMinLeaseUs || duration_us > kMaxLeaseUs)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lease duration out of range"),
                    errdetail("%.6f s is not between 1 s and 86400 s.", Seconds(duration_us)),
                    errhint("Use the value of snowflake.lease_duration.")));
}

bool HasLayout(const Tables &tables) {
  Execute(tables, "SELECT 1 FROM snowflake_layout");
  return Rows() > 0;
}

// If there is none, nobody else stores one before this transaction has ended.
bool FindLayout(const Tables &tables) {
  if (HasLayout(tables)) return true;
  LockInserts(tables.extension, tables.layout);
  return HasLayout(tables);
}

void WriteLayout(const Tables &tables, const Layout &layout, bool replace) {
  Execute(
      tables,
      replace ? "UPDATE snowflake_layout SET definition = $1" : "INSERT INTO snowflake_layout (definition) VALUES ($1)",
      TextValue(TextOfLayout(layout)));
  CheckWritten("snowflake_layout");
  CommandCounterIncrement();
}

// The first lease stores the default layout.
Layout EnsureLayout(const Tables &tables) {
  if (!FindLayout(tables)) WriteLayout(tables, kDefaultLayout, false);
  const Layout layout = ReadLayout(tables.layout);
  CheckIssuable(layout);
  return layout;
}

// To be called once for each lease that ends.
void RaiseWatermark(const Tables &tables, int32_t worker, Tick last_tick) {
  Execute(tables,
          "INSERT INTO snowflake_watermark AS w (worker_id, last_tick, leases_ended) VALUES ($1, $2, 1)"
          " ON CONFLICT (worker_id) DO UPDATE SET last_tick = greatest(w.last_tick, excluded.last_tick),"
          " leases_ended = w.leases_ended + 1 RETURNING last_tick",
          Int4(worker), Int8(last_tick));
  CheckWritten("snowflake_watermark", last_tick);
}

Tick WatermarkOf(const Tables &tables, int32_t worker) {
  Execute(tables, "SELECT last_tick FROM snowflake_watermark WHERE worker_id = $1", Int4(worker));
  return Rows() > 0 ? Int8Result(0, 1) : kNoWatermark;
}

// One datacenter's ring: slots are counted from its first worker id.
struct Ring {
  int64_t base;
  int64_t size;
};

// Reads and offers what is taken; the slots in between were never used, or long ago.
void OfferTaken(const Tables &tables, const Ring &ring, Tick now, Tick over, const Bitmapset *busy,
                Choosing *choosing) {
  Execute(tables,
          "SELECT slot, lease_id, window_end, last_tick FROM"
          " (SELECT worker_id - $1 AS slot, lease_id, window_end, 0::bigint AS last_tick FROM snowflake_registry"
          " WHERE worker_id >= $1 AND worker_id < $1 + $2"
          " UNION ALL SELECT worker_id - $1, 0, 0, last_tick FROM snowflake_watermark"
          " WHERE worker_id >= $1 AND worker_id < $1 + $2 AND last_tick >= $3) taken"
          " ORDER BY slot, lease_id DESC",
          Int8(ring.base), Int8(ring.size), Int8(now));
  for (int64_t i = 0; i < Rows(); ++i) {
    const int64_t slot = Int8Result(i, 1);
    const bool is_busy = bms_is_member(static_cast<int>(slot), busy);
    choosing->Offer({slot, Int8Result(i, 2), is_busy ? over + 1 : Int8Result(i, 3), Int8Result(i, 4)});
  }
}

// False if the lease is gone, its window was moved meanwhile, or a call has locked it. Whoever
// holds the registry's lock does not wait for one that may take its time.
bool Expire(const Tables &tables, int64_t lease_id, Tick over, int32_t worker) {
  Execute(tables,
          "SELECT window_end FROM snowflake_registry WHERE lease_id = $1 AND window_end <= $2"
          " FOR UPDATE SKIP LOCKED",
          Int8(lease_id), Int8(over));
  if (Rows() == 0) return false;
  const Tick window_end = Int8Result(0, 1);
  Execute(tables, "DELETE FROM snowflake_registry WHERE lease_id = $1", Int8(lease_id));
  CheckWritten("snowflake_registry");
  RaiseWatermark(tables, worker, WatermarkOfWindow(window_end));
  return true;
}

// The leases of the session's role, and which of them ends first.
struct RoleLeases {
  int64_t count;
  int64_t lease_id;
  int32_t worker;
  Tick window_end;
};

RoleLeases LeasesOfRole(const Tables &tables) {
  Execute(tables,
          "SELECT count(*) OVER (), lease_id, worker_id::bigint, window_end FROM snowflake_registry WHERE role = $1"
          " ORDER BY window_end, lease_id LIMIT 1",
          SessionRole());
  if (Rows() == 0) return {};
  return {Int8Result(0, 1), Int8Result(0, 2), static_cast<int32_t>(Int8Result(0, 3)), Int8Result(0, 4)};
}

[[noreturn]] void ReportLimit(const Layout &layout, const RoleLeases &held, const Settling &settling) {
  const char *role = GetUserNameFromId(GetSessionUserId(), true);
  if (settling.active)
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many leases for role \"%s\"", role),
                    errdetail("It has %lld; snowflake.max_leases_per_role is %d. The registry settles until %s, and no "
                              "lease expires before.",
                              Long(held.count), settings.max_leases_per_role, Time(settling.until_us)),
                    errhint("If nothing was lost, call snowflake_settled() in the registry's database.")));
  ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many leases for role \"%s\"", role),
                  errdetail("It has %lld; snowflake.max_leases_per_role is %d. The first of these leases ends at %s "
                            "unless it is extended.",
                            Long(held.count), settings.max_leases_per_role, Time(layout.UnixUsAt(held.window_end))),
                  errhint("The lease of a node that crashed counts until its window ends. If the node is certainly "
                          "dead, free its worker id with snowflake_evict(worker_id, dead_since) in the registry's "
                          "database.")));
}

// Leaves room for another lease of the session's role. False as Choose().
bool MakeRoomForLease(const Tables &tables, const Layout &layout, const Settling &settling, Tick over) {
  while (settings.max_leases_per_role > 0) {
    const RoleLeases held = LeasesOfRole(tables);
    if (!IsAtLimit(held.count, settings.max_leases_per_role)) break;
    if (settling.noticed) return false;
    if (!MakesRoom(held.window_end, over, settling) || !Expire(tables, held.lease_id, over, held.worker))
      ReportLimit(layout, held, settling);
  }
  return true;
}

[[noreturn]] void ReportNoneFree(const Layout &layout, const Ring &ring, const Choosing &choosing,
                                 const Settling &settling) {
  if (settling.active)
    ereport(ERROR,
            (errcode(kAllLeased), errmsg("every worker id is leased or held back"),
             errdetail("Of %lld worker ids, %lld are leased, and %lld are held back until %s, because commits of the"
                       " registry may have been lost. They can be acquired from %s on; leases expire again when the"
                       " registry has settled, at %s.",
                       Long(ring.size), Long(choosing.leased()), Long(ring.size - choosing.leased()),
                       Time(settling.half_us), Time(settling.half_us), Time(settling.until_us)),
             err_generic_string(PG_DIAG_TABLE_NAME, "snowflake_origin"),
             err_generic_string(PG_DIAG_COLUMN_NAME, kHeldBackColumn),
             errhint("If nothing was lost, call snowflake_settled() in the registry's database.")));
  ereport(ERROR,
          (errcode(kAllLeased), errmsg("every worker id is leased"),
           errdetail("All %lld worker ids are leased; the first of these leases ends at %s unless it is extended.",
                     Long(ring.size), Time(layout.UnixUsAt(choosing.first_end()))),
           errhint("Free the worker id of a node that is certainly dead with snowflake_evict(worker_id, dead_since) in "
                   "the registry's database; deleting its row does not free it. A layout with more worker bits holds "
                   "more nodes.")));
}

// Chooses the lease's worker id, and reads its watermark. False if none is free, and what was
// recorded just now is to be committed; otherwise that is an error.
bool Choose(const Tables &tables, const Ring &ring, const Settling &settling, Tick now, AcquireAnswer *answer,
            Tick *watermark) {
  const Layout &layout = answer->layout;
  const Tick over = OverBy(now, layout.TickAt(NowUnixUs()));
  if (!MakeRoomForLease(tables, layout, settling, over)) return false;
  Bitmapset *busy = nullptr;
  for (;;) {
    Choosing choosing(ring.size, answer->lease.lease_id, settling, now, over);
    OfferTaken(tables, ring, now, over, busy, &choosing);
    const Choice choice = choosing.Finish();
    answer->workers_free = ring.size - choosing.live();
    const int32_t worker = answer->lease.worker = static_cast<int32_t>(ring.base + choice.slot);
    if (choice.what == Chosen::kNone) {
      if (settling.noticed) return false;
      ReportNoneFree(layout, ring, choosing, settling);
    }
    // It is being extended or released.
    if (choice.what == Chosen::kExpired && !Expire(tables, choice.lease_id, over, worker)) {
      busy = bms_add_member(busy, static_cast<int>(choice.slot));
      continue;
    }
    if (choice.what == Chosen::kHeldBack)
      ereport(LOG, (errmsg("snowflake registry: assigned worker id %d, which was held back until %s", worker,
                           Time(settling.until_us)),
                    errdetail("The upper third of the worker ids is used up, and half of the time is over. If a lost "
                              "commit assigned this worker id, its node may still issue ids under it.")));
    *watermark = choice.what == Chosen::kLater ? choice.watermark : WatermarkOf(tables, worker);
    return true;
  }
}

void CheckDatacenter(const Layout &layout, int32_t datacenter) {
  if (datacenter < 0 || datacenter >= layout.datacenter_count())
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("datacenter %d does not fit the layout", datacenter),
             errdetail("With %d datacenter bits, it must be between 0 and %d.", layout.datacenter_bits,
                       layout.datacenter_count() - 1),
             errhint("Set snowflake.datacenter within these limits.")));
}

void Insert(const Tables &tables, const char *node, const Value &role, const SecretHash &secret_hash,
            const Lease &lease, Origin *origin) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  Execute(tables,
          "INSERT INTO snowflake_registry (lease_id, worker_id, node, secret_hash, acquired_at, extended_at,"
          " window_start, window_end, role) OVERRIDING SYSTEM VALUE"
          " VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp(), $5, $6, $7)",
          Int8(lease.lease_id), Int4(lease.worker), TextValue(node), HashValue(secret_hash), Int8(lease.window_start),
          Int8(lease.window_end), role);
  CheckWritten("snowflake_registry");
  origin->last_lease_id = Max(origin->last_lease_id, lease.lease_id);
  ++origin->leases_begun;
  origin->clean_us = 0;
  WriteOrigin(tables, *origin);
}

// Extends the lease that the node acquired by an earlier request, whose answer was lost or late.
bool FindAcquired(const Tables &tables, const AcquireRequest &request, AcquireAnswer *answer) {
  Execute(tables, "SELECT lease_id FROM snowflake_registry WHERE secret_hash = $1 AND role = $2 FOR UPDATE NOWAIT",
          HashValue(request.secret_hash), SessionRole());
  if (Rows() == 0) return false;
  Execute(tables,
          "UPDATE snowflake_registry SET window_end = greatest(window_end, $2), extended_at = clock_timestamp()"
          " WHERE lease_id = $1 RETURNING lease_id, worker_id::bigint, window_start, window_end",
          Int8(Int8Result(0, 1)), Int8(EndForAcquired(answer->layout, request)));
  CheckWritten("snowflake_registry");
  answer->lease = {Int8Result(0, 1), {}, static_cast<int32_t>(Int8Result(0, 2)), Int8Result(0, 3), Int8Result(0, 4)};
  answer->workers_free = -1;
  return true;
}

// Raises an error if ids may have been issued under a worker id, or may be while it settles.
void CheckNeverUsed(const Tables &tables, const Origin &origin, int32_t worker) {
  const Settling settling = SettlingOf(origin, HereNow(), false);
  if (settling.active)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("no worker id can be set aside while the registry settles"),
             errdetail("It settles until %s. A lost commit may have assigned the worker id.", Time(settling.until_us)),
             errhint("Try again later. If nothing was lost, call snowflake_settled().")));
  Execute(tables, "SELECT node FROM snowflake_registry WHERE worker_id = $1", Int4(worker));
  if (Rows() > 0)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("worker id %d is leased", worker),
                    errdetail("It is leased to \"%s\".", TextDatumGetCString(Result(0, 1, TEXTOID))),
                    errhint("Choose a worker id that is in neither snowflake_registry nor snowflake_watermark.")));
  if (WatermarkOf(tables, worker) != kNoWatermark)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("worker id %d was leased before", worker),
                    errdetail("Ids up to its watermark may have been issued."),
                    errhint("Choose a worker id that is in neither snowflake_registry nor snowflake_watermark.")));
}

bool AcquireLocked(const Tables &tables, By by, const AcquireRequest &request, AcquireAnswer *answer) {
  Assert(IsLocked(tables.origin, ShareUpdateExclusiveLock));  // Requires: the registry's lock.
  const Layout layout = answer->layout = EnsureLayout(tables);
  CheckDatacenter(layout, request.datacenter);
  Origin origin = ReadOrigin(tables);
  CheckClock(by, layout, origin, request.now, request.leapt);
  const Tick now = FromEpoch(request.now);
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, layout.UnixUsAt(now));

  const bool noticed = DetectLossLocked(tables, layout, {request.duration_us, request.seen_lease_id}, &origin);
  answer->standing = StandingOf(origin);
  if (FindAcquired(tables, request, answer)) return true;

  Lease *lease = &answer->lease;
  lease->lease_id = NextLeaseId(tables, origin.last_lease_id);
  const int64_t size = layout.workers_per_datacenter();
  const Settling settling = SettlingOf(origin, HereNow(), noticed);
  Tick watermark = kNoWatermark;
  if (!Choose(tables, {request.datacenter * size, size}, settling, now, answer, &watermark)) return false;
  switch (AssignWindow(layout, request, watermark, FloorOf(layout, origin), lease)) {
    case Assignment::kTooLate: return false;
    case Assignment::kTimeUsedUp: ReportTimeUsedUp(layout, layout.UnixUsAt(lease->window_start));
    case Assignment::kAssigned: break;
  }
  Insert(tables, request.node, SessionRole(), request.secret_hash, *lease, &origin);
  return true;
}

void CheckHeld(const Layout &layout, By by, const Origin &origin, Tick held_until, Tick known) {
  if (by == By::kSql && IsHeldTooFar(held_until, known, LatestEnd(layout, origin)))
    ReportTickAhead(layout.UnixUsAt(held_until), LatestNowUs(origin));
}

// To be called before the node's lease is written to. Whoever has the registry's lock waits for no
// lease's row: other sessions of its role could keep it waiting, and the lock with it. Error:
// 55P03.
void LockLease(const Tables &tables, int64_t lease_id, const SecretHash &secret_hash) {
  if (!IsLocked(tables.origin, ShareUpdateExclusiveLock)) return;
  Execute(tables,
          "SELECT 1 FROM snowflake_registry WHERE lease_id = $1 AND secret_hash = $2 AND role = $3 FOR UPDATE NOWAIT",
          Int8(lease_id), HashValue(secret_hash), SessionRole());
}

// Moves the end of a lease's window, and passes on when that was done before. False if the lease is
// gone, or its window ends before `least`.
bool MoveEnd(const Tables &tables, const ExtendRequest &request, Tick end, Tick least, ExtendAnswer *answer,
             int64_t *before_us) {
  LockLease(tables, request.lease_id, request.secret_hash);
  Execute(tables,
          "UPDATE snowflake_registry r SET window_end = greatest(r.window_end, $3), extended_at = clock_timestamp()"
          " FROM (SELECT lease_id, extended_at FROM snowflake_registry) o"
          " WHERE r.lease_id = $1 AND secret_hash = $2 AND role = $4 AND window_end >= $5 AND o.lease_id = $1"
          " RETURNING r.window_end, o.extended_at",
          Int8(request.lease_id), HashValue(request.secret_hash), Int8(end), SessionRole(), Int8(least));
  if (Rows() == 0) return false;
  answer->window_end = Int8Result(0, 1);
  *before_us = TimeResult(0, 2);
  return true;
}

// A clone that has its original's name and role: both have a lease and extend it. After a node has
// acquired another lease, it extends the earlier one at most once more, if a request was late.
// Logged once an hour, by the extend that is the first in it of the last lease but one: to look at
// each extend would make it dearer by a third.
void NoticeNamesake(const Tables &tables, const ExtendRequest &request, int64_t before_us) {
  constexpr int64_t kHourUs = int64_t{60 * 60} * 1000 * kUsPerMs;
  if (before_us / kHourUs == NowUnixUs() / kHourUs) return;
  Execute(tables,
          "SELECT r.node, r.worker_id::bigint, o.worker_id::bigint FROM snowflake_registry r, snowflake_registry o"
          " WHERE r.lease_id = $1 AND r.node <> $2 AND o.node = r.node AND o.role = r.role AND o.lease_id > r.lease_id"
          " AND o.acquired_at < $3 AND o.extended_at > o.acquired_at + interval '1 s' AND o.window_end > $4",
          Int8(request.lease_id), TextValue(kUnknownNode), TimeValue(before_us), Int8(request.now));
  if (Rows() != 1) return;
  ereport(LOG,
          (errmsg("snowflake registry: two nodes have the name \"%s\" and the role \"%s\"",
                  TextDatumGetCString(Result(0, 1, TEXTOID)), GetUserNameFromId(GetSessionUserId(), true)),
           errdetail("Both extend their leases, of worker ids %lld and %lld.", Long(Int8Result(0, 2)),
                     Long(Int8Result(0, 3))),
           errhint("If one of them is a clone that should not run, stop it. Otherwise give it a snowflake.node_name and"
                   " a role of its own."),
           errhidestmt(true)));
}

// The clock of a node that extends a lease. Error: SF002.
void CheckExtender(const Tables &tables, By by, const Layout &layout, const Origin &origin,
                   const ExtendRequest &request) {
  if (IsAccepted(by, layout, origin, request.now, request.leapt)) return;
  Execute(tables,
          "SELECT window_start, window_end FROM snowflake_registry"
          " WHERE lease_id = $1 AND secret_hash = $2 AND role = $3",
          Int8(request.lease_id), HashValue(request.secret_hash), SessionRole());
  if (Rows() > 0 && !request.leapt &&
      IsAcceptedHolder(layout, origin, request.now, Int8Result(0, 1), Int8Result(0, 2), request.duration_us))
    return;
  CheckClock(by, layout, origin, request.now, request.leapt);
}

// Once a minute, because a role can report any number of leases that it never had.
void LogAdopted(const Tables &tables, const ExtendRequest &request) {
  Execute(tables,
          "SELECT count(*), count(*) FILTER (WHERE acquired_at >= date_trunc('minute', clock_timestamp()))"
          " FROM snowflake_registry WHERE node = $1",
          TextValue(kUnknownNode));
  if (Int8Result(0, 2) > 1) return;
  ereport(LOG,
          (errmsg("snowflake registry: restored lease %lld of worker id %d", Long(request.lease_id), request.worker),
           errdetail("Its node holds it, and the registry had lost it. Of the registry's leases, %lld were restored;"
                     " their nodes are shown as \"%s\".",
                     Long(Int8Result(0, 1)), kUnknownNode),
           errhidestmt(true)));
}

// Stores a lease that its node holds and whose row the registry lost. False if the lease is gone.
bool AdoptLease(const Tables &tables, By by, const Layout &layout, const ExtendRequest &request, ExtendAnswer *answer) {
  LockRegistry(tables);
  Origin origin = ReadOrigin(tables);
  if (!MayAdopt(layout, request, origin, WatermarkOf(tables, request.worker))) return false;
  Execute(tables, "SELECT 1 FROM snowflake_registry WHERE worker_id = $1 OR lease_id = $2 OR secret_hash = $3",
          Int4(request.worker), Int8(request.lease_id), HashValue(request.secret_hash));
  if (Rows() > 0) return false;
  const Tick held_until = HeldUntil(layout, request.held_until);
  CheckHeld(layout, by, origin, held_until, kNoWatermark);
  // Nothing expires for it. While the registry settles, the node may use up the window that it has:
  // the leases that count may be earlier ones of the same nodes.
  if (IsAtLimit(LeasesOfRole(tables).count, settings.max_leases_per_role)) {
    answer->window_end = held_until;
    return SettlingOf(origin, HereNow(), false).active;
  }
  DetectLossLocked(tables, layout, {}, &origin);
  answer->window_end = EndForExtend(layout, request);
  Insert(tables, kUnknownNode, SessionRole(), request.secret_hash,
         {request.lease_id, {}, request.worker, request.window_start, answer->window_end}, &origin);
  NoticeLoss(tables, Loss::kLease);
  LogAdopted(tables, request);
  return true;
}

}  // namespace

bool ProtocolAcquire(Oid extension, By by, const AcquireRequest &request, AcquireAnswer *answer) {
  CheckDuration(request.duration_us);
  const Tables tables = BeginCall("snowflake_lease_acquire", extension);
  return ResultAsOwner(tables, [&] { return AcquireLocked(tables, by, request, answer); });
}

bool ProtocolExtend(Oid extension, By by, const ExtendRequest &request, ExtendAnswer *answer) {
  CheckDuration(request.duration_us);
  // MarkClean() waits for this lock, and a call that it does not wait for sees its mark.
  const Tables tables = BeginCall("snowflake_lease_extend", extension, RowExclusiveLock);
  return ResultAsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Tick held_until = HeldUntil(layout, request.held_until);
    const Origin before = ReadOrigin(tables);
    CheckExtender(tables, by, layout, before, request);
    const bool same_system = before.system_identifier == HereNow().system_identifier;
    const Origin origin = DetectLoss(tables, layout, {request.duration_us, request.lease_id});
    NoticeActivity(tables, origin);
    answer->standing = StandingOf(origin);
    // A node whose clock is ahead gets no longer window by that.
    const Tick latest = by == By::kSql ? LatestEnd(layout, origin) : layout.max_tick() + 1;
    const Tick end = Min(EndForExtend(layout, request), latest);
    int64_t before_us = 0;
    if (MoveEnd(tables, request, end, held_until, answer, &before_us)) {
      NoticeNamesake(tables, request, before_us);
      return true;
    }
    // The lease is gone, or its node has a later end. The registry's lock comes before the row's.
    Execute(tables, "SELECT window_end FROM snowflake_registry WHERE lease_id = $1 AND secret_hash = $2 AND role = $3",
            Int8(request.lease_id), HashValue(request.secret_hash), SessionRole());
    if (Rows() == 0) return same_system && AdoptLease(tables, by, layout, request, answer);
    const Tick known = Int8Result(0, 1);
    CheckHeld(layout, by, origin, held_until, known);
    if (held_until > known) NoticeLoss(tables, Loss::kHeldEnd);
    return MoveEnd(tables, request, end, 0, answer, &before_us);
  });
}

int64_t ProtocolWorkersFree(Oid extension, const Layout &layout, int32_t datacenter) {
  const Tables tables = FindTables(extension);
  const int64_t ring = layout.workers_per_datacenter();
  const int64_t others = ResultAsOwner(tables, [&] {
    Execute(tables,
            "SELECT count(*) - 1 FROM snowflake_registry"
            " WHERE worker_id >= $1 AND worker_id < $2 AND window_end > $3",
            Int8(datacenter * ring), Int8((datacenter + 1) * ring), Int8(layout.TickAt(NowUnixUs())));
    return Int8Result(0, 1);
  });
  return ring - Max(others, int64_t{0});
}

bool ProtocolRelease(Oid extension, By by, const ReleaseRequest &request) {
  CheckCall("snowflake_lease_release");
  const Tables tables = FindTables(extension);
  // To lose a release is no worse than a crash, and a missing standby must not hang a shutdown.
  CommitLocally();
  return ResultAsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Origin origin = DetectLoss(tables, layout, {0, request.lease_id});
    const int64_t now_us = LatestNowUs(origin);
    // The watermark is what the node can have used up to now, whoever releases the lease.
    const Tick latest = by == By::kSql ? LastUsable(layout, now_us) : kNoWatermark;
    if (JudgesClocks(by) && request.last_tick > latest) ReportTickAhead(layout.UnixUsAt(request.last_tick), now_us);
    LockLease(tables, request.lease_id, request.secret.hash);
    Execute(tables,
            "DELETE FROM snowflake_registry WHERE lease_id = $1 AND secret_hash = $2 AND role = $3"
            " RETURNING worker_id::bigint, window_start, window_end",
            Int8(request.lease_id), HashValue(request.secret.hash), SessionRole());
    if (Rows() == 0) return false;
    const int32_t worker = static_cast<int32_t>(Int8Result(0, 1));
    const Tick window_start = Int8Result(0, 2);
    const Tick window_end = Int8Result(0, 3);
    CheckHeld(layout, by, origin, HeldUntil(layout, request.held_until), window_end);
    Tick watermark = kNoWatermark;
    if (!WatermarkOfRelease(layout, request, window_start, window_end, latest, &watermark))
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("last tick %lld is outside the lease", Long(request.last_tick)),
                      errdetail("It is neither in the lease's window nor the tick before it."),
                      errhint("Report the last tick that was used, or the tick before the window if none was.")));
    RaiseWatermark(tables, worker, watermark);
    return true;
  });
}

void ProtocolMarkClean(Oid extension) {
  CheckCall("snowflake_lease_release");
  const Tables tables = FindTables(extension);
  CommitLocally();
  // Waits for acquires and extends under way, and blocks later ones.
  LockRegistry(tables, ShareRowExclusiveLock);
  AsOwner(tables, [&] { MarkClean(tables, ReadLayout(tables.layout)); });
}

bool ProtocolEvict(Oid extension, int32_t worker, TimestampTz dead_since) {
  // The transaction may go on to drop the extension, so no other call may be under way or begin.
  const Tables tables = BeginOperatorsCall("snowflake_evict", extension, ExclusiveLock);
  return ResultAsOwner(tables, [&] {
    const Layout layout = ReadLayout(tables.layout);
    const Origin origin = DetectLoss(tables, layout, {});
    Execute(tables,
            "DELETE FROM snowflake_registry WHERE worker_id = $1 RETURNING window_start, window_end, extended_at",
            Int4(worker));
    if (Rows() == 0) return false;
    const Tick window_start = Int8Result(0, 1);
    const Tick window_end = Int8Result(0, 2);
    const TimestampTz extended_at = DatumGetTimestampTz(Result(0, 3, TIMESTAMPTZOID));
    if (dead_since < extended_at) {
      const char *since = pstrdup(timestamptz_to_str(dead_since));
      ereport(
          ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("the node of worker id %d was alive after \"%s\"", worker, since),
           errdetail(
               "It acquired or extended its lease at %s by this server's clock, so it cannot have been dead since %s.",
               timestamptz_to_str(extended_at), since),
           errhint("Make sure that the node is dead, and give the time when it died, or now().")));
    }
    // Its clock may have been ahead by as much as it bridges, which is assumed to be the same here.
    const int64_t bridge_us = settings.max_bridge_ms * kUsPerMs;
    const Tick last_tick = LastUsable(layout, UnixUsFromTimestamp(dead_since) + bridge_us);
    // No node had a worker id that was set aside.
    const Tick latest_end =
        IsWholeTime(layout, window_start, window_end)
            ? window_end
            : LastUsable(layout, UnixUsFromTimestamp(extended_at)) + layout.TicksIn(origin.longest_us);
    RaiseWatermark(tables, worker, WatermarkOfEvicted(window_start, window_end, last_tick, latest_end));
    return true;
  });
}

void ProtocolSetAside(Oid extension, int32_t worker) {
  const Tables tables = BeginOperatorsCall("snowflake_set_aside", extension);
  AsOwner(tables, [&] {
    const Layout layout = EnsureLayout(tables);
    Origin origin = ReadOrigin(tables);
    DetectLossLocked(tables, layout, {}, &origin);
    if (worker < 0 || worker >= layout.worker_count())
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("worker id %d does not fit the layout", worker),
                      errdetail("It must be between 0 and %lld.", Long(layout.worker_count() - 1)),
                      errhint("Choose a worker id within these limits.")));
    CheckNeverUsed(tables, origin, worker);
    const int64_t lease_id = NextLeaseId(tables, origin.last_lease_id);
    // No role has this OID, so the lease counts for no role, and nobody can extend or release it.
    Insert(tables, "set aside", Of(OIDOID, ObjectIdGetDatum(InvalidOid)), NewSecret().hash,
           WholeTime(layout, lease_id, worker), &origin);
  });
}

void ProtocolSettle(Oid extension, const char *reason) {
  const Tables tables = BeginOperatorsCall("snowflake_settle", extension);
  AsOwner(tables, [&] { BeginSettling(tables, ReadLayout(tables.layout), reason); });
}

void ProtocolRaise(Oid extension, Tick tick) {
  const Tables tables = BeginOperatorsCall("snowflake_raise", extension);
  AsOwner(tables, [&] {
    DetectLoss(tables, ReadLayout(tables.layout), {});
    Execute(tables, "UPDATE snowflake_origin SET raised_tick = greatest(raised_tick, $1) RETURNING raised_tick",
            Int8(tick));
    CheckWritten("snowflake_origin", tick);
  });
}

bool ProtocolSettled(Oid extension) {
  const Tables tables = BeginOperatorsCall("snowflake_settled", extension);
  return ResultAsOwner(tables, [&] { return EndSettling(tables, ReadLayout(tables.layout)); });
}

void ProtocolMakeOrigin(Oid extension) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] { MakeOrigin(tables); });
}

void ProtocolKeepWatermark(Oid extension, int32_t worker, Tick last_tick) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] { RaiseWatermark(tables, worker, last_tick); });
}

void ProtocolKeepLayout(Oid extension) {
  const Tables tables = FindTables(extension);
  AsOwner(tables, [&] { EnsureLayout(tables); });
}

void ProtocolSetLayout(Oid extension, const Layout &layout) {
  CheckCall("snowflake_set_layout");
  const Tables tables = FindTables(extension);
  // Before the row, as an acquire does: otherwise the two could wait for each other.
  LockRegistry(tables);
  AsOwner(tables, [&] {
    const bool there = FindLayout(tables);
    Layout stored;
    if (there && ReadLayoutQuietly(tables.layout, &stored) && stored == layout) return;
    WriteLayout(tables, layout, there);
  });
}

void CheckLayoutMayChange(Oid extension) {
  const Tables tables = FindTables(extension);
  // Against an acquire that is under way.
  LockRegistry(tables);
  AsOwner(tables, [&] {
    Execute(tables,
            "SELECT 1 FROM (SELECT FROM snowflake_registry UNION ALL SELECT FROM snowflake_watermark) used LIMIT 1");
    if (Rows() > 0) ReportLayoutInUse();
  });
}

}  // namespace snowflake
