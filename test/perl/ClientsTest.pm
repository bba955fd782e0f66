# What the tests of doc/clients.md share: its blocks of code, taken from the page, and programs made of them that run against a
# server which counts what they send.
#
# Above each block that is not SQL stands which test runs it, or why none does.
package ClientsTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use IPC::Run;
use JSON::PP;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(recipe left_out no_recipe_left recipes client_server fresh_items write_program run_program sent table_ids are_the_tables are_drawn program_in);

my $this = 't/neighbours/' . basename($0, '.pl');
my %taken;

# The page's blocks that are not SQL.
sub recipes { return grep { $_->{language} !~ /^(?:sql)?$/ } blocks_of('doc/clients.md'); }

# The blocks below a heading, which this test must be the one to run.
sub recipe
{
	my ($heading) = @_;
	my @found = grep { $_->{heading} eq $heading } recipes() or die "doc/clients.md has no block below \"$heading\"\n";
	for (@found) { die "doc/clients.md: the block below \"$heading\" is not run by $this\n" unless ($_->{test} // '') eq $this; }
	$taken{$heading} = 1;
	return map { $_->{text} } @found;
}

# A client that is not there.
sub left_out
{
	my ($heading, $why) = @_;
	$taken{$heading} = 1;
	print { Test::More->builder->failure_output } "# skipped: $heading: $why\n";
	return;
}

# Whether this test has run, or left out, all that the page says it runs. Ends the test.
sub no_recipe_left
{
	my @left = grep { !$taken{$_} } map { $_->{heading} } grep { ($_->{test} // '') eq $this } recipes();
	is(join(', ', @left), '', 'every block that the page gives to this test');
	done_testing();
	return;
}

# A server with the page's table, reached by the environment, that logs what it is sent. Of SQL_ASCII clients make bytes.
sub client_server
{
	my $server = new_server('clients', initdb => [ '--encoding=UTF8', '--locale=C' ], conf => "listen_addresses = '127.0.0.1'\nlog_statement = all\nautovacuum = off\n");
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
	@ENV{qw(PGHOST PGPORT PGDATABASE)} = ('127.0.0.1', $server->port, 'postgres');
	$ENV{DATABASE_URL} = sprintf 'postgresql://%s@127.0.0.1:%d/postgres', $ENV{PGUSER}, $server->port;
	fresh_items($server);
	return $server;
}

# The page's table, anew.
sub fresh_items
{
	my ($server) = @_;
	my ($create) = slurp_file('doc/clients.md') =~ /^(CREATE TABLE item .*?;)$/m or die "doc/clients.md does not create item\n";
	$server->safe_psql('postgres', "SET client_min_messages = warning; DROP TABLE IF EXISTS item; $create");
	return;
}

# The program's path, where one is.
sub program_in
{
	my ($name, @folders) = @_;
	my ($program) = grep { -x && !-d } map { "$_/$name" } @folders, split /:/, $ENV{PATH};
	return $program;
}

sub write_program
{
	my ($path, @parts) = @_;
	make_path(dirname($path));
	unlink $path;
	append_to_file($path, join "\n", @parts);
	return $path;
}

# Runs a program, whose last line is JSON, and returns what that says; undef where it fails.
sub run_program
{
	my (@command) = @_;
	my ($out, $err) = ('', '');
	my $well = IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(120 * slowness()));
	ok($well, basename($command[-1])) or diag($out, $err);
	return $well ? JSON::PP->new->allow_nonref->decode((split /\n/, $out)[-1]) : undef;
}

# Runs the code and returns how many statements that begin like this came meanwhile.
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

# Whether these are the ids of the table, every one made by snowflake a moment ago.
sub are_the_tables
{
	my ($server, $ids, $what, $table) = @_;
	$table //= 'item';
	is_deeply([ sorted(@{ $ids // [] }) ], [ table_ids($server, $table) ], "$what: the ids are those in the table");
	is($server->safe_psql('postgres', qq{SELECT count(*) > 0 AND bool_and(snowflake_timestamp(id) > now() - interval '5 min') FROM $table}),
		't', '... and snowflakes');
	return;
}

# Whether these are so many ids from snowflake_nextvals(), none of them in the table.
sub are_drawn
{
	my ($server, $ids, $count, $what) = @_;
	my %different = map { $_ => 1 } @{ $ids // [] };
	is(scalar keys %different, $count, "$what: $count ids drawn");
	is_deeply([ sorted(keys %different) ], [ map { "$_" } @{ $ids // [] } ], '... which rise');
	my $list = join ',', 0, keys %different;
	is($server->safe_psql('postgres', qq{SELECT count(*) FILTER (WHERE snowflake_timestamp(i) > now() - interval '5 min'), (SELECT count(*) FROM item WHERE id IN ($list))
		FROM unnest(ARRAY[$list]::bigint[]) i}), "$count|0", '... snowflakes, and none in the table');
	return;
}

1;
