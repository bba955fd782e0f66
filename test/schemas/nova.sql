-- OpenStack Nova 26.2.2, virtual machines (SQLAlchemy, alembic): the database of a cell
-- Source: https://github.com/openstack/nova
-- Copyright (c) 2010-2011, United States Government as represented by the Administrator of NASA
-- Copyright (c) 2010-2016, OpenStack Foundation, and the other authors of Nova
-- Licence: Apache-2.0, see licenses/Apache-2.0
-- Changed: taken from the database that the project's own migrations make. Owned sequences are
-- written as serial, without owners. No table is left out.

CREATE TYPE public.instances0locked_by AS ENUM (
    'owner',
    'admin'
);

CREATE TYPE public.keypair_types AS ENUM (
    'ssh',
    'x509'
);

CREATE TYPE public.migration_type AS ENUM (
    'migration',
    'resize',
    'live-migration',
    'evacuation'
);

CREATE TYPE public.shadow_instances0locked_by AS ENUM (
    'owner',
    'admin'
);

CREATE TABLE agent_builds (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    hypervisor character varying(255),
    os character varying(255),
    architecture character varying(255),
    version character varying(255),
    url character varying(255),
    md5hash character varying(255),
    deleted integer
);

CREATE TABLE aggregate_hosts (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    host character varying(255),
    aggregate_id integer NOT NULL,
    deleted integer
);

CREATE TABLE aggregate_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    aggregate_id integer NOT NULL,
    key character varying(255) NOT NULL,
    value character varying(255) NOT NULL,
    deleted integer
);

CREATE TABLE aggregates (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255),
    deleted integer,
    uuid character varying(36)
);

CREATE TABLE alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE allocations (
    id serial,
    resource_provider_id integer NOT NULL,
    consumer_id character varying(36) NOT NULL,
    resource_class_id integer NOT NULL,
    used integer NOT NULL
);

CREATE TABLE block_device_mapping (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    device_name character varying(255),
    delete_on_termination boolean,
    snapshot_id character varying(36),
    volume_id character varying(36),
    volume_size integer,
    no_device boolean,
    connection_info text,
    instance_uuid character varying(36),
    deleted integer,
    source_type character varying(255),
    destination_type character varying(255),
    guest_format character varying(255),
    device_type character varying(255),
    disk_bus character varying(255),
    boot_index integer,
    image_id character varying(36),
    tag character varying(255),
    attachment_id character varying(36),
    uuid character varying(36),
    volume_type character varying(255),
    encrypted boolean,
    encryption_secret_uuid character varying(36),
    encryption_format character varying(128),
    encryption_options character varying(4096)
);

CREATE TABLE bw_usage_cache (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    start_period timestamp without time zone NOT NULL,
    last_refreshed timestamp without time zone,
    bw_in bigint,
    bw_out bigint,
    mac character varying(255),
    uuid character varying(36),
    last_ctr_in bigint,
    last_ctr_out bigint,
    deleted integer
);

CREATE TABLE cells (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    api_url character varying(255),
    weight_offset double precision,
    weight_scale double precision,
    name character varying(255),
    is_parent boolean,
    deleted integer,
    transport_url character varying(255) NOT NULL
);

CREATE TABLE certificates (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    user_id character varying(255),
    project_id character varying(255),
    file_name character varying(255),
    deleted integer
);

CREATE TABLE compute_nodes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    service_id integer,
    vcpus integer NOT NULL,
    memory_mb integer NOT NULL,
    local_gb integer NOT NULL,
    vcpus_used integer NOT NULL,
    memory_mb_used integer NOT NULL,
    local_gb_used integer NOT NULL,
    hypervisor_type text NOT NULL,
    hypervisor_version integer NOT NULL,
    cpu_info text NOT NULL,
    disk_available_least integer,
    free_ram_mb integer,
    free_disk_gb integer,
    current_workload integer,
    running_vms integer,
    hypervisor_hostname character varying(255),
    deleted integer,
    host_ip inet,
    supported_instances text,
    pci_stats text,
    metrics text,
    extra_resources text,
    stats text,
    numa_topology text,
    host character varying(255),
    ram_allocation_ratio double precision,
    cpu_allocation_ratio double precision,
    uuid character varying(36),
    disk_allocation_ratio double precision,
    mapped integer
);

CREATE TABLE console_auth_tokens (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    id serial,
    token_hash character varying(255) NOT NULL,
    console_type character varying(255) NOT NULL,
    host character varying(255) NOT NULL,
    port integer NOT NULL,
    internal_access_path character varying(255),
    instance_uuid character varying(36) NOT NULL,
    expires integer NOT NULL,
    access_url_base character varying(255)
);

CREATE TABLE console_pools (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    username character varying(255),
    password character varying(255),
    console_type character varying(255),
    public_hostname character varying(255),
    host character varying(255),
    compute_host character varying(255),
    deleted integer
);

CREATE TABLE consoles (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_name character varying(255),
    password character varying(255),
    port integer,
    pool_id integer,
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE dns_domains (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    domain character varying(255) NOT NULL,
    scope character varying(255),
    availability_zone character varying(255),
    project_id character varying(255)
);

CREATE TABLE fixed_ips (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    network_id integer,
    allocated boolean,
    leased boolean,
    reserved boolean,
    virtual_interface_id integer,
    host character varying(255),
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE floating_ips (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    fixed_ip_id integer,
    project_id character varying(255),
    host character varying(255),
    auto_assigned boolean,
    pool character varying(255),
    interface character varying(255),
    deleted integer
);

CREATE TABLE instance_actions (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    action character varying(255),
    instance_uuid character varying(36),
    request_id character varying(255),
    user_id character varying(255),
    project_id character varying(255),
    start_time timestamp without time zone,
    finish_time timestamp without time zone,
    message character varying(255),
    deleted integer
);

CREATE TABLE instance_actions_events (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    event character varying(255),
    action_id integer,
    start_time timestamp without time zone,
    finish_time timestamp without time zone,
    result character varying(255),
    traceback text,
    deleted integer,
    host character varying(255),
    details text
);

CREATE TABLE instance_extra (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    instance_uuid character varying(36) NOT NULL,
    numa_topology text,
    pci_requests text,
    flavor text,
    vcpu_model text,
    migration_context text,
    keypairs text,
    device_metadata text,
    trusted_certs text,
    vpmems text,
    resources text
);

CREATE TABLE instance_faults (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_uuid character varying(36),
    code integer NOT NULL,
    message character varying(255),
    details text,
    host character varying(255),
    deleted integer
);

CREATE TABLE instance_group_member (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    instance_id character varying(255),
    group_id integer NOT NULL
);

CREATE TABLE instance_group_policy (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    policy character varying(255),
    group_id integer NOT NULL
);

CREATE TABLE instance_groups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    user_id character varying(255),
    project_id character varying(255),
    uuid character varying(36) NOT NULL,
    name character varying(255)
);

CREATE TABLE instance_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE instance_info_caches (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    network_info text,
    instance_uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE instance_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    key character varying(255),
    value character varying(255),
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE instance_system_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_uuid character varying(36) NOT NULL,
    key character varying(255) NOT NULL,
    value character varying(255),
    deleted integer
);

CREATE TABLE instance_type_extra_specs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_type_id integer NOT NULL,
    key character varying(255),
    value character varying(255),
    deleted integer
);

CREATE TABLE instance_type_projects (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_type_id integer NOT NULL,
    project_id character varying(255),
    deleted integer
);

CREATE TABLE instance_types (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    name character varying(255),
    id serial,
    memory_mb integer NOT NULL,
    vcpus integer NOT NULL,
    swap integer NOT NULL,
    vcpu_weight integer,
    flavorid character varying(255),
    rxtx_factor double precision,
    root_gb integer,
    ephemeral_gb integer,
    disabled boolean,
    is_public boolean,
    deleted integer
);

CREATE TABLE instances (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    internal_id integer,
    user_id character varying(255),
    project_id character varying(255),
    image_ref character varying(255),
    kernel_id character varying(255),
    ramdisk_id character varying(255),
    launch_index integer,
    key_name character varying(255),
    key_data text,
    power_state integer,
    vm_state character varying(255),
    memory_mb integer,
    vcpus integer,
    hostname character varying(255),
    host character varying(255),
    user_data text,
    reservation_id character varying(255),
    launched_at timestamp without time zone,
    terminated_at timestamp without time zone,
    display_name character varying(255),
    display_description character varying(255),
    availability_zone character varying(255),
    locked boolean,
    os_type character varying(255),
    launched_on text,
    instance_type_id integer,
    vm_mode character varying(255),
    uuid character varying(36) NOT NULL,
    architecture character varying(255),
    root_device_name character varying(255),
    access_ip_v4 inet,
    access_ip_v6 inet,
    config_drive character varying(255),
    task_state character varying(255),
    default_ephemeral_device character varying(255),
    default_swap_device character varying(255),
    progress integer,
    auto_disk_config boolean,
    shutdown_terminate boolean,
    disable_terminate boolean,
    root_gb integer,
    ephemeral_gb integer,
    cell_name character varying(255),
    node character varying(255),
    deleted integer,
    locked_by instances0locked_by,
    cleaned integer,
    ephemeral_key_uuid character varying(36),
    hidden boolean
);

CREATE TABLE inventories (
    id serial,
    resource_provider_id integer NOT NULL,
    resource_class_id integer NOT NULL,
    total integer NOT NULL,
    reserved integer NOT NULL,
    min_unit integer NOT NULL,
    max_unit integer NOT NULL,
    step_size integer NOT NULL,
    allocation_ratio double precision NOT NULL
);

CREATE TABLE key_pairs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255) NOT NULL,
    user_id character varying(255),
    fingerprint character varying(255),
    public_key text,
    deleted integer,
    type keypair_types DEFAULT 'ssh'::keypair_types NOT NULL
);

CREATE TABLE migrations (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    source_compute character varying(255),
    dest_compute character varying(255),
    dest_host character varying(255),
    status character varying(255),
    instance_uuid character varying(36),
    old_instance_type_id integer,
    new_instance_type_id integer,
    source_node character varying(255),
    dest_node character varying(255),
    deleted integer,
    migration_type migration_type,
    hidden boolean,
    memory_total bigint,
    memory_processed bigint,
    memory_remaining bigint,
    disk_total bigint,
    disk_processed bigint,
    disk_remaining bigint,
    uuid character varying(36),
    cross_cell_move boolean,
    user_id character varying(255),
    project_id character varying(255)
);

CREATE TABLE networks (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    injected boolean,
    cidr inet,
    netmask inet,
    bridge character varying(255),
    gateway inet,
    broadcast inet,
    dns1 inet,
    vlan integer,
    vpn_public_address inet,
    vpn_public_port integer,
    vpn_private_address inet,
    dhcp_start inet,
    project_id character varying(255),
    host character varying(255),
    cidr_v6 inet,
    gateway_v6 inet,
    label character varying(255),
    netmask_v6 inet,
    bridge_interface character varying(255),
    multi_host boolean,
    dns2 inet,
    uuid character varying(36),
    priority integer,
    rxtx_base integer,
    deleted integer,
    mtu integer,
    dhcp_server inet,
    enable_dhcp boolean,
    share_address boolean
);

CREATE TABLE pci_devices (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    compute_node_id integer NOT NULL,
    address character varying(12) NOT NULL,
    product_id character varying(4) NOT NULL,
    vendor_id character varying(4) NOT NULL,
    dev_type character varying(8) NOT NULL,
    dev_id character varying(255),
    label character varying(255) NOT NULL,
    status character varying(36) NOT NULL,
    extra_info text,
    instance_uuid character varying(36),
    request_id character varying(36),
    numa_node integer,
    parent_addr character varying(12),
    uuid character varying(36)
);

CREATE TABLE project_user_quotas (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    user_id character varying(255) NOT NULL,
    project_id character varying(255) NOT NULL,
    resource character varying(255) NOT NULL,
    hard_limit integer
);

CREATE TABLE provider_fw_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    protocol character varying(5),
    from_port integer,
    to_port integer,
    cidr inet,
    deleted integer
);

CREATE TABLE quota_classes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    class_name character varying(255),
    resource character varying(255),
    hard_limit integer,
    deleted integer
);

CREATE TABLE quota_usages (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    project_id character varying(255),
    resource character varying(255) NOT NULL,
    in_use integer NOT NULL,
    reserved integer NOT NULL,
    until_refresh integer,
    deleted integer,
    user_id character varying(255)
);

CREATE TABLE quotas (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    project_id character varying(255),
    resource character varying(255) NOT NULL,
    hard_limit integer,
    deleted integer
);

CREATE TABLE reservations (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    usage_id integer NOT NULL,
    project_id character varying(255),
    resource character varying(255),
    delta integer NOT NULL,
    expire timestamp without time zone,
    deleted integer,
    user_id character varying(255)
);

CREATE TABLE resource_provider_aggregates (
    resource_provider_id integer NOT NULL,
    aggregate_id integer NOT NULL
);

CREATE TABLE resource_providers (
    id serial,
    uuid character varying(36) NOT NULL,
    name character varying(200),
    generation integer,
    can_host integer
);

CREATE TABLE s3_images (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE security_group_default_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    protocol character varying(5),
    from_port integer,
    to_port integer,
    cidr inet
);

CREATE TABLE security_group_instance_association (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    security_group_id integer,
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE security_group_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    parent_group_id integer,
    protocol character varying(255),
    from_port integer,
    to_port integer,
    cidr inet,
    group_id integer,
    deleted integer
);

CREATE TABLE security_groups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255),
    description character varying(255),
    user_id character varying(255),
    project_id character varying(255),
    deleted integer
);

CREATE TABLE services (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    host character varying(255),
    "binary" character varying(255),
    topic character varying(255),
    report_count integer NOT NULL,
    disabled boolean,
    deleted integer,
    disabled_reason character varying(255),
    last_seen_up timestamp without time zone,
    forced_down boolean,
    version integer,
    uuid character varying(36)
);

CREATE TABLE shadow_agent_builds (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    hypervisor character varying(255),
    os character varying(255),
    architecture character varying(255),
    version character varying(255),
    url character varying(255),
    md5hash character varying(255),
    deleted integer
);

CREATE TABLE shadow_aggregate_hosts (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    host character varying(255),
    aggregate_id integer NOT NULL,
    deleted integer
);

CREATE TABLE shadow_aggregate_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    aggregate_id integer NOT NULL,
    key character varying(255) NOT NULL,
    value character varying(255) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_aggregates (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255),
    deleted integer,
    uuid character varying(36)
);

CREATE TABLE shadow_alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE shadow_block_device_mapping (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    device_name character varying(255),
    delete_on_termination boolean,
    snapshot_id character varying(36),
    volume_id character varying(36),
    volume_size integer,
    no_device boolean,
    connection_info text,
    instance_uuid character varying(36),
    deleted integer,
    source_type character varying(255),
    destination_type character varying(255),
    guest_format character varying(255),
    device_type character varying(255),
    disk_bus character varying(255),
    boot_index integer,
    image_id character varying(36),
    tag character varying(255),
    attachment_id character varying(36),
    uuid character varying(36),
    volume_type character varying(255),
    encrypted boolean,
    encryption_secret_uuid character varying(36),
    encryption_format character varying(128),
    encryption_options character varying(4096)
);

CREATE TABLE shadow_bw_usage_cache (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    start_period timestamp without time zone NOT NULL,
    last_refreshed timestamp without time zone,
    bw_in bigint,
    bw_out bigint,
    mac character varying(255),
    uuid character varying(36),
    last_ctr_in bigint,
    last_ctr_out bigint,
    deleted integer
);

CREATE TABLE shadow_cells (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    api_url character varying(255),
    weight_offset double precision,
    weight_scale double precision,
    name character varying(255),
    is_parent boolean,
    deleted integer,
    transport_url character varying(255) NOT NULL
);

CREATE TABLE shadow_certificates (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    user_id character varying(255),
    project_id character varying(255),
    file_name character varying(255),
    deleted integer
);

CREATE TABLE shadow_compute_nodes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    service_id integer,
    vcpus integer NOT NULL,
    memory_mb integer NOT NULL,
    local_gb integer NOT NULL,
    vcpus_used integer NOT NULL,
    memory_mb_used integer NOT NULL,
    local_gb_used integer NOT NULL,
    hypervisor_type text NOT NULL,
    hypervisor_version integer NOT NULL,
    cpu_info text NOT NULL,
    disk_available_least integer,
    free_ram_mb integer,
    free_disk_gb integer,
    current_workload integer,
    running_vms integer,
    hypervisor_hostname character varying(255),
    deleted integer,
    host_ip inet,
    supported_instances text,
    pci_stats text,
    metrics text,
    extra_resources text,
    stats text,
    numa_topology text,
    host character varying(255),
    ram_allocation_ratio double precision,
    cpu_allocation_ratio double precision,
    uuid character varying(36),
    disk_allocation_ratio double precision,
    mapped integer
);

CREATE TABLE shadow_console_pools (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    username character varying(255),
    password character varying(255),
    console_type character varying(255),
    public_hostname character varying(255),
    host character varying(255),
    compute_host character varying(255),
    deleted integer
);

CREATE TABLE shadow_consoles (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_name character varying(255),
    password character varying(255),
    port integer,
    pool_id integer,
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE shadow_dns_domains (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted boolean,
    domain character varying(255) NOT NULL,
    scope character varying(255),
    availability_zone character varying(255),
    project_id character varying(255)
);

CREATE TABLE shadow_fixed_ips (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    network_id integer,
    allocated boolean,
    leased boolean,
    reserved boolean,
    virtual_interface_id integer,
    host character varying(255),
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE shadow_floating_ips (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address inet,
    fixed_ip_id integer,
    project_id character varying(255),
    host character varying(255),
    auto_assigned boolean,
    pool character varying(255),
    interface character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_actions (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    action character varying(255),
    instance_uuid character varying(36),
    request_id character varying(255),
    user_id character varying(255),
    project_id character varying(255),
    start_time timestamp without time zone,
    finish_time timestamp without time zone,
    message character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_actions_events (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    event character varying(255),
    action_id integer,
    start_time timestamp without time zone,
    finish_time timestamp without time zone,
    result character varying(255),
    traceback text,
    deleted integer,
    host character varying(255),
    details text
);

CREATE TABLE shadow_instance_extra (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    instance_uuid character varying(36) NOT NULL,
    numa_topology text,
    pci_requests text,
    flavor text,
    vcpu_model text,
    migration_context text,
    keypairs text,
    device_metadata text,
    trusted_certs text,
    vpmems text,
    resources text
);

CREATE TABLE shadow_instance_faults (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_uuid character varying(36),
    code integer NOT NULL,
    message character varying(255),
    details text,
    host character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_group_member (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    instance_id character varying(255),
    group_id integer NOT NULL
);

CREATE TABLE shadow_instance_group_policy (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    policy character varying(255),
    group_id integer NOT NULL
);

CREATE TABLE shadow_instance_groups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    user_id character varying(255),
    project_id character varying(255),
    uuid character varying(36) NOT NULL,
    name character varying(255)
);

CREATE TABLE shadow_instance_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_instance_info_caches (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    network_info text,
    instance_uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_instance_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    key character varying(255),
    value character varying(255),
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE shadow_instance_system_metadata (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_uuid character varying(36) NOT NULL,
    key character varying(255) NOT NULL,
    value character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_type_extra_specs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_type_id integer NOT NULL,
    key character varying(255),
    value character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_type_projects (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    instance_type_id integer NOT NULL,
    project_id character varying(255),
    deleted integer
);

CREATE TABLE shadow_instance_types (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    name character varying(255),
    id serial,
    memory_mb integer NOT NULL,
    vcpus integer NOT NULL,
    swap integer NOT NULL,
    vcpu_weight integer,
    flavorid character varying(255),
    rxtx_factor double precision,
    root_gb integer,
    ephemeral_gb integer,
    disabled boolean,
    is_public boolean,
    deleted integer
);

CREATE TABLE shadow_instances (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    internal_id integer,
    user_id character varying(255),
    project_id character varying(255),
    image_ref character varying(255),
    kernel_id character varying(255),
    ramdisk_id character varying(255),
    launch_index integer,
    key_name character varying(255),
    key_data text,
    power_state integer,
    vm_state character varying(255),
    memory_mb integer,
    vcpus integer,
    hostname character varying(255),
    host character varying(255),
    user_data text,
    reservation_id character varying(255),
    launched_at timestamp without time zone,
    terminated_at timestamp without time zone,
    display_name character varying(255),
    display_description character varying(255),
    availability_zone character varying(255),
    locked boolean,
    os_type character varying(255),
    launched_on text,
    instance_type_id integer,
    vm_mode character varying(255),
    uuid character varying(36) NOT NULL,
    architecture character varying(255),
    root_device_name character varying(255),
    access_ip_v4 inet,
    access_ip_v6 inet,
    config_drive character varying(255),
    task_state character varying(255),
    default_ephemeral_device character varying(255),
    default_swap_device character varying(255),
    progress integer,
    auto_disk_config boolean,
    shutdown_terminate boolean,
    disable_terminate boolean,
    root_gb integer,
    ephemeral_gb integer,
    cell_name character varying(255),
    node character varying(255),
    deleted integer,
    locked_by shadow_instances0locked_by,
    cleaned integer,
    ephemeral_key_uuid character varying(36),
    hidden boolean
);

CREATE TABLE shadow_key_pairs (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255),
    user_id character varying(255),
    fingerprint character varying(255),
    public_key text,
    deleted integer,
    type keypair_types DEFAULT 'ssh'::keypair_types NOT NULL
);

CREATE TABLE shadow_migrations (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    source_compute character varying(255),
    dest_compute character varying(255),
    dest_host character varying(255),
    status character varying(255),
    instance_uuid character varying(36),
    old_instance_type_id integer,
    new_instance_type_id integer,
    source_node character varying(255),
    dest_node character varying(255),
    deleted integer,
    migration_type migration_type,
    hidden boolean,
    memory_total bigint,
    memory_processed bigint,
    memory_remaining bigint,
    disk_total bigint,
    disk_processed bigint,
    disk_remaining bigint,
    uuid character varying(36),
    cross_cell_move boolean,
    user_id character varying(255),
    project_id character varying(255)
);

CREATE TABLE shadow_networks (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    injected boolean,
    cidr inet,
    netmask inet,
    bridge character varying(255),
    gateway inet,
    broadcast inet,
    dns1 inet,
    vlan integer,
    vpn_public_address inet,
    vpn_public_port integer,
    vpn_private_address inet,
    dhcp_start inet,
    project_id character varying(255),
    host character varying(255),
    cidr_v6 inet,
    gateway_v6 inet,
    label character varying(255),
    netmask_v6 inet,
    bridge_interface character varying(255),
    multi_host boolean,
    dns2 inet,
    uuid character varying(36),
    priority integer,
    rxtx_base integer,
    deleted integer,
    mtu integer,
    dhcp_server inet,
    enable_dhcp boolean,
    share_address boolean
);

CREATE TABLE shadow_pci_devices (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer NOT NULL,
    id serial,
    compute_node_id integer NOT NULL,
    address character varying(12) NOT NULL,
    product_id character varying(4),
    vendor_id character varying(4),
    dev_type character varying(8),
    dev_id character varying(255),
    label character varying(255) NOT NULL,
    status character varying(36) NOT NULL,
    extra_info text,
    instance_uuid character varying(36),
    request_id character varying(36),
    numa_node integer,
    parent_addr character varying(12),
    uuid character varying(36)
);

CREATE TABLE shadow_project_user_quotas (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    user_id character varying(255) NOT NULL,
    project_id character varying(255) NOT NULL,
    resource character varying(255) NOT NULL,
    hard_limit integer
);

CREATE TABLE shadow_provider_fw_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    protocol character varying(5),
    from_port integer,
    to_port integer,
    cidr inet,
    deleted integer
);

CREATE TABLE shadow_quota_classes (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    class_name character varying(255),
    resource character varying(255),
    hard_limit integer,
    deleted integer
);

CREATE TABLE shadow_quota_usages (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    project_id character varying(255),
    resource character varying(255) NOT NULL,
    in_use integer NOT NULL,
    reserved integer NOT NULL,
    until_refresh integer,
    deleted integer,
    user_id character varying(255)
);

CREATE TABLE shadow_quotas (
    id serial,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    project_id character varying(255),
    resource character varying(255) NOT NULL,
    hard_limit integer,
    deleted integer
);

CREATE TABLE shadow_reservations (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    usage_id integer NOT NULL,
    project_id character varying(255),
    resource character varying(255),
    delta integer NOT NULL,
    expire timestamp without time zone,
    deleted integer,
    user_id character varying(255)
);

CREATE TABLE shadow_s3_images (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_security_group_default_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    deleted integer,
    id serial,
    protocol character varying(5),
    from_port integer,
    to_port integer,
    cidr inet
);

CREATE TABLE shadow_security_group_instance_association (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    security_group_id integer,
    instance_uuid character varying(36),
    deleted integer
);

CREATE TABLE shadow_security_group_rules (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    parent_group_id integer,
    protocol character varying(255),
    from_port integer,
    to_port integer,
    cidr inet,
    group_id integer,
    deleted integer
);

CREATE TABLE shadow_security_groups (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    name character varying(255),
    description character varying(255),
    user_id character varying(255),
    project_id character varying(255),
    deleted integer
);

CREATE TABLE shadow_services (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    host character varying(255),
    "binary" character varying(255),
    topic character varying(255),
    report_count integer NOT NULL,
    disabled boolean,
    deleted integer,
    disabled_reason character varying(255),
    last_seen_up timestamp without time zone,
    forced_down boolean,
    version integer,
    uuid character varying(36)
);

CREATE TABLE shadow_snapshot_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_snapshots (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
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
    deleted character varying(36)
);

CREATE TABLE shadow_task_log (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    task_name character varying(255) NOT NULL,
    state character varying(255) NOT NULL,
    host character varying(255) NOT NULL,
    period_beginning timestamp without time zone NOT NULL,
    period_ending timestamp without time zone NOT NULL,
    message character varying(255) NOT NULL,
    task_items integer,
    errors integer,
    deleted integer
);

CREATE TABLE shadow_virtual_interfaces (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address character varying(255),
    network_id integer,
    uuid character varying(36),
    instance_uuid character varying(36),
    deleted integer,
    tag character varying(255)
);

CREATE TABLE shadow_volume_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE shadow_volume_usage_cache (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    volume_id character varying(36) NOT NULL,
    tot_last_refreshed timestamp without time zone,
    tot_reads bigint,
    tot_read_bytes bigint,
    tot_writes bigint,
    tot_write_bytes bigint,
    curr_last_refreshed timestamp without time zone,
    curr_reads bigint,
    curr_read_bytes bigint,
    curr_writes bigint,
    curr_write_bytes bigint,
    deleted integer,
    instance_uuid character varying(36),
    project_id character varying(36),
    user_id character varying(64),
    availability_zone character varying(255)
);

CREATE TABLE snapshot_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE snapshots (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
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
    deleted character varying(36)
);

CREATE TABLE tags (
    resource_id character varying(36) NOT NULL,
    tag character varying(80) NOT NULL
);

CREATE TABLE task_log (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    task_name character varying(255) NOT NULL,
    state character varying(255) NOT NULL,
    host character varying(255) NOT NULL,
    period_beginning timestamp without time zone NOT NULL,
    period_ending timestamp without time zone NOT NULL,
    message character varying(255) NOT NULL,
    task_items integer,
    errors integer,
    deleted integer
);

CREATE TABLE virtual_interfaces (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    address character varying(255),
    network_id integer,
    uuid character varying(36),
    instance_uuid character varying(36),
    deleted integer,
    tag character varying(255)
);

CREATE TABLE volume_id_mappings (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    uuid character varying(36) NOT NULL,
    deleted integer
);

CREATE TABLE volume_usage_cache (
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    deleted_at timestamp without time zone,
    id serial,
    volume_id character varying(36) NOT NULL,
    tot_last_refreshed timestamp without time zone,
    tot_reads bigint,
    tot_read_bytes bigint,
    tot_writes bigint,
    tot_write_bytes bigint,
    curr_last_refreshed timestamp without time zone,
    curr_reads bigint,
    curr_read_bytes bigint,
    curr_writes bigint,
    curr_write_bytes bigint,
    deleted integer,
    instance_uuid character varying(36),
    project_id character varying(36),
    user_id character varying(64),
    availability_zone character varying(255)
);

ALTER TABLE agent_builds ADD CONSTRAINT agent_builds_pkey PRIMARY KEY (id);
ALTER TABLE aggregate_hosts ADD CONSTRAINT aggregate_hosts_pkey PRIMARY KEY (id);
ALTER TABLE aggregate_metadata ADD CONSTRAINT aggregate_metadata_pkey PRIMARY KEY (id);
ALTER TABLE aggregates ADD CONSTRAINT aggregates_pkey PRIMARY KEY (id);
ALTER TABLE alembic_version ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE allocations ADD CONSTRAINT allocations_pkey PRIMARY KEY (id);
ALTER TABLE block_device_mapping ADD CONSTRAINT block_device_mapping_pkey PRIMARY KEY (id);
ALTER TABLE bw_usage_cache ADD CONSTRAINT bw_usage_cache_pkey PRIMARY KEY (id);
ALTER TABLE cells ADD CONSTRAINT cells_pkey PRIMARY KEY (id);
ALTER TABLE certificates ADD CONSTRAINT certificates_pkey PRIMARY KEY (id);
ALTER TABLE compute_nodes ADD CONSTRAINT compute_nodes_pkey PRIMARY KEY (id);
ALTER TABLE console_auth_tokens ADD CONSTRAINT console_auth_tokens_pkey PRIMARY KEY (id);
ALTER TABLE console_pools ADD CONSTRAINT console_pools_pkey PRIMARY KEY (id);
ALTER TABLE consoles ADD CONSTRAINT consoles_pkey PRIMARY KEY (id);
ALTER TABLE dns_domains ADD CONSTRAINT dns_domains_pkey PRIMARY KEY (domain);
ALTER TABLE fixed_ips ADD CONSTRAINT fixed_ips_pkey PRIMARY KEY (id);
ALTER TABLE floating_ips ADD CONSTRAINT floating_ips_pkey PRIMARY KEY (id);
ALTER TABLE instance_actions_events ADD CONSTRAINT instance_actions_events_pkey PRIMARY KEY (id);
ALTER TABLE instance_actions ADD CONSTRAINT instance_actions_pkey PRIMARY KEY (id);
ALTER TABLE instance_extra ADD CONSTRAINT instance_extra_pkey PRIMARY KEY (id);
ALTER TABLE instance_faults ADD CONSTRAINT instance_faults_pkey PRIMARY KEY (id);
ALTER TABLE instance_group_member ADD CONSTRAINT instance_group_member_pkey PRIMARY KEY (id);
ALTER TABLE instance_group_policy ADD CONSTRAINT instance_group_policy_pkey PRIMARY KEY (id);
ALTER TABLE instance_groups ADD CONSTRAINT instance_groups_pkey PRIMARY KEY (id);
ALTER TABLE instance_id_mappings ADD CONSTRAINT instance_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE instance_info_caches ADD CONSTRAINT instance_info_caches_pkey PRIMARY KEY (id);
ALTER TABLE instance_metadata ADD CONSTRAINT instance_metadata_pkey PRIMARY KEY (id);
ALTER TABLE instance_system_metadata ADD CONSTRAINT instance_system_metadata_pkey PRIMARY KEY (id);
ALTER TABLE instance_type_extra_specs ADD CONSTRAINT instance_type_extra_specs_pkey PRIMARY KEY (id);
ALTER TABLE instance_type_projects ADD CONSTRAINT instance_type_projects_pkey PRIMARY KEY (id);
ALTER TABLE instance_types ADD CONSTRAINT instance_types_pkey PRIMARY KEY (id);
ALTER TABLE instances ADD CONSTRAINT instances_pkey PRIMARY KEY (id);
ALTER TABLE inventories ADD CONSTRAINT inventories_pkey PRIMARY KEY (id);
ALTER TABLE key_pairs ADD CONSTRAINT key_pairs_pkey PRIMARY KEY (id);
ALTER TABLE migrations ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);
ALTER TABLE networks ADD CONSTRAINT networks_pkey PRIMARY KEY (id);
ALTER TABLE pci_devices ADD CONSTRAINT pci_devices_pkey PRIMARY KEY (id);
ALTER TABLE project_user_quotas ADD CONSTRAINT project_user_quotas_pkey PRIMARY KEY (id);
ALTER TABLE provider_fw_rules ADD CONSTRAINT provider_fw_rules_pkey PRIMARY KEY (id);
ALTER TABLE quota_classes ADD CONSTRAINT quota_classes_pkey PRIMARY KEY (id);
ALTER TABLE quota_usages ADD CONSTRAINT quota_usages_pkey PRIMARY KEY (id);
ALTER TABLE quotas ADD CONSTRAINT quotas_pkey PRIMARY KEY (id);
ALTER TABLE reservations ADD CONSTRAINT reservations_pkey PRIMARY KEY (id);
ALTER TABLE resource_provider_aggregates ADD CONSTRAINT resource_provider_aggregates_pkey PRIMARY KEY (resource_provider_id, aggregate_id);
ALTER TABLE resource_providers ADD CONSTRAINT resource_providers_pkey PRIMARY KEY (id);
ALTER TABLE s3_images ADD CONSTRAINT s3_images_pkey PRIMARY KEY (id);
ALTER TABLE security_group_default_rules ADD CONSTRAINT security_group_default_rules_pkey PRIMARY KEY (id);
ALTER TABLE security_group_instance_association ADD CONSTRAINT security_group_instance_association_pkey PRIMARY KEY (id);
ALTER TABLE security_group_rules ADD CONSTRAINT security_group_rules_pkey PRIMARY KEY (id);
ALTER TABLE security_groups ADD CONSTRAINT security_groups_pkey PRIMARY KEY (id);
ALTER TABLE services ADD CONSTRAINT services_pkey PRIMARY KEY (id);
ALTER TABLE shadow_agent_builds ADD CONSTRAINT shadow_agent_builds_pkey PRIMARY KEY (id);
ALTER TABLE shadow_aggregate_hosts ADD CONSTRAINT shadow_aggregate_hosts_pkey PRIMARY KEY (id);
ALTER TABLE shadow_aggregate_metadata ADD CONSTRAINT shadow_aggregate_metadata_pkey PRIMARY KEY (id);
ALTER TABLE shadow_aggregates ADD CONSTRAINT shadow_aggregates_pkey PRIMARY KEY (id);
ALTER TABLE shadow_alembic_version ADD CONSTRAINT shadow_alembic_version_pkey PRIMARY KEY (version_num);
ALTER TABLE shadow_block_device_mapping ADD CONSTRAINT shadow_block_device_mapping_pkey PRIMARY KEY (id);
ALTER TABLE shadow_bw_usage_cache ADD CONSTRAINT shadow_bw_usage_cache_pkey PRIMARY KEY (id);
ALTER TABLE shadow_cells ADD CONSTRAINT shadow_cells_pkey PRIMARY KEY (id);
ALTER TABLE shadow_certificates ADD CONSTRAINT shadow_certificates_pkey PRIMARY KEY (id);
ALTER TABLE shadow_compute_nodes ADD CONSTRAINT shadow_compute_nodes_pkey PRIMARY KEY (id);
ALTER TABLE shadow_console_pools ADD CONSTRAINT shadow_console_pools_pkey PRIMARY KEY (id);
ALTER TABLE shadow_consoles ADD CONSTRAINT shadow_consoles_pkey PRIMARY KEY (id);
ALTER TABLE shadow_dns_domains ADD CONSTRAINT shadow_dns_domains_pkey PRIMARY KEY (domain);
ALTER TABLE shadow_fixed_ips ADD CONSTRAINT shadow_fixed_ips_pkey PRIMARY KEY (id);
ALTER TABLE shadow_floating_ips ADD CONSTRAINT shadow_floating_ips_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_actions_events ADD CONSTRAINT shadow_instance_actions_events_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_actions ADD CONSTRAINT shadow_instance_actions_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_extra ADD CONSTRAINT shadow_instance_extra_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_faults ADD CONSTRAINT shadow_instance_faults_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_group_member ADD CONSTRAINT shadow_instance_group_member_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_group_policy ADD CONSTRAINT shadow_instance_group_policy_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_groups ADD CONSTRAINT shadow_instance_groups_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_id_mappings ADD CONSTRAINT shadow_instance_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_info_caches ADD CONSTRAINT shadow_instance_info_caches_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_metadata ADD CONSTRAINT shadow_instance_metadata_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_system_metadata ADD CONSTRAINT shadow_instance_system_metadata_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_type_extra_specs ADD CONSTRAINT shadow_instance_type_extra_specs_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_type_projects ADD CONSTRAINT shadow_instance_type_projects_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instance_types ADD CONSTRAINT shadow_instance_types_pkey PRIMARY KEY (id);
ALTER TABLE shadow_instances ADD CONSTRAINT shadow_instances_pkey PRIMARY KEY (id);
ALTER TABLE shadow_key_pairs ADD CONSTRAINT shadow_key_pairs_pkey PRIMARY KEY (id);
ALTER TABLE shadow_migrations ADD CONSTRAINT shadow_migrations_pkey PRIMARY KEY (id);
ALTER TABLE shadow_networks ADD CONSTRAINT shadow_networks_pkey PRIMARY KEY (id);
ALTER TABLE shadow_pci_devices ADD CONSTRAINT shadow_pci_devices_pkey PRIMARY KEY (id);
ALTER TABLE shadow_project_user_quotas ADD CONSTRAINT shadow_project_user_quotas_pkey PRIMARY KEY (id);
ALTER TABLE shadow_provider_fw_rules ADD CONSTRAINT shadow_provider_fw_rules_pkey PRIMARY KEY (id);
ALTER TABLE shadow_quota_classes ADD CONSTRAINT shadow_quota_classes_pkey PRIMARY KEY (id);
ALTER TABLE shadow_quota_usages ADD CONSTRAINT shadow_quota_usages_pkey PRIMARY KEY (id);
ALTER TABLE shadow_quotas ADD CONSTRAINT shadow_quotas_pkey PRIMARY KEY (id);
ALTER TABLE shadow_reservations ADD CONSTRAINT shadow_reservations_pkey PRIMARY KEY (id);
ALTER TABLE shadow_s3_images ADD CONSTRAINT shadow_s3_images_pkey PRIMARY KEY (id);
ALTER TABLE shadow_security_group_default_rules ADD CONSTRAINT shadow_security_group_default_rules_pkey PRIMARY KEY (id);
ALTER TABLE shadow_security_group_instance_association ADD CONSTRAINT shadow_security_group_instance_association_pkey PRIMARY KEY (id);
ALTER TABLE shadow_security_group_rules ADD CONSTRAINT shadow_security_group_rules_pkey PRIMARY KEY (id);
ALTER TABLE shadow_security_groups ADD CONSTRAINT shadow_security_groups_pkey PRIMARY KEY (id);
ALTER TABLE shadow_services ADD CONSTRAINT shadow_services_pkey PRIMARY KEY (id);
ALTER TABLE shadow_snapshot_id_mappings ADD CONSTRAINT shadow_snapshot_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE shadow_snapshots ADD CONSTRAINT shadow_snapshots_pkey PRIMARY KEY (id);
ALTER TABLE shadow_task_log ADD CONSTRAINT shadow_task_log_pkey PRIMARY KEY (id);
ALTER TABLE shadow_virtual_interfaces ADD CONSTRAINT shadow_virtual_interfaces_pkey PRIMARY KEY (id);
ALTER TABLE shadow_volume_id_mappings ADD CONSTRAINT shadow_volume_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE shadow_volume_usage_cache ADD CONSTRAINT shadow_volume_usage_cache_pkey PRIMARY KEY (id);
ALTER TABLE snapshot_id_mappings ADD CONSTRAINT snapshot_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE snapshots ADD CONSTRAINT snapshots_pkey PRIMARY KEY (id);
ALTER TABLE tags ADD CONSTRAINT tags_pkey PRIMARY KEY (resource_id, tag);
ALTER TABLE task_log ADD CONSTRAINT task_log_pkey PRIMARY KEY (id);
ALTER TABLE agent_builds ADD CONSTRAINT uniq_agent_builds0hypervisor0os0architecture0deleted UNIQUE (hypervisor, os, architecture, deleted);
ALTER TABLE aggregate_hosts ADD CONSTRAINT uniq_aggregate_hosts0host0aggregate_id0deleted UNIQUE (host, aggregate_id, deleted);
ALTER TABLE aggregate_metadata ADD CONSTRAINT uniq_aggregate_metadata0aggregate_id0key0deleted UNIQUE (aggregate_id, key, deleted);
ALTER TABLE block_device_mapping ADD CONSTRAINT uniq_block_device_mapping0uuid UNIQUE (uuid);
ALTER TABLE cells ADD CONSTRAINT uniq_cells0name0deleted UNIQUE (name, deleted);
ALTER TABLE compute_nodes ADD CONSTRAINT uniq_compute_nodes0host0hypervisor_hostname0deleted UNIQUE (host, hypervisor_hostname, deleted);
ALTER TABLE console_auth_tokens ADD CONSTRAINT uniq_console_auth_tokens0token_hash UNIQUE (token_hash);
ALTER TABLE console_pools ADD CONSTRAINT uniq_console_pools0host0console_type0compute_host0deleted UNIQUE (host, console_type, compute_host, deleted);
ALTER TABLE fixed_ips ADD CONSTRAINT uniq_fixed_ips0address0deleted UNIQUE (address, deleted);
ALTER TABLE floating_ips ADD CONSTRAINT uniq_floating_ips0address0deleted UNIQUE (address, deleted);
ALTER TABLE instance_groups ADD CONSTRAINT uniq_instance_groups0uuid0deleted UNIQUE (uuid, deleted);
ALTER TABLE instance_info_caches ADD CONSTRAINT uniq_instance_info_caches0instance_uuid UNIQUE (instance_uuid);
ALTER TABLE instance_type_extra_specs ADD CONSTRAINT uniq_instance_type_extra_specs0instance_type_id0key0deleted UNIQUE (instance_type_id, key, deleted);
ALTER TABLE instance_type_projects ADD CONSTRAINT uniq_instance_type_projects0instance_type_id0project_id0deleted UNIQUE (instance_type_id, project_id, deleted);
ALTER TABLE instance_types ADD CONSTRAINT uniq_instance_types0flavorid0deleted UNIQUE (flavorid, deleted);
ALTER TABLE instance_types ADD CONSTRAINT uniq_instance_types0name0deleted UNIQUE (name, deleted);
ALTER TABLE instances ADD CONSTRAINT uniq_instances0uuid UNIQUE (uuid);
ALTER TABLE inventories ADD CONSTRAINT uniq_inventories0resource_provider_resource_class UNIQUE (resource_provider_id, resource_class_id);
ALTER TABLE key_pairs ADD CONSTRAINT uniq_key_pairs0user_id0name0deleted UNIQUE (user_id, name, deleted);
ALTER TABLE networks ADD CONSTRAINT uniq_networks0vlan0deleted UNIQUE (vlan, deleted);
ALTER TABLE pci_devices ADD CONSTRAINT uniq_pci_devices0compute_node_id0address0deleted UNIQUE (compute_node_id, address, deleted);
ALTER TABLE project_user_quotas ADD CONSTRAINT uniq_project_user_quotas0user_id0project_id0resource0deleted UNIQUE (user_id, project_id, resource, deleted);
ALTER TABLE quotas ADD CONSTRAINT uniq_quotas0project_id0resource0deleted UNIQUE (project_id, resource, deleted);
ALTER TABLE resource_providers ADD CONSTRAINT uniq_resource_providers0name UNIQUE (name);
ALTER TABLE resource_providers ADD CONSTRAINT uniq_resource_providers0uuid UNIQUE (uuid);
ALTER TABLE security_groups ADD CONSTRAINT uniq_security_groups0project_id0name0deleted UNIQUE (project_id, name, deleted);
ALTER TABLE services ADD CONSTRAINT uniq_services0host0binary0deleted UNIQUE (host, "binary", deleted);
ALTER TABLE services ADD CONSTRAINT uniq_services0host0topic0deleted UNIQUE (host, topic, deleted);
ALTER TABLE task_log ADD CONSTRAINT uniq_task_log0task_name0host0period_beginning0period_ending UNIQUE (task_name, host, period_beginning, period_ending);
ALTER TABLE virtual_interfaces ADD CONSTRAINT uniq_virtual_interfaces0address0deleted UNIQUE (address, deleted);
ALTER TABLE virtual_interfaces ADD CONSTRAINT virtual_interfaces_pkey PRIMARY KEY (id);
ALTER TABLE volume_id_mappings ADD CONSTRAINT volume_id_mappings_pkey PRIMARY KEY (id);
ALTER TABLE volume_usage_cache ADD CONSTRAINT volume_usage_cache_pkey PRIMARY KEY (id);

CREATE INDEX address ON fixed_ips USING btree (address);
CREATE INDEX agent_builds_hypervisor_os_arch_idx ON agent_builds USING btree (hypervisor, os, architecture);
CREATE INDEX aggregate_metadata_key_idx ON aggregate_metadata USING btree (key);
CREATE INDEX aggregate_metadata_value_idx ON aggregate_metadata USING btree (value);
CREATE INDEX aggregate_uuid_idx ON aggregates USING btree (uuid);
CREATE INDEX allocations_consumer_id_idx ON allocations USING btree (consumer_id);
CREATE INDEX allocations_resource_class_id_idx ON allocations USING btree (resource_class_id);
CREATE INDEX allocations_resource_provider_class_used_idx ON allocations USING btree (resource_provider_id, resource_class_id, used);
CREATE INDEX block_device_mapping_instance_uuid_device_name_idx ON block_device_mapping USING btree (instance_uuid, device_name);
CREATE INDEX block_device_mapping_instance_uuid_idx ON block_device_mapping USING btree (instance_uuid);
CREATE INDEX block_device_mapping_instance_uuid_volume_id_idx ON block_device_mapping USING btree (instance_uuid, volume_id);
CREATE INDEX bw_usage_cache_uuid_start_period_idx ON bw_usage_cache USING btree (uuid, start_period);
CREATE INDEX certificates_project_id_deleted_idx ON certificates USING btree (project_id, deleted);
CREATE INDEX certificates_user_id_deleted_idx ON certificates USING btree (user_id, deleted);
CREATE UNIQUE INDEX compute_nodes_uuid_idx ON compute_nodes USING btree (uuid);
CREATE INDEX console_auth_tokens_host_expires_idx ON console_auth_tokens USING btree (host, expires);
CREATE INDEX console_auth_tokens_instance_uuid_idx ON console_auth_tokens USING btree (instance_uuid);
CREATE INDEX console_auth_tokens_token_hash_idx ON console_auth_tokens USING btree (token_hash);
CREATE INDEX console_auth_tokens_token_hash_instance_uuid_idx ON console_auth_tokens USING btree (token_hash, instance_uuid);
CREATE INDEX consoles_instance_uuid_idx ON consoles USING btree (instance_uuid);
CREATE INDEX dns_domains_domain_deleted_idx ON dns_domains USING btree (domain, deleted);
CREATE INDEX dns_domains_project_id_idx ON dns_domains USING btree (project_id);
CREATE INDEX fixed_ip_id ON floating_ips USING btree (fixed_ip_id);
CREATE INDEX fixed_ips_address_reserved_network_id_deleted_idx ON fixed_ips USING btree (address, reserved, network_id, deleted);
CREATE INDEX fixed_ips_deleted_allocated_idx ON fixed_ips USING btree (address, deleted, allocated);
CREATE INDEX fixed_ips_deleted_allocated_updated_at_idx ON fixed_ips USING btree (deleted, allocated, updated_at);
CREATE INDEX fixed_ips_host_idx ON fixed_ips USING btree (host);
CREATE INDEX fixed_ips_instance_uuid_fkey ON fixed_ips USING btree (instance_uuid);
CREATE INDEX fixed_ips_network_id_host_deleted_idx ON fixed_ips USING btree (network_id, host, deleted);
CREATE INDEX fixed_ips_virtual_interface_id_fkey ON fixed_ips USING btree (virtual_interface_id);
CREATE INDEX floating_ips_host_idx ON floating_ips USING btree (host);
CREATE INDEX floating_ips_pool_deleted_fixed_ip_id_project_id_idx ON floating_ips USING btree (pool, deleted, fixed_ip_id, project_id);
CREATE INDEX floating_ips_project_id_idx ON floating_ips USING btree (project_id);
CREATE INDEX instance_actions_instance_uuid_updated_at_idx ON instance_actions USING btree (instance_uuid, updated_at);
CREATE INDEX instance_extra_idx ON instance_extra USING btree (instance_uuid);
CREATE INDEX instance_faults_host_idx ON instance_faults USING btree (host);
CREATE INDEX instance_faults_instance_uuid_deleted_created_at_idx ON instance_faults USING btree (instance_uuid, deleted, created_at);
CREATE INDEX instance_group_member_instance_idx ON instance_group_member USING btree (instance_id);
CREATE INDEX instance_group_policy_policy_idx ON instance_group_policy USING btree (policy);
CREATE INDEX instance_metadata_instance_uuid_idx ON instance_metadata USING btree (instance_uuid);
CREATE INDEX instance_type_extra_specs_instance_type_id_key_idx ON instance_type_extra_specs USING btree (instance_type_id, key);
CREATE INDEX instance_uuid ON instance_system_metadata USING btree (instance_uuid);
CREATE INDEX instance_uuid_idx ON instance_actions USING btree (instance_uuid);
CREATE INDEX instances_deleted_created_at_idx ON instances USING btree (deleted, created_at);
CREATE INDEX instances_host_deleted_cleaned_idx ON instances USING btree (host, deleted, cleaned);
CREATE INDEX instances_host_node_deleted_idx ON instances USING btree (host, node, deleted);
CREATE INDEX instances_project_id_deleted_idx ON instances USING btree (project_id, deleted);
CREATE INDEX instances_project_id_idx ON instances USING btree (project_id);
CREATE INDEX instances_reservation_id_idx ON instances USING btree (reservation_id);
CREATE INDEX instances_task_state_updated_at_idx ON instances USING btree (task_state, updated_at);
CREATE INDEX instances_terminated_at_launched_at_idx ON instances USING btree (terminated_at, launched_at);
CREATE INDEX instances_updated_at_project_id_idx ON instances USING btree (updated_at, project_id);
CREATE INDEX instances_uuid_deleted_idx ON instances USING btree (uuid, deleted);
CREATE INDEX inventories_resource_class_id_idx ON inventories USING btree (resource_class_id);
CREATE INDEX inventories_resource_provider_id_idx ON inventories USING btree (resource_provider_id);
CREATE INDEX inventories_resource_provider_resource_class_idx ON inventories USING btree (resource_provider_id, resource_class_id);
CREATE INDEX ix_instance_id_mappings_uuid ON instance_id_mappings USING btree (uuid);
CREATE INDEX ix_pci_devices_compute_node_id_deleted ON pci_devices USING btree (compute_node_id, deleted);
CREATE INDEX ix_pci_devices_compute_node_id_parent_addr_deleted ON pci_devices USING btree (compute_node_id, parent_addr, deleted);
CREATE INDEX ix_pci_devices_instance_uuid_deleted ON pci_devices USING btree (instance_uuid, deleted);
CREATE INDEX ix_quota_classes_class_name ON quota_classes USING btree (class_name);
CREATE INDEX ix_quota_usages_project_id ON quota_usages USING btree (project_id);
CREATE INDEX ix_quota_usages_user_id_deleted ON quota_usages USING btree (user_id, deleted);
CREATE INDEX ix_reservations_project_id ON reservations USING btree (project_id);
CREATE INDEX ix_reservations_user_id_deleted ON reservations USING btree (user_id, deleted);
CREATE INDEX ix_task_log_host ON task_log USING btree (host);
CREATE INDEX ix_task_log_period_beginning ON task_log USING btree (period_beginning);
CREATE INDEX ix_task_log_period_ending ON task_log USING btree (period_ending);
CREATE INDEX migrations_by_host_nodes_and_status_idx ON migrations USING btree (deleted, source_compute, dest_compute, source_node, dest_node, status);
CREATE INDEX migrations_instance_uuid_and_status_idx ON migrations USING btree (deleted, instance_uuid, status);
CREATE INDEX migrations_updated_at_idx ON migrations USING btree (updated_at);
CREATE UNIQUE INDEX migrations_uuid ON migrations USING btree (uuid);
CREATE INDEX network_id ON fixed_ips USING btree (network_id);
CREATE INDEX networks_bridge_deleted_idx ON networks USING btree (bridge, deleted);
CREATE INDEX networks_cidr_v6_idx ON networks USING btree (cidr_v6);
CREATE INDEX networks_host_idx ON networks USING btree (host);
CREATE INDEX networks_project_id_deleted_idx ON networks USING btree (project_id, deleted);
CREATE INDEX networks_uuid_project_id_deleted_idx ON networks USING btree (uuid, project_id, deleted);
CREATE INDEX networks_vlan_deleted_idx ON networks USING btree (vlan, deleted);
CREATE INDEX project_user_quotas_project_id_deleted_idx ON project_user_quotas USING btree (project_id, deleted);
CREATE INDEX project_user_quotas_user_id_deleted_idx ON project_user_quotas USING btree (user_id, deleted);
CREATE INDEX request_id_idx ON instance_actions USING btree (request_id);
CREATE INDEX reservations_deleted_expire_idx ON reservations USING btree (deleted, expire);
CREATE INDEX reservations_uuid_idx ON reservations USING btree (uuid);
CREATE INDEX resource_provider_aggregates_aggregate_id_idx ON resource_provider_aggregates USING btree (aggregate_id);
CREATE INDEX resource_providers_name_idx ON resource_providers USING btree (name);
CREATE INDEX resource_providers_uuid_idx ON resource_providers USING btree (uuid);
CREATE INDEX security_group_instance_association_instance_uuid_idx ON security_group_instance_association USING btree (instance_uuid);
CREATE UNIQUE INDEX services_uuid_idx ON services USING btree (uuid);
CREATE INDEX snapshot_id ON block_device_mapping USING btree (snapshot_id);
CREATE INDEX tags_tag_idx ON tags USING btree (tag);
CREATE UNIQUE INDEX uuid ON instances USING btree (uuid);
CREATE INDEX virtual_interfaces_instance_uuid_fkey ON virtual_interfaces USING btree (instance_uuid);
CREATE INDEX virtual_interfaces_network_id_idx ON virtual_interfaces USING btree (network_id);
CREATE INDEX virtual_interfaces_uuid_idx ON virtual_interfaces USING btree (uuid);
CREATE INDEX volume_id ON block_device_mapping USING btree (volume_id);

ALTER TABLE aggregate_hosts ADD CONSTRAINT aggregate_hosts_aggregate_id_fkey FOREIGN KEY (aggregate_id) REFERENCES aggregates(id);
ALTER TABLE aggregate_metadata ADD CONSTRAINT aggregate_metadata_aggregate_id_fkey FOREIGN KEY (aggregate_id) REFERENCES aggregates(id);
ALTER TABLE block_device_mapping ADD CONSTRAINT block_device_mapping_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE consoles ADD CONSTRAINT consoles_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE consoles ADD CONSTRAINT consoles_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES console_pools(id);
ALTER TABLE fixed_ips ADD CONSTRAINT fixed_ips_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_actions_events ADD CONSTRAINT instance_actions_events_action_id_fkey FOREIGN KEY (action_id) REFERENCES instance_actions(id);
ALTER TABLE instance_actions ADD CONSTRAINT instance_actions_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_extra ADD CONSTRAINT instance_extra_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_faults ADD CONSTRAINT instance_faults_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_group_member ADD CONSTRAINT instance_group_member_group_id_fkey FOREIGN KEY (group_id) REFERENCES instance_groups(id);
ALTER TABLE instance_group_policy ADD CONSTRAINT instance_group_policy_group_id_fkey FOREIGN KEY (group_id) REFERENCES instance_groups(id);
ALTER TABLE instance_info_caches ADD CONSTRAINT instance_info_caches_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_metadata ADD CONSTRAINT instance_metadata_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_system_metadata ADD CONSTRAINT instance_system_metadata_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE instance_type_extra_specs ADD CONSTRAINT instance_type_extra_specs_instance_type_id_fkey FOREIGN KEY (instance_type_id) REFERENCES instance_types(id);
ALTER TABLE instance_type_projects ADD CONSTRAINT instance_type_projects_instance_type_id_fkey FOREIGN KEY (instance_type_id) REFERENCES instance_types(id);
ALTER TABLE migrations ADD CONSTRAINT migrations_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE pci_devices ADD CONSTRAINT pci_devices_compute_node_id_fkey FOREIGN KEY (compute_node_id) REFERENCES compute_nodes(id);
ALTER TABLE reservations ADD CONSTRAINT reservations_usage_id_fkey FOREIGN KEY (usage_id) REFERENCES quota_usages(id);
ALTER TABLE security_group_instance_association ADD CONSTRAINT security_group_instance_association_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
ALTER TABLE security_group_instance_association ADD CONSTRAINT security_group_instance_association_security_group_id_fkey FOREIGN KEY (security_group_id) REFERENCES security_groups(id);
ALTER TABLE security_group_rules ADD CONSTRAINT security_group_rules_group_id_fkey FOREIGN KEY (group_id) REFERENCES security_groups(id);
ALTER TABLE security_group_rules ADD CONSTRAINT security_group_rules_parent_group_id_fkey FOREIGN KEY (parent_group_id) REFERENCES security_groups(id);
ALTER TABLE virtual_interfaces ADD CONSTRAINT virtual_interfaces_instance_uuid_fkey FOREIGN KEY (instance_uuid) REFERENCES instances(uuid);
