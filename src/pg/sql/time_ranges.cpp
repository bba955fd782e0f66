// The ids of a time, for conditions on the primary key and bounds of partitions. Arguments, results
// and errors: COMMENT ON in the install script; the arithmetic: core/time_range.h.
#include "core/time_range.h"

#include "pg/report.h"
#include "pg/sql/layouts.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// An exclusive lower and an inclusive upper bound cut after their time.
Cut CutAt(const RangeBound &bound) {
  if (bound.infinite) return {bound.lower ? kInfinitePast : kInfiniteFuture, false};
  return {UnixUsFromTimestamp(DatumGetTimestampTz(bound.val)), bound.inclusive != bound.lower};
}

RangeType *IdRange(const IdSpan &span) {
  TypeCacheEntry *type = lookup_type_cache(INT8RANGEOID, TYPECACHE_RANGE_INFO);
  RangeBound lower = {Int64GetDatum(span.first), false, true, true};
  RangeBound upper = {Int64GetDatum(span.end), span.kind == SpanKind::kOpen, false, false};
  return MakeRange(type, &lower, &upper, span.kind == SpanKind::kEmpty);
}

[[noreturn]] void ReportNoIdAt(TimestampTz ts, const Layout &layout) {
  const bool has_negative = layout.max_readable_tick() > layout.max_tick();
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                  errmsg("no id corresponds to the timestamp %s", timestamptz_to_str(ts)),
                  has_negative ? errdetail("%s has negative ids from %s on, which are smaller than all earlier ones.",
                                           NameOfLayout(layout), Time(layout.UnixUsAt(layout.max_tick() + 1)))
                               : errdetail("%s has ids up to the timestamp %s.", NameOfLayout(layout),
                                           Time(layout.UnixUsAt(layout.max_tick()))),
                  has_negative
                      ? errhint("Compare snowflake_timestamp(id) instead.")
                      : errhint("Leave the condition out, or use snowflake_range(), which leaves such a bound open.")));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_id_at) {
  const TimestampTz ts = PG_GETARG_TIMESTAMPTZ(0);
  const Layout &layout = LayoutArgument(fcinfo, 1);
  int64_t id = 0;
  if (unlikely(!FirstIdAt(layout, UnixUsFromTimestamp(ts), &id))) ReportNoIdAt(ts, layout);
  PG_RETURN_INT64(id);
}

SNOWFLAKE_FUNCTION(snowflake_range) {
  const RangeType *during = PG_GETARG_RANGE_P(0);
  const Layout &layout = LayoutArgument(fcinfo, 1);
  RangeBound lower, upper;
  bool empty = false;
  range_deserialize(lookup_type_cache(RangeTypeGetOid(during), TYPECACHE_RANGE_INFO), during, &lower, &upper, &empty);
  const IdSpan span = empty ? IdSpan{SpanKind::kEmpty, 0, 0} : IdsBetween(layout, CutAt(lower), CutAt(upper));
  if (span.kind == SpanKind::kLowerNegative) ReportNoIdAt(DatumGetTimestampTz(lower.val), layout);
  if (span.kind == SpanKind::kUpperNegative) ReportNoIdAt(DatumGetTimestampTz(upper.val), layout);
  PG_RETURN_RANGE_P(IdRange(span));
}

}  // namespace snowflake
