# What a registry holds back while it settles ("Settling", section 4 of the design): half of what lost commits can have drawn, in
# the ring's order. Watermarks that rule a worker id out, now or when the newest commit was made, make it fewer.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('held_back');
my $ms = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
my $cut = sub
{
	my ($age, $marks, $last_tick) = @_;
	my $session = registry($server, 0, 3);
	my ($lease) = acquire($session, 1000, '1 min');
	$session->query_safe("UPDATE snowflake_registry SET renewed_at = clock_timestamp() - interval '$age'");
	$session->query_safe("INSERT INTO snowflake_watermark SELECT ($lease->{id} + n) % 8, $last_tick FROM generate_series(1, $marks) n");
	$session->query_safe(q{SELECT snowflake_settle('test')});
	my $cut = $session->query_safe('SELECT settling_cuts[1] FROM snowflake_origin');
	$session->quit;
	return $cut;
};
is($cut->('0 s', 0, 0), 4, 'of seven free worker ids the nearer four');
is($cut->('0 s', 4, 1000), 4, '... also where they were used before');
is($cut->('0 s', 4, "$ms + 60000"), 6, 'what is ruled out does not count: two of the other three');
is($cut->('1 h', 4, "$ms - 60000"), 6, '... nor what was ruled out when the newest commit was made');
is($cut->('1 h', 4, "$ms - 4000000"), 4, '... but for what was not any more');

$server->stop('fast');
done_testing();
