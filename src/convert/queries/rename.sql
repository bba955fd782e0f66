-- Parameters: oid[], smallint[]
:wide
SELECT s.statement FROM (
    SELECT nth, 1, format('DROP TRIGGER %I ON %s', '~' || new, tab) FROM wide WHERE root OR NOT relispartition
    UNION ALL
    SELECT nth, 2, format('ALTER TABLE %s RENAME COLUMN %I TO %I', tab, old, 'snowflake_old_' || substr(new, 15))
    FROM wide WHERE root
    UNION ALL
    SELECT nth, 3, format('ALTER TABLE %s RENAME COLUMN %I TO %I', tab, new, old) FROM wide WHERE root
    ) AS s(nth, rank, statement) ORDER BY nth, rank
