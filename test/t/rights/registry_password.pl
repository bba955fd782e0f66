# snowflake.registry contains no password. In every form that libpq supports, a password is refused,
# wherever it is set, and neither the error nor the log repeats it (section 10 of the design). Not
# every role can read the setting, or set it.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $n = new_server('node', conf => "snowflake.registry = 'host=/nowhere dbname=x user=node'\n");
start_server($n);
value($n, 'CREATE EXTENSION snowflake');
# If the library is not preloaded, the setting exists after the library is loaded.
my $load = 'DO $$BEGIN PERFORM snowflake_timestamp(0); END$$;';
for my $text ("host=x password=hunter2", "postgresql://u:hunter2\@x/db", "postgresql://x/db?user=u&password=hunter2", "host=x sslpassword=hunter2",
	"postgresql://x/db?sslpassword=hunter2", "password = ''hunter2'' host=x", map { "host=x $_=hunter2" } qw(oauth_client_secret scram_client_key scram_server_key))
{
	for my $command ('SET', 'ALTER SYSTEM SET', 'ALTER DATABASE postgres SET', 'ALTER ROLE CURRENT_USER SET')
	{
		my ($state, $error) = query_error($n, 'postgres', "$load $command snowflake.registry = '$text'");
		is($state, '22023', "$command: a password is refused");
		unlike($error, qr/hunter2/, '... and not repeated');
	}
}
is((query_error($n, 'postgres', "$load SET snowflake.registry = '$_'"))[0], '22023', "refused: $_") for 'host', 'hosst=x', 'postgresql://[x', q{host=''x};
# Without the library PostgreSQL itself logs the value, as a setting that it does not know.
my $of_others = value($n, 'SHOW shared_preload_libraries') eq '' ? qr/^.*parameter "snowflake\.registry" changed to.*$/m : qr/(?!)/;
my $log_size = -s $n->logfile;
setting($n, "snowflake.registry = 'host=x password=hunter3'");
ok(wait_until('the log', sub { query_error($n, 'postgres', $load); slurp_file($n->logfile, $log_size) =~ /invalid value for parameter "snowflake\.registry"/ }), 'one in the configuration file is refused, too');
unlike(slurp_file($n->logfile, $log_size) =~ s/$of_others//r, qr/hunter3/, '... and not repeated in the log');
setting($n, "snowflake.registry = 'host=/nowhere dbname=x user=node'");
ok(wait_until('the file to be read', sub { (query_error($n, 'postgres', $load))[0] eq '00000' }), 'and mended there');

value($n, 'CREATE ROLE nobody_special LOGIN; CREATE ROLE auditor LOGIN; GRANT pg_read_all_settings TO auditor');
is((as_role($n, 'postgres', 'nobody_special', $load . 'SHOW snowflake.registry'))[0], '42501', 'not everybody sees the setting');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SELECT current_setting('snowflake.registry')}))[0], '42501', '... by any way');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SELECT count(*) FROM pg_settings WHERE name = 'snowflake.registry'}))[2], '0', '... nor in pg_settings');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SET snowflake.registry = ''}))[0], '42501', '... nor sets it');
like((as_role($n, 'postgres', 'auditor', $load . 'SHOW snowflake.registry'))[2], qr/dbname=/, 'pg_read_all_settings does');
$n->stop('fast');
done_testing();
