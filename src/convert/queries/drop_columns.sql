-- Parameters: oid[], smallint[]
:wide
SELECT format('ALTER TABLE %s %s', tab,
    string_agg(format('DROP COLUMN %I', 'snowflake_old_' || substr(new, 15)), ', ' ORDER BY nth))
FROM wide WHERE root GROUP BY tab ORDER BY min(nth)
