/* Triggers that a role may have created on the registry's tables, for test/t/node/keeper_ends.pl.
 * At its end each returns the row unchanged. */
#include "postgres.h"
#include "fmgr.h"

#include <signal.h>
#include <unistd.h>

#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(sleeps);
PG_FUNCTION_INFO_V1(sleeps_on);
PG_FUNCTION_INFO_V1(bears_cancellation);
PG_FUNCTION_INFO_V1(fails_while_told_to_stop);

static Datum row(FunctionCallInfo fcinfo) {
  TriggerData *data = (TriggerData *)fcinfo->context;

  return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple);
}

/* Checks for no interrupt while it sleeps. */
Datum sleeps(PG_FUNCTION_ARGS) {
  pg_usleep(30 * 1000000L);
  return row(fcinfo);
}

Datum sleeps_on(PG_FUNCTION_ARGS) {
  for (int i = 0; i < 300; ++i) {
    pg_usleep(100000L);
    CHECK_FOR_INTERRUPTS();
  }
  return row(fcinfo);
}

/* Ends only with the process: it ignores cancellations, and also the keeper's own limit, which is a
 * SIGALRM. */
Datum bears_cancellation(PG_FUNCTION_ARGS) {
  sigset_t alarm;

  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_BLOCK, &alarm, NULL);
  DirectFunctionCall1(pg_advisory_xact_lock_int8, Int64GetDatum(1));
  for (;;) {
    pg_usleep(100000L);
    if (ProcDiePending) CHECK_FOR_INTERRUPTS();
  }
  return row(fcinfo);
}

/* The process gets SIGTERM at the same moment in which it fails with another error. */
Datum fails_while_told_to_stop(PG_FUNCTION_ARGS) {
  HOLD_INTERRUPTS();
  kill(MyProcPid, SIGTERM);
  ereport(ERROR, (errmsg("this trigger fails")));
  return row(fcinfo);
}
