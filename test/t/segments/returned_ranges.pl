# What a keeper returns of a range is nobody's from then on, although the registry has yet to answer:
# a number that is asked for meanwhile is not issued again (G11). A keeper that leaves a registry
# returns its ranges, whatever became of its lease.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $node = own_node('node', patient => 1);
my ($holder, $session) = map { $node->background_psql('postgres') } 1 .. 2;
my ($last, $waits);
for my $try (1 .. 10)
{
	$last = number($node);
	ask($holder, q{BEGIN; SELECT FROM snowflake_segment WHERE name = 'ticket' FOR UPDATE});
	my $keeper = value($node, 'SELECT keeper_pid FROM snowflake_status');
	value($node, "SELECT pg_terminate_backend($keeper)");
	$waits = wait_until('it to wait', sub { value($node, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $keeper") eq 'Lock' },
		sub { !-e "/proc/$keeper" });
	# It waits for a second at most, which a busy machine may miss.
	last if $waits || -e "/proc/$keeper";
	ask($holder, 'COMMIT');
}
ok($waits, 'a keeper that ends waits for the registry');
$session->{stdin} .= "SELECT snowflake_segment_nextval('ticket');\n\\echo done\n";
$session->{run}->pump_nb;
sleep(0.3);
ask($holder, 'COMMIT');
my ($number) = $session->query_until(qr/done\n/, '') =~ /^(\d+)/;
cmp_ok($number, '>', $last, 'a number that is asked for meanwhile');
cmp_ok(number($node), '>', $number, '... is not issued again');
$_->quit for $holder, $session;
$node->stop('fast');

# Whatever became of the lease: the role may acquire one, but not release it.
my $registry = segments_registry('registry');
value($registry, 'GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend TO node; ');
for my $end ('a shutdown', 'a change of the registry')
{
	my $node = segment_node($end =~ s/\W//gr, place($registry), patient => 1);
	value($node, 'SELECT snowflake_nextval()');
	my $last = number($node);
	cmp_ok(allocated_up_to($registry), '>', $last, "$end: the node has more numbers than it has issued");
	if ($end eq 'a shutdown') { $node->stop('fast'); }
	else
	{
		$node->append_conf('postgresql.conf', "snowflake.registry = ''");
		$node->reload;
	}
	ok(wait_until('the numbers', sub { allocated_up_to($registry) == $last }), '... which it returns, although its lease is refused');
	is(value($registry, 'SELECT count(*) > 0 FROM snowflake_registry'), 't', '... and stays');
	$node->stop('fast') unless $end eq 'a shutdown';
}
$registry->stop('fast');
done_testing();
