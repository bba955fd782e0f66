#include "pg/registry_tables.h"

#include "pg/report.h"

namespace snowflake {

namespace {

Oid TableOwner(Oid relation) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for relation %u", relation);
  const Form_pg_class table = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple));
  if (table->relkind != RELKIND_RELATION) ReportForeignTable(NameStr(table->relname));
  const Oid owner = table->relowner;
  ReleaseSysCache(tuple);
  return owner;
}

void Pin(const char *name, const char *value) {
  set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

}  // namespace

Tables FindTables(Oid fn_oid) {
  Tables tables = {};
  tables.schema = get_func_namespace(fn_oid);
  const char *schema = get_namespace_name(tables.schema);
  const auto find = [&](const char *name, Oid *relation) {
    *relation = get_relname_relid(name, tables.schema);
    if (!OidIsValid(*relation)) ReportForeignTable(name);
    const Oid owner = TableOwner(*relation);
    if (OidIsValid(tables.owner) && owner != tables.owner) ReportSeveralOwners();
    tables.owner = owner;
    return quote_qualified_identifier(schema, name);
  };
  Oid relation = InvalidOid;
  tables.registry_name = find("snowflake_registry", &relation);
  tables.watermark_name = find("snowflake_watermark", &relation);
  tables.layout_name = find("snowflake_layout", &relation);
  tables.origin_name = find("snowflake_origin", &tables.origin);
  return tables;
}

Fence EnterFence(Oid owner) {
  Fence fence;
  GetUserIdAndSecContext(&fence.user, &fence.security_context);
  SetUserIdAndSecContext(owner, fence.security_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  fence.guc_level = NewGUCNestLevel();
  Pin("search_path", "pg_catalog, pg_temp");
  Pin("session_replication_role", "origin");
  return fence;
}

void LeaveFence(const Fence &fence) {
  AtEOXact_GUC(false, fence.guc_level);
  SetUserIdAndSecContext(fence.user, fence.security_context);
}

void ExecuteWith(const char *command, int count, const Value *values) {
  constexpr int kMost = 8;
  Oid types[kMost];
  Datum datums[kMost];
  Assert(count <= kMost);
  for (int i = 0; i < count; ++i) {
    types[i] = values[i].type;
    datums[i] = values[i].datum;
  }
  const int rc = SPI_execute_with_args(command, count, types, datums, nullptr, false, 0);
  if (rc < 0) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), command);
}

Datum Result(int64_t row, int column, Oid type, bool *is_null) {
  if (SPI_gettypeid(SPI_tuptable->tupdesc, column) != type) ReportForeignColumn();
  return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, is_null);
}

int64_t Int8Result(int64_t row, int column) {
  bool is_null = false;
  const Datum value = Result(row, column, INT8OID, &is_null);
  if (is_null) ReportForeignColumn();
  return DatumGetInt64(value);
}

bool BoolResult(int64_t row, int column) {
  bool is_null = false;
  const Datum value = Result(row, column, BOOLOID, &is_null);
  if (is_null) ReportForeignColumn();
  return DatumGetBool(value);
}

}  // namespace snowflake
