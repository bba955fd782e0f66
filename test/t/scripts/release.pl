# test/release makes the archive and the notes of a release only if the tree is ready for it.
# Not in the default run: it starts whole runs of the scripts.

use strict;
use warnings;

use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $meta = decode_json(slurp_file('META.json'));
my $version = $meta->{version};
my $folder = PostgreSQL::Test::Utils::tempdir();
system_or_bail('cp', '-a', '.', "$folder/source");

# The faults that the script finds for a tag.
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
my @scripts = map { s/^\Q$folder\E\/source\///r } glob "$folder/source/sql/snowflake{,_convert}--*.sql";
is(release("v$version"), join("\n", "CHANGELOG.md has no date for $version", map { "test/released does not have the SHA-256 of $_" } @scripts),
	'a version without a date, whose scripts may still change');

change('CHANGELOG.md', qr/unreleased/, '2026-12-01');
system_or_bail('sh', '-c', "cd '$folder/source' && sha256sum sql/snowflake*--*.sql >test/released");
is(release("v$version.1"), "v$version.1 is not v$version, which META.json has", 'a tag of another version');
ok(!-e "$folder/out", '... makes nothing');

is(release("v$version"), '', 'a tree that is ready');
ok(-s "$folder/out/snowflake-$version.zip", '... makes the archive');
my ($section) = slurp_file('CHANGELOG.md') =~ /^## \[\Q$version\E\].*?\n(.*?)(?=^## |\z)/ms;
my $notes = slurp_file("$folder/out/notes.md");
unlike($notes, qr/\S\n *[^-#\s]/, '... and the notes, whose paragraphs are not wrapped');
unlike($notes, qr/\]\((?!https:)/, '... which have no relative links');
$notes =~ s{\Q$meta->{resources}{homepage}\E/blob/v\Q$version\E/}{}g;
is_deeply([split ' ', $notes], [split ' ', $section], '... and are the section of this version');

done_testing();
