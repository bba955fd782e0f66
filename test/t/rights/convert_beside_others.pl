# snowflake_convert() on a table that is connected with other roles' tables by foreign keys,
# inheritance or partitioning. If their code would run, whether they are widened or only read, the
# conversion is refused, also in a dry run. The error names the table and its owner, and none of the
# code runs.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
Traps::start('rights', preload => 1);

# Checks that the conversion is refused for each of these callers, also in a dry run, and that no
# planted code ran.
sub refused
{
	my ($name, $table, $other, $owner, @callers) = @_;
	for my $caller (@callers ? @callers : qw(postgres carol))
	{
		for my $dry_run ('true', 'false')
		{
			my ($state, $text) = as_role($caller, "SELECT public.snowflake_convert('$table', 'id', $dry_run)");
			is($state, '42501', "$name: refused for $caller, dry run $dry_run") or diag($text);
			like($text, qr/table $other belongs to $owner\b.*HINT:.*OWNER TO/s, "$name: ... says with which table and why");
		}
	}
	gained_nothing($name);
	is(went_off(), '', "$name: nothing ran at all");
	return;
}

plant('alice', q{
	CREATE TABLE orders (id serial PRIMARY KEY, n int);
	INSERT INTO orders (n) VALUES (1), (2);
	GRANT REFERENCES ON orders TO bob;
});

# bob's column would be widened, and all code on it would run.
plant('bob', q{
	CREATE TABLE items (order_id int REFERENCES alice.orders, CHECK (number(order_id, 'check') > 0));
	INSERT INTO items VALUES (1);
});
sql('TRUNCATE traps.seen');
refused('a narrow column refers', 'alice.orders', 'bob.items', 'bob');

# bob's table is only read, when the foreign key is checked again: the planner evaluates constants
# in its indexes.
plant('bob', q{
	DROP TABLE items;
	CREATE TABLE items (order_id bigint REFERENCES alice.orders);
	INSERT INTO items VALUES (1);
	CREATE INDEX ON items (number(1, 'index'));
	GRANT SELECT ON items TO PUBLIC;
});
sql('TRUNCATE traps.seen');
refused('a wide column refers', 'alice.orders', 'bob.items', 'bob');

# The same for a table that the widened column refers to by another foreign key.
plant('bob', q{
	DROP TABLE items;
	CREATE TABLE others (id int PRIMARY KEY);
	INSERT INTO others VALUES (1);
	CREATE INDEX ON others (number(1, 'index'));
	GRANT SELECT, REFERENCES ON others TO alice;
});
plant('alice', 'CREATE TABLE twice (id int REFERENCES orders REFERENCES bob.others); INSERT INTO twice VALUES (1)');
sql('TRUNCATE traps.seen');
refused('a widened column refers to it, too', 'alice.orders', 'bob.others', 'bob');
plant('alice', 'DROP TABLE twice');
plant('bob', 'DROP TABLE others');

# Children, partitions, and parents of a referring table.
plant('alice', 'CREATE TABLE parent (id int)');
sql('CREATE TABLE bob.child (CHECK (bob.number(id, \'check\') > 0)) INHERITS (alice.parent)', 'ALTER TABLE bob.child OWNER TO bob',
	'INSERT INTO bob.child VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('a child', 'alice.parent', 'bob.child', 'bob');
sql('DROP TABLE bob.child');
plant('alice', 'CREATE TABLE parts (id int, n int) PARTITION BY LIST (n)');
sql('CREATE TABLE bob.part PARTITION OF alice.parts (CHECK (bob.number(id, \'check\') > 0)) FOR VALUES IN (1)',
	'ALTER TABLE bob.part OWNER TO bob', 'INSERT INTO bob.part VALUES (1, 1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('a partition', 'alice.parts', 'bob.part', 'bob');
sql('DROP TABLE bob.part');
plant('bob', q{CREATE TABLE above (order_id int, CHECK (number(order_id, 'check') > 0))});
sql('CREATE TABLE alice.below (FOREIGN KEY (order_id) REFERENCES alice.orders) INHERITS (bob.above)', 'ALTER TABLE alice.below OWNER TO alice',
	'INSERT INTO alice.below VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('what refers inherits', 'alice.orders', 'bob.above', 'bob');
sql('DROP TABLE alice.below');
# A superuser's table that inherits from an ordinary role's table: the ordinary role would be the
# attacker.
plant('alice', q{CREATE TABLE mother (id int, CHECK (number(id, 'check') > 0))});
sql('CREATE TABLE alice.daughter () INHERITS (alice.mother)', 'INSERT INTO alice.daughter VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE alice NOSUPERUSER');
refused('a superuser\'s child', 'alice.mother', 'alice.daughter', 'postgres', 'postgres');
sql('ALTER TABLE alice.daughter OWNER TO alice');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.mother', 'id')}))[0], '00000', '... and not once both have one owner');
gained_nothing('one owner');
is(went_off(), 'check as alice', '... whose code runs as that owner');

# A conversion that changes no type affects no other role's table.
plant('alice', 'CREATE TABLE wide (id bigserial PRIMARY KEY); INSERT INTO wide VALUES (1); GRANT REFERENCES ON wide TO bob');
plant('bob', q{
	CREATE TABLE items (id bigint REFERENCES alice.wide, CHECK (number(id, 'check') > 0));
	CREATE INDEX ON items (number(1, 'index'));
	INSERT INTO items VALUES (1);
	GRANT SELECT ON items TO PUBLIC;
});
sql('TRUNCATE traps.seen');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.wide', 'id')}))[0], '00000', 'a table of bigint is converted whoever refers to it');
is(went_off(), '', '... and nothing of theirs runs');


$server->stop('fast');
done_testing();
