# No id below a reported horizon is issued, nor accepted by the trigger, even if the clock steps
# back, the server is restarted, cleanly or after a crash, and the black box is lost. A file in the
# data directory stores a limit for reported horizons.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('node', clock => 1, patient => 1, conf => "log_statement = none\nmax_prepared_transactions = 2\nrestart_after_crash = on\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value('CREATE EXTENSION snowflake');
sub new_id { return value('SELECT snowflake_nextval()'); }
sub horizon { return value('SELECT snowflake_horizon()'); }
my $file = $server->data_dir . '/snowflake.horizons/' . value(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});

# The limit in the file.
sub limit { return -e $file ? unpack('q', substr(slurp_file($file), -8)) : -1; }

sub restart_without_box
{
	my ($mode) = @_;
	$server->stop($mode);
	lose_box($server);
	start_server($server);
	return;
}

is(limit(), -1, 'nobody has asked');
# The postmaster has the memory, although no process finds it by its name.
my $first = new_id();
ok(wait_until('the horizon', sub { horizon() > $first }), 'there is a horizon');
lose_box($server);
my $next_id = new_id();
ok(wait_until('the horizon', sub { horizon() > $next_id }), '... which rises without the name of the box');
my $reported = horizon();
ok(kill_backend($server), 'a session is killed');
cmp_ok(horizon(), '>=', $reported, '... and the first horizon is not lower');
my $ahead = 0;
for my $mode ('fast', 'immediate')
{
	for my $when ('after a report', 'before a report', 'while the server is down', 'after the box was removed')
	{
		my $case = "$mode, the clock steps back $when";
		# So far ahead that the node's clock no longer leads.
		$ahead += 120;
		move_clock($server, $ahead);
		my $removed = $when eq 'after the box was removed';
		lose_box($server) if $removed;
		my $id = new_id();
		ok(wait_until('the horizon', sub { horizon() > $id }), "$case: there is a horizon");
		my $reported = horizon();
		cmp_ok(limit(), '>=', $reported, '... and a limit in the data directory');
		if ($when ne 'while the server is down') { move_clock($server, $ahead - 35); }
		if ($when eq 'before a report')
		{
			ok(wait_until('the horizon', sub { horizon() > $reported }), 'the horizon goes on');
			$reported = horizon();
			cmp_ok(limit(), '>=', $reported, '... below the limit');
		}
		$server->stop($mode);
		lose_box($server) unless $removed;
		move_clock($server, $ahead - 35);
		start_server($server);
		my $next = new_id();
		cmp_ok($next, '>=', $reported, 'ids go on above it') or diag(sprintf '%d ms below', ($reported - $next) >> 22);
		ok(wait_until('the horizon', sub { horizon() > $next }), '... and so does the horizon');
		# Once more, although no session called snowflake_horizon() in between.
		restart_without_box($mode);
		cmp_ok(new_id(), '>=', $next, '... and after another restart');
	}
}
# A step back that is not bridged: ids are below the reported horizon, and are not accepted.
$ahead += 3600;
move_clock($server, $ahead);
my $early = new_id();
ok(wait_until('the horizon', sub { horizon() > $early }), 'there is a horizon');
my $far = horizon();
value('CREATE TABLE outbox (id bigint); CREATE TRIGGER claim BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION snowflake_claim(\'id\')');
sub insert { return ($server->psql('postgres', 'INSERT INTO outbox VALUES (snowflake_nextval())'))[2]; }
for my $mode ('', 'fast', 'immediate')
{
	if ($mode) { restart_without_box($mode); }
	else { move_clock($server, $ahead - 600); }
	cmp_ok(new_id(), '<', $far, 'after a step back of ten minutes ids are below it' . ($mode && ", restarted: $mode"));
	like(insert(), qr/ERROR:  id \d+ is below the horizon/, '... and not accepted');
	cmp_ok(limit(), '>=', $far, '... because of the limit');
	# A session calls snowflake_horizon().
	horizon();
	sleep 1;
	like(insert(), qr/ERROR:  id \d+ is below the horizon/, '... a second later, either');
	next unless $mode;
	# The new box must not know less than the data directory.
	$server->stop('immediate');
	start_server($server);
	like(insert(), qr/ERROR:  id \d+ is below the horizon/, '... nor after a crash that leaves the new box');
}
$ahead += 60;
move_clock($server, $ahead);
is(insert(), '', 'when the clock has passed it they are');
# The limit in the data directory is above the reported horizon: a prepared transaction may have ids
# below the limit.
my $passed = new_id();
ok(wait_until('the horizon', sub { horizon() > $passed }), 'there is a horizon');
my $prepared = value('BEGIN; SELECT snowflake_nextval(); CREATE TABLE t (); PREPARE TRANSACTION \'p\'');
move_clock($server, $ahead - 40);
for my $mode ('fast', 'immediate')
{
	restart_without_box($mode);
	cmp_ok(new_id(), '>', $prepared, "$mode: ids go on above its ids");
	horizon();
	sleep 1;
	cmp_ok(horizon(), '<=', $prepared, '... which the horizon does not pass');
}
value(q{COMMIT PREPARED 'p'});
ok(wait_until('the horizon', sub { horizon() > $prepared }), '... before its end');
# If the file cannot be written, the horizon stops at the limit, and ids continue.
for my $time ('once', 'twice')
{
	my $from = -s $server->logfile;
	chmod 0500, dirname($file) or die "$file: $!";
	ok(wait_until('the warning', sub { horizon(); return slurp_file($server->logfile, $from) =~ /WARNING:  could not write file "snowflake\.horizons/ }),
		"$time: the log says that the file cannot be written");
	my $limit = limit();
	ok(wait_until('an id above the limit', sub { new_id() > $limit }), '... ids go on');
	ok(!(grep { sleep 1; horizon() > $limit } 1 .. 3), '... the horizon stays below the limit');
	chmod 0700, dirname($file) or die "$file: $!";
	my $after = new_id();
	ok(wait_until('the horizon', sub { horizon() > $after }), '... and goes on when the file can be written');
}
# An incomplete file is ignored.
$server->stop;
truncate $file, 10 or die "$file: $!";
start_server($server);
like(new_id(), qr/^\d+$/, 'what is not whole is not used');
$server->stop;
done_testing();
