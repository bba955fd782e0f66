#include "pg/registry/report.h"

#include "pg/database_layout.h"
#include "pg/registry/protocol.h"
#include "pg/registry/segments.h"
#include "pg/settings.h"

namespace snowflake {

void ReportBinaryUpgrade(const char *function) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot execute %s() while pg_upgrade runs", function),
       errdetail("What the registry knows has yet to reach the new server, and must not change on the old one."),
       errhint("Nodes issue ids until their windows end, and ask again.")));
  pg_unreachable();
}

void ReportAllLeased(int64_t ring_size, int64_t next_free_us) {
  ereport(
      ERROR,
      (errcode(kAllLeased), errmsg("every worker id is leased"),
       errdetail("All %lld worker ids are leased; the first of these leases ends at %s unless it is extended.",
                 Long(ring_size), Time(next_free_us)),
       errhint(
           "Free that of a node which is certainly dead with snowflake_evict(worker_id, dead_since), in the registry's"
           " database; deleting its row does not. A layout with more worker bits holds more nodes.")));
  pg_unreachable();
}

void ReportHeldBack(int64_t ring_size, int64_t leased, const Settling &settling) {
  ereport(ERROR,
          (errcode(kAllLeased), errmsg("every worker id is leased or held back"),
           errdetail("Of %lld worker ids, %lld are leased, and %lld are held back until %s, because commits of the"
                     " registry may have been lost. They can be acquired from %s on; leases expire again when the"
                     " registry has settled, at %s.",
                     Long(ring_size), Long(leased), Long(ring_size - leased), Time(settling.half_us),
                     Time(settling.half_us), Time(settling.until_us)),
           err_generic_string(PG_DIAG_TABLE_NAME, "snowflake_origin"),
           err_generic_string(PG_DIAG_COLUMN_NAME, kHeldBackColumn),
           errhint("If nothing was lost, call snowflake_settled() in the registry's database.")));
  pg_unreachable();
}

void ReportLeasesOfRole(int64_t leases) {
  ereport(ERROR,
          (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
           errmsg("role \"%s\" may have no more leases", GetUserNameFromId(GetSessionUserId(), true)),
           errdetail("It has %lld; snowflake.max_leases_per_role is %d.", Long(leases), settings.max_leases_per_role),
           errhint("Leases of nodes that crashed count until their windows end.")));
  pg_unreachable();
}

void ReportForeignColumn() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("a table of the registry is not as the extension snowflake made it"),
                  errdetail("A column has another type than it had, or is null where it must not be."),
                  errhint("Undo the change, or drop the extension and create it again.")));
  pg_unreachable();
}

void ReportNotPermanent(const char *table) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("table \"%s\" is not permanent", table),
       errdetail("A crash would empty it, and worker ids that are leased would be handed out again."),
       errhint("ALTER TABLE ... SET LOGGED. If the server has crashed meanwhile, first stop all nodes, or wait until"
               " their windows have ended.")));
  pg_unreachable();
}

void ReportNoGuard(const char *table) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("table \"%s\" has lost a guard", table),
       errdetail("Its triggers snowflake_guard, snowflake_guard_after and snowflake_guard_table keep ids unique; one is"
                 " missing, changed, or does not fire always, or a column was renamed."),
       errhint("ALTER TABLE ... ENABLE ALWAYS TRIGGER ..., or drop the extension and create it again.")));
  pg_unreachable();
}

void ReportMovedTables() {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry's tables were moved meanwhile"),
           errdetail("The extension's schema was changed or renamed, or the extension was dropped."),
           errhint("Try again.")));
  pg_unreachable();
}

void ReportSeveralOwners() {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("the registry's tables have several owners"),
           errdetail("The protocol runs with the rights of the tables' owner, which must not reach another's tables."),
           errhint("Give snowflake_registry and the extension's other tables one owner.")));
  pg_unreachable();
}

void ReportDuration(int64_t duration_us) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("lease duration out of range"),
                  errdetail("%.6f s is not within 1 s and 86400 s.", Seconds(duration_us)),
                  errhint("Use the value of snowflake.lease_duration.")));
  pg_unreachable();
}

void ReportDatacenter(int32_t datacenter, const Layout &layout) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("datacenter %d does not fit the layout", datacenter),
                  errdetail("With %d datacenter bits it is within 0 and %d.", layout.datacenter_bits,
                            layout.datacenter_count() - 1),
                  errhint("Set snowflake.datacenter within these limits.")));
  pg_unreachable();
}

void ReportLastTick(int64_t last_tick) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("last tick %lld is outside the lease", Long(last_tick)),
           errdetail("It is neither in the lease's window nor the tick before it."),
           errhint("Report the last tick that was used, or the tick before the window when none was.")));
  pg_unreachable();
}

void ReportNodeName(int64_t bytes) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("node name is too long"),
                  errdetail("It has %lld bytes; %d are allowed.", Long(bytes), kMaxNodeName),
                  errhint("The name is for people: set a shorter snowflake.node_name.")));
  pg_unreachable();
}

void ReportTickAhead(int64_t tick_us, int64_t registry_us) {
  ereport(ERROR,
          (errcode(kClockBehind),
           errmsg("the tick lies %.3f s ahead of the registry's clock", Seconds(tick_us) - Seconds(registry_us)),
           errdetail("The tick is of %s, the registry's clock shows %s; snowflake.max_clock_skew is %d ms there.",
                     Time(tick_us), Time(registry_us), settings.max_clock_skew_ms),
           errhint("Set the clock right, on whichever side it is wrong.")));
  pg_unreachable();
}

void ReportDeadSince(TimestampTz dead_since) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("\"%s\" is no time since which a node can be dead", timestamptz_to_str(dead_since)),
                  errdetail("It must be finite and past: every id above it may be issued by another node."),
                  errhint("Make sure that the node is dead, and give the time when it died, or now().")));
  pg_unreachable();
}

void ReportAliveSince(int32_t worker, TimestampTz dead_since, TimestampTz renewed_at) {
  const char *since = pstrdup(timestamptz_to_str(dead_since));
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the node of worker id %d was alive after \"%s\"", worker, since),
                  errdetail("It drew or moved its window at %s, by this server's clock; it cannot be dead since %s.",
                            timestamptz_to_str(renewed_at), since),
                  errhint("Make sure that the node is dead, and give the time when it died, or now().")));
  pg_unreachable();
}

void ReportTransactionBlock(const char *function) {
  ereport(ERROR,
          (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION), errmsg("%s() cannot run inside a transaction block", function),
           errdetail("An open transaction would hold up the other nodes of the registry."),
           errhint("Call it in a statement of its own.")));
  pg_unreachable();
}

void ReportPrepare(const char *function) {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot PREPARE a transaction that has called %s()", function),
       errdetail("It would hold up the other nodes of the registry, even over restarts."), errhint("Commit it.")));
  pg_unreachable();
}

void ReportGuard(GuardFault fault) {
  const char *message = "";
  const char *detail = "Its node may issue ids until the end of its window.";
  const char *hint = "Free the worker id of a node that is certainly dead with snowflake_evict(worker_id, dead_since).";
  switch (fault) {
    case GuardFault::kLease:
      message = "cannot insert a lease of snowflake by hand";
      detail = "Only the registry's own functions know which worker id is free from which tick on.";
      hint = "Use snowflake_lease_acquire().";
      break;
    case GuardFault::kLeaseChanged:
      message = "cannot change the number or the worker id of a lease of snowflake";
      break;
    case GuardFault::kWindowFalls:
      message = "cannot shorten the window of a lease of snowflake";
      break;
    case GuardFault::kWatermarkGone:
      message = "cannot remove a watermark of snowflake";
      detail = "The worker id's next lease begins above it, so that no id is issued twice.";
      hint = "Drop the extension to remove the registry.";
      break;
    case GuardFault::kWatermarkFalls:
      message = "cannot lower a watermark of snowflake";
      detail = "The worker id's next lease begins above it, so that no id is issued twice.";
      hint = "If a clock was ahead, the worker id is of use again when all clocks have passed the watermark.";
      break;
    case GuardFault::kOrigin:
      message = "cannot write to snowflake_origin by hand";
      detail = "It tells whether commits of the registry were lost.";
      hint = "Use snowflake_settle(reason) or snowflake_settled().";
      break;
    case GuardFault::kSegmentGone:
      message = "cannot remove or rename a segment of snowflake by hand";
      detail = "Nodes hold ranges of it.";
      hint = "Use snowflake_drop_segment(name).";
      break;
    case GuardFault::kSegmentFalls:
      message = "cannot lower a segment of snowflake";
      detail = "Its numbers up to there were handed out.";
      hint = "Create another segment.";
      break;
    case GuardFault::kRange:
      message = "cannot write a range of snowflake by hand";
      detail = "Only the registry's own functions know which numbers are free.";
      hint = "Use snowflake_segment_nextval(name).";
      break;
    case GuardFault::kTruncate:
      message = "cannot truncate a table of snowflake's registry";
      detail = "Leases, watermarks and ranges keep ids and numbers unique.";
      break;
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message), errdetail("%s", detail),
                  errhint("%s", hint)));
  pg_unreachable();
}

void ReportClockSkew(int64_t node_us, int64_t registry_us) {
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("the node's clock is off by %.3f s", Seconds(node_us) - Seconds(registry_us)),
           errdetail("The node's clock shows %s, the registry's %s; snowflake.max_clock_skew is %d ms there.",
                     Time(node_us), Time(registry_us), settings.max_clock_skew_ms),
           errhint("Set the clock right, on whichever side it is wrong.")));
  pg_unreachable();
}

void ReportSegmentExists(const char *name) {
  ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("segment \"%s\" already exists", name)));
  pg_unreachable();
}

void ReportSegmentLimits(int64_t start, int64_t step, int64_t max_value, int64_t max_step) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("there can be no such segment"),
                  errdetail("start is %lld, max_value %lld, step %lld, max_step %lld.", Long(start), Long(max_value),
                            Long(step), Long(max_step)),
                  errhint("start must be at least 1 and at most max_value, step at least 1 and at most max_step.")));
  pg_unreachable();
}

void ReportSegmentEnd(const char *name, int64_t last_value, int64_t max_value) {
  ereport(ERROR,
          (errcode(kSegmentUsedUp), errmsg("segment \"%s\" has no numbers left to begin with", name),
           errdetail("One of that name was dropped when %lld had been handed out, and max_value is %lld.",
                     Long(last_value), Long(max_value)),
           errhint("Use another name or a higher max_value; nodes may hold numbers of the one that was dropped.")));
  pg_unreachable();
}

void ReportSegmentValue(const char *name, int64_t value, int64_t max_value) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("segment \"%s\" has no number %lld", name, Long(value)),
           errdetail("Its numbers are 1 to %lld.", Long(max_value))));
  pg_unreachable();
}

void ReportSegmentAhead(const char *name, int64_t highest, int64_t last_value) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("a node has numbers of segment \"%s\" which the registry never handed out", name),
           errdetail("The node has had %lld; the last that was handed out is %lld.", Long(highest), Long(last_value)),
           errhint("If the registry has lost commits, call snowflake_raise_segment() there with a number above all"
                   " that are in use.")));
  pg_unreachable();
}

void NoticeGoesOn(const char *segment, int64_t next) {
  ereport(NOTICE, (errmsg("segment \"%s\" goes on at %lld", segment, Long(next)),
                   errdetail("Nodes may hold numbers of the one of that name that was dropped.")));
}

void ReportRangeArrays() {
  ereport(
      ERROR,
      (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the arrays of snowflake_segment_ranges() do not match"),
       errdetail("They are one-dimensional, without nulls, of equal length and at most %d elements.", kMostRanges)));
  pg_unreachable();
}

}  // namespace snowflake
