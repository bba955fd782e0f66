// Enters the security context, and leaves it.
#include "pg/security_context.h"

namespace snowflake {
SecurityContext EnterSecurityContext(Oid role, int further) {
  SecurityContext outer;
  GetUserIdAndSecContext(&outer.user, &outer.flags);
  SetUserIdAndSecContext(role, outer.flags | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | further);
  outer.guc_level = NewGUCNestLevel();
  SetForLevel("search_path", "pg_catalog, pg_temp");
  SetForLevel("session_replication_role", "origin");
  return outer;
}

void SetForLevel(const char *name, const char *value) {
  set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void LeaveSecurityContext(const SecurityContext &outer) {
  AtEOXact_GUC(false, outer.guc_level);
  SetUserIdAndSecContext(outer.user, outer.flags);
}

}  // namespace snowflake
