-- $1 and $2: the narrow columns, and what depends on them.
WITH RECURSIVE narrow AS (SELECT * FROM unnest($1, $2) WITH ORDINALITY AS n(relation, number, nth)),
on_narrow AS (
    SELECT n.*, d.classid, d.objid, d.objsubid, d.deptype FROM narrow n
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.relation AND d.refobjsubid = n.number)
