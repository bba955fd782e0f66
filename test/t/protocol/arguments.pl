# Invalid arguments are refused with the right SQLSTATE: durations out of range, nulls, datacenters
# that do not exist. The functions run only in read committed and writable transactions, and must be
# the only statement in them.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('arguments');
my $session = registry($server);
my @bad = ('0', '0.5 s', '999999 us', '-1 s', '1 day 1 us', '24 h 1 us', '1 mon', '1 year', '-1 mon', '178000000 years', '-178000000 years');
my ($lease) = acquire($session, 1000);
is((acquire($session, 1000, $_))[1], '22023', "acquire for $_") for @bad;
is((extend($session, $lease, 1000, $_))[0], '22023', "extend by $_") for @bad;
for my $good ('1 s', '1 day', '24 h', '1 mon -29 days', '2 days -24 h')
{
	my ($acquired, $state, $text) = acquire($session, 1000, $good);
	is($state, '00000', "acquire for $good") or diag($text);
	is($acquired->{end} - $acquired->{start}, $good eq '1 s' ? 1000 : 86400000, '... is what the window is');
}
my %arguments = (
	snowflake_lease_acquire => [ q{'n'}, 0, 1000, q{'1 min'}, "sha256('" . new_secret() . "')", 0 ],
	snowflake_lease_extend => [ $lease->{id}, "sha256('$lease->{secret}')", 1000, q{'1 min'}, 0, $lease->{worker}, $lease->{start} ],
	snowflake_lease_release => [ $lease->{id}, "'$lease->{secret}'", 1000, 0 ]);
# start_before: the window may begin at any tick.
my %last = (snowflake_lease_acquire => ', NULL');
for my $function (sort keys %arguments)
{
	for my $i (0 .. $#{ $arguments{$function} })
	{
		my @list = @{ $arguments{$function} };
		$list[$i] = 'NULL';
		is(state_of($session, "SELECT $function(" . join(', ', @list) . ($last{$function} // '') . ')'), '22004',
			"$function: argument " . ($i + 1) . ' null');
	}
	my $call = "$function(" . join(', ', @{ $arguments{$function} }) . ($last{$function} // '') . ')';
	for my $level ('repeatable read', 'serializable')
	{
		$session->query_safe("SET default_transaction_isolation = '$level'");
		my ($state, $text) = try_sql($session, "SELECT $call");
		is($state, '55000', "$function at $level");
		like($text, qr/read committed/, '... in words');
	}
	$session->query_safe('RESET default_transaction_isolation; SET default_transaction_read_only = on');
	is(state_of($session, "SELECT $call"), '25006', "$function in a read-only transaction");
	$session->query_safe('RESET default_transaction_read_only');
	my %block = (
		'a transaction block' => "BEGIN\\; SELECT $call\\; COMMIT",
		'two statements at once' => "SELECT $call\\; SELECT 1",
		'a subtransaction' => "DO \$\$ BEGIN PERFORM $call; EXCEPTION WHEN no_data_found THEN NULL; END \$\$");
	for my $what (sort keys %block)
	{
		is(state_of($session, $block{$what}), '25001', "$function in $what");
		$session->query('ROLLBACK');
		$session->{stderr} = '';
	}
}
is((acquire($session, 1000, '1 min', $_))[1], '22023', "datacenter $_, of none") for -1, 1, 2147483647, -2147483648;
$session->quit;

$server->stop('fast');
done_testing();
