// Both libraries are $libdir/snowflake, so where this one lies, functions of the other extension call it: two of its
// symbols, snowflake_nextval and snowflake_currval, are ours as well, and PostgreSQL itself says that the others are
// not there.
#include "pg/extension.h"

#include "pg/report.h"

namespace snowflake {

namespace {

constexpr const char *kTables[] = {"snowflake_registry", "snowflake_watermark", "snowflake_layout", "snowflake_origin"};

// Those that every version has. One that was changed by hand misses some of them; that is another error.
bool HasOurTables(Oid schema) {
  for (const char *table : kTables)
    if (OidIsValid(get_relname_relid(table, schema))) return true;
  return false;
}

bool IsOfThatName(const Node *command) {
  switch (nodeTag(command)) {
    case T_CreateExtensionStmt:
      return strcmp(reinterpret_cast<const CreateExtensionStmt *>(command)->extname, "snowflake") == 0;
    case T_AlterExtensionStmt:
      return strcmp(reinterpret_cast<const AlterExtensionStmt *>(command)->extname, "snowflake") == 0;
    default:
      return false;
  }
}

// Without a snapshot: as this command sees it. InvalidOid: there is no such extension.
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

bool Runs(Oid function, const char *code) {
  // Another session may have dropped it meanwhile.
  if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function))) return false;
  char *library = nullptr, *symbol = nullptr;
  fmgr_symbol(function, &library, &symbol);
  return library != nullptr && symbol != nullptr && strcmp(symbol, code) == 0;
}

Oid SchemaOfExtension(Oid extension) { return SchemaSeenBy(nullptr, extension); }

Oid SchemaOfExtension(Oid extension, bool *created_here) {
  const Oid now = SchemaSeenBy(nullptr, extension);
  // No command number comes before the first: by this snapshot the transaction has done nothing yet. The row's xmin would
  // not do, because an update of the extension writes a new row, too.
  Snapshot others = RegisterSnapshot(GetCatalogSnapshot(ExtensionRelationId));
  others->curcid = FirstCommandId;
  *created_here = SchemaSeenBy(others, extension) != now;
  UnregisterSnapshot(others);
  return now;
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
