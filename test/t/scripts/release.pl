# test/release makes the archive and the notes of a release only of a tree that is ready for it.

use strict;
use warnings;

use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $version = decode_json(slurp_file('META.json'))->{version};
my $folder = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', '.', "$folder/source");

# The faults that the script finds, for a tag.
sub release
{
	my ($tag) = @_;
	system_or_bail('rm', '-rf', "$folder/out");
	my ($out, $err) = run_command([ "$folder/source/test/release", $tag, "$folder/out" ]);
	return $? == 0 ? '' : $out;
}

# Replaces text in a file of that tree.
sub change
{
	my ($name, $from, $to) = @_;
	my $text = slurp_file("$folder/source/$name");
	$text =~ s/$from/$to/ or die "$name has no $from";
	open my $file, '>', "$folder/source/$name" or die $!;
	print $file $text;
	close $file;
	return;
}

change('CHANGELOG.md', qr/^## \[\Q$version\E\] - .*/m, "## [$version] - unreleased");
system_or_bail('cp', '/dev/null', "$folder/source/test/released");
my @scripts = map { s/^\Q$folder\E\/source\///r } glob "$folder/source/sql/snowflake--*.sql";
is(release("v$version"), join("\n", "CHANGELOG.md has no day for $version", map { "test/released lacks $_, as it is" } @scripts),
	'a version without a day, whose scripts may still change');

change('CHANGELOG.md', qr/unreleased/, '2026-12-01');
system_or_bail('sh', '-c', "cd '$folder/source' && sha256sum sql/snowflake--*.sql >test/released");
is(release("v$version.1"), "v$version.1 is not v$version, which META.json has", 'a tag of another version');
ok(!-e "$folder/out", '... makes nothing');

is(release("v$version"), '', 'a tree that is ready');
ok(-s "$folder/out/snowflake-$version.zip", '... makes the archive');
my ($section) = slurp_file('CHANGELOG.md') =~ /^## \[\Q$version\E\].*?\n(.*?)(?=^## |\z)/ms;
is(slurp_file("$folder/out/notes.md"), $section, '... and the notes, which are the section of this version');

done_testing();
