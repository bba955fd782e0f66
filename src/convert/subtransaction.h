// A part of a call that may fail without an effect.
#pragma once

#include "pg/execution.h"

namespace snowflake {
// Runs `body` in a subtransaction. Null: it succeeded. Otherwise, and unless `keep`, it has no
// effect and keeps no lock. Its notices, and what it leaves in the caller's memory, stay.
template <typename Body>
ErrorData *InSubtransaction(bool keep, Body body) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner owner = CurrentResourceOwner;
  ErrorData *volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(context);
  PG_TRY();
  {
    body();
    if (keep) ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
  }
  PG_END_TRY();
  if (!keep || error != nullptr) RollbackAndReleaseCurrentSubTransaction();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = owner;
  return error;
}

template <typename Body>
ErrorData *Attempted(Body body) {
  return InSubtransaction(true, body);
}

template <typename Body>
ErrorData *Looked(Body body) {
  return InSubtransaction(false, body);
}

}  // namespace snowflake
