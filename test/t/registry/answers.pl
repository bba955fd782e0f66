# The node checks each response of the registry. An invalid response causes an error that says what
# is wrong, and the node uses no part of it. A response whose transaction was not confirmed is
# ignored.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use FakeRegistry;
use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $fake = FakeRegistry->new;
my $node = new_server('node', initdb => [ '--locale=C', '--encoding=UTF8' ], conf => qq{
snowflake.registry = 'host=127.0.0.1 port=@{[$fake->port]} dbname=x user=x'
snowflake.start_timeout = 200ms
snowflake.lease_duration = 5s
log_statement = none
});
start_server($node);
value($node, 'CREATE EXTENSION snowflake');

sub value { my ($server, $sql) = @_; return $server->safe_psql('postgres', $sql); }

# Requests an id until the error occurs.
sub refused
{
	my ($name, $error, %answers) = @_;
	$fake->answer(%answers);
	my $last = '';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until($name, sub {
		$node->psql('postgres', 'SELECT snowflake_nextval()');
		$last = status($node, q{coalesce(last_error_code || ' ' || last_error, '')});
		return $last =~ $error;
	}), $name) or diag("$last is not $error");
	return $last;
}

sub row { my ($columns, @row) = @_; return { columns => $columns, rows => [ \@row ] }; }

my $nonsense = qr/^08P01 invalid response from registry/;
my $layout = 'epoch=1735689600000 tick=1ms time=41 worker=10 seq=12';

refused('nothing', qr/$nonsense \(It has too few rows\.\)/, lookup => { rows => [] });
like((query_error($node, 'postgres', 'SELECT snowflake_nextval()'))[1], qr/HINT:  Check that snowflake\.registry leads to a registry/, '... with a hint');
refused('two rows', qr/$nonsense \(It has too many rows\.\)/, lookup => { rows => [ [ (1) x 12 ], [ (2) x 12 ] ] });
refused('too few columns', qr/$nonsense \(It has no column 3\.\)/, lookup => row([ 'a', 'b' ], 'public', 1));
refused('no column at all', qr/$nonsense \(It has no column 1\.\)/, layout => row([]));
refused('a null', qr/$nonsense \(Its column 2 is null\.\)/, lookup => { rows => [ [ 'public', undef, ('public') x 5, undef, '', 5, 6, 7 ] ] });
refused('a text for a number', qr/$nonsense \(Its column 2, "ours", is "many", which is not a valid bigint\.\)/, lookup => { rows => [ [ 'public', 'many', ('public') x 5, undef, '', 5, 6, 7 ] ] });
sub lease { my ($column, $value) = @_; my @row = (7, 3, 'NOW', 'END', $layout, 1, 1, -1, 1000); $row[$column] = $value; return (acquire => { rows => [ \@row ] }); }
refused('an empty number', qr/$nonsense \(Its column 1, "lease_id", is "", which is not a valid bigint\.\)/, lease(0, ''));
refused('a number with something behind it', qr/is "7;", which is not a valid bigint/, lease(0, '7;'));
refused('a number that is too large', qr/is "9223372036854775808", which is not a valid bigint/, lease(0, '9223372036854775808'));
refused('... for an integer', qr/Its column 2, "worker_id", is "2147483648", which is not a valid integer/, lease(1, 2147483648));
refused('a layout of a later version', qr/^55000 the registry has a layout that this version does not know \(It is "\Q$_\E"\.\)/, layout => { rows => [ [$_] ] })
  for "$layout galaxy=3", 'epoch=1735689600000 tick=1ms worker=10 time=41 seq=12', '';
refused('a layout of odd bytes', qr/does not know \(It is "\\xff\\xfe"\.\)/, layout => { rows => [ ["\xff\xfe"] ] });
refused('a layout that is too long', qr/$nonsense \(Its column 1, "answer", is "$layout /, layout => { rows => [ [ $layout . ' ' x 1000 ] ] });
refused('another layout', qr/^55000 the registry has another layout/, layout => { rows => [ ['epoch=1735689600000 tick=1ms time=41 worker=9 seq=13'] ] });
refused('... only with the lease', qr/^55000 the layout was changed meanwhile/, lease(4, 'epoch=1735689600000 tick=1ms time=41 worker=9 seq=13'));
refused('a row with a null in it', qr/Its column 3 is null/, lease(2, undef));
refused('an object id that is none', qr/Its column 10, "database", is "4294967296", which is not a valid oid/, lookup => { rows => [ [ 'public', 1, ('public') x 5, undef, '', 4294967296, 6, 7 ] ] });
refused('no function', qr/^55000 the registry's extension has no function snowflake_lease_acquire\(\) that this version can call/, lookup => { rows => [ [ 'public', 1, (undef) x 4, 'public', undef, '', 5, 6, 7 ] ] });
refused('no extension', qr/^55000 the registry's database has no extension snowflake/, lookup => { rows => [ [ (undef) x 8, '', 5, undef, 7 ] ] });
refused('another extension', qr/^55000 the registry's database has a different extension/, lookup => { rows => [ [ 'public', 0, (undef) x 6, '', 5, 6, 7 ] ] });
refused('COPY', qr/$nonsense \(It is PGRES_COPY_OUT\.\)/, layout => { first => message('H', pack('Cn', 0, 0)) });
refused('a message that the protocol does not have', qr/$nonsense \(A message violates the protocol: /, layout => { first => 'Z' . pack('N', 0x3fffffff) });
refused('an error after the row', qr/^40001 too late/, acquire => { last => error(C => '40001', M => 'too late') });

my %states = ('short' => '42', 'empty' => '', 'a success' => '00000', 'a warning' => '01000', 'lower case' => 'xx000', 'long' => 'XX0000');
refused("a SQLSTATE that is $_", qr/$nonsense \(The SQLSTATE of its error "boo" is "\Q$states{$_}\E"\.\)/, layout => { first => error(C => $states{$_}) }) for sort keys %states;
refused('an error', qr/^XX001 boo \(far\)/, layout => { first => error(C => 'XX001', D => 'far') });

my $long = refused('a long error of odd bytes', qr/^XX002 \\xff\\xfeboo/, layout => { first => error(C => 'XX002', M => "\xff\xfeboo" . 'o' x 1_000_000, D => 'o' x 1_000_000) });
cmp_ok(length($long), '<', 520, '... is cut');
$long = refused('a long value of odd bytes', qr/is "\\xff\\xfeooo/, layout => { rows => [ [ "\xff\xfe" . 'o' x 1_000_000 ] ] });
cmp_ok(length($long), '<', 520, '... is cut');
is(status($node, 'octet_length(convert_to(last_error, current_setting($$server_encoding$$))) > 0'), 't', '... and can be stored');

# The keeper's maximum memory so far, in kB.
sub peak { my ($kb) = slurp_file('/proc/' . status($node, 'keeper_pid') . '/status') =~ /VmHWM:\s+(\d+)/; return $kb; }
my $before = peak();
refused('rows without end', qr/It has too many rows/, layout => { rows => [ [ 'o' x 7000 ] ], without_end => 1 });
cmp_ok(peak() - $before, '<', 20_000, '... are not kept');

refused("lease $_", qr/^SF001 implausible response from registry \(Its lease id is $_\.\)/, lease(0, $_))
  for 0, '4611686018427387904', '9223372036854775807';
refused('a warning', qr/^08006 the registry did not confirm its answer \(It warned: hardly\.\)/, acquire => { first => notice(M => 'hardly') });
refused('... that comes last', qr/^08006 the registry did not confirm its answer \(It warned: lately\.\)/, acquire => { last => notice(M => 'lately') });
is(status($node, 'leases_acquired_total'), '0', 'none of these was a lease');

# Warnings that the response did not cause.
$fake->answer(map({ $_ => { first => notice(C => '42602', M => 'invalid configuration parameter name') . notice(S => 'NOTICE', V => 'NOTICE') } } qw(lookup layout acquire)),
	extend => { first => error(C => 'XX003') });
ok(wait_until('ids', sub { ($node->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'a notice, and a warning of a setting, do not matter')
  or diag(status($node, 'last_error'));
is(status($node, 'worker'), '3', '... and the answer is used');

ok(wait_until('the extend', sub { status($node, 'last_error_code') eq 'XX003' }), 'an extend that fails');
my $end = status($node, 'window_end');
refused('an extend that is not confirmed', qr/did not confirm/, extend => { last => notice() });
is(status($node, 'window_end'), $end, '... moves nothing');
refused('a raise beyond all clocks', qr/^SF001 the registry rules out ids of the future /, extend => { rows => [ [ 'END', 1, 1, 9223372036854775807 ] ] });
# By max_clock_skew, max_bridge and a minute more.
refused('a raise that no registry accepts', qr/^SF001 the registry rules out ids of the future \(It was raised to .*, 8\d\d\d\.\d s ahead of the request's time\. This node believes 130\.0 s\.\)/,
	extend => { rows => [ [ 'END', 1, 1, now_ms() - 1735689600000 + 8_500_000 ] ] });
$fake->answer;
ok(wait_until('ids', sub { ($node->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), '... stops no ids');
is(status($node, 'leases_acquired_total'), '1', '... of the lease in hand');

# If the node believed this response, it would remember a call of snowflake_settle() at a time that
# no registry can exceed.
$fake->answer(extend => { rows => [ [ 'END', 1, 1, -1, 9223372036854775807 ] ] });
my $moved = status($node, 'window_end');
ok(wait_until('the window to move', sub { $node->psql('postgres', 'SELECT snowflake_nextval()'); status($node, 'window_end') ne $moved }), "a call of snowflake_settle() in the future");
$fake->answer;
$moved = status($node, 'window_end');
ok(wait_until('the window to move', sub { $node->psql('postgres', 'SELECT snowflake_nextval()'); status($node, 'window_end') ne $moved }), '... is none: who does not know it is believed');
is(status($node, 'last_error'), '', '... without an error');

# Ranges of segments, one row for each. A call that waits shows the response as its detail.
sub ranges_refused
{
	my ($name, $error, @row) = @_;
	return rows_refused($name, $error, \@row);
}

sub rows_refused
{
	my ($name, $error, @rows) = @_;
	$fake->answer(ranges => { rows => \@rows });
	my ($state, $last) = ('', '');
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until($name, sub {
		($state, $last) = query_error($node, 'postgres', q{SELECT snowflake_segment_nextval('ticket')});
		return $last =~ $error;
	}), $name) or diag("$last is not $error");
	return is($state, 'SF005', '... is no range');
}

# The keeper pauses after a failure.
sub number
{
	my $number;
	wait_until('a number', sub { (my $rc, $number) = $node->psql('postgres', q{SELECT snowflake_segment_nextval('ticket')}); return $rc == 0 });
	return $number;
}

my @range = (5, 10, 10, '', 1, 1, '');
sub other { my ($column, $value) = @_; my @row = @range; $row[$column] = $value; return @row; }
my @number = qw(segment_id last numbers);
for my $column (0 .. 2)
{
	my ($place, $number) = ('Its column ' . ($column + 1), $number[$column]);
	ranges_refused("a null as $number", qr/invalid response from registry \($place is null\.\)/, other($column, undef));
	ranges_refused("$number that is '$_'", qr/invalid response from registry \($place, "$number", is "\Q$_\E", which is not a valid bigint\.\)/, other($column, $_))
	  for '5.0', $column > 0 ? () : ('', ' ', '5;', '{5}', 'NULL', '9223372036854775808');
}
rows_refused('no range', qr/invalid response from registry \(It has too few rows\.\)/);
rows_refused('two ranges', qr/invalid response from registry \(It has too many rows\.\)/, [@range], [@range]);
ranges_refused('a null as role', qr/invalid response from registry \(Its column 4 is null\.\)/, other(3, undef));
my $name = 'r' x 129;
ranges_refused('a role of too many letters', qr/invalid response from registry \(Its column 4, "role", is "r+", which is not a valid name\.\)/, other(3, $name));
my $impossible = qr/implausible response from registry \(It has/;
ranges_refused("a range of $_->[1] numbers up to $_->[0]", qr/$impossible $_->[1] numbers up to $_->[0] of segment "ticket", of which this node has already had 0\./, 5, @$_, '', 1, 1, '')
  for [ 10, 11 ], [ 10, -1 ], [ 0, 1 ], [ -5, 1 ], [ '-9223372036854775808', '9223372036854775807' ], [ '9223372036854775807', '-9223372036854775808' ];
$fake->answer(ranges => { rows => [ [ 5, 30, 1, '', 1, 9, '' ] ] });
is(number(), '30', 'a range of one number is one');
ranges_refused('a number that was issued', qr/$impossible 1 numbers up to 30 of segment "ticket", of which this node has already had 30\./, 5, 30, 1, '', 1, 9, '');
ranges_refused('numbers of which some were issued', qr/$impossible 10 numbers up to 39/, 5, 39, 10, '', 1, 9, '');
$fake->answer(ranges => { rows => [ [ 5, 31, 1, '', 1, 9, 9223372036854775807, '' ] ] });
is(number(), '31', "a call of snowflake_settle() in the future");
$fake->answer(ranges => { rows => [ [ 5, 32, 1, '', 1, 9, '' ] ] });
is(number(), '32', '... is none: who does not know it is believed');
ranges_refused('an older timeline', qr/the registry answers from an older timeline/, 5, 50, 10, '', 1, 8, '');
$fake->answer(ranges => { rows => [ [ 6, 3, 3, '', 1, 9, '' ] ] });
is(number(), '1', 'another segment of the name has numbers of its own');
$fake->answer(ranges => { rows => [ [ 0, 0, 0, '', 1, 9, "\xff, of odd bytes" . 'o' x 500 ] ] });
my ($code, $text) = ('');
ok(wait_until('no segment', sub { ($code, $text) = query_error($node, 'postgres', q{SELECT snowflake_segment_nextval('ticket')}); return $code eq '42704' }),
	'one that is there no more') or diag($text);
like($text, qr/DETAIL:\s+The registry has: \\xff, of odd byteso{1,250}\.\n/, '... of which others are told in bounds');
$node->stop('fast');
$fake->finish;

subtest 'a cancelled wait for a synchronous standby' => sub {
	my $registry = new_server('registry', preload => 0, streaming => 1, conf => "log_statement = none\n");
	start_server($registry);
	value($registry, 'CREATE EXTENSION snowflake');
	my $place = 'host=' . $registry->host . ' port=' . $registry->port . ' dbname=postgres';
	my $issuer = new_server('issuer', conf => "snowflake.registry = '$place'\nsnowflake.start_timeout = 200ms\nsnowflake.lease_duration = 3s\n");
	start_server($issuer);
	value($issuer, 'CREATE EXTENSION snowflake');
	ok(wait_until('ids', sub { ($issuer->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'ids flow');
	$registry->append_conf('postgresql.conf', q{synchronous_standby_names = 'lost'});
	$registry->reload;
	my $cancel = q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'};
	ok(wait_until('a wait', sub { value($registry, $cancel) > 0 }), 'an extend waits for a standby, and is cancelled');
	my $end = status($issuer, 'window_end');
	my ($cancelled, $state, $past) = (0, '00000', 0);
	ok(wait_until('the end of the window', sub {
		$cancelled += value($registry, $cancel);
		(my $rc, my $out, my $error) = $issuer->psql('postgres', '\set VERBOSITY verbose' . "\nSELECT snowflake_timestamp(snowflake_nextval()) < '$end'");
		$past++ if $rc == 0 && $out ne 't';
		($state) = $error =~ /ERROR:\s+(\w{5}):/ if $rc != 0;
		return $rc != 0;
	}), 'then ids end');
	is($state, 'SF001', '... for want of a lease');
	is($past, 0, '... and none is past the window that was confirmed');
	is(status($issuer, 'window_end'), $end, '... which has not moved');
	# One that is cancelled too late has had no answer in time.
	ok(wait_until('the error', sub {
		value($registry, $cancel);
		status($issuer, q{last_error_code || ' ' || last_error}) =~ /^08006 the registry did not confirm its answer \(It warned: canceling wait for synchronous replication/;
	}), 'the error says why') or diag(status($issuer, 'last_error'));
	like(value($registry, 'SELECT max(window_end) FROM snowflake_registry'), qr/^\d+$/, 'though the registry has committed');
	$registry->append_conf('postgresql.conf', q{synchronous_standby_names = ''});
	$registry->reload;
	ok(wait_until('ids', sub { value($registry, $cancel); ($issuer->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'without it ids flow again');
	$issuer->stop('fast');
	$registry->stop('fast');
};
done_testing();
