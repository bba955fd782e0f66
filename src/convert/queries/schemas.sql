-- Where the role that converts lacks the right to create what is created again.
-- Parameters: oid[], smallint[]
:wide
:indexes
:views
SELECT DISTINCT 'schema ' || n.nspname || ' is not one in which ' || current_user || ' may create'
FROM pg_namespace n
WHERE NOT has_schema_privilege(n.oid, 'CREATE') AND n.oid IN (
    SELECT c.relnamespace FROM wide w JOIN pg_class c ON c.oid = w.relation
    UNION ALL
    SELECT c.relnamespace FROM views v JOIN pg_class c ON c.oid = v.view
    UNION ALL
    SELECT s.stxnamespace
    FROM on_narrow d JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid)
UNION
SELECT 'tablespace ' || s.spcname || ' is not one in which ' || current_user || ' may create'
FROM indexes i JOIN pg_tablespace s ON s.oid = i.reltablespace
WHERE NOT has_tablespace_privilege(s.oid, 'CREATE')
