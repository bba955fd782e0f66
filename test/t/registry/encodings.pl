# A node's name is for people. A name that the encoding of the registry or of the node cannot
# represent does not prevent a lease, and causes no unreadable text, nor does a control character.
# Not in the default run: it starts some 300 processes.
use strict;
use warnings;

use SnowflakeTest;
use Sys::Hostname;
use PostgreSQL::Test::Utils;
use Test::More;

my @encodings = qw(UTF8 EUC_JP WIN1252 LATIN1 SQL_ASCII);
my $registry = new_server('registry', preload => 0, conf => "log_statement = none\n");
start_server($registry);
my $many = new_server('many', conf => "log_statement = none\nsnowflake.start_timeout = 60s\nmax_worker_processes = 40\nsnowflake.max_databases = 40\n");
start_server($many);

# Bytes are sent unchanged: a database in SQL_ASCII accepts all of them.
$ENV{PGCLIENTENCODING} = 'SQL_ASCII';
sub value { my ($server, $db, $sql) = @_; return $server->safe_psql($db, $sql); }
sub create { my ($server, $name, $encoding) = @_; return value($server, 'template_bytes', qq{CREATE DATABASE "$name" TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'}); }

for my $server ($registry, $many)
{
	value($server, 'postgres', q{CREATE DATABASE template_bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'});
}
for my $encoding (qw(UTF8 EUC_JP SQL_ASCII))
{
	create($registry, "at_$encoding", $encoding);
	value($registry, "at_$encoding", 'CREATE EXTENSION snowflake');
}

# Whether all text that a client reads there is valid.
sub readable
{
	my ($server, $db, $sql) = @_;
	local $ENV{PGCLIENTENCODING} = 'UTF8';
	my ($rc, $out, $error) = $server->psql($db, $sql);
	return $error eq '' ? $out : $error;
}

my $euro = "\xe2\x82\xac";     # UTF-8, but invalid as EUC_JP; each of the bytes is a character of WIN1252 and LATIN1
my $broken = "\xff\xfe\xa4";   # invalid as UTF-8 and as EUC_JP
my %shown = (
	UTF8 => { $euro => $euro, $broken => '\xff\xfe\xa4' },
	EUC_JP => { $euro => '\xe2\x82\xac', $broken => '\xff\xfe\xa4' },
	SQL_ASCII => { $euro => '\xe2\x82\xac', $broken => '\xff\xfe\xa4' });
my $escaped = sub { return $_[0] =~ s/([\x80-\xff])/sprintf '\x%02x', ord $1/ger; };

for my $own (@encodings)
{
	for my $at (qw(UTF8 EUC_JP SQL_ASCII))
	{
		my $place = 'host=' . $registry->host . ' port=' . $registry->port . " dbname=at_$at";
		for my $odd ($euro, $broken)
		{
			next if $odd eq $broken && $at ne 'UTF8';
			# The database's name is the node's name.
			my $db = "$own at $at $odd";
			create($many, $db, $own);
			value($many, 'template_bytes', qq{ALTER DATABASE "$db" SET snowflake.registry = '$place'});
			value($many, $db, 'CREATE EXTENSION snowflake');
			my ($rc, $out, $error) = $many->psql($db, 'SELECT snowflake_nextval()');
			my $name = "$own at $at, " . $escaped->($odd);
			like($out, qr/^\d+$/, "$name: a lease") or diag($error);
			my $seen = value($registry, "at_$at", qq{SELECT node FROM snowflake_registry ORDER BY lease_id DESC LIMIT 1});
			my $expected = $own eq $at ? $shown{$own}{$odd} : $escaped->($odd);
			is($escaped->($seen), $escaped->('many@' . hostname() . ':' . $many->port . "/$own at $at $expected"), '... under a name that says what it is');
			is(readable($many, $db, q{SELECT state FROM snowflake_status}), 'issuing', '... and a view that can be read');
		}
	}
}
is(readable($registry, 'at_UTF8', 'SELECT count(*) FROM snowflake_workers WHERE node IS NOT NULL'), '10', 'all names can be read at a registry in UTF-8');
like(readable($registry, 'at_SQL_ASCII', 'SELECT string_agg(node, $$ $$) FROM snowflake_workers'), qr/^[\x20-\x7e]+$/, '... and by a client in UTF-8 at one in SQL_ASCII');

# Also in its own database.
for my $own (@encodings)
{
	my $db = "$own alone $broken";
	create($many, $db, $own);
	value($many, $db, 'CREATE EXTENSION snowflake');
	my ($rc, $out, $error) = $many->psql($db, 'SELECT snowflake_nextval()');
	like($out, qr/^\d+$/, "$own alone: a lease") or diag($error);
	like(value($many, $db, 'SELECT octet_length(node) FROM snowflake_registry WHERE node = convert_from(convert_to(node, current_setting($$server_encoding$$)), current_setting($$server_encoding$$))'),
		qr/^\d+$/, '... under a valid name') unless $own eq 'SQL_ASCII';
}

# Control characters, one of them of two bytes.
create($many, 'control', 'UTF8');
value($many, 'template_bytes', qq{ALTER DATABASE control SET snowflake.node_name = E'a\\n\\x1b[31m\xc2\x9bb'});
value($many, 'control', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
is(value($many, 'control', 'SELECT node FROM snowflake_workers'), 'a\x0a\x1b[31m\xc2\x9bb', 'control characters are shown');

# Names have a maximum length, and are cut between characters.
my $long = $euro x 200;
create($many, 'long', 'UTF8');
value($many, 'template_bytes', qq{ALTER DATABASE long SET snowflake.node_name = '$long'; ALTER DATABASE long SET snowflake.registry = 'host=@{[$registry->host]} port=@{[$registry->port]} dbname=at_UTF8'});
value($many, 'long', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
is(value($registry, 'at_UTF8', 'SELECT node FROM snowflake_registry ORDER BY lease_id DESC LIMIT 1'), $euro x 85, 'a long name is cut');
value($many, 'template_bytes', qq{ALTER DATABASE long SET snowflake.registry = 'host=@{[$registry->host]} port=@{[$registry->port]} dbname=at_EUC_JP'});
value($many, 'long', q{SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status});
ok(wait_until('another lease', sub {
	$many->psql('long', 'SELECT snowflake_nextval()');
	value($registry, 'at_EUC_JP', 'SELECT node FROM snowflake_registry ORDER BY lease_id DESC LIMIT 1') eq '\xe2\x82\xac' x 21;
}), '... and between escapes');
$many->stop('fast');
$registry->stop('fast');
done_testing();
