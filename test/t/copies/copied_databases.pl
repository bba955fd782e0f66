# Databases that are copied on one server, each with its own registry ("Lives", section 4 of the
# design).
#
# - Ten copies of a template that has issued no id begin at random slots: a correct server gives
#   them fewer than 6 worker ids with a probability below 3 in 10^10, because there are 683 slots.
# - A copy of a database that issues ids, by either strategy, has another worker id than its
#   original.
# - A database that is renamed goes on as before.
#
# Where the worker ids differ, no id of two databases is equal.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('server', patient => 1, conf => "snowflake.max_databases = 20\nmax_worker_processes = 40\nlog_statement = none\nautovacuum = off\n");
start_server($server);

sub value { my ($db, $sql) = @_; return $server->safe_psql($db, $sql); }
sub worker { my ($db) = @_; value($db, 'SELECT snowflake_nextval()'); return value($db, 'SELECT worker FROM snowflake_status'); }

# All of them issue at the same time.
sub none_equal
{
	my ($what, $enough, @dbs) = @_;
	my @loads = map { start_clients($server, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 1000)) TO STDOUT;\n" x 20, dbname => $_) } @dbs;
	my $bytes = 20 * $enough / @dbs;
	ok(wait_until('ids', sub { !grep { client_bytes($_) < $bytes } @loads }), "$what issue");
	stop_clients($_) for @loads;
	my ($ids, $equal) = compare_ids(map { @{ $_->{files} } } @loads);
	figures('%d ids of %s, %d equal', $ids, $what, $equal);
	return is($equal, 0, "... $ids ids, none of which are equal");
}

### A template that has issued no id

value('postgres', 'CREATE DATABASE template');
value('template', 'CREATE EXTENSION snowflake');
my %dbs;
for my $db (map { "tenant_$_" } 1 .. 10)
{
	value('postgres', "CREATE DATABASE $db TEMPLATE template");
	push @{ $dbs{ worker($db) } }, $db;
}
my @workers = sort { $a <=> $b } keys %dbs;
cmp_ok(scalar(@workers), '>=', 6, 'ten copies of a template begin at random slots: ' . join(' ', map { "$_ (" . @{ $dbs{$_} } . ')' } @workers));
is(join(' ', grep { $_ > 682 } @workers), '', '... of the common part');
is(join(' ', map { value($_, 'SELECT settles_until FROM snowflake_origin') } map { @$_ } values %dbs) =~ s/ //gr, '', '... and nothing is held back');
none_equal('databases from a template', 200_000, map { $_->[0] } values %dbs);

### A database that issues ids

my $original = $dbs{ $workers[0] }[0];
for my $strategy ('wal_log', 'file_copy')
{
	my $before = worker($original);
	my $copy = "copy_$strategy";
	alone($server, "CREATE DATABASE $copy TEMPLATE $original STRATEGY $strategy");
	my ($ours, $theirs) = (worker($original), worker($copy));
	isnt($theirs, $_, "$strategy: the copy has another worker id than its original") for $before, $ours;
	is(value($copy, 'SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... and nothing is held back');
	none_equal("a database and its copy ($strategy)", 200_000, $original, $copy);
}

### A database that is renamed

my $skipped;
alone($server, "ALTER DATABASE $original RENAME TO renamed", sub { $skipped = value($original, 'SELECT jumped_to, last_lease_id + 1 FROM snowflake_origin') });
worker('renamed');
is(value('renamed', 'SELECT jumped_to, last_lease_id FROM snowflake_origin'), $skipped, 'a renamed database acquires the next lease');
$server->stop('fast');
done_testing();
