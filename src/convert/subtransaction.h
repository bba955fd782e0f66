// A part of a call that may fail without an effect.
#pragma once

#include "pg/execution.h"

namespace snowflake {
// Runs `body` in a subtransaction. Null: it succeeded. Otherwise it has no effect and keeps no
// lock.
template <typename Body>
ErrorData *Attempted(Body body) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  ErrorData *volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    body();
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  return error;
}

}  // namespace snowflake
