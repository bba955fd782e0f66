# If the server is started with a wrong clock, no horizon of the wrong time is reported for ten
# minutes, so nothing is left of it when the clock is right again. The same holds for a second start
# with that clock, and for a start while the clock has leapt. A server that was off for three days with
# a right clock reports no higher horizon for ten minutes, unless a call confirms its clock, or max_leap
# is 0.
use strict;
use warnings;

use lib 'test/perl';
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $day = 86400;
my $server = new_server('node', clock => 1, patient => 1, streaming => 1, conf => "log_statement = none\nautovacuum = off\ncheckpoint_timeout = 1d\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
sub block { return block_of('doc/horizon.md', $_[0], 'sql'); }
value(block('CREATE TABLE outbox '));
sub insert { return ($server->psql('postgres', q{INSERT INTO outbox (payload) VALUES (gen_random_uuid())}))[2]; }
sub horizon { return value('SELECT snowflake_horizon()'); }
sub advice { return value('SELECT coalesce(advice, \'\') FROM snowflake_status'); }
my $newest = 'SELECT coalesce(max(id), 0) FROM outbox';
sub rises { my ($what) = @_; my $id = value($newest); return ok(wait_until('the horizon', sub { horizon() > $id }), $what) || die "it does not rise\n"; }
# Whether the file says that other signs of life may be of a wrong clock.
sub counts_alone { return (unpack 'Q q q', slurp_file($server->data_dir . '/snowflake.clock'))[2]; }

# Starts the server again when its clocks have been set; the log from there on.
sub restart
{
	my ($mode, $set) = @_;
	$server->stop($mode);
	my $from = -s $server->logfile;
	$set->();
	start_server($server);
	return sub { slurp_file($server->logfile, $from) };
}

# Whether the horizon has stood still for two limits of the keeper.
sub stands
{
	my ($highest, $what) = @_;
	my @higher = grep { $_ > $highest } map { select undef, undef, undef, 0.5; horizon() } 1 .. 5;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(scalar(@higher), 0, $what);
}

insert();
rises('readers poll');

# ---------------------------------------------------------------------------------------------------------------------
# Less than ten minutes
# ---------------------------------------------------------------------------------------------------------------------

my $log = restart('fast', sub { move_clock($server, 400 * $day) });
my $limit = value("SELECT snowflake_id_at(now() - interval '399 days')");
like($log->(), qr/(?:WARNING|LOG):  snowflake: the clock shows .*, 400\.0 days after what this server knows of the time/, 'a start 400 days later is told');
like(advice(), qr/^the clock is in doubt: .* snowflake_confirm_clock\(\)/, '... and advised');
is(insert(), '', 'ids are issued');
is(value("SELECT max(id) > snowflake_id_at(now() - interval '1 day') FROM outbox"), 't', '... of that time');
stands($limit, '... and no horizon of that time is reported');
restart('immediate', sub { lose_box($server) if -d '/dev/shm' });
stands($limit, '... nor after a crash without a black box');
# Archive recovery knows the times of the commits that it replays.
value('CHECKPOINT');
is(insert(), '', 'another row of that time');
restart('immediate', sub { append_to_file($server->data_dir . '/standby.signal', '') });
$server->promote;
ok(wait_until('the promotion', sub { value('SELECT pg_is_in_recovery()') eq 'f' }), 'promoted');
stands($limit, '... nor after archive recovery');
restart('fast', sub { });
stands($limit, '... nor after a restart, although a checkpoint was written meanwhile');
is(counts_alone(), 1, 'a file keeps the doubt');
move_clock($server, 0);
ok(wait_until('the advice', sub { advice() !~ /in doubt/ }), 'when the clock is right again, it is not in doubt');
is(advice(), '', '... and all is well') or die "it is not\n";
is(insert(), '', '... and rows are accepted') or die "they are not\n";
ok(wait_until('the horizon', sub { horizon() > value("$newest WHERE id < $limit") }), '... and the horizon rises above them');
my $written;
restart('fast', sub { $written = slurp_file($server->data_dir . '/snowflake.clock') });
is(counts_alone(), 1, 'the last checkpoint is of the wrong clock');
# It has to begin in a later second than the keeper's first look.
wait_until('the keeper', sub { slurp_file($server->data_dir . '/snowflake.clock') ne $written });
sleep 2;
value('CHECKPOINT');
restart('fast', sub { });
is(counts_alone(), 0, '... and the next one is not');

is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '55000', 'no horizon is to be taken back');
value(block('2\. if there are rows'));
is(value("SELECT count(*) FROM snowflake_check('outbox', 'id')"), '0', 'the row of the wrong time gets a new id');
rises('... below the horizon');

# ---------------------------------------------------------------------------------------------------------------------
# A start without a keeper
# ---------------------------------------------------------------------------------------------------------------------

my $conf = $server->data_dir . '/postgresql.conf';
restart('fast', sub { move_clock($server, 400 * $day); append_to_file($conf, "max_worker_processes = 0\n") });
value('CHECKPOINT');
restart('immediate', sub { append_to_file($conf, "max_worker_processes = 8\n"); lose_box($server) if -d '/dev/shm' });
insert();
stands($limit, 'a checkpoint of a start without a keeper is no sign either');
move_clock($server, 0);
ok(wait_until('the advice', sub { advice() !~ /in doubt/ }), '... until the clock is right');
value(block('2\. if there are rows'));
rises('... and then the horizon rises');

# ---------------------------------------------------------------------------------------------------------------------
# Off for three days
# ---------------------------------------------------------------------------------------------------------------------

restart('fast', sub { let_pass($server, 3 * $day) });
$limit = value("SELECT snowflake_id_at(now() - interval '1 day')");
insert();
stands($limit, 'after three days no horizon is reported');
# Real time passes, too: until then no more than half a minute.
let_pass($server, 570);
stands($limit, '... for ten minutes');
let_pass($server, 30);
rises('... and then it is');
$log = restart('fast', sub { let_pass($server, 3 * $day) });
insert();
is(value(block('confirm_clock')), 't', 'the call that ends the wait');
rises('... for the horizon');
is(value(block('confirm_clock')), 'f', 'nothing to confirm');
like($log->(), qr/LOG:  snowflake: the clock is not in doubt any more/, 'the log has it');

# ---------------------------------------------------------------------------------------------------------------------
# Again and again
# ---------------------------------------------------------------------------------------------------------------------

# The registry has windows of that time by now.
my $true_s = $server->{snowflake_offset_ns} / 1e9;
for my $start (1, 2)
{
	like(restart('fast', sub { move_clock($server, $true_s + 400 * $day + $start * 60) })->(), qr/400\.0 days after what this server knows/, "start $start with the same wrong clock");
	$limit = value("SELECT snowflake_id_at(now() - interval '200 days')");
	insert();
	stands($limit, '... reports no horizon of that time');
	move_clock($server, $true_s);
	ok(wait_until('the advice', sub { advice() !~ /in doubt/ }), '... until it is right');
	is(insert(), '', '... and rows are accepted') or die "they are not\n";
}

# ---------------------------------------------------------------------------------------------------------------------
# A leap while the server runs
# ---------------------------------------------------------------------------------------------------------------------

for my $mode ('fast', 'immediate')
{
	move_clock($server, $true_s + 400 * $day);
	ok(wait_until('the advice', sub { advice() =~ /in doubt/ }), "a leap, and a restart ($mode) before it is taken back");
	value('CHECKPOINT');
	restart($mode, sub { lose_box($server) if -d '/dev/shm' && $mode eq 'immediate' });
	insert();
	stands($limit, '... no horizon of that time is reported');
	# Without a black box, ids below the limit of horizons are refused: it is four seconds ahead.
	$true_s += 10;
	move_clock($server, $true_s);
	ok(wait_until('the advice', sub { advice() !~ /in doubt/ }), '... until it is right');
	is(insert(), '', '... and rows are accepted') or die "they are not\n";
}

value("DELETE FROM outbox WHERE id > $limit");
value('ALTER SYSTEM SET snowflake.max_leap = 0');
unlike(restart('fast', sub { let_pass($server, 3 * $day) })->(), qr/days after what/, 'max_leap = 0');
insert();
rises('... doubts no clock');

$server->stop;
done_testing();
