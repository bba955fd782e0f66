# Guards of the registry's tables that were dropped, disabled or changed: advice of snowflake_status
# names them, and snowflake_make_guards(), which makes them in the install script, makes them again.
# It has the rights of its caller, and no call of the protocol ends it, or is ended by it, as a
# deadlock.
# Not in the default run: it starts some 300 processes.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $server = new_server('server', conf => "max_prepared_transactions = 5\n");
start_server($server);
my $schema = 'ids';

sub value { return $server->safe_psql('postgres', "SET search_path = $schema;\n$_[0]") }
sub advice { return value('SELECT advice FROM snowflake_status') }
sub refused { my ($sql) = @_; return (query_error($server, 'postgres', "SET search_path = $schema;\n$sql"))[0] }

# The triggers of the extension's tables, all columns of pg_trigger but OIDs, with their dependencies.
my $triggers = q{SELECT c.relname, t.tgname, p.proname, p.pronamespace = c.relnamespace, tgtype, tgenabled, tgattr, tgnargs, tgargs, tgqual, tgisinternal,
		tgdeferrable, tginitdeferred, tgconstraint, tgconstrrelid, tgconstrindid, tgparentid, tgoldtable, tgnewtable,
		(SELECT string_agg(concat_ws(' ', refclassid::regclass, (pg_identify_object(refclassid, refobjid, 0)).name, refobjsubid, deptype), ',' ORDER BY refclassid, refobjid = tgfoid, refobjsubid)
		 FROM pg_depend WHERE classid = 'pg_trigger'::regclass AND objid = t.oid), obj_description(t.oid, 'pg_trigger')
	FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_proc p ON p.oid = tgfoid
		JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_extension'::regclass AND deptype = 'e'
	ORDER BY 1, 2};
$server->safe_psql('postgres', "CREATE SCHEMA $schema; CREATE EXTENSION snowflake SCHEMA $schema");
my $made = value($triggers);
my @guards = map { [ (split /\|/)[ 0, 1 ] ] } split /\n/, $made;
is(scalar(@guards), 17, 'the script makes this many guards') or diag($made);
unlike($made, qr/\|$/m, '... each with a comment');
is(advice() . value('SELECT snowflake_make_guards()'), '0', 'none of them is lost');

# One of each kind, alone.
my %seen;
for my $guard (grep { !$seen{ $_->[1] }++ } @guards)
{
	my ($table, $name) = @$guard;
	my $broken = '';
	for my $break ("DROP TRIGGER $name ON $table", (map { "ALTER TABLE $table $_ TRIGGER $name" } 'DISABLE', 'ENABLE', 'ENABLE REPLICA'),
		"CREATE OR REPLACE TRIGGER $name BEFORE INSERT ON $table FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(); ALTER TABLE $table ENABLE ALWAYS TRIGGER $name")
	{
		value($break);
		$broken .= "$break: not advised\n" unless advice() =~ /^the registry's tables have lost guards: \Q$name on $table\E\. .*Call snowflake_make_guards\(\)\.$/;
		$broken .= "$break: not one\n" unless value('SELECT snowflake_make_guards()') eq '1';
		$broken .= "$break: not as before\n" unless value($triggers) eq $made;
		$broken .= "$break: advised still\n" unless advice() eq '';
	}
	is($broken, '', "$name on $table, lost in five ways");
}
my $dropped = join('', map { "DROP TRIGGER $_->[1] ON $_->[0];" } @guards);
# Weaker ones in their place: fired at the commit, or not by each column.
my $last = q{SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0
	AND attnum < (SELECT relnatts FROM pg_class WHERE oid = attrelid)};
for my $weak ([ 'snowflake_watermark', 'snowflake_guard_after', 'CREATE CONSTRAINT TRIGGER snowflake_guard_after AFTER UPDATE', 'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW' ],
	map { [ $_->[0], $_->[1], "CREATE TRIGGER $_->[1] BEFORE TRUNCATE OR UPDATE OF " . value(sprintf($last, $_->[0])), '' ] } grep { $_->[1] eq 'snowflake_guard_table' } @guards)
{
	my ($table, $name, $create, $how) = @$weak;
	value("DROP TRIGGER $name ON $table; $create ON $table $how EXECUTE FUNCTION snowflake_guard(); ALTER TABLE $table ENABLE ALWAYS TRIGGER $name");
	like(advice(), qr/lost guards: \Q$name on $table\E\./, "a weaker $name on $table is not taken for it");
	is(value('SELECT snowflake_make_guards()') . "\n" . value($triggers), "1\n$made", '... and is replaced');
}
# A column of the owner's may be guarded or not.
my $unguarded = value('ALTER TABLE snowflake_watermark ADD remark text; SELECT snowflake_make_guards()');
value('DROP TRIGGER snowflake_guard_table ON snowflake_watermark; SELECT snowflake_make_guards()');
is(refused('ALTER TABLE snowflake_watermark ALTER remark TYPE varchar'), '0A000', 'a guard names all columns of its table');
value('DROP TRIGGER snowflake_guard_table ON snowflake_watermark; CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR UPDATE OF worker_id, last_tick, leases_ended, remark ON'
  . ' snowflake_watermark EXECUTE FUNCTION snowflake_guard(); ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_table');
is($unguarded . advice(), '0', '... and is none the worse for another column');
value('ALTER TABLE snowflake_watermark DROP remark CASCADE; SELECT snowflake_make_guards()');
value('ALTER EVENT TRIGGER _snowflake_guard_drop DISABLE');
like(advice(), qr/lost guards: _snowflake_guard_drop\. /, 'the guard against a drop is disabled');
is(value(q{SELECT snowflake_make_guards(); SELECT evtenabled FROM pg_event_trigger WHERE evtname = '_snowflake_guard_drop'}), "1\nA", '... and enabled again');

# All at once. Other roles see the advice, too, and nobody waits for a table that is locked.
value("$dropped ALTER EVENT TRIGGER _snowflake_guard_drop ENABLE");
is(() = advice() =~ /\w+ on snowflake_\w+/g, 17, 'all are named');
like(advice(), qr/ and |, _snowflake_guard_drop\. Each/, '... and the guard against a drop');
is(value('SELECT advice FROM snowflake_metrics'), '1', 'that is one line of advice');
value("CREATE ROLE nobody; GRANT USAGE ON SCHEMA $schema TO nobody");
is(value('SET ROLE nobody; SELECT advice IS NOT NULL FROM snowflake_status'), 't', '... which everybody may read');
my $locker = $server->background_psql('postgres');
$locker->query_safe("BEGIN; LOCK TABLE $schema.snowflake_registry, $schema.snowflake_layout");
is(() = value(q{SET statement_timeout = '60s'; SELECT advice FROM snowflake_status}) =~ /\w+ on snowflake_\w+/g, 12, 'tables that are locked are left out');
$locker->query_safe('ROLLBACK');
$locker->quit;
is(refused('SELECT snowflake_nextval()'), 'SF001', 'the registry refuses to work without them');
is(value('SELECT snowflake_make_guards()') . "\n" . value($triggers), "18\n$made", 'all are made again');
ok(wait_until('ids', sub { refused('SELECT snowflake_nextval()') eq '00000' }), '... and ids flow');

# They guard.
value(q{INSERT INTO snowflake_watermark VALUES (1000, 5); SELECT snowflake_create_segment('s'); SELECT snowflake_segment_nextval('s')});
for my $write ('INSERT INTO snowflake_registry SELECT * FROM snowflake_registry', "UPDATE snowflake_registry SET node = 'x'", 'DELETE FROM snowflake_watermark', 'UPDATE snowflake_watermark SET last_tick = 1',
	"UPDATE snowflake_layout SET definition = 'epoch=1735689600000 tick=1ms time=41 worker=9 seq=13'", 'DELETE FROM snowflake_origin', 'DELETE FROM snowflake_segment', 'UPDATE snowflake_segment SET last_value = 0',
	'UPDATE snowflake_segment_range SET held_to = 9', map { "TRUNCATE $_" } qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick))
{
	my $state = refused($write);
	ok($state eq '55000' || ($write =~ /INTO snowflake_registry/ && $state eq '428C9'), "refused: $write") or diag($state);
}
is(refused('ALTER TABLE snowflake_origin ALTER timeline TYPE numeric'), '0A000', 'no column changes its type');
value('SET session_replication_role = replica; DELETE FROM snowflake_layout');
is(value('SELECT count(*) FROM snowflake_layout'), '1', 'what replication writes is discarded');

# Who may call it, and when.
is(refused('SET ROLE nobody; SELECT snowflake_make_guards()'), '42501', 'not everybody');
value('GRANT EXECUTE ON FUNCTION snowflake_make_guards() TO nobody; DROP TRIGGER snowflake_guard ON snowflake_origin');
my ($state, $text) = query_error($server, 'postgres', "SET ROLE nobody; SELECT $schema.snowflake_make_guards()");
is($state, '42501', 'not with EXECUTE alone');
like($text, qr/permission denied for table snowflake_origin/, '... because the tables belong to another role');
is(refused('BEGIN READ ONLY; SELECT snowflake_make_guards()'), '25006', 'not in a read-only transaction');
is(refused('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT snowflake_make_guards()'), '55000', 'not with an older snapshot');
is(refused(q{BEGIN; SELECT snowflake_make_guards(); PREPARE TRANSACTION 'x'}), '0A000', 'not in a transaction that is prepared');
value('ALTER FUNCTION snowflake_layout_changed() SET work_mem = 1024');
like(advice(), qr/lost guards: snowflake_layout_changed on snowflake_layout, snowflake_guard on snowflake_origin\. /, 'a function with another setting is no guard');
($state, $text) = query_error($server, 'postgres', "SELECT $schema.snowflake_make_guards()");
is($state, '55000', '... and no trigger is made of it');
like($text, qr/function snowflake_layout_changed\(\) is not as the extension snowflake made it/, '... in words');
value('ALTER FUNCTION snowflake_layout_changed() RESET ALL');

# Tables and functions of another owner: he may call it, and what he has planted is not run.
value(q{CREATE ROLE owner; CREATE TABLE traces (who text); GRANT INSERT ON traces TO PUBLIC; GRANT ALL ON SCHEMA ids TO owner;
	CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ids.traces VALUES (current_user); RETURN new; END $$;
	CREATE FUNCTION public.snowflake_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO ids.traces VALUES (current_user); RETURN new; END $$});
value("ALTER TABLE $_ OWNER TO owner") for qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick);
value('SET ROLE owner; CREATE TRIGGER a AFTER UPDATE ON snowflake_watermark FOR EACH ROW EXECUTE FUNCTION trap(); CREATE RULE r AS ON INSERT TO snowflake_segment DO ALSO INSERT INTO traces VALUES (current_user)');
is(value('SET search_path = public; SELECT ids.snowflake_make_guards(); TABLE ids.traces'), '1', 'a superuser runs nothing of theirs');
is(value($triggers) =~ s/^snowflake_watermark\|a\|.*\n//mr, $made, '... and finds the right function');
value('SET ROLE owner; DROP TRIGGER a ON snowflake_watermark; DROP RULE r ON snowflake_segment');
value('GRANT EXECUTE ON FUNCTION snowflake_make_guards(), snowflake_guard() TO owner; DROP TRIGGER snowflake_guard ON snowflake_origin');
is(value('SET ROLE owner; SELECT snowflake_make_guards()') . "\n" . value($triggers), "1\n$made", 'the owner of the tables may call it, with EXECUTE');
value('ALTER EVENT TRIGGER _snowflake_guard_drop DISABLE; DROP TRIGGER snowflake_guard ON snowflake_origin');
is(value('SET ROLE owner; SET client_min_messages = error; SELECT snowflake_make_guards()') . "\n" . value($triggers), "1\n$made", '... and makes what it may');
like(advice(), qr/lost guards: _snowflake_guard_drop\./, '... the rest is left to a superuser');
value('SELECT snowflake_make_guards()');
value("ALTER TABLE $_ OWNER TO postgres") for qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick);
value('REVOKE EXECUTE ON FUNCTION snowflake_make_guards(), snowflake_guard() FROM owner, nobody');

# Beside leases that are acquired and released.
my $log = -s $server->logfile;
my $folder = $PostgreSQL::Test::Utils::tmp_check;
append_to_file("$folder/lease.sql", qq{\\set node random(1, 1000000)
SELECT lease_id, window_start FROM $schema.snowflake_lease_acquire('n' || :node, 0, (extract(epoch FROM now()) * 1000)::bigint - 1735689600000, '10 s', sha256(int8send(:node) || int8send(:node)), 0, NULL) \\gset
SELECT $schema.snowflake_lease_release(:lease_id, int8send(:node) || int8send(:node), :window_start - 1, 0);
});
append_to_file("$folder/make.sql", "BEGIN;\nSELECT $schema.snowflake_make_guards();\nALTER TABLE $schema.snowflake_watermark DISABLE TRIGGER snowflake_guard;\n"
	  . "SELECT 1 / snowflake_make_guards FROM $schema.snowflake_make_guards();\nCOMMIT;\n");
my @pgbench = ('pgbench', '-n', '-T', 2, '-f');
my ($made_count, $leased, $errors) = (0, 0, '');
# On a slow machine two seconds may be too short.
for (1 .. 20)
{
	my $acquiring = IPC::Run::start([ @pgbench, "$folder/lease.sql", '-c', 3, $server->connstr('postgres') ], '>', \my $leases, '2>', \my $lease_errors);
	my $making = IPC::Run::start([ @pgbench, "$folder/make.sql", $server->connstr('postgres') ], '>', \my $makes, '2>', \my $make_errors);
	$_->finish for $acquiring, $making;
	$errors .= "$lease_errors$make_errors";
	$made_count += $makes =~ /actually processed: (\d+)/ ? $1 : 0;
	$leased += $leases =~ /actually processed: (\d+)/ ? $1 : 0;
	last if $made_count > 20 && $leased > 20;
}
unlike(slurp_file($server->logfile, $log), qr/deadlock detected/, 'no deadlock with acquires and releases');
is($errors =~ s/^pgbench \(.*\n//mgr, '', '... and no error');
cmp_ok($made_count, '>', 20, 'a guard was made again many times');
cmp_ok($leased, '>', 20, '... beside many leases');
value('SELECT snowflake_make_guards(); DELETE FROM snowflake_registry WHERE node ~ \'^n\d\'');
is(value($triggers), $made, '... and are there at the end');
figures('made again %d times beside %d leases', $made_count, $leased);

# However it is created: the script does not check as a call does.
for my $mode ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	my $there = $server->safe_psql('other', "BEGIN ISOLATION LEVEL $mode; SAVEPOINT a; CREATE SCHEMA ids; CREATE EXTENSION snowflake SCHEMA ids; RELEASE a; PREPARE TRANSACTION 'x'; COMMIT PREPARED 'x'; SET search_path = ids; $triggers");
	is($there, $made, "$mode: the same guards, also in a transaction that is prepared");
	like($server->safe_psql('other', q{SET snowflake.start_timeout = '60s'; SELECT ids.snowflake_nextval()}), qr/^\d+$/, '... and ids');
	$server->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
}

# Moved, dumped and restored, after all were made again.
value("$dropped SELECT snowflake_make_guards()");
value('DROP FUNCTION public.snowflake_guard(); ALTER EXTENSION snowflake SET SCHEMA public');
$schema = 'public';
value($dropped);
is(value('SELECT snowflake_make_guards()'), '17', 'in another schema');
my $dump = "$folder/dump";
$server->run_log([ 'pg_dump', '-f', $dump, '-d', $server->connstr('postgres') ]);
unlike(slurp_file($dump), qr/CREATE TRIGGER/, 'a dump does not contain them');
$server->safe_psql('postgres', 'CREATE DATABASE restored');
$server->run_log([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $server->connstr('restored') ]);
is($server->safe_psql('restored', $triggers), value($triggers), 'a restored database has them');
$server->run_log([ 'pg_dump', '--data-only', '--disable-triggers', '-t', 'snowflake_segment', '-f', "$dump.data", '-d', $server->connstr('postgres') ]);
$server->run_log([ 'psql', '-Xq', '-f', "$dump.data", '-d', $server->connstr('restored') ]);
like($server->safe_psql('restored', 'SELECT advice FROM snowflake_status'), qr/lost guards: .* on snowflake_segment/, 'after a restore with --disable-triggers some are lost');
$server->safe_psql('restored', 'SELECT snowflake_make_guards()');
is($server->safe_psql('restored', $triggers), value($triggers), '... and made again');
is(refused('DROP EXTENSION snowflake'), '00000', 'the extension can be dropped');
is(value(q{SELECT count(*) FROM pg_trigger WHERE tgname ~ 'snowflake'}), '0', '... with all of them');

$server->stop('fast');
done_testing();
