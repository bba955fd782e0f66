# Four sessions of snowflake_fill() beside statements of others that change what every session
# remembers of the table: GRANT, COMMENT, ALTER TABLE, VACUUM, ANALYZE. No session crashes, and no
# error speaks of a trigger, a check constraint or a column that is right.
#
# For longer: SNOWFLAKE_FILL_SECONDS=600 TEST_TIMEOUT=900 test/run t/convert/fill_beside_others
# Not in the default run: nine sessions at full speed. t/caches/fill, which .ci/run runs on a server
# with assertions, finds the same faults at once.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{SNOWFLAKE_FILL_SECONDS} || 10;
my $server = convert_server('fill_beside_others');

# Two columns to fill, a foreign key and a deferrable constraint to look at, and a generated column.
my $begun = sub {
	my ($column) = @_;
	return "ALTER TABLE r.t ADD snowflake_new_$column bigint;
		CREATE TRIGGER \"~snowflake_new_$column\" BEFORE INSERT OR UPDATE ON r.t FOR EACH ROW EXECUTE FUNCTION snowflake_follow('$column', 'snowflake_new_$column');
		ALTER TABLE r.t ENABLE ALWAYS TRIGGER \"~snowflake_new_$column\";
		ALTER TABLE r.t ADD CHECK (snowflake_new_$column IS NOT DISTINCT FROM $column) NOT VALID;";
};
$server->safe_psql('postgres', q{CREATE SCHEMA r AUTHORIZATION alice; SET ROLE alice;
	CREATE TABLE r.p (id int PRIMARY KEY);
	CREATE TABLE r.t (id int PRIMARY KEY, n smallint, p int REFERENCES r.p, u int UNIQUE DEFERRABLE, g int GENERATED ALWAYS AS (n * 2) STORED);
	INSERT INTO r.t (id, n) SELECT g, g FROM generate_series(1, 200) g;} . $begun->('id') . $begun->('n'));

my @others = map { start_clients($server, 1, $_ x 100) } "GRANT SELECT ON r.t TO bob;\nREVOKE SELECT ON r.t FROM bob;\n",
  "COMMENT ON TABLE r.t IS 'a';\nCOMMENT ON COLUMN r.t.n IS 'b';\n", "ALTER TABLE r.t SET (fillfactor = 90);\nALTER TABLE r.t RESET (fillfactor);\n",
  "VACUUM r.t;\n", "ANALYZE r.t;\n";
my $folder = PostgreSQL::Test::Utils::tempdir();
# New rows are empty while the trigger is not fired, so there is always something to fill.
append_to_file("$folder/fill.sql", "UPDATE r.t SET u = id WHERE id = 1 + :client_id;\nCALL snowflake_fill('r.t');\n");
my ($out, $errors, $began) = ('', '', time());
{
	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($server->host, $server->port, 'postgres');
	IPC::Run::run([ 'pgbench', '-n', '-U', 'alice', '-c', 4, '-j', 2, '-T', $seconds, '-P', 5, '-f', "$folder/fill.sql" ], '<', '/dev/null', '>', \$out, '2>', \$errors);
}
my $took = time() - $began;
my ($crashed) = slurp_file($server->logfile) =~ /(was terminated by signal .*)/;
stop_clients($_) for @others;
my ($calls) = $out =~ /number of transactions actually processed: (\d+)/;
my $changes = 0;
$changes += () = slurp_file($_->{files}[0]) =~ /^connection$/mg for @others;
figures('%.1f s: %d calls, %d hundreds of changes of the table, crashed: %s', $took, $calls // 0, $changes, $crashed // 'no');
is($crashed, undef, 'no session crashed');
BAIL_OUT('the server is gone') if $crashed;
is(join("\n", grep { !/^(progress: |pgbench \(|NOTICE: |DETAIL: )/ } split /\n/, $errors), '', '... and no call failed');
# How many are possible depends on the machine.
cmp_ok($calls // 0, '>', 10, '... while sessions filled');
is($server->safe_psql('postgres', 'SELECT count(*) FROM r.t WHERE snowflake_new_id IS DISTINCT FROM id OR snowflake_new_n IS DISTINCT FROM n'), '0', '... and all is filled');
$server->stop('fast');
done_testing();
