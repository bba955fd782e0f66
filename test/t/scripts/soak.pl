# An interrupted test/soak stops cleanly. After its schedule has begun, it checks what exists;
# before that, it leaves nothing. The same seed always gives the same schedule. The comparisons of
# ids, numbers and rows, during the load and afterwards, detect planted faults.
# Not in the default run: it starts whole runs of the script. It needs 40 s of processor time for
# their servers, and for clients that get ids as fast as they can.

use strict;
use warnings;

use lib 'test/perl';
use IPC::Open2;
use PostgreSQL::Test::Utils;
use Schedule;
use Scripts;
use SnowflakeTest;
use SoakChecks;
use Test::More;
use Time::HiRes qw(time);

plan skip_all => 'the script does not depend on the server' if slowness() > 1;

subtest 'one seed has one schedule' => sub {
	my $of = sub { my ($seed) = @_; my $schedule = Schedule->new($seed, 0.1); return map { join ' ', $schedule->next } 1 .. 100_000; };
	my @one = $of->(5);
	rand() for 1 .. 7;
	ok(join("\n", $of->(5)) eq join("\n", @one), 'it is the same, whatever else draws from the generator');
	my %draws = map { $_ => 1 } @one;
	is(scalar(grep { $draws{$_} } $of->(6)), 0, 'another seed has no draw of it');
	# Two or three are expected to repeat, because so many are taken at random from 2^31.
	my %choices = map { (split)[-1] => 1 } @one;
	cmp_ok(scalar(keys %choices), '>', @one - 20, 'the choices are different ones');
	my %times;
	$times{$_}++ for map { /^\S+ (.*) \d+$/ } @one;
	is(join("\n", sort keys %times), join("\n", Schedule::kinds()), 'every kind comes');
	my ($shown) = run_command([ 'test/soak', '--schedule', '--seed', 5, '--faults', 3 ]);
	is(scalar(split /\n/, $shown), 3, 'test/soak shows it');
};

# ---------------------------------------------------------------------------------------------------------------------
# Planted faults
# ---------------------------------------------------------------------------------------------------------------------

my $folder = PostgreSQL::Test::Utils::tempdir();
my $pg_config = sub { my ($what) = @_; return (run_command([ 'pg_config', $what ]))[0]; };
for my $program (qw(clients sorted))
{
	PostgreSQL::Test::Utils::system_or_bail('g++', '-std=gnu++17', '-O1', '-I' . $pg_config->('--includedir'), "test/proof/$program.cpp",
		'-L' . $pg_config->('--libdir'), '-lpq', '-pthread', '-o', "$folder/$program");
}

my $server = new_server('planted', preload => 0);
start_server($server);

# Databases in which those functions are sequences, and ids have the tick planted.tick.
sub plant
{
	my ($dbname, $id, $number) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->safe_psql($dbname, qq{
CREATE SEQUENCE i; CREATE SEQUENCE n;
CREATE FUNCTION snowflake_nextval() RETURNS bigint LANGUAGE sql AS \$\$ SELECT (current_setting('planted.tick')::bigint << 22) + $id \$\$;
CREATE FUNCTION snowflake_nextvals(count int) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT snowflake_nextval() FROM generate_series(1, count)';
CREATE FUNCTION snowflake_segment_nextval(name text) RETURNS bigint LANGUAGE sql AS \$\$ SELECT $number \$\$;
CREATE TABLE kept (id bigint DEFAULT snowflake_nextval());
CREATE TABLE counted (number bigint DEFAULT snowflake_segment_nextval('ticket'))});
	return;
}

# Gets ids of so many milliseconds ago, and numbers, from these databases. Returns what the
# comparison found, how many ids, equal ids and equal numbers sorting finds, how many ids were
# taken, and how many came too late to be compared.
our $ordered = '';
sub taken
{
	my ($ms_ago, @dbnames) = @_;
	my $tick = int(1000 * time()) - 1735689600000 - $ms_ago;
	$server->safe_psql('postgres', "ALTER DATABASE $_ SET planted.tick = $tick") for @dbnames;
	my $files = "$folder/" . join('_', $ms_ago, @dbnames);
	mkdir $files or die "$files: $!";
	my $pid = open2(my $from, my $to, "$folder/clients", $files, 1);
	syswrite $to, join('', map { "start $_ 3 " . $server->connstr($_) . "\n" } @dbnames) . "${ordered}pace 200000\n";
	# Two lines of figures come from two seconds.
	my ($said, $lines) = ('', 0);
	while (defined(my $line = <$from>))
	{
		$said .= $line;
		if ($line =~ /^taken/ && ++$lines == 3) { syswrite $to, "stop\n"; }
	}
	waitpid $pid, 0;
	is($?, 0, 'clients end well');
	my ($found) = $said =~ /^ended .* found (\d+)/m;
	my %found = map { $_ => 1 } $said =~ /^found: ([^\d\n]*?):? -?\d/mg;
	my @sorted = map { (split /\n/, (run_command([ "$folder/sorted", $folder, glob "$files/*.$_" ]))[0])[-1] } qw(ids numbers);
	my ($all, $late) = $said =~ /^ended ids (\d+) .* late (\d+)/m;
	cmp_ok($all, '>', 1000, 'ids were taken');
	return (join(', ', sort keys %found), (split / /, $sorted[0])[ 0, 1 ], (split / /, $sorted[1])[1], $all, $late);
}

# Ids of a sequence rise in each database.
plant($_, "nextval('i')", "nextval('n')") for qw(one other);
plant('cached', "nextval('i')", "nextval('n')");
$server->safe_psql('cached', 'ALTER SEQUENCE i CACHE 20');
plant('odd', "2 * nextval('i') + 1", "nextval('n')");
plant('even', "2 * nextval('i')", "nextval('n')");
plant('falling_ids', "4000 - nextval('i') % 4000", "nextval('n')");
# ... and in this one they fall with every other id, to another worker id.
plant('two_workers', "n.i + (n.i + 1) % 2 * (1 << 21) FROM (SELECT nextval('i') AS i) n", "nextval('n')");
plant('falling_numbers', "nextval('i')", "1 + (nextval('n') + 1) % 2");

subtest 'one generator' => sub {
	my ($found, $ids, $equal, $equal_numbers, $all, $late) = taken(0, 'one');
	is("$found, $ids, $equal, $equal_numbers, $late", ", $all, 0, 0, 0", 'nothing is found, and no id is late');
};
subtest 'two generators with one worker id' => sub {
	$server->safe_psql('one', q{ALTER SEQUENCE i RESTART; ALTER SEQUENCE n RESTART});
	my ($found, $ids, $equal, $equal_numbers, $all) = taken(0, 'one', 'other');
	is($found, 'a number twice, an id twice', 'both are found at once');
	is($ids, $all, 'all were sorted');
	cmp_ok($_, '>', 100, 'and by sorting') for $equal, $equal_numbers;
};
subtest 'ids of another time' => sub {
	my ($found, @counts) = taken(600_000, 'other');
	is($found, 'an id of another time', 'ten minutes ago');
	cmp_ok($counts[-1], '>', 0, '... which is too late to be compared, too');
	is((taken(-600_000, 'other'))[0], 'an id of another time', 'in ten minutes');
};
subtest 'ids and numbers that fall' => sub {
	is((taken(0, 'two_workers'))[0], '', 'ids of another worker id may');
	{
		local $ordered = "ordered two_workers\n";
		is((taken(1, 'two_workers'))[0], 'an id that is not above one of another worker id', '... but not while they are in order');
		$ordered .= "unordered two_workers\n";
		is((taken(2, 'two_workers'))[0], '', '... up to then');
	}
	like((taken(0, 'falling_ids'))[0], qr/an id that is not above one of an earlier call/, 'ids are found');
	is((taken(0, 'cached'))[0], 'an id that is not above one of an earlier call', '... across sessions, too');
	is((taken(0, 'odd', 'even'))[0], 'a number twice', '... but not across nodes');
	like((taken(0, 'falling_numbers'))[0], qr/a number that is not above the one before/, 'numbers are found');
};

sub sql { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }

subtest 'equal ids in tables' => sub {
	my @files = map { "$folder/kept$_" } 1, 2;
	append_to_file($files[0], "11\n12\n");
	append_to_file($files[1], "13\n12\n");
	is(join(' ', (compare_ids(@files))[ 0, 1 ]), '4 1', 'are found');
};

# A table whose ids are even, and two readers that have all of them: one in the database, the other
# in a file.
sql(q{
CREATE EXTENSION snowflake;
CREATE TABLE outbox (id bigint);
INSERT INTO outbox SELECT (snowflake_id_at(now()) / 2 + i) * 2 FROM generate_series(1, 100) i;
CREATE TABLE consumed AS SELECT id FROM outbox;
CREATE TABLE position AS SELECT max(id) AS last FROM outbox});
my ($row, $newest) = split /\n/, sql('(SELECT id FROM outbox ORDER BY id LIMIT 1) UNION ALL SELECT last FROM position');
my $got = "$folder/got.out";
append_to_file($got, "connection\n" . sql('SELECT id FROM outbox ORDER BY id') . "\n");

sub readers_are
{
	my ($what, $wrong, $differences) = @_;
	is(join(' ', consumer_checked(sql($check_consumer))), $wrong, "$what: while it runs");
	is(reader_differences($server), $differences, '... afterwards, of the reader in the database');
	is(reader_differences($server, $got), $differences, '... and of the one with a file');
	return;
}

subtest 'rows that readers miss or get twice' => sub {
	readers_are('nothing is wrong', '100 0', '');
	my $below = $newest - 1;
	sql("INSERT INTO outbox VALUES ($below)");
	readers_are('a row inserted below their position', '101 1', "$below\n");
	sql("DELETE FROM outbox WHERE id = $below");
	my $above = $newest + 1;
	sql("INSERT INTO outbox VALUES ($above)");
	is(join(' ', consumer_checked(sql($check_consumer))), '100 0', 'a row above is not missed while it runs');
	is(reader_differences($server), "$above\n", '... but afterwards');
	sql("DELETE FROM outbox WHERE id = $above; INSERT INTO consumed VALUES ($row)");
	append_to_file($got, "$row\n");
	readers_are('a row delivered twice', '100 1', "\t$row\n");
};

subtest 'rows of converted tables' => sub {
	my $said = "$folder/legacy.out";
	append_to_file($said, "connection\n" . sql(q{
CREATE TABLE legacy (id int, token uuid);
CREATE TABLE legacy_1 (id bigint, token uuid);
CREATE TABLE child (legacy_id int, parent uuid, token uuid);
CREATE TABLE child_1 (legacy_id bigint, parent uuid, token uuid);
INSERT INTO legacy SELECT i, gen_random_uuid() FROM generate_series(1, 10) i RETURNING token}) . "\n"
		. sql('INSERT INTO legacy_1 SELECT i, gen_random_uuid() FROM generate_series(1, 10) i RETURNING token') . "\n"
		. sql('INSERT INTO child_1 SELECT id, token, gen_random_uuid() FROM legacy_1 RETURNING token') . "\n");
	my $found = sub { my $tokens = compare_tokens($server, $said); return join ', ', map { "$_ $tokens->{$_}" } sort keys %$tokens; };
	is($found->(), 'children 10, confirmed 30, converted 1, lost 0, strayed 0, twice 0', 'nothing is wrong');
	sql('INSERT INTO legacy SELECT * FROM legacy_1 WHERE id = 3');
	is($found->(), 'children 10, confirmed 30, converted 1, lost 0, strayed 0, twice 1', 'a row that is in both tables');
	sql('DELETE FROM legacy_1 WHERE id > 8');
	is($found->(), 'children 10, confirmed 30, converted 1, lost 2, strayed 2, twice 1', 'rows that were deleted');
	sql('UPDATE child_1 SET legacy_id = 3 WHERE legacy_id = 4');
	is($found->(), 'children 10, confirmed 30, converted 1, lost 2, strayed 3, twice 1', 'a child with the parent of another');
};
$server->stop;

# ---------------------------------------------------------------------------------------------------------------------
# The script, interrupted
# ---------------------------------------------------------------------------------------------------------------------

my @long = qw(test/soak --ids 1000000000 --faults 100000 --minutes 60);
my %early = (name => 'while it builds', command => [@long], until => sub { $_[0] =~ /working in/ }, signal => 'INT', group => 1);
my %later = (name => 'under way', command => [@long], until => sub { $_[0] =~ /[1-9]\d* faults, \d{4,} ids/ }, signal => 'INT', group => 1);
run_all(\%early, \%later);

isnt($early{status}, 0, 'interrupted before its schedule begins, it fails');
is($later{status}, 0, 'interrupted later, it has checked what there is') or diag($later{said});
like($later{said}, qr/^stopping: .*^sorted: 0 ids again, 0 numbers again\n.*^\d+ passed, 0 failed$/ms, '... and says so');
for my $case (\%early, \%later)
{
	my $place = folder_of($case->{said});
	ok($place && !-e $place, "$case->{name}: no folder stays");
	is($place && processes_in($place), '', "$case->{name}: no process stays");
}
diag($1) while $later{said} =~ /^(seed .*)$/mg;

done_testing();
