// The registry's tables, reached over SPI as their owner. What the protocol and settling share.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// The four tables of the extension that a function belongs to.
struct Tables {
  Oid schema;
  Oid owner;
  Oid origin;
  char *registry_name;  // qualified and quoted
  char *watermark_name;
  char *layout_name;
  char *origin_name;
};

// Errors: 55000 when one is missing or is no table, 42501 when they have several owners.
Tables FindTables(Oid fn_oid);

// Who the process was before it became the tables' owner.
struct Fence {
  Oid user;
  int security_context;
  int guc_level;
};
Fence EnterFence(Oid owner);
void LeaveFence(const Fence &fence);

// Runs `body` as the tables' owner, security-restricted, with a pinned search_path and SPI connected. An ERROR out of it
// undoes everything with the transaction.
template <typename Body>
void AsOwner(const Tables &tables, Body body) {
  const Fence fence = EnterFence(tables.owner);
  SPI_connect();
  body();
  SPI_finish();
  LeaveFence(fence);
}

// A parameter of a statement.
struct Value {
  Oid type;
  Datum datum;
};
inline Value Int8(int64_t value) { return {INT8OID, Int64GetDatum(value)}; }
inline Value Int4(int32_t value) { return {INT4OID, Int32GetDatum(value)}; }
inline Value Bool(bool value) { return {BOOLOID, BoolGetDatum(value)}; }
inline Value Of(Oid type, Datum datum) { return {type, datum}; }

// Inside AsOwner(): one statement, and what it gave.
void ExecuteWith(const char *command, int count, const Value *values);

template <typename... Values>
void Execute(const char *command, Values... values) {
  const Value all[] = {values..., Value{}};
  ExecuteWith(command, static_cast<int>(sizeof...(values)), all);
}

inline int64_t Rows() { return static_cast<int64_t>(SPI_processed); }

// A value of the result, whose type must be as the extension made it: the tables' owner may have changed a column, and a
// number taken for a pointer would be read through. Error: 55000.
Datum Result(int64_t row, int column, Oid type, bool *is_null);

// The same where null is as wrong as a foreign type.
int64_t Int8Result(int64_t row, int column);
bool BoolResult(int64_t row, int column);

}  // namespace snowflake
