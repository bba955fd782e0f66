# The objects of each released version work with the current library (section 4 of the design:
# different versions speak the protocol with each other): ids, COPY, decoding, status, the protocol
# by SQL, and the keeper.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

sub check_old_objects
{
	my ($version) = @_;
	my $name = "the library with the objects of $version";
	create($version, 'old');
	like(sql('old', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "$name: ids");
	is(sql('old', 'SELECT count(DISTINCT i) FROM snowflake_nextvals(5000) i'), '5000', "$name: many ids");
	is(sql('old', 'SELECT snowflake_nextval() = snowflake_currval()'), 't', "$name: the last id");
	is(sql('old', 'SELECT d.ts = snowflake_timestamp(id), now() - d.ts < interval $$10 min$$, d.worker = s.worker'
		  . ' FROM item, snowflake_decode(id) d, snowflake_status s'), 't|t|t', "$name: decode, timestamp, status");
	is(sql('old', q{COPY item (n) FROM PROGRAM 'seq 1000'; SELECT count(DISTINCT id) FROM item}), '1001', "$name: COPY");
	# A window of three seconds may be over for a moment.
	my $workers = 'SELECT w.node = s.node, w.expired FROM snowflake_workers w JOIN snowflake_status s USING (worker)';
	ok(wait_until('the worker', sub { sql('old', $workers) eq 't|f' }), "$name: workers") or diag(sql('old', $workers));
	is(sql('old', 'SELECT definition = snowflake_get_layout() FROM snowflake_layout'), 't', "$name: the layout");
	is_renewed('old', $name);
	# If clocks are not judged, a node that releases by SQL may have used the whole window.
	is(sql('old', q{
		SET snowflake.max_clock_skew = 0;
		SELECT uuid_send(gen_random_uuid()) AS secret \gset
		SELECT lease_id, window_start AS first FROM snowflake_lease_acquire('other', 0, 1000, '1 min', sha256(:'secret'), 0, NULL) \gset
		SELECT window_end - :first FROM snowflake_lease_extend(:lease_id, sha256(:'secret'), 2000, '1 min', 0, 0, 0);
		SELECT snowflake_lease_release(:lease_id, :'secret', :first + 5, 0);
		SELECT last_tick - :first FROM snowflake_watermark ORDER BY last_tick LIMIT 1}), "61000\nt\n60999", "$name: the protocol");
	is((query_error($server, 'old', q{UPDATE snowflake_layout SET definition = 'epoch=1735689600000 tick=1ms time=41 datacenter=5 worker=5 seq=12'}))[0], '55000',
		"$name: the layout stays as it is");
	sql('postgres', 'DROP DATABASE old');
	return;
}

check_old_objects($_) for @released;

VersionsTest::stop();
done_testing();
