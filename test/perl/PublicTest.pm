# What the tests of snowflake_id share: databases with objects of every kind that depend on the
# type, what a copy of them must contain, and a client that uses the binary format of PostgreSQL's
# protocol, which psql cannot.
package PublicTest;

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::UNIX;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(%schema_of execute make_public public_facts goes_on binary_session binary_query);

# --------------------------------------------------------------------------------------------------
# Databases
# --------------------------------------------------------------------------------------------------

sub execute { my ($server, $dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

# Databases, and the schema of the extension in each.
our %schema_of = (plain => 'public', apart => '"Other ids"');

# Objects of every kind that depend on the type. Options: domain => further clauses of its domain
# besides a CHECK that needs no cast.
sub make_public
{
	my ($server, $dbname, %options) = @_;
	my $schema = $schema_of{$dbname};
	my ($type, $default) = ("$schema.snowflake_id", "DEFAULT $schema.snowflake_nextval()");
	execute($server, 'postgres', "CREATE DATABASE $dbname");
	execute($server, $dbname, "CREATE SCHEMA IF NOT EXISTS $schema", "CREATE EXTENSION snowflake SCHEMA $schema", 'CREATE SCHEMA api',
		"CREATE DOMAIN order_id AS $type CHECK (VALUE OPERATOR($schema.<\@) int8range(1, NULL)) " . ($options{domain} // ''),
		"CREATE TYPE pair AS (id $type, other bigint)",
		"CREATE TABLE orders (id $type PRIMARY KEY $default, n integer, parent order_id REFERENCES orders, ids $type\[], pair pair,"
		  . " slug text GENERATED ALWAYS AS ($schema.snowflake_to_text(id, 'base58')) STORED,"
		  . " CONSTRAINT later CHECK (id OPERATOR($schema.<\@) int8range(1, NULL)))",
		"CREATE TABLE lines (id bigint PRIMARY KEY $default, order_id bigint REFERENCES orders ON DELETE CASCADE, item $type)",
		"CREATE TABLE notes (id order_id $default, line_id $type REFERENCES lines)",
		"CREATE TABLE parted (id $type PRIMARY KEY $default, n integer) PARTITION BY HASH (id)",
		(map { "CREATE TABLE parted_$_ PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1),
		"CREATE TABLE ranged (id $type PRIMARY KEY $default, n integer) PARTITION BY RANGE (id)",
		'CREATE TABLE ranged_0 PARTITION OF ranged FOR VALUES FROM (MINVALUE) TO (1000)',
		'CREATE TABLE ranged_1 PARTITION OF ranged FOR VALUES FROM (1000) TO (MAXVALUE)',
		'INSERT INTO orders (n) SELECT generate_series(1, 500)',
		'UPDATE orders SET parent = (SELECT min(id) FROM orders), ids = ARRAY[id, NULL, 249788568795254815], pair = ROW (id, id) WHERE n % 2 = 0',
		'INSERT INTO lines (order_id, item) SELECT id, id FROM orders',
		'INSERT INTO notes (line_id) SELECT id FROM lines',
		'INSERT INTO parted (n) SELECT generate_series(1, 500)',
		'INSERT INTO ranged (n) SELECT generate_series(1, 100)', 'INSERT INTO ranged SELECT i, i FROM generate_series(1, 100) i',
		'CREATE INDEX orders_brin ON orders USING brin (id)', 'CREATE INDEX orders_hash ON orders USING hash (id)',
		"CREATE INDEX orders_time ON orders ($schema.snowflake_timestamp(id, 'snowflake'))",
		'CREATE INDEX orders_odd ON orders (id) WHERE id % 2 = 1', 'CREATE INDEX orders_ids ON orders USING gin (ids)',
		"CREATE VIEW api.lines AS SELECT id::$type AS id, order_id::$type AS order_id, item FROM lines",
		"CREATE VIEW recent AS SELECT * FROM orders WHERE id OPERATOR($schema.<\@) int8range(1000, NULL)",
		"CREATE MATERIALIZED VIEW seen AS SELECT id, to_jsonb(o) AS json FROM orders o",
		"CREATE FUNCTION newest() RETURNS $type LANGUAGE sql STABLE RETURN (SELECT id FROM orders ORDER BY id DESC LIMIT 1)",
		"CREATE STATISTICS orders_statistics ON id, n FROM orders", 'ANALYZE');
	return;
}

my @tables = qw(orders lines notes parted ranged seen recent api.lines);

# What a copy must contain, each as text. With an empty search_path every name shows its schema.
sub public_facts
{
	my ($server, $dbname) = @_;
	my $ours = q{n.nspname IN ('public', 'api') AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.tableoid AND d.objid = c.oid AND d.deptype = 'e')};
	my %part = (
		columns => "SELECT c.oid::regclass::text, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)"
		  . " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"
		  . " LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE $ours",
		indexes => "SELECT pg_get_indexdef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('i', 'I') AND $ours",
		views => "SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND $ours",
		constraints => "SELECT c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE $ours",
		function => q{SELECT pg_get_functiondef('public.newest'::regproc), public.newest()::text},
		json => q{SELECT to_jsonb(l) FROM api.lines l},
		map { my $name = /\./ ? $_ : "public.$_"; "rows of $_" => "SELECT t::text, tableoid::regclass::text FROM $name t" }
		  grep { !/api|recent/ } @tables);
	my %facts = map {
		$_ => $server->safe_psql($dbname, "SET search_path = '';\nSELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM ($part{$_}) t")
	} keys %part;
	$facts{types} = $server->safe_psql($dbname, "SET search_path = '';\nSELECT string_agg(format_type(a.atttypid, -1), ' ' ORDER BY c.relname, a.attnum)"
		  . " FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE a.attnum > 0 AND c.oid IN ('public.orders'::regclass, 'api.lines'::regclass)");
	return \%facts;
}

# Checks a database that continues from such a copy.
sub goes_on
{
	my ($server, $dbname, $was, $name) = @_;
	my $schema = $schema_of{$was};
	my $type = "$schema.snowflake_id";
	my $last = execute($server, $dbname, 'SELECT max(id) FROM orders');
	# A session with an empty search_path.
	my $empty = "SET search_path = ''";
	is(execute($server, $dbname, $empty, 'INSERT INTO public.orders (n) SELECT generate_series(1, 50) RETURNING id > ' . $last) =~ s/\n//gr, 't' x 50,
		"$name: the default issues ids above those that came along");
	is(execute($server, $dbname, $empty, "COPY public.parted (n) FROM PROGRAM 'seq 20'", 'SELECT count(DISTINCT id) FROM public.parted'), 520, '... also for COPY');
	is(execute($server, $dbname, $empty, q{SELECT pg_typeof(id), jsonb_typeof(to_jsonb(l)->'id'), jsonb_typeof(to_jsonb(l)->'order_id') FROM api.lines l LIMIT 1}),
		"$type|string|string", '... the view has ids of the type, and strings in JSON');
	is(execute($server, $dbname, $empty, "SELECT count(*) FROM public.orders o JOIN public.lines l ON l.order_id = o.id WHERE o.id = l.item AND o.id >= 1 AND o.id IN (SELECT id FROM public.recent)"
			. " AND o.id::bigint <\@ int8range(1, NULL)"), 500, '... bigint\'s operators need no search_path');
	is((query_error($server, $dbname, "$empty; SELECT FROM public.orders WHERE id <\@ int8range(1, NULL)"))[0], '42883', '... and <@ of the type needs one');
	is(execute($server, $dbname, "SET search_path = $schema, public", 'SELECT count(*) FROM orders WHERE id <@ int8range(1, NULL)'), 550, '... which then is found');
	for my $case ([ 'INSERT INTO lines (order_id) VALUES (77)', '23503', 'a foreign key' ],
		[ 'INSERT INTO notes VALUES (-1)', '23514', q{the domain's CHECK} ],
		[ 'INSERT INTO orders (id) VALUES (0)', '23514', q{the table's CHECK} ], [ "INSERT INTO orders (id) VALUES ($last)", '23505', 'the primary key' ])
	{
		is((query_error($server, $dbname, $case->[0]))[0], $case->[1], "... $case->[2] holds");
	}
	is(execute($server, $dbname, 'SET enable_seqscan = off', 'SELECT count(*) FROM orders WHERE ids @> ARRAY[249788568795254815]::' . $type . '[]'), 250, '... a GIN index on an array finds its rows');
	like(execute($server, $dbname, 'SET enable_seqscan = off', "EXPLAIN SELECT n FROM orders WHERE id = $last"), qr/orders_(?:pkey|hash)/, '... and queries use the key');
	return;
}

# --------------------------------------------------------------------------------------------------
# The binary protocol
# --------------------------------------------------------------------------------------------------

# A message's type and contents.
sub receive
{
	my ($socket) = @_;
	my $read = sub {
		my ($length) = @_;
		my $bytes = '';
		while (length $bytes < $length) { sysread($socket, $bytes, $length - length $bytes, length $bytes) or die "the server is gone: $!\n"; }
		return $bytes;
	};
	my ($type, $length) = unpack 'a N', $read->(5);
	return ($type, $read->($length - 4));
}

sub message { my ($type, $contents) = @_; return $type . pack('N', 4 + length $contents) . $contents; }

# Connects as a role.
sub binary_session
{
	my ($server, $dbname, $role) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $server->host . '/.s.PGSQL.' . $server->port) or die "connect: $!\n";
	syswrite $socket, message('', pack 'N Z* Z* Z* Z* x', 196608, 'user', $role, 'database', $dbname);
	while (1)
	{
		my ($type, $contents) = receive($socket);
		die "the server refuses: $contents\n" if $type eq 'E' || ($type eq 'R' && unpack('N', $contents) != 0);
		return $socket if $type eq 'Z';
	}
}

# Runs a statement: parameters and results are in the binary format. Returns { parameters =>
# [types], columns => [[name, type, format]...], rows => [[bytes...]...], state => SQLSTATE, message
# }.
sub binary_query
{
	my ($socket, $sql, @parameters) = @_;
	syswrite $socket,
	  message('P', pack('Z* Z* n', '', $sql, 0)) . message('D', "S\0")
	  . message('B', pack('Z* Z* n n n', '', '', 1, 1, scalar @parameters)
		  . join('', map { defined $_ ? pack('N/a*', $_) : pack('N', 0xffffffff) } @parameters) . pack('n n', 1, 1))
	  . message('D', "P\0") . message('E', pack('Z* N', '', 0)) . message('S', '');
	my %result = (parameters => [], columns => [], rows => [], state => '00000');
	while (1)
	{
		my ($type, $contents) = receive($socket);
		if ($type eq 't') { (undef, @{ $result{parameters} }) = unpack 'n N*', $contents; }
		elsif ($type eq 'T')
		{
			my ($count, @fields) = unpack 'n (Z* N n N n N n)*', $contents;
			$result{columns} = [ map { [ @fields[ 7 * $_, 7 * $_ + 3, 7 * $_ + 6 ] ] } 0 .. $count - 1 ];
		}
		elsif ($type eq 'D')
		{
			my $count = unpack 'n', $contents;
			my ($at, @row) = 2;
			for (1 .. $count)
			{
				my $length = unpack 'N', substr $contents, $at, 4;
				my $is_null = $length == 0xffffffff;
				push @row, $is_null ? undef : substr $contents, $at + 4, $length;
				$at += 4 + ($is_null ? 0 : $length);
			}
			push @{ $result{rows} }, \@row;
		}
		elsif ($type eq 'E')
		{
			my %field = map { substr($_, 0, 1) => substr($_, 1) } grep { $_ ne '' } split /\0/, $contents;
			@result{ 'state', 'message' } = @field{ 'C', 'M' };
		}
		elsif ($type eq 'Z') { return \%result; }
	}
}

1;
