-- The tables that a name in `item` may mean. A name is split into words, at underscores and
-- capitals, and plurals become like singulars. film_id, id_film, filmId, filmid and original_film_id
-- may mean a table film, films or app_film, or one whose key is film_id. Without an id, only the
-- whole name counts: film. If several tables fit, the best ones share most words with the name, and
-- have no other words.
, spelled AS (
    SELECT kind, object, number, list, CASE WHEN kind = 'table' OR rtrim(words, ' 0123456789') = '' THEN words
        ELSE rtrim(words, ' 0123456789') END AS words
    FROM (
        SELECT kind, object, number, list, name FROM item
        UNION ALL
        SELECT 'table', oid, 0, false, relname FROM pg_class
        WHERE relkind IN ('r', 'p', 'f') AND NOT relispartition AND relpersistence <> 't' AND oid >= 16384
        UNION ALL
        (SELECT 'key', a.attrelid, a.attnum, false, a.attname
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indisprimary AND i.indnkeyatts = 1 AND i.indrelid >= 16384
        UNION
        SELECT 'key', relation, number, false, attname FROM affected WHERE key))
        AS n(kind, object, number, list, name),
    LATERAL (SELECT lower(CASE WHEN name = lower(name) THEN name::text
        ELSE regexp_replace(name, '([a-z0-9])([A-Z])', '\1 \2', 'g') END)) AS l(lowered),
    LATERAL (SELECT array_to_string(array_remove(string_to_array(
        translate(lowered, '_-.$#/:+"''' || E'\n\t', rpad('', 12)), ' '), ''), ' ')) AS w(words)),
-- Without the words that only say that it is an id. The stem of movies and movie is movi.
stripped AS (
    SELECT s.*, rest <> words AS id, btrim(replace(regexp_replace(replace(' ' || rest || ' ', ' people ',
        ' person '), '([^es ])[es]+ ', '\1 ', 'g'), 'y ', 'i ')) AS stem
    FROM spelled s, LATERAL (SELECT CASE WHEN kind = 'table' THEN words
        ELSE regexp_replace(words, '^(?:(?:p|v|in|i|a|arg|par|param) )?(?:(?:id|fk) )+|'
            '(?: ?\m(?:id|ids|fk|pk|no|nr|num|number|key|ref|uid))+$', '', 'g') END) AS r(rest)),
table_form AS (
    SELECT DISTINCT object AS relation, form, starts = 1 OR kind = 'key' AS whole
    FROM stripped, string_to_array(stem, ' ') AS w(parts), generate_series(1, cardinality(parts)) AS starts,
    LATERAL (SELECT array_to_string(parts[starts : cardinality(parts)], ' ')) AS f(form)
    WHERE kind = 'table' OR kind = 'key' AND starts = 1),
item_form AS (
    SELECT kind, object, number, form, cardinality(parts) - starts + 1 AS length, NOT id AS only_whole
    FROM stripped, string_to_array(stem, ' ') AS w(parts), generate_series(1, cardinality(parts)) AS starts,
    LATERAL (SELECT array_to_string(parts[starts : cardinality(parts)], ' ')) AS f(form)
    WHERE kind NOT IN ('table', 'key', 'function') AND (id OR (list OR words !~ '[^su]s$') AND starts = 1
        + (kind <> 'column' AND parts[1] IN ('p', 'v', 'in', 'i', 'a', 'arg', 'par', 'param'))::integer)
    UNION ALL
    SELECT kind, object, number, left(stem, -2), 1, true FROM stripped
    WHERE kind NOT IN ('table', 'key', 'function') AND NOT id AND stem ~ '^[^ ]{2,}id$'
    UNION ALL
    -- The name of a function stands for a parameter that has none, or one such as id.
    SELECT kind, object, number, form, ends - starts + 1, true
    FROM stripped, string_to_array(stem, ' ') AS w(parts), generate_series(1, cardinality(parts)) AS starts,
        generate_series(starts, cardinality(parts)) AS ends,
    LATERAL (SELECT array_to_string(parts[starts : ends], ' ')) AS f(form)
    WHERE kind = 'function'),
meaning AS (
    SELECT kind, object, number, relation
    FROM (
        SELECT i.*, t.relation,
            rank() OVER (PARTITION BY kind, object, number ORDER BY length DESC, whole DESC) AS place
        FROM item_form i JOIN table_form t ON t.form = i.form AND (t.whole OR NOT i.only_whole)) AS m
    WHERE place = 1)
