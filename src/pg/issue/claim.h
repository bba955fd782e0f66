// Claims ids for the horizon: rows whose ids this transaction did not take (section 12).
#pragma once

#include "pg/pg.h"

namespace snowflake {
struct Claimed {
  bool covered;     // by the horizon, which the transaction holds back
  bool own;         // the transaction took ids that are not above this one
  int64_t horizon;  // if not covered: was reported, and is above the id
};

// Of a row with this id that the transaction is about to write. `fn_oid` is the SQL function that
// asks. Error: 55000 without a node.
Claimed ClaimId(Oid fn_oid, int64_t id);

}  // namespace snowflake
