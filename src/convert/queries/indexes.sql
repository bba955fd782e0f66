-- The indexes of the tables that use a narrow column, by their keys or expressions. `level` is how
-- many partitioned indexes they are below. `referred`: a foreign key is for it. `mark`: the comment of
-- the one that is made for it, until the switch, if it has an expression or a condition. See
-- user_checks.sql.
, indexes AS (
    SELECT i.*, c.relname, c.relnamespace, c.relkind AS kind, c.relam, c.reloptions, c.reltablespace,
        i.indrelid::regclass::text AS tab, n.nspname, i.indexrelid::regclass::text AS name,
        'snowflake_new_' || CASE WHEN octet_length(c.relname) < 49 THEN c.relname ELSE md5(c.relname) END AS new,
        CASE WHEN i.indexprs IS NOT NULL OR i.indpred IS NOT NULL
            THEN 'snowflake_convert: made for ' || md5(concat_ws(' ', pg_get_expr(i.indexprs, i.indrelid), 'WHERE',
                pg_get_expr(i.indpred, i.indrelid), (
                    SELECT array_agg(number ORDER BY number) FROM wide WHERE relation = i.indrelid))) END AS mark,
        f.oid AS constraint_oid, f.conname, f.contype, f.condeferrable, f.condeferred,
        i.indexrelid IN (SELECT conindid FROM pg_constraint WHERE contype = 'f') AS referred, (
            SELECT array_agg(key ORDER BY key) FROM unnest(i.indkey) WITH ORDINALITY AS u(key, nth)
            WHERE nth <= i.indnkeyatts) AS key_set, (WITH RECURSIVE up(relation) AS (
            SELECT i.indexrelid
            UNION
            SELECT h.inhparent FROM up JOIN pg_inherits h ON h.inhrelid = up.relation)
        SELECT count(*) FROM up) AS level
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_constraint f ON f.conindid = i.indexrelid AND f.conrelid = i.indrelid AND f.contype IN ('p',
        'u', 'x')
    WHERE (i.indisvalid OR c.relkind = 'I') AND EXISTS (
        SELECT FROM wide w WHERE w.relation = i.indrelid AND (w.number = ANY (i.indkey)
            OR i.indexrelid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_class'::regclass)))
        AND NOT (c.relname LIKE 'snowflake\_new\_%'
            AND i.indexrelid IN (SELECT objid FROM on_new WHERE classid = 'pg_class'::regclass)))
