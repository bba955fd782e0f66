# Events of one account have ids in the order of its versions (G2). A transaction inserts the lines
# of an order, waits for the account's row, and inserts an event with the version that it gave the
# account. Eight sessions wait for the rows of few accounts, so a transaction requests the ids of
# its lines before, and its event's id after, other sessions request theirs. The lines' ids are
# requested in each of the ways in which applications request them.
#
# SNOWFLAKE_EVENTS sets how many events there are.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $events = $ENV{SNOWFLAKE_EVENTS} || at_length(4200, 200_000) / slowness();
my ($sessions, $accounts) = (8, 3);
my $server = sessions_server('outbox', undef, conf => q{
synchronous_commit = off
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
parallel_leader_participation = off
});
$server->safe_psql('postgres', qq{
CREATE UNLOGGED TABLE accounts (account int, version bigint) WITH (fillfactor = 10);
CREATE UNLOGGED TABLE lines (id bigint DEFAULT snowflake_nextval(), account int);
CREATE UNLOGGED TABLE events (id bigint DEFAULT snowflake_nextval(), source text, account int, version bigint);
CREATE TABLE big AS SELECT i FROM generate_series(1, 300) i;
ALTER TABLE big SET (parallel_workers = 2);
ANALYZE big;
CREATE FUNCTION place_order(in_account int, lines int) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE new_version bigint;
BEGIN
	INSERT INTO lines (account) SELECT in_account FROM generate_series(1, lines);
	UPDATE accounts SET version = version + 1 WHERE account = in_account RETURNING version INTO new_version;
	INSERT INTO events (source, account, version) VALUES (current_setting('application_name'), in_account, new_version);
END \$\$});

my $folder = $server->basedir . '/scripts';
mkdir $folder or die "$folder: $!";
my $rest = q{UPDATE accounts SET version = version + 1 WHERE account = :account RETURNING version \gset
INSERT INTO events (source, account, version) VALUES (current_setting('application_name'), :account, :version);
COMMIT;
};
my $insert = 'INSERT INTO lines (account) SELECT :account FROM generate_series(1, :lines)';
my $parallel = "SELECT count(id) FROM (SELECT snowflake_nextval() AS id FROM big OFFSET 0) b;\n";

# What comes before the event in a transaction, and pgbench's mode.
my %ways = (
	'a function' => [ 'simple', undef ],
	'statements' => [ 'simple', "$insert;\n" ],
	'rows one by one' => [ 'simple', "INSERT INTO lines (account) VALUES (:account);\n", 5 ],
	'prepared statements' => [ 'prepared', "$insert;\n" ],
	'snowflake_nextvals()' => [ 'simple', "INSERT INTO lines SELECT id, :account FROM snowflake_nextvals(:lines) id;\n" ],
	'COPY' => [ 'simple', "COPY lines (account) FROM ':file';\n" ],
	'a parallel query' => [ 'simple', "$insert;\n\\if :parallel = 1\n$parallel\\endif\n" ]);

# Runs transactions of one kind. Returns how many of its events are out of order.
sub place_orders
{
	my ($way, $lines, $transactions) = @_;
	my ($mode, $before, $repeated) = @{ $ways{$way} };
	my $source = "$way, $lines lines";
	my $file = "$folder/" . $source =~ s/\W/_/gr;
	append_to_file("$file.rows", "1\n" x $lines);
	my $text = defined $before ? 'BEGIN;' . "\n" . $before x ($repeated ? $lines : 1) . $rest : "SELECT place_order(:account, :lines);\n";
	$text =~ s/:file/$file.rows/g;
	append_to_file("$file.sql", "\\set account random(1, $accounts)\n\\set parallel random(1, 10)\n$text");
	$server->safe_psql('postgres', "TRUNCATE accounts, lines; INSERT INTO accounts SELECT i, 0 FROM generate_series(1, $accounts) i");
	my ($out, $error) = ('', '');
	my $run = IPC::Run::run(
		[ 'pgbench', '-n', '-M', $mode, '-c', $sessions, '-t', int($transactions / $sessions) || 1, '-D', "lines=$lines", '-f', "$file.sql",
			$server->connstr('postgres') . " application_name='$source'" ],
		'<', '/dev/null', '>', \$out, '2>', \$error);
	ok($run && $out =~ /number of failed transactions: 0 /, "$source: no transaction fails") or diag("$out\n$error");
	my ($count, $wrong) = split /\|/, $server->safe_psql('postgres', qq{
SELECT count(*), count(*) FILTER (WHERE id <= before)
FROM (SELECT id, lag(id) OVER (PARTITION BY account ORDER BY version) AS before FROM events WHERE source = '$source') e});
	is($wrong, 0, "... of $count events none is out of order");
	return ($count, $wrong);
}

my ($all, $wrong, @figures) = (0, 0);
for my $way (sort keys %ways)
{
	for my $lines (5, 40)
	{
		my ($count, $out_of_order) = place_orders($way, $lines, $events / 2 / keys %ways);
		push @figures, "$way, $lines lines: $out_of_order" if $out_of_order;
		$all += $count;
		$wrong += $out_of_order;
	}
}
figures('%d events, %d out of order%s', $all, $wrong, join '', map { "; $_" } @figures);
is($server->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM events'), 0, 'no id is issued twice (G1)');

$server->stop;
done_testing();
