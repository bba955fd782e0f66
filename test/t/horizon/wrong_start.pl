# The server is started with a wrong clock. For ten minutes no horizon of the wrong time is reported,
# so nothing is left of it when the clock is right again. Later one is reported, and the recipe of
# doc/horizon.md takes it back: no row is refused or missed. A server that was off for three days
# with a right clock reports no horizon for ten minutes, unless a call confirms its clock.
use strict;
use warnings;

use lib 'test/perl';
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $day = 86400;
my $server = new_server('node', clock => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
sub block { return block_of('doc/horizon.md', $_[0], 'sql'); }
value(block('CREATE TABLE outbox '));
sub insert { return ($server->psql('postgres', q{INSERT INTO outbox (payload) VALUES (gen_random_uuid())}))[2]; }
sub horizon { return value('SELECT snowflake_horizon()'); }
sub advice { return value('SELECT coalesce(advice, \'\') FROM snowflake_status'); }
my $newest = 'SELECT coalesce(max(id), 0) FROM outbox';
sub rises { my ($what) = @_; my $id = value($newest); return ok(wait_until('the horizon', sub { horizon() > $id }), $what); }
my $doubt = $server->data_dir . '/snowflake.doubt';

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
like($log->(), qr/WARNING:  snowflake: the clock shows .*, 400\.0 days after the last sign of life/, 'a start 400 days later is told');
like(advice(), qr/^the clock is in doubt: .* snowflake_confirm_clock\(\)/, '... and advised');
is(insert(), '', 'ids are issued');
is(value("SELECT max(id) > snowflake_id_at(now() - interval '1 day') FROM outbox"), 't', '... of that time');
stands($limit, '... and no horizon of that time is reported');
restart('immediate', sub { });
stands($limit, '... nor after a crash');
restart('fast', sub { });
stands($limit, '... nor after a restart, although a checkpoint was written meanwhile');
ok(-e $doubt, 'a file keeps the doubt');
move_clock($server, 0);
ok(wait_until('the advice', sub { advice() eq '' }), 'when the clock is right again, it is not in doubt');
is(insert(), '', '... and rows are accepted');
ok(wait_until('the horizon', sub { horizon() > value("$newest WHERE id < $limit") }), '... and the horizon rises above them');
ok(!-e $doubt, '... and nothing is left of the doubt');
is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '55000', 'no horizon is to be taken back');
value(block('2\. if there are rows'));
is(value("SELECT count(*) FROM snowflake_check('outbox', 'id')"), '0', 'the row of the wrong time gets a new id');
rises('... below the horizon');

# ---------------------------------------------------------------------------------------------------------------------
# Off for three days
# ---------------------------------------------------------------------------------------------------------------------

restart('fast', sub { let_pass($server, 3 * $day) });
$limit = value("SELECT snowflake_id_at(now() - interval '1 day')");
insert();
stands($limit, 'after three days no horizon is reported');
let_pass($server, 590);
stands($limit, '... for ten minutes');
let_pass($server, 10);
rises('... and then it is');
$log = restart('fast', sub { let_pass($server, 3 * $day) });
insert();
is(value(block('confirm_clock')), 't', 'the call that ends the wait');
rises('... for the horizon');
is(value(block('confirm_clock')), 'f', 'nothing to confirm');
like($log->(), qr/LOG:  snowflake: the clock is not in doubt any more/, 'the log has it');
value('ALTER SYSTEM SET snowflake.max_leap = 0');
unlike(restart('fast', sub { let_pass($server, 3 * $day) })->(), qr/last sign of life/, 'max_leap = 0');
insert();
rises('... doubts no clock');
value('ALTER SYSTEM RESET snowflake.max_leap');

# ---------------------------------------------------------------------------------------------------------------------
# Wrong for a minute and for an hour, while writers write and readers read
# ---------------------------------------------------------------------------------------------------------------------

# Without pg_sleep, which waits by the wall clock. The reader `late` does not read in the wrong time.
my $batch = block('one batch, as often') =~ s/FOR UPDATE;/FOR UPDATE \\gset/r;
my $writes = q{INSERT INTO outbox (payload) VALUES (gen_random_uuid()) RETURNING 'wrote ' || payload;
BEGIN; INSERT INTO outbox (payload) VALUES (gen_random_uuid()) RETURNING payload AS p \gset
SELECT snowflake_horizon() \gset
COMMIT;
\echo wrote :p
};
sub count_in { my ($clients, $pattern) = @_; my %times; $times{$_}++ for map { -e $_ ? slurp_file($_) =~ /$pattern/g : () } @{ $clients->{files} }; return \%times; }

for my $seconds (60, 3600)
{
	restart('fast', sub { });
	value(q{DELETE FROM outbox; DELETE FROM outbox_reader; INSERT INTO outbox_reader SELECT r, snowflake_horizon() FROM unnest('{mail,late}'::text[]) r});
	my $true_s = $server->{snowflake_offset_ns} / 1e9;
	my $writers = start_clients($server, 2, "\\set ON_ERROR_STOP on\n" . $writes x 5, rest => 0.1);
	my @runs = (start_clients($server, 2, "\\set ON_ERROR_STOP on\n" . $batch x 2, rest => 0.1));
	my $late = $batch =~ s/'mail'/'late'/gr;
	push @runs, start_clients($server, 1, $late, rest => 0.1);
	wait_until('rows', sub { keys %{ count_in($runs[1], qr/\|(\S{36})/) } > 20 });
	stop_clients($runs[1]);
	$log = restart('fast', sub { move_clock($server, $true_s + 400 * $day) });
	my $wrong = "SELECT count(*) FROM outbox WHERE id > snowflake_id_at(now() - interval '200 days')";
	wait_until('rows of the wrong time', sub { value($wrong) > 20 });
	let_pass($server, $seconds);
	$true_s += $seconds;
	if ($seconds > 600)
	{
		wait_until('the reader', sub { value("SELECT max(last_id) > snowflake_id_at(now() - interval '200 days') FROM outbox_reader") eq 't' });
	}
	else { stands(value("SELECT snowflake_id_at(now() - interval '200 days')"), 'a minute: nothing is reported'); }
	my $of_wrong_time = value($wrong);
	move_clock($server, $true_s);
	my $refused = qr/ERROR:  id \d+ is below the horizon/;
	if ($seconds > 600)
	{
		ok(wait_until('refused rows', sub { $log->() =~ $refused }), 'an hour: rows of the present are refused');
		like(advice(), qr/^the horizon is of the future, .* snowflake_reset_horizon\(\)/, '... and there is advice');
		like((query_error($server, 'postgres', 'INSERT INTO outbox (payload) VALUES (1)'))[1], qr/HINT:.*snowflake_reset_horizon/s, '... and a hint');
	}
	my $first = $seconds > 600 ? block('1\. only if the horizon') : '';
	$server->safe_psql('postgres', $first . block('2\. if there are rows'));
	my $after = -s $server->logfile;
	is(value(block('3\. no row') =~ s/^SELECT \*/SELECT count(*)/mr), '0', 'no row of the wrong time is left');
	push @runs, start_clients($server, 1, $late, rest => 0.1);
	my $so_far = keys %{ count_in($writers, qr/^wrote (\S+)/m) };
	wait_until('rows', sub { keys %{ count_in($writers, qr/^wrote (\S+)/m) } > $so_far + 50 });
	stop_clients($writers);
	my %wrote = %{ count_in($writers, qr/^wrote (\S+)/m) };
	rises('the horizon rises');
	for my $reader (0, 1)
	{
		my $got;
		my $look = sub {
			my %all;
			for my $clients ($reader ? @runs[1, 2] : $runs[0])
			{
				my $times = count_in($clients, qr/\|(\S{36})/);
				$all{$_} += $times->{$_} for keys %$times;
			}
			$got = \%all;
			return !grep { !$all{$_} } keys %wrote;
		};
		wait_until('the rest', $look);
		my $missed = grep { !$got->{$_} } keys %wrote;
		my $twice = grep { $_ > 1 } values %$got;
		my $name = $reader ? 'late' : 'mail';
		is($missed, 0, "$seconds s, $name: of " . keys(%wrote) . ' rows none is missed');
		cmp_ok($twice, '<=', $reader || $seconds < 600 ? 0 : $of_wrong_time, '... read twice: at most the rows of the wrong time');
		figures('wrong for %d s, reader %s: %d rows, %d of the wrong time, %d missed, %d read twice', $seconds, $name, scalar(keys %wrote), $of_wrong_time, $missed, $twice);
	}
	stop_clients($_) for @runs[0, 2];
	my $later = slurp_file($server->logfile, $after);
	unlike($later, $refused, 'no row is refused after the recipe');
	is(advice(), '', 'all is well');
}

$server->stop;
done_testing();
