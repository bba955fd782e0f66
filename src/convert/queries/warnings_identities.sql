-- Converted columns ($1 and $2) that are GENERATED ALWAYS, which a default cannot be. With $3, if a
-- schema is converted, all of a schema in one row.
-- Parameters: oid[], smallint[], boolean
SELECT 'identity' AS kind, CASE WHEN $3 THEN 'schema ' || quote_ident(nspname) ELSE min(described) END AS object,
    CASE WHEN NOT $3 THEN format('%s will accept explicit ids', min(described))
        WHEN count(*) = 1 THEN format('1 column of schema %I will accept explicit ids', nspname)
        ELSE format('%s columns of schema %I will accept explicit ids', count(*), nspname) END AS message,
    string_agg(described || ' is GENERATED ALWAYS', E'\n' ORDER BY described COLLATE "C")
    || E'\nA default gives way to values of INSERT, also with OVERRIDING USER VALUE, and of UPDATE.' AS detail,
    'If such values have to be refused, let a trigger compare NEW.id with snowflake_currval().' AS hint
FROM (
    SELECT n.nspname, pg_describe_object('pg_class'::regclass, u.relation, u.number) AS described
    FROM unnest($1, $2) AS u(relation, number)
    JOIN pg_attribute a ON a.attrelid = u.relation AND a.attnum = u.number AND a.attidentity = 'a' AND a.attinhcount = 0
    JOIN pg_class c ON c.oid = u.relation JOIN pg_namespace n ON n.oid = c.relnamespace) AS i
GROUP BY nspname
ORDER BY nspname
