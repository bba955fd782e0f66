# A role that may connect and create temporary tables takes every lock that it can, and keeps the
# locks in open and in prepared transactions. Ids are still issued for ten windows, with the
# registry in this database and in another one.
# Not in the default run: many sessions that lock and wait.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server(conf => "max_prepared_transactions = 5\n");
new_registry($registry, 'fleet', schema => 'public');
my $many = base_server('many', conf => "max_prepared_transactions = 5\nsnowflake.lease_duration = 2s\n");
new_node($many, 'elsewhere', at($registry, 'fleet'));
value($many, 'CREATE DATABASE here TEMPLATE base');

my @members = qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick);
my @held;

# The role in a database: its transactions stay open.
sub take_locks
{
	my ($server, $db) = @_;
	value($server, 'CREATE ROLE nobody LOGIN') if value($server, q{SELECT count(*) FROM pg_roles WHERE rolname = 'nobody'}) eq '0';
	value($server, "GRANT CONNECT, TEMP ON DATABASE $db TO nobody; CREATE SCHEMA own AUTHORIZATION nobody", $db);
	my $session = sub {
		my $session = $server->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'nobody' ]);
		$session->query_safe('BEGIN');
		push @held, $session;
		return $session;
	};
	# A refused statement may not leave a lock behind.
	my $refused = sub {
		my ($sql) = @_;
		my $in = $session->();
		$in->query("SAVEPOINT s; $sql");
		my $error = $in->{stderr};
		$in->{stderr} = '';
		$in->query('ROLLBACK TO s');
		like($error, qr/ERROR:  (?:permission denied|must be owner)/, "$db: $sql");
	};
	for my $table (@members, 'snowflake_registry_lease_id_seq')
	{
		my $in = $session->();
		$in->query_safe("CREATE TEMP VIEW seen AS SELECT * FROM public.$table");
		next if $table =~ /_seq$/;
		$refused->($_)
		  for "LOCK TABLE public.$table IN ACCESS SHARE MODE", "CREATE STATISTICS own.s ON ctid, xmin FROM public.$table",
		  "CREATE TEMP TABLE t (LIKE public.$table)", "CREATE TEMP TABLE t () INHERITS (public.$table)";
	}
	my $in = $session->();
	$in->query_safe("CREATE TEMP TABLE $_ (a int)") for @members;
	$in->query_safe("LOCK TABLE $_ IN ACCESS EXCLUSIVE MODE") for @members;
	$in->query_safe("SELECT pg_advisory_lock(c.tableoid::int, c.oid::int), pg_advisory_lock(c.oid::bigint), pg_advisory_lock(0, c.oid::int)"
		  . " FROM pg_class c WHERE relname LIKE 'snowflake%'");
	$in->query_safe("SELECT pg_advisory_lock(e.tableoid::int, e.oid::int), pg_advisory_lock(e.oid::bigint) FROM pg_extension e");
	my $index = 'CREATE TABLE own.t (a int); CREATE INDEX i ON own.t (a); ALTER INDEX own.i DEPENDS ON EXTENSION snowflake';
	$session->()->query_safe($db eq 'here' ? $index : "$index; PREPARE TRANSACTION 'kept'");
	return;
}

ok(flows($many, $_), "$_: ids flow") for qw(here elsewhere);
take_locks($many, 'here');
take_locks($registry, 'fleet');
is(value($registry, 'SELECT count(*) FROM pg_prepared_xacts'), '1', 'a lock on the extension is prepared');
for my $db (qw(here elsewhere))
{
	my $moved = 0;
	for (1 .. 10)
	{
		my $end = status($many, 'window_end', $db);
		++$moved if wait_until('the window to move', sub {
			my ($rc, $out) = $many->psql($db, 'SELECT snowflake_nextval(); SELECT window_end FROM snowflake_status');
			return $rc == 0 && $out !~ /\Q$end\E/;
		});
	}
	is($moved, 10, "$db: the window moves ten times");
	is(last_error($many, $db), '', '... without an error');
}

# An operator's transaction that stays open, and holds the registry's lock.
value($registry, 'CREATE DATABASE owned');
value($registry, 'CREATE EXTENSION snowflake', 'owned');
for my $call ('snowflake_set_aside(5)', 'snowflake_evict(1, now())', q{snowflake_settle('a test')}, 'snowflake_settled()', 'snowflake_raise(1)')
{
	my ($state) = query_error($registry, 'owned', "BEGIN; SELECT $call; PREPARE TRANSACTION 'p'");
	is($state, '0A000', "$call is not prepared");
}

$_->quit for @held;
$many->stop('fast');
$registry->stop('fast');
done_testing();
