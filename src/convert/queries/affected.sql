-- $1 and $2: columns that are converted or widened, the converted one first. `key`: other columns
-- may refer to this one.
WITH RECURSIVE affected AS (
    SELECT u.relation, u.number, u.nth, n.nspname, c.relname, c.reltype, a.attname, a.attinhcount = 0 AS root,
        pg_describe_object('pg_class'::regclass, u.relation, 0) AS of_table,
        pg_describe_object('pg_class'::regclass, u.relation, u.number) AS described,
        u.nth = 1 OR a.attinhcount = 0 AND EXISTS (
            SELECT FROM pg_index i
            WHERE i.indrelid = u.relation AND i.indisunique AND i.indnkeyatts = 1 AND i.indkey[0] = u.number)
            AS key
    FROM unnest($1, $2) WITH ORDINALITY AS u(relation, number, nth)
    JOIN pg_class c ON c.oid = u.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = u.relation AND a.attnum = u.number),
-- Types that cannot hold their values, domains over these types, and arrays.
narrow_type(oid, typarray, list) AS (
    SELECT oid, typarray, false FROM pg_type WHERE oid IN ('smallint'::regtype, 'integer'::regtype)
    UNION
    SELECT t.oid, t.typarray, n.list OR t.oid = n.typarray
    FROM narrow_type n JOIN pg_type t ON t.oid = n.typarray OR t.typtype = 'd' AND t.typbasetype = n.oid),
of_extension(class, oid) AS (
    SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e')
