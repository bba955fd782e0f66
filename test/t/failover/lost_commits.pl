# A registry fails over to an asynchronous standby and loses its newest commits, twice ("Settling",
# section 4 of the design).
#
# Registries: first -> next -> last, each a standby of the one before. The nodes are databases of
# one server:
#   early      all registries know its lease, but its last moves of the window are lost; it is cut
#              off together with the first registry, and runs on
#   steady     always follows the registry
#   lost       its lease is lost with the first registry, and it is cut off together with it
#   middle     acquired its lease from the second registry, follows
#   lost_too   its lease is lost with the second registry, and it is cut off together with it
#   late       acquired its lease from the third registry
# In the end the test compares all ids of all nodes. It needs 5 s of processor time for six nodes under
# load, which outlive leases.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

seed();
my $layout = q{(true, 'epoch=1735689600000 tick=1ms time=41 worker=5 seq=12')};
my $acquire = q{snowflake_lease_acquire('filler', 0,
	floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)};

sub value { my ($server, $db, $sql) = @_; return $server->safe_psql($db, $sql); }

### Three registries and the nodes

my $first = new_server('first', streaming => 1, preload => 0,
	conf => "snowflake.max_clock_skew = 10s\nsnowflake.lease_duration = 10s\nwal_retrieve_retry_interval = 100ms\nwal_receiver_status_interval = 1s\n");
$first->start;
value($first, 'postgres', "CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES $layout");

my $next = standby_of($first, 'next');
my $last = standby_of($next, 'last');

sub place { return 'host=' . join(',', map { $_->host } @_) . ' port=' . join(',', map { $_->port } @_) . " dbname=postgres user=$ENV{PGUSER}"; }
my $anywhere = place($first, $next, $last) . ' target_session_attrs=read-write';

my $nodes = new_server('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 1s\nmax_worker_processes = 16\n");
start_server($nodes);
value($nodes, 'postgres', 'CREATE DATABASE base');
value($nodes, 'base', "CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES $layout");

my (%loads, %worker);

# A node starts: it gets its first id without a wait for the registry, and a client gets ids from
# then on.
sub begin
{
	my ($name, $conninfo) = @_;
	value($nodes, 'postgres', "CREATE DATABASE $name TEMPLATE base");
	value($nodes, 'postgres', "ALTER DATABASE $name SET snowflake.registry = '$conninfo'");
	my $log = -s $nodes->logfile;
	my $began = time();
	my ($code, $error) = query_error($nodes, $name, q{SET snowflake.start_timeout = '30s'; SELECT snowflake_nextval()});
	figures('the first id of %s: %.1f s', $name, time() - $began);
	is($code, '00000', "$name acquires a lease at once") or diag($error);
	unlike(slurp_file($nodes->logfile, $log), qr/the registry refused/, '... without a wait') if $code eq '00000';
	$worker{$name} = value($nodes, $name, 'SELECT worker FROM snowflake_status');
	$loads{$name} = start_clients($nodes, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT pg_sleep(0.1);\n" x 20, dbname => $name);
	return;
}

sub ids_flow
{
	my ($name) = @_;
	my $before = client_bytes($loads{$name});
	# A line "connection" contains no id.
	return wait_until("ids of $name", sub { client_bytes($loads{$name}) > $before + 1000 });
}

sub renewed { my ($server, $name) = @_; return value($server, 'postgres', "SELECT extended_at FROM snowflake_registry WHERE node LIKE '%/$name'"); }

sub all_different
{
	my %seen;
	$seen{$_}++ for values %worker;
	return is(scalar(grep { $_ > 1 } values %seen), 0, 'every node has a worker id of its own: ' . join(', ', map { "$_ $worker{$_}" } sort keys %worker));
}

# From here on the other server receives none of this server's commits.
sub cut
{
	my ($primary, $standby) = @_;
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn($standby == $next ? 'insert' : 'flush'));
	$standby->append_conf('postgresql.conf', "primary_conninfo = ''");
	$standby->reload;
	return wait_until('the standby to be cut off', sub { value($standby, 'postgres', 'SELECT count(*) FROM pg_stat_wal_receiver') eq '0' });
}

begin('early', place($first));
begin('steady', $anywhere);

### The first failover

ok(cut($first, $next), 'the standby is cut off');
begin('lost', place($first));
# On the standby "early" must look as if its window had ended, although it runs on.
my $known_end = value($next, 'postgres', "SELECT snowflake_tick_timestamp(window_end) FROM snowflake_registry WHERE node LIKE '%/early'");
ok(wait_until('the lease that the standby knows to end', sub { value($next, 'postgres', "SELECT clock_timestamp() > '$known_end'") eq 't' }),
	'in the standby the lease of "early" has ended');
is(value($next, 'postgres', q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/lost'}), '0', '... which has not heard of "lost"');
my %renewed = map { $_ => renewed($first, $_) } qw(early lost);
# A node whose window has just moved can issue for the longest time. All ask for a longer one now.
set_lease_duration($nodes, '10s');
ok(wait_until('a move of the windows', sub { !grep { renewed($first, $_) eq $renewed{$_} } keys %renewed }), '... while "early" moves its window in the primary');
$first->stop('immediate');
$next->promote;
begin('middle', $anywhere);
all_different();
for my $name (qw(early lost))
{
	ok(ids_flow($name), "$name issues after the first failover");
	is(value($nodes, $name, 'SELECT state FROM snowflake_status'), 'issuing', "$name lives on, cut off");
}
ok(ids_flow($_), "$_ issues after the first failover") for qw(steady middle);
is(value($next, 'postgres', 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'the registry settles');
my $why = qr/registry settles until .*: its server is on another timeline/;
like(slurp_file($next->logfile), $why, '... by itself, whatever nodes tell it');
ok(wait_until('steady to be heard of', sub { value($next, 'postgres', q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/steady' AND extended_at > (SELECT acquired_at FROM snowflake_registry WHERE node LIKE '%/middle')}) eq '1' }),
	'the node that follows moves its window in the new registry');

### The second failover, while the registry settles

ok(wait_until('the third to follow the second', sub { value($last, 'postgres', 'SELECT received_tli = 2 FROM pg_stat_wal_receiver') eq 't' }), 'the third registry follows');
ok(cut($next, $last), '... and is cut off');
is(value($last, 'postgres', q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/middle'}), '1', 'it knows of "middle"');
begin('lost_too', place($next));
is(value($next, 'postgres', 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'the second failover comes while the registry settles');
$next->stop('immediate');
$last->promote;
is(value($last, 'postgres', q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/lost_too'}), '0', 'the third registry has not heard of "lost_too"');
begin('late', $anywhere);
all_different();
ok(ids_flow($_), "$_ issues after the second failover") for qw(lost_too steady middle late);
is(value($last, 'postgres', q{SELECT timeline || ' ' || (settles_until > clock_timestamp()) FROM snowflake_origin}), '3 true', 'the registry settles again');
like(slurp_file($last->logfile), $why, '... by itself');

# The next leases: with "late", half of the reserve, from the other end than the worker id of
# "lost_too".
my ($rc, $acquired, $refused) = $last->psql('postgres',
	"\\set VERBOSITY verbose\n" . "SELECT worker_id FROM $acquire;\n" x 4);
die $refused if $rc != 0 && $refused !~ /ERROR:\s+SF004:/;
my @fillers = grep { $_ ne '' } split /\n/, $acquired;
my %held = reverse %worker;
is(join(', ', grep { defined } map { $held{$_} } @fillers), '', 'none of the next ' . @fillers . ' worker ids is held by a node');
cmp_ok(scalar(@fillers), '>=', 1, '... and there are some');

### After settling

ok(wait_until('it to settle', sub { value($last, 'postgres', 'SELECT coalesce(settles_until < clock_timestamp(), true) FROM snowflake_origin') eq 't' }), 'the time is over');
# A keeper reads a database's settings when it starts.
for my $name (qw(early lost lost_too))
{
	ok(wait_until("$name to end", sub { value($nodes, $name, 'SELECT now() > window_end FROM snowflake_status') eq 't' }), "$name ends with its window");
	value($nodes, 'postgres', "ALTER DATABASE $name SET snowflake.registry = '$anywhere'");
	value($nodes, 'postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$name' AND backend_type = 'snowflake keeper'");
}
ok(ids_flow($_), "$_ issues when all has settled") for qw(early lost lost_too steady middle late);
%worker = map { $_ => value($nodes, $_, 'SELECT worker FROM snowflake_status') } keys %worker;
all_different();
stop_clients($_) for values %loads;
my ($ids, $twice) = compare_ids(map { @{ $_->{files} } } values %loads);
is($twice, 0, "of $ids ids of six nodes none was issued twice");
figures('%d ids of six nodes across two failovers, %d duplicates', $ids, $twice);
$nodes->stop('fast');
$last->stop('smart');
done_testing();
