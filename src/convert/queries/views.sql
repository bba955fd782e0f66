-- The views over narrow columns, and those over these views.
, above(view, depth) AS (
    SELECT r.ev_class, 1 FROM on_narrow d
    JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'
    UNION
    SELECT r.ev_class, v.depth + 1 FROM above v
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.view
        AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN' AND r.ev_class <> v.view
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'),
views AS (SELECT view, max(depth) AS depth, view::regclass::text AS name FROM above GROUP BY view)
