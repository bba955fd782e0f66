# The rules of doc/monitoring/alerts.yaml, over what queries.yaml reads of real nodes while their
# clock runs fast. Nodes that nobody calls, or that were called once, and busy ones raise no alert
# within half an hour, not even one that waits. A transaction that is then in progress for twenty
# minutes raises one. What each rule is made for is in t/neighbours/prometheus, with figures.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use File::Spec;
use JSON::PP;
use Neighbours qw(left_out_unless);
use PostgreSQL::Test::Utils;
use Prometheus;
use SnowflakeTest;
use Test::More;

left_out_unless(!!Prometheus::program('promtool'), 'promtool', 'apt-get install prometheus');
my $lease = 600;
my $server = new_server('server', clock => 1, patient => 1, conf => "autovacuum = off\nlog_statement = none\nsnowflake.lease_duration = ${lease}s\n");
start_server($server);
sub value { return $server->safe_psql($_[1] // 'postgres', $_[0]); }

# A registry, which serves two of the others, and one of its own.
my @nodes = qw(never once busy own);
value("CREATE DATABASE $_") for 'ids', @nodes;
value('CREATE EXTENSION snowflake', $_) for 'ids', @nodes;
value(q{SELECT snowflake_create_segment('ticket', max_value => 1000000)}, $_) for qw(ids own);
value(sprintf(q{ALTER DATABASE %s SET snowflake.registry = 'host=%s port=%d dbname=ids'}, $_, $server->host, $server->port)) for qw(once busy);
sub call { return value(q{SELECT snowflake_nextval(); SELECT snowflake_segment_nextval('ticket'); SELECT snowflake_horizon()}, $_[0]); }
call($_) for qw(once busy own);

# A keeper sleeps by the real time.
sub keep_up
{
	set_lease_duration($server, ++$lease . 's');
	return wait_until('the keepers', sub { !grep { value("SELECT ids_flow_seconds > 0.95 * $lease FROM snowflake_metrics", $_) ne 't' } qw(once busy own) });
}
ok(keep_up(), 'all windows are whole');

my %queries = slurp_file('doc/monitoring/queries.yaml') =~ /^(\w+):\n  query: (?|"(.*)"|\|\n((?:    .*\n)+))/mg;
is(join(' ', sort keys %queries), 'snowflake snowflake_registry snowflake_segment snowflake_state', 'the queries');
my $all = join '; ', map { "SELECT '$_ ' || row_to_json(q) FROM ($queries{$_}) q" } sort keys %queries;
my (%samples, $scrapes);
sub scrape
{
	for my $line (map { split /\n/, value($all, $_) } 'ids', @nodes)
	{
		my ($prefix, $json) = split / /, $line, 2;
		my $row = decode_json($json);
		my $labels = join ', ', map { qq($_="$row->{$_}") } grep { defined $row->{$_} } qw(datname segment);
		for my $name (grep { !/^(?:datname|segment|state)$/ } keys %$row)
		{
			my $series = $samples{"${prefix}_$name\{job=\"p\", instance=\"i\", $labels\}"} //= [];
			push @$series, '_' until @$series == $scrapes;
			push @$series, $row->{$name} // 'NaN';
		}
	}
	++$scrapes;
	return;
}
my $step = 60;
sub minutes_pass
{
	my ($minutes) = @_;
	for (1 .. $minutes * 60 / $step)
	{
		let_pass($server, $step);
		keep_up() or die "keepers do not follow\n";
		call($_) for qw(busy own);
		scrape();
		note("minute $_ of $minutes");
	}
	return;
}
$scrapes = 0;
scrape();
minutes_pass(30);
my $session = $server->background_psql('busy');
ask($session, 'BEGIN; SELECT snowflake_nextval()');
minutes_pass(20);
ask($session, 'COMMIT');
minutes_pass(2);
$session->quit;

my $scratch = PostgreSQL::Test::Utils::tempdir();
# The rules unchanged, except that a busy machine's registry is not slow.
append_to_file("$scratch/alerts.yaml", slurp_file('doc/monitoring/alerts.yaml') =~ s/(snowflake_registry_answer_seconds >) 1 /$1 60 /r);
my $series = join '', map { my $name = $_; sprintf "      - {series: '%s', values: '%s'}\n", $name, join ' ', map { /e/ ? sprintf '%.9f', $_ : $_ } @{ $samples{$name} } } sort keys %samples;
# Returns what promtool says if the alerts at these minutes are not those.
sub judge
{
	my (@expected) = @_;
	my $tests = "rule_files: ['" . File::Spec->rel2abs("$scratch/alerts.yaml") . "']\nevaluation_interval: ${step}s\ntests:\n  - interval: ${step}s\n    input_series:\n$series    promql_expr_test:\n";
	for (@expected)
	{
		my ($minute, @alerts) = @$_;
		my $seen = join ', ', map { my ($name, $db, $state) = split / /; qq({labels: '{alertname="Snowflake$name", alertstate="$state", datname="$db"}', value: 1}) } @alerts;
		$tests .= "      - {expr: 'count by (alertname, alertstate, datname) (ALERTS)', eval_time: ${minute}m, exp_samples: [$seen]}\n";
	}
	my $file = "$scratch/tests.yaml";
	unlink $file;
	append_to_file($file, $tests);
	my ($status, $said) = Prometheus::promtool('test', 'rules', $file);
	return $status == 0 ? '' : $said;
}
is(judge(map { [$_] } 1 .. 30), '', 'half an hour without a fault: no alert fires or waits');
is(judge([ 37, 'HorizonHeldBack busy pending' ], map { [ $_, 'HorizonHeldBack busy firing' ] } 42, 50), '', 'a transaction holds the horizon back');
is(judge([52]), '', '... until it ends');
isnt(judge([50]), '', 'an alert is noticed');
figures('%d series, %d scrapes', scalar(keys %samples), $scrapes);

$server->stop('fast');
done_testing();
