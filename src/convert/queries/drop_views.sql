-- Parameters: oid[], smallint[]
:wide
:views
SELECT 'DROP VIEW ' || string_agg(name, ', ' ORDER BY depth DESC, name) FROM views HAVING count(*) > 0
