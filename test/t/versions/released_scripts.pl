# A released script never changes: those who installed it would be left with other objects than those who install it now. The
# first version has an install script, and each later one what makes it out of the one before: a way leads from each to the newest.

use strict;
use warnings;

use Digest::SHA;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

cmp_ok(scalar(@released), '>', 0, "released: @released");
my %digest_of = map { reverse split } grep { /^[^#]/ } split /\n/, slurp_file('test/released');
is(join(' ', glob 'sql/snowflake--*[0-9].sql') =~ s{sql/snowflake--\d+\.\d+--\S+}{}gr =~ s/^ +| +$//gr, "sql/snowflake--$released[0].sql",
	'one install script leads to every version');
for my $version (@released)
{
	ok((grep { /^sql\/snowflake--(?:[^-]+--)?\Q$version\E\.sql$/ } keys %digest_of), "test/released knows what makes $version");
	is(sql('postgres', "SELECT path IS NOT NULL FROM pg_extension_update_paths('snowflake') WHERE source = '$version'"
		  . " AND target = '$newest'"), 't', "a way leads from $version to $newest");
}
for my $script (map { /(snowflake--[^-]+--([^-]+)\.sql)$/ && $2 ne $newest ? "sql/$1" : () } glob 'sql/snowflake--*--*.sql')
{
	ok($digest_of{$script}, "test/released knows $script");
}
is(Digest::SHA->new(256)->addfile($_)->hexdigest, $digest_of{$_}, "$_ is as it was released") for sort keys %digest_of;

VersionsTest::stop();
done_testing();
