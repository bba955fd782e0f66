#include "pg/registry/calls.h"

#include "pg/registry/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

const char *EvidenceOf(Loss loss) {
  switch (loss) {
    case Loss::kLease:
      return "a node holds a lease that it does not know";
    case Loss::kRange:
      return "a node has had numbers of a segment that it never handed out";
    default:
      return "a node holds a window that is longer than it knows";
  }
}

// A function's own SET clause would end before the commit that it is meant for.
void SetSynchronousCommit(const char *value) {
  set_config_option("synchronous_commit", value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

}  // namespace

void CheckCall(const char *function) {
  // Nodes reach a server that pg_upgrade started if the user gave it the usual socket. The new server's tables are empty
  // still, and whatever is written to them, or to the old one's from then on, is lost: a lease would be no lease.
  if (IsBinaryUpgrade) ReportBinaryUpgrade(function);
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation(function);
}

void CommitDurably() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) SetSynchronousCommit("on");
}

void CommitLocally() { SetSynchronousCommit("local"); }

Value SessionRole() { return Of(OIDOID, ObjectIdGetDatum(GetSessionUserId())); }

Standing StandingOf(const Origin &origin) {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), origin.raised_tick};
}

void NoticeLoss(const Tables &tables, const Layout &layout, const Notice &notice, Loss loss) {
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  Origin origin = ReadOrigin(tables);
  if (!IsNews(origin, HereNow(), notice.named)) return;
  BeginSettling(tables, layout, notice, loss, EvidenceOf(loss), &origin);
}

void NoticeMove(const Tables &tables, const Layout &layout, const Notice &notice, Origin origin) {
  if (IsInPlace(origin, HereNow())) return;
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);
  origin = ReadOrigin(tables);
  Settle(tables, layout, 0, {notice.now, notice.duration_us, 0}, &origin);
}

void NoticeActivity(const Tables &tables, const Origin &origin) {
  if (origin.clean_us == 0) return;
  LockRelationOid(tables.origin, ShareUpdateExclusiveLock);  // before its row, as who settles
  UnmarkClean(tables);
}

Notice NoticeOfOurs(const Layout &layout, int64_t named) {
  return {layout.TickAt(NowUnixUs()), settings.lease_duration_ms * kUsPerMs, named};
}

}  // namespace snowflake
