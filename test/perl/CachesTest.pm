# What the tests of t/caches share: a server that forgets its caches whenever it may, which only a
# PostgreSQL with assertions can. Whatever holds on to a catalog entry over a call that may look
# something up then reads freed memory.
package CachesTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(caches_server forgetful end_of_caches);

my $server;

# Starts a server with the extensions and a role alice, and runs SQL as alice with its caches.
sub caches_server
{
	my ($name, $sql) = @_;
	$server = new_server($name, patient => 1, conf => "fsync = off\nautovacuum = off\n");
	start_server($server);
	if ($server->safe_psql('postgres', 'SHOW debug_assertions') ne 'on')
	{
		print { Test::More->builder->failure_output } "# skipped: $0, because the server has no assertions; test/asserts t/caches\n";
		plan skip_all => 'no assertions';
	}
	$server->safe_psql('postgres', "CREATE EXTENSION snowflake_convert CASCADE; CREATE ROLE alice LOGIN; GRANT SET ON PARAMETER debug_discard_caches TO alice;
		CREATE SCHEMA r AUTHORIZATION alice; SELECT snowflake_nextval(); SET ROLE alice; SET search_path = r, public; $sql");
	return $server;
}

# Runs SQL as alice without caches: statements one by one. Returns (output, errors).
sub forgetful
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $server->psql('postgres', "SET search_path = r, public;\nSET client_min_messages = warning;\nSET debug_discard_caches = 1;\n$sql", connstr => $server->connstr('postgres') . ' user=alice',
		on_error_stop => 0);
	return ($out, $err // '');
}

sub end_of_caches
{
	unlike(slurp_file($server->logfile), qr/TRAP: |was terminated by signal/, 'no assertion failed');
	$server->stop('fast');
	done_testing();
	return;
}

1;
