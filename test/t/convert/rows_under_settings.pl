# Whatever a session has set, a conversion evaluates rows under it, as all other statements of the
# session do: functions that are immutable while a setting stays have the same results in indexes and
# checks before and after. So indexes find the same rows, and unique ones stay unique. Under some
# settings only online: in one step, PostgreSQL could change constants.
# Not in the default run: two conversions of a table with ten indexes under each of ten settings.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use SnowflakeTest;
use Test::More;

my $server = convert_server('rows_under_settings', conf => "log_min_error_statement = panic\n");
$server->safe_psql('postgres', q{CREATE SCHEMA f AUTHORIZATION alice; SET ROLE alice;
	CREATE FUNCTION f.flat(t text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN replace(t, '\n', ' '); END$$;
	CREATE FUNCTION f.flats(t text) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT replace(t, '\n', ' ')$$;
	CREATE FUNCTION f.is_null(t text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN coalesce(t = NULL, false); END$$;
	CREATE FUNCTION f.tags(t text) RETURNS text[] IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN '{' || t || '}'; END$$;}
	. join '', map { "CREATE FUNCTION f.as_text(v $_) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN v::text; END';" } qw(date timestamptz interval bytea float8));
my @expressions = qw{f.flat(note) f.flats(note) quote_ident(note) f.is_null(note) f.as_text(day) f.as_text(at) f.as_text(lag) f.as_text(raw) f.as_text(x) f.tags(tags)};
my @settings = ([], [qw(standard_conforming_strings off)], [qw(transform_null_equals on)], [qw(quote_all_identifiers on)], [qw(DateStyle German)], [ 'DateStyle', 'SQL, DMY' ], [qw(TimeZone Asia/Kolkata)],
	[qw(IntervalStyle sql_standard)], [qw(bytea_output escape)], [qw(extra_float_digits -5)], [qw(array_nulls off)]);
# From 19 on, it cannot be turned off.
@settings = grep { ($_->[0] // '') ne 'standard_conforming_strings' } @settings if $server->pg_version->major >= 19;

sub as_alice
{
	my ($sql) = @_;
	my ($rc, $out, $err) = psql_as($server, 'alice', "SET client_min_messages = error;\n$sql");
	return $rc == 0 ? $out : "ERROR $err";
}
# The rows that have the first row's result, for each expression, found in one way.
sub found
{
	my ($off) = @_;
	return as_alice("SET $off = off; SET enable_bitmapscan = off; " . join '; ', map {
		"SELECT string_agg(id::text, ' ' ORDER BY id) FROM (SELECT id FROM f.t WHERE $_ = (SELECT $_ FROM f.t WHERE n = 1) OFFSET 0) a" } @expressions);
}

my ($ended, $wrong) = (0, '');
for my $setting (@settings)
{
	my ($name, $value) = @$setting;
	my $is_refused = ($name // '') =~ /^(DateStyle|extra_float_digits|array_nulls)$/;
	$server->safe_psql('postgres', 'ALTER ROLE alice RESET ALL' . ($name ? "; ALTER ROLE alice SET $name = '$value'" : ''));
	for my $online (0, 1)
	{
		my $where = ($online ? 'online' : 'directly') . ' under ' . ($name ? "$name = $value" : 'no setting');
		my $said = as_alice(q{DROP TABLE IF EXISTS f.t; CREATE TABLE f.t (id serial PRIMARY KEY, n int, note text, day date, at timestamptz, lag interval, raw bytea, x float8, tags text);
			INSERT INTO f.t (n, note, day, at, lag, raw, x, tags) VALUES (1, chr(97) || chr(92) || chr(110), make_date(2026, 2, 4), make_timestamptz(2026, 2, 4, 12, 0, 0, 'UTC'),
				make_interval(days => -1, hours => -2), decode('5c00', 'hex'), 0.1234567890123456, 'NULL,7'), (2, 'c', make_date(2025, 3, 1), make_timestamptz(2025, 3, 1, 12, 0, 0, 'UTC'), make_interval(days => 3),
				decode('41', 'hex'), 2, 'a');}
			. join '', map { my $column = $_ + 1; "ALTER TABLE f.t ADD e$column text; UPDATE f.t SET e$column = ($expressions[$_])::text; ALTER TABLE f.t ADD CHECK (id > 0 AND e$column = ($expressions[$_])::text);
				CREATE UNIQUE INDEX ON f.t (($expressions[$_]), (id > 0)) WHERE n = 1; CREATE INDEX ON f.t (($expressions[$_]), (id % 2));" } 0 .. $#expressions);
		my $before = found('enable_seqscan');
		$said .= as_alice($online ? q{SELECT snowflake_convert('f.t', 'id', online => true) \gexec} : q{SELECT snowflake_convert('f.t', 'id')});
		$said = $said =~ /(ERROR.*)/s ? $1 : '';
		next if !$online && $is_refused && $said =~ /could change constants in checks and indexes/;
		my ($by_index, $by_rows) = (found('enable_seqscan'), found('enable_indexscan'));
		$said .= "by index $by_index\nby rows $by_rows\nbefore $before" if $by_index ne $by_rows || $by_index ne $before || $before !~ /1/;
		$said .= 'not converted' if $server->safe_psql('postgres', q{SELECT atttypid FROM pg_attribute WHERE attrelid = 'f.t'::regclass AND attname = 'id'}) != 20;
		$wrong .= "$where: $said\n" if $said ne '';
		$ended++ if $said eq '';
	}
}
is($wrong, '', "$ended conversions evaluate rows as all statements of their session do");
figures('%d trials (conversions), %d expressions each, %d right', 2 * @settings - 4, scalar @expressions, $ended);
$server->stop('fast');
done_testing();
