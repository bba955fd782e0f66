// A row of what a registry answers over a connection, read from left to right. It is input, so
// every value is judged where it is read. Errors: 08P01, with what is wrong. What is returned is
// palloc'd.
#pragma once

#include "pg/pg.h"

typedef struct pg_result PGresult;

namespace snowflake {
[[noreturn]] void ReportMalformed(const char *detail);

class RemoteRow {
 public:
  explicit RemoteRow(const PGresult *row) : row_(row) {}

  // Whether the next value is null; if so, it is passed.
  bool PassNull();

  int64_t ReadInt8();
  int32_t ReadInt4();
  Oid ReadOid();
  bool ReadBool();
  // As the registry spells it, in its own encoding.
  char *ReadName();
  // At most 1 kB.
  char *ReadString();

 private:
  const char *NextField(size_t longest, const char *kind);
  int64_t Integer(int64_t lowest, int64_t highest, const char *kind);
  [[noreturn]] void ReportInvalid(const char *kind) const;

  const PGresult *row_;
  int column_ = 0;
};

}  // namespace snowflake
