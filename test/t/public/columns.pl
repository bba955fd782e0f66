# A column of type snowflake_id is stored, indexed, referenced, partitioned, copied and replicated
# like a bigint column: the same pages, COPY's fast path, foreign keys to and from bigint, the same
# partitions, the same bytes in the binary format. ALTER TYPE in either direction rewrites neither
# the table nor an index on its columns. What is not supported fails with a clear error.
#
# SNOWFLAKE_TRIALS sets the number of rows in each table.
# Not in the default run: many rows in many tables.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use PostgreSQL::Test::Utils;
use PublicTest;
use SnowflakeTest;
use Test::More;

my $many = $ENV{SNOWFLAKE_TRIALS} || 20_000;
$many += $many % 2;
my $seed = seed();
CopyTest::start('columns', conf => "wal_level = logical\nmax_replication_slots = 12\nmax_wal_senders = 12\n"
	  . "max_logical_replication_workers = 12\nwal_retrieve_retry_interval = 100ms\n");
my %types = (typed => 'snowflake_id', plain => 'bigint');

sub state_of { my ($sql) = @_; return (query_error($server, $db, $sql))[0]; }

# An error with its SQLSTATE and its message.
sub refused
{
	my ($sql, $state, $words, $name) = @_;
	my ($is, $text) = query_error($server, $db, $sql);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($is, $state, $name);
	return like($text, $words, '... and says why');
}

# The files of tables and of their indexes, one in a line.
sub files
{
	my $names = join ', ', map { "'$_'::regclass" } @_;
	return value("SELECT c.relname, pg_relation_filenode(c.oid) FROM pg_class c WHERE c.oid IN ($names)"
		  . " OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid IN ($names)) ORDER BY 1");
}

sub within { my ($one, $other) = @_; return $one > 0 && abs($one - $other) <= 0.02 * $other; }

# ---------------------------------------------------------------------------------------------------------------------

subtest 'sizes' => sub {
	for my $table (sort keys %types)
	{
		value(qq{
			CREATE TABLE $table (id $types{$table} PRIMARY KEY DEFAULT snowflake_nextval(), n integer, note text DEFAULT 'a note');
			INSERT INTO $table (n) SELECT generate_series(1, $many);
			COPY $table (n) FROM PROGRAM 'seq $many'});
		ids_are_good("(SELECT * FROM $table ORDER BY id OFFSET $many) t", $many, "$table: COPY");
		is(value("SELECT count(DISTINCT id) FROM $table"), 2 * $many, "$table: all ids are different");
	}
	my $size = sub { return value("SELECT pg_relation_size('$_[0]')") };
	for my $suffix ('', '_pkey')
	{
		my ($typed, $plain) = map { $size->("$_$suffix") } 'typed', 'plain';
		ok(within($typed, $plain), "typed$suffix and plain$suffix are of one size") || diag("$typed and $plain bytes");
		figures('%d rows by INSERT and %d by COPY: %s of snowflake_id has %d bytes, of bigint %d', $many, $many,
			$suffix ? 'the primary key' : 'a table', $typed, $plain);
	}
	# The same rows in the same order, which is not that of their ids.
	for my $table (sort keys %types)
	{
		value(qq{
			CREATE TABLE shuffled_$table (id $types{$table} PRIMARY KEY, n integer);
			CREATE INDEX shuffled_${table}_n ON shuffled_$table (n, id);
			CREATE INDEX shuffled_${table}_hash ON shuffled_$table USING hash (id);
			CREATE INDEX shuffled_${table}_brin ON shuffled_$table USING brin (id) WITH (pages_per_range = 1);
			INSERT INTO shuffled_$table SELECT id, n % 10 FROM plain ORDER BY md5(id::text || '$seed')});
	}
	is($size->("shuffled_typed$_"), $size->("shuffled_plain$_"), "the same rows shuffled: shuffled_typed$_ has the size of shuffled_plain$_")
	  for '', '_pkey', '_n', '_hash', '_brin';
	is(value('SELECT count(*) FROM plain p FULL JOIN shuffled_typed t USING (id) WHERE p.id IS NULL OR t.id IS NULL'), 0, '... and each row');
};

subtest 'COPY' => sub {
	value(q{CREATE DOMAIN order_id AS snowflake_id CHECK (VALUE > 0)});
	for my $case ([ 'of the type', 'id snowflake_id DEFAULT snowflake_nextval()' ],
		[ 'of a primary key', 'id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval()' ],
		[ 'of a domain over the type', 'id order_id DEFAULT snowflake_nextval()' ],
		[ 'with a cast', 'id snowflake_id DEFAULT snowflake_nextval()::snowflake_id' ],
		[ 'beside a generated column', q{id snowflake_id DEFAULT snowflake_nextval(), slug text GENERATED ALWAYS AS (snowflake_to_text(id, 'base58')) STORED} ])
	{
		my ($name, $columns) = @$case;
		value("DROP TABLE IF EXISTS way; CREATE TABLE way (n integer, $columns)");
		goes_in_many("a default $name", "COPY way (n) FROM '$file'", 'way');
		ids_are_good('way', $rows, "a default $name");
		is(calls("TRUNCATE way; COPY way (n) FROM '$file'"), "0|$rows", "a default $name: COPY calls its own function");
	}
	value('DROP TABLE way; CREATE TABLE way (n integer, id snowflake_id DEFAULT snowflake_nextval()) PARTITION BY RANGE (id);'
		  . 'CREATE TABLE way_1 PARTITION OF way DEFAULT');
	goes_in_many('a partition', "COPY way (n) FROM '$file'", 'way_1');
	ids_are_good('way', $rows, 'a partition');

	# In both formats the type's files equal those of bigint, and each type reads the other's.
	for my $format ('text', 'csv', 'binary')
	{
		my %written;
		for my $table (sort keys %types)
		{
			my $name = $server->basedir . "/$table.$format";
			value("COPY (SELECT id, n FROM shuffled_$table ORDER BY id) TO '$name' (FORMAT $format)");
			$written{$table} = slurp_file($name);
		}
		ok(length $written{typed} > 10 * $many && $written{typed} eq $written{plain}, "COPY TO in the format $format writes the same file");
		for my $pair ([ 'typed', 'plain' ], [ 'plain', 'typed' ])
		{
			my ($from, $to) = @$pair;
			value("CREATE TABLE read_back (id $types{$to}, n integer); COPY read_back FROM '" . $server->basedir . "/$from.$format' (FORMAT $format)");
			is(value('SELECT count(*) FROM read_back r JOIN plain p ON p.id = r.id AND r.n = p.n % 10'), 2 * $many, "... which $types{$to} reads of $types{$from}");
			value('DROP TABLE read_back');
		}
	}
};

subtest 'ALTER TYPE' => sub {
	value(qq{
		CREATE TABLE head (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer, parent bigint REFERENCES head, ids bigint[]);
		INSERT INTO head (n) SELECT generate_series(1, $many);
		UPDATE head SET parent = (SELECT min(id) FROM head), ids = ARRAY[id, n] WHERE n % 2 = 0;
		CREATE UNIQUE INDEX head_n ON head (n, id);
		CREATE INDEX head_parent ON head (parent) INCLUDE (id);
		CREATE INDEX head_hash ON head USING hash (id);
		CREATE INDEX head_brin ON head USING brin (id);
		CREATE TABLE tail (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), head_id bigint NOT NULL REFERENCES head);
		INSERT INTO tail (head_id) SELECT id FROM head;
		CREATE INDEX tail_head ON tail (head_id);
		ALTER TABLE head ADD last_tail bigint REFERENCES tail;
		VACUUM FULL head, tail});
	my $before = files('head', 'tail');
	my $content = q{SELECT md5(string_agg(h::text || t::text, ' ' ORDER BY h.id)) FROM head h JOIN tail t ON t.head_id = h.id};
	my $rows_before = value($content);
	is(scalar(() = $before =~ /\n/g), 8, 'two tables with seven indexes');
	my $default = q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'head'::regclass};
	# One column after the other, so that each foreign key is temporarily between both types.
	for my $type ('snowflake_id', 'bigint', 'snowflake_id')
	{
		for my $column ('head.id', 'tail.head_id', 'head.parent', 'tail.id', 'head.last_tail')
		{
			my ($table, $name) = split /\./, $column;
			value("ALTER TABLE $table ALTER $name TYPE $type");
			is(files('head', 'tail'), $before, "$column becomes $type: no table or index is written anew");
			is(state_of("INSERT INTO tail (head_id) VALUES (7)"), '23503', '... and foreign keys hold');
			is(state_of("DELETE FROM head WHERE n = 1"), '23503', '... in both directions');
		}
		is(value('SELECT count(*) FROM pg_constraint WHERE NOT convalidated'), 0, 'no foreign key is unchecked');
		is(value($content), $rows_before, 'the rows are as they were');
		is(value($default), 'snowflake_nextval()', 'and so is the default');
		is(value("SELECT DISTINCT format_type(atttypid, -1) FROM pg_attribute WHERE attname IN ('id', 'head_id', 'last_tail', 'parent')"
				. " AND attrelid IN ('head'::regclass, 'tail'::regclass)"), $type, 'the columns have the type');
	}

	# Arrays contain their type, and indexes on expressions are rebuilt at every change of type.
	value('ALTER TABLE head ALTER ids TYPE snowflake_id[]');
	isnt(files('head', 'tail'), $before, 'a table with an array column is written anew');
	is(value($content), $rows_before, '... and its rows are as they were');
	value(q{CREATE INDEX head_text ON head (snowflake_to_text(id, 'base58'))});
	my $with_expression = files('head');
	value('ALTER TABLE head ALTER id TYPE bigint');
	my @changed = grep { $with_expression !~ /^\Q$_\E$/m } split /\n/, files('head');
	is(join(' ', map { /^(\w+)/ } @changed), 'head_text', 'an index on an expression is built anew, and neither the table nor its other indexes');
	is(value(q{SET enable_seqscan = off; SELECT count(*) FROM head WHERE snowflake_to_text(id, 'base58') > '0'}), $many, '... and that index has every row');

	# PostgreSQL refuses these for any two types.
	value(q{CREATE TABLE seen (id bigint PRIMARY KEY); CREATE VIEW view_of_seen AS SELECT id FROM seen});
	refused('ALTER TABLE seen ALTER id TYPE snowflake_id', '0A000', qr/used by a view/, 'a column in a view');
	value('DROP VIEW view_of_seen');
	my $seen = files('seen');
	value('ALTER TABLE seen ALTER id TYPE snowflake_id');
	is(files('seen'), $seen, '... changes without the view, and is not written anew');
	value(q{CREATE TABLE parted (id bigint) PARTITION BY RANGE (id);
		CREATE TABLE generated (id bigint, slug text GENERATED ALWAYS AS (snowflake_to_text(id, 'base58')) STORED)});
	refused('ALTER TABLE parted ALTER id TYPE snowflake_id', '42P16', qr/part of the partition key/, 'a partition key');
	refused('ALTER TABLE generated ALTER id TYPE snowflake_id', '0A000', qr/generated column/, 'a column from which another one is generated');
	refused('CREATE TABLE refused (id snowflake_id GENERATED ALWAYS AS IDENTITY)', '22023', qr/smallint, integer, or bigint/, 'an identity column of the type');
	value('DROP TABLE parted, generated, seen');
};

subtest 'foreign keys' => sub {
	for my $pair ([ 'snowflake_id', 'bigint' ], [ 'bigint', 'snowflake_id' ], [ 'snowflake_id', 'snowflake_id' ], [ 'snowflake_id', 'integer' ])
	{
		my ($key, $reference) = @$pair;
		my $name = "$reference to $key";
		value(qq{
			CREATE TABLE key (id $key, part integer, PRIMARY KEY (id, part), UNIQUE (id), above $key);
			ALTER TABLE key ADD FOREIGN KEY (above) REFERENCES key (id);
			CREATE TABLE cascaded (id $reference REFERENCES key (id) ON DELETE CASCADE ON UPDATE CASCADE);
			CREATE TABLE nulled (id $reference REFERENCES key (id) ON DELETE SET NULL);
			CREATE TABLE pairs (id $reference, part integer, FOREIGN KEY (id, part) REFERENCES key DEFERRABLE INITIALLY DEFERRED);
			INSERT INTO key SELECT i, i, 1 FROM generate_series(1, 10) i;
			INSERT INTO cascaded SELECT generate_series(2, 9);
			INSERT INTO nulled SELECT generate_series(2, 9)});
		my (undef, $text) = query_error($server, $db, 'INSERT INTO cascaded VALUES (77)');
		like($text, qr/23503: .*Key \(id\)=\(77\) is not present/s, "$name: a row without a key");
		like((query_error($server, $db, 'BEGIN; INSERT INTO pairs VALUES (1, 2); COMMIT'))[1], qr/23503: /, '... of two columns, deferred');
		is(state_of('BEGIN; INSERT INTO pairs VALUES (77, 7); INSERT INTO key VALUES (77, 7); COMMIT'), '00000', '... whose key comes later');
		is(state_of('DELETE FROM key WHERE id = 1'), '23503', '... a key that the table itself refers to');
		value('UPDATE nulled SET id = NULL WHERE id = 9; DELETE FROM key WHERE id IN (2::bigint, 3)');
		if ($reference eq 'integer')
		{
			# PostgreSQL would convert bigint to integer here.
			refused('UPDATE key SET id = 1009 WHERE id = 9', '42804', qr/of type integer but expression is of type snowflake_id/, '... ON UPDATE CASCADE needs a column of eight bytes');
			value('UPDATE cascaded SET id = 8 WHERE id = 9');
		}
		else { value('UPDATE key SET id = 1009 WHERE id = 9'); }
		is(value('SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM cascaded'), '4 5 6 7 8 ' . ($reference eq 'integer' ? 8 : 1009), '... ON UPDATE and ON DELETE CASCADE');
		is(value('SELECT count(*) FROM nulled WHERE id IS NULL'), 3, '... ON DELETE SET NULL');
		value('ALTER TABLE cascaded DROP CONSTRAINT cascaded_id_fkey; INSERT INTO cascaded VALUES (78);'
			  . ' ALTER TABLE cascaded ADD CONSTRAINT later FOREIGN KEY (id) REFERENCES key (id) NOT VALID');
		is(state_of('ALTER TABLE cascaded VALIDATE CONSTRAINT later'), '23503', '... a row without a key, found by VALIDATE');
		value('DELETE FROM cascaded WHERE id = 78; ALTER TABLE cascaded VALIDATE CONSTRAINT later; DROP TABLE pairs, nulled, cascaded, key');
	}
};

# PostgreSQL chooses these by the types of both columns, and knows no cast between these two types.
subtest 'foreign keys that PostgreSQL refuses' => sub {
	value('CREATE TABLE narrow (id integer PRIMARY KEY)');
	refused('CREATE TABLE refused (id snowflake_id REFERENCES narrow)', '42804', qr/incompatible types: snowflake_id and integer/, 'a reference of the type to an integer');
	value('DROP TABLE narrow');
};

subtest 'partitions' => sub {
	for my $schema (sort keys %types)
	{
		value(qq{
			CREATE SCHEMA $schema;
			SET search_path = $schema, public;
			CREATE TABLE by_hash (id $types{$schema} PRIMARY KEY, n integer) PARTITION BY HASH (id);
			CREATE TABLE by_range (id $types{$schema} PRIMARY KEY, n integer) PARTITION BY RANGE (id);
			CREATE TABLE by_list (id $types{$schema}, n integer) PARTITION BY LIST (id);
			CREATE TABLE list_1 PARTITION OF by_list FOR VALUES IN (1, 2, 249788568795254815);
			CREATE TABLE list_0 PARTITION OF by_list DEFAULT;
			CREATE TABLE range_0 PARTITION OF by_range DEFAULT}
			  . join('', map { ";CREATE TABLE hash_$_ PARTITION OF by_hash FOR VALUES WITH (MODULUS 5, REMAINDER $_)" } 0 .. 4)
			  . qq{;
			SELECT min(id) AS low, percentile_disc(0.5) WITHIN GROUP (ORDER BY id) AS mid FROM public.plain \\gset
			CREATE TABLE range_1 PARTITION OF by_range FOR VALUES FROM (:low) TO (:mid);
			INSERT INTO by_hash SELECT id, n FROM public.plain;
			INSERT INTO by_range SELECT id, n FROM public.plain;
			INSERT INTO by_list SELECT id, n FROM public.plain UNION ALL VALUES (1, 1), (249788568795254815, 2)});
	}
	for my $way ('hash', 'range', 'list')
	{
		my $where = "SELECT string_agg(relname || ' ' || count, ', ' ORDER BY relname) FROM"
		  . " (SELECT relname, count(*) FROM SCHEMA.by_$way t JOIN pg_class c ON c.oid = t.tableoid GROUP BY 1) counted";
		my ($typed, $plain) = map { value($where =~ s/SCHEMA/$_/r) } 'typed', 'plain';
		is($typed, $plain, "by $way: as many rows in each partition");
		is(scalar(() = $typed =~ /,/g), $way eq 'hash' ? 4 : 1, '... and rows in all of them');
		is(value("SELECT count(*) FROM typed.by_$way a JOIN pg_class c ON c.oid = a.tableoid JOIN"
				. " (plain.by_$way b JOIN pg_class d ON d.oid = b.tableoid) USING (id) WHERE c.relname <> d.relname"), 0, '... each in the same one');
	}
	# A partition of the other type is refused, and attached once it has the type.
	value(q{
		SET search_path = typed, public;
		ALTER TABLE by_hash DETACH PARTITION hash_3;
		ALTER TABLE by_range DETACH PARTITION range_1;
		ALTER TABLE hash_3 ALTER id TYPE bigint;
		ALTER TABLE range_1 ALTER id TYPE bigint;
		SELECT min(id) AS low, max(id) + 1 AS high FROM range_1 \gset
		ALTER TABLE range_1 ADD CONSTRAINT bounds CHECK (id >= :low AND id < :high)});
	my $bounds = q{SELECT min(id) AS low, max(id) + 1 AS high FROM typed.range_1 \gset
		};
	my %attach = (
		hash_3 => 'ALTER TABLE typed.by_hash ATTACH PARTITION typed.hash_3 FOR VALUES WITH (MODULUS 5, REMAINDER 3)',
		range_1 => "${bounds}ALTER TABLE typed.by_range ATTACH PARTITION typed.range_1 FOR VALUES FROM (:low) TO (:high)");
	for my $partition (sort keys %attach)
	{
		refused($attach{$partition}, '42804', qr/different type for column "id"/, "$partition of type bigint");
		value("ALTER TABLE typed.$partition ALTER id TYPE snowflake_id");
		is(state_of($attach{$partition}), '00000', "$partition of the type is attached");
	}
	value('ALTER TABLE typed.by_hash DETACH PARTITION typed.hash_3');
	value('ALTER TABLE typed.by_hash DETACH PARTITION typed.hash_2');
	refused($attach{hash_3} =~ s/REMAINDER 3/REMAINDER 2/r, '23514', qr/violated by some row/, 'a partition by hash with rows of another one');
	value($attach{hash_3});
	refused('INSERT INTO typed.by_hash SELECT id FROM typed.hash_2 LIMIT 1', '23514', qr/no partition of relation "by_hash" found/, 'a row without a partition');
	value("ALTER TABLE typed.by_hash ATTACH PARTITION typed.hash_2 FOR VALUES WITH (MODULUS 5, REMAINDER 2)");
	is(value('SELECT count(*) FROM typed.by_hash JOIN plain.by_hash USING (id)'), 2 * $many, 'all rows are there');
	is(value(q{UPDATE typed.by_list SET id = 2 WHERE id = (SELECT min(id) FROM typed.list_0) RETURNING tableoid::regclass}), 'typed.list_1',
		'an UPDATE moves a row to its partition');
};

subtest 'indexes' => sub {
	# The same rows are returned, with each index and without one.
	value('ANALYZE shuffled_typed, shuffled_plain');
	my @ids = split /\n/, value("SELECT id FROM shuffled_plain ORDER BY md5(id::text || 'chosen' || '$seed') LIMIT 40");
	my %scans = (
		'no index' => 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off',
		'B-tree' => 'DROP INDEX shuffled_typed_hash, shuffled_typed_brin; SET enable_seqscan = off',
		hash => 'ALTER TABLE shuffled_typed DROP CONSTRAINT shuffled_typed_pkey; DROP INDEX shuffled_typed_brin, shuffled_typed_n; SET enable_seqscan = off',
		BRIN => 'ALTER TABLE shuffled_typed DROP CONSTRAINT shuffled_typed_pkey; DROP INDEX shuffled_typed_hash, shuffled_typed_n; SET enable_seqscan = off');
	my %index = (
		'no index' => qr/Seq Scan/, 'B-tree' => qr/shuffled_typed_(?:pkey|n)\b/, hash => qr/shuffled_typed_hash/, BRIN => qr/shuffled_typed_brin/);
	my @between = sort { $a <=> $b } @ids[ 0, 1 ];
	my %query = (
		equality => 'SELECT id, n FROM shuffled_TABLE WHERE id = ANY (ARRAY[' . join(', ', @ids) . ']) ORDER BY id',
		range => "SELECT count(*), sum(id) FROM shuffled_TABLE WHERE id BETWEEN $between[0] AND $between[1]");
	for my $name (sort keys %scans)
	{
		for my $what (sort keys %query)
		{
			next if $name eq 'hash' && $what eq 'range';
			my $sql = $query{$what} =~ s/TABLE/typed/r;
			my @out = split /^<<<\n/m, value("BEGIN; $scans{$name};\n\\echo <<<\nEXPLAIN $sql;\n\\echo <<<\n$sql;\nROLLBACK");
			like($out[1], $index{$name}, "$name, $what: the plan");
			is($out[2], value($query{$what} =~ s/TABLE/plain/r), '... finds the rows that bigint has');
		}
	}
	value(q{
		CREATE TABLE expressions (id snowflake_id PRIMARY KEY, n integer);
		INSERT INTO expressions SELECT id, n FROM plain;
		CREATE INDEX by_time ON expressions (snowflake_timestamp(id, 'snowflake'));
		CREATE INDEX by_text ON expressions (snowflake_to_text(id, 'base58'));
		CREATE INDEX by_remainder ON expressions ((id % 1000));
		CREATE INDEX odd ON expressions (id) WHERE id % 2 = 1;
		ANALYZE expressions});
	for my $case ([ 'by_time', q{snowflake_timestamp(id, 'snowflake') < (SELECT snowflake_timestamp(id, 'snowflake') FROM plain ORDER BY id OFFSET 50 LIMIT 1)} ],
		[ 'by_text', "snowflake_to_text(id, 'base58') = snowflake_to_text($ids[0], 'base58')" ], [ 'by_remainder', 'id % 1000 = 7' ],
		[ 'odd', "id % 2 = 1 AND id < $ids[0]" ])
	{
		my ($index, $condition) = @$case;
		like(value("SET enable_seqscan = off; EXPLAIN SELECT n FROM expressions WHERE $condition"), qr/\b$index\b/, "$index is used");
		is(value("SET enable_seqscan = off; SELECT count(*), sum(id) FROM expressions WHERE $condition"),
			value("SELECT count(*), sum(id) FROM plain WHERE $condition"), '... and finds the rows');
	}
	refused("INSERT INTO expressions VALUES ($ids[0], 1)", '23505', qr/Key \(id\)=\($ids[0]\) already exists/, 'an id that is there');
};

subtest 'ON CONFLICT and MERGE' => sub {
	for my $pair (map { my $to = $_; map { [ $to, $_ ] } sort keys %types } sort keys %types)
	{
		my ($to, $from) = @$pair;
		value(qq{
			CREATE TABLE merged (id $types{$to} PRIMARY KEY, n integer);
			INSERT INTO merged SELECT id, 0 FROM plain WHERE n % 2 = 0;
			INSERT INTO merged SELECT id, 1 FROM shuffled_$from ON CONFLICT (id) DO UPDATE SET n = merged.n + 2;
			INSERT INTO merged SELECT id, 100 FROM shuffled_$from ON CONFLICT DO NOTHING;
			MERGE INTO merged USING shuffled_$from s ON s.id = merged.id
				WHEN MATCHED AND merged.n = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET n = merged.n + 8 WHEN NOT MATCHED THEN INSERT VALUES (s.id, 100);
			MERGE INTO merged USING shuffled_$from s ON s.id = merged.id WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 5)});
		is(value('SELECT merged.n, count(*) FROM merged JOIN shuffled_plain USING (id) GROUP BY 1 ORDER BY 1'), "5|$many\n10|$many",
			"$types{$from} into $types{$to}: each row once, with what it went through");
		value('DROP TABLE merged');
	}
};

subtest 'arrays, generated columns, domains' => sub {
	value(q{
		CREATE TABLE many (n integer, ids snowflake_id[], bigs bigint[]);
		INSERT INTO many SELECT n / 10, array_agg(id ORDER BY id), array_agg(id ORDER BY id) FROM plain GROUP BY n / 10;
		CREATE INDEX many_ids ON many USING gin (ids)});
	my $id = value('SELECT max(id) FROM plain');
	my $find = "WHERE ids \@> ARRAY[$id]::snowflake_id[]";
	like(value("SET enable_seqscan = off; EXPLAIN SELECT n FROM many $find"), qr/many_ids/, 'a GIN index on an array of ids');
	is(value("SET enable_seqscan = off; SELECT n FROM many $find"), value("SELECT n FROM many WHERE bigs \@> ARRAY[$id]"), '... finds the row');
	is(value("SELECT n FROM many WHERE $id = ANY (ids)"), value("SELECT n FROM many WHERE $id = ANY (bigs)"), '= ANY of an array');
	is(value('SELECT count(*) FROM many WHERE ids::bigint[] = bigs AND ids = bigs::snowflake_id[]'), value('SELECT count(*) FROM many'), 'arrays of both types');
	is(value("SELECT count(*) FROM many WHERE array_position(ids, $id) = array_position(bigs, $id)"), 1, 'array_position()');
	is(value('SELECT count(*), count(DISTINCT id) FROM many, unnest(ids) id'), 2 * $many . '|' . 2 * $many, 'unnest()');
	is(value(q{SELECT count(*) FROM many WHERE array_to_json(ids)::text ~ '^\["\d+"(,"\d+")*\]$'}), value('SELECT count(*) FROM many'),
		'in JSON each is a string');

	value(q{CREATE TABLE generated (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(),
			slug text COLLATE "C" UNIQUE GENERATED ALWAYS AS (snowflake_to_text(id, 'base58')) STORED,
			at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'snowflake')) STORED,
			same snowflake_id GENERATED ALWAYS AS (id) STORED, big bigint GENERATED ALWAYS AS (id) STORED);
		INSERT INTO generated SELECT FROM generate_series(1, 1000)});
	is(value(q{SELECT count(*) FROM generated WHERE snowflake_from_text(slug, 'base58') = id AND at = snowflake_timestamp(id) AND same = id AND big = id}), 1000,
		'generated columns');

	value(q{
		CREATE TABLE of_domain (id order_id PRIMARY KEY DEFAULT snowflake_nextval(), parent order_id REFERENCES of_domain, item snowflake_id REFERENCES typed);
		INSERT INTO of_domain (item) SELECT id FROM typed LIMIT 1000});
	refused('INSERT INTO of_domain (id) VALUES (-1)', '23514', qr/domain order_id violates check/, 'a domain over the type has its CHECK');
	is(state_of('INSERT INTO of_domain (parent) VALUES (77)'), '23503', '... and foreign keys');
	is(value(q{SELECT count(*) FROM of_domain WHERE jsonb_typeof(to_jsonb(id)) = 'string' AND jsonb_typeof(to_jsonb(of_domain)->'id') = 'string'}), 1000,
		'... and is a string in JSON');
	is(value('SELECT count(*) FROM of_domain d JOIN typed t ON t.id = d.item WHERE d.id > t.id AND d.id <@ int8range(t.id, NULL)'), 1000, '... and compares as the type does');
};

subtest 'the binary protocol' => sub {
	my $session = binary_session($server, $db, $ENV{PGUSER});
	my ($type) = value(q{SELECT 'snowflake_id'::regtype::oid});
	my $id = value('SELECT max(id) FROM typed');
	my $got = binary_query($session, 'SELECT id, n, id::bigint AS big FROM typed WHERE id = $1', pack('q>', $id));
	is_deeply($got->{columns}, [ [ 'id', $type, 1 ], [ 'n', 23, 1 ], [ 'big', 20, 1 ] ], 'a column has the type, and an expression of bigint is bigint');
	is_deeply([ map { length } @{ $got->{rows}[0] } ], [ 8, 4, 8 ], 'eight bytes');
	is_deeply([ map { unpack 'q>', $_ } @{ $got->{rows}[0] }[ 0, 2 ] ], [ $id, $id ], '... which are the id, as of bigint');
	is_deeply($got->{parameters}, [20], 'a parameter without a type that is compared with an id is a bigint');
	# A parameter whose type comes from the column has the column's type.
	value('CREATE TABLE binary_ids (id snowflake_id, n bigint)');
	my @all = split /\n/, value('SELECT id FROM typed ORDER BY id LIMIT 200');
	my %types_of_parameters;
	for my $value (@all, -9223372036854775807 - 1, -1, 0, 9223372036854775807)
	{
		my $inserted = binary_query($session, 'INSERT INTO binary_ids VALUES ($1, $2) RETURNING id', pack('q>', $value), pack('q>', $value));
		$types_of_parameters{ join ' ', @{ $inserted->{parameters} } }++;
		next if $inserted->{state} eq '00000' && unpack('q>', $inserted->{rows}[0][0]) == $value;
		fail("$value in binary: $inserted->{state}");
	}
	is_deeply([ keys %types_of_parameters ], ["$type 20"], 'a parameter that is stored in the column has its type');
	is(value('SELECT count(*) FROM binary_ids WHERE id = n'), @all + 4, 'ids, the smallest and the largest numbers, sent in binary');
	$got = binary_query($session, 'SELECT array_agg(id ORDER BY id) FROM typed WHERE id = ANY ($1)',
		pack('N N N N N (N q>)*', 1, 0, 20, 2, 1, map { (8, $_) } @all[ 0, 1 ]));
	is(unpack('x8 N', $got->{rows}[0][0]), $type, 'an array in binary has the type of its elements');
	is_deeply([ unpack 'x24 q> x4 q>', $got->{rows}[0][0] ], [ @all[ 0, 1 ] ], '... and the ids');
	is(binary_query($session, 'INSERT INTO binary_ids VALUES ($1)', 'short')->{state}, '08P01', 'five bytes are no id');
	is_deeply(binary_query($session, 'SELECT $1::snowflake_id', undef)->{rows}, [ [undef] ], 'a null');
	close $session;
};

subtest 'a view of that type over a bigint column' => sub {
	value(q{
		CREATE TABLE base (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer);
		CREATE VIEW face AS SELECT id::snowflake_id AS id, n FROM base;
		INSERT INTO face (n) SELECT generate_series(1, 100);
		UPDATE face SET n = n + 1000 WHERE id = (SELECT max(id) FROM base);
		DELETE FROM face WHERE n = 1});
	is(value('SELECT count(*), count(DISTINCT id), max(n) FROM base'), '99|99|1100', 'rows are inserted, changed and deleted through it; the table issues the ids');
	is(value(q{SELECT jsonb_typeof(to_jsonb(f)->'id') || pg_typeof(f.id) FROM face f LIMIT 1}), 'stringsnowflake_id', 'its ids are of the type');
	like(value('INSERT INTO face (n) VALUES (0) RETURNING row_to_json(face)'), qr/^\{"id":"\d+","n":0\}$/, '... also in RETURNING');
	# For PostgreSQL the cast makes the column an expression.
	refused('INSERT INTO face VALUES (5, 5)', '0A000', qr/cannot insert into column "id" of view "face"/, 'an id cannot be given through it');
	refused('UPDATE face SET id = 5::bigint', '0A000', qr/cannot update column "id" of view "face"/, '... or changed');
};

subtest 'an ordinary role' => sub {
	value('CREATE ROLE somebody LOGIN; CREATE SCHEMA somebody AUTHORIZATION somebody');
	my $as = sub { return $server->safe_psql($db, "SET search_path = somebody, public;\n$_[0]", extra_params => [ '-U', 'somebody' ]) };
	is($as->(q{
		CREATE TABLE item (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), n integer, parent bigint REFERENCES item);
		CREATE DOMAIN item_id AS snowflake_id;
		CREATE TABLE line (id item_id DEFAULT snowflake_nextval(), item bigint REFERENCES item);
		INSERT INTO item (n) SELECT generate_series(1, 100);
		COPY item (n) FROM stdin;
101
102
\.
		INSERT INTO line (item) SELECT id FROM item;
		INSERT INTO line VALUES ('6'), (7::bigint), (8::smallint), (9);
		CREATE VIEW face AS SELECT id::snowflake_id AS id, item FROM line;
		ALTER TABLE item ALTER id TYPE bigint;
		ALTER TABLE item ALTER id TYPE snowflake_id;
		SELECT count(*), count(*) FILTER (WHERE jsonb_typeof(to_jsonb(f)->'id') = 'string'), max(id) > 9,
			bool_and(id <@ int8range(1, NULL)), bool_and(id = (id::text)::snowflake_id) FROM face f}), '106|106|t|t|t',
		'creates, fills, changes and reads columns of the type without any grant');
};

subtest 'functions of the extension' => sub {
	value(q{CREATE TABLE called (n integer, id snowflake_id DEFAULT snowflake_nextval()); INSERT INTO called SELECT generate_series(1, 1000)});
	is(value(q{SELECT count(*) FROM called, snowflake_decode(id) d, snowflake_decode(id, 'snowflake') e
			WHERE d.ts = snowflake_timestamp(id) AND d = e AND snowflake_encode(d.ts, d.worker, d.seq) = id}), 1000, 'snowflake_decode()');
	is(value(q{SELECT count(*) FROM called WHERE id >= snowflake_id_at(snowflake_timestamp(id)) AND id <@ snowflake_range(tstzrange(snowflake_timestamp(id), NULL))}), 1000,
		'snowflake_id_at(), snowflake_range()');

	is(value(q{SELECT count(*) FROM snowflake_check('called', 'id')}), '0', 'snowflake_check(): all ids were issued here');
	value('INSERT INTO called VALUES (-1, -1)');
	is(value(q{SELECT problem, ids, first_id FROM snowflake_check('called', 'id')}), q{not of this database's layout|1|-1}, '... and what was not is found');
	is(value(q{SELECT count(*) FROM snowflake_check('typed.by_hash', 'id')}), '0', '... in partitions, too');

	value('CREATE EXTENSION snowflake_convert');
	refused(q{SELECT snowflake_convert('called', 'id')}, '55000', qr/is of type (public\.)?snowflake_id.*HINT/s, 'snowflake_convert() of a column of the type');
	# A column of the type may refer to the converted column, because it is wide enough.
	value(q{
		CREATE TABLE serials (id bigserial PRIMARY KEY);
		INSERT INTO serials SELECT FROM generate_series(1, 100);
		CREATE TABLE referring (id snowflake_id REFERENCES serials);
		INSERT INTO referring SELECT id FROM serials});
	is(state_of(q{SELECT snowflake_convert('serials', 'id')}), '00000', 'snowflake_convert() of a column to which one of the type refers');
	is(value('WITH new AS (INSERT INTO serials DEFAULT VALUES RETURNING id) SELECT id > 1000000 FROM new'), 't', '... which issues ids then');
	is(state_of('INSERT INTO referring SELECT max(id) FROM serials; INSERT INTO referring SELECT max(id) + 1 FROM serials'), '23503', '... and the foreign key holds');
	value('ALTER TABLE serials ALTER id TYPE snowflake_id');
	is(value('SELECT count(*) FROM serials JOIN referring USING (id)'), 101, '... also when both are of the type');
};

# Between two databases with columns of both types: a column that is bigint in one is of the type in
# the other.
subtest 'logical replication' => sub {
	my $there = 'there';
	value("CREATE DATABASE $there");
	my %at = ($db => [ 'bigint', 'snowflake_id' ], $there => [ 'snowflake_id', 'bigint' ]);
	$server->safe_psql($there, 'CREATE EXTENSION snowflake');
	my $sql = sub { my ($dbname, $text) = @_; return $server->safe_psql($dbname, $text) };
	for my $dbname ($db, $there)
	{
		my ($one, $other) = @{ $at{$dbname} };
		$sql->($dbname, qq{
			CREATE TABLE sent (id $one PRIMARY KEY DEFAULT snowflake_nextval(), n integer, parent $other, ids $other\[]);
			CREATE TABLE received (id $one PRIMARY KEY DEFAULT snowflake_nextval(), n integer, parent $other, ids $other\[]);
			CREATE TABLE whole (id $other, n integer);
			ALTER TABLE whole REPLICA IDENTITY FULL});
	}
	# `sent` is replicated from here, and `received` to here, by subscriptions in both formats.
	for my $case ([ 'out', $db, $there, 'sent, whole', 'binary = false' ], [ 'back', $there, $db, 'received', 'binary = true' ])
	{
		my ($name, $from, $to, $tables, $options) = @$case;
		my ($table) = $tables =~ /(\w+)/;
		$sql->($from, "INSERT INTO $table (n, parent, ids) SELECT i, i, ARRAY[i, 249788568795254815]::bigint[]::"
			  . ($from eq $db ? 'snowflake_id' : 'bigint') . '[] FROM generate_series(1, 500) i');
		$sql->($from, "CREATE PUBLICATION $name FOR TABLE $tables");
		# A subscription within one server would wait for itself if it created its slot.
		$sql->($from, "SELECT pg_create_logical_replication_slot('$name', 'pgoutput')");
		$sql->($to, "CREATE SUBSCRIPTION $name CONNECTION '" . $server->connstr($from) =~ s{'}{''}gr . "' PUBLICATION $name WITH (create_slot = false, $options)");
		ok(wait_until("the copy of $name", sub { $sql->($to, "SELECT count(*) FILTER (WHERE srsubstate IN ('r', 's')) = count(*) FROM pg_subscription_rel") eq 't' }),
			"$name ($options): the tables are copied");
		$sql->($from, "INSERT INTO $table (n, parent) SELECT i, i FROM generate_series(501, 1000) i;"
			  . " UPDATE $table SET n = -n WHERE n % 3 = 0; UPDATE $table SET id = -id WHERE n % 7 = 0; DELETE FROM $table WHERE n % 5 = 0");
		$sql->($from, 'INSERT INTO whole SELECT i, i FROM generate_series(1, 100) i; UPDATE whole SET n = -n WHERE id > 50::bigint; DELETE FROM whole WHERE id < 20::bigint')
		  if $tables =~ /whole/;
		for my $which (split /, /, $tables)
		{
			my $content = "SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY id)) FROM $which t";
			my $sent = $sql->($from, $content);
			cmp_ok((split /\|/, $sent)[0], '>', 70, "$which: rows that were inserted, changed and deleted");
			ok(wait_until("$which to arrive", sub { $sql->($to, $content) eq $sent }), '... arrive as they are, in columns of the other type');
		}
	}
	is($sql->($db, subscription_errors()), '0', 'no change failed');
};

figures('%d trials: rows in each table of columns of both types', $many);
finish();
