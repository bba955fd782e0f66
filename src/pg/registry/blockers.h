// Names the blocker of a call of the protocol: an error that ends a wait for a lock says which
// transaction has locked the extension's tables.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Rethrows the current error. If it ends a wait, its detail names the blocker, if there is one. To
// be called in PG_CATCH.
[[noreturn]] void RethrowWithBlocker(Oid extension);

// Runs `body`, which waits for locks on the extension's tables or on their rows.
template <typename Body>
void NamingBlocker(Oid extension, Body body) {
  PG_TRY();
  { body(); }
  PG_CATCH();
  { RethrowWithBlocker(extension); }
  PG_END_TRY();
}

// The error of a call that does not wait for the tables: 55006, with the blocker.
[[noreturn]] void ReportChanging(Oid extension);

}  // namespace snowflake
