# A crash at any step of snowflake_reset_horizon() does not bring the horizon of the future back. The
# function first writes the file, then one of the two records of the black box, then it ends the
# other. This test starts the server with what each of these steps leaves.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $day = 86400;
my $server = new_server('node', clock => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\nmax_prepared_transactions = 1\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value(q{CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint DEFAULT snowflake_nextval());
	CREATE TRIGGER claim BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id')});
my $file = $server->data_dir . '/snowflake.horizons/' . value(q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
sub insert { return ($server->psql('postgres', 'INSERT INTO outbox DEFAULT VALUES'))[2]; }
my $future = "snowflake_id_at(now() + interval '1 day')";
sub overwrite { my ($bytes) = @_; open(my $out, '>:raw', $file) or die "$file: $!"; print $out $bytes; close $out or die $!; return; }

# The horizon of a wrong time is reported, and the clock is right again.
$server->stop;
move_clock($server, 400 * $day);
start_server($server);
insert();
let_pass($server, 601);
my $ahead = value("SELECT snowflake_id_at(now() - interval '1 day')");
ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $ahead }), 'a horizon of a wrong time');
move_clock($server, 601);
like(insert(), qr/is below the horizon/, 'rows are refused');
kill_server($server, children => 1);

# What file and box have of the horizon: a record is as long as the file.
my $box = box_of($server);
my $length = -s $file;
# Behind the second of the two states.
my $from = rindex(read_box($box), 'node@') + 256;
sub records { my $bytes = read_box($box); return [ map { substr $bytes, $from + $_ * $length, $length } 0, 1 ]; }
sub horizon_in { my ($record) = @_; return unpack 'q', substr $record, -8; }
my ($file_before, $before) = (slurp_file($file), records());
my $newest = horizon_in($before->[0]) > horizon_in($before->[1]) ? 0 : 1;
cmp_ok(horizon_in($before->[$newest]), '>', $ahead, 'the box has the horizon') or BAIL_OUT('these are not the records');

start_server($server);
is(value("SELECT horizon_before > $future AND horizon_after < $future FROM snowflake_reset_horizon()"), 't', 'it is taken back');
is(insert(), '', '... and rows are accepted');
kill_server($server, children => 1);
my ($file_after, $after) = (slurp_file($file), records());

# Starts the server with these.
sub start_with
{
	my ($file_then, @records) = @_;
	kill_server($server, children => 1) if $server->{snowflake_runs}++;
	overwrite($file_then);
	my $bytes = read_box($box);
	substr($bytes, $from + $_ * $length, $length, $records[$_]) for 0, 1;
	write_box($box, $bytes);
	start_server($server);
	return;
}

# Puts the record in place of the older one.
sub instead { my ($record) = @_; return $newest == 0 ? ($before->[0], $record) : ($record, $before->[1]); }
my ($whole) = sort { horizon_in($b) <=> horizon_in($a) } grep { unpack('q', $_) } @$after;
my %cases = (
	'when the file is written' => [ $file_after, @$before ],
	'while a record is written' => [ $file_after, instead(pack('q', 0) . substr($whole, 8)) ],
	'before the other record is ended' => [ $file_after, instead($whole) ],
	'at the end' => [ $file_after, @$after ],
	'... and the file is put back' => [ $file_before, @$after ]);
for my $case (sort keys %cases)
{
	start_with(@{ $cases{$case} });
	is(insert(), '', "a crash $case") or die "rows are refused\n";
	my $id = value('SELECT max(id) FROM outbox WHERE id < ' . $future);
	ok(wait_until('the horizon', sub { my $horizon = value('SELECT snowflake_horizon()'); $horizon > $id && $horizon < $ahead }), '... and the horizon is of the present');
	my $tries = 0;
	ok(wait_until('the file', sub { horizon_in(slurp_file($file)) < $ahead || ++$tries > 60 }) && $tries <= 60, '... and so is its limit');
	lose_box($server);
	$server->stop('immediate');
	start_server($server);
	is(insert(), '', '... after a loss of the box, too');
	$box = box_of($server);
}
start_with($file_before, @$before);
like(insert(), qr/is below the horizon/, 'a crash before the first step changes nothing');
is(value('SELECT snowflake_horizon() > ' . $future), 't', '... what was reported is shown');
is(value("SELECT horizon_after < $future FROM snowflake_reset_horizon()"), 't', '... and is taken back then');
is(value('SELECT snowflake_horizon() < ' . $future), 't', '... and not shown any more');
is(insert(), '', '... and rows are accepted');

# A prepared transaction of before the restart may have ids, so no sample can be taken.
value(q{BEGIN; CREATE TABLE t (); PREPARE TRANSACTION 'p'});
start_with($file_before, @$before);
# Before the reset, after which a second may pass at once.
my $past = value(q{SELECT snowflake_id_at(now() - interval '1 s')});
value('SELECT snowflake_reset_horizon()');
is(insert(), '', 'beside a prepared transaction rows are accepted');
like(($server->psql('postgres', "INSERT INTO outbox VALUES ($past)"))[2], qr/is below the horizon/, '... but none of the past');
is(value('SELECT snowflake_horizon()'), '0', '... and readers wait');
kill_server($server, children => 1);
start_server($server);
is(value('SELECT snowflake_horizon()'), '0', '... after a crash, too');
value(q{COMMIT PREPARED 'p'});
my $last = value('SELECT max(id) FROM outbox WHERE id < ' . $future);
ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $last }), '... until it ends');

# The file cannot be written.
start_with($file_before, @$before);
my ($folder) = $file =~ m{(.*)/};
chmod 0500, $folder or die $!;
SKIP:
{
	skip 'root writes anyway', 2 if $> == 0;
	is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '58030', 'without a file nothing is taken back');
	like(insert(), qr/is below the horizon/, '... and rows are refused');
}
chmod 0700, $folder or die $!;

# While ids are still of a wrong time, another worker id helps: it is acquired when the reset is
# written, and not before.
is(value("SELECT horizon_after < $future FROM snowflake_reset_horizon()"), 't', 'with the file it is taken back');
value(q{ALTER SYSTEM SET snowflake.on_clock_step_back = 'error'});
$server->reload;
keeper_looks($server);
move_clock($server, 400 * $day);
value('SELECT snowflake_confirm_clock()');
insert();
ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $ahead }), 'the clock is wrong again');
move_clock($server, 601);
sub state_of_call { return (query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0]; }
is(state_of_call(), 'SF002', '... and right again: no id is smaller');
my $new_clock = $server->data_dir . '/snowflake.clock.new';
mkdir $new_clock or die $!;
is((query_error($server, 'postgres', 'SELECT snowflake_reset_horizon()'))[0], '58030', 'a reset that cannot be written');
keeper_looks($server);
is(state_of_call(), 'SF002', '... changes nothing');
rmdir $new_clock or die $!;
my $box_before = read_box($box);
value('SELECT snowflake_reset_horizon()');
is(insert(), '', 'one that is written brings ids of the present');

# A crash when only the file was written.
kill_server($server, children => 1);
write_box($box, $box_before);
start_server($server);
is(value("SELECT snowflake_nextval() < $future"), 't', '... also after a crash before the clock follows');
ok(wait_until('rows', sub { insert() eq '' }), '... and rows are accepted above the limit');
$server->stop('immediate');
done_testing();
