// The SQL functions that issue and read ids. COMMENT ON has their arguments, results and errors.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/horizon.h"
#include "pg/issue/issue.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/sql/layouts.h"

namespace snowflake {
namespace {
Datum AllAtOnce(FunctionCallInfo fcinfo, int32 count) {
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  for (Ids ids; count > 0; count -= ids.count) {
    ids = NextIds(fcinfo->flinfo->fn_oid, count);
    for (int32 i = 0; i < ids.count; ++i) {
      Datum id = Int64GetDatum(ids.first + ids.step * i);
      bool is_null = false;
      AddRow(fcinfo, &id, &is_null);
    }
  }
  return Datum{0};
}

// Whether a number is no id: none was issued in the first minute of the default layout. Numbers up
// to 251,658,239,999 there are a table's older numbers. A call that names the layout reads them.
bool IsFromBefore(FunctionCallInfo fcinfo, const Layout &layout, Tick tick) {
  constexpr Tick kFirstMinute = 60 * 1000;
  return PG_NARGS() == 1 && tick < kFirstMinute && layout == kDefaultLayout;
}

Datum TickTimestamp(const Layout &layout, Tick tick) { return TimeDatum(layout.UnixUsAt(tick)); }

void CheckParts(TimestampTz ts, const Parts &parts, const ChosenLayout &chosen) {
  const Layout &layout = *chosen.layout;
  const PartsFault fault = chosen.Fits(parts);
  if (fault == PartsFault::kTick)
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("timestamp %s is out of range", timestamptz_to_str(ts)),
                    errdetail("%s holds times from %s up to, but not including, %s.", NameOfLayout(chosen),
                              Time(layout.epoch_us()), Time(layout.UnixUsAt(chosen.max_readable_tick() + 1))),
                    errhint("Use a time within these limits, or a layout that holds it.")));
  if (fault == PartsFault::kWorker)
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("worker id %d is out of range", parts.worker),
                    errdetail("%s has %d datacenter and worker bits, for values from 0 to %lld.", NameOfLayout(chosen),
                              layout.node_bits(), Long(layout.worker_count() - 1)),
                    errhint("Datacenter and worker together are the worker id.")));
  if (fault == PartsFault::kSequence)
    ereport(ERROR,
            (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("sequence number %d is out of range", parts.sequence),
             errdetail("%s has %d sequence bits, for values from 0 to %lld.", NameOfLayout(chosen),
                       layout.sequence_bits, Long(layout.sequence_count() - 1)),
             errhint("Use the next tick for further ids.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_nextval) { PG_RETURN_INT64(NextId(fcinfo->flinfo->fn_oid)); }

SNOWFLAKE_FUNCTION(snowflake_nextvals) {
  const int32 count = PG_GETARG_INT32(0);
  if (count <= 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must be positive"),
                    errdetail("%d ids were asked for.", count), errhint("Ask for at least 1.")));
  // In FROM all rows are kept anyway: at once is cheaper. In a target list LIMIT may need only one.
  const ReturnSetInfo *caller = reinterpret_cast<const ReturnSetInfo *>(fcinfo->resultinfo);
  if (caller != nullptr && IsA(caller, ReturnSetInfo) && (caller->allowedModes & SFRM_Materialize_Preferred))
    return AllAtOnce(fcinfo, count);
  if (SRF_IS_FIRSTCALL()) SRF_FIRSTCALL_INIT()->max_calls = static_cast<uint64>(count);
  FuncCallContext *context = SRF_PERCALL_SETUP();
  if (context->call_cntr >= context->max_calls) SRF_RETURN_DONE(context);
  SRF_RETURN_NEXT(context, Int64GetDatum(NextId(fcinfo->flinfo->fn_oid)));
}

SNOWFLAKE_FUNCTION(snowflake_currval) {
  if (LastId() < 0) {
    CheckNotNamesake(ExtensionOfFunction(fcinfo->flinfo->fn_oid));
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("snowflake_currval is not yet defined in this session"),
                    errdetail("This session has not issued an id; those of its parallel workers do not count."),
                    errhint("Call snowflake_nextval() first.")));
  }
  PG_RETURN_INT64(LastId());
}

SNOWFLAKE_FUNCTION(snowflake_horizon) { PG_RETURN_INT64(Horizon(fcinfo->flinfo->fn_oid)); }

SNOWFLAKE_FUNCTION(snowflake_decode) {
  const int64_t id = PG_GETARG_INT64(0);
  const ChosenLayout chosen = LayoutArgument(fcinfo, 1);
  const Layout &layout = *chosen.layout;
  const Parts parts = PartsOf(chosen, id);
  Datum values[] = {TickTimestamp(layout, parts.tick), Int32GetDatum(parts.worker), Int32GetDatum(parts.sequence)};
  bool nulls[lengthof(values)];
  memset(nulls, IsFromBefore(fcinfo, layout, parts.tick), sizeof(nulls));
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls)));
}

SNOWFLAKE_FUNCTION(snowflake_timestamp) {
  const ChosenLayout chosen = LayoutArgument(fcinfo, 1);
  PG_RETURN_DATUM(TickTimestamp(*chosen.layout, PartsOf(chosen, PG_GETARG_INT64(0)).tick));
}

SNOWFLAKE_FUNCTION(snowflake_encode) {
  const TimestampTz ts = PG_GETARG_TIMESTAMPTZ(0);
  const ChosenLayout chosen = LayoutArgument(fcinfo, 3);
  const Parts parts = {chosen.layout->TickAt(UnixUsFromTimestamp(ts)), PG_GETARG_INT32(1), PG_GETARG_INT32(2)};
  CheckParts(ts, parts, chosen);
  PG_RETURN_INT64(chosen.Pack(parts));
}

SNOWFLAKE_FUNCTION(snowflake_tick_timestamp) {
  PG_RETURN_DATUM(TickTimestamp(DatabaseLayout(fcinfo->flinfo->fn_oid), PG_GETARG_INT64(0)));
}

}  // namespace snowflake
