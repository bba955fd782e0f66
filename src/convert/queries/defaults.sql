-- Parameters: oid[], smallint[]
:wide
SELECT format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', w.tab, w.old, pg_get_expr(d.adbin, d.adrelid))
FROM wide w JOIN pg_attrdef d ON d.adrelid = w.relation AND d.adnum = w.number ORDER BY w.nth
