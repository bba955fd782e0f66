// The SQL functions that write ids as text and read them. COMMENT ON has arguments and errors.
#include "core/text.h"

#include "pg/report.h"
#include "pg/rows.h"
#include "pg/sql/prefix.h"

namespace snowflake {
namespace {
const TextEncoding &EncodingNamed(const text *name) {
  const TextEncoding *encoding = FindTextEncoding(View(name));
  if (encoding == nullptr) {
    StringInfoData names;
    initStringInfo(&names);
    for (const TextEncoding &known : kTextEncodings)
      appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", known.name);
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown encoding \"%s\"", text_to_cstring(name)),
                    errdetail("Names are written in lower case."), errhint("The encodings are: %s.", names.data)));
  }
  return *encoding;
}

void CheckReading(const TextEncoding &encoding, const text *id, const TextReading &reading, size_t foreign_at) {
  const TextFault fault = reading.fault;
  if (fault == TextFault::kNone) return;
  const char *name = encoding.name;
  const char *input = text_to_cstring(id);
  if (fault == TextFault::kForeign) {
    const char *at = input + foreign_at;
    const int bytes = pg_encoding_mblen(GetDatabaseEncoding(), at);
    ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
                    errdetail("Character \"%.*s\" at position %d is not a digit of %s.",
                              static_cast<int>(strnlen(at, static_cast<size_t>(bytes))), at,
                              pg_mbstrlen_with_len(input, static_cast<int>(foreign_at)) + 1, name),
                    errhint("The digits of %s are %s%s.", name, encoding.digits,
                            encoding.any_case ? ", in upper or lower case" : "")));
  }
  if (fault == TextFault::kWidth)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
             errdetail_plural("It has %lld digit instead of %d.", "It has %lld digits instead of %d.",
                              static_cast<unsigned long>(reading.digits), Long(reading.digits), encoding.width),
             reading.digits < encoding.width
                 ? errhint("Get the complete text from its source; a truncated text that is padded is another id.")
                 : errhint("Check that it is one id, and which encoding it is in.")));
  if (fault == TextFault::kTooBig) {
    char largest[kMaxTextWidth];
    WriteText(encoding, PG_INT64_MAX, largest);
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("%s text \"%s\" is out of range", name, input),
                    errdetail("Its number is above %lld, the largest id, which is written \"%.*s\".",
                              Long(PG_INT64_MAX), encoding.width, largest),
                    errhint("Check where the text comes from, and which encoding it is in.")));
  }
}

std::string_view PrefixArgument(FunctionCallInfo fcinfo) {
  return PG_NARGS() > 2 ? Prefix(PG_GETARG_TEXT_PP(2)) : std::string_view();
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_to_text) {
  const int64_t id = PG_GETARG_INT64(0);
  const TextEncoding &encoding = EncodingNamed(PG_GETARG_TEXT_PP(1));
  if (id < 0)
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                    errdetail("A negative id has no text of fixed width that sorts in the order of the ids."),
                    errhint("Check where the id comes from: ids that were issued here are not negative.")));
  char *digits;
  text *result = TextWithPrefix(PrefixArgument(fcinfo), encoding.width, &digits);
  WriteText(encoding, id, digits);
  PG_RETURN_TEXT_P(result);
}

SNOWFLAKE_FUNCTION(snowflake_from_text) {
  const text *input = PG_GETARG_TEXT_PP(0);
  const TextEncoding &encoding = EncodingNamed(PG_GETARG_TEXT_PP(1));
  std::string_view digits = View(input);
  if (PG_NARGS() > 2) digits = DigitsAfter(PrefixArgument(fcinfo), input, encoding.name);
  const TextReading reading = ReadText(encoding, digits);
  CheckReading(encoding, input, reading, reading.at + static_cast<size_t>(digits.data() - View(input).data()));
  PG_RETURN_INT64(reading.id);
}

}  // namespace snowflake
