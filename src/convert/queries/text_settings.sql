-- If checks, expressions or conditions depend on the columns $1 and $2: the session's settings under
-- which PostgreSQL writes constants in texts that it does not read as the same ones. ALTER TYPE makes
-- checks and indexes again from their texts.
SELECT format('%s is %s, by %s, which could change constants in checks and indexes', name, setting, CASE source
        WHEN 'database' THEN 'ALTER DATABASE' WHEN 'user' THEN 'ALTER ROLE'
        WHEN 'database user' THEN 'ALTER ROLE ... IN DATABASE' ELSE 'the ' || source END) AS line,
    format('Run this in the session, and call again: SET %s = %s', name, good) AS to_do
FROM pg_settings JOIN (VALUES ('DateStyle', '^ISO,', 'ISO'), ('array_nulls', 'on', 'on'),
    ('extra_float_digits', '^[1-9]', '1'), ('xmloption', 'content', 'content')) AS v(name, pattern, good) USING (name)
WHERE setting !~ pattern AND EXISTS (
    SELECT FROM unnest($1, $2) AS n(relation, number)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.relation AND d.refobjsubid = n.number
    LEFT JOIN pg_constraint f ON d.classid = 'pg_constraint'::regclass AND f.oid = d.objid
    LEFT JOIN pg_index i ON d.classid = 'pg_class'::regclass AND i.indexrelid = d.objid
    WHERE d.classid = 'pg_statistic_ext'::regclass OR f.conbin IS NOT NULL OR i.indexprs IS NOT NULL
        OR i.indpred IS NOT NULL)
