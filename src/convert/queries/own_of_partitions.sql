-- The indexes of partitions on narrow columns ($1 and $2) that have something of their own. ALTER
-- TABLE makes them anew out of the index above, and all this is lost.
-- Parameters: oid[], smallint[]
:narrow
SELECT pg_describe_object('pg_class'::regclass, c.oid, 0)
        || format(' has %s of its own, which a change of type would lose', own.what) AS line,
    'Take these properties from the indexes of partitions first, and give them to the new indexes after the '
    'conversion.' AS to_do
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_inherits h ON h.inhrelid = c.oid
JOIN pg_class p ON p.oid = h.inhparent
LEFT JOIN pg_constraint f ON f.conindid = c.oid AND f.conrelid = i.indrelid AND f.contype IN ('p', 'u', 'x'),
LATERAL (
    SELECT string_agg(w.name, ', ') FROM (VALUES
        ('a replica identity', i.indisreplident),
        ('an order of CLUSTER', i.indisclustered),
        ('storage parameters', c.reloptions IS DISTINCT FROM p.reloptions),
        ('a tablespace', c.relkind = 'i' AND c.reltablespace <> p.reltablespace),
        ('a comment', obj_description(c.oid, 'pg_class') <> coalesce(obj_description(p.oid, 'pg_class'), '')
            OR obj_description(f.oid, 'pg_constraint') IS NOT NULL),
        ('statistics targets', EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attstattarget >= 0)),
        ('a dependency on an extension', EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'x'))
        ) AS w(name, has) WHERE w.has) AS own(what)
WHERE own.what IS NOT NULL AND EXISTS (
    SELECT FROM narrow n WHERE n.relation = i.indrelid AND (n.number = ANY (i.indkey)
        OR i.indexrelid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_class'::regclass)))
