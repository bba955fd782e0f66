# Warnings take time in proportion to the texts that they search: a key to which 1,000 tables refer,
# with a trigger function of 1 MB and 24 of 120 kB, beside 1,000 functions that they may call. A
# regular expression over these texts would take minutes; the limit is half a minute.
# Not in the default run: it needs 2 s of processor time.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Time::HiRes 'time';

my $server = new_server('server', conf => "fsync = off\nautovacuum = off\nmax_locks_per_transaction = 256\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_convert CASCADE');
$server->safe_psql('postgres', q{
	CREATE TABLE top (id serial PRIMARY KEY);
	DO $do$ BEGIN
		FOR n IN 1 .. 1000 LOOP
			EXECUTE format('CREATE TABLE t_%s (top_id integer REFERENCES top, "topId" integer)', n);
			EXECUTE format('CREATE FUNCTION f_%s(integer) RETURNS void LANGUAGE sql AS %L', n, '');
		END LOOP;
		FOR n IN 1 .. 25 LOOP
			EXECUTE format('CREATE FUNCTION changed_%s() RETURNS trigger LANGUAGE plpgsql AS %L', n, 'BEGIN ' || (
				SELECT string_agg(format(E'PERFORM other_%s(new.top_id, x) WHERE new.top_id IN (1, 2) OR a.b(c(d(e))); -- f_ (\n', i), '')
				FROM generate_series(1, CASE n WHEN 1 THEN 12000 ELSE 1500 END) i) || format('PERFORM f_%s(new.top_id); RETURN new; END', n));
			EXECUTE format('CREATE TRIGGER changed AFTER INSERT ON t_%s EXECUTE FUNCTION changed_%1$s()', n);
		END LOOP;
	END $do$});
is($server->safe_psql('postgres', q{SELECT max(length(prosrc)) > 1000000, min(length(prosrc)) > 120000 FROM pg_proc WHERE proname ~ '^changed_'}), 't|t', 'the functions are as long as that');

my $limit = 30 * slowness();
my $begun = time;
is($server->safe_psql('postgres', qq{SET statement_timeout = '${limit}s';
	SELECT kind, count(*) FROM snowflake_convert_warnings('top', 'id') GROUP BY 1 ORDER BY 1}), "function|25\nunreferenced|1000", 'each function and each column is named');
figures('1,000 tables and %.1f MB of functions: %.1f s', $server->safe_psql('postgres', q{SELECT sum(length(prosrc)) / 1e6 FROM pg_proc WHERE proname ~ '^changed_'}), time - $begun);

$server->stop('fast');
done_testing();
