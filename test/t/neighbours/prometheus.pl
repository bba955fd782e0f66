# Tests doc/monitoring's files for Prometheus with Debian's Prometheus and postgres_exporter. The
# metrics have their documented names and meanings. Each rule is silent without a fault and fires
# for its fault. Every query of the dashboard returns a result.
#
# test/run unpacks both programs.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use JSON::PP;
use Neighbours;
use Pages;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Prometheus;
use SnowflakeTest;
use Test::More;

# The databases of the page's exporter.
my ($db, $second) = qw(shop ids);
my $folder = 'doc/monitoring';
my ($missing) = Prometheus::missing();
left_out_unless(!$missing, $missing, 'apt-get install prometheus prometheus-postgres-exporter');
figures('Prometheus %s, postgres_exporter %s', map { Prometheus::version($_) } qw(prometheus prometheus-postgres-exporter));
my $here = POSIX::getcwd();
my $scratch = PostgreSQL::Test::Utils::tempdir();

### The rules alone, over an hour without faults and over an hour with a fault.

my ($status, $said) = Prometheus::promtool('check', 'rules', "$here/$folder/alerts.yaml");
is($status, 0, 'promtool takes the rules') or diag($said);

my %well = (
	issuing => 1, idle => 0, ids_flow_seconds => 500, since_extension_seconds => 100, since_registry_answer_seconds => 100, registry_failing => 0, ranges_failing => 0,
	failed_calls_total => 5, failed_segment_calls_total => 0, registry_answer_seconds => 0.01, clock_lead_seconds => 0, clock_steps_back_total => 1,
	registry_workers => 1024, registry_workers_free => 1000, registry_workers_held_back => 0, registry_leases_late => 0, horizon_age_seconds => 0.2,
	end_of_life_seconds => 2e9, advice => 0, black_box => 1, segment_lasts_seconds => 900, segment_left_here => 500, segment_left_in_registry => 1e6, segment_max_value => 2e6);
my @cases = (
	[ NotIssuing => issuing => 0 ],
	# The registry answers other requests. After a crash it has answered none.
	[ IdsWillStop => ids_flow_seconds => 290, since_extension_seconds => 310, since_registry_answer_seconds => 5 ],
	[ IdsWillStop => ids_flow_seconds => 290, since_extension_seconds => 310, since_registry_answer_seconds => 'NaN', registry_answer_seconds => 'NaN' ],
	[ RegistryFailing => registry_failing => 1 ],
	[ RegistryFailing => ranges_failing => 1, segment_lasts_seconds => 'NaN', segment_left_here => 'NaN' ],
	[ CallsFail => failed_calls_total => '5+1' ],
	[ CallsFail => failed_segment_calls_total => '0+1' ],
	[ RegistrySlow => registry_answer_seconds => 3 ],
	[ ClockOff => clock_lead_seconds => 20 ],
	[ ClockOff => clock_lead_seconds => -90000 ],
	[ ClockSteppedBack => clock_steps_back_total => '1+1' ],
	[ FewWorkerIds => registry_workers_free => 50 ],
	[ NoWorkerIds => registry_workers_free => 300, registry_workers_held_back => 300 ],
	[ LeasesLate => registry_leases_late => 2 ],
	[ 'RegistryFailing SegmentRunsDry' => segment_lasts_seconds => 100, ranges_failing => 1 ],
	[ 'RegistryFailing SegmentRunsDry' => segment_lasts_seconds => 'NaN', segment_left_here => 0, ranges_failing => 1 ],
	[ SegmentNearlyUsedUp => segment_left_in_registry => 1000 ],
	[ HorizonHeldBack => horizon_age_seconds => 900 ],
	[ EndOfLife => end_of_life_seconds => 1e6 ],
	[ Advice => advice => 1 ],
	[ NoBlackBox => black_box => 0 ],
	[ Unseen => issuing => '_' ],
	# States that may fire no alert.
	[ '' => issuing => 0, idle => 1 ],
	[ '' => map { $_ => 'NaN' } qw(ids_flow_seconds since_extension_seconds since_registry_answer_seconds registry_answer_seconds horizon_age_seconds) ],
	[ '' => map { $_ => 'NaN' } qw(issuing idle) ],
	[ '' => registry_answer_seconds => 3, since_registry_answer_seconds => 400 ],
	[ '' => failed_calls_total => 0, clock_steps_back_total => 0 ],
	[ '' => segment_lasts_seconds => 1 ]);
my $tests = "rule_files: ['$here/$folder/alerts.yaml']\nevaluation_interval: 30s\ntests:\n";
for my $case (@cases)
{
	my ($alerts, %ill) = @$case;
	my $series = '';
	for my $metric (sort keys %well)
	{
		my $segment = $metric =~ /^segment_/ ? ', segment="s"' : '';
		my $later = exists $ill{$metric} ? "$ill{$metric}x100" : "$well{$metric}x100";
		# The notation has neither exponents nor a repeated NaN.
		$later = 'NaN ' x 100 if $later =~ /^NaN/;
		my $values = sprintf('%sx119 %s', $well{$metric}, $later) =~ s/(\d+e\+?\d+)/sprintf '%d', $1/ger;
		$series .= qq(      - {series: 'snowflake_$metric\{job="p", instance="i", datname="d"$segment\}', values: '$values'}\n);
	}
	my $expected = sprintf 'exp_samples: [%s]', join ', ', map { qq({labels: '{alertname="Snowflake$_"}', value: 1}) } split / /, $alerts;
	my $firing = q(count by (alertname) (ALERTS{alertstate="firing"}));
	$tests .= "  - interval: 30s\n    input_series:\n$series    promql_expr_test:\n"
	  . "      - {expr: '$firing', eval_time: 59m, exp_samples: []}\n      - {expr: '$firing', eval_time: 80m, $expected}\n";
}
append_to_file("$scratch/tests.yaml", $tests);
($status, $said) = Prometheus::promtool('test', 'rules', "$scratch/tests.yaml");
is($status, 0, scalar(@cases) . ' cases: each rule fires for what it is made for, and no other does') or diag($said);
# Outages that last: [samples of one series, times, and whether SnowflakeUnseen fires then].
my @outages = (
	[ '1x119 _x600', [ '59m' => 0 ], [ '65m' => 0 ], [ '75m' => 1 ], [ '3h' => 1 ], [ '5h50m' => 1 ] ],
	[ '_x119 1x59 _x600', [ '85m' => 0 ], [ '105m' => 1 ], [ '5h' => 1 ] ],
	[ '1x119 _x600 1x20', [ '361m' => 0 ] ],
	[ '1x119 _x20200', [ '7d' => 1 ], [ '8d' => 0 ] ]);
my $numbers = "rule_files: ['$here/$folder/alerts.yaml']\nevaluation_interval: 30s\ntests:\n";
for my $outage (@outages)
{
	my ($samples, @times) = @$outage;
	$numbers .= "  - interval: 30s\n    input_series:\n"
	  . qq(      - {series: 'snowflake_issuing{job="p", instance="i", datname="d"}', values: '$samples'}\n)
	  . "    alert_rule_test:\n";
	for (@times)
	{
		my ($time, $fires) = @$_;
		my $alerts = $fires ? '{exp_labels: {severity: warning, job: p, instance: i, datname: d}, exp_annotations: {summary: "The numbers of d on i no longer arrive", '
		  . 'description: "Is the server up, and does the exporter reach it? If the database was removed, silence this alert: it ends after a week."}}' : '';
		$numbers .= "      - {eval_time: $time, alertname: SnowflakeUnseen, exp_alerts: [$alerts]}\n";
	}
}
append_to_file("$scratch/outages.yaml", $numbers);
($status, $said) = Prometheus::promtool('test', 'rules', "$scratch/outages.yaml");
is($status, 0, 'SnowflakeUnseen fires as long as the numbers are missing, for a week, whenever they were first seen') or diag($said);
my %seen = map { ("Snowflake$_" => 1) } map { split / /, $_->[0] } @cases;
is_deeply([ grep { !$seen{$_} } slurp_file("$folder/alerts.yaml") =~ /^ +- alert: (\w+)/mg ], [], 'no rule has no case');

### A registry, a node of it with a second database, and the monitoring programs

# So long that what holds for the last half of a window is seen on a busy machine, too.
my $lease = 20 * slowness();
my $registry = new_server('registry', preload => 1, conf => quiet());
start_server($registry);
my $role = block_of('doc/monitoring.md', 'CREATE ROLE prometheus');
value($registry, "CREATE DATABASE $db; $role");
value($registry, q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('ticket', max_value => 1000000)}, $db);
my $node = new_server('node', preload => 1, patient => 1,
	conf => quiet() . sprintf("snowflake.lease_duration = %ds\nsnowflake.registry = 'host=%s port=%d dbname=%s'\n", $lease, $registry->host, $registry->port, $db));
start_server($node);
value($node, $_) for "CREATE DATABASE $db", "CREATE DATABASE $second", $role;
value($node, $_, $db) for 'CREATE EXTENSION snowflake', q{SELECT snowflake_nextval(); SELECT snowflake_segment_nextval('ticket'); SELECT snowflake_horizon()};
# One of the extensions is in a schema of its own. The database postgres has none.
value($node, 'CREATE SCHEMA ids; CREATE EXTENSION snowflake SCHEMA ids; ' . block_of('doc/monitoring.md', 'GRANT USAGE'), $second);

# The rules unchanged, except for the time that they wait, and that a busy machine's registry is not
# slow.
append_to_file("$scratch/alerts.yaml", slurp_file("$folder/alerts.yaml") =~ s/^( +for:) \S+$/$1 1s/gmr =~ s/(snowflake_registry_answer_seconds >) 1 /$1 60 /r);
my $prometheus = Prometheus->new(
	rules => "$scratch/alerts.yaml", queries => "$here/$folder/queries.yaml", exporter => block_of('doc/monitoring.md', '^DATA_SOURCE_NAME', 'sh'),
	servers => { node => $node, registry => $registry });
my $of_node = '{instance="node", datname="shop"}';
ok(wait_until('numbers', sub {
	($prometheus->value_of("count_over_time(snowflake_issuing$of_node\[1m])") || 0) >= 4 && $prometheus->value_of('snowflake_registry_workers{instance="registry"}') }),
	'numbers arrive') or diag(map { $prometheus->log_of($_) } qw(prometheus exporter_node exporter_registry));
# On a busy machine a scrape may fail, and the next one has the numbers again.
sub becomes
{
	my ($query, $value, $what) = @_;
	my $seen;
	ok(wait_until($what, sub { ($seen = $prometheus->value_of($query)) eq $value }), $what) or diag("$query is $seen");
	return;
}
becomes($_->[0], $_->[1], "$_->[0] is $_->[1]")
  for [ "snowflake_issuing$of_node", 1 ], [ 'snowflake_idle{instance="node", datname="ids"}', 1 ],
  [ "snowflake_state_info{instance=\"node\", datname=\"shop\", state=\"issuing\"}", 1 ], [ "snowflake_worker$of_node", value($node, 'SELECT worker FROM snowflake_status', $db) ],
  [ "snowflake_registry_here$of_node", 0 ], [ 'snowflake_registry_workers_held', 1 ], [ 'snowflake_segment_left_in_registry{instance="registry"}', 999000 ],
  [ 'count(pg_exporter_last_scrape_error == 0)', 2 ], [ 'count(snowflake_registry_workers)', 1 ];

### Numbers have the names, types and meanings of the views

my $queries = slurp_file("$folder/queries.yaml");
for my $view (qw(snowflake_metrics snowflake_registry_metrics))
{
	my ($metrics) = $queries =~ /^\w+:\n  query: [^\n]*\* FROM $view"\n  metrics:\n(.*?)(?:^\S|^\n|\z)/ms;
	my @written = map { join '|', @$_ } grep { $_->[0] ne 'datname' } map { [ /- (\w+):\n +usage: "(\w+)"\n +description: "(.*)"/ ] } ($metrics // '') =~ /^    - .*\n.*\n.*\n/mg;
	my @meant = split /\n/, value($node, qq{
		SELECT attname, CASE WHEN attname ~ '_total\$' THEN 'COUNTER' WHEN atttypid = 'text'::regtype THEN 'DISCARD' ELSE 'GAUGE' END, col_description(attrelid, attnum)
		FROM pg_attribute WHERE attrelid = '$view'::regclass AND attnum > 0 ORDER BY attnum}, $db);
	is_deeply(\@written, \@meant, "queries.yaml has each column of $view, and its comment");
}
my $exposed = $prometheus->exposed('node');
append_to_file("$scratch/metrics", join '', $exposed =~ /^((?:# \w+ )?snowflake_.*\n)/mg);
is(system("'" . Prometheus::program('promtool') . "' check metrics <$scratch/metrics >$scratch/lint 2>&1"), 0, 'promtool finds nothing to say of them')
  or diag(slurp_file("$scratch/lint"));
is(-s "$scratch/lint", 0, '... at all');

# A session locks a table exclusively. The node's numbers still arrive, as soon as the exporter's
# role has given up the other ones.
my $session = $node->background_psql($second, on_error_stop => 0);
$session->query_safe('BEGIN; LOCK TABLE ids.snowflake_segment IN ACCESS EXCLUSIVE MODE');
# On a busy machine more may be given up.
my $locked;
wait_until('the numbers', sub { ($locked = $prometheus->exposed('node')) =~ /^snowflake_idle\{datname="ids",[^}]*\} 1$/m && $locked =~ /^pg_exporter_last_scrape_error 1$/m });
like($locked, qr/^snowflake_idle\{datname="ids",[^}]*\} 1$/m, 'where a table is locked, numbers of the node come');
like($locked, qr/^pg_exporter_last_scrape_error 1$/m, '... and the exporter says that others do not');
$session->query_safe('COMMIT');
ok(wait_until('all numbers', sub { $prometheus->exposed('node') =~ /^pg_exporter_last_scrape_error 0$/m }), '... until they do');
$session->quit;

### No fault, and every query returns a result

ok(wait_until('all rules', sub { !grep { $_->{health} ne 'ok' } $prometheus->rules }), 'all rules are evaluated');
my @rules = $prometheus->rules;
is(scalar(@rules), scalar(() = slurp_file("$folder/alerts.yaml") =~ /^ +- alert:/mg), '... and none is missing');
value($node, 'SELECT snowflake_nextval()', $db);
# A machine that stood still for a moment may have raised one.
my @alerts;
ok(wait_until('no alert', sub { @alerts = $prometheus->alerts; !@alerts }), 'no alert waits or fires') or diag("@alerts");
for my $rule (@rules) { ok(wait_until($rule->{name}, sub { my @found = $prometheus->query($rule->{query}); !@found }), "$rule->{name} has nothing to say") }

my $dashboard = decode_json(slurp_file("$folder/dashboard.json"));
my @panels = map { ($_, @{ $_->{panels} // [] }) } @{ $dashboard->{panels} };
my @targets = map { my $panel = $_; map { [ $panel->{title}, $_->{expr} ] } @{ $panel->{targets} // [] } } @panels;
cmp_ok(scalar(@targets), '>=', 30, 'the dashboard has queries');
for my $variable (grep { $_->{type} eq 'query' } @{ $dashboard->{templating}{list} })
{
	my ($metric, $label) = $variable->{definition} =~ /^label_values\((\w+), (\w+)\)$/ or die "$variable->{definition}\n";
	is_deeply([ grep { !defined $_->{metric}{$label} } $prometheus->query($metric) ], [], "variable $variable->{name} finds $label");
}
for my $target (@targets)
{
	my $expression = $target->[1] =~ s/\$__rate_interval/1m/gr =~ s/\$(?:instance|datname)\b/.*/gr;
	ok(wait_until($expression, sub { my @found = $prometheus->query($expression); @found > 0 }), "$target->[0]: $expression");
}

### The registry is unavailable

my $stopped = time();
$registry->stop('immediate');
my %fired;
sub since_then { return sprintf '[%ds]', time() - $stopped + 1; }
# Also if it fired between two looks.
sub fires
{
	my ($alert) = @_;
	my $ever = sub { return 'count by (alertname, instance) (count_over_time(ALERTS{alertstate="firing"}' . since_then() . '))' };
	return wait_until($alert, sub {
		$fired{"$_->{metric}{alertname} $_->{metric}{instance}"} = 1 for eval { $prometheus->query($ever->()) };
		$fired{$alert};
	});
}
ok(fires('SnowflakeIdsWillStop node'), 'while ids flow still, it is told that they will stop');
ok(fires('SnowflakeRegistryFailing node'), '... and that the registry does not answer');
ok(!$fired{'SnowflakeNotIssuing node'} || $prometheus->value_of("snowflake_ids_flow_seconds$of_node") eq '0', '... but not that there are none, as long as there are');
ok(wait_until('the end of the window', sub { value($node, 'SELECT state FROM snowflake_status', $db) ne 'issuing' }), 'the window ends');
is((query_error($node, $db, q{SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()}))[0], 'SF001', 'a call fails');
ok(fires("Snowflake$_ node"), "Snowflake$_ fires") for qw(NotIssuing CallsFail);
# The registry's numbers are missing, which the rule sees if the clock has passed a multiple of five
# minutes. On a busy machine scrapes of the node may fail, too.
delete $fired{'SnowflakeUnseen registry'};
my ($up, $errors) = map { $prometheus->value_of($_ . since_then() . ')') } 'min_over_time(up{instance="node"}', 'max_over_time(pg_exporter_last_scrape_error{instance="node"}';
delete $fired{'SnowflakeUnseen node'} unless "$up $errors" eq '1 0';
is_deeply([ grep { !/^Snowflake(IdsWillStop|RegistryFailing|NotIssuing|CallsFail) node$/ } sort keys %fired ], [], 'no other alert does');
becomes('snowflake_idle{instance="node", datname="ids"}', 1, 'the database that nobody asked is idle still');

### ... and available again

start_server($registry);
ok(wait_until('silence', sub { !grep { !/CallsFail/ } $prometheus->alerts }), 'once it answers, they end');
becomes("snowflake_issuing$of_node", 1, '... and ids flow');

is($prometheus->finish, 0, 'all that was started here has ended');
$_->stop('fast') for $node, $registry;
done_testing();
