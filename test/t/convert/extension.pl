# The extension snowflake_convert comes and goes: it needs this extension snowflake, converted tables do
# not need it, and whoever drops it in the middle of an online conversion, or loses its library, is
# told what writers of the table will see.
# Not in the default run: it needs more than a second of processor time.

use strict;
use warnings;

use lib 'test/perl';
use Installation;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $home = own_installation();
my $extensions = installed($home, 'sharedir') . '/extension';
my $library = installed($home, 'pkglibdir') . '/snowflake_convert.so';
my $server = new_server('server', home => $home, patient => 1);
start_server($server);
my $db = 'postgres';
sub sql { return $server->safe_psql($db, join(";\n", @_)); }
sub fails
{
	my ($sql, $code, $like, $name) = @_;
	my ($state, $text) = query_error($server, $db, $sql);
	is($state, $code, $name);
	like($text, $like, '... with the reason');
	return;
}

### What it needs

fails('CREATE EXTENSION snowflake_convert', '42704', qr/required extension "snowflake" is not installed.*CASCADE/s, 'alone it cannot be created');
append_to_file("$extensions/snowflake--other.sql", "CREATE FUNCTION theirs() RETURNS int LANGUAGE sql AS 'SELECT 1';\n");
fails(q{CREATE SCHEMA theirs; CREATE EXTENSION snowflake SCHEMA theirs VERSION 'other'; CREATE EXTENSION snowflake_convert}, '55000',
	qr/this database has a different extension named snowflake/, 'another extension called snowflake is not enough');
sql('DROP EXTENSION IF EXISTS snowflake', 'CREATE EXTENSION snowflake_convert CASCADE', 'SELECT snowflake_nextval()');
is(sql(q{SELECT count(*) FROM pg_event_trigger WHERE evtname LIKE '\_snowflake%' AND 'CREATE TABLE' = ANY (evttags) AND EXISTS (SELECT FROM pg_depend d
	WHERE d.classid = 'pg_event_trigger'::regclass AND d.objid = pg_event_trigger.oid AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake'))}),
	0, 'snowflake itself has no event trigger on tables');
fails('DROP EXTENSION snowflake', '2BP01', qr/extension snowflake_convert depends on extension snowflake/, 'snowflake is not dropped before it');

### What was converted stays

sql('CREATE TABLE done (id serial PRIMARY KEY, n int)', 'INSERT INTO done (n) VALUES (1)', q{SELECT snowflake_convert('done', 'id')},
	'DROP EXTENSION snowflake_convert');
like(sql('INSERT INTO done (n) VALUES (2) RETURNING id'), qr/^\d{15,}\b/, 'a converted table does not need it');
fails('DROP EXTENSION snowflake', '2BP01', qr/default value for column id of table done depends on function snowflake_nextval/, '... but snowflake');

### In the middle of an online conversion

sql('CREATE EXTENSION snowflake_convert', 'CREATE TABLE begun (id serial PRIMARY KEY, n int)', 'INSERT INTO begun (n) VALUES (1)');
my ($step) = split /\n(?=CALL public\.snowflake_fill)/, sql(q{SELECT snowflake_convert('begun', 'id', online => true)});
sql($step);
is(sql('INSERT INTO begun (n) VALUES (2) RETURNING snowflake_new_id = id'), 't', 'an online conversion has begun');
fails('DROP EXTENSION snowflake_convert', '2BP01', qr/trigger ~snowflake_new_id on table begun depends on function snowflake_follow/,
	'the extension is not dropped, and the table is named');

# Without the library, writers of this table fail, and nobody else.
rename $library, "$library.gone" or die "$library: $!";
fails('INSERT INTO begun (n) VALUES (3)', '58P01', qr/could not access file "(?:\$libdir\/)?snowflake_convert"/, 'writers of the table need the library');
is(sql('UPDATE done SET n = n; INSERT INTO done (n) VALUES (3) RETURNING n'), 3, '... others do not');
is(sql('SELECT count(*) FROM begun'), 2, '... nor do readers');
# What the page says to do then, or after DROP EXTENSION ... CASCADE, which leaves the check constraint.
my ($status, undef, $notices) = $server->psql($db, 'DROP EXTENSION snowflake_convert CASCADE');
is($status, 0, 'the extension can be dropped without its library');
like($notices, qr/drop cascades to trigger ~snowflake_new_id on table begun/, '... and says which trigger goes');
fails('INSERT INTO begun (n) VALUES (3)', '23514', qr/violates check constraint "snowflake_(?:same|full)_id"/, '... writers fail by the check of the conversion');
sql('ALTER TABLE begun DROP COLUMN snowflake_new_id');
is(sql('INSERT INTO begun (n) VALUES (3) RETURNING n'), 3, '... until the new column is dropped');
rename "$library.gone", $library or die "$library: $!";
sql('CREATE EXTENSION snowflake_convert');
like(sql(q{SELECT snowflake_convert('begun', 'id')}), qr/^ALTER TABLE public\.begun /, '... and the table can be converted');

# Once the foreign keys are there and the sequence has passed. Created again, it goes on or abandons.
sql('CREATE TABLE again (id serial PRIMARY KEY)', 'CREATE TABLE referring (id int REFERENCES again)', 'INSERT INTO again DEFAULT VALUES', 'INSERT INTO referring VALUES (1)');
my $new = q{SELECT count(*) FROM pg_attribute WHERE attname LIKE 'snowflake\_new\_%' AND attrelid IN ('again'::regclass, 'referring'::regclass) AND NOT attisdropped};
my $call = q{snowflake_convert('again', 'id', online => true};
for my $end ('abandon', 'go on')
{
	sql("SELECT s FROM $call) AS s WHERE s !~ 'snowflake_check_switch|DROP SEQUENCE' \\gexec");
	sql('DROP EXTENSION snowflake_convert CASCADE');
	fails('INSERT INTO referring VALUES (1)', '23514', qr/violates check constraint "snowflake_same_id"/, 'rows of the referring table are refused');
	fails('ALTER TABLE again DROP COLUMN snowflake_new_id', '2BP01', qr/default value for column id.*constraint snowflake_new_referring_id_fkey/s, 'the sequence and the foreign key keep the new column');
	is(sql('BEGIN', 'ALTER SEQUENCE again_id_seq OWNED BY again.id', 'ALTER TABLE referring DROP COLUMN snowflake_new_id', 'ALTER TABLE again DROP COLUMN snowflake_new_id',
		'WITH i AS (INSERT INTO again DEFAULT VALUES RETURNING id) INSERT INTO referring SELECT 1 FROM i', $new, 'ROLLBACK'), 0, 'without the extension the columns can be dropped');
	sql('CREATE EXTENSION snowflake_convert');
	sql("SELECT $call, abandon => true) \\gexec") if $end eq 'abandon';
	is(sql($new), 0, 'with the extension it is abandoned') if $end eq 'abandon';
}
sql("SELECT $call) \\gexec");
is(sql($new, q{SELECT string_agg(format_type(atttypid, NULL), ' ') FROM pg_attribute WHERE attname = 'id' AND attrelid IN ('again'::regclass, 'referring'::regclass)},
	'SELECT count(*) FROM again JOIN referring USING (id)'), "0\nbigint bigint\n1", '... or goes on to its end');

# A column that no foreign key leads to any more is left, and abandoned by its own name.
sql('CREATE TABLE referred (id serial PRIMARY KEY)', 'CREATE TABLE left_behind (of int CONSTRAINT of_referred REFERENCES referred)');
sql(q{SELECT s FROM snowflake_convert('referred', 'id', online => true) AS s WHERE s ~ 'ADD COLUMN' \\gexec});
sql('ALTER TABLE left_behind DROP CONSTRAINT of_referred', q{SELECT snowflake_convert('referred', 'id', online => true) \\gexec});
fails('DROP EXTENSION snowflake_convert', '2BP01', qr/^DETAIL:\s+trigger ~snowflake_new_of on table left_behind depends on [^\n]+\nHINT/m, 'a column whose foreign key was dropped is left');
sql(q{SELECT snowflake_convert('left_behind', 'of', online => true, abandon => true) \\gexec});
is(sql(q{SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'left_behind'::regclass AND attnum > 0 AND NOT attisdropped}), 'of', '... until it is abandoned');
sql('BEGIN', 'DROP EXTENSION snowflake_convert', 'ROLLBACK');

### It moves

sql('CREATE SCHEMA tools', 'ALTER EXTENSION snowflake_convert SET SCHEMA tools', 'ALTER EXTENSION snowflake SET SCHEMA tools',
	'CREATE TABLE moved (id serial PRIMARY KEY)');
is(sql(q{SELECT tools.snowflake_convert('moved', 'id')}), "ALTER TABLE public.moved ALTER COLUMN id TYPE bigint, ALTER COLUMN id SET DEFAULT tools.snowflake_nextval();\n"
	  . 'DROP SEQUENCE public.moved_id_seq;', 'both extensions may be in another schema');

$server->stop('fast');
done_testing();
