-- Vendure 2.3.3, e-commerce (TypeORM): @vendure/core with its default configuration
-- Source: https://github.com/vendure-ecommerce/vendure
-- Copyright (c) 2018 Michael Bromley
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

CREATE TABLE address (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "fullName" character varying DEFAULT ''::character varying NOT NULL,
    company character varying DEFAULT ''::character varying NOT NULL,
    "streetLine1" character varying NOT NULL,
    "streetLine2" character varying DEFAULT ''::character varying NOT NULL,
    city character varying DEFAULT ''::character varying NOT NULL,
    province character varying DEFAULT ''::character varying NOT NULL,
    "postalCode" character varying DEFAULT ''::character varying NOT NULL,
    "phoneNumber" character varying DEFAULT ''::character varying NOT NULL,
    "defaultShippingAddress" boolean DEFAULT false NOT NULL,
    "defaultBillingAddress" boolean DEFAULT false NOT NULL,
    id serial,
    "customerId" integer,
    "countryId" integer
);

CREATE TABLE administrator (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    "firstName" character varying NOT NULL,
    "lastName" character varying NOT NULL,
    "emailAddress" character varying NOT NULL,
    id serial,
    "userId" integer
);

CREATE TABLE asset (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    type character varying NOT NULL,
    "mimeType" character varying NOT NULL,
    width integer DEFAULT 0 NOT NULL,
    height integer DEFAULT 0 NOT NULL,
    "fileSize" integer NOT NULL,
    source character varying NOT NULL,
    preview character varying NOT NULL,
    "focalPoint" text,
    id serial
);

CREATE TABLE asset_channels_channel (
    "assetId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE asset_tags_tag (
    "assetId" integer NOT NULL,
    "tagId" integer NOT NULL
);

CREATE TABLE authentication_method (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    identifier character varying,
    "passwordHash" character varying,
    "verificationToken" character varying,
    "passwordResetToken" character varying,
    "identifierChangeToken" character varying,
    "pendingIdentifier" character varying,
    strategy character varying,
    "externalIdentifier" character varying,
    metadata text,
    id serial,
    type character varying NOT NULL,
    "userId" integer
);

CREATE TABLE channel (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    code character varying NOT NULL,
    token character varying NOT NULL,
    description character varying DEFAULT ''::character varying,
    "defaultLanguageCode" character varying NOT NULL,
    "availableLanguageCodes" text,
    "defaultCurrencyCode" character varying NOT NULL,
    "availableCurrencyCodes" text,
    "trackInventory" boolean DEFAULT true NOT NULL,
    "outOfStockThreshold" integer DEFAULT 0 NOT NULL,
    "pricesIncludeTax" boolean NOT NULL,
    id serial,
    "sellerId" integer,
    "defaultTaxZoneId" integer,
    "defaultShippingZoneId" integer
);

CREATE TABLE collection (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "isRoot" boolean DEFAULT false NOT NULL,
    "position" integer NOT NULL,
    "isPrivate" boolean DEFAULT false NOT NULL,
    filters text NOT NULL,
    "inheritFilters" boolean DEFAULT true NOT NULL,
    id serial,
    "parentId" integer,
    "featuredAssetId" integer
);

CREATE TABLE collection_asset (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "assetId" integer NOT NULL,
    "position" integer NOT NULL,
    "collectionId" integer NOT NULL,
    id serial
);

CREATE TABLE collection_channels_channel (
    "collectionId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE collection_closure (
    id_ancestor integer NOT NULL,
    id_descendant integer NOT NULL
);

CREATE TABLE collection_product_variants_product_variant (
    "collectionId" integer NOT NULL,
    "productVariantId" integer NOT NULL
);

CREATE TABLE collection_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    slug character varying NOT NULL,
    description text NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE customer (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    title character varying,
    "firstName" character varying NOT NULL,
    "lastName" character varying NOT NULL,
    "phoneNumber" character varying,
    "emailAddress" character varying NOT NULL,
    id serial,
    "userId" integer
);

CREATE TABLE customer_channels_channel (
    "customerId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE customer_group (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    id serial
);

CREATE TABLE customer_groups_customer_group (
    "customerId" integer NOT NULL,
    "customerGroupId" integer NOT NULL
);

CREATE TABLE facet (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "isPrivate" boolean DEFAULT false NOT NULL,
    code character varying NOT NULL,
    id serial
);

CREATE TABLE facet_channels_channel (
    "facetId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE facet_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE facet_value (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    code character varying NOT NULL,
    id serial,
    "facetId" integer NOT NULL
);

CREATE TABLE facet_value_channels_channel (
    "facetValueId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE facet_value_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE fulfillment (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    state character varying NOT NULL,
    "trackingCode" character varying DEFAULT ''::character varying NOT NULL,
    method character varying NOT NULL,
    "handlerCode" character varying NOT NULL,
    id serial
);

CREATE TABLE global_settings (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "availableLanguages" text NOT NULL,
    "trackInventory" boolean DEFAULT true NOT NULL,
    "outOfStockThreshold" integer DEFAULT 0 NOT NULL,
    id serial
);

CREATE TABLE history_entry (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    type character varying NOT NULL,
    "isPublic" boolean NOT NULL,
    data text NOT NULL,
    id serial,
    discriminator character varying NOT NULL,
    "administratorId" integer,
    "customerId" integer,
    "orderId" integer
);

CREATE TABLE job_record (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "queueName" character varying NOT NULL,
    data text,
    state character varying NOT NULL,
    progress integer NOT NULL,
    result text,
    error character varying,
    "startedAt" timestamp(6) without time zone,
    "settledAt" timestamp(6) without time zone,
    "isSettled" boolean NOT NULL,
    retries integer NOT NULL,
    attempts integer NOT NULL,
    id serial
);

CREATE TABLE "order" (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    type character varying DEFAULT 'Regular'::character varying NOT NULL,
    code character varying NOT NULL,
    state character varying NOT NULL,
    active boolean DEFAULT true NOT NULL,
    "orderPlacedAt" timestamp without time zone,
    "couponCodes" text NOT NULL,
    "shippingAddress" text NOT NULL,
    "billingAddress" text NOT NULL,
    "currencyCode" character varying NOT NULL,
    id serial,
    "aggregateOrderId" integer,
    "customerId" integer,
    "taxZoneId" integer,
    "subTotal" integer NOT NULL,
    "subTotalWithTax" integer NOT NULL,
    shipping integer DEFAULT 0 NOT NULL,
    "shippingWithTax" integer DEFAULT 0 NOT NULL
);

CREATE TABLE order_channels_channel (
    "orderId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE order_fulfillments_fulfillment (
    "orderId" integer NOT NULL,
    "fulfillmentId" integer NOT NULL
);

CREATE TABLE order_line (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    quantity integer NOT NULL,
    "orderPlacedQuantity" integer DEFAULT 0 NOT NULL,
    "listPriceIncludesTax" boolean NOT NULL,
    adjustments text NOT NULL,
    "taxLines" text NOT NULL,
    id serial,
    "sellerChannelId" integer,
    "shippingLineId" integer,
    "productVariantId" integer NOT NULL,
    "initialListPrice" integer,
    "listPrice" integer NOT NULL,
    "taxCategoryId" integer,
    "featuredAssetId" integer,
    "orderId" integer
);

CREATE TABLE order_line_reference (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    quantity integer NOT NULL,
    id serial,
    "fulfillmentId" integer,
    "modificationId" integer,
    "orderLineId" integer NOT NULL,
    "refundId" integer,
    discriminator character varying NOT NULL
);

CREATE TABLE order_modification (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    note character varying NOT NULL,
    "shippingAddressChange" text,
    "billingAddressChange" text,
    id serial,
    "priceChange" integer NOT NULL,
    "orderId" integer,
    "paymentId" integer,
    "refundId" integer
);

CREATE TABLE order_promotions_promotion (
    "orderId" integer NOT NULL,
    "promotionId" integer NOT NULL
);

CREATE TABLE payment (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    method character varying NOT NULL,
    state character varying NOT NULL,
    "errorMessage" character varying,
    "transactionId" character varying,
    metadata text NOT NULL,
    id serial,
    amount integer NOT NULL,
    "orderId" integer
);

CREATE TABLE payment_method (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    code character varying DEFAULT ''::character varying NOT NULL,
    enabled boolean NOT NULL,
    checker text,
    handler text NOT NULL,
    id serial
);

CREATE TABLE payment_method_channels_channel (
    "paymentMethodId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE payment_method_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    description text NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE product (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    enabled boolean DEFAULT true NOT NULL,
    id serial,
    "featuredAssetId" integer
);

CREATE TABLE product_asset (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "assetId" integer NOT NULL,
    "position" integer NOT NULL,
    "productId" integer NOT NULL,
    id serial
);

CREATE TABLE product_channels_channel (
    "productId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE product_facet_values_facet_value (
    "productId" integer NOT NULL,
    "facetValueId" integer NOT NULL
);

CREATE TABLE product_option (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    code character varying NOT NULL,
    id serial,
    "groupId" integer NOT NULL
);

CREATE TABLE product_option_group (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    code character varying NOT NULL,
    id serial,
    "productId" integer
);

CREATE TABLE product_option_group_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE product_option_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE product_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    slug character varying NOT NULL,
    description text NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE product_variant (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    enabled boolean DEFAULT true NOT NULL,
    sku character varying NOT NULL,
    "outOfStockThreshold" integer DEFAULT 0 NOT NULL,
    "useGlobalOutOfStockThreshold" boolean DEFAULT true NOT NULL,
    "trackInventory" character varying DEFAULT 'INHERIT'::character varying NOT NULL,
    id serial,
    "productId" integer,
    "featuredAssetId" integer,
    "taxCategoryId" integer
);

CREATE TABLE product_variant_asset (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "assetId" integer NOT NULL,
    "position" integer NOT NULL,
    "productVariantId" integer NOT NULL,
    id serial
);

CREATE TABLE product_variant_channels_channel (
    "productVariantId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE product_variant_facet_values_facet_value (
    "productVariantId" integer NOT NULL,
    "facetValueId" integer NOT NULL
);

CREATE TABLE product_variant_options_product_option (
    "productVariantId" integer NOT NULL,
    "productOptionId" integer NOT NULL
);

CREATE TABLE product_variant_price (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "currencyCode" character varying NOT NULL,
    id serial,
    "channelId" integer,
    price integer NOT NULL,
    "variantId" integer
);

CREATE TABLE product_variant_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE promotion (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    "startsAt" timestamp without time zone,
    "endsAt" timestamp without time zone,
    "couponCode" character varying,
    "perCustomerUsageLimit" integer,
    "usageLimit" integer,
    enabled boolean NOT NULL,
    conditions text NOT NULL,
    actions text NOT NULL,
    "priorityScore" integer NOT NULL,
    id serial
);

CREATE TABLE promotion_channels_channel (
    "promotionId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE promotion_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    description text NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE refund (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    method character varying NOT NULL,
    reason character varying,
    state character varying NOT NULL,
    "transactionId" character varying,
    metadata text NOT NULL,
    id serial,
    "paymentId" integer NOT NULL,
    items integer NOT NULL,
    shipping integer NOT NULL,
    adjustment integer NOT NULL,
    total integer NOT NULL
);

CREATE TABLE region (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    code character varying NOT NULL,
    type character varying NOT NULL,
    enabled boolean NOT NULL,
    id serial,
    "parentId" integer,
    discriminator character varying NOT NULL
);

CREATE TABLE region_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE role (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    code character varying NOT NULL,
    description character varying NOT NULL,
    permissions text NOT NULL,
    id serial
);

CREATE TABLE role_channels_channel (
    "roleId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE seller (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    name character varying NOT NULL,
    id serial
);

CREATE TABLE session (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    token character varying NOT NULL,
    expires timestamp without time zone NOT NULL,
    invalidated boolean NOT NULL,
    "authenticationStrategy" character varying,
    id serial,
    "activeOrderId" integer,
    "activeChannelId" integer,
    type character varying NOT NULL,
    "userId" integer
);

CREATE TABLE shipping_line (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "listPriceIncludesTax" boolean NOT NULL,
    adjustments text NOT NULL,
    "taxLines" text NOT NULL,
    id serial,
    "shippingMethodId" integer NOT NULL,
    "listPrice" integer NOT NULL,
    "orderId" integer
);

CREATE TABLE shipping_method (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    code character varying NOT NULL,
    checker text NOT NULL,
    calculator text NOT NULL,
    "fulfillmentHandlerCode" character varying NOT NULL,
    id serial
);

CREATE TABLE shipping_method_channels_channel (
    "shippingMethodId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE shipping_method_translation (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "languageCode" character varying NOT NULL,
    name character varying DEFAULT ''::character varying NOT NULL,
    description character varying DEFAULT ''::character varying NOT NULL,
    id serial,
    "baseId" integer
);

CREATE TABLE stock_level (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "stockOnHand" integer NOT NULL,
    "stockAllocated" integer NOT NULL,
    id serial,
    "productVariantId" integer NOT NULL,
    "stockLocationId" integer NOT NULL
);

CREATE TABLE stock_location (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    description character varying NOT NULL,
    id serial
);

CREATE TABLE stock_location_channels_channel (
    "stockLocationId" integer NOT NULL,
    "channelId" integer NOT NULL
);

CREATE TABLE stock_movement (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    type character varying NOT NULL,
    quantity integer NOT NULL,
    id serial,
    "stockLocationId" integer NOT NULL,
    discriminator character varying NOT NULL,
    "productVariantId" integer,
    "orderLineId" integer
);

CREATE TABLE surcharge (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    description character varying NOT NULL,
    "listPriceIncludesTax" boolean NOT NULL,
    sku character varying NOT NULL,
    "taxLines" text NOT NULL,
    id serial,
    "listPrice" integer NOT NULL,
    "orderId" integer,
    "orderModificationId" integer
);

CREATE TABLE tag (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    value character varying NOT NULL,
    id serial
);

CREATE TABLE tax_category (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    "isDefault" boolean DEFAULT false NOT NULL,
    id serial
);

CREATE TABLE tax_rate (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    enabled boolean NOT NULL,
    value numeric(5,2) NOT NULL,
    id serial,
    "categoryId" integer,
    "zoneId" integer,
    "customerGroupId" integer
);

CREATE TABLE "user" (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    "deletedAt" timestamp without time zone,
    identifier character varying NOT NULL,
    verified boolean DEFAULT false NOT NULL,
    "lastLogin" timestamp without time zone,
    id serial
);

CREATE TABLE user_roles_role (
    "userId" integer NOT NULL,
    "roleId" integer NOT NULL
);

CREATE TABLE zone (
    "createdAt" timestamp without time zone DEFAULT now() NOT NULL,
    "updatedAt" timestamp without time zone DEFAULT now() NOT NULL,
    name character varying NOT NULL,
    id serial
);

CREATE TABLE zone_members_region (
    "zoneId" integer NOT NULL,
    "regionId" integer NOT NULL
);

ALTER TABLE order_promotions_promotion ADD CONSTRAINT "PK_001dfe7435f3946fbc2d66a4e92" PRIMARY KEY ("orderId", "promotionId");
ALTER TABLE order_line ADD CONSTRAINT "PK_01a7c973d9f30479647e44f9892" PRIMARY KEY (id);
ALTER TABLE promotion_translation ADD CONSTRAINT "PK_0b4fd34d2fc7abc06189494a178" PRIMARY KEY (id);
ALTER TABLE collection_channels_channel ADD CONSTRAINT "PK_0e292d80228c9b4a114d2b09476" PRIMARY KEY ("collectionId", "channelId");
ALTER TABLE customer_groups_customer_group ADD CONSTRAINT "PK_0f902789cba691ce7ebbc9fcaa6" PRIMARY KEY ("customerId", "customerGroupId");
ALTER TABLE "order" ADD CONSTRAINT "PK_1031171c13130102495201e3e20" PRIMARY KEY (id);
ALTER TABLE asset ADD CONSTRAINT "PK_1209d107fe21482beaea51b745e" PRIMARY KEY (id);
ALTER TABLE product_variant_channels_channel ADD CONSTRAINT "PK_1a10ca648c3d73c0f2b455ae191" PRIMARY KEY ("productVariantId", "channelId");
ALTER TABLE product_variant ADD CONSTRAINT "PK_1ab69c9935c61f7c70791ae0a9f" PRIMARY KEY (id);
ALTER TABLE order_line_reference ADD CONSTRAINT "PK_21891d07accb8fa87e11165bca2" PRIMARY KEY (id);
ALTER TABLE tax_rate ADD CONSTRAINT "PK_23b71b53f650c0b39e99ccef4fd" PRIMARY KEY (id);
ALTER TABLE tax_category ADD CONSTRAINT "PK_2432988f825c336d5584a96cded" PRIMARY KEY (id);
ALTER TABLE customer_channels_channel ADD CONSTRAINT "PK_27e2fa538c020889d32a0a784e8" PRIMARY KEY ("customerId", "channelId");
ALTER TABLE seller ADD CONSTRAINT "PK_36445a9c6e794945a4a4a8d3c9d" PRIMARY KEY (id);
ALTER TABLE order_channels_channel ADD CONSTRAINT "PK_39853134b20afe9dfb25de18292" PRIMARY KEY ("orderId", "channelId");
ALTER TABLE region_translation ADD CONSTRAINT "PK_3e0c9619cafbe579eeecfd88abc" PRIMARY KEY (id);
ALTER TABLE order_fulfillments_fulfillment ADD CONSTRAINT "PK_414600087d71aee1583bc517590" PRIMARY KEY ("orderId", "fulfillmentId");
ALTER TABLE product_option_group_translation ADD CONSTRAINT "PK_44ab19f118175288dff147c4a00" PRIMARY KEY (id);
ALTER TABLE promotion_channels_channel ADD CONSTRAINT "PK_4b34f9b7bf95a8d3dc7f7f6dd23" PRIMARY KEY ("promotionId", "channelId");
ALTER TABLE product_variant_translation ADD CONSTRAINT "PK_4b7f882e2b669800bed7ed065f0" PRIMARY KEY (id);
ALTER TABLE product_option ADD CONSTRAINT "PK_4cf3c467e9bc764bdd32c4cd938" PRIMARY KEY (id);
ALTER TABLE fulfillment ADD CONSTRAINT "PK_50c102da132afffae660585981f" PRIMARY KEY (id);
ALTER TABLE collection_product_variants_product_variant ADD CONSTRAINT "PK_50c5ed0504ded53967be811f633" PRIMARY KEY ("collectionId", "productVariantId");
ALTER TABLE channel ADD CONSTRAINT "PK_590f33ee6ee7d76437acf362e39" PRIMARY KEY (id);
ALTER TABLE region ADD CONSTRAINT "PK_5f48ffc3af96bc486f5f3f3a6da" PRIMARY KEY (id);
ALTER TABLE product_translation ADD CONSTRAINT "PK_62d00fbc92e7a495701d6fee9d5" PRIMARY KEY (id);
ALTER TABLE facet_value_channels_channel ADD CONSTRAINT "PK_653fb72a256f100f52c573e419f" PRIMARY KEY ("facetValueId", "channelId");
ALTER TABLE product_option_translation ADD CONSTRAINT "PK_69c79a84baabcad3c7328576ac0" PRIMARY KEY (id);
ALTER TABLE role_channels_channel ADD CONSTRAINT "PK_6fb9277e9f11bb8a63445c36242" PRIMARY KEY ("roleId", "channelId");
ALTER TABLE product_channels_channel ADD CONSTRAINT "PK_722acbcc06403e693b518d2c345" PRIMARY KEY ("productId", "channelId");
ALTER TABLE payment_method ADD CONSTRAINT "PK_7744c2b2dd932c9cf42f2b9bc3a" PRIMARY KEY (id);
ALTER TABLE job_record ADD CONSTRAINT "PK_88ce3ea0c9dca8b571450b457a7" PRIMARY KEY (id);
ALTER TABLE customer_group ADD CONSTRAINT "PK_88e7da3ff7262d9e0a35aa3664e" PRIMARY KEY (id);
ALTER TABLE stock_level ADD CONSTRAINT "PK_88ff7d9dfb57dc9d435e365eb69" PRIMARY KEY (id);
ALTER TABLE shipping_line ADD CONSTRAINT "PK_890522bfc44a4b6eb7cb1e52609" PRIMARY KEY (id);
ALTER TABLE tag ADD CONSTRAINT "PK_8e4052373c579afc1471f526760" PRIMARY KEY (id);
ALTER TABLE collection_closure ADD CONSTRAINT "PK_9dda38e2273a7744b8f655782a5" PRIMARY KEY (id_ancestor, id_descendant);
ALTER TABLE stock_movement ADD CONSTRAINT "PK_9fe1232f916686ae8cf00294749" PRIMARY KEY (id);
ALTER TABLE facet_value_translation ADD CONSTRAINT "PK_a09fdeb788deff7a9ed827a6160" PRIMARY KEY (id);
ALTER TABLE facet ADD CONSTRAINT "PK_a0ebfe3c68076820c6886aa9ff3" PRIMARY KEY (id);
ALTER TABLE product_variant_facet_values_facet_value ADD CONSTRAINT "PK_a28474836b2feeffcef98c806e1" PRIMARY KEY ("productVariantId", "facetValueId");
ALTER TABLE collection_asset ADD CONSTRAINT "PK_a2adab6fd086adfb7858f1f110c" PRIMARY KEY (id);
ALTER TABLE surcharge ADD CONSTRAINT "PK_a62b89257bcc802b5d77346f432" PRIMARY KEY (id);
ALTER TABLE facet_translation ADD CONSTRAINT "PK_a6902cc1dcbb5e52a980f0189ad" PRIMARY KEY (id);
ALTER TABLE customer ADD CONSTRAINT "PK_a7a13f4cacb744524e44dfdad32" PRIMARY KEY (id);
ALTER TABLE collection ADD CONSTRAINT "PK_ad3f485bbc99d875491f44d7c85" PRIMARY KEY (id);
ALTER TABLE stock_location ADD CONSTRAINT "PK_adf770067d0df1421f525fa25cc" PRIMARY KEY (id);
ALTER TABLE payment_method_translation ADD CONSTRAINT "PK_ae5ae0af71ae8d15da9eb75768b" PRIMARY KEY (id);
ALTER TABLE role ADD CONSTRAINT "PK_b36bcfe02fc8de3c57a8b2391c2" PRIMARY KEY (id);
ALTER TABLE user_roles_role ADD CONSTRAINT "PK_b47cd6c84ee205ac5a713718292" PRIMARY KEY ("userId", "roleId");
ALTER TABLE history_entry ADD CONSTRAINT "PK_b65bd95b0d2929668589d57b97a" PRIMARY KEY (id);
ALTER TABLE shipping_method_translation ADD CONSTRAINT "PK_b862a1fac1c6e1fd201eadadbcb" PRIMARY KEY (id);
ALTER TABLE shipping_method ADD CONSTRAINT "PK_b9b0adfad3c6b99229c1e7d4865" PRIMARY KEY (id);
ALTER TABLE product_variant_price ADD CONSTRAINT "PK_ba659ff2940702124e799c5c854" PRIMARY KEY (id);
ALTER TABLE collection_translation ADD CONSTRAINT "PK_bb49cfcde50401eb5f463a84dac" PRIMARY KEY (id);
ALTER TABLE zone ADD CONSTRAINT "PK_bd3989e5a3c3fb5ed546dfaf832" PRIMARY KEY (id);
ALTER TABLE product ADD CONSTRAINT "PK_bebc9158e480b949565b4dc7a82" PRIMARY KEY (id);
ALTER TABLE asset_tags_tag ADD CONSTRAINT "PK_c4113b84381e953901fa5553654" PRIMARY KEY ("assetId", "tagId");
ALTER TABLE product_asset ADD CONSTRAINT "PK_c56a83efd14ec4175532e1867fc" PRIMARY KEY (id);
ALTER TABLE product_variant_options_product_option ADD CONSTRAINT "PK_c57de5cb6bb74504180604a00c0" PRIMARY KEY ("productVariantId", "productOptionId");
ALTER TABLE payment_method_channels_channel ADD CONSTRAINT "PK_c83e4a201c0402ce5cdb170a9a2" PRIMARY KEY ("paymentMethodId", "channelId");
ALTER TABLE shipping_method_channels_channel ADD CONSTRAINT "PK_c92b2b226a6ee87888d8dcd8bd6" PRIMARY KEY ("shippingMethodId", "channelId");
ALTER TABLE "user" ADD CONSTRAINT "PK_cace4a159ff9f2512dd42373760" PRIMARY KEY (id);
ALTER TABLE product_variant_asset ADD CONSTRAINT "PK_cb1e33ae13779da176f8b03a5d3" PRIMARY KEY (id);
ALTER TABLE order_modification ADD CONSTRAINT "PK_cccf2e1612694eeb1e5b6760ffa" PRIMARY KEY (id);
ALTER TABLE facet_value ADD CONSTRAINT "PK_d231e8eecc7e1a6059e1da7d325" PRIMARY KEY (id);
ALTER TABLE product_facet_values_facet_value ADD CONSTRAINT "PK_d57f06b38805181019d75662aa6" PRIMARY KEY ("productId", "facetValueId");
ALTER TABLE product_option_group ADD CONSTRAINT "PK_d76e92fdbbb5a2e6752ffd4a2c1" PRIMARY KEY (id);
ALTER TABLE address ADD CONSTRAINT "PK_d92de1f82754668b5f5f5dd4fd5" PRIMARY KEY (id);
ALTER TABLE asset_channels_channel ADD CONSTRAINT "PK_d943908a39e32952e8425d2f1ba" PRIMARY KEY ("assetId", "channelId");
ALTER TABLE facet_channels_channel ADD CONSTRAINT "PK_df0579886093b2f830c159adfde" PRIMARY KEY ("facetId", "channelId");
ALTER TABLE authentication_method ADD CONSTRAINT "PK_e204686018c3c60f6164e385081" PRIMARY KEY (id);
ALTER TABLE stock_location_channels_channel ADD CONSTRAINT "PK_e6f8b2d61ff58c51505c38da8a0" PRIMARY KEY ("stockLocationId", "channelId");
ALTER TABLE administrator ADD CONSTRAINT "PK_ee58e71b3b4008b20ddc7b3092b" PRIMARY KEY (id);
ALTER TABLE refund ADD CONSTRAINT "PK_f1cefa2e60d99b206c46c1116e5" PRIMARY KEY (id);
ALTER TABLE session ADD CONSTRAINT "PK_f55da76ac1c3ac420f444d2ff11" PRIMARY KEY (id);
ALTER TABLE promotion ADD CONSTRAINT "PK_fab3630e0789a2002f1cadb7d38" PRIMARY KEY (id);
ALTER TABLE zone_members_region ADD CONSTRAINT "PK_fc4eaa2236c4d4f61db0ae3826f" PRIMARY KEY ("zoneId", "regionId");
ALTER TABLE payment ADD CONSTRAINT "PK_fcaec7df5adf9cac408c686b2ab" PRIMARY KEY (id);
ALTER TABLE global_settings ADD CONSTRAINT "PK_fec5e2c0bf238e30b25d4a82976" PRIMARY KEY (id);
ALTER TABLE administrator ADD CONSTRAINT "REL_1966e18ce6a39a82b19204704d" UNIQUE ("userId");
ALTER TABLE customer ADD CONSTRAINT "REL_3f62b42ed23958b120c235f74d" UNIQUE ("userId");
ALTER TABLE order_modification ADD CONSTRAINT "REL_ad2991fa2933ed8b7f86a71633" UNIQUE ("paymentId");
ALTER TABLE order_modification ADD CONSTRAINT "REL_cb66b63b6e97613013795eadbd" UNIQUE ("refundId");
ALTER TABLE channel ADD CONSTRAINT "UQ_06127ac6c6d913f4320759971db" UNIQUE (code);
ALTER TABLE facet ADD CONSTRAINT "UQ_0c9a5d053fdf4ebb5f0490b40fd" UNIQUE (code);
ALTER TABLE administrator ADD CONSTRAINT "UQ_154f5c538b1576ccc277b1ed631" UNIQUE ("emailAddress");
ALTER TABLE channel ADD CONSTRAINT "UQ_842699fce4f3470a7d06d89de88" UNIQUE (token);

CREATE INDEX "IDX_00cbe87bc0d4e36758d61bd31d" ON authentication_method USING btree ("userId");
CREATE INDEX "IDX_06b02fb482b188823e419d37bd" ON order_line_reference USING btree ("fulfillmentId");
CREATE INDEX "IDX_06e7d73673ee630e8ec50d0b29" ON product_facet_values_facet_value USING btree ("facetValueId");
CREATE INDEX "IDX_0d1294f5c22a56da7845ebab72" ON product_asset USING btree ("productId");
CREATE INDEX "IDX_0d641b761ed1dce4ef3cd33d55" ON product_variant_facet_values_facet_value USING btree ("facetValueId");
CREATE INDEX "IDX_0d8e5c204480204a60e151e485" ON order_channels_channel USING btree ("orderId");
CREATE INDEX "IDX_0e6f516053cf982b537836e21c" ON product_variant USING btree ("featuredAssetId");
CREATE INDEX "IDX_0eaaf0f4b6c69afde1e88ffb52" ON promotion_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_10b5a2e3dee0e30b1e26c32f5c" ON product_variant_asset USING btree ("assetId");
CREATE INDEX "IDX_124456e637cca7a415897dce65" ON "order" USING btree ("customerId");
CREATE INDEX "IDX_154eb685f9b629033bd266df7f" ON surcharge USING btree ("orderId");
CREATE INDEX "IDX_16ca9151a5153f1169da5b7b7e" ON asset_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_1afd722b943c81310705fc3e61" ON region_translation USING btree ("baseId");
CREATE INDEX "IDX_1c6932a756108788a361e7d440" ON refund USING btree ("paymentId");
CREATE INDEX "IDX_1cc009e9ab2263a35544064561" ON promotion_translation USING btree ("baseId");
CREATE INDEX "IDX_1df5bc14a47ef24d2e681f4559" ON order_modification USING btree ("orderId");
CREATE INDEX "IDX_1ed9e48dfbf74b5fcbb35d3d68" ON collection_asset USING btree ("collectionId");
CREATE INDEX "IDX_22b818af8722746fb9f206068c" ON order_line_reference USING btree ("modificationId");
CREATE UNIQUE INDEX "IDX_232f8e85d7633bd6ddfad42169" ON session USING btree (token);
CREATE INDEX "IDX_239cfca2a55b98b90b6bef2e44" ON order_line USING btree ("orderId");
CREATE INDEX "IDX_26d12be3b5fec6c4adb1d79284" ON product_channels_channel USING btree ("productId");
CREATE INDEX "IDX_2a8ea404d05bf682516184db7d" ON facet_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_2c26b988769c0e3b0120bdef31" ON order_promotions_promotion USING btree ("promotionId");
CREATE INDEX "IDX_30019aa65b17fe9ee962893199" ON order_line_reference USING btree ("refundId");
CREATE INDEX "IDX_39513fd02a573c848d23bee587" ON stock_location_channels_channel USING btree ("stockLocationId");
CREATE INDEX "IDX_3a05127e67435b4d2332ded7c9" ON history_entry USING btree ("orderId");
CREATE INDEX "IDX_3d2f174ef04fb312fdebd0ddc5" ON session USING btree ("userId");
CREATE INDEX "IDX_3d6e45823b65de808a66cb1423" ON facet_value_translation USING btree ("baseId");
CREATE INDEX "IDX_420f4d6fb75d38b9dca79bc43b" ON product_variant_translation USING btree ("baseId");
CREATE INDEX "IDX_433f45158e4e2b2a2f344714b2" ON zone_members_region USING btree ("zoneId");
CREATE INDEX "IDX_43ac602f839847fdb91101f30e" ON history_entry USING btree ("customerId");
CREATE INDEX "IDX_457784c710f8ac9396010441f6" ON collection_closure USING btree (id_descendant);
CREATE INDEX "IDX_49a8632be8cef48b076446b8b9" ON order_line_reference USING btree (discriminator);
CREATE INDEX "IDX_4add5a5796e1582dec2877b289" ON order_fulfillments_fulfillment USING btree ("fulfillmentId");
CREATE INDEX "IDX_4be2f7adf862634f5f803d246b" ON user_roles_role USING btree ("roleId");
CREATE INDEX "IDX_51da53b26522dc0525762d2de8" ON collection_asset USING btree ("assetId");
CREATE INDEX "IDX_526f0131260eec308a3bd2b61b" ON product_variant_options_product_option USING btree ("productVariantId");
CREATE INDEX "IDX_5888ac17b317b93378494a1062" ON product_asset USING btree ("assetId");
CREATE INDEX "IDX_5bcb569635ce5407eb3f264487" ON payment_method_channels_channel USING btree ("paymentMethodId");
CREATE INDEX "IDX_5f9286e6c25594c6b88c108db7" ON user_roles_role USING btree ("userId");
CREATE INDEX "IDX_66187f782a3e71b9e0f5b50b68" ON payment_method_translation USING btree ("baseId");
CREATE INDEX "IDX_67be0e40122ab30a62a9817efe" ON order_promotions_promotion USING btree ("orderId");
CREATE INDEX "IDX_6901d8715f5ebadd764466f7bd" ON order_line USING btree ("sellerChannelId");
CREATE INDEX "IDX_69567bc225b6bbbd732d6c5455" ON product_variant_facet_values_facet_value USING btree ("productVariantId");
CREATE INDEX "IDX_6a0558e650d75ae639ff38e413" ON product_facet_values_facet_value USING btree ("productId");
CREATE INDEX "IDX_6d9e2c39ab12391aaa374bcdaa" ON promotion_channels_channel USING btree ("promotionId");
CREATE INDEX "IDX_6e420052844edf3a5506d863ce" ON product_variant USING btree ("productId");
CREATE INDEX "IDX_6faa7b72422d9c4679e2f186ad" ON collection_product_variants_product_variant USING btree ("collectionId");
CREATE INDEX "IDX_7216ab24077cf5cbece7857dbb" ON collection_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_7256fef1bb42f1b38156b7449f" ON collection USING btree ("featuredAssetId");
CREATE UNIQUE INDEX "IDX_729b3eea7ce540930dbb706949" ON "order" USING btree (code);
CREATE INDEX "IDX_73a78d7df09541ac5eba620d18" ON "order" USING btree ("aggregateOrderId");
CREATE INDEX "IDX_77be94ce9ec650446617946227" ON order_line USING btree ("taxCategoryId");
CREATE INDEX "IDX_7a75399a4f4ffa48ee02e98c05" ON session USING btree ("activeOrderId");
CREATE INDEX "IDX_7d57857922dfc7303604697dbe" ON order_line_reference USING btree ("orderLineId");
CREATE INDEX "IDX_7dbc75cb4e8b002620c4dbfdac" ON product_translation USING btree ("baseId");
CREATE INDEX "IDX_7ee3306d7638aa85ca90d67219" ON tax_rate USING btree ("categoryId");
CREATE UNIQUE INDEX "IDX_7fc20486b8cfd33dc84c96e168" ON stock_level USING btree ("productVariantId", "stockLocationId");
CREATE INDEX "IDX_85ec26c71067ebc84adcd98d1a" ON shipping_method_translation USING btree ("baseId");
CREATE INDEX "IDX_85feea3f0e5e82133605f78db0" ON customer_groups_customer_group USING btree ("customerGroupId");
CREATE INDEX "IDX_8b5ab52fc8887c1a769b9276ca" ON tax_rate USING btree ("customerGroupId");
CREATE INDEX "IDX_91a19e6613534949a4ce6e76ff" ON product USING btree ("featuredAssetId");
CREATE INDEX "IDX_92f8c334ef06275f9586fd0183" ON history_entry USING btree ("administratorId");
CREATE INDEX "IDX_93751abc1451972c02e033b766" ON product_option_group_translation USING btree ("baseId");
CREATE INDEX "IDX_94e15d5f12d355d117390131ac" ON stock_movement USING btree (discriminator);
CREATE INDEX "IDX_984c48572468c69661a0b7b049" ON stock_level USING btree ("stockLocationId");
CREATE INDEX "IDX_9872fc7de2f4e532fd3230d191" ON tax_rate USING btree ("zoneId");
CREATE INDEX "IDX_9950eae3180f39c71978748bd0" ON stock_level USING btree ("productVariantId");
CREATE INDEX "IDX_9e412b00d4c6cee1a4b3d92071" ON asset_tags_tag USING btree ("assetId");
CREATE INDEX "IDX_9f065453910ea77d4be8e92618" ON order_line USING btree ("featuredAssetId");
CREATE INDEX "IDX_9f9da7d94b0278ea0f7831e1fc" ON collection_translation USING btree (slug);
CREATE INDEX "IDX_a23445b2c942d8dfcae15b8de2" ON authentication_method USING btree (type);
CREATE INDEX "IDX_a2fe7172eeae9f1cca86f8f573" ON stock_movement USING btree ("stockLocationId");
CREATE INDEX "IDX_a49c5271c39cc8174a0535c808" ON surcharge USING btree ("orderModificationId");
CREATE INDEX "IDX_a51dfbd87c330c075c39832b6e" ON product_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_a6debf9198e2fbfa006aa10d71" ON product_option USING btree ("groupId");
CREATE INDEX "IDX_a6e91739227bf4d442f23c52c7" ON product_option_group USING btree ("productId");
CREATE INDEX "IDX_a79a443c1f7841f3851767faa6" ON product_option_translation USING btree ("baseId");
CREATE INDEX "IDX_a842c9fe8cd4c8ff31402d172d" ON customer_channels_channel USING btree ("customerId");
CREATE INDEX "IDX_ad690c1b05596d7f52e52ffeed" ON facet_value_channels_channel USING btree ("facetValueId");
CREATE INDEX "IDX_af2116c7e176b6b88dceceeb74" ON channel USING btree ("sellerId");
CREATE INDEX "IDX_afe9f917a1c82b9e9e69f7c612" ON channel USING btree ("defaultTaxZoneId");
CREATE INDEX "IDX_b45b65256486a15a104e17d495" ON zone_members_region USING btree ("regionId");
CREATE INDEX "IDX_b823a3c8bf3b78d3ed68736485" ON customer_groups_customer_group USING btree ("customerId");
CREATE INDEX "IDX_beeb2b3cd800e589f2213ae99d" ON product_variant_channels_channel USING btree ("productVariantId");
CREATE INDEX "IDX_bfd2a03e9988eda6a9d1176011" ON role_channels_channel USING btree ("roleId");
CREATE INDEX "IDX_c00e36f667d35031087b382e61" ON payment_method_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_c309f8cd152bbeaea08491e0c6" ON collection_closure USING btree (id_ancestor);
CREATE INDEX "IDX_c9ca2f58d4517460435cbd8b4c" ON channel USING btree ("defaultShippingZoneId");
CREATE INDEX "IDX_c9f34a440d490d1b66f6829b86" ON shipping_line USING btree ("orderId");
CREATE INDEX "IDX_ca796020c6d097e251e5d6d2b0" ON facet_channels_channel USING btree ("facetId");
CREATE INDEX "IDX_cbcd22193eda94668e84d33f18" ON order_line USING btree ("productVariantId");
CREATE INDEX "IDX_cdbf33ffb5d451916125152008" ON collection_channels_channel USING btree ("collectionId");
CREATE INDEX "IDX_d09d285fe1645cd2f0db811e29" ON payment USING btree ("orderId");
CREATE INDEX "IDX_d0d16db872499e83b15999f8c7" ON order_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_d101dc2265a7341be3d94968c5" ON facet_value USING btree ("facetId");
CREATE INDEX "IDX_d194bff171b62357688a5d0f55" ON product_variant_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_d2c8d5fca981cc820131f81aa8" ON stock_movement USING btree ("orderLineId");
CREATE INDEX "IDX_d87215343c3a3a67e6a0b7f3ea" ON address USING btree ("countryId");
CREATE INDEX "IDX_dc34d382b493ade1f70e834c4d" ON address USING btree ("customerId");
CREATE INDEX "IDX_dc4e7435f9f5e9e6436bebd33b" ON asset_channels_channel USING btree ("assetId");
CREATE INDEX "IDX_dc9ac68b47da7b62249886affb" ON order_line USING btree ("shippingLineId");
CREATE INDEX "IDX_dc9f69207a8867f83b0fd257e3" ON customer_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_e09dfee62b158307404202b43a" ON role_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_e1d54c0b9db3e2eb17faaf5919" ON facet_value_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_e2e7642e1e88167c1dfc827fdf" ON shipping_line USING btree ("shippingMethodId");
CREATE INDEX "IDX_e329f9036210d75caa1d8f2154" ON collection_translation USING btree ("baseId");
CREATE INDEX "IDX_e38dca0d82fd64c7cf8aac8b8e" ON product_variant USING btree ("taxCategoryId");
CREATE INDEX "IDX_e5598363000cab9d9116bd5835" ON session USING btree (type);
CREATE INDEX "IDX_e6126cd268aea6e9b31d89af9a" ON product_variant_price USING btree ("variantId");
CREATE INDEX "IDX_e65ba3882557cab4febb54809b" ON stock_movement USING btree ("productVariantId");
CREATE INDEX "IDX_e96a71affe63c97f7fa2f076da" ON product_variant_options_product_option USING btree ("productOptionId");
CREATE INDEX "IDX_eaea53f44bf9e97790d38a3d68" ON facet_translation USING btree ("baseId");
CREATE INDEX "IDX_eb87ef1e234444728138302263" ON session USING btree ("activeChannelId");
CREATE INDEX "IDX_ed0c8098ce6809925a437f42ae" ON region USING btree ("parentId");
CREATE INDEX "IDX_f0a17b94aa5a162f0d422920eb" ON shipping_method_channels_channel USING btree ("shippingMethodId");
CREATE INDEX "IDX_f2b98dfb56685147bed509acc3" ON shipping_method_channels_channel USING btree ("channelId");
CREATE INDEX "IDX_f3a761f6bcfabb474b11e1e51f" ON history_entry USING btree (discriminator);
CREATE INDEX "IDX_f4a2ec16ba86d277b6faa0b67b" ON product_translation USING btree (slug);
CREATE INDEX "IDX_f80d84d525af2ffe974e7e8ca2" ON order_fulfillments_fulfillment USING btree ("orderId");
CREATE INDEX "IDX_fa21412afac15a2304f3eb35fe" ON product_variant_asset USING btree ("productVariantId");
CREATE INDEX "IDX_fb05887e2867365f236d7dd95e" ON collection_product_variants_product_variant USING btree ("productVariantId");
CREATE INDEX "IDX_fb5e800171ffbe9823f2cc727f" ON asset_tags_tag USING btree ("tagId");
CREATE INDEX "IDX_ff8150fe54e56a900d5712671a" ON stock_location_channels_channel USING btree ("channelId");

ALTER TABLE authentication_method ADD CONSTRAINT "FK_00cbe87bc0d4e36758d61bd31d6" FOREIGN KEY ("userId") REFERENCES "user"(id);
ALTER TABLE order_line_reference ADD CONSTRAINT "FK_06b02fb482b188823e419d37bd4" FOREIGN KEY ("fulfillmentId") REFERENCES fulfillment(id);
ALTER TABLE product_facet_values_facet_value ADD CONSTRAINT "FK_06e7d73673ee630e8ec50d0b29f" FOREIGN KEY ("facetValueId") REFERENCES facet_value(id) ON DELETE CASCADE;
ALTER TABLE product_asset ADD CONSTRAINT "FK_0d1294f5c22a56da7845ebab72c" FOREIGN KEY ("productId") REFERENCES product(id) ON DELETE CASCADE;
ALTER TABLE product_variant_facet_values_facet_value ADD CONSTRAINT "FK_0d641b761ed1dce4ef3cd33d559" FOREIGN KEY ("facetValueId") REFERENCES facet_value(id);
ALTER TABLE order_channels_channel ADD CONSTRAINT "FK_0d8e5c204480204a60e151e4853" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_variant ADD CONSTRAINT "FK_0e6f516053cf982b537836e21cf" FOREIGN KEY ("featuredAssetId") REFERENCES asset(id) ON DELETE SET NULL;
ALTER TABLE promotion_channels_channel ADD CONSTRAINT "FK_0eaaf0f4b6c69afde1e88ffb52d" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE product_variant_asset ADD CONSTRAINT "FK_10b5a2e3dee0e30b1e26c32f5c7" FOREIGN KEY ("assetId") REFERENCES asset(id) ON DELETE CASCADE;
ALTER TABLE "order" ADD CONSTRAINT "FK_124456e637cca7a415897dce659" FOREIGN KEY ("customerId") REFERENCES customer(id);
ALTER TABLE surcharge ADD CONSTRAINT "FK_154eb685f9b629033bd266df7fa" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON DELETE CASCADE;
ALTER TABLE asset_channels_channel ADD CONSTRAINT "FK_16ca9151a5153f1169da5b7b7e3" FOREIGN KEY ("channelId") REFERENCES channel(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE administrator ADD CONSTRAINT "FK_1966e18ce6a39a82b19204704d7" FOREIGN KEY ("userId") REFERENCES "user"(id);
ALTER TABLE region_translation ADD CONSTRAINT "FK_1afd722b943c81310705fc3e612" FOREIGN KEY ("baseId") REFERENCES region(id) ON DELETE CASCADE;
ALTER TABLE refund ADD CONSTRAINT "FK_1c6932a756108788a361e7d4404" FOREIGN KEY ("paymentId") REFERENCES payment(id);
ALTER TABLE promotion_translation ADD CONSTRAINT "FK_1cc009e9ab2263a35544064561b" FOREIGN KEY ("baseId") REFERENCES promotion(id) ON DELETE CASCADE;
ALTER TABLE order_modification ADD CONSTRAINT "FK_1df5bc14a47ef24d2e681f45598" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON DELETE CASCADE;
ALTER TABLE collection_asset ADD CONSTRAINT "FK_1ed9e48dfbf74b5fcbb35d3d686" FOREIGN KEY ("collectionId") REFERENCES collection(id) ON DELETE CASCADE;
ALTER TABLE order_line_reference ADD CONSTRAINT "FK_22b818af8722746fb9f206068c2" FOREIGN KEY ("modificationId") REFERENCES order_modification(id);
ALTER TABLE order_line ADD CONSTRAINT "FK_239cfca2a55b98b90b6bef2e44f" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON DELETE CASCADE;
ALTER TABLE product_channels_channel ADD CONSTRAINT "FK_26d12be3b5fec6c4adb1d792844" FOREIGN KEY ("productId") REFERENCES product(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE facet_channels_channel ADD CONSTRAINT "FK_2a8ea404d05bf682516184db7d3" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE order_promotions_promotion ADD CONSTRAINT "FK_2c26b988769c0e3b0120bdef31b" FOREIGN KEY ("promotionId") REFERENCES promotion(id);
ALTER TABLE order_line_reference ADD CONSTRAINT "FK_30019aa65b17fe9ee9628931991" FOREIGN KEY ("refundId") REFERENCES refund(id);
ALTER TABLE stock_location_channels_channel ADD CONSTRAINT "FK_39513fd02a573c848d23bee587d" FOREIGN KEY ("stockLocationId") REFERENCES stock_location(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE history_entry ADD CONSTRAINT "FK_3a05127e67435b4d2332ded7c9e" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON DELETE CASCADE;
ALTER TABLE session ADD CONSTRAINT "FK_3d2f174ef04fb312fdebd0ddc53" FOREIGN KEY ("userId") REFERENCES "user"(id);
ALTER TABLE facet_value_translation ADD CONSTRAINT "FK_3d6e45823b65de808a66cb1423b" FOREIGN KEY ("baseId") REFERENCES facet_value(id) ON DELETE CASCADE;
ALTER TABLE customer ADD CONSTRAINT "FK_3f62b42ed23958b120c235f74df" FOREIGN KEY ("userId") REFERENCES "user"(id);
ALTER TABLE product_variant_translation ADD CONSTRAINT "FK_420f4d6fb75d38b9dca79bc43b4" FOREIGN KEY ("baseId") REFERENCES product_variant(id) ON DELETE CASCADE;
ALTER TABLE collection ADD CONSTRAINT "FK_4257b61275144db89fa0f5dc059" FOREIGN KEY ("parentId") REFERENCES collection(id);
ALTER TABLE zone_members_region ADD CONSTRAINT "FK_433f45158e4e2b2a2f344714b22" FOREIGN KEY ("zoneId") REFERENCES zone(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE history_entry ADD CONSTRAINT "FK_43ac602f839847fdb91101f30ec" FOREIGN KEY ("customerId") REFERENCES customer(id) ON DELETE CASCADE;
ALTER TABLE collection_closure ADD CONSTRAINT "FK_457784c710f8ac9396010441f6c" FOREIGN KEY (id_descendant) REFERENCES collection(id) ON DELETE CASCADE;
ALTER TABLE order_fulfillments_fulfillment ADD CONSTRAINT "FK_4add5a5796e1582dec2877b2898" FOREIGN KEY ("fulfillmentId") REFERENCES fulfillment(id);
ALTER TABLE user_roles_role ADD CONSTRAINT "FK_4be2f7adf862634f5f803d246b8" FOREIGN KEY ("roleId") REFERENCES role(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE collection_asset ADD CONSTRAINT "FK_51da53b26522dc0525762d2de8e" FOREIGN KEY ("assetId") REFERENCES asset(id) ON DELETE CASCADE;
ALTER TABLE product_variant_options_product_option ADD CONSTRAINT "FK_526f0131260eec308a3bd2b61b6" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_asset ADD CONSTRAINT "FK_5888ac17b317b93378494a10620" FOREIGN KEY ("assetId") REFERENCES asset(id) ON DELETE CASCADE;
ALTER TABLE payment_method_channels_channel ADD CONSTRAINT "FK_5bcb569635ce5407eb3f264487d" FOREIGN KEY ("paymentMethodId") REFERENCES payment_method(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE user_roles_role ADD CONSTRAINT "FK_5f9286e6c25594c6b88c108db77" FOREIGN KEY ("userId") REFERENCES "user"(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE payment_method_translation ADD CONSTRAINT "FK_66187f782a3e71b9e0f5b50b68b" FOREIGN KEY ("baseId") REFERENCES payment_method(id) ON DELETE CASCADE;
ALTER TABLE order_promotions_promotion ADD CONSTRAINT "FK_67be0e40122ab30a62a9817efe0" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE order_line ADD CONSTRAINT "FK_6901d8715f5ebadd764466f7bde" FOREIGN KEY ("sellerChannelId") REFERENCES channel(id) ON DELETE SET NULL;
ALTER TABLE product_variant_facet_values_facet_value ADD CONSTRAINT "FK_69567bc225b6bbbd732d6c5455b" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_facet_values_facet_value ADD CONSTRAINT "FK_6a0558e650d75ae639ff38e413a" FOREIGN KEY ("productId") REFERENCES product(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE promotion_channels_channel ADD CONSTRAINT "FK_6d9e2c39ab12391aaa374bcdaa4" FOREIGN KEY ("promotionId") REFERENCES promotion(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_variant ADD CONSTRAINT "FK_6e420052844edf3a5506d863ce6" FOREIGN KEY ("productId") REFERENCES product(id);
ALTER TABLE collection_product_variants_product_variant ADD CONSTRAINT "FK_6faa7b72422d9c4679e2f186ad1" FOREIGN KEY ("collectionId") REFERENCES collection(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE collection_channels_channel ADD CONSTRAINT "FK_7216ab24077cf5cbece7857dbbd" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE collection ADD CONSTRAINT "FK_7256fef1bb42f1b38156b7449f5" FOREIGN KEY ("featuredAssetId") REFERENCES asset(id) ON DELETE SET NULL;
ALTER TABLE "order" ADD CONSTRAINT "FK_73a78d7df09541ac5eba620d181" FOREIGN KEY ("aggregateOrderId") REFERENCES "order"(id);
ALTER TABLE order_line ADD CONSTRAINT "FK_77be94ce9ec6504466179462275" FOREIGN KEY ("taxCategoryId") REFERENCES tax_category(id);
ALTER TABLE session ADD CONSTRAINT "FK_7a75399a4f4ffa48ee02e98c059" FOREIGN KEY ("activeOrderId") REFERENCES "order"(id);
ALTER TABLE order_line_reference ADD CONSTRAINT "FK_7d57857922dfc7303604697dbe9" FOREIGN KEY ("orderLineId") REFERENCES order_line(id) ON DELETE CASCADE;
ALTER TABLE product_translation ADD CONSTRAINT "FK_7dbc75cb4e8b002620c4dbfdac5" FOREIGN KEY ("baseId") REFERENCES product(id);
ALTER TABLE tax_rate ADD CONSTRAINT "FK_7ee3306d7638aa85ca90d672198" FOREIGN KEY ("categoryId") REFERENCES tax_category(id);
ALTER TABLE shipping_method_translation ADD CONSTRAINT "FK_85ec26c71067ebc84adcd98d1a5" FOREIGN KEY ("baseId") REFERENCES shipping_method(id) ON DELETE CASCADE;
ALTER TABLE customer_groups_customer_group ADD CONSTRAINT "FK_85feea3f0e5e82133605f78db02" FOREIGN KEY ("customerGroupId") REFERENCES customer_group(id);
ALTER TABLE tax_rate ADD CONSTRAINT "FK_8b5ab52fc8887c1a769b9276caf" FOREIGN KEY ("customerGroupId") REFERENCES customer_group(id);
ALTER TABLE product ADD CONSTRAINT "FK_91a19e6613534949a4ce6e76ff8" FOREIGN KEY ("featuredAssetId") REFERENCES asset(id) ON DELETE SET NULL;
ALTER TABLE history_entry ADD CONSTRAINT "FK_92f8c334ef06275f9586fd01832" FOREIGN KEY ("administratorId") REFERENCES administrator(id);
ALTER TABLE product_option_group_translation ADD CONSTRAINT "FK_93751abc1451972c02e033b766c" FOREIGN KEY ("baseId") REFERENCES product_option_group(id) ON DELETE CASCADE;
ALTER TABLE stock_level ADD CONSTRAINT "FK_984c48572468c69661a0b7b0494" FOREIGN KEY ("stockLocationId") REFERENCES stock_location(id) ON DELETE CASCADE;
ALTER TABLE tax_rate ADD CONSTRAINT "FK_9872fc7de2f4e532fd3230d1915" FOREIGN KEY ("zoneId") REFERENCES zone(id);
ALTER TABLE stock_level ADD CONSTRAINT "FK_9950eae3180f39c71978748bd08" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON DELETE CASCADE;
ALTER TABLE asset_tags_tag ADD CONSTRAINT "FK_9e412b00d4c6cee1a4b3d920716" FOREIGN KEY ("assetId") REFERENCES asset(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE order_line ADD CONSTRAINT "FK_9f065453910ea77d4be8e92618f" FOREIGN KEY ("featuredAssetId") REFERENCES asset(id) ON DELETE SET NULL;
ALTER TABLE stock_movement ADD CONSTRAINT "FK_a2fe7172eeae9f1cca86f8f573a" FOREIGN KEY ("stockLocationId") REFERENCES stock_location(id) ON DELETE CASCADE;
ALTER TABLE surcharge ADD CONSTRAINT "FK_a49c5271c39cc8174a0535c8088" FOREIGN KEY ("orderModificationId") REFERENCES order_modification(id);
ALTER TABLE product_channels_channel ADD CONSTRAINT "FK_a51dfbd87c330c075c39832b6e7" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE product_option ADD CONSTRAINT "FK_a6debf9198e2fbfa006aa10d710" FOREIGN KEY ("groupId") REFERENCES product_option_group(id);
ALTER TABLE product_option_group ADD CONSTRAINT "FK_a6e91739227bf4d442f23c52c75" FOREIGN KEY ("productId") REFERENCES product(id);
ALTER TABLE product_option_translation ADD CONSTRAINT "FK_a79a443c1f7841f3851767faa6d" FOREIGN KEY ("baseId") REFERENCES product_option(id) ON DELETE CASCADE;
ALTER TABLE customer_channels_channel ADD CONSTRAINT "FK_a842c9fe8cd4c8ff31402d172d7" FOREIGN KEY ("customerId") REFERENCES customer(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE order_modification ADD CONSTRAINT "FK_ad2991fa2933ed8b7f86a716338" FOREIGN KEY ("paymentId") REFERENCES payment(id);
ALTER TABLE facet_value_channels_channel ADD CONSTRAINT "FK_ad690c1b05596d7f52e52ffeedd" FOREIGN KEY ("facetValueId") REFERENCES facet_value(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE channel ADD CONSTRAINT "FK_af2116c7e176b6b88dceceeb74b" FOREIGN KEY ("sellerId") REFERENCES seller(id);
ALTER TABLE channel ADD CONSTRAINT "FK_afe9f917a1c82b9e9e69f7c6129" FOREIGN KEY ("defaultTaxZoneId") REFERENCES zone(id);
ALTER TABLE zone_members_region ADD CONSTRAINT "FK_b45b65256486a15a104e17d495c" FOREIGN KEY ("regionId") REFERENCES region(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE customer_groups_customer_group ADD CONSTRAINT "FK_b823a3c8bf3b78d3ed68736485c" FOREIGN KEY ("customerId") REFERENCES customer(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_variant_channels_channel ADD CONSTRAINT "FK_beeb2b3cd800e589f2213ae99d6" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE role_channels_channel ADD CONSTRAINT "FK_bfd2a03e9988eda6a9d11760119" FOREIGN KEY ("roleId") REFERENCES role(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE payment_method_channels_channel ADD CONSTRAINT "FK_c00e36f667d35031087b382e61b" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE collection_closure ADD CONSTRAINT "FK_c309f8cd152bbeaea08491e0c66" FOREIGN KEY (id_ancestor) REFERENCES collection(id) ON DELETE CASCADE;
ALTER TABLE channel ADD CONSTRAINT "FK_c9ca2f58d4517460435cbd8b4c9" FOREIGN KEY ("defaultShippingZoneId") REFERENCES zone(id);
ALTER TABLE shipping_line ADD CONSTRAINT "FK_c9f34a440d490d1b66f6829b86c" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON DELETE CASCADE;
ALTER TABLE facet_channels_channel ADD CONSTRAINT "FK_ca796020c6d097e251e5d6d2b02" FOREIGN KEY ("facetId") REFERENCES facet(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE order_modification ADD CONSTRAINT "FK_cb66b63b6e97613013795eadbd5" FOREIGN KEY ("refundId") REFERENCES refund(id);
ALTER TABLE order_line ADD CONSTRAINT "FK_cbcd22193eda94668e84d33f185" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON DELETE CASCADE;
ALTER TABLE collection_channels_channel ADD CONSTRAINT "FK_cdbf33ffb5d4519161251520083" FOREIGN KEY ("collectionId") REFERENCES collection(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE payment ADD CONSTRAINT "FK_d09d285fe1645cd2f0db811e293" FOREIGN KEY ("orderId") REFERENCES "order"(id);
ALTER TABLE order_channels_channel ADD CONSTRAINT "FK_d0d16db872499e83b15999f8c7a" FOREIGN KEY ("channelId") REFERENCES channel(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE facet_value ADD CONSTRAINT "FK_d101dc2265a7341be3d94968c5b" FOREIGN KEY ("facetId") REFERENCES facet(id) ON DELETE CASCADE;
ALTER TABLE product_variant_channels_channel ADD CONSTRAINT "FK_d194bff171b62357688a5d0f559" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE stock_movement ADD CONSTRAINT "FK_d2c8d5fca981cc820131f81aa83" FOREIGN KEY ("orderLineId") REFERENCES order_line(id);
ALTER TABLE address ADD CONSTRAINT "FK_d87215343c3a3a67e6a0b7f3ea9" FOREIGN KEY ("countryId") REFERENCES region(id);
ALTER TABLE address ADD CONSTRAINT "FK_dc34d382b493ade1f70e834c4d3" FOREIGN KEY ("customerId") REFERENCES customer(id);
ALTER TABLE asset_channels_channel ADD CONSTRAINT "FK_dc4e7435f9f5e9e6436bebd33bb" FOREIGN KEY ("assetId") REFERENCES asset(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE order_line ADD CONSTRAINT "FK_dc9ac68b47da7b62249886affba" FOREIGN KEY ("shippingLineId") REFERENCES shipping_line(id) ON DELETE SET NULL;
ALTER TABLE customer_channels_channel ADD CONSTRAINT "FK_dc9f69207a8867f83b0fd257e30" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE role_channels_channel ADD CONSTRAINT "FK_e09dfee62b158307404202b43a5" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE facet_value_channels_channel ADD CONSTRAINT "FK_e1d54c0b9db3e2eb17faaf5919c" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE shipping_line ADD CONSTRAINT "FK_e2e7642e1e88167c1dfc827fdf3" FOREIGN KEY ("shippingMethodId") REFERENCES shipping_method(id);
ALTER TABLE collection_translation ADD CONSTRAINT "FK_e329f9036210d75caa1d8f2154a" FOREIGN KEY ("baseId") REFERENCES collection(id) ON DELETE CASCADE;
ALTER TABLE product_variant ADD CONSTRAINT "FK_e38dca0d82fd64c7cf8aac8b8ef" FOREIGN KEY ("taxCategoryId") REFERENCES tax_category(id);
ALTER TABLE product_variant_price ADD CONSTRAINT "FK_e6126cd268aea6e9b31d89af9ab" FOREIGN KEY ("variantId") REFERENCES product_variant(id) ON DELETE CASCADE;
ALTER TABLE stock_movement ADD CONSTRAINT "FK_e65ba3882557cab4febb54809bb" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id);
ALTER TABLE product_variant_options_product_option ADD CONSTRAINT "FK_e96a71affe63c97f7fa2f076dac" FOREIGN KEY ("productOptionId") REFERENCES product_option(id);
ALTER TABLE facet_translation ADD CONSTRAINT "FK_eaea53f44bf9e97790d38a3d68f" FOREIGN KEY ("baseId") REFERENCES facet(id) ON DELETE CASCADE;
ALTER TABLE session ADD CONSTRAINT "FK_eb87ef1e234444728138302263b" FOREIGN KEY ("activeChannelId") REFERENCES channel(id);
ALTER TABLE region ADD CONSTRAINT "FK_ed0c8098ce6809925a437f42aec" FOREIGN KEY ("parentId") REFERENCES region(id) ON DELETE SET NULL;
ALTER TABLE shipping_method_channels_channel ADD CONSTRAINT "FK_f0a17b94aa5a162f0d422920eb2" FOREIGN KEY ("shippingMethodId") REFERENCES shipping_method(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE shipping_method_channels_channel ADD CONSTRAINT "FK_f2b98dfb56685147bed509acc3d" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
ALTER TABLE order_fulfillments_fulfillment ADD CONSTRAINT "FK_f80d84d525af2ffe974e7e8ca29" FOREIGN KEY ("orderId") REFERENCES "order"(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE product_variant_asset ADD CONSTRAINT "FK_fa21412afac15a2304f3eb35feb" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id) ON DELETE CASCADE;
ALTER TABLE collection_product_variants_product_variant ADD CONSTRAINT "FK_fb05887e2867365f236d7dd95ee" FOREIGN KEY ("productVariantId") REFERENCES product_variant(id);
ALTER TABLE asset_tags_tag ADD CONSTRAINT "FK_fb5e800171ffbe9823f2cc727fd" FOREIGN KEY ("tagId") REFERENCES tag(id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE stock_location_channels_channel ADD CONSTRAINT "FK_ff8150fe54e56a900d5712671a0" FOREIGN KEY ("channelId") REFERENCES channel(id) ON DELETE CASCADE;
