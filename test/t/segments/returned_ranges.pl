# What a keeper returns of a range is nobody's from then on, although the registry has yet to answer: a number that is asked for
# meanwhile is not issued again (G11).
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $node = own_node('node');
my ($holder, $session) = map { $node->background_psql('postgres') } 1 .. 2;
my $last = number($node);
ask($holder, q{BEGIN; SELECT FROM snowflake_segment WHERE name = 'ticket' FOR UPDATE});
my $keeper = value($node, 'SELECT keeper_pid FROM snowflake_status');
value($node, "SELECT pg_terminate_backend($keeper)");
ok(wait_until('it to wait', sub { value($node, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $keeper") eq 'Lock' }),
	'a keeper that ends waits for the registry');
$session->{stdin} .= "SELECT snowflake_segment_nextval('ticket');\n\\echo done\n";
$session->{run}->pump_nb;
sleep(0.3);
ask($holder, 'COMMIT');
my ($number) = $session->query_until(qr/done\n/, '') =~ /^(\d+)/;
cmp_ok($number, '>', $last, 'a number that is asked for meanwhile');
cmp_ok(number($node), '>', $number, '... is not issued again');
$_->quit for $holder, $session;
$node->stop('fast');
done_testing();
