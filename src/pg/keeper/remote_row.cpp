// Reads values of a registry's answer, which may be anything.
#include "pg/keeper/remote_row.h"

#include "libpq-fe.h"
#include "pg/keeper/blame.h"
#include "pg/presentable.h"

namespace snowflake {
void ReportMalformed(const char *detail) {
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("invalid response from registry"),
                  errdetail_internal("%s", detail), BlameRegistry()));
}

void RemoteRow::ReportInvalid(const char *kind) const {
  char name[NAMEDATALEN], shown[64];
  const char *real_name = PQfname(row_, column_ - 1);
  CopyPresentable(name, sizeof(name), real_name != nullptr ? real_name : "");
  CopyPresentable(shown, sizeof(shown), PQgetvalue(row_, 0, column_ - 1));
  ReportMalformed(psprintf("Its column %d, \"%s\", is \"%s\", which is not a valid %s.", column_, name, shown, kind));
}

const char *RemoteRow::NextField(size_t longest, const char *kind) {
  const int column = column_++;
  if (column >= PQnfields(row_)) ReportMalformed(psprintf("It has no column %d.", column_));
  if (PQgetisnull(row_, 0, column)) ReportMalformed(psprintf("Its column %d is null.", column_));
  const char *value = PQgetvalue(row_, 0, column);
  if (strnlen(value, longest + 1) > longest) ReportInvalid(kind);
  return value;
}

bool RemoteRow::PassNull() {
  if (column_ >= PQnfields(row_) || !PQgetisnull(row_, 0, column_)) return false;
  ++column_;
  return true;
}

int64_t RemoteRow::Integer(int64_t lowest, int64_t highest, const char *kind) {
  const char *value = NextField(strlen("-9223372036854775808"), kind);
  char *end = nullptr;
  errno = 0;
  const int64_t number = strtoll(value, &end, 10);
  if (errno != 0 || end == value || *end != '\0' || number < lowest || number > highest) ReportInvalid(kind);
  return number;
}

int64_t RemoteRow::ReadInt8() { return Integer(PG_INT64_MIN, PG_INT64_MAX, "bigint"); }
int32_t RemoteRow::ReadInt4() { return static_cast<int32_t>(Integer(PG_INT32_MIN, PG_INT32_MAX, "integer")); }
Oid RemoteRow::ReadOid() { return static_cast<Oid>(Integer(0, PG_UINT32_MAX, "oid")); }

bool RemoteRow::ReadBool() {
  const char *value = NextField(1, "boolean");
  if (value[0] != 't' && value[0] != 'f') ReportInvalid("boolean");
  return value[0] == 't';
}

char *RemoteRow::ReadString() { return pstrdup(NextField(1024, "text")); }
char *RemoteRow::ReadName() { return pstrdup(NextField(2 * NAMEDATALEN, "name")); }

}  // namespace snowflake
