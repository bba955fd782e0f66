# Several promotions between two leases halve the free worker ids as often ("Settling", section 4 of the design): of few, all but
# one are held back, which the error (SF004) says. After half of the time that the registry settles, not earlier and not later,
# everything is there again.

use strict;
use warnings;

use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $small = new_server('small', streaming => 1, conf => "snowflake.lease_duration = 8s\nsnowflake.max_clock_skew = 0\nsnowflake.start_timeout = 2s\n");
start_server($small);
value($small, q{CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 3, 12, false);
	SELECT snowflake_nextval()});
my $first = standby_of($small, 'first');
my $next = standby_of($first, 'next');
$small->wait_for_catchup($first, 'replay', $small->lsn('flush'));
$first->promote;
ok(wait_until('the cascaded standby follows', sub {
	value($next, q{SELECT received_tli = 2 FROM pg_stat_wal_receiver}) eq 't';
}), 'a standby of the promoted server follows it');
$first->stop('fast');
$next->promote;

# One lease of eight is out; of the 7 free ones two promotions leave 1.
my $acquire = q{snowflake_acquire('n', 0, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000, '8 s')};
my @got = split /\n/, $next->safe_psql($db, qq{
	CREATE TABLE tries (n bigint GENERATED ALWAYS AS IDENTITY, at timestamptz, code text, message text, worker int);
	DO \$\$
	DECLARE w int; c text; m text; began timestamptz; refused int := 0;
	BEGIN
		FOR i IN 1 .. 3000 LOOP
			w := NULL; c := NULL; m := NULL;
			began := clock_timestamp();
			BEGIN
				SELECT worker_id INTO w FROM $acquire;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS c := RETURNED_SQLSTATE, m := PG_EXCEPTION_DETAIL;
			END;
			-- The registry looked at its clock in between.
			INSERT INTO tries (at, code, message, worker) VALUES (CASE WHEN c IS NULL THEN clock_timestamp() ELSE began END, c, m, w);
			COMMIT;
			EXIT WHEN c IS NULL AND i > 2;
			PERFORM pg_sleep(0.02);
		END LOOP;
	END \$\$;
	SELECT count(*) FROM tries WHERE code IS NULL AND at < (SELECT settles_until - settling_us / 2 * interval '1 us' FROM snowflake_origin);
	SELECT string_agg(DISTINCT code, ' ') FROM tries;
	SELECT count(*) FROM tries WHERE code = 'SF004' AND at > (SELECT settles_until - settling_us / 2 * interval '1 us' FROM snowflake_origin);
	SELECT count(*) FROM tries WHERE code IS NULL AND at > (SELECT settles_until - settling_us / 2 * interval '1 us' FROM snowflake_origin);
	SELECT message FROM tries WHERE code = 'SF004' LIMIT 1;
	SELECT timeline, settling_cuts FROM snowflake_origin;});
is($got[0], '1', 'of 7 free worker ids two promotions leave one');
is($got[1], 'SF004', '... and then all others are held back');
is($got[2], '0', '... not a moment longer than half of the time that it settles');
is($got[3], '1', '... and afterwards they are there again');
# The one in use may stand in the last place; the last free one is then the one before.
like($got[4], qr/^Of 8 worker ids, [67] are held back until .* commits of the registry may have been lost/, '... which the error says');
like($got[5], qr/^3\|\{[67]\}$/, 'snowflake_origin has the timeline and the cut') or diag(join("\n", @got));
like(value($next, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'ids flow');
is(value($next, 'SELECT count(*) FROM snowflake_registry'), value($next, 'SELECT count(DISTINCT worker_id) FROM snowflake_registry'),
	'each worker id is leased once');
$_->stop('fast') for $next, $small;
done_testing();
