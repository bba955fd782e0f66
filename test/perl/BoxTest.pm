# What the tests of the black box share: the shared memory object of a server, which is a file in
# /dev/shm here, and the crashes and starts of that server.
package BoxTest;

use strict;
use warnings;

use Cwd qw(getcwd);
use Exporter 'import';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(need_boxes read_box write_box $directory_from $slots_from slot_size plant die_and_start kill_backend stop_with_keepers begin life first_call log_since
  $none $gone $unusable $taken_away start_within can_unshare);

# Messages of the log, each once for a start, with the object's name if an object exists.
our $none = qr/WARNING:  snowflake: there is no black box; after a crash/;
our $gone = qr/LOG:  snowflake: the server was not shut down and its black box is missing/;
our $unusable = qr/WARNING:  snowflake: the shared memory object "([^"]*)" cannot be used/;
our $taken_away = qr/LOG:  snowflake: the shared memory object "([^"]*)" was lost while the server ran/;

# A box consists of a header, which contains the data directory from byte $directory_from on, and
# slots.
our $directory_from = 272;
our $slots_from = 384;

# Objects that a test put in place of a box, which later tests must not find.
my @planted;
END { -d $_ && !-l $_ ? rmdir $_ : unlink $_ for @planted; }

# Skips the whole test if shared memory objects are not files.
sub need_boxes
{
	plan(skip_all => 'shared memory objects are no files of /dev/shm here') unless -d '/dev/shm' && -w _;
	return;
}

sub read_box
{
	my ($file) = @_;
	open(my $box, '<:raw', $file) or die "$file: $!";
	local $/;
	return <$box>;
}

# Overwrites the file in place: it keeps its inode, owner and mode.
sub write_box
{
	my ($file, $bytes) = @_;
	open(my $box, '+<:raw', $file) or die "$file: $!";
	print $box $bytes;
	truncate($box, length $bytes) or die "$file: $!";
	close $box or die "$file: $!";
	return;
}

# The length of a slot, which the header has.
sub slot_size { return unpack 'q', substr $_[0], $directory_from + 8, 8; }

# Puts another object in place of an object: $make is called with its name.
sub plant
{
	my ($file, $make) = @_;
	unlink $file;
	push @planted, $file;
	$make->($file);
	die "$file: nothing was planted\n" unless -e $file || -l $file;
	return;
}

# Kills all processes of the server at once, and starts it again.
sub die_and_start
{
	my ($server) = @_;
	kill_server($server, children => 1) or die 'processes of ' . $server->name . " are left\n";
	start_server($server);
	return;
}

# Stops a server on which so many keepers hold leases. A keeper that has just been started does not
# release the lease that the box has.
sub stop_with_keepers
{
	my ($server, $keepers) = @_;
	my $holding = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND query LIKE 'holding worker id %'};
	ok(wait_until('the keepers', sub { value($server, $holding) == $keepers }), 'keepers hold the leases');
	$server->stop('fast');
	return;
}

# Kills a session; the postmaster survives, and restarts all other processes.
sub kill_backend
{
	my ($server) = @_;
	my $session = $server->background_psql('postgres', on_error_stop => 0);
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	my $ready = kill_and_wait($server, $pid);
	$session->{run}->kill_kill;
	return $ready;
}

# The first call after a start: (lease, worker id, ids). taken_twice() compares the ids.
sub first_call
{
	my ($server, $db) = @_;
	my ($under, @ids) = reverse split /\n/, value($server, 'SELECT snowflake_nextvals(200); SELECT lease_id, worker FROM snowflake_status', $db);
	return split(/\|/, $under), [ reverse taken(@ids) ];
}

# The same as one string.
sub life { return join '|', (first_call(@_))[0, 1]; }

# Starts a server for the first time, and creates the extension.
sub begin { my ($server) = @_; start_server($server); return value($server, 'CREATE EXTENSION snowflake'); }

sub log_since { my ($server, $since) = @_; return slurp_file($server->logfile, $since); }

# --------------------------------------------------------------------------------------------------
# Servers with limits, or with another /dev/shm
# --------------------------------------------------------------------------------------------------

# Namespaces in which an ordinary user may mount.
my @unshare = qw(unshare --user --map-current-user --keep-caps --mount);

# Whether the kernel and the system's rules allow this user to create them. A /dev/shm that contains
# the test itself cannot be replaced.
sub can_unshare { return getcwd() !~ m{^/dev/shm/} && system("@unshare mount -t tmpfs none /dev/shm >/dev/null 2>&1") == 0; }

# Starts a server after commands of bash that affect only the server and its children: "ulimit" or,
# with mounts => 1, "mount".
sub start_within
{
	my ($server, $commands, %options) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my ($pg_ctl) = grep { -x $_ } map { "$_/pg_ctl" } split /:/, $ENV{PATH};
	my $how = $options{mounts} ? "@unshare" : '';
	append_to_file("$folder/within", "set -e\n$commands\nexec "
		  . ($options{mounts} ? 'setpriv --ambient-caps=-all --inh-caps=-all ' : '') . "$pg_ctl \"\$@\"\n");
	append_to_file("$folder/pg_ctl", "#!/bin/sh\nexec $how bash $folder/within \"\$@\"\n");
	chmod 0755, "$folder/pg_ctl" or die "chmod: $!";
	local $ENV{PATH} = "$folder:$ENV{PATH}";
	return $server->start;
}

1;
