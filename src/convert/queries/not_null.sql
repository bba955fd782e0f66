-- The check constraint shows that no row is null, so the table is not read. From 18 on NOT NULL is
-- a constraint with a name. A table below has another name only if it gets it first.
-- Parameters: oid[], smallint[]
:wide
SELECT s.statement FROM (
    SELECT nth, format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', tab, old) FROM wide
    WHERE attnotnull AND current_setting('server_version_num')::integer < 180000
    UNION ALL
    SELECT -w.level, format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', w.tab, f.conname, w.old, CASE
        WHEN f.connoinherit THEN ' NO INHERIT' END)
    FROM wide w JOIN pg_constraint f ON f.conrelid = w.relation AND f.contype = 'n' AND f.conkey = ARRAY[w.number]
    WHERE w.root OR w.relkind = 'r' AND (f.conislocal OR EXISTS (
        SELECT FROM pg_inherits h JOIN wide t ON t.relation = h.inhparent AND t.old = w.old
        JOIN pg_constraint p ON p.conrelid = t.relation AND p.contype = 'n' AND p.conkey = ARRAY[t.number]
        WHERE h.inhrelid = w.relation AND p.conname <> f.conname))) AS s(place, statement)
ORDER BY place, statement
