// Which layout a call means: this database's, or one of the well-known ones.
#pragma once

#include "core/layout.h"
#include "pg/pg.h"

namespace snowflake {

// The named one. Error: 22023 when there is none of that name.
const Layout &NamedLayoutOf(const text *name);

// The one that argument number `argument` of a SQL function names, or this database's when it was called without it.
const Layout &LayoutArgument(FunctionCallInfo fcinfo, int argument);

// At the beginning of a sentence. A named layout is known by its address.
const char *NameOf(const Layout &layout);

[[noreturn]] void ReportForeignId(int64_t id, const Layout &layout);

}  // namespace snowflake
