// The SQL functions that write ids as text and read them again. Arguments, results and errors: COMMENT ON in
// the install script.
#include "pg/pg.h"

#include "core/text.h"
#include "pg/sql/report.h"

namespace snowflake {

namespace {

std::string_view View(const text *value) { return {VARDATA_ANY(value), static_cast<size_t>(VARSIZE_ANY_EXHDR(value))}; }

const TextEncoding &EncodingNamed(const text *name) {
  const TextEncoding *encoding = FindTextEncoding(View(name));
  if (encoding == nullptr) ReportUnknownEncoding(text_to_cstring(name));
  return *encoding;
}

}  // namespace

}  // namespace snowflake

using namespace snowflake;

SNOWFLAKE_FUNCTION(snowflake_to_text) {
  const int64_t id = PG_GETARG_INT64(0);
  const TextEncoding &encoding = EncodingNamed(PG_GETARG_TEXT_PP(1));
  if (id < 0) ReportNegativeId(id);
  char digits[kMaxTextWidth];
  WriteText(encoding, id, digits);
  PG_RETURN_TEXT_P(cstring_to_text_with_len(digits, encoding.width));
}

SNOWFLAKE_FUNCTION(snowflake_from_text) {
  const text *id = PG_GETARG_TEXT_PP(0);
  const TextEncoding &encoding = EncodingNamed(PG_GETARG_TEXT_PP(1));
  const TextReading reading = ReadText(encoding, View(id));
  if (reading.fault != TextFault::kNone) ReportTextFault(encoding, text_to_cstring(id), reading);
  PG_RETURN_INT64(reading.id);
}
