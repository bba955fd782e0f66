# Faults of the registry's server: it is stopped, paused or killed, or its disk is full. As long as
# the window lasts, no call of a node fails or waits (G4). Then calls fail with SF001 and the
# reason, after start_timeout. When the server is back, ids are issued again, under the same lease,
# and no id appears twice (G1). Each fault lasts until a call fails.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use lib 'test/perl';
use FullDisk;
use OutageTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $disk = FullDisk->new;
sub start_registry { my ($registry) = @_; $registry->{snowflake_disk} = $disk; return start_server($registry); }
my $registry = tcp_registry(start => \&start_registry);
my $node = relayed_node($registry, '4s');
ids_flow($node, 'a node has a lease');

my $unreachable = qr/last error, .*(?:could not connect to|lost the connection to) the registry/;

outage($node, 'stopped', begin => sub { $registry->stop('fast') }, end => sub { start_registry($registry) }, reason => $unreachable);

# A call fails a second before the keeper gives up, unless the machine is stopped meanwhile.
outage($node, 'paused', begin => sub { pause_server($registry) }, end => sub { resume_server($registry) },
	reason => qr/had no answer from the registry within 1|in time/, warnings => '0|1');

outage($node, 'killed', begin => sub { kill_server($registry, children => 1) }, end => sub { start_registry($registry) }, reason => $unreachable);

SKIP:
{
	skip 'no compiler for the shim that fills the disk', 2 unless $disk;
	my $log = -s $registry->logfile;
	outage($node, 'disk full', begin => sub { $disk->fill }, reason => qr/last error/,
		end => sub {
			$disk->empty;
			# A server that cannot write its WAL shuts down.
			kill_server($registry, children => 1) if -e $registry->data_dir . '/postmaster.pid';
			$registry->kill9;
			start_registry($registry);
		});
	like(slurp_file($registry->logfile, $log), qr/No space left on device/, 'the registry had no space');
}

outages_over($node);
$registry->stop('fast');
done_testing();
