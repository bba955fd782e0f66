-- Payload 3.90.2, content management (Drizzle): the core with users, media and the plugins for shops
-- (@payloadcms/plugin-ecommerce) and forms (@payloadcms/plugin-form-builder)
-- Source: https://github.com/payloadcms/payload
-- Copyright (c) 2018-2025 Payload CMS, Inc. <info@payloadcms.com>
-- Licence: MIT
-- Changed: taken from the database that the project's own code makes. Owned sequences are written as
-- serial, without owners. No table is left out.
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

CREATE TYPE public.enum__products_v_version_status AS ENUM (
    'draft',
    'published'
);

CREATE TYPE public.enum__variants_v_version_status AS ENUM (
    'draft',
    'published'
);

CREATE TYPE public.enum_addresses_country AS ENUM (
    'US',
    'GB',
    'CA',
    'AU',
    'AT',
    'BE',
    'BR',
    'BG',
    'CY',
    'CZ',
    'DK',
    'EE',
    'FI',
    'FR',
    'DE',
    'GR',
    'HK',
    'HU',
    'IN',
    'IE',
    'IT',
    'JP',
    'LV',
    'LT',
    'LU',
    'MY',
    'MT',
    'MX',
    'NL',
    'NZ',
    'NO',
    'PL',
    'PT',
    'RO',
    'SG',
    'SK',
    'SI',
    'ES',
    'SE',
    'CH'
);

CREATE TYPE public.enum_carts_currency AS ENUM (
    'USD'
);

CREATE TYPE public.enum_forms_confirmation_type AS ENUM (
    'message',
    'redirect'
);

CREATE TYPE public.enum_orders_currency AS ENUM (
    'USD'
);

CREATE TYPE public.enum_orders_status AS ENUM (
    'processing',
    'completed',
    'cancelled',
    'refunded'
);

CREATE TYPE public.enum_products_status AS ENUM (
    'draft',
    'published'
);

CREATE TYPE public.enum_transactions_currency AS ENUM (
    'USD'
);

CREATE TYPE public.enum_transactions_status AS ENUM (
    'pending',
    'processing',
    'succeeded',
    'failed',
    'cancelled',
    'expired',
    'refunded'
);

CREATE TYPE public.enum_users_roles AS ENUM (
    'admin',
    'customer'
);

CREATE TYPE public.enum_variants_status AS ENUM (
    'draft',
    'published'
);

CREATE TABLE _products_v (
    id serial,
    parent_id integer,
    version_inventory numeric DEFAULT 0,
    version_enable_variants boolean,
    version_price_in_u_s_d_enabled boolean,
    version_price_in_u_s_d numeric,
    version_updated_at timestamp(3) with time zone,
    version_created_at timestamp(3) with time zone,
    version_deleted_at timestamp(3) with time zone,
    version__status enum__products_v_version_status DEFAULT 'draft'::enum__products_v_version_status,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    latest boolean,
    autosave boolean
);

CREATE TABLE _products_v_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    variant_types_id integer
);

CREATE TABLE _variants_v (
    id serial,
    parent_id integer,
    version_title character varying,
    version_product_id integer,
    version_inventory numeric DEFAULT 0,
    version_price_in_u_s_d_enabled boolean,
    version_price_in_u_s_d numeric,
    version_updated_at timestamp(3) with time zone,
    version_created_at timestamp(3) with time zone,
    version_deleted_at timestamp(3) with time zone,
    version__status enum__variants_v_version_status DEFAULT 'draft'::enum__variants_v_version_status,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    latest boolean,
    autosave boolean
);

CREATE TABLE _variants_v_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    variant_options_id integer
);

CREATE TABLE addresses (
    id serial,
    customer_id integer,
    title character varying,
    first_name character varying,
    last_name character varying,
    company character varying,
    address_line1 character varying,
    address_line2 character varying,
    city character varying,
    state character varying,
    postal_code character varying,
    country enum_addresses_country NOT NULL,
    phone character varying,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE carts (
    id serial,
    secret character varying,
    customer_id integer,
    purchased_at timestamp(3) with time zone,
    subtotal numeric,
    currency enum_carts_currency DEFAULT 'USD'::enum_carts_currency,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE carts_items (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    product_id integer,
    variant_id integer,
    quantity numeric DEFAULT 1 NOT NULL
);

CREATE TABLE form_submissions (
    id serial,
    form_id integer NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE form_submissions_submission_data (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    field character varying NOT NULL,
    value character varying NOT NULL
);

CREATE TABLE forms (
    id serial,
    title character varying NOT NULL,
    submit_button_label character varying,
    confirmation_type enum_forms_confirmation_type DEFAULT 'message'::enum_forms_confirmation_type,
    confirmation_message jsonb,
    redirect_url character varying,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE forms_blocks_checkbox (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    required boolean,
    default_value boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_country (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_email (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_message (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    message jsonb,
    block_name character varying
);

CREATE TABLE forms_blocks_number (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    default_value numeric,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_select (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    default_value character varying,
    placeholder character varying,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_select_options (
    _order integer NOT NULL,
    _parent_id character varying NOT NULL,
    id character varying NOT NULL,
    label character varying NOT NULL,
    value character varying NOT NULL
);

CREATE TABLE forms_blocks_state (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_text (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    default_value character varying,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_blocks_textarea (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    _path text NOT NULL,
    id character varying NOT NULL,
    name character varying NOT NULL,
    label character varying,
    width numeric,
    default_value character varying,
    required boolean,
    block_name character varying
);

CREATE TABLE forms_emails (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    email_to character varying,
    cc character varying,
    bcc character varying,
    reply_to character varying,
    email_from character varying,
    subject character varying DEFAULT 'You''ve received a new message.'::character varying NOT NULL,
    message jsonb
);

CREATE TABLE media (
    id serial,
    alt character varying,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    url character varying,
    thumbnail_u_r_l character varying,
    filename character varying,
    mime_type character varying,
    filesize numeric,
    width numeric,
    height numeric,
    focal_x numeric,
    focal_y numeric
);

CREATE TABLE orders (
    id serial,
    shipping_address_title character varying,
    shipping_address_first_name character varying,
    shipping_address_last_name character varying,
    shipping_address_company character varying,
    shipping_address_address_line1 character varying,
    shipping_address_address_line2 character varying,
    shipping_address_city character varying,
    shipping_address_state character varying,
    shipping_address_postal_code character varying,
    shipping_address_country character varying,
    shipping_address_phone character varying,
    customer_id integer,
    customer_email character varying,
    status enum_orders_status DEFAULT 'processing'::enum_orders_status,
    amount numeric,
    currency enum_orders_currency DEFAULT 'USD'::enum_orders_currency,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE orders_items (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    product_id integer,
    variant_id integer,
    quantity numeric DEFAULT 1 NOT NULL
);

CREATE TABLE orders_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    transactions_id integer
);

CREATE TABLE payload_kv (
    id serial,
    key character varying NOT NULL,
    data jsonb NOT NULL
);

CREATE TABLE payload_locked_documents (
    id serial,
    global_slug character varying,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE payload_locked_documents_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    users_id integer,
    media_id integer,
    forms_id integer,
    form_submissions_id integer,
    addresses_id integer,
    variants_id integer,
    variant_types_id integer,
    variant_options_id integer,
    products_id integer,
    carts_id integer,
    orders_id integer,
    transactions_id integer
);

CREATE TABLE payload_migrations (
    id serial,
    name character varying,
    batch numeric,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE payload_preferences (
    id serial,
    key character varying,
    value jsonb,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE payload_preferences_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    users_id integer
);

CREATE TABLE products (
    id serial,
    inventory numeric DEFAULT 0,
    enable_variants boolean,
    price_in_u_s_d_enabled boolean,
    price_in_u_s_d numeric,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp(3) with time zone,
    _status enum_products_status DEFAULT 'draft'::enum_products_status
);

CREATE TABLE products_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    variant_types_id integer
);

CREATE TABLE transactions (
    id serial,
    billing_address_title character varying,
    billing_address_first_name character varying,
    billing_address_last_name character varying,
    billing_address_company character varying,
    billing_address_address_line1 character varying,
    billing_address_address_line2 character varying,
    billing_address_city character varying,
    billing_address_state character varying,
    billing_address_postal_code character varying,
    billing_address_country character varying,
    billing_address_phone character varying,
    status enum_transactions_status DEFAULT 'pending'::enum_transactions_status NOT NULL,
    customer_id integer,
    customer_email character varying,
    order_id integer,
    cart_id integer,
    amount numeric,
    currency enum_transactions_currency DEFAULT 'USD'::enum_transactions_currency,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL
);

CREATE TABLE transactions_items (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    product_id integer,
    variant_id integer,
    quantity numeric DEFAULT 1 NOT NULL
);

CREATE TABLE users (
    id serial,
    name character varying,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    email character varying NOT NULL,
    reset_password_token character varying,
    reset_password_expiration timestamp(3) with time zone,
    salt character varying,
    hash character varying,
    reset_password_requested_at timestamp(3) with time zone,
    login_attempts numeric DEFAULT 0,
    lock_until timestamp(3) with time zone
);

CREATE TABLE users_roles (
    "order" integer NOT NULL,
    parent_id integer NOT NULL,
    value enum_users_roles,
    id serial
);

CREATE TABLE users_sessions (
    _order integer NOT NULL,
    _parent_id integer NOT NULL,
    id character varying NOT NULL,
    created_at timestamp(3) with time zone,
    expires_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE variant_options (
    id serial,
    _variantoptions_options_order character varying,
    variant_type_id integer NOT NULL,
    label character varying NOT NULL,
    value character varying NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp(3) with time zone
);

CREATE TABLE variant_types (
    id serial,
    label character varying NOT NULL,
    name character varying NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp(3) with time zone
);

CREATE TABLE variants (
    id serial,
    title character varying,
    product_id integer,
    inventory numeric DEFAULT 0,
    price_in_u_s_d_enabled boolean,
    price_in_u_s_d numeric,
    updated_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    deleted_at timestamp(3) with time zone,
    _status enum_variants_status DEFAULT 'draft'::enum_variants_status
);

CREATE TABLE variants_rels (
    id serial,
    "order" integer,
    parent_id integer NOT NULL,
    path character varying NOT NULL,
    variant_options_id integer
);

ALTER TABLE _products_v ADD CONSTRAINT _products_v_pkey PRIMARY KEY (id);
ALTER TABLE _products_v_rels ADD CONSTRAINT _products_v_rels_pkey PRIMARY KEY (id);
ALTER TABLE _variants_v ADD CONSTRAINT _variants_v_pkey PRIMARY KEY (id);
ALTER TABLE _variants_v_rels ADD CONSTRAINT _variants_v_rels_pkey PRIMARY KEY (id);
ALTER TABLE addresses ADD CONSTRAINT addresses_pkey PRIMARY KEY (id);
ALTER TABLE carts_items ADD CONSTRAINT carts_items_pkey PRIMARY KEY (id);
ALTER TABLE carts ADD CONSTRAINT carts_pkey PRIMARY KEY (id);
ALTER TABLE form_submissions ADD CONSTRAINT form_submissions_pkey PRIMARY KEY (id);
ALTER TABLE form_submissions_submission_data ADD CONSTRAINT form_submissions_submission_data_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_checkbox ADD CONSTRAINT forms_blocks_checkbox_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_country ADD CONSTRAINT forms_blocks_country_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_email ADD CONSTRAINT forms_blocks_email_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_message ADD CONSTRAINT forms_blocks_message_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_number ADD CONSTRAINT forms_blocks_number_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_select_options ADD CONSTRAINT forms_blocks_select_options_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_select ADD CONSTRAINT forms_blocks_select_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_state ADD CONSTRAINT forms_blocks_state_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_text ADD CONSTRAINT forms_blocks_text_pkey PRIMARY KEY (id);
ALTER TABLE forms_blocks_textarea ADD CONSTRAINT forms_blocks_textarea_pkey PRIMARY KEY (id);
ALTER TABLE forms_emails ADD CONSTRAINT forms_emails_pkey PRIMARY KEY (id);
ALTER TABLE forms ADD CONSTRAINT forms_pkey PRIMARY KEY (id);
ALTER TABLE media ADD CONSTRAINT media_pkey PRIMARY KEY (id);
ALTER TABLE orders_items ADD CONSTRAINT orders_items_pkey PRIMARY KEY (id);
ALTER TABLE orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
ALTER TABLE orders_rels ADD CONSTRAINT orders_rels_pkey PRIMARY KEY (id);
ALTER TABLE payload_kv ADD CONSTRAINT payload_kv_pkey PRIMARY KEY (id);
ALTER TABLE payload_locked_documents ADD CONSTRAINT payload_locked_documents_pkey PRIMARY KEY (id);
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_pkey PRIMARY KEY (id);
ALTER TABLE payload_migrations ADD CONSTRAINT payload_migrations_pkey PRIMARY KEY (id);
ALTER TABLE payload_preferences ADD CONSTRAINT payload_preferences_pkey PRIMARY KEY (id);
ALTER TABLE payload_preferences_rels ADD CONSTRAINT payload_preferences_rels_pkey PRIMARY KEY (id);
ALTER TABLE products ADD CONSTRAINT products_pkey PRIMARY KEY (id);
ALTER TABLE products_rels ADD CONSTRAINT products_rels_pkey PRIMARY KEY (id);
ALTER TABLE transactions_items ADD CONSTRAINT transactions_items_pkey PRIMARY KEY (id);
ALTER TABLE transactions ADD CONSTRAINT transactions_pkey PRIMARY KEY (id);
ALTER TABLE users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE users_roles ADD CONSTRAINT users_roles_pkey PRIMARY KEY (id);
ALTER TABLE users_sessions ADD CONSTRAINT users_sessions_pkey PRIMARY KEY (id);
ALTER TABLE variant_options ADD CONSTRAINT variant_options_pkey PRIMARY KEY (id);
ALTER TABLE variant_types ADD CONSTRAINT variant_types_pkey PRIMARY KEY (id);
ALTER TABLE variants ADD CONSTRAINT variants_pkey PRIMARY KEY (id);
ALTER TABLE variants_rels ADD CONSTRAINT variants_rels_pkey PRIMARY KEY (id);

CREATE INDEX _products_v_autosave_idx ON _products_v USING btree (autosave);
CREATE INDEX _products_v_created_at_idx ON _products_v USING btree (created_at);
CREATE INDEX _products_v_latest_idx ON _products_v USING btree (latest);
CREATE INDEX _products_v_parent_idx ON _products_v USING btree (parent_id);
CREATE INDEX _products_v_rels_order_idx ON _products_v_rels USING btree ("order");
CREATE INDEX _products_v_rels_parent_idx ON _products_v_rels USING btree (parent_id);
CREATE INDEX _products_v_rels_path_idx ON _products_v_rels USING btree (path);
CREATE INDEX _products_v_rels_variant_types_id_idx ON _products_v_rels USING btree (variant_types_id);
CREATE INDEX _products_v_updated_at_idx ON _products_v USING btree (updated_at);
CREATE INDEX _products_v_version_version__status_idx ON _products_v USING btree (version__status);
CREATE INDEX _products_v_version_version_created_at_idx ON _products_v USING btree (version_created_at);
CREATE INDEX _products_v_version_version_deleted_at_idx ON _products_v USING btree (version_deleted_at);
CREATE INDEX _products_v_version_version_updated_at_idx ON _products_v USING btree (version_updated_at);
CREATE INDEX _variants_v_autosave_idx ON _variants_v USING btree (autosave);
CREATE INDEX _variants_v_created_at_idx ON _variants_v USING btree (created_at);
CREATE INDEX _variants_v_latest_idx ON _variants_v USING btree (latest);
CREATE INDEX _variants_v_parent_idx ON _variants_v USING btree (parent_id);
CREATE INDEX _variants_v_rels_order_idx ON _variants_v_rels USING btree ("order");
CREATE INDEX _variants_v_rels_parent_idx ON _variants_v_rels USING btree (parent_id);
CREATE INDEX _variants_v_rels_path_idx ON _variants_v_rels USING btree (path);
CREATE INDEX _variants_v_rels_variant_options_id_idx ON _variants_v_rels USING btree (variant_options_id);
CREATE INDEX _variants_v_updated_at_idx ON _variants_v USING btree (updated_at);
CREATE INDEX _variants_v_version_version__status_idx ON _variants_v USING btree (version__status);
CREATE INDEX _variants_v_version_version_created_at_idx ON _variants_v USING btree (version_created_at);
CREATE INDEX _variants_v_version_version_deleted_at_idx ON _variants_v USING btree (version_deleted_at);
CREATE INDEX _variants_v_version_version_product_idx ON _variants_v USING btree (version_product_id);
CREATE INDEX _variants_v_version_version_updated_at_idx ON _variants_v USING btree (version_updated_at);
CREATE INDEX addresses_created_at_idx ON addresses USING btree (created_at);
CREATE INDEX addresses_customer_idx ON addresses USING btree (customer_id);
CREATE INDEX addresses_updated_at_idx ON addresses USING btree (updated_at);
CREATE INDEX carts_created_at_idx ON carts USING btree (created_at);
CREATE INDEX carts_customer_idx ON carts USING btree (customer_id);
CREATE INDEX carts_items_order_idx ON carts_items USING btree (_order);
CREATE INDEX carts_items_parent_id_idx ON carts_items USING btree (_parent_id);
CREATE INDEX carts_items_product_idx ON carts_items USING btree (product_id);
CREATE INDEX carts_items_variant_idx ON carts_items USING btree (variant_id);
CREATE INDEX carts_secret_idx ON carts USING btree (secret);
CREATE INDEX carts_updated_at_idx ON carts USING btree (updated_at);
CREATE INDEX form_submissions_created_at_idx ON form_submissions USING btree (created_at);
CREATE INDEX form_submissions_form_idx ON form_submissions USING btree (form_id);
CREATE INDEX form_submissions_submission_data_order_idx ON form_submissions_submission_data USING btree (_order);
CREATE INDEX form_submissions_submission_data_parent_id_idx ON form_submissions_submission_data USING btree (_parent_id);
CREATE INDEX form_submissions_updated_at_idx ON form_submissions USING btree (updated_at);
CREATE INDEX forms_blocks_checkbox_order_idx ON forms_blocks_checkbox USING btree (_order);
CREATE INDEX forms_blocks_checkbox_parent_id_idx ON forms_blocks_checkbox USING btree (_parent_id);
CREATE INDEX forms_blocks_checkbox_path_idx ON forms_blocks_checkbox USING btree (_path);
CREATE INDEX forms_blocks_country_order_idx ON forms_blocks_country USING btree (_order);
CREATE INDEX forms_blocks_country_parent_id_idx ON forms_blocks_country USING btree (_parent_id);
CREATE INDEX forms_blocks_country_path_idx ON forms_blocks_country USING btree (_path);
CREATE INDEX forms_blocks_email_order_idx ON forms_blocks_email USING btree (_order);
CREATE INDEX forms_blocks_email_parent_id_idx ON forms_blocks_email USING btree (_parent_id);
CREATE INDEX forms_blocks_email_path_idx ON forms_blocks_email USING btree (_path);
CREATE INDEX forms_blocks_message_order_idx ON forms_blocks_message USING btree (_order);
CREATE INDEX forms_blocks_message_parent_id_idx ON forms_blocks_message USING btree (_parent_id);
CREATE INDEX forms_blocks_message_path_idx ON forms_blocks_message USING btree (_path);
CREATE INDEX forms_blocks_number_order_idx ON forms_blocks_number USING btree (_order);
CREATE INDEX forms_blocks_number_parent_id_idx ON forms_blocks_number USING btree (_parent_id);
CREATE INDEX forms_blocks_number_path_idx ON forms_blocks_number USING btree (_path);
CREATE INDEX forms_blocks_select_options_order_idx ON forms_blocks_select_options USING btree (_order);
CREATE INDEX forms_blocks_select_options_parent_id_idx ON forms_blocks_select_options USING btree (_parent_id);
CREATE INDEX forms_blocks_select_order_idx ON forms_blocks_select USING btree (_order);
CREATE INDEX forms_blocks_select_parent_id_idx ON forms_blocks_select USING btree (_parent_id);
CREATE INDEX forms_blocks_select_path_idx ON forms_blocks_select USING btree (_path);
CREATE INDEX forms_blocks_state_order_idx ON forms_blocks_state USING btree (_order);
CREATE INDEX forms_blocks_state_parent_id_idx ON forms_blocks_state USING btree (_parent_id);
CREATE INDEX forms_blocks_state_path_idx ON forms_blocks_state USING btree (_path);
CREATE INDEX forms_blocks_text_order_idx ON forms_blocks_text USING btree (_order);
CREATE INDEX forms_blocks_text_parent_id_idx ON forms_blocks_text USING btree (_parent_id);
CREATE INDEX forms_blocks_text_path_idx ON forms_blocks_text USING btree (_path);
CREATE INDEX forms_blocks_textarea_order_idx ON forms_blocks_textarea USING btree (_order);
CREATE INDEX forms_blocks_textarea_parent_id_idx ON forms_blocks_textarea USING btree (_parent_id);
CREATE INDEX forms_blocks_textarea_path_idx ON forms_blocks_textarea USING btree (_path);
CREATE INDEX forms_created_at_idx ON forms USING btree (created_at);
CREATE INDEX forms_emails_order_idx ON forms_emails USING btree (_order);
CREATE INDEX forms_emails_parent_id_idx ON forms_emails USING btree (_parent_id);
CREATE INDEX forms_updated_at_idx ON forms USING btree (updated_at);
CREATE INDEX media_created_at_idx ON media USING btree (created_at);
CREATE UNIQUE INDEX media_filename_idx ON media USING btree (filename);
CREATE INDEX media_updated_at_idx ON media USING btree (updated_at);
CREATE INDEX orders_created_at_idx ON orders USING btree (created_at);
CREATE INDEX orders_customer_idx ON orders USING btree (customer_id);
CREATE INDEX orders_items_order_idx ON orders_items USING btree (_order);
CREATE INDEX orders_items_parent_id_idx ON orders_items USING btree (_parent_id);
CREATE INDEX orders_items_product_idx ON orders_items USING btree (product_id);
CREATE INDEX orders_items_variant_idx ON orders_items USING btree (variant_id);
CREATE INDEX orders_rels_order_idx ON orders_rels USING btree ("order");
CREATE INDEX orders_rels_parent_idx ON orders_rels USING btree (parent_id);
CREATE INDEX orders_rels_path_idx ON orders_rels USING btree (path);
CREATE INDEX orders_rels_transactions_id_idx ON orders_rels USING btree (transactions_id);
CREATE INDEX orders_updated_at_idx ON orders USING btree (updated_at);
CREATE UNIQUE INDEX payload_kv_key_idx ON payload_kv USING btree (key);
CREATE INDEX payload_locked_documents_created_at_idx ON payload_locked_documents USING btree (created_at);
CREATE INDEX payload_locked_documents_global_slug_idx ON payload_locked_documents USING btree (global_slug);
CREATE INDEX payload_locked_documents_rels_addresses_id_idx ON payload_locked_documents_rels USING btree (addresses_id);
CREATE INDEX payload_locked_documents_rels_carts_id_idx ON payload_locked_documents_rels USING btree (carts_id);
CREATE INDEX payload_locked_documents_rels_form_submissions_id_idx ON payload_locked_documents_rels USING btree (form_submissions_id);
CREATE INDEX payload_locked_documents_rels_forms_id_idx ON payload_locked_documents_rels USING btree (forms_id);
CREATE INDEX payload_locked_documents_rels_media_id_idx ON payload_locked_documents_rels USING btree (media_id);
CREATE INDEX payload_locked_documents_rels_order_idx ON payload_locked_documents_rels USING btree ("order");
CREATE INDEX payload_locked_documents_rels_orders_id_idx ON payload_locked_documents_rels USING btree (orders_id);
CREATE INDEX payload_locked_documents_rels_parent_idx ON payload_locked_documents_rels USING btree (parent_id);
CREATE INDEX payload_locked_documents_rels_path_idx ON payload_locked_documents_rels USING btree (path);
CREATE INDEX payload_locked_documents_rels_products_id_idx ON payload_locked_documents_rels USING btree (products_id);
CREATE INDEX payload_locked_documents_rels_transactions_id_idx ON payload_locked_documents_rels USING btree (transactions_id);
CREATE INDEX payload_locked_documents_rels_users_id_idx ON payload_locked_documents_rels USING btree (users_id);
CREATE INDEX payload_locked_documents_rels_variant_options_id_idx ON payload_locked_documents_rels USING btree (variant_options_id);
CREATE INDEX payload_locked_documents_rels_variant_types_id_idx ON payload_locked_documents_rels USING btree (variant_types_id);
CREATE INDEX payload_locked_documents_rels_variants_id_idx ON payload_locked_documents_rels USING btree (variants_id);
CREATE INDEX payload_locked_documents_updated_at_idx ON payload_locked_documents USING btree (updated_at);
CREATE INDEX payload_migrations_created_at_idx ON payload_migrations USING btree (created_at);
CREATE INDEX payload_migrations_updated_at_idx ON payload_migrations USING btree (updated_at);
CREATE INDEX payload_preferences_created_at_idx ON payload_preferences USING btree (created_at);
CREATE INDEX payload_preferences_key_idx ON payload_preferences USING btree (key);
CREATE INDEX payload_preferences_rels_order_idx ON payload_preferences_rels USING btree ("order");
CREATE INDEX payload_preferences_rels_parent_idx ON payload_preferences_rels USING btree (parent_id);
CREATE INDEX payload_preferences_rels_path_idx ON payload_preferences_rels USING btree (path);
CREATE INDEX payload_preferences_rels_users_id_idx ON payload_preferences_rels USING btree (users_id);
CREATE INDEX payload_preferences_updated_at_idx ON payload_preferences USING btree (updated_at);
CREATE INDEX products__status_idx ON products USING btree (_status);
CREATE INDEX products_created_at_idx ON products USING btree (created_at);
CREATE INDEX products_deleted_at_idx ON products USING btree (deleted_at);
CREATE INDEX products_rels_order_idx ON products_rels USING btree ("order");
CREATE INDEX products_rels_parent_idx ON products_rels USING btree (parent_id);
CREATE INDEX products_rels_path_idx ON products_rels USING btree (path);
CREATE INDEX products_rels_variant_types_id_idx ON products_rels USING btree (variant_types_id);
CREATE INDEX products_updated_at_idx ON products USING btree (updated_at);
CREATE INDEX transactions_cart_idx ON transactions USING btree (cart_id);
CREATE INDEX transactions_created_at_idx ON transactions USING btree (created_at);
CREATE INDEX transactions_customer_idx ON transactions USING btree (customer_id);
CREATE INDEX transactions_items_order_idx ON transactions_items USING btree (_order);
CREATE INDEX transactions_items_parent_id_idx ON transactions_items USING btree (_parent_id);
CREATE INDEX transactions_items_product_idx ON transactions_items USING btree (product_id);
CREATE INDEX transactions_items_variant_idx ON transactions_items USING btree (variant_id);
CREATE INDEX transactions_order_idx ON transactions USING btree (order_id);
CREATE INDEX transactions_updated_at_idx ON transactions USING btree (updated_at);
CREATE INDEX users_created_at_idx ON users USING btree (created_at);
CREATE UNIQUE INDEX users_email_idx ON users USING btree (email);
CREATE INDEX users_roles_order_idx ON users_roles USING btree ("order");
CREATE INDEX users_roles_parent_idx ON users_roles USING btree (parent_id);
CREATE INDEX users_sessions_order_idx ON users_sessions USING btree (_order);
CREATE INDEX users_sessions_parent_id_idx ON users_sessions USING btree (_parent_id);
CREATE INDEX users_updated_at_idx ON users USING btree (updated_at);
CREATE INDEX variant_options__variantoptions_options_order_idx ON variant_options USING btree (_variantoptions_options_order);
CREATE INDEX variant_options_created_at_idx ON variant_options USING btree (created_at);
CREATE INDEX variant_options_deleted_at_idx ON variant_options USING btree (deleted_at);
CREATE INDEX variant_options_updated_at_idx ON variant_options USING btree (updated_at);
CREATE INDEX variant_options_variant_type_idx ON variant_options USING btree (variant_type_id);
CREATE INDEX variant_types_created_at_idx ON variant_types USING btree (created_at);
CREATE INDEX variant_types_deleted_at_idx ON variant_types USING btree (deleted_at);
CREATE INDEX variant_types_updated_at_idx ON variant_types USING btree (updated_at);
CREATE INDEX variants__status_idx ON variants USING btree (_status);
CREATE INDEX variants_created_at_idx ON variants USING btree (created_at);
CREATE INDEX variants_deleted_at_idx ON variants USING btree (deleted_at);
CREATE INDEX variants_product_idx ON variants USING btree (product_id);
CREATE INDEX variants_rels_order_idx ON variants_rels USING btree ("order");
CREATE INDEX variants_rels_parent_idx ON variants_rels USING btree (parent_id);
CREATE INDEX variants_rels_path_idx ON variants_rels USING btree (path);
CREATE INDEX variants_rels_variant_options_id_idx ON variants_rels USING btree (variant_options_id);
CREATE INDEX variants_updated_at_idx ON variants USING btree (updated_at);

ALTER TABLE _products_v ADD CONSTRAINT _products_v_parent_id_products_id_fk FOREIGN KEY (parent_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE _products_v_rels ADD CONSTRAINT _products_v_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES _products_v(id) ON DELETE CASCADE;
ALTER TABLE _products_v_rels ADD CONSTRAINT _products_v_rels_variant_types_fk FOREIGN KEY (variant_types_id) REFERENCES variant_types(id) ON DELETE CASCADE;
ALTER TABLE _variants_v ADD CONSTRAINT _variants_v_parent_id_variants_id_fk FOREIGN KEY (parent_id) REFERENCES variants(id) ON DELETE SET NULL;
ALTER TABLE _variants_v_rels ADD CONSTRAINT _variants_v_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES _variants_v(id) ON DELETE CASCADE;
ALTER TABLE _variants_v_rels ADD CONSTRAINT _variants_v_rels_variant_options_fk FOREIGN KEY (variant_options_id) REFERENCES variant_options(id) ON DELETE CASCADE;
ALTER TABLE _variants_v ADD CONSTRAINT _variants_v_version_product_id_products_id_fk FOREIGN KEY (version_product_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE addresses ADD CONSTRAINT addresses_customer_id_users_id_fk FOREIGN KEY (customer_id) REFERENCES users(id) ON DELETE SET NULL;
ALTER TABLE carts ADD CONSTRAINT carts_customer_id_users_id_fk FOREIGN KEY (customer_id) REFERENCES users(id) ON DELETE SET NULL;
ALTER TABLE carts_items ADD CONSTRAINT carts_items_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES carts(id) ON DELETE CASCADE;
ALTER TABLE carts_items ADD CONSTRAINT carts_items_product_id_products_id_fk FOREIGN KEY (product_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE carts_items ADD CONSTRAINT carts_items_variant_id_variants_id_fk FOREIGN KEY (variant_id) REFERENCES variants(id) ON DELETE SET NULL;
ALTER TABLE form_submissions ADD CONSTRAINT form_submissions_form_id_forms_id_fk FOREIGN KEY (form_id) REFERENCES forms(id) ON DELETE SET NULL;
ALTER TABLE form_submissions_submission_data ADD CONSTRAINT form_submissions_submission_data_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES form_submissions(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_checkbox ADD CONSTRAINT forms_blocks_checkbox_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_country ADD CONSTRAINT forms_blocks_country_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_email ADD CONSTRAINT forms_blocks_email_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_message ADD CONSTRAINT forms_blocks_message_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_number ADD CONSTRAINT forms_blocks_number_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_select_options ADD CONSTRAINT forms_blocks_select_options_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms_blocks_select(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_select ADD CONSTRAINT forms_blocks_select_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_state ADD CONSTRAINT forms_blocks_state_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_text ADD CONSTRAINT forms_blocks_text_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_blocks_textarea ADD CONSTRAINT forms_blocks_textarea_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE forms_emails ADD CONSTRAINT forms_emails_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE orders ADD CONSTRAINT orders_customer_id_users_id_fk FOREIGN KEY (customer_id) REFERENCES users(id) ON DELETE SET NULL;
ALTER TABLE orders_items ADD CONSTRAINT orders_items_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES orders(id) ON DELETE CASCADE;
ALTER TABLE orders_items ADD CONSTRAINT orders_items_product_id_products_id_fk FOREIGN KEY (product_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE orders_items ADD CONSTRAINT orders_items_variant_id_variants_id_fk FOREIGN KEY (variant_id) REFERENCES variants(id) ON DELETE SET NULL;
ALTER TABLE orders_rels ADD CONSTRAINT orders_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES orders(id) ON DELETE CASCADE;
ALTER TABLE orders_rels ADD CONSTRAINT orders_rels_transactions_fk FOREIGN KEY (transactions_id) REFERENCES transactions(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_addresses_fk FOREIGN KEY (addresses_id) REFERENCES addresses(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_carts_fk FOREIGN KEY (carts_id) REFERENCES carts(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_form_submissions_fk FOREIGN KEY (form_submissions_id) REFERENCES form_submissions(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_forms_fk FOREIGN KEY (forms_id) REFERENCES forms(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_media_fk FOREIGN KEY (media_id) REFERENCES media(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_orders_fk FOREIGN KEY (orders_id) REFERENCES orders(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES payload_locked_documents(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_products_fk FOREIGN KEY (products_id) REFERENCES products(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_transactions_fk FOREIGN KEY (transactions_id) REFERENCES transactions(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_users_fk FOREIGN KEY (users_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_variant_options_fk FOREIGN KEY (variant_options_id) REFERENCES variant_options(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_variant_types_fk FOREIGN KEY (variant_types_id) REFERENCES variant_types(id) ON DELETE CASCADE;
ALTER TABLE payload_locked_documents_rels ADD CONSTRAINT payload_locked_documents_rels_variants_fk FOREIGN KEY (variants_id) REFERENCES variants(id) ON DELETE CASCADE;
ALTER TABLE payload_preferences_rels ADD CONSTRAINT payload_preferences_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES payload_preferences(id) ON DELETE CASCADE;
ALTER TABLE payload_preferences_rels ADD CONSTRAINT payload_preferences_rels_users_fk FOREIGN KEY (users_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE products_rels ADD CONSTRAINT products_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES products(id) ON DELETE CASCADE;
ALTER TABLE products_rels ADD CONSTRAINT products_rels_variant_types_fk FOREIGN KEY (variant_types_id) REFERENCES variant_types(id) ON DELETE CASCADE;
ALTER TABLE transactions ADD CONSTRAINT transactions_cart_id_carts_id_fk FOREIGN KEY (cart_id) REFERENCES carts(id) ON DELETE SET NULL;
ALTER TABLE transactions ADD CONSTRAINT transactions_customer_id_users_id_fk FOREIGN KEY (customer_id) REFERENCES users(id) ON DELETE SET NULL;
ALTER TABLE transactions_items ADD CONSTRAINT transactions_items_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES transactions(id) ON DELETE CASCADE;
ALTER TABLE transactions_items ADD CONSTRAINT transactions_items_product_id_products_id_fk FOREIGN KEY (product_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE transactions_items ADD CONSTRAINT transactions_items_variant_id_variants_id_fk FOREIGN KEY (variant_id) REFERENCES variants(id) ON DELETE SET NULL;
ALTER TABLE transactions ADD CONSTRAINT transactions_order_id_orders_id_fk FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE SET NULL;
ALTER TABLE users_roles ADD CONSTRAINT users_roles_parent_fk FOREIGN KEY (parent_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE users_sessions ADD CONSTRAINT users_sessions_parent_id_fk FOREIGN KEY (_parent_id) REFERENCES users(id) ON DELETE CASCADE;
ALTER TABLE variant_options ADD CONSTRAINT variant_options_variant_type_id_variant_types_id_fk FOREIGN KEY (variant_type_id) REFERENCES variant_types(id) ON DELETE SET NULL;
ALTER TABLE variants ADD CONSTRAINT variants_product_id_products_id_fk FOREIGN KEY (product_id) REFERENCES products(id) ON DELETE SET NULL;
ALTER TABLE variants_rels ADD CONSTRAINT variants_rels_parent_fk FOREIGN KEY (parent_id) REFERENCES variants(id) ON DELETE CASCADE;
ALTER TABLE variants_rels ADD CONSTRAINT variants_rels_variant_options_fk FOREIGN KEY (variant_options_id) REFERENCES variant_options(id) ON DELETE CASCADE;
