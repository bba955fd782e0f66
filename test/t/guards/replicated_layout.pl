# A layout arrives by logical replication, in the initial copy and later. A database without a
# layout takes it, and from then on every session there uses it. A database with a layout keeps its
# own.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "wal_level = logical\nmax_wal_senders = 20\nmax_replication_slots = 20\nmax_worker_processes = 20\nmax_logical_replication_workers = 10\n"
  . "wal_retrieve_retry_interval = 100ms\n";
my $source = new_server('source', conf => $conf);
my $target = new_server('target', patient => 1, conf => $conf);
start_server($_) for $source, $target;
for my $db (qw(copied streamed refused))
{
	$_->safe_psql('postgres', "CREATE DATABASE $db") for $source, $target;
	$_->safe_psql($db, 'CREATE EXTENSION snowflake; CREATE TABLE mark (n int PRIMARY KEY)') for $source, $target;
	$source->safe_psql($db, 'CREATE PUBLICATION everything FOR ALL TABLES');
}

sub subscribe
{
	my ($db) = @_;
	$target->safe_psql($db, sprintf(q{CREATE SUBSCRIPTION %s CONNECTION 'host=%s port=%s dbname=%s' PUBLICATION everything}, $db, $source->host, $source->port, $db));
	return ok(wait_until('every table', sub { $target->safe_psql($db, q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'}) eq '0' }), "$db: subscribed");
}

# The earlier changes have been applied.
sub pass_mark
{
	my ($db) = @_;
	$source->safe_psql($db, 'INSERT INTO mark VALUES (1)');
	return ok(wait_until('the mark', sub { $target->safe_psql($db, 'SELECT count(*) FROM mark') eq '1' }), "$db: later changes arrive");
}

my $epoch = q{SELECT (extract(epoch FROM snowflake_timestamp(0)) * 1000)::bigint};
my %epochs = (snowflake => '1735689600000', twitter => '1288834974657');

# Sessions that read the layout before it exists.
my %sessions = map { $_ => $target->background_psql($_) } qw(copied streamed refused);
is((ask($sessions{$_}, $epoch))[0], $epochs{snowflake}, "$_: the default to begin with") for sort keys %sessions;

$source->safe_psql('copied', q{SELECT snowflake_set_layout('twitter')});
subscribe('copied');
is($target->safe_psql('copied', $epoch), $epochs{twitter}, 'copied: the layout is taken');
is((ask($sessions{copied}, $epoch))[0], $epochs{twitter}, '... and what a session goes by that was there before');

subscribe('streamed');
is((ask($sessions{streamed}, $epoch))[0], $epochs{snowflake}, 'streamed: there is none yet');
$source->safe_psql('streamed', q{SELECT snowflake_set_layout('twitter')});
pass_mark('streamed');
is($target->safe_psql('streamed', $epoch), $epochs{twitter}, 'streamed: the layout is taken');
is((ask($sessions{streamed}, $epoch))[0], $epochs{twitter}, '... and what a session goes by that was there before');
is((ask($sessions{streamed}, q{SELECT count(*) FROM snowflake_nextvals(10) id, snowflake_decode(id, 'twitter') WHERE ts > now() - interval '1 minute'}))[0], '10', '... and issues by');

# If a worker id was leased under the layout, the layout stays, and replication continues.
is((ask($sessions{refused}, q{SELECT snowflake_nextval() > 0}))[0], 't', 'refused: ids are issued');
$source->safe_psql('refused', q{SELECT snowflake_set_layout('twitter')});
subscribe('refused');
$source->safe_psql('refused', q{SELECT snowflake_set_layout('leaf')});
pass_mark('refused');
is((ask($sessions{refused}, $epoch))[0], $epochs{snowflake}, 'refused: the layout stays');
is($target->safe_psql('postgres', subscription_errors()), '0', 'no subscription has failed');

$_->quit for values %sessions;
$target->safe_psql($_, "ALTER SUBSCRIPTION $_ DISABLE") for sort keys %sessions;
$_->stop('fast') for $target, $source;
done_testing();
