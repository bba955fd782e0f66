# Each query of src/convert/queries/ is a file that psql can prepare: its parts are variables, and its
# first comment names the types of its parameters.
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $folder = 'src/convert/queries';
my %text = map { m{([^/]+)\.sql$} => slurp_file($_) } glob "$folder/*.sql";
my %parameters = map { $text{$_} =~ /^-- Parameters: (.*)$/m ? ($_ => $1) : () } keys %text;
my %used = map { $_ => 1 } 'text_settings', map { $text{$_} =~ /^:(\w+)$/mg } keys %text;
is_deeply([ grep { !$parameters{$_} && !$used{$_} } sort keys %text ], [], 'each file is a query, or a part of one');
is_deeply([ grep { !defined $text{$_} } sort keys %used ], [], 'each part is there');

my $server = new_server('server');
start_server($server);
my @variables = map { ('-v', "$_=$text{$_}") } grep { !$parameters{$_} } sort keys %text;
for my $query (sort keys %parameters)
{
	my ($status, undef, $error) = $server->psql('postgres', "SET search_path = pg_catalog;\nPREPARE query ($parameters{$query}) AS\n$text{$query};",
		extra_params => \@variables);
	is("$status $error", '0 ', "$query.sql can be prepared");
}
my $code = join '', map { slurp_file($_) } glob 'src/convert/*.cpp';
my %constant = map { $_ => 'k' . join('', map { ucfirst } split /_/) } keys %parameters;
is_deeply([ grep { $code !~ /\b$constant{$_}\b/ } sort keys %constant ], [], 'the code uses each of them');

$server->stop('fast');
done_testing();
