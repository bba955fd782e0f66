# Segments are created and dropped: a thousand of them share 64 slots of shared memory, with names
# of every kind. Segments, databases and extensions are dropped and created again, and the registry
# changes. A segment that was not used for 10 s frees its slot and returns its numbers. A dropped
# segment leaves its slot. No number appears twice while a node still has some.
# Not in the default run: many roles and slots.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $central = own_node('central', clock => 1, conf => "snowflake.node_name = 'central'\nsnowflake.start_timeout = 60s\n");
my $node = segment_node('node', place($central), clock => 1, preload => 1, conf => "snowflake.max_segments = 4\nsnowflake.start_timeout = 60s\n");

sub error { my ($server, $sql, $dbname) = @_; return query_error($server, $dbname // 'postgres', $sql); }

# All segments that were not used until now free their slots. The keeper has yet to see what was
# used a moment ago.
sub makes_room
{
	my ($server, $sql, $dbname) = @_;
	my ($state, $error);
	ok(wait_until('room', sub {
		let_pass($server, 11);
		($state, $error) = error($server, $sql, $dbname);
		return $state ne '53400';
	}), 'what is idle makes room') or diag($error);
	return is($state, '00000', '... for others') || diag($error);
}

subtest 'a thousand segments' => sub {
	value($central, q{SELECT snowflake_create_segment('segment ' || i, step => 100) FROM generate_series(1, 1000) i;
		CREATE TABLE numbers (name text, number bigint, PRIMARY KEY (name, number))});
	my $take = q{INSERT INTO numbers SELECT name, snowflake_segment_nextval(name) FROM (SELECT 'segment ' || i AS name FROM generate_series(%d, %d) i) s, generate_series(1, 3)};
	# No time passes, so that none becomes idle, however long this takes.
	freeze_clock($central);
	value($central, sprintf $take, 1, 64);
	my ($state, $error) = error($central, sprintf $take, 65, 65);
	is($state, '53400', 'the 65th finds no place while all others are in use');
	like($error, qr/DETAIL: .*All 64 entries .*snowflake\.max_segments/, '... and says why');
	value($central, sprintf $take, 1, 64);
	for (my $i = 65; $i <= 1000; $i += 64)
	{
		my $last = $i + 63 < 1000 ? $i + 63 : 1000;
		my $done = 0;
		ok(wait_until('room', sub {
			let_pass($central, 11);
			($state, $error) = error($central, sprintf $take, $i, $last);
			return $state ne '53400';
		}), "segments $i to $last find room") or diag($error);
		is($state, '00000', '... and have numbers') or diag($error);
	}
	is(value($central, 'SELECT count(DISTINCT name), count(*), max(min) <= 100 FROM (SELECT *, min(number) OVER (PARTITION BY name) FROM numbers) n'), '1000|3192|t',
		'every segment began with its first range');
	is(value($central, q{SELECT count(*) FROM snowflake_get_segments()}), '64', '64 have a place');
	cmp_ok(value($central, q{SELECT count(*) FROM snowflake_segment WHERE name ~ '^segment' AND last_value < 20}), '>=', 1000 - 64, 'those that made room returned what they had');
	my $last = value($central, q{SELECT last_value FROM snowflake_segment WHERE name = 'segment 100'});
	makes_room($central, sprintf $take, 100, 100);
	is(value($central, q{SELECT max(number) FROM numbers WHERE name = 'segment 100'}), $last + 3, '... and go on without a gap');
};

subtest 'names of every kind' => sub {
	# of 1 to 127 bytes
	my @names = (q{it's}, q{"quoted"}, q{back\\slash\\}, q{\\"}, q{{a,b}}, q{x, y}, q{NULL}, q{null}, q{ }, q{ ticket }, q{$1 %s %n}, "tab\tand\nline",
		q{'; DROP TABLE t; --}, 'größer', '番号', 'ä' x 63 . 'x', 'y' x 127);
	my $quoted = sub { my ($name) = @_; return q{'} . ($name =~ s/'/''/gr) . q{'}; };
	for my $name (@names)
	{
		my $q = $quoted->($name);
		value($central, "SELECT snowflake_create_segment($q, step => 10)");
		ok(wait_until('room', sub { let_pass($central, 11); (error($central, "SELECT snowflake_segment_nextval($q)"))[0] eq '00000' }), "here: $name");
	}
	for my $name (@names)
	{
		my $q = $quoted->($name);
		ok(wait_until('room', sub { let_pass($node, 11); (error($node, "SELECT snowflake_segment_nextval($q)"))[0] eq '00000' }), "elsewhere: $name");
	}
	my $all = join ', ', map { $quoted->($_) } @names;
	is(value($central, "SELECT count(*), min(last_value) > 0 FROM snowflake_segment WHERE name IN ($all)"), @names . '|t', 'each has allocated numbers of its own');
	is(value($central, "SELECT count(*) FROM snowflake_segment WHERE name !~ '^segment ' AND last_value > 0 AND name NOT IN ($all, 'ticket')"), '0', '... and no other');
	for my $wrong (q{''}, q{repeat('y', 128)}, q{repeat('ä', 64)})
	{
		is((error($central, "SELECT snowflake_create_segment($wrong)"))[0], '22023', "no name: $wrong");
		is((error($_, "SELECT snowflake_segment_nextval($wrong)"))[0], '22023', '... nor for numbers') for $central, $node;
	}
	my ($state, $error) = error($node, q{SELECT snowflake_segment_nextval('missing')});
	is($state, '42704', 'a name that is not there');
	like($error, qr/DETAIL:  The registry has: .*"back\\slash\\", "größer", "it's", "null", .*\.\.\.\nHINT:  Create it/, '... with those that are');
	is(value($node, q{SELECT snowflake_segment_nextval(NULL) IS NULL}), 't', 'NULL has no number');

	# Bytes are sent unchanged, so if the encoding differs from the registry's, all names are ASCII.
	value($node, q{CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0});
	value($node, 'CREATE EXTENSION snowflake', 'latin');
	is((error($node, q{SET client_encoding = 'UTF8'; SELECT snowflake_segment_nextval('größer')}, 'latin'))[0], '42704', 'a name in another encoding');
	makes_room($node, q{SELECT snowflake_segment_nextval('ticket')}, 'latin');
	value($node, 'DROP DATABASE latin');
};

subtest 'two names in one row' => sub {
	create_segment($central, $_, 'step => 10') for 'left', 'right';
	my $table = q{CREATE TABLE pairs (l integer DEFAULT snowflake_segment_nextval('left'), r bigint DEFAULT snowflake_segment_nextval('right'), r2 integer DEFAULT snowflake_segment_nextval('right'), n int)};
	let_pass($node, 11);
	for my $server ($central, $node)
	{
		value($server, $table);
		makes_room($server, q{SELECT snowflake_segment_nextval('left'), snowflake_segment_nextval('right')});
		value($server, 'INSERT INTO pairs (n) SELECT generate_series(1, 3000); INSERT INTO pairs DEFAULT VALUES');
		is(value($server, 'SELECT count(DISTINCT l), (SELECT count(DISTINCT x) FROM (SELECT r AS x FROM pairs UNION ALL SELECT r2 FROM pairs) x), bool_and(r < r2) FROM pairs'), '3001|6002|t',
			'each number is of its segment on ' . $server->name);
	}
	my @both = map { value($_, 'COPY (SELECT l, r, r2 FROM pairs) TO STDOUT') } $central, $node;
	my (%l, %r);
	for my $line (map { split /\n/ } @both) { my ($l, $r, $r2) = split /\t/, $line; $l{$l}++; $r{$_}++ for $r, $r2; }
	is(join(' ', grep({ $l{$_} > 1 } keys %l), grep({ $r{$_} > 1 } keys %r)), '', '... and no other node has it');
};

subtest 'a segment dropped and created again' => sub {
	create_segment($central, 'again');
	is(join(' ', numbers($central, 3, 'again')), '1 2 3', 'numbers');
	value($central, q{SELECT snowflake_drop_segment('again')});
	is((error($central, q{SELECT snowflake_segment_nextval('again')}))[0], '42704', 'then it is gone');
	create_segment($central, 'again');
	is(number($central, 'again'), '1', 'nobody else had some: it begins anew');
	makes_room($node, q{SELECT snowflake_segment_nextval('again')});
	my $had = allocated_up_to($central, 'again');
	value($central, q{SELECT snowflake_drop_segment('again')});
	my ($rc, $out, $err) = $central->psql('postgres', q{SELECT snowflake_create_segment('again', step => 50)});
	like($err, qr/NOTICE:  segment "again" continues at @{[ $had + 1 ]}\n/, 'while another node has some it goes on above, with a NOTICE');
	cmp_ok(number($central, 'again'), '>', $had, '... here');
	my $left = shown($node, 'left_here', 'again');
	my @numbers = numbers($node, $left, 'again');
	is(scalar(grep { $_ > $had } @numbers), 0, 'the node uses up what it had');
	cmp_ok(number($node, 'again'), '>', $had, '... and goes on with the new one');
	value($central, q{SELECT snowflake_drop_segment('again')});
	use_up($node, 'again');
	my ($state, $error) = error($node, q{SELECT snowflake_segment_nextval('again')});
	is($state, '42704', 'what is dropped is gone elsewhere, too, when that is used up');
	is((error($central, "SELECT snowflake_drop_segment('again')"))[0], '42704', 'it cannot be dropped twice');
};

subtest 'the end of a segment' => sub {
	create_segment($central, 'short', 'start => 7, max_value => 12, step => 4');
	is(join(' ', numbers($central, 6, 'short')), '7 8 9 10 11 12', 'its numbers');
	my ($state, $error) = error($central, q{SELECT snowflake_segment_nextval('short')});
	is($state, 'SF006', 'are all that there are') or diag($error);
	is(shown($central, 'next_value IS NULL', 'short'), 't', '... and the view says so');
};

subtest 'a dropped database' => sub {
	value($node, 'CREATE DATABASE gone; CREATE DATABASE stays');
	value($node, 'CREATE EXTENSION snowflake', $_) for qw(gone stays);
	makes_room($node, q{SELECT snowflake_segment_nextval('segment ' || i) FROM generate_series(1, 4) i}, 'gone');
	freeze_clock($node);
	value($node, q{SELECT snowflake_segment_nextval('segment ' || i) FROM generate_series(1, 4) i}, 'gone');
	is((error($node, q{SELECT snowflake_segment_nextval('left')}, 'stays'))[0], '53400', 'one database has all places');
	run_clock($node);
	value($node, 'DROP DATABASE gone');
	is((error($node, q{SELECT snowflake_segment_nextval('left'), snowflake_segment_nextval('right'), snowflake_segment_nextval('ticket')}, 'stays'))[0], '00000', 'and leaves them');
	value($node, 'DROP DATABASE stays');
};

subtest 'an extension dropped and created again' => sub {
	my $last = number($node);
	my $end = allocated_up_to($central);
	value($node, 'DROP EXTENSION snowflake CASCADE');
	value($node, 'CREATE EXTENSION snowflake');
	cmp_ok(number($node), '>', $last, 'on a node: numbers go on');
	value($central, 'CREATE DATABASE own');
	value($central, q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('ticket')}, 'own');
	is(number($central, 'ticket', 'own'), '1', 'in another registry of the server');
	value($central, q{DROP EXTENSION snowflake; CREATE EXTENSION snowflake}, 'own');
	is((error($central, q{SELECT snowflake_segment_nextval('ticket')}, 'own'))[0], '42704', 'it is another registry then, without the segment');
	value($central, q{SELECT snowflake_create_segment('ticket', start => 500)}, 'own');
	is(number($central, 'ticket', 'own'), '500', '... and has its own');
	value($central, 'GRANT EXECUTE ON FUNCTION snowflake_segment_ranges TO node', 'own');
};

subtest 'another registry by a reload' => sub {
	value($central, q{SELECT snowflake_raise_segment('ticket', 1000000)}, 'own');
	my @before = numbers($node, 5);
	$node->append_conf('postgresql.conf', "snowflake.registry = '" . (place($central) =~ s/dbname=postgres/dbname=own/r) . "'\n");
	$node->reload;
	my $number;
	ok(wait_until('the other registry', sub { $number = number($node); push @before, $number if $number < 1000000; $number >= 1000000 }), 'numbers come from the new registry');
	is(allocated_up_to($central), $before[-1], '... and the old one has the rest back');
	is($number, 1000000, 'nothing of the new one was left out');
};

# An open transaction locks the segment that it has raised, and no other segment that a node
# requests together with it.
subtest 'a segment that somebody holds' => sub {
	value($central, q{SELECT snowflake_create_segment(name, step => 10, max_step => 10) FROM (VALUES ('held'), ('free')) s (name)});
	numbers($central, 3, $_) for qw(held free);
	my $session = $central->background_psql('postgres', on_error_stop => 0);
	ask($session, q{BEGIN; SELECT snowflake_raise_segment('held', 9)});
	my ($state, $error);
	# On a busy machine the first calls may end before the keeper has given up.
	wait_until('the reason', sub {
		($state, $error) = error($central, q{SET snowflake.start_timeout = '2s'; SELECT snowflake_segment_nextval('held') FROM generate_series(1, 100)});
		return $state ne 'SF005' || $error =~ /lock timeout/;
	});
	is($state, 'SF005', 'no range comes of the one that is held');
	like($error, qr/lock timeout/, '... because of its lock');
	for (1 .. 3)
	{
		my $end = use_up($central, 'free');
		is(number($central, 'free'), $end + 1, 'numbers of the other go on from range to range');
	}
	ask($session, 'COMMIT');
	$session->quit;
	cmp_ok(number($central, 'held'), '>', 9, '... and of the one that was held afterwards');
};

$_->stop('fast') for $node, $central;
done_testing();
