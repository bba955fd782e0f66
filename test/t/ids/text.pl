# Ids as text in databases of every kind of encoding. The digits are the same in all of them. An
# error shows a foreign character as a whole and counts it as one, however many bytes it has in that
# encoding.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('text', preload => 0);
start_server($server);

# The characters as the client sends them, in UTF-8.
my %characters = (
	"\x{c3}\x{a9}" => 'e acute',
	"\x{e6}\x{97}\x{a5}" => 'kanji',
	"\x{e2}\x{82}\x{ac}" => 'euro',
	"\x{f0}\x{9f}\x{98}\x{80}" => 'emoji');
my %holds = (
	UTF8 => [ 'e acute', 'kanji', 'euro', 'emoji' ],
	LATIN1 => ['e acute'],
	LATIN9 => [ 'e acute', 'euro' ],
	EUC_JP => ['kanji'],
	# Accepts any bytes, and has no multibyte characters.
	SQL_ASCII => []);

for my $encoding (sort keys %holds)
{
	my $db = lc $encoding;
	$server->safe_psql('postgres', "CREATE DATABASE $db ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
	is($server->safe_psql($db, q{SELECT string_agg(snowflake_to_text(249788568795254815, e), ' ')
		FROM (VALUES ('base32'), ('base58'), ('base62')) n(e)}),
		'06XVDC4ZZX40Z 1adWh8rfjUz 0IS27pUcdMV', "$encoding: the same digits");
	for my $character (sort keys %characters)
	{
		next unless grep { $_ eq $characters{$character} } @{ $holds{$encoding} };
		my ($state, $text) = query_error($server, $db,
			"SET client_encoding = 'UTF8'; SELECT snowflake_from_text('0IS${character}7p', 'base62')");
		my $name = "$encoding: $characters{$character}";
		is($state, '22P02', "$name is refused");
		like($text, qr/Character "\Q$character\E" at position 4 /, '... shown whole');
		# After hyphens and digits, at the end.
		(undef, $text) = query_error($server, $db,
			"SET client_encoding = 'UTF8'; SELECT snowflake_from_text('06-XVD-$character', 'base32')");
		like($text, qr/Character "\Q$character\E" at position 8 /, '... at the end of the text');
		($state, $text) = query_error($server, $db,
			"SET client_encoding = 'UTF8'; SELECT snowflake_to_text(1, '$character')");
		is($state, '22023', "$name as the name of an encoding");
		like($text, qr/unknown encoding "\Q$character\E"/, '... shown whole');
	}
}

my ($state, $text) = query_error($server, 'sql_ascii', "SELECT snowflake_from_text('0IS\x{c3}\x{a9}', 'base62')");
is($state, '22P02', 'SQL_ASCII: a byte');
like($text, qr/Character "\x{c3}" at position 4 /, '... is what there is to show');

# In the middle of a long text.
($state, $text) = query_error($server, 'utf8', "SET client_encoding = 'UTF8';
	SELECT snowflake_from_text(repeat('0', 100000) || '\x{c3}\x{a9}' || repeat('x', 100000), 'base62')");
is($state, '22P02', 'a long text');
like($text, qr/Character "\x{c3}\x{a9}" at position 100001 /, '... is searched to the first foreign character');
($state, $text) = query_error($server, 'utf8', q{SELECT snowflake_from_text(repeat('0', 1000000), 'base62')});
is($state, '22P02', 'a million digits');
like($text, qr/It has 1000000 digits instead of 11/, '... are counted');

$server->stop('fast');
done_testing();
