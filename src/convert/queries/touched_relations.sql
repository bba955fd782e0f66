-- Parameters: oid[], smallint[], oid[]
:touched
SELECT objid FROM touched WHERE classid = 'pg_class'::regclass
