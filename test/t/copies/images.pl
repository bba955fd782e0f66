# Six copies of a data directory whose databases are their own registry, and the original, begin at
# random slots ("Lives", section 4 of the design). If the extension had issued no id, there are 683
# slots, otherwise the 342 of the farther half. A correct server gives the seven fewer than 3 worker
# ids with a probability below 2 in 10^11. Where the worker ids differ, no id is equal.
# Not in the default run: seven servers, twice; unit/Life counts where lives begin.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

sub value { my ($server, $sql) = @_; return $server->safe_psql('postgres', $sql); }
sub worker { my ($server) = @_; value($server, 'SELECT snowflake_nextval()'); return value($server, 'SELECT worker FROM snowflake_status'); }

for my $issued (0, 1)
{
	my $what = $issued ? 'after the first id' : 'before the first id';
	my $original = new_server("original_$issued", patient => 1, conf => "log_statement = none\nautovacuum = off\n");
	start_server($original);
	value($original, 'CREATE EXTENSION snowflake');
	value($original, 'SELECT snowflake_nextval()') if $issued;
	$original->stop('fast');
	$original->backup_fs_cold('image');
	my @servers = ($original, map { new_server("copy_${issued}_$_", from => [ $original, 'image' ]) } 1 .. 6);
	start_server($_) for @servers;
	my %servers;
	push @{ $servers{ worker($_) } }, $_ for @servers;
	cmp_ok(scalar(keys %servers), '>=', 3, "$what: worker ids of seven servers: " . join(' ', map { "$_ (" . @{ $servers{$_} } . ')' } sort { $a <=> $b } keys %servers));
	my @loads = map { start_clients($_->[0], 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 1000)) TO STDOUT;\n" x 20) } values %servers;
	ok(wait_until('ids', sub { !grep { client_bytes($_) < 20 * 200_000 / @loads } @loads }), '... they issue');
	stop_clients($_) for @loads;
	my ($ids, $equal) = compare_ids(map { @{ $_->{files} } } @loads);
	figures('%s: %d ids of %d worker ids, %d equal', $what, $ids, scalar(@loads), $equal);
	is($equal, 0, "... $ids ids of different worker ids, none of which are equal");
	$_->stop('fast') for @servers;
}
done_testing();
