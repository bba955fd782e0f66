# horizon_age_seconds says how long the horizon has been held back, by a transaction or by a keeper
# that does not answer a call, however often sessions ask. It is 0 if neither is so, also if nobody
# has asked for a while, and null before the first call.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('age', clock => 1, patient => 1, conf => "max_prepared_transactions = 2\nautovacuum = off\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
my ($limit) = slurp_file('doc/monitoring/alerts.yaml') =~ /snowflake_horizon_age_seconds > (\d+)$/m or die 'no rule';
sub value { return $server->safe_psql($_[1] // 'postgres', $_[0]); }
sub age { return value('SELECT horizon_age_seconds FROM snowflake_metrics', @_); }
sub is_free { my ($when) = @_; return ok(wait_until("free: $when", sub { age() eq '0' }), "nothing holds it back: $when") || diag(age()); }
sub is_held
{
	my ($least, $when) = @_;
	my $age = age();
	return ok($age >= $least && $age < $least + 60 * slowness(), "held back for $least s: $when") || diag($age);
}

is(age(), '', 'null before the first call');
ok(wait_until('a horizon', sub { value('SELECT snowflake_horizon()') > 0 }), 'a call');
is_free('after it');
let_pass($server, 4 * $limit);
is(age(), '0', 'nothing holds it back: nobody has asked for long');
for my $pause (1, 120, 3600)
{
	for (1 .. 3)
	{
		let_pass($server, $pause);
		value('SELECT snowflake_horizon()');
		is_free("a reader that calls every $pause s");
	}
}

# A transaction, and readers that come often, or do not.
my $session = $server->background_psql('postgres');
for my $pause (10, 120, 1200)
{
	ask($session, 'BEGIN; SELECT snowflake_nextval()');
	for (1 .. 1200 / $pause)
	{
		let_pass($server, $pause);
		value('SELECT snowflake_horizon()') if $pause < 1200;
	}
	is_held(1200, $pause < 1200 ? "readers every $pause s" : 'no readers');
	ask($session, 'COMMIT');
	is_free('the transaction has ended');
}

# A prepared one. After a restart nobody knows whether it took ids, so it holds the horizon back.
value(q{BEGIN; SELECT snowflake_nextval(); PREPARE TRANSACTION 'left'});
let_pass($server, 600);
value('SELECT snowflake_horizon()');
is_held(600, 'a prepared transaction');
$server->stop('fast');
start_server($server);
value('SELECT snowflake_horizon()');
let_pass($server, 700);
is_held(700, 'since the restart');
value(q{ROLLBACK PREPARED 'left'});
value('SELECT snowflake_horizon()');
is_free('it was rolled back');

# The keeper does not answer: it stands still, or cannot write its file. One call is enough.
sub unanswered
{
	my ($what, $break, $mend) = @_;
	$break->();
	let_pass($server, 100);
	is(age(), '0', "nothing holds it back: $what, and nobody has asked");
	value('SELECT snowflake_horizon()');
	let_pass($server, 600);
	is_held(600, "$what, and one call");
	value('SELECT snowflake_horizon()');
	let_pass($server, 600);
	is_held(1200, "$what, and two calls");
	$mend->();
	value('SELECT snowflake_horizon()');
	return is_free('the keeper answers again');
}
my $keeper = value('SELECT keeper_pid FROM snowflake_status');
unanswered('the keeper stands still', sub { kill STOP => $keeper }, sub { kill CONT => $keeper });
my $folder = $server->data_dir . '/snowflake.horizons';
value('CREATE DATABASE fresh');
value('CREATE EXTENSION snowflake; SELECT snowflake_nextval()', 'fresh');
unanswered('its file cannot be written', sub { chmod 0500, $folder }, sub {
	is(value('SELECT snowflake_horizon()', 'fresh'), '0', 'the first call of a database gets no horizon');
	let_pass($server, 600);
	cmp_ok(age('fresh'), '>=', 600, '... and its wait is shown');
	chmod 0700, $folder;
});
ok(wait_until('the first horizon', sub { age('fresh') eq '0' }), '... until it is answered');

$session->quit;
$server->stop('fast');
done_testing();
