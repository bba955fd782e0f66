#include "pg/fence.h"

namespace snowflake {

namespace {

void Pin(const char *name, const char *value) {
  set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

}  // namespace

Fence EnterFence(Oid role, int further) {
  Fence fence;
  GetUserIdAndSecContext(&fence.user, &fence.security_context);
  SetUserIdAndSecContext(
      role, fence.security_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | further);
  fence.guc_level = NewGUCNestLevel();
  Pin("search_path", "pg_catalog, pg_temp");
  Pin("session_replication_role", "origin");
  return fence;
}

void LeaveFence(const Fence &fence) {
  AtEOXact_GUC(false, fence.guc_level);
  SetUserIdAndSecContext(fence.user, fence.security_context);
}

}  // namespace snowflake
