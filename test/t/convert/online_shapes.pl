# Tables of many shapes are converted online while clients insert, update, delete and read.
# Afterwards every row is as the clients recorded it, and a dump differs from the one before only in
# the column's type, default and sequence, and in the order of columns.
#
# The test also checks its comparisons: they must detect a change of one row, and of one object.
# Not in the default run: a conversion under load for each of 27 tables; it needs 30 s of processor
# time for the conversions, the clients and the dumps.
use strict;
use warnings;

use lib 'test/perl';
use ConvertShapes;
use ConvertTest;
use List::Util qw(sum);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = convert_server('shapes');
my $only = $ENV{SNOWFLAKE_SHAPES};
my @there = map { chomp; $_ } split /\n/, $server->safe_psql('postgres', 'SELECT extname FROM pg_extension');
my @converted = grep { !$only || $_->{name} =~ /$only/ } grep { $server->pg_version >= ($_->{since} // 15) } grep { my $needs = $_->{with}; !$needs || grep { $_ eq $needs } @there } @shapes;

make_shape($server, $_) for @converted;
my $before = dump_of($server);
my %inherited = map { $_->{name} => inheritance_of($_) } @converted;

# How columns and constraints are inherited, which dumps of partitions do not show. An inherited
# NOT NULL may also become the table's own, as when a dump is restored.
sub inheritance_of
{
	my ($shape) = @_;
	my $schema = literal(in_schema($shape, '@S@'));
	return $server->safe_psql('postgres', qq{
		SELECT concat_ws(' ', attrelid::regclass, attname, attislocal, attinhcount, attnotnull) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = $schema\::regnamespace AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p')
		UNION ALL SELECT concat_ws(' ', conrelid::regclass, conname, contype, conislocal OR contype = 'n' AND coninhcount > 0, coninhcount, contype IN ('c', 'n') AND connoinherit, convalidated, condeferrable, condeferred, conparentid <> 0, obj_description(pg_constraint.oid, 'pg_constraint'))
		FROM pg_constraint WHERE connamespace = $schema\::regnamespace AND contype <> 't'
		ORDER BY 1});
}

my ($transactions, %took, %waited) = (0);
for my $shape (@converted)
{
	my $name = $shape->{name};
	my $writers = start_writers($server, $shape);
	my $last = join ' ', map { last_of($shape, $_) } @{ $shape->{sequences} // [] };
	my $began = time();
	my $error = convert_online($server, $shape);
	$took{$name} = time() - $began;
	is($error, '', "$name: converted");
	is(nothing_left($server, $shape), '', "$name: nothing is left") unless $error;
	is(stop_writers($writers), '', "$name: no client saw an error");
	$transactions += $writers->{transactions} // 0;
	$waited{$name} = longest_wait($writers);
	is($server->safe_psql('postgres', wrong_rows($shape)) =~ s/\b0\b//gr =~ s/ //gr, '', "$name: every row is as the clients recorded it");
	check_sequence($shape, $last) if $shape->{sequences} && !$error;
	is(inheritance_of($shape), $inherited{$name}, "$name: what is inherited is");
	$shape->{failed} = 1 if $error;
}

sub last_of { my ($shape, $sequence) = @_; return $server->safe_psql('postgres', 'SELECT last_value FROM ' . relation_of($shape, $sequence)); }

# The sequence continues at its value, and its maximum is bigint's unless it had a different one.
sub check_sequence
{
	my ($shape, $last) = @_;
	my $relation = relation_of($shape, $shape->{sequences}[0]);
	is($server->safe_psql('postgres', 'SELECT seqtypid::regtype FROM pg_sequence WHERE seqrelid = to_regclass(' . literal($relation) . ')'),
		'bigint', "$shape->{name}: its sequence is of bigint");
	cmp_ok(last_of($shape, $shape->{sequences}[0]), '>=', $last, '... goes on');
	is($server->safe_psql('postgres', sprintf 'SELECT pg_get_serial_sequence(%s, %s)::regclass = to_regclass(%s)', literal(relation_of($shape)), literal('id'), literal($relation)),
		't', '... and is the column\'s');
	return;
}

# Compares entry by entry, each with the shape that it belongs to.
my $expected = converted_dump($before, grep { !$_->{failed} } @converted);
my $found = dump_of($server);
my @differences = differences($expected, $found);
sub of_shape
{
	my ($shape, @texts) = @_;
	my $schema = in_schema($shape, '@S@') =~ s/^"(.*)"$/$1/r =~ s/""/"/gr;
	return grep { /; Schema: \Q$schema\E;|Name: (PUBLICATION )?\Q$shape->{name}\E_/ } @texts;
}
for my $shape (@converted)
{
	my @its = of_shape($shape, @differences);
	is(join("\n\n", @its), '', "$shape->{name}: a dump differs in nothing else");
	my %its = map { $_ => 1 } @its;
	@differences = grep { !$its{$_} } @differences;
}
is(join("\n\n", @differences), '', 'nor is there a difference elsewhere');
is(remains($server), '', 'nothing remains of the conversion');

### Changes that the comparisons must detect

for my $shape (grep { !$_->{failed} } @converted)
{
	my ($t, $id) = (relation_of($shape), $shape->{column} // 'id');
	my $check = wrong_rows($shape);
	my $sum = sub { my $sum = 0; $sum += $_ for split / /, $server->safe_psql('postgres', "SET session_replication_role = replica; BEGIN; ALTER TABLE $t DISABLE TRIGGER USER; $_[0]; $check; ROLLBACK"); $sum };
	my $one = "(SELECT min(k) FROM $t )";
	next if $shape->{name} eq 'empty';
	my $usual = $sum->('SELECT');
	my @missed = grep { $sum->($_) == $usual } "UPDATE $t SET note = 'another' WHERE k = $one", "DELETE FROM $t WHERE k = $one",
	  $shape->{rekey} // 1 ? "UPDATE $t SET $id = 5000000 WHERE k = $one" : (),
	  map { "UPDATE " . relation_of($shape, $_->[0]) . " SET $_->[1] = 6000000 WHERE k = (SELECT min(k) FROM " . relation_of($shape, $_->[0]) . " WHERE k IS NOT NULL AND $_->[1] IS NOT NULL)" } grep { $_->[0] ne 't' } @{ $shape->{children} // [] };
	is(join("\n", @missed), '', "$shape->{name}: a row that is another would be seen");
}
my @damages;
for my $shape (grep { !$_->{failed} } @converted)
{
	my $n = 0;
	for my $damage (@{ $shape->{damage} // [] })
	{
		$n++;
		push @damages, [ $shape, in_schema($shape, $damage->[0]), $damage->[1] ];
	}
}
my (@refused, @unseen);
for my $damage (@damages)
{
	my ($rc, $out, $err) = $server->psql('postgres', $damage->[1], on_error_stop => 1);
	push @refused, "$damage->[0]{name}: $damage->[1]: $err" if $rc != 0;
}
is(join("\n", @refused), '', 'changes for the comparison are made');
my @seen = differences($expected, dump_of($server));
for my $damage (@damages)
{
	my ($shape, $sql, $pattern) = @$damage;
	$pattern = in_schema($shape, "$pattern");
	push @unseen, "$shape->{name}: $sql" unless grep { /\A.*$pattern/ } of_shape($shape, @seen);
}
is(join("\n", @unseen), '', 'the comparison of dumps sees ' . @damages . ' changes of ' . @converted . ' shapes');

my ($slowest, $latest) = map { my $of = $_; (sort { $of->{$b} <=> $of->{$a} } keys %$of)[0] } \%took, \%waited;
figures('%d shapes, %d transactions of clients, the longest %.0f ms (%s); conversions took %.1f s, the longest %.1f s (%s)', scalar(@converted),
	$transactions, $waited{$latest}, $latest, sum(values %took), $took{$slowest}, $slowest);
$server->stop('fast');
done_testing();
