# A registry that declares a message of 1 GB, and sends as fast as it can, does not make the keeper
# large: neither as an answer nor while the node connects. Ids go on under the lease.
use strict;
use warnings;

use FakeRegistry;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $fake = FakeRegistry->new;
my $node = new_server('node', conf => qq{
snowflake.registry = 'host=127.0.0.1 port=@{[$fake->port]} dbname=x user=x'
snowflake.start_timeout = 200ms
snowflake.lease_duration = 5min
});
start_server($node);
value('CREATE EXTENSION snowflake');

sub value { return $node->safe_psql('postgres', $_[0]); }
sub status { return value("SELECT $_[0] FROM snowflake_status"); }
sub ids { return ($node->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0; }

# Memory that the keeper has had at most, in kB.
sub peak
{
	my ($kb) = slurp_file('/proc/' . status('keeper_pid') . '/status') =~ /VmHWM:\s+(\d+)/;
	return $kb;
}

# The fake registry answers every lease with a window of 5 s, so the keeper soon extends it.
ok(wait_until('an id', \&ids), 'the node has a lease');
my $pid = status('keeper_pid');
my $before = peak();

my $huge = 'D' . pack('N', 0x3fffffff);
sub grows_not
{
	my ($name, $error, %answers) = @_;
	my $last = '';
	$fake->answer(%answers);
	ok(wait_until($name, sub { ($last = status(q{coalesce(last_error_code || ' ' || last_error, '')})) =~ $error }), $name)
	  or diag($last);
	cmp_ok(peak() - $before, '<', 50_000, '... does not make the keeper large');
	is(status('keeper_pid'), $pid, '... nor ends it');
	return;
}

grows_not('an answer of 1 GB', qr/^08P01 invalid response from registry \(A message is too long or violates the protocol: /,
	extend => { first => $huge, flood => 1 });
grows_not('a notice of 1 GB while the node connects', qr/^08006 could not connect to the registry/,
	authentication => { then => 'N' . pack('N', 0x3fffffff), flood => 1 });
$fake->answer;
ok(wait_until('an id', \&ids), 'ids go on');
is(status('leases_drawn'), 1, '... under the lease');
$node->stop('fast');
$fake->finish;
done_testing();
