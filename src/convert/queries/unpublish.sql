-- Parameters: oid[], smallint[]
:published
SELECT format('ALTER PUBLICATION %I DROP TABLE ONLY %s', pubname, tab) FROM published ORDER BY pubname, tab
