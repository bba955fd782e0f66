# If the library was built without libcrypto, the build says so, and both functions say so, too
# (0A000). A file of keys does no harm, and everything else works.
# Not in the default run: it builds the library again.
use strict;
use warnings;

use lib 'test/perl';
use Cwd;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# The copy contains the object files, so only one of them is built again.
my $source = PostgreSQL::Test::Utils::tempdir() . '/source';
system_or_bail('cp', '-a', getcwd(), $source);
my @dry_run = ('make', '-n', '-C', $source, 'PG_CONFIG=pg_config', 'all');
unlike((run_command(\@dry_run))[0], qr/building without libcrypto/, 'the build finds libcrypto');
like((run_command([ @dry_run, 'CXX=g++ -nostdinc' ]))[0], qr/building without libcrypto/, '... and notices that its headers are missing');
my ($said) = run_command([ 'make', '-s', '-C', $source, 'PG_CONFIG=pg_config', 'LIBCRYPTO=no', 'all' ]);
like($said, qr/^building without libcrypto: snowflake_mask\(\) and snowflake_unmask\(\)/m, 'the build says so');
my ($needed) = run_command([ 'readelf', '-d', "$source/snowflake.so" ]);
like($needed, qr/NEEDED.*libpq/, 'the library needs libpq');
unlike($needed, qr/libcrypto/, '... and not libcrypto');

my $server = new_server('without', preload => 0);
my $keys = $server->basedir . '/keys';
append_to_file($keys, '1 ' . '0f' x 32 . "\n");
chmod 0600, $keys or die "$keys: $!";
$server->append_conf('postgresql.conf', "shared_preload_libraries = '$source/snowflake.so'\nsnowflake.mask_key_file = '$keys'\n");
start_server($server);
$server->safe_psql('postgres', qq{
	CREATE FUNCTION mask(bigint, text) RETURNS text AS '$source/snowflake.so', 'snowflake_mask' LANGUAGE C STABLE STRICT;
	CREATE FUNCTION unmask(text, text) RETURNS bigint AS '$source/snowflake.so', 'snowflake_unmask' LANGUAGE C STABLE STRICT;
	CREATE FUNCTION prefixed(bigint, text, text) RETURNS text AS '$source/snowflake.so', 'snowflake_to_text' LANGUAGE C STABLE STRICT});
for my $call (q{mask(1, 'order')}, q{unmask('order_2aaaaaaaaaaaaaa', 'order')})
{
	my ($state, $error) = query_error($server, 'postgres', "SELECT $call");
	is($state, '0A000', "$call is not supported");
	like($error, qr/DETAIL:\s+The library was built without libcrypto\..*HINT:\s+Install OpenSSL's headers/s, '... with the reason and what to do');
}
is($server->safe_psql('postgres', q{SELECT prefixed(249788568795254815, 'base58', 'order')}), 'order_1adWh8rfjUz', 'other texts are');
is($server->safe_psql('postgres', 'SHOW snowflake.mask_key_file'), $keys, 'the file of keys is read');

$server->stop('fast');

system_or_bail('make', '-s', '-C', $source, 'PG_CONFIG=pg_config', 'all');
($needed) = run_command([ 'readelf', '-d', "$source/snowflake.so" ]);
like($needed, qr/NEEDED.*libcrypto/, 'a build with libcrypto follows in the same folder');
done_testing();
