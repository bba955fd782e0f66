// What a conversion cannot see in the catalogs, and so warns of.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// A NOTICE for each of the first warnings, and one with the number of the others. If the columns
// are of several conversions, this one has no column. `online`: also of what only an online
// conversion does.
void NoticeWarnings(const Conversion &conversion, const IdColumns &columns, bool online);

// A row for each of them.
void ReturnWarnings(FunctionCallInfo fcinfo, const Conversion &conversion, const IdColumns &columns, bool online);

}  // namespace snowflake
