# Planned switchovers of a registry lose nothing, so they hold nothing back. There are six in a row,
# each a fast shutdown of the primary and a promotion of its standby, with 32 worker ids, while the
# registry's own node issues under load.
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest qw(lease_function);
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $conf = "log_statement = none\nwal_retrieve_retry_interval = 100ms\nautovacuum = off\nwal_keep_size = 256MB\nsnowflake.start_timeout = 20s\n";
my $one = new_server('one', streaming => 1, conf => $conf);
start_server($one);
value($one, 'CREATE EXTENSION snowflake; ' . small_layout() . '; CREATE ROLE node LOGIN; GRANT EXECUTE ON FUNCTION snowflake_lease_acquire TO node');
my ($primary, $standby) = ($one, standby_of($one, 'two'));
my (%workers, @files, @held_back);

sub load
{
	my ($server) = @_;
	my $load = start_clients($server, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT FROM pg_sleep(0.03);\n" x 20);
	push @files, @{ $load->{files} };
	return $load;
}

# A node on another server, whose lease survives the switchovers.
my ($other, $lease, $secret) = split /\|/, value($one, lease_function()
	  . q{SELECT worker_id, lease_id, secret FROM pg_temp.lease('other', } . node_tick() . q{, '10 min')});
my $load = load($primary);
for my $n (1 .. 6)
{
	my $before = client_bytes($load);
	ok(wait_until('ids', sub { client_bytes($load) > $before + 10_000 }), "$n: the primary issues");
	$workers{ value($primary, 'SELECT worker FROM snowflake_status') }++;
	stop_clients($load);
	$primary->stop('fast');
	$standby->promote;
	# In every second round that node calls first.
	isnt(value($standby, "SELECT window_end FROM snowflake_lease_extend($lease, sha256('$secret'), " . node_tick() . q{, '10 min', 0, 0, 0)}), '',
		'... the promoted standby extends a lease') if $n % 2 == 0;
	my ($state, $error) = query_error($standby, 'postgres', 'SELECT snowflake_nextval()');
	is($state, '00000', '... the promoted standby issues at once') or diag($error);
	is(value($standby, 'SELECT timeline, settles_until IS NULL, clean_at IS NULL FROM snowflake_origin'), ($n + 1) . '|t|t',
		'... knows of no loss, and has taken the mark away');
	$load = load($standby);
	($primary, $standby) = ($standby, $primary);
	ok(follow($standby, $primary), '... which the old primary follows');
	push @held_back, grep { /SF004|held back until/ } split /\n/, PostgreSQL::Test::Utils::slurp_file($primary->logfile);
}
is("@held_back", '', 'nothing was ever held back');
# On a slow machine the first windows, of ten seconds, end meanwhile, and a worker id is used again
# once there is no other.
my %acquired = map { $_ => 1 } acquire_leases($primary, 31);
my @acquired = sort { $a <=> $b } keys %acquired;
is(scalar(@acquired), 30, 'all other worker ids can be had at once');
is(scalar(grep { $_ == $other } @acquired), 0, '... but for the one that a node has');
unused($primary, @acquired);
stop_clients($load);
my ($ids, $twice) = compare_ids(@files);
is($twice, 0, "none of $ids ids was issued twice");
figures('%d ids across six switchovers under worker ids %s, %d duplicates', $ids, join(' ', sort { $a <=> $b } keys %workers), $twice);

### What a mark does not show

# If only the keeper is ended, other processes continue.
value($primary, 'SELECT snowflake_nextval()');
value($primary, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
ok(wait_until('the keeper to end', sub { value($primary, 'SELECT keeper_pid IS NULL FROM snowflake_status') eq 't' }), 'a keeper is ended by hand');
is(value($primary, 'SELECT clean_at IS NULL FROM snowflake_origin'), 't', '... which is no clean shutdown');

# After the mark, nothing that could be lost may follow: an immediate shutdown leaves no mark.
value($primary, 'SELECT snowflake_nextval()');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$primary->stop('immediate');
$standby->promote;
value($standby, 'SELECT snowflake_nextval()');
is(value($standby, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'a failover without a mark settles');
$standby->stop('immediate');
done_testing();
