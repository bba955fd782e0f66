-- Indexes are made in the schemas of their tables.
-- Parameters: oid[], smallint[]
:wide
SELECT quote_ident(n.nspname) FROM wide w JOIN pg_class c ON c.oid = w.relation
    JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT has_schema_privilege(n.oid, 'CREATE') ORDER BY 1 LIMIT 1
