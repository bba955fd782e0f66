# snowflake_status.advice says that ids are about to stop, and why, while they are still issued: for
# each fault of a registry, of the way to it, and of the keeper. It is silent again when the fault is
# mended, and on healthy nodes under load, also with the shortest lease. It needs 6 s of processor
# time for a dozen faults, each of which lasts for a window.
# Not in the default run: it starts some 550 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use Relay;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

# Half of it passes in the test.
my $lease = 16 * slowness();
my $tls = PostgreSQL::Test::Utils::tempdir();

# The server's certificate, which is its own authority, valid or expired. OpenSSL 3.0 takes negative
# days, and later ones dates in their place.
my @expired = `openssl x509 -help 2>&1` =~ /-not_after/ ? ('-not_before', '20250101000000Z', '-not_after', '20250102000000Z') : ('-days', -1);
sub certify
{
	my (@validity) = @_;
	system_or_bail('openssl', 'x509', '-req', '-in', "$tls/request", '-signkey', "$tls/server.key", @validity, '-out', "$tls/server.crt");
	chmod 0600, "$tls/server.key";
	return;
}

system_or_bail('openssl', 'req', '-new', '-nodes', '-newkey', 'rsa:2048', '-subj', '/CN=registry', '-out', "$tls/request", '-keyout', "$tls/server.key");
certify('-days', 2);

my $registry = registry_server(conf => "log_statement = none\nlisten_addresses = '127.0.0.1'\nssl = on\nssl_cert_file = '$tls/server.crt'\n"
	  . "ssl_key_file = '$tls/server.key'\n");
my $relay = Relay->new($registry->port);
my $nodes = base_server('nodes', conf => "log_statement = none\nsnowflake.lease_duration = ${lease}s\nsnowflake.start_timeout = 200ms\n");
value($nodes, 'CREATE ROLE nobody LOGIN');
my %place;

# A node with a role of its own, at the registry `fleet` or at one of its own.
sub make_node
{
	my ($node, $more, $db) = @_;
	value($registry, "CREATE ROLE $node LOGIN PASSWORD 'sesame'");
	new_registry($registry, $node, schema => 'public', roles => $node) if $db;
	value($registry, "GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release, snowflake_segment_ranges TO $node", 'fleet')
	  unless $db;
	$place{$node} = at($registry, $db // 'fleet', $node) . ' ' . ($more // '');
	new_node($nodes, $node, $place{$node});
	return;
}

sub passfile
{
	my ($node) = @_;
	my $file = $registry->basedir . "/passfile_$node";
	append_to_file($file, "*:*:*:*:sesame\n");
	chmod 0600, $file;
	return "passfile=$file";
}

# Over TCP, a password would be advised against.
my $hba = slurp_file($registry->data_dir . '/pg_hba.conf');
unlink $registry->data_dir . '/pg_hba.conf';
$registry->append_conf('pg_hba.conf', "local all password,passfile scram-sha-256\nhost all hanging,certified 127.0.0.1/32 trust\n$hba");
$registry->reload;
new_registry($registry, 'fleet', schema => 'public');
make_node('hanging', 'host=127.0.0.1 port=' . $relay->port . ' sslmode=disable');
make_node('certified', "host=127.0.0.1 sslmode=verify-ca sslrootcert=$tls/server.crt");
make_node($_, passfile($_)) for qw(password passfile);
make_node($_) for qw(revoked stopped_keeper numbers);
make_node($_, '', $_) for qw(diskless locked);
value($registry, q{SELECT snowflake_create_segment('ticket', step => 1000, max_step => 1000)}, 'fleet');
value($nodes, 'CREATE DATABASE own TEMPLATE base');
# The configuration file's registry is that of this node alone.
make_node('moved');
value($nodes, 'ALTER DATABASE moved RESET snowflake.registry');
setting($nodes, "snowflake.registry = '$place{moved}'");
value($nodes, q{ALTER DATABASE own SET snowflake.registry = ''});

my $fails = q{CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full USING MESSAGE = ''could not extend file''; END';
	CREATE TRIGGER no_room BEFORE UPDATE ON snowflake_registry EXECUTE FUNCTION no_room()};
my $mends = 'DROP FUNCTION no_room() CASCADE';
my $keeper;
my $session;
my $reach = qr/Check that the registry's server runs, can be reached from here, and accepts this node's password or certificate, and that no login trigger there fails\./;
my $unanswered = qr/the keeper's request has had no answer for \d+\.\d s|in time/;
# Of each node the fault, how it is mended, and the reason and the advice that superusers read.
my %faults = (
	password => [ sub { value($registry, q{ALTER ROLE password PASSWORD 'another'}) }, sub { value($registry, q{ALTER ROLE password PASSWORD 'sesame'}) },
		qr/password authentication failed/, $reach ],
	passfile => [ sub { chmod 0644, $registry->basedir . '/passfile_passfile' }, sub { chmod 0600, $registry->basedir . '/passfile_passfile' },
		qr/no password supplied/, $reach ],
	certified => [ sub { certify(@expired); $registry->reload }, sub { certify('-days', 2); $registry->reload }, qr/certificate/, $reach ],
	revoked => [ sub { value($registry, 'REVOKE EXECUTE ON FUNCTION snowflake_lease_extend FROM revoked', 'fleet') },
		sub { value($registry, 'GRANT EXECUTE ON FUNCTION snowflake_lease_extend TO revoked', 'fleet') },
		qr/permission denied for function snowflake_lease_extend/, qr/In the registry's database, the node's role needs .* EXECUTE/ ],
	diskless => [ sub { value($registry, $fails, 'diskless') }, sub { value($registry, $mends, 'diskless') }, qr/could not extend file/, qr/Make room/ ],
	own => [ sub { value($nodes, $fails, 'own') }, sub { value($nodes, $mends, 'own') }, qr/could not extend file/, qr/Make room/ ],
	# Half of the window is over before the registry gives up waiting for the lock.
	locked => [
		sub { $session = $registry->background_psql('locked'); $session->query_safe('BEGIN'); $session->query_safe('SELECT FROM snowflake_registry FOR UPDATE') },
		sub { $session->quit }, $unanswered, qr/Check in pg_stat_activity|$reach/ ],
	hanging => [ sub { $relay->tell('stall') }, sub { $relay->tell('pass forgotten') },
		$unanswered, qr/Check in pg_stat_activity|$reach/ ],
	stopped_keeper => [ sub { $keeper = status($nodes, 'keeper_pid', 'stopped_keeper'); kill 'STOP', $keeper }, sub { kill 'CONT', $keeper },
		qr/the keeper \(process \d+\) has not extended the lease for \d+\.\d s/, qr/Check in pg_stat_activity/ ],
	moved => [ sub { setting($nodes, q{snowflake.registry = 'host=127.0.0.1 port=1 dbname=x user=x'}) }, sub { setting($nodes, "snowflake.registry = '$place{moved}'") },
		qr/snowflake\.registry was changed, and its registry cannot be used yet: .*port 1\b/, $reach ],
);

sub advice { my ($db) = @_; return status($nodes, q{coalesce(advice, '')}, $db); }

# Whether the window of the node is a whole one.
sub has_window
{
	my ($db) = @_;
	return wait_until("$db: the window", sub { status($nodes, sprintf(q{ids_flow_seconds > %.1f}, 0.9 * $lease), $db) eq 't' });
}

# Polls nodes until each has advice. Returns what each said first, with the time since the fault and
# the time that was left of the window.
sub first_advice
{
	my (@dbs) = @_;
	my $since = time();
	my %said;
	wait_until('the advice', sub {
		for my $db (grep { !$said{$_} } @dbs)
		{
			my ($state, $left, $advice) = split /\|/, status($nodes, q{state, ids_flow_seconds, coalesce(advice, '')}, $db), 3;
			$said{$db} = { state => $state, left => $left || 0, advice => $advice, after => time() - $since } if $advice ne '';
		}
		return keys %said == @dbs;
	});
	return \%said;
}

sub speaks
{
	my ($db, $said, $reason, $to_do) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return fail("$db: advice") unless $said;
	is($said->{state}, 'issuing', "$db: there is advice while ids are issued");
	cmp_ok($said->{left}, '>', 0, '... with some of the window left');
	like($said->{advice}, qr/^ids stop at \d{4}-.*, in \d+\.\d s, unless the lease is extended: .*$reason.*\. $to_do[^\n]*$/, '... which says until when, why, and what to do');
	figures('%s: advice after %.1f s, with %.1f of %d s of the window left', $db, @$said{qw(after left)}, $lease);
	return;
}

sub falls_silent
{
	my (@dbs) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for my $db (@dbs)
	{
		ok(flows($nodes, $db), "$db: ids flow when it is mended");
		ok(wait_until('no advice', sub { advice($db) eq '' }), '... and there is no advice') or diag(advice($db));
	}
	return;
}

my @nodes = sort keys %faults;
ok(flows($nodes, $_), "$_: ids flow") for @nodes;
ok(has_window($_), "$_: has a whole window") for @nodes;
is(advice($_), '', "$_: no advice while all is well") for @nodes;

subtest 'faults of one node each' => sub {
	$faults{$_}[0]->() for @nodes;
	my $said = first_advice(@nodes);
	speaks($_, $said->{$_}, @{ $faults{$_} }[ 2, 3 ]) for @nodes;

	# Only those who may read where the registry is do so.
	for my $db (qw(certified moved))
	{
		my $seen = (as_role($nodes, $db, 'nobody', 'SELECT advice FROM snowflake_status'))[2];
		like($seen, qr/: the registry does not answer\. $reach/, "$db: others read that it does not answer");
		unlike($seen, qr/127\.0\.0\.1|port \d/, '... and not where it is');
	}

	# When ids have stopped, it says so.
	ok(wait_until('the end of the window', sub { status($nodes, 'state', 'revoked') eq 'window ended' }), 'a window ends');
	like(advice('revoked'), qr/^no ids are issued: permission denied for function snowflake_lease_extend\. In the registry's database, /, '... and ids have stopped');
	$faults{$_}[1]->() for @nodes;
	falls_silent(@nodes);
};

subtest 'the registry is stopped' => sub {
	# A node that issues numbers alone, and wants another range.
	value($nodes, q{SET snowflake.start_timeout = '60s'; SELECT count(snowflake_segment_nextval('ticket')) FROM generate_series(1, 50)}, 'numbers');
	is(advice('numbers'), '', 'no advice for numbers while all is well');
	ok(has_window($_), "$_: has a whole window") for 'revoked';
	$registry->stop('immediate');
	value($nodes, q{SELECT count(snowflake_segment_nextval('ticket')) FROM generate_series(1, 200)}, 'numbers');
	my $said = first_advice(qw(revoked numbers));
	speaks('revoked', $said->{revoked}, qr/could not connect/, $reach);
	my $left = value($nodes, 'SELECT left_here FROM snowflake_segments', 'numbers');
	cmp_ok($left, '>', 0, 'numbers are left');
	is(value($nodes, 'SELECT state FROM snowflake_status', 'numbers'), 'idle', '... on a node that issues no ids');
	like($said->{numbers}{advice}, qr/^segments get no more numbers, and "ticket" has $left left: could not connect.*\. $reach/, '... and the advice says how many');
	like((as_role($nodes, 'numbers', 'nobody', 'SELECT advice FROM snowflake_status'))[2], qr/^segments get no more numbers: the registry does not answer\. $reach/,
		'... but not to everybody');
	start_server($registry);
	falls_silent('revoked');
	value($nodes, q{SELECT count(snowflake_segment_nextval('ticket')) FROM generate_series(1, 600)}, 'numbers');
	ok(wait_until('no advice', sub { advice('numbers') eq '' }), 'with numbers again, there is no advice') or diag(advice('numbers'));
};

$nodes->stop('fast');
$registry->stop('fast');
$relay->finish;

# SNOWFLAKE_ADVICE_SECONDS: for how long.
subtest 'healthy nodes under load' => sub {
	my $seconds = $ENV{SNOWFLAKE_ADVICE_SECONDS} // at_length(6, 60);
	my $server = new_server('healthy', late => 1, patient => 1, conf => "log_statement = none\n");
	start_server($server);
	my %duration = (long => '10min', short => '1s');
	my (@loads, %polls);
	for my $db (sort keys %duration)
	{
		value($server, "CREATE DATABASE $db");
		value($server, "ALTER DATABASE $db SET snowflake.lease_duration = '$duration{$db}'");
		value($server, 'CREATE EXTENSION snowflake; CREATE TABLE spoke (at timestamptz DEFAULT clock_timestamp(), state text, advice text);'
			  . 'CREATE TABLE polls (n bigint); SELECT snowflake_nextval()', $db);
		push @loads, start_clients($server, 1, "SELECT count(snowflake_nextval()) FROM generate_series(1, 1000);\nSELECT FROM pg_sleep(0.05);\n" x 20, dbname => $db);
		$polls{$db} = $server->background_psql($db);
		$polls{$db}{stdin} .= sprintf(q{
			DO $$
			DECLARE status record; n bigint := 0;
			BEGIN
				FOR i IN 1 .. %d LOOP
					SELECT state, advice INTO status FROM snowflake_status;
					n := n + 1;
					IF status.advice IS NOT NULL THEN INSERT INTO spoke (state, advice) VALUES (status.state, status.advice); END IF;
					PERFORM pg_sleep(0.05);
					COMMIT;
				END LOOP;
				INSERT INTO polls VALUES (n);
			END $$;
		}, 20 * $seconds);
		$polls{$db}{run}->pump_nb;
	}
	for my $db (sort keys %duration)
	{
		# Longer than wait_until().
		sleep(0.5) until value($server, 'SELECT count(*) FROM polls', $db) eq '1';
		$polls{$db}->quit;
		my ($n, $spoke, $wrongly) = split /\|/, value($server, q{SELECT (SELECT n FROM polls), count(*), count(*) FILTER (WHERE state = 'issuing') FROM spoke}, $db);
		figures('lease_duration %s: advice in %d of %d polls in %d s, %d of them while ids were issued', $duration{$db}, $spoke, $n, $seconds, $wrongly);
		diag(value($server, 'SELECT * FROM spoke ORDER BY at LIMIT 5', $db)) if $spoke;
		cmp_ok($n, '>', 10 * $seconds, "$db: polls");
		# On a busy machine, a lease of a second may end before it is extended. Then ids have stopped.
		is($db eq 'short' ? $wrongly : $spoke, 0, "$db: no advice");
	}
	stop_clients($_) for @loads;

	# Nobody has asked for a keeper yet.
	kill_server($server, children => 1);
	start_server($server);
	is(status($server, q{state, keeper_pid, coalesce(advice, '')}, 'long'), 'issuing||', 'after a crash, there is no advice');
	$server->stop('fast');
};

done_testing();
