# The owner of a database, without a superuser, dumps it from an older version of PostgreSQL and
# restores it into a newer version, and the other way around. Rows, layout and segments arrive, and
# new ids and numbers are above those in the dump (G1, G11).
# Not in the default run: with one version it shows no more than t/copies/dump_by_roles.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old();
my $new = upgrade_target('new', preload => 1);
start_server($new);
sql($_, 'postgres', 'CREATE ROLE carol LOGIN') for $old, $new;
sql($old, 'postgres', 'CREATE DATABASE carols_0 OWNER carol');
sql($old, 'carols_0', 'CREATE EXTENSION snowflake', q{SELECT snowflake_set_layout('2024-01-01 00:00+00', '10 ms', 39, 3, 8, 10, true)},
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
