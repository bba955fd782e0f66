-- What the statements touch and does not belong to the role that converts. A superuser may convert
-- what superusers own.
-- Parameters: oid[], smallint[], oid[]
:touched
SELECT pg_describe_object(t.classid, t.objid, 0) || ' belongs to ' || o.rolname
FROM touched t JOIN pg_roles o ON o.oid = t.owner JOIN pg_roles c ON c.rolname = current_user
WHERE o.oid <> c.oid AND NOT (o.rolsuper AND c.rolsuper)
