-- The constraints with a narrow column ($1 and $2), foreign keys at either end, whose triggers
-- somebody has disabled or changed: a constraint that is made again has them enabled.
-- Parameters: oid[], smallint[]
SELECT string_agg(DISTINCT pg_describe_object('pg_constraint'::regclass, f.oid, 0), ', ')
FROM pg_constraint f JOIN pg_trigger t ON t.tgconstraint = f.oid AND t.tgenabled <> 'O'
WHERE EXISTS (
    SELECT FROM unnest($1, $2) AS h(relation, number)
    WHERE h.relation = f.conrelid AND h.number = ANY (f.conkey)
        OR h.relation = f.confrelid AND h.number = ANY (f.confkey))
