# The new version's pg_dump dumps an old server, and the dump is restored into a server of the new
# version. The dump contains the rows, and of the extension only the layout (section 4 of the
# design). The restored database issues ids above the ids in the rows, under a lease of its own
# registry (G1).
#
# The owner of a database, without a superuser, dumps it and restores it likewise, and from the new
# version into the old one. Rows, layout and segments arrive, and new ids and numbers are above those
# in the dump (G1, G11).
# Not in the default run: with one version it shows no more than t/copies/dump_by_roles and
# t/copies/dumped_layout.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old(patient => 1);
my $new = upgrade_target('new', preload => 1, patient => 1);
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

### By the owner of a database

sql($_, 'postgres', 'CREATE ROLE carol LOGIN') for $old, $new;
sql($old, 'postgres', 'CREATE DATABASE carols_0 OWNER carol');
sql($old, 'carols_0', 'CREATE EXTENSION snowflake', q{SELECT snowflake_set_layout('epoch=2024-01-01 tick=10ms time=39 seq=10 datacenter=3 worker=8')},
	q{SELECT snowflake_create_segment('ticket', 100, 10, 5000, 20, 'carol')},
	q{CREATE TABLE ticket (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), number integer UNIQUE DEFAULT snowflake_segment_nextval('ticket'))},
	'ALTER TABLE ticket OWNER TO carol');
my @way = ($old, $new, $old);
for my $step (0 .. 1)
{
	my ($source, $target, $file) = ($way[$step], $way[ $step + 1 ], "$folder/carols_$step.sql");
	my ($from, $to) = ("carols_$step", 'carols_' . ($step + 1));
	my $name = 'by its owner, ' . $source->name . ' to ' . $target->name;
	my $inserted = 'INSERT INTO ticket SELECT FROM generate_series(1, 150) RETURNING id, number';
	sql($source, $from, $inserted);
	my $settings = 'SELECT l, name, max_value, step, max_step, usage_role FROM snowflake_layout l, snowflake_segment';
	my $rows = q{SELECT max(id), count(*), md5(string_agg(t::text, ' ' ORDER BY id)) FROM ticket t};
	my ($before, $allocated) = (sql($source, $from, $rows), sql($source, $from, 'SELECT last_value FROM snowflake_segment'));
	$new->command_ok([ "$new_bin/pg_dump", '--no-sync', '--no-comments', '-f', $file, '-d', $source->connstr($from) . ' user=carol' ], "dumped $name");
	# What the other server may not have: a setting since 17, and what 15.20 writes (test/README.md).
	my $text = slurp_file($file) =~ s/^SET transaction_timeout = 0;$//mr =~ s/^ALTER TABLE .* SET \(pg_attver=\d+\);$//mgr;
	open(my $out, '>', $file) or die $!;
	print $out $text;
	close $out;
	sql($target, 'postgres', "CREATE DATABASE $to OWNER carol");
	sql($target, $to, 'CREATE EXTENSION snowflake');
	$new->command_ok([ "$new_bin/psql", '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', $file, '-d', $target->connstr($to) . ' user=carol' ], "restored $name");
	is(sql($target, $to, $rows), $before, "$name: the rows");
	is(sql($target, $to, $settings), sql($source, $from, $settings), "$name: layout and segment");
	cmp_ok(sql($target, $to, 'SELECT last_value FROM snowflake_segment'), '>=', $allocated, "$name: the segment is no lower");
	my ($last) = $before =~ /^(\d+)/;
	my @new = map { [ split /\|/ ] } split /\n/, sql($target, $to, $inserted);
	is(scalar(grep { $_->[0] <= $last || $_->[1] <= $allocated } @new), 0, "$name: new ids and numbers are above all in the dump");
}

figures('%s and back, by the owner of the database: %d rows', $versions, sql($old, 'carols_2', 'SELECT count(*) FROM ticket'));

$_->stop('fast') for $old, $new;
done_testing();
