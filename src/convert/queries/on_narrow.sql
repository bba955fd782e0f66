-- The objects on narrow columns.
, on_narrow AS (
    SELECT DISTINCT d.classid, d.objid FROM wide w
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation
        AND d.refobjsubid = w.number)
