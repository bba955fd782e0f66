# With a registry on another server, a primary, a standby, a cascading standby and a copy made by
# pg_basebackup issue ids at the same time, each under its own worker id (G1). The standby is
# promoted, and the old primary becomes its standby by pg_rewind. The test compares all ids that
# clients of these servers got.

use strict;
use warnings;

use ReplicationTest;
use SnowflakeTest;
use Test::More;

my ($registry, $conninfo) = start_registry();
my $primary = new_server('primary', streaming => 1, patient => 1, conf => quiet() . "wal_log_hints = on\nsnowflake.registry = '$conninfo'\n");
start_server($primary);
value($primary, 'CREATE EXTENSION snowflake');
my %loads = (primary => load($primary));
ok(ids_flow($loads{primary}), 'the primary issues');

# The backup is made while the server issues ids.
my $standby = standby_of($primary, 'standby');
my $cascaded = standby_of($standby, 'cascaded');
$primary->backup('beside');
my $copy = new_server('copy', from => [ $primary, 'beside' ]);
start_server($copy);
my @servers = ($primary, $standby, $cascaded, $copy);
$loads{ $_->name } = load($_) for $standby, $cascaded, $copy;
ok(ids_flow($loads{ $_->name }), $_->name . ' issues') for @servers;
is(value($_, 'SELECT pg_is_in_recovery()'), 't', '... ' . $_->name . ' in recovery') for $standby, $cascaded;
my %workers = map { worker($_) => 1 } @servers;
is(scalar(keys %workers), 4, '... each with a worker id of its own: ' . join(' ', sort keys %workers));

my $before = worker($standby);
$standby->promote;
ok(ids_flow($loads{standby}), 'the promoted standby goes on');
is(worker($standby), $before, '... under the worker id that it has');
ok(wait_until('the cascaded one', sub { value($cascaded, q{SELECT count(*) FROM pg_stat_wal_receiver WHERE received_tli = 2}) eq '1' }), 'the cascading standby follows it');
ok(ids_flow($loads{$_}), "... and $_ issues") for qw(cascaded primary);
stop_clients($loads{primary});
$primary->stop('fast');
ok(rewind($primary, $standby), 'the old primary follows the promoted one');
$loads{primary} = load($primary);
ok(ids_flow($loads{$_}), "... and $_ issues") for qw(primary standby cascaded copy);
is(value($primary, 'SELECT pg_is_in_recovery()'), 't', '... the old primary in recovery');
%workers = map { worker($_) => 1 } @servers;
is(scalar(keys %workers), 4, '... again each with a worker id of its own');
stop_clients($_) for values %loads;
none_twice('a primary, two standbys in a row, a copy and the rewound primary, all at once');
$_->stop('fast') for $primary, $cascaded, $standby, $copy;
is(value($registry, 'SELECT count(*) FROM snowflake_registry'), '0', 'every lease is back');

$registry->stop('fast');
done_testing();
