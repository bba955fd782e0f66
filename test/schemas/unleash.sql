-- Unleash 5.12.8, feature flags (db-migrate)
-- Source: https://github.com/Unleash/unleash
-- Copyright 2020 Bricks Software AS
-- Licence: Apache-2.0, see licenses/Apache-2.0
-- Changed: taken from the database that the project's own migrations make. Owned sequences are
-- written as serial, without owners. No table is left out.

CREATE FUNCTION public.assign_unleash_permission_to_role(permission_name text, role_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    var_role_id int;
    var_permission text;
BEGIN
    var_role_id := (SELECT r.id FROM roles r WHERE r.name = role_name);
    var_permission := (SELECT p.permission FROM permissions p WHERE p.permission = permission_name);

    IF NOT EXISTS (
        SELECT 1
        FROM role_permission AS rp
        WHERE rp.role_id = var_role_id AND rp.permission = var_permission
    ) THEN
        INSERT INTO role_permission(role_id, permission) VALUES (var_role_id, var_permission);
    END IF;
END
$$;

CREATE FUNCTION public.assign_unleash_permission_to_role_for_all_environments(permission_name text, role_name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    var_role_id int;
    var_permission text;
BEGIN
    var_role_id := (SELECT id FROM roles r WHERE r.name = role_name);
    var_permission := (SELECT p.permission FROM permissions p WHERE p.permission = permission_name);

    INSERT INTO role_permission (role_id, permission, environment)
        SELECT var_role_id, var_permission, e.name
        FROM environments e
        WHERE NOT EXISTS (
            SELECT 1
            FROM role_permission rp
            WHERE rp.role_id = var_role_id
            AND rp.permission = var_permission
            AND rp.environment = e.name
        );
END;
$$;

CREATE FUNCTION public.date_floor_round(base_date timestamp with time zone, round_interval interval) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    AS $_$
SELECT to_timestamp(
    (EXTRACT(epoch FROM $1)::integer / EXTRACT(epoch FROM $2)::integer)
    * EXTRACT(epoch FROM $2)::integer
)
$_$;

CREATE FUNCTION public.unleash_update_stat_environment_changes_counter() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
        BEGIN
            IF NEW.environment IS NOT NULL THEN
                INSERT INTO stat_environment_updates(day, environment, updates) SELECT DATE_TRUNC('Day', NEW.created_at), NEW.environment, 1 ON CONFLICT (day, environment) DO UPDATE SET updates = stat_environment_updates.updates + 1;
            END IF;

            return null;
        END;
    $$;

CREATE TABLE action_set_events (
    id serial,
    action_set_id integer NOT NULL,
    signal_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    state text NOT NULL,
    signal jsonb NOT NULL,
    action_set jsonb NOT NULL
);

CREATE TABLE action_sets (
    id serial,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer,
    name character varying(255),
    project character varying(255) NOT NULL,
    actor_id integer,
    source character varying(255),
    source_id integer,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    enabled boolean DEFAULT true,
    description text
);

CREATE TABLE actions (
    id serial,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer,
    action_set_id integer,
    sort_order integer,
    action character varying(255) NOT NULL,
    execution_params jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE addons (
    id serial,
    provider text NOT NULL,
    description text,
    enabled boolean DEFAULT true,
    parameters json,
    events json,
    created_at timestamp with time zone DEFAULT now(),
    projects jsonb DEFAULT '[]'::jsonb,
    environments jsonb DEFAULT '[]'::jsonb
);

CREATE TABLE api_token_project (
    secret text NOT NULL,
    project text NOT NULL
);

CREATE TABLE api_tokens (
    secret text NOT NULL,
    username text NOT NULL,
    type text NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    expires_at timestamp with time zone,
    seen_at timestamp with time zone,
    environment character varying,
    alias text,
    token_name text,
    created_by_user_id integer
);

CREATE TABLE banners (
    id integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    message text NOT NULL,
    variant text,
    sticky boolean DEFAULT false,
    icon text,
    link text,
    link_text text,
    dialog_title text,
    dialog text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE change_request_approvals (
    id serial,
    change_request_id integer NOT NULL,
    created_by integer NOT NULL,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE change_request_comments (
    id serial,
    change_request integer NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    created_by integer NOT NULL
);

CREATE TABLE change_request_events (
    id serial,
    feature character varying(255),
    action character varying(255) NOT NULL,
    payload jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_by integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    change_request_id integer NOT NULL
);

CREATE TABLE change_request_rejections (
    id serial,
    change_request_id integer NOT NULL,
    created_by integer NOT NULL,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE change_request_schedule (
    change_request integer NOT NULL,
    scheduled_at timestamp without time zone NOT NULL,
    created_by integer,
    status text,
    failure_reason text,
    reason text
);

CREATE TABLE change_request_settings (
    project character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    required_approvals integer DEFAULT 1
);

CREATE TABLE change_requests (
    id serial,
    environment character varying(100),
    state character varying(255) NOT NULL,
    project character varying(255),
    created_by integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    min_approvals integer DEFAULT 1,
    title text
);

CREATE TABLE client_applications (
    app_name character varying(255) NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone DEFAULT now(),
    seen_at timestamp with time zone,
    strategies json,
    description character varying(255),
    icon character varying(255),
    url character varying(255),
    color character varying(255),
    announced boolean DEFAULT false,
    created_by text
);

CREATE TABLE client_applications_usage (
    app_name character varying(255) NOT NULL,
    project character varying(255) NOT NULL,
    environment character varying(100) NOT NULL
);

CREATE TABLE client_instances (
    app_name character varying(255) NOT NULL,
    instance_id character varying(255) NOT NULL,
    client_ip character varying(255),
    last_seen timestamp with time zone DEFAULT now(),
    created_at timestamp with time zone DEFAULT now(),
    sdk_version character varying(255),
    environment character varying(255) DEFAULT 'default'::character varying NOT NULL
);

CREATE TABLE client_metrics_env (
    feature_name character varying(255) NOT NULL,
    app_name character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    yes bigint DEFAULT 0,
    no bigint DEFAULT 0
);

CREATE TABLE client_metrics_env_daily (
    feature_name character varying(255) NOT NULL,
    app_name character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    date date NOT NULL,
    yes integer DEFAULT 0,
    no integer DEFAULT 0
);

CREATE TABLE client_metrics_env_variants (
    feature_name character varying(255) NOT NULL,
    app_name character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    variant text NOT NULL,
    count integer DEFAULT 0
);

CREATE TABLE client_metrics_env_variants_daily (
    feature_name character varying(255) NOT NULL,
    app_name character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    date date NOT NULL,
    variant text NOT NULL,
    count integer DEFAULT 0
);

CREATE TABLE context_fields (
    name character varying(255) NOT NULL,
    description text,
    sort_order integer DEFAULT 10,
    legal_values json,
    created_at timestamp without time zone DEFAULT now(),
    updated_at timestamp without time zone DEFAULT now(),
    stickiness boolean DEFAULT false
);

CREATE TABLE dependent_features (
    parent character varying(255) NOT NULL,
    child character varying(255) NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL
);

CREATE TABLE environment_type_trends (
    id character varying(255) NOT NULL,
    environment_type character varying(255) NOT NULL,
    total_updates integer NOT NULL,
    created_at timestamp without time zone DEFAULT now()
);

CREATE TABLE environments (
    name character varying(100) NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    sort_order integer DEFAULT 9999,
    type text NOT NULL,
    enabled boolean DEFAULT true,
    protected boolean DEFAULT false
);

CREATE TABLE events (
    id serial,
    created_at timestamp with time zone DEFAULT now(),
    type character varying(255) NOT NULL,
    created_by character varying(255) NOT NULL,
    data json,
    tags json DEFAULT '[]'::json,
    project text,
    environment text,
    feature_name text,
    pre_data jsonb,
    announced boolean DEFAULT false NOT NULL,
    created_by_user_id integer,
    ip text
);

CREATE TABLE favorite_features (
    feature character varying(255) NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE favorite_projects (
    project character varying(255) NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE feature_environments (
    environment character varying(100) DEFAULT 'default'::character varying NOT NULL,
    feature_name character varying(255) NOT NULL,
    enabled boolean NOT NULL,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL,
    last_seen_at timestamp with time zone
);

CREATE TABLE feature_lifecycles (
    feature character varying(255) NOT NULL,
    stage character varying(255) NOT NULL,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE feature_strategies (
    id text NOT NULL,
    feature_name character varying(255) NOT NULL,
    project_name character varying(255) NOT NULL,
    environment character varying(100) DEFAULT 'default'::character varying NOT NULL,
    strategy_name character varying(255) NOT NULL,
    parameters jsonb DEFAULT '{}'::jsonb NOT NULL,
    constraints jsonb,
    sort_order integer DEFAULT 9999 NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    title text,
    disabled boolean DEFAULT false,
    variants jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_by_user_id integer
);

CREATE TABLE feature_strategy_segment (
    feature_strategy_id text NOT NULL,
    segment_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE feature_tag (
    feature_name character varying(255) NOT NULL,
    tag_type text NOT NULL,
    tag_value text NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    created_by_user_id integer
);

CREATE TABLE feature_types (
    id character varying(255) NOT NULL,
    name character varying NOT NULL,
    description character varying,
    lifetime_days integer,
    created_at timestamp with time zone DEFAULT now(),
    created_by_user_id integer
);

CREATE TABLE features (
    created_at timestamp with time zone DEFAULT now(),
    name character varying(255) NOT NULL,
    description text,
    variants json DEFAULT '[]'::json,
    type character varying DEFAULT 'release'::character varying,
    stale boolean DEFAULT false,
    project character varying DEFAULT 'default'::character varying,
    last_seen_at timestamp with time zone,
    impression_data boolean DEFAULT false,
    archived_at timestamp with time zone,
    potentially_stale boolean,
    created_by_user_id integer,
    archived boolean DEFAULT false
);

CREATE VIEW public.features_view AS
 SELECT features.name,
    features.description,
    features.type,
    features.project,
    features.stale,
    features.impression_data,
    features.created_at,
    features.archived_at,
    features.last_seen_at,
    feature_environments.last_seen_at AS env_last_seen_at,
    feature_environments.enabled,
    feature_environments.environment,
    feature_environments.variants,
    environments.name AS environment_name,
    environments.type AS environment_type,
    environments.sort_order AS environment_sort_order,
    feature_strategies.id AS strategy_id,
    feature_strategies.strategy_name,
    feature_strategies.parameters,
    feature_strategies.constraints,
    feature_strategies.sort_order,
    fss.segment_id AS segments,
    feature_strategies.title AS strategy_title,
    feature_strategies.disabled AS strategy_disabled,
    feature_strategies.variants AS strategy_variants
   FROM ((((public.features
     LEFT JOIN public.feature_environments ON (((feature_environments.feature_name)::text = (features.name)::text)))
     LEFT JOIN public.feature_strategies ON ((((feature_strategies.feature_name)::text = (feature_environments.feature_name)::text) AND ((feature_strategies.environment)::text = (feature_environments.environment)::text))))
     LEFT JOIN public.environments ON (((feature_environments.environment)::text = (environments.name)::text)))
     LEFT JOIN public.feature_strategy_segment fss ON ((fss.feature_strategy_id = feature_strategies.id)));

CREATE TABLE feedback (
    id serial,
    category text NOT NULL,
    user_type text,
    difficulty_score integer,
    positive text,
    areas_for_improvement text,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE flag_trends (
    id character varying(255) NOT NULL,
    project character varying(255) NOT NULL,
    total_flags integer NOT NULL,
    stale_flags integer NOT NULL,
    potentially_stale_flags integer NOT NULL,
    created_at timestamp without time zone DEFAULT now(),
    health integer DEFAULT 100,
    time_to_production double precision DEFAULT 0,
    users integer DEFAULT 0,
    total_yes bigint,
    total_no bigint,
    total_apps integer,
    total_environments integer
);

CREATE TABLE group_role (
    group_id integer NOT NULL,
    role_id integer NOT NULL,
    created_by text,
    created_at timestamp with time zone DEFAULT now(),
    project text NOT NULL
);

CREATE TABLE group_user (
    group_id integer NOT NULL,
    user_id integer NOT NULL,
    created_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE groups (
    id serial,
    name text NOT NULL,
    description text,
    created_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    mappings_sso jsonb DEFAULT '[]'::jsonb,
    root_role_id integer,
    scim_id text,
    scim_external_id text
);

CREATE TABLE signal_endpoint_tokens (
    id integer NOT NULL,
    token text NOT NULL,
    name text NOT NULL,
    signal_endpoint_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer
);

CREATE SEQUENCE incoming_webhook_tokens_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE incoming_webhook_tokens_id_seq OWNED BY signal_endpoint_tokens.id;

CREATE TABLE signal_endpoints (
    id integer NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by_user_id integer,
    description text
);

CREATE SEQUENCE incoming_webhooks_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE incoming_webhooks_id_seq OWNED BY signal_endpoints.id;

CREATE TABLE jobs (
    name text NOT NULL,
    bucket timestamp with time zone NOT NULL,
    stage text NOT NULL,
    finished_at timestamp with time zone
);

CREATE TABLE last_seen_at_metrics (
    feature_name character varying(255) NOT NULL,
    environment character varying(100) NOT NULL,
    last_seen_at timestamp with time zone NOT NULL
);

CREATE TABLE login_history (
    id integer NOT NULL,
    username text NOT NULL,
    auth_type text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    successful boolean NOT NULL,
    ip inet,
    failure_reason text
);

CREATE SEQUENCE login_events_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE login_events_id_seq OWNED BY login_history.id;

CREATE SEQUENCE message_banners_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE message_banners_id_seq OWNED BY banners.id;

CREATE TABLE migrations (
    id serial,
    name character varying(255) NOT NULL,
    run_on timestamp without time zone NOT NULL
);

CREATE TABLE notifications (
    id serial,
    event_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE signals (
    id integer NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    source text NOT NULL,
    source_id integer NOT NULL,
    created_by_source_token_id integer,
    announced boolean DEFAULT false NOT NULL
);

CREATE SEQUENCE observable_events_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE observable_events_id_seq OWNED BY signals.id;

CREATE TABLE permissions (
    id serial,
    permission character varying(255) NOT NULL,
    display_name text,
    type character varying(255),
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE personal_access_tokens (
    secret text NOT NULL,
    description text,
    user_id integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    id serial
);

CREATE TABLE project_client_metrics_trends (
    project character varying NOT NULL,
    date date NOT NULL,
    total_yes integer NOT NULL,
    total_no integer NOT NULL,
    total_apps integer NOT NULL,
    total_flags integer NOT NULL,
    total_environments integer NOT NULL
);

CREATE TABLE project_environments (
    project_id character varying(255) NOT NULL,
    environment_name character varying(100) NOT NULL,
    default_strategy jsonb
);

CREATE TABLE project_settings (
    project character varying(255) NOT NULL,
    default_stickiness character varying(100),
    project_mode character varying(100) DEFAULT 'open'::character varying NOT NULL,
    feature_limit integer,
    feature_naming_pattern text,
    feature_naming_example text,
    feature_naming_description text,
    CONSTRAINT project_settings_project_mode_values CHECK (((project_mode)::text = ANY ((ARRAY['open'::character varying, 'protected'::character varying, 'private'::character varying])::text[])))
);

CREATE TABLE project_stats (
    project character varying(255) NOT NULL,
    avg_time_to_prod_current_window double precision DEFAULT 0,
    project_changes_current_window integer DEFAULT 0,
    project_changes_past_window integer DEFAULT 0,
    features_created_current_window integer DEFAULT 0,
    features_created_past_window integer DEFAULT 0,
    features_archived_current_window integer DEFAULT 0,
    features_archived_past_window integer DEFAULT 0,
    project_members_added_current_window integer DEFAULT 0
);

CREATE TABLE projects (
    id character varying(255) NOT NULL,
    name character varying NOT NULL,
    description character varying,
    created_at timestamp without time zone DEFAULT now(),
    health integer DEFAULT 100,
    updated_at timestamp with time zone DEFAULT now()
);

CREATE TABLE public_signup_tokens (
    secret text NOT NULL,
    name text,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    created_by text,
    role_id integer NOT NULL,
    url text,
    enabled boolean DEFAULT true
);

CREATE TABLE public_signup_tokens_user (
    secret text NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE reset_tokens (
    reset_token text NOT NULL,
    user_id integer,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now(),
    created_by text
);

CREATE TABLE role_permission (
    role_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    environment character varying(100),
    permission text,
    created_by_user_id integer,
    id serial
);

CREATE TABLE role_user (
    role_id integer NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    project character varying(255) NOT NULL,
    created_by_user_id integer
);

CREATE TABLE roles (
    id serial,
    name text NOT NULL,
    description text,
    type text DEFAULT 'custom'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    updated_at timestamp with time zone,
    created_by_user_id integer
);

CREATE TABLE segments (
    id serial,
    name text NOT NULL,
    description text,
    created_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    constraints jsonb DEFAULT '[]'::jsonb NOT NULL,
    segment_project_id character varying(255)
);

CREATE TABLE settings (
    name character varying(255) NOT NULL,
    content json
);

CREATE TABLE stat_environment_updates (
    day date NOT NULL,
    environment text NOT NULL,
    updates bigint DEFAULT 0 NOT NULL
);

CREATE TABLE stat_traffic_usage (
    day date NOT NULL,
    traffic_group text NOT NULL,
    status_code_series integer NOT NULL,
    count bigint DEFAULT 0 NOT NULL
);

CREATE TABLE strategies (
    created_at timestamp with time zone DEFAULT now(),
    name character varying(255) NOT NULL,
    description text,
    parameters json,
    built_in integer DEFAULT 0,
    deprecated boolean DEFAULT false,
    sort_order integer DEFAULT 9999,
    display_name text,
    title text
);

CREATE TABLE tag_types (
    name text NOT NULL,
    description text,
    icon text,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE tags (
    type text NOT NULL,
    value text NOT NULL,
    created_at timestamp with time zone DEFAULT now()
);

CREATE TABLE unleash_session (
    sid character varying NOT NULL,
    sess json NOT NULL,
    created_at timestamp with time zone DEFAULT now(),
    expired timestamp with time zone NOT NULL
);

CREATE TABLE user_feedback (
    user_id integer NOT NULL,
    feedback_id text NOT NULL,
    given timestamp with time zone,
    nevershow boolean DEFAULT false NOT NULL
);

CREATE TABLE user_notifications (
    notification_id integer NOT NULL,
    user_id integer NOT NULL,
    read_at timestamp with time zone
);

CREATE TABLE user_splash (
    user_id integer NOT NULL,
    splash_id text NOT NULL,
    seen boolean DEFAULT false NOT NULL
);

CREATE TABLE user_trends (
    id character varying(255) NOT NULL,
    total_users integer NOT NULL,
    active_users integer NOT NULL,
    created_at timestamp without time zone DEFAULT now()
);

CREATE TABLE users (
    id serial,
    name character varying(255),
    username character varying(255),
    email character varying(255),
    image_url text,
    password_hash character varying(255),
    login_attempts integer DEFAULT 0,
    created_at timestamp without time zone DEFAULT now(),
    seen_at timestamp without time zone,
    settings json,
    permissions json DEFAULT '[]'::json,
    deleted_at timestamp with time zone,
    is_service boolean DEFAULT false,
    created_by_user_id integer,
    is_system boolean DEFAULT false NOT NULL,
    scim_id text,
    scim_external_id text
);

ALTER TABLE banners ALTER COLUMN id SET DEFAULT nextval('message_banners_id_seq'::regclass);
ALTER TABLE login_history ALTER COLUMN id SET DEFAULT nextval('login_events_id_seq'::regclass);
ALTER TABLE signal_endpoint_tokens ALTER COLUMN id SET DEFAULT nextval('incoming_webhook_tokens_id_seq'::regclass);
ALTER TABLE signal_endpoints ALTER COLUMN id SET DEFAULT nextval('incoming_webhooks_id_seq'::regclass);
ALTER TABLE signals ALTER COLUMN id SET DEFAULT nextval('observable_events_id_seq'::regclass);
ALTER TABLE action_set_events ADD CONSTRAINT action_set_events_pkey PRIMARY KEY (id);
ALTER TABLE action_sets ADD CONSTRAINT action_sets_pkey PRIMARY KEY (id);
ALTER TABLE actions ADD CONSTRAINT actions_pkey PRIMARY KEY (id);
ALTER TABLE addons ADD CONSTRAINT addons_pkey PRIMARY KEY (id);
ALTER TABLE api_token_project ADD CONSTRAINT api_token_project_pkey PRIMARY KEY (secret, project);
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (secret);
ALTER TABLE change_request_approvals ADD CONSTRAINT change_request_approvals_pkey PRIMARY KEY (id);
ALTER TABLE change_request_comments ADD CONSTRAINT change_request_comments_pkey PRIMARY KEY (id);
ALTER TABLE change_request_events ADD CONSTRAINT change_request_events_pkey PRIMARY KEY (id);
ALTER TABLE change_request_rejections ADD CONSTRAINT change_request_rejections_change_request_id_created_by_key UNIQUE (change_request_id, created_by);
ALTER TABLE change_request_rejections ADD CONSTRAINT change_request_rejections_pkey PRIMARY KEY (id);
ALTER TABLE change_request_schedule ADD CONSTRAINT change_request_schedule_pkey PRIMARY KEY (change_request);
ALTER TABLE change_request_settings ADD CONSTRAINT change_request_settings_pkey PRIMARY KEY (project, environment);
ALTER TABLE change_request_settings ADD CONSTRAINT change_request_settings_project_environment_key UNIQUE (project, environment);
ALTER TABLE change_requests ADD CONSTRAINT change_requests_pkey PRIMARY KEY (id);
ALTER TABLE client_applications ADD CONSTRAINT client_applications_pkey PRIMARY KEY (app_name);
ALTER TABLE client_applications_usage ADD CONSTRAINT client_applications_usage_pkey PRIMARY KEY (app_name, project, environment);
ALTER TABLE client_instances ADD CONSTRAINT client_instances_pkey PRIMARY KEY (app_name, environment, instance_id);
ALTER TABLE client_metrics_env_daily ADD CONSTRAINT client_metrics_env_daily_pkey PRIMARY KEY (feature_name, app_name, environment, date);
ALTER TABLE client_metrics_env ADD CONSTRAINT client_metrics_env_pkey PRIMARY KEY (feature_name, app_name, environment, "timestamp");
ALTER TABLE client_metrics_env_variants_daily ADD CONSTRAINT client_metrics_env_variants_daily_pkey PRIMARY KEY (feature_name, app_name, environment, date, variant);
ALTER TABLE client_metrics_env_variants ADD CONSTRAINT client_metrics_env_variants_pkey PRIMARY KEY (feature_name, app_name, environment, "timestamp", variant);
ALTER TABLE context_fields ADD CONSTRAINT context_fields_pkey PRIMARY KEY (name);
ALTER TABLE dependent_features ADD CONSTRAINT dependent_features_pkey PRIMARY KEY (parent, child);
ALTER TABLE environment_type_trends ADD CONSTRAINT environment_type_trends_pkey PRIMARY KEY (id, environment_type);
ALTER TABLE environments ADD CONSTRAINT environments_pkey PRIMARY KEY (name);
ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (id);
ALTER TABLE favorite_features ADD CONSTRAINT favorite_features_pkey PRIMARY KEY (feature, user_id);
ALTER TABLE favorite_projects ADD CONSTRAINT favorite_projects_pkey PRIMARY KEY (project, user_id);
ALTER TABLE feature_environments ADD CONSTRAINT feature_environments_pkey PRIMARY KEY (environment, feature_name);
ALTER TABLE feature_lifecycles ADD CONSTRAINT feature_lifecycles_pkey PRIMARY KEY (feature, stage);
ALTER TABLE feature_strategies ADD CONSTRAINT feature_strategies_pkey PRIMARY KEY (id);
ALTER TABLE feature_strategy_segment ADD CONSTRAINT feature_strategy_segment_pkey PRIMARY KEY (feature_strategy_id, segment_id);
ALTER TABLE feature_tag ADD CONSTRAINT feature_tag_pkey PRIMARY KEY (feature_name, tag_type, tag_value);
ALTER TABLE feature_types ADD CONSTRAINT feature_types_pkey PRIMARY KEY (id);
ALTER TABLE features ADD CONSTRAINT features_pkey PRIMARY KEY (name);
ALTER TABLE feedback ADD CONSTRAINT feedback_pkey PRIMARY KEY (id);
ALTER TABLE flag_trends ADD CONSTRAINT flag_trends_pkey PRIMARY KEY (id, project);
ALTER TABLE group_role ADD CONSTRAINT group_role_pkey PRIMARY KEY (group_id, role_id, project);
ALTER TABLE group_user ADD CONSTRAINT group_user_pkey PRIMARY KEY (group_id, user_id);
ALTER TABLE groups ADD CONSTRAINT groups_pkey PRIMARY KEY (id);
ALTER TABLE signal_endpoint_tokens ADD CONSTRAINT incoming_webhook_tokens_pkey PRIMARY KEY (id);
ALTER TABLE signal_endpoints ADD CONSTRAINT incoming_webhooks_pkey PRIMARY KEY (id);
ALTER TABLE jobs ADD CONSTRAINT jobs_pkey PRIMARY KEY (name, bucket);
ALTER TABLE last_seen_at_metrics ADD CONSTRAINT last_seen_at_metrics_pkey PRIMARY KEY (feature_name, environment);
ALTER TABLE login_history ADD CONSTRAINT login_events_pkey PRIMARY KEY (id);
ALTER TABLE banners ADD CONSTRAINT message_banners_pkey PRIMARY KEY (id);
ALTER TABLE migrations ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);
ALTER TABLE notifications ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);
ALTER TABLE signals ADD CONSTRAINT observable_events_pkey PRIMARY KEY (id);
ALTER TABLE permissions ADD CONSTRAINT permission_unique UNIQUE (permission);
ALTER TABLE permissions ADD CONSTRAINT permissions_pkey PRIMARY KEY (permission);
ALTER TABLE personal_access_tokens ADD CONSTRAINT personal_access_tokens_pkey PRIMARY KEY (id);
ALTER TABLE project_client_metrics_trends ADD CONSTRAINT project_client_metrics_trends_pkey PRIMARY KEY (project, date);
ALTER TABLE project_environments ADD CONSTRAINT project_environments_pkey PRIMARY KEY (project_id, environment_name);
ALTER TABLE project_settings ADD CONSTRAINT project_settings_pkey PRIMARY KEY (project);
ALTER TABLE project_stats ADD CONSTRAINT project_stats_pkey PRIMARY KEY (project);
ALTER TABLE project_stats ADD CONSTRAINT project_stats_project_key UNIQUE (project);
ALTER TABLE projects ADD CONSTRAINT projects_pkey PRIMARY KEY (id);
ALTER TABLE public_signup_tokens ADD CONSTRAINT public_signup_tokens_pkey PRIMARY KEY (secret);
ALTER TABLE public_signup_tokens_user ADD CONSTRAINT public_signup_tokens_user_pkey PRIMARY KEY (secret, user_id);
ALTER TABLE reset_tokens ADD CONSTRAINT reset_tokens_pkey PRIMARY KEY (reset_token);
ALTER TABLE role_permission ADD CONSTRAINT role_permission_pkey PRIMARY KEY (id);
ALTER TABLE role_user ADD CONSTRAINT role_user_pkey PRIMARY KEY (role_id, user_id, project);
ALTER TABLE roles ADD CONSTRAINT roles_pkey PRIMARY KEY (id);
ALTER TABLE segments ADD CONSTRAINT segments_pkey PRIMARY KEY (id);
ALTER TABLE settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE stat_environment_updates ADD CONSTRAINT stat_environment_updates_pkey PRIMARY KEY (day, environment);
ALTER TABLE stat_traffic_usage ADD CONSTRAINT stat_traffic_usage_pkey PRIMARY KEY (day, traffic_group, status_code_series);
ALTER TABLE strategies ADD CONSTRAINT strategies_pkey PRIMARY KEY (name);
ALTER TABLE tag_types ADD CONSTRAINT tag_types_pkey PRIMARY KEY (name);
ALTER TABLE tags ADD CONSTRAINT tags_pkey PRIMARY KEY (type, value);
ALTER TABLE change_request_approvals ADD CONSTRAINT unique_approvals UNIQUE (change_request_id, created_by);
ALTER TABLE roles ADD CONSTRAINT unique_name UNIQUE (name);
ALTER TABLE unleash_session ADD CONSTRAINT unleash_session_pkey PRIMARY KEY (sid);
ALTER TABLE user_feedback ADD CONSTRAINT user_feedback_pkey PRIMARY KEY (user_id, feedback_id);
ALTER TABLE user_notifications ADD CONSTRAINT user_notifications_pkey PRIMARY KEY (notification_id, user_id);
ALTER TABLE user_splash ADD CONSTRAINT user_splash_pkey PRIMARY KEY (user_id, splash_id);
ALTER TABLE user_trends ADD CONSTRAINT user_trends_pkey PRIMARY KEY (id);
ALTER TABLE users ADD CONSTRAINT users_email_key UNIQUE (email);
ALTER TABLE users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE users ADD CONSTRAINT users_username_key UNIQUE (username);

CREATE INDEX client_instances_environment_idx ON client_instances USING btree (environment);
CREATE INDEX events_created_by_user_id_idx ON events USING btree (created_by_user_id);
CREATE INDEX events_environment_idx ON events USING btree (environment);
CREATE INDEX events_project_idx ON events USING btree (project);
CREATE INDEX events_unannounced_idx ON events USING btree (announced) WHERE (announced = false);
CREATE INDEX feature_environments_feature_name_idx ON feature_environments USING btree (feature_name);
CREATE INDEX feature_name_idx ON events USING btree (feature_name);
CREATE INDEX feature_strategies_environment_idx ON feature_strategies USING btree (environment);
CREATE INDEX feature_strategies_feature_name_idx ON feature_strategies USING btree (feature_name);
CREATE INDEX feature_strategy_segment_segment_id_index ON feature_strategy_segment USING btree (segment_id);
CREATE INDEX feature_tag_tag_type_and_value_idx ON feature_tag USING btree (tag_type, tag_value);
CREATE INDEX groups_group_name_idx ON groups USING btree (name);
CREATE UNIQUE INDEX groups_scim_external_id_uniq_idx ON groups USING btree (scim_external_id) WHERE (scim_external_id IS NOT NULL);
CREATE UNIQUE INDEX groups_scim_id_unique_idx ON groups USING btree (scim_id) WHERE (scim_id IS NOT NULL);
CREATE INDEX idx_action_set_events_action_set_id_state ON action_set_events USING btree (action_set_id, state);
CREATE INDEX idx_action_set_events_signal_id ON action_set_events USING btree (signal_id);
CREATE INDEX idx_action_sets_project ON action_sets USING btree (project);
CREATE INDEX idx_client_applications_announced_false ON client_applications USING btree (announced) WHERE (announced = false);
CREATE INDEX idx_client_metrics_f_name ON client_metrics_env USING btree (feature_name);
CREATE INDEX idx_events_feature_type_id ON events USING btree (id) WHERE ((feature_name IS NOT NULL) OR ((type)::text = ANY ((ARRAY['segment-updated'::character varying, 'feature_import'::character varying, 'features-imported'::character varying])::text[])));
CREATE INDEX idx_feature_name ON last_seen_at_metrics USING btree (feature_name);
CREATE INDEX idx_job_finished ON jobs USING btree (finished_at);
CREATE INDEX idx_job_stage ON jobs USING btree (stage);
CREATE INDEX idx_signal_endpoint_tokens_signal_endpoint_id ON signal_endpoint_tokens USING btree (signal_endpoint_id);
CREATE INDEX idx_signal_endpoints_enabled ON signal_endpoints USING btree (enabled);
CREATE INDEX idx_signals_created_by_source_token_id ON signals USING btree (created_by_source_token_id);
CREATE INDEX idx_signals_source_and_source_id ON signals USING btree (source, source_id);
CREATE INDEX idx_signals_unannounced ON signals USING btree (announced) WHERE (announced = false);
CREATE INDEX idx_unleash_session_expired ON unleash_session USING btree (expired);
CREATE INDEX login_events_ip_idx ON login_history USING btree (ip);
CREATE INDEX project_environments_environment_idx ON project_environments USING btree (environment_name);
CREATE INDEX reset_tokens_user_id_idx ON reset_tokens USING btree (user_id);
CREATE INDEX role_permission_role_id_idx ON role_permission USING btree (role_id);
CREATE INDEX role_user_user_id_idx ON role_user USING btree (user_id);
CREATE INDEX segments_name_index ON segments USING btree (name);
CREATE INDEX stat_traffic_usage_day_idx ON stat_traffic_usage USING btree (day);
CREATE INDEX stat_traffic_usage_status_code_series_idx ON stat_traffic_usage USING btree (status_code_series);
CREATE INDEX stat_traffic_usage_traffic_group_idx ON stat_traffic_usage USING btree (traffic_group);
CREATE INDEX user_feedback_user_id_idx ON user_feedback USING btree (user_id);
CREATE INDEX user_splash_user_id_idx ON user_splash USING btree (user_id);
CREATE UNIQUE INDEX users_scim_external_id_uniq_idx ON users USING btree (scim_external_id) WHERE (scim_external_id IS NOT NULL);
CREATE UNIQUE INDEX users_scim_id_unique_idx ON users USING btree (scim_id) WHERE (scim_id IS NOT NULL);

CREATE TRIGGER unleash_update_stat_environment_changes AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION unleash_update_stat_environment_changes_counter();

ALTER TABLE action_sets ADD CONSTRAINT action_sets_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE actions ADD CONSTRAINT actions_action_set_id_fkey FOREIGN KEY (action_set_id) REFERENCES action_sets(id) ON DELETE CASCADE;
ALTER TABLE api_token_project ADD CONSTRAINT api_token_project_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE api_token_project ADD CONSTRAINT api_token_project_secret_fkey FOREIGN KEY (secret) REFERENCES api_tokens(secret) ON DELETE CASCADE;
ALTER TABLE change_request_approvals ADD CONSTRAINT change_request_approvals_change_request_id_fkey FOREIGN KEY (change_request_id) REFERENCES change_requests(id) ON DELETE CASCADE;
ALTER TABLE change_request_approvals ADD CONSTRAINT change_request_approvals_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE change_request_comments ADD CONSTRAINT change_request_comments_change_request_fkey FOREIGN KEY (change_request) REFERENCES change_requests(id) ON DELETE CASCADE;
ALTER TABLE change_request_comments ADD CONSTRAINT change_request_comments_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE change_request_events ADD CONSTRAINT change_request_events_change_request_id_fkey FOREIGN KEY (change_request_id) REFERENCES change_requests(id) ON DELETE CASCADE;
ALTER TABLE change_request_events ADD CONSTRAINT change_request_events_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE change_request_events ADD CONSTRAINT change_request_events_feature_fkey FOREIGN KEY (feature) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE change_request_rejections ADD CONSTRAINT change_request_rejections_change_request_id_fkey FOREIGN KEY (change_request_id) REFERENCES change_requests(id) ON DELETE CASCADE;
ALTER TABLE change_request_rejections ADD CONSTRAINT change_request_rejections_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE change_request_schedule ADD CONSTRAINT change_request_schedule_change_request_fkey FOREIGN KEY (change_request) REFERENCES change_requests(id) ON DELETE CASCADE;
ALTER TABLE change_request_schedule ADD CONSTRAINT change_request_schedule_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);
ALTER TABLE change_request_settings ADD CONSTRAINT change_request_settings_environment_fkey FOREIGN KEY (environment) REFERENCES environments(name) ON DELETE CASCADE;
ALTER TABLE change_request_settings ADD CONSTRAINT change_request_settings_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE change_requests ADD CONSTRAINT change_requests_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE change_requests ADD CONSTRAINT change_requests_environment_fkey FOREIGN KEY (environment) REFERENCES environments(name) ON DELETE CASCADE;
ALTER TABLE change_requests ADD CONSTRAINT change_requests_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE client_applications_usage ADD CONSTRAINT client_applications_usage_app_name_fkey FOREIGN KEY (app_name) REFERENCES client_applications(app_name) ON DELETE CASCADE;
ALTER TABLE client_metrics_env_variants_daily ADD CONSTRAINT client_metrics_env_variants_d_feature_name_app_name_enviro_fkey FOREIGN KEY (feature_name, app_name, environment, date) REFERENCES client_metrics_env_daily(feature_name, app_name, environment, date) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE client_metrics_env_variants ADD CONSTRAINT client_metrics_env_variants_feature_name_app_name_environm_fkey FOREIGN KEY (feature_name, app_name, environment, "timestamp") REFERENCES client_metrics_env(feature_name, app_name, environment, "timestamp") ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE dependent_features ADD CONSTRAINT dependent_features_child_fkey FOREIGN KEY (child) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE dependent_features ADD CONSTRAINT dependent_features_parent_fkey FOREIGN KEY (parent) REFERENCES features(name) ON DELETE RESTRICT;
ALTER TABLE favorite_features ADD CONSTRAINT favorite_features_feature_fkey FOREIGN KEY (feature) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE favorite_features ADD CONSTRAINT favorite_features_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE favorite_projects ADD CONSTRAINT favorite_projects_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE favorite_projects ADD CONSTRAINT favorite_projects_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE feature_environments ADD CONSTRAINT feature_environments_environment_fkey FOREIGN KEY (environment) REFERENCES environments(name) ON DELETE CASCADE;
ALTER TABLE feature_environments ADD CONSTRAINT feature_environments_feature_name_fkey FOREIGN KEY (feature_name) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE feature_lifecycles ADD CONSTRAINT feature_lifecycles_feature_fkey FOREIGN KEY (feature) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE feature_strategies ADD CONSTRAINT feature_strategies_environment_fkey FOREIGN KEY (environment) REFERENCES environments(name) ON DELETE CASCADE;
ALTER TABLE feature_strategies ADD CONSTRAINT feature_strategies_feature_name_fkey FOREIGN KEY (feature_name) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE feature_strategy_segment ADD CONSTRAINT feature_strategy_segment_feature_strategy_id_fkey FOREIGN KEY (feature_strategy_id) REFERENCES feature_strategies(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE feature_strategy_segment ADD CONSTRAINT feature_strategy_segment_segment_id_fkey FOREIGN KEY (segment_id) REFERENCES segments(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE feature_tag ADD CONSTRAINT feature_tag_feature_name_fkey FOREIGN KEY (feature_name) REFERENCES features(name) ON DELETE CASCADE;
ALTER TABLE feature_tag ADD CONSTRAINT feature_tag_tag_type_tag_value_fkey FOREIGN KEY (tag_type, tag_value) REFERENCES tags(type, value) ON DELETE CASCADE;
ALTER TABLE groups ADD CONSTRAINT fk_group_role_id FOREIGN KEY (root_role_id) REFERENCES roles(id);
ALTER TABLE group_role ADD CONSTRAINT fk_group_role_project FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE role_permission ADD CONSTRAINT fk_role_permission_permission FOREIGN KEY (permission) REFERENCES permissions(permission) ON DELETE CASCADE;
ALTER TABLE group_role ADD CONSTRAINT group_role_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON DELETE CASCADE;
ALTER TABLE group_role ADD CONSTRAINT group_role_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE CASCADE;
ALTER TABLE group_user ADD CONSTRAINT group_user_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id) ON DELETE CASCADE;
ALTER TABLE group_user ADD CONSTRAINT group_user_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE signal_endpoint_tokens ADD CONSTRAINT incoming_webhook_tokens_incoming_webhook_id_fkey FOREIGN KEY (signal_endpoint_id) REFERENCES signal_endpoints(id) ON DELETE CASCADE;
ALTER TABLE notifications ADD CONSTRAINT notifications_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE;
ALTER TABLE personal_access_tokens ADD CONSTRAINT personal_access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE project_environments ADD CONSTRAINT project_environments_environment_name_fkey FOREIGN KEY (environment_name) REFERENCES environments(name) ON DELETE CASCADE;
ALTER TABLE project_environments ADD CONSTRAINT project_environments_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE project_settings ADD CONSTRAINT project_settings_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE project_stats ADD CONSTRAINT project_stats_project_fkey FOREIGN KEY (project) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE public_signup_tokens ADD CONSTRAINT public_signup_tokens_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE CASCADE;
ALTER TABLE public_signup_tokens_user ADD CONSTRAINT public_signup_tokens_user_secret_fkey FOREIGN KEY (secret) REFERENCES public_signup_tokens(secret) ON DELETE CASCADE;
ALTER TABLE public_signup_tokens_user ADD CONSTRAINT public_signup_tokens_user_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE reset_tokens ADD CONSTRAINT reset_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE role_permission ADD CONSTRAINT role_permission_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE CASCADE;
ALTER TABLE role_user ADD CONSTRAINT role_user_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON DELETE CASCADE;
ALTER TABLE role_user ADD CONSTRAINT role_user_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE segments ADD CONSTRAINT segments_segment_project_id_fkey FOREIGN KEY (segment_project_id) REFERENCES projects(id) ON DELETE CASCADE;
ALTER TABLE tags ADD CONSTRAINT tags_type_fkey FOREIGN KEY (type) REFERENCES tag_types(name) ON DELETE CASCADE;
ALTER TABLE user_feedback ADD CONSTRAINT user_feedback_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE user_notifications ADD CONSTRAINT user_notifications_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE;
ALTER TABLE user_notifications ADD CONSTRAINT user_notifications_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE user_splash ADD CONSTRAINT user_splash_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE;
