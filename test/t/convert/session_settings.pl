# Settings of sessions change nothing in what a conversion writes, reads and makes again: texts are
# the same whatever the caller has set, and a conversion whose steps run under different settings
# ends, with constants, comments and expressions as they were.
#
# First each setting that is known to change texts is tried by itself. Then all settings that a
# session may change get random values. The seed decides them.
# Not in the default run: 15 s of processor time for hundreds of texts and some ten conversions;
# regress/convert_online compares the text of one under the known settings.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use SnowflakeTest;
use Test::More;

my $server = convert_server('session_settings', conf => "log_min_error_statement = panic\n");
my $db = 'postgres';
my $seed = seed();
my $trials = at_length(4, 10);
$server->safe_psql($db, q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''; GRANT CREATE ON TABLESPACE elsewhere TO alice});

# Constants of types whose texts depend on settings, wherever a conversion writes or reads an
# expression, and backslashes wherever a text can be. In a schema r or s; what a direct conversion
# refuses is in make_more().
sub make
{
	my ($schema) = @_;
	$server->safe_psql($db, q{SET client_min_messages = error; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; SET ROLE alice;
	CREATE TABLE r.t (id serial PRIMARY KEY, n int, day date, at timestamptz, price money, raw bytea, tags text[], note text, "Sel\ect" int,
		CHECK (id * '0.12345678901234567'::float8 < 1e30), CHECK (id > 0 OR raw <> '\x5c41'), CHECK (id > 0 OR tags <> '{a,NULL}'),
		CHECK (id > 0 OR (id = NULL) IS NULL), CHECK (id > 0 OR price > '1234.50'), CHECK (id > 0 OR note ~ '^\d+$'),
		CHECK (id > 0 OR at > '2026-02-01 12:00+05:30'), CHECK (id > 0 OR day + interval '-1 mons +2 days -03:00' > '1999-02-01'));
	CREATE INDEX i ON r.t (id, (note || '\d')) WHERE raw <> '\x5c42' AND at > '2026-02-01 12:00+05:30' AND day > '2026-02-03' AND tags <> '{"a b"}';
	CREATE INDEX e ON r.t (id, n) TABLESPACE elsewhere;
	COMMENT ON COLUMN r.t.id IS 'it''s a \ backslash'; COMMENT ON INDEX r.i IS '\'; COMMENT ON CONSTRAINT t_pkey ON r.t IS '\d';
	CREATE TABLE r.c (t_id int DEFAULT 7 REFERENCES r.t, id serial);
	INSERT INTO r.t (n, day, at, price, raw, tags, note) SELECT g, '2026-02-04', '2026-03-01', g::money, '\x5c', '{NULL}', '\' FROM generate_series(1, 50) g;
	INSERT INTO r.c (t_id) SELECT id FROM r.t;
	CREATE FUNCTION r.of(t_id integer) RETURNS integer LANGUAGE plpgsql AS $f$ DECLARE id integer; BEGIN
		SELECT t.id INTO id FROM r.t WHERE t.id = t_id AND note ~ '\mx'; RETURN nextval('r.t_id_seq'); END $f$;
	CREATE TABLE r.loose (t_id int);} =~ s/\br(?=\.| CASCADE| AUTH)/$schema/gr);
	return;
}
sub make_more
{
	$server->safe_psql($db, q{SET ROLE alice;
	CREATE VIEW r.v AS SELECT id, id = NULL AS no, '\d'::text AS t FROM r.t
		WHERE day <> '2026-02-01'::date OR at < '2026-02-01 12:00+05:30' OR raw <> '\x5c43' OR price <> '7654.30' OR tags = '{NULL}' OR day + interval '1 year -2 days 3:00' > day;
	CREATE INDEX m ON r.t (id) WHERE price <> '98.70' AND tags <> '{b,NULL}' AND (t.price, t.n) <> ('1.50', 7);
	CREATE POLICY p ON r.t USING (id > 0 AND note <> '\p' AND price < '999999.99');
	CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER w BEFORE UPDATE ON r.t FOR EACH ROW WHEN (NEW.id > 0 AND NEW.note <> '\w' AND NEW.raw <> '\x5c44') EXECUTE FUNCTION r.f();});
	return;
}

# What must be as before.
my $as_made = q{SET TimeZone = 'UTC'; SET DateStyle = 'ISO, MDY'; SELECT concat_ws(E'\n',
	(SELECT string_agg(pg_get_constraintdef(oid), E'\n' ORDER BY conrelid::regclass::text, conname) FROM pg_constraint WHERE connamespace = 'r'::regnamespace),
	(SELECT string_agg(pg_get_indexdef(indexrelid) || coalesce(spcname, '') || coalesce(obj_description(c.oid), ''), E'\n' ORDER BY indexrelid::regclass::text)
		FROM pg_index JOIN pg_class c ON c.oid = indexrelid LEFT JOIN pg_tablespace s ON s.oid = reltablespace WHERE relnamespace = 'r'::regnamespace),
	(SELECT string_agg(pg_get_viewdef(oid), E'\n') FROM pg_class WHERE relnamespace = 'r'::regnamespace AND relkind = 'v'),
	(SELECT string_agg(pg_get_expr(polqual, polrelid), E'\n') FROM pg_policy),
	(SELECT string_agg(pg_get_triggerdef(oid), E'\n') FROM pg_trigger WHERE NOT tgisinternal AND tgrelid = 'r.t'::regclass),
	(SELECT string_agg(description, E'\n' ORDER BY description) FROM pg_description d LEFT JOIN pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid
		JOIN pg_class c ON c.oid = d.objoid WHERE c.relnamespace = 'r'::regnamespace),
	(SELECT md5(string_agg(id || ' ' || n || ' ' || at || raw || note, ' ' ORDER BY id)) FROM r.t))};

my %calls = (
	dry_run => q{snowflake_convert('s.t', 'id', dry_run => true)},
	widened => q{snowflake_convert('s.t', 'id', dry_run => true, target => 'bigint')},
	all => q{snowflake_convert_all('s', dry_run => true)},
	warnings => q{(SELECT w::text FROM snowflake_convert_warnings('s.t', 'id', online => true) AS w) AS s(s)},
	online => q{snowflake_convert('r.t', 'id', online => true)});

sub as_alice
{
	my ($sql) = @_;
	my ($rc, $out, $err) = psql_as($server, 'alice', "SET client_encoding = 'UTF8';\n$sql");
	return $rc == 0 ? ($out, $err) : ("ERROR $err", $err);
}
sub query_error_as_alice
{
	my ($sql) = @_;
	my (undef, $err) = as_alice($sql);
	return ($err =~ /ERROR:\s+(\w{5}):/ ? $1 : '00000', $err);
}
sub texts { my ($call) = @_; return (as_alice("SELECT pg_catalog.encode(pg_catalog.convert_to(s, 'UTF8'), 'hex') FROM $calls{$call}" . ($call eq 'warnings' ? '' : ' s')))[0]; }
sub readable { return join "\n", map { /^[0-9a-f]+$/ ? pack('H*', $_) : $_ } split /\n/, $_[0]; }

# Puts settings in force for alice's sessions.
sub set
{
	my (%values) = @_;
	my $quoted = sub { return $_[0] eq 'r, public' ? $_[0] : q{'} . $_[0] =~ s{'}{''}gr . q{'} };
	$server->safe_psql($db, join ";\n", 'ALTER ROLE alice RESET ALL', map { "ALTER ROLE alice SET \"$_\" = " . $quoted->($values{$_}) } sort keys %values);
	return;
}
sub shown { my (%values) = @_; return join ', ', map { "$_ = $values{$_}" } sort keys %values; }

# Under these settings PostgreSQL itself could change constants of checks and indexes.
sub is_refused
{
	my ($text, $values) = @_;
	return $text =~ /could change constants in checks and indexes/ && grep { exists $values->{$_} } qw(array_nulls extra_float_digits DateStyle xmloption);
}

my @known = (
	{ standard_conforming_strings => 'off' }, { standard_conforming_strings => 'off', backslash_quote => 'off', escape_string_warning => 'off' }, { TimeZone => 'Asia/Kolkata' },
	{ TimeZone => 'America/St_Johns', DateStyle => 'SQL, DMY' }, { DateStyle => 'German' }, { IntervalStyle => 'sql_standard' }, { IntervalStyle => 'iso_8601' },
	{ extra_float_digits => '-9' }, { bytea_output => 'escape' }, { quote_all_identifiers => 'on' }, { transform_null_equals => 'on' }, { array_nulls => 'off' },
	{ xmloption => 'document' }, { default_tablespace => 'elsewhere' }, { search_path => 'r, public' });
# From 19 on, it cannot be turned off.
@known = grep { !$_->{standard_conforming_strings} } @known if $server->pg_version->major >= 19;

# Not: limits of time and space, which end a call; what decides on the transaction, which is refused
# (online_refusals); what writes to the log, or makes psql another client; and what no session of a
# conversion can have in a build without assertions.
my $left_out = qr/timeout|_check_interval|^tcp_|^log_|^debug_|^trace_|^client_|transaction|^role$|session_auth|preload|library_path|max_stack|exit_on|zero_damaged|ignore_|^seed$|^allow_|_stats$|^commit_|lc_messages|limit$|backtrace|^vacuum_|_delay$|createrole|^is_|discard/;
my @settings = map { [ split /\|/ ] } split /\n/, $server->safe_psql($db, q{SELECT name, vartype, setting, min_val, max_val, array_to_string(enumvals, ',') FROM pg_settings
	WHERE context IN ('user', 'superuser') AND vartype <> 'string' ORDER BY name});
@settings = grep { $_->[0] !~ $left_out && $_->[0] ne 'standard_conforming_strings' } @settings;
sub random_settings
{
	my %values = map { %$_ } grep { rand() < 0.4 } @known;
	for my $setting (@settings)
	{
		my ($name, $type, $now, $min, $max, $values) = @$setting;
		next if rand() < 0.6 || exists $values{$name};
		my @others = $type eq 'bool' ? ($now eq 'on' ? 'off' : 'on') : $type eq 'enum' ? split(/,/, $values) : ($min, $now, $name =~ /cost|collapse|geqo|digits|mem|table_scan/ ? $min : $max);
		$values{$name} = $others[ rand @others ];
	}
	return %values;
}

### The same texts

make('r');
make_more();
make('s');
my %plain = map { $_ => texts($_) } keys %calls;
unlike($plain{$_}, qr/^ERROR|\A\z/, "$_ has a text") for sort keys %plain;
like(readable($plain{online}), qr/E'\\\\d'|\\d.*0\.1234567890123456\d\b/s, '... with constants');
my @kinds = map { { %$_ } } @known;
my $different = '';
for my $values (@kinds, map { { random_settings() } } 1 .. $trials)
{
	set(%$values);
	for my $call (sort keys %calls)
	{
		my $text = texts($call);
		next if is_refused($text, $values) && $call ne 'online';
		$different .= sprintf("%s under %s:\n%s\ninstead of\n%s\n", $call, shown(%$values), readable($text), readable($plain{$call})) if $text ne $plain{$call};
	}
}
is($different, '', 'all texts are the same under ' . @known . " known settings and $trials random ones");

### The same objects

# Online: the statements are made in one session, executed in others, and the switch in yet another.
# At length each known setting is tried by itself, too.
my ($ended, $wrong, @all) = (0, '', (map { { random_settings() } } 1 .. $trials), at_length(0, 1) ? @kinds : { map { %$_ } @known });
for my $n (0 .. $#all)
{
	my @of = ($all[$n], @all[ map { rand @all } 1 .. 2 ]);
	my $target = $n % 2 ? 'bigint' : 'ids';
	make('r');
	make_more() if $n % 3;
	set();
	my $before = $server->safe_psql($db, $as_made);
	my $shape = { name => 'r', $n % 2 ? (target => 'bigint') : () };
	my $said = eval {
		set(%{ $of[0] });
		my @statements = online_statements($server, $shape);
		my $switch = pop @statements;
		for my $statement (@statements)
		{
			set(%{ $of[ rand 2 ] });
			my (undef, $err) = as_alice("\\set ON_ERROR_STOP on\n$statement\n;");
			die "$err\n$statement" if $err =~ /ERROR/;
		}
		set(%{ $of[2] });
		my (undef, $err) = as_alice("$switch\n;");
		die "$err\n$switch" if $err =~ /ERROR/;
		'';
	} // $@;
	set();
	$said ||= nothing_left($server, $shape);
	my $after = $server->safe_psql($db, $as_made);
	$said ||= "other objects:\n$after\ninstead of\n$before" if $after ne $before;
	$wrong .= join("\n  then ", map { shown(%$_) } @of) . ":\n$said\n" if $said ne '';
	$ended++ if $said eq '';
}
is($wrong, '', "$ended online conversions under settings that change make the same objects");

# Directly.
($ended, $wrong) = (0, '');
for my $n (0 .. $#all)
{
	make('r');
	set();
	my $before = $server->safe_psql($db, $as_made);
	set(%{ $all[$n] });
	my (undef, $err) = as_alice($n % 2 ? q{SELECT snowflake_convert('r.t', 'id')} : q{SELECT snowflake_convert_all('r')});
	set();
	my $after = $server->safe_psql($db, $as_made);
	$err = $err =~ /(ERROR.*)/s && !is_refused($err, $all[$n]) ? $1 : $after ne $before ? "other objects:\n$after\ninstead of\n$before" : '';
	$wrong .= shown(%{ $all[$n] }) . ":\n$err\n" if $err ne '';
	$ended++ if $err eq '';
}
is($wrong, '', "... and so do $ended direct ones, or are refused");
make('r');
for my $refused ({ array_nulls => 'off' }, { extra_float_digits => '-9' }, { DateStyle => 'SQL, DMY' }, { xmloption => 'document' })
{
	my ($name, $value) = %$refused;
	set(%$refused);
	my ($state, $err) = query_error_as_alice(q{SELECT snowflake_convert('r.t', 'id')});
	like($err, qr/55000: cannot convert column id of table r\.t\nDETAIL:  $name is $value, by ALTER ROLE, .*\nHINT:  .*: SET $name = /, "what could change a constant is refused: $name");
	my ($help) = $err =~ /^HINT:.*(SET .*)$/m;
	is((query_error_as_alice("$help; SELECT snowflake_convert('r.t', 'id', dry_run => true)"))[0], '00000', '... and the hint helps');
}
$server->safe_psql($db, "ALTER DATABASE $db SET DateStyle = 'German'; ALTER ROLE alice RESET ALL; SET ROLE alice; CREATE TABLE r.wide (id bigserial PRIMARY KEY)");
like((query_error_as_alice(q{SELECT snowflake_convert('r.t', 'id')}))[1], qr/DateStyle is German, \w+, by ALTER DATABASE/, '... whoever has set it');
is((query_error_as_alice(q{SELECT snowflake_convert('r.wide', 'id')}))[0], '00000', 'a bigint key is converted, because no type changes');
$server->safe_psql($db, "ALTER DATABASE $db RESET DateStyle");
set();

### The session's own search_path

# As a framework sets it when it connects. After each statement it is what it was, also if the
# conversion stops there and goes on in the same session, or in another one. The schema in front of
# it belongs to mallory, whose operators fit the wider type better than PostgreSQL's.
my $odd = q{"we""ird, 'n $", "$user", public};
$server->safe_psql($db, q{CREATE ROLE mallory; CREATE SCHEMA "we""ird, 'n $" AUTHORIZATION mallory; GRANT USAGE ON SCHEMA "we""ird, 'n $" TO PUBLIC; SET ROLE mallory; SET search_path = "we""ird, 'n $";
	CREATE FUNCTION evil(a bigint, b int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RAISE EXCEPTION 'mallory was called'; END$$;
	CREATE FUNCTION evil_sum(a bigint, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RAISE EXCEPTION 'mallory was called'; END$$;} . join '', map { sprintf 'CREATE OPERATOR %s (LEFTARG = bigint, RIGHTARG = int, FUNCTION = %s);', $_, /%/ ? 'evil_sum' : 'evil' } qw(= <> > < % !~));
sub make_odd
{
	$server->safe_psql($db, q{SET client_min_messages = error; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; SET ROLE alice; CREATE TABLE r.t (id serial PRIMARY KEY, n int);
		CREATE INDEX a ON r.t ((id % 3)) WHERE id > 5; CREATE INDEX b ON r.t ((id IS DISTINCT FROM n), NULLIF(id, 4)); INSERT INTO r.t (n) SELECT generate_series(1, 50)});
	return;
}
my ($stops, $others) = (0, '');
make_odd();
my $count = () = online_statements($server, { name => 'r' });
for my $stop (0 .. $count - 1)
{
	for my $same (1, 0)
	{
		make_odd();
		$server->safe_psql($db, 'ALTER ROLE alice SET search_path = ' . $odd);
		my $connect = sub { local $ENV{PGUSER} = 'alice'; return $server->background_psql($db, on_error_die => 1, on_error_stop => 1) };
		my $session = $connect->();
		my $there = $session->query_safe('SHOW search_path');
		my $n = 0;
		for (1, 2)
		{
			# Without the first statement's notices.
			my @left = map { pack 'H*', $_ } split /\n/, $session->query_safe(q{SET client_min_messages = warning; SELECT pg_catalog.encode(pg_catalog.convert_to(s, 'UTF8'), 'hex') FROM public.snowflake_convert('r.t', 'id', online => true) s});
			for my $statement ($_ == 1 ? @left[ 0 .. $stop - 1 ] : @left)
			{
				$session->query_safe("$statement\n;");
				my $path = $session->query_safe('SHOW search_path');
				$others .= "$path after $statement\n" if $path ne $there;
			}
			next if $same || $_ == 2;
			$session->quit;
			$session = $connect->();
		}
		$session->quit;
		$server->safe_psql($db, 'ALTER ROLE alice RESET ALL');
		$stops++;
		$others .= "stopped at $stop: " . $_ . "\n" for grep { $_ ne '' } nothing_left($server, { name => 'r' });
	}
}
is($others, '', "a framework's search_path is what it was after each statement, in $stops conversions that stop and go on");
is($server->safe_psql($db, q{SELECT string_agg(pg_get_indexdef(i), '; ' ORDER BY i::text) FROM unnest(ARRAY['r.a', 'r.b']::regclass[]) i}),
	'CREATE INDEX a ON r.t USING btree (((id % (3)::bigint))) WHERE (id > 5); CREATE INDEX b ON r.t USING btree (((id IS DISTINCT FROM n)), NULLIF(id, 4))', '... and the indexes are the same');
my ($of_hers) = query_error_as_alice("SET search_path = $odd; SELECT id % 3 FROM r.t");
is($of_hers, 'P0001', "... though mallory's operators would be found");

figures('%d trials: %d known settings, %d random mixtures of %d', scalar(@all), scalar(@known), $trials, scalar(@settings));
$server->stop('fast');
done_testing();
