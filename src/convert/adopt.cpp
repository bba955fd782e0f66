// snowflake_convert.adopt_keys: CREATE TABLE gives serial and identity columns the default
// snowflake_nextval(), and columns that come to refer to ids become bigint.
//
// 1. The event trigger _snowflake_adopt_keys calls this after the command, in any session: if the
//    library is not loaded, the call loads it. A key that cannot be adopted is an ERROR, so no
//    table silently keeps a sequence.
// 2. What a dump, an extension's script or pg_upgrade creates is as it is meant to be. pg_dump adds
//    sequences by ALTER TABLE, which gives no default here, and marks its scripts by
//    check_function_bodies.
// 3. All of it runs with the rights of the command's role, and reaches others' code only as
//    snowflake_convert() does. The setting is off meanwhile, so the statements of a conversion do
//    not begin another.
#include "convert/adopt.h"

#include "convert/convert.h"
#include "convert/query.h"
#include "pg/report.h"
#include "pg/security_context.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
enum class AdoptKeys : int { kOff, kOn, kBigint };

const config_enum_entry kAdoptKeysOptions[] = {
    {"off", static_cast<int>(AdoptKeys::kOff), false},       {"on", static_cast<int>(AdoptKeys::kOn), false},
    {"bigint", static_cast<int>(AdoptKeys::kBigint), false}, {"false", static_cast<int>(AdoptKeys::kOff), true},
    {"true", static_cast<int>(AdoptKeys::kOn), true},        {"no", static_cast<int>(AdoptKeys::kOff), true},
    {"yes", static_cast<int>(AdoptKeys::kOn), true},         {"0", static_cast<int>(AdoptKeys::kOff), true},
    {"1", static_cast<int>(AdoptKeys::kOn), true},           {nullptr, 0, false},
};

int adopt_keys;

// The keys of tables that the command created: columns with a sequence of their own, which refer to
// no other table.
constexpr char kKeys[] = R"(
SELECT DISTINCT c.oid, a.attnum, a.attname::text, pg_describe_object('pg_class'::regclass, c.oid, a.attnum),
    a.atttypid
FROM pg_event_trigger_ddl_commands() e
JOIN pg_class c ON e.classid = 'pg_class'::regclass AND c.oid = e.objid AND c.relpersistence <> 't'
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
    AND d.refobjid = c.oid AND d.refobjsubid = a.attnum AND d.deptype IN ('a', 'i')
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
WHERE e.command_tag = 'CREATE TABLE'
    AND (d.deptype = 'i' OR EXISTS (
        SELECT FROM pg_attrdef x
        JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid AND u.refobjid = s.oid
            AND u.refclassid = 'pg_class'::regclass
        WHERE x.adrelid = c.oid AND x.adnum = a.attnum))
    AND NOT EXISTS (
        SELECT FROM pg_constraint f
        WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid AND a.attnum = ANY (f.conkey))
ORDER BY c.oid, a.attnum)";

// Columns of the command's tables that are narrower than the ids to which they refer: from which a
// foreign key leads, over any number of steps, to a default that calls snowflake_nextval().
constexpr char kReferring[] = R"(
WITH RECURSIVE refers(relation, number, to_relation, to_number) AS (
    SELECT f.conrelid, k.referring, f.confrelid, k.referred
    FROM pg_event_trigger_ddl_commands() e
    JOIN pg_class c ON e.classid = 'pg_class'::regclass AND c.oid = e.objid AND c.relpersistence <> 't'
    JOIN pg_constraint f ON f.contype = 'f' AND f.conrelid = c.oid,
    unnest(f.conkey, f.confkey) AS k(referring, referred)
    UNION
    SELECT r.relation, r.number, f.confrelid, k.referred
    FROM refers r JOIN pg_constraint f ON f.contype = 'f' AND f.conrelid = r.to_relation,
    unnest(f.conkey, f.confkey) AS k(referring, referred)
    WHERE k.referring = r.to_number)
SELECT DISTINCT a.attrelid, a.attnum, a.attname::text,
    pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum), a.atttypid
FROM refers r
JOIN pg_attribute a ON a.attrelid = r.relation AND a.attnum = r.number
    AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype)
JOIN pg_attrdef x ON x.adrelid = r.to_relation AND x.adnum = r.to_number
JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid AND u.refclassid = 'pg_proc'::regclass
JOIN pg_proc p ON p.oid = u.refobjid AND p.proname = 'snowflake_nextval'
JOIN pg_depend m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid AND m.deptype = 'e'
    AND m.refclassid = 'pg_extension'::regclass
JOIN pg_extension o ON o.oid = m.refobjid AND o.extname = 'snowflake'
ORDER BY a.attrelid, a.attnum)";

struct KeyColumn {
  Oid table;
  const char *name;
  const char *described;
  Oid type;
};

// The columns that a query finds. They stay until SPI_finish().
List *FindColumns(const char *query) {
  Query(query);
  List *columns = NIL;
  for (int64_t row = 0; row < Rows(); ++row) {
    KeyColumn *column = static_cast<KeyColumn *>(palloc(sizeof(KeyColumn)));
    *column = {OidField(row, 1), Text(row, 3), Text(row, 4), OidField(row, 5)};
    columns = lappend(columns, column);
  }
  return columns;
}

void SayWhy(void *described) {
  errcontext("while adopting %s, because of snowflake_convert.adopt_keys", static_cast<const char *>(described));
}

void AdoptColumn(Oid fn_oid, const KeyColumn &column, bool widen) {
  ErrorContextCallback why = {};
  why.callback = SayWhy;
  why.arg = const_cast<char *>(column.described);
  why.previous = error_context_stack;
  error_context_stack = &why;
  ConvertColumn(fn_oid, column.table, column.name, widen);
  error_context_stack = why.previous;
  ereport(NOTICE, (widen ? errmsg("%s is now bigint, because it refers to ids", column.described)
                         : errmsg("%s now takes its ids from snowflake_nextval()", column.described)));
}

void AdoptColumns(Oid fn_oid, const char *query, bool widen, bool only_bigint = false) {
  ListCell *cell = nullptr;
  foreach (cell, FindColumns(query)) {
    const KeyColumn &column = *static_cast<const KeyColumn *>(lfirst(cell));
    if (!only_bigint || column.type == INT8OID) AdoptColumn(fn_oid, column, widen);
  }
}

bool AddsForeignKey(const List *constraints) {
  ListCell *cell = nullptr;
  foreach (cell, constraints)
    if (lfirst_node(Constraint, cell)->contype == CONSTR_FOREIGN) return true;
  return false;
}

// Whether there may be something to do after this command.
bool Concerns(const Node *command) {
  if (!IsA(command, AlterTableStmt)) return IsA(command, CreateStmt) || IsA(command, CreateSchemaStmt);
  ListCell *cell = nullptr;
  foreach (cell, reinterpret_cast<const AlterTableStmt *>(command)->cmds) {
    const AlterTableCmd *action = lfirst_node(AlterTableCmd, cell);
    if (action->subtype == AT_AddConstraint && castNode(Constraint, action->def)->contype == CONSTR_FOREIGN)
      return true;
    if (action->subtype == AT_AddColumn && AddsForeignKey(castNode(ColumnDef, action->def)->constraints)) return true;
  }
  return false;
}

void AdoptKey(Oid fn_oid) {
  const bool only_bigint = adopt_keys == static_cast<int>(AdoptKeys::kBigint);
  const SecurityContext outer = EnterSecurityContext(GetUserId());
  SetForLevel("snowflake_convert.adopt_keys", "off");
  SetForLevel("row_security", "off");  // as snowflake_convert() has it
  SPI_connect();
  AdoptColumns(fn_oid, kKeys, false, only_bigint);
  AdoptColumns(fn_oid, kReferring, true);
  SPI_finish();
  LeaveSecurityContext(outer);
}

}  // namespace

void DefineAdoption() {
  DefineCustomEnumVariable("snowflake_convert.adopt_keys", "Serial and identity columns of new tables take ids.",
                           "They become bigint DEFAULT snowflake_nextval(); bigint leaves out narrower columns.",
                           &adopt_keys, static_cast<int>(AdoptKeys::kOff), kAdoptKeysOptions, PGC_USERSET,
                           GUC_ALLOW_IN_PARALLEL, nullptr, nullptr, nullptr);
}

SNOWFLAKE_FUNCTION(snowflake_adopt_keys) {
  if (!CALLED_AS_EVENT_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_adopt_keys");
  const bool restores = creating_extension || !check_function_bodies || IsBinaryUpgrade;
  const Node *command = reinterpret_cast<const EventTriggerData *>(fcinfo->context)->parsetree;
  const bool off = adopt_keys == static_cast<int>(AdoptKeys::kOff);
  if (!off && !restores && Concerns(command)) AdoptKey(fcinfo->flinfo->fn_oid);
  return Datum{0};
}

}  // namespace snowflake
