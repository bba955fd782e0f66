// What a registry is asked for ranges by, as an SQL function. Result and errors: COMMENT ON in the
// install script.
#include "pg/extension.h"
#include "pg/registry/calls.h"
#include "pg/registry/limits.h"
#include "pg/registry/protocol.h"
#include "pg/registry/secrets.h"
#include "pg/registry/segments.h"
#include "pg/report.h"
#include "pg/rows.h"

namespace snowflake {

namespace {

struct Elements {
  Datum *values;
  int count;
};

[[noreturn]] void ReportRangeArrays() {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the arrays of snowflake_segment_ranges() do not match"),
           errdetail("They must be one-dimensional, without nulls, of equal length and have at most %d elements.",
                     kMostRanges)));
}

Elements Argument(FunctionCallInfo fcinfo, int index, Oid type) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(index);
  Elements elements = {};
  if (ARR_NDIM(array) > 1 || ARR_HASNULL(array)) ReportRangeArrays();
  int16 length = 0;
  bool by_value = false;
  char alignment = 0;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  deconstruct_array(array, type, length, by_value, alignment, &elements.values, nullptr, &elements.count);
  return elements;
}

const char *NameArgument(Datum value) {
  const char *name = TextDatumGetCString(value);
  if (strlen(name) > kMaxSegmentName) ReportSegmentName(static_cast<int64_t>(strlen(name)));
  return name;
}

// To give numbers back, it is the secret; else its hash.
Secret SecretOf(Datum bytes, bool closes) {
  Secret secret = {};
  if (closes && VARSIZE_ANY_EXHDR(DatumGetByteaPP(bytes)) == sizeof(secret.bytes)) return SecretFromDatum(bytes);
  secret.hash = SecretHashFromDatum(bytes);
  return secret;
}

Datum RolesDatum(const RangesAnswer &answer, int count) {
  Datum *roles = static_cast<Datum *>(palloc(sizeof(Datum) * (count + 1)));
  for (int i = 0; i < count; ++i) roles[i] = CStringGetTextDatum(answer.answers[i].usage_role);
  return PointerGetDatum(construct_array(roles, count, TEXTOID, -1, false, TYPALIGN_INT));
}

}  // namespace

}  // namespace snowflake

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_segment_ranges) {
  static const char *const names[] = {"node", "names", "segment_ids", "highest", "unused", "wanted", "secrets"};
  CheckNotNull(fcinfo, "snowflake_segment_ranges", names, 7);
  LimitTransaction("snowflake_segment_ranges");
  const char *node = NodeName(fcinfo);
  const Elements segments = Argument(fcinfo, 1, TEXTOID);
  Elements numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = Argument(fcinfo, 2 + i, INT8OID);
  const Elements secrets = Argument(fcinfo, 6, BYTEAOID);
  for (const Elements &elements : numbers)
    if (elements.count != segments.count || elements.count > kMostRanges) ReportRangeArrays();
  if (secrets.count != segments.count) ReportRangeArrays();

  const int count = segments.count;
  RangeAsk *asks = static_cast<RangeAsk *>(palloc(sizeof(RangeAsk) * (count + 1)));
  const auto number = [&](int argument, int i) { return DatumGetInt64(numbers[argument].values[i]); };
  for (int i = 0; i < count; ++i)
    asks[i] = {NameArgument(segments.values[i]),
               number(0, i),
               number(1, i),
               number(2, i),
               number(3, i),
               SecretOf(secrets.values[i], number(3, i) < 0)};
  const RangesRequest request = {node, false, count, asks};
  RangesAnswer answer = {};
  answer.answers = static_cast<RangeAnswer *>(palloc0(sizeof(RangeAnswer) * (count + 1)));
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  ProtocolRanges(extension, request, &answer);
  after_answer(extension);

  int64_t *columns[3];
  for (int64_t *&column : columns) column = static_cast<int64_t *>(palloc(sizeof(int64_t) * (count + 1)));
  for (int i = 0; i < count; ++i) {
    columns[0][i] = answer.answers[i].segment_id;
    columns[1][i] = answer.answers[i].range.last;
    columns[2][i] = answer.answers[i].range.left;
  }
  Datum values[] = {Int8ArrayDatum(columns[0], count),
                    Int8ArrayDatum(columns[1], count),
                    Int8ArrayDatum(columns[2], count),
                    RolesDatum(answer, count),
                    Int64GetDatum(answer.standing.system_identifier),
                    Int64GetDatum(answer.standing.timeline),
                    Int64GetDatum(answer.standing.word_us),
                    CStringGetTextDatum(answer.known)};
  bool nulls[lengthof(values)] = {};
  return HeapTupleGetDatum(heap_form_tuple(ResultDescriptor(fcinfo), values, nulls));
}
