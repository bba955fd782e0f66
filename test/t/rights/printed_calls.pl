# What a function of the extensions returns or shows as SQL to be run later calls the extensions'
# own functions only, whatever other functions of their names exist: mallory may create objects in
# the extensions' schema, and has overloaded each function and procedure of both extensions with
# other types, polymorphic, variadic and with further arguments that have defaults. None of hers
# runs, and no default uses one. If her functions make a call ambiguous, it fails.
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('printed_calls', patient => 1);
start_server($server);
my $db = 'postgres';
sub value { my ($sql) = @_; return $server->safe_psql($db, $sql); }
value(q{CREATE EXTENSION snowflake_convert CASCADE; CREATE ROLE mallory LOGIN; GRANT CREATE ON SCHEMA public TO mallory;
	CREATE SCHEMA m; GRANT ALL ON SCHEMA m TO mallory; CREATE TABLE m.ran (what text, role text); GRANT ALL ON m.ran TO PUBLIC; GRANT USAGE ON SCHEMA m TO PUBLIC;});

# Overloads each function, with as many arguments and with fewer: SQL for the `k` arguments of `f`.
sub overload
{
	my ($kind, $arguments) = @_;
	return value(qq{SET ROLE mallory; DO \$do\$
		DECLARE f record; made int := 0; arguments text;
		BEGIN
			FOR f IN SELECT DISTINCT p.proname, p.pronargs, p.prokind, p.proargnames AS names, k FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
				JOIN pg_extension e ON e.oid = d.refobjid AND e.extname LIKE 'snowflake%', generate_series(1, p.pronargs) k WHERE p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
			LOOP
				arguments := $arguments;
				CONTINUE WHEN arguments IS NULL;
				BEGIN
					EXECUTE format('CREATE %s public.%I(%s) %s LANGUAGE plpgsql AS %L', CASE f.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, f.proname, arguments,
						CASE f.prokind WHEN 'p' THEN '' ELSE 'RETURNS bigint' END, format('BEGIN INSERT INTO m.ran VALUES (%L, current_user); %s END', f.proname || '(' || arguments || ')',
							CASE f.prokind WHEN 'p' THEN '' ELSE 'RETURN 1;' END));
					made := made + 1;
				EXCEPTION WHEN duplicate_function OR insufficient_privilege OR wrong_object_type OR feature_not_supported OR invalid_function_definition THEN NULL;
				END;
			END LOOP;
			CREATE TEMP TABLE made AS SELECT made;
		END \$do\$; SELECT made FROM made; DROP TABLE made});
}
# Arguments have the names of the function's own.
my $of = sub { my ($type, $first) = @_; $first //= $type; return "(SELECT string_agg(coalesce(quote_ident(f.names[i]) || ' ', '') || CASE i WHEN 1 THEN '$first' ELSE '$type' END, ', ') FROM generate_series(1, f.k) i) "; };
my $polymorphic = [ [ 'variadic', q{(SELECT string_agg('text', ', ') || ', ' FROM generate_series(2, f.k)) || 'VARIADIC text[]'} ],
	[ 'variadic of one', q{'VARIADIC text[]'} ], [ 'variadic polymorphic', q{'VARIADIC anyarray'} ], [ 'variadic compatible', q{'VARIADIC anycompatiblearray'} ],
	map { [ $_, $of->($_) ] } qw(anyelement anynonarray anycompatible) ];
# What the extension's function takes, and more.
my $same = q{(SELECT string_agg(format_type(t, NULL), ', ' ORDER BY n) FROM unnest((SELECT o.proargtypes::oid[] FROM pg_proc o WHERE o.proname = f.proname AND o.pronargs = f.pronargs
	AND o.proowner <> 'mallory'::regrole LIMIT 1)) WITH ORDINALITY AS a(t, n))};
my $ambiguous = [ [ 'a default more', "concat_ws(', ', $same, 'more integer DEFAULT 1')" ], [ 'a variadic default', "concat_ws(', ', $same, 'VARIADIC more integer[] DEFAULT ''{}''')" ] ];
# [what, whether calls may be ambiguous, kinds].
my @rounds = ([ 'text', 0, [ [ 'text', $of->('text') ], [ 'text and integers', $of->('integer', 'text') ] ] ],
	[ 'other types', 0, [ @$polymorphic, map { [ $_, $of->($_) ] } qw(integer bigint name varchar boolean regclass "char") ] ], [ 'defaults', 1, $ambiguous ]);

# Returns SQL, one statement in an element, as the extensions return and show it.
sub statements { my ($call) = @_; return map { pack 'H*', $_ } split /\n/, value("SELECT pg_catalog.encode(pg_catalog.convert_to(s, 'UTF8'), 'hex') FROM public.$call s"); }
sub shown
{
	my ($call) = @_;
	my ($rc, $out, $err) = $server->psql($db, "SELECT * FROM public.$call");
	return $err =~ /(SELECT [^\n]*?;|CALL [^\n]*?;)/g;
}
my $n = 0;
sub table
{
	my ($key) = @_;
	++$n;
	value("CREATE TABLE r.t$n (id $key PRIMARY KEY, note text); CREATE TABLE r.c$n (id serial PRIMARY KEY, t_id int REFERENCES r.t$n); INSERT INTO r.t$n (note) VALUES ('a'), ('b'); INSERT INTO r.c$n (t_id) SELECT id FROM r.t$n");
	return "r.t$n";
}
my $convert = sub { my ($table, $dry, $online, $abandon, $target) = @_; return "snowflake_convert('$table'::pg_catalog.regclass, 'id'::pg_catalog.name, $dry, $online, $abandon, '$target'::pg_catalog.text, '100 ms'::pg_catalog.interval, '10 min'::pg_catalog.interval)"; };
my @sources = (
	[ 'snowflake_convert, a dry run', sub { statements($convert->(table($_[0]), 'true', 'false', 'false', 'ids')) } ],
	[ '... to bigint', sub { statements($convert->(table($_[0]), 'true', 'false', 'false', 'bigint')) } ],
	[ '... online', sub { statements($convert->(table($_[0]), 'false', 'true', 'false', 'ids')) } ],
	[ '... online to bigint', sub { statements($convert->(table($_[0]), 'false', 'true', 'false', 'bigint')) } ],
	[ '... abandoned', sub { my $t = table($_[0]); run((statements($convert->($t, 'false', 'true', 'false', 'ids')))[0]); statements($convert->($t, 'false', 'true', 'true', 'ids')) } ],
	[ 'snowflake_convert_all, a dry run', sub { value('CREATE SCHEMA whole; CREATE TABLE whole.t (id serial PRIMARY KEY)'); my @all = statements(q{snowflake_convert_all('whole'::pg_catalog.regnamespace, true)}); @all } ],
	[ 'a notice', sub { my $t = table($_[0]); value("CREATE SCHEMA IF NOT EXISTS loose; CREATE TABLE loose.o${n}_$_ (t${n}_id int)") for 1 .. 25; shown($convert->($t, 'true', 'false', 'false', 'ids')) } ]);

# Runs statements one by one. Returns how many failed because a call is ambiguous; dies on another
# error.
sub run
{
	my $failed = 0;
	for my $sql (@_)
	{
		my ($state, $text) = query_error($server, $db, "$sql\n;");
		next if $state eq '00000';
		die "$text\n$sql" if $state !~ /^(42725|42P13)$/;
		return ++$failed;
	}
	return $failed;
}

my ($functions, $run) = (0, 0);
value('CREATE SCHEMA r');
for my $round (@rounds)
{
	my ($what, $may_fail, $kinds) = @$round;
	for my $kind (@$kinds)
	{
		my $made = overload(@$kind);
		cmp_ok($made, '>', 5, "overloads with $kind->[0]");
		$functions += $made;
	}
	for my $source (@sources)
	{
		my @sql = eval { $source->[1]->($n % 2 ? 'serial' : 'int GENERATED BY DEFAULT AS IDENTITY') };
		is($@, '', "$source->[0], $what") unless $may_fail && $@ =~ /not unique/;
		ok(@sql > 0, '... returns SQL') unless $may_fail;
		my $failed = eval { run(@sql) } // $@;
		$may_fail ? like($failed, qr/^\d+$/, "$source->[0], $what: it runs or is ambiguous") : is($failed, 0, '... which runs');
		$run += @sql;
		value('DROP SCHEMA IF EXISTS whole, loose CASCADE');
	}
	is(value(q{SELECT string_agg(DISTINCT what || ' as ' || role, ', ') FROM m.ran}), '', "and none of mallory's functions has run: $what");
	is(value(q{SELECT count(*) FROM pg_depend d JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = p.oid WHERE p.proowner = 'mallory'::regrole AND d.classid <> 'pg_proc'::regclass}),
		'0', '... or is used by anything');
	if ($what eq 'text')
	{
		value(q{SELECT public.snowflake_convert_all('r')});
		is(value(q{SELECT what FROM m.ran}), 'snowflake_convert_all(schema text)', 'a call with a bare literal and without its default runs one of them');
		value('TRUNCATE m.ran');
	}
	value('DROP OWNED BY mallory; GRANT CREATE ON SCHEMA public TO mallory; GRANT ALL ON SCHEMA m TO mallory');
}
figures('%d trials (statements) beside %d planted functions', $run, $functions);
$server->stop('fast');
done_testing();
