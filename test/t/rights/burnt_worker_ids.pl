# A hostile role uses up worker ids (G1, G4). It acquires as many leases as it may, again and again,
# and releases each with the highest tick that it may. No watermark is further ahead than a lease's
# window can be, nor, once the worker id is free, than the skew. The honest nodes are never long
# without ids.
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use HonestNodes;
use PostgreSQL::Test::Utils;
use ProtocolTest qw(lease_function);
use SnowflakeTest;
use Test::More;

HonestNodes::start();
my $tick = tick();

# The longest possible window, with the clock that is furthest ahead.
my $turn = "SELECT lease_id AS l, secret AS t, window_end AS e FROM pg_temp.lease('x', $tick, '1 h') \\gset\n"
  . "SELECT window_end AS e FROM ids.snowflake_lease_extend(:l, sha256(:'t'), $tick + 9000, '1 h', 0, 0, 0) \\gset\n"
  . "SELECT ids.snowflake_lease_release(:l, :'t', :e - 1, 0);\n"
  . "SELECT ids.snowflake_lease_release(:l, :'t', $tick + 9000, :e);\n";
my $text = "\\set l 1\n\\set t '11111111-1111-1111-1111-111111111111'\n\\set e 1\n"
  . lease_function('ids') . $turn x 300;
my (undef, $stderr) = run_as('hostile', $text);
like($stderr, qr/ahead of the registry's clock/, 'ticks that nobody can have used are refused');
is(sql("SELECT count(*) FROM ids.snowflake_watermark WHERE last_tick > $tick + 3600000 + 11000"), '0', 'no watermark is further ahead than a lease goes');
is(sql("SELECT count(*) FROM ids.snowflake_watermark w WHERE last_tick > $tick + 11000 AND NOT EXISTS (SELECT FROM ids.snowflake_registry r WHERE r.worker_id = w.worker_id)"),
	'0', '... nor, of a worker id that is free, than the skew');

honest_nodes_are_well();
done_testing();
