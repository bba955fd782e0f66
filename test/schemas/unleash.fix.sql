-- What has to change for the conversion of unleash.sql, see README.md. The view is Unleash's: see
-- unleash.sql for copyright and licence.

-- before
-- Variables hold the ids of roles.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE proname ~ '^assign_unleash_permission_to_role' LOOP
        EXECUTE replace(f.text, 'var_role_id int;', 'var_role_id bigint;');
    END LOOP;
END $$;

-- dropped
DROP VIEW features_view;

-- again
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

-- after
SELECT assign_unleash_permission_to_role((SELECT min(permission) FROM permissions), (SELECT name FROM roles ORDER BY id DESC LIMIT 1)) \gset
