# A keeper on a bad day: the table of locks is full, pg_database is locked, there is no folder for
# temporary files; the registry assigns less than ids need. It neither spins nor storms its registry
# nor blames the wrong one, ids flow as long as the registry allows it, and a changed
# snowflake.registry is followed.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use NodesTest;
use POSIX ();
use PostgreSQL::Test::Utils;
use RegistryTest qw(value);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $registry = registry_server();
new_registry($registry, $_) for qw(fleet second);
my %place = map { $_ => at($registry, $_) } qw(fleet second);

# A node with few places for locks, and a session that is connected throughout.
sub node
{
	my ($name, %options) = @_;
	my $server = new_server($name, preload => 1, %options, conf => <<"EOC");
snowflake.lease_duration = 4s
snowflake.start_timeout = 500ms
snowflake.registry = '$place{fleet}'
max_locks_per_transaction = 10
max_connections = 20
@{[ $options{conf} // '' ]}
EOC
	start_server($server);
	value($server, 'CREATE EXTENSION snowflake');
	flows($server);
	moves($server);
	return { server => $server, session => $server->background_psql('postgres', on_error_stop => 0) };
}

sub ask { my ($node, $sql) = @_; return $node->{session}->query($sql) =~ s/\s+\z//r; }

# The views need more locks than a process has without the table.
my $facts = q{
	SELECT concat_ws('|', keeper_pid, registry_answers_total + registry_failures_total, extract(epoch FROM clock_timestamp()), coalesce(last_error, ''))
	FROM snowflake_get_status(), snowflake_get_metrics()};
my $error = q{SELECT coalesce(last_error, '') FROM snowflake_get_status()};

sub used { my ($pid) = @_; my @field = split / /, (slurp_file("/proc/$pid/stat") =~ s/^.*\) //r); return ($field[11] + $field[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK()); }

# What the keeper does within six seconds, while a client asks for ids.
sub watch
{
	my ($name, $node, %expect) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($pid, $exchanges, $at) = split /\|/, ask($node, $facts);
	my ($used, $until, $ids, $refused) = (used($pid), time + 6, 0, 0);
	my $log = -s $node->{server}->logfile;
	while (time < $until) { ask($node, 'SELECT snowflake_nextval() > 0') eq 't' ? ++$ids : ++$refused; sleep 0.05; }
	my ($same, $later, $now, $error) = split /\|/, ask($node, $facts), 4;
	my ($busy, $asked) = ((used($pid) - $used) / ($now - $at), ($later - $exchanges) / ($now - $at));
	is($same, $pid, "$name: the keeper lives");
	cmp_ok($busy, '<', 0.05, "$name: ... and does not spin");
	cmp_ok($asked, '<', $expect{most} // 1.5, "$name: ... nor storms its registry");
	like($error, $expect{error} // qr/^$/, "$name: last_error");
	is($refused, 0, "$name: ids flow") unless $expect{ends};
	unlike(slurp_file($node->{server}->logfile, $log), qr/WARNING:  snowflake keeper: (?!$expect{says})/, "$name: nobody else is blamed") if $expect{says};
	figures("%s: %.1f %% of a processor, %.1f exchanges a second, %d ids, %d refused, last_error \"%s\"", $name, 100 * $busy, $asked, $ids, $refused, $error);
	return;
}

# The node follows a changed setting to the other registry, and back. Returns after how long.
my $at = 'fleet';
sub follows
{
	my ($name, $node) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$at = $at eq 'fleet' ? 'second' : 'fleet';
	my $since = time;
	setting($node->{server}, "snowflake.registry = '$place{$at}'");
	ok(wait_until('a lease there', sub { ask($node, 'SELECT snowflake_nextval() > 0'); leases($registry, $at) eq '1' }), "$name: a changed setting is followed");
	is(leases($registry, $at eq 'fleet' ? 'second' : 'fleet'), '0', "$name: ... and nothing is left behind");
	figures("%s: followed after %.1f s", $name, time - $since);
	return;
}

my $node = node('node');
my $other = $node->{server}->background_psql('postgres', on_error_stop => 0);
# Any role can do that. The locks stay after the error.
$other->query('SELECT pg_advisory_lock(g) FROM generate_series(1, 1000000) g');
my $held = $other->query(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'}) =~ s/\s+\z//r;
is(ask($node, 'SELECT pg_try_advisory_lock(0, 7)'), '', "the table of locks is full after $held locks");
watch('a full table of locks', $node);
follows('a full table of locks', $node);
$other->query('SELECT pg_advisory_unlock_all()');

$other->query('BEGIN; LOCK pg_database');
watch('a locked pg_database', $node);
{
	# Nobody can connect.
	my $before = $at;
	$at = $at eq 'fleet' ? 'second' : 'fleet';
	$node->{server}->append_conf('postgresql.conf', "snowflake.registry = '$place{$at}'\nsnowflake.node_name = 'renamed'");
	ask($node, 'SELECT pg_reload_conf()');
	my $since = time;
	ok(wait_until('a lease there', sub { ask($node, 'SELECT snowflake_nextval() > 0'); leases($registry, $at) eq '1' }), 'a locked pg_database: a changed setting is followed');
	is(leases($registry, $before), '0', 'a locked pg_database: ... and nothing is left behind');
	figures("a locked pg_database: followed after %.1f s", time - $since);
}
$other->query('ROLLBACK');

my $temporary = $node->{server}->data_dir . '/base/pgsql_tmp';
rmdir $temporary;
append_to_file($temporary, 'no folder');
watch('no folder for temporary files', $node);
follows('no folder for temporary files', $node);
unlink $temporary;

# A registry that has lost its leases settles, and the role may have one lease only.
my $second = node('second_node', conf => "snowflake.registry = '$place{$at}'\nsnowflake.node_name = 'second'\n");
is(leases($registry, $at), '2', 'two nodes of one role');
setting($registry, 'snowflake.max_leases_per_role = 1');
my $table = "$schema.snowflake_registry";
value($registry, qq{
	BEGIN;
	SELECT $schema.snowflake_settle('as after a failover');
	ALTER TABLE $table DISABLE TRIGGER ALL;
	DELETE FROM $table;
	ALTER TABLE $table ENABLE ALWAYS TRIGGER snowflake_guard;
	ALTER TABLE $table ENABLE ALWAYS TRIGGER snowflake_guard_after;
	ALTER TABLE $table ENABLE ALWAYS TRIGGER snowflake_guard_table;
	COMMIT}, $at);
ok(wait_until('one of them to be left out', sub { grep { ask($_, $error) ne '' } $node, $second }), 'one of them is left out');
my ($left_out) = grep { ask($_, $error) ne '' } $node, $second;
watch('a role at its limit', $left_out, ends => 1, error => qr/^the registry did not extend the window far enough \(It ends at .*, and ids are at .*settles and the role/, says => qr/the registry refused: the registry did not extend/);
setting($registry, 'snowflake.max_leases_per_role = 10');
ok(wait_until('ids to flow', sub { ask($left_out, 'SELECT snowflake_nextval() > 0') eq 't' }), 'a raised limit: ids flow again');
$_->{session}->quit, $_->{server}->stop('fast') for $second;

# A clock that stepped back: ids go on, further ahead of the registry's clock than a window may be
# long. Each window is of two seconds.
my $ahead = node('ahead', clock => 1, conf => "snowflake.registry = '$place{$at}'\nsnowflake.node_name = 'ahead'\n");
setting($registry, "snowflake.max_lease_duration = 2s\nsnowflake.max_clock_skew = 5s");
move_clock($ahead->{server}, -20);
ok(wait_until('short windows', sub { ask($ahead, q{SELECT clock_lead_seconds > 15 AND ids_flow_seconds < 3 FROM snowflake_metrics}) eq 't' }), 'short windows, and a large lead');
watch('a lead above max_lease_duration', $ahead, most => 2);

$_->{session}->quit for $node, $ahead;
$other->quit;
$_->{server}->stop('fast') for $node, $ahead;
is(leases($registry, 'fleet') + leases($registry, 'second'), 0, 'all leases were released');
$registry->stop('fast');
done_testing();
