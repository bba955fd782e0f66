-- Parameters: oid[], smallint[]
:wide
:keys
SELECT string_agg(statement, E';\n' ORDER BY rank, statement) FROM (
    SELECT 1, format('ALTER TABLE %s DROP CONSTRAINT %I', k.tab, k.new) FROM keys k
    WHERE EXISTS (SELECT FROM pg_constraint n WHERE n.conrelid = k.conrelid AND n.conname = k.new)
    UNION ALL
    SELECT 2, format('DROP TRIGGER %I ON %s', '~' || new, tab) FROM wide
    WHERE (root OR NOT relispartition) AND EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = relation AND t.tgname = '~' || new)
    UNION ALL
    SELECT 3, format('ALTER TABLE %s DROP COLUMN %I', tab, new) FROM wide
    WHERE root AND EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attname = new AND NOT a.attisdropped)
    ) AS s(rank, statement)
HAVING count(*) > 0
