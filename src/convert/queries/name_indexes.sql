-- Those of tables with rows are there. Those of partitioned tables are made of them, from below.
-- Parameters: oid[], smallint[]
:wide
:indexes
SELECT s.statement FROM (
    SELECT 0, level, name, CASE WHEN conname IS NULL THEN format('ALTER INDEX %I.%I RENAME TO %I', nspname, new,
        relname)
        ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s USING INDEX %I%s', tab, conname,
            CASE contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, new,
            CASE WHEN condeferred THEN ' DEFERRABLE INITIALLY DEFERRED' WHEN condeferrable
                THEN ' DEFERRABLE' END) END
    FROM indexes WHERE kind = 'i'
    UNION ALL
    SELECT 1, level, name, CASE WHEN conname IS NULL THEN pg_get_indexdef(indexrelid)
        ELSE format('ALTER TABLE ONLY %s ADD CONSTRAINT %I %s', tab, conname,
            regexp_replace(pg_get_constraintdef(constraint_oid), '( DEFERRABLE.*)?$',
                coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '') || '\1')) END
        || coalesce((SELECT string_agg(format(E';\nALTER INDEX %s ATTACH PARTITION %s', name,
            h.inhrelid::regclass), ''
                                       ORDER BY h.inhrelid::regclass::text)
                     FROM pg_inherits h WHERE h.inhparent = indexrelid), '')
    FROM indexes WHERE kind = 'I') AS s(partitioned, level, name, statement)
ORDER BY partitioned, level DESC, name
