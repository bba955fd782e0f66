# The extension's tables belong to bob, who plants triggers, checks and indexes on them. Functions
# that a superuser calls (snowflake_settle(), snowflake_set_layout()) run these as the tables'
# owner, and functions that only read the layout run none of them.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

Traps::start('rights', preload => 1);
sql('GRANT CREATE ON SCHEMA public TO bob');
give_tables_to_bob();
plant('bob', q{
	CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON public.snowflake_origin FOR EACH ROW EXECUTE FUNCTION fire('origin');
	CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON public.snowflake_layout FOR EACH ROW EXECUTE FUNCTION fire('layout');
	ALTER TABLE public.snowflake_origin ADD CHECK (number(last_lease_id, 'origin check') > 0);
	ALTER TABLE public.snowflake_layout ADD CHECK (number(length(definition), 'layout check') > 0);
	CREATE INDEX ON public.snowflake_origin (number(1, 'origin index'));
	CREATE INDEX ON public.snowflake_layout (number(1, 'layout index'));
});
sql('TRUNCATE traps.seen');
my ($state, $text) = query_error($server, 'postgres', q{SELECT snowflake_settle('test')});
is($state, '00000', 'snowflake_settle() beside traps') or diag($text);
gained_nothing('snowflake_settle()');
is(went_off(), 'origin as bob, origin check as bob, origin index as bob', '... which run as their owner');
is((as_role('bob', 'SELECT settles_until > now() FROM public.snowflake_origin'))[1], 't', '... and the registry settles');
sql('TRUNCATE traps.seen');
sql(q{SELECT snowflake_set_layout('snowflake')});
gained_nothing('a new layout');
is(went_off(), 'layout as bob, layout check as bob, layout index as bob', 'snowflake_set_layout() runs them as their owner');
sql('SELECT * FROM snowflake_get_layout(); SELECT * FROM snowflake_status; SELECT * FROM snowflake_layouts;
	SELECT snowflake_timestamp(1), snowflake_id_at(now())');
is(went_off(), '', 'what reads the layout runs nothing');

$server->stop('fast');
done_testing();
