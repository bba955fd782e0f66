-- The indexes of the tables that use a narrow column, by their keys or expressions. `level` is how
-- many partitioned indexes they are below. `referred`: a foreign key is for it.
, indexes AS (
    SELECT i.*, c.relname, c.relnamespace, c.relkind AS kind, c.relam, c.reloptions, c.reltablespace,
        i.indrelid::regclass::text AS tab, n.nspname, i.indexrelid::regclass::text AS name,
        'snowflake_new_' || CASE WHEN octet_length(c.relname) < 49 THEN c.relname ELSE md5(c.relname) END AS new,
            f.oid AS constraint_oid, f.conname, f.contype, f.condeferrable,
        f.condeferred, i.indexrelid IN (SELECT conindid FROM pg_constraint WHERE contype = 'f') AS referred, (
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
        SELECT FROM wide w WHERE w.relation = i.indrelid AND (w.number = ANY (i.indkey) OR EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                AND d.refclassid = d.classid AND d.refobjid = w.relation AND d.refobjsubid = w.number))))
