-- Who may have rights on a new sequence (S) or view (r) without being granted any.
, defaults AS (
    SELECT d.defaclobjtype AS type, g.grantee FROM pg_default_acl d, aclexplode(d.defaclacl) AS g
    UNION
    SELECT ' ', oid FROM pg_roles)
