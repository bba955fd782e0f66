// Finds guards in pg_trigger, and makes them.
#include "pg/registry/triggers.h"

#include "pg/extension.h"
#include "pg/report.h"

extern "C" {
#include "catalog/pg_event_trigger.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
}

namespace snowflake {
namespace {
constexpr const char *kDropGuard = "_snowflake_guard_drop";

enum Guard : uint8 {
  kRowGuard = 1,
  kTableGuard = 2,   // not of the layout, because nothing is acquired from it
  kAfterGuard = 4,   // of tables with values that must not fall
  kLayoutGuard = 8,  // the protocol works without it
};

struct GuardKind {
  Guard bit;
  const char *name, *function;
  int16 level, timing, events;
  const char *comment;

  int16 type() const { return static_cast<int16>(level | timing | events); }
  // PostgreSQL does not let ALTER TABLE change the type, and by USING the values, of a column that
  // UPDATE OF names. In a guard of rows, it would be a condition.
  bool has_columns() const { return bit == kTableGuard; }
};
constexpr int16 kWrites = TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE;
constexpr GuardKind kGuardKinds[] = {
    {kRowGuard, "snowflake_guard", "snowflake_guard", TRIGGER_TYPE_ROW, TRIGGER_TYPE_BEFORE, kWrites,
     "Writes that bypass the protocol are refused, or discarded"},
    {kAfterGuard, "snowflake_guard_after", "snowflake_guard", TRIGGER_TYPE_ROW, TRIGGER_TYPE_AFTER, TRIGGER_TYPE_UPDATE,
     "What must not fall or change is checked as it is stored"},
    {kTableGuard, "snowflake_guard_table", "snowflake_guard", TRIGGER_TYPE_STATEMENT, TRIGGER_TYPE_BEFORE,
     TRIGGER_TYPE_TRUNCATE | TRIGGER_TYPE_UPDATE, "TRUNCATE is refused, and so is a change of a column's type"},
    {kLayoutGuard, "snowflake_layout_changed", "snowflake_layout_changed", TRIGGER_TYPE_STATEMENT, TRIGGER_TYPE_AFTER,
     kWrites | TRIGGER_TYPE_TRUNCATE, "The layout does not change once a lease was acquired"}};

struct GuardedTable {
  const char *name;
  uint8 guards;
  AttrNumber columns;  // that it has in every version, so in 1.0
};
constexpr GuardedTable kGuardedTables[] = {{"snowflake_registry", kRowGuard | kTableGuard | kAfterGuard, 9},
                                           {"snowflake_watermark", kRowGuard | kTableGuard | kAfterGuard, 3},
                                           {"snowflake_layout", kRowGuard | kLayoutGuard, 0},
                                           {"snowflake_origin", kRowGuard | kTableGuard, 25},
                                           {"snowflake_segment", kRowGuard | kTableGuard | kAfterGuard, 14},
                                           {"snowflake_segment_range", kRowGuard | kTableGuard, 9},
                                           {"snowflake_last_tick", kRowGuard | kTableGuard, 2}};

// Whether UPDATE OF names all columns up to its last one. Those behind are their owner's.
bool NamesColumns(Relation table, const GuardedTable &guarded, const Trigger &trigger) {
  AttrNumber last = guarded.columns;
  for (int i = 0; i < trigger.tgnattr; ++i) last = Max(last, trigger.tgattr[i]);
  if (RelationGetNumberOfAttributes(table) < last) return false;
  for (AttrNumber column = 1; column <= last; ++column) {
    bool named = TupleDescAttr(RelationGetDescr(table), column - 1)->attisdropped;
    for (int i = 0; i < trigger.tgnattr; ++i) named |= trigger.tgattr[i] == column;
    if (!named) return false;
  }
  return true;
}

bool HasGuard(Relation table, const GuardedTable &guarded, const GuardKind &kind, Oid function) {
  const TriggerDesc *triggers = table->trigdesc;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger &trigger = triggers->triggers[i];
    if (trigger.tgfoid == function && trigger.tgtype == kind.type() && trigger.tgenabled == TRIGGER_FIRES_ALWAYS &&
        trigger.tgqual == nullptr && !OidIsValid(trigger.tgconstraint) &&
        (kind.has_columns() ? NamesColumns(table, guarded, trigger) : trigger.tgnattr == 0))
      return true;
  }
  return false;
}

// For each guard that the table is to have and has not.
template <typename Lost>
void ForEachLost(Relation table, const GuardedTable &guarded, Oid extension, Oid schema, Lost lost) {
  for (const GuardKind &kind : kGuardKinds) {
    if ((guarded.guards & kind.bit) == 0) continue;
    const Oid function = TriggerFunction(extension, schema, kind.function);
    if (!RunsCode(function, kind.function) || !HasGuard(table, guarded, kind, function)) lost(kind, function);
  }
}

bool IsMember(Oid extension, Oid catalog, Oid object) { return getExtensionOfObject(catalog, object) == extension; }

// A member of the extension: no command drops it alone.
bool DropGuardIsLost(Oid extension) {
  HeapTuple tuple = SearchSysCache1(EVENTTRIGGERNAME, CStringGetDatum(kDropGuard));
  if (!HeapTupleIsValid(tuple)) return false;
  const FormData_pg_event_trigger trigger = *reinterpret_cast<Form_pg_event_trigger>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  return trigger.evtenabled != TRIGGER_FIRES_ALWAYS && IsMember(extension, EventTriggerRelationId, trigger.oid);
}

List *ColumnsOf(Relation table) {
  List *columns = NIL;
  for (int i = 0; i < RelationGetNumberOfAttributes(table); ++i) {
    const Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table), i);
    if (!column->attisdropped) columns = lappend(columns, makeString(pstrdup(NameStr(column->attname))));
  }
  return columns;
}

// A constraint trigger, which may be deferred, is not replaced.
void DropConstraintTrigger(Relation table, const char *name) {
  const TriggerDesc *triggers = table->trigdesc;
  bool found = false;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i)
    found |= OidIsValid(triggers->triggers[i].tgconstraint) && strcmp(triggers->triggers[i].tgname, name) == 0;
  if (!found) return;
  const char *schema = get_namespace_name(RelationGetNamespace(table));
  DropStmt *statement = makeNode(DropStmt);
  statement->removeType = OBJECT_TRIGGER;
  statement->objects = list_make1(list_make3(
      makeString(pstrdup(schema)), makeString(pstrdup(RelationGetRelationName(table))), makeString(pstrdup(name))));
  RemoveObjects(statement);
  CommandCounterIncrement();
}

void MakeGuard(Relation table, const GuardKind &kind, Oid function) {
  DropConstraintTrigger(table, kind.name);
  CreateTrigStmt *statement = makeNode(CreateTrigStmt);
  statement->replace = true;
  statement->trigname = const_cast<char *>(kind.name);
  statement->row = kind.level == TRIGGER_TYPE_ROW;
  statement->timing = kind.timing;
  statement->events = kind.events;
  if (kind.has_columns()) statement->columns = ColumnsOf(table);
  const ObjectAddress made =
      CreateTriggerFiringOn(statement, nullptr, RelationGetRelid(table), InvalidOid, InvalidOid, InvalidOid, function,
                            InvalidOid, nullptr, false, false, TRIGGER_FIRES_ALWAYS);
  CreateComments(made.objectId, TriggerRelationId, 0, kind.comment);
  CommandCounterIncrement();
}

// Whether it is enabled: an event trigger belongs to a superuser.
bool EnableDropGuard() {
  if (!superuser()) {
    ereport(WARNING,
            (errmsg("event trigger \"%s\" is not enabled", kDropGuard), errdetail("It belongs to a superuser."),
             errhint("Let a superuser call snowflake_make_guards().")));
    return false;
  }
  AlterEventTrigStmt *statement = makeNode(AlterEventTrigStmt);
  statement->trigname = const_cast<char *>(kDropGuard);
  statement->tgenabled = TRIGGER_FIRES_ALWAYS;
  AlterEventTrigger(statement);
  return true;
}

}  // namespace

bool HasGuards(Relation table, Oid function) {
  for (const GuardedTable &guarded : kGuardedTables) {
    if (strcmp(RelationGetRelationName(table), guarded.name) != 0) continue;
    for (const GuardKind &kind : kGuardKinds)
      if (kind.bit != kLayoutGuard && (guarded.guards & kind.bit) != 0 && !HasGuard(table, guarded, kind, function))
        return false;
  }
  return true;
}

Oid TriggerFunction(Oid extension, Oid schema, const char *name) {
  const oidvector *no_arguments = buildoidvector(nullptr, 0);
  const Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                                       PointerGetDatum(no_arguments), ObjectIdGetDatum(schema));
  return OidIsValid(function) && IsMember(extension, ProcedureRelationId, function) ? function : InvalidOid;
}

char *LostGuards(Oid extension) {
  StringInfoData list;
  initStringInfo(&list);
  const auto add = [&](const char *name, const char *on, const char *table) {
    appendStringInfo(&list, "%s%s%s%s", list.len > 0 ? ", " : "", name, on, table);
  };
  const Oid schema = SchemaOfExtension(extension);
  for (const GuardedTable &guarded : kGuardedTables) {
    const Oid relation = get_relname_relid(guarded.name, schema);
    if (!OidIsValid(relation) || !ConditionalLockRelationOid(relation, AccessShareLock)) continue;
    Relation table = IsMember(extension, RelationRelationId, relation) ? try_relation_open(relation, NoLock) : nullptr;
    if (table != nullptr) {
      ForEachLost(table, guarded, extension, schema,
                  [&](const GuardKind &kind, Oid) { add(kind.name, " on ", guarded.name); });
      relation_close(table, NoLock);
    }
    UnlockRelationOid(relation, AccessShareLock);
  }
  if (DropGuardIsLost(extension)) add(kDropGuard, "", "");
  return list.len > 0 ? list.data : nullptr;
}

int MakeGuards(Oid extension, Oid schema) {
  int count = 0;
  for (const GuardedTable &guarded : kGuardedTables) {
    Relation table = table_open(get_relname_relid(guarded.name, schema), NoLock);
    GuardedTable now = guarded;
    // When the script of a version has added columns, none is the owner's alone.
    if (RunsScriptOf(extension)) now.columns = RelationGetNumberOfAttributes(table);
    ForEachLost(table, now, extension, schema, [&](const GuardKind &kind, Oid function) {
      if (!RunsCode(function, kind.function)) ReportForeignFunction(kind.function);
      MakeGuard(table, kind, function);
      ++count;
    });
    table_close(table, NoLock);
  }
  if (DropGuardIsLost(extension)) count += EnableDropGuard();
  return count;
}

}  // namespace snowflake
