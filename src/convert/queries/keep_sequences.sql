-- An identity's sequence goes with the old column, so its state is kept in a setting of the
-- transaction. The switch has locked it: nobody else gets a number of it.
-- Parameters: oid[], smallint[]
:sequences
SELECT format('SELECT set_config(%2$L, last_value || '','' || is_called, true) FROM %1$s', name, kept)
FROM sequences
ORDER BY 1
