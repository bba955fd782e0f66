// Which extension this is: the one that a function belongs to, where it is, and what its SQL objects know. And another one that is
// called snowflake, too: pgEdge's, whose library has this one's file name.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// The extension that a function belongs to. Error: 55000.
Oid ExtensionOfFunction(Oid fn_oid);

// Whether a call of this function is one of `code` and nothing else: neither SECURITY DEFINER nor SET is around it.
bool Runs(Oid function, PGFunction code);

struct Extension {
  Oid schema;  // InvalidOid: there is no such extension
  bool
      has_guards;  // version 1.2 of the SQL objects or a later one: leases belong to roles, and triggers guard the tables
};
Extension LookUpExtension(Oid extension);

// The same; and whether this transaction created it there, or moved it there, or updated it to another set of tables, which locks
// them.
Extension LookUpExtension(Oid extension, bool *created_here, bool *updated_here);

// Error: 55000 when the extension is none of ours.
void CheckNotNamesake(Oid extension);

// The same for CREATE EXTENSION snowflake and ALTER EXTENSION snowflake UPDATE, where PostgreSQL would only find that
// there is one already, or no way from its version to ours.
void CheckCommandForNamesake(const Node *command);

}  // namespace snowflake
