# Privileges on segments. A node's role that may execute one function gets ranges and nothing else.
# Another role can neither take nor return the node's numbers, whatever it knows and whatever
# arguments it sends. Ordinary users get numbers, but do not create, drop or raise segments. A
# read-only transaction, and a standby whose registry is on another server, get numbers, too;
# functions that write to the registry are refused there. SNOWFLAKE_SEED repeats a run.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest qw(as_role);
use PostgreSQL::Test::Utils;
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $registry = own_node('registry', segments => { ticket => 'step => 100, max_step => 1000', spare => '' }, patient => 1);
value($registry, q{CREATE ROLE hostile LOGIN; CREATE ROLE stranger LOGIN; CREATE ROLE reader LOGIN;
	GRANT EXECUTE ON FUNCTION snowflake_segment_ranges TO hostile; GRANT pg_read_all_stats TO reader});
my $node = segment_node('node', place($registry), streaming => 1, patient => 1);
my %issued;
my $duplicates = 0;
sub take { my ($server, $count) = @_; $duplicates += grep { $issued{$_}++ } numbers($server, $count); return; }

# Until the node has its next range, after which it requests none.
sub all_requested
{
	return wait_until('what it asked for', sub {
		take($node, 10);
		my $next = shown($node, 'next_here');
		return $next ne '' && value($registry, "SELECT newest_from > $next FROM snowflake_segment_range JOIN snowflake_segment USING (segment_id)
			WHERE name = 'ticket' AND node LIKE 'node%' AND role = 'node'::regrole") eq 't';
	});
}

take($node, 250);
ok(wait_until('two ranges', sub { take($node, 10); shown($node, 'left_here') > 150 }), 'the node has ranges');
all_requested();

sub state_of { my ($role, $sql) = @_; return (as_role($registry, 'postgres', $role, $sql))[0]; }

subtest 'what the roles may not' => sub {
	for my $role (qw(node stranger))
	{
		is(state_of($role, "SELECT $_"), '42501', "$role: $_")
		  for q{snowflake_create_segment('x')}, q{snowflake_drop_segment('ticket')}, q{snowflake_raise_segment('ticket', 100000)};
		is(state_of($role, $_), '42501', "$role: $_")
		  for 'TABLE snowflake_segment', 'TABLE snowflake_segment_range', 'TABLE snowflake_segments', 'DELETE FROM snowflake_segment', 'DELETE FROM snowflake_segment_range',
		  'UPDATE snowflake_segment SET last_value = 0', q{INSERT INTO snowflake_segment_range SELECT}, 'TRUNCATE snowflake_segment';
	}
	is(state_of('node', q{SELECT snowflake_lease_acquire('x', 0, 0, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)}), '42501', 'node: no lease');
	is(state_of('stranger', q{SELECT snowflake_segment_ranges('x', '{ticket}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('x')])}), '42501', 'stranger: no ranges');
	is(state_of('stranger', q{SELECT snowflake_segment_nextval('spare')}), '00000', 'stranger: numbers, here');
	is(state_of('stranger', q{SELECT snowflake_segment_nextval('spare'); SELECT snowflake_segment_currval('spare')}), '00000', '... and the last one');
	is(state_of('stranger', q{SELECT snowflake_segment_currval('spare')}), '55000', '... of its own session alone');
	is(state_of('reader', 'TABLE snowflake_segments'), '00000', 'who reads statistics sees segments');
};

my ($name, $hash, $id) = split /\|/, value($registry, q{SELECT node, secret_hash, segment_id FROM snowflake_segment_range JOIN snowflake_segment USING (segment_id) WHERE name = 'ticket' AND node LIKE 'node%'});
sub row { return value($registry, "SELECT r FROM snowflake_segment_range r WHERE node = '$name' AND role = 'node'::regrole"); }
my $row = row();

# A call with these arguments. wanted is below 0: to close, or with a secret to return numbers.
sub ranges
{
	my (%arguments) = (node => "'$name'", secrets => "ARRAY['$hash'::bytea]", names => q{'{ticket}'}, ids => "'{$id}'", highest => q{'{0}'}, unused => q{'{0}'}, wanted => q{'{-1}'}, @_);
	return "SELECT range_last, range_count FROM snowflake_segment_ranges(@{[ join ', ', @arguments{qw(node names ids highest unused wanted secrets)} ]});";
}

my $random = 'ARRAY[uuid_send(gen_random_uuid())]';
subtest 'what another has' => sub {
	my $end = allocated_up_to($registry);
	my ($held_to) = value($registry, "SELECT held_to FROM snowflake_segment_range WHERE node = '$name'");
	is($held_to, $end, 'the node has the newest range');
	for my $case ([ 'hostile', 'another role' ], [ 'node', 'the role', secrets => $random ], [ 'node', 'the role with what looks like the secret', secrets => "ARRAY[substr('$hash'::bytea, 1, 16)]" ],
		[ 'node', 'the role under another name', node => q{'other'}, secrets => $random ])
	{
		my ($role, $what, @arguments) = @$case;
		is(state_of($role, ranges(highest => "'{$end}'", unused => "'{$_}'", @arguments)), '00000', "$what: $_ numbers") for 1, 50, 100, 1000;
		is(allocated_up_to($registry), $end, '... do not come back');
		is(row(), $row, '... and the node has what it had');
	}
	for my $unused (1000, $end, '9223372036854775807', -1)
	{
		is(state_of('node', ranges(highest => "'{$end}'", unused => "'{$unused}'", wanted => q{'{0}'}, node => q{'other'}, secrets => q{ARRAY[sha256('other')]})), '00000', "$unused numbers that it never had");
		cmp_ok(allocated_up_to($registry), '>', $end, '... are allocated once');
		$end = allocated_up_to($registry);
	}
	take($node, 300);
	is($duplicates, 0, 'none was issued again');
	all_requested();
	$row = row();
};

subtest 'arguments that cannot be' => sub {
	my $end = allocated_up_to($registry);
	my $far = $end + 2_000_000;
	for my $case (
		[ '22023', 'lengths that differ', wanted => q{'{1,2}'} ],
		[ '22023', 'fewer names', names => q{'{}'} ],
		[ '22023', 'two dimensions', names => q{'{{ticket}}'}, ids => q{'{{0}}'}, highest => q{'{{0}}'}, unused => q{'{{0}}'}, wanted => q{'{{0}}'} ],
		[ '22023', 'a null among names', names => q{'{NULL}'} ],
		[ '22023', 'a null among numbers', highest => q{'{NULL}'} ],
		[ '22023', 'more than a thousand', map { ($_->[0] => "array_fill($_->[1], '{1001}')") } [ names => q{'ticket'::text} ], (map { [ $_ => '0::bigint' ] } qw(ids highest unused wanted)), [ secrets => q{sha256('x')} ] ],
		[ '22023', 'a name of 128 bytes', names => q{ARRAY[repeat('x', 128)]} ],
		[ '22023', 'a node of 250 MB', node => q{repeat('x', 250000000)} ],
		[ '22023', 'a hash of another length', secrets => q{ARRAY['\x00'::bytea]} ],
		[ '22023', 'the secret where numbers are asked for', wanted => q{'{0}'}, secrets => $random ],
		[ '55000', 'far more than was allocated', highest => "'{$far}'", wanted => q{'{0}'} ],
		[ '55000', '... the most that there is', highest => q{'{9223372036854775807}'}, wanted => q{'{0}'} ])
	{
		my ($wanted, $what, @arguments) = @$case;
		my ($state, $error) = as_role($registry, 'postgres', 'hostile', ranges(@arguments));
		is($state, $wanted, $what) or diag(substr($error, 0, 500));
	}
	for my $argument (qw(node names ids highest unused wanted secrets))
	{
		like(state_of('hostile', ranges($argument => 'NULL')), qr/^(22023|22004)$/, "$argument is null");
	}
	my $call = ranges(wanted => q{'{0}'});
	is(state_of('hostile', "BEGIN; $call COMMIT;"), '25001', 'a transaction block');
	is(state_of('hostile', "SELECT 1 \\; $call"), '25001', 'two statements at once');
	is(state_of('hostile', "SET default_transaction_read_only = on; $call"), '25006', 'a transaction that only reads');
	isnt(state_of('hostile', "SET default_transaction_isolation = serializable; $call"), '00000', 'a snapshot that is older than the lock');
	is(allocated_up_to($registry), $end, 'nothing was allocated for any of them');
	is(row(), $row, 'and the node has what it had');
};

subtest 'arguments at random' => sub {
	my @numbers = (-9223372036854775807 - 1, -1, 0, 1, 99, 100, 101, 1000, 2147483648, 9223372036854775806, 9223372036854775807);
	my @nodes = (q{''}, q{'x'}, "'$name'", q{E'\\\\"\''});
	my @secrets = ("'$hash'::bytea", 'sha256(uuid_send(gen_random_uuid()))', q{sha256('x')}, 'uuid_send(gen_random_uuid())');
	my @names = ('ticket', 'ticket', 'spare', 'missing', '', 'x' x 127);
	my $calls = 400;
	my $sql = '';
	for (1 .. $calls)
	{
		my $count = int rand(4);
		my $array = sub { my ($pick) = @_; return 'ARRAY[' . join(',', map { $pick->() } 1 .. $count) . ']'; };
		my $number = sub { return sprintf q{'%s'::bigint}, $numbers[ rand @numbers ] };
		# Often near allocated numbers, which the results show.
		my $near = sub { return rand() < 0.5 ? $number->() : sprintf ':last + %d', rand(300) - 150 };
		$sql .= sprintf "SELECT coalesce(max(l), :last) AS last FROM (SELECT unnest(range_last) AS l FROM snowflake_segment_ranges(%s, %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bytea[])) a WHERE l > 0 \\gset\n",
		  $nodes[ rand @nodes ], $array->(sub { q{'} . $names[ rand @names ] . q{'} }), $array->(sub { rand() < 0.7 ? $id : $number->() }), (map { $array->($_) } $near, $number, $number), $array->(sub { $secrets[ rand @secrets ] });
	}
	my $before = allocated_up_to($registry);
	my $highest = (sort { $b <=> $a } keys %issued)[0];
	my ($out, $error) = ('', '');
	$registry->psql('postgres', "\\set VERBOSITY verbose\n\\set last $before\n$sql", on_error_stop => 0, extra_params => [ '-U', 'hostile' ], stdout => \$out, stderr => \$error);
	my %states;
	$states{$1}++ while $error =~ /ERROR:\s+(\w{5}):/g;
	figures('%d calls at random: %s', $calls, join(', ', map { "$_ $states{$_}" } sort keys %states));
	is(join(' ', grep { !/^(22023|22004|55000)$/ } keys %states), '', 'each succeeds, or is refused for what it asks');
	cmp_ok(allocated_up_to($registry), '>', $highest, 'nothing that was issued can be allocated again');
	is(row(), $row, 'the node has what it had');
	take($node, 500);
	take($registry, 200);
	is($duplicates, 0, 'of ' . keys(%issued) . ' numbers none was issued twice');
	cmp_ok(value($registry, "SELECT max(held_to - newest_from) + 1 FROM snowflake_segment_range WHERE segment_id = $id"), '<=', 1000, 'no range is longer than the segment allows');
};

subtest 'transactions that only read, and standbys' => sub {
	is((query_error($registry, 'postgres', q{SET default_transaction_read_only = on; SELECT snowflake_segment_nextval('ticket')}))[0], '00000', 'a transaction that only reads has numbers');
	is((query_error($registry, 'postgres', "SET default_transaction_read_only = on; SELECT $_"))[0], '25006', "... and no $_")
	  for q{snowflake_create_segment('x')}, q{snowflake_drop_segment('ticket')}, q{snowflake_raise_segment('ticket', 1000000)};
	is((query_error($node, 'postgres', "SELECT $_"))[0], '55000', "a node whose registry is elsewhere: $_")
	  for q{snowflake_create_segment('x')}, q{snowflake_drop_segment('ticket')}, q{snowflake_raise_segment('ticket', 1000000)};
	my @standbys = map { standby_of($_, $_->name . '_standby') } $registry, $node;
	my ($state, $error) = query_error($standbys[0], 'postgres', q{SELECT snowflake_segment_nextval('ticket')});
	is($state, '25006', 'a standby whose registry is itself has none') or diag($error);
	is((query_error($standbys[0], 'postgres', q{SELECT snowflake_create_segment('x')}))[0], '25006', '... and creates none');
	take($standbys[1], 500);
	take($_, 200) for $node, $standbys[1], $node;
	is($duplicates, 0, 'a standby whose registry is elsewhere has numbers of its own');
	# The role without privileges.
	value($registry, 'REVOKE EXECUTE ON FUNCTION snowflake_segment_ranges FROM node');
	use_up($node);
	# On a busy machine the first calls may end before the keeper was refused.
	wait_until('the reason', sub {
		($state, $error) = query_error($node, 'postgres', q{SET snowflake.start_timeout = '2s'; SELECT snowflake_segment_nextval('ticket')});
		return $state eq 'SF005' && $error =~ /permission denied/;
	});
	is($state, 'SF005', 'without the right there are no more');
	like($error, qr/permission denied/, '... which the error says');
	$_->stop('fast') for reverse @standbys;
};

$node->stop('fast');
$registry->stop('fast');
diag("trials 400 calls, seed $seed");
done_testing();
