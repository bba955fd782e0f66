# pg_upgrade keeps a database with columns of type snowflake_id unchanged, as t/public/copies shows
# for dumps. SNOWFLAKE_OLD_PG_CONFIG names the old server.
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use PublicTest;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old(patient => 1);
my $new = upgrade_target('new', preload => 1, patient => 1);
make_public($old, $_) for sort keys %schema_of;

# For pg_upgrade, pg_dump writes the objects of extensions one by one, and domains before casts,
# because it does not know that an expression needs a cast. So pg_upgrade fails if a domain over the
# type has a CHECK or a default that needs a cast; <@ needs none. This limit is PostgreSQL's, for
# every type with casts. Therefore the domains here have no such expression.
my %domains = (
	compared => 'CHECK (VALUE > 0)',
	with_default => 'DEFAULT snowflake_nextval()',
	in_range => 'CHECK (VALUE <@ int8range(1, NULL))');
sql($old, 'plain', map { "CREATE DOMAIN $_ AS snowflake_id $domains{$_}" } sort keys %domains);
my $dump = qx($new_bin/pg_dump --no-sync --schema-only --binary-upgrade -d "${\ $old->connstr('plain')}");
my ($first_cast) = sort { $a <=> $b } map { index $dump, "CREATE CAST ($_ " } 'public.snowflake_id AS', 'bigint AS';
for my $domain (sort keys %domains)
{
	my $position = index $dump, "CREATE DOMAIN public.$domain ";
	ok($position > 0 && $position < $first_cast, "a domain with $domains{$domain}: pg_upgrade creates it before the casts");
}
my ($body) = $dump =~ /(CREATE FUNCTION public\.snowflake_id_contained.*?;)/s;
unlike($body, qr/^ *RETURN |BEGIN ATOMIC/m, '... and what <@ calls is not parsed there');
sql($old, 'plain', 'DROP DOMAIN compared, with_default');

my %before = map { $_ => public_facts($old, $_) } keys %schema_of;
# Arrays and composite values contain the number of their type.
my $types = q{SELECT string_agg(t.oid || ' ' || t.typname, ', ' ORDER BY t.typname) FROM pg_type t WHERE typname IN ('snowflake_id', '_snowflake_id', 'order_id', 'pair')};
my %numbers = map { $_ => sql($old, $_, $types) } keys %schema_of;
$old->stop('fast');
my $took_ms = pg_upgrade($new);
start_server($new);
for my $dbname (sort keys %schema_of)
{
	is_deeply(public_facts($new, $dbname), $before{$dbname}, "$dbname, by pg_upgrade: everything is as it was");
	is(sql($new, $dbname, $types), $numbers{$dbname}, '... and the types have their numbers');
	goes_on($new, $dbname, $dbname, "$dbname, by pg_upgrade");
}
figures('%s: pg_upgrade of %d databases with columns of snowflake_id, %.1f s', $versions, scalar(keys %schema_of), $took_ms / 1e3);
unlike(slurp_file($new->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
$new->stop('fast');
done_testing();
