# If the clock steps back by less than max_bridge, no id is issued below a reported horizon. This
# holds if the server is restarted before or after the step, and whether or not a lease survives the
# restart (G12). A poller would never see an id below a horizon that it has used.
use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $step = 5;

my $server = new_server('node', clock => 1, patient => 1, conf => "log_statement = none\nmax_prepared_transactions = 1\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

sub new_id { return $server->safe_psql('postgres', 'SELECT snowflake_nextval()'); }
sub horizon { return $server->safe_psql('postgres', 'SELECT snowflake_horizon()'); }
sub step_back { move_clock($server, -$step); return; }
sub restart { my ($mode) = @_; $server->stop($mode); start_server($server); return; }

my %cases = (
	'one life' => sub { my $shown = horizon(); step_back(); return $shown; },
	map {
		my $mode = $_;
		("$mode restart" => sub { my $shown = horizon(); restart($mode); return $shown; },
		"$mode restart, the clock stepping back before" => sub { step_back(); my $shown = horizon(); restart($mode); return $shown; },
		"$mode restart, ids going on before" => sub { step_back(); new_id(); my $shown = horizon(); restart($mode); return $shown; },
		"$mode restart, the clock stepping back while the server is down" => sub {
			my $shown = horizon(); $server->stop($mode); step_back(); start_server($server); return $shown;
		},
		# After a fast restart there is no lease, and only the node's clock keeps later ids above
		# the horizon.
		"$mode restart, the clock stepping back after" => sub { restart($mode); my $shown = horizon(); step_back(); return $shown; },
		"fast restart, the clock stepping back after, and the server being restarted again ($mode)" => sub {
			restart('fast'); my $shown = horizon(); step_back(); restart($mode); return $shown;
		})
	} 'fast', 'immediate');
ok(wait_until('a first horizon', sub { horizon() > 0 }), 'there is a horizon');

sub try_case
{
	my ($case, $do) = @_;
	move_clock($server, 0);
	new_id();
	my $shown = $do->();
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($shown, '>', 0, "$case: a horizon was shown");
	my $id = new_id();
	cmp_ok($id, '>=', $shown, $case) or diag(sprintf '%d ms below', ($shown - $id) >> 22);
	ok(wait_until('the horizon', sub { horizon() > $id }), '... and who polls then sees it');
	return;
}
try_case($_, $cases{$_}) for sort keys %cases;

# What survives then is the horizon alone: the lease is released elsewhere, and the last tick not stored.
my $registry = new_server('registry', conf => "snowflake.max_clock_skew = 10min\n");
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->safe_psql('postgres', sprintf(q{ALTER SYSTEM SET snowflake.registry = 'host=%s port=%s dbname=postgres user=postgres'}, $registry->host, $registry->port));
restart('fast');
try_case('fast restart whose last tick is not stored, the clock stepping back while the server is down', sub {
	my $shown = horizon();
	$server->safe_psql('postgres', q{BEGIN; LOCK snowflake_last_tick; PREPARE TRANSACTION 'locks'});
	$server->stop('fast');
	step_back();
	start_server($server);
	$server->safe_psql('postgres', q{ROLLBACK PREPARED 'locks'});
	return $shown;
});
is($registry->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry WHERE node IS NOT NULL'), '1', 'the registry is elsewhere');

$server->stop;
done_testing();
