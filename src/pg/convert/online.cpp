// The steps before the switch of an online conversion, and the way back.
#include "pg/convert/online.h"

#include "pg/convert/online_catalog.h"
#include "pg/convert/switch.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// --- New columns ---

// For each table at the top: what its new columns lack. $3: the trigger's function.
constexpr char kAdd[] = R"(
SELECT string_agg(statement, E';\n' ORDER BY rank, nth) FROM (
    SELECT top, nth, 1, tab, format('ALTER TABLE %s ADD COLUMN %I bigint', tab, new)
    FROM wide WHERE root AND NOT EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = new AND NOT a.attisdropped)
    UNION ALL
    SELECT top, nth, 2, tab, format(E'CREATE TRIGGER %1$I BEFORE INSERT OR UPDATE ON %2$s FOR EACH ROW '
        'EXECUTE FUNCTION %3$s(%4$L, %5$L);\nALTER TABLE %2$s ENABLE ALWAYS TRIGGER %1$I', '~' || new, tab, $3, old, new)
    FROM wide WHERE (root OR NOT relispartition) AND NOT EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = relation AND t.tgname = '~' || new)
    UNION ALL
    SELECT top, nth, 3, tab, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT DISTINCT FROM %I) NOT VALID',
        tab, same, new, old)
    FROM wide WHERE root AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = same)
    UNION ALL
    SELECT top, nth, 4, tab, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', tab, filled, new)
    FROM wide WHERE root AND attnotnull AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = filled)
    ) AS s(top, nth, rank, tab, statement)
GROUP BY top ORDER BY min(nth))";

// The checks of new columns that are not known to hold.
constexpr char kUnknown[] = R"(,
unknown AS (
    SELECT tab, nth, c.name FROM wide, LATERAL (VALUES (same), (filled)) AS c(name)
    WHERE root AND (attnotnull OR c.name = same) AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = c.name AND k.convalidated)))";

constexpr char kFill[] = R"(
SELECT format('CALL %s(%L);', $3, tab) FROM unknown GROUP BY tab ORDER BY min(nth))";

constexpr char kValidate[] = R"(
SELECT format('ALTER TABLE %s %s;', tab, string_agg(format('VALIDATE CONSTRAINT %I', name), ', ' ORDER BY nth, name DESC))
FROM unknown GROUP BY tab ORDER BY min(nth))";

// How old a row of pg_depend is; what is too old to have an age is the oldest.
#define SNOWFLAKE_AGE "max(CASE WHEN age(d.xmin) < 0 THEN 2147483647 ELSE age(d.xmin) END)"

// What is on new columns but not for an object that is there: the object was dropped since, or
// replaced, or its index was not completed. Dependencies on columns show the age of both.
constexpr char kGone[] = R"(,
built AS (
    SELECT i.indexrelid, i.indrelid, i.indisvalid, c.relname, n.nspname, made.age
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL (
        SELECT )" SNOWFLAKE_AGE R"( AS age, bool_or(w.new IS NOT NULL) AS ours
        FROM pg_depend d LEFT JOIN wide w ON w.relation = d.refobjid AND w.new_number = d.refobjsubid
        WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = d.classid) AS made
    WHERE i.indrelid IN (SELECT relation FROM wide) AND c.relname LIKE 'snowflake\_new\_%' AND made.ours),
gone_indexes AS (
    SELECT * FROM built b WHERE NOT b.indisvalid OR NOT EXISTS (
        SELECT FROM indexes i WHERE i.indrelid = b.indrelid AND i.new = b.relname AND b.age <= (
            SELECT )" SNOWFLAKE_AGE R"( FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                AND d.objid = i.indexrelid OR d.classid = 'pg_constraint'::regclass AND d.objid = i.constraint_oid))),
gone_constraints AS (
    SELECT f.oid, f.conrelid::regclass::text AS tab, f.conname
    FROM pg_constraint f
    WHERE f.coninhcount = 0 AND f.conparentid = 0 AND (
        EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.filled = f.conname AND NOT w.attnotnull
                AND w.new_number = ANY (f.conkey))
        OR f.conname LIKE 'snowflake\_new\_%' AND f.contype IN ('c', 'f')
        AND EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.new_number = ANY (f.conkey)
                    OR w.relation = f.confrelid AND w.new_number = ANY (f.confkey))
        AND (f.conindid IN (SELECT indexrelid FROM gone_indexes) OR NOT EXISTS (
            SELECT FROM pg_constraint o JOIN wide w ON w.relation IN (o.conrelid, o.confrelid)
            WHERE o.conrelid = f.conrelid AND o.contype = f.contype AND f.conname = )" SNOWFLAKE_NEW("o.conname") R"(
                AND (SELECT )" SNOWFLAKE_AGE R"( FROM pg_depend d
                     WHERE d.classid = 'pg_constraint'::regclass AND d.objid = f.oid)
                    <= (SELECT )" SNOWFLAKE_AGE R"( FROM pg_depend d
                        WHERE d.classid = 'pg_constraint'::regclass AND d.objid = o.oid))))))";

constexpr char kDropGone[] = R"(
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, conname) FROM gone_constraints ORDER BY 1)";

constexpr char kDropGoneIndexes[] = R"(
SELECT format('DROP INDEX CONCURRENTLY %I.%I;', nspname, relname) FROM gone_indexes ORDER BY 1)";

constexpr char kAnalyze[] = R"(
SELECT format('ANALYZE %s;', tab) FROM wide WHERE root GROUP BY tab ORDER BY min(nth))";

// --- Indexes ---

// Those of tables with rows. Unique ones come last: ON CONFLICT, which means the old one, fails on
// them. `keys` and `include` have \x01 for each expression.
constexpr char kIndexesToBuild[] = R"(
SELECT i.indrelid, i.tab, CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, quote_ident(i.new), m.amname, k.keys,
    coalesce(' INCLUDE (' || k.include || ')', '') || CASE WHEN i.indnullsnotdistinct THEN ' NULLS NOT DISTINCT' ELSE '' END
        || coalesce(' WITH (' || array_to_string(i.reloptions, ', ') || ')', '')
        || coalesce(' TABLESPACE ' || quote_ident(s.spcname), ''),
    i.indexprs::text, i.indpred::text
FROM indexes i JOIN pg_am m ON m.oid = i.relam LEFT JOIN pg_tablespace s ON s.oid = i.reltablespace,
LATERAL (
    SELECT string_agg(
            CASE WHEN u.key = 0 THEN E'(\x01)' ELSE quote_ident(coalesce(w.new, a.attname)) END
            || coalesce(' COLLATE ' || quote_ident(cn.nspname) || '.' || quote_ident(co.collname), '')
            || CASE WHEN oc.opcdefault AND (u.key = 0 OR w.new IS NOT NULL) THEN ''
               ELSE format(' %I.%I', onsp.nspname, CASE WHEN w.new IS NULL THEN oc.opcname
                   ELSE regexp_replace(oc.opcname, 'int[24]', 'int8') END) END
            || coalesce((SELECT ' (' || string_agg(format('%s = %L', split_part(o, '=', 1),
                            substr(o, strpos(o, '=') + 1)), ', ') || ')' FROM unnest(ia.attoptions) AS o), '')
            || CASE WHEN NOT pg_indexam_has_property(i.relam, 'can_order') THEN ''
               ELSE (ARRAY['', ' DESC NULLS LAST', ' NULLS FIRST', ' DESC'])[p.option + 1] END,
            ', ' ORDER BY u.nth) FILTER (WHERE u.nth <= i.indnkeyatts) AS keys,
        string_agg(quote_ident(coalesce(w.new, a.attname)), ', ' ORDER BY u.nth)
            FILTER (WHERE u.nth > i.indnkeyatts) AS include
    FROM unnest(i.indkey) WITH ORDINALITY AS u(key, nth)
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.key AND u.key <> 0
    LEFT JOIN wide w ON w.relation = i.indrelid AND w.number = u.key
    LEFT JOIN pg_attribute ia ON ia.attrelid = i.indexrelid AND ia.attnum = u.nth
    LEFT JOIN LATERAL (SELECT i.indclass[u.nth - 1] AS class, i.indcollation[u.nth - 1] AS collation,
        i.indoption[u.nth - 1] AS option) AS p ON u.nth <= i.indnkeyatts
    LEFT JOIN pg_opclass oc ON oc.oid = p.class LEFT JOIN pg_namespace onsp ON onsp.oid = oc.opcnamespace
    LEFT JOIN pg_collation co ON co.oid = p.collation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace) AS k
WHERE i.kind = 'i' AND NOT EXISTS (
    SELECT FROM built b WHERE b.indrelid = i.indrelid AND b.relname = i.new
        AND b.indexrelid NOT IN (SELECT indexrelid FROM gone_indexes))
ORDER BY i.indisunique, i.tab, i.name)";

// --- Constraints ---

// The check constraints of a user, which no table inherits.
constexpr char kChecks[] = R"(
SELECT f.conrelid::regclass::text, quote_ident(c.new), CASE WHEN f.connoinherit THEN ' NO INHERIT' ELSE '' END,
    n.oid IS NULL, f.convalidated AND NOT coalesce(n.convalidated, false), f.conrelid, f.conbin::text
FROM pg_constraint f LEFT JOIN LATERAL (SELECT )" SNOWFLAKE_NEW("f.conname") R"() AS c(new) ON true
LEFT JOIN pg_constraint n ON n.conrelid = f.conrelid AND n.conname = c.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints)
WHERE f.contype = 'c' AND f.conislocal AND f.coninhcount = 0 AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
    AND (n.oid IS NULL OR f.convalidated AND NOT n.convalidated)
ORDER BY 1, 2)";

// A foreign key of a partitioned table is made of those of its partitions, in the switch.
constexpr char kForeignKeys[] = R"(
SELECT k.tab, quote_ident(k.new), format('FOREIGN KEY (%s) REFERENCES %s(%s)%s', k.news, k.referred, k.referred_news,
        CASE WHEN k.confdelsetcols IS NULL THEN r.rest ELSE regexp_replace(r.rest, '(SET (NULL|DEFAULT)) \([^)]*\)',
            '\1 (' || (SELECT string_agg(quote_ident(coalesce(w.new, a.attname)), ', ')
                       FROM unnest(k.confdelsetcols) AS s(number)
                       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = s.number
                       LEFT JOIN wide w ON w.relation = k.conrelid AND w.number = s.number) || ')') END),
    n.oid IS NULL, k.convalidated AND NOT coalesce(n.convalidated, false), NULL, NULL
FROM keys k LEFT JOIN pg_constraint n ON n.conrelid = k.conrelid AND n.conname = k.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints),
LATERAL (SELECT regexp_replace(substr(k.definition, length(k.head) + 1), ' NOT VALID$', '') AS rest) AS r
WHERE k.kind = 'r' AND (n.oid IS NULL OR k.convalidated AND NOT n.convalidated)
ORDER BY 1, 2)";

// --- What cannot be done ---

constexpr char kObstacles[] = R"(,
lines AS (
    SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
            WHEN x.oid IS NOT NULL THEN 'generated ' || pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum)
            ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
        || ' depends on ' || pg_describe_object('pg_class'::regclass, w.relation, w.number) AS line
    FROM wide w
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation AND d.refobjsubid = w.number
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_attrdef x ON d.classid = 'pg_attrdef'::regclass AND x.oid = d.objid
    LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
    LEFT JOIN pg_constraint f ON d.classid = 'pg_constraint'::regclass AND f.oid = d.objid
    WHERE CASE d.classid
        WHEN 'pg_rewrite'::regclass THEN r.rulename <> '_RETURN' OR NOT EXISTS (
            SELECT FROM pg_class v WHERE v.oid = r.ev_class AND v.relkind = 'v')
        WHEN 'pg_attrdef'::regclass THEN x.adnum <> w.number
        WHEN 'pg_trigger'::regclass THEN t.tgconstraint <> 0 AND NOT t.tgisinternal
        WHEN 'pg_constraint'::regclass THEN f.contype = 'x'
        ELSE d.classid NOT IN ('pg_class'::regclass, 'pg_policy'::regclass, 'pg_publication_rel'::regclass,
            'pg_statistic_ext'::regclass) END
    UNION
    SELECT 'partition key of ' || pg_describe_object('pg_class'::regclass, w.relation, 0) || ' depends on '
        || pg_describe_object('pg_class'::regclass, w.relation, w.number)
    FROM wide w JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = w.relation
        AND d.objsubid = w.number AND d.refclassid = d.classid AND d.refobjid = w.relation AND d.refobjsubid = 0
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, oid, 0) || ' refers to a partitioned table or a partition'
    FROM keys WHERE own AND (referred_kind = 'p'
        OR EXISTS (SELECT FROM pg_class p WHERE p.oid = confrelid AND p.relispartition))
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, oid, 0) || ' has a definition that is not understood'
    FROM keys WHERE left(definition, length(head)) <> head
    UNION
    SELECT pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum) || ' is not of this conversion'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.new_number
    WHERE a.atttypid <> 'bigint'::regtype OR w.root AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = w.relation AND k.conname = w.same)
    UNION
    SELECT pg_describe_object('pg_class'::regclass, c.oid, 0) || ' has the name of an index to be built'
    FROM indexes i JOIN pg_class c ON c.relname = i.new AND c.relnamespace = i.relnamespace
    WHERE NOT EXISTS (
        SELECT FROM wide w JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
            AND d.refclassid = d.classid AND d.refobjid = w.relation AND d.refobjsubid = w.new_number
        WHERE w.relation = i.indrelid)
    UNION
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0) || ' is not of this conversion'
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgname = '~' || w.new JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE p.proname <> 'snowflake_follow'
    UNION
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0) || ' is deferred, and fires in any role of the session'
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tginitdeferred AND t.tgenabled IN ('A', 'R')
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, n.oid, 0) || ' has the name of a constraint to be made'
    FROM (
        SELECT relation, c.name FROM wide, LATERAL (VALUES (same), (filled)) AS c(name) WHERE root
        UNION
        SELECT conrelid, new FROM keys
        UNION
        SELECT f.conrelid, )" SNOWFLAKE_NEW("f.conname") R"( FROM pg_constraint f JOIN wide w ON w.relation = f.conrelid
        WHERE f.contype = 'c' AND w.number = ANY (f.conkey)) AS made(relation, name)
    JOIN pg_constraint n ON n.conrelid = made.relation AND n.conname = made.name
    WHERE NOT EXISTS (SELECT FROM wide w WHERE w.relation = n.conrelid AND w.new_number = ANY (n.conkey)
                      OR w.relation = n.confrelid AND w.new_number = ANY (n.confkey))
    UNION
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid) || ' has the type of rows of ' || w.tab
    FROM wide w JOIN pg_class c ON c.oid = w.relation JOIN pg_type y ON y.oid = c.reltype
    JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
        AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass) AND d.deptype = 'n'
    UNION
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0) || ' rewrites statements'
    FROM wide w JOIN pg_rewrite r ON r.ev_class = w.relation
    UNION
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0) || ' would fire after the conversion''s trigger'
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgtype & 3 = 3 AND NOT t.tgisinternal
        AND t.tgname >= '~snowflake_new_' AND t.tgname <> '~' || w.new AND t.tgname NOT LIKE '~snowflake\_new\_%'
    UNION
    SELECT pg_describe_object('pg_class'::regclass, w.relation, w.number) || ' is both inherited and local'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    WHERE a.attislocal AND a.attinhcount > 0
    UNION
    SELECT pg_describe_object('pg_class'::regclass, w.relation, w.number) || ' is not null, and that of the table above is not'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.top AND a.attname = w.old WHERE w.attnotnull AND NOT a.attnotnull
    UNION
    SELECT pg_describe_object('pg_class'::regclass, i.indexrelid, 0) || ' has an operator class without one for bigint: '
        || oc.opcname
    FROM indexes i, unnest(i.indkey) WITH ORDINALITY AS u(key, nth) JOIN wide w ON w.number = u.key,
        pg_opclass oc
    WHERE w.relation = i.indrelid AND u.nth <= i.indnkeyatts AND oc.oid = i.indclass[u.nth - 1] AND NOT oc.opcdefault
        AND NOT EXISTS (
            SELECT FROM pg_opclass b WHERE b.opcmethod = oc.opcmethod AND b.opcnamespace = oc.opcnamespace
                AND b.opcname = regexp_replace(oc.opcname, 'int[24]', 'int8') AND b.opcintype = 'bigint'::regtype)
    UNION
    SELECT CASE WHEN d.classid = 'pg_rewrite'::regclass
            THEN pg_describe_object('pg_class'::regclass, (SELECT ev_class FROM pg_rewrite WHERE oid = d.objid), 0)
            ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END || ' depends on view ' || v.name
    FROM views v JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.view
            OR d.refclassid = 'pg_type'::regclass AND d.refobjid = (SELECT reltype FROM pg_class WHERE oid = v.view)
    WHERE d.deptype IN ('n', 'a') AND NOT (d.classid = 'pg_rewrite'::regclass AND EXISTS (
        SELECT FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
        WHERE r.oid = d.objid AND r.rulename = '_RETURN' AND c.relkind = 'v'))
    UNION
    SELECT 'view ' || v.name || ' belongs to ' || pg_get_userbyid(c.relowner) FROM views v JOIN pg_class c ON c.oid = v.view
    WHERE NOT pg_has_role(c.relowner, 'USAGE')
    UNION
    SELECT 'view ' || v.name || ' belongs to an extension' FROM views v JOIN pg_depend d
        ON d.classid = 'pg_class'::regclass AND d.objid = v.view AND d.deptype = 'e')
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM lines)";

// Indexes are made in the schemas of their tables.
constexpr char kSchemas[] = R"(
SELECT quote_ident(n.nspname) FROM wide w JOIN pg_class c ON c.oid = w.relation JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT has_schema_privilege(n.oid, 'CREATE') ORDER BY 1 LIMIT 1)";

constexpr char kAbandon[] = R"(
SELECT string_agg(statement, E';\n' ORDER BY rank, statement) FROM (
    SELECT 1, format('ALTER TABLE %s DROP CONSTRAINT %I', k.tab, k.new) FROM keys k
    WHERE EXISTS (SELECT FROM pg_constraint n WHERE n.conrelid = k.conrelid AND n.conname = k.new)
    UNION ALL
    SELECT 2, format('DROP TRIGGER %I ON %s', '~' || new, tab) FROM wide
    WHERE (root OR NOT relispartition) AND EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = relation AND t.tgname = '~' || new)
    UNION ALL
    SELECT 3, format('ALTER TABLE %s DROP COLUMN %I', tab, new) FROM wide
    WHERE root AND EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = new AND NOT a.attisdropped)
    ) AS s(rank, statement)
HAVING count(*) > 0)";

// --- Expressions ---

// Expressions of tables have no parameters. So the parameter mark + n can stand for column n.
struct Marking {
  const IdColumns *columns;
  Oid table;
  int mark;
};

bool IsNarrow(const IdColumns &columns, Oid table, AttrNumber number) {
  bool narrow = false;
  for (int64_t i = 0; i < columns.count; ++i)
    narrow |= columns.all[i].narrow && columns.all[i].table == table && columns.all[i].number == number;
  return narrow;
}

Node *MarkColumns(Node *node, void *context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Var)) return MutateTree(node, MarkColumns, context);
  const Marking *marking = static_cast<Marking *>(context);
  const Var *var = castNode(Var, node);
  if (!IsNarrow(*marking->columns, marking->table, var->varattno)) return static_cast<Node *>(copyObjectImpl(node));
  Param *param = makeNode(Param);
  param->paramkind = PARAM_EXTERN;
  param->paramid = marking->mark + var->varattno;
  param->paramtype = var->vartype;
  param->paramtypmod = var->vartypmod;
  param->paramcollid = var->varcollid;
  param->location = -1;
  return reinterpret_cast<Node *>(param);
}

const char *Replaced(const char *text, const char *from, const char *to) {
  StringInfoData all;
  initStringInfo(&all);
  while (const char *found = strstr(text, from)) {
    appendBinaryStringInfo(&all, text, static_cast<int>(found - text));
    appendStringInfoString(&all, to);
    text = found + strlen(from);
  }
  appendStringInfoString(&all, text);
  return all.data;
}

// The SQL of an expression of a table, with the new columns instead of the narrow ones.
const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table);
  Marking marking = {&columns, table, 100 * 10000};
  // A literal may look like the mark of a column, which has up to four digits.
  const char *before = deparse_expression(expression, context, false, false);
  while (strstr(before, psprintf("$%d", marking.mark / 10000)) != nullptr) marking.mark += 10000;
  const char *sql = deparse_expression(MarkColumns(expression, &marking), context, false, false);
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (column.narrow && column.table == table)
      sql = Replaced(sql, psprintf("$%d", marking.mark + column.number), column.new_sql);
  }
  return sql;
}

// --- Lists of steps ---

const char *Joined(List *statements) {
  StringInfoData all;
  initStringInfo(&all);
  ListCell *cell = nullptr;
  foreach (cell, statements) {
    const char *statement = static_cast<const char *>(lfirst(cell));
    const size_t length = strlen(statement);
    const int kept = static_cast<int>(length > 0 && statement[length - 1] == ';' ? length - 1 : length);
    appendStringInfo(&all, "%s%.*s", all.len > 0 ? ";\n" : "", kept, statement);
  }
  return all.data;
}

const char *Quoted(const char *statements) {
  if (strstr(statements, "$try$") != nullptr) return quote_literal_cstr(statements);
  return psprintf("$try$\n%s\n$try$", statements);
}

struct Extension {
  const char *attempt, *fill, *follow, *check;
};

Extension FunctionsOf(const Conversion &conversion) {
  return {FindFunction(conversion, "snowflake_try", 2).name_sql, FindFunction(conversion, "snowflake_fill", 2).name_sql,
          FindFunction(conversion, "snowflake_follow", 0).name_sql,
          FindFunction(conversion, "snowflake_check_switch", 4).name_sql};
}

char *Attempt(const Extension &extension, const char *statements, const char *owner_of = nullptr) {
  return psprintf("CALL %s(%s%s%s);", extension.attempt, Quoted(statements),
                  owner_of != nullptr ? ", owner_of => " : "", owner_of != nullptr ? quote_literal_cstr(owner_of) : "");
}

List *Attempts(const Extension &extension, List *statements) {
  ListCell *cell = nullptr;
  foreach (cell, statements) lfirst(cell) = Attempt(extension, static_cast<const char *>(lfirst(cell)));
  return statements;
}

// The rows of a query, which the next query would overwrite, as a list of Row: a struct of texts.
template <typename Row>
List *Copied() {
  List *rows = NIL;
  for (int64_t row = 0; row < Rows(); ++row) {
    const char **texts = static_cast<const char **>(palloc(sizeof(Row)));
    for (size_t i = 0; i < sizeof(Row) / sizeof(char *); ++i) texts[i] = Text(row, static_cast<int>(i) + 1);
    rows = lappend(rows, texts);
  }
  return rows;
}

bool IsTrue(const char *boolean) { return boolean != nullptr && boolean[0] == 't'; }

Oid OidOf(const char *digits) { return static_cast<Oid>(strtoul(digits, nullptr, 10)); }

struct IndexToBuild {
  const char *relation, *table_sql, *unique, *new_sql, *method, *keys, *rest, *expressions, *predicate;
};

const char *KeysOf(const IdColumns &columns, const IndexToBuild &index) {
  StringInfoData keys;
  initStringInfo(&keys);
  List *expressions = index.expressions != nullptr ? castNode(List, stringToNode(index.expressions)) : NIL;
  int next = 0;
  for (const char *c = index.keys; *c != '\0'; ++c) {
    if (*c == '\x01')
      appendStringInfoString(
          &keys, OnNewColumns(columns, OidOf(index.relation), static_cast<Node *>(list_nth(expressions, next++))));
    else
      appendStringInfoChar(&keys, *c);
  }
  return keys.data;
}

const char *PredicateOf(const IdColumns &columns, const IndexToBuild &index) {
  if (index.predicate == nullptr) return "";
  Node *node = static_cast<Node *>(stringToNode(index.predicate));
  if (IsA(node, List)) node = reinterpret_cast<Node *>(make_ands_explicit(castNode(List, node)));
  return psprintf(" WHERE %s", OnNewColumns(columns, OidOf(index.relation), node));
}

List *IndexSteps(const IdColumns &columns) {
  List *steps = NIL;
  Query(Concat({kWide, kKeys, kIndexes, kGone, kIndexesToBuild}), columns.narrow.tables, columns.narrow.numbers);
  ListCell *cell = nullptr;
  foreach (cell, Copied<IndexToBuild>()) {
    const IndexToBuild &index = *static_cast<const IndexToBuild *>(lfirst(cell));
    steps = lappend(steps, psprintf("CREATE %sINDEX CONCURRENTLY %s ON %s USING %s (%s)%s%s;", index.unique,
                                    index.new_sql, index.table_sql, index.method, KeysOf(columns, index), index.rest,
                                    PredicateOf(columns, index)));
  }
  return steps;
}

struct ConstraintToAdd {
  const char *table_sql, *new_sql, *definition, *add, *validate, *relation, *expression;
};

// A constraint is added for a moment, and validated while others write. The validation runs code of
// the table's owner.
List *ConstraintSteps(const Extension &extension, const IdColumns &columns) {
  List *steps = NIL;
  ListCell *cell = nullptr;
  foreach (cell, Copied<ConstraintToAdd>()) {
    const ConstraintToAdd &constraint = *static_cast<const ConstraintToAdd *>(lfirst(cell));
    const char *check = "";
    if (constraint.expression != nullptr)
      check = psprintf("CHECK (%s)", OnNewColumns(columns, OidOf(constraint.relation),
                                                  static_cast<Node *>(stringToNode(constraint.expression))));
    if (IsTrue(constraint.add))
      steps = lappend(
          steps, Attempt(extension, psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s%s NOT VALID", constraint.table_sql,
                                             constraint.new_sql, check, constraint.definition)));
    if (IsTrue(constraint.validate))
      steps = lappend(
          steps, Attempt(extension,
                         psprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", constraint.table_sql, constraint.new_sql),
                         constraint.table_sql));
  }
  return steps;
}

List *CheckSteps(const Extension &extension, const IdColumns &columns) {
  Query(Concat({kWide, kKeys, kIndexes, kGone, kChecks}), columns.narrow.tables, columns.narrow.numbers);
  return ConstraintSteps(extension, columns);
}

List *ForeignKeySteps(const Extension &extension, const IdColumns &columns) {
  Query(Concat({kWide, kKeys, kIndexes, kGone, kForeignKeys}), columns.narrow.tables, columns.narrow.numbers);
  return ConstraintSteps(extension, columns);
}

// Those up to the switch, without ANALYZE, which leaves nothing that could be found.
List *StepsBefore(const Extension &extension, const IdColumns &columns) {
  const auto texts = [&](std::initializer_list<const char *> parts, auto... more) {
    return Texts(parts, columns.narrow.tables, columns.narrow.numbers, more...);
  };
  List *steps = Attempts(extension, texts({kWide, kAdd}, TextValue(extension.follow)));
  steps = list_concat(steps, Attempts(extension, texts({kWide, kKeys, kIndexes, kGone, kDropGone})));
  steps = list_concat(steps, texts({kWide, kKeys, kIndexes, kGone, kDropGoneIndexes}));
  steps = list_concat(steps, texts({kWide, kUnknown, kFill}, TextValue(extension.fill)));
  steps = list_concat(steps, texts({kWide, kUnknown, kValidate}));
  steps = list_concat(steps, IndexSteps(columns));
  steps = list_concat(steps, CheckSteps(extension, columns));
  return list_concat(steps, ForeignKeySteps(extension, columns));
}

const char *SwitchText(const IdColumns &columns, List *defaults) {
  return Joined(SwitchStatements(columns, list_copy(defaults)));
}

char *ChecksumOf(const char *statements) {
  return TextDatumGetCString(DirectFunctionCall1Coll(md5_text, C_COLLATION_OID, CStringGetTextDatum(statements)));
}

// Locks, the check, and the statements that it has checked.
char *Switch(const Extension &extension, const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const char *text = SwitchText(columns, defaults);
  StringInfoData tables;
  initStringInfo(&tables);
  ListCell *cell = nullptr;
  foreach (cell, TablesOfSwitch(columns))
    appendStringInfo(&tables, "%s%s", tables.len > 0 ? ", " : "", static_cast<const char *>(lfirst(cell)));
  return Attempt(extension,
                 psprintf("LOCK TABLE %s;\nSELECT %s(%s, %s, %s, '%s');\n%s", tables.data, extension.check,
                          quote_literal_cstr(columns.all[0].table_sql), quote_literal_cstr(conversion.column),
                          quote_literal_cstr(conversion.target), ChecksumOf(text), text));
}

List *WhatToAbandon(const IdColumns &columns) {
  return Texts({kWide, kKeys, kAbandon}, columns.narrow.tables, columns.narrow.numbers);
}

}  // namespace

void CheckOnline(const IdColumns &columns) {
  Query(Concat({kWide, kKeys, kIndexes, kViews, kObstacles}), columns.narrow.tables, columns.narrow.numbers);
  if (const char *obstacles = Text(0, 1))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert these columns online"),
                    errdetail("%s", obstacles),
                    errhint("Drop these objects, convert, and create them again, or convert without online.")));
  Query(Concat({kWide, kSchemas}), columns.narrow.tables, columns.narrow.numbers);
  if (Rows() > 0)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for schema %s", Text(0, 1)),
                    errdetail("An online conversion creates indexes in the schemas of its tables."),
                    errhint("Grant CREATE on the schema to the owner of the tables, or convert without online.")));
}

List *OnlineSteps(const Conversion &conversion, const IdColumns &columns, List *defaults) {
  const Extension extension = FunctionsOf(conversion);
  if (columns.narrow_count == 0) return defaults == NIL ? NIL : list_make1(Attempt(extension, Joined(defaults)));
  List *steps = StepsBefore(extension, columns);
  steps = list_concat(steps, Texts({kWide, kAnalyze}, columns.narrow.tables, columns.narrow.numbers));
  return lappend(steps, Switch(extension, conversion, columns, defaults));
}

bool OnlineHasBegun(const IdColumns &columns) { return columns.narrow_count > 0 && WhatToAbandon(columns) != NIL; }

List *AbandonSteps(const Conversion &conversion, const IdColumns &columns) {
  return Attempts(FunctionsOf(conversion), WhatToAbandon(columns));
}

void CheckSwitch(const Conversion &conversion, const IdColumns &columns, List *defaults, const char *checksum) {
  if (columns.narrow_count > 0 && StepsBefore(FunctionsOf(conversion), columns) == NIL &&
      strcmp(ChecksumOf(SwitchText(columns, defaults)), checksum) == 0)
    return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("the switch of %s is not due", columns.all[0].described),
           errdetail("A step before it has not been done, or its tables have changed since the statements were made."),
           errhint("Call snowflake_convert() with online => true again, and run the statements that it returns.")));
}

}  // namespace snowflake
