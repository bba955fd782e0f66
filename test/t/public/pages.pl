# Pages of results by their keys: with plain, prefixed and masked ids, no row is missing, none is
# there twice, and each page is an index scan of the primary key without a sort. The query for
# masked ids is that of doc/public-ids.md. What the page warns of happens: with `ORDER BY id` masked
# pages are in another order, and rows are missing.

use strict;
use warnings;

use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $rows = 1000;
my $server = new_server('pages', patient => 1, conf => "log_statement = none\nautovacuum = off\njit = off\n");
my $keys = $server->basedir . '/keys';
append_to_file($keys, '1 ' . '5b' x 32 . "\n");
chmod 0600, $keys or die "$keys: $!";
$server->append_conf('postgresql.conf', "snowflake.mask_key_file = '$keys'\n");
start_server($server);
$server->safe_psql('postgres', qq{CREATE EXTENSION snowflake;
	CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), name text);
	INSERT INTO item (name) SELECT i FROM generate_series(1, $rows) i;
	ANALYZE item});

my $prepare = block_of('doc/public-ids.md', 'PREPARE item_page');
my ($limit) = $prepare =~ /LIMIT (\d+)/ or die "no LIMIT: $prepare";
my %query = (masked => $prepare);
# The same page with other ids.
my %form = (plain => [ 'i.id', '$1::bigint' ], prefixed => [ q{snowflake_to_text(i.id, 'base58', 'item')}, q{snowflake_from_text($1, 'base58', 'item')} ]);
for my $name (keys %form)
{
	my ($id, $from) = @{ $form{$name} };
	$query{$name} = $prepare =~ s/snowflake_mask\(i\.id, 'item'\)/$id/r =~ s/snowflake_unmask\(\$1, 'item'\)/$from/r;
	isnt($query{$name}, $prepare, "the query for $name ids");
}

# All ids that the pages show, until a page is empty.
sub walk
{
	my ($prepare) = @_;
	my $session = $server->background_psql('postgres', on_error_stop => 1);
	$session->query_safe($prepare);
	my ($last, @seen) = ('NULL');
	while (my @page = split /\n/, $session->query_safe("EXECUTE item_page ($last)"))
	{
		push @seen, map { (split /\|/)[0] } @page;
		$last = "'$seen[-1]'";
		die 'too many pages' if @seen > 2 * $rows;
	}
	my $plan = $session->query_safe("EXPLAIN (COSTS OFF) EXECUTE item_page ($last)");
	$session->quit;
	return ($plan, @seen);
}

for my $name (sort keys %query)
{
	my ($id) = $query{$name} =~ /SELECT (.*?) AS id/ or die $query{$name};
	my @all = split /\n/, $server->safe_psql('postgres', "SELECT $id FROM item i ORDER BY i.id");
	my ($plan, @seen) = walk($query{$name});
	is_deeply(\@seen, \@all, "$name ids: each row once, in the order of the keys");
	like($plan, qr/^Limit\n *-> +Index Scan using item_pkey on item i\n *Index Cond: [^\n]*$/, '... by the primary key, without a sort');
}

my ($plan) = walk($query{prefixed} =~ s/ORDER BY i\.id/ORDER BY id/r);
like($plan, qr/Sort/, 'ORDER BY id, prefixed ids: each page is sorted');
($plan, my @seen) = walk($prepare =~ s/ORDER BY i\.id/ORDER BY id/r);
my %different = map { $_ => 1 } @seen;
cmp_ok(scalar keys %different, '<', $rows, 'ORDER BY id, masked ids: rows are missing');
like($plan, qr/Sort/, '... and each page is sorted');
figures('ORDER BY id: %d of %d rows, pages of %d', scalar keys %different, $rows, $limit);

$server->stop('fast');
done_testing();
