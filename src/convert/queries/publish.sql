-- Parameters: oid[], smallint[]
:published
SELECT format('ALTER PUBLICATION %I ADD TABLE ONLY %s%s%s', pubname, tab, columns, filter) FROM published
ORDER BY pubname, tab
