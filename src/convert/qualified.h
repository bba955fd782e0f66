// The SQL of expressions of tables, with the new columns instead of the narrow ones.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// For the search_path pg_catalog: for what snowflake_try() executes.
const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression);

// The same under every search_path: CREATE INDEX CONCURRENTLY runs in no function, so it is parsed
// with the path of the session. Functions, operators, types and collations are named with their
// schemas. nullptr: `part` looks something up that cannot be named.
const char *QualifiedSql(const IdColumns &columns, Oid table, Node *expression, const char **part);

}  // namespace snowflake
