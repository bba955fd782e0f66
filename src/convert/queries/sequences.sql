:wide
, sequences AS (
    SELECT w.*, q.*, d.objid::regclass::text AS name, a.attidentity, s.relacl, s.relowner,
        'conversion.s' || md5(d.objid::regclass::text) AS kept,
        -- As ALTER SEQUENCE: the limits of the type become those of bigint, others stay.
        CASE WHEN (q.seqtypid, q.seqmax) IN (('smallint'::regtype, 32767), ('integer'::regtype, 2147483647))
            THEN 9223372036854775807 ELSE q.seqmax END AS new_max,
        CASE WHEN (q.seqtypid, q.seqmin) IN (('smallint'::regtype, -32768), ('integer'::regtype, -2147483648))
            THEN -9223372036854775808 ELSE q.seqmin END AS new_min
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    JOIN on_narrow d USING (relation, number)
    JOIN pg_class s ON d.classid = 'pg_class'::regclass AND d.deptype = 'i' AND s.oid = d.objid
        AND s.relkind = 'S'
    JOIN pg_sequence q ON q.seqrelid = s.oid)
