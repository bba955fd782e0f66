# Behind pgpool-II, which sends reading statements to a standby. A statement that calls
# snowflake_horizon(), which is STABLE, fails there, unless pgpool.conf has the line of
# doc/horizon.md. Ids and the page's batch come from the primary in any case.
#
# pgpool is Debian's package; test/run unpacks it.
# Not in the default run: it is about other software.

use strict;
use warnings;

use IPC::Run;
use Neighbours;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $page = 'doc/horizon.md';
my $pgpool = program_of('pgpool2', 'pgpool');

my $primary = new_server('primary', preload => 1, streaming => 1, patient => 1, conf => quiet());
start_server($primary);
value($primary, block_of($page, 'CREATE TABLE outbox ') . block_of($page, 'CREATE VIEW outbox_ready'));
my $standby = standby_of($primary, 'standby');
my $user = value($primary, 'SELECT current_user');
my $folder = PostgreSQL::Test::Utils::tempdir_short();
my $version = `$pgpool --version 2>&1`;
my $sockets = $version =~ /version 4\.[0-3]\./ ? 'socket_dir' : 'unix_socket_directories';
my ($port, $pcp_port) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;

my ($line) = map { $_->{text} } grep { $_->{text} =~ /^primary_routing_query_pattern_list/ } blocks_of($page);
my $pgpool_conf = <<"CONF";
backend_clustering_mode = 'streaming_replication'
listen_addresses = ''
port = $port
$sockets = '$folder'
pcp_socket_dir = '$folder'
pcp_port = $pcp_port
pid_file_name = '$folder/pid'
logdir = '$folder'
num_init_children = 4
sr_check_user = '$user'
sr_check_database = 'postgres'
CONF
# Without weight on the primary, all balanced statements go to the standby.
my $number = 0;
for my $server ($primary, $standby)
{
	$pgpool_conf .= sprintf "backend_hostname%1\$d = '%2\$s'\nbackend_port%1\$d = %3\$d\nbackend_weight%1\$d = %1\$d\n", $number++, $server->host, $server->port;
}

# Starts pgpool with these further lines.
my $pool;
sub start_pgpool
{
	my ($lines) = @_;
	if ($pool) { $pool->signal('INT'); $pool->finish; }
	unlink glob "$folder/*";
	append_to_file("$folder/pgpool.conf", $pgpool_conf . $lines);
	append_to_file("$folder/$_.conf", '') for 'pcp', 'pool_hba';
	$pool = IPC::Run::start([ $pgpool, '-n', '-D', '-f', "$folder/pgpool.conf", '-F', "$folder/pcp.conf", '-a', "$folder/pool_hba.conf" ],
		'<', '/dev/null', '>', "$folder/out", '2>&1');
	ok(wait_until('pgpool', sub { through('SELECT 1') eq '1' }), 'pgpool is there') or diag(slurp_file("$folder/out"));
	return;
}

# What a statement returns or says, in a session of its own through pgpool. A file, because psql
# leaves a pipe unread if it cannot connect.
sub through
{
	my ($sql) = @_;
	my ($out, $err);
	my $file = "$folder/statement";
	unlink $file;
	append_to_file($file, $sql);
	IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', "host=$folder port=$port dbname=postgres user=$user" ], '<', $file, '>', \$out, '2>', \$err);
	chomp $out;
	return $out . $err;
}

# What holds with and without the page's line.
sub common
{
	is(through(q{SELECT current_setting('in_hot_standby')}), 'on', 'a reading statement goes to the standby');
	like(through('SELECT snowflake_nextval()'), qr/^\d+$/, '... and an id comes from the primary');
	my $id = through(q{INSERT INTO outbox (payload) VALUES ('x') RETURNING id});
	ok(wait_until('the horizon', sub { value($primary, 'SELECT snowflake_horizon()') > $id }), '... a row is below the horizon');
	like(through(block_of($page, 'one batch, as often')), qr/^$id\|x$/m, '... and the batch returns it');
	return $id;
}

my $feed = block_of($page, 'one page; psql') =~ s/:cursor/0/gr;
my $polled = 'SELECT * FROM outbox_ready WHERE id > 0 ORDER BY id';
start_pgpool('');
common();
like(through($_), qr/^ERROR:  25006$/m, "without the line, this fails on the standby: $_") for 'SELECT snowflake_horizon()', $feed, $polled;
start_pgpool($line);
my $id = common();
cmp_ok(through('SELECT snowflake_horizon()'), '>', $id, 'with the line, a lone call returns the horizon');
like(through($feed), qr/"$id"/, '... the feed has the row');
like(through($polled), qr/^$id\|x$/m, '... and the view, too');

$pool->signal('INT');
$pool->finish;
$_->stop('fast') for $standby, $primary;
done_testing();
