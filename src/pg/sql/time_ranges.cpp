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

[[noreturn]] void ReportNoIdAt(TimestampTz ts, const ChosenLayout &chosen) {
  const Layout &layout = *chosen.layout;
  const bool has_negative = layout.max_readable_tick() > layout.max_tick();
  const Tick last = has_negative ? layout.max_tick() : chosen.max_readable_tick();
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                  errmsg("no id corresponds to the timestamp %s", timestamptz_to_str(ts)),
                  has_negative ? errdetail("%s has negative ids from %s on, which are smaller than all earlier ones.",
                                           NameOfLayout(chosen), Time(layout.UnixUsAt(last + 1)))
                               : errdetail("%s has ids up to the timestamp %s.", NameOfLayout(chosen),
                                           Time(layout.UnixUsAt(last))),
                  has_negative
                      ? errhint("Compare snowflake_timestamp(id) instead.")
                      : errhint("Leave the condition out, or use snowflake_range(), which leaves such a bound open.")));
}

// Ids are compared with times.
ChosenLayout OrderedLayout(FunctionCallInfo fcinfo) {
  const ChosenLayout chosen = LayoutArgument(fcinfo, 1);
  if (chosen.definition != nullptr && !chosen.definition->IsOrdered())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("ids of this layout are not ordered by time"),
                    errdetail("%s has other bits above its time, a time in two places, or fills all 64 bits.",
                              NameOfLayout(chosen)),
                    errhint("Compare snowflake_timestamp(id) instead.")));
  return chosen;
}

// The first id of the same tick where the definition has its fields. False: none has that tick.
bool Rearrange(const ChosenLayout &chosen, int64_t *id) {
  if (chosen.definition == nullptr) return true;
  const Parts parts = chosen.layout->Unpack(*id);
  if (parts.tick > chosen.definition->max_tick()) return false;
  *id = chosen.definition->Pack(parts);
  return true;
}

void Rearrange(const ChosenLayout &chosen, IdSpan *span) {
  if (span->kind == SpanKind::kEmpty) return;
  if (!Rearrange(chosen, &span->first)) span->kind = SpanKind::kEmpty;
  if (span->kind == SpanKind::kBounded && !Rearrange(chosen, &span->end)) span->kind = SpanKind::kOpen;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_id_at) {
  const TimestampTz ts = PG_GETARG_TIMESTAMPTZ(0);
  const ChosenLayout chosen = OrderedLayout(fcinfo);
  int64_t id = 0;
  if (unlikely(!FirstIdAt(*chosen.layout, UnixUsFromTimestamp(ts), &id) || !Rearrange(chosen, &id)))
    ReportNoIdAt(ts, chosen);
  PG_RETURN_INT64(id);
}

SNOWFLAKE_FUNCTION(snowflake_range) {
  const RangeType *during = PG_GETARG_RANGE_P(0);
  const ChosenLayout chosen = OrderedLayout(fcinfo);
  RangeBound lower, upper;
  bool empty = false;
  range_deserialize(lookup_type_cache(RangeTypeGetOid(during), TYPECACHE_RANGE_INFO), during, &lower, &upper, &empty);
  IdSpan span = empty ? IdSpan{SpanKind::kEmpty, 0, 0} : IdsBetween(*chosen.layout, CutAt(lower), CutAt(upper));
  if (span.kind == SpanKind::kLowerNegative) ReportNoIdAt(DatumGetTimestampTz(lower.val), chosen);
  if (span.kind == SpanKind::kUpperNegative) ReportNoIdAt(DatumGetTimestampTz(upper.val), chosen);
  Rearrange(chosen, &span);
  PG_RETURN_RANGE_P(IdRange(span));
}

}  // namespace snowflake
