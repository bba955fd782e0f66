# A server that cannot create a black box issues ids anyway. The causes tried are a /dev/shm that is
# full, too small, read-only or missing, and a limit on the size of files. The log reports it once
# after each start. A crash then costs a lease, and no process dies of a memory access without
# backing store (SIGBUS).
# Not in the default run: it needs 2 s of processor time.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
# Otherwise PostgreSQL itself needs room in /dev/shm. PostgreSQL's files are shorter than a box for
# so many databases.
my $server = new_server('no_room', patient => 1, preload => 1,
	conf => "restart_after_crash = on\ndynamic_shared_memory_type = mmap\nsnowflake.max_databases = 10000\nmin_wal_size = 2MB\nmax_wal_size = 3MB\n");
my @cases = (
	[ 'too small a limit on files', "ulimit -f 6144" ],
	[ 'too small a /dev/shm', 'mount -t tmpfs -o size=8k none /dev/shm', mounts => 1 ],
	[ 'a full /dev/shm', "mount -t tmpfs -o size=64k none /dev/shm\nhead -c 60k /dev/zero >/dev/shm/full", mounts => 1 ],
	[ 'a /dev/shm without inodes', "mount -t tmpfs -o nr_inodes=2 none /dev/shm\ntouch /dev/shm/full", mounts => 1 ],
	[ 'a read-only /dev/shm', 'mount -t tmpfs -o ro none /dev/shm', mounts => 1 ],
	[ 'no /dev/shm', "mount -t tmpfs -o mode=0755 none /dev/shm\ncd /dev/shm\n"
		  . "for file in null zero urandom; do touch \$file; mount --bind /dev/\$file \$file; done\nmount --rbind . /dev\ncd - >/dev/null", mounts => 1 ],
);
if (!can_unshare())
{
	diag('skipped: all that needs another /dev/shm: this user may not create name spaces, or the test runs there');
	@cases = grep { @$_ == 2 } @cases;
}

for my $case (@cases)
{
	my ($what, $commands, %options) = @$case;
	my $log = -s $server->logfile // 0;
	start_within($server, $commands, %options);
	value($server, 'CREATE EXTENSION IF NOT EXISTS snowflake');
	my ($lease) = first_call($server);
	my $said = log_since($server, $log);
	is(scalar(() = $said =~ /$none/g), 1, "with $what ids flow, and the log says once that there is no box");
	figures('%s: %s', $what, $said =~ /cannot be created: (.*)/ ? $1 : 'not said');
	take($server, 1000);
	is(scalar(boxes_of($server)), 0, '... which there is not');

	$log = -s $server->logfile;
	ok(kill_backend($server), '... a session is killed');
	cmp_ok((first_call($server))[0], '>', $lease, '... then another lease is acquired');
	is(scalar(() = log_since($server, $log) =~ /$none/g), 1, '... and the log says again that there is no box');
	unlike(log_since($server, $log), $gone, '... and not that one is gone, which never was');
	unlike(slurp_file($server->logfile), qr/terminated by signal (?!9:)/, '... and nothing but that session died');
	$server->stop('fast');
}
is(taken_twice(), 0, 'no id was issued twice');
done_testing();
