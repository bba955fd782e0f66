#include "pg/issue/report.h"

namespace snowflake {

namespace {

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
  // These two answered: with another layout or without the extension, or not as a registry does.
  if (error.sqlstate == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
    return "The keeper goes on trying; ids flow once that is put right.";
  if (error.sqlstate == ERRCODE_PROTOCOL_VIOLATION)
    return "Check where snowflake.registry leads to: something else than a registry answers there.";
  if (IsClass(error.sqlstate, '0', '8')) return "The keeper goes on trying; ids flow as soon as the registry answers.";
  return "The keeper goes on trying; ids flow as soon as the registry grants a lease.";
}

}  // namespace

void ReportNotPreloaded() {
  // A second line would replace the first.
  const char *others = GetConfigOption("shared_preload_libraries", false, false);
  const bool none = others[0] == '\0';
  const bool shown = none || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS);
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("snowflake is not preloaded"),
       errdetail("Ids are issued from shared memory, which a library can only have when the server starts with it."),
       shown ? errhint("Put this line into postgresql.conf and restart the server: shared_preload_libraries = "
                       "'%s%ssnowflake'",
                       others, none ? "" : ", ")
             : errhint("Append snowflake to shared_preload_libraries in postgresql.conf and restart the server.")));
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

void ReportSameTransaction() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("cannot issue ids in the transaction that created the extension"),
                  errdetail("The keeper cannot see the registry before that transaction is committed."),
                  errhint("Commit first.")));
  pg_unreachable();
}

void ReportRecovery() {
  ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot issue ids during recovery"),
                  errdetail("The registry is in this database, where a standby cannot write the lease down."),
                  errhint("Issue ids on the primary. Once promoted, this server issues its own at once.")));
  pg_unreachable();
}

void ReportNoHorizonHere() {
  ereport(ERROR,
          (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot tell the horizon of ids during recovery"),
           errdetail(
               "Which transactions have drawn ids and are still in progress is known on the server that issues them."),
           errhint("Read the table on the primary, or take the horizon there and wait until this standby has replayed "
                   "what had been written by then.")));
  pg_unreachable();
}

void ReportHorizonOfAnotherNode() {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot tell the horizon of ids to another node of Citus"),
       errdetail("Citus has sent a part of a statement here, where the horizon is that of other ids."),
       errhint("Write (SELECT snowflake_horizon()): it is evaluated once, on the node where the statement began.")));
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

void ReportNoNumbers(NoLeaseReason reason, const char *segment, const RegistryError &error, int64_t waited_us) {
  switch (reason) {
    case NoLeaseReason::kSingleUser:
      ereport(ERROR, (errcode(kNoNumbers), errmsg("segment \"%s\" has no numbers in single-user mode", segment),
                      errdetail("Ranges are fetched by a background worker, and this mode has none."),
                      errhint("Start the server in the normal way.")));
      break;
    case NoLeaseReason::kBinaryUpgrade:
      ereport(ERROR,
              (errcode(kNoNumbers), errmsg("segment \"%s\" has no numbers while pg_upgrade runs", segment),
               errdetail("What the registry hands out now would be handed out again."),
               errhint("Disable whatever asks for a number in a session of pg_upgrade, for as long as it runs.")));
      break;
    case NoLeaseReason::kKeeperSlots:
      ereport(ERROR,
              (errcode(kNoNumbers), errmsg("cannot start the keeper that fetches numbers of segment \"%s\"", segment),
               errdetail("All %d background workers (max_worker_processes) were in use for %.1f s.",
                         max_worker_processes, Seconds(waited_us)),
               errhint("Raise max_worker_processes and restart the server; each database that issues ids takes one.")));
      break;
    case NoLeaseReason::kRegistry:
      ereport(ERROR, (errcode(kNoNumbers), errmsg("segment \"%s\" has no numbers left on this node", segment),
                      error.message[0] == '\0'
                          ? errdetail("The keeper had no answer of the registry within %.1f s.", Seconds(waited_us))
                          : errdetail("The registry's last error, %.1f s ago: %s", Seconds(NowUnixUs() - error.at_us),
                                      WhatRegistrySaid(error)),
                      errhint("The keeper goes on trying; numbers flow as soon as the registry hands out a range.")));
      break;
  }
  pg_unreachable();
}

void ReportNoUsage(const char *segment, const char *role) {
  const bool known = OidIsValid(get_role_oid(role, true));
  const char *user = GetUserNameFromId(GetUserId(), false);
  const char *grant = psprintf("GRANT %s TO %s;", quote_identifier(role), quote_identifier(user));
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for segment \"%s\"", segment),
           known ? errdetail("Its usage_role is \"%s\", and role \"%s\" does not have the privileges of that role.",
                             role, user)
                 : errdetail("Its usage_role is \"%s\", and this server has no role of that name: only superusers may"
                             " use the numbers here.",
                             role),
           known ? errhint("Let a superuser, or whoever may grant the role, run: %s", grant)
                 : errhint("Create the role on this server, and run: %s", grant)));
  pg_unreachable();
}

void ReportSegmentUsedUp(const char *segment) {
  ereport(ERROR,
          (errcode(kSegmentUsedUp), errmsg("segment \"%s\" is used up", segment),
           errdetail("The registry has handed out all numbers up to its max_value."),
           errhint("Where larger ones fit: UPDATE snowflake_segment SET max_value = ... in the registry's database.")));
  pg_unreachable();
}

void ReportSegmentCreatedHere(const char *segment) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("segment \"%s\" has no numbers in the transaction that created it", segment),
           errdetail("The keeper cannot see it before that transaction is committed."), errhint("Commit first.")));
  pg_unreachable();
}

void ReportTooManySegments() {
  ereport(
      ERROR,
      (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("too many segments are in use"),
       errdetail("All %d places of shared memory (snowflake.max_segments) were used a moment ago.", SegmentPlaces()),
       errhint("Raise snowflake.max_segments and restart the server; if the library is not preloaded, put it "
               "into shared_preload_libraries first.")));
  pg_unreachable();
}

const char *WhatRegistrySaid(const RegistryError &error) {
  if (error.for_all || has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS)) return pstrdup(error.message);
  if (IsClass(error.sqlstate, '0', '8')) return "the registry does not answer";
  return EndsWait(error.sqlstate) ? "somebody has locked the registry's tables" : "the registry refused";
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

void ReportNoRight(Oid function) {
  aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
  pg_unreachable();
}

}  // namespace snowflake
