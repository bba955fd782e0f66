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

// The texts of a query in queries/, one behind the other: at most seven parts and its own.
struct QueryParts {
  const char *texts[8];
};

// Columns as queries take them: two arrays of one length.
struct ColumnSet {
  Value tables, numbers;
};

// The values of a query's parameters; a ColumnSet is two of them.
class Parameters {
 public:
  template <typename... Values>
  explicit Parameters(const Values &...values) {
    (Add(values), ...);
  }

  int count = 0;
  Oid types[8];
  Datum datums[8];

 private:
  void Add(const Value &value) {
    Assert(count < 8);
    types[count] = value.type;
    datums[count++] = value.datum;
  }
  void Add(const ColumnSet &set) { Add(set.tables), Add(set.numbers); }
};

// Runs a query; one of queries/ with a plan that the session keeps.
void RunQuery(const char *query, Parameters parameters);
void RunQuery(const QueryParts &query, Parameters parameters);

inline Value OidValue(Oid oid) { return Of(OIDOID, ObjectIdGetDatum(oid)); }
inline Value OidsValue(const List *oids) {
  Datum *datums = static_cast<Datum *>(palloc(sizeof(Datum) * (static_cast<Size>(list_length(oids)) + 1)));
  const ListCell *cell = nullptr;
  foreach (cell, oids) datums[foreach_current_index(cell)] = ObjectIdGetDatum(lfirst_oid(cell));
  ArrayType *array = construct_array(datums, list_length(oids), OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  return Of(OIDARRAYOID, PointerGetDatum(array));
}

// The first fields of all rows of a query.
template <typename... Values>
List *Texts(const QueryParts &query, Values... values) {
  RunQuery(query, Parameters(values...));
  List *texts = NIL;
  for (uint64 row = 0; row < SPI_processed; ++row)
    texts = lappend(texts, SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1));
  SPI_freetuptable(SPI_tuptable);
  return texts;
}

// OIDs, of the first column of each row.
template <typename... Values>
List *Oids(const QueryParts &query, Values... values) {
  RunQuery(query, Parameters(values...));
  List *oids = NIL;
  bool is_null = false;
  for (uint64 row = 0; row < SPI_processed; ++row)
    oids =
        lappend_oid(oids, DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, 1, &is_null)));
  SPI_freetuptable(SPI_tuptable);
  return oids;
}

// A field of a row of the newest query, while it is read. Only a text may be null.
class Field {
 public:
  Field(uint64 row, const char *column) : row_(row), column_(column) {}

  operator char *() const { return SPI_getvalue(SPI_tuptable->vals[row_], SPI_tuptable->tupdesc, Number()); }
  operator Oid() const { return DatumGetObjectId(NotNull()); }
  operator bool() const { return DatumGetBool(NotNull()); }
  operator char() const { return DatumGetChar(NotNull()); }
  operator int64_t() const { return DatumGetInt64(NotNull()); }
  operator int16() const { return DatumGetInt16(NotNull()); }

 private:
  int Number() const;
  Datum NotNull() const;

  uint64 row_;
  const char *column_;
};

// A row, as a struct with a member for each of some columns.
struct Row {
  uint64 nth;

  template <typename T, typename... Columns>
  T As(Columns... columns) const {
    return {Field(nth, columns)...};
  }
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
  RunQuery(query, Parameters(values...));
  const RowsOf<T> rows = {static_cast<T *>(palloc(sizeof(T) * (SPI_processed + 1))), Rows()};
  for (int64_t i = 0; i < rows.count; ++i) rows.all[i] = T::Read(Row{static_cast<uint64>(i)});
  SPI_freetuptable(SPI_tuptable);
  return rows;
}

}  // namespace snowflake
