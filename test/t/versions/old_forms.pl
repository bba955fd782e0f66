# What nodes of version 1.1 send, statement by statement, to a registry of each version, which is updated meanwhile if it is not
# the newest (section 4 of the design): leases are drawn, moved and given back, for the role that drew them and for no other.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

sub check_old_forms
{
	my ($version) = @_;
	my $name = "registry $version, what nodes of 1.1 send";
	create($version, 'spoken');
	sql('spoken', 'CREATE ROLE node LOGIN', 'GRANT USAGE ON SCHEMA ids TO node', 'GRANT EXECUTE ON FUNCTION'
		  . ' snowflake_acquire(text, integer, bigint, interval), snowflake_extend(bigint, uuid, bigint, interval),'
		  . ' snowflake_release(bigint, uuid, bigint), snowflake_get_layout TO node', 'CREATE ROLE other LOGIN IN ROLE node',
		'GRANT USAGE ON SCHEMA ids TO other');
	my $say = sub
	{
		my ($role, $call) = @_;
		my $now = now_ms() - 1_735_689_600_000;
		return $server->safe_psql('spoken', "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '60s';"
			  . " SET LOCAL lock_timeout = '50s'; SELECT * FROM ids.snowflake_" . $call->($now) . '; COMMIT', extra_params => [ '-U', $role ]);
	};
	my $acquire = sub { return split /\|/, $say->('node', sub { "acquire('a node', 0, $_[0], '10 minutes')" }) };
	my ($lease, $token, $worker, $start, $end, @layout) = $acquire->();
	is($end - $start, 600_000, "$name: a window of all that was asked for");
	is("@layout", '1735689600000 1000 41 0 10 12 f', "$name: the layout");
	my $extend = sub { my ($role) = @_; return $say->($role, sub { "extend($lease, '$token', $_[0], '20 minutes')" }) };
	cmp_ok($extend->('node'), '>', $end, "$name: the window moves");
	my ($second, $second_token) = $acquire->();
	if ($version ne $newest)
	{
		sql('spoken', 'ALTER EXTENSION snowflake UPDATE');
		is(sql('spoken', 'SELECT count(role) FROM snowflake_registry'), '0', "$name: updated, its leases are nobody's yet");
		$name .= ", updated";
	}
	cmp_ok($extend->('node'), '>', $end, "$name: the window moves on");
	is($extend->('other'), '', "$name: for another role the lease is gone");
	is($say->('other', sub { "release($lease, '$token', $start)" }), 'f', "$name: ... nor is it given back for it");
	is(sql('spoken', "SELECT role::regrole FROM snowflake_registry WHERE lease_id = $lease"), 'node', "$name: the lease is its role's");
	is($say->('node', sub { "release($lease, '$token', " . ($_[0] - 1) . ')' }), 't', "$name: it is given back");
	is($say->('node', sub { "release($lease, '$token', " . ($_[0] - 1) . ')' }), 'f', "$name: ... once");
	is($say->('node', sub { "release($second, '$second_token', " . ($_[0] - 1) . ')' }), 't', "$name: so is one that was not moved since");
	is(sql('spoken', 'SELECT count(*), (SELECT count(*) FROM snowflake_watermark) FROM snowflake_registry'), '0|2', "$name: what is left are watermarks");
	my ($third) = $acquire->();
	cmp_ok($third, '>', $second, "$name: lease ids go on");
	sql('postgres', 'DROP DATABASE spoken', 'DROP ROLE other, node');
	return;
}

check_old_forms($_) for @released, $newest;

VersionsTest::stop();
done_testing();
