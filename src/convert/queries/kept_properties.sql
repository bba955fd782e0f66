-- Statements that give indexes, statistics objects and constraints on narrow columns ($1 and $2) what
-- ALTER TABLE does not give them when it makes them again. An inherited check may be valid although the
-- one above is not, and have a comment of its own. The copies of a foreign key for partitions get its
-- name.
-- Parameters: oid[], smallint[]
:narrow
, made(classid, objid) AS (
    SELECT classid, objid FROM on_narrow
    UNION
    SELECT 'pg_class'::regclass, f.conindid FROM narrow n
    JOIN pg_constraint f ON f.conrelid = n.relation AND n.number = ANY (f.conkey)
        AND f.contype IN ('p', 'u', 'x')),
copies(oid, relation, made) AS (
    SELECT oid, conrelid, conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0
        AND oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass)
    UNION ALL
    SELECT f.oid, f.conrelid, c.made FROM copies c JOIN pg_constraint f ON f.conparentid = c.oid AND f.conrelid <> c.relation),
indexes AS (
    SELECT c.oid, format('ALTER INDEX %I.%I', s.nspname, c.relname) AS alter
    FROM made m JOIN pg_class c ON c.oid = m.objid AND c.relkind IN ('i', 'I') AND NOT c.relispartition
    JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE m.classid = 'pg_class'::regclass)
SELECT format('%s ALTER COLUMN %s SET STATISTICS %s;', i.alter, a.attnum, a.attstattarget) AS statement
FROM indexes i JOIN pg_attribute a ON a.attrelid = i.oid AND a.attstattarget >= 0
UNION ALL
SELECT format('%s DEPENDS ON EXTENSION %I;', i.alter, e.extname)
FROM indexes i JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = i.oid AND d.deptype = 'x'
JOIN pg_extension e ON e.oid = d.refobjid
UNION ALL
SELECT format('ALTER STATISTICS %I.%I SET STATISTICS %s;', n.nspname, s.stxname, s.stxstattarget)
FROM made m JOIN pg_statistic_ext s ON s.oid = m.objid AND s.stxstattarget >= 0
JOIN pg_namespace n ON n.oid = s.stxnamespace
WHERE m.classid = 'pg_statistic_ext'::regclass
UNION ALL
SELECT format('ALTER TABLE %I.%I VALIDATE CONSTRAINT %I;', n.nspname, c.relname, f.conname)
FROM made m JOIN pg_constraint f ON f.oid = m.objid AND f.contype = 'c' AND f.coninhcount > 0 AND f.convalidated
JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE m.classid = 'pg_constraint'::regclass AND NOT EXISTS (
    SELECT FROM pg_inherits h JOIN pg_constraint p ON p.conrelid = h.inhparent AND p.conname = f.conname
    WHERE h.inhrelid = f.conrelid AND p.contype = 'c' AND p.convalidated)
UNION ALL
SELECT format('COMMENT ON CONSTRAINT %I ON %I.%I IS %L;', f.conname, n.nspname, c.relname, o.comment)
FROM made m JOIN pg_constraint f ON f.oid = m.objid AND f.contype = 'c' AND f.coninhcount > 0
JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    obj_description(f.oid, 'pg_constraint') AS o(comment)
WHERE m.classid = 'pg_constraint'::regclass AND o.comment IS NOT NULL
UNION ALL
SELECT k.statement FROM copies c JOIN pg_constraint f ON f.oid = c.oid AND f.conparentid <> 0
JOIN pg_class r ON r.oid = f.conrelid JOIN pg_namespace n ON n.oid = r.relnamespace, LATERAL (VALUES
    (c.made <> f.conname, format('ALTER TABLE %I.%I RENAME CONSTRAINT %I TO %I;', n.nspname, r.relname, c.made,
        f.conname)),
    (obj_description(f.oid, 'pg_constraint') IS NOT NULL, format('COMMENT ON CONSTRAINT %I ON %I.%I IS %L;', f.conname,
        n.nspname, r.relname, obj_description(f.oid, 'pg_constraint')))) AS k(needed, statement)
WHERE k.needed
ORDER BY statement
