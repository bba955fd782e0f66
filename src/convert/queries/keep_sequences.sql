-- An identity's goes with the old column, so its state is kept in a setting of the transaction. From
-- ALTER SEQUENCE on nobody else gets a number of it.
-- Parameters: oid[], smallint[]
:wide
:sequences
SELECT format(E'ALTER SEQUENCE %1$s AS bigint;\nALTER SEQUENCE %1$s OWNED BY %2$s.%3$I', name, tab, old)
FROM sequences WHERE deptype = 'a'
UNION ALL
SELECT format(E'ALTER SEQUENCE %1$s AS bigint;\n'
    'SELECT set_config(%2$L, last_value || '','' || is_called, true) FROM %1$s', name, kept)
FROM sequences WHERE deptype = 'i'
ORDER BY 1
