// Reads the segment by the extension's SQL functions, and chooses the change or the error.
#include "convert/segment.h"

#include "pg/report.h"

namespace snowflake {
namespace {
// As snowflake_create_segment() has them by itself.
constexpr int32_t kStep = 1000;
constexpr int32_t kMaxStep = 1000000;

// A segment of that name in the registry.
struct FoundSegment {
  bool registry_here, exists;
  int64_t first_value, last_value, max_value;
  const char *holder;
  int64_t held_to;  // 0: no other node has any
};

int64_t LargestOf(Oid type) { return type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX; }

FoundSegment ReadSegment(const Conversion &conversion, bool lock) {
  const Function standing = FindFunction(Snowflake(), "snowflake_segment_standing", 2);
  const HeapTupleHeader row = DatumGetHeapTupleHeader(
      OidFunctionCall2(standing.oid, CStringGetTextDatum(conversion.segment), BoolGetDatum(lock)));
  bool is_null = false;
  const auto number = [&](AttrNumber field) {
    const Datum value = GetAttributeByNum(row, field, &is_null);
    return is_null ? 0 : DatumGetInt64(value);
  };
  const bool here = DatumGetBool(GetAttributeByNum(row, 1, &is_null));
  const bool dropped = DatumGetBool(GetAttributeByNum(row, 2, &is_null));
  const bool exists = !is_null && !dropped;
  const Datum holder = GetAttributeByNum(row, 6, &is_null);
  const char *name = is_null ? nullptr : TextDatumGetCString(holder);
  return {here, exists, number(3), number(4), number(5), name, number(7)};
}

// The columns whose numbers are not the segment's: all, through their root, or those that were
// attached since. False if there is none.
template <typename Body>
bool ForOthersNumbers(const IdColumns &columns, Body body) {
  const int64_t count = columns.all[0].issues ? columns.count : 1;
  bool any = false;
  for (int64_t i = 0; i < count; ++i) {
    if (columns.all[i].issues) continue;
    body(columns.all[i]);
    any = true;
  }
  return any;
}

// Nothing of what others have is in the column.
void CheckOtherNodes(const Conversion &conversion, const IdColumns &columns, const FoundSegment &found) {
  if (found.held_to == 0) return;
  ForOthersNumbers(columns, [&](const IdColumn &column) {
    int64_t smallest = 0;
    if (SmallestPositive(conversion, column, &smallest) && smallest <= found.held_to)
      CannotConvert(
          ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, column.described,
          psprintf("Node \"%s\" may hold numbers of segment \"%s\" up to %lld, and the column's numbers begin at "
                   "%lld, so it could issue one of them again.",
                   found.holder, conversion.segment, Long(found.held_to), Long(smallest)),
          "Name another segment. If that node will never run again, its row in snowflake_segment_range can be "
          "deleted.");
  });
}

SegmentChange Creating(const Conversion &conversion, int64_t from, int64_t max_value, const Function &create) {
  const char *statement = psprintf(
      "SELECT %s(%s::pg_catalog.text, %lld::pg_catalog.int8, %d, %lld::pg_catalog.int8, %d, NULL::pg_catalog.name);",
      create.name_sql, quote_literal_cstr(conversion.segment), Long(from), kStep, Long(max_value), kMaxStep);
  return {statement, create.oid, true, from, max_value};
}

SegmentChange Raising(const Conversion &conversion, int64_t from, const Function &raise) {
  const char *statement = psprintf("SELECT %s(%s::pg_catalog.text, %lld::pg_catalog.int8);", raise.name_sql,
                                   quote_literal_cstr(conversion.segment), Long(from));
  return {statement, raise.oid, false, from, 0};
}

}  // namespace

SegmentChange PlanSegment(const Conversion &conversion, const IdColumns &columns) {
  const IdColumn &column = columns.all[0];
  int64_t last = LastOfSequences(conversion, columns);
  const bool others = ForOthersNumbers(columns, [&](const IdColumn &part) {
    int64_t largest = 0;
    if (LargestId(conversion, part, &largest)) last = Max(last, largest);
  });
  if (!others) return {};
  const int64_t most = LargestOf(column.type);
  if (last >= most)
    CannotConvert(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, column.described,
                  psprintf("Its numbers or those of its sequence go up to %lld, and %s has no larger ones.", Long(last),
                           column.type_name),
                  "Change its type first, or give these rows smaller numbers.");
  const Function create = FindFunction(Snowflake(), "snowflake_create_segment", 6);
  const Function raise = FindFunction(Snowflake(), "snowflake_raise_segment", 2);
  const SegmentChange creating = Creating(conversion, last + 1, most, create);
  const SegmentChange raising = Raising(conversion, last + 1, raise);
  const FoundSegment found = ReadSegment(conversion, !conversion.dry_run && MayExecute(raise.oid));
  if (!found.registry_here) {
    if (last > 0)
      CannotConvert(
          ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, column.described,
          psprintf("The registry is in another database, so the numbers that nodes hold cannot be seen from "
                   "here. The numbers of the column or its sequence go up to %lld.",
                   Long(last)),
          psprintf("In the registry's database, create a segment from %lld to %lld with snowflake_create_segment(), "
                   "or with snowflake_raise_segment() raise one to %lld of which no node holds smaller numbers. Then "
                   "set the default here with ALTER TABLE.",
                   Long(last + 1), Long(most), Long(last + 1)));
    return {};
  }
  if (found.exists && found.last_value >= most)
    CannotConvert(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, column.described,
                  psprintf("The next number of segment \"%s\" is above %lld, and %s cannot hold it.",
                           conversion.segment, Long(found.last_value), column.type_name),
                  "Name another segment, or change the column's type first.");
  if (found.exists && last < found.first_value) return {};
  CheckOtherNodes(conversion, columns, found);
  if (found.exists && last >= found.max_value)
    CannotConvert(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, column.described,
                  psprintf("Its numbers or those of its sequence go up to %lld, and segment \"%s\" ends at %lld.",
                           Long(last), conversion.segment, Long(found.max_value)),
                  "Name another segment.");
  const Function &function = found.exists ? raise : create;
  if (!MayExecute(function.oid))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for function %s", function.name_sql),
             errdetail("The segment's numbers must begin above %lld for %s.", Long(last), column.described),
             errhint("A role that may execute it can convert the table as a member of the table's owner, or create a "
                     "segment that begins above that number, to which the owner can then convert.")));
  return found.exists ? raising : creating;
}

void ExecuteChange(const Conversion &conversion, const SegmentChange &change) {
  if (change.statement == nullptr) return;
  const Datum name = CStringGetTextDatum(conversion.segment), from = Int64GetDatum(change.from);
  if (!change.create) {
    OidFunctionCall2(change.function, name, from);
    return;
  }
  const NullableDatum arguments[] = {{name, false},
                                     {from, false},
                                     {Int32GetDatum(kStep), false},
                                     {Int64GetDatum(change.max_value), false},
                                     {Int32GetDatum(kMaxStep), false},
                                     {Datum{0}, true}};  // no usage_role: every role, as with the column's own sequence
  FmgrInfo function = {};
  fmgr_info(change.function, &function);
  LOCAL_FCINFO(call, lengthof(arguments));
  InitFunctionCallInfoData(*call, &function, lengthof(arguments), InvalidOid, nullptr, nullptr);
  for (size_t i = 0; i < lengthof(arguments); ++i) call->args[i] = arguments[i];
  FunctionCallInvoke(call);
}

}  // namespace snowflake
