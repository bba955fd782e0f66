# snowflake.registry is changed to another address while clients take ids. The keeper probes the
# registry there before it leaves the one in use.
#
# - If the probe fails, nothing changes: no call fails, last_error says why, and the node keeps its
#   lease. It does not extend it at the previous registry.
# - If the registry is the same one, the node keeps its lease.
# - If it is another one, the node releases the lease at the old one and acquires one at the new one.
#
# The same is true if the keeper or the server is ended or killed meanwhile. Neither registry sees a
# lease of the other, which it would take for a lost commit.
# Not in the default run: it kills and restarts a server again and again.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Relay;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

# Certificates of two authorities: the registry's server has one of the first.
my $tls = PostgreSQL::Test::Utils::tempdir();
system_or_bail('openssl', 'req', '-new', '-x509', '-days', '2', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=127.0.0.1',
	'-addext', 'subjectAltName=IP:127.0.0.1', '-out', "$tls/$_.crt", '-keyout', "$tls/$_.key") for qw(right wrong);
chmod 0600, "$tls/right.key";

my $server = registry_server(streaming => 1,
	conf => "log_statement = none\nlisten_addresses = '127.0.0.1'\nssl = on\nssl_cert_file = '$tls/right.crt'\nssl_key_file = '$tls/right.key'\n");
value($server, 'CREATE ROLE other LOGIN');
append_to_file($server->data_dir . '/pg_hba.conf', "host all node,other 127.0.0.1/32 trust\n");
$server->reload;
new_registry($server, $_, schema => 'public', roles => 'node, other') for qw(fleet second);
new_registry($server, 'layout', schema => 'public', layout => q{(true, 'epoch=1735689600000 tick=1ms time=41 worker=8 seq=14')});
new_registry($server, 'rights', schema => 'public', granted => 'snowflake_lease_acquire, snowflake_lease_release');
value($server, 'CREATE DATABASE empty');
my $standby = standby_of($server, 'standby');
my ($old, $new) = map { Relay->new($server->port) } 1 .. 2;

sub tcp { my ($port, $db, $more) = @_; return "host=127.0.0.1 port=$port dbname=$db user=node " . ($more // 'sslmode=disable'); }
my $home = tcp($old->port, 'fleet');

my $node = new_server('node', conf => "log_statement = none\nrestart_after_crash = on\nfsync = off\nsnowflake.lease_duration = 40s\nsnowflake.start_timeout = 10s\n"
	  . "snowflake.registry = '$home'\n");
start_server($node);
value($node, 'CREATE EXTENSION snowflake');
value($node, 'SELECT snowflake_nextval()');
my $load = start_clients($node, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 50)) TO STDOUT;\nSELECT FROM pg_sleep(0.02);\n" x 20);

sub change { my ($place) = @_; setting($node, "snowflake.registry = '$place'\n"); return; }
sub lease { return status($node, q{concat_ws(' ', lease_id, worker)}); }
sub row { my ($db) = @_; return value($server, q{SELECT string_agg(concat_ws(' ', lease_id, worker_id), ', ') FROM snowflake_registry WHERE NOT coalesce(window_end < } . "$now_tick, false)", $db); }
sub settles { my ($db) = @_; return value($server, 'SELECT count(settles_until) FROM snowflake_origin', $db); }

# Errors of calls. A client whose server was killed has other errors.
sub failed_calls { return join '', map { /ERROR:.*/g } map { my $errors = s/out$/err/r; -e $errors ? slurp_file($errors) : () } @{ $load->{files} }; }

sub ids_flow
{
	my $before = client_bytes($load);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(wait_until('ids', sub { client_bytes($load) > $before + 5000 }), '... ids flow');
}

# A whole window for what follows, of a lease at the first registry.
my $seconds = 40;
sub begins
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	set_lease_duration($node, ++$seconds . 's');
	# By its length it was asked for after that, so the next one is not asked for just now.
	my $whole = "SELECT extract(epoch FROM snowflake_tick_timestamp(window_end))::numeric(20, 3) FROM snowflake_registry
		WHERE snowflake_tick_timestamp(window_end) - extended_at > interval '$seconds s' - interval '0.9 s' ORDER BY lease_id DESC LIMIT 1";
	ok(wait_until('a long window', sub {
		my ($long, $end) = split /\|/, status($node, 'last_error IS NULL AND ids_flow_seconds > 28, extract(epoch FROM window_end)::numeric(20, 3)');
		return ($long // '') eq 't' && lease() eq row('fleet') && value($server, $whole, 'fleet') eq $end;
	}), 'the window is long');
	return (lease(), status($node, 'window_end'));
}

# The probe fails, and nothing changes.
sub stays
{
	my ($what, $pattern, $lease, $end) = @_;
	my $said = '';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until('the reason', sub { ($said = last_error($node)) =~ /^snowflake\.registry was changed, and its registry cannot be used yet: $pattern/ }), "$what: last_error says why") || diag($said);
	ids_flow();
	is(status($node, 'state'), 'issuing', '... the state');
	is(lease(), $lease, '... the lease is the same');
	is(row('fleet'), $lease, '... which the registry has');
	is(status($node, 'window_end'), $end, '... and is not extended there');
	return;
}

my %faults = (
	'nobody at the port' => [ tcp(PostgreSQL::Test::Cluster::get_free_port(), 'fleet'), qr/could not connect to the registry \(.*Connection refused/ ],
	'a host that hangs' => [ tcp($new->port, 'fleet'), qr/could not connect to the registry in time/, sub { $new->tell('stall') }, sub { $new->tell('pass forgotten') } ],
	'a wrong certificate' => [ tcp($server->port, 'fleet', "sslmode=verify-full sslrootcert=$tls/wrong.crt"), qr/could not connect to the registry \(.*certificate verify failed/ ],
	'an unknown role' => [ tcp($server->port, 'fleet') =~ s/user=node/user=nobody/r, qr/could not connect to the registry \(/ ],
	'a database without the extension' => [ tcp($server->port, 'empty'), qr/the registry's database has no extension snowflake/ ],
	'another layout' => [ tcp($server->port, 'layout'), qr/the registry has another layout \(/ ],
	'no rights' => [ tcp($server->port, 'rights'), qr/permission denied for function snowflake_lease_extend/ ],
	'a standby' => [ at($standby, 'fleet'), qr/the registry's server is a standby/ ]);

for my $name (sort keys %faults)
{
	my ($place, $pattern, $begin, $end) = @{ $faults{$name} };
	subtest $name => sub {
		my @before = begins();
		$begin->() if $begin;
		change($place);
		stays($name, $pattern, @before);
		$end->() if $end;
		change($home);
		ok(wait_until('no error', sub { last_error($node) eq '' }), 'put right: no error');
		ok(wait_until('the window to move', sub { status($node, 'window_end') gt $before[1] }), '... the window moves');
		is(lease(), $before[0], '... of the same lease');
	};
}

# Ways to end a keeper or a server. In each the server is ready afterwards.
my %ends = (
	'a keeper that is terminated' => sub {
		my $keeper = status($node, 'keeper_pid');
		value($node, "SELECT pg_terminate_backend($keeper)");
		wait_until('its end', sub { !-e "/proc/$keeper" });
	},
	'a keeper that is killed' => sub { kill_and_wait($node, status($node, 'keeper_pid')); },
	'a server that is killed' => sub { kill_server($node, children => 1); start_server($node); });

for my $end (sort keys %ends)
{
	subtest "$end while the probe fails" => sub {
		my ($lease, $window_end) = begins();
		my ($place, $pattern) = @{ $faults{'nobody at the port'} };
		change($place);
		stays($end, $pattern, $lease, $window_end);
		$ends{$end}->();
		my ($rc, $id, $error) = $node->psql('postgres', 'SELECT snowflake_nextval()');
		is($rc, 0, 'the next call has an id') or diag($error);
		is(lease(), $lease, '... under the same lease');
		# A terminated keeper leaves the lease to the next one, which a call starts when it needs it.
		stays('then', $pattern, $lease, $window_end) unless $end =~ /terminated/;
		change($home);
		ok(wait_until('no error', sub { last_error($node) eq '' }), 'put right: no error') or diag(last_error($node));
		ok(wait_until('the window to move', sub { status($node, 'window_end') gt $window_end }), '... the window moves');
		is(lease(), $lease, '... of the same lease');
	};
}

subtest 'the same registry at another address' => sub {
	my ($lease, $window_end) = begins();
	my $waits = status($node, 'lease_waits_total');
	my $log = -s $node->logfile;
	change(tcp($new->port, 'fleet'));
	ok(wait_until('the window to move', sub { status($node, 'window_end') gt $window_end }), 'the window moves');
	like(slurp_file($node->logfile, $log), qr/follows snowflake\.registry to another address of its registry/, '... there');
	is(lease(), $lease, '... of the same lease');
	is(status($node, 'lease_waits_total'), $waits, '... and nobody waited');
	$old->tell('drop');
	my $moved = status($node, 'window_end');
	$node->reload;
	value($node, 'SELECT pg_sleep(0.1)');
	ok(wait_until('the window to move', sub { status($node, 'window_end') gt $moved }), '... also without the old address');
	$old->tell('pass forgotten');
	change($home);
};

subtest 'the same registry as another role' => sub {
	my ($lease) = begins();
	change($home =~ s/user=node/user=other/r);
	ok(wait_until('another lease', sub { lease() ne $lease && lease() eq row('fleet') }), 'a lease of the new role, and the other one is released') or diag(row('fleet'));
	is(value($server, 'SELECT role::regrole FROM snowflake_registry', 'fleet'), 'other', '... belongs to it');
	is(last_error($node), '', '... without an error');
	ids_flow();
	change($home);
};

sub settled_in
{
	my ($db) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until("a lease in $db", sub { lease() ne '' && lease() eq row($db) && last_error($node) eq '' }), "... then the node has a lease in $db alone") or diag(lease() . ', ' . row($db) . ', ' . last_error($node));
	ids_flow();
	is(settles($_), '0', "... $_ does not settle") for qw(fleet second);
	return;
}

subtest 'another registry' => sub {
	my ($lease) = begins();
	change(tcp($new->port, 'second'));
	settled_in('second');
	is(row('fleet'), '', 'the old lease is released');
	change($home);
	settled_in('fleet');
	is(row('second'), '', 'and back');
};

for my $end (sort keys %ends)
{
	for my $db (qw(fleet second))
	{
		subtest "$end while $db is probed" => sub {
			my ($lease, $window_end) = begins();
			$new->tell('hold pg_control_system');
			change(tcp($new->port, $db));
			ok(wait_until('the probe', sub { $new->held > 0 }), 'the probe waits for its answer');
			$ends{$end}->();
			my ($rc, $id, $error) = $node->psql('postgres', 'SELECT snowflake_nextval()');
			is($rc, 0, 'the next call has an id') or diag($error);
			is(lease(), $lease, '... under the same lease');
			is(row('fleet'), $lease, '... which the registry has');
			$new->tell('pass');
			if ($end =~ /terminated/)
			{
				ok(wait_until('the window to end', sub { lease() ne $lease || status($node, 'window_end') gt $window_end }), 'the next keeper begins when it is needed');
			}
			settled_in($db);
			is(lease(), $lease, 'the lease is the same') if $db eq 'fleet';
			change($home);
			settled_in('fleet');
		};
	}
}

for my $fault ('hold lease_release(', 'drop')
{
	subtest "a server that is killed while the old lease is released: $fault" => sub {
		my ($lease) = begins();
		$old->tell($fault);
		change(tcp($new->port, 'second'));
		ok(wait_until('the lease to be closed', sub { status($node, q{state <> 'issuing'}) eq 't' }), 'the old lease is closed');
		kill_server($node, children => 1);
		start_server($node);
		settled_in('second');
		$old->tell('pass forgotten');
		change($home);
		ok(wait_until('a lease there', sub { my $row = row('fleet'); my $now = lease(); $now ne $lease && $row =~ /\Q$now\E/ }), 'and back') or diag(lease() . ', ' . row('fleet'));
		is(settles('fleet'), '0', '... it does not settle');
		value($server, 'DELETE FROM snowflake_registry WHERE lease_id = ' . (split / /, $lease)[0], 'fleet');
	};
}

stop_clients($load);
is(failed_calls(), '', 'no call failed');
my ($ids, $twice) = compare_ids(@{ $load->{files} });
cmp_ok($ids, '>', 10_000, 'ids');
is($twice, 0, "of $ids ids none was issued twice");
$node->stop('fast');
is(row($_), '', "nothing is leased from $_") for qw(fleet second);
$standby->stop('fast');
$server->stop('fast');
$_->finish for $old, $new;
done_testing();
