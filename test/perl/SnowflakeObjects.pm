# The extension's objects, in the schema ids, with everything in the catalogs about them except
# OIDs, file names and statistics: two ways to the same objects must lead to the same content.
# Objects are compared by name, because they may have been created in a different order.
package SnowflakeObjects;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(object_facts difference);

# Rows of a catalog as JSON, with the columns in $without left out and those in $instead by name.
sub catalog
{
	my ($catalog, $name, $where, $without, %instead) = @_;
	my $columns = join(', ', map { "'$_', $instead{$_}" } sort keys %instead);
	my $left_out = join(',', 'oid', @$without, keys %instead);
	return "SELECT '$catalog ' || $name, to_jsonb(c) - '{$left_out}'::text[] || jsonb_build_object($columns) FROM $catalog c"
	  . " WHERE $where";
}

my $ours = q{relnamespace = 'ids'::regnamespace AND relkind <> 't'};
my $relation = "IN (SELECT oid FROM pg_class WHERE $ours)";
# By catalog and OID: after pg_upgrade, objects of different catalogs can have the same OID.
my $object = q{IN (SELECT classid, objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake'))};
my @parts = (
	catalog('pg_extension', 'extname', q{extname = 'snowflake'}, [],
		extowner => 'extowner::regrole', extnamespace => 'extnamespace::regnamespace', extconfig => 'extconfig::regclass[]'),
	catalog('pg_proc', 'oid::regprocedure', "pronamespace = 'ids'::regnamespace",
		[ 'proargdefaults', 'proargtypes', 'proallargtypes' ],
		proowner => 'proowner::regrole', pronamespace => 'pronamespace::regnamespace', prorettype => 'prorettype::regtype',
		prosupport => 'prosupport::text', prolang => 'pg_describe_object(2612, prolang, 0)',
		arguments => 'pg_get_function_arguments(oid)', result => 'pg_get_function_result(oid)'),
	catalog('pg_class', 'oid::regclass', $ours,
		[ 'relfilenode', 'reltype', 'reltoastrelid', 'relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'relfrozenxid',
			'relminmxid' ],
		relowner => 'relowner::regrole', relnamespace => 'relnamespace::regnamespace',
		relam => '(SELECT amname FROM pg_am WHERE pg_am.oid = relam)'),
	catalog('pg_attribute', q{attrelid::regclass || '.' || attname}, "attrelid $relation AND NOT attisdropped AND attnum > 0",
		[ 'attrelid', 'attmissingval', 'atthasmissing', 'attcacheoff', 'attnum' ],
		# Some minor versions number columns there, as they are created.
		attoptions => q{(SELECT array_agg(o) FROM unnest(attoptions) o WHERE o !~ '^pg_attver=')},
		atttypid => 'atttypid::regtype', attcollation => 'attcollation::regcollation',
		place => '(SELECT count(*) FROM pg_attribute b WHERE b.attrelid = c.attrelid AND b.attnum BETWEEN 1 AND c.attnum'
		  . ' AND NOT b.attisdropped)',
		value => '(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)'),
	"SELECT 'constraint ' || conrelid::regclass || ' ' || conname, to_jsonb(pg_get_constraintdef(oid, true))"
	  . " FROM pg_constraint WHERE connamespace = 'ids'::regnamespace",
	"SELECT 'index ' || indexrelid::regclass, to_jsonb(pg_get_indexdef(indexrelid)) FROM pg_index WHERE indrelid $relation",
	"SELECT 'trigger ' || tgname || ' ' || tgenabled::text, jsonb_build_array(pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger'))"
	  . " FROM pg_trigger WHERE tgrelid $relation",
	"SELECT 'view ' || oid::regclass, to_jsonb(pg_get_viewdef(oid)) FROM pg_class WHERE $ours AND relkind IN ('v', 'm')",
	catalog('pg_sequence', 'seqrelid::regclass', "seqrelid $relation", ['seqrelid'], seqtypid => 'seqtypid::regtype'),
	catalog('pg_type', 'oid::regtype', "typnamespace = 'ids'::regnamespace", [ 'typrelid', 'typarray', 'typelem' ],
		typowner => 'typowner::regrole', typnamespace => 'typnamespace::regnamespace'),
	"SELECT 'comment on ' || pg_describe_object(classoid, objoid, objsubid), to_jsonb(description)"
	  . " FROM pg_description WHERE (classoid, objoid) $object",
	"SELECT 'first rights on ' || pg_describe_object(classoid, objoid, objsubid), to_jsonb(initprivs::text)"
	  . " FROM pg_init_privs WHERE (classoid, objoid) $object",
	# These include the extension's members, and the dependencies by which COPY's function is found.
	"SELECT pg_describe_object(classid, objid, objsubid) || ' needs ' || pg_describe_object(refclassid, refobjid, refobjsubid),"
	  . " to_jsonb(deptype) FROM pg_depend WHERE (classid, objid) $object OR (refclassid, refobjid) $object"
	  . " OR refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake')");

# One line for each object or part of an object, after the change, if there is one; the change is
# rolled back. A toast table and its index have a number in their names, and nothing else that could
# differ.
sub object_facts
{
	my ($server, $dbname, $change) = @_;
	my $facts = $server->safe_psql($dbname, join(";\n", 'BEGIN', $change // (), 'SET LOCAL search_path = ids, pg_catalog',
		q{SELECT what || ': ' || coalesce(how::text, 'null') FROM (} . join("\nUNION ALL ", @parts)
		  . q{) o (what, how) WHERE what !~ 'pg_toast'}, 'ROLLBACK'));
	return [ split /\n/, $facts ];
}

# What one has and the other does not.
sub difference
{
	my ($got, $expected) = @_;
	my (%got, %expected);
	$got{$_}++ for @$got;
	$expected{$_}++ for @$expected;
	return join("\n", (map { "- $_" } grep { !$got{$_} } sort keys %expected), (map { "+ $_" } grep { !$expected{$_} } sort keys %got));
}

1;
