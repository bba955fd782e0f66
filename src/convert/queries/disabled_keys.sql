-- The constraints with a narrow column ($1 and $2), foreign keys at either end, whose triggers
-- somebody has disabled or changed: a constraint that is made again has them enabled.
-- Parameters: oid[], smallint[]
:narrow
SELECT DISTINCT pg_describe_object('pg_constraint'::regclass, f.oid, 0)
        || ' has disabled triggers, which would be enabled if it is made again' AS line,
    'Enable the triggers of these constraints, or drop the constraints first.' AS to_do
FROM pg_constraint f JOIN pg_trigger t ON t.tgconstraint = f.oid AND t.tgenabled <> 'O'
WHERE f.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass)
