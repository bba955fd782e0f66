// Which extension this is: the one that a function belongs to, and where it is. And another one
// that is called snowflake, too: pgEdge's, whose library has this one's file name.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// The extension that a function belongs to. Error: 55000.
Oid ExtensionOfFunction(Oid fn_oid);

// Whether a call of this function is one of the library's `code` and nothing else: neither SECURITY
// DEFINER nor SET is around it.
bool Runs(Oid function, const char *code);

// Where it is; InvalidOid: there is no such extension.
Oid SchemaOfExtension(Oid extension);

// The same; and whether this transaction created it there, or moved it there.
Oid SchemaOfExtension(Oid extension, bool *created_here);

// What depends on an object, in the order in which a drop of it goes (findDependentObjects() scans by
// the same index), until `visit` returns false.
template <typename Visit>
void ForEachDependent(Oid catalog, Oid object, Visit visit) {
  Relation depend = table_open(DependRelationId, AccessShareLock);
  ScanKeyData keys[2];
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(catalog));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
  SysScanDesc scan = systable_beginscan(depend, DependReferenceIndexId, true, nullptr, 2, keys);
  while (HeapTuple tuple = systable_getnext(scan))
    if (!visit(*reinterpret_cast<Form_pg_depend>(GETSTRUCT(tuple)))) break;
  systable_endscan(scan);
  table_close(depend, AccessShareLock);
}

// The extension's tables and the sequence, in the order in which a drop locks them, until `visit` returns false.
template <typename Visit>
void ForEachTable(Oid extension, Visit visit) {
  ForEachDependent(ExtensionRelationId, extension, [&](const FormData_pg_depend &member) {
    if (member.classid != RelationRelationId || member.deptype != DEPENDENCY_EXTENSION) return true;
    const char kind = get_rel_relkind(member.objid);
    return (kind != RELKIND_RELATION && kind != RELKIND_SEQUENCE) || visit(member.objid);
  });
}

// Error: 55000 when the extension is none of ours.
void CheckNotNamesake(Oid extension);

// The same for CREATE EXTENSION snowflake and ALTER EXTENSION snowflake UPDATE, where PostgreSQL would only find that
// there is one already, or no way from its version to ours.
void CheckCommandForNamesake(const Node *command);

}  // namespace snowflake
