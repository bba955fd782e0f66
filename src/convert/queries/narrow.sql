-- $1 and $2: the narrow columns.
WITH RECURSIVE narrow AS (SELECT * FROM unnest($1, $2) AS n(relation, number))
