# Statements that a client sends at once, without waiting for each answer. After a statement that
# must be alone, a later statement can still turn its transaction into a transaction block. psycopg
# sends them; test/run has installed it.
package Pipeline;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use JSON::PP;

our @EXPORT = qw(pipeline begin_pipeline);

my $program = <<'PYTHON';
import json, sys
import psycopg

session = psycopg.connect(sys.argv[1], autocommit=True, prepare_threshold=None)
for statements in json.loads(sys.argv[2]):
    try:
        with session.pipeline():
            for statement in statements:
                session.execute(statement)
        print("00000", flush=True)
    except psycopg.Error as error:
        print(error.sqlstate or error, flush=True)
print("sent", flush=True)
sys.stdin.read()
PYTHON

# Runs pipelines, each a list of statements, one after the other in one session. The session then
# stays unchanged until {run} is finished. Returns { run, out }: a line for each pipeline, with its
# SQLSTATE, and then "sent".
sub begin_pipeline
{
	my ($server, $dbname, $role, @pipelines) = @_;
	my $self = { in => '', out => '' };
	my $conninfo = $server->connstr($dbname) . ($role ? " user=$role" : '');
	my @command = ('/usr/bin/python3', '-c', $program, $conninfo, encode_json(\@pipelines));
	$self->{run} = IPC::Run::start(\@command, '<', \$self->{in}, '>', \$self->{out});
	$self->{run}->pump until $self->{out} =~ /sent\n/ || !$self->{run}->pumpable;
	return $self;
}

# Runs one, and ends the session. Returns the SQLSTATE.
sub pipeline
{
	my ($server, $dbname, $role, @statements) = @_;
	my $self = begin_pipeline($server, $dbname, $role, \@statements);
	$self->{run}->finish;
	return $self->{out} =~ /^(\w{5})$/m ? $1 : $self->{out};
}

1;
