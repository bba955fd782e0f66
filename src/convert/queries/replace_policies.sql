-- Parameters: oid[], smallint[]
:wide
SELECT format('ALTER POLICY %I ON %s%s%s', p.polname, p.polrelid::regclass,
    ' USING (' || pg_get_expr(p.polqual, p.polrelid) || ')',
    ' WITH CHECK (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')')
FROM pg_policy p
WHERE ('pg_policy'::regclass, p.oid) IN (SELECT classid, objid FROM on_narrow)
ORDER BY p.polrelid, p.polname
