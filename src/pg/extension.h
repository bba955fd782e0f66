// The extension that a function belongs to, its schema and its members. pgEdge's extension is also
// named snowflake, and its library has the same file name: it is recognised and refused.
#pragma once

#include "pg/pg.h"
#include "pg/catalogs.h"

namespace snowflake {
// The extension that a function belongs to. Error: 55000.
Oid ExtensionOfFunction(Oid fn_oid);

// Whether the command under way is this extension's script, which creates or updates it.
inline bool RunsScriptOf(Oid extension) { return creating_extension && CurrentExtensionObject == extension; }

// Whether a call of this function runs the library's `code` alone, without SECURITY DEFINER or SET.
bool RunsCode(Oid function, const char *code);

// InvalidOid: there is none. `created_here`: this transaction created it there, or moved it there.
Oid SchemaOfExtension(Oid extension, bool *created_here = nullptr);

// Whether a role may read the view snowflake_segments, which shows the names of segments.
bool MaySeeSegments(Oid extension, Oid role);

// What depends on an object, in the order in which a drop visits it (findDependentObjects() scans
// by the same index), until `visit` returns false.
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

// Visits the extension's tables and its sequence in the order in which a drop locks them, until
// `visit` returns false.
template <typename Visit>
void ForEachTable(Oid extension, Visit visit) {
  List *members = NIL;
  ForEachDependent(ExtensionRelationId, extension, [&](const FormData_pg_depend &member) {
    if (member.classid == RelationRelationId && member.deptype == DEPENDENCY_EXTENSION)
      members = lappend_oid(members, member.objid);
    return true;
  });
  // Without a lock on pg_depend, because the visit may wait.
  ListCell *cell = nullptr;
  foreach (cell, members) {
    const char kind = get_rel_relkind(lfirst_oid(cell));
    if ((kind == RELKIND_RELATION || kind == RELKIND_SEQUENCE) && !visit(lfirst_oid(cell))) return;
  }
}

// Error: 55000 if it is a different extension.
void CheckNotNamesake(Oid extension);

// Error: 55000 if CREATE EXTENSION snowflake or ALTER EXTENSION snowflake UPDATE meets a different
// extension. PostgreSQL's own error would only be that there is one already, or that no script
// leads to this version.
void CheckCommandForNamesake(const Node *command);

}  // namespace snowflake
