-- Narrow parameters and results of functions, and narrow variables of functions that name a column.
-- `columns`: the columns that a body names, as a regular expression. `reads`: the statement may
-- return a column.
, uses AS MATERIALIZED (
    SELECT b.oid, b.lanname, b.source, min(f.nth) AS nth,
        '(?<![\w$])(?:' || string_agg(DISTINCT e.pattern, '|') || ')(?![\w$])' AS columns
    FROM body b JOIN affected f ON f.relation = b.origin, LATERAL (
        SELECT regexp_replace(replace(f.attname, '"', '""'), '([\s!-/:-@\[-`{-~])', '\\\1', 'g')) AS e(pattern)
    WHERE b.source ~* ('(?<![\w$])' || e.pattern || '(?![\w$])')
    GROUP BY b.oid, b.lanname, b.source),
statement AS MATERIALIZED (
    SELECT u.oid, u.nth, u.columns, s.text, s.text ~* ('\mreturning\M.*' || u.columns
        || '|\mselect\M(?:(?!\mfrom\M).)*' || u.columns) AS reads
    FROM uses u, regexp_split_to_table(u.source, ';') AS s(text) WHERE s.text ~* u.columns),
parameter AS (
    SELECT p.oid, a.nth, a.name, format_type(a.type, NULL) AS type, t.list,
        coalesce(a.mode, 'i') IN ('i', 'b', 'v') AS taken
    FROM pg_proc p, LATERAL unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]), p.proargnames, p.proargmodes)
        WITH ORDINALITY AS a(type, name, mode, nth) JOIN narrow_type t ON t.oid = a.type
    WHERE p.oid >= 16384 AND p.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_proc'::regclass)),
variable AS (
    SELECT u.oid, row_number() OVER () AS nth, v.parts[1] AS name, v.parts[2] || v.parts[3] AS type,
        v.parts[3] <> '' AS list
    FROM uses u, regexp_matches(u.source, '("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s+(?:constant\s+)?'
        '(?:pg_catalog\s*\.\s*)?(smallint|integer|int|int2|int4)\M\s*((?:\[\s*\d*\s*\]\s*)*)'
        '(?=;|:=|=|\mdefault\M|\mnot\M)', 'gi') AS v(parts)
    WHERE u.lanname = 'plpgsql' AND lower(v.parts[1]) NOT IN ('as', 'is', 'return', 'returns')),
item AS (
    SELECT CASE WHEN g.generic THEN 'function' ELSE 'parameter' END AS kind, r.oid AS object,
        r.nth::integer AS number, r.list, CASE WHEN g.generic THEN p.proname ELSE r.name END AS name
    FROM parameter r JOIN pg_proc p ON p.oid = r.oid, LATERAL (SELECT coalesce(r.name, '') ~*
        '^_*(p|v|in|i|a|arg|par|param)?_*[0-9]*_*(id|ids|key|pk|no|nr|num|number|n)?_*[0-9]*$') AS g(generic)
    WHERE NOT g.generic OR r.taken
    UNION ALL
    SELECT 'variable', oid, nth, list, name FROM variable)
