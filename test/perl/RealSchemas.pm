# The schemas of real applications in schemas/: each loaded into a database of its own that belongs
# to the ordinary role `app`, rows for its tables, and what a conversion of all its keys must change.
# The test's own objects are in the schema `watch`, which no dump contains.
package RealSchemas;

use strict;
use warnings;

use ConvertTest;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;

our @EXPORT = qw(schema_names schema_server load_schema as_app fill_tables count_tables schema_file fix_part keys_of warned_of widened_columns
  filenodes rewrites contents expected_dump schema_dump);

sub schema_names { return map { m{/(\w+)\.sql$} ? $1 : () } sort glob 'test/schemas/*.sql'; }
sub schema_file { my ($name, $type) = @_; my $file = "test/schemas/$name.$type"; return -e $file ? slurp_file($file) : ''; }

# The statements of NAME.fix.sql for a moment, which schemas/README.md lists: the part below the line
# "-- MOMENT".
sub fix_part
{
	my ($name, $moment) = @_;
	return schema_file($name, 'fix.sql') =~ /^-- \Q$moment\E\n(.*?)(?=^-- (?:before|dropped|again|rows|after)\n|\z)/ms ? $1 : '';
}

# One transaction converts up to 200 tables, each with its indexes and foreign keys.
sub schema_server
{
	my ($name) = @_;
	my $server = new_server($name, patient => 1, conf => "max_locks_per_transaction = 512\nfsync = off\nautovacuum = off\nmax_worker_processes = 20\n");
	start_server($server);
	$server->safe_psql('postgres', 'CREATE ROLE app LOGIN');
	return $server;
}

# Runs SQL in the schema's database, in a session of its owner. Returns (status, output, errors).
sub as_app
{
	my ($server, $name, $sql) = @_;
	my ($rc, $out, $err) = $server->psql($name, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1, connstr => $server->connstr($name) . ' user=app');
	return ($rc, $out, $err // '');
}

sub load_schema
{
	my ($server, $name) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $name OWNER app");
	$server->safe_psql($name, q{SET client_min_messages = warning; CREATE EXTENSION snowflake_convert CASCADE});
	$server->safe_psql($name, watching());
	my ($rc, $out, $err) = as_app($server, $name, schema_file($name, 'sql'));
	die "$name: $err" if $rc != 0;
	return;
}

# The schema `watch`: an event trigger that counts rewrites, the schema's tables and keys, the columns
# that take their values from a key, and checksums of the rows.
#
# watch.fill() gives each table that it can `count` rows: with values by type, and references to rows
# in turn. What has a default takes it, and what may be null and refers to nothing is null. Tables
# whose constraints refuse such rows stay empty. Each `turn` has other values than the one before.
sub watching
{
	return q{
CREATE SCHEMA watch;
CREATE TABLE watch.rewrite (relation oid);
GRANT USAGE ON SCHEMA watch TO app;
CREATE FUNCTION watch.note_rewrite() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
	AS 'BEGIN INSERT INTO watch.rewrite VALUES (pg_event_trigger_table_rewrite_oid()); END';
CREATE EVENT TRIGGER watch ON table_rewrite EXECUTE FUNCTION watch.note_rewrite();

CREATE VIEW watch.tables AS SELECT oid AS relation FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
	AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e');
CREATE VIEW watch.keys AS SELECT attrelid AS relation, attnum AS number, attname AS name, d.objid AS sequence
	FROM watch.tables JOIN pg_depend d ON refobjid = relation JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
	WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
		AND EXISTS (SELECT FROM pg_sequence WHERE seqrelid = d.objid)
		AND EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisunique AND attnum = ANY (indkey))
		AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = attrelid AND contype = 'f' AND attnum = ANY (conkey));
CREATE VIEW watch.columns AS
	WITH RECURSIVE converted AS (
		SELECT relation AS of_key, relation, number FROM watch.keys
		UNION
		SELECT of_key, conrelid, conkey[i] FROM converted JOIN pg_constraint ON confrelid = relation AND contype = 'f', generate_subscripts(confkey, 1) i
		WHERE confkey[i] = number)
	SELECT of_key, attrelid AS relation, attname AS name, atttypid IN ('smallint'::regtype, 'integer'::regtype) AS narrow
	FROM converted JOIN pg_attribute ON attrelid = relation AND attnum = number;
CREATE FUNCTION watch.contents() RETURNS SETOF text STABLE LANGUAGE plpgsql AS $$
DECLARE
	t regclass;
	sum text;
BEGIN
	FOR t IN SELECT relation FROM watch.tables ORDER BY relation::regclass::text LOOP
		EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM %s t', t) INTO sum;
		RETURN NEXT t || ' ' || coalesce(sum, '');
	END LOOP;
END $$;

CREATE FUNCTION watch.value(type regtype, modifier integer, turn integer) RETURNS text STABLE LANGUAGE sql AS $$
	SELECT CASE
		WHEN typtype = 'e' THEN format('%L::%s', (SELECT enumlabel FROM pg_enum WHERE enumtypid = type ORDER BY enumsortorder LIMIT 1), type)
		WHEN typcategory = 'A' THEN format('''{}''::%s', type)
		WHEN type IN ('json'::regtype, 'jsonb'::regtype) THEN format('''{}''::%s', type)
		WHEN typcategory = 'S' THEN format('left(n || ''-%s'', %s)', turn, CASE WHEN modifier > 4 THEN modifier - 4 ELSE 100 END)
		WHEN typcategory = 'N' THEN format('(%s + n)::%s', 100 * (turn + 1), type)
		WHEN typcategory = 'B' THEN 'true'
		WHEN typcategory = 'D' THEN format('now()::%s', type)
		WHEN typcategory = 'T' THEN '''1 hour''::interval'
		WHEN type = 'uuid'::regtype THEN 'gen_random_uuid()'
		WHEN type = 'inet'::regtype THEN format('(''10.0.%s.'' || n)::inet', turn)
		WHEN type = 'bytea'::regtype THEN format('convert_to(%s || ''-'' || n, ''UTF8'')', turn)
		END FROM pg_type WHERE oid = type $$;

CREATE FUNCTION watch.insert_into(relation regclass, count integer, turn integer) RETURNS text STABLE LANGUAGE sql AS $$
	SELECT format('INSERT INTO %s (', relation) || string_agg(quote_ident(attname), ', ' ORDER BY attnum) || ') SELECT '
			|| string_agg(CASE WHEN confrelid IS NULL THEN watch.value(atttypid, atttypmod, turn)
			ELSE format('(SELECT %I FROM %s ORDER BY ctid OFFSET (n - 1 + %s) %% greatest((SELECT count(*) FROM %2$s), 1) LIMIT 1)',
				(SELECT r.attname FROM pg_attribute r WHERE r.attrelid = confrelid AND r.attnum = confkey[array_position(conkey, a.attnum)]),
				confrelid::regclass, count * turn) END, ', ' ORDER BY attnum) || format(' FROM generate_series(1, %s) n', count)
	FROM pg_attribute a LEFT JOIN LATERAL (SELECT confrelid, conkey, confkey FROM pg_constraint
		WHERE conrelid = attrelid AND contype = 'f' AND attnum = ANY (conkey) ORDER BY cardinality(conkey) DESC, oid LIMIT 1) c ON true
	WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
		AND (confrelid <> relation AND (attnotnull OR NOT atthasdef) OR confrelid IS NULL AND attnotnull AND NOT atthasdef AND attidentity = '') $$;

CREATE FUNCTION watch.fill(count integer, turn integer, OUT filled regclass[], OUT refused text) LANGUAGE plpgsql AS $$
DECLARE
	t regclass;
	before integer := -1;
BEGIN
	filled := '{}';
	WHILE cardinality(filled) > before LOOP
		before := cardinality(filled);
		refused := '';
		FOR t IN SELECT relation FROM watch.tables WHERE relation <> ALL (filled) ORDER BY relation::regclass::text LOOP
			-- First the tables that others refer to
			CONTINUE WHEN EXISTS (SELECT FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
				WHERE conrelid = t AND contype = 'f' AND confrelid <> t AND confrelid <> ALL (filled) AND attnotnull);
			BEGIN
				IF watch.insert_into(t, count, turn) IS NOT NULL THEN EXECUTE watch.insert_into(t, count, turn);
				ELSE FOR i IN 1 .. count LOOP EXECUTE format('INSERT INTO %s DEFAULT VALUES', t); END LOOP;
				END IF;
				SET CONSTRAINTS ALL IMMEDIATE;
				filled := filled || t;
			EXCEPTION WHEN OTHERS THEN refused := refused || format(E'%s: %s %s\n', t, sqlstate, sqlerrm);
			END;
		END LOOP;
	END LOOP;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA watch TO app;
};
}

# Returns the names of the tables that have got rows, and why others have none.
sub fill_tables
{
	my ($server, $name, $count, $turn) = @_;
	my ($rc, $out, $err) = as_app($server, $name, fix_part($name, 'rows') . "SELECT array_to_string(filled, E'\\t'), refused FROM watch.fill($count, $turn)");
	die "$name: $err" if $rc != 0;
	my ($filled, $refused) = split /\|/, $out, 2;
	return ([ split /\t/, $filled ], $refused);
}

# What the schema has: (tables, keys, foreign keys).
sub count_tables
{
	my ($server, $name) = @_;
	return split /\|/, $server->safe_psql($name, q{SELECT (SELECT count(*) FROM watch.tables), (SELECT count(*) FROM watch.keys),
		(SELECT count(*) FROM pg_constraint JOIN watch.tables ON conrelid = relation WHERE contype = 'f')});
}

# [table, column, sequence] of each key that has a sequence of its own.
sub keys_of
{
	my ($server, $name) = @_;
	return map { [ split /\t/ ] } split /\n/, $server->safe_psql($name, q{SELECT concat_ws(E'\t', relation::regclass, quote_ident(name), sequence::regclass) FROM watch.keys ORDER BY 1});
}

# The columns and functions in the warnings of a dry run.
sub warned_of
{
	my ($errors) = @_;
	return ($errors =~ /^(?:DETAIL:  )?(column \S+ of table \S+) is of type /mg, $errors =~ /^.*?NOTICE:  \w+: (function .*?) may handle /mg);
}

# Table => [columns] that are narrow, and have to become bigint if all keys are converted, or that of
# one table.
sub widened_columns
{
	my ($server, $name, $table) = @_;
	my %columns;
	my $which = $table ? 'of_key = ' . literal($table) . '::regclass' : 'true';
	for (split /\n/, $server->safe_psql($name, "SELECT DISTINCT concat_ws(E'\\t', relation::regclass, quote_ident(name)) FROM watch.columns WHERE narrow AND $which"))
	{
		my ($table, $column) = split /\t/;
		push @{ $columns{$table} }, $column;
	}
	return \%columns;
}

# Table => the number of its file, which a rewrite changes.
sub filenodes
{
	my ($server, $name) = @_;
	return { map { split /\t/ } split /\n/, $server->safe_psql($name, q{SELECT relation::regclass || E'\t' || pg_relation_filenode(relation) FROM watch.tables}) };
}

# Table => how often it was rewritten, by the event trigger.
sub rewrites
{
	my ($server, $name) = @_;
	return { map { split /\t/ } split /\n/, $server->safe_psql($name, q{SELECT relation::regclass || E'\t' || count(*) FROM watch.rewrite GROUP BY relation}) };
}

# A line for each table: its rows, as a checksum.
sub contents { my ($server, $name) = @_; return $server->safe_psql($name, 'SELECT watch.contents()'); }

# With `without_order`, columns have no order.
sub schema_dump
{
	my ($server, $name, %options) = @_;
	return dump_of($server, dbname => $name, without => 'watch', exact => !$options{without_order});
}

# What a dump must be afterwards: these columns are bigint, these keys have the default
# snowflake_nextval(), and their sequences are gone. All else stays, to the letter.
sub expected_dump
{
	my ($entries, $widened, @keys) = @_;
	my %expected = %$entries;
	my %entry;
	for my $name (keys %expected) { $entry{"$2 $1"} = $name if $name =~ /^Name: (.*?); Type: (.*?); Schema: public;/; }
	my $plain = sub { return $_[0] =~ /^"(.*)"$/ ? $1 : $_[0]; };
	for my $table (keys %$widened)
	{
		my $body = \$expected{ $entry{ 'TABLE ' . $plain->($table) } };
		$$body =~ s/^(    \Q$_\E) (?:smallint|integer)\b/$1 bigint/m for @{ $widened->{$table} };
	}
	for my $key (@keys)
	{
		my ($table, $column, $sequence) = @$key;
		$expected{ $entry{ 'TABLE ' . $plain->($table) } } =~ s/^(    \Q$column\E bigint)( (?:CONSTRAINT \S+ )?NOT NULL)/$1 DEFAULT public.snowflake_nextval()$2/m;
		delete $expected{ $entry{$_} // '' } for 'DEFAULT ' . $plain->($table) . ' ' . $plain->($column), map { "$_ " . $plain->($sequence) } 'SEQUENCE', 'SEQUENCE OWNED BY';
	}
	return \%expected;
}

1;
