-- Every setting: default, unit, limits, who may set it.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_nextval() > 0 AS issued;

SELECT name, boot_val, unit, context, vartype, min_val, max_val, enumvals FROM pg_settings WHERE name LIKE 'snowflake.%'
    AND name NOT IN ('snowflake.max_databases', 'snowflake.max_segments') ORDER BY name COLLATE "C";
SHOW snowflake.lease_duration;
SHOW snowflake.max_lead;
SHOW snowflake.max_bridge;
SHOW snowflake.max_leap;

\set SHOW_CONTEXT never
SET snowflake.lease_duration = '1 day 1ms';
\echo :SQLSTATE
SET snowflake.datacenter = 'many';
\echo :SQLSTATE
SET snowflake.datacenter = -1;
\echo :SQLSTATE
SET snowflake.max_lead = '5ms';
\echo :SQLSTATE
SET snowflake.max_bridge = '5ms';
\echo :SQLSTATE
SET snowflake.max_leap = '1h';
\echo :SQLSTATE
SET snowflake.max_wait = '5ms';
\echo :SQLSTATE
SET snowflake.on_clock_step_back = 'error';
\echo :SQLSTATE
SET snowflake.no_such_setting = 1;
\echo :SQLSTATE
ALTER SYSTEM SET snowflake.on_clock_step_back = 'ignore';
\echo :SQLSTATE

-- The message gives the limits with their unit from 17 on, and without before; they are in the list above.
\set VERBOSITY sqlstate
SET snowflake.lease_duration = '999ms';
SET snowflake.lease_duration = '86400001ms';
SET snowflake.start_timeout = -1;
ALTER SYSTEM SET snowflake.max_lead = '11s';
ALTER SYSTEM SET snowflake.max_bridge = '25h';
ALTER SYSTEM SET snowflake.max_leap = '-1';
\set VERBOSITY default

SET snowflake.lease_duration = '1s';
SET snowflake.lease_duration = '1d';
RESET snowflake.lease_duration;

CREATE ROLE regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SET snowflake.node_name = 'mine';
SET snowflake.datacenter = 1;
SET snowflake.lease_duration = '1h';
SET snowflake.start_timeout = '1s';
SHOW snowflake.start_timeout;
RESET ROLE;
DROP ROLE regress_snowflake_nobody;
