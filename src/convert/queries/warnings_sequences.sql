-- The sequences of serial columns among $1 and $2, all in one row, and what drops them.
-- Parameters: oid[], smallint[]
:owned
SELECT 'sequence' AS kind, described AS object,
    CASE count WHEN 1 THEN described || ' stays' ELSE format('%s sequences stay', count) END AS message,
    'Sessions that call nextval() get numbers that other servers issue, too. These are smaller than new ids: '
    'readers that ask for ids above the last one never see their rows.' AS detail,
    format('When no session calls nextval() any more, run DROP SEQUENCE %s;', names) AS hint
FROM (
    SELECT count(*), string_agg(name::text, ', ' ORDER BY name) AS names,
        string_agg(pg_describe_object('pg_class'::regclass, sequence, 0), ', ' ORDER BY name) AS described
    FROM owned WHERE deptype = 'a') AS s
WHERE count > 0
