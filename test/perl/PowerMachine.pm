# A server in a virtual machine on a disk of its own, whose power can be cut. The server is made and
# filled on this machine, and its data directory is then copied to the disk. From then on the usual
# functions reach it over TCP, while the machine is on and its door is open.
package PowerMachine;

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);
use Time::Local qw(timegm);

# The folder in which test/powercut has made the kernel, the root file system and the disk's program.
my $parts = $ENV{POWER_FOLDER};

# The address of this machine for those inside, and the options of their servers.
our $outside = '10.0.2.2';
my $inside = '-c listen_addresses=* -c unix_socket_directories=/tmp -c timezone=Etc/UTC -c log_timezone=Etc/UTC';

# Takes a stopped server over.
sub new
{
	my ($class, $server) = @_;
	my $self = machine($class, $server->name, $server->port);
	my $folder = $server->basedir . '/disk';
	mkdir $folder or die "$folder: $!";
	rename $server->data_dir, "$folder/data" or die "$folder: $!";
	PostgreSQL::Test::Utils::system_or_bail('mke2fs', '-q', '-F', '-t', 'ext4', '-b', 4096, '-E', 'lazy_itable_init=0', '-d', $folder, $self->{disk}, '512M');
	$server->{_host} = '127.0.0.1';
	return $self;
}

# The door is the port that everybody uses. The side entrance is for checks before it opens, and for standbys.
sub machine
{
	my ($class, $name, $port) = @_;
	return bless { name => $name, disk => "$parts/$name.disk", log => "$parts/$name.log", port => $port, side => PostgreSQL::Test::Cluster::get_free_port() }, $class;
}

# Another machine, for a standby.
sub second { my ($self, $name) = @_; return machine(ref $self, $name, $self->{port}); }

# Gets a copy of the disk of another machine that is off.
sub copy_disk
{
	my ($self, $other) = @_;
	PostgreSQL::Test::Utils::system_or_bail('cp', '--sparse=always', $other->{disk}, $self->{disk});
	return;
}

sub process
{
	my ($self, $what, @command) = @_;
	my $pid = fork // die "fork: $!";
	return $pid if $pid;
	$SIG{$_} = 'DEFAULT' for qw(INT TERM __DIE__ __WARN__);
	open(STDOUT, '>>', "$parts/$self->{name}.$what") && open(STDERR, '>&', \*STDOUT) && open(STDIN, '<', '/dev/null') or POSIX::_exit(126);
	exec @command or POSIX::_exit(127);
}

# Turns the machine on. Options: keep, seed, lie (of power/lossy_disk.c); behind => by how many seconds its clock is behind;
# follows => the machine whose standby its server is; forgets => 1 if the server's horizons are removed; options => of the server.
sub turn_on
{
	my ($self, %options) = @_;
	$self->{options} = \%options;
	my ($socket, $control) = ("$parts/$self->{name}.nbd", "$parts/$self->{name}.control");
	unlink $socket, $control;
	$self->{nbdkit} = $self->process('nbdkit', 'nbdkit', '--foreground', '--unix', $socket, "$parts/lossy_disk.so", "file=$self->{disk}",
		map { defined $options{$_} ? "$_=$options{$_}" : () } qw(keep seed lie));
	wait_until('the disk', sub { -S $socket }) or die "no disk\n";
	my $follows = $options{follows} ? " -c primary_conninfo=postgresql://postgres\@$outside:$options{follows}{side}/postgres?application_name=standby" : '';
	my @now = gmtime(time() - ($options{behind} // 0));
	my $now = sprintf '%04d-%02d-%02dT%02d:%02d:%02d', $now[5] + 1900, $now[4] + 1, @now[ 3, 2, 1, 0 ];
	$self->{on_at} = time();
	$self->{log_from} = -s $self->{log} // 0;
	# The kernel does not test its timer: an emulated one may be too late for this test. With an emulated HPET its clock
	# rarely leaps ahead by half of that counter's range, 21 s.
	$self->{qemu} = $self->process('qemu', qw(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -m 384 -accel tcg),
		'-machine', 'q35,usb=off,hpet=off', '-cpu', 'max', '-kernel', "$parts/kernel", '-initrd', "$parts/initial",
		'-append', "console=ttyS0 quiet panic=-1 mitigations=off no_timer_check options=\"$inside" . ($options{options} ? " $options{options}" : '') . $follows . '"' . ($follows && ' standby=1') . ($options{forgets} ? ' forgets=1' : ''),
		'-rtc', "base=$now", '-chardev', "file,id=log,path=$self->{log},append=on", '-serial', 'chardev:log',
		'-monitor', "unix:$control,server=on,wait=off",
		'-drive', "file=$parts/root,format=raw,if=virtio,readonly=on",
		'-drive', "file=nbd+unix:///?socket=$socket,format=raw,if=virtio,cache=writeback",
		'-netdev', "user,id=net,hostfwd=tcp:127.0.0.1:$self->{side}-:$self->{port}", '-device', 'virtio-net-pci,netdev=net,romfile=');
	return;
}

# Waits until its server is ready. False: it does not start. Rarely an emulated kernel stops before it starts any process,
# or its clock leaps; then the machine is turned on again, which is one more cut.
our $hung = 0;
sub is_ready
{
	my ($self) = @_;
	for (1 .. 5)
	{
		my $limit = time() + 120;
		my $begun = sub { $self->said =~ /starting PostgreSQL/ };
		wait_until("$self->{name} to start", sub { $begun->() || !$self->is_on || time() > $limit });
		if ($begun->() || !$self->is_on)
		{
			wait_until("$self->{name} to be ready", sub { $self->said =~ /ready to accept (?:read-only )?connections/ || !$self->is_on }) or return 0;
			return 0 unless $self->is_on;
			return 1 if $self->ahead < 1;
		}
		$hung++;
		$self->cut;
		$self->turn_on(%{ $self->{options} });
	}
	return 0;
}

# By how many seconds the clock of its server, which is ready, is ahead of the clock that the machine was given.
sub ahead
{
	my ($self) = @_;
	my ($year, $month, @rest) = $self->said =~ /^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\S+) UTC .*ready to accept/m;
	return timegm(reverse($year, $month - 1, @rest)) - (time() - ($self->{options}{behind} // 0));
}

# SQL through the side entrance.
sub ask_aside
{
	my ($self, $dbname, $sql) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'psql', '-XAtq', '-h', '127.0.0.1', '-p', $self->{side}, '-d', $dbname, '-v', 'ON_ERROR_STOP=1', '-f', '-' ],
		'<', \$sql, '>', \$out, '2>', \$err) or die "$self->{name}: $err";
	chomp $out;
	return $out;
}

# Lets everybody in.
sub open_door
{
	my ($self) = @_;
	my $control = IO::Socket::UNIX->new(Peer => "$parts/$self->{name}.control") or die "control: $!";
	print $control "hostfwd_add tcp:127.0.0.1:$self->{port}-:$self->{port}\n";
	$control->flush;
	# The answer is the next prompt.
	my $said = '';
	while ($said !~ /hostfwd_add.*\(qemu\)/s) { sysread $control, $said, 4096, length $said or die "control: $said\n"; }
	return;
}

sub is_on { my ($self) = @_; return $self->{qemu} && waitpid($self->{qemu}, POSIX::WNOHANG()) == 0; }

# What it has logged since it was turned on.
sub said { my ($self) = @_; return -e $self->{log} ? slurp_file($self->{log}, $self->{log_from}) : ''; }

# The machine first: what it would still have written is lost.
sub cut
{
	my ($self) = @_;
	kill 'KILL', $self->{qemu};
	waitpid $self->{qemu}, 0;
	kill 'TERM', $self->{nbdkit};
	waitpid $self->{nbdkit}, 0;
	die "the disk failed\n" if $?;
	delete @$self{qw(qemu nbdkit)};
	return;
}

1;
