// Who keeps a call of the protocol waiting: an error that ends a wait names whoever has locked the
// extension's tables.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// Rethrows the error at hand. One that ends a wait gets a detail that names the blocker, if there is
// one. To be called in PG_CATCH.
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

// For who does not wait. Error: 55006.
[[noreturn]] void ReportChanging(Oid extension);

}  // namespace snowflake
