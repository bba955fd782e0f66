-- Chado as of Bio::Chado::Schema 0.20000, genomes (DBIx::Class)
-- Source: https://github.com/solgenomics/Bio-Chado-Schema
-- Copyright (c) 2011, Robert Buels <rbuels@cpan.org>
-- Copyright (c) 2009, Boyce Thompson Institute for Plant Research
-- Licence: the Artistic License (or the GNU GPL from version 1 on), see licenses/Artistic
-- Changed: taken from the database that deploy() makes. Owned sequences are written as serial, without
-- owners. Left out: Chado's views, which deploy() makes as tables without a key, and the foreign
-- key of phylonode.phylotree_id to phylonode, which PostgreSQL refuses.

CREATE TABLE acquisition (
    acquisition_id serial,
    assay_id integer NOT NULL,
    protocol_id integer,
    channel_id integer,
    acquisitiondate timestamp without time zone DEFAULT CURRENT_TIMESTAMP,
    name text,
    uri text
);

CREATE TABLE acquisition_relationship (
    acquisition_relationship_id serial,
    subject_id integer NOT NULL,
    type_id integer NOT NULL,
    object_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE acquisitionprop (
    acquisitionprop_id serial,
    acquisition_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE analysis (
    analysis_id serial,
    name character varying(255),
    description text,
    program character varying(255) NOT NULL,
    programversion character varying(255) NOT NULL,
    algorithm character varying(255),
    sourcename character varying(255),
    sourceversion character varying(255),
    sourceuri text,
    timeexecuted timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE analysisfeature (
    analysisfeature_id serial,
    feature_id integer NOT NULL,
    analysis_id integer NOT NULL,
    rawscore double precision,
    normscore double precision,
    significance double precision,
    identity double precision
);

CREATE TABLE analysisfeatureprop (
    analysisfeatureprop_id serial,
    analysisfeature_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer NOT NULL
);

CREATE TABLE analysisprop (
    analysisprop_id serial,
    analysis_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE arraydesign (
    arraydesign_id serial,
    manufacturer_id integer NOT NULL,
    platformtype_id integer NOT NULL,
    substratetype_id integer,
    protocol_id integer,
    dbxref_id integer,
    name text NOT NULL,
    version text,
    description text,
    array_dimensions text,
    element_dimensions text,
    num_of_elements integer,
    num_array_columns integer,
    num_array_rows integer,
    num_grid_columns integer,
    num_grid_rows integer,
    num_sub_columns integer,
    num_sub_rows integer
);

CREATE TABLE arraydesignprop (
    arraydesignprop_id serial,
    arraydesign_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE assay (
    assay_id serial,
    arraydesign_id integer NOT NULL,
    protocol_id integer,
    assaydate timestamp without time zone DEFAULT CURRENT_TIMESTAMP,
    arrayidentifier text,
    arraybatchidentifier text,
    operator_id integer NOT NULL,
    dbxref_id integer,
    name text,
    description text
);

CREATE TABLE assay_biomaterial (
    assay_biomaterial_id serial,
    assay_id integer NOT NULL,
    biomaterial_id integer NOT NULL,
    channel_id integer,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE assay_project (
    assay_project_id serial,
    assay_id integer NOT NULL,
    project_id integer NOT NULL
);

CREATE TABLE assayprop (
    assayprop_id serial,
    assay_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE biomaterial (
    biomaterial_id serial,
    taxon_id integer,
    biosourceprovider_id integer,
    dbxref_id integer,
    name text,
    description text
);

CREATE TABLE biomaterial_dbxref (
    biomaterial_dbxref_id serial,
    biomaterial_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE biomaterial_relationship (
    biomaterial_relationship_id serial,
    subject_id integer NOT NULL,
    type_id integer NOT NULL,
    object_id integer NOT NULL
);

CREATE TABLE biomaterial_treatment (
    biomaterial_treatment_id serial,
    biomaterial_id integer NOT NULL,
    treatment_id integer NOT NULL,
    unittype_id integer,
    value real,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE biomaterialprop (
    biomaterialprop_id serial,
    biomaterial_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cell_line (
    cell_line_id serial,
    name character varying(255),
    uniquename character varying(255) NOT NULL,
    organism_id integer NOT NULL,
    timeaccessioned timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    timelastmodified timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE cell_line_cvterm (
    cell_line_cvterm_id serial,
    cell_line_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cell_line_cvtermprop (
    cell_line_cvtermprop_id serial,
    cell_line_cvterm_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cell_line_dbxref (
    cell_line_dbxref_id serial,
    cell_line_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL
);

CREATE TABLE cell_line_feature (
    cell_line_feature_id serial,
    cell_line_id integer NOT NULL,
    feature_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE cell_line_library (
    cell_line_library_id serial,
    cell_line_id integer NOT NULL,
    library_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE cell_line_pub (
    cell_line_pub_id serial,
    cell_line_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE cell_line_relationship (
    cell_line_relationship_id serial,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE cell_line_synonym (
    cell_line_synonym_id serial,
    cell_line_id integer NOT NULL,
    synonym_id integer NOT NULL,
    pub_id integer NOT NULL,
    is_current boolean DEFAULT false NOT NULL,
    is_internal boolean DEFAULT false NOT NULL
);

CREATE TABLE cell_lineprop (
    cell_lineprop_id serial,
    cell_line_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cell_lineprop_pub (
    cell_lineprop_pub_id serial,
    cell_lineprop_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE chadoprop (
    chadoprop_id serial,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE channel (
    channel_id serial,
    name text NOT NULL,
    definition text NOT NULL
);

CREATE TABLE contact (
    contact_id serial,
    type_id integer,
    name character varying(255) NOT NULL,
    description character varying(255)
);

CREATE TABLE contact_relationship (
    contact_relationship_id serial,
    type_id integer NOT NULL,
    subject_id integer NOT NULL,
    object_id integer NOT NULL
);

CREATE TABLE control (
    control_id serial,
    type_id integer NOT NULL,
    assay_id integer NOT NULL,
    tableinfo_id integer NOT NULL,
    row_id integer NOT NULL,
    name text,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cv (
    cv_id serial,
    name character varying(255) NOT NULL,
    definition text
);

CREATE TABLE cvprop (
    cvprop_id serial,
    cv_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cvterm (
    cvterm_id serial,
    cv_id integer NOT NULL,
    name character varying(1024) NOT NULL,
    definition text,
    dbxref_id integer NOT NULL,
    is_obsolete integer DEFAULT 0 NOT NULL,
    is_relationshiptype integer DEFAULT 0 NOT NULL
);

CREATE TABLE cvterm_dbxref (
    cvterm_dbxref_id serial,
    cvterm_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_for_definition integer DEFAULT 0 NOT NULL
);

CREATE TABLE cvterm_relationship (
    cvterm_relationship_id serial,
    type_id integer NOT NULL,
    subject_id integer NOT NULL,
    object_id integer NOT NULL
);

CREATE TABLE cvtermpath (
    cvtermpath_id serial,
    type_id integer,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    cv_id integer NOT NULL,
    pathdistance integer
);

CREATE TABLE cvtermprop (
    cvtermprop_id serial,
    cvterm_id integer NOT NULL,
    type_id integer NOT NULL,
    value text DEFAULT ''::text NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE cvtermsynonym (
    cvtermsynonym_id serial,
    cvterm_id integer NOT NULL,
    synonym character varying(1024) NOT NULL,
    type_id integer
);

CREATE TABLE db (
    db_id serial,
    name character varying(255) NOT NULL,
    description character varying(255),
    urlprefix character varying(255),
    url character varying(255)
);

CREATE TABLE dbxref (
    dbxref_id serial,
    db_id integer NOT NULL,
    accession character varying(255) NOT NULL,
    version character varying(255) DEFAULT ''::character varying NOT NULL,
    description text
);

CREATE TABLE dbxrefprop (
    dbxrefprop_id serial,
    dbxref_id integer NOT NULL,
    type_id integer NOT NULL,
    value text DEFAULT ''::text NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE eimage (
    eimage_id serial,
    eimage_data text,
    eimage_type character varying(255) NOT NULL,
    image_uri character varying(255)
);

CREATE TABLE element (
    element_id serial,
    feature_id integer,
    arraydesign_id integer NOT NULL,
    type_id integer,
    dbxref_id integer
);

CREATE TABLE element_relationship (
    element_relationship_id serial,
    subject_id integer NOT NULL,
    type_id integer NOT NULL,
    object_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE elementresult (
    elementresult_id serial,
    element_id integer NOT NULL,
    quantification_id integer NOT NULL,
    signal double precision NOT NULL
);

CREATE TABLE elementresult_relationship (
    elementresult_relationship_id serial,
    subject_id integer NOT NULL,
    type_id integer NOT NULL,
    object_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE environment (
    environment_id serial,
    uniquename text NOT NULL,
    description text
);

CREATE TABLE environment_cvterm (
    environment_cvterm_id serial,
    environment_id integer NOT NULL,
    cvterm_id integer NOT NULL
);

CREATE TABLE expression (
    expression_id serial,
    uniquename text NOT NULL,
    md5checksum character(32),
    description text
);

CREATE TABLE expression_cvterm (
    expression_cvterm_id serial,
    expression_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    rank integer DEFAULT 0 NOT NULL,
    cvterm_type_id integer NOT NULL
);

CREATE TABLE expression_cvtermprop (
    expression_cvtermprop_id serial,
    expression_cvterm_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE expression_image (
    expression_image_id serial,
    expression_id integer NOT NULL,
    eimage_id integer NOT NULL
);

CREATE TABLE expression_pub (
    expression_pub_id serial,
    expression_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE expressionprop (
    expressionprop_id serial,
    expression_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature (
    feature_id serial,
    dbxref_id integer,
    organism_id integer NOT NULL,
    name character varying(255),
    uniquename text NOT NULL,
    residues text,
    seqlen integer,
    md5checksum character(32),
    type_id integer NOT NULL,
    is_analysis boolean DEFAULT false NOT NULL,
    is_obsolete boolean DEFAULT false NOT NULL,
    timeaccessioned timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    timelastmodified timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE feature_cvterm (
    feature_cvterm_id serial,
    feature_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer NOT NULL,
    is_not boolean DEFAULT false NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_cvterm_dbxref (
    feature_cvterm_dbxref_id serial,
    feature_cvterm_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE feature_cvterm_pub (
    feature_cvterm_pub_id serial,
    feature_cvterm_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE feature_cvtermprop (
    feature_cvtermprop_id serial,
    feature_cvterm_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_dbxref (
    feature_dbxref_id serial,
    feature_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL
);

CREATE TABLE feature_expression (
    feature_expression_id serial,
    expression_id integer NOT NULL,
    feature_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE feature_expressionprop (
    feature_expressionprop_id serial,
    feature_expression_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_genotype (
    feature_genotype_id serial,
    feature_id integer NOT NULL,
    genotype_id integer NOT NULL,
    chromosome_id integer,
    rank integer NOT NULL,
    cgroup integer NOT NULL,
    cvterm_id integer NOT NULL
);

CREATE TABLE feature_phenotype (
    feature_phenotype_id serial,
    feature_id integer NOT NULL,
    phenotype_id integer NOT NULL
);

CREATE TABLE feature_pub (
    feature_pub_id serial,
    feature_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE feature_pubprop (
    feature_pubprop_id serial,
    feature_pub_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_relationship (
    feature_relationship_id serial,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_relationship_pub (
    feature_relationship_pub_id serial,
    feature_relationship_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE feature_relationshipprop (
    feature_relationshipprop_id serial,
    feature_relationship_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE feature_relationshipprop_pub (
    feature_relationshipprop_pub_id serial,
    feature_relationshipprop_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE feature_synonym (
    feature_synonym_id serial,
    synonym_id integer NOT NULL,
    feature_id integer NOT NULL,
    pub_id integer NOT NULL,
    is_current boolean DEFAULT false NOT NULL,
    is_internal boolean DEFAULT false NOT NULL
);

CREATE TABLE featureloc (
    featureloc_id serial,
    feature_id integer NOT NULL,
    srcfeature_id integer,
    fmin integer,
    is_fmin_partial boolean DEFAULT false NOT NULL,
    fmax integer,
    is_fmax_partial boolean DEFAULT false NOT NULL,
    strand smallint,
    phase integer,
    residue_info text,
    locgroup integer DEFAULT 0 NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE featureloc_pub (
    featureloc_pub_id serial,
    featureloc_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE featuremap (
    featuremap_id serial,
    name character varying(255),
    description text,
    unittype_id integer
);

CREATE TABLE featuremap_pub (
    featuremap_pub_id serial,
    featuremap_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE featurepos (
    featurepos_id serial,
    featuremap_id serial,
    feature_id integer NOT NULL,
    map_feature_id integer NOT NULL,
    mappos double precision NOT NULL
);

CREATE TABLE featureprop (
    featureprop_id serial,
    feature_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE featureprop_pub (
    featureprop_pub_id serial,
    featureprop_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE featurerange (
    featurerange_id serial,
    featuremap_id integer NOT NULL,
    feature_id integer NOT NULL,
    leftstartf_id integer NOT NULL,
    leftendf_id integer,
    rightstartf_id integer,
    rightendf_id integer NOT NULL,
    rangestr character varying(255)
);

CREATE TABLE genotype (
    genotype_id serial,
    name text,
    uniquename text NOT NULL,
    description character varying(255),
    type_id integer NOT NULL
);

CREATE TABLE genotypeprop (
    genotypeprop_id serial,
    genotype_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE library (
    library_id serial,
    organism_id integer NOT NULL,
    name character varying(255),
    uniquename text NOT NULL,
    type_id integer NOT NULL,
    is_obsolete integer DEFAULT 0 NOT NULL,
    timeaccessioned timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    timelastmodified timestamp without time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE library_cvterm (
    library_cvterm_id serial,
    library_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE library_dbxref (
    library_dbxref_id serial,
    library_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL
);

CREATE TABLE library_feature (
    library_feature_id serial,
    library_id integer NOT NULL,
    feature_id integer NOT NULL
);

CREATE TABLE library_pub (
    library_pub_id serial,
    library_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE library_synonym (
    library_synonym_id serial,
    synonym_id integer NOT NULL,
    library_id integer NOT NULL,
    pub_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL,
    is_internal boolean DEFAULT false NOT NULL
);

CREATE TABLE libraryprop (
    libraryprop_id serial,
    library_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE libraryprop_pub (
    libraryprop_pub_id serial,
    libraryprop_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE magedocumentation (
    magedocumentation_id serial,
    mageml_id integer NOT NULL,
    tableinfo_id integer NOT NULL,
    row_id integer NOT NULL,
    mageidentifier text NOT NULL
);

CREATE TABLE mageml (
    mageml_id serial,
    mage_package text NOT NULL,
    mage_ml text NOT NULL
);

CREATE TABLE nd_experiment (
    nd_experiment_id serial,
    nd_geolocation_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE nd_experiment_contact (
    nd_experiment_contact_id serial,
    nd_experiment_id integer NOT NULL,
    contact_id integer NOT NULL
);

CREATE TABLE nd_experiment_dbxref (
    nd_experiment_dbxref_id serial,
    nd_experiment_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE nd_experiment_genotype (
    nd_experiment_genotype_id serial,
    nd_experiment_id integer NOT NULL,
    genotype_id integer NOT NULL
);

CREATE TABLE nd_experiment_phenotype (
    nd_experiment_phenotype_id serial,
    nd_experiment_id integer NOT NULL,
    phenotype_id integer NOT NULL
);

CREATE TABLE nd_experiment_project (
    nd_experiment_project_id serial,
    project_id integer NOT NULL,
    nd_experiment_id integer NOT NULL
);

CREATE TABLE nd_experiment_protocol (
    nd_experiment_protocol_id serial,
    nd_experiment_id integer NOT NULL,
    nd_protocol_id integer NOT NULL
);

CREATE TABLE nd_experiment_pub (
    nd_experiment_pub_id serial,
    nd_experiment_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE nd_experiment_stock (
    nd_experiment_stock_id serial,
    nd_experiment_id integer NOT NULL,
    stock_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE nd_experiment_stock_dbxref (
    nd_experiment_stock_dbxref_id serial,
    nd_experiment_stock_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE nd_experiment_stockprop (
    nd_experiment_stockprop_id serial,
    nd_experiment_stock_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE nd_experimentprop (
    nd_experimentprop_id serial,
    nd_experiment_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE nd_geolocation (
    nd_geolocation_id serial,
    description character varying(255),
    latitude real,
    longitude real,
    geodetic_datum character varying(32),
    altitude real
);

CREATE TABLE nd_geolocationprop (
    nd_geolocationprop_id serial,
    nd_geolocation_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE nd_protocol (
    nd_protocol_id serial,
    name character varying(255) NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE nd_protocol_reagent (
    nd_protocol_reagent_id serial,
    nd_protocol_id integer NOT NULL,
    reagent_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE nd_protocolprop (
    nd_protocolprop_id serial,
    nd_protocol_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE nd_reagent (
    nd_reagent_id serial,
    name character varying(80) NOT NULL,
    type_id integer NOT NULL,
    feature_id integer
);

CREATE TABLE nd_reagent_relationship (
    nd_reagent_relationship_id serial,
    subject_reagent_id integer NOT NULL,
    object_reagent_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE nd_reagentprop (
    nd_reagentprop_id serial,
    nd_reagent_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE organism (
    organism_id serial,
    abbreviation character varying(255),
    genus character varying(255) NOT NULL,
    species character varying(255) NOT NULL,
    common_name character varying(255),
    comment text
);

CREATE TABLE organism_dbxref (
    organism_dbxref_id serial,
    organism_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE organismprop (
    organismprop_id serial,
    organism_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE phendesc (
    phendesc_id serial,
    genotype_id integer NOT NULL,
    environment_id integer NOT NULL,
    description text NOT NULL,
    type_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE phenotype (
    phenotype_id serial,
    uniquename text NOT NULL,
    name text,
    observable_id integer,
    attr_id integer,
    value text,
    cvalue_id integer,
    assay_id integer
);

CREATE TABLE phenotype_comparison (
    phenotype_comparison_id serial,
    genotype1_id integer NOT NULL,
    environment1_id integer NOT NULL,
    genotype2_id integer NOT NULL,
    environment2_id integer NOT NULL,
    phenotype1_id integer NOT NULL,
    phenotype2_id integer,
    pub_id integer NOT NULL,
    organism_id integer NOT NULL
);

CREATE TABLE phenotype_comparison_cvterm (
    phenotype_comparison_cvterm_id serial,
    phenotype_comparison_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE phenotype_cvterm (
    phenotype_cvterm_id serial,
    phenotype_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE phenotypeprop (
    phenotypeprop_id serial,
    phenotype_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE phenstatement (
    phenstatement_id serial,
    genotype_id integer NOT NULL,
    environment_id integer NOT NULL,
    phenotype_id integer NOT NULL,
    type_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE phylonode (
    phylonode_id serial,
    phylotree_id integer NOT NULL,
    parent_phylonode_id integer,
    left_idx integer NOT NULL,
    right_idx integer NOT NULL,
    type_id integer,
    feature_id integer,
    label character varying(255),
    distance double precision
);

CREATE TABLE phylonode_dbxref (
    phylonode_dbxref_id serial,
    phylonode_id integer NOT NULL,
    dbxref_id integer NOT NULL
);

CREATE TABLE phylonode_organism (
    phylonode_organism_id serial,
    phylonode_id integer NOT NULL,
    organism_id integer NOT NULL
);

CREATE TABLE phylonode_pub (
    phylonode_pub_id serial,
    phylonode_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE phylonode_relationship (
    phylonode_relationship_id serial,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    type_id integer NOT NULL,
    rank integer,
    phylotree_id integer NOT NULL
);

CREATE TABLE phylonodeprop (
    phylonodeprop_id serial,
    phylonode_id integer NOT NULL,
    type_id integer NOT NULL,
    value text DEFAULT ''::text NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE phylotree (
    phylotree_id serial,
    dbxref_id integer NOT NULL,
    name character varying(255),
    type_id integer,
    analysis_id integer,
    comment text
);

CREATE TABLE phylotree_pub (
    phylotree_pub_id serial,
    phylotree_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE project (
    project_id serial,
    name character varying(255) NOT NULL,
    description character varying(255) NOT NULL
);

CREATE TABLE project_contact (
    project_contact_id serial,
    project_id integer NOT NULL,
    contact_id integer NOT NULL
);

CREATE TABLE project_pub (
    project_pub_id serial,
    project_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE project_relationship (
    project_relationship_id serial,
    subject_project_id integer NOT NULL,
    object_project_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE projectprop (
    projectprop_id serial,
    project_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE protocol (
    protocol_id serial,
    type_id integer NOT NULL,
    pub_id integer,
    dbxref_id integer,
    name text NOT NULL,
    uri text,
    protocoldescription text,
    hardwaredescription text,
    softwaredescription text
);

CREATE TABLE protocolparam (
    protocolparam_id serial,
    protocol_id integer NOT NULL,
    name text NOT NULL,
    datatype_id integer,
    unittype_id integer,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE pub (
    pub_id serial,
    title text,
    volumetitle text,
    volume character varying(255),
    series_name character varying(255),
    issue character varying(255),
    pyear character varying(255),
    pages character varying(255),
    miniref character varying(255),
    uniquename text NOT NULL,
    type_id integer NOT NULL,
    is_obsolete boolean DEFAULT false,
    publisher character varying(255),
    pubplace character varying(255)
);

CREATE TABLE pub_dbxref (
    pub_dbxref_id serial,
    pub_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL
);

CREATE TABLE pub_relationship (
    pub_relationship_id serial,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    type_id integer NOT NULL
);

CREATE TABLE pubauthor (
    pubauthor_id serial,
    pub_id integer NOT NULL,
    rank integer NOT NULL,
    editor boolean DEFAULT false,
    surname character varying(100) NOT NULL,
    givennames character varying(100),
    suffix character varying(100)
);

CREATE TABLE pubprop (
    pubprop_id serial,
    pub_id integer NOT NULL,
    type_id integer NOT NULL,
    value text NOT NULL,
    rank integer
);

CREATE TABLE quantification (
    quantification_id serial,
    acquisition_id integer NOT NULL,
    operator_id integer,
    protocol_id integer,
    analysis_id integer NOT NULL,
    quantificationdate timestamp without time zone DEFAULT CURRENT_TIMESTAMP,
    name text,
    uri text
);

CREATE TABLE quantification_relationship (
    quantification_relationship_id serial,
    subject_id integer NOT NULL,
    type_id integer NOT NULL,
    object_id integer NOT NULL
);

CREATE TABLE quantificationprop (
    quantificationprop_id serial,
    quantification_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stock (
    stock_id serial,
    dbxref_id integer,
    organism_id integer,
    name character varying(255),
    uniquename text NOT NULL,
    description text,
    type_id integer NOT NULL,
    is_obsolete boolean DEFAULT false NOT NULL
);

CREATE TABLE stock_cvterm (
    stock_cvterm_id serial,
    stock_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer NOT NULL,
    is_not boolean DEFAULT false NOT NULL,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stock_cvtermprop (
    stock_cvtermprop_id serial,
    stock_cvterm_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stock_dbxref (
    stock_dbxref_id serial,
    stock_id integer NOT NULL,
    dbxref_id integer NOT NULL,
    is_current boolean DEFAULT true NOT NULL
);

CREATE TABLE stock_dbxrefprop (
    stock_dbxrefprop_id serial,
    stock_dbxref_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stock_genotype (
    stock_genotype_id serial,
    stock_id integer NOT NULL,
    genotype_id integer NOT NULL
);

CREATE TABLE stock_pub (
    stock_pub_id serial,
    stock_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE stock_relationship (
    stock_relationship_id serial,
    subject_id integer NOT NULL,
    object_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stock_relationship_cvterm (
    stock_relationship_cvterm_id serial,
    stock_relationship_id integer NOT NULL,
    cvterm_id integer NOT NULL,
    pub_id integer
);

CREATE TABLE stock_relationship_pub (
    stock_relationship_pub_id serial,
    stock_relationship_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE stockcollection (
    stockcollection_id serial,
    type_id integer NOT NULL,
    contact_id integer,
    name character varying(255),
    uniquename text NOT NULL
);

CREATE TABLE stockcollection_stock (
    stockcollection_stock_id serial,
    stockcollection_id integer NOT NULL,
    stock_id integer NOT NULL
);

CREATE TABLE stockcollectionprop (
    stockcollectionprop_id serial,
    stockcollection_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stockprop (
    stockprop_id serial,
    stock_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE stockprop_pub (
    stockprop_pub_id serial,
    stockprop_id integer NOT NULL,
    pub_id integer NOT NULL
);

CREATE TABLE study (
    study_id serial,
    contact_id integer NOT NULL,
    pub_id integer,
    dbxref_id integer,
    name text NOT NULL,
    description text
);

CREATE TABLE study_assay (
    study_assay_id serial,
    study_id integer NOT NULL,
    assay_id integer NOT NULL
);

CREATE TABLE studydesign (
    studydesign_id serial,
    study_id integer NOT NULL,
    description text
);

CREATE TABLE studydesignprop (
    studydesignprop_id serial,
    studydesign_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE studyfactor (
    studyfactor_id serial,
    studydesign_id integer NOT NULL,
    type_id integer,
    name text NOT NULL,
    description text
);

CREATE TABLE studyfactorvalue (
    studyfactorvalue_id serial,
    studyfactor_id integer NOT NULL,
    assay_id integer NOT NULL,
    factorvalue text,
    name text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE studyprop (
    studyprop_id serial,
    study_id integer NOT NULL,
    type_id integer NOT NULL,
    value text,
    rank integer DEFAULT 0 NOT NULL
);

CREATE TABLE studyprop_feature (
    studyprop_feature_id serial,
    studyprop_id integer NOT NULL,
    feature_id integer NOT NULL,
    type_id integer
);

CREATE TABLE synonym (
    synonym_id serial,
    name character varying(255) NOT NULL,
    type_id integer NOT NULL,
    synonym_sgml character varying(255) NOT NULL
);

CREATE TABLE tableinfo (
    tableinfo_id serial,
    name character varying(30) NOT NULL,
    primary_key_column character varying(30),
    is_view integer DEFAULT 0 NOT NULL,
    view_on_table_id integer,
    superclass_table_id integer,
    is_updateable integer DEFAULT 1 NOT NULL,
    modification_date date DEFAULT CURRENT_TIMESTAMP NOT NULL
);

CREATE TABLE treatment (
    treatment_id serial,
    rank integer DEFAULT 0 NOT NULL,
    biomaterial_id integer NOT NULL,
    type_id integer NOT NULL,
    protocol_id integer,
    name text
);

ALTER TABLE acquisition ADD CONSTRAINT acquisition_c1 UNIQUE (name);
ALTER TABLE acquisition ADD CONSTRAINT acquisition_pkey PRIMARY KEY (acquisition_id);
ALTER TABLE acquisition_relationship ADD CONSTRAINT acquisition_relationship_c1 UNIQUE (subject_id, object_id, type_id, rank);
ALTER TABLE acquisition_relationship ADD CONSTRAINT acquisition_relationship_pkey PRIMARY KEY (acquisition_relationship_id);
ALTER TABLE acquisitionprop ADD CONSTRAINT acquisitionprop_c1 UNIQUE (acquisition_id, type_id, rank);
ALTER TABLE acquisitionprop ADD CONSTRAINT acquisitionprop_pkey PRIMARY KEY (acquisitionprop_id);
ALTER TABLE analysis ADD CONSTRAINT analysis_c1 UNIQUE (program, programversion, sourcename);
ALTER TABLE analysis ADD CONSTRAINT analysis_pkey PRIMARY KEY (analysis_id);
ALTER TABLE analysisfeature ADD CONSTRAINT analysisfeature_c1 UNIQUE (feature_id, analysis_id);
ALTER TABLE analysisfeatureprop ADD CONSTRAINT analysisfeature_id_type_id_rank UNIQUE (analysisfeature_id, type_id, rank);
ALTER TABLE analysisfeature ADD CONSTRAINT analysisfeature_pkey PRIMARY KEY (analysisfeature_id);
ALTER TABLE analysisfeatureprop ADD CONSTRAINT analysisfeatureprop_pkey PRIMARY KEY (analysisfeatureprop_id);
ALTER TABLE analysisprop ADD CONSTRAINT analysisprop_c1 UNIQUE (analysis_id, type_id, rank);
ALTER TABLE analysisprop ADD CONSTRAINT analysisprop_pkey PRIMARY KEY (analysisprop_id);
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_c1 UNIQUE (name);
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_pkey PRIMARY KEY (arraydesign_id);
ALTER TABLE arraydesignprop ADD CONSTRAINT arraydesignprop_c1 UNIQUE (arraydesign_id, type_id, rank);
ALTER TABLE arraydesignprop ADD CONSTRAINT arraydesignprop_pkey PRIMARY KEY (arraydesignprop_id);
ALTER TABLE assay_biomaterial ADD CONSTRAINT assay_biomaterial_c1 UNIQUE (assay_id, biomaterial_id, channel_id, rank);
ALTER TABLE assay_biomaterial ADD CONSTRAINT assay_biomaterial_pkey PRIMARY KEY (assay_biomaterial_id);
ALTER TABLE assay ADD CONSTRAINT assay_c1 UNIQUE (name);
ALTER TABLE assay ADD CONSTRAINT assay_pkey PRIMARY KEY (assay_id);
ALTER TABLE assay_project ADD CONSTRAINT assay_project_c1 UNIQUE (assay_id, project_id);
ALTER TABLE assay_project ADD CONSTRAINT assay_project_pkey PRIMARY KEY (assay_project_id);
ALTER TABLE assayprop ADD CONSTRAINT assayprop_c1 UNIQUE (assay_id, type_id, rank);
ALTER TABLE assayprop ADD CONSTRAINT assayprop_pkey PRIMARY KEY (assayprop_id);
ALTER TABLE biomaterial ADD CONSTRAINT biomaterial_c1 UNIQUE (name);
ALTER TABLE biomaterial_dbxref ADD CONSTRAINT biomaterial_dbxref_c1 UNIQUE (biomaterial_id, dbxref_id);
ALTER TABLE biomaterial_dbxref ADD CONSTRAINT biomaterial_dbxref_pkey PRIMARY KEY (biomaterial_dbxref_id);
ALTER TABLE biomaterial ADD CONSTRAINT biomaterial_pkey PRIMARY KEY (biomaterial_id);
ALTER TABLE biomaterial_relationship ADD CONSTRAINT biomaterial_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE biomaterial_relationship ADD CONSTRAINT biomaterial_relationship_pkey PRIMARY KEY (biomaterial_relationship_id);
ALTER TABLE biomaterial_treatment ADD CONSTRAINT biomaterial_treatment_c1 UNIQUE (biomaterial_id, treatment_id);
ALTER TABLE biomaterial_treatment ADD CONSTRAINT biomaterial_treatment_pkey PRIMARY KEY (biomaterial_treatment_id);
ALTER TABLE biomaterialprop ADD CONSTRAINT biomaterialprop_c1 UNIQUE (biomaterial_id, type_id, rank);
ALTER TABLE biomaterialprop ADD CONSTRAINT biomaterialprop_pkey PRIMARY KEY (biomaterialprop_id);
ALTER TABLE cell_line ADD CONSTRAINT cell_line_c1 UNIQUE (uniquename, organism_id);
ALTER TABLE cell_line_cvterm ADD CONSTRAINT cell_line_cvterm_c1 UNIQUE (cell_line_id, cvterm_id, pub_id, rank);
ALTER TABLE cell_line_cvterm ADD CONSTRAINT cell_line_cvterm_pkey PRIMARY KEY (cell_line_cvterm_id);
ALTER TABLE cell_line_cvtermprop ADD CONSTRAINT cell_line_cvtermprop_c1 UNIQUE (cell_line_cvterm_id, type_id, rank);
ALTER TABLE cell_line_cvtermprop ADD CONSTRAINT cell_line_cvtermprop_pkey PRIMARY KEY (cell_line_cvtermprop_id);
ALTER TABLE cell_line_dbxref ADD CONSTRAINT cell_line_dbxref_c1 UNIQUE (cell_line_id, dbxref_id);
ALTER TABLE cell_line_dbxref ADD CONSTRAINT cell_line_dbxref_pkey PRIMARY KEY (cell_line_dbxref_id);
ALTER TABLE cell_line_feature ADD CONSTRAINT cell_line_feature_c1 UNIQUE (cell_line_id, feature_id, pub_id);
ALTER TABLE cell_line_feature ADD CONSTRAINT cell_line_feature_pkey PRIMARY KEY (cell_line_feature_id);
ALTER TABLE cell_line_library ADD CONSTRAINT cell_line_library_c1 UNIQUE (cell_line_id, library_id, pub_id);
ALTER TABLE cell_line_library ADD CONSTRAINT cell_line_library_pkey PRIMARY KEY (cell_line_library_id);
ALTER TABLE cell_line ADD CONSTRAINT cell_line_pkey PRIMARY KEY (cell_line_id);
ALTER TABLE cell_line_pub ADD CONSTRAINT cell_line_pub_c1 UNIQUE (cell_line_id, pub_id);
ALTER TABLE cell_line_pub ADD CONSTRAINT cell_line_pub_pkey PRIMARY KEY (cell_line_pub_id);
ALTER TABLE cell_line_relationship ADD CONSTRAINT cell_line_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE cell_line_relationship ADD CONSTRAINT cell_line_relationship_pkey PRIMARY KEY (cell_line_relationship_id);
ALTER TABLE cell_line_synonym ADD CONSTRAINT cell_line_synonym_c1 UNIQUE (synonym_id, cell_line_id, pub_id);
ALTER TABLE cell_line_synonym ADD CONSTRAINT cell_line_synonym_pkey PRIMARY KEY (cell_line_synonym_id);
ALTER TABLE cell_lineprop ADD CONSTRAINT cell_lineprop_c1 UNIQUE (cell_line_id, type_id, rank);
ALTER TABLE cell_lineprop ADD CONSTRAINT cell_lineprop_pkey PRIMARY KEY (cell_lineprop_id);
ALTER TABLE cell_lineprop_pub ADD CONSTRAINT cell_lineprop_pub_c1 UNIQUE (cell_lineprop_id, pub_id);
ALTER TABLE cell_lineprop_pub ADD CONSTRAINT cell_lineprop_pub_pkey PRIMARY KEY (cell_lineprop_pub_id);
ALTER TABLE chadoprop ADD CONSTRAINT chadoprop_c1 UNIQUE (type_id, rank);
ALTER TABLE chadoprop ADD CONSTRAINT chadoprop_pkey PRIMARY KEY (chadoprop_id);
ALTER TABLE channel ADD CONSTRAINT channel_c1 UNIQUE (name);
ALTER TABLE channel ADD CONSTRAINT channel_pkey PRIMARY KEY (channel_id);
ALTER TABLE contact ADD CONSTRAINT contact_c1 UNIQUE (name);
ALTER TABLE contact ADD CONSTRAINT contact_pkey PRIMARY KEY (contact_id);
ALTER TABLE contact_relationship ADD CONSTRAINT contact_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE contact_relationship ADD CONSTRAINT contact_relationship_pkey PRIMARY KEY (contact_relationship_id);
ALTER TABLE control ADD CONSTRAINT control_pkey PRIMARY KEY (control_id);
ALTER TABLE cv ADD CONSTRAINT cv_c1 UNIQUE (name);
ALTER TABLE cv ADD CONSTRAINT cv_pkey PRIMARY KEY (cv_id);
ALTER TABLE cvprop ADD CONSTRAINT cvprop_c1 UNIQUE (cv_id, type_id, rank);
ALTER TABLE cvprop ADD CONSTRAINT cvprop_pkey PRIMARY KEY (cvprop_id);
ALTER TABLE cvterm ADD CONSTRAINT cvterm_c1 UNIQUE (name, cv_id, is_obsolete);
ALTER TABLE cvterm ADD CONSTRAINT cvterm_c2 UNIQUE (dbxref_id);
ALTER TABLE cvterm_dbxref ADD CONSTRAINT cvterm_dbxref_c1 UNIQUE (cvterm_id, dbxref_id);
ALTER TABLE cvterm_dbxref ADD CONSTRAINT cvterm_dbxref_pkey PRIMARY KEY (cvterm_dbxref_id);
ALTER TABLE cvterm ADD CONSTRAINT cvterm_pkey PRIMARY KEY (cvterm_id);
ALTER TABLE cvterm_relationship ADD CONSTRAINT cvterm_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE cvterm_relationship ADD CONSTRAINT cvterm_relationship_pkey PRIMARY KEY (cvterm_relationship_id);
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_c1 UNIQUE (subject_id, object_id, type_id, pathdistance);
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_pkey PRIMARY KEY (cvtermpath_id);
ALTER TABLE cvtermprop ADD CONSTRAINT cvtermprop_cvterm_id_key UNIQUE (cvterm_id, type_id, value, rank);
ALTER TABLE cvtermprop ADD CONSTRAINT cvtermprop_pkey PRIMARY KEY (cvtermprop_id);
ALTER TABLE cvtermsynonym ADD CONSTRAINT cvtermsynonym_c1 UNIQUE (cvterm_id, synonym);
ALTER TABLE cvtermsynonym ADD CONSTRAINT cvtermsynonym_pkey PRIMARY KEY (cvtermsynonym_id);
ALTER TABLE db ADD CONSTRAINT db_c1 UNIQUE (name);
ALTER TABLE db ADD CONSTRAINT db_pkey PRIMARY KEY (db_id);
ALTER TABLE dbxref ADD CONSTRAINT dbxref_c1 UNIQUE (db_id, accession, version);
ALTER TABLE dbxref ADD CONSTRAINT dbxref_pkey PRIMARY KEY (dbxref_id);
ALTER TABLE dbxrefprop ADD CONSTRAINT dbxrefprop_c1 UNIQUE (dbxref_id, type_id, rank);
ALTER TABLE dbxrefprop ADD CONSTRAINT dbxrefprop_pkey PRIMARY KEY (dbxrefprop_id);
ALTER TABLE eimage ADD CONSTRAINT eimage_pkey PRIMARY KEY (eimage_id);
ALTER TABLE element ADD CONSTRAINT element_c1 UNIQUE (feature_id, arraydesign_id);
ALTER TABLE element ADD CONSTRAINT element_pkey PRIMARY KEY (element_id);
ALTER TABLE element_relationship ADD CONSTRAINT element_relationship_c1 UNIQUE (subject_id, object_id, type_id, rank);
ALTER TABLE element_relationship ADD CONSTRAINT element_relationship_pkey PRIMARY KEY (element_relationship_id);
ALTER TABLE elementresult ADD CONSTRAINT elementresult_c1 UNIQUE (element_id, quantification_id);
ALTER TABLE elementresult ADD CONSTRAINT elementresult_pkey PRIMARY KEY (elementresult_id);
ALTER TABLE elementresult_relationship ADD CONSTRAINT elementresult_relationship_c1 UNIQUE (subject_id, object_id, type_id, rank);
ALTER TABLE elementresult_relationship ADD CONSTRAINT elementresult_relationship_pkey PRIMARY KEY (elementresult_relationship_id);
ALTER TABLE environment ADD CONSTRAINT environment_c1 UNIQUE (uniquename);
ALTER TABLE environment_cvterm ADD CONSTRAINT environment_cvterm_c1 UNIQUE (environment_id, cvterm_id);
ALTER TABLE environment_cvterm ADD CONSTRAINT environment_cvterm_pkey PRIMARY KEY (environment_cvterm_id);
ALTER TABLE environment ADD CONSTRAINT environment_pkey PRIMARY KEY (environment_id);
ALTER TABLE expression ADD CONSTRAINT expression_c1 UNIQUE (uniquename);
ALTER TABLE expression_cvterm ADD CONSTRAINT expression_cvterm_c1 UNIQUE (expression_id, cvterm_id, cvterm_type_id);
ALTER TABLE expression_cvterm ADD CONSTRAINT expression_cvterm_pkey PRIMARY KEY (expression_cvterm_id);
ALTER TABLE expression_cvtermprop ADD CONSTRAINT expression_cvtermprop_c1 UNIQUE (expression_cvterm_id, type_id, rank);
ALTER TABLE expression_cvtermprop ADD CONSTRAINT expression_cvtermprop_pkey PRIMARY KEY (expression_cvtermprop_id);
ALTER TABLE expression_image ADD CONSTRAINT expression_image_c1 UNIQUE (expression_id, eimage_id);
ALTER TABLE expression_image ADD CONSTRAINT expression_image_pkey PRIMARY KEY (expression_image_id);
ALTER TABLE expression ADD CONSTRAINT expression_pkey PRIMARY KEY (expression_id);
ALTER TABLE expression_pub ADD CONSTRAINT expression_pub_c1 UNIQUE (expression_id, pub_id);
ALTER TABLE expression_pub ADD CONSTRAINT expression_pub_pkey PRIMARY KEY (expression_pub_id);
ALTER TABLE expressionprop ADD CONSTRAINT expressionprop_c1 UNIQUE (expression_id, type_id, rank);
ALTER TABLE expressionprop ADD CONSTRAINT expressionprop_pkey PRIMARY KEY (expressionprop_id);
ALTER TABLE feature ADD CONSTRAINT feature_c1 UNIQUE (organism_id, uniquename, type_id);
ALTER TABLE feature_cvterm ADD CONSTRAINT feature_cvterm_c1 UNIQUE (feature_id, cvterm_id, pub_id, rank);
ALTER TABLE feature_cvterm_dbxref ADD CONSTRAINT feature_cvterm_dbxref_c1 UNIQUE (feature_cvterm_id, dbxref_id);
ALTER TABLE feature_cvterm_dbxref ADD CONSTRAINT feature_cvterm_dbxref_pkey PRIMARY KEY (feature_cvterm_dbxref_id);
ALTER TABLE feature_cvterm ADD CONSTRAINT feature_cvterm_pkey PRIMARY KEY (feature_cvterm_id);
ALTER TABLE feature_cvterm_pub ADD CONSTRAINT feature_cvterm_pub_c1 UNIQUE (feature_cvterm_id, pub_id);
ALTER TABLE feature_cvterm_pub ADD CONSTRAINT feature_cvterm_pub_pkey PRIMARY KEY (feature_cvterm_pub_id);
ALTER TABLE feature_cvtermprop ADD CONSTRAINT feature_cvtermprop_c1 UNIQUE (feature_cvterm_id, type_id, rank);
ALTER TABLE feature_cvtermprop ADD CONSTRAINT feature_cvtermprop_pkey PRIMARY KEY (feature_cvtermprop_id);
ALTER TABLE feature_dbxref ADD CONSTRAINT feature_dbxref_c1 UNIQUE (feature_id, dbxref_id);
ALTER TABLE feature_dbxref ADD CONSTRAINT feature_dbxref_pkey PRIMARY KEY (feature_dbxref_id);
ALTER TABLE feature_expression ADD CONSTRAINT feature_expression_c1 UNIQUE (expression_id, feature_id, pub_id);
ALTER TABLE feature_expression ADD CONSTRAINT feature_expression_pkey PRIMARY KEY (feature_expression_id);
ALTER TABLE feature_expressionprop ADD CONSTRAINT feature_expressionprop_c1 UNIQUE (feature_expression_id, type_id, rank);
ALTER TABLE feature_expressionprop ADD CONSTRAINT feature_expressionprop_pkey PRIMARY KEY (feature_expressionprop_id);
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_c1 UNIQUE (feature_id, genotype_id, cvterm_id, chromosome_id, rank, cgroup);
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_pkey PRIMARY KEY (feature_genotype_id);
ALTER TABLE feature_phenotype ADD CONSTRAINT feature_phenotype_c1 UNIQUE (feature_id, phenotype_id);
ALTER TABLE feature_phenotype ADD CONSTRAINT feature_phenotype_pkey PRIMARY KEY (feature_phenotype_id);
ALTER TABLE feature ADD CONSTRAINT feature_pkey PRIMARY KEY (feature_id);
ALTER TABLE feature_pub ADD CONSTRAINT feature_pub_c1 UNIQUE (feature_id, pub_id);
ALTER TABLE feature_pub ADD CONSTRAINT feature_pub_pkey PRIMARY KEY (feature_pub_id);
ALTER TABLE feature_pubprop ADD CONSTRAINT feature_pubprop_c1 UNIQUE (feature_pub_id, type_id, rank);
ALTER TABLE feature_pubprop ADD CONSTRAINT feature_pubprop_pkey PRIMARY KEY (feature_pubprop_id);
ALTER TABLE feature_relationship ADD CONSTRAINT feature_relationship_c1 UNIQUE (subject_id, object_id, type_id, rank);
ALTER TABLE feature_relationship ADD CONSTRAINT feature_relationship_pkey PRIMARY KEY (feature_relationship_id);
ALTER TABLE feature_relationship_pub ADD CONSTRAINT feature_relationship_pub_c1 UNIQUE (feature_relationship_id, pub_id);
ALTER TABLE feature_relationship_pub ADD CONSTRAINT feature_relationship_pub_pkey PRIMARY KEY (feature_relationship_pub_id);
ALTER TABLE feature_relationshipprop ADD CONSTRAINT feature_relationshipprop_c1 UNIQUE (feature_relationship_id, type_id, rank);
ALTER TABLE feature_relationshipprop ADD CONSTRAINT feature_relationshipprop_pkey PRIMARY KEY (feature_relationshipprop_id);
ALTER TABLE feature_relationshipprop_pub ADD CONSTRAINT feature_relationshipprop_pub_c1 UNIQUE (feature_relationshipprop_id, pub_id);
ALTER TABLE feature_relationshipprop_pub ADD CONSTRAINT feature_relationshipprop_pub_pkey PRIMARY KEY (feature_relationshipprop_pub_id);
ALTER TABLE feature_synonym ADD CONSTRAINT feature_synonym_c1 UNIQUE (synonym_id, feature_id, pub_id);
ALTER TABLE feature_synonym ADD CONSTRAINT feature_synonym_pkey PRIMARY KEY (feature_synonym_id);
ALTER TABLE featureloc ADD CONSTRAINT featureloc_c1 UNIQUE (feature_id, locgroup, rank);
ALTER TABLE featureloc ADD CONSTRAINT featureloc_pkey PRIMARY KEY (featureloc_id);
ALTER TABLE featureloc_pub ADD CONSTRAINT featureloc_pub_c1 UNIQUE (featureloc_id, pub_id);
ALTER TABLE featureloc_pub ADD CONSTRAINT featureloc_pub_pkey PRIMARY KEY (featureloc_pub_id);
ALTER TABLE featuremap ADD CONSTRAINT featuremap_c1 UNIQUE (name);
ALTER TABLE featuremap ADD CONSTRAINT featuremap_pkey PRIMARY KEY (featuremap_id);
ALTER TABLE featuremap_pub ADD CONSTRAINT featuremap_pub_pkey PRIMARY KEY (featuremap_pub_id);
ALTER TABLE featurepos ADD CONSTRAINT featurepos_pkey PRIMARY KEY (featurepos_id);
ALTER TABLE featureprop ADD CONSTRAINT featureprop_c1 UNIQUE (feature_id, type_id, rank);
ALTER TABLE featureprop ADD CONSTRAINT featureprop_pkey PRIMARY KEY (featureprop_id);
ALTER TABLE featureprop_pub ADD CONSTRAINT featureprop_pub_c1 UNIQUE (featureprop_id, pub_id);
ALTER TABLE featureprop_pub ADD CONSTRAINT featureprop_pub_pkey PRIMARY KEY (featureprop_pub_id);
ALTER TABLE featurerange ADD CONSTRAINT featurerange_pkey PRIMARY KEY (featurerange_id);
ALTER TABLE genotype ADD CONSTRAINT genotype_c1 UNIQUE (uniquename);
ALTER TABLE genotype ADD CONSTRAINT genotype_pkey PRIMARY KEY (genotype_id);
ALTER TABLE genotypeprop ADD CONSTRAINT genotypeprop_c1 UNIQUE (genotype_id, type_id, rank);
ALTER TABLE genotypeprop ADD CONSTRAINT genotypeprop_pkey PRIMARY KEY (genotypeprop_id);
ALTER TABLE library ADD CONSTRAINT library_c1 UNIQUE (organism_id, uniquename, type_id);
ALTER TABLE library_cvterm ADD CONSTRAINT library_cvterm_c1 UNIQUE (library_id, cvterm_id, pub_id);
ALTER TABLE library_cvterm ADD CONSTRAINT library_cvterm_pkey PRIMARY KEY (library_cvterm_id);
ALTER TABLE library_dbxref ADD CONSTRAINT library_dbxref_c1 UNIQUE (library_id, dbxref_id);
ALTER TABLE library_dbxref ADD CONSTRAINT library_dbxref_pkey PRIMARY KEY (library_dbxref_id);
ALTER TABLE library_feature ADD CONSTRAINT library_feature_c1 UNIQUE (library_id, feature_id);
ALTER TABLE library_feature ADD CONSTRAINT library_feature_pkey PRIMARY KEY (library_feature_id);
ALTER TABLE library ADD CONSTRAINT library_pkey PRIMARY KEY (library_id);
ALTER TABLE library_pub ADD CONSTRAINT library_pub_c1 UNIQUE (library_id, pub_id);
ALTER TABLE library_pub ADD CONSTRAINT library_pub_pkey PRIMARY KEY (library_pub_id);
ALTER TABLE library_synonym ADD CONSTRAINT library_synonym_c1 UNIQUE (synonym_id, library_id, pub_id);
ALTER TABLE library_synonym ADD CONSTRAINT library_synonym_pkey PRIMARY KEY (library_synonym_id);
ALTER TABLE libraryprop ADD CONSTRAINT libraryprop_c1 UNIQUE (library_id, type_id, rank);
ALTER TABLE libraryprop ADD CONSTRAINT libraryprop_pkey PRIMARY KEY (libraryprop_id);
ALTER TABLE libraryprop_pub ADD CONSTRAINT libraryprop_pub_c1 UNIQUE (libraryprop_id, pub_id);
ALTER TABLE libraryprop_pub ADD CONSTRAINT libraryprop_pub_pkey PRIMARY KEY (libraryprop_pub_id);
ALTER TABLE magedocumentation ADD CONSTRAINT magedocumentation_pkey PRIMARY KEY (magedocumentation_id);
ALTER TABLE mageml ADD CONSTRAINT mageml_pkey PRIMARY KEY (mageml_id);
ALTER TABLE nd_experiment_contact ADD CONSTRAINT nd_experiment_contact_pkey PRIMARY KEY (nd_experiment_contact_id);
ALTER TABLE nd_experiment_dbxref ADD CONSTRAINT nd_experiment_dbxref_pkey PRIMARY KEY (nd_experiment_dbxref_id);
ALTER TABLE nd_experiment_genotype ADD CONSTRAINT nd_experiment_genotype_c1 UNIQUE (nd_experiment_id, genotype_id);
ALTER TABLE nd_experiment_genotype ADD CONSTRAINT nd_experiment_genotype_pkey PRIMARY KEY (nd_experiment_genotype_id);
ALTER TABLE nd_experiment_phenotype ADD CONSTRAINT nd_experiment_phenotype_c1 UNIQUE (nd_experiment_id, phenotype_id);
ALTER TABLE nd_experiment_phenotype ADD CONSTRAINT nd_experiment_phenotype_pkey PRIMARY KEY (nd_experiment_phenotype_id);
ALTER TABLE nd_experiment ADD CONSTRAINT nd_experiment_pkey PRIMARY KEY (nd_experiment_id);
ALTER TABLE nd_experiment_project ADD CONSTRAINT nd_experiment_project_pkey PRIMARY KEY (nd_experiment_project_id);
ALTER TABLE nd_experiment_protocol ADD CONSTRAINT nd_experiment_protocol_pkey PRIMARY KEY (nd_experiment_protocol_id);
ALTER TABLE nd_experiment_pub ADD CONSTRAINT nd_experiment_pub_c1 UNIQUE (nd_experiment_id, pub_id);
ALTER TABLE nd_experiment_pub ADD CONSTRAINT nd_experiment_pub_pkey PRIMARY KEY (nd_experiment_pub_id);
ALTER TABLE nd_experiment_stock_dbxref ADD CONSTRAINT nd_experiment_stock_dbxref_pkey PRIMARY KEY (nd_experiment_stock_dbxref_id);
ALTER TABLE nd_experiment_stock ADD CONSTRAINT nd_experiment_stock_pkey PRIMARY KEY (nd_experiment_stock_id);
ALTER TABLE nd_experiment_stockprop ADD CONSTRAINT nd_experiment_stockprop_c1 UNIQUE (nd_experiment_stock_id, type_id, rank);
ALTER TABLE nd_experiment_stockprop ADD CONSTRAINT nd_experiment_stockprop_pkey PRIMARY KEY (nd_experiment_stockprop_id);
ALTER TABLE nd_experimentprop ADD CONSTRAINT nd_experimentprop_c1 UNIQUE (nd_experiment_id, type_id, rank);
ALTER TABLE nd_experimentprop ADD CONSTRAINT nd_experimentprop_pkey PRIMARY KEY (nd_experimentprop_id);
ALTER TABLE nd_geolocation ADD CONSTRAINT nd_geolocation_pkey PRIMARY KEY (nd_geolocation_id);
ALTER TABLE nd_geolocationprop ADD CONSTRAINT nd_geolocationprop_c1 UNIQUE (nd_geolocation_id, type_id, rank);
ALTER TABLE nd_geolocationprop ADD CONSTRAINT nd_geolocationprop_pkey PRIMARY KEY (nd_geolocationprop_id);
ALTER TABLE nd_protocol ADD CONSTRAINT nd_protocol_name_key UNIQUE (name);
ALTER TABLE nd_protocol ADD CONSTRAINT nd_protocol_pkey PRIMARY KEY (nd_protocol_id);
ALTER TABLE nd_protocol_reagent ADD CONSTRAINT nd_protocol_reagent_pkey PRIMARY KEY (nd_protocol_reagent_id);
ALTER TABLE nd_protocolprop ADD CONSTRAINT nd_protocolprop_c1 UNIQUE (nd_protocol_id, type_id, rank);
ALTER TABLE nd_protocolprop ADD CONSTRAINT nd_protocolprop_pkey PRIMARY KEY (nd_protocolprop_id);
ALTER TABLE nd_reagent ADD CONSTRAINT nd_reagent_pkey PRIMARY KEY (nd_reagent_id);
ALTER TABLE nd_reagent_relationship ADD CONSTRAINT nd_reagent_relationship_pkey PRIMARY KEY (nd_reagent_relationship_id);
ALTER TABLE nd_reagentprop ADD CONSTRAINT nd_reagentprop_c1 UNIQUE (nd_reagent_id, type_id, rank);
ALTER TABLE nd_reagentprop ADD CONSTRAINT nd_reagentprop_pkey PRIMARY KEY (nd_reagentprop_id);
ALTER TABLE organism ADD CONSTRAINT organism_c1 UNIQUE (genus, species);
ALTER TABLE organism_dbxref ADD CONSTRAINT organism_dbxref_c1 UNIQUE (organism_id, dbxref_id);
ALTER TABLE organism_dbxref ADD CONSTRAINT organism_dbxref_pkey PRIMARY KEY (organism_dbxref_id);
ALTER TABLE organism ADD CONSTRAINT organism_pkey PRIMARY KEY (organism_id);
ALTER TABLE organismprop ADD CONSTRAINT organismprop_c1 UNIQUE (organism_id, type_id, rank);
ALTER TABLE organismprop ADD CONSTRAINT organismprop_pkey PRIMARY KEY (organismprop_id);
ALTER TABLE phendesc ADD CONSTRAINT phendesc_c1 UNIQUE (genotype_id, environment_id, type_id, pub_id);
ALTER TABLE phendesc ADD CONSTRAINT phendesc_pkey PRIMARY KEY (phendesc_id);
ALTER TABLE phenotype ADD CONSTRAINT phenotype_c1 UNIQUE (uniquename);
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_c1 UNIQUE (genotype1_id, environment1_id, genotype2_id, environment2_id, phenotype1_id, pub_id);
ALTER TABLE phenotype_comparison_cvterm ADD CONSTRAINT phenotype_comparison_cvterm_c1 UNIQUE (phenotype_comparison_id, cvterm_id);
ALTER TABLE phenotype_comparison_cvterm ADD CONSTRAINT phenotype_comparison_cvterm_pkey PRIMARY KEY (phenotype_comparison_cvterm_id);
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_pkey PRIMARY KEY (phenotype_comparison_id);
ALTER TABLE phenotype_cvterm ADD CONSTRAINT phenotype_cvterm_c1 UNIQUE (phenotype_id, cvterm_id, rank);
ALTER TABLE phenotype_cvterm ADD CONSTRAINT phenotype_cvterm_pkey PRIMARY KEY (phenotype_cvterm_id);
ALTER TABLE phenotype ADD CONSTRAINT phenotype_pkey PRIMARY KEY (phenotype_id);
ALTER TABLE phenotypeprop ADD CONSTRAINT phenotypeprop_c1 UNIQUE (phenotype_id, type_id, rank);
ALTER TABLE phenotypeprop ADD CONSTRAINT phenotypeprop_pkey PRIMARY KEY (phenotypeprop_id);
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_c1 UNIQUE (genotype_id, phenotype_id, environment_id, type_id, pub_id);
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_pkey PRIMARY KEY (phenstatement_id);
ALTER TABLE phylonode_dbxref ADD CONSTRAINT phylonode_dbxref_phylonode_id_key UNIQUE (phylonode_id, dbxref_id);
ALTER TABLE phylonode_dbxref ADD CONSTRAINT phylonode_dbxref_pkey PRIMARY KEY (phylonode_dbxref_id);
ALTER TABLE phylonode_organism ADD CONSTRAINT phylonode_organism_phylonode_id_key UNIQUE (phylonode_id);
ALTER TABLE phylonode_organism ADD CONSTRAINT phylonode_organism_pkey PRIMARY KEY (phylonode_organism_id);
ALTER TABLE phylonode ADD CONSTRAINT phylonode_phylotree_id_key UNIQUE (phylotree_id, left_idx);
ALTER TABLE phylonode ADD CONSTRAINT phylonode_phylotree_id_key1 UNIQUE (phylotree_id, right_idx);
ALTER TABLE phylonode ADD CONSTRAINT phylonode_pkey PRIMARY KEY (phylonode_id);
ALTER TABLE phylonode_pub ADD CONSTRAINT phylonode_pub_phylonode_id_key UNIQUE (phylonode_id, pub_id);
ALTER TABLE phylonode_pub ADD CONSTRAINT phylonode_pub_pkey PRIMARY KEY (phylonode_pub_id);
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_pkey PRIMARY KEY (phylonode_relationship_id);
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_subject_id_key UNIQUE (subject_id, object_id, type_id);
ALTER TABLE phylonodeprop ADD CONSTRAINT phylonodeprop_phylonode_id_key UNIQUE (phylonode_id, type_id, value, rank);
ALTER TABLE phylonodeprop ADD CONSTRAINT phylonodeprop_pkey PRIMARY KEY (phylonodeprop_id);
ALTER TABLE phylotree ADD CONSTRAINT phylotree_pkey PRIMARY KEY (phylotree_id);
ALTER TABLE phylotree_pub ADD CONSTRAINT phylotree_pub_phylotree_id_key UNIQUE (phylotree_id, pub_id);
ALTER TABLE phylotree_pub ADD CONSTRAINT phylotree_pub_pkey PRIMARY KEY (phylotree_pub_id);
ALTER TABLE project ADD CONSTRAINT project_c1 UNIQUE (name);
ALTER TABLE project_contact ADD CONSTRAINT project_contact_c1 UNIQUE (project_id, contact_id);
ALTER TABLE project_contact ADD CONSTRAINT project_contact_pkey PRIMARY KEY (project_contact_id);
ALTER TABLE project ADD CONSTRAINT project_pkey PRIMARY KEY (project_id);
ALTER TABLE project_pub ADD CONSTRAINT project_pub_c1 UNIQUE (project_id, pub_id);
ALTER TABLE project_pub ADD CONSTRAINT project_pub_pkey PRIMARY KEY (project_pub_id);
ALTER TABLE project_relationship ADD CONSTRAINT project_relationship_c1 UNIQUE (subject_project_id, object_project_id, type_id);
ALTER TABLE project_relationship ADD CONSTRAINT project_relationship_pkey PRIMARY KEY (project_relationship_id);
ALTER TABLE projectprop ADD CONSTRAINT projectprop_c1 UNIQUE (project_id, type_id, rank);
ALTER TABLE projectprop ADD CONSTRAINT projectprop_pkey PRIMARY KEY (projectprop_id);
ALTER TABLE protocol ADD CONSTRAINT protocol_c1 UNIQUE (name);
ALTER TABLE protocol ADD CONSTRAINT protocol_pkey PRIMARY KEY (protocol_id);
ALTER TABLE protocolparam ADD CONSTRAINT protocolparam_pkey PRIMARY KEY (protocolparam_id);
ALTER TABLE pub ADD CONSTRAINT pub_c1 UNIQUE (uniquename);
ALTER TABLE pub_dbxref ADD CONSTRAINT pub_dbxref_c1 UNIQUE (pub_id, dbxref_id);
ALTER TABLE pub_dbxref ADD CONSTRAINT pub_dbxref_pkey PRIMARY KEY (pub_dbxref_id);
ALTER TABLE pub ADD CONSTRAINT pub_pkey PRIMARY KEY (pub_id);
ALTER TABLE pub_relationship ADD CONSTRAINT pub_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE pub_relationship ADD CONSTRAINT pub_relationship_pkey PRIMARY KEY (pub_relationship_id);
ALTER TABLE pubauthor ADD CONSTRAINT pubauthor_c1 UNIQUE (pub_id, rank);
ALTER TABLE pubauthor ADD CONSTRAINT pubauthor_pkey PRIMARY KEY (pubauthor_id);
ALTER TABLE pubprop ADD CONSTRAINT pubprop_c1 UNIQUE (pub_id, type_id, rank);
ALTER TABLE pubprop ADD CONSTRAINT pubprop_pkey PRIMARY KEY (pubprop_id);
ALTER TABLE quantification ADD CONSTRAINT quantification_c1 UNIQUE (name, analysis_id);
ALTER TABLE quantification ADD CONSTRAINT quantification_pkey PRIMARY KEY (quantification_id);
ALTER TABLE quantification_relationship ADD CONSTRAINT quantification_relationship_c1 UNIQUE (subject_id, object_id, type_id);
ALTER TABLE quantification_relationship ADD CONSTRAINT quantification_relationship_pkey PRIMARY KEY (quantification_relationship_id);
ALTER TABLE quantificationprop ADD CONSTRAINT quantificationprop_c1 UNIQUE (quantification_id, type_id, rank);
ALTER TABLE quantificationprop ADD CONSTRAINT quantificationprop_pkey PRIMARY KEY (quantificationprop_id);
ALTER TABLE stock ADD CONSTRAINT stock_c1 UNIQUE (organism_id, uniquename, type_id);
ALTER TABLE stock_cvterm ADD CONSTRAINT stock_cvterm_c1 UNIQUE (stock_id, cvterm_id, pub_id, rank);
ALTER TABLE stock_cvterm ADD CONSTRAINT stock_cvterm_pkey PRIMARY KEY (stock_cvterm_id);
ALTER TABLE stock_cvtermprop ADD CONSTRAINT stock_cvtermprop_c1 UNIQUE (stock_cvterm_id, type_id, rank);
ALTER TABLE stock_cvtermprop ADD CONSTRAINT stock_cvtermprop_pkey PRIMARY KEY (stock_cvtermprop_id);
ALTER TABLE stock_dbxref ADD CONSTRAINT stock_dbxref_c1 UNIQUE (stock_id, dbxref_id);
ALTER TABLE stock_dbxref ADD CONSTRAINT stock_dbxref_pkey PRIMARY KEY (stock_dbxref_id);
ALTER TABLE stock_dbxrefprop ADD CONSTRAINT stock_dbxrefprop_c1 UNIQUE (stock_dbxref_id, type_id, rank);
ALTER TABLE stock_dbxrefprop ADD CONSTRAINT stock_dbxrefprop_pkey PRIMARY KEY (stock_dbxrefprop_id);
ALTER TABLE stock_genotype ADD CONSTRAINT stock_genotype_c1 UNIQUE (stock_id, genotype_id);
ALTER TABLE stock_genotype ADD CONSTRAINT stock_genotype_pkey PRIMARY KEY (stock_genotype_id);
ALTER TABLE stock ADD CONSTRAINT stock_pkey PRIMARY KEY (stock_id);
ALTER TABLE stock_pub ADD CONSTRAINT stock_pub_c1 UNIQUE (stock_id, pub_id);
ALTER TABLE stock_pub ADD CONSTRAINT stock_pub_pkey PRIMARY KEY (stock_pub_id);
ALTER TABLE stock_relationship ADD CONSTRAINT stock_relationship_c1 UNIQUE (subject_id, object_id, type_id, rank);
ALTER TABLE stock_relationship_cvterm ADD CONSTRAINT stock_relationship_cvterm_pkey PRIMARY KEY (stock_relationship_cvterm_id);
ALTER TABLE stock_relationship ADD CONSTRAINT stock_relationship_pkey PRIMARY KEY (stock_relationship_id);
ALTER TABLE stock_relationship_pub ADD CONSTRAINT stock_relationship_pub_c1 UNIQUE (stock_relationship_id, pub_id);
ALTER TABLE stock_relationship_pub ADD CONSTRAINT stock_relationship_pub_pkey PRIMARY KEY (stock_relationship_pub_id);
ALTER TABLE stockcollection ADD CONSTRAINT stockcollection_c1 UNIQUE (uniquename, type_id);
ALTER TABLE stockcollection ADD CONSTRAINT stockcollection_pkey PRIMARY KEY (stockcollection_id);
ALTER TABLE stockcollection_stock ADD CONSTRAINT stockcollection_stock_c1 UNIQUE (stockcollection_id, stock_id);
ALTER TABLE stockcollection_stock ADD CONSTRAINT stockcollection_stock_pkey PRIMARY KEY (stockcollection_stock_id);
ALTER TABLE stockcollectionprop ADD CONSTRAINT stockcollectionprop_c1 UNIQUE (stockcollection_id, type_id, rank);
ALTER TABLE stockcollectionprop ADD CONSTRAINT stockcollectionprop_pkey PRIMARY KEY (stockcollectionprop_id);
ALTER TABLE stockprop ADD CONSTRAINT stockprop_c1 UNIQUE (stock_id, type_id, rank);
ALTER TABLE stockprop ADD CONSTRAINT stockprop_pkey PRIMARY KEY (stockprop_id);
ALTER TABLE stockprop_pub ADD CONSTRAINT stockprop_pub_c1 UNIQUE (stockprop_id, pub_id);
ALTER TABLE stockprop_pub ADD CONSTRAINT stockprop_pub_pkey PRIMARY KEY (stockprop_pub_id);
ALTER TABLE study_assay ADD CONSTRAINT study_assay_c1 UNIQUE (study_id, assay_id);
ALTER TABLE study_assay ADD CONSTRAINT study_assay_pkey PRIMARY KEY (study_assay_id);
ALTER TABLE study ADD CONSTRAINT study_c1 UNIQUE (name);
ALTER TABLE study ADD CONSTRAINT study_pkey PRIMARY KEY (study_id);
ALTER TABLE studydesign ADD CONSTRAINT studydesign_pkey PRIMARY KEY (studydesign_id);
ALTER TABLE studydesignprop ADD CONSTRAINT studydesignprop_c1 UNIQUE (studydesign_id, type_id, rank);
ALTER TABLE studydesignprop ADD CONSTRAINT studydesignprop_pkey PRIMARY KEY (studydesignprop_id);
ALTER TABLE studyfactor ADD CONSTRAINT studyfactor_pkey PRIMARY KEY (studyfactor_id);
ALTER TABLE studyfactorvalue ADD CONSTRAINT studyfactorvalue_pkey PRIMARY KEY (studyfactorvalue_id);
ALTER TABLE studyprop_feature ADD CONSTRAINT studyprop_feature_pkey PRIMARY KEY (studyprop_feature_id);
ALTER TABLE studyprop_feature ADD CONSTRAINT studyprop_feature_studyprop_id_key UNIQUE (studyprop_id, feature_id);
ALTER TABLE studyprop ADD CONSTRAINT studyprop_pkey PRIMARY KEY (studyprop_id);
ALTER TABLE studyprop ADD CONSTRAINT studyprop_study_id_key UNIQUE (study_id, type_id, rank);
ALTER TABLE synonym ADD CONSTRAINT synonym_c1 UNIQUE (name, type_id);
ALTER TABLE synonym ADD CONSTRAINT synonym_pkey PRIMARY KEY (synonym_id);
ALTER TABLE tableinfo ADD CONSTRAINT tableinfo_c1 UNIQUE (name);
ALTER TABLE tableinfo ADD CONSTRAINT tableinfo_pkey PRIMARY KEY (tableinfo_id);
ALTER TABLE treatment ADD CONSTRAINT treatment_pkey PRIMARY KEY (treatment_id);

CREATE INDEX acquisition_idx_assay_id ON acquisition USING btree (assay_id);
CREATE INDEX acquisition_idx_channel_id ON acquisition USING btree (channel_id);
CREATE INDEX acquisition_idx_protocol_id ON acquisition USING btree (protocol_id);
CREATE INDEX acquisition_relationship_idx_object_id ON acquisition_relationship USING btree (object_id);
CREATE INDEX acquisition_relationship_idx_subject_id ON acquisition_relationship USING btree (subject_id);
CREATE INDEX acquisition_relationship_idx_type_id ON acquisition_relationship USING btree (type_id);
CREATE INDEX acquisitionprop_idx_acquisition_id ON acquisitionprop USING btree (acquisition_id);
CREATE INDEX acquisitionprop_idx_type_id ON acquisitionprop USING btree (type_id);
CREATE INDEX analysisfeature_idx_analysis_id ON analysisfeature USING btree (analysis_id);
CREATE INDEX analysisfeature_idx_feature_id ON analysisfeature USING btree (feature_id);
CREATE INDEX analysisfeatureprop_idx_analysisfeature_id ON analysisfeatureprop USING btree (analysisfeature_id);
CREATE INDEX analysisfeatureprop_idx_type_id ON analysisfeatureprop USING btree (type_id);
CREATE INDEX analysisprop_idx_analysis_id ON analysisprop USING btree (analysis_id);
CREATE INDEX analysisprop_idx_type_id ON analysisprop USING btree (type_id);
CREATE INDEX arraydesign_idx_dbxref_id ON arraydesign USING btree (dbxref_id);
CREATE INDEX arraydesign_idx_manufacturer_id ON arraydesign USING btree (manufacturer_id);
CREATE INDEX arraydesign_idx_platformtype_id ON arraydesign USING btree (platformtype_id);
CREATE INDEX arraydesign_idx_protocol_id ON arraydesign USING btree (protocol_id);
CREATE INDEX arraydesign_idx_substratetype_id ON arraydesign USING btree (substratetype_id);
CREATE INDEX arraydesignprop_idx_arraydesign_id ON arraydesignprop USING btree (arraydesign_id);
CREATE INDEX arraydesignprop_idx_type_id ON arraydesignprop USING btree (type_id);
CREATE INDEX assay_biomaterial_idx_assay_id ON assay_biomaterial USING btree (assay_id);
CREATE INDEX assay_biomaterial_idx_biomaterial_id ON assay_biomaterial USING btree (biomaterial_id);
CREATE INDEX assay_biomaterial_idx_channel_id ON assay_biomaterial USING btree (channel_id);
CREATE INDEX assay_idx_arraydesign_id ON assay USING btree (arraydesign_id);
CREATE INDEX assay_idx_dbxref_id ON assay USING btree (dbxref_id);
CREATE INDEX assay_idx_operator_id ON assay USING btree (operator_id);
CREATE INDEX assay_idx_protocol_id ON assay USING btree (protocol_id);
CREATE INDEX assay_project_idx_assay_id ON assay_project USING btree (assay_id);
CREATE INDEX assay_project_idx_project_id ON assay_project USING btree (project_id);
CREATE INDEX assayprop_idx_assay_id ON assayprop USING btree (assay_id);
CREATE INDEX assayprop_idx_type_id ON assayprop USING btree (type_id);
CREATE INDEX biomaterial_dbxref_idx_biomaterial_id ON biomaterial_dbxref USING btree (biomaterial_id);
CREATE INDEX biomaterial_dbxref_idx_dbxref_id ON biomaterial_dbxref USING btree (dbxref_id);
CREATE INDEX biomaterial_idx_biosourceprovider_id ON biomaterial USING btree (biosourceprovider_id);
CREATE INDEX biomaterial_idx_dbxref_id ON biomaterial USING btree (dbxref_id);
CREATE INDEX biomaterial_idx_taxon_id ON biomaterial USING btree (taxon_id);
CREATE INDEX biomaterial_relationship_idx_object_id ON biomaterial_relationship USING btree (object_id);
CREATE INDEX biomaterial_relationship_idx_subject_id ON biomaterial_relationship USING btree (subject_id);
CREATE INDEX biomaterial_relationship_idx_type_id ON biomaterial_relationship USING btree (type_id);
CREATE INDEX biomaterial_treatment_idx_biomaterial_id ON biomaterial_treatment USING btree (biomaterial_id);
CREATE INDEX biomaterial_treatment_idx_treatment_id ON biomaterial_treatment USING btree (treatment_id);
CREATE INDEX biomaterial_treatment_idx_unittype_id ON biomaterial_treatment USING btree (unittype_id);
CREATE INDEX biomaterialprop_idx_biomaterial_id ON biomaterialprop USING btree (biomaterial_id);
CREATE INDEX biomaterialprop_idx_type_id ON biomaterialprop USING btree (type_id);
CREATE INDEX cell_line_cvterm_idx_cell_line_id ON cell_line_cvterm USING btree (cell_line_id);
CREATE INDEX cell_line_cvterm_idx_cvterm_id ON cell_line_cvterm USING btree (cvterm_id);
CREATE INDEX cell_line_cvterm_idx_pub_id ON cell_line_cvterm USING btree (pub_id);
CREATE INDEX cell_line_cvtermprop_idx_cell_line_cvterm_id ON cell_line_cvtermprop USING btree (cell_line_cvterm_id);
CREATE INDEX cell_line_cvtermprop_idx_type_id ON cell_line_cvtermprop USING btree (type_id);
CREATE INDEX cell_line_dbxref_idx_cell_line_id ON cell_line_dbxref USING btree (cell_line_id);
CREATE INDEX cell_line_dbxref_idx_dbxref_id ON cell_line_dbxref USING btree (dbxref_id);
CREATE INDEX cell_line_feature_idx_cell_line_id ON cell_line_feature USING btree (cell_line_id);
CREATE INDEX cell_line_feature_idx_feature_id ON cell_line_feature USING btree (feature_id);
CREATE INDEX cell_line_feature_idx_pub_id ON cell_line_feature USING btree (pub_id);
CREATE INDEX cell_line_idx_organism_id ON cell_line USING btree (organism_id);
CREATE INDEX cell_line_library_idx_cell_line_id ON cell_line_library USING btree (cell_line_id);
CREATE INDEX cell_line_library_idx_library_id ON cell_line_library USING btree (library_id);
CREATE INDEX cell_line_library_idx_pub_id ON cell_line_library USING btree (pub_id);
CREATE INDEX cell_line_pub_idx_cell_line_id ON cell_line_pub USING btree (cell_line_id);
CREATE INDEX cell_line_pub_idx_pub_id ON cell_line_pub USING btree (pub_id);
CREATE INDEX cell_line_relationship_idx_object_id ON cell_line_relationship USING btree (object_id);
CREATE INDEX cell_line_relationship_idx_subject_id ON cell_line_relationship USING btree (subject_id);
CREATE INDEX cell_line_relationship_idx_type_id ON cell_line_relationship USING btree (type_id);
CREATE INDEX cell_line_synonym_idx_cell_line_id ON cell_line_synonym USING btree (cell_line_id);
CREATE INDEX cell_line_synonym_idx_pub_id ON cell_line_synonym USING btree (pub_id);
CREATE INDEX cell_line_synonym_idx_synonym_id ON cell_line_synonym USING btree (synonym_id);
CREATE INDEX cell_lineprop_idx_cell_line_id ON cell_lineprop USING btree (cell_line_id);
CREATE INDEX cell_lineprop_idx_type_id ON cell_lineprop USING btree (type_id);
CREATE INDEX cell_lineprop_pub_idx_cell_lineprop_id ON cell_lineprop_pub USING btree (cell_lineprop_id);
CREATE INDEX cell_lineprop_pub_idx_pub_id ON cell_lineprop_pub USING btree (pub_id);
CREATE INDEX chadoprop_idx_type_id ON chadoprop USING btree (type_id);
CREATE INDEX contact_idx_type_id ON contact USING btree (type_id);
CREATE INDEX contact_relationship_idx_object_id ON contact_relationship USING btree (object_id);
CREATE INDEX contact_relationship_idx_subject_id ON contact_relationship USING btree (subject_id);
CREATE INDEX contact_relationship_idx_type_id ON contact_relationship USING btree (type_id);
CREATE INDEX control_idx_assay_id ON control USING btree (assay_id);
CREATE INDEX control_idx_tableinfo_id ON control USING btree (tableinfo_id);
CREATE INDEX control_idx_type_id ON control USING btree (type_id);
CREATE INDEX cvprop_idx_cv_id ON cvprop USING btree (cv_id);
CREATE INDEX cvprop_idx_type_id ON cvprop USING btree (type_id);
CREATE INDEX cvterm_dbxref_idx_cvterm_id ON cvterm_dbxref USING btree (cvterm_id);
CREATE INDEX cvterm_dbxref_idx_dbxref_id ON cvterm_dbxref USING btree (dbxref_id);
CREATE INDEX cvterm_idx_cv_id ON cvterm USING btree (cv_id);
CREATE INDEX cvterm_idx_dbxref_id ON cvterm USING btree (dbxref_id);
CREATE INDEX cvterm_relationship_idx_object_id ON cvterm_relationship USING btree (object_id);
CREATE INDEX cvterm_relationship_idx_subject_id ON cvterm_relationship USING btree (subject_id);
CREATE INDEX cvterm_relationship_idx_type_id ON cvterm_relationship USING btree (type_id);
CREATE INDEX cvtermpath_idx_cv_id ON cvtermpath USING btree (cv_id);
CREATE INDEX cvtermpath_idx_object_id ON cvtermpath USING btree (object_id);
CREATE INDEX cvtermpath_idx_subject_id ON cvtermpath USING btree (subject_id);
CREATE INDEX cvtermpath_idx_type_id ON cvtermpath USING btree (type_id);
CREATE INDEX cvtermprop_idx_cvterm_id ON cvtermprop USING btree (cvterm_id);
CREATE INDEX cvtermprop_idx_type_id ON cvtermprop USING btree (type_id);
CREATE INDEX cvtermsynonym_idx_cvterm_id ON cvtermsynonym USING btree (cvterm_id);
CREATE INDEX cvtermsynonym_idx_type_id ON cvtermsynonym USING btree (type_id);
CREATE INDEX dbxref_idx_db_id ON dbxref USING btree (db_id);
CREATE INDEX dbxrefprop_idx_dbxref_id ON dbxrefprop USING btree (dbxref_id);
CREATE INDEX dbxrefprop_idx_type_id ON dbxrefprop USING btree (type_id);
CREATE INDEX element_idx_arraydesign_id ON element USING btree (arraydesign_id);
CREATE INDEX element_idx_dbxref_id ON element USING btree (dbxref_id);
CREATE INDEX element_idx_feature_id ON element USING btree (feature_id);
CREATE INDEX element_idx_type_id ON element USING btree (type_id);
CREATE INDEX element_relationship_idx_object_id ON element_relationship USING btree (object_id);
CREATE INDEX element_relationship_idx_subject_id ON element_relationship USING btree (subject_id);
CREATE INDEX element_relationship_idx_type_id ON element_relationship USING btree (type_id);
CREATE INDEX elementresult_idx_element_id ON elementresult USING btree (element_id);
CREATE INDEX elementresult_idx_quantification_id ON elementresult USING btree (quantification_id);
CREATE INDEX elementresult_relationship_idx_object_id ON elementresult_relationship USING btree (object_id);
CREATE INDEX elementresult_relationship_idx_subject_id ON elementresult_relationship USING btree (subject_id);
CREATE INDEX elementresult_relationship_idx_type_id ON elementresult_relationship USING btree (type_id);
CREATE INDEX environment_cvterm_idx_cvterm_id ON environment_cvterm USING btree (cvterm_id);
CREATE INDEX environment_cvterm_idx_environment_id ON environment_cvterm USING btree (environment_id);
CREATE INDEX expression_cvterm_idx_cvterm_id ON expression_cvterm USING btree (cvterm_id);
CREATE INDEX expression_cvterm_idx_cvterm_type_id ON expression_cvterm USING btree (cvterm_type_id);
CREATE INDEX expression_cvterm_idx_expression_id ON expression_cvterm USING btree (expression_id);
CREATE INDEX expression_cvtermprop_idx_expression_cvterm_id ON expression_cvtermprop USING btree (expression_cvterm_id);
CREATE INDEX expression_cvtermprop_idx_type_id ON expression_cvtermprop USING btree (type_id);
CREATE INDEX expression_image_idx_eimage_id ON expression_image USING btree (eimage_id);
CREATE INDEX expression_image_idx_expression_id ON expression_image USING btree (expression_id);
CREATE INDEX expression_pub_idx_expression_id ON expression_pub USING btree (expression_id);
CREATE INDEX expression_pub_idx_pub_id ON expression_pub USING btree (pub_id);
CREATE INDEX expressionprop_idx_expression_id ON expressionprop USING btree (expression_id);
CREATE INDEX expressionprop_idx_type_id ON expressionprop USING btree (type_id);
CREATE INDEX feature_cvterm_dbxref_idx_dbxref_id ON feature_cvterm_dbxref USING btree (dbxref_id);
CREATE INDEX feature_cvterm_dbxref_idx_feature_cvterm_id ON feature_cvterm_dbxref USING btree (feature_cvterm_id);
CREATE INDEX feature_cvterm_idx_cvterm_id ON feature_cvterm USING btree (cvterm_id);
CREATE INDEX feature_cvterm_idx_feature_id ON feature_cvterm USING btree (feature_id);
CREATE INDEX feature_cvterm_idx_pub_id ON feature_cvterm USING btree (pub_id);
CREATE INDEX feature_cvterm_pub_idx_feature_cvterm_id ON feature_cvterm_pub USING btree (feature_cvterm_id);
CREATE INDEX feature_cvterm_pub_idx_pub_id ON feature_cvterm_pub USING btree (pub_id);
CREATE INDEX feature_cvtermprop_idx_feature_cvterm_id ON feature_cvtermprop USING btree (feature_cvterm_id);
CREATE INDEX feature_cvtermprop_idx_type_id ON feature_cvtermprop USING btree (type_id);
CREATE INDEX feature_dbxref_idx_dbxref_id ON feature_dbxref USING btree (dbxref_id);
CREATE INDEX feature_dbxref_idx_feature_id ON feature_dbxref USING btree (feature_id);
CREATE INDEX feature_expression_idx_expression_id ON feature_expression USING btree (expression_id);
CREATE INDEX feature_expression_idx_feature_id ON feature_expression USING btree (feature_id);
CREATE INDEX feature_expression_idx_pub_id ON feature_expression USING btree (pub_id);
CREATE INDEX feature_expressionprop_idx_feature_expression_id ON feature_expressionprop USING btree (feature_expression_id);
CREATE INDEX feature_expressionprop_idx_type_id ON feature_expressionprop USING btree (type_id);
CREATE INDEX feature_genotype_idx_chromosome_id ON feature_genotype USING btree (chromosome_id);
CREATE INDEX feature_genotype_idx_cvterm_id ON feature_genotype USING btree (cvterm_id);
CREATE INDEX feature_genotype_idx_feature_id ON feature_genotype USING btree (feature_id);
CREATE INDEX feature_genotype_idx_genotype_id ON feature_genotype USING btree (genotype_id);
CREATE INDEX feature_idx_dbxref_id ON feature USING btree (dbxref_id);
CREATE INDEX feature_idx_organism_id ON feature USING btree (organism_id);
CREATE INDEX feature_idx_type_id ON feature USING btree (type_id);
CREATE INDEX feature_phenotype_idx_feature_id ON feature_phenotype USING btree (feature_id);
CREATE INDEX feature_phenotype_idx_phenotype_id ON feature_phenotype USING btree (phenotype_id);
CREATE INDEX feature_pub_idx_feature_id ON feature_pub USING btree (feature_id);
CREATE INDEX feature_pub_idx_pub_id ON feature_pub USING btree (pub_id);
CREATE INDEX feature_pubprop_idx_feature_pub_id ON feature_pubprop USING btree (feature_pub_id);
CREATE INDEX feature_pubprop_idx_type_id ON feature_pubprop USING btree (type_id);
CREATE INDEX feature_relationship_idx_object_id ON feature_relationship USING btree (object_id);
CREATE INDEX feature_relationship_idx_subject_id ON feature_relationship USING btree (subject_id);
CREATE INDEX feature_relationship_idx_type_id ON feature_relationship USING btree (type_id);
CREATE INDEX feature_relationship_pub_idx_feature_relationship_id ON feature_relationship_pub USING btree (feature_relationship_id);
CREATE INDEX feature_relationship_pub_idx_pub_id ON feature_relationship_pub USING btree (pub_id);
CREATE INDEX feature_relationshipprop_idx_feature_relationship_id ON feature_relationshipprop USING btree (feature_relationship_id);
CREATE INDEX feature_relationshipprop_idx_type_id ON feature_relationshipprop USING btree (type_id);
CREATE INDEX feature_relationshipprop_pub_idx_feature_relationshipprop_id ON feature_relationshipprop_pub USING btree (feature_relationshipprop_id);
CREATE INDEX feature_relationshipprop_pub_idx_pub_id ON feature_relationshipprop_pub USING btree (pub_id);
CREATE INDEX feature_synonym_idx_feature_id ON feature_synonym USING btree (feature_id);
CREATE INDEX feature_synonym_idx_pub_id ON feature_synonym USING btree (pub_id);
CREATE INDEX feature_synonym_idx_synonym_id ON feature_synonym USING btree (synonym_id);
CREATE INDEX featureloc_idx_feature_id ON featureloc USING btree (feature_id);
CREATE INDEX featureloc_idx_srcfeature_id ON featureloc USING btree (srcfeature_id);
CREATE INDEX featureloc_pub_idx_featureloc_id ON featureloc_pub USING btree (featureloc_id);
CREATE INDEX featureloc_pub_idx_pub_id ON featureloc_pub USING btree (pub_id);
CREATE INDEX featuremap_idx_unittype_id ON featuremap USING btree (unittype_id);
CREATE INDEX featuremap_pub_idx_featuremap_id ON featuremap_pub USING btree (featuremap_id);
CREATE INDEX featuremap_pub_idx_pub_id ON featuremap_pub USING btree (pub_id);
CREATE INDEX featurepos_idx_feature_id ON featurepos USING btree (feature_id);
CREATE INDEX featurepos_idx_featuremap_id ON featurepos USING btree (featuremap_id);
CREATE INDEX featurepos_idx_map_feature_id ON featurepos USING btree (map_feature_id);
CREATE INDEX featureprop_idx_feature_id ON featureprop USING btree (feature_id);
CREATE INDEX featureprop_idx_type_id ON featureprop USING btree (type_id);
CREATE INDEX featureprop_pub_idx_featureprop_id ON featureprop_pub USING btree (featureprop_id);
CREATE INDEX featureprop_pub_idx_pub_id ON featureprop_pub USING btree (pub_id);
CREATE INDEX featurerange_idx_feature_id ON featurerange USING btree (feature_id);
CREATE INDEX featurerange_idx_featuremap_id ON featurerange USING btree (featuremap_id);
CREATE INDEX featurerange_idx_leftendf_id ON featurerange USING btree (leftendf_id);
CREATE INDEX featurerange_idx_leftstartf_id ON featurerange USING btree (leftstartf_id);
CREATE INDEX featurerange_idx_rightendf_id ON featurerange USING btree (rightendf_id);
CREATE INDEX featurerange_idx_rightstartf_id ON featurerange USING btree (rightstartf_id);
CREATE INDEX genotype_idx_type_id ON genotype USING btree (type_id);
CREATE INDEX genotypeprop_idx_genotype_id ON genotypeprop USING btree (genotype_id);
CREATE INDEX genotypeprop_idx_type_id ON genotypeprop USING btree (type_id);
CREATE INDEX library_cvterm_idx_cvterm_id ON library_cvterm USING btree (cvterm_id);
CREATE INDEX library_cvterm_idx_library_id ON library_cvterm USING btree (library_id);
CREATE INDEX library_cvterm_idx_pub_id ON library_cvterm USING btree (pub_id);
CREATE INDEX library_dbxref_idx_dbxref_id ON library_dbxref USING btree (dbxref_id);
CREATE INDEX library_dbxref_idx_library_id ON library_dbxref USING btree (library_id);
CREATE INDEX library_feature_idx_feature_id ON library_feature USING btree (feature_id);
CREATE INDEX library_feature_idx_library_id ON library_feature USING btree (library_id);
CREATE INDEX library_idx_organism_id ON library USING btree (organism_id);
CREATE INDEX library_idx_type_id ON library USING btree (type_id);
CREATE INDEX library_pub_idx_library_id ON library_pub USING btree (library_id);
CREATE INDEX library_pub_idx_pub_id ON library_pub USING btree (pub_id);
CREATE INDEX library_synonym_idx_library_id ON library_synonym USING btree (library_id);
CREATE INDEX library_synonym_idx_pub_id ON library_synonym USING btree (pub_id);
CREATE INDEX library_synonym_idx_synonym_id ON library_synonym USING btree (synonym_id);
CREATE INDEX libraryprop_idx_library_id ON libraryprop USING btree (library_id);
CREATE INDEX libraryprop_idx_type_id ON libraryprop USING btree (type_id);
CREATE INDEX libraryprop_pub_idx_libraryprop_id ON libraryprop_pub USING btree (libraryprop_id);
CREATE INDEX libraryprop_pub_idx_pub_id ON libraryprop_pub USING btree (pub_id);
CREATE INDEX magedocumentation_idx_mageml_id ON magedocumentation USING btree (mageml_id);
CREATE INDEX magedocumentation_idx_tableinfo_id ON magedocumentation USING btree (tableinfo_id);
CREATE INDEX nd_experiment_contact_idx_contact_id ON nd_experiment_contact USING btree (contact_id);
CREATE INDEX nd_experiment_contact_idx_nd_experiment_id ON nd_experiment_contact USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_dbxref_idx_dbxref_id ON nd_experiment_dbxref USING btree (dbxref_id);
CREATE INDEX nd_experiment_dbxref_idx_nd_experiment_id ON nd_experiment_dbxref USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_genotype_idx_genotype_id ON nd_experiment_genotype USING btree (genotype_id);
CREATE INDEX nd_experiment_genotype_idx_nd_experiment_id ON nd_experiment_genotype USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_idx_nd_geolocation_id ON nd_experiment USING btree (nd_geolocation_id);
CREATE INDEX nd_experiment_idx_type_id ON nd_experiment USING btree (type_id);
CREATE INDEX nd_experiment_phenotype_idx_nd_experiment_id ON nd_experiment_phenotype USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_phenotype_idx_phenotype_id ON nd_experiment_phenotype USING btree (phenotype_id);
CREATE INDEX nd_experiment_project_idx_nd_experiment_id ON nd_experiment_project USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_project_idx_project_id ON nd_experiment_project USING btree (project_id);
CREATE INDEX nd_experiment_protocol_idx_nd_experiment_id ON nd_experiment_protocol USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_protocol_idx_nd_protocol_id ON nd_experiment_protocol USING btree (nd_protocol_id);
CREATE INDEX nd_experiment_pub_idx_nd_experiment_id ON nd_experiment_pub USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_pub_idx_pub_id ON nd_experiment_pub USING btree (pub_id);
CREATE INDEX nd_experiment_stock_dbxref_idx_dbxref_id ON nd_experiment_stock_dbxref USING btree (dbxref_id);
CREATE INDEX nd_experiment_stock_dbxref_idx_nd_experiment_stock_id ON nd_experiment_stock_dbxref USING btree (nd_experiment_stock_id);
CREATE INDEX nd_experiment_stock_idx_nd_experiment_id ON nd_experiment_stock USING btree (nd_experiment_id);
CREATE INDEX nd_experiment_stock_idx_stock_id ON nd_experiment_stock USING btree (stock_id);
CREATE INDEX nd_experiment_stock_idx_type_id ON nd_experiment_stock USING btree (type_id);
CREATE INDEX nd_experiment_stockprop_idx_nd_experiment_stock_id ON nd_experiment_stockprop USING btree (nd_experiment_stock_id);
CREATE INDEX nd_experiment_stockprop_idx_type_id ON nd_experiment_stockprop USING btree (type_id);
CREATE INDEX nd_experimentprop_idx_nd_experiment_id ON nd_experimentprop USING btree (nd_experiment_id);
CREATE INDEX nd_experimentprop_idx_type_id ON nd_experimentprop USING btree (type_id);
CREATE INDEX nd_geolocationprop_idx_nd_geolocation_id ON nd_geolocationprop USING btree (nd_geolocation_id);
CREATE INDEX nd_geolocationprop_idx_type_id ON nd_geolocationprop USING btree (type_id);
CREATE INDEX nd_protocol_idx_type_id ON nd_protocol USING btree (type_id);
CREATE INDEX nd_protocol_reagent_idx_nd_protocol_id ON nd_protocol_reagent USING btree (nd_protocol_id);
CREATE INDEX nd_protocol_reagent_idx_reagent_id ON nd_protocol_reagent USING btree (reagent_id);
CREATE INDEX nd_protocol_reagent_idx_type_id ON nd_protocol_reagent USING btree (type_id);
CREATE INDEX nd_protocolprop_idx_nd_protocol_id ON nd_protocolprop USING btree (nd_protocol_id);
CREATE INDEX nd_protocolprop_idx_type_id ON nd_protocolprop USING btree (type_id);
CREATE INDEX nd_reagent_idx_type_id ON nd_reagent USING btree (type_id);
CREATE INDEX nd_reagent_relationship_idx_object_reagent_id ON nd_reagent_relationship USING btree (object_reagent_id);
CREATE INDEX nd_reagent_relationship_idx_subject_reagent_id ON nd_reagent_relationship USING btree (subject_reagent_id);
CREATE INDEX nd_reagent_relationship_idx_type_id ON nd_reagent_relationship USING btree (type_id);
CREATE INDEX nd_reagentprop_idx_nd_reagent_id ON nd_reagentprop USING btree (nd_reagent_id);
CREATE INDEX nd_reagentprop_idx_type_id ON nd_reagentprop USING btree (type_id);
CREATE INDEX organism_dbxref_idx_dbxref_id ON organism_dbxref USING btree (dbxref_id);
CREATE INDEX organism_dbxref_idx_organism_id ON organism_dbxref USING btree (organism_id);
CREATE INDEX organismprop_idx_organism_id ON organismprop USING btree (organism_id);
CREATE INDEX organismprop_idx_type_id ON organismprop USING btree (type_id);
CREATE INDEX phendesc_idx_environment_id ON phendesc USING btree (environment_id);
CREATE INDEX phendesc_idx_genotype_id ON phendesc USING btree (genotype_id);
CREATE INDEX phendesc_idx_pub_id ON phendesc USING btree (pub_id);
CREATE INDEX phendesc_idx_type_id ON phendesc USING btree (type_id);
CREATE INDEX phenotype_comparison_cvterm_idx_cvterm_id ON phenotype_comparison_cvterm USING btree (cvterm_id);
CREATE INDEX phenotype_comparison_cvterm_idx_phenotype_comparison_id ON phenotype_comparison_cvterm USING btree (phenotype_comparison_id);
CREATE INDEX phenotype_comparison_cvterm_idx_pub_id ON phenotype_comparison_cvterm USING btree (pub_id);
CREATE INDEX phenotype_comparison_idx_environment1_id ON phenotype_comparison USING btree (environment1_id);
CREATE INDEX phenotype_comparison_idx_environment2_id ON phenotype_comparison USING btree (environment2_id);
CREATE INDEX phenotype_comparison_idx_genotype1_id ON phenotype_comparison USING btree (genotype1_id);
CREATE INDEX phenotype_comparison_idx_genotype2_id ON phenotype_comparison USING btree (genotype2_id);
CREATE INDEX phenotype_comparison_idx_organism_id ON phenotype_comparison USING btree (organism_id);
CREATE INDEX phenotype_comparison_idx_phenotype1_id ON phenotype_comparison USING btree (phenotype1_id);
CREATE INDEX phenotype_comparison_idx_phenotype2_id ON phenotype_comparison USING btree (phenotype2_id);
CREATE INDEX phenotype_comparison_idx_pub_id ON phenotype_comparison USING btree (pub_id);
CREATE INDEX phenotype_cvterm_idx_cvterm_id ON phenotype_cvterm USING btree (cvterm_id);
CREATE INDEX phenotype_cvterm_idx_phenotype_id ON phenotype_cvterm USING btree (phenotype_id);
CREATE INDEX phenotype_idx_assay_id ON phenotype USING btree (assay_id);
CREATE INDEX phenotype_idx_attr_id ON phenotype USING btree (attr_id);
CREATE INDEX phenotype_idx_cvalue_id ON phenotype USING btree (cvalue_id);
CREATE INDEX phenotype_idx_observable_id ON phenotype USING btree (observable_id);
CREATE INDEX phenotypeprop_idx_phenotype_id ON phenotypeprop USING btree (phenotype_id);
CREATE INDEX phenotypeprop_idx_type_id ON phenotypeprop USING btree (type_id);
CREATE INDEX phenstatement_idx_environment_id ON phenstatement USING btree (environment_id);
CREATE INDEX phenstatement_idx_genotype_id ON phenstatement USING btree (genotype_id);
CREATE INDEX phenstatement_idx_phenotype_id ON phenstatement USING btree (phenotype_id);
CREATE INDEX phenstatement_idx_pub_id ON phenstatement USING btree (pub_id);
CREATE INDEX phenstatement_idx_type_id ON phenstatement USING btree (type_id);
CREATE INDEX phylonode_dbxref_idx_dbxref_id ON phylonode_dbxref USING btree (dbxref_id);
CREATE INDEX phylonode_dbxref_idx_phylonode_id ON phylonode_dbxref USING btree (phylonode_id);
CREATE INDEX phylonode_idx_feature_id ON phylonode USING btree (feature_id);
CREATE INDEX phylonode_idx_parent_phylonode_id ON phylonode USING btree (parent_phylonode_id);
CREATE INDEX phylonode_idx_phylotree_id ON phylonode USING btree (phylotree_id);
CREATE INDEX phylonode_idx_type_id ON phylonode USING btree (type_id);
CREATE INDEX phylonode_organism_idx_organism_id ON phylonode_organism USING btree (organism_id);
CREATE INDEX phylonode_organism_idx_phylonode_id ON phylonode_organism USING btree (phylonode_id);
CREATE INDEX phylonode_pub_idx_phylonode_id ON phylonode_pub USING btree (phylonode_id);
CREATE INDEX phylonode_pub_idx_pub_id ON phylonode_pub USING btree (pub_id);
CREATE INDEX phylonode_relationship_idx_object_id ON phylonode_relationship USING btree (object_id);
CREATE INDEX phylonode_relationship_idx_phylotree_id ON phylonode_relationship USING btree (phylotree_id);
CREATE INDEX phylonode_relationship_idx_subject_id ON phylonode_relationship USING btree (subject_id);
CREATE INDEX phylonode_relationship_idx_type_id ON phylonode_relationship USING btree (type_id);
CREATE INDEX phylonodeprop_idx_phylonode_id ON phylonodeprop USING btree (phylonode_id);
CREATE INDEX phylonodeprop_idx_type_id ON phylonodeprop USING btree (type_id);
CREATE INDEX phylotree_idx_analysis_id ON phylotree USING btree (analysis_id);
CREATE INDEX phylotree_idx_dbxref_id ON phylotree USING btree (dbxref_id);
CREATE INDEX phylotree_idx_type_id ON phylotree USING btree (type_id);
CREATE INDEX phylotree_pub_idx_phylotree_id ON phylotree_pub USING btree (phylotree_id);
CREATE INDEX phylotree_pub_idx_pub_id ON phylotree_pub USING btree (pub_id);
CREATE INDEX project_contact_idx_contact_id ON project_contact USING btree (contact_id);
CREATE INDEX project_contact_idx_project_id ON project_contact USING btree (project_id);
CREATE INDEX project_pub_idx_project_id ON project_pub USING btree (project_id);
CREATE INDEX project_pub_idx_pub_id ON project_pub USING btree (pub_id);
CREATE INDEX project_relationship_idx_object_project_id ON project_relationship USING btree (object_project_id);
CREATE INDEX project_relationship_idx_subject_project_id ON project_relationship USING btree (subject_project_id);
CREATE INDEX project_relationship_idx_type_id ON project_relationship USING btree (type_id);
CREATE INDEX projectprop_idx_project_id ON projectprop USING btree (project_id);
CREATE INDEX projectprop_idx_type_id ON projectprop USING btree (type_id);
CREATE INDEX protocol_idx_dbxref_id ON protocol USING btree (dbxref_id);
CREATE INDEX protocol_idx_pub_id ON protocol USING btree (pub_id);
CREATE INDEX protocol_idx_type_id ON protocol USING btree (type_id);
CREATE INDEX protocolparam_idx_datatype_id ON protocolparam USING btree (datatype_id);
CREATE INDEX protocolparam_idx_protocol_id ON protocolparam USING btree (protocol_id);
CREATE INDEX protocolparam_idx_unittype_id ON protocolparam USING btree (unittype_id);
CREATE INDEX pub_dbxref_idx_dbxref_id ON pub_dbxref USING btree (dbxref_id);
CREATE INDEX pub_dbxref_idx_pub_id ON pub_dbxref USING btree (pub_id);
CREATE INDEX pub_idx_type_id ON pub USING btree (type_id);
CREATE INDEX pub_relationship_idx_object_id ON pub_relationship USING btree (object_id);
CREATE INDEX pub_relationship_idx_subject_id ON pub_relationship USING btree (subject_id);
CREATE INDEX pub_relationship_idx_type_id ON pub_relationship USING btree (type_id);
CREATE INDEX pubauthor_idx_pub_id ON pubauthor USING btree (pub_id);
CREATE INDEX pubprop_idx_pub_id ON pubprop USING btree (pub_id);
CREATE INDEX pubprop_idx_type_id ON pubprop USING btree (type_id);
CREATE INDEX quantification_idx_acquisition_id ON quantification USING btree (acquisition_id);
CREATE INDEX quantification_idx_analysis_id ON quantification USING btree (analysis_id);
CREATE INDEX quantification_idx_operator_id ON quantification USING btree (operator_id);
CREATE INDEX quantification_idx_protocol_id ON quantification USING btree (protocol_id);
CREATE INDEX quantification_relationship_idx_object_id ON quantification_relationship USING btree (object_id);
CREATE INDEX quantification_relationship_idx_subject_id ON quantification_relationship USING btree (subject_id);
CREATE INDEX quantification_relationship_idx_type_id ON quantification_relationship USING btree (type_id);
CREATE INDEX quantificationprop_idx_quantification_id ON quantificationprop USING btree (quantification_id);
CREATE INDEX quantificationprop_idx_type_id ON quantificationprop USING btree (type_id);
CREATE INDEX stock_cvterm_idx_cvterm_id ON stock_cvterm USING btree (cvterm_id);
CREATE INDEX stock_cvterm_idx_pub_id ON stock_cvterm USING btree (pub_id);
CREATE INDEX stock_cvterm_idx_stock_id ON stock_cvterm USING btree (stock_id);
CREATE INDEX stock_cvtermprop_idx_stock_cvterm_id ON stock_cvtermprop USING btree (stock_cvterm_id);
CREATE INDEX stock_cvtermprop_idx_type_id ON stock_cvtermprop USING btree (type_id);
CREATE INDEX stock_dbxref_idx_dbxref_id ON stock_dbxref USING btree (dbxref_id);
CREATE INDEX stock_dbxref_idx_stock_id ON stock_dbxref USING btree (stock_id);
CREATE INDEX stock_dbxrefprop_idx_stock_dbxref_id ON stock_dbxrefprop USING btree (stock_dbxref_id);
CREATE INDEX stock_dbxrefprop_idx_type_id ON stock_dbxrefprop USING btree (type_id);
CREATE INDEX stock_genotype_idx_genotype_id ON stock_genotype USING btree (genotype_id);
CREATE INDEX stock_genotype_idx_stock_id ON stock_genotype USING btree (stock_id);
CREATE INDEX stock_idx_dbxref_id ON stock USING btree (dbxref_id);
CREATE INDEX stock_idx_organism_id ON stock USING btree (organism_id);
CREATE INDEX stock_idx_type_id ON stock USING btree (type_id);
CREATE INDEX stock_pub_idx_pub_id ON stock_pub USING btree (pub_id);
CREATE INDEX stock_pub_idx_stock_id ON stock_pub USING btree (stock_id);
CREATE INDEX stock_relationship_cvterm_idx_cvterm_id ON stock_relationship_cvterm USING btree (cvterm_id);
CREATE INDEX stock_relationship_cvterm_idx_pub_id ON stock_relationship_cvterm USING btree (pub_id);
CREATE INDEX stock_relationship_cvterm_idx_stock_relationship_id ON stock_relationship_cvterm USING btree (stock_relationship_id);
CREATE INDEX stock_relationship_idx_object_id ON stock_relationship USING btree (object_id);
CREATE INDEX stock_relationship_idx_subject_id ON stock_relationship USING btree (subject_id);
CREATE INDEX stock_relationship_idx_type_id ON stock_relationship USING btree (type_id);
CREATE INDEX stock_relationship_pub_idx_pub_id ON stock_relationship_pub USING btree (pub_id);
CREATE INDEX stock_relationship_pub_idx_stock_relationship_id ON stock_relationship_pub USING btree (stock_relationship_id);
CREATE INDEX stockcollection_idx_contact_id ON stockcollection USING btree (contact_id);
CREATE INDEX stockcollection_idx_type_id ON stockcollection USING btree (type_id);
CREATE INDEX stockcollection_stock_idx_stock_id ON stockcollection_stock USING btree (stock_id);
CREATE INDEX stockcollection_stock_idx_stockcollection_id ON stockcollection_stock USING btree (stockcollection_id);
CREATE INDEX stockcollectionprop_idx_stockcollection_id ON stockcollectionprop USING btree (stockcollection_id);
CREATE INDEX stockcollectionprop_idx_type_id ON stockcollectionprop USING btree (type_id);
CREATE INDEX stockprop_idx_stock_id ON stockprop USING btree (stock_id);
CREATE INDEX stockprop_idx_type_id ON stockprop USING btree (type_id);
CREATE INDEX stockprop_pub_idx_pub_id ON stockprop_pub USING btree (pub_id);
CREATE INDEX stockprop_pub_idx_stockprop_id ON stockprop_pub USING btree (stockprop_id);
CREATE INDEX study_assay_idx_assay_id ON study_assay USING btree (assay_id);
CREATE INDEX study_assay_idx_study_id ON study_assay USING btree (study_id);
CREATE INDEX study_idx_contact_id ON study USING btree (contact_id);
CREATE INDEX study_idx_dbxref_id ON study USING btree (dbxref_id);
CREATE INDEX study_idx_pub_id ON study USING btree (pub_id);
CREATE INDEX studydesign_idx_study_id ON studydesign USING btree (study_id);
CREATE INDEX studydesignprop_idx_studydesign_id ON studydesignprop USING btree (studydesign_id);
CREATE INDEX studydesignprop_idx_type_id ON studydesignprop USING btree (type_id);
CREATE INDEX studyfactor_idx_studydesign_id ON studyfactor USING btree (studydesign_id);
CREATE INDEX studyfactor_idx_type_id ON studyfactor USING btree (type_id);
CREATE INDEX studyfactorvalue_idx_assay_id ON studyfactorvalue USING btree (assay_id);
CREATE INDEX studyfactorvalue_idx_studyfactor_id ON studyfactorvalue USING btree (studyfactor_id);
CREATE INDEX studyprop_feature_idx_feature_id ON studyprop_feature USING btree (feature_id);
CREATE INDEX studyprop_feature_idx_studyprop_id ON studyprop_feature USING btree (studyprop_id);
CREATE INDEX studyprop_feature_idx_type_id ON studyprop_feature USING btree (type_id);
CREATE INDEX studyprop_idx_study_id ON studyprop USING btree (study_id);
CREATE INDEX studyprop_idx_type_id ON studyprop USING btree (type_id);
CREATE INDEX synonym_idx_type_id ON synonym USING btree (type_id);
CREATE INDEX treatment_idx_biomaterial_id ON treatment USING btree (biomaterial_id);
CREATE INDEX treatment_idx_protocol_id ON treatment USING btree (protocol_id);
CREATE INDEX treatment_idx_type_id ON treatment USING btree (type_id);

ALTER TABLE acquisition ADD CONSTRAINT acquisition_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisition ADD CONSTRAINT acquisition_fk_channel_id FOREIGN KEY (channel_id) REFERENCES channel(channel_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisition ADD CONSTRAINT acquisition_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisition_relationship ADD CONSTRAINT acquisition_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES acquisition(acquisition_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisition_relationship ADD CONSTRAINT acquisition_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES acquisition(acquisition_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisition_relationship ADD CONSTRAINT acquisition_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisitionprop ADD CONSTRAINT acquisitionprop_fk_acquisition_id FOREIGN KEY (acquisition_id) REFERENCES acquisition(acquisition_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE acquisitionprop ADD CONSTRAINT acquisitionprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisfeature ADD CONSTRAINT analysisfeature_fk_analysis_id FOREIGN KEY (analysis_id) REFERENCES analysis(analysis_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisfeature ADD CONSTRAINT analysisfeature_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisfeatureprop ADD CONSTRAINT analysisfeatureprop_fk_analysisfeature_id FOREIGN KEY (analysisfeature_id) REFERENCES analysisfeature(analysisfeature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisfeatureprop ADD CONSTRAINT analysisfeatureprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisprop ADD CONSTRAINT analysisprop_fk_analysis_id FOREIGN KEY (analysis_id) REFERENCES analysis(analysis_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE analysisprop ADD CONSTRAINT analysisprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_fk_manufacturer_id FOREIGN KEY (manufacturer_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_fk_platformtype_id FOREIGN KEY (platformtype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesign ADD CONSTRAINT arraydesign_fk_substratetype_id FOREIGN KEY (substratetype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesignprop ADD CONSTRAINT arraydesignprop_fk_arraydesign_id FOREIGN KEY (arraydesign_id) REFERENCES arraydesign(arraydesign_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE arraydesignprop ADD CONSTRAINT arraydesignprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay_biomaterial ADD CONSTRAINT assay_biomaterial_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay_biomaterial ADD CONSTRAINT assay_biomaterial_fk_biomaterial_id FOREIGN KEY (biomaterial_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay_biomaterial ADD CONSTRAINT assay_biomaterial_fk_channel_id FOREIGN KEY (channel_id) REFERENCES channel(channel_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay ADD CONSTRAINT assay_fk_arraydesign_id FOREIGN KEY (arraydesign_id) REFERENCES arraydesign(arraydesign_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay ADD CONSTRAINT assay_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay ADD CONSTRAINT assay_fk_operator_id FOREIGN KEY (operator_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay ADD CONSTRAINT assay_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay_project ADD CONSTRAINT assay_project_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assay_project ADD CONSTRAINT assay_project_fk_project_id FOREIGN KEY (project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assayprop ADD CONSTRAINT assayprop_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE assayprop ADD CONSTRAINT assayprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_dbxref ADD CONSTRAINT biomaterial_dbxref_fk_biomaterial_id FOREIGN KEY (biomaterial_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_dbxref ADD CONSTRAINT biomaterial_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial ADD CONSTRAINT biomaterial_fk_biosourceprovider_id FOREIGN KEY (biosourceprovider_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial ADD CONSTRAINT biomaterial_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial ADD CONSTRAINT biomaterial_fk_taxon_id FOREIGN KEY (taxon_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_relationship ADD CONSTRAINT biomaterial_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_relationship ADD CONSTRAINT biomaterial_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_relationship ADD CONSTRAINT biomaterial_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_treatment ADD CONSTRAINT biomaterial_treatment_fk_biomaterial_id FOREIGN KEY (biomaterial_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_treatment ADD CONSTRAINT biomaterial_treatment_fk_treatment_id FOREIGN KEY (treatment_id) REFERENCES treatment(treatment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterial_treatment ADD CONSTRAINT biomaterial_treatment_fk_unittype_id FOREIGN KEY (unittype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterialprop ADD CONSTRAINT biomaterialprop_fk_biomaterial_id FOREIGN KEY (biomaterial_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE biomaterialprop ADD CONSTRAINT biomaterialprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_cvterm ADD CONSTRAINT cell_line_cvterm_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_cvterm ADD CONSTRAINT cell_line_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_cvterm ADD CONSTRAINT cell_line_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_cvtermprop ADD CONSTRAINT cell_line_cvtermprop_fk_cell_line_cvterm_id FOREIGN KEY (cell_line_cvterm_id) REFERENCES cell_line_cvterm(cell_line_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_cvtermprop ADD CONSTRAINT cell_line_cvtermprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_dbxref ADD CONSTRAINT cell_line_dbxref_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_dbxref ADD CONSTRAINT cell_line_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_feature ADD CONSTRAINT cell_line_feature_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_feature ADD CONSTRAINT cell_line_feature_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_feature ADD CONSTRAINT cell_line_feature_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line ADD CONSTRAINT cell_line_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_library ADD CONSTRAINT cell_line_library_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_library ADD CONSTRAINT cell_line_library_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_library ADD CONSTRAINT cell_line_library_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_pub ADD CONSTRAINT cell_line_pub_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_pub ADD CONSTRAINT cell_line_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_relationship ADD CONSTRAINT cell_line_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_relationship ADD CONSTRAINT cell_line_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_relationship ADD CONSTRAINT cell_line_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_synonym ADD CONSTRAINT cell_line_synonym_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_synonym ADD CONSTRAINT cell_line_synonym_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_line_synonym ADD CONSTRAINT cell_line_synonym_fk_synonym_id FOREIGN KEY (synonym_id) REFERENCES synonym(synonym_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_lineprop ADD CONSTRAINT cell_lineprop_fk_cell_line_id FOREIGN KEY (cell_line_id) REFERENCES cell_line(cell_line_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_lineprop ADD CONSTRAINT cell_lineprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_lineprop_pub ADD CONSTRAINT cell_lineprop_pub_fk_cell_lineprop_id FOREIGN KEY (cell_lineprop_id) REFERENCES cell_lineprop(cell_lineprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cell_lineprop_pub ADD CONSTRAINT cell_lineprop_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE chadoprop ADD CONSTRAINT chadoprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE contact ADD CONSTRAINT contact_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE contact_relationship ADD CONSTRAINT contact_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE contact_relationship ADD CONSTRAINT contact_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE contact_relationship ADD CONSTRAINT contact_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE control ADD CONSTRAINT control_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE control ADD CONSTRAINT control_fk_tableinfo_id FOREIGN KEY (tableinfo_id) REFERENCES tableinfo(tableinfo_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE control ADD CONSTRAINT control_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvprop ADD CONSTRAINT cvprop_fk_cv_id FOREIGN KEY (cv_id) REFERENCES cv(cv_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvprop ADD CONSTRAINT cvprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm_dbxref ADD CONSTRAINT cvterm_dbxref_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm_dbxref ADD CONSTRAINT cvterm_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm ADD CONSTRAINT cvterm_fk_cv_id FOREIGN KEY (cv_id) REFERENCES cv(cv_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm ADD CONSTRAINT cvterm_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm_relationship ADD CONSTRAINT cvterm_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm_relationship ADD CONSTRAINT cvterm_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvterm_relationship ADD CONSTRAINT cvterm_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_fk_cv_id FOREIGN KEY (cv_id) REFERENCES cv(cv_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_fk_object_id FOREIGN KEY (object_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_fk_subject_id FOREIGN KEY (subject_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermpath ADD CONSTRAINT cvtermpath_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermprop ADD CONSTRAINT cvtermprop_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermprop ADD CONSTRAINT cvtermprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermsynonym ADD CONSTRAINT cvtermsynonym_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE cvtermsynonym ADD CONSTRAINT cvtermsynonym_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE dbxref ADD CONSTRAINT dbxref_fk_db_id FOREIGN KEY (db_id) REFERENCES db(db_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE dbxrefprop ADD CONSTRAINT dbxrefprop_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE dbxrefprop ADD CONSTRAINT dbxrefprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element ADD CONSTRAINT element_fk_arraydesign_id FOREIGN KEY (arraydesign_id) REFERENCES arraydesign(arraydesign_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element ADD CONSTRAINT element_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element ADD CONSTRAINT element_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element ADD CONSTRAINT element_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element_relationship ADD CONSTRAINT element_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES element(element_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element_relationship ADD CONSTRAINT element_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES element(element_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE element_relationship ADD CONSTRAINT element_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE elementresult ADD CONSTRAINT elementresult_fk_element_id FOREIGN KEY (element_id) REFERENCES element(element_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE elementresult ADD CONSTRAINT elementresult_fk_quantification_id FOREIGN KEY (quantification_id) REFERENCES quantification(quantification_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE elementresult_relationship ADD CONSTRAINT elementresult_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES elementresult(elementresult_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE elementresult_relationship ADD CONSTRAINT elementresult_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES elementresult(elementresult_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE elementresult_relationship ADD CONSTRAINT elementresult_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE environment_cvterm ADD CONSTRAINT environment_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE environment_cvterm ADD CONSTRAINT environment_cvterm_fk_environment_id FOREIGN KEY (environment_id) REFERENCES environment(environment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_cvterm ADD CONSTRAINT expression_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_cvterm ADD CONSTRAINT expression_cvterm_fk_cvterm_type_id FOREIGN KEY (cvterm_type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_cvterm ADD CONSTRAINT expression_cvterm_fk_expression_id FOREIGN KEY (expression_id) REFERENCES expression(expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_cvtermprop ADD CONSTRAINT expression_cvtermprop_fk_expression_cvterm_id FOREIGN KEY (expression_cvterm_id) REFERENCES expression_cvterm(expression_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_cvtermprop ADD CONSTRAINT expression_cvtermprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_image ADD CONSTRAINT expression_image_fk_eimage_id FOREIGN KEY (eimage_id) REFERENCES eimage(eimage_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_image ADD CONSTRAINT expression_image_fk_expression_id FOREIGN KEY (expression_id) REFERENCES expression(expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_pub ADD CONSTRAINT expression_pub_fk_expression_id FOREIGN KEY (expression_id) REFERENCES expression(expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expression_pub ADD CONSTRAINT expression_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expressionprop ADD CONSTRAINT expressionprop_fk_expression_id FOREIGN KEY (expression_id) REFERENCES expression(expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE expressionprop ADD CONSTRAINT expressionprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm_dbxref ADD CONSTRAINT feature_cvterm_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm_dbxref ADD CONSTRAINT feature_cvterm_dbxref_fk_feature_cvterm_id FOREIGN KEY (feature_cvterm_id) REFERENCES feature_cvterm(feature_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm ADD CONSTRAINT feature_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm ADD CONSTRAINT feature_cvterm_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm ADD CONSTRAINT feature_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm_pub ADD CONSTRAINT feature_cvterm_pub_fk_feature_cvterm_id FOREIGN KEY (feature_cvterm_id) REFERENCES feature_cvterm(feature_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvterm_pub ADD CONSTRAINT feature_cvterm_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvtermprop ADD CONSTRAINT feature_cvtermprop_fk_feature_cvterm_id FOREIGN KEY (feature_cvterm_id) REFERENCES feature_cvterm(feature_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_cvtermprop ADD CONSTRAINT feature_cvtermprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_dbxref ADD CONSTRAINT feature_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_dbxref ADD CONSTRAINT feature_dbxref_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_expression ADD CONSTRAINT feature_expression_fk_expression_id FOREIGN KEY (expression_id) REFERENCES expression(expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_expression ADD CONSTRAINT feature_expression_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_expression ADD CONSTRAINT feature_expression_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_expressionprop ADD CONSTRAINT feature_expressionprop_fk_feature_expression_id FOREIGN KEY (feature_expression_id) REFERENCES feature_expression(feature_expression_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_expressionprop ADD CONSTRAINT feature_expressionprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature ADD CONSTRAINT feature_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature ADD CONSTRAINT feature_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature ADD CONSTRAINT feature_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_fk_chromosome_id FOREIGN KEY (chromosome_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_genotype ADD CONSTRAINT feature_genotype_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_phenotype ADD CONSTRAINT feature_phenotype_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_phenotype ADD CONSTRAINT feature_phenotype_fk_phenotype_id FOREIGN KEY (phenotype_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_pub ADD CONSTRAINT feature_pub_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_pub ADD CONSTRAINT feature_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_pubprop ADD CONSTRAINT feature_pubprop_fk_feature_pub_id FOREIGN KEY (feature_pub_id) REFERENCES feature_pub(feature_pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_pubprop ADD CONSTRAINT feature_pubprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationship ADD CONSTRAINT feature_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationship ADD CONSTRAINT feature_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationship ADD CONSTRAINT feature_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationship_pub ADD CONSTRAINT feature_relationship_pub_fk_feature_relationship_id FOREIGN KEY (feature_relationship_id) REFERENCES feature_relationship(feature_relationship_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationship_pub ADD CONSTRAINT feature_relationship_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationshipprop ADD CONSTRAINT feature_relationshipprop_fk_feature_relationship_id FOREIGN KEY (feature_relationship_id) REFERENCES feature_relationship(feature_relationship_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationshipprop ADD CONSTRAINT feature_relationshipprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationshipprop_pub ADD CONSTRAINT feature_relationshipprop_pub_fk_feature_relationshipprop_id FOREIGN KEY (feature_relationshipprop_id) REFERENCES feature_relationshipprop(feature_relationshipprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_relationshipprop_pub ADD CONSTRAINT feature_relationshipprop_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_synonym ADD CONSTRAINT feature_synonym_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_synonym ADD CONSTRAINT feature_synonym_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE feature_synonym ADD CONSTRAINT feature_synonym_fk_synonym_id FOREIGN KEY (synonym_id) REFERENCES synonym(synonym_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureloc ADD CONSTRAINT featureloc_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureloc ADD CONSTRAINT featureloc_fk_srcfeature_id FOREIGN KEY (srcfeature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureloc_pub ADD CONSTRAINT featureloc_pub_fk_featureloc_id FOREIGN KEY (featureloc_id) REFERENCES featureloc(featureloc_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureloc_pub ADD CONSTRAINT featureloc_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featuremap ADD CONSTRAINT featuremap_fk_unittype_id FOREIGN KEY (unittype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featuremap_pub ADD CONSTRAINT featuremap_pub_fk_featuremap_id FOREIGN KEY (featuremap_id) REFERENCES featuremap(featuremap_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featuremap_pub ADD CONSTRAINT featuremap_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurepos ADD CONSTRAINT featurepos_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurepos ADD CONSTRAINT featurepos_fk_featuremap_id FOREIGN KEY (featuremap_id) REFERENCES featuremap(featuremap_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurepos ADD CONSTRAINT featurepos_fk_map_feature_id FOREIGN KEY (map_feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureprop ADD CONSTRAINT featureprop_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureprop ADD CONSTRAINT featureprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) DEFERRABLE;
ALTER TABLE featureprop_pub ADD CONSTRAINT featureprop_pub_fk_featureprop_id FOREIGN KEY (featureprop_id) REFERENCES featureprop(featureprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featureprop_pub ADD CONSTRAINT featureprop_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_featuremap_id FOREIGN KEY (featuremap_id) REFERENCES featuremap(featuremap_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_leftendf_id FOREIGN KEY (leftendf_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_leftstartf_id FOREIGN KEY (leftstartf_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_rightendf_id FOREIGN KEY (rightendf_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE featurerange ADD CONSTRAINT featurerange_fk_rightstartf_id FOREIGN KEY (rightstartf_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE genotype ADD CONSTRAINT genotype_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE genotypeprop ADD CONSTRAINT genotypeprop_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE genotypeprop ADD CONSTRAINT genotypeprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_cvterm ADD CONSTRAINT library_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_cvterm ADD CONSTRAINT library_cvterm_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_cvterm ADD CONSTRAINT library_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_dbxref ADD CONSTRAINT library_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_dbxref ADD CONSTRAINT library_dbxref_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_feature ADD CONSTRAINT library_feature_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_feature ADD CONSTRAINT library_feature_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library ADD CONSTRAINT library_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library ADD CONSTRAINT library_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_pub ADD CONSTRAINT library_pub_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_pub ADD CONSTRAINT library_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_synonym ADD CONSTRAINT library_synonym_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_synonym ADD CONSTRAINT library_synonym_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE library_synonym ADD CONSTRAINT library_synonym_fk_synonym_id FOREIGN KEY (synonym_id) REFERENCES synonym(synonym_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE libraryprop ADD CONSTRAINT libraryprop_fk_library_id FOREIGN KEY (library_id) REFERENCES library(library_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE libraryprop ADD CONSTRAINT libraryprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE libraryprop_pub ADD CONSTRAINT libraryprop_pub_fk_libraryprop_id FOREIGN KEY (libraryprop_id) REFERENCES libraryprop(libraryprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE libraryprop_pub ADD CONSTRAINT libraryprop_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE magedocumentation ADD CONSTRAINT magedocumentation_fk_mageml_id FOREIGN KEY (mageml_id) REFERENCES mageml(mageml_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE magedocumentation ADD CONSTRAINT magedocumentation_fk_tableinfo_id FOREIGN KEY (tableinfo_id) REFERENCES tableinfo(tableinfo_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_contact ADD CONSTRAINT nd_experiment_contact_fk_contact_id FOREIGN KEY (contact_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_contact ADD CONSTRAINT nd_experiment_contact_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_dbxref ADD CONSTRAINT nd_experiment_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_dbxref ADD CONSTRAINT nd_experiment_dbxref_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment ADD CONSTRAINT nd_experiment_fk_nd_geolocation_id FOREIGN KEY (nd_geolocation_id) REFERENCES nd_geolocation(nd_geolocation_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment ADD CONSTRAINT nd_experiment_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_genotype ADD CONSTRAINT nd_experiment_genotype_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_genotype ADD CONSTRAINT nd_experiment_genotype_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_phenotype ADD CONSTRAINT nd_experiment_phenotype_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_phenotype ADD CONSTRAINT nd_experiment_phenotype_fk_phenotype_id FOREIGN KEY (phenotype_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_project ADD CONSTRAINT nd_experiment_project_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_project ADD CONSTRAINT nd_experiment_project_fk_project_id FOREIGN KEY (project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_protocol ADD CONSTRAINT nd_experiment_protocol_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_protocol ADD CONSTRAINT nd_experiment_protocol_fk_nd_protocol_id FOREIGN KEY (nd_protocol_id) REFERENCES nd_protocol(nd_protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_pub ADD CONSTRAINT nd_experiment_pub_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_pub ADD CONSTRAINT nd_experiment_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stock_dbxref ADD CONSTRAINT nd_experiment_stock_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stock_dbxref ADD CONSTRAINT nd_experiment_stock_dbxref_fk_nd_experiment_stock_id FOREIGN KEY (nd_experiment_stock_id) REFERENCES nd_experiment_stock(nd_experiment_stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stock ADD CONSTRAINT nd_experiment_stock_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stock ADD CONSTRAINT nd_experiment_stock_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stock ADD CONSTRAINT nd_experiment_stock_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stockprop ADD CONSTRAINT nd_experiment_stockprop_fk_nd_experiment_stock_id FOREIGN KEY (nd_experiment_stock_id) REFERENCES nd_experiment_stock(nd_experiment_stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experiment_stockprop ADD CONSTRAINT nd_experiment_stockprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experimentprop ADD CONSTRAINT nd_experimentprop_fk_nd_experiment_id FOREIGN KEY (nd_experiment_id) REFERENCES nd_experiment(nd_experiment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_experimentprop ADD CONSTRAINT nd_experimentprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_geolocationprop ADD CONSTRAINT nd_geolocationprop_fk_nd_geolocation_id FOREIGN KEY (nd_geolocation_id) REFERENCES nd_geolocation(nd_geolocation_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_geolocationprop ADD CONSTRAINT nd_geolocationprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocol ADD CONSTRAINT nd_protocol_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocol_reagent ADD CONSTRAINT nd_protocol_reagent_fk_nd_protocol_id FOREIGN KEY (nd_protocol_id) REFERENCES nd_protocol(nd_protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocol_reagent ADD CONSTRAINT nd_protocol_reagent_fk_reagent_id FOREIGN KEY (reagent_id) REFERENCES nd_reagent(nd_reagent_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocol_reagent ADD CONSTRAINT nd_protocol_reagent_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocolprop ADD CONSTRAINT nd_protocolprop_fk_nd_protocol_id FOREIGN KEY (nd_protocol_id) REFERENCES nd_protocol(nd_protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_protocolprop ADD CONSTRAINT nd_protocolprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagent ADD CONSTRAINT nd_reagent_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagent_relationship ADD CONSTRAINT nd_reagent_relationship_fk_object_reagent_id FOREIGN KEY (object_reagent_id) REFERENCES nd_reagent(nd_reagent_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagent_relationship ADD CONSTRAINT nd_reagent_relationship_fk_subject_reagent_id FOREIGN KEY (subject_reagent_id) REFERENCES nd_reagent(nd_reagent_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagent_relationship ADD CONSTRAINT nd_reagent_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagentprop ADD CONSTRAINT nd_reagentprop_fk_nd_reagent_id FOREIGN KEY (nd_reagent_id) REFERENCES nd_reagent(nd_reagent_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE nd_reagentprop ADD CONSTRAINT nd_reagentprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE organism_dbxref ADD CONSTRAINT organism_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE organism_dbxref ADD CONSTRAINT organism_dbxref_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE organismprop ADD CONSTRAINT organismprop_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE organismprop ADD CONSTRAINT organismprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phendesc ADD CONSTRAINT phendesc_fk_environment_id FOREIGN KEY (environment_id) REFERENCES environment(environment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phendesc ADD CONSTRAINT phendesc_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phendesc ADD CONSTRAINT phendesc_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phendesc ADD CONSTRAINT phendesc_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison_cvterm ADD CONSTRAINT phenotype_comparison_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison_cvterm ADD CONSTRAINT phenotype_comparison_cvterm_fk_phenotype_comparison_id FOREIGN KEY (phenotype_comparison_id) REFERENCES phenotype_comparison(phenotype_comparison_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison_cvterm ADD CONSTRAINT phenotype_comparison_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_environment1_id FOREIGN KEY (environment1_id) REFERENCES environment(environment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_environment2_id FOREIGN KEY (environment2_id) REFERENCES environment(environment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_genotype1_id FOREIGN KEY (genotype1_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_genotype2_id FOREIGN KEY (genotype2_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_phenotype1_id FOREIGN KEY (phenotype1_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_phenotype2_id FOREIGN KEY (phenotype2_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_comparison ADD CONSTRAINT phenotype_comparison_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_cvterm ADD CONSTRAINT phenotype_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype_cvterm ADD CONSTRAINT phenotype_cvterm_fk_phenotype_id FOREIGN KEY (phenotype_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype ADD CONSTRAINT phenotype_fk_assay_id FOREIGN KEY (assay_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype ADD CONSTRAINT phenotype_fk_attr_id FOREIGN KEY (attr_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype ADD CONSTRAINT phenotype_fk_cvalue_id FOREIGN KEY (cvalue_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotype ADD CONSTRAINT phenotype_fk_observable_id FOREIGN KEY (observable_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotypeprop ADD CONSTRAINT phenotypeprop_fk_phenotype_id FOREIGN KEY (phenotype_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenotypeprop ADD CONSTRAINT phenotypeprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_fk_environment_id FOREIGN KEY (environment_id) REFERENCES environment(environment_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_fk_phenotype_id FOREIGN KEY (phenotype_id) REFERENCES phenotype(phenotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phenstatement ADD CONSTRAINT phenstatement_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_dbxref ADD CONSTRAINT phylonode_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_dbxref ADD CONSTRAINT phylonode_dbxref_fk_phylonode_id FOREIGN KEY (phylonode_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode ADD CONSTRAINT phylonode_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode ADD CONSTRAINT phylonode_fk_parent_phylonode_id FOREIGN KEY (parent_phylonode_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode ADD CONSTRAINT phylonode_fk_phylotree_id FOREIGN KEY (phylotree_id) REFERENCES phylotree(phylotree_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode ADD CONSTRAINT phylonode_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_organism ADD CONSTRAINT phylonode_organism_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_organism ADD CONSTRAINT phylonode_organism_fk_phylonode_id FOREIGN KEY (phylonode_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_pub ADD CONSTRAINT phylonode_pub_fk_phylonode_id FOREIGN KEY (phylonode_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_pub ADD CONSTRAINT phylonode_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_fk_phylotree_id FOREIGN KEY (phylotree_id) REFERENCES phylotree(phylotree_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonode_relationship ADD CONSTRAINT phylonode_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonodeprop ADD CONSTRAINT phylonodeprop_fk_phylonode_id FOREIGN KEY (phylonode_id) REFERENCES phylonode(phylonode_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylonodeprop ADD CONSTRAINT phylonodeprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylotree ADD CONSTRAINT phylotree_fk_analysis_id FOREIGN KEY (analysis_id) REFERENCES analysis(analysis_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylotree ADD CONSTRAINT phylotree_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylotree ADD CONSTRAINT phylotree_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylotree_pub ADD CONSTRAINT phylotree_pub_fk_phylotree_id FOREIGN KEY (phylotree_id) REFERENCES phylotree(phylotree_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE phylotree_pub ADD CONSTRAINT phylotree_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_contact ADD CONSTRAINT project_contact_fk_contact_id FOREIGN KEY (contact_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_contact ADD CONSTRAINT project_contact_fk_project_id FOREIGN KEY (project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_pub ADD CONSTRAINT project_pub_fk_project_id FOREIGN KEY (project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_pub ADD CONSTRAINT project_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_relationship ADD CONSTRAINT project_relationship_fk_object_project_id FOREIGN KEY (object_project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_relationship ADD CONSTRAINT project_relationship_fk_subject_project_id FOREIGN KEY (subject_project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE project_relationship ADD CONSTRAINT project_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE projectprop ADD CONSTRAINT projectprop_fk_project_id FOREIGN KEY (project_id) REFERENCES project(project_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE projectprop ADD CONSTRAINT projectprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocol ADD CONSTRAINT protocol_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocol ADD CONSTRAINT protocol_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocol ADD CONSTRAINT protocol_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocolparam ADD CONSTRAINT protocolparam_fk_datatype_id FOREIGN KEY (datatype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocolparam ADD CONSTRAINT protocolparam_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE protocolparam ADD CONSTRAINT protocolparam_fk_unittype_id FOREIGN KEY (unittype_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub_dbxref ADD CONSTRAINT pub_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub_dbxref ADD CONSTRAINT pub_dbxref_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub ADD CONSTRAINT pub_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub_relationship ADD CONSTRAINT pub_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub_relationship ADD CONSTRAINT pub_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pub_relationship ADD CONSTRAINT pub_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pubauthor ADD CONSTRAINT pubauthor_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pubprop ADD CONSTRAINT pubprop_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE pubprop ADD CONSTRAINT pubprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification ADD CONSTRAINT quantification_fk_acquisition_id FOREIGN KEY (acquisition_id) REFERENCES acquisition(acquisition_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification ADD CONSTRAINT quantification_fk_analysis_id FOREIGN KEY (analysis_id) REFERENCES analysis(analysis_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification ADD CONSTRAINT quantification_fk_operator_id FOREIGN KEY (operator_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification ADD CONSTRAINT quantification_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification_relationship ADD CONSTRAINT quantification_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES quantification(quantification_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification_relationship ADD CONSTRAINT quantification_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES quantification(quantification_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantification_relationship ADD CONSTRAINT quantification_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantificationprop ADD CONSTRAINT quantificationprop_fk_quantification_id FOREIGN KEY (quantification_id) REFERENCES quantification(quantification_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE quantificationprop ADD CONSTRAINT quantificationprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_cvterm ADD CONSTRAINT stock_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_cvterm ADD CONSTRAINT stock_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_cvterm ADD CONSTRAINT stock_cvterm_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_cvtermprop ADD CONSTRAINT stock_cvtermprop_fk_stock_cvterm_id FOREIGN KEY (stock_cvterm_id) REFERENCES stock_cvterm(stock_cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_cvtermprop ADD CONSTRAINT stock_cvtermprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_dbxref ADD CONSTRAINT stock_dbxref_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_dbxref ADD CONSTRAINT stock_dbxref_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_dbxrefprop ADD CONSTRAINT stock_dbxrefprop_fk_stock_dbxref_id FOREIGN KEY (stock_dbxref_id) REFERENCES stock_dbxref(stock_dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_dbxrefprop ADD CONSTRAINT stock_dbxrefprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock ADD CONSTRAINT stock_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock ADD CONSTRAINT stock_fk_organism_id FOREIGN KEY (organism_id) REFERENCES organism(organism_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock ADD CONSTRAINT stock_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_genotype ADD CONSTRAINT stock_genotype_fk_genotype_id FOREIGN KEY (genotype_id) REFERENCES genotype(genotype_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_genotype ADD CONSTRAINT stock_genotype_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_pub ADD CONSTRAINT stock_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_pub ADD CONSTRAINT stock_pub_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship_cvterm ADD CONSTRAINT stock_relationship_cvterm_fk_cvterm_id FOREIGN KEY (cvterm_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship_cvterm ADD CONSTRAINT stock_relationship_cvterm_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship_cvterm ADD CONSTRAINT stock_relationship_cvterm_fk_stock_relationship_id FOREIGN KEY (stock_relationship_id) REFERENCES stock_relationship(stock_relationship_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship ADD CONSTRAINT stock_relationship_fk_object_id FOREIGN KEY (object_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship ADD CONSTRAINT stock_relationship_fk_subject_id FOREIGN KEY (subject_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship ADD CONSTRAINT stock_relationship_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship_pub ADD CONSTRAINT stock_relationship_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stock_relationship_pub ADD CONSTRAINT stock_relationship_pub_fk_stock_relationship_id FOREIGN KEY (stock_relationship_id) REFERENCES stock_relationship(stock_relationship_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollection ADD CONSTRAINT stockcollection_fk_contact_id FOREIGN KEY (contact_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollection ADD CONSTRAINT stockcollection_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollection_stock ADD CONSTRAINT stockcollection_stock_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollection_stock ADD CONSTRAINT stockcollection_stock_fk_stockcollection_id FOREIGN KEY (stockcollection_id) REFERENCES stockcollection(stockcollection_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollectionprop ADD CONSTRAINT stockcollectionprop_fk_stockcollection_id FOREIGN KEY (stockcollection_id) REFERENCES stockcollection(stockcollection_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockcollectionprop ADD CONSTRAINT stockcollectionprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockprop ADD CONSTRAINT stockprop_fk_stock_id FOREIGN KEY (stock_id) REFERENCES stock(stock_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockprop ADD CONSTRAINT stockprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockprop_pub ADD CONSTRAINT stockprop_pub_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE stockprop_pub ADD CONSTRAINT stockprop_pub_fk_stockprop_id FOREIGN KEY (stockprop_id) REFERENCES stockprop(stockprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE study_assay ADD CONSTRAINT study_assay_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE study_assay ADD CONSTRAINT study_assay_fk_study_id FOREIGN KEY (study_id) REFERENCES study(study_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE study ADD CONSTRAINT study_fk_contact_id FOREIGN KEY (contact_id) REFERENCES contact(contact_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE study ADD CONSTRAINT study_fk_dbxref_id FOREIGN KEY (dbxref_id) REFERENCES dbxref(dbxref_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE study ADD CONSTRAINT study_fk_pub_id FOREIGN KEY (pub_id) REFERENCES pub(pub_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studydesign ADD CONSTRAINT studydesign_fk_study_id FOREIGN KEY (study_id) REFERENCES study(study_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studydesignprop ADD CONSTRAINT studydesignprop_fk_studydesign_id FOREIGN KEY (studydesign_id) REFERENCES studydesign(studydesign_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studydesignprop ADD CONSTRAINT studydesignprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyfactor ADD CONSTRAINT studyfactor_fk_studydesign_id FOREIGN KEY (studydesign_id) REFERENCES studydesign(studydesign_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyfactor ADD CONSTRAINT studyfactor_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyfactorvalue ADD CONSTRAINT studyfactorvalue_fk_assay_id FOREIGN KEY (assay_id) REFERENCES assay(assay_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyfactorvalue ADD CONSTRAINT studyfactorvalue_fk_studyfactor_id FOREIGN KEY (studyfactor_id) REFERENCES studyfactor(studyfactor_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyprop_feature ADD CONSTRAINT studyprop_feature_fk_feature_id FOREIGN KEY (feature_id) REFERENCES feature(feature_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyprop_feature ADD CONSTRAINT studyprop_feature_fk_studyprop_id FOREIGN KEY (studyprop_id) REFERENCES studyprop(studyprop_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyprop_feature ADD CONSTRAINT studyprop_feature_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyprop ADD CONSTRAINT studyprop_fk_study_id FOREIGN KEY (study_id) REFERENCES study(study_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE studyprop ADD CONSTRAINT studyprop_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE synonym ADD CONSTRAINT synonym_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE treatment ADD CONSTRAINT treatment_fk_biomaterial_id FOREIGN KEY (biomaterial_id) REFERENCES biomaterial(biomaterial_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE treatment ADD CONSTRAINT treatment_fk_protocol_id FOREIGN KEY (protocol_id) REFERENCES protocol(protocol_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
ALTER TABLE treatment ADD CONSTRAINT treatment_fk_type_id FOREIGN KEY (type_id) REFERENCES cvterm(cvterm_id) ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE;
