# Windows grow from 10 s to snowflake.lease_duration. If this setting is raised, they follow it at
# once (sections 4 and 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('windows', patient => 1, conf => "snowflake.lease_duration = 10min\nrestart_after_crash = on\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

# How long the window was when it was last moved, in seconds.
sub window
{
	return $server->safe_psql('postgres',
		'SELECT extract(epoch FROM snowflake_tick_timestamp(window_end) - extended_at)::numeric(10, 1) FROM snowflake_registry');
}
sub window_end { return $server->safe_psql('postgres', 'SELECT window_end FROM snowflake_status'); }

# The next two windows, each after a third of the previous one. A trigger records every extension,
# however late the test checks.
$server->safe_psql('postgres', q{
CREATE TABLE moves (n int GENERATED ALWAYS AS IDENTITY, length numeric(10, 1), extended_at timestamptz, lease_id bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.moves (length, extended_at, lease_id)
		VALUES (extract(epoch FROM public.snowflake_tick_timestamp(NEW.window_end) - NEW.extended_at), NEW.extended_at, NEW.lease_id);
	RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION note()});
sub moved { return $server->safe_psql('postgres', "SELECT $_[0] FROM moves WHERE n = $_[1]"); }
$server->safe_psql('postgres', 'SELECT snowflake_nextval()');
cmp_ok(abs(moved('length', 1) - 10), '<', 1, 'the first window is 10 s long');
for my $n (2, 3)
{
	my $length = 5 * 2**$n;
	ok(wait_until("a window of $length s", sub { moved('length', $n) ne '' }) && abs(moved('length', $n) - $length) < 1, "the next one is $length s long");
}
is($server->safe_psql('postgres', q{SELECT bool_and(gap > length / 3 - 1)
	FROM (SELECT n, length, extract(epoch FROM lead(extended_at) OVER (ORDER BY n) - extended_at) AS gap FROM moves) m WHERE n <= 2}), 't',
	'a third of each is over before the next is asked for');

# If the keeper waited for a third of the present window, the second of these would take 40 minutes.
for my $hours (2, 12)
{
	my $began = time();
	set_lease_duration($server, "${hours}h");
	ok(wait_until('the larger window', sub { window() > $hours * 3600 - 10 }), "a larger lease_duration is there at once: $hours h");
	figures('%d h were there %.2f s after the reload', $hours, time() - $began);
}

# The present window stays, and the shorter setting does not extend it earlier.
my $end = window_end();
my $looks = $server->safe_psql('postgres', 'SELECT extended_at FROM snowflake_registry');
set_lease_duration($server, '1s');
ok(wait_until('the reload', sub { $server->safe_psql('postgres', 'SHOW snowflake.lease_duration') eq '1s' }), 'lease_duration is lowered');
my $keeper = $server->safe_psql('postgres', 'SELECT keeper_pid FROM snowflake_status');
ok(keeper_looks($server), '... and the keeper has seen it');
is(window_end(), $end, 'the present window stays as it is');
is($server->safe_psql('postgres', 'SELECT extended_at FROM snowflake_registry'), $looks, '... and was not asked for');

# After a crash the lease still has its window; a new lease begins with 10 s again.
set_lease_duration($server, '10min');
kill_and_wait($server, $keeper);
ok(wait_until('ids', sub { ($server->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'after a crash ids flow');
ok(wait_until('an extension', sub { $server->safe_psql('postgres', "SELECT extended_at > '$looks' FROM snowflake_registry") eq 't' }), '... a keeper extends the lease that it found');
is(window_end(), $end, '... whose window is as long as it was');
$server->stop('immediate');
lose_box($server);
$server->start;
ok(wait_until('ids', sub { ($server->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'after a reboot ids flow');
# Its next window is asked for after three seconds.
is($server->safe_psql('postgres', q{SELECT string_agg((snowflake_tick_timestamp(window_end) - extended_at < '11 s' OR
		lease_id = (SELECT max(lease_id) FROM snowflake_registry) AND (SELECT length < 11 FROM moves m WHERE m.lease_id = r.lease_id ORDER BY n LIMIT 1))::text,
		' ' ORDER BY lease_id)
	FROM snowflake_registry r}), 'false true', '... under another lease, with a window of 10 s');
$server->stop('fast');
done_testing();
