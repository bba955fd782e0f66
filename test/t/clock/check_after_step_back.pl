# While a step back of the clock is bridged, ids are ahead of the server's clock. snowflake_check()
# does not call them ids of the future, and snowflake_raise() accepts them at once. Ids ahead by more
# than a minute are of the future, even if the node issues them, unless the clock is known to be behind.
use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_clock_server('checked');

sub value { return $server->safe_psql('postgres', $_[0]); }
sub found { return value(q{SELECT problem, sum(ids) FROM snowflake_check('kept', 'id') GROUP BY problem}); }
sub raise { return (query_error($server, 'postgres', "SELECT snowflake_raise($_[0])"))[0]; }

value('CREATE TABLE kept (id bigint DEFAULT snowflake_nextval()); INSERT INTO kept DEFAULT VALUES');
my $worker = status($server, 'worker');
run_from($server, some_ms($server) - 30_000);
value('INSERT INTO kept DEFAULT VALUES');
my $last = value('SELECT max(id) FROM kept');
is(found(), '', '30 s back: the node\'s own ids are not of the future');
my $before = time();
is(raise($last), '00000', '... and the largest one is accepted');
cmp_ok(time() - $before, '<', 15 * slowness(), '... at once, not after these 30 s');
my $id = value('SELECT snowflake_nextval()');
cmp_ok($id, '>', $last, '... so the next id is above it');
is(worker_of($id), $worker, '... and of the same worker id');
is(raise($id + (20_000 << 22)), '22023', 'an id 20 s ahead of the node\'s clock is refused');
value("INSERT INTO kept VALUES ($id + (50000::bigint << 22))");
is(found() =~ s/never allocated.*//r, '', 'one 50 s ahead is not of the future');
value("INSERT INTO kept VALUES ($id + (80000::bigint << 22))");
like(found(), qr/^of the future\|1$/m, '... and one 80 s ahead is');
value("DELETE FROM kept WHERE id > $id");

# No worker id may go back below what was raised, so ids go on an hour ahead of the clock.
move_clock($server, -$hour_s);
ok(wait_until('an id', sub { $id = value('INSERT INTO kept DEFAULT VALUES RETURNING id') }), 'an hour back: ids go on');
cmp_ok(value('SELECT clock_lead_seconds FROM snowflake_metrics'), '>', 3000, '... an hour ahead of the clock');
is(found(), 'ahead of the clock, which is behind what was known|3', '... as they are');
is(value('SELECT snowflake_confirm_clock()'), 't', '... until it is confirmed');
is(found(), 'of the future|3', '... and then they are of the future');
is(raise($id), '22023', '... and are refused');

$server->stop;
done_testing();
