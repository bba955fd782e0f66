// Both libraries are $libdir/snowflake, so where this one lies, functions of the other extension call it: two of its
// symbols, snowflake_nextval and snowflake_currval, are ours as well, and PostgreSQL itself says that the others are
// not there.
#include "pg/namesake.h"

#include "pg/registry_tables.h"
#include "pg/report.h"

namespace snowflake {

namespace {

constexpr const char *kTables[] = {"snowflake_registry", "snowflake_watermark", "snowflake_layout", "snowflake_origin"};

// One that was changed by hand misses some of them; that is another error.
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

}  // namespace

void CheckNotNamesake(Oid extension) {
  const Oid schema = ExtensionSchema(extension);
  if (OidIsValid(schema) && !HasOurTables(schema)) ReportNamesake("this database", get_namespace_name(schema));
}

void CheckCommandForNamesake(const Node *command) {
  if (!IsOfThatName(command)) return;
  const Oid extension = get_extension_oid("snowflake", true);
  if (OidIsValid(extension)) CheckNotNamesake(extension);
}

}  // namespace snowflake
