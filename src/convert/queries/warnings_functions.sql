-- Functions that may take, hold or return values of the columns as integers.
-- Parameters: oid[], smallint[]
:affected
:bodies
:function_names
:meanings
, means AS (
    SELECT m.kind, m.object, m.number, min(f.nth) AS nth
    FROM meaning m LEFT JOIN affected f ON f.relation = m.relation AND f.key
    WHERE m.kind IN ('parameter', 'function', 'variable') GROUP BY 1, 2, 3),
-- What can be called with an integer, and not with a bigint.
callee AS (
    SELECT p.oid, p.proname, p.proargtypes FROM pg_proc p
    WHERE (p.oid >= 16384 OR p.proname ~ '^pg_(try_)?advisory_|^int4range$')
        AND EXISTS (
            SELECT FROM unnest(p.proargtypes) AS a(type) JOIN narrow_type t ON t.oid = a.type
            WHERE t.exact AND NOT t.list)
        AND NOT EXISTS (
            SELECT FROM pg_proc o
            WHERE o.proname = p.proname AND o.pronamespace = p.pronamespace AND o.pronargs = p.pronargs
                AND NOT EXISTS (
                SELECT FROM unnest(p.proargtypes, o.proargtypes) AS a(type, other)
                JOIN narrow_type t ON t.oid = a.type AND t.exact JOIN narrow_type n ON n.oid = a.other))),
call AS (
    SELECT u.oid, u.nth, e.oid AS callee
    FROM uses u, regexp_matches(u.source, '("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\(', 'g') AS c(parts)
    JOIN callee e ON e.proname = CASE WHEN c.parts[1] LIKE '"%' THEN replace(btrim(c.parts[1], '"'), '""', '"')
        ELSE lower(c.parts[1]) END
    WHERE u.source ~* (regexp_replace(c.parts[1], '([\s!-/:-@\[-`{-~])', '\\\1', 'g')
            || '"?\s*\((?:[^();]|\((?:[^();]|\([^();]*\))*\)|\()*(?:' || u.columns || '|\m(?:\w*_)?ids?\M)')
        -- Unless the names of its parameters mean other tables.
        AND e.oid <> u.oid AND EXISTS (
            SELECT FROM unnest(e.proargtypes::oid[]) WITH ORDINALITY AS a(type, nth)
            JOIN narrow_type t ON t.oid = a.type
            LEFT JOIN means m ON m.kind = 'parameter' AND m.object = e.oid AND m.number = a.nth
            WHERE t.exact AND (m IS NULL OR m.nth IS NOT NULL))),
reason(oid, nth, rank, change, line) AS (
    SELECT m.object, m.nth, CASE m.kind WHEN 'parameter' THEN 3 ELSE 7 END, c.change,
        format('Its %s %s is of type %s.', c.change, coalesce(nullif(r.name, ''), r.nth::text), r.type)
    FROM means m JOIN parameter r ON r.oid = m.object AND r.nth = m.number,
    LATERAL (SELECT CASE WHEN r.taken THEN 'parameter' ELSE 'result' END) AS c(change)
    WHERE m.kind IN ('parameter', 'function') AND m.nth IS NOT NULL
    UNION
    SELECT c.oid, f.nth, 1, 'parameter', format('It is used with %s by %s.', f.described, CASE d.classid
        WHEN 'pg_rewrite'::regclass THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END)
    FROM affected f
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relation
        AND d.refobjsubid = f.number
    JOIN pg_depend p ON p.classid = d.classid AND p.objid = d.objid AND p.refclassid = 'pg_proc'::regclass
    JOIN callee c ON c.oid = p.refobjid
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    UNION
    SELECT oid, min(nth), 2, 'call', format('It calls %s.', string_agg(DISTINCT
        pg_describe_object('pg_proc'::regclass, callee, 0), ', '))
    FROM call WHERE callee < 16384 GROUP BY oid
    UNION
    SELECT callee, min(nth), 2, 'parameter', 'It is called by ' || array_to_string(
        (array_agg(DISTINCT pg_describe_object('pg_proc'::regclass, oid, 0) COLLATE "C"))[1 : 3], ', ')
        || CASE WHEN count(DISTINCT oid) > 3 THEN format(' and %s more', count(DISTINCT oid) - 3) ELSE '' END
        || '.'
    FROM call WHERE callee >= 16384 GROUP BY callee
    UNION
    SELECT v.oid, coalesce(m.nth, s.nth), 4, 'variable', format('Its variable %s is of type %s.', v.name, v.type)
    FROM variable v JOIN statement s ON s.oid = v.oid
    LEFT JOIN means m ON m.kind = 'variable' AND m.object = v.oid AND m.number = v.nth, LATERAL (
        SELECT '(?<![\w$])' || regexp_replace(v.name, '([\s!-/:-@\[-`{-~])', '\\\1', 'g') || '(?![\w$])')
        AS p(pattern)
    WHERE m.nth IS NOT NULL OR s.text ~* (p.pattern
            || '(?:\s+constant)?(?:\s+[\w$.]+)?\s*(?:\[[^\]]*\]\s*)*(?::=|\mdefault\M).*' || s.columns)
        OR s.text ~* ('(?:^|\m(?:begin|then|else|loop)\M)\s*' || p.pattern || '\s*=.*' || s.columns)
        OR m IS NULL AND s.reads AND s.text ~* ('\minto\M.*' || p.pattern || '|\mfor\s+' || p.pattern || '\s+in\M')
    UNION
    SELECT s.oid, s.nth, 5, 'variable', format('It casts a value to %s.', c.parts[1])
    FROM statement s, regexp_matches(s.text, s.columns
        || '"?\s*(?:::\s*|\mas\s+)(?:pg_catalog\s*\.\s*)?(smallint|integer|int2|int4|int)\M', 'i') AS c(parts)
    UNION
    SELECT s.oid, s.nth, 6, 'result', format('It may return a value as %s.', format_type(p.prorettype, NULL))
    FROM statement s JOIN pg_proc p ON p.oid = s.oid JOIN narrow_type t ON t.oid = p.prorettype
    WHERE s.reads OR s.text ~* ('\mreturn\M.*' || s.columns))
SELECT 'function' AS kind, w.described AS object,
    format('%s may handle values of %s as integers', w.described, f.described) AS message, w.detail, concat_ws(' ',
        CASE WHEN 'parameter' = ANY (changes)
            THEN 'Replace it before the conversion by one with bigint parameters, which accept integers, too.' END,
        CASE WHEN 'call' = ANY (changes) THEN 'Let it call a function for bigint.' END,
        CASE WHEN 'variable' = ANY (changes) THEN 'Let its variables and casts be of type bigint.' END,
        CASE WHEN 'result' = ANY (changes) THEN 'Let it return bigint from the conversion on.' END) AS hint
FROM (
    SELECT pg_describe_object('pg_proc'::regclass, oid, 0) AS described, min(nth) AS nth, min(rank) AS rank,
        array_agg(change) AS changes, string_agg(line, ' ' ORDER BY rank, line COLLATE "C") AS detail
    FROM reason GROUP BY oid) AS w
JOIN affected f ON f.nth = w.nth
ORDER BY w.rank, w.described COLLATE "C"
