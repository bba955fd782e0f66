-- OpenStack Cinder 21.3.1, block storage (SQLAlchemy, alembic)
-- Source: https://github.com/openstack/cinder
-- Copyright (c) 2010-2011, United States Government as represented by the Administrator of NASA
-- Copyright (c) 2010-2016, OpenStack Foundation, and the other authors of Cinder
-- Licence: Apache-2.0, see licenses/Apache-2.0
-- Changed: taken from the database that the project's own migrations make. Owned sequences are
-- written as serial, without owners. No table is left out.

CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE attachment_specs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    attachment_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE backup_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    backup_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE backups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    volume_id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    host character varying(255),
    availability_zone character varying(255),
    display_name character varying(255),
    display_description character varying(255),
    container character varying(255),
    status character varying(255),
    fail_reason character varying(255),
    service_metadata character varying(255),
    service character varying(255),
    size integer,
    object_count integer,
    parent_id character varying(36),
    temp_volume_id character varying(36),
    temp_snapshot_id character varying(36),
    num_dependent_backups integer,
    snapshot_id character varying(36),
    data_timestamp timestamp without time zone,
    restore_volume_id character varying(36),
    encryption_key_id character varying(36)
);

CREATE TABLE cgsnapshots (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    consistencygroup_id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    name character varying(255),
    description character varying(255),
    status character varying(255)
);

CREATE TABLE clusters (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    name character varying(255) NOT NULL,
    "binary" character varying(255) NOT NULL,
    disabled boolean,
    disabled_reason character varying(255),
    race_preventer integer NOT NULL,
    replication_status character varying(36),
    active_backend_id character varying(255),
    frozen boolean DEFAULT false NOT NULL
);

CREATE TABLE consistencygroups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    host character varying(255),
    availability_zone character varying(255),
    name character varying(255),
    description character varying(255),
    volume_type_id character varying(255),
    status character varying(255),
    cgsnapshot_id character varying(36),
    source_cgid character varying(36),
    cluster_name character varying(255)
);

CREATE TABLE default_volume_types (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    volume_type_id character varying(36),
    project_id character varying(255) NOT NULL,
    deleted boolean
);

CREATE TABLE driver_initiator_data (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    id serial,
    initiator character varying(255) NOT NULL,
    namespace character varying(255) NOT NULL,
    key character varying(255) NOT NULL,
    value character varying(255)
);

CREATE TABLE encryption (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    cipher character varying(255),
    control_location character varying(255) NOT NULL,
    key_size integer,
    provider character varying(255) NOT NULL,
    volume_type_id character varying(36) NOT NULL,
    encryption_id character varying(36) NOT NULL
);

CREATE TABLE group_snapshots (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    group_id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    name character varying(255),
    description character varying(255),
    status character varying(255),
    group_type_id character varying(36)
);

CREATE TABLE group_type_projects (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    group_type_id character varying(36),
    project_id character varying(255),
    deleted boolean
);

CREATE TABLE group_type_specs (
    id serial,
    key character varying(255),
    value character varying(255),
    group_type_id character varying(36) NOT NULL,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean
);

CREATE TABLE group_types (
    id character varying(36) NOT NULL,
    name character varying(255) NOT NULL,
    description character varying(255),
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    is_public boolean
);

CREATE TABLE group_volume_type_mapping (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    volume_type_id character varying(36) NOT NULL,
    group_id character varying(36) NOT NULL
);

CREATE TABLE groups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    cluster_name character varying(255),
    host character varying(255),
    availability_zone character varying(255),
    name character varying(255),
    description character varying(255),
    group_type_id character varying(36),
    status character varying(255),
    group_snapshot_id character varying(36),
    source_group_id character varying(36),
    replication_status character varying(255)
);

CREATE TABLE image_volume_cache_entries (
    image_updated_at timestamp without time zone,
    id serial,
    host character varying(255) NOT NULL,
    image_id character varying(36) NOT NULL,
    volume_id character varying(36) NOT NULL,
    size integer NOT NULL,
    last_used timestamp without time zone NOT NULL,
    cluster_name character varying(255)
);

CREATE TABLE messages (
    id character varying(36) NOT NULL,
    project_id character varying(255) NOT NULL,
    request_id character varying(255),
    resource_type character varying(36),
    resource_uuid character varying(255),
    event_id character varying(255) NOT NULL,
    message_level character varying(255) NOT NULL,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    expires_at timestamp without time zone,
    detail_id character varying(10),
    action_id character varying(10)
);

CREATE TABLE quality_of_service_specs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    specs_id character varying(36),
    key character varying(255),
    value character varying(255)
);

CREATE TABLE quota_classes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    class_name character varying(255),
    resource character varying(255),
    hard_limit integer
);

CREATE TABLE quota_usages (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    project_id character varying(255),
    resource character varying(300),
    in_use integer NOT NULL,
    reserved integer NOT NULL,
    until_refresh integer,
    race_preventer boolean
);

CREATE TABLE quotas (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    project_id character varying(255),
    resource character varying(255) NOT NULL,
    hard_limit integer,
    allocated integer
);

CREATE TABLE reservations (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    uuid character varying(36) NOT NULL,
    usage_id integer,
    project_id character varying(255),
    resource character varying(255),
    delta integer NOT NULL,
    expire timestamp without time zone,
    allocated_id integer
);

CREATE TABLE services (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    host character varying(255),
    "binary" character varying(255),
    topic character varying(255),
    report_count integer NOT NULL,
    disabled boolean,
    availability_zone character varying(255),
    disabled_reason character varying(255),
    modified_at timestamp without time zone,
    rpc_current_version character varying(36),
    object_current_version character varying(36),
    replication_status character varying(36),
    frozen boolean,
    active_backend_id character varying(255),
    cluster_name character varying(255),
    uuid character varying(36)
);

CREATE TABLE snapshot_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    snapshot_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE snapshots (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    volume_id character varying(36) NOT NULL,
    user_id character varying(255),
    project_id character varying(255),
    status character varying(255),
    progress character varying(255),
    volume_size integer,
    scheduled_at timestamp without time zone,
    display_name character varying(255),
    display_description character varying(255),
    provider_location character varying(255),
    encryption_key_id character varying(36),
    volume_type_id character varying(36) NOT NULL,
    cgsnapshot_id character varying(36),
    provider_id character varying(255),
    provider_auth character varying(255),
    group_snapshot_id character varying(36),
    use_quota boolean
);

CREATE TABLE transfers (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    volume_id character varying(36) NOT NULL,
    display_name character varying(255),
    salt character varying(255),
    crypt_hash character varying(255),
    expires_at timestamp without time zone,
    no_snapshots boolean,
    source_project_id character varying(255),
    destination_project_id character varying(255),
    accepted boolean
);

CREATE TABLE volume_admin_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    volume_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE volume_attachment (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    volume_id character varying(36) NOT NULL,
    attached_host character varying(255),
    instance_uuid character varying(36),
    mountpoint character varying(255),
    attach_time timestamp without time zone,
    detach_time timestamp without time zone,
    attach_mode character varying(36),
    attach_status character varying(255),
    connection_info text,
    connector text
);

CREATE TABLE volume_glance_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    volume_id character varying(36),
    snapshot_id character varying(36),
    key character varying(255),
    value text
);

CREATE TABLE volume_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    volume_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE volume_type_extra_specs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    volume_type_id character varying(36) NOT NULL,
    key character varying(255),
    value character varying(255)
);

CREATE TABLE volume_type_projects (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    volume_type_id character varying(36),
    project_id character varying(255),
    deleted integer
);

CREATE TABLE volume_types (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    name character varying(255),
    qos_specs_id character varying(36),
    is_public boolean,
    description character varying(255)
);

CREATE TABLE volumes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id character varying(36) NOT NULL,
    ec2_id character varying(255),
    user_id character varying(255),
    project_id character varying(255),
    host character varying(255),
    size integer,
    availability_zone character varying(255),
    status character varying(255),
    attach_status character varying(255),
    scheduled_at timestamp without time zone,
    launched_at timestamp without time zone,
    terminated_at timestamp without time zone,
    display_name character varying(255),
    display_description character varying(255),
    provider_location character varying(256),
    provider_auth character varying(256),
    snapshot_id character varying(36),
    volume_type_id character varying(36) NOT NULL,
    source_volid character varying(36),
    bootable boolean,
    provider_geometry character varying(255),
    _name_id character varying(36),
    encryption_key_id character varying(36),
    migration_status character varying(255),
    replication_status character varying(255),
    replication_extended_status character varying(255),
    replication_driver_data character varying(255),
    consistencygroup_id character varying(36),
    provider_id character varying(255),
    multiattach boolean,
    previous_status character varying(255),
    cluster_name character varying(255),
    group_id character varying(36),
    service_uuid character varying(36),
    shared_targets boolean,
    use_quota boolean
);

CREATE TABLE workers (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    id serial,
    resource_type character varying(40) NOT NULL,
    resource_id character varying(36) NOT NULL,
    status character varying(255) NOT NULL,
    service_id integer,
    race_preventer integer DEFAULT 0 NOT NULL
);

ALTER TABLE alembic_version ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE attachment_specs ADD CONSTRAINT attachment_specs_pkey PRIMARY KEY (id);
ALTER TABLE backup_metadata ADD CONSTRAINT backup_metadata_pkey PRIMARY KEY (id);
ALTER TABLE backups ADD CONSTRAINT backups_pkey PRIMARY KEY (id);
ALTER TABLE cgsnapshots ADD CONSTRAINT cgsnapshots_pkey PRIMARY KEY (id);
ALTER TABLE clusters ADD CONSTRAINT clusters_name_binary_race_preventer_key UNIQUE (name, "binary", race_preventer);
ALTER TABLE clusters ADD CONSTRAINT clusters_pkey PRIMARY KEY (id);
ALTER TABLE consistencygroups ADD CONSTRAINT consistencygroups_pkey PRIMARY KEY (id);
ALTER TABLE default_volume_types ADD CONSTRAINT default_volume_types_pkey PRIMARY KEY (project_id);
ALTER TABLE driver_initiator_data ADD CONSTRAINT driver_initiator_data_initiator_namespace_key_key UNIQUE (initiator, namespace, key);
ALTER TABLE driver_initiator_data ADD CONSTRAINT driver_initiator_data_pkey PRIMARY KEY (id);
ALTER TABLE encryption ADD CONSTRAINT encryption_pkey PRIMARY KEY (encryption_id);
ALTER TABLE group_snapshots ADD CONSTRAINT group_snapshots_pkey PRIMARY KEY (id);
ALTER TABLE group_type_projects ADD CONSTRAINT group_type_projects_group_type_id_project_id_deleted_key UNIQUE (group_type_id, project_id, deleted);
ALTER TABLE group_type_projects ADD CONSTRAINT group_type_projects_pkey PRIMARY KEY (id);
ALTER TABLE group_type_specs ADD CONSTRAINT group_type_specs_pkey PRIMARY KEY (id);
ALTER TABLE group_types ADD CONSTRAINT group_types_pkey PRIMARY KEY (id);
ALTER TABLE group_volume_type_mapping ADD CONSTRAINT group_volume_type_mapping_pkey PRIMARY KEY (id);
ALTER TABLE groups ADD CONSTRAINT groups_pkey PRIMARY KEY (id);
ALTER TABLE image_volume_cache_entries ADD CONSTRAINT image_volume_cache_entries_pkey PRIMARY KEY (id);
ALTER TABLE messages ADD CONSTRAINT messages_pkey PRIMARY KEY (id);
ALTER TABLE quality_of_service_specs ADD CONSTRAINT quality_of_service_specs_pkey PRIMARY KEY (id);
ALTER TABLE quota_classes ADD CONSTRAINT quota_classes_pkey PRIMARY KEY (id);
ALTER TABLE quota_usages ADD CONSTRAINT quota_usages_pkey PRIMARY KEY (id);
ALTER TABLE quota_usages ADD CONSTRAINT quota_usages_project_id_resource_race_preventer_key UNIQUE (project_id, resource, race_preventer);
ALTER TABLE quotas ADD CONSTRAINT quotas_pkey PRIMARY KEY (id);
ALTER TABLE reservations ADD CONSTRAINT reservations_pkey PRIMARY KEY (id);
ALTER TABLE services ADD CONSTRAINT services_pkey PRIMARY KEY (id);
ALTER TABLE snapshot_metadata ADD CONSTRAINT snapshot_metadata_pkey PRIMARY KEY (id);
ALTER TABLE snapshots ADD CONSTRAINT snapshots_pkey PRIMARY KEY (id);
ALTER TABLE transfers ADD CONSTRAINT transfers_pkey PRIMARY KEY (id);
ALTER TABLE volume_admin_metadata ADD CONSTRAINT volume_admin_metadata_pkey PRIMARY KEY (id);
ALTER TABLE volume_attachment ADD CONSTRAINT volume_attachment_pkey PRIMARY KEY (id);
ALTER TABLE volume_glance_metadata ADD CONSTRAINT volume_glance_metadata_pkey PRIMARY KEY (id);
ALTER TABLE volume_metadata ADD CONSTRAINT volume_metadata_pkey PRIMARY KEY (id);
ALTER TABLE volume_type_extra_specs ADD CONSTRAINT volume_type_extra_specs_pkey PRIMARY KEY (id);
ALTER TABLE volume_type_projects ADD CONSTRAINT volume_type_projects_pkey PRIMARY KEY (id);
ALTER TABLE volume_type_projects ADD CONSTRAINT volume_type_projects_volume_type_id_project_id_deleted_key UNIQUE (volume_type_id, project_id, deleted);
ALTER TABLE volume_types ADD CONSTRAINT volume_types_pkey PRIMARY KEY (id);
ALTER TABLE volumes ADD CONSTRAINT volumes_pkey PRIMARY KEY (id);
ALTER TABLE workers ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE workers ADD CONSTRAINT workers_resource_type_resource_id_key UNIQUE (resource_type, resource_id);

CREATE INDEX ix_attachment_specs_attachment_id ON attachment_specs USING btree (attachment_id);
CREATE INDEX ix_backup_metadata_backup_id ON backup_metadata USING btree (backup_id);
CREATE INDEX ix_cgsnapshots_consistencygroup_id ON cgsnapshots USING btree (consistencygroup_id);
CREATE INDEX ix_default_volume_types_volume_type_id ON default_volume_types USING btree (volume_type_id);
CREATE INDEX ix_driver_initiator_data_initiator ON driver_initiator_data USING btree (initiator);
CREATE INDEX ix_group_snapshots_group_id ON group_snapshots USING btree (group_id);
CREATE INDEX ix_group_type_specs_group_type_id ON group_type_specs USING btree (group_type_id);
CREATE INDEX ix_group_volume_type_mapping_group_id ON group_volume_type_mapping USING btree (group_id);
CREATE INDEX ix_group_volume_type_mapping_volume_type_id ON group_volume_type_mapping USING btree (volume_type_id);
CREATE INDEX ix_image_volume_cache_entries_host ON image_volume_cache_entries USING btree (host);
CREATE INDEX ix_image_volume_cache_entries_image_id ON image_volume_cache_entries USING btree (image_id);
CREATE INDEX ix_messages_expires_at ON messages USING btree (expires_at);
CREATE INDEX ix_quality_of_service_specs_specs_id ON quality_of_service_specs USING btree (specs_id);
CREATE INDEX ix_quota_classes_class_name ON quota_classes USING btree (class_name);
CREATE INDEX ix_quota_usages_project_id ON quota_usages USING btree (project_id);
CREATE INDEX ix_reservations_allocated_id ON reservations USING btree (allocated_id);
CREATE INDEX ix_reservations_project_id ON reservations USING btree (project_id);
CREATE INDEX ix_reservations_usage_id ON reservations USING btree (usage_id);
CREATE INDEX ix_snapshot_metadata_snapshot_id ON snapshot_metadata USING btree (snapshot_id);
CREATE INDEX ix_snapshots_cgsnapshot_id ON snapshots USING btree (cgsnapshot_id);
CREATE INDEX ix_snapshots_group_snapshot_id ON snapshots USING btree (group_snapshot_id);
CREATE INDEX ix_snapshots_volume_id ON snapshots USING btree (volume_id);
CREATE INDEX ix_transfers_volume_id ON transfers USING btree (volume_id);
CREATE INDEX ix_volume_admin_metadata_volume_id ON volume_admin_metadata USING btree (volume_id);
CREATE INDEX ix_volume_attachment_volume_id ON volume_attachment USING btree (volume_id);
CREATE INDEX ix_volume_glance_metadata_snapshot_id ON volume_glance_metadata USING btree (snapshot_id);
CREATE INDEX ix_volume_glance_metadata_volume_id ON volume_glance_metadata USING btree (volume_id);
CREATE INDEX ix_volume_metadata_volume_id ON volume_metadata USING btree (volume_id);
CREATE INDEX ix_volume_type_extra_specs_volume_type_id ON volume_type_extra_specs USING btree (volume_type_id);
CREATE INDEX ix_volume_types_qos_specs_id ON volume_types USING btree (qos_specs_id);
CREATE INDEX ix_volumes_consistencygroup_id ON volumes USING btree (consistencygroup_id);
CREATE INDEX ix_volumes_group_id ON volumes USING btree (group_id);
CREATE INDEX ix_workers_service_id ON workers USING btree (service_id);
CREATE INDEX quota_usage_project_resource_idx ON quota_usages USING btree (project_id, resource);
CREATE INDEX reservations_deleted_expire_idx ON reservations USING btree (deleted, expire);
CREATE INDEX reservations_deleted_uuid_idx ON reservations USING btree (deleted, uuid);
CREATE UNIQUE INDEX services_uuid_idx ON services USING btree (uuid);
CREATE INDEX volumes_service_uuid_idx ON volumes USING btree (service_uuid, deleted);

ALTER TABLE attachment_specs ADD CONSTRAINT attachment_specs_attachment_id_fkey FOREIGN KEY (attachment_id) REFERENCES volume_attachment(id);
ALTER TABLE backup_metadata ADD CONSTRAINT backup_metadata_backup_id_fkey FOREIGN KEY (backup_id) REFERENCES backups(id);
ALTER TABLE cgsnapshots ADD CONSTRAINT cgsnapshots_consistencygroup_id_fkey FOREIGN KEY (consistencygroup_id) REFERENCES consistencygroups(id);
ALTER TABLE default_volume_types ADD CONSTRAINT default_volume_types_volume_type_id_fkey FOREIGN KEY (volume_type_id) REFERENCES volume_types(id);
ALTER TABLE group_snapshots ADD CONSTRAINT group_snapshots_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id);
ALTER TABLE group_type_projects ADD CONSTRAINT group_type_projects_group_type_id_fkey FOREIGN KEY (group_type_id) REFERENCES group_types(id);
ALTER TABLE group_type_specs ADD CONSTRAINT group_type_specs_group_type_id_fkey FOREIGN KEY (group_type_id) REFERENCES group_types(id);
ALTER TABLE group_volume_type_mapping ADD CONSTRAINT group_volume_type_mapping_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id);
ALTER TABLE group_volume_type_mapping ADD CONSTRAINT group_volume_type_mapping_volume_type_id_fkey FOREIGN KEY (volume_type_id) REFERENCES volume_types(id);
ALTER TABLE quality_of_service_specs ADD CONSTRAINT quality_of_service_specs_specs_id_fkey FOREIGN KEY (specs_id) REFERENCES quality_of_service_specs(id);
ALTER TABLE reservations ADD CONSTRAINT reservations_allocated_id_fkey FOREIGN KEY (allocated_id) REFERENCES quotas(id);
ALTER TABLE reservations ADD CONSTRAINT reservations_usage_id_fkey FOREIGN KEY (usage_id) REFERENCES quota_usages(id);
ALTER TABLE snapshot_metadata ADD CONSTRAINT snapshot_metadata_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES snapshots(id);
ALTER TABLE snapshots ADD CONSTRAINT snapshots_cgsnapshot_id_fkey FOREIGN KEY (cgsnapshot_id) REFERENCES cgsnapshots(id);
ALTER TABLE snapshots ADD CONSTRAINT snapshots_group_snapshot_id_fkey FOREIGN KEY (group_snapshot_id) REFERENCES group_snapshots(id);
ALTER TABLE snapshots ADD CONSTRAINT snapshots_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE transfers ADD CONSTRAINT transfers_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE volume_admin_metadata ADD CONSTRAINT volume_admin_metadata_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE volume_attachment ADD CONSTRAINT volume_attachment_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE volume_glance_metadata ADD CONSTRAINT volume_glance_metadata_snapshot_id_fkey FOREIGN KEY (snapshot_id) REFERENCES snapshots(id);
ALTER TABLE volume_glance_metadata ADD CONSTRAINT volume_glance_metadata_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE volume_metadata ADD CONSTRAINT volume_metadata_volume_id_fkey FOREIGN KEY (volume_id) REFERENCES volumes(id);
ALTER TABLE volume_type_extra_specs ADD CONSTRAINT volume_type_extra_specs_ibfk_1 FOREIGN KEY (volume_type_id) REFERENCES volume_types(id);
ALTER TABLE volume_type_projects ADD CONSTRAINT volume_type_projects_volume_type_id_fkey FOREIGN KEY (volume_type_id) REFERENCES volume_types(id);
ALTER TABLE volume_types ADD CONSTRAINT volume_types_qos_specs_id_fkey FOREIGN KEY (qos_specs_id) REFERENCES quality_of_service_specs(id);
ALTER TABLE volumes ADD CONSTRAINT volumes_consistencygroup_id_fkey FOREIGN KEY (consistencygroup_id) REFERENCES consistencygroups(id);
ALTER TABLE volumes ADD CONSTRAINT volumes_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups(id);
ALTER TABLE volumes ADD CONSTRAINT volumes_service_uuid_fkey FOREIGN KEY (service_uuid) REFERENCES services(uuid);
ALTER TABLE workers ADD CONSTRAINT workers_service_id_fkey FOREIGN KEY (service_id) REFERENCES services(id);
