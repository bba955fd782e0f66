# pg_dump and pg_restore by roles of each kind, in each format (section 4 of the design). The owner
# of a database dumps it, and restores dumps into a database in which a superuser created the
# extension: rows, a layout and segments with their settings arrive. Ids and numbers issued there
# are above those in the dump (G1, G11). A member of pg_read_all_data dumps, and restores nothing.
# For any other role both fail. What else the owner can do with these privileges stops neither ids
# nor numbers. The commands of doc/operating.md also work with rights on the extension's objects.
# Not in the default run: it starts some 350 processes.

use strict;
use warnings;

use lib 'test/perl';
use DumpTest;
use NodesTest qw(as_role);
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

DumpTest::start();
$_->safe_psql('postgres', 'CREATE ROLE carol LOGIN; CREATE ROLE reader LOGIN IN ROLE pg_read_all_data; CREATE ROLE alice LOGIN') for $from, $to;

my $segments = q{
	SELECT snowflake_create_segment('ticket', step => 100);
	SELECT snowflake_create_segment('with settings', 5000, 10, 6000, 20, usage_role => 'carol');
	SELECT snowflake_create_segment('unused', 77);
	CREATE TABLE public.tickets (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'), n int);
	INSERT INTO tickets (n) SELECT generate_series(1, 150);
	SELECT snowflake_segment_nextval('with settings')};

# A database of carol's.
sub make_carols
{
	my ($dbname, $schema) = @_;
	make_source($dbname, 'other', $schema);
	$from->safe_psql($dbname, "SET search_path = $schema, public; $segments;" . join(';', map { "ALTER TABLE $_ OWNER TO carol" } qw(orders lines tickets)));
	$from->safe_psql('postgres', "ALTER DATABASE $dbname OWNER TO carol");
	return;
}

sub segments
{
	my ($server, $dbname, $schema) = @_;
	return $server->safe_psql($dbname, "SELECT name, last_value, max_value, step, max_step, usage_role FROM $schema.snowflake_segment ORDER BY name");
}

# An empty database of carol's, in which a superuser has created the extension.
sub prepare
{
	my ($dbname, $schema) = @_;
	$to->safe_psql('postgres', "CREATE DATABASE $dbname OWNER carol");
	$to->safe_psql($dbname, ($schema eq 'public' ? '' : "CREATE SCHEMA $schema; GRANT USAGE ON SCHEMA $schema TO carol;") . "CREATE EXTENSION snowflake SCHEMA $schema");
	return;
}

sub check_carols
{
	my ($dbname, $source, $schema, $before, $name) = @_;
	is(segments($to, $dbname, $schema), $before, "$name: the segments arrive, with their settings");
	check_restored($to, $dbname, $source, 'other', $schema, $name);
	my ($allocated) = $before =~ /^ticket\|(\d+)\|/m;
	my @new = split /\n/, $to->safe_psql($dbname, 'INSERT INTO tickets (n) SELECT generate_series(1, 120) RETURNING id', extra_params => [ '-U', 'carol' ]);
	is($new[0], $allocated + 1, "$name: the next number is above all that were allocated");
	is($to->safe_psql($dbname, 'SELECT count(*), count(DISTINCT id) FROM tickets'), '270|270', '... so no key is there twice');
	return;
}

make_carols('source', 'public');
# Its keeper allocates the next range in its own time. Returns the segments when they have been the
# same for seconds.
sub rest
{
	my ($dbname, $schema) = @_;
	my ($last, $since) = ('', 0);
	ok(wait_until('the source to rest', sub {
		my $now = segments($from, $dbname, $schema);
		($last, $since) = ($now, time()) if $now ne $last;
		return time() - $since > 4;
	}), "$dbname rests");
	return $last;
}
my $before = rest('source', 'public');

# Name, options of pg_dump, options of pg_restore; without those the dump is a script for psql. What
# a superuser's extension already has, COMMENT ON EXTENSION cannot change.
my @forms = (
	[ 'plain', [ '-Fp', '--no-comments' ] ],
	[ 'inserts', [ '-Fp', '--no-comments', '--column-inserts' ] ],
	[ 'custom', ['-Fc'], ['--no-comments'] ],
	[ 'jobs', [ '-Fd', '-j', '4' ], [ '--no-comments', '-j', '4' ] ],
	# pg_restore -n leaves out the command that creates the schema, which exists.
	[ 'schema', [ '-Fc', '-n', 'public' ], [ '-n', 'public' ] ],
	[ 'data', [ '-Fc', '--data-only' ], ['--data-only'] ]);

sub restore_by
{
	my ($role, $dbname, $file, $options) = @_;
	return $options ? [ 'pg_restore', '--exit-on-error', @$options, '-U', $role, '-d', $dbname, $file ]
	  : [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-U', $role, '-f', $file, $dbname ];
}

# What a dump executes, without psql's guard, which is another one in each dump.
sub script
{
	my ($file, $options) = @_;
	my $text = $options ? (run_command([ 'pg_restore', '-f', '-', grep { !/^-j|^4/ } @$options, $file ]))[0] : slurp_file($file);
	return $text =~ s/^\\(?:un)?restrict .*$//mgr;
}

$from->command_ok([ 'pg_dump', '--no-sync', '--schema-only', '--no-comments', '-U', 'carol', '-f', "$dir/schema.sql", 'source' ], 'the schema alone');
my ($dumps, $bytes) = (0, 0);
for my $form (@forms)
{
	my ($name, $dump, $restore) = @$form;
	my %script;
	for my $role (qw(postgres carol reader))
	{
		$from->command_ok([ 'pg_dump', '--no-sync', @$dump, '-U', $role, '-f', "$dir/${role}_$name", 'source' ], "$role dumps: $name");
		$script{$role} = script("$dir/${role}_$name", $restore);
		++$dumps;
	}
	is($script{$_}, $script{postgres}, "... the same as a superuser, $_") for qw(carol reader);
	$bytes += length $script{postgres};
	prepare($name, 'public');
	$to->command_ok(restore_by('carol', $name, "$dir/schema.sql"), 'the schema is there') if $name eq 'data';
	$to->command_ok(restore_by('carol', $name, "$dir/carol_$name", $restore), '... and the owner of another database restores it');
	check_carols($name, 'source', 'public', $before, $name);
}
figures('%d dumps by 3 roles in %d forms, of %d bytes for each role; %d restored by the owner of a database', $dumps, scalar @forms, $bytes, scalar @forms);
is(segments($from, 'source', 'public'), $before, 'a dump changes nothing');

subtest 'roles that may not' => sub {
	prepare('refused', 'public');
	for my $form (@forms)
	{
		my ($name, $dump, $restore) = @$form;
		$from->command_fails_like([ 'pg_dump', '--no-sync', @$dump, '-U', 'alice', '-f', "$dir/alice_$name", 'source' ],
			qr/permission denied for table \w+/, "no dump by any other role: $name");
	}
	$from->safe_psql('source', 'GRANT SELECT ON orders, lines, tickets TO alice');
	$from->command_fails_like([ 'pg_dump', '--no-sync', '-U', 'alice', '-f', "$dir/alice", 'source' ],
		qr/permission denied for table snowflake_layout/, '... not even by one that may read all other tables');
	for my $role (qw(reader alice))
	{
		$to->safe_psql('refused', "GRANT CREATE ON SCHEMA public TO $role");
		$to->command_fails_like(restore_by($role, 'refused', "$dir/carol_custom", [ '--no-comments', '--no-owner', '--single-transaction' ]),
			qr/permission denied for table snowflake_layout/, "no restore by $role");
	}
	is($to->safe_psql('refused', 'SELECT count(*) FROM snowflake_layout'), '0', 'nothing has arrived');
	$to->command_fails_like(restore_by('carol', 'refused', "$dir/carol_custom", []), qr/must be owner of extension snowflake/, 'the owner of a database needs --no-comments');
};

# One table of a dump, by its owner.
prepare('one', 'public');
$to->command_ok(restore_by('carol', 'one', "$dir/postgres_custom", [ '-t', 'orders' ]), 'one table of a dump');
like($to->safe_psql('one', 'INSERT INTO orders (n) VALUES (1) RETURNING id', extra_params => [ '-U', 'carol' ]), qr/^\d+$/, '... whose default works');

subtest 'into a database with segments' => sub {
	$from->command_ok([ 'pg_dump', '--no-sync', '--data-only', '-t', 'snowflake_segment', '-U', 'carol', '-f', "$dir/segments.sql", 'source' ], 'segments alone');
	$to->safe_psql('custom', q{SELECT snowflake_raise_segment('ticket', 5000)});
	$to->safe_psql('one', q{SELECT snowflake_create_segment('ticket', step => 10)});
	my $higher = segments($to, 'custom', 'public');
	$to->command_ok(restore_by('carol', $_, "$dir/segments.sql"), "restored into $_") for qw(custom one);
	is(segments($to, 'custom', 'public'), $higher, 'what is above the dump stays');
	is($to->safe_psql('one', q{SELECT count(*), max(last_value) FILTER (WHERE name = 'ticket') FROM snowflake_segment}), '3|' . ($before =~ /^ticket\|(\d+)/m)[0],
		'what is below is raised, what is missing arrives');
};

subtest 'a schema of its own' => sub {
	make_carols('elsewhere', 'ids');
	my @dump = ('pg_dump', '--no-sync', '-Fc', '-U', 'carol', '-f', "$dir/elsewhere", 'elsewhere');
	$from->command_fails_like(\@dump, qr/permission denied for schema ids/, 'no dump without USAGE on the schema of the extension');
	$from->safe_psql('elsewhere', 'GRANT USAGE ON SCHEMA ids TO carol');
	my $last = rest('elsewhere', 'ids');
	$from->command_ok(\@dump, '... and with it');
	prepare('elsewhere', 'ids');
	$to->command_ok(restore_by('carol', 'elsewhere', "$dir/elsewhere", [ '-n', 'public', '-n', 'ids' ]), 'restored without the command that creates the schema');
	check_carols('elsewhere', 'elsewhere', 'ids', $last, 'a schema of its own');
};

subtest 'what else the owner can do' => sub {
	my $db = 'custom';
	my $all = sub { return $to->safe_psql($db, 'SELECT (SELECT array_agg(l) FROM snowflake_layout l), (SELECT array_agg(s ORDER BY name) FROM snowflake_segment s)') };
	my $as_it_was = $all->();
	for my $table (qw(snowflake_layout snowflake_segment))
	{
		is((as_role($to, $db, 'carol', $_))[0], '42501', $_)
		  for "DELETE FROM $table", "TRUNCATE $table", "BEGIN; LOCK TABLE $table IN SHARE MODE", "SELECT FROM $table FOR KEY SHARE", "CREATE INDEX ON $table ((1))",
		  "CREATE TRIGGER t BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()", "CREATE TABLE t (a text REFERENCES $table)";
	}
	is((as_role($to, $db, 'carol', $_))[0], '42501', $_)
	  for (map { ("TABLE $_", "INSERT INTO $_ SELECT") } qw(snowflake_registry snowflake_watermark snowflake_origin snowflake_segment_range snowflake_last_tick)),
	  q{UPDATE snowflake_layout SET definition = 'epoch=0 tick=1us time=41 worker=10 seq=12'}, 'UPDATE snowflake_segment SET last_value = 0', q{SELECT snowflake_set_layout('twitter')}, q{SELECT snowflake_create_segment('x')},
	  q{INSERT INTO snowflake_segment SELECT * FROM snowflake_segment ON CONFLICT (name) DO UPDATE SET last_value = 0};
	is((as_role($to, $db, 'carol', q{INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 worker=10 seq=12')}))[0], '23505', 'no second layout');
	is((as_role($to, $db, 'carol', q{INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step, usage_role) SELECT name, segment_id + 1, 0, 9, 1, 1, 'alice' FROM snowflake_segment}))[0],
		'00000', 'an INSERT of lower segments');
	is($all->(), $as_it_was, '... changes nothing');

	# Rows that no dump has.
	my $most = '9223372036854775807';
	is((as_role($to, $db, 'carol', "INSERT INTO snowflake_segment VALUES $_"))[0], '00000', "a segment: $_")
	  for "('extreme', $most, $most, $most, 2147483647, 2147483647, 'infinity', $most, $most, $most, true, 2147483647, NULL, 'no role')",
	  "('early', 1, 0, $most, 1, 2147483647, '-infinity', $most, $most, $most, false, 2147483647, NULL, NULL)",
	  "('dropped', 2, $most, $most, 1, 1, NULL, 0, 0, 0, true, 0, 'infinity', NULL)",
	  "(repeat('x', 2000), 3, 0, 1, 1, 1, NULL, 0, 0, 0, true, 0, NULL, NULL)";
	is($to->safe_psql($db, q{SELECT snowflake_settle('a test')}), '', 'the registry settles');
	is((as_role($to, $db, 'alice', q{SELECT snowflake_segment_nextval('missing')}))[0], '42704', 'a segment that does not exist');
	is((as_role($to, $db, 'alice', q{SELECT snowflake_segment_nextval('early')}))[0], 'SF006', 'a segment of the owner is used up');
	my $held = $to->background_psql($db, extra_params => [ '-U', 'carol' ]);
	$held->query_safe('BEGIN; LOCK TABLE snowflake_layout, snowflake_segment IN ROW EXCLUSIVE MODE; TABLE snowflake_layout; TABLE snowflake_segment');
	# A lease and ranges of its own, while the owner's transaction is open.
	$to->safe_psql($db, 'SELECT snowflake_renew()');
	like($to->safe_psql($db, 'INSERT INTO orders (n) VALUES (1) RETURNING id'), qr/^\d+$/, 'ids are issued');
	like($to->safe_psql($db, 'INSERT INTO tickets (n) VALUES (1) RETURNING id'), qr/^\d+$/, '... and numbers');
	$held->query_safe('COMMIT');
	$held->quit;
};

subtest 'the commands of the page' => sub {
	my $page = 'doc/operating.md';
	$from->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE shop OWNER app; CREATE DATABASE other OWNER app');
	# Rights that other pages advise, and what a restore makes last.
	$from->safe_psql('shop', block_of('doc/many-servers.md', 'CREATE ROLE snowflake_node') . q{
		CREATE EXTENSION snowflake_convert;
		REVOKE EXECUTE ON FUNCTION snowflake_claim() FROM PUBLIC;
		SET ROLE app;
		CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), name text);
		INSERT INTO item (name) SELECT generate_series(1, 100);
		CREATE MATERIALIZED VIEW items AS SELECT count(*) FROM item;
		GRANT SELECT ON item TO reader});
	my $owner = $from->safe_psql('shop', 'SELECT extowner::regrole FROM pg_extension WHERE extname = $$snowflake$$');
	my $commands = block_of($page, 'createdb -O app shop2', 'sh');
	like($commands, qr/ postgres\$'/, "the page's owner");
	$commands =~ s/ postgres\$'/ $owner\$'/;
	$commands =~ s/'CREATE EXTENSION snowflake'\K/ -c 'CREATE EXTENSION snowflake_convert'/ or die "$page creates no extension";
	local $ENV{PGHOST} = $from->host;
	local $ENV{PGPORT} = $from->port;
	my (undef, $err) = run_command([ 'bash', '-ec', "cd '$dir'\n$commands" ]);
	is("$?: $err", '0: ', 'the owner of a database restores it');
	is($from->safe_psql('shop2', q{SELECT (TABLE items), count(*), has_table_privilege('reader', 'item', 'SELECT') FROM item}), '100|100|t', '... with the rights on its own objects');
	$from->safe_psql('other', 'CREATE EXTENSION snowflake; CREATE EXTENSION snowflake_convert');
	$from->command_fails_like([ 'pg_restore', '-U', 'app', '--no-comments', '--exit-on-error', '-d', 'other', "$dir/shop.dump" ],
		qr/permission denied for function snowflake_lease_/, 'the rights on those of the extension cannot be restored');
};

DumpTest::stop();
done_testing();
