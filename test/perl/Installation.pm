# A copy of the server under test, for tests that change what is installed while others run.
package Installation;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(own_installation installed);

# Makes one; returns its home, which new_server() takes.
sub own_installation
{
	my ($bindir) = run_command([ 'pg_config', '--bindir' ]);
	my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
	my $top = $bindir;
	$top = dirname($top) until index($sharedir, "$top/") == 0;
	my $copy = PostgreSQL::Test::Utils::tempdir() . '/server';
	system_or_bail('cp', '-a', $top, $copy);
	return $copy . substr(dirname($bindir), length $top);
}

# A folder of that copy: "sharedir", "pkglibdir".
sub installed
{
	my ($home, $what) = @_;
	my ($folder) = run_command([ "$home/bin/pg_config", "--$what" ]);
	return $folder;
}

1;
