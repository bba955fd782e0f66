-- Parameters: oid[], smallint[]
:wide
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, filled) FROM wide WHERE root AND attnotnull ORDER BY nth
