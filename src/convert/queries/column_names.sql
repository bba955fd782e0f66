-- Narrow columns with neither a foreign key nor a sequence of their own.
, item AS (
    SELECT 'column' AS kind, a.attrelid AS object, a.attnum::integer AS number, t.list, a.attname AS name
    FROM pg_attribute a JOIN narrow_type t ON t.oid = a.atttypid JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'f', 'c') AND c.relpersistence <> 't' AND a.attnum > 0
        AND NOT a.attisdropped AND a.attinhcount = 0 AND a.attidentity = '' AND a.attgenerated = ''
        AND (a.attrelid, a.attnum) NOT IN (SELECT relation, number FROM affected)
        AND (a.attrelid, a.attnum) NOT IN (
            SELECT conrelid, unnest(conkey) FROM pg_constraint WHERE contype = 'f')
        AND (a.attrelid, a.attnum) NOT IN (
            SELECT d.refobjid, d.refobjsubid
            FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
            WHERE d.classid = 'pg_class'::regclass AND d.refclassid = d.classid AND d.deptype = 'a')
        AND c.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_class'::regclass))
