# Queries on a key of type snowflake_id have the plans of the same queries on a bigint key, node by
# node, with the same estimates. Two schemas contain the same tables with the same rows, one with
# each type. The casts that PostgreSQL shows, such as (id)::bigint, are removed before plans are
# compared: they cost nothing at run time. %different lists the queries whose plans differ, with the
# reason.
# Not in the default run: it needs 2 s of processor time.

use strict;
use warnings;

use lib 'test/perl';
use JSON::PP;
use SnowflakeTest;
use Test::More;

my $server = new_server('plans', patient => 1, conf => "log_statement = none\nautovacuum = off\njit = off\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
my $version = $server->pg_version->major;

# --------------------------------------------------------------------------------------------------
# The tables
# --------------------------------------------------------------------------------------------------

# ANALYZE reads every row of these tables, so both schemas have the same statistics.
my $rows = 20_000;
# An id each second: row i has the id $first + i * $step + a sequence.
my ($first, $step) = (249788568795250688, 1000 << 22);
sub id { return $first + $_[0] * $step + $_[0] * 7 % 4096; }
my $ids = "SELECT $first + i * ${step}::bigint + i * 7 % 4096 AS id, i FROM generate_series(1, $rows) i";
my @bounds = ('MINVALUE', (map { id($_ * $rows / 4) } 1 .. 3), 'MAXVALUE');

sub partitions
{
	my ($table) = @_;
	return join '', map {
		my $number = $_;
		my $bounds = $table =~ /range/ ? "FROM ($bounds[$_]) TO ($bounds[$_ + 1])" : "WITH (MODULUS 4, REMAINDER $_)";
		"CREATE TABLE ${table}_$number PARTITION OF $table FOR VALUES $bounds;\n"
	} 0 .. 3;
}

sub make
{
	my ($schema, $type, $other_type) = @_;
	my $partitioned = join '', map {
		my $way = /range/ ? 'RANGE' : 'HASH';
		my $key = /other/ ? $other_type : $type;
		"CREATE TABLE $_ (id $key PRIMARY KEY, n integer) PARTITION BY $way (id);\n"
		  . partitions($_) . "INSERT INTO $_ SELECT id, i % 100 FROM ids;\n"
	} 'by_range', 'by_range_too', 'by_range_other', 'by_hash', 'by_hash_too', 'by_hash_other';
	value(qq{
		CREATE SCHEMA $schema;
		SET search_path = $schema, public;
		CREATE TEMP TABLE ids AS $ids;
		CREATE TABLE item (id $type PRIMARY KEY, n integer, parent $type, note text);
		INSERT INTO item SELECT id, i % 100, first_value(id) OVER (PARTITION BY i % 500 ORDER BY i), 'item ' || i FROM ids ORDER BY i;
		CREATE INDEX item_parent ON item (parent);
		CREATE INDEX item_n ON item (n, id);
		CREATE TABLE line (id $type PRIMARY KEY, item_id $type REFERENCES item ON DELETE CASCADE ON UPDATE CASCADE, n integer);
		INSERT INTO line SELECT id + 1, first_value(id) OVER (PARTITION BY i % 5000 ORDER BY i), i FROM ids ORDER BY i;
		CREATE INDEX line_item ON line (item_id);
		-- A key of the other type, which refers to this one.
		CREATE TABLE other (id $other_type PRIMARY KEY, item_id $other_type REFERENCES item ON DELETE CASCADE ON UPDATE CASCADE, n integer);
		INSERT INTO other SELECT id, id, i FROM ids WHERE i % 2 = 0 ORDER BY i;
		CREATE INDEX other_item ON other (item_id);
		CREATE TABLE with_brin (id $type, n integer);
		INSERT INTO with_brin SELECT id, i FROM ids ORDER BY i;
		CREATE INDEX with_brin_id ON with_brin USING brin (id) WITH (pages_per_range = 4);
		CREATE TABLE with_hash (id $type, n integer);
		INSERT INTO with_hash SELECT id, i FROM ids ORDER BY i;
		CREATE INDEX with_hash_id ON with_hash USING hash (id);
		$partitioned});
	return;
}

# The tables of the joins between both types: to `wide`, which is bigint in both schemas, and to
# `tagged`, which is snowflake_id in both.
value(qq{
	CREATE EXTENSION snowflake;
	CREATE TABLE wide (id bigint PRIMARY KEY, n integer);
	INSERT INTO wide SELECT id, i FROM ($ids) t WHERE i % 3 = 0;
	CREATE TABLE tagged (id snowflake_id PRIMARY KEY, n integer);
	INSERT INTO tagged SELECT * FROM wide});
make('plain', 'bigint', 'bigint');
make('typed', 'snowflake_id', 'bigint');
# In the schema `mixed` columns of the type refer to the bigint key.
make('mixed', 'bigint', 'snowflake_id');
# A view of an API's schema, over a bigint key.
value(q{
	CREATE VIEW plain.face AS SELECT id, n, note FROM plain.item;
	CREATE VIEW mixed.face AS SELECT id, n, note FROM plain.item;
	CREATE VIEW typed.face AS SELECT id::snowflake_id AS id, n, note FROM plain.item;
	VACUUM ANALYZE});

# --------------------------------------------------------------------------------------------------
# The queries
# --------------------------------------------------------------------------------------------------

my ($a, $b, $low, $mid, $high) = map { id($_) } 4711, 4712, 5000, 9000, 9100;
my ($since, $until) = map { "snowflake_timestamp($_)" } $low, $high;
my $no_scan = 'SET enable_seqscan = off';
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
  . ' SET min_parallel_index_scan_size = 0; SET max_parallel_workers_per_gather = 2';
my $generic = 'SET plan_cache_mode = force_generic_plan';
my $custom = 'SET plan_cache_mode = force_custom_plan';
my $partitionwise = 'SET enable_partitionwise_join = on; SET enable_partitionwise_aggregate = on';
my %join = (
	'Merge Join' => 'SET enable_hashjoin = off; SET enable_nestloop = off',
	'Hash Join' => 'SET enable_mergejoin = off; SET enable_nestloop = off',
	'Nested Loop' => 'SET enable_mergejoin = off; SET enable_hashjoin = off');

# Matches a plan that reads these relations and no other.
sub relations
{
	my $names = join '', map { qq{.*?"Relation Name": "$_"} } @_;
	return qr/\A(?!(?:.*"Relation Name":){${\ (@_ + 1)}})$names/s;
}

# A name, the query, what the plan must show (to prove that the query is what its name says),
# settings, a statement before it; run => 1: the query is run, and the actual figures of each node
# are compared, too.
my @queries = (
	[ 'equality', "SELECT * FROM item WHERE id = $a", qr/"Index Scan"/ ],
	[ 'equality to a literal without a type', "SELECT * FROM item WHERE id = '$a'", qr/"Index Scan"/ ],
	[ 'equality to an integer', 'SELECT * FROM item WHERE id = 5', qr/"Index Scan"/ ],
	[ 'inequality', "SELECT count(*) FROM item WHERE id <> $a", qr/Seq Scan|Index Only Scan/ ],
	[ 'half of a range', "SELECT * FROM item WHERE id > $high", qr/Scan/ ],
	[ 'a range', "SELECT * FROM item WHERE id >= $low AND id < $high", qr/Index Scan/ ],
	[ 'BETWEEN', "SELECT * FROM item WHERE id BETWEEN $mid AND $high ORDER BY id", qr/Index Scan/ ],
	[ 'IN with two bigints', "SELECT * FROM item WHERE id IN ($a, $b)", qr/ANY/ ],
	[ 'IN with thirty bigints', 'SELECT * FROM item WHERE id IN (' . join(', ', map { id(100 * $_) } 1 .. 30) . ')', qr/ANY/ ],
	[ 'IN with bigints and integers', "SELECT * FROM item WHERE id IN (1, $a, 2)", qr/ANY/ ],
	[ 'IN with integers', 'SELECT * FROM item WHERE id IN (1, 2, 3)', qr/Scan/ ],
	[ 'NOT IN', "SELECT count(*) FROM item WHERE id NOT IN ($a, $b)", qr/ALL/ ],
	[ '= ANY of an array', "SELECT * FROM item WHERE id = ANY ('{$a,$b}')", qr/ANY/ ],
	[ '= ANY ($1), custom', "EXECUTE q ('{$a,$b,$mid}')", qr/ANY/, $custom, 'PREPARE q (bigint[]) AS SELECT * FROM item WHERE id = ANY ($1)' ],
	[ '= ANY ($1), generic', "EXECUTE q ('{$a,$b,$mid}')", qr/ANY \(\$1\)/, $generic, 'PREPARE q (bigint[]) AS SELECT * FROM item WHERE id = ANY ($1)' ],
	[ '= $1, custom', "EXECUTE q ($a)", qr/Index Scan/, $custom, 'PREPARE q AS SELECT * FROM item WHERE id = $1' ],
	[ '= $1, generic', "EXECUTE q ($a)", qr/= \$1/, $generic, 'PREPARE q AS SELECT * FROM item WHERE id = $1' ],
	[ 'a range of parameters, custom', "EXECUTE q ($mid, $high)", qr/Index Scan/, $custom, 'PREPARE q AS SELECT * FROM item WHERE id BETWEEN $1 AND $2' ],
	[ 'a range of parameters, generic', "EXECUTE q ($mid, $high)", qr/\$2/, $generic, 'PREPARE q AS SELECT * FROM item WHERE id BETWEEN $1 AND $2' ],
	[ 'ORDER BY LIMIT', 'SELECT * FROM item ORDER BY id LIMIT 10', qr/Limit.*Index Scan/s ],
	[ 'ORDER BY DESC LIMIT', 'SELECT * FROM item ORDER BY id DESC LIMIT 10 OFFSET 20', qr/Backward/ ],
	[ 'ORDER BY of all', 'SELECT * FROM item ORDER BY note, id', qr/"Sort"/ ],
	[ 'an incremental sort', 'SELECT * FROM item ORDER BY parent, id LIMIT 10', qr/Incremental Sort/ ],
	[ 'a keyset', "SELECT * FROM item WHERE id > $mid ORDER BY id LIMIT 10", qr/Index Cond/ ],
	[ 'a keyset of two columns', "SELECT * FROM item WHERE (n, id) > (7, $mid) ORDER BY n, id LIMIT 10", qr/ROW/ ],
	[ 'min and max', 'SELECT min(id), max(id) FROM item', qr/Backward/ ],
	[ 'max of a range', "SELECT max(id) FROM item WHERE id < $mid", qr/Backward/ ],
	[ 'max of a column without an index', 'SELECT max(id) FROM with_brin', qr/Aggregate/ ],
	[ 'count', 'SELECT count(id) FROM item', qr/Aggregate/ ],
	[ 'an index-only scan', "SELECT id FROM item WHERE id BETWEEN $mid AND $high", qr/Index Only Scan/ ],
	[ 'GROUP BY the key', 'SELECT id, note, count(*) FROM item GROUP BY id', qr/Aggregate/ ],
	[ 'GROUP BY a reference', 'SELECT parent, count(*) FROM item GROUP BY parent', qr/Aggregate/ ],
	[ 'GROUP BY an expression', 'SELECT id % 10, count(*) FROM item GROUP BY id % 10', qr/Aggregate/ ],
	[ 'count(DISTINCT)', 'SELECT n, count(DISTINCT parent) FROM item GROUP BY n', qr/Aggregate/ ],
	[ 'DISTINCT', 'SELECT DISTINCT parent FROM item', qr/Aggregate/ ],
	[ 'DISTINCT, sorted', 'SELECT DISTINCT parent FROM item ORDER BY parent', qr/Unique/, 'SET enable_hashagg = off' ],
	[ 'DISTINCT ON', 'SELECT DISTINCT ON (parent) parent, id FROM item ORDER BY parent, id DESC', qr/Unique/ ],
	[ 'a window', 'SELECT id, lag(id) OVER (ORDER BY id), row_number() OVER (PARTITION BY parent ORDER BY id) FROM item', qr/WindowAgg/ ],
	[ 'UNION', 'SELECT id FROM item UNION SELECT item_id FROM line', qr/Append/ ],
	[ 'UNION with the other type', 'SELECT id FROM item UNION SELECT id FROM wide', qr/Append/ ],
	[ 'UNION ALL with the other type', 'SELECT id FROM item UNION ALL SELECT id FROM wide', qr/Append/ ],
	[ 'UNION ALL with a cast', 'SELECT id::bigint FROM item UNION ALL SELECT id FROM wide', qr/Append/ ],
	[ 'INTERSECT with the other type', 'SELECT id FROM item INTERSECT SELECT id FROM wide', qr/Intersect/ ],
	[ 'a recursion', "WITH RECURSIVE up AS (SELECT id, parent FROM item WHERE id = $a UNION ALL"
		  . ' SELECT i.id, i.parent FROM item i JOIN up ON i.id = up.parent WHERE up.id <> up.parent) SELECT * FROM up', qr/WorkTable/ ],
	[ 'a subquery for each row', "SELECT id, (SELECT count(*) FROM line WHERE item_id = item.id) FROM item WHERE id BETWEEN $mid AND $high", qr/SubPlan/ ],
	[ 'LATERAL', "SELECT * FROM item i, LATERAL (SELECT * FROM line WHERE item_id = i.id ORDER BY id DESC LIMIT 2) l WHERE i.id > $high", qr/Nested Loop/ ],
	(map {
		my $way = $_;
		map { [ "$way with $_->[0]", "SELECT * FROM item JOIN $_->[0] t ON t.$_->[1] = item.id", qr/"$way"/, $join{$way} ] }
		  [ 'line', 'item_id' ], [ 'wide', 'id' ], [ 'tagged', 'id' ]
	} sort keys %join),
	[ 'a join with a condition', "SELECT * FROM item JOIN line ON item_id = item.id WHERE item.id BETWEEN $mid AND $high", qr/Nested Loop|Hash Join/ ],
	[ 'a join of three tables', "SELECT * FROM item JOIN line ON item_id = item.id JOIN wide ON wide.id = item.id WHERE wide.id > $high", qr/Join/ ],
	[ 'a memoized join', 'SELECT * FROM line JOIN item ON item.id = item_id', qr/Memoize/, $join{'Nested Loop'} ],
	[ 'a full join', 'SELECT * FROM item FULL JOIN wide USING (id)', qr/Full/ ],
	[ 'a join that is removed', 'SELECT i.note FROM item i LEFT JOIN wide USING (id)', qr/\A(?!.*wide).*Seq Scan/s ],
	[ 'a semijoin', 'SELECT * FROM item WHERE EXISTS (SELECT FROM line WHERE item_id = item.id)', qr/Semi|Unique|Aggregate/ ],
	[ 'a semijoin with the other type', 'SELECT * FROM item WHERE id IN (SELECT id FROM wide WHERE n < 100)', qr/Join|Nested Loop/ ],
	[ 'an antijoin', 'SELECT * FROM item WHERE NOT EXISTS (SELECT FROM line WHERE item_id = item.id)', qr/Anti/ ],
	[ 'an antijoin with the other type', 'SELECT * FROM item WHERE NOT EXISTS (SELECT FROM wide WHERE id = item.id)', qr/Anti/ ],
	[ 'NOT IN a subquery', 'SELECT * FROM item WHERE id NOT IN (SELECT id FROM wide)', qr/hashed SubPlan|Anti/ ],
	[ 'pruning by range, equality', "SELECT * FROM by_range WHERE id = $a", relations('by_range_0') ],
	[ 'pruning by range, a range', "SELECT * FROM by_range WHERE id BETWEEN $mid AND $high", relations('by_range_1') ],
	[ 'pruning by range, IN', "SELECT * FROM by_range WHERE id IN ($a, $mid)", relations('by_range_0', 'by_range_1') ],
	[ 'pruning by hash, equality', "SELECT * FROM by_hash WHERE id = $a", relations('by_hash_\d') ],
	[ 'pruning by hash, IN', "SELECT * FROM by_hash WHERE id IN ($a, $b)", relations('by_hash_\d', 'by_hash_\d') ],
	[ 'pruning by a parameter, range', "EXECUTE q ($a)", qr/Subplans Removed": 3/, $generic, 'PREPARE q (bigint) AS SELECT * FROM by_range WHERE id = $1', run => 1 ],
	[ 'pruning by a parameter, hash', "EXECUTE q ($a)", qr/Subplans Removed": 3/, $generic, 'PREPARE q (bigint) AS SELECT * FROM by_hash WHERE id = $1', run => 1 ],
	[ 'pruning by an array of parameters', "EXECUTE q ('{$a,$mid}')", qr/ANY \(\$1\)/, $generic,
		'PREPARE q (bigint[]) AS SELECT * FROM by_range WHERE id = ANY ($1)', run => 1 ],
	[ 'pruning while a join runs, range', "SELECT * FROM (VALUES ($a), ($b)) v(id) JOIN by_range t ON t.id = v.id", qr/Actual Loops": 0/,
		"$join{'Nested Loop'}; $no_scan", undef, run => 1 ],
	[ 'pruning while a join runs, hash', "SELECT * FROM wide JOIN by_hash USING (id) WHERE wide.id = (SELECT id FROM wide WHERE n = 4713)", qr/Actual Loops": 0/,
		"$join{'Nested Loop'}; $no_scan", undef, run => 1 ],
	[ 'partitions in order', 'SELECT * FROM by_range ORDER BY id LIMIT 10', qr/"Append"/ ],
	[ 'partitions by hash in order', 'SELECT * FROM by_hash ORDER BY id LIMIT 10', qr/Merge Append/ ],
	(map {
		my $way = $_;
		map { [ "a partitionwise join by $way, $_", "SELECT * FROM by_$way JOIN by_${way}_$_ USING (id)",
				# From 19 on this costs more than one join of all.
				$version < 19 ? qr/Append(?:.*?"(?:Hash Join|Merge Join|Nested Loop)"){4}/s : qr/Append/, $partitionwise ] } 'too', 'other'
	} 'range', 'hash'),
	[ 'a partitionwise aggregate', 'SELECT id, sum(n) FROM by_hash GROUP BY id', qr/Append(?:.*?Aggregate){4}/s, $partitionwise ],
	[ 'BRIN', "SELECT * FROM with_brin WHERE id BETWEEN $mid AND $high", qr/Bitmap Index Scan/ , $no_scan ],
	[ 'BRIN, equality', "SELECT * FROM with_brin WHERE id = $a", qr/Bitmap Index Scan/, $no_scan ],
	[ 'a hash index', "SELECT * FROM with_hash WHERE id = $a", qr/with_hash_id/ ],
	[ 'a hash index in a join', 'SELECT * FROM wide JOIN with_hash USING (id) WHERE wide.n < 50', qr/with_hash_id/, $join{'Nested Loop'} ],
	[ 'two bitmaps, OR', "SELECT * FROM item WHERE id BETWEEN $mid AND $high OR parent = $a", qr/BitmapOr/ ],
	[ 'two bitmaps, AND', "SELECT * FROM item WHERE id BETWEEN $low AND $mid AND n = 7", qr/Scan/, 'SET enable_indexscan = off; ' . $no_scan ],
	[ 'equality by OR', "SELECT * FROM item WHERE id = $a OR id = $b", qr/BitmapOr|ANY/ ],
	[ '<@ int8range', "SELECT * FROM item WHERE id <\@ int8range($mid, $high)", qr/Scan/ ],
	[ '<@ snowflake_range() of constants', "SELECT * FROM item WHERE id <\@ snowflake_range('[2026-11-01, 2026-11-02)', 'snowflake')", qr/Scan/ ],
	[ '<@ snowflake_range()', "SELECT * FROM item WHERE id <\@ snowflake_range(tstzrange($since, $until))", qr/Scan/ ],
	[ 'snowflake_id_at()', "SELECT * FROM item WHERE id >= snowflake_id_at($since) AND id < snowflake_id_at($until)", qr/Index Scan/ ],
	[ 'ON CONFLICT DO NOTHING', "INSERT INTO item (id, n) VALUES ($a, 1) ON CONFLICT DO NOTHING", qr/Conflict Resolution/ ],
	[ 'ON CONFLICT DO UPDATE', "INSERT INTO item (id, n) SELECT id, n FROM wide ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE item.id > $mid", qr/item_pkey/ ],
	[ 'UPDATE', "UPDATE item SET n = 0 WHERE id = $a", qr/Update/ ],
	[ 'UPDATE of the key', "UPDATE item SET id = id + 1 WHERE id = $a", qr/Update/ ],
	[ 'UPDATE FROM', 'UPDATE item SET n = wide.n FROM wide WHERE wide.id = item.id AND wide.n < 50', qr/Update/ ],
	[ 'DELETE', "DELETE FROM item WHERE id BETWEEN $mid AND $high", qr/Delete/ ],
	[ 'DELETE USING', 'DELETE FROM item USING line WHERE line.item_id = item.id AND line.n = 7', qr/Delete/ ],
	[ 'MERGE', 'MERGE INTO item USING wide ON item.id = wide.id WHEN MATCHED THEN UPDATE SET n = wide.n'
		  . ' WHEN NOT MATCHED THEN INSERT (id, n) VALUES (wide.id, wide.n)', qr/Merge/ ],
	[ 'FOR UPDATE', "SELECT * FROM item WHERE id = $a FOR UPDATE", qr/LockRows/ ],
	[ 'a parallel count', "SELECT count(*) FROM item WHERE id > $low", qr/Gather/, $parallel ],
	[ 'a parallel hash join', 'SELECT count(*) FROM item JOIN line ON item_id = item.id', qr/Gather.*Join/s, "$parallel; $join{'Hash Join'}" ],
	[ 'a parallel order', 'SELECT * FROM item ORDER BY note, id', qr/Gather Merge/, $parallel ],
	[ 'a parallel append', 'SELECT count(*) FROM by_range JOIN wide USING (id)', qr/Gather/, $parallel ],
	[ 'a view, equality', "SELECT * FROM face WHERE id = $a", qr/Index Scan/ ],
	[ 'a view, a range in order', "SELECT * FROM face WHERE id > $mid ORDER BY id LIMIT 10", qr/Index Cond/ ],
	[ 'a view, IN', "SELECT * FROM face WHERE id IN ($a, $b)", qr/ANY/ ],
	[ 'a view, max', 'SELECT max(id) FROM face', qr/Backward/ ],
	[ 'a view, a join', "SELECT * FROM face JOIN line ON line.item_id = face.id WHERE face.id BETWEEN $mid AND $high", qr/Nested Loop|Join/ ],
	[ 'a view, UPDATE', "UPDATE face SET n = 0 WHERE id = $a", qr/Update/ ]);

# --------------------------------------------------------------------------------------------------
# Comparing
# --------------------------------------------------------------------------------------------------

# Queries whose plans differ, or may differ with may => 1; typed and plain: what the plans then
# show.
my %different = (
	'IN with integers' => {
		reason => 'integer and snowflake_id have no common type, so PostgreSQL reads id IN (1, 2) as id = 1 OR id = 2',
		plain => qr/ANY/,
		# From 18 on the planner makes an array of such an OR.
		$version < 18 ? (typed => qr/BitmapOr/) : (typed => qr/ANY/, may => 1) },
	map { $_ => {
			reason => 'PostgreSQL converts the rows of a part of a set operation in a node of its own; a cast in the query avoids it',
			plain => qr/\A(?!.*"Subquery Scan".*"Subquery Scan")/s, typed => qr/"Subquery Scan"/, $version > 18 ? (may => 1) : () } }
	  'UNION with the other type', 'UNION ALL with the other type', $version < 18 ? () : 'INTERSECT with the other type');
%different = (%different, map { $_ => {
			reason => 'PostgreSQL 17 and later drop "id IS NOT NULL" if the column is NOT NULL, but not if the column is below a cast',
			plain => qr/\A(?!.*IS NOT NULL)/s, typed => qr/IS NOT NULL/, $version > 18 ? (may => 1) : () } } 'min and max', 'max of a range')
  if $version >= 17;

# Queries whose plans are the same, and whose estimates may differ.
my %estimated = $version > 18
  ? ('a semijoin' => 'PostgreSQL 19 makes the rows of a semijoin unique by the key below its cast, in a column of its own') : ();

# A plan without the casts of a column or a parameter from the type to bigint.
my $removed = 0;
sub without_casts
{
	my ($value) = @_;
	return [ map { without_casts($_) } @$value ] if ref $value eq 'ARRAY';
	return { map { $_ => without_casts($value->{$_}) } keys %$value } if ref $value eq 'HASH';
	return $value if ref $value || !defined $value;
	my $column = qr/\$?\w+(?:\.\w+)?/;
	# An expression that another node computes, such as a sort key, is in parentheses.
	$removed += $value =~ s/(?<!\w)\(\(($column)\)::bigint\)/$1/g;
	$removed += $value =~ s/\(($column)\)::bigint\b/$1/g;
	return $value;
}

sub nodes
{
	my ($plan) = @_;
	return ($plan, map { nodes($_) } @{ $plan->{Plans} // [] });
}

my @estimates = ('Plan Rows', 'Plan Width', 'Startup Cost', 'Total Cost');

# The plans of all queries in a schema, each with the estimates of its nodes.
sub plans
{
	my ($schema) = @_;
	my $script = '';
	for my $query (@queries)
	{
		my ($name, $sql, undef, $settings, $prepare, %options) = @$query;
		my $run = $options{run} ? ', ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF' : '';
		$script .= "DISCARD ALL;\nSET search_path = $schema, public;\n" . join('', map { "$_;\n" } grep { defined } $settings, $prepare)
		  . "\\echo <<<\nEXPLAIN (FORMAT JSON, COSTS ON$run) $sql;\n";
	}
	my (undef, @out) = split /^<<<\n/m, value($script);
	is(scalar(@out), scalar(@queries), "$schema: a plan for each query");
	my @plans;
	for my $out (@out)
	{
		my $plan = decode_json($out)->[0]{Plan};
		my @estimated = map { my $node = $_; +{ map { $_ => delete $node->{$_} } @estimates } } nodes($plan);
		push @plans, { text => $out, plan => without_casts($plan), estimates => \@estimated };
	}
	return \@plans;
}

my $plain = plans('plain');
my $removed_from_bigint = $removed;
my $typed = plans('typed');
cmp_ok($removed - $removed_from_bigint, '>', scalar(@queries) / 2, 'plans of the type have casts');

my $json = JSON::PP->new->canonical;
my ($count, $kinds, $off, $farthest, @found) = (0, {}, 0, 1);
for my $i (0 .. $#queries)
{
	my ($name, undef, $shows) = @{ $queries[$i] };
	my ($of_bigint, $of_type) = ($plain->[$i], $typed->[$i]);
	like($of_bigint->{text}, $shows, "$name: the plan is what it is called");
	$kinds->{ $_->{'Node Type'} }++ for nodes($of_bigint->{plan});
	$count += @{ $of_bigint->{estimates} };

	my $known = $different{$name};
	if ($known && !($known->{may} && $json->encode($of_type->{plan}) eq $json->encode($of_bigint->{plan})))
	{
		isnt($json->encode($of_type->{plan}), $json->encode($of_bigint->{plan}), "$name: the plans differ");
		like($of_type->{text}, $known->{typed}, '... as listed, for the type');
		like($of_bigint->{text}, $known->{plain}, '... and for bigint');
		push @found, sprintf('%s: %s; estimated rows %d, with bigint %d', $name, $known->{reason},
			map { $_->{estimates}[0]{'Plan Rows'} } $of_type, $of_bigint);
		next;
	}
	is_deeply($of_type->{plan}, $of_bigint->{plan}, "$name: the same plan, node by node")
	  || diag("bigint: $of_bigint->{text}", "snowflake_id: $of_type->{text}");
	my $same = $json->encode($of_type->{estimates}) eq $json->encode($of_bigint->{estimates});
	push @found, "$name, in estimates alone: $estimated{$name}" if $estimated{$name} && !$same;
	is_deeply($of_type->{estimates}, $of_bigint->{estimates}, '... with the same rows, widths and costs') unless $estimated{$name};
	# The same as figures.
	for my $node (0 .. $#{ $of_bigint->{estimates} })
	{
		my ($less, $more) = sort { $a <=> $b } map { $_->{estimates}[$node]{'Plan Rows'} || 1 } $of_type, $of_bigint;
		next if $less == $more;
		$off++;
		$farthest = $more / $less if $more / $less > $farthest;
	}
}
figures('%d queries, plans of %d nodes of %d kinds: %d plans differ; estimates of rows: %d nodes differ, by a factor of at most %.2f',
	scalar(@queries), $count, scalar(keys %$kinds), scalar(@found), $off, $farthest);
figures('different plans: %s', $_) for @found;

# --------------------------------------------------------------------------------------------------
# The queries of foreign keys
# --------------------------------------------------------------------------------------------------

# auto_explain shows the queries of PostgreSQL's own triggers.
SKIP:
{
	if ($server->psql('postgres', q{LOAD 'auto_explain'}) != 0)
	{
		diag('skipped: auto_explain is not installed: plans of foreign keys were not compared');
		skip 'auto_explain is not installed', 1;
	}
	my %asked;
	for my $schema ('plain', 'typed', 'mixed')
	{
		my ($rc, $out, $err) = $server->psql('postgres', qq{
			LOAD 'auto_explain';
			SET search_path = $schema, public;
			SET plan_cache_mode = force_generic_plan;
			SET auto_explain.log_min_duration = 0;
			SET auto_explain.log_nested_statements = on;
			SET auto_explain.log_format = json;
			SET client_min_messages = log;
			BEGIN;
			INSERT INTO line VALUES (1, $a, 1);
			INSERT INTO other VALUES (1, $a, 1);
			UPDATE item SET id = 2 WHERE id = $a;
			DELETE FROM item WHERE id = 2;
			ROLLBACK});
		is($rc, 0, "$schema: rows with foreign keys") || diag($err);
		my @plans;
		while ($err =~ /plan:\n(\{\n.*?\n\})\n/gs)
		{
			my $logged = decode_json($1);
			next unless $logged->{'Query Text'} =~ /OPERATOR\(pg_catalog\.=\)|FOR KEY SHARE/;
			delete @$_{@estimates} for nodes($logged->{Plan});
			push @plans, without_casts($logged->{Plan});
		}
		$asked{$schema} = \@plans;
	}
	cmp_ok(scalar(@{ $asked{plain} }), '>=', 4, 'queries of foreign keys');
	is_deeply($asked{typed}, $asked{plain}, 'the plans of a key of the type and of references to it are those of bigint');
	is_deeply($asked{mixed}, $asked{plain}, '... and those of references of the type to a bigint key');
	figures('foreign keys: %d queries of PostgreSQL itself have the same plans', scalar(@{ $asked{plain} }));
}

$server->stop('fast');
done_testing();
