# A host in the registry's place asks for the node's password in clear text, or for an MD5 hash of
# it. A libpq that can refuse does not send it, unless the setting allows it. An older libpq sends
# it, and then the node's advice says what to do.
use strict;
use warnings;

use lib 'test/perl';
use FakeRegistry;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $fake = FakeRegistry->new;
my $passfile = PostgreSQL::Test::Utils::tempdir() . '/passfile';
append_to_file($passfile, "*:*:*:*:sesame\n");
chmod 0600, $passfile;
my $place = 'host=127.0.0.1 port=' . $fake->port . " dbname=x user=x passfile=$passfile";
my $node = new_server('node', conf => "snowflake.registry = '$place'\nsnowflake.start_timeout = 3s\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my ($libpq) = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;

for my $asks (3, 5)
{
	$fake->answer(authentication => { asks => $asks });
	my ($state, $error) = query_error($node, 'postgres', 'SELECT snowflake_nextval()');
	if ($libpq >= 16)
	{
		is($state, 'SF001', "asked for kind $asks, the node has no lease");
		like($error, qr/auth.* method/i, '... and says why') or diag($error);
		is($fake->passwords, '', 'no password was sent');
	}
	else
	{
		is($state, '00000', "asked for kind $asks, the node sends it");
		like($node->safe_psql('postgres', 'SELECT advice FROM snowflake_status'), qr/password is sent in clear text .*sslmode=verify-full/, '... and advises what helps');
	}
	$node->restart;
}
unlike(slurp_file($node->logfile), qr/sesame/, 'it is not in the log');

# The setting has priority.
if ($libpq >= 16)
{
	$node->append_conf('postgresql.conf', "snowflake.registry = '$place require_auth=password'\n");
	$fake->answer(authentication => { asks => 3 });
	$node->restart;
	is((query_error($node, 'postgres', 'SELECT snowflake_nextval()'))[0], '00000', 'who wants it so has it so');
	like($fake->passwords, qr/sesame/, '... and the password is sent');
}

$node->stop('fast');
$fake->finish;
done_testing();
