# Runs the readers of doc/horizon.md from the page, in SQL, in Python, through a view and as a feed:
# waiting and polling, of one node, of two nodes whose rows are gathered, and on a standby. Meanwhile
# the writers' transactions end in a different order than they got their ids. Each reader gets each
# row once. The same reader without the horizon misses some rows. Events that are written as the page
# says have ids in the order of the changes.
# Not in the default run: it runs a whole page, with readers and writers at the same time.

use strict;
use warnings;

use IPC::Run;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $page = slurp_file('doc/horizon.md');
sub block { my ($language, $what) = @_; return block_of('doc/horizon.md', $what, $language); }

my $server = new_server('server', streaming => 1, patient => 1,
	conf => "log_statement = none\nautovacuum = off\nwal_level = logical\nmax_connections = 50\nmax_worker_processes = 20\nmax_wal_senders = 10\nmax_replication_slots = 10\n");
start_server($server);
# Two nodes and the database that gathers their rows: three databases.
my @nodes = (app => 'berlin', paris => 'paris');
my %name_of = @nodes;
my @databases = ('app', 'paris', 'gathered');
sub value { my ($dbname, $sql) = @_; return $server->safe_psql($dbname, $sql); }

# In SQL_ASCII Python gets bytes instead of text.
value('postgres', "CREATE DATABASE $_ TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'") for @databases;
value('app', block('sql', 'CREATE TABLE outbox '));
value('app', block('sql', 'CREATE TABLE account'));
value('app', block('sql', 'CREATE TRIGGER outbox_notify'));
value('app', block('sql', 'CREATE VIEW outbox_ready'));
value('app', q{INSERT INTO outbox_reader (name) VALUES ('naive'), ('poll'), ('listen')});
value($_, 'CREATE EXTENSION snowflake') for 'paris', 'gathered';
value($_, block('sql', 'CREATE TABLE event ') . block('sql', 'CREATE TABLE event_horizon')) for @databases;
for my $database (keys %name_of)
{
	value($database, block('sql', 'ALTER DATABASE') =~ s/\bapp SET app\.node = 'berlin'/$database SET app.node = '$name_of{$database}'/r);
	value($database, block('sql', 'CREATE PUBLICATION'));
	# A subscription within one server cannot make its slot itself.
	value($database, "SELECT pg_create_logical_replication_slot('$name_of{$database}', 'pgoutput')");
	value('gathered', sprintf(q{CREATE SUBSCRIPTION %s CONNECTION '%s' PUBLICATION events WITH (create_slot = false)}, $name_of{$database}, $server->connstr($database) =~ s/'/''/gr));
}
$server->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($server, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'max_logical_replication_workers = 0');
$standby->start;
my ($copied) = $page =~ /`(SELECT bool_and\(srsubstate .*?)`/ or die 'nothing says when the first copies are done';
ok(wait_until('the first copies', sub { value('gathered', $copied) eq 't' }), 'the first copies are done');
my ($error) = query_error($standby, 'app', 'SELECT snowflake_horizon()');
is($error, '25006', 'no horizon on a standby');

# ---------------------------------------------------------------------------------------------------------------------
# Writers and readers at the same time
# ---------------------------------------------------------------------------------------------------------------------

# Transactions that end in a different order than they got their ids, and some that are rolled back.
my $write = q{
BEGIN; INSERT INTO %1$s (payload) VALUES ('slow'); SELECT FROM pg_sleep(random() * 0.2); INSERT INTO %1$s (payload) VALUES ('slow'); COMMIT;
INSERT INTO %1$s (payload) VALUES ('one');
INSERT INTO %1$s (payload) SELECT 'many' FROM generate_series(1, 20);
BEGIN; INSERT INTO %1$s (payload) VALUES ('none'); SELECT FROM pg_sleep(random() * 0.05); ROLLBACK;
INSERT INTO %1$s (payload) VALUES ('one');
SELECT FROM pg_sleep(random() * 0.02);
};
# Changes of two accounts. Each transaction requests an id before it waits for the account.
my $change = block('sql', 'a change, and its event') =~ s/BEGIN;/BEGIN; SELECT FROM snowflake_nextvals(1);/r;
my @writers = (
	start_clients($server, 3, sprintf($write, 'outbox') x 3, dbname => 'app'),
	(map { start_clients($server, 3, $change =~ s/'anna'/'$_'/gr x 10, dbname => 'app') } 'anna', 'bert'),
	map { start_clients($server, 2, sprintf($write, 'event') x 3, dbname => $_) } keys %name_of);

# A reader in SQL consists of two clients at the same time, which read in turns.
sub read_in_turns
{
	my ($dbname, $sql) = @_;
	return start_clients($server, 2, "$sql SELECT FROM pg_sleep(0.02);\n" x 20, dbname => $dbname);
}
my $batch = block('sql', 'one batch, as often');
my $naive = $batch =~ s/ AND id < snowflake_horizon\(\)//r =~ s/'mail'/'naive'/gr;
isnt($naive, $batch =~ s/'mail'/'naive'/gr, 'a reader without the horizon');
my %sql = (
	mail => read_in_turns('app', $batch),
	naive => read_in_turns('app', $naive),
	gathered => read_in_turns('gathered', block('sql', 'gathered: one batch')));
my $write_horizon = block('sql', 'UPDATE event_horizon') . "SELECT FROM pg_sleep(0.05);\n";
my @horizons = map { start_clients($server, 1, $write_horizon x 20, dbname => $_) } keys %name_of;

# A reader in Python prints ids.
my $folder = PostgreSQL::Test::Utils::tempdir();
my $program = block_of('doc/recipes.md', 'def poll', 'python') . block('python', 'def listen');
# Without the page's periodic look, to show that NOTIFY wakes the reader.
(my $woken = $program) =~ s/\[\], 1\.0\)/[], 600)/ or die 'no pause to be longer';
my %python;
sub start_python
{
	my ($reader, $how, $source) = @_;
	append_to_file("$folder/$reader.py", $source . <<'PYTHON');

import sys
{"poll": poll, "listen": listen}[sys.argv[1]](sys.argv[2], sys.argv[3], lambda id, payload: print(id, payload, sep="|", flush=True))
PYTHON
	$python{$reader} = IPC::Run::start([ '/usr/bin/python3', "$folder/$reader.py", $how, $server->connstr('app') . " application_name=$reader", $reader ], '<', '/dev/null', '>', "$folder/$reader.out", '2>', "$folder/$reader.err");
	return;
}
start_python('poll', 'poll', $program);
start_python('listen', 'listen', $program);

# The rows that a reader delivered: [node|]id|payload.
sub delivered { return map { my $file = $_; -e $file ? slurp_file($file) =~ /^((?:\w+\|)?\d+)\|(?:\w+|\{.*\})$/mg : () } @_; }

# On the standby: with the horizon that was stored in a table, and with one that was read together
# with a position in the WAL.
my %there = (written => [0], place => [0]);
sub read_there
{
	my ($way, $horizon) = @_;
	my @ids = split /\n/, $standby->safe_psql('app', "SELECT id FROM event WHERE id > $there{$way}[-1] AND id < $horizon ORDER BY id");
	push @{ $there{$way} }, @ids;
	return;
}
my ($taken) = $page =~ /`(SELECT snowflake_horizon\(\), pg_current_wal_insert_lsn\(\))`/ or die 'no horizon with a place in the WAL';
sub read_standby
{
	read_there('written', '(SELECT horizon FROM event_horizon)');
	my ($horizon, $lsn) = split /\|/, value('app', $taken);
	wait_until('the standby', sub { $standby->safe_psql('app', "SELECT pg_last_wal_replay_lsn() >= '$lsn'") eq 't' });
	read_there('place', $horizon);
	return;
}
# A tool that polls, with the page's view.
my ($sql_of_tool) = $page =~ /`(SELECT \* FROM outbox_ready WHERE id > \d+ ORDER BY id)`/ or die 'no statement of a tool';
my @polled = (0);
sub read_view { push @polled, map { s/\|.*//r } split /\n/, value('app', "SET ROLE connector; " . $sql_of_tool =~ s/\d+/$polled[-1]/r); return; }
# A client of the feed.
my ($page_of_feed, $cursor, @fed) = (block('sql', 'one page; psql'), 0);
my $full_pages = 0;
sub read_feed
{
	my $got = value('app', $page_of_feed =~ s/:cursor/$cursor/gr);
	my ($rows, $next) = $got =~ /^(\[.*\])\|(\d+)$/s or die $got;
	my @ids = $rows =~ /"id" : "(\d+)"/g;
	++$full_pages if @ids == 100;
	cmp_ok($next, '>=', $ids[-1] // $cursor, 'the cursor of the feed does not fall') || die;
	($cursor, @fed) = ($next, @fed, @ids);
	return;
}
# On a busy machine it takes longer until there are enough rows.
my $enough = sub {
	my ($rows, $changes) = split /\|/, value('app', q[SELECT count(*), count(*) FILTER (WHERE payload LIKE '{%') FROM outbox]);
	return $rows > 400 && $changes > 150 && !grep { value($_, 'SELECT count(*) FROM event') < 400 } keys %name_of;
};
my ($until, $latest) = (time() + 3 * slowness(), time() + 120 * slowness());
while (time() < $until || (time() < $latest && !$enough->()))
{
	read_view();
	read_feed();
	read_standby();
}
stop_clients($_) for @writers;

# ---------------------------------------------------------------------------------------------------------------------
# What the readers got
# ---------------------------------------------------------------------------------------------------------------------

# Whether the reader got each row once; `rising`: in the order of ids.
sub got
{
	my ($what, $look, $rows, $rising) = @_;
	my %there = map { $_ => 1 } @$rows;
	my @got;
	wait_until("the rest for $what", sub { @got = $look->(); @got >= @$rows });
	my %times;
	$times{$_}++ for @got;
	is(scalar(grep { $_ > 1 } values %times), 0, "$what: nothing twice of " . @got);
	is(scalar(grep { !$times{$_} } @$rows), 0, '... nothing missed');
	is(scalar(grep { !$there{$_} } keys %times), 0, '... nothing that is not there');
	is(scalar(grep { $got[$_] <= $got[ $_ - 1 ] } 1 .. $#got), 0, '... in the order of ids') if $rising;
	return;
}
my @outbox = split /\n/, value('app', 'SELECT id FROM outbox');
my @berlin = split /\n/, value('app', 'SELECT id FROM event');
my @events = map { split /\n/, value($_, q{SELECT node || '|' || id FROM event}) } keys %name_of;
cmp_ok(scalar(@$_), '>', 300, 'rows: ' . @$_) for \@outbox, \@berlin, \@events;
got('in SQL', sub { delivered(@{ $sql{mail}{files} }) }, \@outbox);
got('gathered', sub { delivered(@{ $sql{gathered}{files} }) }, \@events);
got('polling in Python', sub { delivered("$folder/poll.out") }, \@outbox, 1);
got('listening in Python', sub { delivered("$folder/listen.out") }, \@outbox, 1);
got('through the view', sub { read_view(); my (undef, @ids) = @polled; @ids }, \@outbox, 1);
got('from the feed', sub { read_feed(); @fed }, \@outbox, 1);
my $last_id = $outbox[-1];
ok(wait_until('a page without rows', sub { read_feed(); $cursor > $last_id }), '... whose cursor goes on without rows');
cmp_ok($full_pages, '>', 0, '... and which had full pages');
for my $way (sort keys %there)
{
	got("on the standby ($way)", sub { read_standby(); my (undef, @ids) = @{ $there{$way} }; @ids }, \@berlin, 1);
}
stop_clients($_) for values %sql, @horizons;
is(value('app', q~SELECT count(*) > 100, count(*) FILTER (WHERE id <= before) FROM (
	SELECT id, lag(id) OVER (PARTITION BY payload::json->>'name' ORDER BY (payload::json->>'version')::bigint) AS before FROM outbox WHERE payload LIKE '{%') e~),
	't|0', 'events of an account are in the order of its versions');
my %seen = map { $_ => 1 } delivered(@{ $sql{naive}{files} });
my $missed = grep { !$seen{$_} } @outbox;
cmp_ok($missed, '>', 0, "without the horizon $missed rows are missed");
figures('%d rows, %d missed without the horizon', scalar(@outbox), $missed);

# Without any periodic look. On a busy machine a notification may come before its row is below the
# horizon; the next notification makes up for it.
$_->kill_kill for values %python;
value('app', q{INSERT INTO outbox_reader (name, last_id) SELECT 'woken', last_id FROM outbox_reader WHERE name = 'poll'});
start_python('woken', 'listen', $woken);
wait_until('who listens', sub { value('app', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'woken' AND query = 'COMMIT' AND state = 'idle'}) > 0 });
my $told = value('app', q{INSERT INTO outbox (payload) VALUES ('told') RETURNING id});
my $tells = 1;
ok(wait_until('who listens to wake', sub {
	return 1 if grep { $_ == $told } delivered("$folder/woken.out");
	value('app', 'NOTIFY outbox') if ++$tells % 5 == 0;
	return 0;
}), 'a notification wakes who listens');
$python{woken}->kill_kill;
is(slurp_file("$folder/$_.err"), '', "$_ in Python says nothing") for grep { -s "$folder/$_.err" } keys %python;

# ---------------------------------------------------------------------------------------------------------------------
# The rest of the page
# ---------------------------------------------------------------------------------------------------------------------

my $session = $server->background_psql('app');
my ($pid) = ask($session, q{BEGIN; INSERT INTO outbox (payload) VALUES ('long'); SELECT pg_backend_pid()});
my $status = block('sql', 'SELECT horizon, horizon_pid') =~ s/;\s*$//r;
is(value('app', "SELECT horizon > 0, horizon_age_seconds > 0, horizon_pid, horizon_since < now() FROM ($status) s"), "t|t|$pid|t", 'the status says what holds the horizon back');
is(value('app', "SELECT count(*) FROM outbox WHERE payload = 'long'"), '0', '... which has not ended');
ask($session, 'ROLLBACK');

# Two sessions that claim the same id in turns, and a role that may no longer create the trigger.
my ($tables, $revoke) = split /^(?=REVOKE)/m, block('sql', 'REVOKE EXECUTE');
value('app', 'CREATE ROLE one; CREATE ROLE two; GRANT CREATE ON SCHEMA public TO one, two; SET ROLE one; CREATE TABLE turns (id bigint); CREATE TRIGGER claim BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION snowflake_claim(\'id\')');
is(value('app', $tables), join("\n", map { s/postgres/value('app', 'SELECT current_user')/er } 'outbox|outbox_claim|postgres', 'event|event_claim|postgres', 'turns|claim|one'), 'the tables with the trigger');
my $claimed = value('app', 'SELECT snowflake_nextval()');
my @turns = ($session, $server->background_psql('app'));
my ($holds) = block('sql', 'JOIN pg_stat_activity') =~ s/;\s*$//r;
my %seen_as;
ask($turns[0], "SET ROLE one; BEGIN; INSERT INTO turns VALUES ($claimed)");
for my $turn (1 .. 4)
{
	select undef, undef, undef, 0.3;
	++$seen_as{ value('app', "SELECT usename = current_user, horizon_since = snowflake_timestamp($claimed), $turn = 1 OR xact_start > horizon_since + interval '0.2 s', query LIKE 'INSERT%' FROM ($holds) h") };
	ask($turns[ $turn % 2 ], "SET ROLE one; BEGIN; INSERT INTO turns VALUES ($claimed)");
	ask($turns[ 1 - $turn % 2 ], 'COMMIT');
}
is_deeply(\%seen_as, { 't|t|t|t' => 4 }, 'the query shows who holds the horizon back in turns');
ask($turns[0], 'COMMIT');
value('app', q{SET ROLE one; CREATE TABLE days (id bigint) PARTITION BY RANGE (id); CREATE TRIGGER claim BEFORE INSERT ON days FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id')});
value('app', $revoke);
my $partition = 'SET ROLE one; CREATE TABLE day PARTITION OF days DEFAULT';
is((query_error($server, 'app', $partition))[0], '42501', 'nor can a role without EXECUTE create a partition of a table that has it');
value('app', 'GRANT EXECUTE ON FUNCTION snowflake_claim() TO one');
is((query_error($server, 'app', $partition))[0], '00000', '... one with EXECUTE can');
is((query_error($server, 'app', q{SET ROLE two; CREATE TABLE more (id bigint); CREATE TRIGGER claim BEFORE INSERT ON more FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id')}))[0], '42501', 'a role without EXECUTE cannot create the trigger');
is((query_error($server, 'app', 'SET ROLE one; INSERT INTO turns VALUES (snowflake_nextval())'))[0], '00000', '... and triggers that exist stay');
$_->quit for @turns;

# An id in the INSERT that waits for the account: a default is computed before the wait, and the page's
# way after it.
value('app', q{CREATE TABLE setting (name text PRIMARY KEY, id bigint DEFAULT snowflake_nextval()); INSERT INTO setting (name) VALUES ('size')});
my ($after_wait) = $page =~ /`(DO UPDATE SET id = snowflake_nextval\(\))`/ or die 'nothing says how an id is computed after the wait';
my @settings = map { $server->background_psql('app') } 1, 2;
for my $way ('DO UPDATE SET id = excluded.id', $after_wait)
{
	ask($settings[0], q{BEGIN; SELECT FROM setting WHERE name = 'size' FOR UPDATE});
	$settings[1]->query_until(qr/waits/, "\\echo waits\nINSERT INTO setting (name) VALUES ('size') ON CONFLICT (name) $way;\n");
	ok(wait_until('the wait', sub { value('app', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO setting%'}) eq '1' }), "$way: a session waits");
	my ($first) = ask($settings[0], q{UPDATE setting SET id = snowflake_nextval() WHERE name = 'size' RETURNING id});
	ask($settings[0], 'COMMIT');
	$settings[1]->query_safe('SELECT 1');
	cmp_ok(value('app', 'SELECT id FROM setting'), $way eq $after_wait ? '>' : '<', $first, $way eq $after_wait ? '... its id is larger' : '... and has a smaller id than the change before it');
}
$_->quit for @settings;

value('app', q{INSERT INTO outbox (payload) SELECT 'plan' FROM generate_series(1, 20000); ANALYZE outbox});
is(value('app', 'EXPLAIN (COSTS OFF) SELECT id, payload FROM outbox WHERE id > 250000000000000000 AND id < snowflake_horizon() ORDER BY id LIMIT 1000'),
	q{Limit
  ->  Index Scan using outbox_pkey on outbox
        Index Cond: ((id > '250000000000000000'::bigint) AND (id < snowflake_horizon()))}, 'the horizon is an index condition');

my ($begin, $gone) = $page =~ /take `(snowflake_id_at\(.*?\))` for the\s+cursor 0, and answer `410 Gone` to others below `(snowflake_id_at\(.*?\))`/s or die 'no cursor is gone';
is(value('app', "SELECT $begin - $gone"), value('app', q{SELECT snowflake_id_at('2025-01-02 00:00+00')}), 'a new client of the feed begins a day above the cursors that are gone');

value('app', block('sql', 'least\(last_id'));
is(value('app', 'SELECT count(*) FROM outbox_reader WHERE last_id >= (SELECT min(id) FROM outbox)'), '0', 'readers set back');
value('app', 'UPDATE outbox_reader SET last_id = (SELECT max(id) FROM outbox) - 1');
value('app', block('sql', '^DELETE FROM outbox'));
is(value('app', 'SELECT count(*) FROM outbox'), '1', 'what all have read is deleted');

is(rest_of('doc/horizon.md'), '', 'all of the page was run');
$standby->stop('immediate');
$server->stop('immediate');
done_testing();
