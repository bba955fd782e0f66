# How test/soak compares rows. While it runs and afterwards, it compares the rows of the table
# `outbox` with those that readers have got. It compares the rows of the converted tables with the
# confirmed inserts. t/scripts/soak plants faults to show that these checks notice them.
package SoakChecks;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw($check_consumer consumer_checked reader_differences compare_tokens);

# --------------------------------------------------------------------------------------------------
# While it runs
# --------------------------------------------------------------------------------------------------

# Counts the rows of the last minutes that the reader in the database has passed or has, and among
# them the rows that it missed, has twice or should not have.
our $check_consumer = <<'SQL';
SELECT 'passed ' || count(*) || ' wrong ' || count(*) FILTER (WHERE o.id IS NULL OR c.times IS DISTINCT FROM 1)
FROM (SELECT id FROM outbox WHERE id > snowflake_id_at(now() - interval '3 min') AND id <= (SELECT last FROM position)) o
	FULL JOIN (SELECT id, count(*) AS times FROM consumed WHERE id > snowflake_id_at(now() - interval '3 min') GROUP BY id) c USING (id);
SQL

# Reads a line of its output: (rows, wrong rows), or nothing if it is another line.
sub consumer_checked { my ($line) = @_; return $line =~ /^passed (\d+) wrong (\d+)$/; }

# --------------------------------------------------------------------------------------------------
# Afterwards
# --------------------------------------------------------------------------------------------------

my ($id, $token) = ('^[0-9]+$', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');

# The lines of a command's output that match, sorted in a file of that name.
my $folder;
sub sorted_lines
{
	my ($name, $pattern, $command) = @_;
	$folder //= PostgreSQL::Test::Utils::tempdir();
	my $file = "$folder/$name";
	system('bash', '-c', "set -o pipefail; $command | { grep -E '$pattern' || true; } | LC_ALL=C sort >$file") == 0 or die "$name: $command\n";
	return $file;
}

sub rows_of { my ($server, $sql) = @_; return sprintf q{psql -XAtq -d '%s' -c 'COPY (%s) TO STDOUT'}, $server->connstr('postgres'), $sql; }

# Returns the output of `comm`, at most 20 lines: rows of the outbox that a reader missed, and rows
# that it has twice or should not have. A reader wrote its rows into the file, or without a file
# into the table `consumed`.
sub reader_differences
{
	my ($server, $file) = @_;
	my $outbox = sorted_lines('outbox', $id, rows_of($server, 'SELECT id FROM outbox'));
	my $got = sorted_lines('got', $id, $file ? "cat $file" : rows_of($server, 'SELECT id FROM consumed'));
	return `LC_ALL=C comm -3 $outbox $got | head -n 20`;
}

# Compares the tokens of confirmed inserts, which clients wrote into these files, with those of the
# tables `legacy` and `child`, which refers to it, and of the converted tables, legacy_1, child_1 and
# so on. Returns how many tables are `converted`, and how many tokens are `confirmed`, `lost`
# (confirmed, and in no table) and `twice` (in several rows); how many `children` there are, and how
# many have `strayed`: they refer to no row, or to another one than the token of their parent says.
sub compare_tokens
{
	my ($server, @files) = @_;
	my @tables = split /\n/, $server->safe_psql('postgres', q{SELECT oid::regclass FROM pg_class WHERE relname ~ '^(legacy|child)(_[0-9]+)?$' AND relkind = 'r'});
	my $of_children = join ' UNION ALL ', map { sprintf 'SELECT p.token AS found, c.parent FROM %s c LEFT JOIN %s p ON p.id = c.legacy_id', $_, s/^child/legacy/r } grep { /^child/ } @tables;
	my ($children, $strayed) = split /\|/, $server->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE found IS DISTINCT FROM parent) FROM ($of_children) t");
	my $kept = sorted_lines('kept', $token, rows_of($server, join ' UNION ALL ', map { "SELECT token FROM $_" } @tables));
	my $confirmed = sorted_lines('confirmed', $token, "cat @files");
	my $lines = sub { my ($command) = @_; return scalar(() = `LC_ALL=C $command`); };
	return {
		converted => grep({ /^legacy_/ } @tables) + 0,
		children => $children,
		strayed => $strayed,
		confirmed => $lines->("cat $confirmed"),
		lost => $lines->("comm -23 $confirmed $kept"),
		twice => $lines->("uniq -d $kept") };
}

1;
