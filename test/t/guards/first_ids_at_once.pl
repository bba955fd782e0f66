# Two databases that replicate all tables to each other request their first ids at one moment. Each
# stores a layout of its own and receives the other's. No subscription fails, rows arrive on both
# sides, and both issue ids.
#
# Not in the default run: isolation/first_rows has the same cases, one by one.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $trials = $ENV{SNOWFLAKE_TRIALS} || at_length(10, 20);
my $at_once = 10;
my $conf = "wal_level = logical\nmax_wal_senders = 30\nmax_replication_slots = 30\nmax_worker_processes = 60\nmax_logical_replication_workers = 30\n"
  . "max_sync_workers_per_subscription = 2\nwal_retrieve_retry_interval = 100ms\nmax_connections = 100\n";
my %servers = map { $_ => new_server($_, patient => 1, conf => $conf) } qw(one two);
my %other = (one => 'two', two => 'one');
start_server($_) for values %servers;

# Before 16 a subscription cannot leave out rows that its publisher received from here.
for my $name (sort keys %servers)
{
	$servers{$name}->safe_psql('postgres', 'CREATE DATABASE pair');
	$servers{$name}->safe_psql('pair', qq{
		CREATE EXTENSION snowflake;
		CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), made_by text DEFAULT '$name');
		CREATE FUNCTION no_return() RETURNS trigger LANGUAGE plpgsql AS
			\$\$ BEGIN RETURN CASE WHEN NEW.made_by <> '$name' THEN NEW END; END \$\$;
		CREATE TRIGGER no_return BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION no_return();
		ALTER TABLE item ENABLE REPLICA TRIGGER no_return;
		CREATE PUBLICATION everything FOR ALL TABLES});
}

# How many errors background workers have reported so far.
sub failures
{
	return scalar map { slurp_file($_->logfile) =~ /^\S+ \S+ UTC \[\d+\] ERROR:/mg } values %servers;
}

# In all pairs at one moment. Returns how many pairs have a row of each side on both sides, and how
# many subscriptions have failed.
sub first_ids
{
	my ($batch, $pairs, $disable) = @_;
	my $before = failures();
	my @names = map { "pair_${batch}_$_" } 1 .. $pairs;
	for my $db (@names)
	{
		for my $name (sort keys %servers)
		{
			$servers{$name}->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE pair");
		}
		for my $name (sort keys %servers)
		{
			my $from = $servers{ $other{$name} };
			$servers{$name}->safe_psql($db, sprintf(q{CREATE SUBSCRIPTION %s CONNECTION 'host=%s port=%s dbname=%s' PUBLICATION everything WITH (copy_data = false, disable_on_error = %s)},
				$db, $from->host, $from->port, $db, $disable));
		}
	}
	my $at = time + 2;
	my @clients;
	for my $db (@names)
	{
		for my $name (sort keys %servers)
		{
			my $pid = fork // die "fork: $!";
			if ($pid == 0)
			{
				open STDOUT, '>', '/dev/null' or die $!;
				exec $servers{$name}->installed_command('psql'), '-XAtq', '-d', $servers{$name}->connstr($db),
				  '-c', "SELECT pg_sleep(greatest(0, $at - extract(epoch FROM clock_timestamp())))", '-c', 'INSERT INTO item DEFAULT VALUES';
				die "psql: $!";
			}
			push @clients, $pid;
		}
	}
	for (@clients) { waitpid $_, 0; is($?, 0, 'an id is issued') if $? != 0; }
	my %complete;
	wait_until("rows of batch $batch", sub {
		for my $db (grep { !$complete{$_} } @names)
		{
			$complete{$db} = 1 unless grep { $servers{$_}->safe_psql($db, 'SELECT count(DISTINCT made_by) FROM item') ne '2' } keys %servers;
		}
		return keys %complete == @names || failures() > $before;
	});
	my $failed = failures() - $before;
	for my $db (@names)
	{
		$servers{$_}->safe_psql($db, "ALTER SUBSCRIPTION $db DISABLE; ALTER SUBSCRIPTION $db SET (slot_name = NONE); DROP SUBSCRIPTION $db") for keys %servers;
	}
	for my $name (keys %servers)
	{
		wait_until('the slots', sub { $servers{$name}->safe_psql('postgres', 'SELECT count(pg_drop_replication_slot(slot_name)) FROM pg_replication_slots WHERE NOT active; SELECT count(*) FROM pg_replication_slots') =~ /^0$/m });
		$servers{$name}->safe_psql('postgres', "DROP DATABASE $_ WITH (FORCE)") for @names;
	}
	return (scalar keys %complete, $failed);
}

for my $disable (qw(false true))
{
	my ($complete, $failed, $done) = (0, 0, 0);
	for (my $batch = 1; $done < $trials; ++$batch)
	{
		my $pairs = $trials - $done < $at_once ? $trials - $done : $at_once;
		my ($rows, $errors) = first_ids($batch, $pairs, $disable);
		$complete += $rows;
		$failed += $errors;
		$done += $pairs;
	}
	diag("disable_on_error = $disable, $trials trials: $failed failures of subscriptions, rows arrive in $complete pairs");
	is($failed, 0, "disable_on_error = $disable: no subscription has failed");
	is($complete, $trials, '... and rows arrive in every pair');
}
$_->stop('fast') for values %servers;
done_testing();
