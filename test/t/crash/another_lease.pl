# After a crash the server does not use a lease that does not match what it finds when it starts: a
# lease of a dropped extension or of a dropped database, or a lease that has expired. A lease of
# another registry is used until the keeper has reached the registry that is set. Ids continue under
# another lease, above all previous ids, and none appears twice (G1).
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use lib 'test/perl';
use KillTest;
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $registry = make_registry('registry');
my %place;
for my $db (qw(first second))
{
	value($registry, "CREATE DATABASE $db TEMPLATE postgres");
	$place{$db} = place($registry) =~ s/dbname=postgres/dbname=$db/r;
}
my $node = new_node('node', patient => 1);
value($node, 'CREATE DATABASE base');
value($node, 'CREATE EXTENSION snowflake; ' . small_layout(), 'base');

my (%seen, $twice, %highest);

# Gets a thousand ids of a database, each above all previous ids of the same name. Returns the
# lease, and the number of ids since the start.
sub go_on
{
	my ($db, $what) = @_;
	my ($rc, $out, $err) = $node->psql($db, "SELECT snowflake_nextvals(1000); SELECT lease_id || ' of ' || worker, leases_acquired_total FROM $node_views");
	my @ids = split /\n/, $out // '';
	my ($lease, $acquired) = split /\|/, pop @ids // '';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($err, '', "$what ids flow");
	is(scalar(grep { $_ <= ($highest{$db} // 0) } @ids), 0, '... above all before');
	$highest{$db} = $ids[-1];
	$twice += grep { $seen{$_}++ } @ids;
	return ($lease, $acquired);
}

sub crash { $node->stop('immediate'); $node->start; return; }

# A node with a registry on another server.
sub begin
{
	my ($db, %settings) = @_;
	value($node, "CREATE DATABASE $db TEMPLATE base");
	%settings = (registry => $place{first}, %settings);
	value($node, "ALTER DATABASE $db SET snowflake.$_ = '$settings{$_}'") for sort keys %settings;
	return;
}

for my $case ([ 'before', 0, 1 ], [ 'around', 1, 0 ])
{
	my ($when, $after, $before) = @$case;
	subtest "an extension dropped and created $when a crash" => sub {
		go_on('postgres', 'at first');
		value($node, 'DROP EXTENSION snowflake');
		my $create = 'CREATE EXTENSION snowflake; ' . small_layout();
		value($node, $create) if $before;
		crash();
		value($node, $create) if $after;
		my (undef, $acquired) = go_on('postgres', 'then');
		is($acquired, 1, '... under a lease of its own');
		is(value($node, 'SELECT lease_id, worker_id FROM snowflake_registry'), value($node, 'SELECT lease_id, worker FROM snowflake_status'),
			'... which its registry knows');
	};
}

subtest 'another registry' => sub {
	begin('moved');
	my ($old) = go_on('moved', 'at first');
	value($node, 'ALTER DATABASE moved RESET snowflake.registry');
	$node->stop('immediate');
	$node->append_conf('postgresql.conf', "snowflake.registry = '$place{second}'");
	value($registry, 'ALTER DATABASE second ALLOW_CONNECTIONS false');
	$node->start;
	my ($kept) = go_on('moved', 'while the new one cannot be reached,');
	is($kept, $old, '... under the lease in hand');
	value($registry, 'ALTER DATABASE second ALLOW_CONNECTIONS true');
	ok(wait_until('the new registry', sub { value($node, q{SELECT leases_acquired_total FROM snowflake_metrics}, 'moved') eq '1' }), '... and later from that one');
	my ($new, $acquired) = go_on('moved', 'then');
	is($acquired, 1, '... under a lease that was acquired');
	is(value($registry, q{SELECT lease_id || ' of ' || worker_id FROM snowflake_registry WHERE node LIKE '%/moved'}, 'second'), $new, '... from the new one');
	is(value($registry, q{SELECT lease_id || ' of ' || worker_id FROM snowflake_registry WHERE node LIKE '%/moved'}, 'first'), $old, '... while the old one was told nothing');
	$node->append_conf('postgresql.conf', "snowflake.registry = ''");
	$node->reload;
};

subtest 'a database dropped and created anew' => sub {
	for my $again (0, 1)
	{
		begin('anew') if !$again;
		my $oid = value($node, q{SELECT oid FROM pg_database WHERE datname = 'anew'});
		my ($old) = go_on('anew', 'at first');
		alone($node, 'DROP DATABASE anew');
		crash();
		# The second time with the same number as the previous database: its extension has the
		# template's number.
		value($node, 'CREATE DATABASE anew ' . ($again ? "OID $oid " : '') . 'TEMPLATE base');
		value($node, "ALTER DATABASE anew SET snowflake.registry = '$place{first}'");
		my ($new, $acquired) = go_on('anew', 'then');
		is($acquired, 1, '... under a lease that was acquired');
		isnt($new, $old, '... and is another one');
		is(value($registry, q{SELECT string_agg(lease_id || ' of ' || worker_id, ', ') FROM snowflake_registry WHERE node LIKE '%/anew'}, 'first'), $new,
			'... the only one of the database');
	}
};

subtest 'a window that ends while the server is down' => sub {
	begin('late', registry => place($registry), lease_duration => '2s');
	my ($old) = go_on('late', 'at first');
	my $is_over = q{SELECT NOT EXISTS (SELECT FROM snowflake_registry WHERE node LIKE '%/late' AND window_end > } . node_tick() . ')';
	my $down = sub {
		$node->stop('immediate');
		$_[0]->();
		ok(wait_until('the window to end', sub { value($registry, $is_over) eq 't' }), 'its window ends');
	};
	$down->(sub { });
	$node->start;
	is_deeply([ go_on('late', 'nobody took it:') ], [ $old, 0 ], '... under the same lease');

	my @others;
	$down->(sub { @others = acquire_leases($registry, 32) });
	my ($worker) = $old =~ / of (\d+)/;
	push @others, acquire_leases($registry, 1) if @others < 32;
	is($others[-1], $worker, 'another node takes the worker id, the last of all');
	$node->start;
	my $state;
	# SF001, until the keeper has asked.
	wait_until('what the registry says', sub { ($state) = query_error($node, 'late', "SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()"); return $state ne 'SF001' });
	is($state, 'SF004', '... and there is no id');
	value($registry, "DELETE FROM snowflake_registry WHERE worker_id = $others[0]");
	ok(wait_until('an id', sub { ($node->psql('late', 'SELECT snowflake_nextval()'))[0] == 0 }), 'with another worker id to be had there is one');
	my ($new, $acquired) = go_on('late', 'then');
	like($new, qr/ of $others[0]$/, '... of that worker id');
	is($acquired, 1, '... which was acquired');
};

is($twice, 0, 'of ' . keys(%seen) . ' ids none was issued twice');
$node->stop('immediate');
$registry->stop('immediate');
done_testing();
