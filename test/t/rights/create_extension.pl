# CREATE EXTENSION in a schema in which bob may create objects (section 10 of the design). The
# install script, and the views that it creates, call PostgreSQL's own functions and operators, even
# if bob has objects that match the types of a call better, or only seem to. None of bob's code
# runs, and the extension is created, preloaded or not, and for an extension that requires this one.
# CREATE EXTENSION fails only if an object has the name of a function that a view calls and matches
# equally well, or has the name of one of the extension's own objects.
# Not in the default run: it starts some 200 processes.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Traps;

my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
my $folder = "$sharedir/extension";
my ($version) = slurp_file("$folder/snowflake.control") =~ /^default_version = '(.*)'/m;
my $script = slurp_file("$folder/snowflake--$version.sql") =~ s/^--.*//mgr;
append_to_file("$folder/needs_it.control", "default_version = '1'\nrequires = 'snowflake'\n");
append_to_file("$folder/needs_it--1.sql", 'SELECT 1;');
# A script with less protection would look like this.
append_to_file("$folder/careless.control", "default_version = '1'\n");
append_to_file("$folder/careless--1.sql",
	"SELECT 2::double precision * 3;\nSELECT floor(3::real);\nSELECT to_char('now'::timestamptz, 'YYYY'::name);");

# For every name that the script calls as a function, and every operator that it might use, bob has
# a function or operator for all pairs of types. An unqualified call would use bob's, unless
# PostgreSQL has one with exactly these types.
my %names = map { $_ => 1 } $script =~ /\b([a-z]\w*)\s*\(/g, 'floor', 'to_char';
my $names = join(', ', map { "'$_'" } sort keys %names);
my $generated = qq{
	SET search_path = pg_catalog;
	DO \$\$
	DECLARE
		types text[] := '{int2,int4,int8,float4,float8,numeric,text,varchar,name,bool,oid,regclass,xid,'
			'timestamptz,timestamp,interval,uuid}';
		made text := 'CREATE FUNCTION bob.%I(%s) RETURNS %s LANGUAGE plpgsql AS %L';
		sort text; other text; called record; symbol text; count int := 0;
		body text := 'BEGIN PERFORM bob.spring(%L); RETURN NULL; END';
	BEGIN
		FOR called IN
			SELECT proname,
				min(CASE WHEN t.typtype = 'p' THEN 'text' ELSE format_type(p.prorettype, NULL) END) AS answer
			FROM pg_proc p JOIN pg_type t ON t.oid = prorettype
			WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ($names) GROUP BY 1
		LOOP
			FOREACH sort IN ARRAY types LOOP
				EXECUTE format(made, called.proname, sort, called.answer, format(body, called.proname));
				FOREACH other IN ARRAY types LOOP
					EXECUTE format(made, called.proname, concat_ws(', ', sort, other), called.answer,
						format(body, called.proname));
				END LOOP;
			END LOOP;
			count := count + 1;
		END LOOP;
		FOREACH symbol IN ARRAY '{+,-,*,/,%,<<,>>,||,=,<>,<,>,<=,>=}'::text[] LOOP
			FOREACH sort IN ARRAY types LOOP
				FOREACH other IN ARRAY types LOOP
					EXECUTE format(made, 'operator ' || symbol, concat_ws(', ', sort, other),
						CASE WHEN symbol ~ '^([<>]=?|=|<>)\$' THEN 'boolean' ELSE sort END,
						format(body, 'operator ' || symbol));
					EXECUTE format('CREATE OPERATOR bob.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = bob.%I)',
						symbol, sort, other, 'operator ' || symbol);
				END LOOP;
			END LOOP;
		END LOOP;
		IF count < 10 THEN RAISE 'the script calls only % functions', count; END IF;
	END \$\$;
};

# Objects that match equally well, or less well, or that a later call might use instead.
my @beside = (
	[ 'pg_get_serial_sequence(anyelement, anyelement)' => 'text' ],
	[ 'pg_get_serial_sequence(VARIADIC text[])' => 'text' ],
	[ 'pg_get_serial_sequence(text, text, int DEFAULT 1)' => 'text' ],
	[ 'random(int DEFAULT 1, int DEFAULT 1, int DEFAULT 1)' => 'float8' ],
	[ q{clock_timestamp(VARIADIC int[] DEFAULT '{}')} => 'timestamptz' ],
	[ 'snowflake_tick_timestamp(numeric)' => 'timestamptz' ]);
# The names of the extension's own functions, with optional arguments. With exactly the types of one
# of the script's functions, CREATE FUNCTION would fail.
my %called = map { $_ => 1 } map { /\b(snowflake_\w+)\(/g } $script =~ /^CREATE VIEW.*?;$/msg;
my ($free, $of_views) = ([], []);
for my $name (sort keys %{ { map { $_ => 1 } $script =~ /^CREATE FUNCTION (\w+)/mg } })
{
	push @{ $called{$name} ? $of_views : $free }, map { [ "$name($_)" => 'text' ] } grep { my $types = s/ DEFAULT 1//r; $script !~ /^CREATE FUNCTION $name\(\Q$types\E\)/m } 'smallint DEFAULT 1', 'bigint, smallint DEFAULT 1';
}
push @beside, @$free;
my $beside = "SET search_path = bob;\n" . join('', map {
	"CREATE FUNCTION $_->[0] RETURNS $_->[1] LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''beside''); RETURN NULL; END';\n"
} @beside) . q{
	CREATE DOMAIN bob.timestamptz AS text;
	CREATE DOMAIN bob.text AS pg_catalog.int4;
	CREATE DOMAIN bob.regclass AS pg_catalog.text;
};

# A superuser's own event trigger, whose function calls unqualified names, is no attack.
my $mine = q{
	CREATE FUNCTION traps.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION traps.note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM traps.mine(); END';
	CREATE EVENT TRIGGER first ON ddl_command_start EXECUTE FUNCTION traps.note();
	CREATE EVENT TRIGGER last ON ddl_command_end EXECUTE FUNCTION traps.note();
};

my @views = map { "snowflake_$_" } qw(status metrics registry_metrics workers segments layouts);
my ($server_version) = (run_command([ 'pg_config', '--version' ]))[0] =~ /(\d+)/;
for my $preload (1, 0, $server_version >= 17 ? 'session' : ())
{
	my $how = $preload ? $preload eq 'session' ? 'preloaded by sessions' : 'preloaded' : 'not preloaded';
	Traps::start("rights_$preload", preload => $preload, patient => 1, conf => "snowflake.max_clock_skew = 0\n");
	sql('CREATE DATABASE trapped');
	prepare('trapped', 'bob');
	plant('bob', $generated, 'trapped');
	plant('bob', $beside, 'trapped');
	$server->safe_psql('trapped', "$mine; TRUNCATE traps.seen");

	my ($state, $text) = query_error($server, 'trapped', 'CREATE EXTENSION careless SCHEMA bob');
	is($state, '00000', "$how: a script that is not qualified") or diag($text);
	is(went_off('trapped'), 'floor as postgres, operator * as postgres, to_char as postgres',
		'... calls what was planted');
	sql('ALTER ROLE bob NOSUPERUSER');

	for my $extension ('snowflake', 'needs_it')
	{
		($state, $text) = query_error($server, 'trapped', "CREATE EXTENSION $extension SCHEMA bob CASCADE");
		is($state, '00000', "$how: CREATE EXTENSION $extension") or diag($text);
		gained_nothing($extension, 'trapped');
		is(went_off('trapped'), '', '... and nothing that was planted ran');
		is($server->safe_psql('trapped', 'SELECT count(*) FROM bob.snowflake_origin'), '1', '... and the origin is written');
		next if $extension ne 'snowflake';

		# Each view has a row, with the values that it computes.
		($state, $text) = query_error($server, 'trapped', q{
			SELECT bob.snowflake_lease_acquire('n', 0, 1000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
			SELECT bob.snowflake_settle('test');
			SELECT bob.snowflake_create_segment('ticket');
			SELECT bob.snowflake_segment_ranges('n', '{ticket}', '{0}', '{0}', '{0}', '{1}', ARRAY[sha256('n')])});
		is($state, '00000', 'a lease, a registry that settles, and a segment') or diag($text);
		for my $path ('public', 'bob', 'bob, pg_catalog')
		{
			for my $view (@views)
			{
				my $rows = "SELECT pg_catalog.count(v.*) OPERATOR(pg_catalog.>) 0 FROM bob.$view v";
				is($server->safe_psql('trapped', "SET search_path = $path; $rows"), 't', "$view, search_path $path");
			}
		}
		plant('bob', 'DROP FUNCTION bob.snowflake_nextval(smallint)', 'trapped');
		is($server->safe_psql('trapped', 'SELECT bob.snowflake_nextval() > 0'), 't', 'ids flow') if $preload;
		gained_nothing('views', 'trapped');
		is(went_off('trapped'), '', '... nor do views call anything of it');
		$server->safe_psql('trapped', 'DELETE FROM bob.snowflake_registry; DELETE FROM bob.snowflake_segment_range; DROP EXTENSION snowflake');
	}
	my @answers;
	for my $function (map { $_->[0] } @$of_views)
	{
		$server->safe_psql('trapped', 'DROP EXTENSION IF EXISTS snowflake CASCADE');
		plant('bob', qq{CREATE FUNCTION bob.$function RETURNS text LANGUAGE plpgsql
			AS 'BEGIN PERFORM bob.spring(''view''); RETURN NULL; END'}, 'trapped');
		push @answers, (query_error($server, 'trapped', 'CREATE EXTENSION snowflake SCHEMA bob'))[0];
		plant('bob', 'DROP FUNCTION bob.' . $function =~ s/ DEFAULT 1//r, 'trapped');
	}
	cmp_ok(scalar(grep { $_ eq '42725' } @answers), '>', 3, "$how: what is ambiguous in a view is an error");
	is(join(' ', grep { !/^(42725|00000)$/ } @answers), '', '... and nothing else is');
	gained_nothing('ambiguous', 'trapped');
	is(went_off('trapped'), '', '... of which nothing runs');
	$server->stop('fast');
}

unlink glob("$folder/needs_it*"), glob("$folder/careless*");
done_testing();
