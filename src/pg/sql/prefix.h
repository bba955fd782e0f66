// Prefixes of texts, which say what an id identifies.
#pragma once

#include <string_view>

#include "pg/pg.h"

namespace snowflake {
// Error: 22023 unless it is a prefix.
std::string_view Prefix(const text *prefix);

// The digits of a text with this prefix. `what` says for messages what text. Error: 22P02 if the
// text has another prefix.
std::string_view DigitsAfter(std::string_view prefix, const text *input, const char *what);

// A text of that prefix, with room for `width` digits at `*digits`.
text *TextWithPrefix(std::string_view prefix, int width, char **digits);

}  // namespace snowflake
