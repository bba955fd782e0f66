-- Parameters: oid[], smallint[], oid[]
:wide
:keys
:views
:touched
SELECT objid FROM touched WHERE classid = 'pg_class'::regclass
