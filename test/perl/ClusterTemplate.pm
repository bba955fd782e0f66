# Initialises servers by copying one cluster that initdb made, which takes a tenth of the time. Each
# server gets its own system identifier, because the identifier shows a registry that it was failed
# over to another server.
package ClusterTemplate;

use strict;
use warnings;

use Fcntl qw(:flock);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(gettimeofday);

# Like $server->init(%arguments), for arguments that are always the same.
sub init
{
	my ($server, %arguments) = @_;
	my $template = $ENV{SNOWFLAKE_TEMPLATE};
	return $server->init(%arguments) unless $template;
	my $data = $server->data_dir;
	my $original = \&PostgreSQL::Test::Utils::system_or_bail;
	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = sub {
		my ($program) = @_;
		# `pg_regress --config-auth` does nothing except on Windows.
		return if $program eq $ENV{PG_REGRESS};
		die "init() starts $program\n" if $program ne 'initdb';
		my @command = @_;
		# Small segments, because most servers write less than one.
		make($template, sub { my ($folder) = @_; $original->((map { $_ eq $data ? $folder : $_ } @command), '--wal-segsize=1') });
		$original->('cp', '-a', $template, $data);
		set_identifier($data);
	};
	return $server->init(%arguments);
}

# The first program that needs it makes it.
sub make
{
	my ($template, $initdb) = @_;
	open(my $lock, '>', "$template.lock") or die "$template.lock: $!";
	flock($lock, LOCK_EX) or die "$template.lock: $!";
	return if -e $template;
	$initdb->("$template.new");
	rename "$template.new", $template or die "$template: $!";
	return;
}

# CRC-32C of one more byte.
my @crc_of = map {
	my $crc = $_;
	$crc = $crc & 1 ? $crc >> 1 ^ 0x82F63B78 : $crc >> 1 for 1 .. 8;
	$crc
} 0 .. 255;

sub add_byte { my ($crc, $byte) = @_; return $crc_of[ ($crc ^ $byte) & 0xFF ] ^ $crc >> 8; }

sub crc_of
{
	my ($bytes) = @_;
	my $crc = 0xFFFFFFFF;
	$crc = add_byte($crc, $_) for unpack 'C*', $bytes;
	return $crc ^ 0xFFFFFFFF;
}

# The position of the checksum in pg_control, which depends on the version: the only position that
# contains the checksum of all bytes before it.
sub checksum_offset
{
	my ($control) = @_;
	my $crc = 0xFFFFFFFF;
	my @places;
	for my $offset (0 .. 511)
	{
		push @places, $offset if $offset % 4 == 0 && $offset > 8 && unpack("x$offset L", $control) == ($crc ^ 0xFFFFFFFF);
		$crc = add_byte($crc, unpack("x$offset C", $control));
	}
	die 'pg_control has ' . @places . " places that may be its checksum\n" if @places != 1;
	return $places[0];
}

# The identifier is pg_control's first field. It is also in the header of the first page of each WAL
# segment.
sub set_identifier
{
	my ($data) = @_;
	my ($seconds, $us) = gettimeofday();
	# initdb makes identifiers in the same way.
	my $identifier = pack 'Q', $seconds << 32 | $us << 12 | $$ & 0xFFF;
	my $control = slurp_file("$data/global/pg_control");
	my $end = checksum_offset($control);
	substr($control, 0, 8, $identifier);
	substr($control, $end, 4, pack 'L', crc_of(substr $control, 0, $end));
	overwrite("$data/global/pg_control", 0, $control);
	overwrite($_, 24, $identifier) for grep { m{/[0-9A-F]{24}$} } glob "$data/pg_wal/*";
	return;
}

# Unless pg_ctl is told which server to start, it first starts the one that it finds to ask for its
# version.
my $system_log = \&PostgreSQL::Test::Utils::system_log;

sub start_by_name
{
	my ($program, @arguments) = @_;
	my ($server) = grep { -x } map { "$_/postgres" } split /:/, $ENV{PATH};
	unshift @arguments, '-p', $server if $program eq 'pg_ctl' && $server && $arguments[-1] =~ /^(?:re)?start$/;
	return $system_log->($program, @arguments);
}

{ no warnings 'redefine'; *PostgreSQL::Test::Utils::system_log = \&start_by_name; }

sub overwrite
{
	my ($file, $offset, $bytes) = @_;
	open(my $handle, '+<:raw', $file) or die "$file: $!";
	seek($handle, $offset, 0) && print($handle $bytes) && close($handle) or die "$file: $!";
	return;
}

1;
