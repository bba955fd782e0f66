-- $3: the function of the conversion's triggers, $4: the check constraints of the conversion that tie
-- new columns to old ones. A new column is one that has such a trigger or check constraint.
-- Parameters: oid[], smallint[], oid, oid[]
:wide
:keys
, followers AS (
    SELECT w.relation, w.number, w.tab, t.tgname, t.tgparentid
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgfoid = $3 AND t.tgargs = convert_to(w.old, getdatabaseencoding()) || decode('00', 'hex')
            || convert_to(w.new, getdatabaseencoding()) || decode('00', 'hex')),
added AS (
    SELECT * FROM wide w WHERE new_number IS NOT NULL AND (
        EXISTS (SELECT FROM followers f WHERE f.relation = w.relation AND f.number = w.number)
        OR EXISTS (
            SELECT FROM pg_constraint k WHERE k.conrelid = w.relation AND k.conname = w.same AND k.oid = ANY ($4))))
SELECT string_agg(statement, E';\n' ORDER BY rank, statement) FROM (
    SELECT 1, format('ALTER TABLE %s DROP CONSTRAINT %I', k.tab, k.new) FROM keys k
    WHERE EXISTS (
        SELECT FROM pg_constraint n JOIN added a ON a.relation = n.conrelid AND a.new_number = ANY (n.conkey)
            OR a.relation = n.confrelid AND a.new_number = ANY (n.confkey)
        WHERE n.conrelid = k.conrelid AND n.conname = k.new AND n.contype = 'f')
    UNION ALL
    SELECT 2, format('DROP TRIGGER %I ON %s', tgname, tab) FROM followers WHERE tgparentid = 0
    UNION ALL
    SELECT 3, format('ALTER TABLE %s DROP COLUMN %I', tab, new) FROM added WHERE root
    ) AS s(rank, statement)
HAVING count(*) > 0
