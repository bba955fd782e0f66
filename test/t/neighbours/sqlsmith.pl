# Random queries by sqlsmith, as a superuser and as a role that may call every function of snowflake
# and change every table of it. No query ends a process of the server, or makes a function of
# snowflake report an internal error; and ids go on.
#
# SNOWFLAKE_FUZZ_SECONDS sets how long sqlsmith runs. It is Debian's package; test/run unpacks it.
# Not in the default run: a fuzzer.

use strict;
use warnings;

use IPC::Run;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $smith = program_of('sqlsmith', 'sqlsmith');
my $seed = seed();
my $seconds = $ENV{SNOWFLAKE_FUZZ_SECONDS} // at_length(5, 30);

my $server = new_server('smith', preload => 1, patient => 1,
	conf => quiet() . "log_error_verbosity = verbose\nlog_min_error_statement = error\ntrack_functions = all\nsnowflake.max_lead = 1s\n");
start_server($server);
# sqlsmith takes functions from `pg_proc`. The view of that name has those of snowflake, some that
# make arguments for them, and some of PostgreSQL's aggregates.
value($server, q{CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
SELECT snowflake_create_segment('ticket');
CREATE SCHEMA smith;
CREATE VIEW smith.pg_proc AS SELECT * FROM pg_catalog.pg_proc WHERE proname LIKE 'snowflake%' AND prokind = 'f'
	OR prokind = 'a' AND proname IN ('count', 'max', 'array_agg')
	OR prokind = 'f' AND provolatile = 'i' AND NOT proretset AND proname IN ('int8', 'int8pl', 'int8mul', 'lower', 'md5', 'sha256', 'upper', 'make_interval', 'texteq', 'int8lt');
CREATE TABLE argument (a bigint, b integer, c text, d bytea, e interval, f timestamptz, g tstzrange, h text[], i bigint[], j bytea[], k boolean, l name, m regclass);
INSERT INTO argument VALUES
	(0, 0, '', '', '0', 'epoch', 'empty', '{}', '{}', '{}', true, '', 0),
	(-1, -1, 'ticket', sha256('a'), '10 s', now(), tstzrange(now() - interval '1 d', now()), '{ticket,other}', '{1,2}', ARRAY[sha256('a'), sha256('b')], false, 'item', 'pg_class'),
	(9223372036854775807, 2147483647, 'twitter', sha256('b'), '300000 years', 'infinity', '(,)', '{ticket,NULL}', '{NULL,9223372036854775807}', '{NULL}', true, 'public', 'pg_class_oid_index'),
	(-9223372036854775808, -2147483648, 'base58', '\x00', '-1 s', '-infinity', '[-infinity,infinity]', '{{a},{b}}', '{{1},{2}}', '{}', NULL, 'id', 'pg_proc'),
	(snowflake_nextval(), 1, 'order_2EoUjemWtF1M31H', '\xff', '1 d', '2025-01-01 00:00:00+00', '[2026-01-01,2027-01-01)', '{a,b,c}', '{0,0,0}', '{}', false, 'item', 'pg_type'),
	(snowflake_nextval(), 2, repeat('x', 1000), NULL, '1 month', '294276-12-31', '(2026-01-01,)', NULL, NULL, NULL, false, NULL, NULL);
CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), ticket bigint DEFAULT snowflake_segment_nextval('ticket'), name text);
CREATE TABLE typed (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), item bigint REFERENCES item);
CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text);
CREATE TRIGGER claim BEFORE INSERT OR UPDATE OF id ON outbox FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
CREATE VIEW converted AS SELECT i.id, snowflake_to_text(i.id, 'base58', 'item') AS text, d.* FROM item i, LATERAL snowflake_decode(i.id) d;
INSERT INTO item (name) SELECT generate_series(1, 100);
INSERT INTO typed (item) SELECT id FROM item;
INSERT INTO outbox (payload) SELECT name FROM item;
CREATE ROLE super LOGIN SUPERUSER;
CREATE ROLE guest LOGIN;
ALTER ROLE super SET search_path = smith, pg_catalog, public;
ALTER ROLE guest SET search_path = smith, pg_catalog, public;
GRANT USAGE ON SCHEMA smith TO guest;
GRANT ALL ON ALL TABLES IN SCHEMA public, smith TO guest;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO guest;
SELECT pg_stat_reset()});
my $started = value($server, 'SELECT pg_postmaster_start_time()');

my %runs;
for my $role (qw(super guest))
{
	my $run = $runs{$role} = { said => '' };
	$run->{handle} = IPC::Run::start([ $smith, '--target=' . $server->connstr('postgres') . " user=$role", '--exclude-catalog', '--verbose', "--seed=$seed" ],
		'<', '/dev/null', '>', '/dev/null', '2>', \$run->{said});
}
my $until = time() + $seconds;
while (time() < $until)
{
	$_->{handle}->pump_nb for values %runs;
	select undef, undef, undef, 0.1;
}
for my $role (sort keys %runs)
{
	my $run = $runs{$role};
	ok($run->{handle}->pumpable, "$role: sqlsmith runs to the end") or diag(substr $run->{said}, -2000);
	$run->{handle}->kill_kill;
	# A character for each query: a dot if it had no error.
	my $marks = join '', $run->{said} =~ /^([.eStC]+)$/mg;
	figures('%s: %d queries, %d of them without an error, seed %d', $role, length $marks, $marks =~ tr/.//, $seed);
}

# An hour's log is too large for memory.
my (%errors, $error, @ended, @internal);
open(my $log, '<', $server->logfile) or die $!;
while (my $line = <$log>)
{
	if ($line =~ /ERROR:  (\w{5}):/) { $errors{$1}++; $error = $line; }
	if ($line =~ /terminated by signal|all server processes terminated/) { push @ended, $line; }
	if ($line =~ /LOCATION:  \w+, \w+\.cpp:/ && $error =~ /ERROR:  XX/) { push @internal, $error . $line; }
}
is(join('', @ended), '', 'no process was ended');
is(value($server, 'SELECT pg_postmaster_start_time()'), $started, 'the server was not restarted');
figures('errors: %s', join ', ', map { "$_ $errors{$_}" } sort keys %errors);
is(join('', @internal), '', 'no function of snowflake reports an internal error');
my ($calls, $called, $not) = split /\|/, value($server, q{SELECT sum(calls), count(*) FILTER (WHERE calls > 0),
	string_agg(p.proname, ' ' ORDER BY p.proname) FILTER (WHERE calls IS NULL)
	FROM smith.pg_proc p LEFT JOIN pg_stat_user_functions f ON f.funcid = p.oid WHERE p.proname LIKE 'snowflake%'});
figures('%d calls of %d functions, not called: %s', $calls, $called, $not // '');
like(value($server, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'ids go on');
$server->stop('fast');
done_testing();
