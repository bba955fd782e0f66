-- Parameters: oid[], smallint[]
:wide
SELECT pg_get_statisticsobjdef(s.oid) || format(E';\nALTER STATISTICS %I.%I OWNER TO %I', n.nspname, s.stxname,
        pg_get_userbyid(s.stxowner))
    || CASE WHEN s.stxstattarget >= 0 THEN format(E';\nALTER STATISTICS %I.%I SET STATISTICS %s', n.nspname,
        s.stxname,
           s.stxstattarget) ELSE '' END
    || CASE WHEN obj_description(s.oid, 'pg_statistic_ext') IS NULL THEN ''
       ELSE format(E';\nCOMMENT ON STATISTICS %I.%I IS %L', n.nspname, s.stxname,
           obj_description(s.oid, 'pg_statistic_ext')) END
FROM pg_statistic_ext s JOIN pg_namespace n ON n.oid = s.stxnamespace
WHERE ('pg_statistic_ext'::regclass, s.oid) IN (SELECT classid, objid FROM on_narrow)
ORDER BY n.nspname, s.stxname
