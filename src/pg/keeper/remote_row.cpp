// Reads values of a registry's answer, which may be anything.
#include "pg/keeper/remote_row.h"

#include "libpq-fe.h"
#include "pg/presentable.h"

namespace snowflake {
namespace {
constexpr size_t kLongestInteger = sizeof("-9223372036854775808") - 1;

bool Parse(const char *text, int64_t *number) {
  char *end = nullptr;
  errno = 0;
  *number = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0';
}

}  // namespace

void ReportMalformed(const char *detail) {
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("invalid response from registry"),
                  errdetail_internal("%s", detail)));
}

void RemoteRow::Refuse(const char *kind) const {
  char name[NAMEDATALEN], shown[64];
  const char *real_name = PQfname(row_, column_ - 1);
  CopyPresentable(name, sizeof(name), real_name != nullptr ? real_name : "");
  CopyPresentable(shown, sizeof(shown), PQgetvalue(row_, 0, column_ - 1));
  ReportMalformed(psprintf("Its column %d, \"%s\", is \"%s\", which is not a valid %s.", column_, name, shown, kind));
}

const char *RemoteRow::Next(size_t longest, const char *kind) {
  const int column = column_++;
  if (column >= PQnfields(row_)) ReportMalformed(psprintf("It has no column %d.", column_));
  if (PQgetisnull(row_, 0, column)) ReportMalformed(psprintf("Its column %d is null.", column_));
  const char *value = PQgetvalue(row_, 0, column);
  if (strnlen(value, longest + 1) > longest) Refuse(kind);
  return value;
}

bool RemoteRow::PassNull() {
  if (column_ >= PQnfields(row_) || !PQgetisnull(row_, 0, column_)) return false;
  ++column_;
  return true;
}

int64_t RemoteRow::Integer(int64_t lowest, int64_t highest, const char *kind) {
  int64_t number = 0;
  if (!Parse(Next(kLongestInteger, kind), &number) || number < lowest || number > highest) Refuse(kind);
  return number;
}

int64_t RemoteRow::Int8() { return Integer(PG_INT64_MIN, PG_INT64_MAX, "bigint"); }
int32_t RemoteRow::Int4() { return static_cast<int32_t>(Integer(PG_INT32_MIN, PG_INT32_MAX, "integer")); }

bool RemoteRow::Bool() {
  const char *value = Next(1, "boolean");
  if (value[0] != 't' && value[0] != 'f') Refuse("boolean");
  return value[0] == 't';
}

// `longest`: of an element as it is spelled, in bytes.
char **RemoteRow::Elements(int count, size_t longest, const char *kind) {
  const char *value = Next((longest + strlen(",")) * static_cast<size_t>(count) + strlen("{}"), kind);
  char **elements = static_cast<char **>(palloc(sizeof(char *) * count));
  char *to = static_cast<char *>(palloc(strlen(value) + 1));
  const char *at = value;
  if (*at++ != '{') Refuse(kind);
  for (int i = 0; i < count; ++i) {
    elements[i] = to;
    const bool quoted = *at == '"';
    if (quoted) ++at;
    const char *begin = at;
    while (*at != '\0' && (quoted ? *at != '"' : *at != ',' && *at != '}')) {
      if (*at == '\\' && at[1] != '\0') ++at;
      *to++ = *at++;
    }
    *to++ = '\0';
    if (quoted ? *at++ != '"' : at == begin) Refuse(kind);
    if (*at++ != (i + 1 < count ? ',' : '}')) Refuse(kind);
  }
  if (*at != '\0') Refuse(kind);
  return elements;
}

int64_t *RemoteRow::Int8s(int count) {
  const char *kind = psprintf("array of %d bigints", count);
  const char *const *elements = Elements(count, kLongestInteger, kind);
  int64_t *numbers = static_cast<int64_t *>(palloc(sizeof(int64_t) * count));
  for (int i = 0; i < count; ++i)
    if (!Parse(elements[i], &numbers[i])) Refuse(kind);
  return numbers;
}

// Each character may be escaped, and each name quoted.
char **RemoteRow::Names(int count) {
  return Elements(count, size_t{2} * NAMEDATALEN + 2, psprintf("array of %d names", count));
}

char *RemoteRow::Text() { return pstrdup(Next(1024, "text")); }
char *RemoteRow::Name() { return pstrdup(Next(2 * NAMEDATALEN, "name")); }

}  // namespace snowflake
