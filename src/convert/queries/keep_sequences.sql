-- An identity's goes with the old column, so its state is kept in a setting of the transaction.
-- Parameters: oid[], smallint[]
:wide
:sequences
SELECT format(E'ALTER SEQUENCE %1$s AS bigint;\nALTER SEQUENCE %1$s OWNED BY %2$s.%3$I', name, tab, old)
FROM sequences WHERE deptype = 'a'
UNION ALL
SELECT format('SELECT set_config(%L, last_value || '','' || is_called, true) FROM %s', kept, name)
FROM sequences WHERE deptype = 'i'
ORDER BY 1
