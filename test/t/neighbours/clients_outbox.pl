# The reader of an outbox for Node.js, from doc/recipes.md: it delivers each row once, in the order of
# ids, also rows whose transactions commit late and rows of a batch that could not be delivered. If
# the server ends its session, the program goes on, and the first error is shown. No session is left.
#
# node-postgres is npm's: test/clients downloads it into the folder that SNOWFLAKE_NODE_MODULES names.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use Neighbours;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($page, $modules, $node) = ('doc/recipes.md', $ENV{SNOWFLAKE_NODE_MODULES}, program_in('node'));
left_out_unless($node && $modules && -d "$modules/pg", "the folder of npm's packages", 'test/clients fetches them');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
symlink $modules, "$folder/node_modules" or die "symlink: $!";
$server->safe_psql('postgres', block_of($page, 'CREATE TABLE outbox'));

# It fails once, in the middle of a batch, and begins anew. One delivery ends after its session has.
my $program = write_program("$folder/reader.mjs", block_of($page, 'deliverBatch', 'javascript'), <<'JAVASCRIPT');
let fails = true, waits = true
const deliver = async row => {
  if (row.payload === 'fails once' && fails) { fails = false; throw new Error('not delivered') }
  if (row.payload === 'waits' && waits) {
    waits = false
    console.error('it waits')
    await new Promise(resolve => setTimeout(resolve, 2000))
    throw new Error('delivered too late')
  }
  console.log(row.id)
}
while (true) await poll('mail', deliver).catch(error => console.error(error.message))
JAVASCRIPT
my ($out, $err) = ('', '');
$ENV{PGAPPNAME} = 'reader';
my $reader = IPC::Run::start([ $node, $program ], '<', '/dev/null', '>', \$out, '2>', \$err);
sub delivered { $reader->pump_nb; return split /\n/, $out }

delete $ENV{PGAPPNAME};
my $late = $server->background_psql('postgres');
my $clients = start_clients($server, 3, q{BEGIN; INSERT INTO outbox (payload) VALUES ('a') RETURNING pg_sleep(random() / 50); INSERT INTO outbox (payload) SELECT 'b' FROM generate_series(1, 20); COMMIT;});
for (1 .. 5)
{
	ask($late, q{BEGIN; INSERT INTO outbox (payload) VALUES ('late')});
	select undef, undef, undef, 0.3;
	ask($late, 'COMMIT');
}
ask($late, q{INSERT INTO outbox (payload) VALUES ('before'), ('fails once'), ('after')});
$late->quit;
stop_clients($clients);

my @rows = split /\n/, $server->safe_psql('postgres', 'SELECT id FROM outbox ORDER BY id');
my ($again) = $server->safe_psql('postgres', q{SELECT id FROM outbox WHERE payload = 'before'});
ok(wait_until('all rows', sub { my @got = delivered(); @got && $got[-1] >= $rows[-1] }), 'the reader gets to the last row') or diag($err);
my (%times, @first);
for (delivered()) { push @first, $_ unless $times{$_}++ }
is_deeply(\@first, \@rows, scalar(@rows) . ' rows, each in the order of ids');
like($err, qr/not delivered/, 'a delivery failed');
cmp_ok($times{$again}, '==', 2, '... and its batch was delivered again');

### Its session ends, while it is idle and while it delivers

my $sessions = q{FROM pg_stat_activity WHERE application_name = 'reader'};
sub end_session { return $server->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $sessions"); }
sub insert { return $server->safe_psql('postgres', "INSERT INTO outbox (payload) VALUES ('$_[0]') RETURNING id"); }
sub gets { my ($id) = @_; return ok(wait_until('the row', sub { grep { $_ eq $id } delivered() }, sub { !$reader->pumpable }), 'the next row is delivered') || diag($err); }
for (1 .. 5)
{
	end_session();
	gets(insert('next'));
}
my $id = insert('waits');
ok(wait_until('the delivery', sub { delivered(); $err =~ /it waits/ }), 'it delivers');
end_session();
gets($id);
like($err, qr/delivered too late/, '... and shows the first error');
ok(wait_until('one session', sub { $server->safe_psql('postgres', "SELECT count(*) $sessions") eq '1' }), 'it has one session');
$reader->kill_kill;
$server->stop('fast');
done_testing();
