# Debian's Prometheus and postgres_exporter on separate loopback ports, for servers of a test.
# test/run unpacks them; nothing is installed. All processes that are started here end with the
# test.
#
#   my $prometheus = Prometheus->new(rules => FILE, queries => FILE, exporter => COMMAND,
#     servers => { NAME => SERVER });
#   $prometheus->query('snowflake_issuing'); $prometheus->rules; $prometheus->firing
package Prometheus;

use strict;
use warnings;

use HTTP::Tiny;
use IPC::Run;
use JSON::PP;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Text::ParseWords qw(shellwords);

my $unpacked = $ENV{SNOWFLAKE_NEIGHBOURS} // '/nowhere';
my $http = HTTP::Tiny->new(proxy => undef, http_proxy => undef, https_proxy => undef, timeout => 20);
my %pids;    # of what runs, by name
my $owner = $$;

sub program { my ($name) = @_; return (grep { -x } "$unpacked/usr/bin/$name", "/usr/bin/$name")[0]; }

# What is missing.
sub missing { return grep { !program($_) } qw(prometheus promtool prometheus-postgres-exporter); }

sub version
{
	my ($name) = @_;
	my ($out, $err) = run_command([ program($name), '--version' ]);
	return "$out$err" =~ /version ([\w.+-]+)/ ? $1 : '?';
}

# Runs promtool; returns (exit status, output).
sub promtool
{
	my (@arguments) = @_;
	my $said = '';
	my $run = IPC::Run::start([ program('promtool'), @arguments ], '<', '/dev/null', '>', \$said, '2>&1');
	$run->finish;
	return ($run->full_result >> 8, $said);
}

# Each process starts in a folder of the test: test/run ends processes there that a killed test has
# left.
sub run_program
{
	my ($self, $name, $environment, @command) = @_;
	my $log = "$self->{folder}/$name.log";
	my $pid = fork // die "fork: $!";
	if (!$pid)
	{
		$SIG{$_} = 'DEFAULT' for qw(INT TERM __DIE__ __WARN__);
		chdir $self->{folder};
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $log;
		open STDERR, '>&', \*STDOUT;
		$ENV{$_} = $environment->{$_} for keys %$environment;
		{ exec @command }
		POSIX::_exit(1);
	}
	$pids{$name} = $pid;
	return;
}

sub new
{
	my ($class, %options) = @_;
	my $self = bless { folder => PostgreSQL::Test::Utils::tempdir('prometheus'), targets => {} }, $class;
	for my $name (sort keys %{ $options{servers} })
	{
		my $server = $options{servers}{$name};
		my $port = PostgreSQL::Test::Cluster::get_free_port();
		$self->{targets}{$name} = "127.0.0.1:$port";
		# The command of a page, for this server.
		my $host = sprintf 'host=%s port=%d', $server->host, $server->port;
		my ($source, $program, @arguments) = shellwords($options{exporter} =~ s{\\\n}{}gr);
		$source =~ s{^DATA_SOURCE_NAME=host=\S+}{$host} or die "no host in $source\n";
		s{=queries\.yaml$}{=$options{queries}} for @arguments;
		$self->run_program("exporter_$name", { DATA_SOURCE_NAME => $source }, program($program), "--web.listen-address=127.0.0.1:$port", @arguments);
	}
	my $scrapes = join '', map { "      - targets: ['$self->{targets}{$_}']\n        labels: {instance: '$_'}\n" } sort keys %{ $self->{targets} };
	append_to_file("$self->{folder}/prometheus.yml", <<"YAML");
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: ['$options{rules}']
scrape_configs:
  - job_name: postgres
    static_configs:
$scrapes
YAML
	$self->{port} = PostgreSQL::Test::Cluster::get_free_port();
	$self->run_program('prometheus', {}, program('prometheus'), "--config.file=$self->{folder}/prometheus.yml", "--storage.tsdb.path=$self->{folder}/data",
		"--web.listen-address=127.0.0.1:$self->{port}", '--log.level=warn');
	return $self;
}

sub log_of { my ($self, $name) = @_; return slurp_file("$self->{folder}/$name.log"); }

# The answer of the exporter of one of the servers.
sub exposed { my ($self, $name) = @_; return $http->get("http://$self->{targets}{$name}/metrics")->{content}; }

# The data of an answer of its HTTP interface, or undef and what is wrong.
sub ask_for
{
	my ($self, $path, %parameters) = @_;
	my $query = join '&', map { "$_=" . $parameters{$_} =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ger } sort keys %parameters;
	my $answer = $http->get("http://127.0.0.1:$self->{port}/api/v1/$path" . ($query ? "?$query" : ''));
	my $read = eval { decode_json($answer->{content}) } // {};
	return (undef, $read->{error} // $answer->{content}) unless ($read->{status} // '') eq 'success';
	return $read->{data};
}

# The present value of an expression: a list of { metric => labels, value => number }. Dies if the
# expression is invalid.
sub query
{
	my ($self, $expression) = @_;
	my ($data, $fault) = $self->ask_for('query', query => $expression);
	die "$expression: $fault\n" unless $data;
	return map { { metric => $_->{metric}, value => $_->{value}[1] } } @{ $data->{result} };
}

# The value of an expression that has one value, or ''.
sub value_of { my ($self, $expression) = @_; my @found = eval { $self->query($expression) }; return @found == 1 ? $found[0]{value} : ''; }

sub rules { my ($self) = @_; my $data = $self->ask_for('rules'); return $data ? map { @{ $_->{rules} } } @{ $data->{groups} } : (); }

# The alerts that fire or are pending, as "alert instance".
sub alerts
{
	my ($self, $state) = @_;
	my $data = $self->ask_for('alerts') or return ('no answer');
	return sort map { "$_->{labels}{alertname} $_->{labels}{instance}" } grep { !$state || $_->{state} eq $state } @{ $data->{alerts} };
}
sub firing { my ($self) = @_; return $self->alerts('firing'); }

# Ends all of them; returns how many did not end when asked.
sub finish
{
	my $stubborn = 0;
	for my $name (sort keys %pids)
	{
		my $pid = $pids{$name};
		kill 'TERM', $pid;
		my $ended = wait_until("$name to end", sub { waitpid($pid, POSIX::WNOHANG()) == $pid });
		if (!$ended) { $stubborn++; kill 'KILL', $pid; waitpid $pid, 0; }
		delete $pids{$name};
	}
	return $stubborn;
}

END { return unless $$ == $owner; my $status = $?; kill 'KILL', values %pids; waitpid $_, 0 for values %pids; $? = $status; }

1;
