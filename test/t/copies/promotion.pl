# A promoted standby issues ids at once, also to a session that it refused before. It uses no id and
# no worker id that the old primary, which runs on, has issued or still issues (G1, G6 and
# "Settling", section 4 of the design).
#
# The promoted server's registry is a copy that may lack the newest commits. So when it detects the
# new timeline, it lets no lease expire for one lease duration, and assigns new leases only from the
# reserve. If the server is promoted again during this time, new leases come from the other end of
# the reserve.
#
# The same holds for a standby that has received no lease at all.
# Not in the default run: it needs more than a second of processor time.

use strict;
use warnings;

use ProtocolTest qw(lease_function);
use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $primary = new_server('primary', streaming => 1, patient => 1, conf => "snowflake.lease_duration = 10min\nsnowflake.max_clock_skew = 0\nwal_sender_timeout = 0\n");
start_server($primary);
value($primary, 'CREATE EXTENSION snowflake; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);'
	  . ' CREATE TABLE old (id bigserial)');
my $unaware = standby_of($primary, 'unaware', conf => "primary_conninfo = ''\n");
my @old = ids($primary, 1000);
value($primary, 'INSERT INTO t (n) SELECT generate_series(1, 100)');
my $standby = standby_of($primary, 'standby');
my $cascaded = standby_of($standby, 'cascaded');
push @old, ids($primary, 1000);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$standby->wait_for_catchup($cascaded, 'replay', $standby->lsn('replay'));

# A session that was refused before the promotion.
my $session = $standby->background_psql($db, on_error_stop => 0);
$session->query('SELECT snowflake_nextval()');
$session->{stderr} = '';

### Promoted, while the old primary runs on

$standby->promote;
my $id = $session->query_safe('SELECT snowflake_nextval()');
like($id, qr/^\d+$/, 'the promoted server issues, to a session that was refused before');
$session->quit;
my @new = ($id, ids($standby, 1000));
push @new, split /\n/, value($standby, 'INSERT INTO t (n) SELECT generate_series(1, 100) RETURNING id');
push @old, split /\n/, value($primary, 'INSERT INTO t (n) SELECT generate_series(1, 100) RETURNING id');
push @old, ids($primary, 1000);

# The next worker ids that the old primary acquires, as its nodes start and end.
my %old_workers = map { $_ => 1 } split /\n/, value($primary, lease_function() . q{
	SELECT worker_id FROM snowflake_registry
	UNION SELECT (pg_temp.lease('node ' || n, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
	FROM generate_series(1, 200) n});
cmp_ok(scalar(keys %old_workers), '==', 201, 'the old primary has 201 worker ids out');
my $new_worker = value($standby, 'SELECT worker FROM snowflake_status');
ok(!$old_workers{$new_worker}, "the promoted server's is none of them, nor one of the next 200");
my @new_workers = split /\n/, value($standby, lease_function() . q{
	SELECT (pg_temp.lease('node ' || n, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
	FROM generate_series(1, 200) n});
is(scalar(grep { $old_workers{$_} } @new_workers), 0, 'nor any of the next 200 that it acquires itself');

# A standby without any lease
is(value($unaware, 'SELECT count(*) FROM snowflake_registry'), '0', 'a standby that lacks the first lease');
$unaware->promote;
ids($unaware, 1);
my @unaware_workers = split /\n/, value($unaware, lease_function() . q{
	SELECT worker FROM snowflake_status
	UNION ALL SELECT (pg_temp.lease('node ' || n, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
	FROM generate_series(1, 200) n});
is(scalar(@unaware_workers), 201, '... acquires as many worker ids');
is(scalar(grep { $old_workers{$_} } @unaware_workers), 0, '... and none of the old primary\'s');

my %issued;
$issued{$_}++ for @old, @new;
is(scalar(grep { $_ > 1 } values %issued), 0, 'no id was issued by both');
is(value($standby, q{SELECT settles_until > now() AND settles_until <= now() + interval '11 min' FROM snowflake_origin}), 't',
	'snowflake_origin shows until when it settles');
is(value($standby, 'SELECT timeline FROM snowflake_origin'), '2', '... and on which timeline');
cmp_ok($_, '>=', 683, "a worker id of the reserve, the upper third: $_") for $new_worker, (sort { $a <=> $b } @new_workers)[0];
is(value($primary, 'SELECT settles_until IS NULL FROM snowflake_origin'), 't', 'the old primary does not settle');

### Promoted again while it settles: the reserve is used from its other end

$standby->wait_for_catchup($cascaded, 'replay', $standby->lsn('flush'));
$cascaded->promote;
my @newest = ids($cascaded, 1000);
$issued{$_}++ for @newest;
is(scalar(grep { $_ > 1 } values %issued), 0, 'after a second promotion no id was issued twice');
is(value($cascaded, 'SELECT timeline FROM snowflake_origin'), '3', 'the second promotion is noticed');
my %standby_workers = map { $_ => 1 } split /\n/, value($standby, 'SELECT worker_id FROM snowflake_registry');
ok(!$standby_workers{ value($cascaded, 'SELECT worker FROM snowflake_status') }, 'it acquires a worker id that the first promoted server has not');
$_->stop('fast') for $cascaded, $standby, $primary, $unaware;
done_testing();
