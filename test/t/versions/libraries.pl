# A library that was replaced while the server runs never shares shared memory with the previous
# library. Each creates its own block, under its own name and with its own structure, and issues ids
# under its own lease (G1). A preloaded library stays until the server is restarted. Sessions of two
# libraries meet only if the block is a named segment, from PostgreSQL 17 on.
#
# The other library is this library with a block of another structure, in a separate installation
# whose library is replaced.
# Not in the default run: it builds the library again.

use strict;
use warnings;

use lib 'test/perl';
use File::Copy qw(copy);
use Installation;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $source = PostgreSQL::Test::Utils::tempdir() . '/source';
my @make = ('make', '-s', '-C', $source, 'PG_CONFIG=pg_config');
my $state = "$source/src/pg/state";
system_or_bail('cp', '-a', '.', $source);

# Changes a file by a regular expression that must match.
sub change
{
	my ($file, $from, $to) = @_;
	my $text = slurp_file($file);
	$text =~ s/$from/$to/ or die "$file: nothing matches $from\n";
	unlink $file;
	append_to_file($file, $text);
	return;
}

### The block's structure cannot change unnoticed

my %header = (Counters => 'node_block', RegistryError => 'node_block', NodeBlock => 'node_block', SegmentSlot => 'segment_slot', HorizonBlock => 'horizon_block');
for my $struct (sort keys %header)
{
	my $file = "$state/$header{$struct}.h";
	my $was = slurp_file($file);
	change($file, "(?<=$struct \\{\\n)", "  int64_t of_another_version;\n");
	my ($out, $err) = run_command([ @make, 'src/pg/state/state_block.o' ]);
	like($err, qr/static assertion failed.*count kMemoryName up/, "a field more in $struct stops the build");
	unlink $file;
	append_to_file($file, $was);
}

my $version = (run_command([ 'pg_config', '--version' ]))[0] =~ /(\d+)/ ? $1 : die;
if ($version < 17)
{
	diag("skipped: there are no named segments before PostgreSQL 17");
	done_testing();
	exit;
}

### Two libraries in one server

# The name counted the other way: what the library before this one did.
change("$state/state_block.cpp", '(?s)static_assert\(.*?\);', '');
change("$state/state_block.cpp", '"snowflake (\d+)"', '"snowflake 0"');
change("$state/node_block.h", '(?<=struct Counters \{\n)', "  int64_t of_another_version[8];\n");
system_or_bail(@make, '-j2', 'all');

my $home = own_installation();
my $installed = installed($home, 'pkglibdir') . '/snowflake.so';
my $today = "$source/today.so";
copy($installed, $today) or die "copy: $!";

# Installs either library: a file that is mapped must be replaced, not overwritten.
sub install
{
	my ($from) = @_;
	copy($from, "$installed.new") or die "copy: $!";
	rename "$installed.new", $installed or die "rename: $!";
	return;
}

for my $order ([ 'an older library first', "$source/snowflake.so", $today ],
	[ 'a newer library first', $today, "$source/snowflake.so" ])
{
	my ($name, @libraries) = @$order;
	install($libraries[0]);
	my $server = new_server($name =~ s/\W+/_/gr, preload => 0, home => $home);
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	my @sessions = ($server->background_psql('postgres'));
	my @ids = split /\n/, $sessions[0]->query_safe('SELECT snowflake_nextvals(1000)');
	install($libraries[1]);
	push @sessions, $server->background_psql('postgres');
	for my $round (1 .. 5)
	{
		push @ids, split /\n/, $_->query_safe('SELECT snowflake_nextvals(1000)') for @sessions;
	}
	my %ids = map { $_ => 1 } @ids;
	is(scalar(keys %ids), 11_000, "$name: no id twice");
	my @leases = map { $_->query_safe('SELECT lease_id FROM snowflake_status') } @sessions;
	isnt($leases[0], $leases[1], '... each issues under a lease of its own');
	is($server->safe_psql('postgres', 'SELECT count(DISTINCT worker_id), count(*) FROM snowflake_registry'), '2|2', '... with its worker id');
	is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '2', '... and keeper');
	is($server->safe_psql('postgres', 'SELECT lease_id FROM snowflake_status'), $leases[1], '... and who comes now has the later library');
	$_->quit for @sessions;
	$server->stop('fast');
	unlike(slurp_file($server->logfile), qr/TRAP|PANIC|terminated by signal|does not match/, '... and nothing crashed');
}
done_testing();
