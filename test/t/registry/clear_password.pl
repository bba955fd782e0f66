# A host in the registry's place asks for the node's password in clear text, or for an MD5 hash of
# it. A libpq that can refuse does not send it, unless the setting allows it. An older libpq sends
# it. The keeper then logs that once, and a metric shows it, unless the connection does not leave
# the machine. It is no advice: nothing has happened.
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
# Linux takes 0.0.0.0 for this machine, and it is no address of the loopback interface.
my $place = 'host=0.0.0.0 port=' . $fake->port . " dbname=x user=x passfile=$passfile";
my $node = new_server('node', conf => "snowflake.registry = '$place'\nsnowflake.start_timeout = 3s\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $shown = q{SELECT password_in_clear, (SELECT advice FROM snowflake_status) FROM snowflake_metrics};
sub warnings { return scalar(() = slurp_file($node->logfile) =~ /WARNING:  snowflake keeper: the registry's password is sent in clear text .*\n.*HINT:  .*sslmode=verify-full/g); }
my ($libpq) = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;

my $logged = 0;
for my $asks (3, 5)
{
	$fake->answer(authentication => { asks => $asks });
	# A call may give up before the keeper's first answer.
	my ($state, $error);
	wait_until('an answer', sub {
		($state, $error) = query_error($node, 'postgres', 'SELECT snowflake_nextval()');
		return $state eq '00000' || $error =~ /auth.* method/i;
	});
	if ($libpq >= 16)
	{
		is($state, 'SF001', "asked for kind $asks, the node has no lease");
		like($error, qr/auth.* method/i, '... and says why') or diag($error);
		is($fake->passwords, '', 'no password was sent');
	}
	else
	{
		is($state, '00000', "asked for kind $asks, the node sends it");
		is($node->safe_psql('postgres', $shown), '1|', '... which a metric shows, and no advice');
		is(warnings(), ++$logged, '... and the log says what helps');
		ok(wait_until('another connection', sub { $node->safe_psql('postgres', 'SELECT registry_answers_total >= 2 FROM snowflake_metrics') eq 't' }), '... with each connection');
		is(warnings(), $logged, '... once');
	}
	$node->restart;
}
# Nobody else is at this address.
$fake->answer(authentication => { asks => 3 });
$node->stop;
$logged = warnings();
$node->append_conf('postgresql.conf', "snowflake.registry = '" . $place =~ s/0\.0\.0\.0/127.0.0.1/r . "'\n");
start_server($node);
query_error($node, 'postgres', 'SELECT snowflake_nextval()');
is($node->safe_psql('postgres', $shown) =~ s/\|.*//sr, '0', 'a loopback address');
is(warnings(), $logged, '... of which nothing is said');
unlike(slurp_file($node->logfile), qr/sesame/, 'it is not in the log');

# The setting has priority.
if ($libpq >= 16)
{
	$node->append_conf('postgresql.conf', "snowflake.registry = '$place require_auth=password'\n");
	$fake->answer(authentication => { asks => 3 });
	$node->restart;
	ok(wait_until('an id', sub { (query_error($node, 'postgres', 'SELECT snowflake_nextval()'))[0] eq '00000' }), 'who wants it so has it so');
	like($fake->passwords, qr/sesame/, '... and the password is sent');
}

$node->stop('fast');
$fake->finish;
done_testing();
