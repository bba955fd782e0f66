# Databases that issued ids have their keeper, and so a lease, as soon as the server has started,
# and the first call does not wait. Files in the data directory name these databases. If these files
# are wrong, the first call waits, and nothing else happens.
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use RegistryTest qw(value);
use SnowflakeTest;
use Test::More;

my $server = new_server('early', patient => 1, preload => 1, clock => 1, conf => "log_min_messages = info\n");
my $folder = $server->data_dir . '/snowflake.databases';
start_server($server);
value($server, "CREATE DATABASE $_") for qw(issues serves dropped elsewhere);
value($server, "CREATE TABLESPACE apart LOCATION '" . PostgreSQL::Test::Utils::tempdir() . q{'; ALTER DATABASE elsewhere SET TABLESPACE apart});
value($server, 'CREATE EXTENSION snowflake', $_) for qw(issues serves dropped elsewhere);
value($server, 'SELECT snowflake_nextval()', $_) for qw(issues dropped elsewhere);
value($server, q{SELECT snowflake_lease_acquire('n', 0, floor(extract(epoch FROM now()) * 1000)::bigint - 1735689600000, '10 s', sha256('n'), 0, NULL)},
	'serves');
my %oid = map { $_ => value($server, "SELECT oid FROM pg_database WHERE datname = '$_'") } qw(issues serves dropped elsewhere);

sub issuers { return join ' ', sort { $a <=> $b } map { s{.*/}{}r } glob "$folder/*"; }
sub oids { return join ' ', sort { $a <=> $b } @oid{@_}; }

# The databases whose keeper has a lease, as soon as there are so many.
sub early
{
	my ($count) = @_;
	my @leased;
	wait_until('leases', sub {
		@leased = grep { value($server, 'SELECT issuing FROM snowflake_metrics', $_) eq '1' }
		  split /\n/, value($server, q{SELECT datname FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' ORDER BY 1});
		@leased >= $count });
	return "@leased";
}

# Sessions end before the server does, so the log does not mention them.
sub restart { $server->stop('smart'); start_server($server); return -s $server->logfile; }

# A keeper writes it after it has put the lease in place, which a call may use before.
ok(wait_until('the files', sub { issuers() eq oids(qw(issues dropped elsewhere)) }), 'databases that issued are written down');
restart();
is(early(3), 'dropped elsewhere issues', 'they have keepers and leases before anybody asks');
is(value($server, 'SELECT count(*) FROM snowflake_registry', 'serves'), '1', '... and nobody else acquires one');
value($server, 'SELECT snowflake_nextval()', 'issues');
is(value($server, 'SELECT lease_waits_total FROM snowflake_metrics', 'issues'), '0', 'the first call waits for none');

### Databases and extensions are dropped

value($server, 'DROP DATABASE dropped');
value($server, 'DROP EXTENSION snowflake', 'elsewhere');
ok(wait_until('the keeper to leave', sub { issuers() eq oids(qw(issues dropped)) }), 'an extension that is dropped is forgotten');
value($server, 'CREATE EXTENSION snowflake', 'elsewhere');
my $log = -s $server->logfile;
restart();
is(early(1), 'issues', 'a database without its extension of before has no keeper, nor has one that is gone');
is(issuers(), oids('issues'), '... which is forgotten, too');
unlike(slurp_file($server->logfile, $log), qr/FATAL|WARNING|ERROR/, '... without a message');

### Wrong files

my $template = value($server, q{SELECT oid FROM pg_database WHERE datname = 'template1'});
append_to_file("$folder/$_", 'x') for 'x', '0', '-1', '007', '1.5', '99999999999', $oid{dropped}, $template;
append_to_file("$folder/$oid{issues}", 'x' x 1_000_000);
$log = -s $server->logfile;
restart();
is(early(1), 'issues', 'with files that are none of ours ids flow');
ok(wait_until('keepers to leave', sub { !-e "$folder/$template" && !-e "$folder/$oid{dropped}" }), '... and a keeper that has nothing to do leaves');
unlike(slurp_file($server->logfile, $log), qr/FATAL|WARNING|ERROR/, '... without a message');
system 'rm', '-r', $folder;
restart();
like(value($server, 'SELECT snowflake_nextval()', 'issues'), qr/^\d+$/, 'without the folder ids flow');
is(value($server, 'SELECT lease_waits_total FROM snowflake_metrics', 'issues'), '1', '... and the first call waits, because no lease was acquired before');
ok(wait_until('the folder', sub { issuers() eq oids('issues') }), '... and it comes again');
system 'rm', '-r', $folder;
append_to_file($folder, 'x' x 1000);
$log = -s $server->logfile;
restart();
like(value($server, 'SELECT snowflake_nextval()', 'issues'), qr/^\d+$/, 'with a file in its place ids flow');
unlike(slurp_file($server->logfile, $log), qr/FATAL|WARNING|ERROR/, '... without a message');
unlink $folder;

### A database that no longer issues ids

restart();
value($server, 'SELECT snowflake_nextval()', 'issues');
restart();
is(early(1), 'issues', 'a database that issued before');
move_clock($server, 2 * 86400);
restart();
is(issuers(), '', '... and not for more than a day of the server is forgotten');
ok(!-e $folder, '... and the folder is gone');

### Nothing is left when the extension is gone

value($server, 'SELECT snowflake_nextval()', 'issues');
ok(wait_until('the file', sub { issuers() eq oids('issues') }), 'a database that issues ids again');
value($server, 'SELECT snowflake_confirm_clock()', 'issues');  # two days ahead
value($server, 'DROP EXTENSION snowflake', $_) for qw(issues serves);
ok(wait_until('the keeper to leave', sub { !-e $folder }), 'without the extension there is no file, and no folder');
$server->stop('fast');
is(join(' ', map { s{.*/}{}r } glob $server->data_dir . '/*snowflake*'), 'snowflake.clock', '... nor anything else in the data directory but what the server knows of the time');
start_server($server);
$server->stop('fast');
done_testing();
