// Every object on an old column goes with it, and comes again on the new column under its old name.
//
// 1. What refers to other tables or shows rows is dropped first: foreign keys, views, publications.
// 2. After the columns have changed their names, whatever PostgreSQL can replace by its definition
//    is replaced: triggers and policies. Their comments stay.
// 3. The old column is dropped with its indexes, constraints and statistics.
// 4. The indexes and constraints that the steps before have made get the names that are free now.
#include "pg/convert/switch.h"

#include "pg/convert/online_catalog.h"

// Whether an object, whose pg_depend.classid is given, is on a narrow column.
#define SNOWFLAKE_ON_NARROW(classid, oid)                                                                           \
  "EXISTS (SELECT FROM wide w JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation " \
  "AND d.refobjsubid = w.number AND d.classid = '" classid "'::regclass WHERE d.objid = " oid ")"

// A role that has rights, and the statements that take all rights and give them, to be grouped by
// the object, the grantee and whether it may grant them.
#define SNOWFLAKE_GRANTEE(grantee) "CASE " grantee " WHEN 0 THEN 'PUBLIC' ELSE " grantee "::regrole::text END"
#define SNOWFLAKE_REVOKE(object) \
  "format('REVOKE ALL ON %s FROM %s', " object ", string_agg(DISTINCT " SNOWFLAKE_GRANTEE("d.grantee") ", ', '))"
#define SNOWFLAKE_GRANT(rights, object)                  \
  "format('GRANT %s ON %s TO %s%s', " rights ", " object \
  ", " SNOWFLAKE_GRANTEE("g.grantee") ", CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)"
#define SNOWFLAKE_RIGHTS "string_agg(g.privilege_type, ', ' ORDER BY g.privilege_type)"

namespace snowflake {
namespace {
constexpr char kTables[] = R"(
SELECT t.relation::regclass::text FROM (
    SELECT relation, min(nth) AS nth FROM (
        SELECT relation, nth FROM wide WHERE root
        UNION ALL
        SELECT conrelid, 1000000 FROM keys WHERE own
        UNION ALL
        SELECT confrelid, 1000000 FROM keys WHERE own) AS all_tables
    GROUP BY relation) AS t
ORDER BY t.nth > 1, t.relation)";

// --- Before ---

constexpr char kDropViews[] = R"(
SELECT 'DROP VIEW ' || string_agg(name, ', ' ORDER BY depth DESC, name) FROM views HAVING count(*) > 0)";

constexpr char kDropKeys[] = R"(
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, conname) FROM keys WHERE own ORDER BY tab, conname)";

constexpr char kPublished[] = R"(,
published AS (
    SELECT DISTINCT p.pubname, r.prrelid::regclass::text AS tab,
        (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' FROM pg_attribute a
         WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs)) AS columns,
        ' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')' AS filter
    FROM wide w JOIN pg_publication_rel r ON r.prrelid = w.relation JOIN pg_publication p ON p.oid = r.prpubid
    WHERE w.number = ANY (r.prattrs) OR EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_publication_rel'::regclass AND d.objid = r.oid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation AND d.refobjsubid = w.number)))";

constexpr char kUnpublish[] = R"(
SELECT format('ALTER PUBLICATION %I DROP TABLE ONLY %s', pubname, tab) FROM published ORDER BY pubname, tab)";

constexpr char kRename[] = R"(
SELECT s.statement FROM (
    SELECT nth, 1, format('DROP TRIGGER %I ON %s', '~' || new, tab) FROM wide WHERE root OR NOT relispartition
    UNION ALL
    SELECT nth, 2, format('ALTER TABLE %s RENAME COLUMN %I TO %I', tab, old, 'snowflake_old_' || substr(new, 15))
    FROM wide WHERE root
    UNION ALL
    SELECT nth, 3, format('ALTER TABLE %s RENAME COLUMN %I TO %I', tab, new, old) FROM wide WHERE root
    ) AS s(nth, rank, statement) ORDER BY nth, rank)";

#define SNOWFLAKE_ENABLE(state) \
  "CASE " state                 \
  " WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END"

// A copy for a partition may be enabled in another way than the one above.
constexpr char kReplaceTriggers[] = R"(,
replaced AS (
    SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled, 'O'::"char" AS above, 0 AS level FROM pg_trigger t
    WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND )" SNOWFLAKE_ON_NARROW("pg_trigger", "t.oid") R"(
    UNION ALL
    SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled, r.tgenabled, r.level + 1
    FROM replaced r JOIN pg_trigger t ON t.tgparentid = r.oid)
SELECT s.statement FROM (
    SELECT -1, tgrelid, tgname, 'CREATE OR REPLACE' || substr(pg_get_triggerdef(oid), length('CREATE') + 1)
    FROM replaced WHERE level = 0
    UNION ALL
    SELECT level, tgrelid, tgname, format('ALTER TABLE %s %s TRIGGER %I', tgrelid::regclass,
        )" SNOWFLAKE_ENABLE("tgenabled") R"(, tgname)
    FROM replaced WHERE tgenabled <> above) AS s(level, tgrelid, tgname, statement)
ORDER BY level, tgrelid, tgname)";

// Sessions that have run a PL/pgSQL function for the old column have plans for its type. They
// compile it again when its row in pg_proc is another one.
constexpr char kTouchFunctions[] = R"(
SELECT DISTINCT format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, p.procost)
FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation JOIN pg_proc p ON p.oid = t.tgfoid
JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
WHERE pg_has_role(p.proowner, 'USAGE') ORDER BY 1)";

constexpr char kReplacePolicies[] = R"(
SELECT format('ALTER POLICY %I ON %s%s%s', p.polname, p.polrelid::regclass,
    ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')',
    ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
FROM pg_policy p
WHERE )" SNOWFLAKE_ON_NARROW("pg_policy", "p.oid") R"(
ORDER BY p.polrelid, p.polname)";

// The check constraint shows that no row is null, so the table is not read. From 18 on NOT NULL is
// a constraint with a name. A table below has another name only if it gets it first.
constexpr char kNotNull[] = R"(
SELECT s.statement FROM (
    SELECT nth, format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', tab, old) FROM wide
    WHERE attnotnull AND current_setting('server_version_num')::integer < 180000
    UNION ALL
    SELECT -w.level, format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', w.tab, f.conname, w.old, CASE WHEN f.connoinherit THEN ' NO INHERIT' END)
    FROM wide w JOIN pg_constraint f ON f.conrelid = w.relation AND f.contype = 'n' AND f.conkey = ARRAY[w.number]
    WHERE w.root OR w.relkind = 'r' AND (f.conislocal OR EXISTS (
        SELECT FROM pg_inherits h JOIN wide t ON t.relation = h.inhparent AND t.old = w.old
        JOIN pg_constraint p ON p.conrelid = t.relation AND p.contype = 'n' AND p.conkey = ARRAY[t.number]
        WHERE h.inhrelid = w.relation AND p.conname <> f.conname))) AS s(place, statement)
ORDER BY place, statement)";

constexpr char kDropFilled[] = R"(
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, filled) FROM wide WHERE root AND attnotnull ORDER BY nth)";

// --- Sequences of columns that keep theirs; $1 and $2: these columns ---

// Who may have rights on a new sequence (S) or view (r) without being granted any.
constexpr char kDefaultRights[] = R"(,
defaults AS (
    SELECT d.defaclobjtype AS type, g.grantee FROM pg_default_acl d, aclexplode(d.defaclacl) AS g
    UNION
    SELECT ' ', oid FROM pg_roles))";

constexpr char kSequences[] = R"(,
sequences AS (
    SELECT w.*, d.deptype, q.*, d.objid::regclass::text AS name, a.attidentity, s.relacl, s.relowner,
        'conversion.s' || md5(d.objid::regclass::text) AS kept,
        CASE WHEN q.seqmax IN (32767, 2147483647) THEN 9223372036854775807 ELSE q.seqmax END AS new_max,
        CASE WHEN q.seqmin IN (-32768, -2147483648) THEN -9223372036854775808 ELSE q.seqmin END AS new_min
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation AND d.refobjsubid = w.number
        AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid))";

// An identity's goes with the old column, so its state is kept in a setting of the transaction.
constexpr char kKeepSequences[] = R"(
SELECT format(E'ALTER SEQUENCE %1$s AS bigint;\nALTER SEQUENCE %1$s OWNED BY %2$s.%3$I', name, tab, old)
FROM sequences WHERE deptype = 'a'
UNION ALL
SELECT format('SELECT set_config(%L, last_value || '','' || is_called, true) FROM %s', kept, name)
FROM sequences WHERE deptype = 'i'
ORDER BY 1)";

constexpr char kMakeIdentities[] = R"(
SELECT s.statement FROM (
    SELECT name, 1, format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s START WITH %s '
        'INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s %s)', tab, old,
        CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, name, seqstart, seqincrement, new_min, new_max,
        seqcache, CASE WHEN seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END)
        || format(E';\nSELECT setval(%L, split_part(current_setting(%L), '','', 1)::bigint, '
               'split_part(current_setting(%L), '','', 2)::boolean)', name, kept, kept)
    FROM sequences WHERE deptype = 'i'
    UNION ALL
    SELECT name, 2, )" SNOWFLAKE_REVOKE("'SEQUENCE ' || name") R"(
    FROM sequences JOIN defaults d ON d.type = 'S' OR d.grantee = relowner
    WHERE deptype = 'i' AND (relacl IS NOT NULL OR d.grantee <> relowner) GROUP BY name
    UNION ALL
    SELECT name, 3, )" SNOWFLAKE_GRANT(SNOWFLAKE_RIGHTS, "'SEQUENCE ' || name") R"(
    FROM sequences, aclexplode(relacl) AS g WHERE deptype = 'i'
    GROUP BY name, g.grantee, g.is_grantable
    UNION ALL
    SELECT name, 4, format('COMMENT ON SEQUENCE %s IS %L', name, obj_description(seqrelid, 'pg_class')) FROM sequences
    WHERE deptype = 'i' AND obj_description(seqrelid, 'pg_class') IS NOT NULL) AS s(name, rank, statement)
ORDER BY name, rank, statement)";

constexpr char kDefaults[] = R"(
SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', w.tab, w.old, pg_get_expr(d.adbin, d.adrelid))
FROM wide w JOIN pg_attrdef d ON d.adrelid = w.relation AND d.adnum = w.number ORDER BY w.nth)";

constexpr char kDropColumns[] = R"(
SELECT format('ALTER TABLE %s %s', tab,
    string_agg(format('DROP COLUMN %I', 'snowflake_old_' || substr(new, 15)), ', ' ORDER BY nth))
FROM wide WHERE root GROUP BY tab ORDER BY min(nth))";

// --- After ---

// Those of tables with rows are there. Those of partitioned tables are made of them, from below.
constexpr char kNameIndexes[] = R"(
SELECT s.statement FROM (
    SELECT 0, level, name, CASE WHEN conname IS NULL THEN format('ALTER INDEX %I.%I RENAME TO %I', nspname, new, relname)
        ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s USING INDEX %I%s', tab, conname,
            CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, new,
            CASE WHEN condeferred THEN ' DEFERRABLE INITIALLY DEFERRED' WHEN condeferrable THEN ' DEFERRABLE' END) END
    FROM indexes WHERE kind = 'i'
    UNION ALL
    SELECT 1, level, name, CASE WHEN conname IS NULL THEN pg_get_indexdef(indexrelid)
        ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', tab, conname, pg_get_constraintdef(constraint_oid)) END
        || coalesce((SELECT string_agg(format(E';\nALTER INDEX %s ATTACH PARTITION %s', name, h.inhrelid::regclass), ''
                                       ORDER BY h.inhrelid::regclass::text)
                     FROM pg_inherits h WHERE h.inhparent = indexrelid), '')
    FROM indexes WHERE kind = 'I') AS s(partitioned, level, name, statement)
ORDER BY partitioned, level DESC, name)";

constexpr char kIndexProperties[] = R"(
SELECT format('ALTER TABLE ONLY %s REPLICA IDENTITY USING INDEX %I', tab, relname) FROM indexes WHERE indisreplident
UNION ALL
SELECT format('ALTER TABLE ONLY %s CLUSTER ON %I', tab, relname) FROM indexes WHERE indisclustered
UNION ALL
SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', name, a.attnum, a.attstattarget)
FROM indexes JOIN pg_attribute a ON a.attrelid = indexrelid WHERE a.attstattarget >= 0 AND a.attnum > 0
UNION ALL
SELECT format('COMMENT ON INDEX %s IS %L', name, obj_description(indexrelid, 'pg_class')) FROM indexes
WHERE obj_description(indexrelid, 'pg_class') IS NOT NULL
UNION ALL
SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, tab, obj_description(constraint_oid, 'pg_constraint'))
FROM indexes WHERE obj_description(constraint_oid, 'pg_constraint') IS NOT NULL
ORDER BY 1)";

constexpr char kConstraints[] = R"(
SELECT s.statement FROM (
    SELECT 1, f.conrelid::regclass::text, f.conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I',
        f.conrelid::regclass, )" SNOWFLAKE_NEW("f.conname") R"(, f.conname)
    FROM pg_constraint f WHERE f.contype = 'c' AND f.conislocal AND f.coninhcount = 0 AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
    UNION ALL
    SELECT 1, tab, conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tab, new, conname) FROM keys
    WHERE kind = 'r'
    UNION ALL
    SELECT 2, tab, conname, format('ALTER TABLE %s ADD CONSTRAINT %I %s', tab, conname, definition) FROM keys
    WHERE own AND kind = 'p'
    UNION ALL
    SELECT 3, f.conrelid::regclass::text, f.conname, format('COMMENT ON CONSTRAINT %I ON %s IS %L', f.conname,
        f.conrelid::regclass, obj_description(f.oid, 'pg_constraint'))
    FROM pg_constraint f WHERE obj_description(f.oid, 'pg_constraint') IS NOT NULL AND (
        f.oid IN (SELECT oid FROM keys) OR f.contype = 'c' AND f.conislocal AND f.coninhcount = 0 AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname))
    ) AS s(rank, tab, conname, statement)
ORDER BY rank, tab, conname)";

constexpr char kColumns[] = R"(
SELECT s.statement FROM (
    SELECT nth, 1, format('COMMENT ON COLUMN %s.%I IS %L', tab, old, col_description(relation, number)) FROM wide
    WHERE col_description(relation, number) IS NOT NULL
    UNION ALL
    SELECT w.nth, 2, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS %s', w.tab, w.old, a.attstattarget)
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number WHERE a.attstattarget >= 0
    UNION ALL
    SELECT w.nth, 3, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET (%s)', w.tab, w.old,
        string_agg(o, ', '))
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number, unnest(a.attoptions) AS o
    WHERE o LIKE 'n\_distinct%' GROUP BY w.nth, w.tab, w.old
    UNION ALL
    SELECT w.nth, 4, )" SNOWFLAKE_GRANT(
    "string_agg(format('%s (%I)', g.privilege_type, w.old), ', ' ORDER BY g.privilege_type)", "w.tab") R"(
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number, aclexplode(a.attacl) AS g
    GROUP BY w.nth, w.tab, g.grantee, g.is_grantable) AS s(nth, rank, statement)
ORDER BY nth, rank, statement)";

constexpr char kStatistics[] = R"(
SELECT pg_get_statisticsobjdef(s.oid)
    || CASE WHEN s.stxstattarget >= 0 THEN format(E';\nALTER STATISTICS %I.%I SET STATISTICS %s', n.nspname, s.stxname,
           s.stxstattarget) ELSE '' END
    || CASE WHEN obj_description(s.oid, 'pg_statistic_ext') IS NULL THEN ''
       ELSE format(E';\nCOMMENT ON STATISTICS %I.%I IS %L', n.nspname, s.stxname,
           obj_description(s.oid, 'pg_statistic_ext')) END
FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
WHERE )" SNOWFLAKE_ON_NARROW("pg_statistic_ext", "s.oid") R"(
ORDER BY n.nspname, s.stxname)";

constexpr char kMakeViews[] = R"(
SELECT s.statement FROM (
    SELECT v.depth, v.name, 1, format(E'CREATE VIEW %s (%s)%s AS %s;\nALTER VIEW %s OWNER TO %I', v.name,
        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = v.view AND a.attnum > 0),
        ' WITH (' || array_to_string(c.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.view), ';'), v.name,
        pg_get_userbyid(c.relowner))
    FROM views v JOIN pg_class c ON c.oid = v.view
    UNION ALL
    SELECT v.depth, v.name, 2, )" SNOWFLAKE_REVOKE("v.name") R"(
    FROM views v JOIN pg_class c ON c.oid = v.view JOIN defaults d ON d.type = 'r' OR d.grantee = c.relowner
    WHERE c.relacl IS NOT NULL OR d.grantee <> c.relowner GROUP BY v.depth, v.name
    UNION ALL
    SELECT v.depth, v.name, 3, )" SNOWFLAKE_GRANT(SNOWFLAKE_RIGHTS, "v.name") R"(
    FROM views v JOIN pg_class c ON c.oid = v.view, aclexplode(c.relacl) AS g
    GROUP BY v.depth, v.name, g.grantee, g.is_grantable
    UNION ALL
    SELECT v.depth, v.name, 4, )" SNOWFLAKE_GRANT(
    "string_agg(format('%s (%I)', g.privilege_type, a.attname), ', ' ORDER BY a.attnum, g.privilege_type)",
    "v.name") R"(
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view, aclexplode(a.attacl) AS g
    GROUP BY v.depth, v.name, g.grantee, g.is_grantable
    UNION ALL
    SELECT v.depth, v.name, 5, format('COMMENT ON VIEW %s IS %L', v.name, obj_description(v.view, 'pg_class'))
    FROM views v WHERE obj_description(v.view, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT v.depth, v.name, 6, format('COMMENT ON COLUMN %s.%I IS %L', v.name, a.attname, col_description(v.view, a.attnum))
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view WHERE col_description(v.view, a.attnum) IS NOT NULL
    ) AS s(depth, name, rank, statement)
ORDER BY depth, name, rank, statement)";

constexpr char kPublish[] = R"(
SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %s%s%s', pubname, tab, columns, filter) FROM published
ORDER BY pubname, tab)";

}  // namespace

List *SwitchStatements(const IdColumns &columns, List *defaults) {
  List *statements = NIL;
  const auto add = [&](std::initializer_list<const char *> query, const ColumnSet &set) {
    statements = list_concat(statements, Texts(query, set.tables, set.numbers));
  };
  add({kWide, kViews, kDropViews}, columns.narrow);
  add({kWide, kKeys, kDropKeys}, columns.narrow);
  add({kWide, kPublished, kUnpublish}, columns.narrow);
  add({kWide, kRename}, columns.narrow);
  add({kWide, kReplaceTriggers}, columns.narrow);
  add({kWide, kReplacePolicies}, columns.narrow);
  add({kWide, kSequences, kKeepSequences}, columns.keep);
  add({kWide, kDropColumns}, columns.narrow);
  add({kWide, kNotNull}, columns.narrow);
  add({kWide, kDropFilled}, columns.narrow);
  add({kWide, kDefaultRights, kSequences, kMakeIdentities}, columns.keep);
  add({kWide, kDefaults}, columns.keep);
  statements = list_concat(statements, defaults);
  add({kWide, kIndexes, kNameIndexes}, columns.narrow);
  add({kWide, kIndexes, kIndexProperties}, columns.narrow);
  add({kWide, kKeys, kConstraints}, columns.narrow);
  add({kWide, kColumns}, columns.narrow);
  add({kWide, kStatistics}, columns.narrow);
  add({kWide, kDefaultRights, kViews, kMakeViews}, columns.narrow);
  add({kWide, kTouchFunctions}, columns.narrow);
  add({kWide, kPublished, kPublish}, columns.narrow);
  return statements;
}

List *TablesOfSwitch(const IdColumns &columns) {
  return Texts({kWide, kKeys, kTables}, columns.narrow.tables, columns.narrow.numbers);
}

}  // namespace snowflake
