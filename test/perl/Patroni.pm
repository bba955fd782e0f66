# A cluster of PostgreSQL servers that Patroni runs, with its own etcd. The servers are
# PostgreSQL::Test::Cluster objects, but Patroni makes, starts and stops them. test/run unpacks
# Debian's packages for this; nothing is installed.
#
#   my $registry = Patroni->new([ 'one', 'two' ], parameters => { ... })
#   $registry->leader; $registry->switch_over
#   $registry->kill_member($server); $registry->start_member($server)
package Patroni;

use strict;
use warnings;

use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Time::HiRes qw(time sleep);

my $unpacked = $ENV{SNOWFLAKE_NEIGHBOURS} // '/nowhere';
my $user = $ENV{PGUSER};
# Debian's Python: modules with parts in C are made for it, and not for another one in PATH.
my $python = '/usr/bin/python3';
my @made;

sub program { my ($name) = @_; return (grep { -x } "$unpacked/usr/bin/$name", "/usr/bin/$name")[0]; }

# Programs under Patroni must not read the environment of Patroni itself, and the other way round.
sub environment { return ('env', "PYTHONPATH=$unpacked/usr/lib/python3/dist-packages", 'PYTHONUNBUFFERED=1'); }

# Its version, or undef and what is missing.
sub version
{
	return (undef, 'etcd') unless program('etcd');
	return (undef, 'patroni') unless program('patroni');
	my ($out, $err);
	# A missing module is otherwise only noticed when it is first needed.
	my $loads = 'import patroni.ctl, patroni.dcs.etcd3, patroni.version as v, psycopg2; print(v.__version__)';
	IPC::Run::run([ environment(), $python, '-c', $loads ], '<', '/dev/null', '>', \$out, '2>', \$err);
	return $out =~ /^(\d+(?:\.\d+)*)$/m ? $1 : (undef, 'patroni (' . ($err =~ s/.*\n(?=.)//sr =~ s/\n//r) . ')');
}

# The seconds without a sign of the leader after which another member takes its place: from 3.2 on
# Patroni accepts no shorter time.
sub ttl { my ($version) = version(); return $version =~ /^(?:[12]\.|3\.[01]\b)/ ? 5 : 20; }

# Options: parameters => settings of all servers. Returns when all members run.
sub new
{
	my ($class, $names, %options) = @_;
	my $self = bless { folder => PostgreSQL::Test::Utils::tempdir('patroni'), options => \%options, runs => {} }, $class;
	push @made, $self;
	$self->start_etcd;
	$self->{members} = [ map { PostgreSQL::Test::Cluster->new($_) } @$names ];
	for my $member (@{ $self->{members} })
	{
		$member->{patroni_port} = PostgreSQL::Test::Cluster::get_free_port();
		$self->configure($member);
		$self->start_member($member);
		# The first member makes the cluster, the others copy it.
		$self->wait_leader;
	}
	$self->wait_replica;
	return $self;
}

# The methods that SnowflakeTest's clients call on a server: they lead to the leader.
sub basedir { my ($self) = @_; return $self->{folder}; }
sub connstr { my ($self, $dbname) = @_; return $self->place($dbname, $user); }

# The address at which the leader is found, whichever member it is.
sub place
{
	my ($self, $dbname, $role) = @_;
	return 'host=' . join(',', map { '127.0.0.1' } @{ $self->{members} }) . ' port=' . join(',', map { $_->port } @{ $self->{members} })
	  . " dbname=$dbname user=$role target_session_attrs=read-write";
}

sub run_in
{
	my ($self, $name, $log, @command) = @_;
	mkdir "$self->{folder}/$name";
	return IPC::Run::start(\@command, '<', '/dev/null', '>>', $log, '2>&1', init => sub { chdir "$self->{folder}/$name" or die "chdir: $!" });
}

sub pid_of { my ($run) = @_; return $run->{KIDS}[0]{PID}; }

sub start_etcd
{
	my ($self) = @_;
	my ($client, $peer) = map { 'http://127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
	$self->{etcd_url} = $client;
	$self->{runs}{etcd} = $self->run_in('etcd', "$self->{folder}/etcd.log", program('etcd'), '--name', 'etcd', '--data-dir', 'data',
		'--listen-client-urls', $client, '--advertise-client-urls', $client, '--listen-peer-urls', $peer,
		'--initial-advertise-peer-urls', $peer, '--initial-cluster', "etcd=$peer");
	my $log = "$self->{folder}/etcd.log";
	wait_until('etcd', sub { -e $log && slurp_file($log) =~ /serving .*client|ready to serve client/ }) or die slurp_file($log);
	return;
}

# SQL that each member runs from now on after its promotion; undef: none. Patroni calls back before
# the promotion is over, and until then the server refuses writes.
sub on_promotion
{
	my ($self, $sql) = @_;
	$self->configure($_, $sql) for @{ $self->{members} };
	return;
}

# Writes the configuration of a member; a running member reloads it.
sub configure
{
	my ($self, $member, $on_promotion) = @_;
	my $name = $member->name;
	my $callback = "$self->{folder}/$name.callback";
	unlink $callback;
	append_to_file($callback, sprintf <<'BASH', $member->connstr('postgres'), $on_promotion) if $on_promotion;
#!/bin/bash
case $1/$2 in
  on_role_change/master | on_role_change/primary)
    for try in {1..100}; do psql -X -d "%s" -c '%s' && break; sleep 0.1; done ;;
esac
BASH
	chmod 0700, $callback;
	my $address = '127.0.0.1:' . $member->port;
	my $api = "127.0.0.1:$member->{patroni_port}";
	my $bin_dir = `pg_config --bindir`;
	chomp $bin_dir;
	my %configuration = (
		scope => 'registry',
		name => $name,
		etcd3 => { host => $self->{etcd_url} =~ s{http://}{}r },
		restapi => { listen => $api, connect_address => $api },
		bootstrap => {
			dcs => {
				ttl => ttl(),
				loop_wait => 1,
				retry_timeout => 2,
				maximum_lag_on_failover => 1048576,
				postgresql => { use_pg_rewind => JSON::PP::true, remove_data_directory_on_rewind_failure => JSON::PP::true, parameters => $self->{options}{parameters} },
			},
			initdb => [ { encoding => 'UTF8' }, { locale => 'C' }, { auth => 'trust' }, 'no-sync' ],
			pg_hba => [ 'local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust' ],
		},
		postgresql => {
			listen => $address,
			connect_address => $address,
			data_dir => $member->data_dir,
			bin_dir => $bin_dir,
			pgpass => "$self->{folder}/$name/pgpass",
			authentication => { superuser => { username => $user }, replication => { username => 'replicator' } },
			parameters => { unix_socket_directories => $member->host },
			($on_promotion ? (callbacks => { on_role_change => $callback }) : ()),
			basebackup => [ { checkpoint => 'fast' } ],
		});
	# Patroni reads YAML, which includes JSON.
	my $file = "$self->{folder}/$name.yml";
	open(my $out, '>', $file) or die "$file: $!";
	print $out JSON::PP->new->canonical->pretty->encode(\%configuration);
	close $out;
	kill 'HUP', pid_of($self->{runs}{$name}) if $self->{runs}{$name};
	return;
}

sub start_member
{
	my ($self, $member) = @_;
	my $name = $member->name;
	# Server and Patroni write into one log.
	$self->{runs}{$name} = $self->run_in($name, $member->logfile, environment(), $python, program('patroni'), "$self->{folder}/$name.yml");
	return;
}

# A member's answer, or '' without one. The SQL is not sent as input: a psql that ends before it has
# read its input would fail the test.
sub answer
{
	my ($member, $sql) = @_;
	my ($out, $err);
	IPC::Run::run([ 'timeout', '5', 'psql', '-XAtq', '-d', $member->connstr('postgres'), '-c', $sql ], '<', '/dev/null', '>', \$out, '2>', \$err) or return '';
	chomp $out;
	return $out;
}

# The member that accepts writes, if there is one.
sub leader
{
	my ($self) = @_;
	return (grep { answer($_, 'SELECT pg_is_in_recovery()') eq 'f' } @{ $self->{members} })[0];
}

# Waits for a leader, which must be another one than the given one; returns it.
sub wait_leader
{
	my ($self, $other_than) = @_;
	my $leader;
	wait_until('a leader', sub { $leader = $self->leader; $leader && (!$other_than || $leader != $other_than) }) or $self->give_up('no leader');
	return $leader;
}

# Waits until all other members stream from the leader.
sub wait_replica
{
	my ($self) = @_;
	my $query = q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name <> 'pg_basebackup'};
	return wait_until('the others to follow', sub {
		my $leader = $self->leader or return 0;
		return answer($leader, $query) eq @{ $self->{members} } - 1;
	}) || $self->give_up('no replica');
}

# Sets whether commits wait for a replica, and only this replica may be promoted. Returns when that
# is in effect.
sub synchronous
{
	my ($self, $on) = @_;
	$self->ctl('edit-config', 'registry', '--force', '--quiet', '-s', 'synchronous_mode=' . ($on ? 'true' : 'false'));
	return wait_until('synchronous_mode', sub {
		my $leader = $self->leader or return 0;
		return (answer($leader, 'SHOW synchronous_standby_names') ne '') == $on && ($self->ctl('list', 'registry', '-f', 'json') =~ /"Sync Standby"/) == $on;
	}) || $self->give_up('no change to synchronous_mode');
}

sub give_up
{
	my ($self, $what) = @_;
	Test::More::diag(map { my $log = slurp_file($_->logfile); substr($log, -4000) } grep { -e $_->logfile } @{ $self->{members} });
	die "$what\n";
}

# Runs patronictl with these arguments; returns its output.
sub ctl
{
	my ($self, @arguments) = @_;
	my $out;
	my $name = $self->{members}[0]->name;
	IPC::Run::run([ environment(), $python, program('patronictl'), '-c', "$self->{folder}/$name.yml", @arguments ], '<', '/dev/null', '>', \$out, '2>&1')
	  or $self->give_up("patronictl @arguments: $out");
	return $out;
}

# A planned switchover to the other member; returns the new leader when it accepts writes.
sub switch_over
{
	my ($self) = @_;
	my $leader = $self->wait_leader;
	my ($candidate) = grep { $_ != $leader } @{ $self->{members} };
	# patronictl also succeeds if Patroni refuses, for example while it does not see yet that the
	# candidate follows.
	my $answer;
	wait_until('a switchover', sub {
		$answer = $self->ctl('switchover', 'registry', '--candidate', $candidate->name, '--force');
		return $answer =~ /Successfully/ || ($self->leader // $leader) != $leader;
	}) or $self->give_up("no switchover: $answer");
	return $self->wait_leader($leader);
}

# Kills all processes of a member at once.
sub kill_member
{
	my ($self, $member) = @_;
	my $run = delete $self->{runs}{ $member->name };
	kill 'KILL', pid_of($run);
	kill_server($member, children => 1);
	$run->finish;
	return;
}

# Pauses all processes of a member.
sub freeze_member
{
	my ($self, $member) = @_;
	my $postmaster = (split /\n/, slurp_file($member->data_dir . '/postmaster.pid'))[0];
	$member->{frozen} = [ $postmaster, split /\s+/, `pgrep -P $postmaster` ];
	return kill 'STOP', pid_of($self->{runs}{ $member->name }), @{ $member->{frozen} };
}

# Its server continues under another Patroni: a Patroni that was paused between reading etcd and
# acting would step down first.
sub thaw_member
{
	my ($self, $member) = @_;
	my $run = delete $self->{runs}{ $member->name };
	kill 'KILL', pid_of($run);
	$run->finish;
	kill 'CONT', @{ delete $member->{frozen} };
	return $self->start_member($member);
}

# Whether a member is recorded as the leader, running or not.
sub has_leader { my ($self) = @_; return $self->ctl('list', 'registry', '-f', 'json') =~ /"Leader"/; }

sub pause_etcd { my ($self) = @_; return kill 'STOP', pid_of($self->{runs}{etcd}); }
sub continue_etcd { my ($self) = @_; return kill 'CONT', pid_of($self->{runs}{etcd}); }

# Ends everything, in any state.
sub end
{
	my ($self) = @_;
	for my $name (keys %{ $self->{runs} })
	{
		my $run = delete $self->{runs}{$name};
		kill 'KILL', pid_of($run);
		eval { $run->finish };
	}
	for my $member (@{ $self->{members} // [] })
	{
		kill_server($member, children => 1) if -e $member->data_dir . '/postmaster.pid' && kill 0, (split /\n/, slurp_file($member->data_dir . '/postmaster.pid'))[0];
	}
	return;
}

END
{
	my $status = $?;
	$_->end for @made;
	$? = $status;
}

1;
