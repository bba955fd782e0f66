// The layout of a call: this database's, or a named one.
#pragma once

#include "core/layout.h"
#include "pg/pg.h"

namespace snowflake {
// The layout that argument number `argument` of an SQL function names, or this database's if it was
// called without that argument. Error: 22023 if no layout has that name.
const Layout &LayoutArgument(FunctionCallInfo fcinfo, int argument);

// For the beginning of a sentence. A named layout is identified by its address.
const char *NameOfLayout(const Layout &layout);

[[noreturn]] void ReportForeignId(int64_t id, const Layout &layout);

}  // namespace snowflake
