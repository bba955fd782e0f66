// Behind the fence: what another role has planted runs with its rights and no more.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// Who the process was before it became that role, security-restricted, with a pinned search_path. Settings that are changed
// behind the fence are as before afterwards. `further` is more of the security context. An ERROR leaves it, too.
struct Fence {
  Oid user;
  int security_context;
  int guc_level;
};
Fence EnterFence(Oid role, int further = 0);
void LeaveFence(const Fence &fence);

}  // namespace snowflake
