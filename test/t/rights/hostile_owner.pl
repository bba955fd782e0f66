# The keeper is a superuser's process that reads and writes tables which may belong to another role
# (section 10 of the design). Everything that this owner plants on them (triggers, constraint
# triggers that wait for the commit, rules, policies, constraints, expressions) runs with the
# owner's rights or is refused. The owner gains no privileges.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
my $acquire = acquire();
Traps::start_keeper('security');
give_tables_to_bob();
ok(keeper_works('tables of bob'), 'the keeper works');

# bob plants everything below.
sub bob { plant('bob', $_[0]); return; }

# Removes a trap. The keeper may have run it once more before, so the records are emptied.
sub take_away { bob($_[0]); sql('TRUNCATE traps.seen'); return; }

sub as_bob { return join(', ', map { "$_ as bob" } @_); }

# Immediate triggers on all tables that the protocol writes.
bob(q{
	CREATE TRIGGER trap_before BEFORE INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION fire('before');
	CREATE TRIGGER trap_after AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION fire('after');
	CREATE TRIGGER trap_statement AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH STATEMENT EXECUTE FUNCTION fire('statement');
	CREATE TRIGGER trap_watermark BEFORE INSERT OR UPDATE ON snowflake_watermark FOR EACH ROW EXECUTE FUNCTION fire('watermark');
	ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER trap_watermark;
});
ok(keeper_works('triggers'), 'the keeper works beside triggers');
gained_nothing('triggers');
is(went_off(), as_bob(qw(after before statement watermark)), '... which ran as their owner');
take_away(q{
	DROP TRIGGER trap_before ON snowflake_registry;
	DROP TRIGGER trap_after ON snowflake_registry;
	DROP TRIGGER trap_statement ON snowflake_registry;
	DROP TRIGGER trap_watermark ON snowflake_watermark;
});

# Constraint triggers that are deferred to the commit. By then the protocol's function has returned,
# and the process has a superuser's rights again. So they must not run at all: the keeper is refused
# until they are dropped.
bob(q{
	CREATE CONSTRAINT TRIGGER trap_commit AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire('commit');
	CREATE CONSTRAINT TRIGGER trap_watermark_commit AFTER INSERT OR UPDATE ON snowflake_watermark
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire('watermark commit');
});
ok(wait_until('the keeper meets a deferred trigger', sub {
	sql('SELECT count(*) FROM traps.seen') ne '0' || sql('SELECT last_error FROM snowflake_status') =~ /cannot fire deferred trigger/;
}), 'the keeper meets a deferred trigger, and snowflake_status says so');
new_keeper();
query_error($server, $db, q{SET snowflake.start_timeout = '2s'; SELECT snowflake_nextval()});
gained_nothing('deferred triggers');
take_away(q{
	DROP TRIGGER trap_commit ON snowflake_registry;
	DROP TRIGGER trap_watermark_commit ON snowflake_watermark;
});
ok(wait_until('ids flow', sub { (query_error($server, $db, 'SELECT snowflake_nextval()'))[0] eq '00000' }),
	'ids flow once they are gone');

# Rules.
bob(q{
	CREATE RULE trap_insert AS ON INSERT TO snowflake_registry DO ALSO SELECT spring('insert rule');
	CREATE RULE trap_update AS ON UPDATE TO snowflake_origin DO ALSO SELECT spring('update rule');
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'the protocol refuses tables with rules');
gained_nothing('rules');
is(went_off(), '', '... and these do not run');
take_away(q{
	DROP RULE trap_insert ON snowflake_registry;
	DROP RULE trap_update ON snowflake_origin;
	CREATE RULE trap_swallow AS ON INSERT TO snowflake_registry DO INSTEAD NOTHING;
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'a rule that swallows the lease is noticed');
take_away('DROP RULE trap_swallow ON snowflake_registry');

# Policies that the owner forces on itself.
bob(q{
	CREATE POLICY trap ON snowflake_registry USING (yes('policy')) WITH CHECK (yes('policy check'));
	ALTER TABLE snowflake_registry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'the protocol refuses tables with policies');
gained_nothing('policies');
is(went_off(), '', '... and these do not run');
take_away(q{
	ALTER TABLE snowflake_registry DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
	DROP POLICY trap ON snowflake_registry;
});

# Expressions: defaults, generated columns, checks, domains, indexes.
bob(q{
	CREATE FUNCTION check_domain(n int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''domain''); RETURN true; END';
	CREATE DOMAIN watched AS int CHECK (check_domain(VALUE));
	ALTER TABLE snowflake_registry ADD COLUMN extra boolean DEFAULT yes('default');
	ALTER TABLE snowflake_registry ADD COLUMN twice bigint GENERATED ALWAYS AS (number(lease_id, 'generated')) STORED;
	ALTER TABLE snowflake_registry ADD COLUMN domained watched DEFAULT 1;
	ALTER TABLE snowflake_registry ADD CONSTRAINT trap CHECK (yes('check'));
	CREATE INDEX trap_index ON snowflake_registry (number(window_end, 'index'));
	CREATE INDEX trap_partial ON snowflake_watermark (last_tick) WHERE number(last_tick, 'partial index') > 0;
});
sql('TRUNCATE traps.seen');
ok(keeper_works('expressions'), 'the keeper works beside expressions');
gained_nothing('expressions');
is(went_off(), as_bob('check', 'default', 'domain', 'generated', 'index', 'partial index'), '... which ran as their owner');

$server->stop('fast');
done_testing();
