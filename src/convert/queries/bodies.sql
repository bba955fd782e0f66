-- Functions that are stored as text, and that name one of the tables or a view over one, take its
-- rows, or are its triggers. `source` has neither comments nor arguments of count().
, reader(relation, origin) AS (
    SELECT relation, relation FROM affected
    UNION
    SELECT r.ev_class, reader.origin FROM reader
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = reader.relation
        AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'),
routine AS MATERIALIZED (
    SELECT p.oid, l.lanname, p.prosrc COLLATE "C" AS prosrc, lower(p.prosrc COLLATE "C") AS lowered
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE l.lanname NOT IN ('internal', 'c') AND p.prosrc <> '' AND p.oid >= 16384
        AND p.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_proc'::regclass)),
body AS MATERIALIZED (
    SELECT u.oid, u.origin, r.lanname, regexp_replace(r.prosrc,
        '--[^\n]*|/\*(?:[^*]|\*+[^*/])*\*+/|\mcount\s*\([^()]*\)', ' ', 'gi') AS source
    FROM (
        SELECT r.oid, n.origin
        FROM (
            SELECT DISTINCT origin, lower(replace(relname, '"', '""')) AS name FROM reader
            JOIN pg_class c ON c.oid = reader.relation) AS n
        JOIN routine r ON strpos(r.lowered, n.name) > 0 AND r.lowered ~ ('(?<![\w$])' || regexp_replace(n.name,
            '([\s!-/:-@\[-`{-~])', '\\\1', 'g') || '(?![\w$])')
        UNION
        SELECT t.tgfoid, t.tgrelid FROM pg_trigger t
        WHERE t.tgrelid IN (SELECT relation FROM affected) AND NOT t.tgisinternal
        UNION
        SELECT p.oid, f.relation FROM pg_proc p JOIN affected f ON f.reltype = ANY (p.proargtypes)) AS u
    JOIN routine r ON r.oid = u.oid)
