# A registry whose server has no slot in shared memory for it gets another keeper after its keeper was
# ended: the old one leaves no lock that would be taken for a keeper.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('server', preload => 1, conf => "snowflake.max_databases = 1\n");
start_server($server);
sub value { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }

$server->safe_psql('postgres', 'CREATE DATABASE with_slot');
$server->safe_psql($_, 'CREATE EXTENSION snowflake') for qw(postgres with_slot);
$server->safe_psql('with_slot', 'SELECT snowflake_nextval()');

my $keepers = q{FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'postgres'};
my $lock = q{SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'pg_extension'::regclass AND objsubid = 1};

# What a node of another server asks, and the keeper that is there afterwards.
sub keeper_after_a_call
{
	my ($node) = @_;
	value(qq{SELECT lease_id FROM snowflake_lease_acquire('$node', 0,
		floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000, '10 s', sha256('$node'), 0, NULL)});
	my $pid = '';
	ok(wait_until('a keeper', sub { ($pid = value("SELECT pid $keepers")) ne '' }), "a call of $node starts a keeper");
	ok(wait_until('its lock', sub { value($lock) eq '1' }), '... which holds its lock');
	return $pid;
}

my $first = keeper_after_a_call('first');
value("SELECT pg_terminate_backend($first)");
ok(wait_until('the end of the keeper', sub { value("SELECT count(*) $keepers") eq '0' }), 'the keeper ends');
is(value($lock), '0', '... and its lock with it');
isnt(keeper_after_a_call('second'), $first, 'another keeper takes its place');

done_testing();
