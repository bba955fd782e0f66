-- The check constraints that tie new columns to old ones. They use nothing but what belongs to
-- PostgreSQL itself, so their texts say what they are.
, ties AS (
    SELECT k.oid, k.conrelid, k.conname FROM wide w
    JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.new_number AND a.atttypid = 'bigint'::regtype
    JOIN pg_constraint k ON k.conrelid = w.relation AND k.contype = 'c' AND NOT k.connoinherit
        AND coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true)
    WHERE (k.conname, pg_get_expr(k.conbin, k.conrelid)) IN (
            (w.same, format('(NOT (%I IS DISTINCT FROM %I))', w.new, w.old)), (w.filled, format('(%I IS NOT NULL)', w.new)))
        AND NOT EXISTS (
            SELECT FROM pg_depend d
            WHERE d.classid = 'pg_constraint'::regclass AND d.objid = k.oid AND d.refclassid <> 'pg_class'::regclass))
