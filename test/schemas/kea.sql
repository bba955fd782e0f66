-- Kea 2.2.0, DHCP (written by hand, with functions and triggers)
-- Source: https://gitlab.isc.org/isc-projects/kea
-- Copyright (C) 2010-2022 Internet Systems Consortium, Inc. ("ISC")
-- Licence: MPL-2.0, see licenses/MPL-2.0
-- Changed: taken from the database that the project's own script makes. Owned sequences are written
-- as serial, without owners and the comments between statements. No table is left out.

SET check_function_bodies = off;

CREATE FUNCTION public.checkdhcpv4clientclassdependency(p_class_id bigint, p_dependency_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    class_index BIGINT;
    dependency_index BIGINT;
BEGIN
    -- We could check the same with a constraint but later in this
    -- trigger we use this value to verify if the dependencies are
    -- met.
    IF p_class_id IS NULL THEN
        RAISE EXCEPTION 'Client class id must not be NULL.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    IF p_dependency_id IS NULL THEN
        RAISE EXCEPTION 'Class dependency id must not be NULL.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Dependencies on self make no sense.
    IF p_class_id = p_dependency_id THEN
        RAISE EXCEPTION 'Client class must not have dependency on self.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check position of our class in the hierarchy.
    SELECT o.order_index INTO class_index FROM dhcp4_client_class AS c
        INNER JOIN dhcp4_client_class_order AS o ON c.id = o.class_id
        WHERE c.id = p_class_id;

    IF class_index IS NULL THEN
        RAISE EXCEPTION 'Client class with id % does not exist.', p_class_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check position of the dependency.
    SELECT o.order_index INTO dependency_index FROM dhcp4_client_class AS c
        INNER JOIN dhcp4_client_class_order AS o ON c.id = o.class_id
        WHERE c.id = p_dependency_id;

    IF dependency_index IS NULL THEN
        RAISE EXCEPTION 'Dependency class with id % does not exist.', p_dependency_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- The dependency must not be later than our class.
    IF dependency_index > class_index THEN
        RAISE EXCEPTION
            'Client class with id % must not depend on class defined later with id %',
            p_class_id, p_dependency_id USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check if all servers associated with the new class have dependent
    -- classes configured. This catches the cases that class A belongs to
    -- server1 and depends on class B which belongs only to server 2.
    -- It is fine if the class B belongs to all servers in this case.
    -- Make a SELECT on the dhcp4_client_class_server table to gather
    -- all servers to which the class belongs. LEFT JOIN it with the
    -- same table, selecting all records matching the dependency class
    -- and the servers to which the new class belongs. If there are
    -- any NULL records joined it implies that some dependencies are
    -- not met (didn't find a dependency for at least one server).
    IF EXISTS(
        SELECT 1 FROM dhcp4_client_class_server AS t1
            LEFT JOIN dhcp4_client_class_server AS t2
                ON t2.class_id = p_dependency_id AND (t2.server_id = 1 OR t2.server_id = t1.server_id)
        WHERE t1.class_id = p_class_id AND t2.server_id IS NULL
        LIMIT 1
    ) THEN
        RAISE EXCEPTION 'Unmet dependencies for client class with id %', class_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.checkdhcpv4clientclassknowndependencychange() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    depended BOOLEAN := false;
    depends BOOLEAN := false;
    client_class_id BIGINT;
    depend_on_known_directly BOOLEAN;
    depend_on_known_indirectly BOOLEAN;
BEGIN

    -- Session variables are set upon a client class update.
    client_class_id := get_session_big_int('kea.client_class_id');
    IF client_class_id IS NOT NULL THEN
        -- Check if any of the classes depend on this class. If not,
        -- it is ok to change the dependency on KNOWN/UNKNOWN.
        IF EXISTS(
            SELECT 1 FROM dhcp4_client_class_dependency
            WHERE dependency_id = client_class_id LIMIT 1
        ) THEN
            -- Using the session variables, determine whether the client class
            -- depended on KNOWN/UNKNOWN before the update.
            depend_on_known_directly := get_session_boolean('kea.depend_on_known_directly');
            depend_on_known_indirectly := get_session_boolean('kea.depend_on_known_indirectly');
            IF depend_on_known_directly = true OR depend_on_known_indirectly = true THEN
                SET depended = true;
            END IF;

            -- Check if the client class depends on KNOWN/UNKNOWN after the update.
            SELECT depend_on_known_directly INTO depends FROM dhcp4_client_class
                WHERE id = client_class_id;

            -- If it doesn't depend directly, check indirect dependencies.
            IF depends = false THEN
                SELECT depend_on_known_indirectly INTO depends FROM dhcp4_client_class_order
                    WHERE class_id = client_class_id;
            END IF;

            -- The resulting dependency on KNOWN/UNKNOWN must not change.
            IF depended <> depends THEN
                RAISE EXCEPTION 'Class dependency on KNOWN/UNKNOWN built-in classes must not change.'
                    USING ERRCODE = 'sql_routine_exception';
            END IF;
        END IF;
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.checkdhcpv6clientclassdependency(p_class_id bigint, p_dependency_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    class_index BIGINT;
    dependency_index BIGINT;
BEGIN
    -- We could check the same with a constraint but later in this
    -- trigger we use this value to verify if the dependencies are
    -- met.
    IF p_class_id IS NULL THEN
        RAISE EXCEPTION 'Client class id must not be NULL.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    IF p_dependency_id IS NULL THEN
        RAISE EXCEPTION 'Class dependency id must not be NULL.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Dependencies on self make no sense.
    IF p_class_id = p_dependency_id THEN
        RAISE EXCEPTION 'Client class must not have dependency on self.'
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check position of our class in the hierarchy.
    SELECT o.order_index INTO class_index FROM dhcp6_client_class AS c
        INNER JOIN dhcp6_client_class_order AS o ON c.id = o.class_id
        WHERE c.id = p_class_id;

    IF class_index IS NULL THEN
        RAISE EXCEPTION 'Client class with id % does not exist.', p_class_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check position of the dependency.
    SELECT o.order_index INTO dependency_index FROM dhcp6_client_class AS c
        INNER JOIN dhcp6_client_class_order AS o ON c.id = o.class_id
        WHERE c.id = p_dependency_id;

    IF dependency_index IS NULL THEN
        RAISE EXCEPTION 'Dependency class with id % does not exist.', p_dependency_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- The dependency must not be later than our class.
    IF dependency_index > class_index THEN
        RAISE EXCEPTION
            'Client class with id % must not depend on class defined later with id %',
            p_class_id, p_dependency_id USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- Check if all servers associated with the new class have dependent
    -- classes configured. This catches the cases that class A belongs to
    -- server1 and depends on class B which belongs only to server 2.
    -- It is fine if the class B belongs to all servers in this case.
    -- Make a SELECT on the dhcp6_client_class_server table to gather
    -- all servers to which the class belongs. LEFT JOIN it with the
    -- same table, selecting all records matching the dependency class
    -- and the servers to which the new class belongs. If there are
    -- any NULL records joined it implies that some dependencies are
    -- not met (didn't find a dependency for at least one server).
    IF EXISTS(
        SELECT 1 FROM dhcp6_client_class_server AS t1
            LEFT JOIN dhcp6_client_class_server AS t2
                ON t2.class_id = p_dependency_id AND (t2.server_id = 1 OR t2.server_id = t1.server_id)
        WHERE t1.class_id = p_class_id AND t2.server_id IS NULL
        LIMIT 1
    ) THEN
        RAISE EXCEPTION 'Unmet dependencies for client class with id %', p_class_id
            USING ERRCODE = 'sql_routine_exception';
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.checkdhcpv6clientclassknowndependencychange() RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    depended BOOLEAN := false;
    depends BOOLEAN := false;
    client_class_id BIGINT;
    depend_on_known_directly BOOLEAN;
    depend_on_known_indirectly BOOLEAN;
BEGIN

    -- Session variables are set upon a client class update.
    client_class_id := get_session_big_int('kea.client_class_id');
    IF client_class_id IS NOT NULL THEN
        -- Check if any of the classes depend on this class. If not,
        -- it is ok to change the dependency on KNOWN/UNKNOWN.
        IF EXISTS(
            SELECT 1 FROM dhcp6_client_class_dependency
            WHERE dependency_id = client_class_id LIMIT 1
        ) THEN
            -- Using the session variables, determine whether the client class
            -- depended on KNOWN/UNKNOWN before the update.
            depend_on_known_directly := get_session_boolean('kea.depend_on_known_directly');
            depend_on_known_indirectly := get_session_boolean('kea.depend_on_known_indirectly');
            IF depend_on_known_directly = true OR depend_on_known_indirectly = true THEN
                SET depended = true;
            END IF;

            -- Check if the client class depends on KNOWN/UNKNOWN after the update.
            SELECT depend_on_known_directly INTO depends FROM dhcp6_client_class
                WHERE id = client_class_id;

            -- If it doesn't depend directly, check indirect dependencies.
            IF depends = false THEN
                SELECT depend_on_known_indirectly INTO depends FROM dhcp6_client_class_order
                    WHERE class_id = client_class_id;
            END IF;

            -- The resulting dependency on KNOWN/UNKNOWN must not change.
            IF depended <> depends THEN
                RAISE EXCEPTION 'Class dependency on KNOWN/UNKNOWN built-in classes must not change.'
                    USING ERRCODE = 'sql_routine_exception';
            END IF;
        END IF;
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.checklease4limits(user_context text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    class TEXT;
    name VARCHAR(255);
    sid INT;
    lease_limit INT;
    lease_count INT;
BEGIN
    -- Dive into client class limits.
    FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(user_context)->'ISC'->'limits'->'client-classes') LOOP
        SELECT TRIM('"' FROM (json_cast(class)->'name')::text) INTO name;
        SELECT json_cast(class)->'address-limit' INTO lease_limit;

        IF lease_limit IS NOT NULL THEN
            -- Get the lease count for this client class.
            SELECT leases FROM lease4_stat_by_client_class INTO lease_count WHERE client_class = name;
            IF lease_count IS NULL THEN
                lease_count := 0;
            END IF;

            -- Compare. Return immediately if the limit is surpassed.
            IF lease_limit <= lease_count THEN
                RETURN CONCAT('address limit ', lease_limit, ' for client class "', name, '", current lease count ', lease_count);
            END IF;
        END IF;
    END LOOP;

    -- Dive into subnet limits.
    SELECT json_cast(user_context)->'ISC'->'limits'->'subnet'->'id' INTO sid;
    SELECT json_cast(user_context)->'ISC'->'limits'->'subnet'->'address-limit' INTO lease_limit;

    IF lease_limit IS NOT NULL THEN
        -- Get the lease count for this client class.
        SELECT leases FROM lease4_stat WHERE subnet_id = sid AND state = 0 INTO lease_count;
        IF lease_count IS NULL THEN
            lease_count := 0;
        END IF;

        -- Compare. Return immediately if the limit is surpassed.
        IF lease_limit <= lease_count THEN
            RETURN CONCAT('address limit ', lease_limit, ' for subnet ID ', sid, ', current lease count ', lease_count);
        END IF;
    END IF;

    RETURN '';
END;
$$;

CREATE FUNCTION public.checklease6limits(user_context text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    class TEXT;
    name VARCHAR(255);
    sid INT;
    lease_limit INT;
    lease_count INT;
BEGIN
    -- Dive into client class limits.
    FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(user_context)->'ISC'->'limits'->'client-classes') LOOP
        SELECT TRIM('"' FROM (json_cast(class)->'name')::text) INTO name;
        SELECT json_cast(class)->'address-limit' INTO lease_limit;

        IF lease_limit IS NOT NULL THEN
            -- Get the address count for this client class.
            SELECT leases FROM lease6_stat_by_client_class WHERE client_class = name AND lease_type = 0 INTO lease_count;
            IF lease_count IS NULL THEN
                lease_count := 0;
            END IF;

            -- Compare. Return immediately if the limit is surpassed.
            IF lease_limit <= lease_count THEN
                RETURN CONCAT('address limit ', lease_limit, ' for client class "', name, '", current lease count ', lease_count);
            END IF;
        END IF;

        SELECT json_cast(class)->'prefix-limit' INTO lease_limit;
        IF lease_limit IS NOT NULL THEN
            -- Get the prefix count for this client class.
            SELECT leases FROM lease6_stat_by_client_class WHERE client_class = name AND lease_type = 2 INTO lease_count;
            IF lease_count IS NULL THEN
                lease_count := 0;
            END IF;

            -- Compare. Return immediately if the limit is surpassed.
            IF lease_limit <= lease_count THEN
                RETURN CONCAT('prefix limit ', lease_limit, ' for client class "', name, '", current lease count ', lease_count);
            END IF;
        END IF;
    END LOOP;

    -- Dive into subnet limits.
    SELECT json_cast(user_context)->'ISC'->'limits'->'subnet'->'id' INTO sid;
    SELECT json_cast(user_context)->'ISC'->'limits'->'subnet'->'address-limit' INTO lease_limit;
    IF lease_limit IS NOT NULL THEN
        -- Get the lease count for this subnet.
        SELECT leases FROM lease6_stat WHERE subnet_id = sid AND lease_type = 0 AND state = 0 INTO lease_count;
        IF lease_count IS NULL THEN
            lease_count := 0;
        END IF;

        -- Compare. Return immediately if the limit is surpassed.
        IF lease_limit <= lease_count THEN
            RETURN CONCAT('address limit ', lease_limit, ' for subnet ID ', sid, ', current lease count ', lease_count);
        END IF;
    END IF;
    SELECT json_cast(user_context)->'ISC'->'limits'->'subnet'->'prefix-limit' INTO lease_limit;
    IF lease_limit IS NOT NULL THEN
        -- Get the lease count for this client class.
        SELECT leases FROM lease6_stat WHERE subnet_id = sid AND lease_type = 2 AND state = 0 INTO lease_count;
        IF lease_count IS NULL THEN
            lease_count := 0;
        END IF;

        -- Compare. Return immediately if the limit is surpassed.
        IF lease_limit <= lease_count THEN
            RETURN CONCAT('prefix limit ', lease_limit, ' for subnet ID ', sid, ', current lease count ', lease_count);
        END IF;
    END IF;

    RETURN '';
END;
$$;

CREATE FUNCTION public.colonseparatedhex(hex text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    i INT := 3;
    length INT := LENGTH(hex);
    output TEXT;
BEGIN
    -- Add a leading zero if the first octet has a single hexadecimal character.
    IF MOD(length, 2) = 1 THEN
        hex := CONCAT('0', hex);
        length := length + 1;
    END IF;

    -- Start with the first octet.
    output := SUBSTR(hex, 1, 2);

    -- Add one octet at a time and a leading colon with each.
    WHILE i < length LOOP
        output := CONCAT(output, ':', SUBSTR(hex, i, 2));
        i := i + 2;
    END LOOP;

    -- Memfile uses lowercase hexadecimals.
    output := LOWER(output);

    RETURN output;
END
$$;

CREATE FUNCTION public.createauditentrydhcp4(object_type_val character varying, object_id_val bigint, modification_type_val character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    audit_revision_id BIGINT;
    disable_audit BOOLEAN := false;
BEGIN
    -- Fetch session value for disable_audit.
    disable_audit := get_session_boolean('kea.disable_audit');

    IF disable_audit IS NULL OR disable_audit = false THEN
        -- Fetch session value most recently created audit_revision_id.
        audit_revision_id := get_session_big_int('kea.audit_revision_id');
        INSERT INTO dhcp4_audit (object_type, object_id, modification_type, revision_id)
            VALUES (object_type_val, object_id_val,
                (SELECT id FROM modification WHERE modification_type = modification_type_val),
                 audit_revision_id);
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.createauditentrydhcp6(object_type_val character varying, object_id_val bigint, modification_type_val character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    audit_revision_id BIGINT;
    disable_audit BOOLEAN := false;
BEGIN
    -- Fetch session value for disable_audit.
    disable_audit := get_session_boolean('kea.disable_audit');
    IF disable_audit = false THEN
        -- Fetch session value most recently created audit_revision_id.
        audit_revision_id := get_session_big_int('kea.audit_revision_id');
        INSERT INTO dhcp6_audit (object_type, object_id, modification_type, revision_id)
            VALUES (object_type_val, object_id_val,
                (SELECT id FROM modification WHERE modification_type = modification_type_val),
                 audit_revision_id);
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.createauditrevisiondhcp4(audit_ts timestamp with time zone, server_tag character varying, audit_log_message text, cascade_transaction boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    disable_audit BOOLEAN := false;
    audit_revision_id BIGINT;
    srv_id BIGINT;
BEGIN
    -- Fetch session value for disable_audit.
    disable_audit := get_session_boolean('kea.disable_audit');
    IF disable_audit = false THEN
        SELECT id INTO srv_id FROM dhcp4_server WHERE tag = server_tag;
        INSERT INTO dhcp4_audit_revision (modification_ts, server_id, log_message)
            VALUES (audit_ts, srv_id, audit_log_message) returning id INTO audit_revision_id;

        -- Update pertinent session variables.
        PERFORM set_session_value('kea.audit_revision_id', audit_revision_id);
        PERFORM set_session_value('kea.cascade_transaction', cascade_transaction);
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.createauditrevisiondhcp6(audit_ts timestamp with time zone, server_tag character varying, audit_log_message text, cascade_transaction boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    disable_audit BOOLEAN := false;
    audit_revision_id BIGINT;
    srv_id BIGINT;
BEGIN
    -- Fetch session value for disable_audit.
    disable_audit := get_session_boolean('kea.disable_audit');
    IF disable_audit = false THEN
        SELECT id INTO srv_id FROM dhcp6_server WHERE tag = server_tag;
        INSERT INTO dhcp6_audit_revision (modification_ts, server_id, log_message)
            VALUES (audit_ts, srv_id, audit_log_message) returning id INTO audit_revision_id;

        -- Update pertinent session variables.
        PERFORM set_session_value('kea.audit_revision_id', audit_revision_id);
        PERFORM set_session_value('kea.cascade_transaction', cascade_transaction);
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.createoptionauditdhcp4(modification_type character varying, scope_id smallint, option_id integer, p_subnet_id bigint, host_id integer, network_name character varying, pool_id bigint, p_modification_ts timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    -- These variables will hold shared network id and subnet id that
    -- we will select.
    snid BIGINT;
    sid BIGINT;
    cascade_transaction BOOLEAN;
BEGIN
    -- Cascade transaction flag is set to true to prevent creation of
    -- the audit entries for the options when the options are
    -- created as part of the parent object creation or update.
    -- For example: when the option is added as part of the subnet
    -- addition, the cascade transaction flag is equal to true. If
    -- the option is added into the existing subnet the cascade
    -- transaction is equal to false. Note that depending on the option
    -- scope the audit entry will contain the object_type value
    -- of the parent object to cause the server to replace the
    -- entire subnet. The only case when the object_type will be
    -- set to 'dhcp4_options' is when a global option is added.
    -- Global options do not have the owner.

    cascade_transaction := get_session_boolean('kea.cascade_transaction');
    IF cascade_transaction = false THEN
        -- todo: host manager hasn't been updated to use audit
        -- mechanisms so ignore host specific options for now.
        IF scope_id = 0 THEN
            -- If a global option is added or modified, create audit
            -- entry for the 'dhcp4_options' table.
            PERFORM createAuditEntryDHCP4('dhcp4_options', option_id, modification_type);
        ELSEIF scope_id = 1 THEN
            -- If subnet specific option is added or modified, update
            -- the modification timestamp of this subnet to allow the
            -- servers to refresh the subnet information. This will
            -- also result in creating an audit entry for this subnet.
            UPDATE dhcp4_subnet SET modification_ts = p_modification_ts
                WHERE subnet_id = p_subnet_id;
        ELSEIF scope_id = 4 THEN
            -- If shared network specific option is added or modified,
            -- update the modification timestamp of this shared network
            -- to allow the servers to refresh the shared network
            -- information. This will also result in creating an
            -- audit entry for this shared network.
           SELECT id INTO snid FROM dhcp4_shared_network WHERE name = network_name LIMIT 1;
           UPDATE dhcp4_shared_network SET modification_ts = p_modification_ts
                WHERE id = snid;
        ELSEIF scope_id = 5 THEN
            -- If pool specific option is added or modified, update
            -- the modification timestamp of the owning subnet.
            SELECT dhcp4_pool.subnet_id INTO sid FROM dhcp4_pool WHERE id = pool_id;
            UPDATE dhcp4_subnet SET modification_ts = p_modification_ts
                WHERE subnet_id = sid;
        END IF;
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.createoptionauditdhcp6(modification_type character varying, scope_id smallint, option_id integer, p_subnet_id bigint, host_id integer, network_name character varying, pool_id bigint, pd_pool_id bigint, p_modification_ts timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    -- These variables will hold shared network id and subnet id that
    -- we will select.
    snid BIGINT;
    sid BIGINT;
    cascade_transaction BOOLEAN;
BEGIN
    -- Cascade transaction flag is set to true to prevent creation of
    -- the audit entries for the options when the options are
    -- created as part of the parent object creation or update.
    -- For example: when the option is added as part of the subnet
    -- addition, the cascade transaction flag is equal to true. If
    -- the option is added into the existing subnet the cascade
    -- transaction is equal to false. Note that depending on the option
    -- scope the audit entry will contain the object_type value
    -- of the parent object to cause the server to replace the
    -- entire subnet. The only case when the object_type will be
    -- set to 'dhcp6_options' is when a global option is added.
    -- Global options do not have the owner.

    cascade_transaction := get_session_boolean('kea.cascade_transaction');
    IF cascade_transaction = false THEN
        -- todo: host manager hasn't been updated to use audit
        -- mechanisms so ignore host specific options for now.
        IF scope_id = 0 THEN
            -- If a global option is added or modified, create audit
            -- entry for the 'dhcp6_options' table.
            PERFORM createAuditEntryDHCP6('dhcp6_options', option_id, modification_type);
        ELSEIF scope_id = 1 THEN
            -- If subnet specific option is added or modified, update
            -- the modification timestamp of this subnet to allow the
            -- servers to refresh the subnet information. This will
            -- also result in creating an audit entry for this subnet.
            UPDATE dhcp6_subnet SET modification_ts = p_modification_ts
                WHERE subnet_id = p_subnet_id;
        ELSEIF scope_id = 4 THEN
            -- If shared network specific option is added or modified,
            -- update the modification timestamp of this shared network
            -- to allow the servers to refresh the shared network
            -- information. This will also result in creating an
            -- audit entry for this shared network.
           SELECT id INTO snid FROM dhcp6_shared_network WHERE name = network_name LIMIT 1;
           UPDATE dhcp6_shared_network SET modification_ts = p_modification_ts
                WHERE id = snid;
        ELSEIF scope_id = 5 THEN
            -- If pool specific option is added or modified, update
            -- the modification timestamp of the owning subnet.
            SELECT dhcp6_pool.subnet_id INTO sid FROM dhcp6_pool WHERE id = pool_id;
            UPDATE dhcp6_subnet SET modification_ts = p_modification_ts
                WHERE subnet_id = sid;
        ELSEIF scope_id = 6 THEN
            -- If pd pool specific option is added or modified, create
            -- audit entry for the subnet which this pool belongs to.
            SELECT dhcp6_pd_pool.subnet_id INTO sid FROM dhcp6_pd_pool WHERE id = pd_pool_id;
            UPDATE dhcp6_subnet SET modification_ts = p_modification_ts
                WHERE subnet_id = sid;
        END IF;
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.func_dhcp4_client_class_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_client_class', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_client_class_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM setClientClass4Order(NEW.id, NEW.follow_class_name, NULL);
    PERFORM createAuditEntryDHCP4('dhcp4_client_class', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_client_class_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_session_value('kea.depend_on_known_directly', OLD.depend_on_known_directly);
    PERFORM set_session_value('kea.client_class_id', NEW.id);
    PERFORM setClientClass4Order(NEW.id, NEW.follow_class_name, OLD.follow_class_name);
    PERFORM createAuditEntryDHCP4('dhcp4_client_class', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_client_class_check_dependency_bins() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM checkDHCPv4ClientClassDependency(NEW.class_id, NEW.dependency_id);
    RETURN NEW;
END;
$$;

CREATE FUNCTION public.func_dhcp4_client_class_dependency_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM updateDHCPv4ClientClassKnownDependency(NEW.class_id, NEW.dependency_id);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_global_parameter_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_global_parameter', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_global_parameter_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_global_parameter', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_global_parameter_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_global_parameter', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_option_def_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_option_def', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_option_def_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_option_def', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_option_def_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_option_def', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_options_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP4('delete', OLD.scope_id, OLD.option_id, OLD.dhcp4_subnet_id,
                                   OLD.host_id, OLD.shared_network_name, OLD.pool_id,
                                   NOW());
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_options_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP4('create', NEW.scope_id, NEW.option_id, NEW.dhcp4_subnet_id,
                                   NEW.host_id, NEW.shared_network_name, NEW.pool_id,
                                   NEW.modification_ts);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_options_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP4('update', NEW.scope_id, NEW.option_id, NEW.dhcp4_subnet_id,
                                   NEW.host_id, NEW.shared_network_name, NEW.pool_id,
                                   NEW.modification_ts);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_pool_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM dhcp4_options WHERE scope_id = 5 AND pool_id = OLD.id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp4_server_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_server', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_server_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_server', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_server_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_server', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_shared_network_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_shared_network', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_shared_network_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_shared_network', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_shared_network_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_shared_network', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_shared_network_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_shared_network', OLD.id, 'delete');
    -- Explicitly update subnets now rather than via foreign key constraint, this ensures the
    -- audit entries for subnets will preceded that of the shared-network, keeping the order
    -- of the entries the same as they are for MySQL.
    UPDATE dhcp4_subnet SET shared_network_name = NULL WHERE shared_network_name = OLD.name;
    DELETE FROM dhcp4_options WHERE shared_network_name = OLD.name;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp4_subnet_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_subnet', NEW.subnet_id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_subnet_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_subnet', NEW.subnet_id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp4_subnet_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP4('dhcp4_subnet', OLD.subnet_id, 'delete');
    DELETE FROM dhcp4_pool WHERE subnet_id = OLD.subnet_id;
    DELETE FROM dhcp4_options WHERE dhcp4_subnet_id = OLD.subnet_id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp6_client_class_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_client_class', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_client_class_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM setClientClass6Order(NEW.id, NEW.follow_class_name, NULL);
    PERFORM createAuditEntryDHCP6('dhcp6_client_class', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_client_class_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_session_value('kea.depend_on_known_directly', OLD.depend_on_known_directly);
    PERFORM set_session_value('kea.client_class_id', NEW.id);
    PERFORM setClientClass6Order(NEW.id, NEW.follow_class_name, OLD.follow_class_name);
    PERFORM createAuditEntryDHCP6('dhcp6_client_class', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_client_class_check_dependency_bins() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM checkDHCPv6ClientClassDependency(NEW.class_id, NEW.dependency_id);
    RETURN NEW;
END;
$$;

CREATE FUNCTION public.func_dhcp6_client_class_dependency_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM updateDHCPv6ClientClassKnownDependency(NEW.class_id, NEW.dependency_id);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_global_parameter_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_global_parameter', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_global_parameter_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_global_parameter', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_global_parameter_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_global_parameter', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_option_def_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_option_def', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_option_def_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_option_def', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_option_def_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_option_def', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_options_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP6('delete', OLD.scope_id, OLD.option_id, OLD.dhcp6_subnet_id,
                                   OLD.host_id, OLD.shared_network_name, OLD.pool_id,
                                   OLD.pd_pool_id, NOW());
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_options_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP6('create', NEW.scope_id, NEW.option_id, NEW.dhcp6_subnet_id,
                                   NEW.host_id, NEW.shared_network_name, NEW.pool_id,
                                   NEW.pd_pool_id, NEW.modification_ts);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_options_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createOptionAuditDHCP6('update', NEW.scope_id, NEW.option_id, NEW.dhcp6_subnet_id,
                                   NEW.host_id, NEW.shared_network_name, NEW.pool_id,
                                   NEW.pd_pool_id, NEW.modification_ts);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_pd_pool_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM dhcp6_options WHERE scope_id = 6 AND pd_pool_id = OLD.id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp6_pool_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM dhcp6_options WHERE scope_id = 5 AND pool_id = OLD.id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp6_server_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_server', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_server_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_server', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_server_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_server', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_shared_network_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_shared_network', OLD.id, 'delete');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_shared_network_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_shared_network', NEW.id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_shared_network_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_shared_network', NEW.id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_shared_network_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_shared_network', OLD.id, 'delete');
    -- Explicitly update subnets now rather than via foreign key constraint, this ensures the
    -- audit entries for subnets will preceded that of the shared-network, keeping the order
    -- of the entries the same as they are for MySQL.
    UPDATE dhcp6_subnet SET shared_network_name = NULL WHERE shared_network_name = OLD.name;
    DELETE FROM dhcp6_options WHERE shared_network_name = OLD.name;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_dhcp6_subnet_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_subnet', NEW.subnet_id, 'create');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_subnet_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_subnet', NEW.subnet_id, 'update');
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_dhcp6_subnet_bdel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM createAuditEntryDHCP6('dhcp6_subnet', OLD.subnet_id, 'delete');
    DELETE FROM dhcp6_pool WHERE subnet_id = OLD.subnet_id;
    DELETE FROM dhcp6_pd_pool WHERE subnet_id = OLD.subnet_id;
    DELETE FROM dhcp6_options WHERE dhcp6_subnet_id = OLD.subnet_id;
    RETURN OLD;
END;
$$;

CREATE FUNCTION public.func_lease4_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease4_ADEL_lease4_stat_by_client_class(OLD.state, OLD.user_context);
    END IF;
    PERFORM lease4_ADEL_lease4_stat(OLD.state, OLD.subnet_id);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_lease4_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease4_AINS_lease4_stat_by_client_class(NEW.state, NEW.user_context);
    END IF;
    PERFORM lease4_AINS_lease4_stat(NEW.state, NEW.subnet_id);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_lease4_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease4_AUPD_lease4_stat_by_client_class(OLD.state, OLD.user_context, NEW.state, NEW.user_context);
    END IF;
    PERFORM lease4_AUPD_lease4_stat(OLD.state, OLD.subnet_id, NEW.state, NEW.subnet_id);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_lease6_adel() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease6_ADEL_lease6_stat_by_client_class(OLD.state, OLD.user_context, OLD.lease_type);
    END IF;
    PERFORM lease6_ADEL_lease6_stat(OLD.state, OLD.subnet_id, OLD.lease_type);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_lease6_ains() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease6_AINS_lease6_stat_by_client_class(NEW.state, NEW.user_context, NEW.lease_type);
    END IF;
    PERFORM lease6_AINS_lease6_stat(NEW.state, NEW.subnet_id, NEW.lease_type);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.func_lease6_aupd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF isJsonSupported() = true THEN
        PERFORM lease6_AUPD_lease6_stat_by_client_class(OLD.state, OLD.user_context, OLD.lease_type, NEW.state, NEW.user_context, NEW.lease_type);
    END IF;
    PERFORM lease6_AUPD_lease6_stat(OLD.state, OLD.subnet_id, OLD.lease_type, NEW.state, NEW.subnet_id, NEW.lease_type);
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.get_session_big_int(name text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    int_value BIGINT := 0;
    text_value TEXT := '';
BEGIN
    text_value = get_session_value(name);
    IF text_value is NULL or text_value = '' THEN
        RETURN(0);
    END IF;

    int_value = cast(text_value as BIGINT);
    RETURN(int_value);

    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'get_session_big_int(%) failed - text:[%] , sqlstate: %', name, text_value, sqlstate;

END;$$;

CREATE FUNCTION public.get_session_boolean(name text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
DECLARE
    bool_value BOOLEAN := false;
    text_value TEXT := '';
BEGIN
    text_value = get_session_value(name);
    IF text_value is NULL or text_value = '' THEN
        RETURN(false);
    END IF;

    bool_value = cast(text_value as BOOLEAN);
    RETURN(bool_value);

    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'get_session_boolean(%) failed - text:[%] , sqlstate: %', name, text_value, sqlstate;

END;$$;

CREATE FUNCTION public.get_session_value(name text) RETURNS text
    LANGUAGE plpgsql
    AS $$
DECLARE
    text_value TEXT := '';
BEGIN
    text_value = current_setting(name);
    RETURN(text_value);

    EXCEPTION
    WHEN undefined_object THEN
        -- Variable has not been initialized so return NULL
        RETURN NULL;
    WHEN OTHERS THEN
        RAISE EXCEPTION 'get_session_value(%, TEXT) failed, sqlstate: %', name, sqlstate;
END;$$;

CREATE FUNCTION public.gmt_epoch(input_ts timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    gmt_epoch BIGINT;
BEGIN
    SELECT (extract(epoch from input_ts) + extract(timezone from input_ts))::BIGINT INTO gmt_epoch;
    RETURN gmt_epoch;
    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'gmt_epoch(%) : failed, sqlstate: %', input_ts, sqlstate;
END;$$;

CREATE FUNCTION public.isjsonsupported() RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF get_session_value('json_supported') IS NULL THEN
        IF (SELECT proname FROM pg_proc WHERE proname = 'json_extract_path') = 'json_extract_path' THEN
            PERFORM set_session_value('kea.json_supported', true);
        ELSE
            PERFORM set_session_value('kea.json_supported', false);
        END IF;
    END IF;
    RETURN get_session_value('kea.json_supported');
END
$$;

CREATE FUNCTION public.json_cast(json_candidate text) RETURNS json
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF LENGTH(json_candidate) = 0 THEN
        RETURN '{}'::json;
    END IF;
    RETURN json_candidate::json;
END;
$$;

CREATE FUNCTION public.lease4_adel_lease4_stat(old_state bigint, old_subnet_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF old_state = 0 OR old_state = 1 THEN
        -- Decrement the state count if record exists.
        UPDATE lease4_stat
            SET leases = GREATEST(leases - 1, 0)
            WHERE subnet_id = old_subnet_id AND old_state = state;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4_adel_lease4_stat_by_client_class(old_state bigint, old_user_context text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    class VARCHAR(128);
BEGIN
    -- Only state 0 is accounted for in lease limiting.
    IF old_state = 0 THEN
        -- Dive into client classes.
        FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(old_user_context)->'ISC'->'client-classes') LOOP
            SELECT TRIM('"' FROM class) INTO class;

            -- Decrement the lease count if the record exists.
            UPDATE lease4_stat_by_client_class SET leases = GREATEST(leases - 1, 0)
                WHERE client_class = class;
        END LOOP;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4_ains_lease4_stat(new_state bigint, new_subnet_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF new_state = 0 OR new_state = 1 THEN
        -- Update the state count if it exists.
        UPDATE lease4_stat SET leases = leases + 1
            WHERE subnet_id = new_subnet_id AND state = new_state;

        -- Insert the state count record if it does not exist.
        IF NOT FOUND THEN
            INSERT INTO lease4_stat VALUES (new_subnet_id, new_state, 1);
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4_ains_lease4_stat_by_client_class(new_state bigint, new_user_context text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    class VARCHAR(128);
BEGIN
    -- Only state 0 is needed for lease limiting.
    IF new_state = 0 THEN
        -- Dive into client classes.
        FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(new_user_context)->'ISC'->'client-classes') LOOP
            SELECT TRIM('"' FROM class) INTO class;

            -- Upsert to increment the lease count.
            UPDATE lease4_stat_by_client_class SET leases = leases + 1
                WHERE client_class = class;
            IF NOT FOUND THEN
                INSERT INTO lease4_stat_by_client_class VALUES (class, 1);
            END IF;
        END LOOP;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4_aupd_lease4_stat(old_state bigint, old_subnet_id bigint, new_state bigint, new_subnet_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF old_subnet_id != new_subnet_id OR old_state != new_state THEN
        IF old_state = 0 OR old_state = 1 THEN
            -- Decrement the old state count if record exists.
            UPDATE lease4_stat
                SET leases = GREATEST(leases - 1, 0)
                WHERE subnet_id = old_subnet_id AND state = old_state;
        END IF;

        IF new_state = 0 OR new_state = 1 THEN
            -- Increment the new state count if record exists.
            UPDATE lease4_stat SET leases = leases + 1
                WHERE subnet_id = new_subnet_id AND state = new_state;

            -- Insert new state record if it does not exist.
            IF NOT FOUND THEN
                INSERT INTO lease4_stat VALUES (new_subnet_id, new_state, 1);
            END IF;
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4_aupd_lease4_stat_by_client_class(old_state bigint, old_user_context text, new_state bigint, new_user_context text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    old_client_classes TEXT;
    new_client_classes TEXT;
    class VARCHAR(128);
    length INT;
    i INT;
BEGIN
    SELECT json_cast(old_user_context)->'ISC'->'client-classes' INTO old_client_classes;
    SELECT json_cast(new_user_context)->'ISC'->'client-classes' INTO new_client_classes;

    IF old_state != new_state OR old_client_classes != new_client_classes THEN
        -- Check if it's moving away from a counted state.
        IF old_state = 0 THEN
            -- Dive into client classes.
            FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(old_client_classes)) LOOP
                SELECT TRIM('"' FROM class) INTO class;

                -- Decrement the lease count if the record exists.
                UPDATE lease4_stat_by_client_class SET leases = GREATEST(leases - 1, 0)
                    WHERE client_class = class;
            END LOOP;
        END IF;

        -- Check if it's moving into a counted state.
        IF new_state = 0 THEN
            -- Dive into client classes.
            FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(new_client_classes)) LOOP
                SELECT TRIM('"' FROM class) INTO class;

                -- Upsert to increment the lease count.
                UPDATE lease4_stat_by_client_class SET leases = leases + 1
                    WHERE client_class = class;
                IF NOT FOUND THEN
                    INSERT INTO lease4_stat_by_client_class VALUES (class, 1);
                END IF;
            END LOOP;
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease4dumpdata() RETURNS TABLE(address inet, hwaddr character varying, client_id character varying, valid_lifetime bigint, expire bigint, subnet_id bigint, fqdn_fwd integer, fqdn_rev integer, hostname character varying, state bigint, user_context character varying)
    LANGUAGE sql
    AS $$
    SELECT
        ('0.0.0.0'::inet + address),
        colonSeparatedHex(encode(hwaddr, 'hex')),
        colonSeparatedHex(encode(client_id, 'hex')),
        valid_lifetime,
        extract(epoch from expire)::bigint,
        subnet_id,
        fqdn_fwd::int,
        fqdn_rev::int,
        replace(hostname, ',', '&#x2c'),
        state,
        replace(user_context, ',', '&#x2c')
    FROM lease4
    ORDER BY address;
$$;

CREATE FUNCTION public.lease4dumpheader() RETURNS text
    LANGUAGE sql
    AS $$
    select cast('address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context' as text) as result;
$$;

CREATE FUNCTION public.lease4upload(address character varying, hwaddr character varying, client_id character varying, valid_lifetime bigint, expire bigint, subnet_id bigint, fqdn_fwd integer, fqdn_rev integer, hostname character varying, state bigint, user_context character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO lease4 (
        address,
        hwaddr,
        client_id,
        valid_lifetime,
        expire,
        subnet_id,
        fqdn_fwd,
        fqdn_rev,
        hostname,
        state,
        user_context
    ) VALUES (
        address::inet - '0.0.0.0'::inet,
        decode(replace(hwaddr, ':', ''), 'hex'),
        decode(replace(client_id, ':', ''), 'hex'),
        valid_lifetime,
        to_timestamp(expire),
        subnet_id,
        fqdn_fwd::int::boolean,
        fqdn_rev::int::boolean,
        replace(hostname, '&#x2c', ','),
        state,
        replace(user_context, '&#x2c', ',')
    );
END
$$;

CREATE FUNCTION public.lease6_adel_lease6_stat(old_state bigint, old_subnet_id bigint, old_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF old_state = 0 OR old_state = 1 THEN
        -- Decrement the state count if record exists
        UPDATE lease6_stat
            SET leases = GREATEST(leases - 1, 0)
            WHERE subnet_id = old_subnet_id AND lease_type = old_lease_type
            AND state = old_state;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6_adel_lease6_stat_by_client_class(old_state bigint, old_user_context text, old_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    client_classes VARCHAR(1024);
    class VARCHAR(128);
    length INT;
    i INT;
BEGIN
    -- Only state 0 is accounted for in lease limiting. But check both states to be consistent with lease6_stat.
    IF old_state = 0 THEN
        -- Dive into client classes.
        FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(old_user_context)->'ISC'->'client-classes') LOOP
            SELECT TRIM('"' FROM class) INTO class;

            -- Decrement the lease count if the record exists.
            UPDATE lease6_stat_by_client_class SET leases = GREATEST(leases - 1, 0)
                WHERE client_class = class AND lease_type = old_lease_type;
        END LOOP;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6_ains_lease6_stat(new_state bigint, new_subnet_id bigint, new_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF new_state = 0 OR new_state = 1 THEN
        -- Update the state count if it exists.
        UPDATE lease6_stat SET leases = leases + 1
            WHERE subnet_id = new_subnet_id AND lease_type = new_lease_type
            AND state = new_state;

        -- Insert the state count record if it does not exist.
        IF NOT FOUND THEN
            INSERT INTO lease6_stat VALUES (new_subnet_id, new_lease_type, new_state, 1);
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6_ains_lease6_stat_by_client_class(new_state bigint, new_user_context text, new_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    client_classes TEXT;
    class VARCHAR(128);
    length INT;
    i INT;
BEGIN
    -- Only state 0 is needed for lease limiting.
    IF new_state = 0 THEN
        -- Dive into client classes.
        FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(new_user_context)->'ISC'->'client-classes') LOOP
            SELECT TRIM('"' FROM class) INTO class;

            -- Upsert to increment the lease count.
            UPDATE lease6_stat_by_client_class SET leases = leases + 1
                WHERE client_class = class AND lease_type = new_lease_type;
            IF NOT FOUND THEN
                INSERT INTO lease6_stat_by_client_class VALUES (class, new_lease_type, 1);
            END IF;
        END LOOP;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6_aupd_lease6_stat(old_state bigint, old_subnet_id bigint, old_lease_type smallint, new_state bigint, new_subnet_id bigint, new_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF old_subnet_id != new_subnet_id OR
       old_lease_type != new_lease_type OR
       old_state != new_state THEN
        IF old_state = 0 OR old_state = 1 THEN
            -- Decrement the old state count if record exists.
            UPDATE lease6_stat
                SET leases = GREATEST(leases - 1, 0)
                WHERE subnet_id = old_subnet_id AND lease_type = old_lease_type
                AND state = old_state;
        END IF;

        IF new_state = 0 OR new_state = 1 THEN
            -- Increment the new state count if record exists
            UPDATE lease6_stat SET leases = leases + 1
                WHERE subnet_id = new_subnet_id AND lease_type = new_lease_type
                AND state = new_state;

            -- Insert new state record if it does not exist
            IF NOT FOUND THEN
                INSERT INTO lease6_stat
                VALUES (new_subnet_id, new_lease_type, new_state, 1);
            END IF;
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6_aupd_lease6_stat_by_client_class(old_state bigint, old_user_context text, old_lease_type smallint, new_state bigint, new_user_context text, new_lease_type smallint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    old_client_classes TEXT;
    new_client_classes TEXT;
    class VARCHAR(128);
    length INT;
    i INT;
BEGIN
    SELECT json_cast(old_user_context)->'ISC'->'client-classes' INTO old_client_classes;
    SELECT json_cast(new_user_context)->'ISC'->'client-classes' INTO new_client_classes;

    IF old_state != new_state OR old_client_classes != new_client_classes OR old_lease_type != new_lease_type THEN
        -- Check if it's moving away from a counted state.
        IF old_state = 0 THEN
            -- Dive into client classes.
            FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(old_client_classes)) LOOP
                SELECT TRIM('"' FROM class) INTO class;

                -- Decrement the lease count if the record exists.
                UPDATE lease6_stat_by_client_class SET leases = GREATEST(leases - 1, 0)
                    WHERE client_class = class AND lease_type = old_lease_type;
            END LOOP;
        END IF;

        -- Check if it's moving into a counted state.
        IF new_state = 0 THEN
            -- Dive into client classes.
            FOR class IN SELECT * FROM JSON_ARRAY_ELEMENTS(json_cast(new_client_classes)) LOOP
                SELECT TRIM('"' FROM class) INTO class;

                -- Upsert to increment the lease count.
                UPDATE lease6_stat_by_client_class SET leases = leases + 1
                    WHERE client_class = class AND lease_type = new_lease_type;
                IF NOT FOUND THEN
                    INSERT INTO lease6_stat_by_client_class VALUES (class, new_lease_type, 1);
                END IF;
            END LOOP;
        END IF;
    END IF;
END;
$$;

CREATE FUNCTION public.lease6dumpdata() RETURNS TABLE(address character varying, duid character varying, valid_lifetime bigint, expire bigint, subnet_id bigint, pref_lifetime bigint, lease_type smallint, iaid integer, prefix_len smallint, fqdn_fwd integer, fqdn_rev integer, hostname character varying, hwaddr character varying, state bigint, user_context character varying, hwtype smallint, hwaddr_source smallint)
    LANGUAGE sql
    AS $$
    SELECT
        address,
        colonSeparatedHex(encode(duid, 'hex')),
        valid_lifetime,
        extract(epoch from expire)::bigint,
        subnet_id,
        pref_lifetime,
        lease_type,
        iaid,
        prefix_len,
        fqdn_fwd::int,
        fqdn_rev::int,
        replace(hostname, ',', '&#x2c'),
        colonSeparatedHex(encode(hwaddr, 'hex')),
        state,
        replace(user_context, ',', '&#x2c'),
        hwtype,
        hwaddr_source
    FROM lease6
    ORDER BY address;
$$;

CREATE FUNCTION public.lease6dumpheader() RETURNS text
    LANGUAGE sql
    AS $$
    SELECT CAST('address,duid,valid_lifetime,expire,subnet_id,pref_lifetime,lease_type,iaid,prefix_len,fqdn_fwd,fqdn_rev,hostname,hwaddr,state,user_context,hwtype,hwaddr_source' AS TEXT) AS result;
$$;

CREATE FUNCTION public.lease6upload(address character varying, duid character varying, valid_lifetime bigint, expire bigint, subnet_id bigint, pref_lifetime bigint, lease_type integer, iaid integer, prefix_len integer, fqdn_fwd integer, fqdn_rev integer, hostname character varying, hwaddr character varying, state bigint, user_context character varying, hwtype integer, hwaddr_source integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO lease6 (
        address,
        duid,
        valid_lifetime,
        expire,
        subnet_id,
        pref_lifetime,
        lease_type,
        iaid,
        prefix_len,
        fqdn_fwd,
        fqdn_rev,
        hostname,
        hwaddr,
        state,
        user_context,
        hwtype,
        hwaddr_source
    ) VALUES (
        address,
        decode(replace(duid, ':', ''), 'hex'),
        valid_lifetime,
        to_timestamp(expire),
        subnet_id,
        pref_lifetime,
        lease_type,
        iaid,
        prefix_len,
        fqdn_fwd::int::boolean,
        fqdn_rev::int::boolean,
        replace(hostname, '&#x2c', ','),
        decode(replace(hwaddr, ':', ''), 'hex'),
        state,
        replace(user_context, '&#x2c', ','),
        hwtype,
        hwaddr_source
    );
END
$$;

CREATE FUNCTION public.modification_ts_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
  BEGIN
    new.modification_ts = CURRENT_TIMESTAMP;
    RETURN NULL;
  END;

-- Second, we need to specify which language it was written in.
$$;

CREATE FUNCTION public.proc_stat_lease4_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.state < 2 THEN
        -- Decrement the state count if record exists
        UPDATE lease4_stat SET leases = GREATEST(leases - 1, 0)
        WHERE subnet_id = OLD.subnet_id AND OLD.state = state;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.proc_stat_lease4_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.state < 2 THEN
        UPDATE lease4_stat
            SET leases = leases + 1
            WHERE subnet_id = NEW.subnet_id AND state = NEW.state;

        IF NOT FOUND THEN
            INSERT INTO lease4_stat VALUES (new.subnet_id, new.state, 1);
        END IF;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.proc_stat_lease4_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.subnet_id != NEW.subnet_id OR OLD.state != NEW.state THEN
        IF OLD.state < 2 THEN
            -- Decrement the old state count if record exists
            UPDATE lease4_stat SET leases = GREATEST(leases - 1, 0)
            WHERE subnet_id = OLD.subnet_id AND state = OLD.state;
        END IF;

        IF NEW.state < 2 THEN
            -- Increment the new state count if record exists
            UPDATE lease4_stat SET leases = leases + 1
            WHERE subnet_id = NEW.subnet_id AND state = NEW.state;

            -- Insert new state record if it does not exist
            IF NOT FOUND THEN
                INSERT INTO lease4_stat VALUES (NEW.subnet_id, NEW.state, 1);
            END IF;
        END IF;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.proc_stat_lease6_delete() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.state < 2 THEN
        -- Decrement the state count if record exists
        UPDATE lease6_stat SET leases = GREATEST(leases - 1, 0)
        WHERE subnet_id = OLD.subnet_id AND lease_type = OLD.lease_type
        AND OLD.state = state;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.proc_stat_lease6_insert() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF NEW.state < 2 THEN
        UPDATE lease6_stat
        SET leases = leases + 1
        WHERE
        subnet_id = NEW.subnet_id AND lease_type = NEW.lease_type
        AND state = NEW.state;

        IF NOT FOUND THEN
            INSERT INTO lease6_stat
            VALUES (NEW.subnet_id, NEW.lease_type, NEW.state, 1);
        END IF;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.proc_stat_lease6_update() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF OLD.subnet_id != NEW.subnet_id OR
       OLD.lease_type != NEW.lease_type OR
       OLD.state != NEW.state THEN
        IF OLD.state < 2 THEN
            -- Decrement the old state count if record exists
            UPDATE lease6_stat SET leases = GREATEST(leases - 1, 0)
            WHERE subnet_id = OLD.subnet_id AND lease_type = OLD.lease_type
            AND state = OLD.state;
        END IF;

        IF NEW.state < 2 THEN
            -- Increment the new state count if record exists
            UPDATE lease6_stat SET leases = leases + 1
            WHERE subnet_id = NEW.subnet_id AND lease_type = NEW.lease_type
            AND state = NEW.state;

            -- Insert new state record if it does not exist
            IF NOT FOUND THEN
                INSERT INTO lease6_stat VALUES (NEW.subnet_id, NEW.lease_type, NEW.state, 1);
            END IF;
        END IF;
    END IF;

    -- Return is ignored since this is an after insert
    RETURN NULL;
END;
$$;

CREATE FUNCTION public.set_session_value(name text, value boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config(name, cast(value as text), false);
    RETURN;

    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'set_session_value(%) : value:[%] failed, sqlstate: %', name, value, sqlstate;
END;$$;

CREATE FUNCTION public.set_session_value(name text, value bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config(name, cast(value as text), false);
    RETURN;

    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'set_session_value(%) : value:[%] failed, sqlstate: %', name, value, sqlstate;
END;$$;

CREATE FUNCTION public.set_session_value(name text, value text) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
BEGIN
    PERFORM set_config(name, value, false);
    RETURN;

    EXCEPTION
    WHEN OTHERS THEN
        RAISE EXCEPTION 'set_session_value(%) : value:[%] failed, sqlstate: %', name, value, sqlstate;
END;$$;

CREATE FUNCTION public.setclientclass4order(id bigint, new_follow_class_name character varying, old_follow_class_name character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    -- Used to fetch class's current value for depend_on_known_indirectly
    l_depend_on_known_indirectly BOOL := false;

    -- Optionally set if the follow_class_name column value is specified.
    follow_class_index BIGINT;
BEGIN
    -- Fetch the class's current value of depend_on_known_indirectly.
    SELECT depend_on_known_indirectly INTO l_depend_on_known_indirectly
        FROM dhcp4_client_class_order WHERE id = class_id;

    -- Save it to the current session for use elsewhere during this transaction.
    -- Note this does not work prior to Postgres 9.2 unless the variables are
    -- defined in postgresql.conf. I think for now we put up with CB not supported
    -- prior to 9.2 or we tell people how to edit the conf file.
    PERFORM set_session_value('kea.depend_on_known_indirectly', l_depend_on_known_indirectly);

    -- Bail if the class is updated without re-positioning.
    IF(
       l_depend_on_known_indirectly IS NOT NULL AND
       ((new_follow_class_name IS NULL AND old_follow_class_name IS NULL) OR
        (new_follow_class_name = old_follow_class_name))
    ) THEN
        -- The depend_on_known_indirectly is set to 0 because this procedure is invoked
        -- whenever the dhcp4_client_class record is updated. Such update may include
        -- test expression changes impacting the dependency on KNOWN/UNKNOWN classes.
        -- This value will be later adjusted when dependencies are inserted.
        -- TKM should we update the session value also or is it moot?
        UPDATE dhcp4_client_class_order SET depend_on_known_indirectly = false
            WHERE class_id = id;
        RETURN;
    END IF;

    IF new_follow_class_name IS NOT NULL THEN
        -- Get the position of the class after which the new class should be added.
        SELECT o.order_index INTO follow_class_index
            FROM dhcp4_client_class AS c
            INNER JOIN dhcp4_client_class_order AS o
                ON c.id = o.class_id
            WHERE c.name = new_follow_class_name;

        IF follow_class_index IS NULL THEN
            -- The class with a name specified with new_follow_class_name does
            -- not exist.
            RAISE EXCEPTION 'Class %s does not exist.', new_follow_class_name
                USING ERRCODE = 'sql_routine_exception';
        END IF;

        -- We need to place the new class at the position of follow_class_index + 1.
        -- There may be a class at this position already.
        IF EXISTS(SELECT * FROM dhcp4_client_class_order WHERE order_index = follow_class_index + 1) THEN
            -- There is a class at this position already. Let's move all classes
            -- starting from this position by one to create a spot for the new
            -- class.
            UPDATE dhcp4_client_class_order
                SET order_index = order_index + 1
            WHERE order_index >= follow_class_index + 1;
            -- TKM postgresql doesn't like order by here, does it matter?
            -- ORDER BY order_index DESC;
        END IF;

    ELSE
        -- A caller did not specify the new_follow_class_name value. Let's append the
        -- new class at the end of the hierarchy.
        SELECT MAX(order_index) INTO follow_class_index FROM dhcp4_client_class_order;
        IF follow_class_index IS NULL THEN
            -- Apparently, there are no classes. Let's start from 0.
            follow_class_index = 0;
        END IF;
    END IF;

    -- Check if moving the class doesn't break dependent classes.
    IF EXISTS(
        SELECT 1 FROM dhcp4_client_class_dependency AS d
            INNER JOIN dhcp4_client_class_order AS o
                ON d.class_id = o.class_id
            WHERE d.dependency_id = id AND o.order_index < follow_class_index + 1
        LIMIT 1
    ) THEN
        RAISE EXCEPTION 'Unable to move class with id %s because it would break its dependencies', id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- The depend_on_known_indirectly is set to 0 because this procedure is invoked
    -- whenever the dhcp4_client_class record is updated. Such update may include
    -- test expression changes impacting the dependency on KNOWN/UNKNOWN classes.
    -- This value will be later adjusted when dependencies are inserted.
    -- TKM - note that ON CONFLICT requires PostgreSQL 9.5 or later.
    UPDATE dhcp4_client_class_order
        SET order_index = follow_class_index + 1,
            depend_on_known_indirectly = l_depend_on_known_indirectly
        WHERE class_id = id;
    IF FOUND THEN
        RETURN;
    END IF;

    INSERT INTO  dhcp4_client_class_order(class_id, order_index, depend_on_known_indirectly)
        VALUES (id, follow_class_index + 1, false);
    RETURN;
END;$$;

CREATE FUNCTION public.setclientclass6order(id bigint, new_follow_class_name character varying, old_follow_class_name character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    -- Used to fetch class's current value for depend_on_known_indirectly
    l_depend_on_known_indirectly BOOL := false;

    -- Optionally set if the follow_class_name column value is specified.
    follow_class_index BIGINT;
BEGIN
    -- Fetch the class's current value of depend_on_known_indirectly.
    SELECT depend_on_known_indirectly INTO l_depend_on_known_indirectly
        FROM dhcp6_client_class_order WHERE id = class_id;

    -- Save it to the current session for use elsewhere during this transaction.
    -- Note this does not work prior to Postgres 9.2 unless the variables are
    -- defined in postgresql.conf. I think for now we put up with CB not supported
    -- prior to 9.2 or we tell people how to edit the conf file.
    PERFORM set_session_value('kea.depend_on_known_indirectly', l_depend_on_known_indirectly);

    -- Bail if the class is updated without re-positioning.
    IF(
       l_depend_on_known_indirectly IS NOT NULL AND
       ((new_follow_class_name IS NULL AND old_follow_class_name IS NULL) OR
        (new_follow_class_name = old_follow_class_name))
    ) THEN
        -- The depend_on_known_indirectly is set to 0 because this procedure is invoked
        -- whenever the dhcp6_client_class record is updated. Such update may include
        -- test expression changes impacting the dependency on KNOWN/UNKNOWN classes.
        -- This value will be later adjusted when dependencies are inserted.
        -- TKM should we update the session value also or is it moot?
        UPDATE dhcp6_client_class_order SET depend_on_known_indirectly = false
            WHERE class_id = id;
        RETURN;
    END IF;

    IF new_follow_class_name IS NOT NULL THEN
        -- Get the position of the class after which the new class should be added.
        SELECT o.order_index INTO follow_class_index
            FROM dhcp6_client_class AS c
            INNER JOIN dhcp6_client_class_order AS o
                ON c.id = o.class_id
            WHERE c.name = new_follow_class_name;

        IF follow_class_index IS NULL THEN
            -- The class with a name specified with new_follow_class_name does
            -- not exist.
            RAISE EXCEPTION 'Class %s does not exist.', new_follow_class_name
                USING ERRCODE = 'sql_routine_exception';
        END IF;

        -- We need to place the new class at the position of follow_class_index + 1.
        -- There may be a class at this position already.
        IF EXISTS(SELECT * FROM dhcp6_client_class_order WHERE order_index = follow_class_index + 1) THEN
            -- There is a class at this position already. Let's move all classes
            -- starting from this position by one to create a spot for the new
            -- class.
            UPDATE dhcp6_client_class_order
                SET order_index = order_index + 1
            WHERE order_index >= follow_class_index + 1;
            -- TKM postgresql doesn't like order by here, does it matter?
            -- ORDER BY order_index DESC;
        END IF;

    ELSE
        -- A caller did not specify the new_follow_class_name value. Let's append the
        -- new class at the end of the hierarchy.
        SELECT MAX(order_index) INTO follow_class_index FROM dhcp6_client_class_order;
        IF follow_class_index IS NULL THEN
            -- Apparently, there are no classes. Let's start from 0.
            follow_class_index = 0;
        END IF;
    END IF;

    -- Check if moving the class doesn't break dependent classes.
    IF EXISTS(
        SELECT 1 FROM dhcp6_client_class_dependency AS d
            INNER JOIN dhcp6_client_class_order AS o
                ON d.class_id = o.class_id
            WHERE d.dependency_id = id AND o.order_index < follow_class_index + 1
        LIMIT 1
    ) THEN
        RAISE EXCEPTION 'Unable to move class with id %s because it would break its dependencies', id
            USING ERRCODE = 'sql_routine_exception';
    END IF;

    -- The depend_on_known_indirectly is set to 0 because this procedure is invoked
    -- whenever the dhcp6_client_class record is updated. Such update may include
    -- test expression changes impacting the dependency on KNOWN/UNKNOWN classes.
    -- This value will be later adjusted when dependencies are inserted.
    -- TKM - note that ON CONFLICT requires PostgreSQL 9.5 or later.
    UPDATE dhcp6_client_class_order
        SET order_index = follow_class_index + 1,
            depend_on_known_indirectly = l_depend_on_known_indirectly
        WHERE class_id = id;
    IF FOUND THEN
        RETURN;
    END IF;

    INSERT INTO  dhcp6_client_class_order(class_id, order_index, depend_on_known_indirectly)
        VALUES (id, follow_class_index + 1, false);
    RETURN;
END;$$;

CREATE FUNCTION public.updatedhcpv4clientclassknowndependency(client_class_id bigint, dependency_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    dependency BOOLEAN;
BEGIN
    -- Check if the dependency class references KNOWN/UNKNOWN.
    SELECT depend_on_known_directly INTO dependency FROM dhcp4_client_class
        WHERE id = dependency_id;

    -- If it doesn't, check if the dependency references KNOWN/UNKNOWN
    -- indirectly (via other classes).
    IF dependency = false THEN
        SELECT depend_on_known_indirectly INTO dependency FROM dhcp4_client_class_order
            WHERE class_id = dependency_id;
    END IF;

    IF dependency = true THEN
        UPDATE dhcp4_client_class_order
            SET depend_on_known_indirectly = true
        WHERE class_id = client_class_id;
    END IF;
    RETURN;
END;$$;

CREATE FUNCTION public.updatedhcpv6clientclassknowndependency(client_class_id bigint, dependency_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    dependency BOOLEAN;
BEGIN
    -- Check if the dependency class references KNOWN/UNKNOWN.
    SELECT depend_on_known_directly INTO dependency FROM dhcp6_client_class
        WHERE id = dependency_id;

    -- If it doesn't, check if the dependency references KNOWN/UNKNOWN
    -- indirectly (via other classes).
    IF dependency = false THEN
        SELECT depend_on_known_indirectly INTO dependency FROM dhcp6_client_class_order
            WHERE class_id = dependency_id;
    END IF;

    IF dependency = true THEN
        UPDATE dhcp6_client_class_order
            SET depend_on_known_indirectly = true
        WHERE class_id = client_class_id;
    END IF;
    RETURN;
END;$$;

CREATE TABLE ddns_replace_client_name_types (
    type bigint NOT NULL,
    name character varying(32)
);

CREATE TABLE dhcp4_audit (
    id serial,
    object_type character varying(256) NOT NULL,
    object_id bigint NOT NULL,
    modification_type smallint NOT NULL,
    revision_id bigint NOT NULL
);

CREATE TABLE dhcp4_audit_revision (
    id serial,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    log_message text,
    server_id bigint
);

CREATE TABLE dhcp4_client_class (
    id serial,
    name character varying(128) NOT NULL,
    test text,
    next_server inet,
    server_hostname character varying(128) DEFAULT NULL::character varying,
    boot_file_name character varying(512) DEFAULT NULL::character varying,
    only_if_required boolean DEFAULT false NOT NULL,
    valid_lifetime bigint,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    depend_on_known_directly boolean DEFAULT false NOT NULL,
    follow_class_name character varying(128) DEFAULT NULL::character varying,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    user_context json
);

CREATE TABLE dhcp4_client_class_dependency (
    class_id bigint NOT NULL,
    dependency_id bigint NOT NULL
);

CREATE TABLE dhcp4_client_class_order (
    class_id bigint NOT NULL,
    order_index bigint NOT NULL,
    depend_on_known_indirectly boolean DEFAULT false NOT NULL
);

CREATE TABLE dhcp4_client_class_server (
    class_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone
);

CREATE TABLE dhcp4_global_parameter (
    id serial,
    name character varying(128) NOT NULL,
    value text NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    parameter_type smallint NOT NULL
);

CREATE TABLE dhcp4_global_parameter_server (
    parameter_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_option_def (
    id serial,
    code smallint NOT NULL,
    name character varying(128) NOT NULL,
    space character varying(128) NOT NULL,
    type smallint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    is_array boolean NOT NULL,
    encapsulate character varying(128) NOT NULL,
    record_types character varying,
    user_context json,
    class_id bigint
);

CREATE TABLE dhcp4_option_def_server (
    option_def_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_options (
    option_id serial,
    code smallint NOT NULL,
    value bytea,
    formatted_value text,
    space character varying(128) DEFAULT NULL::character varying,
    persistent boolean DEFAULT false NOT NULL,
    dhcp_client_class character varying(128) DEFAULT NULL::character varying,
    dhcp4_subnet_id bigint,
    host_id integer,
    scope_id smallint NOT NULL,
    user_context text,
    shared_network_name character varying(128) DEFAULT NULL::character varying,
    pool_id bigint,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_options_server (
    option_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_pool (
    id serial,
    start_address inet NOT NULL,
    end_address inet NOT NULL,
    subnet_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    require_client_classes text,
    user_context json
);

CREATE TABLE dhcp4_server (
    id serial,
    tag character varying(64) NOT NULL,
    description text,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_shared_network (
    id serial,
    name character varying(128) NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    interface character varying(128) DEFAULT NULL::character varying,
    match_client_id boolean,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    rebind_timer bigint,
    relay text,
    renew_timer bigint,
    require_client_classes text,
    user_context json,
    valid_lifetime bigint,
    authoritative boolean,
    calculate_tee_times boolean,
    t1_percent double precision,
    t2_percent double precision,
    boot_file_name character varying(128) DEFAULT NULL::character varying,
    next_server inet,
    server_hostname character varying(64) DEFAULT NULL::character varying,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    ddns_send_updates boolean,
    ddns_override_no_update boolean,
    ddns_override_client_update boolean,
    ddns_replace_client_name bigint,
    ddns_generated_prefix character varying(255) DEFAULT NULL::character varying,
    ddns_qualifying_suffix character varying(255) DEFAULT NULL::character varying,
    reservations_global boolean,
    reservations_in_subnet boolean,
    reservations_out_of_pool boolean,
    cache_threshold double precision,
    cache_max_age bigint
);

CREATE TABLE dhcp4_shared_network_server (
    shared_network_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp4_subnet (
    subnet_id bigint NOT NULL,
    subnet_prefix character varying(64) NOT NULL,
    interface_4o6 character varying(128) DEFAULT NULL::character varying,
    interface_id_4o6 character varying(128) DEFAULT NULL::character varying,
    subnet_4o6 character varying(64) DEFAULT NULL::character varying,
    boot_file_name character varying(128) DEFAULT NULL::character varying,
    client_class character varying(128) DEFAULT NULL::character varying,
    interface character varying(128) DEFAULT NULL::character varying,
    match_client_id boolean,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    next_server inet,
    rebind_timer bigint,
    relay text,
    renew_timer bigint,
    require_client_classes text,
    server_hostname character varying(64) DEFAULT NULL::character varying,
    shared_network_name character varying(128) DEFAULT NULL::character varying,
    user_context json,
    valid_lifetime bigint,
    authoritative boolean,
    calculate_tee_times boolean,
    t1_percent double precision,
    t2_percent double precision,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    ddns_send_updates boolean,
    ddns_override_no_update boolean,
    ddns_override_client_update boolean,
    ddns_replace_client_name bigint,
    ddns_generated_prefix character varying(255) DEFAULT NULL::character varying,
    ddns_qualifying_suffix character varying(255) DEFAULT NULL::character varying,
    reservations_global boolean,
    reservations_in_subnet boolean,
    reservations_out_of_pool boolean,
    cache_threshold double precision,
    cache_max_age bigint
);

CREATE TABLE dhcp4_subnet_server (
    subnet_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_audit (
    id serial,
    object_type character varying(256) NOT NULL,
    object_id bigint NOT NULL,
    modification_type smallint NOT NULL,
    revision_id bigint NOT NULL
);

CREATE TABLE dhcp6_audit_revision (
    id serial,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    log_message text,
    server_id bigint
);

CREATE TABLE dhcp6_client_class (
    id serial,
    name character varying(128) NOT NULL,
    test text,
    only_if_required boolean DEFAULT false NOT NULL,
    valid_lifetime bigint,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    depend_on_known_directly boolean DEFAULT false NOT NULL,
    follow_class_name character varying(128) DEFAULT NULL::character varying,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    preferred_lifetime bigint,
    min_preferred_lifetime bigint,
    max_preferred_lifetime bigint,
    user_context json
);

CREATE TABLE dhcp6_client_class_dependency (
    class_id bigint NOT NULL,
    dependency_id bigint NOT NULL
);

CREATE TABLE dhcp6_client_class_order (
    class_id bigint NOT NULL,
    order_index bigint NOT NULL,
    depend_on_known_indirectly boolean DEFAULT false NOT NULL
);

CREATE TABLE dhcp6_client_class_server (
    class_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone
);

CREATE TABLE dhcp6_global_parameter (
    id serial,
    name character varying(128) NOT NULL,
    value text NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    parameter_type smallint NOT NULL
);

CREATE TABLE dhcp6_global_parameter_server (
    parameter_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_option_def (
    id serial,
    code smallint NOT NULL,
    name character varying(128) NOT NULL,
    space character varying(128) NOT NULL,
    type smallint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    is_array boolean NOT NULL,
    encapsulate character varying(128) NOT NULL,
    record_types character varying,
    user_context json,
    class_id bigint
);

CREATE TABLE dhcp6_option_def_server (
    option_def_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_options (
    option_id serial,
    code integer NOT NULL,
    value bytea,
    formatted_value text,
    space character varying(128) DEFAULT NULL::character varying,
    persistent boolean DEFAULT false NOT NULL,
    dhcp_client_class character varying(128) DEFAULT NULL::character varying,
    dhcp6_subnet_id bigint,
    host_id integer,
    scope_id smallint NOT NULL,
    user_context text,
    shared_network_name character varying(128) DEFAULT NULL::character varying,
    pool_id bigint,
    pd_pool_id bigint,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_options_server (
    option_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_pd_pool (
    id serial,
    prefix character varying(45) NOT NULL,
    prefix_length smallint NOT NULL,
    delegated_prefix_length smallint NOT NULL,
    subnet_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    excluded_prefix character varying(45) DEFAULT NULL::character varying,
    excluded_prefix_length smallint NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    require_client_classes text,
    user_context json
);

CREATE TABLE dhcp6_pool (
    id serial,
    start_address inet NOT NULL,
    end_address inet NOT NULL,
    subnet_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    require_client_classes text,
    user_context json
);

CREATE TABLE dhcp6_server (
    id serial,
    tag character varying(64) NOT NULL,
    description text,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_shared_network (
    id serial,
    name character varying(128) NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    interface character varying(128) DEFAULT NULL::character varying,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    preferred_lifetime bigint,
    rapid_commit boolean,
    rebind_timer bigint,
    relay text,
    renew_timer bigint,
    require_client_classes text,
    user_context json,
    valid_lifetime bigint,
    calculate_tee_times boolean,
    t1_percent double precision,
    t2_percent double precision,
    interface_id bytea,
    min_preferred_lifetime bigint,
    max_preferred_lifetime bigint,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    ddns_send_updates boolean,
    ddns_override_no_update boolean,
    ddns_override_client_update boolean,
    ddns_replace_client_name bigint,
    ddns_generated_prefix character varying(255) DEFAULT NULL::character varying,
    ddns_qualifying_suffix character varying(255) DEFAULT NULL::character varying,
    reservations_global boolean,
    reservations_in_subnet boolean,
    reservations_out_of_pool boolean,
    cache_threshold double precision,
    cache_max_age bigint
);

CREATE TABLE dhcp6_shared_network_server (
    shared_network_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp6_subnet (
    subnet_id bigint NOT NULL,
    subnet_prefix character varying(64) NOT NULL,
    client_class character varying(128) DEFAULT NULL::character varying,
    interface character varying(128) DEFAULT NULL::character varying,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    preferred_lifetime bigint,
    rapid_commit boolean,
    rebind_timer bigint,
    relay text,
    renew_timer bigint,
    require_client_classes text,
    shared_network_name character varying(128) DEFAULT NULL::character varying,
    user_context json,
    valid_lifetime bigint,
    calculate_tee_times boolean,
    t1_percent double precision,
    t2_percent double precision,
    interface_id bytea,
    min_preferred_lifetime bigint,
    max_preferred_lifetime bigint,
    min_valid_lifetime bigint,
    max_valid_lifetime bigint,
    ddns_send_updates boolean,
    ddns_override_no_update boolean,
    ddns_override_client_update boolean,
    ddns_replace_client_name bigint,
    ddns_generated_prefix character varying(255) DEFAULT NULL::character varying,
    ddns_qualifying_suffix character varying(255) DEFAULT NULL::character varying,
    reservations_global boolean,
    reservations_in_subnet boolean,
    reservations_out_of_pool boolean,
    cache_threshold double precision,
    cache_max_age bigint
);

CREATE TABLE dhcp6_subnet_server (
    subnet_id bigint NOT NULL,
    server_id bigint NOT NULL,
    modification_ts timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE dhcp_option_scope (
    scope_id smallint NOT NULL,
    scope_name character varying(32) DEFAULT NULL::character varying
);

CREATE TABLE host_identifier_type (
    type smallint NOT NULL,
    name character varying(32) DEFAULT NULL::character varying
);

CREATE TABLE hosts (
    host_id serial,
    dhcp_identifier bytea NOT NULL,
    dhcp_identifier_type smallint NOT NULL,
    dhcp4_subnet_id bigint,
    dhcp6_subnet_id bigint,
    ipv4_address bigint,
    hostname character varying(255) DEFAULT NULL::character varying,
    dhcp4_client_classes character varying(255) DEFAULT NULL::character varying,
    dhcp6_client_classes character varying(255) DEFAULT NULL::character varying,
    dhcp4_next_server bigint,
    dhcp4_server_hostname character varying(64) DEFAULT NULL::character varying,
    dhcp4_boot_file_name character varying(128) DEFAULT NULL::character varying,
    user_context text,
    auth_key character varying(32) DEFAULT NULL::character varying
);

CREATE TABLE ipv6_reservations (
    reservation_id serial,
    address character varying(39) NOT NULL,
    prefix_len smallint DEFAULT '128'::smallint NOT NULL,
    type smallint DEFAULT '0'::smallint NOT NULL,
    dhcp6_iaid integer,
    host_id integer NOT NULL
);

CREATE TABLE lease4 (
    address bigint NOT NULL,
    hwaddr bytea,
    client_id bytea,
    valid_lifetime bigint,
    expire timestamp with time zone,
    subnet_id bigint,
    fqdn_fwd boolean,
    fqdn_rev boolean,
    hostname character varying(255),
    state bigint DEFAULT 0,
    user_context text
);

CREATE TABLE lease4_stat (
    subnet_id bigint NOT NULL,
    state bigint NOT NULL,
    leases bigint
);

CREATE TABLE lease4_stat_by_client_class (
    client_class character varying(128) NOT NULL,
    leases bigint NOT NULL
);

CREATE TABLE lease6 (
    address character varying(39) NOT NULL,
    duid bytea,
    valid_lifetime bigint,
    expire timestamp with time zone,
    subnet_id bigint,
    pref_lifetime bigint,
    lease_type smallint,
    iaid integer,
    prefix_len smallint,
    fqdn_fwd boolean,
    fqdn_rev boolean,
    hostname character varying(255),
    state bigint DEFAULT 0,
    hwaddr bytea,
    hwtype smallint,
    hwaddr_source smallint,
    user_context text
);

CREATE TABLE lease6_stat (
    subnet_id bigint NOT NULL,
    lease_type smallint NOT NULL,
    state bigint NOT NULL,
    leases bigint
);

CREATE TABLE lease6_stat_by_client_class (
    client_class character varying(128) NOT NULL,
    lease_type smallint NOT NULL,
    leases bigint NOT NULL
);

CREATE TABLE lease6_types (
    lease_type smallint NOT NULL,
    name character varying(5)
);

CREATE TABLE lease_hwaddr_source (
    hwaddr_source integer NOT NULL,
    name character varying(40) DEFAULT NULL::character varying
);

CREATE TABLE lease_state (
    state bigint NOT NULL,
    name character varying(64) NOT NULL
);

CREATE TABLE logs (
    "timestamp" timestamp with time zone DEFAULT CURRENT_TIMESTAMP,
    address character varying(43),
    log text NOT NULL
);

CREATE TABLE modification (
    id smallint NOT NULL,
    modification_type character varying(32) NOT NULL
);

CREATE TABLE parameter_data_type (
    id smallint NOT NULL,
    name character varying(32) NOT NULL
);

CREATE TABLE schema_version (
    version integer NOT NULL,
    minor integer
);

INSERT INTO ddns_replace_client_name_types VALUES (0, 'RCM_NEVER');
INSERT INTO ddns_replace_client_name_types VALUES (1, 'RCM_ALWAYS');
INSERT INTO ddns_replace_client_name_types VALUES (2, 'RCM_WHEN_PRESENT');
INSERT INTO ddns_replace_client_name_types VALUES (3, 'RCM_WHEN_NOT_PRESENT');
INSERT INTO modification VALUES (0, 'create');
INSERT INTO modification VALUES (1, 'update');
INSERT INTO modification VALUES (2, 'delete');
INSERT INTO dhcp4_server (tag, description, modification_ts) VALUES ('all', 'special type: all servers', now());
INSERT INTO parameter_data_type VALUES (0, 'integer');
INSERT INTO parameter_data_type VALUES (1, 'real');
INSERT INTO parameter_data_type VALUES (2, 'boolean');
INSERT INTO parameter_data_type VALUES (4, 'string');
INSERT INTO dhcp_option_scope VALUES (0, 'global');
INSERT INTO dhcp_option_scope VALUES (1, 'subnet');
INSERT INTO dhcp_option_scope VALUES (2, 'client-class');
INSERT INTO dhcp_option_scope VALUES (3, 'host');
INSERT INTO dhcp_option_scope VALUES (4, 'shared-network');
INSERT INTO dhcp_option_scope VALUES (5, 'pool');
INSERT INTO dhcp_option_scope VALUES (6, 'pd-pool');
INSERT INTO host_identifier_type VALUES (0, 'hw-address');
INSERT INTO host_identifier_type VALUES (1, 'duid');
INSERT INTO host_identifier_type VALUES (2, 'circuit-id');
INSERT INTO host_identifier_type VALUES (3, 'client-id');
INSERT INTO host_identifier_type VALUES (4, 'flex-id');
INSERT INTO dhcp6_server (tag, description, modification_ts) VALUES ('all', 'special type: all servers', now());
INSERT INTO lease_state VALUES (0, 'default');
INSERT INTO lease_state VALUES (1, 'declined');
INSERT INTO lease_state VALUES (2, 'expired-reclaimed');
INSERT INTO lease6_types VALUES (0, 'IA_NA');
INSERT INTO lease6_types VALUES (1, 'IA_TA');
INSERT INTO lease6_types VALUES (2, 'IA_PD');
INSERT INTO lease_hwaddr_source VALUES (0, 'HWADDR_SOURCE_UNKNOWN');
INSERT INTO lease_hwaddr_source VALUES (1, 'HWADDR_SOURCE_RAW');
INSERT INTO lease_hwaddr_source VALUES (2, 'HWADDR_SOURCE_IPV6_LINK_LOCAL');
INSERT INTO lease_hwaddr_source VALUES (4, 'HWADDR_SOURCE_DUID');
INSERT INTO lease_hwaddr_source VALUES (8, 'HWADDR_SOURCE_CLIENT_ADDR_RELAY_OPTION');
INSERT INTO lease_hwaddr_source VALUES (16, 'HWADDR_SOURCE_REMOTE_ID');
INSERT INTO lease_hwaddr_source VALUES (32, 'HWADDR_SOURCE_SUBSCRIBER_ID');
INSERT INTO lease_hwaddr_source VALUES (64, 'HWADDR_SOURCE_DOCSIS_CMTS');
INSERT INTO lease_hwaddr_source VALUES (128, 'HWADDR_SOURCE_DOCSIS_MODEM');
INSERT INTO schema_version VALUES (13, 0);

ALTER TABLE ddns_replace_client_name_types ADD CONSTRAINT ddns_replace_client_name_types_pkey PRIMARY KEY (type);
ALTER TABLE dhcp4_audit ADD CONSTRAINT dhcp4_audit_id_key UNIQUE (id);
ALTER TABLE dhcp4_audit_revision ADD CONSTRAINT dhcp4_audit_revision_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_client_class_dependency ADD CONSTRAINT dhcp4_client_class_dependency_pkey PRIMARY KEY (class_id, dependency_id);
ALTER TABLE dhcp4_client_class ADD CONSTRAINT dhcp4_client_class_name_key UNIQUE (name);
ALTER TABLE dhcp4_client_class_order ADD CONSTRAINT dhcp4_client_class_order_pkey PRIMARY KEY (class_id);
ALTER TABLE dhcp4_client_class ADD CONSTRAINT dhcp4_client_class_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_client_class_server ADD CONSTRAINT dhcp4_client_class_server_pkey PRIMARY KEY (class_id, server_id);
ALTER TABLE dhcp4_global_parameter ADD CONSTRAINT dhcp4_global_parameter_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_global_parameter_server ADD CONSTRAINT dhcp4_global_parameter_server_pkey PRIMARY KEY (parameter_id, server_id);
ALTER TABLE dhcp4_option_def ADD CONSTRAINT dhcp4_option_def_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_option_def_server ADD CONSTRAINT dhcp4_option_def_server_pkey PRIMARY KEY (option_def_id, server_id);
ALTER TABLE dhcp4_options ADD CONSTRAINT dhcp4_options_pkey PRIMARY KEY (option_id);
ALTER TABLE dhcp4_options_server ADD CONSTRAINT dhcp4_options_server_pkey PRIMARY KEY (option_id, server_id);
ALTER TABLE dhcp4_pool ADD CONSTRAINT dhcp4_pool_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_server ADD CONSTRAINT dhcp4_server_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_server ADD CONSTRAINT dhcp4_server_tag_key UNIQUE (tag);
ALTER TABLE dhcp4_shared_network ADD CONSTRAINT dhcp4_shared_network_name_key UNIQUE (name);
ALTER TABLE dhcp4_shared_network ADD CONSTRAINT dhcp4_shared_network_pkey PRIMARY KEY (id);
ALTER TABLE dhcp4_shared_network_server ADD CONSTRAINT dhcp4_shared_network_server_pkey PRIMARY KEY (shared_network_id, server_id);
ALTER TABLE dhcp4_subnet ADD CONSTRAINT dhcp4_subnet_pkey PRIMARY KEY (subnet_id);
ALTER TABLE dhcp4_subnet_server ADD CONSTRAINT dhcp4_subnet_server_pkey PRIMARY KEY (subnet_id, server_id);
ALTER TABLE dhcp4_subnet ADD CONSTRAINT dhcp4_subnet_subnet_prefix_key UNIQUE (subnet_prefix);
ALTER TABLE dhcp6_audit ADD CONSTRAINT dhcp6_audit_id_key UNIQUE (id);
ALTER TABLE dhcp6_audit_revision ADD CONSTRAINT dhcp6_audit_revision_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_client_class_dependency ADD CONSTRAINT dhcp6_client_class_dependency_pkey PRIMARY KEY (class_id, dependency_id);
ALTER TABLE dhcp6_client_class ADD CONSTRAINT dhcp6_client_class_name_key UNIQUE (name);
ALTER TABLE dhcp6_client_class_order ADD CONSTRAINT dhcp6_client_class_order_pkey PRIMARY KEY (class_id);
ALTER TABLE dhcp6_client_class ADD CONSTRAINT dhcp6_client_class_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_client_class_server ADD CONSTRAINT dhcp6_client_class_server_pkey PRIMARY KEY (class_id, server_id);
ALTER TABLE dhcp6_global_parameter ADD CONSTRAINT dhcp6_global_parameter_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_global_parameter_server ADD CONSTRAINT dhcp6_global_parameter_server_pkey PRIMARY KEY (parameter_id, server_id);
ALTER TABLE dhcp6_option_def ADD CONSTRAINT dhcp6_option_def_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_option_def_server ADD CONSTRAINT dhcp6_option_def_server_pkey PRIMARY KEY (option_def_id, server_id);
ALTER TABLE dhcp6_options ADD CONSTRAINT dhcp6_options_pkey PRIMARY KEY (option_id);
ALTER TABLE dhcp6_options_server ADD CONSTRAINT dhcp6_options_server_pkey PRIMARY KEY (option_id, server_id);
ALTER TABLE dhcp6_pd_pool ADD CONSTRAINT dhcp6_pd_pool_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_pool ADD CONSTRAINT dhcp6_pool_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_server ADD CONSTRAINT dhcp6_server_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_server ADD CONSTRAINT dhcp6_server_tag_key UNIQUE (tag);
ALTER TABLE dhcp6_shared_network ADD CONSTRAINT dhcp6_shared_network_name_key UNIQUE (name);
ALTER TABLE dhcp6_shared_network ADD CONSTRAINT dhcp6_shared_network_pkey PRIMARY KEY (id);
ALTER TABLE dhcp6_shared_network_server ADD CONSTRAINT dhcp6_shared_network_server_pkey PRIMARY KEY (shared_network_id, server_id);
ALTER TABLE dhcp6_subnet ADD CONSTRAINT dhcp6_subnet_pkey PRIMARY KEY (subnet_id);
ALTER TABLE dhcp6_subnet_server ADD CONSTRAINT dhcp6_subnet_server_pkey PRIMARY KEY (subnet_id, server_id);
ALTER TABLE dhcp6_subnet ADD CONSTRAINT dhcp6_subnet_subnet_prefix_key UNIQUE (subnet_prefix);
ALTER TABLE dhcp_option_scope ADD CONSTRAINT dhcp_option_scope_pkey PRIMARY KEY (scope_id);
ALTER TABLE host_identifier_type ADD CONSTRAINT host_identifier_type_pkey PRIMARY KEY (type);
ALTER TABLE hosts ADD CONSTRAINT hosts_pkey PRIMARY KEY (host_id);
ALTER TABLE ipv6_reservations ADD CONSTRAINT ipv6_reservations_pkey PRIMARY KEY (reservation_id);
ALTER TABLE lease4 ADD CONSTRAINT lease4_pkey PRIMARY KEY (address);
ALTER TABLE lease4_stat_by_client_class ADD CONSTRAINT lease4_stat_by_client_class_pkey PRIMARY KEY (client_class);
ALTER TABLE lease4_stat ADD CONSTRAINT lease4_stat_pkey PRIMARY KEY (subnet_id, state);
ALTER TABLE lease6 ADD CONSTRAINT lease6_pkey PRIMARY KEY (address);
ALTER TABLE lease6_stat_by_client_class ADD CONSTRAINT lease6_stat_by_client_class_pkey PRIMARY KEY (client_class, lease_type);
ALTER TABLE lease6_stat ADD CONSTRAINT lease6_stat_pkey PRIMARY KEY (subnet_id, lease_type, state);
ALTER TABLE lease6_types ADD CONSTRAINT lease6_types_pkey PRIMARY KEY (lease_type);
ALTER TABLE lease_hwaddr_source ADD CONSTRAINT lease_hwaddr_source_pkey PRIMARY KEY (hwaddr_source);
ALTER TABLE lease_state ADD CONSTRAINT lease_state_pkey PRIMARY KEY (state);
ALTER TABLE modification ADD CONSTRAINT modification_pkey PRIMARY KEY (id);
ALTER TABLE parameter_data_type ADD CONSTRAINT parameter_data_type_pkey PRIMARY KEY (id);
ALTER TABLE schema_version ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);

CREATE INDEX address_id ON logs USING btree (address);
CREATE INDEX dhcp4_audit_idx1 ON dhcp4_audit USING btree (modification_type);
CREATE INDEX dhcp4_audit_idx2 ON dhcp4_audit USING btree (revision_id);
CREATE INDEX dhcp4_client_class_dependency_id_idx ON dhcp4_client_class_dependency USING btree (dependency_id);
CREATE INDEX dhcp4_global_parameter_idx1 ON dhcp4_global_parameter USING btree (modification_ts);
CREATE INDEX dhcp4_global_parameter_idx2 ON dhcp4_global_parameter USING btree (name);
CREATE INDEX dhcp4_option_def_idx1 ON dhcp4_option_def USING btree (modification_ts);
CREATE INDEX dhcp4_option_def_idx2 ON dhcp4_option_def USING btree (code, space);
CREATE INDEX dhcp4_options_server_idx1 ON dhcp4_options_server USING btree (server_id);
CREATE INDEX dhcp4_options_server_idx2 ON dhcp4_options_server USING btree (modification_ts);
CREATE INDEX dhcp4_pool_idx1 ON dhcp4_pool USING btree (modification_ts);
CREATE INDEX dhcp4_pool_idx2 ON dhcp4_pool USING btree (subnet_id);
CREATE INDEX dhcp4_server_modification_ts ON dhcp6_server USING btree (modification_ts);
CREATE UNIQUE INDEX dhcp4_shared_network_idx1 ON dhcp4_shared_network USING btree (name);
CREATE INDEX dhcp4_shared_network_idx2 ON dhcp4_shared_network USING btree (modification_ts);
CREATE INDEX dhcp4_shared_network_server_idx1 ON dhcp4_shared_network_server USING btree (modification_ts);
CREATE INDEX dhcp4_shared_network_server_idx2 ON dhcp4_shared_network_server USING btree (server_id);
CREATE INDEX dhcp4_subnet_idx1 ON dhcp4_subnet USING btree (modification_ts);
CREATE INDEX dhcp4_subnet_idx2 ON dhcp4_subnet USING btree (shared_network_name);
CREATE INDEX dhcp4_subnet_server_idx1 ON dhcp4_subnet_server USING btree (server_id);
CREATE INDEX dhcp4_subnet_server_idx2 ON dhcp4_subnet_server USING btree (modification_ts);
CREATE INDEX dhcp6_audit_idx1 ON dhcp6_audit USING btree (modification_type);
CREATE INDEX dhcp6_audit_idx2 ON dhcp6_audit USING btree (revision_id);
CREATE INDEX dhcp6_client_class_dependency_id_idx ON dhcp6_client_class_dependency USING btree (dependency_id);
CREATE INDEX dhcp6_option_def_idx1 ON dhcp6_option_def USING btree (modification_ts);
CREATE INDEX dhcp6_option_def_idx2 ON dhcp6_option_def USING btree (code, space);
CREATE INDEX dhcp6_options_server_idx1 ON dhcp6_options_server USING btree (server_id);
CREATE INDEX dhcp6_options_server_idx2 ON dhcp6_options_server USING btree (modification_ts);
CREATE INDEX dhcp6_pd_pool_idx1 ON dhcp6_pd_pool USING btree (modification_ts);
CREATE INDEX dhcp6_pd_pool_idx2 ON dhcp6_pd_pool USING btree (subnet_id);
CREATE INDEX dhcp6_pool_idx1 ON dhcp6_pool USING btree (modification_ts);
CREATE INDEX dhcp6_pool_idx2 ON dhcp6_pool USING btree (subnet_id);
CREATE INDEX dhcp6_server_idx1 ON dhcp6_server USING btree (modification_ts);
CREATE UNIQUE INDEX dhcp6_server_idx2 ON dhcp6_server USING btree (tag);
CREATE INDEX dhcp6_shared_network_idx1 ON dhcp6_shared_network USING btree (name);
CREATE INDEX dhcp6_shared_network_server_idx1 ON dhcp6_shared_network_server USING btree (modification_ts);
CREATE INDEX dhcp6_shared_network_server_idx2 ON dhcp6_shared_network_server USING btree (server_id);
CREATE INDEX dhcp6_subnet_idx1 ON dhcp6_subnet USING btree (modification_ts);
CREATE INDEX dhcp6_subnet_idx2 ON dhcp6_subnet USING btree (shared_network_name);
CREATE INDEX dhcp6_subnet_server_idx1 ON dhcp6_subnet_server USING btree (server_id);
CREATE INDEX dhcp6_subnet_server_idx2 ON dhcp6_subnet_server USING btree (modification_ts);
CREATE INDEX fk_dhcp4_client_class_server_id ON dhcp4_client_class_server USING btree (server_id);
CREATE INDEX fk_dhcp4_global_parameter_server_server_id ON dhcp4_global_parameter_server USING btree (server_id);
CREATE INDEX fk_dhcp4_option_def_client_class_id ON dhcp4_option_def USING btree (class_id);
CREATE INDEX fk_dhcp4_option_def_server_server_id ON dhcp4_option_def_server USING btree (server_id);
CREATE INDEX fk_dhcp4_options_host1_idx ON dhcp4_options USING btree (host_id);
CREATE INDEX fk_dhcp4_options_pool ON dhcp4_options USING btree (pool_id);
CREATE INDEX fk_dhcp4_options_scope_idx ON dhcp4_options USING btree (scope_id);
CREATE INDEX fk_dhcp4_options_shared_network ON dhcp4_options USING btree (shared_network_name);
CREATE INDEX fk_dhcp4_options_subnet ON dhcp4_options USING btree (dhcp4_subnet_id);
CREATE INDEX fk_dhcp6_client_class_server_id ON dhcp6_client_class_server USING btree (server_id);
CREATE INDEX fk_dhcp6_global_parameter_server_server_id ON dhcp6_global_parameter_server USING btree (server_id);
CREATE INDEX fk_dhcp6_option_def_client_class_id ON dhcp6_option_def USING btree (class_id);
CREATE INDEX fk_dhcp6_option_def_server_server_id ON dhcp6_option_def_server USING btree (server_id);
CREATE INDEX fk_dhcp6_options_host1_idx ON dhcp6_options USING btree (host_id);
CREATE INDEX fk_dhcp6_options_pd_pool ON dhcp6_options USING btree (pd_pool_id);
CREATE INDEX fk_dhcp6_options_pool ON dhcp6_options USING btree (pool_id);
CREATE INDEX fk_dhcp6_options_scope_idx ON dhcp6_options USING btree (scope_id);
CREATE INDEX fk_dhcp6_options_shared_network ON dhcp6_options USING btree (shared_network_name);
CREATE INDEX fk_dhcp6_options_subnet ON dhcp6_options USING btree (dhcp6_subnet_id);
CREATE INDEX fk_host_identifier_type ON hosts USING btree (dhcp_identifier_type);
CREATE INDEX fk_ipv6_reservations_host_idx ON ipv6_reservations USING btree (host_id);
CREATE INDEX hosts_by_hostname ON hosts USING btree (lower((hostname)::text)) WHERE (hostname IS NOT NULL);
CREATE INDEX key_dhcp4_client_class_modification_ts ON dhcp4_client_class USING btree (modification_ts);
CREATE INDEX key_dhcp4_client_class_order_index ON dhcp4_client_class_order USING btree (order_index);
CREATE INDEX key_dhcp4_global_parameter_idx1 ON dhcp4_global_parameter_server USING btree (modification_ts);
CREATE UNIQUE INDEX key_dhcp4_identifier_subnet_id ON hosts USING btree (dhcp_identifier, dhcp_identifier_type, dhcp4_subnet_id) WHERE (dhcp4_subnet_id IS NOT NULL);
CREATE INDEX key_dhcp4_ipv4_address_subnet_id ON hosts USING btree (ipv4_address, dhcp4_subnet_id);
CREATE INDEX key_dhcp6_address_prefix_len ON ipv6_reservations USING btree (address, prefix_len);
CREATE INDEX key_dhcp6_client_class_modification_ts ON dhcp6_client_class USING btree (modification_ts);
CREATE INDEX key_dhcp6_client_class_order_index ON dhcp6_client_class_order USING btree (order_index);
CREATE INDEX key_dhcp6_global_parameter_idx1 ON dhcp6_global_parameter USING btree (modification_ts);
CREATE INDEX key_dhcp6_global_parameter_idx2 ON dhcp6_global_parameter USING btree (name);
CREATE INDEX key_dhcp6_global_parameter_server_idx1 ON dhcp6_global_parameter_server USING btree (modification_ts);
CREATE UNIQUE INDEX key_dhcp6_identifier_subnet_id ON hosts USING btree (dhcp_identifier, dhcp_identifier_type, dhcp6_subnet_id) WHERE (dhcp6_subnet_id IS NOT NULL);
CREATE INDEX key_dhcp_identifier ON hosts USING btree (dhcp_identifier, dhcp_identifier_type);
CREATE INDEX lease4_by_client_id_subnet_id ON lease4 USING btree (client_id, subnet_id);
CREATE INDEX lease4_by_hostname ON lease4 USING btree (lower((hostname)::text)) WHERE (hostname IS NOT NULL);
CREATE INDEX lease4_by_hwaddr_subnet_id ON lease4 USING btree (hwaddr, subnet_id);
CREATE INDEX lease4_by_state_expire ON lease4 USING btree (state, expire);
CREATE INDEX lease4_by_subnet_id ON lease4 USING btree (subnet_id);
CREATE INDEX lease6_by_duid_iaid_subnet_id ON lease6 USING btree (duid, iaid, subnet_id);
CREATE INDEX lease6_by_hostname ON lease6 USING btree (lower((hostname)::text)) WHERE (hostname IS NOT NULL);
CREATE INDEX lease6_by_state_expire ON lease6 USING btree (state, expire);
CREATE INDEX lease6_by_subnet_id_lease_type ON lease6 USING btree (subnet_id, lease_type);
CREATE INDEX timestamp_id ON logs USING btree ("timestamp");

CREATE TRIGGER dhcp4_audit_modification_ts_update AFTER UPDATE ON dhcp4_audit FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_audit_revision_modification_ts_update AFTER UPDATE ON dhcp4_audit_revision FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_client_class_adel AFTER DELETE ON dhcp4_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp4_client_class_adel();
CREATE TRIGGER dhcp4_client_class_ains AFTER INSERT ON dhcp4_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp4_client_class_ains();
CREATE TRIGGER dhcp4_client_class_aupd AFTER UPDATE ON dhcp4_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp4_client_class_aupd();
CREATE TRIGGER dhcp4_client_class_check_dependency_bins BEFORE INSERT ON dhcp4_client_class_dependency FOR EACH ROW EXECUTE FUNCTION func_dhcp4_client_class_check_dependency_bins();
CREATE TRIGGER dhcp4_client_class_dependency_ains AFTER INSERT ON dhcp4_client_class_dependency FOR EACH ROW EXECUTE FUNCTION func_dhcp4_client_class_dependency_ains();
CREATE TRIGGER dhcp4_global_parameter_adel AFTER DELETE ON dhcp4_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp4_global_parameter_adel();
CREATE TRIGGER dhcp4_global_parameter_ains AFTER INSERT ON dhcp4_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp4_global_parameter_ains();
CREATE TRIGGER dhcp4_global_parameter_aupd AFTER UPDATE ON dhcp4_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp4_global_parameter_aupd();
CREATE TRIGGER dhcp4_global_parameter_modification_ts_update AFTER UPDATE ON dhcp4_global_parameter FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_global_parameter_server_modification_ts_update AFTER UPDATE ON dhcp4_global_parameter_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_option_def_adel AFTER DELETE ON dhcp4_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp4_option_def_adel();
CREATE TRIGGER dhcp4_option_def_ains AFTER INSERT ON dhcp4_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp4_option_def_ains();
CREATE TRIGGER dhcp4_option_def_aupd AFTER UPDATE ON dhcp4_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp4_option_def_aupd();
CREATE TRIGGER dhcp4_option_def_modification_ts_update AFTER UPDATE ON dhcp4_option_def FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_option_def_server_modification_ts_update AFTER UPDATE ON dhcp4_option_def_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_options_adel AFTER DELETE ON dhcp4_options FOR EACH ROW EXECUTE FUNCTION func_dhcp4_options_adel();
CREATE TRIGGER dhcp4_options_ains AFTER INSERT ON dhcp4_options FOR EACH ROW EXECUTE FUNCTION func_dhcp4_options_ains();
CREATE TRIGGER dhcp4_options_aupd AFTER UPDATE ON dhcp4_options FOR EACH ROW EXECUTE FUNCTION func_dhcp4_options_aupd();
CREATE TRIGGER dhcp4_options_modification_ts_update AFTER UPDATE ON dhcp4_options FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_options_server_modification_ts_update AFTER UPDATE ON dhcp4_options_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_pool_bdel BEFORE DELETE ON dhcp4_pool FOR EACH ROW EXECUTE FUNCTION func_dhcp4_pool_bdel();
CREATE TRIGGER dhcp4_pool_modification_ts_update AFTER UPDATE ON dhcp4_pool FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_server_adel AFTER DELETE ON dhcp4_server FOR EACH ROW EXECUTE FUNCTION func_dhcp4_server_adel();
CREATE TRIGGER dhcp4_server_ains AFTER INSERT ON dhcp4_server FOR EACH ROW EXECUTE FUNCTION func_dhcp4_server_ains();
CREATE TRIGGER dhcp4_server_aupd AFTER UPDATE ON dhcp4_server FOR EACH ROW EXECUTE FUNCTION func_dhcp4_server_aupd();
CREATE TRIGGER dhcp4_server_modification_ts_update AFTER UPDATE ON dhcp4_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_shared_network_ains AFTER INSERT ON dhcp4_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp4_shared_network_ains();
CREATE TRIGGER dhcp4_shared_network_aupd AFTER UPDATE ON dhcp4_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp4_shared_network_aupd();
CREATE TRIGGER dhcp4_shared_network_bdel BEFORE DELETE ON dhcp4_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp4_shared_network_bdel();
CREATE TRIGGER dhcp4_shared_network_modification_ts_update AFTER UPDATE ON dhcp4_shared_network FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_subnet_ains AFTER INSERT ON dhcp4_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp4_subnet_ains();
CREATE TRIGGER dhcp4_subnet_aupd AFTER UPDATE ON dhcp4_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp4_subnet_aupd();
CREATE TRIGGER dhcp4_subnet_bdel BEFORE DELETE ON dhcp4_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp4_subnet_bdel();
CREATE TRIGGER dhcp4_subnet_modification_ts_update AFTER UPDATE ON dhcp4_subnet FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp4_subnet_server_modification_ts_update AFTER UPDATE ON dhcp4_subnet_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_audit_modification_ts_update AFTER UPDATE ON dhcp6_audit FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_audit_revision_modification_ts_update AFTER UPDATE ON dhcp6_audit_revision FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_client_class_adel AFTER DELETE ON dhcp6_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp6_client_class_adel();
CREATE TRIGGER dhcp6_client_class_ains AFTER INSERT ON dhcp6_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp6_client_class_ains();
CREATE TRIGGER dhcp6_client_class_aupd AFTER UPDATE ON dhcp6_client_class FOR EACH ROW EXECUTE FUNCTION func_dhcp6_client_class_aupd();
CREATE TRIGGER dhcp6_client_class_check_dependency_bins BEFORE INSERT ON dhcp6_client_class_dependency FOR EACH ROW EXECUTE FUNCTION func_dhcp6_client_class_check_dependency_bins();
CREATE TRIGGER dhcp6_client_class_dependency_ains AFTER INSERT ON dhcp6_client_class_dependency FOR EACH ROW EXECUTE FUNCTION func_dhcp6_client_class_dependency_ains();
CREATE TRIGGER dhcp6_global_parameter_adel AFTER DELETE ON dhcp6_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp6_global_parameter_adel();
CREATE TRIGGER dhcp6_global_parameter_ains AFTER INSERT ON dhcp6_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp6_global_parameter_ains();
CREATE TRIGGER dhcp6_global_parameter_aupd AFTER UPDATE ON dhcp6_global_parameter FOR EACH ROW EXECUTE FUNCTION func_dhcp6_global_parameter_aupd();
CREATE TRIGGER dhcp6_global_parameter_modification_ts_update AFTER UPDATE ON dhcp6_global_parameter FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_global_parameter_server_modification_ts_update AFTER UPDATE ON dhcp6_global_parameter_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_option_def_adel AFTER DELETE ON dhcp6_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp6_option_def_adel();
CREATE TRIGGER dhcp6_option_def_ains AFTER INSERT ON dhcp6_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp6_option_def_ains();
CREATE TRIGGER dhcp6_option_def_aupd AFTER UPDATE ON dhcp6_option_def FOR EACH ROW EXECUTE FUNCTION func_dhcp6_option_def_aupd();
CREATE TRIGGER dhcp6_option_def_modification_ts_update AFTER UPDATE ON dhcp6_option_def FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_option_def_server_modification_ts_update AFTER UPDATE ON dhcp6_option_def_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_options_adel AFTER DELETE ON dhcp6_options FOR EACH ROW EXECUTE FUNCTION func_dhcp6_options_adel();
CREATE TRIGGER dhcp6_options_ains AFTER INSERT ON dhcp6_options FOR EACH ROW EXECUTE FUNCTION func_dhcp6_options_ains();
CREATE TRIGGER dhcp6_options_aupd AFTER UPDATE ON dhcp6_options FOR EACH ROW EXECUTE FUNCTION func_dhcp6_options_aupd();
CREATE TRIGGER dhcp6_options_modification_ts_update AFTER UPDATE ON dhcp6_options FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_options_server_modification_ts_update AFTER UPDATE ON dhcp6_options_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_pd_pool_modification_ts_update AFTER UPDATE ON dhcp6_pd_pool FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_pool_bdel BEFORE DELETE ON dhcp6_pool FOR EACH ROW EXECUTE FUNCTION func_dhcp6_pool_bdel();
CREATE TRIGGER dhcp6_pool_modification_ts_update AFTER UPDATE ON dhcp6_pool FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_server_adel AFTER DELETE ON dhcp6_server FOR EACH ROW EXECUTE FUNCTION func_dhcp6_server_adel();
CREATE TRIGGER dhcp6_server_ains AFTER INSERT ON dhcp6_server FOR EACH ROW EXECUTE FUNCTION func_dhcp6_server_ains();
CREATE TRIGGER dhcp6_server_aupd AFTER UPDATE ON dhcp6_server FOR EACH ROW EXECUTE FUNCTION func_dhcp6_server_aupd();
CREATE TRIGGER dhcp6_server_modification_ts_update AFTER UPDATE ON dhcp6_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_shared_network_ains AFTER INSERT ON dhcp6_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp6_shared_network_ains();
CREATE TRIGGER dhcp6_shared_network_aupd AFTER UPDATE ON dhcp6_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp6_shared_network_aupd();
CREATE TRIGGER dhcp6_shared_network_bdel BEFORE DELETE ON dhcp6_shared_network FOR EACH ROW EXECUTE FUNCTION func_dhcp6_shared_network_bdel();
CREATE TRIGGER dhcp6_shared_network_modification_ts_update AFTER UPDATE ON dhcp6_shared_network FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_subnet_ains AFTER INSERT ON dhcp6_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp6_subnet_ains();
CREATE TRIGGER dhcp6_subnet_aupd AFTER UPDATE ON dhcp6_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp6_subnet_aupd();
CREATE TRIGGER dhcp6_subnet_bdel BEFORE DELETE ON dhcp6_subnet FOR EACH ROW EXECUTE FUNCTION func_dhcp6_subnet_bdel();
CREATE TRIGGER dhcp6_subnet_modification_ts_update AFTER UPDATE ON dhcp6_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER dhcp6_subnet_server_modification_ts_update AFTER UPDATE ON dhcp6_subnet_server FOR EACH ROW EXECUTE FUNCTION modification_ts_update();
CREATE TRIGGER lease4_adel AFTER DELETE ON lease4 FOR EACH ROW EXECUTE FUNCTION func_lease4_adel();
CREATE TRIGGER lease4_ains AFTER INSERT ON lease4 FOR EACH ROW EXECUTE FUNCTION func_lease4_ains();
CREATE TRIGGER lease4_aupd AFTER UPDATE ON lease4 FOR EACH ROW EXECUTE FUNCTION func_lease4_aupd();
CREATE TRIGGER lease6_adel AFTER DELETE ON lease6 FOR EACH ROW EXECUTE FUNCTION func_lease6_adel();
CREATE TRIGGER lease6_ains AFTER INSERT ON lease6 FOR EACH ROW EXECUTE FUNCTION func_lease6_ains();
CREATE TRIGGER lease6_aupd AFTER UPDATE ON lease6 FOR EACH ROW EXECUTE FUNCTION func_lease6_aupd();

ALTER TABLE dhcp4_client_class_dependency ADD CONSTRAINT dhcp4_client_class_class_id FOREIGN KEY (class_id) REFERENCES dhcp4_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_client_class_dependency ADD CONSTRAINT dhcp4_client_class_dependency_id FOREIGN KEY (dependency_id) REFERENCES dhcp4_client_class(id);
ALTER TABLE dhcp4_option_def_server ADD CONSTRAINT dhcp4_option_def_server_option_def_id_fkey FOREIGN KEY (option_def_id) REFERENCES dhcp4_option_def(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_option_def_server ADD CONSTRAINT dhcp4_option_def_server_server_id_fkey FOREIGN KEY (server_id) REFERENCES dhcp4_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_client_class_dependency ADD CONSTRAINT dhcp6_client_class_class_id FOREIGN KEY (class_id) REFERENCES dhcp6_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_client_class_dependency ADD CONSTRAINT dhcp6_client_class_dependency_id FOREIGN KEY (dependency_id) REFERENCES dhcp6_client_class(id);
ALTER TABLE dhcp6_option_def_server ADD CONSTRAINT dhcp6_option_def_server_option_def_id_fkey FOREIGN KEY (option_def_id) REFERENCES dhcp6_option_def(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_option_def_server ADD CONSTRAINT dhcp6_option_def_server_server_id_fkey FOREIGN KEY (server_id) REFERENCES dhcp6_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_shared_network ADD CONSTRAINT fk_ddns_replace_client_name FOREIGN KEY (ddns_replace_client_name) REFERENCES ddns_replace_client_name_types(type);
ALTER TABLE dhcp4_subnet ADD CONSTRAINT fk_ddns_replace_client_name FOREIGN KEY (ddns_replace_client_name) REFERENCES ddns_replace_client_name_types(type);
ALTER TABLE dhcp6_shared_network ADD CONSTRAINT fk_ddns_replace_client_name FOREIGN KEY (ddns_replace_client_name) REFERENCES ddns_replace_client_name_types(type);
ALTER TABLE dhcp6_subnet ADD CONSTRAINT fk_ddns_replace_client_name FOREIGN KEY (ddns_replace_client_name) REFERENCES ddns_replace_client_name_types(type);
ALTER TABLE dhcp4_audit ADD CONSTRAINT fk_dhcp4_audit_modification_type FOREIGN KEY (modification_type) REFERENCES modification(id);
ALTER TABLE dhcp4_audit ADD CONSTRAINT fk_dhcp4_audit_revision FOREIGN KEY (revision_id) REFERENCES dhcp4_audit_revision(id) ON UPDATE CASCADE;
ALTER TABLE dhcp4_client_class_server ADD CONSTRAINT fk_dhcp4_client_class_class_id FOREIGN KEY (class_id) REFERENCES dhcp4_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_client_class_order ADD CONSTRAINT fk_dhcp4_client_class_order_class_id FOREIGN KEY (class_id) REFERENCES dhcp4_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_client_class_server ADD CONSTRAINT fk_dhcp4_client_class_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id);
ALTER TABLE dhcp4_global_parameter_server ADD CONSTRAINT fk_dhcp4_global_parameter_server_parameter_id FOREIGN KEY (parameter_id) REFERENCES dhcp4_global_parameter(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_global_parameter_server ADD CONSTRAINT fk_dhcp4_global_parameter_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_option_def ADD CONSTRAINT fk_dhcp4_option_def_client_class_id FOREIGN KEY (class_id) REFERENCES dhcp4_client_class(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_option_def_server ADD CONSTRAINT fk_dhcp4_option_def_server_option_def_id FOREIGN KEY (option_def_id) REFERENCES dhcp4_option_def(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_option_def_server ADD CONSTRAINT fk_dhcp4_option_def_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id);
ALTER TABLE dhcp4_options ADD CONSTRAINT fk_dhcp4_option_scode FOREIGN KEY (scope_id) REFERENCES dhcp_option_scope(scope_id) ON DELETE CASCADE;
ALTER TABLE dhcp4_options ADD CONSTRAINT fk_dhcp4_options_pool FOREIGN KEY (pool_id) REFERENCES dhcp4_pool(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_options_server ADD CONSTRAINT fk_dhcp4_options_server_option_id FOREIGN KEY (option_id) REFERENCES dhcp4_options(option_id) ON DELETE CASCADE;
ALTER TABLE dhcp4_options_server ADD CONSTRAINT fk_dhcp4_options_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_options ADD CONSTRAINT fk_dhcp4_options_shared_network FOREIGN KEY (shared_network_name) REFERENCES dhcp4_shared_network(name) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_options ADD CONSTRAINT fk_dhcp4_options_subnet FOREIGN KEY (dhcp4_subnet_id) REFERENCES dhcp4_subnet(subnet_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_pool ADD CONSTRAINT fk_dhcp4_pool_subnet_id FOREIGN KEY (subnet_id) REFERENCES dhcp4_subnet(subnet_id);
ALTER TABLE dhcp4_shared_network_server ADD CONSTRAINT fk_dhcp4_shared_network_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_shared_network_server ADD CONSTRAINT fk_dhcp4_shared_network_server_shared_network_id FOREIGN KEY (shared_network_id) REFERENCES dhcp4_shared_network(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_subnet_server ADD CONSTRAINT fk_dhcp4_subnet_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp4_server(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_subnet_server ADD CONSTRAINT fk_dhcp4_subnet_server_subnet_id FOREIGN KEY (subnet_id) REFERENCES dhcp4_subnet(subnet_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp4_subnet ADD CONSTRAINT fk_dhcp4_subnet_shared_network FOREIGN KEY (shared_network_name) REFERENCES dhcp4_shared_network(name);
ALTER TABLE dhcp6_audit ADD CONSTRAINT fk_dhcp6_audit_modification_type FOREIGN KEY (modification_type) REFERENCES modification(id);
ALTER TABLE dhcp6_audit ADD CONSTRAINT fk_dhcp6_audit_revision FOREIGN KEY (revision_id) REFERENCES dhcp6_audit_revision(id) ON UPDATE CASCADE;
ALTER TABLE dhcp6_client_class_server ADD CONSTRAINT fk_dhcp6_client_class_class_id FOREIGN KEY (class_id) REFERENCES dhcp6_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_client_class_order ADD CONSTRAINT fk_dhcp6_client_class_order_class_id FOREIGN KEY (class_id) REFERENCES dhcp6_client_class(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_client_class_server ADD CONSTRAINT fk_dhcp6_client_class_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id);
ALTER TABLE dhcp6_global_parameter_server ADD CONSTRAINT fk_dhcp6_global_parameter_server_parameter_id FOREIGN KEY (parameter_id) REFERENCES dhcp6_global_parameter(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_global_parameter_server ADD CONSTRAINT fk_dhcp6_global_parameter_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp4_global_parameter ADD CONSTRAINT fk_dhcp6_global_parameter_type FOREIGN KEY (parameter_type) REFERENCES parameter_data_type(id);
ALTER TABLE dhcp6_global_parameter ADD CONSTRAINT fk_dhcp6_global_parameter_type FOREIGN KEY (parameter_type) REFERENCES parameter_data_type(id);
ALTER TABLE dhcp6_option_def ADD CONSTRAINT fk_dhcp6_option_def_client_class_id FOREIGN KEY (class_id) REFERENCES dhcp6_client_class(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_option_def_server ADD CONSTRAINT fk_dhcp6_option_def_server_option_def_id FOREIGN KEY (option_def_id) REFERENCES dhcp6_option_def(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_option_def_server ADD CONSTRAINT fk_dhcp6_option_def_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id);
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_dhcp6_option_scode FOREIGN KEY (scope_id) REFERENCES dhcp_option_scope(scope_id) ON DELETE CASCADE;
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_dhcp6_options_pd_pool FOREIGN KEY (pd_pool_id) REFERENCES dhcp6_pd_pool(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_dhcp6_options_pool FOREIGN KEY (pool_id) REFERENCES dhcp6_pool(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_options_server ADD CONSTRAINT fk_dhcp6_options_server_option_id FOREIGN KEY (option_id) REFERENCES dhcp6_options(option_id) ON DELETE CASCADE;
ALTER TABLE dhcp6_options_server ADD CONSTRAINT fk_dhcp6_options_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_dhcp6_options_shared_network FOREIGN KEY (shared_network_name) REFERENCES dhcp6_shared_network(name) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_dhcp6_options_subnet FOREIGN KEY (dhcp6_subnet_id) REFERENCES dhcp6_subnet(subnet_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_pd_pool ADD CONSTRAINT fk_dhcp6_pd_pool_subnet_id FOREIGN KEY (subnet_id) REFERENCES dhcp6_subnet(subnet_id);
ALTER TABLE dhcp6_pool ADD CONSTRAINT fk_dhcp6_pool_subnet_id FOREIGN KEY (subnet_id) REFERENCES dhcp6_subnet(subnet_id);
ALTER TABLE dhcp6_shared_network_server ADD CONSTRAINT fk_dhcp6_shared_network_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_shared_network_server ADD CONSTRAINT fk_dhcp6_shared_network_server_shared_network_id FOREIGN KEY (shared_network_id) REFERENCES dhcp6_shared_network(id) ON DELETE CASCADE;
ALTER TABLE dhcp6_subnet_server ADD CONSTRAINT fk_dhcp6_subnet_server_server_id FOREIGN KEY (server_id) REFERENCES dhcp6_server(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_subnet_server ADD CONSTRAINT fk_dhcp6_subnet_server_subnet_id FOREIGN KEY (subnet_id) REFERENCES dhcp6_subnet(subnet_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dhcp6_subnet ADD CONSTRAINT fk_dhcp6_subnet_shared_network FOREIGN KEY (shared_network_name) REFERENCES dhcp6_shared_network(name);
ALTER TABLE hosts ADD CONSTRAINT fk_host_identifier_type FOREIGN KEY (dhcp_identifier_type) REFERENCES host_identifier_type(type) ON DELETE CASCADE;
ALTER TABLE ipv6_reservations ADD CONSTRAINT fk_ipv6_reservations_host FOREIGN KEY (host_id) REFERENCES hosts(host_id) ON DELETE CASCADE;
ALTER TABLE lease4 ADD CONSTRAINT fk_lease4_state FOREIGN KEY (state) REFERENCES lease_state(state);
ALTER TABLE lease6_stat_by_client_class ADD CONSTRAINT fk_lease6_stat_by_client_class_lease_type FOREIGN KEY (lease_type) REFERENCES lease6_types(lease_type);
ALTER TABLE lease6 ADD CONSTRAINT fk_lease6_state FOREIGN KEY (state) REFERENCES lease_state(state);
ALTER TABLE lease6 ADD CONSTRAINT fk_lease6_type FOREIGN KEY (lease_type) REFERENCES lease6_types(lease_type);
ALTER TABLE dhcp4_options ADD CONSTRAINT fk_options_host1 FOREIGN KEY (host_id) REFERENCES hosts(host_id) ON DELETE CASCADE;
ALTER TABLE dhcp6_options ADD CONSTRAINT fk_options_host10 FOREIGN KEY (host_id) REFERENCES hosts(host_id) ON DELETE CASCADE;
