-- $1 and $2: the converted columns.
-- Parameters: oid[], smallint[]
SELECT format('ALTER SEQUENCE %s AS bigint;', s.seqrelid::regclass)
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
    AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
JOIN pg_sequence s ON s.seqrelid = d.objid AND s.seqtypid <> 'bigint'::regtype
ORDER BY h.relation, s.seqrelid
