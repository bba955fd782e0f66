, sequences AS (
    SELECT w.*, d.deptype, q.*, d.objid::regclass::text AS name, a.attidentity, s.relacl, s.relowner,
        'conversion.s' || md5(d.objid::regclass::text) AS kept,
        -- As ALTER SEQUENCE: the limits of the type become those of bigint, others stay.
        CASE WHEN (q.seqtypid, q.seqmax) IN (('smallint'::regtype, 32767), ('integer'::regtype, 2147483647))
            THEN 9223372036854775807 ELSE q.seqmax END AS new_max,
        CASE WHEN (q.seqtypid, q.seqmin) IN (('smallint'::regtype, -32768), ('integer'::regtype, -2147483648))
            THEN -9223372036854775808 ELSE q.seqmin END AS new_min
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation
        AND d.refobjsubid = w.number
        AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_sequence q ON q.seqrelid = s.oid)
