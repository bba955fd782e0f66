# Every setting has its default, its limits and its context. SET and ALTER SYSTEM refuse invalid
# values with helpful messages, and a role without the privilege cannot set it (section 5 of the
# design).

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

my $server = new_server('limits', preload => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);

$server->safe_psql($db, 'CREATE EXTENSION snowflake; CREATE ROLE alice LOGIN');

# name => [ default, context, lowest, highest, values that are refused ]
my %settings = (
	node_name => [ '', 'superuser' ],
	mask_key_file => [ '', 'sighup' ],
	datacenter => [ '0', 'superuser', '0', '2147483647', '-1', '2147483648' ],
	lease_duration => [ '10min', 'superuser', '1s', '1d', q{'999ms'}, q{'86401s'}, '0', '-1' ],
	max_lead => [ '5ms', 'sighup', '0', '10s', '-1', q{'10001ms'} ],
	max_bridge => [ '1min', 'sighup', '0', '1d', '-1', q{'86400001ms'} ],
	max_leap => [ '1d', 'sighup', '0', '2147483647ms', '-1', q{'2147483648ms'} ],
	on_clock_step_back => [ 'new_worker', 'sighup', 'error', 'new_worker', q{'stop'}, q{''} ],
	start_timeout => [ 5 * slowness() . 's', 'user', '0', '1h', '-1', q{'3600001ms'} ],
	max_databases => [ '16', 'postmaster', '1', '10000', '0', '10001' ]);

for my $name (sort keys %settings)
{
	my ($default, $context, $lowest, $highest, @refused) = @{ $settings{$name} };
	is($server->safe_psql($db, "SHOW snowflake.$name"), $default, "snowflake.$name: its default");
	is($server->safe_psql($db, "SELECT context FROM pg_settings WHERE name = 'snowflake.$name'"), $context, '... its context');
	my $value = defined $lowest ? "'$lowest'" : q{'x'};
	my $set = "SET snowflake.$name = $value";
	my $changeable = $context eq 'superuser' || $context eq 'user';
	is((query_error($server, $db, $set))[0], $changeable ? '00000' : '55P02', "... $set");
	my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\n$set", extra_params => [ '-U', 'alice' ]);
	my $expected = $context eq 'user' ? qr/^$/ : $context eq 'superuser' ? qr/42501/ : qr/55P02/;
	like($err, $expected, '... by an ordinary role');
	for my $bad (@refused)
	{
		my ($state, $text) = query_error($server, $db, "ALTER SYSTEM SET snowflake.$name = $bad");
		is($state, '22023', "... ALTER SYSTEM refuses $bad") or diag($text);
		is((query_error($server, $db, "SET snowflake.$name = $bad"))[0], '22023', "... SET refuses $bad") if $changeable;
	}
	for my $good (grep { defined } $lowest, $highest)
	{
		is((query_error($server, $db, "ALTER SYSTEM SET snowflake.$name = '$good'"))[0], '00000', "... ALTER SYSTEM takes $good");
	}
	$server->safe_psql($db, "ALTER SYSTEM RESET snowflake.$name");
}

is((query_error($server, $db, 'SET snowflake.no_such_thing = 1'))[0], '42602', 'an unknown setting is refused');
isnt((query_error($server, $db, 'ALTER SYSTEM SET snowflake.no_such_thing = 1'))[0], '00000', '... by ALTER SYSTEM too');

$server->stop('fast');
done_testing();
