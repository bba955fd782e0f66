# Standbys: they read and do not issue; once promoted they issue at once, and no id that the old primary issued or still
# issues (G1, G6 and "Settling", section 4 of the design).
#
# The promoted server's registry is a copy that may lack the newest commits. So it notices the new timeline, lets nothing
# expire for one lease duration, and draws from the farther half of the free worker ids only.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

sub value
{
	my ($server, $sql) = @_;
	return $server->safe_psql($db, $sql);
}

sub ids { return split /\n/, value($_[0], "SELECT snowflake_nextvals($_[1])"); }

my $primary = new_server('primary', streaming => 1, conf => "snowflake.lease_duration = 10min\nsnowflake.max_clock_skew = 0\nwal_sender_timeout = 0\n");
start_server($primary);
value($primary, 'CREATE EXTENSION snowflake; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);'
	  . ' CREATE TABLE old (id bigserial)');
my @old = ids($primary, 1000);
value($primary, 'INSERT INTO t (n) SELECT generate_series(1, 100)');
my $standby = standby_of($primary, 'standby');
my $cascaded = standby_of($standby, 'cascaded');

### What a standby does

push @old, ids($primary, 1000);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$standby->wait_for_catchup($cascaded, 'replay', $standby->lsn('replay'));
for my $call ('snowflake_nextval()', 'snowflake_nextvals(2)')
{
	my ($state, $text) = query_error($standby, $db, "SELECT $call");
	is($state, '25006', "$call on a standby");
	like($text, qr/recovery.*DETAIL: .*standby.*HINT: .*primary/s, '... and why');
}
is((query_error($standby, $db, 'SELECT snowflake_currval()'))[0], '55000', 'currval on a standby');
is((query_error($standby, $db, "SELECT $_"))[0], '25006', "$_ on a standby") for (
	q{snowflake_acquire('n', 0, 1000, '1 min')},
	q{snowflake_extend(1, gen_random_uuid(), 1, '1 min')},
	q{snowflake_release(1, gen_random_uuid(), 1)},
	q{snowflake_convert('old', 'id')});
like(value($standby, q{SELECT snowflake_convert('old', 'id', dry_run => true)}), qr/^ALTER TABLE public\.old .*;\nDROP SEQUENCE/,
	'a standby says what a conversion would do');
my $decode = 'SELECT md5(string_agg(snowflake_decode(id)::text || snowflake_timestamp(id), chr(10) ORDER BY id)) FROM t';
is(value($standby, $decode), value($primary, $decode), 'decode works on a standby');
is(value($standby, 'SELECT state, worker, keeper_pid FROM snowflake_status'), 'no lease||', 'status works there');
is(value($standby, 'SELECT worker FROM snowflake_workers'), value($primary, 'SELECT worker FROM snowflake_status'),
	'... and shows who holds which worker id');
is(value($standby, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper runs there');

# A session that was refused before the promotion.
my $session = $standby->background_psql($db, on_error_stop => 0);
$session->query('SELECT snowflake_nextval()');
$session->{stderr} = '';

### Promoted, while the old primary lives on

$standby->promote;
my $id = $session->query_safe('SELECT snowflake_nextval()');
like($id, qr/^\d+$/, 'the promoted server issues, to a session that was refused before');
$session->quit;
my @new = ($id, ids($standby, 1000));
push @new, split /\n/, value($standby, 'INSERT INTO t (n) SELECT generate_series(1, 100) RETURNING id');
push @old, split /\n/, value($primary, 'INSERT INTO t (n) SELECT generate_series(1, 100) RETURNING id');
push @old, ids($primary, 1000);

# The next worker ids that the old primary draws, as its nodes come and go.
my %old_workers = map { $_ => 1 } split /\n/, value($primary, q{
	SELECT worker_id FROM snowflake_registry
	UNION SELECT (snowflake_acquire('node ' || n, 0, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
	FROM generate_series(1, 200) n});
cmp_ok(scalar(keys %old_workers), '==', 201, 'the old primary has 201 worker ids out');
my $new_worker = value($standby, 'SELECT worker FROM snowflake_status');
ok(!$old_workers{$new_worker}, "the promoted server's is none of them, nor one of the next 200");
my @new_workers = split /\n/, value($standby, q{
	SELECT (snowflake_acquire('node ' || n, 0, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
	FROM generate_series(1, 200) n});
is(scalar(grep { $old_workers{$_} } @new_workers), 0, 'nor any of the next 200 that it draws itself');

my %issued;
$issued{$_}++ for @old, @new;
is(scalar(grep { $_ > 1 } values %issued), 0, 'no id was issued by both');
is(value($standby, q{SELECT settles_until > now() AND settles_until <= now() + interval '11 min' FROM snowflake_origin}), 't',
	'snowflake_origin shows until when it settles');
is(value($standby, 'SELECT timeline FROM snowflake_origin'), '2', '... and on which timeline');
# One lease of 1,024 lived on; of the 1,023 others the farther half, rounded down, is 511.
my $cut = value($standby, 'SELECT settling_cuts[1] FROM snowflake_origin');
my $place = value($standby, q{SELECT mod(worker_id - settling_lease_id + 1024 * 1000000000000, 1024) FROM snowflake_registry, snowflake_origin
	WHERE node = (SELECT node FROM snowflake_workers ORDER BY lease_id DESC OFFSET 200 LIMIT 1) ORDER BY lease_id DESC LIMIT 1});
ok($cut == 512 || $cut == 513, "the nearer half is cut off: $cut");
cmp_ok($place, '>=', $cut, "the worker id that was drawn lies in the farther half, at $place");
is(value($primary, 'SELECT settles_until IS NULL FROM snowflake_origin'), 't', 'the old primary does not settle');

### Promoted again while it settles: what was left is halved again

$standby->wait_for_catchup($cascaded, 'replay', $standby->lsn('flush'));
$cascaded->promote;
my @newest = ids($cascaded, 1000);
$issued{$_}++ for @newest;
is(scalar(grep { $_ > 1 } values %issued), 0, 'after a second promotion no id was issued twice');
is(value($cascaded, 'SELECT timeline FROM snowflake_origin'), '3', 'the second promotion is noticed');
is(value($cascaded, 'SELECT settling_lease_id FROM snowflake_origin'), value($standby, 'SELECT settling_lease_id FROM snowflake_origin'),
	'... places are counted from where they were');
# 201 of the places beyond the first cut were leased, the others were free.
my $second = value($cascaded, 'SELECT settling_cuts[1] FROM snowflake_origin');
my $free = value($cascaded, sprintf('SELECT %d - count(*) FROM snowflake_registry, snowflake_origin WHERE lease_id <> (SELECT max(lease_id) FROM snowflake_registry)'
	. ' AND mod(worker_id - settling_lease_id + 1024 * 1000000000000, 1024) >= %d', 1024 - $second, $second));
my $before = value($cascaded, sprintf('SELECT %d - count(*) FROM snowflake_registry, snowflake_origin WHERE lease_id <> (SELECT max(lease_id) FROM snowflake_registry)'
	. ' AND mod(worker_id - settling_lease_id + 1024 * 1000000000000, 1024) >= %d', 1024 - $cut, $cut));
is($free, int($before / 2), "... of the $before worker ids that were left and free $free remain");
my %standby_workers = map { $_ => 1 } split /\n/, value($standby, 'SELECT worker_id FROM snowflake_registry');
ok(!$standby_workers{ value($cascaded, 'SELECT worker FROM snowflake_status') }, 'it draws a worker id that the first promoted server has not');
$_->stop('fast') for $cascaded, $standby, $primary;

### Several promotions between two leases halve as often; used up, SF004; after half of the time, everything is there again

### Promoted without having heard of any lease

my $young = new_server('young', streaming => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($young);
value($young, 'CREATE EXTENSION snowflake');
my $deaf = standby_of($young, 'deaf', conf => "primary_conninfo = ''\n");
ids($young, 1);
is(value($deaf, 'SELECT count(*) FROM snowflake_registry'), '0', 'a standby that lacks the first lease');
$deaf->promote;
ids($deaf, 1);
my %drawn;
for my $server ($young, $deaf)
{
	$drawn{$_}++ for split /\n/, value($server, q{
		SELECT worker FROM snowflake_status
		UNION ALL SELECT (snowflake_acquire('node ' || n, 0, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
		FROM generate_series(1, 200) n});
}
is(scalar(keys %drawn), 402, '... has no worker id in common with the old primary once it is promoted, among 201 of each');
$_->stop('fast') for $deaf, $young;

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
