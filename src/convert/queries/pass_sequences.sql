-- Serial columns' sequences pass to the new columns, or with $3 back to the old ones. So the switch,
-- which drops the old columns, does not lock them.
-- Parameters: oid[], smallint[], boolean
:wide
SELECT format(E'LOCK TABLE %1$s IN SHARE ROW EXCLUSIVE MODE;\nALTER SEQUENCE %1$s OWNED BY %2$s.%3$I',
    s.oid::regclass, w.tab, CASE WHEN $3 THEN w.old ELSE w.new END)
FROM wide w
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation
    AND d.refobjsubid = CASE WHEN $3 THEN w.new_number ELSE w.number END
    AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
ORDER BY w.nth, s.oid
