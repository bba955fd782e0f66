// Rows that SQL functions return, the values in them, and arguments.
#pragma once

#include <string_view>

#include "pg/pg.h"
#include "pg/execution.h"

namespace snowflake {
inline std::string_view View(const text *value) {
  return {VARDATA_ANY(value), static_cast<size_t>(VARSIZE_ANY_EXHDR(value))};
}

// The row type of a function's result, looked up once for each call site of a query.
inline TupleDesc ResultDescriptor(FunctionCallInfo fcinfo) {
  if (fcinfo->flinfo->fn_extra == nullptr) {
    MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
    TupleDesc descriptor = nullptr;
    if (get_call_result_type(fcinfo, nullptr, &descriptor) != TYPEFUNC_COMPOSITE)
      elog(ERROR, "return type must be a row type");
    fcinfo->flinfo->fn_extra = BlessTupleDesc(descriptor);
    MemoryContextSwitchTo(caller);
  }
  return static_cast<TupleDesc>(fcinfo->flinfo->fn_extra);
}

// Adds a row to the result that InitMaterializedSRF() began.
inline void AddRow(FunctionCallInfo fcinfo, Datum *values, bool *nulls) {
  const ReturnSetInfo *result = reinterpret_cast<const ReturnSetInfo *>(fcinfo->resultinfo);
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

inline Datum TimeDatum(int64_t unix_us) { return TimestampTzGetDatum(TimestampFromUnixUs(unix_us)); }

inline Datum Int8ArrayDatum(const int64_t *values, int count) {
  Datum *elements = static_cast<Datum *>(palloc(sizeof(Datum) * (count + 1)));
  for (int i = 0; i < count; ++i) elements[i] = Int64GetDatum(values[i]);
  return PointerGetDatum(construct_array(elements, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

inline Datum IntervalDatum(int64_t us) {
  Interval *interval = static_cast<Interval *>(palloc0(sizeof(Interval)));
  interval->time = us;
  return IntervalPGetDatum(interval);
}

}  // namespace snowflake
