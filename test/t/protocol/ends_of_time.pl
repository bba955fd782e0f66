# No window is outside the layout's time, and no window wraps around at its end (G1). The test tries
# a now_tick below the layout's first tick, at its last tick and above it, and a registry in which
# every worker id has used the last tick.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('ends_of_time');
my $session = registry($server);
for my $now (q{'-9223372036854775808'}, -1, 0)
{
	my ($acquired) = acquire($session, $now, '1 min');
	is("$acquired->{start} $acquired->{end}", '0 60000', "now_tick $now: a window from 0 on");
}
my ($acquired) = acquire($session, $max_tick, '1 min');
is("$acquired->{start} $acquired->{end}", "$max_tick " . ($max_tick + 1), 'the last tick of all: a window of one');
for my $now ($max_tick + 1, '9223372036854775807')
{
	my (undef, $state, $text) = acquire($session, $now);
	is($state, 'SF003', "now_tick $now: the layout's time is used up");
	like($text, qr/DETAIL:.*HINT:/s, '... with detail and hint');
}
# The last tick of every worker id is used: none is left, and nothing wraps around.
$session->query_safe("ALTER TABLE $_ DISABLE TRIGGER snowflake_guard_table") for 'snowflake_registry', 'snowflake_watermark';
$session->query_safe("TRUNCATE snowflake_registry, snowflake_watermark");
$session->query_safe("ALTER TABLE $_ ENABLE ALWAYS TRIGGER snowflake_guard_table") for 'snowflake_registry', 'snowflake_watermark';
$session->query_safe("INSERT INTO snowflake_watermark SELECT n, $max_tick FROM generate_series(0, 1023) n");
is((acquire($session, $max_tick))[1], 'SF003', 'all watermarks at the last tick: used up');
is((acquire($session, 5))[1], 'SF003', '... whatever the clock shows');
$session->quit;

$server->stop('fast');
done_testing();
