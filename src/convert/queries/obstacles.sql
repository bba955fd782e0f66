-- Each object that keeps narrow columns from being converted online. $6: the function of the
-- conversion's triggers. Nothing is the conversion's because of its name.
-- Parameters: oid[], smallint[], boolean, oid[], smallint[], oid
:wide
:keys
:indexes
:views
:by_key
:ties
, lines AS (
    SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
            WHEN x.oid IS NOT NULL THEN 'generated ' || pg_describe_object('pg_class'::regclass, x.adrelid,
                x.adnum)
            ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
        || ' depends on ' || pg_describe_object('pg_class'::regclass, d.relation, d.number) AS line, NULL AS to_do
    FROM on_narrow d
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_attrdef x ON d.classid = 'pg_attrdef'::regclass AND x.oid = d.objid
    LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
    LEFT JOIN pg_constraint f ON f.conrelid = d.relation AND f.contype = 'x' AND d.objid = CASE d.classid
        WHEN 'pg_constraint'::regclass THEN f.oid WHEN 'pg_class'::regclass THEN f.conindid END
    WHERE CASE d.classid
        WHEN 'pg_rewrite'::regclass THEN r.rulename <> '_RETURN' OR NOT EXISTS (
            SELECT FROM pg_class v WHERE v.oid = r.ev_class AND v.relkind = 'v')
        WHEN 'pg_attrdef'::regclass THEN x.adnum <> d.number
        WHEN 'pg_trigger'::regclass THEN t.tgconstraint <> 0 AND NOT t.tgisinternal
        WHEN 'pg_constraint'::regclass THEN f.oid IS NOT NULL
        WHEN 'pg_class'::regclass THEN f.oid IS NOT NULL
        ELSE d.classid NOT IN ('pg_policy'::regclass, 'pg_publication_rel'::regclass,
            'pg_statistic_ext'::regclass) END
    UNION
    SELECT line, NULL FROM by_key
    UNION
    SELECT 'partition key of ' || pg_describe_object('pg_class'::regclass, w.relation, 0) || ' depends on '
        || pg_describe_object('pg_class'::regclass, w.relation, w.number),
        'The type of a partition key cannot be changed: create the table anew with a bigint key.'
    FROM wide w JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = w.relation
        AND d.objsubid = w.number AND d.refclassid = d.classid AND d.refobjid = w.relation AND d.refobjsubid = 0
    UNION
    -- Of two keys that set defaults, the one on the old columns has to act first. But triggers of foreign
    -- keys fire in the order of their OIDs as texts.
    SELECT pg_describe_object('pg_constraint'::regclass, oid, 0) || r.reason,
        'Drop these foreign keys, convert, and add them again.'
    FROM keys, LATERAL (VALUES (' sets defaults', own AND 'd' IN (confdeltype, confupdtype)),
        (' refers to a partitioned table or a partition', own AND (referred_kind = 'p'
            OR EXISTS (SELECT FROM pg_class p WHERE p.oid = confrelid AND p.relispartition))),
        (' has a definition that is not understood', left(definition, length(head)) <> head)) AS r(reason, holds)
    WHERE r.holds
    UNION
    -- VALIDATE reads as the owner, and would miss what is hidden.
    SELECT pg_describe_object('pg_constraint'::regclass, k.oid, 0) || ' is checked under the forced row security of '
        || pg_describe_object('pg_class'::regclass, c.oid, 0),
        'Run ALTER TABLE ... NO FORCE ROW LEVEL SECURITY until the conversion is over.'
    FROM keys k JOIN pg_class c ON c.oid = k.confrelid JOIN pg_roles r ON r.oid = c.relowner
    WHERE own AND c.relrowsecurity AND c.relforcerowsecurity AND NOT r.rolsuper AND NOT r.rolbypassrls
    UNION
    -- The index goes with the old column. A key that is made again gets the first one on its columns.
    SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0) || ' needs '
        || pg_describe_object('pg_class'::regclass, i.indexrelid, 0) || ', which contains '
        || pg_describe_object('pg_class'::regclass, w.relation, w.number), 'Drop these foreign keys, convert, and add them again.'
    FROM wide w JOIN pg_index i ON i.indrelid = w.relation AND w.number = ANY (i.indkey)
    JOIN pg_constraint f ON f.confrelid = w.relation AND f.contype = 'f' AND f.conparentid = 0
    WHERE NOT EXISTS (SELECT FROM wide k WHERE k.relation = f.confrelid AND k.number = ANY (f.confkey))
        AND i.indexrelid = CASE WHEN f.oid NOT IN (SELECT oid FROM keys) THEN f.conindid ELSE (
            SELECT min(x.indexrelid) FROM pg_index x
            WHERE x.indrelid = f.confrelid AND x.indisunique AND x.indimmediate AND x.indisvalid
                AND x.indpred IS NULL AND x.indexprs IS NULL AND x.indnkeyatts = cardinality(f.confkey)
                AND f.confkey <@ (x.indkey::smallint[])[0:x.indnkeyatts - 1]) END
    UNION
    SELECT line, 'Rename these objects: the conversion needs their names. Those of another online conversion go when it ends.'
    FROM (
        SELECT pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum) || ' has the name of a column to be added'
        FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.new_number
        WHERE a.atttypid <> 'bigint'::regtype OR a.atthasdef OR a.attidentity <> '' OR NOT EXISTS (
            SELECT FROM ties k WHERE k.conrelid = w.relation AND k.conname = w.same)
        UNION
        SELECT pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum)
            || ' has the name that the old column gets for a moment'
        FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attname = 'snowflake_old_' || substr(w.new, 15)
        UNION
        SELECT pg_describe_object('pg_class'::regclass, c.oid, 0) || ' has the name of an index to be built'
        FROM indexes i JOIN pg_class c ON c.relname = i.new AND c.relnamespace = i.relnamespace
        WHERE (c.oid, i.indrelid) NOT IN (SELECT objid, relation FROM on_new WHERE classid = 'pg_class'::regclass)
        UNION
        SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0) || ' has the name of a trigger to be made'
        FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgname = '~' || w.new
        WHERE t.tgfoid <> $6 OR t.tgtype <> 23 OR t.tgenabled <> 'A' OR t.tgqual IS NOT NULL OR t.tgattr::text <> ''
            OR t.tgargs <> convert_to(w.old, getdatabaseencoding()) || decode('00', 'hex')
                || convert_to(w.new, getdatabaseencoding()) || decode('00', 'hex')
        UNION
        SELECT pg_describe_object('pg_constraint'::regclass, n.oid, 0) || ' has the name of a constraint to be made'
        FROM wide w JOIN pg_constraint n ON n.conrelid = w.relation AND n.conname IN (w.same, w.filled)
        WHERE n.oid NOT IN (SELECT oid FROM ties)
        UNION
        SELECT pg_describe_object('pg_constraint'::regclass, n.oid, 0) || ' has the name of a constraint to be made'
        FROM (
            SELECT conrelid, new FROM keys
            UNION
            SELECT f.conrelid, 'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49 THEN f.conname
                ELSE md5(f.conname) END FROM pg_constraint f JOIN wide w ON w.relation = f.conrelid
            WHERE f.contype = 'c' AND w.number = ANY (f.conkey)) AS made(relation, name)
        JOIN pg_constraint n ON n.conrelid = made.relation AND n.conname = made.name
        WHERE NOT EXISTS (SELECT FROM wide w WHERE w.relation = n.conrelid AND w.new_number = ANY (n.conkey)
                          OR w.relation = n.confrelid AND w.new_number = ANY (n.confkey))) AS s(line)
    UNION
    -- The switch gives it those of the old column.
    SELECT pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum)
        || ' has a comment, rights or settings of its own',
        'Take these from the new column, and give them to the old one.'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.new_number
    WHERE a.attacl IS NOT NULL OR a.attoptions::text LIKE '%n\_distinct%' OR coalesce(a.attstattarget, -1) >= 0
        OR col_description(a.attrelid, a.attnum) IS NOT NULL
    UNION
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0) || ' rewrites statements',
        'Drop these rules, convert, and create them again.'
    FROM wide w JOIN pg_rewrite r ON r.ev_class = w.relation
    UNION
    SELECT pg_describe_object('pg_trigger'::regclass, t.oid, 0) || ' would fire after the conversion''s trigger',
        'Rename these triggers, so that their names sort before ~snowflake_new_.'
    FROM wide w JOIN pg_trigger t ON t.tgrelid = w.relation AND t.tgtype & 3 = 3 AND NOT t.tgisinternal
        AND t.tgname >= '~snowflake_new_' AND t.tgfoid <> $6
    UNION
    SELECT pg_describe_object('pg_class'::regclass, c.oid, 0) || ' has no replica identity, and publication '
        || p.pubname || ' publishes its updates',
        'Give these tables a replica identity: ALTER TABLE ... REPLICA IDENTITY FULL.'
    FROM wide w JOIN pg_class c ON c.oid = w.relation AND c.relkind = 'r' JOIN pg_publication p ON p.pubupdate
    WHERE pg_relation_is_publishable(c.oid) AND CASE c.relreplident WHEN 'f' THEN false WHEN 'n' THEN true
            ELSE NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND CASE c.relreplident
                WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END) END
        -- Of all tables, it lists those that it leaves out.
        AND p.puballtables <> EXISTS (
            SELECT FROM (SELECT c.oid UNION ALL SELECT pg_partition_ancestors(c.oid)) AS t(relation)
            JOIN pg_class a ON a.oid = t.relation
            WHERE EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = a.oid)
                OR EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnpubid = p.oid
                    AND n.pnnspid = a.relnamespace))
    UNION
    SELECT pg_describe_object('pg_class'::regclass, w.relation, w.number) || ' is both inherited and local',
        'Let these tables inherit only after the conversion: ALTER TABLE ... NO INHERIT.'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    WHERE a.attislocal AND a.attinhcount > 0
    UNION
    SELECT pg_describe_object('pg_class'::regclass, w.relation, w.number)
        || ' is not null, and that of the table above may be',
        'Give the columns of the tables above NOT NULL, too, or take it from these.'
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.top AND a.attname = w.old WHERE w.attnotnull
        AND NOT a.attnotnull
    UNION
    -- Its rows get one column more, and later one less.
    SELECT pg_describe_object('pg_class'::regclass, i.indexrelid, 0) || ' contains a whole row', NULL
    FROM wide w JOIN pg_index i ON i.indrelid = w.relation
    WHERE concat(i.indexprs, i.indpred) LIKE '%{VAR :varno 1 :varattno 0 %'
    UNION
    SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
            ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END || ' depends on view ' || v.name, NULL
    FROM views v JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = v.view
            OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (
                SELECT unnest(ARRAY[t.oid, t.typarray]) FROM pg_type t WHERE t.typrelid = v.view)
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_class c ON c.oid = r.ev_class
    WHERE d.deptype IN ('n', 'a') AND NOT coalesce(r.rulename = '_RETURN' AND c.relkind = 'v', false))
SELECT line, coalesce(to_do, 'Drop what depends on the columns, convert, and create it again.') AS to_do FROM lines
