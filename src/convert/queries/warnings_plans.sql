-- PL/pgSQL functions of triggers that touch_functions.sql leaves, because the owner of the table may not
-- alter them.
-- Parameters: oid[], smallint[]
:affected
SELECT 'plan' AS kind, o.described AS object,
    format('%s will fail in sessions that have used it before the switch', o.described) AS message,
    format('A trigger of %s calls it, and it belongs to %s. These sessions have plans of it for the old type.',
        f.of_table, pg_get_userbyid(p.proowner)) AS detail,
    format('Right after the switch, run ALTER FUNCTION %s COST %s as its owner: then they make new plans. Or let '
        'them connect again.', p.oid::regprocedure, p.procost) AS hint
FROM (
    SELECT t.tgfoid, min(a.nth) AS nth FROM affected a JOIN pg_trigger t ON t.tgrelid = a.relation
    WHERE NOT t.tgisinternal GROUP BY t.tgfoid) AS u
JOIN affected f ON f.nth = u.nth JOIN pg_class c ON c.oid = f.relation
JOIN pg_proc p ON p.oid = u.tgfoid AND NOT pg_has_role(c.relowner, p.proowner, 'USAGE')
JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql',
    pg_describe_object('pg_proc'::regclass, p.oid, 0) AS o(described)
ORDER BY u.nth, o.described COLLATE "C"
