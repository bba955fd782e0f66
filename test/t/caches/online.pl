# An online conversion without caches: what has been made is recognised, what is left is returned, and
# an index on an expression is created and built.
# One call takes most of a minute, because PostgreSQL plans some fifty queries anew from the disk.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use ConvertTest;
use SnowflakeTest;
use Test::More;

my $server = caches_server('online', q{CREATE TABLE t (id serial PRIMARY KEY, n int, CHECK (id > 0)); CREATE INDEX i ON t ((id % 10)) WHERE n > 2; INSERT INTO t (n) SELECT 1 FROM generate_series(1, 5)});
my $call = q{snowflake_convert('r.t', 'id', online => true)};
my $as_alice = sub { return $server->safe_psql('postgres', $_[0], connstr => $server->connstr('postgres') . ' user=alice') };
# All but the index, the check and the switch.
my @statements = online_statements($server, { name => 'r' });
$as_alice->("$_\n;") for grep { !/snowflake_new_i\b|snowflake_new_t_id_check/ } before_switch(@statements);
my $expected = $as_alice->("SELECT string_agg(s, ' ') FROM $call s");
like($expected, qr/\ACALL [^\n]*\n-- Here [^\n]*\nCREATE INDEX CONCURRENTLY snowflake_new_i .*REINDEX.*snowflake_new_t_id_check.*check_switch/s, 'statements are left');
my ($out, $err) = forgetful("SELECT string_agg(s, ' ') FROM $call s;");
is("$out$err", $expected, '... and are the same without caches');
($out, $err) = forgetful(join '', map { "$_\n;\n" } grep { /snowflake_new_i\b/ } before_switch(@statements));
is("$out$err", '', '... of which the index is built without caches');
is($server->safe_psql('postgres', q{SELECT indisvalid, pg_get_indexdef(indexrelid) FROM pg_index WHERE indexrelid = 'r.snowflake_new_i'::regclass}),
	't|CREATE INDEX snowflake_new_i ON r.t USING btree (((snowflake_new_id % (10)::bigint))) WHERE (n > 2)', '... as it should be');
end_of_caches();
