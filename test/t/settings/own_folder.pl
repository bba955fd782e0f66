# From PostgreSQL 18 on, the extension can be in its own folder and nowhere else, as container
# platforms mount it. PostgreSQL finds it by extension_control_path and dynamic_library_path.
# Everything works, preloaded and not. doc/installing.md describes this.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

sub output_of { return (run_command(@_))[0]; }

my $db = 'postgres';
my $bin = output_of([ 'pg_config', '--bindir' ]);
my $version = output_of([ 'pg_config', '--version' ]) =~ /^PostgreSQL (\d+)/ ? $1 : die 'pg_config tells no version';
plan skip_all => 'before PostgreSQL 18 an extension lies in the folders of the server' if $version < 18;

# The server without the extension, and the extension without the server.
my $there = PostgreSQL::Test::Utils::tempdir();
$there = output_of([ 'pwd' ]) . "/$there" if $there !~ m{^/};
my ($root) = $bin =~ m{^(.*?/server)/} or die "$bin is not test/run's copy of a server";
system_or_bail('cp', '-a', '--link', $root, "$there/bare");
my $home = "$there/bare" . substr($bin =~ s{/bin$}{}r, length $root);
command_ok([ 'make', '-s', "PG_CONFIG=$home/bin/pg_config", 'uninstall' ], 'make uninstall');
is(output_of([ 'find', "$there/bare", '-name', '*snowflake*' ]), '', '... leaves a server without the extension');
my $extension = "$there/extension";
my $page = slurp_file('doc/installing.md') =~ s{/opt/snowflake}{$extension}gr;
my ($install) = $page =~ /^make (install DESTDIR=.*)$/m or die "doc/installing.md does not say how it is installed\n";
my @paths = $page =~ /^((?:extension_control|dynamic_library)_path = .*)$/mg;
is(scalar @paths, 2, 'doc/installing.md has both paths');
command_ok([ 'make', '-s', "PG_CONFIG=$bin/pg_config", split(/ /, $install) ], 'installed as it says, into a folder of its own');
is(output_of([ 'sh', '-c', "cd '$extension' && ls -d lib/* share/* share/extension/*.control share/doc/extension/snowflake/doc" ]),
	join("\n", qw(lib/snowflake.so lib/snowflake_convert.so share/doc share/doc/extension/snowflake/doc share/extension share/extension/snowflake.control
		share/extension/snowflake_convert.control)), '... whose layout is this');

# `make install prefix=...`: if PostgreSQL's makefiles ignore it, it is refused, and nothing is
# installed.
if (output_of([ 'make', '-s', 'PG_CONFIG=pg_config', "prefix=$there/prefix", 'print-datadir' ]) !~ /^\Q$there\E/)
{
	command_fails_like([ 'make', 'PG_CONFIG=pg_config', "prefix=$there/prefix", 'install' ], qr/prefix=\S+ would be ignored here/, 'prefix= is refused');
}

for my $preload (1, 0)
{
	my $server = new_server("own_folder_$preload", home => $home, preload => $preload, patient => $preload, conf => join("\n", @paths, "track_functions = all\n"));
	start_server($server);
	my $how = $preload ? 'preloaded' : 'not preloaded';
	is($server->safe_psql($db, q{CREATE EXTENSION snowflake;
		SELECT extversion = default_version FROM pg_extension JOIN pg_available_extensions ON name = extname WHERE extname = 'snowflake'}), 't', "$how: created");
	is($server->safe_psql($db, 'CREATE TABLE item (n int, id bigint PRIMARY KEY DEFAULT snowflake_nextval());'
		  . ' INSERT INTO item SELECT generate_series(1, 1000); SELECT count(DISTINCT id) FROM item'), '1000', 'ids are issued');
	is($server->safe_psql($db, q{SELECT count(*) FROM snowflake_status JOIN pg_stat_activity ON pid = keeper_pid}),
		'1', 'the keeper runs, whose library is found by the path') or diag($server->safe_psql($db, 'TABLE pg_stat_activity'));
	is($server->safe_psql($db, qq{SET client_min_messages = error; LOAD 'snowflake'; BEGIN;
		COPY item (n) FROM PROGRAM 'seq 300';
		SELECT string_agg(funcname || ' ' || calls, ', ') FROM pg_stat_xact_user_functions WHERE funcname ~ 'nextval';
		COMMIT}), 'snowflake_copy_nextval 300', 'COPY goes many at a time');

	my $dump = $server->basedir . '/dump';
	$server->safe_psql($db, 'CREATE DATABASE restored');
	$server->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $db ], 'pg_dump');
	$server->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', $dump ], '... and pg_restore');
	is($server->safe_psql('restored', 'INSERT INTO item SELECT generate_series(1, 1000); SELECT count(DISTINCT id) FROM item'), '2300', '... after which ids go on');

	$server->restart;
	is($server->safe_psql($db, 'SELECT snowflake_nextval() > max(id) FROM item'), 't', 'after a restart, too');
	$server->stop('fast');
	$server->adjust_conf('postgresql.conf', 'dynamic_library_path', q{'$libdir'});
	if ($preload) { ok(!$server->start(fail_ok => 1), 'without the path a server that preloads it does not start'); next; }
	start_server($server);
	is((query_error($server, $db, 'SELECT snowflake_nextval()'))[0], '58P01', 'without the path the file is missing');
	$server->stop('fast');
}

done_testing();
