-- $1: the extension, $2: the function's name, $3: how many arguments it has.
-- Parameters: oid, name, smallint
SELECT p.oid, format('%I.%I', n.nspname, p.proname) AS name_sql
FROM pg_depend d
JOIN pg_proc p ON p.oid = d.objid AND p.proname = $2 AND p.pronargs = $3
    JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = $1
    AND d.deptype = 'e'
