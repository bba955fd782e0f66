# A copy of a data directory is started beside the original, or in its place, on the same host and
# without a reboot. It does not find the original's black box, so it is a different node with its
# own lease (G1). When the original is restarted after a crash, it finds its black box (G10),
# wherever its directory is by now.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $registry = registry_server();
new_registry($registry, 'fleet');
my $node = new_server('node', streaming => 1, preload => 1, conf => "snowflake.start_timeout = 20s\nsnowflake.registry = '" . at($registry, 'fleet') . "'\n");
begin($node);
my ($lease, $worker) = first_call($node);
my $box = box_of($node);
my %acquired = ($lease => 'the original');

# Checks that the server issues ids under a lease that no server had before. It says that it has no
# box, unless it knows itself that its files are new: of a base backup.
sub is_another
{
	my ($server, $what, %options) = @_;
	my $log = -s $server->logfile // 0;
	start_server($server);
	my ($its_lease, $its_worker) = first_call($server);
	is($acquired{$its_lease} // 'nobody', 'nobody', "$what acquires its own lease");
	isnt($its_worker, $worker, '... and a worker id that is not the original\'s');
	is(scalar(() = log_since($server, $log) =~ /$gone/g), $options{base_backup} ? 0 : 1, '... and says once that it has no box, if it can have had one');
	$acquired{$its_lease} = $what;
	return;
}

# Checks the original after a crash.
sub is_itself
{
	my ($when) = @_;
	is(life($node), "$lease|$worker", "the original's lease goes on $when");
	return;
}

# A new server with a copy of the node's present files.
sub copy_of_files
{
	my ($name) = @_;
	my $backup = $node->backup_dir . "/$name";
	system_or_bail('cp', '-a', $node->data_dir, $backup);
	unlink "$backup/postmaster.pid";
	my $copy = PostgreSQL::Test::Cluster->new($name);
	$copy->init_from_backup($node, $name);
	return $copy;
}

$node->backup('base');
my $base = PostgreSQL::Test::Cluster->new('base');
$base->init_from_backup($node, 'base');
is_another($base, 'pg_basebackup\'s copy of the running node', base_backup => 1);
is(box_of($node), $box, 'the original has its box, ...');
isnt(box_of($base), $box, '... and the copy another');
take($_, 1000) for $node, $base, $node;

ok(kill_server($node, children => 1), 'the original is killed');
my $files = copy_of_files('files');
is_another($files, 'a copy of the killed node');
start_server($node);
is_itself('beside its copies');
$files->stop('immediate');
start_server($files);
is($acquired{ (first_call($files))[0] } // 'nobody', 'a copy of the killed node', 'after a crash a copy goes on under its own lease');
take($_, 1000) for $node, $files, $base;
$_->stop('fast') for $base, $files;

# The copy takes the place of the original, with its name and port.
$node->stop('immediate');
my ($data, $aside) = ($node->data_dir, $node->basedir . '/aside');
system_or_bail('cp', '-a', $data, "$data.copy");
rename $data, $aside or die "rename: $!";
rename "$data.copy", $data or die "rename: $!";
is_another($node, 'a copy that was moved to where the original was');
$node->stop('immediate');
rename $data, "$data.copy" or die "rename: $!";
rename $aside, $data or die "rename: $!";
start_server($node);
is_itself('where it came back to its place');

# From here on there is no original. New files can get the inodes of removed files.
$node->stop('immediate');
my $saved = $node->basedir . '/saved';
system_or_bail('cp', '-a', $data, $saved);
my @inodes = map { (stat)[1] } $data, "$data/global/pg_control";
system_or_bail('rm', '-rf', $data);
system_or_bail('cp', '-a', $saved, $data);
my @new = map { (stat)[1] } $data, "$data/global/pg_control";
is_another($node, 'a copy to where the original was removed');
$node->stop('immediate');

system_or_bail('bash', '-c', 'rm -rf "$1"/* && cp -a "$2"/. "$1"', 'bash', $data, $saved);
is((stat $data)[1], $new[0], 'a directory stays,');
is_another($node, '... and what is copied into it, its files being removed,');
figures('inodes that a copy got from the original: %d of 2, from the copy before: %d of 1', scalar(grep { $inodes[$_] == $new[$_] } 0, 1),
	(stat "$data/global/pg_control")[1] == $new[1] ? 1 : 0);

is(taken_twice(), 0, 'no id of any of them is another\'s');
$node->stop('fast');
unlink $_ for boxes_of($node);
$registry->stop('smart');
done_testing();
