-- Functions and defaults that name, in a text, the sequence of a converted column.
-- Parameters: oid[], smallint[]
:affected
:bodies
, sequence AS (
    SELECT f.relation, pg_describe_object('pg_class'::regclass, s.oid, 0) AS described, lower(n.name) AS lowered,
        '(?<![\w$])' || regexp_replace(n.name, '([\s!-/:-@\[-`{-~])', '\\\1', 'g') || '(?![\w$])' AS pattern
    FROM affected f
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = f.relation
        AND d.refobjsubid = f.number AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S', replace(s.relname, '"', '""') AS n(name))
SELECT 'sequence' AS kind, object,
    format('%s may use %s, which the conversion drops', object, described) AS message,
    string_agg(detail, ' ' ORDER BY detail COLLATE "C") AS detail,
    'Let it use snowflake_nextval() or snowflake_currval(), or INSERT ... RETURNING.' AS hint
FROM (
    SELECT pg_describe_object('pg_proc'::regclass, r.oid, 0), s.described, 'It names the sequence.'
    FROM sequence s JOIN routine r ON strpos(r.lowered, s.lowered) > 0 AND r.prosrc ~* s.pattern
    UNION
    SELECT pg_describe_object('pg_proc'::regclass, b.oid, 0), s.described,
        format('It uses the table and %s().', lower(m.parts[1]))
    FROM sequence s JOIN body b ON b.origin = s.relation,
    regexp_matches(b.source, '\m(lastval|pg_get_serial_sequence)\s*\(', 'gi') AS m(parts)
    UNION
    -- A default whose sequence is found at run time does not depend on it.
    SELECT 'default value of ' || pg_describe_object('pg_class'::regclass, d.adrelid, d.adnum), s.described,
        'It names the sequence in a text.'
    FROM pg_attrdef d JOIN sequence s ON d.adbin::text LIKE '%:funcid 1079 %'
        AND pg_get_expr(d.adbin, d.adrelid) ~* s.pattern) AS w(object, described, detail)
GROUP BY object, described ORDER BY object COLLATE "C", described COLLATE "C"
