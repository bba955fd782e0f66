// A query of the catalogs by SPI, and the fields of its rows. All of it runs between SPI_connect()
// and SPI_finish(), whose memory holds the results.
#pragma once

#include "pg/catalogs.h"
#include "pg/spi.h"

namespace snowflake {
// Until the present nest level of settings ends, SQL is read and written in one way, whatever the
// session has set. Never while rows are evaluated: functions of checks and indexes must see the
// settings that the table's own sessions have.
void PinSettings();

// The texts of a query in queries/, which are one behind the other: at most five parts and its own.
struct QueryParts {
  const char *texts[6];
};

// One query; with read_only off it gets a snapshot of its own.
template <typename... Values>
void Query(const char *query, Values... values) {
  Oid types[] = {values.type..., InvalidOid};
  Datum datums[] = {values.datum..., Datum{0}};
  const int rc = SPI_execute_with_args(query, sizeof...(values), types, datums, nullptr, false, 0);
  if (rc != SPI_OK_SELECT) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), query);
}

// The same, with a plan that the session keeps.
void RunQuery(const QueryParts &query, int count, Oid *types, Datum *values);

template <typename... Values>
void Query(const QueryParts &query, Values... values) {
  Oid types[] = {values.type..., InvalidOid};
  Datum datums[] = {values.datum..., Datum{0}};
  RunQuery(query, sizeof...(values), types, datums);
}

inline Value OidValue(Oid oid) { return Of(OIDOID, ObjectIdGetDatum(oid)); }
inline Value OidsValue(List *oids) {
  Datum *datums = static_cast<Datum *>(palloc(sizeof(Datum) * (static_cast<Size>(list_length(oids)) + 1)));
  ListCell *cell = nullptr;
  foreach (cell, oids) datums[foreach_current_index(cell)] = ObjectIdGetDatum(lfirst_oid(cell));
  ArrayType *array = construct_array(datums, list_length(oids), OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  return Of(OIDARRAYOID, PointerGetDatum(array));
}

// The first fields of all rows of a query.
template <typename... Values>
List *Texts(const QueryParts &parts, Values... values) {
  Query(parts, values...);
  List *texts = NIL;
  for (uint64 row = 0; row < SPI_processed; ++row)
    texts = lappend(texts, SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1));
  SPI_freetuptable(SPI_tuptable);
  return texts;
}

// A row of the newest query, while it is read.
class Row {
 public:
  explicit Row(uint64 nth) : nth_(nth) {}

  // By the name of the query's column. Only a text may be null.
  char *Text(const char *column) const { return SPI_getvalue(Tuple(), SPI_tuptable->tupdesc, NumberOf(column)); }
  Oid Object(const char *column) const { return DatumGetObjectId(Field(column)); }
  bool Flag(const char *column) const { return DatumGetBool(Field(column)); }
  char Letter(const char *column) const { return DatumGetChar(Field(column)); }
  int64_t Count(const char *column) const { return DatumGetInt64(Field(column)); }
  int16 Number(const char *column) const { return DatumGetInt16(Field(column)); }

 private:
  HeapTuple Tuple() const { return SPI_tuptable->vals[nth_]; }
  static int NumberOf(const char *column);
  Datum Field(const char *column) const;

  uint64 nth_;
};

template <typename T>
struct RowsOf {
  T *all;
  int64_t count;

  T *begin() const { return all; }
  T *end() const { return all + count; }
};

// What T::Read() makes of each row. It stays when another query runs.
template <typename T, typename Parts, typename... Values>
RowsOf<T> Read(const Parts &query, Values... values) {
  Query(query, values...);
  const RowsOf<T> rows = {static_cast<T *>(palloc(sizeof(T) * (SPI_processed + 1))), Rows()};
  for (int64_t i = 0; i < rows.count; ++i) rows.all[i] = T::Read(Row(static_cast<uint64>(i)));
  SPI_freetuptable(SPI_tuptable);
  return rows;
}

}  // namespace snowflake
