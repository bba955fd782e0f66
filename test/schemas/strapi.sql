-- Strapi 4.25.24, content management (knex): the core with its plugins, without content types
-- Source: https://github.com/strapi/strapi
-- Copyright (c) 2015-present Strapi Solutions SAS
-- Licence: MIT, for all software outside of folders ee/
-- Changed: taken from the database that the project's own code makes. Owned sequences are written as
-- serial, without owners. The three tables of releases are left out.
--
-- Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
-- associated documentation files (the "Software"), to deal in the Software without restriction,
-- including without limitation the rights to use, copy, modify, merge, publish, distribute,
-- sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
-- furnished to do so, subject to the following conditions:
--
-- The above copyright notice and this permission notice shall be included in all copies or
-- substantial portions of the Software.
--
-- THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
-- NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
-- NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
-- DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
-- OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

CREATE TABLE admin_permissions (
    id serial,
    action character varying(255),
    action_parameters jsonb,
    subject character varying(255),
    properties jsonb,
    conditions jsonb,
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE admin_permissions_role_links (
    id serial,
    permission_id integer,
    role_id integer,
    permission_order double precision
);

CREATE TABLE admin_roles (
    id serial,
    name character varying(255),
    code character varying(255),
    description character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE admin_users (
    id serial,
    firstname character varying(255),
    lastname character varying(255),
    username character varying(255),
    email character varying(255),
    password character varying(255),
    reset_password_token character varying(255),
    registration_token character varying(255),
    is_active boolean,
    blocked boolean,
    prefered_language character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE admin_users_roles_links (
    id serial,
    user_id integer,
    role_id integer,
    role_order double precision,
    user_order double precision
);

CREATE TABLE files (
    id serial,
    name character varying(255),
    alternative_text character varying(255),
    caption character varying(255),
    width integer,
    height integer,
    formats jsonb,
    hash character varying(255),
    ext character varying(255),
    mime character varying(255),
    size numeric(10,2),
    url character varying(255),
    preview_url character varying(255),
    provider character varying(255),
    provider_metadata jsonb,
    folder_path character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE files_folder_links (
    id serial,
    file_id integer,
    folder_id integer,
    file_order double precision
);

CREATE TABLE files_related_morphs (
    id serial,
    file_id integer,
    related_id integer,
    related_type character varying(255),
    field character varying(255),
    "order" double precision
);

CREATE TABLE i18n_locale (
    id serial,
    name character varying(255),
    code character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE strapi_api_token_permissions (
    id serial,
    action character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE strapi_api_token_permissions_token_links (
    id serial,
    api_token_permission_id integer,
    api_token_id integer,
    api_token_permission_order double precision
);

CREATE TABLE strapi_api_tokens (
    id serial,
    name character varying(255),
    description character varying(255),
    type character varying(255),
    access_key character varying(255),
    last_used_at timestamp(6) without time zone,
    expires_at timestamp(6) without time zone,
    lifespan bigint,
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE strapi_core_store_settings (
    id serial,
    key character varying(255),
    value text,
    type character varying(255),
    environment character varying(255),
    tag character varying(255)
);

CREATE TABLE strapi_database_schema (
    id serial,
    schema json,
    "time" timestamp without time zone,
    hash character varying(255)
);

CREATE TABLE strapi_migrations (
    id serial,
    name character varying(255),
    "time" timestamp without time zone
);

CREATE TABLE strapi_transfer_token_permissions (
    id serial,
    action character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE strapi_transfer_token_permissions_token_links (
    id serial,
    transfer_token_permission_id integer,
    transfer_token_id integer,
    transfer_token_permission_order double precision
);

CREATE TABLE strapi_transfer_tokens (
    id serial,
    name character varying(255),
    description character varying(255),
    access_key character varying(255),
    last_used_at timestamp(6) without time zone,
    expires_at timestamp(6) without time zone,
    lifespan bigint,
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE strapi_webhooks (
    id serial,
    name character varying(255),
    url text,
    headers jsonb,
    events jsonb,
    enabled boolean
);

CREATE TABLE up_permissions (
    id serial,
    action character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE up_permissions_role_links (
    id serial,
    permission_id integer,
    role_id integer,
    permission_order double precision
);

CREATE TABLE up_roles (
    id serial,
    name character varying(255),
    description character varying(255),
    type character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE up_users (
    id serial,
    username character varying(255),
    email character varying(255),
    provider character varying(255),
    password character varying(255),
    reset_password_token character varying(255),
    confirmation_token character varying(255),
    confirmed boolean,
    blocked boolean,
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE up_users_role_links (
    id serial,
    user_id integer,
    role_id integer,
    user_order double precision
);

CREATE TABLE upload_folders (
    id serial,
    name character varying(255),
    path_id integer,
    path character varying(255),
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone,
    created_by_id integer,
    updated_by_id integer
);

CREATE TABLE upload_folders_parent_links (
    id serial,
    folder_id integer,
    inv_folder_id integer,
    folder_order double precision
);

ALTER TABLE admin_permissions ADD CONSTRAINT admin_permissions_pkey PRIMARY KEY (id);
ALTER TABLE admin_permissions_role_links ADD CONSTRAINT admin_permissions_role_links_pkey PRIMARY KEY (id);
ALTER TABLE admin_permissions_role_links ADD CONSTRAINT admin_permissions_role_links_unique UNIQUE (permission_id, role_id);
ALTER TABLE admin_roles ADD CONSTRAINT admin_roles_pkey PRIMARY KEY (id);
ALTER TABLE admin_users ADD CONSTRAINT admin_users_pkey PRIMARY KEY (id);
ALTER TABLE admin_users_roles_links ADD CONSTRAINT admin_users_roles_links_pkey PRIMARY KEY (id);
ALTER TABLE admin_users_roles_links ADD CONSTRAINT admin_users_roles_links_unique UNIQUE (user_id, role_id);
ALTER TABLE files_folder_links ADD CONSTRAINT files_folder_links_pkey PRIMARY KEY (id);
ALTER TABLE files_folder_links ADD CONSTRAINT files_folder_links_unique UNIQUE (file_id, folder_id);
ALTER TABLE files ADD CONSTRAINT files_pkey PRIMARY KEY (id);
ALTER TABLE files_related_morphs ADD CONSTRAINT files_related_morphs_pkey PRIMARY KEY (id);
ALTER TABLE i18n_locale ADD CONSTRAINT i18n_locale_pkey PRIMARY KEY (id);
ALTER TABLE strapi_api_token_permissions ADD CONSTRAINT strapi_api_token_permissions_pkey PRIMARY KEY (id);
ALTER TABLE strapi_api_token_permissions_token_links ADD CONSTRAINT strapi_api_token_permissions_token_links_pkey PRIMARY KEY (id);
ALTER TABLE strapi_api_token_permissions_token_links ADD CONSTRAINT strapi_api_token_permissions_token_links_unique UNIQUE (api_token_permission_id, api_token_id);
ALTER TABLE strapi_api_tokens ADD CONSTRAINT strapi_api_tokens_pkey PRIMARY KEY (id);
ALTER TABLE strapi_core_store_settings ADD CONSTRAINT strapi_core_store_settings_pkey PRIMARY KEY (id);
ALTER TABLE strapi_database_schema ADD CONSTRAINT strapi_database_schema_pkey PRIMARY KEY (id);
ALTER TABLE strapi_migrations ADD CONSTRAINT strapi_migrations_pkey PRIMARY KEY (id);
ALTER TABLE strapi_transfer_token_permissions ADD CONSTRAINT strapi_transfer_token_permissions_pkey PRIMARY KEY (id);
ALTER TABLE strapi_transfer_token_permissions_token_links ADD CONSTRAINT strapi_transfer_token_permissions_token_links_pkey PRIMARY KEY (id);
ALTER TABLE strapi_transfer_token_permissions_token_links ADD CONSTRAINT strapi_transfer_token_permissions_token_links_unique UNIQUE (transfer_token_permission_id, transfer_token_id);
ALTER TABLE strapi_transfer_tokens ADD CONSTRAINT strapi_transfer_tokens_pkey PRIMARY KEY (id);
ALTER TABLE strapi_webhooks ADD CONSTRAINT strapi_webhooks_pkey PRIMARY KEY (id);
ALTER TABLE up_permissions ADD CONSTRAINT up_permissions_pkey PRIMARY KEY (id);
ALTER TABLE up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_pkey PRIMARY KEY (id);
ALTER TABLE up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_unique UNIQUE (permission_id, role_id);
ALTER TABLE up_roles ADD CONSTRAINT up_roles_pkey PRIMARY KEY (id);
ALTER TABLE up_users ADD CONSTRAINT up_users_pkey PRIMARY KEY (id);
ALTER TABLE up_users_role_links ADD CONSTRAINT up_users_role_links_pkey PRIMARY KEY (id);
ALTER TABLE up_users_role_links ADD CONSTRAINT up_users_role_links_unique UNIQUE (user_id, role_id);
ALTER TABLE upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_pkey PRIMARY KEY (id);
ALTER TABLE upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_unique UNIQUE (folder_id, inv_folder_id);
ALTER TABLE upload_folders ADD CONSTRAINT upload_folders_path_id_index UNIQUE (path_id);
ALTER TABLE upload_folders ADD CONSTRAINT upload_folders_path_index UNIQUE (path);
ALTER TABLE upload_folders ADD CONSTRAINT upload_folders_pkey PRIMARY KEY (id);

CREATE INDEX admin_permissions_created_by_id_fk ON admin_permissions USING btree (created_by_id);
CREATE INDEX admin_permissions_role_links_fk ON admin_permissions_role_links USING btree (permission_id);
CREATE INDEX admin_permissions_role_links_inv_fk ON admin_permissions_role_links USING btree (role_id);
CREATE INDEX admin_permissions_role_links_order_inv_fk ON admin_permissions_role_links USING btree (permission_order);
CREATE INDEX admin_permissions_updated_by_id_fk ON admin_permissions USING btree (updated_by_id);
CREATE INDEX admin_roles_created_by_id_fk ON admin_roles USING btree (created_by_id);
CREATE INDEX admin_roles_updated_by_id_fk ON admin_roles USING btree (updated_by_id);
CREATE INDEX admin_users_created_by_id_fk ON admin_users USING btree (created_by_id);
CREATE INDEX admin_users_roles_links_fk ON admin_users_roles_links USING btree (user_id);
CREATE INDEX admin_users_roles_links_inv_fk ON admin_users_roles_links USING btree (role_id);
CREATE INDEX admin_users_roles_links_order_fk ON admin_users_roles_links USING btree (role_order);
CREATE INDEX admin_users_roles_links_order_inv_fk ON admin_users_roles_links USING btree (user_order);
CREATE INDEX admin_users_updated_by_id_fk ON admin_users USING btree (updated_by_id);
CREATE INDEX files_created_by_id_fk ON files USING btree (created_by_id);
CREATE INDEX files_folder_links_fk ON files_folder_links USING btree (file_id);
CREATE INDEX files_folder_links_inv_fk ON files_folder_links USING btree (folder_id);
CREATE INDEX files_folder_links_order_inv_fk ON files_folder_links USING btree (file_order);
CREATE INDEX files_related_morphs_fk ON files_related_morphs USING btree (file_id);
CREATE INDEX files_related_morphs_id_column_index ON files_related_morphs USING btree (related_id);
CREATE INDEX files_related_morphs_order_index ON files_related_morphs USING btree ("order");
CREATE INDEX files_updated_by_id_fk ON files USING btree (updated_by_id);
CREATE INDEX i18n_locale_created_by_id_fk ON i18n_locale USING btree (created_by_id);
CREATE INDEX i18n_locale_updated_by_id_fk ON i18n_locale USING btree (updated_by_id);
CREATE INDEX strapi_api_token_permissions_created_by_id_fk ON strapi_api_token_permissions USING btree (created_by_id);
CREATE INDEX strapi_api_token_permissions_token_links_fk ON strapi_api_token_permissions_token_links USING btree (api_token_permission_id);
CREATE INDEX strapi_api_token_permissions_token_links_inv_fk ON strapi_api_token_permissions_token_links USING btree (api_token_id);
CREATE INDEX strapi_api_token_permissions_token_links_order_inv_fk ON strapi_api_token_permissions_token_links USING btree (api_token_permission_order);
CREATE INDEX strapi_api_token_permissions_updated_by_id_fk ON strapi_api_token_permissions USING btree (updated_by_id);
CREATE INDEX strapi_api_tokens_created_by_id_fk ON strapi_api_tokens USING btree (created_by_id);
CREATE INDEX strapi_api_tokens_updated_by_id_fk ON strapi_api_tokens USING btree (updated_by_id);
CREATE INDEX strapi_transfer_token_permissions_created_by_id_fk ON strapi_transfer_token_permissions USING btree (created_by_id);
CREATE INDEX strapi_transfer_token_permissions_token_links_fk ON strapi_transfer_token_permissions_token_links USING btree (transfer_token_permission_id);
CREATE INDEX strapi_transfer_token_permissions_token_links_inv_fk ON strapi_transfer_token_permissions_token_links USING btree (transfer_token_id);
CREATE INDEX strapi_transfer_token_permissions_token_links_order_inv_fk ON strapi_transfer_token_permissions_token_links USING btree (transfer_token_permission_order);
CREATE INDEX strapi_transfer_token_permissions_updated_by_id_fk ON strapi_transfer_token_permissions USING btree (updated_by_id);
CREATE INDEX strapi_transfer_tokens_created_by_id_fk ON strapi_transfer_tokens USING btree (created_by_id);
CREATE INDEX strapi_transfer_tokens_updated_by_id_fk ON strapi_transfer_tokens USING btree (updated_by_id);
CREATE INDEX up_permissions_created_by_id_fk ON up_permissions USING btree (created_by_id);
CREATE INDEX up_permissions_role_links_fk ON up_permissions_role_links USING btree (permission_id);
CREATE INDEX up_permissions_role_links_inv_fk ON up_permissions_role_links USING btree (role_id);
CREATE INDEX up_permissions_role_links_order_inv_fk ON up_permissions_role_links USING btree (permission_order);
CREATE INDEX up_permissions_updated_by_id_fk ON up_permissions USING btree (updated_by_id);
CREATE INDEX up_roles_created_by_id_fk ON up_roles USING btree (created_by_id);
CREATE INDEX up_roles_updated_by_id_fk ON up_roles USING btree (updated_by_id);
CREATE INDEX up_users_created_by_id_fk ON up_users USING btree (created_by_id);
CREATE INDEX up_users_role_links_fk ON up_users_role_links USING btree (user_id);
CREATE INDEX up_users_role_links_inv_fk ON up_users_role_links USING btree (role_id);
CREATE INDEX up_users_role_links_order_inv_fk ON up_users_role_links USING btree (user_order);
CREATE INDEX up_users_updated_by_id_fk ON up_users USING btree (updated_by_id);
CREATE INDEX upload_files_created_at_index ON files USING btree (created_at);
CREATE INDEX upload_files_ext_index ON files USING btree (ext);
CREATE INDEX upload_files_folder_path_index ON files USING btree (folder_path);
CREATE INDEX upload_files_name_index ON files USING btree (name);
CREATE INDEX upload_files_size_index ON files USING btree (size);
CREATE INDEX upload_files_updated_at_index ON files USING btree (updated_at);
CREATE INDEX upload_folders_created_by_id_fk ON upload_folders USING btree (created_by_id);
CREATE INDEX upload_folders_parent_links_fk ON upload_folders_parent_links USING btree (folder_id);
CREATE INDEX upload_folders_parent_links_inv_fk ON upload_folders_parent_links USING btree (inv_folder_id);
CREATE INDEX upload_folders_parent_links_order_inv_fk ON upload_folders_parent_links USING btree (folder_order);
CREATE INDEX upload_folders_updated_by_id_fk ON upload_folders USING btree (updated_by_id);

ALTER TABLE admin_permissions ADD CONSTRAINT admin_permissions_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE admin_permissions_role_links ADD CONSTRAINT admin_permissions_role_links_fk FOREIGN KEY (permission_id) REFERENCES admin_permissions(id) ON DELETE CASCADE;
ALTER TABLE admin_permissions_role_links ADD CONSTRAINT admin_permissions_role_links_inv_fk FOREIGN KEY (role_id) REFERENCES admin_roles(id) ON DELETE CASCADE;
ALTER TABLE admin_permissions ADD CONSTRAINT admin_permissions_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE admin_roles ADD CONSTRAINT admin_roles_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE admin_roles ADD CONSTRAINT admin_roles_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE admin_users ADD CONSTRAINT admin_users_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE admin_users_roles_links ADD CONSTRAINT admin_users_roles_links_fk FOREIGN KEY (user_id) REFERENCES admin_users(id) ON DELETE CASCADE;
ALTER TABLE admin_users_roles_links ADD CONSTRAINT admin_users_roles_links_inv_fk FOREIGN KEY (role_id) REFERENCES admin_roles(id) ON DELETE CASCADE;
ALTER TABLE admin_users ADD CONSTRAINT admin_users_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE files ADD CONSTRAINT files_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE files_folder_links ADD CONSTRAINT files_folder_links_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;
ALTER TABLE files_folder_links ADD CONSTRAINT files_folder_links_inv_fk FOREIGN KEY (folder_id) REFERENCES upload_folders(id) ON DELETE CASCADE;
ALTER TABLE files_related_morphs ADD CONSTRAINT files_related_morphs_fk FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE;
ALTER TABLE files ADD CONSTRAINT files_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE i18n_locale ADD CONSTRAINT i18n_locale_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE i18n_locale ADD CONSTRAINT i18n_locale_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_api_token_permissions ADD CONSTRAINT strapi_api_token_permissions_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_api_token_permissions_token_links ADD CONSTRAINT strapi_api_token_permissions_token_links_fk FOREIGN KEY (api_token_permission_id) REFERENCES strapi_api_token_permissions(id) ON DELETE CASCADE;
ALTER TABLE strapi_api_token_permissions_token_links ADD CONSTRAINT strapi_api_token_permissions_token_links_inv_fk FOREIGN KEY (api_token_id) REFERENCES strapi_api_tokens(id) ON DELETE CASCADE;
ALTER TABLE strapi_api_token_permissions ADD CONSTRAINT strapi_api_token_permissions_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_api_tokens ADD CONSTRAINT strapi_api_tokens_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_api_tokens ADD CONSTRAINT strapi_api_tokens_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_transfer_token_permissions ADD CONSTRAINT strapi_transfer_token_permissions_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_transfer_token_permissions_token_links ADD CONSTRAINT strapi_transfer_token_permissions_token_links_fk FOREIGN KEY (transfer_token_permission_id) REFERENCES strapi_transfer_token_permissions(id) ON DELETE CASCADE;
ALTER TABLE strapi_transfer_token_permissions_token_links ADD CONSTRAINT strapi_transfer_token_permissions_token_links_inv_fk FOREIGN KEY (transfer_token_id) REFERENCES strapi_transfer_tokens(id) ON DELETE CASCADE;
ALTER TABLE strapi_transfer_token_permissions ADD CONSTRAINT strapi_transfer_token_permissions_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_transfer_tokens ADD CONSTRAINT strapi_transfer_tokens_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE strapi_transfer_tokens ADD CONSTRAINT strapi_transfer_tokens_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_permissions ADD CONSTRAINT up_permissions_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_fk FOREIGN KEY (permission_id) REFERENCES up_permissions(id) ON DELETE CASCADE;
ALTER TABLE up_permissions_role_links ADD CONSTRAINT up_permissions_role_links_inv_fk FOREIGN KEY (role_id) REFERENCES up_roles(id) ON DELETE CASCADE;
ALTER TABLE up_permissions ADD CONSTRAINT up_permissions_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_roles ADD CONSTRAINT up_roles_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_roles ADD CONSTRAINT up_roles_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_users ADD CONSTRAINT up_users_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE up_users_role_links ADD CONSTRAINT up_users_role_links_fk FOREIGN KEY (user_id) REFERENCES up_users(id) ON DELETE CASCADE;
ALTER TABLE up_users_role_links ADD CONSTRAINT up_users_role_links_inv_fk FOREIGN KEY (role_id) REFERENCES up_roles(id) ON DELETE CASCADE;
ALTER TABLE up_users ADD CONSTRAINT up_users_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE upload_folders ADD CONSTRAINT upload_folders_created_by_id_fk FOREIGN KEY (created_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
ALTER TABLE upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_fk FOREIGN KEY (folder_id) REFERENCES upload_folders(id) ON DELETE CASCADE;
ALTER TABLE upload_folders_parent_links ADD CONSTRAINT upload_folders_parent_links_inv_fk FOREIGN KEY (inv_folder_id) REFERENCES upload_folders(id) ON DELETE CASCADE;
ALTER TABLE upload_folders ADD CONSTRAINT upload_folders_updated_by_id_fk FOREIGN KEY (updated_by_id) REFERENCES admin_users(id) ON DELETE SET NULL;
