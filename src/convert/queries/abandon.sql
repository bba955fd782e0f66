-- $3: the function of the conversion's triggers. A new column is one that has such a trigger, or a check
-- constraint that ties it to the old one. Foreign keys first, then the tables one by one.
-- Parameters: oid[], smallint[], oid
:wide
:keys
:ties
, followers AS (
    SELECT w.*, t.tgname, t.tgparentid
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgfoid = $3 AND t.tgargs = convert_to(w.old, getdatabaseencoding()) || decode('00', 'hex')
            || convert_to(w.new, getdatabaseencoding()) || decode('00', 'hex')),
added AS (
    SELECT * FROM wide w WHERE new_number IS NOT NULL AND (
        EXISTS (SELECT FROM followers f WHERE f.relation = w.relation AND f.number = w.number)
        OR EXISTS (SELECT FROM ties k WHERE k.conrelid = w.relation AND k.conname = w.same)))
SELECT s.statement FROM (
    SELECT 1, 0, format(E'LOCK TABLE %3$s%1$s;\nALTER TABLE %1$s DROP CONSTRAINT %2$I', k.tab, k.new, CASE
        WHEN k.confrelid <> k.conrelid THEN k.referred || ', ' END)
    FROM keys k
    WHERE EXISTS (
        SELECT FROM pg_constraint n JOIN added a ON a.relation = n.conrelid AND a.new_number = ANY (n.conkey)
            OR a.relation = n.confrelid AND a.new_number = ANY (n.confkey)
        WHERE n.conrelid = k.conrelid AND n.conname = k.new AND n.contype = 'f')
    UNION ALL
    SELECT 2, min(nth), format(E'LOCK TABLE %s;\n', top::regclass)
        || string_agg(statement, E';\n' ORDER BY rank, statement)
    FROM (
        SELECT top, nth, 1, format('DROP TRIGGER %I ON %s', tgname, tab) FROM followers WHERE tgparentid = 0
        UNION ALL
        SELECT top, nth, 2, format('ALTER TABLE %s DROP COLUMN %I', tab, new) FROM added WHERE root
        ) AS r(top, nth, rank, statement) GROUP BY top) AS s(rank, nth, statement)
ORDER BY s.rank, s.nth, s.statement
