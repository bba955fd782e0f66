# Owners who have revoked rights of their own. What a conversion needs of them is refused by its dry
# run and by its first call, which name the right and the GRANT that helps; what it does not need is
# not. Nothing fails midway.
# Not in the default run: owners rarely lack such rights.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use SnowflakeTest;
use Test::More;

my $server = convert_server('revoked');
my @tables = (
	'CREATE TABLE r.parent (id serial PRIMARY KEY, note text, CHECK (r.fine(id)))',
	'CREATE TABLE r.child (k serial PRIMARY KEY, parent_id integer REFERENCES r.parent)',
	q{INSERT INTO r.parent (note) VALUES ('a'), ('b'); INSERT INTO r.child (parent_id) SELECT id FROM r.parent});
my $functions = q{CREATE FUNCTION r.fine(n bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT n > 0';
	CREATE FUNCTION r.seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'};
# In one step these are refused.
my $on_column = 'CREATE TRIGGER seen BEFORE UPDATE OF id ON r.parent FOR EACH ROW EXECUTE FUNCTION r.seen(); CREATE VIEW r.shown AS SELECT id, note FROM r.parent';

my $named = 0;
# [what is revoked, what is named in one step, what is named online].
for my $case (
	[ ['INSERT, UPDATE, DELETE, TRUNCATE ON r.parent'], '', '' ],
	[ ['SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES ON r.child'], '', '' ],
	[ ['ALL ON SEQUENCE r.parent_id_seq'], '', '' ],
	[ ['SELECT ON r.parent'], ('SELECT on table r.parent') x 2 ],
	[ [ 'SELECT ON r.child', 'UPDATE ON r.parent' ], ('UPDATE on table r.parent') x 2 ],
	[ ['REFERENCES ON r.parent'], ('REFERENCES on table r.parent') x 2 ],
	[ ['TRIGGER ON r.parent'], '', 'TRIGGER on table r.parent' ],
	[ ['TRIGGER ON r.child'], '', 'TRIGGER on table r.child' ],
	[ ['ALL ON r.parent, r.child'], 'REFERENCES on table r.parent; SELECT on table r.parent; UPDATE on table r.parent',
		'REFERENCES on table r.parent; SELECT on table r.parent; TRIGGER on table r.child; TRIGGER on table r.parent; UPDATE on table r.parent' ],
	[ ['EXECUTE ON FUNCTION r.fine(bigint)'], ('EXECUTE on function r.fine(bigint)') x 2 ],
	[ ['EXECUTE ON FUNCTION r.seen()'], '', 'EXECUTE on function r.seen()' ])
{
	my ($revoked, @named) = @$case;
	for my $online (0, 1)
	{
		$server->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice');
		my @revoke = map { "REVOKE $_ FROM alice" . (/FUNCTION/ ? ', PUBLIC' : '') } @$revoked;
		my ($rc, undef, $err) = psql_as($server, 'alice', join '; ', $functions, @tables, $online ? $on_column : (), @revoke);
		is($rc, 0, "without @$revoked, " . ($online ? 'online' : 'in one step')) or diag($err);
		my $call = q{snowflake_convert('r.parent', 'id'};
		my $dry = $online ? "SELECT count(*) FROM $call, online => true)" : "SELECT count(*) FROM $call, dry_run => true)";
		(undef, undef, $err) = psql_as($server, 'alice', $dry);
		my @lines = $err =~ /alice does not have the privilege (.*)$/mg;
		is(join('; ', @lines), $named[$online], '... the rights that it needs are named');
		$named += @lines;
		if (@lines)
		{
			like($err, qr/ERROR:  42501: cannot convert column id of table r\.parent/, '... as an error');
			my ($hint) = $err =~ /^HINT:  (.*?)(?=^LOCATION|\z)/ms;
			($rc, undef, $err) = psql_as($server, 'alice', join ' ', map { "$_;" } $hint =~ /Run (GRANT .*)\.$/mg);
			is($rc, 0, '... and its hint can be followed') or diag($err);
		}
		($rc, undef, $err) = psql_as($server, 'alice', "SELECT $call" . ($online ? ', online => true) \gexec' : ')'));
		is($rc, 0, '... then it converts') or diag($err);
		is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_attribute WHERE attrelid IN ('r.parent'::regclass, 'r.child'::regclass) AND attname IN ('id', 'parent_id') AND atttypid = 'bigint'::regtype}),
			'2', '... both columns');
	}
}
figures('%d rights named', $named);

# On a copy of a foreign key for a partition no right is needed, nor to call what is replaced.
$server->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; CREATE FUNCTION r.next() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$');
my ($rc, undef, $err) = psql_as($server, 'alice', q{CREATE TABLE r.p (id integer DEFAULT r.next(), x integer, PRIMARY KEY (id, x)) PARTITION BY LIST (x); CREATE TABLE r.p0 PARTITION OF r.p DEFAULT;
	CREATE TABLE r.q (p_id integer, x integer, FOREIGN KEY (p_id, x) REFERENCES r.p); INSERT INTO r.p (x) VALUES (1); INSERT INTO r.q VALUES (1, 1);
	REVOKE REFERENCES, SELECT ON r.p0 FROM alice});
$server->safe_psql('postgres', 'REVOKE EXECUTE ON FUNCTION r.next() FROM PUBLIC');
($rc, undef, $err) = psql_as($server, 'alice', q{SELECT snowflake_convert('r.p', 'id')});
is($rc, 0, 'a right on a partition, and on the function of a default, is not needed') or diag($err);

# Who inserts calls snowflake_nextval().
$server->safe_psql('postgres', 'REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC');
psql_as($server, 'alice', 'CREATE TABLE r.t (id serial PRIMARY KEY)');
for my $role ('postgres', 'alice')
{
	($rc, undef, $err) = psql_as($server, $role, q{SELECT snowflake_convert('r.t', 'id', dry_run => true)});
	like($err, qr/ERROR:  42501: .*table r\.t belongs to alice, who may not call public\.snowflake_nextval\(\)\n.*Run GRANT EXECUTE ON FUNCTION public\.snowflake_nextval\(\) TO alice\.$/ms, "$role: the owner may not call the default");
}
$server->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION public.snowflake_nextval() TO alice');
($rc, undef, $err) = psql_as($server, 'alice', q{SELECT snowflake_convert('r.t', 'id'); INSERT INTO r.t DEFAULT VALUES});
is($rc, 0, '... and then may') or diag($err);

done_testing();
