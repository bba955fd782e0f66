# test/release makes the archive and the notes of a release only if the tree is ready for it.
# README.md's commands check a file of the release with what test/checksums writes.
# Not in the default run: it starts whole runs of the scripts.

use strict;
use warnings;

use JSON::PP;
use Pages;
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

# The files of a release, except for their contents.
my @files = ("snowflake-$version.zip", map({ "postgresql-18-snowflake_$version-1+${_}_amd64.deb" } qw(deb12 deb13)), "postgres-snowflake-$version-x86_64.tar.gz");
append_to_file("$folder/out/$_", "$_\n") for @files;
my ($sums, $wrong) = run_command([ "$folder/source/test/checksums", "$folder/out" ]);
is_deeply([ sort map { (split)[1] } split /\n/, $sums ], [ sort @files ], 'SHA256SUMS has each file that is published') or diag($wrong);
is(slurp_file("$folder/out/SHA256SUMS"), "$sums\n", '... and the log of the release shows it');

my ($check) = find_block('README.md', 'sha256sum', '')->{text} =~ /^(sha256sum .*)$/m;
my $downloads = "$folder/downloads";
mkdir $downloads;
system_or_bail('cp', map({ "$folder/out/$_" } $files[2], 'SHA256SUMS'), $downloads);
sub check { my ($out, $err) = run_command([ 'bash', '-c', "cd '$downloads' && $check" ]); return $out; }
is(check(), "$files[2]: OK", 'a user checks the one file that was fetched');
append_to_file("$downloads/$files[2]", 'x');
is(check(), "$files[2]: FAILED", '... which is no longer the same');

done_testing();
