# A wrong clock protects nobody once it is right again: after a step back of hours or days for some
# seconds, while the server runs or when it is started, also at a time that cannot be (1970), rows are
# accepted and readers get them at once. While the clock is behind, advice names the clock, and not the
# horizon, which is right. A data directory without an id is in no doubt, however old it is. What is
# looked at changes nothing, and what cannot be written is not confirmed.
use strict;
use warnings;

use lib 'test/perl';
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $day = 86400;
my $conf = "log_statement = none\nautovacuum = off\n";
my ($server, $longest) = (undef, 0);
sub value { return $server->safe_psql('postgres', $_[0]); }
sub block { return block_of('doc/horizon.md', $_[0], 'sql'); }
my $insert = q{INSERT INTO outbox (payload) VALUES (gen_random_uuid())};
sub insert { return ($server->psql('postgres', $insert))[2]; }
sub advice { return value(q{SELECT coalesce(advice, '') FROM snowflake_status}); }

sub restart
{
	my ($mode, $set) = @_;
	$server->stop($mode);
	lose_box($server) if $mode eq 'immediate' && -d '/dev/shm';
	$set->();
	start_server($server);
	return;
}

# From the moment when the clock is right: a row is accepted, and below the horizon.
sub flows
{
	my ($what) = @_;
	my $since = time();
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $error;
	ok(wait_until('an accepted row', sub { ($error = insert()) eq '' }), "$what: rows are accepted") or die $error;
	my $id = value("$insert RETURNING id");
	ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $id }), '... and readers get them') or die advice();
	my $took = time() - $since;
	$longest = $took if $took > $longest;
	is(advice(), '', '... and all is well');
	is(value(q{SELECT clock FROM snowflake_status}), 'follows', '... and ids follow the clock');
	is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '55000', '... and no horizon is to be taken back');
	return;
}

# While the clock is behind by so much.
sub is_behind
{
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like(advice(), qr/^the clock shows .*, but by what this server knows it is .* nothing else is to be done/m, "$what: advice names the clock");
	unlike(advice(), qr/the horizon is of the future/, '... and not the horizon');
	return;
}

# ---------------------------------------------------------------------------------------------------------------------
# A golden image of three days ago
# ---------------------------------------------------------------------------------------------------------------------

$server = new_server('image', clock => 1, patient => 1, conf => $conf);
start_server($server);
value('CREATE EXTENSION snowflake');
$server->stop;
move_clock($server, 3 * $day);
start_server($server);
is(advice(), '', 'an image of three days ago, in which no id was issued: no clock is in doubt');
value(block('CREATE TABLE outbox '));
flows('at its first start');
is(value('SELECT snowflake_confirm_clock()'), 'f', 'there is nothing to confirm');

# ---------------------------------------------------------------------------------------------------------------------
# A step back that is taken back
# ---------------------------------------------------------------------------------------------------------------------

my $true = 3 * $day;
for my $case ([ '1d', 2 * $day ], [ '1d', 30 * $day ], [ '5min', 3600 ], [ '5min', 2 * $day ])
{
	my ($max_leap, $back) = @$case;
	value("ALTER SYSTEM SET snowflake.max_leap = '$max_leap'");
	$server->reload;
	for my $when ('running', 'fast', 'immediate')
	{
		my $what = "max_leap $max_leap, $back s back, $when";
		my $set = sub { move_clock($server, $true - $back) };
		if ($when eq 'running') { $set->() }
		else { restart($when, $set) }
		wait_until('the step', sub { advice() =~ /the clock shows/ });
		is_behind($what);
		my $refused = insert();
		like($refused, qr/SF007|below the horizon/, '... and rows are refused') if $refused;
		like($refused, qr/HINT:  The clock is behind/, '... with a hint that names the clock') if $refused;
		move_clock($server, $true);
		flows($what);
	}
}
value('ALTER SYSTEM RESET snowflake.max_leap');
$server->reload;

# ---------------------------------------------------------------------------------------------------------------------
# A machine without a clock of its own
# ---------------------------------------------------------------------------------------------------------------------

for my $boot ([ '1970', 20 ], [ 'the date of the image', 1748000000 ])
{
	my ($what, $unix) = @$boot;
	for my $mode ('fast', 'immediate')
	{
		restart($mode, sub { move_clock($server, $unix - time()) });
		is_behind("a boot at $what ($mode)");
		insert();
		is((query_error($server, 'postgres', "SELECT $_()"))[0], '55000', "... $_() refuses a clock that cannot be right")
		  for $unix < 1e9 ? ('snowflake_confirm_clock', 'snowflake_reset_horizon') : ();
		select undef, undef, undef, 1;
		move_clock($server, $true);
		flows("set right after a boot at $what ($mode)");
	}
}

# ---------------------------------------------------------------------------------------------------------------------
# A horizon of the future that nobody was told
# ---------------------------------------------------------------------------------------------------------------------

value('SELECT snowflake_horizon()');
move_clock($server, $true + 3600);
ok(wait_until('a horizon of the future', sub { value("SELECT horizon > snowflake_id_at(now() - interval '1 minute') FROM snowflake_status") eq 't' }), 'an hour ahead, while nobody asks');
move_clock($server, $true);
like(advice(), qr/^the horizon is of the future/, '... readers would be told this horizon');
is(insert(), '', '... but rows are accepted');
ok(wait_until('the horizon', sub { value("SELECT snowflake_horizon() > max(id) FROM outbox") eq 't' }), '... and read');
like(advice(), qr/^the data directory has a horizon of the future, .* after a crash .* snowflake_reset_horizon\(\)/, '... and a crash would bring it back');
restart('immediate', sub { });
like(insert(), qr/below the horizon/, '... as it does');
like(advice(), qr/^the clock shows .*snowflake_confirm_clock\(\), and then snowflake_reset_horizon\(\)/, '... and advice names both ways out');
value('SELECT snowflake_reset_horizon()');
flows('after the horizon was taken back');

# ---------------------------------------------------------------------------------------------------------------------
# Who moves what
# ---------------------------------------------------------------------------------------------------------------------

my $file = $server->data_dir . '/snowflake.clock';
move_clock($server, $true - 2 * $day);
wait_until('the step', sub { advice() =~ /the clock shows/ });
mkdir "$file.new" or die "$file.new: $!";
my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_confirm_clock()');
is($state, '58030', 'what cannot be written is not confirmed');
like($error, qr/nothing was changed/, '... as the error says');
is_behind('and the clock is what it was');
rmdir "$file.new" or die "$file.new: $!";
is(value('SELECT snowflake_confirm_clock()'), 't', 'a clock that is behind is confirmed');
like(advice(), qr/^the horizon is of the future/, '... and then the horizon is of the future');
is(value('SELECT snowflake_confirm_clock()'), 'f', '... and there is nothing more to confirm');
is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '00000', '... and it is taken back') or die advice();
$true -= 2 * $day;
flows('with the clock that was confirmed');

# A disk that hangs: the keeper waits for its file, and nobody else does.
require POSIX;
POSIX::mkfifo("$file.new", 0600) or die "$file.new: $!";
chown((stat $file)[ 4, 5 ], "$file.new") if $> == 0;
move_clock($server, $true + 2 * $day);
my $keeper = value('SELECT keeper_pid FROM snowflake_status');
ok(wait_until('the keeper', sub { slurp_file("/proc/$keeper/wchan") =~ /fifo|pipe/ || slurp_file("/proc/$keeper/syscall") =~ /^(?:2|257) / }), 'the keeper waits for its file')
  if -r "/proc/$keeper/syscall";
my $calls = q{SELECT snowflake_nextval(), snowflake_horizon() FROM generate_series(1, 3);
	SELECT advice, clock FROM snowflake_status; SELECT * FROM snowflake_metrics; INSERT INTO outbox (payload) VALUES (1)};
is(($server->psql('postgres', $calls))[0], 0, '... and no call does');
move_clock($server, $true);
is(($server->psql('postgres', $calls))[0], 0, '... nor when the clock is right again');
open my $reader, '<', "$file.new" or die "$file.new: $!";
ok(wait_until('the file', sub { !-p "$file.new" }), 'the disk goes on');
close $reader;
flows('after that');

figures('from a right clock to a row that readers get: at most %.1f s', $longest);
$server->stop;
done_testing();
