# A node whose window is still to begin draws another worker id as soon as one helps (section 6 of the design); one whose clock
# stepped back while none helps says that it is the clock.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('future', clock => 1, patient => 1, conf => "snowflake.max_clock_skew = 1s\n");
start_server($server);
# Two worker ids.
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->safe_psql('postgres', q{SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 0, 1, 12)});
my $now_tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
sub status { return $server->safe_psql('postgres', "SELECT $_[0] FROM snowflake_status"); }
sub next_id { return (query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0]; }

# Another node, a second of whose clock nobody trusts, has one of them. This one has the other while its clock is an hour ahead for a while.
my ($lease, $token, $start) = split /\|/, $server->safe_psql('postgres',
	"SELECT lease_id, token, window_start FROM snowflake_acquire('other', 0, $now_tick, '1 day')");
move_clock($server, 3600);
is(next_id(), '00000', 'with the clock an hour ahead ids flow');
my $worker = status('worker');
my $keeper = status('keeper_pid');
$server->safe_psql('postgres', "SELECT pg_terminate_backend($keeper)");
ok(wait_until('the keeper to end', sub { !-e "/proc/$keeper" }), 'the worker id goes back');
move_clock($server, 0);

is(next_id(), 'SF002', 'with the clock put right the only free worker id was used up to later');
is(status('worker'), $worker, '... it is the same one');
is(status("window_start > now() + interval '50 min'"), 't', '... whose window begins in an hour');
my $drawn = status('leases_drawn');
my $first = $server->safe_psql('postgres', q{SELECT last_value FROM snowflake_registry_lease_id_seq});

# The keeper asks meanwhile. It draws nothing that is no better, and says nothing of it.
ok(wait_until('the keeper to ask', sub { $server->safe_psql('postgres', q{SELECT last_value FROM snowflake_registry_lease_id_seq}) > $first }),
	'the keeper asks whether another one helps');
is(next_id(), 'SF002', '... none does');
is(status('leases_drawn'), $drawn, '... so none was drawn');
is(status('last_error IS NULL'), 't', '... which is no error');
is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), '2', '... or left behind');

$server->safe_psql('postgres', "SELECT snowflake_release($lease, '$token', $start)");
my $began = time();
ok(wait_until('ids', sub { next_id() eq '00000' }), 'the other node gives its worker id back, and ids flow');
my $took = time() - $began;
figures('ids flowed %.1f s after a worker id that helps was free', $took);
is(status('window_start <= clock_timestamp()'), 't', '... not by the lease of the future');
isnt(status('worker'), $worker, '... under that worker id');
ok(wait_until('the release', sub {
	$server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry') eq '1' }), 'the lease of the future goes back');
is(status('last_error IS NULL'), 't', 'nothing is wrong');

# Back by less than what the other worker id was used up to, and then while somebody has that one.
my $behind = qr{the clock is (?:[345]\d|60)\.\d{3} s behind the last id};
for my $why ('the other worker id was used up to later', 'every worker id is leased')
{
	$server->safe_psql('postgres', "SELECT snowflake_acquire('other', 0, $now_tick, '1 day')") if $why =~ /leased/;
	move_clock($server, 0);
	is(next_id(), '00000', 'ids flow');
	move_clock($server, -60);
	# It would wait for the clock.
	my ($state, $error) = query_error($server, 'postgres', q{SET snowflake.start_timeout = '2s'; SELECT snowflake_nextval()});
	is($state, 'SF002', "stepped back, and $why");
	like($error, $behind, '... says by how much');
	like($error, qr/DETAIL:  The clock shows .*; ids may have been issued up to .*$why.*HINT: /s, '... and why there is no other') if $why =~ /leased/;
	is(status('state'), 'clock behind', '... as does the view');
}
move_clock($server, 0);
is(next_id(), '00000', 'the clock put right, ids flow');
$server->stop('fast');
done_testing();
