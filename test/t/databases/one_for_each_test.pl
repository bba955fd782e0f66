# A database for each test of an application, as doc/recipes.md says: if more of them issue ids at
# once than the server has background workers, calls wait for snowflake.start_timeout and fail with
# SF001; with a longer timeout they get their ids when another test drops its database. A template
# takes no worker, and a dropped database gives back its worker and its entry.

use strict;
use warnings;

use Pages;
use SnowflakeTest;
use Test::More;

# PostgreSQL's launcher of logical replication takes a worker, too.
my $workers = 3;
my $server = new_server('tests', preload => 1, conf => "log_statement = none\nautovacuum = off\nmax_worker_processes = " . ($workers + 1)
	  . "\nsnowflake.max_databases = 4\nsnowflake.start_timeout = 60s\n");
start_server($server);
my ($create, $drop) = block_of('doc/recipes.md', 'TEMPLATE app_template') =~ /^(CREATE DATABASE .*?;).*^(DROP DATABASE .*?;)/ms or die "the page's block";
sub named { my ($sql, $number) = @_; return $sql =~ s/test_1/test_$number/r; }
my $insert = q{INSERT INTO item (name) VALUES ('first') RETURNING id > 0};

$server->safe_psql('postgres', 'CREATE DATABASE app_template');
$server->safe_psql('app_template', 'CREATE EXTENSION snowflake; CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), name text)');
for my $number (1 .. $workers + 1)
{
	$server->safe_psql('postgres', named($create, $number));
	my $patience = $number <= $workers ? '' : q{SET snowflake.start_timeout = '500ms'; };
	my ($state, $text) = query_error($server, "test_$number", $patience . $insert);
	if ($number <= $workers) { is($state, '00000', "test $number has its id"); }
	else
	{
		is($state, 'SF001', 'one more has none');
		like($text, qr/All \d+ background workers \(max_worker_processes\)/, '... and the error says why');
	}
}

my $waits = $server->background_psql('test_' . ($workers + 1), on_error_stop => 1);
$waits->query_until(qr/begun/, "\\echo begun\n$insert AS issued \\gset\n\\echo issued :issued\n");
$server->safe_psql('postgres', named($drop, 1));
like($waits->query_until(qr/issued t/, ''), qr/issued t/, 'a call that waits has its id when another test has dropped its database');
$waits->quit;

$server->safe_psql('postgres', named($drop, 2));
my $issued = 0;
for my $number (11 .. 18)
{
	$server->safe_psql('postgres', named($create, $number));
	++$issued if $server->safe_psql("test_$number", $insert) eq 't';
	$server->safe_psql('postgres', named($drop, $number));
}
is($issued, 8, 'one after the other, more databases than snowflake.max_databases have their ids');

is((query_error($server, 'test_3', 'TRUNCATE snowflake_registry'))[0], '55000', 'a TRUNCATE of the registry is refused');
$server->stop('fast');
done_testing();
