# The two tables of test/schemas that most foreign keys refer to are converted online, by an ordinary
# role that owns everything, while clients insert and update rows in them and in tables that refer to
# them. No transaction fails, no row is lost, and a dump differs only in the types, defaults,
# sequences and the order of columns. The figures have the longest wait of a client beside that of
# a control: the same clients for as long, without a conversion.
#
# Not in the default run: 1,200 statements on 150 tables.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use IPC::Run ();
use List::Util qw(max min);
use PostgreSQL::Test::Utils;
use RealSchemas;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $clients = 3;

# What each client does: it inserts a row, and one that refers to it; and it updates rows of its own,
# which exist before. :c is another number each time, of a sequence: random ones meet.
my @converted = (
	{
		schema => 'chado', table => 'cvterm', key => 'cvterm_id',
		rows => q{INSERT INTO dbxref (db_id, accession) SELECT min(db_id), 'own ' || n FROM db, generate_series(0, 2) n GROUP BY n;
			INSERT INTO cvterm (cv_id, name, dbxref_id) SELECT (SELECT min(cv_id) FROM cv), accession, dbxref_id FROM dbxref WHERE accession LIKE 'own %';},
		write => <<'SQL',
INSERT INTO dbxref (db_id, accession) SELECT min(db_id), :c FROM db RETURNING dbxref_id AS x \gset
INSERT INTO cvterm (cv_id, name, dbxref_id) SELECT min(cv_id), 'new ' || :c, :x FROM cv RETURNING cvterm_id AS id \gset
INSERT INTO cvtermprop (cvterm_id, type_id, value) VALUES (:id, :id, :c);
UPDATE cvterm SET definition = :c WHERE name = 'own ' || :client_id;
INSERT INTO cvtermprop (cvterm_id, type_id) SELECT cvterm_id, :id FROM cvterm WHERE name = 'own ' || :client_id;
UPDATE cvtermprop SET type_id = cvterm_id, value = :c WHERE type_id = :id AND cvterm_id <> :id;
SQL
		inserted => q{SELECT count(*), count(DISTINCT cvterm_id) FROM cvterm JOIN cvtermprop USING (cvterm_id) WHERE name LIKE 'new %'},
	},
	{
		schema => 'chado', table => 'pub', key => 'pub_id',
		rows => q{INSERT INTO pub (uniquename, type_id) SELECT 'own ' || n, min(cvterm_id) FROM cvterm, generate_series(0, 2) n GROUP BY n;},
		write => <<'SQL',
INSERT INTO pub (uniquename, type_id) SELECT 'new ' || :c, min(cvterm_id) FROM cvterm RETURNING pub_id AS id \gset
INSERT INTO pubprop (pub_id, type_id, value) SELECT :id, min(cvterm_id), :c FROM cvterm;
UPDATE pub SET title = :c WHERE uniquename = 'own ' || :client_id;
INSERT INTO pubauthor (pub_id, rank, surname) SELECT pub_id, :c, 'a' FROM pub WHERE uniquename = 'own ' || :client_id;
UPDATE pubauthor SET pub_id = :id WHERE rank = :c;
SQL
		inserted => q{SELECT count(*), count(DISTINCT pub_id) FROM pub JOIN pubprop USING (pub_id) JOIN pubauthor USING (pub_id) WHERE uniquename LIKE 'new %'},
	});

my $server = schema_server('online');
load_schema($server, $_) for schema_names();
$server->safe_psql('chado', 'CREATE SEQUENCE watch.numbers; GRANT USAGE ON SEQUENCE watch.numbers TO app');
my %references = map { my $schema = $_; map { my ($table, $count) = split /\|/; ("$schema.$table" => $count) }
	  split /\n/, $server->safe_psql($schema, q{SELECT confrelid::regclass, count(*) FROM pg_constraint JOIN watch.tables ON conrelid = relation WHERE contype = 'f' GROUP BY 1}) } schema_names();
my @most = (sort { $references{$b} <=> $references{$a} } keys %references)[ 0 .. $#converted ];
is("@most", join(' ', map { "$_->{schema}.$_->{table}" } @converted), 'these are the tables with the most references');

fill_tables($server, 'chado', 20, 0);
my @figures;
for my $one (@converted)
{
	my ($schema, $table) = @$one{qw(schema table)};
	my ($rc, $out, $err) = as_app($server, $schema, $one->{rows});
	is($rc, 0, "$table: rows") or diag($err);
	my $before = schema_dump($server, $schema, without_order => 1);
	my $widened = widened_columns($server, $schema, $table);

	my $call = "snowflake_convert('$table', '$one->{key}', online => true)";
	my $statements = (as_app($server, $schema, "SELECT count(*) FROM $call"))[1];
	my $writers = start_clients_of($one);
	my $began = time();
	($rc, $out, $err) = as_app($server, $schema, "\\set ECHO queries\nSELECT $call \\gexec");
	my $took = time() - $began;
	is($rc, 0, "$table: converted online") or diag($err, $out);
	sleep 1;
	my ($wrote, $wait) = stop_clients_of($one, $writers);

	$server->poll_query_until($schema, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'");
	is($server->safe_psql($schema, $one->{inserted}), "$wrote|$wrote", '... every row that they wrote is there, with those that refer to it');
	is($server->safe_psql($schema, "SELECT count(*) > 0 FROM $table WHERE snowflake_timestamp($one->{key}) > now() - interval '1 hour'"), 't', '... and some have ids');
	my $key = [ $table, $one->{key}, "${table}_$one->{key}_seq" ];
	is(join("\n\n", differences(expected_dump($before, $widened, $key), schema_dump($server, $schema, without_order => 1))), '', "$table: a dump differs in nothing else");

	$writers = start_clients_of($one);
	sleep max(5, min(30, $took));
	my ($control_wrote, $control) = stop_clients_of($one, $writers);
	push @figures, sprintf '%s (%d references) in %.0f s by %d statements: %d transactions, the longest %.0f ms, without a conversion %.0f ms', $table,
	  $references{"$schema.$table"}, $took, $statements, $wrote, $wait, $control;
}
figures('%s', $_) for @figures;

sub start_clients_of
{
	my ($one) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$folder/write.sql", "BEGIN;\nSELECT nextval('watch.numbers') AS c \\gset\n$one->{write}COMMIT;\n");
	my $writers = { folder => $folder };
	$writers->{run} = IPC::Run::start(
		[
			'pgbench', '-n', '-c', $clients, '-j', 1, '-T', 3600, '-R', 60, '--max-tries=100', '-l', "--log-prefix=$folder/log", '-f', "$folder/write.sql",
			$server->connstr($one->{schema}) . ' user=app'
		],
		'<', '/dev/null', '>', "$folder/out", '2>', "$folder/err");
	wait_until('clients to write', sub { my ($log) = glob "$folder/log*"; $log && -s $log || !$writers->{run}->pumpable });
	return $writers;
}

# Returns the number of their transactions, and the longest one in ms.
sub stop_clients_of
{
	my ($one, $writers) = @_;
	is(stop_writers($writers), '', "$one->{table}: no client saw an error");
	like(slurp_file("$writers->{folder}/out"), qr/^number of failed transactions: 0 /m, '... and no transaction failed');
	return ($writers->{transactions}, longest_wait($writers));
}

done_testing();
