-- What is on new columns and has a name of the conversion, but is not as the steps would make it now:
-- what it was made for was dropped since, or replaced, or the index was not completed, or the foreign
-- key is earlier than the rows are filled. Other owners' foreign keys may have such names, too. $3:
-- the indexes that are as the steps would make them.
:wide
:keys
:user_checks
, gone_indexes AS (
    SELECT i.indexrelid, c.relname, n.nspname
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE i.indexrelid <> ALL ($3) AND c.relname LIKE 'snowflake\_new\_%'
        AND i.indexrelid IN (SELECT objid FROM on_new WHERE classid = 'pg_class'::regclass)),
unfilled AS (
    SELECT relation, new_number FROM wide w WHERE NOT EXISTS (
        SELECT FROM pg_constraint s WHERE s.conrelid = w.relation AND s.conname = w.same AND s.convalidated)),
gone_constraints AS (
    SELECT f.oid, f.conrelid::regclass::text AS tab, f.conname,
        CASE WHEN f.confrelid NOT IN (0, f.conrelid) THEN f.confrelid::regclass || ', ' ELSE '' END AS referred
    FROM pg_constraint f
    WHERE f.coninhcount = 0 AND f.conparentid = 0
        AND (f.conrelid IN (SELECT relation FROM wide) OR f.confrelid IN (SELECT relation FROM wide)) AND (
        EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.filled = f.conname AND NOT w.attnotnull
                AND w.new_number = ANY (f.conkey))
        OR f.conname LIKE 'snowflake\_new\_%'
        AND f.oid IN (SELECT objid FROM on_new WHERE classid = 'pg_constraint'::regclass)
        AND (f.contype = 'c' AND NOT EXISTS (
                SELECT FROM user_checks u WHERE u.conrelid = f.conrelid AND u.new = f.conname AND u.conislocal
                    AND u.coninhcount = 0 AND u.connoinherit = f.connoinherit
                    AND (f.oid, u.mark) IN (
                        SELECT objoid, description FROM pg_description WHERE classoid = 'pg_constraint'::regclass))
            OR f.contype = 'f' AND (SELECT relowner FROM pg_class WHERE oid = f.conrelid) IN (
                SELECT relowner FROM wide w JOIN pg_class c ON c.oid = w.relation)
            AND (f.conindid IN (SELECT indexrelid FROM gone_indexes)
                OR EXISTS (SELECT FROM unfilled u WHERE u.relation = f.conrelid AND u.new_number = ANY (f.conkey)
                           OR u.relation = f.confrelid AND u.new_number = ANY (f.confkey))
                OR NOT EXISTS (
                    SELECT FROM keys k WHERE k.conrelid = f.conrelid AND k.new = f.conname
                        AND k.new_definition = regexp_replace(pg_get_constraintdef(f.oid), ' NOT VALID$', ''))))))
