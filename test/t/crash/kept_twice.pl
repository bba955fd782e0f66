# A black box contains a node twice, because one slot was overwritten with the bytes of another
# slot. The node continues with one of the two copies, and the other copy is removed with it. It
# does not come back after the lease was released.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('kept_twice', patient => 1, preload => 1);
begin($server);
my $life = life($server);
my $box = box_of($server);

$server->stop('immediate');
my $bytes = read_box($box);
my $size = slot_size($bytes);
substr($bytes, $slots_from + 3 * $size, $size) = substr($bytes, $slots_from, $size);
write_box($box, $bytes);
my $log = -s $server->logfile;
start_server($server);
is(life($server), $life, 'the lease goes on');
like(log_since($server, $log), qr/snowflake: 1 database continues with its previous lease/, '... of one database');
stop_with_keepers($server, 1);
ok(!-e $box, 'after a clean shutdown nothing is left');
start_server($server);
isnt(life($server), $life, '... and a lease that was released is not used again');

# Content that belongs to no node is removed, too.
$server->stop('immediate');
$bytes = read_box($box);
substr($bytes, $slots_from + 3 * $size, $size) = "\1" x $size;
write_box($box, $bytes);
start_server($server);
life($server);
stop_with_keepers($server, 1);
ok(!-e $box, 'nor is anything left of a slot that was nobody\'s');
is(taken_twice(), 0, 'no id was issued twice');
done_testing();
