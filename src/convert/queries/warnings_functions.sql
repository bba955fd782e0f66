-- Functions with a parameter that is a smallint or integer, or an array of these, VARIADIC, too, and
-- none of the same name with a bigint in its place, that trigger functions of the tables call, or that are used in an object together with a
-- column. A call is a name followed by a parenthesis in the text of a trigger function.
-- Parameters: oid[], smallint[]
:affected
, callee AS (
    SELECT p.oid, p.proname FROM pg_proc p
    WHERE p.oid >= 16384 AND p.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_proc'::regclass)
        AND EXISTS (
            SELECT FROM unnest(p.proargtypes) AS a(type) JOIN narrow_type t ON t.oid = a.type)
        AND NOT EXISTS (
            SELECT FROM pg_proc o, unnest(p.proargtypes, o.proargtypes) AS a(type, other)
            JOIN narrow_type t ON t.oid = a.type
            WHERE o.proname = p.proname AND o.pronamespace = p.pronamespace AND o.pronargs = p.pronargs
                AND a.other = CASE WHEN t.list THEN 'bigint[]'::regtype ELSE 'bigint'::regtype END)),
-- What is between two parentheses ends with the name of a function, or with anything else.
call AS (
    SELECT c.oid, w.nth, pg_describe_object('pg_proc'::regclass, w.oid, 0) AS by
    FROM (
        SELECT DISTINCT t.oid, t.nth, split_part(part, ' ', -1) AS name
        FROM (
            SELECT t.tgfoid, min(f.nth) FROM affected f
            JOIN pg_trigger t ON t.tgrelid = f.relation AND NOT t.tgisinternal GROUP BY t.tgfoid) AS t(oid, nth)
        JOIN pg_proc p ON p.oid = t.oid,
        LATERAL (SELECT E'\n\r\t.,:;=+-*/<>|!%[])"''') AS s(signs),
        string_to_table(replace(translate(lower(p.prosrc COLLATE "C"), signs, rpad('', length(signs))), ' (', '(') || ' ',
            '(') AS part) AS w
    JOIN callee c ON lower(c.proname::text COLLATE "C") = w.name AND c.oid <> w.oid),
reason(oid, nth, rank, line) AS (
    SELECT c.oid, f.nth, 1, format('It is used with %s by %s.', f.described, CASE d.classid
        WHEN 'pg_rewrite'::regclass THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END)
    FROM affected f
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relation AND d.refobjsubid = f.number
    JOIN pg_depend p ON p.classid = d.classid AND p.objid = d.objid AND p.refclassid = 'pg_proc'::regclass
    JOIN callee c ON c.oid = p.refobjid
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    -- Not again for what tables below have inherited.
    WHERE (d.classid, d.objid) NOT IN (
        SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE coninhcount > 0
        UNION ALL
        SELECT 'pg_class'::regclass, oid FROM pg_class WHERE relispartition)
    UNION
    SELECT oid, min(nth), 2, format('It is called by %s%s.',
        array_to_string((array_agg(DISTINCT by COLLATE "C"))[1 : 3], ', '),
        CASE WHEN count(*) > 3 THEN format(' and %s more', count(*) - 3) ELSE '' END)
    FROM call GROUP BY oid)
SELECT 'function' AS kind, w.described AS object,
    format('%s may handle values of %s as integers', w.described, f.described) AS message, w.detail,
    'Replace it before the conversion by one with bigint parameters, which accept integers, too.' AS hint
FROM (
    SELECT pg_describe_object('pg_proc'::regclass, oid, 0) AS described, min(nth) AS nth, min(rank) AS rank,
        string_agg(line, ' ' ORDER BY rank, line COLLATE "C") AS detail
    FROM reason GROUP BY oid) AS w
JOIN affected f ON f.nth = w.nth
ORDER BY w.rank, w.described COLLATE "C"
