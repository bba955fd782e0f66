# The tables of a registry belong to one role (section 10 of the design). If a single table has
# another owner, the protocol and the keeper are refused, and the error says why. If all tables
# belong to one role that is not a superuser, the keeper works.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
my $acquire = acquire();
my @tables = tables();
Traps::start_keeper('security');
ok(keeper_works('tables of a superuser'), 'the keeper works');

# If one table has another owner, calls are refused with the reason.
for my $table (@tables)
{
	sql("ALTER TABLE $table OWNER TO bob");
	my ($code, $text) = query_error($server, $db, "SELECT $acquire");
	is($code, '42501', "refused while $table alone has another owner");
	like($text, qr/several owners/, '... in these words');
	sql("ALTER TABLE $table OWNER TO CURRENT_USER");
}
sql('ALTER TABLE snowflake_origin OWNER TO bob');
# At once, because an answer to an earlier request may still take an earlier error away.
my $error;
ok(wait_until('the keeper notices', sub { ($error = sql('SELECT last_error_code, last_error FROM snowflake_status')) =~ /^42501\|/ }),
	'the keeper is refused too, and snowflake_status says with which code');
like($error, qr/several owners/, '... and why');
give_tables_to_bob();
ok(keeper_works('tables of bob'), 'with all tables bob\'s, the keeper works');
is(sql(q{SELECT count(*) FROM pg_class WHERE relname LIKE 'snowflake\_%' AND relkind = 'r' AND relowner = 'bob'::regrole}),
	'7', 'the tables are bob\'s');

$server->stop('fast');
done_testing();
