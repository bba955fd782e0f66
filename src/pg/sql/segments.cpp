// Issuing numbers of segments, and creating, raising and dropping segments. Arguments, results and
// errors: COMMENT ON in the install script.
#include "pg/extension.h"
#include "pg/issue/segments.h"
#include "pg/registry/segments.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"
#include "pg/sql/hooks.h"
#include "pg/state/state_block.h"

namespace snowflake {
namespace {
Oid ExtensionOf(FunctionCallInfo fcinfo) { return ExtensionOfFunction(fcinfo->flinfo->fn_oid); }

const char *SegmentHere(FunctionCallInfo fcinfo) {
  if (!RegistryIsHere())
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry is in another database"),
                    errdetail("This database uses that registry's segments (snowflake.registry)."),
                    errhint("Call the function there. If the setting leads to this database, first request an id or a "
                            "number of a segment, so that the node detects that.")));
  return text_to_cstring(PG_GETARG_TEXT_PP(0));
}

// What this database's node has of it.
SegmentRef SegmentOfNode(Oid extension, const char *name) {
  return HasSharedMemory() ? FindSegment(extension, name) : SegmentRef{};
}

// Raises that; a rollback leaves a gap.
void RaiseHere(Oid extension, const char *name, int64_t value) {
  const SegmentRef segment = SegmentOfNode(extension, name);
  if (segment.slot != nullptr)
    WithSegment(segment, [&]() SNOWFLAKE_HOLDS(segment.slot->mutex) { RaiseTo(&segment.slot->ranges, value); });
}

// A copy of what is shown of a slot.
struct SegmentShot {
  Ranges ranges;
  char name[sizeof(SegmentSlot::name)];
  char usage_role[sizeof(SegmentSlot::usage_role)];
};

void ShowSegment(FunctionCallInfo fcinfo, const SegmentShot &slot) {
  const Ranges &ranges = slot.ranges;
  const int64_t left = ranges.current.left + ranges.next.left, used = ranges.size - ranges.current.left;
  const int64_t now_us = SteadyUs();
  const double rate = used > 0 ? static_cast<double>(used) / Seconds(Max(now_us - ranges.since_us, int64_t{1}))
                      : ranges.lasted_us > 0 ? static_cast<double>(ranges.size_before) / Seconds(ranges.lasted_us)
                                             : 0;
  const Range &first = ranges.current.left > 0 ? ranges.current : ranges.next;
  const double lasts_us = rate > 0 ? static_cast<double>(left) / rate * USECS_PER_SEC : 0;
  Datum values[] = {CStringGetTextDatum(slot.name),
                    Int64GetDatum(first.left > 0 ? first.next() : 0),
                    Int64GetDatum(left),
                    Float8GetDatum(rate),
                    IntervalDatum(static_cast<int64_t>(Min(lasts_us, 9e18))),
                    CStringGetDatum(slot.usage_role)};
  bool nulls[lengthof(values)] = {false, first.left == 0, false, false, rate <= 0, slot.usage_role[0] == '\0'};
  AddRow(fcinfo, values, nulls);
}

}  // namespace

void WatchRestoredSegments() {
  restored_segment = [](Oid extension, const char *name, int64_t last_value) {
    if (RegistryIsHere()) RaiseHere(extension, name, Plus(last_value, 1));
  };
}

SNOWFLAKE_FUNCTION(snowflake_segment_nextval) {
  PG_RETURN_INT64(NextNumber(fcinfo->flinfo->fn_oid, &fcinfo->flinfo->fn_extra, PG_GETARG_TEXT_PP(0)));
}

SNOWFLAKE_FUNCTION(snowflake_segment_currval) {
  const int64_t number = LastNumber(fcinfo->flinfo->fn_oid, PG_GETARG_TEXT_PP(0));
  if (number == 0)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("this session has had no number of segment \"%s\" yet", text_to_cstring(PG_GETARG_TEXT_PP(0))),
             errhint("Call snowflake_segment_nextval() first.")));
  PG_RETURN_INT64(number);
}

SNOWFLAKE_FUNCTION(snowflake_create_segment) {
  CheckNotNull(fcinfo, "snowflake_create_segment", {"name", "start", "step", "max_value", "max_step"});
  const char *name = SegmentHere(fcinfo);
  ProtocolCreateSegment(ExtensionOf(fcinfo), name, PG_GETARG_INT64(1), PG_GETARG_INT32(2), PG_GETARG_INT64(3),
                        PG_GETARG_INT32(4), PG_ARGISNULL(5) ? nullptr : PG_GETARG_NAME(5));
  NoteSegmentCreated();
  PG_RETURN_VOID();
}

// The row is locked until the end of the transaction, so the keeper acquires no range meanwhile.
SNOWFLAKE_FUNCTION(snowflake_drop_segment) {
  CheckNotNull(fcinfo, "snowflake_drop_segment", {"name"});
  const char *name = SegmentHere(fcinfo);
  ProtocolDropSegment(ExtensionOf(fcinfo), name);
  const SegmentRef segment = SegmentOfNode(ExtensionOf(fcinfo), name);
  if (segment.slot != nullptr) FreeSegment(segment);
  PG_RETURN_VOID();
}

SNOWFLAKE_FUNCTION(snowflake_raise_segment) {
  CheckNotNull(fcinfo, "snowflake_raise_segment", {"name", "value"});
  const char *name = SegmentHere(fcinfo);
  const int64_t value = PG_GETARG_INT64(1);
  const int64_t next = ProtocolRaiseSegment(ExtensionOf(fcinfo), name, value);
  RaiseHere(ExtensionOf(fcinfo), name, value);
  PG_RETURN_INT64(next);
}

SNOWFLAKE_FUNCTION(snowflake_get_segments) {
  InitMaterializedSRF(fcinfo, 0);
  const Oid extension = ExtensionOf(fcinfo);
  const int slots = HasSharedMemory() ? SegmentSlots() : 0;
  for (int i = 0; i < slots; ++i) {
    SegmentSlot *slot = SegmentSlotAt(i);
    SegmentShot copy = {};
    bool ours = false;
    WithMutex(slot, [&]() SNOWFLAKE_HOLDS(slot->mutex) {
      ours = slot->database == MyDatabaseId && slot->extension == extension && slot->segment_id != 0;
      memcpy(copy.name, slot->name, sizeof(copy.name));
      copy.ranges = slot->ranges;
      memcpy(copy.usage_role, slot->usage_role, sizeof(copy.usage_role));
    });
    if (ours) ShowSegment(fcinfo, copy);
  }
  return Datum{0};
}

}  // namespace snowflake
