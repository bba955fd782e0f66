-- What the switch locks: the tables at the top, those at the ends of foreign keys, views, and the
-- sequences of identities. $3 and $4: the converted columns, which may be wide already.
-- Parameters: oid[], smallint[], oid[], smallint[]
:wide
:keys
:views
, changed(relation, number) AS (SELECT relation, number FROM wide UNION SELECT * FROM unnest($3, $4))
SELECT c.relation FROM changed c JOIN pg_attribute a ON a.attrelid = c.relation AND a.attnum = c.number
WHERE a.attinhcount = 0
UNION
SELECT unnest(ARRAY[conrelid, confrelid]) FROM keys WHERE own
UNION
SELECT view FROM views
UNION
SELECT d.objid FROM changed c JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = c.relation
    AND d.refobjsubid = c.number AND d.classid = 'pg_class'::regclass AND d.deptype = 'i'
