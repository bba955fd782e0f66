-- For each table at the top: what its new columns lack. $3: the trigger's function.
-- Parameters: oid[], smallint[], text
:wide
SELECT format(E'LOCK TABLE %s;\n', top::regclass) || string_agg(statement, E';\n' ORDER BY rank, nth) FROM (
    SELECT top, nth, 1, tab, format('ALTER TABLE %s ADD COLUMN %I bigint', tab, new)
    FROM wide WHERE root AND NOT EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = new AND NOT a.attisdropped)
    UNION ALL
    SELECT top, nth, 2, tab, format(E'CREATE TRIGGER %1$I BEFORE INSERT OR UPDATE ON %2$s FOR EACH ROW '
        'EXECUTE FUNCTION %3$s(%4$L, %5$L);\nALTER TABLE %2$s ENABLE ALWAYS TRIGGER %1$I', '~' || new, tab, $3,
            old, new)
    FROM wide WHERE (root OR NOT relispartition) AND NOT EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = relation AND t.tgname = '~' || new)
    UNION ALL
    SELECT top, nth, 3, tab,
        format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT DISTINCT FROM %I) NOT VALID',
        tab, same, new, old)
    FROM wide WHERE root AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = same)
    UNION ALL
    SELECT top, nth, 4, tab, format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%I IS NOT NULL) NOT VALID', tab,
        filled, new)
    FROM wide WHERE root AND attnotnull AND NOT EXISTS (
        SELECT FROM pg_constraint k WHERE k.conrelid = relation AND k.conname = filled)
    ) AS s(top, nth, rank, tab, statement)
GROUP BY top ORDER BY min(nth)
