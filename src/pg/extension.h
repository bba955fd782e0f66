// Which extension this is: the one that a function belongs to, and where it is. And another one
// that is called snowflake, too: pgEdge's, whose library has this one's file name.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// The extension that a function belongs to. Error: 55000.
Oid ExtensionOfFunction(Oid fn_oid);

// Whether a call of this function is one of `code` and nothing else: neither SECURITY DEFINER nor SET is around it.
bool Runs(Oid function, PGFunction code);

// Where it is; InvalidOid: there is no such extension.
Oid SchemaOfExtension(Oid extension);

// The same; and whether this transaction created it there, or moved it there.
Oid SchemaOfExtension(Oid extension, bool *created_here);

// Error: 55000 when the extension is none of ours.
void CheckNotNamesake(Oid extension);

// The same for CREATE EXTENSION snowflake and ALTER EXTENSION snowflake UPDATE, where PostgreSQL would only find that
// there is one already, or no way from its version to ours.
void CheckCommandForNamesake(const Node *command);

}  // namespace snowflake
