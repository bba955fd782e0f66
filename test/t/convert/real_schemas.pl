# All keys of real applications' schemas (test/schemas) are converted by one call each (G13). A dry
# run names what is in the way, and statements drop or change that. Each table that becomes wider is
# rewritten exactly once. A dump differs from the one before only in the columns' types, defaults
# and sequences. Then every key issues ids.
#
# NAME.expected has the numbers of each schema, and the refusals.
# Not in the default run: it needs 20 s of processor time to examine 219 keys twice and to rewrite 232
# tables.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use List::Util qw(sum);
use RealSchemas;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $rows = 3;
my $server = schema_server('real');
my (%sum, %took);
my @names = grep { !$ENV{SNOWFLAKE_SHAPES} || /$ENV{SNOWFLAKE_SHAPES}/ } schema_names();

for my $name (@names)
{
	load_schema($server, $name);
	my ($tables, $keys, $foreign_keys) = count_tables($server, $name);
	my @report = ("tables: $tables", "keys: $keys", "foreign keys: $foreign_keys");
	my ($filled, $refused) = fill_tables($server, $name, $rows, 0);
	push @report, 'tables with rows: ' . @$filled;
	note("$name: tables without rows:\n$refused");

	# The warnings follow from the catalogs, so all of them are known. There are none if something is refused.
	my %warned = map { $_ => 1 } warned_of((as_app($server, $name, q{SELECT snowflake_convert_all('public', dry_run => true)}))[2]);

	# The dry run changes nothing, and says what the conversion says.
	run_part($name, 'before');
	my $before = schema_dump($server, $name);
	my ($rc, $out, $err) = as_app($server, $name, q{SELECT snowflake_convert_all('public', dry_run => true)});
	is(join("\n\n", differences($before, schema_dump($server, $name))), '', "$name: a dry run changes nothing");
	if ($rc != 0)
	{
		push @report, map { "refused: $_" } refusals($err);
		my ($again, $nothing, $same) = as_app($server, $name, q{SELECT snowflake_convert_all('public')});
		is(join("\n", refusals($same)), join("\n", refusals($err)), '... nor does a refused conversion, which gives the same reasons');
		is(join("\n\n", differences($before, schema_dump($server, $name))), '', '... and leaves everything as it was');
		run_part($name, 'dropped');
		($rc, $out, $err) = as_app($server, $name, q{SELECT snowflake_convert_all('public', dry_run => true)});
		is($rc, 0, "$name: nothing is in the way any more") or diag($err);
	}
	my $announced = $out;
	$warned{$_} = 1 for warned_of($err);
	push @report, map { "warned: $_" } sort keys %warned;
	$sum{warned} += keys %warned;

	# The conversion
	my @keys = keys_of($server, $name);
	my $widened = widened_columns($server, $name);
	my ($files, $contents) = (filenodes($server, $name), contents($server, $name));
	my $began = time();
	($rc, $out, $err) = as_app($server, $name, q{SELECT snowflake_convert_all('public')});
	$took{$name} = time() - $began;
	is($rc, 0, "$name: converted") or diag($err), next;
	is($out, $announced, '... by the statements of the dry run');
	push @report, count_statements($out);
	my ($now, $rewritten) = (filenodes($server, $name), rewrites($server, $name));
	is(join(' ', sort grep { $now->{$_} ne $files->{$_} } keys %$now), join(' ', sort keys %$widened), "$name: the tables that become wider are rewritten, and no others");
	is(join(' ', map { "$_ $rewritten->{$_}" } sort keys %$rewritten), join(' ', map { "$_ 1" } sort keys %$widened), '... each exactly once');
	push @report, 'rewritten: ' . keys %$rewritten;
	is(contents($server, $name), $contents, "$name: every row is as before");
	run_part($name, 'again');
	is(join("\n\n", differences(expected_dump($before, $widened, @keys), schema_dump($server, $name))), '', "$name: a dump differs in nothing else");
	($rc, $out, $err) = as_app($server, $name, q{SELECT snowflake_convert_all('public')});
	is("$rc $out", '0 ', '... and nothing is left to convert') or diag($err);

	# Rows in the same tables
	my ($filled_again, $why) = fill_tables($server, $name, $rows, 1);
	is("@$filled_again", "@$filled", "$name: the same tables take rows") or diag($why);
	my %filled = map { $_ => 1 } @$filled;
	my @without = grep {
		my ($table, $column) = @$_;
		$filled{$table} && $server->safe_psql($name, "SELECT count(DISTINCT $column) FROM $table WHERE snowflake_timestamp($column) > now() - interval '1 hour'") != $rows
	} @keys;
	is(join(' ', map { "$_->[0].$_->[1]" } @without), '', '... and each row has an id');
	run_part($name, 'after');
	is(join("\n", @report) . "\n", schema_file($name, 'expected'), "$name: the numbers are the expected ones");
	$sum{tables} += $tables;
	$sum{keys} += @keys;
	$sum{foreign_keys} += $foreign_keys;
	$sum{rewritten} += keys %$rewritten;
}
figures('%d schemas with %d tables, %d keys and %d foreign keys; %d tables rewritten; warnings of %d objects; conversions took %.1f s, the longest %.1f s (%s)', scalar(@names),
	@sum{qw(tables keys foreign_keys rewritten warned)}, sum(values %took), map { ($took{$_}, $_) } (sort { $took{$b} <=> $took{$a} } keys %took)[0]);

sub run_part
{
	my ($schema, $moment) = @_;
	my $sql = fix_part($schema, $moment) or return;
	my ($status, $output, $error) = as_app($server, $schema, $sql);
	is($status, 0, "$schema: the statements for \"$moment\"") or diag($error);
	return;
}

# What an error says, without the numbers of lines.
sub refusals
{
	my ($text) = @_;
	my ($found) = $text =~ /(ERROR: .*)/s;
	return grep { !/^(LOCATION|CONTEXT|SQL statement)/ } map { s/^(ERROR|DETAIL|HINT):\s+/$1: /r } split /\n/, $found // $text;
}

# How many statements of each kind there are.
sub count_statements
{
	my %kinds;
	for (split /\n/, $_[0])
	{
		my $kind = /^ALTER TABLE .* DROP CONSTRAINT/ ? 'drop foreign keys' : /^ALTER TABLE .* ADD CONSTRAINT/ ? 'add foreign keys' : /^(ALTER TABLE|ALTER SEQUENCE|DROP SEQUENCE|COMMENT)/ ? lc $1 : 'other';
		$kinds{$kind}++;
	}
	return map { "statements, $_: $kinds{$_}" } sort keys %kinds;
}

done_testing();
