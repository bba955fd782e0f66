// What the queries of an online conversion have in common. As with catalog.h, all of it runs
// between SPI_connect() and SPI_finish().
#pragma once

#include "pg/convert/catalog.h"
#include "pg/convert/query.h"

#include <initializer_list>

namespace snowflake {
// $1 and $2: the narrow columns. Those that are inherited from nowhere are roots; `top` is the
// table of the root that a column is inherited from, `level` how many tables are above it. `same`
// and `filled` are the check constraints of the new column: it equals the old one, and is not null.
// `new_number` is null until it is there.
inline constexpr char kWide[] = R"(
WITH RECURSIVE narrow AS (
    SELECT n.relation, n.number, n.nth, n.relation::regclass::text AS tab, c.relkind, c.relispartition,
        a.attname AS old, )" SNOWFLAKE_NEW("a.attname") R"( AS new, a.attinhcount = 0 AS root, a.attnotnull, up.*
    FROM unnest($1, $2) WITH ORDINALITY AS n(relation, number, nth)
    JOIN pg_class c ON c.oid = n.relation
    JOIN pg_attribute a ON a.attrelid = n.relation AND a.attnum = n.number,
    LATERAL (
        WITH RECURSIVE up(relation) AS (
            SELECT n.relation
            UNION
            SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.relation)
        SELECT min(t.attrelid) FILTER (WHERE t.attinhcount = 0) AS top, count(*) AS level
        FROM up JOIN pg_attribute t ON t.attrelid = up.relation AND t.attname = a.attname) AS up),
wide AS (
    SELECT *, 'snowflake_same_' || substr(new, 15) AS same, 'snowflake_full_' || substr(new, 15) AS filled,
        (SELECT attnum FROM pg_attribute WHERE attrelid = relation AND attname = new) AS new_number
    FROM narrow))";

// All foreign keys with a narrow column at either end; `own`: it is no copy for a partition. `head`
// is what `definition` begins with, up to the columns that it refers to.
inline constexpr char kKeys[] = R"(,
keys AS (
    SELECT f.*, f.conparentid = 0 AS own, r.relkind AS kind, t.relkind AS referred_kind,
        f.conrelid::regclass::text AS tab, f.confrelid::regclass::text AS referred,
        )" SNOWFLAKE_NEW("f.conname") R"( AS new, c.olds, c.news, c.referred_olds, c.referred_news,
        pg_get_constraintdef(f.oid) AS definition,
        format('FOREIGN KEY (%s) REFERENCES %s(%s)', c.olds, f.confrelid::regclass, c.referred_olds) AS head
    FROM pg_constraint f JOIN pg_class r ON r.oid = f.conrelid JOIN pg_class t ON t.oid = f.confrelid,
    LATERAL (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.nth) AS olds,
            string_agg(quote_ident(coalesce(w.new, a.attname)), ', ' ORDER BY k.nth) AS news,
            string_agg(quote_ident(b.attname), ', ' ORDER BY k.nth) AS referred_olds,
            string_agg(quote_ident(coalesce(x.new, b.attname)), ', ' ORDER BY k.nth) AS referred_news,
            bool_or(w.new IS NOT NULL OR x.new IS NOT NULL) AS any
        FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(referring, referred, nth)
        JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.referring
        JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.referred
        LEFT JOIN wide w ON w.relation = f.conrelid AND w.number = k.referring
        LEFT JOIN wide x ON x.relation = f.confrelid AND x.number = k.referred) AS c
    WHERE f.contype = 'f' AND c.any))";

// The indexes of the tables that use a narrow column, by their keys or expressions. `level` is how
// many partitioned indexes they are below.
inline constexpr char kIndexes[] = R"(,
indexes AS (
    SELECT i.*, c.relname, c.relnamespace, c.relkind AS kind, c.relam, c.reloptions, c.reltablespace,
        i.indrelid::regclass::text AS tab, n.nspname, i.indexrelid::regclass::text AS name,
        )" SNOWFLAKE_NEW("c.relname") R"( AS new, f.oid AS constraint_oid, f.conname, f.contype, f.condeferrable,
        f.condeferred, (WITH RECURSIVE up(relation) AS (
            SELECT i.indexrelid
            UNION
            SELECT h.inhparent FROM up JOIN pg_inherits h ON h.inhrelid = up.relation)
        SELECT count(*) FROM up) AS level
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_constraint f ON f.conindid = i.indexrelid AND f.conrelid = i.indrelid AND f.contype IN ('p', 'u', 'x')
    WHERE (i.indisvalid OR c.relkind = 'I') AND EXISTS (
        SELECT FROM wide w WHERE w.relation = i.indrelid AND (w.number = ANY (i.indkey) OR EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                AND d.refclassid = d.classid AND d.refobjid = w.relation AND d.refobjsubid = w.number)))))";

// The views over narrow columns, and those over these views.
inline constexpr char kViews[] = R"(,
above(view, depth) AS (
    SELECT r.ev_class, 1 FROM wide w
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation AND d.refobjsubid = w.number
        AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
    UNION
    SELECT r.ev_class, v.depth + 1 FROM above v
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.view
        AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN' AND r.ev_class <> v.view
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'),
views AS (SELECT view, max(depth) AS depth, view::regclass::text AS name FROM above GROUP BY view))";

// A query made of parts: kWide, perhaps further named ones, and what is selected from them.
inline const char *Concat(std::initializer_list<const char *> parts) {
  StringInfoData query;
  initStringInfo(&query);
  for (const char *part : parts) appendStringInfoString(&query, part);
  return query.data;
}

// The first fields of all rows.
template <typename... Values>
List *Texts(std::initializer_list<const char *> parts, Values... values) {
  Query(Concat(parts), values...);
  return Texts(1);
}

}  // namespace snowflake
