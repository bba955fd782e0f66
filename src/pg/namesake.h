// Another extension that is called snowflake: pgEdge's, whose library has this one's file name, too.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// Error: 55000 when the extension is none of ours.
void CheckNotNamesake(Oid extension);

// The same for CREATE EXTENSION snowflake and ALTER EXTENSION snowflake UPDATE, where PostgreSQL would only find that
// there is one already, or no way from its version to ours.
void CheckCommandForNamesake(const Node *command);

}  // namespace snowflake
