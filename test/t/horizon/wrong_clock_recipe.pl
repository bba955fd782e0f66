# The server is started with a wrong clock, for a minute and for an hour, while writers write and
# readers read. The second outbox is partitioned by time, so rows that get new ids change partitions.
# After an hour a horizon of the wrong time was reported. The recipe of doc/horizon.md
# takes it back and gives the rows of the wrong time new ids: afterwards no row is refused, and no
# reader misses one.
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
sub horizon { return value('SELECT snowflake_horizon()'); }
sub advice { return value('SELECT coalesce(advice, \'\') FROM snowflake_status'); }
sub rises { my ($what) = @_; my $id = value('SELECT max(id) FROM outbox'); return ok(wait_until('the horizon', sub { horizon() > $id }), $what) || die "it does not rise\n"; }

sub restart
{
	my ($set) = @_;
	$server->stop('fast');
	my $from = -s $server->logfile;
	$set->();
	start_server($server);
	return sub { slurp_file($server->logfile, $from) };
}

# Writers and readers use no pg_sleep, which waits by the wall clock. The reader `late` does not read in the wrong time.
my $batch = (block('one batch, as often') =~ s/FOR UPDATE;/FOR UPDATE \\gset/r) . "\n\\echo committed\n";
my $writes = q{INSERT INTO outbox (payload) VALUES (gen_random_uuid()) RETURNING 'wrote ' || payload;
BEGIN; INSERT INTO outbox (payload) VALUES (gen_random_uuid()) RETURNING payload AS p \gset
SELECT snowflake_horizon() \gset
COMMIT;
\echo wrote :p
};
sub count_in { my ($clients, $pattern) = @_; my %times; $times{$_}++ for map { -e $_ ? slurp_file($_) =~ /$pattern/g : () } @{ $clients->{files} }; return \%times; }

# A restart may end a batch after its rows were printed: it is read again, for the first time.
sub count_committed_in
{
	my ($clients) = @_;
	my %times;
	for my $file (grep { -e } @{ $clients->{files} })
	{
		my @batches = split /^committed\n/m, slurp_file($file), -1;
		pop @batches;
		$times{$_}++ for map { s/.*^connection\n//msr =~ /\|(\S{36})/g } @batches;
	}
	return \%times;
}

for my $seconds (60, 3600)
{
	if ($seconds > 600)
	{
		value('DROP TABLE outbox, outbox_reader');
		value(block('CREATE TABLE outbox ') =~ s/(payload text NOT NULL\));/$1 PARTITION BY RANGE (id);/r);
		value(q{SELECT snowflake_id_at(now() + interval '100 days') AS bound \gset
			CREATE TABLE outbox_present PARTITION OF outbox FOR VALUES FROM (0) TO (:bound);
			CREATE TABLE outbox_future PARTITION OF outbox FOR VALUES FROM (:bound) TO (MAXVALUE)});
	}
	value(q{DELETE FROM outbox; DELETE FROM outbox_reader; INSERT INTO outbox_reader SELECT r, snowflake_horizon() FROM unnest('{mail,late}'::text[]) r});
	my $true_s = $server->{snowflake_offset_ns} / 1e9;
	my $writers = start_clients($server, 2, "\\set ON_ERROR_STOP on\n" . $writes x 5, rest => 0.1);
	my @runs = (start_clients($server, 2, "\\set ON_ERROR_STOP on\n" . $batch x 2, rest => 0.1));
	my $late = $batch =~ s/'mail'/'late'/gr;
	push @runs, start_clients($server, 1, $late, rest => 0.1);
	wait_until('rows', sub { keys %{ count_in($runs[1], qr/\|(\S{36})/) } > 20 });
	stop_clients($runs[1]);
	my $log = restart(sub { move_clock($server, $true_s + 400 * $day) });
	my $wrong = "SELECT count(*) FROM outbox WHERE id > snowflake_id_at(now() - interval '200 days')";
	wait_until('rows of the wrong time', sub { value($wrong) > 20 });
	let_pass($server, $seconds);
	$true_s += $seconds;
	if ($seconds > 600)
	{
		wait_until('the reader', sub { value("SELECT max(last_id) > snowflake_id_at(now() - interval '200 days') FROM outbox_reader") eq 't' });
	}
	else { is((grep { select undef, undef, undef, 0.5; horizon() > value("SELECT snowflake_id_at(now() - interval '200 days')") } 1 .. 4), 0, 'a minute: nothing is reported'); }
	my $session = $server->background_psql('postgres');
	my ($remembered) = ask($session, 'SELECT snowflake_horizon()');
	move_clock($server, $true_s);
	my $refused = qr/ERROR:  id \d+ is below the horizon/;
	if ($seconds > 600)
	{
		ok(wait_until('refused rows', sub { $log->() =~ $refused }), 'an hour: rows of the present are refused');
		like(advice(), qr/^the clock shows .*, but by what this server knows it is .* snowflake_confirm_clock\(\), and then snowflake_reset_horizon\(\)/, '... and there is advice');
		like((query_error($server, 'postgres', 'INSERT INTO outbox (payload) VALUES (1)'))[1], qr/HINT:.*advice in snowflake_status/s, '... and a hint');
		is(value('SELECT snowflake_confirm_clock()'), 't', 'the right clock is confirmed');
		like(advice(), qr/^the horizon is of the future, .* snowflake_reset_horizon\(\)/, '... and then the horizon is of the future');
		like((query_error($server, 'postgres', 'INSERT INTO outbox (payload) VALUES (1)'))[1], qr/HINT:.*snowflake_reset_horizon/s, '... as a hint says');
	}
	# The last of them may have been under way when the clock was set.
	my $of_wrong_time = value($wrong =~ s/-/+/r);
	my $first = $seconds > 600 ? block('1\. only if the horizon') : '';
	$server->safe_psql('postgres', $first . block('2\. if there are rows'));
	my $after = -s $server->logfile;
	my ($now) = ask($session, 'SELECT snowflake_horizon()');
	cmp_ok($now, $seconds > 600 ? '<' : '>=', $remembered, 'a session does not remember the horizon of a wrong time');
	$session->quit;
	is(value(block('3\. no row') =~ s/^SELECT \*/SELECT count(*)/mr), '0', 'no row of the wrong time is left');
	push @runs, start_clients($server, 1, $late, rest => 0.1);
	my $so_far = keys %{ count_in($writers, qr/^wrote (\S+)/m) };
	wait_until('rows', sub { keys %{ count_in($writers, qr/^wrote (\S+)/m) } > $so_far + 50 });
	stop_clients($writers);
	my %wrote = %{ count_in($writers, qr/^wrote (\S+)/m) };
	rises('the horizon rises');
	for my $reader (0, 1)
	{
		my @of_reader = $reader ? @runs[1, 2] : $runs[0];
		my $count = sub {
			my ($counts) = @_;
			my %all;
			for my $times (map { $counts->($_) } @of_reader) { $all{$_} += $times->{$_} for keys %$times; }
			return \%all;
		};
		my $got;
		wait_until('the rest', sub { $got = $count->(sub { count_in($_[0], qr/\|(\S{36})/) }); return !grep { !$got->{$_} } keys %wrote; });
		my $missed = grep { !$got->{$_} } keys %wrote;
		my $twice = grep { $_ > 1 } values %{ $count->(\&count_committed_in) };
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

# Without another worker id by itself, calls fail after the step back.
value(q{ALTER SYSTEM SET snowflake.on_clock_step_back = 'error'});
my $true_s = $server->{snowflake_offset_ns} / 1e9 + 601;
restart(sub { move_clock($server, $true_s - 601 + 400 * $day) });
my $wrong_id = value('SELECT snowflake_nextval()');
let_pass($server, 601);
ok(wait_until('the horizon', sub { horizon() > $wrong_id }), 'a horizon of a wrong time');
move_clock($server, $true_s);
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF002', "on_clock_step_back = 'error': no id is issued");
cmp_ok(value('SELECT snowflake_reset_horizon() \g /dev/null
	SELECT snowflake_nextval()'), '<', $wrong_id, '... before the horizon is taken back; after that, at once');
rises('... and it rises');

$server->stop;
done_testing();
