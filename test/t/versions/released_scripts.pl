# A released script never changes. Otherwise users who installed it earlier would have other objects
# than users who install it now. The first version has the only install script, and each later
# version has the script that updates from the version before. test/released contains the SHA-256 of
# each released script.

use strict;
use warnings;

use Digest::SHA;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# Returns the faults of an extension's scripts in $folder; $newest is the next version, and $list
# contains the released versions.
sub faults
{
	my ($folder, $newest, $list, $name) = @_;
	$name //= 'snowflake';
	my %digest_of = map { reverse split } grep { /^[^#]/ } split /\n/, slurp_file($list);
	my @faults;
	for my $script (grep { /\/$name--/ } sort keys %digest_of)
	{
		if (!-e "$folder/$script") { push @faults, "$script is gone"; }
		elsif (Digest::SHA->new(256)->addfile("$folder/$script")->hexdigest ne $digest_of{$script})
		{
			push @faults, "$script has changed";
		}
	}
	my (@first, %version_after);
	for my $script (map { s/^\Q$folder\E\///r } glob "$folder/sql/$name--*.sql")
	{
		my ($from, $to) = $script =~ /$name--([^-]+)(?:--([^-]+))?\.sql$/;
		if (defined $to) { $version_after{$from} = $to; }
		else { push @first, $from; }
		push @faults, "$script is not in the list" if ($to // $from) ne $newest && !$digest_of{$script};
	}
	push @faults, 'install scripts: ' . @first if @first != 1;
	for my $start (@first, keys %version_after)
	{
		my $version = $start;
		$version = $version_after{$version} while $version ne $newest && $version_after{$version};
		push @faults, "no way leads from $start to $newest" if $version ne $newest;
	}
	return join("\n", sort @faults);
}

my ($newest) = slurp_file('snowflake.control') =~ /^default_version = '(.*)'$/m;
is(faults('.', $newest, 'test/released', $_), '', "the scripts of $_ that lead to version $newest") for 'snowflake', 'snowflake_convert';

### After a release: the next version has its own script

my $folder = PostgreSQL::Test::Utils::tempdir();
my ($first, $second) = map { "sql/snowflake--$newest$_.sql" } '', '--next';

# Makes such a folder, changes something, and checks the folder.
sub faults_after
{
	my ($change) = @_;
	system_or_bail('rm', '-rf', "$folder/sql", "$folder/released");
	system_or_bail('cp', '-a', 'sql', 'test/released', $folder);
	append_to_file("$folder/$second", "SELECT 1;\n");
	for my $script (grep { !/--next\.sql$/ } glob "$folder/sql/snowflake--*.sql")
	{
		append_to_file("$folder/released", Digest::SHA->new(256)->addfile($script)->hexdigest . '  ' . ($script =~ s/^\Q$folder\E\///r) . "\n");
	}
	$change->();
	return faults($folder, 'next', "$folder/released");
}

is(faults_after(sub { }), '', 'a script that leads to the next version');
is(faults_after(sub { append_to_file("$folder/$second", '-- more') }), '', '... and may still change');
is(faults_after(sub { append_to_file("$folder/$first", "\n") }), "$first has changed", 'a byte more in a released script');
is(faults_after(sub { unlink "$folder/$first" }), "install scripts: 0\n$first is gone", 'a released script that is gone');
is(faults_after(sub { system_or_bail('cp', '/dev/null', "$folder/released") }), "$first is not in the list",
	'a released script that nobody wrote down');
is(faults_after(sub { append_to_file("$folder/sql/snowflake--next.sql", 'SELECT 1;') }), 'install scripts: 2',
	'a second install script');
is(faults_after(sub { unlink "$folder/$second" }), "no way leads from $newest to next",
	'no script that leads to the next version');

done_testing();
