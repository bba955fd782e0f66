# A run ends with its extension. An extension that is created again, with another layout and in the
# same tick in which the run was taken, issues ids of the new layout, in the session that created it
# and in others (G1).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(session tick_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('layouts');
$server->safe_psql('postgres', 'CREATE TABLE t (n int, id bigint DEFAULT snowflake_nextval())');

subtest 'a run and another extension of another layout (G1)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my $other = session($server);
	ask($other, 'BEGIN');
	my $theirs = (numbers($other, 300))[-1];
	ask($other, 'SAVEPOINT s');
	# All in the tick in which the runs were taken. One session drops the extension, and the other
	# notices it.
	ask($session, 'COMMIT');
	my (undef, $error) = ask($session, 'SET client_min_messages = warning; DROP EXTENSION snowflake CASCADE');
	is($error, '', 'DROP EXTENSION');
	# A transaction notices it when it takes its next lock.
	(undef, $error) = ask($other, 'SELECT snowflake_nextval() FROM pg_class LIMIT 1');
	like($error, qr/does not exist/, 'nothing is issued without it');
	ask($other, 'ROLLBACK TO s');
	(undef, $error) = ask($session, q{CREATE EXTENSION snowflake;
INSERT INTO snowflake_layout (definition)
	VALUES ('epoch=1735689600000 tick=1ms time=41 seq=16 worker=6');
ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval()});
	is($error, '', 'CREATE EXTENSION, with another layout');
	my @ids = map { numbers($_, 10) } $session, $other;
	my ($worker) = columns('worker');
	is(scalar(grep { ($_ & 63) != $worker } @ids), 0, 'ids of both sessions are of the new layout');
	is(scalar(grep { $_ == $last + 1 || $_ == $theirs + 1 } @ids), 0, '... and not of the old runs');
	cmp_ok(tick_of($ids[0]), '>=', $tick, '... and not below the old ones');
	$_->quit for $session, $other;
};

subtest 'a run, and an extension that is created again in its transaction' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($out, $error) = ask($session, 'SET client_min_messages = warning; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
	is($out, '', 'no id');
	like($error, qr/cannot issue ids in the transaction that created the extension/, '... but an error');
	ask($session, 'ROLLBACK');
	$session->quit;
};

for my $in ('another', 'the same')
{
	subtest "a run, and an extension that is created again while the keeper does not notice, in $in transaction" => sub {
		my ($session, $tick, $last) = session_with_run();
		my ($pid) = columns('keeper_pid');
		numbers($session, 1);
		ask($session, 'COMMIT') if $in eq 'another';
		kill 'STOP', $pid;
		$server->safe_psql('postgres', q{SET client_min_messages = warning; BEGIN; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake; COMMIT});
		my ($out, $error) = ask($session, q{SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()});
		is($out, '', 'no id of the old extension');
		like($error, qr/cannot issue ids without a lease/, '... but an error');
		kill 'CONT', $pid;
		$session->quit;
	};
}

finish();
