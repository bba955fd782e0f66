# Logical replication in both directions (G1). Two nodes of one registry write into the same table
# under load. One of them crashes and acquires another worker id. There is no conflict, and in the
# end both have the same rows. t/copies/gathered_by_replication tests replication from many nodes
# into one.
# Not in the default run: it starts some 250 processes.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my ($registry, $conninfo) = start_registry();
my @names = qw(east west);
my %nodes;
for my $name (@names)
{
	$nodes{$name} = new_server($name, patient => 1, conf => quiet() . "wal_level = logical\nmax_wal_senders = 8\nmax_replication_slots = 8\nsnowflake.registry = '$conninfo'\n");
	start_server($nodes{$name});
	value($nodes{$name}, qq{
		CREATE EXTENSION snowflake;
		CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), node text NOT NULL DEFAULT '$name', n int);
		INSERT INTO orders (n) SELECT generate_series(1, 1000)});
}
# From 16 on a subscription can leave out rows that its publisher received from elsewhere. Before,
# each node publishes the rows that it made itself. Then no row returns to its origin, but a node
# may change only its own rows.
my $has_origin = $nodes{east}->pg_version >= 16;
diag('on PostgreSQL 15 each direction has a row filter, because "origin = none" came with 16') unless $has_origin;
for my $name (@names)
{
	my $filter = $has_origin ? '' : "WHERE (node = '$name')";
	value($nodes{$name}, 'ALTER TABLE orders REPLICA IDENTITY FULL') unless $has_origin;
	value($nodes{$name}, "CREATE PUBLICATION $name FOR TABLE orders $filter");
}
# Existing rows are transferred before there is a subscription. If one subscription copied them, the
# other would send them back, because copied rows have no origin. The filter alone prevents that.
my @pairs = ([ 'east', 'west' ], [ 'west', 'east' ]);
for my $pair ($has_origin ? @pairs : ())
{
	my ($to, $from) = @$pair;
	value($nodes{$to}, sprintf(q{INSERT INTO orders SELECT * FROM jsonb_to_recordset($$%s$$) AS r(id bigint, node text, n int)},
		value($nodes{$from}, "SELECT jsonb_agg(to_jsonb(o)) FROM orders o WHERE node = '$from'")));
}
for my $pair (@pairs)
{
	my ($to, $from) = @$pair;
	my $options = $has_origin ? 'WITH (origin = none, copy_data = false)' : '';
	value($nodes{$to}, sprintf("CREATE SUBSCRIPTION from_$from CONNECTION 'host=%s port=%s dbname=$db' PUBLICATION $from $options", $nodes{$from}->host, $nodes{$from}->port));
}
my %loads = map { $_ => load($nodes{$_}, q{
	INSERT INTO orders (n) SELECT generate_series(1, 200) RETURNING id;
	INSERT INTO orders (n) VALUES (0) RETURNING id;
	BEGIN; INSERT INTO orders (n) SELECT generate_series(1, 10); ROLLBACK;
	UPDATE orders SET n = n + 1 WHERE id = (SELECT max(id) FROM orders WHERE node = current_setting('cluster_name'));
	SELECT FROM pg_sleep(0.005);}) } @names;
for my $name (@names)
{
	ok(ids_flow($loads{$name}), "$name writes");
	my ($other) = grep { $_ ne $name } @names;
	ok(wait_until("rows of $other", sub { value($nodes{$name}, "SELECT count(*) > 1500 FROM orders WHERE node = '$other'") eq 't' }), "... and gets what $other writes");
}
# Each later version has more of these counters, some under other names.
my $errors = q{SELECT count(*) >= 2, sum(counter.value::bigint)
	FROM pg_stat_subscription_stats s, jsonb_each_text(to_jsonb(s)) counter WHERE counter.key ~ '_error_count$|^confl_'};
is(value($nodes{$_}, $errors), 't|0', "no conflict at $_") for @names;
# After a reboot a node acquires another worker id while the other node continues to write.
my $before = worker($nodes{west});
$nodes{west}->stop('immediate');
lose_box($nodes{west});
start_server($nodes{west});
ok(ids_flow($loads{$_}), "$_ writes, after a reboot of west") for @names;
isnt(worker($nodes{west}), $before, '... under another worker id');
stop_clients($_) for values %loads;

my $digest = q{SELECT count(*) || ' ' || md5(string_agg(id || node || n, ' ' ORDER BY id)) FROM orders};
my %digest;
ok(wait_until('both to have the same rows', sub {
	%digest = map { $_ => value($nodes{$_}, $digest) } @names;
	return $digest{east} eq $digest{west};
}), 'both have the same rows') or diag(explain(\%digest));
for my $name (@names)
{
	my @ids = map { slurp_file($_) =~ /^(\d+)$/mg } @{ $loads{$name}{files} };
	my ($other) = grep { $_ ne $name } @names;
	append_to_file("$loads{$name}{folder}/all", join("\n", @ids, ''));
	is(value($nodes{$other}, "CREATE TEMP TABLE said (id bigint); COPY said FROM '$loads{$name}{folder}/all'; "
		. "SELECT count(*) FROM said LEFT JOIN orders USING (id) WHERE node IS DISTINCT FROM '$name'"), '0', scalar(@ids) . " ids that reached clients of $name are rows at $other");
	# The crash cut the connection, and the next worker may meet the previous one, which is still
	# ending.
	my @conflicts = grep { /(ERROR|conflict)/ && !/could not (receive data|connect)|server closed the connection|origin with ID \d+ is already active/ } split /\n/, slurp_file($nodes{$name}->logfile);
	is("@conflicts", '', "... and $name has had no conflict to the end");
}
if ($has_origin)
{
	value($nodes{east}, "UPDATE orders SET n = -1 WHERE id = (SELECT min(id) FROM orders WHERE node = 'west')");
	ok(wait_until('the change', sub { value($nodes{west}, 'SELECT count(*) FROM orders WHERE n = -1') eq '1' }), "a change of the other's row arrives");
}
none_twice('two nodes that write into one table');
for my $name (@names)
{
	my ($other) = grep { $_ ne $name } @names;
	value($nodes{$name}, "ALTER SUBSCRIPTION from_$other DISABLE");
}
$_->stop('fast') for values %nodes;

$registry->stop('fast');
done_testing();
