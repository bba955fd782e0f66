-- The indexes with expressions or predicates.
-- Parameters: oid[], smallint[]
:wide
:indexes
SELECT indrelid, pg_describe_object('pg_class'::regclass, indexrelid, 0), indexprs::text, indpred::text FROM indexes
WHERE kind = 'i' AND (indexprs IS NOT NULL OR indpred IS NOT NULL) ORDER BY indexrelid
