# Ids are in the order of the calls (G2) while servers crash and stop, clocks step, leap and stop,
# settings change, and leases, worker ids and layouts are replaced. Eight sessions call in all ways.
# The one exception is a step back of the clock by more than max_bridge, to which a node responds
# with another worker id (G5): each such step may let ids fall once, from one worker id to another.
#
# Only such a step is a reason for an error SF002, and no fault costs more worker ids than it must.
# Calls of one extension are compared; DROP EXTENSION with CREATE EXTENSION begins anew.
#
# The seed decides which faults happen and when. SNOWFLAKE_CALLS sets how many calls the sessions
# make; each kind of fault happens at least once. It needs 6 s of processor time for eight sessions
# that call all the time.
# Not in the default run: it starts some 500 processes.

use strict;
use warnings;

use lib 'test/perl';
use List::Util qw(shuffle sum);
use PostgreSQL::Test::Utils;
use SessionsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep clock_gettime);

my $calls = $ENV{SNOWFLAKE_CALLS} || at_length(200_000, 4_000_000) / slowness();
my $began = time();
my $seed = seed();
my $server = sessions_server('faults', undef, clock => 1, counter => 'real', conf => "restart_after_crash = on\nfsync = off\n"
	  . sprintf("snowflake.start_timeout = %ds\nmax_connections = 60\n", 20 * slowness()));
my $recording = prepare_recording($server, 8);
my $folder = $recording->{folder};

sub value { return $server->safe_psql('postgres', $_[0]); }
sub count_in_log { my ($pattern) = @_; return scalar(() = slurp_file($server->logfile) =~ /$pattern/g); }
sub between { my ($from, $to) = @_; return $from + rand($to - $from); }
sub moment_ns { return int(clock_gettime(1) * 1e9); }
sub refused { return scalar grep { /SF002/ } SessionsTest::errors_of($recording); }

# What the server's clock shows, in seconds, and how far ids are ahead of it.
my $offset = 0;
sub shown { return time() + $offset; }
sub move_to { $offset = $_[0]; move_clock($server, $offset); return; }
sub lead { return value('SELECT greatest(clock_lead_seconds, 0) FROM snowflake_metrics') || 0; }

# No id, raised or released, is above this time, which every lease can therefore reach.
my $raised = 0;

# --------------------------------------------------------------------------------------------------
# Extensions: [function, mask of the worker id]
# --------------------------------------------------------------------------------------------------

my @extensions;

sub note_extension
{
	push @extensions, [ value(q{SELECT 'snowflake_nextval()'::regprocedure::oid}), SessionsTest::worker_mask($server) ];
	return;
}

my @layouts = ('time=41 worker=10 seq=12', 'time=41 seq=8 worker=10', 'tick=10ms time=38 worker=12 seq=13', 'tick=1s time=31 datacenter=2 worker=10 seq=18',
	'tick=1s time=31 worker=11 seq=14', 'tick=10ms time=36 seq=17 worker=10');

# --------------------------------------------------------------------------------------------------
# Faults. Each returns how many worker ids it may cost, or nothing if it could not happen.
# --------------------------------------------------------------------------------------------------

my @steps;

# The clock steps back by so many seconds, which is more than a node bridges.
sub step_beyond
{
	my ($seconds) = @_;
	return if shown() - $seconds < $raised + 2;
	my $from = moment_ns();
	move_to($offset - $seconds);
	my $ids = wait_until('ids after a step', sub { ($server->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 });
	ok(0, "no ids after a step back by $seconds s") unless $ids;
	# Calls that began before may still wait.
	sleep(0.05);
	push @steps, [ $from, moment_ns() ];
	append_to_file("$folder/steps", "$steps[-1][0] $steps[-1][1]\n");
	return 1;
}

sub set
{
	my ($name, $value) = @_;
	value("ALTER SYSTEM SET snowflake.$name = '$value'");
	$server->reload;
	wait_until("$name = $value", sub { value("SELECT current_setting('snowflake.$name')") eq $value });
	return;
}

my %values = (
	max_lead => [qw(0 1ms 5ms 100ms 1s)],
	lease_duration => [qw(10s 1min 10min)]);

sub stand
{
	my ($stop) = @_;
	$stop->($server);
	sleep(between(0.02, 0.4));
	run_clock($server);
	return 0;
}

my %faults = (
	'step back' => sub {
		my $room = 59 - lead();
		my $back = (sub { between(0.001, 0.01) }, sub { between(0.01, 1) }, sub { between(1, 59) })[ rand 3 ]->();
		return if $back > $room;
		move_to($offset - $back);
		return 0;
	},
	'step forward' => sub { move_to($offset + between(0.001, 60)); return 0; },
	'step beyond' => sub { return step_beyond(between(62, 900)); },
	'small step beyond' => sub {
		return if shown() - 3 < $raised + 2;
		set('max_bridge', '0');
		my $cost = step_beyond(between(1, 3) + lead());
		set('max_bridge', '1min');
		return $cost;
	},
	'leap' => sub { move_to($offset + between(100, 2000)); return 0; },
	'stopped clocks' => sub { return stand(\&freeze_clock); },
	'stopped wall clock' => sub { return stand(\&freeze_wall_clock); },
	'setting' => sub {
		my $name = (sort keys %values)[ rand keys %values ];
		set($name, $values{$name}[ rand @{ $values{$name} } ]);
		return 0;
	},
	'lowered max_bridge' => sub {
		# A setting is not a clock: neither is what is bridged already a step.
		set('max_bridge', $_) for (qw(1ms 1s 0))[ rand 3 ], '1min';
		return 0;
	},
	'SIGKILL of a backend' => sub {
		my @pids = split /\n/, value(q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL record_calls%'});
		return unless @pids;
		return kill_and_wait($server, $pids[ rand @pids ]) ? 0 : undef;
	},
	'SIGKILL of the keeper' => sub { return kill_and_wait($server, value('SELECT keeper_pid FROM snowflake_status')) ? 0 : undef; },
	'immediate stop' => sub {
		$server->stop('immediate');
		start_server($server);
		return 0;
	},
	'keeper terminated' => sub {
		my $pid = value('SELECT keeper_pid FROM snowflake_status');
		return unless $pid && kill 'TERM', $pid;
		wait_until('another keeper', sub { my $now = value('SELECT keeper_pid FROM snowflake_status'); return $now && $now != $pid; });
		return 1;
	},
	'raise' => sub {
		# Above the wall clock it would wait until the clock gets there.
		my ($id, $time) = split /\|/, value(q{SELECT id, extract(epoch FROM snowflake_timestamp(id))
			FROM (SELECT least(snowflake_nextval(), snowflake_id_at(clock_timestamp())) AS id) i});
		value("SELECT snowflake_raise($id)");
		$raised = $time + 2 if $time + 2 > $raised;
		return 0;
	},
	'renew' => sub { value('SELECT snowflake_renew()'); return 1; },
	'reads' => sub {
		value('SELECT snowflake_horizon(); SELECT count(*) FROM snowflake_status; SELECT count(*) FROM snowflake_metrics') for 1 .. 20;
		return 0;
	},
	'another extension' => sub {
		my $defaults = join ';', map { "ALTER TABLE $_ ALTER id SET DEFAULT snowflake_nextval()" } SessionsTest::tables_of(8);
		my $layout = $layouts[ rand @layouts ];
		# A lease that snowflake_renew() has forgotten would keep the registry. It can be evicted when
		# the clock is past its renewal.
		my $forgotten = 'FROM snowflake_registry WHERE worker_id IS DISTINCT FROM (SELECT worker FROM snowflake_status)';
		my $renewed = value("SELECT extract(epoch FROM max(extended_at)) $forgotten") || 0;
		move_to($renewed - time() + 1) if $renewed >= shown();
		wait_until('another extension', sub {
			$server->psql('postgres', "SELECT snowflake_evict(worker_id, now()) $forgotten");
			($server->psql('postgres', "SET lock_timeout = '2s'; BEGIN; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake;"
				. " SELECT snowflake_set_layout('epoch=2025-01-01 $layout'); $defaults; COMMIT", on_error_stop => 1))[0] == 0;
		}) or return;
		value('SELECT snowflake_nextval()');
		$raised = 0;
		note_extension();
		return 1;
	});

# --------------------------------------------------------------------------------------------------

value('SELECT snowflake_nextval()');
note_extension();
my $acquired_before = count_in_log(qr/acquired worker id \d/);
start_recording($recording, every_ms => 20);

my (%happened, @deck);
my ($may_cost, $false_errors) = (0, 0);
while (1)
{
	my $left = grep { !$happened{$_} } keys %faults;
	last if !$left && recorded($recording) >= $calls;
	@deck = shuffle(sort keys %faults) unless @deck;
	my $fault = shift @deck;
	sleep(rand(0.1));
	my ($refused, $at) = (refused(), scalar @steps);
	my $cost = $faults{$fault}->();
	next unless defined $cost;
	$happened{$fault}++;
	$may_cost += $cost;
	# An error that is on its way arrives.
	sleep(0.02);
	if (@steps == $at && refused() > $refused)
	{
		$false_errors += refused() - $refused;
		diag("SF002 during: $fault");
	}
}
my @errors = stop_recording($recording);
my $acquired = count_in_log(qr/acquired worker id \d/) - $acquired_before;

my %found = map { $_ => 0 } qw(calls ids twice fell across allowed near);
my %kinds;
for my $extension (@extensions)
{
	my $one = compare_calls($recording, extension => $extension->[0], mask => $extension->[1]);
	$found{$_} += $one->{$_} for keys %found;
	$kinds{$_} += $one->{kinds}{$_} for keys %{ $one->{kinds} };
}
my %states;
$states{ /(?:ERROR|FATAL):  (\w{5}):/ ? $1 : 'connection' }++ for @errors;

is($found{fell}, 0, "of $found{calls} calls none gets an id below that of a call that ended before it began, under the same worker id (G2)");
is($found{across}, 0, '... nor under another one, but for steps beyond max_bridge (G5)');
is($found{twice}, 0, "... of $found{ids} ids none is issued twice (G1)");
cmp_ok($found{allowed}, '<=', scalar @steps, '... and each of these steps lets ids fall once at most');
cmp_ok($found{near}, '>', $found{calls} / 2000, '... while other sessions call, too');
is(scalar(keys %kinds), 11, '... in all ways');
is($false_errors, 0, 'no call fails because of the clock but for such a step');
cmp_ok($acquired, '<=', $may_cost, 'no worker id is acquired without need');
my $internal = join "\n", grep { /(?:ERROR|FATAL|PANIC):  (?:XX|SF00[34])/ } @errors;
is($internal =~ s/^.*XX000: (?:cache lookup failed|could not open relation|tuple concurrently).*\n?//mgr, '', 'no internal error');
figures('%d trials (faults: %s) in %.0f s, %d calls, %d within 10 us of another session\'s, %d ids, %d extensions; fell: %d, allowed by G5: %d of %d steps,'
	  . ' twice: %d; SF002 without a step: %d; worker ids acquired: %d of %d that faults may cost; errors: %s; seed %d',
	sum(values %happened), join(', ', map { "$_ $happened{$_}" } sort keys %happened), time() - $began, @found{qw(calls near ids)}, scalar @extensions,
	$found{fell} + $found{across}, $found{allowed}, scalar @steps, $found{twice}, $false_errors, $acquired, $may_cost,
	join(', ', map { "$_ $states{$_}" } sort keys %states) || 'none', $seed);

$server->stop;
done_testing();
