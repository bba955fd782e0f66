# A registry's clock is a day ahead when the registry is promoted, and is set right some seconds
# later. The registry settles no longer than any other registry: not until the next day.
# Not in the default run: it starts some 100 processes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $day = 86_400;
my $primary = make_registry('primary', conf => "snowflake.max_clock_skew = 2s\n");
acquire_leases($primary, 4, duration => '6 s');
$primary->backup('copy');
my $standby = new_server('standby', from => [ $primary, 'copy' ], clock => 1, conf => sprintf("primary_conninfo = '%s'\nsnowflake.lease_duration = 24s\n", $primary->connstr));
$standby->set_standby_mode;
start_server($standby);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$primary->stop('immediate');

move_clock($standby, $day);
$standby->promote;
# SQL reads the server's clock, so the node's clock is wrong by the same time.
my ($first) = acquire_leases($standby, 1, duration => '6 s');
like($first, qr/^\d+$/, 'a worker id is acquired while the clock is ahead');
is(value($standby, q{SELECT settles_until > clock_timestamp(), settling_us FROM snowflake_origin}), 't|28000000',
	'... and the registry settles, for a lease and twice what clocks may differ by');
move_clock($standby, 0);
is(value($standby, q{SELECT settles_until > clock_timestamp() + interval '23 h' FROM snowflake_origin}), 't', 'put right, the clock is a day from the end');
acquire_leases($standby, 1, duration => '6 s');
is(value($standby, q{SELECT settles_until > clock_timestamp(), settles_until <= clock_timestamp() + interval '28 s' FROM snowflake_origin}), 't|t',
	'... which is not so for the next call: settling is counted by another clock');
my $until = value($standby, 'SELECT settles_until FROM snowflake_origin');
ok(wait_until('it to settle', sub { value($standby, "SELECT clock_timestamp() > '$until'") eq 't' }), 'that is soon over');
cmp_ok(scalar(acquire_leases($standby, 32)), '>=', 26, '... and all worker ids but those in use can be had');
is(value($standby, 'SELECT settles_until FROM snowflake_origin'), '', '... without settling again');
$standby->stop('immediate');
done_testing();
