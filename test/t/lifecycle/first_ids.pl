# The first call after a start of the server and the first call of a new connection always return an
# id. The test reports how long they took.

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('first', patient => 1, conf => "log_statement = none\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->stop;

subtest 'how soon the first ids come' => sub {
	my (@after_start, @new_connection);
	my $median = sub { (sort { $a <=> $b } @_)[ @_ / 2 ] };
	for (1 .. 5)
	{
		start_server($server);
		my $timing = "\\timing on\nSELECT snowflake_nextval();\n";
		my $first = $server->safe_psql('postgres', $timing);
		push @after_start, $1 if $first =~ /Time: ([\d.]+) ms/;
		for (1 .. 5)
		{
			my $next = $server->safe_psql('postgres', $timing);
			push @new_connection, $1 if $next =~ /Time: ([\d.]+) ms/;
		}
		$server->stop('fast');
	}
	is(scalar @after_start, 5, 'first ids after a start');
	is(scalar @new_connection, 25, 'first ids of a connection');
	figures('the first id after a start took %.1f ms, the first of a new connection %.2f ms (medians, as the client sees it)',
		$median->(@after_start), $median->(@new_connection));
};

done_testing();
