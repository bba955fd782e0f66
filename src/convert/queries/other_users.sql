-- The sequences that would be dropped and that others use, too: each with all of these, and the one
-- call that converts the columns among them. $1 and $2: the converted columns, $3 and $4: those that
-- are converted together with them, $5: the function that converts, $6: its further arguments. A
-- serial column's sequence is dropped when all of these have their new defaults, an identity's before.
-- With $7, if sequences are to stay, each identity, of sequences only those of identities, and those
-- that would go on among new ids, which begin at $8.
-- Parameters: oid[], smallint[], oid[], smallint[], text, text, boolean, bigint
:owned
, used AS (
    SELECT d.sequence, d.deptype, CASE
            WHEN x.oid IS NOT NULL THEN pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum)
            WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
            ELSE pg_describe_object(u.classid, u.objid, u.objsubid) END AS by,
        CASE WHEN a.attnum IS NOT NULL THEN format('(%L::pg_catalog.regclass, %L::pg_catalog.name)',
            format('%I.%I', n.nspname, c.relname), a.attname) END AS key
    FROM owned d
    JOIN pg_depend u ON u.refclassid = 'pg_class'::regclass AND u.refobjid = d.sequence AND u.deptype = 'n'
    LEFT JOIN pg_rewrite r ON u.classid = 'pg_rewrite'::regclass AND r.oid = u.objid
    LEFT JOIN pg_attrdef x ON u.classid = 'pg_attrdef'::regclass AND x.oid = u.objid
    LEFT JOIN pg_attribute a ON a.attrelid = x.adrelid AND a.attnum = x.adnum AND a.attinhcount = 0
        AND a.attgenerated = '' AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
    LEFT JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE NOT ($7 AND d.deptype = 'a') AND NOT EXISTS (SELECT FROM unnest($1, $2) AS o(relation, number)
                      WHERE o.relation = x.adrelid AND o.number = x.adnum)
        AND NOT EXISTS (SELECT FROM unnest($3, $4) AS o(relation, number)
                        WHERE d.deptype = 'a' AND o.relation = x.adrelid AND o.number = x.adnum))
SELECT pg_describe_object('pg_class'::regclass, sequence, 0) || ' would be dropped, and is also used by '
        || string_agg(DISTINCT by COLLATE "C", ', ' ORDER BY by COLLATE "C") AS line,
    concat_ws(' ', 'Convert these columns first: SELECT s FROM (VALUES '
            || string_agg(DISTINCT key COLLATE "C", ', ' ORDER BY key COLLATE "C")
            || format(') AS k(t, c), %s(k.t, k.c, %s) AS s;', $5, $6),
        CASE WHEN bool_or(key IS NULL) THEN 'Let other objects take their values from elsewhere.' END,
        CASE WHEN bool_and(deptype = 'a') THEN 'Or let the sequence stay, with keep_sequence => true.' END) AS to_do
FROM used GROUP BY sequence
UNION ALL
SELECT pg_describe_object('pg_class'::regclass, relation, number) || ' is an identity, whose sequence cannot stay without it',
    'Convert identities without keep_sequence, in a call of their own.'
FROM owned WHERE $7 AND deptype = 'i'
UNION ALL
SELECT pg_describe_object('pg_class'::regclass, sequence, 0) || ' has issued numbers that are as large as new ids',
    'Convert without keep_sequence, or let the sequence go on with smaller numbers: setval().'
FROM owned WHERE $7 AND deptype = 'a' AND has_sequence_privilege(sequence, 'SELECT, USAGE')
    AND pg_sequence_last_value(sequence) >= $8
