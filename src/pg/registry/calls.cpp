// What begins a call of the protocol, and how its transaction commits.
#include "pg/registry/calls.h"

#include "pg/registry/limits.h"
#include "pg/registry/secrets.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// A function's own SET clause would end before the commit that it is meant for.
void SetSynchronousCommit(const char *value) {
  set_config_option("synchronous_commit", value, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

// As safely as synchronous_commit = on at least.
void CommitDurably() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_ON) SetSynchronousCommit("on");
}

}  // namespace

void (*after_answer)(Oid extension) = nullptr;

void CheckCall(const char *function) {
  // Nodes reach a server that pg_upgrade started if the user gave it the usual socket. The new
  // server's tables are still empty. What is written to them, or to the old server's from then on,
  // is lost.
  if (IsBinaryUpgrade)
    ereport(
        ERROR,
        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
         errmsg("cannot execute %s() while pg_upgrade runs", function),
         errdetail(
             "The registry's contents have yet to be copied to the new server, and must not change on the old one."),
         errhint("Nodes issue ids until their windows end, and try again.")));
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  if (XactIsoLevel != XACT_READ_COMMITTED) ReportIsolation(function);
}

Tables BeginCall(const char *function, Oid extension, LOCKMODE mode) {
  CheckCall(function);
  const Tables tables = FindTables(extension);
  CommitDurably();
  LockRegistry(tables, mode);
  return tables;
}

Tables BeginOperatorsCall(const char *function, Oid extension, LOCKMODE tables_mode) {
  CheckCall(function);
  ForbidPrepare(function);
  const Tables tables = FindTables(extension, tables_mode);
  CommitDurably();
  LockRegistry(tables);
  return tables;
}

void CommitLocally() { SetSynchronousCommit("local"); }

Value SessionRole() { return Of(OIDOID, ObjectIdGetDatum(GetSessionUserId())); }

Value HashValue(const SecretHash &hash) { return Of(BYTEAOID, SecretHashDatum(hash)); }

Standing StandingOf(const Origin &origin) {
  return {static_cast<int64_t>(GetSystemIdentifier()), GetWALInsertionTimeLine(), origin.raised_tick, origin.word_us};
}

}  // namespace snowflake
