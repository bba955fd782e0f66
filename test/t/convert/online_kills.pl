# An online conversion that is killed at random moments and run again has the same result as an
# undisturbed one, while clients write (G13). If it is abandoned at a random moment, the dump and
# the rows are the same as before the conversion.
#
# The seed decides the shapes, the kinds of kill and their moments, but not what the server is doing
# at those moments. For more kills: SNOWFLAKE_TRIALS=50 TEST_TIMEOUT=1200 test/run
# t/convert/online_kills
# Not in the default run: kills at random moments.
use strict;
use warnings;

use lib 'test/perl';
use ConvertShapes;
use ConvertTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $trials = $ENV{SNOWFLAKE_TRIALS} || 8;
my $abandons = int($trials * 0.4 + 0.5);
my $seed = seed();
my $began = time();
$ConvertTest::clients = 2;

my $server = convert_server('kills');
my @there = split /\n/, $server->safe_psql('postgres', 'SELECT extname FROM pg_extension');
my @kinds = grep {
	my $shape = $_;
	$server->pg_version >= ($shape->{since} // 15) && (!$shape->{with} || grep { $_ eq $shape->{with} } @there) && $shape->{name} !~ /^(empty|plain)$/
} @shapes;
# Each kind is used once before one is used again.
my @next;
sub next_shape { @next = @kinds unless @next; return splice @next, rand @next, 1; }

my (@errors, %happened, %during);
my ($life, $lives, $killed, $abandoned, $conversions, $late) = ('', 0, 0, 0, 0, 0);
sub wrong { my ($what) = @_; push @errors, "$life: $what" if $what ne ''; return $what ne ''; }

# A separate psql that runs these statements one by one.
my $folder = PostgreSQL::Test::Utils::tempdir();
sub start_statements
{
	my ($shape, @statements) = @_;
	my $file = "$folder/statements.sql";
	unlink $file;
	append_to_file($file, join '', map { "$_\n;\n" } @statements);
	my $role = $shape->{as} // 'alice';
	return IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('postgres') . " user=$role application_name=conversion", '-f', $file ],
		'<', '/dev/null', '>', "$folder/out", '2>', "$folder/err");
}

# A session that waits until the statements run, sleeps, and then calls the function for them. It
# runs in the server, because most statements take milliseconds. CREATE INDEX CONCURRENTLY may wait
# for this session, without a snapshot.
sub start_killer
{
	my ($function, $seconds) = @_;
	my $sql = "DO \$\$ DECLARE victim int; BEGIN LOOP PERFORM pg_stat_clear_snapshot(); SELECT pid INTO victim FROM pg_stat_activity "
	  . "WHERE application_name = 'conversion' AND state = 'active' AND (backend_xmin IS NOT NULL OR wait_event_type = 'Lock'); EXIT WHEN FOUND; PERFORM pg_sleep(0.0002); END LOOP; "
	  . "PERFORM pg_sleep($seconds), $function(victim); END \$\$";
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr('postgres') . ' application_name=killer', '-c', $sql ], '<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
	wait_until('the killer', sub { sessions('killer', 'count(*)') > 0 });
	return $run;
}

sub sessions { my ($name, $what) = @_; return $server->safe_psql('postgres', "SELECT $what FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active'"); }

# Runs some of the statements and disturbs the last one, or runs all and disturbs one of them.
# Returns what is wrong.
sub disturb
{
	my ($shape, $writers, @statements) = @_;
	my $kind = rand() < 0.12 ? 'stop' : rand() < 0.5 ? 'pg_terminate_backend' : 'pg_cancel_backend';
	my ($doing, $seconds) = ('any', rand(0.03 * @statements));
	if (rand() < 0.7)
	{
		my ($n) = rand() < 0.25 ? grep { $statements[$_] =~ /snowflake_fill\(/ } 0 .. $#statements : ();
		$n //= int rand @statements;
		my $before = start_statements($shape, @statements[ 0 .. $n - 1 ]);
		$before->finish or return 'statements before the kill failed: ' . slurp_file("$folder/err");
		@statements = $statements[$n];
		$seconds = (0.1 * rand())**(1 + int rand 3);
		$doing = step_of(@statements);
	}
	my ($run, $killer);
	if ($kind eq 'stop')
	{
		stop_writers($$writers);
		$run = start_statements($shape, @statements);
		sleep($seconds);
		$server->stop('immediate');
		$server->start;
	}
	else
	{
		$killer = start_killer($kind, $seconds);
		$run = start_statements($shape, @statements);
	}
	my $ended = $run->finish;
	my $text = slurp_file("$folder/err");
	if ($killer)
	{
		sessions('killer', 'pg_terminate_backend(pid)');
		$killer->finish;
	}
	if ($ended) { $late++; }
	else { $killed++; $happened{$kind}++; $during{$doing}++; }
	$$writers = start_writers($server, $shape) if $kind eq 'stop';
	return $ended || $text =~ /terminating connection|canceling statement|server closed the connection|connection to server|shutting down|starting up|in recovery/ ? '' : "an error: $text";
}

sub step_of
{
	my ($statement) = @_;
	return 'switch' if $statement =~ /check_switch/i;
	return $statement =~ /(snowflake_\w+)\(/ && $1 =~ /^snowflake_(try|fill)$/ ? $1 : lc(($statement =~ /\b(VALIDATE|REINDEX|CREATE\s+(?:UNIQUE\s+)?INDEX|ANALYZE|ADD|DROP)\b/i)[0] // 'other');
}

# Small tables, and some that take some time to fill.
sub begin_life
{
	my ($shape) = @_;
	$ConvertTest::rows = rand() < 0.3 ? 6000 : 200;
	make_shape($server, $shape);
	return (dump_of($server), dump_of($server, exact => 1), start_writers($server, $shape));
}

sub end_life
{
	my ($shape, $writers, $differences) = @_;
	wrong(stop_writers($writers));
	wrong("rows are wrong: $_") for grep { /[1-9]/ } $server->safe_psql('postgres', wrong_rows($shape));
	wrong(join "\n", $differences->());
	wrong(remains($server));
	drop_shape($server, $shape);
	return;
}

### Killed and run again

for (1 .. 10 * $trials)
{
	last if $killed >= $trials || time() - $began > 1000 * slowness();
	my $shape = next_shape();
	$life = sprintf 'life %d, %s', ++$lives, $shape->{name};
	my ($before, $exact, $writers) = begin_life($shape);
	for (1 .. 1 + int rand 3)
	{
		my @statements = eval { online_statements($server, $shape) };
		last if wrong($@) || !@statements || wrong(disturb($shape, \$writers, @statements));
	}
	$conversions++ unless wrong(convert_online($server, $shape)) || wrong(nothing_left($server, $shape));
	my $expected = converted_dump($before, $shape);
	end_life($shape, $writers, sub { differences($expected, dump_of($server)) });
}
cmp_ok($killed, '>=', $trials, "$trials kills happened");
is(join("\n", @errors), '', "$conversions conversions that were killed and run again are as if nobody had disturbed them");

### Abandoned

@errors = ();
for (1 .. $abandons)
{
	my $shape = next_shape();
	$life = sprintf 'life %d, %s, abandoned', ++$lives, $shape->{name};
	my ($before, $exact, $writers) = begin_life($shape);
	my @statements = eval { before_switch(online_statements($server, $shape)) };
	wrong($@);
	my $n = int rand(@statements + 1);
	my $run = start_statements($shape, @statements[ 0 .. $n - 1 ]);
	if (rand() < 0.5) { sleep(rand(0.03 * $n)); sessions('conversion', 'pg_cancel_backend(pid)'); }
	$run->finish;
	for (1 .. int rand 2)
	{
		my @back = eval { online_statements($server, $shape, 'abandon => true') };
		last if wrong($@) || !@back || wrong(disturb($shape, \$writers, @back));
	}
	$abandoned++ unless wrong(convert_online($server, $shape, 'abandon => true')) || wrong(nothing_left($server, $shape, 'abandon => true'));
	end_life($shape, $writers, sub { differences($exact, dump_of($server, exact => 1)) });
}
is(join("\n", @errors), '', "$abandoned conversions that were abandoned left nothing behind");
is($abandoned, $abandons, 'all were');

# The comparison detects a different order of columns.
my $serial = shape_named('serial');
make_shape($server, $serial);
my $exact = dump_of($server, exact => 1);
$server->safe_psql('postgres', 'ALTER TABLE serial.t ADD other text; ALTER TABLE serial.t DROP other');
is(join("\n", differences($exact, dump_of($server, exact => 1))), '', 'a column that came and went leaves the same dump');
$server->safe_psql('postgres', 'CREATE TABLE serial.copy (LIKE serial.t); ALTER TABLE serial.t DROP amount, DROP note; ALTER TABLE serial.t ADD amount numeric(10, 2) DEFAULT 1.5, ADD note text');
isnt(join("\n", grep { /Name: t;/ } differences($exact, dump_of($server, exact => 1))), '', '... and one in another place does not');

my $counts = sub { my %of = @_; join ', ', map { "$_ $of{$_}" } sort keys %of };
figures('%d trials (kills) in %.0f s: %s; during %s; %d came too late; %d conversions, %d abandoned, seed %d', $killed, time() - $began, $counts->(%happened),
	$counts->(%during), $late, $conversions, $abandoned, $seed);
$server->stop('fast');
done_testing();
