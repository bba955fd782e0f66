// The security context in which others' code runs: triggers, rules and operators that another role
// has planted have that role's rights and no more.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// Becomes that role in a security-restricted operation, with a pinned search_path; `further` adds
// flags of PostgreSQL's. Leaving it restores the role and the settings; an ERROR leaves it, too.
struct SecurityContext {
  Oid user;
  int flags;
  int guc_level;
};
SecurityContext EnterSecurityContext(Oid role, int further = 0);

// A setting of whatever role, until the present nest level of settings ends.
void SetForLevel(const char *name, const char *value);
void LeaveSecurityContext(const SecurityContext &outer);

}  // namespace snowflake
