-- Tables with narrow columns ($1 and $2) that are used as catalog tables, which cannot be rewritten.
-- Parameters: oid[], smallint[]
SELECT DISTINCT pg_describe_object('pg_class'::regclass, c.oid, 0)
        || ' has user_catalog_table, with which PostgreSQL does not rewrite it' AS line,
    'Run ALTER TABLE ... RESET (user_catalog_table), convert, and set it again.' AS to_do
FROM unnest($1, $2) AS n(relation, number) JOIN pg_class c ON c.oid = n.relation AND c.relkind = 'r'
WHERE EXISTS (
    SELECT FROM pg_options_to_table(c.reloptions)
    WHERE option_name = 'user_catalog_table' AND option_value::boolean)
