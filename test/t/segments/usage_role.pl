# A segment with a usage_role. On each server, roles that have the privileges of the server's own
# role of that name get numbers, and so do superusers. If there is no such role, only superusers get
# numbers. The current user counts, in COPY, in a column's default and in a function with SECURITY
# DEFINER. GRANT and REVOKE on a server take effect at once. A change of usage_role, by UPDATE in
# the registry, takes effect with a node's next range. The test does all of this on the registry's
# own node and on another.
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest qw(as_role);
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $conf = "snowflake.start_timeout = 60s\n";
my $registry = own_node('registry', segments => { ticket => q{step => 100, max_step => 100, usage_role => 'Sales "x"'}, open => 'step => 100, max_step => 100' }, conf => $conf);
my $node = segment_node('node', place($registry), conf => $conf);
for my $server ($registry, $node)
{
	value($server, q{CREATE ROLE hostile LOGIN; CREATE ROLE seller LOGIN; CREATE ROLE absent LOGIN NOINHERIT; CREATE ROLE boss LOGIN SUPERUSER});
}
my $take = q{SELECT snowflake_segment_nextval('ticket')};
my $denied = qr/permission denied for segment "ticket"/;
sub state_of { my ($server, $role, $sql) = @_; return (as_role($server, 'postgres', $role, $sql))[0]; }
sub left { return shown($_[0], 'left_here') // 0; }

# Twice: the first call may have to wait for a range.
sub refused
{
	my ($server, $role, $what, $detail, $sql) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return subtest "$role: $what" => sub {
		for my $turn (1, 2)
		{
			my ($state, $error) = as_role($server, 'postgres', $role, $sql // $take);
			is($state, '42501', 'is refused') or diag($error);
			like($error, $denied, '... by name');
			like($error, $detail, '... and says why');
		}
	};
}

for my $server ($node, $registry)
{
	subtest $server->name => sub {
		my $missing = qr/DETAIL:  Its usage_role is "Sales "x"", and this server has no role of that name, so only superusers may use the numbers here\.\nHINT:  Create the role on this server, and run: GRANT "Sales ""x""" TO \w+;/;
		refused($server, 'hostile', 'a role that is missing here', $missing);
		is(state_of($server, 'boss', $take), '00000', '... but a superuser has numbers');
		refused($server, 'hostile', 'the same once there are numbers', $missing);
		is(state_of($server, 'hostile', q{SELECT snowflake_segment_nextval('open')}), '00000', 'a segment without one gives numbers to everybody');

		value($server, q{CREATE ROLE "Sales ""x"""; GRANT "Sales ""x""" TO seller, absent});
		my $why = sub { my ($role) = @_; return qr/DETAIL:  Its usage_role is "Sales "x"", and role "$role" does not have the privileges of that role\.\nHINT:  .*run: GRANT "Sales ""x""" TO $role;/ };
		my $before = left($server);
		refused($server, 'hostile', 'another role', $why->('hostile'));
		refused($server, 'hostile', '... many at once', $why->('hostile'), q{SELECT count(snowflake_segment_nextval('ticket')) FROM generate_series(1, 100000)});
		is(left($server), $before, '... and uses up no number');
		is(state_of($server, 'seller', $take), '00000', 'a member has numbers');
		is(left($server), $before - 1, '... one for each call');
		refused($server, 'absent', 'a member that does not inherit', qr/role "absent" does not have the privileges of that role\.\nHINT:  Run: SET ROLE "Sales ""x""";/);
		is(state_of($server, 'absent', qq{SET ROLE "Sales ""x"""; $take}), '00000', '... has them after SET ROLE');
		value($server, q{GRANT hostile TO seller});
		refused($server, 'seller', 'a session that has had a number, as another role', $why->('hostile'), qq{$take; SET ROLE hostile; $take});
		refused($server, 'seller', 'the last number, as another role', $why->('hostile'), qq{$take; SET ROLE hostile; SELECT snowflake_segment_currval('ticket')});
		is(state_of($server, 'seller', qq{$take; SELECT snowflake_segment_currval('ticket')}), '00000', '... and as the one that has it');
		value($server, q{REVOKE hostile FROM seller});

		# With other roles' privileges.
		value($server, q{CREATE TABLE sold (id integer DEFAULT snowflake_segment_nextval('ticket'), n int); GRANT INSERT ON sold TO PUBLIC;
			CREATE FUNCTION sell() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT snowflake_segment_nextval('ticket') $$;
			CREATE FUNCTION sell_as_caller() RETURNS bigint LANGUAGE sql AS $$ SELECT snowflake_segment_nextval('ticket') $$;
			ALTER FUNCTION sell() OWNER TO seller; ALTER FUNCTION sell_as_caller() OWNER TO seller});
		is(state_of($server, 'hostile', 'SELECT sell()'), '00000', 'a function with SECURITY DEFINER has its owner\'s numbers');
		refused($server, 'hostile', 'any other function', $why->('hostile'), 'SELECT sell_as_caller()');
		refused($server, 'hostile', 'a column\'s default', $why->('hostile'), 'INSERT INTO sold (n) VALUES (1)');
		refused($server, 'hostile', 'COPY', $why->('hostile'), "COPY sold (n) FROM STDIN;\n1\n2\n\\.\n");
		is(state_of($server, 'seller', "COPY sold (n) FROM STDIN;\n1\n2\n\\.\n"), '00000', 'a member copies');
		is(value($server, 'SELECT count(*), count(DISTINCT id) FROM sold'), '2|2', '... both rows with a number');

		# At once, also in sessions that have had numbers.
		my $session = $server->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'seller' ]);
		like($session->query($take), qr/^\d+$/, 'a session of a member has a number');
		value($server, q{REVOKE "Sales ""x""" FROM seller});
		is($session->query($take), '', '... and none after REVOKE');
		value($server, q{GRANT "Sales ""x""" TO seller});
		like($session->query($take), qr/^\d+$/, '... and one after GRANT');
		$session->quit;
	};
}

# Uses up numbers until the node has requested its next range.
sub comes
{
	my ($server, $what, $begin, $wanted) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $taken = 0;
	my $came = wait_until($what, sub {
		return 1 if state_of($server, 'hostile', $take) eq $wanted;
		value($server, "$take FROM generate_series(1, 10)");
		$taken += 10;
		return 0;
	});
	ok($came, $what);
	figures('%s: %s after %d numbers', $server->name, $what, $taken);
	return;
}
subtest 'another role by UPDATE' => sub {
	my $owner = 'UPDATE snowflake_segment SET usage_role = %s WHERE name = \'ticket\'';
	is(state_of($registry, 'seller', sprintf $owner, q{'seller'}), '42501', 'is the owner\'s');
	value($registry, sprintf $owner, q{'hostile'});
	is(shown($registry, 'usage_role'), 'hostile', 'the view shows it in the registry');
	comes($_, 'the new role has numbers', undef, '00000') for $node, $registry;
	is(shown($node, 'usage_role'), 'hostile', '... and the view on the node, too');
	is(state_of($node, 'seller', $take), '42501', '... and the old role has none');
	value($registry, sprintf $owner, q{'nobody''s, {x} \\ "y"'});
	comes($_, 'then it has none', undef, '42501') for $node, $registry;
	is(shown($node, 'usage_role'), q{nobody's, {x} \\ "y"}, 'a name that an array has to quote comes as it is');
	value($registry, sprintf $owner, 'NULL');
	comes($_, 'then everybody', undef, '00000') for $node, $registry;
	is(shown($_, 'usage_role IS NULL'), 't', 'which the view shows') for $node, $registry;
	is((query_error($registry, 'postgres', sprintf $owner, q{''}))[0], '23514', 'no role has an empty name');
};

$node->stop('fast');
$registry->stop('fast');
done_testing();
