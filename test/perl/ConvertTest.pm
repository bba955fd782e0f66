# What the tests of the online conversion share: clients that record everything that they write, the
# conversion itself, and dumps that are compared entry by entry.
package ConvertTest;

use strict;
use warnings;

use ConvertShapes;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(convert_server make_shape drop_shape call_of relation_of literal start_writers stop_writers wrong_rows online_statements before_switch
  convert_online nothing_left psql_as dump_of converted_dump differences remains longest_wait);

# Each client writes its own rows, whose keys k begin at a million times its number.
our $clients = 3;
our $rows = 400;

# A server with the extension, and the roles of the shapes.
sub convert_server
{
	my ($name, %options) = @_;
	my $server = new_server($name, patient => 1, conf => "autovacuum_naptime = 1s\nlog_lock_waits = on\nlog_statement = none\nfsync = off\n" . ($options{conf} // ''));
	start_server($server);
	$server->safe_psql('postgres', q{
		CREATE EXTENSION snowflake;
		CREATE EXTENSION snowflake_convert;
		CREATE ROLE alice LOGIN;
		CREATE ROLE bob LOGIN;
		CREATE ROLE carol LOGIN;
		CREATE ROLE "Ro le";
		GRANT CREATE ON DATABASE postgres TO alice;});
	$server->safe_psql('postgres', q{DO $$BEGIN IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'btree_gin')
		THEN CREATE EXTENSION btree_gin; END IF; END$$});
	return $server;
}

sub literal { my ($text) = @_; return q{'} . $text =~ s/'/''/gr . q{'}; }

# --------------------------------------------------------------------------------------------------
# Shapes
# --------------------------------------------------------------------------------------------------

sub role_of { my ($shape) = @_; return $shape->{as} // 'alice'; }
sub relation_of { my ($shape, $table) = @_; return in_schema($shape, '@S@.' . ($table // $shape->{table} // 't')); }
sub column_of { my ($shape) = @_; return $shape->{column} // 'id'; }

# The arguments of snowflake_convert(), without its parentheses.
sub call_of
{
	my ($shape) = @_;
	my $column = column_of($shape);
	$column = $1 =~ s/""/"/gr if $column =~ /^"(.*)"$/;
	return join ', ', literal(relation_of($shape)), literal($column), $shape->{target} ? 'target => ' . literal($shape->{target}) : ();
}

# The clients' records: for the table itself, and for its n-th child from 1 on.
sub record_of { my ($shape, $n) = @_; return "record_$shape->{name}.t_" . ($n // 0); }

# The record of a child's row above.
sub record_above
{
	my ($shape, $child) = @_;
	return record_of($shape) unless $child->[4];
	my ($n) = grep { $shape->{children}[ $_ - 1 ][0] eq $child->[4] } 1 .. @{ $shape->{children} };
	return record_of($shape, $n);
}
sub column_above { my ($shape, $child) = @_; return $child->[4] ? 't_id' : column_of($shape); }
sub is_itself { my ($shape, $child) = @_; return $child->[0] eq ($shape->{table} // 't'); }
sub copied { my ($child, $of) = @_; return $child->[3] ? ", $of$child->[3]" : ''; }

sub make_shape
{
	my ($server, $shape) = @_;
	my ($t, $id, $record, $role) = (relation_of($shape), column_of($shape), record_of($shape), role_of($shape));
	my $fill = in_schema($shape, $shape->{rows} // 'INSERT INTO ' . $t . ' (k, note) SELECT k, k::text FROM generate_series(:first::bigint, :last) k');
	my @sql = (in_schema($shape, "CREATE SCHEMA \@S\@ AUTHORIZATION $role; GRANT USAGE ON SCHEMA \@S\@ TO PUBLIC; SET ROLE $role"), in_schema($shape, $shape->{setup}));
	for my $client (0 .. $clients - 1)
	{
		my ($first, $last) = ($client * 1_000_000 + 1, $client * 1_000_000 + $rows);
		push @sql, $fill =~ s/:first/$first/gr =~ s/:last/$last/gr;
	}
	my (@fill, @records);
	push @records, "CREATE SCHEMA record_$shape->{name}; CREATE TABLE $record AS SELECT k, ${id}::bigint AS id, note FROM $t WHERE k < 10000000000;"
	  . " ALTER TABLE $record ADD PRIMARY KEY (k)";
	my $n = 0;
	for my $child (@{ $shape->{children} // [] })
	{
		my ($c, $column, $deleted) = (relation_of($shape, $child->[0]), $child->[1], $child->[2]);
		my ($kept, $above) = (record_of($shape, ++$n), relation_of($shape, $child->[4] || undef));
		my $above_id = column_above($shape, $child);
		push @fill, "INSERT INTO $c (k, $column, note" . copied($child, '') . ") SELECT k, $above_id, k::text" . copied($child, '') . " FROM $above WHERE k % 2 = 0"
		  unless is_itself($shape, $child);
		push @records, "CREATE TABLE $kept (k bigint PRIMARY KEY" . (is_itself($shape, $child) ? " REFERENCES $record ON DELETE CASCADE" : '')
		  . ', t_k bigint REFERENCES ' . record_above($shape, $child) . " ON DELETE $deleted)",
		  "CREATE INDEX ON $kept (t_k)",
		  "INSERT INTO $kept SELECT c.k, t.k FROM $c c JOIN $above t ON t.$above_id = c.$column WHERE t.k IN (SELECT k FROM " . record_above($shape, $child) . ')';
	}
	$server->safe_psql('postgres', join(";\n", @sql, @fill, 'RESET ROLE', @records));
	return;
}

sub drop_shape
{
	my ($server, $shape) = @_;
	$server->safe_psql('postgres', in_schema($shape, "SET client_min_messages = warning; DROP SCHEMA \@S\@ CASCADE; DROP SCHEMA record_$shape->{name} CASCADE"));
	if ($shape->{publications})
	{
		my $names = $server->safe_psql('postgres', q{SELECT string_agg(quote_ident(pubname), ', ') FROM pg_publication});
		$server->safe_psql('postgres', "DROP PUBLICATION $names") if $names;
	}
	return;
}

# --------------------------------------------------------------------------------------------------
# Clients
# --------------------------------------------------------------------------------------------------

# What a client repeats: one transaction, because pgbench repeats the whole script after a deadlock.
# A client only changes its own rows, and each statement changes the record, too.
sub write_script
{
	my ($shape) = @_;
	my ($t, $id, $record) = (relation_of($shape), column_of($shape), record_of($shape));
	my ($columns, $values) = @{ $shape->{insert} // [] };
	my ($more, $more_values) = $columns ? (", $columns", ', ' . $values =~ s/:k\b/:new/gr) : ('', '');
	my @lines = (
		map({ "\\set $_ :client_id * 1000000 + random(1, $rows)" } 'k', 'other'),
		map({ "\\set $_ (:client_id + 1) * 1000000000000000 + random(1, 999999999999999)" } 'new', 'newer'),
		'\set r random(1, 1000000)',
		'\set die random(1, 3)',
		'BEGIN;',
		"WITH i AS (INSERT INTO $t (k, note$more) VALUES (:new, :r::text$more_values) RETURNING k, $id, note) INSERT INTO $record SELECT * FROM i;",
		"WITH u AS (UPDATE $t SET note = 'u' || :r WHERE k = :k RETURNING k, note) UPDATE $record r SET note = u.note FROM u WHERE r.k = u.k;");
	push @lines, "WITH u AS (UPDATE $t SET $id = -$id WHERE k = :other RETURNING k, $id AS id) UPDATE $record r SET id = u.id FROM u WHERE r.k = u.k;"
	  if $shape->{rekey} // 1;
	my $n = 0;
	for my $child (@{ $shape->{children} // [] })
	{
		my ($c, $column) = (relation_of($shape, $child->[0]), $child->[1]);
		my ($kept, $above, $above_id) = (record_of($shape, ++$n), relation_of($shape, $child->[4] || undef), column_above($shape, $child));
		my $copy = $child->[3] ? ", $child->[3] = a.$child->[3]" : '';
		my $k = $child->[5] ? ':new' : ':k';
		push @lines, "WITH i AS (INSERT INTO $c (k, $column, note" . copied($child, '') . ") SELECT :new, $above_id, :r::text" . copied($child, '')
		  . " FROM $above WHERE k = $k RETURNING k) INSERT INTO $kept SELECT k, $k FROM i;"
		  unless is_itself($shape, $child);
		push @lines, "WITH u AS (UPDATE $c AS c SET $column = a.$above_id$copy FROM $above AS a WHERE c.k = :k AND a.k = :other RETURNING c.k)"
		  . " INSERT INTO $kept SELECT k, :other FROM u ON CONFLICT (k) DO UPDATE SET t_k = excluded.t_k;"
		  unless $child->[5];
	}
	push @lines, in_schema($shape, $shape->{write}) =~ s/\@R\@/$record/gr if $shape->{write};
	push @lines, '\if :die = 1', "DELETE FROM $t WHERE k = :other;", "DELETE FROM $record WHERE k = :other;", '\endif';
	# A rollback removes the rows and their record.
	push @lines, 'SAVEPOINT s;', "INSERT INTO $t (k, note$more) VALUES (:newer, 'rolled back'" . $more_values =~ s/:new/:newer/gr . ');', 'ROLLBACK TO s;', 'COMMIT;';
	return join("\n", map { $shape->{remark} ? s{^(?=WITH|DELETE|INSERT|UPDATE)}{/* $shape->{remark} */ }r : $_ } @lines) . "\n";
}

sub read_script
{
	my ($shape) = @_;
	my ($t, $id) = (relation_of($shape), column_of($shape));
	return join("\n", '\set k :client_id * 1000000 + random(1, ' . $rows . ')', "SELECT count(*), min($id), max($id) FROM $t;", "SELECT * FROM $t WHERE $id = (SELECT max($id) FROM $t WHERE k = :k);",
		in_schema($shape, $shape->{read} // '')) . "\n";
}

# pgbench with these clients, at a moderate rate, until it is stopped.
sub start_writers
{
	my ($server, $shape) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$folder/write.sql", write_script($shape));
	append_to_file("$folder/read.sql", read_script($shape));
	my $writers = { folder => $folder, name => $shape->{name} };
	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($server->host, $server->port, 'postgres');
	# After a deadlock the client tries again.
	$writers->{run} = IPC::Run::start(
		[
			'pgbench', '-n', '-c', $clients, '-j', 1, '-T', 3600, '-R', $shape->{pace} // 150, '--max-tries=100', '-l', "--log-prefix=$folder/log",
			'-f', "$folder/write.sql\@4", '-f', "$folder/read.sql\@1"
		],
		'<', '/dev/null', '>', "$folder/out", '2>', "$folder/err");
	wait_until('clients to write', sub { my ($log) = glob "$folder/log*"; $log && -s $log || !$writers->{run}->pumpable });
	return $writers;
}

# Lets each client end its transaction. Returns the errors, or ''. pgbench gets the same signal when
# its time is up.
sub stop_writers
{
	my ($writers, %options) = @_;
	$writers->{run}->signal('ALRM');
	$writers->{run}->finish;
	my $text = slurp_file("$writers->{folder}/out");
	($writers->{transactions}) = $text =~ /number of transactions actually processed: (\d+)/;
	my $errors = join "\n", grep { !/^pgbench \(/ } split /\n/, slurp_file("$writers->{folder}/err");
	return $errors if $errors;
	return 'they wrote nothing' unless $writers->{transactions};
	return '';
}

# The longest transaction of the clients in ms, from its first statement on.
sub longest_wait
{
	my ($writers) = @_;
	my $longest = 0;
	for my $file (glob "$writers->{folder}/log*")
	{
		open(my $log, '<', $file) or die "$file: $!";
		while (my $line = <$log>)
		{
			my @fields = split ' ', $line;
			next unless @fields > 6 && "@fields[2, 6]" =~ /^\d+ \d+$/;
			my $us = $fields[2] - $fields[6];
			$longest = $us if $us > $longest;
		}
	}
	return $longest / 1000;
}

# SQL for the number of rows that differ from the clients' records.
sub wrong_rows
{
	my ($shape) = @_;
	my ($t, $id, $record) = (relation_of($shape), column_of($shape), record_of($shape));
	my @counts = ("SELECT count(*) FROM (SELECT k, $id AS id, note FROM $t WHERE k IS NOT NULL) a FULL JOIN $record b USING (k) WHERE (a.id, a.note) IS DISTINCT FROM (b.id, b.note)",
		"SELECT count(*) - count(DISTINCT $id) FROM $t WHERE $id IS NOT NULL AND " . ($shape->{no_key} ? 'false' : 'true'));
	my $n = 0;
	for my $child (@{ $shape->{children} // [] })
	{
		my ($c, $column) = (relation_of($shape, $child->[0]), $child->[1]);
		my ($kept, $above, $above_id) = (record_of($shape, ++$n), relation_of($shape, $child->[4] || undef), column_above($shape, $child));
		push @counts, "SELECT count(*) FROM (SELECT c.k, a.k AS t_k FROM $c c JOIN $above a ON a.$above_id = c.$column WHERE c.k IS NOT NULL) x"
		  . " FULL JOIN (SELECT * FROM $kept WHERE t_k IS NOT NULL) y USING (k) WHERE x.t_k IS DISTINCT FROM y.t_k",
		  "SELECT count(*) FROM $c c WHERE $column IS NOT NULL AND NOT EXISTS (SELECT FROM $above a WHERE a.$above_id = c.$column)";
		push @counts, "SELECT count(*) FROM (SELECT k FROM $c WHERE k IS NOT NULL) x FULL JOIN $kept y USING (k) WHERE x.k IS NULL OR y.k IS NULL"
		  unless is_itself($shape, $child);
	}
	push @counts, in_schema($shape, $shape->{check}) if $shape->{check};
	return q{SELECT concat_ws(' ', } . join(', ', map { "($_)" } @counts) . ')';
}

# --------------------------------------------------------------------------------------------------
# The conversion
# --------------------------------------------------------------------------------------------------

# Runs SQL as a role, each statement in its own transaction. Returns (status, output, errors).
sub psql_as
{
	my ($server, $role, $sql) = @_;
	my ($rc, $out, $err) = $server->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 1, connstr => $server->connstr('postgres') . " user=$role");
	return ($rc, $out, $err // '');
}

# The remaining statements; dies on an error.
sub online_statements
{
	my ($server, $shape, @more) = @_;
	my $call = join ', ', call_of($shape), 'online => true', @more;
	my ($rc, $out, $err) = psql_as($server, role_of($shape), "SELECT pg_catalog.encode(pg_catalog.convert_to(s, 'UTF8'), 'hex') FROM snowflake_convert($call) s");
	die "snowflake_convert($call): $err" if $rc != 0;
	return map { pack 'H*', $_ } split /\n/, $out;
}

# Those of these statements that come before the switch.
sub before_switch
{
	my @before;
	for my $statement (@_) { last if $statement =~ /snowflake_check_switch/; push @before, $statement; }
	return @before;
}

# Runs all statements one after the other, as psql's \gexec does. Returns the errors, or ''.
sub convert_online
{
	my ($server, $shape, @more) = @_;
	my $call = join ', ', call_of($shape), 'online => true', @more;
	my ($rc, $out, $err) = psql_as($server, role_of($shape), "\\set ECHO queries\nSELECT snowflake_convert($call) \\gexec");
	return $rc == 0 ? q{} : "$err\n$out";
}

# If nothing is left to do, a call returns no row and reports that with a NOTICE. Returns what is
# wrong, or ''.
sub nothing_left
{
	my ($server, $shape, @more) = @_;
	my $call = join ', ', call_of($shape), 'online => true', @more;
	my ($rc, $out, $err) = psql_as($server, role_of($shape), "SELECT snowflake_convert($call)");
	return $err if $rc != 0;
	return "statements are left:\n$out" if $out ne '';
	return $err =~ /NOTICE/ ? '' : "no notice: $err";
}

# --------------------------------------------------------------------------------------------------
# Dumps
# --------------------------------------------------------------------------------------------------

# The schema in a dump: the name of each entry => its statements. Without `exact` the result omits
# what has no meaning: the order of columns and of a table's statements, and the grantor of a
# privilege. Other options: dbname, and `without`, a pattern of schemas to leave out.
sub dump_of
{
	my ($server, %options) = @_;
	my @command = ('pg_dump', '--schema-only', '--no-sync', '-N', $options{without} // 'record_*', $server->connstr($options{dbname} // 'postgres'));
	my ($text, $errors);
	IPC::Run::run(\@command, '>', \$text, '2>', \$errors) or die "pg_dump: $errors";
	my %entries;
	my @parts = split /^--\n-- (Name: .*; Type: .*; Schema: .*; Owner: .*)\n--\n/m, $text;
	shift @parts;
	while (my ($name, $body) = splice @parts, 0, 2)
	{
		$body =~ s/^SET default_\w+ = .*;\n//mg;
		$body =~ s/^--\n-- PostgreSQL database dump complete\n--\n.*//ms;
		$body =~ s/^\\(un)?restrict .*\n//mg;
		$body =~ s/\s+\z//;
		$body =~ s/\A\s+//;
		my $unique = $name;
		for (my $n = 2; exists $entries{$unique}; $n++) { $unique = "$name ($n)"; }
		$entries{$unique} = $options{exact} ? $body : without_order($name, $body);
	}
	return \%entries;
}

sub without_order
{
	my ($name, $body) = @_;
	if ($name =~ /; Type: TABLE;/)
	{
		my ($create, $rest) = $body =~ /\A(.*?;)\n(.*)\z/s ? ($1, $2) : ($body, '');
		$create =~ s{ \(\n(.*?)\n\)}{" (\n" . join(",\n", sort(split /,\n(?=    \S)/, $1)) . "\n)"}se;
		$rest = join "\n", sort grep { $_ ne '' } split /(?<=;)\n+/, $rest;
		$body = "$create\n$rest";
	}
	if ($name =~ /; Type: (PUBLICATION TABLE|STATISTICS);/)
	{
		my $sorted = sub { join ', ', sort split /, /, $_[0] };
		$body =~ s{^(ALTER PUBLICATION .* ADD TABLE ONLY .*?) \(([^()]*)\)( WHERE .*)?;}{"$1 (" . $sorted->($2) . ')' . ($3 // '') . ';'}e;
		$body =~ s{ ON (.*) FROM }{' ON ' . $sorted->($1) . ' FROM '}e;
	}
	# Only a role itself can grant a privilege in its own name.
	$body = join "\n", sort grep { !/^(SET|RESET) SESSION AUTHORIZATION/ } split /\n+/, $body if $name =~ /; Type: ACL;/;
	# A constant beside bigint is shown with its type.
	$body =~ s/\(('?-?\d+'?)\)::bigint/$1/g;
	$body =~ s/'(-?\d+)'::(bigint|integer|smallint)/$1/g;
	$body =~ s/\b(\d+)::bigint/$1/g;
	return $body;
}

# What the dump of a shape must be after the conversion.
sub converted_dump
{
	my ($entries, @converted) = @_;
	my %expected = %$entries;
	expect_shape(\%expected, $_) for @converted;
	return \%expected;
}

sub unquoted { my ($name) = @_; return $name =~ /^"(.*)"$/ ? $1 =~ s/""/"/gr : $name; }

# As pg_dump writes it.
sub in_dump { my $name = unquoted($_[0]); return $name =~ /^[a-z_][a-z0-9_]*$/ ? $name : '"' . $name =~ s/"/""/gr . '"'; }

sub expect_shape
{
	my ($expected, $shape) = @_;
	my $ids = !$shape->{target};
	my $schema = unquoted(in_schema($shape, '@S@'));
	my $column = in_dump(column_of($shape));
	my @own = map { in_dump($_) } @{ $shape->{own} };
	my @columns = (map({ [ $_, $column, 1 ] } @own), map { [ map({ in_dump($_) } @$_), 0 ] } @{ $shape->{refers} // [] });
	my @names = grep { index($_, "; Schema: $schema; ") >= 0 } keys %$expected;
	my (%listed, %gone);
	for my $name (@names)
	{
		my ($tag, $type) = $name =~ /^Name: (.*); Type: (.*?); Schema: /;
		my $body = \$expected->{$name};
		for my $changed ($type eq 'TABLE' ? grep { $tag eq unquoted($_->[0]) } @columns : ())
		{
			my ($table, $c, $is_own) = @$changed;
			$listed{$tag} = 1
			  if $$body =~ s{^(    \Q$c\E) (integer|smallint|bigint)( DEFAULT .*?)?((?: CONSTRAINT \S+)? NOT NULL)?(,?)$}
				{"$1 bigint" . ($is_own && $ids ? ' DEFAULT public.snowflake_nextval()' : $3 // '') . ($4 // '') . $5}me;
			$$body = without_order($name, $$body);
		}
		# The sequences of the converted column.
		if ($type =~ /^SEQUENCE/)
		{
			$gone{$tag} = 1 if $ids && grep { $$body =~ /OWNED BY [^;]*\Q$_.$column\E;|ALTER TABLE [^;]*\Q$_\E ALTER COLUMN \Q$column\E ADD GENERATED/ } @own;
			$$body =~ s/^    AS (integer|smallint)\n//m unless $ids;
		}
		$$body =~ s/\bint4_(\w+_ops)/int8_$1/g if $shape->{classes} && $type eq 'INDEX';
	}
	for my $name ($ids ? @names : ())
	{
		my ($tag, $type) = $name =~ /^Name: (.*); Type: (.*?); Schema: /;
		delete $expected->{$name} if $type =~ /^SEQUENCE/ && $gone{$tag} || $type =~ /^(ACL|COMMENT)$/ && $tag =~ /^SEQUENCE (.*)/ && $gone{$1};
		next unless $type eq 'DEFAULT';
		my ($table) = grep { $tag eq unquoted($_) . ' ' . unquoted($column) } @own or next;
		# A table that only inherits the column has its default in a separate entry.
		if ($listed{ unquoted($table) }) { delete $expected->{$name}; }
		else { $expected->{$name} =~ s/SET DEFAULT .*;/SET DEFAULT public.snowflake_nextval();/; }
	}
	return;
}

# What differs between two dumps, a text for each entry.
sub differences
{
	my ($expected, $found) = @_;
	my %names = map { $_ => 1 } keys %$expected, keys %$found;
	my @texts;
	for my $name (sort keys %names)
	{
		my ($was, $is) = ($expected->{$name}, $found->{$name});
		if (!defined $is) { push @texts, "missing: $name\n$was"; }
		elsif (!defined $was) { push @texts, "too much: $name\n$is"; }
		elsif ($was ne $is) { push @texts, "changed: $name\n--- expected\n$was\n--- found\n$is"; }
	}
	return @texts;
}

# What no dump shows, or what must not be in one: names of the conversion, and invalid indexes.
sub remains
{
	my ($server) = @_;
	return $server->safe_psql('postgres', q{
		SELECT 'relation ' || oid::regclass FROM pg_class WHERE relname ~ '^~?snowflake_(new|old|same|full)' AND relnamespace <> 'public'::regnamespace
		UNION ALL SELECT 'column ' || attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
			WHERE attname ~ '^~?snowflake_(new|old|same|full)' AND NOT attisdropped AND relkind NOT IN ('i', 'I')
		UNION ALL SELECT 'constraint ' || conname || ' of ' || conrelid::regclass FROM pg_constraint WHERE conname ~ '^~?snowflake_(new|old|same|full)'
		UNION ALL SELECT 'trigger ' || tgname || ' of ' || tgrelid::regclass FROM pg_trigger WHERE tgname ~ '^~?snowflake_(new|old|same|full)'
		UNION ALL SELECT 'function ' || oid::regprocedure FROM pg_proc WHERE proname ~ '^~?snowflake_(new|old|same|full)'
		UNION ALL SELECT 'policy ' || polname FROM pg_policy WHERE polname ~ '^~?snowflake_(new|old|same|full)'
		UNION ALL SELECT 'statistics ' || stxname FROM pg_statistic_ext WHERE stxname ~ '^~?snowflake_(new|old|same|full)'
		UNION ALL SELECT 'invalid index ' || indexrelid::regclass FROM pg_index JOIN pg_class c ON c.oid = indexrelid
			WHERE NOT (indisvalid AND indisready AND indislive) AND c.relkind = 'i'
		ORDER BY 1});
}

1;
