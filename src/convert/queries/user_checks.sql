-- The check constraints of a user on narrow columns; not what was made when only some of its columns
-- were narrow, which is in gone.sql. `mark`: the comment of the one that is made for it
-- on new columns, until the switch. It says what it was made for: which expression, and which columns
-- of the table were narrow.
, user_checks AS (
    SELECT f.*, 'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49 THEN f.conname ELSE md5(f.conname) END AS new,
        'snowflake_convert: made for ' || md5(pg_get_expr(f.conbin, f.conrelid) || (
            SELECT array_agg(number ORDER BY number) FROM wide WHERE relation = f.conrelid)::text) AS mark
    FROM pg_constraint f
    WHERE f.contype = 'c' AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
        AND NOT (f.conname LIKE 'snowflake\_new\_%' AND f.conkey && (
            SELECT array_agg(new_number) FROM wide WHERE relation = f.conrelid)))
