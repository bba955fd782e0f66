// The registry protocol as SQL functions: arguments in, rows out. Results and errors: COMMENT ON in
// the install script.
#include "pg/layout_table.h"
#include "pg/protocol.h"
#include "pg/registry_tables.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// Saturates: what cannot be counted is out of range anyway.
int64_t DurationUs(const Interval *duration) {
  const int64_t days = static_cast<int64_t>(duration->month) * DAYS_PER_MONTH + duration->day;
  int64_t us = 0;
  if (__builtin_mul_overflow(days, USECS_PER_DAY, &us) || __builtin_add_overflow(us, duration->time, &us))
    us = days < 0 ? PG_INT64_MIN : PG_INT64_MAX;
  return us;
}

Datum AnswerDatum(FunctionCallInfo fcinfo, const AcquireAnswer &answer) {
  const Lease &lease = answer.lease;
  const Layout &layout = answer.layout;
  Datum values[] = {Int64GetDatum(lease.lease_id),         TokenDatum(lease.token),
                    Int32GetDatum(lease.worker),           Int64GetDatum(lease.window_start),
                    Int64GetDatum(lease.window_end),       Int64GetDatum(layout.epoch_ms),
                    Int64GetDatum(layout.tick_us),         Int32GetDatum(layout.timestamp_bits),
                    Int32GetDatum(layout.datacenter_bits), Int32GetDatum(layout.worker_bits),
                    Int32GetDatum(layout.sequence_bits),   BoolGetDatum(layout.sequence_first)};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls));
}

// Ids of a node whose clock is wrong would be unique, but their timestamps would lie. Only who comes by SQL is another
// server's node.
void CheckClock(FunctionCallInfo fcinfo, Tick node_tick) {
  if (settings.max_clock_skew_ms == 0) return;
  const Layout &layout = DatabaseLayout(fcinfo->flinfo->fn_oid);
  const int64_t now_us = NowUnixUs();
  const Tick allowed = layout.TicksIn(settings.max_clock_skew_ms * kUsPerMs) + 1;
  const Tick now = layout.TickAt(now_us);
  if (node_tick < now - allowed || node_tick > now + allowed) ReportClockSkew(layout.UnixUsAt(node_tick), now_us);
}

Oid Extension(FunctionCallInfo fcinfo) { return ExtensionOfFunction(fcinfo->flinfo->fn_oid); }

}  // namespace

}  // namespace snowflake

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_acquire) {
  static const char *const names[] = {"node", "datacenter", "now_tick", "duration"};
  CheckNotNull(fcinfo, "snowflake_acquire", names, 4);
  const AcquireRequest request = {text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_INT32(1), PG_GETARG_INT64(2),
                                  DurationUs(PG_GETARG_INTERVAL_P(3)), {}, 0, kAnyStart};
  CheckClock(fcinfo, request.now);
  AcquireAnswer answer = {};
  if (!ProtocolAcquire(Extension(fcinfo), request, &answer)) PG_RETURN_NULL();
  return AnswerDatum(fcinfo, answer);
}

SNOWFLAKE_FUNCTION(snowflake_extend) {
  static const char *const names[] = {"lease_id", "token", "now_tick", "duration"};
  CheckNotNull(fcinfo, "snowflake_extend", names, 4);
  CheckClock(fcinfo, PG_GETARG_INT64(2));
  Tick window_end = 0;
  if (!ProtocolExtend(Extension(fcinfo), PG_GETARG_INT64(0), TokenFromDatum(PG_GETARG_DATUM(1)), PG_GETARG_INT64(2),
                      DurationUs(PG_GETARG_INTERVAL_P(3)), &window_end))
    PG_RETURN_NULL();
  PG_RETURN_INT64(window_end);
}

SNOWFLAKE_FUNCTION(snowflake_release) {
  static const char *const names[] = {"lease_id", "token", "last_tick"};
  CheckNotNull(fcinfo, "snowflake_release", names, 3);
  PG_RETURN_BOOL(
      ProtocolRelease(Extension(fcinfo), PG_GETARG_INT64(0), TokenFromDatum(PG_GETARG_DATUM(1)), PG_GETARG_INT64(2)));
}

// The statement trigger of snowflake_layout. Plain DML tells no other session of a change.
SNOWFLAKE_FUNCTION(snowflake_layout_changed) {
  if (!CALLED_AS_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("snowflake_layout_changed() must be called as a trigger")));
  const TriggerData *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
  CheckLayoutMayChange(Extension(fcinfo));
  CacheInvalidateRelcacheByRelid(RelationGetRelid(trigger->tg_relation));
  return Datum{0};  // nobody looks at what a statement trigger returns
}
