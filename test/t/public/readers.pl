# Compares the readers of doc/examples, in Python and JavaScript, with the server. They unmask what
# the server masks, of every size, sign, prefix and key, refuse what the server refuses, mask what
# the server unmasks, and read times and base58 like the server. The steps for a file of keys are
# taken from doc/public-ids.md.
#
# SNOWFLAKE_TRIALS sets the number of texts that the server masks.
# Not in the default run: it reads a hundred thousand texts of every kind, and needs 30 s of
# processor time for the masking by AES in Python and in JavaScript.

use strict;
use warnings;

use ClientsTest qw(program_in write_program);
use IPC::Run;
use JSON::PP;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $page = 'doc/public-ids.md';
my $this = 't/public/readers';
my $trials = $ENV{SNOWFLAKE_TRIALS} // 100_000;
my $seed = seed();
my $alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

# A block of the page that names this test.
sub mine
{
	my ($what, $language) = @_;
	my $block = find_block($page, $what, $language);
	die "$page:$block->{line} is not run by $this\n" unless ($block->{test} // '') eq $this;
	return $block;
}

my $server = new_server('readers', preload => 1, patient => 1, conf => "autovacuum = off\nlog_statement = none\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my ($state) = query_error($server, 'postgres', q{SELECT snowflake_mask(1, 'a')});
if ($state eq '0A000')
{
	$server->stop('fast');
	plan skip_all => 'the library was built without libcrypto: there is nothing to read';
}
is($state, '55000', 'without a file of keys nothing is masked');

my $folder = PostgreSQL::Test::Utils::tempdir();
my $file = "$folder/snowflake.keys";

sub write_keys
{
	my (@lines) = @_;
	unlink $file;
	my $umask = umask 077;
	append_to_file($file, join '', map { "$_\n" } @lines);
	umask $umask;
	return;
}

# The digit that shows which key masks, in a new session.
sub masking_digit
{
	my ($rc, $out) = $server->psql('postgres', q{SELECT left(snowflake_mask(0, ''), 1)});
	return $rc == 0 ? $out : 'none';
}

# Makes the server read the file. Sessions that start afterwards have its keys.
sub reload
{
	my $load_time = 'SELECT pg_conf_load_time()';
	my $before = $server->safe_psql('postgres', $load_time);
	$server->reload;
	return wait_until('the reload', sub { $server->safe_psql('postgres', $load_time) ne $before });
}

### The page's steps for a file of keys

my $make = mine('snowflake\.keys', 'sh')->{text};
my $set = mine('snowflake\.mask_key_file')->{text};
for ($make, $set) { s{/etc/postgresql/snowflake\.keys}{$file} or die "$page: no file of keys in $_\n"; }
if (program_in('openssl'))
{
	my ($out, $err);
	ok(IPC::Run::run([ 'sh', '-c', $make ], '>', \$out, '2>', \$err), 'the page makes a file of keys') or diag($err);
	like(slurp_file($file), qr/^1 [0-9a-f]{64}\n$/, '... with one key');
	is(sprintf('%04o', (stat $file)[2] & 07777), '0600', '... that only its owner may read');
	my $key = slurp_file($file);
	ok(!IPC::Run::run([ 'sh', '-c', $make ], '>', \$out, '2>', \$err) && slurp_file($file) eq $key, '... and replaces none');
}
else
{
	print { Test::More->builder->failure_output } "# skipped: the page's file of keys: openssl is not installed\n";
	write_keys("1 " . 'ab' x 32);
}
my ($rc, undef, $err) = $server->psql('postgres', $set, on_error_stop => 1);
is("$rc $err", '0 ', 'the server is told of it');
ok(wait_until('the first key', sub { masking_digit() eq '2' }), '... and masks');

# The example's key.
my ($example_key) = slurp_file($page) =~ /`([0-9a-f]{64})`/ or die "$page: no key of the example\n";
my $example = mine('SELECT snowflake_mask\(\d');
my ($example_id, $example_prefix) = $example->{text} =~ /snowflake_mask\((\d+), '(\w+)'\)/ or die "$page: no id in the example\n";
my ($example_text) = $example->{output} =~ /^ *(order_\w+)$/m or die "$page: no text in the example\n";
write_keys("# The example.", '', "1 $example_key");
reload();
is($server->safe_psql('postgres', $example->{text}), $example_text, 'the example of the page');
is($server->safe_psql('postgres', "SELECT snowflake_unmask('$example_text', '$example_prefix')"), $example_id, '... is unmasked');

my $lookup = mine('PREPARE one_item')->{text};
my $item_text = $server->safe_psql('postgres', q{CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer);
	INSERT INTO item (n) SELECT generate_series(1, 10000);
	ANALYZE item;
	SELECT snowflake_mask(id, 'item') FROM item WHERE n = 77});
my @plan_and_row = split /\n/, $server->safe_psql('postgres', "$lookup; EXPLAIN (COSTS OFF) EXECUTE one_item('$item_text'); EXECUTE one_item('$item_text')");
like($plan_and_row[0], qr/^Index Scan using item_pkey on item/, 'the query of the page uses the primary key');
like($plan_and_row[-1], qr/^\d+\|77$/, '... and finds the row');

### Masked texts of the server

my %keys = (1 => undef, 57 => undef);
$keys{ 2 + int rand 55 } = undef while keys %keys < 5;
$keys{$_} = join '', map { sprintf '%08x', int rand 2**32 } 1 .. 8 for sort keys %keys;
# Near the lengths at which FF1 needs another block for the tweak, and the greatest length.
my @prefixes = ('', 'a', 'order', 'a_b', map { join '', map { chr(97 + int rand 26) } 1 .. $_ } 9, 10, 11, 25, 26, 27, 42, 43, 62, 63);
my $prefix_array = 'ARRAY[' . join(',', map { "'$_'" } @prefixes) . ']::text[]';
$server->safe_psql('postgres', <<"SQL");
CREATE UNLOGGED TABLE trial (id bigint, prefix text, masked text);
-- Of every size and sign.
CREATE FUNCTION random_id(n bigint) RETURNS bigint IMMUTABLE LANGUAGE sql
RETURN hashint8extended(n, $seed) >> (hashint8extended(n, $seed + 1) & 63)::integer;
CREATE FUNCTION prefix_of(n bigint) RETURNS text IMMUTABLE LANGUAGE sql
RETURN ($prefix_array)[1 + n % @{[ scalar @prefixes ]}];
-- What the server makes of a text.
CREATE FUNCTION verdict(masked text, prefix text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	RETURN snowflake_unmask(masked, prefix);
EXCEPTION WHEN SQLSTATE '22P02' THEN
	RETURN 'invalid';
END
\$\$;
SQL

my @order = sort { $a <=> $b } keys %keys;
my ($first, $last_key) = (0, undef);
for my $i (0 .. $#order)
{
	$last_key = $order[$i];
	write_keys(map { "$_ $keys{$_}" } (grep { $_ != $last_key } @order), $last_key);
	reload();
	is(masking_digit(), substr($alphabet, $last_key, 1), "key $last_key masks");
	my $end = int($trials * ($i + 1) / @order) - 1;
	$server->safe_psql('postgres', qq{
		INSERT INTO trial SELECT random_id(n), prefix_of(n), snowflake_mask(random_id(n), prefix_of(n)) FROM generate_series($first, $end) n;
		INSERT INTO trial SELECT id, prefix, snowflake_mask(id, prefix)
		FROM unnest(ARRAY[0, 1, -1, 1::bigint << 53, -1::bigint << 40, 1::bigint << 24, (1::bigint << 24) - 1, 9223372036854775807, -9223372036854775807 - 1]) id,
			unnest($prefix_array) prefix});
	$first = $end + 1;
}
my ($count, $sizes, $negative, $key_count) = split /\|/,
  $server->safe_psql('postgres', q{SELECT count(*), count(DISTINCT CASE WHEN id <> 0 THEN floor(log(2, abs(id::numeric))) END), count(*) FILTER (WHERE id < 0),
	count(DISTINCT left(right(masked, 15), 1)) FROM trial});
is($count, $trials + 9 * @prefixes * @order, "$count masked texts");
is($key_count, scalar @order, '... of all keys');
cmp_ok($sizes, '>=', 60, '... of ids of all sizes');
cmp_ok($negative, '>', $trials / 3, '... and both signs');
$server->safe_psql('postgres', "COPY trial TO '$folder/masked'");

# Changed texts, each with the server's result.
my $changed = 3000;
$server->safe_psql('postgres', <<"SQL");
CREATE UNLOGGED TABLE changed AS
WITH original AS (SELECT n, prefix_of(n) AS prefix, snowflake_mask(random_id(n), prefix_of(n)) AS masked FROM generate_series(1, $changed) n),
at AS (SELECT *, length(masked) - n / 5 % 15 AS place FROM original)
SELECT prefix, CASE n % 5
	WHEN 0 THEN overlay(masked PLACING substr('$alphabet', strpos('$alphabet', substr(masked, place, 1)) % 58 + 1, 1) FROM place FOR 1)
	WHEN 1 THEN CASE n % 3 WHEN 0 THEN 'b' || masked WHEN 1 THEN left(masked, -1) ELSE masked || '2' END
	WHEN 2 THEN overlay(masked PLACING substr('0OIl_', 1 + n / 5 % 5, 1) FROM place FOR 1)
	WHEN 3 THEN overlay(masked PLACING substr('$alphabet', 1 + n / 5 % 58, 1) FROM length(masked) - 14 FOR 1)
	ELSE masked END AS masked
FROM at;
COPY (SELECT verdict(masked, prefix), prefix, masked FROM changed) TO '$folder/changed';
SQL
my ($accepted) = $server->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE verdict(masked, prefix) <> 'invalid') FROM changed});
cmp_ok($accepted, '>=', $changed / 5, "of $changed texts, most of them changed, the server accepts those that are whole");
cmp_ok($accepted, '<', $changed / 4, '... and few others');

# Times and base58. No id was issued in the layout's first minute: the server returns no time for
# such numbers.
my $plain = int($trials / 5) + 1000;
$server->safe_psql('postgres', <<"SQL");
COPY (SELECT id, CASE WHEN id < 251658240000 THEN 'none' ELSE (extract(epoch FROM (snowflake_decode(id)).ts) * 1000)::bigint::text END,
		snowflake_to_text(id, 'base58')
	FROM (SELECT random_id(n) & 9223372036854775807 FROM generate_series(1, $plain - 1000) n UNION ALL SELECT snowflake_nextvals(1000)) i(id))
TO '$folder/plain';
SQL

### The readers

my $keys_json = encode_json({ map { $_ => $keys{$_} } keys %keys });
append_to_file("$folder/keys.json", $keys_json);

# Runs a program whose last line is JSON.
sub run_reader
{
	my ($what, @command) = @_;
	my ($out, $err) = ('', '');
	my $well = IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>', \$err);
	ok($well, "$what runs") or diag($err);
	return $well ? decode_json((split /\n/, $out)[-1]) : {};
}

sub all_agree
{
	my ($seen, $expected, $what) = @_;
	is($seen->{count}, $expected, "$what: $expected texts");
	is($seen->{wrong}, 0, '... all as the server reads them') or diag(explain($seen->{first}));
	return;
}

sub check_reader
{
	my ($language, @program) = @_;
	for ([ masked => $count ], [ changed => $changed ], [ plain => $plain ])
	{
		my ($kind, $expected) = @$_;
		all_agree(run_reader("$language, $kind", @program, "$folder/keys.json", "$folder/$kind", $kind), $expected, "$language, $kind");
	}
	figures('%s agrees on %d masked texts of %d keys and %d prefixes, %d changed ones (%d accepted), %d times and base58 texts',
		$language, $count, scalar @order, scalar @prefixes, $changed, $accepted, $plain);
	return;
}

my ($python_reader, $javascript_reader) = map { slurp_file("doc/examples/read_ids.$_") } 'py', 'mjs';

# Debian's package is for Debian's Python.
my ($python) = grep { IPC::Run::run([ $_, '-c', 'import cryptography' ], '2>', '/dev/null') }
  grep { defined } program_in('python3', '/usr/bin'), program_in('python3');
if ($python)
{
	my $program = write_program("$folder/reader.py", $python_reader, <<"PYTHON");
import json
import sys

example = unmask("$example_text", "$example_prefix", {1: bytes.fromhex("$example_key")})
if example != $example_id:
    sys.exit(f"the example is {example}")
keys = {int(number): bytes.fromhex(key) for number, key in json.load(open(sys.argv[1])).items()}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def unmasked(text, prefix):
    try:
        return str(unmask(text, prefix, keys))
    except ValueError:
        return "invalid"


count, wrong = 0, []
for line in open(sys.argv[2]):
    expected, middle, text = line.rstrip("\\n").split("\\t")
    if sys.argv[3] == "plain":
        time = str((time_of(int(expected)) - EPOCH) // timedelta(milliseconds=1))
        well = middle in (time, "none") and str(number_of(text)) == expected
    else:
        well = unmasked(text, middle) == expected
    count += 1
    if not well:
        wrong.append(line)
print(json.dumps({"count": count, "wrong": len(wrong), "first": wrong[:3]}))
PYTHON
	check_reader('Python', $python, $program);

	# The server unmasks what a program masks with the page's round function.
	my $by_python = int($trials / 5);
	$program = write_program("$folder/mask.py", $python_reader, <<"PYTHON");
import json
import random
import sys

keys = {int(number): bytes.fromhex(key) for number, key in json.load(open(sys.argv[1])).items()}
prefixes = @{[ encode_json(\@prefixes) ]}
random.seed($seed)


def mask(id, prefix, number):
    left, right = divmod(id % (1 << 64) << 16, 1 << 40)
    for turn in range(10):
        left, right = right, (left + round_value(keys[number], prefix.encode(), turn, right)) % (1 << 40)
    rest, digits = left << 40 | right, ""
    for place in range(14):
        rest, digit = divmod(rest, 58)
        digits = DIGITS[digit] + digits
    return (prefix + "_" if prefix else "") + DIGITS[number] + digits


with open(sys.argv[2], "w") as out:
    for n in range($by_python):
        id = random.getrandbits(64) - (1 << 63) >> random.randrange(64)
        prefix = random.choice(prefixes)
        print(id, prefix, mask(id, prefix, random.choice(list(keys))), sep="\\t", file=out)
print(json.dumps({"count": $by_python}))
PYTHON
	run_reader('masking in Python', $python, $program, "$folder/keys.json", "$folder/by_python");
	my $masking = substr $alphabet, $last_key, 1;
	my ($rows, $same, $with_last, $equal) = split /\|/, $server->safe_psql('postgres', <<"SQL");
CREATE UNLOGGED TABLE by_python (id bigint, prefix text, masked text);
COPY by_python FROM '$folder/by_python';
SELECT count(*), count(*) FILTER (WHERE verdict(masked, prefix) = id::text), count(*) FILTER (WHERE masked ~ '$masking.{14}\$'),
	count(*) FILTER (WHERE masked ~ '$masking.{14}\$' AND masked = snowflake_mask(id, prefix)) FROM by_python;
SQL
	is($rows, $by_python, "$by_python texts masked in Python");
	is($same, $by_python, '... the server unmasks all of them');
	cmp_ok($with_last, '>', $by_python / 10, '... some are masked with the key that masks here');
	is($equal, $with_last, '... and these are the texts that the server makes');
	figures('%d texts masked in Python are unmasked by the server', $same);
}
else
{
	print { Test::More->builder->failure_output } "# skipped: the readers in Python: python3-cryptography is not installed\n";
}

if (my $node = program_in('node'))
{
	my $program = write_program("$folder/reader.mjs", $javascript_reader, <<"JAVASCRIPT");
import { readFileSync } from 'node:fs'

const example = unmask('$example_text', '$example_prefix', { 1: Buffer.from('$example_key', 'hex') })
if (example !== ${example_id}n) throw new Error(`the example is \${example}`)
const [keyFile, textFile, kind] = process.argv.slice(2)
const keys = Object.fromEntries(Object.entries(JSON.parse(readFileSync(keyFile, 'utf8'))).map(([number, key]) => [number, Buffer.from(key, 'hex')]))
const unmasked = (text, prefix) => {
  try {
    return String(unmask(text, prefix, keys))
  } catch (error) {
    if (error instanceof RangeError) return 'invalid'
    throw error
  }
}
const lines = readFileSync(textFile, 'utf8').split('\\n').filter(line => line !== '')
const wrong = lines.filter(line => {
  const [expected, middle, text] = line.split('\\t')
  if (kind === 'plain') return ![String(timeOf(BigInt(expected)).getTime()), 'none'].includes(middle) || String(numberOf(text)) !== expected
  return unmasked(text, middle) !== expected
})
console.log(JSON.stringify({ count: lines.length, wrong: wrong.length, first: wrong.slice(0, 3) }))
JAVASCRIPT
	check_reader('JavaScript', $node, $program);
}
else
{
	print { Test::More->builder->failure_output } "# skipped: the readers in JavaScript: node is not installed\n";
}

is(join(', ', map { $_->{line} } grep { ($_->{test} // '') eq $this && !$_->{taken} } blocks_of($page)), '', 'every block that the page gives to this test');
$server->stop('fast');
done_testing();
