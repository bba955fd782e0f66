# The caller, or the owner of the registry's tables, creates objects whose names shadow what the
# protocol and the keeper call (section 10 of the design): operators, functions, overloads and
# tables, in pg_temp, earlier in the search_path or with better matching arguments. They are not
# called, and do not disturb the calls.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

Traps::start_keeper('security');

### Names of a caller, in its own schemas and in pg_temp

sql(
	'CREATE ROLE node LOGIN', 'GRANT CREATE ON DATABASE postgres TO node',
	'GRANT EXECUTE ON FUNCTION snowflake_lease_acquire(text, integer, bigint, interval, bytea, bigint, bigint, boolean),'
	  . ' snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, boolean), snowflake_lease_release(bigint, bytea, bigint, bigint) TO node');
sql(q{CREATE TABLE called (who name); GRANT INSERT ON called TO node});
my (undef, $answer) = as_role('node', q{
	CREATE SCHEMA shadows;
	CREATE FUNCTION shadows.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN $1 < $2; END$$;
	CREATE OPERATOR shadows.<= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = shadows.trap);
	CREATE OPERATOR shadows.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = shadows.trap);
	CREATE OPERATOR shadows.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = shadows.trap);
	CREATE FUNCTION shadows.nextval(regclass) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN 1; END$$;
	CREATE FUNCTION shadows.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN now(); END$$;
	CREATE TEMP TABLE snowflake_registry (lease_id bigint, worker_id int);
	CREATE TEMP TABLE snowflake_origin (system_identifier bigint);
	CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN now(); END$$;
	SET search_path = pg_temp, shadows, pg_catalog, public;
	SELECT uuid_send(gen_random_uuid()) AS secret \gset
	SELECT lease_id, window_start FROM public.snowflake_lease_acquire('n', 0, 1000, '1 min', sha256(:'secret'), 0, NULL) \gset
	SELECT window_end FROM public.snowflake_lease_extend(:lease_id, sha256(:'secret'), 2000, '1 min', 0, 0, 0);
	SELECT public.snowflake_lease_release(:lease_id, :'secret', :window_start, 0);
	SHOW search_path;
});
is($answer, "62000\nt\npg_temp, shadows, pg_catalog, public", 'names that shadow do not get in the way')
  or diag($answer);
is(sql('SELECT count(*) FROM called'), '0', '... and are not called');

### Names of the tables' owner, with a search_path that finds them first: names outside of
### pg_catalog are not looked up, so nothing runs

give_tables_to_bob();
plant('bob', q{
	CREATE FUNCTION public.snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, VARIADIC int[]) RETURNS bigint LANGUAGE sql AS
		$$SELECT bob.spring('overload'); SELECT 1::bigint$$;
	CREATE FUNCTION public.snowflake_lease_acquire(node varchar, datacenter integer, now_tick bigint, duration interval, secret bytea,
		seen_lease_id bigint, start_before bigint) RETURNS bigint LANGUAGE sql AS $$SELECT bob.spring('overload'); SELECT 1::bigint$$;
	CREATE FUNCTION bob.operator_trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('operator'); RETURN $1 = $2; END$$;
	CREATE OPERATOR bob.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bob.operator_trap);
	CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bob.operator_trap);
	CREATE FUNCTION bob.snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, boolean) RETURNS bigint LANGUAGE sql AS
		$$SELECT bob.spring('search_path'); SELECT 1::bigint$$;
	CREATE FUNCTION bob.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT bob.spring('search_path'); SELECT now()$$;
});
sql('ALTER DATABASE postgres SET search_path = bob, public, pg_catalog');
ok(keeper_works('names'), 'the keeper works beside names that shadow');
gained_nothing('names');
is(went_off(), '', 'none of these ran');

$server->stop('fast');
done_testing();
