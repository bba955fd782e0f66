// Checks prefixes, and writes and reads texts that have one.
#include "pg/sql/prefix.h"

#include "core/text.h"
#include "pg/rows.h"

namespace snowflake {
std::string_view Prefix(const text *prefix) {
  const std::string_view view = View(prefix);
  if (!IsPrefix(view))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid prefix \"%s\"", text_to_cstring(prefix)),
                    errdetail("A prefix has up to %d of the characters a to z and _, and does not begin or end with _.",
                              static_cast<int>(kMaxPrefix)),
                    errhint("Use a short name for what the id identifies, such as order, without the _ after it.")));
  return view;
}

std::string_view DigitsAfter(std::string_view prefix, const text *input, const char *what) {
  const PrefixedText read = SplitPrefix(View(input));
  if (read.Has(prefix)) return read.digits;
  const int found_size = static_cast<int>(read.prefix.size()), expected_size = static_cast<int>(prefix.size());
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", what, text_to_cstring(input)),
           prefix.empty()   ? errdetail("It has a prefix, and none is expected.")
           : read.separated ? errdetail("Its prefix is \"%.*s\" instead of \"%.*s\".", found_size, read.prefix.data(),
                                        expected_size, prefix.data())
                            : errdetail("It has no prefix; \"%.*s\" is expected.", expected_size, prefix.data()),
           errhint("Check where the text comes from: it identifies something else.")));
}

text *TextWithPrefix(std::string_view prefix, int width, char **digits) {
  const size_t before = prefix.empty() ? 0 : prefix.size() + 1;
  const size_t size = VARHDRSZ + before + static_cast<size_t>(width);
  text *result = static_cast<text *>(palloc(size));
  SET_VARSIZE(result, size);
  char *at = VARDATA(result);
  if (before > 0) {
    memcpy(at, prefix.data(), prefix.size());
    at[prefix.size()] = '_';
  }
  *digits = at + before;
  return result;
}

}  // namespace snowflake
