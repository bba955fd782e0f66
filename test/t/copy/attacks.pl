# Attacks on COPY's way with snowflake_nextval(): random expressions, whose defaults must give in a COPY what they give elsewhere; and
# whatever SQL and the protocol offer to call the function that COPY evaluates, which takes an argument of type internal.
use strict;
use warnings;

use CopyTest;
use IO::Socket::UNIX;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = seed();
my $trials = 0;

CopyTest::start('attacks');

# ---------------------------------------------------------------------------------------------------------------------
# Random expressions
# ---------------------------------------------------------------------------------------------------------------------

value(q{CREATE TYPE two AS (a bigint, b bigint);
CREATE FUNCTION swap(bigint, bigint) RETURNS text LANGUAGE sql AS $$ SELECT $2 || '.' || $1 $$;
CREATE FUNCTION thrice(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT pair($1) || ':' || $1 $$;
CREATE FUNCTION first(bigint, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION strict_first(bigint, bigint) RETURNS bigint LANGUAGE sql STRICT AS 'SELECT $1';
CREATE FUNCTION larger(bigint, bigint DEFAULT snowflake_nextval()) RETURNS bigint LANGUAGE sql
	AS 'SELECT CASE WHEN $1 > $2 THEN $1 ELSE $2 END';
CREATE FUNCTION any_of(VARIADIC bigint[]) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT $1[1] + 0 * array_length($1, 1)';
CREATE FUNCTION plain(bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION fresh() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowflake_nextval(); END'});

# %n and %t stand for an expression for a number and for a text.
my @numbers = ('same(%n)', 'greatest(%n, %n)', 'least(%n, %n)', 'coalesce(NULL, %n, %n)', 'nullif(%n, -1)', 'first(%n, %n)',
	'CASE WHEN %n < %n THEN %n ELSE %n END', 'CASE %n WHEN %n THEN 0 ELSE %n END', '(ARRAY[%n, %n])[1]', '(ARRAY[%n, %n])[2]',
	'(ROW(%n, %n)::two).a', '(ROW(%n, %n)::two).b', 'strict_first(%n, %n)', 'larger(%n)', 'larger(%n, %n)', 'any_of(%n, %n)',
	'plain(%n)', 'fresh()', 'new_id()', '(%n + 0)', '%n::checked_id::bigint', '(%n::text)::bigint');
my @texts = ('pair(%n)', 'thrice(%n)', 'swap(%n, %n)', q{(%t || '/' || %t)}, q{format('%%s,%%s', %n, %t)}, q{concat(%t, ' ', %n)},
	'(%n < %n)::text', 'ROW(%t, %n)::text');

sub random_number
{
	my ($depth) = @_;
	return 'snowflake_nextval()' if $depth <= 0 || rand() < 0.15;
	return $numbers[ rand @numbers ] =~ s/%n/random_number($depth - 1)/ger;
}

sub random_text
{
	my ($depth) = @_;
	return random_number($depth) . '::text' if $depth <= 0;
	my $parts = $texts[ rand @texts ] =~ s/(?<!%)%n/random_number($depth)/ger;
	return $parts =~ s/(?<!%)%t/random_text($depth - 1)/ger =~ s/%%/%/gr;
}

# Each row's ids numbered by their size, so that "the same id twice" and "the later one first" show.
sub without_ids
{
	my ($text) = @_;
	my ($count, %rank) = (0);
	$rank{$_} //= ++$count for sort { $a <=> $b } $text =~ /(\d{15,})/g;
	return $text =~ s/(\d{15,})/#$rank{$1}/gr;
}

subtest 'random expressions' => sub {
	my @expressions = map { random_text(1 + int rand 3) } 1 .. 60;
	my $sql = '';
	for my $i (0 .. $#expressions)
	{
		$sql .= "CREATE TEMP TABLE t$i (n int, v text DEFAULT $expressions[$i]);\n";
		my $rows = "INSERT INTO t$i SELECT generate_series(1, 3), ''";
		for my $way ("COPY t$i (n) FROM PROGRAM 'seq 3'", "INSERT INTO t$i (n) SELECT generate_series(1, 3)",
			"$rows; ALTER TABLE t$i DROP v, ADD COLUMN v text DEFAULT $expressions[$i]")
		{
			$sql .= "SELECT pg_stat_force_next_flush() \\gset\nBEGIN;\nTRUNCATE t$i;\n$way;\n"
			  . "SELECT '$i|' || nextval + copy_nextval FROM calls;\nSELECT '$i|' || v FROM t$i ORDER BY n;\nCOMMIT;\n";
		}
	}
	my %found;
	for my $line (split /\n/, value($sql))
	{
		my ($i, $text) = split /\|/, $line, 2;
		push @{ $found{$i} }, without_ids($text);
	}
	my $different = 0;
	for my $i (0 .. $#expressions)
	{
		my @lines = @{ $found{$i} // [] };
		my ($copy, $insert, $add) = map { join ' ', @lines[ $_ .. $_ + 3 ] } 0, 4, 8;
		next if @lines == 12 && $copy eq $insert && $copy eq $add;
		$different++;
		diag("$expressions[$i]\n  COPY: $copy\n  INSERT: $insert\n  ADD COLUMN: $add");
	}
	is($different, 0, @expressions . ' expressions: COPY gives what INSERT and ADD COLUMN give, with as many calls');
	$trials += @expressions;
};

# ---------------------------------------------------------------------------------------------------------------------
# SQL
# ---------------------------------------------------------------------------------------------------------------------

my @sql = (
	'SELECT snowflake_copy_nextval()', 'SELECT snowflake_copy_nextval(NULL)', q{SELECT snowflake_copy_nextval('')},
	'SELECT snowflake_copy_nextval(1)', 'SELECT snowflake_copy_nextval(NULL::internal)', 'SELECT snowflake_copy_nextval(CAST(1 AS internal))',
	q{SELECT snowflake_copy_nextval('1'::text::internal)}, 'SELECT snowflake_copy_nextval(VARIADIC ARRAY[1])',
	'SELECT snowflake_copy_nextval(x) FROM (SELECT NULL) AS t(x)', q{SELECT snowflake_copy_nextval(x) FROM json_to_record('{}') AS t(x internal)},
	q{SELECT snowflake_copy_nextval(internal_in('1'))}, 'SELECT snowflake_copy_nextval(snowflake_nextval_support(NULL))',
	'SELECT * FROM snowflake_copy_nextval(NULL::internal)', 'SELECT * FROM probe TABLESAMPLE snowflake_copy_nextval (1)',
	'PREPARE p(internal) AS SELECT snowflake_copy_nextval($1); EXECUTE p(NULL)',
	q{PREPARE p(internal) AS SELECT snowflake_copy_nextval($1); EXECUTE p('1')},
	'PREPARE p AS SELECT snowflake_copy_nextval($1); EXECUTE p(NULL)',
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE sql AS 'SELECT snowflake_copy_nextval($1)'},
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowflake_copy_nextval($1); END'},
	q{CREATE FUNCTION f() RETURNS internal LANGUAGE sql AS 'SELECT 1'},
	'CREATE FUNCTION f(bigint DEFAULT snowflake_copy_nextval(NULL)) RETURNS bigint LANGUAGE sql RETURN $1',
	'DO $$ DECLARE i internal; BEGIN PERFORM snowflake_copy_nextval(i); END $$', 'DO $$ BEGIN PERFORM snowflake_copy_nextval(NULL); END $$',
	q{DO $$ BEGIN EXECUTE 'SELECT snowflake_copy_nextval($1)' USING NULL; END $$},
	'CREATE TABLE f (id bigint DEFAULT snowflake_copy_nextval(NULL))', 'CREATE TABLE f (id bigint CHECK (snowflake_copy_nextval(NULL) > 0))',
	'CREATE TABLE f (i internal)', 'CREATE VIEW f AS SELECT snowflake_copy_nextval(NULL::internal)',
	'CREATE DOMAIN f AS bigint DEFAULT snowflake_copy_nextval(NULL)', 'CREATE DOMAIN f AS internal',
	'CREATE CAST (internal AS bigint) WITH FUNCTION snowflake_copy_nextval(internal)',
	'CREATE CAST (bytea AS bigint) WITH FUNCTION snowflake_copy_nextval(internal)',
	'CREATE TRIGGER f AFTER INSERT ON probe FOR EACH ROW EXECUTE FUNCTION snowflake_copy_nextval()',
	'CREATE EVENT TRIGGER f ON ddl_command_end EXECUTE FUNCTION snowflake_copy_nextval()',
	'CREATE OPERATOR !!!! (PROCEDURE = snowflake_copy_nextval, RIGHTARG = internal); SELECT !!!! NULL',
	'CREATE TYPE f AS RANGE (subtype = bigint, canonical = snowflake_copy_nextval)', 'CALL snowflake_copy_nextval(NULL)',
	'COPY (SELECT snowflake_copy_nextval(NULL)) TO STDOUT', q{COPY probe (n) FROM PROGRAM 'seq 3' WHERE snowflake_copy_nextval(NULL) > 0});

# What holds a value of type internal, or passes one on, is made by superusers alone.
my @by_superusers = (
	'CREATE AGGREGATE f(bigint) (sfunc = int8_avg_accum, stype = internal, finalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(bigint) (sfunc = int8inc, stype = bigint, msfunc = int8_avg_accum, minvfunc = int8_avg_accum_inv,'
	  . ' mstype = internal, mfinalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(VARIADIC "any") (sfunc = ordered_set_transition_multi, stype = internal, finalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(internal) (sfunc = snowflake_copy_nextval, stype = internal)',
	'CREATE AGGREGATE f(bigint) (sfunc = snowflake_copy_nextval, stype = bigint)',
	'CREATE AGGREGATE f(bigint) (sfunc = int8inc, stype = bigint, combinefunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(*) (sfunc = int8inc, stype = bigint, finalfunc = snowflake_copy_nextval)',
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE c AS 'snowflake', 'snowflake_copy_nextval'},
	q{CREATE FUNCTION f() RETURNS bigint LANGUAGE c AS 'snowflake', 'snowflake_copy_nextval'},
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE internal AS 'int8inc'},
	'CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SUPPORT snowflake_nextval_support RETURN 1::bigint',
	'CREATE LANGUAGE f HANDLER plpgsql_call_handler INLINE snowflake_copy_nextval',
	'CREATE ACCESS METHOD f TYPE TABLE HANDLER snowflake_copy_nextval', 'CREATE FOREIGN DATA WRAPPER f HANDLER snowflake_copy_nextval',
	'CREATE TRANSFORM FOR bigint LANGUAGE plpgsql (TO SQL WITH FUNCTION snowflake_copy_nextval(internal))',
	'CREATE TYPE f (input = int8in, output = int8out, typmod_in = snowflake_copy_nextval)',
	'CREATE OPERATOR CLASS f FOR TYPE bigint USING btree AS FUNCTION 2 snowflake_copy_nextval(internal)',
	'ALTER FUNCTION snowflake_copy_nextval(internal) IMMUTABLE', 'ALTER FUNCTION snowflake_copy_nextval(internal) OWNER TO mallory',
	'DROP FUNCTION snowflake_copy_nextval(internal)', 'ALTER FUNCTION snowflake_nextval() STABLE',
	'CREATE OR REPLACE FUNCTION snowflake_copy_nextval(internal) RETURNS bigint LANGUAGE sql RETURN 1::bigint');

# Tries each statement alone, in one session. How it is refused differs between versions; that it is does not.
sub are_refused
{
	my ($role, @statements) = @_;
	my (undef, $out) = $server->psql($db,
		join("\n", "SET ROLE $role;", map { "\\echo try\nBEGIN;\n$_;\n\\echo :ERROR\nROLLBACK;" } @statements), on_error_stop => 0);
	my (undef, @tries) = split /^try\n/m, $out;
	is(scalar @tries, scalar @statements, "$role: tries");
	ok(($tries[$_] // '') =~ /^true$/m, "$role: $statements[$_]") for 0 .. $#statements;
	$trials += @statements;
	return;
}

subtest 'no SQL calls COPY\'s function' => sub {
	value("CREATE ROLE mallory; GRANT CREATE ON DATABASE $db TO mallory; GRANT CREATE ON SCHEMA public TO mallory");
	is(value('SET ROLE mallory; BEGIN; CREATE AGGREGATE f(bigint) (sfunc = int8pl, stype = bigint); SELECT f(x) FROM (VALUES (1), (2)) v (x)'), 3,
		'an ordinary role makes aggregates');
	are_refused(value('SELECT current_user'), @sql);
	are_refused('mallory', @sql, @by_superusers);
	# A superuser can. The server survives that.
	isnt((query_error($server, $db, "$by_superusers[0]; SELECT f(1)"))[0], '00000', 'an aggregate that a superuser made');
	isnt((query_error($server, $db, "$by_superusers[8]; SELECT f()"))[0], '00000', 'a function without the argument that a superuser made');
	is(calls('INSERT INTO probe VALUES (1)'), '1|0', 'the server is well');
};

# ---------------------------------------------------------------------------------------------------------------------
# The protocol
# ---------------------------------------------------------------------------------------------------------------------

# Sends messages in a connection of its own; returns the SQLSTATEs of errors, and `value` for each value that came back.
sub answers
{
	my (@messages) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $server->host . '/.s.PGSQL.' . $server->port) or die "socket: $!";
	my $start = pack('N', 196608) . "user\0" . value('SELECT current_user') . "\0database\0$db\0\0";
	my @answers;
	for my $message ([ '', $start ], @messages)
	{
		my ($type, $body) = @$message;
		print $socket $type . pack('N', 4 + length $body) . $body;
		$socket->flush;
		# Sync, a function call and the start are answered up to ReadyForQuery.
		next unless $type =~ /^[SF]?$/;
		my $kind = '';
		while ($kind ne 'Z')
		{
			my ($head, $answer) = ('', '');
			read($socket, $head, 5) == 5 or die 'the server hung up';
			($kind, my $length) = unpack('a N', $head);
			read($socket, $answer, $length - 4);
			push @answers, $answer =~ /\0C(\w{5})\0/ if $kind eq 'E';
			push @answers, 'value' if $kind eq 'D' || $kind eq 'V' && unpack('l>', $answer) != -1;
		}
	}
	close $socket;
	return join ' ', @answers;
}

subtest 'no message of the protocol calls COPY\'s function' => sub {
	my ($function, $nextval) = split /\|/,
	  value(q{SELECT 'snowflake_copy_nextval(internal)'::regprocedure::oid, 'snowflake_nextval()'::regprocedure::oid});
	my $internal = 2281;
	is(answers([ 'F', pack('N n n n', $nextval, 0, 0, 0) ]), 'value', 'a function call of snowflake_nextval() is answered with an id');
	my %arguments = (null => pack('l>', -1), empty => pack('N', 0), zero => pack('N Q', 8, 0), digit => pack('N a', 1, '1'));
	for my $format (0, 1)
	{
		for my $name (sort keys %arguments)
		{
			my $argument = $arguments{$name};
			like(answers([ 'F', pack('N n n n', $function, 1, $format, 1) . $argument . pack('n', 0) ]), qr/^(?:\w{5})?$/,
				"a function call, argument $name, format $format: no value");
			like(answers([ 'P', "\0SELECT snowflake_copy_nextval(\$1)\0" . pack('n N', 1, $internal) ],
					[ 'B', "\0\0" . pack('n n n', 1, $format, 1) . $argument . pack('n', 0) ], [ 'E', "\0" . pack('N', 0) ], [ 'S', '' ]),
				qr/^\w{5}$/, '... Parse, Bind and Execute: an error');
			$trials += 2;
		}
	}
	is(calls('INSERT INTO probe VALUES (1)'), '1|0', 'the server is well');
};

$server->stop('immediate');
diag("$trials trials, seed $seed");
done_testing();
