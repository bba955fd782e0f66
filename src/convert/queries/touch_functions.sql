-- Sessions that have run a PL/pgSQL function for the old column have plans for its type. They
-- compile it again when its row in pg_proc is another one.
-- Parameters: oid[], smallint[]
:wide
SELECT DISTINCT format('ALTER FUNCTION %s COST %s', p.oid::regprocedure, p.procost)
FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation JOIN pg_proc p ON p.oid = t.tgfoid
JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
WHERE pg_has_role(p.proowner, 'USAGE') ORDER BY 1
