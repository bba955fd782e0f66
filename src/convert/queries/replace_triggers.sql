-- A copy for a partition may be enabled in another way than the one above.
-- Parameters: oid[], smallint[]
:wide
, replaced AS (
    SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled, 'O'::"char" AS above, 0 AS level FROM pg_trigger t
    WHERE NOT t.tgisinternal AND t.tgparentid = 0
        AND ('pg_trigger'::regclass, t.oid) IN (SELECT classid, objid FROM on_narrow)
    UNION ALL
    SELECT t.oid, t.tgrelid, t.tgname, t.tgenabled, r.tgenabled, r.level + 1
    FROM replaced r JOIN pg_trigger t ON t.tgparentid = r.oid)
SELECT s.statement FROM (
    SELECT -1, tgrelid, tgname, 'CREATE OR REPLACE' || substr(pg_get_triggerdef(oid), length('CREATE') + 1)
    FROM replaced WHERE level = 0
    UNION ALL
    SELECT level, tgrelid, tgname, format('ALTER TABLE %s %s TRIGGER %I', tgrelid::regclass,
        CASE tgenabled WHEN 'O' THEN 'ENABLE' WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA'
            ELSE 'ENABLE ALWAYS' END, tgname)
    FROM replaced WHERE tgenabled <> above) AS s(level, tgrelid, tgname, statement)
ORDER BY level, tgrelid, tgname
