# Only the owner of a table may convert it online, in a session that it opened itself: code of the
# table runs in that session. Superusers may convert tables of superusers, if nothing on them belongs
# to other roles. What a hostile owner has planted is refused before any of it runs, or runs with the
# rights of that owner alone. What other roles have planted never runs.
# Not in the default run: refusals and conversions of some forty tables.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = convert_server('rights', conf => "log_min_messages = log\n");
$server->safe_psql('postgres', q{
	CREATE ROLE dave LOGIN IN ROLE alice;
	CREATE ROLE root LOGIN SUPERUSER;
	CREATE ROLE mallory LOGIN;
	GRANT CREATE ON DATABASE postgres TO mallory;});

# Returns the SQLSTATE and the text of the error.
sub try_as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = psql_as($server, $role, $sql);
	my ($state) = $err =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err, $out);
}

# A new schema of a role, with tables that the role makes.
sub anew
{
	my ($schema, $role, $sql) = @_;
	$server->safe_psql('postgres', "SET client_min_messages = warning; DROP SCHEMA IF EXISTS $schema CASCADE; CREATE SCHEMA $schema AUTHORIZATION $role");
	my ($rc, undef, $err) = psql_as($server, $role, $sql);
	is($err =~ s/^.*NOTICE.*\n|^LOCATION.*\n//gmr, '', 'the tables are made') if $rc != 0;
	return;
}

# A function that writes to the log which role calls it, unless it is the one that owns it.
sub spy
{
	my ($schema, $role) = @_;
	return qq{
	CREATE FUNCTION $schema.spy(what text) RETURNS void LANGUAGE plpgsql AS \$\$BEGIN
		IF current_user <> '$role' THEN RAISE LOG 'spy: % as % (%)', what, current_user, session_user; END IF;
		BEGIN EXECUTE 'RESET SESSION AUTHORIZATION'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'RESET ROLE'; EXCEPTION WHEN OTHERS THEN NULL; END;
		IF current_user <> '$role' THEN RAISE LOG 'spy: % became %', what, current_user; END IF;
	END\$\$;
	CREATE FUNCTION $schema.is_fine(n bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS \$\$BEGIN PERFORM $schema.spy('a call'); RETURN true; END\$\$;
	CREATE FUNCTION $schema.evil(a bigint, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS \$\$BEGIN PERFORM $schema.spy('a planted call'); RETURN true; END\$\$;
	CREATE FUNCTION $schema.lowest() RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$BEGIN PERFORM $schema.spy('a constant'); RETURN -5; END\$\$;
	CREATE FUNCTION $schema.one() RETURNS int LANGUAGE plpgsql AS \$\$BEGIN PERFORM $schema.spy('a default'); RETURN 1; END\$\$;
	CREATE FUNCTION $schema.fired() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN PERFORM $schema.spy('a trigger'); RETURN NEW; END\$\$;
	CREATE DOMAIN $schema.d AS int CHECK ($schema.is_fine(VALUE));};
}

sub said
{
	my ($from) = @_;
	my %said = map { $_ => 1 } slurp_file($server->logfile, $from) =~ /LOG:  (spy: .*)/g;
	return join "\n", sort keys %said;
}

### Who may

my $table = 'CREATE TABLE r.t (id serial PRIMARY KEY, n int, note text); INSERT INTO r.t (n) SELECT generate_series(1, 20)';
my @calls = (q{SELECT snowflake_convert('r.t', 'id', online => true)}, q{SELECT snowflake_convert('r.t', 'id', online => true, abandon => true)},
	q{SELECT snowflake_check_switch('r.t', 'id', 'ids', false, '')}, q{CALL snowflake_fill('r.t')});
my @others = (
	[ 'a superuser', 'postgres', '' ],
	[ 'a superuser that has set the owner\'s role', 'postgres', 'SET ROLE alice' ],
	[ 'a superuser that has set the owner\'s authorization', 'postgres', 'SET SESSION AUTHORIZATION alice' ],
	[ 'a member of the owner', 'dave', '' ],
	[ 'a member of the owner that has set its role', 'dave', 'SET ROLE alice' ]);
anew('r', 'alice', $table);
for my $other (@others)
{
	my ($who, $role, $set) = @$other;
	for my $call (@calls)
	{
		my ($state, $text) = try_as($role, "$set;\n$call");
		is($state, '42501', "$who: $call") or diag($text);
		like($text, qr/must be connected as the owner of table (r\.)?t\b.*HINT:.*ALTER ROLE alice LOGIN.*without online/s, '... and the error says what to do') or diag($text);
	}
}
for my $call (@calls)
{
	my ($state, $text) = try_as('bob', $call);
	is($state, '42501', "another role: $call");
	is((try_as('alice', $call))[0], $call =~ /check_switch/ ? '55000' : '00000', '... and the owner');
}
# The owner's function with the owner's rights, called by somebody else.
$server->safe_psql('postgres', q{GRANT USAGE ON SCHEMA r TO bob; SET ROLE alice; CREATE FUNCTION r.f() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$SELECT public.snowflake_convert('r.t', 'id', online => true)$$});
is((try_as('bob', 'SELECT r.f()'))[0], '42501', 'a function of the owner, called by another role');
is((try_as('alice', 'SELECT r.f()'))[0], '00000', '... and by the owner');

### What hostile owners plant

# [what, on table m.t (id serial, n int), whether the owner may convert the table].
my @planted = (
	[ 'a check of the name of the conversion\'s', 'ALTER TABLE m.t ADD snowflake_new_id bigint, ADD CONSTRAINT snowflake_same_id CHECK (m.evil(snowflake_new_id, id)) NOT VALID',
		qr/column snowflake_new_id of table m\.t.*constraint snowflake_same_id on table m\.t has the name of a constraint to be made/s ],
	[ 'a trigger of the name of the conversion\'s', 'ALTER TABLE m.t ADD snowflake_new_id bigint, ADD CONSTRAINT snowflake_same_id CHECK (snowflake_new_id IS NOT DISTINCT FROM id) NOT VALID;
		CREATE FUNCTION m.snowflake_follow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM m.spy(\'follow\'); RETURN NEW; END$$;
		CREATE TRIGGER "~snowflake_new_id" BEFORE INSERT OR UPDATE ON m.t FOR EACH ROW EXECUTE FUNCTION m.snowflake_follow(\'id\', \'snowflake_new_id\'); ALTER TABLE m.t ENABLE ALWAYS TRIGGER "~snowflake_new_id"',
		qr/trigger ~snowflake_new_id on table m\.t has the name of a trigger to be made/ ],
	[ 'a constant function in a check', 'ALTER TABLE m.t ADD CHECK (n > m.lowest())' ],
	[ 'a domain\'s constant in a view', q{CREATE VIEW m.v AS SELECT id FROM m.t WHERE id <> ALL ('{-1}'::m.d[])} ],
	[ 'a domain\'s constant in a policy', q{CREATE POLICY p ON m.t USING (id <> ALL ('{-1}'::m.d[]))} ],
	[ 'a domain\'s constant in a trigger', q{CREATE TRIGGER w AFTER UPDATE ON m.t FOR EACH ROW WHEN (NEW.id = ANY ('{-1}'::m.d[])) EXECUTE FUNCTION m.fired()} ],
	[ 'a domain\'s constant in a check', q{ALTER TABLE m.t ADD CHECK (id <> ALL ('{-1}'::m.d[]))} ],
	[ 'a domain\'s constant in an index', q{CREATE INDEX i ON m.t (id) WHERE id <> ALL ('{-1}'::m.d[])} ],
	[ 'a function in an index', 'CREATE INDEX i ON m.t (id, m.is_fine(id)) WHERE m.is_fine(n)' ],
	[ 'a trigger that always fires', 'CREATE TRIGGER w BEFORE UPDATE ON m.t FOR EACH ROW EXECUTE FUNCTION m.fired(); ALTER TABLE m.t ENABLE ALWAYS TRIGGER w' ],
	[ 'statistics', 'CREATE STATISTICS m.s ON (m.evil(id, n)), n FROM m.t' ]);
for my $planted (@planted)
{
	my ($what, $sql, $refused) = @$planted;
	anew('m', 'mallory', spy('m', 'mallory') . "CREATE TABLE m.t (id serial PRIMARY KEY, n int DEFAULT m.one()); INSERT INTO m.t SELECT FROM generate_series(1, 20); $sql");
	my $from = -s $server->logfile;
	for my $set ('', 'SET ROLE mallory', 'SET SESSION AUTHORIZATION mallory')
	{
		for my $call (@calls)
		{
			my $of_hers = $call =~ s/r\.t/m.t/r;
			is((try_as('postgres', "$set;\n$of_hers"))[0], '42501', "$what: $set: $of_hers");
		}
	}
	is(said($from), '', '... and nothing that is planted has run');
	my $error = convert_online($server, { name => 'm', as => 'mallory' });
	if ($refused)
	{
		like($error, qr/ERROR:  55000/, '... and its owner, too, is refused');
		like($error, $refused, '... by name');
	}
	else
	{
		is($error, '', '... and its owner converts it');
		is(nothing_left($server, { name => 'm', as => 'mallory' }), '', '... wholly');
		is($server->safe_psql('postgres', q{SELECT count(*), pg_typeof(min(id)) FROM (SELECT id FROM m.t) t}), '20|bigint', '... with all rows');
	}
	is(said($from), '', '... as herself');
}
# The planted functions do write to the log.
my $from = -s $server->logfile;
$server->safe_psql('postgres', 'INSERT INTO m.t SELECT');
like(said($from), qr/a default as postgres/, 'her code would be seen');

### Tables of superusers

# On table s.t (id serial, n int) of postgres. Objects of bob are in schema b.
my @of_others = (
	[ 'a default', 'ALTER TABLE s.t ALTER n SET DEFAULT b.one()', qr/function b\.one\(\) belongs to bob/ ],
	[ 'a check', 'ALTER TABLE s.t ADD CHECK (b.is_fine(n))', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'a check of a domain', 'CREATE DOMAIN s.d AS int CHECK (b.is_fine(VALUE)); ALTER TABLE s.t ADD x s.d', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'a domain', 'ALTER TABLE s.t ADD x b.d', qr/type b\.d belongs to bob/ ],
	[ 'a domain in a composite type', 'CREATE TYPE s.y AS (x b.d); ALTER TABLE s.t ADD x s.y', qr/type b\.d belongs to bob/ ],
	[ 'a generated column', 'ALTER TABLE s.t ADD x boolean GENERATED ALWAYS AS (b.is_fine(n)) STORED', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'an index', 'CREATE INDEX i ON s.t (b.is_fine(n))', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'an operator', 'CREATE INDEX i ON s.t (n) WHERE n OPERATOR(b.===) 1', qr/operator b\.===\(bigint,integer\) belongs to bob|function b\.evil/ ],
	[ 'a trigger', 'CREATE TRIGGER w AFTER UPDATE ON s.t FOR EACH ROW EXECUTE FUNCTION b.fired()', qr/function b\.fired\(\) belongs to bob/ ],
	[ 'a policy', 'CREATE POLICY p ON s.t USING (b.is_fine(n))', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'a rule of another event', 'CREATE VIEW s.v AS SELECT id FROM s.t; CREATE RULE x AS ON INSERT TO s.v DO INSTEAD SELECT b.one()', qr/function b\.one\(\) belongs to bob/ ],
	[ 'a view that calls a function', 'CREATE VIEW s.v AS SELECT id, b.one() FROM s.t', qr/function b\.one\(\) belongs to bob/ ],
	[ 'a view over a view', 'CREATE VIEW s.v AS SELECT id FROM s.t; CREATE VIEW s.w AS SELECT id, b.one() FROM s.v', qr/function b\.one\(\) belongs to bob/ ],
	[ 'a view of its own', 'GRANT USAGE ON SCHEMA s TO bob; GRANT SELECT ON s.t TO bob; SET ROLE bob; CREATE VIEW b.v AS SELECT id FROM s.t', qr/view b\.v belongs to bob/ ],
	[ 'statistics', 'CREATE STATISTICS s.x ON (b.is_fine(n)), n FROM s.t', qr/function b\.is_fine\(bigint\) belongs to bob/ ],
	[ 'the schema', 'ALTER SCHEMA s OWNER TO bob', qr/schema s belongs to bob/ ],
	[ 'the schema of the extension', 'ALTER SCHEMA public OWNER TO bob', qr/schema public belongs to bob/ ],
	[ 'a referring table', 'GRANT USAGE ON SCHEMA s TO bob; GRANT REFERENCES ON s.t TO bob; SET ROLE bob; CREATE TABLE b.c (t_id int REFERENCES s.t)', qr/table b\.c belongs to bob/ ],
	[ 'the code of a referring table', 'CREATE TABLE s.c (t_id int REFERENCES s.t, x int DEFAULT b.one())', qr/function b\.one\(\) belongs to bob/ ],
	[ 'the code of a referring table whose column is wide', 'CREATE TABLE s.c (t_id bigint REFERENCES s.t, x int DEFAULT b.one())', qr/function b\.one\(\) belongs to bob/ ],
	[ 'the code of a partition', 'CREATE TABLE s.p (id serial, n int) PARTITION BY LIST (n); CREATE TABLE s.p_1 PARTITION OF s.p FOR VALUES IN (1); ALTER TABLE s.p_1 ALTER n SET DEFAULT b.one()', qr/function b\.one\(\) belongs to bob/, 's.p' ],
	[ 'an operator of a class', 'CREATE OPERATOR CLASS s.c FOR TYPE bigint USING btree AS OPERATOR 3 b.===(bigint, bigint), FUNCTION 1 btint8cmp(bigint, bigint); ALTER TABLE s.t ADD x bigint; CREATE INDEX i ON s.t (x s.c)', qr/operator b\.===\(bigint,bigint\) belongs to bob/ ]);
for my $case (@of_others)
{
	my ($what, $sql, $named, $relation) = @$case;
	anew('b', 'bob', spy('b', 'bob') . 'CREATE OPERATOR b.=== (LEFTARG = bigint, RIGHTARG = int, FUNCTION = b.evil);
		CREATE FUNCTION b.same(a bigint, b bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN true; END$$; CREATE OPERATOR b.=== (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = b.same)')
	  if $server->safe_psql('postgres', q{SELECT to_regnamespace('b') IS NULL}) eq 't';
	anew('s', 'postgres', "CREATE TABLE s.t (id serial PRIMARY KEY, n int); INSERT INTO s.t (n) SELECT generate_series(1, 20); $sql");
	$from = -s $server->logfile;
	my ($state, $text) = try_as('postgres', sprintf q{SELECT snowflake_convert('%s', 'id', online => true)}, $relation // 's.t');
	is($state, '42501', "another role's code on a superuser's table: $what") or diag($text);
	like($text, $named, '... is refused by name');
	($state, $text) = try_as('postgres', sprintf q{CALL snowflake_fill('%s')}, $relation // 's.t');
	is($state, $what =~ /referring/ ? '00000' : '42501', '... as is filling, if it is on the table itself') or diag($text);
	is(said($from), '', '... before it has run');
	$server->safe_psql('postgres', 'ALTER SCHEMA public OWNER TO pg_database_owner') if $sql =~ /SCHEMA public/;
}
$server->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA b CASCADE');

# Another superuser's table. What it owns stays its own.
anew('s', 'root', q{
	CREATE TABLE s.t (id serial PRIMARY KEY, n int); INSERT INTO s.t (n) SELECT generate_series(1, 20); CREATE VIEW s.v AS SELECT id FROM s.t;
	CREATE STATISTICS s.x ON id, n FROM s.t; CREATE TABLE s.c (t_id int REFERENCES s.t); GRANT SELECT (id) ON s.t TO carol;
	CREATE FUNCTION s.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER w BEFORE UPDATE OF id ON s.t FOR EACH ROW EXECUTE FUNCTION s.f()});
is(convert_online($server, { name => 's', as => 'postgres' }), '', 'a superuser converts another one\'s table');
is($server->safe_psql('postgres', q{SELECT string_agg(DISTINCT relowner::regrole::text, ' '), (SELECT stxowner::regrole FROM pg_statistic_ext WHERE stxname = 'x'),
	has_column_privilege('carol', 's.t', 'id', 'SELECT'), pg_typeof((SELECT min(id) FROM s.v)) FROM pg_class WHERE relnamespace = 's'::regnamespace}), 'root|root|t|bigint', '... and its objects are still its own');

### What other roles have planted in the owner's way

$server->safe_psql('postgres', 'GRANT CREATE ON SCHEMA public TO mallory');
is((try_as('mallory', spy('public', 'mallory') . q{
	CREATE FUNCTION public.modulo(a bigint, b int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM public.spy('an operator'); RETURN 7; END$$;
	CREATE OPERATOR public.% (LEFTARG = bigint, RIGHTARG = int, FUNCTION = public.modulo);
	CREATE FUNCTION public.equal(a bigint, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM public.spy('an operator'); RETURN true; END$$;
	CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = public.equal);
	CREATE OPERATOR public.<> (LEFTARG = bigint, RIGHTARG = int, FUNCTION = public.equal);
	CREATE OPERATOR public.> (LEFTARG = bigint, RIGHTARG = int, FUNCTION = public.equal);
	CREATE FUNCTION public.abs(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM public.spy('abs'); RETURN 1; END$$;
	CREATE FUNCTION public.lower(a varchar) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM public.spy('lower'); RETURN 'x'; END$$;
	CREATE PROCEDURE public.snowflake_fill(relation text) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_fill'); END$$;
	CREATE PROCEDURE public.snowflake_fill(relation regclass) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_fill'); END$$;
	CREATE PROCEDURE public.snowflake_fill(relation regclass, max_lag int DEFAULT 5) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_fill'); END$$;
	CREATE PROCEDURE public.snowflake_fill(relation regclass, VARIADIC max_lags bigint[]) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_fill'); END$$;
	CREATE PROCEDURE public.snowflake_try(VARIADIC statements text[]) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_try'); END$$;
	CREATE PROCEDURE public.snowflake_try(statements varchar) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_try'); END$$;
	CREATE PROCEDURE public.snowflake_try(statements name) LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_try'); END$$;
	CREATE FUNCTION public.snowflake_check_switch(a text, b text, c text, d boolean, e text) RETURNS void LANGUAGE plpgsql AS $$BEGIN PERFORM public.spy('snowflake_check_switch'); END$$;
	CREATE DOMAIN public.int8 AS text; CREATE DOMAIN public.regclass AS text; CREATE DOMAIN public.text AS name}))[0], '00000', 'mallory plants functions and operators in public');
for my $path ('"$user", public', 'public, pg_catalog')
{
	anew('r', 'alice', q{
		CREATE TABLE r.t (id serial PRIMARY KEY, n int, note varchar, CHECK (id % 1000 <> 999)); INSERT INTO r.t (n, note) SELECT n, 'x' || n FROM generate_series(1, 20) n;
		CREATE TABLE r.c (t_id int REFERENCES r.t); INSERT INTO r.c SELECT id FROM r.t;
		CREATE INDEX i ON r.t ((id % 10), pg_catalog.lower(note)) WHERE id > 2 AND abs(n) > 0 AND id IN (1, 2, 3, 4) OR note = 'it''s';
		CREATE VIEW r.v AS SELECT id, id % 10 AS last FROM r.t WHERE id <> 3;
		CREATE POLICY p ON r.t USING (id % 10 <> 11)});
	my $defined = q{SELECT pg_get_indexdef('r.i'::regclass)};
	my $before = $server->safe_psql('postgres', $defined);
	$from = -s $server->logfile;
	local $ENV{PGOPTIONS} = "-c search_path=" . $path =~ s/ /\\ /gr;
	is(convert_online($server, { name => 'r', as => 'alice' }), '', "alice converts her table beside planted operators, search_path = $path");
	is(nothing_left($server, { name => 'r', as => 'alice' }), '', '... wholly');
	delete $ENV{PGOPTIONS};
	is(said($from), '', '... and none of them has run');
	is($server->safe_psql('postgres', q{SELECT pg_describe_object(refclassid, refobjid, 0) FROM pg_depend WHERE refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass) AND objid IN (
		SELECT 'r.i'::regclass UNION SELECT oid FROM pg_constraint WHERE conrelid = 'r.t'::regclass UNION SELECT oid FROM pg_policy WHERE polrelid = 'r.t'::regclass UNION SELECT oid FROM pg_rewrite WHERE ev_class = 'r.v'::regclass)}),
		'', '... or is in an index, a constraint, a policy or a view');
	is($server->safe_psql('postgres', $defined) =~ s/\((\d+)\)::bigint/$1/gr, $before, '... and the index is the same');
	is($server->safe_psql('postgres', q{SELECT count(*), sum(last) FROM r.v}), '19|87', '... as are the values');
}
$from = -s $server->logfile;
$server->safe_psql('postgres', 'SELECT 5::bigint % 3');
like(said($from), qr/an operator as postgres/, 'the operator would be seen');

# Functions that alice uses by name, in a schema in which mallory may create better matches.
my $uses = q{CREATE TABLE r.t (id serial PRIMARY KEY, n int, CHECK (r.f(id) > -1)); INSERT INTO r.t (n) SELECT generate_series(1, 20)};
anew('r', 'alice', "CREATE FUNCTION r.f(id int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; GRANT ALL ON SCHEMA r TO mallory; $uses");
is((try_as('mallory', q{CREATE FUNCTION r.f(id bigint) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM public.spy('a better match'); RETURN 1; END$$}))[0], '00000', 'mallory creates a better match');
$from = -s $server->logfile;
my ($state, $text) = try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)});
is($state, '55000', '... and the conversion is refused');
like($text, qr/function r\.f\(integer\) is used, and mallory may create others in schema r/, '... by the function\'s name');
is(said($from), '', '... before the match has run');
for my $as ('alice', 'postgres')
{
	for my $call (q{snowflake_convert('r.t', 'id')}, q{snowflake_convert('r.t', 'id', dry_run => true)}, q{snowflake_convert('r.t', 'id', target => 'bigint')}, q{snowflake_convert_all('r')})
	{
		($state, $text) = try_as($as, "SELECT $call");
		is($state, '55000', "... as $call by $as is");
		like($text, qr/function r\.f\(integer\) is used, and mallory may create others in schema r/, '... by the function\'s name');
	}
}
is(said($from), '', '... before the match has run');
anew('r', 'alice', "CREATE FUNCTION r.f(id int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; CREATE FUNCTION r.f(id bigint) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'; GRANT USAGE ON SCHEMA r TO mallory; $uses");
is(convert_online($server, { name => 'r', as => 'alice' }), '', 'functions in a schema of alice\'s own are used');

$server->stop('fast');
done_testing();
