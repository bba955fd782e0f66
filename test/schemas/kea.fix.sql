-- What has to change for the conversion of kea.sql, see README.md. The functions are Kea's: see kea.sql
-- for copyright and licence.

-- before
-- Triggers call these functions with columns that become bigint.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT oid::regprocedure AS name, pg_get_functiondef(oid) AS text FROM pg_proc
        WHERE proname IN ('createoptionauditdhcp4', 'createoptionauditdhcp6') LOOP
        EXECUTE replace(replace(f.text, 'option_id integer', 'option_id bigint'), 'host_id integer', 'host_id bigint');
        EXECUTE format('DROP FUNCTION %s', f.name);
    END LOOP;
END $$;

-- rows
-- Both halves of Kea note their changes under the revision in one variable of the session, so rows
-- of both halves in one session can only be inserted without.
SELECT set_config('kea.disable_audit', 'true', false) \gset
