# A registry that is rolled back without a new timeline while its nodes live: a base backup started without recovery.signal, or the files
# of an earlier moment put back. Neither system identifier nor timeline tell of it. Compared are the worker ids of all nodes that
# issue at the same time, and all ids.
#
# With the operator's word, given before any node asks, half of what was free is held back. Without it the registry settles softly, and what
# nodes know of lost leases and windows is evidence, when they ask. Both rest on less than half of the worker ids that were free having
# been handed out since the moment that the registry is back at: the tests stay below that. SNOWFLAKE_SEED repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;

seed();
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 5s\n");
my $registries = 0;

# Nodes reach it as soon as the operator lets them.
sub let_nodes
{
	my ($registry, $let) = @_;
	my $file = $registry->data_dir . '/pg_hba.conf';
	my $rules = slurp_file($file) =~ s/^local all node reject\n//r;
	open(my $hba, '>', $file) or die "$file: $!";
	print $hba ($let ? '' : "local all node reject\n") . $rules;
	close $hba;
	$registry->reload if -e $registry->data_dir . '/postmaster.pid';
	return;
}

# Options: how => 'backup' or 'files', word => whether the operator gives his, first => who asks first.
sub roll_back
{
	my (%options) = @_;
	my $n = ++$registries;
	my $what = join(', ', $options{how}, $options{word} ? 'with the operator\'s word' : 'without a word', "$options{first} first");
	my $registry = make_registry("registry_$n");
	my $place = place($registry);
	my ($before, $lost, $after) = (2 + int(rand(3)), 2 + int(rand(4)), 2);
	my @nodes = map { begin_node($nodes, "before_${n}_$_", $place) } 1 .. $before;

	my $copy = $registry->basedir . '/copy';
	if ($options{how} eq 'backup')
	{
		$registry->backup('copy');
		$copy = $registry->backup_dir . '/copy';
	}
	else
	{
		$registry->stop('fast');
		PostgreSQL::Test::RecursiveCopy::copypath($registry->data_dir, $copy);
		$registry->start;
	}
	push @nodes, map { begin_node($nodes, "lost_${n}_$_", $place) } 1 .. $lost;
	all_different("$what, before", @nodes);
	$registry->stop($options{how} eq 'backup' ? 'immediate' : 'fast');
	my $conf = slurp_file($registry->data_dir . '/postgresql.conf');
	rename $registry->data_dir, $registry->basedir . '/original' or die "rename: $!";
	PostgreSQL::Test::RecursiveCopy::copypath($copy, $registry->data_dir);
	chmod 0700, $registry->data_dir;
	open(my $file, '>', $registry->data_dir . '/postgresql.conf') or die "postgresql.conf: $!";
	print $file $conf;
	close $file;

	let_nodes($registry, 0);
	$registry->start;
	is(value($registry, 'SELECT timeline_id FROM pg_control_checkpoint()'), '1', "$what: the timeline is the same");
	is(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%lost%'}), '0', '... and leases are lost');
	value($registry, q{SELECT snowflake_settle('restored')}) if $options{word};
	let_nodes($registry, 1);
	ok(wait_until('evidence', sub { value($registry, 'SELECT settling_soft IS FALSE AND settles_until > clock_timestamp() FROM snowflake_origin') eq 't' }),
		'... which what the nodes know tells it') if $options{first} eq 'extends';
	my @late = map { begin_node($nodes, "after_${n}_$_", $place) } 1 .. $after;
	all_different("$what, at once", @nodes, @late);
	ok(wait_until('it to settle firmly', sub { value($registry, 'SELECT NOT settling_soft FROM snowflake_origin') eq 't' }), '... it settles firmly');
	ok(ids_flow($_), "... $_->{name} issues") for @nodes, @late;
	all_different("$what, later", @nodes, @late);
	# All have asked by now, and nothing that was lost lives any more.
	ok(wait_until('all nodes to be known', sub { value($registry, "SELECT count(*) FROM snowflake_registry WHERE node LIKE '%\\_${n}\\_%' AND window_end > " . node_tick()) == @nodes + @late }),
		'... and every node has a lease that the registry knows');
	none_twice("nodes, $what", @nodes, @late);
	value($nodes, "ALTER DATABASE $_->{name} ALLOW_CONNECTIONS false") for @nodes, @late;
	value($nodes, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$_->{name}'") for @nodes, @late;
	$registry->stop('fast');
	return;
}

roll_back(how => 'backup', word => 1, first => 'acquires');
roll_back(how => 'backup', word => 0, first => 'acquires');
roll_back(how => 'files', word => 0, first => 'acquires');
roll_back(how => 'files', word => 0, first => 'extends');
$nodes->stop('immediate');
done_testing();
