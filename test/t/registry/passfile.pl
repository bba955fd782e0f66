# A node's setting must not contain its password. The node gets the password from a passfile or from
# a service file. Without it the node is refused and reports that, and no password is in its log.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
value($registry, q{CREATE ROLE keyed LOGIN PASSWORD 'sesame'});
new_registry($registry, 'secret', roles => 'keyed');
my $hba = slurp_file($registry->data_dir . '/pg_hba.conf');
unlink $registry->data_dir . '/pg_hba.conf';
$registry->append_conf('pg_hba.conf', "local secret keyed scram-sha-256\n$hba");
$registry->reload;
my $passfile = $registry->basedir . '/passfile';
append_to_file($passfile, "*:*:secret:keyed:sesame\n");
chmod 0600, $passfile;
my $servicefile = $registry->basedir . '/services';
append_to_file($servicefile, join("\n", '[ids]', 'host=' . $registry->host, 'port=' . $registry->port, 'dbname=secret', 'user=keyed', 'password=sesame', ''));
chmod 0600, $servicefile;

my $many = do { local $ENV{PGSERVICEFILE} = $servicefile; base_server('many', conf => "snowflake.lease_duration = 6s\n") };
new_node($many, 'without_password', at($registry, 'secret', 'keyed'));
new_node($many, 'with_passfile', at($registry, 'secret', 'keyed') . " passfile=$passfile");
new_node($many, 'with_service', 'service=ids');
my ($state, $text);
# A call may give up before the keeper's first answer.
wait_until('the answer', sub { ($state, $text) = query_error($many, 'without_password', 'SELECT snowflake_nextval()'); return $text =~ /password/ });
is($state, 'SF001', 'without its password a node is refused');
like($text, qr/password/, '... and the error says so');
ok(flows($many, 'with_passfile'), 'a password from a passfile works');
ok(flows($many, 'with_service'), '... and one from a service file');
is(leases($registry, 'secret'), '2', '... with a lease each');
unlike(slurp_file($many->logfile), qr/sesame/, 'no password is in the log');
$many->stop('fast');
is(leases($registry, 'secret'), '0', 'nothing is leased when the nodes are shut down');
$registry->stop('smart');
done_testing();
