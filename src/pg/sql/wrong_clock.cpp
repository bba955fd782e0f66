// What an operator says about the clock: snowflake_confirm_clock() that it is right, whatever this
// server knows; snowflake_reset_horizon() that it was wrong and is right now. COMMENT ON has
// results and errors.
#include "pg/database_layout.h"
#include "pg/issue/horizon.h"
#include "pg/issue/launch.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/state/data_directory.h"
#include "pg/state/state_block.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
[[noreturn]] void ReportNotOfFuture(const HorizonReset &reset, const Layout &layout) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the horizon is not of the future"),
           reset.before == 0 ? errdetail("No horizon was reported.")
                             : errdetail("It is at most %s, and the clock shows %s.",
                                         Time(layout.UnixUsOf(reset.before)), Time(reset.clock_us)),
           errhint("A horizon is taken back only after a clock that was wrong was set right. If it is ahead of the "
                   "clock by less than %lld s, wait.",
                   Long(kWrongUs / USECS_PER_SEC))));
}

// Nobody believes a clock that cannot be right.
void CheckPossible(const ClockReading &reading) {
  if (!IsPossible(reading))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the clock is wrong"),
                    errdetail("It shows %s; no clock that is right shows a time before %s.", Time(reading.wall_us),
                              Time(kFirstTimeUs)),
                    errhint("Set the clock right.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_confirm_clock) {
  if (!HasSharedMemory()) PG_RETURN_BOOL(false);
  const ServerTime time = ReadTime();
  CheckPossible(time.reading);
  if (!IsInDoubt(time) && !IsKnownBehind(time)) PG_RETURN_BOOL(false);
  if (!ConfirmServerClock(time))
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("could not confirm the clock"),
                    errdetail("The file \"snowflake.clock\" could not be written, so nothing was changed."),
                    errhint("The server's log says why.")));
  if (NodeBlock *node = FindNode(MyDatabaseId)) WakeKeeper(node);
  PG_RETURN_BOOL(true);
}

SNOWFLAKE_FUNCTION(snowflake_reset_horizon) {
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot take the horizon back during recovery"),
                    errdetail("A standby reports no horizon."), errhint("Call the function on the primary.")));
  if (HasSharedMemory()) CheckPossible(LookAtTime().reading);
  const HorizonReset reset = ResetHorizon(fcinfo->flinfo->fn_oid);
  if (reset.outcome == HorizonReset::kNotOfFuture) ReportNotOfFuture(reset, DatabaseLayout(fcinfo->flinfo->fn_oid));
  if (reset.outcome == HorizonReset::kNotWritten)
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("could not take the horizon back"),
                    errdetail("A file of the data directory could not be written, so the horizon is unchanged."),
                    errhint("The server's log says why.")));
  ereport(LOG_SERVER_ONLY,
          (errmsg("snowflake: the horizon was taken back from %lld to %lld", Long(reset.before), Long(reset.after))));
  Datum values[] = {Int64GetDatum(reset.before), Int64GetDatum(reset.after)};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls));
}

}  // namespace snowflake
