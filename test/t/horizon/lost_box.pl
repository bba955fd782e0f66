# While the node's clock leads the wall clock, no id is issued below a horizon that was told although the
# server is restarted, in good order or not, and the black box is gone: what is told is in the data
# directory before. When the wall clock has caught up, nothing is there.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('node', clock => 1, patient => 1, conf => "log_statement = none\nmax_prepared_transactions = 2\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value('CREATE EXTENSION snowflake');
sub drawn { return value('SELECT snowflake_nextval()'); }
sub horizon { return value('SELECT snowflake_horizon()'); }
my $file = $server->data_dir . '/snowflake.horizons/' . value(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});

# The limit that the file has: 0 while the clock does not lead.
sub limit { return -e $file ? unpack('q', substr(slurp_file($file), -8)) : -1; }

sub restart_without_box
{
	my ($mode) = @_;
	$server->stop($mode);
	lose_box($server);
	start_server($server);
	return;
}

# What was told before the clock stepped back, and what is told since.
my $ahead = 0;
for my $mode ('fast', 'immediate')
{
	for my $told_since (0, 1)
	{
		my $case = "$mode, " . ($told_since ? 'told since the step' : 'told before the step');
		# By so much ahead that the clock leads no more.
		$ahead += 120;
		move_clock($server, $ahead);
		my $id = drawn();
		ok(wait_until('the horizon', sub { horizon() > $id }), "$case: there is a horizon");
		my $told = horizon();
		ok(wait_until('the limit to go', sub { limit() == 0 }), '... and no limit in the data directory');
		move_clock($server, $ahead - 35);
		if ($told_since)
		{
			ok(wait_until('the horizon', sub { horizon() > $told }), 'the clock steps back, and the horizon goes on');
			$told = horizon();
		}
		ok(wait_until('the limit', sub { limit() > 0 }), 'the horizon is in the data directory');
		restart_without_box($mode);
		my $next = drawn();
		cmp_ok($next, '>=', $told, 'ids go on above it') or diag(sprintf '%d ms below', ($told - $next) >> 22);
		ok(wait_until('the horizon', sub { horizon() > $next }), '... and so does the horizon');
		# Another time, although nobody asked in between.
		restart_without_box($mode);
		cmp_ok(drawn(), '>=', $next, '... and after another restart');
	}
}
# What is in the data directory is ahead of what was told: a prepared transaction may have ids below it.
my $passed = drawn();
ok(wait_until('the horizon', sub { horizon() > $passed }), 'there is a horizon');
my $prepared = value('BEGIN; SELECT snowflake_nextval(); CREATE TABLE t (); PREPARE TRANSACTION \'p\'');
move_clock($server, $ahead - 40);
ok(wait_until('the limit', sub { limit() > 0 }), 'the clock leads while a transaction is prepared');
for my $mode ('fast', 'immediate')
{
	restart_without_box($mode);
	cmp_ok(drawn(), '>', $prepared, "$mode: ids go on above its ids");
	horizon();
	sleep 1;
	cmp_ok(horizon(), '<=', $prepared, '... which the horizon does not pass');
}
value(q{COMMIT PREPARED 'p'});
ok(wait_until('the horizon', sub { horizon() > $prepared }), '... before its end');
# A file that is not whole is none.
$server->stop;
truncate $file, 10 or die "$file: $!";
start_server($server);
like(drawn(), qr/^\d+$/, 'what is not whole is not used');
$server->stop;
done_testing();
