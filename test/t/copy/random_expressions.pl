# Random expressions as a column's default: COPY gives the same results as INSERT and ADD COLUMN,
# with as many calls. It repeats an id only where these commands do (G1, G2). A seed repeats a run.
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();

CopyTest::start('random');

value(q{CREATE TYPE two AS (a bigint, b bigint);
CREATE FUNCTION swap(bigint, bigint) RETURNS text LANGUAGE sql AS $$ SELECT $2 || '.' || $1 $$;
CREATE FUNCTION thrice(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT pair($1) || ':' || $1 $$;
CREATE FUNCTION first(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION strict_first(bigint, bigint) RETURNS bigint LANGUAGE sql STRICT AS 'SELECT $1';
CREATE FUNCTION larger(bigint, bigint DEFAULT snowflake_nextval()) RETURNS bigint LANGUAGE sql
	AS 'SELECT CASE WHEN $1 > $2 THEN $1 ELSE $2 END';
CREATE FUNCTION any_of(VARIADIC bigint[]) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT $1[1] + 0 * array_length($1, 1)';
CREATE FUNCTION plain(bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION fresh() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowflake_nextval(); END'});

# %n and %t stand for an expression for a number and for a text.
my @numbers = ('same(%n)', 'greatest(%n, %n)', 'least(%n, %n)', 'coalesce(NULL, %n, %n)', 'nullif(%n, -1)', 'first(%n, %n)',
	'CASE WHEN %n < %n THEN %n ELSE %n END', 'CASE %n WHEN %n THEN 0 ELSE %n END', '(ARRAY[%n, %n])[1]', '(ARRAY[%n, %n])[2]',
	'(ROW(%n, %n)::two).a', '(ROW(%n, %n)::two).b', 'strict_first(%n, %n)', 'larger(%n)', 'larger(%n, %n)', 'any_of(%n, %n)',
	'plain(%n)', 'fresh()', 'new_id()', '(%n + 0)', '%n::checked_id::bigint', '(%n::text)::bigint');
my @texts = ('pair(%n)', 'thrice(%n)', 'swap(%n, %n)', q{(%t || '/' || %t)}, q{format('%%s,%%s', %n, %t)}, q{concat(%t, ' ', %n)},
	'(%n < %n)::text', 'ROW(%t, %n)::text');

sub random_number
{
	my ($depth) = @_;
	return 'snowflake_nextval()' if $depth <= 0 || rand() < 0.15;
	return $numbers[ rand @numbers ] =~ s/%n/random_number($depth - 1)/ger;
}

sub random_text
{
	my ($depth) = @_;
	return random_number($depth) . '::text' if $depth <= 0;
	my $parts = $texts[ rand @texts ] =~ s/(?<!%)%n/random_number($depth)/ger;
	return $parts =~ s/(?<!%)%t/random_text($depth - 1)/ger =~ s/%%/%/gr;
}

# Replaces each row's ids by their ranks, to show equal ids and ids in the wrong order.
sub without_ids
{
	my ($text) = @_;
	my ($count, %rank) = (0);
	$rank{$_} //= ++$count for sort { $a <=> $b } $text =~ /(\d{15,})/g;
	return $text =~ s/(\d{15,})/#$rank{$1}/gr;
}

subtest 'random expressions' => sub {
	my @expressions = map { random_text(1 + int rand 3) } 1 .. 60;
	my $sql = '';
	for my $i (0 .. $#expressions)
	{
		$sql .= "CREATE TEMP TABLE t$i (n int, v text DEFAULT $expressions[$i]);\n";
		my $rows = "INSERT INTO t$i SELECT generate_series(1, 3), ''";
		for my $way ("COPY t$i (n) FROM PROGRAM 'seq 3'", "INSERT INTO t$i (n) SELECT generate_series(1, 3)",
			"$rows; ALTER TABLE t$i DROP v, ADD COLUMN v text DEFAULT $expressions[$i]")
		{
			$sql .= "SELECT pg_stat_force_next_flush() \\gset\nBEGIN;\nTRUNCATE t$i;\n$way;\n"
			  . "SELECT '$i|' || nextval + copy_nextval FROM calls;\nSELECT '$i|' || v FROM t$i ORDER BY n;\nCOMMIT;\n";
		}
	}
	my %found;
	for my $line (split /\n/, value($sql))
	{
		my ($i, $text) = split /\|/, $line, 2;
		push @{ $found{$i} }, without_ids($text);
	}
	my $different = 0;
	for my $i (0 .. $#expressions)
	{
		my @lines = @{ $found{$i} // [] };
		my ($copy, $insert, $add) = map { join ' ', @lines[ $_ .. $_ + 3 ] } 0, 4, 8;
		next if @lines == 12 && $copy eq $insert && $copy eq $add;
		$different++;
		diag("$expressions[$i]\n  COPY: $copy\n  INSERT: $insert\n  ADD COLUMN: $add");
	}
	is($different, 0, @expressions . ' expressions: COPY gives what INSERT and ADD COLUMN give, with as many calls');
	diag(scalar(@expressions) . " trials, seed $seed");
};

finish();
