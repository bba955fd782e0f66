// Parameters of statements by SPI, and the number of rows.
#pragma once

#include "pg/pg.h"
#include "pg/execution.h"

namespace snowflake {
struct Value {
  Oid type;
  Datum datum;
};
inline Value Int8(int64_t value) { return {INT8OID, Int64GetDatum(value)}; }
inline Value Int4(int32_t value) { return {INT4OID, Int32GetDatum(value)}; }
inline Value Bool(bool value) { return {BOOLOID, BoolGetDatum(value)}; }
inline Value Of(Oid type, Datum datum) { return {type, datum}; }
inline Value TextValue(const char *text) { return Of(TEXTOID, CStringGetTextDatum(text)); }
inline Value TimeValue(int64_t unix_us) {
  return Of(TIMESTAMPTZOID, TimestampTzGetDatum(TimestampFromUnixUs(unix_us)));
}

inline int64_t Rows() { return static_cast<int64_t>(SPI_processed); }

}  // namespace snowflake
