-- What ALTER TABLE does not make again as it is, on narrow columns ($1 and $2). It makes the indexes
-- and constraints of partitions out of those above, and all indexes valid; it gives statistics objects
-- to its role, enables triggers of constraints, and reads foreign keys as its role. A table that is
-- used as a catalog table it does not rewrite.
-- Parameters: oid[], smallint[]
:narrow
, indexes AS (
    SELECT i.* FROM pg_index i WHERE i.indrelid IN (SELECT relation FROM narrow) AND EXISTS (
        SELECT FROM narrow n WHERE n.relation = i.indrelid AND (n.number = ANY (i.indkey)
            OR i.indexrelid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_class'::regclass)))),
constraints AS (
    SELECT f.*, obj_description(f.oid, 'pg_constraint') IS NOT NULL AS has_comment FROM pg_constraint f
    WHERE f.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass)),
lost(classid, objid, reason, to_do) AS (
    SELECT 'pg_class'::regclass, c.oid, format('has %s of its own, which a change of type would lose', own.what),
        'Take these properties from the indexes of partitions first, and give them to the new indexes after the '
        'conversion.'
    FROM indexes i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_inherits h ON h.inhrelid = c.oid
    JOIN pg_class p ON p.oid = h.inhparent JOIN pg_index above ON above.indexrelid = p.oid
    LEFT JOIN pg_constraint f ON f.conindid = c.oid AND f.conrelid = i.indrelid AND f.contype IN ('p', 'u', 'x'),
    LATERAL (
        SELECT string_agg(w.name, ', ') FROM (VALUES
            ('a replica identity', i.indisreplident),
            ('an order of CLUSTER', i.indisclustered),
            ('an order of columns', i.indoption::text <> above.indoption::text),
            ('a constraint', f.oid IS NOT NULL AND f.conparentid = 0),
            ('storage parameters', c.reloptions IS DISTINCT FROM p.reloptions),
            ('a tablespace', c.relkind = 'i' AND c.reltablespace <> p.reltablespace),
            ('a comment', obj_description(c.oid, 'pg_class') <> coalesce(obj_description(p.oid, 'pg_class'), '')
                OR obj_description(f.oid, 'pg_constraint') IS NOT NULL),
            ('statistics targets', EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attstattarget >= 0)),
            ('a dependency on an extension', EXISTS (
                SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                    AND d.deptype = 'x'))) AS w(name, has) WHERE w.has) AS own(what)
    WHERE own.what IS NOT NULL
    UNION
    SELECT 'pg_class'::regclass, indexrelid, 'is not valid, and a change of type would build it',
        'Drop indexes that are not valid, or make them valid by REINDEX or ALTER INDEX ... ATTACH PARTITION.'
    FROM indexes WHERE NOT indisvalid
    UNION
    SELECT 'pg_constraint'::regclass, oid, 'has a comment of its own, which a change of type would lose',
        'Take these comments first, and give them to the constraints after the conversion.'
    FROM constraints WHERE contype = 'n' AND NOT conislocal AND has_comment
    UNION
    SELECT 'pg_statistic_ext'::regclass, s.oid, 'belongs to ' || pg_get_userbyid(s.stxowner)
            || ', and a change of type would give it to ' || pg_get_userbyid(c.relowner),
        'Run ALTER STATISTICS ... OWNER TO the owner of the table first.'
    FROM on_narrow d JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid
    JOIN pg_class c ON c.oid = s.stxrelid
    WHERE s.stxowner <> c.relowner
    UNION
    SELECT 'pg_constraint'::regclass, f.oid, 'has disabled triggers, which would be enabled if it is made again',
        'Enable the triggers of these constraints, or drop the constraints first.'
    FROM constraints f JOIN pg_trigger t ON t.tgconstraint = f.oid AND t.tgenabled <> 'O'
    UNION
    SELECT 'pg_constraint'::regclass, f.oid,
        'is checked under the forced row security of ' || pg_describe_object('pg_class'::regclass, c.oid, 0),
        'Run ALTER TABLE ... NO FORCE ROW LEVEL SECURITY until the conversion is over.'
    FROM constraints f JOIN pg_class c ON c.oid IN (f.conrelid, f.confrelid) JOIN pg_roles o ON o.oid = c.relowner
    JOIN pg_roles me ON me.rolname = current_user
    WHERE f.contype = 'f' AND f.convalidated AND c.relrowsecurity AND c.relforcerowsecurity
        AND NOT (o.rolsuper OR o.rolbypassrls OR me.rolsuper OR me.rolbypassrls)
    UNION
    SELECT 'pg_class'::regclass, c.oid, 'has user_catalog_table, with which PostgreSQL does not rewrite it',
        'Run ALTER TABLE ... RESET (user_catalog_table), convert, and set it again.'
    FROM narrow n JOIN pg_class c ON c.oid = n.relation AND c.relkind = 'r'
    WHERE EXISTS (
        SELECT FROM pg_options_to_table(c.reloptions)
        WHERE option_name = 'user_catalog_table' AND option_value::boolean))
SELECT pg_describe_object(classid, objid, 0) || ' ' || reason AS line, to_do FROM lost
