// Finds the extension in the catalogs. pgEdge's library, too, is $libdir/snowflake, so functions of
// pgEdge's extension call this library. Both have snowflake_nextval and snowflake_currval; for its
// other functions PostgreSQL itself reports that they are missing.
#include "pg/extension.h"

#include "pg/report.h"

namespace snowflake {
namespace {
constexpr const char *kTables[] = {"snowflake_registry", "snowflake_watermark", "snowflake_layout", "snowflake_origin"};

// Every version has these. An extension that was changed by hand may lack some: another error.
bool HasOurTables(Oid schema) {
  for (const char *table : kTables)
    if (OidIsValid(get_relname_relid(table, schema))) return true;
  return false;
}

bool IsOfThatName(const Node *command) {
  const char *name = "";
  if (IsA(command, CreateExtensionStmt)) name = reinterpret_cast<const CreateExtensionStmt *>(command)->extname;
  if (IsA(command, AlterExtensionStmt)) name = reinterpret_cast<const AlterExtensionStmt *>(command)->extname;
  return strcmp(name, "snowflake") == 0;
}

// nullptr: as this command sees it. InvalidOid: there is no such extension.
Oid SchemaSeenBy(Snapshot snapshot, Oid extension) {
  Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
  SysScanDesc scan = systable_beginscan(catalog, ExtensionOidIndexId, true, snapshot, 1, &key);
  HeapTuple tuple = systable_getnext(scan);
  const Oid schema =
      HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace : InvalidOid;
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return schema;
}

}  // namespace

Oid ExtensionOfFunction(Oid fn_oid) {
  const Oid extension = getExtensionOfObject(ProcedureRelationId, fn_oid);
  if (!OidIsValid(extension)) ReportNoExtension(fn_oid);
  return extension;
}

bool RunsCode(Oid function, const char *code) {
  // Another session may have dropped it meanwhile.
  if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function))) return false;
  char *library = nullptr, *symbol = nullptr;
  fmgr_symbol(function, &library, &symbol);
  return library != nullptr && symbol != nullptr && strcmp(symbol, code) == 0;
}

Oid SchemaOfExtension(Oid extension, bool *created_here) {
  const Oid now = SchemaSeenBy(nullptr, extension);
  if (created_here == nullptr) return now;
  // No command precedes the first, so this snapshot sees nothing of this transaction. The row's
  // xmin is no substitute, because an update of the extension writes a new row, too.
  const Snapshot catalogs = GetCatalogSnapshot(ExtensionRelationId);
  Snapshot others = RegisterSnapshot(catalogs);
  if (others == catalogs) elog(ERROR, "the registered snapshot is no copy");
  others->curcid = FirstCommandId;
  *created_here = SchemaSeenBy(others, extension) != now;
  UnregisterSnapshot(others);
  return now;
}

bool MaySeeSegments(Oid extension, Oid role) {
  const Oid view = get_relname_relid("snowflake_segments", SchemaOfExtension(extension));
  return OidIsValid(view) && pg_class_aclcheck(view, role, ACL_SELECT) == ACLCHECK_OK;
}

void CheckNotNamesake(Oid extension) {
  const Oid schema = SchemaOfExtension(extension);
  if (OidIsValid(schema) && !HasOurTables(schema)) ReportNamesake("this database", get_namespace_name(schema));
}

void CheckCommandForNamesake(const Node *command) {
  if (!IsOfThatName(command)) return;
  const Oid extension = get_extension_oid("snowflake", true);
  if (OidIsValid(extension)) CheckNotNamesake(extension);
}

}  // namespace snowflake
