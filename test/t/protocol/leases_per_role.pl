# snowflake.max_leases_per_role. A role never has more leases in use than its limit, whatever expires,
# is extended after its window was over, or is acquired by several sessions at once. A role at its
# limit gets another lease in place of its own lease whose window has been over for longest, judged by
# the earlier clock. While the registry settles, nothing expires, and the error says so.
#
# SNOWFLAKE_ALL=1 runs more random schedules.
# Not in the default run: it needs 2 s of processor time.
use strict;
use warnings;

use lib 'test/perl';
use IPC::Run;
use PostgreSQL::Test::Utils;
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('leases_per_role');
my ($session, $dbname) = registry($server, 1, 5);
my $limit = sub { $session->query_safe("SET snowflake.max_leases_per_role = $_[0]"); };
my $leases = sub { $session->query_safe(q{SELECT string_agg(lease_id::text, ' ' ORDER BY lease_id) FROM snowflake_registry}) };
my $now = sub { now_ms() - 1_735_689_600_000 };

$limit->(2);
my ($first) = acquire($session, 1000, '10 s');
my ($second) = acquire($session, 2000, '10 s');
my (undef, $state, $text) = acquire($session, 10_999, '10 s');
is($state, '53400', 'a role at its limit gets no third lease');
like($text, qr/DETAIL:  It has 2; snowflake\.max_leases_per_role is 2\. The first of these leases ends at 2025-01-01 .*:11\S* unless it is extended\.$/m, '... until the first one ends');
like($text, qr/HINT:  .*snowflake_evict\(worker_id, dead_since\)/, '... or is evicted');
my ($third) = acquire($session, 11_000, '10 s');
is($leases->(), "$second->{id} $third->{id}", '... but one in place of the lease that has expired');
isnt($third->{worker}, $first->{worker}, '... with a worker id that was not used for longer');
is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $first->{worker}"), 10_999, '... whose window became the watermark');
is((extend($session, $first, 11_000))[1], '', '... and which its node cannot extend any more');
my $holder = $server->background_psql($dbname);
$holder->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
is((acquire($session, 50_000, '10 s', 1))[1], '53400', 'a lease that another call has locked makes no room');
$holder->query_safe('ROLLBACK');
$holder->quit;
my ($fourth) = acquire($session, 50_000, '10 s', 1);
is($leases->(), "$third->{id} $fourth->{id}", 'if several have expired, that goes whose window has been over for longest, also for another datacenter');
is((extend($session, $third, 51_000, '1 min'))[1], 111_000, 'an expired lease that is left can be extended');
is((acquire($session, 52_000))[1], '53400', '... and counts as it did before');

# A node whose clock is ahead ends no lease, and neither does one whose clock is behind.
$limit->(1);
my ($of_today) = acquire($session, $now->(), '1 min');
is($leases->(), $of_today->{id}, 'after the limit was lowered, all that have expired make room');
is((acquire($session, $now->() + 7_200_000))[1], '53400', 'expiry is not judged by a node whose clock is ahead');
is((acquire($session, 11_000))[1], '53400', '... but by one whose clock is behind');
$limit->(2);
my ($of_tomorrow) = acquire($session, $now->() + 86_400_000, '1 min');
$limit->(1);
($state, $text) = (acquire($session, $now->()))[ 1, 2 ];
like($text, qr/DETAIL:  It has 2; snowflake\.max_leases_per_role is 1\./, 'a limit that was lowered ends no lease');
ok(defined((release($session, $of_tomorrow, $of_tomorrow->{start}))[1]), '... but none is added');
$session->quit;

# Lost commits.
($session) = registry($server, 0, 5);
# The id below the newest one is no skipped one, which would prove a loss by itself.
my ($earlier) = acquire($session, 1000, '10 s');
release($session, $earlier, $earlier->{start});
my ($known) = acquire($session, 1000, '10 s');
$limit->(1);
my $last = $session->query_safe('SELECT last_lease_id FROM snowflake_origin');
my $free = ($known->{worker} + 8) % 32;
my $unknown = $last - 1;
is((try_sql($session, "SELECT window_end FROM snowflake_lease_extend($unknown, sha256('$unknown'), 20000, '1 min', 25000, $free, 2000)"))[1], '', 'a lost lease is not adopted beyond the limit, although another lease has expired');
my $settles = sub { $session->query_safe('SELECT settles_until IS NOT NULL FROM snowflake_origin') };
is($settles->(), 'f', '... and proves nothing');
my $seen = $last + 5;
is(lease_acquire($session, 20_000, '10 s', new_secret(), $seen), '|||', 'a loss that an acquire shows is recorded, although the role is at its limit');
is($settles->(), 't', '... so the registry settles');
is((try_sql($session, "SELECT window_end FROM snowflake_lease_extend($unknown, sha256('$unknown'), 20000, '1 min', 25000, $free, 2000)"))[1], '25000', 'then the node of a lost lease may use its window up');
is($leases->(), $known->{id}, '... and no lease is added');
($state, $text) = (acquire($session, 20_000))[ 1, 2 ];
is($state, '53400', 'while it settles, no lease expires');
like($text, qr/DETAIL:  It has 1; snowflake\.max_leases_per_role is 1\. The registry settles until .*, and no lease expires before\.$/m, '... which the error says');
like($text, qr/HINT:  If nothing was lost, call snowflake_settled\(\)/, '... and what to do');
is($leases->(), $known->{id}, '... and the lease is still there');
$session->query_safe('SELECT snowflake_settled()');
ok((acquire($session, 20_000))[0], 'when it has settled, the role gets a lease');
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), 1, '... in place of the other');
$session->quit;

# A trigger that keeps the expired lease does not keep the call from ending.
($session) = registry($server, 0, 1);
$session->query_safe(q{CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER a_keep BEFORE DELETE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION keep()});
acquire($session, 1000, '10 s') for 1 .. 2;
is((acquire($session, 20_000))[1], '55000', 'an expired lease that a trigger keeps is an error, if its worker id is needed');
$limit->(2);
is((acquire($session, 20_000))[1], '55000', '... and if its role is at its limit');
$session->quit;

# Random schedules: in each, a role with a limit of its own acquires and extends leases in several
# sessions at once. All share one clock, and any session may extend the lease of another.
my $schedules = at_length(150, 1000);
my ($sessions, $steps) = (4, 4);
seed();
($session, $dbname) = registry($server, 0, 6);
$session->query_safe(qq{
	CREATE SEQUENCE clock INCREMENT 500 START 1000000;
	CREATE TABLE held (role regrole, lease_id bigint, hash bytea, worker integer, window_start bigint);
	CREATE INDEX ON held (role);
	CREATE FUNCTION step("limit" integer) RETURNS void LANGUAGE plpgsql AS \$\$
	DECLARE
		tick bigint := nextval('clock');
		lasts interval := make_interval(secs => 1 + floor(random() * 10));
		own regrole := session_user::regrole;
		known held;
		live bigint;
	BEGIN
		SELECT * INTO known FROM held WHERE role = own ORDER BY random() LIMIT 1;
		IF known IS NULL OR random() < 0.6 THEN
			known.hash := sha256(uuid_send(gen_random_uuid()));
			INSERT INTO held SELECT own, lease_id, known.hash, worker_id, window_start
				FROM snowflake_lease_acquire('n', 0, tick, lasts, known.hash, 0, NULL);
		ELSE
			PERFORM snowflake_lease_extend(known.lease_id, known.hash, tick, lasts, 0, known.worker, known.window_start);
		END IF;
		SELECT count(*) INTO live FROM snowflake_registry r WHERE r.role = own AND window_end > tick;
		IF live > "limit" THEN
			RAISE EXCEPTION 'role % has % leases, and a limit of %', own, live, "limit";
		END IF;
	END \$\$;
	DO 'BEGIN FOR i IN 1 .. $schedules LOOP EXECUTE format(\$f\$CREATE ROLE role_%s\$f\$, i); END LOOP; END';
	GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC;
	GRANT ALL ON held, clock TO PUBLIC;
	GRANT SELECT ON snowflake_registry TO PUBLIC});
my $script = join '', map { my $most = 1 + int(rand(4));
	"RESET SESSION AUTHORIZATION;\nSET snowflake.max_leases_per_role = $most;\nSET SESSION AUTHORIZATION role_$_;\n" . "SELECT step($most);\n" x $steps } 1 .. $schedules;
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/script", $script);
my @runs = map { IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr($dbname), '-f', "$folder/script" ], '>', '/dev/null', '2>', "$folder/$_.err") } 1 .. $sessions;
$_->finish for @runs;
is($session->query_safe('SELECT (last_value - 1000000) / 500 + 1 FROM clock'), $schedules * $sessions * $steps, 'all sessions ran all steps');
my %errors;
for my $line (map { split /\n/, slurp_file("$folder/$_.err") } 1 .. $sessions) { ++$errors{"$1 $2"} if $line =~ /ERROR:\s+(\w{5}): (.*)/; }
my $refused = 0;
for my $error (sort keys %errors) { $refused += delete $errors{$error} if $error =~ /^53400 too many leases for role/; }
is_deeply(\%errors, {}, "in $schedules schedules of $sessions sessions, no role has more leases than its limit");
my ($acquired, $gone) = split /\|/, $session->query_safe('SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM snowflake_registry r WHERE r.lease_id = h.lease_id)) FROM held h');
figures('%d leases, of which %d made room for others, and %d refusals', $acquired, $gone, $refused);
cmp_ok($_->[1], '>', $schedules, "enough $_->[0]") for [ leases => $acquired ], [ refusals => $refused ];
cmp_ok($gone, '>', $schedules / 2, '... and enough that made room');
$session->quit;

$server->stop('fast');
done_testing();
