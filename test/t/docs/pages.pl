# Runs the SQL of README.md and of the pages of doc/ from the files. Each page's blocks run in their
# order, in one session in a new database, as if a reader pasted them. If a page shows a block's
# output, the output is the same except for figures.
#
# A comment above a block names an exception: `run by TEST`, which then takes the block from the
# file, `fails with SQLSTATE`, `before: SQL`, which runs first, or `not run: REASON`. A page can
# begin with `SQL of this page is run by TEST`.

use strict;
use warnings;

use IPC::Run;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('server', preload => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\ntimezone = 'UTC'\nmax_worker_processes = 40\nsnowflake.max_databases = 40\n");
start_server($server);

# psql's output without figures, widths, row counts, and fractions of seconds, which whole seconds
# do not have.
sub shape
{
	my ($text) = @_;
	my @lines = grep { $_ ne '' && !/^\(\d+ rows?\)$/ } map { s/:\d\d\K\.\d+//gr =~ s/\d+/0/gr =~ s/-+/-/gr =~ s/\s+/ /gr =~ s/^ | $//gr } split /\n/, $text;
	return join("\n", @lines) . "\n";
}

# Runs blocks in one session; each gets {out, err}.
sub run_blocks
{
	my ($dbname, @blocks) = @_;
	my $script = "\\set VERBOSITY verbose\n";
	for my $i (0 .. $#blocks)
	{
		$script .= "\\echo <<$i>>\n\\warn <<$i>>\n" . ($blocks[$i]{before} // '') . "\n$blocks[$i]{text}";
	}
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'psql', '-X', '-q', '-P', 'pager=off', '-d', $server->connstr($dbname), '-f', '-' ], '<', \$script, '>', \$out, '2>', \$err);
	for ([ out => $out ], [ err => $err ])
	{
		my ($what, $said) = @$_;
		my (undef, @parts) = split /^<<\d+>>\n/m, $said, -1;
		is(scalar(@parts), scalar(@blocks), "$dbname: the session saw all blocks ($what)");
		$blocks[$_]{$what} = $parts[$_] // '' for 0 .. $#blocks;
	}
	return;
}

sub judge
{
	my ($block) = @_;
	my $name = "$block->{page}:$block->{line}";
	my @errors = $block->{err} =~ /(?:ERROR|FATAL|PANIC): +(\w{5}):/g;
	if ($block->{fails})
	{
		is("@errors", $block->{fails}, "$name fails as it says") or diag($block->{err});
	}
	elsif (!ok(!@errors && $block->{err} !~ /^psql:.*error/mi, "$name runs"))
	{
		diag($block->{err});
	}
	return unless defined $block->{output};
	my ($expected, $shown) = (shape($block->{output}), shape($block->{out}));
	ok(index($shown, $expected) >= 0, "$name shows what it says") or diag("expected:\n${expected}shown:\n$shown");
	return;
}

my ($run, $elsewhere, $not_run) = (0, 0, 0);
my $number = 0;
for my $page (pages())
{
	my $all = run_elsewhere($page);
	my @here;
	for my $block (grep { $_->{language} eq 'sql' } blocks_of($page))
	{
		if (my $test = $block->{test} // $all)
		{
			++$elsewhere;
			ok(-e "test/$test.pl" && slurp_file("test/$test.pl") =~ /\Q$page\E/, "$page:$block->{line} is run by $test");
		}
		elsif ($block->{not_run}) { ++$not_run; }
		else { push @here, $block; }
	}
	next unless @here;
	my $dbname = 'page_' . ++$number;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	run_blocks($dbname, @here);
	judge($_) for @here;
	my $schema = $server->safe_psql($dbname, q{SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'snowflake'});
	if ($schema)
	{
		# A keeper that stands still for seconds is told of meanwhile.
		my $advice;
		wait_until('no advice', sub { ($advice = $server->safe_psql($dbname, "SELECT advice FROM $schema.snowflake_status")) !~ /has not extended|has had no answer/ });
		is($advice, '', "$page: whoever does what it says gets no advice");
	}
	$run += @here;
}
cmp_ok($run, '>', 20, 'blocks were found');
figures('%d blocks run, %d by other tests, %d by none', $run, $elsewhere, $not_run);
$server->stop('fast');
done_testing();
