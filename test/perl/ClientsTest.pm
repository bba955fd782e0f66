# What the tests of doc/clients.md share: the page's blocks of code, and programs made of these
# blocks, which run against a server that counts their statements.
#
# A comment above each block that is not SQL names the test that runs the block, or the reason why
# it has no test.
package ClientsTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use IPC::Run;
use JSON::PP;
use Neighbours ();
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(recipe left_out no_recipe_left recipes client_server fresh_items write_program run_program sent table_ids are_the_tables are_drawn program_in python_of_debian
  rails_of_debian clients_told each_form is_as_told remedy_of);

my $this = 't/neighbours/' . basename($0, '.pl');
my %taken;

# The page's blocks that are not SQL.
sub recipes { return grep { $_->{language} !~ /^(?:sql)?$/ } map { blocks_of("doc/$_.md") } qw(clients migrations); }

# The blocks below a heading. The page must name this test as theirs.
sub recipe
{
	my ($heading) = @_;
	my @found = grep { $_->{heading} eq $heading } recipes() or die "no page has a block below \"$heading\"\n";
	for (@found) { die "$_->{page}: the block below \"$heading\" is not run by $this\n" unless ($_->{test} // '') eq $this; }
	$taken{$heading} = 1;
	return map { $_->{text} } @found;
}

# Skips a client that is not installed.
sub left_out
{
	my ($heading, $why) = @_;
	$taken{$heading} = 1;
	print { Test::More->builder->failure_output } "# skipped: $heading: $why\n";
	return;
}

# Checks that this test has run or skipped all blocks that the page says it runs. Ends the test.
sub no_recipe_left
{
	my @left = grep { !$taken{$_} } map { $_->{heading} } grep { ($_->{test} // '') eq $this } recipes();
	is(join(', ', @left), '', 'every block that the page gives to this test');
	done_testing();
	return;
}

# A server with the page's table, to which the environment leads, and which logs the statements.
# Clients read SQL_ASCII as bytes, so the encoding is another one.
sub client_server
{
	my $server = new_server('clients', patient => 1, initdb => [ '--encoding=UTF8', '--locale=C' ], conf => "listen_addresses = '127.0.0.1'\nlog_statement = all\nautovacuum = off\n");
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_nextval()');
	@ENV{qw(PGHOST PGPORT PGDATABASE)} = ('127.0.0.1', $server->port, 'postgres');
	$ENV{DATABASE_URL} = sprintf 'postgresql://%s@127.0.0.1:%d/postgres', $ENV{PGUSER}, $server->port;
	fresh_items($server);
	return $server;
}

# Creates the page's table again.
sub fresh_items
{
	my ($server) = @_;
	my ($create) = slurp_file('doc/clients.md') =~ /^(CREATE TABLE item .*?;)$/m or die "doc/clients.md does not create item\n";
	$server->safe_psql('postgres', "SET client_min_messages = warning; DROP TABLE IF EXISTS item; $create");
	return;
}

# The program's path, if it is installed.
sub program_in
{
	my ($name, @folders) = @_;
	my ($program) = grep { -x && !-d } map { "$_/$name" } @folders, split /:/, $ENV{PATH};
	return $program;
}

# Debian's Python, because the packages are Debian's, and the versions of these modules: undef for a
# missing module.
sub python_of_debian
{
	my (@modules) = @_;
	my $python = program_in('python3', '/usr/bin');
	$ENV{PYTHONPATH} = join ':', grep { length } "$ENV{SNOWFLAKE_NEIGHBOURS}/usr/lib/python3/dist-packages", $ENV{PYTHONPATH} // '' if $ENV{SNOWFLAKE_NEIGHBOURS};
	my %version;
	for my $module (@modules)
	{
		my $out = '';
		IPC::Run::run([ $python, '-c', "import $module; print($module.__version__)" ], '>', \$out, '2>', '/dev/null') if $python;
		($version{$module}) = $out =~ /^(\d[\d.]*)/;
	}
	note("$_ " . ($version{$_} // '-')) for sort keys %version;
	return ($python, %version);
}

# Debian's Ruby with ActiveRecord. Without it the test is skipped.
sub rails_of_debian
{
	my $ruby = program_in('ruby', '/usr/bin');
	my $out;
	my $there = $ruby && IPC::Run::run([ $ruby, '-e', 'require "active_record"; require "pg"; puts ActiveRecord.version' ], '<', '/dev/null', '>', \$out, '2>', '/dev/null');
	Neighbours::left_out_unless($there, 'Rails', 'apt-get install ruby-activerecord ruby-pg');
	note("ActiveRecord $out");
	return $ruby;
}

sub write_program
{
	my ($path, @parts) = @_;
	make_path(dirname($path));
	unlink $path;
	append_to_file($path, join "\n", @parts);
	return $path;
}

# Runs a program whose last line is JSON, and returns the content; undef if the program fails.
sub run_program
{
	my (@command) = @_;
	my ($out, $err) = ('', '');
	my $well = IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(120 * slowness()));
	ok($well, basename($command[-1])) or diag($out, $err);
	return $well ? JSON::PP->new->allow_nonref->decode((split /\n/, $out)[-1]) : undef;
}

# Runs the code, and returns how many statements with this beginning arrived meanwhile.
sub sent
{
	my ($server, $pattern, $code) = @_;
	my $begin = -s $server->logfile;
	$code->();
	my @sent = slurp_file($server->logfile, $begin) =~ /(?:statement|execute [^:]*): +$pattern/gi;
	return scalar @sent;
}

sub table_ids
{
	my ($server, $table) = @_;
	return split /\n/, $server->safe_psql('postgres', sprintf 'SELECT id FROM %s ORDER BY id', $table // 'item');
}

sub sorted { return sort { $a <=> $b } @_; }

# Checks that these are the table's ids, and that snowflake issued each of them a moment ago.
sub are_the_tables
{
	my ($server, $ids, $what, $table) = @_;
	$table //= 'item';
	is_deeply([ sorted(@{ $ids // [] }) ], [ table_ids($server, $table) ], "$what: the ids are those in the table");
	is($server->safe_psql('postgres', qq{SELECT count(*) > 0 AND bool_and(snowflake_timestamp(id) > now() - interval '5 min') FROM $table}),
		't', '... and snowflakes');
	return;
}

# Checks that these are so many ids from snowflake_nextvals(), and that none of them is in the
# table.
sub are_drawn
{
	my ($server, $ids, $count, $what) = @_;
	my %different = map { $_ => 1 } @{ $ids // [] };
	is(scalar keys %different, $count, "$what: $count ids taken");
	is_deeply([ sorted(keys %different) ], [ map { "$_" } @{ $ids // [] } ], '... which rise');
	my $list = join ',', 0, keys %different;
	is($server->safe_psql('postgres', qq{SELECT count(*) FILTER (WHERE snowflake_timestamp(i) > now() - interval '5 min'), (SELECT count(*) FROM item WHERE id IN ($list))
		FROM unnest(ARRAY[$list]::bigint[]) i}), "$count|0", '... snowflakes, and none in the table');
	return;
}

# --------------------------------------------------------------------------------------------------
# The type snowflake_id
# --------------------------------------------------------------------------------------------------

# The forms of a table's id for a client: a bigint; a column of the type; a view of such a column,
# with its own default; a view that casts a bigint to the type, in which PostgreSQL allows no write
# of the id.
my @forms = qw(bigint column view cast);
my $known = 'known';

# The rows of the page's table.
sub rows_told
{
	my ($section) = slurp_file('doc/clients.md') =~ /^## The type snowflake_id\n(.*?)(?=^## )/ms or die "doc/clients.md has no section on the type\n";
	return grep { /^\| (?!client )/ } split /\n/, $section;
}

# The clients of these rows.
sub clients_told { return map { clients_in($_) } rows_told(); }
sub clients_in { my ($row) = @_; return split /; /, (split / *\| */, $row)[1]; }

# What the page's table says about a client: {bigint, type: what it reads, finds: [types], cast:
# whether it inserts through a view that casts, remedy: [code]}.
sub told_of
{
	my ($client) = @_;
	my ($row) = grep { grep { $_ eq $client } clients_in($_) } rows_told();
	die "doc/clients.md: the table of the type has no row \"$client\"\n" unless $row;
	my (undef, $bigint, $type, $finds, $remedy) = map { s/^ +| +$//gr } (split /\|/, $row)[ 1 .. 5 ];
	my ($fail) = slurp_file('doc/clients.md') =~ /^- \*\*Through a casting view\*\* (.*?)\s+cannot insert:/ms or die "doc/clients.md does not say who inserts through a casting view\n";
	my @fail = map { s/^(.*) with (`.*)/$1, $2/r } split /, | and /, $fail =~ s/\s+/ /gr;
	my $code = sub { $_[0] =~ /`([^`]*)`/g };
	return { bigint => join(', ', $code->($bigint)), type => join(', ', $code->($type)), finds => [ $code->($finds) ],
		cast => !(grep { $_ eq $client } @fail), remedy => [ $code->($remedy) ] };
}

# The page's pieces of code that make a client read integers again.
sub remedy_of { my ($client) = @_; return @{ told_of($client)->{remedy} }; }

# Runs the code with a table's ids in each form; its argument is the form's name. Because of the
# search path, clients find the form in place of the table. One row already exists, named `known`,
# and CLIENTS_KNOWN_ID contains its id.
sub each_form
{
	my ($server, $table, $code) = @_;
	my ($columns) = $server->safe_psql('postgres', qq{SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = 'public.$table'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'id'});
	my $bare = qq{SET client_min_messages = warning; SET search_path = public; DROP SCHEMA IF EXISTS api CASCADE;
		ALTER DATABASE postgres RESET search_path; TRUNCATE $table CASCADE;};
	for my $form (@forms)
	{
		my $type = $form =~ /^(?:column|view)$/ ? 'snowflake_id' : 'bigint';
		my $id = $form eq 'cast' ? 'id::snowflake_id AS id' : 'id';
		my $view = $form !~ /^(?:view|cast)$/ ? '' : qq{CREATE SCHEMA api; CREATE VIEW api.$table AS SELECT $id, $columns FROM $table;
			ALTER DATABASE postgres SET search_path = api, public;};
		$view .= "ALTER VIEW api.$table ALTER id SET DEFAULT snowflake_nextval();" if $form eq 'view';
		local $ENV{CLIENTS_KNOWN_ID} = $server->safe_psql('postgres', qq{$bare ALTER TABLE $table ALTER id TYPE $type; $view
			INSERT INTO $table (name) VALUES ('$known') RETURNING id});
		is($server->safe_psql('postgres', qq{SELECT format_type(a.atttypid, NULL), c.relkind FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
				WHERE attrelid = '$table'::regclass AND attname = 'id'}),
			($form eq 'bigint' ? 'bigint' : 'snowflake_id') . '|' . ($view ? 'v' : 'r'), "$table: $form");
		$code->($form);
	}
	$server->safe_psql('postgres', "$bare ALTER TABLE $table ALTER id TYPE bigint");
	return;
}

# Checks that a client did with a form what the page's table says. The client has inserted one row,
# two rows in one call and one row with an id from snowflake_nextvals(), and has looked for the
# known row. Its program prints {reads: [types of returned ids], finds: {type: yes or no or
# SQLSTATE}, one, many, given: yes or SQLSTATE, ids: [...] }.
sub is_as_told
{
	my ($server, $client, $form, $seen, $table) = @_;
	$table //= 'item';
	my $told = told_of($client);
	is(join(', ', sort @{ $seen->{reads} // [] }), $form eq 'bigint' ? $told->{bigint} : $told->{type}, "$client, $form: what ids are read as");
	my @found = grep { $seen->{finds}{$_} eq 'yes' } keys %{ $seen->{finds} // {} };
	is(join(', ', sort @found), join(', ', sort @{ $told->{finds} }), '... by what rows are found') or diag(explain($seen->{finds}));
	my $rows = 0;
	for ([ one => 1 ], [ many => 2 ], [ given => 1 ])
	{
		my ($insert, $count) = @$_;
		my $works = $form ne 'cast' || $told->{cast} && $insert ne 'given';
		is($seen->{$insert}, $works ? 'yes' : '0A000', "... insert: $insert");
		$rows += $count if $works;
	}
	is(scalar @{ $seen->{ids} // [] }, $rows, "... $rows rows");
	are_the_tables($server, [ @{ $seen->{ids} // [] }, $ENV{CLIENTS_KNOWN_ID} ], "$client, $form", $table);
	return;
}

1;
