# A registry's answer to a request for a range is false in one field, once or for three seconds, and
# then right again. For how long does a call get no number after that, and what ends it? A false
# timeline or time of snowflake_settle() needs a clean restart of the node. Numbers far above all
# that the registry allocated need snowflake_renew(), and so does a role that nobody has: without a
# call that takes numbers, no other range is requested. Nothing else needs anything.
# Not in the default run: it waits for three seconds for each field.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

# The registry's own function answers; a row of the table `lie` says what replaces a column.
my $registry = segments_registry('registry', segments => { ticket => 'step => 10, max_step => 10' });
my $arguments = 'text, text[], bigint[], bigint[], bigint[], bigint[], bytea[]';
my %array = map { $_ => 1 } qw(segment_ids range_last range_count usage_roles);
my %type = (usage_roles => 'text', known => 'text');
my $own = value($registry, "SELECT pg_get_functiondef('snowflake_segment_ranges($arguments)'::regprocedure)");
my ($head) = $own =~ /^(.*RETURNS record)\n LANGUAGE c\n/s or die $own;
value($registry, $own =~ s/snowflake_segment_ranges\(/honest(/r);
value($registry, 'ALTER EXTENSION snowflake ADD FUNCTION honest; CREATE TABLE lie (which text, value text, times int);'
	  . ' GRANT SELECT, UPDATE ON lie TO node; GRANT EXECUTE ON FUNCTION honest TO node');
sub column
{
	my ($column) = @_;
	my $answer = "h.$column" . ($array{$column} ? '[1]' : '');
	my $type = $type{$column} // 'bigint';
	my $false = $type eq 'text' ? 'value' : "value::bigint + CASE WHEN value LIKE '+%' THEN $answer ELSE 0 END";
	my $given = "CASE WHEN which = '$column' THEN $false ELSE $answer END";
	return $array{$column} ? "ARRAY[$given]" : $given;
}
my $given = join(', ', map { column($_) } $head =~ /OUT (\w+)/g);
value($registry, qq{$head LANGUAGE sql AS \$\$ UPDATE lie SET times = times - 1;
	SELECT $given FROM honest(\$1, \$2, \$3, \$4, \$5, \$6, \$7) h LEFT JOIN lie ON times >= 0 \$\$});

my $node = segment_node('node', place($registry), conf => "snowflake.start_timeout = 200ms\n");
value($node, 'CREATE ROLE writer');
my %issued;
# "is " and a number, or the SQLSTATE.
sub number_or_state
{
	my ($rc, $out, $error) = $node->psql('postgres', qq{\\set VERBOSITY verbose\nSET ROLE writer; SELECT 'is ' || snowflake_segment_nextval('ticket')});
	return $rc == 0 ? $out : $error =~ /ERROR:\s+(\w{5}):/ ? $1 : $error;
}

# Uses up two ranges. Returns after how many seconds calls fail no more, or nothing if they do for
# five seconds, and the last SQLSTATE. What must come is awaited for longer: the machine may stall.
sub waits
{
	my ($must_come) = @_;
	my $limit = ($must_come ? 60 : 5) * slowness();
	my ($began, $since, $state, $right) = (time(), 0, '', 0);
	while ($right < 40)
	{
		my $number = number_or_state();
		if ($number =~ /^is (\d+)$/) { ++$right; ++$issued{$1}; next; }
		($state, $right, $since) = ($number, 0, time() - $began);
		return (undef, $state) if $since > $limit;
	}
	return ($since, $state);
}

my %ended = ('' => 'itself', renew => 'snowflake_renew()', restart => 'a clean restart');
sub ends
{
	my ($end) = @_;
	my ($s, $state) = waits($end eq '');
	return (sprintf('%.1f s', $s) . ($state && " ($state)"), '') if defined $s;
	value($node, 'SELECT snowflake_renew()');
	($s) = waits($end eq 'renew');
	return ("no number ($state)", 'renew') if defined $s;
	$node->stop('fast');
	start_server($node);
	($s) = waits(1);
	ok(defined $s, '... and a clean restart is the last resort') or die;
	return ("no number ($state)", 'restart');
}

my $in_us = sub { my ($hours) = @_; return sprintf '%.0f', (time() + 3600 * $hours) * 1e6; };
# What a field is, its column, what replaces it, and what ends the answer's effect.
my @fields = (
	[ 'no segment', segment_ids => 0, '' ],
	[ 'another segment', segment_ids => '+1', '' ],
	[ 'last number, below what was issued', range_last => 5, '' ],
	[ 'last number, 500 above', range_last => '+500', '' ],
	[ 'last number, a million above', range_last => '+1000000', 'renew' ],
	[ 'last number, below 0', range_last => -1, '' ],
	[ 'count, none', range_count => 0, '' ],
	[ 'count, one', range_count => 1, '' ],
	[ 'count, with what was issued', range_count => '+15', '' ],
	[ 'count, more than there can be', range_count => '+100000000', '' ],
	[ 'role', usage_roles => 'nobody', 'renew' ],
	[ 'system identifier', system_identifier => 9, '' ],
	[ 'timeline', timeline => 9, 'restart' ],
	[ 'settle called, in 12 h', settle_called_us => $in_us->(12), 'restart' ],
	[ 'settle called, in a year', settle_called_us => $in_us->(9000), '' ],
	[ 'names of segments', known => 'these', '' ]);
ok(defined((waits(1))[0]), 'numbers flow') or die;
diag('the first call without an error after a false answer, and after three seconds of them, and what ends it');
for my $field (@fields)
{
	my ($name, $column, $false, $end) = @$field;
	my @shown;
	for my $times (1, 1_000_000)
	{
		value($registry, "DELETE FROM lie; INSERT INTO lie VALUES ('$column', '$false', $times)");
		my $until = time() + 3;
		ok(wait_until('false answers', sub { number_or_state(); return value($registry, 'SELECT times FROM lie') < $times && ($times == 1 || time() > $until) }), "$name: false answers");
		value($registry, 'DELETE FROM lie');
		my ($shown, $ended) = ends($end);
		is($ended{$ended}, $ended{$end}, "$name: what ends it");
		push @shown, $shown;
	}
	SnowflakeTest::figures('%-38s %-16s %-16s %s', $name, @shown, $ended{$end});
	# The next field begins without what this one left.
	if ($false =~ /^\+/) { value($node, 'SELECT snowflake_renew()'); waits(1); }
}
is(scalar(grep { $_ > 1 } values %issued), 0, 'no number of a right answer was issued twice');
$node->stop('fast');
$registry->stop('fast');
done_testing();
