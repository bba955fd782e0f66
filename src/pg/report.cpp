#include "pg/report.h"

#include "core/named_layouts.h"
#include "pg/database_layout.h"
#include "pg/registry/protocol.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// In the session's own time zone and style.
char *Time(int64_t unix_us) { return pstrdup(timestamptz_to_str(TimestampFromUnixUs(unix_us))); }

long long Long(int64_t value) { return static_cast<long long>(value); }

// Marks the error of a registry that holds worker ids back, over a connection, too.
constexpr const char *kHeldBackColumn = "settles_until";

bool IsClass(int sqlstate, char first, char second) {
  return ERRCODE_TO_CATEGORY(sqlstate) == MAKE_SQLSTATE(first, second, '0', '0', '0');
}

// The keeper's last try; it goes on trying.
const char *WhatToDoAbout(const RegistryError &error) {
  if (error.held_back) return "Where nothing was lost, call snowflake_settled() in the registry's database; or wait.";
  if (error.sqlstate == kAllLeased)
    return "See snowflake_workers in the registry's database; snowflake_evict() there frees the worker id of a node "
           "that"
           " is certainly dead.";
  if (error.sqlstate == kClockBehind) return "Set the clock right, on whichever side it is wrong.";
  if (error.sqlstate == kTimeUsedUp)
    return "Set the clock right if it is wrong; otherwise ids need a layout with a later epoch or a wider timestamp.";
  if (IsClass(error.sqlstate, '0', '8')) return "The keeper goes on trying; ids flow as soon as the registry answers.";
  return "The keeper goes on trying; ids flow as soon as the registry grants a lease.";
}

// At the beginning of a sentence. A named layout is known by its address.
const char *NameOf(const Layout &layout) {
  for (const NamedLayout &named : kNamedLayouts)
    if (&named.layout == &layout) return psprintf("Layout \"%s\"", named.name.data());
  return "This database's layout";
}

}  // namespace

void ReportNotPreloaded() {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("snowflake is not preloaded"),
       errdetail("Ids are issued from shared memory, which a library can only have when the server starts with it."),
       errhint("Put this line into postgresql.conf and restart the server: shared_preload_libraries = "
               "'snowflake'")));
  pg_unreachable();
}

void ReportTooManyDatabases() {
  ereport(ERROR,
          (errcode(kNoLease), errmsg("too many databases of this server issue ids"),
           errdetail("All %d places of shared memory (snowflake.max_databases) are taken.", Places()),
           errhint("Raise snowflake.max_databases and restart the server; where the library is not preloaded, put it "
                   "into shared_preload_libraries first.")));
  pg_unreachable();
}

void ReportSameTransaction(bool updated) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  updated ? errmsg("cannot draw a worker id in the transaction that updated the extension")
                          : errmsg("cannot issue ids in the transaction that created the extension"),
                  updated ? errdetail("The registry's tables are locked until that transaction is committed.")
                          : errdetail("The keeper cannot see the registry before that transaction is committed."),
                  errhint("Commit first.")));
  pg_unreachable();
}

void ReportNoExtension(Oid fn_oid) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("function %s does not belong to the extension snowflake", format_procedure(fn_oid)),
           errdetail("The registry is found through the extension, which was dropped or never had this function."),
           errhint("CREATE EXTENSION snowflake.")));
  pg_unreachable();
}

void ReportNamesake(const char *where, const char *schema) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("the extension snowflake of %s is another one of the same name", where),
       errdetail("It is in schema \"%s\" and has none of this one's tables. pgEdge's extension is called snowflake, "
                 "too, and its library has the same file name.",
                 schema),
       errhint("A server can have one of the two. To change over, DROP EXTENSION snowflake and create it again; "
               "snowflake_decode(id, 'pgedge') then reads the ids that pgEdge's has issued.")));
  pg_unreachable();
}

void ReportRecovery() {
  ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot issue ids during recovery"),
                  errdetail("The registry is in this database, where a standby cannot write the lease down."),
                  errhint("Issue ids on the primary. Once promoted, this server issues its own at once.")));
  pg_unreachable();
}

void ReportBinaryUpgrade(const char *function) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot execute %s() while pg_upgrade runs", function),
       errdetail("What the registry knows has yet to reach the new server, and must not change on the old one."),
       errhint("Nodes issue ids until their windows end, and ask again.")));
  pg_unreachable();
}

void ReportNoLease(NoLeaseReason reason, const RegistryError &error, int64_t waited_us) {
  switch (reason) {
    case NoLeaseReason::kSingleUser:
      ereport(ERROR, (errcode(kNoLease), errmsg("cannot issue ids in single-user mode"),
                      errdetail("The lease of a worker id is kept by a background worker, and this mode has none."),
                      errhint("Start the server in the normal way.")));
      break;
    case NoLeaseReason::kBinaryUpgrade:
      ereport(ERROR, (errcode(kNoLease), errmsg("cannot issue ids while pg_upgrade runs"),
                      errdetail("What the registry knows has yet to reach the new server, and must not change on the"
                                " old one."),
                      errhint("Disable the event trigger, or whatever else asks for an id in a session of pg_upgrade,"
                              " for as long as pg_upgrade runs.")));
      break;
    case NoLeaseReason::kKeeperSlots:
      ereport(ERROR,
              (errcode(kNoLease), errmsg("cannot start the keeper that holds this database's worker id"),
               errdetail("All %d background workers (max_worker_processes) were in use for %.1f s.",
                         max_worker_processes, Seconds(waited_us)),
               errhint("Raise max_worker_processes and restart the server; each database that issues ids takes one.")));
      break;
    case NoLeaseReason::kRegistry:
      if (error.message[0] == '\0')
        ereport(ERROR,
                (errcode(kNoLease), errmsg("no lease to issue ids under"),
                 errdetail("The keeper had no answer of the registry within %.1f s.", Seconds(waited_us)),
                 errhint("See what the keeper waits for in pg_stat_activity, backend_type \"snowflake keeper\".")));
      // What the registry says in the extension's own class is what the caller needs to know.
      else if (error.sqlstate == kAllLeased || error.sqlstate == kClockBehind || error.sqlstate == kTimeUsedUp)
        ereport(ERROR,
                (errcode(error.sqlstate), errmsg("no lease to issue ids under"),
                 errdetail("The registry refused: %s", WhatRegistrySaid(error)), errhint("%s", WhatToDoAbout(error))));
      else
        ereport(ERROR, (errcode(kNoLease), errmsg("no lease to issue ids under"),
                        errdetail("The registry's last error, %.1f s ago: %s", Seconds(NowUnixUs() - error.at_us),
                                  WhatRegistrySaid(error)),
                        errhint("%s", WhatToDoAbout(error))));
      break;
  }
  pg_unreachable();
}

const char *WhatRegistrySaid(const RegistryError &error) {
  if (error.for_all || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS)) return pstrdup(error.message);
  return IsClass(error.sqlstate, '0', '8') ? "the registry does not answer" : "the registry refused";
}

void ReportClockBehind(const Layout &layout, int64_t now_us, int64_t ahead_us, bool step_back) {
  const double behind_s = Seconds(ahead_us - now_us);
  if (now_us < layout.epoch_us())
    ereport(ERROR, (errcode(kClockBehind), errmsg("the clock is before the layout's epoch"),
                    errdetail("The clock shows %s; ids count from %s.", Time(now_us), Time(layout.epoch_us())),
                    errhint("Set the clock right.")));
  if (step_back)
    ereport(ERROR, (errcode(kClockBehind), errmsg("the clock is %.3f s behind the last id", behind_s),
                    errdetail("The clock shows %s; ids may have been issued up to %s.", Time(now_us), Time(ahead_us)),
                    errhint("Set the clock right, wait, or set snowflake.on_clock_step_back to \"new_worker\".")));
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("the clock is %.3f s behind the lease", behind_s),
           errdetail("The clock shows %s; the lease begins at %s, because no worker id that was free when it was drawn"
                     " may be used before.",
                     Time(now_us), Time(ahead_us)),
           errhint("Set the clock right, or wait.")));
  pg_unreachable();
}

void ReportNothingBetter(const Layout &layout, int64_t now_us, int64_t ahead_us, const RegistryError &error) {
  if (now_us < layout.epoch_us()) ReportClockBehind(layout, now_us, ahead_us, true);
  const char *what = error.message[0] != '\0' ? WhatRegistrySaid(error) : "it has none that may be used so early";
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("the clock is %.3f s behind the last id", Seconds(ahead_us - now_us)),
           errdetail("The clock shows %s; ids may have been issued up to %s. The registry was asked for another worker"
                     " id: %s",
                     Time(now_us), Time(ahead_us), what),
           errhint("Set the clock right, or wait.")));
  pg_unreachable();
}

void ReportClockStands(int64_t now_us, int64_t waited_us) {
  ereport(ERROR, (errcode(kClockBehind), errmsg("the clock does not move"),
                  errdetail("It has shown %s for %.1f s, and every id that may be issued at that time is used up.",
                            Time(now_us), Seconds(waited_us)),
                  errhint("Set the clock right.")));
  pg_unreachable();
}

void ReportTimeUsedUp(const Layout &layout, int64_t now_us) {
  ereport(ERROR,
          (errcode(kTimeUsedUp), errmsg("the layout's time is used up"),
           errdetail("%d timestamp bits ended at %s; the clock shows %s.", layout.timestamp_bits,
                     Time(layout.UnixUsAt(layout.max_tick() + 1)), Time(now_us)),
           errhint("Set the clock right if it is wrong; otherwise ids need a layout with a later epoch or a wider "
                   "timestamp.")));
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

void ReportHeldBack(int64_t ring_size, int64_t held_back, TimestampTz until) {
  ereport(
      ERROR,
      (errcode(kAllLeased), errmsg("every worker id is leased or held back"),
       errdetail("Of %lld worker ids, %lld are held back until %s, because commits of the registry may have been lost;"
                 " half of that time before, they are handed out if no other is left.",
                 Long(ring_size), Long(held_back), timestamptz_to_str(until)),
       err_generic_string(PG_DIAG_TABLE_NAME, "snowflake_origin"),
       err_generic_string(PG_DIAG_COLUMN_NAME, kHeldBackColumn),
       errhint("Where nothing was lost, call snowflake_settled() in the registry's database.")));
  pg_unreachable();
}

bool IsHeldBack(const ErrorData &error) {
  return error.sqlerrcode == kAllLeased && error.column_name != nullptr &&
         strcmp(error.column_name, kHeldBackColumn) == 0;
}

void ReportLeasesOfRole(int64_t leases) {
  ereport(ERROR,
          (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
           errmsg("role \"%s\" may have no more leases", GetUserNameFromId(GetSessionUserId(), true)),
           errdetail("It has %lld; snowflake.max_leases_per_role is %d.", Long(leases), settings.max_leases_per_role),
           errhint("Leases of nodes that crashed count until their windows end.")));
  pg_unreachable();
}

void ReportForeignTable(const char *table) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("table \"%s\" is not as the extension snowflake made it", table),
                  errdetail("A column, its type or the kind of the table was changed, it has got a rule, a policy or a "
                            "child, or it is missing."),
                  errhint("Undo the change, or drop the extension and create it again.")));
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
       errdetail(
           "Its triggers snowflake_guard, snowflake_guard_after and snowflake_guard_truncate keep ids unique; one is"
           " missing, changed, or does not fire always."),
       errhint("ALTER TABLE ... ENABLE ALWAYS TRIGGER ..., or drop the extension and create it again.")));
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
    case GuardFault::kTruncate:
      message = "cannot truncate a table of snowflake's registry";
      detail = "Leases and watermarks keep ids unique.";
      break;
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message), errdetail("%s", detail),
                  errhint("%s", hint)));
  pg_unreachable();
}

void ReportLeasesHeld(int64_t leases, int64_t until_us) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("cannot drop the registry of snowflake while nodes hold leases"),
           errdetail_plural("%lld lease of another node may be in use until %s, or longer if it is extended.",
                            "%lld leases of other nodes may be in use, the last until %s, or longer if it is"
                            " extended.",
                            static_cast<unsigned long>(leases), Long(leases), Time(until_us)),
           errhint("Stop these nodes, or wait until their windows are over. snowflake_evict(worker_id, dead_since)"
                   " ends the lease of a node that is certainly dead.")));
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
           errhint("Give snowflake_registry, snowflake_watermark, snowflake_layout and snowflake_origin one owner.")));
  pg_unreachable();
}

void ReportIsolation(const char *function) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s() must run at isolation level read committed", function),
                  errdetail("An older snapshot would hide what others have done since it was taken."),
                  errhint("SET TRANSACTION ISOLATION LEVEL READ COMMITTED.")));
  pg_unreachable();
}

void ReportNullArgument(const char *function, const char *argument) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s(): %s must not be null", function, argument)));
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

// The window is not told: who does not know it has no business with the lease.
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

void ReportToken() {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("token must not be zero"),
                  errdetail("The token is the node's secret, by which the registry knows a request that was repeated."),
                  errhint("Use gen_random_uuid().")));
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

void ReportNotTrigger(const char *function) {
  ereport(ERROR,
          (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("%s() must be called as a trigger", function)));
  pg_unreachable();
}

void ReportLayoutFault(const Layout &layout, LayoutFault fault) {
  const char *reason = "";
  switch (fault) {
    case LayoutFault::kNone:
      break;
    case LayoutFault::kFieldWidth:
      reason =
          "A timestamp takes 1 to 63 bits, a datacenter 0 to 10, datacenter and worker together 0 to 31, a sequence 0 "
          "to 31.";
      break;
    case LayoutFault::kTooWide:
      reason = "The fields sum to more than 64 bits.";
      break;
    case LayoutFault::kTickLength:
      reason = "A tick lasts 1 microsecond to 1 day.";
      break;
    case LayoutFault::kEpoch:
      reason = "An epoch lies within 1970 and 9999.";
      break;
    case LayoutFault::kEndsTooLate:
      reason = "Its last tick lies beyond what a timestamp can hold.";
      break;
    case LayoutFault::kReadOnly:
      reason = "Without worker bits or sequence bits ids can be read, not issued.";
      break;
  }
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("%s It has %s.", reason, DescribeLayout(layout)),
                  errhint("Set another with snowflake_set_layout(); the view snowflake_layouts has examples.")));
  pg_unreachable();
}

void ReportLayoutInUse() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout can no longer be changed"),
                  errdetail("A worker id was leased under it, so ids may have been issued."),
                  errhint("Drop the extension and create it again to begin with another layout.")));
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

void ReportNoRegistry() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the registry's database has no extension snowflake"),
                  errdetail("snowflake.registry leads to a database without it."),
                  errhint("CREATE EXTENSION snowflake there; it need not be preloaded.")));
  pg_unreachable();
}

void ReportRegistrySetting(const char *fault) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("invalid value for parameter \"snowflake.registry\""), errdetail("%s", fault),
                  errhint("Mend it where it was set; a password belongs into a passfile or a service file.")));
  pg_unreachable();
}

void ReportOtherLayout(const Layout &ours, const Layout &theirs) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry has another layout"),
           errdetail("This database's has %s; the registry's has %s.", DescribeLayout(ours), DescribeLayout(theirs)),
           errhint("Set the registry's layout here with snowflake_set_layout(), before the first id is issued.")));
  pg_unreachable();
}

void ReportForeignId(int64_t id, const Layout &layout) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                  errdetail("%s has ids of %d bits, not negative.", NameOf(layout), layout.total_bits()),
                  errhint("Check where the id comes from; an id of another system needs that system's layout.")));
  pg_unreachable();
}

void ReportRaiseAhead(int64_t tick_us, int64_t now_us) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("the id lies %.3f s ahead of the clock", Seconds(tick_us) - Seconds(now_us)),
           errdetail("It is of %s, the clock shows %s; snowflake.max_clock_skew is %d ms, and nobody waits for longer.",
                     Time(tick_us), Time(now_us), settings.max_clock_skew_ms),
           errhint("Set the clock right if it is wrong; otherwise begin to issue ids after that time.")));
  pg_unreachable();
}

void NoticeRaisedHere() {
  ereport(NOTICE, (errmsg("only the ids of this node are larger from now on"),
                   errdetail("Its registry is in another database."),
                   errhint("For all nodes of that registry call snowflake_raise() there.")));
}

void ReportCheckedColumn(const char *column, Oid type, bool stored) {
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" cannot be checked", column),
                  stored ? errdetail("It is of type %s; ids are bigint.", format_type_be(type))
                         : errdetail("It is computed when it is read."),
                  errhint("Name a column that holds ids.")));
  pg_unreachable();
}

void ReportCheckedTable(const char *table) {
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("relation \"%s\" cannot be checked", table),
                  errdetail("Only a table's own rows are read, and those of its partitions."),
                  errhint("Name a table, or those of its partitions that are on this server.")));
  pg_unreachable();
}

void ReportUnknownLayout(const char *name) {
  StringInfoData names;
  initStringInfo(&names);
  for (const NamedLayout &named : kNamedLayouts)
    appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", named.name.data());
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown layout \"%s\"", name),
           errdetail("It is none of the %d layouts that have a name.", static_cast<int>(lengthof(kNamedLayouts))),
           errhint("The names are: %s.", names.data)));
  pg_unreachable();
}

void ReportPartsFault(TimestampTz ts, const Parts &parts, const Layout &layout, PartsFault fault) {
  switch (fault) {
    case PartsFault::kNone:
      break;
    case PartsFault::kTick:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("timestamp %s is out of range", timestamptz_to_str(ts)),
                      errdetail("%s holds times from %s to before %s.", NameOf(layout), Time(layout.epoch_us()),
                                Time(layout.UnixUsAt(layout.max_readable_tick() + 1))),
                      errhint("Use a time within these, or a layout that holds it.")));
      break;
    case PartsFault::kWorker:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("worker id %d is out of range", parts.worker),
                      errdetail("%s has %d datacenter and worker bits: 0 to %lld.", NameOf(layout), layout.node_bits(),
                                Long(layout.worker_count() - 1)),
                      errhint("Datacenter and worker together are the worker id.")));
      break;
    case PartsFault::kSequence:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("sequence number %d is out of range", parts.sequence),
                      errdetail("%s has %d sequence bits: 0 to %lld.", NameOf(layout), layout.sequence_bits,
                                Long(layout.sequence_count() - 1)),
                      errhint("Give further ids the next tick.")));
      break;
  }
  pg_unreachable();
}

void ReportNoIdAt(TimestampTz ts, const Layout &layout) {
  const bool has_negative = layout.max_readable_tick() > layout.max_tick();
  ereport(
      ERROR,
      (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("no id stands for the timestamp %s", timestamptz_to_str(ts)),
       has_negative
           ? errdetail("%s has negative ids from %s on, which are smaller than all earlier ones.", NameOf(layout),
                       Time(layout.UnixUsAt(layout.max_tick() + 1)))
           : errdetail("%s has ids up to the timestamp %s.", NameOf(layout), Time(layout.UnixUsAt(layout.max_tick()))),
       has_negative ? errhint("Compare snowflake_timestamp(id) instead.")
                    : errhint("Leave the condition out, or use snowflake_range(), which leaves such a bound open.")));
  pg_unreachable();
}

void ReportEpoch(TimestampTz epoch) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
           errdetail("An epoch is a whole number of milliseconds, and finite: %s is not.", timestamptz_to_str(epoch)),
           errhint("The default layout's is 2025-01-01 00:00 UTC.")));
  pg_unreachable();
}

void ReportEpochAhead(const Layout &layout, int64_t now_us) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
           errdetail("Its epoch %s lies in the future; the clock shows %s.", Time(layout.epoch_us()), Time(now_us)),
           errhint("Ids count from the epoch: choose one that is past.")));
  pg_unreachable();
}

void ReportTick(const Interval *tick) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("A tick lasts 1 microsecond to 1 day, and has no months: \"%s\" is no such interval.",
                            DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(tick)))),
                  errhint("The default layout's ticks last 1 millisecond.")));
  pg_unreachable();
}

void ReportEndsTooSoon(const Layout &layout, int64_t now_us) {
  const int64_t left_us = layout.UsLeft(now_us) > 0 ? layout.UsLeft(now_us) : 0;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("Its time is used up at %s: %.1f years are left, and %d must be.",
                            Time(layout.UnixUsAt(layout.max_tick() + 1)),
                            static_cast<double>(left_us / (kUsPerYear / 10)) / 10,  // 9.99 are not 10.0
                            static_cast<int>(kMinYearsLeft)),
                  errhint("Choose a later epoch, more timestamp bits or a longer tick.")));
  pg_unreachable();
}

void ReportCount(int32_t count) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must be positive"),
                  errdetail("%d ids were asked for.", count), errhint("Ask for at least 1.")));
  pg_unreachable();
}

void ReportNoCurrval() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("snowflake_currval is not yet defined in this session"),
                  errdetail("This session has not issued an id; those of its parallel workers do not count."),
                  errhint("Call snowflake_nextval() first.")));
  pg_unreachable();
}

void ReportUnknownEncoding(const char *name) {
  StringInfoData names;
  initStringInfo(&names);
  for (const TextEncoding &encoding : kTextEncodings)
    appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", encoding.name);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown encoding \"%s\"", name),
                  errdetail("Names are written in lower case."), errhint("The encodings are: %s.", names.data)));
  pg_unreachable();
}

void ReportNegativeId(int64_t id) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                  errdetail("A negative id has no place among texts of one width that are in the order of the ids."),
                  errhint("Check where the id comes from: ids that were issued here are not negative.")));
  pg_unreachable();
}

void ReportTextFault(const TextEncoding &encoding, const char *input, const TextReading &reading) {
  const char *name = encoding.name;
  switch (reading.fault) {
    case TextFault::kNone:
      break;
    case TextFault::kForeign: {
      const char *at = input + reading.at;
      const int bytes = pg_encoding_mblen(GetDatabaseEncoding(), at);
      ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
                      errdetail("Character \"%.*s\" at position %d is not a digit of %s.",
                                static_cast<int>(strnlen(at, static_cast<size_t>(bytes))), at,
                                pg_mbstrlen_with_len(input, static_cast<int>(reading.at)) + 1, name),
                      errhint("The digits of %s are %s%s.", name, encoding.digits,
                              encoding.any_case ? ", in upper or lower case" : "")));
      break;
    }
    case TextFault::kWidth:
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
               errdetail_plural("It has %lld digit instead of %d.", "It has %lld digits instead of %d.",
                                static_cast<unsigned long>(reading.digits), Long(reading.digits), encoding.width),
               reading.digits < encoding.width
                   ? errhint("Where only leading digits are missing, fill it up with lpad(..., %d, '%c').",
                             encoding.width, encoding.digits[0])
                   : errhint("Check that it is one id, and which encoding it is in.")));
      break;
    case TextFault::kTooBig: {
      char largest[kMaxTextWidth];
      WriteText(encoding, PG_INT64_MAX, largest);
      ereport(ERROR,
              (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("%s text \"%s\" is out of range", name, input),
               errdetail("It stands for a number above %lld, the largest id, which is written \"%.*s\".",
                         Long(PG_INT64_MAX), encoding.width, largest),
               errhint("Check where the text comes from, and which encoding it is in.")));
      break;
    }
  }
  pg_unreachable();
}

void ReportNoRight(Oid function) {
  aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
  pg_unreachable();
}

}  // namespace snowflake
