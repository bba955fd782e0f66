# The new version's pg_dump dumps an old server, and the dump is restored into a server of the new
# version. The dump contains the rows, and of the extension only the layout (section 4 of the
# design). The restored database issues ids above the ids in the rows, under a lease of its own
# registry (G1).
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old();
my $new = upgrade_target('new', preload => 1);
start_server($new);
# A database's dump does not contain roles.
sql($new, 'postgres', 'CREATE ROLE writer LOGIN');
my %format = (shop => 'custom', named => 'plain', other => 'custom', crashed => 'plain', silent => 'custom');
make_databases(keys %format);

sub check_restored
{
	my ($source, $target, $name) = @_;
	my $d = $database{$source};
	local $database{$target} = $d;
	my ($was, $is) = (state_of($old, $source), state_of($new, $target));
	is($is->{$_}, $was->{$_}, "$name: $_ as in the source") for 'rows', 'decoded', 'layout';
	is($is->{$_}, '', "$name: no $_") for 'registry', 'watermark';
	is(sql($new, $target, 'SELECT o.system_identifier = c.system_identifier, settles_until IS NULL'
			  . " FROM $d->{schema}.snowflake_origin o, pg_control_system() c"), 't|t', "$name: a registry of this server");
	my ($last) = sort { $b <=> $a } @{ $issued{$source} // [0] };
	local $issued{$target} = [ split /\n/, sql($old, $source, 'SELECT id FROM public.item') ];
	my @new = issue($new, $target, $target);
	is(scalar(grep { $_ <= $last } @new), 0, "$name: new ids are above all that were issued");
	is(duplicates($target), 0, "$name: none of " . @{ $issued{$target} } . ' twice');
	is(sql($new, $target, "SELECT count(*) FROM $d->{schema}.snowflake_registry JOIN $d->{schema}.snowflake_status USING (lease_id)"), '1',
		"$name: under a lease of its own");
	return;
}

for my $source (sort keys %format)
{
	my $format = $format{$source};
	my ($file, $target) = ("$folder/$source.$format", "restored_$source");
	sql($new, 'postgres', "CREATE DATABASE $target");
	$new->command_ok([ "$new_bin/pg_dump", '--no-sync', "--format=$format", '-f', $file, '-d', $old->connstr($source) ],
		"pg_dump of $source, $format");
	$new->command_ok($format eq 'plain' ? [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', $file, $target ]
		: [ 'pg_restore', '--exit-on-error', '-d', $target, $file ], '... and restored');
	check_restored($source, $target, "$format dump of $source");
}
check_shop($new, 'restored shop', 'restored_shop');

$_->stop('fast') for $old, $new;
done_testing();
