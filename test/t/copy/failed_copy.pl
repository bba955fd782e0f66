# A COPY that fails, in whatever way, leaves no effect: ADD COLUMN and queries after it, in the same
# session and in the same transaction, call the function itself (G1).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('failed');

value('CREATE TABLE other AS SELECT i FROM generate_series(1, 50) i');
value('CREATE ROLE guest; GRANT pg_execute_server_program TO guest');
my $trials = 0;

# Checks that no COPY is considered to be running.
sub way_is_shut
{
	my ($session, $name) = @_;
	my ($out, $error) = ask($session, 'SELECT way_is_open()');
	return is("$out$error", 'f', $name);
}

subtest 'a COPY that fails leaves nothing behind' => sub {
	my ($host, $port) = ($server->host, $server->port);
	value(q{CREATE TABLE failing (n int CHECK (n < 100000), id bigint DEFAULT snowflake_nextval());
CREATE TABLE bad_default (n int, id int DEFAULT snowflake_nextval());
CREATE TABLE refusing (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON refusing FOR EACH ROW WHEN (NEW.n = 3) EXECUTE FUNCTION refuse()});
	my $session = $server->background_psql($db, on_error_stop => 0);
	my ($pid) = ask($session, "\\set VERBOSITY verbose\nSELECT pg_backend_pid()");
	my $cancel = "PGHOST=$host PGPORT=$port psql -XAtq -d $db -c \"SELECT pg_cancel_backend($pid)\"";
	my %failures = (
		'a line that is no number' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; echo x'}, '22P02' ],
		'a line that breaks a CHECK' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; echo 100000'}, '23514' ],
		'a default that does not fit' => [ q{COPY bad_default (n) FROM PROGRAM 'seq 5'}, '22003' ],
		'an error in a trigger' => [ q{COPY refusing (n) FROM PROGRAM 'seq 5'}, 'P0001' ],
		'a program that fails' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; false'}, '38000' ],
		'a file that is missing' => [ q{COPY failing (n) FROM '/missing'}, '58P01' ],
		'a table that is missing' => [ q{COPY missing (n) FROM PROGRAM 'seq 5'}, '42P01' ],
		'a column that is missing' => [ q{COPY failing (missing) FROM PROGRAM 'seq 5'}, '42703' ],
		'a right that is missing' => [ q{SET ROLE guest; COPY failing (n) FROM PROGRAM 'seq 5'}, '42501' ],
		'a statement timeout' => [ q{SET statement_timeout = 1000; COPY failing (n) FROM PROGRAM 'seq 20000; sleep 60'}, '57014' ],
		'a cancellation' => [ "COPY failing (n) FROM PROGRAM 'seq 5; $cancel; sleep 0.1; seq 5'", '57014' ]);
	for my $name (sort keys %failures)
	{
		my ($sql, $state) = @{ $failures{$name} };
		my ($out, $error) = ask($session, $sql);
		like($error, qr/ERROR:\s+$state:/, "$name: $state");
		ask($session, 'RESET ROLE; RESET statement_timeout');
		way_is_shut($session, '... and nothing is left of it');
		($out, $error) = ask($session, "BEGIN;\nINSERT INTO failing (n) VALUES (1);\nSAVEPOINT a;\n$sql;\nROLLBACK TO a;");
		like($error, qr/ERROR:\s+$state:/, '... in a subtransaction too');
		($out, $error) = ask($session, "SELECT count(*) FROM failing;\nALTER TABLE other ADD COLUMN tried bigint DEFAULT snowflake_nextval();\n"
			. "SELECT count(DISTINCT tried) FROM other;\nROLLBACK;\nRESET ROLE;\nRESET statement_timeout;");
		is("$out$error", "1\n50", '... whose transaction goes on, with an ADD COLUMN');
		way_is_shut($session, '... and nothing is left of it');
		$trials += 2;
	}
	my (undef, $error) = ask($session, q{DO $$
BEGIN
	BEGIN COPY failing (n) FROM PROGRAM 'seq 5; echo x'; EXCEPTION WHEN OTHERS THEN NULL; END;
	INSERT INTO probe VALUES (1);
	ALTER TABLE other ADD COLUMN caught bigint DEFAULT snowflake_nextval();
	COPY failing (n) FROM PROGRAM 'seq 5';
END $$});
	is($error, '', 'an error that a block catches');
	way_is_shut($session, '... leaves nothing');
	is(value('SELECT count(DISTINCT caught) FROM other'), 50, '... and ADD COLUMN gives each row its own id');
	ids_are_good('failing', 5, 'the COPY that did not fail');
	$session->quit;
};

diag("$trials trials of failures");

finish();
