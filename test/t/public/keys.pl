# The keys of masked ids. If the file is missing, empty, readable by others, malformed or contains a
# number twice, it is refused, at the start of the server and by a reload, and the old keys stay.
# Keys change while sessions run. Texts from before two rotations can still be read. The keys appear
# in no dump, log, view, error or statistics.
#
# If the server does not preload the library, each session reads the file when it loads the library.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $seed = seed();
srand($seed);
my ($libraries) = run_command([ 'pg_config', '--pkglibdir' ]);
my $statements = -e "$libraries/pg_stat_statements.so";
my $preloaded = preloading() =~ /^shared/;
my $server = new_server('keys', patient => 1, conf => "log_statement = all\nlog_min_messages = debug1\n"
	  . ($statements ? "shared_preload_libraries = '" . ($preloaded ? 'snowflake, ' : '') . "pg_stat_statements'\npg_stat_statements.track_utility = on\n" : ''));
my $path = $server->basedir . '/keys';

sub new_key { return join '', map { sprintf '%02x', int rand 256 } 1 .. 32; }
my %key = map { ($_ => new_key()) } 1, 2, 3, 57;

# Writes a file with these lines that other users may not read.
sub write_keys
{
	my ($text, $mode) = @_;
	unlink $path;
	append_to_file($path, $text);
	chmod $mode // 0600, $path or die "$path: $!";
	return;
}
sub lines { return join '', map { "$_ $key{$_}\n" } @_; }

sub reload
{
	my $from = -s $server->logfile;
	$server->reload;
	wait_until('the server to reload', sub { slurp_file($server->logfile, $from) =~ /received SIGHUP/ });
	return $from;
}

# What the server's log has said about the file since then.
sub refusal
{
	my ($from) = @_;
	my $text = '';
	wait_until('the log', sub { ($text = slurp_file($server->logfile, $from)) =~ /contains errors|invalid value for parameter "snowflake.mask_key_file"/ });
	return $text;
}

my $mask = q{SELECT snowflake_mask(249788568795254815, 'order')};
my $advised = q{SELECT advice ~ 'the file of snowflake.mask_key_file was refused.*reload' FROM snowflake_status};
my %text;

### Without keys

start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $statements;
my ($state, $error) = query_error($server, 'postgres', $mask);
is($state, '55000', 'without a file there is no key');
like($error, qr/HINT:.*snowflake\.mask_key_file.*|DETAIL:.*snowflake\.mask_key_file/, '... and the error names the setting');
is((query_error($server, 'postgres', q{SELECT snowflake_unmask('order_2aaaaaaaaaaaaaa', 'order')}))[0], '55000', '... to read, either');
is($server->safe_psql('postgres', $advised), '', '... which is no reason for advice');

### Rotation, in a session that runs

write_keys("# a comment\n\n" . lines(1));
$server->append_conf('postgresql.conf', "snowflake.mask_key_file = '$path'\n");
my $session = $server->background_psql('postgres', on_error_stop => 0);
reload();
wait_until('the session to have the keys', sub { $session->query('SELECT current_setting(\'snowflake.mask_key_file\')') eq $path });
$text{1} = $session->query_safe($mask);
like($text{1}, qr/^order_2[1-9A-HJ-NP-Za-km-z]{14}$/, 'a text of key 1');
for my $number (2, 57)
{
	write_keys(lines($number == 2 ? (1, 2) : (1, 2, 57)));
	reload();
	wait_until("the session to have key $number", sub { ($text{$number} = $session->query_safe($mask)) ne $text{ $number == 2 ? 1 : 2 } });
	like($text{$number}, $number == 2 ? qr/^order_3/ : qr/^order_z/, "a text of key $number, in the same session");
	for my $older (sort { $a <=> $b } keys %text)
	{
		is($session->query_safe("SELECT snowflake_unmask('$text{$older}', 'order')"), '249788568795254815', "... the text of key $older is read");
	}
}
is($server->safe_psql('postgres', $mask), $text{57}, 'a new session masks with the same key');
# A number gets another key, and then its own key again.
write_keys(lines(1, 2) . "57 $key{3}\n");
reload();
my $other;
wait_until('the session to have another key 57', sub { ($other = $session->query_safe($mask)) ne $text{57} });
like($other, qr/^order_z/, 'a number that gets another key makes another text');
is($session->query_safe("SELECT snowflake_unmask('$other', 'order')"), '249788568795254815', '... which is read');
$session->query("SELECT snowflake_unmask('$text{57}', 'order')");
like($session->{stderr}, qr/check bits are wrong/, '... and texts of the other key are not');
$session->{stderr} = '';
write_keys(lines(1, 2, 57));
reload();
is(wait_until('the session to have its key again', sub { $session->query_safe($mask) eq $text{57} }), 1, '... until it has its own again');
$server->restart;
is($server->safe_psql('postgres', "SELECT snowflake_unmask('$_', 'order')"), '249788568795254815', 'texts from before two rotations and a restart are read')
  for values %text;

### Files that are refused

my $fifo = $server->basedir . '/fifo';
system_or_bail('mkfifo', '-m', '0600', $fifo);
my @refused = (
	[ 'missing' => sub { unlink $path }, qr/Could not open the file: No such file or directory/ ],
	[ 'empty' => sub { write_keys('') }, qr/The file has no key/ ],
	[ 'comments alone' => sub { write_keys("# $key{1}\n") }, qr/The file has no key/ ],
	[ 'readable by the group' => sub { write_keys(lines(1), 0640) }, qr/group or world access/ ],
	[ 'readable by others' => sub { write_keys(lines(1), 0604) }, qr/group or world access/ ],
	[ 'writable by others' => sub { write_keys(lines(1), 0602) }, qr/group or world access/ ],
	[ 'unreadable' => sub { write_keys(lines(1), 0200) }, qr/Could not open the file: Permission denied/ ],
	[ 'malformed' => sub { write_keys(lines(1) . "2 " . substr($key{2}, 1) . "\n") }, qr/Line 2 is not a number and a key/ ],
	[ 'without numbers' => sub { write_keys("$key{1}\n") }, qr/Line 1 is not a number and a key/ ],
	[ 'bytes' => sub { write_keys("\xff" . join '', map { chr int rand 256 } 1 .. 200) }, qr/Line \d+ is not a number and a key|number in line/ ],
	[ 'number 0' => sub { write_keys("0 $key{1}\n") }, qr/The number in line 1 is not 1 to 57/ ],
	[ 'number 58' => sub { write_keys("58 $key{1}\n") }, qr/The number in line 1 is not 1 to 57/ ],
	[ 'a number twice' => sub { write_keys(lines(1, 2) . "1 $key{3}\n") }, qr/Line 3 has number 1, which an earlier line has/ ],
	[ 'too large' => sub { write_keys(lines(1) . ("#\n" x 10000)) }, qr/more than 16384 bytes/ ],
	[ 'a directory' => sub { unlink $path; mkdir $path, 0700 }, qr/It is not a regular file/ ],
	[ 'a pipe' => sub { rmdir $path; rename $fifo, $path }, qr/It is not a regular file/ ]);

$session = $server->background_psql('postgres', on_error_stop => 0);
$session->query_safe($mask);
for my $case (@refused)
{
	my ($name, $make, $reason) = @$case;
	$make->();
	my $from = reload();
	if ($preloaded) { like(refusal($from), $reason, "$name: a reload refuses it, and says why"); }
	is($session->query_safe($mask), $text{57}, "$name: a session keeps its keys");
	my ($new_state, $said) = query_error($server, 'postgres', $preloaded ? $mask : "LOAD 'snowflake'; $mask");
	is($new_state, $preloaded ? '00000' : '55000', '... a new one has what the server has, or reads the file itself');
	like($said, $reason, '... and says why not') unless $preloaded;
	# Its signal may come after the server's own line.
	ok(wait_until('its line', sub { $session->query_safe($mask); slurp_file($server->logfile, $from) =~ /LOG:.*could not use the keys in file.*\n.*DETAIL:.*$reason/ }),
		'... and the old one logs it');
	is($session->query_safe($advised), 't', '... the status says it, in the old session');
	is($server->safe_psql('postgres', $advised), 't', '... and in a new one');
	like($server->safe_psql('postgres', q{SELECT coalesce(error, '') FROM pg_file_settings WHERE name = 'snowflake.mask_key_file'}),
		qr/could not be applied/, '... pg_file_settings shows it') if $preloaded;
	# A parallel worker does not read the file.
	is($server->safe_psql('postgres', q{SET debug_parallel_query = on; SELECT count(*) FROM pg_class WHERE oid < 0}), '0', '... and parallel queries run')
	  if $name eq 'missing' && $server->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'debug_parallel_query'});
	my ($refused_state) = query_error($server, 'postgres', "LOAD 'snowflake'; ALTER SYSTEM SET snowflake.mask_key_file = '$path'");
	is($refused_state, '22023', '... ALTER SYSTEM refuses it');
}
unlink $path;
write_keys(lines(1, 2, 57));
reload();
ok(wait_until('no advice', sub { $session->query_safe($advised) eq '' && $server->safe_psql('postgres', $advised) eq '' }), 'when the file is right again, there is no advice');
# A file that a command tries is not the server's.
my $tried = -s $server->logfile;
$session->query(q{ALTER SYSTEM SET snowflake.mask_key_file = '/nonexistent'});
like($session->{stderr}, qr/invalid value for parameter "snowflake.mask_key_file"/, 'ALTER SYSTEM refuses a missing file');
$session->{stderr} = '';
is($session->query_safe($advised), '', '... which is no reason for advice');
unlike(slurp_file($server->logfile, $tried), qr/could not use the keys/, '... and none for the log');
$session->quit;
unlink $path;

# The server starts without keys, and reads them at a reload.
my $before = -s $server->logfile;
$server->restart;
$server->safe_psql('postgres', "LOAD 'snowflake'");
like(slurp_file($server->logfile, $before), qr/WARNING:.*invalid value for parameter "snowflake.mask_key_file"/, 'missing at the start: a warning');
is((query_error($server, 'postgres', $mask))[0], '55000', '... and there is no key');
is($server->safe_psql('postgres', $advised), 't', '... which the status says before anybody has asked for an id');
is($server->safe_psql('postgres', 'SELECT advice FROM snowflake_metrics'), '1', '... and the metrics count');
is($server->safe_psql('postgres', 'SELECT snowflake_nextval() > 0'), 't', '... but there are ids');
write_keys(lines(1, 2, 57));
reload();
is(wait_until('the keys', sub { (query_error($server, 'postgres', $mask))[0] eq '00000' }), 1, '... until the file is there and a reload');
is($server->safe_psql('postgres', $advised), '', '... nor advice');

### Texts that are refused

my %wrong = (
	'another prefix' => [ "'" . ($text{57} =~ s/order/item/r) . "', 'order'", '22P02', qr/prefix is "item" instead of "order"/ ],
	'no prefix' => [ "'" . ($text{57} =~ s/order_//r) . "', 'order'", '22P02', qr/no prefix; "order" is expected/ ],
	'the prefix of another text' => [ "'" . ($text{57} =~ s/order/item/r) . "', 'item'", '22P02', qr/check bits are wrong/ ],
	'another key' => [ "'" . ($text{57} =~ s/_z/_2/r) . "', 'order'", '22P02', qr/check bits are wrong/ ],
	'a key that is not there' => [ "'" . ($text{57} =~ s/_z/_4/r) . "', 'order'", '22P02', qr/no key with the number 3/ ],
	'key 0' => [ "'" . ($text{57} =~ s/_z/_1/r) . "', 'order'", '22P02', qr/no key with the number 0/ ],
	'a digit less' => [ "'" . substr($text{57}, 0, -1) . "', 'order'", '22P02', qr/14 digits after the prefix instead of 15/ ],
	'a digit more' => [ "'$text{57}1', 'order'", '22P02', qr/16 digits after the prefix instead of 15/ ],
	'no digits' => [ q{'order_', 'order'}, '22P02', qr/0 digits/ ],
	'a foreign character' => [ "'" . substr($text{57}, 0, -1) . "0', 'order'", '22P02', qr/not a digit of base58/ ],
	'above 80 bits' => [ q{'order_zzzzzzzzzzzzzzz', 'order'}, '22P02', qr/above all masked ids/ ],
	'an invalid prefix' => [ "'$text{57}', 'Order'", '22023', qr/invalid prefix/ ]);
for my $name (sort keys %wrong)
{
	my ($arguments, $expected, $detail) = @{ $wrong{$name} };
	($state, $error) = query_error($server, 'postgres', "SELECT snowflake_unmask($arguments)");
	is($state, $expected, "$name is refused");
	like($error, $detail, '... with the reason');
}
is($server->safe_psql('postgres', q{SELECT snowflake_mask(NULL, 'a') IS NULL AND snowflake_mask(1, NULL) IS NULL AND snowflake_unmask(NULL, 'a') IS NULL AND snowflake_unmask('a', NULL) IS NULL}),
	't', 'null in, null out');

### Many ids

my $trials = $ENV{SNOWFLAKE_TRIALS} || 200_000;
my @counts = split /\|/, $server->safe_psql('postgres', qq{
	SELECT count(*), count(DISTINCT masked COLLATE "C"), count(*) FILTER (WHERE snowflake_unmask(masked, 'order') = id), count(*) FILTER (WHERE masked COLLATE "C" > before)
	FROM (SELECT id, masked, lag(masked) OVER (ORDER BY id) AS before
		FROM (SELECT id, snowflake_mask(id, 'order') AS masked FROM generate_series(249788568795254815, 249788568795254814 + $trials) id) m) o});
is($counts[1], $trials, 'masked ids are distinct');
is($counts[2], $trials, '... and read again');
# The texts rise as often as they fall. The limit is six standard deviations of a runs-up count,
# sqrt(n / 12) each.
cmp_ok(abs($counts[3] - $trials / 2), '<', 6 * sqrt($trials / 12), '... and ids in order give texts in no order');
figures('%d masked ids are distinct, %d texts are above the one before, seed %d', @counts[ 0, 3 ], $seed);
is($server->safe_psql('postgres', q{SELECT bool_and(snowflake_unmask(snowflake_mask(id, p), p) = id)
	FROM (VALUES (0), (1), (-1), (9223372036854775807), (-9223372036854775808)) v(id), (VALUES (''), ('a'), (repeat('z', 63)), ('a_b')) w(p)}),
	't', 'zero, negative and extreme ids, empty and long prefixes');

### Places that do not contain the keys

$server->safe_psql('postgres', q{CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake_nextval());
	INSERT INTO orders SELECT FROM generate_series(1, 1000); ANALYZE orders;
	CREATE VIEW api AS SELECT snowflake_mask(id, 'order') AS id FROM orders});
like($server->safe_psql('postgres', q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT FROM orders WHERE id = snowflake_unmask('} . $text{57} . q{', 'order')}),
	qr/Index.*orders_pkey/, 'a look-up uses the index');
my ($dump) = run_command([ 'pg_dumpall', '-d', $server->connstr('postgres') ]);
my $seen = $dump . $server->safe_psql('postgres', q{SELECT json_agg(s) FROM pg_settings s; SELECT json_agg(a) FROM pg_stat_activity a; SELECT json_agg(f) FROM pg_file_settings f; TABLE api})
  . ($statements ? $server->safe_psql('postgres', 'SELECT json_agg(s) FROM pg_stat_statements s') : '')
  . slurp_file($server->logfile);
like($seen, qr/snowflake_mask\(\$\d/, 'pg_stat_statements has the calls') if $statements;
cmp_ok(length $seen, '>', 100_000, 'dump, views and log');
# Any part of a key, in either case, and its bytes.
for my $number (sort { $a <=> $b } keys %key)
{
	my $hex = $key{$number};
	my @parts = map { substr $hex, $_, 16 } 0, 16, 32, 48;
	is(scalar(grep { index(lc $seen, $_) >= 0 || index($seen, pack 'H*', $_) >= 0 } @parts), 0, "... have nothing of key $number");
}

$server->stop('fast');
done_testing();
