# With keep_sequence, an application whose sessions call nextval() themselves goes on while its tables
# are converted: in one step, all of a schema, online, and by CALL. No session sees an error, and no
# number or id is given twice. Without it they fail: a control. The dry run says what such numbers are,
# the conversion in one step never waits for a session that has called nextval(), and a dump has the
# sequence.
# Not in the default run: it starts some 300 processes.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $db = 'postgres';
my $server = new_server('server', patient => 1, conf => "fsync = off\nlog_statement = none\n");
start_server($server);
sub sql { my ($sql, $dbname) = @_; return $server->safe_psql($dbname // $db, $sql); }
sql('CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_nextval()');

sub make_schema
{
	my ($s, $serial, $refers) = @_;
	sql("CREATE SCHEMA $s; CREATE TABLE $s.t (id $serial PRIMARY KEY, how text); CREATE TABLE $s.c (t_id $refers REFERENCES $s.t);
		INSERT INTO $s.t (how) SELECT 'before' FROM generate_series(1, 1000)");
	return;
}

# Sessions that call nextval() long before the insert, for many rows, with a row that refers, and that
# leave it to the default.
sub load
{
	my ($s) = @_;
	return start_clients($server, 4, <<"SQL" x 25, rest => 0);
BEGIN;
SELECT nextval('$s.t_id_seq') AS number \\gset
SELECT FROM pg_sleep(@{[ rand(0.03) ]});
INSERT INTO $s.t (id, how) VALUES (:number, 'own') RETURNING id;
INSERT INTO $s.c VALUES (:number);
COMMIT;
INSERT INTO $s.t (id, how) SELECT nextval('$s.t_id_seq'), 'own' FROM generate_series(1, 5) RETURNING id;
INSERT INTO $s.t (how) VALUES ('default') RETURNING id;
SQL
}

sub errors_of { my ($load) = @_; return grep { /ERROR/ } map { my $err = $_ =~ s/\.out$/.err/r; -e $err ? split /\n/, slurp_file($err) : () } @{ $load->{files} }; }
sub rows { my ($s, $where) = @_; return sql("SELECT count(*) FROM $s.t WHERE $where"); }
sub goes_on
{
	my ($s, $load) = @_;
	my $there = rows($s, q{how = 'own'});
	return wait_until('rows', sub { rows($s, q{how = 'own'}) > $there + 100 }, sub { errors_of($load) });
}

# Runs the statements that a call returns, one by one.
sub run_returned
{
	my ($call) = @_;
	my ($rc, $out, $err) = $server->psql($db, "$call \\gexec", on_error_stop => 1);
	return $rc == 0 ? '' : $err;
}

sub run_alone { my ($call) = @_; my ($state, $text) = query_error($server, $db, $call); return $state eq '00000' ? '' : $text; }

my $said = qr/sequence \w+\.t_id_seq stays.*numbers that other servers issue, too\. These are smaller than new ids: readers that ask for ids above the last one never see their rows\..*DROP SEQUENCE \w+\.t_id_seq;/s;
my ($numbers, $ids, $twice, $errors) = (0, 0, 0, 0);
# Name, types, a dry run, how it is converted.
for my $way (
	[ 'wide', 'bigserial', 'bigint', q{SELECT snowflake_convert('S.t', 'id', dry_run => true, keep_sequence => true)}, sub { run_alone(q{SELECT snowflake_convert('wide.t', 'id', keep_sequence => true)}) } ],
	[ 'narrow', 'serial', 'integer', q{SELECT snowflake_convert('S.t', 'id', dry_run => true, keep_sequence => true)}, sub { run_alone(q{SELECT snowflake_convert('narrow.t', 'id', keep_sequence => true)}) } ],
	[ 'all_keys', 'serial', 'integer', q{SELECT snowflake_convert_all('S', dry_run => true, keep_sequence => true)}, sub { run_alone(q{SELECT snowflake_convert_all('all_keys', keep_sequence => true)}) } ],
	[ 'call', 'bigserial', 'bigint', q{CALL snowflake_convert_defaults('S', dry_run => true, keep_sequence => true)}, sub { run_alone(q{CALL snowflake_convert_defaults('call', keep_sequence => true, max_wait => '1s')}) } ],
	[ 'online', 'serial', 'integer', q{SELECT snowflake_convert('S.t', 'id', online => true, keep_sequence => true, max_wait => '1s')}, sub {
			my $call = q{SELECT s FROM snowflake_convert('online.t', 'id', online => true, keep_sequence => true, max_wait => '1s') AS s};
			my $failed = run_returned("$call WHERE s !~ 'check_switch'");
			is(sql(q{SELECT pg_get_serial_sequence('online.t', 'id') IS NULL}), 't', 'online: before the switch, the sequence passes to the new column');
			$failed .= run_returned(q{SELECT snowflake_convert('online.t', 'id', online => true, abandon => true, keep_sequence => true, max_wait => '1s')});
			is(sql(q{SELECT pg_get_serial_sequence('online.t', 'id'), pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'online.t'::regclass}),
				q{online.t_id_seq|nextval('online.t_id_seq'::regclass)}, '... and is given back if it is abandoned');
			return $failed . run_returned($call);
	} ])
{
	my ($s, $serial, $refers, $dry, $convert) = @$way;
	make_schema($s, $serial, $refers);
	my $load = load($s);
	ok(goes_on($s, $load), "$s: sessions insert numbers of their own");
	my (undef, $out, $err) = $server->psql($db, $dry =~ s/S\b/$s/r);
	like($err, $said, '... the dry run says what they are, and what drops the sequence');
	unlike($out, qr/DROP SEQUENCE/, '... but does not return it');
	is($convert->(), '', '... the table is converted');
	ok(goes_on($s, $load), '... and the sessions go on');
	stop_clients($load);
	my @failed = errors_of($load);
	is("@failed", '', '... without an error');
	my ($told, $told_twice) = compare_ids(@{ $load->{files} });
	is($told_twice, 0, "... no number and no id of $told twice");
	is(sql(qq{SELECT pg_get_serial_sequence('$s.t', 'id'), format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid)
		FROM pg_attribute JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = '$s.t'::regclass AND attname = 'id'}),
		"$s.t_id_seq|bigint|snowflake_nextval()", '... the sequence still belongs to the column, which takes ids');
	my ($own, $default) = (rows($s, q{how = 'own'}), rows($s, q{how = 'default' AND id > 1e12}));
	is(rows($s, q{how = 'own' AND id > 1e12}), 0, "... which $own numbers are not");
	cmp_ok($default, '>', 0, '... and others are');
	is(rows($s, q{how <> 'before'}), $told, '... each row is there');
	$numbers += $own;
	$ids += $default;
	$twice += $told_twice;
	$errors += @failed;
}

# Without keep_sequence.
make_schema('control', 'bigserial', 'bigint');
my $load = load('control');
ok(goes_on('control', $load), 'control: sessions insert numbers of their own');
is(run_alone(q{CALL snowflake_convert_defaults('control', max_wait => '1s')}), '', '... the table is converted without keep_sequence');
wait_until('errors', sub { errors_of($load) });
stop_clients($load);
my @failed = errors_of($load);
like("@failed", qr/relation "control\.t_id_seq" does not exist/, '... and they fail');

# A session has called nextval().
make_schema('held', 'serial', 'integer');
my $holder = $server->background_psql($db, on_error_die => 1);
my $number = $holder->query_safe(q{BEGIN; SELECT nextval('held.t_id_seq')});
my $convert = q{SET lock_timeout = '2s'; BEGIN; SELECT snowflake_convert('held.t', 'id'%s)};
is((query_error($server, $db, sprintf $convert, ''))[0], '55P03', 'a conversion in one step waits for a session that has called nextval()');
is(sql(sprintf("$convert; SELECT count(*) FROM pg_locks WHERE mode NOT IN ('AccessShareLock', 'RowExclusiveLock') AND relation = 'held.t_id_seq'::regclass AND pid = pg_backend_pid(); COMMIT", ', keep_sequence => true')) =~ s/.*\n//sr, '0', '... but keeps nobody from a sequence that stays');
$holder->query_safe("INSERT INTO held.t VALUES ($number, 'own'); COMMIT");
$holder->quit;
is(rows('held', "id = $number"), 1, '... and that session inserts its number');

# A dump.
sql('CREATE DATABASE restored');
my $file = $server->basedir . '/dump.sql';
run_command([ 'pg_dump', '-f', $file, '-d', $server->connstr($db) ]);
my (undef, $error) = run_command([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('restored'), '-f', $file ]);
is($error, '', 'a dump is restored');
is(sql(q{INSERT INTO held.t VALUES (nextval(pg_get_serial_sequence('held.t', 'id')), 'own') RETURNING id}, 'restored'), $number + 1, '... the sequence is there, belongs to the column and goes on');
is(sql(q{INSERT INTO held.t (how) VALUES ('default') RETURNING id > 1e12}, 'restored'), 't', '... which takes ids');
is(sql(q{DROP TABLE held.t CASCADE; SELECT to_regclass('held.t_id_seq') IS NULL}, 'restored'), 't', '... and goes with the table');

# The CALL's dry run counts the keys of which only a sequence is left.
sql('CREATE SCHEMA rest; CREATE TABLE rest.a (id bigserial PRIMARY KEY); CREATE TABLE rest.b (id bigserial PRIMARY KEY)');
sql(q{CALL snowflake_convert_defaults('rest', keep_sequence => true)});
my $said = sub { return ($server->psql($db, "CALL snowflake_convert_defaults('rest'$_[0])"))[2] };
like($said->(', dry_run => true, keep_sequence => true'), qr/all keys of schema rest already take/, 'nothing is left to do for sequences that stay');
like($said->(', dry_run => true'), qr/2 keys of schema rest would take/, '... without keep_sequence there is');
like($said->(''), qr/2 keys of schema rest now take/, '... as the call says');

# It would give numbers that snowflake_nextval() issues, too.
sql(q{CREATE TABLE large (id bigserial PRIMARY KEY); SELECT setval('large_id_seq', snowflake_id_at(now() + interval '1 day'))});
my ($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('large', 'id', keep_sequence => true)});
is($state, '55000', 'a sequence that has reached new ids cannot stay');
like($text, qr/sequence public\.large_id_seq has issued numbers that are as large as new ids/, '... and is named');
sql(q{SELECT snowflake_convert('large', 'id')});

figures('5 ways with seed %d, %d numbers and %d ids, %d twice, %d errors, %d in the control', $seed, $numbers, $ids, $twice, $errors, scalar @failed);
$server->stop('fast');
done_testing();
