# What roles can cause by any number of calls is logged once a minute: that leases were restored, as
# a role can claim of leases that it never had. Once an hour is logged that two nodes have one name
# and role, as a clone with its original's password does. A node that acquires another lease is not
# taken for two.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = new_server('registry', clock => 1, preload => 0, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);
my $session = registry($server, 0, 5);
my $offset = -s $server->logfile;
# Messages since the last call that match.
my $logged = sub {
	my ($pattern) = @_;
	my $log = slurp_file($server->logfile, $offset);
	return scalar(() = $log =~ /$pattern/g);
};
my $next_minute = sub {
	$offset = -s $server->logfile;
	let_pass($server, 61 - $session->query_safe(q{SELECT extract(second FROM clock_timestamp())}));
};

my $next_hour = sub {
	$offset = -s $server->logfile;
	let_pass($server, 3601 - $session->query_safe(q{SELECT extract(minute FROM t) * 60 + extract(second FROM t) FROM clock_timestamp() t}));
};

### Claims

my ($mine) = acquire($session, 1000);
my $claims = 0;
# A claim of a worker id that the ring has not reached.
my $claim = sub {
	my $worker = ($mine->{worker} + 8 + $claims++) % 32;
	my $id = $session->query_safe('SELECT last_lease_id FROM snowflake_origin') + 1;
	return (try_sql($session, "SELECT window_end FROM snowflake_lease_extend($id, sha256('$id'), 2000, '1 min', 5000, $worker, 1000)"))[1];
};
$next_minute->();
is($claim->(), '62000', "claim $claims is believed") for 1 .. 10;
is($logged->('restored lease'), 1, 'ten claims: one message');
$next_minute->();
$claim->() for 1 .. 2;
is($logged->('restored lease'), 1, 'a minute later: another one');
is($logged->('STATEMENT'), 0, '... without a statement');
is($logged->('Of the registry\'s leases, 11 were restored'), 1, '... which counts them');
$session->query_safe('DELETE FROM snowflake_registry; SELECT snowflake_settled()');

### Namesakes

my $node = sub {
	my ($name, $now) = @_;
	my $secret = new_secret();
	my %lease = (secret => $secret);
	@lease{qw(id worker start)} = split /\|/, $session->query_safe("SELECT lease_id, worker_id, window_start FROM snowflake_lease_acquire('$name', 0, $now, '1 min', sha256('$secret'), 0, NULL)");
	return \%lease;
};
my $two = 'two nodes have the name';
my $now = 100_000;
my $first = $node->('other', $now);
my $second = $node->('another', $now);
for (1 .. 3)
{
	$next_hour->();
	extend($session, $_, $now += 1000) for $first, $second, $first;
	is($logged->($two), 0, 'nodes with names of their own');
}

my $old = $node->('node', $now);
extend($session, $old, $now += 1000);
$next_hour->();
my $new = $node->('node', $now);
extend($session, $new, $now += 1000);
$next_hour->();
extend($session, $_, $now += 1000) for $new, $old;
is($logged->($two), 0, 'a node with another lease, whose extend of its old one was late');
for (1 .. 2)
{
	$next_hour->();
	extend($session, $_, $now += 1000) for $new, $new;
	is($logged->($two), 0, '... and which goes on');
}

for (1 .. 2)
{
	$next_hour->();
	extend($session, $_, $now += 1000) for $old, $new, $old, $new;
	is($logged->("$two \"node\" and the role \"$ENV{PGUSER}\"\n.*Both extend their leases, of worker ids $old->{worker} and $new->{worker}\\."), 1,
		'two that extend in turns are two nodes');
}
my $third = $node->('node', $now);
extend($session, $_, $now += 1000) for $old, $new, $third;
$next_hour->();
extend($session, $_, $now += 1000) for $old, $new, $third;
is($logged->($two), 1, 'before a third one extends in turns with them');
$next_hour->();
extend($session, $_, $now += 1000) for $old, $new, $third;
is($logged->($two), 1, '... and then, one message');
$session->quit;
$server->stop('fast');
done_testing();
