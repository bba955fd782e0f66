# If a different extension named snowflake is installed, make install is refused before it copies
# anything. Otherwise, and over itself, this extension is installed with its pages in their folders,
# and make uninstall removes all of it.
# Not in the default run: it is about other software.

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;

my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
my ($docdir) = run_command([ 'pg_config', '--docdir' ]);
my $there = PostgreSQL::Test::Utils::tempdir();
my $folder = "$there$sharedir/extension";
is(system('mkdir', '-p', $folder), 0, 'a place to install to');
my @install = ('make', '-s', 'PG_CONFIG=pg_config', "DESTDIR=$there", 'install');
append_to_file("$folder/snowflake.control", "default_version = '2.4'\nmodule_pathname = '\$libdir/snowflake'\nschema = snowflake\n");
command_fails_like(\@install, qr/another extension called snowflake is installed there/, 'is refused');
is(`find $there -type f`, "$folder/snowflake.control\n", '... before anything is copied');
unlink "$folder/snowflake.control";
command_ok(\@install, 'with it removed, ours is installed');
is(scalar(() = `find $there -type f` =~ m{/snowflake(?:\.control|\.so|--1\.0\.sql)$}mg), 3, '... all of it');
command_ok(\@install, '... and over itself again');
for my $page ('README.md', glob 'doc/*.md')
{
	my $installed = "$there$docdir/extension/snowflake/$page";
	is(slurp_file($installed), slurp_file($page), "$page is installed");
	my @links = grep { !/^https?:/ } slurp_file($page) =~ /\]\(([^)\s#]+)/g;
	is(join(' ', grep { !-e dirname($installed) . "/$_" } @links), '', '... and where it leads');
}
command_ok([ @install[0 .. $#install - 1], 'uninstall' ], 'make uninstall');
is(`find $there -type f`, '', '... leaves nothing');

done_testing();
